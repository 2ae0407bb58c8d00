#include "capture/python_ranges.h"

#include "base/file.h"
#include "capture/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "python/sitecustomize.py"
#define REPORT "ranges"

static const char *report_file(const char *folder, struct arena *arena)
{
	return arena_format(arena, "%s/" REPORT, folder);
}

/* The folder of the module; NULL: it is not here. */
static const char *module_folder(struct arena *arena)
{
	const char *path = find_library(MODULE, arena);
	return path ? arena_copy(arena, path, (size_t)(strrchr(path, '/') - path)) : NULL;
}

/* The first line of the program, for a script that says who runs it. */
static bool runs_python(const char *path)
{
	char line[256] = "";
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	bool script = fgets(line, sizeof line, file) && !memcmp(line, "#!", 2) && strstr(line, "python");
	fclose(file);
	return script;
}

static bool is_python(const char *command, struct arena *arena)
{
	const char *name = file_name(command);
	if (!strncmp(name, "python", 6) || !strncmp(name, "pypy", 4))
		return true;
	const char *path = find_on_path(command, arena);
	return path && runs_python(path);
}

int python_ranges_wanted(enum ranges_how how, const char *const *command, bool *wanted, struct arena *arena,
                         struct err *err)
{
	*wanted =
		how == RANGES_PYTORCH || how == RANGES_MODULES || (how == RANGES_AUTO && is_python(command[0], arena));
	if (!*wanted || module_folder(arena))
		return 0;
	*wanted = false;
	if (how == RANGES_AUTO)
		return 0;
	return err_set(err,
	               "--annotate %s: gapline's Python module is not installed beside it (inject/" MODULE
	               " or ../lib/gapline/" MODULE ")",
	               how == RANGES_MODULES ? "modules" : "pytorch");
}

const char *const *python_ranges_environment(const char *const *environment, const char *folder, bool modules,
                                             struct arena *arena)
{
	size_t n = 0;
	while (environment && environment[n])
		n++;
	const char **all = ARENA_NEW(arena, n + 3, const char *), *path = getenv("PYTHONPATH");
	if (n)
		memcpy(all, environment, n * sizeof *all);
	all[n++] = arena_format(arena, "PYTHONPATH=%s%s%s", module_folder(arena), path ? ":" : "", path ? path : "");
	all[n++] = arena_format(arena, "GAPLINE_RANGES=%s%s", modules ? "modules:" : "", report_file(folder, arena));
	return all;
}

void python_ranges_read(const char *folder, struct arena *arena, struct python_ranges *out)
{
	*out = (struct python_ranges){0};
	char line[512];
	FILE *file = fopen(report_file(folder, arena), "r");
	while (file && fgets(line, sizeof line, file)) {
		char *end;
		out->steps += strtoll(line, &end, 10);
		out->own_ns += strtoll(end, &end, 10);
		while (*end == ' ')
			end++;
		end[strcspn(end, "\n")] = 0;
		if (*end && !out->error)
			out->error = arena_copy(arena, end, strlen(end));
	}
	if (file)
		fclose(file);
}
