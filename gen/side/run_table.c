#include "side/run_table.h"

#include "charge/backlog.h"
#include "verdict/stats.h"

#include <string.h>

void run_table_print(struct run *run, const struct trace *rows)
{
	const struct trace_ops *ops = &rows->ops;
	uint64_t sum = 0;
	for (size_t i = 0; i < ops->n; i++) {
		uint64_t x = (uint64_t)ops->start[i] * 0x9E3779B97F4A7C15 + (uint64_t)ops->end[i];
		sum += x * (x ^ x >> 32);
	}
	run->rows.print += sum;
	run->rows.n_printed += ops->n;
}

static bool shares_gpus(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_devices; i++)
		for (uint32_t k = 0; k < i; k++)
			if (t->devices[i].gpu != TRACE_NONE && t->devices[i].gpu == t->devices[k].gpu)
				return true;
	return false;
}

static void add_devices(const struct run *run, struct arena *arena, struct run_table *out)
{
	struct trace_gpu *gpus = ARENA_NEW(arena, run->charge->n_devices, struct trace_gpu);
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		const struct device_run *device = &run->charge->devices[d];
		out->tenants += run_is_beside(run, device->device) ? device->compute + device->comm + device->copy : 0;
		if (run_gpu(run, d) != TRACE_NONE)
			gpus[out->n_gpus++] = run->trace->gpus[run_gpu(run, d)];
		for (uint32_t i = 0; i < device->n_once; i++) {
			const struct once_gap *gap = &device->once[i];
			if (out->n_once++ && gap->end - gap->start <= out->once.end - out->once.start)
				continue;
			out->once = *gap;
			out->once.phase = run_marked_phase(run, gap->phase);
		}
	}
	out->gpus = gpus;
}

const struct table_column *run_table_like(const struct run_table *run, const struct table_column *like)
{
	for (uint32_t c = 0; c < run->n_columns; c++) {
		const struct table_column *column = &run->column[c];
		if (column->kind == like->kind && column->cause == like->cause && column->phase == like->phase &&
		    column->way == like->way)
			return column;
	}
	return NULL;
}

/* Columns that nothing tells apart, as idle time of a cause where nobody marked phases, are one: the first. */
static void add_groups(const struct step_table *t, struct run_table *out)
{
	ARENA_LOCAL(scratch);
	for (int g = 0; g < STEP_GROUPS; g++) {
		const struct step_group *group = &t->group[g];
		int64_t *ns = ARENA_NEW(&scratch, group->n, int64_t);
		double *x = ARENA_NEW(&scratch, group->n, double);
		out->group_steps[g] = group->n;
		for (uint32_t i = 0; i < group->n; i++)
			x[i] = (double)(group->span[i][1] - group->span[i][0]);
		out->group_mean[g] = group->n ? stats_mean(x, group->n) : 0;
		out->group_variance[g] = group->n > 1 ? stats_variance(x, group->n) : 0;
		out->work_known = group->work[WORK_OWN] != NULL;
		for (int w = 0; w < REQUEST_WORKS && out->work_known; w++) {
			for (uint32_t i = 0; i < group->n; i++)
				x[i] = (double)group->work[w][i];
			out->work_mean[w * STEP_GROUPS + g] = group->n ? stats_mean(x, group->n) : 0;
			out->work_variance[w * STEP_GROUPS + g] = group->n > 1 ? stats_variance(x, group->n) : 0;
		}
		double *sum = arena_alloc(&scratch, (size_t)t->n * group->n, sizeof *sum);
		for (uint32_t k = 0; k < t->n && group->n; k++) {
			const size_t first = (size_t)(run_table_like(out, &out->column[k]) - out->column);
			step_table_of_group(t, &t->list[k], g, ns);
			for (uint32_t i = 0; i < group->n; i++)
				sum[first * group->n + i] += (double)ns[i];
		}
		for (uint32_t k = 0; k < t->n && group->n; k++) {
			out->column[k].mean[g] = stats_mean(&sum[(size_t)k * group->n], group->n);
			out->column[k].variance[g] =
				group->n > 1 ? stats_variance(&sum[(size_t)k * group->n], group->n) : 0;
		}
	}
}

