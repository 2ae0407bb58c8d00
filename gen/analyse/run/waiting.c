#include "analyse/run/waiting.h"

#include "trace/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct view {
	const struct run *run;
	struct arena scratch;
	struct collective_op *ops; /* those that can be matched */
	size_t n;
	const struct collective_op **of_device; /* those of one device, and those that cannot be matched */
	struct stretch *compute;
	struct collective_op *loose;
	int64_t *step_end; /* of the device at hand: by step */
	double *waited;    /* by measured step: exposed waiting, ns */
};

static const char *op_name(const struct trace *t, size_t i)
{
	return names_text(t->names, t->ops.name[i]);
}

static void find_ops(struct view *v)
{
	const struct trace *t = v->run->trace;
	size_t room = 0;
	for (size_t i = 0; i < t->ops.n; i++)
		room += t->ops.kind[i] == OP_COMM;
	v->ops = ARENA_NEW(&v->scratch, room, struct collective_op);
	uint8_t *known = ARENA_NEW(&v->scratch, t->names->n, uint8_t); /* by name: 1 synchronising, 2 not */
	for (uint32_t d = 0; d < v->run->n_devices; d++) {
		const struct trace_device *device = &t->devices[v->run->devices[d].device];
		for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
			uint32_t name = t->ops.name[i];
			if (t->ops.kind[i] != OP_COMM || t->ops.end[i] == t->ops.start[i])
				continue;
			if (!known[name])
				known[name] = classify_synchronising(op_name(t, i)) ? 1 : 2;
			if (known[name] == 1)
				v->ops[v->n++] = (struct collective_op){
					.start = t->ops.start[i],
					.end = t->ops.end[i],
					.launched = op_launch_start(t, i),
					.rank = d,
					.step = v->run->steps.found ? v->run->steps.op_step[i] : 0,
					.key = name};
		}
	}
}

/* How far two ranks' times may be apart although they are the same, ns; negative: so far that they say nothing. Files
 * of one run whose hosts are not known count as of one host. */
static int64_t find_tolerance(const struct run *run)
{
	enum { ONE_HOST = 2000 /* ns: GPUs of one host, by their profilers */ };
	static const double NEAR = 100e3; /* ns: farther apart, kernels' lengths tell more than their starts */
	const struct trace *t = run->trace;
	uint64_t first = 0;
	bool several = false;
	double within = 0;
	for (uint32_t d = 0; d < run->n_devices; d++) {
		uint64_t host = t->processes[t->devices[run->devices[d].device].process].host;
		several = several || (host && first && host != first);
		first = first ? first : host;
	}
	for (uint32_t c = 0; c < t->n_clocks; c++) {
		within = fmax(within, t->clocks[c].known ? t->clocks[c].within : INFINITY);
	}
	return !several ? ONE_HOST : t->n_clocks && within <= NEAR ? ONE_HOST + llround(2 * within) : -1;
}

/* When each step of the device ended. */
static void find_step_ends(struct view *v, uint32_t d)
{
	const struct run *run = v->run;
	const struct trace_device *device = &run->trace->devices[run->devices[d].device];
	for (uint32_t k = 0; k < run->steps.n; k++)
		v->step_end[k] = INT64_MIN;
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		uint32_t k = run->steps.op_step[i];
		if (k != TRACE_NONE && run->trace->ops.end[i] > v->step_end[k])
			v->step_end[k] = run->trace->ops.end[i];
	}
	for (uint32_t k = 1; k < run->steps.n; k++)
		if (v->step_end[k] < v->step_end[k - 1])
			v->step_end[k] = v->step_end[k - 1];
	for (uint32_t k = run->steps.n; k-- > 0;) /* a device whose work begins later */
		if (v->step_end[k] == INT64_MIN)
			v->step_end[k] = k + 1 < run->steps.n ? v->step_end[k + 1] : run->window_start;
}

