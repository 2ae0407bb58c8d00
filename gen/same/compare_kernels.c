/* The part of the same-work guard that looks at kernels: what work.h counts, weighed. */
#include "same/same_work.h"

#include "same/doubts.h"
#include "same/work.h"
#include "trace/kernel_names.h"

#include <math.h>
#include <string.h>

static const double SAME_MULTIPLE = 0.02; /* a ratio of steps is a whole number within this */
static const double SAME_BATCH = 0.002;   /* and one of batches, which may be of any size, within this */
static const double LEAST_MULTIPLE = 1.1; /* and one that is none is at least that: two batches against three */
static const double APART = 1 / 3.;       /* shares of the GPU's work that one loop has on both sides are nearer */
static const double SAME_GRAPH = 0.02;    /* of the time of graphs that were traced whole */

static const double NEARLY_ALL = 0.9;    /* of the difference, for it to be that of one side */
static const double MANY_TIMES = 20;     /* what chance made of kernels, and it did not make so much of the steps */
static const double MOST_ALIKE = 0.5;    /* of the kernels' time: a larger batch leaves no such share as it is */
static const double HALVES = 0.1;        /* of the kernels' time: so much in 16 bits is a change of precision */
static const double MOST_OF_A_CLOCK = 2; /* no clock that is held back under load makes more */

bool guard_graphs_whole(const struct guard *c)
{
	return c->a->source.graphs == GRAPHS_WHOLE || c->b->source.graphs == GRAPHS_WHOLE;
}

/* One side runs in graphs traced whole what the other launches kernel by kernel, or in fewer graphs. */
static bool graphs_hide(const struct guard *c)
{
	return guard_graphs_whole(c) && fabs(c->a->counts.graph_launches - c->b->counts.graph_launches) > c->slack;
}

static void add_group(struct guard *c, const struct work_group *g, const char *how, int side, double all)
{
	if (!g->n)
		return;
	GUARD_FIND(c, all > 0 && g->time / all > GUARD_MATERIAL, kernels_differ, side, .kernels = g->n,
	           .outside = guard_graphs_whole(c), .how = how, .time = g->time, .unit = guard_per(c),
	           .largest = g->name, .sized = g->size[0] > 0 && g->size[1] > 0, .baseline = g->size[0],
	           .fixed = g->size[1]);
}

/* Kernels that run equally often but not equally long. Why no profile tells; what may be why depends on whether they
 * take longer on one side, and whether all do. */
static const struct fact *times_differ(const struct guard *c, const struct work_kernels *k)
{
	const struct work_group *g = &k->times;
	bool fixed = k->longer >= NEARLY_ALL * g->time, one_side = fixed || k->longer <= (1 - NEARLY_ALL) * g->time;
	double times = fmax(k->ratio, 1 / k->ratio);
	int longer = k->ratio > 0 ? k->ratio > 1 : one_side ? fixed : FACT_NO_SIDE;
	return FACT_NEW(c->arena, kernel_times_differ, longer, .kernels = g->n, .largest = g->name, .time = g->time,
	                .unit = guard_per(c),
	                .longer = k->ratio > 0 ? "each"
	                          : one_side   ? "all"
	                                       : "some",
	                .times = times, .clock = times <= MOST_OF_A_CLOCK,
	                .resized = round(g->size[0]) < 1 || fabs(g->size[0] - g->size[1]) > 1e-6);
}

/* Whether so much time is hardly any of either side's step, and most of its kernels' time is alike: whatever that is,
 * the steps are not apart for it. Runs of one pair had both answers for 0.09 % of a step. */
static bool is_lost_in_step(const struct guard *c, double time)
{
	double step = INFINITY;
	for (int s = 0; s < 2; s++)
		step = fmin(step, c->share[s] * c->side[s].budget.period * c->side[s].n_devices);
	return c->a->steps.found && c->alike >= MOST_ALIKE && time <= GUARD_MATERIAL * step;
}

/* What both run as often and with as many blocks takes another time: less work in each block, or faster code. */
static bool add_times(struct guard *c, const struct work_kernels *k, double all)
{
	const bool as_clock = c->alike >= GUARD_NEARLY_ALL && k->factor != 1;
	const bool material = c->alike < GUARD_NEARLY_ALL && !is_lost_in_step(c, k->times.time);
	c->out.as_clock = c->alike >= GUARD_NEARLY_ALL ? k->as_clock : 0;
	if (as_clock)
		GUARD_FIND(c, false, all_kernels_slower, k->factor > 1, .times = fmax(k->factor, 1 / k->factor));
	if (!k->times.n || k->times.time < GUARD_MATERIAL * all || as_clock)
		return false;
	guard_find(c, c->alike < GUARD_NEARLY_ALL, times_differ(c, k));
	return material;
}

