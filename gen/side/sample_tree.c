#include "side/sample_tree.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "charge/idle.h"
#include "charge/parts_open.h"
#include "trace/samples.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t ROW = 1u << 31; /* in a node's key, instead of a function */

void sample_tree_init(struct sample_tree *tree, struct arena *arena)
{
	*tree = (struct sample_tree){.arena = arena};
	keymap_init(&tree->function_keys, arena);
	keymap_init(&tree->node_keys, arena);
	keymap_init(&tree->row_keys, arena);
	keymap_init(&tree->holder_keys, arena);
}

/* ---- the tree ---- */

static uint32_t function_of(struct sample_tree *tree, const struct trace_function *f)
{
	/* What has no name is told apart by what it is; ids of names are never so large. */
	uint64_t name = f->kind == FRAME_NAMED ? f->name : UINT32_MAX - f->kind;
	uint32_t known = tree->function_keys.n,
		 i = KEYMAP_ADD(tree->arena, &tree->function_keys, name << 32 | f->module, tree->functions);
	if (i == known)
		tree->functions[i] = (struct sampled_function){f->name, f->module, f->kind};
	return i;
}

/* The node below `parent`, TRACE_NONE for a row; `parent` itself where it would be one too many. */
static uint32_t node_below(struct sample_tree *tree, uint32_t parent, uint32_t function, uint32_t row)
{
	uint64_t key = (uint64_t)parent << 32 | (function == TRACE_NONE ? ROW | row : function);
	uint32_t known = tree->node_keys.n;
	if (known >= SAMPLE_NODES_MOST && parent != TRACE_NONE) {
		uint32_t found = keymap_find(&tree->node_keys, key);
		return found == TRACE_NONE ? parent : found;
	}
	uint32_t i = KEYMAP_ADD(tree->arena, &tree->node_keys, key, tree->nodes);
	if (i < known)
		return i;
	struct sample_node *node = &tree->nodes[i];
	*node = (struct sample_node){.parent = parent, .function = function, .row = row};
	for (uint32_t up = parent; up != TRACE_NONE && !node->again; up = tree->nodes[up].parent)
		node->again = tree->nodes[up].function == function;
	return i;
}

static uint32_t row_of(struct sample_tree *tree, enum cause cause, uint32_t phase)
{
	uint32_t known = tree->row_keys.n,
		 i = KEYMAP_ADD(tree->arena, &tree->row_keys, (uint64_t)cause << 32 | phase, tree->rows);
	if (i == known) {
		tree->rows[i] = (struct sample_row){.cause = cause, .phase = phase};
		node_below(tree, TRACE_NONE, TRACE_NONE, i);
	}
	return i;
}

/* ---- when samples were taken ---- */

/* The distances from each sample to the one before of its thread, up to `most`. */
static size_t distances(const struct trace_samples *s, int64_t most, double *out)
{
	size_t n = 0;
	for (size_t i = 1; i < s->n; i++) {
		int64_t distance = s->time[i] - s->time[i - 1];
		if (s->thread[i] == s->thread[i - 1] && distance > 0 && distance <= most)
			out[n++] = (double)distance;
	}
	return n;
}

/* Time on a processor, between the first and the last sample of its thread, for each sample; infinite where nobody
 * noted it. Who samples only threads that run takes one for so much of it. */
struct processor_time {
	double ns, samples;
};

static void add_processor_time(const struct trace *t, struct processor_time *sum)
{
	for (uint32_t u = 0; u < t->n_threads; u++) {
		uint32_t first = t->first_sample[u], end = t->first_sample[u + 1];
		if (t->first_slice[u] == t->first_slice[u + 1] || end - first < 2)
			continue;
		int64_t from = t->samples.time[first], to = t->samples.time[end - 1];
		for (uint32_t i = t->first_slice[u]; i < t->first_slice[u + 1]; i++) {
			int64_t start = t->slices.start[i] > from ? t->slices.start[i] : from;
			int64_t stop = t->slices.end[i] < to ? t->slices.end[i] : to;
			sum->ns += stop > start ? (double)(stop - start) : 0;
		}
		sum->samples += end - first - 1;
	}
}

static double processor_time(const struct run *run)
{
	struct processor_time sum = {0};
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		add_processor_time(parts_rows(run, i, 1u << ROWS_OF_SLICES | 1u << ROWS_OF_SAMPLES, &scratch), &sum);
	}
	return sum.ns > 0 && sum.samples >= 20 ? sum.ns / sum.samples : INFINITY;
}

static double own_interval(const struct trace *t)
{
	double sum = 0;
	for (size_t i = 0; i < t->samples.n; i++)
		sum += stack_samples_stand_for(t, i);
	return t->samples.n > 1 ? sum / (double)t->samples.n : 0;
}

