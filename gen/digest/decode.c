/* Every number of a digest is looked at before it is used: a digest is a file like any other, and whoever wrote it may
 * have meant harm. */
#include "digest/digest.h"
#include "digest/layout.h"
#include "digest/numbers.h"
#include "digest/words.h"
#include "trace/classify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 256, RANKS_MAX = 10000000 };
static const int64_t FAR = (int64_t)1 << 60;       /* ns; no time is so far from the start of a capture */
static const int64_t CLOCK_FAR = (int64_t)1 << 62; /* … and from 1970 */

struct section {
	const char *name;
	size_t name_n;
	const unsigned char *data;
	size_t n;
};

struct decoder {
	const char *path;
	struct err *err;
	struct names *names;
	struct arena *arena;
	struct arena scratch;
	struct trace *trace;
	struct section section[SECTIONS_MAX];
	size_t n_sections;
	uint32_t *id; /* of a name, by its number in the digest */
	uint32_t n_names;
	int64_t *last;
};

static int damaged(const struct decoder *d, const char *where)
{
	return err_set(d->err, "%s: is damaged: '%s' of this digest makes no sense; copy or make it again", d->path,
	               where);
}

static struct taken section(const struct decoder *d, const char *name)
{
	for (size_t i = 0; i < d->n_sections; i++)
		if (d->section[i].name_n == strlen(name) && memcmp(d->section[i].name, name, strlen(name)) == 0)
			return (struct taken){d->section[i].data, d->section[i].data + d->section[i].n, false};
	return (struct taken){0};
}

static bool more(const struct taken *from)
{
	return !from->bad && from->at < from->end;
}

/* ---- parts ---- */

/* Borrowed; not terminated. */
static const char *take_bytes(struct taken *from, size_t *n)
{
	uint64_t length = number_take(from);
	if (from->bad || length > (uint64_t)(from->end - from->at)) {
		from->bad = true;
		*n = 0;
		return "";
	}
	const char *text = (const char *)from->at;
	from->at += length;
	*n = (size_t)length;
	return text;
}

