#include "base/json_writer.h"
#include "render/trend.h"

#include <math.h>

static const char *const PART[TREND_PARTS] = {"compute", "comm_exposed", "copy_exposed", "idle"};

static void write_parts(struct json *json, const char *key, const double *part)
{
	json_object(json, key);
	for (int i = 0; i < TREND_PARTS; i++)
		json_ms(json, PART[i], part[i]);
	json_end_object(json);
}

static void write_commit(struct json *json, const struct trend_commit *c)
{
	json_object(json, NULL);
	json_text(json, "commit", c->name);
	if (c->has_time)
		json_integer(json, "time", c->time);
	else
		json_null(json, "time");
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
	json_array(json, "ci95");
	json_number(json, NULL, expm1(m->lo));
	json_number(json, NULL, expm1(m->hi));
	json_end_array(json);
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

static void write_series(struct json *json, const struct trend *t, const struct trend_series *s)
{
	json_object(json, NULL);
	json_text(json, "like", s->like);
	json_array(json, "commits");
	for (size_t i = 0; i < s->n; i++)
		json_text(json, NULL, trend_commit_at(t, s, i)->name);
	json_end_array(json);
	json_ms(json, "level_ms", s->level);
	json_text(json, "level_since", trend_commit_at(t, s, s->since)->name);
	json_number(json, "noise", s->noise);
	json_array(json, "changes");
	for (size_t i = 0; i < s->n_changes; i++)
		write_change(json, t, s, &s->changes[i]);
	json_end_array(json);
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
	json_array(&json, "commits");
	for (size_t i = 0; i < t->n_commits; i++)
		write_commit(&json, &t->commits[i]);
	json_end_array(&json);
	json_array(&json, "series");
	for (size_t i = 0; i < t->n_series; i++)
		write_series(&json, t, &t->series[i]);
	json_end_array(&json);
	json_end_object(&json);
	return json_finish(&json, err);
}
