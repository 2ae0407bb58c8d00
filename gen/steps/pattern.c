#include "steps/pattern.h"

#include "base/sort.h"
#include "steps/pattern_cycles.h"

#include <string.h>

/* What tells some cuts from others. */
static uint64_t sum_of_cuts(const size_t *cut, uint32_t n)
{
	uint64_t sum = n;
	for (uint32_t k = 0; k < n; k++)
		sum = (sum ^ cut[k]) * 0x9E3779B97F4A7C15u ^ sum >> 29;
	return sum;
}

/* The best of the cuts that were tried. */
struct best {
	struct arena arena; /* where it lives */
	struct pattern_found found;
	struct pattern_score score;
	bool have;
	bool open;             /* some whose names vary may be layers */
	uint32_t fewest, most; /* shorter cycles, the parts of a step that these are */
};

/* Whether there is a pause in cycle `k` that is its own. What a library takes for the first time is planned and loaded
 * then: a pause before it, or before what it launches with it, says nothing. */
static bool pauses(const struct pattern_sequence *s, const size_t *cut, uint32_t k, float usual)
{
	for (size_t i = cut[k]; i < cut[k + 1]; i++) {
		if (s->pause[i] <= usual * RULE_LONG || s->pause[i] <= RULE_LEAST_PAUSE)
			continue;
		uint32_t next = s->token[i + 1 < cut[k + 1] ? i + 1 : i];
		bool there = false, next_there = false;
		for (size_t b = cut[k - 1]; b < cut[k]; b++) {
			there = there || s->token[b] == s->token[i];
			next_there = next_there || s->token[b] == next;
		}
		if (there && next_there)
			return true;
	}
	return false;
}

/* Whether cycle `k` holds other names than the one before it and does not go on with what that did: the host has to do
 * with either as often, neither takes half as much GPU time again, and nothing else lies there, which neither neighbour
 * has, nor a pause. */
static bool is_other(const struct pattern_sequence *s, const struct pattern_found *f, uint32_t k)
{
	const size_t *cut = f->fit.cut;
	const struct pattern_cycle *b = &f->fit.cycle[k], *a = b - 1, *next = k + 1 < f->to ? b + 1 : a;
	size_t before = cut[k] - cut[k - 1], behind = k + 1 < f->to ? cut[k + 2] - cut[k + 1] : 0;
	return a->sum != b->sum &&
	       (a->structure != b->structure || a->time > b->time * RULE_LONGER || b->time > a->time * RULE_LONGER ||
	        cut[k + 1] - cut[k] > (before > behind ? before : behind) + RULE_SPARE ||
	        pauses(s, cut, k, a->pause > next->pause ? a->pause : next->pause));
}

/* Whether `varied` are the cycles of `f` and others, a loop that goes on under other names from some step on (a decode
 * beside a cache that grows): most has the same name, also by time, and others stand in for the rest. Of a few ops, one
 * of which is another, nothing is told. */
static bool is_one(const struct pattern_sequence *s, const struct pattern_found *varied, const struct pattern_found *f)
{
	const struct pattern_fit *fit = &varied->fit;
	double all = 0, same = 0;
	if (fit->ops < RULE_SHORT || varied->same < RULE_MOST || varied->ops < RULE_EXPLAINED ||
	    varied->time < RULE_EXPLAINED || varied->cycles < f->cycles + RULE_CYCLES)
		return false;
	for (uint32_t k = varied->from + 1; k < varied->to; k++)
		if (is_other(s, varied, k))
			return false;
	for (size_t i = fit->cut[varied->from] + 1; i < fit->cut[varied->to]; i++) {
		if (s->flags[i] & PATTERN_BREAK)
			return false;
		all += (double)s->length[i];
		same += fit->constant[s->token[i]] ? (double)s->length[i] : 0;
	}
	return same >= RULE_HALF * all;
}

