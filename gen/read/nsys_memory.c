/* Device memory that processes had allocated: CUDA_GPU_MEMORY_USAGE_EVENTS, a row for each allocation and each free. */
#include "base/list.h"
#include "base/sort.h"
#include "read/nsys.h"
#include "trace/columns.h"

#include <string.h>

enum { FREED = 1 };
static const int64_t NO_CONTEXT = UINT32_MAX; /* of what belongs to the process: mapped memory, that of graphs */
static const int64_t BYTES_MOST = (int64_t)1 << 50, SUM_MOST = (int64_t)1 << 60; /* of a row, of all */

/* A row. Addresses are unique in a process, whatever its device (unified addressing). */
struct event {
	int64_t address, time, bytes;
	int64_t context, correlation; /* 0: not said */
	uint32_t process, device;     /* device: index into trace.devices, TRACE_NONE: none that ran anything */
	bool freed;
};

/* How much more or less is allocated from a time on. */
struct change {
	int64_t time, bytes, correlation;
	const struct event *of; /* what was allocated; NULL: not known */
	uint32_t device;
};

struct memory {
	struct nsys *r;
	struct arena scratch;
	struct event *events;
	size_t n, room;
	struct change *changes; /* two a row at most */
	size_t n_changes;
	int64_t *first;         /* by device: when its first allocation was; INT64_MAX: never */
	int64_t *unplaced;      /* by device: bytes without an address that are allocated */
	int64_t *kept, *newest; /* by device: the first context with memory that nothing frees, the last that allocates
	                         */
	bool *mapped, *freed;   /* by process: memory of no context was allocated, was freed */
	int64_t *began;         /* by process: when it initialised CUDA; INT64_MAX: not seen */
};

/* The process of a row. Where two have one number (of several machines' containers) nobody can tell. */
static uint32_t process_of(const struct trace *t, int64_t pid)
{
	uint32_t found = TRACE_NONE;
	for (uint32_t i = 0; i < t->n_processes; i++)
		if (t->processes[i].pid == pid) {
			if (found != TRACE_NONE)
				return TRACE_NONE;
			found = i;
		}
	return found;
}

static uint32_t device_of(const struct trace *t, uint32_t process, int64_t ordinal)
{
	for (uint32_t i = 0; i < t->n_devices; i++)
		if (t->devices[i].process == process && t->devices[i].ordinal == ordinal)
			return i;
	return TRACE_NONE;
}

/* The strongest reason stays. */
static void note(struct trace *t, uint32_t device, enum memory_known known)
{
	static const uint8_t strength[] = {
		[MEMORY_NOT_SEEN] = 0, [MEMORY_SEEN] = 1,     [MEMORY_NO_START] = 2, [MEMORY_NO_END] = 3,
		[MEMORY_EARLIER] = 4,  [MEMORY_NO_PLACE] = 5, [MEMORY_DAMAGED] = 6,
	};
	if (device != TRACE_NONE && strength[t->devices[device].memory] < strength[known])
		t->devices[device].memory = known;
}

static void note_all(struct trace *t, uint32_t process, enum memory_known known)
{
	for (uint32_t i = 0; i < t->n_devices; i++)
		if (process == TRACE_NONE || t->devices[i].process == process)
			note(t, i, known);
}

static void add_row(struct memory *m, const struct event *event, int64_t kind)
{
	struct trace *t = m->r->trace;
	if (kind == MEMORY_PAGEABLE || kind == MEMORY_PINNED)
		return;
	if (kind != MEMORY_DEVICE && kind != MEMORY_ARRAY && kind != MEMORY_DEVICE_STATIC) {
		/* managed memory has no place: whatever the process says of its devices may be more */
		note_all(t, event->process, MEMORY_NO_PLACE);
		return;
	}
	LIST_ADD(&m->scratch, m->events, m->n, m->room, *event);
}

