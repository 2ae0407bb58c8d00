#include "cmd/inputs.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/proc.h"
#include "base/unpack.h"
#include "capture/find.h"
#include "capture/nsys_words.h"
#include "cmd/progress.h"
#include "read/ncu.h"
#include "read/read.h"
#include "read/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOOK_MS = 200, END_MS = 1000, SAID_MAX = 64 * 1024, PERCENT = 100 };

/* One export in the making. */
struct job {
	const char *nsys, *report;
	const char *folder; /* ours, for the export and for what nsys leaves beside it */
	const char *export;
	int said; /* what nsys says: a file without a name */
	struct arena *arena;
};

/* Named like a report, and not seen to be something else: which versions of nsys begin a report how is theirs to know.
 */
static bool is_report(const char *path)
{
	struct file_head head;
	struct err ignored;
	return read_is_report(path) && file_look(path, &head, &ignored) == 0 && head.n && !pointer_is(&head) &&
	       !source_is_sqlite(&head) && packing_of(head.data, head.n) == PACKING_NONE;
}

/* The end of what nsys said so far: at most `most` bytes and a NUL into `text`; returns how many. */
static ssize_t read_said(int said, char *text, size_t most)
{
	struct stat file = {0};
	fstat(said, &file);
	ssize_t n = pread(said, text, most, file.st_size > (off_t)most ? file.st_size - (off_t)most : 0);
	text[n > 0 ? n : 0] = 0;
	return n;
}

/* The last percentage that nsys showed: "[1/1] [=== 40%     ] run.sqlite". */
static int percent_of(int said)
{
	char text[512];
	ssize_t n = read_said(said, text, sizeof text - 1);
	while (n-- > 1)
		if (text[n] == '%' && text[n - 1] >= '0' && text[n - 1] <= '9') {
			ssize_t first = n;
			while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9' && n - first < 3)
				first--;
			text[n] = 0;
			return atoi(text + first);
		}
	return 0;
}

/* Waits for nsys, and counts how far it is. 0, or −1 when a signal ended the waiting: nsys has ended, too. */
static int wait_for(struct proc *proc, const struct job *job, struct meter *meter)
{
	while (!proc_interrupted() && !proc_wait(proc, LOOK_MS))
		meter_add(meter, meter ? percent_of(job->said) - atomic_load(&meter->done) : 0);
	if (!proc->ended)
		proc_stop(proc, proc_interrupted() == SIGINT ? SIGINT : SIGTERM, END_MS);
	proc_end_group(proc, END_MS);
	return proc_interrupted() ? -1 : 0;
}

static int fail(const struct job *job, int status, struct err *err)
{
	char words[80];
	char *said = arena_alloc(job->arena, SAID_MAX + 1, 1);
	BUF_LOCAL(command);
	read_said(job->said, said, SAID_MAX);
	proc_status_text(status, words, sizeof words);
	read_export_command(&command, job->report, "");
	if (nsys_found_no_space(said))
		err_set(err,
		        "%s: nsys export found no space for the export in %s; name a folder that has some with TMPDIR",
		        job->report, job->folder);
	else
		err_set(err, "%s: nsys export failed (%s)%s%s%s; the same by hand: %s", job->report, words,
		        *nsys_last_line(said, job->arena) ? ": " : "", nsys_last_line(said, job->arena),
		        strstr(said, "shared librar") ? "; install what it misses, usually libdw1 and libelf1" : "",
		        command.data);
	return -1;
}

/* Runs nsys, with payloads of NVTX or without. 0; −1 with `err`; or a signal came (proc_interrupted). */
static int run_nsys(const struct job *job, bool payloads, struct meter *meter, int *status, struct err *err)
{
	struct proc proc;
	const char *report = *job->report == '-' ? arena_format(job->arena, "./%s", job->report) : job->report;
	const char *const argv[] = {job->nsys,
	                            "export",
	                            "--type=sqlite",
	                            "--force-overwrite=true",
	                            arena_format(job->arena, "--output=%s", job->export),
	                            payloads ? NSYS_PAYLOADS : report,
	                            payloads ? report : NULL,
	                            NULL};
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct proc_spawn spawn = {.argv = argv, .output = job->said, .input = nothing};
	int result = proc_start(&proc, &spawn, err);
	close(nothing);
	if (result || wait_for(&proc, job, meter))
		return -1;
	*status = proc.status;
	return 0;
}

static bool knows_payloads(const struct job *job)
{
	char *said = arena_alloc(job->arena, SAID_MAX + 1, 1);
	read_said(job->said, said, SAID_MAX);
	return nsys_knows_payloads(said);
}

/* NCCL says in payloads which ranks a kernel is of; nsys before about 2023 has no option for them. */
static int export(const struct job *job, struct meter *meter, struct err *err)
{
	int status = 0, result = run_nsys(job, true, meter, &status, err);
	if (!result && status && !knows_payloads(job)) {
		if (ftruncate(job->said, 0)) /* a file in memory */
			return err_set_id(err, err_id_of(errno), "%s: %s", job->report, err_reason(errno));
		result = run_nsys(job, false, meter, &status, err);
	}
	if (result)
		return -1;
	return status || access(job->export, R_OK) ? fail(job, status, err) : 0;
}

/* An empty folder of our own where what is unpacked goes, too. */
static const char *make_folder(struct arena *arena, struct err *err)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"}, *made = NULL;
	for (size_t i = 0; i < sizeof folders / sizeof *folders && !made; i++)
		if (folders[i] && *folders[i])
			made = folder_beside(arena_format(arena, "%s/gapline", folders[i]), arena, err);
	return made;
}

