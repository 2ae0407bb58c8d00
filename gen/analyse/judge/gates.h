/* Gates: what was asked for, what was found, and which condition failed (docs/method/verdict.md, "Gates"). */
#ifndef GAPLINE_ANALYSE_JUDGE_GATES_H
#define GAPLINE_ANALYSE_JUDGE_GATES_H

#include "analyse/judge/gate_expression.h"
#include "analyse/judge/verdict.h"
#include "analyse/words.h"

enum gate_result { GATE_NONE, GATE_PASSED, GATE_FAILED, GATE_INCONCLUSIVE };
const char *gate_result_name(enum gate_result result); /* "none", "passed", "failed", "inconclusive" */

/* What a user asked for. */
struct gates_asked {
	double min_speedup;    /* 0: not asked for */
	double max_regression; /* percent; < 0: not asked for */
	bool require_comparable;
	const struct gate_expression *expressions; /* --gate, in their order; borrowed */
	size_t n_expressions;
};

enum gate_kind { GATE_MIN_SPEEDUP, GATE_MAX_REGRESSION, GATE_REQUIRE_COMPARABLE, GATE_EXPRESSION };

struct comparison;

struct gate {
	enum gate_kind kind;
	const char *name; /* "min_speedup", "max_regression", "require_comparable"; an expression as it was given */
	enum gate_result result;
	double asked;        /* a speedup; a regression in percent; nothing (0) for require_comparable;
	                      * an expression's limit in its unit, times in ns */
	enum gate_unit unit; /* of an expression's numbers; GATE_TIMES and GATE_CHANGE for the first two kinds */
	bool has_found;
	double found; /* the speedup; the regression in percent, 100 (1/S − 1); an expression's number, in its unit; not
	               * for require_comparable */
	bool has_interval; /* … and [lo, hi] is more than the number */
	double lo, hi; /* the ends of its 95 % interval, by which the gate is judged; of an expression whose number is
	                * known in part, the least and the most that it can be */
	enum same_work work;     /* what require_comparable found … */
	bool conditions;         /* … and whether another GPU, driver, clock or way of recording on one side */
	const struct fact *fact; /* what was asked, what was found, and the condition that failed */
};

struct gates {
	struct gate *gate; /* in the order of enum gate_kind, expressions as given; arena */
	size_t n;
	enum gate_result result; /* of all together: failed before inconclusive before passed; none without gates */
};

/* min_speedup X: passed when the interval is at X or above, and, for X > 1, only with the result `faster`; failed when
 * it is below X. max_regression P: failed when the interval is below 1/(1 + P/100), else passed; inconclusive where
 * only the recorded programs show it. Both are inconclusive where the data give no
 * verdict. require_comparable: passed for the same work or job, failed for different work, inconclusive where it is
 * unknown. */
struct gates gates_judge(const struct verdict *verdict, const struct comparison *comparison,
                         const struct gates_asked *asked, struct arena *arena);

/* Appends a gate, and says what all together come to. */
void gates_add(struct gates *gates, const struct gate *gate, struct arena *arena);

/* The ends of the speedup's interval that gates go by. */
double gates_lo(const struct verdict *verdict);
double gates_hi(const struct verdict *verdict);

/* Judges a speedup that has to be at least gate->asked, by [gate->lo, gate->hi]. */
void gates_judge_speedup(const struct verdict *verdict, struct arena *arena, struct gate *gate);

/* Where the data give no verdict (`judged` is false). `found`: of the number that was asked for, or NULL. */
const struct fact *gates_no_verdict(const struct verdict *verdict, const struct fact *asked, const struct fact *found,
                                    struct arena *arena);

/* As many digits as it takes to tell a number from the one asked for, two decimals at least. */
const char *gates_apart(struct arena *arena, double value, double asked);

/* A speedup that was asked for, as a reader sees it: "1.50×", "1.025×"; arena text. */
const char *gates_times(struct arena *arena, double asked);

/* What min_speedup asks for; 0: nothing. */
double gates_asked_speedup(const struct gates *gates);

#endif
