#include "same/work.h"
#include "base/keymap.h"
#include "base/list.h"
#include "base/sort.h"
#include "trace/kernel_names.h"

#include <math.h>
#include <string.h>

static const double CLOSE = 0.01;      /* counts and times that are so near are the same */
static const double SAME_RATIO = 0.02; /* ratios of counts that are so near are one */
static const double MOST = 0.75;       /* of the blocks that went: so many more has what takes over their work */
static const double HARDLY = 0.02;     /* of what is missing: no code that is better takes so little in its place */

struct rows {
	struct work_row *row;
	size_t n, room;
	const struct names *names;
	struct arena *arena;
};

/* ---- counting ---- */

/* How far a step's mean launch of two kernels is from that of all steps, squared and one per launch, as there are more
 * of the one or the other in it; `a`, `b`: how much they do in all. */
static double between_kernels(const struct work_row *r, double a, const struct work_row *q, double b, int s)
{
	const double n = r->instances[s], m = q->instances[s];
	if (n <= 0 || m <= 0)
		return 0;
	return pow(a / n - b / m, 2) * (pow(m * r->varies[s], 2) + pow(n * q->varies[s], 2)) / pow(n + m, 3);
}

static void add_amounts(struct work_row *to, const struct work_row *from)
{
	for (int s = 0; s < 2; s++) {
		to->time2[s] += between_kernels(to, to->time[s], from, from->time[s], s);
		to->blocks2[s] += between_kernels(to, to->blocks[s], from, from->blocks[s], s);
		to->instances[s] += from->instances[s];
		to->time[s] += from->time[s];
		to->time2[s] += from->time2[s];
		to->blocks[s] += from->blocks[s];
		to->blocks2[s] += from->blocks2[s];
		to->unsized[s] += from->unsized[s];
		to->threads[s] += from->threads[s];
		to->varies[s] += from->varies[s]; /* together, perhaps */
	}
}

static struct work_row *row_add(struct rows *rows)
{
	LIST_GROW(rows->arena, rows->row, rows->n, rows->room);
	rows->row[rows->n] = (struct work_row){0};
	return &rows->row[rows->n++];
}

/* Names become keys once each, not once an op. */
struct counting {
	struct rows *rows;
	const struct renames *renames;
	const struct names *names;
	struct work_kernels *out;
	struct arena *arena; /* of the keys */
	const char **key;    /* by name */
	struct keymap row;   /* which row of the run at hand a name in a phase is, … */
	size_t first;        /* … from this one on */
	int side;
};

static const char *key_of(struct counting *c, uint32_t name)
{
	if (!c->key[name])
		c->key[name] = kernel_key(c->arena, names_text(c->names, name));
	return c->key[name];
}

static struct work_row *row_of(struct counting *c, uint32_t name, uint32_t phase, bool comm)
{
	struct rows *rows = c->rows;
	size_t at = c->first + keymap_add(&c->row, (uint64_t)name << 32 | phase);
	if (at < rows->n)
		return &rows->row[at];
	struct work_row *row = row_add(rows);
	row->key = key_of(c, name);
	row->phase = c->side ? renames_baseline(c->renames, phase) : phase;
	row->comm = comm;
	row->fill = kernel_key_fills(names_text(c->names, name));
	return row;
}

/* By how much steps differ in a kernel's mean launch: squares of the distances from the mean of all, one per launch; a
 * step with many of them counts for as many. `squares`, `products`: of the steps' sums, and of those with their
 * launches. Of several kernels they add up to no less than what those vary by together. */
static double between_steps(const struct run_kernel *k, double sum, double squares, double products)
{
	const double mean = sum / (double)k->n;
	return fmax(0, squares - 2 * mean * products + mean * mean * k->n2) * (double)k->n / k->n2;
}

static void count_run(struct counting *c, const struct run_table *run, double weight)
{
	c->first = c->rows->n;
	keymap_init(&c->row, c->rows->arena);
	for (uint32_t i = 0; i < run->n_kernels; i++) {
		const struct run_kernel *k = &run->kernels[i];
		struct work_row *row = row_of(c, k->name, k->phase, k->comm);
		double instances = (double)k->n * weight, time = k->ns * weight;
		row->instances[c->side] += instances;
		row->time[c->side] += time;
		row->time2[c->side] += between_steps(k, k->ns, k->ns2, k->n_ns) * weight;
		row->blocks[c->side] += k->blocks * weight;
		row->blocks2[c->side] += between_steps(k, k->blocks, k->blocks2, k->n_blocks) * weight;
		row->unsized[c->side] += (double)k->unsized * weight;
		row->threads[c->side] += k->threads * weight;
		row->varies[c->side] += k->varies * run->n_steps * weight; /* each run's steps as those of the others */
		c->out->time[c->side] += time;
		c->out->unnamed[c->side] += *row->key ? 0 : instances;
	}
}

