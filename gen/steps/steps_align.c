#include "steps/steps_build.h"

#include "base/search.h"

#include <math.h>

static const double AGREE = 0.9; /* of a rank's steps */
enum {
	FEWEST = 5, /* steps that overlap: fewer tell nothing */
	BESIDE = 64 /* steps of a rank that are open at the same time: more are not looked at */
};

/* The instances of a lane that have GPU work, in order of their start. */
struct lane {
	const uint32_t *place;
	uint32_t count;
	int64_t *until; /* the latest end of the GPU work up to this one, and … */
	int64_t *from;  /* … the earliest begin of it from this one on */
};

/* Where another lane's instances are beside those of the lane that they are compared with. */
struct beside {
	int64_t shift; /* its first is that one's `shift`-th */
	bool agreed;   /* nearly all say so */
	bool together; /* its first one, at least, says that this is 0 */
};

static int64_t overlap(int64_t start, int64_t end, int64_t from, int64_t to)
{
	return (end < to ? end : to) - (start > from ? start : from);
}

/* The instance of `of` that overlaps instance `p` most, were that `later` ns later; TRACE_NONE: none does. */
static uint32_t most_beside(const struct steps_build *b, const struct lane *of, uint32_t p, int64_t later)
{
	uint32_t k = 0, best = TRACE_NONE;
	int64_t longest = 0;
	if (b->own_end[p] == INT64_MIN)
		return TRACE_NONE;
	int64_t start = b->own_start[p] + later, end = b->own_end[p] + later;
	SEARCH(k, of->count, of->until[k] <= start);
	for (uint32_t i = k; i < of->count && i < k + BESIDE && of->from[i] < end; i++) {
		uint32_t q = of->place[i];
		int64_t ns = b->own_end[q] == INT64_MIN ? 0 : overlap(b->own_start[q], b->own_end[q], start, end);
		if (ns > longest) {
			longest = ns;
			best = i;
		}
	}
	return best;
}

static struct beside find_beside(const struct steps_build *b, const struct lane *with, const struct lane *lane,
                                 int64_t later)
{
	struct beside out = {0};
	ARENA_LOCAL(scratch);
	uint32_t *votes = ARENA_NEW(&scratch, (size_t)with->count + lane->count, uint32_t), all = 0, most = 0;
	for (uint32_t k = 0; k < lane->count; k++) {
		uint32_t i = most_beside(b, with, lane->place[k], later);
		if (i == TRACE_NONE)
			continue;
		uint32_t *vote = &votes[i + lane->count - k];
		all++;
		if (++*vote > most) {
			most = *vote;
			out.shift = (int64_t)i - k;
		}
		out.together = out.together || (k == 0 && i == 0);
	}
	out.agreed = most >= FEWEST && most >= AGREE * all;
	return out;
}

/* When its GPU work begins and ends: asked of the lane that others are compared with. */
static void find_times(struct steps_build *b, struct lane *lane)
{
	int64_t latest = INT64_MIN, earliest = INT64_MAX;
	lane->until = ARENA_TAKE(&b->scratch, lane->count, int64_t);
	lane->from = ARENA_TAKE(&b->scratch, lane->count, int64_t);
	for (uint32_t k = 0; k < lane->count; k++) {
		uint32_t p = lane->place[k];
		latest = b->own_end[p] > latest ? b->own_end[p] : latest;
		lane->until[k] = latest;
	}
	for (uint32_t k = lane->count; k-- > 0;) {
		uint32_t p = lane->place[k];
		earliest = b->own_start[p] < earliest ? b->own_start[p] : earliest;
		lane->from[k] = earliest;
	}
}

static uint64_t host_of(const struct steps_build *b, const struct lane *lane)
{
	return lane->count ? b->trace->processes[steps_instance(b, lane->place[0])->process].host : 0;
}

/* How far the times of a host may be from those of the run's first one, ns. */
static double clock_of(const struct steps_build *b, uint64_t host)
{
	const struct trace *t = b->trace;
	for (uint32_t c = 0; c < t->n_clocks; c++)
		if (t->clocks[c].host == host)
			return t->clocks[c].known ? t->clocks[c].within : INFINITY;
	return 0;
}

