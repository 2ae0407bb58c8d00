#include "analyse/judge/ncu_command.h"

#include "analyse/run/parts.h"
#include "base/buf.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { HEAVIEST = 5 };

/* Each launch is run again for every group of counters, with the memory that it writes saved and restored: seconds, in
 * a large program. So no more than are needed. */
enum { LAUNCHES_USUAL = 20, LAUNCHES_MOST = 60 };

/* What the page shows of a kernel, and no more: speed of light, the counters and peaks of the roofline, occupancy,
 * stalls (sections by their identifiers, Nsight Compute's Profiling Guide). What "--set full" adds is not shown, and
 * all of it is more runs of each kernel. */
#define SECTIONS                                                                                                       \
	"--section SpeedOfLight --section SpeedOfLight_RooflineChart --section Occupancy --section LaunchStats "       \
	"--section WarpStateStats"

/* Everything that a regular expression would take for more than itself is escaped; what may have been replaced when the
 * name was made harmless, and all else beyond ASCII, matches anything. */
static void add_pattern(struct buf *to, const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;
		if (c >= 0x80 || c < 0x20 || c == '?') {
			while ((unsigned char)name[1] >= 0x80)
				name++;
			buf_text(to, ".*");
		} else if (c == '\'') {
			buf_text(to, "'\\''");
		} else {
			if (strchr("\\^$.|*+()[]{}", c))
				buf_text(to, "\\");
			buf_add(to, name, 1);
		}
	}
}

/* A regular expression that matches nothing but these names, in a shell's single quotes. */
static const char *quoted(const char *const *names, uint32_t n, struct arena *arena)
{
	struct buf text = {0};
	buf_text(&text, "'regex:^(");
	for (uint32_t i = 0; i < n; i++) {
		buf_text(&text, i ? "|" : "");
		add_pattern(&text, names[i]);
	}
	buf_text(&text, ")$'");
	const char *copy = arena_copy(arena, text.data, text.n);
	buf_release(&text);
	return copy;
}

struct heavy {
	uint32_t name;
	double ns;
	uint32_t before, within; /* launches before the measured window of the first run, and in it */
	int64_t first;           /* start of the first one in it */
};

static int by_time(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Of one process: each is profiled by itself. */
static uint32_t find_heaviest(const struct run *run, size_t n_names, struct arena *scratch, struct heavy **list)
{
	const struct trace_ops *ops = &run->trace->ops;
	uint32_t *at = ARENA_NEW(scratch, n_names, uint32_t), n = 0, room = 0;
	uint32_t process = run->n_devices ? run->trace->devices[run->devices[0].device].process : 0;
	*list = NULL;
	for (size_t i = 0; i < ops->n; i++) {
		if (ops->kind[i] != OP_KERNEL || run->trace->devices[ops->device[i]].process != process)
			continue;
		if (!at[ops->name[i]]) {
			LIST_GROW(scratch, *list, n, room);
			(*list)[n] = (struct heavy){.name = ops->name[i]};
			at[ops->name[i]] = ++n;
		}
		struct heavy *h = &(*list)[at[ops->name[i]] - 1];
		if (run_measures_op(run, i)) {
			h->ns += (double)(ops->end[i] - ops->start[i]);
			h->first = h->within++ && h->first <= ops->start[i] ? h->first : ops->start[i];
		} else if (ops->start[i] < run->window_start) {
			h->before++;
		}
	}
	if (n)
		qsort(*list, n, sizeof **list, by_time);
	return n;
}

/* How many launches of the `n` kernels are enough: those of one step, cut where each has had one. */
static uint32_t count_launches(const struct run *run, const struct heavy *list, uint32_t n, uint32_t step)
{
	const struct trace_ops *ops = &run->trace->ops;
	uint32_t process = run->trace->devices[run->devices[0].device].process, until = 0;
	int64_t last = INT64_MIN; /* of the first launches */
	for (uint32_t i = 0; i < n; i++)
		last = list[i].first > last ? list[i].first : last;
	for (size_t i = 0; i < ops->n; i++)
		for (uint32_t k = 0; k < n; k++)
			until += ops->kind[i] == OP_KERNEL && ops->name[i] == list[k].name && ops->start[i] <= last &&
			         run->trace->devices[ops->device[i]].process == process && run_measures_op(run, i);
	until = until < LAUNCHES_USUAL ? LAUNCHES_USUAL : until > LAUNCHES_MOST ? LAUNCHES_MOST : until;
	return step < until ? step : until;
}

static const struct run *part_of_first_device(const struct run *run, struct arena *arena)
{
	uint32_t i = run->n_devices ? parts_of_device(run, 0) : 0;
	struct run *part = parts_open(run, i, arena);
	run_charge_devices(part); /* which is its first one */
	return part;
}

const char *ncu_command(const struct side_facts *facts, const char *side, const struct names *names,
                        struct arena *arena)
{
	struct arena scratch = {0};
	struct heavy *list;
	const struct run *run = &facts->runs[0];
	if (run->parts)
		run = part_of_first_device(run, &scratch);
	uint32_t n = find_heaviest(run, run->trace->names->n, &scratch, &list), before = 0, within = 0, used = 0;
	const char *text[HEAVIEST];
	for (; used < n && used < HEAVIEST && list[used].ns > 0; used++) {
		text[used] = names_text(names, list[used].name);
		before += list[used].before;
		within += list[used].within;
	}
	const char *command = NULL;
	if (used) {
		uint32_t step = (within + run->n_steps - 1) / run->n_steps;
		command = arena_format(
			arena,
			"rm -f %s-kernels.ncu-rep; ncu " SECTIONS
			" --target-processes all --kernel-name-base demangled "
			"--kernel-name %s --launch-skip %u --launch-count %u --kill yes --export %s-kernels COMMAND; "
			"ncu --import %s-kernels.ncu-rep --csv --page raw > %s-kernels.csv",
			side, quoted(text, used, &scratch), before, count_launches(run, list, used, step), side, side,
			side);
	}
	arena_release(&scratch);
	return command;
}
