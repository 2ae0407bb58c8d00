/* What repeats in a sequence of GPU ops: loops, told by the names of the ops alone. Pure: integers in, integers out.
 *
 * A sequence holds the ops of one process in the order in which they were launched (or, where launches are not known,
 * started). A *lane* is what has an order of its own: a launching thread, or a stream; between lanes the order may
 * differ from one repetition to the next. A *token* is (lane, name). A *loop* is a stretch of the sequence that is cut
 * into *cycles* which hold the same tokens, each as often:
 *
 *	- at least RULE_CYCLES cycles;
 *	- they explain at least RULE_EXPLAINED of the stretch's ops and of its GPU time: a token that a cycle holds
 *	  more or less often than is usual counts as not explained, except where the cycle before or after makes up for
 *	  it (an op that moved over a boundary);
 *	- at least three quarters of the cycles are alike (three quarters of what they hold is what is usual);
 *	- of the cuts that do this the shortest cycle; but where the host copies or waits in every n-th cycle only, or
 *	  other kernels follow on every n-th, n of them are one, for layers are not steps (pattern_cycles.h).
 *
 * A few cycles may therefore differ: a logging step, a longer one, one of which rows were lost. Ops that explain
 * nothing before the first and after the last cycle are not part of the loop: warm-up, autotuning.
 *
 * Method. As in tandem-repeat finders (G. Benson, Tandem repeats finder, Nucleic Acids Research 27, 1999), candidates
 * for a boundary come from k-tuples that recur at even distances; k = 1, 2, 4, …, tuples being named by pairs of
 * shorter ones (R. M. Karp, R. E. Miller, A. L. Rosenberg, Rapid identification of repeated patterns, STOC 1972), every
 * width one pass over the sequence. What a cycle holds is compared as a multiset with that of the commonest one
 * (pattern_cycles.h). Where no cycle is common, what nearly all hold is usual, by a majority vote (R. S. Boyer, J S.
 *Moore, 1981), and what stands in the same place each time stands in for the rest. Time is linear in the ops for a
 *bounded number of candidates. */
#ifndef GAPLINE_STEPS_PATTERN_H
#define GAPLINE_STEPS_PATTERN_H

#include "base/arena.h"
#include "steps/step_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is said of it to readers: same/compare.c, side/quality.c. */
enum { PATTERN_CYCLES = RULE_CYCLES };

enum pattern_flag {
	PATTERN_WORK = 1,  /* the op computes: a kernel or a graph, not a copy */
	PATTERN_HOST = 2,  /* the op moves data between host and device, or the host waited between the op's launch and
	                    * the next one's: the host had to do with it */
	PATTERN_INPUT = 8, /* the op moves data from the host to the device */
	/* by its name a loss or an optimizer: of such there is one in a step, and none in a layer */
	PATTERN_UPDATE = 16,
	/* by its name it looks an input up, or picks a result: once in a pass of a model, and in no layer */
	PATTERN_LOOKUP = 64,
	/* the first op behind a CUDA graph that was captured, or updated: what runs once beside that is no part of
	 * what repeats */
	PATTERN_CAPTURE = 32,
	PATTERN_BREAK = 4 /* ops were taken out before it; set within */
};

/* What a name counts for where what cycles hold is compared by a sum. */
static inline uint64_t pattern_hash(uint64_t token)
{
	uint64_t h = (token + 1) * 0x9E3779B97F4A7C15u;
	h ^= h >> 29;
	h *= 0xBF58476D1CE4E5B9u;
	return h ^ h >> 32;
}

/* Whether an op moves data from the device to the host. */
static inline bool pattern_is_out(uint8_t flags)
{
	return (flags & (PATTERN_HOST | PATTERN_WORK | PATTERN_INPUT)) == PATTERN_HOST;
}

