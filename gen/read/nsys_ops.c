#include "read/nsys.h"

#include "base/parallel.h"

enum { DEVICES_MAX = 4096 };

/* Columns of all tables of ops, then those of one kind. */
enum { NODE, START, END, DEVICE, STREAM, CORRELATION, PROCESS, COMMON };
enum { KERNEL_NAME = COMMON, KERNEL_GRID, KERNEL_BLOCK = KERNEL_GRID + 3, KERNEL_N = KERNEL_BLOCK + 3 };
enum { COPY_BYTES = COMMON, COPY_KIND, COPY_SOURCE, COPY_TARGET, COPY_N };
enum { SET_BYTES = COMMON, SET_N };
enum { GRAPH_ID = COMMON, GRAPH_N };

/* Behind those, on request: what all tables of ops have, then what one kind has. */
enum { CONTEXT, GREEN, COMMON_DETAILS };
enum { KERNEL_BASE = COMMON_DETAILS, KERNEL_MANGLED, KERNEL_DETAILS };
enum { SET_KIND = COMMON_DETAILS, SET_DETAILS };

#define COMMON_COLUMNS "graphNodeId", "start", "end", "deviceId", "streamId", "correlationId", "globalPid"
#define COMMON_DETAIL_COLUMNS "contextId", "greenContextId"
static const char *const KERNEL_COLUMNS[] = {COMMON_COLUMNS,
                                             "demangledName|shortName",
                                             "gridX",
                                             "gridY",
                                             "gridZ",
                                             "blockX",
                                             "blockY",
                                             "blockZ",
                                             COMMON_DETAIL_COLUMNS,
                                             "shortName|demangledName",
                                             "mangledName|demangledName|shortName"};
static const char *const COPY_COLUMNS[] = {COMMON_COLUMNS, "bytes",   "copyKind",
                                           "srcKind",      "dstKind", COMMON_DETAIL_COLUMNS};
static const char *const SET_COLUMNS[] = {COMMON_COLUMNS, "bytes", COMMON_DETAIL_COLUMNS, "memKind"};
static const char *const GRAPH_COLUMNS[] = {COMMON_COLUMNS, "graphExecId", COMMON_DETAIL_COLUMNS};

static uint8_t memory_kind(struct scan *s, int column)
{
	int64_t kind = scan_int_or(s, column, MEMORY_NOT_RECORDED);
	return kind < MEMORY_PAGEABLE || kind > MEMORY_UNKNOWN ? MEMORY_NOT_RECORDED : (uint8_t)kind;
}

/* A value of the wrong type is no reason to drop the row. */
static uint32_t graph_id(struct scan *s)
{
	int64_t id = scan_int_or(s, GRAPH_ID, 0);
	return id < 0 || id > UINT32_MAX ? 0 : (uint32_t)id;
}

static uint32_t context_id(struct scan *s, int column, uint32_t none)
{
	int64_t id = scan_int_or(s, column, none);
	return id < 0 || id > UINT32_MAX ? none : (uint32_t)id;
}

/* What was requested. `at`: the first column of the details. A value of the wrong type there, or in a launch's sizes,
 * is no reason to drop the row. */
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
}

static void read_launch(struct scan *s, bool details, struct build_op *op)
{
	int64_t size[6];
	for (int i = 0; i < 6; i++)
		size[i] = scan_int_or(s, KERNEL_GRID + i, 0);
	op->bytes = trace_launch(trace_product(size), trace_product(size + 3));
	op->shape = details ? trace_shape(size, size + 3) : 0;
}

/* ---- nodes of graphs ---- */

/* What is said of a node: it was made on a thread, or it is a copy of another one, as every node is that runs: a graph
 * is copied when it is instantiated. Copies may be said to be made, too. */
struct node {
	uint32_t original; /* its index + 1; 0: it is no copy */
	uint32_t made;     /* build_node; 0: nothing is said of it, or no op needed it yet */
	int64_t time, thread, chain;
	bool seen; /* the last three are known */
};

/* Where in Python a node was made: the frame of a stack that says most. */
struct made_at {
	uint64_t function, file;
	int64_t depth;
	uint32_t line;
	bool library;
};

struct nodes {
	struct keymap processes, ids, keys; /* keys: process << 32 | id, both numbered */
	struct node *list;                  /* by index of keys */
	struct keymap chains;
	struct made_at *chain; /* by index of chains */
	struct arena *arena;
};

static uint64_t node_key(struct nodes *n, uint64_t process, int64_t id)
{
	return (uint64_t)keymap_add(&n->processes, process) << 32 | keymap_add(&n->ids, (uint64_t)id);
}

/* Its index; list may move. */
static uint32_t add_node(struct nodes *n, uint64_t process, int64_t id)
{
	return KEYMAP_ADD(n->arena, &n->keys, node_key(n, process, id), n->list);
}

