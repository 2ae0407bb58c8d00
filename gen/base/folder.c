#include "base/folder.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 64 };

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Those that are there, for the case that memory runs out. */
static char ours[4][4096];
static int held[4]; /* a descriptor of it and 1; 0: none */

static void remove_ours(void)
{
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (*ours[i])
			folder_remove(ours[i]);
}

/* Locked until this process ends, however it does, or removes it: so a folder that was left can be told from one that
 * is in use. The lock comes before anything is put into it. */
static void hold(size_t slot)
{
	held[slot] = open(ours[slot], O_RDONLY | O_DIRECTORY | O_CLOEXEC) + 1;
	if (held[slot])
		(void)flock(held[slot] - 1, LOCK_SH);
}

static void note(const char *made)
{
	memory_undo(remove_ours);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!*ours[i] || access(ours[i], F_OK)) {
			if (snprintf(ours[i], sizeof ours[i], "%s", made) >= (int)sizeof ours[i])
				*ours[i] = '\0';
			else
				hold(i);
			return;
		}
}

static void let_go(size_t slot)
{
	if (held[slot])
		close(held[slot] - 1);
	held[slot] = 0;
	*ours[slot] = '\0';
}

/* Of those that are gone, by whatever path they were removed. */
static void release(void)
{
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (*ours[i] && access(ours[i], F_OK))
			let_go(i);
}

void folder_keep(const char *path)
{
	struct stat kept, one;
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (*ours[i] && !stat(path, &kept) && !stat(ours[i], &one) && kept.st_dev == one.st_dev &&
		    kept.st_ino == one.st_ino)
			let_go(i);
}

static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	size_t n = 0;
	while (folder && n < 3 && readdir(folder))
		n++;
	if (folder)
		closedir(folder);
	return n < 3; /* "." and ".." */
}

static bool is_left(const char *path)
{
	struct stat what;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool left = fstat(fd, &what) == 0 && what.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	            !is_empty(path);
	close(fd);
	return left;
}

const char *folder_left(const char *path, struct arena *arena)
{
	enum { RANDOM = 6 }; /* letters of mkdtemp's */
	const char *name = file_name(path), *first = NULL;
	const char *prefix = arena_format(arena, ".%.200s.", name);
	const char *where = arena_format(arena, "%.*s", (int)(name - path), path);
	size_t n = strlen(prefix);
	DIR *folder = opendir(*where ? where : ".");
	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		if (strncmp(entry->d_name, prefix, n) != 0 || strlen(entry->d_name + n) != RANDOM ||
		    strspn(entry->d_name + n, LETTERS) != RANDOM)
			continue;
		const char *one = arena_format(arena, "%s%s", where, entry->d_name);
		if ((!first || strcmp(one, first) < 0) && is_left(one))
			first = one;
	}
	if (folder)
		closedir(folder);
	return first;
}

const char *folder_beside(const char *path, struct arena *arena, struct err *err)
{
	const char *name = file_name(path);
	char *made = arena_format(arena, "%.*s.%.200s.XXXXXX", (int)(name - path), path, name);
	if (mkdtemp(made)) {
		note(made);
		return made;
	}
	if (errno == ENOENT)
		err_set(err, "%s: there is no folder %.*s; create it first", path, (int)(name - path), path);
	else
		err_set_id(err, err_id_of(errno), "%s: no folder can be made beside it: %s", path, err_reason(errno));
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
	release();
}
