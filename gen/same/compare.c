#include "same/doubts.h"
#include "same/same_work.h"

#include "base/format.h"
#include "result/say.h"
#include "same/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double A_THIRD = 1 / 3.;   /* … and so much where the job is, … */
static const double A_HALF = 0.5;       /* … or so much of the others' in the places of the other side's, and input */
static const double SHOWN_ALIKE = 5e-4; /* of bytes: what is nearer has the same digits in a sentence */
enum { PHASES_SAID = 300 };             /* of a kind: all notes together are a list of at most 1000 */

void guard_find(struct guard *c, bool material, const struct fact *fact)
{
	facts_add(material ? &c->out.differences : &c->out.notes, c->arena, fact);
}

/* How far apart two amounts are, as a share of the larger. */
double guard_distance(double a, double b)
{
	double larger = fmax(a, b);
	return larger > 0 ? fabs(a - b) / larger : 0;
}

const char *guard_per(const struct guard *c)
{
	return c->as_much != 1 ? "items" : c->share[0] != c->share[1] ? "gpu" : c->a->steps.found ? "step" : "run";
}

/* What a step has whatever it works on, as often on both sides. */
static bool is_by_step(const struct guard *c, double a, double b)
{
	return c->as_much != 1 && guard_distance(a, b / c->as_much) <= GUARD_MATERIAL;
}

void guard_doubt(struct guard *c, const struct fact *why)
{
	c->doubtful = true;
	guard_find(c, true, why);
}

bool guard_counts_differ(const struct guard *c, double a, double b)
{
	struct work_scale scale = {
		.steps = c->a->steps.found, .slack = c->slack, .chance = c->chance, .variation = c->variation};
	return work_differs(&scale, a, b);
}

/* A count, compared: a note below the threshold, nothing when equal. */
static void add_count(struct guard *c, const char *of, double a, double b, bool may_be_material)
{
	if (fabs(a - b) < 1e-9 * fmax(fabs(a), fabs(b)) || a == b || is_by_step(c, a, b))
		return;
	bool material = may_be_material && guard_distance(a, b) > GUARD_MATERIAL && guard_counts_differ(c, a, b);
	GUARD_FIND(c, material, counts_differ, FACT_NO_SIDE, .of = of, .baseline = a, .fixed = b, .unit = guard_per(c));
}

/* `all`: what the difference is held against. Returns whether it is material. */
static bool add_bytes(struct guard *c, const char *where, enum copy_kind kind, double a, double b, double all)
{
	double slack = guard_bytes_slack(c, kind);
	if ((kind == COPY_D2D && guard_copies_in_graph(c, a > b)) || fabs(a - b) <= 1e-9 * all ||
	    guard_distance(a, b) <= SHOWN_ALIKE || is_by_step(c, a, b))
		return false;
	const struct fact *less =
		FACT_NEW(c->arena, copies_less, a > b, .where = where, .bytes = fmin(a, b), .instead = fmax(a, b),
	                 .unit = guard_per(c), .batch = kind == COPY_H2D && c->out.other_batch);
	bool matters = fabs(a - b) / all > GUARD_MATERIAL && fabs(a - b) > GUARD_FEW_BYTES,
	     chance = fabs(a - b) <= slack, much = guard_distance(a, b) > A_THIRD;
	if (matters && chance && much)
		guard_doubt(c,
		            less); /* a checkpoint in every 20th step instead of every 10th is not the same, either */
	else
		guard_find(c, matters && !chance, less);
	if (matters && (!chance || much) && (kind == COPY_H2D || kind == COPY_D2H))
		c->copies[b > a] = true;
	return matters && !chance;
}

/* ---- phases ---- */

/* Says how many of `n` facts of a kind were left out. */
static void add_rest(struct guard *c, uint32_t n, int side)
{
	if (n > PHASES_SAID)
		GUARD_FIND(c, false, more_phases, side, .phases = n - PHASES_SAID);
}

