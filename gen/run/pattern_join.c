#include "run/choose_steps.h"
#include "steps/pattern_loops.h"

#include "base/keymap.h"
#include "base/sort.h"
#include "run/parts.h"
#include "steps/step_rules.h"

#include <stdlib.h>
#include <string.h>

SORT_ORDER(compare_makeup, struct run_loop_op, DESCENDING(x->time, y->time) ?: ASCENDING(x->name, y->name))

/* Adds what the same loop of another process is made of. */
static void add_makeup(struct run_loop *to, const struct run_loop *from, struct arena *arena)
{
	ARENA_LOCAL(scratch);
	struct keymap names;
	keymap_init(&names, &scratch);
	for (uint32_t i = 0; i < to->n_makeup; i++)
		keymap_add(&names, to->makeup[i].name);
	for (uint32_t i = 0; i < from->n_makeup; i++)
		keymap_add(&names, from->makeup[i].name);
	struct run_loop_op *sum = ARENA_NEW(arena, names.n, struct run_loop_op);
	for (uint32_t i = 0; i < to->n_makeup; i++)
		sum[i] = to->makeup[i];
	for (uint32_t i = 0; i < from->n_makeup; i++) {
		struct run_loop_op *op = &sum[keymap_add(&names, from->makeup[i].name)];
		op->name = from->makeup[i].name;
		op->comm = from->makeup[i].comm;
		op->n += from->makeup[i].n;
		op->time += from->makeup[i].time;
	}
	to->makeup = sum;
	to->n_makeup = names.n;
}

/* Which of the loops that there were before is the same one of another process; UINT32_MAX: none. */
static uint32_t same_loop(const struct run_loops *out, uint32_t before, const struct run_loop *mine,
                          const uint32_t *taken, uint32_t n_taken)
{
	for (uint32_t k = 0; k < before; k++) {
		const struct run_loop *other = &out->list[k];
		bool free = true;
		for (uint32_t m = 0; m < n_taken; m++)
			free = free && taken[m] != k + 1;
		if (free && run_loop_alike(mine, other) >= RULE_NEARLY_ALL &&
		    RULE_NEARLY_ALL * mine->ops <= other->ops && RULE_NEARLY_ALL * other->ops <= mine->ops)
			return k;
	}
	return UINT32_MAX;
}

/* Adds the loops of process `p` of the run. number[l]: 1 + where its loop l is; 0: nowhere. */
static void join_process(const struct pattern_process *from, uint32_t p, uint32_t first_thread, uint32_t n_processes,
                         struct arena *arena, struct run_loops *out, uint32_t *number)
{
	uint32_t before = out->n;
	for (uint32_t l = 0; l < from->n; l++) {
		const struct run_loop *mine = &from->list[l];
		uint32_t same = same_loop(out, before, mine, number, l);
		if (same != UINT32_MAX) {
			struct run_loop *loop = &out->list[same];
			loop->processes++;
			loop->n = loop->n > mine->n ? loop->n : mine->n;
			loop->differ += mine->differ;
			loop->fewest = loop->fewest < mine->fewest ? loop->fewest : mine->fewest;
			loop->most = loop->most > mine->most ? loop->most : mine->most;
			loop->explained = loop->explained < mine->explained ? loop->explained : mine->explained;
			loop->same = loop->same < mine->same ? loop->same : mine->same;
			loop->time += mine->time;
			loop->start = mine->start < loop->start ? mine->start : loop->start;
			loop->end = mine->end > loop->end ? mine->end : loop->end;
			add_makeup(loop, mine, arena);
			number[l] = same + 1;
		} else if (out->n < UINT8_MAX - 1) {
			out->list[out->n] = *mine;
			out->list[out->n].makeup =
				arena_keep(arena, mine->makeup, mine->n_makeup, sizeof *mine->makeup);
			out->list[out->n].launcher = ARENA_NEW(arena, n_processes, uint32_t);
			memset(out->list[out->n].launcher, 0xff, n_processes * sizeof(uint32_t));
			number[l] = ++out->n;
		}
		if (number[l] && from->launcher[l] != TRACE_NONE)
			out->list[number[l] - 1].launcher[p] = from->launcher[l] + first_thread;
	}
}

