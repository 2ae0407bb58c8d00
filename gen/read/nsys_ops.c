#include "read/nsys.h"

enum { DEVICES_MAX = 4096 };

/* Columns of all tables of ops, then those of one kind. */
enum { NODE, START, END, DEVICE, STREAM, CORRELATION, PROCESS, COMMON };
enum { KERNEL_NAME = COMMON, KERNEL_BLOCKS, KERNEL_N };
enum { COPY_BYTES = COMMON, COPY_KIND, COPY_SOURCE, COPY_TARGET, COPY_N };
enum { SET_BYTES = COMMON, SET_N };

/* Behind those, on request: what all tables of ops have, then what one kind has. */
enum { CONTEXT, GREEN, COMMON_DETAILS };
enum {
	KERNEL_BASE = COMMON_DETAILS,
	KERNEL_MANGLED,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_DETAILS = KERNEL_BLOCK + 3
};
enum { SET_KIND = COMMON_DETAILS, SET_DETAILS };

#define COMMON_COLUMNS "graphNodeId", "start", "end", "deviceId", "streamId", "correlationId", "globalPid"
#define COMMON_DETAIL_COLUMNS "contextId", "greenContextId"
static const char *const KERNEL_COLUMNS[] = {COMMON_COLUMNS,
                                             "demangledName|shortName",
                                             "gridX*gridY*gridZ",
                                             COMMON_DETAIL_COLUMNS,
                                             "shortName|demangledName",
                                             "mangledName|demangledName|shortName",
                                             "gridX",
                                             "gridY",
                                             "gridZ",
                                             "blockX",
                                             "blockY",
                                             "blockZ"};
static const char *const COPY_COLUMNS[] = {COMMON_COLUMNS, "bytes",   "copyKind",
                                           "srcKind",      "dstKind", COMMON_DETAIL_COLUMNS};
static const char *const SET_COLUMNS[] = {COMMON_COLUMNS, "bytes", COMMON_DETAIL_COLUMNS, "memKind"};
static const char *const GRAPH_COLUMNS[] = {COMMON_COLUMNS, COMMON_DETAIL_COLUMNS};

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

/* What was requested. `at`: the first column of the details. A value of the wrong type there is no reason to drop the
 * row. */
static void read_details(struct scan *s, int at, struct build_op *op)
{
	op->context = context_id(s, at + CONTEXT, TRACE_NONE);
	op->green = context_id(s, at + GREEN, 0);
	if (op->kind == OP_MEMSET)
		op->to = memory_kind(s, at + SET_KIND);
	if (op->kind != OP_KERNEL)
		return;
	op->base_name = build_number(scan_int_or(s, at + KERNEL_BASE, -1));
	op->mangled_name = build_number(scan_int_or(s, at + KERNEL_MANGLED, -1));
	int64_t size[6];
	for (int i = 0; i < 6; i++)
		size[i] = scan_int_or(s, at + KERNEL_GRID + i, 0);
	op->shape = trace_shape(size, size + 3);
}

static int read_table(struct nsys *r, const char *table, enum op_kind kind)
{
	static const struct {
		const char *const *names;
		int n, bytes, details;
	} layouts[] = {
		[OP_KERNEL] = {KERNEL_COLUMNS, KERNEL_N, -1, KERNEL_DETAILS},
		[OP_GRAPH] = {GRAPH_COLUMNS, COMMON, -1, COMMON_DETAILS},
		[OP_COPY] = {COPY_COLUMNS, COPY_N, COPY_BYTES, COMMON_DETAILS},
		[OP_MEMSET] = {SET_COLUMNS, SET_N, SET_BYTES, SET_DETAILS},
	};
	struct scan s;
	int basic = layouts[kind].n;
	int columns = r->wish->details ? basic + layouts[kind].details : basic;
	bool blocks = kind == OP_KERNEL && (r->wish->details || !r->wish->only); /* three columns more for SQLite */
	if (kind == OP_KERNEL && !blocks)
		columns = KERNEL_BLOCKS;
	if (nsys_scan(r, &s, table, layouts[kind].names, columns) != 0)
		return -1;
	int bytes_at = layouts[kind].bytes;
	bool has_node = kind != OP_GRAPH && s.has[NODE];
	int more;
	while ((more = scan_next(&s)) > 0) {
		struct build_op op = {.kind = kind,
		                      .start = scan_int(&s, START),
		                      .end = scan_int(&s, END),
		                      .device = scan_int(&s, DEVICE),
		                      .stream = scan_int(&s, STREAM),
		                      .correlation = scan_int_or(&s, CORRELATION, 0),
		                      .from = MEMORY_NOT_RECORDED,
		                      .to = MEMORY_NOT_RECORDED};
		int64_t process = scan_int_or(&s, PROCESS, 0);
		op.process = nsys_process_key(process);
		op.pid = nsys_pid(process);
		if (has_node && scan_int_or(&s, NODE, 0) != 0)
			op.flags |= OPF_GRAPH_NODE;
		if (bytes_at >= 0)
			op.bytes = scan_int_or(&s, bytes_at, 0);
		if (kind == OP_KERNEL) {
			op.name = build_number(scan_int_or(&s, KERNEL_NAME, -1));
			op.bytes = blocks ? trace_blocks(scan_int_or(&s, KERNEL_BLOCKS, 0)) : 0;
		} else if (kind == OP_COPY) {
			int64_t direction = scan_int_or(&s, COPY_KIND, COPY_UNKNOWN);
			op.copy = direction < 0 || direction > COPY_UM_D2D ? COPY_UNKNOWN : (enum copy_kind)direction;
			op.from = memory_kind(&s, COPY_SOURCE);
			op.to = memory_kind(&s, COPY_TARGET);
		}
		op.flaw = nsys_value_flaw(&s);
		if (r->wish->details)
			read_details(&s, basic, &op);
		build_op(&r->build, &op);
	}
	scan_close(&s);
	return more;
}

int nsys_read_ops(struct nsys *r)
{
	static const struct {
		const char *name;
		enum op_kind kind;
	} tables[] = {{"CUPTI_ACTIVITY_KIND_KERNEL", OP_KERNEL},
	              {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", OP_GRAPH},
	              {"CUPTI_ACTIVITY_KIND_MEMCPY", OP_COPY},
	              {"CUPTI_ACTIVITY_KIND_MEMSET", OP_MEMSET}};
	enum { TABLES = sizeof tables / sizeof *tables };
	size_t rows = 0;
	for (int i = 0; i < TABLES; i++)
		rows += db_guess_rows(&r->db, tables[i].name);
	build_reserve(&r->build, ROWS_OF_OPS, rows); /* of all at once: columns that grow are copied */
	for (int i = 0; i < TABLES; i++)
		if (read_table(r, tables[i].name, tables[i].kind) != 0)
			return -1;
	if (r->build.devices.n > DEVICES_MAX)
		return err_set(r->err, "%s: names %u devices, which no profile has; export the report again with nsys",
		               r->path, r->build.devices.n);
	return 0;
}
