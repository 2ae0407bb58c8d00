#include "read/ncu.h"

#include "base/list.h"
#include "read/csv.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES_MAX = 200000, FIRST_LINES = 100000 };

/* What a number is called on the details page, in any version, and on the raw page. */
static const struct {
	enum ncu_number number;
	enum ncu_kind kind;
	const char *details, *raw;
} NUMBERS[] = {
	{NCU_DURATION, NCU_TIME, "Duration", "gpu__time_duration.sum"},
	{NCU_DURATION, NCU_TIME, NULL, "gpu__time_duration.avg"},
	{NCU_SM, NCU_PERCENT, "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
	{NCU_SM, NCU_PERCENT, "Compute (SM) [%]", NULL},
	{NCU_SM, NCU_PERCENT, "SM [%]", NULL},
	{NCU_MEMORY, NCU_PERCENT, "Memory Throughput",
         "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
	{NCU_MEMORY, NCU_PERCENT, "Memory [%]", NULL},
	{NCU_DRAM, NCU_PERCENT, "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
	{NCU_DRAM, NCU_PERCENT, NULL, "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
	{NCU_L1, NCU_PERCENT, "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
	{NCU_L2, NCU_PERCENT, "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
	{NCU_OCCUPANCY, NCU_PERCENT, "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
	{NCU_OCCUPANCY_MOST, NCU_PERCENT, "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
	{NCU_BY_REGISTERS, NCU_PLAIN, "Block Limit Registers", "launch__occupancy_limit_registers"},
	{NCU_BY_SHARED, NCU_PLAIN, "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
	{NCU_BY_WARPS, NCU_PLAIN, "Block Limit Warps", "launch__occupancy_limit_warps"},
	{NCU_BY_BLOCKS, NCU_PLAIN, "Block Limit SM", "launch__occupancy_limit_blocks"},
	{NCU_BY_BARRIERS, NCU_PLAIN, "Block Limit Barriers", "launch__occupancy_limit_barriers"},
	{NCU_REGISTERS, NCU_PLAIN, "Registers Per Thread", "launch__registers_per_thread"},
	{NCU_WAVES, NCU_PLAIN, "Waves Per SM", "launch__waves_per_multiprocessor"},
	{NCU_DRAM_RATE, NCU_RATE, "Memory Throughput", "dram__bytes.sum.per_second"},
	{NCU_DRAM_READ_RATE, NCU_RATE, NULL, "dram__bytes_read.sum.per_second"},
	{NCU_DRAM_WRITE_RATE, NCU_RATE, NULL, "dram__bytes_write.sum.per_second"},
	{NCU_DRAM_CYCLE, NCU_BYTES, NULL, "dram__bytes.sum.peak_sustained"},
	{NCU_DRAM_CLOCK, NCU_FREQUENCY, "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
	{NCU_FADD, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed"},
	{NCU_FMUL, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed"},
	{NCU_FFMA, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"},
	{NCU_FFMA_CYCLE, NCU_PLAIN, NULL, "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"},
	{NCU_DADD, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed"},
	{NCU_DMUL, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed"},
	{NCU_DFMA, NCU_PLAIN, NULL, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum.per_cycle_elapsed"},
	{NCU_DFMA_CYCLE, NCU_PLAIN, NULL, "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"},
	{NCU_CLOCK, NCU_FREQUENCY, NULL, "smsp__cycles_elapsed.avg.per_second"},
	{NCU_CLOCK, NCU_FREQUENCY, "SM Frequency", "sm__cycles_elapsed.avg.per_second"},
};
enum { NUMBERS_N = sizeof NUMBERS / sizeof *NUMBERS };

/* "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "Stall Long Scoreboard". */
static const struct {
	enum ncu_stall stall;
	const char *word;
} STALLS[] = {
	{NCU_LONG_SCOREBOARD, "long_scoreboard"},
	{NCU_SHORT_SCOREBOARD, "short_scoreboard"},
	{NCU_BARRIER, "barrier"},
	{NCU_MEMBAR, "membar"},
	{NCU_MATH_PIPE, "math_pipe_throttle"},
	{NCU_MIO_THROTTLE, "mio_throttle"},
	{NCU_LG_THROTTLE, "lg_throttle"},
	{NCU_TEX_THROTTLE, "tex_throttle"},
	{NCU_WAIT, "wait"},
	{NCU_NOT_SELECTED, "not_selected"},
	{NCU_DISPATCH, "dispatch_stall"},
	{NCU_DRAIN, "drain"},
	{NCU_SLEEPING, "sleeping"},
	{NCU_BRANCH, "branch_resolving"},
	{NCU_NO_INSTRUCTION, "no_instruction"},
	{NCU_NO_INSTRUCTION, "no_inst"},
	{NCU_IMC_MISS, "imc_miss"},
	{NCU_GMMA, "gmma"},
	{NCU_MISC, "misc"},
};

/* What a column of the raw page, or a row of the details page, says. */
struct meaning {
	int number;  /* index into NUMBERS, −1: none */
	int stall;   /* enum ncu_stall, −1: none */
	bool sample; /* of the stall: counted by sampling, not measured */
};

/* Columns that say of which launch a row is; the rest is numbers. */
enum { ID, NAME, BLOCK, GRID, METRIC, UNIT, VALUE, RULE, RULE_TYPE, RULE_TEXT, RULE_GAIN, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {"ID",          "Kernel Name",      "Block Size",       "Grid Size",
                                                  "Metric Name", "Metric Unit",      "Metric Value",     "Rule Name",
                                                  "Rule Type",   "Rule Description", "Estimated Speedup"};

struct reader {
	struct ncu_style style;
	bool styling; /* first pass: how numbers are written */
	bool header, details;
	bool units_read;     /* raw page: the row of units */
	size_t lines;        /* before the header */
	int column[COLUMNS]; /* −1: not there */
	struct meaning *of;  /* raw page, by column */
	double *times;       /* raw page, by column: what its unit is multiplied with */
	size_t n_columns;
	char id[64]; /* of the launch that rows are of */
	struct names *names;
	struct arena *arena;
	struct ncu_report *report;
	size_t room;
	bool too_many;
};

/* ---- what names mean ---- */

static int stall_of(const char *word, size_t n)
{
	char lower[64];
	if (n >= sizeof lower)
		return -1;
	for (size_t i = 0; i < n; i++)
		lower[i] = word[i] == ' ' ? '_' : (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 32 : word[i]);
	lower[n] = 0;
	for (size_t i = 0; i < sizeof STALLS / sizeof *STALLS; i++)
		if (strcmp(lower, STALLS[i].word) == 0)
			return STALLS[i].stall;
	return -1;
}

static struct meaning raw_meaning(const char *name)
{
	struct meaning m = {-1, -1, false};
	for (int i = 0; i < NUMBERS_N; i++)
		if (NUMBERS[i].raw && strcmp(name, NUMBERS[i].raw) == 0)
			m.number = i;
	static const char measured[] = "smsp__average_warps_issue_stalled_", behind[] = "_per_issue_active.ratio";
	static const char sampled[] = "smsp__pcsamp_warps_issue_stalled_";
	size_t n = strlen(name), tail = strlen(behind);
	if (strncmp(name, measured, strlen(measured)) == 0 && n > strlen(measured) + tail &&
	    strcmp(name + n - tail, behind) == 0)
		m.stall = stall_of(name + strlen(measured), n - tail - strlen(measured));
	m.sample = strncmp(name, sampled, strlen(sampled)) == 0;
	if (m.sample)
		m.stall = stall_of(name + strlen(sampled), n - strlen(sampled));
	return m;
}

/* The unit tells apart what one name stands for: "Memory Throughput" is a share and a rate. */
static struct meaning details_meaning(const char *name, const char *unit)
{
	struct meaning m = {-1, -1, false};
	for (int i = 0; i < NUMBERS_N; i++)
		if (NUMBERS[i].details && strcmp(name, NUMBERS[i].details) == 0 &&
		    !isnan(ncu_unit(unit, NUMBERS[i].kind)))
			m.number = i;
	if (strncmp(name, "Stall ", 6) == 0)
		m.stall = stall_of(name + 6, strlen(name) - 6);
	return m.number < 0 && m.stall < 0 ? raw_meaning(name) : m; /* --metrics names them as they are */
}

/* ---- launches ---- */

/* "(16384, 1, 1)"; in other places 1, 2 or 3 numbers in any brackets. */
static void sizes_of(const char *text, int64_t size[3])
{
	int n = 0;
	size[0] = size[1] = size[2] = 0;
	while (*text && n < 3) {
		char *end;
		if (*text < '0' || *text > '9') {
			text++;
			continue;
		}
		size[n++] = strtoll(text, &end, 10);
		text = end;
	}
	for (; n && n < 3; n++)
		size[n] = 1;
}

static const char *text_of(const struct reader *r, const struct csv_field *field, size_t n, int column)
{
	int at = r->column[column];
	return at >= 0 && (size_t)at < n ? field[at].text : "";
}

static struct ncu_launch *launch_of(struct reader *r, const struct csv_field *field, size_t n)
{
	struct ncu_report *report = r->report;
	const char *id = text_of(r, field, n, ID);
	if (r->details && report->n && strncmp(id, r->id, sizeof r->id - 1) == 0)
		return &report->launch[report->n - 1];
	if (report->n == LAUNCHES_MAX) {
		r->too_many = true;
		return NULL;
	}
	size_t length = strnlen(id, sizeof r->id - 1);
	memcpy(r->id, id, length);
	r->id[length] = 0;
	LIST_GROW(r->arena, report->launch, report->n, r->room);
	struct ncu_launch *launch = &report->launch[report->n++];
	*launch = (struct ncu_launch){0};
	const char *name = text_of(r, field, n, NAME);
	launch->name = names_add(r->names, name, strlen(name));
	sizes_of(text_of(r, field, n, GRID), launch->grid);
	sizes_of(text_of(r, field, n, BLOCK), launch->block);
	launch->shape = trace_shape(launch->grid, launch->block);
	for (int i = 0; i < NCU_NUMBERS; i++)
		launch->value[i] = NAN;
	return launch;
}

static void set_value(struct ncu_launch *launch, struct meaning m, double times, double value)
{
	if (isnan(value) || value < 0)
		return;
	if (m.number >= 0 && !isnan(times) && isnan(launch->value[NUMBERS[m.number].number]))
		launch->value[NUMBERS[m.number].number] = value * times;
	if (m.stall < 0)
		return;
	if (m.sample && launch->measured)
		return; /* measured ones are better than sampled ones */
	if (!m.sample && !launch->measured)
		memset(launch->stall, 0, sizeof launch->stall);
	launch->measured = launch->measured || !m.sample;
	launch->has_stalls = true;
	launch->stall[m.stall] = value;
}

static void add_rule(struct reader *r, struct ncu_launch *launch, const struct csv_field *field, size_t n)
{
	const char *text = text_of(r, field, n, RULE_TEXT);
	double gain = ncu_value(&r->style, text_of(r, field, n, RULE_GAIN));
	if (!*text || strcmp(text_of(r, field, n, RULE_TYPE), "INF") == 0)
		return;
	uint32_t at = launch->n_rules < NCU_RULES ? launch->n_rules : NCU_RULES;
	while (at > 0 && (isnan(launch->gain[at - 1]) ? !isnan(gain) : gain > launch->gain[at - 1]))
		at--;
	if (at == NCU_RULES)
		return;
	for (uint32_t i = launch->n_rules < NCU_RULES ? launch->n_rules : NCU_RULES - 1; i > at; i--) {
		launch->rule[i] = launch->rule[i - 1];
		launch->gain[i] = launch->gain[i - 1];
	}
	launch->rule[at] = names_add(r->names, text, strlen(text));
	launch->gain[at] = gain;
	launch->n_rules += launch->n_rules < NCU_RULES;
}

/* ---- rows ---- */

static int column_named(const struct csv_field *field, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(field[i].text, name) == 0)
			return (int)i;
	return -1;
}

/* What the profiled program printed may stand before it. */
static bool take_header(struct reader *r, const struct csv_field *field, size_t n)
{
	if (strcmp(field[0].text, COLUMN_NAMES[ID]) != 0 || column_named(field, n, COLUMN_NAMES[NAME]) < 0)
		return ++r->lines < FIRST_LINES;
	for (int i = 0; i < COLUMNS; i++)
		r->column[i] = column_named(field, n, COLUMN_NAMES[i]);
	r->header = true;
	r->details = r->column[METRIC] >= 0 && r->column[VALUE] >= 0;
	r->n_columns = n;
	if (r->details || r->styling)
		return true;
	r->of = ARENA_NEW(r->arena, n, struct meaning);
	r->times = ARENA_NEW(r->arena, n, double);
	for (size_t i = 0; i < n; i++) {
		r->of[i] = raw_meaning(field[i].text);
		enum ncu_kind kind = r->of[i].number >= 0 ? NUMBERS[r->of[i].number].kind : NCU_PLAIN;
		r->times[i] = kind == NCU_PLAIN || kind == NCU_PERCENT ? 1 : NAN; /* until units are read */
	}
	return true;
}

static void take_style(struct reader *r, const struct csv_field *field, size_t n)
{
	if (r->details) {
		ncu_style_note(&r->style, text_of(r, field, n, VALUE));
		return;
	}
	for (size_t i = 0; i < n; i++)
		if ((int)i > r->column[NAME] && (int)i > r->column[BLOCK] && (int)i > r->column[GRID])
			ncu_style_note(&r->style, field[i].text);
}

static void take_units(struct reader *r, const struct csv_field *field, size_t n)
{
	for (size_t i = 0; i < n && i < r->n_columns; i++)
		if (r->of[i].number >= 0)
			r->times[i] = ncu_unit(field[i].text, NUMBERS[r->of[i].number].kind);
}

static bool take_row(void *context, const struct csv_field *field, size_t n)
{
	struct reader *r = context;
	if (!r->header)
		return take_header(r, field, n);
	bool units = !r->details && !r->units_read;
	r->units_read = true;
	if (r->styling) {
		take_style(r, field, n);
		return true;
	}
	if (units && !*text_of(r, field, n, ID)) {
		take_units(r, field, n);
		return true;
	}
	/* what the program printed meanwhile */
	const char *id = text_of(r, field, n, ID);
	if (!*id || strspn(id, "0123456789") != strlen(id) || (int)n <= r->column[NAME])
		return true;
	struct ncu_launch *launch = launch_of(r, field, n);
	if (!launch)
		return false;
	if (!r->details) {
		for (size_t i = 0; i < n && i < r->n_columns; i++)
			if (r->of[i].number >= 0 || r->of[i].stall >= 0)
				set_value(launch, r->of[i], r->times[i], ncu_value(&r->style, field[i].text));
		return true;
	}
	const char *unit = text_of(r, field, n, UNIT);
	struct meaning m = details_meaning(text_of(r, field, n, METRIC), unit);
	if (m.number >= 0 || m.stall >= 0)
		set_value(launch, m, m.number >= 0 ? ncu_unit(unit, NUMBERS[m.number].kind) : 1,
		          ncu_value(&r->style, text_of(r, field, n, VALUE)));
	add_rule(r, launch, field, n);
	return true;
}

bool ncu_is_packed(const struct file_head *head)
{
	return head->n >= 4 && memcmp(head->data, "NVR\0", 4) == 0;
}

int ncu_read(int fd, const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
             struct err *err)
{
	ARENA_LOCAL(scratch);
	struct reader style = {.styling = true, .arena = &scratch};
	struct reader r = {.names = names, .arena = &scratch, .report = report};
	struct ncu_report found = {0};
	r.report = &found;
	int result = csv_read(fd, path, take_row, &style, err);
	r.style = style.style;
	if (result == 0)
		result = csv_read(fd, path, take_row, &r, err);
	if (result == 0 && !r.header)
		result = err_set(err,
		                 "%s: is no report of Nsight Compute: no row of it names the columns \"ID\" and "
		                 "\"Kernel Name\"; make one with: ncu --import REPORT.ncu-rep --csv --page raw > FILE",
		                 path);
	else if (result == 0 && r.too_many)
		result = err_set(err, "%s: holds more than %d kernel launches; a few of each kernel are enough", path,
		                 LAUNCHES_MAX);
	else if (result == 0 && !found.n)
		result = err_set(err, "%s: holds no kernel launch", path);
	if (result == 0) {
		report->launch = ARENA_NEW(arena, found.n, struct ncu_launch);
		memcpy(report->launch, found.launch, found.n * sizeof *report->launch);
		report->n = found.n;
	}
	return result;
}
