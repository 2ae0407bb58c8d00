/* What Python's innermost functions had called -> frames of their samples, below (before) Python's own. The libraries
 * noted places in files only; which functions those are is found out here, after the program has ended, from the files'
 * symbols. Of a file only its base name is kept. */
#include "capture/convert_parts.h"
#include "capture/elf_symbols.h"
#include "capture/kernel_name.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES_MOST = 64, OFFSET_BITS = 40 };

struct module {
	const char *path;
	uint64_t inode;
	int64_t name; /* StringId */
	bool read;
	struct elf_symbols symbols;
};

struct place { /* in a module */
	int64_t symbol;
	bool unresolved;
};

struct native {
	struct keymap modules; /* by their numbers in the file */
	struct module *module;
	struct keymap places; /* by module's index << OFFSET_BITS | offset */
	struct place *place;
	/* Of the sample that comes next. */
	int64_t time;
	uint64_t thread;
	uint32_t n;
	struct spool_native_frame frames[FRAMES_MOST];
};

static struct native *native_of(struct file *f)
{
	if (!f->native) {
		f->native = ARENA_NEW(&f->arena, 1, struct native);
		keymap_init(&f->native->modules, &f->arena);
		keymap_init(&f->native->places, &f->arena);
	}
	return f->native;
}

static void add_module(struct file *f, const struct spool_event *e, const char *text)
{
	struct native *n = native_of(f);
	if (!e->id || e->id > UINT32_MAX || !e->text_bytes || memchr(text, 0, e->text_bytes)) {
		f->convert->result->skipped++;
		return;
	}
	uint32_t room = n->modules.room, known = n->modules.n, i = keymap_add(&n->modules, e->id);
	n->module = convert_grow(&f->arena, n->module, room, &n->modules, sizeof *n->module);
	if (i < known)
		return;
	const char *path = arena_copy(&f->arena, text, e->text_bytes), *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	n->module[i] = (struct module){
		.path = path, .inode = e->payload, .name = profile_string(&f->convert->profile, name, strlen(name))};
}

static void add_frames(struct file *f, const struct spool_event *e, const char *frames)
{
	struct native *n = native_of(f);
	uint32_t count = e->text_bytes / (uint32_t)sizeof *n->frames;
	n->n = count < FRAMES_MOST ? count : FRAMES_MOST;
	memcpy(n->frames, frames, n->n * sizeof *n->frames);
	n->time = e->time;
	n->thread = e->id;
}

void convert_native(struct file *f, const struct spool_event *e, const char *text)
{
	if (e->type == SPOOL_MODULE)
		add_module(f, e, text);
	else
		add_frames(f, e, text);
}

static const struct place *place_of(struct file *f, uint32_t module, uint64_t offset)
{
	static const char none[] = "[Unknown]";
	struct native *n = f->native;
	struct profile *p = &f->convert->profile;
	uint64_t key = (uint64_t)module << OFFSET_BITS | (offset & ((UINT64_C(1) << OFFSET_BITS) - 1));
	uint32_t room = n->places.room, known = n->places.n, i = keymap_add(&n->places, key);
	n->place = convert_grow(&f->arena, n->place, room, &n->places, sizeof *n->place);
	if (i < known)
		return &n->place[i];
	struct module *m = &n->module[module];
	if (!m->read && *m->path == '/')
		elf_symbols_read(m->path, m->inode, &f->arena, &m->symbols);
	m->read = true;
	const struct elf_function *function = elf_symbols_find(&m->symbols, offset);
	if (function) {
		const char *name = kernel_name_demangled(&f->arena, function->name);
		n->place[i].symbol = profile_string(p, name, strlen(name));
	} else {
		n->place[i].symbol = profile_string(p, none, sizeof none - 1);
		n->place[i].unresolved = true;
	}
	return &n->place[i];
}

uint32_t convert_native_frames(struct file *f, const struct spool_event *e, int64_t sample)
{
	struct native *n = f->native;
	struct profile *p = &f->convert->profile;
	uint32_t depth = 0;
	if (!n || n->time != e->time || n->thread != e->id)
		return 0;
	for (uint32_t i = 0; i < n->n; i++) {
		const struct spool_native_frame *frame = &n->frames[i];
		uint32_t module = keymap_find(&n->modules, frame->module);
		if (module == UINT32_MAX)
			continue;
		/* What something returns to may be the first instruction of another function. */
		uint64_t offset = frame->offset - (frame->back && frame->offset);
		const struct place *place = place_of(f, module, offset);
		profile_begin(p, PROFILE_STACK);
		profile_int(p, sample);
		profile_int(p, place->symbol);
		profile_int(p, n->module[module].name);
		profile_int(p, 0); /* not in the kernel */
		profile_null(p, 1);
		profile_int(p, place->unresolved);
		profile_int(p, 0);
		profile_null(p, 2);
		profile_int(p, depth++);
		profile_end(p);
	}
	n->n = 0;
	return depth;
}

void convert_native_sampled(struct convert *c, const unsigned char *payload, size_t n)
{
	struct spool_native_sampled s;
	const uint64_t far = UINT64_C(1) << 60;
	struct convert_result *r = c->result;
	if (n < sizeof s)
		return;
	memcpy(&s, payload, sizeof s);
	if (s.waiting > far || s.running > far || s.missed > far || s.moved > far || s.unknown > far ||
	    s.interrupted > far || r->native_asked > (int64_t)far || r->native_missed > (int64_t)far ||
	    r->native_interrupted > (int64_t)far)
		return;
	r->native_asked += (int64_t)(s.waiting + s.running);
	r->native_missed += (int64_t)(s.missed + s.moved + s.unknown);
	r->native_interrupted += (int64_t)s.interrupted;
}

void convert_native_say(struct convert *c)
{
	const struct convert_result *r = c->result;
	char text[256];
	if (!c->pids.n)
		return;
	if (r->native_interrupted) {
		snprintf(text, sizeof text, "%lld system calls of the program returned EINTR because of --trace native",
		         (long long)r->native_interrupted);
		convert_add_message(c, c->processes->pid, SPOOL_WARNING, SPOOL_CODE_OTHER, text, strlen(text));
	}
	if (r->native_missed > r->native_asked / 50) {
		snprintf(text, sizeof text,
		         "what Python's functions had called was looked for %lld times and not found out %lld times",
		         (long long)(r->native_asked), (long long)r->native_missed);
		convert_add_message(c, c->processes->pid, SPOOL_INFO, SPOOL_CODE_OTHER, text, strlen(text));
	}
}
