/* The JSON result (docs/gapline.schema.json). Keys that hold a time end in `ms`, or stand inside `per_step`, whose
 * numbers are ms. */
#include "analyse/card.h"
#include "base/json_writer.h"
#include "render/render.h"
#include "render/view.h"

#include <math.h>

static void texts(struct json *json, const char *key, const char **text, size_t n)
{
	json_array(json, key);
	for (size_t i = 0; i < n; i++)
		json_text(json, NULL, text[i]);
	json_end_array(json);
}

static void count_or_null(struct json *json, const char *key, int64_t count)
{
	if (count > 0)
		json_integer(json, key, count);
	else
		json_null(json, key);
}

/* null where there is none. */
static void write_interval(struct json *json, const char *key, bool known, double lo, double hi)
{
	if (!known) {
		json_null(json, key);
		return;
	}
	json_array(json, key);
	json_number(json, NULL, lo);
	json_number(json, NULL, hi);
	json_end_array(json);
}

/* In the unit of what was asked: a speedup, a regression in percent, the same work, or an expression's. */
static void write_gate(struct json *json, const struct gate *gate)
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
	write_interval(json, "interval", gate->has_interval, gate->lo / of, gate->hi / of);
	json_text(json, "result", gate_result_name(gate->result));
	json_text(json, "text", gate->text);
	json_end_object(json);
}

static void write_gates(struct json *json, const struct gates *gates)
{
	json_text(json, "gate", gate_result_name(gates->result));
	json_array(json, "gates");
	for (size_t i = 0; i < gates->n; i++)
		write_gate(json, &gates->gate[i]);
	json_end_array(json);
}

/* What was counted; null where nothing was. */
static void write_estimate(struct json *json, const char *key, const struct verdict_estimate *e)
{
	if (!e->known) {
		json_null(json, key);
		return;
	}
	json_object(json, key);
	json_number(json, "speedup", e->speedup);
	write_interval(json, "ci95", e->has_interval, e->lo, e->hi);
	json_end_object(json);
}

