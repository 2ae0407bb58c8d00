#include "steps/marks.h"

#include "base/buf.h"
#include "base/keymap.h"
#include "base/sort.h"
#include "base/words.h"
#include "trace/classify.h"

#include <string.h>

enum { SHARED = 3 }; /* of the kernels of workers that do the same, one in so many is shared at least */

/* --step NAME: normalised, the same without its mask, or as it stands in the profile. */
static bool is_wanted(const struct marks_ranges *x, const struct marks_range *c, const char *wanted)
{
	const struct trace *t = x->trace;
	if (fold_means(names_text(t->names, x->pieces[c->first].name), wanted))
		return true;
	for (size_t k = c->first; k < c->first + c->n; k++)
		for (size_t i = x->pieces[k].first; i < x->pieces[k].first + x->pieces[k].n; i++)
			if (strcmp(names_text(t->names, t->ranges.name[x->order[i]]), wanted) == 0)
				return true;
	return false;
}

/* Phases that gapline itself adds beside that (gen/inject/python, read/kineto_phases.c). */
static const char added_phases[] = "data_load forward backward optimizer operators";

/* What gapline added: its step reaches from one step's end to the next's, so it is the longest, and its phases are none
 * where its step is there. */
static enum mark_grade grade_name(const char *name, bool added, enum mark_grade grade)
{
	if (!strcmp(name, STEP_ADDED))
		return GRADE_ADDED;
	return added && words_have(added_phases, name, strlen(name), strncmp) ? GRADE_PHASE : grade;
}

/* Whether a candidate goes before another one. */
static bool is_better(const struct names *names, const struct marks_candidate *c, const struct marks_candidate *than,
                      bool added)
{
	enum mark_grade a = grade_name(names_text(names, c->name), added, c->grade);
	enum mark_grade b = grade_name(names_text(names, than->name), added, than->grade);
	if (a != b)
		return a > b;
	return c->overlap != than->overlap ? than->overlap : c->total > than->total;
}

/* Appends the instances of a candidate; `written`: the name of the last. */
static void take_instances(const struct marks_ranges *x, const struct marks_range *c, struct instance *list,
                           uint32_t *n, uint32_t *written)
{
	const struct trace_ranges *r = &x->trace->ranges;
	for (size_t k = c->first; k < c->first + c->n; k++)
		for (size_t j = x->pieces[k].first; j < x->pieces[k].first + x->pieces[k].n; j++) {
			uint32_t range = x->order[j];
			*written = r->name[range];
			list[(*n)++] = (struct instance){.process = x->pieces[k].process,
			                                 .thread = x->pieces[k].thread,
			                                 .start = r->start[range],
			                                 .end = r->end[range],
			                                 .cut = r->clipped[range]};
		}
}

/* Which candidates of a part are a step by what is asked. Returns the GPU time that they have to be half of. */
static struct marks_time judge(struct marks_ranges *x, const struct marks_asked *asked)
{
	if (asked->wanted) {
		for (size_t i = 0; i < x->n; i++)
			x->list[i].fits = is_wanted(x, &x->list[i], asked->wanted);
		return (struct marks_time){0};
	}
	const struct marks_time whole = marks_ranges_judge(x, asked->like);
	if (!asked->like)
		return whole;
	for (size_t i = 0; i < x->n; i++) {
		x->list[i].fits = x->list[i].fits && marks_ranges_key(x, &x->list[i]) ==
		                                             ((uint64_t)asked->like->name << 32 | asked->like->domain);
		x->list[i].grade = GRADE_PLAIN;
	}
	return (struct marks_time){0};
}

static uint32_t gpu_of(const struct trace *t, uint32_t process)
{
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].process == process)
			return t->devices[d].gpu;
	return TRACE_NONE;
}

/* Whether a candidate is of a process that shares the GPU of another's of the same name, has another number of them,
 * does less, and mostly by other kernels: that is another program's loop. */
static bool is_another_loop(const struct marks_ranges *x, const struct marks_range *c, const struct marks_range *than)
{
	const struct trace *t = x->trace;
	const uint32_t process[2] = {x->pieces[c->first].process, x->pieces[than->first].process};
	double time[2] = {0}, shared = 0;
	if (!than->fits || c->instances == than->instances || marks_ranges_key(x, c) != marks_ranges_key(x, than) ||
	    gpu_of(t, process[0]) != gpu_of(t, process[1]) || gpu_of(t, process[0]) == TRACE_NONE)
		return false;
	ARENA_LOCAL(scratch);
	bool *has = ARENA_NEW(&scratch, t->names->n, bool);
	for (int k = 1; k >= 0; k--)
		for (size_t i = 0; i < t->ops.n; i++) {
			if (t->ops.kind[i] != OP_KERNEL || op_process(t, i) != process[k])
				continue;
			const double length = (double)(t->ops.end[i] - t->ops.start[i]);
			time[k] += length;
			shared += !k && has[t->ops.name[i]] ? length : 0;
			has[t->ops.name[i]] |= k;
		}
	return time[0] < time[1] && SHARED * shared < time[0];
}

