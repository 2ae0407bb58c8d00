/* The step tables that a report carries, and whether its page says what follows from them. */
#ifndef GAPLINE_CMD_PAGE_EVIDENCE_H
#define GAPLINE_CMD_PAGE_EVIDENCE_H

#include "base/file.h"
#include "table/table.h"

enum { PAGE_MOST = 4 << 20 }; /* bytes of a page: gapline writes less than half of it */

/* Whether what is given is a side of a report, "main.html:fixed": 1, with the report's path and its side; 0: it is not.
 * A file of the whole name wins. -1 with `err`: it is a report, and names no side. */
int page_find_side(const char *given, struct arena *arena, const char **path, int *side, struct err *err);
bool page_is_side(const char *given);
const char *page_side_label(int side); /* "baseline", "fixed" */

struct json_value;
struct page_evidence {
	struct buf page, packed;       /* … and the table in it: table/table.h */
	const struct json_value *json; /* it is the JSON result; NULL: an HTML page */
	struct table_maker maker;
	struct table_columns columns;
	struct step_tables tables;
};

/* Reads the page or JSON at `path` and its evidence: hostile bytes. 0, or -1 with `err`: no file, larger than
 * PAGE_MOST, no evidence in it, or evidence that is damaged or was made by other rules. page_evidence_release in any
 * case. */
int page_evidence_read(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                       struct err *err);
void page_evidence_release(struct page_evidence *evidence);

/* Reads a page whose evidence is built on: the page agrees with it. -1 with `err` where it is not so;
 * page_evidence_release in any case. */
int page_evidence_trust(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                        struct err *err);

/* The same, of which nothing is kept: what is judged by the way would stand among the names. */
int page_evidence_check(const char *path, struct err *err);

/* Whether this version of gapline made it. */
bool page_evidence_is_ours(const struct page_evidence *evidence);

#endif