static void write_unprofiled(struct json *json, const struct unprofiled *u)
{
	static const char *const members[2] = {"baseline", "fixed"};
	if (!u->verdict.has_interval) {
		json_null(json, "unprofiled");
		return;
	}
	json_object(json, "unprofiled");
	json_number(json, "speedup", u->verdict.speedup);
	write_interval(json, "ci95", true, u->verdict.lo, u->verdict.hi);
	for (int s = 0; s < 2; s++) {
		json_object(json, members[s]);
		json_integer(json, "runs", u->n_runs[s]);
		json_ms(json, "step_ms", u->verdict.step[s]);
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_verdict(struct json *json, const struct analysis *a)
{
	const struct verdict *v = &a->verdict;
	json_object(json, "verdict");
	json_text(json, "result", verdict_result_name(v->result));
	json_number(json, "speedup", v->has_speedup ? v->speedup : NAN);
	write_interval(json, "ci95", v->has_interval, v->lo, v->hi);
	json_text(json, "measured", verdict_measure_name(v->measured));
	write_estimate(json, "recorded", &v->recorded);
	write_estimate(json, "typical", &v->typical);
	json_number(json, "counted_speedup", v->has_speedup ? v->counted : NAN);
	json_bool(json, "while_recorded", a->while_recorded);
	json_number(json, "unrecorded_speedup", a->unrecorded > 0 ? a->unrecorded : NAN);
	write_unprofiled(json, &a->unprofiled);
	json_number(json, "half_width", v->has_interval ? v->half_width : NAN);
	json_number(json, "floor", v->has_interval ? exp(v->floor) : NAN);
	json_bool(json, "short_capture", v->short_capture);
	json_bool(json, "one_run", v->one_run);
	json_bool(json, "paired", v->paired);
	json_bool(json, "warming", v->warming);
	json_text(json, "order", !v->order_known ? "unknown" : v->in_turns ? "in_turns" : "one_after_the_other");
	json_integer(json, "steps_set_aside", (int64_t)(v->aside[0] + v->aside[1]));
	count_or_null(json, "more_steps", v->more_steps);
	count_or_null(json, "more_runs", v->more_runs);
	json_text(json, "same_work", same_work_name(a->comparison.same_work));
	write_gates(json, &a->gates);
	json_bool(json, "comparable", a->comparison.comparable);
	texts(json, "differences", a->comparison.differences, a->comparison.n_differences);
	texts(json, "notes", a->comparison.notes, a->comparison.n_notes);
	texts(json, "reasons", v->reasons, v->n_reasons);
	json_end_object(json);
}

static void write_source(struct json *json, const struct trace_source *s)
{
	json_object(json, "source");
	json_text(json, "kind", view_source_kind(s->kind));
	json_text(json, "collector", s->collector);
	json_text(json, "exporter", s->exporter);
	json_text(json, "schema", s->schema);
	json_text(json, "driver", s->driver);
	json_text(json, "cuda_driver", s->cuda_driver);
	json_text(json, "graphs", view_graph_mode(s->graphs));
	json_object(json, "recorded");
	json_bool(json, "cuda_api", s->has_calls);
	json_bool(json, "nvtx", s->has_ranges);
	json_bool(json, "os_calls", s->has_os_calls);
	json_bool(json, "profiler_overhead", s->has_overheads);
	json_end_object(json);
	if (*s->captured_by) {
		json_object(json, "capture");
		json_text(json, "gapline", s->captured_by);
		json_text(json, "cupti", s->cupti);
		json_text(json, "trace", s->traced);
		json_text(json, "gpu_state", s->sampled_by);
		json_bool(json, "complete", !*s->incomplete);
		json_text(json, "incomplete", s->incomplete);
		json_integer(json, "lost_records", s->lost);
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_steps(struct json *json, const struct analysis *a, const struct side *s)
{
	json_object(json, "steps");
	json_text(json, "name", s->steps.found ? names_text(a->names, s->steps.name) : NULL);
	json_bool(json, "found", s->steps.found);
	json_text(json, "origin", step_origin_name(s->steps.origin));
	json_number(json, "coverage", s->steps.coverage);
	json_integer(json, "warmup", s->n_runs ? (int64_t)s->runs[s->median_run].warmup : 0);
	json_integer(json, "measured", (int64_t)s->steps.measured);
	json_object(json, "period_ms");
	json_ms(json, "mean", s->headline.step);
	json_ms(json, "counted", s->steps.mean);
	json_ms(json, "typical", s->headline.typical);
	json_ms(json, "median", s->steps.median);
	json_ms(json, "min", s->steps.min);
	json_ms(json, "max", s->steps.max);
	json_end_object(json);
	json_integer(json, "runs", s->n_runs);
	if (s->headline.n_stopwatch)
		json_ms(json, "stopwatch_ms", s->headline.stopwatch);
	else
		json_null(json, "stopwatch_ms");
	json_integer(json, "stopwatch_runs", s->headline.n_stopwatch);
	json_ms(json, "recorded_ms", s->headline.recorded);
	json_end_object(json);
}

/* Where a run has several files, or several runs were told apart. */
static void write_files(struct json *json, const struct side *s)
{
	json_array(json, "files");
	for (uint32_t i = 0; i < s->files.n; i++) {
		const struct side_file *f = &s->files.file[i];
		json_object(json, NULL);
		json_text(json, "file", f->file);
		json_integer(json, "run", f->run);
		if (f->rank >= 0)
			json_integer(json, "rank", f->rank);
		else
			json_null(json, "rank");
		json_end_object(json);
	}
	json_end_array(json);
	json_text(json, "files_are", s->files.why ? s->files.why : "");
}

static void write_loops(struct json *json, const struct analysis *a, const struct side *s)
{
	json_array(json, "loops");
	for (uint32_t i = 0; i < s->n_loops; i++) {
		const struct loop_result *loop = &s->loops[i];
		json_object(json, NULL);
		json_text(json, "name", names_text(a->names, loop->name));
		json_integer(json, "steps", loop->steps);
		json_ms(json, "period_ms", loop->period);
		json_number(json, "share", loop->share);
		json_integer(json, "ops", loop->ops);
		json_integer(json, "differ", loop->differ);
		json_number(json, "explained", loop->explained);
		json_bool(json, "judged", loop->judged);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_startup(struct json *json, const struct side *s)
{
	json_object(json, "startup");
	json_ms(json, "ms", s->startup.ns);
	json_array(json, "causes");
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		if (s->startup.cause[cause] <= 0)
			continue;
		json_object(json, NULL);
		json_text(json, "cause", cause_name((enum cause)cause));
		json_ms(json, "ms", s->startup.cause[cause]);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void write_runs(struct json *json, const struct side *s)
{
	json_array(json, "runs");
	for (uint32_t i = 0; i < s->n_runs; i++) {
		const struct run_result *run = &s->runs[i];
		json_object(json, NULL);
		json_text(json, "file", run->file);
		json_integer(json, "steps", (int64_t)run->n_steps);
		json_integer(json, "warmup", (int64_t)run->warmup);
		json_ms(json, "window_ms", (double)run->window_ns);
		json_array(json, "period_ms");
		for (size_t k = 0; k < run->n_periods; k++)
			json_ms(json, NULL, (double)run->period[k]);
		json_end_array(json);
		if (run->series) {
			json_object(json, "series");
			json_integer(json, "measured", (int64_t)run->series->m);
			json_ms(json, "mean_ms", run->series->mean);
			json_ms(json, "counted_ms", run->series->counted);
			json_ms(json, "typical_ms", exp(run->series->typical));
			json_integer(json, "set_aside", (int64_t)run->series->aside);
			json_integer(json, "pattern", (int64_t)run->series->pattern);
			json_integer(json, "slow_steps", (int64_t)run->series->slow.n);
			json_number(json, "variance", run->series->variance);
			json_number(json, "tau", run->series->tau);
			json_integer(json, "dof", run->series->dof);
			json_number(json, "drift", run->series->drift);
			json_number(json, "level", expm1(run->series->level));
			json_end_object(json);
		} else {
			json_null(json, "series");
		}
		json_end_object(json);
	}
	json_end_array(json);
}

/* What the page's timeline and its strip of the whole run are made of. */
static void write_shown(struct json *json, const struct side *s)
{
	const struct timeline *t = &s->timeline;
	json_object(json, "shown");
	json_integer(json, "run", s->median_run);
	json_integer(json, "first_step", t->first_step);
	json_integer(json, "steps", s->steps.found && t->n_boundaries ? t->n_boundaries - 1 : 0);
	json_ms(json, "length_ms", (double)t->length);
	json_ms(json, "run_ms", (double)s->overview.length);
	json_ms(json, "window_start_ms", (double)s->overview.window_start);
	json_ms(json, "window_end_ms", (double)s->overview.window_end);
	json_end_object(json);
}

static const char *const opened_key[] = {[OPENED_SYNC] = "sync", [OPENED_DRY] = "dry", [OPENED_WAITING] = "waiting"};

/* Both members of a budget: `per_step`, and `idle`, whose rows add up to per_step.idle. */
static void write_budget(struct json *json, const struct analysis *a, const struct budget *b)
{
	json_object(json, "per_step");
	json_ms(json, "compute", b->compute);
	json_ms(json, "comm_exposed", b->comm_exposed);
	json_ms(json, "copy_exposed", b->copy_exposed);
	json_ms(json, "idle", b->idle);
	json_ms(json, "period", b->period);
	json_end_object(json);
	json_array(json, "idle");
	for (uint32_t i = 0; i < b->n_rows; i++) {
		const struct idle_row *row = &b->rows[i];
		json_object(json, NULL);
		json_text(json, "cause", cause_name(row->cause));
		json_text(json, "phase", view_phase(a, row->phase));
		json_text(json, "call", row->call ? names_text(a->names, row->call) : NULL);
		json_ms(json, "ms_per_step", row->per_step);
		json_object(json, "opened_ms_per_step");
		for (int o = 0; o < OPENED_COUNT; o++)
			json_ms(json, opened_key[o], row->opened[o]);
		json_end_object(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_spread(struct json *json, const char *key, const struct spread *s)
{
	if (!s->n) {
		json_null(json, key);
		return;
	}
	json_object(json, key);
	json_integer(json, "samples", s->n);
	json_number(json, "median", s->median);
	json_number(json, "min", s->min);
	json_number(json, "max", s->max);
	json_end_object(json);
}

static void write_clocks(struct json *json, const struct clocks *c)
{
	json_object(json, "clocks");
	json_integer(json, "samples", c->samples);
	json_integer(json, "idle_samples", c->idle);
	write_spread(json, "sm_mhz", &c->sm_mhz);
	write_spread(json, "memory_mhz", &c->memory_mhz);
	write_spread(json, "power_w", &c->power_w);
	write_spread(json, "temperature_c", &c->temperature_c);
	if (c->judged) {
		json_object(json, "limited");
		json_integer(json, "samples", c->judged);
		for (int l = 0; l < LIMIT_COUNT; l++)
			json_number(json, limit_name((enum limit)l), c->limited[l]);
		json_end_object(json);
	} else {
		json_null(json, "limited");
	}
	json_end_object(json);
}

static void write_devices(struct json *json, const struct analysis *a, const struct side *s)
{
	json_array(json, "devices");
	for (uint32_t i = 0; i < s->n_devices; i++) {
		const struct device_result *d = &s->devices[i];
		json_object(json, NULL);
		json_integer(json, "id", d->id);
		json_integer(json, "process", d->process);
		json_integer(json, "ordinal", d->ordinal);
		if (d->rank < 0)
			json_null(json, "rank");
		else
			json_integer(json, "rank", d->rank);
		json_text(json, "name", names_text(a->names, d->name));
		json_ms(json, "window_ms", (double)d->window_ns);
		json_ms(json, "latency_limit_ms", d->limit_ns);
		write_budget(json, a, &d->budget);
		if (d->clocks.samples || d->clocks.idle)
			write_clocks(json, &d->clocks);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Where all of it is of input, there is no one cause and phase. */
static void write_straggler(struct json *json, const struct analysis *a, const struct straggler *g)
{
	if (g->kind == STRAGGLER_NONE) {
		json_null(json, "straggler");
		return;
	}
	bool idle = g->part == PART_IDLE;
	json_object(json, "straggler");
	json_text(json, "kind", straggler_kind_name(g->kind));
	json_integer(json, "device", g->device);
	json_number(json, "share", g->share);
	if (g->has_reason) {
		json_object(json, "longer");
		json_text(json, "part", g->input ? "late_input" : part_kind_name(g->part));
		json_text(json, "cause", idle && !g->input ? cause_name(g->cause) : NULL);
		json_text(json, "phase", g->part != PART_COPY && !g->input ? view_phase(a, g->phase) : NULL);
		json_ms(json, "ms_per_step", g->more);
		json_ms(json, "others_ms_per_step", g->others);
		json_end_object(json);
	} else {
		json_null(json, "longer");
	}
	json_end_object(json);
}

/* Of the hosts, the first one's clock is the one that times are on. */
static void write_host_clocks(struct json *json, const struct ranks_result *r)
{
	json_array(json, "clocks");
	for (uint32_t i = 0; i < r->n_clocks; i++) {
		const struct trace_clock *c = &r->clocks[i];
		json_object(json, NULL);
		json_integer(json, "files", c->files);
		json_bool(json, "known", c->known);
		json_ms(json, "offset_ms", c->offset);
		json_number(json, "drift_ppm", c->drift * 1e6);
		json_ms(json, "within_ms", c->within);
		json_integer(json, "collectives", (int64_t)c->collectives);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_ranks(struct json *json, const struct analysis *a, const struct side *s)
{
	const struct ranks_result *r = &s->ranks;
	if (!r->n) {
		json_null(json, "ranks");
		return;
	}
	json_object(json, "ranks");
	json_bool(json, "matched", r->known);
	json_bool(json, "one_clock", r->one_clock);
	write_host_clocks(json, r);
	json_number(json, "collectives_per_step", r->collectives);
	json_ms(json, "waiting_ms_per_step", r->waiting);
	json_ms(json, "moving_ms_per_step", r->moving);
	json_ms(json, "unmatched_ms_per_step", r->unmatched);
	write_straggler(json, a, &r->straggler);
	json_array(json, "list");
	for (uint32_t i = 0; i < r->n; i++) {
		const struct rank_result *rank = &r->list[i];
		json_object(json, NULL);
		json_integer(json, "device", rank->device);
		json_ms(json, "own_ms_per_step", rank->own);
		json_ms(json, "waiting_ms_per_step", rank->waiting);
		json_ms(json, "moving_ms_per_step", rank->moving);
		json_ms(json, "unmatched_ms_per_step", rank->unmatched);
		json_ms(json, "overlapped_ms_per_step", rank->hidden);
		json_ms(json, "waited_for_ms_per_step", rank->waited_for);
		json_number(json, "last_share", rank->last);
		json_end_object(json);
	}
	json_end_array(json);
	if (r->map.rows) {
		json_object(json, "map");
		json_integer(json, "ranks_a_row", r->map.ranks_a_row);
		json_integer(json, "steps_a_column", r->map.steps_a_column);
		json_integer(json, "first_step", r->map.first_step);
		json_ms(json, "low_ms", r->map.low);
		json_ms(json, "high_ms", r->map.high);
		json_end_object(json);
	} else {
		json_null(json, "map");
	}
	json_end_object(json);
}

static void write_phases(struct json *json, const struct analysis *a, const struct side *s)
{
	json_array(json, "phases");
	for (uint32_t i = 0; i < s->n_phases; i++) {
		const struct phase_result *p = &s->phases[i];
		json_object(json, NULL);
		json_text(json, "name", view_phase(a, p->name));
		json_integer(json, "rank", p->rank);
		json_ms(json, "cost_ms_per_step", p->cost);
		json_number(json, "cost_share", p->cost_share);
		json_ms(json, "gpu_ms_per_step", p->gpu);
		json_ms(json, "idle_ms_per_step", p->idle);
		json_ms(json, "host_ms_per_step", p->host);
		json_number(json, "instances_per_step", p->instances);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_work(struct json *json, const struct analysis *a, const struct side *s)
{
	json_array(json, "kernels");
	for (uint32_t i = 0; i < s->n_kernels; i++) {
		const struct kernel_result *k = &s->kernels[i];
		json_object(json, NULL);
		json_text(json, "name", names_text(a->names, k->name));
		json_text(json, "kind", k->graph ? "graph" : k->comm ? "comm" : "compute");
		json_number(json, "instances_per_step", k->instances);
		json_ms(json, "ms_per_step", k->per_step);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "api");
	for (uint32_t i = 0; i < s->n_api; i++) {
		const struct api_result *c = &s->api[i];
		json_object(json, NULL);
		json_text(json, "name", names_text(a->names, c->name));
		json_text(json, "class", view_call_class(c->class));
		json_number(json, "calls_per_step", c->calls);
		json_ms(json, "ms_per_step", c->per_step);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "nvtx");
	for (uint32_t i = 0; i < s->n_ranges; i++) {
		const struct range_result *r = &s->ranges[i];
		json_object(json, NULL);
		json_text(json, "name", names_text(a->names, r->name));
		json_text(json, "domain", r->domain ? names_text(a->names, r->domain) : NULL);
		json_number(json, "instances_per_step", r->instances);
		json_ms(json, "host_ms", r->host);
		json_ms(json, "gpu_ms", r->gpu);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "copies");
	for (uint32_t i = 0; i < s->n_copies; i++) {
		const struct copy_result *c = &s->copies[i];
		json_object(json, NULL);
		json_text(json, "kind", view_copy_kind(c));
		json_text(json, "name", names_text(a->names, c->name));
		json_bool(json, "pageable", c->pageable);
		json_number(json, "instances_per_step", c->instances);
		json_number(json, "bytes_per_step", c->bytes);
		json_ms(json, "ms_per_step", c->per_step);
		json_end_object(json);
	}
	json_end_array(json);
	json_object(json, "totals");
	json_ms(json, "gpu_busy_ms_per_step", s->busy);
	json_ms(json, "profiler_overhead_ms_per_step", s->counts.overhead);
	json_number(json, "waited_calls_per_step", s->recording.waited_calls);
	json_ms(json, "recording_ms_per_step", s->recording.added);
	json_number(json, "launches_per_step", s->counts.launches);
	json_number(json, "graph_launches_per_step", s->counts.graph_launches);
	json_number(json, "collectives_per_step", s->counts.collectives);
	json_number(json, "nvtx_ranges_per_step", s->counts.ranges);
	json_number(json, "sync_calls_per_step", s->counts.syncs);
	json_number(json, "h2d_bytes_per_step", s->counts.bytes_h2d);
	json_number(json, "d2h_bytes_per_step", s->counts.bytes_d2h);
	json_number(json, "d2d_bytes_per_step", s->counts.bytes_d2d);
	json_end_object(json);
}

static void write_data(struct json *json, const struct analysis *a, const struct side *s)
{
	json_object(json, "data");
	json_number(json, "unlaunched_share", s->quality.unlaunched_share);
	json_array(json, "dropped");
	for (uint32_t i = 0; i < s->quality.n_dropped; i++) {
		json_object(json, NULL);
		json_text(json, "table", s->quality.dropped[i].where);
		json_text(json, "reason", s->quality.dropped[i].reason);
		json_integer(json, "rows", s->quality.dropped[i].rows);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "diagnostics");
	for (uint32_t i = 0; i < s->quality.n_diagnostics; i++) {
		json_object(json, NULL);
		json_text(json, "severity", s->quality.diagnostics[i].severity >= 3 ? "error" : "warning");
		json_text(json, "text", names_text(a->names, s->quality.diagnostics[i].text));
		json_end_object(json);
	}
	json_end_array(json);
	texts(json, "notes", s->quality.notes, s->quality.n_notes);
	json_end_object(json);
}

static void rate_or_null(struct json *json, const char *key, double per_second)
{
	json_number(json, key, per_second > 0 ? per_second : NAN);
}

/* The numbers of the first screen that nothing else says. */
static void write_rates(struct json *json, const struct analysis *a, int side)
{
	struct card card = card_make(a);
	json_object(json, "rates");
	rate_or_null(json, "steps_per_second", card.steps_per_second[side]);
	rate_or_null(json, "items_per_step", a->items);
	json_text(json, "items", a->items_name);
	rate_or_null(json, "items_per_second", card.items_per_second[side]);
	json_number(json, "gpu_busy_share", card.busy_share[side]);
	json_end_object(json);
}

static void write_next(struct json *json, const struct analysis *a)
{
	struct card card = card_make(a);
	if (!card.next) {
		json_null(json, "next");
		return;
	}
	json_object(json, "next");
	json_text(json, "finding", card.next->id);
	json_text(json, "phase", card.next_phase ? names_text(a->names, card.next_phase) : NULL);
	json_number(json, "speedup", card.next_speedup);
	json_end_object(json);
}

static void write_side(struct json *json, const struct analysis *a, const struct side *s)
{
	json_object(json, s->label);
	json_text(json, "name", s->name);
	write_source(json, &s->source);
	write_steps(json, a, s);
	write_files(json, s);
	write_loops(json, a, s);
	write_startup(json, s);
	write_rates(json, a, s == &a->side[1]);
	write_runs(json, s);
	write_shown(json, s);
	json_object(json, "budget");
	write_budget(json, a, &s->budget);
	json_end_object(json);
	write_devices(json, a, s);
	write_ranks(json, a, s);
	write_phases(json, a, s);
	write_work(json, a, s);
	write_data(json, a, s);
	json_end_object(json);
}

static void write_waterfall(struct json *json, const struct analysis *a)
{
	json_array(json, "waterfall");
	for (uint32_t i = 0; i < a->waterfall.n; i++) {
		const struct waterfall_part *part = &a->waterfall.part[i];
		json_object(json, NULL);
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
		json_end_object(json);
	}
	json_end_array(json);
}

/* Times in ns become ms. */
static void write_evidence(struct json *json, const struct analysis *a, const struct finding *f)
{
	json_array(json, "evidence");
	for (uint32_t i = 0; i < f->n_numbers; i++) {
		const struct finding_number *n = &f->number[i];
		double scale = n->unit == FINDING_TIME ? 1e6 : 1;
		json_object(json, NULL);
		json_text(json, "name", n->name);
		json_text(json, "unit", finding_unit_name(n->unit));
		for (uint32_t s = 0; s < a->n_sides; s++)
			json_number(json, a->side[s].label, n->value[s] / scale);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_findings(struct json *json, const struct analysis *a)
{
	json_array(json, "findings");
	for (uint32_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.list[i];
		json_object(json, NULL);
		json_text(json, "id", f->id);
		json_text(json, "title", f->title);
		json_text(json, "side", f->both ? "both" : a->side[f->side].label);
		json_text(json, "status", finding_status_name(f->status));
		json_text(json, "phase", f->phase[f->side] ? names_text(a->names, f->phase[f->side]) : NULL);
		json_ms(json, "ms_per_step", f->per_step[f->side]);
		json_object(json, "cost_ms_per_step");
		for (uint32_t s = 0; s < a->n_sides; s++)
			json_ms(json, a->side[s].label, f->per_step[s]);
		json_end_object(json);
		if (f->has_ceiling) {
			json_object(json, "ceiling");
			json_ms(json, "step_ms", f->ceiling_step);
			json_number(json, "speedup", f->ceiling_speedup);
			json_end_object(json);
		} else {
			json_null(json, "ceiling");
		}
		write_evidence(json, a, f);
		json_text(json, "text", f->text);
		json_text(json, "advice", f->advice);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_diagnosis(struct json *json, const struct analysis *a)
{
	const struct diagnosis *d = &a->findings.diagnosis;
	bool known = d->combined_ceiling > 0, judged = d->result != DIAGNOSIS_NONE;
	json_object(json, "diagnosis");
	json_ms(json, "combined_ceiling_ms", known ? d->combined_ceiling : NAN);
	json_ms(json, "measured_ms", known ? d->measured : NAN);
	json_text(json, "result", diagnosis_result_name(d->result));
	json_ms(json, "gain_ms", judged ? d->gain : NAN);
	json_ms(json, "explained_ms", judged ? d->explained : NAN);
	json_number(json, "explained_share", judged ? d->share : NAN);
	json_end_object(json);
}

int render_json(const struct analysis *a, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", "gapline/2");
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "title", a->title);
	write_verdict(&json, a);
	for (uint32_t i = 0; i < a->n_sides; i++)
		write_side(&json, a, &a->side[i]);
	write_waterfall(&json, a);
	write_findings(&json, a);
	write_next(&json, a);
	write_diagnosis(&json, a);
	json_end_object(&json);
	return json_finish(&json, err);
}
