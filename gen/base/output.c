#include "base/output.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { TRIES = 100 };

/* Held back while files are written. */
static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int fail(const struct output *o, const char *problem, struct err *err)
{
	if (o->standard)
		return err_set(err, "standard output: %s", problem);
	return err_set(err, "%s: %s", o->path, problem);
}

/* ---- before any work ---- */

/* The folder part of `path`, "." if it has none; malloc. */
static char *folder_of(const char *path)
{
	struct buf b = {0};
	size_t n = (size_t)(file_name(path) - path);
	buf_add(&b, path, n);
	buf_text(&b, ".");
	return b.data;
}

static int check_folder(struct output *o, const char *path, struct err *err)
{
	char *folder = folder_of(path);
	int rc = 0;
	if (stat(folder, &o->folder))
		rc = fail(o, errno == ENOENT ? "its folder does not exist; create it first" : err_reason(errno), err);
	else if (access(folder, W_OK | X_OK))
		rc = err_set_id(err, err_id_of(errno), "%s: cannot write into its folder: %s", o->path,
		                err_reason(errno));
	free(folder);
	return rc;
}

/* 1: another gapline just took the name away, to put its own file there. */
static int prepare_existing(struct output *o, struct err *err)
{
	struct stat standard;
	o->exists = true;
	if (S_ISDIR(o->found.st_mode))
		return fail(o, "is a folder; name a file in it", err);
	if (!fstat(STDOUT_FILENO, &standard) && same_file(&o->found, &standard)) {
		o->standard = true;
		return 0;
	}
	if (access(o->path, W_OK))
		return errno == ENOENT ? 1
		                       : err_set_id(err, err_id_of(errno), "%s: cannot be written: %s", o->path,
		                                    err_reason(errno));
	o->stream = !S_ISREG(o->found.st_mode);
	if (o->stream)
		return 0;
	char *real = realpath(o->path, NULL);
	if (!real)
		return errno == ENOENT ? 1 : fail(o, err_reason(errno), err);
	free(o->target);
	o->target = real;
	return check_folder(o, o->target, err);
}

static int prepare_named(struct output *o, struct err *err)
{
	struct stat link;
	o->exists = false;
	if (!stat(o->path, &o->found))
		return prepare_existing(o, err);
	if (errno != ENOENT)
		return fail(o, err_reason(errno), err);
	if (!lstat(o->path, &link))
		return S_ISLNK(link.st_mode) ? fail(o, "is a symbolic link to nowhere", err) : 1;
	return check_folder(o, o->path, err);
}

int output_prepare(struct output *o, const char *path, struct err *err)
{
	int rc = 1;
	*o = (struct output){.path = path, .standard = !strcmp(path, "-")};
	if (o->standard)
		return 0;
	o->target = memory_copy(path);
	if (!*file_name(path))
		return fail(o, "names a folder; name a file in it", err);
	for (int i = 0; i < TRIES && rc > 0; i++)
		rc = prepare_named(o, err);
	return rc > 0 ? fail(o, "other processes replace it all the time", err) : rc;
}

bool output_same(const struct output *a, const struct output *b)
{
	if (a->standard || b->standard)
		return a->standard && b->standard;
	if (a->exists || b->exists)
		return a->exists && b->exists && same_file(&a->found, &b->found);
	return same_file(&a->folder, &b->folder) && !strcmp(file_name(a->target), file_name(b->target));
}

bool output_replaces(const struct output *o, const struct stat *input)
{
	return !o->standard && o->exists && same_file(&o->found, input);
}

bool output_replaces_path(const struct output *o, const char *path)
{
	struct stat file;
	return path && stat(path, &file) == 0 && output_replaces(o, &file);
}

int output_keep(const struct output *o, bool force, struct err *err)
{
	if (!o->exists || o->stream || o->standard || force)
		return 0;
	return err_set(err, "%s: exists already; --force replaces it", o->path);
}

/* ---- writing ---- */

/* Whether a signal waits that will end gapline (a signal held back waits also when it is ignored). */
static bool is_interrupted(void)
{
	sigset_t waiting;
	struct sigaction action;
	sigpending(&waiting);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		if (sigismember(&waiting, held[i]) && !sigaction(held[i], NULL, &action) &&
		    action.sa_handler == SIG_DFL)
			return true;
	return false;
}

/* In pieces, so that an interrupt need not wait for a long output. */
static int write_bytes(int fd, const char *bytes, size_t n)
{
	enum { PIECE = 1 << 20 };
	for (size_t piece; n; bytes += piece, n -= piece) {
		piece = n < PIECE ? n : PIECE;
		if (is_interrupted()) {
			errno = EINTR;
			return -1;
		}
		if (file_write(fd, bytes, piece) != 0)
			return -1;
	}
	return 0;
}

