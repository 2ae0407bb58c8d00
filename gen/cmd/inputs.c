#include "cmd/inputs.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/opt.h"
#include "base/sort.h"
#include "base/unpack.h"
#include "cmd/page.h"
#include "cmd/saving.h"
#include "read/digest.h"
#include "read/kineto.h"
#include "read/source.h"
#include "say/say.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

/* ---- finding ---- */

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);
	return n > m && !strcmp(name + n - m, ending);
}

static bool is_younger(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
	       (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec > b->st_mtim.tv_nsec);
}

static const char *const EXPORT_ENDINGS[] = {".sqlite", ".sqlite.gz", ".sqlite.zst"};
enum { N_EXPORT_ENDINGS = sizeof EXPORT_ENDINGS / sizeof *EXPORT_ENDINGS };

/* The youngest export that lies beside a report, by the names that nsys and gapline's own advice give it. NULL: none.
 */
static const char *find_export(const char *path, struct stat *file, struct arena *arena)
{
	const char *found = NULL;
	int stem = (int)(strrchr(path, '.') - path);
	for (size_t i = 0; i < (size_t)2 * N_EXPORT_ENDINGS; i++) {
		struct stat beside;
		const char *name = i % 2 ? arena_format(arena, "%s%s", path, EXPORT_ENDINGS[i / 2])
		                         : arena_format(arena, "%.*s%s", stem, path, EXPORT_ENDINGS[i / 2]);
		if (stat(name, &beside) || !S_ISREG(beside.st_mode))
			continue;
		if (!found || is_younger(&beside, file)) {
			found = name;
			*file = beside;
		}
	}
	return found;
}

/* The report that an export was made of by its name, if that lies beside it and was recorded anew since. NULL: none. */
static const char *find_younger_report(const char *path, const struct stat *file, struct arena *arena)
{
	for (size_t i = 0; i < N_EXPORT_ENDINGS; i++) {
		if (!ends_with(path, EXPORT_ENDINGS[i]))
			continue;
		const char *stem = arena_copy(arena, path, strlen(path) - strlen(EXPORT_ENDINGS[i]));
		const char *const names[] = {stem, arena_format(arena, "%s.nsys-rep", stem),
		                             arena_format(arena, "%s.qdrep", stem)};
		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			struct stat report;
			if (read_is_report(names[k]) && !stat(names[k], &report) && S_ISREG(report.st_mode) &&
			    is_younger(&report, file))
				return names[k];
		}
	}
	return NULL;
}

static void list_add(struct opt_list *list, const char *text, struct arena *arena)
{
	LIST_PUT(arena, list->item, list->n, text);
}

static void list_join(struct opt_list *list, const struct opt_list *more, struct arena *arena)
{
	for (size_t i = 0; i < more->n; i++)
		list_add(list, more->item[i], arena);
}

static void add_outdated(struct opt_list *list, const char *export, const char *report, struct arena *arena)
{
	const char *text = SAY(NULL, arena, export_outdated, .export = export, .report = report);
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->item[i], text))
			return;
	list_add(list, text, arena);
}

/* A report stands for the export beside it, unless that is the older one: the report was recorded anew since. */
static const char *export_of(const char *path, const struct stat *file, struct stat *export, struct arena *arena)
{
	const char *found = read_is_report(path) ? find_export(path, export, arena) : NULL;
	return found && !is_younger(file, export) ? found : NULL;
}

static void take_export(struct inputs *in, const char **path, struct stat *file, struct arena *arena)
{
	struct stat export;
	const char *found = export_of(*path, file, &export, arena);
	if (found) {
		*path = found;
		*file = export;
	} else if (read_is_report(*path) && (found = find_export(*path, &export, arena))) {
		add_outdated(&in->outdated, found, *path, arena);
	}
}

static int add(struct inputs *in, const char *path, const struct stat *file, struct arena *arena, struct err *err)
{
	if (!in->numbers.arena)
		keymap_init(&in->numbers, arena);
	bool alike = keymap_find(&in->numbers, file->st_ino) != UINT32_MAX;
	keymap_add(&in->numbers, file->st_ino);
	for (size_t i = 0; i < in->n && alike; i++)
		if (!in->item[i].saved && in->item[i].file.st_dev == file->st_dev &&
		    in->item[i].file.st_ino == file->st_ino)
			return CMD_ERROR(CMD_WRONG_USAGE, err,
			                 "%s side: %s is given twice; repeats have to be different runs", in->side,
			                 path);
	LIST_PUT(arena, in->item, in->n,
	         (struct input){.path = path, .file = *file, .bytes = file->st_size, .folder = in->folder});
	return CMD_DONE;
}

