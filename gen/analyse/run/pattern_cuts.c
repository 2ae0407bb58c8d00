#include "analyse/run/pattern_cuts.h"

#include "base/search.h"
#include "base/sort.h"

#include <string.h>

/* ---- runs ---- */

/* Cycles that explain too little together may be parted by what is no cycle of theirs. Of cycles that hold half as much
 * again the rest is that, too: a prompt has about as many kernels as a token. */
static void part_longer(struct pattern_fit *f, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		f->more[k] = f->more[k] ||
		             (f->grade[k] == GRADE_CYCLE && (double)(f->cut[k + 1] - f->cut[k]) > RULE_LONGER * f->ops);
}

/* The run of cycles that begins at or after `k`, up to one that is none or has something else behind it. */
static bool next_run(const struct pattern_fit *f, uint32_t to, uint32_t k, uint32_t *first, uint32_t *end)
{
	while (k < to && f->grade[k] == GRADE_NONE)
		k++;
	*first = k;
	while (k < to && f->grade[k] != GRADE_NONE) {
		k++;
		if (f->more[k - 1])
			break;
	}
	*end = k;
	return k > *first;
}

/* Whether runs of cycles are of different lengths, most of them, and nearly all that there is: layers are as many in
 * every step. */
static bool runs_vary(const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	struct arena scratch = {0};
	uint32_t *length = ARENA_NEW(&scratch, to - from, uint32_t), n = 0, same = 0, first, end;
	size_t inside = 0;
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end) {
		length[n++] = end - first;
		for (uint32_t i = first; i < end; i++)
			inside += f->cut[i + 1] - f->cut[i] < f->ops ? f->cut[i + 1] - f->cut[i] : f->ops;
	}
	sort_counts(length, n);
	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && length[k] == length[i]; k++)
			;
		same = k - i > same ? k - i : same;
	}
	arena_release(&scratch);
	return n >= RULE_CYCLES_VARIED && same <= RULE_HALF * n &&
	       (double)inside >= RULE_MOST * (double)(f->cut[to] - f->cut[from]);
}

/* How many that are no cycles are one with a few kernels under other names: as long, and three quarters of it the same.
 */
static uint32_t count_near(const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t ops = f->cut[k + 1] - f->cut[k];
		n += f->grade[k] == GRADE_NONE && (double)ops >= (1 - RULE_NEAR) * f->ops &&
		     (double)ops <= (1 + RULE_NEAR) * f->ops && f->off[k] <= RULE_HALF * f->ops;
	}
	return n;
}

/* Ops between runs of cycles, if nearly all of what lies there is written out, a solver's state now and then: copies to
 * the host end it, and none is a copy in. */
static size_t all_written(const struct pattern_sequence *s, const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	uint32_t *of = ARENA_NEW(&scratch, s->n_tokens, uint32_t);
	size_t written = 0, between = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t all = f->cut[k + 1] - f->cut[k], here = 0;
		bool out = false, in = false;
		if (f->grade[k] == GRADE_EXACT)
			continue;
		for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++) {
			if (++of[s->token[i]] <= f->usual[s->token[i]])
				continue;
			out = pattern_is_out(s->flags[i]);
			in = in || s->flags[i] & PATTERN_INPUT;
			here++;
		}
		for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++)
			of[s->token[i]] = 0;
		written += out && !in ? here : 0;
		between += f->grade[k] == GRADE_NONE ? all : all > f->ops ? all - f->ops : 0;
	}
	return (double)written >= RULE_EXPLAINED * (double)between ? written : 0;
}

static uint32_t count_cycles(const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t k = from; k < to; k++)
		n += f->grade[k] != GRADE_NONE;
	return n;
}

