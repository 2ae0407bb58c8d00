#include "render/sections.h"

#include "analyse/shown.h"
#include "base/format.h"
#include "render/view.h"
#include "result/say.h"
#include "say/say.h"

#include <math.h>

static bool clocks_known(const struct analysis *a)
{
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t d = 0; d < a->side[s].n_devices; d++)
			if (a->side[s].devices[d].clocks.samples > 0)
				return true;
	return false;
}

/* "1755 (1710 to 1980)", "1980" when it never changed. */
static const char *spread(const struct spread *s, struct arena *arena)
{
	const bool varies = s->n && s->min != s->max;
	return SAY(NULL, arena, spread, .known = s->n > 0, .median = s->median, .least = varies ? s->min : NAN,
	           .most = varies ? s->max : NAN);
}

static const struct fact *held_back(const struct clocks *c, struct arena *arena)
{
	struct facts *limits = ARENA_NEW(arena, 1, struct facts);
	for (int l = 0; l < LIMIT_COUNT; l++)
		if (c->limited[l] > 0)
			FACT_ADD(limits, arena, limited_in, FACT_NO_SIDE,
			         .limit = say_listed(WORDS_clock_limit, (unsigned)l)->key, .samples = c->limited[l]);
	return FACT_NEW(arena, held_back, FACT_NO_SIDE,
	                .found = !c->judged  ? "unknown"
	                         : limits->n ? "limits"
	                                     : "nothing",
	                .limits = limits);
}

const char *clocks_words(const struct clocks *c, struct arena *arena)
{
	if (!c->samples)
		return "";
	return SAY(NULL, arena, clocks_measured, .sm = c->sm_mhz.n ? spread(&c->sm_mhz, arena) : NULL,
	           .memory = c->memory_mhz.n ? spread(&c->memory_mhz, arena) : NULL,
	           .power = c->power_w.n ? spread(&c->power_w, arena) : NULL,
	           .temperature = c->temperature_c.n ? spread(&c->temperature_c, arena) : NULL, .samples = c->samples,
	           .limits = held_back(c, arena));
}

/* A device's number, or whose it is where processes have devices of the same number. */
static const char *which_device(const struct side *side, uint32_t d, struct arena *arena)
{
	const uint32_t ordinal = side->devices[d].ordinal;
	for (uint32_t i = 0; i < side->n_devices; i++)
		if (i != d && side->devices[i].ordinal == ordinal)
			return say_rank(side, d, arena);
	return arena_format(arena, "%u", ordinal);
}

static void fill_clock(const struct analysis *a, const struct side *side, uint32_t d, struct rows *rows)
{
	struct arena *arena = rows->page->arena;
	const struct device_result *device = &side->devices[d];
	const struct clocks *c = &device->clocks;
	struct scope *row = page_row(rows);
	page_fill(row, "side", side->label);
	page_fill(row, "gpu",
	          arena_format(arena, "%s: %s", which_device(side, d, arena),
	                       format_name(arena, view_gpu(a, device), 60)));
	page_fill(row, "samples", arena_format(arena, "%u", c->samples));
	page_fill(row, "sm", spread(&c->sm_mhz, arena));
	page_fill(row, "memory", spread(&c->memory_mhz, arena));
	page_fill(row, "power", spread(&c->power_w, arena));
	page_fill(row, "temperature", spread(&c->temperature_c, arena));
	page_fill(row, "limits", say_fact(held_back(c, arena), NULL, arena));
}

void clocks_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	const bool known = clocks_known(a);
	page_if(&page->top, "clocks", known);
	struct rows *words = page_rows(&page->top, "clock.word"), *rows = page_rows(&page->top, "clock");
	for (uint32_t s = 0; s < a->n_sides && known; s++) {
		const struct side *side = &a->side[s];
		const struct folded folded = folded_make(side, FACT_NO_SIDE, arena);
		for (uint32_t d = 0; d < side->n_devices; d++)
			if (folded_lists(&folded, d))
				fill_clock(a, side, d, rows);
		if (folded.n)
			page_fill(page_row(words), "text",
			          SAY(NULL, arena, other_gpus, .label = side->label, .n = side->n_devices - folded.n));
	}
}

enum { MOST_GPUS = 8, FEW_GPUS = 2, PHASES_OF_MANY = 4 };

/* "88.3"; "–" where no sample tells. */
static const char *hardware_percent(double percent, struct arena *arena)
{
	return percent < 0 ? "\xE2\x80\x93" : arena_format(arena, "%.1f", percent);
}

