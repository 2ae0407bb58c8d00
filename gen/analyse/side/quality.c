#include "analyse/side/quality.h"

#include "analyse/run/backlog.h"
#include "analyse/run/parts.h"
#include "analyse/run/pattern.h"
#include "analyse/run/rank_steps.h"
#include "trace/again.h"

#include <stdlib.h>
#include <string.h>

void quality_find(struct quality *q, struct arena *arena, const struct fact *fact)
{
	for (uint32_t i = 0; i < q->notes.n; i++)
		if (fact_same(q->notes.list[i], fact))
			return;
	facts_add(&q->notes, arena, fact);
}

void quality_add(struct quality *q, struct arena *arena, const char *note)
{
	quality_find(q, arena, fact_legacy(arena, note));
}

static struct trace_dropped *dropped_of(struct trace_dropped *list, uint32_t n, const struct trace_dropped *row)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].kind == row->kind && strcmp(list[i].where, row->where) == 0 &&
		    strcmp(list[i].reason, row->reason) == 0)
			return &list[i];
	return NULL;
}

static int compare_dropped(const void *a, const void *b)
{
	const struct trace_dropped *x = a, *y = b;
	int order = strcmp(x->where, y->where);
	order = order ? order : strcmp(x->reason, y->reason);
	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

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
			bool seen = false;
			for (uint32_t k = 0; k < q->n_diagnostics && !seen; k++)
				seen = diagnostics[k].text == t->diagnostics[i].text;
			if (!seen)
				diagnostics[q->n_diagnostics++] = t->diagnostics[i];
		}
	}
	if (q->n_dropped)
		qsort(dropped, q->n_dropped, sizeof *dropped, compare_dropped);
	q->dropped = dropped;
	q->diagnostics = diagnostics;
}

/* What repeats, where it is too little of the GPU's time to be found by itself. */
static void add_small_loop(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	if (run->steps.found || run->loops.n || !run->loops.n_small)
		return;
	const struct run_loop *loop = &run->loops.list[0];
	quality_add(q, arena,
	            arena_format(arena,
	                         "What repeats in %s is less than half of the GPU's work, so it is not taken for its "
	                         "steps; %s repeats %u times and is %.1f %% of it. --loop takes it.",
	                         file, loop->title, loop->n, 100 * loop->share));
}

/* Steps that end faster than they are launched. */
static void add_queue(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	double more = backlog_worked_off(run);
	if (more <= 0)
		return;
	double step = (double)(run->window_end - run->window_start) / run->n_steps;
	quality_add(q, arena,
	            arena_format(arena,
	                         "The GPU works off a queue in %s: the steps that were measured end every %.3f ms, but "
	                         "are launched every %.3f ms, which is what a step takes once the queue is gone.",
	                         file, step / 1e6, (step + more) / 1e6));
}

/* What is true of one run: steps that the capture cuts, clocks that disagree. */
static void add_run_notes(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	const struct steps *s = &run->steps;
	uint32_t cut = s->found ? (s->n_cut + s->n_ranks - 1) / s->n_ranks : 0;
	if (cut == 1)
		quality_add(q, arena,
		            arena_format(arena, "The end of the capture cuts the last step of %s, which is left out.",
		                         file));
	else if (cut)
		quality_add(q, arena,
		            arena_format(arena,
		                         "The end of the capture cuts the last %u steps of %s, which are left out.",
		                         cut, file));
	add_small_loop(q, run, file, arena);
	add_queue(q, run, file, arena);
	if (run->alone)
		quality_add(q, arena,
		            arena_format(
				    arena,
				    "Nothing in %s repeats %d times, as it does in other runs of this side: too little "
				    "was recorded, or it did something else. Runs are averaged, so the side has no "
				    "steps; without this file it has some.",
				    file, PATTERN_CYCLES));
	if (run->early_ops)
		quality_add(
			q, arena,
			arena_format(
				arena,
				"%zu of %zu GPU operations of %s start before the call that launched them, by up to "
				"%.0f µs: the capture's clocks of host and GPU disagree, and causes of gaps about "
				"that short are uncertain.",
				run->early_ops, run->n_ops, file, (double)run->earliest / 1e3));
}

