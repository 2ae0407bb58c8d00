/* What copies to the device bring: a step's input, or what the host made of what it read back. */
#include "charge/idle.h"

#include "trace/classify.h"

#include <string.h>

enum {
	INPUT_PART = 20,   /* a good part of a step's input is one in so many, … */
	INPUT_BYTES = 1024 /* … and no less than so many bytes */
};

int64_t brought_least(const struct run *run, const struct device_run *d)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct trace_device *device = &run->trace->devices[d->device];
	int64_t all = 0, largest = 0;
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		if (ops->kind[i] != OP_COPY || ops->copy[i] != COPY_H2D || ops->start[i] < run->window.start ||
		    ops->start[i] >= run->window.end || run_pauses(run, ops->start[i]))
			continue;
		all += ops->bytes[i];
		largest = ops->bytes[i] > largest ? ops->bytes[i] : largest;
	}
	int64_t part = (run->steps.found ? all / run->window.n_steps : largest) / INPUT_PART;
	return part > INPUT_BYTES ? part : INPUT_BYTES;
}

int64_t brought_bytes(const struct run *run, const struct device_run *d, uint32_t op, int64_t least)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct trace_device *device = &run->trace->devices[d->device];
	int64_t bytes = 0;
	for (uint32_t i = op; i < device->first_op + device->n_ops && bytes < least; i++) {
		if (ops->kind[i] == OP_MEMSET && i > op)
			continue;
		if (ops->kind[i] != OP_COPY || ops->copy[i] != COPY_H2D)
			break;
		bytes += ops->bytes[i];
	}
	return bytes >= least ? bytes : 0;
}

int64_t *brought_back(const struct run *run, const struct device_run *d, struct arena *arena)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct trace_device *device = &run->trace->devices[d->device];
	const bool unmarked = run->steps.origin == STEPS_BY_PATTERN ||
	                      strcmp(names_text(run->trace->names, run->steps.name), STEP_ADDED) == 0;
	int64_t *before = NULL, bytes = 0, last = 0, ended = 0;
	uint32_t step = TRACE_NONE;
	for (uint32_t k = 0; run->steps.op_step && k < device->n_ops; k++) {
		uint32_t i = device->first_op + k, of = run->steps.op_step[i];
		if (of != step && of != TRACE_NONE) {
			step = of;
			last = unmarked ? bytes : ended;
			bytes = 0;
		}
		if (!unmarked && ops->kind[i] == OP_KERNEL)
			last = 0;
		if (before)
			before[k] = last + bytes;
		if (ops->kind[i] != OP_COPY || ops->copy[i] != COPY_D2H) {
			ended = 0;
			continue;
		}
		before = before ? before : ARENA_NEW(arena, device->n_ops, int64_t);
		bytes += ops->bytes[i];
		ended += ops->bytes[i];
	}
	return before;
}

bool brought_ahead(const struct run *run, const struct device_run *d, uint32_t copy)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct trace_device *device = &run->trace->devices[d->device];
	for (uint32_t i = copy + 1; i < device->first_op + device->n_ops && ops->start[i] < ops->end[copy]; i++)
		if (ops->kind[i] == OP_KERNEL && ops->stream[i] != ops->stream[copy])
			return true;
	return false;
}
