/* The way from one step to the other: its parts are typed, each is there once, and together they are the two steps. */
#include "analyse/shown.h"
#include "find/bound.h"
#include "find/rules_parts.h"
#include "find/waterfall.h"
#include "render/words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "scene.h"

enum { US = 1000, MS = 1000 * US, STEPS = 30 };

/* Steps of one kernel of 500 µs behind a range of `host` ns in which nothing is launched. */
static const struct trace *run_with(struct scene *s, const char *range, int64_t host)
{
	scene_trace_begin(s);
	for (int64_t i = 0, t = 0; i < STEPS; i++) {
		int64_t begin = t, length = host + i % 3 * US;
		scene_range(s, s->main, t, t + length, range);
		t += length;
		scene_kernel(s, s->main, t, t + 2 * US, t + 3 * US, t + 503 * US);
		scene_call(s, s->main, t + 10 * US, t + 505 * US, "cudaDeviceSynchronize", CALL_SYNC);
		t += 510 * US;
		scene_range(s, s->main, begin, t, "step");
	}
	return maker_link(&s->m);
}

static const struct waterfall_part *part_of(const struct analysis *a, enum part_kind kind, enum cause cause,
                                            const char *phase)
{
	const struct waterfall_part *found = NULL;
	for (uint32_t i = 0; i < a->waterfall.n; i++) {
		const struct waterfall_part *p = &a->waterfall.part[i];
		if (p->kind != kind ||
		    (kind == PART_IDLE && (p->cause != cause || strcmp(names_text(a->names, p->phase), phase) != 0)))
			continue;
		assert_null(found);
		found = p;
	}
	return found;
}

/* Names that look like the words around them stay names. */
static void test_names_are_not_words(void **state)
{
	static const char *const names[] = {"eval (between phases)", "alloc in x", "idle: alloc in x", "other parts"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct scene *s = *state;
		const struct analysis *a =
			scene_compare(s, run_with(s, names[i], 900 * US), run_with(s, names[i], 100 * US));
		const struct waterfall_part *p = part_of(a, PART_IDLE, CAUSE_HOST_CODE, names[i]);
		assert_non_null(p);
		assert_float_equal(p->delta, -800.0 * US, 10 * US);
		assert_string_equal(words_part(a, &s->arena, p),
		                    arena_format(&s->arena, "idle, host code in %s", names[i]));
	}
}

/* What the host does in another phase now is not gone, and what went from one phase into another is no change. */
static void test_what_moved_is_not_gone(void **state)
{
	struct scene *s = *state;
	const struct trace *before = run_with(s, "A", 400 * US), *half = run_with(s, "B", 200 * US);
	const struct analysis *a = scene_compare(s, before, half);
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	assert_true(a->waterfall.n_reasons && a->waterfall.reason[0].every_phase);
	assert_int_equal(a->waterfall.reason[0].part.cause, CAUSE_HOST_CODE);
	double baseline = 0, fixed = 0;
	for (uint32_t i = 0; i < a->waterfall.n; i++)
		if (a->waterfall.part[i].kind == PART_IDLE && a->waterfall.part[i].cause == CAUSE_HOST_CODE) {
			baseline += a->waterfall.part[i].baseline;
			fixed += a->waterfall.part[i].fixed;
		}
	assert_true(fixed > 190 * US && fabs(a->waterfall.reason[0].part.fixed - fixed) < 1e-6);
	assert_true(fabs(a->waterfall.reason[0].part.baseline - baseline) < 1e-6);
	a = scene_compare(s, before, run_with(s, "A", 200 * US));
	assert_true(a->waterfall.n_reasons && !a->waterfall.reason[0].every_phase &&
	            !a->waterfall.reason[0].every_cause);
	assert_string_equal(names_text(a->names, a->waterfall.reason[0].part.phase), "A");
}

