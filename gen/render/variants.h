/* Several variants against one baseline (verdict/variants.h), as bytes and in words. The first is the baseline.
 */
#ifndef GAPLINE_RENDER_VARIANTS_H
#define GAPLINE_RENDER_VARIANTS_H

#include "base/buf.h"
#include "base/err.h"
#include "verdict/variants.h"

/* The self-contained page; `parameter` is what is swept, NULL: nothing; `title` NULL: it has one of
 * its own. -1 with `err` if the template does not fit the code. */
int variants_html(const struct variant *list, size_t n, const char *parameter, const char *title, struct buf *out,
                  struct err *err);

/* For machines, schema "gapline-variants/1" (docs/reference/gapline-variants.schema.json); ends with a newline. */
int variants_json(const struct variant *list, size_t n, const char *parameter, struct buf *out, struct err *err);

/* For a terminal or a CI log: a line each. */
void variants_terminal(const struct variant *list, size_t n, struct buf *out);

#endif
