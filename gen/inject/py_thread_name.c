#include "py.h"

#include <string.h>

/* The same in all versions that are known, on 64-bit Linux. */
enum {
	TYPE_BYTES = 32, /* of an object, without values that stand behind it */
	TYPE_FLAGS = 168,
	FLAG_INSIDE = 1 << 2, /* values stand inside of objects */
	FLAG_MANAGED = 1 << 4,
	DICT_KEYS = 32,
	DICT_VALUES = 40,
	KEYS_HEAD = 32,
	KEYS_INDEX_BYTES = 9, /* log2 of the bytes of the index, which stands before the entries */
	KEYS_KIND = 10,       /* 0: an entry is hash, key, value; else key, value */
	KEYS_USED = 24,
	VALUES_HEAD = 8, /* since 3.13, with … */
	VALUES_VALID = 3 /* … whether they count, and no dictionary has taken their place */
};

static bool word_read(uintptr_t address, uint64_t *word)
{
	return address >= 4096 && address % 8 == 0 && address >> 47 == 0 && py_read(address, word, sizeof *word);
}

/* Where `name` stands among the keys: its index, and the address of the value beside it. */
static bool key_find(const struct py_runtime *py, uintptr_t keys, const char *name, uint64_t *index, uintptr_t *beside)
{
	enum { MOST = 64, ENTRY_MOST = 24, LETTERS = 8, INDEX_MOST = 16 };
	unsigned char head[KEYS_HEAD], entries[MOST * ENTRY_MOST];
	char text[4 * LETTERS + 1];
	uint64_t there;
	if (!word_read(keys, &there) || !py_read(keys, head, sizeof head))
		return false;
	bool general = head[KEYS_KIND] == 0;
	uint64_t size = general ? 24 : 16, used = py_word(head + KEYS_USED);
	if (head[KEYS_INDEX_BYTES] > INDEX_MOST)
		return false;
	uintptr_t first = keys + KEYS_HEAD + ((uintptr_t)1 << head[KEYS_INDEX_BYTES]);
	used = used < MOST ? used : MOST;
	if (!used || !py_read(first, entries, used * size))
		return false;
	for (uint64_t i = 0; i < used; i++) {
		uint64_t key = py_word(entries + i * size + (general ? 8 : 0));
		if (key && py_text_read(py, key, false, LETTERS, text) && strcmp(text, name) == 0) {
			*index = i;
			*beside = first + i * size + size - 8;
			return true;
		}
	}
	return false;
}

/* What the values at `values` hold by the names of `keys`. */
static bool value_of(const struct py_runtime *py, uintptr_t values, uintptr_t keys, const char *name, uint64_t *value)
{
	uint64_t i;
	uintptr_t beside, head = py->layout.values == PY_VALUES_INSIDE ? VALUES_HEAD : 0;
	return key_find(py, keys, name, &i, &beside) && word_read(values + head + i * 8, value);
}

static bool in_dictionary(const struct py_runtime *py, uintptr_t dictionary, const char *name, uint64_t *value)
{
	uint64_t keys, values, i;
	uintptr_t beside;
	if (!word_read(dictionary + DICT_KEYS, &keys) || !word_read(dictionary + DICT_VALUES, &values))
		return false;
	if (values)
		return value_of(py, values, keys, name, value);
	return key_find(py, keys, name, &i, &beside) && word_read(beside, value);
}

/* The attribute `name` of an object of a class that was written in Python. */
static bool attribute(const struct py_runtime *py, uintptr_t object, const char *name, uint64_t *value)
{
	enum { DICTIONARY = -24, APART = -32 };
	uint64_t type, flags, keys, bytes, place, values;
	if (!word_read(object + PY_TYPE_AT, &type) || !word_read(type + TYPE_FLAGS, &flags) ||
	    !(flags & FLAG_MANAGED) || !word_read(type + py->layout.type_keys, &keys) ||
	    !word_read(type + TYPE_BYTES, &bytes) || !word_read(object + DICTIONARY, &place))
		return false;
	switch (py->layout.values) {
	case PY_VALUES_APART:
		if (word_read(object + APART, &values) && values)
			return value_of(py, values, keys, name, value);
		break;
	case PY_VALUES_ODD:
		if (place & 1)
			return value_of(py, place + 1, keys, name, value);
		break;
	case PY_VALUES_INSIDE:
		if (flags & FLAG_INSIDE && bytes < 4096 && word_read(object + bytes, &values) &&
		    values >> 8 * VALUES_VALID & 0xFF)
			return value_of(py, object + bytes, keys, name, value);
		break;
	}
	return in_dictionary(py, place, name, value);
}

bool py_thread_name(const struct py_runtime *py, const struct py_stack *stack, char name[PY_THREAD_NAME_ROOM])
{
	static const char first[] = "Thread._bootstrap", file[] = "threading.py";
	char text[4 * sizeof first + 1];
	uint64_t self, value;
	if (!stack->n || stack->cut || !stack->outermost)
		return false;
	const struct py_code *code = &stack->code[stack->n - 1];
	return py_text_read(py, code->qualname, false, sizeof first, text) && strcmp(text, first) == 0 &&
	       py_text_read(py, code->file, true, sizeof file - 1, text) && strcmp(text, file) == 0 &&
	       word_read(stack->outermost + py->layout.frame_locals, &self) &&
	       attribute(py, self & ~py->layout.frame_flags, "_name", &value) &&
	       py_text_read(py, value, false, PY_THREAD_NAME_CHARACTERS, name) && *name;
}