/* A wait that has another cause now, as another option was on, has not gone; what is left of the change is named. */
static void test_why_is_netted(void **state)
{
	static const struct verdict faster = {.result = VERDICT_FASTER}, slower = {.result = VERDICT_SLOWER};
	static const struct renames none;
	struct scene *s = *state;
	uint32_t phase = names_add_text(&s->names, "load");
	struct idle_row before[] = {{.cause = CAUSE_HOST_CODE, .phase = phase, .per_step = 400 * US}};
	struct idle_row after[] = {{.cause = CAUSE_HOST_BLOCKED, .phase = phase, .per_step = 390 * US},
	                           {.cause = CAUSE_HOST_CODE, .phase = phase, .per_step = 30 * US}};
	struct side side[2] = {
		{.budget = {.compute = 900 * US, .idle = 400 * US, .period = 1300 * US, .rows = before, .n_rows = 1}},
		{.budget = {.compute = 700 * US, .idle = 420 * US, .period = 1120 * US, .rows = after, .n_rows = 2}}};
	for (int i = 0; i < 2; i++)
		side[i].headline.step = side[i].budget.period;
	struct waterfall w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
	assert_true(w.n_reasons && w.reason[0].part.kind == PART_COMPUTE);
	after[0].phase = names_add_text(&s->names, "elsewhere"); /* in another phase it has not, either */
	w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
	assert_int_equal(w.reason[0].part.kind, PART_COMPUTE);
	after[0].phase = phase;
	/* where most of it has gone, whatever it is called, the phase is named with all of its waits */
	after[0].per_step = 150 * US;
	side[1].budget.compute = 880 * US, side[1].budget.idle = 180 * US;
	side[1].budget.period = side[1].headline.step = 1060 * US;
	w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
	const struct reason *r = w.reason;
	assert_true(w.n_reasons && r->part.kind == PART_IDLE && r->every_cause && !r->every_phase);
	assert_true(r->part.baseline == 400 * US && r->part.fixed == 180 * US);
	/* what came back of it under another cause is taken off where the cause can be named all the same */
	after[0].per_step = 40 * US, side[1].budget.idle = 70 * US;
	side[1].budget.period = side[1].headline.step = 950 * US;
	w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
	assert_true(w.n_reasons && r->part.kind == PART_IDLE && !r->every_cause);
	assert_true(fabs(r->part.delta + 330 * US) < 1e-6 && fabs(r->part.fixed - 70 * US) < 1e-6);
	/* … off the side that has less of it, from whichever side one looks */
	struct side turned[2] = {side[1], side[0]};
	struct waterfall back = waterfall_build(turned, NULL, &none, &slower, &s->names, &s->arena);
	assert_true(r->held && fabs(back.reason[0].part.baseline - 70 * US) < 1e-6);
	assert_null(w.largest); /* nor is that other cause, which was taken off, named as something else */
	/* nor is a reason what changed by less than a tenth of a step's change */
	after[0].per_step = 370 * US;
	side[1].budget.compute = 905 * US;
	side[0].budget.copy_exposed = 200 * US;
	side[0].budget.period = side[0].headline.step = 1500 * US;
	side[1].budget.period = side[1].headline.step = 1305 * US;
	w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
	assert_true(w.n_reasons && w.reason[0].part.kind == PART_COPY);
}

/* Of a step of both sides, in µs, by what each part is and by how much it falls. */
static struct waterfall waterfall_of(struct scene *s, const double (*part)[2])
{
	static const struct renames none;
	static const struct verdict faster = {.result = VERDICT_FASTER};
	struct side side[2] = {0};
	struct idle_row rows[2] = {{.cause = CAUSE_HOST_CODE}, {.cause = CAUSE_HOST_CODE}};
	for (int i = 0; i < 2; i++) {
		struct budget *b = &side[i].budget;
		b->compute = (part[0][0] - i * part[0][1]) * US;
		b->comm_exposed = (part[1][0] - i * part[1][1]) * US;
		b->copy_exposed = (part[2][0] - i * part[2][1]) * US;
		rows[i].per_step = b->idle = (part[3][0] - i * part[3][1]) * US;
		b->rows = &rows[i];
		b->n_rows = 1;
		b->period = side[i].headline.step = b->compute + b->comm_exposed + b->copy_exposed + b->idle;
	}
	return waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
}

