/* What samples of threads say, while a trace is built. */
#include "trace/build.h"

/* True when the row can be used, which is counted either way. */
static bool usable(struct build *b, const char *flaw, int64_t time)
{
	flaw = flaw ? flaw : build_time_flaw(time, time, false);
	if (flaw)
		build_drop(b, ROWS_SAMPLES, flaw);
	else
		b->trace->rows[ROWS_SAMPLES].read++;
	return !flaw;
}

uint32_t build_stack(struct build *b, const struct build_frame *frames, size_t n)
{
	uint32_t frame = 0;
	bool fits = true;
	for (size_t i = 0; i < n && fits; i++) {
		const struct build_frame *f = &frames[i];
		uint32_t name = f->unresolved ? TRACE_NONE : keymap_add(&b->strings, f->name);
		fits = stack_samples_enter(&b->samples, &frame, name, keymap_add(&b->strings, f->module));
	}
	return frame;
}

void build_host_sample(struct build *b, const struct build_host_sample *row)
{
	if (!usable(b, row->flaw, row->time))
		return;
	stack_samples_note(&b->samples, row->time, keymap_add(&b->scheduled, row->thread), row->stack);
}

void build_gil(struct build *b, const struct build_gil *row)
{
	if (!usable(b, row->flaw, row->time))
		return;
	uint32_t holder = TRACE_NONE;
	if (row->waits && row->holder.key) { /* whoever is waited for is listed, whatever else is known of it */
		build_thread_index(b, &row->holder);
		holder = keymap_add(&b->scheduled, row->holder.key);
	}
	gil_note(&b->gil, b->arena,
	         &(struct gil_look){row->time, keymap_add(&b->scheduled, row->thread), holder, row->stack,
	                            row->switches, row->waits});
}
