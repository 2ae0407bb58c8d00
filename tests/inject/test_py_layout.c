/* Offsets into CPython as 3.13 to 3.15 publish them, and reading what is not there. The offsets themselves are held
 * against running interpreters (check_inject_python.py). */
#include "inject/py_layout.c" /* of a library that is loaded into programs, not of libgapline */
#include "inject/py_memory.c"
#include "inject/py_stack.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { V3130 = 0x030d00f0, V3140 = 0x030e0af0, V3150 = 0x030f02f0 };

/* Words of _PyRuntime as 3.13.0, 3.14.10 and 3.15.2 have them on 64-bit Linux: where, and what. */
static const struct {
	uint32_t version;
	uint16_t word[23][2];
} versions[] = {
	{V3130, {{5, 632},  {8, 7264}, {9, 7344}, {14, 7432}, {21, 8},  {22, 16},  {23, 72},  {25, 160},
                 {26, 232}, {29, 8},   {30, 0},   {32, 72},   {33, 70}, {35, 112}, {37, 128}, {39, 68},
                 {45, 8},   {68, 32},  {69, 16},  {70, 40},   {31, 56}, {38, 136}, {43, 200}}},
	{V3140, {{5, 808},  {8, 7272}, {9, 7344}, {15, 16}, {24, 8},  {25, 16},  {26, 72},  {28, 160},
                 {29, 232}, {32, 8},   {33, 0},   {35, 80}, {36, 74}, {40, 112}, {42, 128}, {44, 68},
                 {51, 8},   {78, 32},  {79, 16},  {80, 40}, {34, 56}, {43, 136}, {48, 208}}},
	{V3150, {{5, 936},  {8, 7264}, {9, 7336}, {15, 16}, {24, 8},  {25, 16},  {26, 72},  {31, 184},
                 {32, 256}, {40, 8},   {41, 0},   {43, 80}, {44, 74}, {48, 112}, {50, 128}, {52, 68},
                 {59, 8},   {90, 32},  {91, 16},  {92, 40}, {42, 56}, {51, 136}, {56, 208}}},
};
enum { VERSIONS = sizeof versions / sizeof *versions, WORDS = 23 };

static void fill_as(uint64_t *w, size_t version)
{
	memset(w, 0, PY_PUBLISHED_WORDS * sizeof *w);
	memcpy(w, "xdebugpy", 8);
	w[1] = versions[version].version;
	for (size_t i = 0; i < WORDS; i++)
		w[versions[version].word[i][0]] = versions[version].word[i][1];
}

static void fill(uint64_t *w)
{
	fill_as(w, 0);
}

static void test_versions(void **state)
{
	(void)state;
	uint64_t w[PY_PUBLISHED_WORDS];
	struct py_layout l;
	for (size_t v = 0; v < VERSIONS; v++) {
		uint32_t version = versions[v].version;
		fill_as(w, v);
		assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, version, &l), PY_FOUND);
		const uint32_t in_order[WORDS] = {
			l.interpreters, l.interpreter_next,   l.interpreter_threads, l.interpreter_gil,
			l.thread_next,  l.thread_interpreter, l.thread_frame,        l.thread_native,
			l.thread_chunk, l.frame_previous,     l.frame_code,          l.frame_locals,
			l.frame_owner,  l.code_file,          l.code_qualname,       l.code_line,
			PY_TYPE_AT,     l.text_state,         l.text_length,         l.text_ascii,
			l.frame_at,     l.code_lines,         l.code_instructions};
		for (size_t i = 0; i < WORDS; i++)
			assert_int_equal(in_order[i], versions[v].word[i][1]);
		assert_int_equal(l.frame_flags, v ? 3 : 0);
		assert_int_equal(l.type_keys, version == V3150 ? 888 : 880);
		assert_int_equal(l.values, PY_VALUES_INSIDE);
		w[2] = 1;
		assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, version, &l), PY_FREE_THREADS);
	}
	w[1] = 0x031000f0; /* one that is to come */
	w[2] = 0;
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, 0x031000f0, &l), PY_UNKNOWN);
}

static void test_published(void **state)
{
	(void)state;
	uint64_t w[PY_PUBLISHED_WORDS];
	struct py_layout l;
	fill(w);
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, V3130, &l), PY_FOUND);
	assert_int_equal(l.interpreters, 632);
	assert_int_equal(l.interpreter_threads, 7344);
	assert_int_equal(l.interpreter_gil, 7432);
	assert_int_equal(l.runtime_gil, 0);
	assert_int_equal(l.thread_native, 160);
	assert_int_equal(l.thread_frame, 72);
	assert_false(l.by_cframe);
	assert_int_equal(l.frame_owner, 70);
	assert_int_equal(l.code_qualname, 128);
	assert_int_equal(l.code_line, 68);
	assert_int_equal(l.text_compact, 56);
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS - 1, V3130, &l), PY_UNKNOWN);
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, V3130 + 0x100, &l), PY_UNKNOWN);
	w[1] = V3140; /* it is not what it says */
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, V3140, &l), PY_UNKNOWN);
	fill(w);
	w[2] = 1;
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, V3130, &l), PY_FREE_THREADS);
	fill(w);
	((char *)w)[3] = 'E';
	assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, V3130, &l), PY_UNKNOWN);
}

