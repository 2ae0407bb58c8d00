/* How often kernels run: whether two counts differ, and whether they go by the step or by the item. */
#include "analyse/judge/work.h"

#include <math.h>

static const double CLOSE = 0.01; /* of counts: so little is no difference */

/* ---- how often ---- */

bool work_is_whole(const struct work_scale *s, double count)
{
	return fabs(count - round(count)) <= s->slack && round(count) >= 1;
}

/* What the edges of the window make of a kernel that runs `count` times a step: a step that is cut through lacks some
 * of them. Half a time a step is no edge's. */
static double edge(const struct work_scale *s, double count)
{
	return fmax(s->slack, fmin(0.5, s->slack * count));
}

bool work_differs(const struct work_scale *s, double a, double b)
{
	double far = fabs(a - b), most = fmax(a, b);
	if (!s->steps)
		return far > s->slack && work_distance(a, b) > CLOSE;
	if (work_is_whole(s, most) && (work_is_whole(s, fmin(a, b)) || s->variation.varies < CLOSE))
		return far > edge(s, most);
	return work_distance(a, b) > CLOSE &&
	       far > s->slack + s->chance * hypot(sqrt(most / s->variation.seen), s->variation.varies * most);
}

bool work_runs_differ(const struct work_scale *s, const struct work_row *r)
{
	const double a = r->instances[0], b = r->instances[1];
	const double varies = hypot(r->varies[0], r->varies[1]) / sqrt(s->variation.seen);
	/* a mean of numbers that vary may be near a whole one by chance */
	if (!work_differs(s, a, b) || !s->steps || (work_is_whole(s, fmax(a, b)) && !(varies > 0)))
		return work_differs(s, a, b);
	return fabs(a - b) > s->slack + (s->variation.wanders && varies > 0 ? INFINITY : s->chance * varies);
}

/* ---- by the step or by the item ---- */

/* Launches whose work grows with the items of a step are held against each other by the item, others (an optimizer's)
 * by the launch: whichever is nearer. */
static bool is_nearer_by_item(const struct work_scale *s, const double sum[2])
{
	return fabs(log(sum[1] / sum[0])) <= fabs(log(sum[1] / s->as_much / sum[0]));
}

static void count_by_launch(const struct work_scale *s, double sum[2], double square[2])
{
	sum[1] /= s->as_much;
	square[1] /= s->as_much;
}

bool work_count_by_step(const struct work_scale *s, const struct work_row *all, struct work_row *row)
{
	double a = all->instances[0], b = all->instances[1];
	if (s->as_much == 1 || a <= 0 || b <= 0 || !work_differs(s, a, b) || work_differs(s, a, b / s->as_much))
		return false;
	bool blocks = all->blocks[0] > 0 && all->blocks[1] > 0 && is_nearer_by_item(s, all->blocks);
	bool time = all->time[0] > 0 && all->time[1] > 0 && is_nearer_by_item(s, all->time);
	row->instances[1] /= s->as_much;
	row->varies[1] /= s->as_much;
	row->unsized[1] /= s->as_much;
	row->threads[1] /= s->as_much;
	row->per_item = blocks || time;
	if (blocks)
		row->blocks2[1] *= s->as_much;
	else
		count_by_launch(s, row->blocks, row->blocks2);
	if (time)
		row->time2[1] *= s->as_much;
	else
		count_by_launch(s, row->time, row->time2);
	return true;
}
