#include "analyse/steps.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_INSTANCES = 5 };

/* GPU time launched by one process, in order of the launching calls: time[i] is what launches before the i-th cost. */
struct launches {
	int64_t *start;
	double *time; /* a sum of lengths has no bound, where many ops run side by side */
	size_t n;
};

struct launch {
	int64_t start;
	double time;
};

/* A (thread, normalised name, domain) with its instances: ranges order[first .. first + n). */
struct candidate {
	uint32_t thread, name, domain;
	size_t first, n;
	int64_t total;
};

struct key {
	uint32_t thread, name, domain, range;
};

static int compare_launch(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return x->range < y->range ? -1 : 1; /* ranges of a thread are in order of their start */
}

static void collect_launches(const struct trace *t, struct arena *arena, struct launches *by_process)
{
	double *time = ARENA_NEW(arena, t->calls.n + 1, double);
	bool *launched = ARENA_NEW(arena, t->calls.n + 1, bool);
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.launch[i] != TRACE_NONE) {
			time[t->ops.launch[i]] += (double)(t->ops.end[i] - t->ops.start[i]);
			launched[t->ops.launch[i]] = true;
		}
	size_t *n = ARENA_NEW(arena, t->n_processes, size_t);
	for (size_t c = 0; c < t->calls.n; c++)
		n[t->threads[t->calls.thread[c]].process] += launched[c];
	for (uint32_t p = 0; p < t->n_processes; p++) {
		struct launch *list = ARENA_NEW(arena, n[p], struct launch);
		struct launches *out = &by_process[p];
		bool sorted = true;
		for (uint32_t thread = 0; thread < t->n_threads; thread++) {
			if (t->threads[thread].process != p)
				continue;
			for (uint32_t c = t->first_call[thread]; c < t->first_call[thread + 1]; c++) {
				if (!launched[c])
					continue;
				list[out->n] = (struct launch){t->calls.start[c], time[c]};
				if (out->n && list[out->n - 1].start > list[out->n].start)
					sorted = false;
				out->n++;
			}
		}
		if (!sorted)
			qsort(list, out->n, sizeof *list, compare_launch);
		out->start = ARENA_NEW(arena, out->n, int64_t);
		out->time = ARENA_NEW(arena, out->n + 1, double);
		for (size_t i = 0; i < out->n; i++) {
			out->start[i] = list[i].start;
			out->time[i + 1] = out->time[i] + list[i].time;
		}
	}
}

