/* What a finding may not say: resolved, because calls changed their order, a phase its name, a number its threshold;
 * confirmed, because something else got faster; input, where there is none; a ceiling, for what happened once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"

#include <math.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US, STEPS = 48 };

/* A step: host time in a phase, an operation that ends the wait, the other one, kernels, a free, a wait for the GPU. */
struct program {
	int64_t load;      /* ns of host time in … */
	const char *phase; /* … NULL: "load" */
	int64_t bytes;     /* of the copy to the device; 0: no copy */
	bool zero_first;   /* a small kernel goes before the copy, else behind it */
	int kernels;       /* … */
	int64_t kernel;    /* of so many ns; */
	int64_t alloc;     /* an allocation of so many ns */
	bool frees;        /* a free that waits for the GPU, after the kernels */
	int64_t after;     /* host time after that */
	const char *call;  /* a call of another kind between two kernels, for `length` ns; */
	int64_t length;
	int64_t sleep;         /* in nanosleep */
	const char *sleeps[3]; /* or in these, in turns */
	int once;              /* the step in which … */
	int every;             /* or every so many of which … */
	int64_t pause;         /* … the host pauses so long in the phase "eval" */
	bool ahead;            /* no wait at the end */
	bool names;            /* the profiler's call beside every launch */
	int64_t last;          /* one more kernel of so many ns */
	bool pageable;         /* the copy is from pageable memory */
	int64_t also;          /* after the kernels, so many bytes more are copied */
	int64_t back;          /* before the load, so many bytes are read back */
};

static const struct program plain = {.load = 3 * MS, .bytes = 1 << 20, .kernels = 8, .kernel = 900 * US};

struct clock {
	struct scene *s;
	int64_t t, gpu;
};

static void op(struct clock *c, const char *call, enum call_class class, enum op_kind kind, const char *name,
               int64_t bytes, int64_t length)
{
	struct scene *s = c->s;
	maker_call(&s->m, s->main, c->t, c->t + 2 * US, call, class, ++s->correlation);
	c->t += 2 * US;
	c->gpu = c->gpu > c->t + 2 * US ? c->gpu : c->t + 2 * US;
	size_t row = maker_op(&s->m, s->gpu, 7, kind, c->gpu, c->gpu + length, name, s->correlation);
	s->m.trace->ops.copy[row] = kind == OP_COPY ? COPY_H2D : 0;
	s->m.trace->ops.bytes[row] = bytes;
	c->gpu += length;
}

static void copy(struct clock *c, int64_t bytes, bool pageable)
{
	if (!bytes)
		return;
	op(c, "cudaMemcpyAsync", CALL_COPY, OP_COPY, "[CUDA memcpy Host-to-Device]", bytes, 5 * US);
	c->s->m.trace->ops.flags[c->s->m.trace->ops.n - 1] = pageable ? OPF_PAGEABLE : 0;
}

static void kernel(struct clock *c, const char *name, int64_t length)
{
	op(c, "cudaLaunchKernel", CALL_LAUNCH, OP_KERNEL, name, 0, length);
}

static void host(struct clock *c, const char *phase, int64_t length)
{
	if (!length)
		return;
	scene_range(c->s, c->s->main, c->t, c->t + length, phase);
	c->t += length;
}

static void call(struct clock *c, const char *name, enum call_class class, int64_t length)
{
	scene_call(c->s, c->s->main, c->t, c->t + length, name, class);
	c->t += length;
}

static const struct trace *program_run(struct scene *s, const struct program *p)
{
	struct clock c = {.s = s};
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t begin = c.t;
		c.t += US + i % 3;
		if (p->pause && (i == p->once || (p->every && i % p->every == 0)))
			host(&c, "eval", p->pause);
		if (p->back) {
			kernel(&c, "pack", 30 * US);
			copy(&c, p->back, false);
			c.s->m.trace->ops.copy[c.s->m.trace->ops.n - 1] = COPY_D2H;
			call(&c, "cudaDeviceSynchronize", CALL_SYNC, c.gpu - c.t + 2 * US);
		}
		host(&c, p->phase ? p->phase : "load", p->load);
		if (p->sleep) {
			maker_os_call(&s->m, s->main, c.t, c.t + p->sleep, p->sleeps[i % 3] ?: "nanosleep", OS_OTHER);
			c.t += p->sleep;
		}
		if (p->alloc)
			call(&c, "cudaMalloc", CALL_ALLOC, p->alloc);
		if (p->zero_first)
			kernel(&c, "zero", 4 * US);
		copy(&c, p->bytes, p->pageable);
		if (!p->zero_first)
			kernel(&c, "zero", 4 * US);
		int64_t start = c.t;
		for (int k = 0; k < p->kernels; k++) {
			if (p->call && k == p->kernels / 2)
				call(&c, p->call, CALL_OTHER, p->length);
			if (p->names)
				call(&c, "cuKernelGetName", CALL_OTHER, 2 * US);
			kernel(&c, "gemm", p->kernel);
		}
		copy(&c, p->also, false);
		if (p->last)
			kernel(&c, "large", p->last);
		scene_range(s, s->main, start, c.t, "forward");
		if (p->frees)
			call(&c, "cudaFree", CALL_ALLOC, (c.gpu > c.t ? c.gpu - c.t : 0) + 20 * US);
		host(&c, "after", p->after);
		if (!p->ahead)
			call(&c, "cudaDeviceSynchronize", CALL_SYNC, (c.gpu > c.t ? c.gpu - c.t : 0) + 2 * US);
		scene_range(s, s->main, begin, c.t, "step");
	}
	return maker_link(&s->m);
}

