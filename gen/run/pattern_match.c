#include "run/choose_steps.h"

#include "base/keymap.h"
#include "base/sort.h"
#include "steps/op_names.h"
#include "trace/kernel_names.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double A_THIRD = 1 / 3., HALF = 0.5; /* of a loop's kernel time; of what repeats */
static const double AS_MANY = 1.1, TWICE = 2;     /* times as many at most: of kernels or operations in a cycle */

/* Of the GPU time: what is less is matched only if it is asked for, and may be of a kind of its own; or of a cycle's.
 */
#define LITTLE 0.05

double run_loop_work(const struct run_loop *loop)
{
	double work = 0;
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		work += loop->makeup[i].comm ? 0 : loop->makeup[i].time;
	return work;
}

/* The share of the GPU time of `a`, without communication where both do anything else, of kernels that `b` has. */
static double shared_time(const struct run_loop *a, const struct run_loop *b, bool works)
{
	double all = works ? run_loop_work(a) : a->time, shared = 0;
	ARENA_LOCAL(scratch);
	struct keymap names;
	keymap_init(&names, &scratch);
	for (uint32_t i = 0; i < b->n_makeup; i++)
		keymap_add(&names, b->makeup[i].name);
	for (uint32_t i = 0; i < a->n_makeup; i++)
		if (!(works && a->makeup[i].comm) && keymap_find(&names, a->makeup[i].name) != UINT32_MAX)
			shared += a->makeup[i].time;
	return all > 0 ? shared / all : 0;
}

double run_loop_alike(const struct run_loop *a, const struct run_loop *b)
{
	bool works = run_loop_work(a) > 0 && run_loop_work(b) > 0; /* else they do nothing but communicate */
	return (shared_time(a, b, works) + shared_time(b, a, works)) / 2;
}

/* Of a kernel that two loops have: how many times as many of them one has in a cycle, and how much time that is of. */
struct times {
	double times, weight;
};

SORT_ORDER(compare_times, struct times, ASCENDING(x->times, y->times))

/* How many times as many ops of the kernels that both have a cycle of `b` holds as one of `a`, where nearly all of them
 * say about what the middle one says: by those; else 0. */
static double times_as_many(const struct run_loop *a, const struct run_loop *b)
{
	ARENA_LOCAL(scratch);
	struct times *list = ARENA_NEW(&scratch, a->n_makeup, struct times);
	double all = 0, below = 0, agree = 0, sum = 0, work = run_loop_work(a);
	size_t n = 0, middle = 0;
	for (uint32_t i = 0; i < a->n_makeup; i++)
		for (uint32_t k = 0; k < b->n_makeup; k++) {
			const struct run_loop_op *x = &a->makeup[i], *y = &b->makeup[k];
			if (x->name != y->name || x->n <= 0 || (x->comm && work > 0))
				continue;
			list[n] = (struct times){y->n / x->n, x->time / (work > 0 ? work : a->time)};
			all += list[n++].weight;
		}
	SORT(list, n, compare_times);
	while (middle + 1 < n && (below += list[middle].weight) < 0.5 * all)
		middle++;
	for (size_t i = 0; i < n; i++)
		if (list[i].times > 0.8 * list[middle].times && list[i].times < 1.25 * list[middle].times) {
			agree += list[i].weight;
			sum += list[i].weight * list[i].times;
		}
	return all >= 0.5 && agree >= 0.8 * all ? sum / agree : 0;
}

/* Whether neither is more than `times` the other. */
static bool about_as_many(double a, double b, double times)
{
	return a <= times * b && b <= times * a;
}

/* The same of the copies to the device and back: where both directions say so, and each loop has them. */
static double times_as_many_copies(const struct run_loop *a, const struct run_loop *b, const struct names *names)
{
	double times = 0;
	for (uint32_t i = 0; i < a->n_makeup; i++)
		for (uint32_t k = 0; k < b->n_makeup; k++) {
			const struct run_loop_op *x = &a->makeup[i], *y = &b->makeup[k];
			const char *name = names_text(names, x->name);
			if (x->name != y->name || x->n <= 0 ||
			    (!strstr(name, "Host-to-Device") && !strstr(name, "Device-to-Host")))
				continue;
			if (times > 0 && !about_as_many(times, y->n / x->n, AS_MANY))
				return 0;
			times = y->n / x->n;
		}
	return times;
}

