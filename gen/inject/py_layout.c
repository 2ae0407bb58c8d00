#include "py.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* ---- by version ---- */

enum { FIRST_VERSION = 0x030B, PUBLISHED = 2, N_VERSIONS = 5 }; /* 3.11 to 3.15; from 3.13 on offsets are published */

/* Words of _Py_DebugOffsets that every version has in the same place. */
enum { COOKIE = 0, VERSION = 1, FREE_THREADED = 2 };

/* What nobody publishes, or not as an offset. */
static const struct {
	uint8_t text_compact; /* behind text_ascii */
	uint8_t object_type;  /* the word that says where an object's type stands */
	uint8_t frame_flags;
	uint16_t type_keys;
	enum py_values values;
} by_version[N_VERSIONS] = {{24, 0, 0, 872, PY_VALUES_APART},
                            {16, 0, 0, 880, PY_VALUES_ODD},
                            {16, 45, 0, 880, PY_VALUES_INSIDE},
                            {16, 51, 3, 880, PY_VALUES_INSIDE},
                            {16, 59, 3, 888, PY_VALUES_INSIDE}};

enum { FAR = 1 << 20, POINTER = 8, WORD = 4 };

/* Where a member stands in CPython's structs: of 3.11 and 3.12 from their public definitions, on 64-bit Linux; of later
 * ones the word that says so. */
#define MEMBER(name) offsetof(struct py_layout, name)
static const struct {
	size_t member;
	uint16_t known[PUBLISHED];
	uint8_t word[N_VERSIONS - PUBLISHED]; /* 0: none does */
	uint8_t bytes;                        /* that are read there, … */
	uint32_t most;                        /* … and of a struct of so many */
} members[] = {
	{MEMBER(interpreters), {40, 40}, {5, 5, 5}, POINTER, FAR},
	{MEMBER(interpreter_next), {0, 0}, {8, 8, 8}, POINTER, FAR},
	{MEMBER(interpreter_threads), {16, 72}, {9, 9, 9}, POINTER, FAR},
	{MEMBER(runtime_gil), {360, 0}, {0}, 0, 0},
	{MEMBER(interpreter_gil), {0, 0}, {14, 15, 15}, POINTER, FAR},
	{MEMBER(thread_next), {8, 8}, {21, 24, 24}, POINTER, PY_THREAD_BYTES},
	{MEMBER(thread_interpreter), {16, 16}, {22, 25, 25}, POINTER, PY_THREAD_BYTES},
	{MEMBER(thread_frame), {56, 56}, {23, 26, 26}, POINTER, PY_THREAD_BYTES},
	{MEMBER(thread_native), {160, 144}, {25, 28, 31}, POINTER, PY_THREAD_BYTES},
	{MEMBER(thread_chunk), {296, 232}, {26, 29, 32}, 2 * POINTER, PY_THREAD_BYTES},
	{MEMBER(cframe_frame), {8, 0}, {0}, 0, 0},
	{MEMBER(frame_previous), {48, 8}, {29, 32, 40}, POINTER, PY_FRAME_BYTES},
	{MEMBER(frame_code), {32, 0}, {30, 33, 41}, POINTER, PY_FRAME_BYTES},
	{MEMBER(frame_at), {56, 56}, {31, 34, 42}, POINTER, PY_FRAME_BYTES},
	{MEMBER(frame_locals), {72, 72}, {32, 35, 43}, 0, 2 * PY_FRAME_BYTES},
	{MEMBER(frame_owner), {69, 70}, {33, 36, 44}, 1, PY_FRAME_BYTES},
	{MEMBER(code_file), {112, 112}, {35, 40, 48}, POINTER, PY_CODE_BYTES},
	{MEMBER(code_qualname), {128, 128}, {37, 42, 50}, POINTER, PY_CODE_BYTES},
	{MEMBER(code_lines), {136, 136}, {38, 43, 51}, POINTER, PY_CODE_BYTES},
	{MEMBER(code_line), {72, 68}, {39, 44, 52}, WORD, PY_CODE_BYTES},
	{MEMBER(code_instructions), {184, 192}, {43, 48, 56}, POINTER, FAR},
	{MEMBER(text_state), {32, 32}, {68, 78, 90}, WORD, PY_TEXT_BYTES},
	{MEMBER(text_length), {16, 16}, {69, 79, 91}, POINTER, PY_TEXT_BYTES},
	{MEMBER(text_ascii), {48, 40}, {70, 80, 92}, 0, 2 * PY_TEXT_BYTES},
};

