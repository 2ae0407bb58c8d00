#include "render/json.h"

#include "render/sections.h"
#include "render/view.h"
#include "result/words.h"
#include "say/say.h"

#include <math.h>

/* Where all of it is of input, there is no one cause and phase. */
static void write_straggler(struct json *json, const struct analysis *a, const struct straggler *g)
{
	if (!json_maybe(json, "straggler", g->kind != STRAGGLER_NONE))
		return;
	bool idle = g->part == PART_IDLE;
	json_text(json, "kind", straggler_kind_name(g->kind));
	json_integer(json, "device", g->device);
	json_number(json, "share", g->share);
	json_integer(json, "late_steps", g->late);
	json_known(json, "every", g->every, g->every);
	if (json_maybe(json, "longer", g->has_reason)) {
		json_text(json, "part", g->input ? "late_input" : part_kind_name(g->part));
		json_text(json, "cause", idle && !g->input ? cause_name(g->cause) : NULL);
		json_text(json, "phase", g->part != PART_COPY && !g->input ? view_phase(a, g->phase) : NULL);
		json_ms(json, "ms_per_step", g->more);
		json_ms(json, "others_ms_per_step", g->others);
		json_end_object(json);
	}
	json_end_object(json);
}

/* Of the hosts, the first one's clock is the one that times are on. */
static void write_host_clocks(struct json *json, const struct ranks_result *r)
{
	for (uint32_t i = json_list(json, "clocks"); json_item(json, i, r->n_clocks); i++) {
		const struct trace_clock *c = &r->clocks[i];
		json_integer(json, "files", c->files);
		json_bool(json, "known", c->known);
		json_ms(json, "offset_ms", c->offset);
		json_number(json, "drift_ppm", c->drift * 1e6);
		json_ms(json, "within_ms", c->within);
		json_integer(json, "collectives", (int64_t)c->collectives);
	}
}

static void write_comms(struct json *json, const struct analysis *a, const struct ranks_result *r)
{
	for (uint32_t i = json_list(json, "communication"); json_item(json, i, r->n_comms); i++) {
		const struct comm_result *c = &r->comms[i];
		json_text(json, "name", names_text(a->names, c->name));
		json_known(json, "communicator", c->communicator, c->communicator);
		json_integer(json, "ranks", c->ranks);
		json_number(json, "per_step", c->per_step);
		json_number(json, "matched_share", c->matched);
		json_ms(json, "waiting_ms_per_step", c->waiting);
		json_ms(json, "moving_ms_per_step", c->moving);
		json_ms(json, "exposed_ms_per_step", c->exposed);
		json_ms(json, "overlapped_ms_per_step", c->hidden);
		json_known(json, "last", c->last != TRACE_NONE, c->last);
		json_number(json, "last_share", c->last_share);
		json_number(json, "bytes", c->bytes > 0 ? c->bytes : NAN);
		json_number(json, "bus_bandwidth_gb_per_s", c->bus_bandwidth > 0 ? c->bus_bandwidth / 1e9 : NAN);
	}
}

static void write_map(struct json *json, const char *name, const char *part, const struct rank_map *map)
{
	json_object(json, name);
	if (part)
		json_text(json, "part", part);
	json_integer(json, "ranks_a_row", map->ranks_a_row);
	json_integer(json, "steps_a_column", map->steps_a_column);
	json_integer(json, "first_step", map->first_step);
	json_ms(json, "low_ms", map->low);
	json_ms(json, "high_ms", map->high);
	json_end_object(json);
}

void json_ranks(struct json *json, const struct analysis *a, const struct side *s, const struct folded *folded)
{
	const struct ranks_result *r = &s->ranks;
	if (!json_maybe(json, "ranks", r->n))
		return;
	json_bool(json, "matched", r->known);
	json_bool(json, "one_clock", r->one_clock);
	write_host_clocks(json, r);
	json_number(json, "collectives_per_step", r->collectives);
	json_ms(json, "waiting_ms_per_step", r->waiting);
	json_ms(json, "bubble_ms_per_step", r->bubble);
	json_ms(json, "moving_ms_per_step", r->moving);
	json_ms(json, "unmatched_ms_per_step", r->unmatched);
	write_straggler(json, a, &r->straggler);
	write_comms(json, a, r);
	json_array(json, "list");
	for (uint32_t i = 0; i < r->n; i++) {
		const struct rank_result *rank = &r->list[i];
		if (!folded_lists(folded, rank->device))
			continue;
		json_object(json, NULL);
		json_integer(json, "device", rank->device);
		json_known(json, "host", rank->host, rank->host);
		json_ms(json, "own_ms_per_step", rank->stepless ? NAN : rank->own);
		json_ms(json, "waiting_ms_per_step", rank->waiting);
		json_ms(json, "bubble_ms_per_step", rank->bubble);
		json_known(json, "bubble_for", rank->partner != TRACE_NONE, rank->partner);
		json_ms(json, "moving_ms_per_step", rank->moving);
		json_ms(json, "unmatched_ms_per_step", rank->unmatched);
		json_ms(json, "overlapped_ms_per_step", rank->hidden);
		json_ms(json, "waited_for_ms_per_step", rank->waited_for);
		json_number(json, "last_share", rank->last);
		json_end_object(json);
	}
	json_end_array(json);
	if (r->map.rows)
		write_map(json, "map", NULL, &r->map);
	else
		json_null(json, "map");
	for (int p = json_list(json, "part_maps"); json_more(json, p < RANK_PARTS); p++)
		if (r->parts[p].rows)
			write_map(json, NULL, say_listed(WORDS_rank_part, (unsigned)p)->key, &r->parts[p]);
	json_end_object(json);
}

