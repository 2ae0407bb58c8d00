#include "run/choose_steps.h"

#include "base/buf.h"
#include "steps/pattern_loops.h"
#include "steps/step_rules.h"

#include <string.h>

static const double MOST = 0.5, REST = 0.1; /* of a run's GPU time */
static const double AS_LONG = 1.7; /* times as many operations at most: one of the other unit is twice as long */

uint32_t *pattern_op_steps(const struct run_loops *loops, uint32_t part, size_t n_ops, struct arena *arena)
{
	const struct run_pieces *pieces = &loops->pieces[part];
	uint32_t *step = ARENA_NEW(arena, n_ops, uint32_t);
	memset(step, 0xff, n_ops * sizeof *step);
	for (size_t i = 0; i < pieces->n; i++) {
		const struct run_piece *piece = &pieces->list[i];
		for (uint32_t op = piece->first; op < piece->first + piece->n; op++)
			step[op] = loops->cycles[pieces->first_cycle + piece->cycle].step;
	}
	return step;
}

static bool is_one(const struct run_cycle *a, const struct run_cycle *b)
{
	return a && a->ops.device == b->ops.device && a->cycle == b->cycle;
}

void pattern_steps(struct run *run, uint32_t index)
{
	const struct trace *t = run->trace;
	struct run_loops *loops = &run->loops;
	const struct run_loop *loop = &loops->list[index];
	struct step_marks marks = {.origin = STEPS_BY_PATTERN, .name = loop->name, .all_time = loops->all_time};
	marks.least_stretch = run->agreed.in_stretches ? RULE_SPARE : loop->most_of_all ? RULE_CYCLES_VARIED + 1 : 0;
	run->steps = (struct steps){.n_ranks = 1};
	run->agreed.loop = index;

	/* cycles that were put together follow each other */
	ARENA_LOCAL(scratch);
	uint32_t *cycles = ARENA_NEW(&scratch, t->n_devices, uint32_t), most = 0; /* by device */
	bool *communicates = ARENA_NEW(&scratch, t->n_devices, bool), ranks = true;
	const struct run_cycle *last = NULL;
	for (uint32_t i = 0; i < loops->n_cycles; i++) {
		struct run_cycle *c = &loops->cycles[i];
		uint32_t d = c->ops.device;
		c->step = TRACE_NONE;
		if (c->loop != index + 1)
			continue;
		communicates[d] = communicates[d] || c->ops.communicates;
		cycles[d] += !is_one(last, c);
		most = cycles[d] > most ? cycles[d] : most;
		last = c;
	}
	/* a device that ran the loop far fewer times is none of it, unless it is a rank that was not recorded all the
	 * time */
	for (uint32_t d = 0; d < t->n_devices; d++)
		ranks = ranks && (!cycles[d] || communicates[d]);
	marks.instance = ARENA_NEW(&scratch, loops->n_cycles, struct instance);
	struct step_ops *ops = ARENA_NEW(&scratch, loops->n_cycles, struct step_ops);
	last = NULL;
	for (uint32_t i = 0; i < loops->n_cycles; i++) {
		struct run_cycle *c = &loops->cycles[i];
		uint32_t d = c->ops.device, process = t->devices[d].process, thread = loop->launcher[process];
		if (c->loop != index + 1 || thread == TRACE_NONE ||
		    (!ranks && cycles[d] * (uint64_t)10 < most * (uint64_t)9))
			continue;
		if (!is_one(last, c)) {
			marks.instance[marks.n] = (struct instance){.process = process, .thread = thread};
			ops[marks.n++] = step_ops_none(d);
		}
		step_ops_add(&ops[marks.n - 1], &c->ops);
		marks.instance[marks.n - 1].opens |= c->opens && marks.least_stretch;
		c->step = marks.n - 1; /* an instance, so far */
		last = c;
	}
	marks.ops = ops;
	if (marks.n)
		steps_from_ops(t, &marks, run->arena, &run->steps);
	for (uint32_t i = 0; i < loops->n_cycles; i++)
		if (loops->cycles[i].step != TRACE_NONE)
			loops->cycles[i].step = marks.instance[loops->cycles[i].step].step;
}

/* ---- one loop for all runs ---- */

