/* What did not change between the sides, and what one and two runs per side are widened by for it: worked out by hand.
 */
#include "same/controls.h"
#include "verdict/exchange.h"
#include "verdict_pair.h"

static struct exchange with_controls(size_t runs, const struct controls *controls)
{
	struct exchange e = {0};
	exchange_add_state(&e, (const size_t[]){runs, runs}, controls);
	return e;
}

/* What one and two runs per side cannot tell, by what did not change; worked out by hand. */
static void states_of_few_runs(void **unused)
{
	(void)unused;
	struct controls c = {.known = true, .gpu = .003, .host = .5, .waits = {.02, .9}};
	near(exchange_widen(&(struct exchange){.state = .03}, .04, 0), .05, 1e-15); /* both err by themselves */
	near(with_controls(1, &c).state, 0, 0); /* the GPU waits for nobody, and ran alike */
	c.gpu = -.0031;
	assert_true(with_controls(1, &c).state > 0);
	c.gpu = 0;
	c.waits[0] = .021;
	assert_true(with_controls(1, &c).state > 0);
	c = (struct controls){.known = true, .gpu = .002, .host = .2, .waits = {.5, .6}};
	near(with_controls(3, &c).state, 0, 0);
	near(with_controls(1, NULL).state, 0, 0);
	struct exchange e = with_controls(2, &c);
	near(e.state, sqrt(.0009 + .0004 + .0016), 1e-15); /* .04 of .5, and a fifth of .2 */
	near(e.moved, .2, 1e-15);
	c.alone[0] = .4, c.alone[1] = .3; /* and .35 of .3, of which launches tell nothing */
	near(with_controls(2, &c).state, sqrt(.0009 + .0004 + .0016 + .011025), 1e-15);
	c.alone[1] = 0; /* of one side: it is what changed */
	near(with_controls(2, &c).state, e.state, 1e-15);
	/* c = .3 may be .1 for the host's pace */
	near(exchange_widen(&e, .01, 0), .2 + hypot(.01, e.state), 1e-15);
	near(exchange_widen(&e, .01, 1), hypot(.01, e.state), 1e-15);
	near(exchange_widen(&e, .3, 0), .2 + hypot(.3, e.state), 1e-15);
	c.host = -.2; /* mirrored */
	e = with_controls(2, &c);
	near(exchange_widen(&e, .01, 1), .2 + hypot(.01, e.state), 1e-15);
	near(exchange_widen(&e, .01, 0), hypot(.01, e.state), 1e-15);
	c.waits[0] = .8; /* no host is seven times as slow: the program is another one */
	c.host = -2;
	near(with_controls(2, &c).moved, -log(2), 1e-15);
	c.host = -.2;
	for (int s = 0; s < 2;
	     s++) { /* no more goes than the slower side, the fixed one, waits; the other may wait less */
		c.waits[s] = .1;
		c.waits[!s] = .6;
		near(with_controls(2, &c).moved, s ? log(.9) : -.2, 1e-15);
	}
	/* Two optimizers on an H100, one run per side, 1.593 times as fast on a host that was 62 % slower in the
	 * baseline, whose GPU waits .48 of a step: 1.01 by the programs' own clocks. */
	c = (struct controls){.known = true, .gpu = .003, .host = log(1.62), .waits = {.48, .18}};
	e = with_controls(1, &c);
	assert_true(log(1.593) - exchange_widen(&e, .01, 0) < log(1.01));
	/* One program beside itself on an H100, one run per side: 1.21 times as long on a host 21 % slower. Its GPU
	 * waits 0.463 and 0.35 of a step: without the pace both steps are as long. */
	c = (struct controls){.known = true, .gpu = .001, .host = log(1.21), .waits = {.463, .35}};
	e = with_controls(1, &c);
	near(e.moved, log(1.21), 1e-12);
	assert_true(exchange_widen(&e, .02, 0) > log(1.21));
	/* where one side's GPU hardly waits, the wait is what changed, whatever else the state is widened for */
	c = (struct controls){.known = true, .gpu = .05, .host = .12, .waits = {.3, .01}};
	near(with_controls(1, &c).moved, -log(.99), 1e-15);
	c = (struct controls){.known = true, .gpu = .1, .waits = {.3, 0}}; /* kernels may be faster code */
	near(with_controls(1, &c).moved, 0, 0);
	near(with_controls(1, &c).state, .03, 0);
	/* with sides of other sessions in quadrature */
	near(exchange_widen(&(struct exchange){.apart = .075, .state = .04}, 0, 0), .085, 1e-12);
	/* all kernels by one factor, as with another clock: what the GPU does not wait of the step is shorter by it */
	c.clock = .1;
	e = with_controls(1, &c);
	near(e.clock, .1, 0); /* on one side the GPU waits for nobody */
	near(exchange_widen(&e, .01, 0), .1 + hypot(.01, e.state), 1e-15);
	near(exchange_widen(&e, .01, 1), hypot(.01, e.state), 1e-15);
	c.waits[1] = .2;
	near(with_controls(1, &c).clock, .08, 1e-15);
	/* nothing tells: 0.075 and 0.3 of the larger wait, in quadrature with the half-width */
	c.known = false;
	e = with_controls(2, &c);
	near(e.state, 0, 0);
	near(e.unseen, hypot(.075, .09), 1e-15);
	near(with_controls(3, &c).unseen, 0, 0);
	/* but launches that take longer than recording explains: the host was slower, whatever kernels are */
	c = (struct controls){.host_seen = true, .host = .4, .waits = {.5, .6}};
	near(with_controls(1, &c).moved, 0, 0); /* recording may explain it */
	c.host_slower = true;
	e = with_controls(1, &c);
	assert_true(e.unseen > 0);
	near(e.moved, .4, 1e-15);
	near(e.state, .08, 1e-15); /* the rest is in what is unseen */
	assert_true(exchange_widen(&e, .01, 0) > .4 && exchange_widen(&e, .01, 1) < .09);
	/* as many calls of the driver that took longer, each side's on its own end */
	c = (struct controls){.known = true, .host_seen = true, .waits = {.5, .6}, .calls = {.2, .1}};
	e = with_controls(1, &c);
	near(exchange_widen(&e, .01, 0), hypot(.01, e.state) - log(.8), 1e-15);
	near(exchange_widen(&e, .01, 1), hypot(.01, e.state) - log(.9), 1e-15);
	c.calls[0] = .9; /* no more than three quarters of a step */
	near(with_controls(2, &c).calls[0], log(4), 1e-15);
	near(with_controls(3, &c).calls[0], 0, 0);
}

