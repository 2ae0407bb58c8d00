/* The JSON result (docs/reference/gapline.schema.json). Keys that hold a time end in `ms`, or stand inside `per_step`,
 * whose numbers are ms. */
#include "render/render.h"

#include "analyse/shown.h"
#include "base/json_writer.h"
#include "base/markdown_writer.h"
#include "render/json.h"
#include "render/sections.h"
#include "render/view.h"

#include <math.h>

bool json_of_side(struct json *json, const struct analysis *a, uint32_t s)
{
	if (s)
		json_end_object(json);
	if (s < a->n_sides)
		json_object(json, a->side[s].label);
	return s < a->n_sides;
}

static void count_or_null(struct json *json, const char *key, int64_t count)
{
	json_known(json, key, count > 0, count);
}

/* In the unit of what was asked: a speedup, a regression in percent, the same work, or an expression's. */
static void write_gate(struct json *json, const struct gate *gate, const struct names *names)
{
	double of = gate->unit == GATE_NS ? 1e6 : 1; /* times are ms here */
	json_object(json, NULL);
	json_text(json, "name", gate->name);
	if (gate->kind == GATE_REQUIRE_COMPARABLE) {
		json_null(json, "unit");
		json_text(json, "asked", same_work_name(SAME_WORK_SAME));
		json_text(json, "found", same_work_name(gate->work));
	} else {
		json_text(json, "unit", gate_unit_name(gate->unit));
		json_number(json, "asked", gate->asked / of);
		json_number(json, "found", gate->has_found ? gate->found / of : NAN);
	}
	json_range(json, "interval", gate->has_interval, gate->lo / of, gate->hi / of);
	json_text(json, "result", gate_result_name(gate->result));
	facts_json_text(json, "text", gate->fact, names);
	json_end_object(json);
}

static void write_gates(struct json *json, const struct gates *gates, const struct names *names)
{
	json_text(json, "gate", gate_result_name(gates->result));
	for (size_t i = json_list(json, "gates"); json_more(json, i < gates->n); i++)
		write_gate(json, &gates->gate[i], names);
}

/* What was counted; null where nothing was. */
static void write_estimate(struct json *json, const char *key, const struct verdict_estimate *e)
{
	if (!json_maybe(json, key, e->known))
		return;
	json_number(json, "speedup", e->speedup);
	json_range(json, "ci95", e->has_interval, e->lo, e->hi);
	json_end_object(json);
}

