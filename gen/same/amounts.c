#include "same/same_work.h"

#include <math.h>

static const double A_THIRD = 1 / 3., CLOSE = 0.01;

static void add_copies(const struct side *side, double share, struct amounts *out)
{
	for (uint32_t i = 0; i < side->n_copies; i++) {
		const struct copy_result *c = &side->copies[i];
		bool between = c->kind == COPY_P2P || c->kind == COPY_UM_D2D;
		if (c->memset) {
			out->sets += share * c->instances;
			out->set_time += share * c->per_step;
		} else if (between || c->kind == COPY_D2D) {
			out->between += between ? share * c->bytes : 0;
			out->moves += share * c->instances;
			out->move_time += share * c->per_step;
		}
		out->d2h_time += c->kind == COPY_D2H && !c->memset ? share * c->per_step : 0;
	}
}

static void add_flops(const struct side *side, double share, struct amounts *out)
{
	double known = 0, all = 0;
	for (uint32_t i = 0; i < side->n_operators; i++) {
		out->flops += share * side->operators[i].flops;
		known += side->operators[i].flops_known;
		all += side->operators[i].per_step;
	}
	out->flops_share = all > 0 ? known / all : 0;
}

struct amounts amounts_of(const struct side *side, double share)
{
	struct amounts out = {.h2d = share * side->counts.bytes_h2d,
	                      .d2h = share * side->counts.bytes_d2h,
	                      .d2d = share * side->counts.bytes_d2d,
	                      .launches = share * side->counts.launches,
	                      .graphs = share * side->counts.graph_launches,
	                      .collectives = share * side->counts.collectives,
	                      .ranges = share * side->counts.ranges};
	for (uint32_t i = 0; i < side->n_kernels; i++) {
		out.kernels += share * side->kernels[i].instances;
		out.collective_time += side->kernels[i].comm ? share * side->kernels[i].per_step : 0;
	}
	add_copies(side, share, &out);
	add_flops(side, share, &out);
	return out;
}

const struct fact *amounts_calculated(const struct amounts *a, const struct amounts *b, const char *unit,
                                      struct arena *arena)
{
	const double share = fmin(a->flops_share, b->flops_share), most = fmax(a->flops, b->flops);
	if (share < A_THIRD || fabs(a->flops - b->flops) > CLOSE * most)
		return NULL;
	return FACT_NEW(arena, operators_agree, FACT_NO_SIDE, .gflop = most / 1e9, .share = share, .unit = unit);
}

/* Whether each GPU of each of the side's runs is a rank. */
static bool all_are_ranks(const struct side *side, const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (!facts->runs[r].found || facts->runs[r].step_ranks != side->n_devices)
			return false;
	return true;
}

/* How many ranks the side's job has, by what its profiles say; 0: they do not. */
static int32_t ranks_said(const struct side_facts *facts)
{
	int32_t n = facts->runs[0].source.ranks;
	for (size_t r = 1; r < facts->n_runs; r++)
		n = facts->runs[r].source.ranks == n ? n : 0;
	return n > 0 ? n : 0;
}

/* Whether two of the side's devices are one GPU, of two processes. */
static bool shares_gpus(const struct side_facts *facts)
{
	for (size_t r = 0; r < facts->n_runs; r++)
		if (facts->runs[r].shares_gpus)
			return true;
	return false;
}

struct job_sizes amounts_sizes(const struct side side[2], const struct side_facts facts[2], struct arena *arena)
{
	uint32_t a = side[0].n_devices, b = side[1].n_devices;
	struct job_sizes out = {.share = {1, 1}};
	if (a == b)
		return out;
	int32_t said = ranks_said(&facts[0]);
	bool ranks = all_are_ranks(&side[0], &facts[0]) && all_are_ranks(&side[1], &facts[1]);
	if (ranks) {
		out.share[0] = 1. / a;
		out.share[1] = 1. / b;
	}
	out.missing = ranks && said && said == ranks_said(&facts[1]) && a <= (uint32_t)said && b <= (uint32_t)said;
	out.differ = !out.missing;
	bool shared = shares_gpus(&facts[0]) || shares_gpus(&facts[1]);
	out.fact = FACT_NEW(arena, devices_differ, FACT_NO_SIDE, .baseline = a, .fixed = b,
	                    .are = out.missing ? "missing"
	                           : !ranks    ? "devices"
	                           : shared    ? "ranks"
	                                       : "gpus",
	                    .ranks = said, .times = (double)b / a);
	return out;
}

const struct fact *amounts_sharing(const struct side side[2], const struct side_facts facts[2], struct arena *arena)
{
	uint32_t n[2];
	bool shared = false;
	for (int s = 0; s < 2; s++) {
		n[s] = side[s].n_devices;
		shared |= shares_gpus(&facts[s]);
		if (!all_are_ranks(&side[s], &facts[s]) || ranks_said(&facts[s]) || side[s].counts.collectives > 0)
			return NULL;
	}
	if (!shared || n[0] == n[1])
		return NULL;
	double a = side[0].steps.mean / n[0], b = side[1].steps.mean / n[1];
	return FACT_NEW(arena, gpu_shared_by_more, FACT_NO_SIDE, .baseline = n[0], .fixed = n[1], .baseline_step = a,
	                .fixed_step = b, .times = a / b);
}

bool amounts_hidden(const struct side *a, const struct side *b)
{
	enum graph_mode x = a->source.graphs, y = b->source.graphs;
	return (x == GRAPHS_WHOLE && y == GRAPHS_BY_NODE) || (x == GRAPHS_BY_NODE && y == GRAPHS_WHOLE);
}
