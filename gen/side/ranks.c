#include "side/side_parts.h"

#include "base/sort.h"
#include "charge/comm.h"
#include "charge/rank_steps.h"
#include "result/side_result.h"

#include <math.h>
#include <string.h>

/* What ranks say to each other: one row for each operation of each communicator. */

struct side_comms {
	struct comm_result *list; /* by exposed + hidden descending, at most COMMS_MOST, in the arena */
	uint32_t n, left_out;
};

/* What a message's bytes are multiplied with to make the bytes that every link of a ring has to carry (nccl-tests,
 * doc/PERFORMANCE.md). NCCL's payloads count one rank's share of all-gather, reduce-scatter and all-to-all. */
static double bus_factor(const char *call, double ranks)
{
	if (strcmp(call, "ncclAllReduce") == 0)
		return 2 * (ranks - 1) / ranks;
	if (strcmp(call, "ncclAllGather") == 0 || strcmp(call, "ncclReduceScatter") == 0 ||
	    strcasecmp(call, "ncclAllToAll") == 0)
		return ranks - 1;
	return 1;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct names *names = context;
	const struct comm_row *x = a, *y = b;
	double p = x->exposed + x->hidden, q = y->exposed + y->hidden;
	return DESCENDING(p, q) ?: strcmp(names_text(names, x->name), names_text(names, y->name))
		?: ASCENDING(x->kernels, y->kernels);
}

static void fill(const struct run *run, const struct comm_row *row, struct comm_result *out)
{
	double a_rank = 1 / (double)row->devices / run->window.n_steps;
	out->name = row->name;
	out->ranks = row->ranks ? row->ranks : row->kind == COMM_POINT ? 0 : row->took_part;
	out->per_step = row->kernels * a_rank;
	out->matched = (double)row->matched / row->kernels;
	out->waiting = row->waiting * a_rank;
	out->moving = row->moving * a_rank;
	out->exposed = row->exposed * a_rank;
	out->hidden = row->hidden * a_rank;
	out->last = TRACE_NONE;
	uint32_t most = 0;
	for (uint32_t d = 0; row->last && d < run->charge->n_devices; d++)
		if (row->last[d] > most) {
			most = row->last[d];
			out->last = run->charge->place[d];
		}
	out->last_share = most ? (double)most / row->collectives : 0;
	out->bytes = row->known ? row->bytes / row->known : 0;
	if (row->span > 0 && out->bytes > 0)
		out->bus_bandwidth = row->bytes / row->span * 1e9 *
		                     bus_factor(names_text(run->trace->names, row->name), out->ranks ? out->ranks : 2);
}

/* Of the side's median run. */
static struct side_comms comms_build(const struct run *run, const struct waiting *w, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct comm_row *rows = ARENA_NEW(&scratch, w->n_rows, struct comm_row);
	int64_t *comms = ARENA_NEW(&scratch, w->n_rows, int64_t);
	uint32_t n = 0, n_comms = 0;
	for (uint32_t i = 0; i < w->n_rows; i++)
		if (w->rows[i].kernels)
			rows[n++] = w->rows[i];
	SORT_BY(rows, n, compare_rows, run->trace->names);
	struct side_comms out = {.n = n < COMMS_MOST ? n : COMMS_MOST};
	out.left_out = n - out.n;
	out.list = ARENA_NEW(arena, out.n, struct comm_result);
	for (uint32_t i = 0; i < out.n; i++) {
		uint32_t k = 0;
		fill(run, &rows[i], &out.list[i]);
		while (k < n_comms && comms[k] != rows[i].comm)
			k++;
		if (rows[i].comm && k == n_comms)
			comms[n_comms++] = rows[i].comm;
		out.list[i].communicator = rows[i].comm ? k + 1 : 0;
	}
	return out;
}

static const double MOSTLY = 2.0 / 3;   /* of the waiting is for one rank: it is always the same one */
static const double EXPLAINS = 1.0 / 3; /* of what is waited for a rank, or by all */
static const double MATCHED = 0.95;     /* of the exposed communication */

