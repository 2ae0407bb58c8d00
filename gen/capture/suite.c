#include "capture/suite.h"

#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LOCK_NAME[] = ".lock";

const char *suite_side_key(int n_sides, int side)
{
	static const char *const keys[SUITE_SIDES_MOST] = {"baseline",  "variant-2", "variant-3", "variant-4",
	                                                   "variant-5", "variant-6", "variant-7", "variant-8"};
	return n_sides == 2 && side == SUITE_FIXED ? "fixed" : keys[side];
}

const char *suite_side_name(const struct suite *suite, int side)
{
	return suite->name[side] ? suite->name[side] : suite_side_key(suite->n_sides, side);
}

const char *suite_run_kind(const struct suite_run *run)
{
	return run->nodes ? "nodes" : run->stopwatch ? "stopwatch" : "recorded";
}

/* ---- the order ---- */

/* Where nobody knows how many timed runs it takes, the recorded ones come as if they were so many, which are made
 * in any case; where the time may not do for all, so many come before each further recorded one. */
enum { SPREAD_OVER = 4 };

/* The side, number and kind of run `i` of the plan. */
static struct suite_run planned(const struct suite *suite, size_t i)
{
	const int n = suite->n_sides, place = (int)(i % (size_t)n);
	const int over = suite->limited ? suite->recorded * SPREAD_OVER : suite->looks ? SPREAD_OVER : suite->repeat;
	int rounds[2] = {0, 0};
	bool stopwatch = false;
	for (size_t round = 0; round <= i / (size_t)n; round++) {
		bool due = rounds[0] < suite->recorded &&
		           (rounds[1] >= suite->repeat || rounds[1] * suite->recorded >= rounds[0] * over);
		stopwatch = !due;
		rounds[stopwatch]++;
	}
	const int before = rounds[stopwatch] - 1, forth = (before + stopwatch) % 2 ? n - 1 - place : place;
	return (struct suite_run){.side = (forth + before / 2 * 2) % n, .number = before + 1, .stopwatch = stopwatch};
}

static bool is_done(const struct suite *suite, const struct suite_run *run)
{
	for (size_t i = 0; i < suite->n_runs; i++)
		if (suite->runs[i].side == run->side && suite->runs[i].number == run->number &&
		    suite->runs[i].stopwatch == run->stopwatch)
			return true;
	return false;
}

static size_t positions(const struct suite *suite)
{
	return (size_t)suite->n_sides * (size_t)(suite->recorded + suite->repeat);
}

size_t suite_done(const struct suite *suite)
{
	size_t done = 0;
	for (size_t i = 0; i < positions(suite); i++) {
		struct suite_run run = planned(suite, i);
		done += is_done(suite, &run);
	}
	for (int s = 0; s < suite->n_sides; s++)
		done += suite->nodes[s].profile != NULL;
	return done;
}

bool suite_next_nodes(const struct suite *suite, int side, bool logged, struct suite_run *next)
{
	if (!suite->graphs_whole[side] || suite->nodes[side].profile)
		return false;
	const char *key = suite_side_key(suite->n_sides, side);
	*next = (struct suite_run){.side = side,
	                           .number = 1,
	                           .nodes = true,
	                           .profile = arena_format(suite->arena, "nodes-%s.sqlite", key),
	                           .log = logged ? arena_format(suite->arena, "nodes-%s.log", key) : NULL,
	                           .complete = ""};
	return true;
}

bool suite_ahead(const struct suite *suite, size_t *i, struct suite_run *run)
{
	while (*i < positions(suite)) {
		*run = planned(suite, (*i)++);
		if (!is_done(suite, run) && !(run->stopwatch && suite->no_stopwatch))
			return true;
	}
	return false;
}

size_t suite_total(const struct suite *suite)
{
	struct suite_run run;
	size_t i = 0, n = suite_done(suite);
	while (suite_ahead(suite, &i, &run))
		n++;
	for (int s = 0; s < suite->n_sides; s++)
		n += suite_next_nodes(suite, s, false, &run);
	return n;
}

