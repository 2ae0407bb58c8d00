/* The analysis against the brute-force model (oracle.h), over thousands of random traces: every total equal to the
 * nanosecond, every instant shown on the timeline with the model's cause and phase, every sum exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "draws.h"
#include "oracle.h"
#include "random_trace.h"
#include "say/say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One trace, its analysis and its model. `wrong` collects the first difference. */
struct trial {
	const struct trace *trace;
	struct analysis result;
	struct oracle oracle;
	size_t per;         /* steps in the window, 1 without steps */
	uint32_t device[8]; /* the trace's device for each of the result's */
	bool by_chance;     /* random operations that repeat: the oracle knows steps that are marked */
	char wrong[2048];
};

#define WRONG(trial, ...)                                                                                              \
	do {                                                                                                           \
		if (!(trial)->wrong[0])                                                                                \
			snprintf((trial)->wrong, sizeof(trial)->wrong, __VA_ARGS__);                                   \
	} while (0)

static const char *text(const struct trial *c, uint32_t name)
{
	return name ? names_text(c->trace->names, name) : "-";
}

/* A per-step double of the analysis as the integer total that it must be. */
static int64_t total_of(struct trial *c, double per_step)
{
	double total = per_step * (double)c->per;
	if (fabs(total - round(total)) > 1e-3)
		WRONG(c, "%.6f ns a step over %zu steps is no whole number of ns", per_step, c->per);
	return llround(total);
}

static void row_check(struct trial *c, uint32_t device, const struct idle_row *row)
{
	const struct oracle_device *o = &c->oracle.devices[device];
	if (row->cause >= CAUSE_COUNT || row->phase >= c->oracle.n_names) {
		WRONG(c, "device %u: a row with cause %d, phase %u", device, (int)row->cause, row->phase);
		return;
	}
	int64_t expected = 0;
	for (uint32_t k = 0; k < OPENED_COUNT; k++) {
		int64_t part = *oracle_row(&c->oracle, o, row->cause, row->phase, k);
		if (total_of(c, row->opened[k]) != part)
			WRONG(c, "device %u: %s in %s opened by %s: %lld, expected %lld", device,
			      cause_name(row->cause), text(c, row->phase), say_listed(WORDS_opened, k)->word,
			      (long long)total_of(c, row->opened[k]), (long long)part);
		expected += part;
	}
	if (total_of(c, row->per_step) != expected)
		WRONG(c, "device %u: %s in %s: %lld, expected %lld", device, cause_name(row->cause),
		      text(c, row->phase), (long long)total_of(c, row->per_step), (long long)expected);
	if (row->cause != CAUSE_HOST_BLOCKED) {
		if (row->call)
			WRONG(c, "device %u: %s names the call %s", device, cause_name(row->cause), text(c, row->call));
		return;
	}
	const int64_t *blocked = &o->blocked[(size_t)row->phase * c->oracle.n_names];
	for (uint32_t q = 0; q < c->oracle.n_names; q++)
		if (row->call >= c->oracle.n_names || blocked[q] > blocked[row->call])
			WRONG(c, "device %u: blocked in %s named, longer in %s", device, text(c, row->call),
			      text(c, q));
}

