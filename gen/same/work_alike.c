#include "same/work.h"

#include "verdict/stats.h"

#include <math.h>

static const double SURE = 0.99865;      /* three standard errors, where there are many */
static const double CLOSE = 0.01;        /* of counts and time: so little is no difference */
static const double SAME_RATIO = 0.02;   /* ln: launches that are so near take as long */
static const double SAME_BLOCKS = 0.001; /* ln, of a launch */
static const double MOST_CLOCK = 2;      /* no clock is held back by more */
static const double CLOCK_UNSEEN = 0.05; /* ln: of a clock, samples once a second miss no more */
static const double NEARLY_ALL = 0.8;    /* of the time of kernels that have other names: so many go by one ratio */
static const double MOST = 0.75;      /* of the kernels' time: built anew, where so much runs as often on neither … */
static const double SOME = 0.05;      /* … and so much is each side's own */
static const double FALLS = 0.05;     /* ln of a ratio of work: what is nearer is the same */
static const double FOLLOWS = 1 / 3.; /* of that ratio, as ln: so much time goes with work that is left out */

/* ---- alike ---- */

double work_chance(double n)
{
	return stats_t_quantile(SURE, fmax(1, n - 1));
}

/* How often it was seen independently of itself: its launches of one step vary together. */
static double times_seen(const struct work_scale *s, const struct work_row *r, int side)
{
	return fmax(1, s->steps ? s->variation.seen * fmin(1, r->instances[side]) : r->instances[side]);
}

/* The mean of a launch, and its error as a share of it; `squares`: of the distances from it. */
static double mean_of(const struct work_scale *s, const struct work_row *r, int side, double sum, double squares,
                      double *error)
{
	double mean = sum / r->instances[side];
	*error = mean > 0 ? sqrt(squares / r->instances[side] / times_seen(s, r, side)) / mean : 0;
	return mean;
}

/* By how much a kernel's times vary from step to step, ns a step, on average of both sides. */
static double varies_by(const struct work_scale *s, const struct work_row *r)
{
	double ns = 0, error;
	for (int side = 0; side < 2; side++) {
		mean_of(s, r, side, r->time[side], r->time2[side], &error);
		ns += r->time[side] * error * sqrt(times_seen(s, r, side)) / 2;
	}
	return ns;
}

double work_vary_alone(const struct work_scale *s, const struct work_row *row, size_t n)
{
	double each = 0, time = 0;
	for (size_t i = 0; i < n; i++)
		if (!row[i].comm && row[i].instances[0] > 0 && row[i].instances[1] > 0) {
			each += varies_by(s, &row[i]);
			time += (row[i].time[0] + row[i].time[1]) / 2;
		}
	return fabs(each - s->variation.together * time);
}

/* What chance makes of it where steps do more and less alike on both sides. Standard deviations add up to that of the
 * sum only of what varies together, so a kernel that varies by x of them all has with the others a correlation of at
 * least 1 − alone / x. */
static double slack_apart(const struct work_scale *s, const struct work_row *r, double spread)
{
	const struct variation *v = &s->variation;
	const double by = varies_by(s, r), with = 1 - s->alone / by, time = (r->time[0] + r->time[1]) / 2;
	if (!v->alike || !(v->dof > 0) || !(with > 0))
		return INFINITY;
	return stats_t_quantile(SURE, v->dof) *
	       hypot(v->apart * by / (time * v->together), spread * sqrt(1 - with * with));
}