/* ---- folders ---- */

static bool is_named_like_an_export(const char *name)
{
	return ends_with(name, ".sqlite") || ends_with(name, ".sqlite.gz") || ends_with(name, ".sqlite.zst") ||
	       ends_with(name, ".db");
}

/* An nsys report without an export of what it holds now: a run that would vanish. Beside that it is the same run again.
 */
static bool is_report_without_export(const char *path, const struct stat *file, struct arena *arena)
{
	struct stat export;
	return read_is_report(path) && !export_of(path, file, &export, arena);
}

/* Whether it is a SQLite database, a PyTorch trace or something packed, whatever its name. */
static bool begins_like_a_profile(const char *path)
{
	struct file_head head;
	struct err ignored; /* reading it gives the reason */
	return file_look(path, &head, &ignored) < 0 || source_is_sqlite(&head) ||
	       packing_of(head.data, head.n) != PACKING_NONE || digest_recognise(&head) ||
	       kineto_looks_like_trace(&head);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_sort(struct opt_list *list)
{
	SORT(list->item, list->n, by_text);
}

/* What lies in a folder: profiles, exports of which the report was recorded anew since, and anything else. */
struct contents {
	struct opt_list profiles, outdated, others;
};

static void contents_add(struct contents *in, const char *path, struct arena *arena)
{
	struct stat file;
	bool there = !stat(path, &file);
	const char *report = there ? find_younger_report(path, &file, arena) : NULL;
	bool named = is_named_like_an_export(path) || (there && is_report_without_export(path, &file, arena));
	if (report)
		add_outdated(&in->outdated, path, report, arena);
	else if (there && S_ISDIR(file.st_mode))
		list_add(&in->others, arena_format(arena, "%s/", path), arena);
	else if (there && S_ISREG(file.st_mode) ? named || begins_like_a_profile(path) : named)
		list_add(&in->profiles, path, arena);
	else
		list_add(&in->others, path, arena);
}

/* What only looks like a profile is kept, so that reading it gives the reason: a capture that failed must not vanish
 * from the runs without a word. */
static int add_folder(struct inputs *in, const char *folder, struct arena *arena, struct err *err)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return CMD_ERROR_ID(CMD_BAD_PROFILE, err, err_id_of(errno), "%s: %s", folder, err_reason(errno));
	struct contents found = {0};
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			contents_add(&found, arena_format(arena, "%s%s%s", folder, slash, entry->d_name), arena);
	closedir(dir);
	list_sort(&found.profiles);
	list_sort(&found.others);
	list_sort(&found.outdated);
	in->folder = in->n_folders++;
	list_join(&in->passed_over, &found.others, arena);
	list_join(&in->outdated, &found.outdated, arena);
	int status = CMD_DONE;
	for (size_t i = 0; i < found.profiles.n && !status; i++) {
		const char *path = found.profiles.item[i];
		struct stat file;
		if (!stat(path, &file)) {
			status = add(in, path, &file, arena, err);
			continue;
		}
		status = CMD_ERROR_ID(CMD_BAD_PROFILE, err, err_id_of(errno), "%s: %s", path,
		                      errno == ENOENT ? "links to a file that does not exist" : err_reason(errno));
	}
	in->folder = TRACE_NONE;
	if (!found.profiles.n) {
		BUF_LOCAL(word);
		buf_word(&word, folder, "");
		return CMD_ERROR_ID(
			CMD_BAD_PROFILE, err, ERR_MISSING,
			"%s: no profile in this folder; wanted are SQLite exports and PyTorch traces, plain or packed "
			"(nsys export --type sqlite makes exports from .nsys-rep files); folders in it are searched "
			"with: find %s -name '*.sqlite*' -o -name '*.json*' -o -name '*.nsys-rep'",
			folder, word.data);
	}
	return status;
}

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

