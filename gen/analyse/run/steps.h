/* Which NVTX range is one step, and when each step ended on the GPU (docs/analysis.md, Step). */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_H
#define GAPLINE_ANALYSE_RUN_STEPS_H

#include "analyse/run/fold.h"
#include "trace/trace.h"

/* The step thread of one process and its step ranges, in order, disjoint. */
struct step_member {
	uint32_t process, thread;
	uint32_t *range;      /* indices into trace.ranges */
	int64_t *start, *end; /* the host ranges */
	uint32_t n;
};

/* The steps of a profile. Members are the processes that take part (one per rank); instance k of every member is part
 * of the same step. Instances that did not advance the GPU (no ops) are merged into the next one. */
struct steps {
	bool found;
	uint32_t name, domain; /* normalised name */
	struct step_member *members;
	uint32_t n_members;
	uint32_t *member_of;      /* by process: 1 + its member, 0 for none; NULL without steps */
	uint32_t n;               /* steps after merging */
	uint32_t last_instance;   /* that belongs to a step; trailing ones may have no GPU ops */
	uint32_t n_instances;     /* before merging: per member */
	uint32_t *of_instance;    /* step of instance k; trailing instances without GPU ops: TRACE_NONE */
	uint32_t *first_instance; /* of step k */
	int64_t *end;             /* step ends on the GPU, strictly increasing */
	uint32_t *op_step;        /* per op: its step, or TRACE_NONE; NULL when there are no steps */
	bool uneven;              /* members have different numbers of instances: the shortest counts */
	/* --step named a range that is there less than twice: the run's span is this one (docs/verdict.md) */
	bool span_named;
	int64_t span_start, span_end;
};

/* Finds the steps; `wanted` overrides the choice (--step NAME: a range's name, normalised or as written) and may be
 * NULL. Not finding any is no error, unless `wanted` is given: then -1, and `err` lists ranges that are there. */
int steps_find(const struct trace *trace, const struct fold *fold, const char *wanted, struct arena *arena,
               struct steps *out, struct err *err);

/* The instance of a member that is open at `t`, or TRACE_NONE. */
uint32_t steps_instance_at(const struct step_member *member, int64_t t);

/* The member of a process, or NULL. */
const struct step_member *steps_member(const struct steps *steps, uint32_t process);

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
