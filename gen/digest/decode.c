/* Every number of a digest is looked at before it is used: a digest is a file like any other, and whoever wrote it may
 * have meant harm. */
#include "digest/decoder.h"
#include "digest/digest.h"
#include "digest/layout.h"
#include "trace/classify.h"

#include <string.h>

int decoder_damaged(const struct decoder *d, const char *where)
{
	return err_set(d->err, "%s: is damaged: '%s' of this digest makes no sense; copy or make it again", d->path,
	               where);
}

struct taken decoder_section(const struct decoder *d, const char *name)
{
	for (size_t i = 0; i < d->n_sections; i++)
		if (d->section[i].name_n == strlen(name) && memcmp(d->section[i].name, name, strlen(name)) == 0)
			return (struct taken){d->section[i].data, d->section[i].data + d->section[i].n, false};
	return (struct taken){0};
}

const char *taken_bytes(struct taken *from, size_t *n)
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

/* ---- sections ---- */

static int find_sections(struct decoder *d, const unsigned char *bytes, size_t n)
{
	static const char end[] = "end";
	struct taken from = {bytes, bytes + n, false};
	const unsigned char *line = memchr(bytes, '\n', n);
	for (from.at = line ? line + 1 : from.end; taken_more(&from);) {
		const unsigned char *begin = from.at;
		struct section s;
		s.name = taken_bytes(&from, &s.name_n);
		s.data = (const unsigned char *)taken_bytes(&from, &s.n);
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
	struct taken from = decoder_section(d, c->name);
	void *values = layout_values(d->trace, table, c);
	uint64_t limit = limit_of(d, c);
	struct layout_guess guess;
	if (number_count(from.at, (size_t)(from.end - from.at)) != n)
		return decoder_damaged(d, c->name);
	layout_guess_begin(&guess, d->trace, table, c, NULL, d->last);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = number_take(&from);
		int64_t *last = layout_guess_last(&guess, i);
		if (last) {
			value = (uint64_t)number_unfold(value) + (uint64_t)*last;
			*last = (int64_t)value;
		}
		if (from.bad || (c->how == LAYOUT_START ? !set_times(&guess, i, (int64_t)value)
		                                        : limit != UINT64_MAX && value >= limit))
			return decoder_damaged(d, c->name);
		if (c->how != LAYOUT_START)
			layout_set(values, c->size, i, (int64_t)value);
	}
	return 0;
}

static int take_rows(struct decoder *d, const struct layout_table *table)
{
	struct trace *t = d->trace;
	struct taken first = decoder_section(d, table->column->name);
	size_t n = number_count(first.at, (size_t)(first.end - first.at));
	if (n >= TRACE_NONE)
		return decoder_damaged(d, table->column->name);
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
	for (size_t i = 0; i < t->ops.n; i++)
		if (t->ops.kind[i] == OP_COMM)
			t->ops.kind[i] = OP_KERNEL;
	classify_rows(t, d->names, d->id, d->n_names);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(t, rows, COLUMN_NAME, d->id);
		columns_renumber(t, rows, COLUMN_DOMAIN, d->id);
	}
	enum { KNOWN = 128 };
	uint8_t *class = ARENA_NEW(&d->scratch, d->names->n, uint8_t);
	for (size_t i = 0; i < t->calls.n; i++) {
		uint32_t name = t->calls.name[i];
		if (!class[name])
			class[name] = (uint8_t)(KNOWN | classify_call(names_text(d->names, name)));
		t->calls.class[i] = class[name] & (KNOWN - 1);
	}
}

/* What trace_link does not put in order, and what must not overlap. */
static int check_order(const struct decoder *d)
{
	const struct trace_slices *s = &d->trace->slices;
	for (size_t i = 1; i < s->n; i++)
		if (s->thread[i] < s->thread[i - 1] ||
		    (s->thread[i] == s->thread[i - 1] && s->start[i] < s->end[i - 1]))
			return decoder_damaged(d, "slices.start");
	return 0;
}

static int take_all(struct decoder *d)
{
	if (decoder_take_things(d) != 0)
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