static bool any_side_has(const struct analysis *a, enum metric metric)
{
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t d = 0; d < a->side[s].n_devices; d++)
			if (a->side[s].devices[d].metrics.has[metric])
				return true;
	return false;
}

/* ---- words ---- */

enum { PERCENT = 100 };

const char *hardware_missing(double known, struct arena *arena)
{
	double percent = PERCENT * (1 - known);
	return percent < 0.5 ? NULL : SAY(NULL, arena, not_sampled, .share = 1 - known);
}

const char *hardware_words(const struct metrics *m, struct arena *arena)
{
	const char *list = "";
	for (int i = 0; m->samples && i < METRIC_COUNT; i++) {
		double mean = m->busy.mean[i];
		if (mean < 0 || (mean < 0.05 && i > METRIC_TENSOR)) /* links that nothing goes over */
			continue;
		list = arena_format(arena, "%s%s%s %.1f %%", list, *list ? ", " : "", metric_label((enum metric)i),
		                    mean);
	}
	return *list ? SAY(NULL, arena, counters_busy, .list = list, .missing = hardware_missing(m->known, arena)) : "";
}

/* ---- the page ---- */

static void fill_values(const struct analysis *a, struct scope *row, const struct metric_means *means)
{
	struct rows *values = page_rows(row, "hardware.value");
	for (int m = 0; m < METRIC_COUNT; m++)
		if (any_side_has(a, (enum metric)m))
			page_fill(page_row(values), "percent", hardware_percent(means->mean[m], row->page->arena));
}

static void fill_part(const struct analysis *a, const struct side *s, const struct device_result *d, const char *part,
                      const char *share, const struct metric_means *means, struct rows *rows)
{
	struct arena *arena = rows->page->arena;
	struct scope *row = page_row(rows);
	page_fill(row, "side", s->label);
	page_fill(row, "gpu", arena_format(arena, "%u", d->id));
	page_fill(row, "part", part);
	page_fill(row, "time", share);
	fill_values(a, row, means);
}

static void fill_device(const struct analysis *a, const struct side *s, const struct device_result *d, struct unit unit,
                        struct rows *rows)
{
	struct arena *arena = rows->page->arena;
	const struct metrics *m = &d->metrics;
	const struct budget *b = &d->budget;
	if (!m->samples)
		return;
	fill_part(a, s, d, say_word(WORDS_picture, "while_busy"), format_number(arena, unit, m->busy_ns), &m->busy,
	          rows);
	fill_part(a, s, d, say_word(WORDS_picture, "in_gaps"), format_number(arena, unit, b->idle), &m->idle, rows);
	fill_part(a, s, d, say_word(WORDS_picture, "always"), format_number(arena, unit, b->period), &m->window, rows);
	uint32_t most = s->n_devices > FEW_GPUS ? PHASES_OF_MANY : METRIC_PHASES;
	for (uint32_t p = 0; view_has_phases(a) && p < m->n_phases && p < most; p++)
		fill_part(a, s, d, SAY(NULL, arena, work_of_phase, .phase = view_phase(a, m->phases[p].name)),
		          format_number(arena, unit, m->phases[p].ns), &m->phases[p].means, rows);
}

static const char *sampling_words(const struct analysis *a, struct arena *arena)
{
	const char *text = "";
	bool missing = false;
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t d = 0, said = 0; d < a->side[s].n_devices; d++) {
			const struct metrics *m = &a->side[s].devices[d].metrics;
			if (!m->samples)
				continue;
			missing = missing || hardware_missing(m->known, arena);
			if (!said++)
				text = arena_format(arena, "%s%s%s", text, *text ? "; " : "",
				                    SAY(NULL, arena, sampled_every, .label = a->side[s].label,
				                        .interval = m->interval));
		}
	return SAY(NULL, arena, counters_mean, .sampled = text, .missing = missing);
}

