/* The steps of a run: which instances of its loop there are, which of them are one step, and when each step ended on
 * the GPU (docs/method/analysis.md, Step).
 *
 * Who knows a loop proposes it as a list of instances (struct step_marks): NVTX ranges do (marks.c), others can.
 * steps_join makes steps of any such list, and nothing after it asks where the list came from. */
#ifndef GAPLINE_STEPS_STEPS_H
#define GAPLINE_STEPS_STEPS_H

#include "base/search.h"
#include "base/spans.h"
#include "result/words.h"

/* One instance of the loop. */
struct instance {
	uint32_t process, thread; /* the thread that it is on, an index into trace.threads */
	int64_t start, end;       /* on the host: what the process launches in between belongs to it */
	bool cut;                 /* the capture ended before the instance did */
	bool other_start;         /* of a process in whose place another one counts (steps_restart.c) */
	bool opens;               /* another loop ran between it and the one before it: a stretch begins */
	bool unmeasured;          /* filled by steps_from_ops: it begins a stretch, and says where that begins */
	uint32_t step;            /* filled by steps_join: the step it is an instance of, TRACE_NONE: left out */
};

/* How much work the kernels of an instance are: how many of them say their blocks, and how many these are together.
 * Communication is none. */
struct step_work {
	float kernels, blocks;
};

/* What the ops of an instance are together, of which it has one at least, all on one device. */
struct step_ops {
	uint32_t device;                 /* an index into trace.devices */
	bool launched;                   /* the profile has the launch of one of them … */
	bool communicates;               /* one of them does */
	int64_t first_call, last_call;   /* … then, when the first launch begins and the last one ends */
	int64_t first_start, last_start; /* when the first and the last one start, and … */
	int64_t end;                     /* … when all have ended */
	double time;                     /* their lengths added up, ns */
	struct step_work work;
};

/* A loop as somebody proposes it.
 *
 * Instances are given by their time on the host (what launched an op then tells where it belongs), or by their ops:
 * `ops` says what those of each instance are together. Then `start` and `end` are filled by steps_from_ops from the
 * ops' launches, and `process` and `thread` are those that launch them. The k-th instance of one device and the k-th of
 * another are ranks of one step.
 *
 * In any order. Everything is borrowed but `instance`, which is written to. */
struct step_marks {
	enum step_origin origin;
	uint32_t name;    /* of the loop: a normalised name for ranges, else an id of trace.names; 0: none */
	uint32_t domain;  /* of its ranges; 0 where there are none */
	uint32_t written; /* the name of one of its ranges as the profile has it; 0 where there are none */
	struct instance *instance;
	uint32_t n;
	uint32_t least_stretch; /* steps of the longest stretch, at least, where all that are parted are measured; 0:
	                           they are not */
	const struct step_ops *ops; /* by instance; NULL: they are given by their time on the host */
	double all_time;            /* with `ops`: of all ops of the profile, ns added up */
	bool requests; /* --requests: instances on devices that do not communicate are steps of their own */
};

/* A thread with instances, sorted by start. */
struct step_thread {
	uint32_t process, thread;
	uint32_t n;
	bool overlap; /* some are open at the same time */
	int64_t *start, *end;
	uint32_t *step; /* TRACE_NONE: left out; threads may have one list in common */
	int64_t *until; /* the latest end up to this one */
};

/* A rank that lacks the first or the last steps of those that other ranks recorded. */
struct steps_lacking {
	uint32_t process, first, last; /* the process is an index into trace.processes */
};

/* Ranks that were started again (steps_restart.c). */
struct steps_restart {
	uint32_t n;       /* processes that count and were not the only ones of their rank; 0: none */
	uint32_t process; /* the first one */
	uint32_t kept;    /* instances of these … */
	uint32_t left;    /* … processes in whose place they count … */
	uint32_t steps;   /* … and the instances of those, which are left out */
};

