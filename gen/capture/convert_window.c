/* Windows of collection: --delay, --duration, cudaProfilerStart and -Stop. A spool holds somewhat more than was asked
 * for (whole buffers); what becomes rows is exact: calls that began in a window, and what they launched, whenever that
 * ran. */
#include "base/list.h"
#include "base/search.h"
#include "capture/convert_parts.h"

enum { WHY_RANGE = 2 };

void convert_add_window(struct file *f, const struct spool_window *window)
{
	struct windows *w = &f->windows[window->why == WHY_RANGE];
	int64_t time = convert_time(f, (uint64_t)window->time);
	bool open = w->n > 0 && w->all[w->n - 1].end == INT64_MAX;
	if (open && !window->open)
		w->all[w->n - 1].end = time;
	if (open || (!window->open && w->n > 0))
		return; /* what is said twice says nothing new */
	LIST_GROW(&f->arena, w->all, w->n, w->room);
	/* An end that comes first: collection went on from the start. */
	w->all[w->n++] = window->open ? (struct interval){time, INT64_MAX} : (struct interval){INT64_MIN, time};
}

bool convert_limited(const struct file *f)
{
	return f->windows[0].n > 0 || f->windows[1].n > 0;
}

static bool in_one(const struct windows *w, int64_t time)
{
	size_t next = 0; /* the first window that begins later */
	SEARCH(next, w->n, w->all[next].start <= time);
	return w->n == 0 || (next > 0 && time < w->all[next - 1].end);
}

bool convert_in_window(const struct file *f, int64_t time)
{
	return in_one(&f->windows[0], time) && in_one(&f->windows[1], time);
}

void convert_scan_launches(struct file *f, const unsigned char *payload, size_t n)
{
	struct record_walk w = {.at = payload, .end = payload + n, .sizes = &f->sizes};
	int64_t start, end;
	while (record_next(&w) > 0)
		if ((w.kind == RECORD_RUNTIME || w.kind == RECORD_DRIVER) &&
		    convert_times(f, record_u64(w.record, CALL_START), record_u64(w.record, CALL_END), &start, &end) &&
		    convert_in_window(f, start))
			keymap_add(&f->launches, record_u32(w.record, CALL_CORRELATION));
}

bool convert_launched_in_window(const struct file *f, uint32_t correlation)
{
	return !convert_limited(f) || keymap_find(&f->launches, correlation) != UINT32_MAX;
}
