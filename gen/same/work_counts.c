/* What the numbers say of how often kernels run: whether a step holds several of the other side's, whether two counts
 * differ, and whether they go by the step or by the item. */
#include "same/work.h"

#include "trace/classify.h"

#include <math.h>

static const double SAME_RATIO = 0.02; /* ratios of counts that are so near are one */
static const double FEW_BYTES = 1024;  /* a step: not what there is to do */
static const double SAME_INPUT = 0.05; /* ratios of input that are so near are one */
static const double MOST_TIME = 0.66;  /* of the kernels' time: so much goes by one ratio, … */
static const double A_THIRD = 0.33;    /* … and so much of it with what is apart, */
static const double ALL_TIME = 0.9;    /* … or so much where no input says how much there was to do, … */
static const double LONGER = 0.05;     /* of a kernel's time: what is less may be chance */
static const double SAME_LENGTH = 0.3; /* … and each kernel takes as long as on the other side, within this, or has as
                                        * many blocks */
static const double OTHER_SIZE = 0.1;  /* repetitions are as large where counts are so near */
static const double LITTLE = 0.01;     /* of the kernels' time, that one side has more of them */

/* Whether it says nothing of how many steps a step holds: an optimizer's runs once behind several micro-batches, and so
 * may any other, where the input says how much there is to do (`fed`). */
static bool is_apart(const struct work_row *r, bool fed)
{
	return r->comm ||
	       ((fed || classify_update(r->key)) && work_distance(r->instances[0], r->instances[1]) <= SAME_RATIO &&
	        work_distance(r->time[0], r->time[1]) <= SAME_LENGTH);
}

/* Of those that both sides have; NULL: there is none. */
static const struct work_row *find_longest(const struct work_row *all, size_t n, bool fed)
{
	const struct work_row *longest = NULL;
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		if (r->instances[0] > 0 && r->instances[1] > 0 && !is_apart(r, fed) &&
		    (!longest || r->time[0] + r->time[1] > longest->time[0] + longest->time[1]))
			longest = r;
	}
	return longest;
}

/* Whether the blocks of a step are `ratio` times as many on the fixed side. */
static bool has_blocks(const struct work_row *r, double ratio, double within)
{
	return r->unsized[0] <= 0 && r->unsized[1] <= 0 && fmin(r->blocks[0], r->blocks[1]) > 0 &&
	       work_distance(r->blocks[1], ratio * r->blocks[0]) <= within;
}

struct work_multiple work_find_multiple(const struct work_scale *scale, const struct work_row *all, size_t n)
{
	const bool fed = fmax(scale->input[0], scale->input[1]) > FEW_BYTES;
	const struct work_row *longest = find_longest(all, n, fed);
	double time[2] = {0}, agree[2] = {0}, sized[2] = {0}, whole[2] = {0};
	if (!longest || !work_differs(scale, longest->instances[0], longest->instances[1]))
		return (struct work_multiple){0};
	const double *runs = longest->instances, ratio = runs[1] / runs[0];
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		bool same = work_distance(r->instances[1], ratio * r->instances[0]) <= SAME_RATIO;
		bool as_large = same && has_blocks(r, ratio, LITTLE);
		for (int s = 0; s < 2; s++) {
			whole[s] += r->comm ? 0 : r->time[s];
			if (is_apart(r, fed))
				continue;
			time[s] += r->time[s];
			agree[s] += same ? r->time[s] : 0;
			sized[s] += as_large ? r->time[s] : 0;
		}
	}
	double share = fmin(agree[0] / time[0], agree[1] / time[1]);
	double of_all = fmax(agree[0] / whole[0], agree[1] / whole[1]);
	bool several = fed ? share >= MOST_TIME && of_all >= A_THIRD &&
	                               work_distance(scale->input[1], ratio * scale->input[0]) <= SAME_INPUT
	                   : share >= ALL_TIME && (work_distance(agree[1], ratio * agree[0]) <= SAME_LENGTH ||
	                                           fmin(sized[0] / time[0], sized[1] / time[1]) >= MOST_TIME);
	const char *name = *longest->key ? longest->key : "(no name)";
	return several ? (struct work_multiple){.name = name, .runs = {runs[0], runs[1]}, .fed = fed}
	               : (struct work_multiple){0};
}

