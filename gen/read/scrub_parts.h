/* What a copy that can be shared is made with (read/scrub.h). */
#ifndef GAPLINE_READ_SCRUB_PARTS_H
#define GAPLINE_READ_SCRUB_PARTS_H

#include "base/arena.h"
#include "base/err.h"
#include "read/scrub.h"
#include "read/source.h"
#include "trace/names.h"

#include <stdbool.h>
#include <stddef.h>

/* What of an nsys export, or of our own profile, may be shared: the tables and columns by name. Whatever is not named
 * here, a table of a later nsys among it, is left out. */

/* Which rows of a table are kept. */
enum scrub_rows {
	SCRUB_ALL,
	SCRUB_EVENTS,  /* all; and the processes and threads in it are those that the profile is about */
	SCRUB_HOLDERS, /* those of threads with events; with stacks, the threads that those waited for keep their names
	                */
	SCRUB_PROCESSES,   /* those of processes with events, by globalPid */
	SCRUB_THREADS,     /* those of threads with events, by globalTid */
	SCRUB_OPTIONS,     /* those whose name is harmless and whose value is no free text */
	SCRUB_DIAGNOSTICS, /* warnings and errors */
	SCRUB_SAMPLES,     /* samples of the GPU's counters, among events of other sources */
	SCRUB_LOOKS,       /* samples of threads: those of threads with events, on request */
	SCRUB_STACKS,      /* those of samples that are kept */
	SCRUB_CHAINS,      /* of calls: all, on request */
	SCRUB_STRINGS      /* StringIds: those that a kept row refers to; the last table */
};

struct scrub_table {
	const char *name;
	enum scrub_rows rows;
	/* Names of columns, separated by spaces. A sign before a name says what it holds: nothing, a whole number;
	 * '%' a number of either kind; '@' an id of StringIds, '&' one whose text is a path of which the last part is
	 * kept; '$' a text in which paths, hosts and users are masked;
	 * '!' a path of which the last part is kept; '#' a UUID, which another one replaces; '+' a text of digits and
	 * marks, as in a time or a place on a bus; '{' a JSON object, of which the GPU's counters are kept; '='
	 * what NCCL says of a call: numbers of a communicator, bytes and ranks. */
	const char *columns;
};

extern const struct scrub_table SCRUB_TABLES[];
extern const size_t SCRUB_N_TABLES;

/* Whether an option of an export or a capture is one that tells nothing about people, by its name. */
bool scrub_option_is_harmless(const char *name);

/* Whether a text is of letters, digits and the signs in `also`, and short. */
bool scrub_is_plain(const char *text, size_t n, const char *also);

/* What tells about a machine and its people, found within texts and command lines. */

enum scrub_kind { SCRUB_HOST, SCRUB_USER, SCRUB_WORD, SCRUB_PATH, SCRUB_TOKEN, SCRUB_ADDRESS, SCRUB_UUID, SCRUB_KINDS };

/* ---- scrub_token.c ---- */

/* What opens doors, within texts: tokens by how those of common services begin, values of words like "password", and
 * what stands before the '@' of an address. Sources: the services' own pages on the format of their tokens; RFC
 * 3986 3.2.1; RFC 7519 3 (JSON Web Token). */

/* The length of the secret that begins at `at`; 0: none does. */
size_t scrub_token(const char *bytes, size_t n, size_t at);

/* ---- scrub_address.c ---- */

/* Where people and machines are reached, and which they are, within texts: e-mail and user@host (RFC 5322 3.4.1), IP
 * addresses (RFC 4291 2.2), MAC addresses, host:port, UUIDs of GPUs, and private keys (RFC 7468). */

/* The length of what begins at `at`, and its kind; 0: none does. Of host:port it is the host's. A single word before a
 * port is a host where it has a digit and the port at least four, or where a URL begins with it: "step:100" is none. */
size_t scrub_address(const char *bytes, size_t n, size_t at, enum scrub_kind *kind);

/* ---- scrub_path.c ---- */

/* Paths of files within texts: they tell about a machine. Not all that has slashes is one: "forward/backward", "T1/T2",
 * and operators of an ONNX graph, "/backbone/block.0/Conv", are names and stay. A path is what begins with a folder
 * that holds files on common machines ("/home", "/mnt") or in the profile's own metadata, or with '~' (also somebody's,
 * "~bob/"), "//" or a drive's letter, or what ends as names of files do (".py"). */

/* First parts of paths that the metadata holds. */
struct scrub_roots {
	const char *names[200]; /* more are not learned */
	size_t n;
};

static inline bool scrub_path_is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* Between words of a message, some of which are paths: the reader and the copy cut them in the same places. */
bool scrub_path_stops(char c);

