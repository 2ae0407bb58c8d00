/* Profiles -> what a store keeps of them: for `gapline save` and `gapline history`. */
#ifndef GAPLINE_CMD_SAVING_H
#define GAPLINE_CMD_SAVING_H

#include "cmd/inputs.h"
#include "digest/digest.h"
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

#endif
