/* Real captures, read and compared with what nsys's own tables (nsys stats, as CSV beside them) and plain SQL queries
 * say of the same files. Skipped where the captures are not at hand. */
#include "support_sqlite.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

/* The folder of captures; skips the test where there is none. */
static const char *captures(struct support *s)
{
	const char *folder = getenv("GAPLINE_CAPTURES");
	if (!folder)
		folder = TESTS_DIR "/../../shared/captures";
	if (access(folder, R_OK) != 0) {
		print_message("skipped: no captures in %s (set GAPLINE_CAPTURES)\n", folder);
		skip();
	}
	return arena_copy(&s->arena, folder, strlen(folder));
}

/* ---- nsys's tables ---- */

/* Total time and count of each name. */
struct sums {
	int64_t *total, *count; /* by name id */
	uint32_t room;
};

static void add(struct support *s, struct sums *sums, uint32_t name, int64_t duration)
{
	if (name >= sums->room) {
		uint32_t room = name * 2 + 64;
		sums->total = arena_grow(&s->arena, sums->total, sums->room, room, sizeof *sums->total);
		sums->count = arena_grow(&s->arena, sums->count, sums->room, room, sizeof *sums->count);
		sums->room = room;
	}
	sums->total[name] += duration;
	sums->count[name]++;
}

/* The fields of a CSV line, quotes undone in place. */
static int csv_fields(char *line, char *fields[], int most)
{
	int n = 0;
	for (char *at = line; n < most;) {
		char *out = at;
		fields[n++] = out;
		bool quoted = *at == '"';
		at += quoted;
		for (; *at && (quoted || (*at != ',' && *at != '\n' && *at != '\r')); at++) {
			if (quoted && *at == '"' && at[1] == '"')
				at++;
			else if (quoted && *at == '"')
				break;
			*out++ = *at;
		}
		at += quoted && *at == '"';
		char stop = *at;
		*out = 0;
		if (stop != ',')
			break;
		at++;
	}
	return n;
}

/* nsys cuts versions of four digits only: cudaLaunchKernelExC_v11060 keeps its own. */
static void cut_version(char *name)
{
	size_t n = strlen(name);
	if (n > 7 && strncmp(name + n - 7, "_v", 2) == 0)
		name[n - 7] = 0;
}

/* Every row of the CSV file is in `sums`, and nothing else is. */
static void compare(struct support *s, const char *path, const struct sums *sums, bool versions)
{
	FILE *f = fopen(path, "r");
	if (!f)
		fail_msg("%s is missing", path);
	static char line[65536];
	int rows = 0, names = 0;
	while (fgets(line, sizeof line, f)) {
		char *field[16];
		int n = csv_fields(line, field, 16);
		if (rows++ == 0 || n < 9)
			continue;
		if (versions)
			cut_version(field[n - 1]);
		uint32_t name = names_add_text(&s->names, field[n - 1]);
		if (name >= sums->room || !sums->count[name])
			fail_msg("%s: %s was not read", path, field[n - 1]);
		if (sums->total[name] != atoll(field[1]) || sums->count[name] != atoll(field[2]))
			fail_msg("%s: %s: %lld ns, %lld times, but nsys says %s, %s", path, field[n - 1],
			         (long long)sums->total[name], (long long)sums->count[name], field[1], field[2]);
		names++;
	}
	fclose(f);
	for (uint32_t i = 0; i < sums->room; i++)
		names -= sums->count[i] > 0;
	assert_int_equal(names, 0);
}