/* The first parts of all absolute paths in a text of the metadata; each is looked at as a path. */
void scrub_path_learn(struct scrub_roots *roots, struct arena *arena, const char *bytes, size_t n);

/* What can stand in a part of a path. */
bool scrub_path_is_part(unsigned char c);

/* The length of the folder of the absolute path that begins at `at`; 0 when none begins there: two parts or more, and
 * nothing before it that it could belong to. The last part does not belong to the folder, unless it is a home folder or
 * the path ends with a separator. */
size_t scrub_path_folder(const struct scrub_roots *roots, const char *bytes, size_t n, size_t at);

/* ---- scrub_command.c ---- */

/* Which words of a command line may be shown. Any option may take a password, so that only those show their values that
 * are known to be harmless. */

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

/* Texts that are kept, without what they tell about a machine and its people. A host name, a user name, a home folder
 * or any other word to hide becomes "[host A]", "[user A]", "[word A]", the folder of a file's path (scrub_path.c)
 * "[path A]", a token, a password or what stands before the '@' of an address (scrub_token.c) "[secret A]"; equal parts
 * get equal letters and different ones different letters, so that names that differ go on differing. */

struct scrub_secret {
	enum scrub_kind kind;
	const char *text;
	size_t n;
};

struct scrub_text {
	struct arena *arena;
	struct scrub_secret *secrets;
	size_t n_secrets, room;
	struct names found[SCRUB_KINDS]; /* what was masked, by letter: id 1 is A */
	struct names changed;            /* the texts, as they were, that were changed */
	struct names uuids;
	struct scrub_roots roots;
};

void scrub_text_init(struct scrub_text *text, struct arena *arena);

/* A word to hide; a host or a user unless it is too short or too common to mean anybody ("root", "cuda"). Of a host its
 * first label is one too. */
void scrub_text_hide(struct scrub_text *text, enum scrub_kind kind, const char *word, size_t n);

/* What a row (name, value) of the metadata tells: who and where, and the same in environment variables ("HOME=…") in
 * the value. A value of a row of an unrelated name is looked through for those only. */
void scrub_text_learn(struct scrub_text *text, const char *name, const char *value, size_t n);

/* The user whose home a path of the metadata lies in (/home/USER/…, /Users/USER/…), and where such paths begin. */
void scrub_text_learn_path(struct scrub_text *text, const char *path, size_t n);

/* The text without them; `*n` is its length before and after. The same pointer when nothing was found. */
const char *scrub_text_mask(struct scrub_text *text, const char *bytes, size_t *n);

/* The text masked up to `from`, and all that follows as one secret. */
const char *scrub_text_secret(struct scrub_text *text, const char *bytes, size_t from, size_t *n);

/* The last part of a program's path, without a command line behind it, masked. */
const char *scrub_text_program(struct scrub_text *text, const char *bytes, size_t *n);

/* The same of the file that code is of, which has no arguments behind it: "/opt/lib/libc.so.6" becomes "libc.so.6". */
const char *scrub_text_module(struct scrub_text *text, const char *bytes, size_t *n);

/* A message in which every word with a slash in it is cut to its last part, then masked: as the reader shows messages
 * (nsys_read_diagnostics). */
const char *scrub_text_message(struct scrub_text *text, const char *bytes, size_t *n);

/* A UUID of the same shape that says only which of the profile's GPUs it is. */
const char *scrub_text_uuid(struct scrub_text *text, const char *bytes, size_t *n);

/* How many different texts were changed so that it can be seen in a result. */
static inline size_t scrub_text_changed(const struct scrub_text *text)
{
	return text->changed.n - 1;
}

/* A copy of run.json (`gapline run`) that can be shared: what was run and how long it took stays, and of commands,
 * variables, paths and messages what they tell about a machine and its people goes. */

/* 1: the copy is in `copy`; 0: the file is no run.json, and nothing was done; -1 with `err`. */
int scrub_run(const struct source *source, struct scrub_text *text, struct arena *arena, struct scrub_copy *copy,
              struct err *err);

/* What is looked at before a profile is copied: a copy is a new database, sound in itself, so whatever is wrong with
 * the original has to be said now. */

/* Reads a database, unpacked where it was packed, as reports and tables of nsys's do, and forgets it. 0, or -1 with the
 * `err` that they fail with; a profile without GPU work is none. SQLite meets some damage only on its way to certain
 * columns, so that a copy, which asks for others, could come out whole from an original that no report reads. */
int scrub_original_check(struct source *source, struct err *err);

/* Says what a file is that is no database, in the words of the reader. Returns -1. */
int scrub_original_refuse(const struct source *source, struct arena *arena, struct err *err);

#endif