/* `table`: CUDA_GRAPH_NODE_EVENTS or, as nsys called it until 2023, CUDA_GRAPH_EVENTS, which holds graphs now. */
static int read_nodes(struct nsys *r, const char *table, struct nodes *n)
{
	enum { ID, ORIGINAL, TIME, THREAD, CHAIN, N };
	static const char *const columns[N] = {"graphNodeId", "originalGraphNodeId", "start", "globalTid",
	                                       "callchainId"};
	struct scan s;
	nsys_scan(r, &s, table, columns, N);
	while (s.has[ID] && scan_row(&s)) {
		int64_t id = scan_int_or(&s, ID, 0), original = scan_int_or(&s, ORIGINAL, 0);
		int64_t time = scan_int_or(&s, TIME, 0), thread = scan_int_or(&s, THREAD, 0);
		if (!id || nsys_value_flaw(&s))
			continue;
		uint64_t process = nsys_process_key(thread);
		uint32_t of = original && original != id ? add_node(n, process, original) + 1 : 0;
		uint32_t at = add_node(n, process, id);
		struct node *node = &n->list[at];
		node->original = of ? of : node->original;
		if (!of && !node->seen) {
			node->time = time;
			node->thread = thread;
			node->chain = scan_int_or(&s, CHAIN, 0);
			node->seen = true;
		}
	}
	return scan_close(&s);
}

/* Stacks of the threads that made nodes, as our collector has them: of each the innermost frame that is no library's,
 * else the innermost. nsys's own hold places in C and C++, and no lines. */
static int read_chains(struct nsys *r, struct nodes *n)
{
	enum { ID, FUNCTION, FILE, DEPTH, LINE, LIBRARY, N };
	static const char *const columns[N] = {"id", "symbol", "module", "stackDepth", "line", "library"};
	struct scan s;
	nsys_scan_numbers(r, &s, "CUDA_CALLCHAINS", columns, N, 0);
	while (s.has[LINE] && scan_row(&s)) {
		struct made_at at = {.function = build_number(scan_int_or(&s, FUNCTION, -1)),
		                     .file = build_number(scan_int_or(&s, FILE, -1)),
		                     .depth = scan_int_or(&s, DEPTH, 0),
		                     .library = scan_int_or(&s, LIBRARY, 0) != 0};
		const int64_t line = scan_int_or(&s, LINE, 0);
		at.line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
		if (nsys_value_flaw(&s))
			continue;
		uint32_t known = n->chains.n;
		uint32_t i = KEYMAP_ADD(n->arena, &n->chains, (uint64_t)scan_int(&s, ID), n->chain);
		const struct made_at *best = &n->chain[i];
		if (i == known || at.library < best->library || (at.library == best->library && at.depth < best->depth))
			n->chain[i] = at;
	}
	return scan_close(&s);
}

/* Where the node was made that this one is a copy of: build_node; 0: not known. */
static uint32_t node_made(struct nsys *r, struct nodes *n, uint64_t process, int64_t id)
{
	enum { COPIES = 64 }; /* of copies: each child graph in another one is a further one, or two */
	if (!n->keys.n)
		return 0;
	uint32_t i = keymap_find(&n->keys, node_key(n, process, id));
	for (int k = 0; i != UINT32_MAX && n->list[i].original && k < COPIES; k++)
		i = n->list[i].original - 1;
	if (i == UINT32_MAX || n->list[i].original || !n->list[i].seen)
		return 0;
	struct node *node = &n->list[i];
	struct build_made made = {.thread = (uint64_t)node->thread, .time = node->time};
	const uint32_t chain = node->chain ? keymap_find(&n->chains, (uint64_t)node->chain) : UINT32_MAX;
	if (chain != UINT32_MAX) {
		made.function = n->chain[chain].function;
		made.file = n->chain[chain].file;
		made.line = n->chain[chain].line;
	}
	if (!node->made)
		node->made = build_node(&r->build, &made);
	return node->made;
}