/* The steps of a profile, numbered in order of their start.
 *
 * Instances of several threads that use the same device are steps of their own, however they overlap: requests,
 * workers. Threads or processes on different devices with as many instances each are ranks: instance k of each is part
 * of step k, which ends when the last of them does. (As many: at most 2 or a twentieth apart, as a capture's ends make
 * them, or all of them communicate; the shortest counts then.) With numbers that differ more, every instance is a step,
 * and so is every request of devices that do not communicate.
 * Where recordings of ranks that communicate begin at different steps, those count that all of them recorded
 * (steps_build.h); instances of others are left out. Ranks that were started again are no further ranks.
 *
 * The end of a step is the latest end of its ops and of those of all steps before it. Steps with the same end, because
 * a long op of an earlier one outlives them, and steps without GPU ops, which end with the next step that has some,
 * divide the time since the end before into equal parts: end[] increases all the same, and differences between them add
 * up. Steps up to the first end are one. Left out are instances that the end of the capture cuts, trailing ones without
 * GPU ops, and, where ops outlive later steps, those with the last end: how many more its op would have outlived had
 * the loop gone on is not known, and with it the window would be longer than its steps. */
struct steps {
	bool found;  /* at least two, or one that is known to begin */
	bool opened; /* so few are marked that the first one counts: end[0] is its beginning, and no step of its own */
	enum step_origin origin;
	bool by_op;                     /* the instances were given by their ops */
	uint32_t name, domain, written; /* as in step_marks */
	struct step_thread *threads;
	uint32_t n_threads;   /* by process, then total length descending */
	uint32_t *thread_at;  /* by thread of the trace: 1 + index into `threads`, 0: it has no instances; NULL without
	                         steps */
	uint32_t *first_of;   /* by process: 1 + its first one in `threads`, 0: none; NULL without steps */
	uint32_t n_ranks;     /* ranks that make a step, at least 1 */
	uint32_t n_instances; /* proposed, of all ranks */
	uint32_t n;           /* steps */
	int64_t *end;         /* of each, ns */
	int64_t *grid;        /* of each: blocks of one of its kernels, the mean; 0: not known */
	bool *shared;         /* by step: its end is one of several equal parts, not an op's */
	bool overlap;         /* one begins on the host while an earlier one is open: requests */
	int64_t *request; /* by step that ranges mark: from its range's start to the later one of its range's end and
	                     its ops', ns, of several ranks from the first start to the last end; NULL: it is no
	                     range's, or several ranks make it and nobody asked for requests */
	int64_t *request_start; /* … when its range starts */
	uint32_t *op_step;      /* by op: its step, or TRACE_NONE */
	bool uneven;            /* ranks have different numbers of instances: the shortest counts */
	bool unaligned;         /* which step of one rank is which of another is not known (steps_build.h) … */
	bool by_time;           /* … or was told by time, for ranks were recorded from different steps on: … */
	struct steps_lacking *lacking; /* … those that lack some, n_lacking of them */
	uint32_t n_lacking;
	struct steps_restart restart;
	uint32_t n_stretches; /* of its loop, with other loops between them; else 0 … */
	uint32_t unmeasured;  /* … the steps that say where one begins, … */
	struct spans pauses;  /* … and what lies between them, these steps with it: no step's time */
	uint32_t n_cut;       /* instances left out because the capture ended in them */
	double coverage;      /* share of the profile's GPU time (op lengths added up) that belongs to steps, 0 to 1 */
	/* --step named a range that is there less than twice: the run's span is this one */
	bool span_named;
	int64_t span_start, span_end;
};

/* What one part of a run (parts.h) says of the instances that it proposes. */
struct steps_part {
	uint32_t first_process, first_thread; /* of the run, that are the part's first ones: who asks fills them */
	const char *bytes;                    /* its instances, by thread and start, and what their ops say … */
	size_t n_bytes;                       /* … packed (instances.c) */
	uint32_t n, n_lanes, n_cut;           /* instances, ranks, instances that the end of the capture cuts */
	bool *communicates;                   /* by rank */
	double all_time;                      /* lengths of all ops added up … */
	double after;   /* … and of those that were launched after their process's last instance that is whole */
	int64_t begin;  /* when the first one of the part begins on the GPU */
	uint32_t *at;   /* by op of the part: its instance, TRACE_NONE: none; NULL where that was not asked for … */
	uint32_t *step; /* … where it was, by instance, once steps are joined: its step, TRACE_NONE: none */
};

/* `at`: whether it is asked for. Everything lives in `arena`. */
void steps_of_part(const struct trace *trace, const struct step_marks *marks, struct arena *arena, bool at,
                   struct steps_part *out);

/* Steps of what all parts propose, but for `op_step`: that is the parts'.
 * out->found is false when fewer than two instances end. `trace`: the run's; `like`: what is proposed, without
 * instances. Everything lives in `arena`. */
