/* How long reading and analysing a profile takes, beside a bare loop over the same rows in the same run.
 *
 *	read_speed PROFILE.sqlite [ROUNDS]
 *
 * Every measurement is made in a process of its own, bare loop and gapline in turns, so that neither inherits the
 * other's heap. One round before the measured ones brings the file into the page cache. */
#include "analyse/analyse.h"
#include "bare_loop.h"
#include "heap.h"
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct sample {
	double seconds; /* of the whole */
	double cpu;     /* the same in processor time, which other programs disturb less */
	double read;    /* of it, until the trace is linked */
	double heap_mb; /* peak */
	double rss_mb;  /* peak of the process, file pages included */
	int64_t rows;
};

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int bare_measure(const char *path, struct sample *out)
{
	uint64_t sum = 0;
	out->rows = bare_loop(path, &sum);
	out->read = sum == 0; /* the sum has to be computed */
	return out->rows < 0 ? -1 : 0;
}

static int gapline_measure(const char *path, struct sample *out)
{
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err = {0};
	struct analyse_run run = {.trace = &trace, .file = path};
	struct analyse_options options = {.warmup = -1, .max_regression = -1};
	static struct analysis result;
	double begin = seconds_now();
	names_init(&names, &arena);
	int failed = read_profile(path, &names, &arena, &trace, &err);
	out->read = seconds_now() - begin;
	if (!failed)
		failed = analyse_one(&run, &options, &names, &arena, &result, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.text);
	else
		out->rows =
			(int64_t)(trace.ops.n + trace.calls.n + trace.ranges.n + trace.os_calls.n + trace.overheads.n);
	arena_release(&arena);
	return failed;
}

/* Runs `measure` in a child process. */
static int sample_take(int (*measure)(const char *, struct sample *), const char *path, struct sample *out)
{
	int ends[2], status;
	if (pipe(ends))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		struct sample sample = {0};
		struct rusage usage;
		heap_begin();
		double begin = seconds_now();
		int failed = measure(path, &sample);
		sample.seconds = seconds_now() - begin;
		sample.heap_mb = (double)heap_peak() / 1e6;
		getrusage(RUSAGE_SELF, &usage);
		sample.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		             1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
		sample.rss_mb = (double)usage.ru_maxrss * 1024 / 1e6;
		if (write(ends[1], &sample, sizeof sample) != sizeof sample)
			failed = -1;
		_exit(failed ? 1 : 0);
	}
	close(ends[1]);
	int failed = child < 0 || read(ends[0], out, sizeof *out) != sizeof *out;
	close(ends[0]);
	if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
		failed = 1;
	return failed ? -1 : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

int main(int argc, char **argv)
{
	enum { MOST = 99 };
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	double bare[MOST], all[MOST], reading[MOST], bare_cpu[MOST], all_cpu[MOST];
	struct sample b = {0}, g = {0};
	if (argc < 2 || rounds < 1 || rounds > MOST) {
		fputs("usage: read_speed PROFILE.sqlite [ROUNDS]\n", stderr);
		return 2;
	}
	for (int i = -1; i < rounds; i++) {
		if (sample_take(bare_measure, argv[1], &b) || sample_take(gapline_measure, argv[1], &g)) {
			fputs("read_speed: a measurement failed\n", stderr);
			return 3;
		}
		if (i < 0)
			continue;
		bare[i] = b.seconds;
		all[i] = g.seconds;
		reading[i] = g.read;
		bare_cpu[i] = b.cpu;
		all_cpu[i] = g.cpu;
	}
	double bare_median = median(bare, rounds), all_median = median(all, rounds),
	       read_median = median(reading, rounds);
	printf("%d rounds, seconds              median   least    most\n", rounds);
	printf("bare loop, %9lld rows        %7.3f %7.3f %7.3f\n", (long long)b.rows, bare_median, bare[0],
	       bare[rounds - 1]);
	printf("gapline, %9lld rows kept     %7.3f %7.3f %7.3f\n", (long long)g.rows, all_median, all[0],
	       all[rounds - 1]);
	printf("  of it reading                 %7.3f %7.3f %7.3f\n", read_median, reading[0], reading[rounds - 1]);
	printf("ratio of medians                %7.2f          (at most 2)\n", all_median / bare_median);
	double bare_cpu_median = median(bare_cpu, rounds), all_cpu_median = median(all_cpu, rounds);
	printf("processor seconds, medians: bare loop %.3f, gapline %.3f, ratio %.2f\n", bare_cpu_median,
	       all_cpu_median, all_cpu_median / bare_cpu_median);
	printf("gapline's peak heap, MB         %7.1f          (at most 400)\n", g.heap_mb);
	printf("peak RSS, MB: bare loop %.1f, gapline %.1f\n", b.rss_mb, g.rss_mb);
	return 0;
}
