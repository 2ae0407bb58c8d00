/* What the reader finds out about when, where and as what a program ran: start time, scheduler, rank, host, job. */
#include "support_sqlite.h"

#include <setjmp.h>

#include <cmocka.h>

#define MAIN_THREAD "281476654432357"  /* thread 101 of process 100, as in events.sql */
#define OTHER_THREAD "281478332154057" /* thread 201 of process 200 */

static const struct trace *read_with(struct support *s, const char *sql)
{
	const char *path = support_profile(s, "layout_2025.sql", sql);
	if (support_read(s, path) != 0)
		fail_msg("%s", s->err.text);
	unlink(path);
	return &s->trace;
}

static void nothing_is_known_without_the_tables(void **state)
{
	const struct trace *t = read_with(*state, "DROP TABLE IF EXISTS TARGET_INFO_SESSION_START_TIME;"
	                                          "DROP TABLE IF EXISTS TARGET_INFO_SYSTEM_ENV");
	assert_true(t->source.started == TRACE_NO_TIME);
	assert_true(t->source.host == 0 && t->source.job == 0);
	assert_int_equal(t->source.rank, -1);
	assert_int_equal(t->source.ranks, -1);
	assert_int_equal(t->processes[0].rank, -1);
	assert_int_equal(t->slices.n, 0);
	/* of events.sql: the first range begins at 900, the last one ends with the OS call at 2900 */
	assert_int_equal(t->first_time, 900);
	assert_int_equal(t->last_time, 2900);
}

static void the_start_is_a_time_of_day(void **state)
{
	const struct trace *t =
		read_with(*state, "DROP TABLE IF EXISTS TARGET_INFO_SESSION_START_TIME;"
	                          "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT);"
	                          "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1795178298410053712, '')");
	assert_true(t->source.started == 1795178298410053712);
}

static void scheduler_rows_become_slices(void **state)
{
	const struct trace *t = read_with(
		*state,
		"CREATE TABLE IF NOT EXISTS SCHED_EVENTS(start INTEGER NOT NULL, cpu INTEGER NOT NULL,"
		" isSchedIn INTEGER NOT NULL, globalTid INTEGER);"
		"INSERT INTO SCHED_EVENTS(start, cpu, isSchedIn, globalTid) VALUES"
		"(1000, 3, 1, " MAIN_THREAD "), (1300, 3, 0, " MAIN_THREAD "), (1700, 5, 1, " MAIN_THREAD "),"
		"(1200, 4, 1, " OTHER_THREAD "), (1250, 4, 0, " OTHER_THREAD "), (1800, 5, 0, " MAIN_THREAD "),"
		"(1100, 9, 1, 999), ('soon', 9, 1, 999), (0, 3, 1, " MAIN_THREAD "), ('soon', 3, 1, " MAIN_THREAD ")");
	static const int64_t want[][2] = {{1000, 1300}, {1700, 1800}, {1200, 1250}};
	assert_int_equal(t->slices.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(t->slices.start[i], want[i][0]);
		assert_int_equal(t->slices.end[i], want[i][1]);
	}
	assert_int_equal(t->threads[t->slices.thread[0]].tid, 101);
	assert_int_equal(t->threads[t->slices.thread[2]].tid, 201);
	assert_int_equal(t->first_slice[t->n_threads], 3);
	assert_int_equal(t->rows[ROWS_SLICES].read, 10);
	assert_int_equal(t->rows[ROWS_SLICES].dropped, 2); /* of others it is no loss */
}

/* Calls of a thread that the profile does not name are those of thread 0; rows of the scheduler are of nobody. */
static void scheduler_rows_of_nobody_are_no_loss(void **state)
{
	const struct trace *t = read_with(
		*state, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = 0 WHERE rowid = 1;"
			"CREATE TABLE IF NOT EXISTS SCHED_EVENTS(start INTEGER NOT NULL, cpu INTEGER NOT NULL,"
			" isSchedIn INTEGER NOT NULL, globalTid INTEGER);"
			"INSERT INTO SCHED_EVENTS(start, cpu, isSchedIn, globalTid) VALUES"
			"(1000, 3, 1, NULL), (1300, 3, 0, NULL), ('soon', 9, 1, 'nobody'), ('soon', 9, 1, NULL)");
	bool none = false;
	for (uint32_t i = 0; i < t->n_threads; i++)
		none |= t->threads[i].tid == 0;
	assert_true(none);
	assert_int_equal(t->slices.n, 0);
	assert_int_equal(t->rows[ROWS_SLICES].dropped, 0);
}

static void rows_are_counted_by_kind(void **state)
{
	const struct trace *t = read_with(
		*state, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1;"
			"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 5 WHERE rowid = 3");
	static const struct {
		enum row_kind kind;
		int64_t read, dropped;
	} want[] = {{ROWS_KERNELS, 3, 1},  {ROWS_COPIES, 3, 0},    {ROWS_MEMSETS, 1, 0}, {ROWS_CALLS, 4, 0},
	            {ROWS_OS_CALLS, 1, 0}, {ROWS_OVERHEADS, 2, 0}, {ROWS_RANGES, 4, 0},  {ROWS_SLICES, 0, 0}};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		assert_int_equal(t->rows[want[i].kind].read, want[i].read);
		assert_int_equal(t->rows[want[i].kind].dropped, want[i].dropped);
	}
	assert_int_equal(t->dropped[0].kind, ROWS_KERNELS);
}

/* Process 200 gone, so that one process is left whose rank the environment can be. */
#define ONE_PROCESS                                                                                                    \
	"DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid = 281478332153856;"                                    \
	"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid = " OTHER_THREAD ";"
