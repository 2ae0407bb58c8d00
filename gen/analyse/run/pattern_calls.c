#include "analyse/run/pattern_calls.h"

#include "base/search.h"

#include <string.h>

enum kind { NO_CALL, MODULE, BACKWARD };

/* Outermost calls of a model by thread, and behind all threads the backward passes: another thread launches their
 * work. */
struct calls {
	struct spans *of;
	uint32_t n_threads;
};

static uint8_t kind_of(const char *name)
{
	static const char module[] = "nn.Module: ", call[] = ": _call_impl", backward[] = "_engine_run_backward";
	if (strncmp(name, module, strlen(module)) == 0 || strstr(name, call))
		return MODULE;
	return strstr(name, backward) ? BACKWARD : NO_CALL;
}

/* False: there is none. */
static bool find_calls(const struct trace *t, struct arena *arena, struct calls *out)
{
	uint8_t *kind = ARENA_NEW(arena, t->names->n, uint8_t);
	size_t n = 0, of_backward = 0;
	for (size_t i = 0; i < t->names->n; i++)
		kind[i] = kind_of(names_text(t->names, (uint32_t)i));
	for (size_t i = 0; i < t->ranges.n; i++) {
		n += kind[t->ranges.name[i]] == MODULE;
		of_backward += kind[t->ranges.name[i]] == BACKWARD;
	}
	if (!n && !of_backward)
		return false;
	out->n_threads = t->n_threads;
	out->of = ARENA_NEW(arena, t->n_threads + 1, struct spans);
	struct spans *last = &out->of[t->n_threads];
	last->at = (int64_t(*)[2])ARENA_NEW(arena, 2 * of_backward, int64_t);
	int64_t(*room)[2] = (int64_t(*)[2])ARENA_NEW(arena, 2 * n, int64_t);
	for (uint32_t thread = 0; thread < t->n_threads; thread++) {
		out->of[thread].at = room;
		for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
			struct spans *to = kind[t->ranges.name[i]] == MODULE ? &out->of[thread] : last;
			bool inner = to != last && to->n && t->ranges.start[i] < to->at[to->n - 1][1];
			if (inner || kind[t->ranges.name[i]] == NO_CALL)
				continue;
			to->at[to->n][0] = t->ranges.start[i];
			to->at[to->n++][1] = t->ranges.end[i];
		}
		room += out->of[thread].n;
	}
	spans_join(last, 0);
	return true;
}

/* When the call began in which thread `thread` was at `time`; INT64_MIN: it was in none. */
static int64_t call_begin(const struct calls *calls, uint32_t thread, int64_t time)
{
	const uint32_t where[] = {thread, calls->n_threads};
	for (size_t k = 0; k < sizeof where / sizeof *where; k++) {
		const struct spans *of = &calls->of[where[k]];
		size_t i = 0;
		SEARCH(i, of->n, of->at[i][1] <= time);
		if (i < of->n && of->at[i][0] <= time)
			return of->at[i][0];
	}
	return INT64_MIN;
}

void pattern_calls_inside(const struct trace *t, const struct pattern_ops *ops, const struct pattern *found,
                          bool *inside)
{
	struct arena scratch = {0};
	struct calls calls;
	uint32_t cycle[RULE_LOOPS + 1], same[RULE_LOOPS + 1] = {0};
	int64_t begin[RULE_LOOPS + 1];
	memset(cycle, 0xff, sizeof cycle);
	bool any = found->n_loops && find_calls(t, &scratch, &calls);
	for (size_t i = 0; any && i < ops->sequence.n; i++) {
		uint32_t loop = found->loop[i], launch = t->ops.launch[ops->op[i]];
		if (!loop || found->cycle[i] == cycle[loop])
			continue;
		int64_t at = launch == TRACE_NONE ? INT64_MIN
		                                  : call_begin(&calls, t->calls.thread[launch], t->calls.start[launch]);
		same[loop] += cycle[loop] != UINT32_MAX && at != INT64_MIN && at == begin[loop];
		cycle[loop] = found->cycle[i];
		begin[loop] = at;
	}
	for (uint32_t l = 1; l <= found->n_loops; l++)
		inside[l] = same[l] >= RULE_HALF * found->loops[l - 1].n;
	arena_release(&scratch);
}