#define PARTS(...) waterfall_of(s, (const double[][2]){__VA_ARGS__})

/* What is not named is one number, which with those that are named is the change; its largest part has a name where it
 * or all of it is a tenth of the change, either way. */
static void test_the_rest_has_a_largest_part(void **state)
{
	struct scene *s = *state;
	struct waterfall w = PARTS({900, 880}, {200, 20}, {220, 98}, {4000, 0});
	assert_true(fabs(w.rest + 118 * US) < 1e-6 && w.largest && w.largest->kind == PART_COPY);
	w = PARTS({900, 880}, {200, 0}, {220, 0}, {4000, -400});
	assert_float_equal(w.rest, 400 * US, 1e-6);
	assert_true(w.largest && w.largest->kind == PART_IDLE);
	w = PARTS({900, 880}, {200, 20}, {220, 10}, {4000, 0});
	assert_true(fabs(w.rest + 30 * US) < 1e-6 && !w.largest);
}

/* What a part needs to be named, and how many are: each number is met from both sides. */
static void test_what_it_takes_to_be_named(void **state)
{
	struct scene *s = *state;
	/* without an interval kernels move by 3 %, idle time and copies by 25 % */
	assert_int_equal(PARTS({1000, 33}, {0, 0}, {0, 0}, {0, 0}).n_reasons, 1);
	assert_int_equal(PARTS({1000, 27}, {0, 0}, {0, 0}, {0, 0}).n_reasons, 0);
	assert_int_equal(PARTS({0, 0}, {0, 0}, {0, 0}, {1000, 275}).n_reasons, 1);
	assert_int_equal(PARTS({0, 0}, {0, 0}, {0, 0}, {1000, 225}).n_reasons, 0);
	/* a tenth of the change; most of it is idle time that chance may have made */
	assert_int_equal(PARTS({5000, 400}, {0, 0}, {110, 108}, {4000, 492}).n_reasons, 2);
	assert_int_equal(PARTS({5000, 400}, {0, 0}, {110, 92}, {4000, 508}).n_reasons, 1);
	/* two thirds of the change are enough */
	assert_int_equal(PARTS({400, 360}, {400, 290}, {220, 200}, {4000, 150}).n_reasons, 3);
	assert_int_equal(PARTS({400, 380}, {400, 300}, {220, 200}, {4000, 120}).n_reasons, 2);
}

/* Twelve rows of idle time of which none is a tenth of the change: their sum is named, in a phase or of a cause. */
static void test_small_parts_are_named_together(void **state)
{
	static const struct renames none;
	static const struct verdict faster = {.result = VERDICT_FASTER};
	static const enum cause causes[] = {CAUSE_HOST_CODE, CAUSE_LAUNCH_API, CAUSE_OTHER_API, CAUSE_SYNC_RETURN};
	enum { ROWS = 12, PHASES = 3 };
	struct scene *s = *state;
	uint32_t phase[PHASES];
	for (int i = 0; i < PHASES; i++)
		phase[i] = names_add_text(&s->names, (const char *[]){"f", "g", "h"}[i]);
	for (int of_cause = 0; of_cause < 2; of_cause++) {
		struct idle_row rows[2][ROWS];
		struct side side[2] = {{.budget.copy_exposed = 128 * US}};
		for (int i = 0; i < ROWS; i++) {
			bool most = of_cause ? i / PHASES == 0 : i % PHASES == 0;
			rows[0][i] = (struct idle_row){
				.cause = causes[i / PHASES], .phase = phase[i % PHASES], .per_step = 50 * US};
			rows[1][i] = rows[0][i];
			rows[1][i].per_step -= most ? 19 * US : 1 * US;
		}
		for (int i = 0; i < 2; i++) {
			struct budget *b = &side[i].budget;
			b->rows = rows[i];
			b->n_rows = ROWS;
			for (int k = 0; k < ROWS; k++)
				b->idle += rows[i][k].per_step;
			b->period = side[i].headline.step = b->copy_exposed + b->idle;
		}
		struct waterfall w = waterfall_build(side, NULL, &none, &faster, &s->names, &s->arena);
		assert_int_equal(w.n_reasons, 2);
		assert_int_equal(w.reason[0].part.kind, PART_COPY);
		assert_int_equal(w.reason[1].every_cause, !of_cause);
		assert_int_equal(w.reason[1].every_phase, of_cause);
		assert_true(of_cause || w.reason[1].part.phase == phase[0]);
		assert_float_equal(w.reason[1].part.delta, of_cause ? -3 * 19 * US : -4 * 19 * US, 1e-6);
	}
}

