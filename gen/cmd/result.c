#include "cmd/result.h"

#include "cmd/cmd.h"

struct opt result_option(struct result *r)
{
	return (struct opt){OPT_OUTPUT, 0, "json", "FILE", .text = &r->path};
}

int result_add(struct result *r, const char *path, struct err *err)
{
	r->out = arena_grow(&r->arena, r->out, r->n_out, r->n_out + 1, sizeof *r->out);
	return output_prepare(&r->out[r->n_out++], path, err);
}

int result_prepare(struct result *r, const char *file, struct err *err)
{
	if ((file && result_add(r, file, err)) || (r->path && result_add(r, r->path, err)))
		return -1;
	for (size_t i = 0; r->path && i + 1 < r->n_out; i++)
		if (output_same(&r->out[r->n_out - 1], &r->out[i]))
			return err_set(err, "%s: two outputs would go to the same place", r->path);
	return 0;
}

int result_spares(const struct result *r, const char *path, struct err *err)
{
	if (r->path && output_replaces_path(&r->out[r->n_out - 1], path))
		return err_set(err, "%s: this output would replace an input", r->path);
	return 0;
}

struct json *result_begin(struct result *r, const char *command)
{
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
	json_text(&r->json, key, cmd_named(&r->names, text));
}

int result_write(struct result *r, struct err *err)
{
	if (r->path) {
		struct output *object = &r->out[r->n_out - 1];
		json_end_object(&r->json);
		if (json_finish(&r->json, err))
			return -1;
		object->bytes = r->bytes.data;
		object->n = r->bytes.n;
	}
	return output_write(r->out, r->n_out, err);
}

int result_print(const struct result *r, const struct buf *text)
{
	return cmd_print_beside(r->out, r->n_out, text);
}

void result_release(struct result *r)
{
	for (size_t i = 0; i < r->n_out; i++)
		output_release(&r->out[i]);
	buf_release(&r->bytes);
	arena_release(&r->arena);
}
