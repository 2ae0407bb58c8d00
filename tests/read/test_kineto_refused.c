/* JSON that is no trace of the PyTorch profiler, or holds nothing to judge: what is said of it. */
#include "kineto_rows.h"
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

static void what_is_refused(void **state)
{
	struct support *s = *state;
	static const struct {
		const char *json, *says;
	} cases[] = {
		{"{\"traceEvents\": [" KERNEL("1", "2", "3"), "is cut off: the JSON ends after 1 events"},
		{"{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"a \"quoted\" name\"}]}", "no valid JSON at byte"},
		{"{\"verdict\": {\"result\": \"faster\"}}", "is JSON, but no PyTorch trace"},
		{"[1, 2, 3]", "is JSON, but no PyTorch trace"},
		{"[{\"ph\": \"X\", \"cat\": \"devtools.timeline\", \"name\": \"RunTask\", \"ts\": 1, \"dur\": 1}]",
	         "a trace of something else than torch.profiler"},
		{"[{\"name\": \"aten::slice\", \"ph\": \"X\", \"ts\": 136.7, \"dur\": 184.6, \"tid\": 1, \"pid\": "
	         "\"CPU "
	         "functions\", \"args\": {}}]",
	         "is a trace of PyTorch's old profiler"},
		{"{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 7, \"nodes\": [{\"id\": 2, \"name\": \"aten::add\"}]}",
	         "is an execution trace of PyTorch"},
		{"{\"nodes\": [{\"id\": 2}]}", "is JSON, but no PyTorch trace"},
		{"[{\"ph\": \"X\", \"cat\": \"cuda_profiler_range\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 0, "
	         "\"ts\": 1, "
	         "\"dur\": 1}, " CALL("1", "2", "3") "]",
	         "to measure them (profiler_metrics), which takes their times away; leave experimental_config out"},
		{"[{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, \"ts\": 1, "
	         "\"dur\": 1}]",
	         "holds no GPU work, so there is nothing to judge: 1 operator, 0 annotations, 0 CUDA calls; CUDA was "
	         "not among the activities"},
		{"[{\"ph\": \"X\", \"cat\": \"mtia_ccp_events\", \"name\": \"fc\", \"pid\": 1, \"tid\": 1, \"ts\": 1, "
	         "\"dur\": 1}, {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 1, "
	         "\"ts\": 1, \"dur\": 1}]",
	         "its device is no GPU, and gapline does not read what PyTorch records of it: mtia_ccp_events; record "
	         "it where it runs on a GPU"},
		{"[" CALL("1", "2", "3") "]", "CUDA calls were recorded, but nothing from the GPU"},
		{"[{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaDeviceSynchronize\", \"pid\": 1, "
	         "\"tid\": 1, "
	         "\"ts\": 1, \"dur\": 1, \"args\": {\"correlation\": 3}}]",
	         "CUDA was recorded, and no call launches a kernel or copies"},
		{"[" CALL("1", "2", "3") ", " KERNEL("5", "9223372036854775807", "3") "]",
	         "its GPU events make no sense and were dropped"},
		{"[{\"ph\": None}]", "no valid JSON"},
		{"{\"ph\": \"X\"}\n{\"ph\": \"X\"}", "goes on at byte 12, where its JSON has ended"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *path = support_path(s, "trace.json");
		support_write(path, cases[i].json, strlen(cases[i].json));
		assert_int_equal(support_read(s, path), -1);
		if (!strstr(s->err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", s->err.text, cases[i].says);
	}
	/* What its packing shows to be damaged is, whatever the JSON looks like. */
	static char sound[512 * 1024]; /* the sum is behind what is read at once */
	memset(sound, ' ', sizeof sound);
	memcpy(sound, "[{\"ph\": \"X\", \"name\": \"a\"}]", 27);
	const char *packed = support_path(s, "trace.json.gz");
	size_t n;
	support_gzip(packed, sound, sizeof sound, "wb0");
	unsigned char *bytes = support_load(s, packed, &n);
	*(unsigned char *)memmem(bytes, n, "\"a\"", 3) = ' ';
	support_write(packed, bytes, n);
	assert_int_equal(support_read(s, packed), -1);
	assert_non_null(strstr(s->err.text, "is damaged: the gzip data cannot be unpacked"));
	support_write(packed, "[{\"ph\": \"X\", \"na\0\0\0\0\0\"a\"}]", 26);
	assert_int_equal(support_read(s, packed), -1);
	assert_non_null(strstr(s->err.text, "it holds zeros"));
	char deep[4096];
	memset(deep, '[', sizeof deep);
	const char *path = support_path(s, "deep.json");
	support_write(path, deep, sizeof deep);
	assert_int_equal(support_read(s, path), -1);
	assert_non_null(strstr(s->err.text, "nested"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_refused, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
