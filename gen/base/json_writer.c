#include "base/json_writer.h"

#include "base/format.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 64 };

void json_init(struct json *json, struct buf *out)
{
	*json = (struct json){.out = out};
}

void json_compact(struct json *json)
{
	json->compact = true;
}

int json_finish(struct json *json, struct err *err)
{
	if (!json->wrong && json->depth != 0)
		json->wrong = "the writer was used wrongly: something is left open";
	return json->wrong ? err_set(err, "JSON: %s", json->wrong) : 0;
}

/* ---- what stands between values ---- */

static void put(struct json *json, const char *text)
{
	buf_add(json->out, text, strlen(text));
}

static void put_comma(struct json *json)
{
	buf_room(json->out, 1);
	json->out->data[json->out->n++] = ',';
	json->out->data[json->out->n] = 0;
}

static void new_line(struct json *json)
{
	if (json->compact)
		return;
	buf_room(json->out, 1 + (size_t)json->depth);
	json->out->data[json->out->n++] = '\n';
	memset(json->out->data + json->out->n, ' ', (size_t)json->depth);
	json->out->n += (size_t)json->depth;
	json->out->data[json->out->n] = 0;
}

static void put_text(struct json *json, const char *text)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const size_t n = strlen(text);
	size_t done = 0, i = 0;
	put(json, "\"");
	while (i < n) {
		const unsigned char c = (unsigned char)text[i];
		if (c >= 0x80) {
			uint32_t code;
			size_t skip, length = utf8_next((const unsigned char *)text + i, n - i, &code, &skip);
			if (!length) {
				json->wrong = "a text of the result is not UTF-8";
				return;
			}
			i += length;
		} else if (c >= ' ' && c != '"' && c != '\\') {
			i++;
		} else {
			const char *which = strchr(escaped, c);
			buf_add(json->out, text + done, i - done);
			if (which)
				buf_add(json->out, (const char[]){'\\', letters[which - escaped]}, 2);
			else
				buf_format(json->out, "\\u%04X", c);
			done = ++i;
		}
	}
	buf_add(json->out, text + done, n - done);
	put(json, "\"");
}

/* Begins a value; false where it has no place. */
static bool begin(struct json *json, const char *key)
{
	const bool in_object = json->depth && json->objects >> (json->depth - 1) & 1;
	if (!json->wrong && (in_object != (key != NULL) || (!json->depth && json->any)))
		json->wrong = "the writer was used wrongly: a value has no place";
	if (json->wrong)
		return false;
	if (json->any)
		put_comma(json);
	if (json->depth)
		new_line(json);
	json->any = true;
	if (key) {
		put_text(json, key);
		put(json, json->compact ? ":" : ": ");
	}
	return !json->wrong;
}

static void end(struct json *json)
{
	if (json->depth == 0)
		new_line(json);
}

static void put_value(struct json *json, const char *key, const char *text)
{
	if (begin(json, key)) {
		put(json, text);
		end(json);
	}
}

static void open_one(struct json *json, const char *key, bool object)
{
	if (json->depth == DEEPEST)
		json->wrong = "the writer was used wrongly: nested too deep";
	if (!begin(json, key))
		return;
	put(json, object ? "{" : "[");
	json->objects = (json->objects & ~((uint64_t)1 << json->depth)) | (uint64_t)object << json->depth;
	json->depth++;
	json->any = false;
}

static void close_one(struct json *json, bool object)
{
	if (!json->wrong && (!json->depth || (json->objects >> (json->depth - 1) & 1) != object))
		json->wrong = "the writer was used wrongly: an end without its beginning";
	if (json->wrong)
		return;
	json->depth--;
	if (!json->any && !json->compact)
		put(json, "\n");
	new_line(json);
	put(json, object ? "}" : "]");
	json->any = true;
	end(json);
}

/* ---- values ---- */

void json_object(struct json *json, const char *key)
{
	open_one(json, key, true);
}

void json_end_object(struct json *json)
{
	close_one(json, true);
}

void json_array(struct json *json, const char *key)
{
	open_one(json, key, false);
}

void json_end_array(struct json *json)
{
	close_one(json, false);
}

bool json_maybe(struct json *json, const char *key, bool known)
{
	if (known)
		json_object(json, key);
	else
		json_null(json, key);
	return known;
}

int json_list(struct json *json, const char *key)
{
	json_array(json, key);
	return 0;
}

bool json_more(struct json *json, bool more)
{
	if (!more)
		json_end_array(json);
	return more;
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
	if (!text) {
		json_null(json, key);
	} else if (begin(json, key)) {
		put_text(json, text);
		end(json);
	}
}

void json_bool(struct json *json, const char *key, bool value)
{
	put_value(json, key, value ? "true" : "false");
}

void json_integer(struct json *json, const char *key, int64_t value)
{
	if (begin(json, key)) {
		buf_room(json->out, DECIMAL_ROOM);
		json->out->n += decimal_integer(json->out->data + json->out->n, value);
		end(json);
	}
}

void json_null(struct json *json, const char *key)
{
	put_value(json, key, "null");
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
	if (begin(json, key)) {
		buf_room(json->out, DECIMAL_ROOM);
		json->out->n += decimal_exact(json->out->data + json->out->n, value);
		end(json);
	}
}

void json_range(struct json *json, const char *key, bool known, double low, double high)
{
	if (!known) {
		json_null(json, key);
		return;
	}
	json_array(json, key);
	json_number(json, NULL, low);
	json_number(json, NULL, high);
	json_end_array(json);
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
	put_value(json, key, text);
}
