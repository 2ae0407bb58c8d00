/* The builder as a format uses it: a toy one, made up here, gets a whole report; and two builders joined are one. */
#include "analyse/analyse.h"
#include "base/json_reader.h"
#include "render/render.h"
#include "trace/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the toy format: a row a line, "KIND PID ID START END CORRELATION NAME" ---- */

static void toy_line(struct build *b, const char *line)
{
	char kind[16], name[64];
	long long pid, id, start, end, correlation;
	if (sscanf(line, "%15s %lld %lld %lld %lld %lld %63s", kind, &pid, &id, &start, &end, &correlation, name) != 7)
		return;
	uint64_t process = (uint64_t)pid, text = build_text(b, name, strlen(name));
	struct build_thread thread = {.key = process << 32 | (uint64_t)id, .process = process, .pid = pid, .tid = id};
	build_from(b, "lines");
	if (strcmp(kind, "kernel") == 0)
		build_op(b, &(struct build_op){.kind = OP_KERNEL,
		                               .process = process,
		                               .pid = pid,
		                               .device = id,
		                               .start = start,
		                               .end = end,
		                               .correlation = correlation,
		                               .name = text});
	else if (strcmp(kind, "read_back") == 0)
		build_op(b, &(struct build_op){.kind = OP_COPY,
		                               .process = process,
		                               .pid = pid,
		                               .device = id,
		                               .start = start,
		                               .end = end,
		                               .correlation = correlation,
		                               .bytes = 4,
		                               .copy = COPY_D2H,
		                               .from = MEMORY_DEVICE,
		                               .to = MEMORY_PAGEABLE});
	else if (strcmp(kind, "call") == 0)
		build_call(b, &(struct build_call){.thread = thread,
		                                   .start = start,
		                                   .end = end,
		                                   .correlation = correlation,
		                                   .name = text});
	else if (strcmp(kind, "range") == 0)
		build_range(b, &(struct build_range){.thread = thread, .start = start, .end = end, .name = text});
}

static void toy_read(const char *text, struct trace *trace, struct names *names, struct arena *arena)
{
	struct build b;
	build_begin(&b, trace, names, arena, false);
	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		toy_line(&b, line);
	build_finish(&b);
}

/* ---- a report of it ---- */

/* 40 steps of 1 ms and `wait` µs: a kernel of 1 ms, launched 5 µs before it starts, and the wait for its result. */
static void write_steps(struct buf *text, long long wait)
{
	long long length = 1000000 + wait * 1000, pid = 7;
	for (long long i = 0; i < 40; i++) {
		long long t = 1000000 + i * length, done = t + wait * 1000 + 1000000;
		buf_format(text, "range %lld 8 %lld %lld 0 step\n", pid, t, t + length);
		buf_format(text, "kernel %lld 0 %lld %lld %lld gemm\n", pid, t + wait * 1000, done, 2 * i + 1);
		buf_format(text, "call %lld 8 %lld %lld %lld cudaLaunchKernel_v7000\n", pid, t + wait * 1000 - 5000,
		           t + wait * 1000 - 2000, 2 * i + 1);
		buf_format(text, "call %lld 8 %lld %lld 0 cudaDeviceSynchronize\n", pid, t + wait * 1000 - 1000, done);
	}
	buf_format(text, "kernel %lld 0 90 80 0 backwards\n", pid);
}

static double number_of(const struct json_value *v)
{
	if (!v)
		fail_msg("no such number");
	return strtod(v->text, NULL);
}

static void a_toy_format_gets_a_whole_report(void **state)
{
	(void)state;
	static const long long waits[] = {500, 100};
	struct arena arena = {0};
	struct names names;
	struct trace trace[2];
	struct analyse_run run[2];
	struct analysis analysis;
	struct err err = {0};
	struct buf json = {0}, html = {0};
	names_init(&names, &arena);
	for (int side = 0; side < 2; side++) {
		struct buf text = {0};
		write_steps(&text, waits[side]);
		toy_read(text.data, &trace[side], &names, &arena);
		buf_release(&text);
		run[side] = (struct analyse_run){&trace[side], "toy"};
		assert_int_equal(trace[side].n_unlaunched, 0);
		assert_int_equal(trace[side].n_devices, 1);
		assert_int_equal(trace[side].calls.class[0], CALL_LAUNCH);
		assert_string_equal(names_text(&names, trace[side].calls.name[0]), "cudaLaunchKernel");
		assert_int_equal(trace[side].rows[ROWS_KERNELS].read, 41);
		assert_int_equal(trace[side].rows[ROWS_KERNELS].dropped, 1);
		assert_string_equal(trace[side].dropped[0].where, "lines");
	}
	const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	if (analyse_pair(&run[0], 1, &run[1], 1, &options, &names, &arena, &analysis, &err) != 0 ||
	    render_json(&analysis, &json, &err) != 0 || render_html(&analysis, &html, &err) != 0)
		fail_msg("%s", err.text);
	const struct json_value *root = json_read(json.data, json.n, &arena);
	assert_non_null(root);
	const struct json_value *steps = json_member(json_member(root, "baseline", JSON_OBJECT), "steps", JSON_OBJECT);
	const struct json_value *verdict = json_member(root, "verdict", JSON_OBJECT);
	assert_in_range((int)number_of(json_member(steps, "measured", JSON_NUMBER)), 30, 40);
	assert_true(abs((int)(1000 * number_of(json_member(verdict, "speedup", JSON_NUMBER))) - 1363) <=
	            1); /* 1.5 / 1.1 */
	assert_non_null(strstr(html.data, "gemm"));
	assert_non_null(strstr(html.data, "</html>"));
	buf_release(&json);
	buf_release(&html);
	arena_release(&arena);
}

