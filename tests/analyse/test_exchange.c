/* Which runs are exchangeable, worked out by hand; and the verdict of timed runs, which is made of it. */
#include "verdict/evidence.h"
#include "verdict/exchange.h"
#include "verdict/stopwatch.h"
#include "verdict_pair.h"

static struct exchange order_of(const char *sides)
{
	struct exchange_run run[2][8] = {0};
	size_t n[2] = {0};
	for (size_t i = 0; sides[i]; i++) {
		int s = sides[i] == 'B';
		run[s][n[s]++].start = 1000 + (int64_t)(i * i); /* ranks count, not times */
	}
	return exchange_judge((const struct exchange_run *const[]){run[0], run[1]}, n);
}

/* VIF: all Σ (t − t̄)² over those within the sides. AB 0.5 : 0; AABB 5 : 1; ABBA 5 : 5; ABAB 5 : 4; AAABBB 17.5 : 4;
 * AABABB 17.5 : 9.33; AABBAB 17.5 : 13.33. */
static void in_turns(void **unused)
{
	(void)unused;
	static const struct {
		const char *sides;
		bool in_turns;
	} CASES[] = {{"AB", true},     {"AABB", false},   {"ABBA", true},    {"ABAB", true},  {"AAABBB", false},
	             {"ABBAAB", true}, {"BBBAAA", false}, {"AABABB", false}, {"AABBAB", true}};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		struct exchange e = order_of(CASES[i].sides);
		assert_true(e.known);
		assert_int_equal(e.in_turns, CASES[i].in_turns);
		near(e.apart, CASES[i].in_turns ? 0 : 0.075, 0);
		assert_false(e.sessions);
	}
	assert_int_equal(order_of("BBBAAA").first, 1);
	/* one start time missing, or twice the same: not known, which widens nothing */
	const struct exchange_run none[1] = {{0}}, some[1] = {{.start = 7}};
	const size_t n[2] = {1, 1};
	struct exchange e = exchange_judge((const struct exchange_run *const[]){some, none}, n);
	assert_false(e.known || e.apart > 0);
	e = exchange_judge((const struct exchange_run *const[]){some, some}, n);
	assert_false(e.known || e.apart > 0);
}

static const char *where(struct exchange_run a, struct exchange_run b)
{
	const struct exchange_run *const run[2] = {&a, &b};
	struct exchange e = exchange_judge(run, (const size_t[]){1, 1});
	static const char measured[] = "The fixed side was measured ";
	const char *text = said(exchange_where(&e, &arena), NULL);
	assert_int_equal(text != NULL, e.sessions);
	near(e.apart, text ? 0.075 : 0, 0);
	if (!text)
		return "";
	assert_memory_equal(text, measured, sizeof measured - 1);
	assert_int_equal(text[strlen(text) - 1], '.');
	return arena_copy(&arena, text + sizeof measured - 1, strlen(text) - sizeof measured);
}

#define HOURS (INT64_C(3600) * 1000000000)

/* A short run inside a long one ends no session. */
static void the_longest_run_counts(void **unused)
{
	(void)unused;
	const struct exchange_run a[2] = {{.start = 1, .end = 5 * HOURS}, {.start = 2, .end = 3}};
	for (int64_t late = 0; late < 2; late++) {
		const struct exchange_run b[1] = {{.start = 5 * HOURS + HOURS / 2 + late * HOURS}};
		struct exchange e = exchange_judge((const struct exchange_run *const[]){a, b}, (const size_t[]){2, 1});
		assert_int_equal(e.sessions, late);
	}
}

