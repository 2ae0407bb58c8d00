/* A spool -> a profile: samples of Python's frames. */
#include "support_convert.h"

enum { SAMPLER = 779 };

static void function(struct spool_events *events, uint64_t number, const char *text, size_t n)
{
	spool_event(events,
	            (struct spool_event){.time = START, .type = SPOOL_FUNCTION, .text = SPOOL_UTF8, .id = number}, text,
	            n);
}
#define FUNCTION(events, number, text) function(events, number, text, sizeof(text) - 1)

static void sample(struct spool_events *events, int64_t time, uint64_t tid, bool cut, const uint32_t *frames, size_t n)
{
	spool_event(events, (struct spool_event){.time = time, .type = SPOOL_SAMPLE, .id = tid, .category = cut},
	            frames, n * sizeof *frames);
}
#define FRAMES(...) (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

static void sampled(struct spool_maker *m, uint64_t taken, uint64_t torn)
{
	const struct spool_sampled s = {1000000, taken, torn, 0};
	spool_add(m, SPOOL_SAMPLED, 0, &s, sizeof s);
}

static const char frames[] =
	"SELECT c.id, c.start, c.globalTid & 0xFFFFFF, stackDepth, s.value, m.value FROM COMPOSITE_EVENTS c JOIN "
	"SAMPLING_CALLCHAINS f ON f.id = c.id JOIN StringIds s ON s.id = symbol JOIN StringIds m ON m.id = module "
	"ORDER BY 1, 4";

/* Two processes count their functions each for itself, and a program that replaced another under its PID does again. */
static void test_samples(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	const char *const names[] = {"700-cuda-0.spool", "700-cuda-1.spool", "800-cuda-0.spool"};
	for (int i = 0; i < 3; i++) {
		struct spool_events events = {{0}};
		uint32_t pid = i == 2 ? 800 : PID;
		begin_cuda(&m, pid);
		struct buf b = {0};
		struct spool_record r = spool_call(5, 211, START + 5, START + 6, pid, 1);
		spool_record(&b, &r, 40);
		spool_add_buffer(&m, &b);
		if (i == 0) {
			FUNCTION(&events, 1, "step\0train.py");
			FUNCTION(&events, 2, "Data.__getitem__\0data.py");
			sample(&events, START + 1000, PID, false, FRAMES(2, 1));
			sample(&events, START + 2000, PID, true, FRAMES(1));
			FUNCTION(&events, 7, "f.<locals>.<lambda>\0<string>");
			sample(&events, START + 3000, 715, false, FRAMES(7, 7, 1));
		} else {
			FUNCTION(&events, 1, "other\0second.py");
			sample(&events, START + 4000 + i, pid, false, FRAMES(1));
		}
		spool_add_events(&m, SAMPLER, &events);
		sampled(&m, 3, (uint64_t)i);
		sampled(&m, 0, 1);
		spool_add_text(&m, SPOOL_THREAD_NAME, SAMPLER, "gapline");
		spool_end(&m, START + 5000);
		write_spool(s, &m, names[i]);
	}
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.samples, 5);
	assert_int_equal(result.samples_torn, 6);
	assert_int_equal(result.sample_ns, 1000000);
	assert_int_equal(result.skipped, 0);
	assert_string_equal(query(s, db, frames),
	                    "1|1000|700|0|Data.__getitem__|data.py\n1|1000|700|1|step|train.py\n"
	                    "2|2000|700|0|step|train.py\n2|2000|700|1|[Max depth]|[Max depth]\n"
	                    "3|3000|715|0|f.<locals>.<lambda>|<string>\n3|3000|715|1|f.<locals>.<lambda>|<string>\n"
	                    "3|3000|715|2|step|train.py\n4|4001|700|0|other|second.py\n5|4002|800|0|other|second.py");
	assert_string_equal(query(s, db, "SELECT count(*), count(threadState), count(cpu) FROM COMPOSITE_EVENTS"),
	                    "5|0|0");
	assert_string_equal(query(s, db, "SELECT count(*) FROM sqlite_master WHERE name = 'ThreadNames'"), "0");
}

static void look(struct spool_events *events, int64_t time, uint64_t tid, uint64_t state, uint64_t holder)
{
	spool_event(events,
	            (struct spool_event){.time = time, .type = SPOOL_LOCK, .id = tid, .payload = state << 32 | holder},
	            NULL, 0);
}

/* … and how often the lock had changed hands: `n` bytes of the number. */
static void look_after(struct spool_events *events, int64_t time, uint64_t tid, uint64_t switches, size_t n)
{
	spool_event(events,
	            (struct spool_event){
			    .time = time, .type = SPOOL_LOCK, .id = tid, .payload = (uint64_t)SPOOL_GIL_NOT << 32},
	            &switches, n);
}