/* What makes an interval wide is said: as many calls that take longer, where it is more than a hundredth of a step. */
static void calls_are_named(void **unused)
{
	(void)unused;
	struct controls c = {.known = true, .host_seen = true, .waits = {.5, .6}, .calls = {.004, .312}};
	assert_non_null(strstr(
		said(controls_say(&c, &arena), NULL),
		"In as many calls that wait or allocate, the GPU waits 31 % of a step longer in the fixed side."));
	c.calls[0] = .4;
	assert_non_null(strstr(said(controls_say(&c, &arena), NULL), "40 % of a step longer in the baseline."));
	c.calls[0] = c.calls[1] = .01;
	assert_null(strstr(said(controls_say(&c, &arena), NULL), "calls"));
}

/* A side whose GPU waits for the host for `wait` of a step, and of whose launches `alike` of ten are the other's. */
static struct side waiting(double wait, uint32_t alike, uint32_t other)
{
	struct idle_row *row = ARENA_NEW(&arena, 2, struct idle_row);
	struct launch_pace *pace = ARENA_NEW(&arena, 2, struct launch_pace);
	row[0] = (struct idle_row){.cause = CAUSE_HOST_CODE, .per_step = wait};
	row[1] = (struct idle_row){.cause = CAUSE_DEPENDENCY, .per_step = .2};
	pace[0] = (struct launch_pace){1, 1, 0, alike, 10, 10};
	pace[1] = (struct launch_pace){other, other, 0, 100 - alike, 10, 10};
	return (struct side){.budget = {.period = 1, .rows = row, .n_rows = 2}, .recording = {.paces = {pace, 2, 100}}};
}

/* Controls are known where a third of the kernels' time and of the launches is in common; of the launches only where
 * the GPU waits for the host for more than a fifth of a step. */
static void what_is_in_common(void **unused)
{
	(void)unused;
	static const struct {
		double kernels, wait;
		uint32_t alike;
		bool known;
	} CASES[] = {{.334, .5, 34, true},
	             {.332, .5, 34, false},
	             {.334, .5, 33, false},
	             {.334, .2, 33, true},
	             {.334, .201, 33, false}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const struct side side[2] = {waiting(CASES[i].wait, CASES[i].alike, 2), waiting(.1, CASES[i].alike, 3)};
		const struct comparison kernels = {.clock = .01, .as_clock = .01, .clock_share = CASES[i].kernels};
		struct controls c = controls_find(side, &kernels);
		assert_int_equal(c.known, CASES[i].known);
		assert_int_equal(c.host_seen, CASES[i].alike >= 34); /* else it is said to be unknown, not alike */
		near(c.waits[0], CASES[i].wait, 1e-15);              /* waiting for others is not the host's */
		near(c.clock + c.gpu, .02, 1e-15);
	}
}

/* Of a step of 1 the GPU waits .5 for the host, which launches .02 times: each takes 10 to the thread's next call, .2
 * in all; and all of the .1 that it waits on the other side may be between those. */
static void what_is_not_between_launches(void **unused)
{
	(void)unused;
	struct side side[2] = {waiting(.5, 100, 2), waiting(.1, 100, 3)};
	side[0].counts.launches = side[1].counts.launches = .02;
	const struct controls c = controls_find(side, &(struct comparison){.clock_share = 1});
	near(c.alone[0], .3, 1e-15);
	near(c.alone[1], 0, 0);
}

