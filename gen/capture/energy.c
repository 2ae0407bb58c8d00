#include "capture/gpu.h"

#include "base/list.h"
#include "base/proc.h"
#include "base/search.h"
#include "trace/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

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
