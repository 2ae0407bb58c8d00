#include "find/graphs_inside.h"

#include "base/format.h"
#include "base/sort.h"
#include "charge/captured.h"
#include "charge/parts_open.h"

#include <math.h>
#include <string.h>

/* Launches of a graph agree where there are as many in both runs, or per step, or where they are as large a part of all
 * launches: a run may go on for longer. */
static const double ALIKE = 0.02;

/* ---- which graph is which ---- */

/* A graph of one process. */
struct graph {
	uint32_t process, number;
	int64_t first, thread; /* when it was launched first, and the system's number of the thread that did */
	int64_t launches;
};

/* All launches of graphs in a trace, of graphs traced whole or of their nodes. A graph has an id in its process. Nodes
 * of one launch have the same, child graphs' among them, as far as was seen; else the lowest is the graph's. */
struct launches {
	struct keymap keys; /* process << 32 | id */
	struct graph *graph;
	uint32_t *of_call; /* by call, the lowest id that it launches; 0: none */
	bool unknown;      /* a graph has no id, or no call that launched it */
};

static bool is_launched(const struct trace_ops *o, size_t i, bool nodes)
{
	return nodes ? o->flags[i] & OPF_GRAPH_NODE : o->kind[i] == OP_GRAPH;
}

/* Threads run side by side, so that which of two launches first is chance; they mostly have numbers in the order in
 * which they began. */
static int by_first_launch(const void *a, const void *b, void *context)
{
	const struct graph *list = context, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];
	return ASCENDING(x->process, y->process) ?: ASCENDING(x->thread, y->thread) ?: ASCENDING(x->first, y->first);
}

static struct launches find_launches(const struct trace *t, bool nodes, struct arena *arena)
{
	const struct trace_ops *o = &t->ops;
	struct launches l = {.of_call = ARENA_NEW(arena, t->calls.n, uint32_t)};
	keymap_init(&l.keys, arena);
	for (size_t i = 0; i < o->n; i++) {
		if (!is_launched(o, i, nodes))
			continue;
		uint32_t id = o->graph ? o->graph[i] : 0, call = o->launch[i];
		if (!id || call == TRACE_NONE)
			l.unknown = true;
		else if (!l.of_call[call] || id < l.of_call[call])
			l.of_call[call] = id;
	}
	for (uint32_t i = 0; i < t->calls.n; i++) {
		if (!l.of_call[i])
			continue;
		uint32_t process = t->threads[t->calls.thread[i]].process;
		uint32_t at = KEYMAP_ADD(arena, &l.keys, (uint64_t)process << 32 | l.of_call[i], l.graph);
		struct graph *g = &l.graph[at];
		g->process = process;
		if (g->launches++ && t->calls.start[i] >= g->first)
			continue;
		g->first = t->calls.start[i];
		g->thread = t->threads[t->calls.thread[i]].tid;
	}
	uint32_t *order = ARENA_NEW(arena, l.keys.n, uint32_t);
	for (uint32_t i = 0; i < l.keys.n; i++)
		order[i] = i;
	SORT_BY(order, l.keys.n, by_first_launch, l.graph);
	for (uint32_t i = 0, number = 0; i < l.keys.n; i++) {
		number = i && l.graph[order[i]].process == l.graph[order[i - 1]].process ? number + 1 : 1;
		l.graph[order[i]].number = number;
	}
	return l;
}

/* 0: it is not known. */
static uint32_t number_of(struct launches *l, const struct trace *t, size_t op)
{
	uint32_t call = t->ops.launch[op];
	if (call == TRACE_NONE || !l->of_call[call])
		return 0;
	uint32_t process = t->threads[t->calls.thread[call]].process;
	return l->graph[keymap_find(&l->keys, (uint64_t)process << 32 | l->of_call[call])].number;
}

/* ---- the side's own runs ---- */

