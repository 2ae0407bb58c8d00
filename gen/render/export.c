#include "render/export.h"

#include "base/json_writer.h"
#include "read/db.h"
#include "render/json.h"
#include "render/view.h"
#include "say/say.h"

#include <math.h>
#include <stdarg.h>

enum { SCHEMA_VERSION = 1, APPLICATION = 0x67704578 /* "gpEx" */ };

const char *const export_table_names[EXPORT_TABLES] = {
	"names",       "runs",       "files",         "devices",     "steps",       "phases",
	"phase_spans", "gap_events", "kernel_events", "copy_events", "call_events", "range_events",
	"collectives", "ranks",      "findings",      "facts",
};

/* The tables in the order of the enumeration, then views that put texts in the place of their numbers. */
static const char schema[] =
	"CREATE TABLE export(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE names(name_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
	"CREATE TABLE runs(run INTEGER PRIMARY KEY, name TEXT, step_origin TEXT, step_name TEXT, steps INTEGER, "
	"warmup_steps INTEGER, measured_steps INTEGER, window_start_ns INTEGER, window_end_ns INTEGER, phases_are "
	"TEXT, collector TEXT, driver TEXT, cuda_driver TEXT);"
	"CREATE TABLE files(run INTEGER, file INTEGER, name TEXT, rank INTEGER, PRIMARY KEY(run, file));"
	"CREATE TABLE devices(run INTEGER, device INTEGER, process INTEGER, rank INTEGER, ordinal INTEGER, gpu TEXT, "
	"window_ns INTEGER, compute_ns INTEGER, comm_exposed_ns INTEGER, copy_exposed_ns INTEGER, idle_ns INTEGER, "
	"PRIMARY KEY(run, device));"
	"CREATE TABLE steps(run INTEGER, step INTEGER, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, "
	"measured INTEGER, PRIMARY KEY(run, step));"
	"CREATE TABLE phases(run INTEGER, phase TEXT, rank INTEGER, cost_ns_per_step REAL, gpu_ns_per_step REAL, "
	"idle_ns_per_step REAL, host_ns_per_step REAL, instances_per_step REAL, PRIMARY KEY(run, rank));"
	"CREATE TABLE phase_spans(id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, phase_id "
	"INTEGER, start_ns INTEGER, end_ns INTEGER);"
	"CREATE TABLE gap_events(id INTEGER PRIMARY KEY, run INTEGER, device INTEGER, gap INTEGER, start_ns INTEGER, "
	"end_ns INTEGER, duration_ns INTEGER, cause TEXT, phase_id INTEGER, call_id INTEGER);"
	"CREATE TABLE kernel_events(id INTEGER PRIMARY KEY, run INTEGER, device INTEGER, stream INTEGER, name_id "
	"INTEGER, kind TEXT, phase_id INTEGER, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, blocks INTEGER, "
	"launch INTEGER, measured INTEGER);"
	"CREATE TABLE copy_events(id INTEGER PRIMARY KEY, run INTEGER, device INTEGER, stream INTEGER, name_id "
	"INTEGER, kind TEXT, pageable INTEGER, bytes INTEGER, phase_id INTEGER, start_ns INTEGER, end_ns INTEGER, "
	"duration_ns INTEGER, launch INTEGER, measured INTEGER);"
	"CREATE TABLE call_events(id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, name_id "
	"INTEGER, class TEXT, waits INTEGER, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, measured INTEGER, "
	"operator_id INTEGER, module_id INTEGER);"
	"CREATE TABLE range_events(id INTEGER PRIMARY KEY, run INTEGER, process INTEGER, thread INTEGER, "
	"domain_id INTEGER, name_id INTEGER, folded_id INTEGER, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER, "
	"measured INTEGER);"
	"CREATE TABLE collectives(run INTEGER, name TEXT, communicator INTEGER, ranks INTEGER, per_step REAL, "
	"matched_share REAL, waiting_ns_per_step REAL, moving_ns_per_step REAL, exposed_ns_per_step REAL, "
	"overlapped_ns_per_step REAL, last_device INTEGER, bytes REAL, bus_bandwidth REAL);"
	"CREATE TABLE ranks(run INTEGER, device INTEGER, host INTEGER, own_ns_per_step REAL, waiting_ns_per_step REAL, "
	"bubble_ns_per_step REAL, moving_ns_per_step REAL, unmatched_ns_per_step REAL, overlapped_ns_per_step REAL, "
	"waited_for_ns_per_step REAL, last_share REAL, PRIMARY KEY(run, device));"
	"CREATE TABLE findings(run INTEGER, finding TEXT, title TEXT, phase TEXT, ns_per_step REAL, "
	"ceiling_step_ns REAL, ceiling_speedup REAL, text TEXT, advice TEXT);"
	"CREATE TABLE facts(run INTEGER, fact TEXT, severity TEXT, params TEXT, text TEXT);"
	"CREATE VIEW gaps AS SELECT g.id, g.run, g.device, g.gap, g.start_ns, g.end_ns, g.duration_ns, g.cause, "
	"p.text AS phase, c.text AS call FROM gap_events g JOIN names p ON p.name_id = g.phase_id "
	"LEFT JOIN names c ON c.name_id = g.call_id;"
	"CREATE VIEW kernels AS SELECT k.id, k.run, k.device, k.stream, n.text AS name, k.kind, p.text AS phase, "
	"k.start_ns, k.end_ns, k.duration_ns, k.blocks, k.launch, k.measured FROM kernel_events k "
	"JOIN names n ON n.name_id = k.name_id JOIN names p ON p.name_id = k.phase_id;"
	"CREATE VIEW copies AS SELECT k.id, k.run, k.device, k.stream, n.text AS name, k.kind, k.pageable, k.bytes, "
	"p.text AS phase, k.start_ns, k.end_ns, k.duration_ns, k.launch, k.measured FROM copy_events k "
	"JOIN names n ON n.name_id = k.name_id JOIN names p ON p.name_id = k.phase_id;"
	"CREATE VIEW calls AS SELECT c.id, c.run, c.process, c.thread, n.text AS name, c.class, c.waits, c.start_ns, "
	"c.end_ns, c.duration_ns, c.measured, o.text AS operator, m.text AS module FROM "
	"call_events c JOIN names n ON n.name_id = c.name_id LEFT JOIN names o ON o.name_id = c.operator_id LEFT JOIN "
	"names m ON m.name_id = c.module_id;"
	"CREATE VIEW ranges AS SELECT r.id, r.run, r.process, r.thread, d.text AS domain, n.text AS name, f.text AS "
	"folded, r.start_ns, r.end_ns, r.duration_ns, r.measured FROM range_events r JOIN names n ON n.name_id = "
	"r.name_id JOIN names f ON f.name_id = r.folded_id LEFT JOIN names d ON d.name_id = r.domain_id;";

