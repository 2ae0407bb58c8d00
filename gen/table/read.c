#include "base/numbers.h"
#include "say/say.h"
#include "table/inside.h"
#include "table/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { FACTS_DEEP = 4 };

struct reader {
	struct names *names;
	struct arena *arena;
	struct arena scratch;
	uint32_t *id; /* by string: its id in `names` */
	uint32_t n_ids;
	size_t room; /* bytes that lists may still take */
	struct table_columns *columns;
	const char *damaged; /* what does not fit; NULL: all does */
};

static void *make(struct reader *r, struct arena *arena, size_t n, size_t size)
{
	if (n > r->room / size) {
		r->damaged = "its lists are longer than any that fit a report";
		n = 0;
	}
	r->room -= n * size;
	return arena_alloc(arena, n, size);
}

/* The next `n` bytes as a piece of their own; none where there are fewer. */
static struct taken take(struct reader *r, struct taken *from, uint64_t n)
{
	if (from->bad || n > (uint64_t)(from->end - from->at)) {
		r->damaged = "it ends too early";
		from->at = from->end;
		n = 0;
	}
	struct taken piece = {.at = from->at, .end = from->at + n};
	from->at += n;
	return piece;
}

/* A text that stands where it is needed. */
static const char *take_text(struct reader *r, struct taken *from)
{
	struct taken bytes = take(r, from, number_take(from));
	return arena_copy(&r->scratch, (const char *)bytes.at, (size_t)(bytes.end - bytes.at));
}

static uint32_t name_of(struct reader *r, uint64_t number)
{
	if (number < r->n_ids)
		return r->id[number];
	r->damaged = "it names a text that it does not have";
	return 0;
}

static const char *text_of(struct reader *r, uint64_t number)
{
	return number ? names_text(r->names, name_of(r, number - 1)) : NULL;
}

static double take_real(struct reader *r, struct taken *from)
{
	double real = 0;
	struct taken bytes = take(r, from, sizeof real);
	if (bytes.end > bytes.at)
		memcpy(&real, bytes.at, sizeof real);
	return real;
}

/* ---- facts ---- */

static const struct fact *take_fact(struct reader *r, struct taken *from, int deep);

static struct facts take_facts(struct reader *r, struct taken *from, int deep)
{
	struct facts out = {0};
	uint64_t n = number_take(from);
	for (uint64_t i = 0; i < n && !r->damaged && !from->bad; i++) {
		const struct fact *fact = take_fact(r, from, deep);
		if (!fact)
			r->damaged = "a fact is missing";
		facts_add(&out, r->arena, fact);
	}
	return out;
}

static const char *take_word(struct reader *r, struct taken *from, const struct fact_param *param)
{
	const char *word = text_of(r, number_take(from));
	if (param->kind != FACT_KIND_TEXT && word && fact_key(fact_keys(param), word, strlen(word)) < 0)
		r->damaged = "a fact has a word that its list does not have";
	return word;
}

static union fact_value take_value(struct reader *r, struct taken *from, const struct fact_param *param, int deep)
{
	union fact_value v = {0};
	struct facts *parts;
	switch (param->kind) {
	case FACT_KIND_COUNT:
	case FACT_KIND_FLAG:
	case FACT_KIND_RANK:
		v.count = number_unfold(number_take(from));
		if (param->kind == FACT_KIND_FLAG && v.count != 0 && v.count != 1 && v.count != FACT_UNKNOWN)
			r->damaged = "a fact is neither so nor not so";
		break;
	case FACT_KIND_NUMBER:
	case FACT_KIND_TIME:
	case FACT_KIND_SHARE:
	case FACT_KIND_BYTES:
		v.number = take_real(r, from);
		break;
	case FACT_KIND_NAME:
		v.count = name_of(r, number_take(from));
		break;
	case FACT_KIND_TEXT:
	case FACT_KIND_WORD:
	case FACT_KIND_LISTED:
		v.text = take_word(r, from, param);
		break;
	case FACT_KIND_PART:
		v.part = take_fact(r, from, deep + 1);
		break;
	case FACT_KIND_PARTS:
		parts = ARENA_NEW(r->arena, 1, struct facts);
		*parts = take_facts(r, from, deep + 1);
		v.parts = parts;
	}
	return v;
}

