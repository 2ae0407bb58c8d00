#include "analyse/judge/ncu_command.h"

#include "base/buf.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { HEAVIEST = 5, LAUNCHES_MOST = 60 };

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
			h->within++;
		} else if (ops->start[i] < run->window_start) {
			h->before++;
		}
	}
	if (n)
		qsort(*list, n, sizeof **list, by_time);
	return n;
}

const char *ncu_command(const struct side_facts *facts, const char *side, const struct names *names,
                        struct arena *arena)
{
	struct arena scratch = {0};
	struct heavy *list;
	const struct run *run = &facts->runs[0];
	uint32_t n = find_heaviest(run, run->trace->names->n, &scratch, &list), before = 0, within = 0, used = 0;
	const char *text[HEAVIEST];
	for (; used < n && used < HEAVIEST && list[used].ns > 0; used++) {
		text[used] = names_text(names, list[used].name);
		before += list[used].before;
		within += list[used].within;
	}
	const char *command = NULL;
	if (used) {
		uint32_t count = (within + run->n_steps - 1) / run->n_steps; /* of one step */
		count = count > LAUNCHES_MOST ? LAUNCHES_MOST : count;
		command = arena_format(
			arena,
			"ncu --set full --target-processes all --kernel-name-base demangled --kernel-name %s "
			"--launch-skip %u --launch-count %u --export %s-kernels COMMAND && ncu --import "
			"%s-kernels.ncu-rep --csv --page raw > %s-kernels.csv",
			quoted(text, used, &scratch), before, count, side, side, side);
	}
	arena_release(&scratch);
	return command;
}