bool suite_next(const struct suite *suite, bool logged, struct suite_run *next)
{
	size_t i = 0;
	if (!suite_ahead(suite, &i, next))
		return false;
	const char *side = suite_side_key(suite->n_sides, next->side);
	next->profile = next->stopwatch ? NULL : arena_format(suite->arena, "%s-%d.sqlite", side, next->number);
	next->log = logged ? arena_format(suite->arena, "%s-%d%s.log", side, next->number,
	                                  next->stopwatch ? ".stopwatch" : "")
	                   : NULL;
	next->complete = "";
	return true;
}

size_t suite_rounds(const struct suite *suite, bool stopwatch)
{
	size_t rounds = 0;
	for (int number = 1; number <= (stopwatch ? suite->repeat : suite->recorded); number++) {
		struct suite_run run = {.number = number, .stopwatch = stopwatch};
		while (run.side < suite->n_sides && is_done(suite, &run))
			run.side++;
		rounds += run.side == suite->n_sides;
	}
	return rounds;
}

size_t suite_used(const struct suite *suite, int side)
{
	size_t used = 0;
	for (size_t i = 0; i < suite->n_runs; i++)
		used += suite->runs[i].side == side && suite->runs[i].stopwatch && !suite->runs[i].timed.unused;
	return used;
}

size_t suite_count(const struct suite *suite, int side)
{
	size_t n = 0;
	for (size_t i = 0; i < suite->n_runs; i++)
		n += suite->runs[i].side == side && suite->runs[i].stopwatch;
	return n;
}

void suite_forget_stopwatch(struct suite *suite)
{
	size_t kept = 0;
	for (size_t i = 0; i < suite->n_runs; i++)
		if (!suite->runs[i].stopwatch)
			suite->runs[kept++] = suite->runs[i];
	suite->n_runs = kept;
}

void suite_add(struct suite *suite, const struct suite_run *run)
{
	suite->runs = arena_grow(suite->arena, suite->runs, suite->n_runs, suite->n_runs + 1, sizeof *suite->runs);
	suite->runs[suite->n_runs++] = *run;
}

const struct suite_run *suite_first(const struct suite *suite, int side)
{
	for (size_t i = 0; i < suite->n_runs; i++)
		if (suite->runs[i].side == side && suite->runs[i].number == 1 && !suite->runs[i].stopwatch)
			return &suite->runs[i];
	return NULL;
}

/* ---- files ---- */

/* What follows a side's key in the name of one of its files: ".sqlite" of "baseline-2.sqlite" and of
 * "nodes-baseline.sqlite". NULL: it is none of this side. */
static const char *behind_key(const char *name, const char *key)
{
	static const char *const fronts[] = {"discarded-" /* of gapline 0.1 */, "nodes-"};
	size_t n = strlen(key);
	int number, end = 0;
	for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
		size_t front = strlen(fronts[i]);
		if (!strncmp(name, fronts[i], front))
			return strncmp(name + front, key, n) ? NULL : name + front + n;
	}
	if (strncmp(name, key, n) || sscanf(name + n, "-%d%n", &number, &end) != 1 || number < 1)
		return NULL;
	return name + n + end;
}

/* Whether a suite writes files of this name, those that a killed gapline left behind included. */
static bool is_ours(const char *name)
{
	static const char *const fixed_names[] = {"run.json", "report.html", "report.json"};
	static const char *const endings[] = {".log", ".stopwatch.log", ".unprofiled.log", ".sqlite",
	                                      ".sqlite-journal"};
	if (!strcmp(name, LOCK_NAME))
		return true;
	for (size_t i = 0; i < sizeof fixed_names / sizeof *fixed_names; i++)
		if (!strcmp(name, fixed_names[i]) ||
		    (*name == '.' && !strncmp(name + 1, fixed_names[i], strlen(fixed_names[i]))))
			return true;
	const char *at = name + (*name == '.');
	for (int s = -1; s < SUITE_SIDES_MOST; s++) {
		const char *key = s < 0 ? suite_side_key(2, SUITE_FIXED) : suite_side_key(SUITE_SIDES_MOST, s);
		const char *rest = behind_key(at, key);
		if (!rest)
			continue;
		if (*name == '.' && (!strncmp(rest, ".sqlite.", 8) || !strncmp(rest, ".stopwatch.", 11)))
			return true;
		for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
			if (!strcmp(rest, endings[i]))
				return *name != '.' || i == 4;
	}
	return false;
}

