/* What a reader should know about the data of a side before believing its numbers. */
#ifndef GAPLINE_ANALYSE_SIDE_QUALITY_H
#define GAPLINE_ANALYSE_SIDE_QUALITY_H

#include "analyse/run/run.h"
#include "analyse/side_result.h"

/* What other stages have to say; NULL where there is nothing. */
struct quality_notes {
	int64_t left_out;             /* struct timeline has the meaning */
	const struct fact *clocks;    /* clocks_note */
	const struct fact *recording; /* recording_note */
	const struct fact *ranges;    /* recording_ranges_note */
	const char *files;            /* struct side_files has it */
};

/* Dropped rows, diagnostics, missing launches and notes of all runs of a side. `files` are the inputs' names, by run.
 */
struct quality quality_build(const struct run *runs, size_t n, const char *const *files,
                             const struct quality_notes *more, struct arena *arena);

/* Adds a note unless it is there already. */
void quality_find(struct quality *quality, struct arena *arena, const struct fact *fact);

/* The same of a new one, as FACT_NEW. */
#define QUALITY_FIND(quality, arena, ...) quality_find((quality), (arena), FACT_NEW((arena), __VA_ARGS__))

#endif
