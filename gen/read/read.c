#include "read/read.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/parallel.h"
#include "read/digest.h"
#include "read/kineto.h"
#include "read/nsys.h"
#include "read/source.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* The formats. A file is of the first one that recognises how it begins, or how what is packed in it begins. `read` is
 * read_profile_with of a file of its format, without looking at it first. */
static const struct {
	bool (*recognise)(const struct file_head *head);
	int (*read)(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
	            struct arena *arena, struct trace *trace, struct err *err);
} FORMATS[] = {
	{source_is_sqlite, nsys_read},
	{digest_recognise, digest_read},
	{kineto_recognise, kineto_read},
};

/* ---- what is none of them ---- */

static bool begins(const struct file_head *head, const char *magic, size_t n)
{
	return head->n >= n && memcmp(head->data, magic, n) == 0;
}

#define BEGINS(head, magic) begins((head), (magic), sizeof(magic) - 1)

/* Packings that are not read, or not a second time, with what unpacks a file of theirs, but for its name. */
static const struct foreign {
	const char *name, *unpacked;
} XZ = {"xz", "xz -dk "}, GZIP = {"gzip", "gzip -dk "}, ZSTD = {"zstd", "zstd -dk "}, ZIP = {"zip", "unzip "},
  BZIP2 = {"bzip2", "bzip2 -dk "};

/* NULL: none. */
static const struct foreign *packed_as(const struct file_head *head)
{
	if (BEGINS(head, "\xFD"
	                 "7zXZ"))
		return &XZ;
	switch (packing_of(head->data, head->n)) { /* packed twice, or there would be no head of this kind */
	case PACKING_GZIP:
		return &GZIP;
	case PACKING_ZSTD:
		return &ZSTD;
	case PACKING_NONE:
		break;
	}
	if (BEGINS(head, "PK\x03\x04"))
		return &ZIP;
	return BEGINS(head, "BZh") ? &BZIP2 : NULL;
}

void read_export_command(struct buf *to, const char *path, const char *whole)
{
	buf_text(to, "nsys export --type sqlite --force-overwrite true --output ");
	buf_word(to, path, ".sqlite");
	buf_text(to, " ");
	buf_word(to, path, whole);
}

/* An nsys report. The command is for the user's own files, to be copied as it is; `packing`: what it is packed with. */
static int refuse_report(const char *path, enum packing packing, struct err *err)
{
	BUF_LOCAL(command);
	const char *whole = packing == PACKING_NONE ? "" : ".nsys-rep";
	size_t n = strlen(path);
	bool old = n > 6 && strcmp(path + n - 6, ".qdrep") == 0;
	if (packing != PACKING_NONE) {
		buf_text(&command, packing == PACKING_GZIP ? "gzip -dc " : "zstd -dc ");
		buf_word(&command, path, "");
		buf_text(&command, " > ");
		buf_word(&command, path, whole);
		buf_text(&command, " && ");
	}
	read_export_command(&command, path, whole);
	if (packing != PACKING_NONE)
		err_set(err,
		        "%s: holds, packed, an nsys report, which only nsys itself can read; unpack and export it "
		        "with: %s",
		        path, command.data);
	else
		err_set(err, "%s: is an nsys report%s, which only nsys itself can read; export it with: %s", path,
		        old ? " of 2021 or before (.qdrep)" : "", command.data);
	return -1;
}

bool read_is_report(const char *path)
{
	static const char *const endings[] = {".nsys-rep", ".qdrep"};
	size_t n = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t end = strlen(endings[i]);
		if (n > end && strcmp(path + n - end, endings[i]) == 0)
			return true;
	}
	return false;
}

