#include "side/side_rows.h"

#include "base/sort.h"

#include <string.h>

/* Keys of the words "peak_unknown". */
static const char *const why[] = {
	[MEMORY_NOT_SEEN] = "not_seen", [MEMORY_EARLIER] = "earlier",   [MEMORY_NO_PLACE] = "no_place",
	[MEMORY_DAMAGED] = "damaged",   [MEMORY_NO_START] = "no_start", [MEMORY_NO_END] = "no_end"};
static const char MIXED[] = "mixed", NO_STEPS[] = "no_steps", WHOLE_RUN[] = "whole_run", NO_LEVELS[] = "no_levels";

/* Parts whose ranges differ in a number alone stay apart: they are few, and each is true. */
static void take_peak(const struct run *run, const struct trace_device *device, struct side_memory *out)
{
	out->peak = device->memory_peak;
	memcpy(out->operators, device->held[HELD_BY_OPERATOR], sizeof out->operators);
	for (int k = 0; k < HELD_MOST; k++) {
		struct trace_held *held = &out->held[k];
		*held = device->held[HELD_BY_RANGE][k];
		if (held->name && held->name < run->fold.n)
			held->name = run->fold.of[held->name];
	}
}

void memory_note(struct run *run, const struct run *part)
{
	const struct trace *t = part->trace;
	const struct steps *s = &part->steps;
	size_t row = 0;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		run->rows.unheld = run->rows.unheld || row == t->levels.n || t->levels.device[row] != d;
		while (row < t->levels.n && t->levels.device[row] == d)
			row++;
	}
	if (run->rows.unheld || !s->found)
		return;
	if (!run->rows.held)
		run->rows.held = ARENA_NEW(run->arena, run->steps.n, int64_t);
	for (uint32_t m = 0; m < s->n_threads; m++) {
		const struct step_thread *thread = &s->threads[m];
		for (uint32_t k = 0; k < thread->n; k++) {
			if (thread->step[k] == TRACE_NONE)
				continue;
			/* marks say when a step ends; of one that is found by its launches, only the next one does */
			int64_t end = s->by_op && k + 1 < thread->n ? thread->start[k + 1] : thread->end[k];
			int64_t *step = &run->rows.held[thread->step[k]];
			int64_t most = held_most(t, thread->process, thread->start[k], end);
			*step = most > *step ? most : *step;
		}
	}
}

/* Steps that were found have no peaks where nothing says how much there was over time. */
static const char *steps_unknown(const struct run *run, bool allocator)
{
	if (!run->steps.found)
		return NO_STEPS;
	return run->rows.held && !run->rows.unheld ? NULL : allocator ? WHOLE_RUN : NO_LEVELS;
}

/* Known where it is of all runs. */
static void take_steps(const struct run *runs, size_t n, struct side_memory *out)
{
	ARENA_LOCAL(scratch);
	size_t all = 0, steps = 0;
	for (size_t r = 0; r < n; r++) {
		out->steps_why = out->steps_why ?: steps_unknown(&runs[r], out->allocator);
		all += runs[r].window.n_steps;
	}
	double *most = ARENA_NEW(&scratch, all, double);
	for (size_t r = 0; r < n && !out->steps_why; r++)
		for (uint32_t k = runs[r].window.warmup; k < runs[r].steps.n; k++) {
			const int64_t held = runs[r].rows.held[k];
			most[steps++] = (double)held;
			out->step_most = held > out->step_most ? held : out->step_most;
		}
	out->n_steps = (uint32_t)steps;
	out->step_median = steps ? (int64_t)sort_median(most, steps) : 0;
}

struct side_memory memory_build(const struct run *runs, size_t n)
{
	struct side_memory out = {.known = n > 0};
	bool of[2] = {false, false};
	for (size_t r = 0; r < n; r++)
		for (uint32_t d = 0; d < runs[r].trace->n_devices; d++) {
			const struct trace_device *device = &runs[r].trace->devices[d];
			if (device->memory == MEMORY_SEEN || device->memory == MEMORY_ALLOCATOR) {
				of[device->memory == MEMORY_ALLOCATOR] = true;
				if (device->memory_peak > out.peak)
					take_peak(&runs[r], device, &out);
			} else if (out.known) {
				out.known = false;
				out.why = why[device->memory];
			}
		}
	if (out.known && of[0] && of[1])
		out = (struct side_memory){.why = MIXED};
	out.allocator = out.known && of[1];
	if (!out.known)
		out = (struct side_memory){.why = out.why, .steps_why = out.why};
	else
		take_steps(runs, n, &out);
	return out;
}
