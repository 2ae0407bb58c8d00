#include "verdict/stopwatch.h"

#include "trace/trace.h"
#include "verdict/evidence.h"
#include "verdict/proof.h"
#include "verdict/stats.h"

#include <math.h>

static const double WORTH_SAYING = 0.005; /* of the speedup */

#define SAY(id, ...) FACT_ADD(&v->reasons, arena, id, __VA_ARGS__)

/* A window that cuts a cycle of slow and fast steps holds too many of one kind, the same in every run, so how much runs
 * differ does not show it. How much that is was recorded. Runs that time other steps than those may cut the cycle the
 * other way, too. */
static void add_cycles(const struct stopwatch_side side[2], const struct verdict *recorded, struct proof *p)
{
	const double *cycle = recorded->cycle;
	bool same = true, without = proof_decide(p->lo, p->hi, p->floor) != VERDICT_INCONCLUSIVE;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++)
			same = same && side[s].runs[r].steps == (int64_t)recorded->n_steps[s];
	double most = fabs(cycle[0]) + fabs(cycle[1]);
	double lower = same ? fmin(0, cycle[0] - cycle[1]) : -most, upper = same ? fmax(0, cycle[0] - cycle[1]) : most;
	p->lo += lower;
	p->hi += upper;
	p->rhythm = fmax(-lower, upper);
	p->rhythm_opens = without && proof_decide(p->lo, p->hi, p->floor) == VERDICT_INCONCLUSIVE;
}

/* Runs that time more steps than others meet what those never reached. How much that is was recorded. */
static void add_lengths(const struct stopwatch_side side[2], const struct verdict *recorded, struct proof *p)
{
	bool same = true, without = proof_decide(p->lo, p->hi, p->floor) != VERDICT_INCONCLUSIVE;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++)
			same = same && side[s].runs[r].steps == side[0].runs[0].steps;
	if (same)
		return;
	p->change_common = p->change + recorded->lengths;
	p->lo += fmin(0, recorded->lengths);
	p->hi += fmax(0, recorded->lengths);
	p->lengths_open = without && proof_decide(p->lo, p->hi, p->floor) == VERDICT_INCONCLUSIVE;
}

static bool looked_at(const struct stopwatch_side side[2])
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++)
			if (side[s].runs[r].looked)
				return true;
	return false;
}

/* The interval of ln S: Welch's, or what looks leave of it, and what runs that are not exchangeable may differ by. */
static void find_interval(const struct stopwatch_side side[2], const struct verdict *recorded, struct arena *arena,
                          struct proof *p)
{
	const double *relative[2];
	struct exchange_run *run[2];
	struct looks looks;
	proof_relative(p, arena, relative);
	for (int s = 0; s < 2; s++) {
		size_t n = side[s].n_runs;
		run[s] = ARENA_NEW(arena, n, struct exchange_run);
		for (size_t r = 0; r < n; r++)
			run[s][r] = (struct exchange_run){.start = side[s].runs[r].start,
			                                  .place = side[s].runs[r].place,
			                                  .mean = side[s].other_gpus ? 0 : side[s].runs[r].step};
	}
	p->between = p->plain = between_runs(relative, p->runs);
	p->looked = looked_at(side) && looks_judge(relative, p->runs, &looks);
	if (p->looked)
		p->between = looks.shown;
	p->exchange = exchange_judge((const struct exchange_run *const *)run, p->runs);
	struct controls none = recorded ? recorded->controls : (struct controls){0};
	none.known = false; /* runs that are not recorded show no state */
	exchange_add_state(&p->exchange, p->runs, &none);
	p->lo = p->change - hypot(exchange_widen(&p->exchange, p->between, 0), p->exchange.unseen);
	p->hi = p->change + hypot(exchange_widen(&p->exchange, p->between, 1), p->exchange.unseen);
	if (p->looked)
		p->sure = exchange_widen(&p->exchange, looks.sure, 0) - exchange_widen(&p->exchange, looks.shown, 0);
	p->floor = (exchange_floored(&p->exchange) ? LN_FLOOR_SEVERAL : 0) + p->sure;
}

