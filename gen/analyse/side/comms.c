#include "analyse/side/comms.h"

#include <stdlib.h>
#include <string.h>

/* What a message's bytes are multiplied with to make the bytes that every link of a ring has to carry (nccl-tests,
 * doc/PERFORMANCE.md). NCCL's payloads count one rank's share of all-gather, reduce-scatter and all-to-all. */
static double bus_factor(const char *call, double ranks)
{
	if (strcmp(call, "ncclAllReduce") == 0)
		return 2 * (ranks - 1) / ranks;
	if (strcmp(call, "ncclAllGather") == 0 || strcmp(call, "ncclReduceScatter") == 0 ||
	    strcasecmp(call, "ncclAllToAll") == 0)
		return ranks - 1;
	return 1;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct names *names = context;
	const struct comm_row *x = a, *y = b;
	double p = x->exposed + x->hidden, q = y->exposed + y->hidden;
	if (p != q)
		return p > q ? -1 : 1;
	int order = strcmp(names_text(names, x->name), names_text(names, y->name));
	return order ? order : x->kernels < y->kernels ? -1 : x->kernels > y->kernels;
}

static void fill(const struct run *run, const struct comm_row *row, struct comm_result *out)
{
	double a_rank = 1 / (double)row->devices / run->n_steps;
	out->name = row->name;
	out->ranks = row->ranks ? row->ranks : row->kind == COMM_POINT ? 0 : row->took_part;
	out->per_step = row->kernels * a_rank;
	out->matched = (double)row->matched / row->kernels;
	out->waiting = row->waiting * a_rank;
	out->moving = row->moving * a_rank;
	out->exposed = row->exposed * a_rank;
	out->hidden = row->hidden * a_rank;
	out->last = TRACE_NONE;
	uint32_t most = 0;
	for (uint32_t d = 0; row->last && d < run->n_devices; d++)
		if (row->last[d] > most) {
			most = row->last[d];
			out->last = run->place[d];
		}
	out->last_share = most ? (double)most / row->collectives : 0;
	out->bytes = row->known ? row->bytes / row->known : 0;
	if (row->span > 0 && out->bytes > 0)
		out->bus_bandwidth = row->bytes / row->span * 1e9 *
		                     bus_factor(names_text(run->trace->names, row->name), out->ranks ? out->ranks : 2);
}

struct side_comms comms_build(const struct run *run, const struct waiting *w, struct arena *arena)
{
	struct arena scratch = {0};
	struct comm_row *rows = ARENA_NEW(&scratch, w->n_rows, struct comm_row);
	int64_t *comms = ARENA_NEW(&scratch, w->n_rows, int64_t);
	uint32_t n = 0, n_comms = 0;
	for (uint32_t i = 0; i < w->n_rows; i++)
		if (w->rows[i].kernels)
			rows[n++] = w->rows[i];
	if (n)
		qsort_r(rows, n, sizeof *rows, compare_rows, run->trace->names);
	struct side_comms out = {.n = n < COMMS_MOST ? n : COMMS_MOST};
	out.left_out = n - out.n;
	out.list = ARENA_NEW(arena, out.n, struct comm_result);
	for (uint32_t i = 0; i < out.n; i++) {
		uint32_t k = 0;
		fill(run, &rows[i], &out.list[i]);
		while (k < n_comms && comms[k] != rows[i].comm)
			k++;
		if (rows[i].comm && k == n_comms)
			comms[n_comms++] = rows[i].comm;
		out.list[i].communicator = rows[i].comm ? k + 1 : 0;
	}
	arena_release(&scratch);
	return out;
}
