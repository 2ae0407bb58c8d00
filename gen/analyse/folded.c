#include "analyse/shown.h"
#include "base/format.h"

#include "base/sort.h"
#include "fact/fact.h"

#include <math.h>

WORD_OF(folded_part_name, folded_part, "compute", "communication", "copies", "idle", "own", "waited_for")

/* One device: its numbers, NAN where one is not known, and which of them is furthest from the median. */
struct rank {
	uint32_t device, part;
	double at[FOLDED_PARTS], far;
};

static struct rank *take_numbers(const struct side *s, struct arena *arena)
{
	struct rank *ranks = ARENA_NEW(arena, s->n_devices, struct rank);
	for (uint32_t d = 0; d < s->n_devices; d++) {
		const struct budget *b = &s->devices[d].budget;
		ranks[d] = (struct rank){.device = d,
		                         .at = {b->compute, b->comm_exposed, b->copy_exposed, b->idle, NAN, NAN}};
	}
	for (uint32_t i = 0; i < s->ranks.n; i++) {
		const struct rank_result *r = &s->ranks.list[i];
		ranks[r->device].at[FOLDED_OWN] = r->stepless ? NAN : r->own;
		ranks[r->device].at[FOLDED_WAITED_FOR] = r->waited_for;
	}
	return ranks;
}

static void find_quantiles(const struct rank *ranks, uint32_t n, struct folded *out, struct arena *arena)
{
	double *list = ARENA_NEW(arena, n, double);
	for (int part = 0; part < FOLDED_PARTS; part++) {
		size_t known = 0;
		for (uint32_t i = 0; i < n; i++)
			if (!isnan(ranks[i].at[part]))
				list[known++] = ranks[i].at[part];
		sort_doubles(list, known);
		for (int q = 0; q < FOLDED_QUANTILES; q++) {
			out->p[q] = (double)q / (FOLDED_QUANTILES - 1);
			out->at[q][part] = known ? list[(size_t)round(out->p[q] * (double)(known - 1))] : NAN;
		}
	}
}

SORT_ORDER(most_unusual_first, struct rank, DESCENDING(x->far, y->far) ?: ASCENDING(x->device, y->device))

static void choose(struct rank *ranks, const struct side *s, struct folded *out)
{
	const double *median = out->at[FOLDED_QUANTILES / 2];
	for (uint32_t i = 0; i < s->n_devices; i++) {
		struct rank *r = &ranks[i];
		for (uint32_t part = 0; part < FOLDED_PARTS; part++)
			if (fabs(r->at[part] - median[part]) > r->far) {
				r->far = fabs(r->at[part] - median[part]);
				r->part = part;
			}
	}
	SORT(ranks, s->n_devices, most_unusual_first);
	const struct straggler *late = &s->ranks.straggler;
	for (uint32_t i = FOLDED_SHOWN; i < s->n_devices && late->kind != STRAGGLER_NONE; i++)
		if (ranks[i].device == late->device)
			ranks[FOLDED_SHOWN - 1] = ranks[i];
}

/* Those of the ranks that are listed, and some of those whose rank nobody knows. */
static void choose_files(const struct side *s, struct folded *out, struct arena *arena)
{
	uint32_t unknown = 0;
	out->file = ARENA_NEW(arena, s->files.n, bool);
	for (uint32_t i = 0; i < s->files.n; i++) {
		int32_t rank = s->files.file[i].rank;
		if (rank < 0)
			out->file[i] = unknown++ < FOLDED_SHOWN;
		for (uint32_t k = 0; k < out->n && rank >= 0; k++)
			out->file[i] = out->file[i] || s->devices[out->device[k]].rank == rank;
	}
}

struct folded folded_make(const struct side *s, int side_of, struct arena *arena)
{
	struct folded out = {0};
	if (s->n_devices < FOLDED_FROM)
		return out;
	struct rank *ranks = take_numbers(s, arena);
	find_quantiles(ranks, s->n_devices, &out, arena);
	choose(ranks, s, &out);
	for (; out.n < FOLDED_SHOWN; out.n++) {
		const struct rank *r = &ranks[out.n];
		out.device[out.n] = r->device;
		out.reason[out.n] = FACT_NEW(arena, rank_stands_out, side_of, .part = folded_part_name(r->part),
		                             .time = r->at[r->part], .unit = s->steps.found ? "step" : "run",
		                             .median = out.at[FOLDED_QUANTILES / 2][r->part]);
	}
	choose_files(s, &out, arena);
	return out;
}

bool folded_lists(const struct folded *folded, uint32_t device)
{
	for (uint32_t i = 0; i < folded->n; i++)
		if (folded->device[i] == device)
			return true;
	return !folded->n;
}
