/* Which words of a command line may be shown. Any option may take a password, so that only those show their values that
 * are known to be harmless. */
#ifndef GAPLINE_READ_SCRUB_COMMAND_H
#define GAPLINE_READ_SCRUB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the value of an option ("--batch-size", "-n"), or of a variable ("OMP_NUM_THREADS"), may be shown: its name
 * says what a run does, or the value is a number too short for a secret. */
bool scrub_command_may_show(const char *option, const char *value);

/* A value that is of a file or a number is no option: `-` and `-3` are none. */
bool scrub_command_is_option(const char *word);

/* "-phunter2" is an option with its value: a letter of its own, then letters and digits. */
bool scrub_command_has_value(const char *option);

/* Where the secret begins in a word of a command line, which follows `before` ("": it is the first); SIZE_MAX: nothing
 * in it is one for being where it is. "--key=VALUE", "KEY=VALUE", "-pVALUE", or all of it behind "--key" and "-c". */
size_t scrub_command_secret(const char *word, const char *before);

#endif