/* Two apart at most, or one in `in`: warm-up, and a capture's ends. */
static bool as_often(const struct run_loop *a, const struct run_loop *b, uint64_t in)
{
	uint32_t more = a->n > b->n ? a->n : b->n, fewer = a->n > b->n ? b->n : a->n;
	return more - fewer <= 2 || (more - fewer) * in <= more;
}

/* How much speaks for two loops to be the same one; 0: they are not. Their kernels, as many of them in a cycle, and how
 * often they are there: a fix changes kernels, a warm-up of the same kernels is not there as often, nor as large. Of
 * several that are all of this, the one of the same title: those of the same kernels are numbered in order of time,
 * which no fix changes. */
static double speaks_for(const struct run_loop *mine, const struct run_loop *like)
{
	double alike = run_loop_alike(mine, like);
	bool often = as_often(mine, like, 10), called = strcmp(mine->title, like->title) == 0;
	bool as_long = about_as_many(mine->ops, like->ops, AS_MANY);
	return alike >= PATTERN_ALIKE || often
	               ? alike * (1 + as_long) + often + 0.1 * called + sqrt(mine->share * like->share)
	               : 0;
}

/* The column of row `wanted` where all rows together get most (H. W. Kuhn, The Hungarian method for the assignment
 * problem, 1955; by shortest paths: R. Jonker, A. Volgenant, 1987). Of columns there are as many more as there are
 * rows, worth nothing: who has one of those has none. Both count from 1; column 0 holds the row that is to get one. */
static uint32_t assign(uint32_t rows, uint32_t columns, const double *worth, uint32_t wanted, struct arena *arena)
{
	double *of_row = ARENA_NEW(arena, rows + 1, double),
	       *of_column = ARENA_NEW(arena, columns + 1, double); /* prices */
	double *loss = ARENA_NEW(arena, columns + 1, double);
	uint32_t *row = ARENA_NEW(arena, columns + 1, uint32_t), *before = ARENA_NEW(arena, columns + 1, uint32_t);
	bool *reached = ARENA_NEW(arena, columns + 1, bool);
	for (uint32_t r = 1; r <= rows; r++) {
		uint32_t at = 0;
		row[at] = r;
		for (uint32_t c = 0; c <= columns; c++) {
			loss[c] = DBL_MAX;
			reached[c] = false;
		}
		do { /* the path on which least is lost, to a column that no row has */
			uint32_t next = 0;
			reached[at] = true;
			for (uint32_t c = 1; c <= columns; c++) {
				double through = -worth[(size_t)(row[at] - 1) * columns + c - 1] - of_row[row[at]] -
				                 of_column[c];
				if (!reached[c] && through < loss[c]) {
					loss[c] = through;
					before[c] = at;
				}
				if (!reached[c] && (!next || loss[c] < loss[next]))
					next = c;
			}
			double least = loss[next];
			for (uint32_t c = 0; c <= columns; c++) {
				of_row[row[c]] += reached[c] ? least : 0;
				of_column[c] -= reached[c] ? least : 0;
				loss[c] -= reached[c] ? 0 : least;
			}
			at = next;
		} while (row[at]);
		for (; at; at = before[at]) /* who is on it gives way */
			row[at] = row[before[at]];
	}
	uint32_t column = 1;
	while (row[column] != wanted + 1)
		column++;
	return column - 1;
}

uint32_t pattern_match(const struct run_loops *mine, const struct run_loops *likes, uint32_t like)
{
	ARENA_LOCAL(scratch);
	uint32_t columns = mine->n + likes->n;
	double *worth = ARENA_NEW(&scratch, (size_t)columns * likes->n, double);
	for (uint32_t l = 0; l < likes->n; l++)
		for (uint32_t m = 0; m < mine->n; m++) {
			bool little = likes->list[l].share < LITTLE && mine->list[m].share < LITTLE;
			if (l == like || !little)
				worth[(size_t)l * columns + m] = speaks_for(&mine->list[m], &likes->list[l]);
		}
	uint32_t found = assign(likes->n, columns, worth, like, &scratch);
	bool is_one = found < mine->n && worth[(size_t)like * columns + found] > 0;
	return is_one ? found : UINT32_MAX;
}

