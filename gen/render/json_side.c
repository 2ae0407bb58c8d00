#include "render/json.h"

#include "analyse/shown.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>

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
		json_integer(json, "lost_events", s->lost_events);
		json_end_object(json);
	}
	json_end_object(json);
}

/* The ends are null where there are too few steps for an interval. */
static void write_quantiles(struct json *json, const struct latency *l)
{
	json_array(json, "quantiles");
	for (int k = 0; k < QUANTILES && l->quantile[k].known; k++) {
		const struct quantile *q = &l->quantile[k];
		json_object(json, NULL);
		json_number(json, "p", q->p);
		json_ms(json, "ms", q->at);
		json_ms(json, "lo_ms", q->has_interval ? q->lo : NAN);
		json_ms(json, "hi_ms", q->has_interval ? q->hi : NAN);
		json_number(json, "independent_steps", q->independent);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_tokens(struct json *json, const char *key, const struct latency *l)
{
	if (!json_maybe(json, key, l->n))
		return;
	json_integer(json, "requests", (int64_t)l->n);
	json_integer(json, "of", (int64_t)l->of);
	write_quantiles(json, l);
	json_ms(json, "longest_ms", l->longest);
	json_end_object(json);
}

static void write_slowest_time(struct json *json, const struct slowest_time *time)
{
	json_ms(json, "usual_ms", time->usual);
	json_ms(json, "slowest_ms", time->slow);
	json_ms(json, "longer_ms", time->more);
	json_ms(json, "longer_half_width_ms", time->half);
}

/* The parts are those that make a tenth of it or more. */
static void write_slowest(struct json *json, const struct slowest *slow, const struct names *names)
{
	static const char *const works[] = {[WORK_OWN] = "own", [WORK_OTHERS] = "others", [WORK_IDLE] = "idle"};
	if (!json_maybe(json, "slowest", slow->n))
		return;
	json_bool(json, "requests", slow->requests);
	json_integer(json, "steps", slow->n);
	json_integer(json, "of", slow->of);
	write_slowest_time(json, &slow->all);
	if (json_maybe(json, "gpu", slow->apart)) {
		for (int w = 0; w < REQUEST_WORKS; w++) {
			json_object(json, works[w]);
			write_slowest_time(json, &slow->work[w]);
			json_end_object(json);
		}
		json_end_object(json);
	}
	for (uint32_t i = json_list(json, "parts"); json_item(json, i, slow->n_parts); i++) {
		const struct slowest_part *part = &slow->part[i];
		bool idle = part->kind == PART_IDLE;
		json_text(json, "kind", part_kind_name(part->kind));
		json_text(json, "cause", idle ? cause_name(part->cause) : NULL);
		json_text(json, "phase", idle && part->phase ? names_text(names, part->phase) : NULL);
		json_text(json, "direction", part->kind == PART_COPY ? view_copy_way(part->way) : NULL);
		write_slowest_time(json, &part->time);
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
	json_integer(json, "warmup", s->n_runs ? (int64_t)s->runs[s->median_run].left_out : 0);
	json_integer(json, "measured", (int64_t)s->steps.measured);
	json_integer(json, "ranks", s->steps.found && s->steps.ranks ? s->steps.ranks : 1);
	if (json_maybe(json, "period_ms", s->steps.found)) {
		json_ms(json, "mean", s->headline.step);
		json_ms(json, "counted", s->steps.mean);
		json_ms(json, "typical", s->headline.typical);
		json_ms(json, "median", s->steps.median);
		json_ms(json, "min", s->steps.min);
		json_ms(json, "max", s->steps.max);
		json_end_object(json);
	}
	if (json_maybe(json, "span_ms", !s->steps.found)) {
		json_ms(json, "mean", s->headline.step);
		json_ms(json, "typical", s->headline.typical);
		json_ms(json, "median", s->steps.median);
		json_ms(json, "min", s->steps.min);
		json_ms(json, "max", s->steps.max);
		json_end_object(json);
	}
	const struct latency *l = s->latency;
	write_quantiles(json, &l[LATENCY_STEP]);
	json_ms(json, "longest_request_ms", l[LATENCY_STEP].longest > 0 ? l[LATENCY_STEP].longest : NAN);
	write_tokens(json, "first_token", &l[LATENCY_FIRST]);
	write_tokens(json, "per_token", &l[LATENCY_EACH]);
	write_slowest(json, &s->slowest, a->names);
	json_integer(json, "runs", s->n_runs);
	json_ms(json, "stopwatch_ms", s->headline.n_stopwatch ? s->headline.stopwatch : NAN);
	json_integer(json, "stopwatch_runs", s->headline.n_stopwatch);
	for (uint32_t r = json_list(json, "stopwatch_run_ms");
	     json_more(json, s->headline.timed && r < s->headline.n_stopwatch); r++)
		json_ms(json, NULL, s->headline.timed[r]);
	json_ms(json, "recorded_ms", s->headline.recorded);
	json_ms(json, "recorded_timed_ms", s->headline.recorded_timed > 0 ? s->headline.recorded_timed : NAN);
	json_end_object(json);
}

/* Where a run has several files, or several runs were told apart. */
static void write_files(struct json *json, const struct side *s, const struct folded *folded)
{
	json_array(json, "files");
	for (uint32_t i = 0; i < s->files.n; i++) {
		const struct side_file *f = &s->files.file[i];
		if (folded->n && !folded->file[i])
			continue;
		json_object(json, NULL);
		json_text(json, "file", f->file);
		json_integer(json, "run", f->run);
		json_known(json, "rank", f->rank >= 0, f->rank);
		json_text(json, "rank_from", f->rank < 0 ? NULL : f->rank_named ? "name" : "profile");
		json_end_object(json);
	}
	json_end_array(json);
	json_text(json, "files_are", s->files.why ? s->files.why : "");
}

static void write_loops(struct json *json, const struct analysis *a, const struct side *s)
{
	for (uint32_t i = json_list(json, "loops"); json_item(json, i, s->n_loops); i++) {
		const struct loop_result *loop = &s->loops[i];
		json_text(json, "name", names_text(a->names, loop->name));
		json_integer(json, "steps", loop->steps);
		json_ms(json, "period_ms", loop->period);
		json_number(json, "share", loop->share);
		json_integer(json, "ops", loop->ops);
		json_integer(json, "differ", loop->differ);
		json_number(json, "explained", loop->explained);
		json_number(json, "same_names", loop->same);
		json_number(json, "trials_share", loop->tried);
		json_object(json, "shorter");
		json_integer(json, "min", loop->fewest);
		json_integer(json, "max", loop->most);
		json_end_object(json);
		json_bool(json, "judged", loop->judged);
	}
}

static void write_startup(struct json *json, const struct side *s)
{
	json_object(json, "startup");
	json_ms(json, "ms", s->startup.ns);
	json_ms(json, "min_ms", s->startup.least);
	json_ms(json, "max_ms", s->startup.most);
	json_bool(json, "whole", s->startup.whole);
	json_ms(json, "longest_pause_ms", s->startup.pause);
	for (uint32_t i = json_list(json, "causes"); json_item(json, i, s->startup.n_rows); i++) {
		json_text(json, "cause", say_listed(WORDS_startup_part, s->startup.row[i].part)->key);
		json_ms(json, "ms", s->startup.row[i].ns);
	}
	json_end_object(json);
}

static void write_runs(struct json *json, const struct side *s)
{
	for (uint32_t i = json_list(json, "runs"); json_item(json, i, s->n_runs); i++) {
		const struct run_result *run = &s->runs[i];
		json_text(json, "file", run->file);
		json_integer(json, "steps", (int64_t)run->n_steps);
		json_integer(json, "warmup", (int64_t)run->left_out);
		json_ms(json, "window_ms", (double)run->window_ns);
		for (size_t k = json_list(json, "period_ms"); json_more(json, k < run->n_periods); k++)
			json_ms(json, NULL, (double)run->period[k]);
		if (json_maybe(json, "series", run->series)) {
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
		}
	}
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

static void write_phases(struct json *json, const struct analysis *a, const struct side *s)
{
	json_text(json, "phases_are", s->phases_by_work ? "work" : "ranges");
	for (uint32_t i = json_list(json, "phases"); json_item(json, i, s->n_phases); i++) {
		const struct phase_result *p = &s->phases[i];
		json_text(json, "name", view_phase(a, p->name));
		json_integer(json, "rank", p->rank);
		json_ms(json, "cost_ms_per_step", p->cost);
		json_number(json, "cost_share", p->cost_share);
		json_ms(json, "gpu_ms_per_step", p->gpu);
		json_ms(json, "idle_ms_per_step", p->idle);
		json_ms(json, "host_ms_per_step", p->host);
		json_number(json, "instances_per_step", p->instances);
		json_number(json, "memory_peak_bytes", p->memory ? (double)p->memory : NAN);
	}
}

/* null where some copies do not say theirs. */
static double known_bytes(double bytes, double unsized)
{
	return unsized > 0 ? NAN : bytes;
}

static void write_owners(struct json *json, const struct analysis *a, const char *key, const struct owner_result *list,
                         uint32_t n, bool nested)
{
	for (uint32_t i = json_list(json, key); json_item(json, i, n); i++) {
		const struct owner_result *o = &list[i];
		json_text(json, "name", o->name ? names_text(a->names, o->name) : NULL);
		json_number(json, "gpu_operations_per_step", nested ? o->all_instances : o->instances);
		if (nested)
			json_ms(json, "gpu_ms_per_step", o->all);
		json_ms(json, "own_gpu_ms_per_step", o->per_step);
		if (!nested) {
			bool known = o->flops_known > 0;
			json_number(json, "flop_per_step", known ? o->flops : NAN);
			json_ms(json, "flop_known_ms_per_step", o->flops_known);
			json_number(json, "tflop_per_second", known ? o->tflops : NAN);
			json_number(json, "bytes_per_step", o->moved_known > 0 ? o->moved : NAN);
			json_ms(json, "bytes_known_ms_per_step", o->moved_known);
			json_number(json, "gb_per_second", o->moved_known > 0 ? o->moved / o->moved_known : NAN);
			json_number(json, "share_of_peak", o->ideal_known > 0 ? o->ideal / o->ideal_known : NAN);
			json_number(json, "share_of_memory_peak",
			            o->copied_known > 0 ? o->copied / o->copied_known : NAN);
		}
	}
}

static void write_work(struct json *json, const struct analysis *a, const struct side *s)
{
	for (uint32_t i = json_list(json, "kernels"); json_item(json, i, s->n_kernels); i++) {
		const struct kernel_result *k = &s->kernels[i];
		json_text(json, "name", names_text(a->names, k->name));
		json_text(json, "kind", k->graph ? "graph" : k->comm ? "comm" : "compute");
		json_number(json, "instances_per_step", k->instances);
		json_ms(json, "ms_per_step", k->per_step);
	}
	write_owners(json, a, "operators", s->operators, s->n_operators, false);
	write_owners(json, a, "modules", s->modules, s->n_modules, true);
	json_number(json, "modules_known_share", s->n_modules ? s->modules_share : NAN);
	write_owners(json, a, "lines", s->lines, s->n_lines, true);
	for (uint32_t i = json_list(json, "api"); json_item(json, i, s->n_api); i++) {
		const struct api_result *c = &s->api[i];
		json_text(json, "name", names_text(a->names, c->name));
		json_text(json, "class", view_call_class(c->class));
		json_number(json, "calls_per_step", c->calls);
		json_ms(json, "ms_per_step", c->per_step);
	}
	for (uint32_t i = json_list(json, "nvtx"); json_item(json, i, s->n_ranges); i++) {
		const struct range_result *r = &s->ranges[i];
		json_text(json, "name", names_text(a->names, r->name));
		json_text(json, "domain", r->domain ? names_text(a->names, r->domain) : NULL);
		json_number(json, "instances_per_step", r->instances);
		json_ms(json, "host_ms", r->host);
		json_ms(json, "gpu_ms", r->gpu);
	}
	for (uint32_t i = json_list(json, "copies"); json_item(json, i, s->n_copies); i++) {
		const struct copy_result *c = &s->copies[i];
		json_text(json, "kind", view_copy_kind(c));
		json_text(json, "name", names_text(a->names, c->name));
		json_bool(json, "pageable", c->pageable);
		json_number(json, "instances_per_step", c->instances);
		json_number(json, "bytes_per_step", known_bytes(c->bytes, c->unsized));
		json_ms(json, "ms_per_step", c->per_step);
	}
	json_object(json, "totals");
	json_ms(json, "gpu_busy_ms_per_step", s->busy);
	json_ms(json, "profiler_overhead_ms_per_step", s->counts.overhead);
	json_number(json, "waited_calls_per_step", s->recording.waited_calls);
	json_ms(json, "recording_ms_per_step", s->recording.added);
	if (s->recording.ranges > 0)
		json_ms(json, "added_ranges_ms_per_step", s->recording.ranges);
	json_number(json, "launches_per_step", s->counts.launches);
	json_number(json, "graph_launches_per_step", s->counts.graph_launches);
	json_number(json, "collectives_per_step", s->counts.collectives);
	json_number(json, "nvtx_ranges_per_step", s->counts.ranges);
	json_number(json, "sync_calls_per_step", s->counts.syncs);
	json_number(json, "h2d_bytes_per_step", known_bytes(s->counts.bytes_h2d, s->counts.unsized_h2d));
	json_number(json, "d2h_bytes_per_step", known_bytes(s->counts.bytes_d2h, s->counts.unsized_d2h));
	json_number(json, "d2d_bytes_per_step", known_bytes(s->counts.bytes_d2d, s->counts.unsized_d2d));
	json_end_object(json);
}

static void write_held(struct json *json, const char *list, const char *by, const struct trace_held *held,
                       const struct names *names)
{
	json_array(json, list);
	for (int k = 0; k < HELD_MOST && held[k].bytes; k++) {
		json_object(json, NULL);
		json_text(json, by, names_text(names, held[k].name));
		json_integer(json, "bytes", held[k].bytes);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_memory(struct json *json, const struct names *names, const struct side *s)
{
	json_object(json, "memory");
	json_known(json, "peak_bytes", s->memory.known, s->memory.peak);
	json_text(json, "counted_by", !s->memory.known ? NULL : s->memory.allocator ? "allocator" : "cuda");
	write_held(json, "held", "range", s->memory.held, names);
	write_held(json, "operators", "operator", s->memory.operators, names);
	if (json_maybe(json, "steps", s->memory.n_steps)) {
		json_integer(json, "n", s->memory.n_steps);
		json_integer(json, "median_bytes", s->memory.step_median);
		json_integer(json, "max_bytes", s->memory.step_most);
		json_end_object(json);
	}
	const char *why = s->memory.why, *steps_why = s->memory.steps_why;
	json_text(json, "not_known_because", why ? say_word(WORDS_peak_unknown, why) : NULL);
	json_text(json, "steps_not_known_because", steps_why ? say_word(WORDS_peak_unknown, steps_why) : NULL);
	json_end_object(json);
}

static void write_data(struct json *json, const struct analysis *a, const struct side *s)
{
	json_object(json, "data");
	json_number(json, "unlaunched_share", s->quality.unlaunched_share);
	ARENA_LOCAL(arena);
	struct facts dropped = {0}, diagnostics = {0};
	const struct quality *q = &s->quality;
	int side = a->n_sides > 1 ? s == &a->side[1] : FACT_NO_SIDE;
	for (uint32_t i = 0; i < q->n_dropped; i++)
		FACT_ADD(&dropped, &arena, rows_dropped, side, .rows = q->dropped[i].rows, .table = q->dropped[i].where,
		         .reason = q->dropped[i].reason);
	for (uint32_t i = 0; i < q->n_diagnostics; i++)
		facts_add(&diagnostics, &arena,
		          q->diagnostics[i].severity >= 3
		                  ? FACT_NEW(&arena, tool_error, side, .said = q->diagnostics[i].text)
		                  : FACT_NEW(&arena, tool_warning, side, .said = q->diagnostics[i].text));
	facts_json(json, "dropped", &dropped, a->names);
	facts_json(json, "diagnostics", &diagnostics, a->names);
	facts_json(json, "notes", &s->quality.notes, a->names);
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
	rate_or_null(json, "items_per_step", a->side[side].items);
	json_text(json, "items", a->items_name);
	rate_or_null(json, "items_per_second", card.items_per_second[side]);
	json_number(json, "gpu_busy_share", card.busy_share[side]);
	json_number(json, "gpu_communication_share", card.comm_share[side]);
	json_end_object(json);
}

void json_side(struct json *json, const struct analysis *a, const struct side *s)
{
	ARENA_LOCAL(arena);
	struct folded folded = {0};
	if (!a->all_ranks)
		folded = folded_make(s, a->n_sides > 1 ? s == &a->side[1] : FACT_NO_SIDE, &arena);
	json_object(json, s->label);
	json_text(json, "name", s->name);
	write_source(json, &s->source);
	write_steps(json, a, s);
	write_files(json, s, &folded);
	write_loops(json, a, s);
	write_startup(json, s);
	write_rates(json, a, s == &a->side[1]);
	write_runs(json, s);
	write_shown(json, s);
	json_object(json, "budget");
	json_budget(json, a, &s->budget);
	json_end_object(json);
	json_devices(json, a, s, &folded);
	json_ranks(json, a, s, &folded);
	json_folded(json, a, s, &folded);
	write_phases(json, a, s);
	write_work(json, a, s);
	write_memory(json, a->names, s);
	write_data(json, a, s);
	json_end_object(json);
}