/* Which part of the path is not there, and the name in its folder that was meant, if one is near. -1. */
static int missing(const char *path, struct err *err)
{
	struct stat file;
	BUF_LOCAL(folder);
	BUF_LOCAL(near);
	const char *name = file_name(path);
	size_t n = (size_t)(name - path);
	buf_add(&folder, n ? path : "./", n ? n : 2);
	if (strcmp(path, "-") == 0)
		err_set(err, "%s: standard input is not read; save the profile to a file first", path);
	else if (lstat(path, &file) == 0)
		err_set_id(err, ERR_MISSING, "%s: links to a file that does not exist", path);
	else if (page_is_side(path))
		err_set_id(err, ERR_MISSING,
		           "%s: no such file; sides of reports are for gapline report and gapline history", path);
	else if (stat(folder.data, &file) != 0)
		err_set_id(err, ERR_MISSING, "%s: no such file: the folder %s does not exist", path, folder.data);
	else {
		find_near(folder.data, name, &near);
		if (near.n)
			err_set_id(err, ERR_MISSING, "%s: no such file; did you mean %.*s%s?", path, (int)n, path,
			           near.data);
		else
			err_set_id(err, ERR_MISSING,
			           "%s: no such file; check its name, and the folder that it is looked for in", path);
	}
	return -1;
}

static int add_path(struct inputs *in, const char *path, struct arena *arena, struct err *err)
{
	struct stat file;
	if (stat(path, &file)) {
		if (errno == ENOENT)
			missing(path, err);
		else
			err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
		return CMD_BAD_PROFILE;
	}
	if (S_ISDIR(file.st_mode))
		return add_folder(in, path, arena, err);
	take_export(in, &path, &file, arena);
	return add(in, path, &file, arena, err);
}

static bool matches(const glob_t *found, const char *path)
{
	for (size_t i = 0; i < found->gl_pathc; i++)
		if (!strcmp(found->gl_pathv[i], path))
			return true;
	return false;
}

/* Of a report and its export, where a pattern matches both, the younger one: as in a folder. */
static bool is_matched_twice(struct inputs *in, const glob_t *found, const char *path, struct arena *arena)
{
	struct stat file, export;
	if (stat(path, &file))
		return false;
	const char *other = find_younger_report(path, &file, arena);
	if (other && matches(found, other)) {
		add_outdated(&in->outdated, path, other, arena);
		return true;
	}
	other = export_of(path, &file, &export, arena);
	return other && matches(found, other);
}

static int add_pattern(struct inputs *in, const char *pattern, struct arena *arena, struct err *err)
{
	glob_t found = {0};
	int rc = glob(pattern, 0, NULL, &found), status = CMD_DONE;
	if (rc)
		status = CMD_ERROR_ID(
			CMD_BAD_PROFILE, err, rc == GLOB_NOMATCH ? ERR_MISSING : ERR_UNREADABLE, "%s: %s", pattern,
			rc == GLOB_NOMATCH ? "no file matches this pattern; check it, and the folder that it looks in"
					   : "cannot be searched");
	for (size_t i = 0; !rc && i < found.gl_pathc && !status; i++) {
		const char *path = arena_copy(arena, found.gl_pathv[i], strlen(found.gl_pathv[i]));
		if (!is_matched_twice(in, &found, path, arena))
			status = add_path(in, path, arena, err);
	}
	globfree(&found);
	return status;
}

int inputs_find(struct inputs *inputs, const char *side, const struct opt_list *given, struct arena *arena,
                struct err *err)
{
	return inputs_find_or_saved(inputs, side, given, NULL, arena, err);
}

int inputs_find_one(struct inputs *inputs, const struct opt_list *given, struct arena *arena, struct err *err)
{
	int status = inputs_find(inputs, "profile", given, arena, err);
	if (status || inputs->n == 1)
		return status;
	return CMD_ERROR(CMD_WRONG_USAGE, err,
	                 "%s: holds %zu profiles; name one of them (gapline report shows the ranks of two jobs)",
	                 given->item[0], inputs->n);
}

int inputs_spared(const struct inputs *inputs, const struct output *outputs, size_t n, const char *what,
                  struct err *err)
{
	for (size_t i = 0; i < inputs->n; i++)
		for (size_t o = 0; o < n; o++)
			if (output_replaces(&outputs[o], &inputs->item[i].file))
				return err_set(err, "%s: this output would replace %s", outputs[o].path, what);
	return 0;
}

void inputs_add_bytes(struct inputs *inputs, const char *side, const char *name, const char *bytes, size_t n,
                      struct arena *arena)
{
	*inputs =
		(struct inputs){.side = side, .folder = TRACE_NONE, .item = ARENA_NEW(arena, 1, struct input), .n = 1};
	inputs->item[0] = (struct input){.path = name,
	                                 .saved = name,
	                                 .digest = (const unsigned char *)bytes,
	                                 .bytes = (int64_t)n,
	                                 .folder = TRACE_NONE};
}

