#include "render/json_devices.h"

#include "analyse/words.h"
#include "render/hardware.h"
#include "render/view.h"

#include <math.h>

static const char *const opened_key[] = {[OPENED_SYNC] = "sync", [OPENED_DRY] = "dry", [OPENED_WAITING] = "waiting"};

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
		if (d->rank < 0)
			json_null(json, "rank");
		else
			json_integer(json, "rank", d->rank);
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
