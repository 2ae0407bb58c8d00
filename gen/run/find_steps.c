#include "run/choose_steps.h"

#include "base/parallel.h"
#include "run/parts.h"

#include <string.h>

enum { STEPS = 1u << ROWS_OF_RANGES | 1u << ROWS_OF_OPS | 1u << ROWS_OF_CALLS | 1u << ROWS_OF_OS_CALLS };

static const double MOST_AFTER = 0.5; /* of the GPU's work */

/* What a part says when it is asked first. */
struct asked {
	const struct marks_candidate *taken; /* the range that it would choose itself; NULL: none */
	bool *fit;                           /* by candidate: it did, then */
	bool looked;                         /* for loops: where it has no such range */
	struct pattern_look look;
};

struct looking {
	struct run *run;
	struct marks_asked of;
	struct asked *asked;      /* by part … */
	struct marks_part *marks; /* … likewise, without their instances … */
	struct steps_part *steps; /* … and of those of the range that is taken */
	struct arena scratch;
};

static bool is_one_name(const struct marks_candidate *a, const struct marks_candidate *b)
{
	return a && b && a->name == b->name && a->domain == b->domain;
}

/* The instances of all processes of a part that have the range `like`. */
static struct step_marks marks_like(const struct marks_part *part, const struct marks_candidate *like,
                                    struct arena *arena)
{
	struct step_marks marks = {.origin = STEPS_BY_RANGE};
	for (size_t i = 0; i < part->n; i++)
		marks.n += part->list[i].fits && is_one_name(&part->list[i], like) ? part->list[i].n : 0;
	marks.instance = ARENA_NEW(arena, marks.n, struct instance);
	size_t at = 0;
	for (size_t i = 0; i < part->n; i++) {
		const struct marks_candidate *c = &part->list[i];
		if (!c->fits || !is_one_name(c, like))
			continue;
		marks.name = c->name;
		marks.domain = c->domain;
		marks.written = c->written; /* the last one's */
		memcpy(&marks.instance[at], c->instance, c->n * sizeof *c->instance);
		at += c->n;
	}
	return marks;
}

/* The part's instances of a range; `marks` with all instances. */
static void take_instances(struct looking *f, uint32_t i, const struct trace *rows, const struct marks_part *marks,
                           const struct marks_candidate *like, struct arena *scratch)
{
	struct run_parts *parts = f->run->parts;
	const struct step_marks proposed = marks_like(marks, like, scratch);
	steps_of_part(rows, &proposed, &f->scratch, parts->held, &f->steps[i]);
	f->steps[i].first_process = parts->list[i].first_process;
	f->steps[i].first_thread = parts->list[i].first_thread;
}

/* What ranges say, and the instances of the one that the part would choose itself. */
static void ask_ranges(struct looking *f, uint32_t i, const struct trace *rows, struct arena *scratch)
{
	struct asked *asked = &f->asked[i];
	struct marks_part marks;
	marks_of_part(rows, &f->run->fold, &f->of, scratch, &marks);
	const struct marks_candidate *taken = marks_choose(&marks, 1, rows->names, NULL, NULL);
	f->marks[i] = marks_forget(&marks, &f->scratch);
	asked->fit = ARENA_NEW(&f->scratch, marks.n, bool);
	for (size_t k = 0; k < marks.n; k++)
		asked->fit[k] = marks.list[k].fits;
	if (!taken)
		return;
	asked->taken = &f->marks[i].list[taken - marks.list];
	take_instances(f, i, rows, &marks, taken, scratch);
}

/* The rows of a part whose instances are made again. */
static const struct trace *open_again(struct looking *f, size_t i, struct marks_part *part, struct arena *arena)
{
	struct marks_part again;
	const struct trace *rows = parts_rows(f->run, (uint32_t)i, STEPS, arena);
	marks_of_part(rows, &f->run->fold, &f->of, arena, &again);
	for (size_t k = 0; k < part->n; k++)
		part->list[k].instance = again.list[k].instance;
	return rows;
}

static void marks_again_of(void *context, size_t i, struct marks_part *part, struct arena *arena)
{
	open_again(context, i, part, arena);
}

static const struct marks_candidate *choose(struct looking *f)
{
	return marks_choose(f->marks, f->run->parts->n, f->run->trace->names, marks_again_of, f);
}

