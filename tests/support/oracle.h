/* A second, independent model of the analysis, for small traces: it walks every nanosecond of every device and asks
 * what the definitions (docs/method/analysis.md) say about that instant. No interval arithmetic, no sweep,
 * nothing shared with gen/analyse but the headers; slow, and simple enough to be believed. Times of the trace must be
 * >= 0 and small (memory and time grow with the last nanosecond), names without digits (it does not normalise them). */
#ifndef GAPLINE_TESTS_ORACLE_H
#define GAPLINE_TESTS_ORACLE_H

#include "analyse/analysis.h"

enum { ORACLE_COMPUTE, ORACLE_COMM, ORACLE_COPY, ORACLE_IDLE, ORACLE_CLASSES };

/* What one instant of a device is. */
struct oracle_instant {
	uint8_t class;  /* ORACLE_… */
	uint8_t cause;  /* enum cause, of idle instants */
	uint8_t opened; /* enum opened, of idle instants */
	uint32_t phase; /* name, 0 for none */
	uint32_t call;  /* host_blocked: name of the call */
};

struct oracle_device {
	int64_t limit;
	struct oracle_instant *at; /* by nanosecond, [0, horizon); idle causes hold inside the window */
	int64_t total[ORACLE_CLASSES];
	/* by phase name, in the window */
	int64_t *cost, *idle, *gpu;
	/* ns of cause c in phase p, of gaps opened by o: row[(c * n_names + p) * OPENED_COUNT + o] */
	int64_t *row;
	int64_t *blocked; /* host_blocked in phase p by call q: blocked[p * n_names + q] */
};

struct oracle {
	bool by_work; /* phases are kinds of GPU work, for nobody marked any */
	int64_t horizon;
	uint32_t n_names;
	bool steps;
	uint32_t step_name;
	size_t n_steps; /* after merging; with the beginning of the first one where it is known */
	bool opened;    /* … which step_end[0] is then */
	int64_t *step_end;
	size_t warmup;
	int64_t window_start, window_end;
	struct oracle_device *devices; /* as trace.devices */
};

/* `step`: name of the step range, NULL: found by the rules of section 2. `warmup`: leading steps left out, >= 1. */
void oracle_run(const struct trace *trace, const char *step, size_t warmup, struct arena *arena, struct oracle *out);

static inline int64_t *oracle_row(const struct oracle *o, const struct oracle_device *d, uint32_t cause, uint32_t phase,
                                  uint32_t opened)
{
	return &d->row[((size_t)cause * o->n_names + phase) * OPENED_COUNT + opened];
}

#endif
