/* What `capture` and `run` share: the options of a capture, and its words on the terminal. */
#ifndef GAPLINE_CMD_CAPTURING_H
#define GAPLINE_CMD_CAPTURING_H

#include "capture/capture.h"
#include "cmd/cmd.h"

struct capturing {
	const char *trace;     /* --trace as given; NULL: the default */
	int graphs, collector; /* positions among the choices; `collector` is an enum collector_kind */
	int range, kill, annotate;
	double sample_ms;               /* 0: not given */
	struct capture_options options; /* filled by capturing_settle */
	struct collector chosen;        /* filled by capturing_choose */
	struct opt_list said;           /* messages that were printed */
};

void capturing_options(struct capturing *c, struct opt_rows *rows);

/* From what was parsed to `options`. -1 with `err`: wrong usage. */
int capturing_settle(struct capturing *c, struct err *err);

/* Chooses the collector for `n` commands and checks that it can do what is asked for. -1 with `err`. */
int capturing_choose(struct capturing *c, const char *const *const *commands, size_t n, struct arena *arena,
                     struct err *err);

/* "nsys 2025.3.2.474 (asked for)": the collector, for people. */
const char *capturing_collector_text(const struct capturing *c, struct arena *arena);

/* What a capture had to say, on stderr, each line begun with `what` ("gapline", "gapline: fixed 2"); what an earlier
 * one said already is not said again. */
void capturing_say_messages(struct capturing *c, const struct capture_result *result, const char *what,
                            struct arena *arena);

/* The options that all runs must share, as one types them. */
const char *capturing_text(const struct capturing *c, struct arena *arena);

/* "12.3 s", "4:05 min" */
const char *capturing_time_text(int64_t ns, struct arena *arena);

#endif