/* Takes `found`, which lives in `own`, in place of the best so far if it is better. */
static bool consider(const struct pattern_sequence *s, const struct pattern_found *found, struct arena *own,
                     struct best *b)
{
	struct pattern_score score = pattern_score_of(s, found);
	/* what may be steps of which some are logged is not passed over for the lines of the log */
	b->open = b->open || (score.varied && score.level == LEVEL_OPEN);
	bool good = !score.varied || (score.level == LEVEL_STEP && (score.told || !b->open));
	bool named = b->have && b->score.level == LEVEL_STEP && !b->score.varied && !b->found.bursts;
	if (good && score.varied && named)
		good = is_one(s, found, &b->found);
	else
		good = good && (!b->have || pattern_score_is_better(&score, &b->score));
	if (good) {
		if (b->have && b->score.level < score.level) {
			b->fewest = b->score.fewest;
			b->most = b->score.most;
		}
		arena_release(&b->arena);
		b->arena = *own;
		*own = (struct arena){0};
		b->found = *found;
		b->score = score;
		b->have = true;
	}
	return good;
}

/* Proposes tuples that recur at about even distances, `least` times at least. */
static void by_repetition(const struct pattern_sequence *s, uint32_t least, struct best *best)
{
	ARENA_LOCAL(scratch);
	struct pattern_tuples tuples;
	struct pattern_candidate *list = ARENA_NEW(&scratch, RULE_CANDIDATES, struct pattern_candidate);
	uint64_t effort = 0, tried[RULE_CANDIDATES] = {0};
	uint32_t n_tried = 0;
	pattern_tuples_init(&tuples, s, &scratch);
	do {
		struct arena pass = {0};
		uint32_t n = pattern_candidates(&tuples, least, list, RULE_CANDIDATES, &pass);
		for (uint32_t i = 0; i < n && effort <= RULE_EFFORT * (uint64_t)s->n; i++) {
			size_t span = list[i].last - list[i].first;
			if ((double)span < RULE_LITTLE * (double)s->n ||
			    (best->have && (double)span < best->score.weight * RULE_MOST))
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
			effort += again ? 0 : span + (uint64_t)(RULE_QUARTER * (double)s->n);
			if (!again && pattern_cuts_try(s, cut, list[i].n, NAMES_SAME, &own, &found))
				consider(s, &found, &own, best);
			arena_release(&own);
		}
		arena_release(&pass);
	} while (!(best->have && best->score.level == LEVEL_STEP && best->score.weight >= RULE_HALF * (double)s->n) &&
	         tuples.width < RULE_WIDEST && effort <= RULE_EFFORT * (uint64_t)s->n && pattern_tuples_widen(&tuples));
}

/* Proposes to begin behind each op that the host read or waited for. */
static void by_reading(const struct pattern_sequence *s, struct best *best)
{
	struct arena own = {0};
	struct pattern_found found = {0};
	size_t *cut = ARENA_NEW(&own, s->n + 2, size_t);
	uint32_t n = 1; /* the first op */
	size_t longest = 0;
	for (size_t i = 0; i + 1 < s->n; i++) {
		if ((s->flags[i] & (PATTERN_HOST | PATTERN_INPUT)) != PATTERN_HOST)
			continue;
		cut[n] = i + 1;
		longest = n > 1 && cut[n] - cut[n - 1] > longest ? cut[n] - cut[n - 1] : longest;
		n++;
	}
	/* what is longer than any that follows holds something before them: the start-up, which is no step */
	bool before = n > 1 && cut[1] > longest;
	if (pattern_cuts_try(s, cut + before, n - before, NAMES_SAME, &own, &found))
		consider(s, &found, &own, best);
	arena_release(&own);
}

struct named {
	uint32_t token, n;
	uint8_t flags;
};

/* Those that are there most often first; of as many those first that say most. */
SORT_ORDER(compare_named, struct named,
           DESCENDING(x->n, y->n) ?: DESCENDING(x->flags, y->flags) ?: ASCENDING(x->token, y->token))

