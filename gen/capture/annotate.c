#include "capture/annotate.h"

#include "base/launcher.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] =
	"DROP TABLE IF EXISTS GAPLINE_CAPTURE;"
	"DROP TABLE IF EXISTS GAPLINE_JOB;"
	"DROP TABLE IF EXISTS GAPLINE_GPU;"
	"DROP TABLE IF EXISTS GAPLINE_GPU_STATE;"
	"CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);"
	"CREATE TABLE GAPLINE_JOB (name TEXT NOT NULL, value TEXT NOT NULL);"
	"CREATE TABLE GAPLINE_GPU (gpu INTEGER NOT NULL, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER, "
	"others INTEGER);"
	"CREATE TABLE GAPLINE_GPU_STATE (time INTEGER NOT NULL, gpu INTEGER NOT NULL, sm_mhz INTEGER, "
	"memory_mhz INTEGER, power_mw INTEGER, temperature_c INTEGER, busy_percent INTEGER, throttle INTEGER);";

/* Ends a row; SQLite's code. */
static int put_row(sqlite3_stmt *row)
{
	int code = sqlite3_step(row);
	sqlite3_reset(row);
	sqlite3_clear_bindings(row); /* what is not bound is NULL */
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int put_fact(sqlite3_stmt *row, const char *name, const char *value)
{
	if (!value || !*value)
		return SQLITE_OK;
	sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 2, value, -1, SQLITE_STATIC);
	return put_row(row);
}

static int put_facts(sqlite3 *db, const struct annotation *a)
{
	const char *source = a->gpu_state && *a->gpu_state->source ? a->gpu_state->source : "none";
	char dropped[24], events[24], launcher[24], ranges[24], every[24], torn[24];
	const char *const facts[][2] = {
		{"gapline", a->version},
		{"collector", a->collector},
		{"cupti", a->cupti},
		{"trace", a->trace},
		{"graphs", a->graphs},
		{"complete", a->complete},
		{"gpu_state", source},
		{"dropped", a->dropped > 0 ? dropped : NULL},
		{"dropped_events", a->dropped_events > 0 ? events : NULL},
		{"ranges_ns", a->ranges_ns > 0 ? ranges : NULL},
		{"sample_ns", a->sample_ns > 0 ? every : NULL},
		{"samples_torn", a->samples_torn > 0 ? torn : NULL},
		{"launcher", a->launcher > 0 ? launcher : NULL},
		{"begins", a->from_start ? "program" : NULL},
	};
	sqlite3_stmt *row = NULL;
	sqlite3_snprintf(sizeof dropped, dropped, "%lld", a->dropped);
	sqlite3_snprintf(sizeof events, events, "%lld", a->dropped_events);
	sqlite3_snprintf(sizeof every, every, "%lld", a->sample_ns);
	sqlite3_snprintf(sizeof torn, torn, "%lld", a->samples_torn);
	sqlite3_snprintf(sizeof ranges, ranges, "%lld", a->ranges_ns);
	sqlite3_snprintf(sizeof launcher, launcher, "%lld", a->launcher);
	int code = sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_CAPTURE VALUES (?, ?)", -1, &row, NULL);
	for (size_t i = 0; i < sizeof facts / sizeof *facts && code == SQLITE_OK; i++)
		code = put_fact(row, facts[i][0], facts[i][1]);
	sqlite3_finalize(row);
	return code;
}

static int put_job(sqlite3 *db, const char *host, const char *const *job)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_JOB VALUES (?, ?)", -1, &row, NULL);
	if (code == SQLITE_OK)
		code = put_fact(row, "host", host);
	for (int i = 0; i < LAUNCHER_VARIABLES && code == SQLITE_OK; i++)
		code = put_fact(row, LAUNCHER[i].name, job ? job[i] : launcher_value(&LAUNCHER[i]));
	sqlite3_finalize(row);
	return code;
}

static int put_gpus(sqlite3 *db, const struct gpu_state *state)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_GPU VALUES (?, ?, ?, ?, ?, ?)", -1, &row, NULL);
	for (uint32_t i = 0; i < state->n_gpus && code == SQLITE_OK; i++) {
		const struct gpu_identity *gpu = &state->gpus[i];
		sqlite3_bind_int64(row, 1, i);
		const char *texts[] = {gpu->uuid, gpu->bus, gpu->name};
		for (int k = 0; k < 3; k++)
			if (texts[k][0])
				sqlite3_bind_text(row, 2 + k, texts[k], -1, SQLITE_STATIC);
		if (gpu->max_sm_mhz > 0)
			sqlite3_bind_int(row, 5, gpu->max_sm_mhz);
		if (gpu->others >= 0)
			sqlite3_bind_int(row, 6, gpu->others);
		code = put_row(row);
	}
	sqlite3_finalize(row);
	return code;
}

