#include "base/keymap.h"

#include "base/list.h"

static uint64_t mix(uint64_t key)
{
	key ^= key >> 32; /* multiply-xorshift, so that neither low nor high bits alone decide */
	key *= 0x9E3779B97F4A7C15u;
	key ^= key >> 29;
	key *= 0xBF58476D1CE4E5B9u;
	return key ^ key >> 32;
}

static void rehash(struct keymap *map, uint32_t n_slots)
{
	map->slots = ARENA_NEW(map->arena, n_slots, uint32_t);
	map->n_slots = n_slots;
	for (uint32_t i = 0; i < map->n; i++) {
		uint64_t at = mix(map->keys[i]);
		while (map->slots[at & (n_slots - 1)])
			at++;
		map->slots[at & (n_slots - 1)] = i + 1;
	}
}

void keymap_init(struct keymap *map, struct arena *arena)
{
	*map = (struct keymap){.arena = arena};
	rehash(map, 64);
}

uint32_t keymap_find(const struct keymap *map, uint64_t key)
{
	for (uint64_t at = mix(key);; at++) {
		uint32_t slot = map->slots[at & (map->n_slots - 1)];
		if (!slot)
			return UINT32_MAX;
		if (map->keys[slot - 1] == key)
			return slot - 1;
	}
}

uint32_t keymap_add_new(struct keymap *map, uint64_t key)
{
	uint32_t index = keymap_find(map, key);
	if (index == UINT32_MAX) {
		LIST_GROW(map->arena, map->keys, map->n, map->room);
		index = map->n++;
		map->keys[index] = key;
		if (map->n > map->n_slots / 2) {
			rehash(map, map->n_slots * 2);
		} else {
			uint64_t at = mix(key);
			while (map->slots[at & (map->n_slots - 1)])
				at++;
			map->slots[at & (map->n_slots - 1)] = index + 1;
		}
	}
	map->recent[keymap_recent(key)].key = key;
	map->recent[keymap_recent(key)].at = index + 1;
	return index;
}
