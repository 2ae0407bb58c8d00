/* What is noted of a row besides, while a trace is built: of a call what operators say, of a node of a CUDA graph where
 * it was made, and from that the call that made it. */
#include "base/list.h"
#include "base/search.h"
#include "trace/build.h"

uint32_t build_node(struct build *b, const struct build_made *made)
{
	const struct build_node node = {.thread = made->thread,
	                                .time = made->time,
	                                .function =
	                                        made->function ? keymap_add(&b->strings, made->function) : TRACE_NONE,
	                                .file = made->function ? keymap_add(&b->strings, made->file) : TRACE_NONE,
	                                .line = made->line};
	LIST_ADD(b->arena, b->nodes, b->n_nodes, b->node_room, node);
	return b->n_nodes;
}

void build_number_nodes(struct build *b, const uint32_t *number)
{
	for (uint32_t i = 0; i < b->n_nodes; i++)
		if (b->nodes[i].function != TRACE_NONE) {
			b->nodes[i].function = number[b->nodes[i].function];
			b->nodes[i].file = number[b->nodes[i].file];
		}
}

/* Until the calls are in order, `creation` is the node's number. */
void build_note_node(struct build *b, size_t op, uint32_t node)
{
	struct trace_ops *o = &b->trace->ops;
	if (!o->creation)
		o->creation = ARENA_NEW(b->arena, b->room[ROWS_OF_OPS], uint32_t);
	o->creation[op] = node;
}

/* The call of a thread that was open at `time`, the innermost; TRACE_NONE: none with an id. Runtime calls hold those of
 * the driver, and that is all the nesting there is. */
static uint32_t call_at(const struct trace *t, uint32_t thread, int64_t time)
{
	enum { NESTED = 4 };
	uint32_t first = t->first_call[thread], n = t->first_call[thread + 1] - first, after = 0;
	SEARCH(after, n, t->calls.start[first + after] <= time);
	for (uint32_t k = 0; k < NESTED && k < after; k++) {
		uint32_t call = first + after - 1 - k;
		if (t->calls.end[call] >= time && t->calls.correlation[call])
			return call;
	}
	return TRACE_NONE;
}

/* "train.py:42 Block.forward" for the call that made the node. */
static void give_line(struct build *b, const struct build_node *node, uint32_t call)
{
	ARENA_LOCAL(scratch);
	struct trace *t = b->trace;
	if (call == TRACE_NONE || node->function == TRACE_NONE || !node->function || !node->file ||
	    node->function == b->unknown_name || node->file == b->unknown_name)
		return;
	const char *function = names_text(t->names, node->function), *file = names_text(t->names, node->file);
	const char *text = node->line ? arena_format(&scratch, "%s:%u %s", file, node->line, function)
	                              : arena_format(&scratch, "%s %s", file, function);
	if (!t->calls.in_line)
		t->calls.in_line = ARENA_NEW(b->arena, t->calls.n, uint32_t);
	if (!t->calls.in_line[call])
		t->calls.in_line[call] = names_add_text(t->names, text);
}

void build_creators(struct build *b)
{
	ARENA_LOCAL(scratch);
	struct trace_ops *o = &b->trace->ops;
	uint32_t *call = ARENA_NEW(&scratch, (size_t)b->n_nodes + 1, uint32_t);
	call[0] = TRACE_NONE;
	for (uint32_t i = 0; i < b->n_nodes; i++) {
		uint64_t thread = b->nodes[i].thread;
		call[i + 1] = thread == TRACE_NONE ? TRACE_NONE : call_at(b->trace, (uint32_t)thread, b->nodes[i].time);
		give_line(b, &b->nodes[i], call[i + 1]);
	}
	for (size_t i = 0; i < o->n && o->creation; i++) {
		o->creator[i] = call[o->creation[i]];
		o->creation[i] = o->creator[i] == TRACE_NONE ? 0 : b->trace->calls.correlation[o->creator[i]];
	}
}

void build_note_call(struct build *b, size_t i, const struct build_call_notes *notes)
{
	struct trace_calls *c = &b->trace->calls;
	const size_t room = b->room[ROWS_OF_CALLS];
	columns_note(&c->in_operator, i, notes->in_operator, room, b->arena);
	columns_note(&c->in_outermost, i, notes->in_outermost, room, b->arena);
	columns_note(&c->in_module, i, notes->in_module, room, b->arena);
	columns_note(&c->noted, i, notes->noted, room, b->arena);
	columns_note_large(&c->flops, i, notes->flops, room, b->arena);
	columns_note_large(&c->moved, i, notes->moved, room, b->arena);
}