/* What is not known neither joins nor parts; a GPU tells more than a host's name. */
static void sessions(void **unused)
{
	(void)unused;
	static const uint64_t one[] = {10}, other[] = {12}, both[] = {12, 10};
	const struct exchange_run here = {.start = 1, .place = {4, one, 1}};
	struct exchange_run there = {.start = 2, .place = {4, one, 1}};
	assert_string_equal(where(here, there), "");
	there.start = HOURS;
	assert_string_equal(where(here, there), "");
	there.start = HOURS + 2;
	assert_string_equal(where(here, there), "hours apart from the baseline");
	there.start = 20 * HOURS;
	assert_string_equal(where(here, there), "hours apart from the baseline");
	there.start = 20 * HOURS + 1;
	assert_string_equal(where(here, there), "on another day");
	there.start = 7 * 24 * HOURS;
	assert_string_equal(where(here, there), "on another day");
	there.place.gpu = other;
	assert_string_equal(where(here, there), "on another day and on another GPU");
	there.place.host = 6;
	assert_string_equal(where(here, there), "on another day, on another host and on another GPU");
	there.start = 3;
	assert_string_equal(where(here, there), "on another host and on another GPU");
	there.place.gpu = both;
	there.place.n_gpus = 2;
	assert_string_equal(where(here, there), "");
	there.place.n_gpus = 0;
	assert_string_equal(where(here, there), "on another host");
	there.place.host = 0;
	assert_string_equal(where(here, there), "");
	there.start = 0;
	assert_string_equal(where(here, there), "");
	there.start = INT64_MIN; /* damaged evidence */
	assert_string_equal(where((struct exchange_run){.start = 100 * HOURS}, there), "");
	there.start = 30 * HOURS; /* the first run lasted as long */
	assert_string_equal(where((struct exchange_run){.start = 1, .end = 30 * HOURS}, there), "");
}

/* Sides that share one of two sessions, in turns or not. */
static void shared_sessions(void **unused)
{
	(void)unused;
	const struct exchange_run a[] = {{.start = 1}, {.start = 48 * HOURS}},
				  b[] = {{.start = 2}, {.start = 48 * HOURS - 1}};
	const size_t n[2] = {2, 2};
	struct exchange e = exchange_judge((const struct exchange_run *const[]){a, b}, n);
	assert_true(e.in_turns && !e.sessions && e.apart == 0);
	near(exchange_widen(&e, 0.01, 0), 0.01, 0);
	const struct exchange_run late[] = {{.start = 96 * HOURS}, {.start = 97 * HOURS}};
	e = exchange_judge((const struct exchange_run *const[]){a, late}, n);
	assert_true(e.sessions && e.other_day && !e.in_turns);
	near(exchange_widen(&e, 0.1, 1), 0.125, 1e-12);
}

/* Four sessions of the baseline, a day apart, of 99, 101, 99 and 103 ms, the first with a second run; and one of the
 * fixed side. By hand: s of the logarithms is 0.018979, Student's t at 99 % with 3 degrees of freedom 4.5407. */
static struct exchange of_days(double days, uint64_t host, uint64_t step, double unknown)
{
	struct exchange_run a[5] = {{.mean = 99}},
			    b[1] = {{.start = (int64_t)(24 * days * (double)HOURS) + 1, .mean = 90}};
	static const double means[] = {99, 99, 101, 99, 103};
	for (int r = 0; r < 5; r++)
		a[r] = (struct exchange_run){
			.start = 1 + (r > 1 ? (r - 1) * 24 * HOURS : r),
			.place = {.host = 1 + step * (uint64_t)r},
			.mean = r == 3 ? means[r] * unknown : means[r],
		};
	b[0].place.host = host;
	return exchange_judge((const struct exchange_run *const[]){a, b}, (const size_t[]){5, 1});
}

