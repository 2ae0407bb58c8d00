#include "render/evidence.h"

#include "base/format.h"

#define LONG_PAUSE 1e9 /* ns: shorter ones are what programs do before their first step */

const char *evidence_of(const struct side *s, struct arena *arena)
{
	const char *covered = arena_format(arena, "%s of the GPU's work", format_share(arena, s->steps.coverage));
	for (uint32_t l = 0; l < s->n_loops; l++)
		if (s->loops[l].judged)
			return arena_format(arena, "steps found from the repeating sequence of %s, %u times, %s",
			                    format_plural(arena, s->loops[l].ops, "GPU operation", "GPU operations"),
			                    s->loops[l].steps, covered);
	return covered;
}

const char *evidence_loop(const struct analysis *a, const struct loop_result *loop, struct arena *arena)
{
	return arena_format(arena, "%s: %u × %s, %s of the GPU's work%s",
	                    format_name(arena, names_text(a->names, loop->name), 60), loop->steps,
	                    format_time(arena, loop->period), format_share(arena, loop->share),
	                    loop->judged ? ", judged" : "");
}

const char *evidence_loops(const struct analysis *a, const struct side *s, struct arena *arena)
{
	const char *all = "";
	for (uint32_t l = 0; l < s->n_loops; l++)
		all = arena_format(arena, "%s%s%s", all, l ? "; " : "", evidence_loop(a, &s->loops[l], arena));
	return *all ? all : "marked by ranges";
}

const char *evidence_startup(const struct side *s, struct arena *arena)
{
	enum { LARGEST = 3 };
	const char *text = arena_format(arena, "%s before %s", format_time(arena, s->startup.ns),
	                                s->steps.found ? "the first step" : "the last module was loaded");
	bool said[CAUSE_COUNT] = {0};
	for (int n = 0; n < LARGEST; n++) {
		int largest = -1;
		for (int c = 0; c < CAUSE_COUNT; c++)
			if (!said[c] && s->startup.cause[c] > 0 &&
			    (largest < 0 || s->startup.cause[c] > s->startup.cause[largest]))
				largest = c;
		if (largest < 0)
			break;
		said[largest] = true;
		text = arena_format(arena, "%s%s %s %s", text, n ? "," : ":", cause_label((enum cause)largest),
		                    format_time(arena, s->startup.cause[largest]));
	}
	if (s->startup.pause > LONG_PAUSE && s->startup.pause > 0.5 * s->startup.ns)
		text = arena_format(arena, "%s; %s of it in one stretch without a CUDA call", text,
		                    format_time(arena, s->startup.pause));
	return text;
}
