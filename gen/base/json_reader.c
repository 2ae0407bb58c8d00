#include "base/json_reader.h"

#include "base/json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

struct reader {
	struct arena *arena;
	struct json_value *open[JSON_DEEPEST]; /* arrays and objects, the outermost first */
	size_t depth;
	const char *key;
	struct json_value *root;
};

/* Adds a value where the text has come to; 0 where there can be none, which ends the parsing. */
static int add(void *context, struct json_value value)
{
	struct reader *r = context;
	struct json_value *made = ARENA_NEW(r->arena, 1, struct json_value);
	*made = value;
	made->key = r->key;
	r->key = NULL;
	if (r->depth) {
		struct json_value *in = r->open[r->depth - 1];
		if (in->last)
			in->last->next = made;
		else
			in->first = made;
		in->last = made;
	} else if (r->root) {
		return 0;
	} else {
		r->root = made;
	}
	if (value.kind != JSON_ARRAY && value.kind != JSON_OBJECT)
		return 1;
	if (r->depth == JSON_DEEPEST)
		return 0;
	r->open[r->depth++] = made;
	return 1;
}

static const char *text_of(const struct reader *r, const void *bytes, size_t n)
{
	return arena_copy(r->arena, bytes, n);
}

static int on_null(void *context)
{
	return add(context, (struct json_value){.kind = JSON_NULL});
}

static int on_bool(void *context, int yes)
{
	return add(context, (struct json_value){.kind = JSON_BOOL, .yes = yes != 0});
}

static int on_number(void *context, const char *bytes, size_t n)
{
	return add(context, (struct json_value){.kind = JSON_NUMBER, .text = text_of(context, bytes, n)});
}

static int on_text(void *context, const unsigned char *bytes, size_t n)
{
	return add(context, (struct json_value){.kind = JSON_TEXT, .text = text_of(context, bytes, n)});
}

static int on_array(void *context)
{
	return add(context, (struct json_value){.kind = JSON_ARRAY});
}

static int on_object(void *context)
{
	return add(context, (struct json_value){.kind = JSON_OBJECT});
}

static int on_end(void *context)
{
	struct reader *r = context;
	r->depth--;
	return 1;
}

static int on_key(void *context, const unsigned char *bytes, size_t n)
{
	struct reader *r = context;
	r->key = text_of(r, bytes, n);
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

const struct json_value *json_read(const char *text, size_t n, struct arena *arena)
{
	struct reader r = {.arena = arena};
	yajl_handle json = yajl_alloc(&callbacks, json_memory(), &r);
	bool whole = yajl_parse(json, (const unsigned char *)text, n) == yajl_status_ok &&
	             yajl_complete_parse(json) == yajl_status_ok;
	yajl_free(json);
	return whole ? r.root : NULL;
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

bool json_whole(const struct json_value *value, int64_t *number)
{
	char *end;
	if (!value || value->kind != JSON_NUMBER)
		return false;
	errno = 0;
	*number = strtoll(value->text, &end, 10);
	return !errno && !*end && end != value->text;
}