static int read_table(struct nsys *r, const char *table, enum op_kind kind, struct nodes *nodes)
{
	static const struct {
		const char *const *names;
		int n, bytes, details;
	} layouts[] = {
		[OP_KERNEL] = {KERNEL_COLUMNS, KERNEL_N, -1, KERNEL_DETAILS},
		[OP_GRAPH] = {GRAPH_COLUMNS, GRAPH_N, -1, COMMON_DETAILS},
		[OP_COPY] = {COPY_COLUMNS, COPY_N, COPY_BYTES, COMMON_DETAILS},
		[OP_MEMSET] = {SET_COLUMNS, SET_N, SET_BYTES, SET_DETAILS},
	};
	struct scan s;
	int basic = layouts[kind].n;
	int columns = r->wish->details ? basic + layouts[kind].details : basic;
	bool launch = kind == OP_KERNEL && (r->wish->details || !r->wish->only); /* six columns more for SQLite */
	if (kind == OP_KERNEL && !launch)
		columns = KERNEL_GRID;
	nsys_scan_numbers(r, &s, table, layouts[kind].names, columns, 0);
	int bytes_at = layouts[kind].bytes;
	bool has_node = kind != OP_GRAPH && s.has[NODE];
	while (scan_row(&s)) {
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
		int64_t node = has_node ? scan_int_or(&s, NODE, 0) : 0;
		if (node) {
			op.flags |= OPF_GRAPH_NODE;
			op.node = node_made(r, nodes, op.process, node);
			op.graph =
				(uint32_t)((uint64_t)node >> 32); /* CUPTI's numbers of nodes begin with the graph's */
		}
		if (bytes_at >= 0)
			op.bytes = scan_int_or(&s, bytes_at, 0);
		if (kind == OP_KERNEL) {
			op.name = build_number(scan_int_or(&s, KERNEL_NAME, -1));
		} else if (kind == OP_COPY) {
			int64_t direction = scan_int_or(&s, COPY_KIND, COPY_UNKNOWN);
			op.copy = direction < 0 || direction > COPY_UM_D2D ? COPY_UNKNOWN : (enum copy_kind)direction;
			op.from = memory_kind(&s, COPY_SOURCE);
			op.to = memory_kind(&s, COPY_TARGET);
		}
		op.flaw = nsys_value_flaw(&s);
		if (kind == OP_GRAPH)
			op.graph = graph_id(&s);
		if (launch)
			read_launch(&s, r->wish->details, &op);
		if (r->wish->details)
			read_details(&s, basic, &op);
		build_op(&r->build, &op);
	}
	return scan_close(&s);
}

static int read_ops(struct nsys *r)
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
	ARENA_LOCAL(scratch);
	struct nodes nodes = {.arena = &scratch};
	keymap_init(&nodes.processes, &scratch);
	keymap_init(&nodes.ids, &scratch);
	keymap_init(&nodes.keys, &scratch);
	keymap_init(&nodes.chains, &scratch);
	int result = read_nodes(r, "CUDA_GRAPH_EVENTS", &nodes);
	if (result == 0)
		result = read_chains(r, &nodes);
	if (result == 0)
		result = read_nodes(r, "CUDA_GRAPH_NODE_EVENTS", &nodes);
	for (int i = 0; i < TABLES && result == 0; i++)
		result = read_table(r, tables[i].name, tables[i].kind, &nodes);
	if (result != 0)
		return -1;
	if (r->build.devices.n > DEVICES_MAX)
		return err_set(r->err, "%s: names %u devices, which no profile has; export the report again with nsys",
		               r->path, r->build.devices.n);
	return 0;
}

/* The tables of events, which are nearly all of a profile. Where there are processors for it they are read side by
 * side, each group by a reader with a connection, names, memory and numbers of its own; joined in the order in which
 * one reader would have met them, the numbers are those that it would have given. */

static int read_host(struct nsys *r)
{
	if (nsys_read_ranges(r) != 0 || nsys_read_os_calls(r) != 0 || nsys_read_overheads(r) != 0)
		return -1;
	return nsys_read_switches(r) != 0 ? -1 : nsys_read_samples(r);
}

static int (*const read_group[])(struct nsys *) = {nsys_read_calls, read_ops, read_host};
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
	p->reader = &p->own;
	p->own = (struct nsys){.path = r->path,
	                       .wish = r->wish,
	                       .own_collector = r->own_collector,
	                       .names = &p->names,
	                       .arena = &p->arena,
	                       .trace = &p->trace,
	                       .err = &p->err};
	build_begin(&p->own.build, &p->trace, &p->names, &p->arena, r->wish->details);
	if (db_open(&p->own.db, r->path, source->plain, &p->arena, &p->err) != 0)
		return -1;
	db_meter(&p->own.db, &source->reading);
	return 0;
}

static bool is_wanted(const struct nsys *r, size_t group)
{
	static const unsigned kinds[GROUPS] = {READ_CALLS, READ_OPS, READ_HOST};
	return !r->wish->only || r->wish->only & kinds[group];
}

static int read_rows(struct nsys *r, size_t group)
{
	int result = is_wanted(r, group) ? read_group[group](r) : 0;
	build_trim(&r->build);
	return result;
}

static void read_part(void *context, size_t i)
{
	struct part *p = (struct part *)context + i;
	p->result = read_rows(p->reader, i);
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
	for (int i = 1; i < GROUPS; i++) {
		if (result == 0)
			build_join(&r->build, &parts[i].own.build);
		if (parts[i].own.n_peaks) { /* one of them read all ranges and marks */
			r->peaks = parts[i].own.peaks;
			r->n_peaks = parts[i].own.n_peaks;
		}
		if (parts[i].own.n_made) {
			r->made = parts[i].own.made;
			r->n_made = parts[i].own.n_made;
		}
		db_close(&parts[i].own.db);
		arena_adopt(r->arena, &parts[i].arena);
	}
	return result;
}

int nsys_read_events(struct nsys *r, struct source *source)
{
	if (parallel_width() > 1 && !r->wish->only)
		return read_side_by_side(r, source);
	for (int i = 0; i < GROUPS; i++)
		if (read_rows(r, (size_t)i) != 0)
			return -1;
	return 0;
}
