/* Makes a synthetic profile, and the truth about it.
 *
 *	generate job PROFILE.sqlite [OPTION=VALUE ...]    also writes PROFILE.sqlite.truth.json
 *	generate SHAPE PROFILE.sqlite N                   one thing in excess: shapes.h
 *
 * Options of a job: rows (about so many in the whole profile) or steps, seed, warmup, ranks, kernels (a step), sync
 * (steps between two waits for the GPU), fixed=1, numbered=1, repeats=1 (every step launches the same kernels). */
#include "job.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *option(char **options, const char *name)
{
	size_t n = strlen(name);
	for (; *options; options++)
		if (strncmp(*options, name, n) == 0 && (*options)[n] == '=')
			return *options + n + 1;
	return NULL;
}

static int64_t number(char **options, const char *name, int64_t otherwise)
{
	const char *text = option(options, name);
	return text ? strtoll(text, NULL, 10) : otherwise;
}

static int make_job(const char *path, char **options)
{
	struct job_options o = {.seed = (uint64_t)number(options, "seed", 1),
	                        .warmup = (int)number(options, "warmup", 3),
	                        .ranks = (int)number(options, "ranks", 1),
	                        .kernels = (int)number(options, "kernels", 200),
	                        .sync_every = (int)number(options, "sync", 1),
	                        .fixed = number(options, "fixed", 0),
	                        .numbered = number(options, "numbered", 0),
	                        .repeats = number(options, "repeats", 0)};
	int64_t rows = number(options, "rows", 100000);
	o.steps = (int)number(options, "steps", rows / o.ranks / job_rows_a_step(&o));
	if (o.steps < o.warmup + 2)
		o.steps = o.warmup + 2;
	struct profile_file file;
	struct truth truth;
	char *beside = malloc(strlen(path) + sizeof ".truth.json");
	if (!beside)
		return 1;
	strcat(strcpy(beside, path), ".truth.json");
	file_open(&file, path);
	job_write(&o, &file, &truth);
	file_close(&file);
	FILE *out = fopen(beside, "w");
	if (out)
		truth_write(&truth, out);
	if (!out || fclose(out)) {
		perror(beside);
		return 1;
	}
	free(beside);
	job_release(&truth);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "job") == 0)
		return make_job(argv[2], argv + 3);
	if (argc == 4) {
		struct profile_file file;
		file_open(&file, argv[2]);
		int unknown = shape_write(argv[1], strtoll(argv[3], NULL, 10), &file);
		file_close(&file);
		if (!unknown)
			return 0;
	}
	fprintf(stderr,
	        "usage: generate job PROFILE.sqlite [OPTION=VALUE ...]\n       generate SHAPE PROFILE.sqlite N\n%s",
	        shape_help);
	return 2;
}
