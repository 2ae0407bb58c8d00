/* What is said of kernels that run equally often but not equally long, and of those that a side leaves out. Why the
 * former do no profile tells; what may be why depends on whether they take longer on one side, and whether all do. */
#include "analyse/judge/work.h"
#include "analyse/say.h"

#include <math.h>
#include <string.h>

static const double NEARLY_ALL = 0.9;    /* of the difference, for it to be that of one side */
static const double MOST_OF_A_CLOCK = 2; /* no clock that is held back under load makes more */
static const char *const SIDE[2] = {"baseline", "fixed side"};

static const char *why(const struct work_kernels *k, struct arena *arena)
{
	bool fixed = k->longer >= NEARLY_ALL * k->times.time;
	double times = fmax(k->ratio, 1 / k->ratio);
	if (k->ratio > 0)
		return arena_format(
			arena,
			"Each of them takes %s times as long in the %s, as more work in each launch%s would "
			"make it.",
			say_digits(arena, times), SIDE[k->ratio > 1],
			times <= MOST_OF_A_CLOCK ? " or a lower clock" : "");
	if (fixed || k->longer <= (1 - NEARLY_ALL) * k->times.time)
		return arena_format(
			arena,
			"%s longer in the %s, by more work in the same launches, a slower kernel, or a lower "
			"clock.",
			k->times.n == 1 ? "It takes" : "They take", SIDE[fixed]);
	return "Some take longer and some less long in the fixed side, by other work in the same launches or other "
	       "kernels of the same names.";
}

const char *work_say_times(const struct work_kernels *kernels, const char *per, struct arena *arena)
{
	const struct work_group *g = &kernels->times;
	const char *name = say_short(arena, g->name), *ms = say_digits(arena, g->time / 1e6);
	const char *text = why(kernels, arena);
	if (g->n == 1)
		return arena_format(arena,
		                    "1 kernel (%s) runs equally often but not equally long: %s ms %s of difference. %s",
		                    name, ms, per, text);
	return arena_format(
		arena, "%u kernels run equally often but not equally long: %s ms %s of difference (largest: %s). %s",
		g->n, ms, per, name, text);
}

const char *work_say_factor(const struct work_kernels *k, struct arena *arena)
{
	return arena_format(arena, "All kernels take %s times as long in the %s, as a lower clock would make it.",
	                    say_digits(arena, fmax(k->factor, 1 / k->factor)), SIDE[k->factor > 1]);
}

const char *work_say_fall(const struct work_fall *f, struct arena *arena)
{
	return arena_format(arena, "In the %s %s and %u other kernel%s do %s times as much per step as in the %s.",
	                    SIDE[f->less], say_short(arena, f->name), f->n - 1, f->n == 2 ? "" : "s",
	                    say_digits(arena, f->ratio), SIDE[!f->less]);
}

const char *work_say_left_out(const struct work_left_out *l, int side, const char *per, struct arena *arena)
{
	const char *more = l->n > 1 ? arena_format(arena, " (and %u more)", l->n - 1) : "";
	const char *name = *l->name ? say_short(arena, l->name) : "a kernel without a name";
	const char *with = say_digits(arena, l->with), *rate = arena_format(arena, "per %s", per + strlen("a "));
	if (!(l->without > 0))
		return arena_format(arena, "Only the %s runs %s%s: %s %s. Nothing runs in its place.", SIDE[!side],
		                    name, more, say_times(arena, l->with), rate);
	return arena_format(arena, "%s%s runs %s times %s in the %s instead of %s. Nothing runs in its place.", name,
	                    more, say_digits(arena, l->without), rate, SIDE[side], with);
}
