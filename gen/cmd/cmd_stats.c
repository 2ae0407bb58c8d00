/* gapline stats: the tables of `nsys stats` and `nsys analyze`, with the options of those commands. */
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/inputs.h"
#include "cmd/progress.h"
#include "cmd/result.h"
#include "stats/stats.h"

#include <string.h>

enum format { CSV, TABLE, COLUMN, JSON, N_FORMATS };

struct stats {
	struct opt_list reports, rules; /* as written: "a,b:base" */
	const char *prefix;             /* NULL: standard output */
	int format;
	bool quiet, safe;
	int ignored; /* value of options that mean nothing here */
	struct arena arena;
	struct names names;
	struct inputs inputs;
	struct stats_request *requests;
	struct sheet *sheets;
	size_t n;
	struct buf *bytes; /* of one output, or of one for each sheet */
	size_t n_outputs;
	struct result result;
};

static const char *const formats[] = {"csv", "table", "column", "json", NULL};
static const char *const booleans[] = {"true", "false", NULL};
/* What `nsys stats` prints when no report is named, as far as gapline has it. */
static const char default_reports[] =
	"nvtx_sum,osrt_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum";

/* "a,b:base" -> two requests. */
static int add_requests(struct stats *s, const char *list, struct err *err)
{
	for (const char *at = list;;) {
		size_t n = strcspn(at, ",");
		const char *text = arena_copy(&s->arena, at, n);
		s->requests = arena_grow(&s->arena, s->requests, s->n, s->n + 1, sizeof *s->requests);
		if (stats_request_parse(text, &s->arena, &s->requests[s->n], err) != 0)
			return -1;
		s->n++;
		if (!at[n])
			return 0;
		at += n + 1;
	}
}

static int parse_requests(struct stats *s, struct err *err)
{
	const struct opt_list *lists[] = {&s->reports, &s->rules};
	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			if (add_requests(s, lists[l]->item[i], err) != 0)
				return -1;
	return s->n ? 0 : add_requests(s, default_reports, err);
}

/* Where the files of `--output .` go: beside the profile, without its ending. */
static const char *stem_of(const char *path, struct arena *arena)
{
	static const char *const endings[] = {".gz", ".zst", ".sqlite", ".nsys-rep", ".qdrep", ".db", ".json"};
	char *stem = arena_copy(arena, path, strlen(path));
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(stem), m = strlen(endings[i]);
		if (n > m && stem[n - m - 1] != '/' && strcmp(stem + n - m, endings[i]) == 0)
			stem[n - m] = 0;
	}
	return stem;
}

static bool goes_to_files(const struct stats *s)
{
	return s->prefix && strcmp(s->prefix, "-") != 0;
}

static int prepare_outputs(struct stats *s, struct err *err)
{
	static const char *const endings[N_FORMATS] = {"csv", "txt", "txt", "json"};
	bool files = goes_to_files(s);
	const struct input *input = &s->inputs.item[0];
	const char *stem = files && strcmp(s->prefix, ".") == 0 ? stem_of(input->path, &s->arena) : s->prefix;
	bool only_result = !files && s->result.path && !strcmp(s->result.path, "-"); /* in the tables' place */
	size_t n = files ? s->n : only_result ? 0 : 1;
	s->bytes = ARENA_NEW(&s->arena, n, struct buf);
	for (size_t i = 0; i < n; i++) {
		const char *path =
			files ? arena_format(&s->arena, "%s_%s.%s", stem, s->requests[i].name, endings[s->format])
			      : "-";
		s->n_outputs++;
		if (result_add(&s->result, path, err) ||
		    inputs_spared(&s->inputs, &s->result.out[i], 1, "the profile", err))
			return -1;
		for (size_t j = 0; j < i; j++)
			if (output_same(&s->result.out[j], &s->result.out[i]))
				return err_set(err, "two tables would go to %s", path);
	}
	if (result_prepare(&s->result, NULL, err))
		return -1;
	return inputs_spared(&s->inputs, s->result.out, s->result.n_out, "the profile", err);
}

/* Appends tables to `out`; between those on standard output stands an empty line. */
static int render(const struct stats *s, const struct sheet *sheets, size_t n, struct buf *out, struct err *err)
{
	if (s->format == JSON)
		return sheet_json(sheets, n, out, err);
	for (size_t i = 0; i < n; i++) {
		buf_text(out, i ? "\n" : "");
		if (s->format == CSV)
			sheet_csv(&sheets[i], s->safe, out);
		else
			sheet_aligned(&sheets[i], out);
	}
	return 0;
}

/* What the reader of a table has to know, on standard error. */
static void print_notes(const struct stats *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sheet *sheet = &s->sheets[i];
		if (sheet->n_rows == 0)
			fprintf(stderr, "gapline: %s: the profile holds nothing for this table\n", sheet->name);
		if (sheet->note)
			fprintf(stderr, "gapline: %s: %s\n", sheet->name, sheet->note);
	}
}

