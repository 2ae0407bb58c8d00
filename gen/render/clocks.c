#include "render/clocks.h"

#include "base/format.h"
#include "render/view.h"

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
	if (!s->n)
		return "unknown";
	if (s->min == s->max)
		return arena_format(arena, "%.0f", s->median);
	return arena_format(arena, "%.0f (%.0f to %.0f)", s->median, s->min, s->max);
}

static const char *held_back(const struct clocks *c, struct arena *arena)
{
	const char *list = "";
	for (int l = 0; l < LIMIT_COUNT; l++)
		if (c->limited[l] > 0)
			list = arena_format(arena, "%s%s%s in %s", list, *list ? ", " : "", limit_label((enum limit)l),
			                    format_share(arena, c->limited[l]));
	return !c->judged ? "unknown" : *list ? list : "nothing";
}

const char *clocks_words(const struct clocks *c, struct arena *arena)
{
	const char *text = "";
	if (!c->samples)
		return "";
	if (c->sm_mhz.n)
		text = arena_format(arena, "SM %s MHz", spread(&c->sm_mhz, arena));
	if (c->memory_mhz.n)
		text = arena_format(arena, "%s%smemory %s MHz", text, *text ? ", " : "", spread(&c->memory_mhz, arena));
	if (c->power_w.n)
		text = arena_format(arena, "%s%s%s W", text, *text ? ", " : "", spread(&c->power_w, arena));
	if (c->temperature_c.n)
		text = arena_format(arena,
		                    "%s%s%s \xC2\xB0"
		                    "C",
		                    text, *text ? ", " : "", spread(&c->temperature_c, arena));
	const char *samples = format_plural(arena, c->samples, "sample", "samples");
	return arena_format(arena, "%s (%s under load); held back by: %s", text, samples, held_back(c, arena));
}

void clocks_fill(const struct analysis *a, struct page *page)
{
	struct arena *arena = page->arena;
	page_if(&page->top, "clocks", clocks_known(a));
	struct rows *rows = page_rows(&page->top, "clock");
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t d = 0; d < a->side[s].n_devices; d++) {
			const struct device_result *device = &a->side[s].devices[d];
			const struct clocks *c = &device->clocks;
			struct scope *row = page_row(rows);
			page_fill(row, "side", a->side[s].label);
			page_fill(row, "gpu",
			          arena_format(arena, "%u: %s", device->ordinal,
			                       format_name(arena, view_gpu(a, device), 60)));
			page_fill(row, "samples", arena_format(arena, "%u", c->samples));
			page_fill(row, "sm", spread(&c->sm_mhz, arena));
			page_fill(row, "memory", spread(&c->memory_mhz, arena));
			page_fill(row, "power", spread(&c->power_w, arena));
			page_fill(row, "temperature", spread(&c->temperature_c, arena));
			page_fill(row, "limits", held_back(c, arena));
		}
}