static void measured_sessions(void **unused)
{
	(void)unused;
	const double half = 4.540702859 * .018978745 * sqrt(1.25);
	const double mean = (2 * log(99) + log(101) + log(103)) / 4;
	struct exchange e = of_days(4, 1, 0, 1);
	assert_int_equal(e.measured.n, 4);
	assert_false(e.measured.far || e.measured.unlike || e.measured.side);
	near(e.measured.spread, .018978745, 1e-9);
	near(e.measured.half, half, 1e-8);
	near(e.apart, .075, 0); /* what is measured is of whole steps */
	/* each session counts once: the mean of the runs, 100.2, is lower by so much */
	near(e.measured.moved, mean - log(100.2), 1e-12);
	near(exchange_widen(&e, .01, 1), half + fmax(0, e.measured.moved), 1e-8);
	near(exchange_widen(&e, .2, 0), .2 + fmax(0, -e.measured.moved), 1e-8);
	assert_true(exchange_floored(&e));
	e.state = .05; /* with few runs in quadrature */
	e.measured.moved = 0;
	near(exchange_widen(&e, .01, 1), hypot(half, .05), 1e-8);
	/* two days behind the last, which are one apart; another host, of which there is only one; then of one each */
	near(of_days(5, 1, 0, 1).measured.half, hypot(half, .075), 1e-8);
	assert_true(of_days(5, 1, 0, 1).measured.far && !of_days(4.4, 1, 0, 1).measured.far);
	near(of_days(4, 9, 0, 1).measured.half, hypot(half, .075), 1e-8);
	assert_true(of_days(4, 9, 0, 1).measured.unlike);
	e = of_days(4, 9, 1, 1);
	assert_false(e.measured.unlike); /* the two runs of the first day are two sessions then */
	assert_int_equal(e.measured.n, 5);
	/* a time that is not known, or a session in common: nothing is measured */
	assert_int_equal(of_days(4, 1, 0, 0).measured.n, 0);
	assert_int_equal(of_days(3, 1, 0, 1).measured.n, 0);
}

/* Sides swapped: mirrored. And three sessions are too few. */
static void sessions_of_the_fixed_side(void **unused)
{
	(void)unused;
	struct exchange_run a[4] = {{0}}, b[1] = {{.start = 96 * HOURS + 1, .mean = 90}};
	for (int r = 0; r < 4; r++)
		a[r] = (struct exchange_run){.start = 1 + r * 24 * HOURS, .mean = 99 + r};
	struct exchange e = exchange_judge((const struct exchange_run *const[]){b, a}, (const size_t[]){1, 4});
	struct exchange m = exchange_judge((const struct exchange_run *const[]){a, b}, (const size_t[]){4, 1});
	assert_int_equal(e.measured.side, 1);
	for (int end = 0; end < 2; end++)
		near(exchange_widen(&e, .01, end), exchange_widen(&m, .01, !end), 0);
	b[0].start = 72 * HOURS + 1;
	assert_int_equal(exchange_judge((const struct exchange_run *const[]){a, b}, (const size_t[]){3, 1}).measured.n,
	                 0);
}

/* Two percent between sides of other days is no direction, and twenty are one; the interval is the widened one. */
static void a_verdict_of_other_days(void **unused)
{
	(void)unused;
	for (int big = 0; big < 2; big++) {
		struct pair *p = pair_new();
		for (int s = 0; s < 2; s++)
			for (int r = 0; r < 3; r++) {
				add_run(p, s, 60, (int64_t)(1e9 * (s ? 1 : big ? 1.2 : 1.02) * (1 + 0.0001 * r)));
				p->run[s][r].start = 1 + r + s * 48 * HOURS;
			}
		p->asked.min_speedup = big ? 1.15 : 1.01;
		const struct verdict *v = judge(p);
		assert_int_equal(v->result, big ? VERDICT_FASTER : VERDICT_INCONCLUSIVE);
		assert_int_equal(p->gates.result, GATE_INCONCLUSIVE);
		near(log(v->speedup / v->lo), 0.075, 2e-4);
		assert_true(says(v, "The fixed side was measured on another day."));
		assert_true(says(v, "only changes beyond about 8 % count"));
	}
}

/* Runs that differ so much that no number of them would tell: that they belong in turns is said once. */
static void turns_once(void **unused)
{
	(void)unused;
	struct pair *p = pair_new();
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++) {
			add_run(p, s, 60, (int64_t)(1e9 * (s ? 1 : 1.001) * (1 + 0.1 * r)));
			p->run[s][r].start = 1 + r + s * 48 * HOURS;
		}
	const struct verdict *v = judge(p);
	assert_true(v->more_runs > EVIDENCE_WORTHWHILE);
	assert_true(says(v, "Measure both in turns."));
	assert_false(says(v, "(A B B A"));
}

