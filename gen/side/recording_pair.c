/* What recording may have done to a speedup (docs/method/verdict.md, Recording): prices are not known, what bounds them
 * is. */
#include "side/recording.h"

#include "base/keymap.h"
#include "base/sort.h"
#include "verdict/stats.h"

#include <math.h>

static const double LEAST_NS_A_CALL = 800;  /* recording.c says where that was seen */
static const double MOST_NS_A_CALL = 20000; /* on other hosts programs paid up to 19 µs a launch */
/* What of a launch's pace is its own: 300 launches in a loop took 0.891 ms without a profiler (docs/guide/capture.md),
 * 3 µs each. Only a quarter is taken off: with a third one known pair fewer lies within (docs/method/verdict.md). */
static const double NS_A_LAUNCH = 750;
/* Of the speedup, where one side keeps the GPU busy twice as long as the other: 2.5 % was seen, in examples/truth. */
static const double OF_GPU_WORK = 0.025;
/* What a node of a graph takes the GPU longer where graphs are recorded node by node, at most. A graph of 300 kernels
 * of 1 µs took 0.223 ms without a profiler and 0.55 to 0.72 ms so recorded, in six captures with CUPTI 11.8 to 13.0 on
 * H100s: 1.1 to 1.7 µs a node. No node takes less than its kernel and the way to the next one. */
static const double MOST_NS_A_NODE = 2000, LEAST_NS_OF_A_NODE = 500;
static const double SHARED = 0.1;        /* of the launches: fewer do not tell how both sides were recorded */
static const double WORTH_SAYING = 0.01; /* of the speedup */
static const double TURNS = 0.05;        /* of the speedup: from here on the headline says "while profiled" */

/* A range may cost as much as a call. */
static double waited(const struct side *side)
{
	return side->recording.waited_calls + side->recording.waited_ranges;
}

/* Whether one side launches nothing but graphs, and the other more: a graph's launch takes what its nodes take. */
static bool of_graphs(const struct side side[2])
{
	return side[0].recording.of_graphs != side[1].recording.of_graphs;
}

/* The highest price that a call of a side can have: all that the GPU waited for in a step have no more than the step.
 */
static double highest_price_of(const struct side side[2], int s)
{
	const struct recording_cost *of = &side[of_graphs(side) ? side[0].recording.of_graphs : s].recording;
	const double calls = side[s].counts.graph_launches > 0 ? 1 : fmax(1, waited(&side[s]));
	const double most = fmin(MOST_NS_A_CALL, side[s].budget.period / calls);
	return fmin(fmax(LEAST_NS_A_CALL, of->launch_pace - NS_A_LAUNCH), most);
}

/* Of either. */
static double highest_price(const struct side side[2])
{
	return fmax(highest_price_of(side, 0), highest_price_of(side, 1));
}

/* What recording may have done to the GPU's work, as a logarithm: nothing where both sides have as much of it. */
static double gpu_bound(const struct side side[2])
{
	double b = side[0].busy, f = side[1].busy;
	return b > 0 && f > 0 ? OF_GPU_WORK * fmin(1, fabs(log2(b / f))) : 0;
}

/* The same work is longer by as much on both sides, which is more of a step that is shorter: by how much the speedup
 * may be higher without that, as a logarithm (below 0: lower). */
static double gpu_share(const struct side side[2])
{
	double share[2];
	for (int s = 0; s < 2; s++)
		share[s] = side[s].budget.period > 0 ? side[s].busy / side[s].budget.period : 0;
	return log1p(-OF_GPU_WORK * share[0]) - log1p(-OF_GPU_WORK * share[1]);
}

/* How much more a call may cost on the fixed side than on the baseline. Recording may be why a launch takes longer
 * there wherever both sides do the same; where they do hardly anything alike, their fastest launches stand for that. */
struct apart {
	double ns;   /* below 0: less; within what a call can cost */
	double seen; /* as it is */
	bool alike;  /* of what both sides do */
};

static struct apart prices_apart(const struct side side[2])
{
	const struct recording_cost *b = &side[0].recording, *f = &side[1].recording;
	double shared, ns = paces_apart(&b->paces, &f->paces, &shared);
	struct apart out = {.seen = ns, .alike = shared >= SHARED};
	if (!out.alike)
		out.seen = !of_graphs(side) && fmin(b->launch_pace, f->launch_pace) > 0
		                   ? f->launch_pace - b->launch_pace
		                   : 0;
	out.ns = fmax(fmin(out.seen, MOST_NS_A_CALL), -MOST_NS_A_CALL);
	return out;
}

