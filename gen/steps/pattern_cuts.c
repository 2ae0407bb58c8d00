#include "steps/pattern_cycles.h"

#include "base/sort.h"

#include <float.h>
#include <math.h>

/* ---- runs ---- */

/* Cycles that explain too little together may be parted by what is no cycle of theirs. Of cycles that hold half as much
 * again the rest is that, too: a prompt has about as many kernels as a token. */
static void part_longer(struct pattern_fit *f, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		f->cycle[k].more |=
			f->cycle[k].grade == GRADE_CYCLE && (double)(f->cut[k + 1] - f->cut[k]) > RULE_LONGER * f->ops;
}

/* The run of cycles that begins at or after `k`, up to one that is none or has something else behind it. */
static bool next_run(const struct pattern_fit *f, uint32_t to, uint32_t k, uint32_t *first, uint32_t *end)
{
	while (k < to && f->cycle[k].grade == GRADE_NONE)
		k++;
	*first = k;
	while (k < to && f->cycle[k].grade != GRADE_NONE)
		if (f->cycle[k++].more)
			break;
	*end = k;
	return k > *first;
}

/* Of what lies between runs: how often it is nearly a cycle. */
static uint32_t count_near(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                           uint32_t *behind)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	uint32_t n = 0;
	for (uint32_t k = from; k < to; k++) {
		double ops = (double)(f->cut[k + 1] - f->cut[k]);
		n += f->cycle[k].grade == GRADE_NONE && ops >= (1 - RULE_NEAR) * f->ops &&
		     ops <= (1 + RULE_NEAR) * f->ops && f->cycle[k].off <= RULE_HALF * f->ops;
		for (size_t at = f->cut[k] + f->ops;
		     f->cycle[k].more && (double)at + RULE_HALF * f->ops < (double)f->cut[k + 1]; at += f->ops) {
			size_t end = at + f->ops < f->cut[k + 1] ? at + f->ops : f->cut[k + 1];
			*behind += pattern_fit_common(f, s, at, end, &counts) >= RULE_MOST * f->ops;
		}
	}
	return n;
}

/* Ops between runs of cycles, if nearly all of what lies there is written out, a solver's state now and then: copies to
 * the host end it, and none is a copy in. */
static size_t all_written(const struct pattern_sequence *s, const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	size_t written = 0, between = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t all = f->cut[k + 1] - f->cut[k], here = 0;
		bool out = false, in = false;
		if (f->cycle[k].grade == GRADE_EXACT)
			continue;
		pattern_counts_clear(&counts);
		for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++) {
			if (pattern_counts_add(&counts, s->token[i]) <= f->usual[s->token[i]])
				continue;
			out = pattern_is_out(s->flags[i]);
			in = in || s->flags[i] & PATTERN_INPUT;
			here++;
		}
		written += out && !in ? here : 0;
		between += f->cycle[k].grade == GRADE_NONE ? all : all > f->ops ? all - f->ops : 0;
	}
	return (double)written >= RULE_EXPLAINED * (double)between ? written : 0;
}

/* ---- whether it is a loop ---- */

/* Whether a cycle is none of a run. */
static bool is_between(const struct pattern_cycle *c)
{
	return c->grade == GRADE_NONE || c->more;
}

/* How many ops a cycle has too many of, or too few (less than 0), if it is one of both: they may have moved over a
 * boundary. */
static double net_of(const struct pattern_cycle *c)
{
	return !c->lack ? (double)c->off : c->lack == c->off ? -(double)c->off : 0;
}

/* What cycles differ from the usual one by, without ([0]) and with a graph that is captured in them, added up. */
struct differing {
	double off[2], off_time[2], time, lacks;
	uint32_t n, alike, same; /* cycles */
};

/* Of the cycles [from, to), or of their runs; sets n_ops. */
static struct differing add_up(struct pattern_found *out, const struct pattern_sequence *s, bool runs)
{
	const struct pattern_fit *f = &out->fit;
	struct differing d = {0};
	double before = 0;
	out->n_ops = 0;
	for (uint32_t k = out->from; k < out->to; k++) {
		const struct pattern_cycle *c = &f->cycle[k];
		d.n += c->grade != GRADE_NONE;
		d.same += c->grade == GRADE_EXACT || (c->grade != GRADE_NONE && c->off <= RULE_SPARE);
		if (runs && is_between(c))
			continue;
		bool captures = c->off && pattern_fit_captures(f, s, k);
		d.alike += c->grade >= GRADE_ALIKE;
		out->n_ops += f->cut[k + 1] - f->cut[k];
		d.time += c->time;
		d.off[captures] += c->off;
		double net = captures || runs ? 0 : net_of(c);
		if (net * before < 0) {
			d.off[0] -= 2 * fmin(fabs(net), fabs(before));
			net = 0;
		}
		before = net;
		bool ends = k + 1 == out->to || (runs && is_between(c + 1));
		if (ends) /* the capture's end, or the loop's own, is no fault of it */
			d.off[0] -= captures ? 0 : c->lack;
		d.lacks += ends ? 0 : c->lack;
		d.off_time[captures] += c->off_time;
	}
	return d;
}

