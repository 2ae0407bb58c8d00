/* A text of the catalogue, taken apart. The build does so to check it, and say.c to fill it in. What may stand in one,
 * for those who write them: gen/say/README.md. */
#ifndef GAPLINE_SAY_TEMPLATE_H
#define GAPLINE_SAY_TEMPLATE_H

#include "base/err.h"
#include "fact/fact.h"

enum { TEMPLATE_SIDE = -1, TEMPLATE_NONE = -2 }; /* parameters that no table has: {side}, and none */

enum template_kind {
	TEMPLATE_TEXT,
	TEMPLATE_SLOT,    /* {name}, {name:style}, {from..to:style} */
	TEMPLATE_PLURAL,  /* {name#one|many} */
	TEMPLATE_CHOICE,  /* {name?key=…|key=…} */
	TEMPLATE_OPTIONAL /* […] */
};

struct template_branch {
	const char *key; /* of a choice, n bytes: "*" is every other */
	size_t n;
	struct template_piece *first;
};

struct template_piece {
	struct template_piece *next;
	enum template_kind kind;
	const char *text; /* of a text, n bytes; of a slot its style, n bytes */
	size_t n;
	int param, until; /* indexes into the table's, or the two above; `until` ends a range */
	struct template_branch *branch;
	uint32_t n_branches;
};

/* The pieces of `text`, in `arena`, which borrow it; NULL with `err` where something is wrong in it: a slot that is no
 * parameter of the fact, a style that does not fit, a choice that leaves a key out. An empty text has one empty piece.
 * `used`, if not NULL, has FACT_PARAMS flags, and those of the parameters in it are set. */
struct template_piece *template_parse(const char *text, const struct fact_info *info, struct arena *arena, bool *used,
                                      struct err *err);

/* What a piece's `param` or `until` is. */
const struct fact_param *template_param(const struct fact_info *info, int param);

/* The words list that a style names for keys such as these; -1: none. */
int template_list(const char *keys, const char *style, size_t n);

#endif
