#include "base/file.h"
#include "base/proc.h"
#include "capture/annotate.h"
#include "capture/command.h"
#include "capture/stopwatch.h"
#include "cmd/run_parts.h"
#include "read/read.h"
#include "run/instants.h"
#include "say/say.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINES = 10, LOG_TAIL = 8192 };

/* A wait of a timed run may take this, and some times what the GPU was behind the host in the recorded one. */
enum { WAIT_MS = 10000, WAIT_LAGS = 4 };

/* What `--time-limit` makes at least, and how many runs of a side that cannot be used end the attempts. */
enum { LEAST_ROUNDS = 2, UNUSED_MAX = 2 };

/* ---- what goes wrong ---- */

static const char *side_name(const struct experiment *e, int side)
{
	return suite_side_name(&e->suite, side);
}

static const char *where(const struct experiment *e, const struct suite_run *run, struct arena *arena)
{
	return SAY(NULL, arena, run_is, .whose = side_name(e, run->side), .number = run->number,
	           .kind = suite_run_kind(run));
}

/* The end of the program's output, when it went to a file. */
static void show_log(struct experiment *e, const char *path)
{
	char tail[LOG_TAIL + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, tail, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		tail[i] = tail[i] ? tail[i] : '?';
	tail[n > 0 ? n : 0] = 0;
	size_t lines = 0;
	char *from = tail + strlen(tail);
	while (from > tail && (from[-1] != '\n' || lines < LOG_LINES))
		lines += *--from == '\n';
	struct arena *arena = &e->compare.arena;
	fprintf(stderr, "gapline: %s\n", SAY(NULL, arena, run_log, .file = cmd_harmless(arena, path), .empty = !*from));
	for (char *line = strtok(from, "\r\n"); line; line = strtok(NULL, "\r\n"))
		fprintf(stderr, "  | %s\n", cmd_harmless(&e->compare.arena, line));
}

/* One line on stderr: how much is done, and how to go on; nothing when nothing is. */
static void run_say_kept(struct experiment *e)
{
	size_t done = suite_done(&e->suite);
	if (!done)
		return;
	struct arena *arena = &e->compare.arena;
	fprintf(stderr, "gapline: %s\n",
	        SAY(NULL, arena, runs_kept, .n = (int64_t)done, .of = (int64_t)suite_total(&e->suite),
	            .most = e->limit_ns || e->suite.looks, .folder = cmd_harmless(arena, e->folder)));
}

/* One run, and what went wrong in it. */
static struct err wrong(struct experiment *e, const struct suite_run *run, const struct capture_result *result,
                        const struct err *err)
{
	struct err say;
	char words[80];
	proc_status_text(result->status, words, sizeof words);
	if (result->interrupted)
		err_set_id(&say, ERR_INTERRUPTED, "%s: interrupted", where(e, run, &e->compare.arena));
	else if (result->failed)
		err_set_id(&say, ERR_PROGRAM_FAILED, "%s: '%s' failed: %s", where(e, run, &e->compare.arena),
		           command_text(e->suite.commands[run->side], &e->compare.arena), words);
	else
		err_set_id(&say, err->id, "%s: %s", where(e, run, &e->compare.arena), err->text);
	return say;
}

static int fail(struct experiment *e, const struct suite_run *run, const struct capture_result *result, const char *log,
                const struct err *err)
{
	const struct err say = wrong(e, run, result, err);
	if (run->nodes && !result->interrupted)
		return run_without_nodes(e, run, "failed", &say);
	bool program = result->started && (result->failed || result->interrupted || !result->unwritable);
	int status = cmd_fail(program ? CMD_BAD_PROFILE : CMD_WRONG_USAGE, &say);
	if (log && e->quiet && result->started && !result->interrupted)
		show_log(e, log);
	run_say_kept(e);
	return status;
}

static int write_state(struct experiment *e)
{
	struct err err;
	return suite_write(&e->suite, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
}

/* ---- what the first recorded run of a side says ---- */

static void plan_from(struct experiment *e, const struct instants *at, int side)
{
	struct arena *keep = &e->compare.arena;
	e->suite.planned[side] = true;
	e->suite.plan[side] = (struct stopwatch_plan){0};
	if (at->steps && at->unknown && !e->suite.no_stopwatch)
		e->suite.no_stopwatch = SAY(NULL, keep, timed_not_on, .whose = side_name(e, side),
		                            .why = say_word(WORDS_unmeasured, at->unknown));
	if (!at->steps || at->unknown)
		return;
	e->suite.plan[side] = (struct stopwatch_plan){
		.step = arena_copy(keep, at->step, strlen(at->step)),
		.domain = arena_copy(keep, at->domain, strlen(at->domain)),
		.first = at->first,
		.last = at->last,
		.steps = at->steps,
		.launches = at->launches,
		.processes = at->processes,
		.limit_ms = WAIT_MS + WAIT_LAGS * (at->lag_ns / 1000000),
	};
}

/* From the first recorded run of each side, which choose their steps together. They are read again: kept from one run
 * to the next they would take memory from the programs. */
static int plan_all(struct experiment *e, struct err *err)
{
	ARENA_LOCAL(arena);
	struct names names;
	struct trace trace[SUITE_SIDES_MOST];
	const struct trace *traces[SUITE_SIDES_MOST];
	struct instants at[SUITE_SIDES_MOST];
	const struct analyse_options *o = &e->compare.analysis;
	const struct instants_request how = {o->step, o->loop, o->warmup};
	const int n = e->suite.n_sides;
	int rc = 0;
	names_init(&names, &arena);
	for (int s = 0; s < n && !rc; s++) {
		const char *profile = suite_first(&e->suite, s)->profile;
		traces[s] = &trace[s];
		rc = read_profile(arena_format(&arena, "%s/%s", e->folder, profile), &names, &arena, &trace[s], err);
		e->suite.graphs_whole[s] =
			!rc && e->capturing.options.graphs == GRAPH_TRACE_AUTO && trace[s].rows[ROWS_GRAPHS].read > 0;
	}
	if (!rc)
		rc = instants_find(traces, n, &how, &arena, at, err);
	for (int s = 0; s < n && !rc; s++)
		plan_from(e, &at[s], s);
	return rc;
}

/* Reads the fresh profile as the comparison will: what cannot be compared is found out now, not after the last run. */
static int look(struct experiment *e, const char *path, struct err *err)
{
	ARENA_LOCAL(arena);
	struct names names;
	struct trace trace;
	struct analysis analysis;
	const struct analyse_run one = {&trace, path};
	names_init(&names, &arena);
	int rc = read_profile(path, &names, &arena, &trace, err);
	if (!rc)
		rc = analyse_one(&one, &e->compare.analysis, &names, &arena, &analysis, err);
	return rc;
}

/* Without timed runs the recorded ones are all that there is. */
static void record_more(struct experiment *e)
{
	if (e->recorded < 0 && e->suite.recorded < e->recorded_alone)
		e->suite.recorded = e->recorded_alone;
}

/* From here on the time of a timed run is that of the whole process, on all sides. */
static void time_wholes(struct experiment *e, const char *why, int side)
{
	fprintf(stderr, "gapline: %s\n",
	        SAY(NULL, &e->compare.arena, timed_wholes, .why = why, .whose = side_name(e, side)));
	for (int s = 0; s < e->suite.n_sides; s++)
		e->suite.plan[s] = (struct stopwatch_plan){0};
}

static bool all_planned(const struct suite *s)
{
	bool all = true;
	for (int i = 0; i < s->n_sides; i++)
		all = all && s->planned[i];
	return all;
}

/* A side without steps can only be timed as a whole, and then the others are, too: why, a clause; NULL: all have some.
 */
static const char *without_steps(const struct experiment *e, int *side)
{
	const struct suite *s = &e->suite;
	int n = 0, which = 0;
	for (int i = s->n_sides; i-- > 0;)
		if (!s->plan[i].steps) {
			which = i;
			n++;
		}
	*side = which;
	return n == s->n_sides ? "all" : n ? "one" : NULL;
}

/* Once all sides were recorded: what the timed runs measure. */
static int settle(struct experiment *e)
{
	struct suite *s = &e->suite;
	struct err err;
	for (int i = 0; i < s->n_sides; i++)
		if (!suite_first(s, i))
			return CMD_DONE;
	if (plan_all(e, &err))
		return cmd_fail(CMD_BAD_PROFILE, &err);
	if (!s->repeat && !s->no_stopwatch)
		return write_state(e);
	int side;
	const char *whole = without_steps(e, &side);
	bool counts = s->plan[0].launches > 0;
	if (!s->no_stopwatch && !whole && stopwatch_check(counts, &e->compare.arena, &err))
		s->no_stopwatch = arena_copy(&e->compare.arena, err.text, strlen(err.text));
	if (s->no_stopwatch) {
		fprintf(stderr, "gapline: %s\n",
		        SAY(NULL, &e->compare.arena, timed_not,
		            .why = cmd_harmless(&e->compare.arena, s->no_stopwatch)));
		record_more(e);
	} else if (whole) {
		time_wholes(e, whole, side);
	} else if (counts) {
		fprintf(stderr, "gapline: %s\n", SAY(NULL, &e->compare.arena, timed_by_launches));
	}
	return write_state(e);
}

/* A resumed suite may have been killed between a run and the look at it. */
static int look_again(struct experiment *e)
{
	struct err err;
	for (int s = 0; s < e->suite.n_sides; s++) {
		const struct suite_run *first = suite_first(&e->suite, s);
		if (!first || e->suite.planned[s])
			continue;
		if (look(e, arena_format(&e->compare.arena, "%s/%s", e->folder, first->profile), &err))
			return cmd_fail(CMD_BAD_PROFILE, &err);
	}
	return all_planned(&e->suite) ? CMD_DONE : settle(e);
}

/* ---- one run ---- */

bool run_is_logged(const struct experiment *e)
{
	return e->quiet || e->compare.pattern;
}

/* What the program has written into its log since the last time. */
static void pass_through(const struct experiment *e)
{
	char bytes[8192];
	ssize_t n;
	while (e->follow >= 0 && (n = file_read(e->follow, bytes, sizeof bytes)) > 0)
		if (file_write(STDOUT_FILENO, bytes, (size_t)n))
			return;
}

static void tick(void *experiment, int64_t elapsed_ns)
{
	struct experiment *e = experiment;
	pass_through(e);
	progress_runs_tick(&e->progress, elapsed_ns);
}

static int capture(struct experiment *e, const struct suite_run *next, const char *path, int output,
                   struct capture_result *result, struct err *err)
{
	struct capture_options options = e->capturing.options;
	options.graphs = next->nodes ? GRAPH_TRACE_NODE : options.graphs;
	const struct capture_request request = {
		.collector = next->stopwatch ? &e->for_stopwatch : &e->capturing.chosen,
		.options = &options,
		.command = e->suite.commands[next->side],
		.plan = next->stopwatch ? &e->suite.plan[next->side] : NULL,
		.file = path,
		.replace = true,
		.output = output,
		.version = cmd_version,
		.tick = tick,
		.context = e,
	};
	int rc = capture_one(&request, &e->compare.arena, result, err);
	pass_through(e);
	progress_runs_end(&e->progress, result->elapsed_ns, !rc);
	capturing_say_messages(
		&e->capturing, result,
		arena_format(&e->compare.arena, "gapline: %s", progress_runs_name(&e->suite, next, &e->compare.arena)),
		&e->compare.arena);
	return rc;
}

/* A % in the folder's name is a % to capture_one. */
static const char *literal(const char *path, struct arena *arena)
{
	char *made = arena_alloc(arena, 2 * strlen(path) + 1, 1), *to = made;
	for (; *path; path++) {
		if (*path == '%')
			*to++ = '%';
		*to++ = *path;
	}
	return made;
}

/* All timed runs of a side, into its first profile. */
static int note_stopwatch(struct experiment *e, int side)
{
	struct err err;
	struct arena *arena = &e->compare.arena;
	const struct suite_run *first = suite_first(&e->suite, side);
	struct annotation_stopwatch *rows = ARENA_NEW(arena, e->suite.n_runs + 1, struct annotation_stopwatch);
	size_t n = 0;
	for (size_t i = 0; i < e->suite.n_runs; i++) {
		const struct suite_run *run = &e->suite.runs[i];
		if (run->side == side && run->stopwatch)
			rows[n++] = (struct annotation_stopwatch){
				.start_utc_ns = run->start_utc_ns,
				.ns = run->timed.ns,
				.process_ns = llround(run->seconds * 1e9), /* not a nanosecond below `ns` */
				.steps = run->steps,
				.step = e->suite.plan[side].step,
				.launches = e->suite.plan[side].launches
			                            ? e->suite.plan[side].last - e->suite.plan[side].first
			                            : 0,
				.unused = run->timed.unused,
				.energy = run->timed.energy,
				.looked = e->suite.looked,
			};
	}
	if (first && n && annotate_stopwatch(arena_format(arena, "%s/%s", e->folder, first->profile), rows, n, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	return CMD_DONE;
}

/* Says why a run is not used; after some, no more are made. */
static void say_unused(struct experiment *e, const struct suite_run *run)
{
	struct arena *arena = &e->compare.arena;
	size_t unused = 0;
	fprintf(stderr, "gapline: %s: %s\n", progress_runs_name(&e->suite, run, arena),
	        SAY(NULL, arena, run_unused, .why = cmd_harmless(arena, run->timed.unused)));
	for (size_t i = 0; i < e->suite.n_runs; i++)
		unused += e->suite.runs[i].side == run->side && e->suite.runs[i].timed.unused;
	if (unused < UNUSED_MAX || suite_used(&e->suite, run->side))
		return;
	if (run->timed.uncountable) {
		time_wholes(e, "launches", run->side);
		suite_forget_stopwatch(&e->suite);
		return;
	}
	e->suite.no_stopwatch =
		SAY(NULL, arena, timed_not_on, .whose = side_name(e, run->side), .why = run->timed.unused);
	record_more(e);
	fprintf(stderr, "gapline: %s\n", SAY(NULL, arena, timed_no_more));
}

static int finish_run(struct experiment *e, struct suite_run *run, const struct capture_result *result)
{
	run->seconds = (double)result->elapsed_ns / 1e9;
	run->exit_status = proc_exit_status(result->status);
	run->complete = result->complete;
	run->start_utc_ns = result->start_utc_ns;
	run->timed = result->timed;
	run->steps = run->stopwatch ? e->suite.plan[run->side].steps : 0;
	if (run->nodes) {
		e->suite.nodes[run->side] = *run;
		return write_state(e);
	}
	suite_add(&e->suite, run);
	if (run->stopwatch && run->timed.unused)
		say_unused(e, run);
	int status = write_state(e);
	return status ? status : note_stopwatch(e, run->side);
}

int run_one(struct experiment *e, struct suite_run *next)
{
	struct arena *arena = &e->compare.arena;
	struct err err;
	struct capture_result result = {0};
	const char *path = next->stopwatch ? arena_format(arena, "%s/%s-%d.stopwatch", e->folder,
	                                                  suite_side_key(e->suite.n_sides, next->side), next->number)
	                                   : arena_format(arena, "%s/%s", e->folder, next->profile);
	const char *log = next->log ? arena_format(arena, "%s/%s", e->folder, next->log) : NULL;
	int output = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666) : -1;
	if (log && output < 0) {
		err_set_id(&err, err_id_of(errno), "%s: %s", log, err_reason(errno));
		return cmd_fail(CMD_WRONG_USAGE, &err);
	}
	e->follow = log && !e->quiet ? open(log, O_RDONLY | O_CLOEXEC) : -1;
	progress_runs_begin(&e->progress, next);
	int rc = capture(e, next, literal(path, arena), output, &result, &err);
	if (output >= 0)
		close(output);
	if (e->follow >= 0)
		close(e->follow);
	if (!rc && !next->stopwatch && look(e, path, &err)) {
		unlink(path);
		rc = -1;
	}
	return rc ? fail(e, next, &result, log, &err) : finish_run(e, next, &result);
}

/* ---- all runs ---- */

/* The longest that a round of this kind took so far; of the other kind, where there is none. */
static int64_t longest_round(const struct suite *s, bool stopwatch)
{
	double longest[2][SUITE_SIDES_MOST] = {{0}}, round[2] = {0};
	for (size_t i = 0; i < s->n_runs; i++) {
		double *of = &longest[s->runs[i].stopwatch][s->runs[i].side];
		*of = s->runs[i].seconds > *of ? s->runs[i].seconds : *of;
	}
	for (int i = 0; i < 2 * s->n_sides; i++)
		round[i % 2] += longest[i % 2][i / 2];
	return (int64_t)(1e9 * (round[stopwatch] > 0 ? round[stopwatch] : round[!stopwatch]));
}

/* Whether the time limit leaves no room for the round that begins with `next`. */
static bool is_late(const struct experiment *e, const struct suite_run *next)
{
	const struct suite *s = &e->suite;
	bool begins = s->n_runs % (size_t)s->n_sides == 0, stopwatch = s->repeat && !s->no_stopwatch;
	size_t least = e->variants.n ? VARIANTS_LEAST_RUNS : LEAST_ROUNDS;
	return e->limit_ns && begins && suite_rounds(s, stopwatch) >= least &&
	       proc_now_ns() - e->began_ns + longest_round(s, next->stopwatch) > e->limit_ns;
}

/* Looks at the runs after each pair without a profiler. No more of them are made once that is enough; those that are to
 * be recorded are. */
static int look_at_runs(struct experiment *e)
{
	struct suite *s = &e->suite;
	size_t pairs = suite_rounds(s, true);
	bool whole = suite_count(s, SUITE_BASELINE) == pairs && suite_count(s, SUITE_FIXED) == pairs;
	if (!s->looks || s->no_stopwatch || !whole || (int)pairs > s->repeat || pairs <= e->looked_at)
		return CMD_DONE;
	e->looked_at = pairs;
	if (!run_look(e))
		return CMD_DONE;
	s->repeat = (int)pairs;
	return write_state(e);
}

int run_all(struct experiment *e)
{
	struct suite_run next;
	int status = look_again(e);
	if (!status)
		status = look_at_runs(e);
	while (!status && suite_next(&e->suite, run_is_logged(e), &next) && !is_late(e, &next)) {
		bool planned = all_planned(&e->suite);
		status = run_one(e, &next);
		if (!status && !planned)
			status = settle(e);
		if (!status)
			status = look_at_runs(e);
		if (!status && proc_interrupted() && suite_next(&e->suite, run_is_logged(e), &next)) {
			run_say_kept(e);
			status = CMD_BAD_PROFILE;
		}
	}
	return status || proc_interrupted() ? status : run_nodes(e);
}