SORT_ORDER(compare_ranks, struct rank_result,
           x->stepless - y->stepless ?: DESCENDING(x->own, y->own) ?: ASCENDING(x->device, y->device))

/* ---- the sums of all runs ---- */

static void add_run(const struct run *run, const struct waiting *w, const struct device_result *devices, size_t n_runs,
                    struct ranks_result *out)
{
	double step = 1 / (double)run->window.n_steps;
	out->collectives += w->n_collectives * step / (double)n_runs;
	out->one_clock = out->one_clock && w->tolerance >= 0;
	for (uint32_t at = 0; at < run->charge->n_devices; at++) {
		const struct device_waiting *d = &w->device[at];
		struct rank_result *r = &out->list[run->charge->place[at]];
		double weight = step / devices[run->charge->place[at]].n_runs;
		r->stepless = r->stepless || !rank_steps_marked(run, at);
		r->own += run->steps.found ? d->own / devices[run->charge->place[at]].n_runs : d->own * weight;
		r->waiting += (double)d->parts.waiting * weight;
		r->bubble += (double)d->parts.bubble * weight;
		r->moving += (double)d->parts.moving * weight;
		r->unmatched += (double)d->parts.unmatched * weight;
		r->hidden +=
			(double)(d->parts.hidden_waiting + d->parts.hidden_moving + d->parts.hidden_unmatched) * weight;
		r->waited_for += run->charge->n_devices > 1 ? d->waited_for * weight / (run->charge->n_devices - 1) : 0;
		r->last += w->n_collectives
		                   ? (double)d->last / w->n_collectives / devices[run->charge->place[at]].n_runs
		                   : 0;
	}
}

static void add_means(const struct comm_facts *comm, struct ranks_result *out)
{
	double n = comm->ranks ? comm->ranks : 1;
	for (uint32_t d = 0; d < out->n; d++) {
		if (!comm->communicates[d])
			continue;
		out->waiting += out->list[d].waiting / n;
		out->bubble += out->list[d].bubble / n;
		out->moving += out->list[d].moving / n;
		out->unmatched += out->list[d].unmatched / n;
	}
	double known = out->waiting + out->bubble + out->moving;
	out->known = out->collectives > 0 && known >= MATCHED * (known + out->unmatched);
}

/* ---- why ---- */

/* A part of a device's step in which it may differ from others. */
struct part {
	enum part_kind kind;
	enum cause cause;
	bool input;
	uint32_t phase; /* a name */
};

static bool is_input(const struct cell_key *key)
{
	return key->input && (cause_is_host(key->cause) || key->cause == CAUSE_OFF_CPU);
}

static struct part part_of(const struct run *run, const struct cell_key *key)
{
	if (is_input(key))
		return (struct part){.kind = PART_IDLE, .input = true};
	return (struct part){.kind = PART_IDLE, .cause = key->cause, .phase = run_marked_phase(run, key->phase)};
}

static bool is_same(const struct part *a, const struct part *b)
{
	return a->kind == b->kind && a->cause == b->cause && a->input == b->input && a->phase == b->phase;
}

/* How long a part of a device's window is, ns. */
static double length_of(const struct run *run, const struct device_run *d, const struct part *part)
{
	double sum = 0;
	if (part->kind == PART_COPY)
		return (double)d->copy;
	for (uint32_t p = 0; p < run->phases.n && part->kind == PART_COMPUTE; p++)
		sum += run->phases.names[p] == part->phase ? (double)d->computes[p] : 0;
	for (uint32_t c = 0; c < d->cells.n && part->kind == PART_IDLE; c++) {
		struct part other = part_of(run, &d->cells.cell[c].key);
		sum += !d->cells.cell[c].key.once && is_same(&other, part) ? (double)d->cells.cell[c].ns : 0;
	}
	return sum;
}

