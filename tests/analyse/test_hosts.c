/* Generated jobs of 64 ranks, a file each, on two hosts whose clocks are 3 ms and 20 ppm apart: the clocks, the
 * straggler and every rank's budget, as put in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysed.h"
#include "trace/files.h"
#include "trace_maker.h"

enum { RANKS = 64, STEPS = 40, WARM = 3, US = 1000 };

/* Steps of data_load, forward and backward, an all-reduce of gradients, a kernel, a small all-reduce (the norm of the
 * gradients), the optimizer. Times in µs. */
struct job {
	int64_t offset;   /* of the second host's clock … */
	double drift;     /* … and its drift */
	int straggler;    /* a rank; −1: none */
	int64_t more;     /* in its backward */
	int64_t lag;      /* by how much at most ranks leave a collective after each other */
	int64_t noise;    /* of backward and of the kernel before the small all-reduce */
	bool apart;       /* each host has communicators of its own */
	bool two_streams; /* … and the gradients' communicator is one of all ranks, on another stream */
	int late[2];      /* steps in which the recording of a host begins */
	bool one_host;    /* the same job on one */
	bool pipeline;
};

static const struct job plain = {
	.offset = 3000, .drift = 20e-6, .straggler = 37, .more = 1500, .lag = 10, .noise = 200};

/* What was put in, per rank, in the measured steps, ns. */
static struct truth {
	double compute, waiting, moving, copy, bubble;
} truth[RANKS];

static uint64_t seed;

static int64_t uniform(int64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return below ? (int64_t)((seed >> 33) % (uint64_t)below) : 0;
}

static struct rank {
	struct maker m;
	uint32_t thread, device, correlation;
	int host;
	int64_t now; /* true time, ns */
} ranks[RANKS];

/* What the rank's host calls a time. */
static int64_t noted(const struct job *j, const struct rank *r, int64_t t)
{
	return r->host && !j->one_host ? llround(((double)t - (double)j->offset * US) / (1 + j->drift)) : t;
}

