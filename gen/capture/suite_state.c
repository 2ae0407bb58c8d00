/* run.json: written by base/json_writer, read by base/json_reader. */
#include "capture/suite.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "capture/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "gapline-run/2"

enum { STATE_BYTES_MAX = 16 << 20 };

static const char *state_path(const struct suite *suite)
{
	return arena_format(suite->arena, "%s/run.json", suite->folder);
}

/* ---- writing ---- */

static void write_run(struct json *json, int n_sides, const struct suite_run *run)
{
	json_object(json, NULL);
	json_text(json, "side", suite_side_key(n_sides, run->side));
	json_integer(json, "run", run->number);
	json_text(json, "kind", suite_run_kind(run));
	json_text(json, "profile", run->profile);
	json_text(json, "log", run->log);
	json_number(json, "seconds", run->seconds);
	json_integer(json, "exit_status", run->exit_status);
	json_text(json, "complete", run->complete);
	json_integer(json, "start_utc_ns", run->start_utc_ns);
	if (run->stopwatch) {
		json_integer(json, "time_ns", run->timed.ns);
		json_text(json, "energy_mj", run->timed.energy);
		json_integer(json, "steps", run->steps);
		json_text(json, "unused", run->timed.unused);
	}
	json_end_object(json);
}

static void write_plan(struct json *json, const char *side, const struct stopwatch_plan *plan)
{
	json_object(json, side);
	json_text(json, "step", plan->step);
	json_text(json, "domain", plan->domain);
	json_integer(json, "first", plan->first);
	json_integer(json, "last", plan->last);
	json_integer(json, "steps", plan->steps);
	json_integer(json, "launches", plan->launches);
	json_integer(json, "processes", plan->processes);
	json_integer(json, "limit_ms", plan->limit_ms);
	json_end_object(json);
}

static void write_members(struct json *json, const struct suite *suite)
{
	json_text(json, "schema", SCHEMA);
	json_text(json, "gapline", suite->version);
	json_object(json, "collector");
	json_text(json, "name", suite->collector);
	json_text(json, "version", suite->collector_version);
	json_end_object(json);
	json_text(json, "options", suite->options);
	json_integer(json, "repeat", suite->repeat);
	json_bool(json, "looked", suite->looked);
	json_integer(json, "recorded", suite->recorded);
	json_object(json, "commands");
	for (int s = 0; s < suite->n_sides; s++) {
		for (size_t i = json_list(json, suite_side_key(suite->n_sides, s));
		     json_more(json, suite->commands[s][i]); i++)
			json_text(json, NULL, suite->commands[s][i]);
	}
	json_end_object(json);
	json_object(json, "stopwatch");
	for (int s = 0; s < suite->n_sides; s++) {
		const char *side = suite_side_key(suite->n_sides, s);
		if (suite->planned[s])
			write_plan(json, side, &suite->plan[s]);
		else
			json_null(json, side);
	}
	json_end_object(json);
	json_text(json, "no_stopwatch", suite->no_stopwatch);
	for (size_t i = json_list(json, "runs"); json_more(json, i < suite->n_runs); i++)
		write_run(json, suite->n_sides, &suite->runs[i]);
	for (int s = json_list(json, "graph_nodes"); json_more(json, s < suite->n_sides); s++)
		if (suite->nodes[s].profile)
			write_run(json, suite->n_sides, &suite->nodes[s]);
	json_object(json, "graphs_whole");
	for (int s = 0; s < suite->n_sides; s++)
		json_bool(json, suite_side_key(suite->n_sides, s), suite->graphs_whole[s]);
	json_end_object(json);
}

int suite_write(const struct suite *suite, struct err *err)
{
	BUF_LOCAL(text);
	struct json json;
	struct output out = {0};
	json_init(&json, &text);
	json_object(&json, NULL);
	write_members(&json, suite);
	json_end_object(&json);
	int rc = json_finish(&json, err);
	if (!rc)
		rc = output_prepare(&out, state_path(suite), err);
	out.secret = true; /* it holds the commands, and they may hold passwords */
	out.bytes = text.data;
	out.n = text.n;
	if (!rc)
		rc = output_write(&out, 1, err);
	output_release(&out);
	return rc;
}

/* ---- reading ---- */

/* −1 where there is none, or one that no double holds. */
static double get_number(const struct json_value *object, const char *key)
{
	const struct json_value *v = json_member(object, key, JSON_NUMBER);
	double number = v ? strtod(v->text, NULL) : -1;
	return isfinite(number) ? number : -1;
}

