#include "analyse/analyse.h"

#include "analyse/compare.h"
#include "analyse/findings.h"
#include "analyse/side.h"

#include <math.h>
#include <string.h>

/* Last part of a path, made harmless like every text. */
static const char *base_name(const char *path, struct names *names)
{
	const char *slash = strrchr(path, '/');
	return names_text(names, names_add_text(names, slash && slash[1] ? slash + 1 : path));
}

/* Two files that hold the same capture, packed or copied, are one measurement: as two they would narrow the interval.
 */
static bool is_same_capture(const struct trace *a, const struct trace *b)
{
	size_t bytes = a->ops.n * sizeof *a->ops.start;
	return a->ops.n == b->ops.n && memcmp(a->ops.start, b->ops.start, bytes) == 0 &&
	       memcmp(a->ops.end, b->ops.end, bytes) == 0;
}

static int prepare_side(const struct analyse_run *inputs, size_t n, const struct analyse_options *options,
                        const char *label, struct names *names, struct arena *arena, struct run *runs,
                        const char **files, struct err *err)
{
	for (size_t r = 0; r < n; r++) {
		struct err cause;
		files[r] = base_name(inputs[r].file, names);
		for (size_t q = 0; q < r; q++)
			if (is_same_capture(inputs[q].trace, inputs[r].trace))
				return err_set(
					err, "%s (%s): holds the same capture as %s; repeats have to be different runs",
					inputs[r].file, label, inputs[q].file);
		if (run_prepare(&runs[r], inputs[r].trace, options->step, options->warmup, arena, &cause) < 0)
			return err_set(err, "%s (%s): %s", inputs[r].file, label, cause.text);
		run_devices(&runs[r]);
		if (!runs[r].n_devices)
			return err_set(err,
			               "%s (%s): no GPU operation takes any time in the measured window, so there is "
			               "nothing to judge; capture again with --trace=cuda,nvtx",
			               inputs[r].file, label);
	}
	return 0;
}

static struct verdict_side series_of(const struct run *runs, size_t n, bool steps, struct arena *arena)
{
	struct verdict_run *list = ARENA_NEW(arena, n, struct verdict_run);
	for (size_t r = 0; r < n; r++) {
		int64_t *span = ARENA_NEW(arena, 1, int64_t);
		*span = runs[r].window_end - runs[r].window_start;
		list[r] =
			steps ? (struct verdict_run){runs[r].period, runs[r].n_periods} : (struct verdict_run){span, 1};
	}
	return (struct verdict_side){list, n, steps};
}

static void set_headline(struct side *side, const struct verdict *verdict, int which)
{
	side->period_trimmed = exp(verdict->location[which]);
	for (uint32_t r = 0; r < side->n_runs; r++)
		side->runs[r].series = &verdict->series[which][r];
}

int analyse_pair(const struct analyse_run *baseline, size_t n_baseline, const struct analyse_run *fixed, size_t n_fixed,
                 const struct analyse_options *options, struct names *names, struct arena *arena, struct analysis *out,
                 struct err *err)
{
	const struct analyse_run *inputs[2] = {baseline, fixed};
	static const char *const labels[2] = {"baseline", "fixed"};
	size_t n[2] = {n_baseline, n_fixed};
	struct run *runs[2];
	const char **files[2];
	struct side_facts facts[2];
	*out = (struct analysis){.names = names, .title = options->title, .n_sides = 2};
	for (int s = 0; s < 2; s++) {
		runs[s] = ARENA_NEW(arena, n[s], struct run);
		files[s] = ARENA_NEW(arena, n[s], const char *);
		if (prepare_side(inputs[s], n[s], options, labels[s], names, arena, runs[s], files[s], err) < 0)
			return -1;
	}
	for (int s = 0; s < 2; s++)
		side_build(runs[s], n[s], files[s], labels[s], arena, &out->side[s], &facts[s]);

	out->require_comparable = options->require_comparable;
	const char *reason = compare_work(facts, arena, out);
	out->options = (struct verdict_options){.min_speedup = options->min_speedup,
	                                        .max_regression = options->max_regression,
	                                        .warmup = options->warmup,
	                                        .descriptive = reason != NULL,
	                                        .descriptive_reason = reason};
	bool steps = out->side[0].steps_found && out->side[1].steps_found;
	struct verdict_side sides[2] = {series_of(runs[0], n[0], steps, arena), series_of(runs[1], n[1], steps, arena)};
	verdict_judge(sides, &out->options, arena, &out->verdict);
	for (int s = 0; s < 2; s++)
		set_headline(&out->side[s], &out->verdict, s);
	waterfall_build(arena, out);
	findings_build(facts, arena, out);
	return 0;
}

int analyse_one(const struct analyse_run *input, const struct analyse_options *options, struct names *names,
                struct arena *arena, struct analysis *out, struct err *err)
{
	struct run run;
	const char *file;
	struct side_facts facts;
	*out = (struct analysis){.names = names, .title = options->title, .n_sides = 1};
	if (prepare_side(input, 1, options, "profile", names, arena, &run, &file, err) < 0)
		return -1;
	side_build(&run, 1, &file, "profile", arena, &out->side[0], &facts);
	struct series *series = ARENA_NEW(arena, 1, struct series);
	*series = run.series;
	if (run.steps.found)
		out->side[0].runs[0].series = series;
	out->side[0].period_trimmed = run.steps.found ? exp(series->location) : out->side[0].period_mean;
	findings_build(&facts, arena, out);
	return 0;
}
