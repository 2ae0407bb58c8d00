#include "side/side_parts.h"

#include "base/format.h"
#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

WORD_OF(metric_name,
        metric, [METRIC_SM_ACTIVE] = "sm_active", [METRIC_SM_ISSUE] = "sm_issue", [METRIC_TENSOR] = "tensor_active",
        [METRIC_DRAM_READ] = "dram_read", [METRIC_DRAM_WRITE] = "dram_write", [METRIC_PCIE_IN] = "pcie_in",
        [METRIC_PCIE_OUT] = "pcie_out", [METRIC_NVLINK_IN] = "nvlink_in", [METRIC_NVLINK_OUT] = "nvlink_out")

WORD_OF(metric_label,
        metric, [METRIC_SM_ACTIVE] = "SMs active", [METRIC_SM_ISSUE] = "SMs issue", [METRIC_TENSOR] = "tensor active",
        [METRIC_DRAM_READ] = "DRAM read", [METRIC_DRAM_WRITE] = "DRAM write", [METRIC_PCIE_IN] = "PCIe in",
        [METRIC_PCIE_OUT] = "PCIe out", [METRIC_NVLINK_IN] = "NVLink in", [METRIC_NVLINK_OUT] = "NVLink out")

/* ---- the time that a sample tells of ---- */

/* The samples of one GPU in one run. Sample i tells of [from[i], to[i]). */
struct sampled {
	const struct trace_metrics *of;
	int64_t *from, *to;
	int64_t interval;
	bool before;
};

static const struct trace_metrics *metrics_of(const struct run *run, uint32_t device)
{
	const struct trace *t = run->trace;
	uint32_t gpu = run_gpu(run, device);
	for (uint32_t i = 0; i < t->n_metrics; i++)
		if (t->metrics[i].n && gpu != TRACE_NONE && t->metrics[i].gpu == gpu)
			return &t->metrics[i];
	return t->n_metrics == 1 && t->metrics[0].n && gpu == TRACE_NONE && run->charge->n_devices == 1 ? &t->metrics[0]
	                                                                                                : NULL;
}

/* Hardware counts time evenly (within 2 ns of 100 us, in the captures seen), so what is longer than half an interval
 * more has a sample missing in it. */
static int64_t longest_step(int64_t interval)
{
	return interval + interval / 2;
}

/* The time between two samples of which none between them is missing: of the `n` steps, the median of those that are no
 * longer than the short ones. The median of all is that of holes where every third sample is missing. */
static int64_t interval_of(int64_t *step, size_t n)
{
	sort_times(step, n);
	int64_t most = longest_step(step[n / 10]);
	size_t whole = n / 10;
	while (whole < n && step[whole] <= most)
		whole++;
	return whole ? (step[(whole - 1) / 2] + step[whole / 2]) / 2 : 0;
}

/* Samples follow each other; where one is missing, nothing is known of the time between: the sample at its side tells
 * of one interval and no more. */
static void lay_out(struct sampled *s, bool before)
{
	size_t n = s->of->n;
	const int64_t *time = s->of->time;
	int64_t most = longest_step(s->interval);
	s->before = before;
	for (size_t i = 0; i < n; i++) {
		int64_t length = before ? (i ? time[i] - time[i - 1] : s->interval)
		                        : (i + 1 < n ? time[i + 1] - time[i] : s->interval);
		length = length > most ? s->interval : length;
		s->from[i] = before ? time[i] - length : time[i];
		s->to[i] = s->from[i] + length;
	}
}

/* The part of every sample's time in which a kernel ran, ns. */
static void add_kernels(const struct run *run, uint32_t d, const struct sampled *s, double *ns)
{
	const struct trace *t = run->trace;
	const struct trace_device *of = &t->devices[run->charge->devices[d].device];
	int64_t covered = INT64_MIN;
	size_t i = 0;
	for (uint32_t op = of->first_op; op < of->first_op + of->n_ops; op++) {
		int64_t start = t->ops.start[op] > covered ? t->ops.start[op] : covered, end = t->ops.end[op];
		if (t->ops.kind[op] == OP_COPY || t->ops.kind[op] == OP_MEMSET || end <= start)
			continue;
		covered = end;
		SEARCH(i, s->of->n, s->to[i] <= start);
		for (size_t k = i; k < s->of->n && s->from[k] < end; k++)
			ns[k] +=
				(double)((s->to[k] < end ? s->to[k] : end) - (s->from[k] > start ? s->from[k] : start));
	}
}