/* A kernel that has another name, or became several, has not gone: what did is named, or none is. */
static void test_a_kernel_that_is_replaced_is_not_named(void **state)
{
	enum { GEMM = 1, OTHER, EVEN, ODD, DROPOUT };
	struct scene *s = *state;
	struct kernel_result before[] = {{.name = GEMM, .instances = 6, .per_step = 600 * US},
	                                 {.name = DROPOUT, .instances = 6, .per_step = 180 * US}};
	struct kernel_result renamed[] = {{.name = OTHER, .instances = 6, .per_step = 601 * US}};
	struct kernel_result parted[] = {{.name = EVEN, .instances = 3, .per_step = 250 * US},
	                                 {.name = ODD, .instances = 3, .per_step = 250 * US}};
	struct analysis a = {
		.n_sides = 2,
		.waterfall = {.n_reasons = 1, .reason[0].part = {.kind = PART_COMPUTE, .delta = -179 * US}},
		.side = {{.n_devices = 1, .kernels = before, .n_kernels = 2},
	                 {.n_devices = 1, .kernels = renamed, .n_kernels = 1}}};
	assert_int_equal(card_work(&a, &s->arena).kernel, DROPOUT);
	a.side[1].kernels = parted, a.side[1].n_kernels = 2; /* dropout stays as it was, and has other names, too */
	a.waterfall.reason[0].part.delta = -280 * US;
	assert_int_equal(card_work(&a, &s->arena).kernel, 0);
	a.side[1].n_kernels = 0, a.side[0].n_kernels = 1; /* with nothing in its place it has gone */
	a.waterfall.reason[0].part.delta = -600 * US;
	assert_int_equal(card_work(&a, &s->arena).kernel, GEMM);
	before[0].comm = true; /* collectives are no part of the work */
	assert_int_equal(card_work(&a, &s->arena).kernel, 0);
	/* of one in another's place that is shorter or longer, the name on the side where it takes longer */
	before[0].comm = false;
	a.side[1].kernels = renamed, a.side[1].n_kernels = 1;
	for (int longer = 0; longer < 2; longer++) {
		renamed[0].per_step = longer ? 1600 * US : 100 * US;
		a.waterfall.reason[0].part.delta = renamed[0].per_step - before[0].per_step;
		assert_int_equal(card_work(&a, &s->arena).kernel, longer ? OTHER : GEMM);
	}
}

/* Kernels with one name on both sides are themselves, whatever family they are of; the others are their family's. */
static void test_renamed_kernels_are_one_family(void **state)
{
	struct scene *s = *state;
	uint32_t n, relu = names_add_text(&s->names, "relu"), old = names_add_text(&s->names, "ampere_sgemm_128x64_nn"),
		    new = names_add_text(&s->names, "ampere_bf16_gemm_256x128_nn"),
		    kept = names_add_text(&s->names, "volta_sgemm_32x32_tn");
	struct kernel_result before[] = {{.name = old, .instances = 33, .per_step = 1640 * US},
	                                 {.name = kept, .instances = 1, .per_step = 30 * US},
	                                 {.name = relu, .instances = 2, .per_step = 20 * US}};
	struct kernel_result after[] = {{.name = new, .instances = 24, .per_step = 330 * US},
	                                {.name = kept, .instances = 1, .per_step = 31 * US},
	                                {.name = relu, .instances = 4, .per_step = 40 * US}};
	struct analysis a = {.names = &s->names,
	                     .n_sides = 2,
	                     .side = {{.kernels = before, .n_kernels = 3}, {.kernels = after, .n_kernels = 3}}};
	const struct card_slope *slope = card_slopes(&a, 2, &s->arena, &n);
	assert_int_equal(n, 2);
	assert_string_equal(slope[0].name, "gemm kernels");
	assert_int_equal(slope[0].kernels, 2);
	assert_true(slope[0].time[0] == 1640 * US && slope[0].time[1] == 330 * US);
	assert_true(slope[0].count[0] == 33 && slope[0].count[1] == 24);
	assert_string_equal(slope[1].name, "relu");
	assert_true(slope[1].time[0] == 20 * US && slope[1].time[1] == 40 * US);
}