/* Ranges that only one side has: more annotation, or another job; the kernels tell. */
static void compare_phases(struct guard *c)
{
	const struct renames *renames = &c->out.renames;
	bool differ = false;
	if (c->a->phases_by_work || c->b->phases_by_work)
		return;
	for (uint32_t i = 0; i < renames->n && i < PHASES_SAID; i++)
		GUARD_FIND(c, false, phase_renamed, FACT_NO_SIDE, .from = renames->list[i].from,
		           .to = renames->list[i].to);
	add_rest(c, renames->n, FACT_NO_SIDE);
	for (int s = 0; s < 2; s++) {
		uint32_t n, *only = renames_only(c->side, renames, s, c->slack, c->arena, &n);
		differ |= n > 0;
		for (uint32_t i = 0; i < n && i < PHASES_SAID; i++)
			GUARD_FIND(c, false, phase_on_one_side, s, .phase = only[i]);
		add_rest(c, n, s);
	}
	if (differ && c->kernels_differ)
		GUARD_DOUBT(c, phases_differ, FACT_NO_SIDE, .same_kernels = c->only_times_differ);
}

/* ---- where and how they were captured ---- */

/* "" of what is not known. */
static void compare_text(struct guard *c, bool material, const char *what, const char *a, const char *b)
{
	const char *known = !*a ? "fixed" : !*b ? "baseline" : "both";
	if (strcmp(a, b) != 0)
		GUARD_FIND(c, material && *a && *b, setups_differ, FACT_NO_SIDE, .what = what, .known = known,
		           .baseline = a, .fixed = b);
}

static bool tells_clocks(const struct run_table *run)
{
	for (uint32_t i = 0; i < run->n_gpus; i++)
		if (!run->gpus[i].clock_hz)
			return false;
	return true;
}

/* GPUs of a run, in order of its devices: "NVIDIA H200 at up to 1980 MHz, …", each model once. Without clocks where
 * `other`, which it is compared with, does not tell its own. */
static const char *gpus_text(struct guard *c, const struct run_table *run, const struct run_table *other)
{
	struct say_gpus gpus = {.text = ""};
	const bool clocks = tells_clocks(run) && tells_clocks(other);
	for (uint32_t i = 0; i < run->n_gpus; i++) {
		struct trace_gpu *gpu = ARENA_NEW(c->arena, 1, struct trace_gpu);
		*gpu = run->gpus[i];
		gpu->clock_hz = clocks ? gpu->clock_hz : 0;
		say_gpu(&gpus, c->arena, c->names, gpu);
	}
	return gpus.text;
}

static bool has_other_gpus(struct guard *c, const struct run_table *a, const struct run_table *b)
{
	return strcmp(gpus_text(c, a, b), gpus_text(c, b, a)) != 0;
}

/* Runs of one side have to come from one machine, recorded in one way. */
static void compare_runs(struct guard *c, const struct side *side, const struct side_facts *facts)
{
	for (size_t r = 1; r < facts->n_runs; r++) {
		const struct trace_source *a = &facts->runs[0].source, *b = &facts->runs[r].source;
		const char *what = has_other_gpus(c, &facts->runs[0], &facts->runs[r])           ? "gpus"
		                   : strcmp(a->driver, b->driver) != 0                           ? "driver"
		                   : conditions_options(a, b, side->n_operators > 0, c->arena).n ? "options"
		                                                                                 : NULL;
		if (what)
			GUARD_FIND(c, true, runs_set_up_apart, side == c->b, .what = what, .run = side->runs[r].file,
			           .first = side->runs[0].file);
	}
}

