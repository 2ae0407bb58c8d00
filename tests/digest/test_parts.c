/* A run whose rows are not held says what it says with all of them held: random traces and made jobs as its parts, gone
 * through part by part and merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/analyse.h"
#include "analysed.h"
#include "draws.h"
#include "pipeline_job.h"
#include "random_trace.h"
#include "rank_job.h"
#include "read/digest_inside.h"
#include "run/parts.h"
#include "trace/again.h"
#include "trace/files.h"

#include <string.h>

enum { SEEDS = 300, MOST_PARTS = 5 };

/* The digests of a run's parts, and how their clocks differ. */
struct files {
	struct buf digest[MOST_PARTS];
	struct time_map map[MOST_PARTS];
	size_t n;
};

/* Which ranges of jobs stay: all, those inside a step, none. */
static enum { RANGES_ALL, RANGES_INSIDE, RANGES_NONE, RANGES } ranges_stay;

static void leave_ranges(struct trace *t)
{
	struct trace_ranges *r = &t->ranges;
	size_t n = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (ranges_stay == RANGES_NONE ||
		    (ranges_stay == RANGES_INSIDE && strcmp(names_text(t->names, r->name[i]), "step") == 0))
			continue;
		r->start[n] = r->start[i];
		r->end[n] = r->end[i];
		r->name[n] = r->name[i];
		r->domain[n] = r->domain[i];
		r->thread[n] = r->thread[i];
		r->kind[n] = r->kind[i];
		r->clipped[n++] = r->clipped[i];
	}
	r->n = n;
}

static uint64_t gpu_of_file; /* that all of its devices are on; 0: it does not say */

static void add_file(struct files *files, struct trace *trace, const struct time_map *map)
{
	struct trace_gpu gpu = {.id = gpu_of_file << 1};
	leave_ranges(trace);
	if (gpu_of_file) {
		trace->gpus = &gpu;
		trace->n_gpus = 1;
	}
	for (uint32_t d = 0; gpu_of_file && d < trace->n_devices; d++)
		trace->devices[d].gpu = 0;
	files->map[files->n] = *map;
	digest_encode(trace, &files->digest[files->n++]);
}

static void release(struct files *files)
{
	for (size_t i = 0; i < files->n; i++)
		buf_release(&files->digest[i]);
}

/* How often all of a part's rows were made again: once for a whole run, and once more for the lanes that are shown
 * where it was gone through part by part. */
static size_t n_parts, loads_of_all;
static void (*load)(const struct trace_again *, unsigned, struct names *, struct arena *, struct trace *);

static void count_load(const struct trace_again *part, unsigned rows, struct names *names, struct arena *arena,
                       struct trace *out)
{
	const unsigned only_then = 1u << ROWS_OF_OVERHEADS;
	__atomic_fetch_add(&loads_of_all, (rows & only_then) != 0, __ATOMIC_RELAXED); /* by a thread for each side */
	load(part, rows, names, arena, out);
}

/* The run of these files, in one arena for all. */
static struct trace *run_of(const struct files *files, bool again, struct names *names, struct arena *arena)
{
	struct trace *traces = ARENA_NEW(arena, files->n, struct trace), *run = ARENA_NEW(arena, 1, struct trace);
	struct merge_part *parts = ARENA_NEW(arena, files->n, struct merge_part);
	struct err err;
	for (size_t i = 0; i < files->n; i++) {
		const struct buf *bytes = &files->digest[i];
		int result = again ? keep_decode("a", bytes, names, arena, &traces[i], &err)
		                   : digest_decode("a", (const unsigned char *)bytes->data, bytes->n, names, arena,
		                                   &traces[i], &err);
		if (result)
			fail_msg("%s", err.text);
		parts[i] = (struct merge_part){.trace = &traces[i], .map = files->map[i]};
	}
	trace_merge(parts, files->n, run, arena);
	n_parts += run->n_again;
	for (uint32_t i = 0; i < run->n_again; i++) {
		load = run->again[i].load;
		run->again[i].load = count_load;
	}
	return run;
}

static const char *asked_step; /* --step; NULL: not given */

static char *json_of(const struct files *baseline, const struct files *fixed, bool again, struct arena *arena)
{
	struct names *names = ARENA_NEW(arena, 1, struct names);
	names_init(names, arena);
	const struct analyse_run runs[] = {{run_of(baseline, again, names, arena), "a"},
	                                   {run_of(fixed, again, names, arena), "b"}};
	return analysed_json(runs, asked_step, names, arena);
}

static size_t judged, by_range, by_pattern;

