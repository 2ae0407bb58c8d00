#include "side/side_parts.h"

#include "base/sort.h"

/* gapline samples once a second, and up to 0.2 s late, so no moment of a run is further than this from a sample. */
static const int64_t NEAR_NS = 1500000000;

enum { ENOUGH_FOR_MEAN = 5 }; /* samples: one that was taken while the clock went up is left out then */

/* The profile's bits; all others are LIMIT_OTHER. */
static const enum trace_limit BIT[LIMIT_COUNT] = {
	[LIMIT_POWER] = LIMITED_POWER,
	[LIMIT_THERMAL] = LIMITED_THERMAL,
	[LIMIT_HARDWARE_THERMAL] = LIMITED_HARDWARE_THERMAL,
	[LIMIT_HARDWARE] = LIMITED_HARDWARE,
	[LIMIT_POWER_BRAKE] = LIMITED_POWER_BRAKE,
	[LIMIT_APPLICATION] = LIMITED_APPLICATION,
	[LIMIT_SYNC_BOOST] = LIMITED_SYNC_BOOST,
};

/* Numbers of the samples that count, by what they are. */
enum { SM, MEMORY, POWER, TEMPERATURE, QUANTITIES };

struct pool {
	double *value[QUANTITIES];
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
		pool->limited[l] += (rest & BIT[l]) != 0;
		rest &= ~(uint64_t)BIT[l];
	}
	pool->limited[LIMIT_OTHER] += rest != 0;
}

static struct spread spread_of(double *list, size_t n, double unit)
{
	struct spread spread = {.n = (uint32_t)n};
	if (!n)
		return spread;
	double min = list[0], max = list[0], sum = 0;
	for (size_t i = 0; i < n; i++) {
		min = list[i] < min ? list[i] : min;
		max = list[i] > max ? list[i] : max;
		sum += list[i];
	}
	spread.median = sort_median(list, n) / unit;
	spread.min = min / unit;
	spread.max = max / unit;
	spread.mean = n < ENOUGH_FOR_MEAN ? spread.median : (sum - min - max) / (double)(n - 2) / unit;
	return spread;
}

static void take_sample(const struct trace_gpu_sample *s, struct pool *pool, struct clocks *out)
{
	if (is_idle(s))
		out->idle++;
	else
		add_sample(s, pool, out);
}

/* The samples of one run that count: those in its window, else the nearest one on each side of it. */
static void add_run(const struct run *run, uint32_t gpu, struct pool *pool, struct clocks *out)
{
	const struct trace *t = run->trace;
	const struct trace_gpu_sample *before = NULL, *after = NULL;
	bool any = false, within = false;
	for (size_t i = 0; i < t->n_gpu_samples; i++) {
		const struct trace_gpu_sample *s = &t->gpu_samples[i];
		if (s->gpu != gpu)
			continue;
		any = true;
		if (s->time < run->window.start) {
			before = !before || s->time > before->time ? s : before;
		} else if (s->time >= run->window.end) {
			after = !after || s->time < after->time ? s : after;
		} else {
			within = true;
			take_sample(s, pool, out);
		}
	}
	if (!any || within)
		return;
	bool has_before = before && run->window.start - before->time <= NEAR_NS;
	bool has_after = after && after->time - run->window.end <= NEAR_NS;
	uint32_t samples = out->samples;
	if (has_before)
		take_sample(before, pool, out);
	if (has_after)
		take_sample(after, pool, out);
	out->beside += out->samples - samples;
	out->blind += !has_before && !has_after;
}

struct clocks clocks_of_device(const struct run *runs, size_t n, uint32_t d)
{
	struct clocks out = {0};
	ARENA_LOCAL(scratch);
	struct pool pool = {0};
	size_t room = 0;
	for (size_t r = 0; r < n; r++)
		room += runs[r].trace->n_gpu_samples;
	for (int q = 0; q < QUANTITIES; q++)
		pool.value[q] = ARENA_NEW(&scratch, room, double);
	for (size_t r = 0; r < n; r++) {
		uint32_t at = runs[r].charge->device_at[d], gpu = at == TRACE_NONE ? TRACE_NONE : run_gpu(&runs[r], at);
		if (gpu != TRACE_NONE)
			add_run(&runs[r], gpu, &pool, &out);
	}
	out.sm_mhz = spread_of(pool.value[SM], pool.n[SM], 1);
	out.memory_mhz = spread_of(pool.value[MEMORY], pool.n[MEMORY], 1);
	out.power_w = spread_of(pool.value[POWER], pool.n[POWER], 1000);
	out.temperature_c = spread_of(pool.value[TEMPERATURE], pool.n[TEMPERATURE], 1);
	for (int l = 0; l < LIMIT_COUNT && out.judged; l++)
		out.limited[l] = (double)pool.limited[l] / out.judged;
	return out;
}

const struct fact *clocks_note(const struct device_result *devices, uint32_t n, struct arena *arena)
{
	bool beside = false, blind = false;
	for (uint32_t d = 0; d < n; d++) {
		beside = beside || devices[d].clocks.beside;
		blind = blind || devices[d].clocks.blind;
	}
	return beside || blind ? FACT_NEW(arena, clocks_not_sampled, FACT_NO_SIDE, .nearest = beside) : NULL;
}