static void compare_environment(struct guard *c, const struct side_facts facts[2])
{
	const struct trace_source *a = &c->a->source, *b = &c->b->source;
	const struct run_table *first = &facts[0].runs[0], *fixed = &facts[1].runs[0];
	compare_text(c, true, "gpu", gpus_text(c, first, fixed), gpus_text(c, fixed, first));
	compare_text(c, true, "driver", a->driver, b->driver);
	compare_text(c, false, "profiler", a->exporter, b->exporter);
	const bool operators = c->a->n_operators > 0 && c->b->n_operators > 0;
	const struct facts options = conditions_options(a, b, operators, c->arena);
	for (uint32_t i = 0; i < options.n; i++)
		guard_find(c, true, options.list[i]);
	guard_find(c, true, conditions_metrics(c->side, c->arena));
	bool material = false;
	const struct fact *clocks = conditions_difference(c->side, c->arena, &material);
	guard_find(c, material, clocks);
	for (int s = 0; s < 2; s++) {
		compare_runs(c, &c->side[s], &facts[s]);
		for (size_t r = 0; r < facts[s].n_runs; r++)
			c->out.other_gpus = c->out.other_gpus || has_other_gpus(c, first, &facts[s].runs[r]);
	}
}

/* Iterations that have less and less to do, of which the other side has more, or others; NULL: that is not so. */
static const struct fact *find_falling(const struct guard *c, const struct side_facts *facts)
{
	bool falls = false;
	for (size_t r = 0; r < facts->n_runs; r++)
		falls = falls || facts->runs[r].uneven;
	if (!falls)
		return NULL;
	uint32_t a = guard_iterations(c->a), b = guard_iterations(c->b);
	return FACT_NEW(c->arena, shrinking_steps_differ, FACT_NO_SIDE, .as_many = a == b, .baseline = a, .fixed = b);
}

/* One run of several repeats nothing, and takes the side's steps with it; NULL: that is not so. */
static const struct fact *find_alone(const struct guard *c, const struct side *side, const struct side_facts *facts)
{
	uint32_t n = 0;
	const char *file = NULL;
	for (size_t r = 0; r < facts->n_runs; r++)
		if (facts->runs[r].alone) {
			n++;
			file = file ? file : side->runs[r].file;
		}
	if (!n)
		return NULL;
	return FACT_NEW(c->arena, runs_without_steps, side == c->b, .runs = n, .of = (int64_t)facts->n_runs,
	                .cycles = PATTERN_CYCLES, .file = file);
}

static const struct fact *cannot_be_judged(const struct guard *c, const struct side_facts facts[2],
                                           const struct fact *strangers, bool as_often)
{
	if (c->a->steps.found != c->b->steps.found) {
		int without = c->a->steps.found;
		const struct fact *alone = find_alone(c, &c->side[without], &facts[without]);
		return alone ? alone : FACT_NEW(c->arena, steps_on_one_side, !without);
	}
	for (int s = 0; s < 2; s++) {
		const struct fact *falling = find_falling(c, &facts[s]);
		if (falling)
			return falling;
	}
	if (strangers)
		return strangers;
	const bool loops = c->a->steps.origin == STEPS_BY_PATTERN && c->b->steps.origin == STEPS_BY_PATTERN;
	if (loops && c->a->steps.name != c->b->steps.name && !as_often)
		return FACT_NEW(c->arena, loops_differ, FACT_NO_SIDE, .baseline = c->a->steps.name,
		                .fixed = c->b->steps.name);
	return amounts_sharing(c->side, facts, c->arena);
}

/* The way may be another one as long as what goes in, what comes out and who works on it are the same. What both
 * programs printed says more than any profile, but for one that cannot be true, and for steps that are no unit. */
static enum same_work same_work_of(const struct guard *c, uint32_t material, bool rest)
{
	bool way = material || c->others_run || c->alike < GUARD_NEARLY_ALL; /* another one */
	enum same_work as_told = way ? SAME_WORK_JOB : SAME_WORK_SAME;
	enum same_work recorded = c->different ? SAME_WORK_DIFFERENT : c->doubtful ? SAME_WORK_UNKNOWN : as_told;
	switch (c->out.result.state) {
	case RESULT_DIFFERS:
		return SAME_WORK_DIFFERENT;
	case RESULT_UNKNOWN:
		return recorded == SAME_WORK_DIFFERENT ? recorded : SAME_WORK_UNKNOWN;
	case RESULT_AGREES:
		return rest || c->out.mismatch || recorded == SAME_WORK_SAME ? recorded : SAME_WORK_JOB;
	case RESULT_NOT_ASKED:
		break;
	}
	return recorded;
}

