#include "side/side_rows.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "charge/parts_open.h"

#include <string.h>

/* Of an op, what lies in a request. */
struct piece {
	int64_t start, end;
	bool own;
};

struct pieces {
	struct piece *list;
	size_t n, room;
	struct arena scratch;
};

SORT_ORDER(by_start, struct piece, ASCENDING(x->start, y->start) ?: ASCENDING(x->end, y->end))

/* For how long one of the pieces, or of the request's own, runs. */
static int64_t covered(const struct pieces *p, bool own)
{
	int64_t sum = 0, until = INT64_MIN;
	for (size_t i = 0; i < p->n; i++) {
		const int64_t start = p->list[i].start > until ? p->list[i].start : until, end = p->list[i].end;
		if ((own && !p->list[i].own) || end <= start)
			continue;
		sum += end - start;
		until = end;
	}
	return sum;
}

/* Of all devices, or of those on which it has work, if it has any: what others run elsewhere is nothing that it waits
 * for. `until`: by op, the latest end of its device up to this one. */
static void take_pieces(struct pieces *p, const struct run *part, const int64_t *until, uint32_t step,
                        const int64_t span[2])
{
	const struct trace *t = part->trace;
	bool any = false;
	p->n = 0;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		size_t i = t->devices[d].first_op;
		const size_t end = i + t->devices[d].n_ops, first = p->n;
		bool own = false;
		SEARCH(i, end, until[i] <= span[0]);
		for (; i < end && t->ops.start[i] < span[1]; i++) {
			if (t->ops.end[i] <= span[0])
				continue;
			LIST_ADD(&p->scratch, p->list, p->n, p->room,
			         (struct piece){t->ops.start[i] > span[0] ? t->ops.start[i] : span[0],
			                        t->ops.end[i] < span[1] ? t->ops.end[i] : span[1],
			                        part->steps.op_step[i] == step});
			own = own || part->steps.op_step[i] == step;
		}
		if (own && !any && first) {
			memmove(p->list, p->list + first, (p->n - first) * sizeof *p->list);
			p->n -= first;
		} else if (any && !own)
			p->n = first;
		any = any || own;
	}
	SORT(p->list, p->n, by_start);
}

void request_work_add(struct run *run, const struct run *part)
{
	const struct trace *t = part->trace;
	bool known = run_times_requests(run) && run->parts->n == 1 && run->charge->table.group[GROUP_SLOW].n;
	for (uint32_t m = 0; m < part->steps.n_threads; m++)
		known = known && !part->steps.threads[m].overlap;
	if (!known)
		return;
	struct pieces pieces = {0};
	int64_t *until = ARENA_NEW(&pieces.scratch, t->ops.n, int64_t);
	for (uint32_t d = 0; d < t->n_devices; d++)
		for (size_t k = 0, i = t->devices[d].first_op; k < t->devices[d].n_ops; k++, i++)
			until[i] = k && until[i - 1] > t->ops.end[i] ? until[i - 1] : t->ops.end[i];
	for (int g = 0; g < STEP_GROUPS; g++) {
		struct step_group *group = &run->charge->table.group[g];
		for (int w = 0; w < REQUEST_WORKS; w++)
			group->work[w] = ARENA_NEW(run->charge->table.arena, group->n, int64_t);
		for (uint32_t i = 0; i < group->n; i++) {
			take_pieces(&pieces, part, until, run->window.warmup + group->step[i], group->span[i]);
			const int64_t own = covered(&pieces, true), all = covered(&pieces, false);
			group->work[WORK_OWN][i] = own;
			group->work[WORK_OTHERS][i] = all - own;
			group->work[WORK_IDLE][i] = group->span[i][1] - group->span[i][0] - all;
		}
	}
	arena_release(&pieces.scratch);
}
