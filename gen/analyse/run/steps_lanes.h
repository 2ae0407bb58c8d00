/* Steps while they are made of instances: which instance an op belongs to, and which threads make a rank. */
#ifndef GAPLINE_ANALYSE_RUN_STEPS_LANES_H
#define GAPLINE_ANALYSE_RUN_STEPS_LANES_H

#include "analyse/run/steps.h"

/* Instances are numbered by their place in `order`: by process, thread, start. A lane is what makes one rank: the
 * instances of threads that use the same device. */
struct steps_build {
	const struct trace *trace;
	const struct step_marks *marks;
	struct arena *arena, scratch;
	struct steps *out;
	uint32_t *order; /* place -> index into marks.instance */
	uint32_t *first; /* by step thread: its places are [first[i], first[i + 1]) */
	uint32_t *at;    /* by op: the place of its instance, or TRACE_NONE */
	uint32_t *lane;  /* by place */
	uint32_t n_lanes;
	/* What is asked of the ops, once they have their places: */
	int64_t *own_start; /* by place: when its ops begin … */
	int64_t *own_end;   /* … and end; INT64_MIN: it has none */
	double *own_time;   /* by place: their lengths added up … */
	double all_time;    /* … and those of all ops … */
	double after;       /* … and of those that were launched after their process's last one that is whole */
	struct step_work *own_work; /* by place */
	bool *communicates;         /* by lane */
	int64_t begin; /* of the first step, where so few are marked that it counts; INT64_MIN: it does not */
};

static inline struct instance *steps_instance(const struct steps_build *b, uint32_t place)
{
	return &b->marks->instance[b->order[place]];
}

/* Fills `at`, `lane` and `n_lanes` of instances that have their time on the host. */
void steps_find_lanes(struct steps_build *build);

#endif
