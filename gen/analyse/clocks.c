/* How fast the GPUs ran: samples of clocks, power and temperature, and what held the clocks back. */
#include "analyse/middle.h"
#include "analyse/side.h"

static const struct {
	enum trace_limit bit;
	const char *name, *label;
} LIMITS[LIMIT_COUNT] = {
	[LIMIT_POWER] = {LIMITED_POWER, "power_cap", "power cap"},
	[LIMIT_THERMAL] = {LIMITED_THERMAL, "thermal", "heat"},
	[LIMIT_HARDWARE_THERMAL] = {LIMITED_HARDWARE_THERMAL, "hardware_thermal", "heat (hardware)"},
	[LIMIT_HARDWARE] = {LIMITED_HARDWARE, "hardware_slowdown", "hardware slowdown"},
	[LIMIT_POWER_BRAKE] = {LIMITED_POWER_BRAKE, "power_brake", "power brake"},
	[LIMIT_APPLICATION] = {LIMITED_APPLICATION, "application_clocks", "clocks set by the user"},
	[LIMIT_SYNC_BOOST] = {LIMITED_SYNC_BOOST, "sync_boost", "kept in step with another GPU"},
	[LIMIT_OTHER] = {0, "other", "another reason"},
};

const char *limit_name(enum limit limit)
{
	return LIMITS[limit].name;
}

const char *limit_label(enum limit limit)
{
	return LIMITS[limit].label;
}

/* Numbers of the samples that count, by what they are. */
enum { SM, MEMORY, POWER, TEMPERATURE, QUANTITIES };

struct pool {
	int64_t *value[QUANTITIES];
	size_t n[QUANTITIES];
	uint32_t limited[LIMIT_COUNT];
};

static bool is_idle(const struct trace_gpu_sample *s)
{
	if (s->busy_percent >= 0)
		return s->busy_percent == 0;
	return s->has_limits && (s->limits & LIMITED_IDLE); /* parts of a GPU (MIG) tell no utilisation */
}

static void add_sample(const struct trace_gpu_sample *s, struct pool *pool, struct clocks *out)
{
	const int32_t value[QUANTITIES] = {s->sm_mhz, s->memory_mhz, s->power_mw, s->temperature_c};
	out->samples++;
	for (int q = 0; q < QUANTITIES; q++)
		if (value[q] >= 0)
			pool->value[q][pool->n[q]++] = value[q];
	if (!s->has_limits)
		return;
	uint64_t rest = s->limits & ~(uint64_t)LIMITED_IDLE;
	out->judged++;
	for (int l = 0; l < LIMIT_OTHER; l++) {
		pool->limited[l] += (rest & LIMITS[l].bit) != 0;
		rest &= ~(uint64_t)LIMITS[l].bit;
	}
	pool->limited[LIMIT_OTHER] += rest != 0;
}

static struct spread spread_of(int64_t *list, size_t n, double unit)
{
	struct spread spread = {.n = (uint32_t)n};
	if (!n)
		return spread;
	int64_t min = list[0], max = list[0];
	for (size_t i = 1; i < n; i++) {
		min = list[i] < min ? list[i] : min;
		max = list[i] > max ? list[i] : max;
	}
	spread.median = middle_median_of_list(list, n) / unit;
	spread.min = (double)min / unit;
	spread.max = (double)max / unit;
	return spread;
}

static void build_device(const struct run *runs, size_t n, uint32_t d, struct clocks *out)
{
	struct arena scratch = {0};
	struct pool pool = {0};
	size_t room = 0;
	for (size_t r = 0; r < n; r++)
		room += runs[r].trace->n_gpu_samples;
	for (int q = 0; q < QUANTITIES; q++)
		pool.value[q] = ARENA_NEW(&scratch, room, int64_t);
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		uint32_t gpu = d < runs[r].n_devices ? run_gpu(&runs[r], d) : TRACE_NONE;
		for (size_t i = 0; i < t->n_gpu_samples && gpu != TRACE_NONE; i++) {
			const struct trace_gpu_sample *s = &t->gpu_samples[i];
			if (s->gpu != gpu || s->time < runs[r].window_start || s->time >= runs[r].window_end)
				continue;
			if (is_idle(s))
				out->idle++;
			else
				add_sample(s, &pool, out);
		}
	}
	out->sm_mhz = spread_of(pool.value[SM], pool.n[SM], 1);
	out->memory_mhz = spread_of(pool.value[MEMORY], pool.n[MEMORY], 1);
	out->power_w = spread_of(pool.value[POWER], pool.n[POWER], 1000);
	out->temperature_c = spread_of(pool.value[TEMPERATURE], pool.n[TEMPERATURE], 1);
	for (int l = 0; l < LIMIT_COUNT && out->judged; l++)
		out->limited[l] = (double)pool.limited[l] / out->judged;
	arena_release(&scratch);
}

void clocks_build(const struct run *runs, size_t n, struct side *side)
{
	for (uint32_t d = 0; d < side->n_devices; d++)
		build_device(runs, n, d, &side->devices[d].clocks);
}
