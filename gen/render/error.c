/* What stands in the place of a result that could not be made. Its JUnit file is junit.c's. */
#include "base/json_writer.h"
#include "base/markdown_writer.h"
#include "render/render.h"

void render_error_object(struct json *json, const struct render_error *e)
{
	json_object(json, "error");
	json_text(json, "id", e->id);
	json_text(json, "file", e->file);
	json_text(json, "text", e->text);
	json_text(json, "next", e->next);
	json_end_object(json);
}

int render_error_json(const struct render_error *e, struct buf *out, struct err *err)
{
	struct json json;
	json_init(&json, out);
	json_object(&json, NULL);
	json_text(&json, "schema", "gapline/3");
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "result", "error");
	render_error_object(&json, e);
	json_end_object(&json);
	return json_finish(&json, err);
}

void render_error_markdown(const struct render_error *e, bool brief, struct buf *out)
{
	struct markdown md = {.out = out};
	markdown_raw(&md, brief ? "<!-- gapline -->\n" : "");
	markdown_raw(&md, "### Error: there is no result\n\n");
	if (e->file) {
		markdown_code(&md, e->file);
		markdown_raw(&md, ": ");
	}
	markdown_text(&md, e->text);
	markdown_raw(&md, "\n\n");
	if (e->next) {
		markdown_raw(&md, "**Next:** ");
		markdown_text(&md, e->next);
		markdown_raw(&md, "\n\n");
	}
	markdown_raw(&md, "gapline " GAPLINE_VERSION "\n");
}
