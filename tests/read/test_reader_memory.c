/* The peak of device memory, from rows of allocations and frees; every peak here was added up by hand. In events.sql
 * process 100's device works from 1150 on, process 200's from 1160 on; both call it 0. */
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define FIRST "281476654432256"
#define SECOND "281478332153856"
/* nsys's own work when each of them initialised CUDA. */
#define START(process, time, name) "(" #time "," #time "+3," process "+1," #name ",0)"
#define STARTS                                                                                                         \
	"INSERT INTO StringIds VALUES (90, 'CUDA profiling initialization'), (91, 'CUDA profiling');"                  \
	"INSERT INTO PROFILER_OVERHEAD VALUES " START(FIRST, 1, 90) "," START(SECOND, 2, 90) ";"
#define TABLE STARTS ROWS
#define ROWS                                                                                                           \
	"DROP TABLE IF EXISTS CUDA_GPU_MEMORY_USAGE_EVENTS;"                                                           \
	"CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,"               \
	" contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER,"                             \
	" memoryOperationType INTEGER, name TEXT, correlationId INTEGER);"                                             \
	"INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS(globalPid, deviceId, start, address, bytes, memKind,"                \
	" memoryOperationType) VALUES "
#define ALLOC(process, time, address, bytes, kind) "(" process ",0," #time "," #address "," #bytes "," #kind ",0)"
#define FREED(process, time, address, bytes) "(" process ",0," #time "," #address "," #bytes ",2,1)"

static void expect(struct support *s, const char *sql, const enum memory_known known[2], const int64_t peak[2])
{
	const char *path = support_profile(s, "layout_2025.sql", sql);
	assert_int_equal(support_read(s, path), 0);
	assert_int_equal(s->trace.n_devices, 2);
	for (int i = 0; i < 2; i++) {
		const struct trace_device *d = &s->trace.devices[i];
		if (d->memory != known[i] || d->memory_peak != peak[i])
			fail_msg("device %d: %d, %lld bytes: %s", i, (int)d->memory, (long long)d->memory_peak, sql);
	}
	unlink(path);
}

#define EXPECT(s, sql, known0, peak0, known1, peak1)                                                                   \
	expect(s, sql, (const enum memory_known[]){known0, known1}, (const int64_t[]){peak0, peak1})

static void peaks_are_what_is_allocated_at_once(void **state)
{
	struct support *s = *state;
	/* 100, 100 + 30, 30, 30 + 70: the peak is 130. The other process uses the same addresses for itself: 40, 45. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 200, 8192, 30, 2) "," FREED(
		       FIRST, 300, 4096, 100) "," ALLOC(FIRST, 400, 4096, 70, 2) "," ALLOC(SECOND, 100, 4096, 40,
	                                                                                   2) "," ALLOC(SECOND, 2000,
	                                                                                                8192, 5, 2),
	       MEMORY_SEEN, 130, MEMORY_SEEN, 45);
	/* The same rows in another order: it is their time that counts. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 400, 4096, 70, 2) "," FREED(FIRST, 300, 4096, 100) "," ALLOC(
		       FIRST, 200, 8192, 30, 2) "," ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(SECOND, 2000, 8192, 5,
	                                                                                      2) "," ALLOC(SECOND, 100,
	                                                                                                   4096, 40, 2),
	       MEMORY_SEEN, 130, MEMORY_SEEN, 45);
	EXPECT(s, TABLE FREED(FIRST, 300, 4096, 100) "," ALLOC(FIRST, 100, 4096, 100, 2), MEMORY_SEEN, 100,
	       MEMORY_NOT_SEEN, 0);
	/* Of one time, the row that comes first: freed before it is allocated again, so never 200. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 300, 4096, 100) "," ALLOC(FIRST, 300, 8192, 100,
	                                                                                        2),
	       MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	/* A free that says another size frees what was allocated: 100, 0, 60. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 300, 4096, 0) "," ALLOC(FIRST, 400, 8192, 60, 2),
	       MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	/* Allocated again where nothing was freed: the new one takes the old one's place. 100, then 120, not 220. */
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 200, 4096, 120, 2), MEMORY_SEEN, 120,
	       MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 200, 4096, 10, 2), MEMORY_SEEN, 100,
	       MEMORY_NOT_SEEN, 0);
}

