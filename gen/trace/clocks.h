/* The files of one run whose ranks ran on several hosts: one clock for all. */
#ifndef GAPLINE_TRACE_CLOCKS_H
#define GAPLINE_TRACE_CLOCKS_H

#include "trace/merge.h"

struct host_clocks {
	struct trace_clock *list; /* by host, in the order of the files */
	uint32_t n;               /* 0: files are of one host, or of hosts that are not known */
};

/* Changes the maps of files that were recorded on other hosts than the first file's, so that their times are on its
 * host's clock. Files of one host share its clock; those whose host is not known count as of the first.
 *
 * The evidence is in the collectives that ranks of both hosts took part in (trace/clock_offset.h): the k-th kernel of a
 * name is the same collective on every rank that has as many of them; where recording began elsewhere in the run, the
 * k-th and the (k + d)-th: on one host of those that overlap, of two hosts as clock_offset.h has it. Where NCCL's
 * payloads do not say of which communicator they are, that they are one collective is not taken for granted, since
 * several communicators may have kernels of one name: ranks that wait for each other leave together however far apart
 * they came. So a name counts only where the times between the hosts' leaving vary by half as much, or less, as those
 * between their coming; else the kernels of one stream of that name are tried. Sends and receives between two ranks, in
 * both directions, serve as well (trace/clock_offset.h). Hosts without any of these in common with the first are
 * reached through others.
 *
 * A clock that cannot be told is left as it is, and its `known` is false. `parts` are linked and not merged yet. */
void clocks_align(struct merge_part *parts, size_t n, struct arena *arena, struct host_clocks *out);

#endif
