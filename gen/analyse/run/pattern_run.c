#include "analyse/run/pattern_run.h"

#include "analyse/run/pattern_names.h"
#include "analyse/run/pattern_ops.h"
#include "analyse/run/trials.h"
#include "base/keymap.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_LOOP 0.02 /* of a process's GPU time: loops below are left out */

/* The loops of one process, and the sequence that they were found in. */
struct part {
	struct pattern_ops ops;
	struct pattern pattern;
	double time, in_loops; /* GPU time: of the sequence, of its loops */
	double tried;          /* of what was left out of it, an autotuner's trials */
};

/* Loops of copies alone (a model's weights on their way in), and those that are next to nothing, are not worth a row.
 */
static void drop_small(struct part *part)
{
	const struct pattern_sequence *s = &part->ops.sequence;
	struct pattern *p = &part->pattern;
	bool computes[PATTERN_LOOPS + 1] = {0};
	uint8_t place[PATTERN_LOOPS + 1] = {0};
	uint32_t kept = 0;
	for (size_t i = 0; i < s->n; i++)
		computes[p->loop[i]] = computes[p->loop[i]] || s->flags[i] & PATTERN_WORK;
	for (uint32_t l = 0; l < p->n_loops; l++)
		if (p->loops[l].time >= part->time * (computes[l + 1] ? SMALL_LOOP : 0.5)) {
			p->loops[kept++] = p->loops[l];
			place[l + 1] = (uint8_t)kept;
		}
	p->n_loops = kept;
	for (size_t i = 0; i < s->n; i++)
		p->loop[i] = place[p->loop[i]];
}

static void look(const struct trace *t, uint32_t process, enum pattern_order order, bool shortest,
                 const struct spans *without, struct arena *arena, struct part *out)
{
	*out = (struct part){0};
	pattern_ops_collect(t, process, order, without, arena, &out->ops);
	pattern_find(&out->ops.sequence, shortest, arena, &out->pattern);
	for (size_t i = 0; i < out->ops.sequence.n; i++)
		out->time += (double)out->ops.sequence.length[i];
	drop_small(out);
	for (uint32_t l = 0; l < out->pattern.n_loops; l++)
		out->in_loops += out->pattern.loops[l].time;
}

/* In order of launch where the calls are in the profile: what a thread asks for comes in the same order every time,
 * what streams do side by side does not. Workers of a pool launch in turns; then streams have the order. */
static void find_in_order(const struct trace *t, uint32_t process, bool shortest, const struct spans *without,
                          struct arena *arena, struct part *out)
{
	*out = (struct part){0};
	if (pattern_launched_share(t, process) >= PATTERN_EXPLAINED) {
		look(t, process, PATTERN_BY_LAUNCH, shortest, without, arena, out);
		if (out->in_loops >= 0.8 * out->time)
			return;
	}
	struct arena own = {0};
	struct part other;
	look(t, process, PATTERN_BY_START, shortest, without, &own, &other);
	if (other.in_loops > out->in_loops * 1.1) {
		arena_adopt(arena, &own);
		*out = other;
	} else {
		arena_release(&own);
	}
}

