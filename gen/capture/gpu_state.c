#include "base/list.h"
#include "capture/gpu_source.h"

#include <string.h>
#include <time.h>

int64_t gpu_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void gpu_text(char *to, size_t room, const char *from, size_t n)
{
	n = n < room - 1 ? n : room - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[n] = 0;
}

struct gpu_sample gpu_sample_at(int64_t time, uint32_t gpu)
{
	return (struct gpu_sample){.time = time,
	                           .gpu = gpu,
	                           .sm_mhz = -1,
	                           .memory_mhz = -1,
	                           .power_mw = -1,
	                           .temperature_c = -1,
	                           .busy_percent = -1};
}

void gpu_state_add(struct gpu_state *state, const struct gpu_sample *sample)
{
	if (sample->sm_mhz < 0 && sample->memory_mhz < 0 && sample->power_mw < 0 && sample->temperature_c < 0 &&
	    sample->busy_percent < 0 && !sample->has_throttle)
		return;
	LIST_GROW(state->arena, state->samples, state->n, state->room);
	state->samples[state->n++] = *sample;
}

void gpu_state_open(struct gpu_state *state, const char *driver_library, struct arena *arena)
{
	*state = (struct gpu_state){.source = "", .arena = arena};
	if (gpu_nvml_open(state, driver_library) || gpu_smi_open(state))
		return;
	*state = (struct gpu_state){.source = "", .arena = arena};
}

void gpu_state_sample(struct gpu_state *state)
{
	if (state->open)
		state->open->sample(state);
}

void gpu_state_close(struct gpu_state *state)
{
	if (state->open)
		state->open->close(state);
	state->open = NULL;
}
