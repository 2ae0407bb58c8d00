#include "base/numbers.h"
#include "read/digest.h"
#include "read/digest_inside.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Whoever gives a trace something new gives it to digests too (here, in decode_things.c, and in
 * docs/reference/digest.md), or what is said of them is no longer what is said of their profiles. Columns are looked
 * after by test_digest. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(struct trace) == 1464, "something new in struct trace");
_Static_assert(sizeof(struct trace_source) == 192, "something new in struct trace_source");
_Static_assert(sizeof(struct trace_process) == 24, "something new in struct trace_process");
_Static_assert(sizeof(struct trace_thread) == 16, "something new in struct trace_thread");
_Static_assert(sizeof(struct trace_device) == 128, "something new in struct trace_device");
_Static_assert(sizeof(struct trace_gpu) == 40, "something new in struct trace_gpu");
_Static_assert(sizeof(struct trace_gpu_sample) == 48, "something new in struct trace_gpu_sample");
_Static_assert(sizeof(struct trace_metrics) == 96, "something new in struct trace_metrics");
_Static_assert(sizeof(struct trace_stopwatch) == 64, "something new in struct trace_stopwatch");
#endif

struct encoder {
	const struct trace *trace;
	struct buf *to;
	struct buf section;
	struct arena scratch;
	uint32_t *name; /* by id: its number in the digest */
	int64_t *last;
};

uint32_t digest_checksum(const void *bytes, size_t n)
{
	uint32_t sum = (uint32_t)crc32(0, NULL, 0);
	for (const unsigned char *at = bytes; n;) {
		uInt piece = n > 1u << 30 ? 1u << 30 : (uInt)n;
		sum = (uint32_t)crc32(sum, at, piece);
		at += piece;
		n -= piece;
	}
	return sum;
}

/* ---- parts ---- */

static void put_signed(struct buf *to, int64_t v)
{
	number_put(to, number_fold(v));
}

/* Writes the section and empties it; nothing where it holds nothing. */
static void end_section(struct encoder *e, const char *name)
{
	if (e->section.n) {
		number_put_text(e->to, name);
		number_put(e->to, e->section.n);
		buf_add(e->to, e->section.data, e->section.n);
	}
	buf_release(&e->section);
}

static void put_fact(struct encoder *e, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	number_put_text(&e->section, name);
	number_put_text(&e->section, value);
}

static void put_number(struct encoder *e, const char *name, int64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, value);
	put_fact(e, name, text);
}

/* ---- names ---- */

static void use(struct encoder *e, enum columns_of rows, enum column_role role)
{
	const struct columns *all = &COLUMNS[rows];
	size_t n = *columns_rows((struct trace *)e->trace, rows);
	for (size_t c = 0; c < all->n; c++) {
		const uint32_t *id = all->column[c].role == role && all->column[c].origin != COLUMN_REQUESTED
		                             ? columns_get(e->trace, rows, &all->column[c])
		                             : NULL;
		for (size_t i = 0; id && i < n; i++)
			e->name[id[i]] = 1;
	}
}

/* Names that rows use, in the order of their ids: the first one is 1, and 0 is none. */
static void put_names(struct encoder *e)
{
	const struct trace *t = e->trace;
	e->name = ARENA_NEW(&e->scratch, t->names->n, uint32_t);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		use(e, rows, COLUMN_NAME);
		use(e, rows, COLUMN_DOMAIN);
	}
	for (uint32_t i = 0; i < t->n_processes; i++)
		e->name[t->processes[i].name] = 1;
	for (uint32_t i = 0; i < t->n_threads; i++)
		e->name[t->threads[i].name] = 1;
	for (uint32_t i = 0; i < t->n_gpus; i++)
		e->name[t->gpus[i].name] = 1;
	for (uint32_t i = 0; i < t->n_devices; i++)
		for (int k = 0; k < HELD_BYS * HELD_MOST; k++)
			e->name[t->devices[i].held[k / HELD_MOST][k % HELD_MOST].name] = 1;
	for (uint32_t i = 0; i < t->n_diagnostics; i++)
		e->name[t->diagnostics[i].text] = 1;
	e->name[0] = 0;
	for (uint32_t id = 1, n = 0; id < t->names->n; id++)
		if (e->name[id]) {
			e->name[id] = ++n;
			number_put_text(&e->section, names_text(t->names, id));
		}
	end_section(e, "names");
}