/* Ops in order. `token` is below n_tokens, `at` never falls. */
struct pattern_sequence {
	size_t n;
	uint32_t *token;
	int64_t *at;     /* when the op was launched, or started */
	int64_t *end;    /* on the GPU */
	int64_t *length; /* GPU time */
	float *pause;    /* ns before `at` in which nothing was being launched (started: in which nothing ran) */
	uint8_t *flags;  /* enum pattern_flag */
	uint32_t n_tokens;
	uint32_t *lane; /* by token */
	uint32_t n_lanes;
	bool of_pytorch; /* whose models have layers between an embedding and a head */
};

/* Its `n` ops from `first` on: the same arrays, from there. */
static inline struct pattern_sequence pattern_part(const struct pattern_sequence *s, size_t first, size_t n)
{
	struct pattern_sequence part = *s;
	part.n = n;
	part.token += first;
	part.at += first;
	part.end += first;
	part.pause += first;
	part.length += first;
	part.flags += first;
	return part;
}

/* The first op of the launch that op `i` is of; ops are in order of `at`. Steps double, since most launches are short.
 */
static inline size_t pattern_launch(const struct pattern_sequence *s, size_t i)
{
	size_t high = i, step = 1; /* `high` is of the launch */
	for (; step <= high && s->at[high - step] == s->at[i]; step *= 2)
		high -= step;
	for (; step; step /= 2)
		if (step <= high && s->at[high - step] == s->at[i])
			high -= step;
	return high;
}

/* A kernel, copy or memset of a loop: `name` is there `n` times in a usual cycle and took `time` of the GPU in all. */
struct run_loop_op {
	uint32_t name;
	double n, time;
	bool comm; /* communication: most of its time may be waiting for other ranks */
};

/* A loop: what repeats in one process, or the same in several (ranks). What pattern_find says of it are the numbers of
 * its cycles and ops, its time, and `at` and `lacks`; the names of its ops say the rest. */
struct run_loop {
	const char *title;     /* its two kernels that weigh most: "gemm + softmax" */
	uint32_t name;         /* the title as an id of trace.names; 0 until run_loops_name */
	uint32_t n;            /* cycles, of the process that has most */
	uint32_t processes;    /* in which it is */
	uint32_t differ;       /* cycles that hold something else than is usual, of all processes */
	uint32_t ops;          /* GPU ops in a usual cycle, of one process */
	uint32_t fewest, most; /* shorter cycles, layers or as many as another run's cycle is, taken as one; 0: none */
	double explained;      /* of the stretch's ops and GPU time, the smaller one, 0.8 to 1 */
	double same;           /* share of the ops that have the same names in every cycle, where names vary; else 1 */
	double time, share;    /* GPU time of its ops, ns; of all of the profile's, 0 to 1 */
	bool works;            /* it does more than copy, and no sweep over sizes does */
	bool most_of_all;      /* three quarters of what repeats in its process by time, half by number */
	bool search;           /* it tries out kernels: an autotuner's, no work of the program */
	int64_t start, end;    /* first launch; latest end of an op */
	int64_t *at;           /* while it is looked for: n + 1 times, cycle k is launched in [at[k], at[k + 1]) … */
	bool *lacks;           /* … by cycle: some of what is usual, and a good part of the time: something else may
	                          stand in for it */
	struct run_loop_op *makeup; /* by time, descending */
	uint32_t n_makeup;
	uint32_t *launcher; /* by process of the run: struct pattern_process has the meaning; TRACE_NONE: it is not
	                       there */
};

struct pattern {
	struct run_loop *loops; /* by time, descending */
	uint32_t n_loops;
	uint8_t *loop;   /* by op: 1 + its loop, 0: none */
	uint32_t *cycle; /* by op in a loop: its cycle */
};

/* Puts loops in order: those that search behind all others, then by time, descending. place[1 + l] becomes 1 + where
 * loop l is then. */
void run_loops_sort(struct run_loop *list, uint32_t n, uint8_t *place);

/* Finds the loops of a sequence. `arena` holds what is found. */
void pattern_find(const struct pattern_sequence *sequence, struct arena *arena, struct pattern *out);

#endif
