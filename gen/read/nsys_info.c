#include "base/list.h"
#include "base/sort.h"
#include "read/nsys.h"
#include "read/scrub_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { GPUS_MAX = 1024, DIAGNOSTICS_MAX = 100 };

/* A text of the profile, made harmless; "" for none. */
static const char *harmless(struct nsys *r, const char *text, size_t n)
{
	return text ? names_text(r->names, names_add(r->names, text, n)) : "";
}

/* ---- versions and options ---- */

static int read_export(struct nsys *r)
{
	static const char *const tables[] = {"META_DATA_EXPORT", "EXPORT_META_DATA"}; /* since, and until, 2023.2 */
	const char *product = "NVIDIA Nsight Systems", *version = "";
	for (int i = 0; i < 2; i++) {
		struct scan s;
		struct scan_option o;
		scan_open_options(&s, &r->db, tables[i]);
		while (scan_option(&s, &o)) {
			if (strcmp(o.name, "EXPORT_PRODUCT_NAME") == 0)
				product = harmless(r, o.value, o.n);
			else if (strcmp(o.name, "EXPORT_PRODUCT_VERSION") == 0)
				version = harmless(r, o.value, o.n);
			else if (strcmp(o.name, "EXPORT_SCHEMA_VERSION") == 0)
				r->trace->source.schema = harmless(r, o.value, o.n);
		}
		if (scan_close(&s) != 0)
			return -1;
	}
	r->trace->source.exporter = *version ? arena_format(r->arena, "%s %s", product, version) : product;
	if (strcmp(product, "gapline") == 0)
		nsys_note_collector(r, "cupti");
	return 0;
}

/* Only the option for graphs: other rows of this table name users, folders and environment variables. */
static int read_capture(struct nsys *r)
{
	struct scan s;
	struct scan_option o;
	scan_open_options(&s, &r->db, "META_DATA_CAPTURE");
	while (scan_option(&s, &o))
		if (strcmp(o.name, "CUDA_GRAPH_TRACE_OPTIONS:MODE") == 0)
			nsys_note_graph_mode(r, o.value);
	return scan_close(&s);
}

/* Exporters before about 2024.6 write 525.105.17 as 52510517: three digits, the middle, two digits. */
static const char *driver_version(struct nsys *r, const char *text)
{
	size_t n = strlen(text);
	if ((n != 7 && n != 8) || strspn(text, "0123456789") != n)
		return text;
	return arena_format(r->arena, "%.3s.%.*s.%s", text, (int)n - 5, text + 3, text + n - 2);
}

/* The driver's CUDA version as a number, 12040, becomes 12.4. */
static const char *cuda_version(struct nsys *r, const char *text)
{
	size_t n = strlen(text);
	if (n < 4 || n > 6 || strspn(text, "0123456789") != n)
		return text;
	int number = atoi(text);
	return arena_format(r->arena, "%d.%d", number / 1000, number % 1000 / 10);
}

/* Two rows by name; the others hold host names and the whole environment. */
static int read_system(struct nsys *r)
{
	struct scan s;
	struct scan_option o;
	scan_open_options(&s, &r->db, "TARGET_INFO_SYSTEM_ENV");
	while (scan_option(&s, &o)) {
		bool driver = strcmp(o.name, "NvDriverVersion") == 0;
		if (!driver && strcmp(o.name, "CudaDriverVersion") != 0)
			continue;
		const char *text = harmless(r, o.value, o.n);
		const char **known = driver ? &r->trace->source.driver : &r->trace->source.cuda_driver;
		text = driver ? driver_version(r, text) : cuda_version(r, text);
		if (strcmp(text, *known) > 0) /* of several the last in the alphabet */
			*known = text;
	}
	return scan_close(&s);
}

int nsys_read_source(struct nsys *r)
{
	return read_export(r) != 0 || read_capture(r) != 0 || nsys_read_notes(r) != 0 || read_system(r) != 0 ? -1 : 0;
}

/* The last part of a path of either style. */
static const char *base_name(const char *path, size_t *n)
{
	const char *base = path;
	for (size_t i = 0; i < *n; i++)
		if ((path[i] == '/' || path[i] == '\\') && i + 1 < *n)
			base = path + i + 1;
	*n -= (size_t)(base - path);
	return base;
}

