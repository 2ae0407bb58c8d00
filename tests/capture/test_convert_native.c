/* A spool -> a profile: what Python's functions had called when they were sampled. */
#include "support_convert.h"

#include <sys/stat.h>

enum { SAMPLER = 779 };

/* A file whose second page is code, with one function, "_ZN3abc4hashEi" from 0x1000 to 0x1100. */
static const char *library(struct support *s, uint64_t *inode)
{
	const char *source = support_path(s, "source.c"), *path = support_path(s, "libabc.so.1");
	FILE *f = fopen(source, "w");
	assert_non_null(f);
	fputs("__asm__(\".text; .balign 4096; .globl _ZN3abc4hashEi; .type _ZN3abc4hashEi, @function\\n\"\n"
	      "\"_ZN3abc4hashEi: .skip 256; .size _ZN3abc4hashEi, 256; .skip 256\");\n",
	      f);
	fclose(f);
	char command[512];
	snprintf(command, sizeof command, "cc -shared -nostdlib -o %s %s", path, source);
	assert_int_equal(system(command), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	*inode = (uint64_t)st.st_ino;
	return path;
}

static void module(struct spool_events *events, uint64_t number, const char *path, uint64_t inode)
{
	spool_event(events,
	            (struct spool_event){
			    .time = START, .type = SPOOL_MODULE, .text = SPOOL_UTF8, .id = number, .payload = inode},
	            path, strlen(path));
}

static void native(struct spool_events *events, int64_t time, uint64_t tid, const struct spool_native_frame *frames,
                   size_t n)
{
	spool_event(events, (struct spool_event){.time = time, .type = SPOOL_NATIVE, .id = tid}, frames,
	            n * sizeof *frames);
}
#define NATIVE(...)                                                                                                    \
	(const struct spool_native_frame[]){__VA_ARGS__},                                                              \
		sizeof((const struct spool_native_frame[]){__VA_ARGS__}) / sizeof(struct spool_native_frame)

static void sample(struct spool_events *events, int64_t time, uint64_t tid, bool cut)
{
	const uint32_t frames[] = {2, 1};
	spool_event(events, (struct spool_event){.time = time, .type = SPOOL_SAMPLE, .id = tid, .category = cut},
	            frames, sizeof frames);
}

static void begin(struct spool_maker *m, struct spool_events *events)
{
	static const char step[] = "step\0a.py", load[] = "load\0a.py";
	begin_cuda(m, PID);
	struct buf b = {0};
	struct spool_record r = spool_call(5, 211, START + 5, START + 6, PID, 1);
	spool_record(&b, &r, 40);
	spool_add_buffer(m, &b);
	spool_event(events, (struct spool_event){.time = START, .type = SPOOL_FUNCTION, .text = SPOOL_UTF8, .id = 1},
	            step, sizeof step - 1);
	spool_event(events, (struct spool_event){.time = START, .type = SPOOL_FUNCTION, .text = SPOOL_UTF8, .id = 2},
	            load, sizeof load - 1);
}

static const char stacks[] =
	"SELECT c.start, stackDepth, s.value, m.value, unresolved FROM COMPOSITE_EVENTS c JOIN SAMPLING_CALLCHAINS f "
	"ON f.id = c.id JOIN StringIds s ON s.id = symbol JOIN StringIds m ON m.id = module ORDER BY 1, 2";

static uint64_t place_of_hash(const char *path)
{
	/* The linker puts the code page where it likes; nm and readelf are not asked, the bytes are: 512 zeros. */
	static const char zeros[512];
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	for (uint64_t at = 0x1000;; at += 0x1000) {
		char page[512];
		assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
		assert_int_equal(fread(page, 1, sizeof page, f), sizeof page);
		if (!memcmp(page, zeros, sizeof page)) {
			fclose(f);
			return at;
		}
	}
}

static void test_frames(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	uint64_t inode;
	const char *path = library(s, &inode);
	uint64_t hash = place_of_hash(path);
	begin(&m, &events);
	module(&events, 1, path, inode);
	module(&events, 2, "/some/where/_gone.so", 5);
	module(&events, 3, path, inode + 1);
	module(&events, 4, "[vdso]", 0);
	/* In it; behind it; where it returns to is the function that it was called from. */
	native(&events, START + 1000, PID, NATIVE({hash + 255, 1, 0}, {7, 2, 1}));
	sample(&events, START + 1000, PID, false);
	native(&events, START + 2000, PID, NATIVE({hash + 256, 1, 0}));
	sample(&events, START + 2000, PID, true);
	native(&events, START + 3000, PID, NATIVE({hash + 256, 1, 1}));
	sample(&events, START + 3000, PID, false);
	/* Another file has its place by now; no file at all. */
	native(&events, START + 4000, PID, NATIVE({hash, 3, 0}, {hash, 4, 0}));
	sample(&events, START + 4000, PID, false);
	/* Of another thread, or another time; of a module that nobody named. */
	native(&events, START + 5000, PID + 1, NATIVE({hash, 1, 0}));
	sample(&events, START + 5000, PID, false);
	sample(&events, START + 5001, PID, false);
	native(&events, START + 6000, PID, NATIVE({hash, 9, 0}, {hash, 1, 0}));
	sample(&events, START + 6000, PID, false);
	spool_add_events(&m, SAMPLER, &events);
	spool_end(&m, START + 9000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.samples, 7);
	assert_int_equal(result.skipped, 0);
	assert_string_equal(query(s, db, stacks),
	                    "1000|0|abc::hash(int)|libabc.so.1|0\n1000|1|[Unknown]|_gone.so|1\n"
	                    "1000|2|load|a.py|0\n1000|3|step|a.py|0\n"
	                    "2000|0|[Unknown]|libabc.so.1|1\n2000|1|load|a.py|0\n2000|2|step|a.py|0\n"
	                    "2000|3|[Max depth]|[Max depth]|0\n"
	                    "3000|0|abc::hash(int)|libabc.so.1|0\n3000|1|load|a.py|0\n3000|2|step|a.py|0\n"
	                    "4000|0|[Unknown]|libabc.so.1|1\n4000|1|[Unknown]|[vdso]|1\n4000|2|load|a.py|0\n"
	                    "4000|3|step|a.py|0\n"
	                    "5000|0|load|a.py|0\n5000|1|step|a.py|0\n5001|0|load|a.py|0\n5001|1|step|a.py|0\n"
	                    "6000|0|abc::hash(int)|libabc.so.1|0\n6000|1|load|a.py|0\n6000|2|step|a.py|0");
	assert_string_equal(query(s, db, "SELECT count(*) FROM StringIds WHERE value LIKE '%/%'"), "0");
}

/* What makes no sense. */
static void test_nonsense(void **state)
{
	struct support *s = *state;
	struct spool_maker m;
	struct spool_events events = {{0}};
	struct spool_native_frame many[200];
	begin(&m, &events);
	module(&events, 0, "/lib/a.so", 1);
	module(&events, UINT64_C(1) << 32, "/lib/a.so", 1);
	module(&events, 1, "", 1);
	spool_event(&events, (struct spool_event){.time = START, .type = SPOOL_MODULE, .id = 7}, "a\0b", 3);
	module(&events, 2, "/", 1);
	module(&events, 3, "relative.so", 1);
	module(&events, 3, "/again.so", 1);
	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = (struct spool_native_frame){UINT64_MAX - i, 2 + i % 2, i % 3};
	native(&events, START + 1000, PID, many, sizeof many / sizeof *many);
	sample(&events, START + 1000, PID, false);
	spool_event(&events, (struct spool_event){.time = START + 2000, .type = SPOOL_NATIVE, .id = PID}, "short", 5);
	sample(&events, START + 2000, PID, false);
	spool_add_events(&m, SAMPLER, &events);
	const struct spool_native_sampled good = {5, 6, 1, 2, 3, 4, 7}, bad = {UINT64_MAX, 1, 1, 1, 1, 1, 1};
	spool_add(&m, SPOOL_NATIVE_SAMPLED, 0, &good, sizeof good);
	spool_add(&m, SPOOL_NATIVE_SAMPLED, 0, &bad, sizeof bad);
	spool_add(&m, SPOOL_NATIVE_SAMPLED, 0, "short", 5);
	spool_end(&m, START + 9000);
	write_spool(s, &m, "700-cuda-0.spool");
	const char *db;
	struct convert_result result = convert(s, &db);
	assert_int_equal(result.skipped, 4);
	assert_int_equal(result.samples, 2);
	assert_int_equal(result.native_asked, 11);
	assert_int_equal(result.native_missed, 9);
	assert_int_equal(result.native_interrupted, 7);
	assert_string_equal(query(s, db, "SELECT count(*), sum(unresolved) FROM SAMPLING_CALLCHAINS"), "68|64");
	assert_string_equal(query(s, db, "SELECT text FROM DIAGNOSTIC_EVENT WHERE text LIKE '%looked for%'"),
	                    "what Python's functions had called was looked for 11 times and not found out 9 times");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
