#include "base/json_reader.h"
#include "base/json_writer.h"
#include "fixture_analysis.h"
#include "render/render.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The value at a path of keys and indices, "findings.1.side"; NULL: none. */
static const struct json_value *find(const struct json_value *v, const char *path)
{
	while (v && *path) {
		size_t n = strcspn(path, ".");
		long i = v->kind == JSON_ARRAY ? strtol(path, NULL, 10) : 0;
		for (v = v->first; v && (v->key ? strlen(v->key) != n || memcmp(v->key, path, n) != 0 : i > 0);
		     v = v->next)
			i--;
		path += n + (path[n] == '.');
	}
	return v;
}

static const struct json_value *at(const struct json_value *v, const char *path)
{
	v = find(v, path);
	if (!v)
		fail_msg("no %s", path);
	return v;
}

static const char *text(const struct json_value *v, const char *path)
{
	assert_int_equal(at(v, path)->kind, JSON_TEXT);
	return at(v, path)->text;
}

static double number(const struct json_value *v, const char *path)
{
	assert_int_equal(at(v, path)->kind, JSON_NUMBER);
	return strtod(at(v, path)->text, NULL);
}

static bool yes(const struct json_value *v, const char *path)
{
	assert_int_equal(at(v, path)->kind, JSON_BOOL);
	return at(v, path)->yes;
}

static int count(const struct json_value *v, const char *path)
{
	int n = 0;
	for (v = at(v, path)->first; v; v = v->next)
		n++;
	return n;
}

