#include "stats/tally.h"

#include "base/list.h"

#include <math.h>
#include <string.h>

static uint64_t hash_of(const uint32_t *key, uint32_t width)
{
	uint64_t h = 0x9E3779B97F4A7C15u;
	for (uint32_t i = 0; i < width; i++) {
		h = (h ^ key[i]) * 0xBF58476D1CE4E5B9u; /* multiply-xorshift: neither low nor high bits alone decide */
		h ^= h >> 29;
	}
	return h ^ h >> 32;
}

static void rehash(struct tally *t, uint32_t n_slots)
{
	t->slots = ARENA_NEW(t->arena, n_slots, uint32_t);
	t->n_slots = n_slots;
	for (uint32_t g = 0; g < t->n; g++) {
		uint64_t at = hash_of(tally_key(t, g), t->width);
		while (t->slots[at & (n_slots - 1)])
			at++;
		t->slots[at & (n_slots - 1)] = g + 1;
	}
}

void tally_init(struct tally *tally, uint32_t width, struct arena *arena)
{
	*tally = (struct tally){.arena = arena, .width = width};
	rehash(tally, 64);
}

uint32_t tally_group(struct tally *t, const uint32_t *key)
{
	size_t bytes = t->width * sizeof *key;
	uint64_t at = hash_of(key, t->width);
	for (uint32_t slot; (slot = t->slots[at & (t->n_slots - 1)]); at++)
		if (memcmp(tally_key(t, slot - 1), key, bytes) == 0)
			return slot - 1;
	if (t->n == t->room) {
		size_t room = list_more(t->room);
		t->keys = arena_grow(t->arena, t->keys, (size_t)t->room * t->width, room * t->width, sizeof *t->keys);
		t->room = (uint32_t)room;
	}
	uint32_t g = t->n++;
	memcpy(t->keys + (size_t)g * t->width, key, bytes);
	t->slots[at & (t->n_slots - 1)] = g + 1;
	if (t->n > t->n_slots / 2)
		rehash(t, t->n_slots * 2);
	return g;
}

void tally_spans(const struct tally *tally, const uint32_t *group, const int64_t *start, const int64_t *end, size_t n,
                 struct tally_values *out)
{
	size_t *first = ARENA_NEW(tally->arena, (size_t)tally->n + 2, size_t), members = 0;
	for (size_t i = 0; i < n; i++)
		if (group[i] != TALLY_NO_GROUP) {
			first[group[i] + 2]++;
			members++;
		}
	for (uint32_t g = 2; g < tally->n + 2; g++)
		first[g] += first[g - 1];
	/* first[g + 1] is where group g's next value goes, and in the end where the next group begins. */
	out->values = ARENA_NEW(tally->arena, members, int64_t);
	for (size_t i = 0; i < n; i++)
		if (group[i] != TALLY_NO_GROUP)
			out->values[first[group[i] + 1]++] = end[i] - (start ? start[i] : 0);
	out->first = first;
}

/* ---- summaries ---- */

static void sort_few(int64_t *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t value = x[i];
		size_t j = i;
		for (; j > 0 && x[j - 1] > value; j--)
			x[j] = x[j - 1];
		x[j] = value;
	}
}

/* The value of rank k (0 is the least) of many: byte after byte from the highest, keep the prefix that rank k has.
 * Eight passes at most, whatever the values. Counted is the distance from the least, which is never negative. */
static int64_t select_rank(const int64_t *x, size_t n, size_t k, int64_t least, int64_t most)
{
	uint64_t span = (uint64_t)most - (uint64_t)least, prefix = 0, mask = 0;
	int shift = 56;
	while (shift > 0 && span >> shift == 0)
		shift -= 8;
	for (; shift >= 0; shift -= 8) {
		size_t count[256] = {0};
		for (size_t i = 0; i < n; i++) {
			uint64_t value = (uint64_t)x[i] - (uint64_t)least;
			count[value >> shift & 0xFF] += (value & mask) == prefix;
		}
		unsigned byte = 0;
		while (k >= count[byte])
			k -= count[byte++];
		prefix |= (uint64_t)byte << shift;
		mask |= (uint64_t)0xFF << shift;
	}
	return (int64_t)(prefix + (uint64_t)least);
}

static double median_of(int64_t *x, size_t n, int64_t least, int64_t most)
{
	enum { FEW = 48 };
	int64_t low, high;
	if (n <= FEW) {
		sort_few(x, n);
		low = x[(n - 1) / 2];
		high = x[n / 2];
	} else {
		low = high = select_rank(x, n, (n - 1) / 2, least, most);
		if (n % 2 == 0) {
			size_t up_to = 0; /* values <= low */
			int64_t next = most;
			for (size_t i = 0; i < n; i++) {
				up_to += x[i] <= low;
				next = x[i] > low && x[i] < next ? x[i] : next;
			}
			high = up_to > n / 2 ? low : next;
		}
	}
	return n % 2 ? (double)low : ((double)low + (double)high) / 2;
}

struct summary summary_of(int64_t *values, size_t n)
{
	struct summary s = {.n = n};
	if (n == 0)
		return s;
	s.least = s.most = values[0];
	for (size_t i = 0; i < n; i++) {
		if (__builtin_add_overflow(s.total, values[i], &s.total))
			s.total = values[i] < 0 ? INT64_MIN : INT64_MAX;
		s.least = values[i] < s.least ? values[i] : s.least;
		s.most = values[i] > s.most ? values[i] : s.most;
	}
	s.mean = (double)s.total / (double)n;
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		double away = (double)values[i] - s.mean;
		squares += away * away;
	}
	s.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
	s.median = median_of(values, n, s.least, s.most);
	return s;
}
