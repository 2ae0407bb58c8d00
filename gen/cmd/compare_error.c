/* What a comparison that failed writes in the place of its result: a job that shows these files, whatever happened,
 * would show the result of an older one. */
#include "cmd/compare.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By words of the error's text; of several that fit, the first. The ids are in the schema. */
static const struct {
	int status;
	const char *id, *words;
} ids[] = {
	{CMD_BAD_PROFILE, "missing", "no such file"},
	{CMD_BAD_PROFILE, "missing", "No such file"},
	{CMD_BAD_PROFILE, "missing", "a file that does not exist"},
	{CMD_BAD_PROFILE, "missing", "no file matches"},
	{CMD_BAD_PROFILE, "missing", "no profile in this folder"},
	{CMD_BAD_PROFILE, "missing", "there is no saved baseline"},
	{CMD_BAD_PROFILE, "missing", "there is no commit"},
	{CMD_BAD_PROFILE, "replaced", "written while it was read"},
	{CMD_BAD_PROFILE, "damaged", "is damaged"},
	{CMD_BAD_PROFILE, "damaged", "is cut off"},
	{CMD_BAD_PROFILE, "empty", "nothing to judge"},
	{CMD_BAD_PROFILE, "empty", "is empty"},
	{CMD_BAD_PROFILE, "unreadable", "Permission denied"},
	{CMD_BAD_PROFILE, "unreadable", "cannot be opened"},
	{CMD_BAD_PROFILE, "unreadable", "cannot be read:"},
	{CMD_BAD_PROFILE, "unreadable", "Input/output error"},
	{CMD_BAD_PROFILE, "program_failed", "' failed: "},
	{CMD_BAD_PROFILE, "interrupted", ": interrupted"},
	{CMD_WRONG_USAGE, "memory", "out of memory"},
	{CMD_WRONG_USAGE, "occupied", "holds runs already"},
	{CMD_WRONG_USAGE, "occupied", "holds other things"},
	{CMD_WRONG_USAGE, "occupied", "is writing into it"},
};

/* Bytes of `path` where `text` begins with it as err_set writes it, or with a file below it; else 0. */
static size_t begins_with(const char *text, const char *path)
{
	size_t n = 0;
	for (; path && path[n]; n++) {
		unsigned char c = (unsigned char)path[n];
		if (text[n] != (c < 0x20 || c == 0x7f ? '?' : path[n]))
			return 0;
	}
	const char *end = n && (text[n] == '/' || path[n - 1] == '/') ? strstr(text + n, ": ") : NULL;
	if (end)
		return (size_t)(end - text);
	return n && !strncmp(text + n, ": ", 2) ? n : 0;
}

static size_t longer(size_t n, const char *text, const char *path)
{
	size_t other = begins_with(text, path);
	return other > n ? other : n;
}

