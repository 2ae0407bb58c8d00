#include "base/arena.h"

#include "base/memory.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	OWN = 4096,         /* requests from here on get a block of their own, so that they can be resized in place */
	SHARED = 64 * 1024, /* smaller ones share blocks of this size … */
	FIRST = 992 /* … or less, a quarter of what there is already: most arenas live for one function, and of those
	             * that stay, ten thousand ranks have one each. malloc keeps blocks up to 1032 bytes for a thread */
};

struct arena_block {
	struct arena_block *next, *previous; /* `previous` lets a resized block be relinked */
	size_t room, used;
	alignas(max_align_t) char data[];
};

/* Blocks that a thread gave back and takes again: all threads have one heap (read/read.c), and would wait for it. Not
 * those that malloc keeps for a thread itself, nor large ones, of which few are; with AddressSanitizer none, so that it
 * sees what is used after it was given back. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { SPARES = 24, SPARE_LARGEST = 0 };
enum { FENCE = 16 }; /* bytes behind each request, for fence() */
#else
enum { SPARES = 24, SPARE_LARGEST = 16 * 1024 };
enum { FENCE = 0 };
#endif
static _Thread_local struct {
	struct arena_block *block[SPARES];
	size_t n;
} spare;

/* A spare block in which `room` bytes have room and leave little; NULL: there is none. */
static struct arena_block *take_spare(size_t room)
{
	for (size_t i = spare.n; room > FIRST && i-- > 0;) {
		struct arena_block *b = spare.block[i];
		if (b->room < room || b->room - room > room / 4)
			continue;
		spare.block[i] = spare.block[--spare.n];
		return b;
	}
	return NULL;
}

static void give_block(struct arena_block *b)
{
	if (b->room > FIRST && b->room <= SPARE_LARGEST && spare.n < SPARES)
		spare.block[spare.n++] = b;
	else
		free(b);
}

/* Also of the thread that ends the program. */
__attribute__((destructor)) void arena_end_thread(void)
{
	while (spare.n)
		free(spare.block[--spare.n]);
}

static struct arena_block *new_block(size_t room, bool zeroed)
{
	struct arena_block *b = take_spare(room);
	if (b) {
		b->used = 0;
		if (zeroed)
			memset(b->data, 0, room);
		return b;
	}
	if (room > SIZE_MAX - sizeof *b)
		memory_exhausted();
	b = zeroed ? memory_take_zeroed(1, sizeof *b + room) : memory_take(sizeof *b + room);
	memory_large(b, sizeof *b + room);
	b->room = room;
	b->used = 0;
	return b;
}

/* A block that small requests share stands first; one that belongs to a single request goes behind it. */
static struct arena_block *add_block(struct arena *a, size_t room, bool shared, bool zeroed)
{
	struct arena_block *b = new_block(room, zeroed);
	struct arena_block **at = a->blocks && !shared ? &a->blocks->next : &a->blocks;
	b->previous = a->blocks && !shared ? a->blocks : NULL;
	b->next = *at;
	if (*at)
		(*at)->previous = b;
	*at = b;
	return b;
}

static size_t bytes_of(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		memory_exhausted();
	size_t align = alignof(max_align_t);
	return (bytes + FENCE + align - 1) / align * align;
}

/* Of `room` bytes the first `n` may be used, and with AddressSanitizer what uses others is found: requests lie side by
 * side in a block. */
static void *fence(void *at, size_t n, size_t room)
{
#ifdef __SANITIZE_ADDRESS__
	ASAN_UNPOISON_MEMORY_REGION(at, n);
	ASAN_POISON_MEMORY_REGION((char *)at + n, room - n);
#else
	(void)n;
	(void)room;
#endif
	return at;
}

/* Of the block that small requests share next, the first of them of `bytes`. */
static size_t next_room(const struct arena *a, size_t bytes)
{
	size_t room = a->used / 4 < SHARED ? a->used / 4 : SHARED, least = bytes < FIRST ? FIRST : bytes;
	return room < least ? least : room;
}

static void *take_room(struct arena *a, size_t n, size_t size, bool zeroed)
{
	const size_t bytes = bytes_of(n, size);
	a->used += bytes;
	if (bytes >= OWN) {
		struct arena_block *b = add_block(a, bytes, false, zeroed);
		b->used = bytes;
		return fence(b->data, n * size, bytes);
	}
	struct arena_block *b = a->blocks;
	if (!b || b->room - b->used < bytes) {
		b = add_block(a, next_room(a, bytes), true, false);
		fence(b->data, 0, b->room);
	}
	void *p = fence(b->data + b->used, n * size, bytes);
	b->used += bytes;
	return zeroed ? memset(p, 0, n * size) : p; /* not the whole block: of many, most is never asked for */
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	return take_room(a, n, size, true);
}

