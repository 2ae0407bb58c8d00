/* Changes rows of a SQLite database, not its bytes: values at their ends, taken from elsewhere or of another type, rows
 * left out, doubled and moved, columns and tables gone. What is no database has its bytes changed. */
#include "mutate.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

struct rows {
	sqlite3 *db;
	struct mutate_random *random;
	char table[200], column[200];
};

/* Texts that mean something to those who read them. */
static const char *const texts[] = {
	"step",
	"step 17",
	"step_17 of 40",
	"data_load",
	"forward",
	"ProfilerStep#3",
	"cudaLaunchKernel_v7000",
	"cudaGraphLaunch_v10000",
	"cudaMemcpyAsync_v3020",
	"cudaStreamSynchronize_v3020",
	"cudaDeviceSynchronize_v3020",
	"cudaMalloc_v3020",
	"CUDA profiling initialization",
	"cuLaunchKernelEx",
	"cuModuleLoadData",
	"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)",
	"ncclDevKernel_SendRecv",
	"ncclGroupEnd",
	"ncclAllReduce",
	"NCCL",
	"pthread_cond_wait",
	"futex",
	"poll",
	"GPU-01234567-89ab-cdef-0123-456789abcdef",
	"0000:18:00.0",
	"2024.1.1.59",
	"EXPORT_PRODUCT_VERSION",
	"CUDA_GRAPH_TRACE_OPTIONS:GRANULARITY",
	"RANK",
	"SLURM_PROCID",
	"{\"SMs Active\": \"40\", \"Tensor Active\": \"3\"}",
	"SMs Active [Throughput %]",
	"",
	"\xff\xfe",
	"\x1b[31m",
	"</script><b>",
	"/home/anton/a b.py",
	"18446744073709551615",
};

/* What an UPDATE writes, as SQL. */
static void draw_value(struct rows *r, char *sql, size_t room)
{
	struct mutate_random *random = r->random;
	switch (mutate_draw(random, 12)) {
	case 0:
		snprintf(sql, room, "NULL");
		break;
	case 1:
		snprintf(sql, room, "x'00ff'");
		break;
	case 2:
		snprintf(sql, room, "%s", mutate_draw(random, 2) ? "1e308" : "-0.5");
		break;
	case 3:
		snprintf(sql, room, "zeroblob(%d)", (int)mutate_draw(random, 3000));
		break;
	case 4:
	case 5: {
		char *quoted = sqlite3_mprintf("%Q", texts[mutate_draw(random, sizeof texts / sizeof *texts)]);
		snprintf(sql, room, "%s", quoted ? quoted : "NULL");
		sqlite3_free(quoted);
		break;
	}
	case 6:
	case 7: /* of another row */
		snprintf(sql, room, "(SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET %d)", r->column, r->table,
		         (int)mutate_draw(random, 40));
		break;
	case 8:
		snprintf(sql, room, "\"%s\" + %lld", r->column, (long long)mutate_draw(random, 2000000) - 1000000);
		break;
	case 9:
		snprintf(sql, room, "\"%s\" * %d", r->column, (int)mutate_draw(random, 5) - 1);
		break;
	default: { /* "-9223372036854775808" is no integer where it stands alone */
		int64_t end = mutate_extreme(random);
		snprintf(sql, room, end == INT64_MIN ? "(-%lld - 1)" : "%lld",
		         (long long)(end == INT64_MIN ? INT64_MAX : end));
		break;
	}
	}
}

/* Some rows, as the end of a statement. */
static void draw_rows(struct rows *r, char *sql, size_t room)
{
	struct mutate_random *random = r->random;
	unsigned k = 2 + (unsigned)mutate_draw(random, 5);
	switch (mutate_draw(random, 4)) {
	case 0:
		snprintf(sql, room, "rowid %% %u = %u", k, (unsigned)mutate_draw(random, k));
		break;
	case 1:
		snprintf(sql, room, "rowid >= %u", (unsigned)mutate_draw(random, 60));
		break;
	default:
		snprintf(sql, room, "rowid IN (SELECT rowid FROM \"%s\" LIMIT 1 OFFSET %u)", r->table,
		         (unsigned)mutate_draw(random, 60));
		break;
	}
}

