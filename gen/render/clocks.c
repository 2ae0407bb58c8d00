#include "render/clocks.h"

#include "base/format.h"
#include "render/view.h"
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
			facts_add(limits, arena,
			          FACT_NEW(arena, limited_in, FACT_NO_SIDE, .limit = limit_name((enum limit)l),
			                   .samples = c->limited[l]));
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
			page_fill(row, "limits", say_fact(held_back(c, arena), NULL, arena));
		}
}
