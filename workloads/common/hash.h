/* FNV-1a: two runs with the same hash computed the same. */
#ifndef WORKLOADS_COMMON_HASH_H
#define WORKLOADS_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t HASH_START = 0xcbf29ce484222325u;

/* Goes on from `hash` with `n` bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes; /* C++ includes this too */

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

#endif
