#include "read/nsys.h"

#include <string.h>

static const uint64_t PROCESS_MASK = ~(uint64_t)0xFFFFFF; /* a globalTid without its thread is a globalPid */

uint32_t nsys_process(struct nsys *r, int64_t global_pid)
{
	struct trace *t = r->trace;
	uint64_t global = (uint64_t)global_pid & PROCESS_MASK;
	uint32_t known = r->processes.n, room = r->processes.room, p = keymap_add(&r->processes, global);
	if (p == known) {
		if (r->processes.room > room)
			t->processes =
				arena_grow(r->arena, t->processes, room, r->processes.room, sizeof *t->processes);
		t->processes[p] =
			(struct trace_process){.global = global, .pid = (int64_t)(global >> 24 & 0xFFFFFF), .rank = -1};
		t->n_processes = p + 1;
	}
	return p;
}

uint32_t nsys_thread(struct nsys *r, int64_t global_tid)
{
	struct trace *t = r->trace;
	uint64_t global = (uint64_t)global_tid;
	uint32_t known = r->threads.n, room = r->threads.room, thread = keymap_add(&r->threads, global);
	if (thread == known) {
		if (r->threads.room > room)
			t->threads = arena_grow(r->arena, t->threads, room, r->threads.room, sizeof *t->threads);
		t->threads[thread] = (struct trace_thread){.global = global,
		                                           .tid = (int64_t)(global & ~PROCESS_MASK),
		                                           .process = nsys_process(r, global_tid)};
		t->n_threads = thread + 1;
	}
	return thread;
}

bool nsys_room(size_t *room, size_t n)
{
	if (n <= *room)
		return false;
	size_t more = *room + (*room < 4096 ? *room / 2 : *room / 8);
	*room = n > more ? n : more;
	if (*room < 64)
		*room = 64;
	return true;
}

void nsys_keep(struct nsys *r, enum row_kind kind, size_t n)
{
	r->trace->rows[kind].read += (int64_t)n;
}

void nsys_drop(struct nsys *r, const struct scan *scan, enum row_kind kind, const char *reason)
{
	struct trace *t = r->trace;
	uint32_t i = 0;
	t->rows[kind].read++;
	t->rows[kind].dropped++;
	while (i < t->n_dropped &&
	       (strcmp(t->dropped[i].table, scan->table) != 0 || strcmp(t->dropped[i].reason, reason) != 0))
		i++;
	if (i == t->n_dropped) {
		t->dropped = arena_grow(r->arena, t->dropped, i, (size_t)i + 1, sizeof *t->dropped);
		t->dropped[i] = (struct trace_dropped){.kind = kind, .table = scan->table, .reason = reason};
		t->n_dropped++;
	}
	t->dropped[i].rows++;
}

/* How graph launches were traced: what the capture's options say counts when there is a sign of graphs at all. */
static void tell_graph_mode(struct nsys *r)
{
	struct trace *t = r->trace;
	bool whole = false, nodes = false, launched = false;
	uint32_t looked_at = 0; /* rows of one name follow each other */
	for (size_t i = 0; i < t->ops.n; i++) {
		whole = whole || t->ops.kind[i] == OP_GRAPH;
		nodes = nodes || (t->ops.flags[i] & OPF_GRAPH_NODE);
	}
	for (size_t i = 0; i < t->calls.n && !launched; i++)
		if (t->calls.class[i] == CALL_LAUNCH && t->calls.name[i] != looked_at) {
			looked_at = t->calls.name[i];
			launched = strstr(names_text(t->names, looked_at), "GraphLaunch") != NULL;
		}
	if (whole || nodes || launched)
		t->source.graphs = r->stated_mode != GRAPHS_NONE ? r->stated_mode
		                   : whole                       ? GRAPHS_WHOLE
		                   : nodes                       ? GRAPHS_BY_NODE
		                                                 : GRAPHS_NONE;
}

/* Whether this is an export of nsys at all. */
static int check_kind(const struct nsys *r)
{
	static const char *const marks[] = {"StringIds",
	                                    "TARGET_INFO_SESSION_START_TIME",
	                                    "ThreadNames",
	                                    "CUPTI_ACTIVITY_KIND_RUNTIME",
	                                    "CUPTI_ACTIVITY_KIND_KERNEL",
	                                    "META_DATA_EXPORT"};
	int found = 0;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		found += db_table(&r->db, marks[i]) != NULL;
	if (found >= 2 || db_table(&r->db, "CUPTI_ACTIVITY_KIND_KERNEL"))
		return 0;
	return err_set(r->err,
	               "%s: is a SQLite database, but not one that nsys exported; make one with: nsys export --type "
	               "sqlite REPORT.nsys-rep",
	               r->path);
}

