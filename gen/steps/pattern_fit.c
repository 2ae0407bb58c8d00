#include "steps/pattern_cycles.h"

#include "base/keymap.h"
#include "base/sort.h"

#include <string.h>

/* ---- what is usual ---- */

void pattern_counts_init(struct pattern_counts *c, const struct pattern_sequence *s, struct arena *arena)
{
	*c = (struct pattern_counts){.of = ARENA_NEW(arena, s->n_tokens, uint32_t)};
	c->seen = ARENA_NEW(arena, s->n_tokens, uint32_t);
	c->time = ARENA_NEW(arena, s->n_tokens, double);
}

/* A cycle that holds what most of some cycles hold, from all over the sequence; UINT32_MAX: no two of ten do. */
static uint32_t commonest(const struct pattern_fit *f, uint32_t n)
{
	uint64_t some[RULE_SAMPLE], sum = 0;
	uint32_t taken = 0, best = 0, k = 0;
	for (; k < n && taken < RULE_SAMPLE; k += n / RULE_SAMPLE + 1)
		some[taken++] = f->cycle[k].sum;
	sort_hashes(some, taken);
	for (uint32_t i = 0, first = 0; i < taken; i++) {
		first = some[i] == some[first] ? first : i;
		sum = i - first + 1 > best ? some[i] : sum;
		best = i - first + 1 > best ? i - first + 1 : best;
	}
	for (k = 0; f->cycle[k].sum != sum; k++)
		;
	return best >= RULE_COMMON * taken ? k : UINT32_MAX;
}

/* What nearly all of the cycles [from, to) hold, and, by a majority vote (R. S. Boyer, J S. Moore, 1981), as often. */
static void vote(struct pattern_fit *f, const struct pattern_sequence *s, uint32_t from, uint32_t to)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	uint32_t *there = ARENA_NEW(&scratch, s->n_tokens, uint32_t),
		 *more = ARENA_NEW(&scratch, s->n_tokens, uint32_t);
	uint32_t n = to - from;
	f->n_usual = 0;
	memset(f->constant, 0, s->n_tokens * sizeof *f->constant);
	for (uint32_t k = from; k < to; k++) {
		pattern_counts_clear(&counts);
		for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++)
			pattern_counts_add(&counts, s->token[i]);
		for (uint32_t i = 0; i < counts.n; i++) {
			uint32_t token = counts.seen[i];
			there[token]++;
			if (!more[token])
				f->constant[token] = counts.of[token];
			more[token] += f->constant[token] == counts.of[token] ? 1 : -1;
		}
	}
	for (uint32_t token = 0; token < s->n_tokens; token++) {
		uint32_t same = (there[token] + more[token]) / 2;
		f->usual[token] = there[token] && (there[token] + 1 >= n || there[token] >= RULE_EXPLAINED * n);
		f->constant[token] *= f->usual[token] && (same + 1 >= n || same >= RULE_EXPLAINED * n);
		f->n_usual += f->usual[token];
	}
}

/* ---- what stands in for others ---- */

/* What may stand in a place, of how often `of` i ops stand there: one more than the median, if in nearly all cycles
 * there are about as many; else nothing. */
static uint8_t limit_of(const uint32_t *of, uint32_t n)
{
	uint32_t median = 0, below = 0, fewer = 0, all = 0;
	for (uint32_t i = 0; i < n; i++)
		all += of[i];
	while (all && (below += of[median]) < RULE_HALF * all)
		median++;
	for (uint32_t i = 0; i < n && (!i || i + 1 + (uint32_t)(RULE_QUARTER * median) < median); i++)
		fewer += of[i];
	return all && (fewer <= 1 || all - fewer >= RULE_NEARLY_ALL * all) ? (uint8_t)(median + (median + 1 < n)) : 0;
}

