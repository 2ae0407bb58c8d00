/* Fuzz target: any bytes as what stands in a digest between its first line and its checksum, which are put around them:
 * else nothing that is damaged gets as far as its numbers. A digest that is given is taken out of its own first. */
#include "analyse/analyse.h"
#include "read/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char line[] = "gapline digest 1\n";

/* Walks over everything that the trace promises, so that a sanitizer sees a broken promise. */
static void walk(const struct trace *t)
{
	int64_t sum = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		if (t->ops.end[i] < t->ops.start[i] || t->ops.device[i] >= t->n_devices || t->ops.bytes[i] < 0)
			abort();
		sum += names_text(t->names, t->ops.name[i])[0];
	}
	for (size_t i = 0; i < t->ranges.n; i++) {
		if (t->ranges.end[i] < t->ranges.start[i] || t->ranges.thread[i] >= t->n_threads)
			abort();
		sum += names_text(t->names, t->ranges.name[i])[0] + names_text(t->names, t->ranges.domain[i])[0];
	}
	for (size_t i = 0; i < t->os_calls.n; i++)
		sum += names_text(t->names, t->os_calls.name[i])[0];
	for (uint32_t i = 0; i < t->n_dropped; i++)
		sum += t->dropped[i].where[0] + t->dropped[i].reason[0];
	for (size_t i = 0; i < t->n_gpu_samples; i++)
		if (t->gpu_samples[i].gpu >= t->n_gpus)
			abort();
	if (sum == INT64_MIN)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err = {0};
	struct buf bytes = {0};
	size_t head = n > sizeof line && memcmp(data, line, sizeof line - 1) == 0 ? sizeof line - 1 : 0;
	size_t tail = head && n > head + 9 ? 9 : 0;
	buf_add(&bytes, line, sizeof line - 1);
	buf_add(&bytes, (const char *)data + head, n - head - tail);
	uint32_t sum = digest_checksum(bytes.data, bytes.n);
	const unsigned char end[] = {3,
	                             'e',
	                             'n',
	                             'd',
	                             4,
	                             (unsigned char)sum,
	                             (unsigned char)(sum >> 8),
	                             (unsigned char)(sum >> 16),
	                             (unsigned char)(sum >> 24)};
	buf_add(&bytes, (const char *)end, sizeof end);
	names_init(&names, &arena);
	if (digest_decode("input", (const unsigned char *)bytes.data, bytes.n, &names, &arena, &trace, &err) == 0) {
		walk(&trace);
		digest_reduce(&trace, &arena);
		struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
		struct analysis analysis;
		const struct analyse_run run = {&trace, "input"};
		if (trace.ops.n)
			(void)analyse_one(&run, &options, &names, &arena, &analysis, &err);
	} else if (!err.text[0]) {
		abort();
	}
	buf_release(&bytes);
	arena_release(&arena);
	return 0;
}