bool pattern_match_most(const struct run_loops *a, const struct run_loops *b, uint32_t most[2])
{
	double share = LITTLE;
	for (uint32_t l = 0; l < a->n; l++) {
		uint32_t other = pattern_match(b, a, l);
		if (other == UINT32_MAX || a->list[l].share + b->list[other].share <= share)
			continue;
		share = a->list[l].share + b->list[other].share;
		most[0] = l;
		most[1] = other;
	}
	return share > LITTLE;
}

/* How many cycles of `shorter` are one of `longer`, as often as they are there and as many as it has copies to the
 * device and back: what is computed of each input may be another matter in every second one. 0: they are not. */
static uint32_t by_copies(const struct run_loop *shorter, const struct run_loop *longer, const struct names *names)
{
	double often = (double)shorter->n / longer->n, together = round(often);
	bool whole = together >= 2 && about_as_many(often, together, AS_MANY);
	return whole && about_as_many(times_as_many_copies(shorter, longer, names), together, AS_MANY)
	               ? (uint32_t)together
	               : 0;
}

/* How many cycles of `shorter` an outer loop has, where one in so many holds something else, as often as `longer` is
 * there and that is not the same cycle: it is the outer loop's, whatever it runs. 0: it is not. */
static uint32_t by_outer(const struct run_loop *shorter, const struct run_loop *longer)
{
	const double often = (double)shorter->n / longer->n, together = round(often);
	const struct run_loop differing = {.n = shorter->differ / (shorter->processes ? shorter->processes : 1)};
	const bool whole = together >= 2 && fabs(often - together) <= 0.01 * together;
	const bool shown = longer->n >= RULE_MANY && as_often(&differing, longer, 20);
	return whole && shown && run_loop_alike(shorter, longer) < RULE_NEARLY_ALL ? (uint32_t)together : 0;
}

bool pattern_is_outer(const struct run_loop *a, const struct run_loop *b)
{
	return by_outer(a, b) || by_outer(b, a);
}

bool pattern_same_unit(const struct run_loop *a, const struct run_loop *b, const struct names *names)
{
	double times = times_as_many(a, b);
	if (as_often(a, b, 10))
		return true;
	return !by_copies(a, b, names) && !by_copies(b, a, names) && !pattern_is_outer(a, b) &&
	       (times == 0 || (times > 0.6 && times < 1.7));
}

uint32_t pattern_cycles_together(const struct run_loop *shorter, const struct run_loop *longer,
                                 const struct names *names)
{
	uint32_t copied = by_copies(shorter, longer, names);
	if (copied)
		return copied;
	/* a fix may have changed how many kernels a cycle has, and not how often it is there; but of fewer cycles than
	 * are one, a cut at an end makes another number */
	double often = (double)shorter->n / longer->n, times = times_as_many(shorter, longer);
	uint32_t together = (uint32_t)(often + 0.5);
	if (together > longer->n || fabs(often - together) > 0.01 * together || fabs(times - together) > 0.1 * together)
		together = (uint32_t)(times + 0.5);
	if (together < 2 || fabs(times - together) > 0.1 * together)
		return by_outer(shorter, longer);
	return often > 0.9 * together && often < 1.1 * together ? together : 0;
}

/* ---- what two programs repeat ---- */

/* What the kernels of a loop are, each kind once. */
struct kinds {
	struct kind {
		const char *name;
		double n, time;
	} * list;
	uint32_t n;
	double time, hidden; /* of all kernels; of those whose names do not say what they do */
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static struct kinds kinds_of(const struct run_loop *loop, const struct names *names, struct arena *arena)
{
	struct kinds kinds = {.list = ARENA_NEW(arena, loop->n_makeup, struct kind)};
	for (uint32_t i = 0; i < loop->n_makeup; i++) {
		const struct run_loop_op *op = &loop->makeup[i];
		const char *name = names_text(names, op->name);
		bool graph = begins(name, "[CUDA graph");
		if ((*name == '[' && !graph) || op->comm)
			continue;
		kinds.time += op->time;
		if (graph || begins(name, "triton_") || strstr(name, "_fusion")) {
			kinds.hidden += op->time;
			continue;
		}
		const char *kind = op_words_kernel(name, arena);
		if (!strchr(kind, ' ')) /* no family: its own name, without the source line that is in it */
			kind = op_words_kernel(kernel_key(arena, name), arena);
		uint32_t k = 0;
		while (k < kinds.n && strcmp(kinds.list[k].name, kind) != 0)
			k++;
		if (k == kinds.n)
			kinds.list[kinds.n++] = (struct kind){.name = kind};
		kinds.list[k].n += op->n;
		kinds.list[k].time += op->time;
	}
	return kinds;
}

/* The share of the kernel time of each of two loops that is of kinds which both have, neither more than `times` as many
 * as the other: the lesser of the two. */
static double shared_kinds(const struct kinds *x, const struct kinds *y, double times)
{
	double same[2] = {0};
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < y->n; k++)
			if (strcmp(x->list[i].name, y->list[k].name) == 0 &&
			    about_as_many(x->list[i].n, y->list[k].n, times)) {
				same[0] += x->list[i].time;
				same[1] += y->list[k].time;
			}
	return x->time > 0 && y->time > 0 ? fmin(same[0] / x->time, same[1] / y->time) : 0;
}

