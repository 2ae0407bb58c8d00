#include "read/scrub_parts.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "read/nsys.h"
#include "read/read.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16 << 20 }; /* as much as `gapline run` reads of it */

struct walk {
	struct scrub_text *text;
	struct json json;
};

/* What all texts say about people and machines, first: a user's name in one path stands in other words, too. */
static void learn(struct scrub_text *text, const struct json_value *value)
{
	if (value->kind == JSON_TEXT) {
		scrub_text_learn(text, "", value->text, strlen(value->text));
		scrub_text_learn_path(text, value->text, strlen(value->text));
	}
	for (const struct json_value *in = value->first; in; in = in->next)
		learn(text, in);
}

static const char *masked(struct walk *w, const char *text)
{
	size_t n = strlen(text);
	return scrub_text_mask(w->text, text, &n);
}

/* A command line, word by word. */
static void put_command(struct walk *w, const struct json_value *array)
{
	const char *before = "";
	json_array(&w->json, array->key);
	for (const struct json_value *word = array->first; word; word = word->next) {
		const char *text = word->kind == JSON_TEXT ? word->text : "";
		size_t n = strlen(text), secret = scrub_command_secret(text, before);
		json_text(&w->json, NULL, secret < n ? scrub_text_secret(w->text, text, secret, &n) : masked(w, text));
		before = text;
	}
	json_end_array(&w->json);
}

static void put(struct walk *w, const struct json_value *value, bool commands)
{
	const char *key = value->key;
	int64_t whole;
	if (value->kind == JSON_NULL || (key && !strcmp(key, "energy_mj"))) /* it names GPUs */
		json_null(&w->json, key);
	else if (value->kind == JSON_BOOL)
		json_bool(&w->json, key, value->yes);
	else if (value->kind == JSON_TEXT)
		json_text(&w->json, key, masked(w, value->text));
	else if (value->kind == JSON_NUMBER && json_whole(value, &whole))
		json_integer(&w->json, key, whole);
	else if (value->kind == JSON_NUMBER)
		json_number(&w->json, key, strtod(value->text, NULL));
	else if (value->kind == JSON_ARRAY && commands)
		put_command(w, value);
	if (value->kind != JSON_OBJECT && (value->kind != JSON_ARRAY || commands))
		return;
	value->kind == JSON_OBJECT ? json_object(&w->json, key) : json_array(&w->json, key);
	for (const struct json_value *in = value->first; in; in = in->next)
		put(w, in, key && !strcmp(key, "commands"));
	value->kind == JSON_OBJECT ? json_end_object(&w->json) : json_end_array(&w->json);
}

/* The document as it was, but for its texts. */
static int copy_masked(const struct json_value *root, const char *path, struct scrub_text *text,
                       struct scrub_copy *copy, struct err *err)
{
	BUF_LOCAL(out);
	struct walk w = {.text = text};
	learn(text, root);
	json_init(&w.json, &out);
	put(&w, root, false);
	int result = json_finish(&w.json, err);
	copy->bytes = result == 0 ? sqlite3_malloc64(out.n) : NULL;
	if (result == 0 && !copy->bytes)
		result = err_set(err, "%s: the copy does not fit into memory", path);
	if (result == 0)
		memcpy(copy->bytes, out.data, out.n);
	copy->n = out.n;
	copy->masked = scrub_text_changed(text);
	copy->is_run = true;
	return result;
}

int scrub_run(const struct source *source, struct scrub_text *text, struct arena *arena, struct scrub_copy *copy,
              struct err *err)
{
	static const char schema[] = "gapline-run/";
	size_t size = (size_t)source->packed_bytes;
	if (source->packing != PACKING_NONE || source->packed_bytes > BYTES_MAX)
		return 0;
	if (source_rewind(source, err) != 0)
		return -1;
	char *bytes = arena_alloc(arena, size + 1, 1);
	ssize_t n = file_read(source->fd, bytes, size);
	if (n < 0)
		return err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", source->path, err_reason(errno));
	const struct json_value *root = json_read(bytes, (size_t)n, arena);
	const char *says = json_member_text(root, "schema");
	if (!says || strncmp(says, schema, sizeof schema - 1) != 0)
		return 0;
	return copy_masked(root, source->path, text, copy, err) == 0 ? 1 : -1;
}

int scrub_original_check(struct source *source, struct err *err)
{
	const struct read_wish wishes[] = {{.without_gpu = true}, {.without_gpu = true, .details = true}};
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		ARENA_LOCAL(arena);
		struct names names;
		struct trace trace = {.names = &names};
		struct source quiet = *source; /* what is told as done is the copy */
		quiet.reading.parent = NULL;
		names_init(&names, &arena);
		int result = nsys_read(source->path, &wishes[i], &quiet, &names, &arena, &trace, err);
		if (result != 0)
			return -1;
	}
	return 0;
}

int scrub_original_refuse(const struct source *source, struct arena *arena, struct err *err)
{
	struct names names;
	struct trace trace;
	names_init(&names, arena);
	if (read_profile(source->path, &names, arena, &trace, err) != 0)
		return -1;
	return err_set(err, "%s: only SQLite profiles can be scrubbed: exports of nsys, and those of gapline capture",
	               source->path);
}