/* "the first 5", "the last", "the first 5 and the last 2" */
static const char *lacking_words(const struct steps_lacking *l, struct arena *arena)
{
	const char *first = l->first > 1 ? arena_format(arena, "the first %u", l->first) : l->first ? "the first" : "";
	const char *last = l->last > 1 ? arena_format(arena, "the last %u", l->last) : l->last ? "the last" : "";
	return arena_format(arena, "%s%s%s", first, l->first && l->last ? " and " : "", last);
}

/* "rank 3", "process 4711" */
static const char *process_words(const struct trace_process *p, struct arena *arena)
{
	return p->rank >= 0 ? arena_format(arena, "rank %d", p->rank)
	                    : arena_format(arena, "process %lld", (long long)p->pid);
}

static void add_restarts(struct quality *q, const struct run *run, struct arena *arena)
{
	const struct steps_restart *r = &run->steps.restart;
	if (!r->n)
		return;
	const char *who =
		r->n > 1 ? arena_format(arena, "%u ranks were", r->n)
			 : arena_format(arena, "%s was", process_words(&run->trace->processes[r->process], arena));
	quality_add(q, arena,
	            arena_format(arena,
	                         "In one recording %s started more than once, one process after the other on the same "
	                         "GPU. Those that hold the most steps count (%u of them, all ranks together); %u steps "
	                         "of %s are left out.",
	                         who, r->kept, r->steps,
	                         r->left > 1 ? arena_format(arena, "the %u other processes", r->left)
	                                     : "the other process"));
}

/* The kind of GPU of the run's device `i`; 0: not known. */
static uint32_t kind_of(const struct run *run, uint32_t i)
{
	uint32_t gpu = run->trace->devices[run->devices[i].device].gpu;
	return gpu == TRACE_NONE ? 0 : run->trace->gpus[gpu].name;
}

/* GPUs of several kinds in one job: the slower one is waited for, whatever the program does. */
static void add_kinds(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	struct arena scratch = {0};
	uint32_t *count = ARENA_NEW(&scratch, run->trace->names->n, uint32_t), most = 0, others = 0;
	const char *list = "";
	for (uint32_t i = 0; i < run->n_devices; i++) {
		uint32_t kind = kind_of(run, i);
		most = kind && ++count[kind] > count[most] ? kind : most;
	}
	for (uint32_t i = 0; i < run->n_devices; i++) {
		uint32_t kind = kind_of(run, i);
		if (!kind || kind == most || others++ >= NAMED)
			continue;
		const struct trace_device *d = &run->trace->devices[run->devices[i].device];
		list = arena_format(arena, "%s%s%s on %s", list, *list ? ", " : "",
		                    process_words(&run->trace->processes[d->process], arena),
		                    names_text(run->trace->names, kind));
	}
	if (others > NAMED)
		list = arena_format(arena, "%s, and %u more", list, others - NAMED);
	if (others)
		quality_add(
			q, arena,
			arena_format(arena,
		                     "The GPUs of the job are not all of one kind: %s; %u on %s. A step takes as long "
		                     "as the slowest needs.",
		                     list, count[most], names_text(run->trace->names, most)));
	arena_release(&scratch);
}

/* Ranks whose recordings do not begin or end at the same step. */
/* Ranks that take part and of which nobody marked the steps. */
static void add_unmarked(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	const char *list = "";
	uint32_t n = 0;
	for (uint32_t d = 0; d < run->n_devices; d++) {
		if (!run->devices[d].communicates || rank_steps_marked(run, d))
			continue;
		const struct trace_process *p =
			&run->trace->processes[run->trace->devices[run->devices[d].device].process];
		if (n++ < NAMED)
			list = arena_format(arena, "%s%s%s", list, n > 1 ? ", " : "", process_words(p, arena));
	}
	if (n)
		quality_add(
			q, arena,
			arena_format(arena,
		                     "%u of the %u ranks have no steps of their own (%s%s): %s. A step is that of the "
		                     "others; the work of these counts where it lies in time, and which rank is "
		                     "waited for most is not said.%s",
		                     n, run->n_devices, list, n > NAMED ? ", …" : "",
		                     run->steps.by_op ? "they do not repeat what the others repeat"
		                                      : "they lack the range that is the others' step",
		                     run->steps.by_op ? "" : " --loop takes what repeats in all of them."));
}

