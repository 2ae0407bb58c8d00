#include "base/format.h"
#include "base/sort.h"
#include "find/ncu.h"

#include "say/say.h"
#include "trace/kernel_names.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 200 }; /* kernels of a side, the heaviest */

/* How well two sides' kernels go together: 3 name and shape, 2 nearly the name and the shape, 1 nearly the name. */
static int likeness(const struct kernel_inside *a, const struct kernel_inside *b, const char *key_a, const char *key_b)
{
	bool shape = a->shape && a->shape == b->shape;
	if (a->name == b->name && shape)
		return 3;
	return strcmp(key_a, key_b) == 0 ? 1 + shape : 0;
}

static const char **keys_of(const struct ncu_side *side, const struct names *names, struct arena *scratch)
{
	const char **key = ARENA_NEW(scratch, side->n, const char *);
	for (uint32_t i = 0; i < side->n; i++)
		key[i] = kernel_key(scratch, names_text(names, side->kernel[i].name));
	return key;
}

static double longer(const struct kernel_pair *p)
{
	return fmax(p->side[0].per_step, p->side[1].per_step);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct kernel_pair *x = a, *y = b;
	double p = longer(x), q = longer(y);
	const struct kernel_inside *k = &x->side[!x->side[0].launches], *l = &y->side[!y->side[0].launches];
	return DESCENDING(p, q) ?: ASCENDING(k->name, l->name) ?: ASCENDING(k->shape, l->shape);
}

static void join(struct ncu_side side[2], const struct names *names, struct arena *arena, struct kernels_inside *out)
{
	ARENA_LOCAL(scratch);
	uint32_t n[2];
	for (int s = 0; s < 2; s++)
		n[s] = side[s].n = side[s].n < LOOKED_AT ? side[s].n : LOOKED_AT;
	const char **key[2] = {keys_of(&side[0], names, &scratch), keys_of(&side[1], names, &scratch)};
	bool *used = ARENA_NEW(&scratch, n[1], bool);
	uint32_t *with = ARENA_NEW(&scratch, n[0], uint32_t); /* counted from 1 */
	for (int least = 3; least >= 1; least--)
		for (uint32_t b = 0; b < n[0]; b++)
			for (uint32_t f = 0; f < n[1] && !with[b]; f++)
				if (!used[f] &&
				    likeness(&side[0].kernel[b], &side[1].kernel[f], key[0][b], key[1][f]) >= least) {
					with[b] = f + 1;
					used[f] = true;
				}
	out->pair = ARENA_NEW(arena, (size_t)n[0] + n[1], struct kernel_pair);
	for (uint32_t b = 0; b < n[0]; b++) {
		struct kernel_pair *p = &out->pair[out->n++];
		p->side[0] = side[0].kernel[b];
		if (with[b])
			p->side[1] = side[1].kernel[with[b] - 1];
	}
	for (uint32_t f = 0; f < n[1]; f++)
		if (!used[f])
			out->pair[out->n++].side[1] = side[1].kernel[f];
	SORT(out->pair, out->n, compare_pairs);
	while (out->n && longer(&out->pair[out->n - 1]) <= 0) /* not in the profiles' steps */
		out->n--;
	out->more = out->n > KERNELS_INSIDE ? out->n - KERNELS_INSIDE : 0;
	out->n -= out->more;
}

/* In FLOP and bytes where every kernel shown has the counters for it, also those of the peaks; else in shares of the
 * peaks, which every report has: FLOP over bytes, over the same of the peaks, is one share over the other. */
static void draw_roofs(struct kernels_inside *out)
{
	out->absolute = out->n > 0;
	for (uint32_t i = 0; i < out->n; i++)
		for (int s = 0; s < 2; s++) {
			const struct kernel_inside *k = &out->pair[i].side[s];
			out->absolute =
				out->absolute &&
				(!k->launches || (k->rate > 0 && k->value[NCU_FFMA_CYCLE] > 0 &&
			                          k->value[NCU_DRAM_CYCLE] > 0 && k->value[NCU_DRAM_CLOCK] > 0));
		}
	for (uint32_t i = 0; i < out->n; i++)
		for (int s = 0; s < 2; s++) {
			struct kernel_inside *k = &out->pair[i].side[s];
			struct roof *roof = &out->roof[s];
			const double *v = k->value;
			if (!k->launches)
				continue;
			if (out->absolute) {
				roof->peak = fmax(roof->peak, 2 * v[NCU_FFMA_CYCLE] * v[NCU_CLOCK]);
				roof->bandwidth = fmax(roof->bandwidth, v[NCU_DRAM_CYCLE] * v[NCU_DRAM_CLOCK]);
				roof->known = true;
				continue;
			}
			k->rate = k->intensity = NAN;
			if (!(v[NCU_SM] > 0) || !(v[NCU_DRAM] > 0))
				continue;
			k->rate = v[NCU_SM];
			k->intensity = v[NCU_SM] / v[NCU_DRAM];
			*roof = (struct roof){true, 100, 100};
		}
}

