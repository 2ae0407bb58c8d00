/* Rules on what the GPUs do: copies, communication, computing. */
#include "find/rules_parts.h"

#include "find/waterfall.h"
#include "result/say.h"

#include <math.h>

/* ---- copies ---- */

/* Migrations beside which something else runs, ns a step: kernels that stop at pages that are not there yet. */
static double overlapped_kernels(const struct evidence *e)
{
	double time = 0;
	for (uint32_t i = 0; i < e->side->n_copies; i++) {
		enum copy_kind kind = e->side->copies[i].kind;
		bool managed = kind == COPY_UM_H2D || kind == COPY_UM_D2H || kind == COPY_UM_D2D;
		time += managed && !e->side->copies[i].memset ? e->side->copies[i].per_step : 0;
	}
	return fmax(0, time / fmax(1, e->side->n_devices) - e->facts->copy_managed);
}

/* Where they hold up nothing else, what kernels may wait for is said all the same; how much of it they do nobody knows.
 */
void find_managed(struct evidence *e)
{
	double overlapped = overlapped_kernels(e);
	rule_blame(e, e->facts->work.managed_copies, "migrations");
	rule_note(e, "migrations", FINDING_COUNT, e->facts->work.managed_copies);
	rule_claim(e, NULL);
	rule_note(e, "overlapped", FINDING_TIME, overlapped);
	if (rule_costs(e, e->facts->copy_managed, SMALL) || overlapped < MANY * rule_period(e))
		return;
	e->per_step = e->amount = overlapped;
	e->ceiling = 0;
}

const struct fact *tell_managed(const struct evidence *e)
{
	double overlapped = rule_value(e, "overlapped");
	return FACT_NEW(e->arena, managed_memory, e->side_no, RULE_COSTS(e), .migrations = rule_value(e, "migrations"),
	                .stalls = e->ceiling > 0,
	                .overlapped = overlapped >= SMALL * rule_period(e) ? overlapped : NAN);
}

/* How long the copies of the busier direction take, a GPU and step, ns: a copy engine each goes to the device and back.
 */
static double busiest_copies(const struct side *side)
{
	double way[2] = {0};
	for (uint32_t i = 0; i < side->n_copies; i++)
		if (!side->copies[i].memset && (side->copies[i].kind == COPY_H2D || side->copies[i].kind == COPY_D2H))
			way[side->copies[i].kind == COPY_D2H] += side->copies[i].per_step;
	return fmax(way[0], way[1]) / fmax(1, side->n_devices);
}

static const double WORTH_PINNING = 4096; /* bytes a step; a scalar takes as long from pinned memory */

/* What the host does for a millisecond and more before such a copy is its own, and pinned memory would not save it. */
static bool fits_pageable(const struct cell_key *idle)
{
	return idle->pageable && (idle->cause == CAUSE_COPY_API || idle->cause == CAUSE_OTHER_API ||
	                          idle->cause == CAUSE_SYNC_RETURN || (cause_is_host(idle->cause) && !idle->lasting));
}

void find_pageable(struct evidence *e)
{
	if (round(e->facts->work.pageable_bytes) < WORTH_PINNING) /* a mean of one size may come out a hair below it */
		return;
	/* without kernels there is nothing to hide the copies behind: pinned ones would take their time too */
	double hidden = e->side->budget.compute > 0 ? e->facts->copy_pageable : 0;
	rule_blame(e, e->facts->work.pageable_copies, "copies");
	rule_note(e, "copies", FINDING_COUNT, e->facts->work.pageable_copies);
	rule_note(e, "bytes", FINDING_BYTES, e->facts->work.pageable_bytes);
	rule_note(e, "alone", FINDING_TIME, e->facts->copy_pageable);
	e->host = e->facts->work.pageable_copies > 0 ? rule_claim(e, fits_pageable) : 0;
	rule_note(e, "idle", FINDING_TIME, e->idle);
	e->floor = busiest_copies(e->side);
	if (rule_costs(e, hidden, SMALL))
		e->ceiling = fmax(e->ceiling, e->floor);
}

/* A memset is next to what needs it, and has no other place: it is none of these. */
void find_serial_copies(struct evidence *e)
{
	const struct side_facts *facts = e->facts;
	double cost = e->side->budget.copy_exposed - facts->copy_pageable - facts->copy_managed - facts->memset;
	e->floor = busiest_copies(e->side);
	if (rule_costs(e, e->side->budget.compute > 0 ? cost : 0, CONSIDERABLE))
		e->ceiling = fmax(e->ceiling, e->floor);
}

