/* What stands in a digest beside its rows: where the profile comes from, names, processes, samples, counts. */
#include "base/list.h"
#include "read/digest_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 10000000 };
static const int64_t CLOCK_FAR = (int64_t)1 << 62; /* ns from 1970 */

static uint32_t take_text(struct decoder *d, struct taken *from)
{
	size_t n;
	const char *text = taken_bytes(from, &n);
	return names_add(d->names, text, n);
}

/* A text that stands beside rows: names may be gone before. */
static const char *keep_text(const struct decoder *d, uint32_t id)
{
	const char *text = names_text(d->names, id);
	return arena_copy(d->arena, text, strlen(text));
}

static int64_t take_signed(struct taken *from)
{
	return number_unfold(number_take(from));
}

/* A number below `n`. */
static uint32_t take_below(struct taken *from, uint64_t n)
{
	uint64_t v = number_take(from);
	from->bad = from->bad || v >= n;
	return from->bad ? 0 : (uint32_t)v;
}

static int64_t take_between(struct taken *from, int64_t low, int64_t high)
{
	int64_t v = take_signed(from);
	from->bad = from->bad || v < low || v > high;
	return from->bad ? low : v;
}

static uint32_t take_name(const struct decoder *d, struct taken *from)
{
	uint32_t number = take_below(from, d->n_names);
	return from->bad ? 0 : d->id[number];
}

static int take_names(struct decoder *d)
{
	struct taken from = decoder_section(d, "names"), count = from;
	size_t n, total = 1;
	for (; taken_more(&count); total++)
		taken_bytes(&count, &n);
	if (count.bad || total > UINT32_MAX / 2)
		return decoder_damaged(d, "names");
	d->id = ARENA_NEW(d->arena, total, uint32_t);
	for (d->n_names = 1; taken_more(&from); d->n_names++)
		d->id[d->n_names] = take_text(d, &from);
	return 0;
}

static bool is(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(text, word, n) == 0;
}

/* The number that a text is; `other` where it is none from `low` to `high`. */
static int64_t number_of(const char *text, size_t n, int64_t low, int64_t high, int64_t other)
{
	char digits[24] = "", *rest;
	if (!n || n >= sizeof digits)
		return other;
	memcpy(digits, text, n);
	errno = 0;
	long long v = strtoll(digits, &rest, 10);
	return *rest || errno || v < low || v > high ? other : v;
}

static uint64_t hash_of(const char *text, size_t n)
{
	char digits[20] = "", *rest;
	if (!n || n >= sizeof digits)
		return 0;
	memcpy(digits, text, n);
	uint64_t v = strtoull(digits, &rest, 16);
	return *rest ? 0 : v;
}

