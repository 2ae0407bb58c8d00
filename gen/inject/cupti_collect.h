/* Collecting with CUPTI. */
#ifndef GAPLINE_INJECT_CUPTI_COLLECT_H
#define GAPLINE_INJECT_CUPTI_COLLECT_H

#include <stdbool.h>

struct spool_library;

/* Before anything else: reads the environment. */
void collect_prepare(struct spool_library *library);

/* Finds CUPTI and begins to collect, or leaves a message that says why not. Called while the driver initialises itself,
 * by the thread that does so. */
void collect_begin(void);

/* The background thread's part: what CUPTI has returned goes into the spool. */
void collect_tick(bool last);

/* In a forked child, where CUPTI must not be touched. */
void collect_forked(void);

#endif
