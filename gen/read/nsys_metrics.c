/* Hardware counters of the GPUs: GPU_METRICS since 2023, before it GENERIC_EVENTS with a JSON object a sample. Numbers
 * of metrics are not stable, so they are told by their names, which nsys's documentation lists ("GPU Metrics"). */
#include "read/nsys.h"

#include "base/json_scan.h"
#include "base/list.h"
#include "base/search.h"
#include "trace/order.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KNOWN_MAX = 4096, GPUS_MAX = 256 };

struct known {
	int64_t type, id;
	enum metric metric;
};

struct metrics {
	struct nsys *r;
	struct known known[KNOWN_MAX];
	uint32_t n_known;
	struct trace_metrics *list; /* GPUS_MAX of them at most, by `number` */
	int64_t number[GPUS_MAX];
	size_t room[GPUS_MAX];
	bool shuffled[GPUS_MAX]; /* from here on every value is a sample of its own, until order_samples */
	uint32_t n;
	double value[METRIC_COUNT]; /* of a sample as JSON; negative: none */
};

/* The GPU that a type of events is about: the number in its low byte, as TARGET_INFO_GPU counts. */
static uint32_t gpu_of(struct metrics *m, int64_t type)
{
	int64_t number = type & 0xFF;
	uint32_t i = 0;
	while (i < m->n && m->number[i] != number)
		i++;
	if (i < m->n || m->n == GPUS_MAX)
		return i;
	struct nsys *r = m->r;
	if (!m->list)
		m->list = ARENA_NEW(r->arena, GPUS_MAX, struct trace_metrics);
	struct trace_metrics *of = &m->list[m->n];
	of->gpu = TRACE_NONE;
	for (uint32_t g = 0; g < r->trace->n_gpus; g++)
		if (r->gpu_number[g] == number)
			of->gpu = g;
	if (of->gpu == TRACE_NONE && r->trace->n_gpus == 1)
		of->gpu = 0;
	m->number[m->n] = number;
	return m->n++;
}

static size_t append(struct metrics *m, uint32_t g, int64_t time)
{
	struct trace_metrics *of = &m->list[g];
	if (of->n == m->room[g]) {
		size_t more = list_more(m->room[g]);
		of->time = arena_grow(m->r->arena, of->time, of->n, more, sizeof *of->time);
		for (int i = 0; i < METRIC_COUNT; i++)
			of->value[i] = arena_grow(m->r->arena, of->value[i], of->n, more, 1);
		m->room[g] = more;
	}
	of->time[of->n] = time;
	for (int i = 0; i < METRIC_COUNT; i++)
		of->value[i][of->n] = METRIC_NOT_SAMPLED;
	return of->n++;
}

/* The place of a time among a GPU's samples, behind them if it is later than all. Tables are in the order of time, or
 * counter by counter in the order of time; others are sorted when all was read. */
static size_t place_of(struct metrics *m, uint32_t g, int64_t time)
{
	const struct trace_metrics *of = &m->list[g];
	if (!of->n || of->time[of->n - 1] < time || m->shuffled[g])
		return append(m, g, time);
	if (of->time[of->n - 1] == time)
		return of->n - 1;
	size_t i = 0;
	SEARCH(i, of->n, of->time[i] < time);
	if (of->time[i] == time)
		return i;
	m->shuffled[g] = true;
	return append(m, g, time);
}

/* Links have several counters, which add up; of any other the greatest value of a time counts. */
static void combine(uint8_t *to, uint8_t value, enum metric metric)
{
	bool adds = metric == METRIC_NVLINK_IN || metric == METRIC_NVLINK_OUT;
	if (value == METRIC_NOT_SAMPLED)
		return;
	if (*to == METRIC_NOT_SAMPLED)
		*to = value;
	else if (adds)
		*to = (uint8_t)(*to + value < METRIC_NOT_SAMPLED ? *to + value : METRIC_NOT_SAMPLED - 1);
	else
		*to = value > *to ? value : *to;
}

/* By time, each once. */
static void order_samples(struct trace_metrics *of)
{
	ARENA_LOCAL(scratch);
	const struct order order = {.n = of->n, .n_groups = 1, .start = of->time};
	const uint32_t *permutation = order_rows(&order, &scratch);
	int64_t *room = ARENA_NEW(&scratch, of->n, int64_t);
	size_t kept = 0;
	if (permutation) {
		order_column(of->time, sizeof *of->time, of->n, permutation, room);
		for (int k = 0; k < METRIC_COUNT; k++)
			order_column(of->value[k], 1, of->n, permutation, room);
	}
	for (size_t i = 0; i < of->n; i++) {
		bool same = kept && of->time[kept - 1] == of->time[i];
		size_t to = same ? kept - 1 : kept++;
		of->time[to] = of->time[i];
		for (int k = 0; k < METRIC_COUNT; k++)
			if (same)
				combine(&of->value[k][to], of->value[k][i], (enum metric)k);
			else
				of->value[k][to] = of->value[k][i];
	}
	of->n = kept;
}