static void device_check(struct trial *c, uint32_t device, const struct device_result *result)
{
	const struct oracle_device *o = &c->oracle.devices[device];
	const struct budget *budget = &result->budget;
	int64_t window = c->oracle.window_end - c->oracle.window_start;
	const double parts[ORACLE_CLASSES] = {budget->compute, budget->comm_exposed, budget->copy_exposed,
	                                      budget->idle};
	static const char *const names[ORACLE_CLASSES] = {"compute", "comm_exposed", "copy_exposed", "idle"};
	int64_t sum = 0, rows = 0;
	if (result->window_ns != window)
		WRONG(c, "device %u: window %lld, expected %lld", device, (long long)result->window_ns,
		      (long long)window);
	for (int k = 0; k < ORACLE_CLASSES; k++) {
		int64_t total = total_of(c, parts[k]);
		if (total != o->total[k])
			WRONG(c, "device %u: %s %lld, expected %lld", device, names[k], (long long)total,
			      (long long)o->total[k]);
		sum += total;
	}
	if (sum != window || total_of(c, budget->period) != window)
		WRONG(c, "device %u: parts add up to %lld, period is %lld, window %lld", device, (long long)sum,
		      (long long)total_of(c, budget->period), (long long)window);
	if (llround(result->limit_ns) != o->limit)
		WRONG(c, "device %u: limit %.1f, expected %lld", device, result->limit_ns, (long long)o->limit);
	for (uint32_t i = 0; i < budget->n_rows; i++) {
		row_check(c, device, &budget->rows[i]);
		rows += total_of(c, budget->rows[i].per_step);
		for (uint32_t k = 0; k < i; k++)
			if (budget->rows[k].cause == budget->rows[i].cause &&
			    budget->rows[k].phase == budget->rows[i].phase)
				WRONG(c, "device %u: two rows for one cause and phase", device);
		if (i && budget->rows[i].per_step > budget->rows[i - 1].per_step)
			WRONG(c, "device %u: rows are not sorted", device);
	}
	if (rows != o->total[ORACLE_IDLE])
		WRONG(c, "device %u: idle rows add up to %lld, idle is %lld", device, (long long)rows,
		      (long long)o->total[ORACLE_IDLE]);
}

static bool has_steps(const struct trace *t, uint32_t process)
{
	for (size_t i = 0; i < t->ranges.n; i++)
		if (t->threads[t->ranges.thread[i]].process == process &&
		    strcmp(names_text(t->names, t->ranges.name[i]), "step") == 0)
			return true;
	return false;
}

/* Whether a process without steps uses a GPU of one that has some: for that to be a part of the result, it works for
 * more than a hundredth of the window. */
static bool is_beside(const struct trace *t, uint32_t device)
{
	const struct trace_device *d = &t->devices[device];
	bool beside = false;
	for (uint32_t k = 0; k < t->n_devices; k++)
		beside = beside || (t->devices[k].gpu == d->gpu && has_steps(t, t->devices[k].process));
	return d->gpu != TRACE_NONE && beside && !has_steps(t, d->process);
}

/* A device that does nothing in the window is no part of the result. */
static bool device_works(const struct trial *c, uint32_t device)
{
	const int64_t *total = c->oracle.devices[device].total, window = c->oracle.window_end - c->oracle.window_start;
	const int64_t works = total[ORACLE_COMPUTE] + total[ORACLE_COMM] + total[ORACLE_COPY];
	return works > (c->oracle.steps && is_beside(c->trace, device) ? window / 100 : 0);
}

static uint32_t devices_working(const struct trial *c)
{
	uint32_t n = 0;
	for (uint32_t d = 0; d < c->trace->n_devices; d++)
		n += device_works(c, d);
	return n;
}

