#include "same/same_work.h"
#include "same/work.h"
#include "steps/marks.h"
#include "steps/op_names.h"
#include "trace/classify.h"
#include "trace/kernel_names.h"

#include <math.h>
#include <string.h>

static const double MOST = 0.9;    /* of a side's GPU work: so much is in what repeats */
static const double HOLDS = 0.7;   /* of it, and a range may be what a step is: as of those that are */
static const double BEYOND = 1.01; /* times a step's period: so long are ranges of one thread open in it, at most */
static const double HALF = 0.5;    /* of a side's kernels' time is of families that the other one has, too */
static const double TWICE = 1.9;   /* times as many: each may be two of them, but for what the ends of a capture hold */
static const double SOME = 4.5;    /* times in all that results are read back: fewer may be by chance */
static const double BEYOND_ONE = 1.2; /* times by which the numbers would be apart: an edge of the window makes one */
enum {
	OFTEN = 8,    /* times: fewer are as many by chance */
	HEAVIEST = 64 /* kernels of a side that are asked what they are */
};

/* Bytes of the largest copy of a direction: what one copy more or less at an edge of the window makes. */
static double largest_copy(const struct side *side, enum copy_kind kind)
{
	double largest = 0;
	for (uint32_t i = 0; i < side->n_copies; i++)
		if (side->copies[i].kind == kind && !side->copies[i].memset && side->copies[i].instances > 0)
			largest = fmax(largest, side->copies[i].bytes / side->copies[i].instances);
	return largest;
}

/* The error of the bytes that a side copies in a direction, a step. Copies of one step vary
 * together; of those that are not made in every step, the number is chance's, too. */
static double bytes_error(const struct guard *c, const struct side *side, enum copy_kind kind)
{
	double variance = 0;
	for (uint32_t i = 0; i < side->n_copies && c->variation.seen > 0; i++) {
		const struct copy_result *r = &side->copies[i];
		if (r->kind != kind || r->memset || r->instances <= 0)
			continue;
		double mean = r->bytes / r->instances, n = r->instances;
		variance += n * n * fmax(0, r->bytes2 / n - mean * mean);
		variance += fabs(n - round(n)) > c->slack ? n * mean * mean : 0;
	}
	if (c->variation.wanders && variance > 0)
		return INFINITY;
	return c->variation.seen > 0 ? c->chance * sqrt(variance / c->variation.seen) : 0;
}

double guard_bytes_slack(const struct guard *c, enum copy_kind kind)
{
	return c->slack * fmax(largest_copy(c->a, kind), largest_copy(c->b, kind)) +
	       hypot(bytes_error(c, c->a, kind), bytes_error(c, c->b, kind));
}

/* What is copied in a direction, a step, by side. */
struct copied {
	double n[2], bytes[2], bytes2[2];
};

static struct copied copied(const struct guard *c, enum copy_kind kind)
{
	struct copied out = {0};
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < c->side[s].n_copies; i++) {
			const struct copy_result *r = &c->side[s].copies[i];
			if (r->kind != kind || r->memset)
				continue;
			out.n[s] += c->share[s] * r->instances;
			out.bytes[s] += c->share[s] * r->bytes;
			out.bytes2[s] += c->share[s] * r->bytes2;
		}
	return out;
}

void guard_copies_more(struct guard *c)
{
	static const enum copy_kind host[] = {COPY_H2D, COPY_D2H};
	for (size_t i = 0; i < sizeof host / sizeof *host; i++) {
		const struct copied of = copied(c, host[i]);
		if (fabs(of.n[0] - of.n[1]) >= (1 - c->slack) * fmax(1, c->as_much))
			c->copies[of.n[1] > of.n[0]] = true;
	}
}

bool guard_copies_in_graph(const struct guard *c, int less)
{
	const struct side *here = &c->side[less], *there = &c->side[!less];
	bool nodes = here->counts.graph_launches > there->counts.graph_launches + c->slack;
	for (uint32_t i = 0; i < here->n_kernels && !nodes; i++)
		nodes = kernel_key_copies(names_text(c->names, here->kernels[i].name));
	return nodes && c->share[less] * here->counts.bytes_d2d < c->share[!less] * there->counts.bytes_d2d;
}

