/* Every number of a digest is looked at before it is used: a digest is a file like any other, and whoever wrote it may
 * have meant harm. */
#include "read/digest.h"
#include "read/digest_inside.h"
#include "trace/classify.h"

#include <stdlib.h>
#include <string.h>

int decoder_damaged(const struct decoder *d, const char *where)
{
	return err_set_id(d->err, ERR_DAMAGED,
	                  "%s: is damaged: '%s' of this digest makes no sense; copy or make it again", d->path, where);
}

int digest_refuse_behind(const char *path, struct err *err)
{
	return err_set_id(err, ERR_DAMAGED,
	                  "%s: is damaged: there is more behind the end of this digest; copy it again", path);
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

static const char END[] = "end";

static int find_sections(struct decoder *d, const unsigned char *bytes, size_t n)
{
	struct taken from = {bytes, bytes + n, false};
	const unsigned char *line = memchr(bytes, '\n', n);
	for (from.at = line ? line + 1 : from.end; taken_more(&from);) {
		const unsigned char *begin = from.at;
		struct section s;
		s.name = taken_bytes(&from, &s.name_n);
		s.data = (const unsigned char *)taken_bytes(&from, &s.n);
		if (from.bad)
			break;
		if (s.name_n == strlen(END) && memcmp(s.name, END, s.name_n) == 0) {
			uint32_t sum = d->known ? 0 : digest_checksum(bytes, (size_t)(begin - bytes)), said = 0;
			for (size_t i = 0; i < s.n && i < 4; i++)
				said |= (uint32_t)s.data[i] << 8 * i;
			if (!d->known && (s.n != 4 || said != sum))
				return err_set_id(d->err, ERR_DAMAGED,
				                  "%s: is damaged: the checksum of this digest differs from what is in "
				                  "it; copy it again",
				                  d->path);
			return from.at == from.end ? 0 : digest_refuse_behind(d->path, d->err);
		}
		if (d->n_sections < SECTIONS_MAX) /* there may be sections that later versions know */
			d->section[d->n_sections++] = s;
	}
	return err_set_id(d->err, ERR_DAMAGED, "%s: is cut off: this digest has no end; copy it again", d->path);
}

/* ---- rows ---- */

/* Values of a column are below this. */
static uint64_t limit_of(const struct decoder *d, const struct column *c)
{
	if (d->known)
		return UINT64_MAX;
	switch (c->role) {
	case COLUMN_NAME:
	case COLUMN_DOMAIN:
		return d->n_names;
	case COLUMN_THREAD:
		return d->trace->n_threads;
	case COLUMN_DEVICE:
		return d->trace->n_devices;
	case COLUMN_TIME:
	case COLUMN_END:
		return 2 * (uint64_t)FAR + 1;
	default:
		return c->limit ? c->limit : c->size == 4 ? (uint64_t)UINT32_MAX + 1 : UINT64_MAX;
	}
}

_Static_assert(sizeof *((struct trace *)0)->ops.device == 4 && sizeof *((struct trace *)0)->calls.thread == 4 &&
                       sizeof *((struct trace *)0)->slices.thread == 4 && sizeof *((struct trace *)0)->ops.name == 4,
               "rows are grouped and named by numbers of 32 bits");

/* Which of the `last` values a row's is taken from, as layout_guess_last says it, and whether the row begins a group:
 * the same for all columns of a table but their starts. */
enum { BEGINS = 1 << 15, PLACE = BEGINS - 1 };

/* Few of the places are of any row. These are numbered: to empty all took longer than to read a small table. */
static inline uint16_t number_place(struct decoder *d, uint32_t name, uint32_t before)
{
	uint16_t *number = &d->number[layout_place(name, before)];
	if (!*number)
		*number = ++d->n_used;
	return *number;
}

static void find_places(struct decoder *d, enum columns_of rows, size_t n)
{
	struct layout_guess guess;
	if (n > d->room) {
		d->place = ARENA_TAKE(&d->scratch, n, uint16_t);
		d->room = n;
	}
	memset(d->number, 0, sizeof d->number);
	d->n_used = 0;
	layout_guess_begin(&guess, d->trace, rows, KEPT_ALIKE, NULL, d->last);
	const uint32_t *const group = guess.group, *const name = guess.name;
	for (size_t i = 0; i < n; i++) {
		bool begins = !i || group[i] != group[i - 1];
		uint16_t place = name ? number_place(d, name[i], begins ? 0 : name[i - 1]) : 0;
		if (begins && name)
			number_place(d, name[i], UINT32_MAX); /* of its start */
		d->place[i] = place | (begins ? BEGINS : 0);
	}
}

/* A start, from the end of the row before; what stands for the end so far is the length. */
static bool set_times(int64_t *start, int64_t *end, size_t i, int64_t rest, int64_t before)
{
	start[i] = (int64_t)((uint64_t)rest + (uint64_t)before);
	if (start[i] < -FAR || start[i] > FAR)
		return false;
	end[i] += start[i];
	return end[i] <= FAR;
}

static bool take_starts(struct decoder *d, enum columns_of rows, struct taken *from, size_t n)
{
	struct layout_guess guess;
	layout_guess_begin(&guess, d->trace, rows, KEPT_START, NULL, d->last);
	int64_t *const start = guess.start, *const end = guess.end, *const lasts = d->last;
	const uint32_t *const name = guess.name;
	const uint16_t *const place = d->place;
	struct taken at = *from;
	for (size_t i = 0; i < n; i++) {
		int64_t *last = &lasts[place[i] & PLACE], before = 0;
		if (!(place[i] & BEGINS))
			before = end[i - 1];
		else if (name)
			last = &lasts[number_place(d, name[i], UINT32_MAX)];
		*last = (int64_t)((uint64_t)number_unfold(number_take(&at)) + (uint64_t)*last);
		if (!set_times(start, end, i, *last, before))
			return false;
	}
	*from = at;
	return true;
}

/* Whether the next numbers are all 0, and passes over them: most columns say row after row that nothing is new. */
enum { AT_ONCE = 8 };
static inline bool take_zeros(struct taken *from)
{
	uint64_t bytes = 1;
	if (from->end - from->at >= AT_ONCE)
		memcpy(&bytes, from->at, AT_ONCE);
	from->at += bytes ? 0 : AT_ONCE;
	return !bytes;
}

/* All other columns. Once for each size and way, so that neither is asked row after row. */
static inline __attribute__((always_inline)) bool take_values(struct decoder *d, struct taken *from, void *values,
                                                              uint8_t size, enum column_how how, size_t n,
                                                              uint64_t limit)
{
	struct taken at = *from; /* these would be looked up anew after every value that is written */
	int64_t *const lasts = d->last;
	int64_t before = 0;
	const uint16_t *const place = d->place;
	uint64_t largest = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = n - i < AT_ONCE ? n : i + AT_ONCE;
		bool same = end == i + AT_ONCE && take_zeros(&at); /* as values that were looked at before, or 0 */
		for (; same && i < end; i++)
			layout_set(values, size, i,
			           how == KEPT_PLAIN  ? 0
			           : how == KEPT_NEXT ? before
			                              : lasts[place[i] & PLACE]);
		for (; !same && i < end; i++) {
			uint64_t value = number_take(&at);
			if (how != KEPT_PLAIN) {
				int64_t *last = how == KEPT_NEXT ? &before : &lasts[place[i] & PLACE];
				value = (uint64_t)number_unfold(value) + (uint64_t)*last;
				*last = (int64_t)value;
			}
			largest = value > largest ? value : largest;
			layout_set(values, size, i, (int64_t)value);
		}
	}
	*from = at;
	return limit == UINT64_MAX || !n || largest < limit;
}

