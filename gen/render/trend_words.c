#include "render/trend.h"

#include "base/json_writer.h"
#include "render/words.h"
#include "say/say.h"

#include <math.h>

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
	return SAY(NULL, arena, changed_at, .commit = name, .within = (int64_t)c->change.within);
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
	struct facts said = {0};
	if (part >= 0)
		FACT_ADD(&said, arena, part_changed, FACT_NO_SIDE,
		         .part = say_listed(WORDS_trend_part, (unsigned)part)->key,
		         .times = words_pair(arena, c->part[0][part], c->part[1][part]));
	if (c->phase)
		FACT_ADD(&said, arena, phase_changed, FACT_NO_SIDE, .phase = c->phase,
		         .times = words_pair(arena, c->phase_before, c->phase_after));
	if (c->driver_before)
		FACT_ADD(&said, arena, driver_changed, FACT_NO_SIDE,
		         .before = *c->driver_before ? c->driver_before : say_word(WORDS_heading, "unknown"),
		         .after = *c->driver_after ? c->driver_after : say_word(WORDS_heading, "unknown"));
	return said.n ? SAY(NULL, arena, what_changed, .list = &said) : "";
}

const char *trend_quiet(const struct trend *t, const struct trend_series *s, struct arena *arena)
{
	return SAY(NULL, arena, no_change_yet, .least = t->least, .commits = (int64_t)s->n,
	           .few = s->n < TREND_LEARNING, .learning = TREND_LEARNING);
}

const char *trend_energy(const struct trend *t, const struct trend_series *s, struct arena *arena)
{
	const struct trend_energy *e = &s->energy;
	struct facts changes = {0};
	for (size_t i = 0; i < e->changes.n; i++) {
		const struct change *c = &e->changes.list[i];
		FACT_ADD(&changes, arena, energy_changed, FACT_NO_SIDE, .commit = t->commits[e->commit[c->at]].name,
		         .change = trend_percent(arena, c->shift), .low = trend_percent(arena, c->lo),
		         .high = trend_percent(arena, c->hi));
	}
	if (!e->n)
		return NULL;
	return SAY(NULL, arena, trend_energy, .now = t->commits[e->commit[e->n - 1]].energy, .level = e->level,
	           .commits = (int64_t)e->n, .least = changes.n ? NAN : t->least,
	           .changes = changes.n ? &changes : NULL);
}

const char *trend_last(const struct trend *t, struct arena *arena)
{
	return SAY(NULL, arena, last_two, .before = t->last->before, .after = t->last->after, .said = t->last->said);
}

const char *trend_direction(const struct trend_series *s)
{
	if (!s->n_changes)
		return "unchanged";
	return s->changes[s->n_changes - 1].change.shift > 0 ? "slower" : "faster";
}

void trend_terminal(const struct trend *t, struct buf *out)
{
	ARENA_LOCAL(arena);
	for (size_t i = 0; i < t->n_series; i++) {
		const struct trend_series *s = &t->series[i];
		buf_format(out, "%s\n",
		           SAY(NULL, &arena, series_now, .like = s->like, .commits = (int64_t)s->n,
		               .now = trend_commit_at(t, s, s->n - 1)->step));
		if (!s->n_changes)
			buf_format(out, "  %s\n", trend_quiet(t, s, &arena));
		if (s->energy.n)
			buf_format(out, "  %s\n", trend_energy(t, s, &arena));
		if (i == 0 && t->last)
			buf_format(out, "  %s\n", trend_last(t, &arena));
		for (size_t k = s->n_changes; k > 0; k--) {
			const struct trend_change *c = &s->changes[k - 1];
			buf_format(out, "  %s\n",
			           SAY(NULL, &arena, change_since, .slower = c->change.shift > 0,
			               .where = trend_where(t, s, c, &arena),
			               .change = trend_percent(&arena, c->change.shift),
			               .low = trend_percent(&arena, c->change.lo),
			               .high = trend_percent(&arena, c->change.hi),
			               .proven = trend_commit_at(t, s, c->change.found)->name));
			buf_format(out, "    %s; %s\n", words_pair(&arena, c->before, c->after), trend_what(c, &arena));
		}
	}
	for (size_t i = 0; i < t->n_commits; i++)
		if (t->commits[i].note)
			buf_format(out, "%s: %s\n", t->commits[i].name, t->commits[i].note);
	for (size_t i = 0; i < t->n_commits; i++)
		if (t->commits[i].unused)
			buf_format(out, "%s\n",
			           SAY(NULL, &arena, commit_unused, .commit = t->commits[i].name,
			               .why = t->commits[i].unused));
}

static void write_parts(struct json *json, const char *key, const double *part)
{
	json_object(json, key);
	for (int i = 0; i < TREND_PARTS; i++)
		json_ms(json, part_kind_name((enum part_kind)i), part[i]);
	json_end_object(json);
}

