/* The end of building a trace: two builders become one; keys become names; what names mean; order. */
#include "trace/build.h"

#include "base/list.h"
#include "base/sort.h"
#include "trace/classify.h"
#include "trace/owners.h"

#include <string.h>

/* ---- joining ---- */

static void join_dropped(struct build *b, const struct trace *from)
{
	struct trace *t = b->trace;
	size_t n = (size_t)t->n_dropped + from->n_dropped;
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		t->rows[kind].read += from->rows[kind].read;
		t->rows[kind].dropped += from->rows[kind].dropped;
	}
	t->dropped = arena_grow(b->arena, t->dropped, t->n_dropped, n, sizeof *t->dropped);
	for (uint32_t i = 0; i < from->n_dropped; i++)
		t->dropped[t->n_dropped++] = from->dropped[i];
}

/* Indices of b by those of another builder, in the order in which that one met them: as if b had met them now. */
struct numbers {
	uint32_t *string, *process, *thread, *device, *domain, *scheduled;
};

static struct numbers number_anew(struct build *b, const struct build *from, struct arena *scratch)
{
	const struct trace *t = from->trace;
	const uint32_t *names = names_merge(b->names, from->names, false, scratch);
	struct numbers x = {.string = ARENA_NEW(scratch, from->strings.n, uint32_t),
	                    .process = ARENA_NEW(scratch, from->processes.n, uint32_t),
	                    .thread = ARENA_NEW(scratch, from->threads.n, uint32_t),
	                    .device = ARENA_NEW(scratch, from->devices.n, uint32_t),
	                    .domain = ARENA_NEW(scratch, from->domains.n, uint32_t),
	                    .scheduled = ARENA_NEW(scratch, from->scheduled.n, uint32_t)};
	for (uint32_t i = 0; i < from->strings.n; i++) {
		uint64_t key = from->strings.keys[i];
		x.string[i] = keymap_add(&b->strings,
		                         key & BUILD_AT_HAND ? BUILD_AT_HAND | names[key & ~BUILD_AT_HAND] : key);
	}
	for (uint32_t i = 0; i < from->processes.n; i++)
		x.process[i] = build_process(b, from->processes.keys[i], t->processes[i].pid);
	for (uint32_t i = 0; i < from->threads.n; i++) {
		uint32_t process = t->threads[i].process;
		x.thread[i] = build_thread_index(b, &(struct build_thread){.key = from->threads.keys[i],
		                                                           .process = from->processes.keys[process],
		                                                           .pid = t->processes[process].pid,
		                                                           .tid = t->threads[i].tid});
	}
	for (uint32_t i = 0; i < from->devices.n; i++) {
		uint64_t key = from->devices.keys[i];
		x.device[i] = keymap_add(&b->devices, (uint64_t)x.process[key >> 32] << 32 | (uint32_t)key);
	}
	for (uint32_t i = 0; i < from->domains.n; i++) {
		uint64_t key = from->domains.keys[i];
		x.domain[i] =
			build_domain_index(b, x.process[key >> 32], (int64_t)from->domain_ids.keys[(uint32_t)key]);
		if (from->domain_string[i] != TRACE_NONE)
			b->domain_string[x.domain[i]] = x.string[from->domain_string[i]];
	}
	for (uint32_t i = 0; i < from->scheduled.n; i++)
		x.scheduled[i] = keymap_add(&b->scheduled, from->scheduled.keys[i]);
	return x;
}