static bool take_sized(struct decoder *d, struct taken *from, void *values, const struct column *c, size_t n,
                       uint64_t limit)
{
	enum column_how how = c->how == KEPT_LENGTH ? KEPT_ALIKE : c->how;
	if (how == KEPT_PLAIN)
		return c->size == 8   ? take_values(d, from, values, 8, KEPT_PLAIN, n, limit)
		       : c->size == 4 ? take_values(d, from, values, 4, KEPT_PLAIN, n, limit)
		                      : take_values(d, from, values, 1, KEPT_PLAIN, n, limit);
	if (how == KEPT_NEXT)
		return c->size == 8   ? take_values(d, from, values, 8, KEPT_NEXT, n, limit)
		       : c->size == 4 ? take_values(d, from, values, 4, KEPT_NEXT, n, limit)
		                      : take_values(d, from, values, 1, KEPT_NEXT, n, limit);
	return c->size == 8   ? take_values(d, from, values, 8, KEPT_ALIKE, n, limit)
	       : c->size == 4 ? take_values(d, from, values, 4, KEPT_ALIKE, n, limit)
	                      : take_values(d, from, values, 1, KEPT_ALIKE, n, limit);
}

/* The same of a column in which all `n` numbers are 0, as of half of them they are. */
static bool are_zeros(const struct taken *from, size_t n)
{
	return n && (size_t)(from->end - from->at) == n && !*from->at && memcmp(from->at, from->at + 1, n - 1) == 0;
}