static void write_commit(struct json *json, const struct trend_commit *c)
{
	json_object(json, NULL);
	json_text(json, "commit", c->name);
	json_known(json, "time", c->has_time, c->time);
	json_text(json, "unused", c->unused);
	json_text(json, "note", c->note);
	json_text(json, "like", c->like);
	json_integer(json, "runs", c->runs);
	json_text(json, "measured", c->unused ? NULL : c->stopwatch ? "stopwatch" : "recorded");
	json_ms(json, "step_ms", c->unused ? NAN : c->step);
	if (c->unused)
		json_null(json, "per_step");
	else
		write_parts(json, "per_step", c->part);
	json_number(json, "energy_j", c->energy > 0 ? c->energy : NAN);
	json_end_object(json);
}

static void write_energy(struct json *json, const struct trend *t, const struct trend_energy *e)
{
	if (!json_maybe(json, "energy", e->n))
		return;
	json_integer(json, "commits", (int64_t)e->n);
	json_number(json, "level_j", e->level);
	for (size_t i = json_list(json, "changes"); json_item(json, i, e->changes.n); i++) {
		const struct change *c = &e->changes.list[i];
		json_text(json, "commit", t->commits[e->commit[c->at]].name);
		json_integer(json, "within_commits", (int64_t)c->within);
		json_number(json, "change", expm1(c->shift));
		json_range(json, "ci95", true, expm1(c->lo), expm1(c->hi));
	}
	json_end_object(json);
}

static void write_change(struct json *json, const struct trend *t, const struct trend_series *s,
                         const struct trend_change *c)
{
	const struct change *m = &c->change;
	json_object(json, NULL);
	json_text(json, "commit", trend_commit_at(t, s, m->at)->name);
	json_text(json, "last_before", trend_commit_at(t, s, m->at - 1)->name);
	json_integer(json, "within_commits", (int64_t)m->within);
	json_text(json, "proven_with", trend_commit_at(t, s, m->found)->name);
	json_text(json, "direction", m->shift > 0 ? "slower" : "faster");
	json_number(json, "change", expm1(m->shift));
	json_range(json, "ci95", true, expm1(m->lo), expm1(m->hi));
	json_number(json, "drift", m->drift != 0 ? expm1(m->drift) : NAN);
	json_ms(json, "before_ms", c->before);
	json_ms(json, "after_ms", c->after);
	write_parts(json, "before_per_step", c->part[0]);
	write_parts(json, "after_per_step", c->part[1]);
	json_text(json, "phase", c->phase);
	json_ms(json, "phase_before_ms", c->phase ? c->phase_before : NAN);
	json_ms(json, "phase_after_ms", c->phase ? c->phase_after : NAN);
	json_text(json, "driver_before", c->driver_before);
	json_text(json, "driver_after", c->driver_after);
	json_end_object(json);
}

static void write_last(struct json *json, const struct trend_pair *last)
{
	if (!json_maybe(json, "last_two", last) || !last) /* gcc's analyser does not know that this is one */
		return;
	json_text(json, "before", last->before);
	json_text(json, "after", last->after);
	json_text(json, "result", last->result);
	json_number(json, "speedup", last->speedup);
	json_range(json, "ci95", true, last->lo, last->hi);
	json_text(json, "text", last->said);
	json_end_object(json);
}

static void write_series(struct json *json, const struct trend *t, const struct trend_series *s)
{
	json_object(json, NULL);
	json_text(json, "like", s->like);
	for (size_t i = json_list(json, "commits"); json_more(json, i < s->n); i++)
		json_text(json, NULL, trend_commit_at(t, s, i)->name);
	json_ms(json, "level_ms", s->level);
	json_text(json, "level_since", trend_commit_at(t, s, s->since)->name);
	json_number(json, "noise", s->noise);
	json_number(json, "drift", s->drift != 0 ? s->drift : NAN);
	write_energy(json, t, &s->energy);
	write_last(json, s == t->series ? t->last : NULL);
	for (size_t i = json_list(json, "changes"); json_more(json, i < s->n_changes); i++)
		write_change(json, t, s, &s->changes[i]);
	json_end_object(json);
}

int trend_json(const struct trend *t, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", "gapline-history/1");
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "title", t->title);
	json_number(&json, "least_change", t->least);
	for (size_t i = json_list(&json, "commits"); json_more(&json, i < t->n_commits); i++)
		write_commit(&json, &t->commits[i]);
	for (size_t i = json_list(&json, "series"); json_more(&json, i < t->n_series); i++)
		write_series(&json, t, &t->series[i]);
	json_end_object(&json);
	return json_finish(&json, err);
}
