#include "side/side_rows.h"

#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/classify.h"

#include <math.h>
#include <string.h>

static const double LONGER = 1.5; /* where numbers jump, from one step's start to the next, in usual ones */

/* ---- launches without their operations ---- */

/* Of a process: when it captured graphs, whose launches run later or never, and what is there of its operations. */
struct captured {
	int64_t start, end, last; /* last: the latest launch whose kernel is there; INT64_MIN: none is */
	bool copies;
};

/* What a call's name says. */
enum { NAME_LAUNCHES = 1, NAME_BEGINS_CAPTURE = 2, NAME_ENDS_CAPTURE = 4, NAME_COPIES = 8, NAME_ASKED = 16 };

static uint8_t ask_name(const char *name)
{
	return (uint8_t)((strstr(name, "Kernel") && !strstr(name, "Graph") ? NAME_LAUNCHES : 0) |
	                 (strstr(name, "StreamBeginCapture") ? NAME_BEGINS_CAPTURE : 0) |
	                 (strstr(name, "StreamEndCapture") ? NAME_ENDS_CAPTURE : 0) |
	                 (strstr(name, "Memcpy") ? NAME_COPIES : 0));
}

/* … and fills `said`, by name of a call. Hardly a program captures. */
static struct captured *find_captured(const struct trace *t, uint8_t *said, struct arena *arena)
{
	struct captured *by_process = ARENA_NEW(arena, t->n_processes, struct captured);
	for (uint32_t p = 0; p < t->n_processes; p++)
		by_process[p] = (struct captured){INT64_MAX, INT64_MIN, INT64_MIN, false};
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.kind[i] == OP_COPY)
			by_process[t->devices[t->ops.device[i]].process].copies = true;
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		int64_t *last = &by_process[t->threads[thread].process].last;
		uint32_t end = t->first_call[thread + 1];
		while (end > t->first_call[thread] && !t->calls.queues[end - 1])
			end--;
		if (end > t->first_call[thread] && t->calls.start[end - 1] > *last)
			*last = t->calls.start[end - 1];
	}
	uint8_t any = 0;
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t name = t->calls.name[i];
		if (!said[name])
			any |= said[name] = NAME_ASKED | ask_name(names_text(t->names, name));
	}
	for (size_t i = 0; i < t->calls.n && any & (NAME_BEGINS_CAPTURE | NAME_ENDS_CAPTURE); i++) {
		uint8_t name = said[t->calls.name[i]];
		if (!(name & (NAME_BEGINS_CAPTURE | NAME_ENDS_CAPTURE)))
			continue;
		struct captured *c = &by_process[t->threads[t->calls.thread[i]].process];
		if (name & NAME_BEGINS_CAPTURE && t->calls.start[i] < c->start)
			c->start = t->calls.start[i];
		if (name & NAME_ENDS_CAPTURE && t->calls.end[i] > c->end)
			c->end = t->calls.end[i];
	}
	return by_process;
}

/* Launches nest (a runtime call in which the driver's lies): the outer one counts, and has the inner one's kernel. A
 * copy may well have nothing to copy, but all of a process hardly. */
static void count_lost(const struct run *run, const uint8_t *said, const struct captured *captured,
                       struct run_holes *holes)
{
	const struct trace *t = run->trace;
	const uint8_t *class = t->calls.class, *queues = t->calls.queues;
	size_t outer = SIZE_MAX, lost = 0, launches = 0;
	bool counted = false;
	uint32_t thread = TRACE_NONE;
	const struct captured *c = NULL; /* its process's … */
	struct host_window host = {0};   /* … and its part of the window */
	for (size_t i = 0; i < t->calls.n; i++) {
		int64_t start = t->calls.start[i];
		if (class[i] != CALL_LAUNCH && class[i] != CALL_COPY)
			continue;
		if (!c || t->calls.thread[i] != thread) {
			thread = t->calls.thread[i];
			c = &captured[t->threads[thread].process];
			host = run_host(run, t->threads[thread].process);
		}
		if (!(said[t->calls.name[i]] & (c->copies ? NAME_LAUNCHES : NAME_LAUNCHES | NAME_COPIES)))
			continue;
		if (outer != SIZE_MAX && t->calls.thread[outer] == t->calls.thread[i] && start < t->calls.end[outer]) {
			lost -= counted && queues[i];
			counted = counted && !queues[i];
			continue;
		}
		outer = i;
		counted = false;
		bool capturing = start >= c->start && (c->end < c->start || start < c->end);
		if (!host_window_has(&host, start) || capturing || start > c->last)
			continue;
		counted = !queues[i];
		lost += counted;
		launches++;
	}
	holes->lost += lost;
	holes->launches += launches;
}