static void put_section(struct buf *to, const char *name, struct taken from)
{
	size_t n = (size_t)(from.end - from.at);
	number_put_text(to, name);
	number_put(to, n);
	if (n)
		buf_add(to, (const char *)from.at, n);
}

/* What digest_decode_again takes. Columns that are all 0 are empty there, but those by which rows are counted, and
 * starts, which are no 0 each. */
static void put_again(const struct decoder *d, struct buf *to)
{
	static const char *const places[] = {"processes", "threads", "gpus", "devices", "memory"};
	buf_text(to, "\n");
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		put_section(to, places[i], decoder_section(d, places[i]));
	for (int by = 0; by < HELD_BYS; by++)
		put_section(to, DIGEST_HELD[by], decoder_section(d, DIGEST_HELD[by]));
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		for (size_t c = 0; c < COLUMNS[rows].n; c++) {
			const char *name = COLUMNS[rows].column[c].kept;
			struct taken from = name ? decoder_section(d, name) : (struct taken){0};
			if (from.at && c && COLUMNS[rows].column[c].how != KEPT_START &&
			    are_zeros(&from, *columns_rows(d->trace, rows)))
				from.end = from.at;
			if (from.at)
				put_section(to, name, from);
		}
	put_section(to, END, (struct taken){0});
}

static bool set_zeros(void *values, uint8_t size, size_t n, uint64_t limit)
{
	memset(values, 0, n * size);
	return limit > 0;
}

/* The first column groups the rows and the second names them: from then on their places are known. */
static int take_column(struct decoder *d, enum columns_of rows, size_t which)
{
	const struct column *c = &COLUMNS[rows].column[which];
	size_t n = *columns_rows(d->trace, rows);
	struct taken from = decoder_section(d, c->kept);
	if (n && !columns_get(d->trace, rows, c)) { /* a column that only some traces have */
		if (!from.at)
			return 0;
		columns_set(d->trace, rows, c, arena_take(d->rows, n, c->size));
	}
	bool zeros = are_zeros(&from, n) || (d->known && from.at == from.end);
	if (!zeros && !d->known && number_count(from.at, (size_t)(from.end - from.at)) != n)
		return decoder_damaged(d, c->kept);
	if (!n)
		return 0;
	void *values = columns_get(d->trace, rows, c);
	uint64_t limit = limit_of(d, c);
	if (which == (layout_named(rows) ? 2 : 1))
		find_places(d, rows, n);
	if (c->how != KEPT_PLAIN && c->how != KEPT_NEXT)
		memset(d->last, 0, (d->n_used + (size_t)1) * sizeof *d->last);
	bool good = c->how == KEPT_START ? take_starts(d, rows, &from, n)
	            : zeros              ? set_zeros(values, c->size, n, limit)
	                                 : take_sized(d, &from, values, c, n, limit);
	return good && !from.bad ? 0 : decoder_damaged(d, c->kept);
}

static int take_rows(struct decoder *d, enum columns_of rows)
{
	struct trace *t = d->trace;
	if (!layout_has(rows))
		return 0;
	const struct columns *all = &COLUMNS[rows];
	struct taken first = decoder_section(d, all->column->kept);
	size_t n = number_count(first.at, (size_t)(first.end - first.at));
	if (n >= TRACE_NONE)
		return decoder_damaged(d, all->column->kept);
	columns_resize(t, rows, d->rows, 0, n, false);
	*columns_rows(t, rows) = n;
	if (rows == ROWS_OF_GIL) /* no column of a digest */
		memset(t->gil.stack, 0, n * sizeof *t->gil.stack);
	for (size_t c = 0; c < all->n; c++)
		if (all->column[c].kept && take_column(d, rows, c) != 0)
			return -1;
	return 0;
}