/* By op, from the first cut: how many may stand behind the two usual ops before it, about as many each time. */
static uint8_t *find_places(const struct pattern_fit *f, const struct pattern_sequence *s, struct arena *arena)
{
	size_t first = f->cut[0], n = f->cut[f->n] - first;
	uint32_t last = UINT32_MAX, pair = 0, fill = 0;
	uint8_t *limit = ARENA_NEW(arena, n, uint8_t);
	ARENA_LOCAL(scratch);
	struct keymap pairs;
	uint32_t *of = ARENA_NEW(&scratch, n, uint32_t);
	keymap_init(&pairs, &scratch);
	for (size_t i = 0; i < n; i++) {
		uint32_t token = s->token[first + i];
		of[i] = pair;
		if (f->usual[token]) {
			pair = keymap_add(&pairs, (uint64_t)last << 32 | token);
			last = token;
		}
	}
	uint32_t *fills = ARENA_NEW(&scratch, ((size_t)pairs.n + 1) * RULE_LOOPS, uint32_t);
	uint8_t *by_pair = ARENA_NEW(&scratch, pairs.n + 1, uint8_t);
	for (size_t i = 0; i < n; i++) {
		bool usual = f->usual[s->token[first + i]];
		if (usual && i)
			fills[of[i] * RULE_LOOPS + (fill < RULE_LOOPS ? fill : RULE_LOOPS - 1)]++;
		fill = usual ? 0 : fill + 1;
	}
	for (uint32_t k = 0; k < pairs.n; k++)
		by_pair[k] = limit_of(fills + k * RULE_LOOPS, RULE_LOOPS);
	for (size_t i = 0; i < n; i++)
		limit[i] = by_pair[of[i]];
	return limit;
}

/* How much of what follows is told by the few ops before it, of which there are a few at least: layers and
 * micro-batches may be more or fewer, but what they hold comes in order. What is not usual counts as one name. Chance
 * would tell the commonest name each time. Of many cycles those in the middle tell it. */
double pattern_fit_order(const struct pattern_fit *f, const struct pattern_sequence *s)
{
	ARENA_LOCAL(scratch);
	const size_t depth = 2 * RULE_SPARE;
	struct keymap contexts;
	keymap_init(&contexts, &scratch);
	size_t first = f->cut[0], n = f->cut[f->n] - first, right = 0, most = 0, enough = (size_t)f->ops * RULE_WINDOW;
	enough = enough > RULE_GLANCE ? enough : RULE_GLANCE;
	if (n > enough) {
		first += (n - enough) / 2;
		n = enough;
	}
	uint32_t *context = ARENA_NEW(&scratch, n, uint32_t), *name = ARENA_NEW(&scratch, n + 1, uint32_t);
	uint32_t *follows = ARENA_NEW(&scratch, n, uint32_t), *votes = ARENA_NEW(&scratch, n, uint32_t);
	uint32_t *seen = ARENA_NEW(&scratch, n, uint32_t), *of = ARENA_NEW(&scratch, (size_t)s->n_tokens + 1, uint32_t);
	for (size_t i = 0; i < n; i++) {
		uint32_t token = s->token[first + i];
		uint64_t before = 0;
		for (size_t k = i > depth ? i - depth : 0; k < i; k++)
			before = pattern_hash(before ^ name[k]);
		name[i] = f->usual[token] ? token + 1 : 0;
		uint32_t k = context[i] = keymap_add(&contexts, before);
		if (votes[k] == 0)
			follows[k] = name[i];
		votes[k] += follows[k] == name[i] ? 1 : -1;
		seen[k]++;
		most = ++of[name[i]] > most ? of[name[i]] : most;
	}
	for (size_t i = 0; i < n; i++)
		right += follows[context[i]] == name[i] && seen[context[i]] >= RULE_CYCLES_VARIED;
	return most < n ? ((double)right - (double)most) / (double)(n - most) : 1;
}

/* ---- how cycles differ from that ---- */

uint32_t pattern_fit_common(const struct pattern_fit *f, const struct pattern_sequence *s, size_t from, size_t to,
                            struct pattern_counts *counts)
{
	uint32_t common = 0;
	pattern_counts_clear(counts);
	for (size_t i = from; i < to; i++)
		common += pattern_counts_add(counts, s->token[i]) <= f->usual[s->token[i]];
	return common;
}

bool pattern_fit_captures(const struct pattern_fit *f, const struct pattern_sequence *s, uint32_t k)
{
	for (size_t i = f->cut[k]; i <= f->cut[k + 1] && i < s->n; i++)
		if (s->flags[i] & PATTERN_CAPTURE)
			return true;
	return false;
}