void run_loop_group(const struct trace *t, struct run_loops *loops, uint32_t index, uint32_t together)
{
	struct run_loop *loop = &loops->list[index];
	ARENA_LOCAL(scratch);
	uint32_t *n = ARENA_NEW(&scratch, t->n_processes, uint32_t), most = 0;
	for (uint32_t i = 0; i < loops->n_cycles; i++) {
		const struct run_cycle *c = &loops->cycles[i];
		uint32_t process = t->devices[c->ops.device].process;
		if (c->loop == index + 1 && c->cycle >= n[process])
			n[process] = c->cycle + 1;
	}
	for (uint32_t i = 0; i < loops->n_cycles; i++) {
		struct run_cycle *c = &loops->cycles[i];
		if (c->loop != index + 1)
			continue;
		uint32_t cycle = c->cycle / together, whole = n[t->devices[c->ops.device].process] / together;
		if (cycle < whole)
			c->cycle = cycle;
		else
			c->loop = 0;
		most = whole > most ? whole : most;
	}
	loop->n = most;
	loop->ops *= together;
	loop->fewest = together * (loop->fewest ? loop->fewest : 1);
	loop->most = together * (loop->most ? loop->most : 1);
	loop->differ = loop->differ < most * loop->processes ? loop->differ : most * loop->processes;
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		loop->makeup[i].n *= together;
}

/* Makes one step of as many cycles of loop `index` as one of `like` is. False: it is no whole number of them. */
static bool group_like(struct run *run, uint32_t index, const struct run_loop *like)
{
	uint32_t together = pattern_cycles_together(&run->loops.list[index], like, run->trace->names);
	if (!together)
		return false;
	run_loop_group(run->trace, &run->loops, index, together);
	pattern_steps(run, index);
	return true;
}

static int no_such_loop(const struct run_loops *loops, const char *wanted, struct err *err)
{
	BUF_LOCAL(have);
	for (uint32_t l = 0; l < loops->n && l < 8; l++)
		buf_format(&have, "%s'%.100s'", l ? ", " : "", loops->list[l].title);
	err_set(err, "--loop %s: nothing that repeats has this name; %s%s", wanted,
	        have.n ? "there is " : "nothing repeats in the GPU's work", have.n ? have.data : "");
	return -1;
}

/* The loop that `wanted` names: its whole name before a part of one, the larger one before the smaller. */
static uint32_t named(const struct run_loops *loops, const char *wanted)
{
	for (uint32_t l = 0; l < loops->n; l++)
		if (strcmp(loops->list[l].title, wanted) == 0)
			return l;
	for (uint32_t l = 0; l < loops->n; l++)
		if (strstr(loops->list[l].title, wanted))
			return l;
	return UINT32_MAX;
}

static void forget(const struct pattern_side *sides, int n_sides)
{
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			if (sides[s].runs[r].steps.origin == STEPS_BY_PATTERN) {
				sides[s].runs[r].agreed.forgot = sides[s].runs[r].steps.found;
				sides[s].runs[r].steps = (struct steps){.n_ranks = 1};
			}
}

/* Takes loops that are too little of the GPU time to be found for themselves, where a good part of one of
 * them is the same kernels as of a loop of another run that is not: start-up may well be more than a loop that was made
 * faster, by a kernel of other name. */
static bool take_small(struct run *run, const struct pattern_side *sides, int n_sides)
{
	struct run_loops *mine = &run->loops;
	if (mine->n || !mine->n_small)
		return mine->n > 0;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			const struct run *other = &sides[s].runs[r];
			if (!other->steps.found || other->steps.origin != STEPS_BY_PATTERN || other == run)
				continue;
			for (uint32_t l = 0; l < mine->n_small; l++) {
				const struct run_loop *like = &other->loops.list[other->agreed.loop];
				if (run_loop_alike(&mine->list[l], like) < RULE_QUARTER)
					continue;
				mine->n = mine->n_small;
				run_loops_name(mine, run->trace);
				pattern_steps(run, l);
				return true;
			}
		}
	return false;
}

