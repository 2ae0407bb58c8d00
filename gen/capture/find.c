#include "capture/find.h"

#include "capture/spool.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
	struct stat file;
	return !stat(path, &file) && S_ISREG(file.st_mode);
}

static const char *folder_part(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/');
	return slash ? arena_copy(arena, path, (size_t)(slash - path)) : ".";
}

const char *find_self(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);
	return n > 0 && n < (ssize_t)sizeof path ? arena_copy(arena, path, (size_t)n) : NULL;
}

/* Calls `look` with every part of a list like PATH until it returns something. */
static const char *look_in_list(const char *list, const char *(*look)(const char *folder, const char *, struct arena *),
                                const char *name, struct arena *arena)
{
	const char *found = NULL;
	for (const char *at = list; at && *at && !found;) {
		size_t n = strcspn(at, ":");
		found = n ? look(arena_copy(arena, at, n), name, arena) : NULL;
		at += n + (at[n] == ':');
	}
	return found;
}

static const char *look_for_command(const char *folder, const char *name, struct arena *arena)
{
	const char *path = arena_format(arena, "%s/%s", folder, name);
	return is_file(path) && !access(path, X_OK) ? path : NULL;
}

const char *find_on_path(const char *command, struct arena *arena)
{
	if (strchr(command, '/'))
		return is_file(command) && !access(command, X_OK) ? command : NULL;
	return look_in_list(getenv("PATH"), look_for_command, command, arena);
}

/* ---- patterns ---- */

/* The match with the highest version in its name, NULL if there is none. */
static const char *look_for_pattern(const char *pattern, struct arena *arena)
{
	glob_t matches = {0};
	const char *best = NULL;
	if (!glob(pattern, 0, NULL, &matches))
		for (size_t i = 0; i < matches.gl_pathc; i++)
			if (is_file(matches.gl_pathv[i]) && (!best || strverscmp(matches.gl_pathv[i], best) > 0))
				best = matches.gl_pathv[i];
	if (best)
		best = arena_copy(arena, best, strlen(best));
	globfree(&matches);
	return best;
}

const char *find_nsys(struct arena *arena)
{
	static const char *const patterns[] = {
		"/opt/nvidia/nsight-systems*/bin/nsys",
		"/opt/nvidia/nsight-systems*/*/bin/nsys",
		"/opt/nvidia/nsight-systems*/*/target-linux-x64/nsys",
		"/usr/local/cuda*/bin/nsys",
		"/opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys",
		"/usr/local/cuda*/nsight-compute*/host/target-linux-x64/nsys",
	};
	const char *named = getenv("GAPLINE_NSYS");
	if (named && *named)
		return find_on_path(named, arena);
	const char *found = find_on_path("nsys", arena);
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !found; i++)
		found = look_for_pattern(patterns[i], arena);
	return found;
}

const char *find_library(const char *name, struct arena *arena)
{
	static const char *const places[] = {"inject", "../lib/gapline"};
	const char *self = find_self(arena);
	for (size_t i = 0; self && i < sizeof places / sizeof *places; i++) {
		const char *path = arena_format(arena, "%s/%s/%s", folder_part(self, arena), places[i], name);
		char *real = is_file(path) ? realpath(path, NULL) : NULL;
		if (!real)
			continue;
		path = arena_copy(arena, real, strlen(real));
		free(real);
		return path;
	}
	return NULL;
}

/* ---- CUPTI ---- */

static const char *look_for_cupti(const char *folder, const char *pattern, struct arena *arena)
{
	return look_for_pattern(arena_format(arena, "%s/%s", folder, pattern), arena);
}

/* pip's packages of CUDA 12 and 13, in the installation whose folder of commands is `bin`. A virtual environment's
 * python is a link, and its packages lie beside the link. */
static const char *look_in_python(const char *bin, struct arena *arena)
{
	static const char *const patterns[] = {
		"../lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so*",
		"../lib/python3*/site-packages/nvidia/cu1*/lib/libcupti.so*",
		"../lib/python3*/dist-packages/nvidia/cuda_cupti/lib/libcupti.so*",
		"../lib/python3*/dist-packages/nvidia/cu1*/lib/libcupti.so*",
		"../local/lib/python3*/dist-packages/nvidia/cuda_cupti/lib/libcupti.so*",
		"../local/lib/python3*/dist-packages/nvidia/cu1*/lib/libcupti.so*",
		"../lib/libcupti.so*", /* conda */
	};
	const char *found = NULL;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !found; i++)
		found = look_for_cupti(bin, patterns[i], arena);
	return found;
}

const char *find_cupti(const char *command, struct arena *arena)
{
	static const char *const patterns[] = {
		"/usr/local/cuda/lib64/libcupti.so*",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so*",
		"/usr/local/cuda*/lib64/libcupti.so*",
		"/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
		"/usr/local/cuda*/targets/*/lib/libcupti.so*",
		"/usr/lib/*-linux-gnu/libcupti.so*",
		"/usr/lib64/libcupti.so*",
	};
	const char *named = getenv(SPOOL_ENV_CUPTI);
	const char *found = named && *named ? named : NULL;
	if (!found)
		found = look_in_list(getenv("LD_LIBRARY_PATH"), look_for_cupti, "libcupti.so*", arena);
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !found; i++)
		found = look_for_pattern(patterns[i], arena);
	const char *commands[] = {command, "python3", "python"};
	for (size_t i = 0; i < sizeof commands / sizeof *commands && !found; i++) {
		const char *path = find_on_path(commands[i], arena);
		found = path ? look_in_python(folder_part(path, arena), arena) : NULL;
	}
	return found;
}
