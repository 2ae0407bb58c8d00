/* The step tables that a report carries, and whether its page says what follows from them. */
#ifndef GAPLINE_CMD_PAGE_EVIDENCE_H
#define GAPLINE_CMD_PAGE_EVIDENCE_H

#include "base/file.h"
#include "table/table.h"

enum { PAGE_MOST = 4 << 20 }; /* bytes of a page: gapline writes less than half of it */

/* Whether a file that begins so is a report of gapline, or another page. */
bool page_recognise(const struct file_head *head);

struct page_evidence {
	struct buf page;
	struct table_maker maker;
	struct table_columns columns;
	struct step_tables tables;
};

/* Reads the page at `path` and its evidence: hostile bytes. 0, or -1 with `err`: no file, larger than PAGE_MOST, no
 * evidence in it, or evidence that is damaged or was made by other rules. page_evidence_release in any case. */
int page_evidence_read(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                       struct err *err);
void page_evidence_release(struct page_evidence *evidence);

/* A piece of the page that is not what its evidence gives. */
struct page_difference {
	const char *section;         /* its id; "" before the first */
	const char *said, *evidence; /* what stands around it on the page, and what would have to */
};

enum { PAGE_DIFFERENCES = 5 };
struct page_verified {
	struct page_difference list[PAGE_DIFFERENCES]; /* the first of each section */
	uint32_t n;
	uint32_t sections; /* that differ */
	uint64_t numbers;  /* that agree; all of them where n is 0 */
};

/* Judges the tables anew and holds the page against what that gives, byte by byte: the head, the styles and the
 * scripts, too, but for the title and the pictures whose rows no table has. Texts live in `arena`. -1 with `err`: the
 * page of this gapline cannot be made. */
int page_verify(const struct page_evidence *evidence, struct names *names, struct arena *arena,
                struct page_verified *out, struct err *err);

/* Reads a page whose evidence is built on: this gapline's, with all columns, and the page agrees with it. -1 with `err`
 * where it is not so; page_evidence_release in any case. */
int page_evidence_trust(const char *path, struct names *names, struct arena *arena, struct page_evidence *out,
                        struct err *err);

/* Whether this gapline can say the page again; else -1 with `err`. */
int page_evidence_is_ours(const char *path, const struct page_evidence *evidence, struct err *err);

#endif
