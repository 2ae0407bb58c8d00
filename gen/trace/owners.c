#include "trace/owners.h"

#include <string.h>

/* By name of a range: what it says; 0: nothing. */
struct said {
	uint32_t *operation, *place;
	bool operations, places; /* any */
};

const bool *owners_name_modules(struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	const size_t before = sizeof MODULE_ADDED - 1;
	const uint32_t n = (uint32_t)t->names->n;
	uint32_t *path = ARENA_NEW(&scratch, n, uint32_t); /* by name: of the module; 0: not looked at */
	bool any = false;
	for (size_t i = 0; i < t->ranges.n; i++) {
		const uint32_t name = t->ranges.name[i];
		const char *text = names_text(t->names, name);
		if (!path[name]) {
			const bool module = strncmp(text, MODULE_ADDED, before) == 0 && text[before];
			path[name] = module ? names_add_text(t->names, text + before) : name;
			any = any || module;
		}
		t->ranges.name[i] = path[name];
	}
	if (!any)
		return NULL;
	bool *is_module = ARENA_NEW(arena, t->names->n, bool);
	for (uint32_t i = 0; i < n; i++)
		is_module[path[i]] |= path[i] && path[i] != i;
	return is_module;
}

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

static void read_names(struct trace *t, const bool *is_module, struct arena *arena, struct said *said)
{
	const uint32_t n = (uint32_t)t->names->n;
	bool *seen = ARENA_NEW(arena, n, bool);
	said->operation = ARENA_NEW(arena, n, uint32_t);
	said->place = ARENA_NEW(arena, n, uint32_t);
	for (size_t i = 0; i < t->ranges.n; i++) {
		const uint32_t name = t->ranges.name[i];
		if (seen[name])
			continue;
		seen[name] = true;
		if (is_module && is_module[name])
			said->place[name] = name;
		else
			read_name(t, name, said);
		said->operations = said->operations || said->operation[name];
		said->places = said->places || said->operation[name] || said->place[name];
	}
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
			if (said->operation[r->name[next]] || said->place[r->name[next]])
				open[depth++] = next;
		}
		while (depth && r->end[open[depth - 1]] <= at)
			depth--;
		if (depth && said->operations)
			t->calls.in_operator[i] = said->operation[r->name[open[depth - 1]]];
		if (depth)
			t->calls.in_module[i] = said->place[r->name[open[depth - 1]]];
	}
}

void owners_give(struct trace *t, const bool *is_module, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct said said = {0};
	if (t->calls.in_operator || !t->calls.n)
		return;
	read_names(t, is_module, &scratch, &said);
	if (!said.places)
		return;
	uint32_t *open = ARENA_NEW(&scratch, t->ranges.n, uint32_t);
	if (said.operations)
		t->calls.in_operator = ARENA_NEW(arena, t->calls.n, uint32_t);
	t->calls.in_module = ARENA_NEW(arena, t->calls.n, uint32_t);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		give(t, thread, &said, open);
}

size_t owners_around(const char *path, size_t n)
{
	const bool classes = strchr(path, '/');
	size_t at = n;
	while (at && path[at - 1] != (classes ? '/' : '.'))
		at--;
	if (!at || (!classes && strspn(path + at, "0123456789") >= n - at))
		return 0;
	return at - 1;
}