/* Index of the first launch that starts at or after `t`. */
static size_t launches_from(const struct launches *l, int64_t t)
{
	size_t low = 0, high = l->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (l->start[middle] < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* All (thread, name, domain) groups; nested instances of one name count once, by the outermost. A group whose instances
 * overlap in part is no step and left out. */
static struct candidate *collect_candidates(const struct trace *t, const struct fold *fold, struct arena *arena,
                                            struct key **keys_out, size_t *n_out)
{
	const struct trace_ranges *r = &t->ranges;
	struct key *keys = ARENA_NEW(arena, r->n + 1, struct key);
	for (size_t i = 0; i < r->n; i++)
		keys[i] = (struct key){r->thread[i], fold->of[r->name[i]], r->domain[i], (uint32_t)i};
	if (r->n)
		qsort(keys, r->n, sizeof *keys, compare_key);
	struct candidate *list = NULL;
	size_t n = 0, room = 0;
	for (size_t i = 0, j; i < r->n; i = j) {
		struct candidate c = {keys[i].thread, keys[i].name, keys[i].domain, i, 0, 0};
		int64_t end = INT64_MIN;
		bool disjoint = true;
		for (j = i;
		     j < r->n && keys[j].thread == c.thread && keys[j].name == c.name && keys[j].domain == c.domain;
		     j++) {
			uint32_t range = keys[j].range;
			if (r->start[range] < end) {
				disjoint = disjoint && r->end[range] <= end;
				continue;
			}
			end = r->end[range];
			c.total += end - r->start[range];
			keys[c.first + c.n++].range = range;
		}
		if (!disjoint)
			continue;
		if (n == room) {
			size_t more = room ? 2 * room : 64;
			list = arena_grow(arena, list, room, more, sizeof *list);
			room = more;
		}
		list[n++] = c;
	}
	*keys_out = keys;
	*n_out = n;
	return list;
}

static bool is_step(const struct trace *t, const struct candidate *c, const struct key *keys,
                    const struct launches *launches)
{
	if (c->n < MIN_INSTANCES)
		return false;
	const struct trace_ranges *r = &t->ranges;
	const struct launches *l = &launches[t->threads[c->thread].process];
	size_t launching = 0;
	double inside = 0;
	for (size_t i = 0; i < c->n; i++) {
		uint32_t range = keys[c->first + i].range;
		size_t a = launches_from(l, r->start[range]), b = launches_from(l, r->end[range]);
		launching += b > a;
		inside += l->time[b] - l->time[a];
	}
	uint32_t first = keys[c->first].range, last = keys[c->first + c->n - 1].range;
	double all = l->time[launches_from(l, r->end[last])] - l->time[launches_from(l, r->start[first])];
	return 5 * launching >= 4 * c->n && all > 0 && 10 * inside >= 7 * all;
}

/* --step NAME: the normalised name, the same without its mask, or a name as it stands in the profile. */
static bool is_wanted(const struct trace *t, const struct candidate *c, const struct key *keys, const char *wanted)
{
	const char *name = names_text(t->names, c->name);
	size_t n = strlen(wanted);
	if (strcmp(name, wanted) == 0)
		return true;
	if (strncmp(name, wanted, n) == 0 && (strcmp(name + n, "#") == 0 || strcmp(name + n, "_#") == 0))
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(names_text(t->names, t->ranges.name[keys[c->first + i].range]), wanted) == 0)
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

static void add_member(const struct trace *t, const struct candidate *c, const struct key *keys, struct arena *arena,
                       struct steps *out)
{
	struct step_member *m = &out->members[out->n_members++];
	*m = (struct step_member){.process = t->threads[c->thread].process, .thread = c->thread, .n = (uint32_t)c->n};
	m->range = ARENA_NEW(arena, c->n, uint32_t);
	m->start = ARENA_NEW(arena, c->n, int64_t);
	m->end = ARENA_NEW(arena, c->n, int64_t);
	for (size_t i = 0; i < c->n; i++) {
		m->range[i] = keys[c->first + i].range;
		m->start[i] = t->ranges.start[m->range[i]];
		m->end[i] = t->ranges.end[m->range[i]];
	}
}

uint32_t steps_instance_at(const struct step_member *m, int64_t t)
{
	uint32_t low = 0, high = m->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (m->start[middle] <= t)
			low = middle + 1;
		else
			high = middle;
	}
	return low && t < m->end[low - 1] ? low - 1 : TRACE_NONE;
}

const struct step_member *steps_member(const struct steps *steps, uint32_t process)
{
	for (uint32_t m = 0; m < steps->n_members; m++)
		if (steps->members[m].process == process)
			return &steps->members[m];
	return NULL;
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
		for (uint32_t i = first; i < last; i++) {
			uint32_t k = TRACE_NONE;
			if (m && t->ops.launch[i] != TRACE_NONE)
				k = steps_instance_at(m, t->calls.start[t->ops.launch[i]]);
			if (k >= s->n_instances)
				k = TRACE_NONE;
			s->op_step[i] = k;
			if (k != TRACE_NONE && t->ops.end[i] > end[k])
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
	struct key *keys;
	size_t n;
	int result = 0;
	*out = (struct steps){0};
	struct launches *launches = ARENA_NEW(&scratch, t->n_processes, struct launches);
	struct candidate *list = collect_candidates(t, fold, &scratch, &keys, &n);
	collect_launches(t, &scratch, launches);

	/* the name that has the longest total in one thread; then, of every process, its best thread with that name */
	bool *fits = ARENA_NEW(&scratch, n + 1, bool);
	const struct candidate *winner = NULL;
	for (size_t i = 0; i < n; i++) {
		fits[i] = wanted ? is_wanted(t, &list[i], keys, wanted) : is_step(t, &list[i], keys, launches);
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
	for (uint32_t p = 0; p < t->n_processes; p++) {
		const struct candidate *best = NULL;
		for (size_t i = 0; i < n; i++)
			if (fits[i] && list[i].name == winner->name && list[i].domain == winner->domain &&
			    t->threads[list[i].thread].process == p && (!best || list[i].total > best->total))
				best = &list[i];
		if (best)
			add_member(t, best, keys, arena, out);
	}
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