static void compare(unsigned seed, const struct files *baseline, const struct files *fixed)
{
	struct arena arena = {0};
	const char *whole = json_of(baseline, fixed, false, &arena), *parts = json_of(baseline, fixed, true, &arena);
	size_t at = 0;
	if (strcmp(whole, parts) != 0) {
		while (whole[at] == parts[at])
			at++;
		fail_msg("seed %u: …%.300s… became …%.300s…", seed, whole + (at > 200 ? at - 200 : 0),
		         parts + (at > 200 ? at - 200 : 0));
	}
	judged += whole[0] == '{';
	by_range += strstr(whole, "\"origin\": \"range\"") || strstr(whole, "\"origin\": \"marked\"") ||
	            strstr(whole, "\"origin\": \"named\"");
	by_pattern += strstr(whole, "\"origin\": \"pattern\"") != NULL;
	arena_release(&arena);
}

/* Clocks that differ and drift, for some. */
static struct time_map random_map(struct random *random)
{
	struct time_map map = {.offset = random_between(random, 0, 3000)};
	if (random_chance(random, 30)) {
		map.drift = 20e-6;
		map.at = random_between(random, 0, 20000);
	}
	return map;
}

static void add_random(struct files *files, unsigned seed, struct random *random)
{
	struct arena arena = {0};
	struct names names;
	struct maker m;
	struct random_shape shape = {.length = 20000,
	                             .causal = seed % 4 != 0,
	                             .steps = seed % 5 != 0 && !random_chance(random, 15),
	                             .one_domain = seed % 2,
	                             .processes = 1 + (int)random_between(random, 0, 2),
	                             .max_calls = 60};
	names_init(&names, &arena);
	if (random_chance(random, 50)) /* names have other numbers */
		names_add_text(&names, "gemm");
	maker_init(&m, &arena, &names);
	random_trace(&m, &shape, random);
	const struct time_map map = random_map(random);
	maker_link(&m);
	add_file(files, m.trace, &map);
	arena_release(&arena);
}

static void test_random_traces(void **state)
{
	(void)state;
	judged = by_range = by_pattern = 0;
	const unsigned seeds = (unsigned)draws(SEEDS);
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct random random = {.state = seed};
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		for (int s = 0; s < 2; s++)
			for (int64_t n = random_between(&random, 2, MOST_PARTS); n > 0; n--)
				add_random(&sides[s], seed, &random);
		compare(seed, &sides[0], &sides[1]);
		release(&sides[0]);
		release(&sides[1]);
	}
	assert_true(judged > seeds / 2);
	assert_true(by_range > seeds / 10);
}

/* Each part is several ranks of a job, that differ in what they compute, wait for and load. */
static void add_job(struct files *files, unsigned seed, int part)
{
	static const char *const collectives[] = {NULL, "ncclDevKernel_SendRecv(ncclDevKernelArgs)",
	                                          "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgs)"};
	struct arena arena = {0};
	struct names names;
	struct rank_job job = {.ranks = 1 + (seed + (unsigned)part) % 3,
	                       .load = 1000,
	                       .forward = 2000,
	                       .backward = 4000,
	                       .move = 200,
	                       .noise = 5,
	                       .seed = seed * 10 + (unsigned)part,
	                       .turns = seed % 5 == 1,
	                       .collective = collectives[seed % 4 == 3 ? 1 + seed % 2 : 0]};
	job.more_backward[0] = part == 1 ? 300 : 0;
	job.more_load[0] = part == 2 ? 500 : 0;
	job.every = seed % 3 ? 0 : 7;
	names_init(&names, &arena);
	const struct time_map map = {.offset = part * 100};
	struct trace trace = *rank_job_make(&job, &arena, &names);
	add_file(files, &trace, &map);
	arena_release(&arena);
}

/* Ranges that are there many times, once, without GPU work, or not at all. */
static void test_named_steps(void **state)
{
	(void)state;
	static const char *const asked[] = {"step", "backward", "data", "none", "nothing"};
	for (unsigned seed = 1; seed <= 10 * sizeof asked / sizeof *asked; seed++) {
		struct random random = {.state = seed};
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		asked_step = asked[seed % (sizeof asked / sizeof *asked)];
		for (int s = 0; s < 2; s++)
			for (int64_t n = random_between(&random, 2, MOST_PARTS); n > 0; n--)
				if (seed % 2)
					add_random(&sides[s], seed, &random);
				else
					add_job(&sides[s], seed + 100 * (unsigned)s, (int)n);
		compare(seed, &sides[0], &sides[1]);
		release(&sides[0]);
		release(&sides[1]);
	}
	asked_step = NULL;
}