/* Whether launches differ by more than the interval takes recording to cost. */
static bool is_beyond(const struct side side[2], const struct apart *apart)
{
	return fabs(apart->seen) > highest_price(side);
}

/* What recording took on a rank, ns of a step, holds the others up in collectives, for no longer than they waited
 * there. Were it drawn by itself on each of n ranks, the last would be later than the mean by less than log2(n) times
 * as much (exponentials: by 1/2 + … + 1/n). */
static double peers_waited(const struct ranks_result *ranks, double ns)
{
	return ranks->n > 1 ? fmin(ranks->waiting, log2(ranks->n) * ns) : 0;
}

/* Share of a side's step that recording took at a price of `ns` a call, between the prices for which it is known. */
static double took_at(const struct side *side, double ns)
{
	const double *took = side->recording.took;
	int p = 1;
	while (p + 1 < RECORDING_PRICES && recording_price[p] < ns)
		p++;
	double part = (fmin(fmax(ns, 0), recording_price[p]) - recording_price[p - 1]) /
	              (recording_price[p] - recording_price[p - 1]);
	double all = took[p - 1] + part * (took[p] - took[p - 1]);
	double own = fmin(all, side->budget.period - side->busy);
	return side->budget.period > 0 ? (own + peers_waited(&side->ranks, own)) / side->budget.period : 0;
}

/* The widest that prices from 0 to the highest make it, where the fixed side's is higher by `apart`. What recording
 * took is linear between the prices for which it is known, so the change rises or falls all along between those. */
static void widen(const struct side side[2], double apart, double beyond[2])
{
	const double highest[2] = {highest_price_of(side, 0), highest_price_of(side, 1)};
	for (int s = 0; s < 2; s++)
		for (int p = 0; p <= RECORDING_PRICES; p++) {
			double at = (p < RECORDING_PRICES ? recording_price[p] : highest[s]) - (s ? apart : 0);
			double b = fmax(0, fmin(highest[0], at)), f = fmax(0, fmin(highest[1], at + apart));
			double change = log1p(-took_at(&side[0], b)) - log1p(-took_at(&side[1], f));
			beyond[0] = fmin(beyond[0], change);
			beyond[1] = fmax(beyond[1], change);
		}
}

/* Share of a side's step that recording its graphs' nodes took at a price of `ns` each. */
static double nodes_took(const struct side *side, double ns)
{
	double n = side->recording.graph_nodes, period = side->budget.period;
	return period > 0 ? fmin(n * ns, fmax(0, period - n * LEAST_NS_OF_A_NODE)) / period : 0;
}

/* The same price on both sides, since it is the same GPU's. */
static void widen_by_nodes(const struct side side[2], double beyond[2])
{
	enum { PRICES = 8 }; /* between them the change goes one way, but for where a step is at its least */
	double least = 0, most = 0;
	for (int i = 1; i <= PRICES; i++) {
		double ns = MOST_NS_A_NODE * i / PRICES;
		double change = log1p(-nodes_took(&side[0], ns)) - log1p(-nodes_took(&side[1], ns));
		least = fmin(least, change);
		most = fmax(most, change);
	}
	beyond[0] += least;
	beyond[1] += most;
}

void recording_bounds(const struct side side[2], bool paced, double beyond[2])
{
	beyond[0] = beyond[1] = 0;
	widen(side, 0, beyond); /* the prices may be the same all the same, or lie between */
	if (!paced)
		widen(side, prices_apart(side).ns, beyond);
	widen_by_nodes(side, beyond);
	beyond[0] -= fmax(gpu_bound(side), -gpu_share(side));
	beyond[1] += fmax(gpu_bound(side), gpu_share(side));
}

/* Whether it is worth saying what recording may have done. */
static bool matters(const struct verdict *v, const struct verdict_conditions *c)
{
	return v->has_speedup && c->beyond[1] - c->beyond[0] >= log1p(WORTH_SAYING);
}