void build_join(struct build *b, struct build *from)
{
	ARENA_LOCAL(scratch);
	struct trace *t = from->trace;
	const struct numbers x = number_anew(b, from, &scratch);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(t, rows, COLUMN_NAME, x.string);
		columns_renumber(t, rows, COLUMN_DOMAIN, x.domain);
		columns_renumber(t, rows, COLUMN_THREAD, x.thread);
		columns_renumber(t, rows, COLUMN_DEVICE, x.device);
		if (!*columns_rows(t, rows))
			continue;
		if (!*columns_rows(b->trace, rows)) {
			columns_take(b->trace, t, rows);
			b->room[rows] = from->room[rows];
		} else {
			build_trim(b);
			columns_append(b->trace, t, rows, 0, b->arena);
			b->room[rows] = *columns_rows(b->trace, rows);
		}
	}
	build_reserve(b, ROWS_OF_OPS, 0); /* the fixed names of ops, which rows that follow need */
	for (uint32_t i = 0; i < from->thread_room; i++)
		if (from->thread_string[i] != TRACE_NONE)
			build_name_index(b, x.thread[i], x.string[from->thread_string[i]]);
	for (size_t i = 0; i < from->switches.n; i++)
		slices_note(&b->switches, b->arena, from->switches.time[i], x.scheduled[from->switches.thread[i]],
		            from->switches.in[i]);
	for (size_t i = 0; i < from->n_flawed; i++) {
		LIST_GROW(b->arena, b->flawed, b->n_flawed, b->flawed_room);
		b->flawed[b->n_flawed] = from->flawed[i];
		b->flawed[b->n_flawed++].thread = x.scheduled[from->flawed[i].thread];
	}
	const uint32_t *frame = stack_samples_join(&b->samples, &from->samples, x.string, x.scheduled, &scratch);
	for (size_t i = 0; i < from->gil.n; i++) {
		struct gil_look look = from->gil.list[i];
		look.thread = x.scheduled[look.thread];
		look.holder = look.holder == TRACE_NONE ? TRACE_NONE : x.scheduled[look.holder];
		look.stack = frame[look.stack];
		gil_note(&b->gil, b->arena, &look);
	}
	if (from->n_nodes) { /* one group of rows alone has ops */
		b->nodes = from->nodes;
		b->n_nodes = from->n_nodes;
		build_number_nodes(b, x.string);
	}
	for (size_t i = 0; i < t->n_gpu_samples; i++)
		build_sample(b, &t->gpu_samples[i], NULL);
	if (t->ranges.last_time > b->trace->ranges.last_time)
		b->trace->ranges.last_time = t->ranges.last_time;
	if (from->last_time > b->last_time)
		b->last_time = from->last_time;
	for (uint32_t i = 0; i < from->string_room && i < from->strings.n; i++) {
		const char *text =
			from->string_name[i] == TRACE_NONE ? NULL : names_text(from->names, from->string_name[i]);
		if (text)
			build_give(b, x.string[i], text, strlen(text));
	}
	t->rows[ROWS_GPU_SAMPLES].read -= (int64_t)t->n_gpu_samples; /* counted with the samples just now */
	join_dropped(b, t);
}

/* ---- names ---- */

/* A call's name without the CUDA version that CUPTI appends, four or five digits: cudaMemcpyAsync_ptsz_v7000 ->
 * cudaMemcpyAsync. The driver's own names keep theirs: cuGetProcAddress_v2. */