void marks_of_part(const struct trace *t, const struct fold *fold, const struct marks_asked *asked, struct arena *arena,
                   struct marks_part *out)
{
	ARENA_LOCAL(scratch);
	struct marks_ranges x = {.trace = t, .arena = &scratch};
	*out = (struct marks_part){0};
	marks_ranges_collect(&x, fold, asked->wanted || asked->like);
	out->whole = judge(&x, asked);
	for (size_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < x.n && x.list[i].fits; k++)
			x.list[i].fits = !is_another_loop(&x, &x.list[i], &x.list[k]);
	for (size_t i = 0; i < x.n; i++) {
		out->added = out->added || !strcmp(names_text(t->names, x.pieces[x.list[i].first].name), STEP_ADDED);
		out->n += x.list[i].fits;
	}
	out->list = ARENA_NEW(arena, out->n, struct marks_candidate);
	for (size_t i = 0, n = 0; i < x.n; i++) {
		const struct marks_range *c = &x.list[i];
		if (!c->fits)
			continue;
		struct marks_candidate *to = &out->list[n++];
		*to = (struct marks_candidate){.name = x.pieces[c->first].name,
		                               .domain = x.pieces[c->first].domain,
		                               .total = c->total,
		                               .stretch = c->stretch,
		                               .overlap = c->overlap,
		                               .class = c->class,
		                               .of_name = c->grade,
		                               .instance = ARENA_NEW(arena, c->instances, struct instance)};
		take_instances(&x, c, to->instance, &to->n, &to->written);
	}
}

static uint64_t candidate_key(const struct marks_candidate *c)
{
	return (uint64_t)c->name << 32 | c->domain;
}

static void add(struct marks_time *to, struct marks_time more)
{
	to->all += more.all;
	to->work += more.work;
}

/* Of the GPU time, with communication or without: a rank waits for others in its first one. */
static bool is_half(struct marks_time stretch, struct marks_time whole)
{
	return 2 * stretch.all >= whole.all || (stretch.work > 0 && 2 * stretch.work >= whole.work);
}

/* Which of a part's ranges are half of the GPU time. Whether they are others than before. */
static bool find_halves(struct marks_part *part, const struct keymap *keys, const struct marks_time *stretch,
                        struct marks_time whole)
{
	bool others = false;
	for (size_t i = 0; i < part->n; i++) {
		struct marks_candidate *c = &part->list[i];
		bool half = c->class == MARK_PROFILER || is_half(stretch[keymap_find(keys, candidate_key(c))], whole);
		others = others || half != c->half;
		c->half = half;
	}
	return others;
}

static void forget(struct marks_part *part)
{
	for (size_t i = 0; i < part->n; i++)
		part->list[i].instance = NULL;
	part->forgot = true;
}

struct marks_part marks_forget(const struct marks_part *part, struct arena *arena)
{
	struct marks_part kept = *part;
	kept.list = ARENA_NEW(arena, part->n, struct marks_candidate);
	if (part->n)
		memcpy(kept.list, part->list, part->n * sizeof *part->list);
	forget(&kept);
	return kept;
}

/* Judges a part's ranges by what they hold of each other. */
static void judge_again(struct marks_part *part, size_t i, marks_again *again, void *context)
{
	ARENA_LOCAL(scratch);
	bool forgot = part->forgot;
	if (forgot)
		again(context, i, part, &scratch);
	for (size_t k = 0; k < part->n; k++) {
		part->list[k].grade = part->list[k].of_name;
		part->list[k].fits = part->list[k].half;
	}
	marks_nest(part);
	if (forgot)
		forget(part);
}