static void add_value(struct metrics *m, uint32_t g, int64_t time, enum metric metric, double value, const char *flaw)
{
	struct nsys *r = m->r;
	if (!flaw && !(value >= 0 && value < METRIC_NOT_SAMPLED))
		flaw = "is no percentage";
	if (!flaw && (time < -(INT64_C(1) << 61) || time > INT64_C(1) << 61))
		flaw = "has an impossible timestamp";
	if (!flaw && g == GPUS_MAX)
		flaw = "is of one GPU too many";
	if (flaw) {
		build_drop(&r->build, ROWS_METRICS, flaw);
		return;
	}
	r->trace->rows[ROWS_METRICS].read++;
	size_t at = place_of(m, g, time);
	combine(&m->list[g].value[metric][at], (uint8_t)fmin(lround(value), METRIC_NOT_SAMPLED - 1), metric);
}

/* ---- since 2023 ---- */

static int read_names(struct metrics *m)
{
	enum { TYPE, ID, NAME, N };
	static const char *const columns[] = {"typeId", "metricId", "metricName"};
	struct scan s;
	scan_open(&s, &m->r->db, "TARGET_INFO_GPU_METRICS", columns, N);
	while (scan_row(&s) && m->n_known < KNOWN_MAX) {
		size_t n;
		struct known known = {.type = scan_int(&s, TYPE), .id = scan_int(&s, ID)};
		const char *name = scan_text(&s, NAME, &n);
		known.metric = name && !s.flaws ? metric_of_name(name, n) : METRIC_COUNT;
		if (known.metric != METRIC_COUNT)
			m->known[m->n_known++] = known;
	}
	return scan_close(&s);
}

static int read_table(struct metrics *m)
{
	enum { TIME, TYPE, ID, VALUE, N };
	static const char *const columns[] = {"timestamp", "typeId", "metricId", "value"};
	struct scan s;
	if (!m->n_known)
		return 0;
	nsys_scan(m->r, &s, "GPU_METRICS", columns, N);
	uint32_t last = 0; /* rows mostly go through the names in their order */
	while (scan_row(&s)) {
		int64_t time = scan_int(&s, TIME), type = scan_int(&s, TYPE), id = scan_int(&s, ID);
		uint32_t i = 0;
		for (; i < m->n_known; i++) {
			const struct known *known = &m->known[(last + i) % m->n_known];
			if (known->type == type && known->id == id)
				break;
		}
		if (i == m->n_known && !s.flaws)
			continue; /* another counter */
		last = (last + i) % m->n_known;
		int kind = sqlite3_column_type(s.statement, VALUE);
		bool number = kind == SQLITE_INTEGER || kind == SQLITE_FLOAT;
		const char *flaw = number ? nsys_value_flaw(&s) : "holds a value of the wrong type";
		add_value(m, flaw ? 0 : gpu_of(m, type), time, m->known[last].metric,
		          number ? sqlite3_column_double(s.statement, VALUE) : 0, flaw);
	}
	return scan_close(&s);
}

/* ---- before ---- */

static void add_counter(void *context, const struct metric_value *found)
{
	struct metrics *m = context;
	double *value = &m->value[found->metric];
	bool adds = *value >= 0 && (found->metric == METRIC_NVLINK_IN || found->metric == METRIC_NVLINK_OUT);
	*value = adds ? *value + found->value : found->value;
}

/* Other sources put events in here too: what names no counter is none. A sample's time may be NULL, where nsys could
 * not tell it on the profile's clock; the raw one is of another. */
static int read_old_table(struct metrics *m)
{
	enum { TIME, TYPE, DATA, N };
	static const char *const columns[] = {"timestamp", "typeId", "data"};
	struct scan s;
	nsys_scan(m->r, &s, "GENERIC_EVENTS", columns, N);
	while (scan_row(&s)) {
		size_t n = 0;
		int64_t time = scan_int(&s, TIME), type = scan_int(&s, TYPE);
		const char *flaw = nsys_value_flaw(&s);
		const char *data = s.has[DATA] ? scan_text(&s, DATA, &n) : NULL;
		for (int i = 0; i < METRIC_COUNT; i++)
			m->value[i] = -1;
		if (!data || !metric_sample_read(data, n, add_counter, m))
			continue;
		for (int i = 0; i < METRIC_COUNT; i++)
			if (m->value[i] >= 0)
				add_value(m, flaw ? 0 : gpu_of(m, type), time, (enum metric)i, m->value[i], flaw);
	}
	return scan_close(&s);
}

/* ---- all ---- */

/* By the numbers of the GPUs, and no more by who came first. */
static void order_gpus(struct metrics *m)
{
	for (uint32_t i = 1; i < m->n; i++)
		for (uint32_t k = i; k > 0 && m->number[k] < m->number[k - 1]; k--) {
			struct trace_metrics list = m->list[k];
			int64_t number = m->number[k];
			m->list[k] = m->list[k - 1];
			m->number[k] = m->number[k - 1];
			m->list[k - 1] = list;
			m->number[k - 1] = number;
		}
}