/* A side whose GPU waits so long inside so many allocations and synchronisations of a step of 1. */
static struct side in_calls(double frees, double in_frees, double syncs, double in_syncs)
{
	struct idle_row *row = ARENA_NEW(&arena, 3, struct idle_row);
	struct api_result *api = ARENA_NEW(&arena, 2, struct api_result);
	row[0] = (struct idle_row){.cause = CAUSE_ALLOC, .per_step = in_frees};
	row[1] = (struct idle_row){.cause = CAUSE_SYNC_RETURN, .per_step = in_syncs};
	row[2] = (struct idle_row){.cause = CAUSE_HOST_CODE, .per_step = .1};
	api[0] = (struct api_result){.class = CALL_ALLOC, .calls = frees};
	api[1] = (struct api_result){.class = CALL_SYNC, .calls = syncs};
	return (struct side){.budget = {.period = 1, .rows = row, .n_rows = 3}, .api = api, .n_api = 2};
}

/* Calls of the driver that both sides make as often, within 5 %, tell that the host or its driver was slower. */
static void calls_of_the_driver(void **unused)
{
	(void)unused;
	static const struct {
		double frees, baseline, fixed; /* calls of the fixed side, of 100 of the baseline, and what they move */
	} CASES[] = {{100, .3, 0}, {95.1, .3, 0}, {94.9, 0, 0}, {105, .3, 0}, {0, 0, 0}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const struct side side[2] = {in_calls(100, .5, 1, .1), in_calls(CASES[i].frees, .2, 1, .15)};
		const struct controls c = controls_find(side, &(struct comparison){0});
		near(c.calls[0], CASES[i].baseline, 1e-15);
		near(c.calls[1], .05, 1e-15);
	}
}

/* A side of a step of 1 that copies so many bytes in `per_step`, alone, and waits as long again in the copies' calls.
 */
static struct side copying(bool pageable, double bytes, double per_step)
{
	struct idle_row *row = ARENA_NEW(&arena, 1, struct idle_row);
	struct api_result *api = ARENA_NEW(&arena, 1, struct api_result);
	struct copy_result *copy = ARENA_NEW(&arena, 1, struct copy_result);
	*row = (struct idle_row){.cause = CAUSE_COPY_API, .per_step = per_step};
	*api = (struct api_result){.class = CALL_COPY, .calls = 1};
	*copy = (struct copy_result){
		.kind = COPY_H2D, .pageable = pageable, .instances = 1, .bytes = bytes, .per_step = per_step};
	return (struct side){.budget = {.period = 1, .copy_exposed = per_step, .rows = row, .n_rows = 1},
	                     .api = api,
	                     .n_api = 1,
	                     .copies = copy,
	                     .n_copies = 1};
}

/* Copies of as many bytes of pageable memory, within 5 %, tell that the host was slower; pinned memory is a fix. */
static void copies_of_pageable_memory(void **unused)
{
	(void)unused;
	static const struct {
		bool pageable;
		double bytes, baseline; /* of the fixed side; what they move of the baseline */
	} CASES[] = {{true, 1e6, .4}, {true, .951e6, .4}, {true, .949e6, 0}, {false, 1e6, 0}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		const struct side side[2] = {copying(true, 1e6, .3), copying(CASES[i].pageable, CASES[i].bytes, .1)};
		const struct controls c = controls_find(side, &(struct comparison){0});
		near(c.copies[0], CASES[i].baseline, 1e-15);
		near(c.copies[1], 0, 0);
		assert_true(!CASES[i].baseline == !strstr(said(controls_say(&c, &arena), NULL),
		                                          "Copies of as many bytes of pageable memory take 40 % of a "
		                                          "step longer in the baseline."));
	}
	const struct controls known = {.known = true, .waits = {.5, .6}, .copies = {.2, .1}};
	const struct exchange e = with_controls(1, &known);
	near(exchange_widen(&e, .01, 0), hypot(.01, e.state) - log(.8), 1e-15);
	near(exchange_widen(&e, .01, 1), hypot(.01, e.state) - log(.9), 1e-15);
}

/* One run per side of which nothing tells the state: 10 % faster is no direction, and 20 % are one; what was recorded
 * keeps the interval that it had. */
static void a_verdict_without_controls(void **unused)
{
	(void)unused;
	for (int big = 0; big < 2; big++) {
		struct pair *p = pair_new();
		struct controls c = {.known = false, .waits = {.1, .2}};
		const double unseen = hypot(.075, .06);
		for (int s = 0; s < 2; s++)
			add_run(p, s, 60, (int64_t)(1e9 * (s ? 1 : big ? 1.2 : 1.09)));
		p->conditions.controls = &c;
		const struct verdict *v = judge(p);
		assert_int_equal(v->result, big ? VERDICT_FASTER : VERDICT_INCONCLUSIVE);
		near(log(v->speedup / v->lo), unseen, 1e-9);
		near(log(v->hi / v->speedup), unseen, 1e-9);
		near(v->recorded.lo, v->speedup, 1e-9);
		assert_true(says(v, "The interval allows 10 % for it."));
	}
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(states_of_few_runs),        TEST(calls_are_named),
	                                   TEST(what_is_in_common),         TEST(what_is_not_between_launches),
	                                   TEST(calls_of_the_driver),       TEST(copies_of_pageable_memory),
	                                   TEST(a_verdict_without_controls)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
