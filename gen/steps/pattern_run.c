#include "steps/pattern_loops.h"
#include "steps/trials.h"

#include "base/keymap.h"
#include "base/list.h"
#include "trace/classify.h"

#include <stdlib.h>
#include <string.h>

/* The loops of one process, and the sequence that they were found in. */
struct part {
	struct pattern_ops ops;
	struct pattern pattern;
	double time, in_loops; /* GPU time: of the sequence without what is moved, of its loops */
	double tried;          /* of what was left out of it, an autotuner's trials */
	double moved;          /* of loops of copies that end before the first one that computes begins */
	bool *opens;           /* by op: a stretch of its loop begins with it */
	bool most;             /* its first loop is most of what repeats */
	bool layers;           /* what most of the time repeated was no step: a model's layers */
};

/* Where a stretch of a loop begins: with the first cycle behind a few cycles of other loops, also of those that are not
 * worth a row: a validation, an evaluation. Beside a cycle that lacks something they are what stands in for that: the
 * layers of a step that ran without its graph. And whether the first loop is most of what repeats, by time and by
 * number. */
static void find_stretches(struct part *part, struct arena *arena)
{
	const struct pattern *p = &part->pattern;
	uint32_t last[RULE_LOOPS + 1], others[RULE_LOOPS + 1] = {0}; /* by 1 + loop: its last cycle; of others since */
	uint64_t cycles = 0;
	double all = 0;
	part->opens = ARENA_NEW(arena, part->ops.sequence.n, bool);
	for (uint32_t l = 1; l <= p->n_loops; l++) {
		last[l] = UINT32_MAX;
		all += p->loops[l - 1].works ? p->loops[l - 1].time : 0;
		cycles += p->loops[l - 1].works ? p->loops[l - 1].n : 0;
	}
	part->most = p->n_loops && p->loops[0].time >= RULE_MOST * all && p->loops[0].n >= RULE_HALF * (double)cycles;
	for (size_t i = 0; i < part->ops.sequence.n; i++) {
		uint32_t loop = p->loop[i];
		if (!loop)
			continue;
		if (p->cycle[i] != last[loop]) {
			const struct run_loop *of = &p->loops[loop - 1];
			uint32_t together = of->fewest > 1 ? of->fewest : 1, k = p->cycle[i];
			part->opens[i] = k && others[loop] >= RULE_FEW && !of->lacks[k] && !of->lacks[k - 1];
			last[loop] = p->cycle[i];
			for (uint32_t l = 1; l <= p->n_loops && of->works; l++)
				others[l] += together;
		}
		others[loop] = 0;
	}
}

/* Loops of copies alone before the first one that computes are a model's weights on their way in: start-up. */
static void leave_moved(struct part *part, const bool *layers)
{
	const struct pattern *p = &part->pattern;
	int64_t begin = INT64_MIN;
	for (uint32_t l = 0; l < p->n_loops; l++)
		if (p->loops[l].works && !layers[l + 1] && (begin == INT64_MIN || p->loops[l].at[0] < begin))
			begin = p->loops[l].at[0];
	for (uint32_t l = 0; l < p->n_loops; l++)
		part->moved += !p->loops[l].works && p->loops[l].at[p->loops[l].n] <= begin ? p->loops[l].time : 0;
	part->time -= part->moved;
}

/* Loops of copies alone are a model's weights on their way in, for another one computes, and those that are next to
 * nothing are not worth a row. A model's layers are no steps. */
static void drop_loops(const struct trace *t, struct part *part)
{
	const struct pattern_sequence *s = &part->ops.sequence;
	struct pattern *p = &part->pattern;
	bool layers[RULE_LOOPS + 1] = {0};
	uint8_t place[RULE_LOOPS + 1] = {0};
	uint32_t kept = 0;
	if (!p->n_loops)
		return;
	pattern_calls_inside(t, &part->ops, p, layers);
	leave_moved(part, layers);
	for (uint32_t l = 0; l < p->n_loops; l++) {
		part->layers |= layers[l + 1] && p->loops[l].time >= part->time * RULE_HALF;
		if (!layers[l + 1] && p->loops[l].works && p->loops[l].time > 0 &&
		    p->loops[l].time >= part->time * RULE_LITTLE) {
			p->loops[kept++] = p->loops[l];
			place[l + 1] = (uint8_t)kept;
		}
	}
	p->n_loops = kept;
	for (size_t i = 0; i < s->n; i++)
		p->loop[i] = place[p->loop[i]];
}

