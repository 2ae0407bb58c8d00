#include "analyse/side/paces.h"

#include "analyse/judge/stats.h"
#include "base/keymap.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum {
	KEPT = 64,        /* times of a key; of more, every second one, every fourth, … */
	MOST_KEYS = 4096, /* a program of more kinds of launches is told by the first ones */
	LEAST = 5         /* times that a median is worth something of */
};

/* A quarter of the launches, by weight, may lie nearer to 0 than what is told of all. */
static const double QUARTER = 0.25;

struct kept {
	int64_t n; /* all that there were */
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
	if (k->n++ % k->stride)
		return;
	if (k->held == KEPT) {
		for (uint32_t i = 0; i < KEPT / 2; i++)
			k->ns[i] = k->ns[(size_t)2 * i];
		k->held = KEPT / 2;
		k->stride *= 2;
	}
	k->ns[k->held++] = (float)ns;
}

static void add(struct paces *p, uint32_t what, uint32_t next, int64_t ns)
{
	uint64_t key = (uint64_t)what << 32 | next;
	uint32_t i = keymap_find(&p->keys, key);
	p->all++;
	if (i == UINT32_MAX) {
		if (p->keys.n == MOST_KEYS)
			return;
		i = keymap_add(&p->keys, key);
		p->of[i] = ARENA_NEW(p->work, 1, struct kept);
		p->of[i]->stride = 1;
	}
	keep(p->of[i], ns);
}

void paces_add(struct paces *paces, const struct run *part, uint32_t own)
{
	const struct trace *t = part->trace;
	for (size_t op = 0; op < t->ops.n; op++) {
		uint32_t launch = t->ops.launch[op];
		bool kernel = t->ops.kind[op] == OP_KERNEL || t->ops.kind[op] == OP_GRAPH;
		if (launch == TRACE_NONE || !kernel || t->ops.flags[op] & OPF_GRAPH_NODE)
			continue;
		uint32_t next = launch + 1, end = t->first_call[t->calls.thread[launch] + 1];
		while (next < end && (t->calls.start[next] < t->calls.end[launch] || t->calls.name[next] == own))
			next++;
		if (next < end)
			add(paces, t->ops.name[op], t->calls.name[next], t->calls.start[next] - t->calls.start[launch]);
	}
}

static uint64_t key_of(const struct launch_pace *pace)
{
	return (uint64_t)pace->what << 32 | pace->next;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = key_of(a), y = key_of(b);
	return (x > y) - (x < y);
}

void paces_sort(struct launch_paces *paces)
{
	if (paces->n)
		qsort(paces->list, paces->n, sizeof *paces->list, by_key);
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
		uint64_t key = paces->keys.keys[i];
		out.list[out.n++] = (struct launch_pace){(uint32_t)(key >> 32), (uint32_t)key, k->n,
		                                         sort_select(ns, k->held, k->held / 2), k->sum / (double)k->n};
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
		uint64_t of_b = key_of(x), of_f = key_of(y);
		b += of_b <= of_f;
		f += of_f <= of_b;
		if (of_b != of_f)
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
	struct arena work = {0};
	const struct common common = find_common(baseline, fixed, shared, &work);
	double out = 0;
	if (common.n) {
		double low = stats_weighed_quantile(common.longer, common.n, QUARTER);
		double high = stats_weighed_quantile(common.longer, common.n, 1 - QUARTER);
		out = low > 0 || high < 0 ? stats_weighed_quantile(common.longer, common.n, 0.5) : 0;
	}
	arena_release(&work);
	return out;
}

double paces_ratio(const struct launch_paces *baseline, const struct launch_paces *fixed, double *shared)
{
	struct arena work = {0};
	const struct common common = find_common(baseline, fixed, shared, &work);
	double out = common.n ? stats_weighed_middle(common.ratio, common.n, QUARTER) : 0;
	arena_release(&work);
	return out;
}
