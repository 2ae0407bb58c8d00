#include "analyse/table.h"
#include "base/sort.h"

#include <math.h>

/* Of the longer step: rows below this are folded. */
static const double SMALL = 0.01;

static uint64_t table_copy_key(const struct copy_result *copy)
{
	return (uint64_t)copy->memset << 9 | (uint64_t)copy->pageable << 8 | (uint64_t)copy->kind;
}

/* ---- rows of one side ---- */

static uint32_t rows_of(const struct side *s, enum table_kind kind)
{
	switch (kind) {
	case TABLE_PHASES:
		return s->n_phases;
	case TABLE_IDLE:
		return s->budget.n_rows;
	case TABLE_KERNELS:
		return s->n_kernels;
	case TABLE_OPERATORS:
		return s->n_operators;
	case TABLE_OUTERMOST:
		return s->n_outermost;
	case TABLE_MODULES:
		return s->n_modules;
	case TABLE_LINES:
		return s->n_lines;
	case TABLE_CALLS:
		return s->n_api;
	case TABLE_RANGES:
		return s->n_ranges;
	case TABLE_COPIES:
		return s->n_copies;
	case TABLE_STARTUP:
		return s->startup.n_rows;
	}
	return 0;
}

static struct table_row one_row(const struct side *s, enum table_kind kind, uint32_t i, int side)
{
	struct table_row row = {.at = {-1, -1}};
	double time = 0, gpu = 0, count = 0, bytes = 0;
	switch (kind) {
	case TABLE_PHASES:
		row.key = s->phases[i].name;
		time = s->phases[i].cost;
		break;
	case TABLE_IDLE:
		row.key = (uint64_t)s->budget.rows[i].cause << 32 | s->budget.rows[i].phase;
		time = s->budget.rows[i].per_step;
		break;
	case TABLE_KERNELS:
		row.key = s->kernels[i].name;
		time = s->kernels[i].per_step;
		count = s->kernels[i].instances;
		break;
	case TABLE_OPERATORS:
		row.key = s->operators[i].name;
		time = s->operators[i].per_step;
		count = s->operators[i].instances;
		break;
	case TABLE_OUTERMOST:
		row.key = s->outermost[i].name;
		time = s->outermost[i].per_step;
		count = s->outermost[i].instances;
		break;
	case TABLE_MODULES:
		row.key = s->modules[i].name;
		time = s->modules[i].all;
		gpu = s->modules[i].per_step;
		count = s->modules[i].all_instances;
		break;
	case TABLE_LINES:
		row.key = s->lines[i].name;
		time = s->lines[i].all;
		gpu = s->lines[i].per_step;
		count = s->lines[i].all_instances;
		break;
	case TABLE_CALLS:
		row.key = s->api[i].name;
		time = s->api[i].per_step;
		count = s->api[i].calls;
		break;
	case TABLE_RANGES:
		row.key = (uint64_t)s->ranges[i].domain << 32 | s->ranges[i].name;
		time = s->ranges[i].host;
		gpu = s->ranges[i].gpu;
		count = s->ranges[i].instances;
		break;
	case TABLE_COPIES:
		row.key = table_copy_key(&s->copies[i]);
		time = s->copies[i].per_step;
		count = s->copies[i].instances;
		bytes = s->copies[i].bytes;
		break;
	case TABLE_STARTUP:
		row.key = s->startup.row[i].part;
		time = s->startup.row[i].ns;
		break;
	}
	row.at[side] = i;
	row.time[side] = time;
	row.gpu[side] = gpu;
	row.count[side] = count;
	row.bytes[side] = bytes;
	return row;
}

/* ---- joining ---- */

static void row_add(struct table_row *to, const struct table_row *from)
{
	for (int side = 0; side < 2; side++) {
		to->time[side] += from->time[side];
		to->gpu[side] += from->gpu[side];
		to->count[side] += from->count[side];
		to->bytes[side] += from->bytes[side];
		to->at[side] = to->at[side] >= 0 ? to->at[side] : from->at[side];
	}
}

static double longest(const struct table_row *row)
{
	return fmax(fmax(row->time[0], row->time[1]), fmax(row->gpu[0], row->gpu[1]));
}

static int by_key(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_time(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;
	double d = longest(y) - longest(x);
	for (int side = 0; side < 2 && !(d > 0) && !(d < 0); side++) /* −1, which is none, comes last */
		if (x->at[side] != y->at[side])
			return (uint64_t)x->at[side] < (uint64_t)y->at[side] ? -1 : 1;
	return d > 0 ? 1 : d < 0 ? -1 : 0;
}

static uint32_t join_equal(struct table_row *row, uint32_t n)
{
	uint32_t joined = 0;
	SORT(row, n, by_key);
	for (uint32_t i = 0; i < n; i++) {
		if (joined && row[joined - 1].key == row[i].key)
			row_add(&row[joined - 1], &row[i]);
		else
			row[joined++] = row[i];
	}
	SORT(row, joined, by_time);
	return joined;
}

/* One row is no longer than what would stand for it. */
static uint32_t choose_shown(const struct table *t, double least)
{
	uint32_t shown = t->n <= TABLE_SHOWN ? t->n : TABLE_SHOWN - 1;
	while (shown > 1 && longest(&t->row[shown - 1]) < least)
		shown--;
	return shown + 1 == t->n ? t->n : shown;
}

static struct table_row sum_from(const struct table *t, uint32_t first)
{
	struct table_row sum = {.at = {-1, -1}};
	for (uint32_t i = first; i < t->n; i++)
		row_add(&sum, &t->row[i]);
	return sum;
}

void table_keep(struct table *t, uint32_t kept)
{
	t->kept = kept > t->shown ? kept : t->shown;
	t->beyond = sum_from(t, t->kept);
}

struct table table_make(const struct analysis *a, enum table_kind kind, struct arena *arena)
{
	struct table t = {0};
	uint32_t room = 0;
	for (uint32_t s = 0; s < a->n_sides; s++)
		room += rows_of(&a->side[s], kind);
	t.row = ARENA_NEW(arena, room, struct table_row);
	for (uint32_t s = 0; s < a->n_sides; s++)
		for (uint32_t i = 0; i < rows_of(&a->side[s], kind); i++)
			t.row[t.n++] = one_row(&a->side[s], kind, i, (int)s);
	t.n = join_equal(t.row, t.n);
	double step = fmax(a->side[0].budget.period, a->n_sides > 1 ? a->side[1].budget.period : 0);
	bool few = kind == TABLE_COPIES || kind == TABLE_STARTUP;
	t.shown = few ? t.n : choose_shown(&t, SMALL * step); /* no more than there are kinds */
	for (uint32_t i = 0; i < t.n; i++)
		t.most = fmax(t.most, fmax(t.row[i].time[0], t.row[i].time[1]));
	t.rest = sum_from(&t, t.shown);
	table_keep(&t, t.n <= TABLE_KEPT ? t.n : TABLE_KEPT);
	return t;
}

struct table table_brief(const struct analysis *a, enum table_kind kind, struct arena *arena)
{
	struct table t = table_make(a, kind, arena);
	t.shown = t.n < TABLE_BRIEF ? t.n : TABLE_BRIEF;
	t.rest = sum_from(&t, t.shown);
	table_keep(&t, t.shown);
	return t;
}
