#include "charge/work_phases.h"

#include "base/list.h"
#include "charge/parts_open.h"
#include "steps/op_names.h"

static void add_phased(const struct run *run, double *all, double *in)
{
	const struct trace *t = run->trace;
	for (size_t i = 0; i < t->ops.n; i++) {
		double time = (double)(t->ops.end[i] - t->ops.start[i]);
		*all += time;
		*in += run->phases.of_op[i] ? time : 0;
	}
}

bool work_phases_wanted(const struct run *run)
{
	double all = 0, in = 0;
	if (!run->fold.n_list)
		return true;
	for (uint32_t i = 0; i < run->parts->n; i++) {
		ARENA_LOCAL(scratch);
		add_phased(parts_open(run, i, &scratch), &all, &in);
	}
	return in * 2 < all;
}

/* Where the phase of such an op is noted. */
static uint32_t *phase_of(const struct run *run, const struct work_kind *op)
{
	return op->kind == OP_KERNEL ? &run->phases.work_name[op->name] : &run->phases.work_kind[work_kind_number(op)];
}

/* Shows `note` the kinds of the run's ops, some of them more than once. */
static void each_kind(struct run *run, void (*note)(struct run *run, struct work_kind *op))
{
	for (uint32_t i = 0; i < run->parts->n; i++) {
		struct work_kinds *kinds = &run->parts->kinds[i];
		ARENA_LOCAL(scratch);
		if (!kinds->n)
			*kinds = work_kinds_of(parts_rows(run, i, 1u << ROWS_OF_OPS, &scratch), run->arena);
		for (uint32_t k = 0; k < kinds->n; k++)
			note(run, &kinds->list[k]);
	}
}

static void name_kind(struct run *run, struct work_kind *op)
{
	ARENA_LOCAL(scratch);
	const struct trace one = {
		.names = run->trace->names,
		.ops = {.n = 1, .name = &op->name, .kind = &op->kind, .copy = &op->copy, .flags = &op->flags}};
	uint32_t *phase = phase_of(run, op);
	if (!*phase)
		*phase = names_add_text(one.names, op_words_kind(&one, 0, &scratch));
}

void work_phases_name(struct run *run)
{
	run->phases.work_name = ARENA_NEW(run->arena, run->trace->names->n, uint32_t);
	run->phases.work_kind = ARENA_NEW(run->arena, WORK_KINDS, uint32_t);
	each_kind(run, name_kind);
}

/* By call: the phase of what it launched first; 0: nothing. */
static uint32_t *launched_by(const struct run *run, struct arena *scratch)
{
	const struct trace *t = run->trace;
	uint32_t *phase = ARENA_NEW(scratch, t->calls.n + 1, uint32_t);
	for (size_t i = t->ops.n; i-- > 0;)
		if (t->ops.launch[i] != TRACE_NONE) {
			const struct work_kind op = work_kind_at(&t->ops, i);
			phase[t->ops.launch[i]] = *phase_of(run, &op);
		}
	return phase;
}

/* The track of a thread: a piece for launches of one phase that follow each other, from the end of the launch before
 * them to their own last one's end. */
static void make_track(const struct run *run, uint32_t thread, const uint32_t *launched, struct track *out)
{
	const struct trace *t = run->trace;
	for (int pass = 0; pass < 2; pass++) {
		uint32_t n = 0, before = 0;
		int64_t until = INT64_MIN;
		for (uint32_t c = t->first_call[thread]; c < t->first_call[thread + 1]; c++) {
			if (!launched[c])
				continue;
			if (launched[c] != before || !n) {
				if (pass) {
					out->start[n] = until;
					out->value[n] = launched[c];
				}
				n++;
				before = launched[c];
			}
			until = t->calls.end[c] > until ? t->calls.end[c] : until;
		}
		if (pass) {
			out->start[n] = until;
			out->value[n] = 0; /* nothing follows */
			out->n = n + 1;
		} else {
			out->start = ARENA_NEW(run->arena, n + 1, int64_t);
			out->value = ARENA_NEW(run->arena, n + 1, uint32_t);
		}
	}
}

void work_phases_of_part(struct run *run)
{
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	const uint32_t *launched = launched_by(run, &scratch);
	struct track *tracks = ARENA_NEW(run->arena, t->n_threads, struct track);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		make_track(run, thread, launched, &tracks[thread]);
	run->charge->activity.phases = tracks;
	run->charge->activity.by_work = true;
	for (size_t i = 0; i < t->ops.n; i++) {
		const struct work_kind op = work_kind_at(&t->ops, i);
		run->phases.of_op[i] = run->phases.of_name[*phase_of(run, &op)];
	}
}

static void add_phase(struct run *run, struct work_kind *op)
{
	uint32_t name = *phase_of(run, op);
	if (run->phases.of_name[name])
		return;
	run->phases.of_name[name] = run->phases.n;
	LIST_PUT(run->arena, run->phases.names, run->phases.n, name);
}

void work_phases_apply(struct run *run)
{
	run->phases.by_work = true;
	run->phases.of_name = ARENA_NEW(run->arena, run->trace->names->n, uint32_t);
	run->phases.names = ARENA_NEW(run->arena, 1, uint32_t);
	run->phases.n = 1; /* phase 0: none */
	each_kind(run, add_phase);
}
