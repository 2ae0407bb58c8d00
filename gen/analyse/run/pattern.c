#include "analyse/run/pattern.h"

#include "analyse/run/pattern_cuts.h"
#include "analyse/run/pattern_layers.h"
#include "analyse/run/pattern_tuples.h"
#include "analyse/run/pattern_varied.h"
#include "base/sort.h"

#include <string.h>

/* What tells some cuts from others. */
static uint64_t sum_of_cuts(const size_t *cut, uint32_t n)
{
	uint64_t sum = n;
	for (uint32_t k = 0; k < n; k++)
		sum = (sum ^ cut[k]) * 0x9E3779B97F4A7C15u ^ sum >> 29;
	return sum;
}

/* The loop that explains most, among those the one with the shortest cycle. `least` occurrences of a tuple at least,
 * tuples no wider than `widest`; `width` receives the width of the tuple at which its cycles begin. */
static bool find_one(const struct pattern_sequence *s, uint32_t least, uint32_t widest, struct arena *arena,
                     struct pattern_found *out, uint32_t *width)
{
	ARENA_LOCAL(scratch);
	struct pattern_tuples tuples;
	struct pattern_candidate *list = ARENA_NEW(&scratch, RULE_CANDIDATES, struct pattern_candidate);
	struct arena best_arena = {0};
	struct pattern_found best = {0};
	bool have = false;
	uint64_t effort = 0, tried[RULE_CANDIDATES];
	uint32_t n_tried = 0;
	pattern_tuples_init(&tuples, s, &scratch);
	for (;;) {
		struct arena pass = {0};
		uint32_t n = pattern_candidates(&tuples, least, list, RULE_CANDIDATES, &pass);
		for (uint32_t i = 0; i < n && effort <= RULE_EFFORT * (uint64_t)s->n; i++) {
			size_t span = list[i].last - list[i].first;
			if ((double)span < RULE_LITTLE * (double)s->n)
				continue;
			if (have && (double)span < pattern_cuts_weight(&best) * RULE_EXPLAINED)
				continue;
			struct arena own = {0};
			struct pattern_found found = {0};
			size_t *cut = ARENA_NEW(&own, (size_t)list[i].n + 1, size_t);
			pattern_occurrences(&tuples, list[i].id, cut);
			/* a wider tuple is often where a narrower one was */
			uint64_t sum = sum_of_cuts(cut, list[i].n);
			bool again = false;
			for (uint32_t k = 0; k < n_tried && k < RULE_CANDIDATES && !again; k++)
				again = tried[k] == sum;
			tried[n_tried++ % RULE_CANDIDATES] = sum;
			if (again) {
				arena_release(&own);
				continue;
			}
			effort += span + (uint64_t)(RULE_QUARTER * (double)s->n);
			/* as much explained by a shorter cycle, or more by any */
			bool good = pattern_cuts_try(s, cut, list[i].n, false, &own, &found);
			if (good &&
			    (!have || pattern_cuts_weight(&best) < pattern_cuts_weight(&found) * RULE_EXPLAINED ||
			     (pattern_cuts_weight(&found) > pattern_cuts_weight(&best) * RULE_EXPLAINED &&
			      found.fit.ops < best.fit.ops))) {
				arena_release(&best_arena);
				best_arena = own;
				best = found;
				*width = tuples.width;
				have = true;
			} else {
				arena_release(&own);
			}
		}
		arena_release(&pass);
		if ((have && pattern_cuts_weight(&best) >= RULE_HALF * (double)s->n) || tuples.width >= widest ||
		    effort > RULE_EFFORT * (uint64_t)s->n)
			break;
		if (!pattern_tuples_widen(&tuples))
			break;
	}
	if (have)
		arena_adopt(arena, &best_arena);
	*out = best;
	return have;
}

/* Whether a few cycles from the middle, looked at by themselves, consist of shorter ones. Their number, and the width
 * of the tuple that tells. */
