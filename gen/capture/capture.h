/* One run of a program: starts it under a collector, waits, and puts the finished profile in place. */
#ifndef GAPLINE_CAPTURE_CAPTURE_H
#define GAPLINE_CAPTURE_CAPTURE_H

#include "capture/collector.h"

struct capture_request {
	const struct collector *collector;
	const struct capture_options *options;
	const char *const *command;        /* ends with NULL */
	const struct stopwatch_plan *plan; /* of a timed run: no profile is written; NULL: record */
	const char *file;    /* the profile, or beside what a timed run may put its files; with %q{…}, %p, %h, %%
	                        (capture/command.h) */
	bool replace;        /* an existing file; else it is an error */
	int output;          /* descriptor for the program's output; −1: ours */
	bool interactive;    /* standard input and the terminal are the program's; else it reads nothing */
	bool keep_failed;    /* write the profile of a program that failed, or was interrupted, too */
	const char *version; /* of gapline */
	void (*tick)(void *context, int64_t elapsed_ns); /* called some times a second while it runs; may be NULL */
	void *context;
};

struct capture_result {
	const char *file;  /* the profile as it was named; NULL: there is none */
	bool started;      /* the program ran, as far as is known */
	bool status_known; /* then `status` is waitpid's of the program itself */
	int status;
	bool failed;                   /* it ended with an exit status or by a signal, and nobody had asked it to */
	int interrupted;               /* the signal by which gapline was told to end; 0: none */
	bool cut_short;                /* gapline ended it: the duration was over */
	bool unwritable;               /* there is no profile because it, or what it is made of, could not be written */
	bool left_over;                /* it left processes behind, which were ended */
	const char *complete;          /* "yes", or why the profile is not whole, as a sentence */
	int64_t elapsed_ns;            /* from its start to its end */
	int64_t start_utc_ns;          /* when it started: CLOCK_REALTIME */
	struct stopwatch_result timed; /* of a timed run that did not fail */
	const char **messages;         /* for people, one sentence each */
	size_t n_messages;
};

/* Whether there is such a program. -1 with `err`: not found, or not executable. */
int capture_find_program(const char *const *command, struct arena *arena, struct err *err);

/* 0: the profile is written, or the time is taken. -1 with `err`: it is not; `result` says how far it came. Nothing
 * half-written stays. Needs proc_catch_signals. */
int capture_one(const struct capture_request *request, struct arena *arena, struct capture_result *result,
                struct err *err);

#endif
