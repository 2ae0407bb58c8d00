#include "side/side_parts.h"

#include "base/sort.h"
#include "charge/backlog.h"
#include "charge/rank_steps.h"
#include "steps/pattern.h"

#include <string.h>

void quality_find(struct quality *q, struct arena *arena, const struct fact *fact)
{
	for (uint32_t i = 0; fact && i < q->notes.n; i++)
		if (fact_same(q->notes.list[i], fact))
			return;
	facts_add(&q->notes, arena, fact);
}

static struct trace_dropped *dropped_of(struct trace_dropped *list, uint32_t n, const struct trace_dropped *row)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].kind == row->kind && strcmp(list[i].where, row->where) == 0 &&
		    strcmp(list[i].reason, row->reason) == 0)
			return &list[i];
	return NULL;
}

SORT_ORDER(compare_dropped, struct trace_dropped,
           strcmp(x->where, y->where) ?: strcmp(x->reason, y->reason) ?: ASCENDING(x->kind, y->kind))

/* Rows dropped by the reader, added up over runs; diagnostics, each text once. */
static void add_lists(const struct run *runs, size_t n, struct arena *arena, struct quality *q)
{
	uint32_t n_dropped = 0, n_diagnostics = 0;
	for (size_t r = 0; r < n; r++) {
		n_dropped += runs[r].trace->n_dropped;
		n_diagnostics += runs[r].trace->n_diagnostics;
	}
	struct trace_dropped *dropped = ARENA_NEW(arena, n_dropped, struct trace_dropped);
	struct trace_diagnostic *diagnostics = ARENA_NEW(arena, n_diagnostics, struct trace_diagnostic);
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		for (uint32_t i = 0; i < t->n_dropped; i++) {
			struct trace_dropped *same = dropped_of(dropped, q->n_dropped, &t->dropped[i]);
			if (same)
				same->rows += t->dropped[i].rows;
			else
				dropped[q->n_dropped++] = t->dropped[i];
		}
		for (uint32_t i = 0; i < t->n_diagnostics; i++) {
			bool seen = !t->diagnostics[i].text; /* without words it says nothing */
			for (uint32_t k = 0; k < q->n_diagnostics && !seen; k++)
				seen = diagnostics[k].text == t->diagnostics[i].text;
			if (!seen)
				diagnostics[q->n_diagnostics++] = t->diagnostics[i];
		}
	}
	SORT(dropped, q->n_dropped, compare_dropped);
	q->dropped = dropped;
	q->diagnostics = diagnostics;
}

/* What repeats, where it is too little of the GPU's time to be found by itself. */
static void add_small_loop(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	if (run->steps.found || run->loops.n || !run->loops.n_small)
		return;
	const struct run_loop *loop = &run->loops.list[0];
	QUALITY_FIND(q, arena, small_loop, FACT_NO_SIDE, .file = file,
	             .loop = arena_copy(arena, loop->title, strlen(loop->title)), .times = loop->n,
	             .share = loop->share, .scattered = run->loops.scattered);
}

/* Steps that end faster than they are launched. */
static void add_queue(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	double more = backlog_worked_off(run);
	if (more <= 0)
		return;
	double step = (double)run->window.ns / run->window.n_steps;
	QUALITY_FIND(q, arena, queue_worked_off, FACT_NO_SIDE, .file = file, .ended = step, .launched = step + more);
}

/* What is true of one run: steps that the capture cuts, clocks that disagree. */
static void add_run_notes(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	const struct steps *s = &run->steps;
	uint32_t cut = s->found ? (s->n_cut + s->n_ranks - 1) / s->n_ranks : 0;
	if (cut)
		QUALITY_FIND(q, arena, steps_cut, FACT_NO_SIDE, .steps = cut, .file = file);
	if (s->n_stretches)
		QUALITY_FIND(q, arena, loop_in_stretches, FACT_NO_SIDE, .file = file, .stretches = s->n_stretches,
		             .measured = run->window.n_steps, .steps = (int64_t)s->n + s->unmeasured);
	add_small_loop(q, run, file, arena);
	add_queue(q, run, file, arena);
	if (run->agreed.alone)
		QUALITY_FIND(q, arena, run_without_steps, FACT_NO_SIDE, .file = file, .cycles = PATTERN_CYCLES);
	if (run->extent.early_ops)
		QUALITY_FIND(q, arena, clocks_disagree, FACT_NO_SIDE, .early = (int64_t)run->extent.early_ops,
		             .of = (int64_t)run->extent.n_ops, .file = file, .by = (double)run->extent.earliest);
}

static const struct fact *process_of(const struct trace_process *p, struct arena *arena)
{
	return FACT_NEW(arena, a_process, FACT_NO_SIDE, .ranked = p->rank >= 0,
	                .number = p->rank >= 0 ? p->rank : p->pid);
}

static void add_restarts(struct quality *q, const struct run *run, struct arena *arena)
{
	const struct steps_restart *r = &run->steps.restart;
	if (!r->n)
		return;
	QUALITY_FIND(q, arena, ranks_restarted, FACT_NO_SIDE, .ranks = r->n,
	             .who = process_of(&run->trace->processes[r->process], arena), .kept = r->kept, .steps = r->steps,
	             .others = r->left);
}