/* Blocks of a kernel in a step of a run; where those were not recorded, how often it runs. */
static double done_in(const struct guard *c, const struct run_table *run, const char *key)
{
	ARENA_LOCAL(scratch);
	double blocks = 0, n = 0;
	for (uint32_t i = 0; i < run->n_kernels; i++)
		if (strcmp(kernel_key(&scratch, names_text(c->names, run->kernels[i].name)), key) == 0) {
			blocks += run->kernels[i].blocks;
			n += (double)run->kernels[i].n;
		}
	return (blocks > 0 ? blocks : n) / run->n_steps;
}

/* Whether the sides' runs differ in a kernel by no more than a side's do among themselves, which is no other work: how
 * far they are apart against the wider range. */
static bool runs_meet(const struct guard *c, const struct side_facts facts[2], const char *key, int less)
{
	double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
	if (facts[0].n_runs == 1 && facts[1].n_runs == 1)
		return false;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++) {
			const double done = c->share[s] * done_in(c, &facts[s].runs[r], key);
			least[s] = fmin(least[s], done);
			most[s] = fmax(most[s], done);
		}
	return least[!less] - most[less] <= fmax(most[0] - least[0], most[1] - least[1]);
}

/* What one side has more of may bring what others did: ranks that share the work send each other what they have. */
static void find_sends(struct guard *c)
{
	double n[2] = {0};
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < c->side[s].n_kernels; i++)
			n[s] += c->side[s].kernels[i].comm ? c->share[s] * c->side[s].kernels[i].instances : 0;
	const struct work_scale scale = {.steps = c->a->steps.found, .slack = c->slack, .chance = c->chance};
	c->sends[n[1] > n[0]] = work_differs(&scale, n[0], n[1]);
}

/* `side` runs them less often. Whether fills and copies were needed no profile tells, nor whether what hardly runs does
 * the same, or the host, where more is copied to it or from it, or other ranks, where more is sent; and little is no
 * other work. */
static void add_left_out(struct guard *c, const struct side_facts facts[2], const struct work_left_out *l, int side,
                         double all)
{
	static const char *const place[] = {"nothing", "longer", "gathered", "beside", "elsewhere", "little", "anew"};
	if (!l->n || (l->n == 1 && kernel_key_copies(l->name) && guard_copies_in_graph(c, !side)))
		return;
	const bool brought = l->instead <= WORK_GATHERED && (c->copies[side] || c->sends[side]);
	const bool much = l->time > GUARD_MATERIAL * all && !brought && !runs_meet(c, facts, l->name, side);
	c->different |= much;
	c->doubtful |= !much;
	GUARD_FIND(c, true, kernels_missing, side, .named = *l->name != 0, .kernel = l->name, .more = l->n - 1,
	           .runs = l->with, .unit = guard_per(c), .some = l->without > 0, .instead = l->without,
	           .place = !brought          ? place[l->instead]
	                    : c->copies[side] ? "host"
	                                      : "ranks");
}

static void add_fall(struct guard *c, const struct side_facts facts[2], const struct work_fall *f, double all)
{
	if (!f->n || f->time <= GUARD_MATERIAL * all)
		return;
	c->falls = !runs_meet(c, facts, f->name, f->less);
	bool moved = f->renamed || f->n == 1 || f->recut || (f->replaced && f->grown > GUARD_MATERIAL * all) ||
	             !c->falls || c->sends[f->less];
	c->doubtful |= moved;
	c->different |= !moved;
	if (!f->recut) /* else it is listed that they run in other blocks */
		GUARD_FIND(c, true, kernels_do_less, f->less, .kernel = f->name, .others = f->n - 1,
		           .renamed = f->renamed, .times = f->ratio, .unit = guard_per(c), .ranks = c->sends[f->less]);
}

/* ms a step of CUDA graphs that were traced whole. */
static double graph_time(const struct side *side)
{
	double time = 0;
	for (uint32_t i = 0; i < side->n_kernels; i++)
		time += side->kernels[i].graph ? side->kernels[i].per_step : 0;
	return time;
}