static const struct json_value *parse(enum fixture which, struct arena *arena, struct analysis *a)
{
	struct buf out = {0};
	struct err err = {0};
	fixture_analysis(which, arena, a);
	if (render_json(a, &out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out.data[out.n - 1], '\n');
	const struct json_value *root = json_read(out.data, out.n, arena);
	if (!root)
		fail_msg("%s: is no JSON", fixture_name(which));
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
	const struct json_value *root = parse(FIXTURE_PAIR, &arena, &a);
	assert_string_equal(text(root, "schema"), "gapline/3");
	assert_string_equal(text(root, "verdict.result"), "faster");
	assert_true(number(root, "verdict.speedup") == a.verdict.speedup);
	assert_true(number(root, "verdict.ci95.0") == a.verdict.lo);
	assert_true(number(root, "verdict.ci95.1") == a.verdict.hi);
	assert_string_equal(text(root, "verdict.measured"), "recorded");
	assert_true(number(root, "verdict.recorded.speedup") == a.verdict.speedup);
	assert_string_equal(text(root, "verdict.same_work"), "same");
	assert_int_equal(count(root, "verdict.gates"), 1);
	const struct json_value *gate = at(root, "verdict.gates.0");
	assert_string_equal(text(gate, "name"), "min_speedup");
	assert_true(number(gate, "asked") == 1.5);
	assert_true(number(gate, "found") == a.verdict.speedup);
	assert_string_equal(text(gate, "result"), "passed");
	assert_true(yes(root, "verdict.comparable"));
	assert_string_equal(text(root, "baseline.source.kind"), "nsys-sqlite");
	assert_string_equal(text(root, "baseline.steps.name"), "step_#");
	assert_int_equal((int)number(root, "baseline.steps.warmup"), 5);
	assert_int_equal((int)number(root, "baseline.steps.measured"), 21);
	assert_true(number(root, "baseline.steps.period_ms.mean") == 55.64);
	const struct json_value *device = at(root, "baseline.devices.0");
	assert_true(number(device, "per_step.compute") == 23.840);
	const struct json_value *idle = at(device, "idle.0");
	assert_string_equal(text(idle, "cause"), "host_code");
	assert_string_equal(text(idle, "phase"), "data_load");
	assert_true(number(idle, "ms_per_step") == 31.040);
	const struct json_value *between = at(device, "idle.1");
	assert_string_equal(text(between, "phase"), "(between phases)");
	assert_int_equal(count(root, "baseline.kernels"), 40);
	assert_string_equal(text(root, "fixed.copies.0.kind"), "h2d");
	assert_string_equal(text(root, "diagnosis.result"), "confirmed");
	assert_true(number(root, "diagnosis.combined_ceiling_ms") == 24.36);
	const struct json_value *finding = at(root, "findings.1");
	assert_string_equal(text(finding, "side"), "baseline");
	assert_string_equal(text(finding, "status"), "resolved");
	assert_true(number(finding, "ceiling.step_ms") == 24.67);
	assert_int_equal(at(root, "findings.0.ceiling")->kind, JSON_NULL);
	arena_release(&arena);
}

static void what_is_not_known_is_null(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	const struct json_value *root = parse(FIXTURE_INCONCLUSIVE, &arena, &a);
	assert_int_equal(at(root, "verdict.ci95")->kind, JSON_NULL);
	assert_string_equal(text(root, "verdict.gate"), "inconclusive");
	assert_int_equal((int)number(root, "verdict.more_steps"), 20);
	assert_int_equal(at(root, "diagnosis.combined_ceiling_ms")->kind, JSON_NULL);
	root = parse(FIXTURE_NO_STEPS, &arena, &a);
	assert_int_equal(at(root, "baseline.steps.name")->kind, JSON_NULL);
	assert_false(yes(root, "baseline.steps.found"));
	assert_int_equal((int)number(root, "baseline.steps.runs"), 3);
	arena_release(&arena);
}

static void different_work_fails_a_gate_that_asks_for_it(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	const struct json_value *root = parse(FIXTURE_DEVICES, &arena, &a);
	assert_int_equal(a.gates.gate[0].result, GATE_PASSED); /* the speedup alone would pass */
	assert_false(yes(root, "verdict.comparable"));
	const struct json_value *gate = at(root, "verdict.gates.1");
	assert_string_equal(text(gate, "found"), "different");
	assert_string_equal(text(gate, "result"), "failed");
	assert_string_equal(text(root, "verdict.gate"), "failed");
	assert_string_equal(text(root, "verdict.result"), "faster");
	arena_release(&arena);
}

static void clocks_are_there_when_they_were_sampled(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	const struct json_value *root = parse(FIXTURE_DEVICES, &arena, &a);
	const struct json_value *slow = at(root, "baseline.devices.0");
	assert_int_equal((int)number(slow, "clocks.samples"), 40);
	assert_int_equal((int)number(slow, "clocks.idle_samples"), 2);
	assert_true(number(slow, "clocks.sm_mhz.median") == 1755);
	assert_true(number(slow, "clocks.sm_mhz.min") == 1710);
	assert_int_equal((int)number(slow, "clocks.power_w.samples"), 38);
	assert_true(number(slow, "clocks.power_w.median") == 693.125);
	assert_int_equal(at(slow, "clocks.memory_mhz")->kind, JSON_NULL);
	assert_true(number(slow, "clocks.limited.power_cap") == 0.6);
	const struct json_value *fast = at(root, "fixed.devices");
	assert_int_equal(at(fast, "0.clocks.limited")->kind, JSON_NULL);
	assert_null(find(fast, "1.clocks")); /* not sampled */
	assert_string_equal(text(root, "baseline.source.capture.cupti"), "13.0.1");
	assert_false(yes(root, "baseline.source.capture.complete"));
	assert_int_equal((int)number(root, "baseline.source.capture.lost_records"), 12);
	assert_int_equal((int)number(root, "baseline.source.capture.lost_events"), 5);
	assert_int_equal((int)number(root, "fixed.source.capture.lost_events"), 0);
	assert_true(yes(root, "fixed.source.capture.complete"));
	root = parse(FIXTURE_PAIR, &arena, &a);
	assert_null(find(root, "baseline.source.capture"));
	arena_release(&arena);
}

static void names_survive_unchanged(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct analysis a;
	const struct json_value *root = parse(FIXTURE_HOSTILE, &arena, &a);
	assert_string_equal(text(root, "title"), a.title);
	assert_string_equal(text(root, "fixed.kernels.3.name"), names_text(a.names, a.side[1].kernels[3].name));
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
