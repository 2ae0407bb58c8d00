#include "read/nsys.h"

enum { DEVICES_MAX = 4096 };
static const int64_t BYTES_MAX = (int64_t)1 << 50; /* no copy is a petabyte long; sums of sizes stay in range */

static const char *const COPY_NAMES[] = {
	"[CUDA memcpy Unknown]",
	"[CUDA memcpy Host-to-Device]",
	"[CUDA memcpy Device-to-Host]",
	"[CUDA memcpy Host-to-Array]",
	"[CUDA memcpy Array-to-Host]",
	"[CUDA memcpy Array-to-Array]",
	"[CUDA memcpy Array-to-Device]",
	"[CUDA memcpy Device-to-Array]",
	"[CUDA memcpy Device-to-Device]",
	"[CUDA memcpy Host-to-Host]",
	"[CUDA memcpy Peer-to-Peer]",
	"[CUDA memcpy Unified Host-to-Device]",
	"[CUDA memcpy Unified Device-to-Host]",
	"[CUDA memcpy Unified Device-to-Device]",
}; /* by enum copy_kind; the words of nsys's ENUM_CUDA_MEMCPY_OPER */

/* Columns of all tables of ops, then those of one kind. */
enum { START, END, DEVICE, STREAM, CORRELATION, PROCESS, COMMON };
enum { KERNEL_NAME = COMMON, KERNEL_NODE, KERNEL_N };
enum { COPY_BYTES = COMMON, COPY_NODE, COPY_KIND, COPY_SOURCE, COPY_TARGET, COPY_N };
enum { SET_BYTES = COMMON, SET_NODE, SET_N };

/* Behind those, on request: what all tables of ops have, then what one kind has. */
enum { CONTEXT, GREEN, COMMON_DETAILS };
enum { KERNEL_BASE = COMMON_DETAILS, KERNEL_MANGLED, KERNEL_DETAILS };
enum { SET_KIND = COMMON_DETAILS, SET_DETAILS };

#define COMMON_COLUMNS "start", "end", "deviceId", "streamId", "correlationId", "globalPid"
#define COMMON_DETAIL_COLUMNS "contextId", "greenContextId"
static const char *const KERNEL_COLUMNS[] = {
	COMMON_COLUMNS,        "demangledName|shortName", "graphNodeId",
	COMMON_DETAIL_COLUMNS, "shortName|demangledName", "mangledName|demangledName|shortName"};
static const char *const COPY_COLUMNS[] = {COMMON_COLUMNS, "bytes",   "graphNodeId",        "copyKind",
                                           "srcKind",      "dstKind", COMMON_DETAIL_COLUMNS};
static const char *const SET_COLUMNS[] = {COMMON_COLUMNS, "bytes", "graphNodeId", COMMON_DETAIL_COLUMNS, "memKind"};
static const char *const GRAPH_COLUMNS[] = {COMMON_COLUMNS, COMMON_DETAIL_COLUMNS};

struct op_columns {
	struct trace_ops *ops;
	size_t room;
};

/* Makes all columns longer (arena_grow) or shorter (arena_trim). */
static void resize(struct nsys *r, nsys_resize *to, size_t old, size_t n)
{
	struct trace_ops *o = &r->trace->ops;
	o->start = to(r->arena, o->start, old, n, sizeof *o->start);
	o->end = to(r->arena, o->end, old, n, sizeof *o->end);
	o->bytes = to(r->arena, o->bytes, old, n, sizeof *o->bytes);
	o->name = to(r->arena, o->name, old, n, sizeof *o->name);
	o->device = to(r->arena, o->device, old, n, sizeof *o->device);
	o->stream = to(r->arena, o->stream, old, n, sizeof *o->stream);
	o->correlation = to(r->arena, o->correlation, old, n, sizeof *o->correlation);
	o->launch = to(r->arena, o->launch, old, n, sizeof *o->launch);
	o->kind = to(r->arena, o->kind, old, n, sizeof *o->kind);
	o->copy = to(r->arena, o->copy, old, n, sizeof *o->copy);
	o->flags = to(r->arena, o->flags, old, n, sizeof *o->flags);
	if (!r->wish->details)
		return;
	o->base_name = to(r->arena, o->base_name, old, n, sizeof *o->base_name);
	o->mangled_name = to(r->arena, o->mangled_name, old, n, sizeof *o->mangled_name);
	o->context = to(r->arena, o->context, old, n, sizeof *o->context);
	o->green = to(r->arena, o->green, old, n, sizeof *o->green);
	o->from = to(r->arena, o->from, old, n, sizeof *o->from);
	o->to = to(r->arena, o->to, old, n, sizeof *o->to);
}

