#include "base/format.h"
#include "render/trend.h"

#include <math.h>
#include <string.h>

static const char *const PART[TREND_PARTS] = {"compute", "exposed communication", "exposed copies", "idle"};

const struct trend_commit *trend_commit_at(const struct trend *t, const struct trend_series *s, size_t place)
{
	return &t->commits[s->commit[place]];
}

const char *trend_percent(struct arena *arena, double shift)
{
	double percent = 100 * expm1(shift);
	const char *digits = fabs(percent) < 0.95 ? "%s%.2f %%" : "%s%.1f %%";
	return arena_format(arena, digits, percent < 0 ? "−" : "+", fabs(percent));
}

const char *trend_where(const struct trend *t, const struct trend_series *s, const struct trend_change *c,
                        struct arena *arena)
{
	const char *name = trend_commit_at(t, s, c->change.at)->name;
	return c->change.within ? arena_format(arena, "%s, or up to %s before or after", name,
	                                       format_plural(arena, (int64_t)c->change.within, "commit", "commits"))
	                        : name;
}

static const char *from_to(struct arena *arena, double before, double after)
{
	struct unit unit = format_unit(fmax(before, after));
	return arena_format(arena, "%s → %s %s", format_number(arena, unit, before), format_number(arena, unit, after),
	                    unit.name);
}

const char *trend_what(const struct trend_change *c, struct arena *arena)
{
	double sign = c->after > c->before ? 1 : -1, most = 0;
	int part = -1;
	for (int i = 0; i < TREND_PARTS; i++)
		if (sign * (c->part[1][i] - c->part[0][i]) > most) {
			most = sign * (c->part[1][i] - c->part[0][i]);
			part = i;
		}
	const char *text =
		part < 0 ? ""
			 : arena_format(arena, "%s %s", PART[part], from_to(arena, c->part[0][part], c->part[1][part]));
	if (c->phase)
		text = arena_format(arena, "%s%sphase %s %s", text, *text ? "; " : "", format_name(arena, c->phase, 60),
		                    from_to(arena, c->phase_before, c->phase_after));
	if (c->driver_before)
		text = arena_format(arena, "%s%sthe driver changed at this commit, too: %s → %s", text,
		                    *text ? "; " : "", *c->driver_before ? c->driver_before : "not known",
		                    *c->driver_after ? c->driver_after : "not known");
	return text;
}

const char *trend_quiet(const struct trend *t, const struct trend_series *s, struct arena *arena)
{
	const char *few = s->n < TREND_LEARNING
	                          ? arena_format(arena,
	                                         " That takes history: from some %d commits on, a change shows after "
	                                         "four or five.",
	                                         TREND_LEARNING)
	                          : "";
	return arena_format(arena, "No change of %.3g %% or more in %s.%s", 100 * t->least,
	                    format_plural(arena, (int64_t)s->n, "commit", "commits"), few);
}

const char *trend_direction(const struct trend_series *s)
{
	if (!s->n_changes)
		return "unchanged";
	return s->changes[s->n_changes - 1].change.shift > 0 ? "slower" : "faster";
}

void trend_terminal(const struct trend *t, struct buf *out)
{
	struct arena arena = {0};
	for (size_t i = 0; i < t->n_series; i++) {
		const struct trend_series *s = &t->series[i];
		buf_format(out, "%s: %s, now %s a step\n", s->like,
		           format_plural(&arena, (int64_t)s->n, "commit", "commits"), format_time(&arena, s->level));
		if (!s->n_changes)
			buf_format(out, "  %s\n", trend_quiet(t, s, &arena));
		for (size_t k = s->n_changes; k > 0; k--) {
			const struct trend_change *c = &s->changes[k - 1];
			buf_format(out, "  %s since %s: %s [%s, %s], proven with %s\n",
			           c->change.shift > 0 ? "slower" : "faster", trend_where(t, s, c, &arena),
			           trend_percent(&arena, c->change.shift), trend_percent(&arena, c->change.lo),
			           trend_percent(&arena, c->change.hi), trend_commit_at(t, s, c->change.found)->name);
			buf_format(out, "    %s; %s\n", from_to(&arena, c->before, c->after), trend_what(c, &arena));
		}
	}
	for (size_t i = 0; i < t->n_commits; i++)
		if (t->commits[i].unused)
			buf_format(out, "not used: %s: %s\n", t->commits[i].name, t->commits[i].unused);
		else if (t->commits[i].note)
			buf_format(out, "%s: %s\n", t->commits[i].name, t->commits[i].note);
	arena_release(&arena);
}
