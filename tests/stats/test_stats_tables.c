/* The tables of `gapline stats` from a small profile (profiles/stats.sql). The expected ones were worked out by hand
 * from its rows. */
#include "stats/stats.h"
#include "support_sqlite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *read_tables(struct support *s, const char *more)
{
	const char *path = support_path(s, "profile.sqlite");
	support_run(path, support_sql(s, "layout_2025.sql"));
	support_run(path, support_sql(s, "stats.sql"));
	if (more)
		support_run(path, more);
	const struct read_wish wish = {.details = true};
	if (read_profile_with(path, &wish, &s->names, &s->arena, &s->trace, &s->err) != 0)
		support_die(s->err.text);
	return path;
}

static struct sheet make(struct support *s, const char *report)
{
	struct stats_request request;
	struct sheet sheet;
	if (stats_request_parse(report, &s->arena, &request, &s->err) != 0)
		support_die(s->err.text);
	stats_make(&s->trace, &request, &s->arena, &sheet);
	return sheet;
}

static void expect_csv(struct support *s, const char *report, const char *expected)
{
	struct buf out = {0};
	struct sheet sheet = make(s, report);
	sheet_csv(&sheet, false, &out);
	assert_string_equal(out.data ? out.data : "", expected);
	buf_release(&out);
}

static int setup(void **state)
{
	support_setup(state);
	read_tables(*state, NULL);
	return 0;
}

/* ---- sums ---- */

#define SPANS(count, name)                                                                                             \
	"Time (%),Total Time (ns)," count ",Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)," name "\n"

static void kernels_by_name(void **state)
{
	expect_csv(*state, "cuda_gpu_kern_sum",
	           SPANS("Instances",
	                 "Name") "57.0,400,2,200.0,200.0,100,300,141.4,\"void scale<float, 4>(float *, int)\"\n"
	                         "42.7,300,1,300.0,300.0,300,300,0.0,\"void scale<double, 2>(double *, int)\"\n"
	                         "0.3,2,2,1.0,1.0,1,1,0.0,add(double *)\n");
	expect_csv(*state, "cuda_gpu_kern_sum:base",
	           SPANS("Instances", "Name") "99.7,700,3,233.3,300.0,100,300,115.5,scale\n"
	                                      "0.3,2,2,1.0,1.0,1,1,0.0,add\n");
	/* A kernel whose mangled name was not recorded keeps the other one. */
	expect_csv(*state, "cuda_gpu_kern_sum:mangled",
	           SPANS("Instances",
	                 "Name") "57.0,400,2,200.0,200.0,100,300,141.4,_Z5scaleIfLi4EEvPfi\n"
	                         "42.7,300,1,300.0,300.0,300,300,0.0,\"void scale<double, 2>(double *, int)\"\n"
	                         "0.3,2,2,1.0,1.0,1,1,0.0,add(double *)\n");
}

/* Versions of four digits are cut, others and _ptsz stay; equal totals are in order of their names. */
static void calls_by_name(void **state)
{
	expect_csv(*state, "cuda_api_sum",
	           SPANS("Num Calls", "Name") "38.0,1000,4,250.0,100.0,100,700,300.0,cudaMemcpy\n"
	                                      "38.0,1000,1,1000.0,1000.0,1000,1000,0.0,cudaStreamSynchronize\n"
	                                      "8.0,210,3,70.0,100.0,10,100,52.0,cudaLaunchKernel\n"
	                                      "7.6,200,2,100.0,100.0,100,100,0.0,cudaMemset\n"
	                                      "4.6,120,2,60.0,60.0,20,100,56.6,cudaMemcpyAsync_ptsz\n"
	                                      "3.8,100,1,100.0,100.0,100,100,0.0,cudaLaunchKernelExC_v11060\n");
	expect_csv(*state, "osrt_sum", SPANS("Num Calls", "Name") "100.0,25,2,12.5,12.5,10,15,3.5,poll\n");
}