static int read_rows(struct memory *m)
{
	enum { TIME, PROCESS, DEVICE, CONTEXT, ADDRESS, BYTES, KIND, TYPE, CORRELATION, N };
	static const char *const columns[] = {"start",        "globalPid", "deviceId", "contextId",
	                                      "address",      "bytes",     "memKind",  "memoryOperationType",
	                                      "correlationId"};
	struct trace *t = m->r->trace;
	struct scan s;
	scan_open(&s, &m->r->db, "CUDA_GPU_MEMORY_USAGE_EVENTS", columns, N);
	while (scan_row(&s)) {
		int64_t global = scan_int(&s, PROCESS), ordinal = scan_int(&s, DEVICE), kind = scan_int(&s, KIND);
		int64_t type = scan_int(&s, TYPE);
		struct event event = {.address = scan_int(&s, ADDRESS),
		                      .time = scan_int(&s, TIME),
		                      .bytes = scan_int(&s, BYTES),
		                      .context = scan_int_or(&s, CONTEXT, 0),
		                      .correlation = scan_int_or(&s, CORRELATION, 0),
		                      .freed = type == FREED};
		if (s.flaws || type < 0 || type > FREED || event.bytes < 0 || event.bytes > BYTES_MOST || kind < 0) {
			note_all(t, TRACE_NONE, MEMORY_DAMAGED);
			continue;
		}
		event.process = process_of(t, nsys_pid(global));
		if (event.process == TRACE_NONE)
			continue;
		event.device = device_of(t, event.process, ordinal);
		add_row(m, &event, kind);
	}
	return scan_close(&s);
}

SORT_ORDER(compare_events, struct event,
           ASCENDING(x->process, y->process) ?: ASCENDING(x->address, y->address) ?: ASCENDING(x->time, y->time)
                   ?: ASCENDING(x->correlation, y->correlation) ?: ASCENDING(x->freed, y->freed)
                   ?: ASCENDING(x->context, y->context) ?: ASCENDING(x->device, y->device)
                   ?: ASCENDING(x->bytes, y->bytes))

static void add_change(struct memory *m, uint32_t device, const struct event *at, const struct event *of, int64_t bytes)
{
	if (device != TRACE_NONE)
		m->changes[m->n_changes++] = (struct change){
			.time = at->time, .bytes = bytes, .correlation = at->correlation, .of = of, .device = device};
}

/* Whether a row says once more what the one before it said: of a call that two contexts have to do with, there is a row
 * for each. */
static bool is_repeated(const struct event *e, const struct event *before)
{
	return before && e->correlation && e->correlation == before->correlation && e->bytes == before->bytes &&
	       e->freed == before->freed;
}

static void note_allocated(struct memory *m, const struct event *e)
{
	add_change(m, e->device, e, e->address ? e : NULL, e->bytes);
	if (e->context == NO_CONTEXT)
		m->mapped[e->process] = true;
	if (e->device == TRACE_NONE)
		return;
	if (e->time < m->first[e->device])
		m->first[e->device] = e->time;
	if (e->context != NO_CONTEXT && e->context > m->newest[e->device])
		m->newest[e->device] = e->context;
}

/* No row frees it: it was kept, or went with its context. */
static void note_kept(struct memory *m, const struct event *e)
{
	if (e->device != TRACE_NONE && e->context > 0 && e->context < m->kept[e->device])
		m->kept[e->device] = e->context;
}

/* Memory without an address, as that of graphs: a free is of as much, and not of the row before it. */
static void take_unplaced(struct memory *m, const struct event *e)
{
	int64_t none = 0, *there = e->device == TRACE_NONE ? &none : &m->unplaced[e->device];
	if (!e->freed) {
		*there += *there < SUM_MOST ? e->bytes : 0;
		note_allocated(m, e);
	} else if (*there >= e->bytes) {
		*there -= e->bytes;
		add_change(m, e->device, e, NULL, -e->bytes);
	} else {
		note(m->r->trace, e->device, MEMORY_NO_END);
	}
}

/* Goes through the rows of each address in their order: what is freed is what was allocated, whatever size the free
 * says. An address that is allocated again without having been freed was freed, and its row was lost. */
static void pair(struct memory *m)
{
	const struct event *open = NULL, *before = NULL;
	for (size_t i = 0; i < m->n; i++) {
		const struct event *e = &m->events[i];
		if (before && (before->process != e->process || before->address != e->address)) {
			if (open)
				note_kept(m, open);
			open = before = NULL;
		}
		if (e->address == 0) {
			take_unplaced(m, e);
			continue;
		}
		if (is_repeated(e, before))
			continue;
		before = e;
		if (open)
			add_change(m, open->device, e, open, -open->bytes);
		if (open && !e->freed)
			note_kept(m, open);
		if (e->freed && !open)
			note(m->r->trace, e->device, MEMORY_EARLIER);
		if (e->freed && open && open->context == NO_CONTEXT)
			m->freed[e->process] = true;
		open = e->freed ? NULL : e;
		if (open)
			note_allocated(m, e);
	}
	if (open)
		note_kept(m, open);
}

