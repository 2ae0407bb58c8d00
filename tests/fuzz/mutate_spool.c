/* Changes a spool (gen/capture/spool.h) block by block and field by field: blocks left out, doubled, moved and cut
 * short, numbers in them at their ends or taken from elsewhere in the file, sizes that fit and some that do not. */
#include "mutate.h"

#include "capture/spool.h"

#include <stdbool.h>
#include <string.h>

enum {
	MOST_BLOCKS = 400,
	MOST_TYPES = 32 /* of blocks and of events: all that there are, and some that are not known */
};

struct spool {
	uint8_t *data;
	size_t n, most;
	size_t at[MOST_BLOCKS + 1]; /* where blocks begin, and where the last one ends */
	size_t n_blocks;
	struct mutate_random *random;
};

static uint64_t draw(struct spool *s, uint64_t limit)
{
	return mutate_draw(s->random, limit);
}

static void find_blocks(struct spool *s)
{
	size_t at = sizeof(struct spool_header);
	s->n_blocks = 0;
	while (s->n_blocks < MOST_BLOCKS && at + sizeof(struct spool_block) <= s->n) {
		struct spool_block block;
		memcpy(&block, s->data + at, sizeof block);
		if (block.bytes > s->n - at - sizeof block)
			break;
		s->at[s->n_blocks++] = at;
		at += sizeof block + (block.bytes + 7) / 8 * 8;
		at = at < s->n ? at : s->n;
	}
	s->at[s->n_blocks] = at < s->n ? at : s->n;
}

/* Makes `room` bytes at `at` of `old` ones. */
static bool make_room(struct spool *s, size_t at, size_t old, size_t room)
{
	if (s->n - old + room > s->most)
		return false;
	memmove(s->data + at + room, s->data + at + old, s->n - at - old);
	s->n = s->n - old + room;
	return true;
}

/* Another block in front of, or instead of, one. */
static void move_block(struct spool *s, bool replace)
{
	uint8_t copy[4096];
	size_t from = draw(s, s->n_blocks), to = draw(s, s->n_blocks);
	size_t n = s->at[from + 1] - s->at[from], old = replace ? s->at[to + 1] - s->at[to] : 0;
	if (n > sizeof copy)
		return;
	memcpy(copy, s->data + s->at[from], n);
	if (make_room(s, s->at[to], old, n))
		memcpy(s->data + s->at[to], copy, n);
}

/* A number of 1, 2, 4 or 8 bytes in a block, or in the header, at a place where such a number can stand. */
static void change_number(struct spool *s)
{
	size_t block = draw(s, s->n_blocks + 1), begin = block ? s->at[block - 1] : 0, end = block ? s->at[block] : 48;
	size_t width = (size_t)1 << (draw(s, 4) ? 2 + draw(s, 2) : draw(s, 2)), places = (end - begin) / width;
	int64_t number = mutate_extreme(s->random);
	if (!places || end > s->n)
		return;
	uint8_t *at = s->data + begin + draw(s, places) * width;
	switch (draw(s, 4)) {
	case 0: /* one that stands elsewhere */
		memmove(at, s->data + draw(s, s->n / width) * width, width);
		return;
	case 1: { /* a little more or less */
		int64_t was = 0;
		memcpy(&was, at, width);
		number = (int64_t)((uint64_t)was + draw(s, 200) - 100);
		break;
	}
	default:
		break;
	}
	memcpy(at, &number, width);
}

/* Pieces of a block's payload left out or doubled, with a size that fits. */
static void change_size(struct spool *s)
{
	size_t i = draw(s, s->n_blocks), at = s->at[i] + sizeof(struct spool_block);
	struct spool_block block;
	memcpy(&block, s->data + s->at[i], sizeof block);
	size_t n = s->at[i + 1] > at ? s->at[i + 1] - at : 0, begin = draw(s, n / 8 + 1) * 8, piece = draw(s, 16) * 8;
	if (begin + piece > n)
		piece = n - begin;
	bool doubled = draw(s, 2);
	if (!make_room(s, at + begin, piece, doubled ? 2 * piece : 0))
		return;
	if (doubled)
		memcpy(s->data + at + begin + piece, s->data + at + begin, piece);
	block.bytes = doubled ? n + piece : n - piece;
	memcpy(s->data + s->at[i], &block, sizeof block);
}

/* An event becomes one of another type, or has text of another kind, its own length, or a number of nothing. */
static void change_event(struct spool *s, size_t begin, size_t end)
{
	size_t at[64], n = 0;
	struct spool_event event;
	for (size_t next = begin; n < sizeof at / sizeof *at && next < end && end - next >= sizeof event;) {
		memcpy(&event, s->data + next, sizeof event);
		at[n++] = next;
		if (event.bytes < sizeof event || event.bytes > end - next)
			break;
		next += event.bytes;
	}
	if (!n)
		return;
	size_t place = at[draw(s, n)];
	memcpy(&event, s->data + place, sizeof event);
	switch (draw(s, 6)) {
	case 0:
		event.text = (uint8_t)draw(s, SPOOL_REGISTERED + 2);
		break;
	case 1:
		event.text_bytes = (uint32_t)draw(s, event.bytes);
		break;
	case 2:
		event.id = draw(s, 16);
		break;
	case 3:
		event.domain = (uint32_t)draw(s, 4);
		break;
	default:
		event.type = (uint8_t)draw(s, MOST_TYPES);
		break;
	}
	memcpy(s->data + place, &event, sizeof event);
}

static void mutate_once(struct spool *s)
{
	find_blocks(s);
	if (!s->n_blocks)
		return;
	size_t i = draw(s, s->n_blocks);
	struct spool_block block;
	memcpy(&block, s->data + s->at[i], sizeof block);
	if (block.type == SPOOL_EVENTS && draw(s, 2)) {
		change_event(s, s->at[i] + sizeof block, s->at[i + 1]);
		return;
	}
	switch (draw(s, 12)) {
	case 0:
		make_room(s, s->at[i], s->at[i + 1] - s->at[i], 0);
		break;
	case 1:
	case 2:
		move_block(s, draw(s, 2));
		break;
	case 3:
	case 4:
		change_size(s);
		break;
	case 5:
		s->data[s->at[i]] = (uint8_t)draw(s, MOST_TYPES); /* of another type */
		break;
	case 6:
		if (draw(s, 4) == 0)
			s->n = s->at[i] + draw(s, s->at[i + 1] - s->at[i]);
		break;
	default:
		change_number(s);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
	struct mutate_random random = {seed};
	if (n < sizeof(struct spool_header) || mutate_draw(&random, 8) == 0)
		return mutate_bytes(&random, data, n, most);
	struct spool spool = {.data = data, .n = n, .most = most, .random = &random};
	for (uint64_t i = 1 + mutate_draw(&random, 5); i > 0; i--)
		mutate_once(&spool);
	return spool.n;
}