/* Whether the steps of all runs are a pattern's, now or after looking for one where there are ranges. */
static bool all_repeat(const struct pattern_side *sides, int n_sides)
{
	uint32_t ranges = 0, patterns = 0, none = 0;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			const struct steps *steps = &sides[s].runs[r].steps;
			if (!steps->found)
				take_small(&sides[s].runs[r], sides, n_sides);
			none += !steps->found;
			ranges += steps->found && steps_by_ranges(steps->origin);
			patterns += steps->found && steps->origin == STEPS_BY_PATTERN;
		}
	if (!patterns || none)
		return false;
	for (int s = 0; s < n_sides && ranges; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			struct run *run = &sides[s].runs[r];
			if (run->steps.origin == STEPS_BY_PATTERN)
				continue;
			run_find_loops(run, &run->loops);
			if (!take_small(run, sides, n_sides))
				return false;
			run_loops_name(&run->loops, run->trace);
		}
	return true;
}

/* Whether the GPU's work of a step falls all the way to less than half: a solver's iterations, of which each has less
 * to do. (A GPU that gets its clocks, and a program that warms up, are steady at their ends.) */
static bool work_falls(const struct run *run)
{
	enum { PARTS = 8, LEAST = 8 * PARTS };
	const struct steps *s = &run->steps;
	double work[PARTS] = {0};
	const struct run_loop *loop = &run->loops.list[run->agreed.loop];
	/* where ranks communicate, the time of that is waiting, and falls with their imbalance */
	if (s->n < LEAST || run_loop_work(loop) < RULE_NEARLY_ALL * loop->time)
		return false;
	for (uint32_t i = 0; i < run->loops.n_cycles; i++) {
		const struct run_cycle *c = &run->loops.cycles[i];
		if (c->step != TRACE_NONE)
			work[(uint64_t)c->step * PARTS / s->n] += c->ops.time;
	}
	for (int p = 1; p < PARTS; p++)
		if (work[p] > work[p - 1])
			return false;
	return work[PARTS - 1] < 0.5 * work[0] && work[PARTS - 1] < 0.85 * work[PARTS / 2];
}

/* Iterations that have less and less to do count whole, from the first to the last: a run's own, and where all runs
 * have as many of the same kernels, those of all others as well. */
static void find_shrinking(const struct pattern_side *sides, int n_sides)
{
	const struct run *first = &sides[0].runs[0];
	const struct run_loop *like = &first->loops.list[first->agreed.loop];
	bool falls = false, same = true;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			const struct run *run = &sides[s].runs[r];
			const struct run_loop *loop = &run->loops.list[run->agreed.loop];
			sides[s].runs[r].agreed.falls = work_falls(run);
			falls = falls || run->agreed.falls;
			same = same && loop->n == like->n && run_loop_alike(loop, like) > 0.9;
		}
	for (int s = 0; s < n_sides && falls; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			struct run *run = &sides[s].runs[r];
			run->agreed.shrinks = same || run->agreed.falls;
			run->agreed.uneven = !same && run->agreed.falls;
		}
}

/* Where one run is measured in stretches of its loop, all are: what other loops make is in no side's steps, then. */
static void agree_on_stretches(const struct pattern_side *sides, int n_sides)
{
	bool any = false;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			any = any || sides[s].runs[r].steps.n_stretches;
	for (int s = 0; s < n_sides && any; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			struct run *run = &sides[s].runs[r];
			uint32_t name = run->steps.name;
			if (run->agreed.in_stretches)
				continue;
			run->agreed.in_stretches = true;
			pattern_steps(run, run->agreed.loop);
			run->steps.name = name;
		}
}

/* Marks the runs that repeat something else than the baseline's first one does. Their side's name is of what it repeats
 * itself, then; all others have that of `lead`. */
static void find_strangers(const struct pattern_side *sides, int n_sides, const struct run *lead)
{
	const struct run *first = &sides[0].runs[0];
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			struct run *run = &sides[s].runs[r];
			run->agreed.stranger =
				run != first && !pattern_repeats_alike(&first->loops, first->agreed.loop, &run->loops,
			                                               run->agreed.loop, first->trace->names);
		}
	const uint32_t name = lead->agreed.stranger ? first->loops.list[first->agreed.loop].name : lead->steps.name;
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			const struct run_loops *own = &sides[s].runs[0].loops;
			struct run *run = &sides[s].runs[r];
			run->steps.name = run->agreed.stranger ? own->list[sides[s].runs[0].agreed.loop].name : name;
		}
}

