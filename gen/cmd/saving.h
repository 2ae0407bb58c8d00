/* Profiles -> what a store keeps of them: for `gapline save` and `gapline history`. */
#ifndef GAPLINE_CMD_SAVING_H
#define GAPLINE_CMD_SAVING_H

#include "cmd/inputs.h"
#include "read/digest.h"
#include "store/store.h"

struct saving {
	struct arena arena;
	struct names names;
	struct inputs inputs;
	struct digest_made *made; /* by file */
	struct store_entry entry; /* its parts and machine are filled */
	size_t bytes;             /* of all digests */
};

/* Reads the profiles that `given` stands for and makes a digest of each. CMD_DONE, or another enum cmd_status with
 * `err`: also where two of them hold the same capture. saving_release in any case. */
int saving_make(struct saving *s, const struct opt_list *given, bool quiet, struct err *err);

/* Before profiles are read: whether the store at `path` could take the entry of this kind and name. 0, or -1 with
 * `err`. A store that is not there yet is fine. */
int saving_check(const struct saving *s, const char *path, enum store_rule rule, struct err *err);

/* Says that there is an entry of this name. Returns -1. */
int saving_exists(const struct saving *s, const char *path, struct err *err);

/* Keeps what was made in the store at `path`, which is made where there is none; `rule` and `n_new` as in
 * store/store.h. */
enum store_done saving_put(struct saving *s, const char *path, enum store_rule rule, size_t *n_new, struct err *err);

void saving_release(struct saving *s);

/* Baselines that `gapline save` keeps, and commits that `gapline history` keeps, in the place of files. */

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