static void hold(struct spool_events *events, int64_t time, uint64_t tid, uint32_t function_of_it)
{
	spool_event(events, (struct spool_event){.time = time, .type = SPOOL_HOLDER, .id = tid}, &function_of_it,
	            sizeof function_of_it);
}

/* A process whose only CUDA work is one call, in `b`. */
static void begin_with_a_call(struct spool_maker *m, struct buf *b)
{
	begin_cuda(m, PID);
	struct spool_record r = spool_call(5, 211, START + 5, START + 6, PID, 1);
	spool_record(b, &r, 40);
	spool_add_buffer(m, b);
}

/* What the holder of the interpreter's lock did belongs to the sample behind it that waits for that holder. */
static void test_lock(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	struct buf b = {0};
	begin_with_a_call(&m, &b);
	FUNCTION(&events, 1, "wait\0a.py");
	FUNCTION(&events, 2, "decode\0b.py");
	sample(&events, START + 2000, PID, false, FRAMES(1));
	look(&events, START + 2000, PID, SPOOL_GIL_NOT, PID);
	hold(&events, START + 3000, 720, 2);
	look(&events, START + 3000, PID, SPOOL_GIL_WAITS, 720);
	look(&events, START + 4000, PID, SPOOL_GIL_WAITS, 720); /* nobody looked at the holder */
	hold(&events, START + 5000, 721, 2);
	look(&events, START + 5000, PID, SPOOL_GIL_WAITS, 720); /* … or at another one */
	hold(&events, START + 5500, 720, 2);
	look(&events, START + 6000, PID, SPOOL_GIL_WAITS, 720); /* … or earlier */
	hold(&events, START + 7000, 720, 3);                    /* a function that nobody named */
	look(&events, START + 7000, PID, SPOOL_GIL_WAITS, 720);
	look(&events, START + 8000, PID, SPOOL_GIL_NOT, 0);
	look(&events, START + 9000, PID, 3, 720); /* no such state */
	look_after(&events, START + 9100, PID, 12345678901, 8);
	look_after(&events, START + 9200, PID, 12345678901, 4); /* no such number */
	look_after(&events, START + 9300, PID, UINT64_MAX, 8);
	spool_add_events(&m, SAMPLER, &events);
	spool_end(&m, START + 20000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.samples, 1);
	assert_int_equal(result.skipped, 1);
	assert_string_equal(query(s, db, "SELECT start, switches FROM GAPLINE_GIL WHERE start >= 8000 ORDER BY 1"),
	                    "8000|-\n9100|12345678901\n9200|-\n9300|-");
	assert_string_equal(
		query(s, db,
	              "SELECT g.start, g.globalTid & 0xFFFFFF, waits, holder & 0xFFFFFF, s.value FROM GAPLINE_GIL g "
	              "LEFT JOIN COMPOSITE_EVENTS c ON c.id = sampleId AND c.globalTid = holder AND c.start = g.start "
	              "LEFT JOIN SAMPLING_CALLCHAINS f ON f.id = c.id LEFT JOIN StringIds s ON s.id = symbol "
	              "WHERE g.start < 9000 ORDER BY 1"),
		"2000|700|0|700|-\n3000|700|1|720|decode\n4000|700|1|720|-\n5000|700|1|720|-\n6000|700|1|720|-\n"
		"7000|700|1|720|-\n8000|700|0|-|-");
}

static void name(struct spool_events *events, uint64_t tid, const char *text, size_t n)
{
	spool_event(events,
	            (struct spool_event){.time = START, .type = SPOOL_PYTHON_THREAD, .text = SPOOL_UTF8, .id = tid},
	            text, n);
}

/* What Python calls a thread goes before what the system does, and the last name counts. */
static void test_names_of_threads(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	struct buf b = {0};
	static const char hostile[] = "a\x1b[2J\n<b>&z";
	begin_with_a_call(&m, &b);
	spool_add_text(&m, SPOOL_THREAD_NAME, 720, "python3");
	name(&events, 720, "loader-1", 8);
	name(&events, 721, "first", 5);
	name(&events, 721, "second", 6);
	name(&events, 722, "", 0);
	name(&events, UINT64_C(1) << 32 | 723, "far", 3);
	name(&events, 724, hostile, sizeof hostile - 1);
	spool_add_events(&m, SAMPLER, &events);
	spool_add_text(&m, SPOOL_THREAD_NAME, 720, "python3");
	spool_add_text(&m, SPOOL_THREAD_NAME, 725, "pt_main_thread");
	spool_end(&m, START + 20000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.skipped, 0);
	assert_string_equal(query(s, db,
	                          "SELECT globalTid & 0xFFFFFF, hex(value) FROM ThreadNames JOIN StringIds s ON s.id = "
	                          "nameId WHERE globalTid & 0xFFFFFF = 724"),
	                    "724|611B5B324A0A3C623E267A");
	assert_string_equal(
		query(s, db,
	              "SELECT globalTid & 0xFFFFFF, value FROM ThreadNames JOIN StringIds s ON s.id = nameId "
	              "WHERE globalTid & 0xFFFFFF != 724 ORDER BY 1"),
		"720|loader-1\n721|second\n725|pt_main_thread");
}

