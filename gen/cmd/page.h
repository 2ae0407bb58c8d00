/* The step tables that a report carries, and whether its page says what follows from them. */
#ifndef GAPLINE_CMD_PAGE_H
#define GAPLINE_CMD_PAGE_H

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

/* The report's page or JSON beside what its evidence gives. */

/* A piece of the page that is not what its evidence gives. */
struct page_difference {
	const char *section;         /* its id, "" before the first; of JSON the member: "verdict.ci95[1]" */
	const char *said, *evidence; /* what stands around it on the page, and what would have to */
};

enum { PAGE_DIFFERENCES = 5 };
struct page_verified {
	struct page_difference list[PAGE_DIFFERENCES]; /* the first of each section */
	uint32_t n;
	uint32_t sections; /* that differ */
	uint64_t numbers;  /* that agree; all of them where n is 0 */
	bool numbers_only; /* another version made it, by the same rules: its words are its own */
};

/* Judges the tables anew and holds the page against what that gives, byte by byte: the head, the styles and the
 * scripts, too, but for the title and the pictures whose rows no table has. Of another version numbers are held, and of
 * JSON all values. Texts live in `arena`. -1 with `err`: the page of this gapline cannot be made. */
int page_verify(const struct page_evidence *evidence, struct names *names, struct arena *arena,
                struct page_verified *out, struct err *err);

#endif