/* Files that share a GPU are looked at together, those between them with them; others are not. */
static void test_shared_gpus(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= draws_each(60); seed++) {
		struct random random = {.state = seed};
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		for (int s = 0; s < 2; s++) {
			int64_t n = random_between(&random, 2, MOST_PARTS);
			for (gpu_of_file = 1; gpu_of_file <= (uint64_t)n; gpu_of_file++) {
				uint64_t own = gpu_of_file;
				gpu_of_file = random_chance(&random, 40) ? 1 : own;
				add_random(&sides[s], seed, &random);
				gpu_of_file = own;
			}
		}
		gpu_of_file = 0;
		compare(seed, &sides[0], &sides[1]);
		release(&sides[0]);
		release(&sides[1]);
	}
}

/* None of the two sides was merged. */
static void compare_parts(unsigned seed, const struct files sides[2])
{
	n_parts = loads_of_all = 0;
	compare(seed, &sides[0], &sides[1]);
	assert_true(loads_of_all > n_parts);
}

static void test_jobs(void **state)
{
	(void)state;
	judged = by_range = by_pattern = 0;
	for (unsigned seed = 1; seed <= RANGES * 24; seed++) {
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		ranges_stay = seed % RANGES;
		for (int s = 0; s < 2; s++)
			for (int part = 0; part < 2 + (int)seed % 4; part++)
				add_job(&sides[s], seed + 100 * (unsigned)s, part);
		compare_parts(seed, sides);
		release(&sides[0]);
		release(&sides[1]);
	}
	ranges_stay = RANGES_ALL;
	assert_int_equal(judged, RANGES * 24);
	assert_int_equal(by_range, 24);
	assert_int_equal(by_pattern, (RANGES - 1) * 24);
}

/* Several pipelines of two stages, a file each; their bubbles, and copies beside them. */
static void test_pipelines(void **state)
{
	(void)state;
	judged = by_range = by_pattern = 0;
	for (unsigned seed = 0; seed < RANGES * 8; seed++) {
		ranges_stay = seed / 8;
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		for (int s = 0; s < 2; s++)
			for (int part = 0; part < 2; part++) {
				struct arena arena = {0};
				struct names names;
				struct pipeline_truth truth[PIPELINE_MOST];
				const struct time_map map = {.offset = 1000 * part};
				struct pipeline_job job = {.stages = 2,
				                           .microbatches = 4,
				                           .tensor = 1 + (int)seed % 2,
				                           .data = 1,
				                           .alternating = seed / 2 % 2,
				                           .forward = 200000 + 1000 * (int64_t)seed,
				                           .backward = 400000 / (s + 1),
				                           .slow = -1,
				                           .number = part,
				                           .copies = seed / 4 * 30000};
				names_init(&names, &arena);
				struct trace trace = *pipeline_make(&job, &arena, &names, truth);
				add_file(&sides[s], &trace, &map);
				assert_true(truth[0].bubble > 0);
				arena_release(&arena);
			}
		compare_parts(seed, sides);
		release(&sides[0]);
		release(&sides[1]);
	}
	ranges_stay = RANGES_ALL;
	assert_int_equal(judged, RANGES * 8);
	assert_int_equal(by_range, 8);
	assert_int_equal(by_pattern, (RANGES - 1) * 8);
}

/* Programs that nobody marked, the same in each part but for their lengths. */
enum program {
	PLAIN,   /* two kernels, eight of which are a step where it reads back … */
	READS,   /* … and this one does: a fourth of the other's steps are one of its */
	SHORT,   /* start-up is more than half of the GPU's time */
	FALLING, /* each step has less to do */
	WORKERS, /* two streams, whose ops lie side by side */
	RANDOM,  /* nothing repeats */
	PROGRAMS
};

static int64_t add_op(struct maker *m, uint32_t thread, uint32_t device, uint32_t stream, int64_t at, int64_t start,
                      int64_t length, const char *name)
{
	static uint32_t correlation;
	maker_call(m, thread, at, at + 2000, "cudaLaunchKernel", CALL_LAUNCH, ++correlation);
	maker_op(m, device, stream, strncmp(name, "nccl", 4) == 0 ? OP_COMM : OP_KERNEL, start, start + length, name,
	         correlation);
	return start + length;
}

