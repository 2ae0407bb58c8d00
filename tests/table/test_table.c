/* Step tables as bytes: what is judged of them is what is judged of the profiles, byte for byte; what is damaged is
 * found, and what a later gapline adds is passed over. `test_table BASELINE FIXED` does so with two profiles. */
#include "table/table.h"

#include "analysed.h"
#include "random_trace.h"
#include "rank_job.h"
#include "read/read.h"
#include "render/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum { FORMS = 4 };

static void say(const struct analysis *a, struct buf out[FORMS])
{
	const struct markdown_wish wish = {0};
	struct err err = {0};
	memset(out, 0, FORMS * sizeof *out);
	assert_int_equal(render_json(a, &out[0], &err), 0);
	assert_int_equal(render_markdown(a, &wish, &out[1], &err), 0);
	assert_int_equal(render_junit(a, &out[2], &err), 0);
	render_verdict(a, NULL, &out[3]);
}

/* Writes the tables of an analysis and judges what is read of them: the same words, and the same bytes again. Returns
 * the size of one of them, packed. */
static size_t hold(const struct analysis *a)
{
	struct arena arena = {0};
	struct names names;
	struct step_tables tables;
	struct table_columns columns;
	struct err err = {0};
	struct buf bytes = {0}, again = {0}, said[FORMS], read[FORMS];
	table_write(a->tables, a->names, &bytes);
	names_init(&names, &arena);
	if (table_read(bytes.data, bytes.n, &names, &arena, &tables, &columns, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(columns.n_unknown + columns.n_missing, 0);
	table_write(&tables, &names, &again);
	assert_int_equal(again.n, bytes.n);
	assert_memory_equal(again.data, bytes.data, bytes.n);
	struct analysis back = analyse_tables(&tables, &names, &arena);
	back.title = a->title;
	say(a, said);
	say(&back, read);
	for (int f = 0; f < FORMS; f++) {
		size_t at = 0, from;
		while (at < said[f].n && at < read[f].n && said[f].data[at] == read[f].data[at])
			at++;
		from = at < 200 ? 0 : at - 200;
		if (at < said[f].n || at < read[f].n)
			fail_msg("form %d: …%.400s… was …%.400s…", f, read[f].data + from, said[f].data + from);
		buf_release(&said[f]);
		buf_release(&read[f]);
	}
	size_t n = bytes.n;
	buf_release(&bytes);
	buf_release(&again);
	arena_release(&arena);
	return n;
}

static const struct analyse_options plain = {.warmup = -1, .gates.max_regression = -1};

static void analyse(struct analysed *t, const struct trace *baseline, const struct trace *fixed,
                    const struct analyse_options *options)
{
	const struct analyse_run runs[2] = {{baseline, "a.sqlite"}, {fixed, "b.sqlite"}};
	struct err err = {0};
	if (analyse_pair(&runs[0], 1, &runs[1], 1, options, &t->names, &t->arena, &t->result, &err) < 0)
		fail_msg("%s", err.text);
}

static size_t hold_files(const char *baseline, const char *fixed, const struct analyse_options *options)
{
	struct analysed t = {0};
	struct trace trace[2];
	struct err err = {0};
	names_init(&t.names, &t.arena);
	if (read_profile(baseline, &t.names, &t.arena, &trace[0], &err) < 0 ||
	    read_profile(fixed, &t.names, &t.arena, &trace[1], &err) < 0)
		fail_msg("%s", err.text);
	analyse(&t, &trace[0], &trace[1], options);
	size_t n = hold(&t.result);
	arena_release(&t.arena);
	return n;
}

static const char *const examples[2] = {TESTS_DIR "/../examples/training-step/baseline.digest",
                                        TESTS_DIR "/../examples/training-step/fixed.digest"};

static void a_recorded_pair(void **state)
{
	(void)state;
	hold_files(examples[0], examples[1], &plain);
	hold_files(examples[1], examples[0], &plain);
}

/* Nothing ran before or after the longest gap of any run: a column that says only so is a column of zeros. */
static void a_gap_without_neighbours(void **state)
{
	struct analysed *t = *state;
	struct trace trace[2];
	struct err err = {0};
	for (int s = 0; s < 2; s++)
		assert_int_equal(read_profile(examples[s], &t->names, &t->arena, &trace[s], &err), 0);
	analyse(t, &trace[0], &trace[1], &plain);
	struct step_tables tables = *t->result.tables, read;
	struct table_columns columns;
	struct buf bytes = {0};
	for (int s = 0; s < 2; s++) {
		struct run_table *run = ARENA_NEW(&t->arena, 1, struct run_table);
		*run = tables.facts[s].runs[0];
		run->once.before = run->once.next = TRACE_NONE;
		tables.facts[s].runs = run;
	}
	table_write(&tables, &t->names, &bytes);
	assert_int_equal(table_read(bytes.data, bytes.n, &t->names, &t->arena, &read, &columns, &err), 0);
	for (int s = 0; s < 2; s++) {
		assert_int_equal(read.facts[s].runs[0].once.before, TRACE_NONE);
		assert_int_equal(read.facts[s].runs[0].once.next, TRACE_NONE);
	}
	buf_release(&bytes);
}

static void with_all_options(void **state)
{
	struct gate_expression asked[3];
	static const char *const texts[] = {"idle<5%", "idle:host_code<1ms", "kernels_per_step<=+0%"};
	static const double numbers[] = {2.5, 1.25, 0.1};
	const struct printed_run printed_run = {"a.log", numbers, 3};
	const struct printed printed = {
		.pattern = "loss", .tolerance = 0.001, .run = {&printed_run, &printed_run}, .n = {1, 1}};
	struct analyse_options options = {.warmup = 3,
	                                  .items = {4096, 8192},
	                                  .items_name = "tokens",
	                                  .printed = &printed,
	                                  .gates = {.min_speedup = 1.1,
	                                            .max_regression = 3,
	                                            .require_comparable = true,
	                                            .expressions = asked,
	                                            .n_expressions = 3}};
	struct arena arena = {0};
	struct err err;
	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(gate_expression_parse(texts[i], &arena, &asked[i], &err), 0);
	hold_files(examples[0], examples[1], &options);
	arena_release(&arena);
}

static void ranks(void **state)
{
	struct analysed *t = *state;
	struct rank_job slow = {
		.ranks = 8, .load = 300, .forward = 900, .backward = 1800, .move = 400, .noise = 40, .seed = 7};
	struct rank_job fast = slow;
	slow.more_load[3] = 800;
	slow.once = 5000;
	fast.seed = 8;
	analyse(t, rank_job_make(&slow, &t->arena, &t->names), rank_job_make(&fast, &t->arena, &t->names), &plain);
	size_t n = hold(&t->result);
	if (n > 60 * 1024)
		fail_msg("%zu bytes", n);
}

/* Eight ranks, a hundred kernels, six hundred steps, and noise in all of it. */
static const struct trace *large_job(struct analysed *t, struct random *r, int64_t slower)
{
	enum { RANKS = 8, KERNELS = 100, STEPS = 600, PHASES = 5 };
	struct maker m;
	maker_init(&m, &t->arena, &t->names);
	for (uint32_t k = 0; k < RANKS; k++) {
		uint32_t process = maker_process(&m, 100 + k), thread = maker_thread(&m, process, 100 + k);
		uint32_t device = maker_device(&m, process, 0, maker_gpu(&m, "NVIDIA H100"));
		int64_t now = 1000000, until = now;
		uint32_t id = 1;
		for (int step = 0; step < STEPS; step++) {
			int64_t begin = now, first = now - 100;
			for (int i = 0; i < KERNELS; i++, id++) {
				char name[32];
				snprintf(name, sizeof name, "kernel_%c%c", 'a' + i / 10, 'a' + i % 10);
				now += random_between(r, 2000, 6000);
				maker_call(&m, thread, now, now + 1500, "cudaLaunchKernel", CALL_LAUNCH, id);
				int64_t start = now + 3000 > until ? now + 3000 : until;
				until = start + random_between(r, 1000, 4000) + slower;
				maker_op(&m, device, 7, OP_KERNEL, start, until, name, id);
				if (i % (KERNELS / PHASES) == KERNELS / PHASES - 1) {
					char phase[16];
					snprintf(phase, sizeof phase, "phase_%c", 'a' + i / (KERNELS / PHASES));
					maker_range(&m, thread, begin, now + 1600, phase, "", RANGE_PUSH_POP);
					begin = now + 1700;
				}
			}
			maker_range(&m, thread, first, now + 1650, "step", "", RANGE_PUSH_POP);
			now = now + 2000;
		}
	}
	return maker_link(&m);
}

static void a_large_job(void **state)
{
	struct analysed *t = *state;
	struct random r = {34};
	const struct trace *baseline = large_job(t, &r, 900), *fixed = large_job(t, &r, 0);
	analyse(t, baseline, fixed, &plain);
	size_t n = hold(&t->result);
	if (n > 2 * 60 * 1024)
		fail_msg("%zu bytes", n);
}

static void random_pairs(void **state)
{
	(void)state;
	struct random r = {34};
	for (int i = 0; i < 60; i++) {
		struct analysed t = {0};
		struct maker m[2];
		struct err err = {0};
		const struct random_shape shape = {
			.length = 400000, .causal = i % 3, .steps = i % 2, .processes = 1 + i % 2, .max_calls = 60};
		names_init(&t.names, &t.arena);
		for (int s = 0; s < 2; s++) {
			maker_init(&m[s], &t.arena, &t.names);
			random_trace(&m[s], &shape, &r);
			maker_link(&m[s]);
		}
		const struct analyse_run runs[2] = {{m[0].trace, "a.sqlite"}, {m[1].trace, "b.sqlite"}};
		if (analyse_pair(&runs[0], 1, &runs[1], 1, &plain, &t.names, &t.arena, &t.result, &err) == 0)
			hold(&t.result);
		arena_release(&t.arena);
	}
}

/* Blocks are joined until there is room, on both sides alike; what a column adds up to stays. */
static void blocks_that_fit(void **state)
{
	enum { COLUMNS = 60, BLOCKS = 512 };
	static int64_t ns[2][COLUMNS][BLOCKS];
	struct table_column column[2][COLUMNS];
	struct run_table run[2] = {
		{.n_blocks = BLOCKS, .block = 2, .n_steps = 2 * BLOCKS - 1, .n_columns = COLUMNS},
		{.n_blocks = BLOCKS - 1, .block = 2, .n_steps = 2 * BLOCKS - 2, .n_columns = COLUMNS}};
	(void)state;
	for (int s = 0; s < 2; s++) {
		for (int c = 0; c < COLUMNS; c++) {
			for (int b = 0; b < BLOCKS; b++)
				ns[s][c][b] = b + c;
			column[s][c] = (struct table_column){.ns = ns[s][c], .n = run[s].n_blocks};
		}
		run[s].column = column[s];
	}
	run_tables_fit((struct run_table *const[2]){&run[0], &run[1]}, (const size_t[2]){1, 1});
	/* 61,380 cells, then 30,720 */
	for (int s = 0; s < 2; s++) {
		int64_t sum = 0;
		assert_int_equal(run[s].n_blocks, 256);
		assert_int_equal(run[s].block, 4);
		for (int b = 0; b < 256; b++)
			sum += run[s].column[7].ns[b];
		assert_int_equal(sum, s ? 510 * 511 / 2 + 7 * 511 : 511 * 512 / 2 + 7 * 512);
	}
	assert_int_equal(run[1].column[0].ns[255], 510);
	run_tables_fit((struct run_table *const[2]){&run[0], &run[1]}, (const size_t[2]){1, 1});
	assert_int_equal(run[0].n_blocks, 256);
}

/* ---- bytes that are not what was written ---- */

static struct buf bytes_of(struct analysed *t)
{
	struct trace trace[2];
	struct err err = {0};
	struct buf bytes = {0};
	for (int s = 0; s < 2; s++)
		if (read_profile(examples[s], &t->names, &t->arena, &trace[s], &err) < 0)
			fail_msg("%s", err.text);
	analyse(t, &trace[0], &trace[1], &plain);
	table_write(t->result.tables, t->result.names, &bytes);
	return bytes;
}

static int read_again(const struct buf *bytes, struct table_columns *columns, struct err *err)
{
	struct arena arena = {0};
	struct names names;
	struct step_tables tables;
	names_init(&names, &arena);
	int result = table_read(bytes->data, bytes->n, &names, &arena, &tables, columns, err);
	arena_release(&arena);
	return result;
}

/* The same with another first line, and what is unpacked changed by `change`. */
static struct buf repacked(const struct buf *bytes, const char *line, void (*change)(unsigned char *, size_t))
{
	static unsigned char plain_bytes[TABLE_LONGEST], packed[TABLE_LONGEST];
	struct table_maker maker;
	struct err err;
	struct buf out = {0};
	assert_int_equal(table_maker(bytes->data, bytes->n, &maker, &err), 0);
	uLongf n = sizeof plain_bytes, m = sizeof packed;
	assert_int_equal(uncompress(plain_bytes, &n, (const Bytef *)bytes->data + maker.line, bytes->n - maker.line),
	                 Z_OK);
	if (change)
		change(plain_bytes, n);
	assert_int_equal(compress(packed, &m, plain_bytes, n), Z_OK);
	if (line)
		buf_text(&out, line);
	else
		buf_format(&out, "gapline table %d %s %zu %08lx\n", TABLE_RULES, GAPLINE_VERSION, (size_t)n,
		           crc32(crc32(0, NULL, 0), plain_bytes, (uInt)n));
	buf_add(&out, (char *)packed, m);
	return out;
}

static void rename_column(unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i + 5 < n; i++)
		if (memcmp(bytes + i, "\4busy", 5) == 0) {
			memcpy(bytes + i, "\4glow", 5);
			return;
		}
	fail_msg("there is no such column");
}

static void a_later_column(void **state)
{
	struct buf bytes = bytes_of(*state), later = repacked(&bytes, NULL, rename_column);
	struct table_columns columns;
	struct err err = {0};
	if (read_again(&later, &columns, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(columns.n_unknown, 1);
	assert_int_equal(columns.n_missing, 1);
	buf_release(&bytes);
	buf_release(&later);
}

static void refused(const struct buf *bytes, const char *why)
{
	struct table_columns columns;
	struct err err = {0};
	assert_int_equal(read_again(bytes, &columns, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* A repetition may be packed as one of another place that is the same. */
static bool unpacks_alike(const struct buf *a, const struct buf *b, size_t line)
{
	static unsigned char room[2][TABLE_LONGEST];
	uLongf n[2] = {sizeof room[0], sizeof room[1]};
	return a->n > line && uncompress(room[0], &n[0], (const Bytef *)a->data + line, a->n - line) == Z_OK &&
	       uncompress(room[1], &n[1], (const Bytef *)b->data + line, b->n - line) == Z_OK && n[0] == n[1] &&
	       memcmp(room[0], room[1], n[0]) == 0;
}

static void what_is_no_table(void **state)
{
	struct buf bytes = bytes_of(*state), whole = bytes_of(*state), other;
	static const char *const lines[][2] = {{"gapline table 999 9.9.9 100 00000000\n",
	                                        "made by gapline 9.9.9, whose rules are newer; use it with 9.9.x"},
	                                       {"gapline table 1 0.2.0 99999999 00000000\n", "at most 4194304"},
	                                       {"gapline digest 1\n", "does not begin"},
	                                       {"gapline table 1 0.2.0 100 00000000\n", "checksum"}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		other = repacked(&bytes, lines[i][0], NULL);
		refused(&other, lines[i][1]);
		buf_release(&other);
	}
	for (size_t n = 0; n < bytes.n; n += 1 + n / 7) {
		other = (struct buf){.data = bytes.data, .n = n};
		refused(&other, "the evidence");
	}
	for (size_t i = 0; i < bytes.n; i += 97) {
		bytes.data[i] ^= 1;
		struct table_columns columns;
		struct err err;
		struct table_maker maker;
		/* but for the version of who made it, which no rule goes by */
		if (read_again(&bytes, &columns, &err) == 0 &&
		    (table_maker(bytes.data, bytes.n, &maker, &err) < 0 || i >= maker.line) &&
		    !unpacks_alike(&whole, &bytes, maker.line))
			fail_msg("byte %zu", i);
		bytes.data[i] ^= 1;
	}
	buf_release(&bytes);
	buf_release(&whole);
}

/* Of a gapline whose rules are the third: which one was the first with each of them decides what is told. */
static void what_other_rules_made(void **state)
{
	static const char *const since[] = {"0.2.0", "0.3.0", "0.5.0"};
	static const struct {
		int rules;
		const char *version, *said;
	} made[] = {{3, "0.6.1", NULL},
	            {1, "0.2.7", "made by gapline 0.2.7; the rules differ since 0.3.0: use it with 0.2.x"},
	            {2, "0.4.0", "made by gapline 0.4.0; the rules differ since 0.5.0: use it with 0.4.x"},
	            {4, "1.10.2", "made by gapline 1.10.2, whose rules are newer; use it with 1.10.x"}};
	(void)state;
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		struct table_maker maker = {.rules = made[i].rules};
		struct err err = {0};
		snprintf(maker.version, sizeof maker.version, "%s", made[i].version);
		assert_int_equal(table_rules_fit(&maker, 3, since, &err), made[i].said ? -1 : 0);
		if (made[i].said && !strstr(err.text, made[i].said))
			fail_msg("%s", err.text);
	}
}

/* What no words could be made of: tables that are whole but for one value, which is not known. */
static void what_cannot_be_said(void **state)
{
	struct analysed *t = *state;
	struct buf bytes = bytes_of(t);
	const struct step_tables *whole = t->result.tables;
	struct trace_diagnostic silent = {.severity = 2, .text = 0};
	struct step_tables other[3] = {*whole, *whole, *whole};
	static const char *const why[] = {"a side lacks words", "a side lacks words",
	                                  "a fact lacks a value that its words need"};
	other[0].side[1].steps.name = 0;
	other[1].side[0].quality.diagnostics = &silent;
	other[1].side[0].quality.n_diagnostics = 1;
	facts_add(&other[2].side[0].quality.notes, &t->arena,
	          FACT_NEW(&t->arena, step_ranges_differ, FACT_NO_SIDE, .baseline = whole->side[0].steps.name));
	for (size_t i = 0; i < 3; i++) {
		bytes.n = 0;
		table_write(&other[i], t->result.names, &bytes);
		refused(&bytes, why[i]);
	}
	buf_release(&bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_pair),
		cmocka_unit_test_setup_teardown(a_gap_without_neighbours, analysed_begin, analysed_end),
		cmocka_unit_test(with_all_options),
		cmocka_unit_test_setup_teardown(ranks, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(a_large_job, analysed_begin, analysed_end),
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(blocks_that_fit),
		cmocka_unit_test_setup_teardown(a_later_column, analysed_begin, analysed_end),
		cmocka_unit_test_setup_teardown(what_is_no_table, analysed_begin, analysed_end),
		cmocka_unit_test(what_other_rules_made),
		cmocka_unit_test_setup_teardown(what_cannot_be_said, analysed_begin, analysed_end),
	};
	if (argc == 3) {
		printf("%zu bytes\n", hold_files(argv[1], argv[2], &plain));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
