#include "analyse/judge/possible.h"

#include "analyse/judge/stats.h"
#include "analyse/say.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static const char *const SIDE[2] = {"the baseline", "the fixed side"};

static const double LOST = 0.01;         /* of the launches of the measured steps */
static const double LONGER = 1.5;        /* where numbers jump, from one step's start to the next, in usual ones */
static const double TENANT = 0.01;       /* of the window */
static const double MEETING = 0.8;       /* of the collectives of two runs */
static const double FASTER_ALONE = 0.85; /* kernels without a profiler, of their recorded time: 0.92 was seen */
static const double PER_NODE = 2000;     /* ns that recording a graph's node may take the GPU … */
static const double PER_LAUNCH = 500;    /* … and recording a kernel by itself */

/* ---- launches without their kernels ---- */

/* When a process captured graphs: what it launches meanwhile runs later, or never. */
struct captured {
	int64_t start, end, last; /* last: the latest launch whose kernel is there; INT64_MIN: none is */
};

static bool is_kernel_launch(const struct trace *t, size_t call)
{
	const char *name = names_text(t->names, t->calls.name[call]);
	return t->calls.class[call] == CALL_LAUNCH && strstr(name, "Kernel") && !strstr(name, "Graph");
}

static struct captured *find_captured(const struct trace *t, const bool *has_op, struct arena *arena)
{
	struct captured *by_process = ARENA_NEW(arena, t->n_processes, struct captured);
	for (uint32_t p = 0; p < t->n_processes; p++)
		by_process[p] = (struct captured){INT64_MAX, INT64_MIN, INT64_MIN};
	for (size_t i = 0; i < t->calls.n; i++) {
		struct captured *c = &by_process[t->threads[t->calls.thread[i]].process];
		const char *name = names_text(t->names, t->calls.name[i]);
		if (strstr(name, "StreamBeginCapture") && t->calls.start[i] < c->start)
			c->start = t->calls.start[i];
		if (strstr(name, "StreamEndCapture") && t->calls.end[i] > c->end)
			c->end = t->calls.end[i];
		if (has_op[i] && t->calls.start[i] > c->last)
			c->last = t->calls.start[i];
	}
	return by_process;
}

/* Launches nest (a runtime call in which the driver's lies): the outer one counts, and has the inner one's kernel. */
static void count_lost(const struct run *run, const bool *has_op, const struct captured *captured, size_t *lost,
                       size_t *all)
{
	const struct trace *t = run->trace;
	size_t outer = SIZE_MAX;
	bool counted = false;
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t process = t->threads[t->calls.thread[i]].process;
		const struct captured *c = &captured[process];
		int64_t start = t->calls.start[i], from, to;
		if (!is_kernel_launch(t, i))
			continue;
		if (outer != SIZE_MAX && t->calls.thread[outer] == t->calls.thread[i] && start < t->calls.end[outer]) {
			*lost -= counted && has_op[i];
			counted = counted && !has_op[i];
			continue;
		}
		outer = i;
		counted = false;
		run_host_window(run, process, &from, &to);
		bool capturing = start >= c->start && (c->end < c->start || start < c->end);
		if (start < from || start >= to || capturing || start > c->last)
			continue;
		counted = !has_op[i];
		*lost += counted;
		++*all;
	}
}

static const char *lost_kernels(const struct run *run, const char *file, struct arena *arena)
{
	const struct trace *t = run->trace;
	struct arena work = {0};
	size_t lost = 0, all = 0;
	bool *has_op = ARENA_NEW(&work, t->calls.n, bool);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE)
			has_op[t->ops.launch[i]] = true;
	count_lost(run, has_op, find_captured(t, has_op, &work), &lost, &all);
	arena_release(&work);
	if ((double)lost <= LOST * (double)all)
		return NULL;
	return arena_format(arena,
	                    "%zu of %zu kernel launches in %s have no kernel: kernels were lost, so its times prove "
	                    "nothing.",
	                    lost, all, file);
}

/* ---- numbered steps that jump ---- */