static void add_columns(const struct run *run, struct arena *arena, struct run_table *out)
{
	const struct step_table *t = &run->charge->table;
	struct table_column *list = ARENA_NEW(arena, t->n, struct table_column);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct step_column *c = &t->list[i];
		list[i] = (struct table_column){.kind = c->kind,
		                                .cause = c->cause,
		                                .phase = c->kind == PART_IDLE ? run_marked_phase(run, c->phase) : 0,
		                                .way = c->way,
		                                .ns = ARENA_NEW(arena, t->n_blocks, int64_t),
		                                .n = t->n_blocks};
		for (uint32_t p = 0; p < t->n_pieces; p++)
			list[i].ns[t->block_of[p]] += c->ns[p];
	}
	out->column = list;
	out->n_columns = t->n;
	out->n_blocks = t->n_blocks;
	out->block = t->steps;
	add_groups(t, out);
}

/* Takes times by step, but for the first one's; NULL: there are none. */
static void take_times(const struct run *run, const int64_t *by_step, struct arena *arena, const int64_t **list,
                       uint32_t *n)
{
	if (!by_step)
		return;
	*list = arena_keep(arena, by_step + 1, run->window.n_periods, sizeof **list);
	*n = run->window.n_periods;
}

struct run_table run_table_of(const struct run *run, const char *file, struct arena *arena)
{
	const struct trace *t = run->trace;
	struct run_table out = {
		.file = file,
		.source = t->source,
		.dropped = t->dropped,
		.n_dropped = t->n_dropped,
		.shares_gpus = shares_gpus(t),
		.print = run->rows.print,
		.n_printed = run->rows.n_printed,
		.found = run->steps.found,
		.opened = run->steps.opened,
		.step_ranks = run->steps.n_ranks,
		.shrinks = run->agreed.shrinks,
		.uneven = run->agreed.uneven,
		.alone = run->agreed.alone,
		.stranger = run->agreed.stranger,
		.holes = run->rows.holes,
		.n_steps = run->window.n_steps,
		.n_devices = run->charge->n_devices,
		.window_start = run->window.start,
		.window_end = run->window.end,
		.begin = run->extent.begin,
		.first_op = run->extent.first_op,
		.last_op = run->extent.last_op,
		.period = arena_keep(arena, run->window.period, run->window.n_periods, sizeof *run->window.period),
		.n_periods = run->window.n_periods,
		.place = run_place(run, arena),
		.worked_off = backlog_worked_off(run),
		.kernels = arena_keep(arena, run->rows.kernels, run->rows.n_kernels, sizeof *run->rows.kernels),
		.n_kernels = run->rows.n_kernels};
	memcpy(out.rows, t->rows, sizeof out.rows);
	if (run->window.grid) {
		out.grid = arena_keep(arena, run->window.grid, run->window.n_periods, sizeof *run->window.grid);
		out.n_grids = run->window.n_periods;
	}
	take_times(run, run->rows.pace, arena, &out.pace, &out.n_paces);
	take_times(run, run_times_requests(run) ? run->steps.request : NULL, arena, &out.request, &out.n_requests);
	take_times(run, run->rows.tokens.first, arena, &out.first, &out.n_first);
	take_times(run, run->rows.tokens.each, arena, &out.each, &out.n_each);
	if (run->agreed.loop < run->loops.n) {
		const struct run_loop *loop = &run->loops.list[run->agreed.loop];
		out.loop_title = arena_copy(arena, loop->title, strlen(loop->title));
		out.loop_ops = loop->ops;
		out.loop_times = loop->n;
	}
	add_devices(run, arena, &out);
	add_columns(run, arena, &out);
	return out;
}

static void join_blocks(struct run_table *run)
{
	const uint32_t n = (run->n_blocks + 1) / 2;
	for (uint32_t i = 0; i < run->n_columns; i++) {
		int64_t *ns = run->column[i].ns;
		for (size_t b = 0; b < n; b++)
			ns[b] = ns[2 * b] + (2 * b + 1 < run->n_blocks ? ns[2 * b + 1] : 0);
		run->column[i].n = n;
	}
	run->n_blocks = n;
	run->block *= 2;
}

void run_tables_fit(struct run_table *const side[2], const size_t n[2])
{
	for (;;) {
		uint64_t cells = 0;
		uint32_t least = UINT32_MAX;
		for (int s = 0; s < 2; s++)
			for (size_t r = 0; r < n[s]; r++) {
				const struct run_table *run = &side[s][r];
				cells += (uint64_t)run->n_columns * run->n_blocks;
				least = run->n_blocks < least ? run->n_blocks : least;
			}
		if (cells <= TABLE_CELLS || least < 2 * TABLE_LEAST_BLOCKS)
			return;
		for (int s = 0; s < 2; s++)
			for (size_t r = 0; r < n[s]; r++)
				join_blocks(&side[s][r]);
	}
}