static void add_launches(const struct run *part, struct run_holes *holes)
{
	const struct trace *t = part->trace;
	ARENA_LOCAL(work);
	uint8_t *said = ARENA_NEW(&work, t->names->n, uint8_t);
	const struct captured *captured = find_captured(t, said, &work);
	count_lost(part, said, captured, holes);
}

/* What was queued before recording began runs before the first step, and no number rests on its launch. */
static void count_unlaunched(const struct run *part, struct run *run)
{
	const struct trace *t = part->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		int64_t start = t->ops.start[i];
		if (start < part->window.start || start >= part->window.end || run_pauses(part, start))
			continue;
		run->rows.unlaunched_measured += t->ops.launch[i] == TRACE_NONE && !(t->ops.flags[i] & OPF_MANAGED);
		run->rows.nodes_measured += (t->ops.flags[i] & OPF_GRAPH_NODE) != 0;
		run->rows.n_measured++;
	}
}

/* ---- numbered steps that jump ---- */

enum { NUMBERS = 8 }; /* of a name; what follows is not looked at */

/* The numbers of a range's name, where `pattern` has a '#'; returns how many. */
static int numbers_of(const char *name, const char *pattern, int64_t number[NUMBERS])
{
	int n = 0;
	for (; *pattern && n < NUMBERS; pattern++) {
		if (*pattern != '#') {
			if (*name++ != *pattern)
				return 0;
			continue;
		}
		name += *name == '#';
		if (*name < '0' || *name > '9')
			return 0;
		for (number[n] = 0; *name >= '0' && *name <= '9'; name++)
			number[n] = number[n] < INT64_MAX / 16 ? 10 * number[n] + (*name - '0') : number[n];
		n++;
	}
	return n;
}

/* From one step's name to the next its last number that is another one goes on: the 7 of "epoch 2 step 7/100". */
static void add_numbered(const struct run *run, struct holes *holes)
{
	const struct trace *t = run->trace;
	const struct trace_ranges *r = &t->ranges;
	const char *pattern = names_text(t->names, run->steps.name);
	size_t last = SIZE_MAX;
	int64_t of[2][NUMBERS];
	int n = 0, now = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (r->name[i] >= run->fold.n || run->fold.of[r->name[i]] != run->steps.name ||
		    r->domain[i] != run->steps.domain || !steps_on_thread(&run->steps, r->thread[i]))
			continue;
		now = !now;
		int known = numbers_of(names_text(t->names, r->name[i]), pattern, of[now]), at = known - 1;
		while (n == known && at > 0 && of[now][at] == of[!now][at])
			at--;
		bool follows = last != SIZE_MAX && r->thread[last] == r->thread[i] && n == known && known &&
		               of[now][at] > of[!now][at];
		if (follows && r->start[i] > run->window.start && r->start[last] < run->window.end) {
			struct numbered step = {of[!now][at], of[now][at], (double)(r->start[i] - r->start[last])};
			LIST_ADD(holes->work, holes->list, holes->n, holes->room, step);
		}
		last = i;
		n = known;
	}
}

/* ---- steps of which nothing was recorded ---- */

static const double BACK_TO_BACK = 0.1; /* of a step: the usual way from one range's end to the next one's start … */
static const double WHOLE = 0.05;     /* … and what else is between two ranges, of so many whole steps within this */
static const double MOST_WHOLE = 0.8; /* of the silent stretches between steps that are that long */
enum { LEAST_WHOLE = 3 };             /* such stretches: fewer are chance, or a pause */