/* ---- what is not a row ---- */

static void put_source(struct encoder *e)
{
	static const char *const kinds[] = {
		[SOURCE_NSYS_SQLITE] = "nsys", [SOURCE_GAPLINE] = "gapline", [SOURCE_KINETO] = "kineto"};
	static const char *const graphs[] = {[GRAPHS_NONE] = "", [GRAPHS_WHOLE] = "whole", [GRAPHS_BY_NODE] = "node"};
	const struct trace_source *s = &e->trace->source;
	char text[24];
	put_fact(e, "kind", kinds[s->kind]);
	put_fact(e, "collector", s->collector);
	put_fact(e, "exporter", s->exporter);
	put_fact(e, "schema", s->schema);
	put_fact(e, "driver", s->driver);
	put_fact(e, "cuda_driver", s->cuda_driver);
	put_fact(e, "captured_by", s->captured_by);
	put_fact(e, "cupti", s->cupti);
	put_fact(e, "traced", s->traced);
	put_fact(e, "sampled_by", s->sampled_by);
	put_fact(e, "incomplete", s->incomplete);
	put_fact(e, "graphs", graphs[s->graphs]);
	put_fact(e, "has_calls", s->has_calls ? "1" : "");
	put_fact(e, "has_ranges", s->has_ranges ? "1" : "");
	put_fact(e, "has_os_calls", s->has_os_calls ? "1" : "");
	put_fact(e, "has_overheads", s->has_overheads ? "1" : "");
	put_fact(e, "has_lock", s->has_lock ? "1" : "");
	if (s->lost)
		put_number(e, "lost", s->lost);
	if (s->lost_events)
		put_number(e, "lost_events", s->lost_events);
	if (s->sample_ns)
		put_number(e, "sample_ns", s->sample_ns);
	if (s->samples_torn)
		put_number(e, "samples_torn", s->samples_torn);
	if (s->others)
		put_number(e, "others", s->others);
	if (s->ranges_ns)
		put_number(e, "ranges_ns", s->ranges_ns);
	if (s->started != TRACE_NO_TIME)
		put_number(e, "started", s->started);
	if (s->began != TRACE_NO_TIME)
		put_number(e, "began", s->began);
	if (s->rank >= 0)
		put_number(e, "rank", s->rank);
	if (s->ranks >= 0)
		put_number(e, "ranks", s->ranks);
	snprintf(text, sizeof text, "%" PRIx64, s->host);
	put_fact(e, "host", s->host ? text : "");
	snprintf(text, sizeof text, "%" PRIx64, s->job);
	put_fact(e, "job", s->job ? text : "");
	put_number(e, "last_range_time", e->trace->ranges.last_time);
	end_section(e, "source");
}

static void put_things(struct encoder *e)
{
	const struct trace *t = e->trace;
	struct buf *to = &e->section;
	for (uint32_t i = 0; i < t->n_processes; i++) {
		put_signed(to, t->processes[i].pid);
		number_put(to, e->name[t->processes[i].name]);
		put_signed(to, t->processes[i].rank);
		number_put(to, t->processes[i].host);
	}
	end_section(e, "processes");
	for (uint32_t i = 0; i < t->n_threads; i++) {
		put_signed(to, t->threads[i].tid);
		number_put(to, t->threads[i].process);
		number_put(to, e->name[t->threads[i].name]);
	}
	end_section(e, "threads");
	for (uint32_t i = 0; i < t->n_gpus; i++) {
		number_put(to, e->name[t->gpus[i].name]);
		number_put(to, t->gpus[i].id);
		put_signed(to, t->gpus[i].memory_bytes);
		put_signed(to, t->gpus[i].clock_hz);
		put_signed(to, t->gpus[i].sm_count);
	}
	end_section(e, "gpus");
	for (uint32_t i = 0; i < t->n_devices; i++) {
		number_put(to, t->devices[i].process);
		number_put(to, t->devices[i].ordinal);
		number_put(to, t->devices[i].gpu == TRACE_NONE ? 0 : (uint64_t)t->devices[i].gpu + 1);
	}
	end_section(e, "devices");
	bool any = false;
	for (uint32_t i = 0; i < t->n_devices; i++)
		any = any || t->devices[i].memory != MEMORY_NOT_SEEN;
	for (uint32_t i = 0; any && i < t->n_devices; i++) {
		number_put(to, t->devices[i].memory);
		put_signed(to, t->devices[i].memory_peak);
	}
	end_section(e, "memory");
	for (int by = 0; by < HELD_BYS; by++) {
		for (uint32_t i = 0; i < HELD_MOST * t->n_devices; i++) {
			const struct trace_held *held = &t->devices[i / HELD_MOST].held[by][i % HELD_MOST];
			if (!held->bytes)
				continue;
			number_put(to, i / HELD_MOST);
			number_put(to, e->name[held->name]);
			put_signed(to, held->bytes);
		}
		end_section(e, DIGEST_HELD[by]);
	}
}

