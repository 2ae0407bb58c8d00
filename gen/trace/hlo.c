#include "trace/hlo.h"

#include <string.h>

/* By name of a range: what it says; 0: nothing. */
struct said {
	uint32_t *operation, *place;
};

/* The text of a field that ends with a comma or the sign at the end of them all. */
static uint32_t field(struct names *names, const char *text)
{
	return names_add(names, text, strcspn(text, ",#"));
}

/* A place may hold commas: it reaches to the field behind it. */
static void read_name(struct trace *t, uint32_t name, struct said *said)
{
	static const char begin[] = "Thunk:#", place[] = "name=", operation[] = "hlo_op=";
	const char *at = strstr(names_text(t->names, name), begin);
	const char *op = at ? strstr(at, operation) : NULL;
	if (!op)
		return;
	at += sizeof begin - 1;
	if (strncmp(at, place, sizeof place - 1) == 0 && op > at + sizeof place - 1)
		said->place[name] =
			names_add(t->names, at + sizeof place - 1, (size_t)(op - 1 - at) - (sizeof place - 1));
	said->operation[name] = field(t->names, op + sizeof operation - 1);
}

/* False: no range says anything. */
static bool read_names(struct trace *t, struct arena *arena, struct said *said)
{
	const uint32_t n = (uint32_t)t->names->n;
	bool *seen = ARENA_NEW(arena, n, bool), any = false;
	said->operation = ARENA_NEW(arena, n, uint32_t);
	said->place = ARENA_NEW(arena, n, uint32_t);
	for (size_t i = 0; i < t->ranges.n; i++) {
		const uint32_t name = t->ranges.name[i];
		if (!seen[name])
			read_name(t, name, said);
		seen[name] = true;
		any = any || said->operation[name];
	}
	return any;
}

/* Of the calls of a thread, by the ranges that are open when they begin. `open`: room for these. */
static void give(struct trace *t, uint32_t thread, const struct said *said, uint32_t *open)
{
	const struct trace_ranges *r = &t->ranges;
	uint32_t next = t->first_range[thread];
	size_t depth = 0;
	for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
		const int64_t at = t->calls.start[i];
		for (; next < t->first_range[thread + 1] && r->start[next] <= at; next++) {
			while (depth && r->end[open[depth - 1]] <= r->start[next])
				depth--;
			if (said->operation[r->name[next]])
				open[depth++] = next;
		}
		while (depth && r->end[open[depth - 1]] <= at)
			depth--;
		if (depth) {
			t->calls.in_operator[i] = said->operation[r->name[open[depth - 1]]];
			t->calls.in_module[i] = said->place[r->name[open[depth - 1]]];
		}
	}
}

void hlo_give_operators(struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct said said;
	if (!t->calls.in_operator && t->calls.n && read_names(t, &scratch, &said)) {
		uint32_t *open = ARENA_NEW(&scratch, t->ranges.n, uint32_t);
		t->calls.in_operator = ARENA_NEW(arena, t->calls.n, uint32_t);
		t->calls.in_module = ARENA_NEW(arena, t->calls.n, uint32_t);
		for (uint32_t thread = 0; thread < t->n_threads; thread++)
			give(t, thread, &said, open);
	}
}