/* ---- rows ---- */

static int fail(struct export *e, struct err *err)
{
	if (e->failed == SQLITE_FULL || e->failed == SQLITE_TOOBIG || e->failed == SQLITE_NOMEM)
		return err_set(err, "the export is larger than SQLite holds in memory; export fewer inputs at once");
	return err_set(err, "the export cannot be made: %s", sqlite3_errstr(e->failed));
}

static void note(struct export *e, int code)
{
	if (!e->failed && code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
		e->failed = code;
}

static int64_t name_row(struct export *e, const char *text)
{
	int64_t id = 0;
	note(e, sqlite3_bind_text(e->find_name, 1, text, -1, SQLITE_STATIC));
	if (sqlite3_step(e->find_name) == SQLITE_ROW)
		id = sqlite3_column_int64(e->find_name, 0);
	sqlite3_reset(e->find_name);
	if (id)
		return id;
	sqlite3_stmt *insert = e->insert[EXPORT_NAMES];
	note(e, sqlite3_bind_int64(insert, 1, id = ++e->rows[EXPORT_NAMES]));
	note(e, sqlite3_bind_text(insert, 2, text, -1, SQLITE_STATIC));
	note(e, sqlite3_step(insert));
	sqlite3_reset(insert);
	return id;
}

/* A run that is being written. */
struct writer {
	struct export *e;
	const struct analysis *a;
	const struct side *side;
	const struct events *events;
	int64_t *name_rows; /* by name: its row in names, 0: not yet */
	int64_t between;    /* likewise of "(between phases)" */
	int64_t first_call; /* id of the run's first call */
	const uint32_t *id; /* by device of the trace: its id in the side, or TRACE_NONE */
	struct arena arena;
};

static int64_t name_id(struct writer *w, uint32_t name)
{
	if (!w->name_rows[name])
		w->name_rows[name] = name_row(w->e, names_text(w->a->names, name));
	return w->name_rows[name];
}

/* An integer of a row that may not be known. */
static int64_t known(bool is_known, int64_t value)
{
	return is_known ? value : INT64_MIN;
}

static int64_t name_or_none(struct writer *w, uint32_t name)
{
	return name ? name_id(w, name) : known(false, 0);
}

static int64_t phase_id(struct writer *w, uint32_t phase)
{
	if (phase)
		return name_id(w, phase);
	if (!w->between)
		w->between = name_row(w->e, view_phase(w->a, 0));
	return w->between;
}

/* One row: a value for each letter of `kinds`. i: int64_t, NULL where it is not known; d: double, not a number is NULL;
 * t: a text or NULL. */
static void put(struct export *e, enum export_table table, const char *kinds, ...)
{
	sqlite3_stmt *insert = e->insert[table];
	va_list values;
	int at = 0;
	va_start(values, kinds);
	for (const char *k = kinds; *k; k++) {
		at++;
		if (*k == 'i') {
			int64_t whole = va_arg(values, int64_t);
			note(e, whole == INT64_MIN ? sqlite3_bind_null(insert, at)
			                           : sqlite3_bind_int64(insert, at, whole));
		} else if (*k == 'd') { /* NaN becomes NULL */
			note(e, sqlite3_bind_double(insert, at, va_arg(values, double)));
		} else { /* so does no text */
			note(e, sqlite3_bind_text(insert, at, va_arg(values, const char *), -1, SQLITE_TRANSIENT));
		}
	}
	va_end(values);
	note(e, sqlite3_step(insert));
	sqlite3_reset(insert);
	e->rows[table]++;
}

/* An id for rows that others refer to. */
static int64_t next_id(const struct export *e, enum export_table table)
{
	return e->rows[table] + 1;
}

/* ---- what is said of the run ---- */

/* Steps in the window; 1 without steps: what per-step numbers are of. */
static int64_t measured_steps(const struct run_result *run)
{
	return run->n_periods ? (int64_t)(run->n_periods - (run->warmup ? run->warmup - 1 : 0)) : 1;
}

static int64_t total(double per_step, const struct run_result *run)
{
	return llround(per_step * (double)measured_steps(run));
}

static void add_run(struct writer *w, const struct export_run *given)
{
	const struct side *s = w->side;
	const struct run_result *run = &s->runs[0];
	const struct events *v = w->events;
	put(w->e, EXPORT_RUNS, "itttiiiiitttt", w->e->run, run->file, step_origin_name(s->steps.origin),
	    s->steps.found ? names_text(w->a->names, s->steps.name) : NULL, (int64_t)run->n_steps,
	    (int64_t)run->left_out, measured_steps(run), v->window_start, v->window_end,
	    s->phases_by_work ? "work" : "ranges", s->source.collector, s->source.driver, s->source.cuda_driver);
	for (uint32_t i = 0; i < given->n_files; i++) {
		const struct side_file *f = &given->files[i];
		put(w->e, EXPORT_FILES, "iiti", w->e->run, (int64_t)i, f->file, known(f->rank >= 0, f->rank));
	}
	for (uint32_t i = 0; i < s->n_devices; i++) {
		const struct device_result *d = &s->devices[i];
		const struct budget *b = &d->budget;
		put(w->e, EXPORT_DEVICES, "iiiiitiiiii", w->e->run, (int64_t)d->id, d->process,
		    known(d->rank >= 0, d->rank), (int64_t)d->ordinal, view_gpu(w->a, d), d->window_ns,
		    total(b->compute, run), total(b->comm_exposed, run), total(b->copy_exposed, run),
		    total(b->idle, run));
	}
}

/* Of the first step only the end is known, unless there are so few that it counts. */
static void add_steps(struct writer *w)
{
	const struct run_result *run = &w->side->runs[0];
	size_t first = run->n_steps - run->n_periods;
	for (size_t k = 0; k < run->n_periods; k++) {
		int64_t end = w->events->step_end[first + k];
		put(w->e, EXPORT_STEPS, "iiiiii", w->e->run, (int64_t)(first + k), end - run->period[k], end,
		    run->period[k], (int64_t)(k + 1 >= run->warmup));
	}
}

static void add_phases(struct writer *w)
{
	const struct trace *t = w->events->trace;
	for (uint32_t i = 0; i < w->side->n_phases; i++) {
		const struct phase_result *p = &w->side->phases[i];
		put(w->e, EXPORT_PHASES, "itiddddd", w->e->run, view_phase(w->a, p->name), (int64_t)p->rank, p->cost,
		    p->gpu, p->idle, p->host, p->instances);
	}
	for (uint32_t i = 0; i < w->events->n_phases; i++) {
		const struct phase_events *p = &w->events->phases[i];
		const struct trace_thread *thread = &t->threads[p->thread];
		for (size_t k = 0; k < p->n; k++)
			put(w->e, EXPORT_PHASE_SPANS, "iiiiiii", next_id(w->e, EXPORT_PHASE_SPANS), w->e->run,
			    t->processes[thread->process].pid, thread->tid, phase_id(w, p->list[k].phase),
			    p->list[k].start, p->list[k].end);
	}
}

/* Pieces that touch are of one gap. */
static void add_gaps(struct writer *w)
{
	for (uint32_t i = 0; i < w->events->n_devices; i++) {
		const struct device_events *d = &w->events->devices[i];
		int64_t gap = 0;
		for (size_t k = 0; k < d->n_idle; k++) {
			const struct idle_event *g = &d->idle[k];
			gap += k == 0 || d->idle[k - 1].end != g->start;
			put(w->e, EXPORT_GAPS, "iiiiiiitii", next_id(w->e, EXPORT_GAPS), w->e->run, (int64_t)d->id, gap,
			    g->start, g->end, g->end - g->start, cause_name(g->cause), phase_id(w, g->phase),
			    name_or_none(w, g->call));
		}
	}
}

static void add_collectives(struct writer *w)
{
	const struct ranks_result *r = &w->side->ranks;
	for (uint32_t i = 0; i < r->n_comms; i++) {
		const struct comm_result *c = &r->comms[i];
		put(w->e, EXPORT_COLLECTIVES, "itiiddddddidd", w->e->run, names_text(w->a->names, c->name),
		    known(c->communicator, c->communicator), (int64_t)c->ranks, c->per_step, c->matched, c->waiting,
		    c->moving, c->exposed, c->hidden, known(c->last != TRACE_NONE, c->last),
		    c->bytes > 0 ? c->bytes : NAN, c->bus_bandwidth > 0 ? c->bus_bandwidth : NAN);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		const struct rank_result *k = &r->list[i];
		put(w->e, EXPORT_RANKS, "iiidddddddd", w->e->run, (int64_t)k->device, known(k->host, k->host),
		    k->stepless ? NAN : k->own, k->waiting, k->bubble, k->moving, k->unmatched, k->hidden,
		    k->waited_for, k->last);
	}
}

static void add_findings(struct writer *w)
{
	const struct findings *f = &w->a->findings;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->list[i];
		put(w->e, EXPORT_FINDINGS, "itttdddtt", w->e->run, one->id, one->title,
		    one->phase[0] ? names_text(w->a->names, one->phase[0]) : NULL, one->per_step[0],
		    one->has_ceiling ? one->ceiling_step : NAN, one->has_ceiling ? one->ceiling_speedup : NAN,
		    one->text, one->advice);
	}
	const struct facts *facts = &w->side->quality.notes;
	for (uint32_t i = 0; i < facts->n; i++) {
		const struct fact *fact = facts->list[i];
		BUF_LOCAL(params);
		struct json json;
		struct err ignored;
		json_init(&json, &params);
		json_compact(&json);
		facts_json_params(&json, NULL, fact, w->a->names);
		json_finish(&json, &ignored);
		while (params.n && params.data[params.n - 1] == '\n')
			params.data[--params.n] = 0;
		put(w->e, EXPORT_FACTS, "itttt", w->e->run, fact_info[fact->id].id,
		    fact_severity_name(fact_info[fact->id].severity), params.data,
		    say_fact(fact, w->a->names, &w->arena));
	}
}