/* The layout of a version, with what it publishes; false: an offset lies beyond what is read. */
static bool layout_from(uint32_t version, const uint64_t *words, struct py_layout *out)
{
	*out = (struct py_layout){.by_cframe = version < PUBLISHED,
	                          .frame_flags = by_version[version].frame_flags,
	                          .type_keys = by_version[version].type_keys,
	                          .values = by_version[version].values};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		uint64_t offset = words ? 0 : members[i].known[version];
		if (words && *members[i].word)
			offset = words[members[i].word[version - PUBLISHED]];
		if (words && offset > members[i].most - members[i].bytes)
			return false;
		memcpy((char *)out + members[i].member, &(uint32_t){(uint32_t)offset}, sizeof(uint32_t));
	}
	out->text_compact = out->text_ascii + by_version[version].text_compact;
	return true;
}

bool py_layout_of(uint32_t version, struct py_layout *layout)
{
	uint32_t at = (version >> 16) - FIRST_VERSION;
	return at < PUBLISHED && layout_from(at, NULL, layout);
}

enum py_found py_layout_published(const uint64_t *w, size_t n, uint32_t version, struct py_layout *out)
{
	uint32_t at = (version >> 16) - FIRST_VERSION;
	if (n < PY_PUBLISHED_WORDS || memcmp(&w[COOKIE], "xdebugpy", 8) != 0 || w[VERSION] != version ||
	    at < PUBLISHED || at >= N_VERSIONS)
		return PY_UNKNOWN;
	if (w[FREE_THREADED])
		return PY_FREE_THREADS;
	return w[by_version[at].object_type] == PY_TYPE_AT && layout_from(at, w, out) ? PY_FOUND : PY_UNKNOWN;
}

/* ---- in this process ---- */

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	(void)size;
	if (!name || strncmp(name + 1, "libpython3.", 11) != 0)
		return 0;
	*(const char **)data = info->dlpi_name;
	return 1;
}

enum py_found py_find(struct py_runtime *py)
{
	*py = (struct py_runtime){0};
	void *in = RTLD_DEFAULT;
	if (!dlsym(in, "_PyRuntime")) { /* a program that loads Python for itself alone */
		const char *path = NULL;
		dl_iterate_phdr(look, &path);
		in = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
		if (!in || !dlsym(in, "_PyRuntime"))
			return PY_NONE;
	}
	py->runtime = (uintptr_t)dlsym(in, "_PyRuntime");
	py->code_type = (uintptr_t)dlsym(in, "PyCode_Type");
	py->text_type = (uintptr_t)dlsym(in, "PyUnicode_Type");
	py->bytes_type = (uintptr_t)dlsym(in, "PyBytes_Type");
	const unsigned long *version = dlsym(in, "Py_Version"); /* since 3.11 */
	if (!version || !py->code_type || !py->text_type || sizeof(void *) != 8)
		return PY_UNKNOWN;
	py->version = (uint32_t)*version;
	if (py_layout_of(py->version, &py->layout))
		return PY_FOUND;
	uint64_t words[PY_PUBLISHED_WORDS];
	if (!py_read(py->runtime, words, sizeof words))
		return PY_UNKNOWN;
	return py_layout_published(words, PY_PUBLISHED_WORDS, py->version, &py->layout);
}
