/* Writes an nsys SQLite export, row by row, with the tables and columns that nsys 2025.3 writes for CUDA, NVTX and OS
 * runtime tracing. For generated profiles: what goes wrong is printed and ends the program. */
#ifndef GAPLINE_BENCH_PROFILE_FILE_H
#define GAPLINE_BENCH_PROFILE_FILE_H

#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

enum file_table { FILE_KERNEL, FILE_COPY, FILE_MEMSET, FILE_CALL, FILE_RANGE, FILE_OS_CALL, FILE_STRING, FILE_TABLES };

struct profile_file {
	const char *path;
	struct sqlite3 *db;
	struct sqlite3_stmt *insert[FILE_TABLES];
	int64_t strings;           /* ids handed out */
	int64_t rows[FILE_TABLES]; /* written */
};

/* nsys's way of numbering processes and threads. */
static inline int64_t file_pid(int64_t pid)
{
	return (int64_t)1 << 48 | pid << 24;
}
static inline int64_t file_tid(int64_t pid, int64_t tid)
{
	return file_pid(pid) | tid;
}

struct file_op {
	int64_t start, end;
	int64_t process; /* file_pid */
	int32_t device, stream;
	uint32_t correlation;
	int64_t name;  /* kernels: a string */
	int64_t bytes; /* copies and memsets */
	int32_t copy, from_kind,
		to_kind; /* copies: CUPTI's direction and kinds of memory (0 pageable, 1 pinned, 2 device) */
};

struct file_call {
	int64_t start, end;
	int64_t thread; /* file_tid */
	uint32_t correlation;
	int64_t name;
};

struct file_range {
	int64_t start, end;
	int64_t thread;
	const char *text; /* NULL: a registered name, `text_id` */
	int64_t text_id;
	int64_t domain;
	int start_end; /* 0: push and pop */
};

/* Replaces the file. */
void file_open(struct profile_file *f, const char *path);
int64_t file_string(struct profile_file *f, const char *text); /* a new id; no text is looked for */
void file_kernel(struct profile_file *f, const struct file_op *op);
void file_copy(struct profile_file *f, const struct file_op *op);
void file_memset(struct profile_file *f, const struct file_op *op);
void file_cuda_call(struct profile_file *f, const struct file_call *call);
void file_os_call(struct profile_file *f, const struct file_call *call);
void file_nvtx(struct profile_file *f, const struct file_range *range);
void file_nvtx_domain(struct profile_file *f, int64_t thread, int64_t domain, const char *name);
void file_process(struct profile_file *f, int64_t pid, const char *name);
void file_gpu(struct profile_file *f, int64_t id);
void file_device(struct profile_file *f, int64_t pid, int64_t ordinal, int64_t gpu);
void file_close(struct profile_file *f);

#endif
