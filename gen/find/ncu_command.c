#include "base/sort.h"
#include "find/ncu.h"

#include "base/buf.h"
#include "base/list.h"
#include "charge/parts_open.h"
#include "trace/kernel_names.h"

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
	BUF_LOCAL(text);
	buf_text(&text, "'regex:^(");
	for (uint32_t i = 0; i < n; i++) {
		buf_text(&text, i ? "|" : "");
		add_pattern(&text, names[i]);
	}
	buf_text(&text, ")$'");
	return arena_copy(arena, text.data, text.n);
}

/* A kernel in the measured window of the first run. */
struct heavy {
	uint32_t name;
	double ns;
	int64_t first; /* start of its first launch there */
};

SORT_ORDER(by_time, struct heavy, DESCENDING(x->ns, y->ns) ?: ASCENDING(x->name, y->name))

/* Those of one process, since each is profiled by itself. */
static bool is_one(const struct run *run, size_t op)
{
	const struct trace *t = run->trace;
	return t->ops.kind[op] == OP_KERNEL &&
	       t->devices[t->ops.device[op]].process == t->devices[run->charge->devices[0].device].process;
}

static uint32_t find_heaviest(const struct run *run, struct heavy **list, struct arena *scratch)
{
	const struct trace_ops *ops = &run->trace->ops;
	uint32_t *at = ARENA_NEW(scratch, run->trace->names->n, uint32_t), n = 0, room = 0;
	*list = NULL;
	for (size_t i = 0; i < ops->n && run->charge->n_devices; i++) {
		if (!is_one(run, i) || !run_measures_op(run, i) || ops->end[i] <= ops->start[i])
			continue;
		if (!at[ops->name[i]]) {
			LIST_GROW(scratch, *list, n, room);
			(*list)[n] = (struct heavy){.name = ops->name[i], .first = ops->start[i]};
			at[ops->name[i]] = ++n;
		}
		struct heavy *h = &(*list)[at[ops->name[i]] - 1];
		h->ns += (double)(ops->end[i] - ops->start[i]);
		h->first = ops->start[i] < h->first ? ops->start[i] : h->first;
	}
	SORT(*list, n, by_time);
	return n < HEAVIEST ? n : HEAVIEST;
}

/* Which functions are asked for, and of all their launches, those of other kernels too, how many are passed over and
 * how many are measured. */
struct wanted {
	const char *function[HEAVIEST];
	uint32_t n, skip, count;
};

static bool is_wanted(const struct wanted *w, const char *function)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (strcmp(w->function[i], function) == 0)
			return true;
	return false;
}

/* By name: whether a kernel's launches count as those of the functions. */
static bool *find_wanted(const struct run *run, const struct wanted *w, struct arena *scratch)
{
	const struct trace_ops *ops = &run->trace->ops;
	const struct names *names = run->trace->names;
	bool *looked = ARENA_NEW(scratch, names->n, bool), *wanted = ARENA_NEW(scratch, names->n, bool);
	for (size_t i = 0; i < ops->n; i++) {
		uint32_t name = ops->name[i];
		if (looked[name] || !is_one(run, i))
			continue;
		looked[name] = true;
		wanted[name] = is_wanted(w, kernel_function(scratch, names_text(names, name)));
	}
	return wanted;
}

/* From the first launch of a heavy kernel in the window on, those of one step; fewer where each has had one by then. */
static struct wanted find_launches(const struct run *run, const struct heavy *list, uint32_t n, struct arena *scratch)
{
	const struct trace_ops *ops = &run->trace->ops;
	struct wanted w = {0};
	int64_t first = list[0].first, last = first;
	for (uint32_t i = 0; i < n; i++) {
		const char *function = kernel_function(scratch, names_text(run->trace->names, list[i].name));
		if (!is_wanted(&w, function))
			w.function[w.n++] = function;
		first = list[i].first < first ? list[i].first : first;
		last = list[i].first > last ? list[i].first : last;
	}
	const bool *wanted = find_wanted(run, &w, scratch);
	uint32_t within = 0, until = 0;
	for (size_t i = 0; i < ops->n; i++) {
		if (!wanted[ops->name[i]] || !is_one(run, i))
			continue;
		w.skip += ops->start[i] < first;
		within += run_measures_op(run, i);
		until += ops->start[i] >= first && ops->start[i] <= last;
	}
	uint32_t step = (within + run->window.n_steps - 1) / run->window.n_steps;
	until = until < LAUNCHES_USUAL ? LAUNCHES_USUAL : until > LAUNCHES_MOST ? LAUNCHES_MOST : until;
	w.count = step < until ? step : until;
	return w;
}

const char *ncu_command(const struct side_facts *facts, const char *side, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	const struct run *run = facts->rows; /* and of it the part whose first device is the run's */
	run = parts_open_charged(run, run->charge->n_devices ? parts_of_device(run, 0) : 0, &scratch);
	struct heavy *list;
	uint32_t n = facts->amd ? 0 : find_heaviest(run, &list, &scratch);
	const char *command = NULL;
	if (n) {
		struct wanted w = find_launches(run, list, n, &scratch);
		command = arena_format(
			arena,
			"rm -f %s-kernels.ncu-rep; ncu " SECTIONS " --target-processes all --kernel-name-base function "
			"--kernel-name %s --launch-skip %u --launch-count %u --kill yes --export %s-kernels COMMAND; "
			"ncu --import %s-kernels.ncu-rep --csv --page raw > %s-kernels.csv",
			side, quoted(w.function, w.n, &scratch), w.skip, w.count, side, side, side);
	}
	return command;
}
