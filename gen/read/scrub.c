#include "read/scrub.h"

#include "base/buf.h"
#include "base/keymap.h"
#include "read/db.h"
#include "read/nsys.h"
#include "read/scrub_parts.h"
#include "read/source.h"

#include <ctype.h>
#include <string.h>

static const uint64_t PROCESS_MASK = ~(uint64_t)0xFFFFFF; /* a globalTid without its thread is a globalPid */

struct scrub {
	struct db from;
	sqlite3 *to;
	struct scrub_text text;
	struct keymap processes, threads, strings; /* of kept rows: globalPid, globalTid, StringIds.id … */
	struct keymap paths, samples;              /* … and of these, those of modules; COMPOSITE_EVENTS.id */
	bool keep_stacks;
	struct buf sample; /* the GPU's counters in the row's JSON */
	struct scrub_copy *copy;
	struct arena *arena;
	struct err *err;
	struct payloads payloads; /* layouts of NCCL's */
};

struct table {
	const struct scrub_table *layout;
	char sign[SCAN_COLUMNS_MAX]; /* of each column, as in scrub_parts.h; ' ' for a whole number */
	const char *names[SCAN_COLUMNS_MAX];
	int n;
	struct scan scan;
	sqlite3_stmt *insert; /* NULL until the first row that is kept */
};

static int fail(struct scrub *s, const char *what)
{
	return err_set(s->err, "%s: cannot be copied: %s: %s", s->from.path, what, sqlite3_errmsg(s->to));
}

static int run(struct scrub *s, const char *sql)
{
	return sqlite3_exec(s->to, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, "database in memory");
}

/* ---- what the original says about people, first ---- */

static int learn_options(struct scrub *s, const char *table)
{
	struct scan scan;
	struct scan_option option;
	scan_open_options(&scan, &s->from, table);
	while (scan_option(&scan, &option))
		scrub_text_learn(&s->text, option.name, option.value, option.n);
	return scan_close(&scan);
}

static int learn_paths(struct scrub *s, const char *table, const char *column)
{
	struct scan scan;
	scan_open(&scan, &s->from, table, &column, 1);
	while (scan_row(&scan)) {
		size_t n;
		const char *name = scan_text(&scan, 0, &n);
		if (name)
			scrub_text_learn_path(&s->text, name, n);
	}
	return scan_close(&scan);
}

static int learn(struct scrub *s)
{
	static const char *const tables[] = {"TARGET_INFO_SYSTEM_ENV", "META_DATA_CAPTURE", "META_DATA_EXPORT",
	                                     "EXPORT_META_DATA", "GAPLINE_JOB"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (learn_options(s, tables[i]) != 0)
			return -1;
	if (payloads_read(&s->from, s->arena, &s->payloads) != 0)
		return -1;
	return learn_paths(s, "PROCESSES", "name") != 0 || learn_paths(s, "ANALYSIS_FILE", "filename") != 0 ? -1 : 0;
}

/* ---- tables ---- */

/* The columns that the layout names and the table has. */
static int open_table(struct scrub *s, struct table *t)
{
	for (const char *at = t->layout->columns; *at;) {
		size_t n = strcspn(at, " ");
		char sign = isalnum((unsigned char)*at) ? ' ' : *at;
		size_t skip = sign != ' ';
		t->sign[t->n] = sign;
		t->names[t->n++] = arena_copy(s->arena, at + skip, n - skip);
		at += n + strspn(at + n, " ");
	}
	return scan_open(&t->scan, &s->from, t->layout->name, t->names, t->n);
}

/* Makes the table in the copy, with the columns that the original has; of one that has none of those that are known,
 * the rows are left, without what is in them. */
static int create_table(struct scrub *s, struct table *t)
{
	BUF_LOCAL(create);
	BUF_LOCAL(insert);
	const char *between = "";
	buf_format(&create, "CREATE TABLE %s (", t->layout->name);
	buf_format(&insert, "INSERT OR REPLACE INTO %s VALUES (", t->layout->name);
	for (int i = 0; i < t->n; i++) {
		if (!t->scan.has[i])
			continue;
		char sign = t->sign[i];
		bool is_key = t->layout->rows == SCRUB_STRINGS && i == 0;
		const char *type = strchr(" @&", sign) ? "INTEGER" : sign == '%' ? "REAL" : "TEXT";
		buf_format(&create, "%s\"%s\" %s%s", between, t->names[i], type, is_key ? " PRIMARY KEY" : "");
		buf_format(&insert, "%s?%d", between, i + 1);
		between = ", ";
	}
	buf_text(&create, *between ? ")" : "\"unknown\")");
	buf_text(&insert, *between ? ")" : "NULL)");
	if (run(s, create.data) != 0)
		return -1;
	return sqlite3_prepare_v2(s->to, insert.data, -1, &t->insert, NULL) == SQLITE_OK ? 0 : fail(s, t->layout->name);
}

static int column_of(const struct table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (!strcmp(t->names[i], name))
			return i;
	return -1;
}

/* The integer of the row in the column of that name; false when there is none. */
static bool row_int(const struct table *t, const char *name, int64_t *value)
{
	int i = column_of(t, name);
	if (i < 0 || !t->scan.has[i] || sqlite3_column_type(t->scan.statement, i) != SQLITE_INTEGER)
		return false;
	*value = sqlite3_column_int64(t->scan.statement, i);
	return true;
}

static const char *row_text(const struct table *t, const char *name, size_t *n)
{
	int i = column_of(t, name);
	if (i < 0 || sqlite3_column_type(t->scan.statement, i) != SQLITE_TEXT)
		return NULL;
	const char *text = (const char *)sqlite3_column_text(t->scan.statement, i);
	*n = text ? (size_t)sqlite3_column_bytes(t->scan.statement, i) : 0;
	return text;
}

/* ---- which rows ---- */

static void note_event(struct scrub *s, const struct table *t)
{
	static const char *const columns[] = {"globalPid", "globalTid", "endGlobalTid"};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		int64_t value;
		if (!row_int(t, columns[i], &value))
			continue;
		keymap_add(&s->processes, (uint64_t)value & PROCESS_MASK);
		if (i > 0)
			keymap_add(&s->threads, (uint64_t)value);
	}
}