/* Cycles may come in runs with something else between them. Marks in `fit->more` cycles that hold half as much again as
 * is usual. True: out->cycles in all runs are one loop, `bursts`.
 *
 * Runs come again and again, as many cycles in each or not: layers of a step, or steps with a validation between them,
 * or tokens of one prompt after the other, or of many in one batch: then some runs are short, and whatever is between
 * them lies behind a whole cycle. The host has to do with every step, and not with a layer, of which there are as many
 * in every step; or a lookup at each cut tells that it is one. */
static bool find_bursts(const struct pattern_sequence *s, struct pattern_found *out)
{
	struct pattern_fit *f = &out->fit;
	uint32_t from = out->from, to = out->to, first = from, end, runs = 0, in_runs = 0, cycles = 0;
	part_longer(f, from, to);
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end) {
		cycles += end - first;
		if (end - first < RULE_CYCLES)
			continue;
		runs++;
		in_runs += end - first;
	}
	bool whole = runs > RULE_FEW && in_runs >= RULE_HALF * cycles && cycles >= RULE_EXPLAINED * (to - from);
	out->bursts = runs > 1 && (whole || in_runs >= RULE_NEARLY_ALL * cycles) &&
	              (pattern_fit_has(f, s, PATTERN_LOOKUP) || pattern_fit_host(f, s, from, to) >= RULE_NEARLY_ALL ||
	               runs_vary(f, from, to)) &&
	              count_near(f, from, to) <= RULE_LITTLE * cycles &&
	              pattern_fit_behind(f, s, from, to) <= RULE_QUARTER * cycles;
	if (!out->bursts)
		return false;
	ARENA_LOCAL(scratch);
	out->cycles = cycles;
	out->written = all_written(s, f, from, to);
	out->share = pattern_fit_share(f, s, from, to, true, &scratch);
	return true;
}

/* ---- whether cuts make a loop ---- */

static bool are_alike(uint32_t alike, uint32_t cycles)
{
	return cycles >= RULE_CYCLES && alike >= RULE_MOST * cycles;
}

static bool is_explained(const struct pattern_share *share, uint32_t cycles)
{
	return are_alike(share->alike, cycles) && share->ops >= RULE_EXPLAINED && share->time >= RULE_EXPLAINED;
}

/* Of many candidates for a boundary some cut what varies (so many tokens to a prompt) into a handful of stretches that
 * happen to be about as long. Of a few cycles three in four have to be the same, but for an op or two. */
static bool is_no_chance(const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0, same = 0;
	for (uint32_t k = from; k < to; k++) {
		n += f->grade[k] != GRADE_NONE;
		same += f->grade[k] == GRADE_EXACT || (f->grade[k] != GRADE_NONE && f->off[k] <= RULE_SPARE);
	}
	return n >= RULE_MANY || same >= RULE_MOST * n;
}

/* Whether the cycles [from, to), `cycles` of which are any, make a loop; `share` is how much of them is usual, or
 * nothing where too few are alike for that to matter. */
static bool explain(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                    uint32_t cycles, struct pattern_share *share)
{
	uint32_t alike = 0;
	*share = (struct pattern_share){0};
	for (uint32_t k = from; k < to; k++)
		alike += f->grade[k] >= GRADE_ALIKE;
	if (!are_alike(alike, cycles))
		return false;
	struct arena scratch = {0};
	*share = pattern_fit_share(f, s, from, to, false, &scratch);
	arena_release(&scratch);
	return is_explained(share, cycles) && is_no_chance(f, from, to);
}

/* The median of the cycles' GPU time (`busy`), or of the time from one's end to the next one's. */
static double cycle_time(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                         bool busy)
{
	int64_t some[RULE_SAMPLE];
	uint32_t n = 0, stride = (to - from) / RULE_SAMPLE + 1;
	for (uint32_t k = from; k + 1 < to && n < RULE_SAMPLE; k += stride) {
		int64_t time = 0;
		for (size_t i = f->cut[k]; busy && i < f->cut[k + 1]; i++)
			time += s->length[i];
		some[n++] = busy ? time : s->end[f->cut[k + 2] - 1] - s->end[f->cut[k + 1] - 1];
	}
	sort_times(some, n);
	int64_t median = n ? some[n / 2] : 0;
	return (double)median;
}

