/* A file in which results are kept to be compared with later: saved baselines and the commits of a history, each with
 * the digests (read/digest.h) of its profiles. It is a SQLite database, so that several processes may write at once,
 * on one machine or on several that share the file system: each write is one transaction and waits for its turn.
 *
 * A store is input like any other: one that is not ours, of another version, damaged, or whose schema was changed is
 * refused in words, and what is in it is believed to be bytes and texts, no more.
 *
 * Version 1. PRAGMA application_id is 0x6761706c ("gapl"), user_version 1, and the schema is that of SCHEMA in store.c,
 * to the letter. */
#ifndef GAPLINE_STORE_STORE_H
#define GAPLINE_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VERSION = 1, STORE_NAME_MAX = 100 };

struct store {
	sqlite3 *db;
	const char *path; /* as the user named it; borrowed */
};

enum store_kind { STORE_BASELINE, STORE_COMMIT };

/* A profile of an entry. */
struct store_part {
	const char *file;            /* the name of the file that it was made of, without folders */
	int64_t folder;              /* number of the folder that it was found in, -1: named by itself */
	const unsigned char *digest; /* as `gapline digest` writes it */
	size_t n;
};

/* What is kept under one name. Texts are UTF-8 without control characters. */
struct store_entry {
	enum store_kind kind;
	const char *name;
	bool has_time;
	int64_t time;        /* of a commit, seconds since 1970, as its user said */
	const char *machine; /* GPUs and driver, for people; decides nothing */
	struct store_part *parts;
	size_t n;
};

/* What becomes of an entry that has the name already. */
enum store_rule { STORE_REFUSE, STORE_REPLACE, STORE_ADD };

/* What store_put did. */
enum store_done { STORE_FAILED = -1, STORE_SAVED, STORE_EXISTS };

/* Whether it can be the name of an entry: up to STORE_NAME_MAX ASCII letters, digits and "._+-/", a letter or a digit
 * first. */
bool store_name_ok(const char *name);

/* Opens the store at `path`. `write`: makes it where there is none. 0, or -1 with `err`; store_close in any case. */
int store_open(struct store *store, const char *path, bool write, struct err *err);
void store_close(struct store *store);

/* Keeps an entry, whole or not at all, also if the machine stops in the middle. STORE_ADD adds its parts to those that
 * are there, but for those whose bytes are there already; `*n_new` (may be NULL) is how many were added. STORE_EXISTS:
 * STORE_REFUSE was asked for. STORE_FAILED with `err`: also where a commit has a time and those that are there have
 * none, or the other way, or the same commit another time. */
enum store_done store_put(struct store *store, const struct store_entry *entry, enum store_rule rule, size_t *n_new,
                          struct err *err);

/* Whether there is an entry of this name: 1 or 0; -1 with `err`. */
int store_has(struct store *store, enum store_kind kind, const char *name, struct err *err);

/* The entry of this name, all of it from `arena`. 0; 1: there is none; -1 with `err`. */
int store_get(struct store *store, enum store_kind kind, const char *name, struct arena *arena,
              struct store_entry *entry, struct err *err);

/* All entries of a kind with their parts, but these without their digests (NULL): commits by time,
 * and everything without a time, or of the same, in the order in which it was added. 0, or -1 with `err`. */
int store_list(struct store *store, enum store_kind kind, struct arena *arena, struct store_entry **list, size_t *n,
               struct err *err);

#endif