static const struct analysis *compare_traces(struct scene *s, const struct trace *b, const struct trace *f)
{
	static const struct analyse_options defaults = {.warmup = 5, .gates.max_regression = -1};
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = b, .file = "baseline"}, {.trace = f, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static const struct analysis *compare(struct scene *s, struct program baseline, struct program fixed)
{
	const struct trace *b = program_run(s, &baseline);
	return compare_traces(s, b, program_run(s, &fixed));
}

static const struct finding *finding_of(const struct analysis *a, const char *id)
{
	const struct finding *found = NULL;
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, id) == 0) {
			assert_null(found); /* once, whatever sides it is seen on */
			found = &a->findings.list[i];
		}
	return found;
}

/* Asserts that nothing is resolved and nothing new. */
static void expect_nothing_moved(const struct analysis *a)
{
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (a->findings.list[i].status == FINDING_RESOLVED || a->findings.list[i].status == FINDING_NEW)
			fail_msg("%s is %s: %s", a->findings.list[i].id,
			         finding_status_name(a->findings.list[i].status), a->findings.list[i].text);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	assert_true(a->findings.diagnosis.combined_ceiling == 0);
}

static void test_another_order_resolves_nothing(void **state)
{
	struct program other = plain;
	other.zero_first = true;
	for (int swapped = 0; swapped < 2; swapped++) {
		const struct analysis *a = compare(*state, swapped ? other : plain, swapped ? plain : other);
		expect_nothing_moved(a);
		const struct finding *f = finding_of(a, swapped ? "sync_every_step" : "input_starvation");
		assert_non_null(f);
		assert_int_equal(f->status, FINDING_REMAINING);
		assert_float_equal(f->per_step[0], 3 * MS, 50 * US);
		assert_float_equal(f->per_step[1], 3 * MS, 50 * US);
		assert_null(finding_of(a, swapped ? "input_starvation" : "sync_every_step"));
	}
}

/* What the host hands back after it read as much is no input: it exchanged it with a peer, or is the optimizer. */
static void test_what_was_read_back_is_no_input(void **state)
{
	struct program halo = plain, less;
	halo.back = halo.bytes;
	less = halo;
	less.load = 1 * MS;
	const struct analysis *a = compare(*state, halo, less);
	assert_null(finding_of(a, "input_starvation"));
	const struct finding *f = finding_of(a, "host_before_copy");
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_REDUCED);
	assert_float_equal(f->per_step[0], 3 * MS, 100 * US);
	halo.back = less.back = 4; /* a loss */
	a = compare(*state, halo, less);
	assert_null(finding_of(a, "host_before_copy"));
	assert_non_null(finding_of(a, "input_starvation"));
}

static void test_another_name_resolves_nothing(void **state)
{
	struct program renamed = plain;
	renamed.phase = "fetch";
	renamed.kernel = 600 * US;
	const struct analysis *a = compare(*state, plain, renamed);
	expect_nothing_moved(a);
	const struct finding *f = finding_of(a, "input_starvation");
	assert_true(f && f->both);
	assert_string_equal(names_text(a->names, f->phase[0]), "load");
	assert_string_equal(names_text(a->names, f->phase[1]), "fetch");
	assert_non_null(strstr(f->text, "in fetch"));
	/* the kernels are why */
	assert_true(a->waterfall.n_reasons);
	assert_int_equal(a->waterfall.reason[0].part.kind, PART_COMPUTE);
	/* with less of it, it is the phase that changed, by either name */
	renamed.kernel = plain.kernel;
	renamed.load = 1 * MS;
	a = compare(*state, plain, renamed);
	assert_int_equal(finding_of(a, "input_starvation")->status, FINDING_REDUCED);
	assert_int_equal(a->waterfall.reason[0].part.kind, PART_IDLE);
	assert_string_equal(names_text(a->names, a->waterfall.reason[0].part.phase), "load");
	assert_string_equal(names_text(a->names, a->waterfall.reason[0].part.renamed), "fetch");
}

