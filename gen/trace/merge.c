#include "base/sort.h"
#include "trace/files.h"

#include "trace/again.h"
#include "trace/samples.h"

#include <string.h>

/* Appends n items to a list of *count. */
static void *join_lists(struct arena *arena, void *list, uint32_t *count, const void *more, uint32_t n, size_t size)
{
	if (n) {
		list = arena_extend(arena, list, *count, (size_t)*count + n, size);
		memcpy((char *)list + *count * size, more, n * size);
		*count += n;
	}
	return list;
}

/* The same where there is room (make_room). */
static void append(void *list, uint32_t *count, const void *more, uint32_t n, size_t size)
{
	if (n)
		memcpy((char *)list + *count * size, more, n * size);
	*count += n;
}

/* The number of each GPU of `from` in `t`; those that are new there are added. */
static const uint32_t *join_gpus(struct trace *t, const struct trace *from, struct arena *scratch)
{
	uint32_t *number = ARENA_NEW(scratch, from->n_gpus, uint32_t), before = t->n_gpus;
	for (uint32_t i = 0; i < from->n_gpus; i++) {
		uint32_t g = 0;
		while (g < before && !(from->gpus[i].id && t->gpus[g].id == from->gpus[i].id))
			g++;
		if (g == before) {
			g = t->n_gpus;
			append(t->gpus, &t->n_gpus, &from->gpus[i], 1, sizeof *t->gpus);
		}
		number[i] = g;
	}
	return number;
}

static const uint32_t *counting_from(uint32_t first, uint32_t n, struct arena *scratch)
{
	uint32_t *number = ARENA_NEW(scratch, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		number[i] = first + i;
	return number;
}

/* ---- what outlives a part ---- */

static const char *keep_text(struct arena *arena, const char *text)
{
	return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

static void keep_metrics(struct trace_metrics *m, struct arena *arena)
{
	m->time = arena_keep(arena, m->time, m->n, sizeof *m->time);
	for (int k = 0; k < METRIC_COUNT; k++)
		m->value[k] = m->value[k] ? arena_keep(arena, m->value[k], m->n, 1) : NULL;
}

/* Every file's own: of a GPU that several sampled, each says the same. */
static void join_metrics(struct trace *t, const struct trace *from, const struct time_map *map, const uint32_t *gpu,
                         struct arena *arena)
{
	for (uint32_t i = 0; i < from->n_metrics; i++) {
		struct trace_metrics *m = &from->metrics[i];
		for (size_t k = 0; k < m->n; k++)
			m->time[k] = time_map_of(map, m->time[k]);
		m->gpu = m->gpu == TRACE_NONE ? TRACE_NONE : gpu[m->gpu];
		keep_metrics(m, arena);
	}
	t->metrics = join_lists(arena, t->metrics, &t->n_metrics, from->metrics, from->n_metrics, sizeof *t->metrics);
}

/* Processes, threads and devices of `from` behind those of `t`, its rows numbered accordingly. */
static void join_things(struct trace *t, struct trace *from, const struct time_map *map, struct arena *arena,
                        struct arena *scratch)
{
	uint32_t processes = t->n_processes;
	const uint32_t *thread = counting_from(t->n_threads, from->n_threads, scratch);
	const uint32_t *device = counting_from(t->n_devices, from->n_devices, scratch);
	const uint32_t *gpu = join_gpus(t, from, scratch);
	for (uint32_t i = 0; i < from->n_threads; i++)
		from->threads[i].process += processes;
	for (uint32_t i = 0; i < from->n_devices; i++) {
		from->devices[i].process += processes;
		if (from->devices[i].gpu != TRACE_NONE)
			from->devices[i].gpu = gpu[from->devices[i].gpu];
	}
	for (size_t i = 0; i < from->n_gpu_samples; i++)
		from->gpu_samples[i].gpu = gpu[from->gpu_samples[i].gpu];
	join_metrics(t, from, map, gpu, arena);
	append(t->processes, &t->n_processes, from->processes, from->n_processes, sizeof *t->processes);
	append(t->threads, &t->n_threads, from->threads, from->n_threads, sizeof *t->threads);
	append(t->devices, &t->n_devices, from->devices, from->n_devices, sizeof *t->devices);
	const uint32_t *frame = stacks_join(&t->stacks, &from->stacks, arena, scratch);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(from, rows, COLUMN_FRAME, frame);
		columns_renumber(from, rows, COLUMN_THREAD, thread);
		columns_renumber(from, rows, COLUMN_DEVICE, device);
	}
}

static void join_dropped(struct trace *t, const struct trace *from, struct arena *arena)
{
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		t->rows[kind].read += from->rows[kind].read;
		t->rows[kind].dropped += from->rows[kind].dropped;
	}
	for (uint32_t i = 0; i < from->n_dropped; i++) {
		uint32_t k = 0;
		while (k < t->n_dropped && (strcmp(t->dropped[k].where, from->dropped[i].where) != 0 ||
		                            strcmp(t->dropped[k].reason, from->dropped[i].reason) != 0))
			k++;
		if (k < t->n_dropped) {
			t->dropped[k].rows += from->dropped[i].rows;
			continue;
		}
		struct trace_dropped row = from->dropped[i];
		row.where = keep_text(arena, row.where);
		row.reason = keep_text(arena, row.reason);
		t->dropped = join_lists(arena, t->dropped, &t->n_dropped, &row, 1, sizeof *t->dropped);
	}
}

