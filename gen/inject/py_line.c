#include "py.h"

/* A code object has a table of entries, one behind the other, each for some of its instructions: a byte with the top
 * bit set, which says how many (3 bits, less 1) and how it goes on (4 bits), then bytes without that bit. Lines are
 * differences to the entry before (CPython, Objects/locations.md; the same in 3.11 to 3.15). */
enum { KIND_ONE_LINE = 10, KIND_TWO_LINES = 12, KIND_NO_COLUMN = 13, KIND_LONG = 14, KIND_NONE = 15 };

enum { INSTRUCTION = 2, BYTES_SIZE_AT = 16, BYTES_AT = 32, CHUNK = 4096, LONGEST = 16 << 20 };

struct table {
	uintptr_t at; /* of what is to be read */
	uint64_t left;
	unsigned char chunk[CHUNK];
	size_t n, next;
};

static bool table_begin(const struct py_runtime *py, uintptr_t bytes, struct table *t)
{
	unsigned char head[BYTES_AT];
	t->n = t->next = 0;
	if (bytes < 4096 || bytes % 8 || bytes >> 47 || !py_read(bytes, head, sizeof head) ||
	    py_word(head + PY_TYPE_AT) != py->bytes_type)
		return false;
	t->at = bytes + BYTES_AT;
	t->left = py_word(head + BYTES_SIZE_AT);
	return t->left <= LONGEST;
}

/* -1: there is no more. */
static int table_byte(struct table *t)
{
	if (t->next == t->n) {
		t->n = t->left < CHUNK ? (size_t)t->left : CHUNK;
		t->next = 0;
		if (!t->n || !py_read(t->at, t->chunk, t->n)) {
			t->n = 0;
			t->left = 0;
			return -1;
		}
		t->at += t->n;
		t->left -= t->n;
	}
	return t->chunk[t->next++];
}

/* Six bits a byte, the lowest first, the seventh says that there are more; the lowest bit of all is the sign. */
static int64_t table_difference(struct table *t)
{
	enum { BITS = 6, MORE = 0x40, MOST = 36 };
	uint64_t value = 0;
	int byte = MORE;
	for (unsigned shift = 0; shift < MOST && byte >= 0 && byte & MORE; shift += BITS) {
		byte = table_byte(t);
		value |= (uint64_t)(byte & (MORE - 1)) << shift;
	}
	int64_t half = (int64_t)(value >> 1);
	return value & 1 ? -half : half;
}

/* The rest of an entry is what has no top bit: columns, which nobody asks for. */
static int next_entry(struct table *t)
{
	int byte;
	do
		byte = table_byte(t);
	while (byte >= 0 && byte < 0x80);
	return byte;
}

static uint32_t line_of(const struct py_runtime *py, const struct py_code *code, uint64_t instruction)
{
	static struct table t;
	uint64_t end = 0;
	int64_t line = code->line;
	int entry;
	if (!table_begin(py, code->lines, &t))
		return 0;
	while ((entry = next_entry(&t)) >= 0) {
		int kind = entry >> 3 & 15;
		end += (uint64_t)(entry & 7) + 1;
		if (kind == KIND_LONG || kind == KIND_NO_COLUMN)
			line += table_difference(&t);
		else if (kind >= KIND_ONE_LINE && kind <= KIND_TWO_LINES)
			line += kind - KIND_ONE_LINE;
		if (instruction < end)
			return kind == KIND_NONE || line <= 0 || line > UINT32_MAX ? 0 : (uint32_t)line;
	}
	return 0;
}

uint32_t py_line(const struct py_runtime *py, const struct py_code *code, uintptr_t at)
{
	enum { KNOWN = 4096 };
	static struct {
		uintptr_t at, lines;
		uint32_t first, line;
	} known[KNOWN];
	uintptr_t first = code->address + py->layout.code_instructions;
	if (!py->bytes_type || at + INSTRUCTION < first || at % INSTRUCTION)
		return 0;
	if (at < first) /* it has not begun */
		return code->line;
	size_t i = (uint32_t)(at >> 1) * UINT32_C(0x9E3779B1) >> 20;
	if (known[i].at != at || known[i].lines != code->lines || known[i].first != code->line) {
		known[i].line = line_of(py, code, (at - first) / INSTRUCTION);
		known[i].at = at;
		known[i].lines = code->lines;
		known[i].first = code->line;
	}
	return known[i].line;
}
