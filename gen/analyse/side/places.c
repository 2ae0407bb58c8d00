#include "analyse/side/places.h"

/* Who a device is, in whichever run: process ids are others in every run, and the order of devices in a file follows
 * them. */
struct identity {
	int32_t rank;     /* -1: not known */
	uint32_t process; /* place among the processes with devices that have the same rank */
	uint32_t ordinal;
};

static struct identity identity_of(const struct run *run, uint32_t at, const bool *uses_devices)
{
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->devices[at].device];
	struct identity id = {t->processes[device->process].rank, 0, device->ordinal};
	for (uint32_t p = 0; p < device->process; p++)
		id.process += uses_devices[p] && t->processes[p].rank == id.rank;
	return id;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->rank == b->rank && a->process == b->process && a->ordinal == b->ordinal;
}

uint32_t places_find(struct run *runs, size_t n)
{
	struct arena scratch = {0};
	uint32_t n_places = 0, room = 0;
	for (size_t r = 0; r < n; r++)
		room += runs[r].n_devices;
	struct identity *known = ARENA_NEW(&scratch, room, struct identity);
	for (size_t r = 0; r < n; r++) {
		struct run *run = &runs[r];
		run->place = ARENA_NEW(run->arena, run->n_devices, uint32_t);
		bool *uses_devices = ARENA_NEW(&scratch, run->trace->n_processes, bool);
		for (uint32_t d = 0; d < run->trace->n_devices; d++)
			uses_devices[run->trace->devices[d].process] = true;
		for (uint32_t d = 0; d < run->n_devices; d++) {
			struct identity id = identity_of(run, d, uses_devices);
			/* mostly in the same place as in the run before */
			uint32_t place = d < n_places && is_same(&known[d], &id) ? d : 0;
			while (place < n_places && !is_same(&known[place], &id))
				place++;
			if (place == n_places)
				known[n_places++] = id;
			run->place[d] = place;
		}
	}
	for (size_t r = 0; r < n; r++) {
		struct run *run = &runs[r];
		run->device_at = ARENA_NEW(run->arena, n_places, uint32_t);
		for (uint32_t p = 0; p < n_places; p++)
			run->device_at[p] = TRACE_NONE;
		for (uint32_t d = 0; d < run->n_devices; d++)
			run->device_at[run->place[d]] = d;
	}
	arena_release(&scratch);
	return n_places;
}
