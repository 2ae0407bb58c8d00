#include "render/evidence.h"

#include "analyse/table.h"
#include "base/format.h"
#include "render/words.h"
#include "say/say.h"
#include "trace/classify.h"

#include <math.h>
#include <string.h>

#define MOSTLY 0.5     /* names that are less than that of a step are no sequence any more */
#define LONG_PAUSE 1e9 /* ns: shorter ones are what programs do before their first step */
enum { LARGEST = 3 };  /* parts that are said in a line */

bool evidence_by_optimizer(const struct analysis *a, const struct side *s)
{
	return strcmp(names_text(a->names, s->steps.name), STEP_ADDED) == 0;
}

static const struct fact *found_by(const struct analysis *a, const struct side *s, struct arena *arena)
{
	for (uint32_t l = 0; l < s->n_loops; l++) {
		const struct loop_result *loop = &s->loops[l];
		if (loop->judged)
			return FACT_NEW(arena, loop_found, FACT_NO_SIDE,
			                .how = loop->same < MOSTLY ? "variants"
			                       : loop->same < 1    ? "nearly"
			                       : loop->ops > 1     ? "same"
			                                           : "one",
			                .ops = loop->ops, .same = loop->same, .steps = loop->steps,
			                .covered = s->steps.coverage,
			                .fewest = loop->most > 1 ? (int64_t)loop->fewest : FACT_UNKNOWN,
			                .most = loop->most, .tried = loop->tried > 0 ? loop->tried : NAN);
	}
	return FACT_NEW(arena, steps_cover, FACT_NO_SIDE, .covered = s->steps.coverage,
	                .optimizer = evidence_by_optimizer(a, s));
}

const char *evidence_of(const struct analysis *a, const struct side *s, struct arena *arena)
{
	return say_fact(found_by(a, s, arena), NULL, arena);
}

const char *evidence_steps(const struct analysis *a, const struct side *s, struct arena *arena)
{
	size_t steps = 0, warmup = 0;
	for (uint32_t r = 0; r < s->n_runs; r++) {
		steps += s->runs[r].n_steps;
		warmup += s->runs[r].left_out;
	}
	if (!s->steps.found)
		return SAY(NULL, arena, no_steps);
	return SAY(a->names, arena, steps_found, .name = s->steps.name, .steps = (int64_t)steps, .runs = s->n_runs,
	           .warmup = (int64_t)warmup, .periods = (int64_t)s->steps.measured, .found = found_by(a, s, arena));
}

const char *evidence_loop(const struct analysis *a, const struct loop_result *loop, struct arena *arena)
{
	return SAY(a->names, arena, loop_is, .name = loop->name, .steps = loop->steps, .period = loop->period,
	           .share = loop->share, .judged = loop->judged);
}

const char *evidence_loops(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const char *all = "";
	for (uint32_t l = 0; l < s->n_loops; l++)
		all = arena_format(arena, "%s%s%s", all, l ? "; " : "", evidence_loop(a, &s->loops[l], arena));
	return *all ? all : SAY(NULL, arena, loops_marked);
}

static double startup_part(const struct startup *s, enum startup_part part)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->row[i].part == part)
			return s->row[i].ns;
	return 0;
}

/* Whether a profile begins with its program, as it says or as code was loaded before the first step; one that was
 * switched on in a running program has seen no start. */
static bool saw_start(const struct startup *s)
{
	return s->ns > 0 && (s->whole || startup_part(s, STARTUP_MODULE_LOAD) > 0);
}

/* So many steps of the gain win back what the fixed side's start-up takes longer without the profiler's own time;
 * FACT_UNKNOWN: it takes no longer, nothing was gained, the recorded steps did, or no start was recorded. */
static int64_t payback_of(const struct analysis *a)
{
	const struct side *b = &a->side[0], *f = &a->side[a->n_sides - 1];
	double gain = b->headline.step - f->headline.step, added = f->startup.ns - b->startup.ns;
	bool known =
		saw_start(&b->startup) && saw_start(&f->startup) && b->steps.found && f->steps.found && !a->items_name;
	added -= startup_part(&f->startup, STARTUP_PROFILER) - startup_part(&b->startup, STARTUP_PROFILER);
	double steps = known && gain > 0 ? ceil(added / gain) : 0;
	return a->verdict.result == VERDICT_FASTER && steps > (double)f->steps.measured ? (int64_t)steps : FACT_UNKNOWN;
}

const char *evidence_startup(const struct analysis *a, struct arena *arena)
{
	const double ns[2] = {a->side[0].startup.ns, a->n_sides > 1 ? a->side[1].startup.ns : 0};
	const int one = ns[0] > 0 ? 0 : 1;
	const struct startup *alone = &a->side[one].startup;
	const bool both = ns[0] > 0 && ns[1] > 0;
	const struct table t = table_make(a, TABLE_STARTUP, arena);
	struct facts parts = {0};
	if (ns[0] <= 0 && ns[1] <= 0)
		return NULL;
	for (uint32_t i = 0; i < t.n && i < LARGEST; i++)
		FACT_ADD(&parts, arena, startup_part_is, FACT_NO_SIDE,
		         .part = say_listed(WORDS_startup_part, (unsigned)t.row[i].key)->key,
		         .time = both ? words_pair(arena, t.row[i].time[0], t.row[i].time[1])
		                      : format_time(arena, t.row[i].time[one]));
	return SAY(NULL, arena, startup_is,
	           .of = a->n_sides < 2 ? "profile"
	                 : both         ? "both"
	                 : one          ? "fixed"
	                                : "baseline",
	           .time = both ? words_pair(arena, ns[0], ns[1]) : format_time(arena, ns[one]),
	           .steps = a->side[one].steps.found, .parts = &parts, .payback = payback_of(a),
	           .pause = !both && alone->pause > LONG_PAUSE && alone->pause > 0.5 * alone->ns ? alone->pause : NAN);
}
