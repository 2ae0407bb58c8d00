/* Expressions of --gate: what is read, what is refused and where, and what any bytes at all do to the parser. */
#include "analyse/analysis.h"
#include "draws.h"
#include "gate/gate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expressions_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum gate_metric metric;
		enum gate_operator compare;
		enum gate_unit unit;
		double limit;
		const char *phase;
	} cases[] = {
		{"idle<5%", METRIC_IDLE, GATE_LESS, GATE_SHARE, 5, NULL},
		{" idle <= 0.5 ms ", METRIC_IDLE, GATE_AT_MOST, GATE_NS, 5e5, NULL},
		{"idle>250us", METRIC_IDLE, GATE_MORE, GATE_NS, 25e4, NULL},
		{"idle>250\xC2\xB5s", METRIC_IDLE, GATE_MORE, GATE_NS, 25e4, NULL},
		{"phase:data_load.cost<10%", METRIC_PHASE_COST, GATE_LESS, GATE_SHARE, 10, "data_load"},
		{"phase:\"a b<c.d\".host>=1s", METRIC_PHASE_HOST, GATE_AT_LEAST, GATE_NS, 1e9, "a b<c.d"},
		{"phase:\"say \\\"so\\\" \\\\ n\".gpu<1ns", METRIC_PHASE_GPU, GATE_LESS, GATE_NS, 1, "say \"so\" \\ n"},
		{"phase:caf\xC3\xA9.idle<1%", METRIC_PHASE_IDLE, GATE_LESS, GATE_SHARE, 1, "caf\xC3\xA9"},
		{"kernels_per_step<=+0%", METRIC_KERNELS, GATE_AT_MOST, GATE_CHANGE, 0, NULL},
		{"kernels_per_step<-12.5%", METRIC_KERNELS, GATE_LESS, GATE_CHANGE, -12.5, NULL},
		{"kernels_per_step<100", METRIC_KERNELS, GATE_LESS, GATE_COUNT, 100, NULL},
		{"h2d_bytes<=20MB", METRIC_H2D, GATE_AT_MOST, GATE_BYTES, 2e7, NULL},
		{"memory<40GB", METRIC_MEMORY, GATE_LESS, GATE_BYTES, 4e10, NULL},
		{"memory<=+0%", METRIC_MEMORY, GATE_AT_MOST, GATE_CHANGE, 0, NULL},
		{"speedup>=1.1", METRIC_SPEEDUP, GATE_AT_LEAST, GATE_TIMES, 1.1, NULL},
		{"speedup>=1.1x", METRIC_SPEEDUP, GATE_AT_LEAST, GATE_TIMES, 1.1, NULL},
		{"step_ms<24.5", METRIC_STEP, GATE_LESS, GATE_NS, 24.5e6, NULL},
		{"step<24.5ms", METRIC_STEP, GATE_LESS, GATE_NS, 24.5e6, NULL},
		{"step_ms<=+3%", METRIC_STEP, GATE_AT_MOST, GATE_CHANGE, 3, NULL},
	};
	struct arena arena = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gate_expression e;
		struct err err = {0};
		if (gate_expression_parse(cases[i].text, &arena, &e, &err))
			fail_msg("%s", err.text);
		assert_int_equal(e.metric, cases[i].metric);
		assert_int_equal(e.compare, cases[i].compare);
		assert_int_equal(e.unit, cases[i].unit);
		assert_true(fabs(e.limit - cases[i].limit) <= 1e-9 * fabs(cases[i].limit));
		assert_string_equal(e.phase ? e.phase : "none", cases[i].phase ? cases[i].phase : "none");
	}
	struct gate_expression e;
	struct err err;
	assert_int_equal(gate_expression_parse("idle:host_code<1%", &arena, &e, &err), 0);
	assert_int_equal(e.metric, METRIC_CAUSE);
	assert_int_equal(e.cause, CAUSE_HOST_CODE);
	arena_release(&arena);
}

