/* Gates by expression: what an analysis answers, with numbers worked out by hand. The baseline's step takes 10 ms, 4 of
 * them idle; the fixed side's 5 ms, 1 of them idle. */
#include "analyse/analysis.h"
#include "find/columns.h"
#include "gate/gate.h"
#include "said.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000 };

struct made {
	struct arena arena;
	struct names names;
	struct analysis a;
	struct idle_row rows[2][2];
	struct phase_result phases[2][3];
	struct copy_result copies[2];
	struct run_result runs[2];
	struct series series[2];
	const struct side_facts *facts; /* NULL: there are no step tables */
};

static void make(struct made *m)
{
	static const double idle[2] = {4 * MS, 1 * MS}, step[2] = {10 * MS, 5 * MS};
	*m = (struct made){0};
	names_init(&m->names, &m->arena);
	m->a = (struct analysis){.names = &m->names, .n_sides = 2};
	uint32_t load = names_add_text(&m->names, "data load"), forward = names_add_text(&m->names, "forward"),
		 gone = names_add_text(&m->names, "gone");
	for (int s = 0; s < 2; s++) {
		struct side *side = &m->a.side[s];
		*side = (struct side){.steps.found = true,
		                      .headline.step = step[s],
		                      .budget = {.compute = step[s] - idle[s], .idle = idle[s], .period = step[s]},
		                      .counts.launches = 15,
		                      .counts.bytes_h2d = 2e7,
		                      .source = {.has_calls = true, .has_os_calls = true}};
		m->rows[s][0] = (struct idle_row){.cause = CAUSE_HOST_CODE, .per_step = idle[s] * 0.75};
		m->rows[s][1] = (struct idle_row){.cause = CAUSE_UNATTRIBUTED, .per_step = idle[s] * 0.25};
		side->budget.rows = m->rows[s];
		side->budget.n_rows = 2;
		m->phases[s][0] = (struct phase_result){.name = forward, .cost = step[s] - idle[s], .gpu = 3 * MS};
		m->phases[s][1] = (struct phase_result){.name = load, .cost = idle[s], .idle = idle[s], .host = 7 * MS};
		m->phases[s][2] = (struct phase_result){.name = gone, .cost = 1};
		side->phases = m->phases[s];
		side->n_phases = s ? 2 : 3;
	}
	m->a.verdict = (struct verdict){.result = VERDICT_FASTER,
	                                .measured = VERDICT_RECORDED,
	                                .has_speedup = true,
	                                .has_interval = true,
	                                .judged = true,
	                                .speedup = 2,
	                                .lo = 1.6,
	                                .hi = 2.5};
}

static void judge(struct made *m, const struct gates_asked *asked)
{
	const struct columns columns = {m->facts, m->a.side, {1, 1}, &m->a.comparison.renames, 0};
	const struct gate_source source = {m->a.names,    m->a.side,    &m->a.verdict, &m->a.comparison.renames,
	                                   m->a.quantile, &m->a.energy, &columns};
	m->a.gates = gate_metric_judge(&m->a.gates, asked, &source, &m->arena);
}

static const struct gate *ask(struct made *m, const char *text)
{
	struct gate_expression *e = ARENA_NEW(&m->arena, 1, struct gate_expression);
	struct err err;
	if (gate_expression_parse(text, &m->arena, e, &err))
		fail_msg("%s", err.text);
	const struct gates_asked asked = {.expressions = e, .n_expressions = 1};
	m->a.gates = (struct gates){0};
	judge(m, &asked);
	assert_int_equal(m->a.gates.n, 1);
	assert_int_equal(m->a.gates.result, m->a.gates.gate[0].result);
	assert_string_equal(m->a.gates.gate[0].name, text);
	return &m->a.gates.gate[0];
}

struct expected {
	const char *text;
	enum gate_result result;
	double found;
	const char *says;
};

