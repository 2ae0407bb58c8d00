#include "analyse/run/marks.h"

#include "analyse/run/marks_nest.h"
#include "base/buf.h"
#include "base/keymap.h"

#include <stdlib.h>
#include <string.h>

/* --step NAME: normalised, the same without its mask, or as it stands in the profile. */
static bool is_wanted(const struct marks_ranges *x, const struct marks_range *c, const char *wanted)
{
	const struct trace *t = x->trace;
	const char *name = names_text(t->names, x->pieces[c->first].name);
	size_t length = strlen(wanted);
	if (strcmp(name, wanted) == 0)
		return true;
	if (strncmp(name, wanted, length) == 0 && (strcmp(name + length, "#") == 0 || strcmp(name + length, "_#") == 0))
		return true;
	for (size_t k = c->first; k < c->first + c->n; k++)
		for (size_t i = x->pieces[k].first; i < x->pieces[k].first + x->pieces[k].n; i++)
			if (strcmp(names_text(t->names, t->ranges.name[x->order[i]]), wanted) == 0)
				return true;
	return false;
}

/* What fits as a step, what the program named in no library's domain, what is repeated, what takes longest. */
static int by_likelihood(const void *a, const void *b, void *ranges)
{
	const struct marks_ranges *x = ranges;
	const struct marks_range *c = a, *d = b;
	bool library = x->pieces[c->first].domain, other = x->pieces[d->first].domain;
	bool repeats = c->instances >= MARKS_MIN_INSTANCES, more = d->instances >= MARKS_MIN_INSTANCES;
	int order = 4 * (d->fits - c->fits) + 2 * (library - other) + (more - repeats);
	if (order)
		return order;
	return c->total != d->total ? (c->total > d->total ? -1 : 1) : (c->first > d->first) - (c->first < d->first);
}

static int no_such_step(struct marks_ranges *x, const char *wanted, struct err *err)
{
	struct buf have = {0};
	marks_ranges_judge(x, true, MARKS_MIN_INSTANCES);
	if (x->n)
		qsort_r(x->list, x->n, sizeof *x->list, by_likelihood, x);
	for (size_t i = 0, shown = 0; i < x->n && shown < 8; i++) {
		uint32_t name = x->pieces[x->list[i].first].name;
		bool seen = false;
		for (size_t j = 0; j < i && !seen; j++)
			seen = x->pieces[x->list[j].first].name == name;
		if (!seen)
			buf_format(&have, "%s'%.60s'", shown++ ? ", " : "", names_text(x->trace->names, name));
	}
	const char *kind = x->trace->source.kind == SOURCE_KINETO ? "annotation" : "NVTX range";
	if (have.n)
		err_set(err, "--step %s: no %s of this name in the profile; it has %s", wanted, kind, have.data);
	else
		err_set(err, "--step %s: no %s of this name in the profile; it has no %ss at all", wanted, kind, kind);
	buf_release(&have);
	return -1;
}

/* Ranges that gapline itself added while it recorded (gen/inject/python). */
#define ADDED_STEP "gapline: step"
static const char *const added_phases[] = {"data_load", "forward", "backward", "optimizer"};

/* What gapline added: its step reaches from one step's end to the next's, so it is the longest, and its phases are none
 * where its step is there. */
static enum mark_grade grade_name(const char *name, bool added, enum mark_grade grade)
{
	if (!strcmp(name, ADDED_STEP))
		return GRADE_ADDED;
	for (size_t i = 0; added && i < sizeof added_phases / sizeof *added_phases; i++)
		if (!strcmp(name, added_phases[i]))
			return GRADE_PHASE;
	return grade;
}

static enum mark_grade grade(const struct marks_ranges *x, const struct marks_range *c, bool added)
{
	return grade_name(names_text(x->trace->names, x->pieces[c->first].name), added, c->grade);
}

/* Whether the range that is graded `a` goes before the one that is graded `b`. */
static bool goes_before(enum mark_grade a, bool overlap, int64_t total, enum mark_grade b, bool than_overlap,
                        int64_t than_total)
{
	if (a != b)
		return a > b;
	return overlap != than_overlap ? than_overlap : total > than_total;
}

static bool is_better(const struct marks_ranges *x, const struct marks_range *c, const struct marks_range *than,
                      bool added)
{
	return goes_before(grade(x, c, added), c->overlap, c->total, grade(x, than, added), than->overlap, than->total);
}

static bool is_candidate_better(const struct names *names, const struct marks_candidate *c,
                                const struct marks_candidate *than, bool added)
{
	return goes_before(grade_name(names_text(names, c->name), added, c->grade), c->overlap, c->total,
	                   grade_name(names_text(names, than->name), added, than->grade), than->overlap, than->total);
}

/* The candidate whose name is taken; NULL: none fits. */
static const struct marks_range *find_winner(const struct marks_ranges *x)
{
	const struct marks_range *winner = NULL;
	bool added = false;
	for (size_t i = 0; i < x->n; i++)
		added = added || grade(x, &x->list[i], false) == GRADE_ADDED;
	for (size_t i = 0; i < x->n; i++)
		if (x->list[i].fits && (!winner || is_better(x, &x->list[i], winner, added)))
			winner = &x->list[i];
	return winner;
}

/* Appends the instances of a candidate; `written`: the name of the last. */
static void take_instances(const struct marks_ranges *x, const struct marks_range *c, struct instance *list,
                           uint32_t *n, uint32_t *written)
{
	const struct trace_ranges *r = &x->trace->ranges;
	for (size_t k = c->first; k < c->first + c->n; k++)
		for (size_t j = x->pieces[k].first; j < x->pieces[k].first + x->pieces[k].n; j++) {
			uint32_t range = x->order[j];
			*written = r->name[range];
			list[(*n)++] = (struct instance){.process = x->pieces[k].process,
			                                 .thread = x->pieces[k].thread,
			                                 .start = r->start[range],
			                                 .end = r->end[range],
			                                 .cut = r->clipped[range]};
		}
}