static uint32_t inner_cycles(const struct pattern_sequence *s, const struct pattern_found *f, uint32_t *width)
{
	if (f->bursts || f->fit.ops < 2)
		return 0;
	ARENA_LOCAL(scratch);
	uint32_t n = f->to - f->from < RULE_MANY ? f->to - f->from : RULE_MANY;
	uint32_t from = f->from + (f->to - f->from - n) / 2;
	while (n > 2 && f->fit.cut[from + n] - f->fit.cut[from] > RULE_GLANCE)
		n--;
	size_t first = f->fit.cut[from];
	struct pattern_sequence part = pattern_part(s, first, f->fit.cut[from + n] - first);
	struct pattern_found inner = {0};
	uint32_t cycles = 0;
	if (find_one(&part, (uint32_t)(RULE_LONGER * n), RULE_WIDEST, &scratch, &inner, width) && !inner.bursts &&
	    inner.fit.ops < RULE_MOST * f->fit.ops && pattern_cuts_weight(&inner) >= RULE_EXPLAINED * (double)part.n)
		cycles = inner.cycles / n;
	return cycles;
}

/* A cycle may be cut anywhere; it is best cut where the program pauses: before the op that follows the longest pause of
 * a usual cycle. */
static void cut_at_pause(const struct pattern_sequence *s, struct arena *arena, struct pattern_found *f)
{
	const struct pattern_fit *fit = &f->fit;
	if (f->bursts || fit->ops < 2 || fit->model == UINT32_MAX)
		return;

	ARENA_LOCAL(scratch);
	double *pause = ARENA_NEW(&scratch, fit->ops, double);
	uint32_t some[RULE_WINDOW], n_some = 0, stride = (f->to - f->from) / RULE_WINDOW + 1;
	for (uint32_t k = f->from; k < f->to; k += fit->grade[k] == GRADE_EXACT ? stride : 1)
		if (fit->grade[k] == GRADE_EXACT && n_some < RULE_WINDOW)
			some[n_some++] = k;
	for (uint32_t i = 0; i < fit->ops && n_some; i++) {
		int64_t of_op[RULE_WINDOW];
		for (uint32_t k = 0; k < n_some; k++)
			of_op[k] = (int64_t)s->pause[fit->cut[some[k]] + i];
		sort_times(of_op, n_some);
		int64_t median = of_op[n_some / 2];
		pause[i] = (double)median;
	}
	uint32_t best = 0;
	for (uint32_t i = 1; i < fit->ops; i++)
		if (pause[i] > pause[best])
			best = i;
	if (best && pause[best] > pause[0] * RULE_PAUSE) {
		/* one more at either end, of which the present cuts have half each */
		size_t *cut = ARENA_NEW(arena, (size_t)(f->to - f->from) + 2 + 1, size_t);
		uint32_t n = 0;
		if (fit->cut[f->from] + best >= fit->ops)
			cut[n++] = fit->cut[f->from] + best - fit->ops;
		for (uint32_t k = f->from; k < f->to; k++) {
			/* counted from the nearer end: ops may be lost or added */
			size_t length = fit->cut[k + 1] - fit->cut[k], left = fit->ops - best;
			size_t at = best <= left || k + 1 == f->to || length < left ? fit->cut[k] + best
			                                                            : fit->cut[k + 1] - left;
			if (at < s->n && (!n || at > cut[n - 1]))
				cut[n++] = at;
		}
		if (fit->cut[f->to] + best < s->n && fit->cut[f->to] + best > cut[n - 1])
			cut[n++] = fit->cut[f->to] + best;
		struct pattern_found found = {0};
		if (pattern_cuts_try(s, cut, n, false, arena, &found) && !found.bursts && found.cycles >= f->cycles &&
		    found.share.ops >= f->share.ops - RULE_LITTLE) {
			found.fewest = f->fewest;
			found.most = f->most;
			*f = found;
		}
	}
}