static void check(struct made *m, const struct expected *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gate *gate = ask(m, cases[i].text);
		if (gate->result != cases[i].result ||
		    (cases[i].says && !strstr(said(gate->fact, &m->names), cases[i].says)))
			fail_msg("%s: %s", cases[i].text, said(gate->fact, &m->names));
		double off = gate->found - cases[i].found;
		if (gate->has_found && (off > 1e-6 || off < -1e-6))
			fail_msg("%s: found %.9g", cases[i].text, gate->found);
	}
}

#define CHECK(m, cases) check(m, cases, sizeof(cases) / sizeof *(cases))

static void numbers_are_held_against_limits(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const struct expected cases[] = {
		{"idle<21%", GATE_PASSED, 20, "Needs idle<21%; measured 20.00 % of a step: passed."},
		{"idle<20%", GATE_FAILED, 20, "measured 20 % of a step: failed"},
		{"idle<=20%", GATE_PASSED, 20, NULL},
		{"idle>20%", GATE_FAILED, 20, NULL},
		{"idle>=20%", GATE_PASSED, 20, NULL},
		{"idle<1.1ms", GATE_PASSED, 1 * MS, "1.00 ms per step"},
		{"idle<0.9ms", GATE_FAILED, 1 * MS, NULL},
		{"idle<=-75%", GATE_PASSED, -75,
	         "\xE2\x88\x92"
	         "75 % against the baseline"},
		{"idle<-75%", GATE_FAILED, -75, NULL},
		{"compute<79%", GATE_FAILED, 80, NULL},
		{"phase:\"data load\".cost<21%", GATE_PASSED, 20, NULL},
		{"phase:\"data load\".idle<=+0%", GATE_PASSED, -75, NULL},
		{"phase:\"data load\".host<150%", GATE_PASSED, 140, NULL},
		{"phase:forward.gpu<59%", GATE_FAILED, 60, NULL},
		{"kernels_per_step<=+0%", GATE_PASSED, 0, "measured 0 % against the baseline: passed"},
		{"kernels_per_step<15", GATE_FAILED, 15, NULL},
		{"kernels_per_step<16", GATE_PASSED, 15, NULL},
		{"h2d_bytes<=20MB", GATE_PASSED, 2e7, "20 MB per step"},
		{"step_ms<5.1", GATE_PASSED, 5 * MS, NULL},
		{"step_ms<=4.9", GATE_FAILED, 5 * MS, NULL},
	};
	CHECK(&m, cases);
	arena_release(&m.arena);
}

static void memory_is_that_of_the_run(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	m.a.side[0].memory = (struct side_memory){.known = true, .peak = 40000000};
	m.a.side[1].memory = (struct side_memory){.known = true, .peak = 50000000};
	static const struct expected cases[] = {
		{"memory<=50MB", GATE_PASSED, 5e7, "measured 50 MB at its peak: passed."},
		{"memory<50MB", GATE_FAILED, 5e7, NULL},
		{"memory<=+25%", GATE_PASSED, 25, "25 % against the baseline"},
		{"memory<=+0%", GATE_FAILED, 25, NULL},
	};
	CHECK(&m, cases);
	m.a.side[1].memory.allocator = true; /* what each counted is not the same */
	static const struct expected unlike[] = {
		{"memory<=50MB", GATE_PASSED, 5e7, NULL},
		{"memory<=+25%", GATE_INCONCLUSIVE, 0, "one side has allocations of CUDA"},
	};
	CHECK(&m, unlike);
	m.a.side[1].memory.allocator = false;
	m.a.side[0].memory = (struct side_memory){.why = "not_seen"};
	static const struct expected half[] = {
		{"memory<=50MB", GATE_PASSED, 5e7, NULL},
		{"memory<=+25%", GATE_INCONCLUSIVE, 0, "inconclusive: in the baseline allocations of device memory"},
	};
	CHECK(&m, half);
	m.a.side[1].memory = (struct side_memory){.why = "not_seen"};
	static const struct expected none[] = {
		{"memory<=50MB", GATE_INCONCLUSIVE, 0, "inconclusive: on the fixed side allocations of device memory"},
		{"memory>0B", GATE_INCONCLUSIVE, 0, NULL},
		{"memory>=0B", GATE_INCONCLUSIVE, 0, NULL},
		{"memory<=+25%", GATE_INCONCLUSIVE, 0, NULL},
	};
	CHECK(&m, none);
	arena_release(&m.arena);
}

