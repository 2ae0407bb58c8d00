#include "base/list.h"
#include "base/sort.h"
#include "read/nsys.h"

#include <stdlib.h>
#include <string.h>

/* Values of eventClass and eventType that matter; nsys numbers them alike in every version since 2020. */
enum {
	CLASS_CUDA_BACKTRACE = 67, /* repeats a call to carry its backtrace */
	CLASS_OSRT_STARTED = 31,   /* notes of the tracer itself, not calls */
	CLASS_OSRT_FINISHED = 32,
	TYPE_MARK = 34,
	TYPE_THREAD_NAME = 39,
	TYPE_PUSH_POP = 59,
	TYPE_START_END = 60,
	TYPE_TEXT_PUSH_POP = 70, /* imported from an NVTXT file */
	TYPE_TEXT_START_END = 71,
	TYPE_DOMAIN = 75
};

/* What a call returns when a kernel did not run, or not to its end (CUDA 13.0, Runtime API, cudaError_t; the driver has
 * the same numbers). After an error that ends the context no kernel runs any more; the others a program may get over.
 */
static const struct {
	int64_t code;
	const char *what;
	bool ends;
} failures[] = {
	{9, "invalid launch configuration", false},
	{98, "invalid device function", false},
	{209, "no kernel image for this GPU", false},
	{218, "invalid PTX", false},
	{222, "PTX of a newer version", false},
	{700, "illegal memory address", true},
	{701, "too many resources for a launch", false},
	{702, "launch timeout", true},
	{710, "failed assertion", true},
	{715, "illegal instruction", true},
	{716, "misaligned address", true},
	{717, "invalid address space", true},
	{718, "invalid program counter", true},
	{719, "launch failure", true},
	{720, "too many blocks for a cooperative launch", false},
};
enum { N_FAILURES = sizeof failures / sizeof *failures, FAILED_PERCENT = 1 };

struct failed_calls {
	size_t calls, n;
	bool ended;
	int64_t first; /* when the first of them began … */
	int kind;      /* … and its index among failures */
};

static void count_failure(struct failed_calls *failed, int64_t code, int64_t start)
{
	failed->calls++;
	for (int i = 0; code && i < N_FAILURES; i++) {
		if (failures[i].code != code)
			continue;
		failed->ended = failed->ended || failures[i].ends;
		if (!failed->n++ || start < failed->first) {
			failed->first = start;
			failed->kind = i;
		}
	}
}

/* Kernels that failed are not in the profile, and were not lost: the program broke off, or most of them never ran. */
static void say_failures(struct nsys *r, const struct failed_calls *failed)
{
	struct trace_source *source = &r->trace->source;
	if (*source->incomplete || !failed->n || (!failed->ended && 100 * failed->n < FAILED_PERCENT * failed->calls))
		return;
	source->incomplete = arena_format(r->arena, "%zu CUDA %s failed, first with error %lld (%s)", failed->n,
	                                  failed->n == 1 ? "call" : "calls", (long long)failures[failed->kind].code,
	                                  failures[failed->kind].what);
}

/* Their scan takes as long again as that of the calls: for profiles that lack operations. */
int nsys_read_failures(struct nsys *r)
{
	enum { START, RETURNED, N };
	static const char *const columns[] = {"start", "returnValue"};
	struct failed_calls failed = {0};
	struct scan s;
	nsys_scan_numbers(r, &s, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, N, 0);
	while (scan_row(&s))
		count_failure(&failed, scan_int_or(&s, RETURNED, 0), scan_int_or(&s, START, 0));
	say_failures(r, &failed);
	return scan_close(&s);
}