static void compare_sizes(struct guard *c, const struct side_facts facts[2])
{
	const struct job_sizes sizes = amounts_sizes(c->side, facts, c->arena);
	c->share[0] = sizes.share[0];
	c->share[1] = sizes.share[1] * c->as_much;
	const bool guessed = amounts_sharing(c->side, facts, c->arena) != NULL; /* nothing shows that they are ranks */
	c->different |= sizes.differ && !guessed;
	c->doubtful |= sizes.missing || guessed;
	guard_find(c, true, sizes.fact);
}

/* Two programs that have nothing in common but the name of their steps are nothing to compare, whatever they take: not
 * a kernel, no input, no operators that calculate as much, and what they run runs neither as often nor in one phase.
 * Nor are such steps as nobody marked, of which one side has many more. */
static void doubt_programs(struct guard *c, const char *input, bool alike)
{
	const struct fact *why = FACT_NEW(c->arena, few_kernels_shared, FACT_NO_SIDE, .input = input);
	const bool hidden = guard_graphs_whole(c);
	guard_doubt(c, why);
	if (alike || !c->a->steps.found || guard_is_other_unit(c, guard_other_number(c)))
		return;
	if (!hidden && c->alike < GUARD_MATERIAL && c->placed < A_HALF && c->out.result.state != RESULT_AGREES)
		c->out.mismatch = why;
}

/* Input that stays on the device, or that kernels fetch from the host themselves, is a way to do the same job; less
 * input for kernels that do less is another. The same job needs something that speaks for it: kernels that are alike,
 * or others in the same places and as much input (bytes) or as much to calculate. */
static void compare_inputs(struct guard *c, bool differ, const double input[2], bool calculates)
{
	const int less = input[1] < input[0];
	const bool there = fmin(input[0], input[1]) >= GUARD_FEW_BYTES;
	/* by less than would be other work, and too much to be evidence of the same */
	const bool apart = there && guard_distance(input[0], input[1]) > GUARD_MATERIAL;
	if (c->alike >= GUARD_NEARLY_ALL || c->out.mismatch)
		return;
	if (differ && (c->falls || (c->only_times_differ && c->shorter == less)))
		c->different = true;
	else if (c->alike >= A_THIRD)
		return;
	else if ((differ || apart) && !calculates)
		doubt_programs(c, "differs", false);
	else if (!(there || calculates) || c->placed < A_HALF)
		doubt_programs(c, there ? "alike" : "none", there || calculates);
}

/* What has no name may be anything. */
static void compare_unnamed(struct guard *c, const struct quality *q)
{
	for (uint32_t i = 0; i < q->n_dropped && !c->doubtful; i++)
		if (strcmp(q->dropped[i].reason, TRACE_NO_NAME) == 0)
			GUARD_DOUBT(c, rows_unnamed, FACT_NO_SIDE);
}

/* Whether so many fewer on one side, which take so long, went with nothing in their place, and that is much of a step:
 * no profile tells whether they were needed. */
static bool went_without(const struct guard *c, double a, double b, double time_a, double time_b)
{
	const int less = a > b;
	const struct side *had = &c->side[1 - less];
	double gone = less ? time_a * (1 - b / a) : b > 0 ? time_b * (1 - a / b) : 0;
	return !c->grows[less] && !is_by_step(c, a, b) && guard_counts_differ(c, a, b) &&
	       gone > GUARD_MATERIAL * had->budget.period * had->n_devices * c->share[1 - less];
}

/* Their number is a matter of how gradients are cut into buckets; that there are any is not, nor are fewer of which
 * none takes longer, as one of larger buckets does. */
