#include "charge/places.h"

#include "base/list.h"
#include "base/search.h"
#include "base/words.h"
#include "trace/owners.h"
#include "trace/samples.h"

#include <ctype.h>
#include <string.h>

enum name_kind { NAME_OTHER, NAME_MODULE, NAME_LINE };

/* A function as it is called, from that of its parent; 0 is none. */
struct line {
	uint32_t parent, name, depth;
	bool again; /* the same function stands above it, too */
};

/* From here on a thread is there. */
struct stay {
	int64_t from;
	uint32_t module, line; /* a name, 0: none; a line, 0: none */
};

struct track {
	struct stay *stay; /* in order of time, the first at the beginning of it */
	uint32_t n, near;
	bool built;
};

struct places {
	const struct trace *trace;
	const struct steps *steps;
	struct arena *arena;
	uint8_t *kind;      /* by name of a range: enum name_kind */
	bool *is_functions; /* by name of a domain */
	struct track *track;
	struct keymap keys; /* by parent << 32 | name: line − 1 */
	struct line *lines;
	/* By sampled frame, 0 of those whose place is not known and of those that stand above themselves: how many of
	 * the program's own functions lie on the way to it, itself among them. NULL: no place is known. */
	uint32_t *sampled;
};

void place_sums_init(struct place_sums *sums, struct arena *arena)
{
	*sums = (struct place_sums){0};
	keymap_init(&sums->keys, arena);
}

struct place_sums place_sums_keep(const struct place_sums *sums, struct arena *arena)
{
	const uint32_t n = sums->keys.n;
	return (struct place_sums){
		.keys = {.keys = arena_keep(arena, sums->keys.keys, n, sizeof *sums->keys.keys), .n = n},
		.sum = arena_keep(arena, sums->sum, n, sizeof *sums->sum)};
}

/* ---- what names say ---- */

/* PyTorch's own files, and those of Python's that call the program: what is below them says more. The names of the
 * latter are all that is left of their paths. */
static bool is_passed_over(const char *file)
{
	static const char callers[] = "threading.py contextlib.py runpy.py queue.py selectors.py socket.py "
				      "subprocess.py connection.py functools.py _bootstrap.py thread.py _base.py "
				      "synchronize.py";
	return words_begin("torch/ <", file) || words_have(callers, file, strcspn(file, "("), strncmp);
}

/* "train.py(12): step". Of a whole file, "train.py(1): <module>", nobody learns where he is. */
static bool is_line(const char *name)
{
	const char *at = strchr(name, '(');
	if (!at || at == name || !isdigit((unsigned char)at[1]) || is_passed_over(name))
		return false;
	at += 1 + strspn(at + 1, "0123456789");
	return strncmp(at, "): ", 3) == 0 && at[3] && strcmp(at + 3, "<module>") != 0;
}

static bool is_module(const char *name)
{
	return strncmp(name, "nn.Module: ", strlen("nn.Module: ")) == 0;
}

/* The modules that calls are in, and those around them: of ranges that are called so. */
static void read_modules(struct places *p, struct keymap *modules)
{
	const struct trace *t = p->trace;
	ARENA_LOCAL(scratch);
	bool *seen = ARENA_NEW(&scratch, t->names->n, bool);
	for (size_t i = 0; t->calls.in_module && !t->calls.in_operator && i < t->calls.n; i++) {
		const uint32_t module = t->calls.in_module[i];
		const char *path = names_text(t->names, module);
		for (size_t n = seen[module] ? 0 : strlen(path); n; n = owners_around(path, n))
			keymap_add(modules, keymap_text(path, n));
		seen[module] = true;
	}
}

static enum name_kind kind_of(const char *name, bool function, const struct keymap *modules)
{
	if (function)
		return is_module(name) ? NAME_MODULE : is_line(name) ? NAME_LINE : NAME_OTHER;
	return modules->n && keymap_find(modules, keymap_text(name, strlen(name))) != UINT32_MAX ? NAME_MODULE
	                                                                                         : NAME_OTHER;
}