/* Phases are means over devices: their totals times the number of devices are whole again. */
static void phases_check(struct trial *c)
{
	const struct side *side = &c->result.side[0];
	int64_t window = c->oracle.window_end - c->oracle.window_start, sum = 0;
	double n = side->n_devices, share = 0;
	for (uint32_t i = 0; i < side->n_phases; i++) {
		const struct phase_result *phase = &side->phases[i];
		int64_t cost = 0, idle = 0, gpu = 0;
		if (phase->name >= c->oracle.n_names) {
			WRONG(c, "an unknown phase %s", names_text(c->trace->names, phase->name));
			return;
		}
		for (uint32_t d = 0; d < c->trace->n_devices; d++) {
			if (!device_works(c, d))
				continue;
			cost += c->oracle.devices[d].cost[phase->name];
			idle += c->oracle.devices[d].idle[phase->name];
			gpu += c->oracle.devices[d].gpu[phase->name];
		}
		if (total_of(c, phase->cost * n) != cost || total_of(c, phase->idle * n) != idle ||
		    total_of(c, phase->gpu * n) != gpu)
			WRONG(c, "phase %s: cost %lld idle %lld gpu %lld, expected %lld %lld %lld",
			      text(c, phase->name), (long long)total_of(c, phase->cost * n),
			      (long long)total_of(c, phase->idle * n), (long long)total_of(c, phase->gpu * n),
			      (long long)cost, (long long)idle, (long long)gpu);
		if (phase->rank != i + 1 || (i && phase->cost > side->phases[i - 1].cost))
			WRONG(c, "phases are not ranked by cost");
		sum += cost;
		share += phase->cost_share;
	}
	if (sum != window * (int64_t)side->n_devices)
		WRONG(c, "phase costs add up to %lld, the windows to %lld", (long long)sum,
		      (long long)(window * side->n_devices));
	if (window > 0 && fabs(share - 1) > 1e-9)
		WRONG(c, "cost shares add up to %.12f", share);
}

/* Every instant of the gaps shown. */
static void timeline_check(struct trial *c)
{
	const struct side *side = &c->result.side[0];
	const struct timeline *line = &side->timeline;
	const struct oracle *o = &c->oracle;
	if (line->n_boundaries == 0)
		return;
	int64_t origin = o->steps ? o->step_end[line->first_step - 1] : o->window_start;
	for (uint32_t i = 0; o->steps && i < line->n_boundaries; i++)
		if (line->boundary[i] + origin != o->step_end[line->first_step - 1 + i])
			WRONG(c, "timeline: boundary %u at %lld is no step end", i, (long long)line->boundary[i]);
	for (uint32_t d = 0; d < line->n_devices; d++) {
		const struct device_lanes *lanes = &line->devices[d];
		const struct oracle_instant *model = o->devices[c->device[lanes->device]].at;
		int64_t idle = 0, expected = 0;
		for (uint32_t g = 0; g < lanes->n_gaps; g++) {
			const struct gap_span *gap = &lanes->gaps[g];
			int64_t at = gap->start;
			for (uint32_t i = gap->first_piece; i < gap->first_piece + gap->n_pieces; i++) {
				const struct gap_piece *piece = &lanes->pieces[i];
				if (piece->start != at || piece->end <= at)
					WRONG(c, "timeline: pieces do not tile a gap");
				for (at = piece->start; at < piece->end; at++) {
					if (at < 0 || at >= line->length)
						continue;
					const struct oracle_instant *t = &model[at + origin];
					idle++;
					if (t->class != ORACLE_IDLE || t->cause != piece->cause ||
					    t->phase != piece->phase || t->opened != gap->opened)
						WRONG(c,
						      "timeline: device %u at %lld: %s in %s (%s), expected %s in %s "
						      "(%s)",
						      lanes->device, (long long)(at + origin), cause_name(piece->cause),
						      text(c, piece->phase),
						      say_listed(WORDS_opened, gap->opened)->word,
						      t->class == ORACLE_IDLE ? cause_name(t->cause) : "busy",
						      text(c, t->phase), say_listed(WORDS_opened, t->opened)->word);
				}
			}
			if (at != gap->end)
				WRONG(c, "timeline: a gap is not filled by its pieces");
		}
		for (int64_t t = origin; t < origin + line->length; t++)
			expected += model[t].class == ORACLE_IDLE;
		if (idle != expected)
			WRONG(c, "timeline: %lld ns idle shown, expected %lld", (long long)idle, (long long)expected);
	}
}

