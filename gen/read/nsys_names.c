#include "read/nsys.h"
#include "trace/classify.h"

#include <stdlib.h>
#include <string.h>

/* Keys of nsys.strings: a StringIds.id as it is, an interned name with this bit. */
static const uint64_t AT_HAND = (uint64_t)1 << 62, UNKNOWN = (uint64_t)1 << 61;

uint32_t nsys_string(struct nsys *r, int64_t id)
{
	return keymap_add(&r->strings, id >= 0 && (uint64_t)id < UNKNOWN ? (uint64_t)id : UNKNOWN);
}

uint32_t nsys_text(struct nsys *r, uint32_t name)
{
	return keymap_add(&r->strings, AT_HAND | name);
}

uint32_t nsys_join_string(struct nsys *r, uint64_t key, const uint32_t *names)
{
	return key & AT_HAND ? nsys_text(r, names[key & ~AT_HAND]) : keymap_add(&r->strings, key);
}

/* One pass over StringIds, which may hold millions of texts (stack symbols, the output of the program): a text that no
 * row uses is not even looked at. */
int nsys_read_strings(struct nsys *r)
{
	enum { ID, VALUE, N };
	static const char *const columns[] = {"id", "value"};
	uint32_t n = r->strings.n;
	r->string_name = ARENA_NEW(r->arena, n, uint32_t);
	uint32_t unknown = names_add_text(r->names, "(unknown name)");
	for (uint32_t i = 0; i < n; i++)
		r->string_name[i] = r->strings.keys[i] & AT_HAND ? (uint32_t)(r->strings.keys[i] & ~AT_HAND) : unknown;
	struct scan s;
	if (scan_open(&s, &r->db, "StringIds", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t id = scan_int(&s, ID);
		uint32_t i = s.flaws || id < 0 || (uint64_t)id >= UNKNOWN ? UINT32_MAX
		                                                          : keymap_find(&r->strings, (uint64_t)id);
		if (i == UINT32_MAX)
			continue;
		size_t length;
		const char *text = scan_text(&s, VALUE, &length);
		if (text)
			r->string_name[i] = names_add(r->names, text, length);
	}
	scan_close(&s);
	return more;
}

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

/* Names of rows: indices of strings become interned names, and what the name tells becomes the row's class. */
static void resolve_names(struct nsys *r)
{
	struct trace *t = r->trace;
	uint32_t n = r->strings.n;
	uint8_t *class = ARENA_NEW(r->arena, n, uint8_t);

	for (uint32_t i = 0; i < n; i++)
		class[i] = classify_comm(names_text(r->names, r->string_name[i]));
	for (size_t i = 0; i < t->ops.n; i++) {
		if (t->ops.kind[i] == OP_KERNEL && class[t->ops.name[i]])
			t->ops.kind[i] = OP_COMM;
		t->ops.name[i] = r->string_name[t->ops.name[i]];
		if (r->wish->details) {
			t->ops.base_name[i] = r->string_name[t->ops.base_name[i]];
			t->ops.mangled_name[i] = r->string_name[t->ops.mangled_name[i]];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		class[i] = (uint8_t)classify_os(names_text(r->names, r->string_name[i]));
	for (size_t i = 0; i < t->os_calls.n; i++) {
		t->os_calls.class[i] = class[t->os_calls.name[i]];
		t->os_calls.name[i] = r->string_name[t->os_calls.name[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		class[i] = (uint8_t)classify_overhead(names_text(r->names, r->string_name[i]));
	for (size_t i = 0; i < t->overheads.n; i++) {
		if (class[t->overheads.name[i]] == OVERHEAD_MODULE_LOAD)
			t->overheads.class[i] = OVERHEAD_MODULE_LOAD;
		t->overheads.name[i] = r->string_name[t->overheads.name[i]];
	}
	for (size_t i = 0; i < t->ranges.n; i++) {
		uint32_t domain = r->domain_string[t->ranges.domain[i]];
		t->ranges.domain[i] = domain == TRACE_NONE ? 0 : r->string_name[domain];
		t->ranges.name[i] = r->string_name[t->ranges.name[i]];
	}
	for (uint32_t i = 0; i < r->thread_room && i < t->n_threads; i++)
		if (r->thread_string[i] != TRACE_NONE)
			t->threads[i].name = r->string_name[r->thread_string[i]];
	/* Calls last: stripping makes names of its own, only for strings that calls use. */
	enum { NEW, DONE = 128 };
	memset(class, NEW, n);
	uint32_t *stripped = ARENA_NEW(r->arena, n, uint32_t);
	if (r->wish->details)
		t->calls.full_name = ARENA_NEW(r->arena, t->calls.n, uint32_t);
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t string = t->calls.name[i];
		if (class[string] == NEW) {
			stripped[string] = strip_version(r->names, r->string_name[string]);
			class[string] = (uint8_t)(DONE | classify_call(names_text(r->names, stripped[string])));
		}
		t->calls.class[i] = class[string] & (DONE - 1);
		if (t->calls.full_name)
			t->calls.full_name[i] = r->string_name[string];
		t->calls.name[i] = stripped[string];
	}
}

/* ---- order of processes, threads and devices: by number, not by who came first ---- */

struct numbered {
	uint64_t key;
	uint32_t index;
};

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* New index by old index for n keys that are all different; NULL when they are in order already. */
static uint32_t *renumber(struct nsys *r, struct numbered *list, uint32_t n)
{
	uint32_t i = 1;
	while (i < n && list[i - 1].key < list[i].key)
		i++;
	if (i >= n)
		return NULL;
	qsort(list, n, sizeof *list, compare_numbered);
	uint32_t *new_index = ARENA_NEW(r->arena, n, uint32_t);
	for (i = 0; i < n; i++)
		new_index[list[i].index] = i;
	return new_index;
}

static void replace(uint32_t *column, size_t n, const uint32_t *new_index)
{
	for (size_t i = 0; i < n; i++)
		column[i] = new_index[column[i]];
}

static void order_processes(struct nsys *r)
{
	struct trace *t = r->trace;
	struct numbered *list = ARENA_NEW(r->arena, t->n_processes, struct numbered);
	for (uint32_t i = 0; i < t->n_processes; i++)
		list[i] = (struct numbered){t->processes[i].global, i};
	uint32_t *new_index = renumber(r, list, t->n_processes);
	if (!new_index)
		return;
	struct trace_process *sorted = ARENA_NEW(r->arena, t->n_processes, struct trace_process);
	for (uint32_t i = 0; i < t->n_processes; i++)
		sorted[new_index[i]] = t->processes[i];
	t->processes = sorted;
	for (uint32_t i = 0; i < t->n_threads; i++)
		t->threads[i].process = new_index[t->threads[i].process];
	for (uint32_t i = 0; i < t->n_devices; i++)
		t->devices[i].process = new_index[t->devices[i].process];
}

static void order_threads(struct nsys *r)
{
	struct trace *t = r->trace;
	struct numbered *list = ARENA_NEW(r->arena, t->n_threads, struct numbered);
	for (uint32_t i = 0; i < t->n_threads; i++)
		list[i] = (struct numbered){t->threads[i].global, i};
	uint32_t *new_index = renumber(r, list, t->n_threads);
	if (!new_index)
		return;
	struct trace_thread *sorted = ARENA_NEW(r->arena, t->n_threads, struct trace_thread);
	for (uint32_t i = 0; i < t->n_threads; i++)
		sorted[new_index[i]] = t->threads[i];
	t->threads = sorted;
	replace(t->calls.thread, t->calls.n, new_index);
	replace(t->ranges.thread, t->ranges.n, new_index);
	replace(t->os_calls.thread, t->os_calls.n, new_index);
	replace(t->overheads.thread, t->overheads.n, new_index);
	replace(t->slices.thread, t->slices.n, new_index);
}

static void order_devices(struct nsys *r)
{
	struct trace *t = r->trace;
	struct numbered *list = ARENA_NEW(r->arena, t->n_devices, struct numbered);
	for (uint32_t i = 0; i < t->n_devices; i++)
		list[i] = (struct numbered){(uint64_t)t->devices[i].process << 32 | t->devices[i].ordinal, i};
	uint32_t *new_index = renumber(r, list, t->n_devices);
	if (!new_index)
		return;
	struct trace_device *sorted = ARENA_NEW(r->arena, t->n_devices, struct trace_device);
	for (uint32_t i = 0; i < t->n_devices; i++)
		sorted[new_index[i]] = t->devices[i];
	t->devices = sorted;
	replace(t->ops.device, t->ops.n, new_index);
}

void nsys_finish(struct nsys *r)
{
	struct trace *t = r->trace;
	resolve_names(r);
	for (size_t i = 0; i < t->ranges.n; i++)
		if (t->ranges.clipped[i])
			t->ranges.end[i] = r->last_time;
	order_processes(r);
	order_threads(r);
	order_devices(r);
}