static struct verdict time_runs(size_t n_baseline, const double *baseline, size_t n_fixed, const double *fixed,
                                const char *sides)
{
	struct stopwatch_run run[2][8];
	int64_t order = 0;
	const double *of[2] = {baseline, fixed};
	size_t n[2] = {0};
	for (size_t i = 0; sides[i]; i++) {
		int s = sides[i] == 'B';
		run[s][n[s]] = (struct stopwatch_run){.step = of[s][n[s]], .steps = 50, .start = ++order};
		n[s]++;
	}
	assert_true(n[0] == n_baseline && n[1] == n_fixed);
	const struct stopwatch_side side[2] = {{.runs = run[0], .n_runs = n[0]}, {.runs = run[1], .n_runs = n[1]}};
	return verdict_stopwatch(side, NULL, &arena);
}

static bool told(const struct verdict *v, const char *words)
{
	return says(v, words);
}

/* 1.02 of means 102 and 100, each with s = 1: t with 4 degrees of freedom. */
static void stopwatch_runs(void **unused)
{
	(void)unused;
	static const double a[] = {101e6, 102e6, 103e6}, b[] = {99e6, 100e6, 101e6};
	struct verdict v = time_runs(3, a, 3, b, "ABBAAB");
	assert_int_equal(v.measured, VERDICT_STOPWATCH);
	near(v.speedup, 1.02, 1e-12);
	/* the larger variance, that of 99, 100 and 101, serves for both */
	near(v.half_width, 2.7764451051977987 * sqrt(1e-4 * 2 / 3), 1e-12);
	near(v.hi, v.speedup * exp(v.half_width), 1e-12);
	assert_int_equal(v.result, VERDICT_INCONCLUSIVE);
	assert_true(v.more_runs > 3);
	assert_false(v.recorded.known || v.typical.known);
	/* swapped: mirrored */
	struct verdict m = time_runs(3, b, 3, a, "BAABBA");
	near(m.speedup * v.speedup, 1, 1e-12);
	near(m.lo * v.hi, 1, 1e-12);
	/* one after the other: F, in quadrature */
	struct verdict blocks = time_runs(3, a, 3, b, "AAABBB");
	assert_true(blocks.exchange.known && !blocks.exchange.in_turns);
	near(blocks.half_width, hypot(v.half_width, 0.075), 1e-12);
	assert_true(told(&blocks, "not measured in turns"));
}

/* The half-width of stopwatch_runs and the floor: e^(0.02267 + ln 1.005) = 1.028. Student's t over √n is 2.776/√3
 * = 1.603 now, and 2.145/√8 = 0.758 of eight runs (2.179/√7 = 0.824 of seven). Of six runs it is 2.228/√6 = 0.910, and
 * half of that takes twenty, 2.024/√20 = 0.453; of seven, 0.824, it takes more than anybody makes. */
static void what_could_be_seen(void **unused)
{
	(void)unused;
	static const double a[] = {101e6, 102e6, 103e6}, b[] = {99e6, 100e6, 101e6};
	static const double x[] = {94e6, 106e6, 94e6, 106e6, 94e6, 106e6, 100e6};
	struct verdict v = time_runs(3, a, 3, b, "ABBAAB");
	assert_string_equal(said(v.could, NULL),
	                    "A change below 3 % would not show. 8 runs of each side would halve that.");
	assert_true(told(&v, said(v.could, NULL)) && !v.unsteady);
	v = time_runs(6, x, 6, x, "ABBAABBAABBA");
	assert_true(told(&v, ". 20 runs of each side would halve that."));
	/* s = 6 %: 2.179 √(2/7) 6 % = 6.99 %, and the floor */
	v = time_runs(7, x, 7, x, "ABBAABBAABBAAB");
	assert_string_equal(
		said(v.could, NULL),
		"A change below 8 % would not show: these runs differ by 6 %. Use a quieter machine or more "
		"runs.");
	assert_true(v.unsteady);
	static const double same[] = {100e6, 100.1e6, 99.9e6};
	assert_null(time_runs(3, same, 3, same, "ABBAAB").could);
	assert_null(time_runs(1, a, 1, b, "AB").could);
}