/* ln of a launch's time or blocks on the fixed side over the baseline's; `slack`: what chance makes of it. */
static double ln_ratio(const struct work_scale *s, const struct work_row *r, bool blocks, double *slack)
{
	double error[2] = {0}, mean[2] = {0};
	for (int side = 0; side < 2; side++)
		mean[side] = blocks ? mean_of(s, r, side, r->blocks[side], r->blocks2[side], &error[side])
		                    : mean_of(s, r, side, r->time[side], r->time2[side], &error[side]);
	double seen = fmin(times_seen(s, r, 0), times_seen(s, r, 1)), spread = hypot(error[0], error[1]);
	*slack = spread > 0 ? spread * (seen == s->variation.seen ? s->chance : work_chance(seen)) : 0;
	if (s->variation.wanders && blocks && spread > 0)
		*slack = INFINITY;
	*slack = fmin(*slack, slack_apart(s, r, spread));
	return mean[0] > 0 && mean[1] > 0 ? log(mean[1] / mean[0]) : mean[0] > 0 || mean[1] > 0 ? INFINITY : 0;
}

static bool is_sized(const struct work_row *r)
{
	return r->unsized[0] <= 0 && r->unsized[1] <= 0;
}

bool work_has_same_blocks(const struct work_scale *s, const struct work_row *r)
{
	double slack, ln = ln_ratio(s, r, true, &slack);
	return !is_sized(r) || fabs(ln) <= SAME_BLOCKS + slack;
}

bool work_has_other_threads(const struct work_row *r)
{
	double each[2];
	for (int s = 0; s < 2; s++) {
		each[s] = r->threads[s] / r->instances[s];
		if (round(each[s]) < 1 || fabs(each[s] - round(each[s])) > 1e-6)
			return false;
	}
	return round(each[0]) != round(each[1]);
}

static bool is_common(const struct work_scale *s, const struct work_row *r)
{
	return !r->comm && r->instances[0] > 0 && r->instances[1] > 0 && !work_runs_differ(s, r) &&
	       work_has_same_blocks(s, r);
}

/* The factor by which launches take longer on the fixed side, as most of the time has it, as ln; `near`: what is none,
 * or chance may be why. Of those that work on more items at once on one side no clock tells how long they take. */
static double common_factor(const struct work_scale *s, const struct work_row *all, size_t n, struct arena *arena,
                            double *near)
{
	struct stats_weighed *list = ARENA_NEW(arena, n + 1, struct stats_weighed);
	double slack;
	size_t found = 0;
	for (size_t k = 0; k < n; k++)
		if (is_common(s, &all[k]) && !all[k].per_item && all[k].time[0] > 0 && all[k].time[1] > 0)
			list[found++] = (struct stats_weighed){ln_ratio(s, &all[k], false, &slack),
			                                       all[k].time[0] + all[k].time[1]};
	double factor = found ? stats_weighed_quantile(list, found, 0.5) : 0, nearest = INFINITY;
	for (size_t i = 0; i < found; i++)
		nearest = fmin(nearest, fabs(list[i].value - factor));
	*near = CLOSE;
	for (size_t k = 0; k < n; k++)
		if (is_common(s, &all[k]) && fabs(ln_ratio(s, &all[k], false, &slack) - factor) <= nearest)
			*near = fmax(*near, CLOSE + slack);
	return factor;
}

/* How far a kernel's times are from that factor, ns a step: of neither side's. */
static double off_factor(const struct work_row *r, double factor)
{
	return fabs(r->time[1] * exp(-factor / 2) - r->time[0] * exp(factor / 2));
}

/* Whether that is so in each phase and on each GPU: what differs from one to the next, or lets kernels run at once, is
 * no clock. `near`: what chance may make of it, where both sides have as many GPUs: else launches vary by the one that
 * is slower and has none on the other side. */
static bool is_everywhere(const struct work_scale *s, const struct work_row *row, size_t n, double factor, double near)
{
	double time[2] = {0}, off = 0, slack;
	for (size_t i = 0; i < n; i++) {
		const struct work_row *r = &row[i];
		for (int side = 0; side < 2; side++)
			time[side] += r->comm ? 0 : r->time[side];
		if (is_common(s, r) && fabs(ln_ratio(s, r, false, &slack) - factor) > SAME_RATIO + slack)
			off += off_factor(r, factor);
	}
	const double by_chance = s->share[0] == s->share[1] ? near : 0;
	for (int end = 0; end < 2; end++)
		if (fabs(s->busier[end] - factor) > SAME_RATIO + by_chance) /* NAN is no distance */
			return false;
	return off <= CLOSE * fmax(time[0], time[1]);
}