/* What ranges say by their names; whether any does. */
static bool read_names(struct places *p)
{
	const struct trace *t = p->trace;
	const uint32_t n = (uint32_t)t->names->n;
	ARENA_LOCAL(scratch);
	bool *seen = ARENA_NEW(&scratch, n, bool), *domain_seen = ARENA_NEW(&scratch, n, bool), any = false;
	struct keymap modules;
	keymap_init(&modules, &scratch);
	read_modules(p, &modules);
	p->kind = ARENA_NEW(p->arena, n, uint8_t);
	p->is_functions = ARENA_NEW(p->arena, n, bool);
	for (size_t i = 0; i < t->ranges.n; i++) {
		const uint32_t name = t->ranges.name[i], domain = t->ranges.domain[i];
		if (!domain_seen[domain])
			p->is_functions[domain] = strcmp(names_text(t->names, domain), "Python functions") == 0;
		domain_seen[domain] = true;
		if (seen[name] || (domain && !p->is_functions[domain]))
			continue;
		p->kind[name] = (uint8_t)kind_of(names_text(t->names, name), p->is_functions[domain], &modules);
		seen[name] = true;
		any = any || p->kind[name] != NAME_OTHER;
	}
	return any || t->calls.in_module;
}

/* False: of no sampled function it is known where it begins. */
static bool read_stacks(struct places *p)
{
	const struct trace_stacks *s = &p->trace->stacks;
	bool any = false;
	for (uint32_t i = 0; i < s->n_functions && !any && p->trace->source.sample_ns > 0; i++)
		any = s->functions[i].at != 0;
	if (!any)
		return false;
	p->sampled = ARENA_NEW(p->arena, s->n_frames, uint32_t);
	for (uint32_t f = 1; f < s->n_frames; f++) {
		const uint32_t at = s->functions[s->frames[f].function].at;
		uint32_t up = s->frames[f].parent, depth = 1;
		bool again = false;
		for (; up; up = s->frames[up].parent) {
			again = again || s->functions[s->frames[up].function].at == at;
			depth += s->functions[s->frames[up].function].at != 0;
		}
		p->sampled[f] = at && !again && is_line(names_text(p->trace->names, at)) ? depth : 0;
	}
	return true;
}

struct places *places_begin(const struct trace *trace, const struct steps *steps, struct arena *arena)
{
	struct places *p = ARENA_NEW(arena, 1, struct places);
	*p = (struct places){.trace = trace, .steps = steps, .arena = arena};
	const bool stacks = read_stacks(p);
	if (!read_names(p) && !stacks)
		return NULL;
	p->track = ARENA_NEW(arena, trace->n_threads, struct track);
	keymap_init(&p->keys, arena);
	return p;
}

/* ---- where a thread is ---- */

/* The function `name`, called by `parent`. */
static uint32_t line_below(struct places *p, uint32_t parent, uint32_t name)
{
	const uint32_t known = p->keys.n, i = KEYMAP_ADD(p->arena, &p->keys, (uint64_t)parent << 32 | name, p->lines);
	if (i < known)
		return i + 1;
	p->lines[i] = (struct line){parent, name, parent ? p->lines[parent - 1].depth + 1 : 1, false};
	for (uint32_t up = parent; up && !p->lines[i].again; up = p->lines[up - 1].parent)
		p->lines[i].again = p->lines[up - 1].name == name;
	return i + 1;
}

struct open {
	int64_t end;
	uint32_t module, line; /* while it is the innermost one */
};

struct building {
	struct places *p;
	struct track *track;
	struct arena scratch;
	struct open *open;
	size_t n, open_room;
	uint32_t room;
};

static void stay_from(struct building *b, int64_t from)
{
	const struct open *at = b->n ? &b->open[b->n - 1] : &(struct open){0};
	struct track *t = b->track;
	if (t->n && t->stay[t->n - 1].from == from)
		t->n--;
	LIST_ADD(b->p->arena, t->stay, t->n, b->room, (struct stay){from, at->module, at->line});
}

static void close_until(struct building *b, int64_t time)
{
	while (b->n && b->open[b->n - 1].end <= time) {
		const int64_t end = b->open[b->n - 1].end;
		while (b->n && b->open[b->n - 1].end <= end)
			b->n--;
		stay_from(b, end);
	}
}

static const struct track *track_of(struct places *p, uint32_t thread)
{
	const struct trace_ranges *r = &p->trace->ranges;
	struct building b = {.p = p, .track = &p->track[thread]};
	if (b.track->built)
		return b.track;
	b.track->built = true;
	stay_from(&b, INT64_MIN);
	for (uint32_t i = p->trace->first_range[thread]; i < p->trace->first_range[thread + 1]; i++) {
		const bool functions = p->is_functions[r->domain[i]];
		const uint8_t kind = functions || !r->domain[i] ? p->kind[r->name[i]] : NAME_OTHER;
		if (kind == NAME_OTHER || (kind == NAME_LINE && !functions) || r->kind[i] != RANGE_PUSH_POP)
			continue;
		close_until(&b, r->start[i]);
		struct open now = b.n ? b.open[b.n - 1] : (struct open){0};
		now.end = r->end[i];
		if (kind == NAME_MODULE)
			now.module = r->name[i];
		else
			now.line = line_below(p, now.line, r->name[i]);
		LIST_ADD(&b.scratch, b.open, b.n, b.open_room, now);
		stay_from(&b, r->start[i]);
	}
	close_until(&b, INT64_MAX);
	arena_release(&b.scratch);
	return b.track;
}

