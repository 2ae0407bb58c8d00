#include "trend/trend.h"

#include "base/list.h"
#include "trace/names.h"

#include <math.h>
#include <string.h>

static const char *copy(struct arena *arena, const char *text)
{
	return arena_copy(arena, text, strlen(text));
}

/* "2 × NVIDIA H200 at up to 1980 MHz": devices of one kind are counted. */
static const char *gpus_of(const struct side *side, const struct names *names, struct arena *arena)
{
	const char *text = "";
	for (uint32_t d = 0; d < side->n_devices; d++) {
		const struct device_result *device = &side->devices[d];
		uint32_t same = 0, earlier = 0;
		for (uint32_t e = 0; e < side->n_devices; e++) {
			bool like =
				side->devices[e].name == device->name && side->devices[e].clock_hz == device->clock_hz;
			same += like;
			earlier += like && e < d;
		}
		if (earlier)
			continue;
		const char *name = device->name ? names_text(names, device->name) : "a GPU that is not known";
		const char *many = same > 1 ? arena_format(arena, "%u × ", same) : "";
		const char *clock = device->clock_hz
		                            ? arena_format(arena, " at up to %.0f MHz", (double)device->clock_hz / 1e6)
		                            : "";
		text = arena_format(arena, "%s%s%s%s%s", text, *text ? ", " : "", many, name, clock);
	}
	return text;
}

static const char *like_of(const struct side *side, const struct names *names, bool stopwatch, struct arena *arena)
{
	const char *what = !side->steps.found ? "whole runs"
	                                      : arena_format(arena, "%s “%s”",
	                                                     steps_by_ranges(side->steps.origin) ? "steps" : "the loop",
	                                                     names_text(names, side->steps.name));
	const char *how =
		stopwatch ? "without a profiler" : arena_format(arena, "recorded by %s", side->source.collector);
	return arena_format(arena, "%s; %s, %s%s", gpus_of(side, names, arena), what, how,
	                    side->source.graphs == GRAPHS_WHOLE ? ", CUDA graphs as a whole" : "");
}

void trend_measure(const struct analysis *one, struct arena *arena, struct trend_commit *c)
{
	const struct side *side = &one->side[0];
	if (side->doubt) {
		c->unused = copy(arena, side->doubt);
		return;
	}
	c->runs = side->n_runs;
	c->stopwatch = side->headline.n_stopwatch > 0;
	c->step = c->stopwatch ? side->headline.stopwatch : side->headline.recorded;
	c->least = INFINITY;
	for (uint32_t r = 0; r < (c->stopwatch ? side->headline.n_stopwatch : side->n_runs); r++) {
		const struct series *series = side->runs ? side->runs[c->stopwatch ? 0 : r].series : NULL;
		double run = c->stopwatch ? side->headline.timed ? side->headline.timed[r] : c->step
		             : series     ? series->mean
		                          : c->step;
		c->least = fmin(c->least, run);
		c->most = fmax(c->most, run);
	}
	c->part[TREND_COMPUTE] = side->budget.compute;
	c->part[TREND_COMM] = side->budget.comm_exposed;
	c->part[TREND_COPY] = side->budget.copy_exposed;
	c->part[TREND_IDLE] = side->budget.idle;
	c->energy = side->headline.energy;
	c->phases = ARENA_NEW(arena, side->n_phases, struct trend_phase);
	for (uint32_t i = 0; i < side->n_phases; i++)
		if (side->phases[i].name)
			c->phases[c->n_phases++] = (struct trend_phase){
				copy(arena, names_text(one->names, side->phases[i].name)), side->phases[i].cost};
	c->driver = copy(arena, side->source.driver);
	c->like = like_of(side, one->names, c->stopwatch, arena);
}

/* ---- series ---- */

static struct trend_series *series_of(struct trend *t, const char *like, struct arena *arena)
{
	for (size_t i = 0; i < t->n_series; i++)
		if (!strcmp(t->series[i].like, like))
			return &t->series[i];
	struct trend_series new = {.like = like, .commit = ARENA_NEW(arena, t->n_commits, uint32_t)};
	LIST_PUT(arena, t->series, t->n_series, new);
	return &t->series[t->n_series - 1];
}

static const struct trend_commit *commit_at(const struct trend *t, const struct trend_series *s, size_t place)
{
	return &t->commits[s->commit[place]];
}

/* Where the level beside a change begins or ends, of which at most so many commits are looked at; fewer where it
 * drifts, since a part of the step does not do so as the whole does. */
enum { BESIDE = CHANGES_WINDOW, BESIDE_DRIFT = 20 };

struct stretch {
	size_t from, to;
};

static struct stretch stretch_of(const struct trend_series *s, const struct changes *changes, size_t i, bool after)
{
	size_t at = changes->list[i].at, begin = i ? changes->list[i - 1].at : 0;
	size_t end = i + 1 < changes->n ? changes->list[i + 1].at : s->n;
	size_t most = changes->list[i].drift != 0 ? BESIDE_DRIFT : BESIDE;
	if (after)
		return (struct stretch){at, end - at > most ? at + most : end};
	return (struct stretch){at - begin > most ? at - most : begin, at};
}

static double cost_of(const struct trend_commit *c, const char *phase)
{
	for (uint32_t i = 0; i < c->n_phases; i++)
		if (!strcmp(c->phases[i].name, phase))
			return c->phases[i].cost;
	return 0;
}