int nsys_read_calls(struct nsys *r)
{
	enum { NAME, START, END, THREAD, CORRELATION, CLASS, N };
	static const char *const columns[] = {"nameId", "start", "end", "globalTid", "correlationId", "eventClass"};
	struct scan s;
	nsys_scan_numbers(r, &s, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, N, 0);
	build_reserve(&r->build, ROWS_OF_CALLS, db_guess_rows(&r->db, "CUPTI_ACTIVITY_KIND_RUNTIME"));
	while (scan_row(&s)) {
		struct build_call call = {.start = scan_int(&s, START),
		                          .end = scan_int(&s, END),
		                          .thread = nsys_thread(scan_int_or(&s, THREAD, 0)),
		                          .correlation = scan_int_or(&s, CORRELATION, 0),
		                          .name = build_number(scan_int_or(&s, NAME, -1))};
		if (scan_int_or(&s, CLASS, 0) == CLASS_CUDA_BACKTRACE)
			continue;
		call.flaw = nsys_value_flaw(&s);
		build_call(&r->build, &call);
	}
	return scan_close(&s);
}

/* ---- NVTX ---- */

enum {
	NVTX_TEXT,
	NVTX_BINARY,
	NVTX_JSON,
	NVTX_DOMAIN, /* from here on numbers */
	NVTX_START,
	NVTX_END,
	NVTX_TYPE,
	NVTX_THREAD,
	NVTX_TEXT_ID,
	NVTX_N
};
enum { NVTX_END_THREAD = NVTX_N, NVTX_N_DETAILS }; /* on request */

/* The name of an NVTX row: registered (textId) or at hand (text); empty when it has neither. */
static uint64_t nvtx_name(struct nsys *r, const char *text, size_t n, int64_t text_id)
{
	if (text)
		return build_text(&r->build, text, n);
	return text_id >= 0 ? build_number(text_id) : build_text(&r->build, "", 0);
}

/* A name that an NVTX row gives to a domain or a thread. */
struct note {
	int64_t type, time, domain;
	struct build_thread thread;
	uint64_t name;
};

struct notes {
	struct arena arena;
	struct note *list;
	size_t n, room;
};

static int compare_name_keys(const struct names *names, uint64_t a, uint64_t b)
{
	if ((a & BUILD_AT_HAND) && (b & BUILD_AT_HAND))
		return strcmp(names_text(names, (uint32_t)(a & ~BUILD_AT_HAND)),
		              names_text(names, (uint32_t)(b & ~BUILD_AT_HAND)));
	return (a > b) - (a < b);
}

SORT_ORDER_BY(compare_notes, struct note, names,
              ASCENDING(x->time, y->time) ?: compare_name_keys(names, x->name, y->name))

/* The last name that was given is the one that counts. */
static void take_notes(struct nsys *r, struct notes *notes)
{
	SORT_BY(notes->list, notes->n, compare_notes, r->names);
	for (size_t i = 0; i < notes->n; i++) {
		const struct note *one = &notes->list[i];
		if (one->type == TYPE_DOMAIN)
			build_domain(&r->build, build_process(&r->build, one->thread.process, one->thread.pid),
			             one->domain, one->name);
		else
			build_thread_name(&r->build, &one->thread, one->name);
	}
	arena_release(&notes->arena);
}

/* A mark of the module that adds ranges to PyTorch programs (inject/python): the device, and bytes. */
static void read_peak(struct nsys *r, int64_t pid, const char *text, size_t n)
{
	static const char begins[] = "gapline: max_memory_allocated ";
	const size_t before = sizeof begins - 1;
	const int64_t most = (int64_t)1 << 50;
	if (!text || n <= before || memcmp(text, begins, before) != 0)
		return;
	char *at, *end;
	struct nsys_peak peak = {.pid = pid,
	                         .device = strtoll(arena_copy(r->arena, text + before, n - before), &at, 10)};
	peak.bytes = strtoll(at, &end, 10);
	if (end == at || *end || peak.device < 0 || peak.bytes < 0 || peak.bytes > most)
		return;
	LIST_ADD(r->arena, r->peaks, r->n_peaks, r->room_peaks, peak);
}