struct whole {
	struct graph_inside *graph; /* by number − 1 */
	double *launches;           /* in a whole run, mean over runs */
	uint32_t n;
	bool unknown, unlike; /* some runs have more graphs than others */
};

static void count_launches(const struct launches *l, double weight, double *launches)
{
	for (uint32_t i = 0; i < l->keys.n; i++)
		launches[l->graph[i].number - 1] += (double)l->graph[i].launches * weight;
}

static uint32_t most_of(const struct launches *l)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < l->keys.n; i++)
		most = l->graph[i].number > most ? l->graph[i].number : most;
	return most;
}

static void add_part(struct whole *w, const struct run *run, const struct run *part, double runs, uint32_t *n,
                     struct arena *arena)
{
	const struct trace *t = part->trace;
	ARENA_LOCAL(scratch);
	struct launches l = find_launches(t, false, &scratch);
	uint32_t most = most_of(&l);
	const double weight = 1 / (runs * run->window.n_steps);
	if (most > w->n) {
		w->graph = arena_grow(arena, w->graph, w->n, most, sizeof *w->graph);
		w->launches = arena_grow(arena, w->launches, w->n, most, sizeof *w->launches);
		w->n = most;
	}
	*n = most > *n ? most : *n;
	w->unknown = w->unknown || l.unknown;
	count_launches(&l, 1 / runs, w->launches);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t number = t->ops.kind[i] == OP_GRAPH ? number_of(&l, t, i) : 0;
		if (!number || !run_measures_op(part, i))
			continue;
		w->graph[number - 1].instances += weight;
		w->graph[number - 1].per_step += (double)(t->ops.end[i] - t->ops.start[i]) * weight;
	}
}

static struct whole measure_whole(const struct side_facts *facts, struct arena *arena)
{
	struct whole w = {0};
	uint32_t first = 0; /* how many the first run has */
	for (size_t r = 0; r < facts->n_runs; r++) {
		const struct run *run = &facts->rows[r];
		uint32_t n = 0;
		for (uint32_t i = 0; i < run->parts->n; i++) {
			ARENA_LOCAL(scratch);
			add_part(&w, run, parts_open(run, i, &scratch), (double)facts->n_runs, &n, arena);
		}
		w.unlike = w.unlike || (r && n != first);
		first = r ? first : n;
	}
	for (uint32_t i = 0; i < w.n; i++)
		w.graph[i].number = i + 1;
	return w;
}

/* ---- the nodes ---- */

/* Times of the nodes of each graph, by what they are divided by. */
struct nodes {
	struct run run;
	struct launches launches;
	uint32_t n;                      /* graphs */
	double *count, *all;             /* by number − 1: launches; ns of all nodes … */
	double *instances;               /* … and launches per step, where it has the side's steps; else 0 */
	struct keymap keys[GRAPH_LISTS]; /* number << 32 | name, a name of the nodes' own */
	double *ns[GRAPH_LISTS];         /* by index of keys */
	bool phases;                     /* they are known as the side's are */
};

/* Its steps are the range that is the side's step; where it has none, no range is a step. */
static bool prepare(struct nodes *v, const struct side *side, const struct trace *t, const struct names *names,
                    struct arena *arena)
{
	const bool range = side->steps.found && steps_by_ranges(side->steps.origin);
	struct err ignored;
	return run_prepare(&v->run, t, range ? names_text(names, side->steps.name) : "none", -1, arena, &ignored) == 0;
}

static void add_time(struct nodes *v, enum graph_share_of of, uint32_t number, uint32_t name, double ns,
                     struct arena *arena)
{
	uint32_t at = KEYMAP_ADD(arena, &v->keys[of], (uint64_t)number << 32 | name, v->ns[of]);
	v->ns[of][at] += ns;
}

/* Where the call that made a node was, of which many nodes ask. */
struct made_in {
	uint32_t phase, range, module;
	bool asked;
};

