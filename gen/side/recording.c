/* What recording itself costs: a profiler that notes every CUDA call, and every range, holds the thread up each time.
 * That makes a step longer only where the GPU waits for that thread. What a call pays is not in the capture, and
 * differs between machines by more than ten times; what bounds it is. It is not below nothing, and what a launch pays,
 * inside the call or after it, is over when its thread makes the next call. Besides, recording makes kernels longer,
 * some by a tenth and most by nothing: of work that both sides do that cancels, so it is allowed for as far as their
 * work differs. */
#include "side/recording.h"

#include "base/list.h"
#include "base/search.h"
#include "run/instants.h"
#include "say/say.h"
#include "side/side_facts.h"

#include <math.h>
#include <string.h>

/* What a recorded call takes beyond an unrecorded one, at least. Measured with the programs in workloads/ on an H200's
 * host, with and without CUPTI's activity records of calls and kernels: 0.8 to 0.85 µs a call for launches, for
 * allocations and for loading modules; with nsys 0.9 to 1.1 µs. */
static const double NS_A_CALL = 800;
static const double WORTH_SAYING = 0.01; /* of a step */

/* A trace, and the name of a call that the runtime of CUDA 13 makes at every launch that is watched: nsys records it,
 * as part of the launch. */
struct watched {
	const struct trace *t;
	uint32_t name; /* TRACE_NONE: no call has it */
};

static struct watched watched_of(const struct trace *t)
{
	for (uint32_t name = 1; name < t->names->n; name++)
		if (strcmp(names_text(t->names, name), "cuKernelGetName") == 0)
			return (struct watched){t, name};
	return (struct watched){t, TRACE_NONE};
}

static bool is_the_profilers(const struct watched *w, uint32_t call)
{
	return w->t->calls.name[call] == w->name;
}

const double recording_price[RECORDING_PRICES] = {0,    400,  800,  1200,  1600,  2200,  3000,
                                                  4000, 5500, 7500, 10000, 13000, 16500, 20000};

/* What a launching thread did since it last waited for the GPU: a launch that comes late is late by the price of all of
 * it, as far as no earlier gap is. */
struct chain {
	uint32_t next;                 /* calls before this one are counted */
	double left[RECORDING_PRICES]; /* what they took and no gap shows yet: the GPU still had work */
};

/* Ranges of a thread that begin in [from, to], none where that is before it begins; none either where calls know what
 * was noted before them. */
static int64_t count_ranges(const struct trace *t, uint32_t thread, int64_t from, int64_t to)
{
	uint32_t begin = t->first_range[thread], n = t->first_range[thread + 1] - begin;
	if (n == 0 || to < from || t->calls.noted) /* and perhaps no column of any */
		return 0;
	const int64_t *start = t->ranges.start + begin;
	return (int64_t)search_after(start, n, 0, to) - search_after(start, n, 0, from - 1);
}

/* Calls of a thread, and what they may have paid at each price: each no more than the time to the next one. */
struct paid {
	uint32_t calls;
	double ns[RECORDING_PRICES];
};

/* Calls [first, launch] of a thread, and its ranges and operators, that a gap waited for. */
struct late {
	uint32_t thread, first, launch;
	struct paid paid;
	int64_t ranges; /* operators among them */
};

/* The next call of the thread that is not a part of this one; `end`: there is none. */
static uint32_t find_next(const struct watched *w, uint32_t call, uint32_t end)
{
	const struct trace *t = w->t;
	uint32_t next = call + 1;
	while (next < end && (t->calls.start[next] < t->calls.end[call] || is_the_profilers(w, next)))
		next++;
	return next;
}

