#include "stats/reports.h"

#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RULE "rows"

const struct stats_report stats_reports[] = {
	{"cuda_api_sum", "CUDA API Summary", "", READ_CALLS, stats_api_sum, 0},
	{"cuda_api_sync", "CUDA Synchronization APIs", RULE, 0, stats_syncs, 0},
	{"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", "base mangled", READ_OPS, stats_kernel_sum, 0},
	{"cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)", "", READ_OPS, stats_memory_size_sum, 0},
	{"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", "", READ_OPS, stats_memory_time_sum, 0},
	{"cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary", "", 0, stats_launch_sum, 0},
	{"cuda_memcpy_async", "CUDA Async Memcpy with Pageable Memory", RULE, 0, stats_async_copies, 0},
	{"cuda_memcpy_sync", "CUDA Synchronous Memcpy", RULE, 0, stats_blocking_copies, 0},
	{"cuda_memset_sync", "CUDA Synchronous Memset", RULE, 0, stats_blocking_memsets, 0},
	{"gpu_gaps", "GPU Gaps", RULE " gap graphs", 0, stats_gaps, 0},
	{"gpu_time_util", "GPU Time Utilization", RULE " threshold chunks graphs", 0, stats_utilization, 0},
	{"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", "graphs", 0, stats_projection_sum, 0},
	{"nvtx_pushpop_sum", "NVTX Push/Pop Range Summary", "", 0, stats_range_sum, 1 << RANGE_PUSH_POP},
	{"nvtx_startend_sum", "NVTX Start/End Range Summary", "", 0, stats_range_sum, 1 << RANGE_START_END},
	{"nvtx_sum", "NVTX Range Summary", "", 0, stats_range_sum, STATS_RANGES},
	{"osrt_sum", "OS Runtime Summary", "", 0, stats_os_sum, 0},
	{0},
};

/* ---- requests ---- */

static int unknown_report(const char *name, size_t n, struct arena *arena, struct err *err)
{
	const char *list = "";
	for (const struct stats_report *r = stats_reports; r->name; r++)
		list = arena_format(arena, "%s%s%s", list, *list ? ", " : "", r->name);
	return err_set(err, "there is no report '%.*s'; there are: %s", (int)n, name, list);
}

/* Arguments of reports. Those with `most` 0 are words without a value. */
enum argument { BASE, MANGLED, ROWS, GAP, THRESHOLD, CHUNKS, GRAPHS, N_ARGUMENTS };
static const struct {
	const char *name;
	int64_t least, most;
} arguments[N_ARGUMENTS] = {
	[BASE] = {"base", 0, 0},
	[MANGLED] = {"mangled", 0, 0},
	[ROWS] = {"rows", -1, INT32_MAX}, /* -1 and 0: all */
	[GAP] = {"gap", 0, 1000000000},   /* ms */
	[THRESHOLD] = {"threshold", 0, 1000000},
	[CHUNKS] = {"chunks", 1, 1000000},
	[GRAPHS] = {"graphs", 0, 1},
};

static void set_argument(struct stats_request *out, enum argument which, int64_t value)
{
	switch (which) {
	case BASE:
		out->names = STATS_BASE_NAMES;
		break;
	case MANGLED:
		out->names = STATS_MANGLED_NAMES;
		break;
	case ROWS:
		out->rows = value > 0 ? value : -1;
		break;
	case GAP:
		out->gap = value * 1000000;
		break;
	case THRESHOLD:
		out->threshold = (double)value;
		break;
	case CHUNKS:
		out->chunks = value;
		break;
	default:
		out->graphs = value != 0;
	}
}