/* A run that is further from the mean of its side's others than ten times their spread, and than what is unchanged, is
 * named, and stays. */
static void say_outliers(const struct stopwatch_side side[2], struct arena *arena, struct verdict *v)
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs && side[s].n_runs >= 3; r++) {
			double *others = ARENA_NEW(arena, side[s].n_runs, double);
			size_t n = 0;
			for (size_t q = 0; q < side[s].n_runs; q++)
				if (q != r)
					others[n++] = side[s].runs[q].step;
			double mean = stats_mean(others, n), off = side[s].runs[r].step - mean;
			if (fabs(off) <= 10 * sqrt(stats_variance(others, n)) || fabs(off) < 0.02 * mean)
				continue;
			SAY(unlike_run, s, .run = (int64_t)r + 1, .step = side[s].runs[r].step, .others = mean);
		}
}

static void say_runs(const struct stopwatch_side side[2], const struct proof *p, struct arena *arena, struct verdict *v)
{
	enum { FEW_STEPS = 20 };
	if (!p->exchange.known)
		SAY(order_unknown, FACT_NO_SIDE, .how = "timed");
	if ((p->runs[0] == LEAST_RUNS || p->runs[1] == LEAST_RUNS) &&
	    (v->result == VERDICT_FASTER || v->result == VERDICT_SLOWER))
		SAY(three_runs, FACT_NO_SIDE);
	facts_add(&v->reasons, arena, reasons_apart(v, arena));
	facts_add(&v->reasons, arena, reasons_unseen(p, "timed", arena));
	if (p->rhythm >= WORTH_SAYING)
		SAY(cycles_cut, FACT_NO_SIDE, .away = expm1(p->rhythm));
	if (fabs(p->change_common - p->change) >= WORTH_SAYING)
		SAY(timed_lengths_differ, FACT_NO_SIDE, .common = exp(p->change_common));
	int64_t least = INT64_MAX;
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < side[s].n_runs; r++)
			if (side[s].runs[r].steps > 0 && side[s].runs[r].steps < least)
				least = side[s].runs[r].steps;
	if (least < FEW_STEPS)
		SAY(few_timed_steps, FACT_NO_SIDE, .steps = least);
	say_outliers(side, arena, v);
}

static void say_result(const struct proof *p, struct arena *arena, struct verdict *v)
{
	if (v->one_run)
		SAY(one_timed_run, FACT_NO_SIDE, .runs = LEAST_RUNS);
	else if (v->result == VERDICT_UNCHANGED)
		SAY(within_margin, FACT_NO_SIDE, .margin = VERDICT_MARGIN, .differs = FACT_UNKNOWN);
	else if (v->early)
		SAY(ended_early, FACT_NO_SIDE);
	else if (v->result != VERDICT_INCONCLUSIVE && !exchange_floored(&v->exchange))
		SAY(interval_clear, FACT_NO_SIDE, .evidence = "timed");
	else if (v->result != VERDICT_INCONCLUSIVE)
		SAY(beyond_floor, FACT_NO_SIDE, .evidence = "timed",
		    .floor = expm1(fmax(LN_FLOOR_SEVERAL, p->exchange.unseen)));
	else if (p->rhythm_opens)
		SAY(cut_cycles_decide, FACT_NO_SIDE);
	else if (p->lengths_open)
		SAY(lengths_decide, FACT_NO_SIDE);
	else
		SAY(nothing_shown, FACT_NO_SIDE, .could = v->could);
}

static void plan(struct proof *p, struct verdict *v)
{
	double size = fabs(p->change);
	int64_t least = (int64_t)(p->runs[0] < p->runs[1] ? p->runs[0] : p->runs[1]);
	v->more_runs = v->one_run ? LEAST_RUNS : plan_runs(p, fmax(size, LN_MARGIN));
	if (v->more_runs > 0 && v->more_runs <= least)
		v->more_runs = least + 1;
}