struct work_multiple work_find_larger(const struct work_scale *scale, const struct work_row *all, size_t n)
{
	const double *in = scale->input, *steps = scale->repeats, ratio = in[1] / in[0];
	const struct work_row *longest = NULL;
	double time[2] = {0}, larger[2] = {0};
	if (!(fmin(in[0], in[1]) > FEW_BYTES) || work_distance(in[0], in[1]) <= OTHER_SIZE ||
	    work_distance(in[1] * steps[1], in[0] * steps[0]) > OTHER_SIZE)
		return (struct work_multiple){0};
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		const bool is_larger = !r->comm && has_blocks(r, ratio, SAME_INPUT);
		for (int s = 0; s < 2 && !r->comm; s++) {
			time[s] += r->time[s];
			larger[s] += is_larger ? r->time[s] : 0;
		}
		if (is_larger && (!longest || r->time[0] + r->time[1] > longest->time[0] + longest->time[1]))
			longest = r;
	}
	if (!longest || !(fmin(larger[0] / time[0], larger[1] / time[1]) >= A_THIRD))
		return (struct work_multiple){0};
	return (struct work_multiple){.name = *longest->key ? longest->key : "(no name)",
	                              .runs = {longest->blocks[0], longest->blocks[1]},
	                              .fed = true,
	                              .blocks = true};
}

struct work_multiple work_find_recut(const double repeats[2], const struct work_row *all, size_t n)
{
	const double cut = 2 / fmin(repeats[0], repeats[1]); /* of all: what the ends of a capture hold */
	const struct work_row *longest = NULL;
	double time[2] = {0}, recut[2] = {0};
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		const bool as_often = work_distance(r->instances[0] * repeats[0], r->instances[1] * repeats[1]) <= cut;
		for (int s = 0; s < 2 && !r->comm; s++)
			time[s] += r->time[s];
		if (r->comm || !as_often ||
		    work_distance(r->instances[0], r->instances[1]) <= fmax(2 * cut, OTHER_SIZE))
			continue;
		for (int s = 0; s < 2; s++)
			recut[s] += r->time[s];
		if (!longest || r->time[0] + r->time[1] > longest->time[0] + longest->time[1])
			longest = r;
	}
	if (!longest || !(fmax(recut[0] / time[0], recut[1] / time[1]) >= A_THIRD))
		return (struct work_multiple){0};
	return (struct work_multiple){.name = *longest->key ? longest->key : "(no name)",
	                              .runs = {longest->instances[0], longest->instances[1]}};
}

bool work_has_as_many_blocks(const struct work_row *r)
{
	return has_blocks(r, 1, LITTLE);
}

double work_takes_more(const struct work_scale *s, const struct work_row *r, int less)
{
	if (r->comm || !(r->instances[0] > 0) || work_runs_differ(s, r) || r->time[less] <= r->time[!less])
		return 0;
	if (!work_has_same_blocks(s, r))
		return INFINITY;
	const double as_long = r->time[!less] * exp(less ? s->state : -s->state);
	return r->time[less] > (1 + LONGER) * as_long ? r->time[less] - as_long : 0;
}

double work_find_merged(const struct work_scale *scale, const struct work_row *all, size_t n, int less)
{
	double ratio = 0, most = 0, time = 0, held = 0;
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		if (r->comm || !(r->instances[less] > 0) || r->instances[less] >= r->instances[!less] ||
		    r->time[!less] <= most || !work_runs_differ(scale, r) || !work_has_as_many_blocks(r))
			continue;
		most = r->time[!less];
		ratio = r->instances[!less] / r->instances[less];
	}
	for (size_t k = 0; k < n && most > 0; k++) {
		const struct work_row *r = &all[k];
		if (r->comm || work_distance(r->instances[!less], ratio * r->instances[less]) > SAME_RATIO)
			continue;
		time += r->time[!less];
		held += work_has_as_many_blocks(r) ? r->time[!less] : 0;
	}
	return held >= A_THIRD * time ? ratio : 0;
}