/* The first column of one row of what a query gives, drawn; false: there is none that can be named. */
static int pick(struct rows *r, const char *sql, char *name, size_t room)
{
	sqlite3_stmt *statement = NULL;
	uint64_t seen = 0;
	if (sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) == SQLITE_OK)
		while (sqlite3_step(statement) == SQLITE_ROW) {
			const char *text = (const char *)sqlite3_column_text(statement, 0);
			if (text && strlen(text) < room && !strchr(text, '"') && mutate_draw(r->random, ++seen) == 0)
				snprintf(name, room, "%s", text);
		}
	sqlite3_finalize(statement);
	return seen > 0 && *name;
}

static void make_statement(struct rows *r, char *sql, size_t room, uint64_t what, uint64_t also, const char *value,
                           const char *where)
{
	switch (what) {
	case 0:
		snprintf(sql, room, "DELETE FROM \"%s\" WHERE %s", r->table, where);
		break;
	case 1:
	case 2:
		snprintf(sql, room, "INSERT OR IGNORE INTO \"%s\" SELECT * FROM \"%s\" WHERE %s LIMIT 40", r->table,
		         r->table, where);
		break;
	case 3:
		snprintf(sql, room, "ALTER TABLE \"%s\" DROP COLUMN \"%s\"", r->table, r->column);
		break;
	case 4:
		snprintf(sql, room, "ALTER TABLE \"%s\" RENAME COLUMN \"%s\" TO gone", r->table, r->column);
		break;
	case 5:
		snprintf(sql, room, also ? "DELETE FROM \"%s\"" : "DROP TABLE \"%s\"", r->table);
		break;
	default:
		snprintf(sql, room, "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s WHERE %s", r->table, r->column, value,
		         where);
		break;
	}
}

static void mutate_once(struct rows *r)
{
	char sql[2000], value[600], where[500];
	*r->table = *r->column = '\0';
	if (!pick(r, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", r->table,
	          sizeof r->table))
		return;
	snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')", r->table);
	if (strchr(r->table, '\'') || !pick(r, sql, r->column, sizeof r->column))
		return;
	draw_value(r, value, sizeof value);
	draw_rows(r, where, sizeof where);
	const uint64_t what = mutate_draw(r->random, 24), also = mutate_draw(r->random, 3);
	/* A column may forbid the value; and a table without rowids wants other words for "some rows". */
	for (int attempt = 0; attempt < 2; attempt++) {
		make_statement(r, sql, sizeof sql, what, also, value, attempt ? "1" : where);
		if (sqlite3_exec(r->db, sql, NULL, NULL, NULL) != SQLITE_ERROR)
			break;
	}
}

static sqlite3 *open_bytes(const uint8_t *data, size_t n)
{
	sqlite3 *db = NULL;
	unsigned char *copy = n >= 512 ? sqlite3_malloc64(n) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, data, n);
	if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
	    sqlite3_deserialize(db, "main", copy, (sqlite3_int64)n, (sqlite3_int64)n,
	                        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK) {
		sqlite3_close(db);
		return NULL;
	}
	sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF", NULL,
	             NULL, NULL);
	return db;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed)
{
	struct mutate_random random = {seed};
	sqlite3_int64 made_n = 0;
	unsigned char *made = NULL;
	struct rows rows = {.db = mutate_draw(&random, 8) ? open_bytes(data, n) : NULL, .random = &random};
	if (rows.db) {
		for (uint64_t i = 1 + mutate_draw(&random, 4); i > 0; i--)
			mutate_once(&rows);
		if (mutate_draw(&random, 4) == 0) /* else what was deleted leaves its room */
			sqlite3_exec(rows.db, "VACUUM", NULL, NULL, NULL);
		made = sqlite3_serialize(rows.db, "main", &made_n, 0);
	}
	if (made && made_n > 0 && (size_t)made_n <= most) {
		memcpy(data, made, (size_t)made_n);
		n = (size_t)made_n;
	} else {
		n = mutate_bytes(&random, data, n, most);
	}
	sqlite3_free(made);
	sqlite3_close(rows.db);
	return n;
}