SORT_ORDER_BY(compare_rows, struct work_row, names,
              strcmp(x->key, y->key) ?: x->fill - y->fill
              ?: strcmp(names_text(names, x->phase), names_text(names, y->phase)))

static void merge_rows(struct rows *rows)
{
	size_t kept = 0;
	void *names = (void *)rows->names;
	SORT_BY(rows->row, rows->n, compare_rows, names);
	for (size_t i = 0; i < rows->n; i++) {
		const struct work_row *r = &rows->row[i];
		if (!kept || compare_rows(&rows->row[kept - 1], r, names) != 0) {
			rows->row[kept++] = *r;
			continue;
		}
		add_amounts(&rows->row[kept - 1], r);
	}
	rows->n = kept;
}

/* The kernels of all phases together. `first` gets, by kernel, its first row; one more than there are kernels. */
static struct work_row *add_phases(const struct rows *rows, struct arena *arena, size_t **first, size_t *n)
{
	struct work_row *all = ARENA_NEW(arena, rows->n + 1, struct work_row);
	*first = ARENA_NEW(arena, rows->n + 1, size_t);
	*n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const struct work_row *r = &rows->row[i];
		if (!*n || strcmp(all[*n - 1].key, r->key) != 0 || all[*n - 1].fill != r->fill) {
			(*first)[*n] = i;
			all[(*n)++] = *r;
			continue;
		}
		add_amounts(&all[*n - 1], r);
	}
	(*first)[*n] = rows->n;
	return all;
}

/* Whether a phase comes now and then on both sides, or runs the kernel as often on both. */
static bool comes_by_chance(const struct work_scale *s, const struct work_row *r)
{
	const double a = r->instances[0], b = r->instances[1];
	return a > 0 && b > 0 && (!work_runs_differ(s, r) || (!work_is_whole(s, a) && !work_is_whole(s, b)));
}

/* What a kernel's mean launch is, of phases of which chance has one side do more (an evaluation in some steps): each
 * phase's launches weigh as much on both sides. `row`: the kernel in n phases. */
static void weigh_phases(const struct work_scale *s, const struct work_row *row, size_t n, struct work_row *all)
{
	double both = all->instances[0] + all->instances[1], time[2] = {0}, blocks[2] = {0};
	if (n < 2 || work_runs_differ(s, all))
		return;
	for (size_t i = 0; i < n; i++) {
		const double share = (row[i].instances[0] + row[i].instances[1]) / both;
		if (!comes_by_chance(s, &row[i]))
			return;
		for (int side = 0; side < 2; side++) {
			const double as_often = share * all->instances[side] / row[i].instances[side];
			time[side] += as_often * row[i].time[side];
			blocks[side] += as_often * row[i].blocks[side];
		}
	}
	for (int side = 0; side < 2; side++) {
		all->time[side] = time[side];
		all->blocks[side] = blocks[side];
	}
}

/* ---- by the step or by the item ---- */

static void count_units(const struct work_scale *s, struct rows *rows, struct work_row *all, const size_t *first,
                        size_t n, struct work_kernels *out)
{
	for (size_t k = 0; k < n; k++) {
		const struct work_row of = all[k];
		for (size_t i = first[k]; i < first[k + 1]; i++)
			work_count_by_step(s, &of, &rows->row[i]);
		const bool by_step = work_count_by_step(s, &of, &all[k]);
		const double time = fmax(all[k].time[0], all[k].time[1]);
		if (of.comm)
			continue;
		out->by_item_time += !by_step || all[k].per_item ? time : 0;
		out->by_step_time += by_step ? time : 0;
		out->by_step += by_step;
	}
}

/* ---- what is left out ---- */

struct search {
	const struct work_scale *scale;
	const struct rows *rows;
	const struct work_row *all;
	const size_t *first;
	size_t n;
	int less;       /* the side that may leave something out */
	double merged;  /* work_find_merged */
	uint8_t *phase; /* by name: whether the other side runs a kernel there, and whether one runs less often there */
};