static uint32_t strip_version(struct names *names, uint32_t id)
{
	const char *name = names_text(names, id);
	size_t n = strlen(name), digits = n;
	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (n - digits >= 4 && digits > 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
		n = digits - 2;
	if (n > 5 && (strncmp(name + n - 5, "_ptsz", 5) == 0 || strncmp(name + n - 5, "_ptds", 5) == 0))
		n -= 5;
	return name[n] ? names_add(names, name, n) : id;
}

/* The text of each string: at hand, given, or unknown. */
static const uint32_t *texts_of(struct build *b, struct arena *scratch)
{
	uint32_t *text = ARENA_NEW(scratch, b->strings.n, uint32_t);
	for (uint32_t i = 0; i < b->strings.n; i++) {
		uint64_t key = b->strings.keys[i];
		if (key & BUILD_AT_HAND) {
			text[i] = (uint32_t)(key & ~BUILD_AT_HAND);
		} else if (i < b->string_room && b->string_name[i] != TRACE_NONE) {
			text[i] = b->string_name[i];
		} else {
			if (!b->unknown_name)
				b->unknown_name = names_add_text(b->names, "(unknown name)");
			text[i] = b->unknown_name;
		}
	}
	return text;
}

/* What the names of calls tell. Stripping makes names of its own, only for strings that calls use. */
static void resolve_calls(struct build *b, const uint32_t *text, uint8_t *class, struct arena *scratch)
{
	enum { NEW, DONE = 128 };
	struct trace_calls *c = &b->trace->calls;
	uint32_t *stripped = ARENA_NEW(scratch, b->strings.n, uint32_t);
	memset(class, NEW, b->strings.n);
	for (size_t i = 0; i < c->n; i++) {
		uint32_t string = c->name[i];
		if (class[string] == NEW) {
			stripped[string] = strip_version(b->names, text[string]);
			class[string] = (uint8_t)(DONE | classify_call(names_text(b->names, stripped[string])));
		}
		c->class[i] = class[string] & (DONE - 1);
		if (c->full_name)
			c->full_name[i] = text[string];
		c->name[i] = stripped[string];
	}
}

/* Rows of which nobody knows what they did. `name`: indices of strings, `nameless`: which of those say nothing. */
static void count_unnamed(struct build *b, enum row_kind kind, const uint32_t *name, size_t n, const bool *nameless)
{
	int64_t unnamed = 0;
	for (size_t i = 0; i < n; i++)
		unnamed += nameless[name[i]];
	build_from(b, "StringIds");
	if (unnamed)
		build_lack(b, kind, TRACE_NO_NAME, unnamed);
}

static void resolve_names(struct build *b)
{
	ARENA_LOCAL(scratch);
	struct trace *t = b->trace;
	const uint32_t *text = texts_of(b, &scratch);
	uint8_t *class = ARENA_NEW(&scratch, b->strings.n, uint8_t);
	uint32_t *domain = ARENA_NEW(&scratch, b->domains.n, uint32_t);
	bool *nameless = ARENA_NEW(&scratch, b->strings.n, bool);
	for (uint32_t i = 0; i < b->strings.n; i++)
		nameless[i] = !text[i] || text[i] == b->unknown_name;
	count_unnamed(b, ROWS_CALLS, t->calls.name, t->calls.n, nameless);
	count_unnamed(b, ROWS_OS_CALLS, t->os_calls.name, t->os_calls.n, nameless);
	count_unnamed(b, ROWS_KERNELS, t->ops.name, t->ops.n, nameless); /* other ops have names of their own */
	classify_rows(b->trace, b->names, text, ARENA_NEW(&scratch, b->strings.n, uint32_t));
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		if (rows != ROWS_OF_CALLS)
			columns_renumber(t, rows, COLUMN_NAME, text);
	for (uint32_t i = 0; i < b->domains.n; i++)
		domain[i] = b->domain_string[i] == TRACE_NONE ? 0 : text[b->domain_string[i]];
	columns_renumber(t, ROWS_OF_RANGES, COLUMN_DOMAIN, domain);
	for (uint32_t i = 0; i < b->thread_room && i < t->n_threads; i++)
		if (b->thread_string[i] != TRACE_NONE)
			t->threads[i].name = text[b->thread_string[i]];
	resolve_calls(b, text, class, &scratch);
	stack_samples_list(&b->samples, text, t->names, &t->stacks, b->arena);
	build_number_nodes(b, text);
}

/* ---- order of processes, threads and devices: by key, not by who came first ---- */

struct numbered {
	uint64_t key;
	uint32_t index;
};

SORT_ORDER(compare_numbered, struct numbered, ASCENDING(x->key, y->key))

/* New index by old index for n keys that are all different. */
static const uint32_t *order_keys(const uint64_t *keys, uint32_t n, struct arena *scratch)
{
	struct numbered *list = ARENA_NEW(scratch, n, struct numbered);
	uint32_t *number = ARENA_NEW(scratch, n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct numbered){keys[i], i};
	SORT(list, n, compare_numbered);
	for (uint32_t i = 0; i < n; i++)
		number[list[i].index] = i;
	return number;
}

static bool in_order(const uint32_t *number, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && number[i] == i)
		i++;
	return i == n;
}