/* Whether the clocks of two lanes are one, or so near to one that however far they are apart the shift is the same. */
static bool clocks_tell(const struct steps_build *b, const struct lane *with, const struct lane *lane, int64_t shift)
{
	static const double FAR = 1e12; /* ns: more is no clock */
	uint64_t one = host_of(b, with), other = host_of(b, lane);
	double within = one == other ? 0 : clock_of(b, one) + clock_of(b, other);
	if (within > FAR)
		return false;
	for (int side = -1; side <= 1 && within > 0; side += 2) {
		struct beside beside = find_beside(b, with, lane, side * (int64_t)ceil(within));
		if (beside.agreed ? beside.shift != shift : shift || !beside.together)
			return false;
	}
	return true;
}

/* What each lane lacks of the steps that any of them recorded. */
static void note_lacking(struct steps_build *b, const struct lane *lanes, const int64_t *at, int64_t first,
                         int64_t last)
{
	struct steps *s = b->out;
	s->lacking = ARENA_NEW(b->arena, b->n_lanes, struct steps_lacking);
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		int64_t before = at[l] - first, after = last - at[l] - lanes[l].count;
		if (before || after)
			s->lacking[s->n_lacking++] = (struct steps_lacking){
				steps_instance(b, lanes[l].place[0])->process, (uint32_t)before, (uint32_t)after};
	}
}

/* Where each lane's first step is in the one `with` that they are compared with. Whether that is sure of all. */
static bool find_shifts(struct steps_build *b, const struct lane *lanes, uint32_t with, int64_t *at)
{
	bool known = true;
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		if (l == with)
			continue;
		struct beside beside = find_beside(b, &lanes[with], &lanes[l], 0);
		at[l] = beside.agreed ? beside.shift : 0;
		bool as_recorded = !at[l] && (beside.agreed || beside.together);
		bool by_clock = (beside.agreed || as_recorded) && clocks_tell(b, &lanes[with], &lanes[l], at[l]);
		known = known && (by_clock || (as_recorded && lanes[l].count == lanes[with].count));
	}
	return known;
}

/* The steps that any lane recorded, and those that all did, counted as `at`. */
struct reach {
	int64_t first, last, from, to;
};

static struct reach reach_of(const struct steps_build *b, const struct lane *lanes, uint32_t with, const int64_t *at)
{
	struct reach r = {0, lanes[with].count, 0, lanes[with].count};
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		int64_t end = at[l] + lanes[l].count;
		r.first = at[l] < r.first ? at[l] : r.first;
		r.last = end > r.last ? end : r.last;
		r.from = at[l] > r.from ? at[l] : r.from;
		r.to = end < r.to ? end : r.to;
	}
	return r;
}

struct steps_shared steps_align(struct steps_build *b, const uint32_t *place, const uint32_t *count)
{
	struct steps_shared out = {
		.first = ARENA_NEW(&b->scratch, b->n_lanes, uint32_t), .n = UINT32_MAX, .known = true};
	struct lane *lanes = ARENA_NEW(&b->scratch, b->n_lanes, struct lane);
	int64_t *at = ARENA_NEW(&b->scratch, b->n_lanes, int64_t);
	uint32_t with = 0;
	bool communicates = true, several = false;
	for (uint32_t l = 0; l < b->n_lanes; l++) {
		lanes[l] = (struct lane){.place = place, .count = count[l]};
		place += count[l];
		with = count[l] > count[with] ? l : with;
		out.n = count[l] < out.n ? count[l] : out.n;
		communicates = communicates && b->communicates[l];
	}
	if (b->n_lanes < 2 || !communicates || !out.n)
		return out;
	find_times(b, &lanes[with]);
	out.known = find_shifts(b, lanes, with, at);
	const struct reach r = reach_of(b, lanes, with, at);
	for (uint32_t l = 0; l < b->n_lanes; l++)
		several = several || at[l];
	if (several && r.to - r.from < FEWEST) { /* no steps that all of them recorded */
		out.known = false;
		return out;
	}
	if (out.known && (several || out.n < count[with]))
		note_lacking(b, lanes, at, r.first, r.last);
	for (uint32_t l = 0; l < b->n_lanes && several; l++)
		out.first[l] = (uint32_t)(r.from - at[l]);
	out.n = several ? (uint32_t)(r.to - r.from) : out.n;
	out.by_time = several;
	return out;
}
