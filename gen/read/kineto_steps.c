/* Steps of a trace whose program marks none, by its optimizers (docs/method/analysis.md, Step): PyTorch notes their
 * steps by itself. One step reaches from the end of an optimizer's step to the end of the next one. */
#include "base/list.h"
#include "read/kineto.h"

#include <string.h>

enum {
	RARE = 10,    /* an optimizer that steps less than one in so many times as often as another one ends no step */
	IN_TURNS = 4, /* optimizers of one class that may take turns */
	ALIKE = 50,   /* operators of which less than one in so many is another are alike */
	SORTS = 16    /* of operators, by their names */
};

/* When an optimizer's step ended. */
struct end {
	int64_t time;
	uint32_t name;
	uint32_t work[SORTS]; /* operators and annotations that began since the end before, with this one; a mark of
	                       * the profiler's steps, which another program may lack, is none */
};

/* Those of one thread, in order. */
struct ends {
	struct end *list;
	size_t n, room;
};

bool kineto_is_optimizer(const struct kineto *k, const struct kineto_span *s)
{
	static const char step[] = "Optimizer.step#";
	return (s->kind == KINETO_OPERATOR || s->kind == KINETO_ANNOTATION) &&
	       strncmp(names_text(k->names, s->name), step, sizeof step - 1) == 0;
}

static bool is_work(const struct kineto *k, const struct kineto_span *s)
{
	static const char mark[] = "ProfilerStep";
	return (s->kind == KINETO_OPERATOR || s->kind == KINETO_ANNOTATION) &&
	       strncmp(names_text(k->names, s->name), mark, sizeof mark - 1) != 0;
}

/* Of the spans of a thread. An optimizer may call another one. */
static void find_ends(const struct kineto *k, const struct kineto_span *s, size_t n, struct arena *arena,
                      struct ends *out)
{
	int64_t until = INT64_MIN;
	struct end end = {0};
	out->n = 0;
	for (; n--; s++) {
		if (s->start < until)
			continue;
		end.work[s->name % SORTS] += is_work(k, s);
		if (!kineto_is_optimizer(k, s))
			continue;
		end.time = until = s->end;
		end.name = s->name;
		LIST_ADD(arena, out->list, out->n, out->room, end);
		end = (struct end){0};
	}
}

static size_t count_name(const struct ends *e, uint32_t name)
{
	size_t n = 0;
	for (size_t i = 0; i < e->n; i++)
		n += e->list[i].name == name;
	return n;
}

/* The optimizer that ends steps: of those that step about as often as any the rarest, and of several the last one of
 * the first step. */
static uint32_t find_lead(const struct ends *e)
{
	const size_t most_looked_at = (size_t)IN_TURNS * RARE,
		     looked_at = e->n < most_looked_at ? e->n : most_looked_at;
	size_t most = 0, least = SIZE_MAX;
	uint32_t lead = 0;
	for (size_t i = 0; i < looked_at; i++) {
		const size_t n = count_name(e, e->list[i].name);
		most = n > most ? n : most;
	}
	for (size_t i = 0; i < looked_at; i++) {
		const uint32_t name = e->list[i].name;
		const size_t n = count_name(e, name);
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = e->list[k].name == name;
		if (seen || n * RARE < most || n > least)
			continue;
		least = n;
		lead = name;
	}
	return lead;
}

/* Keeps the ends of that optimizer; the others' work is that of the step they are in. */
static void keep_lead(struct ends *e, uint32_t lead)
{
	size_t kept = 0;
	struct end end = {0};
	for (size_t i = 0; i < e->n; i++) {
		for (int k = 0; k < SORTS; k++)
			end.work[k] += e->list[i].work[k];
		if (e->list[i].name != lead)
			continue;
		end.time = e->list[i].time;
		end.name = lead;
		e->list[kept++] = end;
		end = (struct end){0};
	}
	e->n = kept;
}

static bool are_alike(const struct end *a, const struct end *b)
{
	uint64_t apart = 0, of_a = 0, of_b = 0;
	for (int k = 0; k < SORTS; k++) {
		const uint32_t x = a->work[k], y = b->work[k];
		apart += x > y ? x - y : y - x;
		of_a += x;
		of_b += y;
	}
	return ALIKE * apart <= (of_a > of_b ? of_a : of_b);
}

/* How many of the optimizers' steps did what that `turns` before them did, of n. */
static size_t count_alike(const struct ends *e, size_t turns, size_t *n)
{
	size_t alike = 0;
	*n = e->n > turns + 1 ? e->n - turns - 1 : 0;
	for (size_t i = 1; i + turns < e->n; i++)
		alike += are_alike(&e->list[i], &e->list[i + turns]);
	return alike;
}

/* After how many steps of optimizers the same was done as before: those of a generator and of a discriminator are of
 * one class, and take turns. The first one may have begun before the trace did. Where most steps are like the one
 * before, as they are in no turns, some of them write a checkpoint or a log. */
static size_t find_turns(const struct ends *e)
{
	size_t n, alike = count_alike(e, 1, &n);
	if (4 * alike >= 3 * n)
		return 1;
	for (size_t turns = 2; turns <= IN_TURNS && e->n > 2 * turns; turns++) {
		alike = count_alike(e, turns, &n);
		if (10 * alike >= 9 * n)
			return turns;
	}
	return 1;
}

/* The first step has no end before it: it begins with the thread, if it is as long as the second. */
static void add_steps(struct kineto *k, const struct ends *e, const struct kineto_span *first)
{
	size_t turns = find_turns(e);
	int64_t start = first->start;
	bool known = e->n > turns;
	for (size_t i = 0; i < turns && known; i++)
		known = are_alike(&e->list[i], &e->list[i + turns]);
	for (size_t i = turns - 1; i < e->n; i += turns) {
		if (known) {
			LIST_ADD(&k->scratch, k->steps, k->n_steps, k->step_room,
			         (struct kineto_step){start, e->list[i].time, first->thread});
		}
		known = true;
		start = e->list[i].time;
	}
}

void kineto_find_steps(struct kineto *k)
{
	ARENA_LOCAL(scratch);
	struct ends e = {0};
	for (size_t i = 0, next; i < k->n_spans; i = next) {
		next = kineto_next_thread(k, i);
		find_ends(k, k->spans + i, next - i, &scratch, &e);
		if (!e.n)
			continue;
		keep_lead(&e, find_lead(&e));
		add_steps(k, &e, &k->spans[i]);
	}
}
