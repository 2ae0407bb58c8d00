/* What the workloads do on the host, without a GPU: the filter that gives back what it took, the simulation's reference
 * held against answers worked out by hand, calibration, and the two ranks. */
#include "../common/calibrate.h"
#include "../common/clock.h"
#include "../common/frames.h"
#include "../common/hash.h"
#include "../common/ranks.h"
#include "../common/reaction_host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int truth, const char *what)
{
	printf("%s: %s\n", truth ? "ok" : "FAILED", what);
	failures += !truth;
}

static void test_filter(void)
{
	uint8_t frame[FRAME_PIXELS], same[FRAME_PIXELS], column[FRAME_PIXELS] = {0};

	frame_draw(frame, 1, 0);
	memcpy(same, frame, sizeof(same));
	frame_filter_on(same, 9);
	expect(memcmp(frame, same, sizeof(same)) != 0, "the filter changes a frame");
	frame_filter_off(same, 9);
	expect(memcmp(frame, same, sizeof(same)) == 0, "taken off as often as put on, it gives it back");

	/* A column 3, 5, 4 becomes 3, 2, 255 (4 - 5), and again 3, 255 (2 - 3), 253 (255 - 2). */
	column[0] = 3;
	column[FRAME_EDGE] = 5;
	column[2 * FRAME_EDGE] = 4;
	frame_filter_on(column, 1);
	expect(column[0] == 3 && column[FRAME_EDGE] == 2 && column[2 * FRAME_EDGE] == 255, "one round by hand");
	frame_filter_on(column, 1);
	expect(column[FRAME_EDGE] == 255 && column[2 * FRAME_EDGE] == 253, "two rounds by hand");
}

static void test_frames(void)
{
	static float plain[FRAME_PIXELS], filtered[FRAME_PIXELS], other[FRAME_PIXELS];
	struct frames a, b;

	frames_init(&a, 3, 0, 1);
	frames_init(&b, 3, 21, 1);
	frames_decode(&a, 1, plain);
	frames_decode(&b, 4, filtered);
	frames_decode(&a, 2, other);
	expect(memcmp(plain, filtered, sizeof(plain)) == 0, "a frame does not depend on its rounds, and comes round");
	expect(memcmp(plain, other, sizeof(plain)) != 0, "the next frame is another one");
	for (int i = 0; i < FRAME_PIXELS; i++) {
		if (!(plain[i] >= 0 && plain[i] <= 0.5f)) {
			expect(0, "pixels are from 0 to 0.5");
			break;
		}
	}
	frames_release(&a);
	frames_release(&b);
}

static void test_reaction(void)
{
	enum { EDGE = 4, N = EDGE * EDGE };
	double u[N], v[N], scratch_u[N], scratch_v[N], x = 1, y = 0;

	reaction_react(&x, &y, 1000);
	expect(x == 1 && y == 0, "without v nothing reacts");
	/* one substep by hand: u v² = 0.03125; u loses that and gains feed * (1 - u) = 0.0175; v gains it and loses
	 * (feed + kill) v = 0.025 */
	x = 0.5;
	y = 0.25;
	reaction_react(&x, &y, 1);
	expect(fabs(x - (0.5 + (0.0175 - 0.03125) / 256)) < 1e-15 && fabs(y - (0.25 + (0.03125 - 0.025) / 256)) < 1e-15,
	       "one substep by hand");

	/* a single peak spreads to its four neighbours; without reaction partners (v = 0) u only feeds towards 1 */
	for (int i = 0; i < N; i++) {
		u[i] = 1;
		v[i] = 0;
	}
	u[0] = 2;
	reaction_reference(u, v, EDGE, scratch_u, scratch_v);
	x = pow(1 - 0.035 / 256, 256); /* what is left of a distance to 1 */
	expect(fabs(u[0] - (1 + x * (1 - 4 * 0.16))) < 1e-12, "the peak keeps 1 - 4 * 0.16");
	expect(fabs(u[1] - (1 + x * 0.16)) < 1e-12 && fabs(u[3] - u[1]) < 1e-15,
	       "neighbours get 0.16, also across the edge");
	expect(fabs(u[EDGE] - u[1]) < 1e-15 && fabs(u[12] - u[1]) < 1e-15, "… up and down alike");
	expect(u[5] == 1, "a diagonal one gets nothing");
}

/* A cost of 0.3 ms and 0.02 ms a piece. */
static double cost(void *context, int work)
{
	++*(int *)context;
	return 0.3 + 0.02 * work;
}

static double endless(void *context, int work)
{
	(void)context;
	(void)work;
	return 1e-9;
}

static void test_calibration(void)
{
	int calls = 0;

	expect(calibrate(0, 8, 1000, cost, &calls) == 0 && calls == 0, "no fault, no work, nothing tried");
	expect(calibrate(2, 8, 1000, cost, &calls) == 85, "2 ms are 0.3 and 85 pieces of 0.02");
	expect(calibrate(0.01, 8, 1000, cost, &calls) == 1, "less than the least is one piece");
	expect(calibrate(1000, 8, 1000, cost, &calls) == 1000, "no more than the most");
	expect(calibrate(1, 8, 50, endless, NULL) == 50, "nor where work takes no time");
}

static void test_clock(void)
{
	double values[] = {3, 1, 2, 6}, one[] = {5};

	/* mean 3, squares 0 + 4 + 1 + 9 = 14 */
	expect(fabs(clock_deviation(values, 4) - sqrt(14.0 / 3)) < 1e-12, "deviation by hand");
	expect(clock_deviation(one, 1) == 0, "one value has none");
	expect(clock_median(values, 4) == 2.5 && clock_median(one, 1) == 5, "median by hand");
}

static void test_hash(void)
{
	/* the published FNV-1a hash of "foobar" (Noll, fnv test vectors) */
	expect(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8u, "FNV-1a of foobar");
}

static double half(void *context, int work)
{
	(void)context;
	return 0.5 * work;
}

static void test_ranks(void)
{
	struct ranks r;
	int work;

	fflush(stdout); /* or the fork prints it again */
	ranks_start(&r, 2);
	if (ranks_swap(&r, r.rank + 10) != 11 - r.rank)
		exit(1);
	work = calibrate_together(&r, 6, 3, 100, half, NULL);
	if (r.rank == 1)
		exit(work == 12 ? 42 : 1);
	expect(r.rank == 0 && work == 12, "rank 0 calibrates for both");
	expect(ranks_finish(&r) == 42, "rank 1 had the same, and its exit status comes back");
}

int main(void)
{
	test_filter();
	test_frames();
	test_reaction();
	test_calibration();
	test_clock();
	test_hash();
	test_ranks();
	return failures > 0;
}
