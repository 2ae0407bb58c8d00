#include "cmd/error.h"

#include "base/json_writer.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "render/render.h"

#include <fnmatch.h>
#include <string.h>

/* The ids are in the schema. One is that of an error only with its exit status. */
static const struct {
	int status;
	const char *name;
} ids[ERR_IDS] = {
	[ERR_MISSING] = {CMD_BAD_PROFILE, "missing"},
	[ERR_UNREADABLE] = {CMD_BAD_PROFILE, "unreadable"},
	[ERR_DAMAGED] = {CMD_BAD_PROFILE, "damaged"},
	[ERR_EMPTY] = {CMD_BAD_PROFILE, "empty"},
	[ERR_REPLACED] = {CMD_BAD_PROFILE, "replaced"},
	[ERR_PROGRAM_FAILED] = {CMD_BAD_PROFILE, "program_failed"},
	[ERR_INTERRUPTED] = {CMD_BAD_PROFILE, "interrupted"},
	[ERR_OCCUPIED] = {CMD_WRONG_USAGE, "occupied"},
	[ERR_MEMORY] = {CMD_WRONG_USAGE, "memory"},
};

static struct {
	struct err err;
	const char *misused; /* the command whose usage was wrong; NULL: it was not that */
	const struct opt_usage *usage;
	const struct opt_list *operands;
	bool as_json;
	struct buf line; /* as JSON, until the command ends */
} last;

void cmd_error_line(const struct opt_usage *usage, const struct opt_list *operands, bool as_json)
{
	static const char *const frames[2][3] = {
		{"gapline: ", "; ", "\n"},
		{"{\"error\":{\"id\":\"memory\",\"file\":null,\"text\":\"", "\",\"next\":\"", "\"}}\n"}};
	last.usage = usage;
	last.operands = operands;
	last.as_json = as_json;
	memory_frame(frames[as_json]);
}

void cmd_failed_by(const struct err *err)
{
	last.err = *err;
	last.misused = NULL;
}

const struct err *cmd_failed(void)
{
	return &last.err;
}

/* ---- what the text begins with ---- */

/* How many bytes of `path` the text begins with, as err_set writes them. */
static size_t bytes_alike(const char *text, const char *path)
{
	size_t n = 0;
	for (; path[n]; n++) {
		unsigned char c = (unsigned char)path[n];
		if (text[n] != (c < 0x20 || c == 0x7f ? '?' : path[n]))
			break;
	}
	return n;
}

/* How many bytes of the text in front are the name of a file that a pattern matches. */
static size_t begins_with_match(const char *text, const char *pattern)
{
	const char *end = strpbrk(pattern, "*?[") ? strstr(text, ": ") : NULL;
	char name[sizeof last.err.text];
	if (!end)
		return 0;
	snprintf(name, sizeof name, "%.*s", (int)(end - text), text);
	return fnmatch(pattern, name, 0) ? 0 : (size_t)(end - text);
}

/* Bytes of `path` where `text` begins with it as err_set writes it, or with a file below it or that it is the front of
 * (PREFIX_name.csv), or that it is a side of (FILE:fixed), or with one that it is a pattern of; else 0. */
static size_t begins_with(const char *text, const char *path)
{
	if (!path || !*path)
		return 0;
	size_t n = bytes_alike(text, path);
	if (n && path[n - 1] == ':' && text[n] == ' ' && (!strcmp(path + n, "fixed") || !strcmp(path + n, "baseline")))
		return n - 1;
	if (path[n])
		return begins_with_match(text, path);
	const char *end = text[n] == '/' || text[n] == '_' || path[n - 1] == '/' ? strstr(text + n, ": ") : NULL;
	if (end)
		return (size_t)(end - text);
	return strncmp(text + n, ": ", 2) ? 0 : n;
}

static size_t longer(size_t n, const char *text, const char *path)
{
	size_t other = begins_with(text, path);
	return other > n ? other : n;
}

/* How much of the text in front is the name of an input, or of an output: then `output` is set. */
static size_t name_in_front(const char *text, bool *output)
{
	size_t n = 0, written = begins_with(text, "standard output");
	for (size_t i = 0; last.operands && i < last.operands->n; i++)
		n = longer(n, text, last.operands->item[i]);
	for (size_t i = 0; last.usage && i < last.usage->n_options; i++) {
		const struct opt *o = &last.usage->options[i];
		if (o->kind == OPT_OUTPUT)
			written = longer(written, text, *o->text);
		else if (o->kind == OPT_TEXT && opt_takes_file(o))
			n = longer(n, text, *o->text);
		for (size_t k = 0; o->kind == OPT_LIST && opt_takes_file(o) && k < o->list->n; k++)
			n = longer(n, text, o->list->item[k]);
	}
	*output = written > n;
	return *output ? written : n;
}

static const char *id_of(int status, bool file, bool output)
{
	const enum err_id id = last.err.id;
	if (output && status == CMD_WRONG_USAGE)
		return "output";
	if (ids[id].name && ids[id].status == status)
		return ids[id].name;
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

struct render_error cmd_error(int status, struct names *names, struct arena *arena)
{
	const char *whole = last.err.text;
	bool output;
	size_t n = name_in_front(whole, &output);
	struct render_error e = {.file = n ? arena_copy(arena, whole, n) : NULL};
	char *text = arena_copy(arena, whole + n, strlen(whole + n));
	text += n ? strlen(": ") : 0;
	e.id = id_of(status, n > 0, output);
	const char *next = split(text, e.id);
	if (!next && last.misused)
		next = arena_format(arena, "'%s --help' lists the options", last.misused);
	if (!next && !strcmp(e.id, "missing"))
		next = "check its name, and the folder that it is looked for in";
	e.next = cmd_named(names, next);
	e.file = cmd_named(names, e.file);
	e.text = cmd_named(names, text);
	return e;
}

/* ---- on standard error ---- */

/* Made now, while the command's options are there; printed by cmd_end. */
static void keep_json(int status, struct arena *arena)
{
	struct names names;
	struct json json;
	struct err ignored;
	names_init(&names, arena);
	const struct render_error e = cmd_error(status, &names, arena);
	buf_release(&last.line);
	json_init(&json, &last.line);
	json_compact(&json);
	json_object(&json, NULL);
	render_error_object(&json, &e);
	json_end_object(&json);
	json_finish(&json, &ignored);
}

int cmd_end(int status)
{
	if (last.line.n && (status == CMD_WRONG_USAGE || status == CMD_BAD_PROFILE))
		fprintf(stderr, "%s%s", last.line.data, last.line.data[last.line.n - 1] == '\n' ? "" : "\n");
	buf_release(&last.line);
	return status;
}

static int fail(int status, const struct err *err, const char *misused)
{
	ARENA_LOCAL(arena);
	last.err = *err;
	last.misused = misused;
	if (last.as_json)
		keep_json(status, &arena);
	else
		fprintf(stderr, "gapline: %s\n", cmd_harmless(&arena, err->text));
	return status;
}

int cmd_fail(enum cmd_status status, const struct err *err)
{
	return fail(status, err, NULL);
}

int cmd_misuse(const struct opt_usage *usage, const struct err *err)
{
	BUF_LOCAL(lines);
	fail(CMD_WRONG_USAGE, err, usage->name);
	opt_usage_lines(usage, &lines);
	if (!last.as_json)
		fprintf(stderr, "%sSee '%s --help'.\n", lines.data, usage->name);
	return CMD_WRONG_USAGE;
}