static int64_t get_integer(const struct json_value *object, const char *key)
{
	int64_t number;
	return json_whole(json_member(object, key, JSON_NUMBER), &number) ? number : -1;
}

/* −1 where it does not fit. */
static int get_count(const struct json_value *object, const char *key)
{
	int64_t number = get_integer(object, key);
	return number >= INT_MIN && number <= INT_MAX ? (int)number : -1;
}

static const char *const *read_command(const struct suite *suite, const struct json_value *commands, const char *side)
{
	const struct json_value *array = json_member(commands, side, JSON_ARRAY);
	size_t n = 0;
	for (const struct json_value *v = array ? array->first : NULL; v; v = v->next)
		n++;
	const char **words = ARENA_NEW(suite->arena, n + 1, const char *);
	n = 0;
	for (const struct json_value *v = array ? array->first : NULL; v; v = v->next)
		words[n++] = v->kind == JSON_TEXT ? v->text : "";
	return words;
}

/* NULL: a name of a file elsewhere. */
static const char *plain_name(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

/* A name in run.json stands for a file in its folder, never for one elsewhere. */
static bool is_there(const struct suite *suite, const char *name)
{
	return plain_name(name) && !access(arena_format(suite->arena, "%s/%s", suite->folder, name), F_OK);
}

static void read_run(struct suite *suite, const struct json_value *from, bool nodes)
{
	const char *key = json_member_text(from, "side"), *kind = json_member_text(from, "kind");
	int side = 0;
	while (key && side < suite->n_sides && strcmp(key, suite_side_key(suite->n_sides, side)) != 0)
		side++;
	int64_t steps = get_integer(from, "steps");
	struct suite_run run = {
		.side = side,
		.number = get_count(from, "run"),
		.stopwatch = !nodes && kind && !strcmp(kind, "stopwatch"),
		.nodes = nodes,
		.profile = json_member_text(from, "profile"),
		.log = plain_name(json_member_text(from, "log")),
		.seconds = get_number(from, "seconds"),
		.exit_status = get_count(from, "exit_status"),
		.complete = json_member_text(from, "complete"),
		.start_utc_ns = get_integer(from, "start_utc_ns"),
	};
	if (!key || side == suite->n_sides || run.number < 1 || run.number > SUITE_MANY || !run.complete)
		return;
	run.timed.ns = get_integer(from, "time_ns");
	run.timed.unused = json_member_text(from, "unused");
	run.timed.energy = json_member_text(from, "energy_mj");
	run.steps = (uint32_t)steps;
	if (nodes && is_there(suite, run.profile))
		suite->nodes[side] = run;
	else if (nodes)
		return;
	else if (run.stopwatch ? steps == run.steps && (run.timed.ns > 0) == !run.timed.unused
	                       : is_there(suite, run.profile))
		suite_add(suite, &run);
}

/* A plan that makes no sense is none: the side's first recorded run is looked at again. */
static void read_plan(struct suite *suite, int s, const struct json_value *from)
{
	const char *const keys[] = {"first", "last", "steps", "processes", "limit_ms"};
	int64_t n[sizeof keys / sizeof *keys] = {0};
	struct stopwatch_plan plan = {.step = json_member_text(from, "step"),
	                              .domain = json_member_text(from, "domain")};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		n[i] = get_integer(from, keys[i]);
		if (n[i] < 0 || n[i] > UINT32_MAX)
			return;
	}
	int64_t launches = get_integer(from, "launches");
	plan.launches = launches > 0 && launches <= UINT32_MAX ? (uint32_t)launches : 0;
	plan.first = (uint32_t)n[0];
	plan.last = (uint32_t)n[1];
	plan.steps = (uint32_t)n[2];
	plan.processes = (uint32_t)n[3];
	plan.limit_ms = n[4];
	suite->planned[s] = !plan.steps || (plan.step && plan.domain && plan.first && plan.first < plan.last &&
	                                    plan.processes && plan.limit_ms);
	if (suite->planned[s])
		suite->plan[s] = plan;
}