static void compare_collectives(struct guard *c, const struct amounts *x, const struct amounts *y)
{
	const struct work_row all = {.instances = {x->collectives, y->collectives},
	                             .time = {x->collective_time, y->collective_time}};
	const double a = x->collectives, b = y->collectives;
	add_count(c, "collectives", a, b, true);
	c->different |= (a > c->slack && b == 0) || (b > c->slack && a == 0);
	c->doubtful |= went_without(c, a, b, all.time[0], all.time[1]) && !work_is_gathered(&all, a > b, 0);
}

static void compare_fills(struct guard *c, const struct amounts *x, const struct amounts *y)
{
	c->doubtful |= went_without(c, x->moves, y->moves, x->move_time, y->move_time);
	if (!went_without(c, x->sets, y->sets, x->set_time, y->set_time))
		add_count(c, "memsets", x->sets, y->sets, false);
	else
		GUARD_DOUBT(c, counts_differ, FACT_NO_SIDE, .of = "memsets", .baseline = x->sets, .fixed = y->sets,
		            .unit = guard_per(c));
}

static void compare_jobs(struct guard *c, const struct side_facts facts[2])
{
	const struct side *a = c->a, *b = c->b;
	double runs = fmin((double)a->steps.measured / a->n_runs, (double)b->steps.measured / b->n_runs);
	c->steps = runs;
	c->variation = variation_of(facts, c->steps);
	c->chance = work_chance(c->variation.seen);
	c->slack = runs > 0 ? 1.5 / runs : 0.5; /* every run has its own edges */
	renames_find(c->side, c->arena, &c->out.renames);
	compare_sizes(c, facts);
	const struct amounts x = amounts_of(a, c->share[0]), y = amounts_of(b, c->share[1]);
	double all = fmax(x.h2d + x.d2h + x.d2d, y.h2d + y.d2h + y.d2d), input = fmax(x.h2d, y.h2d);
	c->out.other_batch = guard_other_batch(c, facts, x.h2d, y.h2d);
	bool inputs_differ = add_bytes(c, "h2d", COPY_H2D, x.h2d, y.h2d, input);
	add_bytes(c, "d2h", COPY_D2H, x.d2h, y.d2h, all);
	guard_copies_more(c);
	guard_kernels(c, facts);
	c->doubtful |= fabs(x.d2h - y.d2h) > GUARD_FEW_BYTES &&
	               went_without(c, x.d2h, y.d2h, x.d2h_time, y.d2h_time); /* add_bytes has said it */
	guard_answers(c);
	guard_ranges_of_steps(c);
	const struct fact *calculates = amounts_calculated(&x, &y, guard_per(c), c->arena);
	guard_find(c, false, calculates);
	compare_inputs(c, inputs_differ, (const double[2]){x.h2d, y.h2d}, calculates != NULL);
	if (!amounts_hidden(a, b)) {
		/* of which kernels one side runs more, guard_kernels has said */
		const double fewest = fmin(x.launches, y.launches),
			     others = fabs(x.launches - x.kernels - y.launches + y.kernels);
		add_count(c, "launches", x.launches, y.launches, guard_counts_differ(c, fewest + others, fewest));
		add_count(c, "graphs", x.graphs, y.graphs, true);
	}
	compare_collectives(c, &x, &y);
	add_bytes(c, "p2p", COPY_P2P, x.between, y.between, all);
	add_bytes(c, "d2d", COPY_D2D, x.d2d - x.between, y.d2d - y.between, all);
	compare_fills(c, &x, &y);
	compare_phases(c);
	compare_unnamed(c, &a->quality);
	compare_unnamed(c, &b->quality);
	add_count(c, conditions_ranges(&a->source, &b->source), x.ranges, y.ranges, false);
}

/* What is missing may be in the profile and not in the program. */
static void leave_work_open(struct guard *c, bool rest)
{
	renames_find(c->side, c->arena, &c->out.renames);
	c->doubtful = true;
	if (rest)
		GUARD_DOUBT(c, work_not_compared, FACT_NO_SIDE);
}

