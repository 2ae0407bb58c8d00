/* gapline save: profiles -> a baseline under a name, for later reports. */
#include "cmd/cmd.h"
#include "cmd/result.h"
#include "cmd/saving.h"
#include "say/say.h"

#include <stdio.h>

struct save {
	const char *db;
	bool add, force, list, quiet;
	struct result result;
	struct saving saving;
};

/* In a list that is open. */
static void entry_result(struct save *s, const struct store_entry *e, size_t bytes)
{
	json_object(&s->result.json, NULL);
	result_text(&s->result, "name", e->name);
	json_integer(&s->result.json, "profiles", (int64_t)e->n);
	json_integer(&s->result.json, "bytes", (int64_t)bytes);
	result_text(&s->result, "machine", e->machine);
	json_end_object(&s->result.json);
}

static void begin_result(struct save *s)
{
	struct json *json = result_begin(&s->result, "save");
	result_text(&s->result, "db", s->db);
	json_array(json, "baselines");
}

static int list(struct save *s)
{
	ARENA_LOCAL(arena);
	struct err err;
	struct store store;
	struct store_entry *entry;
	size_t n;
	BUF_LOCAL(text);
	int status =
		store_open(&store, s->db, false, &err) || store_list(&store, STORE_BASELINE, &arena, &entry, &n, &err)
			? cmd_fail(CMD_BAD_PROFILE, &err)
			: CMD_DONE;
	begin_result(s);
	for (size_t i = 0; !status && i < n; i++) {
		size_t bytes = 0;
		for (size_t k = 0; k < entry[i].n; k++)
			bytes += entry[i].parts[k].n;
		buf_format(&text, "%s\n",
		           SAY(NULL, &arena, baseline_is, .name = entry[i].name, .profiles = (int64_t)entry[i].n,
		               .bytes = (int64_t)bytes, .machine = cmd_harmless(&arena, entry[i].machine)));
		entry_result(s, &entry[i], bytes);
	}
	json_end_array(&s->result.json);
	if (!status && result_write(&s->result, &err))
		status = cmd_fail(CMD_WRONG_USAGE, &err);
	if (!status)
		status = result_print(&s->result, &text);
	store_close(&store);
	return status;
}

static int save(struct save *s, const struct opt_list *operands)
{
	struct err err;
	struct saving *saving = &s->saving;
	const struct opt_list given = {operands->item + 1, operands->n - 1};
	saving->entry.kind = STORE_BASELINE;
	saving->entry.name = operands->item[0];
	enum store_rule rule = s->force ? STORE_REPLACE : s->add ? STORE_ADD : STORE_REFUSE;
	int status =
		saving_check(saving, s->db, rule, &err) ? CMD_WRONG_USAGE : saving_make(saving, &given, s->quiet, &err);
	if (status)
		return cmd_fail(status, &err);
	switch (saving_put(saving, s->db, rule, NULL, &err)) {
	case STORE_FAILED:
		return cmd_fail(CMD_WRONG_USAGE, &err);
	case STORE_EXISTS:
		saving_exists(saving, s->db, &err);
		return cmd_fail(CMD_WRONG_USAGE, &err);
	case STORE_SAVED:
		break;
	}
	begin_result(s);
	entry_result(s, &saving->entry, saving->bytes);
	json_end_array(&s->result.json);
	if (result_write(&s->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (!s->quiet)
		fprintf(cmd_output_taken(s->result.out, s->result.n_out) ? stderr : stdout, "@%s\n",
		        SAY(NULL, &saving->arena, baseline_is, .name = saving->entry.name,
		            .profiles = (int64_t)saving->entry.n, .bytes = (int64_t)saving->bytes,
		            .store = cmd_harmless(&saving->arena, s->db),
		            .machine = cmd_harmless(&saving->arena, saving->entry.machine)));
	return CMD_DONE;
}

static int check(const struct save *s, const struct opt_list *operands, struct err *err)
{
	if (s->list)
		return operands->n ? err_set(err, "--list takes neither a name nor profiles") : 0;
	if (s->add && s->force)
		return err_set(err, "--add and --force exclude each other");
	if (operands->n == 0)
		return err_set(err, "a name and profiles are needed");
	const char *name = operands->item[0];
	if (!store_name_ok(name))
		return err_set(err,
		               "'%s' cannot be a name: up to %d letters, digits and ._+-/, a letter or a digit first",
		               name, STORE_NAME_MAX);
	return operands->n == 1 ? err_set(err, "what should be saved as %s is missing: profiles", name) : 0;
}

int cmd_save(int argc, char **argv)
{
	struct save s = {.db = CMD_STORE};
	struct opt options[] = {
		{OPT_TEXT, 0, "db", "FILE", .text = &s.db},
		{OPT_FLAG, 0, "add", NULL, .flag = &s.add},
		{OPT_FLAG, 0, "force", NULL, .flag = &s.force},
		{OPT_FLAG, 0, "list", NULL, .flag = &s.list},
		result_option(&s.result),
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &s.quiet},
	};
	const struct opt_usage usage = cmd_describe("save", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &s.saving.arena, &operands);
	if (status < 0 && check(&s, &operands, &err))
		status = cmd_misuse(&usage, &err);
	else if (status < 0 && (result_prepare(&s.result, NULL, &err) || result_spares(&s.result, s.db, &err)))
		status = cmd_fail(CMD_WRONG_USAGE, &err);
	else if (status < 0)
		status = s.list ? list(&s) : save(&s, &operands);
	result_release(&s.result);
	saving_release(&s.saving);
	return status;
}