/* The thread that says where `thread` is. */
static uint32_t told_by(struct places *p, uint32_t thread)
{
	const struct trace *t = p->trace;
	const struct step_thread *steps = steps_of_process(p->steps, t->threads[thread].process);
	const bool sampled = p->sampled && t->first_sample[thread] < t->first_sample[thread + 1];
	return steps && !sampled && track_of(p, thread)->n < 2 ? steps->thread : thread;
}

/* ---- sums ---- */

static struct place_sum *add(struct place_sums *sums, uint32_t of, bool line, uint32_t name, uint32_t depth, int64_t ns)
{
	const uint64_t key = (uint64_t)of << 32 | (uint64_t)line << 31 | name;
	const uint32_t i = KEYMAP_ADD(sums->keys.arena, &sums->keys, key, sums->sum);
	struct place_sum *sum = &sums->sum[i];
	sum->ns += ns;
	sum->depth = depth > sum->depth ? depth : sum->depth;
	return sum;
}

static void add_lines(const struct places *p, struct place_sums *sums, uint32_t of, uint32_t line, int64_t ns)
{
	for (; line; line = p->lines[line - 1].parent)
		if (!p->lines[line - 1].again)
			add(sums, of, true, p->lines[line - 1].name, p->lines[line - 1].depth, ns);
}

/* The stay of a track at a time. */
static uint32_t stay_at(const struct track *t, int64_t time)
{
	uint32_t i = 0;
	SEARCH(i, t->n, t->stay[i].from <= time);
	return i - 1;
}

/* Of a sample, for the time that it stands for. */
static void add_sample(const struct places *p, struct place_sums *sums, uint32_t of, size_t sample, int sign)
{
	const struct trace *t = p->trace;
	const struct trace_stacks *s = &t->stacks;
	const int64_t ns = sign * (int64_t)stack_samples_stand_for(t, sample);
	for (uint32_t f = t->samples.stack[sample]; f; f = s->frames[f].parent)
		if (p->sampled[f]) {
			const uint32_t at = s->functions[s->frames[f].function].at;
			add(sums, of, true, at, p->sampled[f], ns)->samples += (uint32_t)sign;
		}
}

static void add_samples(const struct places *p, struct place_sums *sums, uint32_t of, uint32_t thread, int64_t start,
                        int64_t end, int sign)
{
	const struct trace *t = p->trace;
	size_t i = t->first_sample[thread];
	SEARCH(i, (size_t)t->first_sample[thread + 1], t->samples.time[i] < start);
	for (; i < t->first_sample[thread + 1] && t->samples.time[i] < end; i++)
		add_sample(p, sums, of, i, sign);
}

void places_add(struct places *p, struct place_sums *sums, uint32_t of, uint32_t thread, int64_t start, int64_t end,
                int sign)
{
	if (thread == TRACE_NONE || start >= end)
		return;
	thread = told_by(p, thread);
	const struct track *t = track_of(p, thread);
	if (p->sampled)
		add_samples(p, sums, of, thread, start, end, sign);
	for (uint32_t i = stay_at(t, start); i < t->n && t->stay[i].from < end; i++) {
		const int64_t from = t->stay[i].from > start ? t->stay[i].from : start;
		const int64_t to = i + 1 < t->n && t->stay[i + 1].from < end ? t->stay[i + 1].from : end;
		if (t->stay[i].module)
			add(sums, of, false, t->stay[i].module, 0, sign * (to - from));
		add_lines(p, sums, of, t->stay[i].line, sign * (to - from));
	}
}

void places_add_launched(struct places *p, struct place_sums *sums, uint32_t of, uint32_t call, uint32_t module,
                         int64_t ns)
{
	add(sums, of, false, 0, 0, ns);
	if (module)
		add(sums, of, false, module, 0, ns);
	if (call == TRACE_NONE)
		return;
	const struct track *t = track_of(p, told_by(p, p->trace->calls.thread[call]));
	add_lines(p, sums, of, t->stay[stay_at(t, p->trace->calls.start[call])].line, ns);
}
