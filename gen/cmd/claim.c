#include "cmd/claim.h"

#include "analyse/step_tables.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "render/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_SCHEMA "gapline-claim/1"

/* A number of a claim is the evidence's where it is at most so much off: three digits are enough. */
static const double SAME = 0.005;

/* ---- writing ---- */

/* Runs of a side that share a session: day, host and GPUs. */
struct session {
	int side;
	int64_t day; /* since 1970; -1: not known */
	const struct exchange_place *place;
	int64_t runs[2]; /* recorded, timed */
};

/* Digests in the order in which they come up: a reader sees A, B, C. */
struct letters {
	uint64_t seen[26];
	uint32_t n;
};

struct sessions {
	struct session *list;
	size_t n, room;
	struct arena *arena;
};

static bool same_place(const struct exchange_place *x, const struct exchange_place *y)
{
	return x->host == y->host && x->n_gpus == y->n_gpus &&
	       (!x->n_gpus || memcmp(x->gpu, y->gpu, x->n_gpus * sizeof *x->gpu) == 0);
}

static void add_run(struct sessions *s, int side, int64_t start, const struct exchange_place *place, bool timed)
{
	static const int64_t DAY = INT64_C(86400000000000);
	const int64_t day = start > 0 ? start / DAY : -1;
	size_t i = 0;
	while (i < s->n && (s->list[i].side != side || s->list[i].day != day || !same_place(s->list[i].place, place)))
		i++;
	if (i == s->n) {
		LIST_ADD(s->arena, s->list, s->n, s->room, (struct session){.side = side, .day = day, .place = place});
	}
	s->list[i].runs[timed]++;
}

static const char *letter(struct letters *letters, uint64_t digest, char text[2])
{
	uint32_t i = 0;
	while (i < letters->n && letters->seen[i] != digest)
		i++;
	if (!digest || i == sizeof letters->seen / sizeof *letters->seen)
		return NULL;
	letters->seen[i] = digest;
	letters->n = i == letters->n ? i + 1 : letters->n;
	text[0] = (char)('A' + i);
	text[1] = 0;
	return text;
}

static void write_sessions(struct json *json, const struct analysis *a, struct arena *arena)
{
	struct sessions s = {.arena = arena};
	struct letters days = {0}, hosts = {0}, gpus = {0};
	char text[2];
	for (int side = 0; side < 2; side++) {
		const struct side_facts *facts = &a->tables->facts[side];
		for (size_t r = 0; r < facts->n_runs; r++)
			add_run(&s, side, facts->runs[r].source.started, &facts->runs[r].place, false);
		for (size_t r = 0; r < facts->timed.n_runs; r++)
			add_run(&s, side, facts->timed.runs[r].start, &facts->timed.runs[r].place, true);
	}
	for (size_t i = json_list(json, "sessions"); json_item(json, i, s.n); i++) {
		const struct session *one = &s.list[i];
		json_text(json, "side", a->side[one->side].label);
		json_text(json, "day", letter(&days, (uint64_t)(one->day + 1), text));
		json_text(json, "host", letter(&hosts, one->place->host, text));
		for (size_t g = json_list(json, "gpus"); json_more(json, g < one->place->n_gpus); g++)
			json_text(json, NULL, letter(&gpus, one->place->gpu[g], text));
		json_integer(json, "recorded_runs", one->runs[0]);
		json_integer(json, "timed_runs", one->runs[1]);
	}
}

static void write_conditions(struct json *json, const struct analysis *a, struct arena *arena)
{
	json_object(json, "conditions");
	for (int i = 0; i < 2; i++) {
		const struct side *side = &a->side[i];
		const struct clocks *clocks = side->n_devices ? &side->devices[0].clocks : NULL;
		json_object(json, side->label);
		json_text(json, "gpus", view_gpus(a, side, arena));
		json_text(json, "driver", side->source.driver);
		json_text(json, "cuda", side->source.cuda_driver);
		json_text(json, "recorded_by", side->source.collector);
		json_number(json, "sm_mhz", clocks && clocks->samples ? clocks->sm_mhz.median : NAN);
		json_number(json, "memory_mhz", clocks && clocks->samples ? clocks->memory_mhz.median : NAN);
		json_integer(json, "steps", (int64_t)side->steps.measured);
		json_end_object(json);
	}
	json_end_object(json);
}

