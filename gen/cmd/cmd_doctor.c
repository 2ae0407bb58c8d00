/* gapline doctor: what this machine can capture, and what is missing. */
#include "capture/doctor.h"
#include "cmd/cmd.h"
#include "cmd/result.h"
#include "say/say.h"

#include <string.h>
#include <unistd.h>

enum { INDENT = 18 };

static const char *const levels[] = {[DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_FIX] = "fix"};

static void put_line(struct buf *out, const struct doctor_line *line, const struct look *look, struct arena *arena)
{
	static const char *const ink[] = {
		[DOCTOR_OK] = "\033[32m", [DOCTOR_NOTE] = "\033[33m", [DOCTOR_FIX] = "\033[1;31m"};
	buf_format(out, "%-11s %s%s%s%*s", line->what, look->colour ? ink[line->level] : "", levels[line->level],
	           look->colour ? "\033[0m" : "", 6 - (int)strlen(levels[line->level]), "");
	opt_wrap(out, cmd_harmless(arena, line->text), INDENT, look->columns);
	if (*line->advice) {
		buf_format(out, "%*s", INDENT, "");
		opt_wrap(out, cmd_harmless(arena, SAY(NULL, arena, doctor_advice, .advice = line->advice)), INDENT,
		         look->columns);
	}
}

static int write_result(struct result *r, const struct doctor *d, const char *next, struct err *err)
{
	struct json *json = result_begin(r, "doctor");
	json_bool(json, "can_capture", d->can_cupti || d->can_nsys);
	json_array(json, "collectors");
	if (d->can_cupti)
		json_text(json, NULL, "cupti");
	if (d->can_nsys)
		json_text(json, NULL, "nsys");
	json_end_array(json);
	for (size_t i = json_list(json, "checks"); json_item(json, i, d->n); i++) {
		result_text(r, "what", d->lines[i].what);
		json_text(json, "level", levels[d->lines[i].level]);
		result_text(r, "text", d->lines[i].text);
		result_text(r, "advice", *d->lines[i].advice ? d->lines[i].advice : NULL);
	}
	json_text(json, "next", next);
	return result_write(r, err);
}

static int doctor(int colour, struct result *result, struct arena *arena)
{
	static const struct doctor_places places = {NULL, NULL, NULL};
	struct doctor d;
	BUF_LOCAL(text);
	struct err err;
	if (result_prepare(result, NULL, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	doctor_examine(&places, arena, &d);
	const struct look look = cmd_look(colour, STDOUT_FILENO);
	for (size_t i = 0; i < d.n; i++)
		put_line(&text, &d.lines[i], &look, arena);
	const char *where = access(".", W_OK | X_OK) ? "/tmp/" : "";
	const char *next =
		d.can_cupti || d.can_nsys
			? arena_format(arena, "gapline run --baseline 'COMMAND' --fixed 'COMMAND' -o %sout", where)
			: arena_format(arena, "gapline demo%s", *where ? " -o /tmp/gapline-demo.html" : "");
	const struct fact *found = FACT_NEW(arena, doctor_found, FACT_NO_SIDE,
	                                    .collectors = d.can_cupti && d.can_nsys ? "both"
	                                                  : d.can_cupti             ? "cupti"
	                                                  : d.can_nsys              ? "nsys"
	                                                                            : "none",
	                                    .next = next);
	buf_format(&text, "\n%s\n%s\n", say_fact(found, NULL, arena), say_form(found, SAY_SHORT, NULL, arena));
	int status = write_result(result, &d, next, &err) ? cmd_fail(CMD_WRONG_USAGE, &err) : CMD_DONE;
	if (!status)
		status = result_print(result, &text);
	return status ? status : d.can_cupti || d.can_nsys ? CMD_DONE : CMD_BAD_PROFILE;
}

int cmd_doctor(int argc, char **argv)
{
	int colour = COLOUR_AUTO;
	ARENA_LOCAL(arena);
	struct result result = {0};
	struct opt options[] = {
		result_option(&result),
		{OPT_CHOICE, 0, "color", "WHEN", .choice = &colour, .choices = cmd_colours},
	};
	const struct opt_usage usage = cmd_describe("doctor", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &arena, &operands);
	if (status < 0 && operands.n) {
		err_set(&err, "no argument is needed, and '%s' is given", operands.item[0]);
		status = cmd_misuse(&usage, &err);
	} else if (status < 0) {
		status = doctor(colour, &result, &arena);
	}
	result_release(&result);
	return status;
}
