/* Which runs may be compared with which as they are, and what is added where they may not: the one place that says so
 * (docs/method/verdict.md, "What may be compared with what"). */
#ifndef GAPLINE_VERDICT_EXCHANGE_H
#define GAPLINE_VERDICT_EXCHANGE_H

#include "base/arena.h"
#include "fact/fact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a run was made; 0 and none are not known, which neither joins nor parts sessions. */
struct exchange_place {
	uint64_t host;       /* digest of its name, of no container */
	const uint64_t *gpu; /* digests of the GPUs that it used */
	size_t n_gpus;
};

struct exchange_run {
	int64_t start, end; /* ns since any epoch that all runs share; start 0: not known */
	struct exchange_place place;
	double mean; /* what a step takes, in a unit that all runs share; 0: not known, or of no use for the other side
	              */
};

/* The sessions of the side that has more of them, where there are EVIDENCE_SESSIONS and more. */
struct exchange_sessions {
	size_t n; /* 0: fewer */
	int side;
	double spread; /* standard deviation of the ln of their means */
	double half;   /* half-width of the sides' difference that this makes, a log */
	double moved;  /* ln: how much higher the speedup is where each session counts once, and not each run */
	/* The other side's session is further from them than they are from each other, or not of a kind with them: they
	 * are not all of different hosts, or GPUs, where the sides are. Then F is added. */
	bool far, unlike;
};

/* What both sides have in common tells the state in which each was measured. */
struct controls {
	bool known;    /* enough is in common to tell */
	double gpu;    /* κ: ln of how many times as long the same kernels take in the baseline … */
	bool gpu_told; /* (work.h, clock_told) */
	double host;   /* ρ: … and the same launches, from one to the next; 0: too few are in common (!host_seen) */
	bool host_seen, host_slower; /* host_slower: by more on one side than recording may explain */
	double clock;                /* κ where all kernels of both sides go by it, as with another clock; else 0 */
	double waits[2]; /* shares of a step in which the GPU waits for the host, by side; w: the smaller one … */
	double alone[2]; /* … and what of them is not between a launch and its thread's next call */
	/* By side: ns from a launch that finds the GPU idle to its kernel, the median (0: not known), and the share of
	 * a step by which that is more than on the other side, as where another process has the GPU in between. */
	double arrival[2], late[2];
	double calls[2];  /* share of a step that the GPU waits longer inside as many calls of the driver, by side */
	double copies[2]; /* share of a step that copies of as many bytes of pageable memory take longer */
};

struct exchange {
	bool known;    /* all runs have a start time, and no two the same */
	bool in_turns; /* the order, if known, cannot pass for an effect; one run on a side has no order */
	size_t first;  /* the side whose runs came first on average; where !in_turns */
	/* No run of one side shares a session with one of the other; then what parts them: */
	bool sessions, other_time, other_day, other_host, other_gpu;
	double apart; /* F, a log: what the sides may differ by besides, added to each half-width in quadrature; 0: the
	               * sessions and the order of the runs are exchangeable */
	struct exchange_sessions measured; /* where sides share no session, what takes the place of F for a step */
	/* Of one or two runs per side, logs: what the speedup may be off for the state that each was made in, besides
	 * `moved`, which it is lower by if what did not change ran at another pace for the host's sake. */
	double state, moved; /* … which is at least 0 where the baseline's host was the slower one; `clock`: the same
	                      * for  the GPU's clock */
	double clock,
		unseen; /* `unseen`: where nothing tells the state, in quadrature with the half-width that this makes */
	double calls[2]; /* how much lower and higher it may be, as calls of the driver, or copies, were slower on that
	                    side */
};

struct exchange exchange_judge(const struct exchange_run *const run[2], const size_t n[2]);

/* Whether the controls tell in which state one or two runs per side were made, and that it may matter: a GPU that ran
 * alike and hardly waits for the host needs nothing. */
bool exchange_has_state(const size_t n[2], const struct controls *controls);

/* Adds what one or two runs per side cannot tell of the state in which they were made; nothing with more runs, or
 * without controls, but for such as are not known. */
void exchange_add_state(struct exchange *exchange, const size_t n[2], const struct controls *controls);

/* What a step of the sides may differ by besides: F, or what takes its place. */
double exchange_apart(const struct exchange *exchange);

/* Whether a direction has to be beyond a floor besides; where F is added that is floor enough. */
bool exchange_floored(const struct exchange *exchange);

/* A half-width with all that, towards a lower (0) or a higher (1) speedup. */
double exchange_widen(const struct exchange *exchange, double half, int end);

/* What parts the sides, the fact `elsewhere`; NULL: they share a session. */
const struct fact *exchange_where(const struct exchange *exchange, struct arena *arena);

/* What the controls show. */
const struct fact *controls_say(const struct controls *controls, struct arena *arena);

#endif