static uint8_t grade(const struct pattern_fit *f, const struct pattern_sequence *s, double all, double common,
                     uint32_t there)
{
	double larger = all > f->ops ? all : f->ops, missing = f->ops - common;
	/* what lacks more than an eighth (or a few) is something else (a validation step is the forward half of a
	 * training step); lanes may have run ahead or behind */
	double few = f->ops / RULE_FEW < RULE_FEW ? f->ops / RULE_FEW : RULE_FEW, eighth = RULE_NEAR * f->ops,
	       quarter = RULE_QUARTER * f->ops;
	double lost = s->n_lanes > 1 ? RULE_HALF * f->ops : eighth > few ? eighth : few;
	/* nothing but what is usual, and most of that: rows were lost */
	if (all == common && lost < quarter)
		lost = quarter;
	/* of nearly all of that, and of some less often: as many tokens as a small model drafts before the large one
	 * checks them, or experts that got tokens */
	bool fewer = all - common <= RULE_NEAR * all && there >= RULE_NEARLY_ALL * f->n_usual && common >= quarter;
	return common == larger                                            ? GRADE_EXACT
	       : !fewer && (missing > lost || common < RULE_HALF * f->ops) ? GRADE_NONE
	       : common >= RULE_MOST * larger                              ? GRADE_ALIKE
	                                                                   : GRADE_CYCLE;
}

/* Whether op `i`, the n-th of its token in a cycle, `near` behind the last usual one, is as usual where names vary. */
static bool fits_in(const struct pattern_fit *f, const struct pattern_sequence *s, size_t i, uint32_t n, uint32_t near,
                    const uint8_t *limit)
{
	const uint32_t token = s->token[i];
	if (f->usual[token])
		return !f->constant[token] || n <= f->constant[token];
	return !(s->flags[i] & (PATTERN_INPUT | PATTERN_UPDATE)) && near <= limit[i - f->cut[0]];
}

static void weigh(struct pattern_fit *f, const struct pattern_sequence *s, uint32_t k, const uint8_t *limit,
                  struct pattern_counts *counts)
{
	struct pattern_cycle *c = &f->cycle[k];
	uint32_t all = (uint32_t)(f->cut[k + 1] - f->cut[k]), good = 0, there = 0, near = 0;
	pattern_counts_clear(counts);
	c->time = c->off_time = 0;
	c->structure = 0;
	c->pause = 0;
	for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++) {
		uint32_t token = s->token[i], n = pattern_counts_add(counts, token);
		counts->time[token] = (n > 1 ? counts->time[token] : 0) + (double)s->length[i];
		near = f->usual[token] ? 0 : near + 1;
		const bool is = limit ? fits_in(f, s, i, n, near, limit) : n <= f->usual[token];
		there += n == 1 && f->usual[token];
		good += is;
		if (limit)
			c->sum += pattern_hash(token);
		if (s->flags[i] & (PATTERN_HOST | PATTERN_UPDATE))
			c->structure += pattern_hash(s->flags[i] &
			                             (PATTERN_HOST | PATTERN_WORK | PATTERN_INPUT | PATTERN_UPDATE));
		c->pause = s->pause[i] > c->pause ? s->pause[i] : c->pause;
		c->time += (double)s->length[i];
		c->off_time += is || !limit ? 0 : (double)s->length[i];
	}
	for (uint32_t i = 0; i < counts->n && !limit; i++) {
		uint32_t n = counts->of[counts->seen[i]], usual = f->usual[counts->seen[i]];
		c->off_time += n > usual ? counts->time[counts->seen[i]] / n * (n - usual) : 0;
	}
	c->lack = limit ? 0 : f->ops - good;
	c->off = all - good + c->lack;
	c->grade = limit ? c->grade : grade(f, s, all, good, there);
	c->more = !limit && all - good > f->ops;
}

/* Of the first n cycles, where names vary: those that have most of what is usual. */
static void grade_varied(struct pattern_fit *f, const struct pattern_sequence *s, uint32_t n,
                         struct pattern_counts *counts)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t there = 0;
		pattern_counts_clear(counts);
		for (size_t i = f->cut[k]; i < f->cut[k + 1]; i++)
			there += f->usual[s->token[i]] && pattern_counts_add(counts, s->token[i]) == 1;
		f->cycle[k].grade = there >= RULE_MOST * f->n_usual ? GRADE_ALIKE : GRADE_NONE;
	}
}

/* Leaves out what lies before and behind: other work in which the op stands as well. */
static void trim(struct pattern_fit *f, const struct pattern_sequence *s, struct pattern_counts *counts)
{
	uint32_t from = f->n / 2, to = from, before = f->n;
	grade_varied(f, s, before - 1, counts);
	while (from && f->cycle[from - 1].grade)
		from--;
	while (to + 1 < before && f->cycle[to].grade)
		to++;
	f->cut += from;
	f->n = to - from + 1;
}

