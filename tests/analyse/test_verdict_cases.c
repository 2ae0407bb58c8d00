/* Twenty series with the results that an implementation of docs/method/verdict.md by somebody else gives
 * (verdict_cases.txt says how they were made): the result, the speedup and the ends of both intervals to the four
 * digits that are printed there, the floor and the flags. Besides, for each of them: swapped sides are mirrored, and
 * times a thousand as long give the same. */
#include "verdict_pair.h"

#include <stdlib.h>

struct wanted {
	char name[160], result[16];
	double speedup, lo, hi, typical, typical_lo, typical_hi, counted, floor;
	char flags[80];
	int64_t steps, runs;
};

static void read_wanted(const char *line, struct wanted *w)
{
	int n = sscanf(line,
	               "want: %15s S=%lf [%lf, %lf] typical=%lf [%lf, %lf] counted=%lf floor=%lf flags=%79[a-z,-]",
	               w->result, &w->speedup, &w->lo, &w->hi, &w->typical, &w->typical_lo, &w->typical_hi, &w->counted,
	               &w->floor, w->flags);
	if (n < 9)
		fail_msg("%s: %d fields", line, n);
	if (n < 10)
		*w->flags = 0;
	const char *need = strstr(line, "need_");
	w->steps = w->runs = 0;
	if (need)
		*(need[5] == 's' ? &w->steps : &w->runs) = strtol(strchr(need, '=') + 1, NULL, 10);
}

/* "A 0 9.9422 10.0076 …": a run of a side, in the order of capture; the periods are ms. */
static void read_run(const char *line, int64_t order, struct pair *p)
{
	int s = *line == 'B';
	char *at = NULL, *end = NULL;
	strtol(line + 1, &at, 10);
	int64_t *period = add_run(p, s, 0, 0);
	struct verdict_run *run = &p->run[s][p->side[s].n_runs - 1];
	run->start = order;
	for (double ms = strtod(at, &end); end != at; ms = strtod(at, &end)) {
		assert_true(run->n < MAX);
		period[run->n++] = llround(ms * 1e6);
		at = end;
	}
}

static void flag(char *flags, bool set, const char *name)
{
	if (set)
		strcat(strcat(flags, name), ",");
}

static void compare_flags(const struct verdict *v, const struct wanted *w)
{
	char flags[100] = "";
	flag(flags, v->few, "few");
	flag(flags, v->one_run, "one-run");
	flag(flags, v->short_capture, "short");
	flag(flags, v->aside[0] + v->aside[1] > 0, "aside");
	flag(flags, v->warming, "warming");
	flag(flags, v->level_start, "level-start");
	flag(flags, v->drifting, "drift");
	flag(flags, v->level, "level");
	flag(flags, v->paired, "paired");
	flag(flags, v->exchange.known && !v->exchange.in_turns, "order");
	assert_string_equal(flags, w->flags);
}

/* The line is there where it says something else than the speedup, with the reason, and it is one of the reasons. */
static void check_typical_line(const struct verdict *v)
{
	size_t found = 0;
	for (size_t i = 0; i < v->reasons.n; i++)
		found += v->reasons.list[i]->id == FACT_typical_step && v->reasons.list[i] == v->typical_line;
	assert_int_equal(found, v->typical_why != NULL);
	assert_int_equal(v->typical_line != NULL, v->typical_why != NULL);
	if (v->typical_why)
		assert_non_null(strstr(said(v->typical_line, NULL), said(v->typical_why, NULL)));
	else
		assert_true(fabs(log(v->typical.speedup / v->speedup)) <= log(1.02) || !v->typical.has_interval);
}

static void compare(const struct verdict *v, const struct wanted *w)
{
	const double digit = 1.01e-4;
	assert_string_equal(verdict_result_name(v->result), w->result);
	near(v->speedup, w->speedup, digit);
	near(v->lo, w->lo, digit);
	near(v->hi, w->hi, digit);
	near(v->typical.speedup, w->typical, digit);
	near(v->typical.lo, w->typical_lo, digit);
	near(v->typical.hi, w->typical_hi, digit);
	check_typical_line(v);
	near(v->counted, w->counted, digit);
	near(exp(v->floor), w->floor, 1.01e-3);
	compare_flags(v, w);
	if (w->steps || w->runs) {
		assert_int_equal(v->more_steps, w->steps);
		assert_int_equal(v->more_runs, w->runs);
	}
}

static void swapped_is_mirrored(struct pair *p, const struct verdict *v)
{
	static const enum verdict_result MIRROR[] = {VERDICT_INCONCLUSIVE, VERDICT_SLOWER, VERDICT_FASTER,
	                                             VERDICT_UNCHANGED};
	swap_sides(p);
	const struct verdict *m = judge(p);
	assert_int_equal(m->result, MIRROR[v->result]);
	near(m->speedup * v->speedup, 1, 1e-12);
	near(m->lo * v->hi, 1, 1e-12);
	near(m->hi * v->lo, 1, 1e-12);
	near(m->typical.lo * v->typical.hi, 1, 1e-12);
	near(m->counted * v->counted, 1, 1e-12);
	assert_true(m->floor == v->floor && m->more_steps == v->more_steps && m->more_runs == v->more_runs);
	swap_sides(p);
}

static void scaled_is_the_same(struct pair *p, const struct verdict *v)
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < p->side[s].n_runs; r++)
			for (size_t i = 0; i < p->run[s][r].n; i++)
				p->period[s][r][i] *= 1000;
	const struct verdict *m = judge(p);
	assert_int_equal(m->result, v->result);
	near(m->speedup, v->speedup, 1e-12 * v->speedup);
	near(m->lo, v->lo, 1e-9 * v->lo);
	near(m->hi, v->hi, 1e-9 * v->hi);
	near(m->typical.lo, v->typical.lo, 1e-9 * v->typical.lo);
	assert_int_equal(m->more_steps, v->more_steps);
	assert_int_equal(m->more_runs, v->more_runs);
}

static void check_case(struct pair *p, const struct wanted *w)
{
	print_message("%s", w->name);
	struct verdict v = *judge(p);
	compare(&v, w);
	swapped_is_mirrored(p, &v);
	scaled_is_the_same(p, &v);
}

static void twenty_cases(void **unused)
{
	(void)unused;
	FILE *file = fopen(TESTS_DIR "/analyse/verdict_cases.txt", "r");
	assert_non_null(file);
	char *line = NULL;
	size_t room = 0;
	int cases = 0;
	int64_t order = 0;
	struct pair *p = NULL;
	struct wanted w = {0};
	while (getline(&line, &room, file) > 0) {
		if (strncmp(line, "## ", 3) == 0) {
			if (p)
				check_case(p, &w);
			p = pair_new();
			order = 0;
			cases++;
			snprintf(w.name, sizeof w.name, "%s", line);
		} else if (strncmp(line, "want:", 5) == 0) {
			read_wanted(line, &w);
		} else if (*line == 'A' || *line == 'B') {
			read_run(line, ++order, p);
		}
	}
	check_case(p, &w);
	assert_int_equal(cases, 20);
	free(line);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(twenty_cases, tear_down)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
