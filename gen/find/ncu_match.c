#include "base/sort.h"
#include "find/ncu.h"

#include "base/keymap.h"
#include "trace/kernel_names.h"

#include <math.h>
#include <string.h>

/* What a kernel and shape take in the profile. */
struct row {
	uint32_t name;
	uint64_t shape;
	double instances, per_step;
	bool taken;
};

/* Ways of finding a group's rows, the better ones first. */
enum way { BY_NAME, BY_SPELLING, BY_PLAIN, BY_FUNCTION, WAYS };

/* Launches of the same kernel and shape, of which `inside` becomes what is known. */
struct group {
	struct kernel_inside inside;
	uint32_t has[NCU_NUMBERS]; /* launches that know the number */
	double stall[NCU_STALLS];  /* of those that say them */
};

struct match {
	const struct side_facts *facts;
	const struct names *names;
	struct arena scratch;
	struct keymap rows_at, groups_at;
	struct row *rows;
	struct group *groups;
	uint32_t *form[WAYS]; /* by way of finding and name's id, made when asked for: id in `forms`, counted from 1 */
	struct names forms;
	bool *bare; /* by name's id: it is the function's own name */
};

static uint64_t key_of(uint32_t name, uint64_t shape)
{
	return (shape ^ (uint64_t)name << 17) * 0x9E3779B97F4A7C15 + name;
}

/* ---- the profile ---- */

static void add_rows(struct match *m)
{
	for (size_t r = 0; r < m->facts->n_runs; r++) {
		const struct run *run = &m->facts->rows[r];
		const struct trace_ops *ops = &run->trace->ops;
		double weight = 1.0 / ((double)m->facts->n_runs * run->window.n_steps);
		for (size_t i = 0; i < ops->n; i++) {
			if ((ops->kind[i] != OP_KERNEL && ops->kind[i] != OP_COMM) || !run_measures_op(run, i))
				continue;
			uint64_t shape = ops->shape ? ops->shape[i] : 0;
			uint32_t at = KEYMAP_ADD(&m->scratch, &m->rows_at, key_of(ops->name[i], shape), m->rows);
			struct row *row = &m->rows[at];
			if (row->instances == 0)
				*row = (struct row){.name = ops->name[i], .shape = shape};
			row->instances += weight;
			row->per_step += (double)(ops->end[i] - ops->start[i]) * weight;
		}
	}
}

/* ---- the report ---- */

static struct group *group_of(struct match *m, const struct ncu_launch *l)
{
	uint32_t at = KEYMAP_ADD(&m->scratch, &m->groups_at, key_of(l->name, l->shape), m->groups);
	struct kernel_inside *g = &m->groups[at].inside;
	if (g->launches++ == 0) {
		g->name = l->name;
		g->shape = l->shape;
		memcpy(g->grid, l->grid, sizeof g->grid);
		memcpy(g->block, l->block, sizeof g->block);
	}
	return &m->groups[at];
}

static void add_groups(struct match *m, const struct ncu_report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct ncu_launch *l = &report->launch[i];
		struct group *g = group_of(m, l);
		for (int v = 0; v < NCU_NUMBERS; v++) {
			if (isnan(l->value[v]))
				continue;
			g->inside.value[v] += l->value[v];
			g->has[v]++;
		}
		for (int s = 0; l->has_stalls && s < NCU_STALLS; s++)
			g->stall[s] += l->stall[s];
		if (!g->inside.rule && l->n_rules)
			g->inside.rule = l->rule[0];
	}
}

/* ---- which is which ---- */

/* Rows whose names are equal in one of these ways: lists through `next`, of one shape and of all, counted from 1. */
struct listed {
	struct keymap shapes, names;
	uint32_t *of_shape, *of_name; /* by place in the maps: the first row */
	uint32_t *next_of_shape, *next_of_name;
};

static const char *text_of(struct match *m, enum way way, uint32_t name)
{
	const char *text = names_text(m->names, name);
	if (way == BY_FUNCTION)
		return kernel_function(&m->scratch, text);
	text = kernel_spelling(&m->scratch, text);
	return way == BY_PLAIN ? kernel_plain(&m->scratch, text) : text;
}

/* What a name is compared by: a number that equal ones share. */
static uint32_t form_of(struct match *m, enum way way, uint32_t name)
{
	if (way == BY_NAME)
		return name;
	uint32_t *form = m->form[way];
	if (!form)
		form = m->form[way] = ARENA_NEW(&m->scratch, m->names->n, uint32_t);
	if (!form[name]) {
		form[name] = 1 + names_add_text(&m->forms, text_of(m, way, name));
	}
	return form[name];
}

