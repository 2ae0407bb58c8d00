/* Baselines that `gapline save` keeps, and commits that `gapline history` keeps, in the place of files. */
#ifndef GAPLINE_CMD_INPUTS_SAVED_H
#define GAPLINE_CMD_INPUTS_SAVED_H

#include "cmd/inputs.h"

/* Whether `text` names what is saved, "@main" or "@commit:1a2b3c", and no file. */
bool inputs_is_saved(const char *text);

/* Adds its profiles to a side as if they had been named, in the order in which they were saved; `db` is the store.
 * CMD_DONE, or with `err` CMD_BAD_PROFILE (there is none, or the store cannot be read) or CMD_WRONG_USAGE (no name). */
int inputs_add_saved(struct inputs *inputs, const char *text, const char *db, struct arena *arena, struct err *err);

/* Whether what was added is a side of a report, kept as its step tables: 1, and which; 0: profiles; -1 with `err`:
 * both, which cannot be one commit's runs. */
int inputs_saved_side(const struct inputs *inputs, int *side, struct err *err);

/* Reads those: 0, or -1 with `err`: damaged, or made by other rules. */
struct step_tables;
int inputs_read_side(const struct input *input, struct names *names, struct arena *arena, struct step_tables *out,
                     struct err *err);

#endif
