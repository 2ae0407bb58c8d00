/* NVTX: what a program's annotations say becomes events of the spool. */
#ifndef GAPLINE_INJECT_NVTX_H
#define GAPLINE_INJECT_NVTX_H

#include <stddef.h>
#include <stdint.h>

/* Fills the function tables of one copy of NVTX; a process may hold several (NVTX 3 is in headers, NVTX 2 a library),
 * and what they hand out is of one numbering. `get_table` is what InitializeInjectionNvtx2 is given. 1: done, 0: this
 * NVTX is not of a kind that we know. */
int nvtx_inject(const void *(*get_table)(unsigned table));

/* ---- for nvtx_payload.c ---- */

struct payload_data;

/* Handles are numbers: NVTX never looks behind them. The default domain is NULL. */
static inline uint32_t nvtx_number(const void *handle)
{
	return (uint32_t)(uintptr_t)handle;
}

/* What NVTX's functions for ranges do and return; the first two are of ranges without a text, with payloads. */
int nvtx_push_payloads(uint32_t domain, const struct payload_data *data, size_t n);
uint64_t nvtx_start_payloads(uint32_t domain, const struct payload_data *data, size_t n);
int nvtx_pop(uint32_t domain);
void nvtx_stop(uint32_t domain, uint64_t range);

/* Payloads of the range `range`, 0: of the innermost one of the calling thread and the domain. Those that are too large
 * or of an unknown size are left out. */
void nvtx_put_payloads(uint32_t domain, uint64_t range, const struct payload_data *data, size_t n);

/* NVTX's extension for payloads, which is how NCCL says of a call what it moves: its structs and the places of its
 * functions, as a module of it hands them over (nvtx3/nvToolsExtPayload.h and nvtxDetail/nvtxExtTypes.h, versions 1.3
 * and 1.4). Our own table, so that the library builds with toolkits whose NVTX has no such header. */

struct payload_segment {
	size_t id, n;
	intptr_t *functions; /* 0: not taken */
};

/* What one copy of NVTX hands over. */
struct payload_module {
	uint16_t nvtx, bytes;     /* `bytes`: of this struct */
	uint16_t module, version; /* of the extension */
	size_t n_segments;
	struct payload_segment *segments;
	intptr_t (*get_function)(uint32_t id);
	const void *sizes;
};

enum { PAYLOAD_MODULE = 2, PAYLOAD_VERSION_1_3 = 0x0103, PAYLOAD_VERSION_1_4 = 0x0104 };

enum payload_function { /* their places in the segment */
	                PAYLOAD_REGISTER_SCHEMA = 0,
	                PAYLOAD_REGISTER_ENUM = 1,
	                PAYLOAD_PUSH = 3,
	                PAYLOAD_POP = 4,
	                PAYLOAD_START = 5,
	                PAYLOAD_STOP = 6
};

/* An event's payloadType where its payload is a pointer to data of a layout, and reserved0 how many such. */
#define PAYLOAD_TYPE_EXTENDED ((int32_t)0xDFBD0009)

struct payload_data {
	uint64_t schema;
	size_t bytes; /* SIZE_MAX: whoever records is to find out */
	const void *data;
};

struct payload_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset; /* offset 0 of an entry that is not the first: where alignment puts it */
	const void *semantics, *reserved;
};

enum { PAYLOAD_SCHEMA_STATIC = 1 }; /* type: every entry stands at a place of its own */

enum payload_field { /* bits of `fields`: which of the others are set */
	             PAYLOAD_HAS_ID_OF_SCHEMA = 1 << 8,
	             PAYLOAD_HAS_ID_OF_ENUM = 1 << 5
};

struct payload_schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct payload_entry *entries;
	size_t n_entries, bytes, alignment;
	uint64_t id;
	void *extension;
};

struct payload_enum {
	uint64_t fields;
	const char *name;
	const void *entries;
	size_t n_entries, bytes;
	uint64_t id;
	void *extension;
};

/* Takes the functions of one copy of the extension over, as nvtx_inject does NVTX's own. Of a later version 1 only
 * the ranges are taken: what payloads hold is not known. 1: done, 0: it is another extension, or another version. */
int nvtx_inject_payloads(struct payload_module *module);

#endif