/* A part of the straggler beside the mean of the others, per step, mean over runs. */
static void compare_part(const struct run *runs, size_t n, const struct comm_facts *comm, const struct part *part,
                         struct straggler *best)
{
	double mine = 0, others = 0;
	size_t with_mine = 0, with_others = 0;
	for (size_t r = 0; r < n; r++)
		for (uint32_t at = 0; at < runs[r].charge->n_devices; at++) {
			uint32_t place = runs[r].charge->place[at];
			if (!comm->communicates[place])
				continue;
			double length =
				length_of(&runs[r], &runs[r].charge->devices[at], part) / runs[r].window.n_steps;
			*(place == best->device ? &mine : &others) += length;
			(*(place == best->device ? &with_mine : &with_others))++;
		}
	if (!with_mine || !with_others)
		return;
	mine /= (double)with_mine;
	others /= (double)with_others;
	if (mine - others <= best->more)
		return;
	best->part = part->kind;
	best->cause = part->cause;
	best->input = part->input;
	best->phase = part->phase;
	best->more = mine - others;
	best->others = others;
}

static bool has_phases(const struct run *run, const struct device_run *d)
{
	for (uint32_t p = 1; p < run->phases.n; p++)
		if (d->computes[p])
			return true;
	return false;
}

/* Whether phases of one rank can be held against those of another: all ranks have some, or none has. */
static bool has_equal_phases(const struct run *run)
{
	bool with = false, without = false;
	for (uint32_t d = 0; d < run->charge->n_devices; d++) {
		if (!run->charge->devices[d].communicates)
			continue;
		if (has_phases(run, &run->charge->devices[d]))
			with = true;
		else
			without = true;
	}
	return !with || !without;
}

static void find_reason(const struct run *runs, size_t n, const struct comm_facts *comm, double waited_for,
                        struct straggler *out)
{
	const struct run *run = NULL;
	for (size_t r = 0; r < n && !run; r++)
		run = runs[r].charge->device_at[out->device] != TRACE_NONE ? &runs[r] : NULL;
	const struct device_run *d = &run->charge->devices[run->charge->device_at[out->device]];
	if (!has_equal_phases(run))
		return;
	compare_part(runs, n, comm, &(struct part){.kind = PART_COPY}, out);
	for (uint32_t p = 0; p < run->phases.n; p++)
		if (d->computes[p])
			compare_part(runs, n, comm, &(struct part){.kind = PART_COMPUTE, .phase = run->phases.names[p]},
			             out);
	for (uint32_t c = 0; c < d->cells.n; c++) {
		struct part part = part_of(run, &d->cells.cell[c].key);
		bool seen = d->cells.cell[c].key.once || part.cause == CAUSE_BUBBLE; /* no work of its own */
		for (uint32_t e = 0; e < c && !seen; e++) {
			struct part earlier = part_of(run, &d->cells.cell[e].key);
			seen = !d->cells.cell[e].key.once && is_same(&earlier, &part);
		}
		if (!seen)
			compare_part(runs, n, comm, &part, out);
	}
	out->has_reason = out->more >= EXPLAINS * waited_for;
}

/* Own steps beyond the mean of all ranks', a step. */
struct beyond {
	double longest; /* of each step the longest: what ranks would wait for each other if that were the only reason
	                 */
	double of_one;  /* of one device, always the same */
};

static void add_beyond(const struct run *run, const struct waiting *w, const struct comm_facts *comm, uint32_t device,
                       double weight, struct beyond *out)
{
	uint32_t n_steps = run->steps.found ? run->window.n_steps : 1, at = run->charge->device_at[device];
	weight /= run->window.n_steps;
	for (uint32_t k = 0; k < n_steps; k++) {
		double all = 0, most = 0, n = 0, mine = 0;
		for (uint32_t d = 0; d < run->charge->n_devices; d++) {
			if (!comm->communicates[run->charge->place[d]])
				continue;
			double own = run->steps.found ? w->device[d].step[k] : w->device[d].own;
			all += own;
			most = fmax(most, own);
			mine = d == at ? own : mine;
			n++;
		}
		out->longest += n > 0 ? (most - all / n) * weight : 0;
		out->of_one += n > 0 && at != TRACE_NONE ? (mine - all / n) * weight : 0;
	}
}

