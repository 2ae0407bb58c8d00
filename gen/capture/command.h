/* Command lines and file names as the user writes them. Pure texts: nothing is run or opened. */
#ifndef GAPLINE_CAPTURE_COMMAND_H
#define GAPLINE_CAPTURE_COMMAND_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

/* Splits a command line into words as a POSIX shell does (XCU 2.2: single and double quotes, backslashes), without a
 * shell: nothing is expanded. What only a shell could do, unquoted | & ; < > ( ) $ ` * ? [ # ~, is an error that says
 * how to name one. *words: ends with NULL, in the arena. */
int command_split(const char *line, struct arena *arena, const char *const **words, struct err *err);

/* The reverse: words -> a line that a shell, and command_split, splits into the same words. */
const char *command_text(const char *const *words, struct arena *arena);

/* Fills in a file name as nsys does: %q{NAME} the environment variable, %h the host name, %p `pid`, %% a percent sign.
 * NULL with `err`: a variable that is not set, any other %, or %p in the folder part, which must exist beforehand. */
const char *command_file_name(const char *pattern, pid_t pid, struct arena *arena, struct err *err);

/* What two commands are called beside each other. Pure texts: nothing is run or opened. */

/* words[s]: a command line, ending with NULL. A name is the file name of the program: of the script or module that an
 * interpreter or a launcher is given, of what a shell's code runs last. Where both sides' programs are called the same,
 * what differs between the commands follows, as far as that is short: `train.py --workers 8`, `new/train.py`. Of paths
 * no more than that folder's name is shown, of what an option with a secret's name is given nothing. Both names are
 * the same where nothing that can be shown differs. In the arena; never empty. */
void command_names(const char *const *const words[2], const char *names[2], struct arena *arena);

#endif