/* The kind of GPU of the run's device `i`; 0: not known. */
static uint32_t kind_of(const struct run *run, uint32_t i)
{
	uint32_t gpu = run->trace->devices[run->charge->devices[i].device].gpu;
	return gpu == TRACE_NONE ? 0 : run->trace->gpus[gpu].name;
}

/* GPUs of several kinds in one job: the slower one is waited for, whatever the program does. */
static void add_kinds(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	ARENA_LOCAL(scratch);
	uint32_t *count = ARENA_NEW(&scratch, run->trace->names->n, uint32_t), most = 0, others = 0;
	struct facts *list = ARENA_NEW(arena, 1, struct facts);
	for (uint32_t i = 0; i < run->charge->n_devices; i++) {
		uint32_t kind = kind_of(run, i);
		most = kind && ++count[kind] > count[most] ? kind : most;
	}
	for (uint32_t i = 0; i < run->charge->n_devices; i++) {
		uint32_t kind = kind_of(run, i);
		if (!kind || kind == most || others++ >= NAMED)
			continue;
		const struct trace_device *d = &run->trace->devices[run->charge->devices[i].device];
		FACT_ADD(list, arena, process_on_gpu, FACT_NO_SIDE,
		         .process = process_of(&run->trace->processes[d->process], arena),
		         .gpu = names_text(run->trace->names, kind));
	}
	if (others)
		QUALITY_FIND(q, arena, gpus_of_several_kinds, FACT_NO_SIDE, .others = list,
		             .more = others > NAMED ? others - NAMED : 0, .most = count[most],
		             .gpu = names_text(run->trace->names, most));
}

/* Ranks that take part and of which nobody marked the steps. */
static void add_unmarked(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	struct facts *list = ARENA_NEW(arena, 1, struct facts);
	uint32_t n = 0;
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		if (!run->charge->devices[d].communicates || rank_steps_marked(run, d))
			continue;
		const struct trace_process *p =
			&run->trace->processes[run->trace->devices[run->charge->devices[d].device].process];
		if (n++ < NAMED)
			facts_add(list, arena, process_of(p, arena));
	}
	if (n)
		QUALITY_FIND(q, arena, ranks_without_steps, FACT_NO_SIDE, .ranks = n, .of = run->charge->n_devices,
		             .who = list, .more = n > NAMED, .loop = run->steps.by_op);
}

static void add_ranks(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	const struct steps *s = &run->steps;
	struct facts *list = ARENA_NEW(arena, 1, struct facts);
	add_restarts(q, run, arena);
	add_kinds(q, run, arena);
	add_unmarked(q, run, arena);
	if (s->unaligned) {
		QUALITY_FIND(q, arena, ranks_not_aligned, FACT_NO_SIDE);
		return;
	}
	for (uint32_t i = 0; i < s->n_lacking && i < NAMED; i++) {
		const struct trace_process *p = &run->trace->processes[s->lacking[i].process];
		FACT_ADD(list, arena, process_lacks, FACT_NO_SIDE, .process = process_of(p, arena),
		         .first = s->lacking[i].first, .last = s->lacking[i].last,
		         .both = s->lacking[i].first && s->lacking[i].last);
	}
	if (s->n_lacking)
		QUALITY_FIND(q, arena, ranks_lack_steps, FACT_NO_SIDE, .found = s->origin == STEPS_BY_PATTERN,
		             .who = list, .more = s->n_lacking > NAMED ? s->n_lacking - NAMED : 0,
		             .steps = (int64_t)s->n);
	else if (s->uneven)
		QUALITY_FIND(q, arena, ranks_uneven, FACT_NO_SIDE);
}

/* Counters that were sampled, but not in the steps: a buffer that is full ends it without ending the capture. */
static void add_counters(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	const struct trace *t = run->trace;
	size_t all = 0, inside = 0;
	for (uint32_t m = 0; m < t->n_metrics; m++) {
		all += t->metrics[m].n;
		for (size_t i = 0; i < t->metrics[m].n && !inside; i++)
			inside += t->metrics[m].time[i] >= run->window.start && t->metrics[m].time[i] < run->window.end;
	}
	if (all && !inside)
		QUALITY_FIND(q, arena, counters_elsewhere, FACT_NO_SIDE, .file = file, .samples = (int64_t)all);
}

/* What was not recorded: each tool has its own name for it. */
static void add_missing(struct quality *q, const struct trace *t, const struct steps *steps, bool forgot,
                        struct arena *arena)
{
	const char *tool = t->source.kind == SOURCE_KINETO ? "kineto" : "nsys";
	if (!t->source.has_calls)
		QUALITY_FIND(q, arena, no_calls, FACT_NO_SIDE, .tool = tool);
	if (!t->source.has_ranges)
		QUALITY_FIND(q, arena, no_ranges, FACT_NO_SIDE, .tool = tool, .steps = steps->found);
	else if (!steps->found && !forgot && !steps->span_named)
		QUALITY_FIND(q, arena, no_range_is_step, FACT_NO_SIDE, .tool = tool);
	if (!steps->found && forgot)
		QUALITY_FIND(q, arena, steps_forgotten, FACT_NO_SIDE);
}