static struct listed list_rows(struct match *m, enum way way)
{
	struct listed l = {.of_shape = ARENA_NEW(&m->scratch, m->rows_at.n, uint32_t),
	                   .of_name = ARENA_NEW(&m->scratch, m->rows_at.n, uint32_t),
	                   .next_of_shape = ARENA_NEW(&m->scratch, m->rows_at.n, uint32_t),
	                   .next_of_name = ARENA_NEW(&m->scratch, m->rows_at.n, uint32_t)};
	keymap_init(&l.shapes, &m->scratch);
	keymap_init(&l.names, &m->scratch);
	for (uint32_t i = m->rows_at.n; i-- > 0;) { /* so that lists are in order */
		uint32_t form = form_of(m, way, m->rows[i].name);
		uint32_t shape = keymap_add(&l.shapes, key_of(form, m->rows[i].shape));
		uint32_t name = keymap_add(&l.names, form);
		l.next_of_shape[i] = l.of_shape[shape];
		l.next_of_name[i] = l.of_name[name];
		l.of_shape[shape] = l.of_name[name] = i + 1;
	}
	return l;
}

/* What names that are equal in one way have to be besides. */
static bool agree(struct match *m, enum way way, uint32_t group, uint32_t row)
{
	if (way == BY_PLAIN)
		return kernel_spelling_fits(names_text(&m->forms, form_of(m, BY_SPELLING, row) - 1),
		                            names_text(&m->forms, form_of(m, BY_SPELLING, group) - 1));
	return way != BY_FUNCTION || m->bare[group] || m->bare[row];
}

static bool take_list(struct match *m, enum way way, struct kernel_inside *g, const struct keymap *map, uint64_t key,
                      const uint32_t *first, const uint32_t *next)
{
	bool any = false;
	uint32_t at = keymap_find(map, key);
	for (uint32_t i = at == UINT32_MAX ? 0 : first[at]; i; i = next[i - 1]) {
		struct row *row = &m->rows[i - 1];
		if (row->taken || !agree(m, way, g->name, row->name))
			continue;
		g->instances += row->instances;
		g->per_step += row->per_step;
		row->taken = any = true;
	}
	return any;
}

/* Rows of the same shape, or those whose shape is not known; of a group whose shape is not known, all. */
static bool take_rows(struct match *m, enum way way, const struct listed *l, struct kernel_inside *g, bool unknown)
{
	uint32_t form = form_of(m, way, g->name);
	if (!g->shape)
		return unknown && take_list(m, way, g, &l->names, form, l->of_name, l->next_of_name);
	bool any = (way != BY_NAME || !unknown) &&
	           take_list(m, way, g, &l->shapes, key_of(form, g->shape), l->of_shape, l->next_of_shape);
	return (unknown && take_list(m, way, g, &l->shapes, key_of(form, 0), l->of_shape, l->next_of_shape)) || any;
}

/* By name and shape; else, where one of the two does not know the shape, by name; else by the name in another spelling,
 * also one without some of its namespaces; else, where one of the two says no more than the function's own name, by
 * that. A group that a better way has found is not looked for by a worse one. */
static void find_rows(struct match *m)
{
	bool *found = ARENA_NEW(&m->scratch, m->groups_at.n, bool);
	for (enum way way = BY_NAME; way < WAYS; way++) {
		struct listed l = list_rows(m, way);
		for (int unknown = way != BY_NAME; unknown < 2; unknown++)
			for (uint32_t i = 0; i < m->groups_at.n; i++)
				found[i] = found[i] || take_rows(m, way, &l, &m->groups[i].inside, unknown);
	}
}

/* ---- what a group's numbers say ---- */

/* Both 60 % and less: what Nsight Compute calls an issue of latency. */
static enum kernel_bound bound_of(const struct kernel_inside *g)
{
	double sm = g->value[NCU_SM], memory = g->value[NCU_MEMORY];
	if (isnan(sm) || isnan(memory))
		return BOUND_UNKNOWN;
	if (sm < 60 && memory < 60)
		return BOUND_LATENCY;
	if (fabs(sm - memory) < 10)
		return BOUND_BOTH;
	return sm > memory ? BOUND_COMPUTE : BOUND_MEMORY;
}

/* Below it the grid is what leaves SMs without work. */
static const double GRID_SMALL = 0.8;