/* Calls [from, to) of a thread that has none from `end` on. */
static struct paid count_paid(const struct watched *w, uint32_t from, uint32_t to, uint32_t end)
{
	struct paid out = {0};
	for (uint32_t i = from; i < to; i++) {
		if (is_the_profilers(w, i))
			continue;
		const uint32_t next = find_next(w, i, end);
		const double most = next < end ? (double)(w->t->calls.start[next] - w->t->calls.start[i]) : INFINITY;
		out.calls++;
		for (int p = 0; p < RECORDING_PRICES; p++) /* fmin() would be a call */
			out.ns[p] += recording_price[p] < most ? recording_price[p] : most;
	}
	return out;
}

int64_t recording_noted(const struct trace *t, uint32_t from, uint32_t to)
{
	int64_t n = 0;
	for (uint32_t i = from; i <= to && t->calls.noted; i++)
		n += t->calls.noted[i];
	return n;
}

/* What the thread did that the gap waited for, from the call that was open when it began to the launch that ended it.
 * An op that came late shows what its thread did a launch latency earlier (docs/method/analysis.md, Causes). False: the
 * gap waited for no thread. */
static bool find_late(const struct watched *w, const struct gap *gap, int64_t limit, struct late *late)
{
	const struct trace *t = w->t;
	if (gap->next == TRACE_NONE || t->ops.launch[gap->next] == TRACE_NONE)
		return false;
	uint32_t launch = t->ops.launch[gap->next], thread = t->calls.thread[launch];
	int64_t latency = gap->end - t->calls.end[launch], from = gap->start;
	if (latency > 0 && latency <= limit)
		from -= latency;
	if (t->calls.end[launch] <= from)
		return false; /* it was there already: the GPU waited for something else */
	uint32_t begin = t->first_call[thread], end = t->first_call[thread + 1];
	const int64_t *start = t->calls.start + begin;
	uint32_t i = begin + search_after(start, end - begin, launch - begin, from - 1), last = launch;
	if (i > launch) /* which is open, and calls inside it began before the gap, too */
		i = launch;
	if (i > begin && t->calls.end[i - 1] > from)
		i--;
	if (i > begin && t->calls.end[i - 1] < from) /* what began before the gap delays its end, too */
		from = t->calls.end[i - 1];
	while (last < end && t->calls.start[last] <= t->calls.start[launch])
		last++;
	*late = (struct late){thread, i, launch, count_paid(w, i, last, end),
	                      count_ranges(t, thread, from, t->calls.start[launch]) + recording_noted(t, i, launch)};
	return true;
}

/* The calls and ranges that came before those that the gap waited for, since their thread last waited for the GPU: it
 * is ahead by less for each of them. Not those of gaps before; `on` says whether it has not waited since such a gap. */
static struct paid count_before(const struct watched *w, const struct late *late, uint32_t counted, double *ranges,
                                bool *on)
{
	const struct trace *t = w->t;
	uint32_t first = late->first, begin = t->first_call[late->thread];
	uint32_t stop = counted > begin ? counted : begin;
	*on = false;
	*ranges = 0;
	if (t->calls.waits[first])
		return (struct paid){0};
	while (first > stop && !t->calls.waits[first - 1])
		first--;
	*on = counted && first <= counted;
	const struct paid out = count_paid(w, first, late->first, t->first_call[late->thread + 1]);
	if (out.calls)
		*ranges =
			(double)count_ranges(t, late->thread, t->calls.start[first], t->calls.start[late->first] - 1) +
			(double)recording_noted(t, first, late->first - 1);
	return out;
}

/* What a gap of `ns` shows of what recording took, at each price: at most all of it. */
static void add_gap(const struct watched *w, const struct late *late, double ns, struct chain *chain, double *took)
{
	bool on;
	double ranges;
	const struct paid before = count_before(w, late, chain->next, &ranges, &on);
	ranges += (double)late->ranges;
	for (int p = 0; p < RECORDING_PRICES; p++) {
		double all = before.ns[p] + late->paid.ns[p] + ranges * recording_price[p] + (on ? chain->left[p] : 0),
		       part = all < ns ? all : ns;
		took[p] += part;
		chain->left[p] = all - part;
	}
	chain->next = late->launch + 1;
}