/* At one time the earlier call comes first, and of one call what is freed. */
SORT_ORDER(compare_changes, struct change,
           ASCENDING(x->device, y->device) ?: ASCENDING(x->time, y->time)
                   ?: ASCENDING(x->correlation, y->correlation) ?: ASCENDING(x->bytes, y->bytes))

/* What was there after the changes [from, to) of a device. */
static void note_held(struct memory *m, size_t from, size_t to)
{
	struct held_allocation *there = ARENA_NEW(&m->scratch, to - from, struct held_allocation);
	bool *gone = ARENA_NEW(&m->scratch, m->n, bool);
	size_t n = 0;
	for (size_t i = from; i < to; i++)
		if (m->changes[i].of && m->changes[i].bytes < 0)
			gone[m->changes[i].of - m->events] = true;
	for (size_t i = from; i < to; i++) {
		const struct event *e = m->changes[i].of;
		if (e && m->changes[i].bytes > 0 && !gone[e - m->events])
			there[n++] = (struct held_allocation){e->time, e->bytes, e->process, TRACE_NONE, 0};
	}
	held_at_peak(m->r->trace, m->changes[from].device, there, n);
}

static void add_up(struct memory *m)
{
	struct trace *t = m->r->trace;
	int64_t sum = 0;
	size_t from = 0, peak = 0;
	for (size_t i = 0; i < m->n_changes; i++) {
		const struct change *c = &m->changes[i];
		struct trace_device *device = &t->devices[c->device];
		if (i && c[-1].device != c->device) {
			note_held(m, from, peak);
			from = peak = i;
			sum = 0;
		}
		if (device->memory == MEMORY_DAMAGED)
			continue;
		sum += c->bytes;
		if (sum > SUM_MOST)
			note(t, c->device, MEMORY_DAMAGED);
		peak = sum > device->memory_peak ? i + 1 : peak;
		device->memory_peak = sum > device->memory_peak ? sum : device->memory_peak;
	}
	note_held(m, from, peak);
}

/* How much was there after each change. */
static void give_levels(struct memory *m)
{
	struct trace *t = m->r->trace;
	int64_t sum = 0;
	columns_resize(t, ROWS_OF_LEVELS, m->r->arena, 0, m->n_changes, false);
	for (size_t i = 0; i < m->n_changes; i++) {
		const struct change *c = &m->changes[i];
		bool last = i + 1 == m->n_changes || c[1].device != c->device;
		if (t->devices[c->device].memory != MEMORY_SEEN) /* its sums may make no sense */
			continue;
		sum = i && c[-1].device == c->device ? sum + c->bytes : c->bytes;
		held_add_level(t, c->device, c->time, last ? t->last_time : c[1].time, sum);
	}
}

/* A name of rows, found by its text once and by its number from then on. */
struct known_name {
	const char *text;
	uint32_t name; /* TRACE_NONE: not met so far */
};

static bool is_name(const struct trace *t, struct known_name *known, uint32_t name)
{
	if (known->name == TRACE_NONE && strcmp(names_text(t->names, name), known->text) == 0)
		known->name = name;
	return known->name == name;
}

/* Where nsys records a process from its start, one of the first things that it notes is its own work when the process
 * initialises CUDA (seen in exports of 2020 to 2026 alike). Where recording began later, or a part was cut out of a
 * file, that is missing. Nothing else tells: a window's first rows look like a program's, and its options say that it
 * began at once (seen with nsys 2025.3 and --capture-range; it lists at time 0 what was allocated and freed until then,
 * but nothing says that it does). */
static void look_for_starts(struct memory *m)
{
	const struct trace *t = m->r->trace;
	/* Gapline's collector is loaded by the driver while that initialises itself, and says whether it had a window.
	 */
	for (uint32_t i = 0; m->r->own_collector && t->source.began != TRACE_NO_TIME && i < t->n_processes; i++)
		m->began[i] = INT64_MIN;
	struct known_name start = {"CUDA profiling initialization", TRACE_NONE};
	for (size_t i = 0; m->n && i < t->overheads.n; i++) {
		int64_t *began = &m->began[t->threads[t->overheads.thread[i]].process];
		if (is_name(t, &start, t->overheads.name[i]) && t->overheads.start[i] < *began)
			*began = t->overheads.start[i];
	}
}