const struct marks_candidate *marks_choose(struct marks_part *parts, size_t n, const struct names *names,
                                           marks_again *again, void *context)
{
	const struct marks_candidate *winner = NULL;
	ARENA_LOCAL(scratch);
	struct keymap keys;
	struct marks_time whole = {0}, *stretch = NULL; /* over all parts; by name */
	bool added = false;
	keymap_init(&keys, &scratch);
	for (size_t p = 0; p < n; p++) {
		add(&whole, parts[p].whole);
		added = added || parts[p].added;
		for (size_t i = 0; i < parts[p].n; i++) {
			uint32_t at = KEYMAP_ADD(&scratch, &keys, candidate_key(&parts[p].list[i]), stretch);
			add(&stretch[at], parts[p].list[i].stretch);
		}
	}
	for (size_t p = 0; p < n; p++) {
		if (find_halves(&parts[p], &keys, stretch, whole) || !parts[p].forgot)
			judge_again(&parts[p], p, again, context);
		for (size_t i = 0; i < parts[p].n; i++)
			if (parts[p].list[i].fits && (!winner || is_better(names, &parts[p].list[i], winner, added)))
				winner = &parts[p].list[i];
	}
	return winner;
}

/* ---- a name that no range has ---- */

struct marks_offer {
	uint32_t name, domain;
	bool fits, profiler;
	size_t instances, at;
	int64_t total;
	struct marks_time stretch;
};

void marks_offer(const struct trace *t, const struct fold *fold, struct arena *arena, struct marks_offers *to)
{
	ARENA_LOCAL(scratch);
	struct marks_ranges x = {.trace = t, .arena = &scratch};
	marks_ranges_collect(&x, fold, true);
	add(&to->whole, marks_ranges_judge(&x, false));
	to->list = arena_grow(arena, to->list, to->n, to->n + x.n, sizeof *to->list);
	for (size_t i = 0; i < x.n; i++, to->n++)
		to->list[to->n] = (struct marks_offer){.name = x.pieces[x.list[i].first].name,
		                                       .domain = x.pieces[x.list[i].first].domain,
		                                       .fits = x.list[i].fits,
		                                       .profiler = x.list[i].class == MARK_PROFILER,
		                                       .stretch = x.list[i].stretch,
		                                       .instances = x.list[i].instances,
		                                       .total = x.list[i].total,
		                                       .at = to->n};
}

/* Of those that fit, the ones that are half of the GPU time together with those of the same name. */
static void leave_halves(struct marks_offers *offers)
{
	ARENA_LOCAL(scratch);
	struct keymap keys;
	struct marks_time *stretch = ARENA_NEW(&scratch, offers->n, struct marks_time);
	keymap_init(&keys, &scratch);
	for (size_t i = 0; i < offers->n; i++)
		if (offers->list[i].fits)
			add(&stretch[keymap_add(&keys, (uint64_t)offers->list[i].name << 32 | offers->list[i].domain)],
			    offers->list[i].stretch);
	for (size_t i = 0; i < offers->n; i++) {
		struct marks_offer *o = &offers->list[i];
		struct marks_time all = stretch[keymap_add(&keys, (uint64_t)o->name << 32 | o->domain)];
		o->fits = o->fits && (o->profiler || is_half(all, offers->whole));
	}
}

/* What fits as a step, what the program named in no library's domain, what is repeated, what takes longest. */
static int by_likelihood(const void *a, const void *b)
{
	const struct marks_offer *c = a, *d = b;
	bool library = c->domain, other = d->domain;
	bool repeats = c->instances >= MARKS_MIN_INSTANCES, more = d->instances >= MARKS_MIN_INSTANCES;
	return 4 * (d->fits - c->fits) + 2 * (library - other) + (more - repeats) ?: DESCENDING(c->total, d->total)
		?: ASCENDING(c->at, d->at);
}

int marks_no_such(const struct trace *t, struct marks_offers *offers, const char *option, const char *wanted,
                  struct err *err)
{
	BUF_LOCAL(have);
	leave_halves(offers);
	SORT(offers->list, offers->n, by_likelihood);
	for (size_t i = 0, shown = 0; i < offers->n && shown < 8; i++) {
		uint32_t name = offers->list[i].name;
		bool seen = false;
		for (size_t j = 0; j < i && !seen; j++)
			seen = offers->list[j].name == name;
		if (!seen)
			buf_format(&have, "%s'%.60s'", shown++ ? ", " : "", names_text(t->names, name));
	}
	const char *kind = t->source.kind == SOURCE_KINETO ? "annotation" : "NVTX range";
	if (have.n)
		err_set(err, "%s %s: no %s of this name in the profile; it has %s", option, wanted, kind, have.data);
	else
		err_set(err, "%s %s: no %s of this name in the profile; it has no %ss at all", option, wanted, kind,
		        kind);
	return -1;
}