/* What recording `calls` a step made it longer at a price of `ns` a call: not more than the GPU waited. */
static double recording_at(const struct budget *budget, double calls, double ns)
{
	return fmin(calls * ns, budget->period - budget_busy(budget));
}

/* Times by size, 16 classes for each power of two: an upper bound of a quantile is within 7 % of it. */
enum { CLASS_BITS = 4, CLASSES = 1 << CLASS_BITS, POWERS = 64 };
struct sizes {
	int64_t n[POWERS * CLASSES], all;
};

static void count_size(struct sizes *s, int64_t ns)
{
	if (ns <= 0)
		return;
	int power = 64 - __builtin_clzll((uint64_t)ns), shift = power - 1 - CLASS_BITS; /* 2^(power − 1) <= ns */
	uint64_t digits = shift >= 0 ? (uint64_t)ns >> shift : (uint64_t)ns << -shift;
	s->n[power * CLASSES + (int)(digits & (CLASSES - 1))]++;
	s->all++;
}

/* At most one in `of` is in a smaller class. 0: there is none. */
static double size_at(const struct sizes *s, int of)
{
	int64_t below = 0;
	for (int i = 0; i < POWERS * CLASSES; i++) {
		below += s->n[i];
		if (below * of > s->all)
			return ldexp(0.5 + (i % CLASSES + 1) / (2.0 * CLASSES), i / CLASSES);
	}
	return 0;
}

/* From the start of a launch to that of the next call of its thread that is not a part of it, for each of what the
 * profiler noted between them. `sizes`: of launches, and of graphs, which take longer the more nodes they have. A
 * launch into a graph that is captured queues nothing, and takes less than others. */
static void count_paces(const struct watched *w, struct sizes sizes[2])
{
	const struct trace *t = w->t;
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		for (uint32_t i = t->first_call[thread], end = t->first_call[thread + 1]; i < end; i++) {
			if (t->calls.class[i] != CALL_LAUNCH || !t->calls.queues[i] || is_the_profilers(w, i))
				continue;
			const uint32_t next = find_next(w, i, end);
			if (next < end)
				count_size(&sizes[t->calls.queues[i] == QUEUES_GRAPH],
				           (t->calls.start[next] - t->calls.start[i]) /
				                   (1 + recording_noted(t, i + 1, next)));
		}
}

struct recording {
	struct sizes sizes[2]; /* of launches, and of graphs */
	struct sizes arrivals; /* kernels whose launch found the GPU idle: from its start to theirs */
	int64_t arrived;       /* in the run at hand, of all devices */
	double arrivals_n;     /* a step */
	struct paces *paces;
	size_t n_runs;
	int64_t waited,
		waited_ranges; /* in the run at hand: calls that its GPUs waited for, of all devices, and ranges */
	double calls, ranges, graph_nodes;                    /* a step */
	double took[RECORDING_PRICES], all[RECORDING_PRICES]; /* in the run at hand; a step */
	struct arena *work;
};

struct recording *recording_begin(size_t n_runs, struct arena *work)
{
	struct recording *r = ARENA_NEW(work, 1, struct recording);
	r->n_runs = n_runs;
	r->paces = paces_begin(work);
	r->work = work;
	return r;
}

/* The op that ended a gap came when it was launched in it. */
static void add_arrival(struct recording *r, const struct trace *t, const struct gap *gap)
{
	const uint32_t op = gap->next, launch = op == TRACE_NONE ? TRACE_NONE : t->ops.launch[op];
	if (launch == TRACE_NONE || t->ops.kind[op] != OP_KERNEL || t->ops.flags[op] & OPF_GRAPH_NODE ||
	    t->calls.start[launch] < gap->start)
		return;
	count_size(&r->arrivals, gap->end - t->calls.start[launch]);
	r->arrived++;
}