static void copies_by_direction(void **state)
{
	expect_csv(*state, "cuda_gpu_mem_time_sum",
	           SPANS("Count", "Operation") "48.5,400,1,400.0,400.0,400,400,0.0,[CUDA memcpy Device-to-Host]\n"
	                                       "37.6,310,4,77.5,50.0,10,200,84.2,[CUDA memcpy Host-to-Device]\n"
	                                       "12.1,100,1,100.0,100.0,100,100,0.0,[CUDA memcpy Device-to-Device]\n"
	                                       "1.8,15,2,7.5,7.5,5,10,3.5,[CUDA memset]\n");
	expect_csv(*state, "cuda_gpu_mem_size_sum",
	           "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\n"
	           "1.000,1,1.000,1.000,1.000,1.000,0.000,[CUDA memcpy Device-to-Device]\n"
	           "0.194,4,0.049,0.064,0.001,0.066,0.032,[CUDA memcpy Host-to-Device]\n"
	           "0.004,1,0.004,0.004,0.004,0.004,0.000,[CUDA memcpy Device-to-Host]\n"
	           "0.002,2,0.001,0.001,0.001,0.001,0.000,[CUDA memset]\n");
}

/* The range that was still open ends with the last mark. */
static void ranges_by_name(void **state)
{
	expect_csv(*state, "nvtx_sum",
	           SPANS("Instances",
	                 "Style,Range") "41.1,5810,2,2905.0,2905.0,1510,4300,1972.8,PushPop,:step\n"
	                                "25.9,3660,1,3660.0,3660.0,3660,3660,0.0,StartEnd,:moved\n"
	                                "25.1,3550,1,3550.0,3550.0,3550,3550,0.0,StartEnd,:job\n"
	                                "5.4,760,1,760.0,760.0,760,760,0.0,PushPop,:launch\n"
	                                "1.4,200,1,200.0,200.0,200,200,0.0,PushPop,\"training:say \"\"hi\"\"\"\n"
	                                "0.7,100,1,100.0,100.0,100,100,0.0,PushPop,:tail\n"
	                                "0.4,50,1,50.0,50.0,50,50,0.0,PushPop,:empty\n");
	expect_csv(*state, "nvtx_startend_sum",
	           SPANS("Instances", "Range") "50.8,3660,1,3660.0,3660.0,3660,3660,0.0,:moved\n"
	                                       "49.2,3550,1,3550.0,3550.0,3550,3550,0.0,:job\n");
	expect_csv(*state, "nvtx_pushpop_sum",
	           SPANS("Instances", "Range") "84.0,5810,2,2905.0,2905.0,1510,4300,1972.8,:step\n"
	                                       "11.0,760,1,760.0,760.0,760,760,0.0,:launch\n"
	                                       "2.9,200,1,200.0,200.0,200,200,0.0,\"training:say \"\"hi\"\"\"\n"
	                                       "1.4,100,1,100.0,100.0,100,100,0.0,:tail\n"
	                                       "0.7,50,1,50.0,50.0,50,50,0.0,:empty\n");
}

/* ---- joins ---- */

/* Ranges own what their thread launched in them: step 10 and 2 ops, job 10 of them (not the synchronisation, which
 * launches nothing), launch 2. What ends on another thread owns nothing. The parent of launch is job. */
static void ranges_on_the_gpu(void **state)
{
	expect_csv(
		*state, "nvtx_gpu_proj_sum",
		"Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),"
		"Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
		":step,PushPop,3725,5810,2,1862.5,1862.5,1020,2705,1191.5,12,6.0,0.0,0.5\n"
		":job,StartEnd,2705,3550,1,2705.0,2705.0,2705,2705,0.0,10,10.0,1.0,2.0\n"
		":launch,PushPop,550,760,1,550.0,550.0,550,550,0.0,2,2.0,2.0,0.0\n"
		"\"training:say \"\"hi\"\"\",PushPop,200,200,1,200.0,200.0,200,200,0.0,1,1.0,2.0,0.0\n");
}

#define FIVE(part) part "Avg (ns)," part "Med (ns)," part "Min (ns)," part "Max (ns)," part "StdDev (ns),"