/* A message of tsl/profiler/protobuf/xplane.proto: a plane, field 1, with its name within the first bytes. */
static bool is_xplane(const struct file_head *head)
{
	enum { NAME_WITHIN = 32 };
	static const char *const planes[] = {"/host:", "/device:", "Task Environment"};
	const size_t n = head->n < NAME_WITHIN ? head->n : NAME_WITHIN;
	for (size_t i = 0; i < sizeof planes / sizeof *planes && n && head->data[0] == 0x0A; i++)
		if (memmem(head->data, n, planes[i], strlen(planes[i])))
			return true;
	return false;
}

/* "PATH: is WHAT 'PATH'": a command for the user's own file. */
static int refuse_with(const char *path, const char *inside, const char *what, struct err *err)
{
	BUF_LOCAL(word);
	buf_word(&word, path, "");
	err_set(err, "%s: %s%s%s", path, inside, what, word.data);
	return -1;
}

/* What a file of Nsight Compute is, in words; NULL: it is none. */
static const char *of_ncu(const struct file_head *head)
{
	if (BEGINS(head, "NVR\0"))
		return "a Nsight Compute report (single kernels), which goes beside a profile: --baseline-ncu or "
		       "--fixed-ncu ";
	if (BEGINS(head, "\"ID\",\"Process ID\"") || BEGINS(head, "==PROF=="))
		return "what Nsight Compute measured of single kernels, which goes beside a profile: "
		       "--baseline-ncu or --fixed-ncu ";
	return NULL;
}

static int refuse_packed(const char *path, const char *inside, const struct foreign *as, bool twice, struct err *err)
{
	char what[80];
	if (twice) /* what comes out of it has a name that only its owner knows */
		return err_set(err, "%s: %spacked with %s; unpack it first", path, inside, as->name);
	snprintf(what, sizeof what, "packed with %s; unpack it first: %s", as->name, as->unpacked);
	return refuse_with(path, inside, what, err);
}

/* Nobody knows what it is: with a command that may. */
static int refuse_unknown(const char *path, const char *inside, enum packing packing, struct err *err)
{
	BUF_LOCAL(command);
	if (read_is_report(path)) { /* a newer kind, or a damaged one: nsys will say */
		read_export_command(&command, path, "");
		return err_set(err,
		               "%s: %sno profile that gapline reads; if it is an nsys report, as its name says, export "
		               "it with: %s",
		               path, inside, command.data);
	}
	buf_text(&command, packing == PACKING_NONE ? "file " : packing == PACKING_GZIP ? "gzip -dc < " : "zstd -dc < ");
	buf_word(&command, path, "");
	return err_set(err,
	               "%s: %sno profile that gapline reads; it reads nsys exports (nsys export --type sqlite), traces "
	               "of the PyTorch profiler and its own captures; identify the file with: %s%s",
	               path, inside, command.data, packing == PACKING_NONE ? "" : " | file -");
}

/* Fills err with what the file is instead of a profile. The head is of what is packed in it, if it is packed. */
static int refuse(const char *path, const struct source *source, struct err *err)
{
	const struct file_head *head = &source->head;
	bool packed = source->packing != PACKING_NONE;
	const char *word = packing_word(source->packing), *inside = "is ";
	if (packed)
		inside = source->packing == PACKING_GZIP ? "holds, gzipped, " : "holds, packed with zstd, ";
	if (head->size == 0)
		return err_set_id(err, ERR_EMPTY, "%s: %s%s; capture or export the profile again", path,
		                  packed ? "holds nothing, " : "is empty", packed ? word : "");
	if (pointer_is(head))
		return pointer_refuse(path, inside, err);
	if (BEGINS(head, "NVIDIA Tegra Profiler Report"))
		return refuse_report(path, source->packing, err);
	const char *kernels = of_ncu(head);
	if (kernels)
		return refuse_with(path, inside, kernels, err);
	const struct foreign *foreign = packed_as(head);
	if (foreign)
		return refuse_packed(path, inside, foreign, packed, err);
	if (head->n < sizeof SOURCE_SQLITE && begins(head, SOURCE_SQLITE, head->n))
		return err_set_id(err, ERR_DAMAGED,
		                  "%s: is cut off: only %zu bytes of a SQLite database; copy the file again", path,
		                  head->n);
	if (BEGINS(head, "<!DOCTYPE html") || BEGINS(head, "<html"))
		return err_set(err,
		               "%s: %sa web page; name the profiles that a report was made of; 'gapline report' also "
		               "takes a side of a report: %s:baseline or %s:fixed",
		               path, inside, path, path);
	if (is_xplane(head))
		return err_set(err,
		               "%s: %san XPlane trace of XLA (JAX, TensorFlow), which is not read; record the program "
		               "again with: gapline capture -o FILE -- COMMAND",
		               path, inside);
	return refuse_unknown(path, inside, source->packing, err);
}

