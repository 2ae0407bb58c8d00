/* print_fixture NAME FORMAT: a fabricated analysis as json, html, markdown, comment, junit, verdict or side on standard
 * output, for checks that are not written in C and for looking at a page while working on it. */
#include "fixture_analysis.h"
#include "render/render.h"

#include <stdio.h>
#include <string.h>

static int print(const struct analysis *a, const char *format, struct buf *out, struct err *err)
{
	if (strcmp(format, "json") == 0)
		return render_json(a, out, err);
	if (strcmp(format, "html") == 0)
		return render_html(a, out, err);
	const struct markdown_wish wish = {.svg_url = "https://example.org/gaps.svg?a=1&b=(2)",
	                                   .report_url = "https://example.org/report.html",
	                                   .brief = strcmp(format, "comment") == 0};
	if (wish.brief || strcmp(format, "markdown") == 0)
		return render_markdown(a, &wish, out, err);
	if (strcmp(format, "junit") == 0)
		return render_junit(a, out, err);
	if (strcmp(format, "side") == 0)
		render_side(a, NULL, out);
	else
		render_verdict(a, strcmp(format, "colour") == 0 ? &(struct look){true, LOOK_MOST} : NULL, out);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fputs("usage: print_fixture NAME json|html|markdown|comment|junit|verdict|colour|side\n", stderr);
		return 2;
	}
	for (int i = 0; i < FIXTURE_COUNT; i++) {
		if (strcmp(fixture_name((enum fixture)i), argv[1]) != 0)
			continue;
		struct arena arena = {0};
		struct analysis analysis;
		struct buf out = {0};
		struct err err = {0};
		fixture_analysis((enum fixture)i, &arena, &analysis);
		int failed = print(&analysis, argv[2], &out, &err);
		if (failed)
			fprintf(stderr, "%s\n", err.text);
		else
			fwrite(out.data, 1, out.n, stdout);
		buf_release(&out);
		arena_release(&arena);
		return failed ? 1 : 0;
	}
	fprintf(stderr, "print_fixture: no fixture is called %s\n", argv[1]);
	return 2;
}
