#include "py.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum {
	CODES = 1 << 14, /* places of known code objects, WAYS of them for each address */
	WAYS = 4,
	FUNCTIONS_MOST = 1 << 16,
	SLOTS = 2 * FUNCTIONS_MOST,
	TEXT_BYTES = 16 << 20
};

struct known {
	struct py_code code;
	uint32_t number; /* 0: free */
};

/* A megabyte or two, and text as it comes; mapped when the first function is met. */
static struct tables {
	struct known codes[CODES];
	uint32_t slots[SLOTS]; /* numbers by the hash of their text */
	struct {
		uint32_t at, bytes; /* of `text`: name, NUL, file, NUL, whether a library's */
	} functions[FUNCTIONS_MOST];
	char text[TEXT_BYTES];
} * tables;
static uint32_t n_functions, text_used, turn;

void py_names_forget(void)
{
	table_unmap(tables, sizeof *tables);
	tables = NULL;
	n_functions = text_used = turn = 0;
}

static const char *base_name(const char *path)
{
	const char *name = path;
	if (*path == '<') /* "<string>", "<frozen importlib._bootstrap>": no path */
		return path;
	for (const char *c = path; *c; c++)
		if ((*c == '/' || *c == '\\') && c[1])
			name = c + 1;
	return name;
}

/* Whether code is of those who are called by everybody: a line of theirs says nothing of whose work it is. Triton makes
 * the function that launches a kernel from a text. */
static bool is_library(const char *name, const char *path)
{
	static const char *const theirs[] = {"-packages/torch/", "-packages/triton/", "-packages/functorch/"};
	for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
		if (strstr(path, theirs[i]))
			return true;
	const char *python = strstr(path, "/lib/python3");
	return !strncmp(path, "<frozen ", 8) || (python && !strstr(python, "-packages/")) ||
	       (!strcmp(path, "<string>") && !strcmp(name, "launcher"));
}

/* The number of the text, a new one if there is none. */
static uint32_t number_of(const char *text, uint32_t bytes, py_named *named)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (uint32_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	uint32_t slot = (uint32_t)(hash ^ hash >> 32) & (SLOTS - 1);
	for (uint32_t number; (number = tables->slots[slot]); slot = (slot + 1) & (SLOTS - 1))
		if (tables->functions[number - 1].bytes == bytes &&
		    !memcmp(tables->text + tables->functions[number - 1].at, text, bytes))
			return number;
	if (n_functions == FUNCTIONS_MOST || bytes > TEXT_BYTES - text_used ||
	    !named(n_functions + 1, text, text + strlen(text) + 1, text[bytes - 1]))
		return 0;
	memcpy(tables->text + text_used, text, bytes);
	tables->functions[n_functions].at = text_used;
	tables->functions[n_functions].bytes = bytes;
	text_used += bytes;
	return tables->slots[slot] = ++n_functions;
}

uint32_t py_name(const struct py_runtime *py, const struct py_code *code, py_named *named)
{
	char text[PY_NAME_ROOM + 1], path[4 * PY_NAME_CHARACTERS + 1];
	if (!tables && !(tables = table_map(sizeof *tables)))
		return 0;
	uint32_t set = (uint32_t)(code->address >> 4) * UINT32_C(0x9E3779B1) % (CODES / WAYS);
	struct known *ways = &tables->codes[(size_t)set * WAYS];
	for (int i = 0; i < WAYS; i++)
		if (ways[i].number && ways[i].code.address == code->address && ways[i].code.file == code->file &&
		    ways[i].code.qualname == code->qualname && ways[i].code.line == code->line)
			return ways[i].number;
	if (!py_text_read(py, code->qualname, false, PY_NAME_CHARACTERS, text) ||
	    !py_text_read(py, code->file, true, PY_NAME_CHARACTERS, path))
		return 0;
	const char *file = base_name(path);
	uint32_t name_bytes = (uint32_t)strlen(text) + 1;
	char *to = text + name_bytes, line[16] = "";
	const bool library = is_library(text, path);
	if (!library && *path != '<' && code->line && code->line < INT32_MAX)
		snprintf(line, sizeof line, ":%u", code->line);
	const uint32_t file_bytes = (uint32_t)snprintf(to, sizeof text - name_bytes - 1, "%s%s", file, line) + 1;
	to[file_bytes] = library;
	uint32_t number = number_of(text, name_bytes + file_bytes + 1, named);
	if (number)
		ways[turn++ % WAYS] = (struct known){*code, number};
	return number;
}