/* The calls of the two processes have the same correlation ids. */
static void launches_and_kernels(void **state)
{
	expect_csv(
		*state, "cuda_kern_exec_sum",
		"PID,TID,DevId,Count,QCount," FIVE("T") FIVE("A") FIVE("Q") FIVE(
			"K") "API Name,Kernel Name\n"
			     "100,101,0,2,1,325.0,325.0,150,500,247.5,100.0,100.0,100,100,0.0,100.0,100.0,100,100,0.0,"
			     "200.0,200.0,100,300,141.4,cudaLaunchKernel,\"void scale<float, 4>(float *, int)\"\n"
			     "200,201,0,1,1,320.0,320.0,320,320,0.0,10.0,10.0,10,10,0.0,10.0,10.0,10,10,0.0,"
			     "300.0,300.0,300,300,0.0,cudaLaunchKernel,\"void scale<double, 2>(double *, int)\"\n"
			     "100,101,0,1,0,100.0,100.0,100,100,0.0,100.0,100.0,100,100,0.0,,,,,0.0,"
			     "1.0,1.0,1,1,0.0,cudaLaunchKernelExC_v11060,add(double *)\n");
}

#define COPY_TITLES                                                                                                    \
	"Duration (ns),Start (ns),Src Kind,Dst Kind,Bytes (MB),PID,Device ID,Context ID,Green Context ID,Stream ID,"   \
	"API Name\n"

/* By correlation id alone the pageable copy would be listed twice, as copy of the other process's call too. */
static void copies_that_wait(void **state)
{
	expect_csv(*state, "cuda_memcpy_async",
	           COPY_TITLES "200,2100,Pageable,Device,0.063,100,0,1,,7,cudaMemcpyAsync_ptsz_v7000\n");
	expect_csv(*state, "cuda_memcpy_sync",
	           COPY_TITLES "400,2400,Device,Pinned,0.004,100,0,1,5,7,cudaMemcpy_v3020\n"
	                       "60,3500,Pageable,Device,0.066,100,0,1,,7,cudaMemcpy_v3020\n");
	expect_csv(*state, "cuda_memcpy_sync:rows=1",
	           COPY_TITLES "400,2400,Device,Pinned,0.004,100,0,1,5,7,cudaMemcpy_v3020\n");
	expect_csv(*state, "cuda_memset_sync",
	           "Duration (ns),Start (ns),Memory Kind,Bytes (MB),PID,Device ID,Context ID,Green Context ID,"
	           "Stream ID,API Name\n"
	           "10,3700,Pinned,0.001,100,0,1,,7,cudaMemset_v3020\n");
	expect_csv(*state, "cuda_api_sync",
	           "Duration (ns),Start (ns),PID,TID,API Name\n"
	           "1000,4000,100,101,cudaStreamSynchronize_v3020\n");
}

/* ---- devices ---- */

#define GAP_TITLES "Row#,Duration (ns),Start (ns),PID,Device ID,Context ID\n"

/* The overhead in the middle counts as work, the buffer flush does not, and a gap must be longer than the limit. */
static void gaps(void **state)
{
	expect_csv(*state, "gpu_gaps", "");
	expect_csv(*state, "gpu_gaps:gap=1", GAP_TITLES "1,3500000,2503905,100,0,1\n2,2000000,3905,100,0,1\n");
	expect_csv(*state, "gpu_gaps:gap=2", GAP_TITLES "1,3500000,2503905,100,0,1\n");
	expect_csv(*state, "gpu_gaps:gap=1:rows=1", GAP_TITLES "1,3500000,2503905,100,0,1\n");
}

/* Process 200: 300 and 10 ns of work in 1020; the first of four chunks (255 ns) is full. */
static void utilization(void **state)
{
	expect_csv(*state, "gpu_time_util:chunks=4",
	           "Row#,In-Use (%),Duration (ns),Start (ns),PID,Device ID,Context ID\n"
	           "1,0.0,6002706,1200,100,0,1\n"
	           "2,7.2,765,1275,200,0,1\n");
	/* Chunks in use by 17.6, 0 and 3.9 %. */
	expect_csv(*state, "gpu_time_util:chunks=4:threshold=4",
	           "Row#,In-Use (%),Duration (ns),Start (ns),PID,Device ID,Context ID\n"
	           "1,0.0,6002706,1200,100,0,1\n"
	           "2,2.0,510,1530,200,0,1\n");
}

/* A graph traced whole fills the long gap; nsys does not know it. Three chunks of 2,000,902 ns: the graph lies in the
 * second and third, 1,000,000 ns each. */