/* Takes shorter cycles in place of those of `f` where those consist of them: in the same stretch, for beside it another
 * loop may have more of them. */
static void take_inner(const struct pattern_sequence *s, struct arena *arena, struct pattern_found *f)
{
	struct pattern_found shorter = {0};
	uint32_t width = 0;
	if (inner_cycles(s, f, &width) < 2)
		return;
	size_t first = f->fit.cut[f->from], end = f->fit.cut[f->to];
	/* a long cycle at either end may be part of it, and part of something else */
	first -= first < f->fit.ops ? first : f->fit.ops;
	end += s->n - end < f->fit.ops ? s->n - end : f->fit.ops;
	struct pattern_sequence part = pattern_part(s, first, end - first);
	if (!find_one(&part, (uint32_t)(RULE_LONGER * f->cycles), width, arena, &shorter, &width) ||
	    pattern_cuts_weight(&shorter) < RULE_NEARLY_ALL * pattern_cuts_weight(f) || shorter.fit.ops >= f->fit.ops)
		return;
	for (uint32_t k = 0; k <= shorter.fit.n; k++)
		shorter.fit.cut[k] += first;
	*f = shorter;
}

static bool find_loop(const struct pattern_sequence *s, struct arena *arena, struct pattern_found *out)
{
	uint32_t width = 0;
	if (s->n < RULE_CYCLES || !find_one(s, RULE_CYCLES, RULE_WIDEST, arena, out, &width))
		return false;
	take_inner(s, arena, out);
	struct pattern_found outer = {0};
	if (pattern_layers_join(s, out, arena, &outer))
		*out = outer;
	cut_at_pause(s, arena, out);
	return true;
}

/* The ops that are in no loop yet. `row`: which of the whole sequence they are. */
static void leave_out(const struct pattern *p, struct pattern_sequence *s, uint32_t *row)
{
	size_t n = 0;
	uint8_t removed = 0;
	for (size_t i = 0; i < s->n; i++)
		if (p->loop[row[i]]) {
			removed = PATTERN_BREAK;
		} else {
			row[n] = row[i];
			s->end[n] = s->end[i];
			s->pause[n] = s->pause[i];
			s->token[n] = s->token[i];
			s->at[n] = s->at[i];
			s->length[n] = s->length[i];
			s->flags[n++] = s->flags[i] | removed;
			removed = 0;
		}
	s->n = n;
}

/* What lies behind a cycle that holds more than twice what is usual is not its own. */
static size_t cycle_end(const struct pattern_fit *fit, uint32_t k)
{
	return fit->more[k] && fit->cut[k] + fit->ops < fit->cut[k + 1] ? fit->cut[k] + fit->ops : fit->cut[k + 1];
}

static void add_loop(const struct pattern_sequence *s, const uint32_t *row, const struct pattern_found *f,
                     struct arena *arena, struct pattern *out)
{
	const struct pattern_fit *fit = &f->fit;
	struct pattern_loop *loop = &out->loops[out->n_loops++];
	*loop = (struct pattern_loop){.ops = fit->ops, .fewest = f->fewest, .most = f->most};
	loop->same = f->same > 0 ? f->same : 1;
	loop->explained = f->share.ops < f->share.time ? f->share.ops : f->share.time;
	loop->at = ARENA_NEW(arena, (size_t)(f->to - f->from) + 1, int64_t);
	loop->lacks = ARENA_NEW(arena, f->to - f->from, bool);
	ARENA_LOCAL(scratch);
	double *time = ARENA_NEW(&scratch, f->to - f->from, double);
	for (uint32_t k = f->from; k < f->to; k++) {
		if (fit->grade[k] == GRADE_NONE)
			continue;
		size_t end = cycle_end(fit, k);
		uint32_t usual = 0;
		for (size_t i = fit->cut[k]; i < end; i++) {
			usual += fit->model != UINT32_MAX && fit->usual[s->token[i]];
			out->loop[row[i]] = (uint8_t)out->n_loops;
			out->cycle[row[i]] = loop->n;
			time[loop->n] += (double)s->length[i];
			loop->n_ops++;
		}
		loop->time += time[loop->n];
		loop->lacks[loop->n] = fit->model != UINT32_MAX && usual < fit->ops;
		loop->differ += fit->grade[k] != GRADE_EXACT;
		loop->at[loop->n++] = s->at[fit->cut[k]];
		loop->at[loop->n] = end < s->n ? s->at[end] : INT64_MAX;
	}
	for (uint32_t k = 0; k < loop->n; k++)
		loop->lacks[k] = loop->lacks[k] && time[k] < RULE_MOST * loop->time / loop->n;
}

