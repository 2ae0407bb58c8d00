#include "profile_file.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char schema[] =
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);"
	"CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
	"CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT,"
	" isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER,"
	" smCount INTEGER, uuid TEXT, cuDevice INTEGER);"
	"CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"
	" correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,"
	" mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,"
	" gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,"
	" blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,"
	" dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT "
	"NULL,"
	" gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"
	" correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,"
	" deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER,"
	" dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,"
	" virtualAddress INTEGER, copyCount INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,"
	" correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,"
	" graphNodeId INTEGER, memKind INTEGER);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,"
	" eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,"
	" returnValue INTEGER NOT NULL, callchainId INTEGER);"
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,"
	" category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER,"
	" domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER,"
	" int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);"
	"CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,"
	" globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER,"
	" callchainId INTEGER NOT NULL);"
	"INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'generated for gapline'),"
	" ('EXPORT_PRODUCT_VERSION', '2025.3.2.0'), ('EXPORT_SCHEMA_VERSION', '3.20.3');";

static const char *const inserts[FILE_TABLES] = {
	[FILE_KERNEL] =
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?1, ?2, ?3, 1, NULL, ?4, ?5, ?6, ?7, ?7, ?7, 1, 1,"
		" 64, 1024, 1, 1, 256, 1, 1, 0, 4096, 0, 164364288, ?5, 32768, NULL, 0)",
	[FILE_COPY] =
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?1, ?2, ?3, 1, NULL, ?4, ?5, ?6, ?7, ?8, NULL, ?9,"
		" ?10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1)",
	[FILE_MEMSET] =
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?1, ?2, ?3, 1, NULL, ?4, ?5, ?6, 0, ?7, NULL, 2)",
	[FILE_CALL] = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?1, ?2, 0, ?3, ?4, ?5, 0, NULL)",
	[FILE_RANGE] = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[FILE_OS_CALL] = "INSERT INTO OSRT_API VALUES (?1, ?2, 27, ?3, ?4, 0, 0, 0)",
	[FILE_STRING] = "INSERT INTO StringIds VALUES (?1, ?2)",
};

static void fail(const struct profile_file *f)
{
	fprintf(stderr, "%s: %s\n", f->path, f->db ? sqlite3_errmsg(f->db) : "out of memory");
	exit(1);
}

static void execute(struct profile_file *f, const char *sql)
{
	if (sqlite3_exec(f->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail(f);
}

void file_open(struct profile_file *f, const char *path)
{
	*f = (struct profile_file){.path = path};
	unlink(path);
	if (sqlite3_open(path, &f->db) != SQLITE_OK)
		fail(f);
	execute(f, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
	execute(f, schema);
	for (int t = 0; t < FILE_TABLES; t++)
		if (sqlite3_prepare_v2(f->db, inserts[t], -1, &f->insert[t], NULL) != SQLITE_OK)
			fail(f);
}

static void bind(struct profile_file *f, enum file_table table, int n, ...)
{
	va_list values;
	va_start(values, n);
	for (int i = 1; i <= n; i++)
		sqlite3_bind_int64(f->insert[table], i, va_arg(values, int64_t));
	va_end(values);
}

static void insert(struct profile_file *f, enum file_table table)
{
	if (sqlite3_step(f->insert[table]) != SQLITE_DONE)
		fail(f);
	sqlite3_reset(f->insert[table]);
	f->rows[table]++;
}

int64_t file_string(struct profile_file *f, const char *text)
{
	bind(f, FILE_STRING, 1, ++f->strings);
	sqlite3_bind_text(f->insert[FILE_STRING], 2, text, -1, SQLITE_STATIC);
	insert(f, FILE_STRING);
	return f->strings;
}

void file_kernel(struct profile_file *f, const struct file_op *op)
{
	bind(f, FILE_KERNEL, 7, op->start, op->end, (int64_t)op->device, (int64_t)op->stream, (int64_t)op->correlation,
	     op->process, op->name);
	insert(f, FILE_KERNEL);
}

void file_copy(struct profile_file *f, const struct file_op *op)
{
	bind(f, FILE_COPY, 10, op->start, op->end, (int64_t)op->device, (int64_t)op->stream, (int64_t)op->correlation,
	     op->process, op->bytes, (int64_t)op->copy, (int64_t)op->from_kind, (int64_t)op->to_kind);
	insert(f, FILE_COPY);
}

void file_memset(struct profile_file *f, const struct file_op *op)
{
	bind(f, FILE_MEMSET, 7, op->start, op->end, (int64_t)op->device, (int64_t)op->stream, (int64_t)op->correlation,
	     op->process, op->bytes);
	insert(f, FILE_MEMSET);
}

void file_cuda_call(struct profile_file *f, const struct file_call *call)
{
	bind(f, FILE_CALL, 5, call->start, call->end, call->thread, (int64_t)call->correlation, call->name);
	insert(f, FILE_CALL);
}

void file_os_call(struct profile_file *f, const struct file_call *call)
{
	bind(f, FILE_OS_CALL, 4, call->start, call->end, call->thread, call->name);
	insert(f, FILE_OS_CALL);
}

void file_nvtx(struct profile_file *f, const struct file_range *range)
{
	enum { PUSH_POP = 59, START_END = 60 };
	struct sqlite3_stmt *s = f->insert[FILE_RANGE];
	bind(f, FILE_RANGE, 7, range->start, range->end, (int64_t)(range->start_end ? START_END : PUSH_POP), (int64_t)0,
	     range->thread, range->text_id, range->domain);
	sqlite3_bind_text(s, 4, range->text, -1, SQLITE_STATIC); /* NULL stays NULL */
	if (range->text)
		sqlite3_bind_null(s, 6);
	insert(f, FILE_RANGE);
}

void file_nvtx_domain(struct profile_file *f, int64_t thread, int64_t domain, const char *name)
{
	enum { DOMAIN_CREATED = 75 };
	struct sqlite3_stmt *s = f->insert[FILE_RANGE];
	bind(f, FILE_RANGE, 7, (int64_t)1, (int64_t)0, (int64_t)DOMAIN_CREATED, (int64_t)0, thread, (int64_t)0, domain);
	sqlite3_bind_null(s, 2);
	sqlite3_bind_null(s, 6);
	sqlite3_bind_text(s, 4, name, -1, SQLITE_STATIC);
	insert(f, FILE_RANGE);
}

static void execute_format(struct profile_file *f, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		fail(f);
	execute(f, sql);
	sqlite3_free(sql);
}

void file_process(struct profile_file *f, int64_t pid, const char *name)
{
	execute_format(f, "INSERT INTO PROCESSES VALUES (%lld, %lld, %Q)", (long long)file_pid(pid), (long long)pid,
	               name);
}

void file_gpu(struct profile_file *f, int64_t id)
{
	execute_format(f,
	               "INSERT INTO TARGET_INFO_GPU VALUES (0, %lld, 'Generated GPU', '0000:%02llx:00.0', 1, 62914560,"
	               " 150109880320, 4814304000000, 1980000000, 132, NULL, %lld)",
	               (long long)id, (long long)id, (long long)id);
}

void file_device(struct profile_file *f, int64_t pid, int64_t ordinal, int64_t gpu)
{
	execute_format(f, "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (%lld, %lld, %lld)", (long long)gpu,
	               (long long)ordinal, (long long)pid);
}

void file_close(struct profile_file *f)
{
	for (int t = 0; t < FILE_TABLES; t++)
		sqlite3_finalize(f->insert[t]);
	execute(f, "COMMIT");
	if (sqlite3_close(f->db) != SQLITE_OK)
		fail(f);
}
