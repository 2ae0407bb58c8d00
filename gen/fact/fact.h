/* Facts: what gapline found, before anybody words it. A fact is an id of the one table (facts.def), the side that it is
 * of, and the values of the parameters that the table gives it; say/say.h makes words of it, in every output.
 *
 *     FACT_ADD(&reasons, arena, no_rhythm_yet, 1, .slow = 2, .of = 40, .steps = 64);
 *
 * A parameter that the table does not have, or of another type, does not compile. One that is left out is 0, and means
 * it: what is not known is FACT_UNKNOWN (a count, a flag or a rank), NAN, the name 0, or NULL, and may stand only where
 * the words have an optional piece for it.
 *
 * A fact is plain data: it lives in the arena, is never changed, and owns nothing. Texts and other facts in it are
 * borrowed for as long. */
#ifndef GAPLINE_FACT_FACT_H
#define GAPLINE_FACT_FACT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum fact_id {
#define FACT(id, ...) FACT_##id,
#define WORDS(id, ...)
#include "fact/facts.def"
	FACT_COUNT
};

/* Lists of words that the catalogue has. */
enum words_id {
#define FACT(...)
#define WORDS(id, ...) WORDS_##id,
#include "fact/facts.def"
	WORDS_COUNT
};

enum fact_kind {
	FACT_KIND_COUNT,
	FACT_KIND_NUMBER,
	FACT_KIND_TIME,
	FACT_KIND_SHARE,
	FACT_KIND_BYTES,
	FACT_KIND_FLAG,
	FACT_KIND_NAME,
	FACT_KIND_TEXT,
	FACT_KIND_RANK,
	FACT_KIND_WORD,
	FACT_KIND_LISTED,
	FACT_KIND_PART,
	FACT_KIND_PARTS
};

enum fact_severity { FACT_INFO, FACT_CAVEAT, FACT_DOUBT };
enum fact_place { FACT_IN_REASON, FACT_IN_WORK, FACT_IN_QUALITY, FACT_IN_FINDING, FACT_IN_PART, FACT_IN_OUTPUT };

#define FACT_UNKNOWN INT64_MIN
enum { FACT_NO_SIDE = -1 };

/* Which member it is, the kind says. */
union fact_value {
	int64_t count; /* count, flag, rank, and the id of a name */
	double number; /* number, time, share, bytes */
	const char *text;
	const struct fact *part;
	const struct facts *parts;
};

struct fact {
	enum fact_id id;
	int side;                      /* 0, 1, or FACT_NO_SIDE */
	const union fact_value *value; /* fact_info[id].n of them */
};

/* A list that grows; starts as {0}. */
struct facts {
	const struct fact **list;
	uint32_t n, room;
};

/* ---- making them ---- */

/* struct fact_ID: the parameters of each id, all of the size of a value. */
#define COUNT(name) int64_t name;
#define RANK(name) int64_t name;
#define FLAG(name) int64_t name;
#define NAME(name) int64_t name;
#define NUMBER(name) double name;
#define TIME(name) double name;
#define SHARE(name) double name;
#define BYTES(name) double name;
#define TEXT(name) const char *name;
#define WORD(name, keys) const char *name;
#define LISTED(name, list) const char *name;
#define PART(name) const struct fact *name;
#define PARTS(name) const struct facts *name;
#define WORDS(id, keys)
#define FACT(id, severity, place, docs, ...)                                                                           \
	struct fact_##id {                                                                                             \
		__VA_ARGS__                                                                                            \
	};
#include "fact/facts.def"

/* A fact in `arena`: its id without FACT_, its side, its parameters as .name = value. */
#define FACT_NEW(arena, id, side, ...)                                                                                 \
	fact_new((arena), FACT_##id, (side), &(const struct fact_##id){__VA_ARGS__}, sizeof(struct fact_##id))
const struct fact *fact_new(struct arena *arena, enum fact_id id, int side, const void *values, size_t size);

/* Adds a fact; NULL adds nothing. */
void facts_add(struct facts *facts, struct arena *arena, const struct fact *fact);

/* The same of a new one: the list, then as FACT_NEW. */
#define FACT_ADD(facts, arena, ...) facts_add((facts), (arena), FACT_NEW((arena), __VA_ARGS__))

void facts_add_all(struct facts *facts, struct arena *arena, const struct facts *more);

/* ---- the table ---- */

enum { FACT_PARAMS = 13 };
struct fact_param {
	const char *name; /* NULL: no more */
	enum fact_kind kind;
	const char *keys;     /* of a word, and of a flag: "one|two" */
	enum words_id listed; /* of a listed one */
};
struct fact_info {
	const char *id; /* as in the JSON */
	enum fact_severity severity;
	enum fact_place place;
	const char *docs; /* of docs: "method/verdict.md#warm-up"; "" */
	uint32_t n;
	struct fact_param param[FACT_PARAMS];
};
extern const struct fact_info fact_info[FACT_COUNT];

struct words_info {
	const char *id, *keys; /* "side", "baseline|fixed" */
};
extern const struct words_info words_info[WORDS_COUNT];

const char *fact_severity_name(enum fact_severity severity); /* "info" */
const char *fact_place_name(enum fact_place place);          /* "reason" */
const char *fact_side_name(int side);                        /* "baseline", "fixed"; NULL for no side */

/* The keys that a word or a listed word, or a flag, may have; NULL: it is none. */
const char *fact_keys(const struct fact_param *param);

/* Which of `keys` ("one|two") a key of `n` bytes is, from 0; -1: none. */
int fact_key(const char *keys, const char *key, size_t n);

/* Whether two say the same. */
bool fact_same(const struct fact *a, const struct fact *b);

/* Whether a value says something: not FACT_UNKNOWN, NAN, the name 0 or NULL. */
bool fact_known(enum fact_kind kind, const union fact_value *value);

#endif