static int compare_loops(const void *a, const void *b)
{
	const struct pattern_loop *x = a, *y = b;
	return DESCENDING(x->time, y->time) ?: ASCENDING(x->at[0], y->at[0]);
}

/* The loops in order of their time, and the ops' numbers of them with it. */
static void sort_loops(struct pattern *p, size_t n)
{
	uint8_t place[RULE_LOOPS + 1] = {0};
	struct pattern_loop before[RULE_LOOPS];
	if (!p->n_loops)
		return;
	memcpy(before, p->loops, sizeof before);
	SORT(p->loops, p->n_loops, compare_loops);
	for (uint32_t i = 0; i < p->n_loops; i++)
		for (uint32_t k = 0; k < p->n_loops; k++)
			if (before[i].at == p->loops[k].at)
				place[i + 1] = (uint8_t)(k + 1);
	for (size_t i = 0; i < n; i++)
		p->loop[i] = place[p->loop[i]];
}

/* GPU time of a loop's cycles. */
static double time_in(const struct pattern_sequence *s, const struct pattern_found *f)
{
	double in = 0;
	for (uint32_t k = f->from; k < f->to; k++)
		for (size_t i = f->fit.cut[k]; i < cycle_end(&f->fit, k) && f->fit.grade[k] != GRADE_NONE; i++)
			in += (double)s->length[i];
	return in;
}

/* Where a good part of a sequence is in no cycle of the loop that was found, `f`, or none was: steps that are the same
 * work under other names. They may be what the loop's cycles are a part of, such as those of one length; or what they
 * are layers of, if only then there is an input or an optimizer; or what several of make one of its cycles. True: `f`
 * is that now. */
static bool take_varied(const struct pattern_sequence *s, bool have, struct arena *arena, struct pattern_found *f)
{

	double all = 0, in = have ? time_in(s, f) : 0;
	for (size_t i = 0; i < s->n; i++)
		all += (double)s->length[i];
	struct pattern_places places;
	/* what fills memory at the start, say, is neither these steps nor a part of them */
	if (in < all * (1 - RULE_EXPLAINED))
		have = false;
	/* steps one upon the other, of one name each, are a loop, and what is beside it another one */
	bool no_two = have && !f->bursts && f->fit.model == UINT32_MAX;
	if (have && !f->bursts && !no_two)
		return false;
	if (s->n < RULE_CYCLES_VARIED || !pattern_varied_find(s, !have, arena, &places))
		return false;
	struct pattern_found varied;
	pattern_varied_cycles(&places, arena, &varied);
	uint32_t uneven = 0;
	for (uint32_t k = 0; k < varied.to; k++) {
		size_t ops = places.cut[k + 1] - places.cut[k];
		uneven += (double)ops < RULE_MOST * places.ops || (double)ops * RULE_MOST > places.ops;
	}
	bool told = places.input >= RULE_NEARLY_ALL || places.update >= RULE_NEARLY_ALL;
	/* what was found is a part of a step, however much of it, where each step has its input and hardly any part */
	bool parts = varied.cycles < f->cycles && told && places.ops > f->fit.ops &&
	             pattern_fit_host(&f->fit, s, f->from, f->to, GRADE_EXACT) < RULE_NEARLY_ALL;
	/* several steps together may vary so little in how often each name comes that they pass for a cycle, where
	 * each by itself does not */
	if (no_two) {
		bool several = told && RULE_HALF * varied.cycles >= f->cycles && uneven <= RULE_HALF * varied.cycles &&
		               time_in(s, &varied) >= in * (1 - RULE_LITTLE);
		if (several)
			*f = varied;
		return several;
	}
	/* where names do not vary, what was found without some of the cycles was so for a reason: their time is another
	 */
	if (have && !parts &&
	    (varied.cycles < f->cycles || places.constant_ops > 1 - RULE_LITTLE || in > all * (1 - RULE_LITTLE) ||
	     time_in(s, &varied) < in * (1 + RULE_LITTLE) || uneven > RULE_HALF * (varied.cycles - f->cycles)))
		return false;
	*f = varied;
	return true;
}