static size_t launch(const struct job *j, struct rank *r, int64_t at, enum op_kind kind, uint32_t stream, int64_t start,
                     int64_t end, const char *name)
{
	bool copy = kind == OP_COPY;
	maker_call(&r->m, r->thread, noted(j, r, at), noted(j, r, at + 2 * US),
	           copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", copy ? CALL_COPY : CALL_LAUNCH, ++r->correlation);
	return maker_op(&r->m, r->device, stream, kind, noted(j, r, start), noted(j, r, end), name, r->correlation);
}

/* An all-reduce of ranks first … last, which are at `now`. */
static void all_reduce(const struct job *j, int k, int first, int last, uint32_t stream, int64_t move)
{
	int64_t entered = INT64_MIN;
	bool recorded = k >= WARM;
	for (int i = first; i <= last; i++)
		entered = ranks[i].now > entered ? ranks[i].now : entered;
	for (int i = first; i <= last; i++) {
		struct rank *r = &ranks[i];
		int64_t left = entered + move + uniform(j->lag * US + 1);
		if (k >= j->late[r->host])
			launch(j, r, r->now - 5 * US, OP_COMM, stream, r->now, left,
			       "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
		truth[i].waiting += recorded ? (double)(entered - r->now) : 0;
		truth[i].moving += recorded ? (double)(left - entered) : 0;
		r->now = left;
	}
}

static void compute(const struct job *j, int k, int i, int64_t length)
{
	struct rank *r = &ranks[i];
	if (k >= j->late[r->host])
		launch(j, r, r->now - 5 * US, OP_KERNEL, 7, r->now, r->now + length, "gemm");
	truth[i].compute += k >= WARM ? (double)length : 0;
	r->now += length;
}

static void all_reduce_everywhere(const struct job *j, int k, uint32_t stream, int64_t move)
{
	if (j->apart && stream == 20) {
		all_reduce(j, k, 0, RANKS / 2 - 1, stream, move);
		all_reduce(j, k, RANKS / 2, RANKS - 1, stream, move);
	} else {
		all_reduce(j, k, 0, RANKS - 1, stream, move);
	}
}

static void step(const struct job *j, int k)
{
	int64_t begin[RANKS];
	for (int i = 0; i < RANKS; i++) {
		struct rank *r = &ranks[i];
		begin[i] = r->now;
		int64_t copied = r->now + 304 * US;
		if (k >= j->late[r->host])
			launch(j, r, r->now + 200 * US, OP_COPY, 7, r->now + 204 * US, copied,
			       "[CUDA memcpy Host-to-Device]");
		truth[i].copy += k >= WARM ? 100e3 : 0;
		r->now = copied;
		compute(j, k, i, 3000 * US);
		compute(j, k, i, 4000 * US + uniform(j->noise * US) + (i == j->straggler ? j->more * US : 0));
	}
	all_reduce_everywhere(j, k, 20, 500 * US);
	for (int i = 0; i < RANKS; i++)
		compute(j, k, i, 100 * US + uniform(j->noise * US));
	all_reduce_everywhere(j, k, j->two_streams ? 24 : 20, 25 * US);
	for (int i = 0; i < RANKS; i++) {
		struct rank *r = &ranks[i];
		compute(j, k, i, 300 * US);
		int64_t end = r->now + 8 * US;
		if (k >= j->late[r->host]) {
			maker_call(&r->m, r->thread, noted(j, r, begin[i] + 7000 * US), noted(j, r, r->now + 4 * US),
			           "cudaDeviceSynchronize", CALL_SYNC, ++r->correlation);
			maker_range(&r->m, r->thread, noted(j, r, begin[i]), noted(j, r, end), "step", "",
			            RANGE_PUSH_POP);
		}
		r->now = end;
	}
}

/* ---- a pipeline of two stages, a host each ---- */

enum { STAGE = RANKS / 2, MICROBATCHES = 4, FORWARD = 1000 * US, BACKWARD = 2000 * US, SENT = 50 * US };

/* A kernel of NCCL, and the call that launches it. */
static void communicate(const struct job *j, struct rank *r, int64_t start, int64_t end, const char *call,
                        const char *kernel, int64_t comm, int64_t bytes, uint32_t peer)
{
	int64_t at = noted(j, r, start - 20 * US);
	maker_comm_call(&r->m, r->thread, at - 1 * US, at + 4 * US, call, comm, bytes, peer, TRACE_NONE, TRACE_NONE);
	launch(j, r, start - 20 * US, OP_COMM, 30, start, end, kernel);
}

/* Rank `from` sends to rank `to`: in a communicator of the two. */
static void transfer(const struct job *j, int k, int from, int to)
{
	struct rank *a = &ranks[from], *b = &ranks[to];
	int64_t met = a->now > b->now ? a->now : b->now, left = met + SENT;
	int64_t comm = 1000 + from % STAGE;
	communicate(j, a, a->now, left, "ncclSend", "ncclDevKernel_SendRecv", comm, 1 << 20, to >= STAGE);
	communicate(j, b, b->now, left, "ncclRecv", "ncclDevKernel_SendRecv", comm, 1 << 20, from >= STAGE);
	truth[from].bubble += k >= WARM ? (double)(met - a->now) : 0;
	truth[to].bubble += k >= WARM ? (double)(met - b->now) : 0;
	a->now = b->now = left;
}

static void reduce(const struct job *j, int k, int first, int n, int64_t comm, int64_t move, int64_t bytes)
{
	int64_t entered = INT64_MIN;
	for (int i = first; i < first + n; i++)
		entered = ranks[i].now > entered ? ranks[i].now : entered;
	for (int i = first; i < first + n; i++) {
		int64_t left = entered + move + uniform(j->lag * US + 1);
		communicate(j, &ranks[i], ranks[i].now, left, "ncclAllReduce",
		            "ncclDevKernel_AllReduce_Sum_f32_RING_LL", comm, bytes, TRACE_NONE);
		truth[i].waiting += k >= WARM ? (double)(entered - ranks[i].now) : 0;
		ranks[i].now = left;
	}
}

static void pipeline_step(const struct job *j, int k)
{
	int64_t begin[RANKS];
	for (int i = 0; i < RANKS; i++) {
		begin[i] = ranks[i].now;
		ranks[i].now += 200 * US;
	}
	for (int i = 0; i < STAGE; i++) {
		for (int m = 0; m < MICROBATCHES; m++) {
			compute(j, k, i, FORWARD + uniform(j->noise * US));
			transfer(j, k, i, i + STAGE);
			compute(j, k, i + STAGE, FORWARD + uniform(j->noise * US));
		}
		for (int m = 0; m < MICROBATCHES; m++) {
			compute(j, k, i + STAGE, BACKWARD + uniform(j->noise * US));
			transfer(j, k, i + STAGE, i);
			compute(j, k, i, BACKWARD + (i == j->straggler ? j->more * US : 0));
		}
	}
	reduce(j, k, 0, STAGE, 2001, 400 * US, 100 << 20);
	reduce(j, k, STAGE, STAGE, 2002, 400 * US, 100 << 20);
	for (int i = 0; i < RANKS; i++)
		compute(j, k, i, 50 * US + uniform(j->noise * US));
	reduce(j, k, 0, RANKS, 99, 25 * US, 4);
	for (int i = 0; i < RANKS; i++) {
		struct rank *r = &ranks[i];
		compute(j, k, i, 300 * US);
		maker_range(&r->m, r->thread, noted(j, r, begin[i]), noted(j, r, r->now + 8 * US), "step", "",
		            RANGE_PUSH_POP);
		r->now += 8 * US;
	}
}

/* Who is who in each communicator. */
static void pipeline_begin(const struct job *j)
{
	for (int i = 0; i < RANKS; i++) {
		struct rank *r = &ranks[i];
		int64_t at = noted(j, r, r->now - 900 * US);
		maker_comm_call(&r->m, r->thread, at, at + 9, "ncclCommInitRank", 1000 + i % STAGE, -1, TRACE_NONE,
		                i >= STAGE, 2);
		maker_comm_call(&r->m, r->thread, at, at + 9, "ncclCommSplit", i < STAGE ? 2001 : 2002, -1, TRACE_NONE,
		                (uint32_t)(i % STAGE), STAGE);
		maker_comm_call(&r->m, r->thread, at, at + 9, "ncclCommInitRank", 99, -1, TRACE_NONE, (uint32_t)i,
		                RANKS);
	}
}

static void make(const struct job *j, struct arena *arena, struct names *names, struct merge_part *parts)
{
	memset(truth, 0, sizeof truth);
	for (int i = 0; i < RANKS; i++) {
		struct rank *r = &ranks[i];
		*r = (struct rank){.host = i >= RANKS / 2, .now = 1000000 * US};
		maker_init(&r->m, arena, names);
		uint32_t process = maker_process(&r->m, 100 + i);
		r->thread = maker_thread(&r->m, process, 100 + i);
		r->device = maker_device(&r->m, process, 0, TRACE_NONE);
		r->m.trace->processes[process].rank = i;
		r->m.trace->processes[process].host = r->m.trace->source.host = j->one_host ? 7 : 7 + (uint64_t)r->host;
	}
	if (j->pipeline)
		pipeline_begin(j);
	for (int k = 0; k < STEPS; k++)
		if (j->pipeline)
			pipeline_step(j, k);
		else
			step(j, k);
	for (int i = 0; i < RANKS; i++) {
		maker_link(&ranks[i].m);
		parts[i] = (struct merge_part){ranks[i].m.trace, {0}, NULL};
	}
}

struct state {
	struct analysed in;
	struct host_clocks clocks;
	struct merge_part parts[RANKS];
	struct trace trace;
};

static int begin(void **state)
{
	seed = 1;
	return analysed_begin_in(state, sizeof(struct state));
}

static void align(struct state *s, const struct job *j)
{
	make(j, &s->in.arena, &s->in.names, s->parts);
	clocks_align(s->parts, RANKS, &s->in.arena, &s->clocks);
}

static const struct side *analyse(struct state *s, const struct job *j)
{
	struct err err = {0};
	struct analyse_options options = {.warmup = WARM, .gates.max_regression = -1};
	align(s, j);
	trace_merge(s->parts, RANKS, &s->trace, &s->in.arena);
	s->trace.clocks = s->clocks.list;
	s->trace.n_clocks = s->clocks.n;
	struct analyse_run run = {.trace = &s->trace, .file = "generated"};
	if (analyse_one(&run, &options, &s->in.names, &s->in.arena, &s->in.result, &err))
		fail_msg("%s", err.text);
	return &s->in.result.side[0];
}

/* The largest error of the second host's clock, ns, at any time of the job. */
static double error_of(const struct state *s, const struct job *j)
{
	const struct time_map *map = &s->parts[RANKS - 1].map;
	double worst = 0;
	for (int64_t t = 1000000 * US; t < ranks[RANKS - 1].now; t += 5000 * US)
		worst = fmax(worst, fabs((double)(time_map_of(map, noted(j, &ranks[RANKS - 1], t)) - t)));
	return worst;
}

static void test_the_clocks(void **state)
{
	struct state *s = *state;
	double worst = 0, widest = 0;
	for (uint64_t round = 0; round < 20; round++) {
		struct job j = plain;
		seed = round + 1;
		j.straggler = round % 4 ? (int)(round * 7 % RANKS) : -1;
		j.offset = round % 2 ? 3000 : -3000;
		j.drift = 20e-6 * ((double)(round % 3) - 1);
		align(s, &j);
		assert_int_equal(s->clocks.n, 2);
		assert_true(s->clocks.list[0].known && s->clocks.list[1].known);
		assert_int_equal(s->clocks.list[1].collectives, 2 * STEPS);
		assert_int_equal(s->clocks.list[1].files, RANKS / 2);
		double error = error_of(s, &j);
		assert_true(error <= s->clocks.list[1].within + 2);
		worst = fmax(worst, error);
		widest = fmax(widest, s->clocks.list[1].within);
	}
	print_message("largest error %.1f us, stated %.1f us\n", worst / 1e3, widest / 1e3);
	assert_true(worst < 20e3);
}

/* One host, or hosts that are not known, have one clock whatever their collectives look like. */
static void test_one_host_has_one_clock(void **state)
{
	struct state *s = *state;
	struct job j = plain;
	j.one_host = true;
	align(s, &j);
	assert_int_equal(s->clocks.n, 0);
	for (int i = 0; i < RANKS; i++)
		assert_true(s->parts[i].map.offset == 0 && !(fabs(s->parts[i].map.drift) > 0));
}

/* Kernels of one name in communicators that never leave a host say nothing of the other host's clock. */
static void test_communicators_of_a_host_each(void **state)
{
	struct state *s = *state;
	struct job j = plain;
	j.apart = true;
	j.straggler = -1;
	align(s, &j);
	assert_int_equal(s->clocks.n, 2);
	assert_false(s->clocks.list[1].known);
	assert_true(s->parts[RANKS - 1].map.offset == 0);
	/* but one of all ranks does, although the names are the same */
	j.two_streams = true;
	align(s, &j);
	assert_true(s->clocks.list[1].known);
	assert_int_equal(s->clocks.list[1].collectives, STEPS);
	assert_true(error_of(s, &j) <= s->clocks.list[1].within + 2);
	assert_true(error_of(s, &j) < 40e3);
}

/* The second host's recording begins two steps later. */
static void test_a_recording_that_begins_later(void **state)
{
	struct state *s = *state;
	struct job j = plain;
	j.late[1] = 2;
	align(s, &j);
	assert_true(s->clocks.list[1].known);
	assert_int_equal(s->clocks.list[1].collectives, 2 * (STEPS - 2));
	assert_true(error_of(s, &j) <= s->clocks.list[1].within + 2);
	assert_true(error_of(s, &j) < 20e3);
}

static void test_the_straggler_and_the_budgets(void **state)
{
	struct state *s = *state;
	static const int late[] = {5, 37};
	for (int i = 0; i < 2; i++) {
		struct job j = plain;
		j.straggler = late[i];
		const struct side *side = analyse(s, &j);
		double near = 2 * s->clocks.list[1].within + 0.01 * US;
		assert_true(side->ranks.known);
		assert_int_equal(side->ranks.straggler.kind, STRAGGLER_PERSISTENT);
		assert_int_equal(side->devices[side->ranks.straggler.device].rank, late[i]);
		assert_true(side->ranks.straggler.has_reason);
		assert_int_equal(side->ranks.straggler.part, PART_COMPUTE);
		assert_float_equal(side->ranks.straggler.more, 1500 * US, 30 * US);
		for (uint32_t k = 0; k < side->ranks.n; k++) {
			const struct rank_result *r = &side->ranks.list[k];
			const struct budget *b = &side->devices[r->device].budget;
			const struct truth *put_in = &truth[side->devices[r->device].rank];
			double steps = STEPS - WARM;
			assert_float_equal(b->compute, put_in->compute / steps, 20e-6 * b->period + 10);
			assert_float_equal(b->copy_exposed, put_in->copy / steps, 20e-6 * b->period + 10);
			assert_float_equal(b->comm_exposed, (put_in->waiting + put_in->moving) / steps,
			                   20e-6 * b->period + 10);
			assert_float_equal(r->waiting, put_in->waiting / steps, near);
			assert_float_equal(r->moving, put_in->moving / steps, near);
		}
	}
}

static const struct comm_result *comm_of(const struct state *s, const struct side *side, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < side->ranks.n_comms; i++)
		if (strcmp(names_text(&s->in.names, side->ranks.comms[i].name), name) == 0 &&
		    side->ranks.comms[i].ranks == n)
			return &side->ranks.comms[i];
	fail_msg("no %s of %u ranks", name, n);
	return NULL;
}

/* The bubbles of two stages, whose communicators of one host have kernels of the same names as that of both. */
static void test_a_pipeline(void **state)
{
	struct state *s = *state;
	struct job j = plain;
	j.pipeline = true;
	j.straggler = -1;
	j.noise = 60;
	const struct side *side = analyse(s, &j);
	assert_true(s->clocks.list[1].known);
	assert_true(error_of(s, &j) <= s->clocks.list[1].within + 2);
	assert_true(error_of(s, &j) < 20e3);
	double near = 2 * (2 * MICROBATCHES + 1) * error_of(s, &j) + 0.01 * US, steps = STEPS - WARM;
	assert_true(side->ranks.known);
	for (uint32_t k = 0; k < side->ranks.n; k++) {
		const struct rank_result *r = &side->ranks.list[k];
		int32_t rank = side->devices[r->device].rank;
		assert_int_equal(r->host, 1 + (rank >= STAGE));
		assert_float_equal(r->bubble, truth[rank].bubble / steps, near);
		assert_float_equal(r->waiting, truth[rank].waiting / steps, near);
		assert_float_equal(r->unmatched, 0, 1e-6);
		const struct budget *b = &side->devices[r->device].budget;
		assert_float_equal(b->comm_exposed, r->waiting + r->moving, 1e-3); /* bubbles are none of it */
		assert_int_equal(side->devices[r->partner].rank, (rank + STAGE) % RANKS);
		assert_float_equal(b->compute, truth[rank].compute / steps, 20e-6 * side->budget.period + 10);
	}
	/* the first stage waits for the second's backward pass; what was put in is far above what clocks may hide */
	assert_true(truth[0].bubble / steps > 10 * near);
	const struct comm_result *all = comm_of(s, side, "ncclAllReduce", RANKS);
	assert_float_equal(all->per_step, 1, 1e-9);
	assert_float_equal(all->matched, 1, 1e-9);
	assert_float_equal(all->bytes, 4, 1e-9);
	const struct comm_result *stage = comm_of(s, side, "ncclAllReduce", STAGE);
	assert_true(fabs(stage->bytes - 104857600) < 1);
	/* 2 × 31 / 32 × 100 MiB in 400 µs, and up to 10 µs more for the last of 32 ranks */
	double bandwidth = 2. * 31 / 32 * 104857600 / 409.7e-6;
	assert_float_equal(stage->bus_bandwidth, bandwidth, 0.01 * bandwidth);
	assert_float_equal(comm_of(s, side, "ncclSend", 2)->per_step, MICROBATCHES, 1e-9);
}

/* Two captures of a job on two hosts, one run a side: no direction. */
static void test_a_job_against_itself(void **state)
{
	struct state *s = *state;
	int directions = 0;
	for (uint64_t pair = 0; pair < 10; pair++) {
		struct err err = {0};
		struct trace trace[2];
		struct analyse_run run[2];
		struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
		for (int i = 0; i < 2; i++) {
			struct job j = plain;
			seed = 2 * pair + (uint64_t)i + 1;
			align(s, &j);
			trace_merge(s->parts, RANKS, &trace[i], &s->in.arena);
			run[i] = (struct analyse_run){.trace = &trace[i], .file = "generated"};
		}
		if (analyse_pair(&run[0], 1, &run[1], 1, &options, &s->in.names, &s->in.arena, &s->in.result, &err))
			fail_msg("%s", err.text);
		enum verdict_result result = s->in.result.verdict.result;
		directions += result == VERDICT_FASTER || result == VERDICT_SLOWER;
	}
	assert_int_equal(directions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_clocks, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_one_host_has_one_clock, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_communicators_of_a_host_each, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_recording_that_begins_later, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_the_straggler_and_the_budgets, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_pipeline, begin, analysed_end),
		cmocka_unit_test_setup_teardown(test_a_job_against_itself, begin, analysed_end),
	};
	return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
