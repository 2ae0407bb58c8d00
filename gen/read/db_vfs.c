#include "read/db_vfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "gapline";

struct file {
	sqlite3_file base; /* first, as SQLite wants it */
	int fd;
};

static int file_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *data, int n, sqlite3_int64 at)
{
	char *to = data;
	while (n > 0) {
		ssize_t got = pread(((struct file *)file)->fd, to, (size_t)n, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (got == 0) {
			memset(to, 0, (size_t)n); /* as SQLite asks for */
			return SQLITE_IOERR_SHORT_READ;
		}
		to += got;
		at += got;
		n -= (int)got;
	}
	return SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 at)
{
	(void)file;
	(void)data;
	(void)n;
	(void)at;
	return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_READONLY;
}

static int file_number(sqlite3_file *file, int number) /* sync, lock, unlock: nobody else uses the file */
{
	(void)file;
	(void)number;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct stat found;
	if (fstat(((struct file *)file)->fd, &found) != 0)
		return SQLITE_IOERR_FSTAT;
	*size = found.st_size;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *reserved)
{
	(void)file;
	*reserved = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
	(void)file;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int file_traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE; /* as `immutable=1` says of a path: no lock, no journal, no WAL */
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_number,
	.xFileSize = file_size,
	.xLock = file_number,
	.xUnlock = file_number,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *given_flags)
{
	(void)vfs;
	file->pMethods = NULL;
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB)) /* anything else would be a file of SQLite's own making */
		return SQLITE_CANTOPEN;
	((struct file *)file)->fd = atoi(name);
	file->pMethods = &methods;
	if (given_flags)
		*given_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int what, int *there)
{
	(void)vfs;
	(void)name;
	(void)what;
	*there = 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int n, char *full)
{
	(void)vfs;
	return snprintf(full, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static sqlite3_vfs ours;

static void register_ours(void)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	if (!usual)
		return;
	ours = *usual; /* time, randomness, sleep */
	ours.iVersion = 1;
	ours.szOsFile = sizeof(struct file);
	ours.pNext = NULL;
	ours.zName = NAME;
	ours.xOpen = vfs_open;
	ours.xDelete = vfs_delete;
	ours.xAccess = vfs_access;
	ours.xFullPathname = vfs_full_path;
	sqlite3_vfs_register(&ours, 0);
}

const char *db_vfs(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, register_ours);
	return NAME;
}
