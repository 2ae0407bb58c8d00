/* Fuzz target: any bytes as a profile, packed or not, through the same door as a user's file. */
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Walks over everything that the trace promises, so that a sanitizer sees a broken promise. */
static void walk(const struct trace *t)
{
	int64_t sum = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (t->ops.end[i] < t->ops.start[i] || t->ops.device[i] >= t->n_devices)
			abort();
		if (t->ops.launch[i] != TRACE_NONE && t->ops.launch[i] >= t->calls.n)
			abort();
		sum += names_text(t->names, t->ops.name[i])[0];
	}
	for (size_t i = 0; i < t->calls.n; i++) {
		if (t->calls.end[i] < t->calls.start[i] || t->calls.thread[i] >= t->n_threads)
			abort();
		sum += names_text(t->names, t->calls.name[i])[0];
	}
	for (size_t i = 0; i < t->ranges.n; i++) {
		if (t->ranges.end[i] < t->ranges.start[i] || t->ranges.thread[i] >= t->n_threads)
			abort();
		sum += names_text(t->names, t->ranges.name[i])[0] + names_text(t->names, t->ranges.domain[i])[0];
	}
	for (uint32_t d = 0; d < t->n_devices; d++) {
		if (t->devices[d].process >= t->n_processes ||
		    (t->devices[d].gpu != TRACE_NONE && t->devices[d].gpu >= t->n_gpus))
			abort();
		if (t->devices[d].memory_peak < 0 ||
		    (t->devices[d].memory_peak && t->devices[d].memory != MEMORY_SEEN &&
		     t->devices[d].memory != MEMORY_ALLOCATOR))
			abort();
		for (int k = 0; k < HELD_BYS * HELD_MOST; k++) {
			const struct trace_held *held = &t->devices[d].held[k / HELD_MOST][k % HELD_MOST];
			sum += names_text(t->names, held->name)[0];
			if (held->bytes < 0 || held->bytes > t->devices[d].memory_peak)
				abort();
		}
		sum += t->devices[d].n_ops;
	}
	if (t->first_call[t->n_threads] != t->calls.n || sum == INT64_MIN)
		abort();
}

/* A real file, because SQLite opens one by its path; written anew for each input. */
static char path[] = "/tmp/gapline-fuzz-XXXXXX";
static int fd = -1;

static void remove_input(void)
{
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_input);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err = {0};
	names_init(&names, &arena);
	if (read_profile(path, &names, &arena, &trace, &err) == 0)
		walk(&trace);
	else if (!err.text[0])
		abort();
	arena_release(&arena);
	return 0;
}