static void take_fact(struct decoder *d, const char *name, size_t n, const char *value, size_t m)
{
	struct trace_source *s = &d->trace->source;
	const struct {
		const char *name, **to;
	} texts[] = {{"collector", &s->collector},  {"exporter", &s->exporter},       {"schema", &s->schema},
	             {"driver", &s->driver},        {"cuda_driver", &s->cuda_driver}, {"captured_by", &s->captured_by},
	             {"cupti", &s->cupti},          {"traced", &s->traced},           {"sampled_by", &s->sampled_by},
	             {"incomplete", &s->incomplete}};
	const struct {
		const char *name;
		bool *to;
	} flags[] = {{"has_calls", &s->has_calls},
	             {"has_ranges", &s->has_ranges},
	             {"has_os_calls", &s->has_os_calls},
	             {"has_overheads", &s->has_overheads},
	             {"has_lock", &s->has_lock}};
	const struct {
		const char *name;
		int64_t *to, low, high, other;
	} numbers[] = {{"lost", &s->lost, 0, FAR, 0},
	               {"lost_events", &s->lost_events, 0, FAR, 0},
	               {"sample_ns", &s->sample_ns, 0, FAR, 0},
	               {"samples_torn", &s->samples_torn, 0, FAR, 0},
	               {"others", &s->others, 0, FAR, 0},
	               {"ranges_ns", &s->ranges_ns, 0, FAR, 0},
	               {"started", &s->started, 1, CLOCK_FAR, TRACE_NO_TIME},
	               {"began", &s->began, -FAR, FAR, TRACE_NO_TIME},
	               {"last_range_time", &d->trace->ranges.last_time, -FAR, FAR, 0}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (is(name, n, texts[i].name))
			*texts[i].to = keep_text(d, names_add(d->names, value, m));
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (is(name, n, flags[i].name))
			*flags[i].to = true;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (is(name, n, numbers[i].name))
			*numbers[i].to = number_of(value, m, numbers[i].low, numbers[i].high, numbers[i].other);
	if (is(name, n, "kind"))
		s->kind = is(value, m, "gapline")  ? SOURCE_GAPLINE
		          : is(value, m, "kineto") ? SOURCE_KINETO
		                                   : SOURCE_NSYS_SQLITE;
	else if (is(name, n, "graphs"))
		s->graphs = is(value, m, "whole") ? GRAPHS_WHOLE : is(value, m, "node") ? GRAPHS_BY_NODE : GRAPHS_NONE;
	else if (is(name, n, "rank"))
		s->rank = (int32_t)number_of(value, m, 0, RANKS_MAX, -1);
	else if (is(name, n, "ranks"))
		s->ranks = (int32_t)number_of(value, m, 0, RANKS_MAX, -1);
	else if (is(name, n, "host"))
		s->host = hash_of(value, m);
	else if (is(name, n, "job"))
		s->job = hash_of(value, m);
}

static int take_source(struct decoder *d)
{
	struct trace_source *s = &d->trace->source;
	struct taken from = decoder_section(d, "source");
	*s = trace_source_unknown();
	while (taken_more(&from)) {
		size_t n, m;
		const char *name = taken_bytes(&from, &n), *value = taken_bytes(&from, &m);
		take_fact(d, name, n, value, m);
	}
	return from.bad ? decoder_damaged(d, "source") : 0;
}

/* The items of a section, one after the other: room for another one of `size` bytes behind the `n` there are. A rank
 * has one of most. */
static void *another(struct decoder *d, void *list, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return list;
	uint32_t before = *room;
	*room = before ? (uint32_t)list_more(before) : 1;
	return arena_grow(d->arena, list, before, *room, size);
}

/* Parts of peaks, of one kind of names. */
static int take_held(struct decoder *d, enum held_by by)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, DIGEST_HELD[by]);
	while (taken_more(&from)) {
		const uint32_t device = take_below(&from, t->n_devices);
		struct trace_held held;
		held.name = take_name(d, &from);
		held.bytes = take_between(&from, 1, FAR);
		if (from.bad)
			break; /* perhaps there is no device */
		struct trace_device *v = &t->devices[device];
		struct trace_held *out = v->held[by];
		int64_t most = v->memory_peak; /* the largest is first, and together they are no more than the peak */
		uint32_t k = 0;
		while (k < HELD_MOST && out[k].bytes)
			most -= out[k++].bytes;
		from.bad = k == HELD_MOST || held.bytes > most || (k && held.bytes > out[k - 1].bytes);
		if (from.bad)
			break;
		out[k] = held;
	}
	return from.bad ? decoder_damaged(d, DIGEST_HELD[by]) : 0;
}

/* Of every device, or there is no such section: nothing is known then. */
static int take_memory(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, "memory");
	bool any = taken_more(&from);
	for (uint32_t i = 0; any && i < t->n_devices; i++) {
		struct trace_device *v = &t->devices[i];
		v->memory = take_below(&from, MEMORY_ALLOCATOR + 1);
		v->memory_peak = take_between(&from, 0, FAR);
		from.bad = from.bad || (v->memory != MEMORY_SEEN && v->memory != MEMORY_ALLOCATOR && v->memory_peak);
	}
	if (from.bad || from.at != from.end)
		return decoder_damaged(d, "memory");
	return take_held(d, HELD_BY_RANGE) < 0 ? -1 : take_held(d, HELD_BY_OPERATOR);
}

