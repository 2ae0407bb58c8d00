/* Packed files, unpacked into files without a name. */
#include "base/unpack.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

/* A file that is gone when its descriptor is; -1 where the folder does not take one. */
static int open_nameless(const char *folder)
{
	char path[4096];
	sigset_t all, before;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (size_t)snprintf(path, sizeof path, "%s/gapline.XXXXXX", folder) >= sizeof path)
		return fd;
	/* Some file systems know no files without a name. No signal may come before the name is gone again. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* `folder` becomes where it lies, for messages. */
static int open_temporary(const char **folder)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		int fd = folders[i] && *folders[i] ? open_nameless(folders[i]) : -1;
		*folder = folders[i];
		if (fd >= 0)
			return fd;
	}
	*folder = "memory";
	return memfd_create("gapline", MFD_CLOEXEC);
}

/* Writing beyond a limit on the size of files sends a signal that kills; it is to be an error like any other. */
static void hold_size_limit(sigset_t *before)
{
	sigset_t limit;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, before);
}

static void release_size_limit(const sigset_t *before)
{
	sigset_t limit;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	if (!sigismember(before, SIGXFSZ))
		sigtimedwait(&limit, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int pour(struct unpack *from, int to, int64_t most, const char *path, const char *folder, struct meter *meter,
                struct err *err)
{
	unsigned char *piece = memory_take(PIECE);
	int64_t used = 0;
	ssize_t n = PIECE;
	while (n == PIECE) {
		n = unpack_read(from, piece, PIECE, err);
		most -= n > 0 ? n : 0;
		if (n > 0 && most < 0)
			n = err_set(
				err,
				"%s: holds more than it says, or than a packed file of its size should; if it is to be "
				"trusted, unpack it first: gzip -d or zstd -d",
				path);
		if (n > 0 && file_write(to, piece, (size_t)n) != 0)
			n = err_set(err, "%s: cannot be unpacked in %s: %s; TMPDIR may name a folder with more room",
			            path, folder, err_reason(errno));
		meter_add(meter, unpack_used(from) - used);
		used = unpack_used(from);
	}
	free(piece);
	return n < 0 ? -1 : 0;
}

int unpack_to_file(const char *path, int fd, int64_t most, struct meter *meter, struct err *err)
{
	const char *folder;
	sigset_t before;
	struct unpack *from = unpack_open(path, fd, err);
	if (!from)
		return -1;
	int to = open_temporary(&folder);
	if (to < 0) {
		err_set(err, "%s: there is no place to unpack it: %s", path, err_reason(errno));
		unpack_close(from);
		return -1;
	}
	hold_size_limit(&before);
	int rc = pour(from, to, most, path, folder, meter, err);
	release_size_limit(&before);
	unpack_close(from);
	if (rc != 0)
		close(to);
	else
		meter_fill(meter);
	return rc != 0 ? -1 : to;
}
