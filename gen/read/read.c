#include "read/read.h"

#include "base/file.h"
#include "read/nsys.h"

#include <string.h>

/* What a file is, told by how it begins. */
static bool begins(const struct file_head *head, const char *magic, size_t n)
{
	return head->n >= n && memcmp(head->data, magic, n) == 0;
}

#define BEGINS(head, magic) begins((head), (magic), sizeof(magic) - 1)

static const char SQLITE_MAGIC[] = "SQLite format 3"; /* its NUL belongs to it */

static bool is_json(const struct file_head *head)
{
	size_t i = BEGINS(head, "\xEF\xBB\xBF") ? 3 : 0;
	while (i < head->n && strchr(" \t\r\n", head->data[i]) && head->data[i])
		i++;
	return i < head->n && (head->data[i] == '{' || head->data[i] == '[');
}

/* The name of a packed or foreign format, or NULL. */
static const char *packed_as(const struct file_head *head)
{
	if (BEGINS(head, "\xFD"
	                 "7zXZ"))
		return "xz";
	if (BEGINS(head, "\x28\xB5\x2F\xFD"))
		return "zstd";
	if (BEGINS(head, "PK\x03\x04"))
		return "zip";
	if (BEGINS(head, "BZh"))
		return "bzip2";
	return NULL;
}

/* Fills err with what the file is instead of a profile. `packed`: the head is of a gzip file's contents. */
static int refuse(const char *path, const struct file_head *head, bool packed, struct err *err)
{
	const char *inside = packed ? "holds, gzipped, " : "is ";
	if (head->size == 0)
		return err_set(err, "%s: %s; capture or export the profile again", path,
		               packed ? "holds nothing, gzipped" : "is empty");
	if (BEGINS(head, "NVIDIA Tegra Profiler Report")) {
		if (packed)
			return err_set(
				err,
				"%s: holds a gzipped nsys report; unpack it and export it with: nsys export --type "
				"sqlite --output PROFILE.sqlite REPORT.nsys-rep",
				path);
		return err_set(
			err,
			"%s: is an nsys report, which only nsys itself can read; export it with: nsys export --type "
			"sqlite --force-overwrite true --output \"%s.sqlite\" \"%s\"",
			path, path, path);
	}
	if (BEGINS(head, "NVR\0"))
		return err_set(
			err,
			"%s: %sa Nsight Compute report (single kernels); this compares Nsight Systems profiles: nsys "
			"profile COMMAND, then nsys export --type sqlite",
			path, inside);
	if (is_json(head))
		return err_set(
			err,
			"%s: %sJSON, such as a PyTorch profiler (Kineto) trace; this version reads only what nsys "
			"exports: capture with nsys profile, then nsys export --type sqlite",
			path, inside);
	if (packed_as(head))
		return err_set(err, "%s: %spacked with %s; unpack it first", path, inside, packed_as(head));
	if (head->n < sizeof SQLITE_MAGIC && begins(head, SQLITE_MAGIC, head->n))
		return err_set(err, "%s: is cut off: only %zu bytes of a SQLite database; copy the file again", path,
		               head->n);
	return err_set(
		err,
		"%s: %sno profile that can be read here; export one with: nsys export --type sqlite REPORT.nsys-rep",
		path, inside);
}

int read_profile(const char *path, struct names *names, struct arena *arena, struct trace *trace, struct err *err)
{
	return read_profile_with(path, &(struct read_wish){0}, names, arena, trace, err);
}

int read_profile_with(const char *path, const struct read_wish *wish, struct names *names, struct arena *arena,
                      struct trace *trace, struct err *err)
{
	*trace = (struct trace){.names = names};
	struct file_head head;
	struct file_bytes unpacked = {0};
	int result = -1;
	if (file_look(path, &head, err) != 0)
		return -1;
	bool packed = BEGINS(&head, "\x1F\x8B");
	if (packed) {
		if (file_unpack(path, &unpacked, err) != 0)
			return -1;
		file_look_bytes(&unpacked, &head);
	}
	if (begins(&head, SQLITE_MAGIC, sizeof SQLITE_MAGIC))
		result = nsys_read(path, wish, &unpacked, names, arena, trace, err);
	else
		refuse(path, &head, packed, err);
	file_release(&unpacked);
	if (result == 0)
		trace_link(trace, arena);
	return result;
}