/* Moves item i of n to number[i]. */
static void permute(void *items, size_t size, uint32_t n, const uint32_t *number, struct arena *scratch)
{
	if (!n)
		return;
	char *copy = arena_alloc(scratch, n, size);
	memcpy(copy, items, n * size);
	for (uint32_t i = 0; i < n; i++)
		memcpy((char *)items + number[i] * size, copy + i * size, size);
}

static void list_devices(struct build *b, const uint32_t *process)
{
	struct trace *t = b->trace;
	t->n_devices = b->devices.n;
	t->devices = ARENA_NEW(b->arena, t->n_devices, struct trace_device);
	for (uint32_t i = 0; i < t->n_devices; i++) {
		uint64_t key = b->devices.keys[i];
		t->devices[i] = (struct trace_device){
			.process = process[key >> 32], .ordinal = (uint32_t)key, .gpu = TRACE_NONE};
	}
}

/* By thread of the scheduler's events and samples: which one it is, TRACE_NONE where nothing else is of it. */
static const uint32_t *order_all(struct build *b)
{
	ARENA_LOCAL(scratch);
	struct trace *t = b->trace;
	const uint32_t *process = order_keys(b->processes.keys, t->n_processes, &scratch);
	const uint32_t *thread = order_keys(b->threads.keys, t->n_threads, &scratch);
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i].process = process[t->threads[i].process];
	list_devices(b, process);
	uint64_t *device_keys = ARENA_NEW(&scratch, t->n_devices, uint64_t);
	for (uint32_t i = 0; i < t->n_devices; i++)
		device_keys[i] = (uint64_t)t->devices[i].process << 32 | t->devices[i].ordinal;
	const uint32_t *device = order_keys(device_keys, t->n_devices, &scratch);
	permute(t->processes, sizeof *t->processes, t->n_processes, process, &scratch);
	permute(t->threads, sizeof *t->threads, t->n_threads, thread, &scratch);
	permute(t->devices, sizeof *t->devices, t->n_devices, device, &scratch);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		if (!in_order(thread, t->n_threads))
			columns_renumber(t, rows, COLUMN_THREAD, thread);
		if (!in_order(device, t->n_devices))
			columns_renumber(t, rows, COLUMN_DEVICE, device);
	}
	/* Samples and the scheduler's events, of threads that have rows. */
	uint32_t *known_thread = ARENA_NEW(b->arena, b->scheduled.n, uint32_t);
	for (uint32_t i = 0; i < b->scheduled.n; i++) {
		uint32_t of = keymap_find(&b->threads, b->scheduled.keys[i]);
		known_thread[i] = of == TRACE_NONE ? TRACE_NONE : thread[of];
	}
	for (uint32_t i = 0; i < b->n_nodes; i++) { /* from a key to an index */
		uint32_t of = keymap_find(&b->threads, b->nodes[i].thread);
		b->nodes[i].thread = of == TRACE_NONE ? TRACE_NONE : thread[of];
	}
	stack_samples_give(&b->samples, known_thread, b->arena, &t->samples);
	struct slice_events known = {0};
	for (size_t i = 0; i < b->switches.n; i++) {
		uint32_t of = known_thread[b->switches.thread[i]];
		if (of != TRACE_NONE)
			slices_note(&known, &scratch, b->switches.time[i], of, b->switches.in[i]);
	}
	slices_build(&known, t->n_threads, b->arena, &t->slices);
	for (size_t i = 0; i < b->n_flawed; i++) {
		build_from(b, b->flawed[i].where);
		if (known_thread[b->flawed[i].thread] != TRACE_NONE)
			build_drop(b, ROWS_SLICES, b->flawed[i].flaw);
		else
			t->rows[ROWS_SLICES].read++;
	}
	return known_thread;
}

/* ---- the source, as far as rows tell ---- */

/* How graph launches were traced: what the capture's options say counts when there is a sign of graphs at all. */
static void tell_graph_mode(struct build *b)
{
	struct trace *t = b->trace;
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
		t->source.graphs = b->stated_mode != GRAPHS_NONE ? b->stated_mode
		                   : whole                       ? GRAPHS_WHOLE
		                   : nodes                       ? GRAPHS_BY_NODE
		                                                 : GRAPHS_NONE;
}

