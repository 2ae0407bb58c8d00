/* What gapline and the libraries that it loads into programs for a timed run (gen/inject/stopwatch.c, launches.c)
 * agree on: names in the environment, and a page of memory for each process that makes steps, kept as a file PID-N.page
 * in a folder.
 *
 * The page is mapped, so what it says survives the process, however that ends: nothing has to be written at an end that
 * may never come. Times are CLOCK_MONOTONIC in ns, which all processes of a machine share. */
#ifndef GAPLINE_CAPTURE_STOPWATCH_PAGE_H
#define GAPLINE_CAPTURE_STOPWATCH_PAGE_H

#include <stdint.h>

#define STOPWATCH_ENV_FOLDER "GAPLINE_STOPWATCH"        /* where pages go; without it the library does nothing */
#define STOPWATCH_ENV_STEP "GAPLINE_STOPWATCH_STEP"     /* the step range's normalised name: '#' stands for a number */
#define STOPWATCH_ENV_DOMAIN "GAPLINE_STOPWATCH_DOMAIN" /* the name of its NVTX domain; "": the default domain */
#define STOPWATCH_ENV_FIRST                                                                                            \
	"GAPLINE_STOPWATCH_FIRST" /* at the end of which such range, or launch, of a process, from 1, the … */
#define STOPWATCH_ENV_LAST "GAPLINE_STOPWATCH_LAST" /* … first and the last instant is taken */
#define STOPWATCH_ENV_LIMIT_MS                                                                                         \
	"GAPLINE_STOPWATCH_LIMIT_MS" /* how long a wait for the devices may take; absent: 10000 */

#define STOPWATCH_MAGIC "GLWATCH" /* with its NUL: the first eight bytes */
#define STOPWATCH_ENDING ".page"
enum { STOPWATCH_VERSION = 1, STOPWATCH_LIMIT_MS = 10000 };

enum stopwatch_problem {
	STOPWATCH_FINE,
	STOPWATCH_NO_DRIVER,  /* no CUDA driver is loaded, or it lacks a function that is needed */
	STOPWATCH_NO_CONTEXT, /* no device is in use in the process */
	STOPWATCH_TIME_LIMIT, /* the devices did not become idle in time */
	STOPWATCH_REFUSED,    /* the driver returned `code` (CUresult) */
	STOPWATCH_NO_THREAD,  /* the thread that waits could not be started: `code` is errno */
	STOPWATCH_NO_CUPTI    /* launches cannot be counted: there is no CUPTI that fits, or it returned `code` */
};

struct stopwatch_page {
	char magic[8];
	uint32_t version;
	uint32_t pid;             /* as the process sees itself */
	_Atomic uint64_t ended;   /* step ranges of this process that have ended, or launches */
	_Atomic int64_t asked[2]; /* when the waits for the devices began; 0: not yet */
	_Atomic int64_t idle[2];  /* the two instants, at which all work submitted before was done; 0: not (yet) */
	uint32_t contexts[2];     /* CUDA contexts that were waited for */
	_Atomic uint32_t problem; /* enum stopwatch_problem, the first */
	_Atomic int32_t code;
};

_Static_assert(sizeof(struct stopwatch_page) == 72, "the file format");

#endif