static const struct fact *take_fact(struct reader *r, struct taken *from, int deep)
{
	int id = 0;
	if (deep > FACTS_DEEP || !number_take(from))
		return NULL;
	const char *name = take_text(r, from);
	while (id < FACT_COUNT && strcmp(fact_info[id].id, name) != 0)
		id++;
	uint64_t side = number_take(from), n = number_take(from);
	if (id == FACT_COUNT || side > 2 || n != fact_info[id].n) {
		r->damaged = "it holds a fact that this gapline does not know";
		return NULL;
	}
	union fact_value *value = ARENA_NEW(r->arena, n, union fact_value);
	for (uint32_t i = 0; i < n; i++) {
		if (number_take(from) != fact_info[id].param[i].kind)
			r->damaged = "a fact has a value of another kind";
		if (r->damaged)
			return NULL;
		value[i] = take_value(r, from, &fact_info[id].param[i], deep);
	}
	struct fact *fact = ARENA_NEW(r->arena, 1, struct fact);
	*fact = (struct fact){.id = (enum fact_id)id, .side = (int)side - 1, .value = value};
	if (!r->damaged && !from->bad && !say_known(fact, r->names))
		r->damaged = "a fact lacks a value that its words need";
	return fact;
}

/* ---- columns ---- */

static void take_integer(struct reader *r, struct taken *from, const struct field *f, void *at, int64_t *before)
{
	uint64_t v = number_take(from), most = f->size == 4 ? UINT32_MAX : 1;
	if (f->size == 8) {
		*before = (int64_t)((uint64_t)*before + (uint64_t)number_unfold(v));
		*(int64_t *)at = *before;
		return;
	}
	if (f->kind == FIELD_ENUM)
		most = f->limit - 1;
	if (v > most)
		r->damaged = "a number is larger than any of its kind";
	else if (f->size == 4)
		*(uint32_t *)at = (uint32_t)v;
	else
		*(uint8_t *)at = (uint8_t)v;
}

static void take_one(struct reader *r, struct taken *from, const struct field *f, void *at, int64_t *before)
{
	uint64_t number;
	switch (f->kind) {
	case FIELD_INT:
	case FIELD_ENUM:
		take_integer(r, from, f, at, before);
		break;
	case FIELD_NAME:
		number = number_take(from);
		*(uint32_t *)at = f->limit && !number ? TRACE_NONE : name_of(r, number - f->limit);
		break;
	case FIELD_TEXT:
		*(const char **)at = text_of(r, number_take(from));
		break;
	case FIELD_FACT:
		*(const struct fact **)at = take_fact(r, from, 0);
		break;
	default:
		*(struct facts *)at = take_facts(r, from, 0);
	}
}

static void take_reals(struct reader *r, struct taken *from, const struct field *f, char *const *value, size_t n)
{
	struct taken bytes = take(r, from, 8 * (uint64_t)n);
	for (size_t b = 0; b < 8 && bytes.at < bytes.end; b++)
		for (size_t i = 0; i < n; i++)
			value[i][b] = (char)*bytes.at++;
	for (size_t i = 0; i < n && !f->limit; i++)
		if (!isfinite(*(const double *)(const void *)value[i]))
			r->damaged = "a number is none";
}

static void take_record(struct reader *r, struct taken *from, const struct record *record, char *const *row, size_t n);

static void take_list(struct reader *r, struct taken *from, const struct field *f, char *const *row, size_t n)
{
	size_t *many = make(r, &r->scratch, n, sizeof *many), all = 0, k = 0;
	for (size_t i = 0; i < n && !r->damaged; i++) {
		uint64_t count = number_take(from);
		if (count > r->room || (!f->n_size && count > 1))
			r->damaged = "a list is longer than any that fits a report";
		many[i] = count;
		all += count;
	}
	char *list = r->damaged ? NULL : make(r, r->arena, all, f->of->size);
	char **element = r->damaged ? NULL : make(r, &r->scratch, all, sizeof *element);
	if (r->damaged)
		return;
	for (size_t i = 0; i < n; i++) {
		*(char **)(row[i] + f->at) = many[i] ? list + k * f->of->size : NULL;
		field_set_count(f, row[i], many[i]);
		for (size_t e = 0; e < many[i]; e++, k++)
			element[k] = list + k * f->of->size;
	}
	if (all)
		take_record(r, from, f->of, element, all);
}

