/* A number instead of a text that must stand in no output: tells hosts and jobs apart. */
#ifndef GAPLINE_READ_NAME_HASH_H
#define GAPLINE_READ_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a, its last bits mixed; never 0. */
static inline uint64_t name_hash(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
	return h ? h : 1;
}

#endif
