#include "steps/op_names.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum {
	LEAST = 3,       /* two names that differ in a number may be two kernels */
	OFTEN = 5,       /* launches of a version: what runs once is no loop's */
	GLANCE = 1 << 15 /* operations in which a first version is launched, or nobody looks further */
};
static const double AS_LONG = 0.05;

/* Names that are equal but for their number, as far as launches were looked at. */
struct family {
	uint32_t names, versions; /* how many there are, and were launched so far */
	bool apart;               /* they are kernels of their own */
	uint32_t first, now;      /* name of the first version, and of the one in turn … */
	int64_t end;              /* … which have ended until then … */
	double n, ns, size;       /* … so many, so long and large together */
	double each_ns, each_size;
};

/* What the name is but for the number that its function's name ends in; NULL: it ends in none. */
static const char *without_number(const char *name, struct arena *arena)
{
	const char *text = name;
	size_t end = op_words_short(&text), digits = end;
	while (digits && isdigit((unsigned char)text[digits - 1]))
		digits--;
	return *name == '[' || digits == end || !digits
	               ? NULL
	               : arena_format(arena, "%.*s#%s", (int)(text + digits - name), name, text + end);
}

/* By name: its family, 0: none. How many families are large enough goes into *n. */
static uint32_t *find_families(const struct trace *t, struct arena *arena, struct family **list, size_t *n)
{
	uint32_t *of = ARENA_NEW(arena, t->names->n, uint32_t);
	struct names texts;
	*list = ARENA_NEW(arena, t->names->n + 1, struct family);
	*n = 0;
	names_init(&texts, arena);
	for (uint32_t name = 0; name < t->names->n; name++) {
		const char *text = without_number(names_text(t->names, name), arena);
		of[name] = text ? names_add_text(&texts, text) : 0;
		*n += text && ++(*list)[of[name]].names == LEAST;
	}
	return of;
}

/* Whether the version in turn does what those before it did; the first one says what that is. */
static bool is_alike(struct family *f)
{
	const double ns = f->ns / f->n, size = f->size / f->n;
	if (f->versions == 1)
		f->each_ns = ns, f->each_size = size;
	return f->n >= OFTEN && size == f->each_size && fabs(ns - f->each_ns) <= AS_LONG * f->each_ns;
}

/* A launch of a family; false: it is none of one kernel's versions. */
static bool take(struct family *f, bool *launched, uint32_t name, const struct trace_ops *ops, size_t i)
{
	if (!f->versions || name != f->now) {
		if (launched[name] || (f->versions && (ops->start[i] < f->end || !is_alike(f))))
			return false;
		launched[name] = true;
		f->first = f->versions++ ? f->first : name;
		f->now = name;
		f->n = f->ns = f->size = 0;
	}
	f->end = ops->end[i] > f->end ? ops->end[i] : f->end;
	f->n++;
	f->ns += (double)(ops->end[i] - ops->start[i]);
	f->size += (double)ops->bytes[i];
	return true;
}

uint32_t *op_versions(const struct trace *t, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct family *list;
	size_t left;
	const uint32_t *family = find_families(t, &scratch, &list, &left);
	bool *launched = ARENA_NEW(&scratch, t->names->n, bool);
	uint32_t *of = ARENA_NEW(arena, t->names->n, uint32_t);
	for (size_t i = 0, seen = 0; i < t->ops.n && left && (seen || i < GLANCE); i++) {
		const uint32_t name = t->ops.name[i];
		struct family *f = &list[family[name]];
		if (!family[name] || f->names < LEAST || f->apart || t->ops.kind[i] != OP_KERNEL)
			continue;
		seen += !f->versions;
		f->apart = !take(f, launched, name, &t->ops, i);
		seen -= f->apart;
		left -= f->apart;
	}
	for (uint32_t name = 0; name < t->names->n; name++) {
		struct family *f = &list[family[name]];
		const bool version = launched[name] && !f->apart && f->versions >= LEAST;
		of[name] = version && is_alike(f) ? f->first : name;
	}
	return of;
}