/* Proposes the token at which cycles whose names vary are best cut: of a part in the middle, where there are many ops.
 */
static void by_name(const struct pattern_sequence *s, struct best *best)
{
	ARENA_LOCAL(scratch);
	struct pattern_sequence part =
		s->n > RULE_EXCERPT ? pattern_part(s, (s->n - RULE_EXCERPT) / 2, RULE_EXCERPT) : *s;
	struct named *list = ARENA_NEW(&scratch, s->n_tokens, struct named);
	struct best varied = {0};
	struct pattern_found found;
	enum pattern_names how = best->have ? NAMES_VARY : NAMES_OF_KINDS;
	uint32_t kept = 0, of_count = 0, count = 0, tried = 0, token = UINT32_MAX;
	for (size_t i = 0; i < part.n; i++) {
		struct named *named = &list[part.token[i]];
		named->token = part.token[i];
		named->n++;
		if ((double)i >= RULE_QUARTER * (double)part.n && (double)i <= RULE_MOST * (double)part.n)
			named->flags |= part.flags[i] & (PATTERN_INPUT | PATTERN_UPDATE | PATTERN_HOST);
	}
	for (uint32_t k = 0; k < s->n_tokens; k++)
		if (list[k].n > RULE_CYCLES_VARIED)
			list[kept++] = list[k];
	SORT(list, kept, compare_named);
	for (uint32_t i = 0; i < kept && tried < RULE_CANDIDATES; i++) {
		struct arena own = {0};
		if (!count || count - list[i].n > RULE_LITTLE * count) {
			count = list[i].n;
			of_count = 0;
		}
		if (of_count++ >= RULE_FEW)
			continue;
		tried++;
		if (pattern_cuts_at(&part, list[i].token, list[i].n, how, &own, &found) &&
		    consider(&part, &found, &own, &varied))
			token = list[i].token;
		arena_release(&own);
	}
	arena_release(&varied.arena);
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += s->token[i] == token;
	if (n && pattern_cuts_at(s, token, n, how, &varied.arena, &found))
		consider(s, &found, &varied.arena, best);
	arena_release(&varied.arena);
}

/* Takes shorter cycles in place of those that were found where those consist of them: in the same stretch, for beside
 * it another loop may have more of them. First a few are looked at. */
static void take_inner(const struct pattern_sequence *s, struct best *b)
{
	for (int whole = 0; whole < 2; whole++) {
		const struct pattern_found *f = &b->found;
		uint32_t n = whole || f->to - f->from < RULE_MANY ? f->to - f->from : RULE_MANY;
		uint32_t from = f->from + (f->to - f->from - n) / 2;
		if (f->bursts || f->same > 0 || f->fit.ops < RULE_SHORT)
			return;
		while (!whole && n > RULE_SPARE && f->fit.cut[from + n] - f->fit.cut[from] > RULE_GLANCE)
			n--;
		size_t first = f->fit.cut[from];
		struct pattern_sequence part = pattern_part(s, first, f->fit.cut[from + n] - first);
		struct best inner = {0};
		by_repetition(&part, (uint32_t)(RULE_LONGER * n), &inner);
		bool good = inner.have && !inner.found.bursts && inner.score.level >= b->score.level &&
		            inner.found.fit.ops < RULE_MOST * f->fit.ops &&
		            inner.score.weight >= RULE_NEARLY_ALL * (double)part.n;
		if (good && whole) {
			for (uint32_t k = 0; k <= inner.found.fit.n; k++)
				inner.found.fit.cut[k] += first;
			arena_release(&b->arena);
			b->arena = inner.arena;
			b->found = inner.found;
			b->score = inner.score;
		} else {
			arena_release(&inner.arena);
		}
		if (!good)
			return;
	}
}

