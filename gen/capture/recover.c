#include "capture/recover.h"

#include "base/file.h"
#include "base/folder.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/launcher.h"
#include "capture/annotate.h"
#include "capture/command.h"
#include "capture/convert.h"
#include "capture/place.h"
#include "capture/spool_read.h"
#include "capture/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "gapline-capture/1"

enum { NOTE_BYTES_MAX = 65536, ENVIRONMENT_BYTES = 1 << 20 };

struct note {
	const char *version, *collector, *trace, *graphs, *host;
	const char *job[LAUNCHER_VARIABLES];
	int64_t pid, start_ns, start_utc_ns;
};

struct recovery {
	const char *folder, *spool; /* absolute */
	struct note note;
	struct convert_result made;
	struct arena *arena;
};

/* ---- the note ---- */

static const char *note_path(const char *folder, struct arena *arena)
{
	return arena_format(arena, "%s/capture.json", folder);
}

static void write_note(struct json *json, const struct collector_job *job, const char *trace)
{
	char host[256] = "";
	if (gethostname(host, sizeof host - 1))
		host[0] = 0;
	json_object(json, NULL);
	json_text(json, "schema", SCHEMA);
	json_text(json, "gapline", job->version);
	json_text(json, "collector", job->collector->type->name);
	json_integer(json, "pid", getpid());
	json_integer(json, "start_ns", job->start_ns);
	json_integer(json, "start_utc_ns", job->start_utc_ns);
	json_text(json, "trace", trace);
	json_text(json, "graphs", job->graphs);
	json_text(json, "host", host);
	json_object(json, "job");
	for (int i = 0; i < LAUNCHER_VARIABLES; i++)
		if (launcher_value(&LAUNCHER[i]))
			json_text(json, LAUNCHER[i].name, launcher_value(&LAUNCHER[i]));
	json_end_object(json);
	json_end_object(json);
}

int recover_note(const struct collector_job *job, const char *trace, struct err *err)
{
	const char *path = note_path(job->folder, job->arena);
	BUF_LOCAL(text);
	struct json json;
	json_init(&json, &text);
	write_note(&json, job, trace);
	int rc = json_finish(&json, err), fd = -1;
	if (!rc) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || file_write(fd, text.data, text.n))
			rc = err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
		if (fd >= 0 && close(fd) && !rc)
			rc = err_set_id(err, err_id_of(errno), "%s: %s", path, err_reason(errno));
	}
	return rc;
}

/* False: there is none, or it is none of ours. */
static bool read_note(struct note *note, const char *folder, struct arena *arena)
{
	const char *path = note_path(folder, arena);
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool fits = !fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size <= NOTE_BYTES_MAX;
	char *text = fits ? arena_alloc(arena, (size_t)file.st_size + 1, 1) : NULL;
	ssize_t n = fits ? file_read(fd, text, (size_t)file.st_size) : -1;
	close(fd);
	const struct json_value *root = n >= 0 ? json_read(text, (size_t)n, arena) : NULL;
	const struct json_value *job = json_member(root, "job", JSON_OBJECT);
	const char *schema = json_member_text(root, "schema");
	*note = (struct note){.version = json_member_text(root, "gapline"),
	                      .collector = json_member_text(root, "collector"),
	                      .trace = json_member_text(root, "trace"),
	                      .graphs = json_member_text(root, "graphs"),
	                      .host = json_member_text(root, "host")};
	for (int i = 0; i < LAUNCHER_VARIABLES; i++)
		note->job[i] = json_member_text(job, LAUNCHER[i].name);
	return schema && !strcmp(schema, SCHEMA) && note->version && note->collector && note->trace &&
	       json_whole(json_member(root, "pid", JSON_NUMBER), &note->pid) &&
	       json_whole(json_member(root, "start_ns", JSON_NUMBER), &note->start_ns) &&
	       json_whole(json_member(root, "start_utc_ns", JSON_NUMBER), &note->start_utc_ns);
}

/* ---- what is there ---- */

/* Whether the process was told to write into the spool: it, or what it was forked from. Of other users' processes
 * nothing can be known; they cannot write there. */
static bool writes_into(const char *pid, const char *spool, char *bytes)
{
	char path[300];
	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : file_read(fd, bytes, ENVIRONMENT_BYTES);
	if (fd >= 0)
		close(fd);
	size_t name = sizeof SPOOL_ENV_FOLDER - 1, length = strlen(spool);
	for (ssize_t at = 0; at < n; at += (ssize_t)strnlen(bytes + at, (size_t)(n - at)) + 1)
		if (strnlen(bytes + at, (size_t)(n - at)) == name + 1 + length &&
		    !memcmp(bytes + at, SPOOL_ENV_FOLDER "=", name + 1) &&
		    !memcmp(bytes + at + name + 1, spool, length))
			return true;
	return false;
}

/* A process of the recorded program that still runs, 0: none. The system ended the program itself together with
 * gapline (base/proc.c), but not what it had started; and nsys's program may outlive nsys. */
