#include "base/json_writer.h"
#include "fixture_analysis.h"
#include "render/render.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

static yajl_val at(yajl_val root, const char *dotted)
{
	char text[200];
	const char *path[10] = {0};
	int n = 0;
	strncpy(text, dotted, sizeof text - 1);
	text[sizeof text - 1] = 0;
	for (char *part = strtok(text, "."); part; part = strtok(NULL, "."))
		path[n++] = part;
	yajl_val v = yajl_tree_get(root, path, yajl_t_any);
	if (!v)
		fail_msg("no %s", dotted);
	return v;
}

static yajl_val parse(enum fixture which, struct arena *arena, struct analysis *a)
{
	struct buf out = {0};
	struct err err = {0};
	fixture_analysis(which, arena, a);
	if (render_json(a, &out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out.data[out.n - 1], '\n');
	char why[200];
	yajl_val root = yajl_tree_parse(out.data, why, sizeof why);
	if (!root)
		fail_msg("%s: %s", fixture_name(which), why);
	buf_release(&out);
	return root;
}

static void numbers_read_back_exactly(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"},
	             {0.1, "0.1"},
	             {1.0 / 3, "0.3333333333333333"},
	             {55.64, "55.64"},
	             {-2.5, "-2.5"},
	             {1e300, "1e+300"},
	             {NAN, "null"},
	             {INFINITY, "null"},
	             {1e21, "1e+21"},
	             {5e-324, "4.94065645841247e-324"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf out = {0};
		struct err err = {0};
		struct json json;
		json_init(&json, &out);
		json_number(&json, NULL, cases[i].value);
		assert_int_equal(json_finish(&json, &err), 0);
		out.data[strcspn(out.data, "\n")] = 0;
		assert_string_equal(out.data, cases[i].text);
		buf_release(&out);
	}
}

static void misuse_is_an_error(void **state)
{
	(void)state;
	struct buf out = {0};
	struct err err = {0};
	struct json json;
	json_init(&json, &out);
	json_object(&json, NULL);
	assert_int_equal(json_finish(&json, &err), -1); /* left open */
	json_init(&json, &out);
	json_object(&json, NULL);
	json_number(&json, NULL, 1); /* a member without a key */
	json_end_object(&json);
	assert_int_equal(json_finish(&json, &err), -1);
	json_init(&json, &out);
	json_text(&json, NULL, "\xff\xfe");
	assert_int_equal(json_finish(&json, &err), -1);
	assert_string_equal(err.text, "JSON: a text of the result is not UTF-8");
	buf_release(&out);
}

static void keys_of_the_design(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	yajl_val root = parse(FIXTURE_PAIR, &arena, &a);
	assert_string_equal(YAJL_GET_STRING(at(root, "schema")), "gapline/3");
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.result")), "faster");
	assert_true(YAJL_GET_DOUBLE(at(root, "verdict.speedup")) == a.verdict.speedup);
	yajl_val ci = at(root, "verdict.ci95");
	assert_true(YAJL_GET_DOUBLE(YAJL_GET_ARRAY(ci)->values[0]) == a.verdict.lo);
	assert_true(YAJL_GET_DOUBLE(YAJL_GET_ARRAY(ci)->values[1]) == a.verdict.hi);
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.measured")), "recorded");
	assert_true(YAJL_GET_DOUBLE(at(root, "verdict.recorded.speedup")) == a.verdict.speedup);
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.same_work")), "same");
	assert_int_equal(YAJL_GET_ARRAY(at(root, "verdict.gates"))->len, 1);
	yajl_val gate = YAJL_GET_ARRAY(at(root, "verdict.gates"))->values[0];
	assert_string_equal(YAJL_GET_STRING(at(gate, "name")), "min_speedup");
	assert_true(YAJL_GET_DOUBLE(at(gate, "asked")) == 1.5);
	assert_true(YAJL_GET_DOUBLE(at(gate, "found")) == a.verdict.speedup);
	assert_string_equal(YAJL_GET_STRING(at(gate, "result")), "passed");
	assert_true(YAJL_IS_TRUE(at(root, "verdict.comparable")));
	assert_string_equal(YAJL_GET_STRING(at(root, "baseline.source.kind")), "nsys-sqlite");
	assert_string_equal(YAJL_GET_STRING(at(root, "baseline.steps.name")), "step_#");
	assert_int_equal(YAJL_GET_INTEGER(at(root, "baseline.steps.warmup")), 5);
	assert_int_equal(YAJL_GET_INTEGER(at(root, "baseline.steps.measured")), 21);
	assert_true(YAJL_GET_DOUBLE(at(root, "baseline.steps.period_ms.mean")) == 55.64);
	yajl_val device = YAJL_GET_ARRAY(at(root, "baseline.devices"))->values[0];
	assert_true(YAJL_GET_DOUBLE(at(device, "per_step.compute")) == 23.840);
	yajl_val idle = YAJL_GET_ARRAY(at(device, "idle"))->values[0];
	assert_string_equal(YAJL_GET_STRING(at(idle, "cause")), "host_code");
	assert_string_equal(YAJL_GET_STRING(at(idle, "phase")), "data_load");
	assert_true(YAJL_GET_DOUBLE(at(idle, "ms_per_step")) == 31.040);
	yajl_val between = YAJL_GET_ARRAY(at(device, "idle"))->values[1];
	assert_string_equal(YAJL_GET_STRING(at(between, "phase")), "(between phases)");
	assert_int_equal(YAJL_GET_ARRAY(at(root, "baseline.kernels"))->len, 40);
	assert_string_equal(YAJL_GET_STRING(at(YAJL_GET_ARRAY(at(root, "fixed.copies"))->values[0], "kind")), "h2d");
	assert_string_equal(YAJL_GET_STRING(at(root, "diagnosis.result")), "confirmed");
	assert_true(YAJL_GET_DOUBLE(at(root, "diagnosis.combined_ceiling_ms")) == 24.36);
	yajl_val finding = YAJL_GET_ARRAY(at(root, "findings"))->values[1];
	assert_string_equal(YAJL_GET_STRING(at(finding, "side")), "baseline");
	assert_string_equal(YAJL_GET_STRING(at(finding, "status")), "resolved");
	assert_true(YAJL_GET_DOUBLE(at(finding, "ceiling.step_ms")) == 24.67);
	assert_true(YAJL_IS_NULL(at(YAJL_GET_ARRAY(at(root, "findings"))->values[0], "ceiling")));
	yajl_tree_free(root);
	arena_release(&arena);
}

static void what_is_not_known_is_null(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	yajl_val root = parse(FIXTURE_INCONCLUSIVE, &arena, &a);
	assert_true(YAJL_IS_NULL(at(root, "verdict.ci95")));
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.gate")), "inconclusive");
	assert_int_equal(YAJL_GET_INTEGER(at(root, "verdict.more_steps")), 20);
	assert_true(YAJL_IS_NULL(at(root, "diagnosis.combined_ceiling_ms")));
	yajl_tree_free(root);
	root = parse(FIXTURE_NO_STEPS, &arena, &a);
	assert_true(YAJL_IS_NULL(at(root, "baseline.steps.name")));
	assert_true(YAJL_IS_FALSE(at(root, "baseline.steps.found")));
	assert_int_equal(YAJL_GET_INTEGER(at(root, "baseline.steps.runs")), 3);
	yajl_tree_free(root);
	arena_release(&arena);
}

static void different_work_fails_a_gate_that_asks_for_it(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	yajl_val root = parse(FIXTURE_DEVICES, &arena, &a);
	assert_int_equal(a.gates.gate[0].result, GATE_PASSED); /* the speedup alone would pass */
	assert_true(YAJL_IS_FALSE(at(root, "verdict.comparable")));
	yajl_val gate = YAJL_GET_ARRAY(at(root, "verdict.gates"))->values[1];
	assert_string_equal(YAJL_GET_STRING(at(gate, "found")), "different");
	assert_string_equal(YAJL_GET_STRING(at(gate, "result")), "failed");
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.gate")), "failed");
	assert_string_equal(YAJL_GET_STRING(at(root, "verdict.result")), "faster");
	yajl_tree_free(root);
	arena_release(&arena);
}

static void clocks_are_there_when_they_were_sampled(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	yajl_val root = parse(FIXTURE_DEVICES, &arena, &a);
	yajl_val slow = YAJL_GET_ARRAY(at(root, "baseline.devices"))->values[0];
	assert_int_equal(YAJL_GET_INTEGER(at(slow, "clocks.samples")), 40);
	assert_int_equal(YAJL_GET_INTEGER(at(slow, "clocks.idle_samples")), 2);
	assert_true(YAJL_GET_DOUBLE(at(slow, "clocks.sm_mhz.median")) == 1755);
	assert_true(YAJL_GET_DOUBLE(at(slow, "clocks.sm_mhz.min")) == 1710);
	assert_int_equal(YAJL_GET_INTEGER(at(slow, "clocks.power_w.samples")), 38);
	assert_true(YAJL_GET_DOUBLE(at(slow, "clocks.power_w.median")) == 693.125);
	assert_true(YAJL_IS_NULL(at(slow, "clocks.memory_mhz")));
	assert_true(YAJL_GET_DOUBLE(at(slow, "clocks.limited.power_cap")) == 0.6);
	yajl_val fast = at(root, "fixed.devices");
	assert_true(YAJL_IS_NULL(at(YAJL_GET_ARRAY(fast)->values[0], "clocks.limited")));
	const char *clocks[] = {"clocks", NULL};
	assert_null(yajl_tree_get(YAJL_GET_ARRAY(fast)->values[1], clocks, yajl_t_any)); /* not sampled */
	assert_string_equal(YAJL_GET_STRING(at(root, "baseline.source.capture.cupti")), "13.0.1");
	assert_true(YAJL_IS_FALSE(at(root, "baseline.source.capture.complete")));
	assert_int_equal(YAJL_GET_INTEGER(at(root, "baseline.source.capture.lost_records")), 12);
	assert_int_equal(YAJL_GET_INTEGER(at(root, "baseline.source.capture.lost_events")), 5);
	assert_int_equal(YAJL_GET_INTEGER(at(root, "fixed.source.capture.lost_events")), 0);
	assert_true(YAJL_IS_TRUE(at(root, "fixed.source.capture.complete")));
	yajl_tree_free(root);
	root = parse(FIXTURE_PAIR, &arena, &a);
	const char *capture[] = {"baseline", "source", "capture", NULL};
	assert_null(yajl_tree_get(root, capture, yajl_t_any));
	yajl_tree_free(root);
	arena_release(&arena);
}

static void names_survive_unchanged(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	yajl_val root = parse(FIXTURE_HOSTILE, &arena, &a);
	assert_string_equal(YAJL_GET_STRING(at(root, "title")), a.title);
	assert_string_equal(YAJL_GET_STRING(at(YAJL_GET_ARRAY(at(root, "fixed.kernels"))->values[3], "name")),
	                    names_text(a.names, a.side[1].kernels[3].name));
	yajl_tree_free(root);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_read_back_exactly),
		cmocka_unit_test(misuse_is_an_error),
		cmocka_unit_test(keys_of_the_design),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(different_work_fails_a_gate_that_asks_for_it),
		cmocka_unit_test(clocks_are_there_when_they_were_sampled),
		cmocka_unit_test(names_survive_unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