static void reserve(struct nsys *r, struct op_columns *c, size_t n)
{
	size_t old = c->room;
	if (nsys_room(&c->room, n))
		resize(r, arena_grow, old, c->room);
}

static uint32_t device_of(struct nsys *r, int64_t global_pid, int64_t ordinal)
{
	if (r->last_device && r->last_gpu_pid == (uint64_t)global_pid && r->last_ordinal == ordinal)
		return r->last_device - 1;
	uint64_t process = nsys_process(r, global_pid);
	r->last_device = keymap_add(&r->devices, process << 32 | (uint64_t)ordinal) + 1;
	r->last_gpu_pid = (uint64_t)global_pid;
	r->last_ordinal = ordinal;
	return r->last_device - 1;
}

/* What only a copy has: direction, and whether its host side is pageable (memory kind 0). */
static void read_copy(struct scan *s, uint32_t *copy, uint8_t *flags)
{
	int64_t kind = scan_int_or(s, COPY_KIND, COPY_UNKNOWN);
	int64_t source = scan_int_or(s, COPY_SOURCE, -1), target = scan_int_or(s, COPY_TARGET, -1);
	*copy = kind < 0 || kind > COPY_UM_D2D ? COPY_UNKNOWN : (uint32_t)kind;
	bool from_host = kind == COPY_H2D || kind == COPY_H2A || kind == COPY_H2H;
	bool to_host = kind == COPY_D2H || kind == COPY_A2H || kind == COPY_H2H;
	if ((from_host && source == 0) || (to_host && target == 0))
		*flags |= OPF_PAGEABLE;
	if (kind >= COPY_UM_H2D && kind <= COPY_UM_D2D)
		*flags |= OPF_MANAGED;
}

static uint8_t memory_kind(struct scan *s, int column)
{
	int64_t kind = scan_int_or(s, column, MEMORY_NOT_RECORDED);
	return kind < MEMORY_PAGEABLE || kind > MEMORY_UNKNOWN ? MEMORY_NOT_RECORDED : (uint8_t)kind;
}

static uint32_t context_id(struct scan *s, int column, uint32_t none)
{
	int64_t id = scan_int_or(s, column, none);
	return id < 0 || id > UINT32_MAX ? none : (uint32_t)id;
}

/* What was requested of op `i`, whose name is set. `at`: the first column of the details. A name that is no number is
 * a flaw that the op was kept for. */
static void read_details(struct nsys *r, struct scan *s, int at, enum op_kind kind, size_t i)
{
	struct trace_ops *o = &r->trace->ops;
	o->context[i] = context_id(s, at + CONTEXT, TRACE_NONE);
	o->green[i] = context_id(s, at + GREEN, 0);
	o->from[i] = kind == OP_COPY ? memory_kind(s, COPY_SOURCE) : MEMORY_NOT_RECORDED;
	o->to[i] = kind == OP_COPY     ? memory_kind(s, COPY_TARGET)
	           : kind == OP_MEMSET ? memory_kind(s, at + SET_KIND)
	                               : MEMORY_NOT_RECORDED;
	o->base_name[i] = kind == OP_KERNEL ? nsys_string(r, scan_int_or(s, at + KERNEL_BASE, -1)) : o->name[i];
	o->mangled_name[i] = kind == OP_KERNEL ? nsys_string(r, scan_int_or(s, at + KERNEL_MANGLED, -1)) : o->name[i];
}

/* Graphs that kernels launch run in a stream of CUPTI's own, 1 << 57: both halves of the number together tell it from
 * those of the program, which are small. */
static uint32_t stream_id(int64_t stream)
{
	return (uint32_t)((uint64_t)stream | (uint64_t)stream >> 32);
}