/* Shares of alike kernels' time, of the side that has less; what is in a graph that takes as long is taken for alike.
 */
static void find_alike(struct guard *c, const struct work_kernels *k)
{
	double graph[2] = {c->share[0] * graph_time(c->a), c->share[1] * graph_time(c->b)};
	bool same = guard_distance(graph[0], graph[1]) <= SAME_GRAPH;
	c->alike = 1;
	for (int s = 0; s < 2; s++)
		if (k->known[s] + graph[s] > 0)
			c->alike = fmin(c->alike, (k->alike[s] + (same ? graph[s] : 0)) / (k->known[s] + graph[s]));
	if (!same && graph[0] > 0 && graph[1] > 0)
		GUARD_DOUBT(c, graph_times_differ, FACT_NO_SIDE, .baseline = graph[0], .fixed = graph[1],
		            .unit = guard_per(c));
}

/* Where nobody said what a step is, what repeats may be two loops of the same kernels, of which each side has both; a
 * critic may learn four times instead of three for each turn of its generator, and an iteration of a solver has more or
 * less of what comes once for all that a time step takes; where somebody did, a step may hold several of the other
 * side's, and then all that it has is there so many times. */
static const struct fact *other_loop(const struct guard *c, const struct work_kernels *of)
{
	const struct work_multiple *m = of->multiple.name ? &of->multiple : &of->seldom;
	const struct side_steps *a = &c->a->steps, *b = &c->b->steps;
	bool other = !of->only[0].n && !of->only[1].n && (of->counts.n || of->by_chance.n);
	if (other && guard_distance(a->coverage, b->coverage) > APART)
		return FACT_NEW(c->arena, loops_of_other_share, FACT_NO_SIDE, .baseline = a->coverage,
		                .fixed = b->coverage);
	const struct fact *copies = of->multiple.name ? NULL : guard_copies_of_loop(c);
	if (copies || of->multiple.blocks)
		return copies;
	if (m->name)
		return FACT_NEW(c->arena, loops_of_other_size, FACT_NO_SIDE, .kernel = m->name, .baseline = m->runs[0],
		                .fixed = m->runs[1], .seldom = m == &of->seldom);
	return of->recut.name ? FACT_NEW(c->arena, loops_of_other_cut, FACT_NO_SIDE, .kernel = of->recut.name,
	                                 .baseline = of->recut.runs[0], .fixed = of->recut.runs[1])
	                      : NULL;
}

static const struct fact *other_unit(const struct guard *c, const struct work_kernels *of)
{
	const struct work_multiple *m = &of->multiple;
	const bool pattern = c->a->steps.origin == STEPS_BY_PATTERN || c->b->steps.origin == STEPS_BY_PATTERN;
	const struct fact *loop = pattern ? other_loop(c, of) : NULL;
	if (loop || !m->name || (pattern && !m->blocks))
		return loop;
	bool fixed = m->runs[1] > m->runs[0];
	double k = m->runs[fixed] / m->runs[!fixed];
	double cut = c->steps > 0 ? (k - 1) / c->steps : 0; /* a step that the capture cuts through holds one of them */
	const double within = m->blocks ? SAME_BATCH : SAME_MULTIPLE;
	bool whole = round(k) >= 2 && fabs(k - round(k)) <= within * k + cut;
	if (!c->a->steps.found || (!whole && (!m->fed || k < LEAST_MULTIPLE)))
		return NULL;
	const double steps = whole ? round(k) : k;
	return FACT_NEW(c->arena, step_holds_several, fixed, .steps = steps, .kernel = m->name, .blocks = m->blocks,
	                .runs = m->runs[fixed], .instead = m->runs[!fixed],
	                .items = arena_format(c->arena, fixed ? "1,%.4g" : "%.4g,1", steps));
}

/* Where graphs hide most kernels, what a step is given is all that tells how much it holds: a whole number of times the
 * input, and about as many times the GPU's time. */