/* How well a counter of the SMs goes with the kernels: Pearson's correlation over the samples of the window. */
static double fit(const struct run *run, uint32_t d, const struct sampled *s, enum metric metric, double *kernels)
{
	double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
	memset(kernels, 0, s->of->n * sizeof *kernels);
	add_kernels(run, d, s, kernels);
	for (size_t i = 0; i < s->of->n; i++) {
		int64_t from = s->from[i], to = s->to[i];
		if (from < run->window.start || to > run->window.end || to <= from || run_pauses(run, from) ||
		    s->of->value[metric][i] == METRIC_NOT_SAMPLED)
			continue;
		double busy = kernels[i] / (double)(to - from), value = s->of->value[metric][i];
		n++;
		x += busy;
		y += value;
		xx += busy * busy;
		yy += value * value;
		xy += busy * value;
	}
	double of = (n * xx - x * x) * (n * yy - y * y);
	return of > 0 ? (n * xy - x * y) / sqrt(of) : 0;
}

/* Tables give a sample one time. In those seen it is when the sample began: shifted the other way, counters run one
 * sample behind the kernels. What fits the kernels better is taken, so a table that means the end is read right, too.
 */
static bool sampled_begin(const struct run *run, uint32_t d, struct arena *scratch, struct sampled *s)
{
	*s = (struct sampled){.of = metrics_of(run, d)};
	if (!s->of || s->of->n < 2)
		return false;
	size_t n = s->of->n;
	int64_t *step = ARENA_NEW(scratch, n, int64_t);
	for (size_t i = 0; i + 1 < n; i++)
		step[i] = s->of->time[i + 1] - s->of->time[i];
	s->interval = interval_of(step, n - 1);
	s->from = ARENA_NEW(scratch, n, int64_t);
	s->to = ARENA_NEW(scratch, n, int64_t);
	const enum metric tells[] = {METRIC_SM_ACTIVE, METRIC_SM_ISSUE};
	for (size_t i = 0; i < sizeof tells / sizeof *tells; i++) {
		if (!s->of->value[tells[i]])
			continue;
		double *kernels = ARENA_NEW(scratch, n, double);
		lay_out(s, true);
		double before = fit(run, d, s, tells[i], kernels);
		lay_out(s, false);
		if (before > fit(run, d, s, tells[i], kernels))
			lay_out(s, true);
		return true;
	}
	lay_out(s, false);
	return true;
}

/* ---- sums ---- */

/* Counters summed up over time: percent × ns, and the ns that samples tell of. */
struct sum {
	double value[METRIC_COUNT], ns[METRIC_COUNT];
};

static void add_time(const struct sampled *s, int64_t start, int64_t end, struct sum *to)
{
	size_t i = 0;
	SEARCH(i, s->of->n, s->to[i] <= start);
	for (; i < s->of->n && s->from[i] < end; i++) {
		double ns = (double)((s->to[i] < end ? s->to[i] : end) - (s->from[i] > start ? s->from[i] : start));
		for (int m = 0; m < METRIC_COUNT && ns > 0; m++) {
			if (!s->of->value[m] || s->of->value[m][i] == METRIC_NOT_SAMPLED)
				continue;
			to->value[m] += ns * s->of->value[m][i];
			to->ns[m] += ns;
		}
	}
}

static struct metric_means means_of(const struct sum *sum, const struct sum *less)
{
	struct metric_means means;
	for (int m = 0; m < METRIC_COUNT; m++) {
		double ns = sum->ns[m] - (less ? less->ns[m] : 0), value = sum->value[m] - (less ? less->value[m] : 0);
		means.mean[m] = ns >= 1 ? fmax(value / ns, 0) : -1;
	}
	return means;
}