/* The last number of a range's name, which `pattern` has as '#'; -1: there is none. */
static int64_t number_of(const char *name, const char *pattern)
{
	int64_t number = -1;
	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (*name++ != *pattern)
				return -1;
			continue;
		}
		name += *name == '#';
		if (*name < '0' || *name > '9')
			return -1;
		for (number = 0; *name >= '0' && *name <= '9'; name++)
			number = number < INT64_MAX / 16 ? 10 * number + (*name - '0') : number;
	}
	return number;
}

/* From one numbered range of a thread to the next. */
struct numbered {
	int64_t from, to;
	double time; /* from start to start */
};

static struct numbered *find_numbered(const struct run *run, size_t *n, struct arena *arena)
{
	const struct trace *t = run->trace;
	const struct trace_ranges *r = &t->ranges;
	const char *pattern = names_text(t->names, run->steps.name);
	struct numbered *list = ARENA_NEW(arena, r->n, struct numbered);
	size_t last = SIZE_MAX;
	int64_t before = -1;
	for (size_t i = 0; i < r->n; i++) {
		if (r->name[i] >= run->fold.n || run->fold.of[r->name[i]] != run->steps.name ||
		    r->domain[i] != run->steps.domain || !steps_on_thread(&run->steps, r->thread[i]))
			continue;
		int64_t number = number_of(names_text(t->names, r->name[i]), pattern);
		bool follows = last != SIZE_MAX && r->thread[last] == r->thread[i] && before >= 0 && number > before;
		if (follows && r->start[i] > run->window_start && r->start[last] < run->window_end)
			list[(*n)++] = (struct numbered){before, number, (double)(r->start[i] - r->start[last])};
		last = i;
		before = number;
	}
	return list;
}

static const char *jumping_numbers(const struct run *run, const char *file, struct arena *arena)
{
	struct arena work = {0};
	size_t n = 0, usual = 0, jumps = 0;
	if (!run->steps.found || run->steps.by_op || !strchr(names_text(run->trace->names, run->steps.name), '#'))
		return NULL;
	const struct numbered *list = find_numbered(run, &n, &work), *first = NULL;
	double *value = ARENA_NEW(&work, n, double);
	for (size_t i = 0; i < n; i++)
		value[i] = (double)(list[i].to - list[i].from);
	sort_doubles(value, n);
	int64_t by = n ? (int64_t)value[n / 2] : 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].to - list[i].from == by)
			value[usual++] = list[i].time;
	sort_doubles(value, usual);
	for (size_t i = 0; i < n && 2 * usual >= n; i++)
		if (list[i].to - list[i].from > by && list[i].time > LONGER * value[usual / 2]) {
			first = first ? first : &list[i];
			jumps++;
		}
	const char *text =
		jumps ? arena_format(arena,
	                             "The step numbers of %s jump %zu time%s, first from %lld to %lld: parts were not "
	                             "recorded, so its times prove nothing.",
	                             file, jumps, jumps == 1 ? "" : "s", (long long)first->from, (long long)first->to)
		      : NULL;
	arena_release(&work);
	return text;
}

/* ---- repeats that are ranks ---- */

struct meeting {
	int64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	int64_t x = ((const struct meeting *)a)->start, y = ((const struct meeting *)b)->start;
	return (x > y) - (x < y);
}

/* When the communication kernels of a run ran, on the wall clock. */
static struct meeting *find_meetings(const struct trace *t, size_t *n, struct arena *arena)
{
	struct meeting *list = ARENA_NEW(arena, t->ops.n, struct meeting);
	for (size_t i = 0; i < t->ops.n && t->source.started != TRACE_NO_TIME; i++)
		if (t->ops.kind[i] == OP_COMM)
			list[(*n)++] = (struct meeting){t->source.started + t->ops.start[i],
			                                t->source.started + t->ops.end[i]};
	if (*n)
		qsort(list, *n, sizeof *list, by_start);
	return list;
}

