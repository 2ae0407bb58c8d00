#include "analyse/judge/compare.h"

#include "analyse/say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MATERIAL = 0.01;      /* of launches, bytes or GPU time */
static const double MATERIAL_TIME = 0.05; /* of GPU time, for kernels that run equally often */

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

/* A count, compared: a note below the threshold, nothing when equal. */
static void add_count(struct comparison *c, const char *what, double a, double b, bool may_be_material)
{
	if (fabs(a - b) < 1e-9 * fmax(fabs(a), fabs(b)) || a == b)
		return;
	bool material = may_be_material && distance(a, b) > MATERIAL && fabs(a - b) > c->slack;
	add(c, material,
	    arena_format(c->arena, "%s: %s %s in the baseline, %s in the fixed side.", what, say_count(c->arena, a),
	                 per(c), say_count(c->arena, b)));
}

/* Bytes of the largest copy of a direction: what one copy more or less at an edge of the window makes. */
static double largest_copy(const struct side *side, enum copy_kind kind)
{
	double largest = 0;
	for (uint32_t i = 0; i < side->n_copies; i++)
		if (side->copies[i].kind == kind && !side->copies[i].memset && side->copies[i].instances > 0)
			largest = fmax(largest, side->copies[i].bytes / side->copies[i].instances);
	return largest;
}

static void add_bytes(struct comparison *c, const char *direction, enum copy_kind kind, double a, double b, double all)
{
	double slack = c->slack * fmax(largest_copy(c->a, kind), largest_copy(c->b, kind));
	if (fabs(a - b) <= 1e-9 * all)
		return;
	add(c, fabs(a - b) / all > MATERIAL && fabs(a - b) > slack,
	    arena_format(c->arena, "Copied %s: %s %s in the baseline, %s in the fixed side.", direction,
	                 say_bytes(c->arena, a), per(c), say_bytes(c->arena, b)));
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
	    arena_format(c->arena, "%u %s %s: %s ms %s (largest: %s).", g->n, g->n == 1 ? "kernel runs" : "kernels run",
	                 what, say_digits(c->arena, g->time / 1e6), per(c), name));
}

/* Kernels that run equally often but not equally long: less work in the same launches, a better kernel, or another
 * clock. Clocks alone move it by a few percent, so it is material from there on. (Waiting makes communication kernels
 * long.) */
static void add_times(struct comparison *c, const struct group *g, const struct side_facts facts[2])
{
	double all = fmax(facts[0].kernel_time, facts[1].kernel_time);
	if (!g->n || g->time < MATERIAL * all)
		return;
	add(c, g->time > MATERIAL_TIME * all,
	    arena_format(c->arena,
	                 "%u %s equally often but not equally long: %s ms %s of difference (largest: %s), by less "
	                 "work in the same launches, a better kernel, or another clock.",
	                 g->n, g->n == 1 ? "kernel runs" : "kernels run", say_digits(c->arena, g->time / 1e6), per(c),
	                 shorten(c->arena, names_text(c->out->names, g->name))));
}

static void compare_kernels(struct comparison *c, const struct side_facts facts[2])
{
	struct arena scratch = {0};
	const struct kernel_result **a = by_name(c->a, &scratch), **b = by_name(c->b, &scratch);
	struct group only_a = {0}, only_b = {0}, counts = {0}, times = {0};
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
			else if (!a[i]->comm && distance(a[i]->per_step, b[j]->per_step) > MATERIAL)
				group_add(&times, a[i], fabs(a[i]->per_step - b[j]->per_step));
			i++, j++;
		}
	}
	add_group(c, &only_a, "only in the baseline", facts[0].kernel_time);
	add_group(c, &only_b, "only in the fixed side", facts[1].kernel_time);
	add_group(c, &counts, "a different number of times", fmax(facts[0].kernel_time, facts[1].kernel_time));
	add_times(c, &times, facts);
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

/* GPUs of a run, in order of its devices: "NVIDIA H200 at 1980 MHz, …". */
static const char *gpus_text(struct comparison *c, const struct run *run)
{
	const char *text = "";
	for (uint32_t d = 0; d < run->n_devices; d++) {
		uint32_t gpu = run_gpu(run, d);
		if (gpu == TRACE_NONE)
			continue;
		const struct trace_gpu *g = &run->trace->gpus[gpu];
		const char *name = names_text(c->out->names, g->name);
		const char *one =
			g->clock_hz ? arena_format(c->arena, "%s at up to %.0f MHz", name, (double)g->clock_hz / 1e6)
				    : name;
		bool again = strstr(text, one) != NULL;
		text = again ? text : *text ? arena_format(c->arena, "%s, %s", text, one) : one;
	}
	return text;
}

/* Runs of one side have to come from one machine, recorded in one way. */
static void compare_runs(struct comparison *c, const struct side *side, const struct side_facts *facts)
{
	for (size_t r = 1; r < facts->n_runs; r++) {
		const struct trace_source *a = &facts->runs[0].trace->source, *b = &facts->runs[r].trace->source;
		const char *gpus = gpus_text(c, &facts->runs[0]), *other = gpus_text(c, &facts->runs[r]);
		const char *what = strcmp(gpus, other) != 0            ? "other GPUs"
		                   : strcmp(a->driver, b->driver) != 0 ? "another driver"
		                   : a->has_os_calls != b->has_os_calls || a->has_ranges != b->has_ranges ||
		                                   a->has_calls != b->has_calls
		                           ? "other tracing options"
		                           : NULL;
		if (what)
			add(c, true,
			    arena_format(c->arena, "Within the %s, %s was captured with %s than %s.", side->label,
			                 side->runs[r].file, what, side->runs[0].file));
	}
}

