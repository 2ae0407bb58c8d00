#include "base/file.h"
#include "read/db.h"

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

static int vfs_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int vfs_read(sqlite3_file *file, void *data, int n, sqlite3_int64 at)
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

static int vfs_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 at)
{
	(void)file;
	(void)data;
	(void)n;
	(void)at;
	return SQLITE_READONLY;
}

static int vfs_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file;
	(void)size;
	return SQLITE_READONLY;
}

static int vfs_number(sqlite3_file *file, int number) /* sync, lock, unlock: nobody else uses the file */
{
	(void)file;
	(void)number;
	return SQLITE_OK;
}

static int vfs_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct stat found;
	if (fstat(((struct file *)file)->fd, &found) != 0)
		return SQLITE_IOERR_FSTAT;
	*size = found.st_size;
	return SQLITE_OK;
}

static int vfs_is_reserved(sqlite3_file *file, int *reserved)
{
	(void)file;
	*reserved = 0;
	return SQLITE_OK;
}

static int vfs_control(sqlite3_file *file, int operation, void *argument)
{
	(void)file;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int vfs_sector(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int vfs_traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_IMMUTABLE; /* as `immutable=1` says of a path: no lock, no journal, no WAL */
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = vfs_close,
	.xRead = vfs_read,
	.xWrite = vfs_write,
	.xTruncate = vfs_truncate,
	.xSync = vfs_number,
	.xFileSize = vfs_size,
	.xLock = vfs_number,
	.xUnlock = vfs_number,
	.xCheckReservedLock = vfs_is_reserved,
	.xFileControl = vfs_control,
	.xSectorSize = vfs_sector,
	.xDeviceCharacteristics = vfs_traits,
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

#if SQLITE_VERSION_NUMBER >= 3036000

unsigned char *db_bytes(sqlite3 *db, size_t *n)
{
	sqlite3_int64 bytes = 0;
	unsigned char *data = sqlite3_serialize(db, "main", &bytes, 0);
	*n = data ? (size_t)bytes : 0;
	return data;
}

#else /* before SQLite 3.36 sqlite3_serialize is a matter of how it was built, and Debian 11's is without */

static int copy_to_file(sqlite3 *db, const char *path)
{
	sqlite3 *to = NULL;
	int code = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL);
	sqlite3_backup *backup = code == SQLITE_OK ? sqlite3_backup_init(to, "main", db, "main") : NULL;
	if (backup) {
		sqlite3_backup_step(backup, -1);
		code = sqlite3_backup_finish(backup);
	}
	sqlite3_close(to);
	return backup && code == SQLITE_OK ? 0 : -1;
}

unsigned char *db_bytes(sqlite3 *db, size_t *n)
{
	const char *folder = getenv("TMPDIR");
	char path[512];
	unsigned char *data = NULL;
	*n = 0;
	snprintf(path, sizeof path, "%s/gapline-XXXXXX", folder && *folder == '/' ? folder : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		return NULL;
	off_t size = copy_to_file(db, path) ? -1 : lseek(fd, 0, SEEK_END);
	unlink(path);
	if (size > 0 && lseek(fd, 0, SEEK_SET) == 0)
		data = sqlite3_malloc64((sqlite3_uint64)size);
	if (data && file_read(fd, data, (size_t)size) == size) {
		*n = (size_t)size;
	} else {
		sqlite3_free(data);
		data = NULL;
	}
	close(fd);
	return data;
}

#endif
