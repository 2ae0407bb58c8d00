/* gapline verify: a report's page against the evidence that it carries. */
#include "cmd/cmd.h"
#include "cmd/page.h"
#include "cmd/result.h"
#include "say/say.h"

struct verify {
	struct arena arena;
	struct names names;
	struct result result;
	const char *maker; /* version of gapline */
};

static int make_result(struct verify *v, const char *path, const struct page_verified *found, struct err *err)
{
	struct json *json = result_begin(&v->result, "verify");
	result_text(&v->result, "file", path);
	json_bool(json, "agrees", found->n == 0);
	json_integer(json, "numbers", (int64_t)found->numbers);
	json_integer(json, "sections", found->sections);
	json_bool(json, "numbers_only", found->numbers_only);
	for (uint32_t i = json_list(json, "differences"); json_item(json, i, found->n); i++) {
		result_text(&v->result, "section", *found->list[i].section ? found->list[i].section : NULL);
		result_text(&v->result, "page", found->list[i].said);
		result_text(&v->result, "evidence", found->list[i].evidence);
	}
	return result_write(&v->result, err);
}

static const char *harmless(struct arena *arena, const char *text)
{
	return text ? cmd_harmless(arena, text) : NULL;
}

static void say(struct verify *v, const char *file, const struct page_verified *found, struct buf *text)
{
	struct arena *arena = &v->arena;
	const struct fact *said =
		found->n ? FACT_NEW(arena, page_disagrees, FACT_NO_SIDE, .file = file, .sections = found->sections)
			 : FACT_NEW(arena, page_agrees, FACT_NO_SIDE, .file = file, .numbers = (int64_t)found->numbers);
	buf_format(text, "%s\n", say_fact(said, &v->names, arena));
	for (uint32_t i = 0; i < found->n; i++) {
		const struct page_difference *d = &found->list[i];
		said = FACT_NEW(arena, page_difference, FACT_NO_SIDE, .section = *d->section ? d->section : NULL,
		                .page = harmless(arena, d->said), .evidence = harmless(arena, d->evidence));
		buf_format(text, "  %s\n", say_fact(said, &v->names, arena));
	}
	if (found->numbers_only)
		buf_format(text, "%s\n", SAY(&v->names, arena, page_numbers_only, .maker = v->maker));
	buf_format(text, "%s\n", say_fact(FACT_NEW(arena, page_scope, FACT_NO_SIDE), &v->names, arena));
}

static int verify(struct verify *v, const char *path)
{
	struct page_evidence evidence = {0};
	struct page_verified found;
	struct err err;
	BUF_LOCAL(text);
	int status = CMD_BAD_PROFILE;
	names_init(&v->names, &v->arena);
	if (result_prepare(&v->result, NULL, &err) || result_spares(&v->result, path, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (page_evidence_read(path, &v->names, &v->arena, &evidence, &err) < 0)
		goto out;
	status = CMD_WRONG_USAGE;
	if (page_verify(&evidence, &v->names, &v->arena, &found, &err) < 0 || make_result(v, path, &found, &err) < 0)
		goto out;
	status = found.n ? CMD_GATE_NOT_MET : CMD_DONE;
	v->maker = evidence.maker.version;
	say(v, names_file(&v->names, path), &found, &text);
	if (result_print(&v->result, &text))
		status = CMD_WRONG_USAGE;
out:
	if (status == CMD_BAD_PROFILE || (status == CMD_WRONG_USAGE && !text.n))
		cmd_fail(status, &err);
	page_evidence_release(&evidence);
	return status;
}

int cmd_verify(int argc, char **argv)
{
	struct verify v = {0};
	struct opt options[] = {result_option(&v.result)};
	const struct opt_usage usage = cmd_describe("verify", options, sizeof options / sizeof *options);
	struct opt_list operands = {0};
	struct err err;
	int status = cmd_options(&usage, argc, argv, &v.arena, &operands);
	if (status < 0 && operands.n == 1)
		status = verify(&v, operands.item[0]);
	else if (status < 0) {
		err_set(&err, "one report is wanted, and %zu are given", operands.n);
		status = cmd_misuse(&usage, &err);
	}
	result_release(&v.result);
	arena_release(&v.arena);
	return status;
}