bool recording_apart(const struct side side[2], const struct verdict *v)
{
	bool apart = false;
	for (int s = 0; s < 2; s++) {
		const struct headline *h = &side[s].headline;
		apart = apart || (h->stopwatch > 0 && fabs(h->recorded_timed / h->stopwatch - 1) > VERDICT_MARGIN);
	}
	return v->measured == VERDICT_STOPWATCH && apart;
}

bool recording_turns(const struct verdict *v, const struct verdict_conditions *c)
{
	return v->measured == VERDICT_RECORDED && v->has_speedup && fmax(-c->beyond[0], c->beyond[1]) > log1p(TURNS);
}

/* Whether it makes a difference that the sides' prices may differ. */
static bool is_worth_saying(const struct side side[2], const struct apart *apart)
{
	double same[2] = {0}, beyond[2] = {0};
	widen(side, 0, same);
	widen(side, apart->ns, beyond);
	return fmax(same[0] - beyond[0], beyond[1] - same[1]) >= log1p(WORTH_SAYING);
}

static const struct fact *find_apart(const struct side side[2], struct arena *arena)
{
	const struct apart apart = prices_apart(side);
	if (!is_worth_saying(side, &apart))
		return NULL;
	return FACT_NEW(arena, launches_apart, apart.ns > 0, .same_launches = apart.alike, .longer = fabs(apart.seen),
	                .beyond = is_beyond(side, &apart), .graphs = side[apart.ns > 0].counts.graph_launches > 0);
}

/* The same of graphs' nodes. */
static const struct fact *find_nodes(const struct side side[2], struct arena *arena)
{
	double beyond[2] = {0};
	widen_by_nodes(side, beyond);
	if (beyond[1] - beyond[0] < log1p(WORTH_SAYING))
		return NULL;
	return FACT_NEW(arena, nodes_recorded, FACT_NO_SIDE, .most = MOST_NS_A_NODE,
	                .baseline = side[0].recording.graph_nodes, .fixed = side[1].recording.graph_nodes,
	                .unit = side[0].steps.found ? "step" : "run",
	                .option = side[0].source.kind != SOURCE_KINETO || side[1].source.kind != SOURCE_KINETO);
}

void recording_more(const struct side side[2], double more[2])
{
	const struct apart apart = prices_apart(side);
	int dear = apart.ns > 0;
	const struct headline *d = &side[dear].headline, *c = &side[!dear].headline;
	more[0] = more[1] = 0;
	if (!apart.alike)
		return;
	more[dear] =
		took_at(&side[dear], fmin(fabs(apart.ns), highest_price_of(side, dear))) * side[dear].budget.period;
	if (d->stopwatch > 0 && c->stopwatch > 0) /* measured */
		more[dear] = fmax(0, fmin(more[dear], d->recorded_timed - d->stopwatch -
		                                              fmin(c->recorded_timed - c->stopwatch, 0)));
}

/* Whether the profiler noted operators. */
static bool are_noted(const struct side *side)
{
	const struct launch_paces *paces = &side->recording.paces;
	bool noted = false;
	for (size_t i = 0; i < paces->n; i++)
		noted = noted || paces->list[i].noted;
	return noted;
}

bool recording_leaves_host(const struct side side[2])
{
	const struct apart apart = prices_apart(side);
	return apart.alike && is_beyond(side, &apart) && is_worth_saying(side, &apart);
}

const struct fact *recording_reason(const struct side side[2], const struct verdict *v,
                                    const struct verdict_conditions *c, struct arena *arena)
{
	const struct side *b = &side[0], *f = &side[1];
	if (v->measured != VERDICT_RECORDED || !matters(v, c))
		return NULL;
	/* where the same launches say the opposite (struct controls), it is not told whose host was slower */
	const struct apart prices = prices_apart(side);
	const bool told = !c->controls || c->controls->host * prices.ns <= 0;
	const struct fact *apart = told ? find_apart(side, arena) : NULL;
	const bool operators = are_noted(b) || are_noted(f);
	return FACT_NEW(arena, recorded_speedup, FACT_NO_SIDE, .most = highest_price(side),
	                .ranges = !operators && b->recording.waited_ranges + f->recording.waited_ranges > 0,
	                .operators = operators, .baseline = waited(b), .fixed = waited(f),
	                .unit = b->steps.found ? "step" : "run", .apart = apart, .nodes = find_nodes(side, arena),
	                .allows = !v->has_interval                      ? "nothing"
	                          : !apart || !is_beyond(side, &prices) ? "all"
	                          : v->exchange.state > 0               ? "twice"
	                                                                : "recording");
}