/* The median step over a stretch, as it was at commit `at` where it drifts. */
static double level_of(const struct trend *t, const struct trend_series *s, struct stretch over, size_t at,
                       double drift)
{
	ARENA_LOCAL(scratch);
	double *value = ARENA_NEW(&scratch, over.to - over.from, double);
	for (size_t i = over.from; i < over.to; i++)
		value[i - over.from] = commit_at(t, s, i)->step * exp(drift * ((double)at - (double)i));
	return changes_level(value, over.to - over.from, &scratch);
}

/* The median over a stretch: of a part, or of a phase's cost (`phase` is not NULL). */
static double median_of(const struct trend *t, const struct trend_series *s, struct stretch over, int part,
                        const char *phase)
{
	ARENA_LOCAL(scratch);
	double *value = ARENA_NEW(&scratch, over.to - over.from, double);
	for (size_t i = over.from; i < over.to; i++) {
		const struct trend_commit *c = commit_at(t, s, i);
		value[i - over.from] = phase ? cost_of(c, phase) : c->part[part];
	}
	return changes_level(value, over.to - over.from, &scratch);
}

/* The phases of the commits on both sides of the change are looked at. */
static void find_phase(const struct trend *t, const struct trend_series *s, struct stretch before, struct stretch after,
                       struct trend_change *c)
{
	double most = 0, sign = c->after > c->before ? 1 : -1;
	const struct trend_commit *beside[] = {commit_at(t, s, after.from), commit_at(t, s, before.to - 1)};
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < beside[k]->n_phases; i++) {
			const char *name = beside[k]->phases[i].name;
			double was = median_of(t, s, before, 0, name), is = median_of(t, s, after, 0, name);
			if (sign * (is - was) <= most)
				continue;
			most = sign * (is - was);
			c->phase = name;
			c->phase_before = was;
			c->phase_after = is;
		}
}

static struct trend_change describe(const struct trend *t, const struct trend_series *s, const struct changes *changes,
                                    size_t i)
{
	struct trend_change c = {.change = changes->list[i]};
	struct stretch beside[2] = {stretch_of(s, changes, i, false), stretch_of(s, changes, i, true)};
	c.before = level_of(t, s, beside[0], c.change.at, c.change.drift);
	c.after = level_of(t, s, beside[1], c.change.at, c.change.drift);
	for (int k = 0; k < 2; k++)
		for (int part = 0; part < TREND_PARTS; part++)
			c.part[k][part] = median_of(t, s, beside[k], part, NULL);
	find_phase(t, s, beside[0], beside[1], &c);
	const char *was = commit_at(t, s, c.change.at - 1)->driver, *is = commit_at(t, s, c.change.at)->driver;
	if (strcmp(was, is)) {
		c.driver_before = was;
		c.driver_after = is;
	}
	return c;
}

static void find_changes(const struct trend *t, struct trend_series *s, double least,
                         const struct changes_limits *limits, struct arena *arena)
{
	double *value = ARENA_NEW(arena, s->n, double);
	for (size_t i = 0; i < s->n; i++)
		value[i] = log(commit_at(t, s, i)->step);
	struct changes changes = changes_find(value, s->n, log1p(least), limits, arena);
	s->changes = ARENA_NEW(arena, changes.n, struct trend_change);
	for (size_t i = 0; i < changes.n; i++)
		s->changes[s->n_changes++] = describe(t, s, &changes, i);
	s->noise = changes_noise(value, s->n, &changes, arena);
	s->since = changes.n ? changes.list[changes.n - 1].at : 0;
	s->drift = expm1(changes.drift);
	s->level = level_of(t, s, (struct stretch){s->since, s->n}, s->n - 1, changes.drift);
}

static void find_energy(const struct trend *t, struct trend_series *s, double least,
                        const struct changes_limits *limits, struct arena *arena)
{
	struct trend_energy *e = &s->energy;
	double *value = ARENA_NEW(arena, s->n, double);
	e->commit = ARENA_NEW(arena, s->n, uint32_t);
	for (size_t i = 0; i < s->n; i++)
		if (commit_at(t, s, i)->energy > 0) {
			value[e->n] = log(commit_at(t, s, i)->energy);
			e->commit[e->n++] = s->commit[i];
		}
	if (!e->n)
		return;
	e->changes = changes_find(value, e->n, log1p(least), limits, arena);
	size_t since = e->changes.n ? e->changes.list[e->changes.n - 1].at : 0;
	e->level = exp(changes_level(value + since, e->n - since, arena));
}

struct trend trend_build(const struct trend_commit *commits, size_t n, double least, struct arena *arena)
{
	struct trend t = {.commits = commits, .n_commits = n, .least = least};
	struct changes_limits *limits = ARENA_NEW(arena, 1, struct changes_limits);
	changes_limits_init(limits);
	for (size_t i = n; i > 0; i--)
		if (!commits[i - 1].unused)
			series_of(&t, commits[i - 1].like, arena);
	for (size_t i = 0; i < n; i++) {
		if (commits[i].unused)
			continue;
		struct trend_series *s = series_of(&t, commits[i].like, arena);
		s->commit[s->n++] = (uint32_t)i;
	}
	for (size_t i = 0; i < t.n_series; i++)
		find_changes(&t, &t.series[i], least, limits, arena);
	for (size_t i = 0; i < t.n_series; i++)
		find_energy(&t, &t.series[i], least, limits, arena);
	return t;
}