static bool is_other(double a, double b)
{
	return a > b * RULE_LONGER || b > a * RULE_LONGER;
}

/* Two stretches of the same names with something else between them are two loops where a cycle of one is half as
 * much GPU time again as of the other (another size of the same solver). A host that got slower is none. The larger one
 * is kept; the other is found later. */
static void split_by_time(const struct pattern_fit *f, const struct pattern_sequence *s, struct pattern_found *found)
{
	uint32_t at[RULE_LOOPS], n = 0;
	for (uint32_t k = found->from; k + 1 < found->to; k++) {
		bool interrupted = f->grade[k] != GRADE_EXACT;
		for (size_t i = f->cut[k] + 1; i <= f->cut[k + 1] && i < s->n && !interrupted; i++)
			interrupted = s->flags[i] & PATTERN_BREAK;
		if (interrupted) {
			if (n == RULE_LOOPS)
				return;
			at[n++] = k + 1;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		/* without the cycle that holds the interruption itself; at the begin they may be too few to be a loop,
		 * a calibration, and are left out then */
		if (at[i] < found->from + RULE_CYCLES - 1 || at[i] + RULE_CYCLES > found->to)
			continue;
		uint32_t before = at[i] - found->from, behind = found->to - at[i];
		if (is_other(cycle_time(f, s, found->from, at[i] - 1, true),
		             cycle_time(f, s, at[i], found->to, true))) {
			if (before > behind)
				found->to = at[i];
			else
				found->from = at[i];
		}
	}
}

/* A few cycles before something else that takes longer than several cycles, too few to be a loop: a first one before
 * the compiler runs. They, and what parts them, are left out. */
static void drop_begin(const struct pattern_fit *f, const struct pattern_sequence *s, struct pattern_found *found)
{
	if (found->to - found->from < RULE_FEW * RULE_CYCLES)
		return;
	double usual = cycle_time(f, s, found->from, found->to, false);
	for (uint32_t k = found->from + RULE_CYCLES - 1; k > found->from; k--) {
		int64_t took = s->end[f->cut[k + 1] - 1] - s->end[f->cut[k] - 1];
		if (f->grade[k] != GRADE_EXACT && (double)took >= RULE_LONG * usual)
			found->from = k + 1;
	}
}

/* A last cycle that lacks something is no whole one: the program ended before it had all of it, wherever in its step
 * the cuts are (a prompt's tokens without the next prompt). */
static void drop_cut_end(const struct pattern_fit *f, struct pattern_found *found)
{
	uint32_t last = found->to - 1;
	if (found->to - found->from > RULE_CYCLES && f->cut[last + 1] - f->cut[last] + RULE_SPARE < f->ops)
		found->to = last;
}

/* Whether the cycles are copies alone, and kernels lie between them: they are what a step begins with, array by array.
 */
static bool are_inputs(const struct pattern_sequence *s, const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	bool works = false;
	for (size_t i = f->cut[from]; i < f->cut[to]; i++) {
		works = works || s->flags[i] & PATTERN_WORK;
		if (s->flags[i] & PATTERN_WORK && f->usual[s->token[i]])
			return false;
	}
	return works;
}

/* Whether cuts make a loop; which part of them. */
static bool accept(const struct pattern_sequence *s, struct pattern_found *out)
{
	struct pattern_fit *f = &out->fit;
	out->bursts = false;
	out->from = 0;
	out->to = f->n;
	while (out->from < out->to && f->grade[out->from] < GRADE_ALIKE)
		out->from++;
	while (out->to > out->from && f->grade[out->to - 1] < GRADE_ALIKE)
		out->to--;
	if (f->ops == 0 || out->to - out->from < RULE_CYCLES)
		return false;
	split_by_time(f, s, out);
	drop_begin(f, s, out);
	drop_cut_end(f, out);
	out->cycles = count_cycles(f, out->from, out->to);
	bool good =
		explain(f, s, out->from, out->to, out->cycles, &out->share) ||
		(find_bursts(s, out) && is_explained(&out->share, out->cycles) && is_no_chance(f, out->from, out->to));
	return good && !are_inputs(s, f, out->from, out->to);
}

/* Whether `n` cuts, put right, make a loop. */
static bool fit_cuts(const struct pattern_sequence *s, size_t *cut, uint32_t n, struct arena *arena,
                     struct pattern_found *out)
{
	pattern_fit_init(&out->fit, s, cut, n, arena);
	uint32_t longer = 0;
	for (uint32_t k = 0; k < n && out->fit.ops > 1; k++)
		longer += out->fit.grade[k] != GRADE_EXACT &&
		          (double)(out->fit.cut[k + 1] - out->fit.cut[k]) > RULE_LONGER * out->fit.ops;
	if (longer && longer <= RULE_QUARTER * n) {
		size_t *more = ARENA_NEW(arena, (size_t)n * 2 + 1, size_t);
		uint32_t split = pattern_fit_split(&out->fit, s, more, n * 2);
		if (split > n)
			pattern_fit_init(&out->fit, s, more, split, arena);
	}
	return accept(s, out);
}

static bool is_window_good(const struct pattern_sequence *s, const size_t *cut)
{
	ARENA_LOCAL(scratch);
	struct pattern_found found = {0};
	size_t *some = ARENA_NEW(&scratch, RULE_WINDOW + 1, size_t);
	memcpy(some, cut, RULE_WINDOW * sizeof *some);
	bool good =
		fit_cuts(s, some, RULE_WINDOW, &scratch, &found) ||
		(found.share.ops >= RULE_EXPLAINED - RULE_LITTLE && found.share.time >= RULE_EXPLAINED - RULE_LITTLE);
	return good;
}

/* Tries many cuts on some of their cycles first: most candidates are wrong, and are seen to be here. A loop that is a
 * part of the cycles may be few of them, or few of the ops: every other window is from where its share of the ops is.
 */
static bool is_promising(const struct pattern_sequence *s, const size_t *cut, uint32_t n)
{
	if (n < RULE_LONG * RULE_SAMPLE)
		return true;
	uint32_t windows =
		n / (RULE_WINDOW * RULE_MANY) < RULE_WINDOWS ? n / (RULE_WINDOW * RULE_MANY) + 1 : RULE_WINDOWS;
	size_t first = cut[0], ops = cut[n - 1] - first;
	const uint32_t before = RULE_WINDOW / 2;
	for (uint32_t w = 0; w < windows; w++) {
		uint64_t at = 2 * (uint64_t)w + 1, of = 2 * (uint64_t)windows; /* the window's middle */
		uint32_t k = w % 2 ? 0 : (uint32_t)(n * at / of);
		if (w % 2)
			SEARCH(k, n, cut[k] < first + ops * at / of);
		k -= k < before ? k : before;
		if (is_window_good(s, cut + (k + RULE_WINDOW < n ? k : n - RULE_WINDOW)))
			return true;
	}
	return false;
}

bool pattern_cuts_try(const struct pattern_sequence *s, size_t *cut, uint32_t n, struct arena *arena,
                      struct pattern_found *out)
{
	/* ops of one launch belong together: nodes of a graph, in an order of their own */
	uint32_t kept = 0;
	for (uint32_t k = 0; k < n; k++) {
		cut[k] = pattern_launch(s, cut[k]);
		if (!kept || cut[k] != cut[kept - 1])
			cut[kept++] = cut[k];
	}
	return kept >= RULE_CYCLES && is_promising(s, cut, kept) && fit_cuts(s, cut, kept, arena, out);
}
