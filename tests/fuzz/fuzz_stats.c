/* Fuzz target: any bytes as a profile, read with all its details, through every table in every format. Driven as
 * fuzz_pipeline.c is. */
#include "read/read.h"
#include "stats/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* SQLite opens files by name, so the bytes have to have one. */
static void write_file(char *path, const uint8_t *data, size_t n)
{
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file || fwrite(data, 1, n, file) != n || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void make_all(const struct trace *trace, struct arena *arena)
{
	for (const struct stats_report *report = stats_reports; report->name; report++) {
		struct stats_request request;
		struct sheet sheet;
		struct buf out = {0};
		struct err err;
		if (stats_request_parse(report->name, arena, &request, &err))
			abort();
		request.gap = 0;
		request.graphs = true;
		stats_make(trace, &request, arena, &sheet);
		sheet_csv(&sheet, false, &out);
		sheet_csv(&sheet, true, &out);
		sheet_aligned(&sheet, &out);
		if (sheet_json(&sheet, 1, &out, &err)) {
			fprintf(stderr, "%s\n", err.text); /* a table that cannot be shown is a mistake */
			abort();
		}
		buf_release(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char path[] = "/tmp/gapline-fuzz-XXXXXX";
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err;
	const struct read_wish wish = {.details = true, .without_gpu = true};
	write_file(path, data, n);
	names_init(&names, &arena);
	if (!read_profile_with(path, &wish, &names, &arena, &trace, &err))
		make_all(&trace, &arena);
	unlink(path);
	arena_release(&arena);
	return 0;
}