void hardware_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	struct unit unit = view_table_unit(a);
	bool known = side_has_metrics(&a->side[0]) || side_has_metrics(&a->side[1]);
	page_if(&page->top, "hardware", known);
	page_fill(&page->top, "hardware.text", sampling_words(a, arena));
	page_fill(&page->top, "hardware.caption",
	          SAY(NULL, arena, counters_caption, .unit = unit.name,
	              .per = say_word(WORDS_each, view_unit(&a->side[0]))));
	struct rows *columns = page_rows(&page->top, "hardware.column");
	for (int m = 0; m < METRIC_COUNT; m++)
		if (any_side_has(a, (enum metric)m))
			page_fill(page_row(columns), "label", metric_label((enum metric)m));
	struct rows *words = page_rows(&page->top, "hardware.word"), *rows = page_rows(&page->top, "hardware.part");
	for (uint32_t s = 0; s < a->n_sides; s++) {
		const struct side *side = &a->side[s];
		for (uint32_t d = 0; d < side->n_devices && d < MOST_GPUS; d++) {
			const struct device_result *device = &side->devices[d];
			if (!device->metrics.samples)
				continue;
			page_fill(page_row(words), "text",
			          SAY(NULL, arena, gpu_busy, .label = side->label, .several = side->n_devices > 1,
			              .gpu = device->id, .share = device->metrics.busy_share,
			              .counters = hardware_words(&device->metrics, arena)));
			fill_device(a, side, device, unit, rows);
		}
		if (side->n_devices > MOST_GPUS)
			page_fill(page_row(words), "text",
			          SAY(NULL, arena, other_gpus, .label = side->label, .n = side->n_devices - MOST_GPUS));
	}
}

/* ---- JSON ---- */

static void write_means(struct json *json, const char *key, const struct metrics *m, const struct metric_means *means)
{
	json_object(json, key);
	for (int i = 0; i < METRIC_COUNT; i++)
		if (m->has[i])
			json_number(json, metric_name((enum metric)i), means->mean[i] < 0 ? NAN : means->mean[i]);
	json_end_object(json);
}

void hardware_json(const struct analysis *a, const struct metrics *m, struct json *json)
{
	if (!m->samples)
		return;
	json_object(json, "metrics");
	json_integer(json, "samples", m->samples);
	json_ms(json, "interval_ms", m->interval);
	json_text(json, "sample_counts", m->before ? "before" : "after");
	json_number(json, "sampled_share", m->known);
	write_means(json, "busy", m, &m->busy);
	write_means(json, "idle", m, &m->idle);
	write_means(json, "window", m, &m->window);
	for (uint32_t i = json_list(json, "phases"); json_item(json, i, m->n_phases); i++) {
		json_text(json, "name", view_phase(a, m->phases[i].name));
		json_ms(json, "ms_per_step", m->phases[i].ns);
		write_means(json, "mean", m, &m->phases[i].means);
	}
	json_end_object(json);
}

/* ---- budgets ---- */

/* "0: NVIDIA H200, process 4242"; of a job "rank 5: NVIDIA H200" */
static const char *gpu_label(const struct analysis *a, const struct side *s, uint32_t device, struct arena *arena)
{
	const struct device_result *r = &s->devices[device];
	bool named = r->name && *names_text(a->names, r->name);
	return SAY(NULL, arena, gpu_is, .known = r->rank >= 0, .named = named,
	           .rank = r->rank < 0 ? NULL : say_rank(s, device, arena), .ordinal = r->id,
	           .name = named ? format_name(arena, view_gpu(a, r), 90) : NULL, .process = r->process);
}

/* One GPU needs no mean; many are cut, and the mean is over all of them. More than a few open from the mean. */
void tables_budget(const struct analysis *a, struct unit unit, struct page *page)
{
	enum { FEW = 4, MOST = 16 };
	struct arena *arena = page->arena;
	uint32_t most = a->side[0].n_devices > a->side[1].n_devices ? a->side[0].n_devices : a->side[1].n_devices;
	page_fill(&page->top, "budget.caption", view_caption(a, "budget_each", unit, arena));
	struct rows *rows = page_rows(&page->top, "budget");
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t d = 0; d <= a->side[s].n_devices && d <= MOST; d++) {
			uint32_t n = a->side[s].n_devices;
			bool mean = d == n || d == MOST;
			if (mean && n == 1)
				continue;
			const struct budget *b = mean ? &a->side[s].budget : &a->side[s].devices[d].budget;
			struct scope *row = page_row(rows);
			if (most > FEW && !mean && n > 1)
				page_attribute(row, NULL, "class", "rest");
			page_fill(row, "side", a->side[s].label);
			page_fill(row, "gpu",
			          mean ? SAY(NULL, arena, mean_of, .n = n) : gpu_label(a, &a->side[s], d, arena));
			page_fill(row, "compute", format_number(arena, unit, b->compute));
			page_fill(row, "comm", format_number(arena, unit, b->comm_exposed));
			page_fill(row, "copy", format_number(arena, unit, b->copy_exposed));
			page_fill(row, "idle", format_number(arena, unit, b->idle));
			page_fill(row, "period", format_number(arena, unit, b->period));
		}
	page_fill_if(&page->top, "budget.all", most > FEW,
	             SAY(NULL, arena, show_all, .things = "gpus", .cut = most > MOST, .kept = MOST, .n = most));
}
