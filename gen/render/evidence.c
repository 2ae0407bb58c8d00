#include "render/evidence.h"

#include "analyse/table.h"
#include "base/format.h"
#include "render/words.h"

#define MOSTLY 0.5     /* names that are less than that of a step are no sequence any more */
#define LONG_PAUSE 1e9 /* ns: shorter ones are what programs do before their first step */

/* What was put together, and what was left out. */
static const char *taken(const struct loop_result *loop, struct arena *arena)
{
	const char *text = "";
	if (loop->most > 1 && loop->fewest == loop->most)
		text = arena_format(arena, "; %u shorter repetitions were taken as one step", loop->most);
	else if (loop->most > 1)
		text = arena_format(arena, "; %u to %u shorter repetitions were taken as one step", loop->fewest,
		                    loop->most);
	if (loop->tried > 0)
		text = arena_format(arena, "%s; %s are trials of kernels, timed one by one, and were left out", text,
		                    format_share(arena, loop->tried));
	return text;
}

/* What comes again and again. */
static const char *repeated(const struct loop_result *loop, struct arena *arena)
{
	const char *ops = format_plural(arena, loop->ops, "GPU operation", "GPU operations");
	const char *same = format_share(arena, loop->same);
	if (loop->ops == 1 && loop->same == 1)
		return "one repeating GPU operation";
	if (loop->same == 1)
		return arena_format(arena, "the repeating sequence of %s", ops);
	if (loop->same < MOSTLY)
		return arena_format(arena,
		                    "work that repeats in several variants, about %s each, %s of them in every variant",
		                    ops, same);
	return arena_format(
		arena,
		"the repeating sequence of about %s, %s of them the same in every step and others in their places", ops,
		same);
}

const char *evidence_of(const struct side *s, struct arena *arena)
{
	const char *covered = arena_format(arena, "%s of the GPU's work", format_share(arena, s->steps.coverage));
	for (uint32_t l = 0; l < s->n_loops; l++) {
		const struct loop_result *loop = &s->loops[l];
		if (!loop->judged)
			continue;
		return arena_format(arena, "steps found from %s, %u times, %s%s", repeated(loop, arena), loop->steps,
		                    covered, taken(loop, arena));
	}
	return covered;
}

const char *evidence_steps(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const struct run_result *run = &s->runs[0];
	const char *name = format_name(arena, names_text(a->names, s->steps.name), 80);
	const char *found =
		s->steps.origin == STEPS_BY_PATTERN
			? arena_format(arena, "%zu times %s", run->n_steps, name)
			: arena_format(arena, "%s named %s",
	                               format_plural(arena, (int64_t)run->n_steps, "range", "ranges"), name);
	const char *left = run->left_out ? arena_format(arena, "%zu", run->left_out) : "none";
	return arena_format(arena, "%s, %s left out as warm-up; %s", found, left, evidence_of(s, arena));
}

const char *evidence_measured(const struct analysis *a, const struct side *s, struct arena *arena)
{
	size_t steps = 0, warmup = 0;
	for (uint32_t r = 0; r < s->n_runs; r++) {
		steps += s->runs[r].n_steps;
		warmup += s->runs[r].left_out;
	}
	const char *runs = s->n_runs > 1 ? arena_format(arena, " in %u runs", s->n_runs) : "";
	return arena_format(arena, "%s: %s%s, %zu left out as warm-up, %s measured%s",
	                    format_name(arena, names_text(a->names, s->steps.name), 80),
	                    format_plural(arena, (int64_t)steps, "step", "steps"), runs, warmup,
	                    format_plural(arena, (int64_t)s->steps.measured, "period", "periods"),
	                    arena_format(arena, "; %s", evidence_of(s, arena)));
}

const char *evidence_loop(const struct analysis *a, const struct loop_result *loop, struct arena *arena)
{
	return arena_format(arena, "%s: %u × %s, %s of the GPU's work%s",
	                    format_name(arena, names_text(a->names, loop->name), 60), loop->steps,
	                    format_time(arena, loop->period), format_share(arena, loop->share),
	                    loop->judged ? ", judged" : "");
}

const char *evidence_loops(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const char *all = "";
	for (uint32_t l = 0; l < s->n_loops; l++)
		all = arena_format(arena, "%s%s%s", all, l ? "; " : "", evidence_loop(a, &s->loops[l], arena));
	return *all ? all : "marked by ranges";
}

enum { LARGEST = 3 }; /* parts that are said in a line */

const char *evidence_startup(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const struct table t = table_make(a, TABLE_STARTUP, arena);
	const char *text = arena_format(arena, "%s before %s", format_time(arena, s->startup.ns),
	                                s->steps.found ? "the first step" : "the last module was loaded");
	for (uint32_t i = 0; i < t.n && i < LARGEST; i++)
		text = arena_format(arena, "%s%s %s %s", text, i ? ";" : ":",
		                    startup_part_label((enum startup_part)t.row[i].key),
		                    format_time(arena, t.row[i].time[s == &a->side[1]]));
	if (s->startup.pause > LONG_PAUSE && s->startup.pause > 0.5 * s->startup.ns)
		text = arena_format(arena, "%s; %s of it in one stretch without a CUDA call", text,
		                    format_time(arena, s->startup.pause));
	return text;
}

const char *evidence_startups(const struct analysis *a, struct arena *arena)
{
	const double before = a->side[0].startup.ns, after = a->side[1].startup.ns;
	if (a->n_sides < 2)
		return before > 0 ? format_time(arena, before) : NULL;
	if (before > 0 && after > 0)
		return words_pair(arena, before, after);
	if (before <= 0 && after <= 0)
		return NULL;
	return before > 0 ? arena_format(arena, "%s in the baseline, not known of the fixed side",
	                                 format_time(arena, before))
	                  : arena_format(arena, "%s in the fixed side, not known of the baseline",
	                                 format_time(arena, after));
}

const char *evidence_startup_parts(const struct analysis *a, struct arena *arena)
{
	const bool both = a->side[0].startup.ns > 0 && a->side[1].startup.ns > 0;
	const int known = a->side[0].startup.ns > 0 ? 0 : 1;
	const struct table t = table_make(a, TABLE_STARTUP, arena);
	const char *text = "";
	for (uint32_t i = 0; i < t.n && i < LARGEST; i++)
		text = arena_format(arena, "%s%s%s %s", text, i ? "; " : "",
		                    startup_part_label((enum startup_part)t.row[i].key),
		                    both ? words_pair(arena, t.row[i].time[0], t.row[i].time[1])
		                         : format_time(arena, t.row[i].time[known]));
	return text;
}