/* ---- what was recorded ---- */

static void add_op(struct writer *w, size_t i)
{
	static const char *const kinds[] = {[OP_KERNEL] = "compute", [OP_COMM] = "comm", [OP_GRAPH] = "graph"};
	const struct trace_ops *o = &w->events->trace->ops;
	uint32_t id = w->id[o->device[i]], launch = o->launch[i];
	bool copy = o->kind[i] == OP_COPY || o->kind[i] == OP_MEMSET;
	int64_t phase = phase_id(w, w->events->op_phase[i]), measured = w->events->op_measured[i];
	int64_t call = known(launch != TRACE_NONE, w->first_call + launch);
	int64_t device = known(id != TRACE_NONE, id), bytes = known(o->bytes[i], o->bytes[i]);
	if (copy) {
		struct copy_result of = {.kind = (enum copy_kind)o->copy[i], .memset = o->kind[i] == OP_MEMSET};
		put(w->e, EXPORT_COPIES, "iiiiitiiiiiiii", next_id(w->e, EXPORT_COPIES), w->e->run, device,
		    (int64_t)o->stream[i], name_id(w, o->name[i]), view_copy_kind(&of),
		    (int64_t) !!(o->flags[i] & OPF_PAGEABLE), bytes, phase, o->start[i], o->end[i],
		    o->end[i] - o->start[i], call, measured);
	} else {
		put(w->e, EXPORT_KERNELS, "iiiiitiiiiiii", next_id(w->e, EXPORT_KERNELS), w->e->run, device,
		    (int64_t)o->stream[i], name_id(w, o->name[i]), kinds[o->kind[i]], phase, o->start[i], o->end[i],
		    o->end[i] - o->start[i], bytes, call, measured);
	}
}