static void take_column(struct reader *r, struct taken *from, const struct field *f, char *const *row, size_t n)
{
	size_t all = n * f->times;
	if (from->at == from->end) { /* all of them are 0, which of a name that may be missing says so */
		for (size_t i = 0; i < all && f->kind == FIELD_NAME && f->limit; i++)
			*(uint32_t *)(void *)(row[i / f->times] + f->at + i % f->times * f->size) = TRACE_NONE;
		return;
	}
	if (f->kind == FIELD_LIST) {
		take_list(r, from, f, row, n);
		return;
	}
	int64_t before = 0;
	char **value = make(r, &r->scratch, all, sizeof *value);
	for (size_t i = 0; i < all && !r->damaged; i++)
		value[i] = row[i / f->times] + f->at + i % f->times * f->size;
	if (f->kind == FIELD_PART && !r->damaged)
		take_record(r, from, f->of, value, all);
	else if (f->kind == FIELD_REAL && !r->damaged)
		take_reals(r, from, f, value, all);
	else
		for (size_t i = 0; i < all && !r->damaged; i++)
			take_one(r, from, f, value[i], &before);
}

static const struct field *find_field(const struct record *record, const char *name, uint64_t kind)
{
	for (size_t i = 0; i < record->n; i++)
		if (strcmp(record->field[i].name, name) == 0 && record->field[i].kind == kind)
			return &record->field[i];
	return NULL;
}

static void take_record(struct reader *r, struct taken *from, const struct record *record, char *const *row, size_t n)
{
	bool *seen = ARENA_NEW(&r->scratch, record->n, bool);
	uint64_t columns = number_take(from);
	for (uint64_t i = 0; i < columns && !r->damaged; i++) {
		const char *name = take_text(r, from);
		uint64_t kind = number_take(from);
		struct taken column = take(r, from, number_take(from));
		const struct field *f = find_field(record, name, kind);
		if (!f) {
			r->columns->unknown = r->columns->n_unknown++
			                              ? r->columns->unknown
			                              : names_text(r->names, names_add_text(r->names, name));
			continue;
		}
		if (seen[f - record->field])
			r->damaged = "a column is there twice";
		seen[f - record->field] = true;
		take_column(r, &column, f, row, n);
		if (!r->damaged && (column.bad || column.at != column.end))
			r->damaged = "a column has more or fewer values than rows";
	}
	for (size_t i = 0; i < record->n; i++)
		if (!seen[i])
			r->columns->missing = r->columns->n_missing++ ? r->columns->missing : record->field[i].name;
}

static void take_parts(struct reader *r, struct taken *from, struct step_tables *out)
{
	bool seen[TABLE_PARTS] = {0};
	uint64_t parts = number_take(from);
	for (uint64_t i = 0; i < parts && !r->damaged; i++) {
		const char *name = take_text(r, from);
		struct taken bytes = take(r, from, number_take(from));
		for (int p = 0; p < TABLE_PARTS; p++) {
			char *row = (char *)out + TABLE_PART[p].at;
			if (strcmp(TABLE_PART[p].name, name) != 0)
				continue;
			if (seen[p])
				r->damaged = "a part is there twice";
			else
				take_record(r, &bytes, TABLE_PART[p].of, &row, 1);
			seen[p] = true;
		}
	}
	for (int p = 0; p < TABLE_PARTS; p++)
		if (!seen[p] && !r->damaged)
			r->damaged = "a part of it is missing";
}