/* A value may be anything. */
static bool keeps_option(const struct table *t)
{
	size_t name_n, n;
	const char *name = row_text(t, "name", &name_n), *value = row_text(t, "value", &n);
	if (!name || !value || strlen(name) != name_n || !scrub_is_plain(name, name_n, "_:") ||
	    !scrub_option_is_harmless(name))
		return false;
	if (!strncmp(name, "EXPORT_", 7) || !strcmp(t->layout->name, "GAPLINE_CAPTURE") ||
	    !strcmp(t->layout->name, "TARGET_INFO_SYSTEM_ENV"))
		return true; /* shown by the analysis, and masked like every name */
	return scrub_is_plain(value, n, "") || scrub_is_plain(value, n, "0123456789.-");
}

/* Names of counters are plain; whatever else stands there is none. */
static void add_counter(void *context, const struct metric_value *value)
{
	struct scrub *s = context;
	size_t n = value->name_n;
	for (size_t i = 0; i < n; i++)
		if (value->name[i] < ' ' || value->name[i] > '~' || strchr("\"\\", value->name[i]))
			return;
	const char *name = scrub_text_mask(&s->text, value->name, &n);
	buf_format(&s->sample, "%s\"%.*s\": \"%.*s\"", s->sample.n ? ", " : "{", (int)n, name, (int)value->number_n,
	           value->number);
}

static bool keeps_sample(struct scrub *s, const struct table *t)
{
	size_t n;
	const char *data = row_text(t, "data", &n);
	s->sample.n = 0;
	if (!data || !metric_sample_read(data, n, add_counter, s) || !s->sample.n)
		return false;
	buf_text(&s->sample, "}");
	return true;
}

/* Whether the row's integer in that column is among the kept ones. */
static bool is_among(const struct keymap *kept, const struct table *t, const char *column)
{
	int64_t value;
	return row_int(t, column, &value) && keymap_find(kept, (uint64_t)value) != UINT32_MAX;
}

static bool counted(bool kept, int64_t *left_out)
{
	*left_out += !kept;
	return kept;
}

