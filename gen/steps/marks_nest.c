/* Ranges that fit as steps, and what they hold of each other. */
#include "steps/marks.h"

enum { LOOKED_AT = 24 /* of the longest that fit */ };

/* How many instances of `inner` each instance of `outer` holds, on the same thread. The last one may have been cut. */
struct held {
	size_t least, most; /* of all but a thread's last, where there are several */
	size_t n;           /* held by any */
};

/* The instances of a candidate on one thread, in order of their start. */
struct piece {
	const struct instance *list;
	uint32_t n;
};

static struct piece piece_at(const struct marks_candidate *c, uint32_t first)
{
	struct piece piece = {c->instance + first, 0};
	while (first + piece.n < c->n && piece.list[piece.n].thread == piece.list[0].thread)
		piece.n++;
	return piece;
}

static void count_held(const struct piece *outer, const struct piece *inner, struct held *held)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < outer->n; i++) {
		int64_t from = outer->list[i].start, to = outer->list[i].end;
		size_t n = 0;
		while (k < inner->n && inner->list[k].start < from)
			k++;
		for (; k < inner->n && inner->list[k].start < to; k++)
			n += inner->list[k].end <= to;
		held->n += n;
		if (i + 1 == outer->n && outer->n > 1)
			continue;
		held->least = n < held->least ? n : held->least;
		held->most = n > held->most ? n : held->most;
	}
}

/* False: hardly any instance of `inner` is inside one of `outer`, or those are not one after the other. */
static bool holds(const struct marks_candidate *outer, const struct marks_candidate *inner, struct held *held)
{
	*held = (struct held){.least = SIZE_MAX};
	if (outer->overlap || outer->instance[0].process != inner->instance[0].process)
		return false;
	for (uint32_t a = 0, b = 0; a < outer->n && b < inner->n;) { /* both are in the order of threads */
		const struct piece p = piece_at(outer, a), q = piece_at(inner, b);
		if (p.list->thread == q.list->thread)
			count_held(&p, &q, held);
		a += p.list->thread <= q.list->thread ? p.n : 0;
		b += q.list->thread <= p.list->thread ? q.n : 0;
	}
	return 10 * held->n >= 9 * (size_t)inner->n;
}

/* Steps lie in containers: several each time where the name says so, else not always as many. An iteration around those
 * of a solver is one, too, where it holds as many as make steps, and not always as many. */
static bool is_container(const struct marks_candidate *c, const struct marks_candidate *inner)
{
	struct held held;
	bool step = c->grade == GRADE_STEP;
	if (inner->class == MARK_CONTAINER || inner->n < MARKS_MIN_INSTANCES || (step && inner->grade != GRADE_STEP) ||
	    !holds(c, inner, &held))
		return false;
	return held.least >= (step ? MARKS_MIN_INSTANCES : 2) && (c->class == MARK_CONTAINER || held.least < held.most);
}

static bool is_around(const struct marks_candidate *c, const struct marks_candidate *inner)
{
	struct held held;
	return inner->grade == GRADE_PLAIN && c->class == MARK_PLAIN && holds(c, inner, &held) && held.least >= 2 &&
	       held.least == held.most;
}

static bool holds_one(const struct marks_candidate *c, const struct marks_candidate *step)
{
	struct held held;
	return step->grade == GRADE_STEP && c->class == MARK_PLAIN && c->n == step->n && holds(c, step, &held) &&
	       held.least == 1 && held.most == 1;
}

/* The longest that fit. */
static size_t find_longest(const struct marks_part *part, struct marks_candidate *top[LOOKED_AT])
{
	size_t n = 0;
	for (size_t i = 0; i < part->n; i++) {
		struct marks_candidate *c = &part->list[i];
		if (!c->fits)
			continue;
		size_t k = n < LOOKED_AT ? n++ : n;
		for (; k > 0 && c->total > top[k - 1]->total; k--)
			if (k < LOOKED_AT)
				top[k] = top[k - 1];
		if (k < LOOKED_AT)
			top[k] = c;
	}
	return n;
}

void marks_nest(struct marks_part *part)
{
	struct marks_candidate *top[LOOKED_AT];
	size_t n = find_longest(part, top);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && (top[i]->grade == GRADE_PLAIN || top[i]->grade == GRADE_STEP); k++)
			if (k != i && is_container(top[i], top[k]))
				top[i]->grade = GRADE_CONTAINER;
	for (size_t i = 0; i < n; i++) {
		bool around = false, one = false;
		for (size_t k = 0; k < n; k++) {
			around = around || (top[i]->grade == GRADE_AROUND && is_around(top[i], top[k]));
			one = one || holds_one(top[i], top[k]);
		}
		top[i]->fits = top[i]->grade != GRADE_AROUND || around || one;
		top[i]->grade = one ? GRADE_HOLDS : top[i]->grade;
	}
	for (size_t i = 0; i < part->n; i++) {
		bool looked_at = false;
		for (size_t k = 0; k < n; k++)
			looked_at = looked_at || top[k] == &part->list[i];
		if (part->list[i].grade == GRADE_AROUND && !looked_at)
			part->list[i].fits = false;
	}
}
