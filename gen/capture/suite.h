/* The runs of both sides: which comes next, and what a folder holds of them. The state lies in the folder's run.json,
 * written anew after every run, so that an interrupted suite can go on. It holds no environment and no host.
 *
 *	{ "schema": "gapline-run/1", "gapline": "0.1.0",
 *	  "collector": { "name": "nsys", "version": "2025.3.2" },
 *	  "options": "--trace cuda,nvtx …", "repeat": 3, "unprofiled": 3,
 *	  "commands": { "baseline": [words], "fixed": [words] },
 *	  "steps": true | false | null,           null: not known yet
 *	  "runs": [ { "side": "baseline", "run": 1, "unprofiled": false, "discarded": false,
 *	              "profile": "baseline-1.sqlite", "log": null,
 *	              "seconds": 12.3, "exit_status": 0, "complete": "yes" }, … ] }      in the order in which they ran
 *
 * An unprofiled run (struct capture_options) belongs to the recorded one of its side and number: what it tells is added
 * to that profile. */
#ifndef GAPLINE_CAPTURE_SUITE_H
#define GAPLINE_CAPTURE_SUITE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum suite_side { SUITE_BASELINE, SUITE_FIXED };
extern const char *const suite_side_names[2];

/* What is known of the programs' steps: without any, a run counts as a whole, and the first of each side, which finds
 * cold caches and clocks, is discarded. */
enum suite_steps { SUITE_STEPS_UNKNOWN, SUITE_STEPS, SUITE_NO_STEPS };

struct suite_run {
	enum suite_side side;
	int number;          /* from 1; 0: the discarded one */
	bool unprofiled;     /* `profile` is that of the recorded run */
	const char *profile; /* names of files in the folder */
	const char *log;     /* NULL: the program's output was passed through */
	double seconds;
	int exit_status;      /* 128 + the signal that ended it */
	const char *complete; /* "yes", or why the profile is not whole */
};

struct suite {
	const char *folder;
	const char *const *commands[2]; /* by side; end with NULL */
	const char *version, *collector, *collector_version;
	const char *options; /* of the capture, as text: what has to be the same in all runs */
	int repeat;
	int unprofiled; /* runs of each side, at most `repeat`; only programs with steps are run so */
	enum suite_steps steps;
	struct suite_run *runs; /* finished */
	size_t n_runs;
	struct arena *arena;
};

/* The run that comes next, with side, number and names filled; false: all are done. Pairs alternate in their order
 * (A B, B A, A B, …), so that a drift of the machine hits both sides alike; a pair of unprofiled runs follows the
 * recorded one of the same number, and has the other order. */
bool suite_next(const struct suite *suite, bool logged, struct suite_run *next);

/* Runs in all, as far as is known, and how many of them are finished. */
size_t suite_total(const struct suite *suite);
size_t suite_done(const struct suite *suite);

void suite_add(struct suite *suite, const struct suite_run *run);

/* Whether the first run of each side is there, so that steps can be told. */
bool suite_has_pair(const struct suite *suite);

/* Settles that there are no steps: the first run of each side becomes its discarded one, its files are renamed. -1 with
 * `err`. */
int suite_discard_first(struct suite *suite, struct err *err);

/* Writes run.json, whole or not at all. -1 with `err`. */
int suite_write(const struct suite *suite, struct err *err);

/* Reads the run.json of suite->folder into a suite; runs whose profile is gone are left out. 1: read; 0: there is none;
 * -1 with `err`: it is not ours, or damaged. */
int suite_read(struct suite *suite, struct err *err);

/* Whether runs of both can stand side by side: same commands, collector and options. -1 with `err`: what differs. */
int suite_same(const struct suite *was, const struct suite *now, struct err *err);

/* What a folder that a suite is to be written into holds. */
struct suite_folder {
	bool exists, has_run;
	size_t n_others;   /* files that no suite wrote */
	const char *other; /* one of them */
};
int suite_look(const char *folder, struct suite_folder *found, struct arena *arena, struct err *err);

/* Makes the folder, or removes what an older suite wrote into it. -1 with `err`. */
int suite_clear(const char *folder, struct err *err);

#endif