static void whole_graphs(void **state)
{
	struct support *s = *state;
	support_run(
		support_path(s, "profile.sqlite"),
		"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, contextId "
		"INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId "
		"INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3003004, 5003004, 0, 1, 7, 11, 281476654432256, "
		"1, 1)");
	const struct read_wish wish = {.details = true};
	assert_int_equal(
		read_profile_with(support_path(s, "profile.sqlite"), &wish, &s->names, &s->arena, &s->trace, &s->err),
		0);
	struct sheet nsys = make(s, "gpu_gaps:gap=1"), graphs = make(s, "gpu_gaps:gap=1:graphs=1");
	assert_non_null(strstr(nsys.note, "1 launches of whole CUDA graphs"));
	assert_null(graphs.note);
	expect_csv(s, "gpu_gaps:gap=1", GAP_TITLES "1,3500000,2503905,100,0,1\n2,2000000,3905,100,0,1\n");
	expect_csv(s, "gpu_gaps:gap=1:graphs=1", GAP_TITLES "1,2000000,3905,100,0,1\n2,1000901,5003004,100,0,1\n");
	expect_csv(s, "gpu_time_util:chunks=3:threshold=49:graphs=1",
	           "Row#,In-Use (%),Duration (ns),Start (ns),PID,Device ID,Context ID\n"
	           "1,0.1,2000902,1200,100,0,1\n"
	           "2,1.5,680,1360,200,0,1\n");
	/* The graph was launched by the last call of job: one op more. */
	struct sheet projected = make(s, "nvtx_gpu_proj_sum:graphs=1");
	assert_string_equal(projected.cells[0].text, ":step");
	assert_int_equal(projected.cells[10].whole, 13);
	assert_int_equal(projected.cells[2].whole, 5003004 - 1200 + 1020);
}

/* ---- requests and formats ---- */

