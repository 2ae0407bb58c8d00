/* What of an nsys export, or of our own profile, may be shared: the tables and columns by name. Whatever is not named
 * here, a table of a later nsys among it, is left out. */
#ifndef GAPLINE_READ_SCRUB_LAYOUT_H
#define GAPLINE_READ_SCRUB_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

/* Which rows of a table are kept. */
enum scrub_rows {
	SCRUB_ALL,
	SCRUB_EVENTS,  /* all; and the processes and threads in it are those that the profile is about */
	SCRUB_HOLDERS, /* those of threads with events; with stacks, the threads that those waited for keep their names
	                */
	SCRUB_PROCESSES,   /* those of processes with events, by globalPid */
	SCRUB_THREADS,     /* those of threads with events, by globalTid */
	SCRUB_OPTIONS,     /* those whose name is harmless and whose value is no free text */
	SCRUB_DIAGNOSTICS, /* warnings and errors */
	SCRUB_SAMPLES,     /* samples of the GPU's counters, among events of other sources */
	SCRUB_LOOKS,       /* samples of threads: those of threads with events, on request */
	SCRUB_STACKS,      /* those of samples that are kept */
	SCRUB_CHAINS,      /* of calls: all, on request */
	SCRUB_STRINGS      /* StringIds: those that a kept row refers to; the last table */
};

struct scrub_table {
	const char *name;
	enum scrub_rows rows;
	/* Names of columns, separated by spaces. A sign before a name says what it holds: nothing, a whole number;
	 * '%' a number of either kind; '@' an id of StringIds, '&' one whose text is a path of which the last part is
	 * kept; '$' a text in which paths, hosts and users are masked;
	 * '!' a path of which the last part is kept; '#' a UUID, which another one replaces; '+' a text of digits and
	 * marks, as in a time or a place on a bus; '{' a JSON object, of which the GPU's counters are kept; '='
	 * what NCCL says of a call: numbers of a communicator, bytes and ranks. */
	const char *columns;
};

extern const struct scrub_table SCRUB_TABLES[];
extern const size_t SCRUB_N_TABLES;

/* Whether an option of an export or a capture is one that tells nothing about people, by its name. */
bool scrub_option_is_harmless(const char *name);

/* Whether a text is of letters, digits and the signs in `also`, and short. */
bool scrub_is_plain(const char *text, size_t n, const char *also);

#endif
