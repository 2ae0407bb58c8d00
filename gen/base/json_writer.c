#include "base/json_writer.h"

#include "base/format.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(void *out, const char *bytes, size_t n)
{
	buf_add(out, bytes, n);
}

static void *take(void *context, size_t n)
{
	(void)context;
	return memory_take(n);
}

static void *resize(void *context, void *old, size_t n)
{
	(void)context;
	return memory_resize(old, n);
}

static void give_back(void *context, void *old)
{
	(void)context;
	free(old);
}

static yajl_alloc_funcs memory = {take, resize, give_back, NULL};

yajl_alloc_funcs *json_memory(void)
{
	return &memory;
}

void json_init(struct json *json, struct buf *out)
{
	*json = (struct json){.gen = yajl_gen_alloc(&memory)};
	json->status = yajl_gen_status_ok;
	yajl_gen_config(json->gen, yajl_gen_beautify, 1);
	yajl_gen_config(json->gen, yajl_gen_indent_string, " ");
	yajl_gen_config(json->gen, yajl_gen_validate_utf8, 1);
	yajl_gen_config(json->gen, yajl_gen_print_callback, append, (void *)out);
}

void json_compact(struct json *json)
{
	if (json->gen)
		yajl_gen_config(json->gen, yajl_gen_beautify, 0);
}

int json_finish(struct json *json, struct err *err)
{
	yajl_gen_status status = json->status;
	if (status == yajl_gen_status_ok && json->depth != 0)
		status = yajl_gen_in_error_state;
	if (json->gen)
		yajl_gen_free(json->gen);
	json->gen = NULL;
	switch (status) {
	case yajl_gen_status_ok:
		return 0;
	case yajl_gen_no_buf:
		return err_set(err, "JSON: out of memory");
	case yajl_gen_invalid_string:
		return err_set(err, "JSON: a text of the result is not UTF-8");
	default:
		return err_set(err, "JSON: the writer was used wrongly (yajl status %d)", (int)status);
	}
}

static void keep(struct json *json, yajl_gen_status status)
{
	if (json->status == yajl_gen_status_ok && status != yajl_gen_status_ok)
		json->status = status;
}

static bool ready(struct json *json, const char *key)
{
	if (json->status == yajl_gen_status_ok && key)
		keep(json, yajl_gen_string(json->gen, (const unsigned char *)key, strlen(key)));
	return json->status == yajl_gen_status_ok;
}

void json_object(struct json *json, const char *key)
{
	json->depth++;
	if (ready(json, key))
		keep(json, yajl_gen_map_open(json->gen));
}

void json_end_object(struct json *json)
{
	json->depth--;
	if (ready(json, NULL))
		keep(json, yajl_gen_map_close(json->gen));
}

void json_array(struct json *json, const char *key)
{
	json->depth++;
	if (ready(json, key))
		keep(json, yajl_gen_array_open(json->gen));
}

void json_end_array(struct json *json)
{
	json->depth--;
	if (ready(json, NULL))
		keep(json, yajl_gen_array_close(json->gen));
}

int json_list(struct json *json, const char *key)
{
	json_array(json, key);
	return 0;
}

bool json_item(struct json *json, size_t i, size_t n)
{
	if (i)
		json_end_object(json);
	if (i < n)
		json_object(json, NULL);
	else
		json_end_array(json);
	return i < n;
}

void json_text(struct json *json, const char *key, const char *text)
{
	if (!text)
		json_null(json, key);
	else if (ready(json, key))
		keep(json, yajl_gen_string(json->gen, (const unsigned char *)text, strlen(text)));
}

void json_bool(struct json *json, const char *key, bool value)
{
	if (ready(json, key))
		keep(json, yajl_gen_bool(json->gen, value));
}

void json_integer(struct json *json, const char *key, int64_t value)
{
	char text[DECIMAL_ROOM];
	size_t n = decimal_integer(text, value);
	if (ready(json, key))
		keep(json, yajl_gen_number(json->gen, text, n));
}

void json_null(struct json *json, const char *key)
{
	if (ready(json, key))
		keep(json, yajl_gen_null(json->gen));
}

void json_known(struct json *json, const char *key, bool known, int64_t value)
{
	if (known)
		json_integer(json, key, value);
	else
		json_null(json, key);
}

void json_number(struct json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	char text[DECIMAL_ROOM];
	size_t n = decimal_exact(text, value);
	if (ready(json, key))
		keep(json, yajl_gen_number(json->gen, text, n));
}

void json_ms(struct json *json, const char *key, double ns)
{
	json_number(json, key, ns / 1e6);
}

void json_us(struct json *json, const char *key, int64_t ns)
{
	char text[32];
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	snprintf(text, sizeof text, "%s%llu.%03llu", ns < 0 ? "-" : "", (unsigned long long)(size / 1000),
	         (unsigned long long)(size % 1000));
	if (ready(json, key))
		keep(json, yajl_gen_number(json->gen, text, strlen(text)));
}
