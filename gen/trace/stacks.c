#include "trace/samples.h"

#include "base/buf.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void stack_samples_init(struct stack_samples *s, struct arena *arena)
{
	*s = (struct stack_samples){.arena = arena};
	keymap_init(&s->functions, arena);
	keymap_init(&s->frames, arena);
}

static uint32_t parent_of(const struct stack_samples *s, uint32_t frame)
{
	return (uint32_t)(s->frames.keys[frame - 1] >> 32);
}

static uint32_t function_of(const struct stack_samples *s, uint32_t frame)
{
	return (uint32_t)s->frames.keys[frame - 1];
}

bool stack_samples_enter(struct stack_samples *s, uint32_t *frame, uint32_t name, uint32_t module)
{
	uint32_t function = keymap_add(&s->functions, (uint64_t)name << 32 | module);
	if (name == TRACE_NONE && *frame && function_of(s, *frame) == function)
		return true;
	uint64_t key = (uint64_t)*frame << 32 | function;
	bool full = s->frames.n + 1 >= STACKS_MOST;
	uint32_t i = full ? keymap_find(&s->frames, key) : keymap_add(&s->frames, key);
	if (i == UINT32_MAX) {
		s->cut++;
		return false;
	}
	*frame = i + 1;
	return true;
}

void stack_samples_note(struct stack_samples *s, int64_t time, uint32_t thread, uint32_t stack)
{
	if (s->n == s->room) {
		size_t room = list_more(s->room);
		s->time = arena_grow(s->arena, s->time, s->room, room, sizeof *s->time);
		s->thread = arena_grow(s->arena, s->thread, s->room, room, sizeof *s->thread);
		s->stack = arena_grow(s->arena, s->stack, s->room, room, sizeof *s->stack);
		s->room = room;
	}
	s->time[s->n] = time;
	s->thread[s->n] = thread;
	s->stack[s->n++] = stack;
}

const uint32_t *stack_samples_join(struct stack_samples *s, const struct stack_samples *from, const uint32_t *string,
                                   const uint32_t *thread, struct arena *scratch)
{
	uint32_t *frame = ARENA_NEW(scratch, (size_t)from->frames.n + 1, uint32_t);
	for (uint32_t f = 1; f <= from->frames.n; f++) {
		uint64_t key = from->functions.keys[function_of(from, f)];
		uint32_t name = (uint32_t)(key >> 32);
		frame[f] = frame[parent_of(from, f)];
		stack_samples_enter(s, &frame[f], name == TRACE_NONE ? TRACE_NONE : string[name],
		                    string[(uint32_t)key]);
	}
	for (size_t i = 0; i < from->n; i++)
		stack_samples_note(s, from->time[i], thread[from->thread[i]], frame[from->stack[i]]);
	s->cut += from->cut;
	return frame;
}

/* ---- what the names mean ---- */

/* nsys puts entries of its own into stacks, in brackets, which are functions and modules of nobody. */
static enum frame_kind kind_of(const char *name, const char *module)
{
	if (strcmp(name, "[Broken backtraces]") == 0)
		return FRAME_BROKEN;
	if (strcmp(name, "[Max depth]") == 0)
		return FRAME_CUT;
	return *module && strcmp(module, "[Unknown]") != 0 ? FRAME_MODULE : FRAME_UNKNOWN;
}

/* "0x7fe9fde2a1ca": what stands for a name where there is none. */
static bool is_address(const char *name)
{
	return strncmp(name, "0x", 2) == 0 && name[2] && !name[2 + strspn(name + 2, "0123456789abcdefABCDEF")];
}

/* What stands behind the last separator of a path: where files lie tells about a machine. */
static const char *last_part(const char *path)
{
	const char *part = path;
	for (const char *c = path; *c; c++)
		if ((*c == '/' || *c == '\\') && c[1])
			part = c + 1;
	return part;
}

static bool is_path(const char *name)
{
	return *name == '/' || *name == '\\' || (*name && name[1] == ':' && (name[2] == '\\' || name[2] == '/'));
}

static uint32_t shortened(struct names *names, uint32_t id, bool cut)
{
	return cut ? names_add_text(names, last_part(names_text(names, id))) : id;
}

/* "train.py:12", as gapline's sampler calls a file with the line where a function begins -> "train.py" and the place.
 */
static void split_line(struct names *names, struct trace_function *f)
{
	static const char python[] = ".py:";
	enum { DIGITS = 9 };
	const char *file = names_text(names, f->module), *colon = strrchr(file, ':');
	const size_t n = colon ? (size_t)(colon - file) : 0, before = sizeof python - 1;
	if (n < before || strncmp(colon + 1 - before, python, before) != 0 || !colon[1] || strlen(colon + 1) > DIGITS ||
	    colon[1 + strspn(colon + 1, "0123456789")])
		return;
	BUF_LOCAL(at);
	buf_format(&at, "%.*s(%s): %s", (int)n, file, colon + 1, names_text(names, f->name));
	f->at = names_add(names, at.data, at.n);
	f->module = names_add(names, file, n);
}

