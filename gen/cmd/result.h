/* What a command writes whose result is no report: the files that it makes, and with --json one object,
 * "gapline-result/1", whose members docs/reference/json.md lists by command. All of it is written together, whole or
 * not at all.
 *
 *	struct result result = {0};            result_option(&result) is a row of the option table
 *	result_prepare(&result, file, &err)    before any work
 *	result_begin(&result, "digest")
 *	result_text(&result, "file", path);
 *	result.out[0].bytes = …, result.out[0].n = …
 *	result_write(&result, &err)
 *	result_release(&result)                always */
#ifndef GAPLINE_CMD_RESULT_H
#define GAPLINE_CMD_RESULT_H

#include "base/json_writer.h"
#include "base/opt.h"
#include "base/output.h"
#include "trace/names.h"

struct result {
	const char *path;   /* --json; NULL: not asked for, and there is no object */
	struct output *out; /* the files in the order in which they were added, and the object behind them */
	size_t n_out;
	struct buf bytes;
	struct json json;
	struct arena arena;
	struct names names;
};

struct opt result_option(struct result *r);

/* Adds a file that the command makes. 0, or -1 with `err`: it could not be written there. */
int result_add(struct result *r, const char *path, struct err *err);

/* Adds `file`, where it is not NULL, and the object, where it was asked for. 0, or -1 with `err`: one could not be
 * written, or the object would go where a file goes. */
int result_prepare(struct result *r, const char *file, struct err *err);

/* Whether the object would replace the file at `path`, which the command reads or writes itself: -1 with `err`. */
int result_spares(const struct result *r, const char *path, struct err *err);

/* Begins the object, which is written where it was asked for. */
struct json *result_begin(struct result *r, const char *command);

/* A text from outside (a file's name), as cmd_named makes it; NULL: null. */
void result_text(struct result *r, const char *key, const char *text);

/* Ends the object and writes all. */
int result_write(struct result *r, struct err *err);

/* Prints what is said beside them: cmd_print_beside. */
int result_print(const struct result *r, const struct buf *text);

void result_release(struct result *r);

#endif
