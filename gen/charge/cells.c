#include "charge/sums.h"

#include "base/list.h"
#include "base/sort.h"

/* What a key consists of is listed here and nowhere else: equality, order and hash are the numbers'. */
static struct cell_number number_of(const struct cell_key *k)
{
	uint64_t flags = (uint64_t)k->returned << 7 | (uint64_t)k->once << 6 | (uint64_t)k->alloc << 5 |
	                 (uint64_t)k->mutex << 4 | (uint64_t)k->blocked << 3 | (uint64_t)k->input << 2 |
	                 (uint64_t)k->pageable << 1 | (uint64_t)k->lasting;
	return (struct cell_number){(uint64_t)k->cause << 32 | k->phase,
	                            (uint64_t)k->call << 32 | (uint64_t)k->opened << 8 | flags};
}

int cell_compare(const struct cell_key *a, const struct cell_key *b)
{
	struct cell_number x = number_of(a), y = number_of(b);
	return ASCENDING(x.high, y.high) ?: ASCENDING(x.low, y.low);
}

static bool is_same(struct cell_number a, struct cell_number b)
{
	return a.high == b.high && a.low == b.low;
}

static uint32_t find_slot(const struct cells *c, struct cell_number number)
{
	uint64_t h = (number.high ^ (number.low << 23 | number.low >> 41)) * 0x9e3779b97f4a7c15u;
	uint32_t i = (uint32_t)(h >> 32) & (c->n_slots - 1);
	while (c->slots[i] && !is_same(c->cell[c->slots[i] - 1].number, number))
		i = (i + 1) & (c->n_slots - 1);
	return i;
}

static void make_room(struct cells *c)
{
	LIST_GROW(c->arena, c->cell, c->n, c->room);
	if (2 * (c->n + 1) <= c->n_slots)
		return;
	c->n_slots = c->n_slots ? c->n_slots : 64;
	while (2 * (c->n + 1) > c->n_slots) /* cells that were copied have none yet */
		c->n_slots *= 2;
	c->slots = ARENA_NEW(c->arena, c->n_slots, uint32_t);
	for (uint32_t i = 0; i < c->n; i++)
		c->slots[find_slot(c, c->cell[i].number)] = i + 1;
}

uint32_t cells_add(struct cells *cells, const struct cell_key *key, int64_t ns)
{
	make_room(cells);
	struct cell_number number = number_of(key);
	uint32_t slot = find_slot(cells, number);
	if (!cells->slots[slot]) {
		cells->cell[cells->n].key = *key;
		cells->cell[cells->n].number = number;
		cells->slots[slot] = ++cells->n;
	}
	cells->cell[cells->slots[slot] - 1].ns += ns;
	return cells->slots[slot] - 1;
}
