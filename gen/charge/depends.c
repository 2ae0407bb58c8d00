#include "charge/idle.h"

#include <string.h>

/* Calls that make a stream wait for what the trace does not order: an event, a value in memory, a function on the
 * host. */
static bool makes_wait(const char *call)
{
	static const char *const words[] = {"StreamWaitEvent",  "StreamWaitValue", "WaitExternalSemaphores",
	                                    "StreamBatchMemOp", "LaunchHostFunc",  "StreamAddCallback"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strstr(call, words[i]))
			return true;
	return false;
}

void depends_find(struct run *run)
{
	const struct trace *t = run->trace;
	ARENA_LOCAL(scratch);
	uint32_t *stream = ARENA_NEW(&scratch, t->n_processes, uint32_t),
		 *device = ARENA_NEW(&scratch, t->n_processes, uint32_t);
	uint8_t *waits = ARENA_NEW(&scratch, t->names->n, uint8_t); /* by name: 0 not looked at, 1 no, 2 yes */
	bool *seen = ARENA_NEW(&scratch, t->n_processes, bool);
	uint32_t left = t->n_processes; /* of which it is not known that they can */
	run->charge->can_depend = ARENA_NEW(run->arena, t->n_processes, bool);
	for (size_t i = 0; i < t->ops.n && left; i++) {
		uint32_t p = op_process(t, i);
		if (run->charge->can_depend[p] || t->ops.flags[i] & OPF_MANAGED)
			continue;
		if (seen[p] && (stream[p] != t->ops.stream[i] || device[p] != t->ops.device[i])) {
			run->charge->can_depend[p] = true;
			left--;
		}
		seen[p] = true;
		stream[p] = t->ops.stream[i];
		device[p] = t->ops.device[i];
	}
	for (size_t i = 0; i < t->calls.n && left; i++) {
		uint8_t *known = &waits[t->calls.name[i]];
		if (!*known)
			*known = makes_wait(names_text(t->names, t->calls.name[i])) ? 2 : 1;
		if (*known == 2)
			run->charge->can_depend[t->threads[t->calls.thread[i]].process] = true;
	}
}