static void stopwatch_results(void **unused)
{
	(void)unused;
	static const double same[] = {100e6, 100.1e6, 99.9e6}, fast[] = {50e6, 50.1e6, 49.9e6};
	assert_int_equal(time_runs(3, same, 3, same, "ABBAAB").result, VERDICT_UNCHANGED);
	assert_int_equal(time_runs(3, same, 3, fast, "ABBAAB").result, VERDICT_FASTER);
	assert_int_equal(time_runs(3, fast, 3, same, "ABBAAB").result, VERDICT_SLOWER);
	/* one run says nothing of how much runs differ */
	struct verdict v = time_runs(1, same, 3, fast, "BABB");
	assert_int_equal(v.result, VERDICT_INCONCLUSIVE);
	assert_false(v.has_interval);
	near(v.speedup, 2, 1e-12);
	assert_int_equal(v.more_runs, 3);
	v = time_runs(0, same, 1, fast, "B");
	assert_false(v.has_speedup);
	/* two runs a side that agree to 2 %: t_2 or less, and the interval says so */
	static const double two[] = {100e6, 102e6}, half[] = {50e6, 51e6};
	v = time_runs(2, two, 2, half, "ABBA");
	assert_true(v.hi / v.lo > 1.08 && v.result == VERDICT_FASTER);
	/* far from the others: named, and counted */
	static const double odd[] = {100e6, 100.1e6, 99.9e6, 120e6};
	v = time_runs(4, odd, 3, same, "ABABABA");
	assert_true(told(&v, "Run 4 of the baseline took 120 ms per step, the others about 100 ms"));
	near(v.step[0], 105e6, 1e-3);
	static const double apart[] = {100e6, 100.01e6, 99.99e6, 101.9e6}; /* "16.6 ms, the others about 16.5" */
	v = time_runs(4, apart, 3, same, "ABABABA");
	assert_false(told(&v, "the others about"));
}

/* Steps of 10 ms, every 10th of 60: 15 ms in the long run. The 55 that are timed hold five of the slow ones, which is
 * 10 + 50 · 5/55 = 14.545 ms in each run, however many: as much as a step of the fixed side, which is 3 % faster. */
static void stopwatch_cuts_a_cycle(void **unused)
{
	enum { N = 55 };
	const double cut = 10e6 + 50e6 * 5 / N, whole = 15e6, e = 1e-4;
	static int64_t slow[N], even[N];
	struct stopwatch_run run[2][3];
	(void)unused;
	for (int i = 0; i < N; i++) {
		slow[i] = i % 10 == 9 ? 60000000 : 10000000;
		even[i] = (int64_t)cut + (i % 2 ? 1000 : -1000);
	}
	for (int s = 0; s < 2; s++)
		for (int r = 0; r < 3; r++)
			run[s][r] = (struct stopwatch_run){
				.step = cut * (1 + e * (r - 1)), .steps = N, .start = 10 + 2 * r + s};
	const struct verdict_run recorded[2] = {{.period = slow, .n = N, .start = 1},
	                                        {.period = even, .n = N, .start = 2}};
	const struct verdict_side sides[2] = {{&recorded[0], 1, true, 0}, {&recorded[1], 1, true, 0}};
	static const struct verdict_conditions nothing_known;
	const struct verdict v = verdict_judge(sides, -1, &nothing_known, &arena);
	struct stopwatch_side timed[2] = {{.runs = run[0], .n_runs = 3}, {.runs = run[1], .n_runs = 3}};
	struct verdict w = verdict_stopwatch(timed, &v, &arena);
	near(w.speedup, 1, 1e-9);
	/* one way only: the slow steps that are missing are the baseline's */
	near(w.hi, whole / cut / w.lo, 1e-5);
	assert_true(w.lo > 0.999);
	assert_int_equal(w.result, VERDICT_INCONCLUSIVE);
	assert_int_equal(w.more_runs, 0);
	assert_true(told(&w, "The timed steps cut a cycle"));
	assert_true(told(&w, "up to 3.1 % away"));
	assert_false(told(&w, "two speeds")); /* which would give a direction */
	assert_int_equal(verdict_stopwatch(timed, NULL, &arena).result, VERDICT_UNCHANGED);
	/* other steps than were recorded: there may be too many of them as well */
	for (int r = 0; r < 3; r++)
		run[0][r].steps = N + 3;
	w = verdict_stopwatch(timed, &v, &arena);
	near(w.hi * w.lo, 1, 1e-9);
	assert_true(w.lo < cut / whole);
	/* nor does it help that the fixed side's steps were six slow ones, so one too many */
	for (int i = 0; i < N; i++)
		even[i] = i % 10 ? 10000000 : 60000000;
	const struct verdict both = verdict_judge(sides, -1, &nothing_known, &arena);
	w = verdict_stopwatch(timed, &both, &arena);
	assert_true(w.hi / w.lo > exp(2 * (log(whole / cut) + log((10e6 + 50e6 * 6 / N) / whole))));
}

