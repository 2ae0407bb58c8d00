#include "analyse/run/steps.h"

#include "base/buf.h"
#include "base/keymap.h"
#include "base/list.h"
#include "base/search.h"
#include "trace/order.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_INSTANCES = 5 };

/* GPU time launched by one process, in order of the launching calls: time[i] is what the calls up to the i-th launch.
 */
struct launches {
	const int64_t *start;
	const double *time; /* a sum of lengths has no bound, where many ops run side by side */
	size_t n;
};

/* A (thread, normalised name, domain) with its instances: ranges order[first .. first + n). */
struct candidate {
	uint32_t thread, name, domain;
	size_t first, n;
	int64_t total;
};

static void collect_launches(const struct trace *t, struct arena *arena, struct launches *by_process)
{
	struct arena scratch = {0};
	double *by_call = ARENA_NEW(&scratch, t->calls.n + 1, double);
	uint8_t *launched = ARENA_NEW(&scratch, t->calls.n + 1, uint8_t);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE) {
			by_call[t->ops.launch[i]] += (double)(t->ops.end[i] - t->ops.start[i]);
			launched[t->ops.launch[i]] = 1;
		}
	size_t n = 0;
	for (size_t c = 0; c < t->calls.n; c++)
		n += launched[c];
	int64_t *start = ARENA_NEW(arena, n, int64_t);
	double *time = ARENA_NEW(arena, n, double);
	uint32_t *process = ARENA_NEW(&scratch, n, uint32_t);
	n = 0;
	for (size_t c = 0; c < t->calls.n; c++)
		if (launched[c]) {
			start[n] = t->calls.start[c];
			time[n] = by_call[c];
			process[n++] = t->threads[t->calls.thread[c]].process;
		}
	for (size_t i = 0; i < n; i++)
		by_process[process[i]].n++;
	struct order order = {.n = n, .group = process, .n_groups = t->n_processes, .start = start};
	uint32_t *rows = order_rows(&order, &scratch);
	if (rows) {
		void *room = ARENA_NEW(&scratch, n, uint64_t);
		order_column(start, sizeof *start, n, rows, room);
		order_column(time, sizeof *time, n, rows, room);
	}
	for (uint32_t p = 0; p < t->n_processes; p++) {
		by_process[p].start = start;
		by_process[p].time = time;
		for (size_t i = 1; i < by_process[p].n; i++)
			time[i] += time[i - 1];
		start += by_process[p].n;
		time += by_process[p].n;
	}
	arena_release(&scratch);
}

/* Index of the first launch that starts at or after `t`. */
static size_t launches_from(const struct launches *l, int64_t t)
{
	size_t i = 0;
	SEARCH(i, l->n, l->start[i] < t);
	return i;
}

/* What is launched before the i-th launch. */
static double time_before(const struct launches *l, size_t i)
{
	return i ? l->time[i - 1] : 0;
}

/* Ranges grouped by (thread, name, domain). */
struct groups {
	struct keymap names; /* by name << 32 | domain */
	struct keymap keys;  /* by thread << 32 | index in `names` */
	uint32_t *of;        /* by range: its group, or TRACE_NONE */
	size_t *first;       /* by group: its ranges are order[first[g] .. first[g + 1]) */
	uint32_t *order;
};

