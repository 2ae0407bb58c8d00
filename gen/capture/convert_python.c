/* Samples of Python's frames -> rows: the tables in which nsys keeps samples of the CPU. They differ from nsys's in
 * what they mean: a sample is taken at its time whatever the thread does then, also while it sleeps or waits, so
 * nothing is said of a processor or a thread's state; `symbol` is the function's qualified name and `module` the base
 * name of its file. */
#include "capture/convert.h"

#include "capture/elf_symbols.h"
#include "capture/kernel_name.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a file's name without the line that is behind it, "train.py:12". */
static size_t without_line(const char *file, size_t bytes)
{
	size_t end = bytes;
	while (end && file[end - 1] >= '0' && file[end - 1] <= '9')
		end--;
	return end > 1 && end < bytes && file[end - 1] == ':' ? end - 1 : bytes;
}

static void add_function(struct file *f, const struct spool_event *e, const char *text)
{
	const char *end = memchr(text, 0, e->text_bytes);
	if (!end || !e->id || e->id > UINT32_MAX) {
		f->convert->result->skipped++;
		return;
	}
	size_t name_bytes = (size_t)(end - text);
	uint32_t known = f->functions.n, i = KEYMAP_ADD(&f->arena, &f->functions, e->id, f->function);
	if (i < known)
		return;
	f->function[i].name = profile_string(&f->convert->profile, text, name_bytes);
	f->function[i].library = e->category;
	const char *file = end + 1;
	const size_t file_bytes = (size_t)e->text_bytes - name_bytes - 1;
	f->function[i].file = profile_string(&f->convert->profile, file, file_bytes);
	f->function[i].in = profile_string(&f->convert->profile, file, without_line(file, file_bytes));
}

/* Not in the kernel, by no address, and nothing was unwound. */
static void write_frame(struct profile *p, int64_t id, int64_t symbol, int64_t module, bool unresolved, bool special,
                        uint32_t depth)
{
	PROFILE_ROW(p, PROFILE_STACK, id, symbol, module, 0, PROFILE_NULL, unresolved, special, PROFILE_NULL,
	            PROFILE_NULL, depth);
}

/* A sample with a function that nobody named makes no sense as a whole. */
static bool is_known(struct file *f, const char *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number;
		memcpy(&number, frames + i * sizeof number, sizeof number);
		if (keymap_find(&f->functions, number) == UINT32_MAX)
			return false;
	}
	return n > 0;
}

/* A sample with its stack; 0: it makes no sense. */
static int64_t write_sample(struct file *f, const struct spool_event *e, const char *frames, int64_t time)
{
	struct convert *c = f->convert;
	struct profile *p = &c->profile;
	uint32_t n = e->text_bytes / (uint32_t)sizeof(uint32_t);
	if (e->id > UINT32_MAX || !is_known(f, frames, n))
		return 0;
	int64_t id = ++c->n_samples;
	/* which processor, and whether it ran on one, is not known */
	PROFILE_ROW(p, PROFILE_SAMPLE, id, time, PROFILE_NULL, PROFILE_NULL,
	            convert_global_tid(f->header.pid, (uint32_t)e->id), 0);
	uint32_t native = convert_native_frames(f, e, id);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t number;
		memcpy(&number, frames + i * sizeof number, sizeof number);
		const struct python_function *function = &f->function[keymap_find(&f->functions, number)];
		write_frame(p, id, function->name, function->file, false, false, native + i);
	}
	if (e->category) {
		static const char deep[] = "[Max depth]"; /* nsys's word */
		int64_t word = profile_string(p, deep, sizeof deep - 1);
		write_frame(p, id, word, word, false, true, native + n);
	}
	return id;
}

/* What a sample of a thread says of the interpreter's lock. `of_holder`: the sample of the holder at the same time. */
static void write_gil(struct file *f, const struct spool_event *e, const char *text, int64_t time, int64_t of_holder)
{
	struct profile *p = &f->convert->profile;
	uint64_t state = e->payload >> 32, switches = 0;
	uint32_t holder = (uint32_t)e->payload;
	if (state != SPOOL_GIL_NOT && state != SPOOL_GIL_WAITS)
		return;
	if (e->text_bytes == sizeof switches)
		memcpy(&switches, text, sizeof switches);
	PROFILE_ROW(p, PROFILE_GIL, time, convert_global_tid(f->header.pid, (uint32_t)e->id), state == SPOOL_GIL_WAITS,
	            holder ? convert_global_tid(f->header.pid, holder) : PROFILE_NULL,
	            holder ? profile_said(of_holder) : PROFILE_NULL,
	            switches <= INT64_MAX ? profile_said((int64_t)switches) : PROFILE_NULL);
}