/* ---- several devices ---- */

void find_comm(struct evidence *e)
{
	const struct ranks_result *ranks = &e->side->ranks;
	/* what is not waiting for the last one: said by the collectives, else the least that any rank has */
	rule_costs(e, ranks->known ? ranks->moving + ranks->unmatched : e->facts->comm.min, SMALL);
}

void find_straggler(struct evidence *e)
{
	const struct ranks_result *ranks = &e->side->ranks;
	rule_note(e, "ranks", FINDING_COUNT, e->facts->comm.ranks);
	rule_note(e, "for_one", FINDING_SHARE, ranks->straggler.share);
	rule_note(e, "longer", FINDING_TIME, ranks->straggler.has_reason ? ranks->straggler.more : 0);
	double waiting = ranks->known ? ranks->waiting : e->facts->comm.mean - e->facts->comm.min;
	const bool idle = ranks->straggler.has_reason && ranks->straggler.part == PART_IDLE;
	if (!rule_costs(e, e->facts->comm.ranks < 2 ? 0 : waiting, 2 * SMALL) || !idle)
		return;
	/* work can be shared out among the ranks; who idles longer can only stop to */
	const double n = e->facts->comm.ranks;
	e->ceiling -= fmin(ranks->straggler.more, waiting * n / (n - 1)) / n;
}

/* In which part of its step the straggler differs. */
static const struct fact *reason_of(const struct evidence *e, const struct straggler *s)
{
	const char *in = !s->has_reason            ? "nothing"
	                 : s->part == PART_COMPUTE ? "compute"
	                 : s->part == PART_COPY    ? "copy"
	                 : s->input                ? "input"
	                                           : "idle";
	return FACT_NEW(e->arena, straggler_differs, e->side_no, .in = in, .longer = s->more, .unit = rule_unit(e),
	                .share = s->others > 0 ? s->more / s->others : NAN, .phase = s->phase,
	                .cause = cause_name(s->cause));
}

/* Where collectives are not known: the device that communicates for the shortest time waits least. */
static const struct device_result *find_least(const struct evidence *e)
{
	const struct device_result *last = NULL;
	for (uint32_t d = 0; d < e->side->n_devices; d++) {
		const struct device_result *device = &e->side->devices[d];
		if (e->facts->comm.communicates[d] &&
		    (!last || device->budget.comm_exposed < last->budget.comm_exposed))
			last = device;
	}
	return last;
}

/* A rank, and where it ran, where that may differ: "rank 5 (host 2, GPU 1)". */
static const struct fact *place_of(const struct evidence *e, uint32_t device)
{
	const struct side *side = e->side;
	const struct device_result *d = &side->devices[device];
	bool gpus = false;
	uint32_t host = 0;
	for (uint32_t i = 0; i < side->ranks.n; i++) {
		gpus = gpus || side->devices[i].ordinal != d->ordinal;
		host = side->ranks.list[i].device == device ? side->ranks.list[i].host : host;
	}
	gpus = gpus && d->rank >= 0; /* else it is what the rank is called already */
	return FACT_NEW(e->arena, rank_at, e->side_no, .rank = say_rank(side, device, e->arena),
	                .at = host && gpus ? "both"
	                      : host       ? "host"
	                      : gpus       ? "gpu"
	                                   : "nowhere",
	                .host = host, .gpu = d->ordinal);
}

/* What is waited where collectives are not known is a guess, and said to be one. */
const struct fact *tell_straggler(const struct evidence *e)
{
	static const char *const kinds[] = {[STRAGGLER_NONE] = "least",
	                                    [STRAGGLER_PERSISTENT] = "persistent",
	                                    [STRAGGLER_TURNS] = "turns",
	                                    [STRAGGLER_SCHEDULE] = "schedule"};
	const struct straggler *s = &e->side->ranks.straggler;
	const struct device_result *least = find_least(e);
	const struct fact *who = NULL;
	if (s->kind != STRAGGLER_NONE)
		who = place_of(e, s->device);
	else if (least)
		who = FACT_NEW(e->arena, rank_at, e->side_no, .at = "nowhere",
		               .rank = say_rank(e->side, (uint32_t)(least - e->side->devices), e->arena));
	return FACT_NEW(e->arena, straggler, e->side_no, RULE_COSTS(e),
	                .kind = s->kind == STRAGGLER_NONE && !e->side->ranks.known ? "unmatched" : kinds[s->kind],
	                .who = who, .for_one = s->share, .every = s->every ? s->every : FACT_UNKNOWN,
	                .late = s->late && !s->every ? s->late : FACT_UNKNOWN, .of = s->steps,
	                .why = s->kind == STRAGGLER_PERSISTENT ? reason_of(e, s) : NULL);
}