static bool they_meet(const struct trace *a, const struct trace *b)
{
	struct arena work = {0};
	size_t n = 0, m = 0, met = 0, k = 0;
	const struct meeting *x = find_meetings(a, &n, &work), *y = find_meetings(b, &m, &work);
	for (size_t i = 0; i < n; i++) {
		while (k < m && y[k].end <= x[i].start)
			k++;
		met += k < m && y[k].start < x[i].end;
	}
	arena_release(&work);
	return n > 0 && (double)met >= MEETING * (double)n;
}

static const char *ranks_as_repeats(const struct run *runs, const char *const *files, size_t n, struct arena *arena)
{
	for (size_t r = 1; r < n; r++)
		for (size_t q = 0; q < r; q++)
			if (!runs[q].trace->again && !runs[r].trace->again && they_meet(runs[q].trace, runs[r].trace))
				return arena_format(arena,
				                    "The collectives of %s and %s overlap in time: they are ranks of "
				                    "one run, and no repeats. Use --files-are ranks.",
				                    files[q], files[r]);
	return NULL;
}

/* ---- another process on the GPU ---- */

static bool has_steps(const struct run *run, uint32_t device)
{
	return run->steps.first_of && run->steps.first_of[run->trace->devices[device].process];
}

/* Device d of the run is of a process without steps, on a GPU where another one makes them. */
static bool is_tenant(const struct run *run, uint32_t d)
{
	const struct device_run *device = &run->devices[d];
	double busy = (double)(device->compute + device->comm + device->copy);
	if (has_steps(run, device->device) || busy <= TENANT * (double)(run->window_end - run->window_start))
		return false;
	for (uint32_t k = 0; k < run->n_devices; k++)
		if (has_steps(run, run->devices[k].device) && run_gpu(run, d) != TRACE_NONE &&
		    run_gpu(run, k) == run_gpu(run, d))
			return true;
	return false;
}

static const char *tenant_of(const struct run *runs, const char *const *files, size_t n)
{
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].n_devices; d++)
			if (is_tenant(&runs[r], d))
				return files[r];
	return NULL;
}

static const char *tenant_on_one_side(const struct run *const runs[2], const char *const *const files[2],
                                      const size_t n[2], struct arena *arena)
{
	const char *file[2] = {tenant_of(runs[0], files[0], n[0]), tenant_of(runs[1], files[1], n[1])};
	if (!file[0] == !file[1] || !n[1])
		return NULL;
	int s = file[1] != NULL;
	return arena_format(arena,
	                    "Another process used the GPU of %s, in %s, and none that of %s: their times cannot be "
	                    "compared.",
	                    SIDE[s], file[s], SIDE[1 - s]);
}

const char *possible_recording(const struct run *const runs[2], const char *const *const files[2], const size_t n[2],
                               struct arena *arena)
{
	const char *why = NULL;
	for (int s = 0; s < 2; s++) {
		for (size_t r = 0; r < n[s] && !why; r++) {
			if (runs[s][r].trace->again)
				continue;
			why = lost_kernels(&runs[s][r], files[s][r], arena);
			if (!why)
				why = jumping_numbers(&runs[s][r], files[s][r], arena);
		}
		if (!why)
			why = ranks_as_repeats(runs[s], files[s], n[s], arena);
	}
	return why ? why : tenant_on_one_side(runs, files, n, arena);
}

/* ---- timed runs ---- */

const char *possible_stopwatch(const struct side side[2], const struct stopwatch_side timed[2], struct arena *arena)
{
	for (int s = 0; s < 2; s++) {
		double step = 0,
		       recording = PER_NODE * side[s].recording.graph_nodes + PER_LAUNCH * side[s].counts.launches;
		double least = FASTER_ALONE * (side[s].busy - recording);
		for (size_t r = 0; r < timed[s].n_runs; r++) {
			if (!timed[s].runs[r].steps)
				return NULL;
			step += timed[s].runs[r].step / (double)timed[s].n_runs;
		}
		if (timed[s].n_runs && side[s].steps.found && step < least)
			return arena_format(
				arena,
				"Timed runs of %s took %s ms per step, less than its kernels need (%s ms recorded): "
				"that cannot be, so they prove nothing.",
				SIDE[s], say_digits(arena, step / 1e6), say_digits(arena, side[s].busy / 1e6));
	}
	return NULL;
}
