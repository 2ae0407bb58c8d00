/* Fuzz target: any bytes as the memory of a running Python, which changes while it is read: its threads, their frames,
 * the functions' names and the lock. What is made of it is bounded: no more frames than there is room for, texts that
 * are UTF-8 and end, a number of reads that a sampler can wait for.
 *
 * The bytes: struct head, then `changes` of struct change, then the memory at BASE. */
#include "inject/py_gil.c" /* of a library that is loaded into programs, not of libgapline */
#include "inject/py_layout.c"
#include "inject/py_names.c"
#include "inject/py_stack.c"

#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { BASE = 0x10000, CODE_TYPE = 0x7000, TEXT_TYPE = 0x7800, READS_MOST = 1 << 20, THREADS_MOST = 8 };

struct head {
	uint8_t version; /* 0: 3.11, 1: 3.12, else as published at BASE */
	uint8_t changes;
	uint8_t unused[6];
};

struct change { /* after so many reads this word is another one */
	uint16_t reads, unused;
	uint32_t at;
	uint64_t word;
};

static uint8_t *image;
static size_t image_n;
static const uint8_t *changes;
static unsigned n_changes, reads;

bool py_memory_allowed(void)
{
	return true;
}

/* Of a thread that is no thread of this program. */
bool py_task_file(uint32_t tid, const char *what, char *text, size_t room)
{
	(void)tid, (void)what, (void)room;
	*text = '\0';
	return false;
}

static void change_all(void)
{
	reads++;
	if (reads > READS_MOST)
		abort();
	for (unsigned i = 0; i < n_changes; i++) {
		struct change c;
		memcpy(&c, changes + i * sizeof c, sizeof c);
		if (c.reads == reads && image_n >= sizeof c.word && c.at <= image_n - sizeof c.word)
			memcpy(image + c.at, &c.word, sizeof c.word);
	}
}

static bool copy(uintptr_t from, void *to, size_t n)
{
	if (from < BASE || from - BASE > image_n || n > image_n - (from - BASE))
		return false;
	memcpy(to, image + (from - BASE), n);
	return true;
}

bool py_read(uintptr_t from, void *to, size_t n)
{
	change_all();
	return copy(from, to, n);
}

bool py_read_all(const struct iovec *to, const struct iovec *from, size_t n, size_t bytes)
{
	size_t all = 0;
	change_all();
	for (size_t i = 0; i < n; i++) {
		all += from[i].iov_len;
		if (to[i].iov_len != from[i].iov_len)
			abort();
		if (!copy((uintptr_t)from[i].iov_base, to[i].iov_base, to[i].iov_len))
			return false;
	}
	return all == bytes;
}

static void check_text(const char *text)
{
	for (size_t n = strlen(text), at = 0, skip; at < n;) {
		uint32_t code;
		size_t length = utf8_next((const unsigned char *)text + at, n - at, &code, &skip);
		if (!length)
			abort();
		at += length;
	}
}

static bool named(uint32_t number, const char *name, const char *file, bool library)
{
	(void)library;
	if (!number || strlen(name) > 4 * PY_NAME_CHARACTERS || strlen(file) > 4 * PY_NAME_CHARACTERS)
		abort();
	check_text(name);
	check_text(file);
	return number % 16 != 7;
}

static void check_thread(const struct py_runtime *py, const struct py_thread *thread)
{
	static struct py_stack stack;
	int64_t time;
	enum py_read_result result = py_stack_read(py, thread, &stack, &time);
	if (result != PY_READ)
		return;
	if (!stack.n || stack.n > PY_DEPTH_MOST)
		abort();
	py_stack_still(py, thread, &stack);
	for (uint32_t i = 0; i < stack.n; i++)
		py_name(py, &stack.code[i], named);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct head head;
	if (n < sizeof head)
		return 0;
	memcpy(&head, data, sizeof head);
	data += sizeof head;
	n -= sizeof head;
	n_changes = head.changes;
	if (n_changes > n / sizeof(struct change))
		n_changes = (unsigned)(n / sizeof(struct change));
	changes = data;
	data += n_changes * sizeof(struct change);
	n -= n_changes * sizeof(struct change);
	image = malloc(n + 1);
	if (!image)
		abort();
	memcpy(image, data, n);
	image_n = n;
	reads = 0;

	struct py_runtime py = {.runtime = BASE, .code_type = CODE_TYPE, .text_type = TEXT_TYPE};
	uint64_t words[PY_PUBLISHED_WORDS];
	bool has_layout = head.version > 1 ? py_read(BASE, words, sizeof words) &&
	                                             py_layout_published(words, PY_PUBLISHED_WORDS, 0x030d00f0,
	                                                                 &py.layout) == PY_FOUND
	                                   : py_layout_of(head.version ? 0x030c00f0 : 0x030b00f0, &py.layout);
	if (has_layout) {
		struct py_walk walk = {0};
		struct py_thread thread;
		struct py_gil gil;
		py_gil_find(&py);
		for (int i = 0; i < THREADS_MOST && py_thread_next(&py, &walk, &thread); i++) {
			check_thread(&py, &thread);
			py_gil_read(&py, walk.interpreter, &gil);
		}
	}
	memset(seen, 0, sizeof seen); /* the same bytes do the same */
	py_names_forget();
	free(image);
	return 0;
}