/* The rank that waits longest in sends and receives. */
static const struct rank_result *most_bubbles(const struct ranks_result *ranks)
{
	const struct rank_result *most = ranks->n ? &ranks->list[0] : NULL;
	for (uint32_t i = 1; i < ranks->n; i++)
		most = ranks->list[i].bubble > most->bubble ? &ranks->list[i] : most;
	return most;
}

void find_bubbles(struct evidence *e)
{
	const struct rank_result *most = most_bubbles(&e->side->ranks);
	rule_claim(e, NULL);
	rule_note(e, "ranks", FINDING_COUNT, e->side->ranks.n);
	rule_note(e, "longest", FINDING_TIME, most ? most->bubble : 0);
	rule_costs(e, 0, SMALL);
}

const struct fact *tell_bubbles(const struct evidence *e)
{
	const struct rank_result *most = most_bubbles(&e->side->ranks);
	return FACT_NEW(
		e->arena, pipeline_bubbles, e->side_no, RULE_COSTS(e),
		.who = most ? say_rank(e->side, most->device, e->arena) : NULL, .longest = rule_value(e, "longest"),
		.partner = most && most->partner != TRACE_NONE ? say_rank(e->side, most->partner, e->arena) : NULL);
}

/* ---- nothing left to fix at this level ---- */

/* Kernels that are so short do little work for what they read and write; so many in a step, and so much of the kernels'
 * time, make them what to fix. */
static const double TINY = 10e3; /* ns, in the mean over those of one name */
static const double MANY_TINY = 1000, MOSTLY_TINY = 0.5;

/* How many of them a GPU runs in a step; `time` gets what they take, ns a step. */
static double count_tiny(const struct side *side, double *time)
{
	double n = 0, gpus = fmax(1, side->n_devices);
	*time = 0;
	for (uint32_t i = 0; i < side->n_kernels; i++) {
		const struct kernel_result *k = &side->kernels[i];
		if (k->comm || k->graph || k->per_step > TINY * k->instances)
			continue;
		n += k->instances / gpus;
		*time += k->per_step / gpus;
	}
	return n;
}

/* A block runs on one SM, and each of its warps in one of the SM's four parts: where most of the kernels' time is of
 * kernels with so few that three quarters of the SMs, or of their parts, have none, a GPU that is busy all the time is
 * mostly unused. Not where kernels run side by side, and fill it together. */
static const double FEW_OF_SMS = 0.25, FEW_TIME = 0.5, SIDE_BY_SIDE = 1.1;
static const double FEW_THREADS = 32; /* for each SM: a warp in one of four parts */
static const int64_t FEW_BLOCKS = 4;  /* where nobody recorded how many SMs there are */
/* Kernels of several streams that leave half of the SMs could run at once; where nearly as many do, there is nothing to
 * gain. */
static const double HALF_OF_SMS = 0.5, NEARLY_ALL_AT_ONCE = 0.9;

struct few_blocks {
	const struct run_kernel *longest; /* of those with few; NULL: they are not most of the time */
	double share;                     /* of the kernels' time that they have */
	int64_t sms;                      /* of the smallest GPU; 0: not known */
};

/* At most `part` of the SMs have one of its blocks. `sms`: 0: not known. */
static bool has_few(const struct run_kernel *k, int64_t sms, double part)
{
	const double n = (double)k->n, blocks = k->blocks / n, threads = blocks * k->threads / n;
	if (blocks <= (sms ? part * (double)sms : (double)FEW_BLOCKS))
		return true;
	return threads > 0 && threads <= FEW_THREADS * (double)sms;
}