/* Each level begins with a change and lasts until the next one, of each device apart; where the peak is not known,
 * there are none. */
static void levels_are_of_every_time(void **state)
{
	struct support *s = *state;
	const char *path = support_profile(
		s, "layout_2025.sql",
		TABLE ALLOC(SECOND, 50, 4096, 40, 2) "," ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(
			FIRST, 300, 4096, 100) "," ALLOC(FIRST, 200, 8192, 30, 2) "," ALLOC(FIRST, 300, 12288, 70, 2));
	assert_int_equal(support_read(s, path), 0);
	unlink(path);
	const struct trace_levels *l = &s->trace.levels;
	const int64_t last = s->trace.last_time;
	const int64_t expected[][4] = {
		{0, 100, 200, 100}, {0, 200, 300, 130}, {0, 300, 300, 30}, {0, 300, last, 100}, {1, 50, last, 40}};
	assert_int_equal(l->n, 5);
	for (size_t i = 0; i < l->n; i++) {
		assert_int_equal(l->device[i], expected[i][0]);
		assert_int_equal(l->start[i], expected[i][1]);
		assert_int_equal(l->end[i], expected[i][2]);
		assert_int_equal(l->bytes[i], expected[i][3]);
	}
	path = support_profile(s, "layout_2025.sql",
	                       TABLE ALLOC(SECOND, 50, 4096, 40, 2) "," FREED(SECOND, 60, 8192,
	                                                                      30) "," ALLOC(FIRST, 100, 4096, 100, 2));
	assert_int_equal(support_read(s, path), 0);
	unlink(path);
	assert_int_equal(s->trace.levels.n, 1);
	assert_int_equal(s->trace.levels.device[0], 0);
}

static void only_device_memory_counts(void **state)
{
	struct support *s = *state;
	/* pageable 0 and pinned 1 are the host's; device 2, array 3 and static 5 are counted: 7 + 20 + 300. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 10, 1, 7, 2) "," ALLOC(FIRST, 20, 2, 1000, 0) "," ALLOC(
		       FIRST, 30, 3, 1000, 1) "," ALLOC(FIRST, 40, 4, 20, 3) "," ALLOC(FIRST, 50, 5, 300, 5),
	       MEMORY_SEEN, 327, MEMORY_NOT_SEEN, 0);
	/* Managed memory (4, 6) and kinds that nobody knows may be anywhere: the process's peak is not known. */
	static const char *const managed[] = {"4", "6", "7", "99"};
	for (size_t i = 0; i < sizeof managed / sizeof *managed; i++)
		EXPECT(s,
		       arena_format(&s->arena,
		                    TABLE ALLOC(FIRST, 10, 1, 7, 2) "," ALLOC(SECOND, 10, 1, 9, 2) ",(" FIRST
		                                                                                   ",0,20,2,8,%s,0)",
		                    managed[i]),
		       MEMORY_NO_PLACE, 0, MEMORY_SEEN, 9);
	/* Another machine's process, and a device that ran nothing. */
	EXPECT(s, TABLE ALLOC("281474993487872", 10, 1, 7, 2) ",(" FIRST ",3,20,2,8,2,0)", MEMORY_NOT_SEEN, 0,
	       MEMORY_NOT_SEEN, 0);
}

