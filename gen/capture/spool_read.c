#include "capture/spool_read.h"

#include "base/list.h"
#include "base/memory.h"
#include "base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

static const char SUFFIX[] = ".spool";

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int spool_list(const char *folder, struct arena *arena, const char ***names, size_t *n, struct err *err)
{
	*names = NULL;
	*n = 0;
	DIR *dir = opendir(folder);
	if (!dir)
		return err_set_id(err, ERR_UNREADABLE, "%s: the spool folder cannot be read: %s", folder,
		                  err_reason(errno));
	size_t room = 0;
	for (const struct dirent *entry; (errno = 0, entry = readdir(dir));) {
		size_t length = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;
		if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
			continue;
		LIST_ADD(arena, *names, *n, room, arena_copy(arena, entry->d_name, length));
	}
	int problem = errno;
	closedir(dir);
	if (problem)
		return err_set_id(err, ERR_UNREADABLE, "%s: the spool folder cannot be read: %s", folder,
		                  err_reason(problem));
	SORT(*names, *n, compare_names);
	return 0;
}

int spool_make_failed(const char *folder, struct arena *arena, struct err *err)
{
	const struct spool_failed none = {0};
	const char *path = arena_format(arena, "%s/" SPOOL_FAILED, folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool wrote = fd >= 0 && write(fd, &none, sizeof none) == sizeof none;
	if (!wrote)
		err_set_id(err, err_id_of(errno), "%s: cannot be written: %s", path, err_reason(errno));
	if (fd >= 0)
		close(fd);
	return wrote ? 0 : -1;
}

const char *spool_failure(const char *folder, struct arena *arena)
{
	struct spool_failed failed = {0};
	int fd = open(arena_format(arena, "%s/" SPOOL_FAILED, folder), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool known = fd >= 0 && read(fd, &failed, sizeof failed) == sizeof failed && failed.error > 0;
	if (fd >= 0)
		close(fd);
	return known ? arena_format(arena, "process %u could not write its recording: %s", failed.pid,
	                            err_reason(failed.error))
	             : NULL;
}

/* ---- one file ---- */

static int fail(const struct spool_reader *r, const char *problem, struct err *err)
{
	return err_set(err, "%s: %s", r->path, problem);
}

/* Opens nothing that could make the reader wait, or that lies elsewhere: the program could have put it there. */
static int open_file(struct spool_reader *r, struct err *err)
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return fail(r, errno == ELOOP ? "is no spool but a symbolic link" : err_reason(errno), err);
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return fail(r, "is no spool: not a regular file", err);
	}
	r->file = fdopen(fd, "rb");
	if (!r->file) {
		close(fd);
		return fail(r, err_reason(errno), err);
	}
	setvbuf(r->file, NULL, _IOFBF, READ_BYTES);
	r->left = (uint64_t)st.st_size;
	return 0;
}

/* 1: all `n` bytes; 0: the file ends before (it was cut while it was read); -1: an error. */
static int take(struct spool_reader *r, void *bytes, size_t n, struct err *err)
{
	if (fread(bytes, 1, n, r->file) == n) {
		r->left -= n;
		return 1;
	}
	r->left = 0;
	return ferror(r->file) ? fail(r, "cannot be read", err) : 0;
}

int spool_open(struct spool_reader *r, const char *folder, const char *name, struct arena *arena, struct err *err)
{
	*r = (struct spool_reader){.path = arena_format(arena, "%s/%s", folder, name)};
	if (open_file(r, err) != 0)
		return -1;
	struct spool_header *h = &r->header;
	uint64_t size = r->left;
	if (size >= sizeof *h) {
		int taken = take(r, h, sizeof *h, err);
		if (taken <= 0)
			return taken;
	} else {
		/* The little that there is must at least be how a spool begins. */
		size_t n = size < sizeof h->magic ? (size_t)size : sizeof h->magic;
		int taken = take(r, h->magic, n, err);
		if (taken <= 0)
			return taken;
		return memcmp(h->magic, SPOOL_MAGIC, n) == 0 ? 0 : fail(r, "is no spool", err);
	}
	if (memcmp(h->magic, SPOOL_MAGIC, sizeof h->magic) != 0)
		return fail(r, "is no spool", err);
	if (h->version != SPOOL_VERSION)
		return err_set(err,
		               "%s: has version %u, this gapline reads version %d; use the libraries and the gapline "
		               "of one release",
		               r->path, h->version, SPOOL_VERSION);
	if (h->clock != SPOOL_MONOTONIC && h->clock != SPOOL_REALTIME)
		return err_set_id(err, ERR_DAMAGED, "%s: names an unknown clock, %u: the file is damaged", r->path,
		                  h->clock);
	return 1;
}

static bool known(uint32_t type)
{
	return type >= SPOOL_CUPTI && type <= SPOOL_RANK;
}

static void make_room(struct spool_reader *r, size_t n)
{
	if (n <= r->room)
		return;
	size_t room = r->room ? r->room : 65536;
	while (room < n)
		room *= 2;
	free(r->payload);
	r->payload = memory_take(room);
	r->room = room;
}

/* 1: `block` is filled, and the file holds all of it; 0: there is none. */
static int take_block(struct spool_reader *r, struct err *err)
{
	if (r->ended || r->left < sizeof r->block)
		return 0;
	int taken = take(r, &r->block, sizeof r->block, err);
	if (taken <= 0)
		return taken;
	/* Zeros are what a file has where nothing was written before the end came. */
	uint64_t bytes = r->block.bytes;
	if (r->block.type == 0 || bytes > r->left || (bytes + 7) / 8 * 8 > r->left) {
		r->left = 0;
		return 0;
	}
	return 1;
}

int spool_next(struct spool_reader *r, struct err *err)
{
	int taken;
	uint64_t padded;
	while ((taken = take_block(r, err)) > 0) {
		padded = (r->block.bytes + 7) / 8 * 8;
		if (known(r->block.type))
			break;
		if (fseeko(r->file, (off_t)padded, SEEK_CUR) != 0)
			return fail(r, "cannot be read", err);
		r->left -= padded;
	}
	if (taken <= 0)
		return taken;
	if (padded > SPOOL_BLOCK_MAX) { /* no library of ours wrote this: damage */
		r->left = 0;
		return 0;
	}
	make_room(r, (size_t)padded + 8); /* never none: `payload` is a place in memory even when nothing is in it */
	taken = take(r, r->payload, (size_t)padded, err);
	if (taken > 0)
		r->ended = r->block.type == SPOOL_END;
	return taken;
}

void spool_close(struct spool_reader *r)
{
	if (r->file)
		fclose(r->file);
	free(r->payload);
	*r = (struct spool_reader){0};
}