/* `sign` > 0: the side runs it more often than the other one, < 0: less often. */
static bool changes(const struct search *s, const struct work_row *r, int sign)
{
	double here = r->instances[s->less], there = r->instances[1 - s->less];
	return !r->comm && sign * (here - there) > 0 && work_runs_differ(s->scale, r) && !work_has_as_many_blocks(r) &&
	       !(sign < 0 && s->merged > 0 &&
	         work_distance(r->instances[!s->less], s->merged * r->instances[s->less]) <= SAME_RATIO);
}

/* Whether a kernel runs more often, or may: one that the other side has nowhere needs no more evidence to be what
 * stands in for another, however much its steps differ, or few they are: of one step its edges could make all. */
static bool may_grow(const struct search *s, const struct work_row *r)
{
	return changes(s, r, 1) ||
	       (!r->comm && !(r->instances[1 - s->less] > 0) && r->instances[s->less] > fmin(s->scale->slack, 0.5));
}

enum { PHASE_USED = 1, PHASE_SHRINKS = 2 };

static void find_phases(struct search *s)
{
	for (size_t k = 0; k < s->n; k++)
		for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
			const struct work_row *r = &s->rows->row[i];
			bool shrinks = changes(s, &s->all[k], -1) && changes(s, r, -1);
			s->phase[r->phase] |=
				(r->instances[1 - s->less] > 0 ? PHASE_USED : 0) | (shrinks ? PHASE_SHRINKS : 0);
		}
}

/* Whether `missing` runs less often in the phase. */
static bool shrinks_in(const struct search *s, size_t missing, uint32_t phase)
{
	for (size_t m = s->first[missing]; m < s->first[missing + 1]; m++)
		if (s->rows->row[m].phase == phase && changes(s, &s->rows->row[m], -1))
			return true;
	return false;
}

/* Whether `grown` may stand in the place of `missing`: it runs more often where that runs less often, in a phase that
 * only this side has, or outside of all; perhaps in one where nothing runs less often. One that ran in every step and
 * now runs in some needs something that runs in the others. */
static enum work_instead stands_in(const struct search *s, size_t grown, size_t missing)
{
	double left = s->all[missing].instances[s->less];
	bool now_and_then = left > s->scale->slack && !work_is_whole(s->scale, left) &&
	                    work_is_whole(s->scale, s->all[missing].instances[1 - s->less]);
	enum work_instead found = WORK_NOTHING;
	if (!may_grow(s, &s->all[grown]) || (now_and_then && work_is_whole(s->scale, s->all[grown].instances[s->less])))
		return WORK_NOTHING;
	for (size_t g = s->first[grown]; g < s->first[grown + 1] && found != WORK_LITTLE; g++) {
		const struct work_row *r = &s->rows->row[g];
		const uint8_t phase = s->phase[r->phase];
		if (!may_grow(s, r))
			continue;
		if (!r->phase || !(phase & PHASE_USED) || shrinks_in(s, missing, r->phase))
			found = WORK_LITTLE;
		else if (!(phase & PHASE_SHRINKS))
			found = WORK_ELSEWHERE;
	}
	return found;
}

/* Whether kernels beside it take longer without it, by a good part of what it took, `lost`: they may do its work, too.
 */
static bool is_done_beside(const struct search *s, size_t missing, double lost)
{
	double more = 0;
	for (size_t k = 0; k < s->n; k++) {
		bool beside = false;
		for (size_t i = s->first[k]; i < s->first[k + 1] && !beside; i++)
			beside = shrinks_in(s, missing, s->rows->row[i].phase);
		more += beside ? work_takes_more(s->scale, &s->all[k], s->less) : 0;
	}
	return more > WORK_REPLACES * lost;
}

/* How much less often a kernel runs, and how many blocks fewer that makes, a step. */
static void lost_of(const struct search *s, const struct work_row *r, double lost[2])
{
	lost[0] += r->instances[1 - s->less] - r->instances[s->less];
	lost[1] += r->blocks[1 - s->less] - r->blocks[s->less];
}

/* What went with the fills, as often and in as many blocks, may have added to the zeros that they set: a gradient that
 * is written needs neither. A fill of many tensors at once stands for any number. */
static bool goes_with_fills(const struct search *s, const struct work_row *r)
{
	double fills[2] = {0}, lost[2] = {0};
	bool many = false;
	for (size_t k = 0; k < s->n; k++)
		if (s->all[k].fill && changes(s, &s->all[k], -1)) {
			many = many || strstr(s->all[k].key, "multi_tensor");
			lost_of(s, &s->all[k], fills);
		}
	lost_of(s, r, lost);
	return (many && strstr(r->key, "elementwise")) || (fills[1] > 0 && !work_differs(s->scale, fills[0], lost[0]) &&
	                                                   work_distance(fills[1], lost[1]) <= CLOSE);
}