/* The lower quartile of the distances: a thread that sleeps in between makes some of them longer. */
static double find_interval(const struct run *run)
{
	const struct trace *t = run->trace;
	if (t->source.sample_ns > 0)
		return own_interval(t);
	struct arena scratch = {0};
	double *list = ARENA_NEW(&scratch, t->samples.n, double), low = 0, high;
	size_t n = distances(&t->samples, INT64_MAX, list);
	if (n) {
		low = sort_middle(list, n, &high);
		low = sort_middle(list, distances(&t->samples, (int64_t)low, list), &high);
	}
	arena_release(&scratch);
	return n ? fmin(low, processor_time(run)) : 0;
}

/* ---- one run ---- */

struct visitor {
	struct sample_tree *tree;
	struct run *run;
	struct arena *scratch;
	const struct renames *renames;
	int side;
	double interval, weight; /* ns a sample; steps a ns: what a ns of this device counts for */
	int64_t *from, *to;      /* by process: the first and the last sample; … */
	uint32_t *main_thread;   /* … the thread that it began with, TRACE_NONE: not in the profile */
	struct keymap known;     /* by row << 32 | frame … */
	uint32_t *node;          /* … its node */
	uint8_t *broken;         /* by frame */
	double idle, looked;     /* of host threads, ns a step */
};

static uint32_t node_of(struct visitor *v, uint32_t row, uint32_t stack)
{
	const struct trace_stacks *s = &v->run->trace->stacks;
	uint32_t known = v->known.n, i = KEYMAP_ADD(v->scratch, &v->known, (uint64_t)row << 32 | stack, v->node);
	if (i < known)
		return v->node[i];
	struct arena scratch = {0};
	uint32_t depth = 0, *frame = NULL, room = 0;
	for (uint32_t f = stack; f; f = s->frames[f].parent)
		LIST_ADD(&scratch, frame, depth, room, f);
	uint32_t node = node_below(v->tree, TRACE_NONE, TRACE_NONE, row);
	while (depth)
		node = node_below(v->tree, node,
		                  function_of(v->tree, &s->functions[s->frames[frame[--depth]].function]), row);
	arena_release(&scratch);
	return v->node[i] = node;
}

/* A thread that nobody named has the name of the thread that the program began with, which says nothing of it. */
static void add_holder(struct visitor *v, uint32_t row, uint32_t thread, double time)
{
	struct sample_tree *tree = v->tree;
	const struct trace_thread *holder = &v->run->trace->threads[thread];
	uint32_t main_thread = v->main_thread[holder->process], name = holder->name;
	bool main = main_thread == thread;
	if (main || (main_thread != TRACE_NONE && v->run->trace->threads[main_thread].name == name))
		name = 0;
	const uint64_t key = (uint64_t)row << 32 | (main ? TRACE_NONE : name);
	uint32_t known = tree->holder_keys.n, i = KEYMAP_ADD(tree->arena, &tree->holder_keys, key, tree->holders);
	if (i == known)
		tree->holders[i] = (struct sample_holder){.row = row, .name = name, .main = main};
	tree->holders[i].time[v->side] += time;
}

/* Who waits for the interpreter's lock does nothing: what counts is who held it, and what that one did. The innermost
 * frame of that; 0: not known. */
static uint32_t look_at_holder(struct visitor *v, uint32_t row, size_t i, double time)
{
	const struct trace *t = v->run->trace;
	uint32_t thread = t->samples.thread[i];
	size_t g = t->first_gil[thread], end = t->first_gil[thread + 1];
	SEARCH(g, end, t->gil.end[g] <= t->samples.time[i]);
	if (g == end || t->gil.start[g] > t->samples.time[i] || t->gil.holder[g] == thread)
		return 0;
	add_holder(v, row, t->gil.holder[g], time);
	return t->gil.stack[g];
}

static void add_sample(struct visitor *v, uint32_t row, size_t i)
{
	const struct trace *t = v->run->trace;
	struct sampling *all = &v->tree->side[v->side];
	double time = (t->source.sample_ns > 0 ? stack_samples_stand_for(t, i) : v->interval) * v->weight;
	bool gil = v->tree->rows[row].cause == CAUSE_GIL;
	uint32_t stack = gil ? look_at_holder(v, row, i, time) : t->samples.stack[i], at = node_of(v, row, stack);
	struct sample_node *node = &v->tree->nodes[at];
	node->time[v->side] += time;
	node->samples[v->side]++;
	v->tree->rows[row].time[v->side] += time;
	v->tree->rows[row].samples[v->side]++;
	all->idle++;
	all->bare += stack == 0;
	all->broken += v->broken[stack];
	all->unnamed += stack && t->stacks.functions[t->stacks.frames[stack].function].kind != FRAME_NAMED;
}

