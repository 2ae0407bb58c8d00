/* The profiles of a side, as the command line names them: files, folders, patterns. */
#ifndef GAPLINE_CMD_INPUTS_H
#define GAPLINE_CMD_INPUTS_H

#include "analyse/analysis.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/keymap.h"
#include "cmd/cmd.h"
#include "read/read.h"
#include "trace/files.h"
#include "trace/ncu.h"

#include <sys/stat.h>

struct input {
	const char *path;
	struct stat file;
	const char *export; /* of an nsys report, made by inputs_export: what is read in its place; NULL: the file
	                       itself */
	const char *saved;  /* "@main": kept in a store, and no file; else NULL */
	const unsigned char *digest; /* … these bytes of it; arena */
	int64_t bytes;               /* of what is read */
	uint32_t folder;             /* number of the folder that it was found in, TRACE_NONE: named by itself */
	struct trace *trace;         /* filled by inputs_read; gone after inputs_group, which takes its rows */
	struct arena memory;         /* what it lives in until then, where there are several */
};

/* A run of a side: one file, or those of its ranks. */
struct input_run {
	struct trace trace;
	const char *path; /* of its file; of several: "FIRST and 3 more" */
};

struct inputs {
	const char *side; /* "baseline", for messages */
	struct input *item;
	size_t n;
	struct keymap numbers;       /* their files', st_ino */
	struct arena traces;         /* the inputs', until inputs_group: ten thousand have 15 MB of them */
	uint32_t n_folders, folder;  /* how many so far; the one that is being looked through, or TRACE_NONE */
	struct opt_list passed_over; /* what lies in a folder and does not look like a profile */
	struct opt_list outdated;    /* sentences on exports that are older than their report */

	struct opt_list copies; /* sentences on files that were left out as copies of others, filled by inputs_group */

	struct input_run *run; /* filled by inputs_group */
	size_t n_runs;
	struct ranks ranks;
	const char *why, *note;  /* what that says, in words: "" for one file; NULL: nothing */
	struct ranks_file *told; /* by file */
};

/* Finds the files that `given` stands for, in the order given; those of a folder or a pattern sorted by name:
 *  - a file (anything that can be opened and is no folder); for an nsys report the export that lies beside it, if that
 *    is not the older one;
 *  - a folder: all its files that look like a profile by their name (.sqlite, .sqlite.gz, .sqlite.zst, .db, or an nsys
 *    report without its export beside it) or by how they begin, without going deeper and without hidden files; of a
 *    report and exports beside it the younger one, as where a report is named;
 *  - else, where nothing has that name, a pattern of glob(3); of a report and its export that both match, the same.
 * CMD_DONE; CMD_BAD_PROFILE when something is missing or a folder or pattern holds nothing; CMD_WRONG_USAGE when a file
 * is named twice: the same run counted twice would pass for a repeat. `err` is filled then. */
int inputs_find(struct inputs *inputs, const char *side, const struct opt_list *given, struct arena *arena,
                struct err *err);

/* The same of a command that takes one profile: several are none. */
int inputs_find_one(struct inputs *inputs, const struct opt_list *given, struct arena *arena, struct err *err);

/* Whether one of `n` outputs would replace one of them: -1 with `err`, in which they are `what`. */
int inputs_spared(const struct inputs *inputs, const struct output *outputs, size_t n, const char *what,
                  struct err *err);

/* The side is one digest, `n` bytes that outlive it, and no file; `name` is what messages and the report call it. */
void inputs_add_bytes(struct inputs *inputs, const char *side, const char *name, const char *bytes, size_t n,
                      struct arena *arena);

/* The same, and "@NAME" stands for what is kept under this name in the store `db` (saving.h). */
int inputs_find_or_saved(struct inputs *inputs, const char *side, const struct opt_list *given, const char *db,
                         struct arena *arena, struct err *err);

/* A line on stderr that names what was passed over in the folders of `n` sides, if anything was, and one for each
 * export that is older than its report. */
void inputs_say_passed_over(const struct inputs *sides, size_t n, struct arena *arena);

/* Bytes of the files of `n` sides: what makes a progress bar full. */
int64_t inputs_bytes(const struct inputs *sides, size_t n);

/* Reads every profile of `n` sides, all of them side by side. 0, or -1 with `err`. */
int inputs_read(struct inputs *sides, size_t n, const struct read_wish *wish, struct names *names, struct arena *arena,
                struct err *err);

/* An export without a name (inputs_export), where an error is about it, is called by the report that it was made of. */
void inputs_name_report(const struct inputs *sides, size_t n, struct arena *arena, struct err *err);

/* What the profiles of `n` sides live in belongs to `arena` from now on: for an end between inputs_read and
 * inputs_group. */
void inputs_keep(struct inputs *sides, size_t n, struct arena *arena);

/* Whether an input of one side holds the same capture as one of the other, and which do: the first. Before
 * inputs_group. */
bool inputs_share_capture(const struct inputs *a, const struct inputs *b, size_t *of_a, size_t *of_b);

/* Leaves out files that hold the same capture as another, tells which files are ranks of one run and which are repeats,
 * and makes one trace of each run. */
void inputs_group(struct inputs *inputs, enum ranks_asked asked, struct names *names, struct arena *arena);

/* -1 with `err` when leaving out `warmup` steps (< 0: not asked for) would leave nothing of a run that has steps.
 * `side` is what the inputs were analysed to. */
int inputs_check_warmup(const struct inputs *inputs, const struct side *side, int warmup, struct err *err);

/* nsys reports among the inputs: an nsys that is found makes of each the export that can be read. */

/* Says unless `quiet` what was passed over, then exports every nsys report of `n` sides that inputs_find left (one with
 * a younger export beside it is none of them) with `nsys export`, and says so on stderr unless `quiet`: a line each,
 * and how far it is on a terminal. Exports go to $TMPDIR, else /var/tmp or /tmp, and have no name any more once they
 * are made, so that nothing is left however the command ends; a signal meanwhile ends nsys, removes what it wrote and
 * ends gapline. Reports are left as they are where no nsys is found, and so is a file that is only named like one (a
 * pointer of Git LFS, an empty file): reading it says what to do. CMD_DONE, or CMD_BAD_PROFILE with `err`: it cannot be
 * exported; with nsys's words, and the command to try. */
int inputs_export(struct inputs *sides, size_t n, bool quiet, struct arena *arena, struct err *err);

/* The same before they are read: then `progress` has begun, for the caller to end. */
struct progress;
int inputs_begin(struct inputs *sides, size_t n, bool quiet, struct progress *progress, struct arena *arena,
                 struct err *err);

/* A report of Nsight Compute that the user named. */

/* Reads the CSV at `path`; one that only ncu can read (.ncu-rep) through an ncu on PATH. -1 with `err`, which says the
 * command to run where there is none. */
int ncu_input_read(const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
                   struct err *err);

#endif