int suite_look(const char *folder, struct suite_folder *found, struct arena *arena, struct err *err)
{
	*found = (struct suite_folder){0};
	DIR *dir = opendir(folder);
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return err_set_id(err, err_id_of(errno), "%s: %s", folder, err_reason(errno));
	found->exists = true;
	size_t n_ours = 0;
	const char *ours = NULL;
	for (struct dirent *entry; (entry = readdir(dir));) {
		const char *name = entry->d_name;
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		found->has_run = found->has_run || !strcmp(name, "run.json");
		if (!is_ours(name) && !found->n_others++)
			found->other = arena_copy(arena, name, strlen(name));
		else if (is_ours(name) && *name != '.' && !n_ours++)
			ours = arena_copy(arena, name, strlen(name));
	}
	closedir(dir);
	if (n_ours && !found->has_run) { /* a suite begins with run.json: these only have the same names */
		found->n_others += n_ours;
		found->other = ours;
	}
	return 0;
}

static int make_folder(const char *folder, struct err *err)
{
	if (!mkdir(folder, 0777) || errno == EEXIST)
		return 0;
	return errno == ENOENT ? err_set(err, "%s: %s; the folder that it is to lie in has to be there", folder,
	                                 strerror(errno))
	                       : err_set_id(err, err_id_of(errno), "%s: %s", folder, err_reason(errno));
}

int suite_clear(const char *folder, struct err *err)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return err_set_id(err, err_id_of(errno), "%s: %s", folder, err_reason(errno));
	ARENA_LOCAL(arena);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_ours(entry->d_name) && strcmp(entry->d_name, LOCK_NAME) != 0)
			folder_remove(arena_format(&arena, "%s/%s", folder, entry->d_name));
	closedir(dir);
	return 0;
}

/* ---- one at a time ---- */

/* The file is the one that has the name now: whoever had it may have removed it since it was opened. */
static bool is_current(int fd, const char *path)
{
	struct stat open_one, named;
	return !fstat(fd, &open_one) && !stat(path, &named) && open_one.st_dev == named.st_dev &&
	       open_one.st_ino == named.st_ino;
}

static int refuse(const char *folder, int fd, struct err *err)
{
	char who[32] = "";
	ssize_t n = pread(fd, who, sizeof who - 1, 0);
	long pid = n > 0 ? strtol(who, NULL, 10) : 0;
	close(fd);
	if (pid > 0)
		return err_set_id(err, ERR_OCCUPIED, "%s: another gapline run, process %ld, is writing into it", folder,
		                  pid);
	return err_set_id(err, ERR_OCCUPIED, "%s: another gapline run is writing into it", folder);
}

int suite_lock(const char *folder, struct arena *arena, struct err *err)
{
	const char *path = arena_format(arena, "%s/%s", folder, LOCK_NAME);
	if (make_folder(folder, err))
		return -1;
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd < 0)
			return err_set_id(err, err_id_of(errno), "%s: %s", errno == ENOTDIR ? folder : path,
			                  err_reason(errno));
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
			return refuse(folder, fd, err);
		if (!is_current(fd, path)) {
			close(fd);
			continue;
		}
		if (ftruncate(fd, 0) || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
			err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
			close(fd);
			return -1;
		}
		return fd;
	}
}

void suite_unlock(const char *folder, int lock, struct arena *arena)
{
	unlink(arena_format(arena, "%s/%s", folder, LOCK_NAME));
	close(lock);
}
