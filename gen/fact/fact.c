#include "fact/fact.h"

#include "base/format.h"
#include "base/list.h"

#include <assert.h>
#include <math.h>
#include <string.h>

_Static_assert(sizeof(union fact_value) == 8 && sizeof(const char *) == 8, "parameters are all of one size");

#define COUNT(name) {#name, FACT_KIND_COUNT, NULL, 0},
#define RANK(name) {#name, FACT_KIND_RANK, NULL, 0},
#define FLAG(name) {#name, FACT_KIND_FLAG, "no|yes", 0},
#define NAME(name) {#name, FACT_KIND_NAME, NULL, 0},
#define NUMBER(name) {#name, FACT_KIND_NUMBER, NULL, 0},
#define TIME(name) {#name, FACT_KIND_TIME, NULL, 0},
#define SHARE(name) {#name, FACT_KIND_SHARE, NULL, 0},
#define BYTES(name) {#name, FACT_KIND_BYTES, NULL, 0},
#define TEXT(name) {#name, FACT_KIND_TEXT, NULL, 0},
#define WORD(name, keys) {#name, FACT_KIND_WORD, #keys, 0},
#define LISTED(name, list) {#name, FACT_KIND_LISTED, NULL, WORDS_##list},
#define PART(name) {#name, FACT_KIND_PART, NULL, 0},
#define PARTS(name) {#name, FACT_KIND_PARTS, NULL, 0},
#define WORDS(id, keys)
#define FACT(id, severity, place, docs, ...)                                                                           \
	{#id, FACT_##severity, FACT_IN_##place, docs, sizeof(struct fact_##id) / 8, {__VA_ARGS__}},
const struct fact_info fact_info[FACT_COUNT] = {
#include "fact/facts.def"
};

#define FACT(...)
#define WORDS(id, keys) {#id, #keys},
const struct words_info words_info[WORDS_COUNT] = {
#include "fact/facts.def"
};

WORD_OF(fact_severity_name, fact_severity, [FACT_INFO] = "info", [FACT_CAVEAT] = "caveat", [FACT_DOUBT] = "doubt")

WORD_OF(fact_place_name,
        fact_place, [FACT_IN_REASON] = "reason", [FACT_IN_WORK] = "work", [FACT_IN_QUALITY] = "quality",
        [FACT_IN_FINDING] = "finding", [FACT_IN_PART] = "part", [FACT_IN_OUTPUT] = "output")

const char *fact_side_name(int side)
{
	return side < 0 ? NULL : side ? "fixed" : "baseline";
}

const char *fact_keys(const struct fact_param *param)
{
	return param->kind == FACT_KIND_LISTED ? words_info[param->listed].keys : param->keys;
}

int fact_key(const char *keys, const char *key, size_t n)
{
	for (int i = 0;; i++) {
		size_t length = strcspn(keys, "|");
		if (length == n && memcmp(keys, key, n) == 0)
			return i;
		if (!keys[length])
			return -1;
		keys += length + 1;
	}
}

bool fact_known(enum fact_kind kind, const union fact_value *value)
{
	switch (kind) {
	case FACT_KIND_COUNT:
	case FACT_KIND_FLAG:
	case FACT_KIND_RANK:
		return value->count != FACT_UNKNOWN;
	case FACT_KIND_NAME:
		return value->count != 0;
	case FACT_KIND_NUMBER:
	case FACT_KIND_TIME:
	case FACT_KIND_SHARE:
	case FACT_KIND_BYTES:
		return !isnan(value->number);
	case FACT_KIND_TEXT:
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		return value->text;
	case FACT_KIND_PART:
		return value->part;
	case FACT_KIND_PARTS:
		return value->parts && value->parts->n;
	}
	return false;
}

static bool parts_same(const struct facts *a, const struct facts *b)
{
	if (!a || !b || a->n != b->n)
		return a == b;
	for (uint32_t i = 0; i < a->n; i++)
		if (!fact_same(a->list[i], b->list[i]))
			return false;
	return true;
}

static bool value_same(enum fact_kind kind, const union fact_value *a, const union fact_value *b)
{
	if (!fact_known(kind, a) || !fact_known(kind, b))
		return fact_known(kind, a) == fact_known(kind, b);
	switch (kind) {
	case FACT_KIND_TEXT:
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		return strcmp(a->text, b->text) == 0;
	case FACT_KIND_PART:
		return fact_same(a->part, b->part);
	case FACT_KIND_PARTS:
		return parts_same(a->parts, b->parts);
	default:
		return a->count == b->count;
	}
}

bool fact_same(const struct fact *a, const struct fact *b)
{
	if (a->id != b->id || a->side != b->side)
		return false;
	for (uint32_t i = 0; i < fact_info[a->id].n; i++)
		if (!value_same(fact_info[a->id].param[i].kind, &a->value[i], &b->value[i]))
			return false;
	return true;
}

/* A key that the table does not have would have no words. */
static void check_keys(const struct fact *fact)
{
	for (uint32_t i = 0; i < fact_info[fact->id].n; i++) {
		const struct fact_param *p = &fact_info[fact->id].param[i];
		const char *key = fact->value[i].text;
		if ((p->kind != FACT_KIND_WORD && p->kind != FACT_KIND_LISTED) || !key)
			continue;
		bool there = fact_key(fact_keys(p), key, strlen(key)) >= 0;
		assert(there);
		(void)there;
	}
}

const struct fact *fact_new(struct arena *arena, enum fact_id id, int side, const void *values, size_t size)
{
	struct fact *fact = ARENA_NEW(arena, 1, struct fact);
	union fact_value *value = ARENA_NEW(arena, fact_info[id].n, union fact_value);
	if (size)
		memcpy(value, values, size);
	*fact = (struct fact){id, side, value};
	check_keys(fact);
	return fact;
}

void facts_add(struct facts *facts, struct arena *arena, const struct fact *fact)
{
	if (!fact)
		return;
	LIST_ADD(arena, facts->list, facts->n, facts->room, fact);
}

void facts_add_all(struct facts *facts, struct arena *arena, const struct facts *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		facts_add(facts, arena, more->list[i]);
}