/* Whether both differ, and by one ratio. */
static bool by_one_ratio(const double in[2], const double back[2])
{
	return fmin(in[0], in[1]) > 0 && fmin(back[0], back[1]) > 0 && guard_distance(in[0], in[1]) > WORK_SAME_LOOP &&
	       guard_distance(in[0] * back[1], in[1] * back[0]) <= WORK_SAME_LOOP;
}

static bool is_seldom(const double n[2])
{
	return fmin(n[0], n[1]) <= WORK_SELDOM;
}

/* Whether results are read back as often on both sides, while the repetitions are more on one: so many more that it
 * would be another number of times if each of them had its share. */
static bool reads_back_as_often(const struct guard *c, const double n[2])
{
	double steps[2], times[2];
	for (int s = 0; s < 2; s++) {
		steps[s] = (double)c->side[s].steps.measured;
		times[s] = n[s] * steps[s];
	}
	const double fewer = 1 - fmin(steps[0], steps[1]) / fmax(steps[0], steps[1]);
	return is_seldom(n) && times[0] >= SOME && round(times[0]) == round(times[1]) && times[0] * fewer >= BEYOND_ONE;
}

const struct fact *guard_copies_of_loop(const struct guard *c)
{
	const struct copied in = copied(c, COPY_H2D), back = copied(c, COPY_D2H);
	if (by_one_ratio(in.n, back.n) && is_seldom(in.n) && is_seldom(back.n) && fabs(in.n[0] - in.n[1]) > c->slack)
		return FACT_NEW(c->arena, loops_of_other_copies, FACT_NO_SIDE, .baseline = 1 / in.n[0],
		                .fixed = 1 / in.n[1]);
	if (fmax(in.n[0], in.n[1]) == 0 && reads_back_as_often(c, back.n))
		return FACT_NEW(c->arena, loops_of_other_copies, FACT_NO_SIDE, .back = true, .baseline = 1 / back.n[0],
		                .fixed = 1 / back.n[1]);
	if (by_one_ratio(in.bytes, back.bytes) && fabs(in.bytes[0] - in.bytes[1]) > guard_bytes_slack(c, COPY_H2D) &&
	    fabs(back.bytes[0] - back.bytes[1]) > guard_bytes_slack(c, COPY_D2H))
		return FACT_NEW(c->arena, loops_of_other_bytes, FACT_NO_SIDE, .baseline = in.bytes[0],
		                .fixed = in.bytes[1]);
	return NULL;
}

/* Whether a side has as many of them in every step. */
static bool in_every_step(const struct guard *c, double n)
{
	return round(n) >= 1 && fabs(n - round(n)) <= c->slack;
}

void guard_answers(struct guard *c)
{
	const struct copied of = copied(c, COPY_D2H);
	const double less = fmin(of.bytes[0], of.bytes[1]), more = fmax(of.bytes[0], of.bytes[1]);
	bool vary = false; /* from one to the next */
	for (int s = 0; s < 2; s++)
		vary = vary || of.bytes2[s] * of.n[s] > (1 + GUARD_MATERIAL) * of.bytes[s] * of.bytes[s];
	if (c->out.mismatch || c->a->items > 0 || !c->a->steps.found || more > GUARD_FEW_BYTES || !vary ||
	    !in_every_step(c, of.n[0]) || !in_every_step(c, of.n[1]) || round(of.n[0]) != round(of.n[1]) ||
	    guard_distance(less, more) <= GUARD_MATERIAL || more - less <= guard_bytes_slack(c, COPY_D2H))
		return;
	c->out.mismatch = FACT_NEW(c->arena, answers_differ, of.bytes[0] > of.bytes[1], .bytes = less, .instead = more);
	c->out.other_unit = true;
	guard_doubt(c, c->out.mismatch);
}

/* The share of the kernels' time that is of kernels of which the other side has the family, too; on the side where that
 * is more. */
