/* What tells about a machine and its people, found within texts and command lines. */
#ifndef GAPLINE_READ_SCRUB_FIND_H
#define GAPLINE_READ_SCRUB_FIND_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