/* How much of them is usual; whether that makes a loop. */
static bool explains(struct pattern_found *out, const struct pattern_sequence *s, bool runs)
{
	const struct differing d = add_up(out, s, runs);
	/* what runs once before a graph is captured is no fault of the loop that goes on behind it; more is */
	const bool all = d.off_time[1] > RULE_QUARTER * d.time;
	const double off = d.off[0] + (all ? d.off[1] : 0), off_time = d.off_time[0] + (all ? d.off_time[1] : 0);
	out->cycles = d.n;
	out->ops = out->n_ops ? 1 - off / ((double)out->n_ops + d.lacks) : 0;
	out->time = d.time > 0 ? 1 - off_time / d.time : 1;
	return d.n >= RULE_CYCLES && d.alike >= RULE_MOST * d.n && out->ops >= RULE_EXPLAINED &&
	       out->time >= RULE_EXPLAINED && (d.n >= RULE_MANY || d.same >= RULE_MOST * d.n);
}

static bool has(const struct pattern_fit *f, const struct pattern_sequence *s, uint8_t flags)
{
	for (size_t i = f->cut[f->model]; i < f->cut[f->model + 1]; i++)
		if (s->flags[i] & flags)
			return true;
	return false;
}

/* How many of these are one number; sorts them. */
static uint32_t most_alike(uint32_t *list, uint32_t n)
{
	uint32_t most = 0;
	sort_counts(list, n);
	for (uint32_t i = 0, first = 0; i < n; i++) {
		first = list[i] == list[first] ? first : i;
		most = i - first + 1 > most ? i - first + 1 : most;
	}
	return most;
}

/* In how many of the cycles [from, to) the host has to do with an op. */
static uint32_t count_hosted(const struct pattern_sequence *s, const struct pattern_fit *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	for (uint32_t k = from; k < to; k++) {
		size_t i = f->cut[k];
		while (i < f->cut[k + 1] && !(s->flags[i] & PATTERN_HOST))
			i++;
		n += i < f->cut[k + 1];
	}
	return n;
}

/* Cycles may come in runs with something else between them. Runs come again and again, as many cycles in each or not:
 * layers of a step, or steps with a validation between them, or tokens of one prompt after the other. The host has to
 * do with every step, and not with a layer, of which there are as many in every step; or a lookup tells that it is one.
 */
static bool are_bursts(const struct pattern_sequence *s, struct pattern_found *out)
{
	struct pattern_fit *f = &out->fit;
	uint32_t from = out->from, to = out->to, first, end, runs = 0, n = 0, in_runs = 0, cycles = 0;
	size_t inside = 0;
	ARENA_LOCAL(scratch);
	uint32_t *length = ARENA_NEW(&scratch, to - from, uint32_t), behind = 0;
	part_longer(f, from, to);
	for (uint32_t k = from; next_run(f, to, k, &first, &end); k = end) {
		length[n++] = end - first;
		cycles += end - first;
		runs += end - first >= RULE_CYCLES;
		in_runs += end - first >= RULE_CYCLES ? end - first : 0;
		for (uint32_t i = first; i < end; i++)
			inside += f->cut[i + 1] - f->cut[i] < f->ops ? f->cut[i + 1] - f->cut[i] : f->ops;
	}
	const uint32_t same = most_alike(length, n);
	bool vary = n >= RULE_CYCLES_VARIED && same <= RULE_HALF * n &&
	            (double)inside >= RULE_MOST * (double)(f->cut[to] - f->cut[from]);
	bool whole = runs > RULE_FEW && in_runs >= RULE_HALF * cycles && cycles >= RULE_EXPLAINED * (to - from);
	if (runs < 2 || !(whole || in_runs >= RULE_NEARLY_ALL * cycles) ||
	    !(vary || count_hosted(s, f, from, to) >= RULE_NEARLY_ALL * (to - from) || has(f, s, PATTERN_LOOKUP)) ||
	    count_near(f, s, from, to, &behind) > RULE_LITTLE * cycles || behind > RULE_QUARTER * cycles)
		return false;
	out->bursts = true;
	out->written = all_written(s, f, from, to);
	return explains(out, s, true);
}