static void put_samples(struct encoder *e)
{
	struct buf *to = &e->section;
	for (size_t i = 0; i < e->trace->n_gpu_samples; i++) {
		const struct trace_gpu_sample *s = &e->trace->gpu_samples[i];
		int64_t before = i && s[-1].gpu == s->gpu ? s[-1].time : 0;
		number_put(to, s->gpu);
		put_signed(to, (int64_t)((uint64_t)s->time - (uint64_t)before));
		put_signed(to, s->sm_mhz);
		put_signed(to, s->memory_mhz);
		put_signed(to, s->power_mw);
		put_signed(to, s->temperature_c);
		put_signed(to, s->busy_percent);
		number_put(to, s->has_limits);
		number_put(to, s->limits);
	}
	end_section(e, "gpu_samples");
}

/* By enum metric. */
const char *const DIGEST_METRICS[METRIC_COUNT] = {
	[METRIC_SM_ACTIVE] = "metrics.sm_active",   [METRIC_SM_ISSUE] = "metrics.sm_issue",
	[METRIC_TENSOR] = "metrics.tensor",         [METRIC_DRAM_READ] = "metrics.dram_read",
	[METRIC_DRAM_WRITE] = "metrics.dram_write", [METRIC_PCIE_IN] = "metrics.pcie_in",
	[METRIC_PCIE_OUT] = "metrics.pcie_out",     [METRIC_NVLINK_IN] = "metrics.nvlink_in",
	[METRIC_NVLINK_OUT] = "metrics.nvlink_out",
};

/* By enum held_by. */
const char *const DIGEST_HELD[HELD_BYS] = {"memory.held", "memory.operators"};

/* Samples are about as far from each other as the two before. */
static void put_metrics(struct encoder *e)
{
	const struct trace *t = e->trace;
	for (uint32_t i = 0; i < t->n_metrics; i++) {
		number_put(&e->section, t->metrics[i].gpu == TRACE_NONE ? 0 : (uint64_t)t->metrics[i].gpu + 1);
		number_put(&e->section, t->metrics[i].n);
	}
	end_section(e, "metrics");
	for (uint32_t i = 0; i < t->n_metrics; i++)
		for (size_t k = 0, gap = 0, before = 0; k < t->metrics[i].n; k++) {
			uint64_t time = (uint64_t)t->metrics[i].time[k], own = time - before;
			put_signed(&e->section, (int64_t)(own - gap));
			gap = own;
			before = time;
		}
	end_section(e, "metrics.time");
	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		bool any = false;
		for (uint32_t i = 0; i < t->n_metrics; i++)
			any = any || t->metrics[i].value[metric];
		for (uint32_t i = 0; any && i < t->n_metrics; i++)
			for (size_t k = 0; k < t->metrics[i].n; k++) {
				const uint8_t *value = t->metrics[i].value[metric];
				number_put(&e->section, value ? value[k] : METRIC_NOT_SAMPLED);
			}
		end_section(e, DIGEST_METRICS[metric]);
	}
}

