#include "capture/place.h"

#include "capture/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WIDEST_PID = 4194304 }; /* the most digits that %p can take (PID_MAX_LIMIT) */

static bool has_pid(const char *pattern)
{
	for (const char *at = pattern; (at = strchr(at, '%')) && at[1]; at += 2)
		if (at[1] == 'p')
			return true;
	return false;
}

static int check(const char *pattern, const char *name, bool replace, struct arena *arena, struct err *err)
{
	const char *slash = strrchr(name, '/');
	if (slash ? !slash[1] : !*name)
		return err_set(err, "%s: names a folder; name a file in it", name);
	const char *widest = command_file_name(pattern, WIDEST_PID, arena, err);
	if (!widest)
		return -1;
	if (access(widest, F_OK) && errno == ENAMETOOLONG)
		return err_set_id(err, err_id_of(errno), "%s: %s", name, err_reason(errno));
	if (!replace && !has_pid(pattern) && !access(name, F_OK))
		return err_set(err, "%s: exists already; --force replaces it", name);
	return 0;
}

const char *place_name(const char *pattern, bool replace, struct arena *arena, struct err *err)
{
	const char *name = command_file_name(pattern, 0, arena, err);
	return name && check(pattern, name, replace, arena, err) == 0 ? name : NULL;
}

/* Without replacing what is there, on file systems that cannot do both at once, too. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -1;
	if (!access(to, F_OK)) {
		errno = EEXIST;
		return -1;
	}
	return rename(from, to);
}

const char *place_profile(const char *profile, const char *pattern, pid_t pid, bool replace, const char **other,
                          struct arena *arena, struct err *err)
{
	const char *name = command_file_name(pattern, pid, arena, err), *to = name;
	*other = NULL;
	if (!name)
		return NULL;
	int rc = replace ? rename(profile, to) : rename_new(profile, to);
	for (int i = 2; rc && errno == EEXIST && i < 1000; i++) {
		to = arena_format(arena, "%s.%d", name, i);
		rc = rename_new(profile, to);
	}
	if (rc) {
		err_set_id(err, err_id_of(errno), "%s: %s", to, err_reason(errno));
		return NULL;
	}
	*other = to != name ? name : NULL;
	return to;
}