static long running(const struct recovery *r)
{
	char *bytes = arena_alloc(r->arena, ENVIRONMENT_BYTES, 1);
	struct target_notes notes;
	long found = 0;
	DIR *dir = opendir("/proc");
	for (const struct dirent *entry; dir && !found && (entry = readdir(dir));)
		if (*entry->d_name >= '1' && *entry->d_name <= '9' && writes_into(entry->d_name, r->spool, bytes))
			found = atol(entry->d_name);
	if (dir)
		closedir(dir);
	target_read_notes(arena_format(r->arena, "%s/notes", r->folder), &notes);
	if (!found && notes.pid > 0 && !notes.ended && getpgid(notes.pid) == notes.group)
		found = notes.pid;
	return found;
}

static void place_of(struct recovery *r, const char *folder)
{
	char *real = realpath(folder, NULL);
	r->folder = real ? arena_copy(r->arena, real, strlen(real)) : folder;
	r->spool = arena_format(r->arena, "%s/spool", r->folder);
	free(real);
}

/* Why no profile can be made of the folder, a clause; NULL: one can, as far as is known. */
static const char *problem(struct recovery *r)
{
	const char **files;
	size_t n;
	struct err ignored;
	if (!read_note(&r->note, r->folder, r->arena))
		return "it holds nothing to make a profile of";
	if (!strcmp(r->note.collector, "stopwatch"))
		return "it is of a run that was not recorded but timed";
	if (!access(arena_format(r->arena, "%s/report.nsys-rep", r->folder), F_OK))
		return "what nsys recorded is in its report.nsys-rep, which nsys export makes a profile of";
	if (strcmp(r->note.collector, "cupti") != 0)
		return arena_format(r->arena, "%s recorded, and what that had not finished nobody can read",
		                    r->note.collector);
	if (spool_list(r->spool, r->arena, &files, &n, &ignored))
		return "its recording cannot be read";
	if (!n) {
		const char *failure = spool_failure(r->spool, r->arena);
		return failure ? failure : "the program had used no CUDA by then, or could not reach this folder";
	}
	return NULL;
}

const char *recover_offer(const char *folder, const char *pattern, struct arena *arena)
{
	struct recovery r = {.arena = arena};
	place_of(&r, folder);
	const char *why = problem(&r);
	long pid = running(&r);
	const char *const command[] = {"gapline", "capture", "--recover", "-o", pattern, NULL};
	const char *runs = pid ? arena_format(arena, "its process %ld still runs; ", pid) : "";
	return why ? arena_format(arena, "%s%s; remove it if it is of no use to you", runs, why)
	           : arena_format(arena, "%s'%s' makes a profile of what it had recorded%s", runs,
	                          command_text(command, arena), pid ? " once that has ended" : "");
}

/* What nsys recorded, nsys makes a profile of. */
static const char *nsys_next(const struct collector_job *job, const char *pattern)
{
	struct arena *arena = job->arena;
	const char *recorded = job->recorded;
	static const char stream[] = ".qdstrm";
	size_t n = strlen(recorded);
	const char *const import[] = {"QdstrmImporter", "-i", recorded, NULL};
	const char *const export[] = {job->collector->tool,
	                              "export",
	                              "--type=sqlite",
	                              arena_format(arena, "--output=%s", pattern),
	                              recorded,
	                              NULL};
	if (n >= sizeof stream && !strcmp(recorded + n - (sizeof stream - 1), stream))
		return arena_format(arena,
		                    "'%s' (in nsys's host folder) makes a report of it, which gapline report reads",
		                    command_text(import, arena));
	return arena_format(arena, "'%s' makes a profile of it", command_text(export, arena));
}

bool recover_keep(const struct collector_job *job, const char *pattern, struct err *err)
{
	static const char *const unfinished[] = {"profile.sqlite", "profile.sqlite-journal"};
	const char *const command[] = {"gapline", "capture", "--recover", "-o", pattern, NULL};
	struct arena *arena = job->arena;
	struct recovery r = {.arena = arena};
	place_of(&r, job->folder);
	if (!job->recorded && problem(&r))
		return false;
	for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
		unlink(arena_format(arena, "%s/%s", job->folder, unfinished[i]));
	folder_keep(job->folder);
	const char *why = arena_copy(arena, err->text, strlen(err->text));
	const char *next = job->recorded
	                           ? nsys_next(job, pattern)
	                           : arena_format(arena, "'%s' makes a profile of it", command_text(command, arena));
	err_set(err, "%s; the recording is kept in %s: %s", why, job->folder, next);
	return true;
}

/* ---- the profile ---- */

/* CLOCK_MONOTONIC of the last time that anything was written, as far as files tell; and the program's own process,
 * which the others descend from. */
