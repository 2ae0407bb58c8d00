#include "py.h"

#include <string.h>
#include <time.h>

/* Who owns a frame: the thread (in its blocks), a generator (on the heap), the interpreter or the C stack (no function
 * at all). */
enum { OWNED_BY_THREAD = 0, OWNED_BY_GENERATOR = 1, OWNED_BY_C = 3, OWNED_BY_C_TOO = 4 };

enum {
	ATTEMPTS = 4,
	BLOCKS_MOST = 16,
	BLOCK_BYTES_MOST = 64 << 10, /* copied of one */
	COPY_BYTES = 256 << 10,
	BLOCK_HEAD = 24, /* the block before, its size, how much of it is used */
	WALK_MOST = 4096,
	CFRAME_BYTES = 24
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool is_pointer(uintptr_t p)
{
	return p >= 4096 && p % 8 == 0 && p >> 47 == 0;
}

/* ---- threads ---- */

bool py_thread_next(const struct py_runtime *py, struct py_walk *w, struct py_thread *thread)
{
	const struct py_layout *l = &py->layout;
	uint64_t word;
	if (!w->begun) {
		w->begun = true;
		if (!py_read(py->runtime + l->interpreters, &word, sizeof word))
			return false;
		w->interpreter = word;
		word = 0;
		if (is_pointer(w->interpreter) && !py_read(w->interpreter + l->interpreter_threads, &word, sizeof word))
			return false;
		w->next = word;
	}
	while (!w->next) {
		if (!is_pointer(w->interpreter) || ++w->steps > WALK_MOST ||
		    !py_read(w->interpreter + l->interpreter_next, &word, sizeof word) || !word)
			return false;
		w->interpreter = word;
		if (!is_pointer(w->interpreter) ||
		    !py_read(w->interpreter + l->interpreter_threads, &word, sizeof word))
			return false;
		w->next = word;
	}
	thread->address = w->next;
	if (++w->steps > WALK_MOST || !is_pointer(w->next) || !py_read(w->next, thread->bytes, PY_THREAD_BYTES) ||
	    py_word(thread->bytes + l->thread_interpreter) != w->interpreter) {
		w->torn = true;
		return false;
	}
	w->next = py_word(thread->bytes + l->thread_next);
	return true;
}

uint32_t py_thread_native(const struct py_runtime *py, const struct py_thread *thread)
{
	return (uint32_t)py_word(thread->bytes + py->layout.thread_native);
}

/* ---- the thread's blocks ---- */

struct block {
	uintptr_t address, end; /* of what is copied */
	const unsigned char *copy;
};

/* Of the sampling thread. */
static unsigned char copies[COPY_BYTES];
static struct block blocks[BLOCKS_MOST];
static size_t n_blocks, copied;

static bool block_room(uintptr_t address, uintptr_t end)
{
	return is_pointer(address) && end >= address + BLOCK_HEAD && end - address <= BLOCK_BYTES_MOST &&
	       n_blocks < BLOCKS_MOST && copied + (end - address) <= COPY_BYTES;
}

static void block_add(uintptr_t address, uintptr_t end)
{
	blocks[n_blocks++] = (struct block){address, end, copies + copied};
	copied += end - address;
}

/* The block before the last one, of which only what is used is copied. */
static bool block_before(void)
{
	if (!n_blocks)
		return false;
	uintptr_t address = py_word(blocks[n_blocks - 1].copy);
	unsigned char head[BLOCK_HEAD];
	if (!is_pointer(address) || !py_read(address, head, sizeof head))
		return false;
	uint64_t used = py_word(head + 16); /* words */
	if (used > BLOCK_BYTES_MOST / 8)
		return false;
	uintptr_t end = address + BLOCK_HEAD + used * 8;
	if (!block_room(address, end) || !py_read(address, copies + copied, end - address))
		return false;
	block_add(address, end);
	return true;
}

/* The copy of the frame at `address`, NULL where it lies in none of the blocks; `more`: those are copied that were not
 * yet. */
static const unsigned char *frame_in_blocks(uintptr_t address, bool more, size_t *block)
{
	for (size_t i = 0; i < n_blocks || (more && block_before()); i++)
		if (address >= blocks[i].address + BLOCK_HEAD && address + PY_FRAME_BYTES <= blocks[i].end) {
			*block = i;
			return blocks[i].copy + (address - blocks[i].address);
		}
	return NULL;
}

/* ---- frames ---- */

/* Whether `address` lies in the newest block: nothing else of the walk needs the older ones to tell that. */
static bool in_newest(uintptr_t address)
{
	return n_blocks && address >= blocks[0].address && address < blocks[0].end;
}

/* The innermost frame of the thread, with the thread's newest block in the same call, into `copies`. */
static bool top_read(const struct py_layout *l, const struct py_thread *thread, uintptr_t *frame)
{
	uintptr_t block = py_word(thread->bytes + l->thread_chunk);
	uintptr_t top = py_word(thread->bytes + l->thread_chunk + 8); /* where the next frame goes */
	uintptr_t at = py_word(thread->bytes + l->thread_frame);
	unsigned char cframe[CFRAME_BYTES];
	struct iovec to[2], from[2];
	size_t n = 0, bytes = 0;
	n_blocks = copied = 0;
	*frame = at;
	if (!at)
		return true;
	if (l->by_cframe) {
		from[n] = (struct iovec){(void *)at, sizeof cframe};
		to[n++] = (struct iovec){cframe, sizeof cframe};
		bytes += sizeof cframe;
	}
	/* The frame that is being made stands behind the last one that is whole. */
	uintptr_t end = top + PY_FRAME_BYTES;
	bool has = block && top > block && block_room(block, end);
	if (has) {
		from[n] = (struct iovec){(void *)block, end - block};
		to[n++] = (struct iovec){copies, end - block};
		bytes += end - block;
	} else if (block)
		return false;
	if (!py_read_all(to, from, n, bytes)) {
		/* At the end of a block there may be nothing behind it. */
		end = top;
		if (!has || end < block + BLOCK_HEAD)
			return false;
		from[n - 1].iov_len = to[n - 1].iov_len = end - block;
		if (!py_read_all(to, from, n, bytes - PY_FRAME_BYTES))
			return false;
	}
	if (has)
		block_add(block, end);
	if (l->by_cframe)
		*frame = py_word(cframe + l->cframe_frame);
	return true;
}

/* The innermost frame now; 0 where there is none, or in another struct than before: it is not the same then. */
static bool top_again(const struct py_layout *l, const struct py_thread *thread, uintptr_t *frame)
{
	uint64_t word[2] = {0};
	uintptr_t was = py_word(thread->bytes + l->thread_frame);
	struct iovec from[2] = {{(void *)(thread->address + l->thread_frame), sizeof *word},
	                        {(void *)(was + l->cframe_frame), sizeof *word}};
	struct iovec to[2] = {{&word[0], sizeof *word}, {&word[1], sizeof *word}};
	size_t n = l->by_cframe && was ? 2 : 1;
	if (!py_read_all(to, from, n, n * sizeof *word))
		return false;
	*frame = n == 1 ? word[0] : word[0] == was ? word[1] : 0;
	return true;
}

/* Copies a frame that lies in no block. Whoever goes on with a generator is noted in it as long as it runs only, and
 * one that is gone on with from C lies idle for half of the time: it is read until it runs. */
static bool frame_read(const struct py_layout *l, uintptr_t at, unsigned char *copy, bool *idle)
{
	enum { LOOKS = 12 };
	for (int look = 0; look < LOOKS; look++) {
		if (!py_read(at, copy, PY_FRAME_BYTES))
			return false;
		*idle = copy[l->frame_owner] == OWNED_BY_GENERATOR && !py_word(copy + l->frame_previous);
		if (!*idle)
			return true;
	}
	return true;
}

/* The frame at `at`, in a block or copied to `copy`; NULL: none can be read, or it does not lie where its owner has it.
 * Frames of generators and of C lie in no block; whoever owns the frame is in the frame. */
static const unsigned char *frame_at(const struct py_layout *l, uintptr_t at, unsigned char *copy, size_t *block)
{
	const unsigned char *frame = frame_in_blocks(at, false, block);
	if (!frame) {
		bool idle;
		if (!frame_read(l, at, copy, &idle) || idle)
			return NULL;
		unsigned char owner = copy[l->frame_owner];
		if (owner == OWNED_BY_GENERATOR || owner == OWNED_BY_C || owner == OWNED_BY_C_TOO)
			return copy;
		if (owner == OWNED_BY_THREAD)
			frame = frame_in_blocks(at, true, block);
	}
	return frame && frame[l->frame_owner] == OWNED_BY_THREAD ? frame : NULL;
}

/* Code addresses of the frames from `at` on; those beyond `last`, if it lies in the newest block, are left out. A
 * generator that nobody goes on with does not run, and who called it is not known. (In 3.11 that is also one that C
 * code without any Python below it goes on with.) */
static bool frames_walk(const struct py_layout *l, uintptr_t at, uintptr_t last, struct py_stack *s)
{
	unsigned char copy[PY_FRAME_BYTES];
	uintptr_t above = UINTPTR_MAX;
	size_t above_block = 0;
	s->n = 0;
	s->outermost = 0;
	s->cut = false;
	for (unsigned steps = 0; at; steps++) {
		size_t block = 0;
		if (!is_pointer(at) || steps > WALK_MOST)
			return false;
		if (s->n == PY_DEPTH_MOST) {
			s->cut = true;
			s->outermost = 0;
			return true;
		}
		const unsigned char *frame = frame_at(l, at, copy, &block);
		if (!frame)
			return false;
		unsigned char owner = frame[l->frame_owner];
		uintptr_t code = py_word(frame + l->frame_code) & ~l->frame_flags;
		uintptr_t previous = py_word(frame + l->frame_previous);
		if (owner == OWNED_BY_THREAD) { /* they lie in the order in which they were called */
			if (block < above_block || (block == above_block && at >= above))
				return false;
			above = at;
			above_block = block;
		}
		bool over = owner == OWNED_BY_THREAD && block == 0 && in_newest(last) && at > last;
		if (owner != OWNED_BY_C && owner != OWNED_BY_C_TOO && !over) {
			if (!is_pointer(code))
				return false;
			s->at[s->n] = py_word(frame + l->frame_at);
			s->code[s->n++].address = code;
			s->outermost = at;
		}
		if (previous == at)
			return false;
		at = previous;
	}
	return true;
}

/* ---- code objects ---- */

/* What was read a moment ago need not be read again: each place costs a microsecond. A code object may be freed and
 * another one come to its place, so that holds for outer frames only, which have been there for a while, and not for
 * long. */
enum { SEEN = 4096, INNER = 4 };
static const int64_t SEEN_NS = 50000000;
static struct seen {
	struct py_code code;
	int64_t time;
} seen[SEEN];

static struct seen *seen_of(uintptr_t address)
{
	return &seen[(uint32_t)(address >> 4) * UINT32_C(0x9E3779B1) >> 20];
}

/* Reads the code objects of `n` frames; false: one of them is none. */
static bool codes_fetch(const struct py_runtime *py, struct py_code *const *codes, size_t n, int64_t time)
{
	static unsigned char bytes[PY_DEPTH_MOST][PY_CODE_BYTES];
	static struct iovec to[PY_DEPTH_MOST], from[PY_DEPTH_MOST];
	const struct py_layout *l = &py->layout;
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct iovec){bytes[i], PY_CODE_BYTES};
		from[i] = (struct iovec){(void *)codes[i]->address, PY_CODE_BYTES};
	}
	if (!py_read_all(to, from, n, n * PY_CODE_BYTES))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct py_code *c = codes[i];
		c->file = py_word(bytes[i] + l->code_file);
		c->qualname = py_word(bytes[i] + l->code_qualname);
		c->lines = py_word(bytes[i] + l->code_lines);
		memcpy(&c->line, bytes[i] + l->code_line, sizeof c->line);
		if (py_word(bytes[i] + PY_TYPE_AT) != py->code_type)
			return false;
		*seen_of(c->address) = (struct seen){*c, time};
	}
	return true;
}

