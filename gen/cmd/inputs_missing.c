#include "cmd/inputs_missing.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/opt.h"
#include "cmd/page_evidence.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Mistyped, without its ending, or with another one. */
static bool is_near(const char *given, const char *there)
{
	size_t n = strlen(given);
	const char *ending = strrchr(given, '.');
	size_t stem = ending ? (size_t)(ending - given) : n;
	return *there != '.' && (opt_near(given, there) || (n && !strncmp(given, there, n) && there[n] == '.') ||
	                         (stem && !strncmp(given, there, stem) && there[stem] == '.'));
}

/* Of the names in the folder that are near, the first by alphabet. */
static void find_near(const char *folder, const char *given, struct buf *near)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_near(given, entry->d_name) && (!near->n || strcmp(entry->d_name, near->data) < 0)) {
			buf_release(near);
			buf_text(near, entry->d_name);
		}
	closedir(dir);
}

int inputs_missing(const char *path, struct err *err)
{
	struct stat file;
	struct buf folder = {0}, near = {0};
	const char *name = file_name(path);
	size_t n = (size_t)(name - path);
	buf_add(&folder, n ? path : "./", n ? n : 2);
	if (lstat(path, &file) == 0)
		err_set(err, "%s: links to a file that does not exist", path);
	else if (page_is_side(path))
		err_set(err, "%s: no such file; sides of reports are for gapline report and gapline history", path);
	else if (stat(folder.data, &file) != 0)
		err_set(err, "%s: no such file: the folder %s does not exist", path, folder.data);
	else {
		find_near(folder.data, name, &near);
		if (near.n)
			err_set(err, "%s: no such file; did you mean %.*s%s?", path, (int)n, path, near.data);
		else
			err_set(err, "%s: no such file", path);
	}
	buf_release(&folder);
	buf_release(&near);
	return -1;
}