/* Whether a thread began anything between two instants; `first`: by thread, its first row. */
static bool begins_between(const int64_t *start, const uint32_t *first, uint32_t n_threads, int64_t from, int64_t to)
{
	for (uint32_t t = 0; t < n_threads; t++) {
		uint32_t n = first[t + 1] - first[t];
		size_t at = n ? search_after(start + first[t], n, 0, from) : 0;
		if (at < n && start[first[t] + at] < to)
			return true;
	}
	return false;
}

/* Whether the profile has no row that begins between two instants; of what the GPU still had to do, in their middle. */
static bool is_silent(const struct trace *t, int64_t from, int64_t to)
{
	int64_t late = from + (to - from) / 2;
	if ((t->calls.n && begins_between(t->calls.start, t->first_call, t->n_threads, from, to)) ||
	    (t->ranges.n && begins_between(t->ranges.start, t->first_range, t->n_threads, from, to)) ||
	    (t->os_calls.n && begins_between(t->os_calls.start, t->first_os_call, t->n_threads, from, to)))
		return false;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		const int64_t *start = t->ops.start + t->devices[d].first_op;
		size_t at = search_after(start, t->devices[d].n_ops, 0, late);
		if (at < t->devices[d].n_ops && start[at] < to)
			return false;
	}
	return true;
}

/* Where steps follow each other at once and now and then nothing at all was recorded for just as long as whole steps
 * take, they were lost. */
static void add_silent(const struct trace *t, const struct step_thread *thread, struct holes *holes,
                       struct run_holes *out)
{
	if (thread->overlap || thread->n < 2 * LEAST_WHOLE)
		return;
	uint32_t n = thread->n - 1;
	size_t silent = 0, whole = 0;
	ARENA_LOCAL(scratch);
	double *value = ARENA_TAKE(&scratch, n, double);
	for (uint32_t i = 0; i < n; i++)
		value[i] = (double)(thread->start[i + 1] - thread->end[i]);
	sort_doubles(value, n);
	double between = value[n / 2];
	for (uint32_t i = 0; i < n; i++)
		value[i] = (double)(thread->start[i + 1] - thread->start[i]);
	sort_doubles(value, n);
	double usual = value[n / 2];
	if (between > BACK_TO_BACK * usual)
		return;
	for (uint32_t i = 0; i < n; i++) {
		double steps = ((double)(thread->start[i + 1] - thread->end[i]) - between) / usual;
		/* of the last one of several some rows may be there */
		int64_t part = steps < 2 - WHOLE ? 0 : (int64_t)usual;
		if (steps < 1 - WHOLE || !is_silent(t, thread->end[i], thread->start[i + 1] - part))
			continue;
		silent++;
		if (fabs(steps - round(steps)) > WHOLE)
			continue;
		whole++;
		LIST_ADD(holes->work, holes->silent, holes->n_silent, holes->silent_room, thread->step[i]);
	}
	if (whole >= LEAST_WHOLE && (double)whole >= MOST_WHOLE * (double)silent)
		out->jumps += whole;
}

/* ---- steps that hold several, or nothing ---- */

static const double USUAL = 0.5;             /* of the steps: more hold the same kernels */
static const double AS_LONG = 0.9;           /* of the usual range's length: a step that does nothing is shorter */
enum { LEAST_KERNELS = 3, COUNT_BITS = 20 }; /* LEAST_KERNELS: of a step: fewer say little of it */

static bool is_marked(const struct run *run)
{
	return run->steps.found && !run->steps.by_op && steps_by_ranges(run->steps.origin);
}

/* A number for a name, with a one in its lowest bits, so that they count. */
static uint64_t number_for(uint64_t name)
{
	return name * (name * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xbf58476d1ce4e5b9)) << COUNT_BITS | 1;
}

