#include "cmd/capturing.h"

#include "say/say.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const collector_choices[] = {"auto", "nsys", "cupti", NULL}; /* as in enum collector_kind */
static const char *const range_choices[] = {"none", "cudaProfilerApi", NULL};
static const char *const kill_choices[] = {"sigterm", "sigkill", "none", NULL};
static const char *const annotate_choices[] = {"auto", "pytorch", "modules", "none", NULL}; /* as in enum ranges_how */
static const int kill_signals[] = {SIGTERM, SIGKILL, 0};

void capturing_options(struct capturing *c, struct opt_rows *rows)
{
	OPT_ADD(rows, {OPT_CHOICE, 0, "collector", "WHICH", .choice = &c->collector, .choices = collector_choices},
	        {OPT_TEXT, 0, "trace", "LIST", .text = &c->trace},
	        {OPT_DECIMAL, 0, "sample-every", "MS", .decimal = &c->sample_ms, .min = 0.1, .max = 1000},
	        {OPT_CHOICE, 0, "cuda-graph-trace", "HOW", .choice = &c->graphs, .choices = graph_trace_names},
	        {OPT_DECIMAL, 0, "delay", "SECONDS", .decimal = &c->options.delay, .max = 1e6},
	        {OPT_DECIMAL, 0, "duration", "SECONDS", .decimal = &c->options.duration, .min = 0.1, .max = 1e6},
	        {OPT_CHOICE, 0, "kill", "HOW", .choice = &c->kill, .choices = kill_choices},
	        {OPT_CHOICE, 0, "capture-range", "WHICH", .choice = &c->range, .choices = range_choices},
	        {OPT_CHOICE, 0, "annotate", "HOW", .choice = &c->annotate, .choices = annotate_choices});
}

static int parse_trace(const char *list, struct capture_options *o, struct err *err)
{
	bool cuda = false;
	o->nvtx = !list;
	for (const char *at = list; at; at = *at ? at + 1 : NULL) {
		size_t n = strcspn(at, ",");
		if (n == 4 && !memcmp(at, "cuda", n))
			cuda = true;
		else if (n == 4 && !memcmp(at, "nvtx", n))
			o->nvtx = true;
		else if (n == 4 && !memcmp(at, "osrt", n))
			o->osrt = true;
		else if (n == 2 && !memcmp(at, "py", n))
			o->sample_ns = 1000000;
		else if (n == 6 && !memcmp(at, "native", n))
			o->native = true;
		else if (n == 6 && !memcmp(at, "memory", n))
			o->memory = true;
		else
			return err_set(err, "--trace: '%.*s' is none of cuda, nvtx, osrt, memory, py and native",
			               (int)n, at);
		at += n;
	}
	if (list && !cuda)
		return err_set(err, "--trace: cuda has to be among them");
	if (o->native && !o->sample_ns)
		return err_set(err, "--trace: native says what Python's functions call, so py has to be among them");
	return 0;
}

int capturing_settle(struct capturing *c, struct err *err)
{
	struct capture_options *o = &c->options;
	o->graphs = (enum graph_trace)c->graphs;
	o->profiler_range = c->range == 1;
	o->ranges = (enum ranges_how)c->annotate;
	o->kill = kill_signals[c->kill];
	if (c->kill && o->duration <= 0)
		return err_set(err, "--kill says what happens after --duration, which is not given");
	if (parse_trace(c->trace, o, err))
		return -1;
	if (c->sample_ms > 0 && !o->sample_ns)
		return err_set(err, "--sample-every says how often Python is sampled, which is not asked for (--trace "
		                    "cuda,nvtx,py)");
	if (c->sample_ms > 0)
		o->sample_ns = (int64_t)(c->sample_ms * 1e6);
	return 0;
}

int capturing_choose(struct capturing *c, const char *const *const *commands, size_t n, struct arena *arena,
                     struct err *err)
{
	if (collector_choose(&c->chosen, (enum collector_kind)c->collector, commands, n, arena, err))
		return -1;
	return c->chosen.type->check(&c->chosen, &c->options, err);
}

const char *capturing_collector_text(const struct capturing *c, struct arena *arena)
{
	const char *space = *c->chosen.version ? " " : "";
	if (c->collector != COLLECTOR_AUTO)
		return arena_format(arena, "%s%s%s", c->chosen.type->name, space, c->chosen.version);
	return arena_format(arena, "%s%s%s (%s)", c->chosen.type->name, space, c->chosen.version, c->chosen.why);
}

static bool was_said(struct capturing *c, const char *text, struct arena *arena)
{
	for (size_t i = 0; i < c->said.n; i++)
		if (!strcmp(c->said.item[i], text))
			return true;
	LIST_PUT(arena, c->said.item, c->said.n, text);
	return false;
}

void capturing_say_messages(struct capturing *c, const struct capture_result *result, const char *what,
                            struct arena *arena)
{
	enum { SHOWN = 20 };
	for (size_t i = 0; i < result->n_messages && i < SHOWN; i++)
		if (!was_said(c, result->messages[i], arena))
			fprintf(stderr, "%s: %s\n", what, cmd_harmless(arena, result->messages[i]));
	if (result->n_messages > SHOWN)
		fprintf(stderr, "%s: %s\n", what,
		        SAY(NULL, arena, messages_more, .n = (int64_t)(result->n_messages - SHOWN)));
	if (result->left_over)
		fprintf(stderr, "%s: %s\n", what, SAY(NULL, arena, processes_left));
}

const char *capturing_text(const struct capturing *c, struct arena *arena)
{
	const struct capture_options *o = &c->options;
	BUF_LOCAL(text);
	buf_format(&text, "--trace cuda%s%s%s%s%s --cuda-graph-trace %s", o->nvtx ? ",nvtx" : "",
	           o->osrt ? ",osrt" : "", o->memory ? ",memory" : "", o->sample_ns ? ",py" : "",
	           o->native ? ",native" : "", graph_trace_names[c->graphs]);
	if (c->sample_ms > 0)
		buf_format(&text, " --sample-every %.17g", c->sample_ms);
	if (o->delay > 0)
		buf_format(&text, " --delay %.17g", o->delay);
	if (o->duration > 0)
		buf_format(&text, " --duration %.17g --kill %s", o->duration, kill_choices[c->kill]);
	if (c->annotate)
		buf_format(&text, " --annotate %s", annotate_choices[c->annotate]);
	if (o->profiler_range)
		buf_format(&text, " --capture-range %s", range_choices[c->range]);
	return arena_copy(arena, text.data, text.n);
}

const char *capturing_time_text(int64_t ns, struct arena *arena)
{
	int64_t tenths = ns / 100000000, seconds = tenths / 10;
	if (seconds < 60)
		return arena_format(arena, "%lld.%lld s", (long long)seconds, (long long)(tenths % 10));
	if (seconds < 3600)
		return arena_format(arena, "%lld:%02lld min", (long long)(seconds / 60), (long long)(seconds % 60));
	return arena_format(arena, "%lld:%02lld:%02lld h", (long long)(seconds / 3600), (long long)(seconds / 60 % 60),
	                    (long long)(seconds % 60));
}