static struct few_blocks find_few_blocks(const struct evidence *e, double part)
{
	struct few_blocks out = {0};
	double all = 0, few = 0;
	for (size_t r = 0; r < e->facts->n_runs; r++)
		for (uint32_t i = 0; i < e->facts->runs[r].n_gpus; i++) {
			const int64_t sms = e->facts->runs[r].gpus[i].sm_count;
			out.sms = sms && (!out.sms || sms < out.sms) ? sms : out.sms;
		}
	for (size_t r = 0; r < e->facts->n_runs; r++)
		for (uint32_t i = 0; i < e->facts->runs[r].n_kernels; i++) {
			const struct run_kernel *k = &e->facts->runs[r].kernels[i];
			all += k->ns;
			if (k->comm || k->unsized || !has_few(k, out.sms, part))
				continue;
			few += k->ns;
			out.longest = !out.longest || k->ns > out.longest->ns ? k : out.longest;
		}
	out.share = all > 0 ? few / all : 0;
	if (out.share < FEW_TIME)
		out.longest = NULL;
	return out;
}

/* Of one device: processes that share it and ranks have streams of their own. */
static bool has_room_for_streams(const struct evidence *e, double at_once)
{
	const double streams = floor(e->facts->work.streams);
	return e->side->n_devices == 1 && streams > 1 && at_once < NEARLY_ALL_AT_ONCE * streams;
}

/* A run without steps lasts from its first operation to its last: few fill it whatever the program waits for. */
static const uint64_t FEW_OPS = 10;

static bool is_filled_by_few(const struct evidence *e)
{
	uint64_t most = 0;
	for (size_t r = 0; r < e->facts->n_runs; r++)
		most = e->facts->runs[r].n_printed > most ? e->facts->runs[r].n_printed : most;
	return !e->side->steps.found && most < FEW_OPS;
}

void find_gpu_bound(struct evidence *e)
{
	const struct budget *b = &e->side->budget;
	double time, tiny = count_tiny(e->side, &time);
	e->amount = b->compute;
	rule_note(e, "cost", FINDING_TIME, b->compute);
	rule_note(e, "period", FINDING_TIME, b->period);
	rule_note(e, "overlapped", FINDING_TIME, overlapped_kernels(e));
	rule_note(e, "tiny", FINDING_COUNT, tiny);
	rule_note(e, "tiny_time", FINDING_TIME, time);
	if (b->compute >= 0.9 * b->period && !is_filled_by_few(e))
		e->per_step = b->compute;
}

static const struct fact *tell_few_blocks(const struct evidence *e, const struct few_blocks *few, double at_once)
{
	const struct run_kernel *k = few->longest;
	const int64_t threads = llround(k->threads / (double)k->n);
	return FACT_NEW(e->arena, few_blocks, e->side_no, .share = few->share, .kernel = k->name, .half = at_once > 0,
	                .streams = at_once > 0 ? (int64_t)e->facts->work.streams : FACT_UNKNOWN,
	                .at_once = at_once > 0 ? at_once : NAN, .blocks = (int64_t)ceil(k->blocks / (double)k->n),
	                .threads = threads ? threads : FACT_UNKNOWN, .sms = few->sms ? few->sms : FACT_UNKNOWN);
}

const struct fact *tell_gpu_bound(const struct evidence *e)
{
	const double at_once = waterfall_at_once(e->side);
	const bool streams = has_room_for_streams(e, at_once);
	struct few_blocks few = find_few_blocks(e, streams ? HALF_OF_SMS : FEW_OF_SMS);
	double tiny = rule_value(e, "tiny"), time = rule_value(e, "tiny_time");
	const bool many_tiny = tiny >= MANY_TINY && time >= MOSTLY_TINY * e->amount;
	if (!streams && at_once > SIDE_BY_SIDE)
		few.longest = NULL;
	return FACT_NEW(e->arena, gpu_bound, e->side_no, RULE_COSTS(e), .period = rule_value(e, "period"),
	                .pages = rule_value(e, "overlapped") >= MANY * rule_period(e),
	                .kernels = many_tiny                ? "tiny"
	                           : few.longest && streams ? "streams"
	                           : few.longest            ? "few_blocks"
	                                                    : "others",
	                .tiny = tiny, .tiny_time = time, .limit = TINY, .profiler = e->facts->amd ? "rocprof" : "ncu",
	                .few = many_tiny || !few.longest ? NULL : tell_few_blocks(e, &few, streams ? at_once : 0));
}
