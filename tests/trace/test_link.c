/* trace_link on random traces, against answers found by looking at every pair of rows. */
#include "trace/classify.h"
#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Rows carry a number of their own in a column that linking does not look at, so that they can be recognised: ops in
 * bytes, calls in (end - start), all different. */
struct made {
	struct arena arena;
	struct names names;
	struct trace trace;
};

enum { PROCESSES = 3, THREADS = 7, DEVICES = 4 };

/* `spread`: how far apart correlation ids lie; large ones make the process's table sparse. `disorder`: 0 rows come in
 * order of start. */
static void make(struct made *m, size_t n_ops, size_t n_calls, uint32_t spread, int disorder)
{
	*m = (struct made){0};
	names_init(&m->names, &m->arena);
	struct trace *t = &m->trace;
	struct arena *a = &m->arena;
	t->names = &m->names;
	uint32_t launch = names_add_text(&m->names, "cudaLaunchKernel"),
		 copy = names_add_text(&m->names, "cudaMemcpyAsync"),
		 blocking = names_add_text(&m->names, "cudaMemcpy");
	t->n_processes = PROCESSES;
	t->processes = ARENA_NEW(a, PROCESSES, struct trace_process);
	t->n_threads = THREADS;
	t->threads = ARENA_NEW(a, THREADS, struct trace_thread);
	for (uint32_t i = 0; i < THREADS; i++)
		t->threads[i].process = i % PROCESSES;
	t->n_devices = DEVICES;
	t->devices = ARENA_NEW(a, DEVICES, struct trace_device);
	for (uint32_t i = 0; i < DEVICES; i++)
		t->devices[i].process = i % PROCESSES;

	struct trace_calls *c = &t->calls;
	c->n = n_calls;
	c->start = ARENA_NEW(a, n_calls, int64_t);
	c->end = ARENA_NEW(a, n_calls, int64_t);
	c->name = ARENA_NEW(a, n_calls, uint32_t);
	c->thread = ARENA_NEW(a, n_calls, uint32_t);
	c->correlation = ARENA_NEW(a, n_calls, uint32_t);
	c->class = ARENA_NEW(a, n_calls, uint8_t);
	for (size_t i = 0; i < n_calls; i++) {
		c->start[i] = disorder ? below(200) : (int64_t)i;
		c->end[i] = c->start[i] + (int64_t)i; /* the row's own number */
		c->thread[i] = below(THREADS);
		c->correlation[i] = below(4) ? 1 + below((uint32_t)n_calls + 5) * spread : 0;
		c->name[i] = (uint32_t[]){launch, copy, blocking}[below(3)];
		c->class[i] = (uint8_t)classify_call(names_text(&m->names, c->name[i]));
	}
	struct trace_ops *o = &t->ops;
	o->n = n_ops;
	o->start = ARENA_NEW(a, n_ops, int64_t);
	o->end = ARENA_NEW(a, n_ops, int64_t);
	o->bytes = ARENA_NEW(a, n_ops, int64_t);
	o->name = ARENA_NEW(a, n_ops, uint32_t);
	o->device = ARENA_NEW(a, n_ops, uint32_t);
	o->stream = ARENA_NEW(a, n_ops, uint32_t);
	o->correlation = ARENA_NEW(a, n_ops, uint32_t);
	o->launch = ARENA_NEW(a, n_ops, uint32_t);
	o->kind = ARENA_NEW(a, n_ops, uint8_t);
	o->copy = ARENA_NEW(a, n_ops, uint8_t);
	o->flags = ARENA_NEW(a, n_ops, uint8_t);
	for (size_t i = 0; i < n_ops; i++) {
		o->start[i] = disorder ? below(100) : (int64_t)(i / 2);
		o->end[i] = o->start[i] + below(3);
		o->bytes[i] = (int64_t)i;
		o->device[i] = below(DEVICES);
		o->correlation[i] = below(5) ? 1 + below((uint32_t)n_calls + 5) * spread : 0;
		o->kind[i] = below(2) ? OP_COPY : OP_KERNEL;
		o->copy[i] = o->kind[i] == OP_COPY ? (uint8_t)(1 + below(2)) : 0; /* to the device, or back */
		o->flags[i] = (uint8_t)(below(3) ? 0 : OPF_PAGEABLE);
		if (below(10) == 0)
			o->flags[i] |= OPF_MANAGED;
	}
}

static void *copy_of(const void *data, size_t n)
{
	void *copy = malloc(n + 1);
	memcpy(copy, data, n);
	return copy;
}

