/* Findings, their ceilings and whether the diagnosis was right (docs/analysis.md, from Findings on).
 *
 * *Resolved* means that the cost is gone, and that nothing in the traces says that it went for another reason than the
 * finding's. Most costs name their reason themselves: idle time inside an allocation, exposed copies, exposed
 * communication, waiting for the last rank, a mutex. They are gone when that time is gone.
 *
 * - A synchronisation's cost is what the host does after it, so its time alone proves nothing: the fix makes the host
 *   come back to a GPU that still has work, or not wait at all. If the host comes back to an idle GPU as often as
 *   before, the synchronisation is what it was, and the cost belongs to the host's own work behind it
 *   (`host_after_sync`).
 * - Where the calls that are blamed are still made (allocations, module loads, pageable or managed copies, launches),
 *   they became cheap, or something else hides them now. The cost is gone, and the text says both. */
#ifndef GAPLINE_ANALYSE_JUDGE_FINDINGS_H
#define GAPLINE_ANALYSE_JUDGE_FINDINGS_H

#include "analyse/side/side.h"

/* Fills out->findings, and with two sides also out->diagnosis, combined_ceiling and measured. */
void findings_build(const struct side_facts *facts, struct arena *arena, struct analysis *out);

struct rule;

/* One rule, looked at on one side. A nanosecond of idle time is claimed by one finding only, by the first rule in the
 * list that explains it: sums of findings are honest, and a rule cannot brag with what another one already explains. */
struct evidence {
	const struct rule *rule;
	const struct side *side;
	const struct side_facts *facts;
	struct arena *arena;
	const struct names *names;
	const bool *taken; /* by index into facts->idle: claimed by an earlier finding */
	bool same_syncs;   /* the two sides synchronise alike: what differs behind it has another reason */
	/* what a rule fills when it finds something: */
	bool *claims;             /* by index into facts->idle: what it claims */
	double idle;              /* sum of that, ns a step */
	double busy;              /* what it claims of the busy parts, ns a step */
	double amount;            /* both together, also when that is too little to speak of */
	double per_step;          /* what it costs: 0 means not found */
	uint32_t phase;           /* the phase with most of it; 0: none */
	double ceiling;           /* ns a step; 0: none */
	double calls;             /* what is blamed, a step, also when it costs too little; 0: it is not counted */
	const char *kind_of_call; /* "copies" … */
	const char *text, *advice;
};

enum rule_kind {
	RULE_PLAIN,
	RULE_INPUT,  /* moves host work to other threads */
	RULE_SYNC,   /* lets the host run ahead: its work still takes its time */
	RULE_LAUNCH, /* makes launches free, but for one a step; the rules of this kind share their claims */
	RULE_BOUND   /* says where the time goes, and is nothing to fix here */
};

struct rule {
	const char *id, *title;
	enum rule_kind kind;
	void (*find)(struct evidence *e);
};

extern const struct rule rules[];
extern const size_t n_rules;

#endif
