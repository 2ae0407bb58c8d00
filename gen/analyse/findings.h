/* Findings (DESIGN 6), their ceilings and whether the diagnosis was right (DESIGN 4). */
#ifndef GAPLINE_ANALYSE_FINDINGS_H
#define GAPLINE_ANALYSE_FINDINGS_H

#include "analyse/side.h"

/* Fills out->findings, and with two sides also out->diagnosis, combined_ceiling and measured. */
void findings_build(const struct side_facts *facts, struct arena *arena, struct analysis *out);

/* One rule, looked at on one side. */
struct rule;
struct evidence {
	const struct rule *rule;
	const struct side *side;
	const struct side_facts *facts;
	struct arena *arena;
	const struct names *names;
	/* what a rule fills when it finds something: */
	double per_step; /* what it costs, ns a step; 0: not found */
	uint32_t phase;
	double ceiling; /* ns a step; 0: none */
	const char *text, *advice;
};

/* What a finding's fix would take away, so that several can be added up without counting a nanosecond twice. */
struct rule {
	const char *id, *title;
	void (*find)(struct evidence *e);
	bool (*claims)(const struct evidence *e, const struct cell_key *idle); /* NULL: no idle time */
	double (*busy)(const struct evidence *e); /* of the busy parts, ns a step; NULL: none */
};

extern const struct rule rules[];
extern const size_t n_rules;

/* The launches-are-free and no-synchronisation bounds need more than subtraction; the combined ceiling knows them by
 * these rules. */
bool rule_is_sync(const struct rule *rule);
bool rule_is_launch(const struct rule *rule);
bool rule_is_input(const struct rule *rule);

#endif
