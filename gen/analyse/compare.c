#include "analyse/compare.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MATERIAL = 0.01; /* of launches, bytes or GPU time */

struct comparison {
	struct arena *arena;
	struct analysis *out;
	const struct side *a, *b;
	double slack; /* instances a step that an edge of the window can make: one and a half in the shorter side */
};

static void add(struct comparison *c, bool material, const char *text)
{
	struct analysis *out = c->out;
	const char ***list = material ? &out->differences : &out->notes;
	uint32_t *n = material ? &out->n_differences : &out->n_notes;
	*list = arena_grow(c->arena, *list, *n, *n + 1, sizeof **list);
	(*list)[(*n)++] = text;
}

/* How far apart two amounts are, as a share of the larger. */
static double distance(double a, double b)
{
	double larger = fmax(a, b);
	return larger > 0 ? fabs(a - b) / larger : 0;
}

static const char *per(const struct comparison *c)
{
	return c->a->steps_found ? "a step" : "a run";
}

/* Counts are mostly whole; what is not is a mean, and two decimals say so. */
static const char *count_text(struct arena *arena, double count)
{
	bool whole = fabs(count - round(count)) < 1e-6 * fmax(1, fabs(count));
	return arena_format(arena, whole ? "%.0f" : "%.2f", count);
}

/* A count, compared: a note below the threshold, nothing when equal. */
static void add_count(struct comparison *c, const char *what, double a, double b, bool may_be_material)
{
	if (fabs(a - b) < 1e-9 * fmax(fabs(a), fabs(b)) || a == b)
		return;
	bool material = may_be_material && distance(a, b) > MATERIAL && fabs(a - b) > c->slack;
	add(c, material,
	    arena_format(c->arena, "%s: %s %s in the baseline, %s in the fixed side.", what, count_text(c->arena, a),
	                 per(c), count_text(c->arena, b)));
}

static const char *bytes_text(struct arena *arena, double bytes)
{
	if (bytes < 1e3)
		return arena_format(arena, "%.3g bytes", bytes);
	if (bytes < 1e6)
		return arena_format(arena, "%.4g kB", bytes / 1e3);
	return arena_format(arena, bytes < 1e9 ? "%.4g MB" : "%.0f MB", bytes / 1e6);
}

static void add_bytes(struct comparison *c, const char *direction, double a, double b, double all)
{
	if (fabs(a - b) <= 1e-9 * all)
		return;
	add(c, fabs(a - b) / all > MATERIAL,
	    arena_format(c->arena, "Copied %s: %s %s in the baseline, %s in the fixed side.", direction,
	                 bytes_text(c->arena, a), per(c), bytes_text(c->arena, b)));
}

static const char *shorten(struct arena *arena, const char *name)
{
	size_t n = strlen(name), keep = 48;
	if (n <= keep + 1)
		return name;
	while (keep && ((unsigned char)name[keep] & 0xc0) == 0x80) /* not inside a character */
		keep--;
	return arena_format(arena, "%.*s…", (int)keep, name);
}

/* ---- kernels ---- */

static int compare_names(const void *a, const void *b)
{
	const struct kernel_result *x = *(const struct kernel_result *const *)a;
	const struct kernel_result *y = *(const struct kernel_result *const *)b;
	return x->name < y->name ? -1 : x->name > y->name;
}

static const struct kernel_result **by_name(const struct side *side, struct arena *arena)
{
	const struct kernel_result **list = ARENA_NEW(arena, side->n_kernels + 1, const struct kernel_result *);
	for (uint32_t i = 0; i < side->n_kernels; i++)
		list[i] = &side->kernels[i];
	if (side->n_kernels)
		qsort(list, side->n_kernels, sizeof *list, compare_names);
	return list;
}

/* Kernels of one kind of difference: how many, their time, the largest. */
struct group {
	uint32_t n;
	double time, largest;
	uint32_t name;
};

static void group_add(struct group *g, const struct kernel_result *k, double time)
{
	g->n++;
	g->time += time;
	if (time > g->largest || !g->name) {
		g->largest = time;
		g->name = k->name;
	}
}

static void add_group(struct comparison *c, const struct group *g, const char *what, double all)
{
	if (!g->n)
		return;
	const char *name = shorten(c->arena, names_text(c->out->names, g->name));
	add(c, all > 0 && g->time / all > MATERIAL,
	    arena_format(c->arena, "%u %s %s: %.3g ms %s (largest: %s).", g->n,
	                 g->n == 1 ? "kernel runs" : "kernels run", what, g->time / 1e6, per(c), name));
}

static void compare_kernels(struct comparison *c, const struct side_facts facts[2])
{
	struct arena scratch = {0};
	const struct kernel_result **a = by_name(c->a, &scratch), **b = by_name(c->b, &scratch);
	struct group only_a = {0}, only_b = {0}, counts = {0};
	for (uint32_t i = 0, j = 0; i < c->a->n_kernels || j < c->b->n_kernels;) {
		if (j == c->b->n_kernels || (i < c->a->n_kernels && a[i]->name < b[j]->name)) {
			group_add(&only_a, a[i], a[i]->per_step);
			i++;
		} else if (i == c->a->n_kernels || b[j]->name < a[i]->name) {
			group_add(&only_b, b[j], b[j]->per_step);
			j++;
		} else {
			double far = distance(a[i]->instances, b[j]->instances);
			if (far > MATERIAL && fabs(a[i]->instances - b[j]->instances) > c->slack)
				group_add(&counts, a[i], far * fmax(a[i]->per_step, b[j]->per_step));
			i++, j++;
		}
	}
	add_group(c, &only_a, "only in the baseline", facts[0].kernel_time);
	add_group(c, &only_b, "only in the fixed side", facts[1].kernel_time);
	add_group(c, &counts, "a different number of times", fmax(facts[0].kernel_time, facts[1].kernel_time));
	arena_release(&scratch);
}

