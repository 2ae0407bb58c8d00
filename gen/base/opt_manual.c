#include "base/opt_manual.h"

#include <ctype.h>
#include <string.h>

void opt_roff(const char *text, struct buf *out)
{
	if (*text == '.' || *text == '\'')
		buf_text(out, "\\&");
	for (; *text; text++)
		switch (*text) {
		case '\\':
			buf_text(out, "\\e");
			break;
		case '-':
			buf_text(out, "\\-");
			break;
		case '\n':
			buf_text(out, " ");
			break;
		default:
			buf_add(out, text, 1);
		}
}

static void line(struct buf *out, const char *request, const char *text)
{
	buf_text(out, request);
	opt_roff(text, out);
	buf_text(out, "\n");
}

/* "gapline report" is the page gapline-report. */
static void title(const struct opt_usage *usage, const char *version, struct buf *out)
{
	buf_text(out, ".TH ");
	for (const char *c = usage->name; *c; c++) {
		char letter = *c == ' ' ? '-' : (char)toupper((unsigned char)*c);
		buf_add(out, &letter, 1);
	}
	buf_format(out, " 1 \"\" \"gapline %s\" \"gapline\"\n", version);
}

static void option(const char *value, char letter, const char *name, const char *help, const char *const *choices,
                   struct buf *out)
{
	buf_text(out, ".TP\n");
	if (letter)
		buf_format(out, "\\fB\\-%c\\fR, ", letter);
	buf_text(out, "\\fB\\-\\-");
	opt_roff(name, out);
	buf_text(out, "\\fR");
	if (value)
		buf_format(out, " \\fI%s\\fR", value);
	buf_text(out, "\n");
	opt_roff(help, out);
	for (size_t i = 0; choices && choices[i]; i++) {
		buf_text(out, i ? ", " : " One of: ");
		opt_roff(choices[i], out);
	}
	buf_text(out, choices ? ".\n" : "\n");
}

/* Lines that stand as they are, one a line. */
static void verbatim(const char *const *lines, struct buf *out)
{
	buf_text(out, ".nf\n");
	for (size_t i = 0; lines[i]; i++)
		line(out, "", lines[i]);
	buf_text(out, ".fi\n");
}

void opt_manual(const struct opt_usage *usage, const char *summary, const char *version, struct buf *out)
{
	title(usage, version, out);
	buf_text(out, ".SH NAME\n");
	for (const char *c = usage->name; *c; c++)
		buf_text(out, *c == ' ' ? "\\-" : (char[]){*c, 0});
	line(out, " \\- ", summary);
	buf_text(out, ".SH SYNOPSIS\n");
	for (size_t i = 0; usage->arguments[i]; i++) {
		buf_format(out, "%s.B %s\n", i ? ".br\n" : "", usage->name);
		line(out, "", usage->arguments[i]);
	}
	buf_text(out, ".SH DESCRIPTION\n");
	line(out, "", usage->about);
	buf_text(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < usage->n_options; i++) {
		const struct opt *o = &usage->options[i];
		option(o->value, o->letter, o->name, o->help, o->kind == OPT_CHOICE ? o->choices : NULL, out);
	}
	option(NULL, 'h', "help", "show the help", NULL, out);
	buf_text(out, ".SH EXAMPLES\n");
	verbatim(usage->examples, out);
	buf_text(out, ".SH EXIT STATUS\n");
	verbatim(usage->statuses, out);
	buf_text(out, ".SH SEE ALSO\n.BR gapline (1)\n");
}