static void join_diagnostics(struct trace *t, const struct trace *from, struct arena *arena)
{
	for (uint32_t i = 0; i < from->n_diagnostics; i++) {
		uint32_t k = 0;
		while (k < t->n_diagnostics && t->diagnostics[k].text != from->diagnostics[i].text)
			k++;
		if (k == t->n_diagnostics)
			t->diagnostics = join_lists(arena, t->diagnostics, &t->n_diagnostics, &from->diagnostics[i], 1,
			                            sizeof *t->diagnostics);
	}
}

SORT_ORDER(compare_samples, struct trace_gpu_sample, ASCENDING(x->gpu, y->gpu) ?: ASCENDING(x->time, y->time))

static void join_samples(struct trace *t, const struct trace *from, const struct time_map *map, struct arena *arena)
{
	size_t n = t->n_gpu_samples + from->n_gpu_samples;
	if (!from->n_gpu_samples)
		return;
	t->gpu_samples = arena_grow(arena, t->gpu_samples, t->n_gpu_samples, n, sizeof *t->gpu_samples);
	for (size_t i = 0; i < from->n_gpu_samples; i++) {
		t->gpu_samples[t->n_gpu_samples + i] = from->gpu_samples[i];
		t->gpu_samples[t->n_gpu_samples + i].time = time_map_of(map, from->gpu_samples[i].time);
	}
	t->n_gpu_samples = n;
	SORT(t->gpu_samples, n, compare_samples);
}

/* The files are of one run, so their timed runs are the same ones, if more than one file has them. */
static void join_stopwatch(struct trace *t, const struct trace *from, struct arena *arena)
{
	if (t->n_stopwatch || !from->n_stopwatch)
		return;
	t->stopwatch = arena_keep(arena, from->stopwatch, from->n_stopwatch, sizeof *t->stopwatch);
	t->n_stopwatch = from->n_stopwatch;
	for (uint32_t i = 0; i < t->n_stopwatch; i++) {
		t->stopwatch[i].step = keep_text(arena, t->stopwatch[i].step);
		t->stopwatch[i].unused = keep_text(arena, t->stopwatch[i].unused);
	}
}

/* What the second file says about where the run comes from. */
static void join_source(struct trace_source *to, const struct trace_source *from, int64_t offset, struct arena *arena)
{
	to->lost += from->lost;
	to->lost_events += from->lost_events;
	to->others = from->others > to->others ? from->others : to->others;
	to->ranges_ns = from->ranges_ns > to->ranges_ns ? from->ranges_ns : to->ranges_ns;
	to->has_calls = to->has_calls || from->has_calls;
	to->has_ranges = to->has_ranges || from->has_ranges;
	to->has_os_calls = to->has_os_calls || from->has_os_calls;
	to->has_overheads = to->has_overheads || from->has_overheads;
	to->has_lock = to->has_lock && from->has_lock;
	if (!*to->incomplete)
		to->incomplete = keep_text(arena, from->incomplete);
	if (to->started == TRACE_NO_TIME && from->started != TRACE_NO_TIME)
		to->started = from->started - offset;
	if (to->began == TRACE_NO_TIME || from->began == TRACE_NO_TIME)
		to->began = TRACE_NO_TIME;
	else if (from->began < to->began)
		to->began = from->began;
	if (to->host != from->host)
		to->host = 0;
	if (to->job != from->job)
		to->job = 0;
	if (to->graphs == GRAPHS_NONE)
		to->graphs = from->graphs;
	to->rank = -1;
	to->ranks = from->ranks > to->ranks ? from->ranks : to->ranks;
}

