/* One arena holds everything that a pair of profiles needs; it is released as a whole, and data structs own nothing.
 *
 * Memory is zeroed, but for arena_take and arena_extend. Out of memory ends the process (base/memory.h): no caller has
 * to check. */
#ifndef GAPLINE_BASE_ARENA_H
#define GAPLINE_BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used;                /* bytes handed out, for benchmarks */
};

/* Zeroed room for `n` items of `size` bytes, aligned for any type. Never NULL, also for n = 0. Borrowed until
 * arena_release. */
void *arena_alloc(struct arena *a, size_t n, size_t size);

/* The same, of which nothing is known: for what is written whole before it is read. */
void *arena_take(struct arena *a, size_t n, size_t size);

/* Room for `n` items where `old` (may be NULL, came from this arena) held `old_n`: the contents are kept, the rest is
 * zeroed, `old` must not be used any more. Large blocks are resized in place where the system can. */
void *arena_grow(struct arena *a, void *old, size_t old_n, size_t n, size_t size);

/* The same, but that nothing is known of the rest: for what is written whole before it is read. */
void *arena_extend(struct arena *a, void *old, size_t old_n, size_t n, size_t size);

/* Gives back what lies beyond the first `n` of the `old_n` items at `old`, as far as they fill blocks of their own. */
void *arena_trim(struct arena *a, void *old, size_t old_n, size_t n, size_t size);

/* A copy of `n` bytes with a NUL after them. */
char *arena_copy(struct arena *a, const char *text, size_t n);

/* A copy of `n` items of `size` bytes. */
void *arena_keep(struct arena *a, const void *list, size_t n, size_t size);

/* printf into the arena. */
char *arena_format(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Moves everything that `from` holds into `a`; pointers stay valid, and `from` is empty. */
void arena_adopt(struct arena *a, struct arena *from);

/* Gives everything back; the arena may be used again. */
void arena_release(struct arena *a);

/* Before a thread ends: gives back what it keeps of released arenas for its next ones. */
void arena_end_thread(void);

/* Declares an empty one that is released where its scope is left, whichever way: for what a function needs meanwhile.
 */
#define ARENA_LOCAL(name) struct arena name __attribute__((cleanup(arena_release))) = {0}

#define ARENA_NEW(arena, n, type) ((type *)arena_alloc((arena), (n), sizeof(type)))
#define ARENA_TAKE(arena, n, type) ((type *)arena_take((arena), (n), sizeof(type)))

#endif
