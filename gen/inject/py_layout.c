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
          .frame_locals = 72,
          .frame_at = 56,
          .code_file = 112,
          .code_qualname = 128,
          .code_line = 72,
          .code_lines = 136,
          .code_instructions = 184,
          .text_length = 16,
          .text_state = 32,
          .text_ascii = 48,
          .text_compact = 72,
          .type_keys = 872,
          .values = PY_VALUES_APART}},
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
          .frame_locals = 72,
          .frame_at = 56,
          .code_file = 112,
          .code_qualname = 128,
          .code_line = 68,
          .code_lines = 136,
          .code_instructions = 192,
          .text_length = 16,
          .text_state = 32,
          .text_ascii = 40,
          .text_compact = 56,
          .type_keys = 880,
          .values = PY_VALUES_ODD}},
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

/* Words of _Py_DebugOffsets that every version has in the same place. */
enum {
	COOKIE = 0,
	VERSION = 1,
	FREE_THREADED = 2,
	RUNTIME_INTERPRETERS = 5,
	INTERPRETER_NEXT = 8,
	INTERPRETER_THREADS = 9
};

/* … and where the others stand: by version. */
static const struct published {
	uint32_t minor; /* of 3 */
	uint8_t interpreter_gil;
	uint8_t thread_next, thread_interpreter, thread_frame, thread_native, thread_chunk;
	uint8_t frame_previous, frame_executable, frame_at, frame_locals, frame_owner;
	uint8_t code_file, code_qualname, code_lines, code_line, code_instructions;
	uint8_t object_type, text_state, text_length, text_ascii;
	uint8_t flags;      /* py_layout.frame_flags, which nobody publishes … */
	uint16_t type_keys; /* … nor does 3.13 or 3.14 this */
} published[] = {
	{13, 14, 21, 22, 23, 25, 26, 29, 30, 31, 32, 33, 35, 37, 38, 39, 43, 45, 68, 69, 70, 0, 880},
	{14, 15, 24, 25, 26, 28, 29, 32, 33, 34, 35, 36, 40, 42, 43, 44, 48, 51, 78, 79, 80, 3, 880},
	{15, 15, 24, 25, 26, 31, 32, 40, 41, 42, 43, 44, 48, 50, 51, 52, 56, 59, 90, 91, 92, 3, 888},
};

static bool fits(uint64_t offset, uint32_t bytes, uint32_t size)
{
	return offset <= size - bytes;
}

static const struct published *published_by(uint32_t version)
{
	for (size_t i = 0; i < sizeof published / sizeof *published; i++)
		if (version >> 24 == 3 && (version >> 16 & 0xFF) == published[i].minor)
			return &published[i];
	return NULL;
}

enum py_found py_layout_published(const uint64_t *w, size_t n, uint32_t version, struct py_layout *out)
{
	enum { FAR = 1 << 20, POINTER = 8, WORD = 4, UTF8 = 16 };
	const struct published *p = published_by(version);
	if (n < PY_PUBLISHED_WORDS || memcmp(&w[COOKIE], "xdebugpy", 8) != 0 || w[VERSION] != version || !p)
		return PY_UNKNOWN;
	if (w[FREE_THREADED])
		return PY_FREE_THREADS;
	bool good = fits(w[RUNTIME_INTERPRETERS], POINTER, FAR) && fits(w[INTERPRETER_NEXT], POINTER, FAR) &&
	            fits(w[INTERPRETER_THREADS], POINTER, FAR) && fits(w[p->interpreter_gil], POINTER, FAR) &&
	            fits(w[p->thread_next], POINTER, PY_THREAD_BYTES) &&
	            fits(w[p->thread_interpreter], POINTER, PY_THREAD_BYTES) &&
	            fits(w[p->thread_frame], POINTER, PY_THREAD_BYTES) &&
	            fits(w[p->thread_native], POINTER, PY_THREAD_BYTES) &&
	            fits(w[p->thread_chunk], 2 * POINTER, PY_THREAD_BYTES) &&
	            fits(w[p->frame_previous], POINTER, PY_FRAME_BYTES) &&
	            fits(w[p->frame_executable], POINTER, PY_FRAME_BYTES) &&
	            fits(w[p->frame_owner], 1, PY_FRAME_BYTES) && fits(w[p->frame_at], POINTER, PY_FRAME_BYTES) &&
	            fits(w[p->frame_locals], 0, 2 * PY_FRAME_BYTES) && fits(w[p->code_file], POINTER, PY_CODE_BYTES) &&
	            fits(w[p->code_qualname], POINTER, PY_CODE_BYTES) && fits(w[p->code_line], WORD, PY_CODE_BYTES) &&
	            fits(w[p->code_lines], POINTER, PY_CODE_BYTES) && fits(w[p->code_instructions], POINTER, FAR) &&
	            w[p->object_type] == PY_TYPE_AT && fits(w[p->text_state], WORD, PY_TEXT_BYTES) &&
	            fits(w[p->text_length], POINTER, PY_TEXT_BYTES) && fits(w[p->text_ascii], 0, 2 * PY_TEXT_BYTES);
	if (!good)
		return PY_UNKNOWN;
	*out = (struct py_layout){.interpreters = (uint32_t)w[RUNTIME_INTERPRETERS],
	                          .interpreter_next = (uint32_t)w[INTERPRETER_NEXT],
	                          .interpreter_threads = (uint32_t)w[INTERPRETER_THREADS],
	                          .interpreter_gil = (uint32_t)w[p->interpreter_gil],
	                          .thread_next = (uint32_t)w[p->thread_next],
	                          .thread_interpreter = (uint32_t)w[p->thread_interpreter],
	                          .thread_native = (uint32_t)w[p->thread_native],
	                          .thread_chunk = (uint32_t)w[p->thread_chunk],
	                          .thread_frame = (uint32_t)w[p->thread_frame],
	                          .frame_code = (uint32_t)w[p->frame_executable],
	                          .frame_previous = (uint32_t)w[p->frame_previous],
	                          .frame_owner = (uint32_t)w[p->frame_owner],
	                          .frame_locals = (uint32_t)w[p->frame_locals],
	                          .frame_at = (uint32_t)w[p->frame_at],
	                          .frame_flags = p->flags,
	                          .code_file = (uint32_t)w[p->code_file],
	                          .code_qualname = (uint32_t)w[p->code_qualname],
	                          .code_line = (uint32_t)w[p->code_line],
	                          .code_lines = (uint32_t)w[p->code_lines],
	                          .code_instructions = (uint32_t)w[p->code_instructions],
	                          .text_length = (uint32_t)w[p->text_length],
	                          .text_state = (uint32_t)w[p->text_state],
	                          .text_ascii = (uint32_t)w[p->text_ascii],
	                          .text_compact = (uint32_t)w[p->text_ascii] + UTF8,
	                          .type_keys = p->type_keys,
	                          .values = PY_VALUES_INSIDE};
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
