#include "base/json_reader.h"

#include "base/json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct arena *arena;
	struct json_value *open[JSON_DEEPEST]; /* arrays and objects, the outermost first */
	size_t depth;
	const char *key;
	struct json_value *root;
};

/* Adds a value where the text has come to. */
static void add(struct reader *r, const struct json_scan *s, enum json_token token)
{
	static const enum json_kind kinds[] = {
		[TOKEN_NULL] = JSON_NULL,     [TOKEN_FALSE] = JSON_BOOL, [TOKEN_TRUE] = JSON_BOOL,
		[TOKEN_NUMBER] = JSON_NUMBER, [TOKEN_TEXT] = JSON_TEXT,  [TOKEN_OBJECT] = JSON_OBJECT,
		[TOKEN_ARRAY] = JSON_ARRAY};
	struct json_value *made = ARENA_NEW(r->arena, 1, struct json_value);
	*made = (struct json_value){.kind = kinds[token], .key = r->key, .yes = token == TOKEN_TRUE};
	r->key = NULL;
	if (token == TOKEN_NUMBER || token == TOKEN_TEXT)
		made->text = arena_copy(r->arena, s->text, s->n);
	if (r->depth) {
		struct json_value *in = r->open[r->depth - 1];
		if (in->last)
			in->last->next = made;
		else
			in->first = made;
		in->last = made;
	} else {
		r->root = made;
	}
	if (token == TOKEN_OBJECT || token == TOKEN_ARRAY)
		r->open[r->depth++] = made;
}

const struct json_value *json_read(const char *text, size_t n, struct arena *arena)
{
	struct reader r = {.arena = arena};
	struct json_scan s;
	json_scan_open_text(&s, text, n, JSON_DEEPEST);
	for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
		if (token == TOKEN_KEY)
			r.key = arena_copy(arena, s.text, s.n);
		else if (token == TOKEN_OBJECT_END || token == TOKEN_ARRAY_END)
			r.depth--;
		else
			add(&r, &s, token);
	json_scan_close(&s);
	return s.flaw ? NULL : r.root;
}

const struct json_value *json_member(const struct json_value *object, const char *key, enum json_kind kind)
{
	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for (const struct json_value *v = object->first; v; v = v->next)
		if (v->kind == kind && !strcmp(v->key, key))
			return v;
	return NULL;
}

const char *json_member_text(const struct json_value *object, const char *key)
{
	const struct json_value *v = json_member(object, key, JSON_TEXT);
	return v ? v->text : NULL;
}

bool json_whole(const struct json_value *value, int64_t *number)
{
	char *end;
	if (!value || value->kind != JSON_NUMBER)
		return false;
	errno = 0;
	*number = strtoll(value->text, &end, 10);
	return !errno && !*end && end != value->text;
}
