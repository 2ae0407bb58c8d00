/* What recording itself costs: a profiler that notes every CUDA call, and every range, holds the thread up each time.
 * That makes a step longer only where the GPU waits for that thread. What a call pays is not in the capture, and
 * differs between machines by more than ten times; what bounds it is. It is not below nothing, and what a launch pays,
 * inside the call or after it, is over when its thread makes the next call. Besides, recording makes kernels longer,
 * some by a tenth and most by nothing: of work that both sides do that cancels, so it is allowed for as far as their
 * work differs. */
#include "analyse/side/recording.h"

#include "analyse/say.h"
#include "analyse/side/budgets.h"
#include "analyse/side/paces.h"
#include "base/search.h"

#include <math.h>
#include <string.h>

/* What a recorded call takes beyond an unrecorded one, at least. Measured with the programs in workloads/ on an H200's
 * host, with and without CUPTI's activity records of calls and kernels: 0.8 to 0.85 µs a call for launches, for
 * allocations and for loading modules; with nsys 0.9 to 1.1 µs. */
static const double NS_A_CALL = 800;
static const double MOST_NS_A_CALL = 20000; /* on other hosts programs paid up to 19 µs a launch */
/* What of a launch's pace is its own: 300 launches in a loop took 0.891 ms without a profiler (docs/capture.md), 3 µs
 * each. Only a quarter is taken off: with a third one known pair fewer lies within (docs/verdict.md). */
static const double NS_A_LAUNCH = 750;
/* Of the speedup, where one side keeps the GPU busy twice as long as the other: 2.5 % was seen, in examples/truth. */
static const double OF_GPU_WORK = 0.025;
static const double SHARED = 0.1;        /* of the launches: fewer do not tell how both sides were recorded */
static const double WORTH_SAYING = 0.01; /* of a step, or of the speedup */
static const double TURNS = 0.05;        /* of the speedup: from here on the headline says "while recorded" */

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

/* Ranges of a thread that begin in [from, to]. */
static int64_t count_ranges(const struct trace *t, uint32_t thread, int64_t from, int64_t to)
{
	uint32_t begin = t->first_range[thread], n = t->first_range[thread + 1] - begin;
	if (n == 0) /* and perhaps no column of any */
		return 0;
	const int64_t *start = t->ranges.start + begin;
	return (int64_t)search_after(start, n, 0, to) - search_after(start, n, 0, from - 1);
}

/* Calls [first, launch] of a thread, and its ranges, that a gap waited for. */
struct late {
	uint32_t thread, first, launch;
	uint32_t calls;
	int64_t ranges;
};

static uint32_t count_own(const struct watched *w, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t i = from; i < to; i++)
		n += !is_the_profilers(w, i);
	return n;
}

/* What the thread did that the gap waited for, from the call that was open when it began to the launch that ended it.
 * An op that came late shows what its thread did a launch latency earlier (docs/analysis.md, Causes). False: the gap
 * waited for no thread. */
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
	if (i > begin && t->calls.end[i - 1] > from)
		i--;
	if (i > begin && t->calls.end[i - 1] < from) /* what began before the gap delays its end, too */
		from = t->calls.end[i - 1];
	while (last < end && t->calls.start[last] <= t->calls.start[launch])
		last++;
	*late = (struct late){thread, i, launch, count_own(w, i, last),
	                      count_ranges(t, thread, from, t->calls.start[launch])};
	return true;
}

/* How many calls and ranges came before those that the gap waited for, since their thread last waited for the GPU: it
 * is ahead by less for each of them. Not those of gaps before; `on` says whether it has not waited since such a gap. */
static double count_before(const struct watched *w, const struct late *late, uint32_t counted, bool *on)
{
	const struct trace *t = w->t;
	uint32_t first = late->first, begin = t->first_call[late->thread];
	uint32_t stop = counted > begin ? counted : begin;
	*on = false;
	if (t->calls.waits[first])
		return 0;
	while (first > stop && !t->calls.waits[first - 1])
		first--;
	*on = counted && first <= counted;
	uint32_t n = count_own(w, first, late->first);
	return n ? n + (double)count_ranges(t, late->thread, t->calls.start[first], t->calls.start[late->first] - 1)
	         : 0;
}

