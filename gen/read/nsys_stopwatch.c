/* Timed runs beside this one (capture/annotate.h). */
#include "base/list.h"
#include "read/nsys.h"

#include <stdlib.h>
#include <string.h>

struct row {
	struct trace_stopwatch run;
	const char *flaw;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_rows(const void *a, const void *b)
{
	const struct trace_stopwatch *x = &((const struct row *)a)->run, *y = &((const struct row *)b)->run;
	const int64_t key[][2] = {{x->start, y->start}, {x->time, y->time},         {x->process, y->process},
	                          {x->steps, y->steps}, {x->launches, y->launches}, {x->looked, y->looked}};
	for (size_t i = 0; i < sizeof key / sizeof *key; i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	int order = compare_texts(x->unused, y->unused);
	return order ? order : compare_texts(x->step, y->step);
}

/* A text of a row that is looked at when the scan is over. */
static const char *text_of(struct scan *s, int column, struct arena *arena)
{
	size_t n;
	const char *text = scan_text(s, column, &n);
	return text ? arena_copy(arena, text, n) : NULL;
}

int nsys_read_stopwatch(struct nsys *r)
{
	enum { START, TIME, STEPS, PROCESS, UNUSED, STEP, LAUNCHES, LOOKED, N };
	static const char *const columns[] = {"start",  "time", "steps",    "process",
	                                      "unused", "step", "launches", "looked"};
	struct scan s;
	if (nsys_scan(r, &s, "GAPLINE_STOPWATCH", columns, N) != 0)
		return -1;
	struct arena scratch = {0};
	struct row *rows = NULL;
	size_t n = 0, room = 0;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t steps = scan_int(&s, STEPS), launches = scan_int_or(&s, LAUNCHES, 0);
		const struct trace_stopwatch run = {
			.start = scan_int(&s, START),
			.time = scan_int_or(&s, TIME, 0),
			.process = scan_int(&s, PROCESS),
			.steps = (uint32_t)steps,
			.unused = text_of(&s, UNUSED, &scratch),
			.step = text_of(&s, STEP, &scratch),
			.launches = (uint32_t)launches,
			.looked = scan_int_or(&s, LOOKED, 0) != 0,
		};
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && (steps != run.steps || launches != run.launches))
			flaw = "has a number of steps or launches that makes no sense";
		LIST_GROW(&scratch, rows, n, room);
		rows[n++] = (struct row){run, flaw};
	}
	scan_close(&s);
	if (n)
		qsort(rows, n, sizeof *rows, compare_rows);
	for (size_t i = 0; i < n && more == 0; i++)
		build_stopwatch(&r->build, &rows[i].run, rows[i].flaw);
	arena_release(&scratch);
	return more;
}