struct verdict verdict_stopwatch(const struct stopwatch_side side[2], const struct verdict *recorded,
                                 struct arena *arena)
{
	struct proof p = {.runs = {side[0].n_runs, side[1].n_runs}};
	struct verdict v = {.measured = VERDICT_STOPWATCH, .speedup = 1, .lo = 1, .hi = 1, .counted = 1};
	if (recorded) {
		v.recorded = recorded->recorded;
		v.typical = recorded->typical;
		v.typical_why = recorded->typical_why;
		for (int s = 0; s < 2; s++) {
			v.series[s] = recorded->series[s];
			v.step_typical[s] = recorded->step_typical[s];
		}
	}
	v.one_run = p.runs[0] == 1 || p.runs[1] == 1;
	if (!p.runs[0] || !p.runs[1]) {
		FACT_ADD(&v.reasons, arena, nothing_timed, FACT_NO_SIDE);
		return v;
	}
	for (int s = 0; s < 2; s++) {
		double *step = ARENA_NEW(arena, p.runs[s], double);
		for (size_t r = 0; r < p.runs[s]; r++)
			step[r] = side[s].runs[r].step;
		p.mean[s] = step;
		p.side_mean[s] = v.step[s] = v.step_counted[s] = stats_mean(step, p.runs[s]);
	}
	p.change = log(p.side_mean[0]) - log(p.side_mean[1]) - proof_unit(side[0].items, side[1].items);
	v.has_speedup = true;
	v.speedup = v.lo = v.hi = v.counted = exp(p.change);
	find_interval(side, recorded, arena, &p);
	p.change_common = p.change;
	if (recorded) {
		add_cycles(side, recorded, &p);
		add_lengths(side, recorded, &p);
	}
	v.exchange = p.exchange;
	v.elsewhere = exchange_where(&p.exchange, arena);
	if (!v.one_run) {
		v.has_interval = v.judged = true;
		v.lo = exp(p.lo);
		v.hi = exp(p.hi);
		v.half_width = (p.hi - p.lo) / 2;
		v.floor = p.floor;
		v.sure = p.sure;
		v.result = proof_decide(p.lo, p.hi, p.floor);
		v.early = p.looked && (p.runs[0] < EVIDENCE_LAST_LOOK || p.runs[1] < EVIDENCE_LAST_LOOK) &&
		          (v.result == VERDICT_FASTER || v.result == VERDICT_SLOWER);
	}
	if (v.result == VERDICT_INCONCLUSIVE && !p.rhythm_opens && !p.lengths_open)
		plan(&p, &v);
	plan_could(&p, NULL, arena, &v);
	say_result(&p, arena, &v);
	facts_add(&v.reasons, arena, v.typical_why);
	say_runs(side, &p, arena, &v);
	return v;
}

/* ---- energy ---- */

/* Which of trace.h's reasons a side has; ENERGY_NOT_ASKED where all of its runs are known. */
static int energy_flaw(const struct stopwatch_side *side)
{
	for (size_t r = 0; r < side->n_runs; r++)
		if (!(side->runs[r].energy > 0))
			return side->runs[r].energy < 0 ? -(int)side->runs[r].energy : ENERGY_FLAWS;
	return side->n_runs ? 0 : ENERGY_FLAWS;
}

double stopwatch_joule(const struct stopwatch_side *side)
{
	double sum = 0;
	for (size_t r = 0; r < side->n_runs; r++)
		sum += side->runs[r].energy;
	return energy_flaw(side) ? 0 : sum / (double)side->n_runs;
}

