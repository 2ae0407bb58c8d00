#include "side/side.h"

#include "base/keymap.h"
#include "base/parallel.h"
#include "charge/comm.h"
#include "run/run.h"
#include "side/recording.h"
#include "side/side_parts.h"
#include "side/side_rows.h"

#include <malloc.h>
#include <string.h>

/* The same device in all runs of a side. */

/* Who a device is, in whichever run: process ids are others in every run, and the order of devices in a file follows
 * them. */
struct identity {
	int32_t rank;     /* -1: not known */
	uint32_t process; /* place among the processes with devices that have the same rank */
	uint32_t ordinal;
};

static struct identity identity_of(const struct run *run, uint32_t at, const uint32_t *place)
{
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->charge->devices[at].device];
	return (struct identity){t->processes[device->process].rank, place[device->process], device->ordinal};
}

/* By process, its place among those with devices that have the same rank. */
static uint32_t *places_of(const struct trace *t, struct arena *arena)
{
	uint32_t *place = ARENA_NEW(arena, t->n_processes, uint32_t), *n = ARENA_NEW(arena, t->n_processes, uint32_t);
	bool *uses_devices = ARENA_NEW(arena, t->n_processes, bool);
	struct keymap ranks;
	keymap_init(&ranks, arena);
	for (uint32_t d = 0; d < t->n_devices; d++)
		uses_devices[t->devices[d].process] = true;
	for (uint32_t p = 0; p < t->n_processes; p++)
		if (uses_devices[p])
			place[p] = n[keymap_add(&ranks, (uint32_t)t->processes[p].rank)]++;
	return place;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->rank == b->rank && a->process == b->process && a->ordinal == b->ordinal;
}

/* Which device of a run is which of every other run: the same rank (or, where ranks are not known, the process in the
 * same place among those with devices), the same place among that rank's processes, the same ordinal. Fills `place` and
 * `device_at` of the runs; returns how many devices the side has. In the order of the first run, and behind those what
 * later runs have more. */
static uint32_t places_find(struct run *runs, size_t n)
{
	ARENA_LOCAL(scratch);
	uint32_t n_places = 0, room = 0;
	for (size_t r = 0; r < n; r++)
		room += runs[r].charge->n_devices;
	struct identity *known = ARENA_NEW(&scratch, room, struct identity);
	for (size_t r = 0; r < n; r++) {
		struct run *run = &runs[r];
		run->charge->place = ARENA_NEW(run->arena, run->charge->n_devices, uint32_t);
		const uint32_t *places = places_of(run->trace, &scratch);
		for (uint32_t d = 0; d < run->charge->n_devices; d++) {
			struct identity id = identity_of(run, d, places);
			/* mostly in the same place as in the run before */
			uint32_t place = d < n_places && is_same(&known[d], &id) ? d : 0;
			while (place < n_places && !is_same(&known[place], &id))
				place++;
			if (place == n_places)
				known[n_places++] = id;
			run->charge->place[d] = place;
		}
	}
	for (size_t r = 0; r < n; r++) {
		struct run *run = &runs[r];
		run->charge->device_at = ARENA_NEW(run->arena, n_places, uint32_t);
		for (uint32_t p = 0; p < n_places; p++)
			run->charge->device_at[p] = TRACE_NONE;
		for (uint32_t d = 0; d < run->charge->n_devices; d++)
			run->charge->device_at[run->charge->place[d]] = d;
	}
	return n_places;
}

/* What ranks wait for each other, by run; bubbles are idle time from then on. */
static const struct waiting *find_waiting(struct run *runs, size_t n, uint32_t n_devices, struct arena *work)
{
	struct waiting *waiting = ARENA_NEW(work, n, struct waiting);
	for (size_t r = 0; r < n && n_devices > 1; r++) {
		parallel_alone_begin();
		malloc_trim(0); /* what ranks were gone through in, in pieces … */
		waiting_find(&runs[r], work, &waiting[r]);
		malloc_trim(0); /* … and what they said of their waiting */
		parallel_alone_end();
		bubbles_charge(&runs[r], &waiting[r]);
	}
	return waiting;
}

static bool begins_one_of(const char *text, const char *const *list)
{
	while (*list && strncmp(text, *list, strlen(*list)) != 0)
		list++;
	return *list != NULL;
}