static void compare_environment(struct comparison *c, const struct side_facts facts[2])
{
	const struct trace_source *a = &c->a->source, *b = &c->b->source;
	if (c->a->n_devices != c->b->n_devices)
		add(c, true,
		    arena_format(c->arena, "Devices with work: %u in the baseline, %u in the fixed side.",
		                 c->a->n_devices, c->b->n_devices));
	compare_text(c, true, "GPU", gpus_text(c, &facts[0].runs[0]), gpus_text(c, &facts[1].runs[0]));
	compare_text(c, true, "NVIDIA driver", a->driver, b->driver);
	compare_text(c, false, "Profiler", a->exporter, b->exporter);
	compare_option(c, "Operating-system calls", a->has_os_calls, b->has_os_calls);
	compare_option(c, "NVTX ranges", a->has_ranges, b->has_ranges);
	compare_option(c, "CUDA API calls", a->has_calls, b->has_calls);
	bool material = false;
	const char *clocks = conditions_difference(c->out, c->arena, &material);
	if (clocks)
		add(c, material, clocks);
	compare_runs(c, c->a, &facts[0]);
	compare_runs(c, c->b, &facts[1]);
}

/* Whether any run of either side was captured in a way that makes its times another thing than those of `first`. */
static const char *capture_mismatch(const struct comparison *c, const struct trace_source *first,
                                    const struct trace_source *other)
{
	if (strcmp(first->collector, other->collector) != 0)
		return arena_format(
			c->arena,
			"Runs were captured by different tools (%s and %s), which cost the program different "
			"time; capture all with the same one.",
			first->collector, other->collector);
	if (first->graphs != other->graphs && first->graphs != GRAPHS_NONE && other->graphs != GRAPHS_NONE)
		return "CUDA graphs were traced whole in one run and node by node in another, which alone changes the "
		       "time of "
		       "a step; capture all with the same --cuda-graph-trace.";
	return NULL;
}

static const char *cannot_be_judged(const struct comparison *c, const struct side_facts facts[2])
{
	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < facts[s].n_runs; r++)
			for (int q = 0; q <= s; q++) {
				const char *reason = capture_mismatch(c, &facts[q].runs[0].trace->source,
				                                      &facts[s].runs[r].trace->source);
				if (reason)
					return reason;
			}
	if (c->a->steps_found != c->b->steps_found)
		return arena_format(
			c->arena,
			"Steps were found on the %s only, so there is nothing to compare step by step; name "
			"the step range with --step.",
			c->a->steps_found ? "baseline" : "fixed side");
	const struct names *names = c->out->names;
	if (c->a->steps_found && c->a->step_name != c->b->step_name)
		return arena_format(
			c->arena,
			"A step is '%s' in the baseline and '%s' in the fixed side, and no range is a step in "
			"both; name the step range with --step.",
			shorten(c->arena, names_text(names, c->a->step_name)),
			shorten(c->arena, names_text(names, c->b->step_name)));
	return NULL;
}

/* One side runs in graphs traced whole what the other launches kernel by kernel, or in fewer graphs. */
static bool graphs_hide(const struct comparison *c)
{
	bool whole = c->a->source.graphs == GRAPHS_WHOLE || c->b->source.graphs == GRAPHS_WHOLE;
	return whole && fabs(c->a->graph_launches - c->b->graph_launches) > c->slack;
}

const char *compare_work(const struct side_facts facts[2], struct arena *arena, struct analysis *out)
{
	struct comparison c = {.arena = arena, .out = out, .a = &out->side[0], .b = &out->side[1]};
	const char *reason = cannot_be_judged(&c, facts);
	size_t hidden = 0; /* differences that may be no more than what graphs hide */
	if (reason)
		add(&c, true, reason);
	compare_environment(&c, facts);
	if (c.a->steps_found == c.b->steps_found) {
		double steps = fmin((double)c.a->measured / c.a->n_runs, (double)c.b->measured / c.b->n_runs);
		c.slack = steps > 0 ? 1.5 / steps : 0.5; /* every run has its own edges */
		size_t before = out->n_differences;
		add_count(&c, "Kernel launches", c.a->launches, c.b->launches, true);
		add_count(&c, "Graph launches", c.a->graph_launches, c.b->graph_launches, true);
		size_t counts = out->n_differences - before;
		add_count(&c, "Collectives", c.a->collectives, c.b->collectives, true);
		before = out->n_differences;
		compare_kernels(&c, facts);
		hidden = graphs_hide(&c) ? counts + out->n_differences - before : 0;
		double all = fmax(c.a->bytes_h2d + c.a->bytes_d2h + c.a->bytes_d2d,
		                  c.b->bytes_h2d + c.b->bytes_d2h + c.b->bytes_d2d);
		add_bytes(&c, "to the device", COPY_H2D, c.a->bytes_h2d, c.b->bytes_h2d, all);
		add_bytes(&c, "to the host", COPY_D2H, c.a->bytes_d2h, c.b->bytes_d2h, all);
		add_bytes(&c, "between devices", COPY_D2D, c.a->bytes_d2d, c.b->bytes_d2d, all);
		add_count(&c, "NVTX ranges", c.a->range_instances, c.b->range_instances, false);
	}
	out->comparable = out->n_differences == 0;
	out->work_hidden = hidden > 0 && out->n_differences == hidden;
	return reason;
}