static void take_strings(struct reader *r, struct taken *from)
{
	uint64_t n = number_take(from);
	r->id = n <= (uint64_t)(from->end - from->at) ? make(r, &r->scratch, n, sizeof *r->id) : NULL;
	if (!r->id)
		r->damaged = "it ends too early";
	for (uint64_t i = 0; i < n && !r->damaged; i++) {
		struct taken bytes = take(r, from, number_take(from));
		r->id[i] = names_add(r->names, (const char *)bytes.at, (size_t)(bytes.end - bytes.at));
		r->n_ids++;
	}
}

bool table_recognise(const void *bytes, size_t n)
{
	static const char begin[] = "gapline table ";
	return n >= sizeof begin - 1 && memcmp(bytes, begin, sizeof begin - 1) == 0;
}

int table_maker(const void *bytes, size_t n, struct table_maker *out, struct err *err)
{
	char line[96] = "";
	int end = 0;
	memcpy(line, bytes, n < sizeof line - 1 ? n : sizeof line - 1);
	*out = (struct table_maker){0};
	if (sscanf(line, "gapline table %9d %23[0-9a-z.+-] %9zu %8" SCNx32 "%n", &out->rules, out->version,
	           &out->length, &out->checksum, &end) < 4 ||
	    line[end] != '\n' || out->rules < 1)
		return err_set(err, "the evidence does not begin as a step table does");
	out->line = (size_t)end + 1;
	return 0;
}

static const char *const TABLE_RULES_SINCE[TABLE_RULES] = {"0.2.0"};

int table_rules_fit(const struct table_maker *maker, int rules, const char *const *since, struct err *err)
{
	const char *end = strrchr(maker->version, '.');
	int series = (int)(end ? end - maker->version : 0);
	if (maker->rules == rules)
		return 0;
	if (maker->rules > rules)
		return err_set(err, "the evidence was made by gapline %s, whose rules are newer; use it with %.*s.x",
		               maker->version, series, maker->version);
	return err_set(err, "the evidence was made by gapline %s; the rules differ since %s: use it with %.*s.x",
	               maker->version, since[maker->rules], series, maker->version);
}

/* Unpacks what the first line promises, no more and no less. NULL with `err`. */
static unsigned char *unpack_table(const void *bytes, size_t n, const struct table_maker *maker, struct arena *arena,
                                   struct err *err)
{
	if (maker->length > TABLE_LONGEST) {
		err_set(err, "the evidence says that it is %zu bytes long, and gapline writes at most %d",
		        maker->length, TABLE_LONGEST);
		return NULL;
	}
	unsigned char *to = ARENA_NEW(arena, maker->length + 1, unsigned char);
	uLongf length = maker->length + 1;
	int result = uncompress(to, &length, (const Bytef *)bytes + maker->line, n - maker->line);
	uint32_t sum = result == Z_OK ? (uint32_t)crc32(crc32(0, NULL, 0), to, (uInt)length) : 0;
	if (result == Z_OK && length == maker->length && sum == maker->checksum)
		return to;
	err_set_id(err, ERR_DAMAGED, "the evidence is damaged: its checksum does not fit");
	return NULL;
}

int table_read(const void *bytes, size_t n, struct names *names, struct arena *arena, struct step_tables *out,
               struct table_columns *columns, struct err *err)
{
	struct table_maker maker;
	struct reader r = {.names = names, .arena = arena, .room = 16 * (size_t)TABLE_LONGEST, .columns = columns};
	*out = (struct step_tables){0};
	*columns = (struct table_columns){0};
	if (table_maker(bytes, n, &maker, err) < 0)
		return -1;
	if (table_rules_fit(&maker, TABLE_RULES, TABLE_RULES_SINCE, err) < 0)
		return -1;
	const unsigned char *at = unpack_table(bytes, n, &maker, &r.scratch, err);
	if (at) {
		struct taken from = {.at = at, .end = at + maker.length};
		take_strings(&r, &from);
		take_parts(&r, &from, out);
		if (!r.damaged && (from.bad || from.at != from.end))
			r.damaged = "bytes follow its end";
		if (!r.damaged)
			r.damaged = table_check(out, arena);
		if (r.damaged)
			err_set_id(err, ERR_DAMAGED, "the evidence is damaged: %s", r.damaged);
	}
	arena_release(&r.scratch);
	return at && !r.damaged ? 0 : -1;
}