/* Of gapline 0.1 there are none. */
static void read_nodes(struct suite *suite, const struct json_value *root)
{
	const struct json_value *nodes = json_member(root, "graph_nodes", JSON_ARRAY),
				*whole = json_member(root, "graphs_whole", JSON_OBJECT);
	for (const struct json_value *run = nodes ? nodes->first : NULL; run; run = run->next)
		read_run(suite, run, true);
	for (int s = 0; s < suite->n_sides; s++) {
		const struct json_value *is = json_member(whole, suite_side_key(suite->n_sides, s), JSON_BOOL);
		suite->graphs_whole[s] = is && is->yes;
	}
}

static int read_members(struct suite *suite, const struct json_value *root, struct err *err)
{
	const char *schema = json_member_text(root, "schema");
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return err_set(err, "%s: was not written by this version of gapline; --force starts anew",
		               state_path(suite));
	const struct json_value *collector = json_member(root, "collector", JSON_OBJECT),
				*commands = json_member(root, "commands", JSON_OBJECT),
				*runs = json_member(root, "runs", JSON_ARRAY),
				*plans = json_member(root, "stopwatch", JSON_OBJECT);
	suite->version = json_member_text(root, "gapline");
	suite->collector = json_member_text(collector, "name");
	suite->collector_version = json_member_text(collector, "version");
	suite->options = json_member_text(root, "options");
	suite->repeat = get_count(root, "repeat");
	const struct json_value *looked = json_member(root, "looked", JSON_BOOL);
	suite->looked = looked && looked->yes;
	suite->recorded = get_count(root, "recorded");
	suite->no_stopwatch = json_member_text(root, "no_stopwatch");
	const bool two = json_member(commands, suite_side_key(2, SUITE_FIXED), JSON_ARRAY) != NULL;
	suite->n_sides = two ? 2 : 0;
	while (!two && suite->n_sides < SUITE_SIDES_MOST &&
	       json_member(commands, suite_side_key(SUITE_SIDES_MOST, suite->n_sides), JSON_ARRAY))
		suite->n_sides++;
	for (int s = 0; s < suite->n_sides; s++) {
		const char *side = suite_side_key(suite->n_sides, s);
		suite->commands[s] = read_command(suite, commands, side);
		read_plan(suite, s, json_member(plans, side, JSON_OBJECT));
	}
	if (!suite->version || !suite->collector || !suite->collector_version || !suite->options || !runs ||
	    suite->n_sides < (two ? 2 : 3))
		return err_set_id(err, ERR_DAMAGED, "%s: is damaged; --force starts anew", state_path(suite));
	for (const struct json_value *run = runs->first; run; run = run->next)
		read_run(suite, run, false);
	read_nodes(suite, root);
	return 0;
}

int suite_read(struct suite *suite, struct err *err)
{
	const char *path = state_path(suite);
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &file) || file.st_size > STATE_BYTES_MAX) {
		err_set_id(err, err_id_of(errno), "%s: %s", path,
		           fd < 0 ? err_reason(errno) : "is no run.json of gapline");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	char *text = arena_alloc(suite->arena, (size_t)file.st_size + 1, 1);
	ssize_t n = file_read(fd, text, (size_t)file.st_size);
	close(fd);
	const struct json_value *root = n >= 0 ? json_read(text, (size_t)n, suite->arena) : NULL;
	if (!root)
		return err_set_id(err, ERR_DAMAGED, "%s: is damaged; --force starts anew", path);
	int rc = read_members(suite, root, err);
	return rc ? rc : 1;
}

int suite_same(const struct suite *was, const struct suite *now, struct err *err)
{
	if (was->n_sides != now->n_sides)
		return err_set(err, "%s: its runs are of %d commands, and %d are asked for now; --force starts anew",
		               now->folder, was->n_sides, now->n_sides);
	for (int s = 0; s < now->n_sides; s++) {
		const char *a = command_text(was->commands[s], now->arena),
			   *b = command_text(now->commands[s], now->arena);
		if (strcmp(a, b) != 0)
			return err_set(err, "%s: the %s command was '%s', and is '%s' now; --force starts anew",
			               now->folder, suite_side_name(now, s), a, b);
	}
	if (strcmp(was->options, now->options) != 0)
		return err_set(err, "%s: the options of the capture were '%s', and are '%s' now; --force starts anew",
		               now->folder, was->options, now->options);
	if (strcmp(was->collector, now->collector) != 0 || strcmp(was->collector_version, now->collector_version) != 0)
		return err_set(err, "%s: the collector was %s %s, and is %s %s now; --force starts anew", now->folder,
		               was->collector, was->collector_version, now->collector, now->collector_version);
	return 0;
}