/* "base" or "gap=1", n bytes of `text`. */
static int parse_argument(const char *text, size_t n, struct stats_request *out, struct err *err)
{
	size_t name = strcspn(text, "=");
	name = name < n ? name : n;
	enum argument which = 0;
	while (which < N_ARGUMENTS &&
	       !(strlen(arguments[which].name) == name && strncmp(arguments[which].name, text, name) == 0))
		which++;
	const char *known = out->report->arguments;
	if (which == N_ARGUMENTS || !words_have(known, text, name, strncmp))
		return err_set(err, "%s takes no argument '%.*s'%s%s", out->report->name, (int)name, text,
		               *known ? "; it takes: " : "", known);
	if (arguments[which].most == 0) {
		if (name < n)
			return err_set(err, "'%.*s': %s has no value", (int)n, text, arguments[which].name);
		set_argument(out, which, 0);
		return 0;
	}
	char *end = NULL;
	errno = 0;
	bool number = name + 1 < n && (text[name + 1] == '-' || (text[name + 1] >= '0' && text[name + 1] <= '9'));
	long long value = number ? strtoll(text + name + 1, &end, 10) : 0;
	if (end != text + n || errno || value < arguments[which].least || value > arguments[which].most)
		return err_set(err, "'%.*s': wanted is %s=N, a whole number from %lld to %lld", (int)n, text,
		               arguments[which].name, (long long)arguments[which].least,
		               (long long)arguments[which].most);
	set_argument(out, which, value);
	return 0;
}

int stats_request_parse(const char *text, struct arena *arena, struct stats_request *out, struct err *err)
{
	size_t n = strcspn(text, ":");
	const struct stats_report *report = stats_reports;
	while (report->name && !(strlen(report->name) == n && strncmp(report->name, text, n) == 0))
		report++;
	if (!report->name)
		return unknown_report(text, n, arena, err);
	char *name = arena_copy(arena, text, strlen(text));
	for (char *c = name; *c; c++)
		*c = *c == ':' || *c == '/' ? '_' : *c;
	*out = (struct stats_request){
		.report = report, .name = name, .rows = 50, .gap = 500000000, .threshold = 50, .chunks = 30};
	for (text += n; *text; text += n) {
		text++;
		n = strcspn(text, ":");
		if (parse_argument(text, n, out, err) != 0)
			return -1;
	}
	return 0;
}

/* Columns on request take as long as all others together. Nothing of the GPU's tables has any, but the other names of
 * kernels. */
void stats_wish(const struct stats_request *requests, size_t n, struct read_wish *wish)
{
	bool all = false;
	for (size_t i = 0; i < n; i++) {
		unsigned reads = requests[i].report->reads;
		all = all || !reads;
		wish->only |= reads;
		wish->details = wish->details || reads != READ_OPS || requests[i].names != STATS_FULL_NAMES;
	}
	wish->only = all ? 0 : wish->only;
}

void stats_make(const struct trace *trace, const struct stats_request *request, struct arena *arena, struct sheet *out)
{
	*out = (struct sheet){.name = request->name, .title = request->report->title, .arena = arena};
	request->report->make(trace, request, out);
}

/* ---- shared ---- */

uint32_t *stats_call_names(const struct trace *trace, struct arena *arena)
{
	const struct trace_calls *calls = &trace->calls;
	struct names *names = trace->names;
	uint32_t *short_name = ARENA_NEW(arena, names->n, uint32_t);
	for (size_t i = 0; i < calls->n; i++) {
		uint32_t id = stats_call_name(calls, i);
		if (short_name[id])
			continue;
		const char *text = names_text(names, id);
		size_t n = strlen(text), digits = n;
		while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
			digits--;
		bool version = n - digits == 4 && digits > 2 && text[digits - 1] == 'v' && text[digits - 2] == '_';
		short_name[id] = version ? names_add(names, text, digits - 2) : id;
	}
	return short_name;
}

const char *stats_range_name(const struct trace *trace, uint32_t domain, uint32_t name, struct arena *arena)
{
	return arena_format(arena, "%s:%s", names_text(trace->names, domain), names_text(trace->names, name));
}

const char *stats_style(uint8_t range_kind)
{
	return range_kind == RANGE_PUSH_POP ? "PushPop" : "StartEnd";
}

void stats_note_graphs(const struct trace *trace, const struct stats_request *request, struct sheet *out)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->ops.n && !request->graphs; i++)
		n += trace->ops.kind[i] == OP_GRAPH;
	if (n)
		out->note = arena_format(out->arena,
		                         "as in nsys, %zu launches of whole CUDA graphs are not counted as GPU work; "
		                         "%s:graphs=1 counts them",
		                         n, request->report->name);
}
