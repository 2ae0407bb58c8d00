/* The tables of events, which are nearly all of a profile. Where there are processors for it they are read side by
 * side, each group by a reader with a connection, names, memory and numbers of its own; joined in the order in which
 * one reader would have met them, the numbers are those that it would have given. */
#include "base/parallel.h"
#include "read/nsys.h"

static int read_calls(struct nsys *r)
{
	return nsys_read_calls(r);
}

static int read_gpu(struct nsys *r)
{
	return nsys_read_ops(r);
}

static int read_host(struct nsys *r)
{
	if (nsys_read_ranges(r) != 0 || nsys_read_os_calls(r) != 0)
		return -1;
	return nsys_read_overheads(r);
}

static int (*const read_group[])(struct nsys *) = {read_calls, read_gpu, read_host};
enum { GROUPS = sizeof read_group / sizeof *read_group };

/* One group's reader; that of the first is the profile's own. */
struct part {
	struct nsys *reader, own;
	struct names names;
	struct arena arena;
	struct trace trace;
	struct err err;
	int result;
};

static int open_part(struct part *p, const struct nsys *r, struct source *source)
{
	names_init(&p->names, &p->arena);
	p->trace.names = &p->names;
	p->reader = &p->own;
	p->own = (struct nsys){.path = r->path,
	                       .wish = r->wish,
	                       .names = &p->names,
	                       .arena = &p->arena,
	                       .trace = &p->trace,
	                       .err = &p->err};
	nsys_init_numbers(&p->own);
	if (db_open(&p->own.db, r->path, source->unpacked, &p->arena, &p->err) != 0)
		return -1;
	db_meter(&p->own.db, &source->reading);
	return 0;
}

static void read_part(void *context, size_t i)
{
	struct part *p = (struct part *)context + i;
	p->result = read_group[i](p->reader);
}

/* ---- joining ---- */

static void renumber(uint32_t *column, size_t n, const uint32_t *number)
{
	for (size_t i = 0; i < n && column; i++)
		column[i] = number[column[i]];
}

static void join_dropped(struct nsys *r, const struct trace *from)
{
	struct trace *t = r->trace;
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		t->rows[kind].read += from->rows[kind].read;
		t->rows[kind].dropped += from->rows[kind].dropped;
	}
	size_t n = (size_t)t->n_dropped + from->n_dropped;
	t->dropped = arena_grow(r->arena, t->dropped, t->n_dropped, n, sizeof *t->dropped);
	for (uint32_t i = 0; i < from->n_dropped; i++)
		t->dropped[t->n_dropped++] = from->dropped[i];
}

static void join(struct nsys *r, struct part *p)
{
	struct arena scratch = {0};
	struct nsys *from = p->reader;
	struct trace *t = from->trace;
	const uint32_t *names = names_merge(r->names, from->names, &scratch);
	uint32_t *string = ARENA_NEW(&scratch, from->strings.n, uint32_t);
	uint32_t *process = ARENA_NEW(&scratch, from->processes.n, uint32_t);
	uint32_t *thread = ARENA_NEW(&scratch, from->threads.n, uint32_t);
	uint32_t *device = ARENA_NEW(&scratch, from->devices.n, uint32_t);
	for (uint32_t i = 0; i < from->strings.n; i++)
		string[i] = nsys_join_string(r, from->strings.keys[i], names);
	for (uint32_t i = 0; i < from->processes.n; i++)
		process[i] = nsys_process(r, (int64_t)from->processes.keys[i]);
	for (uint32_t i = 0; i < from->threads.n; i++)
		thread[i] = nsys_thread(r, (int64_t)from->threads.keys[i]);
	for (uint32_t i = 0; i < from->devices.n; i++) {
		uint64_t key = from->devices.keys[i];
		device[i] = keymap_add(&r->devices, (uint64_t)process[key >> 32] << 32 | (uint32_t)key);
	}
	renumber(t->ops.name, t->ops.n, string);
	renumber(t->ops.base_name, t->ops.n, string);
	renumber(t->ops.mangled_name, t->ops.n, string);
	renumber(t->ops.device, t->ops.n, device);
	renumber(t->ranges.name, t->ranges.n, string);
	renumber(t->ranges.thread, t->ranges.n, thread);
	renumber(t->os_calls.name, t->os_calls.n, string);
	renumber(t->os_calls.thread, t->os_calls.n, thread);
	renumber(t->overheads.name, t->overheads.n, string);
	renumber(t->overheads.thread, t->overheads.n, thread);
	for (uint32_t i = 0; i < from->domain_room; i++)
		if (from->domain_string[i] != TRACE_NONE)
			from->domain_string[i] = string[from->domain_string[i]];
	for (uint32_t i = 0; i < from->thread_room; i++)
		if (from->thread_string[i] != TRACE_NONE)
			nsys_name_thread(r, thread[i], string[from->thread_string[i]]);
	nsys_seen(r, from->last_time);
	join_dropped(r, t);
	arena_release(&scratch);
}

static void join_all(struct nsys *r, struct part *parts)
{
	const struct part *gpu = &parts[1], *host = &parts[2];
	for (int i = 1; i < GROUPS; i++)
		join(r, &parts[i]);
	r->trace->ops = gpu->trace.ops;
	r->trace->ranges = host->trace.ranges;
	r->trace->os_calls = host->trace.os_calls;
	r->trace->overheads = host->trace.overheads;
	r->domain_string = host->own.domain_string;
	r->domain_room = host->own.domain_room;
}

static int read_side_by_side(struct nsys *r, struct source *source)
{
	struct part parts[GROUPS] = {{.reader = r}};
	int result = 0;
	for (int i = 1; i < GROUPS; i++)
		parts[i].result = open_part(&parts[i], r, source);
	if (parts[1].result == 0 && parts[2].result == 0)
		parallel_each(GROUPS, read_part, parts);
	for (int i = 0; i < GROUPS && result == 0; i++) {
		result = parts[i].result;
		if (result != 0 && i > 0)
			*r->err = parts[i].err;
	}
	if (result == 0)
		join_all(r, parts);
	for (int i = 1; i < GROUPS; i++) {
		db_close(&parts[i].own.db);
		arena_adopt(r->arena, &parts[i].arena);
	}
	return result;
}

int nsys_read_events(struct nsys *r, struct source *source)
{
	if (parallel_width() > 1)
		return read_side_by_side(r, source);
	for (int i = 0; i < GROUPS; i++)
		if (read_group[i](r) != 0)
			return -1;
	return 0;
}