static void test_a_flag_is_no_input(void **state)
{
	/* nor is a fortieth of what is copied; a tenth is */
	static const int64_t bytes[] = {4, 512, 1 << 14, (1 << 20) / 10, (1 << 20) / 40};
	for (int i = 0; i < 5; i++) {
		struct program logging = plain, quick;
		logging.bytes = bytes[i];
		logging.also = i < 3 ? 0 : 1 << 20;
		quick = logging;
		quick.load = 0;
		const struct analysis *a = compare(*state, logging, quick);
		assert_int_equal(finding_of(a, "input_starvation") != NULL, i == 2 || i == 3);
	}
}

static void test_a_small_part_of_the_gain(void **state)
{
	/* 0.4 ms of allocation go, and 8 × 0.3 of kernels. */
	struct program slow = {.alloc = 400 * US, .kernels = 8, .kernel = 900 * US}, fast = slow;
	fast.alloc = 0;
	fast.kernel = 600 * US;
	const struct analysis *a = compare(*state, slow, fast);
	assert_int_equal(finding_of(a, "alloc_in_step")->status, FINDING_RESOLVED);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_PARTLY);
	assert_float_equal(a->findings.diagnosis.gain, 2800 * US, 20 * US);
	assert_float_equal(a->findings.diagnosis.share, 0.4 / 2.8, 0.02);
	assert_true(a->findings.diagnosis.has_rest);
	assert_int_equal(a->findings.diagnosis.rest.kind, PART_COMPUTE);
	/* alone it is all of it */
	fast.kernel = slow.kernel;
	a = compare(*state, slow, fast);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_CONFIRMED);
	assert_float_equal(a->findings.diagnosis.share, 1, 0.05);
	/* 1.4 % count as nothing, so there is nothing to confirm */
	slow.alloc = 100 * US;
	a = compare(*state, slow, fast);
	fast.alloc = 0;
	assert_int_equal(finding_of(a, "alloc_in_step")->status, FINDING_RESOLVED);
	assert_true(a->verdict.result != VERDICT_FASTER && a->findings.diagnosis.gain > 0);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	/* 3 ms of waiting go, 1.6 ms of kernels come */
	struct program waits = plain, works = plain;
	works.load = 0;
	works.kernel = 1100 * US;
	a = compare(*state, waits, works);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_EXCEEDED);
	assert_int_equal(a->findings.diagnosis.rest.kind, PART_COMPUTE);
	/* and when more come than go, nothing is praised */
	works.kernel = 1400 * US;
	a = compare(*state, waits, works);
	assert_int_equal(a->verdict.result, VERDICT_SLOWER);
	assert_int_equal(finding_of(a, "input_starvation")->status, FINDING_RESOLVED);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_NONE);
	assert_true(a->findings.diagnosis.share == 0);
}

static void test_all_is_not_worth_less_than_a_part(void **state)
{
	for (int faults = 1; faults < 64; faults++) {
		struct program slow = {.kernels = 40, .kernel = faults & 1 ? 2 * US : 200 * US}, fast = slow;
		slow.load = faults & 2 ? 2 * MS : 0;
		slow.bytes = faults & 4 ? 1 << 20 : 0;
		slow.alloc = faults & 8 ? 300 * US : 0;
		slow.frees = faults & 16;
		slow.ahead = !(faults & 32);
		fast.ahead = true;
		const struct analysis *a = compare(*state, slow, fast);
		for (uint32_t i = 0; i < a->findings.n; i++) {
			const struct finding *f = &a->findings.list[i];
			if (f->status != FINDING_RESOLVED || !f->has_ceiling ||
			    a->findings.diagnosis.combined_ceiling <= 0)
				continue;
			assert_true(f->ceiling_step <= a->side[0].budget.period);
			if (a->findings.diagnosis.combined_ceiling > f->ceiling_step + 1e-6)
				fail_msg("%d: %s alone promises %.0f, all together %.0f", faults, f->id,
				         f->ceiling_step, a->findings.diagnosis.combined_ceiling);
		}
	}
}

