#include "base/proc.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { GROUP_POLL_MS = 10, LEAVING_MS = 200 }; /* what is just about to end by itself is no leftover */

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_CAUGHT = sizeof caught / sizeof *caught };

static volatile sig_atomic_t first_signal, signals, noticed; /* `noticed`: of `signals`, by proc_wait */

int64_t proc_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- signals for us ---- */

static void note(int number)
{
	if (!first_signal)
		first_signal = number;
	signals = signals + 1;
}

static void wake(int number)
{
	(void)number; /* SIGCHLD only has to interrupt ppoll */
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

void proc_catch_signals(void)
{
	for (size_t i = 0; i < N_CAUGHT; i++) {
		struct sigaction now;
		if (!sigaction(caught[i], NULL, &now) && now.sa_handler != SIG_IGN)
			handle(caught[i], note);
	}
}

void proc_release_signals(void)
{
	for (size_t i = 0; i < N_CAUGHT; i++) {
		struct sigaction now;
		if (!sigaction(caught[i], NULL, &now) && now.sa_handler == note)
			handle(caught[i], SIG_DFL);
	}
}

int proc_interrupted(void)
{
	return first_signal;
}

int proc_interrupts(void)
{
	return signals;
}

void proc_die_of_interrupt(void)
{
	if (!first_signal)
		return;
	fflush(NULL);
	signal(first_signal, SIG_DFL);
	raise(first_signal);
	_exit(128 + first_signal); /* the first process of a container does not die of its own signals */
}

/* The signals that end a wait, blocked outside of ppoll, so that none slips in between looking and waiting. */
static void block_wakers(sigset_t *before)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < N_CAUGHT; i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* ---- the terminal ---- */

/* A background process that changes the terminal's foreground group is stopped by SIGTTOU unless it blocks it. */
static void give_terminal(pid_t group)
{
	sigset_t set, before;
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &before);
	tcsetpgrp(STDIN_FILENO, group);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool have_terminal(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* The program was stopped. By Ctrl-Z: the shell must get the terminal back, we stop too, and go on together. Because it
 * used the terminal while it was in the background: so are we, or a shell has brought us to the front since. Whether it
 * has the terminal when it goes on depends on whether we do by then. */
static void stop_with(struct proc *proc, int number)
{
	bool background = !proc->owns_terminal && (number == SIGTTIN || number == SIGTTOU);
	if (!proc->owns_terminal && !background)
		return;
	if (proc->owns_terminal)
		give_terminal(getpgrp());
	if (!background || !have_terminal())
		kill(0, background ? number : SIGSTOP);
	proc->owns_terminal = have_terminal();
	if (proc->owns_terminal)
		give_terminal(proc->pid);
	else if (background)
		poll(NULL, 0, GROUP_POLL_MS); /* no shell, so we were not stopped: the program tries again, and again */
	kill(-proc->pid, SIGCONT);
}

void proc_share_interrupt(const struct proc *proc)
{
	if (proc->had_terminal)
		kill(0, SIGINT);
}

/* ---- starting ---- */

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static bool same_name(const char *a, const char *b)
{
	size_t n = name_length(a);
	return n == name_length(b) && !memcmp(a, b, n);
}

/* Ours with the changes; an array from malloc that borrows the texts. */
static char **make_environment(const char *const *changes)
{
	size_t n = 0, n_changes = 0, kept = 0;
	while (environ[n])
		n++;
	while (changes && changes[n_changes])
		n_changes++;
	char **made = memory_take_zeroed(n + n_changes + 1, sizeof *made);
	for (size_t i = 0; i < n; i++) {
		bool changed = false;
		for (size_t c = 0; c < n_changes && !changed; c++)
			changed = same_name(environ[i], changes[c]);
		if (!changed)
			made[kept++] = environ[i];
	}
	for (size_t c = 0; c < n_changes; c++)
		if (strchr(changes[c], '='))
			made[kept++] = (char *)(uintptr_t)changes[c];
	return made;
}

/* What runs while there is no memory left ends with us. */
static pid_t running[4];

static void end_running(void)
{
	for (size_t i = 0; i < sizeof running / sizeof *running; i++)
		if (running[i] > 0)
			kill(-running[i], SIGKILL);
}

static void note_running(pid_t was, pid_t is)
{
	memory_undo(end_running);
	for (size_t i = 0; i < sizeof running / sizeof *running; i++)
		if (running[i] == was) {
			running[i] = is;
			return;
		}
}

/* In the child. What fails is told through `report`, which a successful exec closes. */
static void become(const struct proc_spawn *spawn, char **environment, bool terminal, const sigset_t *mask, int report,
                   pid_t parent)
{
	/* Nobody waits for it any more when we are killed: it does not run on for nobody (prctl(2)). */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* already */
		_exit(126);
	memory_unlimited();
	if (spawn->terminal)
		setpgid(0, 0);
	else
		setsid();
	if (terminal)
		give_terminal(getpid());
	bool failed = (spawn->input >= 0 && dup2(spawn->input, STDIN_FILENO) < 0) ||
	              (spawn->output >= 0 &&
	               (dup2(spawn->output, STDOUT_FILENO) < 0 || dup2(spawn->output, STDERR_FILENO) < 0));
	if (!failed) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvpe(spawn->argv[0], (char *const *)(uintptr_t)spawn->argv, environment);
	}
	int problem = errno;
	ssize_t told = write(report, &problem, sizeof problem);
	_exit(told == sizeof problem ? 127 : 126);
}

static int cannot_start(const char *name, int problem, struct err *err)
{
	if (problem == ENOENT && !strchr(name, '/'))
		return err_set(err, "%s: there is no such command on PATH", name);
	if (problem == ENOENT)
		return err_set(err, "%s: cannot be started: it, or the interpreter that it names, does not exist",
		               name);
	return err_set_id(err, err_id_of(problem), "%s: cannot be started: %s", name, err_reason(problem));
}

int proc_start(struct proc *proc, const struct proc_spawn *spawn, struct err *err)
{
	*proc = (struct proc){0};
	int report[2] = {-1, -1}, problem = 0;
	bool terminal = spawn->terminal && spawn->input < 0 && have_terminal();
	char **environment = make_environment(spawn->environment);
	if (pipe2(report, O_CLOEXEC)) {
		int none = errno;
		free(environment);
		return cannot_start(spawn->argv[0], none, err);
	}
	handle(SIGCHLD, wake);
	fflush(NULL);
	sigset_t before;
	block_wakers(&before);
	proc->start_ns = proc_now_ns();
	const pid_t parent = getpid();
	proc->pid = fork();
	if (!proc->pid)
		become(spawn, environment, terminal, &before, report[1], parent);
	problem = proc->pid < 0 ? errno : 0;
	close(report[1]);
	if (!problem) {
		ssize_t n; /* once this read is over, the program is in its group */
		while ((n = read(report[0], &problem, sizeof problem)) < 0 && errno == EINTR)
			continue;
		if (n != sizeof problem)
			problem = 0;
		else
			waitpid(proc->pid, NULL, 0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(report[0]);
	free(environment);
	proc->owns_terminal = terminal && !problem;
	proc->wants_terminal = spawn->terminal;
	if (terminal && problem)
		give_terminal(getpgrp());
	if (!problem) {
		note_running(0, proc->pid);
		return 0;
	}
	*proc = (struct proc){0};
	return cannot_start(spawn->argv[0], problem, err);
}

/* ---- waiting ---- */

static bool has_ended(struct proc *proc)
{
	int status;
	while (!proc->ended) {
		pid_t pid = waitpid(proc->pid, &status, WNOHANG | (proc->wants_terminal ? WUNTRACED : 0));
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid == 0)
			return false;
		if (pid > 0 && WIFSTOPPED(status)) {
			stop_with(proc, WSTOPSIG(status));
			return false;
		}
		proc->status = pid > 0 ? status : PROC_STATUS_UNKNOWN; /* somebody else has waited for it */
		proc->end_ns = proc_now_ns();
		proc->ended = true;
		note_running(proc->pid, 0);
		if (proc->owns_terminal)
			give_terminal(getpgrp());
		proc->had_terminal = proc->owns_terminal;
		proc->owns_terminal = false;
	}
	return true;
}

int proc_wait(struct proc *proc, int timeout_ms)
{
	int64_t until = proc_now_ns() + (int64_t)timeout_ms * 1000000;
	sigset_t before;
	block_wakers(&before);
	int ended;
	while (!(ended = has_ended(proc)) && signals == noticed) {
		int64_t left = timeout_ms < 0 ? 0 : until - proc_now_ns();
		if (left < 0)
			break;
		struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
		if (ppoll(NULL, 0, timeout_ms < 0 ? NULL : &wait, &before) < 0 && errno != EINTR)
			break;
	}
	if (!ended)
		noticed = signals;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ended;
}

/* ---- ending ---- */

void proc_signal(const struct proc *proc, int signal)
{
	if (proc->pid > 0)
		kill(-proc->pid, signal);
}

void proc_stop(struct proc *proc, int signal, int grace_ms)
{
	const int steps[] = {signal, SIGTERM, SIGKILL};
	for (size_t i = signal == SIGTERM; i < sizeof steps / sizeof *steps && !proc->ended; i++) {
		proc_signal(proc, steps[i]);
		proc_signal(proc, SIGCONT); /* what is stopped hears nothing but SIGKILL */
		proc_wait(proc, grace_ms);
	}
	while (!proc->ended)
		proc_wait(proc, -1);
}

/* What /proc/PID/stat tells of a process that still runs (proc(5): "pid (name) state parent group ..."; the name may
 * hold anything). */
static bool lives(const char *pid, int *parent, int *group)
{
	char path[300], stat[1024], state;
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	stat[n > 0 ? n : 0] = 0;
	const char *name_end = strrchr(stat, ')');
	return name_end && sscanf(name_end + 1, " %c %d %d", &state, parent, group) == 3 && state != 'Z' &&
	       state != 'X';
}

static bool is_process(const struct dirent *entry)
{
	return *entry->d_name >= '1' && *entry->d_name <= '9';
}

/* What has ended and is not reaped yet counts as a member for kill(); in a container without an init nobody ever reaps
 * it. */
bool proc_has_group(const struct proc *proc)
{
	int parent, group;
	if (proc->pid <= 0 || kill(-proc->pid, 0))
		return false;
	DIR *dir = opendir("/proc");
	if (!dir)
		return true;
	bool there = false;
	for (struct dirent *entry; !there && (entry = readdir(dir));)
		there = is_process(entry) && lives(entry->d_name, &parent, &group) && group == proc->pid;
	closedir(dir);
	return there;
}

void proc_adopt(bool adopt)
{
	prctl(PR_SET_CHILD_SUBREAPER, adopt ? 1 : 0);
}

/* Signals our children that run a program from below `folder`; 0 only looks. Whether there are any. */
static bool signal_adopted(const char *folder, int number)
{
	char path[300], program[PATH_MAX];
	int parent, group;
	bool any = false;
	DIR *dir = opendir("/proc");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!is_process(entry) || !lives(entry->d_name, &parent, &group) || parent != getpid())
			continue;
		snprintf(path, sizeof path, "/proc/%s/exe", entry->d_name);
		ssize_t n = readlink(path, program, sizeof program);
		size_t m = strlen(folder);
		if (n <= (ssize_t)m || memcmp(program, folder, m) != 0 || program[m] != '/')
			continue;
		any = true;
		kill(atoi(entry->d_name), number);
	}
	if (dir)
		closedir(dir);
	return any;
}