/* What repeats in a part, and which kinds of ops it has. */
static void look_for_loops(struct looking *f, uint32_t i, const struct trace *rows)
{
	struct work_kinds *kinds = &f->run->parts->kinds[i];
	pattern_run_look(rows, &f->scratch, &f->asked[i].look);
	if (!kinds->n)
		*kinds = work_kinds_of(rows, f->run->arena);
	f->asked[i].looked = true;
}

static void ask_part(struct looking *f, uint32_t i, bool ranges, bool loops)
{
	struct run *run = f->run;
	ARENA_LOCAL(scratch);
	const struct trace *rows = parts_rows(run, i, STEPS, &scratch);
	extent_add(&run->extent, rows, run->parts->list[i].first_process);
	if (ranges)
		ask_ranges(f, i, rows, &scratch);
	if (!f->asked[i].taken && loops)
		look_for_loops(f, i, rows);
}

/* What a part says of the range that all of them chose, where it is not what it chose itself. */
static void ask_again(struct looking *f, uint32_t i, const struct marks_candidate *winner)
{
	const struct marks_part *marks = &f->marks[i];
	bool same = is_one_name(f->asked[i].taken, winner);
	for (size_t k = 0; k < marks->n; k++)
		if (is_one_name(&marks->list[k], winner))
			same = same && f->asked[i].fit[k] == marks->list[k].fits;
	if (same)
		return;
	ARENA_LOCAL(scratch);
	struct marks_part all = marks_forget(marks, &scratch);
	const struct trace *rows = open_again(f, i, &all, &scratch);
	take_instances(f, i, rows, &all, winner, &scratch);
}

static void join_ranges(struct looking *f, const struct marks_candidate *winner, struct steps *out)
{
	struct run *run = f->run;
	struct run_parts *parts = run->parts;
	const struct names *names = run->trace->names;
	const char *domain = winner->domain ? names_text(names, winner->domain) : "";
	struct step_marks like = {.origin = f->of.wanted ? STEPS_BY_NAME
	                                                 : marks_origin(names_text(names, winner->name), domain),
	                          .name = winner->name,
	                          .domain = winner->domain,
	                          .requests = run->asked.requests};
	for (uint32_t i = 0; i < parts->n; i++) {
		ask_again(f, i, winner);
		for (size_t k = 0; k < f->marks[i].n; k++)
			if (f->marks[i].list[k].fits && is_one_name(&f->marks[i].list[k], winner))
				like.written = f->marks[i].list[k].written; /* the last one's */
	}
	parallel_alone_begin();
	steps_join(run->trace, &like, f->steps, parts->n, run->arena, out);
	parallel_alone_end();
	if (parts->held)
		out->op_step = steps_of_ops(f->steps, run->trace->ops.n, run->arena);
}

/* The loops of all parts together, looked for in those that have not been asked yet. */
static void join_loops(struct looking *f, struct run_loops *out)
{
	const struct run *run = f->run;
	struct pattern_look *looks = ARENA_NEW(&f->scratch, run->parts->n, struct pattern_look);
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		if (!f->asked[i].looked)
			look_for_loops(f, i, parts_rows(run, i, STEPS, &scratch));
		looks[i] = f->asked[i].look;
	}
	pattern_run_join(run->trace, run->parts->list, looks, run->parts->n, run->arena, out);
}

static struct looking begin(struct run *run)
{
	struct looking f = {.run = run};
	f.asked = ARENA_NEW(&f.scratch, run->parts->n, struct asked);
	f.marks = ARENA_NEW(&f.scratch, run->parts->n, struct marks_part);
	f.steps = ARENA_NEW(&f.scratch, run->parts->n, struct steps_part);
	return f;
}

void run_find_loops(struct run *run, struct run_loops *out)
{
	struct looking f = begin(run);
	join_loops(&f, out);
	arena_release(&f.scratch);
}

/* Whether most of the GPU's work was launched after the last instance: then these are a warm-up's, and what follows is
 * the loop without their range (a whole step as a CUDA graph). Start-up comes before. */
static bool goes_on_without(const struct looking *f)
{
	double all = 0, after = 0;
	for (uint32_t i = 0; i < f->run->parts->n; i++) {
		all += f->steps[i].all_time;
		after += f->steps[i].after;
	}
	return after > MOST_AFTER * all;
}