static void look_at_spool(const struct recovery *r, int64_t *stop_ns, pid_t *pid)
{
	const char **files;
	size_t n = 0;
	struct err ignored;
	*stop_ns = r->note.start_ns;
	*pid = 0;
	if (spool_list(r->spool, r->arena, &files, &n, &ignored))
		return;
	for (size_t i = 0; i < n; i++) {
		struct stat file;
		struct spool_reader reader;
		if (spool_open(&reader, r->spool, files[i], r->arena, &ignored) > 0 &&
		    (!*pid || reader.header.parent == r->note.pid))
			*pid = (pid_t)reader.header.pid;
		spool_close(&reader);
		if (stat(arena_format(r->arena, "%s/%s", r->spool, files[i]), &file))
			continue;
		int64_t ran = (int64_t)file.st_mtim.tv_sec * 1000000000 + file.st_mtim.tv_nsec - r->note.start_utc_ns;
		if (ran > *stop_ns - r->note.start_ns)
			*stop_ns = r->note.start_ns + ran;
	}
}

static int convert(struct recovery *r, const char *profile, int64_t stop_ns, const char *version, struct err *err)
{
	const struct convert_request request = {.spool = r->spool,
	                                        .profile = profile,
	                                        .start_ns = r->note.start_ns,
	                                        .start_utc_ns = r->note.start_utc_ns,
	                                        .stop_ns = stop_ns,
	                                        .version = version};
	if (convert_spool(&request, r->arena, &r->made, err))
		return -1;
	if (!r->made.ops && !r->made.calls)
		return err_set(err, "%s: nothing can be recovered: %s", r->folder,
		               r->made.worst == SPOOL_ERROR ? r->made.messages[0]
		               : r->made.unwritten          ? r->made.unwritten
		               : r->made.empty
		                       ? r->made.empty
		                       : "the program had used no CUDA by then, or could not reach this folder");
	return 0;
}

static int annotate(struct recovery *r, const char *profile, const char *complete, struct err *err)
{
	struct python_ranges ranges = {0};
	python_ranges_read(r->folder, r->arena, &ranges);
	const struct annotation annotation = {
		.version = r->note.version,
		.collector = r->note.collector,
		.cupti = r->made.cupti,
		.trace = r->note.trace,
		.graphs = r->made.graphs ? r->made.graphs : r->note.graphs,
		.complete = complete,
		.dropped = r->made.dropped,
		.dropped_events = r->made.dropped_events,
		.sample_ns = r->made.sample_ns,
		.samples_torn = r->made.samples_torn,
		.host = r->note.host,
		.ranges_ns = ranges.steps > 0 ? ranges.own_ns / ranges.steps + 1 : 0,
		.job = r->note.job,
		.start_ns = r->note.start_ns,
	};
	return annotate_profile(profile, &annotation, err);
}

static int recover(struct recovery *r, const struct recover_request *request, struct capture_result *result,
                   struct err *err)
{
	const char *profile = arena_format(r->arena, "%s/recovered.sqlite", r->folder), *other;
	const char *why = problem(r);
	long alive = running(r);
	int64_t stop_ns;
	pid_t pid;
	if (why)
		return err_set(err, "%s: nothing can be recovered: %s", r->folder, why);
	if (alive)
		return err_set(err, "%s: process %ld of the program still runs: wait for it, or end it", r->folder,
		               alive);
	look_at_spool(r, &stop_ns, &pid);
	unlink(profile); /* of one that was killed */
	if (convert(r, profile, stop_ns, request->version, err)) {
		result->unwritable = r->made.unwritable;
		unlink(profile); /* of a disk that is full, it takes room */
		return -1;
	}
	/* The spool's own thread writes twice in a tick (inject/spool_out.h). */
	result->complete =
		arena_format(r->arena,
	                     "gapline ended before it had written this profile, which was recovered: how the program "
	                     "ended, the GPUs' clocks%s are missing",
	                     r->made.incomplete ? " and the last tenth of a second before it was ended" : "");
	result->messages = r->made.messages;
	result->n_messages = r->made.n_messages;
	result->elapsed_ns = stop_ns - r->note.start_ns;
	result->start_utc_ns = r->note.start_utc_ns;
	result->unwritable = true;
	if (annotate(r, profile, result->complete, err))
		return -1;
	result->file = place_profile(profile, request->file, pid, request->replace, &other, r->arena, err);
	result->unwritable = !result->file;
	return result->file ? 0 : -1;
}

int capture_recover(const struct recover_request *request, struct arena *arena, struct capture_result *result,
                    struct err *err)
{
	struct recovery r = {.arena = arena};
	*result = (struct capture_result){.complete = ""};
	const char *name = place_name(request->file, request->replace, arena, err);
	const char *left = name ? folder_left(name, arena) : NULL;
	result->unwritable = !name;
	if (!name)
		return -1;
	if (!left)
		return err_set(err, "%s: no capture to this name left a recording", name);
	place_of(&r, left);
	int lock = open(r.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = lock < 0 || flock(lock, LOCK_EX | LOCK_NB)
	                 ? err_set(err, "%s: another process is at work on it", r.folder)
	                 : recover(&r, request, result, err);
	if (!rc)
		folder_remove(r.folder);
	if (lock >= 0)
		close(lock);
	return rc;
}
