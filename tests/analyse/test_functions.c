/* Which samples idle time is charged with, and what is made of them: counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result/say.h"
#include "scene.h"

#include <math.h>
#include <string.h>

enum { EVERY = 10 }; /* ns between two samples, which are taken 5 ns after the tens */

/* What a thread is in until a time; the last one ends with 0. */
struct doing_until {
	int64_t until;
	const char *stack;
};

static bool nobody_samples;

static void sample(struct scene *s, uint32_t thread, int64_t from, const struct doing_until *what)
{
	for (int64_t t = from + EVERY / 2; what->until && !nobody_samples; t += EVERY) {
		while (what->until && t >= what->until)
			what++;
		if (what->until && what->stack)
			maker_sample(&s->m, thread, t, what->stack);
	}
}

static const struct function_row *find(struct scene *s, const struct function_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (strcmp(say_function(&s->names, &list->row[i].function, 80, &s->arena), name) == 0)
			return &list->row[i];
	return NULL;
}

static void expect(struct scene *s, const struct function_list *list, const char *name, int side, double self,
                   double total)
{
	const struct function_row *row = find(s, list, name);
	if (!row)
		fail_msg("%s is not listed", name);
	double within = 1e-4 * total; /* a ns of 10 us is of no phase */
	if (fabs(row->self[side] - self) > within || fabs(row->total[side] - total) > within)
		fail_msg("%s: %g, %g with what it calls, not %g, %g", name, row->self[side], row->total[side], self,
		         total);
}

/* A runs on [1000, 2000), B on [5000, 6000), and is launched on [4900, 4950). */
static void kernels_a_b(struct scene *s)
{
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 4900, 4950, 5000, 6000);
}

static const struct doing_until WORK[] = {{1950, "out"},      {3000, "main > a"},      {4000, "main > b > c"},
                                          {4900, "main > a"}, {4950, "main > launch"}, {7000, "out"},
                                          {0, NULL}};

static void test_came_late(void **state)
{
	/* r = 50: the gap [2000, 5000) is charged with [1950, 4950), and with none of what lies around that. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_range(s, s->main, 100, 6000, "load");
	sample(s, s->main, 0, WORK);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	assert_true(f->known && !f->both);
	assert_int_equal((int)f->side[0].samples, 700);
	assert_int_equal((int)f->side[0].idle, 300);
	assert_true(fabs(f->side[0].interval - EVERY) < 1e-9);
	expect(s, &f->all, "a", 0, 1950, 1950);
	expect(s, &f->all, "c", 0, 1000, 1000);
	expect(s, &f->all, "b", 0, 0, 1000);
	expect(s, &f->all, "launch", 0, 50, 50);
	expect(s, &f->all, "main", 0, 0, 3000);
	assert_null(find(s, &f->all, "out"));
	assert_int_equal(f->n_causes, 1); /* the launch has too few */
	assert_int_equal(f->cause[0].cause, CAUSE_HOST_CODE);
	assert_string_equal(names_text(&s->names, f->cause[0].phase), "load");
	assert_int_equal((int)f->cause[0].samples[0], 295);
	assert_true(fabs(f->cause[0].idle[0] - 2950) < 1e-6);
	assert_true(fabs(f->cause[0].sampled[0] - 2950) < 1e-6);
	assert_string_equal(say_function(&s->names, &f->all.row[0].function, 80, &s->arena), "a");
}

static void test_late_samples_stand_for_more(void **state)
{
	/* A sampler that is asked for one every 10 ns: each stands for half the way to its neighbours, but where that
	 * is a hundred times as far as asked for, or there is none, it stands for 5. */
	struct scene *s = *state;
	kernels_a_b(s);
	for (int64_t t = 1955; t <= 2055; t += EVERY)
		maker_sample(&s->m, s->main, t, "main > a");
	maker_sample(&s->m, s->main, 2555, "main > b"); /* 500 late, and the next one 2000 */
	for (int64_t t = 4555; t <= 4575; t += EVERY)
		maker_sample(&s->m, s->main, t, "main > c");
	s->m.trace->source.sample_ns = EVERY;
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	double ns = find(s, &f->all, "c")->self[0] / (3 * EVERY);
	assert_true(ns > 0);
	assert_true(fabs(find(s, &f->all, "a")->self[0] / ns - (10 * EVERY + 5 + 250)) < 1e-6);
	assert_true(fabs(find(s, &f->all, "b")->self[0] / ns - (250 + 5)) < 1e-6);
}

