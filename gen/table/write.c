#include "base/memory.h"
#include "base/numbers.h"
#include "base/sort.h"
#include "table/inside.h"
#include "table/table.h"

#include <string.h>
#include <zlib.h>

struct writer {
	const struct names *names;
	struct arena scratch;
	struct names strings; /* what is written: names in their order, then texts */
	bool *used;       /* by name: it is in the table; filled by a first walk, in which nothing else counts … */
	uint32_t *number; /* … and by name, its place in `strings`; NULL in that walk */
};

static uint64_t name_of(struct writer *w, uint32_t id)
{
	if (!w->number) {
		w->used[id] = true;
		return 1;
	}
	return w->number[id];
}

/* 0: NULL. */
static uint64_t text_of(struct writer *w, const char *text)
{
	return text ? 1 + (uint64_t)names_add_text(&w->strings, text) : 0;
}

/* ---- facts ---- */

static void put_bits(struct buf *to, double real)
{
	char bytes[8];
	memcpy(bytes, &real, sizeof bytes);
	buf_add(to, bytes, sizeof bytes);
}

static void put_facts(struct writer *w, struct buf *to, const struct facts *facts);

/* 0: NULL. */
static void put_fact(struct writer *w, struct buf *to, const struct fact *fact)
{
	number_put(to, fact != NULL);
	if (!fact)
		return;
	const struct fact_info *info = &fact_info[fact->id];
	number_put_text(to, info->id);
	number_put(to, (uint64_t)fact->side + 1);
	number_put(to, info->n);
	for (uint32_t i = 0; i < info->n; i++) {
		const union fact_value *v = &fact->value[i];
		number_put(to, info->param[i].kind);
		switch (info->param[i].kind) {
		case FACT_KIND_COUNT:
		case FACT_KIND_FLAG:
		case FACT_KIND_RANK:
			number_put(to, number_fold(v->count));
			break;
		case FACT_KIND_NUMBER:
		case FACT_KIND_TIME:
		case FACT_KIND_SHARE:
		case FACT_KIND_BYTES:
			put_bits(to, v->number);
			break;
		case FACT_KIND_NAME:
			number_put(to, name_of(w, (uint32_t)v->count));
			break;
		case FACT_KIND_TEXT:
		case FACT_KIND_WORD:
		case FACT_KIND_LISTED:
			number_put(to, text_of(w, v->text));
			break;
		case FACT_KIND_PART:
			put_fact(w, to, v->part);
			break;
		case FACT_KIND_PARTS:
			put_facts(w, to, v->parts);
			break;
		}
	}
}

/* Of NULL as of none. */
static void put_facts(struct writer *w, struct buf *to, const struct facts *facts)
{
	uint32_t n = facts ? facts->n : 0;
	number_put(to, n);
	for (uint32_t i = 0; i < n; i++)
		put_fact(w, to, facts->list[i]);
}

/* ---- columns ---- */

static int64_t integer_at(const void *at, size_t size)
{
	if (size == 8)
		return *(const int64_t *)at;
	return size == 4 ? *(const uint32_t *)at : *(const uint8_t *)at;
}

/* Bytes of the same weight stand together: they are alike. */
static void put_reals(struct buf *to, const char *const *value, size_t n)
{
	buf_room(to, 8 * n);
	for (size_t b = 0; b < 8; b++)
		for (size_t i = 0; i < n; i++)
			to->data[to->n++] = value[i][b];
	to->data[to->n] = 0;
}

static void put_value(struct writer *w, struct buf *to, const struct field *f, const void *at, int64_t *before)
{
	uint32_t id;
	int64_t v;
	switch (f->kind) {
	case FIELD_INT:
	case FIELD_ENUM:
		v = integer_at(at, f->size);
		number_put(to, f->size == 8 ? number_fold((int64_t)((uint64_t)v - (uint64_t)*before)) : (uint64_t)v);
		*before = v;
		break;
	case FIELD_NAME:
		id = *(const uint32_t *)at;
		number_put(to, f->limit && id == TRACE_NONE ? 0 : name_of(w, id) + f->limit);
		break;
	case FIELD_TEXT:
		number_put(to, text_of(w, *(const char *const *)at));
		break;
	case FIELD_FACT:
		put_fact(w, to, *(const struct fact *const *)at);
		break;
	default:
		put_facts(w, to, at);
	}
}

static void put_record(struct writer *w, struct buf *to, const struct record *record, const char *const *row, size_t n);

static void put_list(struct writer *w, struct buf *to, const struct field *f, const char *const *row, size_t n)
{
	ARENA_LOCAL(scratch); /* of ten thousand ranks, what columns have in turn is more than the table */
	size_t all = 0, k = 0;
	for (size_t i = 0; i < n; i++)
		all += field_count(f, row[i]);
	if (!all)
		return;
	const char **element = ARENA_TAKE(&scratch, all, const char *);
	for (size_t i = 0; i < n; i++) {
		size_t many = field_count(f, row[i]);
		const char *list = *(const char *const *)(row[i] + f->at);
		number_put(to, many);
		for (size_t e = 0; e < many; e++)
			element[k++] = list + e * f->of->size;
	}
	put_record(w, to, f->of, element, all);
}