static int compare_makeup(const void *a, const void *b)
{
	const struct run_loop_op *x = a, *y = b;
	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Adds the ops of a process's loop to what the loop is made of. */
static void add_makeup(const struct part *part, uint32_t number, struct arena *arena, struct run_loop *loop)
{
	const struct pattern_sequence *s = &part->ops.sequence;
	struct arena scratch = {0};
	struct keymap names;
	keymap_init(&names, &scratch);
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		keymap_add(&names, loop->makeup[i].name);
	uint32_t *of_token = ARENA_NEW(&scratch, s->n_tokens, uint32_t);
	for (size_t i = 0; i < s->n; i++)
		if (part->pattern.loop[i] == number + 1)
			of_token[s->token[i]] = keymap_add(&names, part->ops.name[s->token[i]]) + 1;
	loop->makeup = arena_grow(arena, loop->makeup, loop->n_makeup, names.n, sizeof *loop->makeup);
	loop->n_makeup = names.n;
	for (uint32_t i = 0; i < names.n; i++)
		loop->makeup[i].name = (uint32_t)names.keys[i];
	for (size_t i = 0; i < s->n; i++)
		if (part->pattern.loop[i] == number + 1) {
			loop->makeup[of_token[s->token[i]] - 1].n += 1. / part->pattern.loops[number].n;
			loop->makeup[of_token[s->token[i]] - 1].time += (double)s->length[i];
		}
	arena_release(&scratch);
}

double run_loop_alike(const struct run_loop *a, const struct run_loop *b)
{
	struct arena scratch = {0};
	struct keymap names;
	keymap_init(&names, &scratch);
	double both = 0, of_b = 0;
	for (uint32_t i = 0; i < a->n_makeup; i++)
		keymap_add(&names, a->makeup[i].name);
	uint8_t *shared = ARENA_NEW(&scratch, names.n, uint8_t);
	for (uint32_t i = 0; i < b->n_makeup; i++) {
		uint32_t at = keymap_find(&names, b->makeup[i].name);
		if (at != UINT32_MAX) {
			shared[at] = 1;
			of_b += b->makeup[i].time;
		}
	}
	for (uint32_t i = 0; i < a->n_makeup; i++)
		both += shared[i] ? a->makeup[i].time : 0;
	arena_release(&scratch);
	return (a->time > 0 ? both / a->time : 0) / 2 + (b->time > 0 ? of_b / b->time : 0) / 2;
}

/* Kernels with which XLA's autotuner surrounds those that it tries (its stream_executor and gpu/autotuning sources):
 * it runs before the program's own loop, and often for longer. */
bool pattern_run_searches(const struct trace *t, uint32_t name)
{
	static const char *const OF_SEARCH[] = {"RedzoneAllocatorKernel", "xla_fp_comparison", "RepeatBufferKernel"};
	for (size_t k = 0; k < sizeof OF_SEARCH / sizeof *OF_SEARCH; k++)
		if (strstr(names_text(t->names, name), OF_SEARCH[k]))
			return true;
	return false;
}

static bool is_search(const struct trace *t, const struct run_loop *loop)
{
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		if (pattern_run_searches(t, loop->makeup[i].name))
			return true;
	return false;
}

/* GPU time of what a process tried out, up to the last kernel of a search, loops left out. */
static double searched_time(const struct trace *t, const struct part *part)
{
	const struct pattern_sequence *s = &part->ops.sequence;
	struct arena scratch = {0};
	bool *of_search = ARENA_NEW(&scratch, s->n_tokens + 1, bool);
	size_t end = 0;
	double time = 0;
	for (uint32_t token = 0; token < s->n_tokens; token++)
		of_search[token] = pattern_run_searches(t, part->ops.name[token]);
	for (size_t i = 0; i < s->n; i++)
		end = of_search[s->token[i]] ? i + 1 : end;
	for (size_t i = 0; i < end; i++)
		time += part->pattern.loop[i] ? 0 : (double)s->length[i];
	arena_release(&scratch);
	return time;
}

/* Whether op `i` of a sequence was launched where the process took the time of kernels. */
static bool is_timed(const struct trace *t, const struct part *part, size_t i, const struct spans *timed)
{
	uint32_t launch = t->ops.launch[part->ops.op[i]];
	int64_t until = INT64_MAX;
	return launch != TRACE_NONE && spans_hold(timed, t->calls.start[launch], &until);
}

/* Whether what was found says what the program does: most of the GPU's time repeats, and what does most of it is not
 * timed kernel by kernel. */
static bool is_told(const struct trace *t, const struct part *part, const struct spans *timed)
{
	size_t n = 0, in = 0;
	if (part->in_loops * 2 < part->time - searched_time(t, part))
		return false;
	for (size_t i = 0; i < part->ops.sequence.n; i++)
		if (part->pattern.loop[i] == 1) {
			n++;
			in += is_timed(t, part, i, timed);
		}
	return in * 10 < n * 9;
}

/* Whether what the process timed (`all` holds it, `rest` does not) are an autotuner's trials: of a few launches each,
 * before the loop that fills the rest has come far, and of kernels that this loop has, too. A program that times its
 * own steps does so to the end, and launches all of a step in between. */
static bool are_trials(const struct trace *t, const struct part *all, const struct part *rest,
                       const struct trials *trials)
{
	enum { FEW_LAUNCHES = 8, LEAST_CYCLES = 10 };
	if (!rest->pattern.n_loops || rest->in_loops * 2 < rest->time)
		return false;
	const struct pattern_loop *loop = &rest->pattern.loops[0];
	if (trials->launches > FEW_LAUNCHES || loop->ops < 2 * trials->launches || loop->n < LEAST_CYCLES)
		return false;
	struct arena scratch = {0};
	bool *in_loop = ARENA_NEW(&scratch, t->names->n, bool), shared = false;
	for (size_t i = 0; i < rest->ops.sequence.n; i++)
		if (rest->pattern.loop[i] == 1 && rest->ops.sequence.flags[i] & PATTERN_WORK)
			in_loop[t->ops.name[rest->ops.op[i]]] = true;
	double timed = 0, late = 0;
	for (size_t i = 0; i < all->ops.sequence.n; i++) {
		if (!is_timed(t, all, i, &trials->spans))
			continue;
		shared = shared || in_loop[t->ops.name[all->ops.op[i]]];
		timed += (double)all->ops.sequence.length[i];
		if (all->ops.sequence.at[i] >= loop->at[loop->n / 4 + 1])
			late += (double)all->ops.sequence.length[i];
	}
	arena_release(&scratch);
	return shared && late * 10 <= timed;
}

/* The loops of a process. Trials of an autotuner's (cuDNN's, Triton's, TensorRT's), of which each kernel's repeat, may
 * well be more than the program's own loop in a short capture: where they hide it, it is looked for without them. */
static void find_in_process(const struct trace *t, uint32_t process, bool shortest, struct arena *arena,
                            struct part *out)
{
	struct arena scratch = {0}, own = {0};
	struct trials trials;
	struct part rest;
	find_in_order(t, process, shortest, NULL, arena, out);
	trials_find(t, process, INT64_MAX, &scratch, &trials);
	if (trials.spans.n && !is_told(t, out, &trials.spans)) {
		find_in_order(t, process, shortest, &trials.spans, &own, &rest);
		if (are_trials(t, out, &rest, &trials)) {
			rest.tried = out->time - rest.time;
			arena_adopt(arena, &own);
			*out = rest;
		} else {
			arena_release(&own);
		}
	}
	arena_release(&scratch);
}

/* The stretch that a process's part of a loop is in. */
static void find_stretch(const struct trace *t, const struct part *part, uint32_t number, struct run_loop *loop)
{
	for (size_t i = 0; i < part->ops.sequence.n; i++)
		if (part->pattern.loop[i] == number + 1) {
			int64_t start = part->ops.sequence.at[i], end = t->ops.end[part->ops.op[i]];
			loop->start = start < loop->start ? start : loop->start;
			loop->end = end > loop->end ? end : loop->end;
		}
}

static void add_part(const struct trace *t, const struct part *part, struct arena *arena, struct run_loops *out)
{
	uint8_t number[PATTERN_LOOPS + 1] = {0};
	uint32_t before = out->n;
	for (uint32_t l = 0; l < part->pattern.n_loops; l++) {
		const struct pattern_loop *from = &part->pattern.loops[l];
		struct run_loop mine = {.n = from->n,
		                        .processes = 1,
		                        .differ = from->differ,
		                        .ops = from->ops,
		                        .fewest = from->fewest,
		                        .most = from->most,
		                        .explained = from->explained,
		                        .same = from->same,
		                        .time = from->time,
		                        .start = INT64_MAX,
		                        .end = INT64_MIN};
		add_makeup(part, l, arena, &mine);
		mine.search = is_search(t, &mine);
		find_stretch(t, part, l, &mine);
		/* the same loop of another process: a rank */
		uint32_t same = before;
		for (uint32_t k = 0; k < before && same == before; k++) {
			bool taken = false;
			for (uint32_t m = 0; m < l; m++)
				taken = taken || number[m + 1] == k + 1;
			if (!taken && run_loop_alike(&mine, &out->list[k]) >= 0.9 &&
			    mine.ops * (uint64_t)10 <= out->list[k].ops * (uint64_t)11 &&
			    out->list[k].ops * (uint64_t)10 <= mine.ops * (uint64_t)11)
				same = k;
		}
		if (same < before) {
			struct run_loop *loop = &out->list[same];
			loop->processes++;
			loop->n = loop->n > mine.n ? loop->n : mine.n;
			loop->differ += mine.differ;
			loop->fewest = loop->fewest < mine.fewest ? loop->fewest : mine.fewest;
			loop->most = loop->most > mine.most ? loop->most : mine.most;
			loop->explained = loop->explained < mine.explained ? loop->explained : mine.explained;
			loop->same = loop->same < mine.same ? loop->same : mine.same;
			loop->time += mine.time;
			add_makeup(part, l, arena, loop);
			find_stretch(t, part, l, loop);
			number[l + 1] = (uint8_t)(same + 1);
		} else if (out->n < UINT8_MAX - 1) {
			out->list[out->n++] = mine;
			number[l + 1] = (uint8_t)out->n;
		}
	}
	for (size_t i = 0; i < part->ops.sequence.n; i++) {
		uint32_t op = part->ops.op[i];
		out->loop[op] = number[part->pattern.loop[i]];
		out->cycle[op] = part->pattern.cycle[i];
	}
}

static int compare_loops(const void *a, const void *b)
{
	const struct run_loop *x = a, *y = b;
	if (x->search != y->search)
		return x->search ? 1 : -1;
	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_loops(const struct trace *t, struct run_loops *out)
{
	uint8_t place[UINT8_MAX + 1] = {0};
	for (uint32_t i = 0; i < out->n; i++)
		out->list[i].name = i + 1; /* until it has one */
	qsort(out->list, out->n, sizeof *out->list, compare_loops);
	for (uint32_t i = 0; i < out->n; i++)
		place[out->list[i].name] = (uint8_t)(i + 1);
	for (size_t i = 0; i < t->ops.n; i++)
		out->loop[i] = place[out->loop[i]];
}

void run_loops_name(struct run_loops *loops, const struct trace *t)
{
	for (uint32_t l = 0; l < loops->n; l++)
		loops->list[l].name = names_add_text(t->names, loops->list[l].title);
}

void run_loop_group(const struct trace *t, struct run_loops *loops, uint32_t index, uint32_t together)
{
	struct run_loop *loop = &loops->list[index];
	struct arena scratch = {0};
	uint32_t *n = ARENA_NEW(&scratch, t->n_processes, uint32_t), most = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t process = t->devices[t->ops.device[i]].process;
		if (loops->loop[i] == index + 1 && loops->cycle[i] >= n[process])
			n[process] = loops->cycle[i] + 1;
	}
	for (size_t i = 0; i < t->ops.n; i++) {
		if (loops->loop[i] != index + 1)
			continue;
		uint32_t cycle = loops->cycle[i] / together, whole = n[t->devices[t->ops.device[i]].process] / together;
		if (cycle < whole)
			loops->cycle[i] = cycle;
		else
			loops->loop[i] = 0;
		most = whole > most ? whole : most;
	}
	loop->n = most;
	loop->ops *= together;
	loop->fewest = together * (loop->fewest ? loop->fewest : 1);
	loop->most = together * (loop->most ? loop->most : 1);
	loop->differ = loop->differ < most * loop->processes ? loop->differ : most * loop->processes;
	for (uint32_t i = 0; i < loop->n_makeup; i++)
		loop->makeup[i].n *= together;
	arena_release(&scratch);
}

void pattern_run_find(const struct trace *t, bool shortest, struct arena *arena, struct run_loops *out)
{
	struct arena scratch = {0};
	*out = (struct run_loops){0};
	struct part *parts = ARENA_NEW(&scratch, t->n_processes, struct part);
	uint32_t n = 0;
	double all = 0, in_loops = 0, searched = 0, tried = 0;
	for (size_t i = 0; i < t->ops.n; i++)
		all += (double)(t->ops.end[i] - t->ops.start[i]);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		find_in_process(t, p, shortest, &scratch, &parts[p]);
		n += parts[p].pattern.n_loops;
		in_loops += parts[p].in_loops;
		searched += searched_time(t, &parts[p]) + parts[p].tried;
		tried += parts[p].tried;
	}
	if (n) {
		out->list = ARENA_NEW(arena, n, struct run_loop);
		out->loop = ARENA_NEW(arena, t->ops.n, uint8_t);
		out->cycle = ARENA_NEW(arena, t->ops.n, uint32_t);
		out->share = all > 0 ? in_loops / all : 0;
		out->tried = all > 0 ? tried / all : 0;
		for (uint32_t p = 0; p < t->n_processes; p++)
			add_part(t, &parts[p], arena, out);
		sort_loops(t, out);
		for (uint32_t l = 0; l < out->n; l++) {
			struct run_loop *loop = &out->list[l];
			qsort(loop->makeup, loop->n_makeup, sizeof *loop->makeup, compare_makeup);
			loop->share = all > 0 ? loop->time / all : 0;
		}
		pattern_names_give(t, out->list, out->n, arena);
		if (in_loops * 2 < all - searched) {
			out->n_small = out->n;
			out->n = 0;
		}
	}
	arena_release(&scratch);
}
