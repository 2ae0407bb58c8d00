/* Baselines that `gapline save` keeps, and commits that `gapline history` keeps, in the place of files. */
#ifndef GAPLINE_CMD_INPUTS_SAVED_H
#define GAPLINE_CMD_INPUTS_SAVED_H

#include "cmd/inputs.h"

/* Whether `text` names what is saved, "@main" or "@commit:1a2b3c", and no file. */
bool inputs_is_saved(const char *text);

/* Adds its profiles to a side as if they had been named, in the order in which they were saved; `db` is the store.
 * CMD_DONE, or with `err` CMD_BAD_PROFILE (there is none, or the store cannot be read) or CMD_WRONG_USAGE (no name). */
int inputs_add_saved(struct inputs *inputs, const char *text, const char *db, struct arena *arena, struct err *err);

#endif