/* What may do the work of `missing` instead; WORK_REPLACED: something takes as long as better code may. What both sides
 * run has work of its own: requests of a cheaper kind, or layers that were skipped, run more of it and replace nothing.
 */
static enum work_instead find_instead(const struct search *s, size_t missing, double lost)
{
	enum work_instead found = WORK_NOTHING;
	double grown = 0, shared = 0, blocks = 0, gone[2] = {0};
	lost_of(s, &s->all[missing], gone);
	for (size_t g = 0; g < s->n; g++) {
		const enum work_instead place = stands_in(s, g, missing);
		const double *runs = s->all[g].instances;
		found = place > found ? place : found;
		if (place != WORK_LITTLE)
			continue;
		const double more = s->all[g].time[s->less] * (1 - runs[1 - s->less] / runs[s->less]);
		const bool own = !(runs[1 - s->less] > 0) || s->all[g].unsized[0] > 0 || s->all[g].unsized[1] > 0;
		*(own ? &grown : &shared) += more;
		blocks += own ? 0 : s->all[g].blocks[s->less] - s->all[g].blocks[1 - s->less];
	}
	grown += blocks >= MOST * gone[1] ? shared : 0;
	if (grown > 0 && grown >= HARDLY * lost)
		return WORK_REPLACED;
	return found == WORK_NOTHING && is_done_beside(s, missing, lost) ? WORK_BESIDE : found;
}

/* Whether a kernel runs less often where chance may be why of all its launches, and not of those in a phase: an
 * evaluation now and then that runs what the training does. */
static bool leaves_phase(const struct search *s, size_t k)
{
	const double *runs = s->all[k].instances;
	bool less = false, more = false;
	for (size_t i = s->first[k]; i < s->first[k + 1]; i++) {
		less |= changes(s, &s->rows->row[i], -1);
		more |= changes(s, &s->rows->row[i], 1);
	}
	return less && !more && runs[s->less] < (1 - CLOSE) * runs[1 - s->less] && !work_has_as_many_blocks(&s->all[k]);
}

/* Whether its own launches that are left may do a kernel's work: they do more, or take longer. */
static enum work_instead own_launches(const struct search *s, const struct work_row *r, bool gathered)
{
	/* of which nobody recorded the blocks, that they take longer is all there is */
	const bool unsized = r->unsized[0] > 0 || r->unsized[1] > 0;
	if (work_launches_hold_more(r, s->less) || (gathered && unsized))
		return WORK_GATHERED;
	return gathered ? WORK_LONGER : WORK_NOTHING;
}

static void find_left_out(struct search *s, struct work_left_out *out)
{
	double longest = -1;
	const bool anew = work_is_built_anew(s->scale, s->all, s->n, s->less);
	find_phases(s);
	for (size_t k = 0; k < s->n; k++) {
		const bool surely = changes(s, &s->all[k], -1);
		if (!surely && !leaves_phase(s, k))
			continue;
		const double there = s->all[k].instances[1 - s->less], here = s->all[k].instances[s->less];
		const double lost = s->all[k].time[1 - s->less] * (1 - here / there);
		enum work_instead instead = find_instead(s, k, lost);
		if (instead == WORK_REPLACED)
			continue;
		const bool gathered = here > 0 && work_is_gathered(&s->all[k], s->less, s->scale->state);
		instead = anew && here > 0 ? WORK_ANEW : instead;
		out->n++;
		bool unclear = !surely || s->all[k].fill || instead != WORK_NOTHING || gathered ||
		               goes_with_fills(s, &s->all[k]) ||
		               work_goes_with_comm(s->scale, s->all, s->n, s->less, &s->all[k]);
		*(unclear ? &out->unclear : &out->time) += lost;
		if (s->all[k].time[1 - s->less] <= longest)
			continue;
		longest = s->all[k].time[1 - s->less];
		out->name = s->all[k].key;
		out->with = there;
		out->without = here;
		out->instead = instead != WORK_NOTHING ? instead : own_launches(s, &s->all[k], gathered);
	}
}

/* ---- all of it ---- */