/* Whether a loop does more than copy. */
static bool computes(const struct pattern_sequence *s, const struct pattern_found *f)
{
	bool work = false;
	for (size_t i = f->fit.cut[f->from]; i < f->fit.cut[f->to] && !work; i++)
		work = s->flags[i] & PATTERN_WORK;
	return work;
}

void pattern_find(const struct pattern_sequence *sequence, struct arena *arena, struct pattern *out)
{
	ARENA_LOCAL(scratch);
	struct pattern_sequence s = *sequence;
	size_t n = s.n;
	*out = (struct pattern){0};
	out->loops = ARENA_NEW(arena, RULE_LOOPS, struct pattern_loop);
	out->loop = ARENA_NEW(arena, n, uint8_t);
	out->cycle = ARENA_NEW(arena, n, uint32_t);
	uint32_t *row = ARENA_NEW(&scratch, n, uint32_t);
	for (size_t i = 0; i < n; i++)
		row[i] = (uint32_t)i;
	bool others = false; /* loops that do more than copy */
	while (out->n_loops < RULE_LOOPS) {
		struct arena pass = {0};
		struct pattern_found found = {0};
		bool have = find_loop(&s, &pass, &found);
		if (!others) /* not of what these have left; but a model's weights come first, copy by copy */
			have = take_varied(&s, have, &pass, &found) || have;
		others = others || (have && computes(&s, &found));
		struct pattern_places stretches;
		if (have && found.fit.model != UINT32_MAX && pattern_stretches_find(&s, &found, &pass, &stretches))
			pattern_varied_cycles(&stretches, &pass, &found);
		if (have)
			add_loop(&s, row, &found, arena, out);
		arena_release(&pass);
		if (!have || s.n == 0)
			break;
		if (out->n_loops == 1) { /* the caller's columns stay as they are */
			size_t bytes = s.n;
			s.token = memcpy(ARENA_NEW(&scratch, bytes, uint32_t), s.token, bytes * sizeof *s.token);
			s.at = memcpy(ARENA_NEW(&scratch, bytes, int64_t), s.at, bytes * sizeof *s.at);
			s.end = memcpy(ARENA_NEW(&scratch, bytes, int64_t), s.end, bytes * sizeof *s.end);
			s.pause = memcpy(ARENA_NEW(&scratch, bytes, float), s.pause, bytes * sizeof *s.pause);
			s.length = memcpy(ARENA_NEW(&scratch, bytes, int64_t), s.length, bytes * sizeof *s.length);
			s.flags = memcpy(ARENA_NEW(&scratch, bytes, uint8_t), s.flags, bytes);
		}
		leave_out(out, &s, row);
	}
	if (!others) { /* a model's weights, a measurement of the bus: copies alone are no step */
		out->n_loops = 0;
		memset(out->loop, 0, n);
	}
	sort_loops(out, n);
}