static void test_what_happened_once(void **state)
{
	/* In one of 48 steps the host pauses for 300 ms. */
	struct program paused = {.kernels = 8, .kernel = 500 * US, .once = 20, .pause = 300 * MS}, none = paused;
	none.pause = 0;
	const struct analysis *a = compare(*state, paused, none);
	const struct finding *f = finding_of(a, "one_off_gaps");
	assert_non_null(f);
	assert_false(f->has_ceiling);
	assert_int_equal(f->status, FINDING_SEEN); /* the fixed side has none of it: nothing remains */
	assert_false(f->both);
	assert_non_null(strstr(f->advice, "--warmup"));
	assert_float_equal(f->number[1].value[0], 300 * MS, 20 * US);
	assert_non_null(strstr(f->text, "the GPU waits 300 ms (host code in eval), between gemm and zero"));
	assert_true(a->findings.diagnosis.combined_ceiling == 0);
	for (uint32_t i = 0; i < a->findings.n; i++)
		assert_true(!a->findings.list[i].has_ceiling || a->findings.list[i].per_step[0] < 1 * MS);
	/* every eighth step does is another matter */
	paused.once = 0;
	paused.every = 8;
	a = compare(*state, paused, none);
	assert_null(finding_of(a, "one_off_gaps"));
	assert_int_equal(finding_of(a, "sync_every_step") || finding_of(a, "host_work") ||
	                         finding_of(a, "host_after_sync"),
	                 true);
}

/* Kernels of which none is like another, and one pause of 300 ms: no warm-up can be left out where there are no steps.
 */
static const struct trace *stepless_run(struct scene *s, int64_t pause)
{
	struct clock c = {.s = s};
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		c.t += US * (1 + i * i % 7) + (i == STEPS / 2 ? pause : 0);
		kernel(&c, arena_format(&s->arena, "kernel_%c%c", 'a' + i % 26, 'a' + i / 26), 500 * US);
		c.t = c.gpu;
	}
	return maker_link(&s->m);
}

static void test_once_without_steps(void **state)
{
	const struct trace *paused = stepless_run(*state, 300 * MS);
	const struct analysis *a = compare_traces(*state, paused, stepless_run(*state, 0));
	const struct finding *f = finding_of(a, "one_off_gaps");
	assert_false(a->side[0].steps.found);
	assert_non_null(f);
	assert_int_equal(f->status, FINDING_SEEN);
	assert_null(strstr(f->advice, "--warmup"));
	assert_non_null(strstr(f->advice, "shorter capture"));
}

static void test_a_free_waits_for_the_gpu(void **state)
{
	/* cudaFree returns 20 µs after the GPU has run dry; then the host takes 1 ms until it launches again. */
	struct program frees = {.kernels = 8, .kernel = 300 * US, .frees = true, .after = 1 * MS, .ahead = true};
	struct program pooled = frees;
	pooled.frees = false;
	const struct analysis *a = compare(*state, frees, pooled);
	const struct finding *f = finding_of(a, "alloc_in_step");
	assert_non_null(f);
	assert_float_equal(f->per_step[0], 1020 * US, 40 * US);
	assert_int_equal(f->status, FINDING_RESOLVED);
	assert_float_equal(f->ceiling_step, a->side[1].budget.period, 40 * US);
	assert_int_equal(a->findings.diagnosis.result, DIAGNOSIS_CONFIRMED);
	/* one that did not wait long hides no more than that */
	struct program slow = {.kernels = 1, .kernel = 100 * US, .frees = true, .after = 5 * MS, .ahead = true},
		       fast = slow;
	fast.frees = false;
	a = compare(*state, slow, fast);
	f = finding_of(a, "alloc_in_step");
	assert_non_null(f);
	assert_true(f->per_step[0] < 130 * US);
	assert_float_equal(f->ceiling_step, a->side[1].budget.period, 30 * US);
}

static void test_without_frees_the_host_runs_ahead(void **state)
{
	/* The host cannot launch small kernels as fast as the GPU runs them. Behind a large one it could be ahead. */
	struct program frees = {.kernels = 60, .kernel = 1 * US, .last = 2 * MS, .frees = true, .ahead = true};
	struct program pooled = frees;
	pooled.frees = false;
	const struct analysis *a = compare(*state, frees, pooled);
	const struct finding *f = finding_of(a, "alloc_in_step");
	assert_non_null(f);
	assert_true(a->side[0].budget.period > a->side[1].budget.period + 60 * US);
	assert_float_equal(f->ceiling_step, a->side[1].budget.period, 15 * US);
	assert_true(a->findings.diagnosis.combined_ceiling <= f->ceiling_step);
}