static void compare_with_nsys(struct support *s, const char *folder, const char *side)
{
	const char *path = arena_format(&s->arena, "%s/%s.sqlite.gz", folder, side);
	if (support_read(s, path) != 0)
		fail_msg("%s", s->err.text);
	const struct trace *t = &s->trace;
	struct sums calls = {0}, os = {0}, ranges = {0}, kernels = {0}, memory = {0};
	for (size_t i = 0; i < t->calls.n; i++)
		add(s, &calls, t->calls.name[i], t->calls.end[i] - t->calls.start[i]);
	for (size_t i = 0; i < t->os_calls.n; i++)
		add(s, &os, t->os_calls.name[i], t->os_calls.end[i] - t->os_calls.start[i]);
	for (size_t i = 0; i < t->ranges.n; i++) {
		const char *name = arena_format(&s->arena, "%s:%s", support_name(s, t->ranges.domain[i]),
		                                support_name(s, t->ranges.name[i]));
		add(s, &ranges, names_add_text(&s->names, name), t->ranges.end[i] - t->ranges.start[i]);
	}
	for (size_t i = 0; i < t->ops.n; i++) {
		bool kernel = t->ops.kind[i] == OP_KERNEL || t->ops.kind[i] == OP_COMM;
		if (kernel || t->ops.kind[i] != OP_GRAPH)
			add(s, kernel ? &kernels : &memory, t->ops.name[i], t->ops.end[i] - t->ops.start[i]);
	}
	const struct {
		const char *table;
		const struct sums *sums;
	} tables[] = {{"cuda_api_sum", &calls},
	              {"osrt_sum", &os},
	              {"nvtx_sum", &ranges},
	              {"cuda_gpu_kern_sum", &kernels},
	              {"cuda_gpu_mem_time_sum", &memory}};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		compare(s, arena_format(&s->arena, "%s/nsys-stats/%s.%s.csv", folder, side, tables[i].table),
		        tables[i].sums, i == 0);
	assert_int_equal(t->n_dropped, 0);
	assert_int_equal(t->n_unlaunched, 0);
}

static void pairs_as_nsys_counts_them(void **state)
{
	struct support *s = *state;
	const char *folder = captures(s);
	static const char *const pairs[] = {"torch-dataloader", "tiny-kernels-graph", "pinned-prefetch",
	                                    "gpt2-mixed-precision", "ddp-2gpu"};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const char *pair = arena_format(&s->arena, "%s/%s", folder, pairs[i]);
		compare_with_nsys(s, pair, "baseline");
		compare_with_nsys(s, pair, "fixed");
	}
	compare_with_nsys(s, arena_format(&s->arena, "%s/ddp-2gpu", folder), "baseline");
	assert_int_equal(s->trace.n_devices, 2);
	assert_int_equal(s->trace.devices[0].n_ops, s->trace.devices[1].n_ops);
	assert_int_not_equal(s->trace.devices[0].gpu, s->trace.devices[1].gpu);
	compare_with_nsys(s, arena_format(&s->arena, "%s/tiny-kernels-graph", folder), "fixed");
	assert_int_equal(s->trace.source.graphs, GRAPHS_WHOLE);
}

/* ---- plain SQL ---- */

static int64_t query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t value = 0; /* also for a table that is not there */
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

/* Sum over a column of (end - start). */
static int64_t length(size_t n, const int64_t *start, const int64_t *end)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += end[i] - start[i];
	return sum;
}

#define SPAN "coalesce(sum(end - start), 0)"

