/* Two sides -> report, JSON, verdict, exit status: what `report` does with profiles that are there, and `run` with
 * those that it has captured. */
#ifndef GAPLINE_CMD_COMPARE_H
#define GAPLINE_CMD_COMPARE_H

#include "analyse/analyse.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/inputs.h"
#include "cmd/page.h"
#include "render/assets.h"
#include "render/render.h"

enum {
	COMPARE_HTML,
	COMPARE_JSON,
	COMPARE_SVG,
	COMPARE_MARKDOWN,
	COMPARE_COMMENT, /* the short Markdown */
	COMPARE_JUNIT,
	COMPARE_PERFETTO,
	COMPARE_SUMMARY, /* the Markdown, behind what the file holds already */
	COMPARE_OUTPUTS
};

/* A side that is one of a report: "main.html:fixed". */
struct compare_report {
	const char *path;          /* NULL: it is none */
	int side;                  /* of the report */
	const struct input *saved; /* it is kept in a history; NULL: it is a file */
	struct page_evidence evidence;
};

struct compare {
	const char *paths[COMPARE_OUTPUTS]; /* NULL: not asked for */
	struct opt_list given[2];           /* profiles of the baseline and of the fixed side, as named by the user */
	struct analyse_options analysis;
	const struct asset
		*built_in[2]; /* digests of both sides, in the place of the files that are `given`; NULL: read those */
	const char *db;       /* where "@NAME" of a side is looked up; NULL: that is no name of a baseline */
	const char *ncu[2];   /* reports of Nsight Compute, by side; NULL: none */
	struct ncu_report ncu_report[2];
	const char *graph_nodes[2];    /* by side: a run whose graphs were recorded node by node; NULL: none */
	const char *requests;          /* --requests NAME; NULL: not asked for */
	int files_are;                 /* enum ranks_asked */
	const char *items;             /* as given: "4096 tokens" or "4096,8192 tokens" */
	struct opt_list expressions;   /* --gate */
	const char *pattern;           /* --compare-output; NULL: none */
	double tolerance;              /* below 0: the usual one */
	struct opt_list outputs_of[2]; /* by side, files with what its runs printed */
	struct printed printed;
	struct markdown_wish links;
	bool evidence; /* the JSON has it, too */
	bool github_summary;
	int colour;
	bool quiet, all_ranks;
	const char *note_as[2]; /* what notes call a side; NULL: baseline or fixed side; empty: they were told */
	struct arena arena;
	struct names names;
	struct inputs sides[2];
	struct compare_report report[2]; /* by side, where a report is given: compare_find_report */
	struct output outputs[COMPARE_OUTPUTS];
	size_t n_outputs;
	struct buf bytes[COMPARE_OUTPUTS];
};

extern const char *const compare_files_are[]; /* --files-are, in the order of enum ranks_asked */

void compare_init(struct compare *c);
void compare_release(struct compare *c);

/* The options of the comparison, which both commands have, in parts, so that each can put its own between them. */
void compare_step_options(struct compare *c, struct opt_rows *rows);   /* what a step is, gates */
void compare_output_options(struct compare *c, struct opt_rows *rows); /* what is written, but for the page */
void compare_print_options(struct compare *c, struct opt_rows *rows, bool *quiet); /* how it looks */
void compare_result_options(struct compare *c, struct opt_rows *rows);             /* what the programs printed */

/* --compare-output and --tolerance, once they are known: -1 with `err` where they cannot be meant. Then reads the files
 * with what the runs printed into c->analysis; -1 with `err`: one cannot be read. */
int compare_check_printed(const struct compare *c, struct err *err);
int compare_read_printed(struct compare *c, struct err *err);

/* What stands beside the profiles of sides, reports of Nsight Compute and runs with the nodes of graphs, into
 * c->analysis. -1 with `err`: one cannot be read. */
int compare_read_beside(struct compare *c, struct err *err);

/* After the options are known and before anything else: makes title and names harmless. -1 with `err` where
 * --items-per-step is not a number and a word, --gate no expression, or an address cannot stand in a link. */
int compare_begin(struct compare *c, struct err *err);

/* -1 with `err` where the options say twice what a step is. compare_begin asks it, too. */
int compare_check_steps(const struct analyse_options *asked, struct err *err);

/* Looks at the files to write, which can be done at any time before compare_sides and is done by it: what can be known
 * to fail without reading a profile. 0, or -1 with `err`. */
int compare_prepare(struct compare *c, struct err *err);

/* Whether none of them would replace what is read. 0, or -1 with `err`. */
int compare_spare_inputs(const struct compare *c, struct err *err);

/* Makes the bytes of the outputs, of two sides or of one: output_write(c->outputs, c->n_outputs, …) writes them. 0, or
 * -1 with `err`. */
int compare_render(struct compare *c, const struct analysis *analysis, struct err *err);

/* Where the command ends with `status` 2 or 3: JSON, Markdown and the JUnit file that were asked for say that there is
 * no result, and why, by what cmd_fail printed. `operands` are what else the command line names; an input is never
 * replaced. Before compare_release. */
void compare_write_error(struct compare *c, const struct opt_list *operands, int status);

/* Has that done also where memory runs out, which ends the process at once; until compare_write_error. */
void compare_watch_memory(struct compare *c, const struct opt_list *operands);

/* What the file of a GitHub step's summary holds already. 0, or -1 with `err` when there would be no room for more. */
int compare_add_to_summary(const char *path, struct buf *out, struct err *err);

/* Looks whether what is given for side `s` is a side of a report; a file of the whole name wins. CMD_DONE, or with
 * `err` CMD_WRONG_USAGE: it is a report without a side, one among several files, or beside options that shape a table.
 */
int compare_find_report(struct compare *c, int s, struct err *err);

/* The same for what a history keeps, once it is looked up. */
int compare_find_saved(struct compare *c, int s, struct err *err);

/* Verifies and reads the reports that were found, into the analysis's options. 0, or -1 with `err`. */
int compare_read_reports(struct compare *c, struct err *err);

/* Reads and compares what `given` names. An enum cmd_status, and `err`; `analysis` lies in the compare's arena. */
int compare_analyse(struct compare *c, struct analysis *analysis, struct err *err);

/* The same, and compare_render. */
int compare_make(struct compare *c, struct analysis *analysis, struct err *err);

/* Reads, compares, writes, prints. An enum cmd_status; what goes wrong is printed. */
int compare_sides(struct compare *c);

#endif
