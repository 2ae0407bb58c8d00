#include "base/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FOLDERS = 16 };

const char *folder_beside(const char *path, struct arena *arena, struct err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *made = arena_format(arena, "%.*s.%.200s.XXXXXX", (int)(name - path), path, name);
	if (mkdtemp(made))
		return made;
	if (errno == ENOENT)
		err_set(err, "%s: there is no folder %.*s", path, (int)(name - path), path);
	else
		err_set(err, "%s: no folder can be made beside it: %s", path, strerror(errno));
	return NULL;
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *place)
{
	(void)file;
	(void)type;
	(void)place;
	remove(path);
	return 0;
}

void folder_remove(const char *path)
{
	nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