/* Whether kernels besides the longest changed by that factor, too: of one alone faster code may be why. */
static bool is_borne_out(const struct work_scale *s, const struct work_row *all, size_t n, double factor)
{
	double time = 0, borne = 0, longest = 0, slack;
	for (size_t k = 0; k < n; k++) {
		const double both = all[k].comm ? 0 : all[k].time[0] + all[k].time[1];
		time += both;
		if (!is_common(s, &all[k]) || fabs(ln_ratio(s, &all[k], false, &slack) - factor) > SAME_RATIO + slack)
			continue;
		borne += both;
		longest = fmax(longest, both);
	}
	return borne - longest >= CLOSE * time;
}

/* The same of all kernels that both run with as many blocks, whatever their number, and as it is: the GPU's state. Of
 * launches that vary it is by the block, for by chance one side's may have more of them. That it is the state, kernels
 * besides the longest say: of one alone faster code may be why. */
static void find_clock(const struct work_scale *s, const struct work_row *all, size_t n, struct arena *arena,
                       struct work_kernels *k)
{
	struct stats_weighed *list = ARENA_NEW(arena, n + 1, struct stats_weighed);
	double slack, time[2] = {0}, seen[2] = {0}, borne = 0, longest = 0;
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		const struct work_row *r = &all[i];
		bool both = !r->comm && !r->per_item && fmin(r->time[0], r->time[1]) > 0 && work_has_same_blocks(s, r);
		for (int side = 0; side < 2; side++) {
			time[side] += r->comm ? 0 : r->time[side];
			seen[side] += both ? r->time[side] : 0;
		}
		if (both)
			list[found++] = (struct stats_weighed){(is_sized(r) ? ln_ratio(s, r, true, &slack) : 0) -
			                                               ln_ratio(s, r, false, &slack),
			                                       r->time[0] + r->time[1]};
	}
	k->clock = found ? stats_weighed_quantile(list, found, 0.5) : 0;
	k->clock_share = found ? fmin(seen[0] / time[0], seen[1] / time[1]) : 0;
	for (size_t i = 0; i < found; i++) {
		bool near = fabs(list[i].value - k->clock) <= SAME_RATIO;
		borne += near ? list[i].weight : 0;
		longest = fmax(longest, near ? list[i].weight : 0);
	}
	k->clock_told = fabs(k->clock) <= CLOSE || borne - longest >= CLOSE * (time[0] + time[1]);
}

/* How far chance may have taken how much there is of a kernel's work, as ln. How long a launch takes is no evidence: on
 * a GPU that others use, too, the same launch took half as long again. */
static double taken_by_chance(const struct work_row *r)
{
	const double *of = is_sized(r) && r->blocks[0] > 0 && r->blocks[1] > 0 ? r->blocks : r->instances;
	return fabs(log(of[1] / of[0]));
}

/* Whether how long a launch takes goes up and down with steps that wander, and is another on the two sides: of a kernel
 * that stays resident, blocks are as many for any amount of work. `slack`: what chance makes of `far`, as ln. */
static bool is_wandering(const struct work_scale *s, double far, double slack)
{
	return s->variation.wanders && slack > SAME_RATIO && far > FALLS;
}

/* Kernels' time by side: of all, of those that are known to be alike but for their time, of those in time as well. */
struct alike {
	double time[2], near[2], kept[2], off; /* off: of the second, by how much they are beyond the common factor */
};

