/* Fuzz target: any bytes as a profile, through reading, analysis and every renderer. Whatever a file holds, the outcome
 * is a result or an error, never a crash, a leak or undefined behaviour.
 *
 * With clang (preset `fuzz`) this links with libFuzzer; otherwise with fuzz_replay.c, which runs files once. */
#include "analyse/analyse.h"
#include "read/read.h"
#include "render/render.h"

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

static void render_all(const struct analysis *analysis)
{
	struct buf out = {0};
	struct err err;
	if (analysis->n_sides == 1) {
		render_side(analysis, &(struct look){true, LOOK_MOST}, &out);
	} else {
		render_verdict(analysis, &(struct look){true, LOOK_MOST}, &out);
		if (render_json(analysis, &out, &err) || render_html(analysis, &out, &err)) {
			fprintf(stderr, "%s\n", err.text); /* a result that cannot be shown is a mistake */
			abort();
		}
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char path[] = "/tmp/gapline-fuzz-XXXXXX";
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct analysis analysis;
	struct err err;
	const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	write_file(path, data, n);
	names_init(&names, &arena);
	if (!read_profile(path, &names, &arena, &trace, &err)) {
		const struct analyse_run run = {&trace, path};
		if (!analyse_one(&run, &options, &names, &arena, &analysis, &err))
			render_all(&analysis);
		if (!analyse_pair(&run, 1, &run, 1, &options, &names, &arena, &analysis, &err))
			render_all(&analysis);
	}
	unlink(path);
	arena_release(&arena);
	return 0;
}
