/* Fuzz target: any bytes as a profile to scrub. A copy that comes out reads as the original does. */
#include "read/read.h"
#include "read/scrub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Real files, because SQLite opens one by its path; written anew for each input. */
static struct file {
	char path[32];
	int fd;
} original = {"/tmp/gapline-fuzz-XXXXXX", -1}, copied = {"/tmp/gapline-fuzz-XXXXXX", -1};

static void remove_files(void)
{
	unlink(original.path);
	unlink(copied.path);
}

static void write_file(struct file *file, const void *data, size_t n)
{
	if (file->fd < 0)
		file->fd = mkstemp(file->path);
	if (file->fd < 0 || ftruncate(file->fd, 0) != 0 || pwrite(file->fd, data, n, 0) != (ssize_t)n)
		abort();
}

struct reading {
	struct names names;
	struct trace trace;
	struct err err;
	int result;
};

static void read_file(struct reading *r, const char *path, struct arena *arena)
{
	*r = (struct reading){0};
	names_init(&r->names, arena);
	r->result = read_profile(path, &r->names, arena, &r->trace, &r->err);
}

static bool same_columns(const void *a, const void *b, size_t n, size_t size)
{
	return n == 0 || memcmp(a, b, n * size) == 0;
}

/* Whether no dropped rows are left from *i on. Samples of threads that the file does not name are not in the copy,
 * whatever is wrong with them: those are passed over. */
static bool is_end(const struct trace *t, uint32_t *i)
{
	while (*i < t->n_dropped && t->dropped[*i].kind == ROWS_SAMPLES)
		++*i;
	return *i == t->n_dropped;
}

static void compare(const struct reading *a, const struct reading *b, bool with_stacks)
{
	const struct trace *t = &a->trace, *u = &b->trace;
	if (a->result != b->result)
		abort();
	if (a->result != 0)
		return;
	if (t->ops.n != u->ops.n || t->calls.n != u->calls.n || t->ranges.n != u->ranges.n ||
	    t->slices.n != u->slices.n || t->os_calls.n != u->os_calls.n || t->overheads.n != u->overheads.n ||
	    t->n_threads != u->n_threads || t->n_processes != u->n_processes || t->n_devices != u->n_devices ||
	    t->n_gpus != u->n_gpus || (with_stacks && t->samples.n != u->samples.n) ||
	    t->n_diagnostics != u->n_diagnostics)
		abort();
	for (uint32_t i = 0, k = 0; !is_end(t, &i) | !is_end(u, &k); i++, k++)
		if (i == t->n_dropped || k == u->n_dropped || t->dropped[i].rows != u->dropped[k].rows ||
		    strcmp(t->dropped[i].reason, u->dropped[k].reason))
			abort();
	for (uint32_t i = 0; i < t->n_devices; i++)
		if (t->devices[i].gpu != u->devices[i].gpu || t->devices[i].memory != u->devices[i].memory ||
		    t->devices[i].memory_peak != u->devices[i].memory_peak)
			abort();
	if (!same_columns(t->ops.start, u->ops.start, t->ops.n, sizeof *t->ops.start) ||
	    !same_columns(t->ops.bytes, u->ops.bytes, t->ops.n, sizeof *t->ops.bytes) ||
	    !same_columns(t->ops.launch, u->ops.launch, t->ops.n, sizeof *t->ops.launch) ||
	    !same_columns(t->calls.class, u->calls.class, t->calls.n, sizeof *t->calls.class) ||
	    !same_columns(t->ranges.end, u->ranges.end, t->ranges.n, sizeof *t->ranges.end))
		abort();
}

static void try_one(bool keep_stacks)
{
	struct arena arena = {0};
	struct err err = {0};
	struct scrub_request request = {.path = original.path, .keep_stacks = keep_stacks};
	struct scrub_copy copy;
	struct reading before, after;
	if (scrub_profile(&request, &arena, &copy, &err) == 0) {
		write_file(&copied, copy.bytes, copy.n);
		read_file(&before, original.path, &arena);
		read_file(&after, copied.path, &arena);
		compare(&before, &after, keep_stacks);
	} else if (!err.text[0]) {
		abort();
	}
	scrub_release(&copy);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static bool prepared;
	if (!prepared)
		atexit(remove_files);
	prepared = true;
	write_file(&original, data, n);
	try_one(false);
	try_one(true);
	return 0;
}
