/* Rules on what the GPUs do: copies, communication, computing. */
#include "analyse/judge/ncu_command.h"
#include "analyse/judge/rules_parts.h"

#include "analyse/say.h"

#include <math.h>

/* ---- copies ---- */

static bool fits_managed(const struct cell_key *idle)
{
	return idle->cause == CAUSE_MANAGED_MEMORY;
}

void find_managed(struct evidence *e)
{
	rule_blame(e, e->facts->work.managed_copies, "migrations");
	rule_note(e, "migrations", FINDING_COUNT, e->facts->work.managed_copies);
	rule_claim(e, fits_managed);
	rule_costs(e, e->facts->copy_managed, SMALL);
}

const char *tell_managed(const struct evidence *e)
{
	return arena_format(e->arena, "%s unified-memory migrations %s hold the GPU up for %s ms (%.1f %%).",
	                    rule_digits(e, rule_value(e, "migrations")), rule_a_step(e), rule_ms(e, "cost"),
	                    rule_share(e, "cost"));
}

const char *advise_managed(const struct evidence *e)
{
	(void)e;
	return "Prefetch with cudaMemPrefetchAsync, or use explicit copies.";
}

static const double WORTH_PINNING = 4096; /* bytes a step; a scalar takes as long from pinned memory */

static bool fits_pageable(const struct cell_key *idle)
{
	return idle->pageable && (idle->cause == CAUSE_COPY_API || idle->cause == CAUSE_OTHER_API ||
	                          idle->cause == CAUSE_SYNC_RETURN || rule_is_host_time(idle->cause));
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
	rule_costs(e, hidden, SMALL);
}

const char *tell_pageable(const struct evidence *e)
{
	double copies = rule_value(e, "copies");
	bool one = fabs(copies - 1) < 1e-6;
	return arena_format(
		e->arena,
		"%s %s %s %s %s from or to pageable memory: %s ms in which nothing else runs on the GPU, and "
		"%s ms of idle time before them.",
		say_count(e->arena, copies), one ? "copy" : "copies", rule_a_step(e), one ? "moves" : "move",
		say_bytes(e->arena, rule_value(e, "bytes")), rule_ms(e, "alone"), rule_ms(e, "idle"));
}

const char *advise_pageable(const struct evidence *e)
{
	(void)e;
	return "Use pinned memory (cudaMallocHost, pin_memory=True) and asynchronous copies.";
}

void find_serial_copies(struct evidence *e)
{
	double cost = e->side->budget.copy_exposed - e->facts->copy_pageable - e->facts->copy_managed;
	rule_costs(e, e->side->budget.compute > 0 ? cost : 0, CONSIDERABLE);
}

const char *tell_serial_copies(const struct evidence *e)
{
	return arena_format(
		e->arena, "Copies and memsets run alone on the GPU for %s ms %s (%.1f %%), with no kernel beside them.",
		rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"));
}

const char *advise_serial_copies(const struct evidence *e)
{
	(void)e;
	return "Copy on a second stream while kernels run, with events for the order.";
}

/* ---- several devices ---- */

void find_comm(struct evidence *e)
{
	const struct ranks_result *ranks = &e->side->ranks;
	/* what is not waiting for the last one: said by the collectives, else the least that any rank has */
	rule_costs(e, ranks->known ? ranks->moving + ranks->unmatched : e->facts->comm.min, SMALL);
}

const char *tell_comm(const struct evidence *e)
{
	return arena_format(e->arena,
	                    "Communication runs for %s ms %s (%.1f %%) without a computing kernel beside it, on every "
	                    "communicating device.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"));
}

const char *advise_comm(const struct evidence *e)
{
	(void)e;
	return "Overlap it with the backward pass: reduce gradients in buckets as they become ready.";
}

void find_straggler(struct evidence *e)
{
	const struct ranks_result *ranks = &e->side->ranks;
	rule_note(e, "ranks", FINDING_COUNT, e->facts->comm.ranks);
	rule_note(e, "for_one", FINDING_SHARE, ranks->straggler.share);
	rule_note(e, "longer", FINDING_TIME, ranks->straggler.has_reason ? ranks->straggler.more : 0);
	double waiting = ranks->known ? ranks->waiting : e->facts->comm.mean - e->facts->comm.min;
	rule_costs(e, e->facts->comm.ranks < 2 ? 0 : waiting, 2 * SMALL);
}

