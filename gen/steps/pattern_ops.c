#include "steps/pattern_loops.h"

#include "base/keymap.h"
#include "base/search.h"
#include "base/words.h"
#include "steps/op_names.h"
#include "trace/classify.h"
#include "trace/order.h"

#include <string.h>

static bool belongs(const struct trace *t, size_t i, uint32_t process)
{
	return t->devices[t->ops.device[i]].process == process && !(t->ops.flags[i] & OPF_MANAGED);
}

double pattern_launched_share(const struct trace *t, uint32_t process)
{
	size_t n = 0, launched = 0;
	for (size_t i = 0; i < t->ops.n; i++)
		if (belongs(t, i, process)) {
			n++;
			launched += t->ops.launch[i] != TRACE_NONE;
		}
	return n ? (double)launched / (double)n : 0;
}

static uint8_t flags_of(const struct trace *t, size_t i)
{
	if (t->ops.kind[i] == OP_COPY)
		return t->ops.copy[i] == COPY_H2D || t->ops.copy[i] == COPY_H2A   ? PATTERN_HOST | PATTERN_INPUT
		       : t->ops.copy[i] == COPY_D2H || t->ops.copy[i] == COPY_A2H ? PATTERN_HOST
		                                                                  : 0;
	return t->ops.kind[i] == OP_MEMSET ? 0 : PATTERN_WORK;
}

/* Marks the ops between whose launch and that of the next one the host waited, and the first op launched after each
 * capture of a graph. */
static void mark_calls(const struct trace *t, uint32_t process, struct pattern_sequence *s)
{
	ARENA_LOCAL(scratch);
	bool *ends = ARENA_NEW(&scratch, t->names->n, bool);
	for (uint32_t i = 0; i < t->names->n; i++)
		ends[i] = words_begin("cudaStreamEndCapture cuStreamEndCapture", names_text(t->names, i));
	for (size_t c = 0; c < t->calls.n; c++) {
		size_t i = 0;
		if (t->threads[t->calls.thread[c]].process != process)
			continue;
		if (t->calls.waits[c]) {
			SEARCH(i, s->n, s->at[i] <= t->calls.start[c]);
			if (i)
				s->flags[i - 1] |= PATTERN_HOST;
		} else if (ends[t->calls.name[c]]) {
			SEARCH(i, s->n, s->at[i] < t->calls.end[c]);
			if (i < s->n)
				s->flags[i] |= PATTERN_CAPTURE;
		}
	}
}

/* What has an order of its own on a device: a stream; copies and memsets together, for frameworks send them to one
 * stream of a pool now and to another then. */
static uint32_t queue_of(const struct trace *t, size_t i)
{
	return t->ops.kind[i] == OP_COPY || t->ops.kind[i] == OP_MEMSET ? UINT32_MAX : t->ops.stream[i];
}

/* Whether an op is one of the sequence. */
static bool is_in(const struct trace *t, size_t i, uint32_t process, enum pattern_order how,
                  const struct spans *without)
{
	if (!belongs(t, i, process) || (how == PATTERN_BY_LAUNCH && t->ops.launch[i] == TRACE_NONE))
		return false;
	uint32_t launch = t->ops.launch[i];
	int64_t until = INT64_MAX;
	return !without || launch == TRACE_NONE || !spans_hold(without, t->calls.start[launch], &until);
}

/* Columns of `n` ops: those that there are, if they have room. */
static void make_room(struct pattern_ops *ops, size_t n, struct arena *arena)
{
	struct pattern_sequence *s = &ops->sequence;
	if (ops->room < n) {
		ops->room = n;
		s->at = ARENA_TAKE(arena, n, int64_t);
		s->token = ARENA_TAKE(arena, n, uint32_t);
		s->end = ARENA_TAKE(arena, n, int64_t);
		s->length = ARENA_TAKE(arena, n, int64_t);
		s->pause = ARENA_TAKE(arena, n, float);
		s->flags = ARENA_TAKE(arena, n, uint8_t);
	}
	s->n = 0;
}