/* `out` is zeroed, or what was found before in the same arena and is not needed any more. */
static void look(const struct trace *t, uint32_t process, enum pattern_order order, const struct spans *without,
                 struct arena *arena, struct part *out)
{
	*out = (struct part){.ops = out->ops};
	pattern_ops_collect(t, process, order, without, arena, &out->ops);
	pattern_find(&out->ops.sequence, arena, &out->pattern);
	for (size_t i = 0; i < out->ops.sequence.n; i++)
		out->time += (double)out->ops.sequence.length[i];
	find_stretches(out, arena);
	drop_loops(t, out);
	for (uint32_t l = 0; l < out->pattern.n_loops; l++)
		out->in_loops += out->pattern.loops[l].time;
}

/* In order of launch where the calls are in the profile: what a thread asks for comes in the same order every time,
 * what streams do side by side does not. Workers of a pool launch in turns; then streams have the order. */
static void find_in_order(const struct trace *t, uint32_t process, const struct spans *without, struct arena *arena,
                          struct part *out)
{
	struct arena own[2] = {0};
	struct part found[2] = {0};
	if (pattern_launched_share(t, process) >= RULE_EXPLAINED)
		look(t, process, PATTERN_BY_LAUNCH, without, &own[0], &found[0]);
	bool told = found[0].layers || (found[0].time > 0 && found[0].in_loops >= RULE_MOST * found[0].time);
	bool both = found[0].pattern.n_loops > 0; /* else its columns are used again */
	found[1].ops = both ? found[1].ops : found[0].ops;
	if (!told)
		look(t, process, PATTERN_BY_START, without, &own[both], &found[1]);
	bool second = !told && found[1].in_loops * RULE_NEARLY_ALL >= found[0].in_loops;
	arena_adopt(arena, &own[second && both]);
	arena_release(&own[!(second && both)]);
	*out = found[second];
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
	ARENA_LOCAL(scratch);
	bool *of_search = ARENA_NEW(&scratch, s->n_tokens + 1, bool);
	size_t end = 0;
	double time = 0;
	for (uint32_t token = 0; token < s->n_tokens; token++)
		of_search[token] = pattern_run_searches(t, part->ops.name[token]);
	for (size_t i = 0; i < s->n; i++)
		end = of_search[s->token[i]] ? i + 1 : end;
	for (size_t i = 0; i < end; i++)
		time += part->pattern.loop[i] ? 0 : (double)s->length[i];
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
	if (part->in_loops < RULE_HALF * (part->time - searched_time(t, part)))
		return false;
	for (size_t i = 0; i < part->ops.sequence.n; i++)
		if (part->pattern.loop[i] == 1) {
			n++;
			in += is_timed(t, part, i, timed);
		}
	return (double)in < RULE_NEARLY_ALL * (double)n;
}

/* Whether what the process timed (`all` holds it, `rest` does not) are an autotuner's trials: of a few launches each,
 * before the loop that fills the rest has come far, and of kernels that this loop has, too. A program that times its
 * own steps does so to the end, and launches all of a step in between. */
static bool are_trials(const struct trace *t, const struct part *all, const struct part *rest,
                       const struct trials *trials)
{

	if (!rest->pattern.n_loops || rest->in_loops < RULE_HALF * rest->time)
		return false;
	const struct run_loop *loop = &rest->pattern.loops[0];
	if (trials->launches > RULE_TRIAL_LAUNCHES || RULE_HALF * loop->ops < trials->launches ||
	    loop->n < RULE_CYCLES_VARIED)
		return false;
	ARENA_LOCAL(scratch);
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
		if (all->ops.sequence.at[i] >= loop->at[(uint32_t)(RULE_QUARTER * loop->n) + 1])
			late += (double)all->ops.sequence.length[i];
	}
	return shared && late <= (1 - RULE_NEARLY_ALL) * timed;
}