/* The instances of all processes that have the winner's name. */
static void propose(const struct marks_ranges *x, const struct marks_range *winner, struct arena *arena,
                    struct step_marks *out)
{
	uint64_t name = marks_ranges_key(x, winner);
	out->origin = STEPS_BY_RANGE;
	out->name = x->pieces[winner->first].name;
	out->domain = x->pieces[winner->first].domain;
	for (size_t i = 0; i < x->n; i++)
		out->n += x->list[i].fits && marks_ranges_key(x, &x->list[i]) == name ? (uint32_t)x->list[i].instances
		                                                                      : 0;
	out->instance = ARENA_NEW(arena, out->n, struct instance);
	uint32_t n = 0;
	for (size_t i = 0; i < x->n; i++)
		if (x->list[i].fits && marks_ranges_key(x, &x->list[i]) == name)
			take_instances(x, &x->list[i], out->instance, &n, &out->written);
}

int marks_from_ranges(const struct trace *t, const struct fold *fold, const char *wanted, struct arena *arena,
                      struct step_marks *out, struct err *err)
{
	struct arena scratch = {0};
	struct marks_ranges x = {.trace = t, .arena = &scratch};
	*out = (struct step_marks){0};
	marks_ranges_collect(&x, fold, wanted != NULL);
	for (size_t i = 0; i < x.n && wanted; i++)
		x.list[i].fits = is_wanted(&x, &x.list[i], wanted);
	if (!wanted) {
		marks_ranges_judge(&x, true, MARKS_MIN_INSTANCES);
		marks_ranges_nest(&x);
	}
	const struct marks_range *winner = find_winner(&x);
	if (winner)
		propose(&x, winner, arena, out);
	int result = wanted && !winner ? no_such_step(&x, wanted, err) : 0;
	arena_release(&scratch);
	return result;
}

/* ---- part by part ---- */

void marks_of_part(const struct trace *t, const struct fold *fold, struct arena *arena, struct marks_part *out)
{
	struct arena scratch = {0};
	struct marks_ranges x = {.trace = t, .arena = &scratch};
	*out = (struct marks_part){0};
	marks_ranges_collect(&x, fold, false);
	out->whole = marks_ranges_judge(&x, false, MARKS_MIN_INSTANCES);
	marks_ranges_nest(&x);
	for (size_t i = 0; i < x.n; i++) {
		out->added = out->added || grade(&x, &x.list[i], false) == GRADE_ADDED;
		out->n += x.list[i].fits;
	}
	out->list = ARENA_NEW(arena, out->n, struct marks_candidate);
	for (size_t i = 0, n = 0; i < x.n; i++) {
		const struct marks_range *c = &x.list[i];
		if (!c->fits)
			continue;
		struct marks_candidate *to = &out->list[n++];
		*to = (struct marks_candidate){.name = x.pieces[c->first].name,
		                               .domain = x.pieces[c->first].domain,
		                               .total = c->total,
		                               .stretch = c->stretch,
		                               .overlap = c->overlap,
		                               .grade = (uint8_t)grade(&x, c, false),
		                               .instance = ARENA_NEW(arena, c->instances, struct instance)};
		take_instances(&x, c, to->instance, &to->n, &to->written);
	}
	arena_release(&scratch);
}

static uint64_t candidate_key(const struct marks_candidate *c)
{
	return (uint64_t)c->name << 32 | c->domain;
}

const struct marks_candidate *marks_choose(const struct marks_part *parts, size_t n, bool share,
                                           const struct names *names)
{
	const struct marks_candidate *winner = NULL;
	struct arena scratch = {0};
	struct keymap keys;
	double whole = 0, *stretch = NULL; /* over all parts; by name */
	size_t all = 0;
	bool added = false;
	keymap_init(&keys, &scratch);
	for (size_t p = 0; p < n; p++)
		all += parts[p].n;
	stretch = ARENA_NEW(&scratch, all, double);
	for (size_t p = 0; p < n; p++) {
		whole += parts[p].whole;
		added = added || parts[p].added;
		for (size_t i = 0; i < parts[p].n; i++)
			stretch[keymap_add(&keys, candidate_key(&parts[p].list[i]))] += parts[p].list[i].stretch;
	}
	for (size_t p = 0; p < n; p++)
		for (size_t i = 0; i < parts[p].n; i++) {
			const struct marks_candidate *c = &parts[p].list[i];
			if ((!share || c->grade == GRADE_PROFILER ||
			     2 * stretch[keymap_add(&keys, candidate_key(c))] >= whole) &&
			    (!winner || is_candidate_better(names, c, winner, added)))
				winner = c;
		}
	arena_release(&scratch);
	return winner;
}

void marks_from_range_like(const struct trace *t, const struct fold *fold, const struct steps *like,
                           struct arena *arena, struct step_marks *out)
{
	struct arena scratch = {0};
	struct marks_ranges x = {.trace = t, .arena = &scratch};
	*out = (struct step_marks){0};
	marks_ranges_collect(&x, fold, true);
	marks_ranges_judge(&x, false, MARKS_MIN_LIKE);
	for (size_t i = 0; i < x.n; i++)
		x.list[i].fits = x.list[i].fits &&
		                 marks_ranges_key(&x, &x.list[i]) == ((uint64_t)like->name << 32 | like->domain);
	const struct marks_range *winner = find_winner(&x);
	if (winner)
		propose(&x, winner, arena, out);
	arena_release(&scratch);
}
