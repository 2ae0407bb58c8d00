#include "analyse/shown.h"
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
	const uint32_t n[] = {
		[TABLE_PHASES] = s->n_phases,        [TABLE_IDLE] = s->budget.n_rows,
		[TABLE_KERNELS] = s->n_kernels,      [TABLE_OPERATORS] = s->n_operators,
		[TABLE_OUTERMOST] = s->n_outermost,  [TABLE_MODULES] = s->n_modules,
		[TABLE_LINES] = s->n_lines,          [TABLE_CALLS] = s->n_api,
		[TABLE_RANGES] = s->n_ranges,        [TABLE_COPIES] = s->n_copies,
		[TABLE_STARTUP] = s->startup.n_rows,
	};
	return n[kind];
}

struct values {
	uint64_t key;
	double time, gpu, count, bytes;
};

static struct values values_of_owner(const struct owner_result *own)
{
	return (struct values){.key = own->name, .time = own->per_step, .count = own->instances};
}

static struct values values_of_nested(const struct owner_result *all)
{
	return (struct values){.key = all->name, .time = all->all, .gpu = all->per_step, .count = all->all_instances};
}

static struct values values_of(const struct side *s, enum table_kind kind, uint32_t i)
{
	switch (kind) {
	case TABLE_PHASES:
		return (struct values){.key = s->phases[i].name, .time = s->phases[i].cost};
	case TABLE_IDLE:
		return (struct values){.key = (uint64_t)s->budget.rows[i].cause << 32 | s->budget.rows[i].phase,
		                       .time = s->budget.rows[i].per_step};
	case TABLE_KERNELS:
		return (struct values){
			.key = s->kernels[i].name, .time = s->kernels[i].per_step, .count = s->kernels[i].instances};
	case TABLE_OPERATORS:
		return values_of_owner(&s->operators[i]);
	case TABLE_OUTERMOST:
		return values_of_owner(&s->outermost[i]);
	case TABLE_MODULES:
		return values_of_nested(&s->modules[i]);
	case TABLE_LINES:
		return values_of_nested(&s->lines[i]);
	case TABLE_CALLS:
		return (struct values){.key = s->api[i].name, .time = s->api[i].per_step, .count = s->api[i].calls};
	case TABLE_RANGES:
		return (struct values){.key = (uint64_t)s->ranges[i].domain << 32 | s->ranges[i].name,
		                       .time = s->ranges[i].host,
		                       .gpu = s->ranges[i].gpu,
		                       .count = s->ranges[i].instances};
	case TABLE_COPIES:
		return (struct values){.key = table_copy_key(&s->copies[i]),
		                       .time = s->copies[i].per_step,
		                       .count = s->copies[i].instances,
		                       .bytes = s->copies[i].bytes};
	case TABLE_STARTUP:
		return (struct values){.key = s->startup.row[i].part, .time = s->startup.row[i].ns};
	}
	return (struct values){0};
}

static struct table_row one_row(const struct side *s, enum table_kind kind, uint32_t i, int side)
{
	const struct values v = values_of(s, kind, i);
	struct table_row row = {.key = v.key, .at = {-1, -1}};
	row.at[side] = i;
	row.time[side] = v.time;
	row.gpu[side] = v.gpu;
	row.count[side] = v.count;
	row.bytes[side] = v.bytes;
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

SORT_ORDER(by_key, struct table_row, ASCENDING(x->key, y->key))

SORT_ORDER(by_time, struct table_row,
           DESCENDING(longest(x), longest(y)) /* −1, which is none, comes last */
                   ?: ASCENDING((uint64_t)x->at[0], (uint64_t)y->at[0])
                              ?: ASCENDING((uint64_t)x->at[1], (uint64_t)y->at[1]))

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
