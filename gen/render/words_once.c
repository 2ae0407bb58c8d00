/* Kernels one to one, of runs in which nothing repeats: what a program of a few launches is about. */
#include "analyse/card.h"
#include "base/format.h"
#include "render/words.h"

/* "once per side", "3 times per run", "3 and 1 times" */
static const char *how_often(const struct analysis *a, const struct card_once *k, struct arena *arena)
{
	const char *per = a->side[0].n_runs > 1 || a->side[1].n_runs > 1 ? "run" : "side";
	const char *n[2] = {format_count(arena, k->count[0]), format_count(arena, k->count[1])};
	if (k->count[0] != k->count[1])
		return arena_format(arena, "%s and %s times", n[0], n[1]);
	return k->count[0] == 1 ? arena_format(arena, "once per %s", per)
	                        : arena_format(arena, "%s times per %s", n[0], per);
}

const char *words_once(const struct analysis *a, struct arena *arena)
{
	enum { MOST = 3, FEW = 8 };
	const char *text = "";
	uint32_t n;
	const struct card_once *list = card_once(a, arena, &n);
	if (a->side[0].n_kernels > FEW || (a->n_sides > 1 && a->side[1].n_kernels > FEW))
		return ""; /* three of many say little of a run */
	for (uint32_t i = 0; i < n && i < MOST; i++) {
		double times = list[i].time[0] / list[i].time[1];
		text = arena_format(arena, "%s%s%s %s (%s), %s", text, i ? "; " : "",
		                    format_kernel(arena, names_text(a->names, list[i].name), 48),
		                    words_pair(arena, list[i].time[0], list[i].time[1]),
		                    format_times(arena, times, times), how_often(a, &list[i], arena));
	}
	return n ? arena_format(arena, "%s.", text) : "";
}