/* Steps of other names on the two sides are the same where they hold the same kernels as often, whatever those do, and
 * else nobody knows. */
static void compare_names(struct guard *c, bool rest)
{
	struct comparison *out = &c->out;
	const uint32_t baseline = c->a->steps.name, fixed = c->b->steps.name;
	if (out->mismatch || !c->a->steps.found || baseline == fixed)
		return;
	const bool hidden = rest || amounts_hidden(c->a, c->b) || guard_graphs_whole(c);
	if (!c->others_run && out->same_work != SAME_WORK_DIFFERENT &&
	    !(hidden && out->same_work == SAME_WORK_UNKNOWN)) {
		GUARD_FIND(c, false, steps_renamed, FACT_NO_SIDE, .baseline = baseline, .fixed = fixed);
		return;
	}
	out->mismatch = FACT_NEW(c->arena, step_ranges_differ, FACT_NO_SIDE, .baseline = baseline, .fixed = fixed);
	guard_find(c, true, out->mismatch);
}

/* What is said of steps that are marked in other ways on the two sides. */
static void compare_marks(struct guard *c, const struct side_facts facts[2], bool as_often, bool rest)
{
	if (!as_often)
		compare_names(c, rest);
	else if (c->a->steps.name != c->b->steps.name)
		guard_find(c, true,
		           FACT_NEW(c->arena, loops_as_often, FACT_NO_SIDE, .times = facts[0].runs[0].loop_times,
		                    .bytes = c->a->counts.bytes_h2d + c->a->counts.bytes_d2h,
		                    .shared = fmax(c->a->counts.bytes_h2d, c->a->counts.bytes_d2h) < GUARD_FEW_BYTES));
}

struct comparison compare_work(const struct side side[2], const struct side_facts facts[2], bool rest, bool ranks,
                               const struct printed *printed, const struct names *names, struct arena *arena)
{
	struct guard c = {.arena = arena,
	                  .names = names,
	                  .side = side,
	                  .a = &side[0],
	                  .b = &side[1],
	                  .share = {1, 1},
	                  .as_much = 1};
	if (side[0].items > 0 && side[1].items > 0)
		c.as_much = side[0].items / side[1].items;
	struct comparison *out = &c.out;
	out->result = same_result_judge(printed, arena);
	if (out->result.state == RESULT_DIFFERS || out->result.state == RESULT_UNKNOWN)
		guard_find(&c, true, out->result.fact);
	const uint32_t printed_differ = out->differences.n;
	const bool as_often = guard_goes_as_often(&c, facts);
	const struct fact *strangers = nothing_alike(facts, as_often, arena);
	const struct fact *otherwise = conditions_recorded(facts, arena);
	out->mismatch = otherwise ? otherwise : cannot_be_judged(&c, facts, strangers, as_often);
	out->strangers = strangers != NULL;
	guard_find(&c, true, out->mismatch);
	const uint32_t of_work = otherwise ? printed_differ : out->differences.n;
	compare_environment(&c, facts);
	out->other_conditions = out->differences.n > of_work;
	uint32_t before = out->differences.n;
	if (c.a->steps.found != c.b->steps.found || out->strangers)
		c.doubtful = true;
	else if (rest || ranks)
		leave_work_open(&c, rest);
	else
		compare_jobs(&c, facts);
	if (c.only_times_differ)
		out->kernels = KERNELS_TIMES;
	else if (c.alike >= GUARD_NEARLY_ALL && !c.others_run && !c.kernels_differ)
		out->kernels = KERNELS_SAME;
	out->same_work = same_work_of(&c, out->differences.n - before, rest);
	compare_marks(&c, facts, as_often, rest || ranks);
	guard_loops(&c);
	out->comparable = !out->mismatch && !out->other_conditions && out->same_work != SAME_WORK_DIFFERENT &&
	                  out->same_work != SAME_WORK_UNKNOWN;
	return *out;
}