static void test_parts_add_up(void **state)
{
	struct scene *s = *state;
	const struct analysis *a = scene_compare(s, run_with(s, "load", 900 * US), run_with(s, "read", 100 * US));
	double baseline = 0, fixed = 0;
	for (uint32_t i = 0; i < a->waterfall.n; i++) {
		const struct waterfall_part *p = &a->waterfall.part[i];
		assert_float_equal(p->delta, p->fixed - p->baseline, 1e-6);
		assert_ptr_equal(part_of(a, p->kind, p->cause, names_text(a->names, p->phase)), p); /* once */
		baseline += p->baseline;
		fixed += p->fixed;
	}
	assert_float_equal(baseline, a->side[0].headline.step, 1e-6);
	assert_float_equal(fixed, a->side[1].headline.step, 1e-6);
}

static void test_a_long_list_is_added_up(void **unused)
{
	enum { N = BOUND_ROWS + 500 };
	static struct waterfall_part parts[N];
	struct waterfall w = {.part = parts, .n = N};
	double baseline = 0, fixed = 0;
	(void)unused;
	for (uint32_t i = 0; i < N; i++) {
		parts[i] = (struct waterfall_part){.kind = PART_IDLE,
		                                   .cause = CAUSE_ALLOC,
		                                   .phase = i,
		                                   .baseline = 2.0 * N - i,
		                                   .fixed = i,
		                                   .delta = 2.0 * i - 2.0 * N};
		baseline += i < BOUND_ROWS - 1 ? 0 : parts[i].baseline;
		fixed += i < BOUND_ROWS - 1 ? 0 : parts[i].fixed;
	}
	struct arena arena = {0};
	const struct waterfall cut = bound_waterfall(&w, &arena);
	assert_int_equal(cut.n, BOUND_ROWS);
	const struct waterfall_part *last = &cut.part[BOUND_ROWS - 1];
	assert_int_equal(last->kind, PART_OTHER);
	assert_int_equal(last->phase, 0);
	assert_float_equal(last->baseline, baseline, 1e-6);
	assert_float_equal(last->fixed, fixed, 1e-6);
	assert_float_equal(last->delta, fixed - baseline, 1e-6);
	assert_memory_equal(cut.part, parts, (BOUND_ROWS - 1) * sizeof *parts);
	/* what was given stays as it was, and one that fits is left alone */
	assert_int_equal(parts[BOUND_ROWS - 1].kind, PART_IDLE);
	assert_ptr_equal(bound_waterfall(&cut, &arena).part, cut.part);
	arena_release(&arena);
}

/* Ten steps of 1100 phases, each with its kernel and some host time. */
static const struct trace *run_of_many_phases(struct scene *s, int64_t host)
{
	enum { PHASES = BOUND_ROWS + 100 };
	scene_trace_begin(s);
	int64_t t = 0;
	for (int i = 0; i < 10; i++) {
		int64_t begin = t;
		for (int p = 0; p < PHASES; p++) {
			char name[] = {(char)('a' + p / 676), (char)('a' + p / 26 % 26), (char)('a' + p % 26), '\0'};
			int64_t start = t;
			t += host + p;
			scene_kernel(s, s->main, t, t + 2 * US, t + 3 * US, t + 10 * US);
			t += 4 * US;
			scene_range(s, s->main, start, t, name);
		}
		t += 20 * US;
		scene_range(s, s->main, begin, t, "step");
	}
	return maker_link(&s->m);
}