static void test_a_program_that_sleeps(void **state)
{
	struct program frames = {.kernels = 8, .kernel = 200 * US, .sleep = 9 * MS, .bytes = 1 << 20}, poll = frames;
	const struct analysis *a = compare(*state, frames, frames);
	const struct finding *f = finding_of(a, "paced");
	assert_true(f && f->both && !f->has_ceiling);
	assert_non_null(strstr(f->text, "sleeps in nanosleep"));
	assert_float_equal(f->per_step[0], 9 * MS, 50 * US);
	assert_null(finding_of(a, "input_starvation"));
	frames.sleeps[0] = "accept", frames.sleeps[1] = "epoll_wait";
	assert_non_null(strstr(finding_of(compare(*state, frames, frames), "paced")->text, "sleeps for"));
	/* workers are waited for with poll: that is input */
	poll.sleeps[0] = poll.sleeps[1] = poll.sleeps[2] = "poll";
	a = compare(*state, poll, poll);
	assert_null(finding_of(a, "paced"));
	assert_non_null(finding_of(a, "input_starvation"));
}

static void test_a_long_call_is_no_launch(void **state)
{
	/* 32 launches a step, and once a step another call takes 5 ms: a graph would not help. */
	struct program slow = {.kernels = 32, .kernel = 20 * US, .call = "cudaFuncGetAttributes", .length = 5 * MS};
	const struct analysis *a = compare(*state, slow, slow);
	assert_null(finding_of(a, "launch_bound"));
	/* and many short ones are */
	struct program busy = {.kernels = 300, .kernel = 1 * US, .call = "cudaFuncGetAttributes", .length = 5 * MS};
	a = compare(*state, busy, busy);
	assert_non_null(finding_of(a, "launch_bound"));
	assert_true(finding_of(a, "launch_bound")->per_step[0] < 1 * MS);
}

static void test_the_profilers_own_calls(void **state)
{
	struct program with = {.kernels = 100, .kernel = 1 * US, .names = true}, without = with;
	without.names = false;
	const struct analysis *a = compare(*state, with, without);
	assert_true(a->side[1].recording.waited_calls > 95);
	assert_float_equal(a->side[0].recording.waited_calls, a->side[1].recording.waited_calls, 5);
}

static void test_one_finding_with_both_numbers(void **state)
{
	struct program busy = {.kernels = 8, .kernel = 900 * US, .ahead = true}, busier = busy;
	busier.kernel = 1 * MS;
	const struct analysis *a = compare(*state, busy, busier);
	const struct finding *f = finding_of(a, "gpu_bound");
	assert_true(f && f->both);
	assert_float_equal(f->per_step[0], 7204 * US, 10 * US);
	assert_float_equal(f->per_step[1], 8004 * US, 10 * US);
	assert_string_equal(f->number[0].name, "cost");
	assert_float_equal(f->number[0].value[1], f->per_step[1], 1);
	assert_non_null(strstr(f->text, "Kernels run for 7.2 of"));
	assert_non_null(strstr(f->text, "Fixed side: Kernels run for 8 of"));
}

static void test_a_scalar_need_not_be_pinned(void **state)
{
	/* The same 5 µs a step, and only the bytes differ: below a page a pinned copy would take as long. */
	struct program page = {.bytes = 4096, .kernels = 8, .kernel = 10 * US, .pageable = true};
	struct program scalar = page, pinned = page;
	scalar.bytes = 4095;
	pinned.pageable = false;
	const struct finding *f = finding_of(compare(*state, page, page), "pageable_copies");
	assert_true(f && f->both);
	assert_non_null(strstr(f->text, "1 copy per step moves"));
	assert_true(f->per_step[0] >= 5 * US); /* and what the GPU idles before it */
	assert_null(finding_of(compare(*state, scalar, scalar), "pageable_copies"));
	assert_null(finding_of(compare(*state, pinned, pinned), "pageable_copies"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)
	const struct CMUnitTest tests[] = {
		TEST(test_another_order_resolves_nothing),
		TEST(test_what_was_read_back_is_no_input),
		TEST(test_another_name_resolves_nothing),
		TEST(test_a_flag_is_no_input),
		TEST(test_a_small_part_of_the_gain),
		TEST(test_all_is_not_worth_less_than_a_part),
		TEST(test_what_happened_once),
		TEST(test_once_without_steps),
		TEST(test_a_free_waits_for_the_gpu),
		TEST(test_without_frees_the_host_runs_ahead),
		TEST(test_a_program_that_sleeps),
		TEST(test_a_long_call_is_no_launch),
		TEST(test_the_profilers_own_calls),
		TEST(test_one_finding_with_both_numbers),
		TEST(test_a_scalar_need_not_be_pinned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