static void processes_of_two_machines_with_one_number(void **state)
{
	struct support *s = *state;
	/* The second process is number 100 as well, elsewhere: whose allocation it is cannot be told. */
	static const char other[] = "562951631142912"; /* 2 << 48 | 100 << 24 */
	static const char *const tables[] = {"KERNEL", "MEMCPY", "MEMSET"};
	const char *sql = "";
	for (int i = 0; i < 3; i++)
		sql = arena_format(&s->arena,
		                   "%sUPDATE CUPTI_ACTIVITY_KIND_%s SET globalPid = %s WHERE globalPid = %s;", sql,
		                   tables[i], other, SECOND);
	EXPECT(s, arena_format(&s->arena, "%s%s", sql, TABLE ALLOC(FIRST, 100, 4096, 100, 2)), MEMORY_NOT_SEEN, 0,
	       MEMORY_NOT_SEEN, 0);
}

static void memory_from_before_is_noticed(void **state)
{
	struct support *s = *state;
	/* Freed without having been allocated. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 200, 8192, 30) "," ALLOC(SECOND, 100, 4096, 40,
	                                                                                       2),
	       MEMORY_EARLIER, 0, MEMORY_SEEN, 40);
	/* Freed twice. */
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 1, 2) "," FREED(FIRST, 200, 4096, 1) "," FREED(FIRST, 300, 4096, 1),
	       MEMORY_EARLIER, 0, MEMORY_NOT_SEEN, 0);
	/* The GPU worked (from 1150 on) before anything was allocated; at 1150 it could not be told. */
	EXPECT(s, TABLE ALLOC(FIRST, 1151, 4096, 100, 2), MEMORY_EARLIER, 0, MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 1150, 4096, 100, 2), MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
}