enum {
	KEPT = 64,        /* times of a key; of more, every second one, every fourth, … */
	MOST_KEYS = 4096, /* a program of more kinds of launches is told by the first ones */
	LEAST = 5         /* times that a median is worth something of */
};

/* A quarter of the launches, by weight, may lie nearer to 0 than what is told of all. */
static const double QUARTER = 0.25;

struct kept {
	uint32_t what, next, noted; /* the key, as in struct launch_pace */
	int64_t n;                  /* all that there were */
	uint32_t held, stride;
	float ns[KEPT];
	double sum; /* of all, ns */
};

struct paces {
	struct arena *work;
	struct keymap keys;
	struct kept **of; /* by key */
	int64_t all;
};

struct paces *paces_begin(struct arena *work)
{
	struct paces *p = ARENA_NEW(work, 1, struct paces);
	p->work = work;
	p->of = ARENA_NEW(work, MOST_KEYS, struct kept *);
	keymap_init(&p->keys, work);
	return p;
}

/* Every stride-th time of a key. */
static void keep(struct kept *k, int64_t ns)
{
	k->sum += (double)ns;
	if (k->n++ & (k->stride - 1)) /* a power of two */
		return;
	if (k->held == KEPT) {
		for (uint32_t i = 0; i < KEPT / 2; i++)
			k->ns[i] = k->ns[(size_t)2 * i];
		k->held = KEPT / 2;
		k->stride *= 2;
	}
	k->ns[k->held++] = (float)ns;
}

/* Of a launch, and what its thread calls next: the place in p->of; UINT32_MAX: there are too many. */
static uint32_t add(struct paces *p, uint32_t what, uint32_t next, uint32_t noted, int64_t ns)
{
	const uint64_t key = (uint64_t)noted << 48 | (uint64_t)next << 24 | what; /* of fewer than 2^24 names */
	const uint32_t known = p->keys.n,
		       i = known < MOST_KEYS ? keymap_add(&p->keys, key) : keymap_find(&p->keys, key);
	p->all++;
	if (i == UINT32_MAX)
		return i;
	if (i == known) {
		p->of[i] = ARENA_NEW(p->work, 1, struct kept);
		*p->of[i] = (struct kept){.what = what, .next = next, .noted = noted, .stride = 1};
	}
	keep(p->of[i], ns);
	return i;
}

/* The next call of the thread that launched an op, but for what is a part of the launch; TRACE_NONE: there is none, or
 * the op is no launched kernel. */
static uint32_t next_call(const struct trace *t, size_t op, uint32_t own)
{
	uint32_t launch = t->ops.launch[op];
	bool kernel = t->ops.kind[op] == OP_KERNEL || t->ops.kind[op] == OP_GRAPH;
	if (launch == TRACE_NONE || !kernel || t->ops.flags[op] & OPF_GRAPH_NODE)
		return TRACE_NONE;
	uint32_t next = launch + 1, end = t->first_call[t->calls.thread[launch] + 1];
	while (next < end && (t->calls.start[next] < t->calls.end[launch] || t->calls.name[next] == own))
		next++;
	return next < end ? next : TRACE_NONE;
}

/* A launch: which of p->of, its step, and the time to the next call. */
struct launched {
	uint32_t at, step;
	int64_t ns;
};

/* How much longer than usual the launches of each step took, thousandths of its logarithm. */
static int64_t *pace_of_steps(const struct paces *p, const struct launched *launched, size_t n, const struct run *run)
{
	ARENA_LOCAL(scratch);
	const uint32_t steps = run->steps.n;
	double *took = ARENA_NEW(&scratch, steps, double), *usual = ARENA_NEW(&scratch, steps, double), all = 0;
	for (uint32_t i = 0; i < p->keys.n; i++)
		all += p->of[i]->sum;
	for (const struct launched *l = launched; l < launched + n; l++) {
		if (l->step == TRACE_NONE || l->at == UINT32_MAX || p->of[l->at]->sum > QUARTER * all)
			continue;
		took[l->step] += (double)l->ns;
		usual[l->step] += p->of[l->at]->sum / (double)p->of[l->at]->n;
	}
	int64_t *pace = ARENA_NEW(run->arena, steps, int64_t);
	for (uint32_t k = 0; k < steps; k++)
		pace[k] = took[k] > 0 && usual[k] > 0 ? llround(1000 * log(took[k] / usual[k])) : 0;
	return pace;
}