/* The table lists every process of the system; only those with events count. */
int nsys_read_processes(struct nsys *r)
{
	enum { GLOBAL, PID, NAME, N };
	static const char *const columns[] = {"globalPid", "pid", "name"};
	struct trace *t = r->trace;
	struct scan s;
	scan_open(&s, &r->db, "PROCESSES", columns, N);
	while (scan_row(&s)) {
		int64_t global = scan_int(&s, GLOBAL), pid = scan_int_or(&s, PID, -1);
		size_t n;
		const char *name = scan_text(&s, NAME, &n);
		if (s.flaws)
			continue;
		uint32_t i = build_find_process(&r->build, (uint64_t)global);
		if (i == TRACE_NONE)
			continue;
		if (pid >= 0)
			t->processes[i].pid = pid;
		if (!name)
			continue;
		name = base_name(name, &n);
		uint32_t id = names_add(r->names, name, n), *known = &t->processes[i].name;
		if (strcmp(names_text(r->names, id), names_text(r->names, *known)) > 0)
			*known = id; /* of several the last in the alphabet: the order of rows decides nothing */
	}
	return scan_close(&s);
}

/* ---- GPUs ---- */

struct gpu_row {
	struct trace_gpu gpu;
	int64_t id, cuda_device; /* -1: not stated */
	const char *uuid, *bus;
	bool cuda; /* a GPU that CUDA can use, not a display adapter */
};

static int64_t positive(int64_t value)
{
	return value > 0 ? value : 0;
}

SORT_ORDER(compare_gpus, struct gpu_row, ASCENDING(x->id, y->id) ?: strcmp(x->uuid, y->uuid) ?: strcmp(x->bus, y->bus))

static int read_gpu_rows(struct nsys *r, struct gpu_row **rows)
{
	enum { ID, NAME, BUS, MEMORY, CLOCK, SMS, UUID, CUDA_DEVICE, N };
	static const char *const columns[] = {"id|deviceId", "name",    "busLocation", "totalMemory",
	                                      "clockRate",   "smCount", "uuid",        "cuDevice"};
	struct trace *t = r->trace;
	struct scan s;
	scan_open(&s, &r->db, "TARGET_INFO_GPU", columns, N);
	uint32_t room = 0;
	while (scan_row(&s) && t->n_gpus < GPUS_MAX) {
		size_t n, uuid_n, bus_n;
		int64_t id = scan_int_or(&s, ID, -1), memory = scan_int_or(&s, MEMORY, 0);
		int64_t clock = scan_int_or(&s, CLOCK, 0), sms = scan_int_or(&s, SMS, 0);
		int64_t cuda_device = scan_int_or(&s, CUDA_DEVICE, -1);
		const char *name = scan_text(&s, NAME, &n), *uuid = scan_text(&s, UUID, &uuid_n);
		const char *bus = scan_text(&s, BUS, &bus_n);
		if (t->n_gpus == room) {
			uint32_t old = room;
			room = (uint32_t)list_more(room);
			t->gpus = arena_grow(r->arena, t->gpus, old, room, sizeof *t->gpus);
			*rows = arena_grow(r->arena, *rows, old, room, sizeof **rows);
		}
		(*rows)[t->n_gpus++] = (struct gpu_row){.gpu = {.name = name ? names_add(r->names, name, n) : 0,
		                                                .memory_bytes = positive(memory),
		                                                .clock_hz = positive(clock),
		                                                .sm_count = positive(sms)},
		                                        .id = id,
		                                        .cuda_device = cuda_device,
		                                        .uuid = uuid ? arena_copy(r->arena, uuid, uuid_n) : "",
		                                        .bus = bus ? arena_copy(r->arena, bus, bus_n) : "",
		                                        .cuda = !s.has[SMS] || sms > 0};
	}
	SORT(*rows, t->n_gpus, compare_gpus);
	for (uint32_t i = 0; i < t->n_gpus; i++)
		t->gpus[i] = (*rows)[i].gpu;
	return scan_close(&s);
}

static uint32_t gpu_by_id(const struct nsys *r, const struct gpu_row *rows, int64_t id, const char *uuid)
{
	for (uint32_t i = 0; i < r->trace->n_gpus; i++)
		if (id >= 0 && rows[i].id == id)
			return i;
	for (uint32_t i = 0; i < r->trace->n_gpus; i++)
		if (*uuid && strcasecmp(rows[i].uuid, uuid) == 0)
			return i;
	return TRACE_NONE;
}

/* Gives the GPU to the device that process `pid` counts as `ordinal`. */
static void assign(struct nsys *r, int64_t pid, int64_t ordinal, uint32_t gpu)
{
	struct trace *t = r->trace;
	for (uint32_t d = 0; d < t->n_devices; d++)
		if (t->devices[d].ordinal == ordinal && t->processes[t->devices[d].process].pid == pid)
			t->devices[d].gpu = gpu < t->devices[d].gpu ? gpu : t->devices[d].gpu;
}

