#include "read/db_bytes.h"

#if SQLITE_VERSION_NUMBER >= 3036000

unsigned char *db_bytes(sqlite3 *db, size_t *n)
{
	sqlite3_int64 bytes = 0;
	unsigned char *data = sqlite3_serialize(db, "main", &bytes, 0);
	*n = data ? (size_t)bytes : 0;
	return data;
}

#else /* before SQLite 3.36 sqlite3_serialize is a matter of how it was built, and Debian 11's is without */

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