static void add_ranks(struct quality *q, const struct run *run, struct arena *arena)
{
	enum { NAMED = 3 };
	const struct steps *s = &run->steps;
	const char *list = "";
	add_restarts(q, run, arena);
	add_kinds(q, run, arena);
	add_unmarked(q, run, arena);
	if (s->unaligned) {
		quality_add(
			q, arena,
			"Which step of one rank is which of another cannot be told: they were not recorded from the "
			"same step to the same step, and neither what they ran together nor one clock says which they "
			"are. Nothing is said of ranks, of whom they wait for, or of bubbles.");
		return;
	}
	for (uint32_t i = 0; i < s->n_lacking && i < NAMED; i++) {
		const struct trace_process *p = &run->trace->processes[s->lacking[i].process];
		list = arena_format(arena, "%s%s%s lacks %s", list, i ? ", " : "", process_words(p, arena),
		                    lacking_words(&s->lacking[i], arena));
	}
	if (s->n_lacking > NAMED)
		list = arena_format(arena, "%s, and %u more lack some", list, s->n_lacking - NAMED);
	if (s->n_lacking)
		quality_add(
			q, arena,
			arena_format(arena,
		                     s->origin == STEPS_BY_PATTERN
		                             ? "Not on every rank the same repetitions were found: %s. The %u steps "
		                               "that were found on all of them count."
		                             : "Not every rank recorded every step: %s. The %u steps that all of them "
		                               "recorded count.",
		                     list, s->n));
	else if (s->uneven)
		quality_add(q, arena, "The ranks have different numbers of steps; the shortest counts.");
}

/* Counters that were sampled, but not in the steps: a buffer that is full ends it without ending the capture. */
static void add_counters(struct quality *q, const struct run *run, const char *file, struct arena *arena)
{
	const struct trace *t = run->trace;
	size_t all = 0, inside = 0;
	for (uint32_t m = 0; m < t->n_metrics; m++) {
		all += t->metrics[m].n;
		for (size_t i = 0; i < t->metrics[m].n && !inside; i++)
			inside += t->metrics[m].time[i] >= run->window_start && t->metrics[m].time[i] < run->window_end;
	}
	if (all && !inside)
		quality_add(q, arena,
		            arena_format(arena,
		                         "Hardware counters were sampled in %s (%zu samples), but not in the measured "
		                         "steps: nothing is said of them.",
		                         file, all));
}

/* What was not recorded, in the words of the tool that did not. */
static void add_missing(struct quality *q, const struct trace *t, const struct steps *steps, bool forgot,
                        struct arena *arena)
{
	bool kineto = t->source.kind == SOURCE_KINETO;
	if (!t->source.has_calls)
		quality_add(
			q, arena,
			kineto ? "The trace has no CUDA calls: no gap can be charged to the host. Record with "
				 "ProfilerActivity.CPU and ProfilerActivity.CUDA."
			       : "The profile has no CUDA API calls: no gap can be charged to the host. Capture with "
				 "--trace=cuda,nvtx.");
	if (!t->source.has_ranges && kineto)
		quality_add(q, arena,
		            steps->found ? "The trace has no annotations: phases are kinds of GPU work, each with the "
		                           "host's time before it."
		                         : "The trace has no annotations: there are no steps, and phases are kinds of "
		                           "GPU work. Call the "
		                           "profiler's step() after every step, with a schedule: it marks none "
		                           "without.");
	else if (!t->source.has_ranges)
		quality_add(q, arena,
		            steps->found ? "The profile has no NVTX ranges: phases are kinds of GPU work, each with "
		                           "the host's time before it."
		                         : "The profile has no NVTX ranges: there are no steps, and phases are kinds "
		                           "of GPU work, each with "
		                           "the host's time before it.");
	else if (!steps->found && forgot)
		quality_add(
			q, arena,
			"What are steps here are none in the other runs, and what repeats on the GPU is not the same: "
			"nothing is compared step by step. Name a range that is a step in all with --step, or what "
			"repeats with --loop.");
	else if (!steps->found && !steps->span_named)
		quality_add(
			q, arena,
			kineto ? "No annotation is a step: none repeats at least 5 times, launches GPU work in 4 of 5 "
				 "instances and covers 70 % of the GPU time. Call the profiler's step() after every "
				 "step, with a schedule (it marks none without), and record more of them, or name one "
				 "with --step."
			       : "No NVTX range is a step: none repeats at least 5 times, launches GPU work in 4 of 5 "
				 "instances and covers 70 % of the GPU time. Mark the steps or name one with --step.");
}