/* ---- joining ---- */

static uint64_t random_name(struct build *b, int64_t number)
{
	char text[16];
	int n = snprintf(text, sizeof text, "name %d", (int)number);
	return number % 2 ? build_number(number) : build_text(b, text, (size_t)n);
}

/* Row `i` of a random profile, which does not depend on the builder. */
static void add_random(struct build *b, int i)
{
	srand((unsigned)i * 7919 + 1);
	int64_t start = rand() % 1000, end = start + rand() % 50 - 2, number = rand() % 9, pid = 1 + rand() % 3;
	struct build_thread thread = {.process = (uint64_t)(100 - pid), .pid = pid, .tid = pid * 10 + rand() % 3};
	thread.key = (uint64_t)(1000 - thread.tid);
	build_from(b, i % 2 ? "odd rows" : "even rows");
	switch (rand() % 9) {
	case 0:
	case 1:
		build_op(b, &(struct build_op){.kind = rand() % 2 ? OP_KERNEL : OP_COPY,
		                               .process = thread.process,
		                               .pid = pid,
		                               .device = rand() % 3,
		                               .start = start,
		                               .end = end,
		                               .copy = COPY_H2D,
		                               .correlation = rand() % 9,
		                               .name = random_name(b, number)});
		break;
	case 2:
		build_call(b, &(struct build_call){.thread = thread,
		                                   .start = start,
		                                   .end = end,
		                                   .correlation = rand() % 9,
		                                   .name = random_name(b, number)});
		break;
	case 3:
		build_range(b, &(struct build_range){.thread = thread,
		                                     .start = start,
		                                     .end = number ? end : INT64_MIN,
		                                     .domain = rand() % 4 - 1,
		                                     .name = random_name(b, number)});
		break;
	case 4:
		build_os_call(b, &(struct build_os_call){
					 .thread = thread, .start = start, .end = end, .name = random_name(b, number)});
		break;
	case 5:
		build_switch(b, &(struct build_switch){.thread = thread.key, .time = start, .in = rand() % 2});
		break;
	case 6:
		build_domain(b, build_process(b, thread.process, pid), rand() % 4 - 1, random_name(b, number));
		build_thread_name(b, &thread, random_name(b, number));
		break;
	case 7: {
		struct build_frame frames[3];
		for (int f = 0; f < 3; f++)
			frames[f] = (struct build_frame){.name = random_name(b, rand() % 3 + 1),
			                                 .module = random_name(b, rand() % 2 + 3),
			                                 .unresolved = rand() % 3 == 0};
		uint32_t stack = build_stack(b, frames, (size_t)rand() % 4);
		build_host_sample(b, &(struct build_host_sample){.thread = thread.key, .time = start, .stack = stack});
		break;
	}
	default:
		build_overhead(b,
		               &(struct build_overhead){
				       .thread = thread, .start = start, .end = end, .name = random_name(b, number)});
	}
}

static void end(struct build *b)
{
	for (int64_t number = 1; number < 7; number += 2) {
		char text[16];
		uint32_t wanted = build_wants(b, number);
		int n = snprintf(text, sizeof text, "number %d", (int)number);
		if (wanted != TRACE_NONE)
			build_give(b, wanted, text, (size_t)n);
	}
	for (int64_t tid = 10; tid < 40; tid++)
		build_system_name(b, (uint64_t)(1000 - tid), build_text(b, "by the system", 13));
	build_finish(b);
}