static void add_kernels(const struct run *run, const struct run *part, struct holes *holes)
{
	const struct trace_ops *ops = &part->trace->ops;
	if (!holes->sum) {
		holes->sum = ARENA_NEW(holes->work, run->steps.n, uint64_t);
		holes->others = ARENA_NEW(holes->work, run->steps.n, uint32_t);
		holes->optimizers = ARENA_NEW(holes->work, run->steps.n, uint32_t);
	}
	const uint32_t *launched = part->steps.op_step;
	uint64_t *sum = holes->sum, number = 0;
	uint32_t name = 0, step = 0;
	for (size_t i = 0; i < ops->n; i++) {
		step = steps_of_op(&run->steps, launched[i], ops->end[i], step);
		if (launched[i] == TRACE_NONE && (step == 0 || step == run->steps.n)) /* outside */
			continue;
		if (ops->kind[i] != OP_KERNEL) {
			holes->others[step]++;
			continue;
		}
		if (!number || ops->name[i] != name)
			number = number_for(name = ops->name[i]);
		sum[step] += number;
	}
}

/* Steps without operations that launch some: those were captured in a graph, or lost, which is counted elsewhere. */
static void add_launching(const struct run *part, struct holes *holes)
{
	const struct trace *t = part->trace;
	for (uint32_t k = 0; k < part->steps.n_threads; k++) {
		const struct step_thread *own = &part->steps.threads[k];
		for (uint32_t i = 0; i < own->n; i++) {
			uint32_t step = own->step[i];
			if (step == TRACE_NONE || holes->sum[step] || holes->others[step])
				continue;
			uint32_t begin = t->first_call[own->thread], n = t->first_call[own->thread + 1] - begin;
			uint32_t c =
				n ? begin + (uint32_t)search_after(t->calls.start + begin, n, 0, own->start[i] - 1) : 0;
			for (; c < begin + n && t->calls.start[c] < own->end[i] && !holes->others[step]; c++)
				holes->others[step] = t->calls.class[c] == CALL_LAUNCH;
		}
	}
}

/* Where gapline marked steps, it marked each optimizer's as well. */
static void add_optimizers(const struct run *part, struct holes *holes)
{
	const struct trace *t = part->trace;
	if (strcmp(names_text(t->names, part->steps.name), STEP_ADDED) != 0)
		return;
	for (size_t i = 0; i < t->ranges.n; i++) {
		const uint32_t process = t->threads[t->ranges.thread[i]].process;
		if (strcmp(names_text(t->names, t->ranges.name[i]), OPTIMIZER_ADDED) != 0)
			continue;
		const struct step_thread *own = steps_of_process(&part->steps, process);
		const uint32_t at = own ? steps_open_at(own, t->ranges.start[i]) : TRACE_NONE;
		if (at != TRACE_NONE && own->step[at] != TRACE_NONE)
			holes->optimizers[own->step[at]]++;
	}
}

static uint64_t count_of(uint64_t sum)
{
	return sum & ((UINT64_C(1) << COUNT_BITS) - 1);
}

/* The usual length of a step's range, and in `length` that of each; 0: it has none. `ranges`: how many it has. */
static double find_lengths(const struct run *run, double *length, uint32_t *ranges, struct arena *arena)
{
	const struct steps *s = &run->steps;
	double *value = ARENA_NEW(arena, s->n, double);
	for (uint32_t k = 0; k < s->n_threads; k++)
		for (uint32_t i = 0; i < s->threads[k].n; i++) {
			const uint32_t step = s->threads[k].step[i];
			if (step == TRACE_NONE)
				continue;
			length[step] = (double)(s->threads[k].end[i] - s->threads[k].start[i]);
			ranges[step]++;
		}
	memcpy(value, length, s->n * sizeof *value);
	sort_doubles(value, s->n);
	return s->n ? value[s->n / 2] : 0;
}

/* Whether ranges of several threads, each a step, overlap: a period from one's end to the next one's may hold two. */
static bool overlap(const struct run *run, struct arena *arena)
{
	const struct steps *s = &run->steps;
	int64_t *end = ARENA_NEW(arena, s->n + 1, int64_t);
	for (uint32_t k = 0; k < s->n_threads; k++)
		for (uint32_t i = 0; i < s->threads[k].n; i++)
			if (s->threads[k].step[i] != TRACE_NONE)
				end[s->threads[k].step[i] + 1] = s->threads[k].end[i];
	for (uint32_t k = 0; k < s->n_threads; k++)
		for (uint32_t i = 0; i < s->threads[k].n; i++)
			if (s->threads[k].step[i] != TRACE_NONE && s->threads[k].start[i] < end[s->threads[k].step[i]])
				return true;
	return false;
}