static void compare_with_sql(const struct support *s, sqlite3 *db)
{
	const struct trace *t = &s->trace;
	static const char *const kinds[] = {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"};
	int64_t ops = 0, time = 0, launched = 0, bytes = 0;
	sqlite3_exec(db, "CREATE INDEX by_id ON CUPTI_ACTIVITY_KIND_RUNTIME(correlationId) WHERE eventClass <> 67;",
	             NULL, NULL, NULL);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char sql[512];
		snprintf(sql, sizeof sql, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_%s", kinds[i]);
		ops += query(db, sql);
		snprintf(sql, sizeof sql, "SELECT " SPAN " FROM CUPTI_ACTIVITY_KIND_%s", kinds[i]);
		time += query(db, sql);
		snprintf(sql, sizeof sql,
		         "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_%s o WHERE EXISTS (SELECT 1 FROM"
		         " CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = o.correlationId AND o.correlationId > "
		         "0 AND"
		         " r.eventClass <> 67 AND (r.globalTid >> 24) = (o.globalPid >> 24))",
		         kinds[i]);
		launched += query(db, sql);
		snprintf(sql, sizeof sql, "SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_%s", kinds[i]);
		bytes += i == 1 || i == 2 ? query(db, sql) : 0;
	}
	assert_int_equal(t->ops.n, ops);
	assert_int_equal(length(t->ops.n, t->ops.start, t->ops.end), time);
	int64_t joined = 0, copied = 0;
	for (size_t i = 0; i < t->ops.n; i++) {
		joined += t->ops.launch[i] != TRACE_NONE;
		copied += t->ops.kind[i] == OP_COPY || t->ops.kind[i] == OP_MEMSET ? t->ops.bytes[i] : 0;
	}
	assert_int_equal(joined, launched);
	assert_int_equal(copied, bytes);
	assert_int_equal(t->n_unlaunched,
	                 ops - launched -
	                         query(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind >= 11"));
	assert_int_equal(t->calls.n,
	                 query(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass <> 67"));
	assert_int_equal(length(t->calls.n, t->calls.start, t->calls.end),
	                 query(db, "SELECT " SPAN " FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass <> 67"));
	assert_int_equal(t->os_calls.n, query(db, "SELECT count(*) FROM OSRT_API WHERE eventClass = 27"));
	assert_int_equal(t->ranges.n, query(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60)"));
	assert_int_equal(length(t->ranges.n, t->ranges.start, t->ranges.end),
	                 query(db, "SELECT " SPAN " FROM NVTX_EVENTS WHERE eventType IN (59, 60)"));
	assert_int_equal(t->n_devices,
	                 query(db,
	                       "SELECT count(*) FROM (SELECT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL UNION"
	                       " SELECT globalPid, deviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY)"));
}

static void public_files_are_read_or_refused(void **state)
{
	struct support *s = *state;
	const char *folder = captures(s);
	DIR *dir = opendir(arena_format(&s->arena, "%s/public", folder));
	assert_non_null(dir);
	int read = 0, refused = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		if (!strstr(e->d_name, ".sqlite.gz"))
			continue;
		const char *path = arena_format(&s->arena, "%s/public/%s", folder, e->d_name);
		const char *plain = support_path(s, "plain.sqlite");
		support_unpack(s, path, plain);

		int result = support_read(s, path);
		size_t ops = s->trace.ops.n, calls = s->trace.calls.n, ranges = s->trace.ranges.n;
		assert_int_equal(support_read(s, plain), result); /* packed or not is the same */
		assert_int_equal(s->trace.ops.n, ops);
		assert_int_equal(s->trace.calls.n, calls);
		assert_int_equal(s->trace.ranges.n, ranges);
		sqlite3 *db;
		assert_int_equal(sqlite3_open(plain, &db), SQLITE_OK);
		if (result == 0) {
			compare_with_sql(s, db);
			assert_int_equal(s->trace.n_dropped, 0);
			read++;
		} else {
			print_message("%s\n", s->err.text);
			assert_int_equal(query(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), 0);
			assert_int_equal(query(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), 0);
			refused++;
		}
		sqlite3_close(db);
		unlink(plain);
	}
	closedir(dir);
	assert_int_equal(read, 13);
	assert_int_equal(refused, 2); /* poolformer has NVTX only, JACC.jl nothing */
}

static void processes_that_share_correlation_ids(void **state)
{
	struct support *s = *state;
	const char *folder = captures(s);
	assert_int_equal(support_read(s, arena_format(&s->arena, "%s/public/Ther-LF-QuantPSelInvPlus-report7.sqlite.gz",
	                                              folder)),
	                 0);
	const struct trace *t = &s->trace;
	assert_int_equal(t->n_devices, 2);
	assert_int_equal(t->devices[0].ordinal, t->devices[1].ordinal);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t call = t->ops.launch[i];
		assert_int_not_equal(call, TRACE_NONE);
		assert_int_equal(t->threads[t->calls.thread[call]].process, t->devices[t->ops.device[i]].process);
		assert_true(t->calls.start[call] <= t->ops.start[i]); /* no op runs before it is launched */
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
	const struct CMUnitTest tests[] = {
		TEST(pairs_as_nsys_counts_them),
		TEST(public_files_are_read_or_refused),
		TEST(processes_that_share_correlation_ids),
	};
	return cmocka_run_group_tests_name("reader captures", tests, NULL, NULL);
}