/* The last cycle ends where it holds what ends most of them, and as much as the shortest has. */
static void end_last(struct pattern_fit *f, const struct pattern_sequence *s)
{
	uint32_t n = f->n - 1, votes = 0, token = 0;
	size_t shortest = s->n, longest = 0, last = f->cut[n];
	for (uint32_t k = 0; k < n; k++) {
		size_t ops = f->cut[k + 1] - f->cut[k];
		token = votes ? token : s->token[f->cut[k + 1] - 1];
		votes += s->token[f->cut[k + 1] - 1] == token ? 1 : -1;
		shortest = ops < shortest ? ops : shortest;
		longest = ops > longest ? ops : longest;
	}
	ARENA_LOCAL(scratch);
	bool *known = ARENA_NEW(&scratch, s->n_tokens, bool);
	for (size_t i = f->cut[0]; i < last; i++)
		known[s->token[i]] = true;
	for (size_t i = last;
	     votes && i < s->n && i < last + (size_t)(RULE_LONGER * (double)longest) && known[s->token[i]]; i++)
		if (s->token[i] == token && i + 1 >= last + shortest)
			f->cut[f->n] = i + 1;
}

bool pattern_fit_init(struct pattern_fit *f, const struct pattern_sequence *s, size_t *cut, uint32_t n, bool varied,
                      struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	*f = (struct pattern_fit){.n = n, .cut = cut, .model = UINT32_MAX};
	f->cycle = ARENA_NEW(arena, n, struct pattern_cycle);
	f->usual = ARENA_NEW(arena, s->n_tokens, uint32_t);
	if (varied) {
		uint32_t quarter = (uint32_t)(RULE_QUARTER * n), *length = ARENA_NEW(&scratch, n, uint32_t);
		f->constant = ARENA_NEW(arena, s->n_tokens, uint32_t);
		for (uint32_t k = 0; k + 1 < n; k++)
			length[k] = (uint32_t)(cut[k + 1] - cut[k]);
		sort_counts(length, n - 1);
		f->ops = length[(n - 1) / 2];
		vote(f, s, quarter, n - 1 - quarter);
		trim(f, s, &counts);
		vote(f, s, 0, f->n - 1);
	} else {
		for (uint32_t k = 0; k + 1 < n; k++)
			for (size_t i = cut[k]; i < cut[k + 1]; i++) {
				f->cycle[k].sum += pattern_hash(s->token[i]);
				f->cycle[k].time += (double)s->length[i];
			}
		f->model = commonest(f, n - 1);
		if (f->model == UINT32_MAX)
			return false;
		for (size_t i = cut[f->model]; i < cut[f->model + 1]; i++, f->ops++)
			f->n_usual += !f->usual[s->token[i]]++;
	}
	n = f->n;
	cut = f->cut;
	cut[n] = cut[n - 1] + f->ops < s->n ? cut[n - 1] + f->ops : s->n;
	if (varied) {
		end_last(f, s);
		grade_varied(f, s, n, &counts);
	}
	for (uint32_t k = 0; k < n && !varied; k++)
		if (f->cycle[k].sum == f->cycle[f->model].sum)
			f->cycle[k].grade = GRADE_EXACT;
		else
			weigh(f, s, k, NULL, &counts);
	return true;
}

void pattern_fit_weigh(struct pattern_fit *f, const struct pattern_sequence *s)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	const uint8_t *limit = find_places(f, s, &scratch);
	for (uint32_t k = 0; k < f->n; k++)
		weigh(f, s, k, limit, &counts);
}

uint32_t pattern_fit_split(const struct pattern_fit *f, const struct pattern_sequence *s, size_t *out, uint32_t room)
{
	ARENA_LOCAL(scratch);
	struct pattern_counts counts;
	pattern_counts_init(&counts, s, &scratch);
	uint32_t n = 0;
	for (uint32_t k = 0; k < f->n && n < room; k++) {
		size_t end = f->cut[k + 1], at = f->cut[k] + f->ops;
		out[n++] = f->cut[k];
		for (; f->cycle[k].grade != GRADE_NONE && n < room &&
		       at + f->ops <= end + (size_t)(RULE_QUARTER * f->ops);
		     at += f->ops) {
			if (pattern_fit_common(f, s, at, at + f->ops < end ? at + f->ops : end, &counts) <
			    RULE_MOST * f->ops)
				break;
			out[n++] = at;
		}
	}
	return n;
}