static uint32_t take_text(struct decoder *d, struct taken *from)
{
	size_t n;
	const char *text = take_bytes(from, &n);
	return names_add(d->names, text, n);
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

/* ---- sections ---- */

static int find_sections(struct decoder *d, const unsigned char *bytes, size_t n)
{
	static const char end[] = "end";
	struct taken from = {bytes, bytes + n, false};
	const unsigned char *line = memchr(bytes, '\n', n);
	for (from.at = line ? line + 1 : from.end; more(&from);) {
		const unsigned char *begin = from.at;
		struct section s;
		s.name = take_bytes(&from, &s.name_n);
		s.data = (const unsigned char *)take_bytes(&from, &s.n);
		if (from.bad)
			break;
		if (s.name_n == strlen(end) && memcmp(s.name, end, s.name_n) == 0) {
			uint32_t sum = digest_checksum(bytes, (size_t)(begin - bytes)), said = 0;
			for (size_t i = 0; i < s.n && i < 4; i++)
				said |= (uint32_t)s.data[i] << 8 * i;
			if (s.n != 4 || said != sum)
				return err_set(d->err,
				               "%s: is damaged: the checksum of this digest differs from what is in "
				               "it; copy it again",
				               d->path);
			return 0;
		}
		if (d->n_sections < SECTIONS_MAX) /* there may be sections that later versions know */
			d->section[d->n_sections++] = s;
	}
	return err_set(d->err, "%s: is cut off: this digest has no end; copy it again", d->path);
}

/* ---- what is not a row ---- */

static int take_names(struct decoder *d)
{
	struct taken from = section(d, "names"), count = from;
	size_t n, total = 1;
	for (; more(&count); total++)
		take_bytes(&count, &n);
	if (count.bad || total > UINT32_MAX / 2)
		return damaged(d, "names");
	d->id = ARENA_NEW(&d->scratch, total, uint32_t);
	for (d->n_names = 1; more(&from); d->n_names++)
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
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (is(name, n, texts[i].name))
			*texts[i].to = names_text(d->names, names_add(d->names, value, m));
	if (is(name, n, "kind"))
		s->kind = is(value, m, "gapline")  ? SOURCE_GAPLINE
		          : is(value, m, "kineto") ? SOURCE_KINETO
		                                   : SOURCE_NSYS_SQLITE;
	else if (is(name, n, "graphs"))
		s->graphs = is(value, m, "whole") ? GRAPHS_WHOLE : is(value, m, "node") ? GRAPHS_BY_NODE : GRAPHS_NONE;
	else if (is(name, n, "has_calls"))
		s->has_calls = true;
	else if (is(name, n, "has_ranges"))
		s->has_ranges = true;
	else if (is(name, n, "has_os_calls"))
		s->has_os_calls = true;
	else if (is(name, n, "has_overheads"))
		s->has_overheads = true;
	else if (is(name, n, "lost"))
		s->lost = number_of(value, m, 0, FAR, 0);
	else if (is(name, n, "started"))
		s->started = number_of(value, m, 1, CLOCK_FAR, TRACE_NO_TIME);
	else if (is(name, n, "rank"))
		s->rank = (int32_t)number_of(value, m, 0, RANKS_MAX, -1);
	else if (is(name, n, "ranks"))
		s->ranks = (int32_t)number_of(value, m, 0, RANKS_MAX, -1);
	else if (is(name, n, "host"))
		s->host = hash_of(value, m);
	else if (is(name, n, "job"))
		s->job = hash_of(value, m);
	else if (is(name, n, "last_range_time"))
		d->trace->ranges.last_time = number_of(value, m, -FAR, FAR, 0);
}

static int take_source(struct decoder *d)
{
	struct trace_source *s = &d->trace->source;
	struct taken from = section(d, "source");
	*s = (struct trace_source){.collector = "",
	                           .exporter = "",
	                           .schema = "",
	                           .driver = "",
	                           .cuda_driver = "",
	                           .captured_by = "",
	                           .cupti = "",
	                           .traced = "",
	                           .sampled_by = "",
	                           .incomplete = "",
	                           .started = TRACE_NO_TIME,
	                           .rank = -1,
	                           .ranks = -1};
	while (more(&from)) {
		size_t n, m;
		const char *name = take_bytes(&from, &n), *value = take_bytes(&from, &m);
		take_fact(d, name, n, value, m);
	}
	return from.bad ? damaged(d, "source") : 0;
}

/* The items of a section, one after the other: room for another one of `size` bytes behind the `n` there are. */
static void *another(struct decoder *d, void *list, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return list;
	uint32_t before = *room;
	*room = before ? 2 * before : 16;
	return arena_grow(d->arena, list, before, *room, size);
}

static int take_things(struct decoder *d)
{
	struct trace *t = d->trace;
	uint32_t room = 0;
	struct taken from = section(d, "processes");
	for (; more(&from); t->n_processes++) {
		t->processes = another(d, t->processes, t->n_processes, &room, sizeof *t->processes);
		struct trace_process *p = &t->processes[t->n_processes];
		p->pid = take_signed(&from);
		p->name = take_name(d, &from);
		p->rank = (int32_t)take_between(&from, -1, RANKS_MAX);
		p->host = number_take(&from);
	}
	if (from.bad)
		return damaged(d, "processes");
	room = 0;
	for (from = section(d, "threads"); more(&from); t->n_threads++) {
		t->threads = another(d, t->threads, t->n_threads, &room, sizeof *t->threads);
		struct trace_thread *h = &t->threads[t->n_threads];
		h->tid = take_signed(&from);
		h->process = take_below(&from, t->n_processes);
		h->name = take_name(d, &from);
	}
	if (from.bad)
		return damaged(d, "threads");
	room = 0;
	for (from = section(d, "gpus"); more(&from); t->n_gpus++) {
		t->gpus = another(d, t->gpus, t->n_gpus, &room, sizeof *t->gpus);
		struct trace_gpu *g = &t->gpus[t->n_gpus];
		g->name = take_name(d, &from);
		g->id = number_take(&from);
		g->memory_bytes = take_between(&from, 0, FAR);
		g->clock_hz = take_between(&from, 0, FAR);
		g->sm_count = take_between(&from, 0, FAR);
	}
	if (from.bad)
		return damaged(d, "gpus");
	room = 0;
	for (from = section(d, "devices"); more(&from); t->n_devices++) {
		t->devices = another(d, t->devices, t->n_devices, &room, sizeof *t->devices);
		struct trace_device *v = &t->devices[t->n_devices];
		v->process = take_below(&from, t->n_processes);
		v->ordinal = take_below(&from, TRACE_NONE);
		uint32_t gpu = take_below(&from, (uint64_t)t->n_gpus + 1);
		v->gpu = gpu ? gpu - 1 : TRACE_NONE;
	}
	return from.bad ? damaged(d, "devices") : 0;
}

static int take_samples(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = section(d, "gpu_samples");
	uint32_t room = 0, n = 0;
	for (; more(&from); n++) {
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
	return from.bad ? damaged(d, "gpu_samples") : 0;
}

static int take_stopwatch(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = section(d, "stopwatch");
	uint32_t room = 0;
	for (; more(&from); t->n_stopwatch++) {
		t->stopwatch = another(d, t->stopwatch, t->n_stopwatch, &room, sizeof *t->stopwatch);
		struct trace_stopwatch *s = &t->stopwatch[t->n_stopwatch];
		s->start = take_between(&from, -CLOCK_FAR, CLOCK_FAR);
		s->time = take_between(&from, 0, FAR);
		s->process = take_between(&from, 0, FAR);
		s->steps = take_below(&from, TRACE_NONE);
		const char *unused = names_text(d->names, take_text(d, &from));
		s->unused = *unused ? unused : NULL;
		bool after = !t->n_stopwatch || (s->start >= s[-1].start && s->steps == s[-1].steps);
		from.bad = from.bad || !after || s->time > s->process || (s->time == 0) != (s->unused != NULL);
	}
	return from.bad ? damaged(d, "stopwatch") : 0;
}

/* The kind that a word stands for; ROW_KINDS: none that is known here. */
static enum row_kind take_kind(struct taken *from)
{
	size_t n;
	const char *word = take_bytes(from, &n);
	int kind = 0;
	while (kind < ROW_KINDS && !is(word, n, DIGEST_KINDS[kind]))
		kind++;
	return (enum row_kind)kind;
}

static int take_counts(struct decoder *d)
{
	struct trace *t = d->trace;
	struct taken from = section(d, "rows");
	while (more(&from)) {
		enum row_kind kind = take_kind(&from);
		struct trace_count count = {0};
		count.read = take_between(&from, 0, FAR / ROW_KINDS);
		count.dropped = take_between(&from, 0, FAR / ROW_KINDS);
		if (kind < ROW_KINDS)
			t->rows[kind] = count;
	}
	if (from.bad)
		return damaged(d, "rows");
	uint32_t room = 0;
	for (from = section(d, "dropped"); more(&from);) {
		t->dropped = another(d, t->dropped, t->n_dropped, &room, sizeof *t->dropped);
		struct trace_dropped *row = &t->dropped[t->n_dropped];
		row->kind = take_kind(&from);
		row->where = names_text(d->names, take_text(d, &from));
		row->reason = names_text(d->names, take_text(d, &from));
		row->rows = take_between(&from, 0, FAR / ROW_KINDS);
		t->n_dropped += row->kind < ROW_KINDS;
	}
	if (from.bad)
		return damaged(d, "dropped");
	room = 0;
	for (from = section(d, "diagnostics"); more(&from); t->n_diagnostics++) {
		t->diagnostics = another(d, t->diagnostics, t->n_diagnostics, &room, sizeof *t->diagnostics);
		t->diagnostics[t->n_diagnostics].severity = (int)take_between(&from, 0, 100);
		t->diagnostics[t->n_diagnostics].text = take_name(d, &from);
	}
	return from.bad ? damaged(d, "diagnostics") : 0;
}

/* ---- rows ---- */

/* Values of a column are below this. */
static uint64_t limit_of(const struct decoder *d, const struct layout_column *c)
{
	switch (c->role) {
	case COLUMN_NAME:
	case COLUMN_DOMAIN:
		return d->n_names;
	case COLUMN_THREAD:
		return d->trace->n_threads;
	case COLUMN_DEVICE:
		return d->trace->n_devices;
	case COLUMN_TIME:
		return 2 * (uint64_t)FAR + 1;
	default:
		return c->limit ? c->limit : c->size == 4 ? (uint64_t)UINT32_MAX + 1 : UINT64_MAX;
	}
}

/* A start, from the end of the row before; what stands for the end so far is the length. */
static bool set_times(const struct layout_guess *g, size_t i, int64_t rest)
{
	int64_t *start = g->start, *end = g->end;
	start[i] = (int64_t)((uint64_t)rest + (uint64_t)layout_guess_base(g, i));
	if (start[i] < -FAR || start[i] > FAR)
		return false;
	end[i] += start[i];
	return end[i] <= FAR;
}

static int take_column(struct decoder *d, const struct layout_table *table, const struct layout_column *c)
{
	size_t n = *columns_rows(d->trace, table->rows);
	struct taken from = section(d, c->name);
	void *values = layout_values(d->trace, table, c);
	uint64_t limit = limit_of(d, c);
	struct layout_guess guess;
	if (number_count(from.at, (size_t)(from.end - from.at)) != n)
		return damaged(d, c->name);
	layout_guess_begin(&guess, d->trace, table, c, NULL, d->last);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = number_take(&from);
		int64_t *last = layout_guess_last(&guess, i);
		if (last) {
			value = (uint64_t)number_unfold(value) + (uint64_t)*last;
			*last = (int64_t)value;
		}
		if (from.bad || (c->how == LAYOUT_START ? !set_times(&guess, i, (int64_t)value) : value >= limit))
			return damaged(d, c->name);
		if (c->how != LAYOUT_START)
			layout_set(values, c->size, i, (int64_t)value);
	}
	return 0;
}

static int take_rows(struct decoder *d, const struct layout_table *table)
{
	struct trace *t = d->trace;
	struct taken first = section(d, table->column->name);
	size_t n = number_count(first.at, (size_t)(first.end - first.at));
	if (n >= TRACE_NONE)
		return damaged(d, table->column->name);
	columns_resize(t, table->rows, d->arena, 0, n, false);
	*columns_rows(t, table->rows) = n;
	for (size_t c = 0; c < table->n; c++)
		if (take_column(d, table, &table->column[c]) != 0)
			return -1;
	return 0;
}

/* Until here names were their numbers in the digest. What they mean is told anew, as if the rows came from the profile:
 * a later version may know more of them. */
static void tell_names(struct decoder *d)
{
	struct trace *t = d->trace;
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(t, rows, COLUMN_NAME, d->id);
		columns_renumber(t, rows, COLUMN_DOMAIN, d->id);
	}
	enum { UNKNOWN, KNOWN = 128 };
	uint8_t *class = ARENA_NEW(&d->scratch, d->names->n, uint8_t);
	for (size_t i = 0; i < t->ops.n; i++) {
		uint32_t name = t->ops.name[i];
		if (t->ops.kind[i] != OP_KERNEL && t->ops.kind[i] != OP_COMM)
			continue;
		if (!class[name])
			class[name] = KNOWN | (classify_comm(names_text(d->names, name)) ? OP_COMM : OP_KERNEL);
		t->ops.kind[i] = class[name] & (KNOWN - 1);
	}
	memset(class, UNKNOWN, d->names->n);
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t name = t->calls.name[i];
		if (!class[name])
			class[name] = (uint8_t)(KNOWN | classify_call(names_text(d->names, name)));
		t->calls.class[i] = class[name] & (KNOWN - 1);
	}
	memset(class, UNKNOWN, d->names->n);
	for (size_t i = 0; i < t->os_calls.n; i++) {
		uint32_t name = t->os_calls.name[i];
		if (!class[name])
			class[name] = (uint8_t)(KNOWN | classify_os(names_text(d->names, name)));
		t->os_calls.class[i] = class[name] & (KNOWN - 1);
	}
}