/* The loops of a process. Trials of an autotuner's (cuDNN's, Triton's, TensorRT's), of which each kernel's repeat, may
 * well be more than the program's own loop in a short capture: where they hide it, it is looked for without them. */
static void find_in_process(const struct trace *t, uint32_t process, struct arena *arena, struct part *out)
{
	ARENA_LOCAL(scratch);
	struct arena own = {0};
	struct trials trials;
	struct part rest;
	find_in_order(t, process, NULL, arena, out);
	trials_find(t, process, INT64_MAX, &scratch, &trials);
	if (trials.spans.n && !is_told(t, out, &trials.spans)) {
		find_in_order(t, process, &trials.spans, &own, &rest);
		if (are_trials(t, out, &rest, &trials)) {
			rest.tried = out->time - rest.time;
			arena_adopt(arena, &own);
			*out = rest;
		} else {
			arena_release(&own);
		}
	}
}

/* What a process's loop is made of, when it runs, and the thread that launches most of its GPU time. */
static uint32_t describe(const struct trace *t, const struct part *part, uint32_t number, uint32_t process,
                         struct arena *arena, struct run_loop *loop)
{
	const struct pattern_sequence *s = &part->ops.sequence;
	ARENA_LOCAL(scratch);
	struct keymap names;
	keymap_init(&names, &scratch);
	uint32_t *of = ARENA_NEW(&scratch, s->n_tokens, uint32_t),
		 best = TRACE_NONE; /* by token: 1 + its name's place */
	struct run_loop_op *makeup = ARENA_NEW(&scratch, s->n_tokens, struct run_loop_op);
	double *time = ARENA_NEW(&scratch, t->n_threads, double);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t token = s->token[i], name = part->ops.name[token], launch = t->ops.launch[part->ops.op[i]];
		if (part->pattern.loop[i] != number + 1)
			continue;
		if (!of[token]) {
			of[token] = keymap_add(&names, name) + 1;
			makeup[of[token] - 1].name = name;
			makeup[of[token] - 1].comm = classify_comm(names_text(t->names, name));
		}
		makeup[of[token] - 1].n += 1. / part->pattern.loops[number].n;
		makeup[of[token] - 1].time += (double)s->length[i];
		loop->end = s->end[i] > loop->end ? s->end[i] : loop->end;
		if (launch != TRACE_NONE)
			time[t->calls.thread[launch]] += (double)s->length[i];
	}
	loop->makeup = arena_keep(arena, makeup, names.n, sizeof *makeup);
	loop->n_makeup = names.n;
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		if (t->threads[thread].process == process && (best == TRACE_NONE || time[thread] > time[best]))
			best = thread;
	return best;
}

static void add_process(const struct trace *t, const struct part *part, uint32_t process, struct arena *arena,
                        struct pattern_look *look)
{
	uint32_t n = part->pattern.n_loops;
	struct pattern_process *out = &look->process[process];
	*out = (struct pattern_process){.n = n,
	                                .list = arena_keep(arena, part->pattern.loops, n, sizeof *out->list),
	                                .launcher = ARENA_NEW(arena, n, uint32_t)};
	look->in_loops += part->in_loops;
	look->searched += searched_time(t, part) + part->tried + part->moved;
	look->tried += part->tried;
	for (uint32_t l = 0; l < n; l++) {
		struct run_loop *loop = &out->list[l];
		loop->most_of_all = l == 0 && part->most;
		loop->at = NULL;
		loop->lacks = NULL;
		loop->end = INT64_MIN;
		out->launcher[l] = describe(t, part, l, process, arena, loop);
		loop->search = is_search(t, loop);
	}
}

