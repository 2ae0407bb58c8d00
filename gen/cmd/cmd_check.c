/* gapline check: a claim against the evidence of a report. */
#include "analyse/analyse.h"
#include "cmd/claim.h"
#include "cmd/cmd.h"
#include "cmd/page.h"
#include "cmd/result.h"
#include "say/say.h"

#include <string.h>

struct check {
	struct arena arena;
	struct names names;
	struct result result;
	struct buf claim;
	struct page_evidence evidence;
};

static int make_result(struct check *c, const char *path, const struct claim_checked *found, struct err *err)
{
	struct json *json = result_begin(&c->result, "check");
	result_text(&c->result, "file", path);
	json_text(json, "answer", claim_answer_name(found->answer));
	for (uint32_t i = json_list(json, "points"); json_item(json, i, found->n); i++) {
		result_text(&c->result, "what", found->list[i].what);
		json_text(json, "answer", claim_answer_name(found->list[i].answer));
		result_text(&c->result, "text", say_fact(found->list[i].said, &c->names, &c->arena));
	}
	return result_write(&c->result, err);
}

static int bad_claim(const char *path, const struct err *cause, struct err *err)
{
	return CMD_ERROR(CMD_BAD_PROFILE, err, "%s: %s%s", path, cause->text,
	                 strchr(cause->text, ';') ? "" : "; docs/reference/claims.md lists what can be claimed");
}

static int check(struct check *c, const char *claim_path, const char *path, struct err *err)
{
	static const int status_of[] = {
		[CLAIM_HOLDS] = CMD_DONE, [CLAIM_OPEN] = CMD_INCONCLUSIVE, [CLAIM_FAILS] = CMD_GATE_NOT_MET};
	const struct json_value *claim;
	struct gates_asked gates;
	struct claim_checked found;
	struct err cause;
	BUF_LOCAL(text);
	if (file_add(&c->claim, claim_path, CLAIM_MOST, err) < 0)
		return CMD_BAD_PROFILE;
	if (claim_read(c->claim.data, c->claim.n, &c->arena, &claim, &gates, &cause) < 0)
		return bad_claim(claim_path, &cause, err);
	if (page_evidence_trust(path, &c->names, &c->arena, &c->evidence, err) < 0)
		return CMD_BAD_PROFILE;
	c->evidence.tables.options.gates = gates;
	const struct analysis analysis = analyse_tables(&c->evidence.tables, &c->names, &c->arena);
	if (claim_check(claim, &analysis, c->evidence.maker.checksum, &c->names, &c->arena, &found, &cause) < 0)
		return bad_claim(claim_path, &cause, err);
	if (make_result(c, claim_path, &found, err) < 0)
		return CMD_WRONG_USAGE;
	for (uint32_t i = 0; i < found.n; i++)
		buf_format(&text, "%s\n", cmd_harmless(&c->arena, say_fact(found.list[i].said, &c->names, &c->arena)));
	const struct fact *said =
		FACT_NEW(&c->arena, claim_checked, FACT_NO_SIDE, .answer = claim_answer_name(found.answer));
	buf_format(&text, "%s\n", say_fact(said, &c->names, &c->arena));
	int status = result_print(&c->result, &text);
	return status ? status : status_of[found.answer];
}

int cmd_check(int argc, char **argv)
{
	struct check c = {0};
	struct opt options[] = {result_option(&c.result)};
	const struct opt_usage usage = cmd_describe("check", options, sizeof options / sizeof *options);
	struct opt_list operands = {0};
	struct err err = {0};
	int status = cmd_options(&usage, argc, argv, &c.arena, &operands);
	if (status < 0 && operands.n != 2) {
		err_set(&err, "a claim and a report are wanted, and %zu files are given", operands.n);
		status = cmd_misuse(&usage, &err);
	} else if (status < 0) {
		names_init(&c.names, &c.arena);
		if (result_prepare(&c.result, NULL, &err) || result_spares(&c.result, operands.item[0], &err) ||
		    result_spares(&c.result, operands.item[1], &err))
			status = CMD_WRONG_USAGE;
		else
			status = check(&c, operands.item[0], operands.item[1], &err);
		if (err.text[0])
			cmd_fail(status, &err);
	}
	buf_release(&c.claim);
	page_evidence_release(&c.evidence);
	result_release(&c.result);
	arena_release(&c.arena);
	return status;
}
