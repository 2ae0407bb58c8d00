/* What gapline noted about a capture, beside the tables of nsys's layout (capture/annotate.h): how it was captured, and
 * samples of the GPUs. Profiles from elsewhere have none of these tables. */
#include "base/list.h"
#include "base/sort.h"
#include "read/nsys.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SAMPLED_MAX = 64 }; /* GPUs */

/* ---- how it was captured ---- */

static const char *harmless(struct nsys *r, const char *text, size_t n)
{
	return names_text(r->names, names_add(r->names, text, n));
}

void nsys_note_collector(struct nsys *r, const char *collector)
{
	/* What gapline captured through nsys is nsys's: it can be compared with any other profile of nsys. */
	if (strcmp(collector, "nsys") == 0)
		return;
	r->own_collector = true;
	r->trace->source.kind = SOURCE_GAPLINE;
	r->trace->source.collector = arena_format(r->arena, "gapline-%s", collector);
}

void nsys_note_graph_mode(struct nsys *r, const char *mode)
{
	if (strcasecmp(mode, "graph") == 0)
		build_graphs(&r->build, GRAPHS_WHOLE);
	else if (strcasecmp(mode, "node") == 0)
		build_graphs(&r->build, GRAPHS_BY_NODE);
}

/* More than --sample-every takes is none that gapline wrote. */
static int64_t sample_distance(const char *value)
{
	const int64_t most = INT64_C(1000) * 1000 * 1000 * 1000;
	int64_t ns = strtoll(value, NULL, 10);
	return ns <= most ? ns : 0;
}

/* A count of records; no file holds as many as would make sums of them too large. */
static int64_t record_count(const char *value)
{
	const int64_t most = INT64_C(1) << 53;
	int64_t n = strtoll(value, NULL, 10);
	return n < most ? n : most;
}

static int64_t any_number(const char *value)
{
	return strtoll(value, NULL, 10);
}

static void read_note(struct nsys *r, const struct scan_option *note)
{
	struct trace_source *source = &r->trace->source;
	const char *name = note->name, *value = note->value;
	const struct {
		const char *name, **to;
	} texts[] = {{"gapline", &source->captured_by},
	             {"cupti", &source->cupti},
	             {"trace", &source->traced},
	             {"gpu_state", &source->sampled_by}};
	const struct {
		const char *name;
		int64_t *to;
		int64_t (*read)(const char *value);
	} numbers[] = {{"dropped", &source->lost, record_count},
	               {"dropped_events", &source->lost_events, record_count},
	               {"sample_ns", &source->sample_ns, sample_distance},
	               {"samples_torn", &source->samples_torn, any_number},
	               {"ranges_ns", &source->ranges_ns, any_number}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strcmp(name, texts[i].name) == 0)
			*texts[i].to = harmless(r, value, note->n);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(name, numbers[i].name) == 0 && isdigit((unsigned char)*value))
			*numbers[i].to = numbers[i].read(value);
	if (strcmp(name, "collector") == 0)
		nsys_note_collector(r, harmless(r, value, note->n));
	else if (strcmp(name, "graphs") == 0)
		nsys_note_graph_mode(r, value);
	else if (strcmp(name, "complete") == 0)
		source->incomplete = strcmp(value, "yes") == 0 ? "" : harmless(r, value, note->n);
	else if (strcmp(name, "launcher") == 0)
		r->launcher = any_number(value);
	else if (strcmp(name, "begins") == 0 && strcmp(value, "program") == 0)
		source->began = 0;
}

int nsys_read_notes(struct nsys *r)
{
	struct scan s;
	struct scan_option o;
	scan_open_options(&s, &r->db, "GAPLINE_CAPTURE");
	while (scan_option(&s, &o))
		read_note(r, &o);
	return scan_close(&s);
}

/* ---- which GPU is which ---- */

struct sampled {
	int64_t number[SAMPLED_MAX]; /* as the samples count */
	uint32_t gpu[SAMPLED_MAX];   /* index into trace.gpus, or TRACE_NONE: one that the profile does not list */
	int64_t others[SAMPLED_MAX]; /* processes that used it; 0: none, or not known */
	uint32_t n;
};

/* "00000000:18:00.0" and "0000:18:00.0" are one place. */
static bool same_bus(const char *a, const char *b)
{
	unsigned x[3], y[3];
	return sscanf(a, "%8x:%2x:%2x", &x[0], &x[1], &x[2]) == 3 &&
	       sscanf(b, "%8x:%2x:%2x", &y[0], &y[1], &y[2]) == 3 && memcmp(x, y, sizeof x) == 0;
}

/* nsys writes UUIDs with and without their kind in front. */
static bool same_uuid(const char *a, const char *b)
{
	a += strncasecmp(a, "GPU-", 4) == 0 ? 4 : 0;
	b += strncasecmp(b, "GPU-", 4) == 0 ? 4 : 0;
	return *a && strcasecmp(a, b) == 0;
}

