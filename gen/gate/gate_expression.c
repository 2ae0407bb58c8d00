#include "base/format.h"
#include "base/opt.h"
#include "gate/gate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Which limits a metric can be held against. */
enum kind { OF_SPEEDUP, OF_STEP, OF_TIME, OF_COUNT, OF_BYTES, OF_CHANGE };

static const struct {
	const char *name;
	enum gate_metric metric;
	enum kind kind;
} metrics[] = {
	{"speedup", METRIC_SPEEDUP, OF_SPEEDUP},
	{"step", METRIC_STEP, OF_STEP},
	{"step_ms", METRIC_STEP, OF_STEP},
	{"p50", METRIC_P50, OF_STEP},
	{"p90", METRIC_P90, OF_STEP},
	{"p95", METRIC_P95, OF_STEP},
	{"p99", METRIC_P99, OF_STEP},
	{"compute", METRIC_COMPUTE, OF_TIME},
	{"comm_exposed", METRIC_COMM, OF_TIME},
	{"copy_exposed", METRIC_COPY, OF_TIME},
	{"idle", METRIC_IDLE, OF_TIME},
	{"kernels_per_step", METRIC_KERNELS, OF_COUNT},
	{"graphs_per_step", METRIC_GRAPHS, OF_COUNT},
	{"collectives_per_step", METRIC_COLLECTIVES, OF_COUNT},
	{"copies_per_step", METRIC_COPIES, OF_COUNT},
	{"syncs_per_step", METRIC_SYNCS, OF_COUNT},
	{"h2d_bytes", METRIC_H2D, OF_BYTES},
	{"d2h_bytes", METRIC_D2H, OF_BYTES},
	{"d2d_bytes", METRIC_D2D, OF_BYTES},
	{"energy", METRIC_ENERGY, OF_CHANGE},
	{"memory", METRIC_MEMORY, OF_BYTES},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static const struct {
	const char *name;
	enum gate_metric metric;
} phase_parts[] = {{"cost", METRIC_PHASE_COST},
                   {"gpu", METRIC_PHASE_GPU},
                   {"idle", METRIC_PHASE_IDLE},
                   {"host", METRIC_PHASE_HOST}};
enum { PHASE_PARTS = sizeof phase_parts / sizeof *phase_parts };

/* A place in the text. */
struct parser {
	const char *text, *at;
	bool milliseconds; /* a number without a unit is ms */
	struct arena *arena;
	struct err *err;
};

/* Characters, not bytes: what a reader counts. */
static size_t character(const char *text, const char *at)
{
	size_t n = 1;
	for (; text < at; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static int expected(struct parser *p, const char *at, const char *what)
{
	return err_set(p->err, "--gate '%s': character %zu: %s", p->text, character(p->text, at), what);
}

static void pass_spaces(struct parser *p)
{
	p->at += strspn(p->at, " ");
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
	       c == '#' || c == '/' || (unsigned char)c >= 0x80;
}

static const char *read_word(struct parser *p)
{
	const char *from = p->at;
	while (is_word(*p->at))
		p->at++;
	return arena_copy(p->arena, from, (size_t)(p->at - from));
}

/* A word, or anything in double quotes, in which \" and \\ stand for themselves. */
static int read_name(struct parser *p, const char **out)
{
	if (*p->at != '"') {
		const char *from = p->at;
		*out = read_word(p);
		return **out ? 0 : expected(p, from, "a phase's name is expected; one with spaces or signs in quotes");
	}
	const char *from = p->at++;
	char *name = arena_copy(p->arena, p->at, strlen(p->at));
	size_t n = 0;
	for (; *p->at && *p->at != '"'; p->at++) {
		if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
			p->at++;
		name[n++] = *p->at;
	}
	if (!*p->at)
		return expected(p, from, "this quotation mark is never closed");
	p->at++;
	name[n] = 0;
	*out = name;
	return n ? 0 : expected(p, from, "a phase's name is expected between the quotation marks");
}

static int read_phase(struct parser *p, struct gate_expression *out, enum kind *kind)
{
	p->at++;
	if (read_name(p, &out->phase))
		return -1;
	if (*p->at != '.')
		return expected(p, p->at, "'.' is expected after the phase's name, and cost, gpu, idle or host");
	const char *from = ++p->at, *part = read_word(p);
	for (size_t i = 0; i < PHASE_PARTS; i++)
		if (strcmp(part, phase_parts[i].name) == 0) {
			out->metric = phase_parts[i].metric;
			*kind = OF_TIME;
			return 0;
		}
	return expected(p, from, "cost, gpu, idle or host is expected");
}

static int read_cause(struct parser *p, struct gate_expression *out)
{
	const char *from = ++p->at, *name = read_word(p);
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		if (strcmp(name, cause_name((enum cause)cause)) == 0) {
			out->metric = METRIC_CAUSE;
			out->cause = cause;
			return 0;
		}
	const char *all = cause_name((enum cause)0);
	for (int cause = 1; cause < CAUSE_COUNT; cause++)
		all = arena_format(p->arena, "%s, %s", all, cause_name((enum cause)cause));
	return expected(p, from, arena_format(p->arena, "a cause of idle time is expected: %s", all));
}

static int read_latency(struct parser *p, struct gate_expression *out)
{
	const char *from = ++p->at, *name = read_word(p);
	if (strcmp(name, "first") != 0 && strcmp(name, "each") != 0)
		return expected(p, from, "first or each is expected");
	out->latency = strcmp(name, "first") == 0 ? LATENCY_FIRST : LATENCY_EACH;
	return 0;
}

static int read_metric(struct parser *p, struct gate_expression *out, enum kind *kind)
{
	const char *from = p->at, *name = read_word(p), *all = "phase:NAME.cost, idle:CAUSE";
	if (*p->at == ':' && strcmp(name, "phase") == 0)
		return read_phase(p, out, kind);
	for (size_t i = 0; i < METRICS; i++) {
		all = arena_format(p->arena, "%s, %s", all, metrics[i].name);
		if (strcmp(name, metrics[i].name) != 0)
			continue;
		out->metric = metrics[i].metric;
		*kind = metrics[i].kind;
		p->milliseconds = strcmp(name, "step_ms") == 0;
		if (out->metric >= METRIC_P50 && out->metric <= METRIC_P99 && *p->at == ':')
			return read_latency(p, out);
		return out->metric == METRIC_IDLE && *p->at == ':' ? read_cause(p, out) : 0;
	}
	for (size_t i = 0; i < METRICS; i++)
		if (opt_near(name, metrics[i].name))
			return expected(p, from, arena_format(p->arena, "did you mean %s?", metrics[i].name));
	return expected(p, from, arena_format(p->arena, "what is held against the limit is one of %s", all));
}

static int read_operator(struct parser *p, struct gate_expression *out)
{
	const char *from = p->at;
	if (*p->at != '<' && *p->at != '>')
		return expected(p, from, "one of < <= > >= is expected");
	out->compare = *p->at++ == '<' ? GATE_LESS : GATE_MORE;
	if (*p->at == '=') {
		p->at++;
		out->compare++;
	}
	if (out->metric == METRIC_SPEEDUP && out->compare != GATE_AT_LEAST)
		return expected(p, from, "a speedup is asked for with >=");
	return 0;
}

/* Digits with at most one point: no exponent, nothing that is no number. */
static int read_number(struct parser *p, double *out)
{
	enum { MOST_DIGITS = 15 };
	const char *from = p->at;
	size_t digits = 0, points = 0;
	for (; (*p->at >= '0' && *p->at <= '9') || *p->at == '.'; p->at++) {
		digits += *p->at != '.';
		points += *p->at == '.';
	}
	if (!digits || digits > MOST_DIGITS || points > 1)
		return expected(p, from, "a number is expected, as in 5, 0.5 or +3%");
	*out = strtod(arena_copy(p->arena, from, (size_t)(p->at - from)), NULL);
	return 0;
}

static const struct {
	const char *name;
	enum gate_unit unit;
	double of;
} units[] = {{"ns", GATE_NS, 1},      {"us", GATE_NS, 1e3}, {"\xC2\xB5s", GATE_NS, 1e3}, {"ms", GATE_NS, 1e6},
             {"s", GATE_NS, 1e9},     {"B", GATE_BYTES, 1}, {"kB", GATE_BYTES, 1e3},     {"MB", GATE_BYTES, 1e6},
             {"GB", GATE_BYTES, 1e9}, {"x", GATE_TIMES, 1}, {"%", GATE_SHARE, 1},        {"", GATE_COUNT, 1}};
enum { UNITS = sizeof units / sizeof *units };

/* What a limit of a metric looks like. */
static const char *const limits[] = {
	[OF_SPEEDUP] = "the limit of a speedup is a number, as in 1.1",
	[OF_STEP] = "the limit of a step is a time, as in 20ms, or a change against the baseline, as in +3%",
	[OF_TIME] = ("the limit of a part of a step is a share, as in 5%, a time, as in 0.5ms, or a change against the "
                     "baseline, as in +3%"),
	[OF_COUNT] = "the limit of a count is a number, as in 100, or a change against the baseline, as in +0%",
	[OF_CHANGE] = "the limit of energy is a change against the baseline, as in +0%",
	[OF_BYTES] = "the limit of bytes has a unit, as in 20MB, or is a change against the baseline, as in +0%",
};

static bool fits(enum kind kind, enum gate_unit unit)
{
	switch (unit) {
	case GATE_TIMES:
		return kind == OF_SPEEDUP;
	case GATE_NS:
		return kind == OF_STEP || kind == OF_TIME;
	case GATE_SHARE:
		return kind == OF_TIME;
	case GATE_COUNT:
		return kind == OF_COUNT;
	case GATE_BYTES:
		return kind == OF_BYTES;
	case GATE_CHANGE:
		break;
	}
	return kind != OF_SPEEDUP;
}

static int read_limit(struct parser *p, struct gate_expression *out, enum kind kind)
{
	const char *from = p->at;
	bool change = *p->at == '+' || *p->at == '-', minus = *p->at == '-';
	p->at += change;
	if (read_number(p, &out->limit))
		return -1;
	pass_spaces(p);
	const char *unit = p->at;
	size_t n = strcspn(p->at, " "), i = 0;
	while (i < UNITS && (strlen(units[i].name) != n || strncmp(units[i].name, unit, n) != 0))
		i++;
	if (i == UNITS)
		return expected(p, unit, "this is no unit; %, ns, us, ms, s, B, kB, MB, GB and x are");
	out->unit = units[i].unit;
	out->limit *= units[i].of;
	p->at += n;
	if (out->unit == GATE_COUNT && kind == OF_SPEEDUP)
		out->unit = GATE_TIMES;
	if (out->unit == GATE_COUNT && p->milliseconds) {
		out->unit = GATE_NS;
		out->limit *= 1e6;
	}
	if (change && units[i].unit != GATE_SHARE)
		return expected(p, from, "a limit with a sign is a change against the baseline, in %");
	if (change) {
		out->unit = GATE_CHANGE;
		out->limit = minus ? -out->limit : out->limit;
	}
	if (out->unit == GATE_CHANGE && out->limit < -100)
		return expected(p, from, "nothing gets smaller than by 100 %");
	if (out->unit == GATE_TIMES && out->limit <= 0)
		return expected(p, from, "a speedup is above 0");
	return fits(kind, out->unit) ? 0 : expected(p, from, limits[kind]);
}

int gate_expression_parse(const char *text, struct arena *arena, struct gate_expression *out, struct err *err)
{
	struct parser p = {.text = text, .at = text, .arena = arena, .err = err};
	enum kind kind = OF_TIME;
	*out = (struct gate_expression){.text = text};
	if (strlen(text) > GATE_EXPRESSION_MOST)
		return err_set(err, "--gate: an expression has at most %d bytes", GATE_EXPRESSION_MOST);
	pass_spaces(&p);
	if (read_metric(&p, out, &kind))
		return -1;
	pass_spaces(&p);
	if (read_operator(&p, out))
		return -1;
	pass_spaces(&p);
	if (read_limit(&p, out, kind))
		return -1;
	pass_spaces(&p);
	return *p.at ? expected(&p, p.at, "the expression ends before this") : 0;
}

WORD_OF(gate_unit_name, gate_unit, [GATE_TIMES] = "times", [GATE_NS] = "ms", [GATE_SHARE] = "percent",
        [GATE_COUNT] = "count", [GATE_BYTES] = "bytes", [GATE_CHANGE] = "percent_change")
