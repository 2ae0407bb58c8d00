#include "steps/pattern_loops.h"

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

/* In the same noted call, or by the same launch of a graph. */
static void find_noted(const struct trace *t, const struct spans *calls, const struct pattern_ops *ops,
                       const struct pattern *found, bool *inside)
{
	uint32_t same[RULE_LOOPS + 1] = {0}, cycle[RULE_LOOPS + 1], launched[RULE_LOOPS + 1];
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
		same[loop] += cycle[loop] != UINT32_MAX && ((at < calls->n && at == call[loop]) ||
		                                            (launch != TRACE_NONE && launch == launched[loop]));
		cycle[loop] = found->cycle[i];
		call[loop] = at;
		launched[loop] = launch;
	}
	for (uint32_t l = 1; l <= found->n_loops; l++)
		inside[l] = same[l] >= RULE_HALF * found->loops[l - 1].n;
}

/* ---- calls that were not ---- */

/* A loop in the sequence. */
struct stretch {
	size_t first, end; /* its first op, and behind its last one */
	size_t second;     /* the first op of its second cycle … */
	size_t last;       /* … and of its last one */
	uint32_t asked;    /* cycles with which the host had to do, or that hold what is there once in a step */
	uint32_t longest;  /* most cycles with no other kernel among them … */
	uint32_t passes;   /* … and how often some are */
	bool *other;       /* by token: a kernel that most cycles do not have */
};

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

static struct stretch find_stretch(const struct pattern_sequence *s, const struct pattern *found, uint32_t loop,
                                   struct arena *arena)
{
	struct stretch out = {.first = s->n, .second = s->n, .other = ARENA_NEW(arena, s->n_tokens, bool)};
	uint32_t cycle = UINT32_MAX, asked = UINT32_MAX, together = 0;
	find_others(s, found, loop, out.other);
	for (size_t i = 0; i < s->n; i++) {
		together = out.other[s->token[i]] ? 0 : together;
		if (found->loop[i] != loop)
			continue;
		if (found->cycle[i] != cycle) {
			out.second = i > out.first && out.second == s->n ? i : out.second;
			out.first = i < out.first ? i : out.first;
			out.last = i;
			cycle = found->cycle[i];
			out.longest = ++together > out.longest ? together : out.longest;
			out.passes += together == 1;
		}
		out.end = i + 1;
		const bool asks = s->flags[i] & (PATTERN_HOST | PATTERN_UPDATE | PATTERN_LOOKUP);
		out.asked += asks && asked != cycle;
		asked = asks ? cycle : asked;
	}
	return out;
}

/* Whether another kernel was launched before its second cycle, and the host did not wait in between. */
static bool begins_amid(const struct pattern_sequence *s, const struct stretch *of)
{
	for (size_t i = of->second; i-- > 0 && !(s->flags[i] & PATTERN_HOST);)
		if (of->other[s->token[i]])
			return true;
	return false;
}

/* Whether another kernel was launched in its last cycle, or any behind it, likewise. */
static bool ends_amid(const struct pattern_sequence *s, const struct stretch *of)
{
	for (size_t i = of->last; i < s->n && (i == of->last || !(s->flags[i - 1] & PATTERN_HOST)); i++)
		if (of->other[s->token[i]] || (i >= of->end && s->flags[i] & PATTERN_WORK))
			return true;
	return false;
}

/* PyTorch notes no calls unless it is asked to. The layers of one pass stand between an embedding and a head, and the
 * host has nothing to do with them; a loop of passes is all that there is, or has its input or its result copied, or is
 * waited for. Of several passes that have as many, up to one, one of the two is enough: a batch may come in before
 * each. Of fewer than RULE_CYCLES passes: more are measured often, whatever is their unit. */
static void find_surrounded(const struct pattern_ops *ops, const struct pattern *found, bool *inside)
{
	ARENA_LOCAL(scratch);
	const struct pattern_sequence *s = &ops->sequence;
	for (uint32_t l = 1; l <= found->n_loops; l++) {
		const struct run_loop *loop = &found->loops[l - 1];
		const struct stretch of = find_stretch(s, found, l, &scratch);
		const int sides = begins_amid(s, &of) + ends_amid(s, &of);
		const bool even = of.passes > 1 && of.longest > 2 && loop->n >= of.passes * (of.longest - 1);
		inside[l] |= !loop->fewest && of.passes < RULE_CYCLES && of.longest <= RULE_LAYERS &&
		             of.asked < RULE_HALF * loop->n && sides + even >= 2;
	}
}

void pattern_calls_inside(const struct trace *t, const struct pattern_ops *ops, const struct pattern *found,
                          bool *inside)
{
	ARENA_LOCAL(scratch);
	struct spans calls = find_calls(t, &scratch);
	find_noted(t, &calls, ops, found, inside);
	if (!calls.n && ops->sequence.of_pytorch)
		find_surrounded(ops, found, inside);
}
