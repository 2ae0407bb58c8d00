/* The files of one run: which they are, one trace of them, and one clock. */
#ifndef GAPLINE_TRACE_FILES_H
#define GAPLINE_TRACE_FILES_H

#include "base/arena.h"
#include "fact/fact.h"
#include "trace/columns.h"
#include "trace/comm.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which files of a side are ranks of one run, and which are repeats. Only repeats are independent evidence: ranks taken
 * for repeats make any difference look proven, so that in doubt files count as ranks, and that is said. */

enum ranks_asked { RANKS_TELL, RANKS_ARE_RANKS, RANKS_ARE_REPEATS };

struct ranks_file {
	const struct trace *trace;
	const char *name; /* base name of the file, harmless */
	uint32_t folder;  /* files of one folder that was given have one number; TRACE_NONE: given by itself */

	/* filled: */
	uint32_t run;   /* counted from 0 in the order in which files were given */
	int32_t rank;   /* as the profile or the file's name says; -1: neither does */
	bool named;     /* … it is the name that does */
	uint32_t place; /* among the files of its run: by rank, else by process id where the host is one, else as given
	                 */
	int64_t offset; /* ns to be added to its times: they count from the start of the run's earliest file */
};

struct ranks {
	uint32_t n_runs;
	bool careful;              /* nothing told that files which count as ranks are ranks, or that they are not */
	const struct fact *why;    /* what the files are, and how that was told; NULL: one file */
	const struct fact *reason; /* of it only the latter */
	const struct fact
		*note; /* what a reader has to know about that, or about ranks that are missing; NULL: nothing */
};

/* Files whose recorded times overlap (directly or through others) are ranks of one run; others are repeats. Different
 * jobs, where the profiles say which, are never one run. Where a file has no start time, jobs, names ("rank 3", "run
 * 2") and folders decide. n >= 1; facts come from `arena`. */
struct ranks ranks_tell(struct ranks_file *files, size_t n, enum ranks_asked asked, struct arena *arena);

/* Gives the process of the trace that has GPU work, if there is one such, the number `rank`, if it has none; and all of
 * several that use one GPU, as a rank that was started again does. -1: nobody. */
void ranks_number(struct trace *trace, int32_t rank);

/* Several traces of one run -> one trace. */

/* One file of a run. */
struct merge_part {
	struct trace *trace; /* linked; its rows are moved and must not be used any more */
	struct time_map map; /* its times in the merged trace */
	struct arena
		*memory; /* what the trace lives in, given back when its rows are taken; NULL: the merged trace's */
};

/* Makes `out` the trace that one profile of the whole run would have given: processes in the order of the parts, then
 * of each part; threads and devices likewise. Nothing of two parts is taken for the same (process ids of two hosts may
 * be equal) but physical GPUs with the same identity (trace_gpu.id). All parts share one table of names; memory comes
 * from `arena`, which holds theirs, or takes it over, as far as the merged trace needs it. What the source says is the
 * first part's; where parts differ in what must be equal (host, job, how graphs were traced), it is unknown. `out` is
 * linked. n >= 1; one part is taken over as it is, shifted. */
void trace_merge(const struct merge_part *parts, size_t n, struct trace *out, struct arena *arena);

/* The files of one run whose ranks ran on several hosts: one clock for all. */

/* Two hosts' clocks as one, from the collectives that their ranks took part in. Pure; works on numbers alone. */

/* A collective that no rank can leave before the last one has entered (all-reduce, all-gather, reduce-scatter,
 * all-to-all, barrier; not broadcast and reduce, whose ranks need not wait for each other), seen from two hosts, each
 * on its own clock, in ns: when the last of the host's ranks entered and when the first of them left. Ranks need not
 * leave together. */
struct clock_collective {
	int64_t entered[2], left[2];
};

/* A time t of the second host is t + offset + drift × (t − at) on the first one's clock. */
struct clock_offset {
	int64_t at;    /* ns, on the second host's clock: amid the collectives */
	double offset; /* ns */
	double drift;  /* ns per ns: 1e-6 is one ppm */
	double within; /* ns: from the first collective to the last, the true offset is at most so far from the one said
	                */
	double loosened; /* ns by which bounds had to give way, because no steady drift fits all of them; part of
	                  * `within` and 0 where clocks drift steadily */
	size_t n;        /* collectives that it is from */
};