/* A number that is missing never passes, whatever the operator. */
static void what_is_missing_passes_nothing(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const struct expected absent[] = {
		{"phase:gone.cost<10%", GATE_INCONCLUSIVE, 0,
	         "inconclusive: the fixed side has no such phase; it has forward, data load."},
		{"phase:gone.cost>=0%", GATE_INCONCLUSIVE, 0, NULL},
		{"phase:data_load.cost<10%", GATE_INCONCLUSIVE, 0, NULL},
	};
	CHECK(&m, absent);
	m.a.side[0].source.has_os_calls = m.a.side[1].source.has_os_calls = false;
	static const struct expected blocked[] = {{"idle:host_blocked<1%", GATE_INCONCLUSIVE, 0, "not recorded"}};
	CHECK(&m, blocked);
	static const struct expected unseen[] = {
		{"idle:gil<1%", GATE_INCONCLUSIVE, 0, "waits for Python's GIL were not recorded"},
		{"idle:gil>=0%", GATE_INCONCLUSIVE, 0, NULL},
	};
	CHECK(&m, unseen);
	m.a.side[0].source.has_lock = m.a.side[1].source.has_lock = true;
	m.rows[1][1].per_step = 0; /* of all idle time the cause is known */
	static const struct expected seen[] = {{"idle:gil<1%", GATE_PASSED, 0, NULL}};
	CHECK(&m, seen);
	m.a.side[1].source.has_calls = false;
	m.a.side[0].source.graphs = GRAPHS_WHOLE;
	m.a.side[0].counts.graph_launches = 1;
	static const struct expected hidden[] = {
		{"idle:host_code<99%", GATE_INCONCLUSIVE, 0, "need CUDA calls"},
		{"syncs_per_step<9", GATE_INCONCLUSIVE, 0, "not recorded"},
		{"kernels_per_step<=+0%", GATE_INCONCLUSIVE, 0, "traced whole"},
		{"h2d_bytes<=+0%", GATE_INCONCLUSIVE, 0, "traced whole"},
		{"kernels_per_step<16", GATE_PASSED, 15, NULL}, /* the fixed side has no graphs */
	};
	CHECK(&m, hidden);
	m.a.side[1].budget.period = 0;
	static const struct expected nothing[] = {{"idle<5%", GATE_INCONCLUSIVE, 0, "no length"}};
	CHECK(&m, nothing);
	arena_release(&m.arena);
	make(&m);
	m.a.verdict.judged = false;
	static const struct expected doubtful[] = {
		{"idle<21%", GATE_INCONCLUSIVE, 20, "these data prove nothing. Measured: 20.00 % of a step."},
		{"idle<19%", GATE_INCONCLUSIVE, 20, NULL},
		{"speedup>=0.1", GATE_INCONCLUSIVE, 2, NULL},
		{"step_ms<=+3%", GATE_INCONCLUSIVE, -50, NULL},
	};
	CHECK(&m, doubtful);
	arena_release(&m.arena);
}

