/* What the host was doing while the GPU waited: functions, from samples of the threads that were waited for, taken at
 * the instants that idle time is charged with. Plain data, part of struct analysis (analysis.h says what units and
 * names mean). Of a thread that waited for Python's interpreter lock they are those of the thread that held it.
 *
 * A sample stands for the time between two samples. Where samples stand for less than the idle time in which they were
 * taken (a thread that sleeps is not sampled by nsys), the rest is nobody's; what lies before the first sample and
 * after the last one counts as what lies between them. */
#ifndef GAPLINE_RESULT_FUNCTIONS_RESULT_H
#define GAPLINE_RESULT_FUNCTIONS_RESULT_H

#include "result/words.h"

struct sampled_function {
	uint32_t name, module; /* names; 0: not known */
	enum frame_kind kind;
};

/* By side; times are ns of GPU idle time a step, mean over devices. */
struct function_row {
	struct sampled_function function;
	double self[2];    /* it was the innermost one */
	double total[2];   /* it was on the stack: with what it called */
	double samples[2]; /* that `self` is of */
	double untold[2]; /* so much more of it there may be: idle time of its causes of which the side has no sample */
	bool changed;     /* `self` differs by more than samples do by chance, wherever `untold` is */
};

struct function_list {
	struct function_row *row;
	uint32_t n;
	uint32_t left_out; /* so many more, … */
	double rest[2];    /* … which are the innermost ones for so long */
};

/* A thread that held Python's interpreter lock while others waited for it; several of one name are one. */
struct lock_holder {
	uint32_t name;  /* 0: it has none that tells anything, or is not known */
	bool main;      /* the thread that the program began with */
	double time[2]; /* by side, ns of GPU idle time a step */
};

/* Idle time of a cause in a phase, without gaps that happened once. */
struct sampled_cause {
	enum cause cause;
	uint32_t phase;    /* a name, the baseline's if it has one; 0: between phases */
	double idle[2];    /* all of it … */
	double sampled[2]; /* … and what samples stand for */
	double samples[2];
	struct function_list functions; /* the longest first: by the longer `self` */
	/* CAUSE_GIL, of which the functions are those of the thread that held the lock: which threads did, the longest
	 * first. */
	struct lock_holder *holders;
	uint32_t n_holders;
	uint32_t holders_left_out; /* so many more */
};

/* What became of a function in one place of the stacks. */
enum stack_change { STACK_SAME, STACK_LESS, STACK_MUCH_LESS, STACK_MORE, STACK_MUCH_MORE };

/* A function as it was called, for a picture: parents stand before their children, and children from left to right. */
struct stack_part {
	uint32_t parent;  /* index; TRACE_NONE: a cause in a phase, which `function` says nothing of */
	uint32_t depth;   /* 0 for those */
	enum cause cause; /* of these … */
	uint32_t phase;   /* … the phase: a name */
	struct sampled_function function;
	/* That called it, the outermost first, and did nothing else that can be seen: they stand in its place, too. */
	const struct sampled_function *callers;
	uint32_t n_callers;
	/* ns a step, with what it called; from the left. Of a cause of which a side has no sample, its idle time. */
	double start[2], time[2];
	double samples[2], untold[2]; /* as of a struct function_row */
	enum stack_change change;
};

/* The samples of a side. */
struct sampling {
	double samples;  /* of threads that the profile says more of */
	double idle;     /* that GPU idle time was charged with; one that two GPUs waited for counts for both */
	double unnamed;  /* of `idle`: nothing is known of the innermost function's name */
	double broken;   /* of `idle`: what called the function could not be found, or was too deep */
	double bare;     /* of `idle`: without any stack */
	double interval; /* ns between two samples of a thread that runs */
	double covered;  /* share of the idle time that is charged to host threads while samples were taken at all */
	double stands;   /* share of that which samples stand for */
	int64_t cut;     /* samples that lack their innermost frames: trace_stacks */
};

struct functions {
	bool known; /* a side has samples that idle time was charged with */
	bool both;  /* there are two sides: what one has no idle time for is a change, whatever was sampled there */
	struct sampling side[2];
	struct sampled_cause *cause; /* the longest first; those of which enough is known */
	uint32_t n_causes;
	struct function_list all; /* of all causes; of a pair those that changed first, the largest change first, else
	                           * the longest `self` */
	double idle[2];           /* that samples stand for, all causes together */
	struct stack_part *part;  /* wide enough to be seen */
	uint32_t n_parts;
	double drawn[2]; /* what the picture shows: `idle`, and that of causes of which the side has no sample */
	double width;    /* ns a step: the wider side's picture */
};

#endif