/* Each collective bounds the offset from both sides: the first host's ranks do not leave before the second's have
 * entered, and the other way round. The offsets and drifts that fit all bounds are a convex region; what is said is its
 * middle, and `within` reaches its farthest corner, so that the truth is inside however long the data moved. Bounds are
 * as tight as the shortest collective in which each host came last. A clock may be set while the program runs, and
 * bounds that are wide do not show it: `within` reaches the corners of what each quarter of the collectives allows by
 * itself, too. False where no drift below 1000 ppm fits within 1 ms: `out` means nothing then. n >= 1. */
bool clock_offset_find(const struct clock_collective *list, size_t n, struct clock_offset *out);

/* What has to be added to a time of the second host, in ns. */
int64_t clock_offset_at(const struct clock_offset *offset, int64_t time);

/* What sends and receives between two hosts say of their clocks. */

/* A send or receive whose NCCL call is recorded: of rank `from` to rank `to` of a communicator. */
struct clock_transfer {
	int64_t comm;
	uint32_t from, to;
	bool send;
	uint32_t host; /* on whose clock the times are */
	int64_t launched, start, end;
};

struct clock_transfers {
	struct clock_transfer *list;
	size_t n, room;
};

/* Adds what a kernel of the trace was launched for, `op`. Its times are those of `host`. */
void clock_transfers_add(struct clock_transfers *transfers, const struct trace *trace, const struct comm_calls *calls,
                         const struct comm_op *op, uint32_t host, const struct comm_kernel *kernel,
                         struct arena *arena);

/* Pairs of a transfer from host a to host b and one back, of the same two ranks: nothing has arrived before its sending
 * began, so a pair bounds the offset from both sides as a collective does: a send stands for entering, the receive it
 * is of for leaving. Which is which is told by their order, where both hosts have as many. Sorts the transfers; fills
 * `out`, from `arena`, and returns how many pairs there are. */
size_t clock_transfers_pair(struct clock_transfers *transfers, uint32_t a, uint32_t b, struct arena *arena,
                            struct clock_collective **out);

/* Which collective of one host is which of another's, from when each host's ranks entered and left them. Pure. */

/* When the last of a host's ranks entered a collective, and the first of them left it: ns, on the host's clock. */
struct meeting {
	int64_t entered, left;
};

/* The collectives of one name (of one stream), as seen from one host; n is 0 where its ranks disagree. */
struct clock_seen {
	struct meeting *list;
	size_t n;
};

/* Which of b's collectives is a's first, or the other way round: a's k-th is b's (k + shift)-th. Ranks that wait for
 * each other leave together however far apart they came, so the right shift is the one at which the times between the
 * hosts' leaving vary least. Tried are those near none, and those near the one that both clocks, as they are, speak
 * for. Where several fit alike, hosts that have as many are taken as recorded, unless the clocks are nearer to another
 * of those. `certain`: the collectives are of one communicator. False: they are of several, or it cannot be told. */
bool clock_shift_find(const struct clock_seen *a, const struct clock_seen *b, bool certain, struct arena *scratch,
                      int64_t *shift);

struct host_clocks {
	struct trace_clock *list; /* by host, in the order of the files */
	uint32_t n;               /* 0: files are of one host, or of hosts that are not known */
};

/* Changes the maps of files that were recorded on other hosts than the first file's, so that their times are on its
 * host's clock. Files of one host share its clock; those whose host is not known count as of the first.
 *
 * The evidence is in the collectives that ranks of both hosts took part in (below): the k-th kernel of a
 * name is the same collective on every rank that has as many of them; where recording began elsewhere in the run, the
 * k-th and the (k + d)-th: on one host of those that overlap, of two hosts as below. Where NCCL's
 * payloads do not say of which communicator they are, that they are one collective is not taken for granted, since
 * several communicators may have kernels of one name: ranks that wait for each other leave together however far apart
 * they came. So a name counts only where the times between the hosts' leaving vary by half as much, or less, as those
 * between their coming; else the kernels of one stream of that name are tried. Sends and receives between two ranks, in
 * both directions, serve as well (below). Hosts without any of these in common with the first are
 * reached through others.
 *
 * A clock that cannot be told is left as it is, and its `known` is false. `parts` are linked and not merged yet. */
void clocks_align(struct merge_part *parts, size_t n, struct arena *arena, struct host_clocks *out);

#endif
