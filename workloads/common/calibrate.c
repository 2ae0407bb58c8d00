#include "calibrate.h"

#include "clock.h"

#include <math.h>

/* A median, as any one may be interrupted; the first time is not counted, as it may find everything cold. */
static double median_ms(int work, double (*ms)(void *context, int work), void *context)
{
	enum { TIMES = 5 };
	double values[TIMES];

	ms(context, work);
	for (int i = 0; i < TIMES; i++)
		values[i] = ms(context, work);
	return clock_median(values, TIMES);
}

static int whole(double work, int high)
{
	return !(work >= 1) ? 1 : work > high ? high : (int)lrint(work);
}

int calibrate(double target_ms, int trial, int high, double (*ms)(void *context, int work), void *context)
{
	enum { ROUNDS = 4 };
	int before = 0, work = trial;
	double took_before = 0;

	if (target_ms <= 0)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		double took = median_ms(work, ms, context), slope = (took - took_before) / (work - before);
		int next;

		/* Noise between neighbours may turn the line; then the one through the origin does. */
		if (!(slope > 0.25 * took / work))
			slope = took / work;
		next = whole(work + (target_ms - took) / slope, high);
		if (next == work)
			break;
		before = work;
		took_before = took;
		work = next;
	}
	return work;
}

struct together {
	const struct ranks *ranks;
	double (*ms)(void *context, int work);
	void *context;
};

static double lead_ms(void *context, int work)
{
	struct together *t = context;

	ranks_send(t->ranks, &work, sizeof(work));
	return t->ms(t->context, work);
}

/* Rank 0 says what to do next; a negative number is the result. */
int calibrate_together(const struct ranks *ranks, double target_ms, int trial, int high,
                       double (*ms)(void *context, int work), void *context)
{
	struct together t = {ranks, ms, context};
	int work, last;

	if (ranks->rank == 0) {
		work = calibrate(target_ms, trial, high, lead_ms, &t);
		last = -1 - work;
		ranks_send(ranks, &last, sizeof(last));
		return work;
	}
	for (;;) {
		ranks_receive(ranks, &work, sizeof(work));
		if (work < 0)
			return -1 - work;
		ms(context, work);
	}
}
