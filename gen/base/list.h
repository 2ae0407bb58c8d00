/* Lists that grow: an array in an arena, how many items it holds, and for how many it has room. The three live in the
 * structs of those who keep a list; how much it grows is decided here. */
#ifndef GAPLINE_BASE_LIST_H
#define GAPLINE_BASE_LIST_H

#include "base/arena.h"

/* For how many items a list that is full with `room` of them should have room next: twice as many while it is short; a
 * long one grows by less, because what is not used then is memory that the profile does not need. */
static inline size_t list_more(size_t room)
{
	return room < 8 ? 16 : room < 4096 ? 2 * room : room + room / 8;
}

/* Makes `items` of `arena`, a list of `n` with room for `room`, hold one more. `items` and `room` are changed where it
 * is full, and are named twice; pointers into a list that grows must not be used any more. */
#define LIST_GROW(arena, items, n, room) LIST_GROW_BY(arena_grow, arena, items, n, room)
#define LIST_GROW_BY(grow, arena, items, n, room)                                                                      \
	do {                                                                                                           \
		if ((n) == (room)) {                                                                                   \
			size_t list_room = list_more(room);                                                            \
			(items) = (grow)((arena), (items), (room), list_room, sizeof *(items));                        \
			(room) = (__typeof__(room))list_room;                                                          \
		}                                                                                                      \
	} while (0)

/* Adds one to a list that is so short that nobody keeps its room; `n` is changed, too. */
#define LIST_PUT(arena, items, n, ...)                                                                                 \
	do {                                                                                                           \
		(items) = arena_extend((arena), (items), (n), (size_t)(n) + 1, sizeof *(items));                       \
		(items)[(n)++] = __VA_ARGS__;                                                                          \
	} while (0)

/* Adds one; `n` is changed, too. */
#define LIST_ADD(arena, items, n, room, ...)                                                                           \
	do {                                                                                                           \
		LIST_GROW_BY(arena_extend, arena, items, n, room);                                                     \
		(items)[(n)++] = __VA_ARGS__;                                                                          \
	} while (0)

#endif