static double shared_kernels(const struct guard *c)
{
	const char *family[2][HEAVIEST];
	uint32_t n[2];
	double all[2] = {0}, shared[2] = {0};
	ARENA_LOCAL(work);
	for (int s = 0; s < 2; s++) {
		n[s] = c->side[s].n_kernels < HEAVIEST ? c->side[s].n_kernels : HEAVIEST;
		for (uint32_t i = 0; i < n[s]; i++)
			family[s][i] = op_words_kernel(names_text(c->names, c->side[s].kernels[i].name), &work);
	}
	for (int s = 0; s < 2; s++)
		for (uint32_t i = 0; i < n[s]; i++) {
			const struct kernel_result *kernel = &c->side[s].kernels[i];
			bool there = false;
			for (uint32_t k = 0; k < n[!s] && !there; k++)
				there = strcmp(family[s][i], family[!s][k]) == 0;
			if (kernel->comm || kernel->graph)
				continue;
			all[s] += kernel->per_step;
			shared[s] += there ? kernel->per_step : 0;
		}
	return all[0] > 0 && all[1] > 0 ? fmax(shared[0] / all[0], shared[1] / all[1]) : 0;
}

/* How often what is called a step came in a run of the side. */
static double how_often(const struct side *side)
{
	return (double)(side->steps.measured / side->n_runs + side->runs[side->median_run].left_out);
}

const struct fact *guard_other_number(const struct guard *c)
{
	const double n[2] = {how_often(c->a), how_often(c->b)};
	const int fewer = n[1] < n[0];
	const double more = n[!fewer] / n[fewer], longer = c->side[fewer].steps.mean / c->side[!fewer].steps.mean;
	for (int s = 0; s < 2; s++)
		if (steps_by_ranges(c->side[s].steps.origin) &&
		    strcmp(names_text(c->names, c->side[s].steps.name), STEP_ADDED) != 0)
			return NULL;
	if (more < TWICE || longer <= 1)
		return NULL;
	return FACT_NEW(c->arena, loops_of_other_number, fewer, .baseline = (int64_t)n[0], .fixed = (int64_t)n[1],
	                .longer = longer);
}

bool guard_goes_as_often(const struct guard *c, const struct side_facts facts[2])
{
	const uint32_t times = facts[0].runs[0].loop_times;
	const double in[2] = {c->a->counts.bytes_h2d, c->b->counts.bytes_h2d};
	const double back[2] = {c->a->counts.bytes_d2h, c->b->counts.bytes_d2h};
	for (int s = 0; s < 2; s++) {
		if (c->side[s].steps.origin != STEPS_BY_PATTERN || c->side[s].steps.coverage < MOST)
			return false;
		for (size_t r = 0; r < facts[s].n_runs; r++)
			if (facts[s].runs[r].loop_times + 1 < times || facts[s].runs[r].loop_times > times + 1)
				return false; /* one may be cut at an end */
	}
	if (times < OFTEN)
		return false;
	if (fmax(fmax(in[0], back[0]), fmax(in[1], back[1])) < GUARD_FEW_BYTES)
		return shared_kernels(c) >= HALF;
	return fmax(in[0], back[0]) >= GUARD_FEW_BYTES && guard_distance(in[0], in[1]) <= GUARD_MATERIAL &&
	       guard_distance(back[0], back[1]) <= GUARD_MATERIAL;
}

/* ---- loops ---- */

uint32_t guard_iterations(const struct side *side)
{
	for (uint32_t l = 0; l < side->n_loops; l++)
		if (side->loops[l].judged)
			return side->loops[l].steps;
	return 0;
}

/* ns that all loops of a side take; of which GPU work they hold `share`. */
static double time_loops(const struct side *side, double *share)
{
	double time = 0;
	*share = 0;
	for (uint32_t l = 0; l < side->n_loops; l++) {
		time += side->loops[l].steps * side->loops[l].period;
		*share += side->loops[l].share;
	}
	return time;
}

/* Where the loop that is compared is a part of each side's work, and all of its loops together are nearly all of it. */
static const struct fact *compare_loops(const struct guard *c)
{
	double held[2];
	const double whole = time_loops(c->a, &held[0]) / time_loops(c->b, &held[1]);
	if (c->a->n_loops < 2 || c->b->n_loops < 2 || fmin(held[0], held[1]) < MOST ||
	    fmin(c->a->steps.coverage, c->b->steps.coverage) >= MOST)
		return NULL;
	return FACT_NEW(c->arena, loops_together, FACT_NO_SIDE, .baseline = c->a->steps.coverage,
	                .fixed = c->b->steps.coverage, .whole = whole);
}

