/* The part of the same-work guard that looks at kernels: what work.h counts, weighed. */
#include "analyse/judge/amounts.h"
#include "analyse/judge/compare_parts.h"
#include "analyse/judge/work.h"
#include "analyse/say.h"

#include <math.h>

static const double SAME_MULTIPLE = 0.02; /* a ratio of steps is a whole number within this */
static const double FEW_BYTES = 1024;     /* a step: a scalar here and there is no input */
static const double SAME_GRAPH = 0.02;    /* of the time of graphs that were traced whole */

static const char HIDDEN_BY_GRAPHS[] =
	"CUDA graphs that were traced whole hide their kernels on one side: --cuda-graph-trace node shows them.";

/* One side runs in graphs traced whole what the other launches kernel by kernel, or in fewer graphs. */
static bool graphs_hide(const struct guard *c)
{
	bool whole = c->a->source.graphs == GRAPHS_WHOLE || c->b->source.graphs == GRAPHS_WHOLE;
	return whole && fabs(c->a->counts.graph_launches - c->b->counts.graph_launches) > c->slack;
}

static void add_group(struct guard *c, const struct work_group *g, const char *what, double all)
{
	if (!g->n)
		return;
	guard_add(c, all > 0 && g->time / all > GUARD_MATERIAL,
	          arena_format(c->arena, "%u %s %s: %s ms %s (largest: %s).", g->n,
	                       g->n == 1 ? "kernel runs" : "kernels run", what, say_digits(c->arena, g->time / 1e6),
	                       guard_per(c), say_short(c->arena, g->name)));
}

/* What both run as often and with as many blocks takes another time: less work in each block, or faster code. */
static bool add_times(struct guard *c, const struct work_kernels *k, double all)
{
	bool material = c->alike < GUARD_NEARLY_ALL;
	if (!material && k->factor != 1)
		guard_add(c, false, work_say_factor(k, c->arena));
	if (!k->times.n || k->times.time < GUARD_MATERIAL * all || (!material && k->factor != 1))
		return false;
	guard_add(c, material, work_say_times(k, guard_per(c), c->arena));
	return material;
}

/* `side` runs them less often. Whether fills and copies were needed no profile tells, and little is no other work. */
static void add_left_out(struct guard *c, const struct work_left_out *l, int side, double all)
{
	if (!l->n)
		return;
	if (l->time > GUARD_MATERIAL * all) {
		c->different = true;
		guard_add(c, true, work_say_left_out(l, side, guard_per(c), c->arena));
	} else {
		guard_doubt(c, work_say_left_out(l, side, guard_per(c), c->arena));
	}
}

static void add_fall(struct guard *c, const struct work_fall *f, double all)
{
	c->falls = f->n > 1 && f->time > GUARD_MATERIAL * all;
	if (!c->falls)
		return;
	if (f->grown > GUARD_MATERIAL * all)
		guard_doubt(c, work_say_fall(f, c->arena));
	else
		guard_add(c, true, work_say_fall(f, c->arena));
	c->different |= f->grown <= GUARD_MATERIAL * all;
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
		guard_doubt(
			c,
			arena_format(
				c->arena,
				"CUDA graphs that were traced whole take %s ms %s in the baseline and %s in the fixed "
				"side; what they run is unknown.",
				say_digits(c->arena, graph[0] / 1e6), guard_per(c),
				say_digits(c->arena, graph[1] / 1e6)));
}

/* Where nobody said what a step is, a critic may learn four times instead of three for each turn of its generator;
 * where somebody did, a step may hold several of the other side's, and then all that it has is there so many times. */
static const char *other_unit(const struct guard *c, const struct work_multiple *m)
{
	if (c->a->steps.origin == STEPS_BY_PATTERN)
		return arena_format(
			c->arena,
			"Nobody marked the steps, and what repeats is not as much of the same work: %s and most other "
			"kernels "
			"run %s in the baseline's repetition and %s in the fixed side's. Mark what a step is, on "
			"both sides.",
			say_short(c->arena, m->name), say_times(c->arena, m->runs[0]), say_times(c->arena, m->runs[1]));
	bool fixed = m->runs[1] > m->runs[0];
	double k = m->runs[fixed] / m->runs[!fixed];
	bool input =
		c->share[0] * c->a->counts.bytes_h2d > FEW_BYTES && c->share[1] * c->b->counts.bytes_h2d > FEW_BYTES;
	if (!c->a->steps.found || !input || round(k) < 2 || fabs(k - round(k)) > SAME_MULTIPLE * k)
		return NULL;
	return arena_format(
		c->arena,
		"A step of the %s holds %.0f times the work of a step of the %s: %s runs %s instead of %s. Mark "
		"the same unit on both sides.",
		fixed ? "fixed side" : "baseline", round(k), fixed ? "baseline" : "fixed side",
		say_short(c->arena, m->name), say_times(c->arena, m->runs[fixed]),
		say_times(c->arena, m->runs[!fixed]));
}

/* Whether the sides' steps are no unit of the same work: then nothing tells whether the work is the same. */
static bool compare_units(struct guard *c, const struct work_multiple *m)
{
	const char *text = c->out.mismatch || !m->name ? NULL : other_unit(c, m);
	if (!text)
		return false;
	c->out.mismatch = fact_legacy(c->arena, text);
	guard_doubt(c, text);
	return true;
}

void guard_kernels(struct guard *c, const struct side_facts facts[2])
{
	struct work_kernels k;
	struct work_scale scale = {c->a->steps.found,
	                           c->slack,
	                           c->steps,
	                           {c->share[0] * c->a->counts.bytes_h2d, c->share[1] * c->b->counts.bytes_h2d},
	                           {c->share[0], c->share[1]}};
	uint32_t before = c->out.differences.n;
	if (amounts_hidden(c->a, c->b)) {
		guard_doubt(c, HIDDEN_BY_GRAPHS);
		return;
	}
	work_compare(facts, &c->out.renames, c->names, &scale, c->arena, &k);
	double all = fmax(k.time[0], k.time[1]);
	c->out.clock = k.clock;
	c->out.clock_share = k.clock_share;
	find_alike(c, &k);
	if (compare_units(c, &k.multiple))
		return;
	for (int s = 0; s < 2 && !graphs_hide(c); s++)
		add_left_out(c, &k.left_out[s], s, all);
	add_fall(c, &k.fall, all);
	add_group(c, &k.only[0], "only in the baseline", all);
	add_group(c, &k.only[1], "only in the fixed side", all);
	add_group(c, &k.counts, "a different number of times", all);
	add_group(c, &k.blocks, "with another number of blocks", all);
	bool others = c->out.differences.n > before, times = add_times(c, &k, all);
	c->kernels_differ = others || times;
	c->only_times_differ = times && !others;
	if (c->kernels_differ && graphs_hide(c))
		guard_doubt(c, HIDDEN_BY_GRAPHS);
	if (c->kernels_differ && (k.unnamed[0] > GUARD_MATERIAL || k.unnamed[1] > GUARD_MATERIAL))
		guard_doubt(c, "Kernels without names cannot be compared.");
	if (times && fmax(scale.input[0], scale.input[1]) < FEW_BYTES)
		guard_doubt(c, "No input copied to the device shows whether the kernels had as much to do.");
}