void proc_end_adopted(const char *folder, int grace_ms)
{
	const int steps[] = {0, SIGTERM, SIGKILL};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (!signal_adopted(folder, steps[i]))
			return;
		for (int waited = 0; waited < grace_ms && signal_adopted(folder, 0); waited += GROUP_POLL_MS)
			poll(NULL, 0, GROUP_POLL_MS);
	}
}

bool proc_end_group(struct proc *proc, int grace_ms)
{
	for (int waited = 0; waited < LEAVING_MS && proc_has_group(proc); waited += GROUP_POLL_MS)
		poll(NULL, 0, GROUP_POLL_MS);
	if (!proc_has_group(proc))
		return false;
	proc_signal(proc, SIGTERM);
	proc_signal(proc, SIGCONT);
	for (int waited = 0; waited < grace_ms && proc_has_group(proc); waited += GROUP_POLL_MS)
		poll(NULL, 0, GROUP_POLL_MS);
	proc_signal(proc, SIGKILL);
	return true;
}

/* ---- statuses ---- */

int proc_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* "TERM"; NULL: not known. */
static const char *signal_name(int number)
{
#if __GLIBC_PREREQ(2, 32)
	return sigabbrev_np(number);
#else
	static const struct {
		int number;
		const char *name;
	} names[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},   {SIGTRAP, "TRAP"},
	             {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},
	             {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"}, {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"},
	             {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGSYS, "SYS"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
#endif
}

void proc_status_text(int status, char *text, size_t room)
{
	if (status == PROC_STATUS_UNKNOWN) {
		snprintf(text, room, "a status that is not known");
		return;
	}
	if (!WIFSIGNALED(status)) {
		snprintf(text, room, "exit status %d", WEXITSTATUS(status));
		return;
	}
	const char *name = signal_name(WTERMSIG(status));
	if (name)
		snprintf(text, room, "killed by SIG%s (signal %d)", name, WTERMSIG(status));
	else
		snprintf(text, room, "killed by signal %d", WTERMSIG(status));
}