/* What trace_link does not put in order, and what must not overlap. */
static int check_order(const struct decoder *d)
{
	const struct trace_unprofiled *u = &d->trace->unprofiled;
	const struct trace_slices *s = &d->trace->slices;
	for (size_t i = 1; i < u->n; i++)
		if (u->thread[i] < u->thread[i - 1] ||
		    (u->thread[i] == u->thread[i - 1] && u->start[i] < u->start[i - 1]))
			return damaged(d, "unprofiled.start");
	for (size_t i = 1; i < s->n; i++)
		if (s->thread[i] < s->thread[i - 1] ||
		    (s->thread[i] == s->thread[i - 1] && s->start[i] < s->end[i - 1]))
			return damaged(d, "slices.start");
	return 0;
}

static int take_all(struct decoder *d)
{
	if (take_source(d) != 0 || take_names(d) != 0 || take_things(d) != 0 || take_samples(d) != 0 ||
	    take_stopwatch(d) != 0 || take_counts(d) != 0)
		return -1;
	for (int i = 0; i < LAYOUT_TABLES; i++)
		if (take_rows(d, &LAYOUT[i]) != 0)
			return -1;
	return check_order(d);
}

int digest_decode(const char *path, const unsigned char *bytes, size_t n, struct names *names, struct arena *arena,
                  struct trace *trace, struct err *err)
{
	struct decoder d = {.path = path, .err = err, .names = names, .arena = arena, .trace = trace};
	size_t head = strlen(LAYOUT_MAGIC);
	*trace = (struct trace){.names = names};
	d.last = ARENA_NEW(&d.scratch, LAYOUT_PLACES, int64_t);
	int result = -1;
	if (n < head + 2 || bytes[head] != '0' + DIGEST_VERSION || bytes[head + 1] != '\n')
		err_set(err,
		        "%s: is a digest of another version (this is for version %d); make it again with this "
		        "gapline, or read it with the newer one",
		        path, DIGEST_VERSION);
	else
		result = find_sections(&d, bytes, n) != 0 ? -1 : take_all(&d);
	if (result == 0) {
		tell_names(&d);
		trace_link(trace, arena);
	}
	arena_release(&d.scratch);
	return result;
}