static uint32_t find_gpu(const struct nsys *r, const char *uuid, const char *bus)
{
	for (uint32_t i = 0; i < r->trace->n_gpus; i++)
		if (same_uuid(r->gpu_uuid[i], uuid) || same_bus(r->gpu_bus[i], bus))
			return i;
	return TRACE_NONE;
}

static bool is_used(const struct trace *t, uint32_t gpu)
{
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].gpu == gpu)
			return true;
	return false;
}

/* Somebody else's work delays the program's, and no row of the profile shows it. Of GPUs that the program used. */
static void note_others(struct nsys *r, uint32_t gpu, int64_t others)
{
	struct trace *t = r->trace;
	if (others > t->source.others)
		t->source.others = others;
	const char *name = names_text(r->names, t->gpus[gpu].name);
	const char *text =
		arena_format(r->arena,
	                     "%lld other process%s used the GPU (%s) when the program began; work of theirs is "
	                     "not in the profile, and delays the program's",
	                     (long long)others, others == 1 ? "" : "es", *name ? name : "model not known");
	LIST_PUT(r->arena, t->diagnostics, t->n_diagnostics,
	         (struct trace_diagnostic){.severity = 2, .text = names_add_text(r->names, text)});
}

static int read_sampled(struct nsys *r, struct sampled *sampled)
{
	enum { GPU, UUID, BUS, MAX_SM, OTHERS, N };
	static const char *const columns[] = {"gpu", "uuid", "bus", "max_sm_mhz", "others"};
	struct trace *t = r->trace;
	struct scan s;
	scan_open(&s, &r->db, "GAPLINE_GPU", columns, N);
	while (scan_row(&s) && sampled->n < SAMPLED_MAX) {
		size_t uuid_n, bus_n;
		int64_t number = scan_int(&s, GPU), most = scan_int_or(&s, MAX_SM, 0);
		int64_t others = scan_int_or(&s, OTHERS, 0);
		const char *uuid = scan_text(&s, UUID, &uuid_n), *bus = scan_text(&s, BUS, &bus_n);
		if (s.flaws)
			continue;
		uint32_t gpu = find_gpu(r, uuid ? uuid : "", bus ? bus : "");
		sampled->number[sampled->n] = number;
		sampled->others[sampled->n] = others < 100000 ? others : 0;
		sampled->gpu[sampled->n++] = gpu;
		if (gpu != TRACE_NONE && !t->gpus[gpu].clock_hz && most > 0 && most < 100000)
			t->gpus[gpu].clock_hz = most * 1000000;
	}
	for (uint32_t gpu = 0; gpu < t->n_gpus; gpu++)
		for (uint32_t i = 0; i < sampled->n; i++)
			if (sampled->gpu[i] == gpu && sampled->others[i] > 0 && is_used(t, gpu))
				note_others(r, gpu, sampled->others[i]);
	/* One here and one there, and neither says which: a part of a GPU (MIG) has a UUID of its own. */
	if (sampled->n == 1 && t->n_gpus == 1)
		sampled->gpu[0] = 0;
	return scan_close(&s);
}

/* ---- samples ---- */

/* A number as it can be, else unknown. */
static int32_t number(struct scan *s, int column, int64_t most)
{
	int64_t value = scan_int_or(s, column, -1);
	return value >= 0 && value <= most ? (int32_t)value : -1;
}

static int read_samples(struct nsys *r, const struct sampled *sampled)
{
	enum { TIME, GPU, SM, MEMORY, POWER, TEMPERATURE, BUSY, THROTTLE, N };
	static const char *const columns[] = {"time",     "gpu",           "sm_mhz",       "memory_mhz",
	                                      "power_mw", "temperature_c", "busy_percent", "throttle"};
	struct scan s;
	nsys_scan(r, &s, "GAPLINE_GPU_STATE", columns, N);
	while (scan_row(&s)) {
		int64_t time = scan_int(&s, TIME), gpu_number = scan_int(&s, GPU);
		struct trace_gpu_sample one = {.time = time,
		                               .sm_mhz = number(&s, SM, 100000),
		                               .memory_mhz = number(&s, MEMORY, 100000),
		                               .power_mw = number(&s, POWER, 100000000),
		                               .temperature_c = number(&s, TEMPERATURE, 1000),
		                               .busy_percent = number(&s, BUSY, 100)};
		uint64_t limits = (uint64_t)scan_int_or(&s, THROTTLE, 0);
		const char *flaw = nsys_value_flaw(&s);
		uint32_t i = 0;
		while (i < sampled->n && sampled->number[i] != gpu_number)
			i++;
		if (!flaw && (i == sampled->n || sampled->gpu[i] == TRACE_NONE))
			continue; /* a GPU that the program did not see */
		one.gpu = flaw ? 0 : sampled->gpu[i];
		one.has_limits = sqlite3_column_type(s.statement, THROTTLE) == SQLITE_INTEGER;
		one.limits = limits;
		build_sample(&r->build, &one, flaw);
	}
	build_order_samples(&r->build);
	return scan_close(&s);
}