static void add_thread(struct writer *w, uint32_t thread)
{
	const struct events *v = w->events;
	const struct trace *t = v->trace;
	uint32_t process = t->threads[thread].process;
	int64_t pid = t->processes[process].pid, tid = t->threads[thread].tid;
	const struct spans *host = &v->host[process];
	int64_t until = INT64_MAX;
	for (uint32_t i = t->first_call[thread]; i < t->first_call[thread + 1]; i++) {
		const struct trace_calls *c = &t->calls;
		put(w->e, EXPORT_CALLS, "iiiiitiiiiiii", next_id(w->e, EXPORT_CALLS), w->e->run, pid, tid,
		    name_id(w, c->name[i]), view_call_class((enum call_class)c->class[i]), (int64_t)c->waits[i],
		    c->start[i], c->end[i], c->end[i] - c->start[i], (int64_t)spans_hold(host, c->start[i], &until),
		    name_or_none(w, c->in_operator ? c->in_operator[i] : 0),
		    name_or_none(w, c->in_module ? c->in_module[i] : 0));
	}
	for (uint32_t i = t->first_range[thread]; i < t->first_range[thread + 1]; i++) {
		const struct trace_ranges *r = &t->ranges;
		put(w->e, EXPORT_RANGES, "iiiiiiiiiii", next_id(w->e, EXPORT_RANGES), w->e->run, pid, tid,
		    name_or_none(w, r->domain[i]), name_id(w, r->name[i]), name_id(w, v->folded[r->name[i]]),
		    r->start[i], r->end[i], r->end[i] - r->start[i], (int64_t)spans_hold(host, r->start[i], &until));
	}
}