/* What stands in the code objects of the stack; false: one of them is none. Those without a name are the interpreter's
 * own and left out. */
static bool codes_read(const struct py_runtime *py, struct py_stack *s, int64_t time)
{
	static struct py_code *unknown[PY_DEPTH_MOST];
	size_t n = 0;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct seen *was = seen_of(s->code[i].address);
		if (i >= INNER && was->code.address == s->code[i].address && time - was->time < SEEN_NS)
			s->code[i] = was->code;
		else
			unknown[n++] = &s->code[i];
	}
	if (n && !codes_fetch(py, unknown, n, time))
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->code[i].file && s->code[i].qualname) {
			s->at[kept] = s->at[i];
			s->code[kept++] = s->code[i];
		} else if (i == s->n - 1)
			s->outermost = 0;
	s->n = kept;
	return true;
}

enum py_read_result py_stack_read(const struct py_runtime *py, const struct py_thread *thread, struct py_stack *s,
                                  int64_t *time)
{
	const struct py_layout *l = &py->layout;
	struct py_thread t = *thread;
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		uintptr_t before, after;
		bool last = attempt == ATTEMPTS - 1;
		*time = now();
		if (attempt && (!py_read(t.address, t.bytes, PY_THREAD_BYTES) ||
		                py_thread_native(py, &t) != py_thread_native(py, thread)))
			return PY_TORN;
		if (!top_read(l, &t, &before) || !top_again(l, &t, &after))
			continue;
		s->moved = before != after;
		s->top = after;
		if ((s->moved && !last) || !frames_walk(l, before, s->moved ? after : 0, s) ||
		    !codes_read(py, s, *time))
			continue;
		return s->n ? PY_READ : PY_IDLE;
	}
	return PY_TORN;
}

