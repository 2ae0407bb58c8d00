#include "read/nsys.h"

#include "base/buf.h"

#include <string.h>

int nsys_scan_numbers(struct nsys *r, struct scan *scan, const char *table, const char *const *columns, int n_columns,
                      int first_number)
{
	if (scan_open_numbers(scan, &r->db, table, columns, n_columns, first_number) != 0)
		return -1;
	build_from(&r->build, scan->table);
	return 0;
}

/* Tables that exports have, whatever was recorded. */
static const char *const marks[] = {"StringIds",
                                    "TARGET_INFO_SESSION_START_TIME",
                                    "ThreadNames",
                                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                                    "CUPTI_ACTIVITY_KIND_KERNEL",
                                    "META_DATA_EXPORT"};

bool nsys_is_mark(const char *table)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (!strcmp(marks[i], table))
			return true;
	return false;
}

/* Whether this is an export of nsys at all. nvprof wrote tables of the same names, with other columns. */
static int check_kind(const struct nsys *r)
{
	if (db_table(&r->db, "StringTable") && !db_table(&r->db, "StringIds"))
		return err_set(r->err,
		               "%s: is a database of nvprof, which differs from an export of nsys and is not read; "
		               "record the program again with: gapline capture -o FILE -- COMMAND, or with: nsys "
		               "profile --trace=cuda,nvtx,osrt COMMAND",
		               r->path);
	int found = 0;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		found += db_table(&r->db, marks[i]) != NULL;
	if (found >= 2 || db_table(&r->db, "CUPTI_ACTIVITY_KIND_KERNEL"))
		return 0;
	BUF_LOCAL(word);
	bool store = db_table(&r->db, "entry") && db_table(&r->db, "part");
	buf_word(&word, r->path, "");
	if (store)
		err_set(r->err,
		        "%s: holds saved baselines and results over commits, not one profile; they are drawn by: "
		        "gapline history report --db %s -o trend.html",
		        r->path, word.data);
	else
		err_set(r->err,
		        "%s: is a SQLite database, but neither an nsys export (nsys export --type sqlite) nor a "
		        "gapline capture; list its tables with: sqlite3 %s .schema",
		        r->path, word.data);
	return -1;
}

/* A profile in which nothing ran on a GPU cannot be judged; says what it does hold and what usually is wrong. */
static bool launches_any(struct nsys *r)
{
	const struct trace_calls *calls = &r->trace->calls;
	bool any = false;
	build_finish(&r->build); /* tells what calls are */
	for (size_t i = 0; i < calls->n && !any; i++)
		any = !calls->name[i] || calls->class[i] == CALL_LAUNCH || calls->class[i] == CALL_COPY;
	return any;
}

static int check_contents(struct nsys *r)
{
	const struct trace *t = r->trace;
	if (t->ops.n > 0 || r->wish->without_gpu)
		return 0;
	if (t->calls.n > 0 && nsys_read_failures(r) != 0)
		return -1;
	int64_t dropped = 0;
	for (uint32_t i = 0; i < t->n_dropped; i++)
		dropped += t->dropped[i].rows;
	const char *reason;
	if (dropped > 0)
		reason = "rows were dropped because they make no sense: the file is damaged or was changed";
	else if (*t->source.incomplete) /* it never came to that */
		reason = t->source.incomplete;
	else if (t->calls.n > 0 && !launches_any(r))
		reason = "CUDA was recorded, and no call launches a kernel or copies; record the part of the program "
			 "that does";
	else if (t->calls.n > 0)
		reason = "CUDA calls were recorded, but nothing from the GPU: usual under WSL2, in virtual machines, "
			 "without permission to profile, or when the program was killed";
	else
		reason = "the program did not use CUDA, ran it in a process that was not traced, or CUDA was not among "
			 "the things to trace";
	return err_set_id(
		r->err, ERR_EMPTY,
		"%s: holds no GPU work, so there is nothing to judge: %zu CUDA calls, %zu NVTX ranges, %zu OS "
		"calls, %lld rows dropped; %s; capture again with: %s",
		r->path, t->calls.n, t->ranges.n, t->os_calls.n, (long long)dropped, reason,
		t->source.kind == SOURCE_GAPLINE ? "gapline capture -o FILE -- COMMAND"
						 : "nsys profile --trace=cuda,nvtx,osrt COMMAND");
}

/* Everything that the builder has to know before it numbers and names. */
static int read_tables(struct nsys *r, struct source *source)
{
	if (nsys_read_source(r) != 0 || nsys_read_events(r, source) != 0 || nsys_read_thread_names(r) != 0 ||
	    nsys_read_strings(r) != 0 || check_contents(r) != 0)
		return -1;
	return nsys_read_processes(r) != 0 ? -1 : nsys_read_ranks(r);
}

/* Whether a launch has no operation. */
static bool lacks_ops(const struct trace *t)
{
	ARENA_LOCAL(scratch);
	uint8_t *launched = ARENA_NEW(&scratch, t->calls.n + 1, uint8_t);
	bool lacks = false;
	for (size_t i = 0; i < t->ops.n; i++)
		launched[t->ops.launch[i] == TRACE_NONE ? t->calls.n : t->ops.launch[i]] = 1;
	for (size_t i = 0; i < t->calls.n && !lacks; i++)
		lacks = t->calls.class[i] == CALL_LAUNCH && !launched[i];
	return lacks;
}

int nsys_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
              struct arena *arena, struct trace *trace, struct err *err)
{
	struct nsys r = {.path = path, .wish = wish, .names = names, .arena = arena, .trace = trace, .err = err};
	int result = -1;
	build_begin(&r.build, trace, names, arena, wish->details);
	trace->source.kind = SOURCE_NSYS_SQLITE;
	trace->source.collector = "nsys";
	if (source_unpack(source, err) != 0)
		return -1;
	if (db_open(&r.db, path, source->plain, arena, err) != 0)
		goto done;
	db_meter(&r.db, &source->reading);
	if (check_kind(&r) != 0 || db_check(&r.db) != 0 || read_tables(&r, source) != 0)
		goto done;
	build_finish(&r.build);
	nsys_give_kernels(&r);
	if (wish->joined)
		build_drop_ids(&r.build);
	nsys_give_ranks(&r);
	if (!wish->only && (nsys_read_gpus(&r) != 0 || nsys_read_diagnostics(&r) != 0 || nsys_read_gapline(&r) != 0 ||
	                    nsys_read_metrics(&r) != 0 || nsys_read_memory(&r) != 0 || nsys_read_stopwatch(&r) != 0 ||
	                    (lacks_ops(trace) && nsys_read_failures(&r) != 0)))
		goto done;
	result = 0;
done:
	db_close(&r.db);
	return result;
}

/* One pass over StringIds, which may hold millions of texts (stack symbols, the output of the program): a text that no
 * row uses is not even looked at. */
int nsys_read_strings(struct nsys *r)
{
	enum { ID, VALUE, N };
	static const char *const columns[] = {"id", "value"};
	struct scan s;
	nsys_scan(r, &s, "StringIds", columns, N);
	while (scan_row(&s)) {
		int64_t id = scan_int(&s, ID);
		uint32_t wanted = s.flaws ? TRACE_NONE : build_wants(&r->build, id);
		if (wanted == TRACE_NONE)
			continue;
		size_t length;
		const char *text = scan_text(&s, VALUE, &length);
		if (text)
			build_give(&r->build, wanted, text, length);
	}
	return scan_close(&s);
}