int export_run(struct export *e, const struct analysis *a, const struct export_run *run, struct err *err)
{
	struct writer w = {.e = e, .a = a, .side = &a->side[0], .events = a->side[0].events};
	const struct trace *t = w.events->trace;
	uint32_t *id = ARENA_NEW(&w.arena, t->n_devices, uint32_t);
	for (uint32_t d = 0; d < t->n_devices; d++)
		id[d] = TRACE_NONE;
	for (uint32_t i = 0; i < w.events->n_devices; i++)
		id[w.events->devices[i].device] = w.events->devices[i].id;
	w.id = id;
	w.name_rows = ARENA_NEW(&w.arena, a->names->n, int64_t);
	w.first_call = next_id(e, EXPORT_CALLS);
	e->run++;
	add_run(&w, run);
	add_steps(&w);
	add_phases(&w);
	add_gaps(&w);
	for (size_t i = 0; i < t->ops.n; i++)
		add_op(&w, i);
	for (uint32_t thread = 0; thread < t->n_threads; thread++)
		add_thread(&w, thread);
	add_collectives(&w);
	add_findings(&w);
	arena_release(&w.arena);
	return e->failed ? fail(e, err) : 0;
}

/* ---- the file ---- */

static void prepare(struct export *e, const char *table, sqlite3_stmt **out)
{
	int columns = 0;
	sqlite3_stmt *look = NULL;
	char *sql = sqlite3_mprintf("SELECT * FROM %s", table);
	note(e, sqlite3_prepare_v2(e->db, sql, -1, &look, NULL));
	columns = sqlite3_column_count(look);
	sqlite3_finalize(look);
	sqlite3_free(sql);
	sqlite3_str *insert = sqlite3_str_new(e->db);
	sqlite3_str_appendf(insert, "INSERT INTO %s VALUES(?", table);
	for (int i = 1; i < columns; i++)
		sqlite3_str_appendall(insert, ", ?");
	sqlite3_str_appendall(insert, ")");
	sql = sqlite3_str_finish(insert);
	note(e, sqlite3_prepare_v2(e->db, sql, -1, out, NULL));
	sqlite3_free(sql);
}