static int make_sheets(struct stats *s, struct progress *progress, struct err *err)
{
	names_init(&s->names, &s->arena);
	struct read_wish wish = {.without_gpu = true, .meter = progress_meter(progress)};
	stats_wish(s->requests, s->n, &wish);
	if (inputs_read(&s->inputs, 1, &wish, &s->names, &s->arena, err) != 0)
		return -1;
	progress_say(progress, "making tables");
	s->sheets = ARENA_NEW(&s->arena, s->n, struct sheet);
	for (size_t i = 0; i < s->n; i++)
		stats_make(s->inputs.item[0].trace, &s->requests[i], &s->arena, &s->sheets[i]);
	return 0;
}

static void make_result(struct stats *s)
{
	if (!s->result.path) /* tables may be long */
		return;
	struct json *json = result_begin(&s->result, "stats");
	result_text(&s->result, "profile", s->inputs.item[0].path);
	for (size_t i = json_list(json, "tables"); json_item(json, i, s->n); i++) {
		const struct sheet *sheet = &s->sheets[i];
		json_text(json, "name", sheet->name);
		json_text(json, "title", sheet->title);
		json_text(json, "note", sheet->note);
		sheet_rows(sheet, "rows", json);
	}
}

static int make_tables(struct stats *s)
{
	struct err err;
	struct progress progress;
	bool files = goes_to_files(s);
	if (prepare_outputs(s, &err) != 0)
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (inputs_begin(&s->inputs, 1, s->quiet, &progress, &s->arena, &err))
		return cmd_fail(CMD_BAD_PROFILE, &err);
	int rc = make_sheets(s, &progress, &err);
	progress_end(&progress);
	if (rc != 0)
		return cmd_fail(CMD_BAD_PROFILE, &err);
	for (size_t i = 0; i < s->n_outputs; i++) {
		if (render(s, &s->sheets[i], files ? 1 : s->n, &s->bytes[i], &err) != 0)
			return cmd_fail(CMD_WRONG_USAGE, &err);
		s->result.out[i].bytes = s->bytes[i].data;
		s->result.out[i].n = s->bytes[i].n;
	}
	make_result(s);
	if (result_write(&s->result, &err))
		return cmd_fail(CMD_WRONG_USAGE, &err);
	if (!s->quiet) {
		print_notes(s);
		cmd_say_written(s->result.out, s->result.n_out);
	}
	return CMD_DONE;
}

static int find_profile(struct stats *s, const struct opt_list *operands)
{
	struct err err;
	int status = inputs_find_one(&s->inputs, operands, &s->arena, &err);
	return status ? cmd_fail(status, &err) : make_tables(s);
}

int cmd_stats(int argc, char **argv)
{
	struct stats s = {.format = N_FORMATS};
	struct opt options[] = {
		{OPT_LIST, 'r', "report", "NAME[,NAME]", .list = &s.reports},
		{OPT_LIST, 0, "rule", "NAME[,NAME]", .list = &s.rules},
		{OPT_CHOICE, 'f', "format", "FORMAT", .choice = &s.format, .choices = formats},
		{OPT_OUTPUT, 'o', "output", "PREFIX", .text = &s.prefix},
		{OPT_FLAG, 0, "csv-safe", NULL, .flag = &s.safe},
		result_option(&s.result),
		{OPT_FLAG, 'q', "quiet", NULL, .flag = &s.quiet},
		{OPT_CHOICE, 0, "force-export", "BOOL", .choice = &s.ignored, .choices = booleans},
		{OPT_CHOICE, 0, "force-overwrite", "BOOL", .choice = &s.ignored, .choices = booleans},
	};
	const struct opt_usage usage = cmd_describe("stats", options, sizeof options / sizeof *options);
	struct opt_list operands;
	struct err err;
	int status = cmd_options(&usage, argc, argv, &s.arena, &operands);
	if (status < 0) {
		if (s.format == N_FORMATS)
			s.format = goes_to_files(&s) ? CSV : TABLE;
		if (operands.n == 0)
			err_set(&err, "a profile is needed");
		else if (operands.n > 1)
			err_set(&err, "one profile is wanted, and %zu are given", operands.n);
		else if (s.safe && s.format != CSV)
			err_set(&err, "--csv-safe is for CSV: add --format csv");
		if (operands.n != 1 || (s.safe && s.format != CSV) || parse_requests(&s, &err) != 0)
			status = cmd_misuse(&usage, &err);
		else
			status = find_profile(&s, &operands);
	}
	for (size_t i = 0; i < s.n_outputs; i++)
		buf_release(&s.bytes[i]);
	result_release(&s.result);
	arena_release(&s.arena);
	return status;
}