#define CAPTURE "CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE(name TEXT, value TEXT);INSERT INTO META_DATA_CAPTURE "

static void launchers_say_the_rank(void **state)
{
	const struct trace *t =
		read_with(*state, ONE_PROCESS CAPTURE "VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=3'),"
	                                              "('PROCESS_0:ENVIRONMENT_VARIABLE', 'LOCAL_RANK=1'),"
	                                              "('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=8')");
	assert_int_equal(t->source.rank, 3);
	assert_int_equal(t->source.ranks, 8);
	for (uint32_t d = 0; d < t->n_devices; d++)
		assert_int_equal(t->processes[t->devices[d].process].rank, 3);
}

static void an_environment_as_one_text(void **state)
{
	const struct trace *t = read_with(
		*state, ONE_PROCESS "INSERT INTO TARGET_INFO_SYSTEM_ENV(globalVid, devStateName, name, nameEnum, value)"
				    " VALUES (0, '', 'DeviceEnvironment', 1, 'HOME=/home/somebody' || char(10) ||"
				    " 'XRANK=7' || char(10) || 'SLURM_PROCID=2' || char(10) || 'SLURM_NTASKS=4' ||"
				    " char(10) || 'SLURM_JOB_ID=77'), (0, '', 'Hostname', 2, 'node17')");
	assert_int_equal(t->source.rank, 2);
	assert_int_equal(t->source.ranks, 4);
	assert_true(t->source.job != 0 && t->source.host != 0);
	assert_true(t->processes[0].host == t->source.host);
	for (uint32_t id = 0; id < t->names->n; id++)
		assert_null(strstr(names_text(t->names, id), "node17"));
}

/* What gapline notes when it captures is taken as nsys's own: a job is the same job, a host the same host. */
static void notes_of_gapline_say_the_same(void **state)
{
	const struct trace *t = read_with(*state, ONE_PROCESS
	                                  "CREATE TABLE GAPLINE_JOB(name TEXT NOT NULL, value TEXT NOT NULL);"
	                                  "INSERT INTO GAPLINE_JOB VALUES ('host', 'node17'), ('SLURM_PROCID', '2'),"
	                                  "('SLURM_NTASKS', '4'), ('SLURM_JOB_ID', '77'), ('PATH', '/bin'),"
	                                  "('RANK' || char(0) || 'X', '9'), ('RANK', x'00'), ('WORLD_SIZE', '')");
	uint64_t host = t->source.host, job = t->source.job;
	assert_int_equal(t->source.rank, 2);
	assert_int_equal(t->source.ranks, 4);
	assert_true(host != 0 && job != 0);
	t = read_with(*state, CAPTURE "VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_JOB_ID=77'),"
	                              "('Hostname', 'node17')");
	assert_true(t->source.host == host && t->source.job == job);
}

static void a_launcher_of_several_has_no_rank(void **state)
{
	const struct trace *t = read_with(*state, CAPTURE "VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=3')");
	for (uint32_t p = 0; p < t->n_processes; p++)
		assert_int_equal(t->processes[p].rank, -1);
}

static void impossible_ranks_are_none(void **state)
{
	static const char *const values[] = {"'RANK=8'), ('X:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=8'", "'RANK=-1'",
	                                     "'RANK=99999999999'", "'RANK=two'", "'RANK='"};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char sql[800];
		snprintf(sql, sizeof sql, "%s%sVALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', %s)", ONE_PROCESS, CAPTURE,
		         values[i]);
		assert_int_equal(read_with(*state, sql)->source.rank, -1);
	}
}

static void mpi_names_ranks_by_thread(void **state)
{
	const struct trace *t =
		read_with(*state, "CREATE TABLE MPI_RANKS(globalTid INTEGER, rank INTEGER);"
	                          "INSERT INTO MPI_RANKS VALUES (" MAIN_THREAD ", 1), (" OTHER_THREAD ", 0)");
	assert_int_equal(t->processes[0].pid, 100);
	assert_int_equal(t->processes[0].rank, 1);
	assert_int_equal(t->processes[1].rank, 0);
}

/* As gapline notes each process's own; a number that several have is nobody's, whichever table says it. */
static void a_rank_of_each_process(void **state)
{
	const struct trace *t = read_with(*state, "CREATE TABLE GAPLINE_RANK(globalPid INTEGER, rank INTEGER);"
	                                          "INSERT INTO GAPLINE_RANK VALUES (" MAIN_THREAD " - 101, 1),"
	                                          "(281478332153856, 0)");
	assert_int_equal(t->processes[0].rank, 1);
	assert_int_equal(t->processes[1].rank, 0);
	t = read_with(*state, "CREATE TABLE GAPLINE_RANK(globalPid INTEGER, rank INTEGER);"
	                      "INSERT INTO GAPLINE_RANK VALUES (" MAIN_THREAD " - 101, 4), (281478332153856, 4)");
	assert_int_equal(t->processes[0].rank, -1);
	assert_int_equal(t->processes[1].rank, -1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_known_without_the_tables),
		TEST(the_start_is_a_time_of_day),
		TEST(scheduler_rows_become_slices),
		TEST(scheduler_rows_of_nobody_are_no_loss),
		TEST(rows_are_counted_by_kind),
		TEST(launchers_say_the_rank),
		TEST(an_environment_as_one_text),
		TEST(notes_of_gapline_say_the_same),
		TEST(a_launcher_of_several_has_no_rank),
		TEST(impossible_ranks_are_none),
		TEST(mpi_names_ranks_by_thread),
		TEST(a_rank_of_each_process),
	};
	return cmocka_run_group_tests_name("reader_job", tests, NULL, NULL);
}