static void wrong_requests(void **state)
{
	struct support *s = *state;
	struct stats_request request;
	static const char *const wrong[][2] = {
		{"cuda_kernel_sum", "there is no report 'cuda_kernel_sum'"},
		{"", "there is no report ''"},
		{"cuda_gpu_kern_sum:rows=3", "takes no argument 'rows'; it takes: base mangled"},
		{"cuda_api_sum:base", "cuda_api_sum takes no argument 'base'"},
		{"cuda_gpu_kern_sum:base=1", "base has no value"},
		{"cuda_gpu_kern_sum:", "takes no argument ''"},
		{"gpu_gaps:gap", "wanted is gap=N, a whole number from 0"},
		{"gpu_gaps:gap=", "wanted is gap=N"},
		{"gpu_gaps:gap=1ms", "wanted is gap=N"},
		{"gpu_gaps:gap=-1", "wanted is gap=N"},
		{"gpu_gaps:gap= 1", "wanted is gap=N"},
		{"gpu_gaps:gap=99999999999999999999", "wanted is gap=N"},
		{"gpu_time_util:chunks=0", "wanted is chunks=N, a whole number from 1"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(stats_request_parse(wrong[i][0], &s->arena, &request, &s->err), -1);
		if (!strstr(s->err.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], s->err.text);
	}
	assert_int_equal(stats_request_parse("gpu_gaps:rows=0:gap=2", &s->arena, &request, &s->err), 0);
	assert_string_equal(request.name, "gpu_gaps_rows=0_gap=2");
	assert_int_equal(request.rows, -1);
	assert_int_equal(request.gap, 2000000);
}

static void decimals(void **state)
{
	(void)state;
	static const struct {
		double value;
		int decimals;
		const char *text;
	} cases[] = {
		{0.25, 1, "0.3"},     {0.75, 1, "0.8"},     {2.5, 1, "2.5"},
		{0.05, 1, "0.1"},     {0.15, 1, "0.1"},     {1e15 + 0.25, 1, "1000000000000000.3"},
		{-0.25, 1, "-0.3"},   {99.75, 1, "99.8"},   {99.95, 1, "100.0"},
		{9.9375, 3, "9.938"}, {999.75, 1, "999.8"}, {-9.9375, 3, "-9.938"},
		{0, 1, "0.0"},        {0.0625, 3, "0.063"}, {0.0005, 3, "0.001"},
		{0.0045, 3, "0.004"}, {1e300, 1, NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[400];
		sheet_decimal(cases[i].value, cases[i].decimals, text, sizeof text);
		if (cases[i].text)
			assert_string_equal(text, cases[i].text);
		else
			assert_int_equal(strlen(text), 303);
	}
}

static void aligned(void **state)
{
	struct buf out = {0};
	struct sheet sheet = make(*state, "gpu_gaps:gap=1");
	sheet_aligned(&sheet, &out);
	assert_string_equal(out.data, " ** GPU Gaps (gpu_gaps_gap=1):\n\n"
	                              " Row#  Duration (ns)  Start (ns)  PID  Device ID  Context ID\n"
	                              " ----  -------------  ----------  ---  ---------  ----------\n"
	                              "    1      3,500,000   2,503,905  100          0           1\n"
	                              "    2      2,000,000       3,905  100          0           1\n");
	buf_release(&out);
}

static void json(void **state)
{
	struct support *s = *state;
	struct buf out = {0};
	struct sheet sheets[] = {make(s, "osrt_sum"), make(s, "gpu_gaps")};
	assert_int_equal(sheet_json(sheets, 1, &out, &s->err), 0);
	assert_string_equal(out.data, "[\n {\n  \"Time (%)\": 100,\n  \"Total Time (ns)\": 25,\n  \"Num Calls\": 2,\n"
	                              "  \"Avg (ns)\": 12.5,\n  \"Med (ns)\": 12.5,\n  \"Min (ns)\": 10,\n"
	                              "  \"Max (ns)\": 15,\n  \"StdDev (ns)\": 3.5,\n  \"Name\": \"poll\"\n }\n]\n");
	buf_release(&out);
	assert_int_equal(sheet_json(sheets, 2, &out, &s->err), 0);
	assert_non_null(strstr(out.data, "\"osrt_sum\": [\n"));
	assert_non_null(strstr(out.data, "\"gpu_gaps\": [\n\n ]"));
	buf_release(&out);
}

/* ---- what else a trace can look like ---- */

/* Ranges that overlap without nesting, deep nesting and many calls, against a look at every pair. */
static void projection_by_brute_force(void **state)
{
	enum { CALLS = 300, RANGES = 200, SPAN = 2000 };
	struct support *s = *state;
	struct buf sql = {0};
	uint32_t seed = 7;
	int64_t call[CALLS][2], range[RANGES][2];
	buf_text(&sql, "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;"
	               "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET;"
	               "DELETE FROM NVTX_EVENTS;");
	for (int i = 0; i < CALLS; i++) {
		seed = seed * 1664525u + 1013904223u;
		call[i][0] = 1000 + seed % SPAN;
		call[i][1] = call[i][0] + (seed >> 20) % 60;
		buf_format(&sql,
		           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%d,%d,0,281476654432357,%d,1,0,NULL);",
		           (int)call[i][0], (int)call[i][1], i + 1);
		buf_format(&sql,
		           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start,end,deviceId,contextId,streamId,correlationId,"
		           "globalPid,value,bytes) VALUES (%d,%d,0,1,7,%d,281476654432256,0,1);",
		           5000 + 10 * i, 5003 + 10 * i, i + 1);
	}
	for (int i = 0; i < RANGES; i++) {
		seed = seed * 1664525u + 1013904223u;
		range[i][0] = 1000 + seed % SPAN;
		range[i][1] = range[i][0] + (seed >> 16) % 700;
		buf_format(&sql,
		           "INSERT INTO NVTX_EVENTS(start,end,eventType,text,globalTid) VALUES "
		           "(%d,%d,60,'r%03d',281476654432357);",
		           (int)range[i][0], (int)range[i][1], i);
	}
	support_run(support_path(s, "profile.sqlite"), sql.data);
	buf_release(&sql);
	const struct read_wish wish = {.details = true};
	assert_int_equal(
		read_profile_with(support_path(s, "profile.sqlite"), &wish, &s->names, &s->arena, &s->trace, &s->err),
		0);
	struct sheet sheet = make(s, "nvtx_gpu_proj_sum");
	int64_t ops[RANGES] = {0}, first[RANGES], last[RANGES];
	int parent[RANGES], level[RANGES], children[RANGES] = {0};
	size_t owners = 0;
	for (int r = 0; r < RANGES; r++)
		for (int c = 0; c < CALLS; c++)
			if (call[c][0] >= range[r][0] && call[c][1] <= range[r][1]) {
				first[r] = ops[r] ? first[r] : c;
				last[r] = c;
				ops[r]++;
			}
	for (int r = 0; r < RANGES;
	     r++) { /* the range around it that began last; of those, the shortest, then last written */
		owners += ops[r] > 0;
		parent[r] = -1;
		for (int q = 0; q < RANGES; q++) {
			bool around = q != r && ops[q] && range[q][0] <= range[r][0] && range[q][1] >= range[r][1] &&
			              (range[q][0] != range[r][0] || range[q][1] != range[r][1] || q < r);
			if (!around)
				continue;
			int p = parent[r];
			if (p < 0 || range[q][0] > range[p][0] ||
			    (range[q][0] == range[p][0] && range[q][1] <= range[p][1]))
				parent[r] = q;
		}
	}
	for (int r = 0; r < RANGES; r++) {
		level[r] = 0;
		for (int p = parent[r]; p >= 0; p = parent[p])
			level[r]++;
		if (ops[r] && parent[r] >= 0)
			children[parent[r]]++;
	}
	assert_int_equal(sheet.n_rows, owners);
	assert_true(owners > RANGES / 2);
	for (size_t i = 0; i < sheet.n_rows; i++) {
		const struct sheet_cell *cell = &sheet.cells[i * sheet.n_columns];
		int r = atoi(cell[0].text + 2);
		assert_int_equal(cell[2].whole, 10 * (last[r] - first[r]) + 3);
		assert_int_equal(cell[10].whole, ops[r]);
		assert_true(cell[12].number == level[r]);
		assert_true(cell[13].number == children[r]);
	}
}

/* Without the details of an nsys export (another reader's trace) the tables still come, from what there is. */
static void without_details(void **state)
{
	struct support *s = *state;
	assert_int_equal(support_read(s, support_path(s, "profile.sqlite")), 0);
	assert_null(s->trace.ops.base_name);
	for (const struct stats_report *r = stats_reports; r->name; r++) {
		struct buf out = {0};
		struct sheet sheet = make(s, r->name);
		sheet_csv(&sheet, false, &out);
		buf_release(&out);
	}
	expect_csv(s, "cuda_api_sync",
	           "Duration (ns),Start (ns),PID,TID,API Name\n1000,4000,100,101,cudaStreamSynchronize\n");
	expect_csv(s, "cuda_memcpy_async", COPY_TITLES "200,2100,,,0.063,100,0,,,7,cudaMemcpyAsync\n");
}

/* A profile without GPU work has tables too, if one asks for it. */
static void without_gpu(void **state)
{
	struct support *s = *state;
	const char *path = support_path(s, "profile.sqlite");
	support_run(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
	                  "DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET");
	assert_int_equal(support_read(s, path), -1);
	const struct read_wish wish = {.details = true, .without_gpu = true};
	assert_int_equal(read_profile_with(path, &wish, &s->names, &s->arena, &s->trace, &s->err), 0);
	expect_csv(s, "cuda_gpu_kern_sum", "");
	expect_csv(s, "osrt_sum", SPANS("Num Calls", "Name") "100.0,25,2,12.5,12.5,10,15,3.5,poll\n");
	for (const struct stats_report *r = stats_reports; r->name; r++)
		make(s, r->name);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, support_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kernels_by_name),
		TEST(calls_by_name),
		TEST(copies_by_direction),
		TEST(ranges_by_name),
		TEST(ranges_on_the_gpu),
		TEST(launches_and_kernels),
		TEST(copies_that_wait),
		TEST(gaps),
		TEST(utilization),
		TEST(whole_graphs),
		TEST(wrong_requests),
		TEST(decimals),
		TEST(aligned),
		TEST(json),
		TEST(projection_by_brute_force),
		TEST(without_details),
		TEST(without_gpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