static void test_gaps_that_happened_once_count_for_none(void **state)
{
	/* After B the host pauses for 2 ms, and launches C: samples of the pause are no idle time's. */
	struct scene *s = *state;
	enum { PAUSE = 2000 * 1000 };
	kernels_a_b(s);
	scene_kernel(s, s->main, PAUSE, PAUSE + 50, PAUSE + 100, PAUSE + 1000);
	scene_kernel(s, s->main, PAUSE + 1900, PAUSE + 1950, PAUSE + 2000, PAUSE + 3000);
	sample(s, s->main, 0, WORK);
	for (int64_t t = 7000; t < PAUSE; t += 100 * EVERY)
		maker_sample(&s->m, s->main, t, "main > pause");
	maker_sample(&s->m, s->main, PAUSE + 1500, "main > after");
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	assert_non_null(find(s, &f->all, "a"));
	assert_null(find(s, &f->all, "pause"));
	assert_null(find(s, &f->all, "out"));
	assert_non_null(find(s, &f->all, "after"));
	assert_int_equal((int)f->side[0].idle, 300 + 1);
	double idle = 0;
	for (uint32_t c = 0; c < f->n_causes; c++)
		idle += f->cause[c].idle[0];
	assert_true(idle <= 4000);
}

static void test_after_a_synchronisation(void **state)
{
	/* main synchronises on [1900, 2100): the gap is charged with [2000, 4950), the last 50 with nobody's doing. */
	struct scene *s = *state;
	kernels_a_b(s);
	scene_call(s, s->main, 1900, 2100, "cudaDeviceSynchronize", CALL_SYNC);
	sample(s, s->main, 0, WORK);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	assert_int_equal((int)f->side[0].idle, 295);
	expect(s, &f->all, "a", 0, 1900, 1900);
	assert_true(fabs(f->side[0].covered - 1) < 1e-9 && fabs(f->side[0].stands - 1) < 1e-9);
}

static void test_had_been_waiting(void **state)
{
	/* B was queued 13 us before: the GPU's gap is no thread's. */
	struct scene *s = *state;
	scene_kernel(s, s->main, 900, 950, 1000, 2000);
	scene_kernel(s, s->main, 1100, 1150, 15000, 16000);
	sample(s, s->main, 0, WORK);
	scene_analyse(s);
	assert_false(s->result.functions.known);
	assert_int_equal((int)s->result.functions.side[0].samples, 700);
}

static void test_the_thread_that_is_waited_for(void **state)
{
	/* main waits for the other launching thread on [1500, 4800): that one's functions count, until then and from
	 * then on main's. */
	static const struct doing_until waits[] = {
		{4900, "main > wait"}, {4950, "main > launch"}, {7000, "out"}, {0, NULL}};
	static const struct doing_until works[] = {{7000, "worker > backward"}, {0, NULL}};
	struct scene *s = *state;
	kernels_a_b(s);
	scene_kernel(s, s->other, 600, 620, 700, 800);
	maker_os_call(&s->m, s->main, 1500, 4800, "pthread_cond_wait", OS_WAIT);
	sample(s, s->main, 0, waits);
	sample(s, s->other, 0, works);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	expect(s, &f->all, "backward", 0, 2850, 2850); /* [1950, 4800) */
	/* [4800, 4900); and before A, whose gap [800, 1000) is charged with main's [750, 950) */
	expect(s, &f->all, "wait", 0, 300, 300);
	assert_null(find(s, &f->all, "out"));
}