int claim_write(const struct analysis *a, uint32_t evidence, struct buf *to, struct err *err)
{
	const struct verdict *v = &a->verdict;
	ARENA_LOCAL(scratch);
	struct json json;
	json_init(&json, to);
	json_object(&json, NULL);
	json_text(&json, "schema", CLAIM_SCHEMA);
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "result", verdict_result_name(v->result));
	json_number(&json, "speedup", v->has_speedup ? v->speedup : NAN);
	json_range(&json, "ci95", v->has_interval, v->lo, v->hi);
	json_text(&json, "measured", verdict_measure_name(v->measured));
	json_text(&json, "same_work", same_work_name(a->comparison.same_work));
	json_text(&json, "same_result", result_state_name(a->comparison.result.state));
	json_bool(&json, "same_conditions", !a->comparison.other_conditions);
	json_bool(&json, "same_session", v->elsewhere == NULL);
	write_sessions(&json, a, &scratch);
	write_conditions(&json, a, &scratch);
	for (uint32_t i = json_list(&json, "resolved"); json_more(&json, i < a->findings.n); i++)
		if (a->findings.list[i].status == FINDING_RESOLVED)
			json_text(&json, NULL, a->findings.list[i].id);
	json_text(&json, "evidence", arena_format(&scratch, "crc32:%08x", evidence));
	json_end_object(&json);
	return json_finish(&json, err);
}

/* ---- reading ---- */

int claim_read(const char *bytes, size_t n, struct arena *arena, const struct json_value **claim,
               struct gates_asked *gates, struct err *err)
{
	*claim = n <= CLAIM_MOST ? json_read(bytes, n, arena) : NULL;
	const char *schema = json_member_text(*claim, "schema");
	*gates = (struct gates_asked){.max_regression = -1};
	if (!schema || strcmp(schema, CLAIM_SCHEMA) != 0)
		return err_set(err, "%s%s; a JSON object with \"schema\": \"" CLAIM_SCHEMA "\" is wanted",
		               !n               ? "is empty"
		               : n > CLAIM_MOST ? "is longer than any claim"
		               : schema         ? "is no claim that this gapline reads but "
		                                : "is no claim",
		               schema ? schema : "");
	const struct json_value *list = json_member(*claim, "gates", JSON_ARRAY);
	struct gate_expression *expression = NULL;
	size_t room = 0;
	for (const struct json_value *g = list ? list->first : NULL; g; g = g->next) {
		if (g->kind != JSON_TEXT)
			return err_set(err, "a gate of the claim is no text");
		LIST_GROW(arena, expression, gates->n_expressions, room);
		if (gate_expression_parse(g->text, arena, &expression[gates->n_expressions++], err) < 0)
			return -1;
	}
	gates->expressions = expression;
	return 0;
}

/* ---- checking ---- */

struct checking {
	const struct analysis *a;
	struct names *names;
	struct arena *arena;
	struct claim_checked *out;
	size_t room;
};

WORD_OF(claim_answer_name, claim_answer, "holds", "open", "fails")

static void add_point(struct checking *c, const char *what, enum claim_answer answer, const struct fact *said)
{
	struct claim_checked *out = c->out;
	LIST_ADD(c->arena, out->list, out->n, c->room, (struct claim_point){what, answer, said});
	out->answer = answer > out->answer ? answer : out->answer;
}

static void add_text(struct checking *c, const char *what, enum claim_answer answer, const char *claimed,
                     const char *shown)
{
	add_point(c, what, answer,
	          FACT_NEW(c->arena, claim_point, FACT_NO_SIDE, .what = what, .answer = claim_answer_name(answer),
	                   .claimed = claimed, .shown = shown));
}

/* The first member of this name, of any kind; NULL. */
static const struct json_value *member(const struct json_value *object, const char *key)
{
	for (const struct json_value *v = object->first; v; v = v->next)
		if (strcmp(v->key, key) == 0)
			return v;
	return NULL;
}

/* What is shown of a value; NULL: it is not known. */
static const char *shown_of(struct checking *c, const struct json_value *v)
{
	size_t n = 0;
	if (!v || v->kind == JSON_NULL)
		return NULL;
	if (v->kind == JSON_BOOL)
		return v->yes ? "true" : "false";
	if (v->kind == JSON_NUMBER)
		return arena_format(c->arena, "%.4g", strtod(v->text, NULL));
	for (const struct json_value *in = v->first; in; in = in->next)
		n++;
	return v->kind == JSON_TEXT ? v->text : arena_format(c->arena, v->kind == JSON_ARRAY ? "[%zu]" : "{%zu}", n);
}