static enum ncu_number limit_of(const struct kernel_inside *g)
{
	static const enum ncu_number limits[] = {NCU_BY_REGISTERS, NCU_BY_SHARED, NCU_BY_WARPS, NCU_BY_BLOCKS,
	                                         NCU_BY_BARRIERS};
	enum ncu_number least = NCU_NUMBERS;
	if (g->value[NCU_WAVES] < GRID_SMALL)
		return NCU_WAVES;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (!isnan(g->value[limits[i]]) && (least == NCU_NUMBERS || g->value[limits[i]] < g->value[least]))
			least = limits[i];
	return g->value[NCU_OCCUPANCY_MOST] < 99.5 ? least : NCU_NUMBERS;
}

static void find_stalls(struct group *of)
{
	struct kernel_inside *g = &of->inside;
	double all = 0;
	bool used[NCU_STALLS] = {0};
	for (int s = 0; s < NCU_STALLS; s++)
		all += of->stall[s];
	while (all > 0 && g->n_stalls < KERNEL_STALLS) {
		int most = -1;
		for (int s = 0; s < NCU_STALLS; s++)
			if (!used[s] && of->stall[s] > 0 && (most < 0 || of->stall[s] > of->stall[most]))
				most = s;
		if (most < 0)
			break;
		used[most] = true;
		g->stall[g->n_stalls++] = (struct kernel_stall){(enum ncu_stall)most, of->stall[most] / all};
	}
}

static double or_zero(double value)
{
	return isnan(value) ? 0 : value;
}

/* FLOP a second and a byte, in the precision that most of them are in. Without the roofline's counters NAN. */
static void find_point(struct kernel_inside *g)
{
	const double *v = g->value;
	double single = or_zero(v[NCU_FADD]) + or_zero(v[NCU_FMUL]) + 2 * or_zero(v[NCU_FFMA]);
	double twice = or_zero(v[NCU_DADD]) + or_zero(v[NCU_DMUL]) + 2 * or_zero(v[NCU_DFMA]);
	double bytes = isnan(v[NCU_DRAM_RATE]) ? v[NCU_DRAM_READ_RATE] + v[NCU_DRAM_WRITE_RATE] : v[NCU_DRAM_RATE];
	g->rate = g->intensity = NAN;
	if (single + twice <= 0 || twice > single || !(bytes > 0) || isnan(v[NCU_CLOCK]))
		return;
	g->rate = single * v[NCU_CLOCK];
	g->intensity = g->rate / bytes;
}

static void finish(struct group *of, double all)
{
	struct kernel_inside *g = &of->inside;
	for (int v = 0; v < NCU_NUMBERS; v++)
		g->value[v] = of->has[v] ? g->value[v] / of->has[v] : NAN;
	g->share = all > 0 ? g->per_step / all : 0;
	g->bound = bound_of(g);
	g->limit = limit_of(g);
	find_stalls(of);
	find_point(g);
}

SORT_ORDER(compare_groups, struct kernel_inside,
           DESCENDING(x->per_step, y->per_step) ?: ASCENDING(x->name, y->name) ?: ASCENDING(x->shape, y->shape))

struct ncu_side ncu_match(const struct side_facts *facts, const struct ncu_report *report, const struct names *names,
                          struct arena *arena)
{
	struct match m = {.facts = facts, .names = names};
	struct ncu_side out = {0};
	double all = 0;
	m.bare = ARENA_NEW(&m.scratch, names->n, bool);
	for (uint32_t i = 0; i < names->n; i++)
		m.bare[i] = kernel_name_is_bare(names_text(names, i));
	names_init(&m.forms, &m.scratch);
	keymap_init(&m.rows_at, &m.scratch);
	keymap_init(&m.groups_at, &m.scratch);
	add_rows(&m);
	add_groups(&m, report);
	find_rows(&m);
	for (uint32_t k = 0; k < m.rows_at.n; k++)
		all += m.rows[k].per_step;
	out.n = m.groups_at.n;
	out.kernel = ARENA_NEW(arena, out.n, struct kernel_inside);
	for (uint32_t i = 0; i < out.n; i++) {
		finish(&m.groups[i], all);
		out.kernel[i] = m.groups[i].inside;
		out.strangers += out.kernel[i].per_step <= 0;
		out.covered += out.kernel[i].share;
	}
	out.covered = fmin(out.covered, 1); /* sums of many shares */
	SORT(out.kernel, out.n, compare_groups);
	arena_release(&m.scratch);
	return out;
}