/* Whether most of a side's GPU work is launched in ranges of that name, one of which a step has, and that is in none of
 * its own: they are open longer than those, on one thread. Others launch nothing. */
static bool holds_steps(const struct guard *c, int s, const struct range_result *r)
{
	const struct side *side = &c->side[s];
	double own = 0;
	if (r->gpu < HOLDS * side->busy * side->n_devices || fabs(r->launching - 1) > c->slack)
		return false;
	for (uint32_t i = 0; i < side->n_ranges && steps_by_ranges(side->steps.origin); i++)
		own += side->ranges[i].name == side->steps.name ? side->ranges[i].host : 0;
	return r->host > own && r->host <= BEYOND * side->budget.period &&
	       marks_name_class(names_text(c->names, r->name), names_text(c->names, r->domain)) != MARK_NEVER;
}

/* What all ranges take says the opposite of what steps do, of which there are so many ranges to each. */
static bool is_contradicted(const struct guard *c, const double n[2])
{
	const double steps = log(c->a->steps.mean / c->b->steps.mean), all = steps + log(n[1] / n[0]);
	return guard_distance(n[0], n[1]) > c->slack && steps * all < 0 &&
	       fmin(fabs(steps), fabs(all)) > GUARD_MATERIAL;
}

/* The ranges that hold a side's steps, of the name of `like` or, where that is NULL, those of which there are most;
 * NULL: there are none. */
static const struct range_result *find_holding(const struct guard *c, int s, const struct range_result *like)
{
	const struct range_result *found = NULL;
	for (uint32_t i = 0; i < c->side[s].n_ranges && c->side[s].steps.found; i++) {
		const struct range_result *r = &c->side[s].ranges[i];
		const bool named = !like || (r->name == like->name && r->domain == like->domain);
		if (named && (!found || r->instances > found->instances) && holds_steps(c, s, r))
			found = r;
	}
	return found;
}

/* How many ranges of a name a side has to a step. */
static double count_ranges(const struct side *side, const struct range_result *like)
{
	double n = 0;
	for (uint32_t i = 0; i < side->n_ranges; i++)
		if (side->ranges[i].name == like->name && side->ranges[i].domain == like->domain)
			n = side->ranges[i].instances;
	return n;
}

void guard_ranges_of_steps(struct guard *c)
{
	const struct range_result *held[2] = {find_holding(c, 0, NULL), find_holding(c, 1, NULL)};
	const int more = !held[0] || (held[1] && held[1]->instances > held[0]->instances);
	const struct range_result *r = held[more], *same = r ? find_holding(c, !more, r) : NULL;
	if (same)
		held[!more] = same;
	double n[2], all[2]; /* of a side that marks none a step may be one, if then there are as many in all */
	for (int s = 0; s < 2; s++) {
		n[s] = held[s] ? held[s]->instances : 1;
		all[s] = n[s] * how_often(&c->side[s]);
	}
	const bool both = held[0] && held[1];
	if (!(both ? guard_counts_differ(c, n[0], n[1]) || is_contradicted(c, n)
	           : fmax(all[0], all[1]) <= BEYOND_ONE * fmin(all[0], all[1]) && is_contradicted(c, n)))
		return;
	guard_is_other_unit(c, FACT_NEW(c->arena, steps_in_more_ranges, more, .range = r->name,
	                                .baseline = count_ranges(c->a, r), .fixed = count_ranges(c->b, r)));
}

void guard_loops(struct guard *c)
{
	uint32_t a = guard_iterations(c->a), b = guard_iterations(c->b);
	if ((c->out.mismatch && !c->other_loops) || !a || !b)
		return;
	c->out.loops = (a > b ? a - b : b - a) <= 2
	                       ? compare_loops(c)
	                       : FACT_NEW(c->arena, iterations_differ, FACT_NO_SIDE, .baseline = a, .fixed = b,
	                                  .compared = !c->other_loops && !(c->a->items > 0),
	                                  .whole = a * c->a->budget.period / (b * c->b->budget.period));
	guard_find(c, false, c->out.loops);
}