SORT_ORDER(compare_samples, struct trace_gpu_sample,
           ASCENDING(x->gpu, y->gpu) ?: ASCENDING(x->time, y->time) ?: ASCENDING(x->sm_mhz, y->sm_mhz)
                   ?: ASCENDING(x->memory_mhz, y->memory_mhz) ?: ASCENDING(x->power_mw, y->power_mw)
                   ?: ASCENDING(x->temperature_c, y->temperature_c)
                   ?: ASCENDING(x->busy_percent, y->busy_percent) ?: ASCENDING(x->has_limits, y->has_limits)
                   ?: ASCENDING((int64_t)x->limits, (int64_t)y->limits))

void build_order_samples(struct build *b)
{
	SORT(b->trace->gpu_samples, b->trace->n_gpu_samples, compare_samples);
}

void build_finish(struct build *b)
{
	struct trace *t = b->trace;
	ARENA_LOCAL(scratch);
	resolve_names(b);
	const bool *is_module = owners_name_modules(t, &scratch);
	for (size_t i = 0; i < t->ranges.n; i++)
		if (t->ranges.clipped[i])
			t->ranges.end[i] = b->last_time;
	const uint32_t *known_thread = order_all(b);
	build_trim(b);
	t->source.has_calls = t->calls.n > 0;
	t->source.has_ranges = t->ranges.n > 0;
	for (size_t i = 0; i < t->os_calls.n && !t->source.has_os_calls; i++)
		t->source.has_os_calls = t->os_calls.class[i] != OS_PEER;
	t->source.has_overheads = t->overheads.n > 0;
	t->source.has_lock = b->gil.n > 0 && t->source.sample_ns > 0;
	tell_graph_mode(b);
	trace_link(t, b->arena);
	owners_give(t, is_module, b->arena);
	build_creators(b);
	gil_build(&b->gil, known_thread, t->source.sample_ns, b->arena, t);
}

void build_drop_ids(struct build *b)
{
	struct trace *t = b->trace;
	arena_trim(b->arena, t->ops.correlation, t->ops.n, 0, sizeof *t->ops.correlation);
	arena_trim(b->arena, t->calls.correlation, t->calls.n, 0, sizeof *t->calls.correlation);
	t->ops.correlation = t->calls.correlation = t->ops.creation = NULL;
}

/* What samples of threads say, while a trace is built. */

/* True when the row can be used, which is counted either way. */
static bool usable(struct build *b, const char *flaw, int64_t time)
{
	flaw = flaw ? flaw : build_time_flaw(time, time, false);
	if (flaw)
		build_drop(b, ROWS_SAMPLES, flaw);
	else
		b->trace->rows[ROWS_SAMPLES].read++;
	return !flaw;
}

uint32_t build_stack(struct build *b, const struct build_frame *frames, size_t n)
{
	uint32_t frame = 0;
	bool fits = true;
	for (size_t i = 0; i < n && fits; i++) {
		const struct build_frame *f = &frames[i];
		uint32_t name = f->unresolved ? TRACE_NONE : keymap_add(&b->strings, f->name);
		fits = stack_samples_enter(&b->samples, &frame, name, keymap_add(&b->strings, f->module));
	}
	return frame;
}

void build_host_sample(struct build *b, const struct build_host_sample *row)
{
	if (!usable(b, row->flaw, row->time))
		return;
	stack_samples_note(&b->samples, row->time, keymap_add(&b->scheduled, row->thread), row->stack);
}

void build_gil(struct build *b, const struct build_gil *row)
{
	if (!usable(b, row->flaw, row->time))
		return;
	uint32_t holder = TRACE_NONE;
	if (row->waits && row->holder.key) { /* whoever is waited for is listed, whatever else is known of it */
		build_thread_index(b, &row->holder);
		holder = keymap_add(&b->scheduled, row->holder.key);
	}
	gil_note(&b->gil, b->arena,
	         &(struct gil_look){row->time, keymap_add(&b->scheduled, row->thread), holder, row->stack,
	                            row->switches, row->waits});
}
