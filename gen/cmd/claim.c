#include "cmd/claim.h"

#include "base/format.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "say/say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_SCHEMA "gapline-claim/1"

/* A number of a claim is the evidence's where it is at most so much off: three digits are enough. */
static const double SAME = 0.005;

/* ---- writing ---- */

int claim_write(const struct analysis *a, uint32_t evidence, struct buf *to, struct err *err)
{
	const struct verdict *v = &a->verdict;
	struct json json;
	char hash[16];
	snprintf(hash, sizeof hash, "crc32:%08x", evidence);
	json_init(&json, to);
	json_object(&json, NULL);
	json_text(&json, "schema", CLAIM_SCHEMA);
	json_text(&json, "gapline", GAPLINE_VERSION);
	json_text(&json, "result", verdict_result_name(v->result));
	json_number(&json, "speedup", v->has_speedup ? v->speedup : NAN);
	if (v->has_interval) {
		json_array(&json, "ci95");
		json_number(&json, NULL, v->lo);
		json_number(&json, NULL, v->hi);
		json_end_array(&json);
	}
	json_text(&json, "measured", verdict_measure_name(v->measured));
	json_text(&json, "same_work", same_work_name(a->comparison.same_work));
	json_bool(&json, "same_session", v->elsewhere == NULL);
	json_array(&json, "resolved");
	for (uint32_t i = 0; i < a->findings.n; i++)
		if (a->findings.list[i].status == FINDING_RESOLVED)
			json_text(&json, NULL, a->findings.list[i].id);
	json_end_array(&json);
	json_text(&json, "evidence", hash);
	json_end_object(&json);
	return json_finish(&json, err);
}

/* ---- reading ---- */

int claim_read(const char *bytes, size_t n, struct arena *arena, const struct json_value **claim,
               struct gates_asked *gates, struct err *err)
{
	*claim = n <= CLAIM_MOST ? json_read(bytes, n, arena) : NULL;
	const struct json_value *schema = json_member(*claim, "schema", JSON_TEXT);
	*gates = (struct gates_asked){.max_regression = -1};
	if (!schema || strcmp(schema->text, CLAIM_SCHEMA) != 0)
		return err_set(err, "is no claim: a JSON object with \"schema\": \"" CLAIM_SCHEMA "\" is wanted");
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
	struct arena *arena;
	struct claim_checked *out;
	size_t room;
};

const char *claim_answer_name(enum claim_answer answer)
{
	static const char *const names[] = {"holds", "open", "fails"};
	return names[answer];
}

static void add_point(struct checking *c, const char *what, enum claim_answer answer, const struct fact *said)
{
	struct claim_checked *out = c->out;
	LIST_GROW(c->arena, out->list, out->n, c->room);
	out->list[out->n++] = (struct claim_point){what, answer, said};
	out->answer = answer > out->answer ? answer : out->answer;
}

static void add_text(struct checking *c, const char *what, enum claim_answer answer, const char *claimed,
                     const char *shown)
{
	add_point(c, what, answer,
	          FACT_NEW(c->arena, claim_point, FACT_NO_SIDE, .what = what, .answer = claim_answer_name(answer),
	                   .claimed = claimed, .shown = shown));
}

static void check_text(struct checking *c, const struct json_value *claim, const char *key, const char *shown)
{
	const struct json_value *value = json_member(claim, key, JSON_TEXT);
	if (value)
		add_text(c, key, strcmp(value->text, shown) == 0 ? CLAIM_HOLDS : CLAIM_FAILS, value->text, shown);
}

static void check_number(struct checking *c, const struct json_value *value, const char *what, bool known, double shown)
{
	if (!value)
		return;
	double claimed = strtod(value->text, NULL);
	bool same = known && fabs(claimed - shown) <= SAME * fabs(shown);
	add_text(c, what,
	         !known ? CLAIM_OPEN
	         : same ? CLAIM_HOLDS
	                : CLAIM_FAILS,
	         value->text, known ? format_times(c->arena, shown, shown) : NULL);
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

int claim_check(const struct json_value *claim, const struct analysis *a, uint32_t evidence, struct arena *arena,
                struct claim_checked *out, struct err *err)
{
	static const enum claim_answer of_gate[] = {[GATE_NONE] = CLAIM_OPEN,
	                                            [GATE_PASSED] = CLAIM_HOLDS,
	                                            [GATE_FAILED] = CLAIM_FAILS,
	                                            [GATE_INCONCLUSIVE] = CLAIM_OPEN};
	const struct verdict *v = &a->verdict;
	struct checking c = {a, arena, out, 0};
	*out = (struct claim_checked){0};
	check_text(&c, claim, "result", verdict_result_name(v->result));
	check_number(&c, json_member(claim, "speedup", JSON_NUMBER), "speedup", v->has_speedup, v->speedup);
	const struct json_value *ci = json_member(claim, "ci95", JSON_ARRAY);
	if (ci && ci->first && ci->first->next && ci->first->kind == JSON_NUMBER &&
	    ci->first->next->kind == JSON_NUMBER) {
		check_number(&c, ci->first, "ci95", v->has_interval, v->lo);
		check_number(&c, ci->first->next, "ci95", v->has_interval, v->hi);
	}
	check_text(&c, claim, "measured", verdict_measure_name(v->measured));
	check_text(&c, claim, "same_work", same_work_name(a->comparison.same_work));
	const struct json_value *session = json_member(claim, "same_session", JSON_BOOL);
	if (session)
		add_text(&c, "same_session", session->yes == !v->elsewhere ? CLAIM_HOLDS : CLAIM_FAILS,
		         session->yes ? "true" : "false", v->elsewhere ? "false" : "true");
	check_resolved(&c, json_member(claim, "resolved", JSON_ARRAY));
	check_text(&c, claim, "evidence", arena_format(arena, "crc32:%08x", evidence));
	for (size_t i = 0; i < a->gates.n; i++)
		add_point(&c, a->gates.gate[i].name, of_gate[a->gates.gate[i].result], a->gates.gate[i].fact);
	return out->n ? 0
	              : err_set(err, "claims nothing: it has none of the members that docs/reference/claims.md lists");
}