static void write_quantiles(struct json *json, const char *key, const struct quantile_change *change)
{
	json_array(json, key);
	for (int k = 0; k < QUANTILES && change[k].known; k++) {
		json_object(json, NULL);
		json_number(json, "p", change[k].p);
		json_number(json, "ratio", change[k].ratio);
		json_range(json, "ci95", change[k].has_interval, change[k].lo, change[k].hi);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_energy(struct json *json, const struct energy_change *e)
{
	json_object(json, "energy");
	json_number(json, "baseline_j", e->known ? e->joule[0] : NAN);
	json_number(json, "fixed_j", e->known ? e->joule[1] : NAN);
	json_number(json, "ratio", e->known ? e->ratio : NAN);
	json_range(json, "ci95", e->has_interval, e->lo, e->hi);
	json_text(json, "unknown", e->known ? NULL : e->why ? e->why : "not_asked");
	json_end_object(json);
}

/* Without steps: kernels one to one. */
static void write_once(struct json *json, const struct analysis *a)
{
	ARENA_LOCAL(scratch);
	uint32_t n;
	const struct card_once *list = card_once(a, &scratch, &n);
	json_array(json, "kernels_once");
	for (uint32_t i = 0; i < n && i < TABLE_BRIEF; i++) {
		json_object(json, NULL);
		json_text(json, "name", names_text(a->names, list[i].name));
		json_number(json, "baseline_ms", list[i].time[0] / 1e6);
		json_number(json, "fixed_ms", list[i].time[1] / 1e6);
		json_number(json, "speedup", list[i].time[0] / list[i].time[1]);
		json_number(json, "baseline_launches", list[i].count[0]);
		json_number(json, "fixed_launches", list[i].count[1]);
		json_end_object(json);
	}
	json_end_array(json);
}

/* The 95 % interval of the part's change. */
static void write_change_range(struct json *json, const struct waterfall_part *part)
{
	json_range(json, "delta_ms_ci95", part->has_interval, (part->delta - part->half) / 1e6,
	           (part->delta + part->half) / 1e6);
}

static void write_part(struct json *json, const struct analysis *a, const struct waterfall_part *part)
{
	bool idle = part->kind == PART_IDLE;
	json_object(json, "part");
	json_text(json, "kind", part_kind_name(part->kind));
	json_text(json, "cause", idle ? cause_name(part->cause) : NULL);
	json_text(json, "phase", idle ? view_phase(a, part->phase) : NULL);
	json_text(json, "renamed", part->renamed ? names_text(a->names, part->renamed) : NULL);
	json_end_object(json);
	json_ms(json, "baseline_ms", part->baseline);
	json_ms(json, "fixed_ms", part->fixed);
	json_ms(json, "delta_ms", part->delta);
	write_change_range(json, part);
}

static void write_why(struct json *json, const struct analysis *a)
{
	const struct waterfall *w = &a->waterfall;
	ARENA_LOCAL(scratch);
	json_object(json, "why");
	for (uint32_t i = json_list(json, "parts"); json_item(json, i, w->n_reasons); i++) {
		const struct reason *r = &w->reason[i];
		bool idle = r->part.kind == PART_IDLE;
		json_text(json, "kind", part_kind_name(r->part.kind));
		json_text(json, "cause", idle && !r->every_cause ? cause_name(r->part.cause) : NULL);
		json_text(json, "phase", idle && !r->every_phase ? view_phase(a, r->part.phase) : NULL);
		json_text(json, "direction", r->one_way ? view_copy_way(r->way) : NULL);
		struct card_work work = {0};
		if (r->part.kind == PART_COMPUTE)
			work = card_work(a, &scratch);
		json_text(json, "kernel", work.kernel ? names_text(a->names, work.kernel) : NULL);
		json_text(json, work.module ? "module" : "operator",
		          work.owner ? names_text(a->names, work.owner) : NULL);
		json_null(json, work.module ? "operator" : "module");
		const bool overlap = r->at_once[0] > 0;
		json_number(json, "baseline_kernels_at_once", overlap ? r->at_once[0] : NAN);
		json_number(json, "fixed_kernels_at_once", overlap ? r->at_once[1] : NAN);
		json_ms(json, "baseline_ms", r->part.baseline);
		json_ms(json, "fixed_ms", r->part.fixed);
		json_ms(json, "delta_ms", r->part.delta);
		write_change_range(json, &r->part);
	}
	json_number(json, "explained", w->n_reasons ? w->explained : NAN);
	json_ms(json, "rest_ms", w->n_reasons ? w->rest : NAN);
	if (json_maybe(json, "largest_of_rest", w->largest)) {
		write_part(json, a, w->largest);
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_same_result(struct json *json, const struct same_result *r, const struct names *names)
{
	bool differs = r->state == RESULT_DIFFERS;
	if (!json_maybe(json, "same_result", r->state != RESULT_NOT_ASKED))
		return;
	json_text(json, "found", result_state_name(r->state));
	json_text(json, "pattern", r->pattern);
	json_number(json, "tolerance", r->tolerance);
	json_integer(json, "baseline_runs", r->runs[0]);
	json_integer(json, "fixed_runs", r->runs[1]);
	count_or_null(json, "numbers", r->numbers);
	json_number(json, "largest_difference", r->state == RESULT_AGREES ? r->largest : NAN);
	count_or_null(json, "first_different", r->first);
	json_number(json, "baseline_number", differs ? r->value[0] : NAN);
	json_number(json, "fixed_number", differs ? r->value[1] : NAN);
	facts_json_text(json, "text", r->fact, names);
	json_end_object(json);
}

/* What did not change, of one or two runs per side. */
static void write_controls(struct json *json, const struct verdict *v)
{
	if (!json_maybe(json, "controls", v->exchange.state > 0 && v->controls.known))
		return;
	json_number(json, "gpu", exp(v->controls.gpu));
	json_number(json, "host", v->controls.host_seen ? exp(v->controls.host) : NAN);
	json_number(json, "waits", fmin(v->controls.waits[0], v->controls.waits[1]));
	json_end_object(json);
}

/* Whether the sides share a session, and what parts them. */
static void write_sessions(struct json *json, const struct exchange *e)
{
	json_object(json, "sessions");
	json_bool(json, "shared", !e->sessions);
	json_bool(json, "other_day", e->other_day);
	json_bool(json, "other_time", e->other_time);
	json_bool(json, "other_host", e->other_host);
	json_bool(json, "other_gpu", e->other_gpu);
	count_or_null(json, "measured", e->measured.n);
	json_end_object(json);
}

static void write_verdict(struct json *json, const struct analysis *a)
{
	const struct verdict *v = &a->verdict;
	json_object(json, "verdict");
	json_text(json, "result", verdict_result_name(v->result));
	json_number(json, "speedup", v->has_speedup ? v->speedup : NAN);
	json_range(json, "ci95", v->has_interval, v->lo, v->hi);
	json_number(json, "at_least", !v->early ? NAN : v->result == VERDICT_FASTER ? v->lo : v->hi);
	json_text(json, "measured", verdict_measure_name(v->measured));
	json_text(json, "per", a->items_name ? "item" : "step");
	write_estimate(json, "recorded", &v->recorded);
	write_estimate(json, "typical", &v->typical);
	json_number(json, "counted_speedup", v->has_speedup ? v->counted : NAN);
	json_bool(json, "while_recorded", a->while_recorded);
	json_number(json, "half_width", v->has_interval ? v->half_width : NAN);
	json_number(json, "floor", v->has_interval ? exp(fmax(v->floor, v->surer)) : NAN);
	json_bool(json, "short_capture", v->short_capture);
	json_bool(json, "one_run", v->one_run);
	json_bool(json, "paired", v->paired);
	json_bool(json, "warming", v->warming);
	json_text(json, "order",
	          !v->exchange.known     ? "unknown"
	          : v->exchange.in_turns ? "in_turns"
	                                 : "one_after_the_other");
	write_controls(json, v);
	write_sessions(json, &v->exchange);
	json_number(json, "could_have_seen", v->could_have_seen > 0 ? v->could_have_seen : NAN);
	write_quantiles(json, "quantiles", a->quantile[LATENCY_STEP]);
	write_quantiles(json, "first_token", a->quantile[LATENCY_FIRST]);
	write_quantiles(json, "per_token", a->quantile[LATENCY_EACH]);
	write_energy(json, &a->energy);
	json_integer(json, "steps_set_aside", (int64_t)(v->aside[0] + v->aside[1]));
	count_or_null(json, "more_steps", v->more_steps);
	count_or_null(json, "more_runs", v->more_runs);
	json_text(json, "same_work", same_work_name(a->comparison.same_work));
	write_same_result(json, &a->comparison.result, a->names);
	write_gates(json, &a->gates, a->names);
	json_bool(json, "comparable", a->comparison.comparable);
	write_once(json, a);
	facts_json(json, "differences", &a->comparison.differences, a->names);
	facts_json(json, "notes", &a->comparison.notes, a->names);
	facts_json(json, "reasons", &v->reasons, a->names);
	write_why(json, a);
	json_end_object(json);
}

static void write_next(struct json *json, const struct analysis *a)
{
	struct card card = card_make(a);
	if (!json_maybe(json, "next", card.next || card.left))
		return;
	uint32_t phase = card.next ? card.next_phase : card.left->phase;
	json_text(json, "finding", card.next ? card.next->id : NULL);
	json_text(json, "cause", card.next ? NULL : cause_name(card.left->cause));
	json_text(json, "phase", phase ? names_text(a->names, phase) : NULL);
	json_number(json, "speedup", card.next_speedup);
	json_end_object(json);
}

/* A part and its times, in the object at hand. */
/* Times in ns become ms. */
static void write_evidence(struct json *json, const struct analysis *a, const struct finding *f)
{
	for (uint32_t i = json_list(json, "evidence"); json_item(json, i, f->n_numbers); i++) {
		const struct finding_number *n = &f->number[i];
		double scale = n->unit == FINDING_TIME ? 1e6 : 1;
		json_text(json, "name", n->name);
		json_text(json, "unit", finding_unit_name(n->unit));
		for (uint32_t s = 0; s < a->n_sides; s++)
			json_number(json, a->side[s].label, n->value[s] / scale);
	}
}

static void write_findings(struct json *json, const struct analysis *a)
{
	for (uint32_t i = json_list(json, "findings"); json_item(json, i, a->findings.n); i++) {
		const struct finding *f = &a->findings.list[i];
		json_text(json, "id", f->id);
		json_text(json, "severity", fact_severity_name(fact_info[f->fact->id].severity));
		facts_json_params(json, "params", f->fact, a->names);
		facts_json(json, "more", &f->more, a->names);
		json_text(json, "title", f->title);
		json_text(json, "side", f->both ? "both" : a->side[f->side].label);
		json_text(json, "status", finding_status_name(f->status));
		json_text(json, "phase", f->phase[f->side] ? names_text(a->names, f->phase[f->side]) : NULL);
		json_ms(json, "ms_per_step", f->per_step[f->side]);
		json_object(json, "cost_ms_per_step");
		for (uint32_t s = 0; s < a->n_sides; s++)
			json_ms(json, a->side[s].label, f->per_step[s]);
		json_end_object(json);
		if (json_maybe(json, "ceiling", f->has_ceiling)) {
			json_ms(json, "step_ms", f->ceiling_step);
			json_number(json, "speedup", f->ceiling_speedup);
			if (f->ceiling_least > 0)
				json_ms(json, "least_ms", f->ceiling_least);
			json_end_object(json);
		}
		write_evidence(json, a, f);
		json_text(json, "text", f->text);
		json_text(json, "advice", f->advice);
	}
}

static void write_diagnosis(struct json *json, const struct analysis *a)
{
	const struct diagnosis *d = &a->findings.diagnosis;
	bool known = d->combined_ceiling > 0, judged = d->result != DIAGNOSIS_NONE;
	json_object(json, "diagnosis");
	json_ms(json, "combined_ceiling_ms", known ? d->combined_ceiling : NAN);
	if (known && d->combined_least > 0)
		json_ms(json, "combined_least_ms", d->combined_least);
	json_ms(json, "measured_ms", known ? d->measured : NAN);
	json_text(json, "result", diagnosis_result_name(d->result));
	json_ms(json, "gain_ms", judged ? d->gain : NAN);
	json_ms(json, "explained_ms", judged ? d->explained : NAN);
	json_number(json, "explained_share", judged ? d->share : NAN);
	if (d->has_unmet) {
		json_object(json, "missed");
		write_part(json, a, &d->unmet);
		json_end_object(json);
	}
	json_end_object(json);
}

static int write_result(const struct analysis *a, const struct buf *evidence, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", RENDER_SCHEMA);
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "title", a->title);
	if (a->n_sides > 1)
		write_verdict(&json, a);
	for (uint32_t i = 0; i < a->n_sides; i++)
		json_side(&json, a, &a->side[i]);
	if (a->n_sides > 1)
		for (uint32_t i = json_list(&json, "waterfall"); json_item(&json, i, a->waterfall.n); i++)
			write_part(&json, a, &a->waterfall.part[i]);
	write_findings(&json, a);
	if (a->n_sides > 1) {
		write_next(&json, a);
		write_diagnosis(&json, a);
	}
	inside_json(a, &json);
	graphs_json(a, &json);
	functions_json(a, &json);
	if (evidence)
		json_text(&json, "evidence", evidence->n ? evidence->data : NULL);
	json_end_object(&json);
	return json_finish(&json, err);
}

int render_json(const struct analysis *a, struct buf *out, struct err *err)
{
	return write_result(a, NULL, out, err);
}

int render_json_evidence(const struct analysis *a, struct buf *out, struct err *err)
{
	BUF_LOCAL(evidence);
	view_evidence(a, &evidence);
	return write_result(a, &evidence, out, err);
}

/* What stands in the place of a result that could not be made. Its JUnit file is junit.c's. */

void render_error_object(struct json *json, const struct render_error *e)
{
	json_object(json, "error");
	json_text(json, "id", e->id);
	json_text(json, "file", e->file);
	json_text(json, "text", e->text);
	json_text(json, "next", e->next);
	json_end_object(json);
}

int render_error_json(const struct render_error *e, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", RENDER_SCHEMA);
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "result", "error");
	render_error_object(&json, e);
	json_end_object(&json);
	return json_finish(&json, err);
}

void render_error_markdown(const struct render_error *e, bool brief, struct buf *out)
{
	struct markdown md = {.out = out};
	markdown_raw(&md, brief ? "<!-- gapline -->\n" : "");
	markdown_raw(&md, "### Error: there is no result\n\n");
	if (e->file) {
		markdown_code(&md, e->file);
		markdown_raw(&md, ": ");
	}
	markdown_text(&md, e->text);
	markdown_raw(&md, "\n\n");
	if (e->next) {
		markdown_raw(&md, "**Next:** ");
		markdown_text(&md, e->next);
		markdown_raw(&md, "\n\n");
	}
	markdown_raw(&md, "gapline " GAPLINE_VERSION "\n");
}