/* Until here names were their numbers in the digest. What they mean is told anew, as if the rows came from the profile:
 * a later version may know more of them. */
static void tell_names(struct decoder *d)
{
	struct trace *t = d->trace;
	const struct trace_ops ops = t->ops;
	for (size_t i = 0; i < ops.n; i++)
		ops.kind[i] = ops.kind[i] == OP_COMM ? OP_KERNEL : ops.kind[i];
	classify_rows(t, d->names, d->id, d->told);
	classify_told_calls(t, d->names, d->id, d->told);
	for (int rows = 0; rows < COLUMNS_OF; rows++) {
		columns_renumber(t, rows, COLUMN_NAME, d->id);
		columns_renumber(t, rows, COLUMN_DOMAIN, d->id);
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
	const struct trace_levels *l = &d->trace->levels;
	for (size_t i = 1; i < l->n; i++)
		if (l->device[i] < l->device[i - 1] ||
		    (l->device[i] == l->device[i - 1] && l->start[i] < l->end[i - 1]))
			return decoder_damaged(d, "levels.start");
	return 0;
}

static int take_all(struct decoder *d)
{
	if (decoder_take_things(d) != 0)
		return -1;
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		if (take_rows(d, rows) != 0)
			return -1;
	return check_order(d);
}

int digest_decode_apart(const char *path, const unsigned char *bytes, size_t n, struct names *names,
                        const struct digest_memory *memory, struct trace *trace, struct digest_names *ids,
                        struct err *err)
{
	struct decoder d = {.path = path,
	                    .err = err,
	                    .names = names,
	                    .arena = memory->things,
	                    .rows = memory->rows,
	                    .trace = trace};
	size_t head = strlen(LAYOUT_MAGIC);
	*trace = (struct trace){.names = names};
	d.last = ARENA_TAKE(&d.scratch, LAYOUT_PLACES + 1, int64_t);
	int result = -1;
	if (n < head + 2 || bytes[head] != '0' + DIGEST_VERSION || bytes[head + 1] != '\n')
		err_set(err,
		        "%s: is a digest of another version (this is for version %d); make it again with this "
		        "gapline, or read it with the newer one",
		        path, DIGEST_VERSION);
	else
		result = find_sections(&d, bytes, n) != 0 ? -1 : take_all(&d);
	if (result == 0) {
		d.told = ARENA_NEW(d.arena, d.n_names, uint32_t);
		tell_names(&d);
		trace_link(trace, d.rows);
		*ids = (struct digest_names){d.id, d.told, d.n_names};
		if (memory->again)
			put_again(&d, memory->again);
	}
	arena_release(&d.scratch);
	return result;
}

int digest_decode(const char *path, const unsigned char *bytes, size_t n, struct names *names, struct arena *arena,
                  struct trace *trace, struct err *err)
{
	struct digest_names ids;
	return digest_decode_apart(path, bytes, n, names, &(struct digest_memory){arena, arena, NULL}, trace, &ids,
	                           err);
}

void digest_decode_again(const unsigned char *bytes, size_t n, unsigned rows, struct names *names,
                         const struct digest_names *ids, struct arena *arena, struct trace *trace)
{
	struct err err;
	struct decoder d = {.path = "",
	                    .err = &err,
	                    .known = true,
	                    .names = names,
	                    .arena = arena,
	                    .rows = arena,
	                    .trace = trace,
	                    .id = ids->id,
	                    .told = ids->told,
	                    .n_names = ids->n};
	*trace = (struct trace){.names = names};
	d.last = ARENA_TAKE(&d.scratch, LAYOUT_PLACES + 1, int64_t);
	int result = find_sections(&d, bytes, n) != 0 || decoder_take_places(&d) != 0;
	for (int kind = 0; kind < COLUMNS_OF && result == 0; kind++)
		if (rows & 1u << kind)
			result = take_rows(&d, kind);
	if (result != 0)
		abort(); /* the same bytes were read before */
	tell_names(&d);
	arena_release(&d.scratch);
}
