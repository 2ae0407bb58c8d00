/* What nsys says, in its versions since 2020: pure texts. */
#ifndef GAPLINE_CAPTURE_NSYS_WORDS_H
#define GAPLINE_CAPTURE_NSYS_WORDS_H

#include "base/arena.h"

#include <stdbool.h>

/* "2025.3.2.474-253236389321v0" out of `nsys --version`; "" when it says something else. */
const char *nsys_version(const char *said, struct arena *arena);

/* Whether the text of --help has the option, written "--kill" here. */
bool nsys_has_option(const char *help, const char *option);

/* The next line of its output that tells something, cut to a reasonable length; *at moves on. Progress, and where it
 * put the report, tell nothing. NULL: no more. */
const char *nsys_next_line(const char **at, struct arena *arena);

/* The last such line, "" if there is none. */
const char *nsys_last_line(const char *said, struct arena *arena);

/* What `nsys export` is asked for besides: payloads of NVTX ranges, as NCCL's have. And whether it did not complain of
 * that, as versions that do not know it do. */
#define NSYS_PAYLOADS "--include-blobs=true"
bool nsys_knows_payloads(const char *said);

/* Whether what it said is that the disk is full. */
bool nsys_found_no_space(const char *said);

/* The usual reasons for having no report, recognised by its words: a sentence with the remedy, or NULL. */
const char *nsys_explain(const char *said);

#endif