static void mistakes_say_where(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "character 1: what is held against the limit is one of"},
		{"idel<5%", "character 1: did you mean idle?"},
		{"gigaflops<5%", "character 1: what is held against the limit is one of"},
		{"idle", "character 5: one of < <= > >= is expected"},
		{"idle=5%", "character 5: one of < <= > >= is expected"},
		{"idle<", "character 6: a number is expected"},
		{"idle<<5%", "character 6: a number is expected"},
		{"idle<1e3%", "character 7: this is no unit"},
		{"idle<1.2.3%", "character 6: a number is expected"},
		{"idle<nan%", "character 6: a number is expected"},
		{"idle<1.0000000000000000%", "character 6: a number is expected"}, /* 17 digits */
		{"idle<5", "character 6: the limit of a part of a step is a share"},
		{"idle<5% x", "character 9: the expression ends before this"},
		{"idle<5%%", "character 7: this is no unit"},
		{"idle<+5ms", "character 6: a limit with a sign is a change"},
		{"idle:nothing<1%", "character 6: a cause of idle time is expected: host_code"},
		{"kernels_per_step<5%", "character 18: the limit of a count"},
		{"kernels_per_step<-101%", "character 18: nothing gets smaller"},
		{"h2d_bytes<5", "character 11: the limit of bytes has a unit"},
		{"speedup<2", "character 8: a speedup is asked for with >="},
		{"speedup>=0", "character 10: a speedup is above 0"},
		{"speedup>=+10%", "character 10: the limit of a speedup"},
		{"phase:.cost<1%", "character 7: a phase's name is expected"},
		{"phase:\"a b.cost<1%", "character 7: this quotation mark is never closed"},
		{"phase:\"\".cost<1%", "character 7: a phase's name is expected between"},
		{"phase:a b.cost<1%", "character 8: '.' is expected"},
		{"phase:caf\xC3\xA9.price<1%", "character 12: cost, gpu, idle or host is expected"},
		{"step_ms<20%", "character 9: the limit of a step"},
	};
	struct arena arena = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gate_expression e;
		struct err err = {0};
		assert_int_equal(gate_expression_parse(cases[i].text, &arena, &e, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("%s\nis not: %s", err.text, cases[i].says);
	}
	char *most = ARENA_NEW(&arena, GATE_EXPRESSION_MOST + 2, char);
	struct gate_expression e;
	struct err err;
	memset(most, 'i', GATE_EXPRESSION_MOST + 1);
	assert_int_equal(gate_expression_parse(most, &arena, &e, &err), -1);
	arena_release(&arena);
}

static uint32_t draw(uint32_t *random, uint32_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random % below;
}

/* Pieces of expressions, in order or in any, with bytes changed in one of two: an answer always, and never a limit that
 * is no number. */
static void any_bytes_are_answered(void **state)
{
	(void)state;
	static const char *const metrics[] = {"idle",    "phase:a.cost",     "phase:\"a\\\" b\".gpu",
	                                      "speedup", "kernels_per_step", "idle:host_code",
	                                      "step_ms", "h2d_bytes",        "phase:\"\\\\\".host"};
	static const char *const operators[] = {"<", "<=", ">", ">=", " >= "};
	static const char *const limits[] = {"5",          "+0%", "-12.5%", "0.5ms",           "3%", "20MB", "1.1x",
	                                     "1\xC2\xB5s", "7.",  ".5",     "999999999999999s"};
#define PICK(list) (list)[draw(&random, sizeof(list) / sizeof *(list))]
	uint32_t random = 42;
	size_t read = 0;
	for (int i = 0; i < draws(200000); i++) {
		struct arena arena = {0};
		struct gate_expression e;
		struct err err = {0};
		const char *parts[3] = {PICK(metrics), PICK(operators), PICK(limits)};
		bool shuffled = draw(&random, 4) == 0;
		char *text =
			arena_format(&arena, "%s%s%s", parts[shuffled ? draw(&random, 3) : 0],
		                     parts[shuffled ? draw(&random, 3) : 1], parts[shuffled ? draw(&random, 3) : 2]);
		size_t n = strlen(text);
		for (uint32_t changes = draw(&random, 4); i % 2 && changes; changes--)
			text[draw(&random, (uint32_t)n)] = (char)draw(&random, 256);
		n = strlen(text);
		char *exact = malloc(n + 1); /* so that a sanitizer sees a byte too much */
		assert_non_null(exact);
		memcpy(exact, text, n + 1);
		if (gate_expression_parse(exact, &arena, &e, &err) == 0) {
			read++;
			assert_true(isfinite(e.limit));
			assert_true(e.unit == GATE_CHANGE ? e.limit >= -100 : e.limit >= 0);
		} else {
			assert_true(*err.text != 0);
		}
		free(exact);
		arena_release(&arena);
	}
	assert_true(read > (size_t)draws(20000) && read < (size_t)draws(180000)); /* both kinds were tried */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_are_read),
		cmocka_unit_test(mistakes_say_where),
		cmocka_unit_test(any_bytes_are_answered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