static const struct made_in *made_in(struct nodes *v, struct made_in *known, uint32_t call)
{
	const struct activity *a = &v->run.charge->activity;
	const struct trace *t = v->run.trace;
	struct made_in *m = &known[call];
	if (m->asked)
		return m;
	uint32_t range = captured_in(v->run.phases.captured, t->calls.thread[call], call);
	m->asked = true;
	m->phase = v->phases ? captured_phase(v->run.phases.captured, a->fold, a->steps, a->no_phase, call) : 0;
	m->range = range == TRACE_NONE ? 0 : v->run.fold.of[t->ranges.name[range]];
	m->module = t->calls.in_module ? t->calls.in_module[call] : 0;
	return m;
}

static void count_measured(struct nodes *v, const struct trace *t, struct arena *arena)
{
	bool *seen = ARENA_NEW(arena, t->calls.n, bool);
	for (size_t i = 0; i < t->ops.n && v->phases && v->run.steps.found; i++) {
		uint32_t number = is_launched(&t->ops, i, true) ? number_of(&v->launches, t, i) : 0;
		if (!number || seen[t->ops.launch[i]] || !run_measures_op(&v->run, i))
			continue;
		seen[t->ops.launch[i]] = true;
		v->instances[number - 1] += 1.0 / v->run.window.n_steps;
	}
}

static void add_nodes(struct nodes *v, const struct trace *t, struct arena *arena)
{
	struct made_in *known = ARENA_NEW(arena, t->calls.n, struct made_in);
	const struct made_in nowhere = {0};
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t number = is_launched(&t->ops, i, true) ? number_of(&v->launches, t, i) : 0;
		uint32_t call = t->ops.creator ? t->ops.creator[i] : TRACE_NONE;
		if (!number)
			continue;
		double ns = (double)(t->ops.end[i] - t->ops.start[i]);
		const struct made_in *in =
			call != TRACE_NONE && v->run.phases.captured ? made_in(v, known, call) : &nowhere;
		v->all[number - 1] += ns;
		add_time(v, GRAPH_BY_KERNEL, number, t->ops.name[i], ns, arena);
		add_time(v, GRAPH_BY_PHASE, number, in->phase, ns, arena);
		add_time(v, GRAPH_BY_RANGE, number, in->range, ns, arena);
		add_time(v, GRAPH_BY_MODULE, number, in->module, ns, arena);
	}
}

static void measure_nodes(struct nodes *v, const struct side *side, const struct trace *t, const struct names *names,
                          struct arena *arena)
{
	v->phases = prepare(v, side, t, names, arena);
	v->launches = find_launches(t, true, arena);
	v->n = most_of(&v->launches);
	v->count = ARENA_NEW(arena, v->n, double);
	v->all = ARENA_NEW(arena, v->n, double);
	v->instances = ARENA_NEW(arena, v->n, double);
	for (int of = 0; of < GRAPH_LISTS; of++)
		keymap_init(&v->keys[of], arena);
	count_launches(&v->launches, 1, v->count);
	count_measured(v, t, arena);
	add_nodes(v, t, arena);
}

/* ---- together ---- */

static double sum_of(const double *list, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += list[i];
	return sum;
}

/* The number of a graph that is launched more or less often there than here, or whose nodes take no time; 0: none. */
static uint32_t find_unlike(const struct whole *w, const struct nodes *v)
{
	const double here = sum_of(w->launches, w->n), there = sum_of(v->count, v->n);
	for (uint32_t i = 0; i < w->n; i++) {
		const double share = w->launches[i] / here, per_step = w->graph[i].instances;
		bool alike = fabs(w->launches[i] - v->count[i]) < 0.5 ||
		             fabs(v->count[i] / there - share) <= ALIKE * share ||
		             (per_step > 0 && fabs(v->instances[i] - per_step) <= ALIKE * per_step);
		if (!alike || v->all[i] <= 0)
			return i + 1;
	}
	return 0;
}