/* Blocks that were not recorded may have changed where times did. */
static void add_alike(const struct work_scale *s, const struct work_row *r, double factor, struct alike *a,
                      struct work_kernels *k)
{
	double slack = 0, ln = is_common(s, r) ? ln_ratio(s, r, false, &slack) : INFINITY;
	bool known = isfinite(ln) && (is_sized(r) || fabs(ln) <= SAME_RATIO + slack);
	bool as_long = fabs(ln - factor) <= SAME_RATIO + slack;
	const double beyond = off_factor(r, factor);
	for (int side = 0; side < 2; side++) {
		a->time[side] += r->comm ? 0 : r->time[side];
		a->near[side] += known ? r->time[side] : 0;
		a->kept[side] += known && as_long ? r->time[side] : 0;
	}
	if (known && !as_long)
		a->off += beyond;
	double chance = known ? taken_by_chance(r) : 0;
	if (chance > FALLS)
		work_group_add(&k->by_chance, r, (1 - exp(-chance)) * fmax(r->time[0], r->time[1]), NULL);
	if (known && is_wandering(s, fabs(ln - factor), slack))
		work_group_add(&k->wandering, r, beyond, NULL);
}

/* Fills k->alike, factor, by_chance, wandering. */
void work_find_alike(const struct work_scale *s, const struct work_row *row, size_t n_rows, const struct work_row *all,
                     size_t n, struct arena *arena, struct work_kernels *k)
{
	struct alike a = {0};
	double chance_of;
	double factor = common_factor(s, all, n, arena, &chance_of);
	if (fabs(factor) > log(MOST_CLOCK) || fabs(factor - s->clock) > CLOCK_UNSEEN || /* NAN is no distance */
	    (isnan(s->clock) && !is_borne_out(s, all, n, factor)))
		factor = 0;
	k->as_clock = fabs(factor) > CLOSE ? -factor : 0; /* also where chance may be why: a clock that drifts */
	if (fabs(factor) <= chance_of || !is_everywhere(s, row, n_rows, factor, chance_of))
		factor = 0;
	for (size_t i = 0; i < n; i++)
		add_alike(s, &all[i], factor, &a, k);
	bool little = a.off <= CLOSE * fmax(a.time[0], a.time[1]);
	for (int side = 0; side < 2; side++) {
		k->known[side] = a.time[side];
		k->alike[side] = little ? a.near[side] : a.kept[side];
	}
	k->factor = exp(factor);
	find_clock(s, all, n, arena, k);
}

bool work_is_gathered(const struct work_row *r, int less, double state)
{
	const double fell = log(r->instances[!less] / r->instances[less]);
	const double grew = log(r->time[less] / r->time[!less]) + fell + (less ? -state : state);
	return fell > FALLS && grew > fmax(FALLS, FOLLOWS * fell);
}

/* ln of how much of a kernel's work the fixed side does of what the baseline does: blocks a step, or where those are
 * not known launches that take as long. */
static double ln_work(const struct work_scale *s, const struct work_row *r)
{
	double slack;
	if (r->comm || !(r->instances[0] > 0) || !(r->instances[1] > 0) || is_common(s, r) ||
	    (work_runs_differ(s, r) && work_is_gathered(r, r->instances[1] < r->instances[0], s->state)))
		return 0;
	if (is_sized(r))
		return log(r->blocks[1] / r->blocks[0]);
	return fabs(ln_ratio(s, r, false, &slack)) <= FALLS ? log(r->instances[1] / r->instances[0]) : 0;
}

bool work_goes_with_comm(const struct work_scale *s, const struct work_row *all, size_t n, int less,
                         const struct work_row *row)
{
	const double gone = row->instances[!less] - row->instances[less];
	for (size_t k = 0; k < n; k++) {
		const double here = all[k].instances[less], there = all[k].instances[!less];
		if (all[k].comm && there > here && work_differs(s, here, there) && !work_differs(s, there - here, gone))
			return true;
	}
	return false;
}

/* ---- other names ---- */

/* Whether only side `s` runs the kernel. */
static bool is_only(const struct work_row *r, int s)
{
	return !r->comm && r->instances[s] > 0 && r->instances[1 - s] <= 0;
}

