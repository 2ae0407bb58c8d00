/* Which ranges that fit as steps hold which others of them: a container, or what lies around steps. */
#ifndef GAPLINE_ANALYSE_RUN_MARKS_NEST_H
#define GAPLINE_ANALYSE_RUN_MARKS_NEST_H

#include "analyse/run/marks.h"

/* Lowers and raises the grades of those of a part that fit by what they hold of each other, and drops those that fit
 * only around others and are not. */
void marks_nest(struct marks_part *part);

#endif
