#include "cmd/ncu_input.h"

#include "base/buf.h"
#include "base/pointer.h"
#include "base/proc.h"
#include "capture/find.h"
#include "read/ncu.h"
#include "read/source.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file name as a word of a shell. */
static const char *quoted(const char *path, const char *behind, struct arena *arena)
{
	struct buf text = {0};
	buf_text(&text, "'");
	for (; *path; path++) {
		if (*path == '\'')
			buf_text(&text, "'\\''");
		else
			buf_add(&text, path, 1);
	}
	buf_format(&text, "%s'", behind);
	const char *copy = arena_copy(arena, text.data, text.n);
	buf_release(&text);
	return copy;
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
			return err_set(err, "%s: interrupted while ncu printed it", path);
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
		               path, quoted(path, "", arena), quoted(path, ".csv", arena));
	FILE *printed = tmpfile();
	if (!printed)
		return err_set(err, "%s: no temporary file can be made for what ncu prints: %s", path,
		               err_reason(errno));
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
		               source->packing == PACKING_GZIP ? "gzip -dk" : "zstd -dk", quoted(path, "", arena));
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
