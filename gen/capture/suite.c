#include "capture/suite.h"

#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const suite_side_names[2] = {"baseline", "fixed"};

/* ---- the order ---- */

static const char *file_name(const struct suite *suite, enum suite_side side, int number, const char *ending)
{
	if (!number)
		return arena_format(suite->arena, "discarded-%s.%s", suite_side_names[side], ending);
	return arena_format(suite->arena, "%s-%d.%s", suite_side_names[side], number, ending);
}

/* Pairs of unprofiled runs. */
static size_t unprofiled_pairs(const struct suite *suite)
{
	int pairs = suite->unprofiled < suite->repeat ? suite->unprofiled : suite->repeat;
	return suite->steps == SUITE_NO_STEPS || pairs < 0 ? 0 : (size_t)pairs;
}

/* The side, number and kind of run `i` of the plan. */
static struct suite_run planned(const struct suite *suite, size_t i)
{
	size_t discarded = suite->steps == SUITE_NO_STEPS ? 2 : 0, both = 2 * unprofiled_pairs(suite);
	if (i < discarded)
		return (struct suite_run){.side = i ? SUITE_FIXED : SUITE_BASELINE, .number = 0};
	size_t pair = (i - discarded) / 2, second = (i - discarded) % 2;
	bool unprofiled = pair < both && pair % 2;
	size_t number = pair < both ? pair / 2 : pair - both / 2; /* from 0 */
	return (struct suite_run){.side = (number + unprofiled + second) % 2 ? SUITE_FIXED : SUITE_BASELINE,
	                          .number = (int)number + 1,
	                          .unprofiled = unprofiled};
}

static bool is_done(const struct suite *suite, const struct suite_run *run)
{
	for (size_t i = 0; i < suite->n_runs; i++)
		if (suite->runs[i].side == run->side && suite->runs[i].number == run->number &&
		    suite->runs[i].unprofiled == run->unprofiled)
			return true;
	return false;
}

size_t suite_total(const struct suite *suite)
{
	return (size_t)suite->repeat * 2 + unprofiled_pairs(suite) * 2 + (suite->steps == SUITE_NO_STEPS ? 2 : 0);
}

size_t suite_done(const struct suite *suite)
{
	size_t done = 0;
	for (size_t i = 0; i < suite_total(suite); i++) {
		struct suite_run run = planned(suite, i);
		done += is_done(suite, &run);
	}
	return done;
}

bool suite_next(const struct suite *suite, bool logged, struct suite_run *next)
{
	for (size_t i = 0; i < suite_total(suite); i++) {
		*next = planned(suite, i);
		if (is_done(suite, next))
			continue;
		next->profile = file_name(suite, next->side, next->number, "sqlite");
		next->log =
			logged ? file_name(suite, next->side, next->number, next->unprofiled ? "unprofiled.log" : "log")
			       : NULL;
		next->complete = "";
		return true;
	}
	return false;
}

bool suite_has_pair(const struct suite *suite)
{
	const struct suite_run first[] = {{.side = SUITE_BASELINE, .number = 1}, {.side = SUITE_FIXED, .number = 1}};
	return is_done(suite, &first[0]) && is_done(suite, &first[1]);
}

void suite_add(struct suite *suite, const struct suite_run *run)
{
	suite->runs = arena_grow(suite->arena, suite->runs, suite->n_runs, suite->n_runs + 1, sizeof *suite->runs);
	suite->runs[suite->n_runs++] = *run;
}

/* ---- files ---- */

static int move(const struct suite *suite, const char *from, const char *to, struct err *err)
{
	const char *old = arena_format(suite->arena, "%s/%s", suite->folder, from);
	if (!rename(old, arena_format(suite->arena, "%s/%s", suite->folder, to)))
		return 0;
	return err_set(err, "%s: cannot be renamed to %s: %s", old, to, strerror(errno));
}

int suite_discard_first(struct suite *suite, struct err *err)
{
	suite->steps = SUITE_NO_STEPS;
	for (size_t i = 0; i < suite->n_runs; i++) {
		struct suite_run *run = &suite->runs[i];
		if (run->number != 1)
			continue;
		const char *profile = file_name(suite, run->side, 0, "sqlite"),
			   *log = file_name(suite, run->side, 0, "log");
		if (move(suite, run->profile, profile, err) || (run->log && move(suite, run->log, log, err)))
			return -1;
		run->number = 0;
		run->profile = profile;
		run->log = run->log ? log : NULL;
	}
	return 0;
}

/* Whether a suite writes files of this name, those that a killed gapline left behind included. */
static bool is_ours(const char *name)
{
	static const char *const fixed_names[] = {"run.json", "report.html", "report.json"};
	int number, end = 0;
	for (size_t i = 0; i < sizeof fixed_names / sizeof *fixed_names; i++)
		if (!strcmp(name, fixed_names[i]) ||
		    (*name == '.' && !strncmp(name + 1, fixed_names[i], strlen(fixed_names[i]))))
			return true;
	const char *at = name + (*name == '.');
	for (size_t s = 0; s < 2; s++) {
		size_t n = strlen(suite_side_names[s]);
		const char *rest = !strncmp(at, "discarded-", 10) ? at + 10 : at;
		if (strncmp(rest, suite_side_names[s], n))
			continue;
		if (rest == at && (sscanf(rest + n, "-%d%n", &number, &end) != 1 || number < 1))
			continue;
		rest += n + (rest == at ? (size_t)end : 0);
		rest += strncmp(rest, ".unprofiled", 11) ? 0 : 11;
		if (!strcmp(rest, ".log") || !strcmp(rest, ".sqlite-journal") ||
		    (*name == '.' ? !strncmp(rest, ".sqlite.", 8) : !strcmp(rest, ".sqlite")))
			return true;
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
		return err_set(err, "%s: %s", folder, strerror(errno));
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

int suite_clear(const char *folder, struct err *err)
{
	DIR *dir = opendir(folder);
	if (!dir) {
		if (errno != ENOENT || mkdir(folder, 0777))
			return err_set(err, "%s: %s%s", folder, strerror(errno),
			               errno == ENOENT ? "; the folder that it is to lie in has to be there" : "");
		return 0;
	}
	struct arena arena = {0};
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_ours(entry->d_name))
			folder_remove(arena_format(&arena, "%s/%s", folder, entry->d_name));
	closedir(dir);
	arena_release(&arena);
	return 0;
}