/* The overview's bins hold the whole run, from the first GPU op to the last. */
static void overview_check(struct trial *c)
{
	const struct overview *view = &c->result.side[0].overview;
	const struct trace_ops *ops = &c->trace->ops;
	int64_t first = INT64_MAX, last = 0, busy = 0;
	for (size_t i = 0; i < ops->n; i++) {
		first = ops->start[i] < first ? ops->start[i] : first;
		last = ops->end[i] > last ? ops->end[i] : last;
	}
	if (view->length != last - first || view->window_start != c->oracle.window_start - first ||
	    view->window_end != c->oracle.window_end - first)
		WRONG(c, "overview: length %lld, window %lld to %lld", (long long)view->length,
		      (long long)view->window_start, (long long)view->window_end);
	double n = c->result.side[0].n_devices;
	for (uint32_t d = 0; d < c->trace->n_devices; d++)
		for (int64_t t = first; device_works(c, d) && t < last; t++)
			busy += c->oracle.devices[d].at[t].class != ORACLE_IDLE;
	double shown = 0, width = (double)view->length / OVERVIEW_BINS;
	for (int i = 0; i < OVERVIEW_BINS && view->length; i++) {
		double bin = (double)view->compute[i] + (double)view->comm[i] + (double)view->copy[i];
		if (fabs(bin + (double)view->idle[i] - 1) > 1e-4)
			WRONG(c, "overview: bin %d adds up to %.6f", i, bin + (double)view->idle[i]);
		shown += bin * width;
	}
	if (view->length >= OVERVIEW_BINS && fabs(shown - (double)busy / n) > 1e-4 * (double)view->length)
		WRONG(c, "overview: %.2f ns busy, expected %.2f", shown, (double)busy / n);
}

static void series_check(struct trial *c)
{
	const struct side *side = &c->result.side[0];
	const struct oracle *o = &c->oracle;
	const struct run_result *run = &side->runs[0];
	c->by_chance = !o->steps && side->steps.found && side->steps.origin == STEPS_BY_PATTERN;
	if (c->by_chance)
		return;
	if (side->steps.found != o->steps) {
		WRONG(c, "steps: %s, expected %s", side->steps.found ? text(c, side->steps.name) : "none",
		      o->steps ? text(c, o->step_name) : "none");
		return;
	}
	if (!o->steps)
		return;
	if (side->steps.name != o->step_name)
		WRONG(c, "step %s, expected %s", text(c, side->steps.name), text(c, o->step_name));
	if (run->n_periods != o->n_steps - 1 || run->n_steps != o->n_steps - o->opened || run->warmup != o->warmup) {
		WRONG(c, "%zu steps, %zu periods, warm-up %zu, expected %zu steps, warm-up %zu", run->n_steps,
		      run->n_periods, run->warmup, o->n_steps, o->warmup);
		return;
	}
	for (size_t i = 0; i < run->n_periods; i++)
		if (run->period[i] != o->step_end[i + 1] - o->step_end[i])
			WRONG(c, "period %zu is %lld, expected %lld", i, (long long)run->period[i],
			      (long long)(o->step_end[i + 1] - o->step_end[i]));
}

/* Analyses a trace both ways. False with `wrong` filled when they differ. */
static bool trial_run(struct trial *c, const char *step, size_t warmup, struct arena *arena)
{
	struct err err = {0};
	struct analyse_run run = {.trace = c->trace, .file = "random.sqlite"};
	struct analyse_options options = {.step = step, .warmup = (int)warmup, .gates.max_regression = -1};
	c->wrong[0] = '\0';
	oracle_run(c->trace, step, warmup, arena, &c->oracle);
	if (c->oracle.steps && c->oracle.n_steps < 2)
		return true; /* too few of the steps reach the GPU for a window */
	if (analyse_one(&run, &options, c->trace->names, arena, &c->result, &err)) {
		if (devices_working(c))
			WRONG(c, "refused: %s", err.text);
		return !c->wrong[0];
	}
	c->per = c->oracle.steps ? c->oracle.n_steps - c->oracle.warmup : 1;
	series_check(c);
	if (c->wrong[0] || c->by_chance) {
		c->per = 0;
		return !c->wrong[0];
	}
	const struct side *side = &c->result.side[0];
	if (side->n_devices != devices_working(c))
		WRONG(c, "%u devices, expected %u", side->n_devices, devices_working(c));
	for (uint32_t i = 0; i < side->n_devices && !c->wrong[0]; i++) {
		uint32_t k = 0;
		while (k < c->trace->n_devices &&
		       (c->trace->devices[k].ordinal != side->devices[i].ordinal ||
		        c->trace->processes[c->trace->devices[k].process].pid != side->devices[i].process))
			k++;
		c->device[i] = k;
		if (k == c->trace->n_devices)
			WRONG(c, "a device that the trace does not have");
		else
			device_check(c, k, &side->devices[i]);
	}
	if (!c->wrong[0])
		phases_check(c);
	if (!c->wrong[0])
		timeline_check(c);
	if (!c->wrong[0])
		overview_check(c);
	return !c->wrong[0];
}