static void put_stopwatch(struct encoder *e)
{
	struct buf *to = &e->section;
	for (uint32_t i = 0; i < e->trace->n_stopwatch; i++) {
		const struct trace_stopwatch *s = &e->trace->stopwatch[i];
		put_signed(to, s->start);
		put_signed(to, s->time);
		put_signed(to, s->process);
		number_put(to, s->steps);
		number_put(to, s->launches);
		number_put_text(to, s->step ? s->step : "");
		number_put_text(to, s->unused ? s->unused : "");
	}
	end_section(e, "stopwatch");
	for (uint32_t i = 0; i < e->trace->n_stopwatch; i++)
		number_put(to, e->trace->stopwatch[i].looked);
	if (e->trace->n_stopwatch)
		end_section(e, "stopwatch.looked");
	for (uint32_t i = 0; i < e->trace->n_stopwatch; i++)
		put_signed(to, e->trace->stopwatch[i].energy);
	if (e->trace->n_stopwatch)
		end_section(e, "stopwatch.energy");
}

/* What was read and dropped, by kind: in words, because the kinds may be others one day. */
static void put_counts(struct encoder *e)
{
	const struct trace *t = e->trace;
	struct buf *to = &e->section;
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		if (!t->rows[kind].read && !t->rows[kind].dropped)
			continue;
		number_put_text(to, row_kind_name((enum row_kind)kind));
		put_signed(to, t->rows[kind].read);
		put_signed(to, t->rows[kind].dropped);
	}
	end_section(e, "rows");
	for (uint32_t i = 0; i < t->n_dropped; i++) {
		number_put_text(to, row_kind_name(t->dropped[i].kind));
		number_put_text(to, t->dropped[i].where);
		number_put_text(to, t->dropped[i].reason);
		put_signed(to, t->dropped[i].rows);
	}
	end_section(e, "dropped");
	for (uint32_t i = 0; i < t->n_diagnostics; i++) {
		put_signed(to, t->diagnostics[i].severity);
		number_put(to, e->name[t->diagnostics[i].text]);
	}
	end_section(e, "diagnostics");
}

/* ---- rows ---- */

static void put_column(struct encoder *e, enum columns_of rows, const struct column *column)
{
	size_t n = *columns_rows((struct trace *)e->trace, rows);
	const void *values = columns_get(e->trace, rows, column);
	if (!column->kept || (n && !values)) /* a column that only some traces have */
		return;
	bool name = column->role == COLUMN_NAME || column->role == COLUMN_DOMAIN;
	struct layout_guess guess;
	memset(e->last, 0, LAYOUT_PLACES * sizeof *e->last);
	layout_guess_begin(&guess, e->trace, rows, column->how, e->name, e->last);
	for (size_t i = 0; i < n; i++) {
		int64_t value = layout_get(values, column->size, i), *last = layout_guess_last(&guess, i);
		value = name ? e->name[value] : value;
		if (!last) {
			number_put(&e->section, (uint64_t)value);
			continue;
		}
		int64_t rest = (int64_t)((uint64_t)value - (uint64_t)layout_guess_base(&guess, i));
		put_signed(&e->section, (int64_t)((uint64_t)rest - (uint64_t)*last));
		*last = rest;
	}
	end_section(e, column->kept);
}

void digest_encode(const struct trace *trace, struct buf *to)
{
	struct encoder e = {.trace = trace, .to = to};
	size_t before = to->n;
	e.last = ARENA_NEW(&e.scratch, LAYOUT_PLACES, int64_t);
	buf_format(to, "%s%d\n", LAYOUT_MAGIC, DIGEST_VERSION);
	put_source(&e);
	put_names(&e);
	put_things(&e);
	put_samples(&e);
	put_metrics(&e);
	put_stopwatch(&e);
	put_counts(&e);
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		for (size_t c = 0; c < COLUMNS[rows].n; c++)
			put_column(&e, rows, &COLUMNS[rows].column[c]);
	uint32_t sum = digest_checksum(to->data + before, to->n - before);
	const unsigned char bytes[4] = {(unsigned char)sum, (unsigned char)(sum >> 8), (unsigned char)(sum >> 16),
	                                (unsigned char)(sum >> 24)};
	buf_add(&e.section, (const char *)bytes, sizeof bytes);
	end_section(&e, "end");
	arena_release(&e.scratch);
}
