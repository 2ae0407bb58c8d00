#include "analyse/run/work_phases.h"

#include "analyse/run/op_words.h"
#include "base/list.h"

bool work_phases_wanted(const struct run *run)
{
	const struct trace *t = run->trace;
	double all = 0, in = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		double time = (double)(t->ops.end[i] - t->ops.start[i]);
		all += time;
		in += run->op_phase[i] ? time : 0;
	}
	return in * 2 < all;
}

enum { KINDS = (OP_MEMSET + 1) * 32 };

/* Where the phase of op `i` is noted: kernels by name, the rest by what it is. */
static uint32_t *phase_of(const struct run *run, size_t i)
{
	const struct trace_ops *ops = &run->trace->ops;
	if (ops->kind[i] == OP_KERNEL)
		return &run->work_name[ops->name[i]];
	bool managed = ops->flags[i] & OPF_MANAGED;
	return &run->work_kind[ops->kind[i] * 32 + (ops->copy[i] & 15) * 2 + managed];
}

void work_phases_name(struct run *run)
{
	const struct trace *t = run->trace;
	struct arena scratch = {0};
	run->work_name = ARENA_NEW(run->arena, t->names->n, uint32_t);
	run->work_kind = ARENA_NEW(run->arena, KINDS, uint32_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t *phase = phase_of(run, i);
		if (!*phase)
			*phase = names_add_text(t->names, op_words_kind(t, i, &scratch));
	}
	arena_release(&scratch);
}

/* By call: the phase of what it launched first; 0: nothing. */
static uint32_t *launched_by(const struct run *run, struct arena *scratch)
{
	const struct trace *t = run->trace;
	uint32_t *phase = ARENA_NEW(scratch, t->calls.n + 1, uint32_t);
	for (size_t i = t->ops.n; i-- > 0;)
		if (t->ops.launch[i] != TRACE_NONE)
			phase[t->ops.launch[i]] = *phase_of(run, i);
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

void work_phases_apply(struct run *run)
{
	const struct trace *t = run->trace;
	struct arena scratch = {0};
	const uint32_t *launched = launched_by(run, &scratch);
	struct track *tracks = ARENA_NEW(run->arena, t->n_threads, struct track);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		make_track(run, thread, launched, &tracks[thread]);
	run->activity.phases = tracks;
	run->activity.by_work = true;
	run->by_work = true;
	run->phase_of_name = ARENA_NEW(run->arena, t->names->n, uint32_t);
	run->phases = NULL;
	run->n_phases = 0;
	size_t room = 0, n = 0;
	LIST_GROW(run->arena, run->phases, n, room);
	run->phases[n++] = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t name = *phase_of(run, i);
		if (!run->phase_of_name[name]) {
			LIST_GROW(run->arena, run->phases, n, room);
			run->phase_of_name[name] = (uint32_t)n;
			run->phases[n++] = name;
		}
		run->op_phase[i] = run->phase_of_name[name];
	}
	run->n_phases = (uint32_t)n;
	arena_release(&scratch);
}
