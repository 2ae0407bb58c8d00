/* run.json: written by base/json_writer's rules, read by yajl's tree. */
#include "capture/suite.h"

#include "base/file.h"
#include "base/json_writer.h"
#include "base/output.h"
#include "capture/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#define SCHEMA "gapline-run/2"

enum { STATE_BYTES_MAX = 16 << 20, ERROR_MAX = 200 };

static const char *state_path(const struct suite *suite)
{
	return arena_format(suite->arena, "%s/run.json", suite->folder);
}

/* ---- writing ---- */

static void write_run(struct json *json, const struct suite_run *run)
{
	json_object(json, NULL);
	json_text(json, "side", suite_side_names[run->side]);
	json_integer(json, "run", run->number);
	json_text(json, "kind", run->stopwatch ? "stopwatch" : "recorded");
	json_text(json, "profile", run->profile);
	json_text(json, "log", run->log);
	json_number(json, "seconds", run->seconds);
	json_integer(json, "exit_status", run->exit_status);
	json_text(json, "complete", run->complete);
	json_integer(json, "start_utc_ns", run->start_utc_ns);
	if (run->stopwatch) {
		json_integer(json, "time_ns", run->timed.ns);
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
	json_integer(json, "recorded", suite->recorded);
	json_object(json, "commands");
	for (size_t s = 0; s < 2; s++) {
		json_array(json, suite_side_names[s]);
		for (size_t i = 0; suite->commands[s][i]; i++)
			json_text(json, NULL, suite->commands[s][i]);
		json_end_array(json);
	}
	json_end_object(json);
	json_object(json, "stopwatch");
	for (size_t s = 0; s < 2; s++)
		if (suite->planned[s])
			write_plan(json, suite_side_names[s], &suite->plan[s]);
		else
			json_null(json, suite_side_names[s]);
	json_end_object(json);
	json_text(json, "no_stopwatch", suite->no_stopwatch);
	json_array(json, "runs");
	for (size_t i = 0; i < suite->n_runs; i++)
		write_run(json, &suite->runs[i]);
	json_end_array(json);
}

int suite_write(const struct suite *suite, struct err *err)
{
	struct buf text = {0};
	struct json json;
	struct output out = {0};
	json_init(&json, &text);
	json_object(&json, NULL);
	write_members(&json, suite);
	json_end_object(&json);
	int rc = json_finish(&json, err);
	if (!rc)
		rc = output_prepare(&out, state_path(suite), err);
	out.bytes = text.data;
	out.n = text.n;
	if (!rc)
		rc = output_write(&out, 1, err);
	output_release(&out);
	buf_release(&text);
	return rc;
}

/* ---- reading ---- */

/* Every getter is NULL, false or 0 for what is missing or of another type. */
static yajl_val get(yajl_val object, const char *key, yajl_type type)
{
	const char *path[] = {key, NULL};
	return yajl_tree_get(object, path, type);
}

static const char *get_text(const struct suite *suite, yajl_val object, const char *key)
{
	const char *text = YAJL_GET_STRING(get(object, key, yajl_t_string));
	return text ? arena_copy(suite->arena, text, strlen(text)) : NULL;
}

static double get_number(yajl_val object, const char *key)
{
	yajl_val v = get(object, key, yajl_t_number);
	return v ? strtod(YAJL_GET_NUMBER(v), NULL) : -1;
}

static const char *const *read_command(const struct suite *suite, yajl_val commands, const char *side)
{
	yajl_val array = get(commands, side, yajl_t_array);
	size_t n = array ? YAJL_GET_ARRAY(array)->len : 0;
	const char **words = ARENA_NEW(suite->arena, n + 1, const char *);
	for (size_t i = 0; i < n; i++) {
		const char *word = YAJL_GET_STRING(YAJL_GET_ARRAY(array)->values[i]);
		words[i] = arena_copy(suite->arena, word ? word : "", word ? strlen(word) : 0);
	}
	return words;
}

/* A name in run.json stands for a file in its folder, never for one elsewhere. */
static bool is_there(const struct suite *suite, const char *name)
{
	return name && !strchr(name, '/') && !access(arena_format(suite->arena, "%s/%s", suite->folder, name), F_OK);
}

static int64_t get_integer(yajl_val object, const char *key)
{
	yajl_val v = get(object, key, yajl_t_number);
	return v && YAJL_IS_INTEGER(v) ? YAJL_GET_INTEGER(v) : -1;
}

static void read_run(struct suite *suite, yajl_val from)
{
	const char *side = get_text(suite, from, "side"), *kind = get_text(suite, from, "kind");
	int64_t steps = get_integer(from, "steps");
	struct suite_run run = {
		.side = side && !strcmp(side, suite_side_names[SUITE_FIXED]) ? SUITE_FIXED : SUITE_BASELINE,
		.number = (int)get_number(from, "run"),
		.stopwatch = kind && !strcmp(kind, "stopwatch"),
		.profile = get_text(suite, from, "profile"),
		.log = get_text(suite, from, "log"),
		.seconds = get_number(from, "seconds"),
		.exit_status = (int)get_number(from, "exit_status"),
		.complete = get_text(suite, from, "complete"),
		.start_utc_ns = get_integer(from, "start_utc_ns"),
	};
	if (!side || run.number < 1 || run.number > SUITE_MANY || !run.complete)
		return;
	run.timed.ns = get_integer(from, "time_ns");
	run.timed.unused = get_text(suite, from, "unused");
	run.steps = (uint32_t)steps;
	if (run.stopwatch ? steps == run.steps && (run.timed.ns > 0) == !run.timed.unused
	                  : is_there(suite, run.profile))
		suite_add(suite, &run);
}

/* A plan that makes no sense is none: the side's first recorded run is looked at again. */
static void read_plan(struct suite *suite, size_t s, yajl_val from)
{
	const char *const keys[] = {"first", "last", "steps", "processes", "limit_ms"};
	int64_t n[sizeof keys / sizeof *keys];
	struct stopwatch_plan plan = {.step = get_text(suite, from, "step"), .domain = get_text(suite, from, "domain")};
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

static int read_members(struct suite *suite, yajl_val root, struct err *err)
{
	const char *schema = get_text(suite, root, "schema");
	if (!schema || strcmp(schema, SCHEMA) != 0)
		return err_set(err, "%s: was not written by this version of gapline; --force starts anew",
		               state_path(suite));
	yajl_val collector = get(root, "collector", yajl_t_object), commands = get(root, "commands", yajl_t_object);
	yajl_val runs = get(root, "runs", yajl_t_array), plans = get(root, "stopwatch", yajl_t_object);
	suite->version = get_text(suite, root, "gapline");
	suite->collector = get_text(suite, collector, "name");
	suite->collector_version = get_text(suite, collector, "version");
	suite->options = get_text(suite, root, "options");
	suite->repeat = (int)get_number(root, "repeat");
	suite->recorded = (int)get_number(root, "recorded");
	suite->no_stopwatch = get_text(suite, root, "no_stopwatch");
	for (size_t s = 0; s < 2; s++) {
		suite->commands[s] = read_command(suite, commands, suite_side_names[s]);
		read_plan(suite, s, get(plans, suite_side_names[s], yajl_t_object));
	}
	if (!suite->version || !suite->collector || !suite->collector_version || !suite->options || !runs)
		return err_set(err, "%s: is damaged; --force starts anew", state_path(suite));
	for (size_t i = 0; i < YAJL_GET_ARRAY(runs)->len; i++)
		read_run(suite, YAJL_GET_ARRAY(runs)->values[i]);
	return 0;
}

int suite_read(struct suite *suite, struct err *err)
{
	const char *path = state_path(suite);
	char problem[ERROR_MAX] = "";
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &file) || file.st_size > STATE_BYTES_MAX) {
		err_set(err, "%s: %s", path, fd < 0 ? strerror(errno) : "is no run.json of gapline");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	char *text = arena_alloc(suite->arena, (size_t)file.st_size + 1, 1);
	ssize_t n = read(fd, text, (size_t)file.st_size);
	close(fd);
	yajl_val root = n >= 0 ? yajl_tree_parse(text, problem, sizeof problem) : NULL;
	if (!root)
		return err_set(err, "%s: is damaged; --force starts anew", path);
	int rc = read_members(suite, root, err);
	yajl_tree_free(root);
	return rc ? rc : 1;
}

int suite_same(const struct suite *was, const struct suite *now, struct err *err)
{
	for (size_t s = 0; s < 2; s++) {
		const char *a = command_text(was->commands[s], now->arena),
			   *b = command_text(now->commands[s], now->arena);
		if (strcmp(a, b) != 0)
			return err_set(err, "%s: the %s command was '%s', and is '%s' now; --force starts anew",
			               now->folder, suite_side_names[s], a, b);
	}
	if (strcmp(was->options, now->options) != 0)
		return err_set(err, "%s: the options of the capture were '%s', and are '%s' now; --force starts anew",
		               now->folder, was->options, now->options);
	if (strcmp(was->collector, now->collector) != 0 || strcmp(was->collector_version, now->collector_version) != 0)
		return err_set(err, "%s: the collector was %s %s, and is %s %s now; --force starts anew", now->folder,
		               was->collector, was->collector_version, now->collector, now->collector_version);
	return 0;
}
