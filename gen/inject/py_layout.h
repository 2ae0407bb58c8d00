/* Where a running CPython keeps what a sampler reads: offsets into its structs. Since 3.13 it publishes them itself
 * (_Py_DebugOffsets, the beginning of _PyRuntime); of 3.11 and 3.12 they are known by version. Either way nothing is
 * believed until the sampler has found real threads, frames, code and names with them. */
#ifndef GAPLINE_INJECT_PY_LAYOUT_H
#define GAPLINE_INJECT_PY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are read of each struct at once; every offset lies within. */
enum { PY_THREAD_BYTES = 320, PY_FRAME_BYTES = 80, PY_CODE_BYTES = 144, PY_TEXT_BYTES = 48 };

/* Where an object keeps the values of its attributes, as long as it needs no dictionary of its own. */
enum py_values {
	PY_VALUES_APART, /* 3.11: a pointer to them stands before the object, another one to its dictionary */
	PY_VALUES_ODD,   /* 3.12: one pointer is either of them; an odd one is to the values, less 1 */
	PY_VALUES_INSIDE /* since 3.13: behind the object's own fields */
};

struct py_layout {
	uint32_t interpreters; /* in _PyRuntime: the first interpreter */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t runtime_gil;     /* in _PyRuntime: the global interpreter lock itself; 0: interpreters have one, … */
	uint32_t interpreter_gil; /* … here in them a pointer to it; 0: not known before it is looked for (py_tell.h) */
	uint32_t thread_next, thread_interpreter, thread_native, thread_chunk;
	uint32_t thread_frame; /* the innermost frame, or with … */
	bool by_cframe;        /* … this a struct on the C stack that holds it, … */
	uint32_t cframe_frame; /* … there */
	uint32_t frame_code, frame_previous, frame_owner;
	uint32_t frame_locals; /* the function's variables, its arguments first */
	uint32_t frame_at;     /* the instruction that it is at: an address */
	uint64_t frame_flags;  /* bits of references in a frame that are no part of the address */
	uint32_t code_file, code_qualname, code_line;
	uint32_t code_lines, code_instructions; /* which line an instruction is of: bytes; the first instruction */
	uint32_t text_length, text_state, text_ascii; /* text_ascii: what stands before the characters */
	uint32_t text_compact;                        /* … before those of a text that is not ASCII */
	uint32_t type_keys;                           /* in a class: names of its objects' attributes */
	enum py_values values;
};

struct py_runtime {
	struct py_layout layout;
	uintptr_t runtime;              /* _PyRuntime */
	uintptr_t code_type, text_type; /* PyCode_Type, PyUnicode_Type */
	uintptr_t bytes_type;           /* PyBytes_Type; 0: there is none */
	uint32_t version;               /* as PY_VERSION_HEX */
	bool has_gil;                   /* its lock was found (py_tell.h) */
};

enum py_found {
	PY_FOUND,
	PY_NONE,        /* there is no CPython in this process (yet) */
	PY_UNKNOWN,     /* there is one of another version; `version` is 0 where it is older than 3.11 */
	PY_FREE_THREADS /* there is one without a global lock */
};

/* Looks for the interpreter in what the process has loaded. Calls nothing of it. */
enum py_found py_find(struct py_runtime *py);

/* The layout of this version, where nothing is published; false: it is not known. */
bool py_layout_of(uint32_t version, struct py_layout *layout);

/* From the first `n` 64-bit words of _PyRuntime. PY_UNKNOWN: they are not what 3.13 to 3.15 publish, or an offset lies
 * beyond what is read. */
enum py_found py_layout_published(const uint64_t *words, size_t n, uint32_t version, struct py_layout *layout);

enum { PY_PUBLISHED_WORDS = 96 };

#endif