static void test_many_phases_make_a_bounded_report(void **state)
{
	struct scene *s = *state;
	const struct analysis *a = scene_compare(s, run_of_many_phases(s, 40 * US), run_of_many_phases(s, 20 * US));
	double baseline = 0, fixed = 0;
	assert_int_equal(a->waterfall.n, BOUND_ROWS);
	for (uint32_t i = 0; i < a->waterfall.n; i++) {
		baseline += a->waterfall.part[i].baseline;
		fixed += a->waterfall.part[i].fixed;
	}
	assert_float_equal(baseline, a->side[0].headline.step, 1e-3);
	assert_float_equal(fixed, a->side[1].headline.step, 1e-3);
	for (int side = 0; side < 2; side++) {
		double cost = 0;
		assert_true(a->side[side].n_phases <= BOUND_ROWS);
		for (uint32_t i = 0; i < a->side[side].n_phases; i++)
			cost += a->side[side].phases[i].cost;
		assert_float_equal(cost, a->side[side].budget.period, 1e-3);
	}
}

/* Prediction met: each claimed part must shrink, and all else must hardly change, to either side. Two waits of 2 ms are
 * claimed; the phase of the first has 2 ms more idle time, which nobody claims. */
static void test_what_nobody_claimed_confirms_nothing(void **unused)
{
	static const struct rule plain = {.kind = RULE_PLAIN};
	static const struct idle_fact idle[] = {{.key = {.cause = CAUSE_HOST_CODE, .phase = 5}, .per_step = 2 * MS},
	                                        {.key = {.cause = CAUSE_HOST_CODE, .phase = 6}, .per_step = 2 * MS}};
	static const bool claims[] = {true, true};
	static const struct {
		double change[3]; /* ms: the two waits, kernels */
		enum diagnosis_result result;
		double share;
		uint32_t missed; /* the phase of it; 0: none */
	} table[] = {
		{{-2, -2, 0}, DIAGNOSIS_CONFIRMED, 1, 0},
		{{-2, -1.9, -0.1}, DIAGNOSIS_CONFIRMED, 3.9 / 4, 0},
		{{-2, -1.5, -0.1},
	         DIAGNOSIS_PARTLY,
	         3.5 / 3.6,
	         6},                                        /* the second shrank by less, though all else is little */
		{{-2.2, -2, 0}, DIAGNOSIS_CONFIRMED, 1, 0}, /* … and the first by more, but for its interval */
		{{-4, 0, 0}, DIAGNOSIS_PARTLY, 0.5, 6}, /* the second did not shrink: the first cannot make up for it */
		{{-2, -2, 0.7}, DIAGNOSIS_EXCEEDED, 4 / 3.3, 0},    /* 4 of 3.3 ms */
		{{-2, -1.8, -1.1}, DIAGNOSIS_PARTLY, 3.8 / 4.9, 0}, /* a fifth is the kernels' */
	};
	static struct side side[2];
	struct side_facts facts = {.idle = idle, .n_idle = 2};
	const struct evidence found = {.rule = &plain, .side = &side[0], .facts = &facts, .claims = (bool *)claims};
	const struct evidence *const resolved = &found;
	(void)unused;
	for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
		struct waterfall_part part[] = {
			{.kind = PART_IDLE, .cause = CAUSE_HOST_CODE, .phase = 5, .baseline = 4 * MS},
			{.kind = PART_IDLE, .cause = CAUSE_HOST_CODE, .phase = 6, .baseline = 2 * MS},
			{.kind = PART_COMPUTE, .baseline = 4 * MS}};
		for (int i = 0; i < 2; i++) {
			part[i].has_interval = true;
			part[i].half = 0.3 * MS;
		}
		struct waterfall waterfall = {.part = part, .n = 3};
		const struct findings_input in = {.side = side, .waterfall = &waterfall, .result = VERDICT_FASTER};
		side[0].budget.period = side[1].budget.period = 10 * MS;
		for (int i = 0; i < 3; i++) {
			part[i].delta = table[k].change[i] * MS;
			part[i].fixed = part[i].baseline + part[i].delta;
			side[1].budget.period += part[i].delta;
		}
		struct diagnosis d = diagnosis_judge(&resolved, 1, &in);
		if (d.result != table[k].result)
			fail_msg("case %zu: %d, not %d", k, d.result, table[k].result);
		assert_float_equal(d.share, table[k].share, 1e-9);
		assert_int_equal(d.has_unmet ? d.unmet.phase : 0, table[k].missed);
	}
}