/* What a run's profile says of itself. */
static void add_source(struct quality *q, const struct trace_source *source, const char *file, struct arena *arena)
{
	if (*source->incomplete)
		QUALITY_FIND(q, arena, run_incomplete, FACT_NO_SIDE, .file = file,
		             .why = arena_copy(arena, source->incomplete, strlen(source->incomplete)));
	if (source->lost > 0)
		QUALITY_FIND(q, arena, rows_lost, FACT_NO_SIDE, .records = source->lost, .file = file);
	if (source->samples_torn > 0)
		QUALITY_FIND(q, arena, samples_torn, FACT_NO_SIDE, .samples = source->samples_torn, .file = file);
	if (source->others > 0)
		QUALITY_FIND(q, arena, others_on_gpu, FACT_NO_SIDE, .processes = source->others, .file = file);
}

static const char *why_unmade(const struct run *run)
{
	const struct trace_source *source = &run->trace->source;
	if (source->kind == SOURCE_KINETO)
		return "kineto";
	if (!*source->cupti || source->began == TRACE_NO_TIME) /* nsys recorded, or from later on */
		return "early";
	return run->extent.made_nodes ? "unseen" : "untold";
}

/* Nodes of graphs of which nobody knows who captured them, where that can tell a phase. */
static void add_unmade(struct quality *q, const struct run *run, struct arena *arena)
{
	const struct trace_source *source = &run->trace->source;
	double share = run->extent.op_ns ? (double)run->extent.unmade_ns / (double)run->extent.op_ns : 0;
	if (share > 0.01 && source->has_ranges && !run->phases.by_work)
		QUALITY_FIND(q, arena, graph_nodes_unknown, FACT_NO_SIDE, .share = share, .why = why_unmade(run));
}

/* What may keep a GPU from its work, and is in no row. */
static void add_unseen(struct quality *q, const struct run *run, struct arena *arena)
{
	if (run->extent.managed && !run->extent.migrates)
		QUALITY_FIND(q, arena, migrations_unseen, FACT_NO_SIDE);
	if (run->extent.host_functions && run->extent.host_functions >= run->window.n_steps)
		QUALITY_FIND(q, arena, host_functions_unseen, FACT_NO_SIDE);
}

struct quality quality_build(const struct run *runs, size_t n, const char *const *files,
                             const struct quality_notes *more, struct arena *arena)
{
	struct quality quality = {0}, *q = &quality;
	int64_t ops = 0, unlaunched = 0, clipped = 0;
	size_t measured = 0, missing = 0;
	add_lists(runs, n, arena, q);
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		ops += (int64_t)runs[r].extent.n_ops;
		unlaunched += runs[r].extent.unlaunched;
		measured += runs[r].rows.n_measured;
		missing += runs[r].rows.unlaunched_measured;
		clipped += runs[r].extent.clipped;
		add_source(q, &t->source, files[r], arena);
		add_ranks(q, &runs[r], arena);
		add_counters(q, &runs[r], files[r], arena);
		add_run_notes(q, &runs[r], files[r], arena);
		if (runs[r].charge->n_devices != runs[0].charge->n_devices)
			QUALITY_FIND(q, arena, devices_uneven, FACT_NO_SIDE);
		add_missing(q, t, &runs[r].steps, runs[r].agreed.forgot, arena);
		if (t->source.graphs == GRAPHS_WHOLE)
			QUALITY_FIND(q, arena, graphs_traced_whole, FACT_NO_SIDE);
		add_unmade(q, &runs[r], arena);
		add_unseen(q, &runs[r], arena);
		if (runs[r].extent.updates && t->source.has_ranges && !runs[r].phases.by_work)
			QUALITY_FIND(q, arena, graphs_updated, FACT_NO_SIDE, .updates = runs[r].extent.updates);
	}
	if (more->left_out)
		QUALITY_FIND(q, arena, timeline_cut, FACT_NO_SIDE, .steps = runs[0].steps.found,
		             .operations = more->left_out);
	q->unlaunched_share = ops ? (double)unlaunched / (double)ops : 0;
	double share = measured ? (double)missing / (double)measured : 0;
	if (share > 0.01)
		QUALITY_FIND(q, arena, launches_missing, FACT_NO_SIDE, .share = share);
	quality_find(q, arena, more->clocks);
	if (n && runs[0].trace->source.kind == SOURCE_KINETO)
		QUALITY_FIND(q, arena, kineto_costs, FACT_NO_SIDE);
	quality_find(q, arena, more->recording);
	quality_find(q, arena, more->ranges);
	if (clipped)
		QUALITY_FIND(q, arena, ranges_open, FACT_NO_SIDE, .ranges = clipped);
	if (more->files)
		QUALITY_FIND(q, arena, files_grouped, FACT_NO_SIDE, .how = more->files);
	return quality;
}
