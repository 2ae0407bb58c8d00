/* Spools for tests, written block by block from the structs of capture/spool.h. Records of CUPTI are laid out by hand:
 * where each number lies is copied from the comments of cupti_activity.h, not from the code under test, and held
 * against NVIDIA's own structs where the toolkit is (test_convert.c). */
#ifndef GAPLINE_TESTS_SPOOL_MAKER_H
#define GAPLINE_TESTS_SPOOL_MAKER_H

#include "base/buf.h"
#include "capture/spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spool_maker {
	struct buf bytes;
};

static inline void spool_begin(struct spool_maker *m, uint32_t pid, uint32_t writer)
{
	*m = (struct spool_maker){0};
	const struct spool_header header = {.magic = SPOOL_MAGIC,
	                                    .version = SPOOL_VERSION,
	                                    .clock = SPOOL_MONOTONIC,
	                                    .pid = pid,
	                                    .parent = 1,
	                                    .writer = writer,
	                                    .monotonic_ns = 1000000,
	                                    .realtime_ns = 2000000};
	buf_add(&m->bytes, (const char *)&header, sizeof header);
}

static inline void spool_block2(struct spool_maker *m, uint32_t type, uint32_t tid, const void *head, size_t head_bytes,
                                const void *tail, size_t tail_bytes)
{
	const struct spool_block block = {type, tid, head_bytes + tail_bytes};
	buf_add(&m->bytes, (const char *)&block, sizeof block);
	buf_add(&m->bytes, head, head_bytes);
	buf_add(&m->bytes, tail, tail_bytes);
	buf_add(&m->bytes, "\0\0\0\0\0\0\0", (8 - block.bytes % 8) % 8);
}

static inline void spool_add(struct spool_maker *m, uint32_t type, uint32_t tid, const void *payload, size_t bytes)
{
	spool_block2(m, type, tid, payload, bytes, "", 0);
}

static inline void spool_add_text(struct spool_maker *m, uint32_t type, uint32_t tid, const char *text)
{
	spool_add(m, type, tid, text, strlen(text));
}

static inline void spool_add_cupti(struct spool_maker *m, uint32_t version)
{
	const struct spool_cupti cupti = {version, 13000, 1, 3};
	spool_add(m, SPOOL_CUPTI, 0, &cupti, sizeof cupti);
}

static inline void spool_add_size(struct spool_maker *m, uint32_t kind, uint32_t size)
{
	const struct spool_record_size stated = {kind, size};
	spool_add(m, SPOOL_RECORD_SIZES, 0, &stated, sizeof stated);
}

static inline void spool_add_callback(struct spool_maker *m, uint32_t domain, uint32_t id, const char *text)
{
	char payload[256] = {0};
	const struct spool_callback callback = {domain, id, (uint32_t)(sizeof callback + (strlen(text) + 7) / 8 * 8),
	                                        (uint32_t)strlen(text)};
	memcpy(payload, &callback, sizeof callback);
	memcpy(payload + sizeof callback, text, strlen(text));
	spool_add(m, SPOOL_CALLBACK_NAMES, 0, payload, callback.bytes);
}

static inline void spool_add_kernel_name(struct spool_maker *m, uint64_t value, const char *name)
{
	spool_block2(m, SPOOL_KERNEL_NAME, 0, &value, sizeof value, name, strlen(name));
}

static inline void spool_add_message(struct spool_maker *m, uint32_t severity, const char *text)
{
	const struct spool_message message = {severity, SPOOL_CODE_OTHER};
	spool_block2(m, SPOOL_MESSAGE, 0, &message, sizeof message, text, strlen(text));
}

static inline void spool_add_device(struct spool_maker *m, const struct spool_device *device, const char *name)
{
	struct spool_device d = *device;
	d.name_bytes = (uint32_t)strlen(name);
	spool_block2(m, SPOOL_DEVICE, 0, &d, sizeof d, name, strlen(name));
}

static inline void spool_end(struct spool_maker *m, int64_t time)
{
	spool_add(m, SPOOL_END, 0, &time, sizeof time);
}

/* ---- events, collected and then written as one block ---- */

struct spool_events {
	struct buf bytes;
};

static inline void spool_event(struct spool_events *events, struct spool_event event, const void *text, size_t n)
{
	event.text_bytes = (uint32_t)n;
	event.bytes = (uint32_t)(sizeof event + (n + 7) / 8 * 8);
	buf_add(&events->bytes, (const char *)&event, sizeof event);
	buf_add(&events->bytes, text, n);
	buf_add(&events->bytes, "\0\0\0\0\0\0\0", (8 - n % 8) % 8);
}

static inline void spool_event_text(struct spool_events *events, struct spool_event event, const char *text)
{
	event.text = SPOOL_UTF8;
	spool_event(events, event, text, strlen(text));
}

static inline void spool_add_events(struct spool_maker *m, uint32_t tid, struct spool_events *events)
{
	spool_add(m, SPOOL_EVENTS, tid, events->bytes.data, events->bytes.n);
	buf_release(&events->bytes);
}

/* ---- CUPTI's records ---- */

enum { RECORD_ROOM = 256 };

struct spool_record {
	unsigned char bytes[RECORD_ROOM];
};

