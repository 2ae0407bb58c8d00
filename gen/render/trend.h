/* Results over commits (trend/trend.h), as bytes and in words. */
#ifndef GAPLINE_RENDER_TREND_H
#define GAPLINE_RENDER_TREND_H

#include "base/buf.h"
#include "base/err.h"
#include "trend/trend.h"

#include <libxml/tree.h>

/* The self-contained page. Deterministic. -1 with `err` if the built-in template does not fit the code. */
int trend_html(const struct trend *trend, struct buf *out, struct err *err);

/* For machines, schema "gapline-history/1" (docs/guide/history.md); ends with a newline. */
int trend_json(const struct trend *trend, struct buf *out, struct err *err);

/* For a terminal or a CI log. */
void trend_terminal(const struct trend *trend, struct buf *out);

/* A series as a picture in `parent`. */
void trend_draw(const struct trend *trend, const struct trend_series *series, struct arena *arena, xmlNode *parent);

/* "+3.0 %": of a difference of logarithms. */
const char *trend_percent(struct arena *arena, double shift);

/* "5d6e7f8", or with where it may be else: "5d6e7f8, or up to 2 commits before or after". */
const char *trend_where(const struct trend *trend, const struct trend_series *s, const struct trend_change *c,
                        struct arena *arena);

/* "idle 0.80 → 1.38 ms; phase data_load 1.20 → 1.78 ms; …": what got longer, or shorter, and what else changed there.
 */
const char *trend_what(const struct trend_change *c, struct arena *arena);

/* "No change of 1 % or more in 200 commits." and, where there were too few for one, that. */
const char *trend_quiet(const struct trend *trend, const struct trend_series *s, struct arena *arena);

/* "Energy: 3.1 J per step …"; NULL: no commit says it. */
const char *trend_energy(const struct trend *t, const struct trend_series *s, struct arena *arena);

/* "5d6e7f8 against 1a2b3c4: 1.05× faster …": t->last in words. */
const char *trend_last(const struct trend *trend, struct arena *arena);

/* Whether the last level is slower ("slower"), faster ("faster") than the one before it, or there is none
 * ("unchanged"). */
const char *trend_direction(const struct trend_series *s);

/* The commit at a place of a series. */
const struct trend_commit *trend_commit_at(const struct trend *trend, const struct trend_series *s, size_t place);

#endif
