#include "analyse/run/pattern_calls.h"

#include "base/search.h"

#include <string.h>

/* ---- calls that were noted ---- */

static bool is_call(const char *name)
{
	static const char module[] = "nn.Module: ";
	return strncmp(name, module, strlen(module)) == 0 || strstr(name, ": _call_impl") ||
	       strstr(name, "_engine_run_backward");
}

/* Outermost calls of models, and backward passes, whose work another thread launches. */
static struct spans find_calls(const struct trace *t, struct arena *arena)
{
	struct spans calls = {.at = arena_alloc(arena, t->ranges.n + 1, sizeof *calls.at)};
	bool *is = ARENA_NEW(arena, t->names->n, bool);
	for (size_t i = 0; i < t->names->n; i++)
		is[i] = is_call(names_text(t->names, (uint32_t)i));
	for (size_t i = 0; i < t->ranges.n; i++)
		if (is[t->ranges.name[i]]) {
			calls.at[calls.n][0] = t->ranges.start[i];
			calls.at[calls.n++][1] = t->ranges.end[i];
		}
	spans_join(&calls, -1);
	return calls;
}

static void find_noted(const struct trace *t, const struct spans *calls, const struct pattern_ops *ops,
                       const struct pattern *found, bool *inside)
{
	uint32_t same[RULE_LOOPS + 1] = {0}, cycle[RULE_LOOPS + 1];
	size_t call[RULE_LOOPS + 1]; /* in which the last cycle began; calls->n: in none */
	memset(cycle, 0xff, sizeof cycle);
	for (size_t i = 0; i < ops->sequence.n; i++) {
		uint32_t loop = found->loop[i], launch = t->ops.launch[ops->op[i]];
		if (!loop || found->cycle[i] == cycle[loop])
			continue;
		size_t at = launch == TRACE_NONE ? calls->n : 0;
		SEARCH(at, calls->n, calls->at[at][1] <= t->calls.start[launch]);
		if (at < calls->n && calls->at[at][0] > t->calls.start[launch])
			at = calls->n;
		same[loop] += cycle[loop] != UINT32_MAX && at < calls->n && at == call[loop];
		cycle[loop] = found->cycle[i];
		call[loop] = at;
	}
	for (uint32_t l = 1; l <= found->n_loops; l++)
		inside[l] = same[l] >= RULE_HALF * found->loops[l - 1].n;
}

/* ---- calls that were not ---- */

/* Kernels that most cycles of a loop do not have, by token. */
static void find_others(const struct pattern_sequence *s, const struct pattern *found, uint32_t loop, bool *other)
{
	ARENA_LOCAL(scratch);
	uint32_t *often = ARENA_NEW(&scratch, s->n_tokens, uint32_t);
	for (size_t i = 0; i < s->n; i++)
		often[s->token[i]] += found->loop[i] == loop;
	for (size_t i = 0; i < s->n; i++)
		other[s->token[i]] =
			s->flags[i] & PATTERN_WORK && often[s->token[i]] < RULE_HALF * found->loops[loop - 1].n;
}

/* PyTorch notes no calls unless it is asked to. The layers of one pass stand between an embedding and a head, and the
 * host has nothing to do with them; a loop of passes is all that there is, or has its input or its result copied, or is
 * waited for. Of several passes one of the two is enough: a batch may come in before each. Of fewer than RULE_CYCLES
 * passes: more are measured often, whatever is their unit. */
static bool is_surrounded(const struct pattern_sequence *s, const struct pattern *found, uint32_t loop)
{
	ARENA_LOCAL(scratch);
	bool *other = ARENA_NEW(&scratch, s->n_tokens, bool), amid = false, begins = false, open = false, ends = false;
	uint32_t cycle = UINT32_MAX, n = 0, passes = 0, asked = 0, asked_last = UINT32_MAX;
	bool together = false; /* no other kernel since the last cycle began */
	find_others(s, found, loop, other);
	for (size_t i = 0; i < s->n; i++) {
		const bool mine = found->loop[i] == loop, host = s->flags[i] & PATTERN_HOST;
		together = together && !other[s->token[i]];
		if (mine && found->cycle[i] != cycle) {
			cycle = found->cycle[i];
			begins = n++ == 1 ? amid : begins; /* before its second cycle the host did not wait */
			passes += !together;
			together = open = true;
			ends = false;
		}
		if (mine && asked_last != cycle && s->flags[i] & (PATTERN_HOST | PATTERN_UPDATE | PATTERN_LOOKUP)) {
			asked_last = cycle;
			asked++;
		}
		amid = !host && (amid || other[s->token[i]]);
		ends = ends || (open && (other[s->token[i]] || (!mine && s->flags[i] & PATTERN_WORK)));
		open = open && !host; /* nor in its last one, or behind it */
	}
	return passes < RULE_CYCLES && asked < RULE_HALF * n && begins + ends + (passes > 1) > 1;
}

void pattern_calls_inside(const struct trace *t, const struct pattern_ops *ops, const struct pattern *found,
                          bool *inside)
{
	ARENA_LOCAL(scratch);
	struct spans calls = find_calls(t, &scratch);
	if (calls.n)
		find_noted(t, &calls, ops, found, inside);
	for (uint32_t l = 1; l <= found->n_loops && !calls.n && ops->sequence.of_pytorch; l++)
		inside[l] = !found->loops[l - 1].fewest && is_surrounded(&ops->sequence, found, l);
}