void recording_add(struct recording *r, struct run *run, const struct run *part)
{
	const struct watched watched = watched_of(part->trace);
	count_paces(&watched, r->sizes);
	paces_add(r->paces, run, part, watched.name);
	for (uint32_t d = 0; d < part->charge->n_devices; d++) {
		const struct device_run *device = &part->charge->devices[d];
		ARENA_LOCAL(scratch);
		struct chain *chains = ARENA_NEW(&scratch, part->trace->n_threads, struct chain);
		struct late late;
		for (size_t i = 0; i < device->n_gaps; i++) {
			const struct gap gap = run_gap(part, device, i);
			if (gap.edge || gap.start < run->window.start || gap.start >= run->window.end ||
			    run_pauses(run, gap.start))
				continue;
			add_arrival(r, part->trace, &gap);
			if (!find_late(&watched, &gap, device->limit, &late))
				continue;
			r->waited += late.paid.calls;
			r->waited_ranges += late.ranges;
			add_gap(&watched, &late, (double)(gap.end - gap.start), &chains[late.thread], r->took);
		}
	}
}

void recording_end_run(struct recording *r, const struct run *run)
{
	double steps = (double)r->n_runs * run->window.n_steps * run->charge->n_devices;
	r->calls += run->charge->n_devices ? (double)r->waited / steps : 0;
	r->ranges += run->charge->n_devices ? (double)r->waited_ranges / steps : 0;
	r->graph_nodes += run->charge->n_devices ? (double)run->rows.nodes_measured / steps : 0;
	r->arrivals_n += run->charge->n_devices ? (double)r->arrived / steps : 0;
	for (int p = 0; p < RECORDING_PRICES; p++) {
		r->all[p] += run->charge->n_devices ? r->took[p] / steps : 0;
		r->took[p] = 0;
	}
	r->waited = r->waited_ranges = r->arrived = 0;
}

struct recording_cost recording_end(const struct recording *r, const struct budget *mean, struct arena *arena)
{
	const bool of_graphs = !r->sizes[0].all && r->sizes[1].all;
	struct recording_cost out = {.waited_calls = r->calls,
	                             .waited_ranges = r->ranges,
	                             .graph_nodes = r->graph_nodes,
	                             .launch_pace = size_at(&r->sizes[of_graphs], 100),
	                             .of_graphs = of_graphs,
	                             .arrivals = r->arrivals_n,
	                             .arrival = size_at(&r->arrivals, 2),
	                             .paces = paces_end(r->paces, arena),
	                             .added = recording_at(mean, r->calls, NS_A_CALL)};
	memcpy(out.took, r->all, sizeof out.took);
	return out;
}

double recording_ranges(const struct run *runs, size_t n)
{
	double sum = 0;
	for (size_t r = 0; r < n; r++)
		sum += (double)runs[r].trace->source.ranges_ns;
	return sum / (double)n;
}

const struct fact *recording_ranges_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                                         struct arena *arena)
{
	if (cost->ranges <= 0)
		return NULL;
	return FACT_NEW(arena, ranges_added, FACT_NO_SIDE, .time = cost->ranges,
	                .share = steps && mean->period > 0 ? cost->ranges / mean->period : NAN);
}

/* Share of a step that `n` rows of it make up. */
static double share_of(const struct budget *mean, double n, double ns)
{
	return mean->period > 0 ? recording_at(mean, n, ns) / mean->period : 0;
}

const struct fact *recording_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                                  struct arena *arena)
{
	double share = share_of(mean, cost->waited_calls, NS_A_CALL);
	if (share < WORTH_SAYING)
		return NULL;
	return FACT_NEW(arena, recording_costs, FACT_NO_SIDE, .call = NS_A_CALL, .calls = cost->waited_calls,
	                .steps = steps, .time = cost->added, .share = share);
}

/* ---- runs that a stopwatch timed ---- */