/* `few`: names that occur less often than a step has to are left out. */
static void group_ranges(const struct trace *t, const struct fold *fold, bool few, struct arena *arena,
                         struct groups *out)
{
	const struct trace_ranges *r = &t->ranges;
	uint32_t *instances = ARENA_NEW(arena, t->names->n, uint32_t);
	keymap_init(&out->names, arena);
	keymap_init(&out->keys, arena);
	out->of = ARENA_NEW(arena, r->n, uint32_t);
	for (size_t i = 0; i < r->n; i++)
		instances[fold->of[r->name[i]]]++;
	for (size_t i = 0; i < r->n; i++) {
		uint32_t name = fold->of[r->name[i]];
		uint64_t thread = r->thread[i];
		out->of[i] = TRACE_NONE;
		if (few || instances[name] >= MIN_INSTANCES)
			out->of[i] =
				keymap_add(&out->keys,
			                   thread << 32 | keymap_add(&out->names, (uint64_t)name << 32 | r->domain[i]));
	}
	size_t *first = ARENA_NEW(arena, (size_t)out->keys.n + 2, size_t);
	for (size_t i = 0; i < r->n; i++)
		if (out->of[i] != TRACE_NONE)
			first[out->of[i] + 2]++;
	for (size_t g = 2; g < (size_t)out->keys.n + 2; g++)
		first[g] += first[g - 1];
	out->order = ARENA_NEW(arena, first[out->keys.n + 1], uint32_t);
	for (size_t i = 0; i < r->n; i++) /* ranges of a thread are in order of their start */
		if (out->of[i] != TRACE_NONE)
			out->order[first[out->of[i] + 1]++] = (uint32_t)i;
	out->first = first;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->domain < y->domain ? -1 : x->domain > y->domain;
}

/* The groups in order of thread, name and domain; nested instances of one name count once, by the outermost. A group
 * whose instances overlap in part is no step and left out; so is one with too few instances, unless it is asked for. */
static struct candidate *collect_candidates(const struct trace *t, const struct fold *fold, bool few,
                                            struct arena *arena, uint32_t **order_out, size_t *n_out)
{
	const struct trace_ranges *r = &t->ranges;
	struct groups groups;
	group_ranges(t, fold, few, arena, &groups);
	struct candidate *list = NULL;
	size_t n = 0, room = 0;
	for (uint32_t g = 0; g < groups.keys.n; g++) {
		uint64_t name = groups.names.keys[(uint32_t)groups.keys.keys[g]];
		struct candidate c = {(uint32_t)(groups.keys.keys[g] >> 32),
		                      (uint32_t)(name >> 32),
		                      (uint32_t)name,
		                      groups.first[g],
		                      0,
		                      0};
		int64_t end = INT64_MIN;
		bool disjoint = true;
		for (size_t k = groups.first[g]; k < groups.first[g + 1]; k++) {
			uint32_t range = groups.order[k];
			if (r->start[range] < end) {
				disjoint = disjoint && r->end[range] <= end;
				continue;
			}
			end = r->end[range];
			c.total += end - r->start[range];
			groups.order[c.first + c.n++] = range;
		}
		if (!disjoint || (!few && c.n < MIN_INSTANCES))
			continue;
		LIST_GROW(arena, list, n, room);
		list[n++] = c;
	}
	if (n)
		qsort(list, n, sizeof *list, compare_candidates);
	*order_out = groups.order;
	*n_out = n;
	return list;
}

static bool is_step(const struct trace *t, const struct candidate *c, const uint32_t *order,
                    const struct launches *launches)
{
	if (c->n < MIN_INSTANCES)
		return false;
	const struct trace_ranges *r = &t->ranges;
	const struct launches *l = &launches[t->threads[c->thread].process];
	size_t launching = 0;
	double inside = 0;
	for (size_t i = 0; i < c->n; i++) {
		uint32_t range = order[c->first + i];
		size_t a = launches_from(l, r->start[range]), b = launches_from(l, r->end[range]);
		launching += b > a;
		inside += time_before(l, b) - time_before(l, a);
	}
	uint32_t first = order[c->first], last = order[c->first + c->n - 1];
	double all = time_before(l, launches_from(l, r->end[last])) - time_before(l, launches_from(l, r->start[first]));
	return 5 * launching >= 4 * c->n && all > 0 && 10 * inside >= 7 * all;
}

/* --step NAME: the normalised name, the same without its mask, or a name as it stands in the profile. */
static bool is_wanted(const struct trace *t, const struct candidate *c, const uint32_t *order, const char *wanted)
{
	const char *name = names_text(t->names, c->name);
	size_t n = strlen(wanted);
	if (strcmp(name, wanted) == 0)
		return true;
	if (strncmp(name, wanted, n) == 0 && (strcmp(name + n, "#") == 0 || strcmp(name + n, "_#") == 0))
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(names_text(t->names, t->ranges.name[order[c->first + i]]), wanted) == 0)
			return true;
	return false;
}