static const struct fact *graphs_of_several(const struct guard *c, const double input[2])
{
	const int more = input[1] > input[0];
	const double k = input[more] / input[!more];
	double time[2] = {0};
	bool hidden = false;
	for (int s = 0; s < 2; s++) {
		for (uint32_t i = 0; i < c->side[s].n_kernels; i++)
			time[s] += c->share[s] * c->side[s].kernels[i].per_step;
		hidden = hidden || c->share[s] * graph_time(&c->side[s]) > time[s] / 2;
	}
	const bool whole = round(k) >= 2 && fabs(k - round(k)) <= SAME_MULTIPLE * k;
	if (!hidden || !whole || !c->a->steps.found || fmin(input[0], input[1]) < GUARD_FEW_BYTES ||
	    time[more] < (1 + (k - 1) / 2) * time[!more])
		return NULL;
	return FACT_NEW(c->arena, step_input_several, more, .times = (int64_t)round(k));
}

bool guard_is_other_unit(struct guard *c, const struct fact *other)
{
	if (!other || c->out.mismatch || c->a->items > 0)
		return false;
	c->out.mismatch = other;
	c->out.other_unit = true;
	c->other_loops = c->a->steps.origin == STEPS_BY_PATTERN && c->b->steps.origin == STEPS_BY_PATTERN;
	guard_doubt(c, other);
	return true;
}

/* How many times further apart the sides' steps are than `time` of `all` of their kernels; NAN without steps. */
static double change_over(const struct guard *c, double time, double all)
{
	return fabs(log(c->share[1] * c->b->steps.mean / (c->share[0] * c->a->steps.mean))) / (time / all);
}

/* Work that chance may have made less. Where steps wander, it may have made all of the speedup, but for one that is
 * many times as large: nobody knows then that the work is the same, where kernels differ by more than clocks. */
static void add_by_chance(struct guard *c, const struct work_kernels *k, double all)
{
	const struct work_group *kernels = k->by_chance.time > GUARD_MATERIAL * all ? &k->by_chance : &k->wandering;
	if (kernels->time <= GUARD_MATERIAL * all)
		return;
	const struct fact *why = FACT_NEW(c->arena, work_by_chance, FACT_NO_SIDE, .kernels = kernels->n,
	                                  .time = kernels->time, .unit = guard_per(c), .largest = kernels->name);
	if (c->variation.wanders && !c->out.mismatch && !(change_over(c, kernels->time, all) >= MANY_TIMES))
		c->out.mismatch = why;
	const bool beyond = all > MOST_OF_A_CLOCK * fmin(k->time[0], k->time[1]);
	if (kernels == &k->by_chance || (c->out.mismatch == why && beyond))
		guard_doubt(c, why);
}

/* What is calculated with 16 bits on one side alone is no other job, and rounds otherwise. A graph that was traced
 * whole may do so. */
static void compare_precision(struct guard *c)
{
	double all[2] = {0}, halves[2] = {0};
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < c->side[s].n_kernels; i++) {
			const struct kernel_result *k = &c->side[s].kernels[i];
			all[s] += k->comm ? 0 : k->per_step;
			halves[s] += !k->comm && kernel_key_halves(names_text(c->names, k->name)) ? k->per_step : 0;
		}
	const int side = halves[1] > halves[0];
	const double perhaps = halves[!side] + graph_time(&c->side[!side]);
	if (halves[side] > HALVES * all[side] && perhaps <= GUARD_MATERIAL * all[!side])
		GUARD_FIND(c, true, precision_differs, side, .share = halves[side] / all[side]);
}

static struct work_scale scale_of(const struct guard *c)
{
	struct work_scale scale = {c->a->steps.found,
	                           c->slack,
	                           {c->share[0] * c->a->counts.bytes_h2d, c->share[1] * c->b->counts.bytes_h2d},
	                           {c->share[0], c->share[1]},
	                           c->as_much,
	                           conditions_clock(c->side),
	                           c->chance,
	                           c->variation,
	                           0,
	                           0,
	                           {(double)c->a->steps.measured / (double)c->a->n_runs,
	                            (double)c->b->steps.measured / (double)c->b->n_runs},
	                           {NAN, NAN}};
	if (c->as_much == 1)
		conditions_busier(c->side, scale.busier);
	return scale;
}

bool guard_other_batch(const struct guard *c, const struct side_facts facts[2], double baseline, double fixed)
{
	const double times = fmax(baseline, fixed) / fmin(baseline, fixed);
	if (!c->a->steps.found || c->a->items > 0 || fmin(baseline, fixed) < GUARD_FEW_BYTES || round(times) < 2 ||
	    fabs(times - round(times)) > GUARD_MATERIAL * times)
		return false;
	struct work_kernels k;
	const struct work_scale scale = scale_of(c);
	work_compare(facts, &c->out.renames, c->names, &scale, c->arena, &k);
	return amounts_hidden(c->a, c->b) || k.blocks.n || k.alike[0] < MOST_ALIKE * k.known[0] ||
	       k.alike[1] < MOST_ALIKE * k.known[1];
}

