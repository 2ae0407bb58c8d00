#include "capture/target.h"

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FD = 100, NOTE_MAX = 100 };

/* ---- in gapline ---- */

/* A descriptor as "103:45:1234567": its number, and the file behind it, because whoever stands between may have closed
 * it and used the number again. */
static const char *describe(int fd, struct arena *arena)
{
	struct stat file;
	if (fstat(fd, &file))
		return "-1:0:0";
	return arena_format(arena, "%d:%llu:%llu", fd, (unsigned long long)file.st_dev,
	                    (unsigned long long)file.st_ino);
}

void target_plan(struct target_plan *plan, const char *self, const char *notes, const int fds[TARGET_DESCRIPTORS],
                 const char *const *command, struct arena *arena)
{
	size_t n = 0, words = 0;
	while (command[words])
		words++;
	plan->argv = ARENA_NEW(arena, words + TARGET_DESCRIPTORS + 5, const char *);
	plan->argv[n++] = self;
	plan->argv[n++] = TARGET_ARGUMENT;
	plan->argv[n++] = notes;
	for (size_t i = 0; i < TARGET_DESCRIPTORS; i++) {
		plan->fds[i] = fcntl(fds[i], F_DUPFD, FIRST_FD);
		plan->argv[n++] = describe(plan->fds[i], arena);
	}
	plan->argv[n++] = "--";
	memcpy(plan->argv + n, command, words * sizeof *command);
}

void target_release(struct target_plan *plan)
{
	for (size_t i = 0; i < TARGET_DESCRIPTORS; i++) {
		if (plan->fds[i] >= FIRST_FD)
			close(plan->fds[i]);
		plan->fds[i] = -1;
	}
}

void target_read_notes(const char *notes, struct target_notes *out)
{
	char line[NOTE_MAX];
	*out = (struct target_notes){0};
	FILE *f = fopen(notes, "re");
	while (f && fgets(line, sizeof line, f)) {
		int pid, group, own, status, problem, launcher;
		long long now;
		if (sscanf(line, "started %d %d %d %lld", &pid, &group, &own, &now) == 4) {
			out->pid = pid;
			out->group = group;
			out->own_output = own;
			out->start_ns = now;
		} else if (sscanf(line, "launcher %d", &launcher) == 1) {
			out->launcher = launcher;
		} else if (sscanf(line, "ended %d 0 0 %lld", &status, &now) == 2) {
			out->status = status;
			out->ended = true;
			out->end_ns = now;
		} else if (sscanf(line, "failed %d", &problem) == 1) {
			out->problem = problem;
		}
	}
	if (f)
		fclose(f);
}

/* ---- between nsys and the target ---- */

/* −1: it cannot be noted. */
static int note(const char *notes, const char *what, int a, int b, int c)
{
	char line[NOTE_MAX];
	int n = snprintf(line, sizeof line, "%s %d %d %d %lld\n", what, a, b, c, (long long)proc_now_ns());
	int fd = open(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	bool written = write(fd, line, (size_t)n) == n;
	close(fd);
	return written ? 0 : -1;
}

/* The descriptor that the text describes, −1 when it is not here. */
static int check_descriptor(const char *text)
{
	int fd;
	unsigned long long device, inode;
	struct stat file;
	if (sscanf(text, "%d:%llu:%llu", &fd, &device, &inode) != 3 || fd < 0 || fstat(fd, &file))
		return -1;
	return file.st_dev == device && file.st_ino == inode ? fd : -1;
}

static void become_target(char **command, const int fds[TARGET_DESCRIPTORS], bool own, int report)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < TARGET_DESCRIPTORS; i++) {
		if (own)
			dup2(fds[i], i);
		if (fds[i] >= FIRST_FD)
			close(fds[i]);
	}
	execvp(command[0], command);
	int problem = errno;
	ssize_t told = write(report, &problem, sizeof problem);
	_exit(told == sizeof problem ? 127 : 126);
}

/* Signals for the whole group reach the target as well; this process outlives it to tell how it ended. */
static void ignore_signals(void (*handler)(int))
{
	static const int group[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < sizeof group / sizeof *group; i++)
		signal(group[i], handler);
}

int target_main(int argc, char **argv)
{
	enum { NOTES = 1, FDS = 2, DASHES = FDS + TARGET_DESCRIPTORS, COMMAND };
	int fds[TARGET_DESCRIPTORS], report[2], problem = 0, status = 0;
	bool own = true;
	if (argc <= COMMAND || strcmp(argv[DASHES], "--") || pipe2(report, O_CLOEXEC))
		return 127;
	const char *notes = argv[NOTES];
	for (size_t i = 0; i < TARGET_DESCRIPTORS; i++) {
		fds[i] = check_descriptor(argv[FDS + i]);
		own = own && fds[i] >= 0;
	}
	sigset_t hold, before; /* from here to the note of its pid, the target must not outrun us */
	sigfillset(&hold);
	sigprocmask(SIG_BLOCK, &hold, &before);
	pid_t pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		become_target(argv + COMMAND, fds, own, report[1]);
	}
	problem = pid < 0 ? errno : 0;
	ignore_signals(SIG_IGN);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (!problem && read(report[0], &problem, sizeof problem) != sizeof problem)
		problem = 0;
	if (problem) {
		note(notes, "failed", problem, 0, 0);
		return 127;
	}
	if (note(notes, "launcher", getpid(), 0, 0) || note(notes, "started", pid, getpgrp(), own))
		kill(pid, SIGKILL); /* gapline and its folder are gone: nobody would ever end it */
	pid_t waited;
	while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		continue;
	if (waited < 0)
		return proc_exit_status(PROC_STATUS_UNKNOWN); /* without a note: how it ended is not known */
	note(notes, "ended", status, 0, 0);
	return proc_exit_status(status);
}
