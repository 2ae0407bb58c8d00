/* Fuzz target: any bytes as a trace of the PyTorch profiler, read with all its details. What is read keeps its
 * promises. Minimal traces to begin with are in tests/fuzz/corpus. */
#include "read/kineto.h"
#include "trace/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void keep(bool promise)
{
	if (!promise)
		abort();
}

static void walk(const struct trace *t)
{
	struct arena arena = {0};
	struct comm_calls calls;
	for (size_t i = 0; i < t->ops.n; i++) {
		keep(t->ops.end[i] >= t->ops.start[i] && t->ops.start[i] >= 0);
		keep(t->ops.device[i] < t->n_devices && t->ops.name[i] < t->names->n);
		keep(t->ops.launch[i] == TRACE_NONE || t->ops.launch[i] < t->calls.n);
		keep(!t->ops.shape[i] || t->ops.kind[i] == OP_KERNEL || t->ops.kind[i] == OP_COMM);
	}
	for (size_t i = 0; i < t->calls.n; i++)
		keep(t->calls.end[i] >= t->calls.start[i] && t->calls.thread[i] < t->n_threads &&
		     t->calls.name[i] < t->names->n);
	for (size_t i = 0; i < t->ranges.n; i++)
		keep(t->ranges.end[i] >= t->ranges.start[i] && t->ranges.thread[i] < t->n_threads &&
		     t->ranges.name[i] < t->names->n && t->ranges.domain[i] < t->names->n);
	for (size_t i = 0; i < t->comm_calls.n; i++)
		keep(t->comm_calls.end[i] >= t->comm_calls.start[i] && t->comm_calls.thread[i] < t->n_threads &&
		     t->comm_calls.name[i] < t->names->n && t->comm_calls.bytes[i] >= 0);
	for (uint32_t i = 0; i < t->n_threads; i++)
		keep(t->threads[i].process < t->n_processes);
	for (uint32_t i = 0; i < t->n_devices; i++)
		keep(t->devices[i].process < t->n_processes &&
		     (t->devices[i].gpu == TRACE_NONE || t->devices[i].gpu < t->n_gpus));
	keep(t->source.kind == SOURCE_KINETO && t->source.rank >= -1);
	comm_calls_find(t, &arena, &calls);
	for (size_t i = 0; i < calls.n_ops; i++)
		keep(calls.ops[i].op < t->ops.n && calls.ops[i].n > 0);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	static char path[64];
	if (fd < 0) {
		fd = memfd_create("fuzz-kineto", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	const struct read_wish wish = {.details = true, .without_gpu = true};
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err = {0};
	struct source source;
	names_init(&names, &arena);
	if (source_open(&source, path, NULL, &err) == 0 && kineto_recognise(&source.head)) {
		if (read_profile_with(path, &wish, &names, &arena, &trace, &err) == 0)
			walk(&trace);
		else
			keep(err.text[0]);
	}
	source_close(&source);
	arena_release(&arena);
	return 0;
}