/* A process that unmaps memory gives some of it back, of which no row was seen. */
static void look_for_unmapping(struct memory *m)
{
	struct trace *t = m->r->trace;
	bool any = false;
	for (uint32_t i = 0; i < t->n_processes; i++)
		any = any || (m->mapped[i] && !m->freed[i]);
	struct known_name unmap = {"cuMemUnmap", TRACE_NONE};
	for (size_t i = 0; any && i < t->calls.n; i++) {
		uint32_t process = t->threads[t->calls.thread[i]].process;
		if (is_name(t, &unmap, t->calls.name[i]) && m->mapped[process] && !m->freed[process])
			note_all(t, process, MEMORY_NO_END);
	}
}

/* A GPU that works before its first allocation works on memory from before. */
static void judge(struct memory *m)
{
	struct trace *t = m->r->trace;
	for (uint32_t i = 0; i < t->n_devices; i++) {
		struct trace_device *device = &t->devices[i];
		if (m->first[i] != INT64_MAX)
			note(t, i, MEMORY_SEEN);
		if (m->first[i] != INT64_MAX && device->n_ops && t->ops.start[device->first_op] < m->first[i])
			note(t, i, MEMORY_EARLIER);
		if (m->kept[i] < m->newest[i])
			note(t, i, MEMORY_NO_END);
		if (m->began[device->process] > m->first[i] && device->memory == MEMORY_SEEN)
			note(t, i, MEMORY_NO_START);
		if (device->memory != MEMORY_SEEN)
			device->memory_peak = 0;
		if (device->memory != MEMORY_SEEN)
			memset(device->held, 0, sizeof device->held);
	}
}

/* What a PyTorch program says itself is what its author knows as its memory, whatever its allocator took of CUDA. */
static void take_peaks(struct nsys *r)
{
	for (size_t i = 0; i < r->n_peaks; i++) {
		uint32_t at = device_of(r->trace, process_of(r->trace, r->peaks[i].pid), r->peaks[i].device);
		struct trace_device *device = at == TRACE_NONE ? NULL : &r->trace->devices[at];
		if (!device || (device->memory == MEMORY_ALLOCATOR && device->memory_peak > r->peaks[i].bytes))
			continue;
		device->memory = MEMORY_ALLOCATOR;
		device->memory_peak = r->peaks[i].bytes;
		memset(device->held, 0, sizeof device->held);
	}
}

int nsys_read_memory(struct nsys *r)
{
	struct memory m = {.r = r};
	m.first = ARENA_NEW(&m.scratch, r->trace->n_devices, int64_t);
	m.unplaced = ARENA_NEW(&m.scratch, r->trace->n_devices, int64_t);
	m.kept = ARENA_NEW(&m.scratch, r->trace->n_devices, int64_t);
	m.newest = ARENA_NEW(&m.scratch, r->trace->n_devices, int64_t);
	for (uint32_t i = 0; i < r->trace->n_devices; i++)
		m.first[i] = m.kept[i] = INT64_MAX;
	m.mapped = ARENA_NEW(&m.scratch, r->trace->n_processes, bool);
	m.freed = ARENA_NEW(&m.scratch, r->trace->n_processes, bool);
	m.began = ARENA_NEW(&m.scratch, r->trace->n_processes, int64_t);
	for (uint32_t i = 0; i < r->trace->n_processes; i++)
		m.began[i] = INT64_MAX;
	int result = read_rows(&m);
	if (result == 0 && m.n) {
		SORT(m.events, m.n, compare_events);
		m.changes = ARENA_NEW(&m.scratch, 2 * m.n, struct change);
		pair(&m);
		SORT(m.changes, m.n_changes, compare_changes);
		add_up(&m);
	}
	if (m.n && m.r->own_collector && r->trace->source.lost)
		note_all(r->trace, TRACE_NONE, MEMORY_DAMAGED);
	if (result == 0) {
		look_for_starts(&m);
		look_for_unmapping(&m);
		judge(&m);
		take_peaks(r);
		give_levels(&m);
	}
	arena_release(&m.scratch);
	return result;
}
