/* Every number that the search for steps compares with what is in a profile: pattern*.c have no other. A test counts
 * them, and finds those that stand elsewhere (tests/cmd/check_step_rules.py). */
#ifndef GAPLINE_STEPS_STEP_RULES_H
#define GAPLINE_STEPS_STEP_RULES_H

/* Shares, of ops, cycles or GPU time. */
#define RULE_EXPLAINED 0.95 /* what a loop explains of its stretch: one line of a log in twenty is no other loop */
#define RULE_NEARLY_ALL 0.9 /* what "each" may mean where a row is lost, or one step is another, in ten */
#define RULE_MOST 0.75      /* what is the same in cycles that are alike */
#define RULE_HALF 0.5       /* a majority: of the GPU time, of places, of votes */
#define RULE_QUARTER 0.25   /* a good part: a cycle that lacks it is none, work between two that has it is no log */
#define RULE_COMMON 0.2     /* equal cycles, or GPU time of one loop of several: enough to say what is usual */
#define RULE_NEAR 0.125     /* as long, or as far apart, but for so much */
#define RULE_LITTLE 0.02    /* next to nothing: one op in fifty, a loop that is not worth a row */
#define RULE_CONSTANT 0.3   /* what all cycles hold equally often where the rest varies, at least; beyond it in order */

/* Times as much. */
#define RULE_LONGER 1.5 /* half as long again is another loop, or has something else behind it */
#define RULE_PAUSE 1.25 /* a pause that much longer than others is where a step begins */
#define RULE_LONG 4     /* what takes several usual cycles, or pauses, is no part of them */

enum {
	/* Cycles. */
	RULE_CYCLES = 5,        /* in a loop at least: fewer may be chance */
	RULE_CYCLES_VARIED = 8, /* the same where names differ from one to the next */
	RULE_MANY = 20,         /* enough that their likeness is no chance, and something between them is a structure */
	RULE_LAYERS = 96,       /* of one pass of a model, at most */

	/* Ops, kernels, kinds, runs. */
	RULE_FEW = 3,            /* by fewer nothing is told */
	RULE_SPARE = 2,          /* ops that a cycle may have more or less than others */
	RULE_SHORT = 8,          /* ops of a cycle in which one name may stand in several places */
	RULE_TRIAL_LAUNCHES = 8, /* of an autotuner's trial at most: a step launches more */

	RULE_LEAST_PAUSE = 1000000, /* ns: of shorter ones none parts two loops */

	/* What looking may cost. */
	RULE_LOOPS = 16,        /* told apart in one sequence; what is left is in none */
	RULE_CANDIDATES = 64,   /* cuts that are tried */
	RULE_WIDEST = 1024,     /* tuples that are looked at, in tokens */
	RULE_EFFORT = 24,       /* ops that trying may look at, as a multiple of the sequence */
	RULE_SAMPLE = 256,      /* cycles of which a median is taken, or on which cuts are tried first */
	RULE_WINDOW = 40,       /* cycles that are tried or asked: a few of another kind do not decide */
	RULE_EXCERPT = 1 << 18, /* ops from the middle of a longer sequence */
	RULE_GLANCE = 1 << 15   /* ops on which what is hopeless is seen to be that */
};

#endif
