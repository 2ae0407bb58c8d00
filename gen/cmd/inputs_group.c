/* The files of a side become its runs: which are ranks of one, and which are other runs. */
#include "base/buf.h"
#include "base/keymap.h"
#include "cmd/inputs.h"
#include "read/digest.h"
#include "same/doubts.h"
#include "say/say.h"
#include "trace/again.h"
#include "trace/files.h"

/* The files of a run in their places. */
static size_t files_of(const struct inputs *in, uint32_t run, struct input **list)
{
	size_t n = 0;
	for (size_t i = 0; i < in->n; i++)
		if (in->told[i].run == run) {
			list[in->told[i].place] = &in->item[i];
			n++;
		}
	return n;
}

/* Captures of a side that are known: of ten thousand digests, not each is held against each. */
struct known {
	struct arena memory;
	const struct inputs *in;
	struct keymap prints; /* of those whose rows are not held: again.print … */
	size_t *of;           /* … the inputs, … */
	size_t *held, n_held; /* … and of those whose rows are */
};

static void known_begin(struct known *k, const struct inputs *in)
{
	*k = (struct known){.in = in};
	k->of = ARENA_NEW(&k->memory, in->n, size_t);
	k->held = ARENA_NEW(&k->memory, in->n, size_t);
	keymap_init(&k->prints, &k->memory);
}

static void known_add(struct known *k, size_t i)
{
	const struct trace *trace = k->in->item[i].trace;
	if (trace->again)
		k->of[keymap_add(&k->prints, trace->again->print[0])] = i;
	else
		k->held[k->n_held++] = i;
}

/* The first known input that holds this capture; SIZE_MAX: none does. */
static size_t known_find(const struct known *k, const struct trace *trace)
{
	const struct input *item = k->in->item;
	size_t first = SIZE_MAX;
	for (uint32_t at = 0; at < k->prints.n && !trace->again; at++) /* few are held beside such that are not */
		if (nothing_same_capture(item[k->of[at]].trace, trace) && k->of[at] < first)
			first = k->of[at];
	uint32_t at = trace->again ? keymap_find(&k->prints, trace->again->print[0]) : UINT32_MAX;
	if (at != UINT32_MAX && nothing_same_capture(item[k->of[at]].trace, trace))
		first = k->of[at];
	for (size_t h = 0; h < k->n_held && k->held[h] < first; h++)
		if (nothing_same_capture(item[k->held[h]].trace, trace))
			return k->held[h];
	return first;
}

bool inputs_share_capture(const struct inputs *a, const struct inputs *b, size_t *of_a, size_t *of_b)
{
	struct known known;
	known_begin(&known, b);
	for (size_t i = 0; i < b->n; i++)
		if (known_find(&known, b->item[i].trace) == SIZE_MAX)
			known_add(&known, i);
	*of_b = SIZE_MAX;
	for (*of_a = 0; *of_a < a->n; ++*of_a)
		if ((*of_b = known_find(&known, a->item[*of_a].trace)) != SIZE_MAX)
			break;
	arena_release(&known.memory);
	return *of_b != SIZE_MAX;
}

/* One capture given twice, copied or packed, would pass for two runs or for two ranks: it counts once. */
static void drop_copies(struct inputs *in, struct names *names, struct arena *arena)
{
	size_t kept = 0;
	struct known known;
	known_begin(&known, in);
	for (size_t i = 0; i < in->n; i++) {
		size_t k = known_find(&known, in->item[i].trace);
		if (k == SIZE_MAX) {
			in->item[kept] = in->item[i];
			known_add(&known, kept++);
			continue;
		}
		LIST_PUT(arena, in->copies.item, in->copies.n,
		         arena_format(arena, "%s holds the same capture as %s and counts once",
		                      names_file(names, in->item[i].path), names_file(names, in->item[k].path)));
		arena_release(&in->item[i].memory);
	}
	in->n = kept;
	arena_release(&known.memory);
}

/* What is said of the files: how they were told apart, and which were left out. */
static const char *note_of(const struct inputs *in, struct arena *arena)
{
	BUF_LOCAL(note);
	const char *told = say_fact(in->ranks.note, NULL, arena);
	if (!in->copies.n)
		return told;
	buf_text(&note, told ? told : "");
	for (size_t i = 0; i < in->copies.n; i++)
		buf_format(&note, "%s%s.", note.n ? " " : "", in->copies.item[i]);
	return arena_copy(arena, note.data, note.n);
}

/* A rank's rows, held so far, are not held any more: false where something of them would be lost. */
static bool give_up_rows(struct input *in, struct names *names)
{
	struct arena memory = {0};
	struct trace packed;
	if (in->trace->again)
		return true;
	if (!digest_hold(in->trace, &in->memory, names, &memory, &packed)) {
		arena_release(&memory);
		return false;
	}
	arena_release(&in->memory);
	in->memory = memory;
	*in->trace = packed;
	return true;
}

/* All files of a run are held, or none of them. */
static void take_rows(struct input *const *list, size_t n, struct names *names)
{
	bool again = false, all = true;
	for (size_t i = 0; i < n; i++)
		again = again || list[i]->trace->again;
	for (size_t i = 0; i < n && again; i++)
		all = give_up_rows(list[i], names) && all;
	for (size_t i = 0; i < n && !all; i++)
		if (list[i]->trace->again)
			again_load(list[i]->trace, 0, 1, AGAIN_ALL, &list[i]->memory, list[i]->trace);
}

void inputs_group(struct inputs *in, enum ranks_asked asked, struct names *names, struct arena *arena)
{
	drop_copies(in, names, arena);
	struct merge_part *parts = ARENA_NEW(arena, in->n, struct merge_part);
	struct input **list = ARENA_NEW(arena, in->n, struct input *);
	in->told = ARENA_NEW(arena, in->n, struct ranks_file);
	for (size_t i = 0; i < in->n; i++)
		in->told[i] = (struct ranks_file){.trace = in->item[i].trace,
		                                  .name = names_file(names, in->item[i].path),
		                                  .folder = in->item[i].folder};
	in->ranks = ranks_tell(in->told, in->n, asked, arena);
	in->why = in->ranks.why ? say_fact(in->ranks.why, NULL, arena) : "";
	in->note = note_of(in, arena);
	in->n_runs = in->ranks.n_runs;
	in->run = ARENA_NEW(arena, in->n_runs, struct input_run);
	for (uint32_t run = 0; run < in->n_runs; run++) {
		struct input_run *to = &in->run[run];
		size_t n = files_of(in, run, list);
		to->path = list[0]->path;
		take_rows(list, n, names);
		if (n == 1) {
			to->trace = *list[0]->trace;
			arena_adopt(arena, &list[0]->memory);
			continue;
		}
		to->path = arena_format(arena, "%s and %zu more", list[0]->path, n - 1);
		for (size_t i = 0; i < n; i++) {
			const struct ranks_file *told = &in->told[list[i] - in->item];
			ranks_number(list[i]->trace, told->rank);
			parts[i] = (struct merge_part){list[i]->trace, {.offset = told->offset}, &list[i]->memory};
		}
		struct host_clocks clocks;
		clocks_align(parts, n, arena, &clocks);
		trace_merge(parts, n, &to->trace, arena);
		to->trace.clocks = clocks.list;
		to->trace.n_clocks = clocks.n;
	}
	for (size_t i = 0; i < in->n; i++)
		in->told[i].trace = in->item[i].trace = NULL;
	arena_release(&in->traces);
}