/* In which part of its step the straggler differs: " It computes 4.1 ms …" */
static const char *reason_of(const struct evidence *e, const struct straggler *s)
{
	const char *more = rule_digits(e, s->more / 1e6), *unit = rule_a_step(e);
	const char *share = s->others > 0 ? arena_format(e->arena, " (%.0f %%)", 100 * s->more / s->others) : "";
	const char *phase =
		s->phase ? arena_format(e->arena, " in %s", say_short(e->arena, names_text(e->names, s->phase))) : "";
	if (!s->has_reason)
		return " No single part of its step says why.";
	if (s->part == PART_COMPUTE)
		return arena_format(e->arena, " It computes %s ms %s longer%s%s than the others in the mean.", more,
		                    unit, share, phase);
	if (s->part == PART_COPY)
		return arena_format(e->arena, " It copies %s ms %s longer%s than the others in the mean.", more, unit,
		                    share);
	if (s->input)
		return arena_format(e->arena,
		                    " Its input is late: its GPU is idle for %s ms %s longer than the others' in the "
		                    "mean, until the host copies input to it.",
		                    more, unit);
	return arena_format(e->arena, " Its GPU is idle for %s ms %s longer than the others' in the mean: %s%s.", more,
	                    unit, cause_label(s->cause), phase);
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

static const char *tell_least(const struct evidence *e)
{
	const struct device_result *last = find_least(e);
	return last ? arena_format(e->arena, "the one that waits least is %s",
	                           say_rank(e->side, (uint32_t)(last - e->side->devices), e->arena))
	            : "";
}

/* What is waited there is a guess, and said to be one. */
static const char *tell_unmatched(const struct evidence *e)
{
	const struct device_result *least = find_least(e);
	return arena_format(
		e->arena,
		"Devices communicate for %s ms %s longer in the mean (%.1f %%) than the one that does least%s: "
		"time in which they wait for it, if they take part in the same collectives, which could not be "
		"told.",
		rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"),
		least ? arena_format(e->arena, ", %s",
	                             say_rank(e->side, (uint32_t)(least - e->side->devices), e->arena))
		      : "");
}

/* A rank, and where it ran, where that may differ: "rank 5 (host 2, GPU 1)". */
static const char *say_place(const struct evidence *e, uint32_t device)
{
	const struct side *side = e->side;
	const struct device_result *d = &side->devices[device];
	const char *who = say_rank(side, device, e->arena);
	bool gpus = false;
	uint32_t host = 0;
	for (uint32_t i = 0; i < side->ranks.n; i++) {
		gpus = gpus || side->devices[i].ordinal != d->ordinal;
		host = side->ranks.list[i].device == device ? side->ranks.list[i].host : host;
	}
	gpus = gpus && d->rank >= 0; /* else it is what the rank is called already */
	return host && gpus ? arena_format(e->arena, "%s (host %u, GPU %u)", who, host, d->ordinal)
	       : host       ? arena_format(e->arena, "%s (host %u)", who, host)
	       : gpus       ? arena_format(e->arena, "%s (GPU %u)", who, d->ordinal)
	                    : who;
}

/* When the straggler is late, where that is not always: ", every 7th step". */
static const char *say_when(const struct evidence *e, const struct straggler *s)
{
	if (s->every)
		return arena_format(e->arena, ", every %s step", say_ordinal(e->arena, s->every));
	return s->late ? arena_format(e->arena, ", in %u of %u steps", s->late, s->steps) : "";
}

const char *tell_straggler(const struct evidence *e)
{
	const struct straggler *s = &e->side->ranks.straggler;
	const char *who = s->kind == STRAGGLER_NONE ? "" : say_place(e, s->device);
	if (s->kind == STRAGGLER_NONE && !e->side->ranks.known)
		return tell_unmatched(e);
	const char *for_whom =
		s->kind == STRAGGLER_NONE ? tell_least(e)
		: s->kind == STRAGGLER_TURNS
			? arena_format(e->arena, "several are waited for, and %.0f %% of the waiting is for %s",
	                               100 * s->share, who)
		: s->kind == STRAGGLER_SCHEDULE
			? arena_format(
				  e->arena,
				  "%.0f %% of the waiting is for %s, which has not so much more to do in a step than "
				  "the others: they do it at different times, as stages of a pipeline do",
				  100 * s->share, who)
			: arena_format(e->arena, "%.0f %% of the waiting is for %s%s", 100 * s->share, who,
	                               say_when(e, s));
	return arena_format(e->arena,
	                    "Devices wait for the %s one in their collectives: %s ms %s in the mean (%.1f %%); "
	                    "%s.%s",
	                    s->kind == STRAGGLER_PERSISTENT ? "slowest" : "last", rule_ms(e, "cost"), rule_a_step(e),
	                    rule_share(e, "cost"), for_whom, s->kind == STRAGGLER_PERSISTENT ? reason_of(e, s) : "");
}

const char *advise_straggler(const struct evidence *e)
{
	(void)e;
	return "Balance the work: equal batches and sequence lengths, the same input speed on every rank.";
}

/* The rank that waits longest in sends and receives. */
static const struct rank_result *most_bubbles(const struct ranks_result *ranks)
{
	const struct rank_result *most = ranks->n ? &ranks->list[0] : NULL;
	for (uint32_t i = 1; i < ranks->n; i++)
		most = ranks->list[i].bubble > most->bubble ? &ranks->list[i] : most;
	return most;
}

static bool fits_bubble(const struct cell_key *idle)
{
	return idle->cause == CAUSE_BUBBLE;
}

void find_bubbles(struct evidence *e)
{
	const struct rank_result *most = most_bubbles(&e->side->ranks);
	rule_claim(e, fits_bubble);
	rule_note(e, "ranks", FINDING_COUNT, e->side->ranks.n);
	rule_note(e, "longest", FINDING_TIME, most ? most->bubble : 0);
	rule_costs(e, 0, SMALL);
}

const char *tell_bubbles(const struct evidence *e)
{
	const struct rank_result *most = most_bubbles(&e->side->ranks);
	const char *partner = "", *longest = "";
	if (most && most->partner != TRACE_NONE)
		partner = arena_format(e->arena, ", mostly for %s", say_rank(e->side, most->partner, e->arena));
	if (most)
		longest = arena_format(e->arena, "; longest waits %s, %s ms%s",
		                       say_rank(e->side, most->device, e->arena), rule_ms(e, "longest"), partner);
	return arena_format(e->arena,
	                    "GPUs wait in sends and receives until the other rank gets there, with nothing else to "
	                    "run: %s ms %s in the mean (%.1f %%)%s.",
	                    rule_ms(e, "cost"), rule_a_step(e), rule_share(e, "cost"), longest);
}

const char *advise_bubbles(const struct evidence *e)
{
	(void)e;
	return "Make stages equally long, and microbatches more and smaller; schedules that alternate forward and "
	       "backward, or give a rank several stages, leave fewer bubbles.";
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

static bool is_tiny(const struct evidence *e)
{
	return rule_value(e, "tiny") >= MANY_TINY && rule_value(e, "tiny_time") >= MOSTLY_TINY * rule_value(e, "cost");
}

void find_gpu_bound(struct evidence *e)
{
	const struct budget *b = &e->side->budget;
	double time, tiny = count_tiny(e->side, &time);
	e->amount = b->compute;
	rule_note(e, "cost", FINDING_TIME, b->compute);
	rule_note(e, "period", FINDING_TIME, b->period);
	rule_note(e, "tiny", FINDING_COUNT, tiny);
	rule_note(e, "tiny_time", FINDING_TIME, time);
	if (b->compute >= 0.9 * b->period)
		e->per_step = b->compute;
}

const char *tell_gpu_bound(const struct evidence *e)
{
	const char *text = arena_format(
		e->arena,
		"Kernels run for %s of %s ms %s (%.0f %%): the GPU is the bottleneck, and nothing around it "
		"can make this much faster.",
		rule_ms(e, "cost"), rule_ms(e, "period"), rule_a_step(e), rule_share(e, "cost"));
	if (!is_tiny(e))
		return text;
	return arena_format(e->arena, "%s %.0f kernels of at most %.0f µs take %s ms of it.", text,
	                    rule_value(e, "tiny"), TINY / 1e3, rule_ms(e, "tiny_time"));
}

const char *advise_gpu_bound(const struct evidence *e)
{
	if (is_tiny(e))
		return "Fuse the short kernels, or compile the model (torch.compile): each reads and writes memory for "
		       "little work.";
	return ncu_is_amd(e->facts->runs[0].trace)
	               ? "Go to the kernels: precision, fusion, memory access (rocprof-compute)."
	               : "Go to the kernels: precision, fusion, memory access (Nsight Compute).";
}
