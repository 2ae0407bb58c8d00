/* The same-work guard: same, same_job, different, unknown, on little programs that are changed in one way each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "said.h"
#include "same/doubts.h"
#include "scene.h"

#include <string.h>

enum { US = 1000, STEPS = 60, MOST = 8 };

/* A kernel of a step: in `phase`, in `run` of every `of` steps (0: in every one). */
struct part {
	const char *phase, *name;
	int run, of;
	int64_t length; /* 0: 100 µs */
	enum op_kind kind;
	int64_t blocks; /* 0: not recorded */
};

struct program {
	struct part part[MOST];
	int64_t input, result; /* bytes copied before the first kernel, after the last */
	int64_t device, peer;  /* bytes copied within the device, to another one */
	enum graph_mode graphs;
	int64_t host; /* ns before each step */
	int turns;    /* without ranges: all parts but the last, and the input, so often in each step; 0: with ranges */
};

static void copy(struct scene *s, int64_t *t, int64_t bytes, enum copy_kind kind, const char *name)
{
	if (!bytes)
		return;
	maker_call(&s->m, s->main, *t, *t + US, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
	size_t op = maker_op(&s->m, s->gpu, 7, OP_COPY, *t + 2 * US, *t + 9 * US, name, s->correlation);
	s->m.trace->ops.copy[op] = (uint8_t)kind;
	s->m.trace->ops.bytes[op] = bytes;
	*t += 10 * US;
}

static void kernel(struct scene *s, int64_t *t, const struct part *k)
{
	int64_t length = k->length ? k->length : 100 * US;
	maker_call(&s->m, s->main, *t, *t + US, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	size_t op = maker_op(&s->m, s->gpu, 7, k->kind, *t + 2 * US, *t + 2 * US + length, k->name, s->correlation);
	s->m.trace->ops.bytes[op] = k->blocks;
	*t += 3 * US + length;
}

static const struct trace *unmarked_run(struct scene *s, const struct program *p)
{
	int64_t t = 0;
	int last = 0;
	scene_trace_begin(s);
	while (last + 1 < MOST && p->part[last + 1].name)
		last++;
	for (int step = 0; step < STEPS; step++) {
		for (int turn = 0; turn < p->turns; turn++) {
			t += US * (1 + step % 3);
			copy(s, &t, p->input, COPY_H2D, "[CUDA memcpy Host-to-Device]");
			for (int i = 0; i < last; i++)
				kernel(s, &t, &p->part[i]);
		}
		kernel(s, &t, &p->part[last]);
		copy(s, &t, p->result, COPY_D2H, "[CUDA memcpy Device-to-Host]");
	}
	const struct trace *trace = maker_link(&s->m);
	s->m.trace->source.graphs = p->graphs;
	return trace;
}

static const struct trace *program_run(struct scene *s, const struct program *p)
{
	int64_t t = 0;
	if (p->turns)
		return unmarked_run(s, p);
	scene_trace_begin(s);
	for (int step = 0; step < STEPS; step++) {
		int64_t begin = t;
		t += p->host + US * (1 + step % 3); /* no two captures are the same */
		copy(s, &t, p->input, COPY_H2D, "[CUDA memcpy Host-to-Device]");
		copy(s, &t, p->device, COPY_D2D, "[CUDA memcpy Device-to-Device]");
		copy(s, &t, p->peer, COPY_P2P, "[CUDA memcpy Peer-to-Peer]");
		for (int i = 0; i < MOST && p->part[i].name;) {
			const char *phase = p->part[i].phase;
			int64_t start = t;
			for (; i < MOST && p->part[i].name && strcmp(p->part[i].phase, phase) == 0; i++) {
				const struct part *k = &p->part[i];
				if (!k->of || step % k->of < k->run)
					kernel(s, &t, k);
			}
			scene_range(s, s->main, start, t, phase);
		}
		copy(s, &t, p->result, COPY_D2H, "[CUDA memcpy Device-to-Host]");
		scene_call(s, s->main, t, t + US, "cudaDeviceSynchronize", CALL_SYNC);
		t += 2 * US;
		scene_range(s, s->main, begin, t, "step");
	}
	const struct trace *trace = maker_link(&s->m);
	s->m.trace->source.graphs = p->graphs;
	return trace;
}

/* Asserts the answer, and that it is the same with the sides swapped. */
static const struct analysis *expect(struct scene *s, struct program baseline, struct program fixed,
                                     enum same_work wanted)
{
	const struct trace *b = program_run(s, &baseline), *f = program_run(s, &fixed);
	const struct analysis *a = scene_compare(s, b, f), *swapped = scene_compare(s, f, b);
	if (a->comparison.same_work != wanted || swapped->comparison.same_work != wanted) {
		for (uint32_t i = 0; i < a->comparison.differences.n; i++)
			print_message("%s\n", said(a->comparison.differences.list[i], a->names));
		fail_msg("%s and %s, not %s", same_work_name(a->comparison.same_work),
		         same_work_name(swapped->comparison.same_work), same_work_name(wanted));
	}
	assert_int_equal(a->comparison.comparable, wanted == SAME_WORK_SAME || wanted == SAME_WORK_JOB);
	assert_true(wanted == SAME_WORK_SAME || a->comparison.differences.n > 0);
	return a;
}

static const struct program training = {.part = {{"forward", "void gemm<float, 128>(float *)", 0, 0, 0, 0, 0},
                                                 {"forward", "relu(float *)", 0, 0, 0, 0, 0},
                                                 {"backward", "void gemm<float, 64>(float *)", 0, 0, 0, 0, 0},
                                                 {"optimizer", "adam(float *)", 0, 0, 2 * US, 0, 0}},
                                        .input = 1 << 20,
                                        .result = 4};

static void test_same(void **state)
{
	struct program longer = training, slower = training;
	expect(*state, training, training, SAME_WORK_SAME);
	longer.part[0].length = 102 * US; /* 0.7 % of the GPU time */
	expect(*state, training, longer, SAME_WORK_SAME);
	longer.part[0].length = 112 * US; /* 4 %, of one kernel: another kernel of the same name, or less to do in it */
	expect(*state, training, longer, SAME_WORK_JOB);
	for (int i = 0; i < 4; i++) { /* all of them: another clock, which blocks tell from a smaller batch */
		slower.part[i].length = (i < 3 ? 100 : 2) * US * 107 / 100;
		slower.part[i].blocks = 64;
		longer.part[i] = training.part[i];
		longer.part[i].blocks = 64;
	}
	const struct analysis *a = expect(*state, longer, slower, SAME_WORK_SAME);
	assert_non_null(said_in(&a->comparison.notes, a->names, "as with a lower clock"));
	assert_int_equal(a->comparison.differences.n, 0);
}

static void test_work_that_is_left_out(void **state)
{
	/* The optimizer takes 20 of 320 µs. */
	struct program with = training, half, never, other, part, twice, fills = training, none = training;
	with.part[3].length = 20 * US;
	half = never = other = with;
	half.part[3].run = 1;
	half.part[3].of = 2;
	const struct analysis *a = expect(*state, with, half, SAME_WORK_DIFFERENT);
	assert_non_null(strstr(said(a->comparison.differences.list[0], a->names),
	                       "adam runs 0.491 times per step in the fixed side instead of 1. Nothing runs in its "
	                       "place."));
	never.part[3].name = NULL;
	expect(*state, with, never, SAME_WORK_DIFFERENT);
	/* what was replaced elsewhere does not stand in for it */
	other.part[0].name = "hgemm(half *)";
	other.part[3].run = 3;
	other.part[3].of = 4;
	expect(*state, with, other, SAME_WORK_DIFFERENT);
	/* nor does more of what runs in every step stand in for what runs now and then */
	part = half;
	part.part[4] = (struct part){.phase = "optimizer", .name = "norm(float *)", .length = 20 * US};
	twice = part, twice.part[3] = with.part[3], part.part[5] = part.part[4];
	expect(*state, twice, part, SAME_WORK_DIFFERENT);
	/* 2 of 320 µs are below a hundredth; and whether gradients have to be zeroed no profile tells */
	half.part[3].length = 2 * US;
	expect(*state, training, half, SAME_WORK_UNKNOWN);
	fills.part[4] = (struct part){.phase = "optimizer", .name = "void fill<FillFunctor<float>>(float *)"};
	a = expect(*state, fills, none, SAME_WORK_UNKNOWN);
	assert_non_null(said_in(&a->comparison.differences, a->names, "Only the baseline runs fill, "));
}

/* One product has another name, and one step in twenty casts weights beside its work. */
static void test_another_name_where_steps_differ(void **state)
{
	struct program mixed = training;
	mixed.part[2].name = "hgemm(half *)";
	for (int i = 4; i < MOST; i++)
		mixed.part[i] = (struct part){"backward", "cast(half *)", 1, 20, 5000 * US, 0, 0};
	expect(*state, training, mixed, SAME_WORK_UNKNOWN);
}

static void test_a_kernel_elsewhere_is_no_replacement(void **state)
{
	/* No optimizer any more, and another kernel in the forward pass. */
	struct program with = training, other;
	with.part[3].length = 20 * US;
	other = with;
	other.part[0].name = "hgemm(half *)";
	other.part[3].name = NULL;
	expect(*state, with, other, SAME_WORK_DIFFERENT);
	other.part[3].name = "fused_adam(half *)"; /* but another one */
	expect(*state, with, other, SAME_WORK_JOB);
}

/* A batch of which half is never computed, and layers that are gone: less of several kernels under the same names. */
static void test_less_under_the_same_names(void **state)
{
	struct program whole = training, half, layers, smaller;
	for (int i = 0; i < 4; i++)
		whole.part[i].blocks = 64;
	whole.part[1].name = "conv(float *)";
	half = layers = smaller = whole;
	for (int i = 0; i < 3; i++) {
		half.part[i].blocks = 32;
		half.part[i].length = 55 * US;
		layers.part[i].run = 2;
		layers.part[i].of = 3;
	}
	const struct analysis *a = expect(*state, whole, half, SAME_WORK_DIFFERENT);
	assert_non_null(said_in(&a->comparison.differences, a->names, "1 other kernel do 0.5 times as much per step"));
	expect(*state, whole, layers, SAME_WORK_DIFFERENT);
	layers.part[0].length = layers.part[1].length = layers.part[2].length = 140 * US;
	expect(*state, whole, layers, SAME_WORK_UNKNOWN); /* one launch may do what several did */
	/* one kernel alone: the code of that one got better, or its blocks larger */
	smaller.part[1].blocks = 32;
	smaller.part[1].length = 60 * US;
	expect(*state, whole, smaller, SAME_WORK_JOB);
}

/* A marked step that holds two of the other side's: kernels and input are all there twice. */
static void test_a_step_of_several(void **state)
{
	struct program one = {
		.part = {{.phase = "forward", .name = "gemm(float *)"}, {.phase = "backward", .name = "grad(float *)"}},
		.input = 1 << 20,
		.result = 4};
	struct program two = one, thrice = one;
	two.part[2] = two.part[0];
	two.part[3] = two.part[1];
	two.input = 2 << 20;
	const struct analysis *a = expect(*state, one, two, SAME_WORK_UNKNOWN);
	assert_non_null(strstr(said(a->comparison.mismatch, a->names),
	                       "A step of the fixed side holds 2 times the other side's work"));
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	/* one kernel more in a step of longer ones: another program, not another unit */
	one.part[1].length = thrice.part[1].length = 500 * US;
	thrice.part[2] = thrice.part[0], thrice.input = 2 << 20;
	a = scene_compare(*state, program_run(*state, &one), program_run(*state, &thrice));
	assert_null(a->comparison.mismatch);
}

/* Another program, and one whose graphs hide all that it does. */
/* Gradients in one bucket or in two: how often ranks talk is another way, and leaves nothing out. */
static void test_fewer_collectives(void **state)
{
	struct program two = training, one = training;
	two.part[4] = (struct part){.phase = "reduce", .name = "ncclDevKernel_AllReduce", .kind = OP_COMM};
	two.part[5] = one.part[4] = two.part[4];
	expect(*state, two, one, SAME_WORK_UNKNOWN); /* nor does the one take any longer */
	one.part[4].length = 180 * US;
	expect(*state, two, one, SAME_WORK_JOB);
	one.part[4].length = 0, two.part[4].kind = two.part[5].kind = one.part[4].kind = OP_KERNEL;
	expect(*state, two, one, SAME_WORK_DIFFERENT); /* any other kernel is work */
}

static void test_nothing_in_common(void **state)
{
	struct program stencil = {.part = {{.phase = "forward", .name = "jacobi(float *)"}}, .result = 4};
	struct program dry = training, ten = training, twelve = training;
	dry.input = 0;
	expect(*state, dry, stencil, SAME_WORK_UNKNOWN);
	for (int i = 0; i < 4; i++)
		ten.part[i] = (struct part){0};
	ten.graphs = GRAPHS_WHOLE;
	ten.part[0] = (struct part){"forward", "[CUDA graph]", 0, 0, 300 * US, OP_GRAPH, 0};
	twelve = ten;
	twelve.part[0].length = 360 * US;
	expect(*state, ten, ten, SAME_WORK_SAME);
	const struct analysis *a = expect(*state, twelve, ten, SAME_WORK_UNKNOWN);
	assert_non_null(said_in(&a->comparison.differences, a->names, "What they run is unknown"));
}

static void test_another_way(void **state)
{
	struct program fused = training, better = training, variant = training;
	fused.part[0].name = "gemm_relu(float *)";
	fused.part[1] = fused.part[2];
	fused.part[2] = fused.part[3];
	fused.part[3].name = NULL;
	expect(*state, training, fused, SAME_WORK_JOB);
	better.part[0].length = 50 * US;
	expect(*state, training, better, SAME_WORK_JOB);
	variant.part[0].name = "void gemm<float, 256>(float *, int)"; /* of the same kernel */
	expect(*state, training, variant, SAME_WORK_SAME);
	/* one half the time this variant, one half that */
	struct program either = training;
	either.part[3] = (struct part){"optimizer", "adam(float *)", 1, 2, 0, 0, 0};
	either.part[4] = (struct part){"optimizer", "adam_wide(float *)", 1, 1, 0, 0, 0};
	struct program long_step = training;
	long_step.part[3].length = 100 * US;
	expect(*state, long_step, either, SAME_WORK_DIFFERENT); /* … and it would have to run in the other half */
	struct program copies = training;
	copies.device = 1 << 20; /* whether copies that went were needed no profile tells */
	const struct analysis *a = expect(*state, training, copies, SAME_WORK_UNKNOWN);
	assert_non_null(said_in(&a->comparison.differences, a->names, "copies less within a device"));
	assert_null(said_in(&a->comparison.differences, a->names, "between devices"));
	struct program node = training, graph = training; /* the copy is a node of a graph: a kernel, or inside */
	node.part[4] = (struct part){"optimizer", "memcpy32_post", 0, 0, 0, 0, 0};
	graph.part[4] = (struct part){"optimizer", "graph", 0, 0, 0, OP_GRAPH, 0};
	graph.graphs = GRAPHS_WHOLE;
	for (int whole = 0; whole < 2; whole++) {
		a = expect(*state, copies, whole ? graph : node, whole ? SAME_WORK_UNKNOWN : SAME_WORK_JOB);
		assert_null(said_in(&a->comparison.differences, a->names, "copies less"));
		assert_null(said_in(&a->comparison.differences, a->names, "memcpy32_post, once"));
	}
	copies.device = 0, copies.peer = 1 << 20;
	a = expect(*state, training, copies, SAME_WORK_UNKNOWN);
	assert_non_null(said_in(&a->comparison.differences, a->names, "copies less between devices"));
}

static void test_a_kernel_now_and_then(void **state)
{
	/* In 11 of 60 steps here, in 9 there (the last ones, so that windows cut them differently): that may be chance,
	 * and is more than 1 % of the kernels' time. */
	struct program once = training, other = training;
	once.part[4] = (struct part){"optimizer", "log(float *)", 1, 5, 0, 0, 0};
	other.part[4] = (struct part){"optimizer", "log(float *)", 1, 6, 0, 0, 0};
	expect(*state, once, other, SAME_WORK_UNKNOWN);
	once.part[4].of = 2; /* in every second step and in hardly any is not */
	other.part[4].of = 60;
	expect(*state, once, other, SAME_WORK_DIFFERENT);
}

/* What is kept after 16 steps is not worked out again: no chance. Of both sides it may be the recording's length. */
static void test_a_kernel_in_the_first_steps(void **state)
{
	struct program always = training, first = training, longer;
	always.part[4] = (struct part){"optimizer", "encode(float *)", 0, 0, 400 * US, 0, 0};
	first.part[4] = (struct part){"optimizer", "encode(float *)", 16, STEPS, 400 * US, 0, 0};
	longer = first;
	longer.part[4].run = 24;
	const struct analysis *a = expect(*state, always, first, SAME_WORK_DIFFERENT);
	assert_null(said_in(&a->comparison.differences, a->names, "chance, or more work"));
	assert_non_null(said_in(&a->comparison.differences, a->names, "Nothing runs in its place"));
	assert_non_null(said_in(
		&a->comparison.differences, a->names,
		"Kernels of the fixed side take 0.702 ms per step for 11 measured steps, then 0.302 ms for 44"));
	a = expect(*state, first, longer, SAME_WORK_UNKNOWN);
	assert_null(said_in(&a->comparison.differences, a->names, "measured steps, then"));
}

static void test_input_and_result(void **state)
{
	struct program less = training, more = training, scalar = training, part = training;
	less.input = (1 << 20) * 90 / 100; /* the same kernels: some of it stays on the device */
	const struct analysis *a = expect(*state, training, less, SAME_WORK_JOB);
	assert_non_null(strstr(said(a->comparison.differences.list[0], a->names),
	                       "The fixed side copies less to the device: 943.7 kB per step instead of 1.049 MB."));
	more.result = 1 << 17; /* a fix, or work that is left out: a reviewer decides */
	expect(*state, training, more, SAME_WORK_UNKNOWN);
	scalar.result = 0; /* a loss of 4 bytes is not read back any more */
	expect(*state, training, scalar, SAME_WORK_SAME);
	part.input = 1 << 19;
	for (int i = 0; i < 3; i++)
		part.part[i].length = 50 * US;
	expect(*state, training, part, SAME_WORK_DIFFERENT); /* half of the input, and kernels that do half of it */
}

static void test_collectives(void **state)
{
	struct program many = training, few = training, often, seldom;
	many.part[4] = (struct part){"optimizer", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 0, 0, OP_COMM, 0};
	many.part[5] = many.part[4];
	few.part[4] = (struct part){"optimizer", "ncclDevKernel_AllReduce_Sum_f32_TREE_LL", 0, 0, 180 * US, OP_COMM, 0};
	expect(*state, many, few, SAME_WORK_JOB);
	expect(*state, many, training, SAME_WORK_DIFFERENT); /* gradients are not reduced any more */
	/* sent in every fourth step, with what scales them, once or three times each */
	often = few, often.part[5] = (struct part){"optimizer", "scale(float *)", 1, 1, 20 * US, OP_KERNEL, 0};
	seldom = often, seldom.part[4].run = 1;
	seldom.part[4].of = seldom.part[5].of = 4;
	expect(*state, often, seldom, SAME_WORK_UNKNOWN);
	often.part[6] = often.part[7] = often.part[5], seldom.part[6] = seldom.part[7] = seldom.part[5];
	expect(*state, often, seldom, SAME_WORK_DIFFERENT);
}

static void test_what_cannot_be_told(void **state)
{
	struct program graph = {.input = training.input, .result = training.result, .graphs = GRAPHS_WHOLE};
	struct program mixed = training, renamed = training, unnamed = training, twice = training, none = training;
	mixed.part[4] = graph.part[0] = (struct part){"forward", "[CUDA graph]", 0, 0, 300 * US, OP_GRAPH, 0};
	mixed.graphs = GRAPHS_WHOLE;
	for (int i = 0; i < 4; i++) /* before it is captured, they run one by one */
		mixed.part[i].run = 1, mixed.part[i].of = 20;
	expect(*state, training, mixed, SAME_WORK_UNKNOWN);
	const struct analysis *a = expect(*state, training, graph, SAME_WORK_UNKNOWN);
	assert_non_null(said_in(&a->comparison.differences, a->names, "traced whole"));
	/* other phases and other kernels */
	renamed.part[0] = (struct part){"warp", "hgemm", 0, 0, 0, 0, 0};
	renamed.part[1] = (struct part){"weft", "hrelu", 0, 0, 0, 0, 0};
	expect(*state, training, renamed, SAME_WORK_UNKNOWN);
	for (int i = 0; i < 4; i++)
		unnamed.part[i].name = "";
	expect(*state, training, unnamed, SAME_WORK_UNKNOWN);
	/* as many kernels, half as long, and nothing says what they had to do */
	twice.input = none.input = 0;
	none.part[0].length = 50 * US;
	expect(*state, twice, none, SAME_WORK_UNKNOWN);
	twice.input = none.input = 4; /* nor does a scalar */
	expect(*state, twice, none, SAME_WORK_UNKNOWN);
}

/* Kernels that take 6 us longer in a step of 1.4 ms, and no input: of 0.4 ms that is enough to doubt the work. */
static void test_little_of_a_step(void **state)
{
	struct program shorter = training, longer = training;
	shorter.input = longer.input = 0;
	shorter.part[3].length = 20 * US;
	longer.part[3].length = 26 * US;
	expect(*state, shorter, longer, SAME_WORK_UNKNOWN);
	shorter.host = longer.host = 1000 * US;
	expect(*state, shorter, longer, SAME_WORK_JOB);
	longer.part[3].length = 40 * US;
	expect(*state, shorter, longer, SAME_WORK_UNKNOWN);
}

/* A critic learns three or four times for each turn of a generator, and nobody marked what a step is. */
static void test_repetitions_of_another_number(void **state)
{
	struct program three = training, four, fast, whole;
	three.turns = 3;
	three.part[2].name = "critic(float *)";
	three.part[3].name = "generator(float *)";
	four = fast = three;
	four.turns = 4;
	for (int i = 0; i < 3; i++)
		fast.part[i].length = 40 * US;
	const struct analysis *a = expect(*state, three, four, SAME_WORK_UNKNOWN);
	assert_non_null(a->comparison.mismatch);
	assert_non_null(strstr(said(a->comparison.mismatch, a->names),
	                       "run 3 times per repetition in the baseline and 4 times in the fixed side"));
	assert_int_equal(a->verdict.result, VERDICT_INCONCLUSIVE);
	assert_ptr_equal(a->verdict.reasons.list[0], a->comparison.mismatch);
	a = expect(*state, three, fast, SAME_WORK_JOB);
	assert_null(a->comparison.mismatch);
	assert_int_equal(a->verdict.result, VERDICT_FASTER);
	/* the same input at once is another way, in fewer launches */
	whole = three;
	whole.turns = 1;
	whole.input = 3 * three.input;
	for (int i = 0; i < 3; i++)
		whole.part[i].length = 300 * US;
	a = scene_compare(*state, program_run(*state, &three), program_run(*state, &whole));
	assert_null(a->comparison.mismatch);
	/* without input only kernels tell, which take as long each */
	three.input = four.input = whole.input = 0;
	a = scene_compare(*state, program_run(*state, &three), program_run(*state, &four));
	assert_non_null(a->comparison.mismatch);
	a = scene_compare(*state, program_run(*state, &three), program_run(*state, &whole));
	assert_null(a->comparison.mismatch);
}

static void test_a_renamed_phase(void **state)
{
	struct program renamed = training, moved = training;
	renamed.part[0].phase = renamed.part[1].phase = "fwd";
	renamed.part[0].name = "hgemm";
	const struct analysis *a = expect(*state, training, renamed, SAME_WORK_JOB);
	assert_non_null(said_in(&a->comparison.notes, a->names,
	                        "The baseline's phase forward is called fwd in the fixed side"));
	/* the same kernels under more ranges */
	moved.part[1].phase = "activation";
	expect(*state, training, moved, SAME_WORK_SAME);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(test_same),
		TEST(test_work_that_is_left_out),
		TEST(test_another_name_where_steps_differ),
		TEST(test_a_kernel_elsewhere_is_no_replacement),
		TEST(test_less_under_the_same_names),
		TEST(test_nothing_in_common),
		TEST(test_fewer_collectives),
		TEST(test_a_step_of_several),
		TEST(test_another_way),
		TEST(test_a_kernel_now_and_then),
		TEST(test_a_kernel_in_the_first_steps),
		TEST(test_little_of_a_step),
		TEST(test_input_and_result),
		TEST(test_collectives),
		TEST(test_what_cannot_be_told),
		TEST(test_repetitions_of_another_number),
		TEST(test_a_renamed_phase),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