/* Everything that a trace says of a row, names as texts; the order of rows is that of the trace. */
static void describe(struct trace *t, struct buf *out)
{
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		for (size_t row = 0; row < *columns_rows(t, rows); row++) {
			buf_format(out, "%d:", rows);
			for (size_t i = 0; i < COLUMNS[rows].n; i++) {
				const struct column *c = &COLUMNS[rows].column[i];
				const void *values = columns_get(t, rows, c);
				int64_t value = !values        ? 0
				                : c->size == 8 ? ((const int64_t *)values)[row]
				                : c->size == 4 ? ((const uint32_t *)values)[row]
				                               : ((const uint8_t *)values)[row];
				bool name = c->role == COLUMN_NAME || c->role == COLUMN_DOMAIN;
				buf_format(out, " %lld", name || c->role == COLUMN_CALL ? 0LL : (long long)value);
				if (name && values)
					buf_format(out, "%s", names_text(t->names, (uint32_t)value));
			}
			buf_format(out, "\n");
		}
	for (uint32_t i = 0; i < t->stacks.n_frames; i++) {
		const struct trace_function *f = &t->stacks.functions[t->stacks.frames[i].function];
		buf_format(out, "frame %u in %u: %u %s %s\n", i, t->stacks.frames[i].parent, f->kind,
		           names_text(t->names, f->name), names_text(t->names, f->module));
	}
	for (uint32_t i = 0; i < t->n_threads; i++)
		buf_format(out, "thread %lld of %lld: %s\n", (long long)t->threads[i].tid,
		           (long long)t->processes[t->threads[i].process].pid,
		           names_text(t->names, t->threads[i].name));
	for (uint32_t i = 0; i < t->n_devices; i++)
		buf_format(out, "device %u of %u: %u + %u\n", t->devices[i].ordinal, t->devices[i].process,
		           t->devices[i].first_op, t->devices[i].n_ops);
	for (int kind = 0; kind < ROW_KINDS; kind++)
		buf_format(out, "%lld %lld\n", (long long)t->rows[kind].read, (long long)t->rows[kind].dropped);
}

static void two_builders_joined_are_one(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		enum { ROWS = 400 };
		struct arena arena = {0}, other = {0};
		struct names names, other_names, joined_names;
		struct trace one, joined, part;
		struct build a, b, c;
		struct buf want = {0}, got = {0};
		int cut = round * ROWS / 60;
		names_init(&names, &arena);
		names_init(&joined_names, &arena);
		names_init(&other_names, &other);
		build_begin(&a, &one, &names, &arena, round % 2);
		build_begin(&b, &joined, &joined_names, &arena, round % 2);
		build_begin(&c, &part, &other_names, &other, round % 2);
		for (int i = 0; i < ROWS; i++)
			add_random(&a, round * ROWS + i);
		for (int i = 0; i < ROWS; i++)
			add_random(i < cut ? &b : &c, round * ROWS + i);
		build_trim(&c);
		build_join(&b, &c);
		arena_adopt(&arena, &other);
		end(&a);
		end(&b);
		describe(&one, &want);
		describe(&joined, &got);
		assert_string_equal(want.data, got.data);
		buf_release(&want);
		buf_release(&got);
		arena_release(&arena);
	}
}

static void ranges_may_begin_before_the_capture(void **state)
{
	/* NVTX notes ranges that were open when a capture began; calls are recorded from then on. */
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	(void)state;
	names_init(&names, &arena);
	toy_read("range 7 8 -500 400 0 early\ncall 7 8 -500 400 0 cudaFree\ncall 7 8 10 20 0 cudaFree\n", &trace,
	         &names, &arena);
	assert_int_equal(trace.ranges.n, 1);
	assert_int_equal(trace.ranges.start[0], -500);
	assert_int_equal(trace.calls.n, 1);
	assert_int_equal(trace.n_dropped, 1);
	assert_string_equal(trace.dropped[0].reason, "starts before the capture");
	arena_release(&arena);
}

/* CUPTI numbers the stream of graphs that kernels launch 1 << 57. */
static void a_stream_with_a_number_of_64_bits_is_one_of_its_own(void **state)
{
	(void)state;
	static const int64_t streams[] = {0, 7, (int64_t)1 << 57};
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct build b;
	names_init(&names, &arena);
	build_begin(&b, &trace, &names, &arena, false);
	build_from(&b, "lines");
	for (int i = 0; i < 3; i++)
		build_op(&b, &(struct build_op){.kind = OP_KERNEL,
		                                .process = 7,
		                                .pid = 7,
		                                .stream = streams[i],
		                                .start = 100 * i,
		                                .end = 100 * i + 50,
		                                .name = build_text(&b, "gemm", 4)});
	build_finish(&b);
	assert_int_equal(trace.ops.n, 3);
	assert_int_equal(trace.rows[ROWS_KERNELS].dropped, 0);
	assert_int_equal(trace.ops.stream[0], 0);
	assert_int_equal(trace.ops.stream[1], 7);
	assert_true(trace.ops.stream[2] != 0 && trace.ops.stream[2] != 7);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_toy_format_gets_a_whole_report),
		cmocka_unit_test(two_builders_joined_are_one),
		cmocka_unit_test(ranges_may_begin_before_the_capture),
		cmocka_unit_test(a_stream_with_a_number_of_64_bits_is_one_of_its_own),
	};
	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
