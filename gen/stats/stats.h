/* The tables of `nsys stats` and `nsys analyze`, from a trace: same columns, order and rounding as nsys 2025.3 prints.
 * The definitions are NVIDIA's, from the Nsight Systems user guide ("Report scripts", "Expert systems"); where they
 * leave something open, captures that nsys itself summarised decided. docs/reference/stats.md tells where gapline
 * differs. */
#ifndef GAPLINE_STATS_STATS_H
#define GAPLINE_STATS_STATS_H

#include "base/err.h"
#include "read/read.h"
#include "stats/sheet.h"
#include "trace/trace.h"

enum stats_names { STATS_FULL_NAMES, STATS_BASE_NAMES, STATS_MANGLED_NAMES };

/* A report as asked for: "cuda_gpu_kern_sum:base", "gpu_gaps:gap=1:rows=10". */
struct stats_request {
	const struct stats_report *report;
	const char *name;       /* as written, with "_" for ":" (nsys names files so); arena text */
	enum stats_names names; /* of kernels */
	int64_t rows;           /* most rows; < 0: all */
	int64_t gap;            /* ns; gpu_gaps lists longer ones */
	double threshold;       /* %; gpu_time_util lists chunks below it */
	int64_t chunks;         /* that gpu_time_util cuts a device's time into */
	bool graphs;            /* graph launches traced whole count as GPU work */
};

/* All reports that there are. */
struct stats_report {
	const char *name, *title;
	const char *arguments; /* those it takes, one word each: "base mangled" */
	unsigned reads;        /* kinds of tables that it is made of (read/read.h); 0: all */
	void (*make)(const struct trace *trace, const struct stats_request *request, struct sheet *out);
	unsigned ranges; /* of those of ranges: a bit for each kind that counts */
};
enum { STATS_RANGES = 1 << RANGE_PUSH_POP | 1 << RANGE_START_END };
extern const struct stats_report stats_reports[]; /* ends with a row without a name */

/* Reads one report's name with its arguments. -1 with `err`: there is no such report or argument. */
int stats_request_parse(const char *text, struct arena *arena, struct stats_request *out, struct err *err);

/* What has to be read for the tables of `n` requests. */
void stats_wish(const struct stats_request *requests, size_t n, struct read_wish *wish);

/* Makes the table; `out` is filled, its texts belong to `arena` and the trace's names. The trace must have been read
 * with its details (struct read_wish); without them full names stand in for base and mangled ones, and what was not
 * recorded is left empty. */
void stats_make(const struct trace *trace, const struct stats_request *request, struct arena *arena, struct sheet *out);

#endif
