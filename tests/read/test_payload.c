/* NCCL's payloads, as nsys wrote them on two H100s (2025.3.2, NCCL 2.28.9), and as somebody might have damaged them. */
#include "read/nsys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* "NCCL communicator ID" at 0, "Message size [bytes]" at 8, "Peer rank" at 16; and of the call that makes one. */
static struct payload_layout layouts[] = {
	{.id = 16777225, .at = {0, 8, 16}, .size = {8, 8, 4}},
	{.id = 16777227,
         .at = {[PAYLOAD_RANKS] = 8, [PAYLOAD_RANK] = 12},
         .size = {8, [PAYLOAD_RANKS] = 4, [PAYLOAD_RANK] = 4}},
};
static const struct payloads payloads = {.list = layouts, .n = 2};

/* ncclSend to rank 0 of 4 MiB; ncclCommInitRankConfig by rank 1 of 2. */
static const unsigned char send[56] = {1,    0,    0,    0,    0,    0,    0,    0, 9, 0,    0, 1,  0,
                                       0,    0,    0,    24,   0,    0,    0,    0, 0, 0,    0, 32, [32] = 0xFE,
                                       0xDF, 0x24, 0x45, 0xE6, 0x39, 0x3C, 0x3A, 0, 0, 0x40, 0, 0,  0,
                                       0,    0,    0,    0,    0,    0,    0x7E, 4, 0, 0};
static const unsigned char init[56] = {1,    0,    0,    0,    0,    0, 0, 0, 11, 0, 0,  1,           0,    0,
                                       0,    0,    24,   0,    0,    0, 0, 0, 0,  0, 32, [32] = 0xFE, 0xDF, 0x24,
                                       0x45, 0xE6, 0x39, 0x3C, 0x3A, 2, 0, 0, 0,  1, 0,  0,           0};
static const int64_t COMM = 4196292613967765502; /* as nsys's own JSON has it */

static void bytes_are_read(void **state)
{
	(void)state;
	struct build_comm_call call;
	assert_true(payloads_of_bytes(&payloads, send, sizeof send, &call));
	assert_true(call.comm == COMM);
	assert_int_equal(call.bytes, 4 << 20);
	assert_int_equal(call.peer, 0);
	assert_true(call.ranks == TRACE_NONE && call.rank == TRACE_NONE);
	assert_true(payloads_of_bytes(&payloads, init, sizeof init, &call));
	assert_true(call.comm == COMM && call.bytes == -1 && call.peer == TRACE_NONE);
	assert_int_equal(call.ranks, 2);
	assert_int_equal(call.rank, 1);
}

static void json_says_the_same(void **state)
{
	(void)state;
	static const char text[] = "{\"NCCL communicator ID\":4196292613967765502,\"No. of ranks\":2,\"Rank\":1,\"CUDA "
				   "device\":1}";
	struct build_comm_call call;
	assert_true(payloads_of_json(text, sizeof text - 1, &call));
	assert_true(call.comm == COMM && call.bytes == -1);
	assert_int_equal(call.ranks, 2);
	assert_int_equal(call.rank, 1);
	static const char high[] = "{\"NCCL communicator ID\":18446744073709551615,\"Message size [bytes]\":7}";
	assert_true(payloads_of_json(high, sizeof high - 1, &call));
	assert_true(call.comm == -1 && call.bytes == 7);
	static const char *const others[] = {"{\"NCCL communicator ID\":1",
	                                     "{\"x\":{\"NCCL communicator ID\":1}}",
	                                     "{\"NCCL communicator ID\":-1}",
	                                     "{\"NCCL communicator ID\":\"1\"}",
	                                     "{\"NCCL communicator ID\":18446744073709551616}",
	                                     "",
	                                     "[]"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_false(payloads_of_json(others[i], strlen(others[i]), &call));
}

/* Every byte changed, and every length: nothing is read beyond the end (the sanitizers watch), and what does not fit
 * its layout says nothing. */
static void damage_says_nothing(void **state)
{
	(void)state;
	struct build_comm_call call;
	for (size_t n = 0; n < sizeof send; n++) {
		unsigned char *copy = test_malloc(n + 1);
		memcpy(copy, send, n);
		assert_false(payloads_of_bytes(&payloads, copy, n, &call)); /* the size that it states is not there */
		test_free(copy);
	}
	for (size_t i = 0; i < 32; i++)
		for (int change = 1; change < 256; change++) {
			unsigned char copy[sizeof send];
			memcpy(copy, send, sizeof send);
			copy[i] = (unsigned char)(copy[i] ^ change);
			payloads_of_bytes(&payloads, copy, sizeof copy, &call);
		}
	static const struct payload_layout two = {.id = 16777225, .at = {0, 8}, .size = {8, 8}, .contradicted = true};
	assert_false(payloads_of_bytes(&(struct payloads){.list = (struct payload_layout *)&two, .n = 1}, send,
	                               sizeof send, &call));
	assert_false(payloads_of_bytes(&(struct payloads){0}, send, sizeof send, &call));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_read),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(damage_says_nothing),
	};
	return cmocka_run_group_tests_name("payload", tests, NULL, NULL);
}
