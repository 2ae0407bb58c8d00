#include "side/side_rows.h"

#include "base/sort.h"
#include "side/run_table.h"
#include "side/side.h"

#include "base/list.h"
#include "charge/backlog.h"
#include "charge/parts_open.h"
#include "charge/tally.h"

#include <math.h>
#include <string.h>

/* ---- kernels ---- */

/* Those of a step. A step's launches are no independent draws: one name may have many shapes, each in every step. */
struct at_hand {
	uint32_t step;
	int64_t n, unsized, ns, blocks, threads;
};

struct kernel {
	struct at_hand at_hand[2]; /* by the step's number, odd or even: a step may begin beside the one before */
	double n, n2;              /* of the device at hand; the squares of how many each step has, added up */
};

struct kernels {
	struct keymap keys;    /* name << 32 | phase, and whether it communicates */
	struct kernel *kernel; /* those of run->kernels */
	struct arena *work;
	uint32_t room, n, room_kernel;
};

static void end_step(struct run_kernel *row, struct kernel *of, struct at_hand *step)
{
	const double n = (double)step->n, ns = (double)step->ns, blocks = (double)step->blocks;
	of->n += n;
	of->n2 += n * n;
	row->n += step->n;
	row->n2 += n * n;
	row->unsized += step->unsized;
	row->ns += ns;
	row->ns2 += ns * ns;
	row->n_ns += n * ns;
	row->blocks += blocks;
	row->blocks2 += blocks * blocks;
	row->threads += (double)step->threads;
	row->n_blocks += n * blocks;
	*step = (struct at_hand){0};
}

static void end_device(struct run_kernel *row, struct kernel *of, double steps)
{
	for (int odd = 0; odd < 2; odd++)
		if (of->at_hand[odd].n)
			end_step(row, of, &of->at_hand[odd]);
	row->varies += sqrt(fmax(0, of->n2 / steps - of->n * of->n / steps / steps));
	of->n = of->n2 = 0;
}

static void add_kernels(struct kernels *k, struct run *run, const struct run *part, const struct trace_device *device)
{
	const struct trace_ops *ops = &part->trace->ops;
	const uint32_t *launched = part->steps.op_step;
	const bool steps = run->steps.found;
	uint32_t step = 0;
	for (size_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		bool comm = ops->kind[i] == OP_COMM;
		if ((ops->kind[i] != OP_KERNEL && !comm) || !run_measures_op(part, i))
			continue;
		uint32_t phase = run_marked_phase(part, part->phases.of_op[i]);
		uint32_t at = keymap_add(&k->keys, (uint64_t)ops->name[i] << 32 | (uint64_t)comm << 31 | phase);
		if (at == run->rows.n_kernels) {
			LIST_GROW(run->arena, run->rows.kernels, run->rows.n_kernels, k->room);
			LIST_GROW(k->work, k->kernel, k->n, k->room_kernel);
			run->rows.kernels[run->rows.n_kernels++] =
				(struct run_kernel){.name = ops->name[i], .phase = phase, .comm = comm};
			k->kernel[k->n++] = (struct kernel){0};
		}
		step = steps ? steps_of_op(&run->steps, launched[i], ops->end[i], step) : step + 1;
		struct at_hand *of = &k->kernel[at].at_hand[step & 1];
		if (of->step != step && of->n)
			end_step(&run->rows.kernels[at], &k->kernel[at], of);
		of->step = step;
		of->n++;
		of->unsized += !ops->bytes[i];
		of->threads += trace_threads(ops->bytes[i]);
		of->ns += ops->end[i] - ops->start[i];
		of->blocks += trace_blocks(ops->bytes[i]);
	}
	for (uint32_t i = 0; i < k->n; i++)
		end_device(&run->rows.kernels[i], &k->kernel[i], run->window.n_steps);
}

SORT_ORDER_BY(by_text, struct run_kernel, names,
              strcmp(names_text(names, x->name), names_text(names, y->name))
              ?: strcmp(names_text(names, x->phase), names_text(names, y->phase)) ?: x->comm - y->comm)

static void end_kernels(struct run *run)
{
	SORT_BY(run->rows.kernels, run->rows.n_kernels, by_text, run->trace->names);
}

/* ---- host work ---- */

/* Host work of the step threads, a step, mean over them, because they work side by side: what is neither synchronising
 * nor blocked; a launch call longer than ten times their median counts at the median, because it waits for a full queue
 * (docs/method/analysis.md, Ceilings). The median is known only after all rows, so launches are kept by their lengths.
 */
