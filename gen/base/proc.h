/* Child processes: a program with its arguments, never a shell. It runs in a process group of its own, so that it and
 * everything that it started can be signalled together. */
#ifndef GAPLINE_BASE_PROC_H
#define GAPLINE_BASE_PROC_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A status that waitpid never gives, and not that of a success: it has ended, and the system does not say how. */
enum { PROC_STATUS_UNKNOWN = -1 };

struct proc {
	pid_t pid;        /* also the process group; 0: none */
	int64_t start_ns; /* CLOCK_MONOTONIC */
	int64_t end_ns;   /* set when it has ended */
	int status;       /* of waitpid, once it has ended, or PROC_STATUS_UNKNOWN */
	bool ended;
	bool wants_terminal; /* started with `terminal` */
	bool owns_terminal;  /* the terminal was given to it and is taken back when it ends */
	bool had_terminal;   /* at its end */
};

struct proc_spawn {
	const char *const *argv;        /* ends with NULL; argv[0] is looked for on PATH */
	const char *const *environment; /* "NAME=value" to set on top of ours, or "NAME" to remove; ends with NULL;
	                                   NULL: nothing */
	int output;                     /* descriptor for its standard output and error; −1: ours */
	int input;                      /* descriptor for its standard input; −1: ours */
	bool terminal; /* it is used by a person: when standard input is our terminal, the terminal is handed to it, so
	                  that it can read, and gets Ctrl-C and Ctrl-Z itself; taken back when it ends. Else it has no
	                  terminal at all (setsid(2)): what asks for one fails, instead of being stopped for ever */
};

/* Starts it. -1 with `err` when it cannot be started: not found, not executable. */
int proc_start(struct proc *proc, const struct proc_spawn *spawn, struct err *err);

/* Waits for its end, at most `timeout_ms` (< 0: without limit). 1: ended; 0: the time is up, or a signal for us came
 * (proc_interrupted); every signal ends one wait, so that one can go on waiting for the end that it asked for. */
int proc_wait(struct proc *proc, int timeout_ms);

/* Signals its whole group; nothing when the group is gone. */
void proc_signal(const struct proc *proc, int signal);

/* Whether anything in its group still runs, be it the process itself or what it left behind. */
bool proc_has_group(const struct proc *proc);

/* Ends what is left of its group after a moment to leave by itself: SIGTERM, `grace_ms`, then SIGKILL. Returns whether
 * anything was left. */
bool proc_end_group(struct proc *proc, int grace_ms);

/* Asks its group to end and waits: `signal`, `grace_ms`, SIGTERM, `grace_ms`, SIGKILL. Another signal for us meanwhile
 * (a second Ctrl-C) skips the rest of the patience. The process has ended afterwards. */
void proc_stop(struct proc *proc, int signal, int grace_ms);

/* Makes orphans among our descendants our children (prctl(2), PR_SET_CHILD_SUBREAPER), so that they can be found. */
void proc_adopt(bool adopt);

/* Ends those of our children that run a program from below `folder`: they get `grace_ms` to leave by themselves, then
 * SIGTERM, then SIGKILL. */
void proc_end_adopted(const char *folder, int grace_ms);

/* Ctrl-C and a request to end (SIGINT, SIGTERM, SIGHUP) are noted from here on instead of ending gapline; those that
 * are ignored, as nohup does, stay so. */
void proc_catch_signals(void);
void proc_release_signals(void); /* back to what signals do by themselves */
int proc_interrupted(void);      /* the signal that came first, 0: none */
int proc_interrupts(void);       /* how many came */

/* The program died of SIGINT. When it had the terminal, that was Ctrl-C: passes it on to our own group, which the
 * terminal left out: to us, and to the script or make that started us. */
void proc_share_interrupt(const struct proc *proc);

/* Ends gapline by the signal that came, as if it had never been caught: whoever started it sees why. The first process
 * of a container, which signals cannot end, exits with 128 + the signal. Returns when none came. */
void proc_die_of_interrupt(void);

/* "exit status 3", "killed by SIGSEGV (signal 11)": of a status of waitpid, into `text`. */
void proc_status_text(int status, char *text, size_t room);

/* The same as a shell tells it in a number: the exit status, or 128 + the signal; 255 where it is not known. */
int proc_exit_status(int status);

int64_t proc_now_ns(void); /* CLOCK_MONOTONIC */

#endif
