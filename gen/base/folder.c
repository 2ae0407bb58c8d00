#include "base/folder.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEEPEST = 64 };

/* Those that are there, for the case that memory runs out. */
static char ours[4][4096];

static void remove_ours(void)
{
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (*ours[i])
			folder_remove(ours[i]);
}

static void note(const char *made)
{
	memory_undo(remove_ours);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!*ours[i] || access(ours[i], F_OK)) {
			if (snprintf(ours[i], sizeof ours[i], "%s", made) >= (int)sizeof ours[i])
				*ours[i] = '\0';
			return;
		}
}

const char *folder_beside(const char *path, struct arena *arena, struct err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *made = arena_format(arena, "%.*s.%.200s.XXXXXX", (int)(name - path), path, name);
	if (mkdtemp(made)) {
		note(made);
		return made;
	}
	if (errno == ENOENT)
		err_set(err, "%s: there is no folder %.*s", path, (int)(name - path), path);
	else
		err_set(err, "%s: no folder can be made beside it: %s", path, strerror(errno));
	return NULL;
}

/* Removes what is named in the folder `at`, and what lies below; true when it is gone. Takes no memory: it also runs
 * when there is none. */
static bool remove_below(int at, const char *name, int depth)
{
	if (unlinkat(at, name, 0) == 0)
		return true;
	int folder = depth < DEEPEST ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool some = folder >= 0;
	while (some) { /* from its beginning again: what is removed changes where the rest stands */
		alignas(struct dirent64) char bytes[4096];
		ssize_t n;
		some = false;
		lseek(folder, 0, SEEK_SET);
		while ((n = getdents64(folder, bytes, sizeof bytes)) > 0)
			for (ssize_t i = 0; i < n;) {
				const struct dirent64 *entry = (const void *)(bytes + i);
				if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
					some = remove_below(folder, entry->d_name, depth + 1) || some;
				i += entry->d_reclen;
			}
	}
	if (folder >= 0)
		close(folder);
	return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

void folder_remove(const char *path)
{
	remove_below(AT_FDCWD, path, 0);
}
