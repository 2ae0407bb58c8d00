#include "cmd/inputs.h"

#include "read/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding ---- */

static int add(struct inputs *in, const char *path, const struct stat *file, struct arena *arena, struct err *err)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->item[i].file.st_dev == file->st_dev && in->item[i].file.st_ino == file->st_ino) {
			err_set(err, "%s side: %s is given twice; repeats have to be different runs", in->side, path);
			return CMD_WRONG_USAGE;
		}
	in->item = arena_grow(arena, in->item, in->n, in->n + 1, sizeof *in->item);
	in->item[in->n++] = (struct input){.path = path, .file = *file};
	return CMD_DONE;
}

/* Whether a folder's file is worth opening: a SQLite database or something gzipped. What it really is, read_profile
 * says; the reports, notes and .nsys-rep files that lie beside exports are passed over. */
static bool begins_like_a_profile(const char *path)
{
	static const char sqlite[16] = "SQLite format 3", gzip[2] = "\x1f\x8b";
	char head[sizeof sqlite] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return true; /* so that reading it gives the reason */
	ssize_t n = read(fd, head, sizeof head);
	close(fd);
	return (n == sizeof head && !memcmp(head, sqlite, sizeof sqlite)) ||
	       (n >= (ssize_t)sizeof gzip && !memcmp(head, gzip, sizeof gzip));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_folder(struct inputs *in, const char *folder, struct arena *arena, struct err *err)
{
	DIR *dir = opendir(folder);
	if (!dir) {
		err_set(err, "%s: %s", folder, strerror(errno));
		return CMD_BAD_PROFILE;
	}
	struct opt_list found = {0};
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat file;
		if (entry->d_name[0] == '.')
			continue;
		const char *path = arena_format(arena, "%s%s%s", folder, slash, entry->d_name);
		if (stat(path, &file) || !S_ISREG(file.st_mode) || !begins_like_a_profile(path))
			continue;
		found.item = arena_grow(arena, found.item, found.n, found.n + 1, sizeof *found.item);
		found.item[found.n++] = path;
	}
	closedir(dir);
	if (found.n)
		qsort(found.item, found.n, sizeof *found.item, by_text);
	int status = CMD_DONE;
	for (size_t i = 0; i < found.n && !status; i++) {
		struct stat file = {0};
		if (!stat(found.item[i], &file))
			status = add(in, found.item[i], &file, arena, err);
	}
	if (!found.n) {
		err_set(err,
		        "%s: no profile in this folder; wanted are SQLite exports, plain or gzipped "
		        "(nsys export --type sqlite makes them from .nsys-rep files)",
		        folder);
		return CMD_BAD_PROFILE;
	}
	return status;
}

static int add_path(struct inputs *in, const char *path, struct arena *arena, struct err *err)
{
	struct stat file;
	if (stat(path, &file)) {
		err_set(err, "%s: %s", path, errno == ENOENT ? "there is no such file" : strerror(errno));
		return CMD_BAD_PROFILE;
	}
	return S_ISDIR(file.st_mode) ? add_folder(in, path, arena, err) : add(in, path, &file, arena, err);
}

static int add_pattern(struct inputs *in, const char *pattern, struct arena *arena, struct err *err)
{
	glob_t matches = {0};
	int rc = glob(pattern, 0, NULL, &matches), status = CMD_DONE;
	if (rc) {
		err_set(err, "%s: %s", pattern,
		        rc == GLOB_NOMATCH ? "no file matches this pattern" : "cannot be searched");
		status = CMD_BAD_PROFILE;
	}
	for (size_t i = 0; !rc && i < matches.gl_pathc && !status; i++) {
		const char *path = arena_copy(arena, matches.gl_pathv[i], strlen(matches.gl_pathv[i]));
		status = add_path(in, path, arena, err);
	}
	globfree(&matches);
	return status;
}

int inputs_find(struct inputs *inputs, const char *side, const struct opt_list *given, struct arena *arena,
                struct err *err)
{
	int status = CMD_DONE;
	*inputs = (struct inputs){.side = side};
	for (size_t i = 0; i < given->n && !status; i++) {
		const char *path = given->item[i];
		struct stat file;
		bool pattern = stat(path, &file) && errno == ENOENT && strpbrk(path, "*?[");
		status = pattern ? add_pattern(inputs, path, arena, err) : add_path(inputs, path, arena, err);
	}
	return status;
}

/* ---- reading ---- */

void progress_init(struct progress *progress, bool quiet, size_t of)
{
	const char *term = getenv("TERM");
	bool rewritable = term && strcmp(term, "dumb") && isatty(STDERR_FILENO);
	*progress = (struct progress){!quiet && rewritable, 0, of};
}

int inputs_read(struct inputs *inputs, struct names *names, struct arena *arena, struct progress *progress,
                struct err *err)
{
	for (size_t i = 0; i < inputs->n; i++) {
		struct input *in = &inputs->item[i];
		progress->done++;
		if (progress->on)
			fprintf(stderr, "\r\033[Kreading %zu of %zu: %.60s", progress->done, progress->of,
			        cmd_harmless(arena, in->path));
		int rc = read_profile(in->path, names, arena, &in->trace, err);
		if (progress->on)
			fputs("\r\033[K", stderr);
		if (rc)
			return -1;
	}
	return 0;
}
