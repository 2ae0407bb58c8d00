/* Traces -> sides: all runs of a comparison are prepared side by side, and agree on what their steps are. */
#ifndef GAPLINE_ANALYSE_SIDES_H
#define GAPLINE_ANALYSE_SIDES_H

#include "analyse/analyse.h"
#include "side/side.h"

/* One side: what it is made of, and then it. */
struct sides_job {
	const struct analyse_run *inputs;
	size_t n;
	struct side_words words;
	struct run *runs;
	const char **files;
	struct side side;
	struct side_facts facts;
	struct arena memory; /* of `side` and `facts` */
};

/* Fills what jobs are asked for. Sides and their facts live in `arena`; what they are made of, the runs among it, lives
 * in `work`, which has to outlive the facts' use. 0, or -1 or ANALYSE_EMPTY with `err`. */
int sides_build(struct sides_job *jobs, int n_jobs, const struct analyse_options *options, struct names *names,
                struct arena *work, struct arena *arena, struct err *err);

#endif
