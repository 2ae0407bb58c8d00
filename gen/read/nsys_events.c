/* The tables of events, which are nearly all of a profile. Where there are processors for it they are read side by
 * side, each group by a reader with a connection, names, memory and numbers of its own; joined in the order in which
 * one reader would have met them, the numbers are those that it would have given. */
#include "base/parallel.h"
#include "read/nsys.h"

static int read_host(struct nsys *r)
{
	if (nsys_read_ranges(r) != 0 || nsys_read_os_calls(r) != 0 || nsys_read_overheads(r) != 0)
		return -1;
	return nsys_read_switches(r) != 0 ? -1 : nsys_read_samples(r);
}

static int (*const read_group[])(struct nsys *) = {nsys_read_calls, nsys_read_ops, read_host};
enum { GROUPS = sizeof read_group / sizeof *read_group };

/* One group's reader; that of the first is the profile's own. */
struct part {
	struct nsys *reader, own;
	struct names names;
	struct arena arena;
	struct trace trace;
	struct err err;
	int result;
};

static int open_part(struct part *p, const struct nsys *r, struct source *source)
{
	names_init(&p->names, &p->arena);
	p->reader = &p->own;
	p->own = (struct nsys){.path = r->path,
	                       .wish = r->wish,
	                       .own_collector = r->own_collector,
	                       .names = &p->names,
	                       .arena = &p->arena,
	                       .trace = &p->trace,
	                       .err = &p->err};
	build_begin(&p->own.build, &p->trace, &p->names, &p->arena, r->wish->details);
	if (db_open(&p->own.db, r->path, source->plain, &p->arena, &p->err) != 0)
		return -1;
	db_meter(&p->own.db, &source->reading);
	return 0;
}

static bool is_wanted(const struct nsys *r, size_t group)
{
	static const unsigned kinds[GROUPS] = {READ_CALLS, READ_OPS, READ_HOST};
	return !r->wish->only || r->wish->only & kinds[group];
}

static int read_rows(struct nsys *r, size_t group)
{
	int result = is_wanted(r, group) ? read_group[group](r) : 0;
	build_trim(&r->build);
	return result;
}

static void read_part(void *context, size_t i)
{
	struct part *p = (struct part *)context + i;
	p->result = read_rows(p->reader, i);
}

static int read_side_by_side(struct nsys *r, struct source *source)
{
	struct part parts[GROUPS] = {{.reader = r}};
	int result = 0;
	for (int i = 1; i < GROUPS; i++)
		parts[i].result = open_part(&parts[i], r, source);
	if (parts[1].result == 0 && parts[2].result == 0)
		parallel_each(GROUPS, read_part, parts);
	for (int i = 0; i < GROUPS && result == 0; i++) {
		result = parts[i].result;
		if (result != 0 && i > 0)
			*r->err = parts[i].err;
	}
	for (int i = 1; i < GROUPS; i++) {
		if (result == 0)
			build_join(&r->build, &parts[i].own.build);
		db_close(&parts[i].own.db);
		arena_adopt(r->arena, &parts[i].arena);
	}
	return result;
}

int nsys_read_events(struct nsys *r, struct source *source)
{
	if (parallel_width() > 1 && !r->wish->only)
		return read_side_by_side(r, source);
	for (int i = 0; i < GROUPS; i++)
		if (read_rows(r, (size_t)i) != 0)
			return -1;
	return 0;
}