/* The share of `ns` that samples tell of, of the counter that has the fewest. */
static double known_share(const struct sum *sum, const bool *has, double ns)
{
	double least = ns;
	for (int m = 0; m < METRIC_COUNT; m++)
		least = has[m] ? fmin(least, sum->ns[m]) : least;
	return least / ns;
}

static double longest(const struct sum *sum)
{
	double most = 0;
	for (int m = 0; m < METRIC_COUNT; m++)
		most = fmax(most, sum->ns[m]);
	return most;
}

/* ---- a device ---- */

struct totals {
	struct sum window, idle;
	struct sum *phase; /* by name's place in `names` */
	uint32_t *names, n, room;
	uint32_t *at; /* by name: its place in `names`, counted from 1 */
	double steps, busy_ns, window_ns;
};

static struct sum *phase_sum(struct totals *t, uint32_t name, size_t n_names, struct arena *scratch)
{
	if (!t->at)
		t->at = ARENA_NEW(scratch, n_names, uint32_t);
	if (!t->at[name]) {
		if (t->n == t->room) {
			uint32_t more = (uint32_t)list_more(t->room);
			t->phase = arena_grow(scratch, t->phase, t->n, more, sizeof *t->phase);
			t->names = arena_grow(scratch, t->names, t->n, more, sizeof *t->names);
			t->room = more;
		}
		t->names[t->n] = name;
		t->phase[t->n] = (struct sum){0};
		t->at[name] = ++t->n;
	}
	return &t->phase[t->at[name] - 1];
}

/* The union of every phase's GPU work in the window, as the budget counts a phase's GPU time. */
static void add_phases(const struct run *run, const struct device_run *device, const struct sampled *s,
                       struct totals *totals, struct arena *scratch)
{
	const struct trace *t = run->trace;
	const struct trace_device *of = &t->devices[device->device];
	int64_t *covered = ARENA_NEW(scratch, run->phases.n, int64_t);
	struct sum *sums = ARENA_NEW(scratch, run->phases.n, struct sum);
	for (uint32_t p = 0; p < run->phases.n; p++)
		covered[p] = run->window.start;
	for (uint32_t i = of->first_op; i < of->first_op + of->n_ops; i++) {
		uint32_t phase = run->phases.of_op[i];
		int64_t start = t->ops.start[i] > covered[phase] ? t->ops.start[i] : covered[phase];
		for (int64_t at = start; run_next_measured(run, &at, t->ops.end[i], &start);) {
			add_time(s, start, at, &sums[phase]);
			covered[phase] = at;
		}
	}
	for (uint32_t p = 0; p < run->phases.n; p++) {
		struct sum *to =
			longest(&sums[p]) > 0 ? phase_sum(totals, run->phases.names[p], t->names->n, scratch) : NULL;
		for (int m = 0; to && m < METRIC_COUNT; m++) {
			to->value[m] += sums[p].value[m];
			to->ns[m] += sums[p].ns[m];
		}
	}
}

static void add_run(const struct run *run, uint32_t d, struct totals *totals, struct metrics *out,
                    struct arena *scratch)
{
	struct sampled s;
	const struct device_run *device = &run->charge->devices[d];
	if (!sampled_begin(run, d, scratch, &s))
		return;
	if (!out->samples) {
		out->interval = (double)s.interval;
		out->before = s.before;
	}
	for (size_t i = 0; i < s.of->n; i++)
		out->samples +=
			s.from[i] < run->window.end && s.to[i] > run->window.start && !run_pauses(run, s.from[i]);
	for (int m = 0; m < METRIC_COUNT; m++)
		out->has[m] = out->has[m] || s.of->value[m];
	for (int64_t at = run->window.start, start; run_next_measured(run, &at, run->window.end, &start);)
		add_time(&s, start, at, &totals->window);
	double busy = (double)run->window.ns;
	for (size_t i = 0; i < device->n_gaps; i++) {
		struct gap gap = run_gap(run, device, i);
		for (int64_t at = gap.start, start; run_next_measured(run, &at, gap.end, &start);) {
			add_time(&s, start, at, &totals->idle);
			busy -= (double)(at - start);
		}
	}
	add_phases(run, device, &s, totals, scratch);
	totals->steps += run->window.n_steps;
	totals->window_ns += (double)run->window.ns;
	totals->busy_ns += busy; /* kernels that only wait run, too */
}