/* What makes no sense is counted and left out, as a whole. */
static void test_nonsense(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	struct buf b = {0};
	begin_with_a_call(&m, &b);
	FUNCTION(&events, 1, "good\0a.py");
	FUNCTION(&events, 2, "without a file");
	FUNCTION(&events, 0, "number\0none.py");
	FUNCTION(&events, UINT64_C(1) << 32, "too\0many.py");
	FUNCTION(&events, 1, "again\0b.py");
	sample(&events, START + 1000, PID, false, FRAMES(1, 3));
	sample(&events, START + 1000, PID, false, NULL, 0);
	sample(&events, START - 1, PID, false, FRAMES(1));
	sample(&events, START + 1000, UINT64_C(1) << 32, false, FRAMES(1));
	spool_event(&events, (struct spool_event){.time = START + 7, .type = SPOOL_SAMPLE, .id = PID}, "\1\0\0\0\1", 5);
	spool_add_events(&m, SAMPLER, &events);
	spool_add(&m, SPOOL_SAMPLED, 0, "short", 5);
	spool_end(&m, START + 5000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.skipped, 7);
	assert_int_equal(result.samples, 1);
	assert_int_equal(result.sample_ns, 0);
	assert_string_equal(query(s, db, frames), "1|7|700|0|good|a.py");
}

/* Where nodes of graphs were made: stacks once each, whoever's events come first, and of nonsense none. */
static void test_nodes(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}}, sampler = {{0}};
	const struct spool_frame one[] = {{2, 42}, {1, 7}}, two[] = {{2, 42}, {1, 8}}, none[] = {{2, 0}},
				 bad[] = {{2, 1}, {9, 1}};
	const struct {
		const void *frames;
		size_t bytes;
	} nodes[] = {{one, sizeof one}, {two, sizeof two}, {one, sizeof one},     {none, sizeof none},
	             {NULL, 0},         {bad, sizeof bad}, {one, sizeof one - 1}, {one, 3}};
	struct buf b = {0};
	begin_with_a_call(&m, &b);
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
		spool_event(&events, (struct spool_event){.time = START + 10, .type = SPOOL_NODE, .id = i + 1},
		            nodes[i].frames, nodes[i].bytes);
	spool_add_events(&m, PID, &events);
	spool_event(
		&sampler,
		(struct spool_event){.time = START, .type = SPOOL_FUNCTION, .text = SPOOL_UTF8, .id = 1, .category = 1},
		"call\0lib.py", 11);
	FUNCTION(&sampler, 2, "Block.forward\0a.py");
	spool_add_events(&m, SAMPLER, &sampler);
	spool_end(&m, START + 5000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.skipped, 1);
	assert_string_equal(query(s, db, "SELECT graphNodeId, ifnull(callchainId, '-') FROM CUDA_GRAPH_NODE_EVENTS"),
	                    "1|1\n2|2\n3|1\n4|3\n5|-\n6|-\n7|4\n8|-");
	assert_string_equal(
		query(s, db,
	              "SELECT c.id, stackDepth, s.value, m.value, ifnull(line, '-'), library FROM CUDA_CALLCHAINS c "
	              "JOIN StringIds s ON s.id = symbol JOIN StringIds m ON m.id = module ORDER BY 1, 2"),
		"1|0|Block.forward|a.py|42|0\n1|1|call|lib.py|7|1\n2|0|Block.forward|a.py|42|0\n"
		"2|1|call|lib.py|8|1\n3|0|Block.forward|a.py|-|0\n4|0|Block.forward|a.py|42|0");
}

/* A process of which there is nothing but samples used no CUDA. */
static void test_samples_alone(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	spool_begin(&m, PID, WRITER);
	FUNCTION(&events, 1, "good\0a.py");
	sample(&events, START + 1000, PID, false, FRAMES(1));
	spool_add_events(&m, SAMPLER, &events);
	spool_end(&m, START + 5000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.processes, 0);
	assert_int_equal(result.samples, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_samples, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_lock, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_names_of_threads, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_nodes, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_samples_alone, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