static void test_what_is_not_sampled(void **state)
{
	/* Nothing is sampled on [2000, 3500), and before 1500 and after 4400 nobody samples. Of [1950, 4400), which is
	 * 2450 ns, samples stand for 950; [4400, 4950) counts as the like. */
	static const struct doing_until some[] = {{2000, "a"}, {3500, NULL}, {4400, "b"}, {0, NULL}};
	struct scene *s = *state;
	kernels_a_b(s);
	sample(s, s->main, 1500, some);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	/* looked at: from 1950 to the last sample, 4395; the launch, [4900, 4950), was not */
	double looked = 4395 - 1950, idle = 2950;
	assert_true(fabs(f->side[0].covered - looked / 3000) < 1e-9);
	assert_true(fabs(f->side[0].stands - 950 / looked) < 1e-9);
	expect(s, &f->all, "a", 0, 50 * idle / looked, 50 * idle / looked);
	expect(s, &f->all, "b", 0, 900 * idle / looked, 900 * idle / looked);
}

static void test_the_scheduler_knows_the_interval(void **state)
{
	/* A thread that runs for 5 of every 40 ns is sampled every 10 ns that it runs: samples are 80 ns apart. */
	struct scene *s = *state;
	kernels_a_b(s);
	for (int64_t t = 0; t < 7000; t += 40)
		maker_slice(&s->m, s->main, t, t + 5);
	for (int64_t t = 2; t < 7000; t += 80)
		maker_sample(&s->m, s->main, t, "main > a");
	scene_analyse(s);
	assert_true(fabs(s->result.functions.side[0].interval - 10) < 0.2);
}

static void test_two_devices_wait(void **state)
{
	/* The second one's gap is [2000, 3000), charged with [1950, 2950): 100 samples of 1000 ns, half of a step. */
	struct scene *s = *state;
	kernels_a_b(s);
	uint32_t second = maker_device(&s->m, s->process, 1, TRACE_NONE);
	maker_call(&s->m, s->main, 800, 850, "cudaLaunchKernel", CALL_LAUNCH, 1001);
	maker_op(&s->m, second, 7, OP_KERNEL, 1000, 2000, "A", 1001);
	maker_call(&s->m, s->main, 2900, 2950, "cudaLaunchKernel", CALL_LAUNCH, 1002);
	maker_op(&s->m, second, 7, OP_KERNEL, 3000, 6000, "B", 1002);
	sample(s, s->main, 0, WORK);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	assert_int_equal((int)f->side[0].idle, 400);
	expect(s, &f->all, "main", 0, 0, (3000 + 1000) / 2.0);
	expect(s, &f->all, "a", 0, (1950 + 1000) / 2.0, (1950 + 1000) / 2.0);
}

static void test_recursion_and_what_is_not_known(void **state)
{
	/* A function that calls itself counts once; a broken stack is no function, a module without symbols is one. */
	static const struct doing_until odd[] = {
		{3000, "f > g > f"}, {3500, "! > [libc.so.6]"}, {4000, "?"}, {4500, ""}, {7000, "f"}, {0, NULL}};
	struct scene *s = *state;
	kernels_a_b(s);
	sample(s, s->main, 0, odd);
	scene_analyse(s);
	const struct functions *f = &s->result.functions;
	expect(s, &f->all, "f", 0, 1050 + 450, 1050 + 450);
	expect(s, &f->all, "g", 0, 0, 1050);
	expect(s, &f->all, "libc.so.6 (no symbols)", 0, 500, 500);
	expect(s, &f->all, "(unknown)", 0, 500, 500);
	assert_null(find(s, &f->all, "(callers unknown)"));
	assert_int_equal((int)f->side[0].broken, 50);
	assert_int_equal((int)f->side[0].unnamed, 100);
	assert_int_equal((int)f->side[0].bare, 50);
}

/* ---- pairs ---- */

enum { STEPS = 60 };