/* What tokens are, by lane << 32 | name, and what their names say of the ops. */
static void tell_tokens(const struct trace *t, const struct keymap *tokens, struct arena *arena,
                        struct pattern_ops *out)
{
	struct pattern_sequence *s = &out->sequence;
	ARENA_LOCAL(scratch);
	s->n_tokens = tokens->n;
	s->lane = ARENA_NEW(arena, tokens->n, uint32_t);
	out->name = ARENA_NEW(arena, tokens->n, uint32_t);
	uint8_t *told = ARENA_NEW(&scratch, tokens->n, uint8_t);
	s->of_pytorch = t->source.kind == SOURCE_KINETO; /* or a kernel is its own: nothing else has such a name */
	for (uint32_t token = 0; token < tokens->n; token++) {
		s->lane[token] = (uint32_t)(tokens->keys[token] >> 32);
		out->name[token] = (uint32_t)tokens->keys[token];
		const char *name = names_text(t->names, out->name[token]);
		told[token] =
			(classify_update(name) ? PATTERN_UPDATE : 0) | (classify_lookup(name) ? PATTERN_LOOKUP : 0);
		s->of_pytorch = s->of_pytorch || strstr(name, "at::native::");
	}
	for (size_t k = 0; k < s->n; k++)
		s->flags[k] |= told[s->token[k]];
}

void pattern_ops_collect(const struct trace *t, uint32_t process, enum pattern_order how, const struct spans *without,
                         struct arena *arena, struct pattern_ops *out)
{
	const struct trace_ops *ops = &t->ops;
	struct pattern_sequence *s = &out->sequence;
	size_t n = 0;
	if (!out->op)
		out->op = ARENA_TAKE(arena, ops->n, uint32_t);
	for (size_t i = 0; i < ops->n; i++)
		if (is_in(t, i, process, how, without))
			out->op[n++] = (uint32_t)i;
	make_room(out, n, arena);
	for (; s->n < n; s->n++) {
		uint32_t i = out->op[s->n];
		s->at[s->n] = how == PATTERN_BY_START ? ops->start[i] : t->calls.start[ops->launch[i]];
	}
	struct arena scratch = {0};
	struct order order = {.n = n, .n_groups = 1, .start = s->at};
	uint32_t *rows = order_rows(&order, &scratch);
	if (rows) {
		void *room = ARENA_TAKE(&scratch, n, uint64_t);
		order_column(s->at, sizeof *s->at, n, rows, room);
		order_column(out->op, sizeof *out->op, n, rows, room);
	}
	arena_release(&scratch);

	struct keymap lanes, tokens;
	keymap_init(&lanes, &scratch);
	keymap_init(&tokens, &scratch);
	uint32_t *last = ARENA_NEW(&scratch, t->names->n, uint32_t); /* by name: 1 + its token that was met last */
	const uint32_t *version = op_versions(t, &scratch);
	int64_t until = INT64_MAX; /* the latest end of a launch, or of an op, so far */
	for (size_t k = 0; k < n; k++) {
		size_t i = out->op[k];
		uint64_t lane = how == PATTERN_BY_LAUNCH ? t->calls.thread[ops->launch[i]]
		                                         : (uint64_t)ops->device[i] << 32 | queue_of(t, i);
		const uint32_t name = version[ops->name[i]];
		uint64_t key = (uint64_t)keymap_add(&lanes, lane) << 32 | name;
		uint32_t *at = &last[name];
		if (!*at || tokens.keys[*at - 1] != key)
			*at = keymap_add(&tokens, key) + 1;
		s->token[k] = *at - 1;
		s->end[k] = ops->end[i];
		s->length[k] = ops->end[i] - ops->start[i];
		s->flags[k] = flags_of(t, i);
		int64_t end = how == PATTERN_BY_LAUNCH ? t->calls.end[ops->launch[i]] : ops->end[i];
		s->pause[k] = k && s->at[k] > until ? (float)(s->at[k] - until) : 0;
		until = !k || end > until ? end : until;
	}
	s->n_lanes = lanes.n;
	tell_tokens(t, &tokens, arena, out);
	arena_release(&scratch);
	mark_calls(t, process, s);
}
