/* The report's page or JSON beside what its evidence gives. */
#ifndef GAPLINE_CMD_PAGE_COMPARE_H
#define GAPLINE_CMD_PAGE_COMPARE_H

#include "cmd/page_evidence.h"

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