/* Steps of 40 us: in `load` functions read, parse and mix run for so long, then a kernel of 8 us. */
static const struct trace *steps_trace(struct scene *s, int64_t read, int64_t parse, int64_t mix, const char *phase)
{
	int64_t t = 0;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t load = read + parse + mix, start = t + load + 10 * EVERY;
		scene_range(s, s->main, t, start + 2 * EVERY, "step");
		if (load)
			scene_range(s, s->main, t + 1, t + load, phase);
		scene_range(s, s->main, t + load, start + EVERY, "compute");
		scene_kernel(s, s->main, t + load + 1, t + load + 6, start, start + 8000);
		const struct doing_until work[] = {{t + read, "main > load > read"},
		                                   {t + read + parse, "main > load > parse > number"},
		                                   {t + load, "main > load > mix"},
		                                   {start + 8000, "main > wait"},
		                                   {0, NULL}};
		sample(s, s->main, t, work);
		scene_call(s, s->main, t + load + 7, start + 8000, "cudaDeviceSynchronize", CALL_SYNC);
		t = start + 8000;
	}
	return maker_link(&s->m);
}

static const struct analysis *analyse(struct scene *s, const struct trace *baseline, const struct trace *fixed)
{
	static const struct analyse_options defaults = {.warmup = -1, .gates.max_regression = -1};
	struct err err = {0};
	struct analysis *result = ARENA_NEW(&s->arena, 1, struct analysis);
	struct analyse_run runs[2] = {{.trace = baseline, .file = "baseline"}, {.trace = fixed, .file = "fixed"}};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, &defaults, &s->names, &s->arena, result, &err))
		fail_msg("%s", err.text);
	return result;
}

static void test_what_got_faster_stands_first(void **state)
{
	struct scene *s = *state;
	const struct trace *before = steps_trace(s, 6000, 9000, 15000, "load");
	const struct trace *after = steps_trace(s, 6000, 4000, 15000, "load");
	const struct functions *f = &analyse(s, before, after)->functions;
	assert_true(f->both);
	assert_string_equal(say_function(&s->names, &f->all.row[0].function, 80, &s->arena), "number");
	assert_true(f->all.row[0].changed);
	for (uint32_t i = 1; i < f->all.n; i++)
		assert_false(f->all.row[i].changed);
	expect(s, &f->all, "number", 0, 9000, 9000);
	expect(s, &f->all, "number", 1, 4000, 4000);
	expect(s, &f->all, "mix", 1, 15000, 15000);
	for (uint32_t i = 0; i < f->n_parts; i++) {
		const struct stack_part *p = &f->part[i];
		const char *name = say_function(&s->names, &p->function, 80, &s->arena);
		if (p->parent != TRACE_NONE && strcmp(name, "number") == 0) {
			assert_int_equal(p->change, STACK_MUCH_LESS);
			assert_int_equal(p->n_callers, 1); /* parse, which does nothing itself */
		} else if (p->parent != TRACE_NONE && (strcmp(name, "read") == 0 || strcmp(name, "mix") == 0)) {
			assert_int_equal(p->change, STACK_SAME);
		}
	}
	/* The other way round, it got slower. */
	const struct functions *back = &analyse(s, after, before)->functions;
	assert_string_equal(say_function(&s->names, &back->all.row[0].function, 80, &s->arena), "number");
}

/* Of a function, or of host code in a phase (NULL). */
static enum stack_change change_of(struct scene *s, const struct functions *f, const char *name)
{
	uint32_t i = 0;
	for (; i < f->n_parts; i++) {
		const char *of = say_function(&s->names, &f->part[i].function, 80, &s->arena);
		if (f->part[i].depth ? name && strcmp(of, name) == 0
		                     : !name && f->part[i].cause == CAUSE_HOST_CODE && f->part[i].phase)
			break;
	}
	assert_true(i < f->n_parts);
	return f->part[i].change;
}

static void test_no_idle_time_is_a_change_to_nothing(void **state)
{
	/* The fixed side has no sample of idle time, and its GPU never waits for `load`. */
	struct scene *s = *state;
	const struct trace *before = steps_trace(s, 6000, 2000, 15000, "load");
	nobody_samples = true;
	const struct trace *after = steps_trace(s, 0, 0, 0, "load");
	nobody_samples = false;
	const struct functions *f = &analyse(s, before, after)->functions;
	const struct functions *back = &analyse(s, after, before)->functions;
	for (int i = 0; i < 3; i++) {
		const char *of = ((const char *[]){NULL, "read", "mix"})[i];
		assert_int_equal(change_of(s, f, of), STACK_MUCH_LESS);
		assert_int_equal(change_of(s, back, of), STACK_MUCH_MORE);
	}
	assert_true(find(s, &f->all, "mix")->changed);
}