static void map_times(struct trace *t, const struct time_map *map)
{
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		columns_map_times(t, rows, map);
	for (size_t i = 0; i < t->n_gpu_samples; i++)
		t->gpu_samples[i].time = time_map_of(map, t->gpu_samples[i].time);
	for (uint32_t i = 0; i < t->n_metrics; i++)
		for (size_t k = 0; k < t->metrics[i].n; k++)
			t->metrics[i].time[k] = time_map_of(map, t->metrics[i].time[k]);
	t->ranges.last_time = time_map_of(map, t->ranges.last_time);
	if (t->source.started != TRACE_NO_TIME)
		t->source.started -= map->offset;
	if (t->source.began != TRACE_NO_TIME)
		t->source.began = time_map_of(map, t->source.began);
}

/* Rows that are not held stay where they are. Before the lists of `from` are joined. */
static void join_again(struct trace *t, const struct trace *from, const struct time_map *map, struct arena *arena)
{
	if (!from->again)
		return;
	struct trace_again part = *from->again;
	const struct comm_kernels *before = &t->again[t->n_again - 1].comm;
	part.comm.first = before->first + before->n;
	part.comm.bytes = arena_keep(arena, part.comm.bytes, part.comm.n_bytes, 1);
	part.comm.kinds = arena_keep(arena, part.comm.kinds, part.comm.n_kinds, sizeof *part.comm.kinds);
	part.kept = arena_keep(arena, part.kept, part.n_kept, 1);
	part.ids = arena_keep(arena, part.ids, part.n_ids, sizeof *part.ids);
	part.told = arena_keep(arena, part.told, part.n_ids, sizeof *part.told);
	part.ranges = arena_keep(arena, part.ranges, part.n_ranges, sizeof *part.ranges);
	part.map = *map;
	part.first_process = t->n_processes;
	part.first_thread = t->n_threads;
	part.first_device = t->n_devices;
	append(t->again, &t->n_again, &part, 1, sizeof part);
}

/* Each list and kind of rows gets its room once: to grow with every file would move what there is as often. */
static void make_room(struct trace *t, const struct merge_part *parts, size_t n, size_t room[COLUMNS_OF],
                      struct arena *arena)
{
	size_t processes = 0, threads = 0, devices = 0, gpus = 0;
	for (size_t i = 0; i < n; i++) {
		processes += parts[i].trace->n_processes;
		threads += parts[i].trace->n_threads;
		devices += parts[i].trace->n_devices;
		gpus += parts[i].trace->n_gpus;
	}
	t->processes = arena_extend(arena, t->processes, t->n_processes, processes, sizeof *t->processes);
	t->threads = arena_extend(arena, t->threads, t->n_threads, threads, sizeof *t->threads);
	t->devices = arena_extend(arena, t->devices, t->n_devices, devices, sizeof *t->devices);
	t->gpus = arena_extend(arena, t->gpus, t->n_gpus, gpus, sizeof *t->gpus);
	if (t->again)
		t->again = arena_extend(arena, t->again, t->n_again, n, sizeof *t->again);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		for (size_t i = 0; i < n; i++)
			room[rows] += *columns_rows(parts[i].trace, rows);
		columns_room(t, rows, room[rows], arena);
	}
}

void trace_merge(const struct merge_part *parts, size_t n, struct trace *out, struct arena *arena)
{
	size_t room[COLUMNS_OF] = {0};
	*out = *parts[0].trace;
	if (parts[0].memory)
		arena_adopt(arena, parts[0].memory);
	make_room(out, parts, n, room, arena);
	map_times(out, &parts[0].map);
	if (out->again)
		out->again->map = parts[0].map;
	for (size_t i = 1; i < n; i++) {
		ARENA_LOCAL(scratch);
		struct trace *from = parts[i].trace;
		join_again(out, from, &parts[i].map, arena);
		join_things(out, from, &parts[i].map, arena, &scratch);
		for (int rows = 0; rows < COLUMNS_OF; rows++) {
			columns_map_times(from, rows, &parts[i].map);
			columns_append(out, from, rows, room[rows], arena);
		}
		int64_t last = time_map_of(&parts[i].map, from->ranges.last_time);
		if ((from->ranges.n || (from->again && from->again->n_ranges)) && last > out->ranges.last_time)
			out->ranges.last_time = last;
		join_dropped(out, from, arena);
		join_diagnostics(out, from, arena);
		join_samples(out, from, &parts[i].map, arena);
		join_stopwatch(out, from, arena);
		if (from->source.began != TRACE_NO_TIME)
			from->source.began = time_map_of(&parts[i].map, from->source.began);
		join_source(&out->source, &from->source, parts[i].map.offset, arena);
		if (parts[i].memory)
			arena_release(parts[i].memory);
	}
	(out->again ? trace_order : trace_link)(out, arena);
}
