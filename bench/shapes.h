/* Profiles with one thing in excess, to find work that grows faster than the profile. */
#ifndef GAPLINE_BENCH_SHAPES_H
#define GAPLINE_BENCH_SHAPES_H

#include "profile_file.h"

/* Writes the rows of shape `name` at size n. -1: there is no such shape. */
int shape_write(const char *name, int64_t n, struct profile_file *file);

/* Names and what they are, one a line. */
extern const char shape_help[];

#endif
