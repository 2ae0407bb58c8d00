/* Where the host was in a side's idle time, and where its GPU work was launched: modules and lines. */
#ifndef GAPLINE_ANALYSE_SIDE_PLACE_FACTS_H
#define GAPLINE_ANALYSE_SIDE_PLACE_FACTS_H

#include "analyse/run/run.h"
#include "analyse/side/budgets.h"

enum place_time { PLACE_IDLE, PLACE_KERNELS, PLACE_COPIES, PLACE_COMM, PLACE_TIMES };

/* Time in one place. Of places that hold little of it there is none, so that it is at least so much. */
struct place_fact {
	enum place_time time;
	uint32_t idle;  /* PLACE_IDLE: an index into the side's idle facts; else 0 */
	bool line;      /* a line, with what it calls; else a module, without those in it */
	uint32_t name;  /* as struct place_sums has it; 0: all of the time, wherever it is, of what is not PLACE_IDLE */
	uint32_t depth; /* of lines: how many functions call it, the most */
	double samples; /* that it is of; 0: it is not sampled */
	double per_step; /* ns: of idle time the mean over devices, else summed over them */
};

struct place_facts {
	struct place_fact *list;
	uint32_t n;
};

/* GPU time by place, over the runs: it grows by one run's sums, whose `of` is an enum place_time. */
struct launch_place {
	double per_step, samples;
	uint32_t depth;
};
struct launch_places {
	struct keymap keys; /* as of struct place_sums */
	struct launch_place *place;
};
void launch_places_add(struct launch_places *to, const struct place_sums *sums, double weight);

/* All of a side, by what it is of, then in the order of the names' texts. `places` of the runs' devices are set. */
struct place_facts place_facts_build(const struct run *runs, size_t n, const struct side_budgets *budgets,
                                     const struct launch_places *launched, struct arena *arena);

#endif