/* The median of the cycles' GPU time (`busy`), or of the time from one's end to the next one's. */
static double cycle_time(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to,
                         bool busy)
{
	int64_t some[RULE_SAMPLE];
	uint32_t n = 0, stride = (to - from) / RULE_SAMPLE + 1;
	for (uint32_t k = from; k + 1 < to && n < RULE_SAMPLE; k += stride)
		some[n++] = busy ? (int64_t)f->cycle[k].time : s->end[f->cut[k + 2] - 1] - s->end[f->cut[k + 1] - 1];
	sort_times(some, n);
	int64_t median = n ? some[n / 2] : 0;
	return (double)median;
}

/* Two stretches of the same names with something else between them are two loops where a cycle of one is half as
 * much GPU time again as of the other (another size of the same solver). A host that got slower is none. The larger one
 * is kept; the other is found later. */
static void split_by_time(const struct pattern_fit *f, const struct pattern_sequence *s, struct pattern_found *found)
{
	uint32_t at[RULE_LOOPS], n = 0;
	for (uint32_t k = found->from; k + 1 < found->to; k++) {
		bool interrupted = f->cycle[k].grade != GRADE_EXACT;
		for (size_t i = f->cut[k] + 1; i <= f->cut[k + 1] && i < s->n && !interrupted; i++)
			interrupted = s->flags[i] & PATTERN_BREAK;
		if (interrupted) {
			if (n == RULE_LOOPS)
				return;
			at[n++] = k + 1;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		/* without the cycle that holds the interruption itself; at the begin they may be too few to be a loop
		 */
		if (at[i] < found->from + RULE_CYCLES - 1 || at[i] + RULE_CYCLES > found->to)
			continue;
		double a = cycle_time(f, s, found->from, at[i] - 1, true), b = cycle_time(f, s, at[i], found->to, true);
		bool earlier = at[i] - found->from > found->to - at[i];
		if (a > b * RULE_LONGER || b > a * RULE_LONGER) {
			found->to = earlier ? at[i] : found->to;
			found->from = earlier ? found->from : at[i];
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
		if (f->cycle[k].grade != GRADE_EXACT && (double)took >= RULE_LONG * usual)
			found->from = k + 1;
	}
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

/* Cycles of a few kinds in any order, each in the kernels that were made for it: the share of those of which three hold
 * the same, if the host has to do with each. Where kinds take turns, a step is one of each; where few cycles have
 * nearly all of the time, those are what the others stand between. */
static double kinds_of(const struct pattern_sequence *s, const struct pattern_found *found)
{
	const struct pattern_fit *f = &found->fit;
	ARENA_LOCAL(scratch);
	uint64_t *sum = ARENA_NEW(&scratch, f->n, uint64_t);
	double *time = ARENA_NEW(&scratch, f->n, double), all = 0, longest = 0;
	uint32_t n = found->to - found->from, alike = 0, even = 0, host = 0, turns[2] = {0}, changes = 0;
	for (uint32_t k = 0; k < n; k++) {
		bool hosted = false;
		for (size_t i = f->cut[found->from + k]; i < f->cut[found->from + k + 1]; i++) {
			sum[k] += pattern_hash(s->token[i]);
			time[k] += (double)s->length[i];
			hosted = hosted || s->flags[i] & PATTERN_HOST;
		}
		host += hosted;
		changes += k && sum[k] != sum[k - 1];
		for (uint32_t d = 0; d < 2; d++)
			turns[d] += k > 2 && sum[k] != sum[k - 1] && sum[k] == sum[k - 2 - d];
		all += time[k];
		double ops = (double)(f->cut[found->from + k + 1] - f->cut[found->from + k]);
		even += ops >= RULE_HALF * f->ops && RULE_HALF * ops <= f->ops;
	}
	sort_doubles(time, n);
	for (uint32_t k = n - (uint32_t)(RULE_QUARTER * n); k < n; k++)
		longest += time[k];
	sort_hashes(sum, n);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && sum[end] == sum[i]; end++)
			;
		alike += end - i >= RULE_FEW ? end - i : 0;
	}
	return host >= RULE_NEARLY_ALL * n && turns[0] < RULE_MOST * changes && turns[1] < RULE_MOST * changes &&
	                       longest <= RULE_MOST * all
	               ? (alike < even ? alike : even) / (double)n
	               : 0;
}

/* Whether cycles whose names vary make a loop: what nearly all hold and what stands in for the rest explains them, or,
 * where nothing else is found (`alone`), they are of a few kinds. */
static bool varies(const struct pattern_sequence *s, bool alone, struct pattern_found *out)
{
	struct pattern_fit *f = &out->fit;
	double constant = 0, held = 0, off = 0, off_time = 0, time = 0;
	if (out->to - out->from < RULE_CYCLES_VARIED)
		return false;
	out->n_ops = f->cut[out->to] - f->cut[out->from];
	out->cycles = out->to - out->from;
	for (size_t i = f->cut[out->from]; i < f->cut[out->to]; i++) {
		constant += f->constant[s->token[i]] > 0;
		held += f->usual[s->token[i]] > 0;
	}
	constant /= (double)out->n_ops;
	held /= (double)out->n_ops;
	const bool enough = constant >= RULE_CONSTANT || held >= RULE_HALF;
	if (enough)
		pattern_fit_weigh(f, s); /* else it would tell what is known */
	for (uint32_t k = out->from; k < out->to && enough; k++) {
		off += f->cycle[k].off;
		off_time += f->cycle[k].off_time;
		time += f->cycle[k].time;
	}
	out->ops = 1 - off / (double)out->n_ops;
	out->time = time > 0 ? 1 - off_time / time : 1;
	out->same = constant > 0 ? constant : DBL_MIN;
	if (enough && out->ops >= RULE_NEARLY_ALL && out->time >= RULE_EXPLAINED - RULE_LITTLE &&
	    (held - constant <= RULE_CONSTANT || pattern_fit_order(f, s) >= RULE_HALF))
		return true;
	out->ops = out->time = alone ? kinds_of(s, out) : 0;
	if (out->ops < RULE_NEARLY_ALL)
		return false;
	if (!enough)
		pattern_fit_weigh(f, s);
	return true;
}

static bool accept(const struct pattern_sequence *s, enum pattern_names varied, struct pattern_found *out)
{
	const struct pattern_fit *f = &out->fit;
	out->bursts = false;
	out->from = 0;
	out->to = f->n;
	while (out->from < out->to && f->cycle[out->from].grade < GRADE_ALIKE)
		out->from++;
	while (out->to > out->from && f->cycle[out->to - 1].grade < GRADE_ALIKE)
		out->to--;
	if (f->ops == 0 || out->to - out->from < RULE_CYCLES)
		return false;
	if (varied)
		return varies(s, varied == NAMES_OF_KINDS, out);
	split_by_time(f, s, out);
	drop_begin(f, s, out);
	/* a last cycle that lacks something is no whole one */
	if (out->to - out->from > RULE_CYCLES && f->cut[out->to] - f->cut[out->to - 1] + RULE_SPARE < f->ops)
		out->to--;
	return (explains(out, s, false) || are_bursts(s, out)) && !are_inputs(s, f, out->from, out->to);
}

bool pattern_cuts_try(const struct pattern_sequence *s, size_t *cut, uint32_t n, enum pattern_names varied,
                      struct arena *arena, struct pattern_found *out)
{
	struct pattern_fit *f = &out->fit;
	uint32_t kept = 0, longer = 0;
	*out = (struct pattern_found){0};
	/* ops of one launch belong together: nodes of a graph, in an order of their own */
	for (uint32_t k = 0; k < n; k++) {
		cut[k] = pattern_launch(s, cut[k]);
		if (!kept || cut[k] != cut[kept - 1])
			cut[kept++] = cut[k];
	}
	if (kept < RULE_CYCLES || (varied && kept <= RULE_CYCLES_VARIED) ||
	    !pattern_fit_init(f, s, cut, kept, varied, arena))
		return false;
	for (uint32_t k = 0; k < kept && f->ops > 1 && !varied; k++)
		longer += f->cycle[k].grade != GRADE_EXACT && (double)(cut[k + 1] - cut[k]) > RULE_LONGER * f->ops;
	if (longer && longer <= RULE_QUARTER * kept) {
		size_t *more = ARENA_NEW(arena, (size_t)kept * 2 + 1, size_t);
		uint32_t parts = pattern_fit_split(f, s, more, kept * 2);
		if (parts > kept && !pattern_fit_init(f, s, more, parts, varied, arena))
			return false;
	}
	return accept(s, varied, out);
}

bool pattern_cuts_at(const struct pattern_sequence *s, uint32_t token, size_t n, enum pattern_names names,
                     struct arena *arena, struct pattern_found *out)
{
	size_t *cut = ARENA_NEW(arena, n + 2, size_t);
	n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->token[i] == token)
			cut[n++] = i;
	return pattern_cuts_try(s, cut, (uint32_t)n, names, arena, out);
}