static void test_without_samples_idle_time_bounds_a_change(void **state)
{
	/* Of the fixed side's 3 us nobody knows in what they are: `number` may have all of its 2 us still, and of the
	 * 15 us of `mix` at least 12 went. */
	struct scene *s = *state;
	const struct trace *before = steps_trace(s, 6000, 2000, 15000, "load");
	nobody_samples = true;
	const struct trace *after = steps_trace(s, 1000, 1000, 1000, "load"),
			   *as_long = steps_trace(s, 6000, 2000, 15000, "load");
	nobody_samples = false;
	const struct functions *f = &analyse(s, before, after)->functions;
	assert_int_equal(change_of(s, f, NULL), STACK_MUCH_LESS);
	assert_int_equal(change_of(s, f, "mix"), STACK_MUCH_LESS);
	assert_int_equal(change_of(s, f, "number"), STACK_SAME);
	assert_true(find(s, &f->all, "mix")->changed && !find(s, &f->all, "number")->changed);
	assert_true(fabs(find(s, &f->all, "mix")->untold[1] - 3000) < 10 && f->drawn[1] > 2990 && f->idle[1] == 0);
	f = &analyse(s, before, as_long)->functions;
	assert_true(change_of(s, f, NULL) == STACK_SAME && change_of(s, f, "mix") == STACK_SAME);
}

static void test_a_renamed_phase_is_the_same(void **state)
{
	struct scene *s = *state;
	const struct functions *f =
		&analyse(s, steps_trace(s, 6000, 9000, 15000, "load"), steps_trace(s, 6000, 4000, 15000, "load_batch"))
			 ->functions;
	assert_string_equal(names_text(&s->names, f->cause[0].phase), "load");
	assert_true(f->cause[0].samples[0] > 0 && f->cause[0].samples[1] > 0);
}

static void test_a_finding_names_the_function(void **state)
{
	struct scene *s = *state;
	const struct analysis *a = analyse(s, maker_scaled(&s->arena, steps_trace(s, 3000, 20000, 7000, "load"), 1000),
	                                   maker_scaled(&s->arena, steps_trace(s, 3000, 4000, 7000, "load"), 1000));
	assert_true(a->findings.n > 0);
	if (!strstr(a->findings.list[0].text,
	            "Of the wait for host code in load, 67 % is in 'parse' \xE2\x86\x92 'number' ("))
		fail_msg("%s", a->findings.list[0].text);
}

/* In each step the main thread waits for the interpreter's lock for 20 us; who holds it, in percent of that: a thread
 * of this name ("": none of its own, "main": the thread that the program began with), and what that one does. */
struct holding {
	const char *thread, *stack;
	int percent;
};

static const struct trace *lock_trace(struct scene *s, const struct holding *holding, size_t n)
{
	enum { WAITS = 20000 };
	int64_t t = 0;
	scene_trace_begin(s);
	uint32_t process = s->m.trace->threads[s->main].process, holder[8];
	uint32_t launches = maker_thread(&s->m, process, 4711);
	for (size_t i = 0; i < n; i++) {
		int64_t pid = s->m.trace->processes[process].pid;
		bool first = strcmp(holding[i].thread, "main") == 0;
		holder[i] = first ? s->main : maker_thread(&s->m, process, pid + 100 + (int64_t)i);
		s->m.trace->threads[holder[i]].name =
			names_add_text(&s->names, first || !*holding[i].thread ? "python3" : holding[i].thread);
	}
	s->m.trace->threads[s->main].tid = s->m.trace->processes[process].pid;
	s->m.trace->threads[s->main].name = names_add_text(&s->names, "python3");
	for (int i = 0; i < STEPS; i++) {
		int64_t start = t + WAITS + 10 * EVERY, at = t;
		scene_range(s, launches, t, start + 2 * EVERY, "step");
		for (size_t k = 0; k < n; k++) {
			int64_t end = at + WAITS * holding[k].percent / 100;
			maker_gil(&s->m, launches, at, end, holder[k], holding[k].stack);
			at = end;
		}
		scene_kernel(s, launches, t + WAITS + 1, t + WAITS + 6, start, start + 8000);
		const struct doing_until work[] = {{start + 8000, "main > step"}, {0, NULL}};
		sample(s, launches, t, work);
		scene_call(s, launches, t + WAITS + 7, start + 8000, "cudaDeviceSynchronize", CALL_SYNC);
		t = start + 8000;
	}
	return maker_scaled(&s->arena, maker_link(&s->m), 1000);
}