/* What was lost begins and ends amid steps: the one before lacks kernels, or some have no step and count for the next.
 */
static bool is_cut(const struct holes *holes, uint32_t before, uint32_t n, uint64_t each)
{
	return before < n &&
	       (count_of(holes->sum[before]) < each || (before + 1 < n && count_of(holes->sum[before + 1]) > each));
}

/* Whether a step with k times the kernels is one: in which k times as many optimizers stepped, of models that are
 * trained one after another, or which copies no more than the others, and calculates more. */
static bool is_one(const struct holes *holes, uint32_t step, uint32_t usual, uint64_t times)
{
	const uint32_t optimizers = holes->optimizers[usual], others = holes->others[usual];
	return times && ((optimizers && holes->optimizers[step] >= times * optimizers) ||
	                 (others && holes->others[step] <= others));
}

/* Steps that hold k times the kernels of most others, k > 1, or none though they took as long. Where a long op of the
 * first step outlives the next one's, both are one, and their marks are there. */
static void find_several(const struct holes *holes, struct run *run)
{
	uint32_t n = run->steps.n, usual = 0, same = 0;
	int64_t votes = 0;
	for (uint32_t i = 0; i < n; i++) {
		usual = votes ? usual : i;
		votes += holes->sum[i] == holes->sum[usual] ? 1 : -1;
	}
	for (uint32_t i = 0; i < n; i++)
		same += holes->sum[i] == holes->sum[usual];
	const uint64_t each = n ? count_of(holes->sum[usual]) : 0;
	if (each < LEAST_KERNELS || same <= USUAL * n || overlap(run, holes->work))
		return;
	struct run_holes *out = &run->rows.holes;
	for (size_t i = 0; i < holes->n_silent && !out->jumps; i++)
		out->jumps += is_cut(holes, holes->silent[i], n, each);
	double *length = ARENA_NEW(holes->work, n, double);
	uint32_t *ranges = ARENA_NEW(holes->work, n, uint32_t);
	const double as_long = AS_LONG * find_lengths(run, length, ranges, holes->work);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t times = count_of(holes->sum[i]) / each;
		bool nothing = !holes->sum[i] && !holes->others[i] && length[i] >= as_long;
		if ((times < 2 && !nothing) || holes->sum[i] != times * holes->sum[usual])
			continue;
		if (ranges[i] > ranges[usual] || is_one(holes, i, usual, times) || out->several++)
			continue;
		out->step = i + 1;
		out->times = (int64_t)times;
	}
}

static bool is_numbered(const struct run *run)
{
	return run->steps.found && !run->steps.by_op && strchr(names_text(run->trace->names, run->steps.name), '#');
}

void holes_add(struct holes *holes, struct run *run, const struct run *part)
{
	add_launches(part, &run->rows.holes);
	count_unlaunched(part, run);
	if (is_numbered(part))
		add_numbered(part, holes);
	for (uint32_t k = 0; k < part->steps.n_threads && is_marked(part) && !is_numbered(part); k++)
		add_silent(part->trace, &part->steps.threads[k], holes, &run->rows.holes);
	if (!is_marked(run))
		return;
	add_kernels(run, part, holes);
	add_launching(part, holes);
	add_optimizers(part, holes);
}

void holes_end(struct holes *holes, struct run *run)
{
	const struct numbered *list = holes->list;
	size_t n = holes->n, usual = 0;
	double *value = ARENA_NEW(holes->work, n, double);
	for (size_t i = 0; i < n; i++)
		value[i] = (double)(list[i].to - list[i].from);
	sort_doubles(value, n);
	int64_t by = n ? (int64_t)value[n / 2] : 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].to - list[i].from == by)
			value[usual++] = list[i].time;
	sort_doubles(value, usual);
	for (size_t i = 0; i < n && 2 * usual >= n; i++)
		if (list[i].to - list[i].from > by && list[i].time > LONGER * value[usual / 2] &&
		    !run->rows.holes.jumps++) {
			run->rows.holes.from = list[i].from;
			run->rows.holes.to = list[i].to;
		}
	if (holes->sum)
		find_several(holes, run);
}