int nsys_read_ranges(struct nsys *r)
{
	static const char *const columns[] = {"text", "binaryData", "jsonText",  "domainId", "start",
	                                      "end",  "eventType",  "globalTid", "textId",   "endGlobalTid"};
	struct scan s;
	struct payloads payloads;
	struct notes notes = {0};
	if (payloads_read(&r->db, r->arena, &payloads) != 0)
		return -1;
	bool details = r->wish->details;
	nsys_scan_numbers(r, &s, "NVTX_EVENTS", columns, details ? NVTX_N_DETAILS : NVTX_N, NVTX_DOMAIN);
	while (scan_row(&s)) {
		int64_t type = scan_int(&s, NVTX_TYPE), start = scan_int(&s, NVTX_START);
		int64_t end = scan_int_or(&s, NVTX_END, INT64_MIN), global_tid = scan_int_or(&s, NVTX_THREAD, 0);
		int64_t text_id = scan_int_or(&s, NVTX_TEXT_ID, -1), domain = scan_int_or(&s, NVTX_DOMAIN, 0);
		size_t n;
		const char *text = scan_text(&s, NVTX_TEXT, &n), *flaw = nsys_value_flaw(&s);
		bool push_pop = type == TYPE_PUSH_POP || type == TYPE_TEXT_PUSH_POP;
		if (flaw) {
			build_drop(&r->build, ROWS_RANGES, flaw);
			continue;
		}
		struct build_thread thread = nsys_thread(global_tid);
		if (push_pop || type == TYPE_START_END || type == TYPE_TEXT_START_END) {
			struct build_range range = {.start = start,
			                            .end = end,
			                            .name = nvtx_name(r, text, n, text_id),
			                            .domain = domain,
			                            .thread = thread,
			                            .kind = push_pop ? RANGE_PUSH_POP : RANGE_START_END};
			range.moved = details && !push_pop && scan_int_or(&s, NVTX_END_THREAD, -1) != -1;
			struct build_comm_call call;
			if (build_range(&r->build, &range) &&
			    payloads_of_row(&payloads, &s, NVTX_BINARY, NVTX_JSON, domain, &call))
				build_comm_call(&r->build, &range, &call);
			continue;
		}
		build_mark(&r->build, start);
		build_mark(&r->build, end);
		if (type == TYPE_MARK) {
			read_peak(r, thread.pid, text, n);
			nsys_read_kernel(r, thread.pid, text, n);
		}
		if (type != TYPE_DOMAIN && type != TYPE_THREAD_NAME)
			continue;
		LIST_ADD(&notes.arena, notes.list, notes.n, notes.room,
		         (struct note){type, start, domain, thread, nvtx_name(r, text, n, text_id)});
	}
	take_notes(r, &notes);
	return scan_close(&s);
}

struct system_name {
	int64_t thread, priority, name;
};

SORT_ORDER(compare_system_names, struct system_name,
           ASCENDING(x->thread, y->thread) ?: ASCENDING(x->priority, y->priority)
                   ?: ASCENDING(x->name, y->name))

int nsys_read_thread_names(struct nsys *r)
{
	enum { NAME, THREAD, PRIORITY, N };
	static const char *const columns[] = {"nameId", "globalTid", "priority"};
	ARENA_LOCAL(scratch);
	struct system_name *list = NULL;
	size_t n = 0, room = 0;
	struct scan s;
	nsys_scan(r, &s, "ThreadNames", columns, N);
	while (scan_row(&s)) {
		struct system_name one = {.thread = scan_int(&s, THREAD), .name = scan_int(&s, NAME)};
		one.priority = scan_int_or(&s, PRIORITY, 0);
		if (s.flaws) /* a name less, no event less */
			continue;
		LIST_ADD(&scratch, list, n, room, one);
	}
	SORT(list, n, compare_system_names);
	for (size_t i = 0; i < n; i++)
		build_system_name(&r->build, (uint64_t)list[i].thread, build_number(list[i].name));
	return scan_close(&s);
}

/* ---- operating system and profiler ---- */

static int read_os_calls(struct nsys *r, const char *table, const char *name)
{
	enum { NAME, START, END, THREAD, CLASS, N };
	const char *const columns[] = {name, "start", "end", "globalTid", "eventClass"};
	struct scan s;
	nsys_scan_numbers(r, &s, table, columns, N, 0);
	build_reserve(&r->build, ROWS_OF_OS_CALLS, db_guess_rows(&r->db, table));
	while (scan_row(&s)) {
		struct build_os_call call = {.start = scan_int(&s, START),
		                             .end = scan_int(&s, END),
		                             .thread = nsys_thread(scan_int_or(&s, THREAD, 0)),
		                             .name = build_number(scan_int_or(&s, NAME, -1))};
		int64_t class = scan_int_or(&s, CLASS, 0);
		if (class == CLASS_OSRT_STARTED || class == CLASS_OSRT_FINISHED)
			continue;
		call.flaw = nsys_value_flaw(&s);
		build_os_call(&r->build, &call);
	}
	return scan_close(&s);
}