static int read_table(struct nsys *r, struct op_columns *c, const char *table, enum op_kind kind)
{
	static const struct {
		const char *const *names;
		int n, bytes, node, details;
		enum row_kind rows;
	} layouts[] = {
		[OP_KERNEL] = {KERNEL_COLUMNS, KERNEL_N, -1, KERNEL_NODE, KERNEL_DETAILS, ROWS_KERNELS},
		[OP_GRAPH] = {GRAPH_COLUMNS, COMMON, -1, -1, COMMON_DETAILS, ROWS_GRAPHS},
		[OP_COPY] = {COPY_COLUMNS, COPY_N, COPY_BYTES, COPY_NODE, COMMON_DETAILS, ROWS_COPIES},
		[OP_MEMSET] = {SET_COLUMNS, SET_N, SET_BYTES, SET_NODE, SET_DETAILS, ROWS_MEMSETS},
	};
	const enum row_kind rows = layouts[kind].rows;
	struct trace_ops *o = c->ops;
	struct scan s;
	int basic = layouts[kind].n;
	if (scan_open(&s, &r->db, table, layouts[kind].names,
	              r->wish->details ? basic + layouts[kind].details : basic) != 0)
		return -1;
	reserve(r, c, o->n + scan_guess(&s));
	size_t before = o->n;
	uint32_t fixed_name = 0, copy_names[COPY_UM_D2D + 1] = {0};
	if (kind == OP_GRAPH)
		fixed_name = nsys_text(r, names_add_text(r->names, "[CUDA graph]"));
	if (kind == OP_MEMSET)
		fixed_name = nsys_text(r, names_add_text(r->names, "[CUDA memset]"));
	if (kind == OP_COPY)
		for (int i = 0; i <= COPY_UM_D2D; i++)
			copy_names[i] = nsys_text(r, names_add_text(r->names, COPY_NAMES[i]));
	int bytes_at = layouts[kind].bytes, node_at = layouts[kind].node;
	bool has_node = node_at >= 0 && s.has[node_at];
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t start = scan_int(&s, START), end = scan_int(&s, END), device = scan_int(&s, DEVICE);
		int64_t stream = scan_int(&s, STREAM), correlation = scan_int_or(&s, CORRELATION, 0);
		int64_t process = scan_int_or(&s, PROCESS, 0), name = 0, bytes = 0;
		uint32_t copy = COPY_UNKNOWN;
		uint8_t flags = 0;
		if (has_node && scan_int_or(&s, node_at, 0) != 0)
			flags |= OPF_GRAPH_NODE;
		if (bytes_at >= 0)
			bytes = scan_int_or(&s, bytes_at, 0);
		if (kind == OP_KERNEL)
			name = scan_int_or(&s, KERNEL_NAME, -1);
		else if (kind == OP_COPY)
			read_copy(&s, &copy, &flags);

		const char *flaw = nsys_value_flaw(&s);
		if (!flaw)
			flaw = nsys_time_flaw(start, end, true);
		if (!flaw && (device < 0 || device > UINT32_MAX || stream < 0))
			flaw = "has an impossible device or stream";
		if (!flaw && (bytes < 0 || bytes > BYTES_MAX))
			flaw = "has an impossible size";
		if (flaw) {
			nsys_drop(r, &s, rows, flaw);
			continue;
		}
		reserve(r, c, o->n + 1);
		size_t i = o->n++;
		o->start[i] = start;
		o->end[i] = end;
		o->bytes[i] = bytes;
		o->name[i] = kind == OP_KERNEL ? nsys_string(r, name) : kind == OP_COPY ? copy_names[copy] : fixed_name;
		o->device[i] = device_of(r, process, device);
		o->stream[i] = stream_id(stream);
		bool joins = correlation > 0 && correlation <= UINT32_MAX && !(flags & OPF_MANAGED);
		o->correlation[i] = joins ? (uint32_t)correlation : 0;
		o->kind[i] = (uint8_t)kind;
		o->copy[i] = (uint8_t)copy;
		o->flags[i] = flags;
		if (r->wish->details)
			read_details(r, &s, basic, kind, i);
		nsys_seen(r, end);
	}
	scan_close(&s);
	nsys_keep(r, rows, o->n - before);
	return more;
}

int nsys_read_ops(struct nsys *r)
{
	struct op_columns c = {.ops = &r->trace->ops};
	if (read_table(r, &c, "CUPTI_ACTIVITY_KIND_KERNEL", OP_KERNEL) != 0 ||
	    read_table(r, &c, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", OP_GRAPH) != 0 ||
	    read_table(r, &c, "CUPTI_ACTIVITY_KIND_MEMCPY", OP_COPY) != 0 ||
	    read_table(r, &c, "CUPTI_ACTIVITY_KIND_MEMSET", OP_MEMSET) != 0)
		return -1;
	if (r->devices.n > DEVICES_MAX)
		return err_set(r->err, "%s: names %u devices, which no profile has; export the report again with nsys",
		               r->path, r->devices.n);
	resize(r, arena_trim, c.room, r->trace->ops.n);
	return 0;
}
