#include "bare_loop.h"

#include <sqlite3.h>
#include <stdio.h>

/* Tables of an nsys export and the columns that gapline reads, in its order; those that a file lacks are left out. */
static const struct {
	const char *table;
	const char *columns[13];
} tables[] = {
	{"CUPTI_ACTIVITY_KIND_KERNEL",
         {"graphNodeId", "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName"}},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"}},
	{"CUPTI_ACTIVITY_KIND_MEMCPY",
         {"graphNodeId", "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind",
          "srcKind", "dstKind"}},
	{"CUPTI_ACTIVITY_KIND_MEMSET",
         {"graphNodeId", "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes"}},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", {"nameId", "start", "end", "globalTid", "correlationId", "eventClass"}},
	{"NVTX_EVENTS", {"domainId", "start", "end", "eventType", "text", "textId", "globalTid"}},
	{"OSRT_API", {"nameId", "start", "end", "globalTid", "eventClass"}},
	{"PROFILER_OVERHEAD", {"start", "end", "globalTid", "nameId"}},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "globalTid", "nameId", "overheadType"}},
	{"StringIds", {"id", "value"}},
};

static int column_is_there(sqlite3 *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* SELECT with the columns that there are; their number, 0 without any. */
static int select_text(sqlite3 *db, size_t table, char *sql, size_t room)
{
	int n = 0;
	size_t used = (size_t)snprintf(sql, room, "SELECT ");
	for (const char *const *column = tables[table].columns; *column; column++) {
		if (!column_is_there(db, tables[table].table, *column))
			continue;
		used += (size_t)snprintf(sql + used, room - used, "%s\"%s\"", n ? "," : "", *column);
		n++;
	}
	snprintf(sql + used, room - used, " FROM \"%s\"", tables[table].table);
	return n;
}

static int64_t table_loop(sqlite3 *db, const char *sql, int n, uint64_t *sum)
{
	sqlite3_stmt *statement;
	int64_t rows = 0;
	int code;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++) {
			if (sqlite3_column_type(statement, i) == SQLITE_TEXT)
				*sum += sqlite3_column_text(statement, i)[0];
			else
				*sum += (uint64_t)sqlite3_column_int64(statement, i);
		}
		rows++;
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? rows : -1;
}

int64_t bare_loop(const char *path, uint64_t *sum)
{
	char uri[4096], sql[1024];
	sqlite3 *db = NULL;
	int64_t all = 0;
	snprintf(uri, sizeof uri, "file:%s?mode=ro&immutable=1", path);
	int code = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	for (size_t i = 0; code == SQLITE_OK && all >= 0 && i < sizeof tables / sizeof tables[0]; i++) {
		int n = select_text(db, i, sql, sizeof sql);
		int64_t rows = n ? table_loop(db, sql, n, sum) : 0;
		all = rows < 0 ? -1 : all + rows;
	}
	if (code != SQLITE_OK || all < 0) {
		fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(db));
		all = -1;
	}
	sqlite3_close(db);
	return all;
}