/* Times per item: steps of 300 and 200 items in 120 and 100 ms are 0.4 and 0.5 ms an item, with the intervals of the
 * same times by the step. */
static void items(void **unused)
{
	(void)unused;
	static const double a[] = {119e6, 120e6, 121e6}, b[] = {99e6, 100e6, 101e6};
	struct stopwatch_run run[2][3];
	struct stopwatch_side side[2] = {{.runs = run[0], .n_runs = 3}, {.runs = run[1], .n_runs = 3}};
	struct pair *p = three_runs(60, 1.2);
	for (int r = 0; r < 3; r++) {
		run[0][r] = (struct stopwatch_run){.step = a[r], .steps = 50, .start = 2 * r + 1};
		run[1][r] = (struct stopwatch_run){.step = b[r], .steps = 50, .start = 2 * r + 2};
	}
	const struct verdict by_step = verdict_stopwatch(side, NULL, &arena), periods = *judge(p);
	for (int s = 0; s < 2; s++)
		side[s].items = p->side[s].items = s ? 200 : 300;
	const struct verdict by_item = verdict_stopwatch(side, NULL, &arena);
	near(by_item.speedup, 0.8, 1e-12);
	near(by_item.hi / by_item.lo, by_step.hi / by_step.lo, 1e-12);
	near(by_item.step[0], 120e6, 1);
	assert_int_equal(by_step.result, VERDICT_FASTER);
	assert_true(told(&by_step, "two speeds"));
	assert_int_equal(by_item.result, VERDICT_SLOWER);
	judge(p);
	near(p->v.speedup, 1.2 * 2 / 3, 1e-9);
	near(p->v.typical.speedup, 1.2 * 2 / 3, 1e-9);
	near(p->v.counted, 1.2 * 2 / 3, 1e-9);
	near(p->v.hi / p->v.lo, periods.hi / periods.lo, 1e-9);
	assert_int_equal(p->v.result, VERDICT_SLOWER);
	/* runs of other lengths: the steps that all have are compared by the item, too */
	p = three_runs(60, 1.2);
	p->run[0][0].n = 40;
	for (int s = 0; s < 2; s++)
		p->side[s].items = s ? 200 : 300;
	judge(p);
	near(p->v.hi / p->v.lo, 1, 1e-6);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(in_turns),
	                                   TEST(sessions),
	                                   TEST(the_longest_run_counts),
	                                   TEST(shared_sessions),
	                                   TEST(measured_sessions),
	                                   TEST(sessions_of_the_fixed_side),
	                                   TEST(a_verdict_of_other_days),
	                                   TEST(turns_once),
	                                   TEST(stopwatch_runs),
	                                   TEST(what_could_be_seen),
	                                   TEST(stopwatch_results),
	                                   TEST(stopwatch_cuts_a_cycle),
	                                   TEST(items)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
