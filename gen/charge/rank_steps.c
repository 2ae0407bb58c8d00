#include "charge/rank_steps.h"

#include "base/numbers.h"

bool rank_steps_marked(const struct run *run, uint32_t d)
{
	uint32_t process = run->trace->devices[run->charge->devices[d].device].process;
	return !run->steps.found || steps_of_process(&run->steps, process);
}

/* When each step of device `d` (an index into charge.devices) ended. */
static void find_ends(const struct run *run, uint32_t d, int64_t *end)
{
	const struct trace_device *device = &run->trace->devices[run->charge->devices[d].device];
	for (uint32_t k = 0; k < run->steps.n; k++)
		end[k] = INT64_MIN;
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		uint32_t k = run->steps.op_step[i];
		if (k != TRACE_NONE && run->trace->ops.end[i] > end[k])
			end[k] = run->trace->ops.end[i];
	}
	for (uint32_t k = 1; k < run->steps.n; k++)
		if (end[k] < end[k - 1])
			end[k] = end[k - 1];
	for (uint32_t k = run->steps.n; k-- > 0;) /* a device whose work begins later */
		if (end[k] == INT64_MIN)
			end[k] = k + 1 < run->steps.n ? end[k + 1] : run->window.start;
}

/* From the first to the last: where several run, the first counts. */
static enum rank_part part_of(enum op_kind kind)
{
	return kind == OP_KERNEL || kind == OP_GRAPH ? RANK_COMPUTE : kind == OP_COMM ? RANK_MOVING : RANK_COPY;
}

void rank_steps_divide(const struct run *run, uint32_t d, const int64_t *end, double *const part[RANK_PARTS])
{
	static const enum rank_part busy[] = {RANK_COMPUTE, RANK_MOVING, RANK_COPY};
	enum { BUSY = sizeof busy / sizeof *busy };
	const struct trace *t = run->trace;
	const struct trace_device *device = &t->devices[run->charge->devices[d].device];
	uint32_t k = run->window.warmup, last = run->steps.n - 1;
	int64_t now = end[k - 1], until[RANK_PARTS]; /* how far the ops of a part reach that began so far */
	for (int p = 0; p < RANK_PARTS; p++)
		until[p] = INT64_MIN;
	for (uint32_t i = device->first_op; i <= device->first_op + device->n_ops; i++) {
		bool is_op = i < device->first_op + device->n_ops;
		int64_t next = is_op && t->ops.start[i] < end[last] ? t->ops.start[i] : end[last];
		while (now < next) {
			int64_t to = next;
			enum rank_part p = RANK_IDLE;
			for (int b = BUSY; b-- > 0;)
				p = until[busy[b]] > now ? busy[b] : p;
			to = p != RANK_IDLE && until[p] < to ? until[p] : to;
			while (end[k] <= now)
				k++;
			to = end[k] < to ? end[k] : to;
			if (part[p])
				part[p][k - run->window.warmup] += (double)(to - now);
			now = to;
		}
		if (is_op) {
			enum rank_part p = part_of((enum op_kind)t->ops.kind[i]);
			until[p] = t->ops.end[i] > until[p] ? t->ops.end[i] : until[p];
		}
	}
}

/* What is kept of it; waiting is found later, and idle time is the rest. */
static bool is_kept(int part)
{
	return part != RANK_WAITING && part != RANK_IDLE;
}

void rank_steps_keep(const struct run *run, const struct run *part, uint32_t d, struct device_run *out)
{
	ARENA_LOCAL(scratch);
	BUF_LOCAL(bytes);
	int64_t *end = ARENA_TAKE(&scratch, run->steps.n, int64_t);
	double *ns[RANK_PARTS] = {NULL};
	for (int p = 0; p < RANK_PARTS; p++)
		ns[p] = is_kept(p) ? ARENA_NEW(&scratch, run->window.n_steps, double) : NULL;
	find_ends(part, d, end);
	rank_steps_divide(part, d, end, ns);
	for (uint32_t k = 0; k < run->steps.n; k++)
		number_put_signed(&bytes, end[k] - (k ? end[k - 1] : 0));
	for (int p = 0; p < RANK_PARTS; p++)
		for (uint32_t k = 0; ns[p] && k < run->window.n_steps; k++)
			number_put(&bytes, (uint64_t)ns[p][k]); /* whole nanoseconds */
	out->own_steps = arena_keep(run->arena, bytes.data, bytes.n, 1);
	out->own_steps_bytes = bytes.n;
}

void rank_steps_kept(const struct run *run, const struct device_run *device, int64_t *end, double *const *part)
{
	struct taken bytes = number_open(device->own_steps, device->own_steps_bytes);
	for (uint32_t k = 0; k < run->steps.n; k++)
		end[k] = (k ? end[k - 1] : 0) + number_take_signed(&bytes);
	for (int p = 0; part && p < RANK_PARTS; p++)
		for (uint32_t k = 0; is_kept(p) && k < run->window.n_steps; k++)
			part[p][k] = (double)number_take(&bytes);
}
