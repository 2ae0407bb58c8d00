#include "analyse/judge/looks.h"

#include "analyse/judge/evidence.h"
#include "analyse/judge/stats.h"

#include <math.h>

/* Standard errors by runs of each side, from the first look on. */
struct errors {
	double direction, interval, too_small;
};

static const struct errors ERRORS[] = EVIDENCE_LOOKS;
_Static_assert(sizeof ERRORS / sizeof *ERRORS == EVIDENCE_LAST_LOOK - EVIDENCE_FIRST_LOOK + 1, "one for each look");

static size_t runs_of(const size_t n[2])
{
	return n[0] < n[1] ? n[0] : n[1];
}

static const struct errors *errors_at(size_t runs)
{
	return &ERRORS[(runs < EVIDENCE_LAST_LOOK ? runs : EVIDENCE_LAST_LOOK) - EVIDENCE_FIRST_LOOK];
}

static double larger_variance(const double *const x[2], const size_t n[2])
{
	return fmax(stats_variance(x[0], n[0]), stats_variance(x[1], n[1]));
}

bool looks_judge(const double *const x[2], const size_t n[2], struct looks *out)
{
	if (runs_of(n) < EVIDENCE_FIRST_LOOK)
		return false;
	const struct errors *e = errors_at(runs_of(n));
	double error = sqrt(larger_variance(x, n) * (1 / (double)n[0] + 1 / (double)n[1]));
	*out = (struct looks){e->interval * error, e->direction * error};
	return true;
}

bool looks_hopeless(const double *const x[2], const size_t n[2], double change, double floor, double margin)
{
	size_t runs = runs_of(n);
	if (runs < EVIDENCE_FORESEEN || runs >= EVIDENCE_LAST_LOOK)
		return runs >= EVIDENCE_LAST_LOOK;
	const struct errors *last = errors_at(EVIDENCE_LAST_LOOK);
	double sum = stats_variance(x[0], n[0]) + stats_variance(x[1], n[1]);
	double luck = EVIDENCE_TENTH * sqrt(sum * (1 / (double)runs - 1.0 / EVIDENCE_LAST_LOOK));
	double half = sqrt(2 * larger_variance(x, n) / EVIDENCE_LAST_LOOK) / errors_at(runs)->too_small;
	bool beyond = fabs(change) + luck - last->direction * half >= floor;
	bool within = margin > 0 && fmax(0, fabs(change) - luck) + last->interval * half <= margin;
	return !beyond && !within;
}