/* Makes the export of one report and takes its name away. */
static int export_one(struct input *input, const char *nsys, bool quiet, struct arena *arena, struct err *err)
{
	struct progress progress;
	struct job job = {.nsys = nsys, .report = input->path, .arena = arena};
	job.said = memfd_create("nsys", MFD_CLOEXEC);
	if (job.said < 0)
		return err_set_id(err, err_id_of(errno), "%s: %s", input->path, err_reason(errno));
	if (!quiet)
		fprintf(stderr, "gapline: exporting %s with %s\n", cmd_harmless(arena, input->path),
		        cmd_harmless(arena, nsys));
	proc_catch_signals();
	int result = -1;
	job.folder = make_folder(arena, err);
	if (job.folder) {
		job.export = arena_format(arena, "%s/export.sqlite", job.folder);
		progress_begin(&progress, quiet, "nsys export", PERCENT);
		result = export(&job, progress_meter(&progress), err);
		progress_end(&progress);
		int fd = result ? -1 : open(job.export, O_RDONLY | O_CLOEXEC);
		struct stat file;
		if (fd >= 0 && !fstat(fd, &file)) {
			input->export = arena_format(arena, "/proc/self/fd/%d", fd);
			input->bytes = file.st_size;
		} else if (!result) {
			result = err_set_id(err, err_id_of(errno), "%s: %s", job.export, err_reason(errno));
		}
		folder_remove(job.folder);
	}
	close(job.said);
	proc_release_signals(); /* first: one that comes now ends gapline by itself */
	proc_die_of_interrupt();
	return result;
}

int inputs_export(struct inputs *sides, size_t n, bool quiet, struct arena *arena, struct err *err)
{
	const char *nsys = NULL;
	if (!quiet)
		inputs_say_passed_over(sides, n, arena);
	for (size_t s = 0; s < n; s++)
		for (size_t i = 0; i < sides[s].n; i++) {
			struct input *input = &sides[s].item[i];
			if (input->saved || !is_report(input->path))
				continue;
			nsys = nsys ? nsys : find_nsys(arena);
			if (!nsys)
				return CMD_DONE;
			if (export_one(input, nsys, quiet, arena, err))
				return CMD_BAD_PROFILE;
		}
	return CMD_DONE;
}

int inputs_begin(struct inputs *sides, size_t n, bool quiet, struct progress *progress, struct arena *arena,
                 struct err *err)
{
	int status = inputs_export(sides, n, quiet, arena, err);
	if (!status)
		progress_begin(progress, quiet, "reading", inputs_bytes(sides, n));
	return status;
}

/* A file name as a word of a shell. */
static const char *quoted(const char *path, struct arena *arena)
{
	BUF_LOCAL(text);
	buf_quoted(&text, path);
	return arena_copy(arena, text.data, text.n);
}

/* ncu opens this process's descriptor, so that it prints the file that was opened here, whatever has its name by now.
 * What it prints goes to a file without a name, which is gone in any case when it is closed. */
static int import(const char *ncu, const struct source *source, int to, struct err *err)
{
	const char *path = source->path;
	char opened[64];
	snprintf(opened, sizeof opened, "/proc/%ld/fd/%d", (long)getpid(), source->fd);
	const char *const argv[] = {ncu, "--import", opened, "--csv", "--page", "raw", "--print-units", "base", NULL};
	const struct proc_spawn spawn = {.argv = argv, .output = to, .input = -1};
	struct proc proc = {0};
	char status[64];
	if (proc_start(&proc, &spawn, err) != 0)
		return -1;
	while (!proc_wait(&proc, -1))
		if (proc_interrupted()) {
			proc_stop(&proc, SIGTERM, 2000);
			return err_set_id(err, ERR_INTERRUPTED, "%s: interrupted while ncu printed it", path);
		}
	if (proc_exit_status(proc.status) == 0)
		return 0;
	proc_status_text(proc.status, status, sizeof status);
	return err_set(err, "%s: ncu --import could not print it (%s); an ncu older than the one that made it cannot",
	               path, status);
}

static int read_packed(const struct source *source, struct names *names, struct arena *arena, struct ncu_report *report,
                       struct err *err)
{
	const char *path = source->path;
	const char *ncu = find_on_path("ncu", arena);
	if (!ncu)
		return err_set(err,
		               "%s: only ncu can read it, and there is none on PATH; where there is one, run: "
		               "ncu --import %s --csv --page raw > %s, and name that file",
		               path, quoted(path, arena), quoted(arena_format(arena, "%s.csv", path), arena));
	FILE *printed = tmpfile();
	if (!printed)
		return err_set_id(err, err_id_of(errno), "%s: no temporary file can be made for what ncu prints: %s",
		                  path, err_reason(errno));
	int result = import(ncu, source, fileno(printed), err);
	if (result == 0)
		result = ncu_read(fileno(printed), path, names, arena, report, err);
	fclose(printed);
	return result;
}

static int read_opened(const struct source *source, struct names *names, struct arena *arena, struct ncu_report *report,
                       struct err *err)
{
	const char *path = source->path;
	if (ncu_is_packed(&source->head))
		return read_packed(source, names, arena, report, err);
	if (pointer_is(&source->head))
		return pointer_refuse(path, "is ", err);
	if (source->packing != PACKING_NONE)
		return err_set(err, "%s: is packed; unpack it first: %s %s", path,
		               source->packing == PACKING_GZIP ? "gzip -dk" : "zstd -dk", quoted(path, arena));
	return ncu_read(source->fd, path, names, arena, report, err);
}

int ncu_input_read(const char *path, struct names *names, struct arena *arena, struct ncu_report *report,
                   struct err *err)
{
	struct source source;
	int result = source_open(&source, path, NULL, err);
	if (result == 0)
		result = read_opened(&source, names, arena, report, err);
	if (result == 0)
		result = source_check(&source, err);
	source_close(&source);
	return result;
}
