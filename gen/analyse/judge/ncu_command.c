#include "analyse/judge/ncu_command.h"

#include "analyse/judge/kernel_spelling.h"
#include "analyse/run/parts.h"
#include "base/buf.h"
#include "base/keymap.h"
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

/* What the command asks for: a kernel, or where only functions are known all kernels of one. */
struct heavy {
	const char *text;
	uint32_t group; /* what its launches are told by */
	double ns;
	uint32_t before, within; /* launches before the measured window of the first run, and in it */
	int64_t first;           /* start of the first one in it */
};

/* The kernels of one process, since each is profiled by itself. */
struct kernels {
	const struct run *run;
	uint32_t process;
	uint32_t *group; /* by name's id, counted from 1; 0: not yet looked at */
	bool functions;
	struct names texts; /* by group */
	struct heavy *list;
	uint32_t n, room;
	struct arena *scratch;
};

static uint32_t group_of(struct kernels *k, uint32_t name)
{
	if (!k->group[name]) {
		const char *text = names_text(k->run->trace->names, name);
		k->group[name] = names_add_text(&k->texts, k->functions ? kernel_function(k->scratch, text) : text) + 1;
	}
	return k->group[name] - 1;
}

static bool is_one(const struct kernels *k, size_t op)
{
	const struct trace *t = k->run->trace;
	return t->ops.kind[op] == OP_KERNEL && t->devices[t->ops.device[op]].process == k->process;
}

static int by_time(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

static struct kernels find_heaviest(const struct run *run, struct arena *scratch)
{
	const struct trace_ops *ops = &run->trace->ops;
	struct kernels k = {.run = run,
	                    .process = run->n_devices ? run->trace->devices[run->devices[0].device].process : 0,
	                    .group = ARENA_NEW(scratch, run->trace->names->n, uint32_t),
	                    .functions = run->trace->source.kind == SOURCE_KINETO,
	                    .scratch = scratch};
	struct keymap places;
	names_init(&k.texts, scratch);
	keymap_init(&places, scratch);
	for (size_t i = 0; i < ops->n; i++) {
		if (!is_one(&k, i))
			continue;
		uint32_t group = group_of(&k, ops->name[i]), at = keymap_add(&places, group);
		if (at == k.n) {
			LIST_GROW(scratch, k.list, k.n, k.room);
			k.list[k.n++] = (struct heavy){.text = names_text(&k.texts, group), .group = group};
		}
		struct heavy *h = &k.list[at];
		if (run_measures_op(run, i)) {
			h->ns += (double)(ops->end[i] - ops->start[i]);
			h->first = h->within++ && h->first <= ops->start[i] ? h->first : ops->start[i];
		} else if (ops->start[i] < run->window_start) {
			h->before++;
		}
	}
	if (k.n)
		qsort(k.list, k.n, sizeof *k.list, by_time);
	return k;
}

/* How many launches of the `n` heaviest are enough: those of one step, cut where each has had one. */
static uint32_t count_launches(struct kernels *k, uint32_t n, uint32_t step)
{
	const struct trace_ops *ops = &k->run->trace->ops;
	uint32_t until = 0;
	int64_t last = INT64_MIN; /* of the first launches */
	for (uint32_t i = 0; i < n; i++)
		last = k->list[i].first > last ? k->list[i].first : last;
	for (size_t i = 0; i < ops->n; i++)
		for (uint32_t h = 0; h < n; h++)
			until += is_one(k, i) && ops->start[i] <= last && run_measures_op(k->run, i) &&
			         group_of(k, ops->name[i]) == k->list[h].group;
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

const char *ncu_command(const struct side_facts *facts, const char *side, struct arena *arena)
{
	struct arena scratch = {0};
	const struct run *run = &facts->runs[0];
	if (run->parts)
		run = part_of_first_device(run, &scratch);
	struct kernels kernels = find_heaviest(run, &scratch);
	uint32_t before = 0, within = 0, used = 0;
	const char *text[HEAVIEST];
	for (; used < kernels.n && used < HEAVIEST && kernels.list[used].ns > 0; used++) {
		text[used] = kernels.list[used].text;
		before += kernels.list[used].before;
		within += kernels.list[used].within;
	}
	const char *command = NULL;
	if (used) {
		uint32_t step = (within + run->n_steps - 1) / run->n_steps;
		command = arena_format(
			arena,
			"rm -f %s-kernels.ncu-rep; ncu " SECTIONS " --target-processes all --kernel-name-base %s "
			"--kernel-name %s --launch-skip %u --launch-count %u --kill yes --export %s-kernels COMMAND; "
			"ncu --import %s-kernels.ncu-rep --csv --page raw > %s-kernels.csv",
			side, kernels.functions ? "function" : "demangled", quoted(text, used, &scratch), before,
			count_launches(&kernels, used, step), side, side, side);
	}
	arena_release(&scratch);
	return command;
}