int read_profile(const char *path, struct names *names, struct arena *arena, struct trace *trace, struct err *err)
{
	return read_profile_with(path, &(struct read_wish){0}, names, arena, trace, err);
}

int read_profile_with(const char *path, const struct read_wish *wish, struct names *names, struct arena *arena,
                      struct trace *trace, struct err *err)
{
	*trace = (struct trace){.names = names};
	struct source source;
	int result = source_open(&source, path, wish->meter, err);
	if (result == 0) {
		size_t i = 0, n = sizeof FORMATS / sizeof *FORMATS;
		while (i < n && !FORMATS[i].recognise(&source.head))
			i++;
		result = i < n ? FORMATS[i].read(path, wish, &source, names, arena, trace, err)
		               : refuse(path, &source, err);
	}
	/* Whatever was found: what is torn may look damaged, or like another kind of file. */
	result = source_check(&source, err) != 0 ? -1 : result;
	source_close(&source);
	return result;
}

/* A profile that is read beside others, with names and memory of its own. */
struct reading {
	const struct read_input *input;
	const struct read_wish *wish;
	struct names names;
	struct arena arena, texts; /* of the trace, and of its names */
	bool failed;
	struct err err;
};

static int read_input(const struct read_input *input, const struct read_wish *wish, struct names *names,
                      struct arena *arena, struct err *err)
{
	return input->digest ? digest_read_bytes(input->path, input->digest, input->digest_bytes, wish, names, arena,
	                                         input->trace, err)
	                     : read_profile_with(input->path, wish, names, arena, input->trace, err);
}

/* Whether it may be a rank of a run of several files: where nothing says so, it need not be packed. */
static bool is_like_a_rank(const struct trace *t)
{
	bool communicates = t->source.rank >= 0 || t->source.ranks > 1;
	for (size_t i = 0; i < t->ops.n && !communicates; i++)
		communicates = t->ops.kind[i] == OP_COMM;
	return communicates;
}

/* Of a run of many ranks, all rows of all of them are never held. */
static void pack(struct reading *r)
{
	struct arena arena = r->arena, texts = r->texts;
	struct names names = r->names;
	struct trace whole = *r->input->trace;
	whole.names = &names;
	r->arena = r->texts = (struct arena){0};
	names_init(&r->names, &r->texts);
	if (digest_hold(&whole, &arena, &r->names, &r->arena, r->input->trace)) {
		arena_release(&arena);
		arena_release(&texts);
		return;
	}
	arena_release(&r->arena);
	arena_release(&r->texts);
	r->arena = arena;
	r->texts = texts;
	r->names = names;
	whole.names = &r->names;
	*r->input->trace = whole;
}

static void read_one(void *context, size_t i)
{
	struct reading *r = (struct reading *)context + i;
	names_init(&r->names, &r->texts);
	r->failed = read_input(r->input, r->wish, &r->names, &r->arena, &r->err) != 0;
	if (!r->failed && r->wish->again && !r->wish->details && r->input->beside && !r->input->trace->again &&
	    is_like_a_rank(r->input->trace))
		pack(r);
}

struct unread {
	const char *path, *why; /* without the path, and without what to do */
};

