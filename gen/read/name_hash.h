/* A number instead of a text that must stand in no output: tells hosts and jobs apart. */
#ifndef GAPLINE_READ_NAME_HASH_H
#define GAPLINE_READ_NAME_HASH_H

#include "trace/trace.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a, its last bits mixed; never 0. */
static inline uint64_t name_hash(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
	return h ? h : 1;
}

/* The same of a host's name, marked where it looks like a container's, as Docker makes them (12 or 64 hexadecimal
 * digits), or is "localhost": such a name tells no machine (trace_host_is_contained). */
static inline uint64_t name_hash_host(const char *text, size_t n)
{
	bool digits = n == 12 || n == 64;
	for (size_t i = 0; i < n; i++)
		digits = digits && ((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'));
	bool contained = digits || (n == 9 && memcmp(text, "localhost", n) == 0);
	uint64_t h = name_hash(text, n);
	return contained ? h | TRACE_HOST_CONTAINED : (h & ~(uint64_t)1) | 2;
}

#endif