static bool keeps_row(struct scrub *s, const struct table *t)
{
	struct scrub_copy *copy = s->copy;
	int64_t value;
	size_t n;
	switch (t->layout->rows) {
	case SCRUB_ALL:
	case SCRUB_CHAINS:
		return true;
	case SCRUB_EVENTS:
		note_event(s, t);
		return true;
	case SCRUB_HOLDERS:
		if (!is_among(&s->threads, t, "globalTid"))
			return false;
		if (s->keep_stacks && row_int(t, "holder", &value))
			keymap_add(&s->threads, (uint64_t)value);
		return true;
	case SCRUB_PROCESSES:
		return counted(is_among(&s->processes, t, "globalPid"), &copy->processes);
	case SCRUB_THREADS:
		return counted(is_among(&s->threads, t, "globalTid"), &copy->threads);
	case SCRUB_LOOKS:
		if (!is_among(&s->threads, t, "globalTid"))
			return false;
		if (row_int(t, "id", &value))
			keymap_add(&s->samples, (uint64_t)value);
		return true;
	case SCRUB_STACKS:
		return is_among(&s->samples, t, "id");
	case SCRUB_OPTIONS:
		return counted(keeps_option(t), &copy->options);
	case SCRUB_DIAGNOSTICS:
		return counted(row_int(t, "severity", &value) && value >= 2 && row_text(t, "text", &n),
		               &copy->diagnostics);
	case SCRUB_SAMPLES:
		return counted(keeps_sample(s, t), &copy->events);
	case SCRUB_STRINGS:
		return counted(is_among(&s->strings, t, "id") && row_text(t, "value", &n), &copy->strings);
	}
	return false;
}

/* ---- values ---- */

static bool is_wanted(const struct scrub *s, const struct scrub_table *table)
{
	return s->keep_stacks ||
	       (table->rows != SCRUB_LOOKS && table->rows != SCRUB_STACKS && table->rows != SCRUB_CHAINS);
}

/* What a text becomes; NULL: it is not of the kind that the column holds, and goes. */
static const char *clean_text(struct scrub *s, const struct table *t, char sign, const char *text, size_t *n)
{
	int64_t id;
	switch (sign) {
	case '$':
		if (t->layout->rows == SCRUB_STRINGS && row_int(t, "id", &id) &&
		    keymap_find(&s->paths, (uint64_t)id) != UINT32_MAX) /* the path of a module */
			return scrub_text_module(&s->text, text, n);
		return t->layout->rows == SCRUB_DIAGNOSTICS ? scrub_text_message(&s->text, text, n)
		                                            : scrub_text_mask(&s->text, text, n);
	case '!':
		return scrub_text_program(&s->text, text, n);
	case '#':
		return scrub_text_uuid(&s->text, text, n);
	case '{':
		*n = s->sample.n;
		return s->sample.data;
	case '+':
		for (size_t i = 0; i < *n; i++)
			if (!isxdigit((unsigned char)text[i]) && !(text[i] && strchr(" .:-+TZ", text[i])))
				return NULL;
		return text;
	default:
		return NULL;
	}
}

/* A value of a type that does not belong into the column becomes an empty one that does not belong there either: the
 * reader finds fault with the row as before. */
static int bind(struct scrub *s, struct table *t, int i)
{
	sqlite3_value *value = sqlite3_column_value(t->scan.statement, i);
	char sign = t->sign[i];
	size_t n;
	if (sign == '=')
		return payloads_bind(&s->payloads, value, t->insert, i + 1);
	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return sqlite3_bind_null(t->insert, i + 1);
	case SQLITE_INTEGER:
		if ((sign == '@' || sign == '&') && sqlite3_value_int64(value) >= 0)
			keymap_add(&s->strings, (uint64_t)sqlite3_value_int64(value));
		if (sign == '&' && sqlite3_value_int64(value) >= 0)
			keymap_add(&s->paths, (uint64_t)sqlite3_value_int64(value));
		if (sign == ' ' || sign == '@' || sign == '&' || sign == '%')
			return sqlite3_bind_value(t->insert, i + 1, value);
		break;
	case SQLITE_FLOAT:
		if (sign == '%')
			return sqlite3_bind_value(t->insert, i + 1, value);
		break;
	case SQLITE_TEXT: {
		const char *text = (const char *)sqlite3_value_text(value);
		n = (size_t)sqlite3_value_bytes(value);
		text = text ? clean_text(s, t, sign, text, &n) : NULL;
		if (text)
			return sqlite3_bind_text64(t->insert, i + 1, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	}
	default:
		break;
	}
	bool is_number = strchr(" @&%", sign) != NULL, is_text = sqlite3_value_type(value) == SQLITE_TEXT;
	return is_number || is_text ? sqlite3_bind_text(t->insert, i + 1, "", 0, SQLITE_STATIC)
	                            : sqlite3_bind_zeroblob(t->insert, i + 1, 0);
}

static int copy_row(struct scrub *s, struct table *t)
{
	if (!t->insert && create_table(s, t) != 0)
		return -1;
	sqlite3_reset(t->insert);
	for (int i = 0; i < t->n; i++)
		if (t->scan.has[i] && bind(s, t, i) != SQLITE_OK)
			return fail(s, t->layout->name);
	return sqlite3_step(t->insert) == SQLITE_DONE ? 0 : fail(s, t->layout->name);
}