/* By how much a device's own step is longer than the mean of the others'. */
static double find_more(const struct ranks_result *ranks, const struct comm_facts *comm, uint32_t device)
{
	double others = 0, n = 0;
	for (uint32_t d = 0; d < ranks->n; d++)
		if (d != device && comm->communicates[d]) {
			others += ranks->list[d].own;
			n++;
		}
	return n > 0 ? ranks->list[device].own - others / n : 0;
}

/* Whether ranks take part of which nobody marked the steps: what they do in a step is not known, and so not who does
 * more. */
static bool lacks_steps(const struct run *run)
{
	for (uint32_t d = 0; d < run->charge->n_devices; d++)
		if (run->charge->devices[d].communicates && !rank_steps_marked(run, d))
			return true;
	return false;
}

/* `has_more`: the one that most is waited for has more to do than the others. In a pipeline much of the waiting has its
 * schedule for a reason, so that the one whose steps alone are longer needs not have most of it. */
static enum straggler_kind kind_of(const struct beyond *beyond, double share, bool has_more,
                                   const struct ranks_result *ranks)
{
	bool always = share >= MOSTLY, pipeline = ranks->bubble >= EXPLAINS * ranks->waiting;
	if (beyond->longest < EXPLAINS * ranks->waiting)
		return STRAGGLER_SCHEDULE;
	if (has_more)
		return always || (pipeline && beyond->of_one >= MOSTLY * beyond->longest) ? STRAGGLER_PERSISTENT
		                                                                          : STRAGGLER_TURNS;
	if (!always)
		return STRAGGLER_TURNS;
	/* Another one has more to do: whether it is why the one that came last did is not told without one clock. */
	return ranks->one_clock ? STRAGGLER_SCHEDULE : STRAGGLER_NONE;
}

static void find_straggler(const struct run *runs, const struct waiting *waiting, size_t n,
                           const struct comm_facts *comm, struct ranks_result *out)
{
	struct beyond beyond = {0};
	struct straggler *s = &out->straggler;
	double all = 0;
	for (uint32_t d = 0; d < out->n; d++) {
		all += out->list[d].waited_for;
		if (out->list[d].waited_for > out->list[s->device].waited_for)
			s->device = d;
	}
	for (size_t r = 0; r < n; r++)
		if (lacks_steps(&runs[r]))
			return;
	if (!out->known || all <= 0)
		return;
	double waited_for = out->list[s->device].waited_for;
	s->share = waited_for / all;
	for (size_t r = 0; r < n; r++)
		add_beyond(&runs[r], &waiting[r], comm, s->device, 1 / (double)n, &beyond);
	s->kind = kind_of(&beyond, s->share, find_more(out, comm, s->device) >= EXPLAINS * waited_for, out);
	if (s->kind == STRAGGLER_PERSISTENT)
		find_reason(runs, n, comm, waited_for, s);
}

/* By how much a device's own step is longer than the others' median, by measured step. */
static double *find_lateness(const struct run *run, const struct waiting *w, uint32_t device, struct arena *scratch)
{
	double *late = ARENA_NEW(scratch, run->window.n_steps, double),
	       *others = ARENA_NEW(scratch, run->charge->n_devices, double);
	for (uint32_t k = 0; k < run->window.n_steps; k++) {
		size_t n = 0;
		for (uint32_t d = 0; d < run->charge->n_devices; d++)
			if (d != device)
				others[n++] = w->device[d].step[k];
		sort_doubles(others, n);
		late[k] = fmax(0, w->device[device].step[k] - others[n / 2]);
	}
	return late;
}

