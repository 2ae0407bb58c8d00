/* Which calls of NCCL a kernel was launched for, and the places of processes in communicators: worked out by hand. */
#include "trace/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_maker.h"

struct scene {
	struct arena arena;
	struct names names;
	struct maker m;
	uint32_t process, thread, gpu, correlation;
};

static void begin(struct scene *s)
{
	*s = (struct scene){0};
	names_init(&s->names, &s->arena);
	maker_init(&s->m, &s->arena, &s->names);
	s->process = maker_process(&s->m, 100);
	s->thread = maker_thread(&s->m, s->process, 100);
	s->gpu = maker_device(&s->m, s->process, 0, TRACE_NONE);
}

static void call(struct scene *s, int64_t start, int64_t end, int64_t comm)
{
	maker_comm_call(&s->m, s->thread, start, end, "ncclAllReduce", comm, 4096, TRACE_NONE, TRACE_NONE, 0);
}

static void member(struct scene *s, uint32_t thread, int64_t comm, uint32_t rank)
{
	maker_comm_call(&s->m, thread, 1, 2, "ncclCommInitRank", comm, -1, TRACE_NONE, rank, 8);
}

/* A kernel launched at `at`; kernels start in the order of their launches, so they keep their rows. */
static void kernel(struct scene *s, int64_t at, uint8_t flags)
{
	maker_call(&s->m, s->thread, at, at + 2, "cudaLaunchKernel", CALL_LAUNCH, ++s->correlation);
	size_t row = maker_op(&s->m, s->gpu, 7, OP_COMM, 10000 + at * 10, 10000 + at * 10 + 5,
	                      "ncclDevKernel_AllReduce", s->correlation);
	s->m.trace->ops.flags[row] = flags;
}

/* How many calls the kernel of a row was launched for, and the start of the first; 0: not known. */
static uint32_t calls_of(const struct trace *t, const struct comm_calls *calls, uint32_t row, int64_t *start)
{
	const struct comm_op *op = comm_calls_of(calls, row);
	if (op)
		*start = t->comm_calls.start[calls->calls[op->first]];
	return op ? op->n : 0;
}

static void kernels_are_of_the_calls_that_launch_them(void **state)
{
	(void)state;
	struct scene s;
	struct comm_calls calls;
	int64_t start = 0;
	begin(&s);
	call(&s, 100, 150, 5); /* launches itself, to the last nanosecond of it */
	kernel(&s, 150, 0);
	call(&s, 200, 210, 5); /* two in a group, launched for at its end */
	call(&s, 220, 230, 5);
	kernel(&s, 240, 0);
	call(&s, 300, 310, 5); /* a group of two communicators: it is not known which is whose */
	call(&s, 320, 330, 6);
	kernel(&s, 340, 0);
	kernel(&s, 400, 0); /* no call is left */
	call(&s, 500, 550, 5);
	kernel(&s, 520, OPF_GRAPH_NODE); /* launched as a whole graph, long after its calls */
	kernel(&s, 530, 0);
	const struct trace *t = maker_link(&s.m);
	comm_calls_find(t, &s.arena, &calls);
	assert_int_equal(calls_of(t, &calls, 0, &start), 1);
	assert_int_equal(start, 100);
	assert_int_equal(calls_of(t, &calls, 1, &start), 2);
	assert_int_equal(start, 200);
	assert_int_equal(calls_of(t, &calls, 2, &start), 0);
	assert_int_equal(calls_of(t, &calls, 3, &start), 0);
	assert_int_equal(calls_of(t, &calls, 4, &start), 0);
	assert_int_equal(calls_of(t, &calls, 5, &start), 1);
	assert_int_equal(start, 500);
	arena_release(&s.arena);
}

static void processes_have_places_in_communicators(void **state)
{
	(void)state;
	struct scene s;
	struct comm_calls calls;
	begin(&s);
	uint32_t other = maker_process(&s.m, 200), thread = maker_thread(&s.m, other, 200);
	uint32_t third = maker_process(&s.m, 300), of_third = maker_thread(&s.m, third, 300);
	member(&s, of_third, 5, 7);
	member(&s, thread, 5, 3);
	member(&s, s.thread, 9, 1);
	const struct trace *t = maker_link(&s.m);
	comm_calls_find(t, &s.arena, &calls);
	assert_int_equal(calls.n_members, 3);
	assert_int_equal(comm_calls_member(&calls, 5, other)->rank, 3);
	assert_int_equal(comm_calls_member(&calls, 5, third)->rank, 7);
	assert_int_equal(comm_calls_member(&calls, 9, s.process)->rank, 1);
	assert_int_equal(comm_calls_member(&calls, 9, s.process)->ranks, 8);
	/* the next in order is of another process, of another communicator, not there */
	assert_null(comm_calls_member(&calls, 5, s.process));
	assert_null(comm_calls_member(&calls, 7, s.process));
	assert_null(comm_calls_member(&calls, 9, other));
	assert_int_equal(comm_calls_process(&calls, 5, 7), third);
	assert_int_equal(comm_calls_process(&calls, 5, 1), TRACE_NONE);
	assert_int_equal(comm_calls_process(&calls, 9, 1), s.process);
	arena_release(&s.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_of_the_calls_that_launch_them),
		cmocka_unit_test(processes_have_places_in_communicators),
	};
	return cmocka_run_group_tests_name("comm_calls", tests, NULL, NULL);
}
