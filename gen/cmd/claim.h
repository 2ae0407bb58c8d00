/* What a report is claimed to show, as a small JSON: docs/reference/claims.md. */
#ifndef GAPLINE_CMD_CLAIM_H
#define GAPLINE_CMD_CLAIM_H

#include "analyse/analysis.h"
#include "base/buf.h"
#include "base/err.h"

enum { CLAIM_MOST = 1 << 20 }; /* bytes of a claim */

/* Appends what the analysis of a report with this evidence shows. 0, or -1 with `err`. */
int claim_write(const struct analysis *analysis, uint32_t evidence, struct buf *to, struct err *err);

enum claim_answer { CLAIM_HOLDS, CLAIM_OPEN, CLAIM_FAILS }; /* from best to worst */

/* A point of a claim beside the evidence. */
struct claim_point {
	const char *what; /* "speedup"; a gate as it was given */
	enum claim_answer answer;
	const struct fact *said; /* what was claimed and what the evidence shows */
};

struct claim_checked {
	struct claim_point *list;
	uint32_t n;
	enum claim_answer answer; /* the worst of all */
};

/* What has to be judged before claim_check: the gates of the claim that stands in these bytes, in `arena`. -1 with
 * `err`: it is no claim. */
struct json_value;
int claim_read(const char *bytes, size_t n, struct arena *arena, const struct json_value **claim,
               struct gates_asked *gates, struct err *err);

/* Holds each point of the claim against an analysis that was judged with its gates. -1 with `err`: it claims nothing,
 * or what no claim can. */
int claim_check(const struct json_value *claim, const struct analysis *analysis, uint32_t evidence, struct names *names,
                struct arena *arena, struct claim_checked *out, struct err *err);

const char *claim_answer_name(enum claim_answer answer); /* "holds", "open", "fails" */

#endif