/* Launches a step may differ by this from those that the stopwatch counted, and steps are the same. */
#define SAME_STEP 0.05

/* Why a run does not measure what the side is measured by, a clause; NULL: it does. */
static const char *misfit(const struct run *run, bool steps, const struct trace_stopwatch *w)
{
	if (w->unused)
		return w->unused;
	if (!steps)
		return w->steps ? say_word(WORDS_misfit, "steps") : NULL;
	if (w->step && strcmp(w->step, instants_step(run)) != 0)
		return say_word(WORDS_misfit, "other_steps");
	if ((run->steps.origin == STEPS_BY_PATTERN) != (w->launches > 0))
		return say_word(WORDS_misfit, w->launches ? "launches" : "ranges");
	if (w->launches && instants_launches(run) <= 0)
		return say_word(WORDS_misfit, "launches_unknown");
	return NULL;
}

/* How many of the side's steps a run timed. Launches say it where they were counted: what is one step in one comparison
 * may be several in another. */
static double steps_of(const struct run *run, const struct trace_stopwatch *w)
{
	double a_step = w->launches ? instants_launches(run) : 0, steps = w->steps;
	if (a_step > 0 && fabs(w->launches / a_step / steps - 1) > SAME_STEP)
		steps = w->launches / a_step;
	return steps > 0 ? steps : 1;
}

struct stopwatch_side stopwatches_of(const struct run *runs, size_t n_runs, bool steps, struct arena *arena)
{
	struct stopwatch_side out = {0};
	struct stopwatch_run *list = NULL, *whole = NULL;
	size_t room = 0, whole_room = 0;
	for (size_t r = 0; r < n_runs; r++) {
		const struct trace *t = runs[r].trace;
		const struct exchange_place place = run_place(&runs[r], arena);
		for (uint32_t i = 0; i < t->n_stopwatch; i++) {
			const struct trace_stopwatch *w = &t->stopwatch[i];
			if (steps && !w->steps && !w->unused) {
				LIST_ADD(arena, whole, out.n_whole, whole_room,
				         (struct stopwatch_run){.step = (double)w->time,
				                                .start = w->start,
				                                .looked = w->looked,
				                                .place = place});
				continue;
			}
			const char *unused = misfit(&runs[r], steps, w);
			if (unused) {
				out.unused = out.n_unused++ ? out.unused : unused;
				continue;
			}
			double n = steps_of(&runs[r], w);
			LIST_ADD(arena, list, out.n_runs, room,
			         (struct stopwatch_run){.step = (double)w->time / n,
			                                .steps = w->steps ? llround(n) : 0,
			                                .start = w->start,
			                                .looked = w->looked,
			                                .energy = w->energy > 0 ? (double)w->energy / n / 1e3
			                                                        : (double)w->energy,
			                                .place = place});
		}
	}
	out.runs = list;
	out.whole = whole;
	return out;
}

/* Mean of a run's last periods; all of them where it has fewer, or where none was asked for. */
static double mean_of_last(const struct run_table *run, int64_t steps)
{
	size_t n = steps > 0 && (size_t)steps < run->n_periods ? (size_t)steps : run->n_periods;
	int64_t sum = 0;
	for (size_t i = run->n_periods - n; i < run->n_periods; i++)
		sum += run->period[i];
	return n ? (double)sum / (double)n : 0;
}

double stopwatches_recorded(const struct run_table *runs, size_t n, const struct stopwatch_side *timed)
{
	double sum = 0, mean = 0;
	for (size_t t = 0; t < timed->n_runs; t++) {
		if (!t || timed->runs[t].steps != timed->runs[t - 1].steps) {
			mean = 0;
			for (size_t r = 0; r < n; r++)
				mean += mean_of_last(&runs[r], timed->runs[t].steps) / (double)n;
		}
		sum += mean;
	}
	return timed->n_runs ? sum / (double)timed->n_runs : 0;
}