static void a_peak_needs_a_beginning(void **state)
{
	struct support *s = *state;
	/* One of the two processes was recorded from its start, the other may have had memory before. */
	EXPECT(s,
	       STARTS "DELETE FROM PROFILER_OVERHEAD WHERE start = 2;" ROWS ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(
		       SECOND, 100, 4096, 40, 2),
	       MEMORY_SEEN, 100, MEMORY_NO_START, 0);
	/* Neither was; and the table is not there. */
	EXPECT(s, ROWS ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(SECOND, 100, 4096, 40, 2), MEMORY_NO_START, 0,
	       MEMORY_NO_START, 0);
	EXPECT(s, STARTS "DROP TABLE PROFILER_OVERHEAD;" ROWS ALLOC(FIRST, 100, 4096, 100, 2), MEMORY_NO_START, 0,
	       MEMORY_NOT_SEEN, 0);
	/* At once, and once more later: a process that was forked, say. */
	EXPECT(s,
	       STARTS
	       "INSERT INTO PROFILER_OVERHEAD VALUES " START(FIRST, 900, 90) ";" ROWS ALLOC(FIRST, 1, 4096, 100, 2),
	       MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	/* Something else, or after the first allocation; what is known to be wrong says more. */
	EXPECT(s,
	       STARTS "UPDATE PROFILER_OVERHEAD SET nameId = 91 WHERE start = 1;" ROWS ALLOC(FIRST, 100, 4096, 100, 2),
	       MEMORY_NO_START, 0, MEMORY_NOT_SEEN, 0);
	EXPECT(s, STARTS ROWS ALLOC(FIRST, 0, 4096, 100, 2), MEMORY_NO_START, 0, MEMORY_NOT_SEEN, 0);
	EXPECT(s, ROWS ALLOC(FIRST, 1151, 4096, 100, 2), MEMORY_EARLIER, 0, MEMORY_NOT_SEEN, 0);
}

#define SET ";UPDATE CUDA_GPU_MEMORY_USAGE_EVENTS SET "

static void memory_without_an_address_is_nobodys(void **state)
{
	struct support *s = *state;
	/* A graph's, in two pieces: 7 + 50 + 50, though their addresses are one. */
	EXPECT(s, TABLE ALLOC(FIRST, 10, 1, 7, 2) "," ALLOC(FIRST, 100, 0, 50, 2) "," ALLOC(FIRST, 101, 0, 50, 2),
	       MEMORY_SEEN, 107, MEMORY_NOT_SEEN, 0);
	/* Freed again, as much as it was: 110, 60, then 60 + 40. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 0, 50, 2) "," ALLOC(FIRST, 101, 0, 60, 2) "," FREED(FIRST, 200, 0, 50) "," ALLOC(
		       FIRST, 300, 4096, 40, 2),
	       MEMORY_SEEN, 110, MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 100, 0, 50, 2) "," FREED(FIRST, 200, 0, 50) "," ALLOC(FIRST, 300, 0, 60, 2),
	       MEMORY_SEEN, 60, MEMORY_NOT_SEEN, 0);
	/* More than there is. */
	EXPECT(s, TABLE ALLOC(FIRST, 100, 0, 50, 2) "," FREED(FIRST, 200, 0, 51), MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
}

static void memory_goes_with_its_context(void **state)
{
	struct support *s = *state;
	/* One call, of which two contexts tell: 100 once, then 5 more; freed once. */
#define TWICE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 4096, 100, 2) "," ALLOC(FIRST, 102, 8192, 5, 2)
	EXPECT(s,
	       TABLE TWICE "," FREED(FIRST, 200, 4096, 100) "," ALLOC(FIRST, 300, 12288, 90, 2) SET
	       "correlationId = 7 WHERE start < 102" SET "contextId = 1" SET "contextId = 2 WHERE start = 101",
	       MEMORY_SEEN, 105, MEMORY_NOT_SEEN, 0);
	/* Of its free, too; but not of two, of which the second finds nothing. */
#define FREED_TWICE FREED(FIRST, 200, 4096, 100) "," FREED(FIRST, 201, 4096, 100)
	EXPECT(s,
	       TABLE TWICE "," FREED_TWICE SET "correlationId = 7 WHERE start < 102" SET
	                   "correlationId = 8 WHERE start >= 200" SET "contextId = 1 + (start IN (101, 201))",
	       MEMORY_SEEN, 105, MEMORY_NOT_SEEN, 0);
	EXPECT(s,
	       TABLE TWICE "," FREED_TWICE SET "correlationId = 7 WHERE start < 102" SET
	                   "correlationId = start WHERE start >= 200" SET "contextId = 1 + (start IN (101, 201))",
	       MEMORY_EARLIER, 0, MEMORY_NOT_SEEN, 0);
	/* Two calls: the first context's memory was never freed, and the second goes on. */
	EXPECT(s, TABLE TWICE SET "correlationId = start, contextId = 1" SET "contextId = 2 WHERE start = 101",
	       MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	/* Nor are these one call: nothing says so, or it allocated something else. */
#define BOTH(bytes) ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 4096, bytes, 2)
	EXPECT(s, TABLE BOTH(100) SET "contextId = start - 99", MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE BOTH(110) SET "contextId = start - 99, correlationId = 7", MEMORY_NO_END, 0, MEMORY_NOT_SEEN,
	       0);
	EXPECT(s, TABLE BOTH(100) "," FREED(FIRST, 102, 4096, 100) SET "contextId = start - 99, correlationId = start",
	       MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	/* The same at addresses of their own, and where a reset freed nothing; one device's say nothing of another
	 * process's. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 8192, 10, 2) "," ALLOC(SECOND, 9, 1, 3, 2)
	               SET "contextId = 1" SET "contextId = 2 WHERE start = 101",
	       MEMORY_NO_END, 0, MEMORY_SEEN, 3);
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 8192, 100, 2) "," ALLOC(FIRST, 101, 4096, 10, 2) "," FREED(FIRST, 102, 4096, 10)
	               SET "contextId = 1" SET "contextId = 2 WHERE start = 101",
	       MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	/* Freed before: 100, then 10. The later context may keep what it has. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 101, 4096, 100) "," ALLOC(FIRST, 102, 8192, 10, 2)
	               SET "contextId = 1" SET "contextId = 2 WHERE start = 102",
	       MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	/* Contexts that are none: of static memory (0) and of what is mapped. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 8192, 10, 5) "," ALLOC(FIRST, 102, 12288, 1,
	                                                                                          2) SET
	       "contextId = 1" SET "contextId = 0 WHERE start = 101" SET "contextId = 4294967295 WHERE start = 102",
	       MEMORY_SEEN, 111, MEMORY_NOT_SEEN, 0);
}

static void memory_that_is_unmapped(void **state)
{
	struct support *s = *state;
#define UNMAPS                                                                                                         \
	";INSERT INTO StringIds VALUES (92, 'cuMemUnmap'); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end,"        \
	" eventClass, globalTid, correlationId, nameId, returnValue) VALUES (500, 501, 0, " FIRST "+1, 9000, 92, 0)"
#define MAPPED SET "contextId = 4294967295"
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 100, 2) MAPPED, MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(SECOND, 100, 4096, 9, 2) MAPPED UNMAPS, MEMORY_NO_END,
	       0, MEMORY_SEEN, 9);
	/* Its free is there, or it is not mapped memory that was allocated. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 502, 4096, 100) "," ALLOC(FIRST, 600, 1, 5, 2)
	               MAPPED UNMAPS,
	       MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," FREED(FIRST, 502, 4096, 100) "," ALLOC(SECOND, 600, 1, 5, 2)
	               MAPPED UNMAPS,
	       MEMORY_SEEN, 100, MEMORY_SEEN, 5);
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(SECOND, 600, 1, 5, 2) MAPPED " WHERE start = 600" UNMAPS,
	       MEMORY_SEEN, 100, MEMORY_SEEN, 5);
	/* What is freed is other memory. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 1, 5, 2) "," FREED(FIRST, 502, 1, 5) MAPPED
	       " WHERE start = 100" UNMAPS,
	       MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 100, 4096, 100, 2) UNMAPS, MEMORY_SEEN, 100, MEMORY_NOT_SEEN, 0);
}

static void rows_that_make_no_sense_leave_no_peak(void **state)
{
	struct support *s = *state;
	static const char *const hostile[] = {
		"(" FIRST ",0,100,1,-1,2,0)",    "(" FIRST ",0,100,1,9223372036854775807,2,0)",
		"(" FIRST ",0,100,1,1,2,2)",     "(" FIRST ",0,100,1,1,2,-1)",
		"(" FIRST ",0,100,1,1,-5,0)",    "(" FIRST ",0,'soon',1,1,2,0)",
		"(" FIRST ",0,100,1,NULL,2,0)",  "(NULL,0,100,1,1,2,0)",
		"(" FIRST ",x'00',100,1,1,2,0)",
	};
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
		EXPECT(s, arena_format(&s->arena, "%s%s,%s", TABLE, ALLOC(FIRST, 50, 2, 5, 2), hostile[i]),
		       MEMORY_DAMAGED, 0, MEMORY_DAMAGED, 0);
	/* A sum beyond all memory, of 20000 rows of 2^50 bytes, all of which are freed again. */
	EXPECT(s,
	       TABLE ALLOC(SECOND, 50, 2, 5, 2) ";WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT "
	                                        "20000) INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS(globalPid, deviceId,"
	                                        " start, address, bytes, memKind, memoryOperationType) SELECT " FIRST
	                                        ", 0, 100 * (1 + k), n, 1 << 50, 2, k FROM x,"
	                                        " (SELECT 0 AS k UNION SELECT 1)",
	       MEMORY_DAMAGED, 0, MEMORY_SEEN, 5);
	/* The same with another reason there already, which says less. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 50, 0, 5, 2) "," FREED(
		       FIRST, 51, 0, 6) ";WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL "
	                                "SELECT n + 1 FROM x LIMIT 20000) INSERT INTO "
	                                "CUDA_GPU_MEMORY_USAGE_EVENTS(globalPid, deviceId, start, address, bytes,"
	                                " memKind, memoryOperationType) SELECT " FIRST
	                                ", 0, 100, n, 1 << 50, 2, 0 FROM x",
	       MEMORY_DAMAGED, 0, MEMORY_NOT_SEEN, 0);
	/* A column less, and a table without rows. */
	EXPECT(s, TABLE ALLOC(FIRST, 50, 2, 5, 2) ";ALTER TABLE CUDA_GPU_MEMORY_USAGE_EVENTS RENAME bytes TO others",
	       MEMORY_DAMAGED, 0, MEMORY_DAMAGED, 0);
	EXPECT(s, TABLE ALLOC(FIRST, 50, 2, 5, 2) ";DELETE FROM CUDA_GPU_MEMORY_USAGE_EVENTS", MEMORY_NOT_SEEN, 0,
	       MEMORY_NOT_SEEN, 0);
}

/* Where several things are wrong, one is said: the one that leaves least, in whatever order they are met. */
static void the_strongest_reason_is_said(void **state)
{
	struct support *s = *state;
#define DAMAGED_ROW "(" FIRST ",0,100,1,-1,2,0)"
#define MANAGED ALLOC(FIRST, 20, 64, 8, 4)
#define FREED_ONLY FREED(FIRST, 200, 8192, 30)
#define TOO_MUCH ALLOC(FIRST, 100, 0, 50, 2) "," FREED(FIRST, 200, 0, 51)
	static const struct {
		const char *rows;
		enum memory_known said;
	} cases[] = {
		{DAMAGED_ROW "," MANAGED, MEMORY_DAMAGED},
		{MANAGED "," DAMAGED_ROW, MEMORY_DAMAGED},
		{FREED_ONLY "," DAMAGED_ROW, MEMORY_DAMAGED},
		{TOO_MUCH "," DAMAGED_ROW, MEMORY_DAMAGED},
		{MANAGED "," FREED_ONLY, MEMORY_NO_PLACE},
		{TOO_MUCH "," MANAGED, MEMORY_NO_PLACE},
		{TOO_MUCH "," FREED_ONLY, MEMORY_EARLIER}, /* found in the order of addresses: 0, 8192 … */
		{ALLOC(FIRST, 1151, 0, 50, 2) "," FREED(FIRST, 1152, 0, 51), MEMORY_EARLIER}, /* … and later */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *sql = arena_format(&s->arena, "%s%s,%s", TABLE, ALLOC(SECOND, 50, 2, 5, 2), cases[i].rows);
		const bool every = cases[i].said == MEMORY_DAMAGED; /* of which device it is the row may not say */
		EXPECT(s, sql, cases[i].said, 0, every ? MEMORY_DAMAGED : MEMORY_SEEN, every ? 0 : 5);
	}
	/* Nor does it count that recording may have begun late. */
	EXPECT(s, ROWS TOO_MUCH, MEMORY_NO_END, 0, MEMORY_NOT_SEEN, 0);
	/* Given back with its context, after a free of what was there before. */
	EXPECT(s,
	       TABLE ALLOC(FIRST, 100, 4096, 100, 2) "," ALLOC(FIRST, 101, 12288, 10,
	                                                       2) "," FREED_ONLY SET "contextId = 1" SET
	                                                          "contextId = 2 WHERE start = 101",
	       MEMORY_EARLIER, 0, MEMORY_NOT_SEEN, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(peaks_are_what_is_allocated_at_once, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(only_device_memory_counts, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(levels_are_of_every_time, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(memory_from_before_is_noticed, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(processes_of_two_machines_with_one_number, support_setup,
	                                        support_teardown),
		cmocka_unit_test_setup_teardown(a_peak_needs_a_beginning, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(memory_without_an_address_is_nobodys, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(memory_goes_with_its_context, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_unmapped, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(the_strongest_reason_is_said, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(rows_that_make_no_sense_leave_no_peak, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