int decoder_take_places(struct decoder *d)
{
	struct trace *t = d->trace;
	uint32_t room = 0;
	struct taken from = decoder_section(d, "processes");
	for (; taken_more(&from); t->n_processes++) {
		t->processes = another(d, t->processes, t->n_processes, &room, sizeof *t->processes);
		struct trace_process *p = &t->processes[t->n_processes];
		p->pid = take_signed(&from);
		p->name = take_name(d, &from);
		p->rank = (int32_t)take_between(&from, -1, RANKS_MAX);
		p->host = number_take(&from);
	}
	if (from.bad)
		return decoder_damaged(d, "processes");
	room = 0;
	for (from = decoder_section(d, "threads"); taken_more(&from); t->n_threads++) {
		t->threads = another(d, t->threads, t->n_threads, &room, sizeof *t->threads);
		struct trace_thread *h = &t->threads[t->n_threads];
		h->tid = take_signed(&from);
		h->process = take_below(&from, t->n_processes);
		h->name = take_name(d, &from);
	}
	if (from.bad)
		return decoder_damaged(d, "threads");
	room = 0;
	for (from = decoder_section(d, "gpus"); taken_more(&from); t->n_gpus++) {
		t->gpus = another(d, t->gpus, t->n_gpus, &room, sizeof *t->gpus);
		struct trace_gpu *g = &t->gpus[t->n_gpus];
		g->name = take_name(d, &from);
		g->id = number_take(&from);
		g->memory_bytes = take_between(&from, 0, FAR);
		g->clock_hz = take_between(&from, 0, FAR);
		g->sm_count = take_between(&from, 0, FAR);
	}
	if (from.bad)
		return decoder_damaged(d, "gpus");
	room = 0;
	for (from = decoder_section(d, "devices"); taken_more(&from); t->n_devices++) {
		t->devices = another(d, t->devices, t->n_devices, &room, sizeof *t->devices);
		struct trace_device *v = &t->devices[t->n_devices];
		v->process = take_below(&from, t->n_processes);
		v->ordinal = take_below(&from, TRACE_NONE);
		uint32_t gpu = take_below(&from, (uint64_t)t->n_gpus + 1);
		v->gpu = gpu ? gpu - 1 : TRACE_NONE;
	}
	return from.bad ? decoder_damaged(d, "devices") : take_memory(d);
}

static int take_samples(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, "gpu_samples");
	uint32_t room = 0, n = 0;
	for (; taken_more(&from); n++) {
		t->gpu_samples = another(d, t->gpu_samples, n, &room, sizeof *t->gpu_samples);
		struct trace_gpu_sample *s = &t->gpu_samples[n];
		s->gpu = take_below(&from, t->n_gpus);
		int64_t before = n && s[-1].gpu == s->gpu ? s[-1].time : 0;
		s->time = (int64_t)((uint64_t)take_signed(&from) + (uint64_t)before);
		s->sm_mhz = (int32_t)take_between(&from, -1, INT32_MAX);
		s->memory_mhz = (int32_t)take_between(&from, -1, INT32_MAX);
		s->power_mw = (int32_t)take_between(&from, -1, INT32_MAX);
		s->temperature_c = (int32_t)take_between(&from, -1, INT32_MAX);
		s->busy_percent = (int32_t)take_between(&from, -1, 100);
		s->has_limits = take_below(&from, 2);
		s->limits = number_take(&from);
		bool in_order = !n || s[-1].gpu < s->gpu || (s[-1].gpu == s->gpu && s[-1].time <= s->time);
		from.bad = from.bad || !in_order || s->time < -FAR || s->time > FAR;
	}
	t->n_gpu_samples = n;
	return from.bad ? decoder_damaged(d, "gpu_samples") : 0;
}

/* The values of one counter of all GPUs; a GPU for which there are none has no list. */
static bool take_metric(struct decoder *d, enum metric metric)
{
	struct taken from = decoder_section(d, DIGEST_METRICS[metric]);
	for (uint32_t i = 0; i < d->trace->n_metrics && taken_more(&from); i++) {
		struct trace_metrics *m = &d->trace->metrics[i];
		bool any = false;
		if (m->n > (size_t)(from.end - from.at))
			return false;
		uint8_t *value = ARENA_NEW(d->arena, m->n, uint8_t);
		for (size_t k = 0; k < m->n; k++) {
			value[k] = (uint8_t)take_below(&from, METRIC_NOT_SAMPLED + 1);
			any = any || value[k] != METRIC_NOT_SAMPLED;
		}
		m->value[metric] = any ? value : NULL;
	}
	return !from.bad && from.at == from.end;
}

static int take_metrics(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, "metrics"), time = decoder_section(d, "metrics.time");
	uint32_t room = 0;
	for (; taken_more(&from); t->n_metrics++) {
		t->metrics = another(d, t->metrics, t->n_metrics, &room, sizeof *t->metrics);
		struct trace_metrics *m = &t->metrics[t->n_metrics];
		uint32_t gpu = take_below(&from, (uint64_t)t->n_gpus + 1);
		m->gpu = gpu ? gpu - 1 : TRACE_NONE;
		m->n = take_below(&from, (uint64_t)(time.end - time.at) + 1);
		m->time = ARENA_NEW(d->arena, m->n, int64_t);
		uint64_t gap = 0, before = 0;
		for (size_t k = 0; k < m->n; k++) {
			gap += (uint64_t)take_signed(&time);
			before += gap;
			m->time[k] = (int64_t)before;
			bool fits = m->time[k] >= -FAR && m->time[k] <= FAR && (!k || m->time[k] >= m->time[k - 1]);
			time.bad = time.bad || !fits;
		}
	}
	if (from.bad || time.bad || time.at != time.end)
		return decoder_damaged(d, "metrics");
	for (int metric = 0; metric < METRIC_COUNT; metric++)
		if (!take_metric(d, metric))
			return decoder_damaged(d, DIGEST_METRICS[metric]);
	return 0;
}

