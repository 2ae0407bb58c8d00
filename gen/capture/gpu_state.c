#include "capture/gpu.h"

#include "base/list.h"
#include "base/proc.h"

#include <limits.h>
#include <string.h>

void gpu_text(char *to, size_t room, const char *from, size_t n)
{
	n = n < room - 1 ? n : room - 1;
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[n] = 0;
}

static struct gpu_sample unknown_sample(uint32_t gpu)
{
	return (struct gpu_sample){.time = proc_now_ns(),
	                           .gpu = gpu,
	                           .sm_mhz = -1,
	                           .memory_mhz = -1,
	                           .power_mw = -1,
	                           .temperature_c = -1,
	                           .busy_percent = -1};
}

/* One that says nothing at all is left out. */
static void add(struct gpu_state *state, const struct gpu_sample *sample)
{
	if (sample->sm_mhz < 0 && sample->memory_mhz < 0 && sample->power_mw < 0 && sample->temperature_c < 0 &&
	    sample->busy_percent < 0 && !sample->has_throttle)
		return;
	LIST_ADD(state->arena, state->samples, state->n, state->room, *sample);
}

struct gpu_state_source {
	struct nvml nvml;
	nvml_device device[GPU_STATE_GPUS_MAX];
};

/* A number, when the library knew it. (It answers 0xFFFFFFFF for power on some boards that cannot measure it.) */
static int known(int code, const unsigned *value)
{
	return code == NVML_OK && *value <= INT_MAX ? (int)*value : -1;
}

void gpu_state_sample(struct gpu_state *state)
{
	struct gpu_state_source *s = state->open;
	if (!s)
		return;
	const struct nvml *nvml = &s->nvml;
	for (uint32_t i = 0; i < state->n_gpus; i++) {
		nvml_device device = s->device[i];
		struct gpu_sample one = unknown_sample(i);
		unsigned value = 0;
		if (nvml->clock)
			one.sm_mhz = known(nvml->clock(device, NVML_CLOCK_SM, &value), &value);
		if (nvml->clock)
			one.memory_mhz = known(nvml->clock(device, NVML_CLOCK_MEMORY, &value), &value);
		if (nvml->power)
			one.power_mw = known(nvml->power(device, &value), &value);
		if (nvml->temperature)
			one.temperature_c = known(nvml->temperature(device, NVML_TEMPERATURE_GPU, &value), &value);
		struct nvml_utilization busy = {0};
		if (nvml->utilization && nvml->utilization(device, &busy) == NVML_OK && busy.gpu <= 100)
			one.busy_percent = (int)busy.gpu;
		unsigned long long reasons = 0;
		if (nvml->throttle && nvml->throttle(device, &reasons) == NVML_OK) {
			one.has_throttle = true;
			one.throttle = reasons;
		}
		add(state, &one);
	}
}

void gpu_state_close(struct gpu_state *state)
{
	if (state->open)
		nvml_close(&state->open->nvml);
	state->open = NULL;
}

static void identify(const struct nvml *nvml, nvml_device device, struct gpu_identity *gpu)
{
	char text[128] = "";
	unsigned mhz = 0;
	if (nvml->device_name(device, text, sizeof text - 1) == NVML_OK)
		gpu_text(gpu->name, sizeof gpu->name, text, strlen(text));
	memset(text, 0, sizeof text);
	if (nvml->device_uuid(device, text, sizeof text - 1) == NVML_OK)
		gpu_text(gpu->uuid, sizeof gpu->uuid, text, strlen(text));
	struct nvml_pci pci = {0};
	if (nvml->device_pci && nvml->device_pci(device, &pci) == NVML_OK)
		gpu_text(gpu->bus, sizeof gpu->bus, pci.bus, strnlen(pci.bus, sizeof pci.bus));
	if (nvml->max_clock && nvml->max_clock(device, NVML_CLOCK_SM, &mhz) == NVML_OK && mhz <= INT_MAX)
		gpu->max_sm_mhz = (int)mhz;
	unsigned count = 0;
	int code = nvml->processes ? nvml->processes(device, &count, NULL) : -1;
	bool listed = code == NVML_OK || code == NVML_INSUFFICIENT_SIZE;
	gpu->others = listed && count <= INT_MAX ? (int)count : -1;
}

void gpu_state_open(struct gpu_state *state, const char *driver_library, struct arena *arena)
{
	*state = (struct gpu_state){.source = "", .arena = arena};
	struct gpu_state_source *s = ARENA_NEW(state->arena, 1, struct gpu_state_source);
	int code;
	unsigned count = 0;
	if (nvml_open(&s->nvml, driver_library, &code) != NVML_LOADED)
		return;
	if (s->nvml.device_count(&count) != NVML_OK)
		count = 0;
	state->gpus = ARENA_NEW(state->arena, GPU_STATE_GPUS_MAX, struct gpu_identity);
	for (unsigned i = 0; i < count && state->n_gpus < GPU_STATE_GPUS_MAX; i++) {
		nvml_device device = NULL;
		if (s->nvml.device_by_index(i, &device) != NVML_OK)
			continue; /* not ours to see, or fallen off the bus */
		identify(&s->nvml, device, &state->gpus[state->n_gpus]);
		s->device[state->n_gpus++] = device;
	}
	if (!state->n_gpus) {
		nvml_close(&s->nvml);
		return;
	}
	char version[81] = "";
	if (s->nvml.driver_version && s->nvml.driver_version(version, sizeof version - 1) == NVML_OK)
		gpu_text(state->driver, sizeof state->driver, version, strlen(version));
	state->open = s;
	state->source = "NVML";
}