/* How much of the text in front is the name of an input, or of an output: then `output` is set. */
static size_t name_in_front(const struct compare *c, const struct opt_list *operands, const char *folder,
                            const char *text, bool *output)
{
	const struct opt_list *const lists[] = {&c->given[0], &c->given[1], operands};
	size_t n = begins_with(text, folder), written = begins_with(text, "standard output");
	for (size_t l = 0; l < 3; l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			n = longer(n, text, lists[l]->item[i]);
	for (size_t s = 0; s < 2; s++) {
		n = longer(n, text, c->ncu[s]);
		for (size_t i = 0; i < c->sides[s].n; i++)
			n = longer(n, text, c->sides[s].item[i].path);
	}
	n = longer(n, text, c->db);
	for (size_t i = 0; i < COMPARE_OUTPUTS; i++)
		written = longer(written, text, c->paths[i]);
	*output = written > n;
	return *output ? written : n;
}

static const char *id_of(const char *text, int status, bool file, bool output)
{
	if (output)
		return "output";
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (ids[i].status == status && strstr(text, ids[i].words))
			return ids[i].id;
	if (status == CMD_WRONG_USAGE)
		return "usage";
	return file ? "not_a_profile" : "not_recorded";
}

/* Errors end with what to try, behind a semicolon. Of a profile without GPU work the reason stands in front of that,
 * and the words of a program that failed are its own. */
static const char *split(char *text, const char *id)
{
	char *at = strstr(text, "; ");
	if (!at || !strcmp(id, "program_failed"))
		return NULL;
	for (char *more; !strcmp(id, "empty") && (more = strstr(at + 2, "; "));)
		at = more;
	*at = 0;
	return at + 2;
}

static const char *harmless(struct names *names, const char *text)
{
	return text ? names_text(names, names_add_text(names, text)) : NULL;
}

static struct render_error error_of(const struct compare *c, const struct opt_list *operands, const char *folder,
                                    int status, struct names *names, struct arena *arena)
{
	const char *whole = cmd_failed()->text;
	bool output;
	size_t n = name_in_front(c, operands, folder, whole, &output);
	struct render_error e = {.file = n ? arena_copy(arena, whole, n) : NULL};
	char *text = arena_copy(arena, whole + n, strlen(whole + n));
	text += n ? strlen(": ") : 0;
	e.id = id_of(text, status, n > 0, output);
	e.next = harmless(names, split(text, e.id));
	e.file = harmless(names, e.file);
	e.text = harmless(names, text);
	return e;
}

/* ---- where it may be written ---- */

static bool replaces(const struct output *o, const char *path)
{
	struct stat file;
	return path && stat(path, &file) == 0 && output_replaces(o, &file);
}

/* Looked for anew: what failed may have been the search. */
static bool is_input(const struct compare *c, const struct opt_list *operands, const struct output *o,
                     struct arena *arena)
{
	const struct opt_list *const lists[] = {&c->given[0], &c->given[1], operands, &c->outputs_of[0],
	                                        &c->outputs_of[1]};
	bool is = replaces(o, c->db) || replaces(o, c->ncu[0]) || replaces(o, c->ncu[1]);
	for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
		for (size_t i = 0; i < lists[l]->n && !is; i++) {
			struct inputs found;
			struct err ignored;
			inputs_find(&found, "", &(struct opt_list){&lists[l]->item[i], 1}, arena, &ignored);
			is = replaces(o, lists[l]->item[i]);
			for (size_t k = 0; k < found.n; k++)
				is = is || output_replaces(o, &found.item[k].file);
		}
	return is;
}

static int render(size_t kind, const char *path, const struct render_error *e, struct buf *out, struct err *err)
{
	switch (kind) {
	case COMPARE_JSON:
		return render_error_json(e, out, err);
	case COMPARE_JUNIT:
		return render_error_junit(e, out, err);
	case COMPARE_SUMMARY:
		if (compare_add_to_summary(path, out, err))
			return -1;
		break;
	default:
		break;
	}
	render_error_markdown(e, kind == COMPARE_COMMENT, out);
	return 0;
}

static struct {
	struct compare *compare; /* NULL: none */
	const struct opt_list *operands;
	const char *const *folder;
} watched;

static void write_no_memory(void)
{
	struct err err;
	if (!watched.compare)
		return;
	err_set(&err, "%s", memory_problem());
	cmd_failed_by(&err);
	compare_write_error(watched.compare, watched.operands, watched.folder ? *watched.folder : NULL, MEMORY_STATUS);
}

void compare_watch_memory(struct compare *c, const struct opt_list *operands, const char *const *folder)
{
	watched.compare = c;
	watched.operands = operands;
	watched.folder = folder;
	memory_undo(write_no_memory);
}

void compare_write_error(struct compare *c, const struct opt_list *operands, const char *folder, int status)
{
	static const size_t kinds[] = {COMPARE_JSON, COMPARE_JUNIT, COMPARE_MARKDOWN, COMPARE_COMMENT, COMPARE_SUMMARY};
	struct arena arena = {0};
	struct names names;
	struct err err;
	bool printed = false;
	watched.compare = NULL;
	if ((status != CMD_WRONG_USAGE && status != CMD_BAD_PROFILE) || !*cmd_failed()->text)
		return;
	names_init(&names, &arena);
	const struct render_error e = error_of(c, operands, folder, status, &names, &arena);
	c->paths[COMPARE_SUMMARY] = c->github_summary ? getenv("GITHUB_STEP_SUMMARY") : NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *path = c->paths[kinds[i]];
		struct output o = {0};
		struct buf bytes = {0};
		bool wanted = path && *path && !output_prepare(&o, path, &err) && !(o.standard && printed) &&
		              !is_input(c, operands, &o, &arena);
		if (wanted && !render(kinds[i], path, &e, &bytes, &err)) {
			printed = printed || o.standard;
			o.bytes = bytes.data;
			o.n = bytes.n;
			if (output_write(&o, 1, &err) && strcmp(err.text, cmd_failed()->text))
				fprintf(stderr, "gapline: the error is not in it: %s\n",
				        cmd_harmless(&arena, err.text));
		}
		buf_release(&bytes);
		output_release(&o);
	}
	arena_release(&arena);
}