static int take_stopwatch(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, "stopwatch"), looked = decoder_section(d, "stopwatch.looked");
	struct taken energy = decoder_section(d, "stopwatch.energy");
	uint32_t room = 0;
	for (; taken_more(&from); t->n_stopwatch++) {
		t->stopwatch = another(d, t->stopwatch, t->n_stopwatch, &room, sizeof *t->stopwatch);
		struct trace_stopwatch *s = &t->stopwatch[t->n_stopwatch];
		s->start = take_between(&from, -CLOCK_FAR, CLOCK_FAR);
		s->time = take_between(&from, 0, FAR);
		s->process = take_between(&from, 0, FAR);
		s->steps = take_below(&from, TRACE_NONE);
		s->launches = take_below(&from, TRACE_NONE);
		const char *step = keep_text(d, take_text(d, &from));
		s->step = *step ? step : NULL;
		const char *unused = keep_text(d, take_text(d, &from));
		s->unused = *unused ? unused : NULL;
		s->looked = taken_more(&looked) && take_below(&looked, 2);
		s->energy = taken_more(&energy) ? take_between(&energy, 1 - ENERGY_FLAWS, ENERGY_MOST * 1024) : 0;
		bool after = !t->n_stopwatch || (s->start >= s[-1].start && s->steps == s[-1].steps);
		from.bad = from.bad || !after || s->time > s->process || (s->time == 0) != (s->unused != NULL);
	}
	if (looked.bad || looked.at != looked.end)
		return decoder_damaged(d, "stopwatch.looked");
	if (energy.bad || energy.at != energy.end)
		return decoder_damaged(d, "stopwatch.energy");
	return from.bad ? decoder_damaged(d, "stopwatch") : 0;
}

/* The kind that a word stands for; ROW_KINDS: none that is known here. */
static enum row_kind take_kind(struct taken *from)
{
	size_t n;
	const char *word = taken_bytes(from, &n);
	int kind = 0;
	while (kind < ROW_KINDS && !is(word, n, row_kind_name((enum row_kind)kind)))
		kind++;
	return (enum row_kind)kind;
}

static int take_counts(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = decoder_section(d, "rows");
	while (taken_more(&from)) {
		enum row_kind kind = take_kind(&from);
		struct trace_count count = {0};
		count.read = take_between(&from, 0, FAR / ROW_KINDS);
		count.dropped = take_between(&from, 0, FAR / ROW_KINDS);
		if (kind < ROW_KINDS)
			t->rows[kind] = count;
	}
	if (from.bad)
		return decoder_damaged(d, "rows");
	uint32_t room = 0;
	for (from = decoder_section(d, "dropped"); taken_more(&from);) {
		t->dropped = another(d, t->dropped, t->n_dropped, &room, sizeof *t->dropped);
		struct trace_dropped *row = &t->dropped[t->n_dropped];
		row->kind = take_kind(&from);
		row->where = keep_text(d, take_text(d, &from));
		row->reason = keep_text(d, take_text(d, &from));
		row->rows = take_between(&from, 0, FAR / ROW_KINDS);
		t->n_dropped += row->kind < ROW_KINDS;
	}
	if (from.bad)
		return decoder_damaged(d, "dropped");
	room = 0;
	for (from = decoder_section(d, "diagnostics"); taken_more(&from); t->n_diagnostics++) {
		t->diagnostics = another(d, t->diagnostics, t->n_diagnostics, &room, sizeof *t->diagnostics);
		t->diagnostics[t->n_diagnostics].severity = (int)take_between(&from, 0, 100);
		t->diagnostics[t->n_diagnostics].text = take_name(d, &from);
	}
	return from.bad ? decoder_damaged(d, "diagnostics") : 0;
}

int decoder_take_things(struct decoder *d)
{
	bool failed = take_source(d) != 0 || take_names(d) != 0 || decoder_take_places(d) != 0 ||
	              take_samples(d) != 0 || take_metrics(d) != 0 || take_stopwatch(d) != 0 || take_counts(d) != 0;
	return failed ? -1 : 0;
}
