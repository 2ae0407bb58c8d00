#include "cmd/result.h"

struct opt result_option(struct result *r)
{
	return (struct opt){OPT_OUTPUT, 0, "json", "FILE", .text = &r->path};
}

int result_prepare(struct result *r, struct output *out, struct err *err)
{
	r->out = out;
	return r->path ? output_prepare(out, r->path, err) : 0;
}

int result_collides(const struct result *r, const struct output *others, size_t n, struct err *err)
{
	for (size_t i = 0; r->path && i < n; i++)
		if (output_same(r->out, &others[i]))
			return err_set(err, "%s: two outputs would go to the same place", r->out->path);
	return 0;
}

int result_spares(const struct result *r, const char *path, struct err *err)
{
	if (r->path && output_replaces_path(r->out, path))
		return err_set(err, "%s: this output would replace an input", r->out->path);
	return 0;
}

struct json *result_begin(struct result *r, const char *command)
{
	if (!r->path)
		return NULL;
	names_init(&r->names, &r->arena);
	json_init(&r->json, &r->bytes);
	json_object(&r->json, NULL);
	json_text(&r->json, "schema", "gapline-result/1");
	json_text(&r->json, "gapline", GAPLINE_VERSION);
	json_text(&r->json, "command", command);
	return &r->json;
}

void result_text(struct result *r, const char *key, const char *text)
{
	json_text(&r->json, key, text ? names_text(&r->names, names_add_text(&r->names, text)) : NULL);
}

int result_finish(struct result *r, struct err *err)
{
	if (!r->path)
		return 0;
	json_end_object(&r->json);
	if (json_finish(&r->json, err))
		return -1;
	r->out->bytes = r->bytes.data;
	r->out->n = r->bytes.n;
	return 0;
}

int result_write(struct result *r, struct err *err)
{
	if (!r->path)
		return 0;
	return result_finish(r, err) || output_write(r->out, 1, err) ? -1 : 0;
}

void result_release(struct result *r)
{
	buf_release(&r->bytes);
	arena_release(&r->arena);
}