void stack_samples_list(const struct stack_samples *s, const uint32_t *text, struct names *names,
                        struct trace_stacks *out, struct arena *arena)
{
	if (!s->frames.n)
		return;
	*out = (struct trace_stacks){.n_functions = s->functions.n,
	                             .functions = ARENA_NEW(arena, s->functions.n, struct trace_function),
	                             .n_frames = s->frames.n + 1,
	                             .frames = ARENA_NEW(arena, (size_t)s->frames.n + 1, struct trace_frame),
	                             .cut = s->cut};
	for (uint32_t i = 0; i < s->functions.n; i++) {
		struct trace_function *f = &out->functions[i];
		uint32_t string = (uint32_t)(s->functions.keys[i] >> 32);
		uint32_t module = text[(uint32_t)s->functions.keys[i]], name = string == TRACE_NONE ? 0 : text[string];
		const char *of = names_text(names, module), *called = names_text(names, name);
		bool named = *called && *called != '[' && !is_address(called);
		f->kind = (uint8_t)(named ? FRAME_NAMED : kind_of(called, of));
		f->name = named ? shortened(names, name, is_path(called)) : 0;
		f->module = *of == '[' && f->kind != FRAME_MODULE ? 0 : shortened(names, module, true);
		if (named)
			split_line(names, f);
	}
	for (uint32_t i = 1; i < out->n_frames; i++)
		out->frames[i] = (struct trace_frame){parent_of(s, i), function_of(s, i)};
}

void stack_samples_give(const struct stack_samples *s, const uint32_t *thread, struct arena *arena,
                        struct trace_samples *out)
{
	size_t n = 0;
	for (size_t i = 0; s->frames.n && i < s->n; i++)
		n += thread[s->thread[i]] != TRACE_NONE;
	*out = (struct trace_samples){.time = ARENA_NEW(arena, n, int64_t),
	                              .thread = ARENA_NEW(arena, n, uint32_t),
	                              .stack = ARENA_NEW(arena, n, uint32_t)};
	for (size_t i = 0; s->frames.n && i < s->n; i++) {
		if (thread[s->thread[i]] == TRACE_NONE)
			continue;
		out->time[out->n] = s->time[i];
		out->thread[out->n] = thread[s->thread[i]];
		out->stack[out->n++] = s->stack[i];
	}
}

const uint32_t *stacks_join(struct trace_stacks *stacks, const struct trace_stacks *from, struct arena *arena,
                            struct arena *scratch)
{
	uint32_t functions = stacks->n_functions, frames = stacks->n_frames ? stacks->n_frames : 1;
	uint32_t *number = ARENA_NEW(scratch, (size_t)from->n_frames + 1, uint32_t);
	if (!from->n_frames)
		return number;
	stacks->cut += from->cut;
	stacks->n_functions += from->n_functions;
	stacks->functions =
		arena_grow(arena, stacks->functions, functions, stacks->n_functions, sizeof *stacks->functions);
	memcpy(stacks->functions + functions, from->functions, from->n_functions * sizeof *from->functions);
	stacks->frames = arena_grow(arena, stacks->frames, stacks->n_frames, (size_t)frames + from->n_frames - 1,
	                            sizeof *stacks->frames);
	stacks->n_frames = frames + from->n_frames - 1;
	for (uint32_t i = 1; i < from->n_frames; i++) {
		number[i] = frames + i - 1;
		stacks->frames[number[i]] =
			(struct trace_frame){number[from->frames[i].parent], from->frames[i].function + functions};
	}
	return number;
}

/* ---- what they stand for ---- */

/* ns to the sample before, or behind, of the same thread; `most` where there is none, or it is that far away. */
static int64_t distance_to(const struct trace_samples *s, size_t i, size_t other, int64_t most)
{
	int64_t d = other < s->n && s->thread[other] == s->thread[i] ? llabs(s->time[i] - s->time[other]) : most;
	return d < most ? d : most;
}

double stack_samples_stand_for(const struct trace *t, size_t i)
{
	enum { LATE = 100 }; /* times the distance that was asked for */
	int64_t most = LATE * t->source.sample_ns;
	int64_t before = distance_to(&t->samples, i, i - 1, most), behind = distance_to(&t->samples, i, i + 1, most);
	before = before < most ? before : t->source.sample_ns;
	behind = behind < most ? behind : t->source.sample_ns;
	return ((double)before + (double)behind) / 2;
}