bool pattern_alike(const struct run_loop *a, const struct run_loop *b, const struct names *names)
{
	struct arena scratch = {0};
	const struct kinds x = kinds_of(a, names, &scratch), y = kinds_of(b, names, &scratch);
	bool third = shared_kinds(&x, &y, AS_MANY) >= A_THIRD;
	bool more = shared_kinds(&x, &y, TWICE) >= HALF && shared_kinds(&x, &y, DBL_MAX) >= 1 - LITTLE;
	arena_release(&scratch);
	if ((x.time > 0) != (y.time > 0)) /* weights that are copied one after the other, and steps */
		return false;
	if (third)
		return true;
	bool hidden = x.hidden >= HALF * x.time || y.hidden >= HALF * y.time;
	if (!hidden && times_as_many(a, b) > 0 && times_as_many(b, a) > 0)
		return true;
	/* a fix hides kernels that the other side shows; where both hide them, nothing says that they are the same */
	bool both = x.hidden >= HALF * x.time && y.hidden >= HALF * y.time;
	/* casts, and what is calculated again, come on top of what each step has: of the same kinds */
	return as_often(a, b, 20) && ((hidden && !both) || more || about_as_many(a->ops, b->ops, AS_MANY));
}

static bool holds(const struct run_loop *loop, uint32_t name)
{
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		if (loop->makeup[i].name == name)
			return true;
	return false;
}

/* Whether part of what loop `x` does, and its counterpart `y` does not, is a loop of its own over there, as often as
 * `x`, and over here none: one cycle here is one of each of two there. */
static bool is_divided(const struct run_loops *mine, uint32_t x, const struct run_loops *other, uint32_t y,
                       const struct names *names)
{
	const struct run_loop *whole = &mine->list[x], *counterpart = &other->list[y];
	for (uint32_t z = 0; z < other->n; z++) {
		const struct run_loop *part = &other->list[z];
		/* of many cycles that are one step, another loop's are amid them */
		const int64_t middle = part->start + (part->end - part->start) / 2;
		const bool amid = counterpart->most && part->start >= counterpart->start && middle < counterpart->end;
		bool here = z == y || amid || !as_often(whole, part, 20);
		double gone = 0;
		for (uint32_t k = 0; k < mine->n && !here; k++)
			here = k != x && pattern_alike(&mine->list[k], part, names);
		for (uint32_t i = 0; i < whole->n_makeup && !here; i++) {
			const struct run_loop_op *op = &whole->makeup[i];
			bool moved = !op->comm && !holds(counterpart, op->name) && holds(part, op->name);
			gone += moved ? op->time : 0;
		}
		if (gone >= LITTLE * run_loop_work(whole))
			return true;
	}
	return false;
}

bool pattern_repeats_alike(const struct run_loops *mine, uint32_t a, const struct run_loops *other, uint32_t b,
                           const struct names *names)
{
	const struct run_loops *side[2] = {mine, other};
	if (!pattern_alike(&mine->list[a], &other->list[b], names) || is_divided(mine, a, other, b, names) ||
	    is_divided(other, b, mine, a, names))
		return false;
	for (int s = 0; s < 2; s++) {
		double all = 0, alike = 0;
		for (uint32_t l = 0; l < side[s]->n; l++) {
			const struct run_loop *loop = &side[s]->list[l];
			bool is = l == (s ? b : a);
			for (uint32_t k = 0; k < side[!s]->n && !is; k++)
				is = pattern_alike(loop, &side[!s]->list[k], names);
			all += loop->search && !is ? 0 : loop->share;
			alike += is ? loop->share : 0;
		}
		if (alike < HALF * all)
			return false;
	}
	return true;
}