/* Nothing at all where every value is 0, or NULL. */
static void put_column(struct writer *w, struct buf *to, const struct field *f, const char *const *row, size_t n)
{
	if (f->kind == FIELD_LIST) {
		put_list(w, to, f, row, n);
		return;
	}
	ARENA_LOCAL(scratch);
	size_t all = n * f->times;
	int64_t before = 0;
	const char **value = ARENA_TAKE(&scratch, all, const char *);
	for (size_t i = 0; i < all; i++)
		value[i] = row[i / f->times] + f->at + i % f->times * f->size;
	if (f->kind == FIELD_PART)
		put_record(w, to, f->of, value, all);
	else if (f->kind == FIELD_REAL)
		put_reals(to, value, all);
	else
		for (size_t i = 0; i < all; i++)
			put_value(w, to, f, value[i], &before);
	for (size_t i = 0; i < to->n; i++)
		if (to->data[i])
			return;
	to->n = 0;
}

static void put_record(struct writer *w, struct buf *to, const struct record *record, const char *const *row, size_t n)
{
	number_put(to, record->n);
	for (size_t i = 0; i < record->n; i++) {
		const struct field *f = &record->field[i];
		BUF_LOCAL(column);
		put_column(w, &column, f, row, n);
		number_put_text(to, f->name);
		number_put(to, f->kind);
		number_put(to, column.n);
		buf_add(to, column.data ? column.data : "", column.n);
	}
}

static void put_parts(struct writer *w, const struct step_tables *tables, struct buf *to)
{
	number_put(to, TABLE_PARTS);
	for (int i = 0; i < TABLE_PARTS; i++) {
		const struct table_part *part = &TABLE_PART[i];
		const char *row = (const char *)tables + part->at;
		BUF_LOCAL(bytes);
		put_record(w, &bytes, part->of, &row, 1);
		number_put_text(to, part->name);
		number_put(to, bytes.n);
		buf_add(to, bytes.data, bytes.n);
	}
}

static int by_text(const void *a, const void *b, void *names)
{
	return strcmp(names_text(names, *(const uint32_t *)a), names_text(names, *(const uint32_t *)b));
}

/* Names by their texts: which profile was read first, and in which order its rows stand, is not said. */
static void number_names(struct writer *w)
{
	uint32_t *number = ARENA_NEW(&w->scratch, w->names->n, uint32_t), n = 0;
	uint32_t *id = ARENA_NEW(&w->scratch, w->names->n, uint32_t);
	for (uint32_t i = 0; i < w->names->n; i++)
		if (w->used[i])
			id[n++] = i;
	SORT_BY(id, n, by_text, w->names);
	for (uint32_t i = 0; i < n; i++)
		number[id[i]] = names_add_text(&w->strings, names_text(w->names, id[i]));
	w->number = number;
}

static int by_launch(const void *a, const void *b, void *number)
{
	const struct launch_pace *x = a, *y = b;
	const uint32_t *of = number;
	uint64_t p = (uint64_t)of[x->what] << 32 | of[x->next], q = (uint64_t)of[y->what] << 32 | of[y->next];
	return ASCENDING(p, q) ?: ASCENDING(x->noted, y->noted);
}

/* The same tables with the lists in the order of their texts that have that of numbers of names. */
static struct step_tables ordered(struct writer *w, const struct step_tables *tables)
{
	struct step_tables out = *tables;
	for (int s = 0; s < 2; s++) {
		struct launch_paces *paces = &out.side[s].recording.paces;
		struct launch_pace *list = ARENA_NEW(&w->scratch, paces->n, struct launch_pace);
		if (paces->n) {
			memcpy(list, paces->list, paces->n * sizeof *list);
			SORT_BY(list, paces->n, by_launch, w->number);
		}
		paces->list = list;
	}
	return out;
}

static void put_packed(const struct buf *bytes, struct buf *to)
{
	uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)bytes->data, (uInt)bytes->n);
	uLongf n = compressBound(bytes->n);
	ARENA_LOCAL(scratch);
	char *packed = ARENA_NEW(&scratch, n, char);
	buf_format(to, "gapline table %d %s %zu %08lx\n", TABLE_RULES, GAPLINE_VERSION, bytes->n, sum);
	if (compress2((Bytef *)packed, &n, (const Bytef *)bytes->data, bytes->n, Z_DEFAULT_COMPRESSION) != Z_OK)
		memory_exhausted(); /* there is room: nothing else can fail */
	buf_add(to, packed, n);
}

void table_write(const struct step_tables *tables, const struct names *names, struct buf *to)
{
	struct writer w = {.names = names};
	struct buf body = {0}, whole = {0};
	w.used = ARENA_NEW(&w.scratch, names->n, bool);
	names_init(&w.strings, &w.scratch);
	put_parts(&w, tables, &body);
	buf_release(&body);
	names_init(&w.strings, &w.scratch);
	number_names(&w);
	const struct step_tables in_order = ordered(&w, tables);
	body = (struct buf){0};
	put_parts(&w, &in_order, &body);
	number_put(&whole, w.strings.n);
	for (uint32_t i = 0; i < w.strings.n; i++)
		number_put_text(&whole, names_text(&w.strings, i));
	buf_add(&whole, body.data, body.n);
	put_packed(&whole, to);
	buf_release(&whole);
	buf_release(&body);
	arena_release(&w.scratch);
}