/* What warps wait for; that others issued meanwhile is no wait to look at. */
static const struct kernel_stall *top_stall(const struct kernel_inside *k)
{
	for (uint32_t i = 0; i < k->n_stalls; i++)
		if (k->stall[i].stall != NCU_NOT_SELECTED)
			return &k->stall[i];
	return NULL;
}

/* What to change first. Of memory: what its time goes to. */
static const char *first_of(const struct kernel_inside *k)
{
	const double *v = k->value;
	switch (k->bound) {
	case BOUND_MEMORY:
		return v[NCU_DRAM] >= v[NCU_MEMORY] - 5 ? "dram" : v[NCU_L2] >= v[NCU_MEMORY] - 5 ? "l2" : "l1";
	case BOUND_LATENCY:
		return top_stall(k) ? "stall" : "in_flight";
	default:
		return say_listed(WORDS_kernel_bound, k->bound)->key;
	}
}

static const struct fact *fact_of(const struct kernel_inside *k, int side, struct arena *arena)
{
	const double *v = k->value;
	const struct kernel_stall *stall = top_stall(k);
	const bool bound = k->bound != BOUND_UNKNOWN, low = k->bound == BOUND_LATENCY && v[NCU_OCCUPANCY] <= 50;
	const char *limit = kernel_limit_name(k->limit);
	return FACT_NEW(arena, inside_kernel, side, .bound = say_listed(WORDS_kernel_bound, k->bound)->key,
	                .sm = bound ? v[NCU_SM] / 100 : NAN, .memory = bound ? v[NCU_MEMORY] / 100 : NAN,
	                .occupancy = v[NCU_OCCUPANCY] / 100, .most = v[NCU_OCCUPANCY_MOST] / 100, .limit = limit,
	                .waves = v[NCU_WAVES], .stall = stall ? say_listed(WORDS_stall, stall->stall)->key : NULL,
	                .stalled = stall ? stall->share : NAN, .first = first_of(k),
	                .relief = k->limit == NCU_WAVES                                                ? "grid"
	                          : low && (k->limit == NCU_BY_REGISTERS || k->limit == NCU_BY_SHARED) ? limit
	                                                                                               : "none",
	                .registers = v[NCU_REGISTERS]);
}

/* What holds it up on each side, and what usually helps. */
static void say_pair(struct kernel_pair *pair, struct arena *arena)
{
	const bool both = pair->side[0].launches && pair->side[1].launches;
	const int now = pair->side[1].launches > 0;
	const struct fact *said = fact_of(&pair->side[now], both ? now : FACT_NO_SIDE, arena);
	pair->text = say_fact(said, NULL, arena);
	pair->advice = say_form(said, SAY_ADVICE, NULL, arena);
	if (both)
		pair->text = arena_format(arena, "%s %s", say_fact(fact_of(&pair->side[0], 0, arena), NULL, arena),
		                          pair->text);
}

struct kernels_inside ncu_evidence(const struct ncu_input *input, struct arena *arena)
{
	static const char *const label[2] = {"baseline", "fixed"};
	struct kernels_inside out = {0};
	struct ncu_side side[2] = {0};
	for (int s = 0; s < input->n_sides; s++) {
		const char *name = input->n_sides > 1 ? label[s] : "profile";
		out.given[s] = input->report[s] != NULL;
		if (!out.given[s]) {
			out.command[s] = input->gpu_bound[s] ? ncu_command(&input->facts[s], name, arena) : NULL;
			continue;
		}
		side[s] = ncu_match(&input->facts[s], input->report[s], input->names, arena);
		out.groups[s] = side[s].n;
		out.strangers[s] = side[s].strangers;
		out.covered[s] = side[s].covered;
	}
	if (out.given[0] || out.given[1])
		join(side, input->names, arena, &out);
	for (uint32_t i = 0; i < out.n; i++)
		say_pair(&out.pair[i], arena);
	draw_roofs(&out);
	return out;
}