struct work_multiple work_find_seldom(const struct work_row *all, size_t n)
{
	const struct work_row *longest = NULL;
	double time = 0, apart = 0;
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		const double most = fmax(r->time[0], r->time[1]);
		time += r->comm ? 0 : most;
		if (r->comm || !(fmin(r->instances[0], r->instances[1]) > 0) ||
		    fmax(r->instances[0], r->instances[1]) > WORK_SELDOM ||
		    work_distance(r->instances[0], r->instances[1]) <= WORK_SAME_LOOP)
			continue;
		apart += most * work_distance(r->instances[0], r->instances[1]);
		if (!longest || most > fmax(longest->time[0], longest->time[1]))
			longest = r;
	}
	if (!longest || !(apart > LITTLE * time))
		return (struct work_multiple){0};
	return (struct work_multiple){.name = *longest->key ? longest->key : "(no name)",
	                              .runs = {longest->instances[0], longest->instances[1]}};
}

/* ---- how often ---- */

static const double CLOSE = 0.01; /* of counts: so little is no difference */

/* ---- how often ---- */

bool work_is_whole(const struct work_scale *s, double count)
{
	return fabs(count - round(count)) <= s->slack && round(count) >= 1;
}

/* What the edges of the window make of a kernel that runs `count` times a step: a step that is cut through lacks some
 * of them. Half a time a step is no edge's. */
static double edge(const struct work_scale *s, double count)
{
	return fmax(s->slack, fmin(0.5, s->slack * count));
}

bool work_differs(const struct work_scale *s, double a, double b)
{
	double far = fabs(a - b), most = fmax(a, b);
	if (!s->steps)
		return far > s->slack && work_distance(a, b) > CLOSE;
	if (work_is_whole(s, most) && (work_is_whole(s, fmin(a, b)) || s->variation.varies < CLOSE))
		return far > edge(s, most);
	return work_distance(a, b) > CLOSE &&
	       far > s->slack + s->chance * hypot(sqrt(most / s->variation.seen), s->variation.varies * most);
}

bool work_runs_differ(const struct work_scale *s, const struct work_row *r)
{
	const double a = r->instances[0], b = r->instances[1];
	const double varies = hypot(r->varies[0], r->varies[1]) / sqrt(s->variation.seen);
	/* a mean of numbers that vary may be near a whole one by chance */
	if (!work_differs(s, a, b) || !s->steps || (work_is_whole(s, fmax(a, b)) && !(varies > 0)))
		return work_differs(s, a, b);
	return fabs(a - b) > s->slack + (s->variation.wanders && varies > 0 ? INFINITY : s->chance * varies);
}

/* ---- by the step or by the item ---- */

/* Launches whose work grows with the items of a step are held against each other by the item, others (an optimizer's)
 * by the launch: whichever is nearer. */
static bool is_nearer_by_item(const struct work_scale *s, const double sum[2])
{
	return fabs(log(sum[1] / sum[0])) <= fabs(log(sum[1] / s->as_much / sum[0]));
}

static void count_by_launch(const struct work_scale *s, double sum[2], double square[2])
{
	sum[1] /= s->as_much;
	square[1] /= s->as_much;
}

bool work_count_by_step(const struct work_scale *s, const struct work_row *all, struct work_row *row)
{
	double a = all->instances[0], b = all->instances[1];
	if (s->as_much == 1 || a <= 0 || b <= 0 || !work_differs(s, a, b) || work_differs(s, a, b / s->as_much))
		return false;
	bool blocks = all->blocks[0] > 0 && all->blocks[1] > 0 && is_nearer_by_item(s, all->blocks);
	bool time = all->time[0] > 0 && all->time[1] > 0 && is_nearer_by_item(s, all->time);
	row->instances[1] /= s->as_much;
	row->varies[1] /= s->as_much;
	row->unsized[1] /= s->as_much;
	row->threads[1] /= s->as_much;
	row->per_item = blocks || time;
	if (blocks)
		row->blocks2[1] *= s->as_much;
	else
		count_by_launch(s, row->blocks, row->blocks2);
	if (time)
		row->time2[1] *= s->as_much;
	else
		count_by_launch(s, row->time, row->time2);
	return true;
}
