/* Ranges that fit as steps, and what they hold of each other. */
#include "analyse/run/marks_nest.h"

enum { LOOKED_AT = 24 /* of the longest that fit */ };

/* How many instances of `inner` each instance of `outer` holds, on the same thread. The last one may have been cut. */
struct held {
	size_t least, most; /* of all but a thread's last, where there are several */
	size_t n;           /* held by any */
};

static void count_held(const struct marks_ranges *x, const struct marks_piece *outer, const struct marks_piece *inner,
                       struct held *held)
{
	const struct trace_ranges *r = &x->trace->ranges;
	size_t k = inner->first, end = inner->first + inner->n;
	for (size_t i = outer->first; i < outer->first + outer->n; i++) {
		int64_t from = r->start[x->order[i]], to = r->end[x->order[i]];
		size_t n = 0;
		while (k < end && r->start[x->order[k]] < from)
			k++;
		for (; k < end && r->start[x->order[k]] < to; k++)
			n += r->end[x->order[k]] <= to;
		held->n += n;
		if (i + 1 == outer->first + outer->n && outer->n > 1)
			continue;
		held->least = n < held->least ? n : held->least;
		held->most = n > held->most ? n : held->most;
	}
}

/* False: hardly any instance of `inner` is inside one of `outer`, or those are not one after the other. */
static bool holds(const struct marks_ranges *x, const struct marks_range *outer, const struct marks_range *inner,
                  struct held *held)
{
	*held = (struct held){.least = SIZE_MAX};
	if (outer->overlap || x->pieces[outer->first].process != x->pieces[inner->first].process)
		return false;
	for (size_t a = 0, b = 0; a < outer->n && b < inner->n;) { /* both are in the order of threads */
		const struct marks_piece *p = &x->pieces[outer->first + a], *q = &x->pieces[inner->first + b];
		if (p->thread == q->thread)
			count_held(x, p, q, held);
		a += p->thread <= q->thread;
		b += q->thread <= p->thread;
	}
	return 10 * held->n >= 9 * inner->instances;
}

/* Steps lie in containers: several each time where the name says so, else not always as many. */
static bool is_container(const struct marks_ranges *x, const struct marks_range *c, const struct marks_range *inner)
{
	struct held held;
	if (inner->class == MARK_CONTAINER || inner->instances < MARKS_MIN_INSTANCES || !holds(x, c, inner, &held))
		return false;
	return held.least >= 2 && (c->class == MARK_CONTAINER || held.least < held.most);
}

static bool is_around(const struct marks_ranges *x, const struct marks_range *c, const struct marks_range *inner)
{
	struct held held;
	return inner->grade == GRADE_PLAIN && c->class == MARK_PLAIN && holds(x, c, inner, &held) && held.least >= 2 &&
	       held.least == held.most;
}

static bool holds_one(const struct marks_ranges *x, const struct marks_range *c, const struct marks_range *step)
{
	struct held held;
	return step->grade == GRADE_STEP && c->class == MARK_PLAIN && c->instances == step->instances &&
	       holds(x, c, step, &held) && held.least == 1 && held.most == 1;
}

/* The longest that fit, `n` of them. */
static size_t find_longest(struct marks_ranges *x, struct marks_range *top[LOOKED_AT])
{
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		struct marks_range *c = &x->list[i];
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

void marks_ranges_nest(struct marks_ranges *x)
{
	struct marks_range *top[LOOKED_AT];
	size_t n = find_longest(x, top);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && top[i]->grade == GRADE_PLAIN; k++)
			if (k != i && is_container(x, top[i], top[k]))
				top[i]->grade = GRADE_CONTAINER;
	for (size_t i = 0; i < n; i++) {
		bool around = false, one = false;
		for (size_t k = 0; k < n; k++) {
			around = around || (top[i]->grade == GRADE_AROUND && is_around(x, top[i], top[k]));
			one = one || holds_one(x, top[i], top[k]);
		}
		top[i]->fits = top[i]->grade != GRADE_AROUND || around || one;
		top[i]->grade = one ? GRADE_HOLDS : top[i]->grade;
	}
	for (size_t i = 0; i < x->n; i++) {
		bool looked_at = false;
		for (size_t k = 0; k < n; k++)
			looked_at = looked_at || top[k] == &x->list[i];
		if (x->list[i].grade == GRADE_AROUND && !looked_at)
			x->list[i].fits = false;
	}
}
