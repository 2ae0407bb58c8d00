/* Jobs of several ranks: each loads, copies, computes forward and backward and meets the others in a collective. */
#ifndef GAPLINE_TESTS_RANK_JOB_H
#define GAPLINE_TESTS_RANK_JOB_H

#include "trace_maker.h"

enum { RANK_JOB_STEPS = 30, RANK_JOB_MOST = 64 };

/* Steps of data_load, forward and backward, an all-reduce at their end that moves data for `move`, a synchronisation.
 * Times in µs. */
struct rank_job {
	uint32_t ranks;
	int64_t load, forward, backward, move;
	int64_t more_backward[RANK_JOB_MOST], more_load[RANK_JOB_MOST]; /* by rank */
	bool turns;    /* the one with more backward is another one in every step */
	bool reversed; /* processes in the opposite order, other ids */
	bool nameless; /* ranks are not known */
	int64_t more_copy[RANK_JOB_MOST], more_forward[RANK_JOB_MOST]; /* by rank */
	int64_t once;                                                  /* rank 5 loads so much longer in one step */
	int64_t skew;           /* of the clock of a second host, on which the later half is */
	const char *collective; /* the kernel's name; NULL: an all-reduce */
	uint32_t noise;         /* µs, of every rank and step */
	uint64_t seed;          /* of the noise; 0: it goes on where the last job's ended */
	uint32_t every;         /* `more_load` is of every so many steps alone; 0: of all */
};

struct rank_job_rank {
	uint32_t process, thread, device;
};

/* A call of 3 µs at `at` and what it launches, in stream 7; returns the op's row, valid until maker_link. */
size_t rank_job_launch(struct maker *m, const struct rank_job_rank *r, int64_t at, const char *call, enum op_kind kind,
                       int64_t start, int64_t end, const char *name);

/* Its profile, linked: ranks are processes with a thread and a device each. */
const struct trace *rank_job_make(const struct rank_job *j, struct arena *arena, struct names *names);

#endif