/* A counter that no sample has is none. */
static void drop_empty(struct trace_metrics *of)
{
	for (int i = 0; i < METRIC_COUNT; i++) {
		bool any = false;
		for (size_t k = 0; k < of->n && !any; k++)
			any = of->value[i][k] != METRIC_NOT_SAMPLED;
		if (!any)
			of->value[i] = NULL;
	}
}

int nsys_read_metrics(struct nsys *r)
{
	ARENA_LOCAL(scratch);
	struct metrics *m = ARENA_NEW(&scratch, 1, struct metrics);
	m->r = r;
	int result = read_names(m) || read_table(m) ? -1 : 0;
	if (result == 0 && !m->n)
		result = read_old_table(m);
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->shuffled[i])
			order_samples(&m->list[i]);
		drop_empty(&m->list[i]);
	}
	order_gpus(m);
	r->trace->metrics = m->list;
	r->trace->n_metrics = m->n;
	return result;
}

enum { SAMPLE_MAX = 64 * 1024, KEY_MAX = 128, NUMBER_ROOM = 128, DEEPEST = 31 };

/* How the names of a counter begin, in lower case. Those of NVLink count data and protocol, requests and responses,
 * each in percent of the same bandwidth: they are added up. */
static const struct {
	const char *begins;
	enum metric metric;
} NAMES[] = {
	{"sms active", METRIC_SM_ACTIVE},
	{"sm active", METRIC_SM_ACTIVE},
	{"sm issue", METRIC_SM_ISSUE},
	{"tensor active", METRIC_TENSOR},
	{"dram read bandwidth", METRIC_DRAM_READ},
	{"dram read throughput", METRIC_DRAM_READ},
	{"vram read bandwidth", METRIC_DRAM_READ},
	{"dram write bandwidth", METRIC_DRAM_WRITE},
	{"dram write throughput", METRIC_DRAM_WRITE},
	{"vram write bandwidth", METRIC_DRAM_WRITE},
	{"pcie rx throughput", METRIC_PCIE_IN},
	{"pcie read throughput", METRIC_PCIE_IN},
	{"pcie tx throughput", METRIC_PCIE_OUT},
	{"pcie write throughput", METRIC_PCIE_OUT},
	{"nvlink rx ", METRIC_NVLINK_IN},
	{"nvlink bytes received", METRIC_NVLINK_IN},
	{"nvlink tx ", METRIC_NVLINK_OUT},
	{"nvlink bytes transmitted", METRIC_NVLINK_OUT},
};

enum metric metric_of_name(const char *name, size_t n)
{
	const char *unit = memchr(name, '[', n);
	if (unit && !memchr(unit, '%', n - (size_t)(unit - name)))
		return METRIC_COUNT;
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		size_t length = strlen(NAMES[i].begins);
		if (n >= length && strncasecmp(name, NAMES[i].begins, length) == 0)
			return NAMES[i].metric;
	}
	return METRIC_COUNT;
}

struct sample {
	void (*found)(void *context, const struct metric_value *value);
	void *context;
	enum metric metric; /* of the key that was read last */
	char key[KEY_MAX];
	size_t key_n;
};

static void on_key(struct sample *s, int depth, const char *text, size_t n)
{
	s->metric = depth == 1 && n <= sizeof s->key ? metric_of_name(text, n) : METRIC_COUNT;
	s->key_n = s->metric == METRIC_COUNT ? 0 : n;
	memcpy(s->key, text, s->key_n);
}

static void on_number(struct sample *s, const char *text, size_t n)
{
	char copy[NUMBER_ROOM];
	if (s->metric == METRIC_COUNT || n == 0 || n >= sizeof copy)
		return;
	while (n && isspace((unsigned char)*text))
		text++, n--;
	memcpy(copy, text, n);
	copy[n] = 0;
	char *end;
	struct metric_value value = {s->metric, s->key, text, s->key_n, 0, strtod(copy, &end)};
	value.number_n = (size_t)(end - copy);
	if (value.number_n)
		s->found(s->context, &value);
	s->metric = METRIC_COUNT;
}

bool metric_sample_read(const char *text, size_t n, void (*found)(void *context, const struct metric_value *value),
                        void *context)
{
	if (n > SAMPLE_MAX)
		return false;
	struct sample s = {.found = found, .context = context, .metric = METRIC_COUNT};
	struct json_scan json;
	json_scan_open_text(&json, text, n, DEEPEST);
	json.strict = false;
	for (enum json_token token; (token = json_scan_next(&json)) > TOKEN_END;)
		if (token == TOKEN_KEY)
			on_key(&s, json.depth, json.text, json.n);
		else if (token == TOKEN_NUMBER || token == TOKEN_TEXT) /* numbers are written as texts, too */
			on_number(&s, json.text, json.n);
		else if (token == TOKEN_OBJECT || token == TOKEN_ARRAY)
			s.metric = METRIC_COUNT;
	json_scan_close(&json);
	return !json.flaw;
}