/* Marks the runs without steps of a side of which others have some: their steps are not taken, either. */
static void mark_alone(const struct pattern_side *side)
{
	bool any = false;
	for (size_t r = 0; r < side->n; r++)
		any = any || side->runs[r].steps.found;
	for (size_t r = 0; r < side->n; r++)
		side->runs[r].agreed.alone = any && !side->runs[r].steps.found;
}

/* Who asks for a loop by its name may have one that is too little of the GPU time to be found for itself. */
static void ask_small(const struct pattern_side *sides, int n_sides, const char *wanted)
{
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++) {
			struct run *run = &sides[s].runs[r];
			if (run->loops.n || !run->loops.n_small)
				continue;
			run->loops.n = run->loops.n_small;
			uint32_t index = named(&run->loops, wanted);
			run_loops_name(&run->loops, run->trace);
			pattern_steps(run, index == UINT32_MAX ? 0 : index);
		}
}

/* A loop that is a rest of its run's GPU time, while another is most of it: the pass over a prompt, beside tokens. */
static bool is_a_rest(const struct run_loops *loops, uint32_t mine)
{
	return mine != 0 && loops->list[mine].share < REST && loops->list[0].share >= MOST;
}

static bool is_about_as_long(const struct run_loop *a, const struct run_loop *b)
{
	return a->ops < AS_LONG * b->ops && b->ops < AS_LONG * a->ops;
}

enum agreement { AGREED, OTHERS_CHANGED, NOT_AGREED };

/* Of loops that were matched one is a rest: whether what both runs spend their time on is compared instead, if that is
 * about as long, or alike (a graph is one operation). NOT_AGREED: it is not. */
static enum agreement take_most(const struct run *first, const struct run *run, uint32_t mine, bool *instead)
{
	const struct run_loop *mine_most = &run->loops.list[0], *most = &first->loops.list[0];
	const bool rest = is_a_rest(&run->loops, mine), rest_of_first = is_a_rest(&first->loops, first->agreed.loop);
	const bool alike = is_about_as_long(mine_most, most) || pattern_alike(mine_most, most, run->trace->names);
	const bool with_most = (rest && first->loops.list[first->agreed.loop].share >= MOST) ||
	                       (rest_of_first && run->loops.list[mine].share >= MOST);
	*instead = with_most || (rest && rest_of_first && alike);
	return *instead && !alike ? NOT_AGREED : AGREED;
}

/* Makes the steps of both as large, if they are of the same work: `same`, or what is matched with nothing, for another
 * loop is more like it, may still be of these kernels. `mine`: the run's loop. */
static enum agreement take_unit(struct run *first, struct run *run, bool same, uint32_t *mine)
{
	const struct run_loop *like = &first->loops.list[first->agreed.loop], *own = &run->loops.list[*mine];
	const struct names *names = run->trace->names;
	if ((!same && !pattern_alike(like, own, names) && !pattern_is_outer(like, own)) ||
	    pattern_same_unit(like, own, names))
		return AGREED;
	if (!group_like(run, *mine, like))
		return group_like(first, first->agreed.loop, own) ? OTHERS_CHANGED : NOT_AGREED;
	if (run->steps.origin == STEPS_BY_PATTERN)
		*mine = run->agreed.loop;
	return AGREED;
}

/* Lets a run have the steps of the first one; OTHERS_CHANGED: it was the first one's that had to hold more. `of_first`:
 * it is of the first run's side; `side`: the first run of its own. */
static enum agreement agree_with(struct run *first, struct run *run, bool of_first, const struct run *side,
                                 const char *wanted)
{
	const struct run_loop *like = &first->loops.list[first->agreed.loop];
	uint32_t mine = pattern_match(&run->loops, &first->loops, first->agreed.loop);
	bool same = mine != UINT32_MAX, instead = false;
	if (same && !wanted && take_most(first, run, mine, &instead) == NOT_AGREED)
		return NOT_AGREED;
	if (instead && first->agreed.loop != 0) {
		pattern_steps(first, 0);
		return OTHERS_CHANGED;
	}
	same = same && !instead;
	mine = same ? mine : 0;
	const struct run_loop *own = &run->loops.list[mine];
	/* of many loops two that are little of either side, and not as long, may be anything */
	if (!wanted && like->share < RULE_HALF && own->share < RULE_HALF && !is_about_as_long(like, own))
		return NOT_AGREED;
	const enum agreement unit = take_unit(first, run, same, &mine);
	if (unit != AGREED)
		return unit;
	if (run->agreed.loop != mine || run->steps.origin != STEPS_BY_PATTERN)
		pattern_steps(run, mine);
	/* one name: of two kernels that weigh about the same either may come first */
	if (same || of_first)
		run->steps.name = first->steps.name;
	else if (run != side)
		run->steps.name = side->steps.name;
	return AGREED;
}