bool run_take_range(struct run *run, const struct steps *like)
{
	struct looking f = begin(run);
	struct steps steps = {.found = false};
	f.of.like = like;
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		ask_ranges(&f, i, parts_rows(run, i, STEPS, &scratch), &scratch);
	}
	const struct marks_candidate *winner = choose(&f);
	if (winner)
		join_ranges(&f, winner, &steps);
	steps.found = steps.found && !goes_on_without(&f);
	if (steps.found) {
		run->steps = steps;
		run->loops = (struct run_loops){0};
	}
	arena_release(&f.scratch);
	return steps.found;
}

/* ---- --step ---- */

/* When what was launched in [start, end) ends, if that is later. */
static int64_t span_end(const struct run *run, int64_t start, int64_t end)
{
	int64_t last = end;
	for (uint32_t p = 0; p < run->parts->n; p++) {
		ARENA_LOCAL(scratch);
		const struct trace *t = parts_rows(run, p, STEPS, &scratch);
		for (size_t i = 0; i < t->ops.n; i++) {
			if (t->ops.launch[i] == TRACE_NONE)
				continue;
			int64_t launch = t->calls.start[t->ops.launch[i]];
			if (launch >= start && launch < end && t->ops.end[i] > last)
				last = t->ops.end[i];
		}
	}
	return last;
}

/* A range named by --step that is there once (in a process): the run's span is from its start to its end, on the host
 * and the GPU. */
static bool find_span(const struct looking *f)
{
	struct run *run = f->run;
	struct steps *s = &run->steps;
	int64_t start = INT64_MAX, end = INT64_MIN;
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		const struct instance *x = steps_of_one(&f->steps[i], &scratch);
		for (uint32_t k = 0; k < f->steps[i].n; k++) {
			if (k && x[k].process == x[k - 1].process)
				return false;
			start = x[k].start < start ? x[k].start : start;
			end = x[k].end > end ? x[k].end : end;
		}
	}
	*s = (struct steps){.span_named = true, .span_start = start};
	s->span_end = span_end(run, start, end);
	return true;
}

static const char *asked_with(const struct run *run)
{
	return run->asked.requests ? "--requests" : "--step";
}

static int no_such_step(const struct looking *f, struct err *err)
{
	const struct run *run = f->run;
	ARENA_LOCAL(all);
	struct marks_offers offers = {0};
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		marks_offer(parts_rows(run, i, STEPS, &scratch), &run->fold, &all, &offers);
	}
	marks_no_such(run->trace, &offers, asked_with(run), f->of.wanted, err);
	return -1;
}

static int launches_nothing(const struct run *run, uint32_t name, struct err *err)
{
	return err_set(err,
	               "%s: no two instances of '%.60s' launch GPU work, so their ends on the GPU cannot be told; name "
	               "the range that encloses the work of a whole step",
	               asked_with(run), names_text(run->trace->names, name));
}

/* What the parts' answers make. */
static int conclude(struct looking *f, bool loops, struct err *err)
{
	struct run *run = f->run;
	const struct marks_candidate *winner = choose(f);
	if (winner) {
		join_ranges(f, winner, &run->steps);
		if (!f->of.wanted || find_span(f) || run->steps.found)
			return 0;
		return launches_nothing(run, winner->name, err);
	}
	if (f->of.wanted)
		return no_such_step(f, err);
	if (loops) {
		join_loops(f, &run->loops);
		if (run->loops.n)
			pattern_steps(run, 0);
	}
	return 0;
}

int run_find_steps(struct run *run, const char *step, struct err *err)
{
	struct looking f = begin(run);
	bool none = step && strcmp(step, "none") == 0, ranges = !none && !run->asked.by_loop,
	     loops = !none && (run->asked.by_loop || !step);
	f.of.wanted = ranges ? step : NULL;
	run->steps = (struct steps){.n_ranks = 1};
	for (uint32_t i = 0; i < run->parts->n; i++)
		ask_part(&f, i, ranges, loops);
	int result = conclude(&f, loops, err);
	arena_release(&f.scratch);
	return result;
}

int run_choose(struct run *run, const struct trace *trace, const char *step, struct arena *arena, struct err *err)
{
	run_open(run, trace, arena);
	run_begin(run);
	if (run_find_steps(run, step, err) < 0)
		return -1;
	run_name_steps(run);
	return 0;
}
