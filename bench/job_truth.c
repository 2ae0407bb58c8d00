#include "job_truth.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 3000 }; /* ns: twice the median launch latency is below 3 µs in every job that is made here */

static void *grown(void *items, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return items;
	*room = *room ? 2 * *room : 1024;
	items = realloc(items, *room * size);
	if (!items)
		abort();
	return items;
}

void rank_begin(struct rank *r, int index, int64_t process, int64_t thread, int64_t now)
{
	*r = (struct rank){.index = index, .process = process, .thread = thread, .now = now, .busy_until = now};
}

void rank_end(struct rank *r)
{
	free(r->stretch);
	free(r->op);
}

void rank_host(struct rank *r, int64_t until, enum why why, bool sync)
{
	r->stretch = grown(r->stretch, r->n_stretches, &r->stretch_room, sizeof *r->stretch);
	r->stretch[r->n_stretches++] = (struct stretch){r->now, until, why, r->phase, sync};
	r->now = until;
}

struct op *rank_add(struct rank *r, const struct op *op)
{
	r->op = grown(r->op, r->n_ops, &r->op_room, sizeof *r->op);
	r->op[r->n_ops] = *op;
	return &r->op[r->n_ops++];
}

int64_t rank_gpu_done(const struct rank *r)
{
	int64_t last = 0;
	for (int w = 0; w < WORKS; w++)
		last = r->stream_free[w] > last ? r->stream_free[w] : last;
	return last;
}

/* ---- idle time ---- */

struct charge {
	const struct truth *truth;
	struct device_truth *device;
	enum opening opening;
};

static int64_t in_window(const struct truth *t, int64_t start, int64_t end)
{
	start = start > t->window_start ? start : t->window_start;
	end = end < t->window_end ? end : t->window_end;
	return end > start ? end - start : 0;
}

static void charge(const struct charge *c, enum why why, enum phase phase, int64_t start, int64_t end)
{
	int64_t ns = in_window(c->truth, start, end);
	c->device->row[why][phase][c->opening] += ns;
	c->device->cost[phase] += ns;
}

/* The stretch that contains `t`. */
static size_t stretch_at(const struct rank *r, int64_t t)
{
	size_t low = 0, high = r->n_stretches;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (r->stretch[middle].start <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Charges [start, end) to what the host did `shift` earlier. */
static void charge_host(const struct charge *c, const struct rank *r, int64_t start, int64_t end, int64_t shift)
{
	for (size_t i = stretch_at(r, start - shift); i < r->n_stretches && start < end; i++) {
		const struct stretch *s = &r->stretch[i];
		int64_t until = s->end + shift < end ? s->end + shift : end;
		charge(c, s->why, s->phase, start, until);
		start = until;
	}
}

static void charge_gap(struct truth *t, const struct rank *r, int64_t g0, const struct op *next)
{
	int64_t g1 = next->start, l1 = next->launch_end, latency = g1 - l1, waited = l1 > g0 ? l1 : g0;
	struct charge c = {t, &t->device[r->index], OPENING_WAITING};
	bool sync = r->stretch[stretch_at(r, g0)].sync;
	if (l1 > g0)
		c.opening = sync ? OPENING_SYNC : OPENING_DRY;
	c.device->idle += in_window(t, g0, g1);
	if (latency <= 0) {
		charge_host(&c, r, g0, g1, 0);
	} else if (latency <= LIMIT && !sync) {
		charge_host(&c, r, g0, g1, latency);
	} else {
		charge_host(&c, r, g0, waited, 0);
		charge(&c,
		       latency <= LIMIT   ? WHY_LAUNCH_LATENCY
		       : g1 - g0 <= LIMIT ? WHY_DISPATCH
		                          : WHY_DEPENDENCY,
		       next->phase, waited, g1);
	}
}

/* ---- busy time: one op of each kind of work runs at a time ---- */

static int by_start(const void *a, const void *b)
{
	const struct op *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->launch_start < y->launch_start ? -1 : 1;
}

static void add_busy(struct truth *t, struct device_truth *d, const struct op *const running[WORKS], int64_t start,
                     int64_t end)
{
	for (int w = 0; w < WORKS; w++)
		if (running[w] && running[w]->end > start) {
			int64_t ns = in_window(t, start, end);
			d->busy[w] += ns;
			d->cost[running[w]->phase] += ns;
			return;
		}
}

/* From `now` until `until`, in which nothing starts; returns when the device fell idle. */
static int64_t run_on(struct truth *t, struct device_truth *d, const struct op *const running[WORKS], int64_t now,
                      int64_t until)
{
	while (now < until) {
		int64_t next = until;
		bool busy = false;
		for (int w = 0; w < WORKS; w++)
			if (running[w] && running[w]->end > now) {
				busy = true;
				next = running[w]->end < next ? running[w]->end : next;
			}
		if (!busy)
			break;
		add_busy(t, d, running, now, next);
		now = next;
	}
	return now;
}

static void add_ops(struct truth *t, struct rank *r)
{
	struct device_truth *d = &t->device[r->index];
	const struct op *running[WORKS] = {0};
	qsort(r->op, r->n_ops, sizeof *r->op, by_start);
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct op *op = &r->op[i];
		r->busy_until = run_on(t, d, running, r->busy_until, op->start);
		if (r->busy_until < op->start)
			charge_gap(t, r, r->busy_until, op);
		r->busy_until = op->start;
		running[op->work] = op;
		int64_t from = op->start > r->covered[op->phase] ? op->start : r->covered[op->phase];
		if (op->end > from) {
			d->gpu[op->phase] += in_window(t, from, op->end);
			r->covered[op->phase] = op->end;
		}
	}
	r->busy_until = run_on(t, d, running, r->busy_until, INT64_MAX);
}

void truth_add_block(struct truth *t, struct rank *ranks, int first, int last)
{
	for (int p = 0; p < t->ranks; p++)
		for (size_t i = 0; i < ranks[p].n_ops; i++) {
			const struct op *op = &ranks[p].op[i];
			if (op->end > t->step_end[op->step])
				t->step_end[op->step] = op->end;
		}
	if (first < t->warmup && t->warmup <= last)
		t->window_start = t->step_end[t->warmup - 1];
	t->window_end = t->step_end[last - 1]; /* so far: nothing of this block is later */
	for (int p = 0; p < t->ranks; p++) {
		struct rank *r = &ranks[p];
		add_ops(t, r);
		/* the next block's first gap begins in this one's last call, or a little later */
		size_t keep = stretch_at(r, r->busy_until - LIMIT);
		r->n_stretches -= keep;
		memmove(r->stretch, r->stretch + keep, r->n_stretches * sizeof *r->stretch);
		r->n_ops = 0;
	}
}

void truth_finish(struct truth *t, struct rank *ranks)
{
	for (int p = 0; p < t->ranks; p++) {
		struct charge c = {t, &t->device[p], OPENING_DRY};
		c.device->idle += in_window(t, ranks[p].busy_until, t->window_end);
		charge(&c, WHY_UNATTRIBUTED, PHASE_NONE, ranks[p].busy_until, t->window_end);
	}
}