struct energy_change stopwatch_energy(const struct stopwatch_side side[2], const struct verdict *verdict)
{
	static const char *const why[ENERGY_FLAWS + 1] = {NULL, "no_counter", "short", "shared", "mig", "not_asked"};
	struct energy_change out = {.ratio = 1, .lo = 1, .hi = 1};
	ARENA_LOCAL(work);
	const size_t n[2] = {side[0].n_runs, side[1].n_runs};
	const double *x[2];
	struct looks looks;
	for (int s = 1; s >= 0; s--)
		if (energy_flaw(&side[s])) {
			out.why = why[energy_flaw(&side[s])];
			out.side = s;
		}
	if (!out.why && (verdict->measured != VERDICT_STOPWATCH || !verdict->has_speedup))
		out.why = "not_compared";
	if (out.why)
		return out;
	for (int s = 0; s < 2; s++) {
		double *of = ARENA_NEW(&work, n[s], double);
		for (size_t r = 0; r < n[s]; r++)
			of[r] = side[s].runs[r].energy;
		out.joule[s] = stopwatch_joule(&side[s]);
		for (size_t r = 0; r < n[s]; r++)
			of[r] /= out.joule[s];
		x[s] = of;
	}
	double unit = proof_unit(side[0].items, side[1].items), change = log(out.joule[1] / out.joule[0]) + unit;
	double half = between_runs(x, n);
	if (side[0].runs[0].looked && looks_judge(x, n, &looks))
		half = fmax(half, looks.shown);
	half = hypot(half, verdict->exchange.apart);
	out.known = true;
	out.ratio = exp(change);
	out.has_interval = n[0] >= EVIDENCE_SEVERAL && n[1] >= EVIDENCE_SEVERAL && verdict->judged;
	out.lo = out.has_interval ? exp(change - half) : out.ratio;
	out.hi = out.has_interval ? exp(change + half) : out.ratio;
	return out;
}

/* ---- as many runs as it takes ---- */

/* Standard errors by runs of each side, from the first look on. */
struct errors {
	double direction, interval, too_small;
};

static const struct errors ERRORS[] = EVIDENCE_LOOKS;
_Static_assert(sizeof ERRORS / sizeof *ERRORS == EVIDENCE_LAST_LOOK - EVIDENCE_FIRST_LOOK + 1, "looks");

static size_t runs_of(const size_t n[2])
{
	return n[0] < n[1] ? n[0] : n[1];
}

static const struct errors *errors_at(size_t runs)
{
	return &ERRORS[(runs < EVIDENCE_LAST_LOOK ? runs : EVIDENCE_LAST_LOOK) - EVIDENCE_FIRST_LOOK];
}

static double larger_variance(const double *const x[2], const size_t n[2])
{
	return fmax(stats_variance(x[0], n[0]), stats_variance(x[1], n[1]));
}

bool looks_judge(const double *const x[2], const size_t n[2], struct looks *out)
{
	if (runs_of(n) < EVIDENCE_FIRST_LOOK)
		return false;
	const struct errors *e = errors_at(runs_of(n));
	double error = sqrt(larger_variance(x, n) * (1 / (double)n[0] + 1 / (double)n[1]));
	*out = (struct looks){e->interval * error, e->direction * error};
	return true;
}

bool looks_hopeless(const double *const x[2], const size_t n[2], double change, double floor, double margin)
{
	size_t runs = runs_of(n);
	if (runs < EVIDENCE_FORESEEN || runs >= EVIDENCE_LAST_LOOK)
		return runs >= EVIDENCE_LAST_LOOK;
	const struct errors *last = errors_at(EVIDENCE_LAST_LOOK);
	double sum = stats_variance(x[0], n[0]) + stats_variance(x[1], n[1]);
	double luck = EVIDENCE_TENTH * sqrt(sum * (1 / (double)runs - 1.0 / EVIDENCE_LAST_LOOK));
	double half = sqrt(2 * larger_variance(x, n) / EVIDENCE_LAST_LOOK) / errors_at(runs)->too_small;
	bool beyond = fabs(change) + luck - last->direction * half >= floor;
	bool within = margin > 0 && fmax(0, fabs(change) - luck) + last->interval * half <= margin;
	return !beyond && !within;
}