/* Pairs kernels that one side alone runs with those of the other that run `ratio` times as often, each once. `time`
 * gets what those take that have a partner, by side; returns how many pairs there are. */
static uint32_t pair_others(const struct work_scale *s, const struct work_row *all, size_t n, double ratio, bool *taken,
                            double time[2])
{
	uint32_t pairs = 0;
	time[0] = time[1] = 0;
	for (size_t k = 0; k < n; k++)
		taken[k] = false;
	for (size_t k = 0; k < n; k++)
		for (size_t f = 0; is_only(&all[k], 0) && f < n; f++) {
			if (taken[f] || !is_only(&all[f], 1) ||
			    work_differs(s, ratio * all[k].instances[0], all[f].instances[1]))
				continue;
			taken[f] = true;
			time[0] += all[k].time[0];
			time[1] += all[f].time[1];
			pairs++;
			break;
		}
	return pairs;
}

/* What kernels take that one side alone runs, by side; `longest`: which of them, by side, or n. */
static void sum_others(const struct work_row *all, size_t n, double time[2], size_t longest[2])
{
	for (int s = 0; s < 2; s++) {
		time[s] = 0;
		longest[s] = n;
		for (size_t k = 0; k < n; k++)
			if (is_only(&all[k], s)) {
				time[s] += all[k].time[s];
				if (longest[s] == n || all[k].time[s] > all[longest[s]].time[s])
					longest[s] = k;
			}
	}
}

bool work_is_built_anew(const struct work_scale *s, const struct work_row *all, size_t n, int less)
{
	double moved = 0, time[2] = {0}, own[2];
	size_t longest[2];
	sum_others(all, n, own, longest);
	for (size_t k = 0; k < n; k++) {
		for (int side = 0; side < 2; side++)
			time[side] += all[k].comm ? 0 : all[k].time[side];
		moved += !all[k].comm && work_runs_differ(s, &all[k]) ? all[k].time[!less] : 0;
	}
	return moved > MOST * time[!less] && own[0] > SOME * time[0] && own[1] > SOME * time[1];
}

double work_placed(const struct work_scale *s, const struct work_row *row, size_t n_rows, const struct work_row *all,
                   size_t n, struct arena *arena)
{
	double time[2], as_often[2], in_phases[2] = {0};
	size_t longest[2];
	sum_others(all, n, time, longest);
	if (longest[0] == n || longest[1] == n)
		return 1;
	pair_others(s, all, n, 1, ARENA_NEW(arena, n, bool), as_often);
	uint32_t phases = 0;
	for (size_t i = 0; i < n_rows; i++)
		phases = row[i].phase >= phases ? row[i].phase + 1 : phases;
	double *others[2];
	for (int side = 0; side < 2; side++) {
		others[side] = ARENA_NEW(arena, phases, double);
		for (size_t i = 0; i < n_rows; i++)
			others[side][row[i].phase] += is_only(&row[i], side) ? row[i].time[side] : 0;
	}
	for (uint32_t p = 1; p < phases; p++)
		for (int side = 0; side < 2; side++)
			in_phases[side] += others[1 - side][p] > 0 ? others[side][p] : 0;
	return fmin(fmax(as_often[0], in_phases[0]) / time[0], fmax(as_often[1], in_phases[1]) / time[1]);
}

/* Other names alone do not make fewer layers the same job. */
static void find_renamed_fall(const struct work_scale *s, const struct work_row *all, size_t n, struct arena *arena,
                              struct work_fall *out)
{
	double time[2], paired[2];
	size_t longest[2];
	sum_others(all, n, time, longest);
	if (longest[0] == n || longest[1] == n)
		return;
	double ratio = all[longest[1]].instances[1] / all[longest[0]].instances[0];
	uint32_t pairs = pair_others(s, all, n, ratio, ARENA_NEW(arena, n, bool), paired);
	if (pairs < 2 || fabs(log(ratio)) <= FALLS || paired[0] < NEARLY_ALL * time[0] ||
	    paired[1] < NEARLY_ALL * time[1])
		return;
	int less = ratio < 1;
	*out = (struct work_fall){.n = pairs,
	                          .less = less,
	                          .renamed = true,
	                          .ratio = fmin(ratio, 1 / ratio),
	                          .time = time[1 - less] * (1 - fmin(ratio, 1 / ratio)),
	                          .name = *all[longest[less]].key ? all[longest[less]].key : "(no name)"};
}