int nsys_read_gapline(struct nsys *r)
{
	struct sampled sampled = {0};
	return read_sampled(r, &sampled) != 0 || read_samples(r, &sampled) != 0 ? -1 : 0;
}

/* Timed runs beside this one (capture/annotate.h). */

struct row {
	struct trace_stopwatch run;
	const char *flaw;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_rows(const void *a, const void *b)
{
	const struct trace_stopwatch *x = &((const struct row *)a)->run, *y = &((const struct row *)b)->run;
	return ASCENDING(x->start, y->start) ?: ASCENDING(x->time, y->time) ?: ASCENDING(x->process, y->process)
		?: ASCENDING(x->steps, y->steps) ?: ASCENDING(x->launches, y->launches)
		?: ASCENDING(x->looked, y->looked) ?: compare_texts(x->unused, y->unused)
		?: compare_texts(x->step, y->step);
}

/* A text of a row that is looked at when the scan is over. */
static const char *text_of(struct scan *s, int column, struct arena *arena)
{
	size_t n;
	const char *text = scan_text(s, column, &n);
	return text ? arena_copy(arena, text, n) : NULL;
}

/* What a GPU used in a run. */
struct energy_row {
	int64_t start, mj;
	uint32_t gpu;
};

static int read_energy(struct nsys *r, struct arena *arena, struct energy_row **rows, size_t *n)
{
	enum { START, UUID, MJ, N };
	static const char *const columns[] = {"start", "uuid", "mj"};
	struct scan s;
	size_t room = 0;
	scan_open(&s, &r->db, "GAPLINE_ENERGY", columns, N);
	while (scan_row(&s)) {
		const char *uuid = text_of(&s, UUID, arena);
		LIST_ADD(arena, *rows, *n, room,
		         (struct energy_row){scan_int_or(&s, START, 0), scan_int_or(&s, MJ, ENERGY_NO_COUNTER),
		                             uuid ? find_gpu(r, uuid, "") : TRACE_NONE});
	}
	return scan_close(&s);
}

/* Of the GPUs that the program uses, each counted once, whichever processes do; where one is not known, nothing is. */
static int64_t energy_of(const struct trace *t, int64_t start, const struct energy_row *rows, size_t n)
{
	int64_t sum = 0;
	for (uint32_t d = 0; d < t->n_devices && sum >= 0 && n; d++) {
		uint32_t gpu = t->devices[d].gpu, before = 0;
		int64_t mj = ENERGY_NO_COUNTER;
		while (before < d && t->devices[before].gpu != gpu)
			before++;
		for (size_t i = 0; i < n && gpu != TRACE_NONE; i++)
			if (rows[i].start == start && rows[i].gpu == gpu)
				mj = rows[i].mj > ENERGY_MOST || rows[i].mj <= -ENERGY_FLAWS ? ENERGY_NO_COUNTER
				                                                             : rows[i].mj;
		if (before == d)
			sum = mj > 0 ? sum + mj : mj < 0 ? mj : ENERGY_NO_COUNTER;
	}
	return sum;
}

int nsys_read_stopwatch(struct nsys *r)
{
	enum { START, TIME, STEPS, PROCESS, UNUSED, STEP, LAUNCHES, LOOKED, N };
	static const char *const columns[] = {"start",  "time", "steps",    "process",
	                                      "unused", "step", "launches", "looked"};
	struct scan s;
	nsys_scan(r, &s, "GAPLINE_STOPWATCH", columns, N);
	ARENA_LOCAL(scratch);
	struct row *rows = NULL;
	size_t n = 0, room = 0;
	while (scan_row(&s)) {
		int64_t steps = scan_int(&s, STEPS), launches = scan_int_or(&s, LAUNCHES, 0);
		const struct trace_stopwatch run = {
			.start = scan_int(&s, START),
			.time = scan_int_or(&s, TIME, 0),
			.process = scan_int(&s, PROCESS),
			.steps = (uint32_t)steps,
			.unused = text_of(&s, UNUSED, &scratch),
			.step = text_of(&s, STEP, &scratch),
			.launches = (uint32_t)launches,
			.looked = scan_int_or(&s, LOOKED, 0) != 0,
		};
		const char *flaw = nsys_value_flaw(&s);
		if (!flaw && (steps != run.steps || launches != run.launches))
			flaw = "has a number of steps or launches that makes no sense";
		LIST_ADD(&scratch, rows, n, room, (struct row){run, flaw});
	}
	SORT(rows, n, compare_rows);
	struct energy_row *energy = NULL;
	size_t n_energy = 0;
	int rc = scan_close(&s);
	if (rc == 0 && n)
		rc = read_energy(r, &scratch, &energy, &n_energy);
	for (size_t i = 0; i < n && rc == 0; i++) {
		rows[i].run.energy = rows[i].run.unused ? 0 : energy_of(r->trace, rows[i].run.start, energy, n_energy);
		build_stopwatch(&r->build, &rows[i].run, rows[i].flaw);
	}
	return rc;
}