static void what_is_known_in_part_stays_open(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const struct expected causes[] = {
		{"idle:host_code<16%", GATE_INCONCLUSIVE, 15,
	         "idle time without a known cause decides"}, /* 15 to 20 % */
		{"idle:host_code<14%", GATE_FAILED, 15, NULL},
		{"idle:host_code<21%", GATE_PASSED, 15, NULL},
		{"idle:host_code>14%", GATE_PASSED, 15, NULL},
		{"idle:host_code>16%", GATE_INCONCLUSIVE, 15, NULL},
		{"idle:unattributed<6%", GATE_PASSED, 5, NULL},
		{"idle:host_code<-50%", GATE_PASSED, -75, NULL}, /* 0.75 to 1 of 3 to 4 ms: -81 to -67 % */
		{"idle:host_code<-70%", GATE_INCONCLUSIVE, -75, NULL},
	};
	CHECK(&m, causes);
	m.a.verdict.lo = 0.9;
	m.a.verdict.hi = 1.1;
	m.a.verdict.speedup = 1;
	static const struct expected steps[] = {
		{"step_ms<=+3%", GATE_INCONCLUSIVE, 0, "because the interval covers the limit"},
		{"step_ms<=+12%", GATE_PASSED, 0, NULL},
		{"step_ms<=-10%", GATE_FAILED, 0, NULL},
	};
	CHECK(&m, steps);
	m.series[0].mean = 4.8 * MS;
	m.series[1].mean = 5.2 * MS;
	m.runs[0].series = &m.series[0];
	m.runs[1].series = &m.series[1];
	m.a.side[1].runs = m.runs;
	m.a.side[1].n_runs = 2;
	static const struct expected runs[] = {
		{"step_ms<5.1", GATE_INCONCLUSIVE, 5 * MS, "the runs disagree"},
		{"step_ms<5.3", GATE_PASSED, 5 * MS, NULL},
		{"step_ms<4.7", GATE_FAILED, 5 * MS, NULL},
	};
	CHECK(&m, runs);
	m.a.side[0].counts.launches = 0;
	static const struct expected from_nothing[] = {
		{"kernels_per_step<=+5%", GATE_FAILED, 0, "something where the baseline has nothing"},
		{"kernels_per_step>=+5%", GATE_INCONCLUSIVE, 0, "no change in percent"},
		{"collectives_per_step<=+0%", GATE_PASSED, 0, NULL},
	};
	CHECK(&m, from_nothing);
	arena_release(&m.arena);
}

static void a_speedup_is_the_verdicts(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const struct expected cases[] = {
		{"speedup>=1.5", GATE_PASSED, 2, "Needs ≥ 1.50×; measured 2.00× (1.60 to 2.50): passed"},
		{"speedup>=1.025", GATE_PASSED, 2, "Needs ≥ 1.025×"},
		{"speedup>=1.7", GATE_INCONCLUSIVE, 2, "(1.60 to 2.50): inconclusive"},
		{"speedup>=1.601", GATE_INCONCLUSIVE, 2, "(1.600 to 2.500): inconclusive"},
		{"speedup>=2.6", GATE_FAILED, 2, NULL},
	};
	CHECK(&m, cases);
	m.a.verdict.result = VERDICT_INCONCLUSIVE;
	static const struct expected open[] = {{"speedup>=1.5", GATE_INCONCLUSIVE, 2, "needs `faster`"}};
	CHECK(&m, open);
	arena_release(&m.arena);
}

static void a_failed_gate_decides(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const char *const texts[] = {"idle<21%", "phase:gone.cost<1%", "idle<1%", "idle<22%"};
	static const enum gate_result together[] = {GATE_PASSED, GATE_INCONCLUSIVE, GATE_FAILED, GATE_FAILED};
	struct gate_expression e[4];
	struct err err;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(gate_expression_parse(texts[i], &m.arena, &e[i], &err), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct gates_asked asked = {.expressions = e, .n_expressions = i + 1};
		m.a.gates = (struct gates){0};
		judge(&m, &asked);
		assert_int_equal(m.a.gates.n, i + 1);
		assert_int_equal(m.a.gates.result, together[i]);
	}
	arena_release(&m.arena);
}