static int copy_table(struct scrub *s, const struct scrub_table *layout)
{
	struct table t = {.layout = layout};
	if (open_table(s, &t) != 0)
		return -1;
	int rc = 0;
	while (!rc && scan_row(&t.scan))
		rc = keeps_row(s, &t) ? copy_row(s, &t) : 0;
	rc = t.scan.failed ? -1 : rc;
	/* A table that was empty is empty. One that has lost all its rows would say that there was nothing of its kind,
	 * but those that tell a profile from other databases. */
	if (rc == 0 && !t.insert && t.scan.statement && (t.scan.rows == 0 || nsys_is_mark(layout->name)))
		rc = create_table(s, &t);
	sqlite3_finalize(t.insert);
	scan_close(&t.scan);
	return rc;
}

/* ---- the whole ---- */

static void list_left_out(struct scrub *s)
{
	const char *kept[SCRUB_N_TABLES];
	for (size_t k = 0; k < SCRUB_N_TABLES; k++)
		kept[k] = is_wanted(s, &SCRUB_TABLES[k]) ? db_table(&s->from, SCRUB_TABLES[k].name) : NULL;
	s->copy->left_out = ARENA_NEW(s->arena, s->from.n_tables, const char *);
	for (size_t i = 0; i < s->from.n_tables; i++) {
		size_t k = 0;
		if (!strncmp(s->from.tables[i], "ENUM_", 5)) /* nsys's words for numbers, of which there are dozens */
			continue;
		while (k < SCRUB_N_TABLES &&
		       kept[k] != s->from.tables[i]) /* the same text, where it is the same table */
			k++;
		if (k == SCRUB_N_TABLES)
			s->copy->left_out[s->copy->n_left_out++] = s->from.tables[i];
	}
}

static int copy_all(struct scrub *s)
{
	if (sqlite3_open_v2(":memory:", &s->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return fail(s, "database in memory");
	if (run(s, "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA secure_delete = ON; BEGIN") != 0)
		return -1;
	for (size_t i = 0; i < SCRUB_N_TABLES; i++)
		if (is_wanted(s, &SCRUB_TABLES[i]) && copy_table(s, &SCRUB_TABLES[i]) != 0)
			return -1;
	if (run(s, "COMMIT") != 0)
		return -1;
	s->copy->bytes = db_bytes(s->to, &s->copy->n);
	if (!s->copy->bytes)
		return err_set(s->err, "%s: the copy does not fit into memory, or is larger than 2 GB", s->from.path);
	list_left_out(s);
	s->copy->masked = scrub_text_changed(&s->text);
	return 0;
}

int scrub_profile(const struct scrub_request *request, struct arena *arena, struct scrub_copy *copy, struct err *err)
{
	struct scrub s = {.keep_stacks = request->keep_stacks, .copy = copy, .arena = arena, .err = err};
	struct source source;
	int result = -1;
	*copy = (struct scrub_copy){0};
	if (source_open(&source, request->path, request->meter, err) != 0)
		goto done;
	scrub_text_init(&s.text, arena);
	keymap_init(&s.processes, arena);
	keymap_init(&s.threads, arena);
	keymap_init(&s.strings, arena);
	keymap_init(&s.paths, arena);
	keymap_init(&s.samples, arena);
	for (size_t i = 0; i < request->n_hide; i++)
		scrub_text_hide(&s.text, SCRUB_WORD, request->hide[i], strlen(request->hide[i]));
	if (!source_is_sqlite(&source.head)) {
		result = scrub_run(&source, &s.text, arena, copy, err);
		if (result == 0)
			scrub_original_refuse(&source, arena, err);
		result = result == 1 ? source_check(&source, err) : -1;
		goto done;
	}
	if (source_unpack(&source, err) != 0 || scrub_original_check(&source, err) != 0)
		goto done;
	if (db_open(&s.from, request->path, source.plain, arena, err) != 0)
		goto done;
	db_meter(&s.from, &source.reading);
	if (learn(&s) == 0 && copy_all(&s) == 0)
		result = source_check(&source, err);
done:
	buf_release(&s.sample);
	sqlite3_close(s.to);
	db_close(&s.from);
	source_close(&source);
	return result;
}

void scrub_release(struct scrub_copy *copy)
{
	sqlite3_free(copy->bytes);
	*copy = (struct scrub_copy){0};
}