bool py_stack_still(const struct py_runtime *py, const struct py_thread *thread, const struct py_stack *s)
{
	const struct py_layout *l = &py->layout;
	uint64_t at;
	if (!py_read(thread->address + l->thread_frame, &at, sizeof at))
		return false;
	if (l->by_cframe && at && !py_read(at + l->cframe_frame, &at, sizeof at))
		return false;
	return at == s->top;
}

/* ---- texts ---- */

static char *utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xC0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3F));
	} else if (c < 0x10000) {
		*to++ = (char)(0xE0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3F));
		*to++ = (char)(0x80 | (c & 0x3F));
	} else {
		*to++ = (char)(0xF0 | (c >> 18 & 7));
		*to++ = (char)(0x80 | (c >> 12 & 0x3F));
		*to++ = (char)(0x80 | (c >> 6 & 0x3F));
		*to++ = (char)(0x80 | (c & 0x3F));
	}
	return to;
}

/* A character of so many bytes; what is none, U+FFFD. */
static uint32_t character(const unsigned char *bytes, uint32_t kind)
{
	uint32_t c = *bytes;
	uint16_t two;
	if (kind == 2) {
		memcpy(&two, bytes, 2);
		c = two;
	} else if (kind == 4)
		memcpy(&c, bytes, 4);
	return c == 0 || (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF ? 0xFFFD : c;
}

bool py_text_read(const struct py_runtime *py, uintptr_t address, bool tail, uint32_t most, char *text)
{
	enum { CHARACTERS_MOST = 1024, LONGEST = 1 << 20 };
	static unsigned char data[4 * CHARACTERS_MOST];
	const struct py_layout *l = &py->layout;
	unsigned char head[PY_TEXT_BYTES];
	uint32_t state;
	if (!is_pointer(address) || !py_read(address, head, sizeof head) || py_word(head + PY_TYPE_AT) != py->text_type)
		return false;
	memcpy(&state, head + l->text_state, sizeof state);
	uint64_t length = py_word(head + l->text_length);
	uint32_t kind = state >> 2 & 7; /* bytes a character; behind the two bits that say whether it is interned */
	bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
	if (!compact || length > LONGEST || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1))
		return false;
	most = most < CHARACTERS_MOST ? most : CHARACTERS_MOST;
	uint32_t n = length < most ? (uint32_t)length : most;
	uintptr_t from = address + (ascii ? l->text_ascii : l->text_compact);
	if (tail)
		from += (length - n) * kind;
	if (n && !py_read(from, data, (size_t)n * kind))
		return false;
	for (uint32_t i = 0; i < n; i++)
		text = utf8(text, character(data + (size_t)i * kind, kind));
	*text = 0;
	return true;
}