static void the_same_work_is_no_proof_without_a_speedup(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct verdict v = {.speedup = 1, .lo = 1, .hi = 1};
	const struct gates_asked asked = {.max_regression = -1, .require_comparable = true};
	struct comparison c = {.same_work = SAME_WORK_SAME};
	struct gates gates = gates_judge(&v, &c, &asked, &arena);
	assert_int_equal(gates.result, GATE_INCONCLUSIVE);
	assert_non_null(strstr(said(gates.gate[0].fact, NULL), "there is nothing to compare"));
	v.has_speedup = true;
	assert_int_equal(gates_judge(&v, &c, &asked, &arena).result, GATE_PASSED);
	/* as the line of the work says it */
	static const char *const way[] = {[KERNELS_OTHERS] = "same work, different kernels",
	                                  [KERNELS_TIMES] = "same work, other kernel times",
	                                  [KERNELS_SAME] = "same work, other copies or launches"};
	c.same_work = SAME_WORK_JOB;
	for (int k = KERNELS_OTHERS; k <= KERNELS_SAME; k++) {
		c.kernels = (enum same_kernels)k;
		assert_non_null(strstr(said(gates_judge(&v, &c, &asked, &arena).gate[0].fact, NULL), way[k]));
	}
	/* other clocks than the baseline's: neither the same work nor a doubt about it makes that comparable */
	c.other_conditions = true;
	for (c.same_work = SAME_WORK_SAME; c.same_work <= SAME_WORK_UNKNOWN; c.same_work++) {
		struct gates other = gates_judge(&v, &c, &asked, &arena);
		assert_int_equal(other.result, GATE_FAILED);
		bool conditions = strstr(said(other.gate[0].fact, NULL), "conditions") != NULL;
		assert_int_equal(conditions, c.same_work != SAME_WORK_DIFFERENT);
	}
	/* of an end near 0 as many digits as of one near 1 */
	struct verdict slow = {.has_speedup = true,
	                       .has_interval = true,
	                       .judged = true,
	                       .result = VERDICT_SLOWER,
	                       .speedup = 0.5,
	                       .lo = 0.00123,
	                       .hi = 0.9};
	const struct gates_asked faster = {.min_speedup = 1.05, .max_regression = -1};
	assert_non_null(strstr(said(gates_judge(&slow, &c, &faster, &arena).gate[0].fact, NULL), "(0.00123 to"));
	v.has_speedup = false; /* what failed, failed */
	c = (struct comparison){.same_work = SAME_WORK_DIFFERENT};
	assert_int_equal(gates_judge(&v, &c, &asked, &arena).result, GATE_FAILED);
	arena_release(&arena);
}

/* p50 takes 4 to 6 ms, which was 8 to 12; of p99 there is one number a side. */
static void quantiles_go_by_their_intervals(void **state)
{
	(void)state;
	struct made m;
	make(&m);
	static const double at[2] = {10 * MS, 5 * MS};
	for (int s = 0; s < 2; s++) {
		m.a.side[s].latency[0].quantile[0] = (struct quantile){
			.p = .5, .known = true, .at = at[s], .has_interval = true, .lo = at[s] * .8, .hi = at[s] * 1.2};
		m.a.side[s].latency[0].quantile[3] = (struct quantile){.p = .99,
		                                                       .known = true,
		                                                       .at = at[s],
		                                                       .lo = at[s],
		                                                       .hi = at[s],
		                                                       .independent = 120.7,
		                                                       .needed = 500};
	}
	m.a.side[0].latency[0].quantile[3].has_interval = true;
	m.a.quantile[0][0] =
		(struct quantile_change){.known = true, .has_interval = true, .ratio = .5, .lo = .4, .hi = .6};
	m.a.quantile[0][3] = (struct quantile_change){.known = true, .ratio = .5, .lo = .5, .hi = .5};
	/* the time to the first token, of which p50 is known and took as long before */
	m.a.side[1].latency[LATENCY_FIRST].quantile[0] = (struct quantile){
		.p = .5, .known = true, .at = MS, .has_interval = true, .lo = .9 * MS, .hi = 1.1 * MS};
	m.a.quantile[LATENCY_FIRST][0] =
		(struct quantile_change){.known = true, .has_interval = true, .ratio = 1, .lo = .95, .hi = 1.02};
	static const struct expected cases[] = {
		{"p50:first<1.2ms", GATE_PASSED, MS, "measured 1.00 ms (0.90 ms to 1.10 ms): passed"},
		{"p50:first<=+3%", GATE_PASSED, 0, NULL},
		{"p50:first<=+1%", GATE_INCONCLUSIVE, 0, "because the interval covers the limit"},
		{"p50:each<1ms", GATE_INCONCLUSIVE, 0, "no range of tokens was named (--first, --each)"},
		{"p50<7ms", GATE_PASSED, 5 * MS, "measured 5.00 ms (4.00 ms to 6.00 ms): passed"},
		{"p50<3.9ms", GATE_FAILED, 5 * MS, NULL},
		{"p50<5.5ms", GATE_INCONCLUSIVE, 5 * MS, "because the interval covers the limit"},
		{"p50<=+3%", GATE_PASSED, -50, NULL},
		{"p50<=-61%", GATE_FAILED, -50, NULL},
		{"p50<=-55%", GATE_INCONCLUSIVE, -50, NULL},
		{"p99<12ms", GATE_INCONCLUSIVE, 5 * MS,
	         "p99 needs about 500 independent steps, and the fixed side has 120"},
		{"p99<=+3%", GATE_INCONCLUSIVE, -50, "the fixed side has 120"},
		{"p95<12ms", GATE_INCONCLUSIVE, 0, "there are no steps"},
	};
	CHECK(&m, cases);
	arena_release(&m.arena);
}