/* ---- the same names ---- */

/* One kernel alone may only be cut in another way: its time has to fall by no less than its blocks. */
static bool is_alone_less(const struct work_scale *s, const struct work_fall *f, const struct work_row *r)
{
	return is_sized(r) && !work_runs_differ(s, r) &&
	       log(r->time[f->less] / r->time[!f->less]) - log(f->ratio) <= FALLS;
}

/* Whether other blocks may do as much: hardly less time went with the family's (`time`, by side), and the input is not
 * less in that ratio. */
static bool is_recut(const struct work_scale *s, const struct work_fall *f, const double time[2])
{
	const double fell = log(f->ratio), input = log(s->input[f->less] / s->input[!f->less]);
	return log(time[f->less] / time[!f->less]) > FOLLOWS * fell && !(fabs(input - fell) <= FALLS);
}

/* Those of which one side does so much less (ln). `time` gets what they take, by side. */
static struct work_fall family_of(const struct work_scale *s, const struct work_row *all, size_t n, double ratio,
                                  double time[2])
{
	struct work_fall out = {.less = ratio < 0, .ratio = exp(-fabs(ratio))};
	double most = 0, others = 0;
	time[0] = time[1] = 0;
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		double ln = ln_work(s, r), missing = fabs(r->time[0] - r->time[1]);
		others += is_only(r, !out.less) ? missing : 0;
		if (fabs(ln - ratio) <= FALLS && missing > 0) {
			out.n++;
			out.time += missing;
			if (r->instances[out.less] < r->instances[!out.less] && work_runs_differ(s, r))
				others += missing;
			for (int side = 0; side < 2; side++)
				time[side] += r->time[side];
			out.name = missing > most ? *r->key ? r->key : "(no name)" : out.name;
			most = fmax(most, missing);
		} else if (!r->comm && r->time[out.less] > r->time[!out.less]) {
			out.grown += missing;
		}
	}
	out.replaced = out.grown + others > WORK_REPLACES * out.time;
	return out;
}

/* Kernels of which one side runs less, in the input's ratio, or in one ratio and in less time. Where hardly less time
 * goes with it, other blocks (larger ones, or such as go on until all is done) may do as much. */
void work_find_fall(const struct work_scale *s, const struct work_row *all, size_t n, struct arena *arena,
                    struct work_fall *out)
{
	const struct work_row *largest = NULL;
	const double input = log(s->input[1] / s->input[0]);
	double most = 0, ratio = 0, time[2] = {0};
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		double ln = ln_work(s, r), shorter = r->time[0] - r->time[1];
		if (fabs(ln) > FALLS && ln * shorter < 0 && fabs(shorter) > most) {
			most = fabs(shorter);
			ratio = ln;
			largest = r;
		}
	}
	if (most > 0)
		*out = family_of(s, all, n, ratio, time);
	if (out->n == 1 && !is_alone_less(s, out, largest))
		out->n = 0;
	if (isfinite(input) && fabs(input) > FALLS && fabs(input - ratio) > FALLS) {
		double time_fed[2];
		const struct work_fall fed = family_of(s, all, n, input, time_fed);
		if (fed.n > 1 && !fed.replaced && time_fed[fed.less] < time_fed[!fed.less]) {
			*out = fed;
			time[0] = time_fed[0];
			time[1] = time_fed[1];
		}
	}
	out->recut = out->n && is_recut(s, out, time);
	if (!out->n)
		find_renamed_fall(s, all, n, arena, out);
}
