/* Numbers that stand for something (a string id, a globalTid) turned into small indices in order of appearance. */
#ifndef GAPLINE_BASE_KEYMAP_H
#define GAPLINE_BASE_KEYMAP_H

#include "base/arena.h"

#include <stdint.h>

enum { KEYMAP_RECENT = 16 };
struct keymap {
	struct arena *arena;
	uint64_t *keys; /* by index */
	uint32_t n, room;
	uint32_t *slots; /* index + 1, or 0; a power of two of them */
	uint32_t n_slots;
	struct { /* rows of a few kinds follow each other: one of the last answers is right most of the time */
		uint64_t key;
		uint32_t at; /* index + 1, or 0 */
	} recent[KEYMAP_RECENT];
};

static inline unsigned keymap_recent(uint64_t key)
{
	return (unsigned)(key ^ key >> 32) % KEYMAP_RECENT;
}

void keymap_init(struct keymap *map, struct arena *arena);

/* The index of `key`, or UINT32_MAX when it has none. */
uint32_t keymap_find(const struct keymap *map, uint64_t key);

uint32_t keymap_add_new(struct keymap *map, uint64_t key);

/* The index of `key`, a new one if it has none. */
static inline uint32_t keymap_add(struct keymap *map, uint64_t key)
{
	unsigned i = keymap_recent(key);
	if (__builtin_expect(map->recent[i].key == key && map->recent[i].at, 1))
		return map->recent[i].at - 1;
	return keymap_add_new(map, key);
}

/* keymap_add where something of each key stands in an array of `arena`, by index: makes room for a new one's, zeroed.
 * `array` is changed where it moves. */
#define KEYMAP_ADD(arena, map, key, array)                                                                             \
	({                                                                                                             \
		uint32_t keymap_room = (map)->room, keymap_index = keymap_add((map), (key));                           \
		if ((map)->room > keymap_room)                                                                         \
			(array) = arena_grow((arena), (array), keymap_room, (map)->room, sizeof *(array));             \
		keymap_index;                                                                                          \
	})

/* A text as a number, for those who look whether it is the same text: FNV-1a, folded. */
static inline uint64_t keymap_text(const char *bytes, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return h ^ h >> 32;
}

#endif