static void find_groups(const struct work_scale *scale, const struct work_row *all, size_t n, struct work_kernels *out)
{
	for (size_t k = 0; k < n; k++) {
		const struct work_row *r = &all[k];
		const double as_often = r->instances[1] > 0 ? r->time[1] * r->instances[0] / r->instances[1] : 0;
		if (r->comm)
			continue; /* how many, and which algorithm: a matter of buckets and ranks */
		if (r->instances[0] == 0 || r->instances[1] == 0) {
			int side = r->instances[0] == 0;
			work_group_add(&out->only[side], r, r->time[side], NULL);
		} else if (work_runs_differ(scale, r)) {
			work_group_add(&out->counts, r,
			               work_distance(r->instances[0], r->instances[1]) * fmax(r->time[0], r->time[1]),
			               NULL);
		} else if (!work_has_same_blocks(scale, r)) {
			work_group_add(&out->blocks, r, fmax(r->time[0], r->time[1]), r->blocks);
		} else if (work_distance(r->time[0], as_often) > CLOSE) {
			const bool resized = work_has_other_threads(r);
			work_group_add(resized ? &out->threads : &out->times, r, fabs(r->time[0] - as_often),
			               r->threads);
			if (resized)
				continue;
			out->longer += fmax(as_often - r->time[0], 0);
		}
	}
}

/* How many times as long the kernels take on the fixed side, where all of them do. */
static double find_ratio(const struct work_row *all, size_t n, const struct work_kernels *k)
{
	double time[2] = {0}, least = INFINITY, most = 0;
	if (k->times.n < 2 || k->counts.n || k->only[0].n || k->only[1].n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct work_row *r = &all[i];
		if (r->comm || !(r->time[0] > 0))
			continue;
		least = fmin(least, r->time[1] / r->time[0]);
		most = fmax(most, r->time[1] / r->time[0]);
		for (int s = 0; s < 2; s++)
			time[s] += r->time[s];
	}
	double ratio = time[1] / time[0];
	return work_distance(ratio, 1) > CLOSE && work_distance(least, ratio) <= SAME_RATIO &&
	                       work_distance(most, ratio) <= SAME_RATIO
	               ? ratio
	               : 0;
}

void work_compare(const struct side_facts facts[2], const struct renames *renames, const struct names *names,
                  const struct work_scale *of, struct arena *arena, struct work_kernels *out)
{
	ARENA_LOCAL(scratch);
	struct work_scale counted = *of;
	const struct work_scale *scale = &counted;
	struct rows rows = {.names = names, .arena = &scratch};
	*out = (struct work_kernels){0};
	for (int side = 0; side < 2; side++) {
		struct counting c = {.rows = &rows, .renames = renames, .names = names, .out = out, .arena = arena};
		c.key = ARENA_NEW(&scratch, names->n, const char *);
		c.side = side;
		double count = 0;
		for (size_t r = 0; r < facts[side].n_runs; r++) {
			const struct run_table *run = &facts[side].runs[r];
			count_run(&c, run, scale->share[side] / ((double)facts[side].n_runs * run->n_steps));
		}
		for (size_t i = 0; i < rows.n; i++)
			count += rows.row[i].instances[side];
		out->unnamed[side] = count > 0 ? out->unnamed[side] / count : 0;
	}
	merge_rows(&rows);
	struct search search = {.scale = scale, .rows = &rows};
	size_t *first;
	struct work_row *all = add_phases(&rows, &scratch, &first, &search.n);
	count_units(scale, &rows, all, first, search.n, out);
	for (size_t k = 0; k < search.n; k++)
		weigh_phases(scale, &rows.row[first[k]], first[k + 1] - first[k], &all[k]);
	counted.alone = work_vary_alone(scale, rows.row, rows.n);
	search.all = all;
	search.first = first;
	find_groups(scale, search.all, search.n, out);
	out->ratio = find_ratio(search.all, search.n, out);
	out->multiple = work_find_multiple(scale, search.all, search.n);
	if (!out->multiple.name)
		out->multiple = work_find_larger(scale, search.all, search.n);
	out->seldom = work_find_seldom(search.all, search.n);
	out->recut = work_find_recut(scale->repeats, search.all, search.n);
	work_find_alike(scale, rows.row, rows.n, search.all, search.n, &scratch, out);
	counted.state = -out->as_clock;
	work_find_fall(scale, search.all, search.n, &scratch, &out->fall);
	out->placed = work_placed(scale, rows.row, rows.n, search.all, search.n, &scratch);
	for (search.less = 0; search.less < 2; search.less++) {
		search.phase = ARENA_NEW(&scratch, names->n, uint8_t);
		search.merged = work_find_merged(scale, all, search.n, search.less);
		find_left_out(&search, &out->left_out[search.less]);
	}
}
