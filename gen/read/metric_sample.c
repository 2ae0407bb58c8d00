#include "read/metric_sample.h"

#include "base/json_writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yajl/yajl_parse.h>

enum { SAMPLE_MAX = 64 * 1024, KEY_MAX = 128, NUMBER_ROOM = 128, DEEPEST = 32 };

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
	int depth;
	enum metric metric; /* of the key that was read last */
	char key[KEY_MAX];
	size_t key_n;
};

static int on_key(void *context, const unsigned char *text, size_t n)
{
	struct sample *s = context;
	s->metric = s->depth == 1 && n <= sizeof s->key ? metric_of_name((const char *)text, n) : METRIC_COUNT;
	s->key_n = s->metric == METRIC_COUNT ? 0 : n;
	memcpy(s->key, text, s->key_n);
	return 1;
}

static int on_number(void *context, const char *text, size_t n)
{
	struct sample *s = context;
	char copy[NUMBER_ROOM];
	if (s->metric == METRIC_COUNT || n == 0 || n >= sizeof copy)
		return 1;
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
	return 1;
}

static int on_string(void *context, const unsigned char *text, size_t n)
{
	return on_number(context, (const char *)text, n); /* numbers are written as texts, too */
}

static int on_open(void *context)
{
	struct sample *s = context;
	s->metric = METRIC_COUNT;
	return ++s->depth < DEEPEST;
}

static int on_close(void *context)
{
	((struct sample *)context)->depth--;
	return 1;
}

static const yajl_callbacks CALLBACKS = {.yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_open,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_close,
                                         .yajl_start_array = on_open,
                                         .yajl_end_array = on_close};

bool metric_sample_read(const char *text, size_t n, void (*found)(void *context, const struct metric_value *value),
                        void *context)
{
	if (n > SAMPLE_MAX)
		return false;
	struct sample s = {.found = found, .context = context, .metric = METRIC_COUNT};
	yajl_handle json = yajl_alloc(&CALLBACKS, json_memory(), &s);
	yajl_config(json, yajl_dont_validate_strings, 1);
	bool whole = yajl_parse(json, (const unsigned char *)text, n) == yajl_status_ok &&
	             yajl_complete_parse(json) == yajl_status_ok;
	yajl_free(json);
	return whole;
}