/* A lock on an open file until this process ends, however it does, or lets go of it: what is locked is nobody's
 * leftover. No lock where the file system has none; then only the process's number tells. */
static void hold(struct output *o, int which, int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own >= 0)
		(void)flock(own, LOCK_SH | LOCK_NB);
	o->locks[which] = own + 1;
}

/* Creates a file beside the target that nobody else has, with the mode of the one that it replaces; a new one's mode is
 * the umask's, as for any new file. */
static int create_temporary(struct output *o)
{
	const char *name = file_name(o->target);
	mode_t mode = o->secret ? 0600 : o->exists ? o->found.st_mode & 0777 : 0666;
	for (int i = 0; i < TRIES; i++) {
		struct buf b = {0};
		buf_add(&b, o->target, (size_t)(name - o->target));
		buf_format(&b, ".%.200s.%ld-%d.tmp", name, (long)getpid(), i);
		int fd = open(b.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0) {
			o->temporary = b.data;
			hold(o, 0, fd);
			return fd;
		}
		int problem = errno;
		buf_release(&b);
		errno = problem;
		if (problem != EEXIST)
			return -1;
	}
	return -1;
}

static int write_temporary(struct output *o, struct err *err)
{
	int fd = create_temporary(o);
	if (fd < 0)
		return fail(o, err_reason(errno), err);
	int problem = 0;
	if (write_bytes(fd, o->bytes, o->n) || (o->exists && !o->secret && fchmod(fd, o->found.st_mode & 0777)))
		problem = errno;
	/* What a name stands for after a power cut is the old file or the whole new one: bytes first, then the name.
	 * Some file systems cannot, and say so with EINVAL (fsync(2)). */
	if (!problem && fsync(fd) && errno != EINVAL && errno != ENOSYS)
		problem = errno;
	if (close(fd) && !problem)
		problem = errno;
	return problem ? fail(o, err_reason(problem), err) : 0;
}

static void settle_folder(const struct output *o)
{
	char folder[PATH_MAX];
	int n = (int)(file_name(o->target) - o->target);
	if (snprintf(folder, sizeof folder, "%.*s.", n, o->target) >= (int)sizeof folder)
		return;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

static bool is_aside(const struct output *o)
{
	return o->aside;
}

static bool is_file(const struct output *o)
{
	return o->temporary;
}

/* Names are the folder's: what changed in those of files that `changed` says, each folder once. They are in place by
 * now, so that a folder that cannot be written out is no error. */
static void settle_folders(const struct output *outputs, size_t n, bool (*changed)(const struct output *))
{
	for (size_t i = 0; i < n; i++) {
		bool settled = !changed(&outputs[i]);
		for (size_t k = 0; k < i && !settled; k++)
			settled = changed(&outputs[k]) && same_file(&outputs[k].folder, &outputs[i].folder);
		if (!settled)
			settle_folder(&outputs[i]);
	}
}

static int write_stream(const struct output *o, struct err *err)
{
	int fd = o->standard ? STDOUT_FILENO : open(o->target, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(o, err_reason(errno), err);
	int problem = write_bytes(fd, o->bytes, o->n) ? errno : 0;
	if (!o->standard && close(fd) && !problem)
		problem = errno;
	return problem ? fail(o, err_reason(problem), err) : 0;
}

/* The complete file gets its name. Where there was one of that name, and the file system can do it, it then is what
 * `temporary` stands for, so that it can be put back. */
static int put_in_place(struct output *o)
{
	bool there = o->exists && !o->aside;
	o->exchanged = there && !renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->target, RENAME_EXCHANGE);
	if (!o->exchanged && rename(o->temporary, o->target))
		return -1;
	o->placed = true;
	return 0;
}

static void take_back(struct output *o)
{
	if (o->exchanged)
		renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->target, RENAME_EXCHANGE);
	else if (o->placed && !o->exists)
		unlink(o->target);
	o->placed = false;
	if (o->aside)
		rename(o->aside, o->target);
	free(o->aside);
	o->aside = NULL;
}

