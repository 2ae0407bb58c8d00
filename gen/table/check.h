/* Whether what was read of a table can be judged: hostile bytes may be columns, and still say that device 7 of two is
 * the slowest. Inside gen/table only. */
#ifndef GAPLINE_TABLE_CHECK_H
#define GAPLINE_TABLE_CHECK_H

#include "analyse/step_tables.h"

/* Also fills what is not written: labels, what two structs share, maps of which no cell is known. What does not fit,
 * NULL: everything does. */
const char *table_check(struct step_tables *tables, struct arena *arena);

#endif