static int put_samples(sqlite3 *db, const struct gpu_state *state, int64_t start)
{
	sqlite3_stmt *row = NULL;
	int code =
		sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_GPU_STATE VALUES (?, ?, ?, ?, ?, ?, ?, ?)", -1, &row, NULL);
	for (size_t i = 0; i < state->n && code == SQLITE_OK; i++) {
		const struct gpu_sample *s = &state->samples[i];
		const int values[] = {s->sm_mhz, s->memory_mhz, s->power_mw, s->temperature_c, s->busy_percent};
		sqlite3_bind_int64(row, 1, s->time - start);
		sqlite3_bind_int64(row, 2, s->gpu);
		for (int k = 0; k < 5; k++)
			if (values[k] >= 0)
				sqlite3_bind_int(row, 3 + k, values[k]);
		if (s->has_throttle)
			sqlite3_bind_int64(row, 8, (sqlite3_int64)s->throttle);
		code = put_row(row);
	}
	sqlite3_finalize(row);
	return code;
}

/* nsys leaves some exports in WAL mode; their log is folded in, so that one file is the whole profile. */
static int begin(const char *path, const char *tables, sqlite3 **db)
{
	int code = sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(*db, "PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE", NULL, NULL, NULL);
	return code == SQLITE_OK ? sqlite3_exec(*db, tables, NULL, NULL, NULL) : code;
}

static int end(sqlite3 *db, int code, const char *path, const char *what, struct err *err)
{
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (code != SQLITE_OK)
		err_set_id(err, ERR_MEMORY, "%s: %s cannot be noted in the profile: %s", path, what,
		           db ? sqlite3_errmsg(db) : "out of memory");
	sqlite3_close(db); /* takes back a transaction that is still open */
	return code == SQLITE_OK ? 0 : -1;
}

int annotate_profile(const char *path, const struct annotation *annotation, struct err *err)
{
	sqlite3 *db = NULL;
	const struct gpu_state *state = annotation->gpu_state;
	int code = begin(path, schema, &db);
	if (code == SQLITE_OK)
		code = put_facts(db, annotation);
	if (code == SQLITE_OK)
		code = put_job(db, annotation->host, annotation->job);
	if (code == SQLITE_OK && state)
		code = put_gpus(db, state);
	if (code == SQLITE_OK && state)
		code = put_samples(db, state, annotation->start_ns);
	return end(db, code, path, "what was captured", err);
}

static int put_stopwatch(sqlite3 *db, const struct annotation_stopwatch *runs, size_t n)
{
	sqlite3_stmt *row = NULL;
	int code =
		sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_STOPWATCH VALUES (?, ?, ?, ?, ?, ?, ?, ?)", -1, &row, NULL);
	for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
		sqlite3_bind_int64(row, 1, runs[i].start_utc_ns);
		if (!runs[i].unused)
			sqlite3_bind_int64(row, 2, runs[i].ns);
		sqlite3_bind_int64(row, 3, runs[i].steps);
		sqlite3_bind_int64(row, 4, runs[i].process_ns);
		sqlite3_bind_text(row, 5, runs[i].unused, -1, SQLITE_STATIC); /* of NULL it makes NULL */
		sqlite3_bind_text(row, 6, runs[i].steps ? runs[i].step : NULL, -1, SQLITE_STATIC);
		if (runs[i].steps && runs[i].launches)
			sqlite3_bind_int64(row, 7, runs[i].launches);
		sqlite3_bind_int(row, 8, runs[i].looked);
		code = put_row(row);
	}
	sqlite3_finalize(row);
	return code;
}

/* A row for each "UUID=MILLIJOULES" of each run. */
static int put_energy(sqlite3 *db, const struct annotation_stopwatch *runs, size_t n)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, "INSERT INTO GAPLINE_ENERGY VALUES (?, ?, ?)", -1, &row, NULL);
	for (size_t i = 0; i < n; i++) {
		const char *at = runs[i].unused || !runs[i].energy ? "" : runs[i].energy;
		for (const char *is; code == SQLITE_OK && (is = strchr(at, '=')); at = is + strcspn(is, " ")) {
			at += strspn(at, " ");
			sqlite3_bind_int64(row, 1, runs[i].start_utc_ns);
			sqlite3_bind_text(row, 2, at, (int)(is - at), SQLITE_STATIC);
			sqlite3_bind_int64(row, 3, strtoll(is + 1, NULL, 10));
			code = put_row(row);
		}
	}
	sqlite3_finalize(row);
	return code;
}

int annotate_stopwatch(const char *path, const struct annotation_stopwatch *runs, size_t n, struct err *err)
{
	static const char table[] =
		"DROP TABLE IF EXISTS GAPLINE_STOPWATCH;"
		"CREATE TABLE GAPLINE_STOPWATCH (start INTEGER NOT NULL, time INTEGER, steps INTEGER NOT NULL, "
		"process INTEGER NOT NULL, unused TEXT, step TEXT, launches INTEGER, looked INTEGER);"
		"DROP TABLE IF EXISTS GAPLINE_ENERGY;"
		"CREATE TABLE GAPLINE_ENERGY (start INTEGER NOT NULL, uuid TEXT NOT NULL, mj INTEGER NOT NULL);";
	sqlite3 *db = NULL;
	int code = begin(path, table, &db);
	if (code == SQLITE_OK)
		code = put_stopwatch(db, runs, n);
	if (code == SQLITE_OK)
		code = put_energy(db, runs, n);
	return end(db, code, path, "the timed runs", err);
}