static bool same_value(const struct json_value *claimed, const struct json_value *shown)
{
	if (!shown || claimed->kind != shown->kind)
		return false;
	if (claimed->kind == JSON_NUMBER) {
		double of = strtod(shown->text, NULL);
		return fabs(strtod(claimed->text, NULL) - of) <= SAME * fabs(of);
	}
	return claimed->kind == JSON_TEXT ? strcmp(claimed->text, shown->text) == 0 : claimed->yes == shown->yes;
}

/* Each value that is claimed, at any depth, is a point; null claims nothing. What the evidence does not tell stays
 * open, but for a result: that nothing is shown is what is shown. */
static void check_value(struct checking *c, const char *path, const struct json_value *claimed,
                        const struct json_value *shown)
{
	const struct json_value *other = shown ? shown->first : NULL;
	if (claimed->kind == JSON_NULL)
		return;
	if (shown && claimed->kind == JSON_OBJECT && shown->kind == JSON_OBJECT) {
		for (const struct json_value *v = claimed->first; v; v = v->next)
			check_value(c, arena_format(c->arena, "%s.%s", path, v->key), v, member(shown, v->key));
		return;
	}
	if (shown && claimed->kind == JSON_ARRAY && shown->kind == JSON_ARRAY) {
		size_t n = 0;
		const struct json_value *v = claimed->first;
		for (; v && other; v = v->next, other = other->next)
			check_value(c, arena_format(c->arena, "%s[%zu]", path, n++), v, other);
		if (v || other)
			add_text(c, path, CLAIM_FAILS, shown_of(c, claimed), shown_of(c, shown));
		return;
	}
	bool open = shown && shown->kind == JSON_NULL;
	add_text(c, path,
	         open                         ? CLAIM_OPEN
	         : same_value(claimed, shown) ? CLAIM_HOLDS
	                                      : CLAIM_FAILS,
	         shown_of(c, claimed), shown_of(c, shown));
}

static void check_resolved(struct checking *c, const struct json_value *list)
{
	for (const struct json_value *id = list ? list->first : NULL; id; id = id->next) {
		const char *shown = NULL;
		if (id->kind != JSON_TEXT)
			continue;
		for (uint32_t i = 0; i < c->a->findings.n; i++)
			if (strcmp(c->a->findings.list[i].id, id->text) == 0)
				shown = finding_status_name(c->a->findings.list[i].status);
		add_text(c, "resolved", shown && strcmp(shown, "resolved") == 0 ? CLAIM_HOLDS : CLAIM_FAILS, id->text,
		         shown);
	}
}

/* Each member beside what `gapline claim` would write. -1 with `err`: it claims what no claim can. */
static int check_members(struct checking *c, const struct json_value *claim, const struct json_value *shows,
                         struct err *err)
{
	for (const struct json_value *m = claim->first; m; m = m->next) {
		if (strcmp(m->key, "schema") == 0 || strcmp(m->key, "gapline") == 0 || strcmp(m->key, "gates") == 0)
			continue;
		const struct json_value *shown = member(shows, m->key);
		if (!shown)
			return err_set(err, "claims '%s', which nothing can show",
			               names_text(c->a->names, names_add_text(c->names, m->key)));
		if (strcmp(m->key, "resolved") == 0)
			check_resolved(c, m);
		else
			check_value(c, m->key, m, shown);
	}
	return 0;
}

int claim_check(const struct json_value *claim, const struct analysis *a, uint32_t evidence, struct names *names,
                struct arena *arena, struct claim_checked *out, struct err *err)
{
	static const enum claim_answer of_gate[] = {[GATE_NONE] = CLAIM_OPEN,
	                                            [GATE_PASSED] = CLAIM_HOLDS,
	                                            [GATE_FAILED] = CLAIM_FAILS,
	                                            [GATE_INCONCLUSIVE] = CLAIM_OPEN};
	struct checking c = {a, names, arena, out, 0};
	BUF_LOCAL(bytes);
	*out = (struct claim_checked){0};
	int result = claim_write(a, evidence, &bytes, err);
	if (result == 0)
		result = check_members(&c, claim, json_read(bytes.data, bytes.n, arena), err);
	for (size_t i = 0; i < a->gates.n && result == 0; i++)
		add_point(&c, a->gates.gate[i].name, of_gate[a->gates.gate[i].result], a->gates.gate[i].fact);
	if (result == 0 && !out->n)
		result = err_set(err, "claims nothing");
	return result;
}