/* ---- where and how they were captured ---- */

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "unknown";
}

static void compare_text(struct comparison *c, bool material, const char *what, const char *a, const char *b)
{
	bool known = a && *a && b && *b;
	if (strcmp(or_unknown(a), or_unknown(b)) != 0)
		add(c, material && known,
		    arena_format(c->arena, "%s: %s in the baseline, %s in the fixed side.", what,
		                 shorten(c->arena, or_unknown(a)), shorten(c->arena, or_unknown(b))));
}

static void compare_option(struct comparison *c, const char *what, bool a, bool b)
{
	if (a != b)
		add(c, true,
		    arena_format(c->arena, "%s were recorded on the %s only: capture both sides with the same options.",
		                 what, a ? "baseline" : "fixed side"));
}

static void compare_environment(struct comparison *c)
{
	const struct trace_source *a = &c->a->source, *b = &c->b->source;
	const struct names *names = c->out->names;
	if (c->a->n_devices != c->b->n_devices)
		add(c, true,
		    arena_format(c->arena, "Devices with work: %u in the baseline, %u in the fixed side.",
		                 c->a->n_devices, c->b->n_devices));
	compare_text(c, true, "GPU", names_text(names, c->a->devices[0].name),
	             names_text(names, c->b->devices[0].name));
	int64_t clock_a = c->a->devices[0].clock_hz, clock_b = c->b->devices[0].clock_hz;
	if (clock_a && clock_b && clock_a != clock_b)
		add(c, true,
		    arena_format(c->arena, "Highest GPU clock: %.0f MHz in the baseline, %.0f MHz in the fixed side.",
		                 (double)clock_a / 1e6, (double)clock_b / 1e6));
	compare_text(c, true, "NVIDIA driver", a->driver, b->driver);
	compare_text(c, false, "Profiler", a->exporter, b->exporter);
	compare_option(c, "Operating-system calls", a->has_os_calls, b->has_os_calls);
	compare_option(c, "NVTX ranges", a->has_ranges, b->has_ranges);
	compare_option(c, "CUDA API calls", a->has_calls, b->has_calls);
	if (c->a->step_name != c->b->step_name && c->a->steps_found && c->b->steps_found)
		compare_text(c, false, "Step range", names_text(names, c->a->step_name),
		             names_text(names, c->b->step_name));
}

static const char *cannot_be_judged(const struct comparison *c)
{
	const struct trace_source *a = &c->a->source, *b = &c->b->source;
	if (strcmp(a->collector, b->collector) != 0)
		return arena_format(c->arena,
		                    "The sides were captured by different tools (%s and %s), which cost the program "
		                    "different time; capture both with the same one.",
		                    a->collector, b->collector);
	if (a->graphs != b->graphs && a->graphs != GRAPHS_NONE && b->graphs != GRAPHS_NONE)
		return "CUDA graphs were traced whole on one side and node by node on the other, which alone changes "
		       "the "
		       "time of a step; capture both with the same --cuda-graph-trace.";
	if (c->a->steps_found != c->b->steps_found)
		return arena_format(
			c->arena,
			"Steps were found on the %s only, so there is nothing to compare step by step; name "
			"the step range with --step.",
			c->a->steps_found ? "baseline" : "fixed side");
	return NULL;
}

const char *compare_work(const struct side_facts facts[2], struct arena *arena, struct analysis *out)
{
	struct comparison c = {.arena = arena, .out = out, .a = &out->side[0], .b = &out->side[1]};
	const char *reason = cannot_be_judged(&c);
	if (reason)
		add(&c, true, reason);
	compare_environment(&c);
	if (c.a->steps_found == c.b->steps_found) {
		double steps = fmin((double)c.a->measured, (double)c.b->measured);
		c.slack = steps > 0 ? 1.5 / steps : 0.5;
		add_count(&c, "Kernel launches", c.a->launches, c.b->launches, true);
		add_count(&c, "Graph launches", c.a->graph_launches, c.b->graph_launches, true);
		add_count(&c, "Collectives", c.a->collectives, c.b->collectives, true);
		compare_kernels(&c, facts);
		double all = fmax(c.a->bytes_h2d + c.a->bytes_d2h + c.a->bytes_d2d,
		                  c.b->bytes_h2d + c.b->bytes_d2h + c.b->bytes_d2d);
		add_bytes(&c, "to the device", c.a->bytes_h2d, c.b->bytes_h2d, all);
		add_bytes(&c, "to the host", c.a->bytes_d2h, c.b->bytes_d2h, all);
		add_bytes(&c, "between devices", c.a->bytes_d2d, c.b->bytes_d2d, all);
		add_count(&c, "NVTX ranges", c.a->range_instances, c.b->range_instances, false);
	}
	out->comparable = out->n_differences == 0;
	return reason;
}