/* Every step is like every other one, so nothing varies within a run; what one run per side cannot show is a quarter of
 * idle time, and three hundredths of computing (evidence-rules F): of the larger side, here 1 and 0.18 ms. */
static void parts_of_the_budget_have_intervals(void **state)
{
	(void)state;
	enum { STEPS = 40 };
	struct made m;
	int64_t ns[2][2][STEPS];
	struct table_column column[2][2];
	struct run_table run[2];
	struct side_facts facts[2] = {0};
	make(&m);
	for (int s = 0; s < 2; s++) {
		static const enum part_kind kind[2] = {PART_COMPUTE, PART_IDLE};
		const double part[2] = {m.a.side[s].budget.compute, m.a.side[s].budget.idle};
		for (int k = 0; k < 2; k++) {
			for (int i = 0; i < STEPS; i++)
				ns[s][k][i] = (int64_t)part[k];
			column[s][k] = (struct table_column){
				.kind = kind[k], .cause = CAUSE_HOST_CODE, .ns = ns[s][k], .n = STEPS};
		}
		run[s] = (struct run_table){.n_steps = STEPS,
		                            .n_blocks = STEPS,
		                            .block = 1,
		                            .n_devices = 1,
		                            .column = column[s],
		                            .n_columns = 2};
		facts[s] = (struct side_facts){.runs = &run[s], .n_runs = 1};
	}
	m.facts = facts;
	static const struct {
		const char *gate;
		double lo, hi;
		enum gate_result result;
	} asked[] = {{"idle<=-49%", -100, -50, GATE_PASSED},
	             {"idle<=-51%", -100, -50, GATE_INCONCLUSIVE},
	             {"idle<1.2ms", .75e6, 1.25e6, GATE_INCONCLUSIVE},
	             {"idle<1.3ms", .75e6, 1.25e6, GATE_PASSED},
	             {"idle<0.7ms", .75e6, 1.25e6, GATE_FAILED},
	             {"idle<24%", 15, 25, GATE_INCONCLUSIVE},
	             {"compute<4.1ms", 3.88e6, 4.12e6, GATE_INCONCLUSIVE},
	             {"compute<4.2ms", 3.88e6, 4.12e6, GATE_PASSED},
	             {"compute<=-31%", -100. / 3 - 3, -100. / 3 + 3, GATE_INCONCLUSIVE}};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		const struct gate *gate = ask(&m, asked[i].gate);
		assert_true(gate->has_interval);
		assert_true(fabs(gate->lo - asked[i].lo) < 1e-6 * fabs(asked[i].lo));
		assert_true(fabs(gate->hi - asked[i].hi) < 1e-6 * fabs(asked[i].hi));
		assert_int_equal(gate->result, asked[i].result);
	}
	arena_release(&m.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_budget_have_intervals),
		cmocka_unit_test(quantiles_go_by_their_intervals),
		cmocka_unit_test(numbers_are_held_against_limits),
		cmocka_unit_test(memory_is_that_of_the_run),
		cmocka_unit_test(what_is_missing_passes_nothing),
		cmocka_unit_test(what_is_known_in_part_stays_open),
		cmocka_unit_test(a_speedup_is_the_verdicts),
		cmocka_unit_test(a_failed_gate_decides),
		cmocka_unit_test(the_same_work_is_no_proof_without_a_speedup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
