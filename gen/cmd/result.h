/* --json of the commands whose result is no report: one object, "gapline-result/1", whose members
 * docs/reference/json.md lists by command. It is written with the command's other output, whole or not at all.
 *
 *	struct result result = {0};          result_option(&result) is a row of the option table
 *	result_prepare(&result, &out, &err)  before any work; `out` is the command's, who releases it
 *	if ((json = result_begin(&result, "digest")))
 *		result_text(&result, "file", path);
 *	result_finish(&result, &err)         fills out.bytes; or result_write, which writes it, too
 *	result_release(&result)              always */
#ifndef GAPLINE_CMD_RESULT_H
#define GAPLINE_CMD_RESULT_H

#include "base/json_writer.h"
#include "base/opt.h"
#include "base/output.h"
#include "trace/names.h"

struct result {
	const char *path;   /* --json; NULL: not asked for, and nothing below does anything */
	struct output *out; /* the command's */
	struct buf bytes;
	struct json json;
	struct arena arena;
	struct names names;
};

struct opt result_option(struct result *r);

/* 0, or -1 with `err`: it could not be written there. */
int result_prepare(struct result *r, struct output *out, struct err *err);

/* Whether it would go where one of `others` goes: -1 with `err`. Only where it was asked for. */
int result_collides(const struct result *r, const struct output *others, size_t n, struct err *err);

/* Whether it would replace the file at `path`, which the command reads or writes itself: -1 with `err`. */
int result_spares(const struct result *r, const char *path, struct err *err);

/* NULL: not asked for. */
struct json *result_begin(struct result *r, const char *command);

/* A text from outside (a file's name), made harmless as names of a profile are; NULL: null. */
void result_text(struct result *r, const char *key, const char *text);

int result_finish(struct result *r, struct err *err);
int result_write(struct result *r, struct err *err);
void result_release(struct result *r);

#endif