static void add_sample(struct file *f, const struct spool_event *e, const char *frames)
{
	struct convert_result *result = f->convert->result;
	int64_t time, end, id = 0;
	if (convert_times(f, (uint64_t)e->time, (uint64_t)e->time, &time, &end))
		id = write_sample(f, e, frames, time);
	result->skipped += !id;
	if (e->type == SPOOL_HOLDER) {
		f->holder_sample = id;
		f->holder_event = *e;
	} else
		result->samples += id != 0;
}

static void add_lock(struct file *f, const struct spool_event *e, const char *text)
{
	int64_t time, end;
	bool of_holder = f->holder_event.time == e->time && f->holder_event.id == (uint32_t)e->payload;
	if (convert_times(f, (uint64_t)e->time, (uint64_t)e->time, &time, &end) && e->id <= UINT32_MAX)
		write_gil(f, e, text, time, of_holder ? f->holder_sample : 0);
	else
		f->convert->result->skipped++;
	f->holder_sample = 0;
}

/* ---- where the nodes of graphs were made ---- */

struct chain {
	const struct spool_frame *frames;
	size_t bytes;
	int64_t id;
};

static void write_chain(struct file *f, int64_t id, const struct spool_frame *frames, size_t n)
{
	struct profile *p = &f->convert->profile;
	for (size_t i = 0; i < n; i++) {
		const struct python_function *function = &f->function[keymap_find(&f->functions, frames[i].function)];
		PROFILE_ROW(p, PROFILE_CALLCHAIN, id, function->name, function->in, 0 /* not unresolved */,
		            PROFILE_NULL /* no address */, (int64_t)i, profile_said(frames[i].line), function->library);
	}
}

int64_t convert_node_frames(struct file *f, const struct spool_event *e, const char *text)
{
	const size_t n = e->text_bytes / sizeof(struct spool_frame), bytes = n * sizeof(struct spool_frame);
	struct spool_frame *frames = ARENA_NEW(&f->arena, n, struct spool_frame);
	uint64_t hash = UINT64_C(14695981039346656037);
	memcpy(frames, text, bytes);
	for (size_t i = 0; i < n; i++) {
		if (keymap_find(&f->functions, frames[i].function) == UINT32_MAX) {
			f->convert->result->skipped++;
			return 0;
		}
		hash = (hash ^ frames[i].function) * UINT64_C(1099511628211);
		hash = (hash ^ frames[i].line) * UINT64_C(1099511628211);
	}
	for (; n; hash++) {
		uint32_t known = f->chains.n, i = KEYMAP_ADD(&f->arena, &f->chains, hash, f->chain);
		if (i == known) {
			f->chain[i] = (struct chain){frames, bytes, ++f->convert->n_chains};
			write_chain(f, f->chain[i].id, frames, n);
		}
		if (f->chain[i].bytes == bytes && !memcmp(f->chain[i].frames, frames, bytes))
			return f->chain[i].id;
	}
	return 0;
}

void convert_python(struct file *f, const struct spool_event *e, const char *text)
{
	if (e->type == SPOOL_FUNCTION)
		add_function(f, e, text);
	else if (e->type == SPOOL_LOCK)
		add_lock(f, e, text);
	else
		add_sample(f, e, text);
}

void convert_sampled(struct convert *c, const unsigned char *payload, size_t n)
{
	struct spool_sampled s;
	const uint64_t far = UINT64_C(1) << 60;
	if (n < sizeof s)
		return;
	memcpy(&s, payload, sizeof s);
	if (s.taken > far || s.torn > far || s.every_ns > far)
		return;
	c->result->sample_ns = (int64_t)s.every_ns;
	c->result->samples_torn += (int64_t)s.torn;
	if (c->result->samples_torn > (int64_t)far)
		c->result->samples_torn = (int64_t)far;
}

/* What Python's innermost functions had called -> frames of their samples, below (before) Python's own. The libraries
 * noted places in files only; which functions those are is found out here, after the program has ended, from the files'
 * symbols. Of a file only its base name is kept. */

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
	uint32_t known = n->modules.n, i = KEYMAP_ADD(&f->arena, &n->modules, e->id, n->module);
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
	uint32_t known = n->places.n, i = KEYMAP_ADD(&f->arena, &n->places, key, n->place);
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
		write_frame(p, sample, place->symbol, n->module[module].name, place->unresolved, false, depth++);
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
