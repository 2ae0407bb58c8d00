/* Which word of a command line is the program that it is about. */
#ifndef GAPLINE_CAPTURE_COMMAND_PROGRAM_H
#define GAPLINE_CAPTURE_COMMAND_PROGRAM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct command_program {
	const char **word; /* a shell's code in words of its own: what it runs last; in the arena */
	size_t n;
	size_t program;     /* which of them */
	const char *folder; /* where that code goes first (cd), NULL: it does not */
};

/* words: ends with NULL, at least one. */
struct command_program command_program(const char *const *words, struct arena *arena);

const char *command_file(const char *word); /* behind the last slash; all of it where nothing is behind */

/* A value that is of a file or a number is no option: `-` and `-3` are none. */
bool command_is_option(const char *word);

#endif