static void check(struct made *m)
{
	struct trace *t = &m->trace;
	struct trace_ops *o = &t->ops;
	struct trace_calls *c = &t->calls;
	size_t n_ops = o->n, n_calls = c->n;
	uint32_t *op_id = copy_of(o->correlation, n_ops * 4), *op_device = copy_of(o->device, n_ops * 4);
	uint8_t *op_flags = copy_of(o->flags, n_ops), *op_kind = copy_of(o->kind, n_ops),
		*op_copy = copy_of(o->copy, n_ops);
	int64_t *op_start = copy_of(o->start, n_ops * 8);
	uint32_t *call_id = copy_of(c->correlation, n_calls * 4), *call_thread = copy_of(c->thread, n_calls * 4),
		 *call_name = copy_of(c->name, n_calls * 4);
	int64_t *call_start = copy_of(c->start, n_calls * 8);
	uint8_t *call_class = copy_of(c->class, n_calls);
	trace_link(t, &m->arena);

	/* Calls: all there, unchanged, in order, and the first of each thread is right. */
	uint8_t *seen = calloc(n_calls + n_ops + 1, 1);
	for (size_t i = 0; i < n_calls; i++) {
		size_t was = (size_t)(c->end[i] - c->start[i]);
		assert_true(was < n_calls && !seen[was]++);
		assert_int_equal(c->start[i], call_start[was]);
		assert_int_equal(c->thread[i], call_thread[was]);
		assert_int_equal(c->correlation[i], call_id[was]);
		assert_int_equal(c->name[i], call_name[was]);
		if (i > 0) {
			int64_t x[] = {c->thread[i - 1], c->start[i - 1], -c->end[i - 1]};
			int64_t y[] = {c->thread[i], c->start[i], -c->end[i]};
			assert_true(x[0] < y[0] || (x[0] == y[0] && (x[1] < y[1] || (x[1] == y[1] && x[2] <= y[2]))));
		}
	}
	for (uint32_t thread = 0; thread <= THREADS; thread++) {
		uint32_t rows = 0;
		for (size_t i = 0; i < n_calls; i++)
			rows += c->thread[i] < thread;
		assert_int_equal(t->first_call[thread], rows);
		assert_int_equal(t->first_range[thread], 0);
		assert_int_equal(t->first_os_call[thread], 0);
		assert_int_equal(t->first_overhead[thread], 0);
	}

	/* Ops: all there, in order, launched by the first call of the process with their id. */
	uint8_t *op_seen = seen + n_calls, *blocks = calloc(n_calls + 1, 1);
	int64_t unlaunched = 0;
	uint32_t *first = calloc(DEVICES + 1, sizeof *first);
	for (size_t i = 0; i < n_ops; i++) {
		size_t was = (size_t)o->bytes[i];
		assert_true(was < n_ops && !op_seen[was]++);
		assert_int_equal(o->device[i], op_device[was]);
		assert_int_equal(o->start[i], op_start[was]);
		assert_int_equal(o->correlation[i], op_id[was]);
		assert_int_equal(o->flags[i], op_flags[was]);
		assert_int_equal(o->kind[i], op_kind[was]);
		uint32_t expect = TRACE_NONE;
		for (uint32_t k = 0; k < n_calls && expect == TRACE_NONE; k++)
			if (op_id[was] && !(op_flags[was] & OPF_MANAGED) && c->correlation[k] == op_id[was] &&
			    c->thread[k] % PROCESSES == op_device[was] % PROCESSES)
				expect = k;
		assert_int_equal(o->launch[i], expect);
		unlaunched += expect == TRACE_NONE && !(op_flags[was] & OPF_MANAGED);
		if (expect != TRACE_NONE && op_kind[was] == OP_COPY && op_copy[was] == COPY_D2H) {
			const char *name = names_text(&m->names, c->name[expect]);
			if (strcmp(name, "cudaLaunchKernel") != 0) /* 1: waits, 2: and counts as a synchronisation */
				blocks[expect] = strcmp(name, "cudaMemcpy") == 0                    ? 2
				                 : (op_flags[was] & OPF_PAGEABLE) || blocks[expect] ? 1
				                                                                    : 0;
		}
		if (i > 0) {
			int64_t x[] = {o->device[i - 1], o->start[i - 1], o->end[i - 1], o->launch[i - 1]};
			int64_t y[] = {o->device[i], o->start[i], o->end[i], o->launch[i]};
			int k = 0;
			while (k < 3 && x[k] == y[k])
				k++;
			assert_true(x[k] <= y[k]);
		}
		first[o->device[i]]++;
	}
	assert_int_equal(t->n_unlaunched, unlaunched);
	uint32_t at = 0;
	for (uint32_t d = 0; d < DEVICES; d++) {
		assert_int_equal(t->devices[d].first_op, at);
		assert_int_equal(t->devices[d].n_ops, first[d]);
		at += first[d];
	}
	for (size_t i = 0; i < n_calls; i++) {
		size_t was = (size_t)(c->end[i] - c->start[i]);
		assert_int_equal(c->class[i], blocks[i] == 2 ? CALL_SYNC : call_class[was]);
		assert_int_equal(c->waits[i], blocks[i] || call_class[was] == CALL_SYNC);
	}
	void *const all[] = {op_id,     op_device,   op_flags,   op_kind,    op_copy, op_start, call_id,
	                     call_name, call_thread, call_start, call_class, seen,    blocks,   first};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	arena_release(&m->arena);
}

static void random_traces(void **state)
{
	(void)state;
	struct made m;
	seed = 20240711;
	for (int i = 0; i < 300; i++) {
		make(&m, below(120), below(80), 1, i % 3 != 0);
		check(&m);
	}
}

/* Ids with holes between them cannot have a table each: 4 million ids for 60 calls. */
static void sparse_correlation_ids(void **state)
{
	(void)state;
	struct made m;
	seed = 7;
	for (int i = 0; i < 100; i++) {
		make(&m, below(120), 1 + below(60), 65537, 1);
		check(&m);
	}
}

static void long_disordered_tables(void **state)
{
	(void)state;
	struct made m;
	seed = 99;
	make(&m, 3000, 2500, 1, 1);
	check(&m);
}

static void nothing_at_all(void **state)
{
	(void)state;
	struct made m;
	seed = 1;
	make(&m, 0, 0, 1, 0);
	check(&m);
	struct trace empty = {.names = &m.names};
	struct arena a = {0};
	names_init(&m.names, &a);
	trace_link(&empty, &a);
	assert_int_equal(empty.first_call[0], 0);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces),
		cmocka_unit_test(sparse_correlation_ids),
		cmocka_unit_test(long_disordered_tables),
		cmocka_unit_test(nothing_at_all),
	};
	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
