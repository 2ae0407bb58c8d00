/* What the libraries are told before any of them is used. */
#ifndef GAPLINE_CMD_LIBRARIES_H
#define GAPLINE_CMD_LIBRARIES_H

/* libxml2 goes on without memory until it crashes, and prints messages of its own; in SQLite a text for which there is
 * no memory looks like one that is NULL. Both take their memory from base/memory.h, which ends the process. Call it
 * once, first. */
void libraries_prepare(void);

#endif
