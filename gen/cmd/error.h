/* Errors of commands: on standard error, as a line for people or as an object for programs (--errors), and taken apart
 * for what stands in the place of results. */
#ifndef GAPLINE_CMD_ERROR_H
#define GAPLINE_CMD_ERROR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "trace/names.h"

struct render_error;

enum cmd_status {
	CMD_DONE = 0, /* any gate asked for is passed */
	CMD_GATE_NOT_MET = 1,
	CMD_WRONG_USAGE = 2, /* also: an output cannot be written; out of memory (base/memory.h) */
	CMD_BAD_PROFILE = 3, /* cannot be read, or holds nothing to judge; also: the program to be profiled failed */
	CMD_INCONCLUSIVE = 4 /* a gate stays open */
};

/* Prints "gapline: text" on stderr, or keeps it for cmd_end where errors are JSON (--errors). Returns `status`. */
int cmd_fail(enum cmd_status status, const struct err *err);

/* Fills `err`, and is the status to end with: return CMD_ERROR(CMD_WRONG_USAGE, err, "…"). */
#define CMD_ERROR(status, err, ...) CMD_ERROR_ID(status, err, ERR_OTHER, __VA_ARGS__)
#define CMD_ERROR_ID(status, err, id, ...) (err_set_id((err), (id), __VA_ARGS__), (status))

/* The same for a mistake in the arguments, with the way to the help. */
int cmd_misuse(const struct opt_usage *usage, const struct err *err);

/* What cmd_fail or cmd_misuse printed last; "" before. */
const struct err *cmd_failed(void);
void cmd_failed_by(const struct err *err); /* where the error was printed elsewhere */

/* What the command line names, for the file of an error, and how errors are printed. cmd_options does that; both are
 * borrowed for as long as the command can fail. NULL: nothing. */
void cmd_error_line(const struct opt_usage *usage, const struct opt_list *operands, bool as_json);

/* Prints the last error where errors are JSON (one object, the last line) and `status` is that of an error. Returns
 * `status`. */
int cmd_end(int status);

/* The error that was printed last, taken apart: its texts are the names' and the arena's. */
struct render_error cmd_error(int status, struct names *names, struct arena *arena);

#endif