/* Since 2025 a table says which GPU a process's ordinal is. */
static int map_cuda_devices(struct nsys *r, const struct gpu_row *rows)
{
	enum { GPU, ORDINAL, PID, UUID, N };
	static const char *const columns[] = {"gpuId", "cudaId", "pid", "uuid"};
	struct scan s;
	scan_open(&s, &r->db, "TARGET_INFO_CUDA_DEVICE", columns, N);
	while (scan_row(&s)) {
		int64_t id = scan_int_or(&s, GPU, -1), ordinal = scan_int(&s, ORDINAL), pid = scan_int(&s, PID);
		size_t n;
		const char *uuid = scan_text(&s, UUID, &n);
		uint32_t gpu = s.flaws ? TRACE_NONE : gpu_by_id(r, rows, id, uuid ? uuid : "");
		if (gpu != TRACE_NONE)
			assign(r, pid, ordinal, gpu);
	}
	return scan_close(&s);
}

/* In 2020 TARGET_INFO_GPU had names only; a second table has a row for each process and device. */
static int map_cuda_gpus(struct nsys *r, const struct gpu_row *rows)
{
	enum { ORDINAL, PID, BUS, NAME, MEMORY, CLOCK, SMS, N };
	static const char *const columns[] = {"deviceId",         "pid",           "pciBusId",          "name",
	                                      "globalMemorySize", "coreClockRate", "numMultiprocessors"};
	struct trace *t = r->trace;
	struct scan s;
	scan_open(&s, &r->db, "TARGET_INFO_CUDA_GPU", columns, N);
	while (scan_row(&s)) {
		int64_t ordinal = scan_int(&s, ORDINAL), pid = scan_int_or(&s, PID, -1);
		int64_t memory = scan_int_or(&s, MEMORY, 0), clock = scan_int_or(&s, CLOCK, 0);
		int64_t sms = scan_int_or(&s, SMS, 0);
		size_t n, bus_n;
		const char *bus = scan_text(&s, BUS, &bus_n), *name = scan_text(&s, NAME, &n);
		if (s.flaws)
			continue;
		uint32_t gpu = TRACE_NONE, alike = 0, by_name = TRACE_NONE;
		for (uint32_t i = 0; i < t->n_gpus; i++) {
			if (bus && *bus && strcasecmp(rows[i].bus, bus) == 0)
				gpu = i;
			if (name && t->gpus[i].name == names_add(r->names, name, n)) {
				by_name = i;
				alike++;
			}
		}
		if (gpu == TRACE_NONE && alike == 1)
			gpu = by_name;
		if (gpu == TRACE_NONE)
			continue;
		struct trace_gpu *g = &t->gpus[gpu];
		g->memory_bytes = g->memory_bytes ? g->memory_bytes : positive(memory);
		g->sm_count = g->sm_count ? g->sm_count : positive(sms);
		if (!g->clock_hz && clock > 0) /* in kHz, as CUDA's device properties state it, or Hz */
			g->clock_hz = clock < 10000000 ? clock * 1000 : clock;
		if (pid >= 0)
			assign(r, pid, ordinal, gpu);
	}
	return scan_close(&s);
}

/* The GPU that CUDA counts so, as far as the rows say it. */
static uint32_t gpu_by_ordinal(const struct gpu_row *rows, uint32_t n, int64_t ordinal)
{
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].cuda && rows[i].cuda_device == ordinal)
			return i;
	for (uint32_t i = 0; i < n; i++)
		if (rows[i].cuda && rows[i].cuda_device < 0 && rows[i].id == ordinal)
			return i;
	return TRACE_NONE;
}

/* Without a table: the only GPU is the one. Several: their CUDA number fits as long as one process uses them; with
 * several processes each may count from 0 (CUDA_VISIBLE_DEVICES), and a guess could make two ranks share a GPU that
 * they do not share. */
static void assign_others(struct trace *t, const struct gpu_row *rows)
{
	uint32_t usable = 0, only = TRACE_NONE;
	for (uint32_t i = 0; i < t->n_gpus; i++) {
		usable += rows[i].cuda;
		only = rows[i].cuda ? i : only;
	}
	bool one_process = true;
	for (uint32_t d = 1; d < t->n_devices; d++)
		one_process = one_process && t->devices[d].process == t->devices[0].process;
	for (uint32_t d = 0; d < t->n_devices; d++) {
		struct trace_device *device = &t->devices[d];
		if (device->gpu == TRACE_NONE && usable == 1)
			device->gpu = only;
		else if (device->gpu == TRACE_NONE && one_process)
			device->gpu = gpu_by_ordinal(rows, t->n_gpus, device->ordinal);
	}
}