/* NULL: the graphs of both are the same ones. */
static const struct fact *why_unknown(const struct graphs_input *of, const struct whole *w, const struct nodes *v,
                                      const char *file, struct arena *arena)
{
	const char *why = of->side->source.graphs != GRAPHS_WHOLE || (!w->n && !w->unknown) ? "none"
	                  : w->unknown                                                      ? "numbers"
	                  : w->unlike                                                       ? "runs"
	                  : !v->n                                                           ? "nodes"
	                  : w->n != v->n                                                    ? "graphs"
	                                                                                    : NULL;
	uint32_t unlike = why ? 0 : find_unlike(w, v);
	if (!why && !unlike)
		return NULL;
	return FACT_NEW(arena, graphs_undivided, of->which, .why = why ? why : "launches", .file = file, .here = w->n,
	                .there = v->n, .graph = unlike);
}

SORT_ORDER_BY(by_share, struct graph_share, names,
              DESCENDING(x->share, y->share) ?: strcmp(names_text(names, x->name), names_text(names, y->name)))

SORT_ORDER(by_time, struct graph_inside, DESCENDING(x->per_step, y->per_step) ?: ASCENDING(x->number, y->number))

/* What is known of a graph's nodes by one of the four; nothing, where it is not known of any. */
static struct graph_list list_of(const struct nodes *v, enum graph_share_of of, uint32_t number, struct names *names,
                                 struct arena *arena)
{
	ARENA_LOCAL(scratch);
	const struct keymap *keys = &v->keys[of];
	struct graph_share *all = ARENA_NEW(&scratch, keys->n, struct graph_share);
	struct graph_list list = {0};
	uint32_t n = 0;
	bool known = false;
	for (uint32_t i = 0; i < keys->n; i++) {
		if (keys->keys[i] >> 32 != number)
			continue;
		const char *name = names_text(v->run.trace->names, (uint32_t)keys->keys[i]);
		all[n++] = (struct graph_share){names_add_text(names, name), v->ns[of][i] / v->all[number - 1]};
		known = known || *name;
	}
	if (!known)
		return list;
	SORT_BY(all, n, by_share, names);
	list.n = n < GRAPH_ROWS ? n : GRAPH_ROWS;
	list.row = arena_keep(arena, all, list.n, sizeof *all);
	return list;
}

static bool is_same(const struct graph_list *a, const struct graph_list *b)
{
	bool same = a->n == b->n;
	for (uint32_t i = 0; i < a->n && same; i++)
		same = a->row[i].name == b->row[i].name;
	return same;
}

static void divide(struct graph_inside *g, const struct nodes *v, struct names *names, struct arena *arena)
{
	for (int of = 0; of < GRAPH_LISTS; of++)
		g->list[of] = list_of(v, (enum graph_share_of)of, g->number, names, arena);
	if (is_same(&g->list[GRAPH_BY_RANGE], &g->list[GRAPH_BY_PHASE]))
		g->list[GRAPH_BY_RANGE] = (struct graph_list){0};
}

struct graphs_inside graphs_look_inside(const struct graphs_input *of, struct names *names, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct nodes *v = ARENA_NEW(&scratch, 1, struct nodes);
	struct whole w = measure_whole(of->facts, &scratch);
	struct graphs_inside out = {.file = names_file(names, of->nodes_file)};
	measure_nodes(v, of->side, of->nodes, names, &scratch);
	out.unknown = why_unknown(of, &w, v, out.file, arena);
	if (out.unknown)
		return out;
	SORT(w.graph, w.n, by_time);
	while (w.n && w.graph[w.n - 1].instances <= 0) /* in no measured step */
		w.n--;
	out.n = w.n < GRAPHS_SHOWN ? w.n : GRAPHS_SHOWN;
	out.more = w.n - out.n;
	out.graph = arena_keep(arena, w.graph, out.n, sizeof *out.graph);
	for (uint32_t i = 0; i < out.n; i++)
		divide(&out.graph[i], v, names, arena);
	return out;
}