void steps_join(const struct trace *trace, const struct step_marks *like, struct steps_part *parts, size_t n,
                struct arena *arena, struct steps *out);

/* The same of instances that are given by their ops; who knows which ops are whose reads `op_step` off the instances.
 */
void steps_from_ops(const struct trace *trace, const struct step_marks *marks, struct arena *arena, struct steps *out);

/* The instances of a part, as the run counts processes and threads, in `arena`. */
struct instance *steps_of_one(const struct steps_part *part, struct arena *arena);

/* By op of a part of which that was asked: its step. After steps_join. */
uint32_t *steps_of_ops(const struct steps_part *part, size_t n_ops, struct arena *arena);

/* The run's steps as one part sees them, whose first process and thread these of the run are: its own threads, its own
 * ops, but for instances that were given by their ops. */
void steps_take_part(const struct trace *trace, const struct steps *whole, uint32_t first_process,
                     uint32_t first_thread, struct arena *arena, struct steps *out);

/* The step of an op, `launched` being its op_step; one of none, or whose mark is lost, counts to the step that it ends
 * in: that of the next end, 0: it ends in the first or before, n: after the last. `near`: of the op before. */
static inline uint32_t steps_of_op(const struct steps *s, uint32_t launched, int64_t end, uint32_t near)
{
	if (launched != TRACE_NONE)
		return launched;
	while (near > 0 && (near > s->n || s->end[near - 1] >= end))
		near--;
	while (near < s->n && s->end[near] < end)
		near++;
	return near;
}

/* Of the instances that are open on a thread at `t`, the index of the one that began last; TRACE_NONE: none is. */
static inline uint32_t steps_open_at(const struct step_thread *thread, int64_t t)
{
	uint32_t low = 0;
	SEARCH(low, thread->n, thread->start[low] <= t);
	for (; low && thread->until[low - 1] > t; low--)
		if (thread->end[low - 1] > t)
			return low - 1;
	return TRACE_NONE;
}

/* The instances of a thread of the trace; NULL: it has none. */
static inline const struct step_thread *steps_on_thread(const struct steps *s, uint32_t thread)
{
	return s->thread_at && s->thread_at[thread] ? &s->threads[s->thread_at[thread] - 1] : NULL;
}

/* The thread of a process with the longest instances; NULL: no thread of it has any. */
const struct step_thread *steps_of_process(const struct steps *steps, uint32_t process);

/* Adds what an instance, or op `i`, has of it; an op whose blocks nobody recorded has nothing. */
static inline void step_work_add(struct step_work *to, const struct step_work *from)
{
	to->kernels += from->kernels;
	to->blocks += from->blocks;
}
static inline void step_work_add_op(struct step_work *to, const struct trace *t, size_t i)
{
	const int64_t blocks = t->ops.kind[i] == OP_KERNEL ? trace_blocks(t->ops.bytes[i]) : 0;
	to->kernels += blocks > 0;
	to->blocks += (float)blocks;
}

/* Those of no op yet; and with others of the same device. */
static inline struct step_ops step_ops_none(uint32_t device)
{
	return (struct step_ops){.device = device,
	                         .first_call = INT64_MAX,
	                         .last_call = INT64_MIN,
	                         .first_start = INT64_MAX,
	                         .last_start = INT64_MIN,
	                         .end = INT64_MIN};
}
static inline void step_ops_add(struct step_ops *to, const struct step_ops *from)
{
	to->launched |= from->launched;
	to->communicates |= from->communicates;
	to->first_call = from->first_call < to->first_call ? from->first_call : to->first_call;
	to->last_call = from->last_call > to->last_call ? from->last_call : to->last_call;
	to->first_start = from->first_start < to->first_start ? from->first_start : to->first_start;
	to->last_start = from->last_start > to->last_start ? from->last_start : to->last_start;
	to->end = from->end > to->end ? from->end : to->end;
	to->time += from->time;
	step_work_add(&to->work, &from->work);
}

/* The process of op `i`, and the start of its launch; an op without launch counts from its own start. */
static inline uint32_t op_process(const struct trace *t, size_t i)
{
	return t->devices[t->ops.device[i]].process;
}
static inline int64_t op_launch_start(const struct trace *t, size_t i)
{
	return t->ops.launch[i] == TRACE_NONE ? t->ops.start[i] : t->calls.start[t->ops.launch[i]];
}

#endif