SORT_ORDER(compare_phases, struct metric_phase, DESCENDING(x->ns, y->ns) ?: ASCENDING(x->name, y->name))

struct metrics metrics_of_device(const struct run *runs, size_t n, uint32_t d, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct totals totals = {0};
	struct metrics out = {0};
	for (size_t r = 0; r < n; r++)
		if (runs[r].trace->n_metrics && runs[r].charge->device_at[d] != TRACE_NONE)
			add_run(&runs[r], runs[r].charge->device_at[d], &totals, &out, &scratch);
	if (out.samples) {
		out.busy_ns = totals.busy_ns / totals.steps;
		out.busy_share = totals.busy_ns / totals.window_ns;
		out.known = known_share(&totals.window, out.has, totals.window_ns);
		out.window = means_of(&totals.window, NULL);
		out.idle = means_of(&totals.idle, NULL);
		out.busy = means_of(&totals.window, &totals.idle);
		out.phases = ARENA_NEW(arena, totals.n, struct metric_phase);
		for (uint32_t i = 0; i < totals.n; i++)
			out.phases[i] = (struct metric_phase){totals.names[i], longest(&totals.phase[i]) / totals.steps,
			                                      means_of(&totals.phase[i], NULL)};
		SORT(out.phases, totals.n, compare_phases);
		out.n_phases = totals.n < METRIC_PHASES ? totals.n : METRIC_PHASES;
	}
	return out;
}

/* ---- lanes ---- */

/* Where the k-th of METRIC_SPANS equal parts begins. */
static int64_t slice(int64_t length, size_t k)
{
	return length / METRIC_SPANS * (int64_t)k + length % METRIC_SPANS * (int64_t)k / METRIC_SPANS;
}

/* One span a sample where there are few; else as many of equal length, each with the mean of the samples in it, and
 * none where less than half of one is known. */
static void fill_lane(const struct sampled *s, enum metric metric, int64_t start, int64_t end, struct metric_lane *out)
{
	size_t first = 0, last = 0;
	SEARCH(first, s->of->n, s->to[first] <= start);
	SEARCH(last, s->of->n, s->from[last] < end);
	bool few = last - first <= METRIC_SPANS;
	size_t spans = few ? last - first : METRIC_SPANS, i = first;
	int64_t known = 0;
	for (size_t k = 0; k < spans; k++) {
		int64_t from = few ? s->from[first + k] : start + slice(end - start, k);
		int64_t to = few ? s->to[first + k] : start + slice(end - start, k + 1);
		int64_t ns = 0;
		double value = 0;
		from = from > start ? from : start;
		to = to < end ? to : end;
		while (i < last && s->to[i] <= from)
			i++;
		for (size_t at = i; at < last && s->from[at] < to; at++) {
			int64_t part = (s->to[at] < to ? s->to[at] : to) - (s->from[at] > from ? s->from[at] : from);
			if (s->of->value[metric][at] == METRIC_NOT_SAMPLED || part <= 0)
				continue;
			ns += part;
			value += (double)part * s->of->value[metric][at];
		}
		known += ns;
		if (ns > 0 && 2 * ns >= to - from)
			out->spans[out->n++] = (struct metric_span){from - start, to - start, value / (double)ns};
	}
	out->known = end > start ? (double)known / (double)(end - start) : 0;
}

void metrics_lanes(const struct run *run, int64_t start, int64_t end, uint32_t device, struct arena *arena,
                   struct device_lanes *out)
{
	ARENA_LOCAL(scratch);
	struct sampled s;
	if (!run->trace->n_metrics || !sampled_begin(run, device, &scratch, &s)) {
		return;
	}
	for (int m = 0; m < METRIC_COUNT; m++) {
		struct metric_lane *lane = &out->metrics[out->n_metrics];
		if (!s.of->value[m])
			continue;
		*lane = (struct metric_lane){(enum metric)m, ARENA_NEW(arena, METRIC_SPANS, struct metric_span), 0, 0};
		fill_lane(&s, (enum metric)m, start, end, lane);
		out->n_metrics += lane->n > 0;
	}
}