static int no_such_step(const struct trace *t, const struct candidate *list, size_t n, const char *wanted,
                        struct err *err)
{
	struct buf have = {0};
	for (size_t i = 0, shown = 0; i < n && shown < 8; i++) {
		bool seen = false;
		for (size_t j = 0; j < i && !seen; j++)
			seen = list[j].name == list[i].name;
		if (!seen)
			buf_format(&have, "%s'%.60s'", shown++ ? ", " : "", names_text(t->names, list[i].name));
	}
	err_set(err, "--step %s: no NVTX range of this name in the profile; %s%s", wanted,
	        have.n ? "it has " : "it has no NVTX ranges at all", have.n ? have.data : "");
	buf_release(&have);
	return -1;
}

static int launches_nothing(const struct trace *t, const struct steps *s, struct err *err)
{
	return err_set(
		err,
		"--step: no two instances of '%.60s' launch GPU work, so their ends on the GPU cannot be told; name "
		"the range that encloses the work of a whole step",
		names_text(t->names, s->name));
}

static void add_member(const struct trace *t, const struct candidate *c, const uint32_t *order, struct arena *arena,
                       struct steps *out)
{
	struct step_member *m = &out->members[out->n_members++];
	out->member_of[t->threads[c->thread].process] = out->n_members;
	*m = (struct step_member){.process = t->threads[c->thread].process, .thread = c->thread, .n = (uint32_t)c->n};
	m->range = ARENA_NEW(arena, c->n, uint32_t);
	m->start = ARENA_NEW(arena, c->n, int64_t);
	m->end = ARENA_NEW(arena, c->n, int64_t);
	for (size_t i = 0; i < c->n; i++) {
		m->range[i] = order[c->first + i];
		m->start[i] = t->ranges.start[m->range[i]];
		m->end[i] = t->ranges.end[m->range[i]];
	}
}

uint32_t steps_instance_at(const struct step_member *m, int64_t t)
{
	uint32_t next = 0;
	SEARCH(next, m->n, m->start[next] <= t);
	return next && t < m->end[next - 1] ? next - 1 : TRACE_NONE;
}

const struct step_member *steps_member(const struct steps *steps, uint32_t process)
{
	uint32_t member = steps->member_of ? steps->member_of[process] : 0;
	return member ? &steps->members[member - 1] : NULL;
}

/* Ends of the steps: the running maximum of their ops' ends. Instances that do not advance it merge into the next. */
static void find_ends(const struct trace *t, struct arena *arena, struct steps *s)
{
	s->n_instances = s->members[0].n;
	for (uint32_t m = 1; m < s->n_members; m++) {
		s->uneven = s->uneven || s->members[m].n != s->n_instances;
		if (s->members[m].n < s->n_instances)
			s->n_instances = s->members[m].n;
	}
	s->op_step = ARENA_NEW(arena, t->ops.n, uint32_t);
	s->of_instance = ARENA_NEW(arena, s->n_instances, uint32_t);
	s->first_instance = ARENA_NEW(arena, s->n_instances, uint32_t);
	s->end = ARENA_NEW(arena, s->n_instances, int64_t);
	int64_t *end = ARENA_NEW(arena, s->n_instances, int64_t);
	for (uint32_t k = 0; k < s->n_instances; k++)
		end[k] = INT64_MIN;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		const struct step_member *m = steps_member(s, t->devices[d].process);
		uint32_t first = t->devices[d].first_op, last = first + t->devices[d].n_ops;
		uint32_t before = 0; /* the instance of an earlier op, most often this one's too */
		for (uint32_t i = first; i < last; i++) {
			uint32_t k = TRACE_NONE;
			if (m && t->ops.launch[i] != TRACE_NONE) {
				int64_t launch = t->calls.start[t->ops.launch[i]];
				bool same = m->start[before] <= launch && launch < m->end[before];
				k = same ? before : steps_instance_at(m, launch);
			}
			if (k >= s->n_instances)
				k = TRACE_NONE;
			s->op_step[i] = k;
			if (k == TRACE_NONE)
				continue;
			before = k;
			if (t->ops.end[i] > end[k])
				end[k] = t->ops.end[i];
		}
	}
	int64_t latest = INT64_MIN;
	uint32_t first = 0;
	for (uint32_t k = 0; k < s->n_instances; k++) {
		s->of_instance[k] = s->n;
		if (end[k] <= latest)
			continue;
		s->first_instance[s->n] = first;
		s->end[s->n++] = latest = end[k];
		first = k + 1;
	}
	for (uint32_t k = first; k < s->n_instances; k++)
		s->of_instance[k] = TRACE_NONE;
	s->last_instance = first ? first - 1 : 0;
	for (size_t i = 0; i < t->ops.n; i++)
		if (s->op_step[i] != TRACE_NONE)
			s->op_step[i] = s->of_instance[s->op_step[i]];
}

