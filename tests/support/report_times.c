/* Makes the report of a pair again and again in one process: the same bytes each time, no more memory and no more open
 * files at the end than after some.
 *
 *	report_times BASELINE FIXED TIMES */
#include "analyse/analyse.h"
#include "read/read.h"
#include "render/render.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMS = 6, SETTLED = 20 }; /* reports until allocators and libraries have what they keep */

static long resident_pages(void)
{
	long all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		exit(2);
	fclose(file);
	return resident;
}

static int open_files(void)
{
	int n = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n;
}

static void render(const struct analysis *a, struct buf out[FORMS])
{
	struct err err = {0};
	const struct markdown_wish wish = {0};
	if (render_html(a, &out[0], &err) || render_json(a, &out[1], &err) || render_svg(a, &out[2], &err) ||
	    render_markdown(a, &wish, &out[3], &err) || render_junit(a, &out[4], &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	render_verdict(a, &(struct look){true, LOOK_MOST}, &out[5]);
}

static void report(char *const paths[2], struct buf out[FORMS])
{
	struct arena arena = {0};
	struct names names;
	struct trace trace[2];
	struct analysis analysis;
	struct err err = {0};
	struct analyse_run run[2];
	const struct analyse_options options = {.warmup = -1, .gates.max_regression = -1};
	names_init(&names, &arena);
	for (int s = 0; s < 2; s++) {
		if (read_profile(paths[s], &names, &arena, &trace[s], &err)) {
			fprintf(stderr, "%s\n", err.text);
			exit(2);
		}
		run[s] = (struct analyse_run){&trace[s], paths[s]};
	}
	if (analyse_pair(&run[0], 1, &run[1], 1, &options, &names, &arena, &analysis, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	render(&analysis, out);
	arena_release(&arena);
}

int main(int argc, char **argv)
{
	struct buf first[FORMS] = {{0}}, out[FORMS] = {{0}};
	long times = argc == 4 ? atol(argv[3]) : 0, settled = 0;
	int files = 0;
	for (long i = 0; i < times; i++) {
		struct buf *to = i ? out : first;
		report(argv + 1, to);
		for (int f = 0; f < FORMS; f++)
			if (i && (out[f].n != first[f].n || memcmp(out[f].data, first[f].data, out[f].n) != 0)) {
				fprintf(stderr, "report %ld: form %d is another one\n", i, f);
				return 1;
			} else {
				buf_release(&out[f]);
			}
		if (i == SETTLED) {
			settled = resident_pages();
			files = open_files();
		}
	}
	long page = sysconf(_SC_PAGESIZE), more = (resident_pages() - settled) * page / 1024;
	int left = open_files() - files;
	printf("%ld reports, %zu bytes each, %ld kB more than after %d, %d more files open\n", times,
	       first[0].n + first[1].n, more, SETTLED, left);
	for (int f = 0; f < FORMS; f++)
		buf_release(&first[f]);
	return times <= SETTLED || left || more > 1024;
}