/* The cycles of a part, as the run counts; `number` by process of the part and loop: 1 + the run's loop, 0: none. */
static void join_cycles(const struct pattern_look *look, const struct trace *t, const struct run_part *part,
                        uint32_t *const *number, struct run_loops *out)
{
	for (uint32_t i = 0; i < look->n_cycles; i++) {
		struct run_cycle *to = &out->cycles[out->n_cycles++];
		*to = look->cycles[i];
		to->ops.device += part->first_device;
		to->loop = number[t->devices[to->ops.device].process - part->first_process][to->loop - 1];
	}
}

/* Whether there are several loops, none of them much of the GPU time, nor longer than the next one: none of them is
 * what the program does. */
static bool are_scattered(const struct run_loops *loops, double all)
{
	return loops->n > 1 && loops->list[0].time < RULE_COMMON * all &&
	       loops->list[1].time >= (1 - RULE_NEAR) * loops->list[0].time;
}

void pattern_run_join(const struct trace *t, const struct run_part *parts, const struct pattern_look *looks, size_t n,
                      struct arena *arena, struct run_loops *out)
{
	ARENA_LOCAL(scratch);
	uint32_t n_loops = 0, n_cycles = 0;
	double all = 0, in_loops = 0, searched = 0, tried = 0;
	*out = (struct run_loops){0};
	for (size_t i = 0; i < n; i++) {
		all += looks[i].all_time;
		n_cycles += looks[i].n_cycles;
		in_loops += looks[i].in_loops;
		searched += looks[i].searched;
		tried += looks[i].tried;
		for (uint32_t p = 0; p < looks[i].n; p++)
			n_loops += looks[i].process[p].n;
	}
	if (n_loops) {
		out->list = ARENA_NEW(arena, n_loops, struct run_loop);
		out->cycles = ARENA_NEW(arena, n_cycles, struct run_cycle);
		out->pieces = ARENA_NEW(arena, n, struct run_pieces);
		out->all_time = all;
		out->share = all > 0 ? in_loops / all : 0;
		out->tried = all > 0 ? tried / all : 0;
		for (size_t i = 0; i < n; i++) {
			const struct run_part *part = &parts[i];
			uint32_t **number = ARENA_NEW(&scratch, looks[i].n, uint32_t *);
			for (uint32_t p = 0; p < looks[i].n; p++) {
				number[p] = ARENA_NEW(&scratch, looks[i].process[p].n, uint32_t);
				join_process(&looks[i].process[p], p + part->first_process, part->first_thread,
				             t->n_processes, arena, out, number[p]);
			}
			out->pieces[i] = (struct run_pieces){
				arena_keep(arena, looks[i].pieces, looks[i].n_pieces, sizeof *looks[i].pieces),
				looks[i].n_pieces, out->n_cycles};
			join_cycles(&looks[i], t, part, number, out);
		}
		uint8_t place[UINT8_MAX + 1] = {0};
		run_loops_sort(out->list, out->n, place);
		for (uint32_t i = 0; i < out->n_cycles; i++)
			out->cycles[i].loop = place[out->cycles[i].loop];
		for (uint32_t l = 0; l < out->n; l++) {
			struct run_loop *loop = &out->list[l];
			SORT(loop->makeup, loop->n_makeup, compare_makeup);
			loop->share = all > 0 ? loop->time / all : 0;
		}
		pattern_names_give(t, out->list, out->n, arena);
		out->scattered = in_loops >= RULE_HALF * (all - searched);
		if (!out->scattered || are_scattered(out, all - searched)) {
			out->n_small = out->n;
			out->n = 0;
		}
	}
}