int inputs_find_or_saved(struct inputs *inputs, const char *side, const struct opt_list *given, const char *db,
                         struct arena *arena, struct err *err)
{
	int status = CMD_DONE;
	*inputs = (struct inputs){.side = side, .folder = TRACE_NONE};
	for (size_t i = 0; i < given->n && !status; i++) {
		const char *path = given->item[i];
		struct stat file;
		if (db && inputs_is_saved(path)) {
			status = inputs_add_saved(inputs, path, db, arena, err);
			continue;
		}
		bool pattern = stat(path, &file) && errno == ENOENT && strpbrk(path, "*?[");
		status = pattern ? add_pattern(inputs, path, arena, err) : add_path(inputs, path, arena, err);
	}
	return status;
}

void inputs_say_passed_over(const struct inputs *sides, size_t n, struct arena *arena)
{
	enum { NAMED = 8 };
	size_t total = 0;
	const char *list = "";
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < sides[s].passed_over.n; i++)
			if (total++ < NAMED)
				list = arena_format(arena, "%s%s%s", list, *list ? ", " : "",
				                    cmd_harmless(arena, sides[s].passed_over.item[i]));
	if (total)
		fprintf(stderr, "gapline: %s\n",
		        SAY(NULL, arena, passed_over, .list = list,
		            .more = total > NAMED ? (int64_t)total - NAMED : 0));
	total = 0;
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < sides[s].outdated.n; i++)
			if (total++ < NAMED)
				fprintf(stderr, "gapline: %s\n", cmd_harmless(arena, sides[s].outdated.item[i]));
	if (total > NAMED)
		fprintf(stderr, "gapline: %s\n", SAY(NULL, arena, exports_outdated, .n = (int64_t)total - NAMED));
}

/* ---- reading ---- */

int64_t inputs_bytes(const struct inputs *sides, size_t n)
{
	int64_t bytes = 0;
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < sides[s].n; i++)
			bytes += sides[s].item[i].bytes;
	return bytes;
}

void inputs_name_report(const struct inputs *sides, size_t n, struct arena *arena, struct err *err)
{
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < sides[s].n; i++) {
			const struct input *input = &sides[s].item[i];
			size_t length = input->export ? strlen(input->export) : 0;
			if (!length || strncmp(err->text, input->export, length) || err->text[length] != ':')
				continue;
			const char *rest = arena_copy(arena, err->text + length, strlen(err->text + length));
			err_set(err, "%s%s", input->path, rest);
			return;
		}
}

static struct read_input read_input_of(struct input *input, struct trace *trace, bool beside)
{
	input->trace = trace;
	return (struct read_input){.path = input->export ? input->export : input->path,
	                           .beside = beside,
	                           .trace = trace,
	                           .digest = input->digest,
	                           .digest_bytes = (size_t)input->bytes,
	                           .memory = &input->memory};
}

int inputs_read(struct inputs *sides, size_t n, const struct read_wish *wish, struct names *names, struct arena *arena,
                struct err *err)
{
	struct read_input *list = NULL;
	size_t found = 0;
	for (size_t s = 0; s < n; s++) {
		list = arena_grow(arena, list, found, found + sides[s].n, sizeof *list);
		struct trace *traces = sides[s].n ? ARENA_NEW(&sides[s].traces, sides[s].n, struct trace) : NULL;
		for (size_t i = 0; i < sides[s].n; i++)
			list[found++] = read_input_of(&sides[s].item[i], &traces[i], sides[s].n > 1);
	}
	int result = read_profiles(list, found, wish, names, arena, err);
	if (result)
		inputs_name_report(sides, n, arena, err);
	if (result != 0 || found == 1)
		inputs_keep(sides, n, arena);
	return result;
}

void inputs_keep(struct inputs *sides, size_t n, struct arena *arena)
{
	for (size_t s = 0; s < n; s++) {
		arena_adopt(arena, &sides[s].traces);
		for (size_t i = 0; i < sides[s].n; i++)
			arena_adopt(arena, &sides[s].item[i].memory);
	}
}

int inputs_check_warmup(const struct inputs *inputs, const struct side *side, int warmup, struct err *err)
{
	for (size_t i = 0; i < side->n_runs; i++) {
		size_t steps = side->runs[i].n_steps;
		if (steps && warmup >= 0 && (size_t)warmup >= steps)
			return err_set(err, "--warmup %d: %s has only %zu step%s", warmup, inputs->run[i].path, steps,
			               steps == 1 ? "" : "s");
	}
	return 0;
}