/* A profile in which nothing ran on a GPU cannot be judged; says what it does hold and what usually is wrong. */
static int check_contents(const struct nsys *r)
{
	const struct trace *t = r->trace;
	if (t->ops.n > 0 || r->wish->without_gpu)
		return 0;
	int64_t dropped = 0;
	for (uint32_t i = 0; i < t->n_dropped; i++)
		dropped += t->dropped[i].rows;
	const char *reason;
	if (dropped > 0)
		reason = "rows were dropped because they make no sense: the file is damaged or was changed";
	else if (t->calls.n > 0)
		reason = "CUDA calls were recorded, but nothing from the GPU: usual under WSL2, in virtual machines, "
			 "without permission to profile, or when the program was killed";
	else
		reason = "the program did not use CUDA, ran it in a process that was not traced, or CUDA was not among "
			 "the things to trace";
	return err_set(r->err,
	               "%s: holds no GPU work, so there is nothing to judge: %zu CUDA calls, %zu NVTX ranges, %zu OS "
	               "calls, %lld rows dropped; %s; capture again with: %s",
	               r->path, t->calls.n, t->ranges.n, t->os_calls.n, (long long)dropped, reason,
	               t->source.kind == SOURCE_GAPLINE ? "gapline capture -o FILE -- COMMAND"
	                                                : "nsys profile --trace=cuda,nvtx,osrt COMMAND");
}

static int read_tables(struct nsys *r, struct source *source)
{
	if (nsys_read_events(r, source) != 0 || nsys_read_thread_names(r) != 0 || nsys_read_slices(r) != 0)
		return -1;
	return nsys_read_strings(r);
}

void nsys_init_numbers(struct nsys *r)
{
	keymap_init(&r->strings, r->arena);
	keymap_init(&r->processes, r->arena);
	keymap_init(&r->threads, r->arena);
	keymap_init(&r->devices, r->arena);
	keymap_init(&r->domain_ids, r->arena);
	keymap_init(&r->domains, r->arena);
}

static void list_devices(struct nsys *r)
{
	struct trace *t = r->trace;
	t->n_devices = r->devices.n;
	t->devices = ARENA_NEW(r->arena, t->n_devices, struct trace_device);
	for (uint32_t i = 0; i < t->n_devices; i++)
		t->devices[i] = (struct trace_device){.process = (uint32_t)(r->devices.keys[i] >> 32),
		                                      .ordinal = (uint32_t)r->devices.keys[i],
		                                      .gpu = TRACE_NONE};
}

int nsys_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
              struct arena *arena, struct trace *trace, struct err *err)
{
	struct nsys r = {.path = path, .wish = wish, .names = names, .arena = arena, .trace = trace, .err = err};
	int result = -1;
	*trace = (struct trace){.names = names};
	trace->source = (struct trace_source){.kind = SOURCE_NSYS_SQLITE,
	                                      .collector = "nsys",
	                                      .exporter = "",
	                                      .schema = "",
	                                      .driver = "",
	                                      .cuda_driver = "",
	                                      .captured_by = "",
	                                      .cupti = "",
	                                      .traced = "",
	                                      .sampled_by = "",
	                                      .incomplete = "",
	                                      .started = TRACE_NO_TIME,
	                                      .rank = -1,
	                                      .ranks = -1};
	nsys_init_numbers(&r);
	if (db_open(&r.db, path, source->unpacked, arena, err) != 0)
		goto done;
	db_meter(&r.db, &source->reading);
	if (check_kind(&r) != 0 || nsys_read_source(&r) != 0 || read_tables(&r, source) != 0 || check_contents(&r) != 0)
		goto done;
	list_devices(&r);
	nsys_finish(&r);
	if (nsys_read_processes(&r) != 0 || nsys_read_ranks(&r) != 0 || nsys_read_gpus(&r) != 0 ||
	    nsys_read_diagnostics(&r) != 0 || nsys_read_gapline(&r) != 0 || nsys_read_unprofiled(&r) != 0)
		goto done;
	trace->source.has_calls = trace->calls.n > 0;
	trace->source.has_ranges = trace->ranges.n > 0;
	trace->source.has_os_calls = trace->os_calls.n > 0;
	trace->source.has_overheads = trace->overheads.n > 0;
	tell_graph_mode(&r);
	result = 0;
done:
	db_close(&r.db);
	return result;
}
