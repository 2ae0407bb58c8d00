/* What the files of the rules share; others use find/findings.h. */
#ifndef GAPLINE_FIND_RULES_PARTS_H
#define GAPLINE_FIND_RULES_PARTS_H

#include "find/findings.h"

#define SMALL 0.01        /* of a step: from here on a rule speaks … */
#define CONSIDERABLE 0.03 /* … and where the evidence is only circumstantial */
#define MANY 0.05
enum { MANY_LAUNCHES = 20 }; /* a step */

double rule_period(const struct evidence *e);

/* Claims the idle time that `fits` (NULL: of the rule's cause, or what happened once), unless an earlier finding has
 * it; sets the phase with most of it. rule_sum: the same of what is claimed already. */
double rule_claim(struct evidence *e, bool (*fits)(const struct cell_key *idle));
double rule_sum(struct evidence *e);

/* Of a thread that slept: what it does when it comes back, with cold caches, on a processor that had slept, takes
 * longer than where it never slept. How much is not known, so the step may come down to what the GPU needs. */
void rule_wakes_cold(struct evidence *e);

/* What it costs is what was claimed of idle time, and `busy` of the busy parts; the ceiling is the step without it.
 * Whether that is at least `least` of a step. */
bool rule_costs(struct evidence *e, double busy, double least);

/* For what has a cost but is not the matter: the amount stays known, for the comparison with the other side. */
void rule_keep_silent(struct evidence *e);

/* What the finding blames, whether it costs something or not. */
void rule_blame(struct evidence *e, double calls, const char *kind);

/* A number of the evidence; and again, by its name, which is the JSON's and a parameter's of the fact. */
void rule_note(struct evidence *e, const char *name, enum finding_unit unit, double value);
double rule_value(const struct evidence *e, const char *name);

/* What a finding costs, as a share of a step; "step" or "run": what its numbers are of. */
double rule_share(const struct evidence *e);
const char *rule_unit(const struct evidence *e);
#define RULE_COSTS(e) .cost = (e)->amount, .share = rule_share(e), .unit = rule_unit(e)

/* What was found, with the numbers that `find` left. */
const struct fact *rule_fact(const struct evidence *e);

/* Adds in which module and at which line most of it is, where a third of it and more is known to be in one (places.c):
 * of its idle time, or where more than half of its cost is the GPU's own time, of all such work's. */
void rule_tell_places(const struct evidence *e, struct facts *said);

/* Host calls and host time (rules_host.c). */
void find_module(struct evidence *e);
void find_alloc(struct evidence *e);
void find_lock(struct evidence *e);
void find_gil(struct evidence *e);
void find_paced(struct evidence *e);
void find_before_copy(struct evidence *e);
void find_input(struct evidence *e);
const struct fact *tell_input(const struct evidence *e);
void find_host_work(struct evidence *e);
void find_after_sync(struct evidence *e);
void find_sync(struct evidence *e);
const struct fact *tell_alloc(const struct evidence *e);
void find_launches(struct evidence *e);
const struct fact *tell_launches(const struct evidence *e);

/* Causes of idle time that no other rule has, and what happened once (rules_idle.c). */
void find_idle(struct evidence *e);
void find_once(struct evidence *e);
const struct fact *tell_once(const struct evidence *e);

/* What the GPUs do: copies, communication, computing (rules_gpu.c). */
void find_managed(struct evidence *e);
const struct fact *tell_managed(const struct evidence *e);
void find_pageable(struct evidence *e);
void find_serial_copies(struct evidence *e);
void find_comm(struct evidence *e);
void find_bubbles(struct evidence *e);
const struct fact *tell_bubbles(const struct evidence *e);
void find_straggler(struct evidence *e);
const struct fact *tell_straggler(const struct evidence *e);
void find_gpu_bound(struct evidence *e);
const struct fact *tell_gpu_bound(const struct evidence *e);

/* Was the diagnosis right (docs/method/analysis.md, Diagnosis)? */

/* The step if everything that is resolved were perfectly fixed, never above the ceiling of any one of them; and how
 * much of the gain that explains. `resolved`: n findings of the baseline. */
struct diagnosis diagnosis_judge(const struct evidence *const *resolved, size_t n, const struct findings_input *in);

/* The least that a step takes when the host is not waited for: the GPU's work, and the waiting that is none of the
 * host's doing. `without`: by index into the idle facts, what is claimed by others anyway; may be NULL. */
double diagnosis_floor(const struct side *side, const struct side_facts *facts, const bool *without);

#endif