/* The op of a usual cycle before which the program pauses longest; 0: it does so before the first. */
static uint32_t longest_pause(const struct pattern_sequence *s, const struct pattern_found *f)
{
	const struct pattern_fit *fit = &f->fit;
	double longest = 0, first = 0;
	uint32_t best = 0;
	uint32_t some[RULE_WINDOW], n_some = 0, stride = (f->to - f->from) / RULE_WINDOW + 1;
	for (uint32_t k = f->from; k < f->to; k += fit->cycle[k].grade == GRADE_EXACT ? stride : 1)
		if (fit->cycle[k].grade == GRADE_EXACT && n_some < RULE_WINDOW)
			some[n_some++] = k;
	for (uint32_t i = 0; i < fit->ops && n_some; i++) {
		int64_t of_op[RULE_WINDOW];
		for (uint32_t k = 0; k < n_some; k++)
			of_op[k] = (int64_t)s->pause[fit->cut[some[k]] + i];
		sort_times(of_op, n_some);
		const double median = (double)of_op[n_some / 2];
		first = i ? first : median;
		best = median > longest ? i : best;
		longest = median > longest ? median : longest;
	}
	return longest > first * RULE_PAUSE ? best : 0;
}

/* A cycle may be cut anywhere; it is best cut where the program pauses. */
static void cut_at_pause(const struct pattern_sequence *s, struct arena *arena, struct pattern_found *f)
{
	const struct pattern_fit *fit = &f->fit;
	const uint32_t best = f->bursts || fit->model == UINT32_MAX ? 0 : longest_pause(s, f);
	if (!best)
		return;
	/* one more at either end, of which the present cuts have half each */
	size_t *cut = ARENA_NEW(arena, (size_t)(f->to - f->from) + 2 + 1, size_t);
	uint32_t n = 0;
	if (fit->cut[f->from] + best >= fit->ops)
		cut[n++] = fit->cut[f->from] + best - fit->ops;
	for (uint32_t k = f->from; k <= f->to; k++) {
		/* counted from the nearer end: ops may be lost or added */
		size_t length = k < f->to ? fit->cut[k + 1] - fit->cut[k] : 0, left = fit->ops - best;
		size_t at = fit->cut[k] + (best <= left || k + 1 >= f->to || length < left ? best : length - left);
		if (at < s->n && (!n || at > cut[n - 1]))
			cut[n++] = at;
	}
	struct pattern_found found = {0};
	if (pattern_cuts_try(s, cut, n, NAMES_SAME, arena, &found) && !found.bursts && found.cycles >= f->cycles &&
	    found.ops >= f->ops - RULE_LITTLE)
		*f = found;
}

/* `others`: a loop that does more than copy was found before; what it has left is not the same work under other names.
 */
static bool find_loop(const struct pattern_sequence *s, bool others, struct arena *arena, struct pattern_found *out)
{
	struct best best = {0};
	if (s->n < RULE_CYCLES)
		return false;
	by_repetition(s, RULE_CYCLES, &best);
	if (best.have && !best.most)
		take_inner(s, &best);
	if (best.have && best.score.level < LEVEL_STEP)
		by_reading(s, &best);
	if (!others && best.score.weight < (1 - RULE_LITTLE) * (double)s->n)
		by_name(s, &best);
	*out = best.found;
	if (best.have) {
		arena_adopt(arena, &best.arena);
		cut_at_pause(s, arena, out);
		out->fewest = best.fewest;
		out->most = best.most;
	}
	return best.have;
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
	return fit->cycle[k].more && fit->cut[k] + fit->ops < fit->cut[k + 1] ? fit->cut[k] + fit->ops
	                                                                      : fit->cut[k + 1];
}

/* Whether each cycle has half as much again to do as the one before, or each the one behind: sizes are gone through. */
static bool is_sweep(const double *time, uint32_t n)
{
	uint32_t grows = 0, falls = 0;
	for (uint32_t k = 1; k < n; k++) {
		grows += time[k] >= RULE_LONGER * time[k - 1];
		falls += time[k - 1] >= RULE_LONGER * time[k];
	}
	return n > 1 && (grows == n - 1 || falls == n - 1);
}