/* Of 10 ms a step, 4 go: 1 ms of host code in a phase that a finding names, 2.5 ms more of the same, 0.5 of kernels.
 * That recording added 3 ms to the baseline alone is a part of the waterfall, which ends at what stopwatches say; it is
 * none of the 4 ms. */
static void test_more_came_from_what_the_program_did(void **unused)
{
	enum { PHASE = 5 };
	static const struct rule plain = {.kind = RULE_PLAIN};
	static const struct idle_fact idle[] = {
		{.key = {.cause = CAUSE_HOST_CODE, .phase = PHASE, .opened = OPENED_DRY}, .per_step = 1 * MS},
		{.key = {.cause = CAUSE_HOST_CODE, .phase = PHASE, .opened = OPENED_SYNC}, .per_step = 3 * MS}};
	static const bool claims[] = {true, false};
	static struct side side[2];
	struct side_facts facts = {.idle = idle, .n_idle = 2};
	struct waterfall_part part[] = {
		{.kind = PART_IDLE, .cause = CAUSE_HOST_CODE, .phase = PHASE, .baseline = 4 * MS, .fixed = 0.5 * MS},
		{.kind = PART_RECORDING, .baseline = -3 * MS},
		{.kind = PART_COMPUTE, .baseline = 6 * MS, .fixed = 5.5 * MS}};
	struct waterfall waterfall = {.part = part, .n = 3};
	(void)unused;
	for (int i = 0; i < 3; i++)
		part[i].delta = part[i].fixed - part[i].baseline;
	part[1].delta = -3.4 * MS; /* the fixed side's was faster recorded than not */
	side[0].budget.period = 10 * MS;
	side[1].budget.period = 6 * MS;
	const struct evidence found = {.rule = &plain, .side = &side[0], .facts = &facts, .claims = (bool *)claims};
	const struct evidence *const resolved = &found;
	const struct findings_input in = {.side = side, .waterfall = &waterfall, .result = VERDICT_FASTER};
	for (int by_work = 0; by_work < 2; by_work++) { /* where nobody marked phases, all of a cause is one part */
		side[0].phases_by_work = by_work;
		part[0].phase = by_work ? 0 : PHASE;
		struct diagnosis d = diagnosis_judge(&resolved, 1, &in);
		assert_int_equal(d.result, DIAGNOSIS_PARTLY);
		assert_float_equal(d.share, 0.25, 1e-9);
		assert_true(d.has_rest);
		assert_int_equal(d.rest.kind, PART_IDLE);
	}
	part[0].delta = -1.4 * MS; /* 0.4 of it are not the finding's */
	assert_int_equal(diagnosis_judge(&resolved, 1, &in).rest.kind, PART_COMPUTE);
	part[2].delta = -0.03 * MS;
	part[0].delta = -1.02 * MS;
	assert_false(diagnosis_judge(&resolved, 1, &in).has_rest);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(test_names_are_not_words),
		TEST(test_what_moved_is_not_gone),
		TEST(test_why_is_netted),
		TEST(test_what_it_takes_to_be_named),
		TEST(test_the_rest_has_a_largest_part),
		TEST(test_small_parts_are_named_together),
		TEST(test_a_kernel_that_is_replaced_is_not_named),
		TEST(test_renamed_kernels_are_one_family),
		TEST(test_parts_add_up),
		cmocka_unit_test(test_a_long_list_is_added_up),
		cmocka_unit_test(test_what_nobody_claimed_confirms_nothing),
		cmocka_unit_test(test_more_came_from_what_the_program_did),
		SCENE(test_many_phases_make_a_bounded_report),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
