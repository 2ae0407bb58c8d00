/* Steps while they are made of instances: which instance an op belongs to, and which threads make a rank. */
#ifndef GAPLINE_STEPS_STEPS_BUILD_H
#define GAPLINE_STEPS_STEPS_BUILD_H

#include "steps/steps.h"

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

/* Where steps begin and end, and which instances the end of the capture cuts. */

/* Marks instances as `cut` and counts them in `out`: the last ones of a thread, where they were open when the capture
 * ended, or launched what never ran, while nothing of the kind is true of the first half, or of all that ran. */
void steps_find_cut(struct steps_build *build);

enum { STEPS_FEW = 8 }; /* marked steps: where there are no more, the first one counts */

/* When the first step begins: where its range does, or where what was launched before that has ended; on the first rank
 * to begin. INT64_MAX without marks.
 */
int64_t steps_find_begin(const struct steps_build *build);

/* `own` holds the end of each step's own ops, INT64_MIN where it has none; it becomes the end of the step: the latest
 * so far, for a step without ops the next one's. Returns how many steps there are: up to the last with ops, or, where
 * ops outlive later steps, up to the last but one end. */
uint32_t steps_extend_ends(int64_t *own, uint32_t n);

/* Steps with one end divide the time since the end before into equal parts; those with the first end become one, if
 * nothing says when it began (`opened`: end[0] does already). Returns how many less they are. */
uint32_t steps_divide_ends(struct steps *steps, const int64_t *end, uint32_t n);

/* How long each step takes from its own start: a request waits for others, which share the time between ends. After
 * the steps have their ends; steps of several ranks have none. */
void steps_measure_requests(struct steps_build *build);

/* A loop that other loops part into stretches is measured in all of them, if one is long enough: what runs in between
 * is no step's time. Nor is the first step of each but the first, which has no end before it: `begins` receives when
 * the stretch begins that step k is the first measured one of, else INT64_MIN. Returns how many of the `n` steps are
 * left. */
uint32_t steps_part_stretches(struct steps_build *b, uint32_t n, int64_t *begins);

/* What lies before the steps that `begins` names: `before` steps have become one with the first. */
void steps_find_pauses(struct steps *s, const int64_t *begins, uint32_t before, struct arena *arena);

/* Fills the steps of the threads' instances, once these have theirs. */
void steps_fill_threads(struct steps_build *build);

/* Fills steps.grid, once instances have their steps. */
void steps_find_grids(struct steps_build *build);

/* Which step of one rank is which of another, where their recordings begin or end at different ones. */

/* What is known of the steps that all ranks recorded: `n` of them, from the first[lane]-th instance of each lane on.
 * `by_time`: ranks were recorded from different steps on. `known` is false where it cannot be told which step is which;
 * the rest is a guess then. */
struct steps_shared {
	uint32_t *first;
	uint32_t n;
	bool by_time, known;
};

/* `place`: the places of the instances, by lane and start, count[lane] of each. Lanes whose ranks communicate are
 * matched by time: all instances of a lane, but for one in ten, and five at least, have to overlap the instance most
 * that is the same number of steps before or after, of the lane with the most instances. Where fewer do, the k-th is
 * the k-th, which is known where the first ones overlap most. Of two hosts it has to be the same however far, by what
 * is known, their clocks may be apart; where nothing is known of them, only ranks that have as many, and overlap most
 * as they were recorded, are matched. Ranks that do not communicate keep no step: the k-th is the k-th. What is
 * returned lives in build->scratch; out->lacking, of `build`, is filled where ranks were recorded from different steps
 * on. */
struct steps_shared steps_align(struct steps_build *build, const uint32_t *place, const uint32_t *count);

/* Ranks that were started again: a process of the job after another one, on the same GPU. */

/* Processes whose instances lie one after the other, on one GPU or of one rank number, are starts of one rank, no ranks
 * of one step. Of the first starts of all ranks, the second ones and so on, those count that have the most instances;
 * of equally many the later ones. Instances of others get `other_start`, their lanes are taken from `build`, and
 * out->restart says what was left out. False, and nothing changed: no rank was started again. */
bool steps_leave_restarts(struct steps_build *build);

/* Instances of a part with what their ops say, packed: of ten thousand parts they wait until all have said theirs. */

/* Those of `build`, by place; n_lanes and what is of the part as a whole are the caller's. `out->bytes` live in
 * `arena`. */
void instances_pack(const struct steps_build *build, struct arena *arena, struct steps_part *out);

/* They become those from `at` on of `to`, whose columns have room for them: instances, lanes, what their ops say.
 * Processes and threads are the run's; lanes are counted from `first_lane` on. */
void instances_unpack(const struct steps_part *part, uint32_t at, uint32_t first_lane, struct steps_build *to);

#endif
