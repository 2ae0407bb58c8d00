#include "capture/gpu.h"

#include "base/list.h"
#include "base/proc.h"
#include "base/search.h"
#include "trace/trace.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* ---- NVML ---- */

/* A function by its newest name, else by an older one with the same meaning. */
static void find(void *library, void *function, const char *name, const char *older)
{
	void *symbol = dlsym(library, name);
	if (!symbol && older)
		symbol = dlsym(library, older);
	memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from an object's to a function's address */
}

enum nvml_result nvml_open(struct nvml *nvml, const char *path, int *code)
{
	*nvml = (struct nvml){0};
	*code = 0;
	void *library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NVML_NO_LIBRARY;
	nvml->library = library;
	find(library, &nvml->init, "nvmlInit_v2", "nvmlInit");
	find(library, &nvml->shutdown, "nvmlShutdown", NULL);
	find(library, &nvml->device_count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
	find(library, &nvml->device_by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
	find(library, &nvml->device_name, "nvmlDeviceGetName", NULL);
	find(library, &nvml->device_uuid, "nvmlDeviceGetUUID", NULL);
	find(library, &nvml->device_pci, "nvmlDeviceGetPciInfo_v3", NULL);
	find(library, &nvml->driver_version, "nvmlSystemGetDriverVersion", NULL);
	find(library, &nvml->clock, "nvmlDeviceGetClockInfo", NULL);
	find(library, &nvml->max_clock, "nvmlDeviceGetMaxClockInfo", NULL);
	find(library, &nvml->power, "nvmlDeviceGetPowerUsage", NULL);
	find(library, &nvml->energy, "nvmlDeviceGetTotalEnergyConsumption", NULL);
	find(library, &nvml->temperature, "nvmlDeviceGetTemperature", NULL);
	find(library, &nvml->utilization, "nvmlDeviceGetUtilizationRates", NULL);
	find(library, &nvml->throttle, "nvmlDeviceGetCurrentClocksEventReasons",
	     "nvmlDeviceGetCurrentClocksThrottleReasons"); /* until 2023 */
	find(library, &nvml->mig_mode, "nvmlDeviceGetMigMode", NULL);
	find(library, &nvml->compute_mode, "nvmlDeviceGetComputeMode", NULL);
	find(library, &nvml->processes, "nvmlDeviceGetComputeRunningProcesses_v3",
	     "nvmlDeviceGetComputeRunningProcesses_v2");
	find(library, &nvml->error, "nvmlErrorString", NULL);
	bool whole = nvml->init && nvml->shutdown && nvml->device_count && nvml->device_by_index && nvml->device_name &&
	             nvml->device_uuid;
	*code = whole ? nvml->init() : 0;
	if (whole && *code == NVML_OK)
		return NVML_LOADED;
	dlclose(library);
	nvml->library = NULL;
	return NVML_NOT_USABLE;
}

void nvml_close(struct nvml *nvml)
{
	nvml->shutdown();
	dlclose(nvml->library);
	*nvml = (struct nvml){0};
}

/* ---- clocks and power ---- */

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

/* ---- energy ---- */

enum {
	EVERY_NS = 20000000,
	MOVES = 15,    /* samples in which a counter moves, with room */
	SPARING = 200, /* times as long as a look takes nobody looks: the driver holds up the program meanwhile */
	ENDS = 10      /* times the distance of two looks: a shorter window is mostly its two ends */
};

struct counter {
	nvml_device device;
	char uuid[48];
	int64_t flaw; /* ENERGY_…; 0: none */
	struct energy_value *list;
	size_t n, room;
};

struct energy {
	struct nvml nvml;
	struct counter counter[GPU_STATE_GPUS_MAX];
	uint32_t n;
	struct arena arena;  /* the thread's, until it has ended */
	struct arena *owner; /* … then this one's */
	pthread_t thread;
	atomic_int left; /* samples still to be made; < 0: no end is known */
	int64_t apart;   /* ns between two looks, at most: the thread's, until it has ended */
};

static void sample(struct energy *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		struct counter *c = &e->counter[i];
		unsigned long long mj = 0;
		if (c->flaw)
			continue;
		int64_t time = proc_now_ns();
		if (e->nvml.energy(c->device, &mj) != NVML_OK || (c->n && (double)mj < c->list[c->n - 1].mj)) {
			c->flaw = ENERGY_NO_COUNTER;
			continue;
		}
		if (c->n && (double)mj == c->list[c->n - 1].mj)
			continue;
		LIST_ADD(&e->arena, c->list, c->n, c->room, (struct energy_value){time, (double)mj});
	}
}

static void *run(void *energy)
{
	struct energy *e = energy;
	const struct timespec wait = {0, EVERY_NS};
	while (atomic_load(&e->left)) {
		const int64_t begin = proc_now_ns();
		sample(e);
		const int64_t took = proc_now_ns() - begin,
			      apart = took * SPARING > EVERY_NS ? took * SPARING : EVERY_NS;
		e->apart = apart > e->apart ? apart : e->apart;
		if (atomic_load(&e->left) > 0)
			atomic_fetch_sub(&e->left, 1);
		do /* nobody is held up once the program has ended */
			nanosleep(&wait, NULL);
		while (atomic_load(&e->left) < 0 && proc_now_ns() - begin < apart);
	}
	return NULL;
}

static bool is_used(const struct nvml *nvml, nvml_device device)
{
	unsigned count = 0;
	int code = nvml->processes ? nvml->processes(device, &count, NULL) : -1;
	return (code == NVML_OK || code == NVML_INSUFFICIENT_SIZE) && count > 0;
}

static void find_counter(struct energy *e, unsigned index)
{
	struct counter *c = &e->counter[e->n];
	unsigned mig = 0, pending = 0;
	char uuid[80] = "";
	if (e->nvml.device_by_index(index, &c->device) != NVML_OK)
		return;
	if (e->nvml.device_uuid(c->device, uuid, sizeof uuid - 1) != NVML_OK || strpbrk(uuid, " ="))
		return;
	gpu_text(c->uuid, sizeof c->uuid, uuid, strlen(uuid));
	if (!e->nvml.energy)
		c->flaw = ENERGY_NO_COUNTER;
	else if (e->nvml.mig_mode && e->nvml.mig_mode(c->device, &mig, &pending) == NVML_OK && mig)
		c->flaw = ENERGY_MIG;
	else if (is_used(&e->nvml, c->device))
		c->flaw = ENERGY_SHARED;
	e->n++;
}

struct energy *energy_begin(const char *library, struct arena *arena)
{
	struct energy *e = ARENA_NEW(arena, 1, struct energy);
	unsigned count = 0;
	int code;
	if (nvml_open(&e->nvml, library, &code) != NVML_LOADED)
		return NULL;
	if (e->nvml.device_count(&count) != NVML_OK)
		count = 0;
	for (unsigned i = 0; i < count && e->n < GPU_STATE_GPUS_MAX; i++)
		find_counter(e, i);
	e->owner = arena;
	atomic_store(&e->left, -1);
	if (!pthread_create(&e->thread, NULL, run, e))
		return e;
	nvml_close(&e->nvml);
	return NULL;
}

void energy_end(struct energy *e, int64_t ran)
{
	if (!e)
		return;
	atomic_store(&e->left, ran >= ENERGY_LEAST_NS ? MOVES : 0);
	pthread_join(e->thread, NULL);
	arena_adopt(e->owner, &e->arena);
	for (uint32_t i = 0; i < e->n; i++) /* somebody else's came meanwhile */
		if (!e->counter[i].flaw && is_used(&e->nvml, e->counter[i].device))
			e->counter[i].flaw = ENERGY_SHARED;
	nvml_close(&e->nvml);
}

double energy_at(const struct energy_value *list, size_t n, int64_t time)
{
	size_t at = 0;
	SEARCH(at, n, list[at].time <= time);
	if (at == 0 || at == n)
		return list[at ? n - 1 : 0].mj;
	const struct energy_value *a = &list[at - 1], *b = &list[at];
	return a->mj + (b->mj - a->mj) * (double)(time - a->time) / (double)(b->time - a->time);
}

const char *energy_text(const struct energy *e, int64_t from, int64_t to, struct arena *arena)
{
	const char *text = "";
	for (uint32_t i = 0; e && i < e->n; i++) {
		const struct counter *c = &e->counter[i];
		int64_t mj = c->flaw ? c->flaw : !c->n ? ENERGY_NO_COUNTER : ENERGY_SHORT;
		if (mj == ENERGY_SHORT && to - from >= ENERGY_LEAST_NS && to - from >= ENDS * e->apart)
			mj = (int64_t)(energy_at(c->list, c->n, to) - energy_at(c->list, c->n, from));
		text = arena_format(arena, "%s%s%s=%lld", text, *text ? " " : "", c->uuid, (long long)mj);
	}
	return *text ? text : NULL;
}