/* Profilers of AMD's, Intel's and Moore Threads' GPUs name them, or calls hip…, ur…, musa… */
static bool is_amd(const struct run *run, const struct side *side)
{
	static const char *const gpus[] = {"AMD", "Intel", "MTT", NULL};
	static const char *const calls[] = {"hip", "ur", "pi", "ze", "musa", NULL};
	const struct trace *t = run->trace;
	bool amd = false;
	for (uint32_t g = 0; g < t->n_gpus && !amd; g++)
		amd = begins_one_of(names_text(t->names, t->gpus[g].name), gpus);
	for (size_t i = 0; i < side->n_api && !amd; i++)
		amd = begins_one_of(names_text(t->names, side->api[i].name), calls);
	return amd;
}

static struct run_table *tables_of(const struct run *runs, size_t n, const char *const *files, struct arena *arena)
{
	struct run_table *list = ARENA_NEW(arena, n, struct run_table);
	for (size_t r = 0; r < n; r++)
		list[r] = run_table_of(&runs[r], files[r], arena);
	return list;
}

/* Names of the phases that the timeline shows, each once, as they first occur. */
static uint32_t *order_of(const struct timeline *timeline, const struct names *names, struct arena *arena, uint32_t *n)
{
	ARENA_LOCAL(scratch);
	bool *seen = ARENA_NEW(&scratch, names->n, bool);
	uint32_t *order = ARENA_NEW(arena, timeline->n_phases, uint32_t);
	*n = 0;
	for (uint32_t i = 0; i < timeline->n_phases; i++)
		if (!seen[timeline->phases[i].name]) {
			seen[timeline->phases[i].name] = true;
			order[(*n)++] = timeline->phases[i].name;
		}
	return order;
}

/* The first run's, and of the lock what holds of all: what nobody looked for in one of them is not known. */
static struct trace_source source_of(const struct run *runs, size_t n)
{
	struct trace_source source = runs[0].trace->source;
	for (size_t r = 1; r < n; r++)
		source.has_lock = source.has_lock && runs[r].trace->source.has_lock;
	return source;
}

/* What other parts of the side have to say of its data. */
static struct quality_notes notes_of(const struct side *side, struct arena *arena)
{
	const bool steps = side->steps.found;
	return (struct quality_notes){.files = side->files.note,
	                              .left_out = side->timeline.left_out,
	                              .clocks = clocks_note(side->devices, side->n_devices, arena),
	                              .recording = recording_note(&side->recording, &side->budget, steps, arena),
	                              .ranges = recording_ranges_note(&side->recording, &side->budget, steps, arena)};
}

static bool lacks_devices(const struct run *runs, size_t n)
{
	for (size_t r = 0; r < n; r++)
		if (!runs[r].charge->n_devices)
			return true;
	return false;
}

static struct recording_cost recording_of(const struct side_rows *rows, const struct run *runs, size_t n,
                                          const struct budget *mean, struct arena *arena)
{
	struct recording_cost out = recording_end(rows->recording, mean, arena);
	out.ranges = recording_ranges(runs, n);
	return out;
}

struct side side_build(struct run *runs, size_t n, const struct side_words *words, struct arena *arena,
                       struct side_facts *facts)
{
	struct arena work = {0};
	struct side out = {.label = words->label, .name = words->name, .files = words->files};
	*facts = (struct side_facts){.n_runs = n, .rows = runs};
	periods_build(runs, n, words->run_files, arena, &out);
	struct run *median = &runs[out.median_run];
	struct side_rows rows = rows_build(runs, n, &work, arena, &out, facts);
	if (lacks_devices(runs, n)) {
		arena_release(&work);
		return (struct side){.label = words->label};
	}
	out.n_devices = places_find(runs, n);
	const struct waiting *waiting = find_waiting(runs, n, out.n_devices, &work);
	budgets_build(runs, n, arena, &out, facts);
	facts->places = place_facts_build(runs, &out, facts, &rows.places, arena);
	out.memory = memory_build(runs, n);
	phases_end(&rows.phases, runs);
	loops_build(median, arena, &out);
	out.ranks = ranks_build(runs, waiting, &out, &facts->comm, arena);
	out.timeline = timeline_build(median, &out.ranks, arena);
	out.order = order_of(&out.timeline, runs[0].trace->names, arena, &out.n_order);
	out.recording = recording_of(&rows, runs, n, &out.budget, arena);
	arena_release(&work);
	facts->runs = tables_of(runs, n, words->run_files, arena);
	facts->timed = stopwatches_of(runs, n, out.steps.found, arena);
	facts->ranks_apart = contradictions_find(runs, words->run_files, n, arena);
	facts->amd = is_amd(runs, &out);
	out.source = source_of(runs, n);
	out.startup = startup_build(runs, n);
	out.overview = median->charge->overview;
	out.events = words->events ? events_build(median, arena) : NULL;
	const struct quality_notes notes = notes_of(&out, arena);
	out.quality = quality_build(runs, n, words->run_files, &notes, arena);
	return out;
}