void *arena_take(struct arena *a, size_t n, size_t size)
{
	void *p = take_room(a, n, size, false);
#ifdef __SANITIZE_ADDRESS__
	memset(p, 0xa5, n * size); /* whoever reads what was not written is found by the tests */
#endif
	return p;
}

/* Makes the block whose data begins at `data` hold `bytes`. */
static struct arena_block *resize_block(struct arena *a, void *data, size_t bytes)
{
	struct arena_block *b = (struct arena_block *)((char *)data - offsetof(struct arena_block, data));
	struct arena_block *next = b->next, *previous = b->previous;
	b = memory_resize(b, sizeof *b + bytes);
	memory_large(b, sizeof *b + bytes);
	b->room = b->used = bytes;
	if (next)
		next->previous = b;
	if (previous)
		previous->next = b;
	else
		a->blocks = b;
	return b;
}

static void *grow(struct arena *a, void *old, size_t old_n, size_t n, size_t size, bool zeroed)
{
	size_t old_bytes = old ? bytes_of(old_n, size) : 0, bytes = bytes_of(n, size), kept = old ? old_n * size : 0;
	char *p = old;
	if (n <= old_n && old)
		return old;
	if (bytes <= old_bytes) {
		fence(p, n * size, old_bytes);
	} else if (old_bytes >= OWN) {
		p = fence(resize_block(a, old, bytes)->data, n * size, bytes);
		a->used += bytes - old_bytes;
	} else {
		p = take_room(a, n, size, zeroed && !old);
		if (old)
			memcpy(p, old, kept);
	}
	if (zeroed && old)
		memset(p + kept, 0, n * size - kept);
#ifdef __SANITIZE_ADDRESS__
	if (!zeroed)
		memset(p + kept, 0xa5, n * size - kept);
#endif
	return p;
}

void *arena_grow(struct arena *a, void *old, size_t old_n, size_t n, size_t size)
{
	return grow(a, old, old_n, n, size, true);
}

void *arena_extend(struct arena *a, void *old, size_t old_n, size_t n, size_t size)
{
	return grow(a, old, old_n, n, size, false);
}

void *arena_trim(struct arena *a, void *old, size_t old_n, size_t n, size_t size)
{
	size_t old_bytes = old ? bytes_of(old_n, size) : 0, bytes = bytes_of(n, size);
	if (bytes < OWN) /* a list this short would not be taken for a block of its own */
		bytes = OWN;
	if (old_bytes < OWN || bytes >= old_bytes)
		return old;
	a->used -= old_bytes - bytes;
	return fence(resize_block(a, old, bytes)->data, n * size, bytes);
}

char *arena_copy(struct arena *a, const char *text, size_t n)
{
	char *copy = arena_take(a, n + 1, 1);
	memcpy(copy, text, n);
	copy[n] = 0;
	return copy;
}

void *arena_keep(struct arena *a, const void *list, size_t n, size_t size)
{
	void *copy = arena_take(a, n, size);
	if (n)
		memcpy(copy, list, n * size);
	return copy;
}

char *arena_format(struct arena *a, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	char brief[256]; /* most are, and are formatted once */
	size_t n = memory_print(brief, sizeof brief, format, args);
	va_end(args);
	char *text = arena_alloc(a, n + 1, 1);
	if (n < sizeof brief)
		memcpy(text, brief, n);
	else
		memory_print(text, n + 1, format, again);
	va_end(again);
	return text;
}

void arena_adopt(struct arena *a, struct arena *from)
{
	struct arena_block *last = from->blocks;
	while (last && last->next)
		last = last->next;
	if (last) { /* behind the newest block of `a`, which has room left */
		struct arena_block **at = a->blocks ? &a->blocks->next : &a->blocks;
		last->next = *at;
		if (*at)
			(*at)->previous = last;
		from->blocks->previous = a->blocks;
		*at = from->blocks;
	}
	a->used += from->used;
	*from = (struct arena){0};
}

void arena_release(struct arena *a)
{
	for (struct arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		give_block(b);
	}
	*a = (struct arena){0};
}