static void write_folded_files(struct json *json, const struct side_files *files)
{
	uint32_t by_profile = 0, by_name = 0;
	for (uint32_t i = 0; i < files->n; i++) {
		by_profile += files->file[i].rank >= 0 && !files->file[i].rank_named;
		by_name += files->file[i].rank >= 0 && files->file[i].rank_named;
	}
	json_object(json, "files");
	json_integer(json, "count", files->n);
	json_integer(json, "rank_from_profile", by_profile);
	json_integer(json, "rank_from_name", by_name);
	json_integer(json, "rank_unknown", files->n - by_profile - by_name);
	json_end_object(json);
}

void json_folded(struct json *json, const struct analysis *a, const struct side *s, const struct folded *folded)
{
	if (!json_maybe(json, "folded", folded->n))
		return;
	json_integer(json, "devices", s->n_devices);
	json_integer(json, "ranks", s->ranks.n);
	write_folded_files(json, &s->files);
	for (uint32_t i = json_list(json, "unusual"); json_item(json, i, folded->n); i++) {
		json_integer(json, "device", folded->device[i]);
		json_known(json, "rank", s->devices[folded->device[i]].rank >= 0, s->devices[folded->device[i]].rank);
		facts_json_one(json, "reason", folded->reason[i], a->names);
	}
	for (int q = json_list(json, "quantiles"); json_item(json, q, FOLDED_QUANTILES); q++) {
		json_number(json, "p", folded->p[q]);
		json_object(json, "per_step");
		for (int part = 0; part < FOLDED_PARTS; part++)
			json_ms(json, folded_part_name((enum folded_part)part), folded->at[q][part]);
		json_end_object(json);
	}
	json_end_object(json);
}

/* Both members of a budget: `per_step`, and `idle`, whose rows add up to per_step.idle. */
void json_budget(struct json *json, const struct analysis *a, const struct budget *b)
{
	json_object(json, "per_step");
	json_ms(json, "compute", b->compute);
	json_ms(json, "comm_exposed", b->comm_exposed);
	json_ms(json, "copy_exposed", b->copy_exposed);
	json_ms(json, "idle", b->idle);
	json_ms(json, "period", b->period);
	json_end_object(json);
	for (uint32_t i = json_list(json, "idle"); json_item(json, i, b->n_rows); i++) {
		const struct idle_row *row = &b->rows[i];
		json_text(json, "cause", cause_name(row->cause));
		json_text(json, "phase", view_phase(a, row->phase));
		json_text(json, "call", row->call ? names_text(a->names, row->call) : NULL);
		json_ms(json, "ms_per_step", row->per_step);
		json_object(json, "opened_ms_per_step");
		for (int o = 0; o < OPENED_COUNT; o++)
			json_ms(json, say_listed(WORDS_opened, (unsigned)o)->key, row->opened[o]);
		json_end_object(json);
	}
}

static void write_spread(struct json *json, const char *key, const struct spread *s)
{
	if (!json_maybe(json, key, s->n))
		return;
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
	if (json_maybe(json, "limited", c->judged)) {
		json_integer(json, "samples", c->judged);
		for (int l = 0; l < LIMIT_COUNT; l++)
			json_number(json, say_listed(WORDS_clock_limit, (unsigned)l)->key, c->limited[l]);
		json_end_object(json);
	}
	json_end_object(json);
}

void json_devices(struct json *json, const struct analysis *a, const struct side *s, const struct folded *folded)
{
	json_array(json, "devices");
	for (uint32_t i = 0; i < s->n_devices; i++) {
		const struct device_result *d = &s->devices[i];
		if (!folded_lists(folded, i))
			continue;
		json_object(json, NULL);
		json_integer(json, "id", d->id);
		json_integer(json, "process", d->process);
		json_integer(json, "ordinal", d->ordinal);
		json_known(json, "rank", d->rank >= 0, d->rank);
		json_text(json, "name", names_text(a->names, d->name));
		json_ms(json, "window_ms", (double)d->window_ns);
		json_ms(json, "latency_limit_ms", d->limit_ns);
		json_budget(json, a, &d->budget);
		if (d->clocks.samples || d->clocks.idle)
			write_clocks(json, &d->clocks);
		hardware_json(a, &d->metrics, json);
		json_end_object(json);
	}
	json_end_array(json);
}