static inline void put32(struct spool_record *r, int at, uint32_t value)
{
	memcpy(r->bytes + at, &value, sizeof value);
}

static inline void put64(struct spool_record *r, int at, uint64_t value)
{
	memcpy(r->bytes + at, &value, sizeof value);
}

static inline struct spool_record spool_call(uint32_t kind, uint32_t id, uint64_t start, uint64_t end, uint32_t tid,
                                             uint32_t correlation)
{
	struct spool_record r = {0};
	put32(&r, 0, kind);
	put32(&r, 4, id);
	put64(&r, 8, start);
	put64(&r, 16, end);
	put32(&r, 24, 4242); /* the process: not what counts */
	put32(&r, 28, tid);
	put32(&r, 32, correlation);
	return r;
}

static inline struct spool_record spool_kernel(uint64_t start, uint64_t end, uint32_t device, uint32_t stream,
                                               uint32_t correlation, uint64_t name)
{
	struct spool_record r = {0};
	put32(&r, 0, 10);
	put64(&r, 16, start);
	put64(&r, 24, end);
	put32(&r, 40, device);
	put32(&r, 44, 1); /* context */
	put32(&r, 48, stream);
	put32(&r, 92, correlation);
	put64(&r, 104, name);
	return r;
}

static inline struct spool_record spool_copy(uint64_t start, uint64_t end, uint8_t kind, uint64_t bytes,
                                             uint32_t correlation)
{
	struct spool_record r = {0};
	put32(&r, 0, 1);
	r.bytes[4] = kind;
	r.bytes[5] = 1; /* pageable */
	r.bytes[6] = 3; /* device */
	put64(&r, 8, bytes);
	put64(&r, 16, start);
	put64(&r, 24, end);
	put32(&r, 36, 1);
	put32(&r, 40, 7);
	put32(&r, 44, correlation);
	return r;
}

static inline struct spool_record spool_memset(uint64_t start, uint64_t end, uint32_t value, uint64_t bytes,
                                               uint32_t correlation)
{
	struct spool_record r = {0};
	put32(&r, 0, 2);
	put32(&r, 4, value);
	put64(&r, 8, bytes);
	put64(&r, 16, start);
	put64(&r, 24, end);
	put32(&r, 36, 1);
	put32(&r, 40, 7);
	put32(&r, 44, correlation);
	r.bytes[50] = 3;
	return r;
}

static inline struct spool_record spool_sync(uint64_t start, uint64_t end, uint32_t type, uint32_t stream,
                                             uint32_t correlation)
{
	struct spool_record r = {0};
	put32(&r, 0, 38);
	put32(&r, 4, type);
	put64(&r, 8, start);
	put64(&r, 16, end);
	put32(&r, 24, correlation);
	put32(&r, 28, 1);
	put32(&r, 32, stream);
	put32(&r, 36, UINT32_MAX);
	put64(&r, 40, UINT32_MAX);
	return r;
}

static inline struct spool_record spool_graph(uint64_t start, uint64_t end, uint32_t graph, uint32_t stream,
                                              uint32_t correlation)
{
	struct spool_record r = {0};
	put32(&r, 0, 51);
	put32(&r, 4, correlation);
	put64(&r, 8, start);
	put64(&r, 16, end);
	put32(&r, 28, graph);
	put32(&r, 32, 1);
	put32(&r, 36, stream);
	return r;
}

static inline struct spool_record spool_device_graph(uint64_t start, uint64_t end, uint32_t graph)
{
	struct spool_record r = {0};
	put32(&r, 0, 53);
	put64(&r, 8, start);
	put64(&r, 16, end);
	put32(&r, 24, graph);
	put32(&r, 28, 999); /* the graph that launched it, and how: not kept */
	put32(&r, 32, 2);
	put32(&r, 36, 1);
	put64(&r, 40, (uint64_t)1 << 57); /* as CUPTI does */
	return r;
}

static inline struct spool_record spool_overhead(uint64_t start, uint64_t end, uint32_t kind, uint32_t object_kind,
                                                 uint32_t tid)
{
	struct spool_record r = {0};
	put32(&r, 0, 17);
	put32(&r, 4, kind);
	put32(&r, 8, object_kind);
	put32(&r, 12, 4242);
	put32(&r, 16, tid);
	put64(&r, 24, start);
	put64(&r, 32, end);
	return r;
}

/* A buffer that is being filled. */
static inline void spool_record(struct buf *buffer, const struct spool_record *record, size_t bytes)
{
	buf_add(buffer, (const char *)record->bytes, bytes);
}

static inline void spool_add_buffer(struct spool_maker *m, struct buf *buffer)
{
	spool_add(m, SPOOL_BUFFER, 0, buffer->data, buffer->n);
	buf_release(buffer);
}

/* Writes the first `bytes` of the spool to a file; SIZE_MAX: all. */
static inline void spool_write(const struct spool_maker *m, const char *path, size_t bytes)
{
	FILE *f = fopen(path, "wb");
	size_t n = bytes < m->bytes.n ? bytes : m->bytes.n;
	if (!f || fwrite(m->bytes.data ? m->bytes.data : "", 1, n, f) != n || fclose(f) != 0) {
		perror(path);
		abort();
	}
}

static inline void spool_discard(struct spool_maker *m)
{
	buf_release(&m->bytes);
}

#endif
