/* Findings, their ceilings and whether the diagnosis was right (docs/method/analysis.md, from Findings on).
 *
 * A finding's cost is measured in the same way on both sides: what speaks on one side claims its idle time on both,
 * below its threshold too. *Resolved* means that this cost fell by most of itself. It did not when the same idle time
 * (same cause, same phase, whatever the phase is called now) is still there and merely ends with another call, so that
 * another rule has it: then the finding remains, and the other one is not said to be new.
 *
 * - A synchronisation's cost is what the host does after it, so its time alone proves nothing: the fix makes the host
 *   come back to a GPU that still has work, or not wait at all. If the host comes back to an idle GPU as often as
 *   before, the synchronisation is what it was, and the cost belongs to the host's own work behind it
 *   (`host_after_sync`).
 * - Where recording cost one side more than the other, the host's part of a cost is less on that side by as much as
 * that may be: what only the profiler adds is neither resolved nor new.
 * - Where the calls that are blamed are still made (allocations, module loads, pageable or managed copies, launches),
 *   they became cheap, or something else hides them now. The cost is gone, and the text says both. */
#ifndef GAPLINE_FIND_FINDINGS_H
#define GAPLINE_FIND_FINDINGS_H

#include "result/pair_result.h"
#include "side/side.h"

/* What findings are made of. With one side, the members of pairs are left out. */
struct findings_input {
	const struct side *side; /* n_sides of them */
	const struct side_facts *facts;
	uint32_t n_sides;
	const struct names *names;
	const struct renames *renames;
	const struct waterfall *waterfall;
	enum verdict_result result;
	const struct fact *doubt; /* why numbers of the pair prove nothing, or NULL */
	double recorded_more[2];  /* ns a step: recording_more */
};

/* Findings, and of two sides that both have steps, or both have none, the diagnosis. */
struct findings findings_build(const struct findings_input *in, struct arena *arena);

struct rule;

/* One rule, looked at on one side. A nanosecond of idle time is claimed by one finding only, by the first rule in the
 * list that explains it: sums of findings are honest, and a rule cannot brag with what another one already explains. */
struct evidence {
	const struct rule *rule;
	const struct side *side;
	int side_no; /* 0 or 1 */
	const struct side_facts *facts;
	struct arena *arena;
	const struct names *names;
	const struct rule *const *takers; /* by index into facts->idle: the earlier finding that claimed it, or NULL */
	bool same_syncs; /* the two sides synchronise alike: what differs behind it has another reason */
	/* what a rule fills, whether it finds something or not: */
	bool *claims;             /* by index into facts->idle: what it claims */
	double idle;              /* sum of that, ns a step */
	double busy;              /* what it claims of the busy parts, ns a step */
	double amount;            /* both together */
	double host;              /* what the host would be rid of, ns a step */
	bool pauses;              /* it claims pauses of the host: recording, which slows calls, makes them no longer */
	double waited;            /* for the straggler, as it idles for what this claims: others' mean, ns a step */
	uint32_t phase;           /* the phase with most of it; 0: none */
	double calls;             /* what is blamed, a step, also when it costs too little; 0: it is not counted */
	const char *kind_of_call; /* "copies" … */
	struct finding_number number[FINDING_NUMBERS]; /* value[0] of each */
	uint32_t n_numbers;
	double floor; /* ns a step: fixing it brings the step no lower; 0: nothing is known */
	/* … and only if it does: */
	double per_step; /* what it costs: 0 means not found */
	double ceiling;  /* ns a step; 0: none */
	double least; /* … and what it may come down to, because what is left gets faster, too; 0: that is not expected
	               */
};

enum rule_kind {
	RULE_PLAIN,
	RULE_RANKS,  /* is of ranks among each other: not known where one of them is missing */
	RULE_SYNC,   /* lets the host run ahead: its work still takes its time */
	RULE_LAUNCH, /* makes launches free, but for one a step */
	RULE_ONCE,   /* says what happened once: of no step's cost, and nothing that a fix would save again */
	RULE_BOUND   /* says where the time goes, and is nothing to fix here */
};

struct rule {
	enum fact_id finding; /* its id, title, evidence and advice */
	enum rule_kind kind;
	void (*find)(struct evidence *e);
	/* The fact, where its parameters are not only what rule_fact knows; NULL: they are. */
	const struct fact *(*tell)(const struct evidence *e);
	enum place_time gpu; /* what of the GPU's work it claims; PLACE_IDLE: none */
	enum cause cause;    /* whose idle time it claims, where that is all of one */
	bool given;          /* of find_idle: nothing in the program takes it away, so it promises nothing */
};

extern const struct rule rules[];
extern const size_t n_rules;

#endif
