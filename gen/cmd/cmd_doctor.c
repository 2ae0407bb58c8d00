/* gapline doctor: what this machine can capture, and what is missing. */
#include "capture/doctor.h"
#include "cmd/cmd.h"

#include <string.h>
#include <unistd.h>

enum { COLUMNS = 100, INDENT = 18 };

static const char *const arguments[] = {"[OPTIONS]", NULL};
static const char *const examples[] = {
	"gapline doctor",
	"docker run --rm --gpus all gapline doctor",
	NULL,
};
static const char *const statuses[] = {
	"0  a profile can be captured here",
	"2  wrong usage",
	"3  no profile can be captured here",
	NULL,
};
static const char about[] =
	"Looks at everything that capturing a profile needs: the container, the driver, GPUs, CUPTI, gapline's own "
	"libraries, nsys, permissions. Each line says ok, or what is missing and what to do. Reports are made "
	"anywhere, "
	"also without a GPU. The last line is the command to try next.";

/* Words from column INDENT on, wrapped. */
static void put_text(struct buf *out, const char *text)
{
	size_t column = INDENT;
	while (*text) {
		size_t n = strcspn(text, " ");
		if (column > INDENT && column + 1 + n > COLUMNS) {
			buf_format(out, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			buf_add(out, " ", 1);
			column++;
		}
		buf_add(out, text, n);
		column += n;
		text += n + (text[n] == ' ');
	}
	buf_add(out, "\n", 1);
}

static void put_line(struct buf *out, const struct doctor_line *line, bool colour, struct arena *arena)
{
	static const char *const word[] = {[DOCTOR_OK] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_FIX] = "fix"};
	static const char *const ink[] = {
		[DOCTOR_OK] = "\033[32m", [DOCTOR_NOTE] = "\033[33m", [DOCTOR_FIX] = "\033[1;31m"};
	buf_format(out, "%-11s %s%s%s%*s", line->what, colour ? ink[line->level] : "", word[line->level],
	           colour ? "\033[0m" : "", 6 - (int)strlen(word[line->level]), "");
	put_text(out, cmd_harmless(arena, line->text));
	if (*line->advice) {
		buf_format(out, "%*s", INDENT, "");
		put_text(out, cmd_harmless(arena, arena_format(arena, "to do: %s", line->advice)));
	}
}

static int doctor(int colour, struct arena *arena)
{
	static const struct doctor_places places = {NULL, NULL, NULL};
	struct doctor d;
	struct buf text = {0};
	doctor_examine(&places, arena, &d);
	for (size_t i = 0; i < d.n; i++)
		put_line(&text, &d.lines[i], cmd_use_colour(colour, STDOUT_FILENO), arena);
	if (d.can_cupti || d.can_nsys)
		buf_format(&text, "\nProfiles can be captured here, with the collector%s.\n",
		           d.can_cupti && d.can_nsys ? "s cupti and nsys"
		           : d.can_cupti             ? " cupti"
		                                     : " nsys");
	else
		buf_text(&text, "\nNo profile can be captured here.\n");
	const char *where = access(".", W_OK | X_OK) ? "/tmp/" : "";
	if (d.can_cupti || d.can_nsys)
		buf_format(&text, "Next: gapline run --baseline 'COMMAND' --fixed 'COMMAND' -o %sout\n", where);
	else
		buf_format(&text, "Next: gapline demo%s\n", *where ? " -o /tmp/gapline-demo.html" : "");
	int status = cmd_print(text.data, text.n);
	buf_release(&text);
	return status ? status : d.can_cupti || d.can_nsys ? CMD_DONE : CMD_BAD_PROFILE;
}

int cmd_doctor(int argc, char **argv)
{
	int colour = COLOUR_AUTO;
	struct arena arena = {0};
	struct opt options[] = {
		{OPT_CHOICE, 0, "color", "WHEN", "auto, always or never; auto is colour on a terminal without NO_COLOR",
	         .choice = &colour, .choices = cmd_colours},
	};
	const struct opt_usage usage = {"gapline doctor", arguments, about, options, sizeof options / sizeof *options,
	                                examples,         statuses};
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &arena, &operands);
	if (status < 0 && operands.n) {
		err_set(&err, "no argument is needed, and '%s' is given", operands.item[0]);
		status = cmd_misuse(&usage, &err);
	} else if (status < 0) {
		status = doctor(colour, &arena);
	}
	arena_release(&arena);
	return status;
}