static void expect_lock(struct scene *s, const char *said, const struct holding *holding, size_t n)
{
	const struct trace *t = lock_trace(s, holding, n);
	const struct analysis *a = analyse(s, t, t);
	const struct functions *f = &a->functions;
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (strcmp(a->findings.list[i].id, "gil_contention") == 0 && !strstr(a->findings.list[i].text, said))
			fail_msg("%s", a->findings.list[i].text);
	assert_string_equal(a->findings.list[0].id, "gil_contention");
	assert_int_equal(f->cause[0].cause, CAUSE_GIL);
	assert_int_equal(f->cause[0].n_holders, n);
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += f->cause[0].holders[i].time[0];
	if (fabs(sum - f->cause[0].idle[0]) > 0.01 * sum)
		fail_msg("holders' %g ns are not the cause's %g", sum, f->cause[0].idle[0]);
}
#define EXPECT_LOCK(s, said, ...)                                                                                      \
	expect_lock(s, said, (const struct holding[]){__VA_ARGS__},                                                    \
	            sizeof((const struct holding[]){__VA_ARGS__}) / sizeof(struct holding))

static void test_a_finding_names_the_holder(void **state)
{
	struct scene *s = *state;
	EXPECT_LOCK(s, "100 % of it is for 'decode' in the thread 'loader-1', which holds the lock (",
	            {"loader-1", "run > decode", 100});
	EXPECT_LOCK(s, "for 'decode' in the thread 'loader-1', which holds the lock (", {"loader-2", "run > log", 20},
	            {"loader-1", "run > decode", 80});
	EXPECT_LOCK(s, "for 'run' in other threads, which hold the lock, the thread 'loader-1' longest (",
	            {"loader-1", "run > decode", 55}, {"loader-2", "run > log", 45});
	EXPECT_LOCK(s, "for 'decode' in the main thread, which holds the lock (", {"main", "run > decode", 100});
	EXPECT_LOCK(s, "for 'decode' in another thread, which holds the lock (", {"", "run > decode", 100});
	EXPECT_LOCK(s, "for 'decode' in other threads, which hold the lock (", {"", "run > decode", 60},
	            {"loader-1", "run > decode", 40});
	EXPECT_LOCK(s, "in the thread 'a name of a thread that is as long as people mak\xE2\x80\xA6'",
	            {"a name of a thread that is as "
	             "long as people make them when nobody stops them",
	             "run > decode", 100});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_came_late),
		SCENE(test_late_samples_stand_for_more),
		SCENE(test_gaps_that_happened_once_count_for_none),
		SCENE(test_after_a_synchronisation),
		SCENE(test_had_been_waiting),
		SCENE(test_the_thread_that_is_waited_for),
		SCENE(test_what_is_not_sampled),
		SCENE(test_the_scheduler_knows_the_interval),
		SCENE(test_two_devices_wait),
		SCENE(test_recursion_and_what_is_not_known),
		SCENE(test_what_got_faster_stands_first),
		SCENE(test_no_idle_time_is_a_change_to_nothing),
		SCENE(test_without_samples_idle_time_bounds_a_change),
		SCENE(test_a_renamed_phase_is_the_same),
		SCENE(test_a_finding_names_the_function),
		SCENE(test_a_finding_names_the_holder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