/* When a straggler is late, in the median run. */
static void find_late_steps(const struct run *run, const struct waiting *w, struct straggler *out)
{
	enum { FEWEST = 3 };
	static const double MOST = 0.8; /* of the steps: that is always */
	ARENA_LOCAL(scratch);
	uint32_t device = run->charge->device_at[out->device], last = 0, regular = 0, distance = 0;
	if (!run->steps.found || device == TRACE_NONE || run->charge->n_devices < 2)
		return;
	const double *late = find_lateness(run, w, device, &scratch);
	double all = 0, peak = 0, of_late = 0;
	for (uint32_t k = 0; k < run->window.n_steps; k++) {
		all += late[k];
		peak = fmax(peak, late[k]);
	}
	for (uint32_t k = 0; k < run->window.n_steps && peak > 0; k++) {
		if (late[k] < peak / 2)
			continue;
		of_late += late[k];
		distance = out->late == 1 ? k - last : distance;
		regular += out->late && k - last == distance;
		last = k;
		out->late++;
	}
	out->steps = run->window.n_steps;
	if (of_late < MOSTLY * all || out->late > MOST * run->window.n_steps)
		out->late = 0;
	else if (out->late >= FEWEST && regular == out->late - 1 && distance >= 2)
		out->every = distance;
}

/* Each device's host, and whom it waits for in sends and receives. */
static void find_places(const struct run *run, const struct waiting *w, struct ranks_result *out)
{
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	uint64_t *host = ARENA_NEW(&scratch, run->charge->n_devices, uint64_t);
	uint32_t n = 0;
	for (uint32_t d = 0; d < out->n; d++) {
		struct rank_result *r = &out->list[d];
		uint32_t at = run->charge->device_at[d], h = 0, partner = at == TRACE_NONE ? at : w->device[at].partner;
		r->partner = partner == TRACE_NONE ? TRACE_NONE : run->charge->place[partner];
		uint64_t mine =
			at == TRACE_NONE ? 0 : t->processes[t->devices[run->charge->devices[at].device].process].host;
		while (mine && h < n && host[h] != mine)
			h++;
		if (mine && h == n)
			host[n++] = mine;
		r->host = mine ? h + 1 : 0;
	}
	for (uint32_t d = 0; d < out->n && n < 2; d++)
		out->list[d].host = 0;
}

/* Whether several processes make steps, each its own ones: a pool's workers, servers. They are no ranks of one job, and
 * the time between two steps of any of them is no step of one. */
static bool are_workers(const struct run *run)
{
	const struct steps *s = &run->steps;
	bool several = false;
	for (uint32_t i = 1; s->found && i < s->n_threads; i++)
		several = several || s->threads[i].process != s->threads[0].process;
	return several && s->n_ranks < 2;
}

struct ranks_result ranks_build(const struct run *runs, const struct waiting *waiting, const struct side *side,
                                const struct comm_facts *comm, struct arena *arena)
{
	struct ranks_result result = {0}, *out = &result;
	const uint32_t n = side->n_runs, median_run = side->median_run;
	const struct waiting *median = &waiting[median_run];
	for (size_t r = 0; r < n; r++)
		if (runs[r].steps.unaligned || are_workers(&runs[r]))
			return result;
	if (side->n_devices < 2)
		return result;
	*out = (struct ranks_result){
		.list = ARENA_NEW(arena, side->n_devices, struct rank_result), .n = side->n_devices, .one_clock = true};
	out->clocks = runs[0].trace->clocks;
	out->n_clocks = runs[0].trace->n_clocks;
	for (size_t r = 0; r < n; r++)
		add_run(&runs[r], &waiting[r], side->devices, n, out);
	const struct rank_maps maps = rank_maps_build(&runs[median_run], median, side->n_devices, arena);
	const struct side_comms comms = comms_build(&runs[median_run], median, arena);
	for (uint32_t d = 0; d < out->n; d++)
		out->list[d].device = d;
	find_places(&runs[median_run], median, out);
	for (uint32_t d = 0; d < out->n; d++)
		out->list[d].own = out->list[d].stepless ? 0 : out->list[d].own;
	add_means(comm, out);
	find_straggler(runs, waiting, n, comm, out);
	if (out->straggler.kind == STRAGGLER_PERSISTENT)
		find_late_steps(&runs[median_run], median, &out->straggler);
	SORT(out->list, out->n, compare_ranks);
	out->map = maps.own;
	memcpy(out->parts, maps.parts, sizeof out->parts);
	out->comms = comms.list;
	out->n_comms = comms.n;
	out->comms_left_out = comms.left_out;
	return result;
}