/* Its 24 random operations repeat, in steps that no mark tells: of all these traces the only one. */
static const uint64_t BY_CHANCE = 3000019;

/* Runs `all` trials from `seed` on; every difference is printed with its seed. */
static void trials_run(const struct random_shape *base, uint64_t seed, int all)
{
	int differ = 0, judged = 0, n = draws(all);
	for (int i = 0; i < n; i++) {
		struct arena arena = {0};
		struct names names;
		struct maker m;
		struct random r = {.state = seed + (uint64_t)i};
		struct trial c = {0};
		struct random_shape shape = *base;
		names_init(&names, &arena);
		maker_init(&m, &arena, &names);
		shape.processes = (int)random_between(&r, 1, base->processes);
		shape.length = random_between(&r, base->length / 2, base->length);
		random_trace(&m, &shape, &r);
		c.trace = maker_link(&m);
		bool named = shape.steps && (shape.processes > 1 || random_chance(&r, 50));
		if (!trial_run(&c, named ? "step" : NULL, (size_t)random_between(&r, 1, 4), &arena)) {
			if (differ++ < 10)
				print_message("seed %llu (length %lld, %d processes%s): %s\n",
				              (unsigned long long)(seed + (uint64_t)i), (long long)shape.length,
				              shape.processes, named ? ", --step" : "", c.wrong);
		}
		judged += c.per > 0;
		differ += c.by_chance != (seed + (uint64_t)i == BY_CHANCE);
		arena_release(&arena);
	}
	if (differ)
		print_message("%d of %d traces differ\n", differ, n);
	assert_int_equal(differ, 0);
	assert_true(judged >= n * 8 / 10); /* a generator whose traces are all skipped proves nothing */
}

static void test_causal(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 3000, .causal = true, .steps = true, .processes = 1, .max_calls = 60};
	trials_run(&shape, 1000000, 1500);
}

static void test_anywhere(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 1200, .causal = false, .steps = true, .processes = 1, .max_calls = 40};
	trials_run(&shape, 2000000, 1500);
}

static void test_long(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 60000, .causal = true, .steps = true, .processes = 1, .max_calls = 120};
	trials_run(&shape, 3000000, 500);
}

static void test_long_anywhere(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 60000, .causal = false, .steps = true, .processes = 2, .max_calls = 60};
	trials_run(&shape, 4000000, 200);
}

static void test_processes(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 4000, .causal = true, .steps = true, .processes = 3, .max_calls = 50};
	trials_run(&shape, 5000000, 1000);
}

static void test_no_steps(void **state)
{
	(void)state;
	struct random_shape shape = {.length = 2500, .causal = true, .steps = false, .processes = 2, .max_calls = 40};
	trials_run(&shape, 6000000, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causal),        cmocka_unit_test(test_anywhere),  cmocka_unit_test(test_long),
		cmocka_unit_test(test_long_anywhere), cmocka_unit_test(test_processes), cmocka_unit_test(test_no_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