static void keep_numbers(struct guard *c, const struct work_kernels *k)
{
	c->out.clock = k->clock;
	c->out.clock_share = k->clock_share;
	c->out.clock_told = k->clock_told;
	c->placed = k->placed;
	c->grows[0] = k->only[0].n > 0;
	c->grows[1] = k->only[1].n > 0;
	c->others_run = k->only[0].n || k->only[1].n || k->counts.n;
	find_alike(c, k);
}

/* What one side lacks. Where graphs hide kernels they may do what is missing beside them. */
static void add_missing(struct guard *c, const struct side_facts facts[2], const struct work_kernels *k, bool hidden,
                        double all)
{
	const double times = fmax(c->as_much, 1 / c->as_much);
	for (int s = 0; s < 2 && !hidden; s++)
		add_left_out(c, facts, &k->left_out[s], s, all);
	if (k->by_step)
		GUARD_FIND(c, k->by_step_time > GUARD_MATERIAL * all, as_often_per_step, c->as_much < 1,
		           .kernels = k->by_step, .times = times);
	if (c->as_much != 1 && k->by_item_time <= GUARD_MATERIAL * all)
		GUARD_DOUBT(c, items_not_worked_on, c->as_much < 1, .times = times);
	if (!hidden)
		add_fall(c, facts, &k->fall, all);
}

/* Kernels that are others, or there another number of times, and those that take another time: whether there are such.
 */
static bool add_differing(struct guard *c, const struct work_kernels *k, uint32_t before, double all)
{
	const struct variation *v = &c->variation;
	add_group(c, &k->only[0], "only", 0, all);
	add_group(c, &k->only[1], "only", 1, all);
	add_group(c, &k->counts, "counts", FACT_NO_SIDE, all);
	add_group(c, &k->blocks, "blocks", FACT_NO_SIDE, all);
	bool others = c->out.differences.n > before, times = add_times(c, k, all);
	if (others && v->turns != FACT_NO_SIDE)
		GUARD_FIND(c, true, kernels_turn, v->turns, .first = v->turn_ns[0], .steps = v->turn[0],
		           .then = v->turn_ns[1], .rest = v->turn[1]);
	before = c->out.differences.n;
	add_group(c, &k->threads, "threads", FACT_NO_SIDE, all);
	times = times || c->out.differences.n > before;
	c->kernels_differ = others || times;
	c->only_times_differ = times && !others;
	c->shorter = k->time[1] < k->time[0];
	return times;
}

void guard_kernels(struct guard *c, const struct side_facts facts[2])
{
	struct work_kernels k;
	const struct work_scale scale = scale_of(c);
	const uint32_t before = c->out.differences.n;
	if (guard_is_other_unit(c, graphs_of_several(c, scale.input)))
		return;
	if (amounts_hidden(c->a, c->b)) {
		GUARD_DOUBT(c, kernels_in_graphs, FACT_NO_SIDE);
		return;
	}
	work_compare(facts, &c->out.renames, c->names, &scale, c->arena, &k);
	const double all = fmax(k.time[0], k.time[1]);
	keep_numbers(c, &k);
	/* what stops is no unit */
	if (guard_is_other_unit(c, c->variation.turns == FACT_NO_SIDE ? other_unit(c, &k) : NULL))
		return;
	find_sends(c);
	const bool hidden = graphs_hide(c);
	add_missing(c, facts, &k, hidden, all);
	const bool times = add_differing(c, &k, before, all);
	add_by_chance(c, &k, all);
	compare_precision(c);
	if (hidden && (c->kernels_differ || k.fall.n))
		GUARD_DOUBT(c, kernels_in_graphs, FACT_NO_SIDE);
	if (c->kernels_differ && (k.unnamed[0] > GUARD_MATERIAL || k.unnamed[1] > GUARD_MATERIAL))
		GUARD_DOUBT(c, kernels_unnamed, FACT_NO_SIDE);
	if (times && fmax(scale.input[0], scale.input[1]) < GUARD_FEW_BYTES)
		GUARD_DOUBT(c, no_input_copied, FACT_NO_SIDE);
}