struct host_work {
	double ns;
	struct tally launches;
	struct arena *work;
};

static void add_doing(void *context, const struct doing *stretch)
{
	struct host_work *w = context;
	if (!stretch->waits)
		w->ns += (double)(stretch->end - stretch->start);
}

static void add_host_work(struct host_work *w, struct run *part)
{
	const struct steps *s = &part->steps;
	for (uint32_t m = 0; s->found && m < s->n_threads; m++) {
		const struct spans *host = &part->window.host[s->threads[m].process];
		for (size_t i = 0; i < host->n; i++)
			activity_walk_whole(&part->charge->activity, s->threads[m].thread, host->at[i][0],
			                    host->at[i][1], add_doing, w);
	}
}

/* How long the step threads' launches were. */
static void keep_launches(const struct run *part, struct host_work *w)
{
	const struct trace *t = part->trace;
	const struct steps *s = &part->steps;
	for (uint32_t m = 0; s->found && m < s->n_threads; m++) {
		uint32_t thread = s->threads[m].thread;
		struct host_window host = run_host(part, s->threads[m].process);
		for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++)
			if (t->calls.class[i] == CALL_LAUNCH && host_window_has(&host, t->calls.start[i]))
				tally_add(&w->launches, w->work, t->calls.end[i] - t->calls.start[i]);
	}
}

static double host_work_of(const struct host_work *w, const struct run *run, double launch_call)
{
	if (!run->steps.found)
		return 0;
	double waiting = tally_excess(&w->launches, 10 * launch_call, launch_call);
	return (w->ns - waiting) / run->steps.n_threads / run->window.n_steps;
}

/* ---- all ---- */

struct going {
	struct side_rows out;
	struct tables *tables;
	struct ranges_builder *ranges;
	struct kernels kernels;
	struct host_work *host; /* by run */
	struct holes holes;     /* of the run at hand */
	struct arena *work;
};

static void add_rows(struct going *g, struct run *run, struct run *part, struct host_work *host)
{
	phases_add(&g->out.phases, run, part);
	side_tables_add(g->tables, run, part);
	ranges_add(g->ranges, part);
	recording_add(g->out.recording, run, part);
	backlog_note(run, part);
	memory_note(run, part);
	tokens_add(run, part);
	request_work_add(run, part);
	for (uint32_t d = 0; d < part->trace->n_devices; d++)
		add_kernels(&g->kernels, run, part, &part->trace->devices[d]);
	holes_add(&g->holes, run, part);
	run_table_print(run, part->trace);
	add_host_work(host, part);
	keep_launches(part, host);
}

static void go_through(struct going *g, struct run *run, struct host_work *host)
{
	g->kernels = (struct kernels){.work = g->work};
	g->holes = (struct holes){.work = g->work};
	keymap_init(&g->kernels.keys, g->work);
	tokens_begin(run);
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		struct run *part = parts_open(run, i, &scratch);
		parts_charge(run, i, part);
		add_rows(g, run, part, host);
	}
	run_end_charge(run);
	end_kernels(run);
	holes_end(&g->holes, run);
	side_tables_end_run(g->tables, run);
	ranges_end_run(g->ranges, run);
	recording_end_run(g->out.recording, run);
}

struct side_rows rows_build(struct run *runs, size_t n, struct arena *work, struct arena *arena, struct side *side,
                            struct side_facts *facts)
{
	struct going g = {
		.out = {.phases = phases_begin(runs, n, work, arena, side), .recording = recording_begin(n, work)},
		.tables = side_tables_begin(runs, n, work, arena, side, facts),
		.ranges = ranges_begin(runs, n, work, arena),
		.host = ARENA_NEW(work, n, struct host_work),
		.work = work};
	bool ranked = n > 1; /* which may have used different devices */
	for (size_t r = 0; r < n; r++)
		ranked = ranked || runs[r].trace->n_devices > 1;
	for (size_t r = 0; r < n; r++) {
		runs[r].asked.ranked = ranked;
		g.host[r].work = work;
		go_through(&g, &runs[r], &g.host[r]);
	}
	g.out.places = side_tables_end(g.tables);
	side->ranges = ranges_end(g.ranges, &side->n_ranges);
	for (size_t r = 0; r < n; r++)
		facts->host_work += host_work_of(&g.host[r], &runs[r], facts->work.launch_call) / (double)n;
	return g.out;
}