/* Nothing that is published leads outside of what is read. */
static void test_far_offsets(void **state)
{
	(void)state;
	static const uint64_t far[] = {1 << 20, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 8};
	uint64_t w[PY_PUBLISHED_WORDS];
	struct py_layout l;
	for (size_t v = 0; v < VERSIONS; v++)
		for (size_t i = 0; i < WORDS; i++)
			for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
				fill_as(w, v);
				w[versions[v].word[i][0]] = far[k];
				assert_int_equal(py_layout_published(w, PY_PUBLISHED_WORDS, versions[v].version, &l),
				                 PY_UNKNOWN);
			}
}

static void test_by_version(void **state)
{
	(void)state;
	struct py_layout l;
	assert_true(py_layout_of(0x030b02f0, &l));
	assert_int_equal(l.thread_native, 160);
	assert_int_equal(l.runtime_gil, 360);
	assert_true(py_layout_of(0x030c0cf0, &l));
	assert_int_equal(l.thread_native, 144);
	assert_false(py_layout_of(0x030a00f0, &l));
	assert_false(py_layout_of(0x030d00f0, &l));
	assert_false(py_layout_of(0x040b02f0, &l));
}

static void test_no_python(void **state)
{
	(void)state;
	struct py_runtime py;
	assert_true(py_memory_allowed());
	assert_int_equal(py_find(&py), PY_NONE);
}

/* What is not mapped is an error, in the middle too. */
static void test_memory(void **state)
{
	(void)state;
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), to[64];
	assert_true(py_memory_allowed());
	memset(page, 7, 8192);
	munmap(page + 4096, 4096);
	assert_true(py_read((uintptr_t)page + 4096 - 64, to, 64));
	assert_int_equal(to[63], 7);
	assert_false(py_read((uintptr_t)page + 4096 - 63, to, 64));
	assert_false(py_read(8, to, 8));
	struct iovec from[2] = {{page, 8}, {page + 4096, 8}}, here[2] = {{to, 8}, {to + 8, 8}};
	assert_false(py_read_all(here, from, 2, 16));
	munmap(page, 4096);
}

/* A text as CPython 3.12 keeps it. */
static struct py_runtime made;
static char text[4 * 8 + 1];
static bool read_text(uint32_t kind, bool compact, bool ascii, uint64_t length, const void *data, size_t n, bool tail,
                      uint32_t most)
{
	_Alignas(8) static unsigned char object[256];
	uint32_t state = 1 | kind << 2 | (uint32_t)compact << 5 | (uint32_t)ascii << 6;
	uint64_t type = made.text_type;
	memset(object, 0, sizeof object);
	memcpy(object + 8, &type, 8);
	memcpy(object + 16, &length, 8);
	memcpy(object + 32, &state, 4);
	memcpy(object + (ascii ? 40 : 56), data, n);
	memset(text, 'x', sizeof text);
	return py_text_read(&made, (uintptr_t)object, tail, most, text);
}

static void test_texts(void **state)
{
	(void)state;
	static const uint16_t two[] = {0x6E2C, 0xD800, 'a'};
	static const uint32_t four[] = {0x10400, 0x110000, 'b'};
	assert_true(py_memory_allowed());
	made = (struct py_runtime){.text_type = 0x1234560};
	assert_true(py_layout_of(0x030c01f0, &made.layout));
	assert_true(read_text(1, true, true, 4, "name", 4, false, 8));
	assert_string_equal(text, "name");
	assert_true(read_text(1, true, true, 10, "first/last", 10, false, 5));
	assert_string_equal(text, "first");
	assert_true(read_text(1, true, true, 10, "first/last", 10, true, 4));
	assert_string_equal(text, "last");
	assert_true(read_text(1, true, false, 2, "\xE9z", 2, false, 8));
	assert_string_equal(text, "\xC3\xA9z");
	assert_true(read_text(2, true, false, 3, two, sizeof two, false, 8));
	assert_string_equal(text, "\xE6\xB8\xAC\xEF\xBF\xBD"
	                          "a");
	assert_true(read_text(4, true, false, 3, four, sizeof four, true, 8));
	assert_string_equal(text, "\xF0\x90\x90\x80\xEF\xBF\xBD"
	                          "b");
	assert_true(read_text(1, true, true, 3, "a\0b", 3, false, 8));
	assert_string_equal(text, "a\xEF\xBF\xBD"
	                          "b");
	assert_true(read_text(1, true, true, 0, "", 0, true, 8));
	assert_string_equal(text, "");
	assert_false(read_text(1, false, true, 4, "name", 4, false, 8));
	assert_false(read_text(3, true, false, 4, "name", 4, false, 8));
	assert_false(read_text(2, true, true, 4, "name", 4, false, 8));
	assert_false(read_text(1, true, true, UINT64_MAX, "name", 4, false, 8));
	assert_false(py_text_read(&made, 8, false, 8, text));
	assert_false(py_text_read(&made, (uintptr_t)&made + 1, false, 8, text));
	made.text_type++;
	static const uint64_t other[8] = {0};
	assert_false(py_text_read(&made, (uintptr_t)other, false, 8, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),  cmocka_unit_test(test_versions),  cmocka_unit_test(test_far_offsets),
		cmocka_unit_test(test_by_version), cmocka_unit_test(test_no_python), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