struct quality quality_build(const struct run *runs, size_t n, const char *const *files,
                             const struct quality_notes *more, struct arena *arena)
{
	struct quality quality = {0}, *q = &quality;
	int64_t ops = 0, unlaunched = 0, clipped = 0;
	add_lists(runs, n, arena, q);
	for (size_t r = 0; r < n; r++) {
		const struct trace *t = runs[r].trace;
		ops += (int64_t)runs[r].n_ops;
		unlaunched += runs[r].unlaunched;
		clipped += runs[r].clipped;
		if (*t->source.incomplete)
			quality_add(q, arena,
			            arena_format(arena, "The capture of %s is incomplete: %s.", files[r],
			                         t->source.incomplete));
		if (t->source.lost > 0)
			quality_add(q, arena,
			            arena_format(arena, "%lld records were lost while %s was captured.",
			                         (long long)t->source.lost, files[r]));
		if (t->source.samples_torn > 0)
			quality_add(q, arena,
			            arena_format(arena,
			                         "%lld samples of Python could not be read while %s was captured.",
			                         (long long)t->source.samples_torn, files[r]));
		if (t->source.others > 0)
			quality_add(q, arena,
			            arena_format(arena,
			                         "%lld other process%s used a GPU of %s when its program began: what "
			                         "others do there is not in the profile, and makes steps longer.",
			                         (long long)t->source.others, t->source.others == 1 ? "" : "es",
			                         files[r]));
		add_ranks(q, &runs[r], arena);
		add_counters(q, &runs[r], files[r], arena);
		add_run_notes(q, &runs[r], files[r], arena);
		if (runs[r].n_devices != runs[0].n_devices)
			quality_add(q, arena, "The runs used different numbers of devices; they are matched in order.");
		add_missing(q, t, &runs[r].steps, runs[r].forgot, arena);
		if (t->source.graphs == GRAPHS_WHOLE)
			quality_add(
				q, arena,
				"CUDA graphs were traced whole: a graph counts as compute from its start to its end, "
				"and its kernels are not in the profile (--cuda-graph-trace=node shows them).");
	}
	if (more->left_out)
		quality_add(q, arena,
		            arena_format(arena,
		                         "The timeline ends before the %s does: %lld of its GPU operations come later.",
		                         runs[0].steps.found ? "step" : "run", (long long)more->left_out));
	q->unlaunched_share = ops ? (double)unlaunched / (double)ops : 0;
	if (q->unlaunched_share > 0.01)
		quality_add(
			q, arena,
			arena_format(arena,
		                     "%.0f %% of the GPU operations have no launching call in the profile; gaps before "
		                     "them are unattributed.",
		                     100 * q->unlaunched_share));
	if (more->clocks)
		quality_add(q, arena, more->clocks);
	if (n && runs[0].trace->source.kind == SOURCE_KINETO)
		quality_add(
			q, arena,
			"The PyTorch profiler notes every operator, and what that costs the host is not known: where "
			"the GPU waits for host code, the program is faster without it.");
	if (more->recording)
		quality_add(q, arena, more->recording);
	if (more->ranges)
		quality_add(q, arena, more->ranges);
	if (clipped)
		quality_add(q, arena,
		            arena_format(arena, "%lld NVTX ranges were still open when the capture stopped.",
		                         (long long)clipped));
	if (more->files)
		quality_add(q, arena, more->files);
	return quality;
}