static void visit_piece(void *context, const struct doing *piece)
{
	struct visitor *v = context;
	const struct run *run = v->run;
	const struct trace *t = run->trace;
	int64_t start = piece->start > run->window.start ? piece->start : run->window.start;
	int64_t end = piece->end < run->window.end ? piece->end : run->window.end;
	if (start >= end || piece->thread == TRACE_NONE)
		return;
	uint32_t phase = run->phases.names[run_phase(run, piece->phase)];
	uint32_t r = row_of(v->tree, piece->cause, v->renames ? renames_baseline(v->renames, phase) : phase);
	uint32_t process = t->threads[piece->thread].process;
	v->tree->rows[r].idle[v->side] += (double)(end - start) * v->weight;
	v->idle += (double)(end - start) * v->weight;
	start -= piece->earlier;
	end -= piece->earlier;
	int64_t from = v->from[process] > start ? v->from[process] : start;
	int64_t to = v->to[process] < end ? v->to[process] : end;
	if (from >= to)
		return;
	v->tree->rows[r].looked[v->side] += (double)(to - from) * v->weight;
	v->looked += (double)(to - from) * v->weight;
	size_t i = t->first_sample[piece->thread];
	SEARCH(i, (size_t)t->first_sample[piece->thread + 1], t->samples.time[i] < start);
	for (; i < t->first_sample[piece->thread + 1] && t->samples.time[i] < end; i++)
		add_sample(v, r, i);
}

/* Every gap of a device that did not happen once. */
static void visit_device(struct visitor *v, const struct device_run *d)
{
	uint32_t once = 0;
	for (size_t i = 0; i < d->n_gaps; i++) {
		struct gap gap = run_gap(v->run, d, i);
		if (once < d->n_once && d->once[once].start >= gap.start && d->once[once].end <= gap.end) {
			once++; /* both are in order of time */
			continue;
		}
		if (gap.end > v->run->window.start && gap.start < v->run->window.end && !run_pauses(v->run, gap.start))
			gap_walk(v->run, d, &gap, run_sharing(v->run, d), visit_piece, v);
	}
}

/* What is asked of a run, or of a part of it, before its devices. */
static void prepare_threads(struct visitor *v, struct run *run, struct arena *scratch)
{
	const struct trace *t = run->trace;
	v->run = run;
	v->from = ARENA_NEW(scratch, t->n_processes, int64_t);
	v->to = ARENA_NEW(scratch, t->n_processes, int64_t);
	v->main_thread = ARENA_NEW(scratch, t->n_processes, uint32_t);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		v->from[p] = INT64_MAX;
		v->to[p] = INT64_MIN;
		v->main_thread[p] = TRACE_NONE;
	}
	for (uint32_t i = 0; i < t->n_threads; i++)
		if (t->threads[i].tid == t->processes[t->threads[i].process].pid)
			v->main_thread[t->threads[i].process] = i;
	for (size_t i = 0; i < t->samples.n; i++) {
		uint32_t process = t->threads[t->samples.thread[i]].process;
		v->from[process] = t->samples.time[i] < v->from[process] ? t->samples.time[i] : v->from[process];
		v->to[process] = t->samples.time[i] > v->to[process] ? t->samples.time[i] : v->to[process];
	}
}

static void prepare_stacks(struct visitor *v, const struct trace *t)
{
	keymap_init(&v->known, v->scratch);
	v->node = NULL;
	v->broken = ARENA_NEW(v->scratch, (size_t)t->stacks.n_frames + 1, uint8_t);
	for (uint32_t f = 1; f < t->stacks.n_frames; f++) {
		uint8_t kind = t->stacks.functions[t->stacks.frames[f].function].kind;
		v->broken[f] = v->broken[t->stacks.frames[f].parent] || kind == FRAME_BROKEN || kind == FRAME_CUT;
	}
}

static void visit_run(struct visitor *v, struct run *run, const struct side *side)
{
	prepare_stacks(v, run->trace);
	v->interval = find_interval(run);
	uint32_t at = 0; /* device of the run */
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		struct run *part = parts_open_charged(run, i, &scratch);
		prepare_threads(v, part, &scratch);
		for (uint32_t d = 0; d < part->charge->n_devices; d++, at++) {
			v->weight = 1 / ((double)side->devices[run->charge->place[at]].n_runs * run->window.n_steps *
			                 side->n_devices);
			visit_device(v, &part->charge->devices[d]);
		}
	}
}

void sample_tree_add(struct sample_tree *tree, struct run *runs, const struct side *of, int side,
                     const struct renames *renames)
{
	ARENA_LOCAL(scratch);
	struct visitor v = {.tree = tree, .scratch = &scratch, .side = side, .renames = renames};
	struct sampling *all = &tree->side[side];
	double with_samples = 0, time = 0;
	for (size_t r = 0; r < of->n_runs; r++) {
		const struct trace *t = runs[r].trace;
		visit_run(&v, &runs[r], of);
		all->samples += (double)t->samples.n;
		all->cut += t->stacks.cut;
		with_samples += t->samples.n > 1;
		all->interval += v.interval;
	}
	for (uint32_t r = 0; r < tree->row_keys.n; r++)
		time += tree->rows[r].time[side];
	all->interval = with_samples > 0 ? all->interval / with_samples : 0;
	all->covered = v.idle > 0 ? v.looked / v.idle : 0;
	all->stands = v.looked > 0 ? fmin(time / v.looked, 1) : 0;
}