static void add_wait(void *context, const struct stretch *wait)
{
	struct view *v = context;
	const struct run *run = v->run;
	uint32_t k = run->warmup, high = run->steps.n;
	while (k < high) { /* the first step that ends after the wait begins */
		uint32_t middle = k + (high - k) / 2;
		if (v->step_end[middle] <= wait->start)
			k = middle + 1;
		else
			high = middle;
	}
	for (int64_t at = wait->start; k < run->steps.n && at < wait->end; k++) {
		int64_t end = v->step_end[k] < wait->end ? v->step_end[k] : wait->end;
		int64_t start = at > v->step_end[k - 1] ? at : v->step_end[k - 1];
		if (end > start)
			v->waited[k - run->warmup] += (double)(end - start);
		at = end > at ? end : at;
	}
}

static void divide(struct view *v, uint32_t d, const uint32_t *first_of, struct arena *arena,
                   struct device_waiting *out)
{
	const struct run *run = v->run;
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->devices[d].device];
	size_t n_compute = 0, n_loose = 0, n = 0;
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		enum op_kind kind = (enum op_kind)t->ops.kind[i];
		if (kind == OP_KERNEL || kind == OP_GRAPH)
			v->compute[n_compute++] = (struct stretch){t->ops.start[i], t->ops.end[i]};
		else if (kind == OP_COMM && !classify_synchronising(op_name(t, i)))
			v->loose[n_loose++] = (struct collective_op){
				.start = t->ops.start[i], .end = t->ops.end[i], .arrived = t->ops.start[i]};
	}
	for (size_t i = 0; i < n_loose; i++)
		v->of_device[n++] = &v->loose[i];
	for (uint32_t i = first_of[d]; i < first_of[d + 1]; i++)
		v->of_device[n++] = &v->ops[i];
	if (run->steps.found) {
		find_step_ends(v, d);
		memset(v->waited, 0, run->n_steps * sizeof *v->waited);
	}
	out->parts = collectives_divide(v->of_device, n, v->compute, n_compute, run->window_start, run->window_end,
	                                run->steps.found ? add_wait : NULL, v);
	out->own = (double)(run->window_end - run->window_start - out->parts.waiting);
	if (!run->steps.found)
		return;
	out->step = ARENA_NEW(arena, run->n_steps, double);
	out->own = 0;
	for (uint32_t i = 0; i < run->n_steps; i++) {
		uint32_t k = run->warmup + i;
		out->step[i] = (double)(v->step_end[k] - v->step_end[k - 1]) - v->waited[i];
		out->own += out->step[i] / run->n_steps;
	}
}

static int compare_rank(const void *a, const void *b)
{
	const struct collective_op *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void waiting_find(const struct run *run, struct arena *arena, struct waiting *out)
{
	const struct trace *t = run->trace;
	struct view v = {.run = run};
	struct collectives collectives;
	*out = (struct waiting){.device = ARENA_NEW(arena, run->n_devices, struct device_waiting),
	                        .tolerance = find_tolerance(run)};
	bool one_clock = out->tolerance >= 0;
	find_ops(&v);
	collectives_match(v.ops, v.n, run->n_devices, one_clock, out->tolerance, &v.scratch, &collectives);
	for (size_t i = 0; i < collectives.n; i++) {
		const struct collective *c = &collectives.list[i];
		if (c->entered < run->window_start || c->entered >= run->window_end)
			continue;
		out->n_collectives++;
		out->device[c->last].last++;
		out->device[c->last].waited_for += (double)c->waited;
	}
	if (v.n)
		qsort(v.ops, v.n, sizeof *v.ops, compare_rank);
	uint32_t most = 0, *first_of = ARENA_NEW(&v.scratch, run->n_devices + 1, uint32_t);
	for (size_t i = 0; i < v.n; i++)
		first_of[v.ops[i].rank + 1]++;
	for (uint32_t d = 0; d < run->n_devices; d++) {
		first_of[d + 1] += first_of[d];
		uint32_t n = t->devices[run->devices[d].device].n_ops;
		most = n > most ? n : most;
	}
	v.of_device = ARENA_NEW(&v.scratch, most, const struct collective_op *);
	v.loose = ARENA_NEW(&v.scratch, most, struct collective_op);
	v.compute = ARENA_NEW(&v.scratch, most, struct stretch);
	v.step_end = ARENA_NEW(&v.scratch, run->steps.n, int64_t);
	v.waited = ARENA_NEW(&v.scratch, run->n_steps, double);
	for (uint32_t d = 0; d < run->n_devices; d++)
		divide(&v, d, first_of, arena, &out->device[d]);
	arena_release(&v.scratch);
}