int nsys_read_gpus(struct nsys *r)
{
	struct trace *t = r->trace;
	struct gpu_row *rows = NULL;
	if (read_gpu_rows(r, &rows) != 0 || map_cuda_devices(r, rows) != 0 || map_cuda_gpus(r, rows) != 0)
		return -1;
	r->gpu_uuid = ARENA_NEW(r->arena, t->n_gpus, const char *);
	r->gpu_bus = ARENA_NEW(r->arena, t->n_gpus, const char *);
	r->gpu_number = ARENA_NEW(r->arena, t->n_gpus, int64_t);
	for (uint32_t i = 0; i < t->n_gpus; i++) {
		r->gpu_uuid[i] = rows[i].uuid;
		r->gpu_bus[i] = rows[i].bus;
		r->gpu_number[i] = rows[i].id;
		t->gpus[i].id = nsys_gpu_id(r, rows[i].uuid, rows[i].bus);
	}
	assign_others(t, rows);
	return 0;
}

/* ---- diagnostics ---- */

/* A copy in which every word with a slash or backslash in it is cut to its last part: folders name users. */
static char *without_paths(struct nsys *r, const char *text, size_t n, size_t *out_n)
{
	char *copy = ARENA_NEW(r->arena, n + 1, char);
	size_t used = 0;
	for (size_t i = 0; i < n;) {
		size_t end = i;
		while (end < n && text[end] && !scrub_path_stops(text[end]))
			end++;
		size_t length = end - i;
		const char *word = base_name(text + i, &length);
		memcpy(copy + used, word, length);
		used += length;
		if (end < n)
			copy[used++] = text[end++];
		i = end;
	}
	*out_n = used;
	return copy;
}

struct message {
	int64_t time;
	struct trace_diagnostic said;
};

static bool comes_before(const struct names *names, const struct message *a, const struct message *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	int order = strcmp(names_text(names, a->said.text), names_text(names, b->said.text));
	return order ? order < 0 : a->said.severity > b->said.severity;
}

/* Keeps the first of them, in the order of time, and of a text the first. Returns how many there are now. */
static uint32_t insert_message(const struct names *names, struct message *list, uint32_t n, const struct message *one)
{
	uint32_t same = 0, at = n;
	while (same < n && list[same].said.text != one->said.text)
		same++;
	if (same < n && !comes_before(names, one, &list[same]))
		return n;
	if (same < n)
		memmove(list + same, list + same + 1, (--n - same) * sizeof *list);
	for (at = n; at > 0 && comes_before(names, one, &list[at - 1]); at--)
		list[at] = list[at - 1];
	list[at] = *one;
	return n < DIAGNOSTICS_MAX ? n + 1 : n;
}

int nsys_read_diagnostics(struct nsys *r)
{
	enum { SEVERITY, TEXT, PROCESS, TIME, N };
	static const char *const columns[] = {"severity", "text", "globalPid", "timestamp"};
	struct trace *t = r->trace;
	struct message list[DIAGNOSTICS_MAX + 1];
	uint32_t n_list = 0;
	struct scan s;
	scan_open(&s, &r->db, "DIAGNOSTIC_EVENT", columns, N);
	while (scan_row(&s)) {
		int64_t severity = scan_int(&s, SEVERITY);
		size_t n;
		const char *text = severity >= 2 ? scan_text(&s, TEXT, &n) : NULL;
		if (r->launcher && (scan_int_or(&s, PROCESS, 0) >> 24 & 0xFFFFFF) == r->launcher)
			continue;
		int64_t time = scan_int_or(&s, TIME, 0);
		if (s.flaws || !text)
			continue;
		n = n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES;
		text = without_paths(r, text, n, &n);
		n_list = insert_message(r->names, list, n_list,
		                        &(struct message){time, {severity > 2 ? 3 : 2, names_add(r->names, text, n)}});
	}
	t->diagnostics = ARENA_NEW(r->arena, n_list, struct trace_diagnostic);
	for (t->n_diagnostics = 0; t->n_diagnostics < n_list; t->n_diagnostics++)
		t->diagnostics[t->n_diagnostics] = list[t->n_diagnostics].said;
	return scan_close(&s);
}