static void add_op(struct step_ops *to, const struct trace *t, size_t i)
{
	uint32_t launch = t->ops.launch[i];
	struct step_ops op = step_ops_none(to->device);
	op.launched = launch != TRACE_NONE;
	op.communicates = t->ops.kind[i] == OP_COMM;
	op.first_call = op.launched ? t->calls.start[launch] : op.first_call;
	op.last_call = op.launched ? t->calls.end[launch] : op.last_call;
	op.first_start = op.last_start = t->ops.start[i];
	op.end = t->ops.end[i];
	op.time = (double)(t->ops.end[i] - t->ops.start[i]);
	step_work_add_op(&op.work, t, i);
	step_ops_add(to, &op);
}

/* Cycles and pieces while there are more to come. */
struct growing {
	struct pattern_look *look;
	struct arena *arena;
	size_t cycles_room, pieces_room;
};

/* The cycles of a device, and which ops are whose. `loop` (1 + as the process counts), `cycle` and `opens` are by op.
 */
static void add_device(const struct trace *t, uint32_t d, const uint8_t *loop, const uint32_t *cycle, const bool *opens,
                       struct growing *growing)
{
	struct pattern_look *out = growing->look;
	const struct trace_device *device = &t->devices[d];
	const struct pattern_process *process = &out->process[device->process];
	ARENA_LOCAL(scratch);
	uint32_t **at = ARENA_NEW(&scratch, process->n, uint32_t *); /* by loop and cycle: 1 + an index into cycles */
	for (uint32_t l = 0; l < process->n; l++)
		at[l] = ARENA_NEW(&scratch, process->list[l].n, uint32_t);
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++)
		if (loop[i])
			at[loop[i] - 1][cycle[i]] = 1;
	for (uint32_t l = 0; l < process->n; l++)
		for (uint32_t k = 0; k < process->list[l].n; k++) {
			if (!at[l][k])
				continue;
			LIST_ADD(growing->arena, out->cycles, out->n_cycles, growing->cycles_room,
			         (struct run_cycle){l + 1, k, TRACE_NONE, false, step_ops_none(d)});
			at[l][k] = out->n_cycles;
		}
	for (uint32_t i = device->first_op; i < device->first_op + device->n_ops; i++) {
		if (!loop[i])
			continue;
		uint32_t of = at[loop[i] - 1][cycle[i]] - 1;
		add_op(&out->cycles[of].ops, t, i);
		out->cycles[of].opens |= opens[i];
		struct run_piece *last = out->n_pieces ? &out->pieces[out->n_pieces - 1] : NULL;
		if (last && last->cycle == of && last->first + last->n == i) {
			last->n++;
			continue;
		}
		LIST_ADD(growing->arena, out->pieces, out->n_pieces, growing->pieces_room,
		         (struct run_piece){i, 1, of});
	}
}

void pattern_run_look(const struct trace *t, struct arena *arena, struct pattern_look *out)
{
	ARENA_LOCAL(scratch);
	uint8_t *loop = ARENA_NEW(&scratch, t->ops.n, uint8_t);
	uint32_t *cycle = ARENA_NEW(&scratch, t->ops.n, uint32_t);
	bool *opens = ARENA_NEW(&scratch, t->ops.n, bool);
	struct growing growing = {.look = out, .arena = &scratch};
	*out = (struct pattern_look){.process = ARENA_NEW(arena, t->n_processes, struct pattern_process),
	                             .n = t->n_processes};
	for (size_t i = 0; i < t->ops.n; i++)
		out->all_time += (double)(t->ops.end[i] - t->ops.start[i]);
	for (uint32_t p = 0; p < t->n_processes; p++) {
		ARENA_LOCAL(own);
		struct part part;
		find_in_process(t, p, &own, &part);
		add_process(t, &part, p, arena, out);
		for (size_t i = 0; i < part.ops.sequence.n; i++) {
			loop[part.ops.op[i]] = part.pattern.loop[i];
			cycle[part.ops.op[i]] = part.pattern.cycle[i];
			opens[part.ops.op[i]] = part.opens[i];
		}
	}
	for (uint32_t d = 0; d < t->n_devices; d++)
		add_device(t, d, loop, cycle, opens, &growing);
	out->cycles = arena_keep(arena, out->cycles, out->n_cycles, sizeof *out->cycles);
	out->pieces = arena_keep(arena, out->pieces, out->n_pieces, sizeof *out->pieces);
}