/* A range named by --step that is there once: the run's span is from its start to its end, on the host and the GPU. */
static void find_span(const struct trace *t, const struct step_member *m, struct steps *s)
{
	s->span_named = true;
	s->span_start = m->start[0];
	s->span_end = m->end[0];
	for (size_t i = 0; i < t->ops.n; i++)
		if (op_process(t, i) == m->process && t->ops.launch[i] != TRACE_NONE) {
			int64_t launch = t->calls.start[t->ops.launch[i]];
			if (launch >= m->start[0] && launch < m->end[0] && t->ops.end[i] > s->span_end)
				s->span_end = t->ops.end[i];
		}
}

int steps_find(const struct trace *t, const struct fold *fold, const char *wanted, struct arena *arena,
               struct steps *out, struct err *err)
{
	struct arena scratch = {0};
	uint32_t *order;
	size_t n;
	int result = 0;
	*out = (struct steps){0};
	struct launches *launches = ARENA_NEW(&scratch, t->n_processes, struct launches);
	struct candidate *list = collect_candidates(t, fold, wanted, &scratch, &order, &n);
	collect_launches(t, &scratch, launches);

	/* the name that has the longest total in one thread; then, of every process, its best thread with that name */
	bool *fits = ARENA_NEW(&scratch, n + 1, bool);
	const struct candidate *winner = NULL;
	for (size_t i = 0; i < n; i++) {
		fits[i] = wanted ? is_wanted(t, &list[i], order, wanted) : is_step(t, &list[i], order, launches);
		if (fits[i] && (!winner || list[i].total > winner->total))
			winner = &list[i];
	}
	if (!winner) {
		if (wanted)
			result = no_such_step(t, list, n, wanted, err);
		goto done;
	}
	out->name = winner->name;
	out->domain = winner->domain;
	out->members = ARENA_NEW(arena, t->n_processes, struct step_member);
	out->member_of = ARENA_NEW(arena, t->n_processes, uint32_t);
	const struct candidate **best = ARENA_NEW(&scratch, t->n_processes, const struct candidate *);
	for (size_t i = 0; i < n; i++) {
		uint32_t p = t->threads[list[i].thread].process;
		if (fits[i] && list[i].name == winner->name && list[i].domain == winner->domain &&
		    (!best[p] || list[i].total > best[p]->total))
			best[p] = &list[i];
	}
	for (uint32_t p = 0; p < t->n_processes; p++)
		if (best[p])
			add_member(t, best[p], order, arena, out);
	if (winner->n == 1) {
		find_span(t, steps_member(out, t->threads[winner->thread].process), out);
		goto done;
	}
	find_ends(t, arena, out);
	out->found = out->n >= 2;
	if (wanted && !out->found)
		result = launches_nothing(t, out, err);
done:
	arena_release(&scratch);
	return result;
}