int export_begin(struct export *e, struct err *err)
{
	*e = (struct export){0};
	note(e, sqlite3_open_v2(":memory:", &e->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
	if (e->failed)
		return fail(e, err);
	char *head = sqlite3_mprintf("PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA application_id = %d;"
	                             "PRAGMA user_version = %d; BEGIN; %s"
	                             "INSERT INTO export VALUES('schema', 'gapline-export/%d'), ('gapline', '%q');",
	                             APPLICATION, SCHEMA_VERSION, schema, SCHEMA_VERSION, GAPLINE_VERSION);
	note(e, sqlite3_exec(e->db, head, NULL, NULL, NULL));
	sqlite3_free(head);
	for (int t = 0; t < EXPORT_TABLES; t++)
		prepare(e, export_table_names[t], &e->insert[t]);
	note(e, sqlite3_prepare_v2(e->db, "SELECT name_id FROM names WHERE text = ?1", -1, &e->find_name, NULL));
	return e->failed ? fail(e, err) : 0;
}

int export_end(struct export *e, struct err *err)
{
	note(e, sqlite3_exec(e->db, "COMMIT", NULL, NULL, NULL));
	e->bytes = e->failed ? NULL : db_bytes(e->db, &e->n);
	if (!e->bytes && !e->failed)
		e->failed = SQLITE_TOOBIG;
	return e->failed ? fail(e, err) : 0;
}

void export_release(struct export *e)
{
	for (int t = 0; t < EXPORT_TABLES; t++)
		sqlite3_finalize(e->insert[t]);
	sqlite3_finalize(e->find_name);
	sqlite3_close(e->db);
	sqlite3_free(e->bytes);
}