int nsys_read_os_calls(struct nsys *r)
{
	static const char *const mpi[] = {"MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_COLLECTIVES_EVENTS",
	                                  "MPI_OTHER_EVENTS"};
	int failed = read_os_calls(r, "OSRT_API", "nameId");
	for (size_t i = 0; i < sizeof mpi / sizeof *mpi && !failed; i++)
		failed = read_os_calls(r, mpi[i], "textId");
	return failed;
}

int nsys_read_switches(struct nsys *r)
{
	enum { TIME, IN, THREAD, N };
	static const char *const columns[] = {"start", "isSchedIn", "globalTid"};
	struct scan s;
	nsys_scan_numbers(r, &s, "SCHED_EVENTS", columns, N, 0);
	while (scan_row(&s)) {
		struct build_switch one = {.thread = (uint64_t)scan_int(&s, THREAD)};
		if (s.flaws) /* a switch of nobody knows whom says nothing of any thread */
			continue;
		one.time = scan_int(&s, TIME);
		one.in = scan_int(&s, IN) != 0;
		one.flaw = nsys_value_flaw(&s);
		build_switch(&r->build, &one);
	}
	return scan_close(&s);
}

/* CUPTI's overhead types (CUpti_ActivityOverheadKind, as nsys numbers them in ENUM_CUPTI_OVERHEAD_TYPE). Compiling and
 * loading are the program's own work, and so is waiting for a full command buffer, which the launch call around it
 * shows already. */
enum {
	OVERHEAD_TYPE_JIT = 2,
	OVERHEAD_TYPE_MODULE_LOADING = 6,
	OVERHEAD_TYPE_FUNCTION_LOADING = 7,
	OVERHEAD_TYPE_COMMAND_BUFFER_FULL = 8
};

static const char *overhead_name(int64_t type)
{
	switch (type) {
	case OVERHEAD_TYPE_JIT:
		return "JIT compiler";
	case OVERHEAD_TYPE_MODULE_LOADING:
		return "Module loading";
	case OVERHEAD_TYPE_FUNCTION_LOADING:
		return "Lazy function loading";
	default:
		return "Profiler overhead";
	}
}

static int read_overheads(struct nsys *r, const char *table)
{
	enum { START, END, THREAD, NAME, TYPE, N };
	static const char *const columns[] = {"start", "end", "globalTid", "nameId", "overheadType"};
	struct scan s;
	nsys_scan_numbers(r, &s, table, columns, N, 0);
	while (scan_row(&s)) {
		struct build_overhead row = {.start = scan_int(&s, START),
		                             .end = scan_int(&s, END),
		                             .thread = nsys_thread(scan_int_or(&s, THREAD, 0))};
		int64_t name = scan_int_or(&s, NAME, -1), type = scan_int_or(&s, TYPE, 0);
		if (type == OVERHEAD_TYPE_COMMAND_BUFFER_FULL)
			continue;
		const char *text = overhead_name(type);
		bool loading = type == OVERHEAD_TYPE_JIT || type == OVERHEAD_TYPE_MODULE_LOADING ||
		               type == OVERHEAD_TYPE_FUNCTION_LOADING;
		row.flaw = nsys_value_flaw(&s);
		row.name = name >= 0 ? build_number(name) : build_text(&r->build, text, strlen(text));
		row.class = loading ? OVERHEAD_MODULE_LOAD : OVERHEAD_PROFILER; /* or told by its name, later */
		build_overhead(&r->build, &row);
	}
	return scan_close(&s);
}

int nsys_read_overheads(struct nsys *r)
{
	return read_overheads(r, "PROFILER_OVERHEAD") != 0 ? -1 : read_overheads(r, "CUPTI_ACTIVITY_KIND_OVERHEAD");
}
