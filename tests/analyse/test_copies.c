/* Copies in why: by the way they go, netted over all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "find/waterfall.h"
#include "scene.h"

enum { US = 1000, STEPS = 30 };

/* Steps of both sides, in µs: compute, copies to the device, to the host, and memsets. What is named of them. */
static struct waterfall copied(struct scene *s, const double (*part)[2])
{
	static const struct renames none;
	static const struct verdict faster = {.result = VERDICT_FASTER};
	static const struct table_column columns[] = {{.kind = PART_COMPUTE},
	                                              {.kind = PART_COPY, .way = COPY_H2D},
	                                              {.kind = PART_COPY, .way = COPY_D2H},
	                                              {.kind = PART_COPY, .way = WAY_MEMSET}};
	struct side side[2] = {0};
	struct run_table run[2];
	struct side_facts facts[2] = {{.runs = &run[0], .n_runs = 1}, {.runs = &run[1], .n_runs = 1}};
	for (int i = 0; i < 2; i++) {
		run[i] = (struct run_table){
			.n_steps = STEPS, .n_devices = 1, .n_columns = 4, .n_blocks = STEPS, .block = 1};
		run[i].column = ARENA_NEW(&s->arena, 4, struct table_column);
		for (int k = 0; k < 4; k++) {
			run[i].column[k] = columns[k];
			run[i].column[k].n = STEPS;
			run[i].column[k].ns = ARENA_NEW(&s->arena, STEPS, int64_t);
			for (int b = 0; b < STEPS; b++) /* a tenth of a percent more and less */
				run[i].column[k].ns[b] = (int64_t)(part[k][i] * (999 + b % 3));
		}
		struct budget *b = &side[i].budget;
		b->compute = part[0][i] * US;
		b->copy_exposed = (part[1][i] + part[2][i] + part[3][i]) * US;
		b->period = side[i].headline.step = b->compute + b->copy_exposed;
	}
	return waterfall_build(side, facts, &none, &faster, &s->names, &s->arena);
}

/* Copies are named by the way they go, as far as all of them together changed. */
static void test_copies_are_named_by_their_way(void **state)
{
	struct scene *s = *state;
	struct waterfall w = copied(s, (const double[][2]){{900, 900}, {300, 20}, {50, 50}, {10, 10}});
	assert_int_equal(w.n_reasons, 1);
	assert_true(w.reason[0].part.kind == PART_COPY && w.reason[0].one_way && w.reason[0].way == COPY_H2D);
	assert_float_equal(w.reason[0].part.baseline, 300 * US, 1);
	assert_float_equal(w.reason[0].part.delta, -280 * US, 1);
	assert_true(w.reason[0].part.has_interval && w.reason[0].part.half > 0 && w.reason[0].part.half < 280 * US);
	/* both ways are named where both matter, the larger one first */
	w = copied(s, (const double[][2]){{900, 900}, {300, 140}, {300, 100}, {10, 10}});
	assert_int_equal(w.n_reasons, 2);
	assert_true(w.reason[0].way == COPY_D2H && w.reason[1].way == COPY_H2D);
	w = copied(s, (const double[][2]){{900, 900}, {300, 300}, {50, 50}, {200, 10}});
	assert_true(w.n_reasons == 1 && w.reason[0].one_way && w.reason[0].way == WAY_MEMSET);
	/* what is copied the other way now has not gone; of what came back little, the rest has */
	w = copied(s, (const double[][2]){{1000, 900}, {300, 20}, {50, 300}, {10, 10}});
	assert_true(w.n_reasons == 1 && w.reason[0].part.kind == PART_COMPUTE);
	w = copied(s, (const double[][2]){{900, 900}, {300, 20}, {50, 80}, {10, 10}});
	assert_true(w.n_reasons == 1 && w.reason[0].way == COPY_H2D);
	assert_float_equal(w.reason[0].part.delta, -250 * US, 1);
	/* where most of it went another way, all copies are one part */
	w = copied(s, (const double[][2]){{900, 900}, {500, 20}, {50, 330}, {10, 10}});
	assert_true(w.n_reasons == 1 && w.reason[0].part.kind == PART_COPY && !w.reason[0].one_way);
	assert_float_equal(w.reason[0].part.delta, -200 * US, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copies_are_named_by_their_way, scene_begin, scene_end)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
