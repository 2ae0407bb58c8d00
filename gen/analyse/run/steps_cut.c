#include "analyse/run/steps_cut.h"

#include "base/list.h"

/* Launches without an op, in order of their start, of the threads that belong to step thread i: its own, and where no
 * other thread of the process has instances, those of all others. */
static int64_t *missing_of(struct steps_build *b, uint32_t i, const uint8_t *launched, size_t *n)
{
	const struct trace *t = b->trace;
	const struct step_thread *s = &b->out->threads[i];
	bool alone =
		(i == 0 || s[-1].process != s->process) && (i + 1 == b->out->n_threads || s[1].process != s->process);
	int64_t *start = NULL;
	size_t room = 0;
	*n = 0;
	for (uint32_t u = 0; u < t->n_threads; u++) {
		if (u != s->thread && (!alone || t->threads[u].process != s->process))
			continue;
		for (uint32_t c = t->first_call[u]; c < t->first_call[u + 1]; c++) {
			if (t->calls.class[c] != CALL_LAUNCH || launched[c])
				continue;
			LIST_GROW(&b->scratch, start, *n, room);
			start[(*n)++] = t->calls.start[c];
		}
	}
	return start;
}

static bool is_missing_in(const int64_t *start, size_t n, int64_t from, int64_t to)
{
	for (size_t i = 0; i < n; i++)
		if (start[i] >= from && start[i] < to)
			return true;
	return false;
}

void steps_find_cut(struct steps_build *b)
{
	const struct trace *t = b->trace;
	uint8_t *launched = ARENA_NEW(&b->scratch, t->calls.n + 1, uint8_t);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE)
			launched[t->ops.launch[i]] = 1;
	for (uint32_t i = 0; i < b->out->n_threads; i++) {
		const struct step_thread *s = &b->out->threads[i];
		size_t n = 0;
		const int64_t *missing = missing_of(b, i, launched, &n);
		/* where some are missing in the first half, too, that says nothing */
		bool tells = n && !is_missing_in(missing, n, s->start[0], s->start[s->n / 2]);
		for (uint32_t k = s->n; k-- > s->n / 2;) {
			struct instance *x = steps_instance(b, b->first[i] + k);
			x->cut = x->cut || (tells && is_missing_in(missing, n, x->start, x->end));
			if (!x->cut)
				break;
			b->out->n_cut++;
		}
	}
}