static struct unread unread_of(const char *path, const struct err *err, struct arena *arena)
{
	const size_t n = strlen(path);
	const char *why =
		strncmp(err->text, path, n) == 0 && !strncmp(err->text + n, ": ", 2) ? err->text + n + 2 : err->text;
	const char *end = strstr(why, "; ");
	return (struct unread){path, arena_copy(arena, why, end ? (size_t)(end - why) : strlen(why))};
}

/* Others that cannot be read are named with the first one, and why, so that nobody finds them one by one. */
static void add_others(const struct unread *unread, size_t n, struct err *err)
{
	enum { NAMED = 3 };
	BUF_LOCAL(text);
	size_t others = 0;
	bool same = true;
	for (size_t i = 1; i < n; i++)
		same = same && strcmp(unread[i].why, unread->why) == 0;
	for (size_t i = 1; i < n; i++) {
		const char *path = unread[i].path, *slash = strrchr(path, '/');
		if (strcmp(path, unread->path) != 0 && others++ < NAMED)
			buf_format(&text, "%s%s%s%s", others > 1 ? ", " : "", slash ? slash + 1 : path,
			           same ? "" : ": ", same ? "" : unread[i].why);
	}
	const struct err one = *err;
	if (others)
		err_set_id(err, one.id, "%s (%zu more of the files cannot be read%s: %s%s)", one.text, others,
		           same ? ", for the same reason" : "", text.data, others > NAMED ? " …" : "");
}

/* Names of rows that are made again are the caller's from here on; of others, texts may stand beside rows. */
static void take(struct reading *r, struct names *names, struct arena *arena)
{
	const struct read_input *input = r->input;
	struct arena *to = input->memory ? input->memory : arena;
	ARENA_LOCAL(scratch);
	if (!r->failed) {
		bool again = input->trace->again;
		trace_rename(input->trace, names, names_merge(names, &r->names, again || input->memory, &scratch));
		if (again)
			arena_release(&r->texts);
	}
	arena_adopt(to, &r->texts);
	arena_adopt(to, &r->arena);
}

/* Of many files each is read for a moment, in the same memory, and its rows are made again likewise: the system need
 * not have it meanwhile. One heap for all threads: of the heaps of others, malloc_trim leaves the end as it is. */
static void give_back_seldom(void)
{
	enum { OWN_BLOCK = 4 << 20, TOP = 64 << 20 };
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, OWN_BLOCK);
	mallopt(M_TRIM_THRESHOLD, TOP);
}

int read_profiles(const struct read_input *inputs, size_t n, const struct read_wish *wish, struct names *names,
                  struct arena *arena, struct err *err)
{
	enum {
		PAIR = 2,
		AT_ONCE = 256
	}; /* of ten thousand files, not each has names of its own until the last is read */
	if (n == 1)
		return read_input(inputs, wish, names, inputs->memory ? inputs->memory : arena, err);
	if (wish->again && n > PAIR)
		give_back_seldom();
	ARENA_LOCAL(scratch);
	struct reading *list = ARENA_NEW(&scratch, AT_ONCE, struct reading);
	struct unread *unread = ARENA_NEW(&scratch, n, struct unread);
	size_t n_unread = 0;
	for (size_t first = 0, more; first < n; first += more) {
		more = n - first < AT_ONCE ? n - first : AT_ONCE;
		for (size_t i = 0; i < more; i++)
			list[i] = (struct reading){.input = &inputs[first + i], .wish = wish};
		parallel_each(more, read_one, list);
		for (size_t i = 0; i < more; i++) {
			if (list[i].failed && !n_unread)
				*err = list[i].err;
			if (list[i].failed)
				unread[n_unread++] = unread_of(inputs[first + i].path, &list[i].err, &scratch);
			take(&list[i], names, arena);
		}
	}
	if (n_unread)
		add_others(unread, n_unread, err);
	return n_unread ? -1 : 0;
}
