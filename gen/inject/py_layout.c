#include "py_layout.h"

#include "py_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* ---- by version ---- */

/* From the public struct definitions of CPython, on 64-bit Linux. */
static const struct {
	uint32_t minor; /* of 3 */
	struct py_layout layout;
} known[] = {
	{11,
         {.interpreters = 40,
          .interpreter_next = 0,
          .interpreter_threads = 16,
          .runtime_gil = 360,
          .thread_next = 8,
          .thread_interpreter = 16,
          .thread_native = 160,
          .thread_chunk = 296,
          .thread_frame = 56,
          .by_cframe = true,
          .cframe_frame = 8,
          .frame_code = 32,
          .frame_previous = 48,
          .frame_owner = 69,
          .code_file = 112,
          .code_qualname = 128,
          .code_line = 72,
          .text_length = 16,
          .text_state = 32,
          .text_ascii = 48,
          .text_compact = 72}},
	{12,
         {.interpreters = 40,
          .interpreter_next = 0,
          .interpreter_threads = 72,
          .thread_next = 8,
          .thread_interpreter = 16,
          .thread_native = 144,
          .thread_chunk = 232,
          .thread_frame = 56,
          .by_cframe = true,
          .cframe_frame = 0,
          .frame_code = 0,
          .frame_previous = 8,
          .frame_owner = 70,
          .code_file = 112,
          .code_qualname = 128,
          .code_line = 68,
          .text_length = 16,
          .text_state = 32,
          .text_ascii = 40,
          .text_compact = 56}},
};

bool py_layout_of(uint32_t version, struct py_layout *layout)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (version >> 24 == 3 && (version >> 16 & 0xFF) == known[i].minor) {
			*layout = known[i].layout;
			return true;
		}
	return false;
}

/* ---- as published ---- */

/* Words of _Py_DebugOffsets of 3.13; later versions have other ones in other places. */
enum {
	COOKIE = 0,
	VERSION = 1,
	FREE_THREADED = 2,
	RUNTIME_INTERPRETERS = 5,
	INTERPRETER_NEXT = 8,
	INTERPRETER_THREADS = 9,
	INTERPRETER_GIL = 14,
	THREAD_NEXT = 21,
	THREAD_INTERPRETER = 22,
	THREAD_FRAME = 23,
	THREAD_NATIVE = 25,
	THREAD_CHUNK = 26,
	FRAME_PREVIOUS = 29,
	FRAME_EXECUTABLE = 30,
	FRAME_OWNER = 33,
	CODE_FILE = 35,
	CODE_QUALNAME = 37,
	CODE_LINE = 39,
	OBJECT_TYPE = 45,
	TEXT_STATE = 68,
	TEXT_LENGTH = 69,
	TEXT_ASCII = 70
};

static bool fits(uint64_t offset, uint32_t bytes, uint32_t size)
{
	return offset <= size - bytes;
}

enum py_found py_layout_published(const uint64_t *w, size_t n, uint32_t version, struct py_layout *out)
{
	enum { FAR = 1 << 20, POINTER = 8, WORD = 4, UTF8 = 16 };
	if (n < PY_PUBLISHED_WORDS || memcmp(&w[COOKIE], "xdebugpy", 8) != 0 || w[VERSION] != version ||
	    version >> 16 != 0x030d)
		return PY_UNKNOWN;
	if (w[FREE_THREADED])
		return PY_FREE_THREADS;
	bool good = fits(w[RUNTIME_INTERPRETERS], POINTER, FAR) && fits(w[INTERPRETER_NEXT], POINTER, FAR) &&
	            fits(w[INTERPRETER_THREADS], POINTER, FAR) && fits(w[INTERPRETER_GIL], POINTER, FAR) &&
	            fits(w[THREAD_NEXT], POINTER, PY_THREAD_BYTES) &&
	            fits(w[THREAD_INTERPRETER], POINTER, PY_THREAD_BYTES) &&
	            fits(w[THREAD_FRAME], POINTER, PY_THREAD_BYTES) &&
	            fits(w[THREAD_NATIVE], POINTER, PY_THREAD_BYTES) &&
	            fits(w[THREAD_CHUNK], 2 * POINTER, PY_THREAD_BYTES) &&
	            fits(w[FRAME_PREVIOUS], POINTER, PY_FRAME_BYTES) &&
	            fits(w[FRAME_EXECUTABLE], POINTER, PY_FRAME_BYTES) && fits(w[FRAME_OWNER], 1, PY_FRAME_BYTES) &&
	            fits(w[CODE_FILE], POINTER, PY_CODE_BYTES) && fits(w[CODE_QUALNAME], POINTER, PY_CODE_BYTES) &&
	            fits(w[CODE_LINE], WORD, PY_CODE_BYTES) && w[OBJECT_TYPE] == PY_TYPE_AT &&
	            fits(w[TEXT_STATE], WORD, PY_TEXT_BYTES) && fits(w[TEXT_LENGTH], POINTER, PY_TEXT_BYTES) &&
	            fits(w[TEXT_ASCII], 0, 2 * PY_TEXT_BYTES);
	if (!good)
		return PY_UNKNOWN;
	*out = (struct py_layout){.interpreters = (uint32_t)w[RUNTIME_INTERPRETERS],
	                          .interpreter_next = (uint32_t)w[INTERPRETER_NEXT],
	                          .interpreter_threads = (uint32_t)w[INTERPRETER_THREADS],
	                          .interpreter_gil = (uint32_t)w[INTERPRETER_GIL],
	                          .thread_next = (uint32_t)w[THREAD_NEXT],
	                          .thread_interpreter = (uint32_t)w[THREAD_INTERPRETER],
	                          .thread_native = (uint32_t)w[THREAD_NATIVE],
	                          .thread_chunk = (uint32_t)w[THREAD_CHUNK],
	                          .thread_frame = (uint32_t)w[THREAD_FRAME],
	                          .frame_code = (uint32_t)w[FRAME_EXECUTABLE],
	                          .frame_previous = (uint32_t)w[FRAME_PREVIOUS],
	                          .frame_owner = (uint32_t)w[FRAME_OWNER],
	                          .code_file = (uint32_t)w[CODE_FILE],
	                          .code_qualname = (uint32_t)w[CODE_QUALNAME],
	                          .code_line = (uint32_t)w[CODE_LINE],
	                          .text_length = (uint32_t)w[TEXT_LENGTH],
	                          .text_state = (uint32_t)w[TEXT_STATE],
	                          .text_ascii = (uint32_t)w[TEXT_ASCII],
	                          .text_compact = (uint32_t)w[TEXT_ASCII] + UTF8};
	return PY_FOUND;
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