void paces_add(struct paces *p, struct run *run, const struct run *part, uint32_t own)
{
	ARENA_LOCAL(scratch);
	const struct trace *t = part->trace;
	const bool steps = run->steps.found && run->trace->n_processes <= 1;
	struct launched *launched = ARENA_NEW(&scratch, t->ops.n, struct launched);
	size_t n = 0;
	for (size_t op = 0; op < t->ops.n; op++) {
		const uint32_t launch = t->ops.launch[op], next = next_call(t, op, own);
		if (next == TRACE_NONE)
			continue;
		const int64_t ns = t->calls.start[next] - t->calls.start[launch];
		const uint32_t noted = (uint32_t)recording_noted(t, launch + 1, next);
		launched[n].at = add(p, t->ops.name[op], t->calls.name[next], noted, ns);
		launched[n].step = steps ? part->steps.op_step[op] : TRACE_NONE;
		launched[n++].ns = ns;
	}
	if (steps)
		run->rows.pace = pace_of_steps(p, launched, n, run);
}

SORT_ORDER(by_key, struct launch_pace,
           ASCENDING(x->what, y->what) ?: ASCENDING(x->next, y->next) ?: ASCENDING(x->noted, y->noted))

void paces_sort(struct launch_paces *paces)
{
	SORT(paces->list, paces->n, by_key);
}

struct launch_paces paces_end(const struct paces *paces, struct arena *arena)
{
	struct launch_paces out = {.list = ARENA_NEW(arena, paces->keys.n, struct launch_pace), .all = paces->all};
	for (uint32_t i = 0; i < paces->keys.n; i++) {
		const struct kept *k = paces->of[i];
		double ns[KEPT];
		if (k->held < LEAST)
			continue;
		for (uint32_t j = 0; j < k->held; j++)
			ns[j] = (double)k->ns[j];
		out.list[out.n++] = (struct launch_pace){
			k->what, k->next, k->noted, k->n, sort_select(ns, k->held, k->held / 2), k->sum / (double)k->n};
	}
	paces_sort(&out);
	return out;
}

/* What both sides launch alike: how many ns longer it takes on the fixed side, at the median, and ln of how many times
 * as long in the baseline, at the mean. */
struct common {
	struct stats_weighed *longer, *ratio;
	size_t n;
};

static struct common find_common(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared,
                                 struct arena *work)
{
	struct common out = {ARENA_NEW(work, baseline->n, struct stats_weighed),
	                     ARENA_NEW(work, baseline->n, struct stats_weighed), 0};
	double seen[2] = {0};
	for (size_t b = 0, f = 0; b < baseline->n && f < fixed->n;) {
		const struct launch_pace *x = &baseline->list[b], *y = &fixed->list[f];
		int order = by_key(x, y);
		b += order <= 0;
		f += order >= 0;
		if (order)
			continue;
		/* of each side's launches the share that is of this kind */
		double of[2] = {(double)x->n / (double)baseline->all, (double)y->n / (double)fixed->all};
		out.longer[out.n] = (struct stats_weighed){y->median - x->median, fmin(of[0], of[1])};
		out.ratio[out.n++] = (struct stats_weighed){log(fmax(x->mean, 1) / fmax(y->mean, 1)),
		                                            fmin(of[0] * x->mean, of[1] * y->mean)};
		for (int s = 0; s < 2; s++)
			seen[s] += of[s];
	}
	*shared = fmin(seen[0], seen[1]);
	return out;
}

double paces_apart(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared)
{
	ARENA_LOCAL(work);
	const struct common common = find_common(baseline, fixed, shared, &work);
	double out = 0;
	if (common.n) {
		double low = stats_weighed_quantile(common.longer, common.n, QUARTER);
		double high = stats_weighed_quantile(common.longer, common.n, 1 - QUARTER);
		out = low > 0 || high < 0 ? stats_weighed_quantile(common.longer, common.n, 0.5) : 0;
	}
	return out;
}

double paces_ratio(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared)
{
	ARENA_LOCAL(work);
	const struct common common = find_common(baseline, fixed, shared, &work);
	return common.n ? stats_weighed_middle(common.ratio, common.n, QUARTER) : 0;
}
