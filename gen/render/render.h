/* analysis -> bytes. Writers compute nothing: they format what analysis says. Each appends to a struct buf. */
#ifndef GAPLINE_RENDER_RENDER_H
#define GAPLINE_RENDER_RENDER_H

#include "analyse/analysis.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* The self-contained report.html. Deterministic. -1 with `err` if the built-in template does not fit the code. */
int render_html(const struct analysis *analysis, struct buf *out, struct err *err);

/* The gap timeline alone, a self-contained SVG, twice as wide as high. */
int render_svg(const struct analysis *analysis, struct buf *out, struct err *err);

/* The form of the JSON result (docs/reference/gapline.schema.json); older ones are refused with words. */
#define RENDER_SCHEMA "gapline/3"

/* The JSON result, ends with a newline. */
int render_json(const struct analysis *analysis, struct buf *out, struct err *err);

/* The same with the step tables of both sides in it, `evidence`: null where they are too large. */
int render_json_evidence(const struct analysis *analysis, struct buf *out, struct err *err);

/* What a Markdown page shows besides the result; addresses are http or https, NULL: none. */
struct markdown_wish {
	const char *svg_url;    /* of the gap timeline's picture */
	const char *report_url; /* of the report, or the artifact that holds it */
	bool brief; /* for a comment: verdict, gates and caveats, after the hidden line "<!-- gapline -->" */
};

/* For a step summary or a comment: GitHub's Markdown, at most 65,536 characters. -1 with `err` for an address that a
 * link cannot hold. */
int render_markdown(const struct analysis *analysis, const struct markdown_wish *wish, struct buf *out,
                    struct err *err);

/* Both sides' median runs event by event, with idle causes, phases and steps, as a trace that Perfetto and Chrome's
 * viewer open: JSON in the Trace Event Format, packed with gzip. Needs the sides' events. */
int render_perfetto(const struct analysis *analysis, struct buf *out, struct err *err);

/* Gates and findings as test cases, JUnit's XML. */
int render_junit(const struct analysis *analysis, struct buf *out, struct err *err);

/* Why there is no result. UTF-8 without control characters. */
struct render_error {
	const char *id;   /* "damaged": of the schema's list */
	const char *file; /* that it is about; NULL: none */
	const char *text; /* what is wrong */
	const char *next; /* what to try; NULL: nothing is known */
};

/* In the place of a result. The JSON fits the schema; the Markdown is short in any case, and `brief` puts the hidden
 * line in front. */
struct json;
void render_error_object(struct json *json, const struct render_error *error); /* its member "error" */
int render_error_json(const struct render_error *error, struct buf *out, struct err *err);
void render_error_markdown(const struct render_error *error, bool brief, struct buf *out);
int render_error_junit(const struct render_error *error, struct buf *out, struct err *err);

/* How a terminal shows text. */
struct look {
	bool colour;      /* ANSI colours */
	unsigned columns; /* lines are no longer, as far as words allow */
};

enum { LOOK_LEAST = 40, LOOK_MOST = 100 }; /* columns; a line that is longer than the latter is hard to read */

/* The short verdict for a terminal. `look`: NULL for a CI log, which has no colours and LOOK_MOST columns. */
void render_verdict(const struct analysis *analysis, const struct look *look, struct buf *out);

/* `gapline show`: one side's budget, ten largest causes, phases, kernels, findings. */
void render_side(const struct analysis *analysis, const struct look *look, struct buf *out);

#endif