/* The old file is to be found under a name beside it for a while, and is no leftover then. */
static void hold_old(struct output *o)
{
	int fd = open(o->target, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	hold(o, 1, fd);
	close(fd);
}

/* The old file goes out of the way, under a name beside it; unless another gapline, which writes the same names, has
 * moved it already. */
static int put_aside(struct output *o)
{
	struct buf b = {0};
	buf_format(&b, "%.*s.old", (int)(strlen(o->temporary) - strlen(".tmp")), o->temporary);
	if (rename(o->target, b.data)) {
		int problem = errno;
		buf_release(&b);
		errno = problem;
		return problem == ENOENT ? 0 : -1;
	}
	o->aside = b.data;
	return 0;
}

/* Several files have their names changed one after the other, and a process can be killed between two: the files of the
 * earlier report go out of the way first, all but one, which the first new file takes the place of in one step. What
 * stands there at any time is then of one report, though maybe not all of it. */
static int put_all_in_place(struct output *outputs, size_t n, struct err *err)
{
	bool first = true;
	for (size_t i = 0; i < n; i++)
		if (outputs[i].temporary && outputs[i].exists)
			hold_old(&outputs[i]);
	for (size_t i = 0; i < n; i++) {
		struct output *o = &outputs[i];
		if (o->temporary && o->exists && !first && put_aside(o))
			return fail(o, err_reason(errno), err);
		first = first && !o->temporary;
	}
	settle_folders(outputs, n, is_aside); /* a power cut is to find the same order */
	for (size_t i = 0; i < n; i++)
		if (outputs[i].temporary && put_in_place(&outputs[i]))
			return fail(&outputs[i], err_reason(errno), err);
	return 0;
}

static int write_files(struct output *outputs, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!outputs[i].standard && !outputs[i].stream && write_temporary(&outputs[i], err))
			return -1;
	if (put_all_in_place(outputs, n, err)) {
		for (size_t i = n; i-- > 0;)
			take_back(&outputs[i]); /* of one report all files are new, or all are old */
		return -1;
	}
	settle_folders(outputs, n, is_file);
	return 0;
}

/* Whether it is ".NAME.PID-N.tmp" or ".old" of a process that is gone. */
static bool is_of_the_dead(const char *entry, const char *prefix)
{
	size_t n = strlen(prefix);
	if (strncmp(entry, prefix, n) != 0 || !isdigit((unsigned char)entry[n]))
		return false;
	char *end;
	long pid = strtol(entry + n, &end, 10);
	if (*end != '-' || !isdigit((unsigned char)end[1]))
		return false;
	strtol(end + 1, &end, 10);
	return (!strcmp(end, ".tmp") || !strcmp(end, ".old")) && pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* A regular file of ours, which no process holds: one of another machine or container might. */
static bool is_leftover(int folder, const char *name)
{
	struct stat file;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool is =
		!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return is;
}

/* Removes what killed processes left beside the target, now that the new file is there. */
static void remove_leftovers(const struct output *o)
{
	const char *name = file_name(o->target);
	char folder[PATH_MAX], prefix[NAME_MAX + 1]; /* the files are in place: no memory is no error any more */
	int length = snprintf(folder, sizeof folder, "%.*s.", (int)(name - o->target), o->target);
	snprintf(prefix, sizeof prefix, ".%.200s.", name);
	DIR *dir = length < (int)sizeof folder ? opendir(folder) : NULL;
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		if (is_of_the_dead(entry->d_name, prefix) && is_leftover(dirfd(dir), entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void remove_temporary(struct output *o)
{
	if (o->temporary && (!o->placed || o->exchanged))
		unlink(o->temporary);
	if (o->aside)
		unlink(o->aside);
	if (o->placed)
		remove_leftovers(o);
	for (size_t i = 0; i < sizeof o->locks / sizeof *o->locks; i++) {
		if (o->locks[i])
			close(o->locks[i] - 1);
		o->locks[i] = 0;
	}
	free(o->temporary);
	free(o->aside);
	o->temporary = o->aside = NULL;
}

/* What is being written, for the case that memory runs out meanwhile. */
static struct output *being_written;
static size_t n_being_written;

static void remove_being_written(void)
{
	for (size_t i = 0; i < n_being_written; i++)
		if (being_written[i].temporary && !being_written[i].placed)
			unlink(being_written[i].temporary);
}

int output_write(struct output *outputs, size_t n, struct err *err)
{
	memory_undo(remove_being_written);
	being_written = outputs;
	n_being_written = n;
	/* An interrupt between creating a temporary file and renaming it would leave it behind; it waits until the
	 * files written so far are gone again, or all in place. A file size limit is to be an error like any other,
	 * not a signal that kills. */
	sigset_t hold, before;
	void (*size_limit)(int) = signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&hold);
	for (size_t i = 0; i < sizeof held / sizeof *held; i++)
		sigaddset(&hold, held[i]);
	sigprocmask(SIG_BLOCK, &hold, &before);
	int rc = write_files(outputs, n, err);
	for (size_t i = 0; i < n; i++)
		remove_temporary(&outputs[i]);
	n_being_written = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGXFSZ, size_limit);
	for (size_t i = 0; i < n && !rc; i++)
		if (outputs[i].standard || outputs[i].stream)
			rc = write_stream(&outputs[i], err);
	return rc;
}

void output_release(struct output *o)
{
	free(o->target);
	*o = (struct output){0};
}