static void add_program(struct files *files, enum program program, int part, struct random *random)
{
	static const char *const once[] = {"fill", "sort", "hash", "scan", "pack", "init"};
	struct arena arena = {0};
	struct names names;
	struct maker m;
	names_init(&names, &arena);
	if (random_chance(random, 50))
		names_add_text(&names, "multiply");
	maker_init(&m, &arena, &names);
	uint32_t process = maker_process(&m, 100 + part), thread = maker_thread(&m, process, 100 + part);
	uint32_t device = maker_device(&m, process, 0, TRACE_NONE);
	const int n = program == FALLING ? 90 : 60 + part;
	const int64_t length = program == SHORT ? 8000 : 80000;
	int64_t t = 1000 * part;
	for (int i = 0; i < 6; i++)
		t = add_op(&m, thread, device, 7, t, t + 5000, program == SHORT ? 20000000 : 50000, once[i]);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 8; k++) {
			const char *name = program == RANDOM ? once[random_between(random, 0, 5)]
			                   : k % 2           ? "normalise"
			                                     : "multiply";
			int64_t of_this = length + random_between(random, 0, length / 20);
			of_this = program == FALLING ? of_this * (n - i) / n : of_this;
			if (program == WORKERS)
				add_op(&m, thread, device, 9, t, t + 20000, of_this, "beside");
			t = add_op(&m, thread, device, 7, t, t + 5000, of_this, name);
		}
		if (program == READS)
			t = add_op(&m, thread, device, 7, t, t + 5000, length, "largest");
		if (program == WORKERS)
			t = add_op(&m, thread, device, 11, t, t + 5000, length,
			           "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	}
	maker_link(&m);
	add_file(files, m.trace, &(struct time_map){.offset = 1000 * part});
	arena_release(&arena);
}

static void test_programs(void **state)
{
	(void)state;
	judged = by_range = by_pattern = 0;
	for (unsigned seed = 0; seed < 2 * PROGRAMS * PROGRAMS; seed++) {
		struct random random = {.state = seed + 1};
		struct files sides[2] = {{.n = 0}, {.n = 0}};
		const enum program of[2] = {seed % PROGRAMS, seed / PROGRAMS % PROGRAMS};
		for (int s = 0; s < 2; s++)
			for (int part = 0; part < 2 + (int)seed % 2; part++)
				add_program(&sides[s], seed % 7 || part ? of[s] : PLAIN, part, &random);
		compare(seed, &sides[0], &sides[1]);
		release(&sides[0]);
		release(&sides[1]);
	}
	assert_int_equal(judged, 2 * PROGRAMS * PROGRAMS);
	assert_true(by_pattern >= PROGRAMS * PROGRAMS);
}

/* What can be gone through part by part is not held: the rows that are left are those of communication. */
static void test_rows_are_not_held(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct names names;
	struct files files = {.n = 0};
	size_t ops = 0;
	names_init(&names, &arena);
	for (int part = 0; part < 3; part++)
		add_job(&files, 1, part);
	const struct trace *held = run_of(&files, false, &names, &arena), *run = run_of(&files, true, &names, &arena);
	struct run open;
	run_open(&open, run, &arena);
	assert_true(open.parts->n == 3 && !open.parts->held);
	assert_int_equal(run->n_again, 3);
	for (uint32_t i = 0; i < run->n_again; i++)
		ops += run->again[i].ops;
	assert_int_equal(ops, held->ops.n);
	assert_true(run->ops.n == 0 && run->calls.n == 0 && run->ranges.n == 0);
	size_t n_kernels, n, at = 0;
	const struct comm_kernel *kernels = comm_kernels_of(held, 0, &arena, &n_kernels);
	for (uint32_t piece = 0; piece < comm_kernels_pieces(run); piece++) {
		const struct comm_kernel *of = comm_kernels_of(run, piece, &arena, &n);
		for (size_t i = 0; i < n; i++, at++)
			assert_true(of[i].op == at && of[i].start == kernels[at].start &&
			            of[i].device == kernels[at].device && of[i].thread == kernels[at].thread);
	}
	assert_true(n_kernels && at == n_kernels && n_kernels < ops / 2);
	struct trace whole;
	again_load(run, 0, 3, AGAIN_ALL, &arena, &whole);
	assert_int_equal(whole.ops.n, held->ops.n);
	assert_memory_equal(whole.ops.start, held->ops.start, held->ops.n * sizeof *held->ops.start);
	assert_memory_equal(whole.ops.launch, held->ops.launch, held->ops.n * sizeof *held->ops.launch);
	assert_memory_equal(whole.ranges.end, held->ranges.end, held->ranges.n * sizeof *held->ranges.end);
	release(&files);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_traces),     cmocka_unit_test(test_shared_gpus),
		cmocka_unit_test(test_named_steps),       cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_pipelines),         cmocka_unit_test(test_programs),
		cmocka_unit_test(test_rows_are_not_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