/* What a gap of `ns` shows of what recording took, at each price: at most all of it. */
static void add_gap(const struct watched *w, const struct late *late, double ns, struct chain *chain, double *took)
{
	bool on;
	double n = count_before(w, late, chain->next, &on) + late->calls + (double)late->ranges;
	for (int p = 0; p < RECORDING_PRICES; p++) {
		double all = n * recording_price[p] + (on ? chain->left[p] : 0), part = fmin(all, ns);
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

/* At most one in a hundred is in a smaller class. */
static double hundredth(const struct sizes *s)
{
	int64_t below = 0;
	for (int i = 0; i < POWERS * CLASSES; i++) {
		below += s->n[i];
		if (below * 100 > s->all)
			return ldexp(0.5 + (i % CLASSES + 1) / (2.0 * CLASSES), i / CLASSES);
	}
	return 0;
}

/* From the start of a launch to that of the next call of its thread that is not a part of it. */
static void count_paces(const struct watched *w, struct sizes *sizes)
{
	const struct trace *t = w->t;
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		for (uint32_t i = t->first_call[thread], end = t->first_call[thread + 1]; i < end; i++) {
			uint32_t next = i + 1;
			if (t->calls.class[i] != CALL_LAUNCH || is_the_profilers(w, i))
				continue;
			while (next < end && (t->calls.start[next] < t->calls.end[i] || is_the_profilers(w, next)))
				next++;
			if (next < end)
				count_size(sizes, t->calls.start[next] - t->calls.start[i]);
		}
}

struct recording {
	struct sizes sizes;
	struct paces *paces;
	size_t n_runs;
	int64_t waited,
		waited_ranges; /* in the run at hand: calls that its GPUs waited for, of all devices, and ranges */
	double calls, ranges;  /* a step */
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

void recording_add(struct recording *r, const struct run *run, const struct run *part)
{
	const struct watched watched = watched_of(part->trace);
	count_paces(&watched, &r->sizes);
	paces_add(r->paces, part, watched.name);
	for (uint32_t d = 0; d < part->n_devices; d++) {
		const struct device_run *device = &part->devices[d];
		struct arena scratch = {0};
		struct chain *chains = ARENA_NEW(&scratch, part->trace->n_threads, struct chain);
		struct late late;
		for (size_t i = 0; i < device->n_gaps; i++) {
			const struct gap gap = run_gap(part, device, i);
			if (gap.edge || gap.start < run->window_start || gap.start >= run->window_end ||
			    !find_late(&watched, &gap, device->limit, &late))
				continue;
			r->waited += late.calls;
			r->waited_ranges += late.ranges;
			add_gap(&watched, &late, (double)(gap.end - gap.start), &chains[late.thread], r->took);
		}
		arena_release(&scratch);
	}
}

void recording_end_run(struct recording *r, const struct run *run)
{
	double steps = (double)r->n_runs * run->n_steps * run->n_devices;
	r->calls += run->n_devices ? (double)r->waited / steps : 0;
	r->ranges += run->n_devices ? (double)r->waited_ranges / steps : 0;
	for (int p = 0; p < RECORDING_PRICES; p++) {
		r->all[p] += run->n_devices ? r->took[p] / steps : 0;
		r->took[p] = 0;
	}
	r->waited = r->waited_ranges = 0;
}

struct recording_cost recording_end(const struct recording *r, const struct budget *mean, struct arena *arena)
{
	struct recording_cost out = {.waited_calls = r->calls,
	                             .waited_ranges = r->ranges,
	                             .launch_pace = hundredth(&r->sizes),
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

const char *recording_ranges_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                                  struct arena *arena)
{
	if (cost->ranges <= 0)
		return NULL;
	const char *share =
		steps && mean->period > 0
			? arena_format(arena, ", %s %% of it", say_digits(arena, 100 * cost->ranges / mean->period))
			: "";
	return arena_format(
		arena,
		"NVTX ranges were added while the program was recorded (--annotate): that took %s µs a step%s, "
		"by the clock of what added them.",
		say_digits(arena, cost->ranges / 1e3), share);
}

/* Share of a step that `n` rows of it make up. */
static double share_of(const struct budget *mean, double n, double ns)
{
	return mean->period > 0 ? recording_at(mean, n, ns) / mean->period : 0;
}

/* A range may cost as much as a call. */
static double waited(const struct side *side)
{
	return side->recording.waited_calls + side->recording.waited_ranges;
}

const char *recording_note(const struct recording_cost *cost, const struct budget *mean, bool steps,
                           struct arena *arena)
{
	double share = share_of(mean, cost->waited_calls, NS_A_CALL);
	if (share < WORTH_SAYING)
		return NULL;
	const char *per = steps ? " a step" : "", *all = steps ? "step" : "run";
	return arena_format(
		arena,
		"Recording a CUDA call takes the host at least about %.1f µs: %s calls%s that the GPU waited "
		"for make up about %s ms (%.1f %%) of the %s, or more.",
		NS_A_CALL / 1e3, say_digits(arena, cost->waited_calls), per, say_digits(arena, cost->added / 1e6),
		100 * share, all);
}

/* The highest price that a call can have: the same profiler recorded both sides. */
static double highest_price(const struct side side[2])
{
	double pace = fmax(side[0].recording.launch_pace, side[1].recording.launch_pace);
	return fmin(fmax(NS_A_CALL, pace - NS_A_LAUNCH), MOST_NS_A_CALL);
}

/* What recording may have done to the GPU's work, as a logarithm: nothing where both sides have as much of it. */
static double gpu_bound(const struct side side[2])
{
	double b = side[0].busy, f = side[1].busy;
	return b > 0 && f > 0 ? OF_GPU_WORK * fmin(1, fabs(log2(b / f))) : 0;
}

/* The same work is longer by as much on both sides, which is more of a step that is shorter: by how much the speedup
 * may be higher without that, as a logarithm (below 0: lower). */
static double gpu_share(const struct side side[2])
{
	double share[2];
	for (int s = 0; s < 2; s++)
		share[s] = side[s].budget.period > 0 ? side[s].busy / side[s].budget.period : 0;
	return log1p(-OF_GPU_WORK * share[0]) - log1p(-OF_GPU_WORK * share[1]);
}

/* How much more a call may cost on the fixed side than on the baseline. Recording may be why a launch takes longer
 * there wherever both sides do the same; where they do hardly anything alike, their fastest launches stand for that. */
struct apart {
	double ns;  /* below 0: less */
	bool alike; /* of what both sides do */
};

static struct apart prices_apart(const struct side side[2])
{
	const struct recording_cost *b = &side[0].recording, *f = &side[1].recording;
	double shared, ns = paces_apart(&b->paces, &f->paces, &shared);
	struct apart out = {ns, shared >= SHARED};
	if (!out.alike)
		out.ns = b->launch_pace > 0 && f->launch_pace > 0 ? f->launch_pace - b->launch_pace : 0;
	out.ns = fmax(fmin(out.ns, MOST_NS_A_CALL), -MOST_NS_A_CALL);
	return out;
}

/* Share of a side's step that recording took at a price of `ns` a call, between the prices for which it is known. */
static double took_at(const struct side *side, double ns)
{
	const double *took = side->recording.took;
	int p = 1;
	while (p + 1 < RECORDING_PRICES && recording_price[p] < ns)
		p++;
	double part = (fmin(fmax(ns, 0), recording_price[p]) - recording_price[p - 1]) /
	              (recording_price[p] - recording_price[p - 1]);
	double all = took[p - 1] + part * (took[p] - took[p - 1]);
	return side->budget.period > 0 ? fmin(all, side->budget.period - side->busy) / side->budget.period : 0;
}

/* The widest that prices from 0 to `highest` make it, where the fixed side's is higher by `apart`. What recording took
 * is linear between the prices for which it is known, so the change rises or falls all along between those. */
static void widen(const struct side side[2], double highest, double apart, double beyond[2])
{
	for (int i = 0; i < 2 * RECORDING_PRICES + 2; i++) {
		double at = i >= 2 * RECORDING_PRICES ? highest - (i & 1 ? apart : 0)
		                                      : recording_price[i / 2] - (i & 1 ? apart : 0);
		double b = fmax(0, fmin(highest, at)), f = fmax(0, fmin(highest, b + apart));
		double change = log1p(-took_at(&side[0], b)) - log1p(-took_at(&side[1], f));
		beyond[0] = fmin(beyond[0], change);
		beyond[1] = fmax(beyond[1], change);
	}
}

void recording_bounds(const struct side side[2], double beyond[2])
{
	double highest = highest_price(side);
	beyond[0] = beyond[1] = 0;
	widen(side, highest, 0, beyond); /* the prices may be the same all the same, or lie between */
	widen(side, highest, prices_apart(side).ns, beyond);
	beyond[0] -= fmax(gpu_bound(side), -gpu_share(side));
	beyond[1] += fmax(gpu_bound(side), gpu_share(side));
}

/* Whether it is worth saying what recording may have done. */
static bool matters(const struct verdict *v, const struct verdict_conditions *c)
{
	return v->has_interval && c->beyond[1] - c->beyond[0] >= log1p(WORTH_SAYING);
}

bool recording_apart(const struct side side[2], const struct verdict *v)
{
	bool apart = false;
	for (int s = 0; s < 2; s++) {
		const struct headline *h = &side[s].headline;
		apart = apart || (h->stopwatch > 0 && fabs(h->recorded / h->stopwatch - 1) > VERDICT_MARGIN);
	}
	return v->measured == VERDICT_STOPWATCH && apart;
}

bool recording_turns(const struct verdict *v, const struct verdict_conditions *c)
{
	return v->measured == VERDICT_RECORDED && v->has_interval && fmax(-c->beyond[0], c->beyond[1]) > log1p(TURNS);
}

/* A sentence, where it makes a difference that the sides' prices may differ; else "". */
static const char *say_apart(const struct side side[2], struct arena *arena)
{
	const struct apart apart = prices_apart(side);
	double highest = highest_price(side), same[2] = {0}, beyond[2] = {0};
	widen(side, highest, 0, same);
	widen(side, highest, apart.ns, beyond);
	if (fmax(same[0] - beyond[0], beyond[1] - same[1]) < log1p(WORTH_SAYING))
		return "";
	return arena_format(arena, "%s %.1f µs longer %s: the host was slower there, or recording cost it more. ",
	                    apart.alike ? "From a launch to the next call, where both sides do the same, it takes"
	                                : "The fastest launches take",
	                    fabs(apart.ns) / 1e3, apart.ns > 0 ? "on the fixed side" : "in the baseline");
}

const char *recording_reason(const struct side side[2], const struct verdict *v, const struct verdict_conditions *c,
                             struct arena *arena)
{
	const struct side *b = &side[0], *f = &side[1];
	if (v->measured != VERDICT_RECORDED || !matters(v, c))
		return NULL;
	const char *per = b->steps.found ? "step" : "run";
	bool ranges = b->recording.waited_ranges + f->recording.waited_ranges > 0;
	return arena_format(arena,
	                    "This is the speedup of the recorded programs. Recording adds up to %.1f µs to each CUDA "
	                    "call%s here (the GPU waited for %s%s a %s of the baseline, %s of the fixed side) and "
	                    "up to some percent to kernels. %sThe interval allows for that, and result and gates go by "
	                    "the interval. gapline run also measures without a profiler.",
	                    highest_price(side) / 1e3, ranges ? " and range" : "", say_digits(arena, waited(b)),
	                    ranges ? " of them" : " calls", per, say_digits(arena, waited(f)), say_apart(side, arena));
}