/* Of the first runs' loops that are most alike. */
static bool leads(const struct run_loop *a, const struct run_loop *b)
{
	return a->ops < b->ops || (a->ops == b->ops && a->share > b->share);
}

/* What is left of the sides where some run repeats nothing: runs of a side have steps all of them, or none, and the
 * same. */
static int agree_apart(const struct pattern_side *sides, int n_sides, struct err *err)
{
	bool ranges = false;
	for (int s = 0; s < n_sides; s++)
		mark_alone(&sides[s]);
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			ranges = ranges || steps_by_ranges(sides[s].runs[r].steps.origin);
	for (int s = 0; s < n_sides; s++)
		for (size_t r = 0; r < sides[s].n; r++)
			if (ranges || !sides[s].runs[r].steps.found)
				forget(&sides[s], 1);
	for (int s = 0; s < n_sides && n_sides > 1; s++)
		if (sides[s].runs[0].steps.found && sides[s].runs[0].steps.origin == STEPS_BY_PATTERN &&
		    pattern_agree(&sides[s], 1, NULL, err) < 0)
			return -1;
	return 0;
}

/* The side whose first run the others agree with, and which of its loops. Without a wish the shorter cycle leads:
 * either side may be the baseline. */
static int find_lead(const struct pattern_side *sides, int n_sides, const char *wanted, uint32_t *index)
{
	const struct run_loops *first = &sides[0].runs[0].loops;
	uint32_t most[2] = {0};
	*index = wanted ? named(first, wanted) : 0; /* the run may not have it */
	*index = *index == UINT32_MAX ? 0 : *index;
	if (wanted || n_sides < 2)
		return 0;
	const struct run_loops *other = &sides[1].runs[0].loops;
	pattern_match_most(first, other, most);
	const int lead = leads(&other->list[most[1]], &first->list[most[0]]);
	*index = most[lead];
	return lead;
}

/* Each time that others change, the first run's steps hold twice as much, or more. */
static enum agreement agree_all(const struct pattern_side *sides, int n_sides, int lead, const char *wanted)
{
	struct run *first = &sides[lead].runs[0];
	enum agreement with;
	do {
		with = AGREED;
		for (int s = 0; s < n_sides && with == AGREED; s++)
			for (size_t r = 0; r < sides[s].n && with == AGREED; r++)
				if (&sides[s].runs[r] != first)
					with = agree_with(first, &sides[s].runs[r], s == lead, &sides[s].runs[0],
					                  wanted);
	} while (with == OTHERS_CHANGED);
	return with;
}

int pattern_agree(const struct pattern_side *sides, int n_sides, const char *wanted, struct err *err)
{
	if (wanted) {
		ask_small(sides, n_sides, wanted);
		const struct run *with = &sides[0].runs[0]; /* a run that repeats nothing says nothing of it */
		for (size_t r = 1; r < sides[0].n && !with->loops.n; r++)
			with = &sides[0].runs[r];
		if (named(&with->loops, wanted) == UINT32_MAX)
			return no_such_loop(&with->loops, wanted, err);
	}
	if (!all_repeat(sides, n_sides))
		return agree_apart(sides, n_sides, err);
	uint32_t index;
	const int lead = find_lead(sides, n_sides, wanted, &index);
	struct run *first = &sides[lead].runs[0];
	if (first->agreed.loop != index || first->steps.origin != STEPS_BY_PATTERN)
		pattern_steps(first, index);
	if (agree_all(sides, n_sides, lead, wanted) == NOT_AGREED) { /* steps that are not the same are not compared */
		forget(sides, n_sides);
		return 0;
	}
	agree_on_stretches(sides, n_sides);
	find_shrinking(sides, n_sides);
	if (!wanted)
		find_strangers(sides, n_sides, first);
	return 0;
}