static void add_loop(const struct pattern_sequence *s, const uint32_t *row, const struct pattern_found *f,
                     struct arena *arena, struct pattern *out)
{
	const struct pattern_fit *fit = &f->fit;
	struct run_loop *loop = &out->loops[out->n_loops++];
	*loop = (struct run_loop){.processes = 1, .ops = fit->ops, .fewest = f->fewest, .most = f->most};
	loop->start = s->at[fit->cut[f->from]];
	loop->same = f->same > 0 ? f->same : 1;
	loop->explained = f->ops < f->time ? f->ops : f->time;
	loop->at = ARENA_NEW(arena, (size_t)(f->to - f->from) + 1, int64_t);
	loop->lacks = ARENA_NEW(arena, f->to - f->from, bool);
	ARENA_LOCAL(scratch);
	double *time = ARENA_NEW(&scratch, f->to - f->from, double);
	for (uint32_t k = f->from; k < f->to; k++) {
		if (fit->cycle[k].grade == GRADE_NONE)
			continue;
		size_t end = cycle_end(fit, k);
		uint32_t usual = 0;
		for (size_t i = fit->cut[k]; i < end; i++) {
			loop->works |= s->flags[i] & PATTERN_WORK;
			usual += fit->model != UINT32_MAX && fit->usual[s->token[i]];
			out->loop[row[i]] = (uint8_t)out->n_loops;
			out->cycle[row[i]] = loop->n;
			time[loop->n] += (double)s->length[i];
		}
		loop->time += time[loop->n];
		loop->lacks[loop->n] = fit->model != UINT32_MAX && usual < fit->ops;
		loop->differ += fit->cycle[k].grade != GRADE_EXACT;
		loop->at[loop->n++] = s->at[fit->cut[k]];
		loop->at[loop->n] = end < s->n ? s->at[end] : INT64_MAX;
	}
	loop->works = loop->works && !is_sweep(time, loop->n);
	for (uint32_t k = 0; k < loop->n; k++)
		loop->lacks[k] = loop->lacks[k] && time[k] < RULE_MOST * loop->time / loop->n;
}

SORT_ORDER(compare_loops, struct run_loop,
           x->search - y->search ?: DESCENDING(x->time, y->time) ?: ASCENDING(x->start, y->start))

void run_loops_sort(struct run_loop *list, uint32_t n, uint8_t *place)
{
	for (uint32_t i = 0; i < n; i++)
		list[i].name = i + 1; /* until it has one */
	SORT(list, n, compare_loops);
	for (uint32_t i = 0; i < n; i++)
		place[list[i].name] = (uint8_t)(i + 1);
}

void pattern_find(const struct pattern_sequence *sequence, struct arena *arena, struct pattern *out)
{
	ARENA_LOCAL(scratch);
	struct pattern_sequence s = *sequence;
	size_t n = s.n;
	*out = (struct pattern){0};
	out->loops = ARENA_NEW(arena, RULE_LOOPS, struct run_loop);
	out->loop = ARENA_NEW(arena, n, uint8_t);
	out->cycle = ARENA_NEW(arena, n, uint32_t);
	uint32_t *row = ARENA_NEW(&scratch, n, uint32_t);
	for (size_t i = 0; i < n; i++)
		row[i] = (uint32_t)i;
	bool others = false; /* loops that do more than copy */
	while (out->n_loops < RULE_LOOPS) {
		struct arena pass = {0};
		struct pattern_found found = {0};
		bool have = find_loop(&s, others, &pass, &found);
		if (have)
			add_loop(&s, row, &found, arena, out);
		others = others || (have && out->loops[out->n_loops - 1].works);
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
	uint8_t place[RULE_LOOPS + 1] = {0};
	run_loops_sort(out->loops, out->n_loops, place);
	for (size_t i = 0; i < n; i++)
		out->loop[i] = place[out->loop[i]];
}
