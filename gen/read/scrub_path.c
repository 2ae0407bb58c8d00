#include "read/scrub_parts.h"

#include "base/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Folders at the top of Linux and macOS (hier(7)), of containers, and of shared storage. */
static const char common_roots[] =
	"Applications Library System Users Volumes afs app bin boot cluster content cvmfs data dev efs eos etc fsx "
	"global gpfs home homes kaggle lib lib64 lus lustre media mnt net nfs nix nobackup opt proc project projects "
	"root run sbin scratch shared snap srv storage sys tmp users usr var work workdir workspace";

static const char extensions[] =
	"bin c cc ckpt conf cpp csv cu cuh dat dll engine exe gz h h5 hpp ini jl jpg json jsonl ipynb jpeg "
	"log npy npz onnx pb pkl png pt parquet pth py pyc pyx rs sh so tar toml trt txt whl xml safetensors "
	"sqlite yaml yml zip tfrecord";

static bool is_root(const struct scrub_roots *roots, const char *name, size_t n)
{
	for (size_t i = 0; i < roots->n; i++)
		if (strlen(roots->names[i]) == n && !memcmp(roots->names[i], name, n))
			return true;
	return words_have(common_roots, name, n, strncmp);
}

bool scrub_path_is_part(unsigned char c)
{
	return c > ' ' && c != 0x7f && !scrub_path_is_separator((char)c) && !strchr("()<>[]{}\"'`|;,:?*", c);
}

static size_t part_end(const char *bytes, size_t n, size_t at)
{
	while (at < n && scrub_path_is_part((unsigned char)bytes[at]))
		at++;
	return at;
}

/* Nothing stands before it that it could belong to. */
static bool begins_path(const char *bytes, size_t at)
{
	unsigned char before = at && bytes[at - 1] ? (unsigned char)bytes[at - 1] : ' ';
	char second = at > 1 ? bytes[at - 2] : ' ';
	if (before == '>' && (second == '=' || second == '-')) /* an arrow */
		return true;
	if (isalpha(before) && second == '-' &&
	    (at == 2 || isspace((unsigned char)bytes[at - 3]))) /* "-I/usr/include" */
		return true;
	return !isalnum(before) && before < 0x80 && !strchr("_.*)]>~/\\", before);
}

bool scrub_path_stops(char c)
{
	return isspace((unsigned char)c) || strchr("\"'`()<>[]{},;=", c);
}

void scrub_path_learn(struct scrub_roots *roots, struct arena *arena, const char *bytes, size_t n)
{
	for (size_t at = 0; at < n; at++) {
		if (bytes[at] != '/' || !begins_path(bytes, at))
			continue;
		size_t from = at + 1, end = part_end(bytes, n, from), length = end - from;
		if (length == 0 || length > 255 || end == n || bytes[end] != '/' ||
		    is_root(roots, bytes + from, length))
			continue;
		if (roots->n == sizeof roots->names / sizeof *roots->names)
			return;
		roots->names[roots->n++] = arena_copy(arena, bytes + from, length);
	}
}

/* "x.py", "libx.so.1" */
static bool is_file_name(const char *part, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (part[i] != '.')
			continue;
		size_t from = i + 1, end = from;
		while (end < n && isalnum((unsigned char)part[end]))
			end++;
		bool is_last = end == n || (end - from == 2 && !strncmp(part + from, "so", 2) && part[end] == '.');
		if (is_last && words_have(extensions, part + from, end - from, strncmp))
			return true;
	}
	return false;
}

/* A path by how it begins: "~/", "//", "C:/", "\", or a folder that is known. */
static bool is_rooted(const struct scrub_roots *roots, const char *bytes, size_t n, size_t at)
{
	if (bytes[at] != '/' || (at + 1 < n && scrub_path_is_separator(bytes[at + 1])))
		return true;
	if (at >= 2 && bytes[at - 1] == ':' && isalpha((unsigned char)bytes[at - 2]) &&
	    (at == 2 || !isalnum((unsigned char)bytes[at - 3])))
		return true;
	const char *root = bytes + at + 1;
	size_t length = part_end(bytes, n, at + 1) - at - 1;
	return is_root(roots, root, length);
}

/* Names of folders have spaces in them: "My Documents/". A word that a separator follows belongs to the part before. */
static size_t part_with_spaces(const char *bytes, size_t n, size_t end)
{
	enum { WORDS_MORE = 3 };
	size_t longer = end;
	for (int i = 0; i < WORDS_MORE && longer + 1 < n && bytes[longer] == ' ' &&
	                scrub_path_is_part((unsigned char)bytes[longer + 1]);
	     i++) {
		longer = part_end(bytes, n, longer + 1);
		if (longer < n && scrub_path_is_separator(bytes[longer]))
			return longer;
	}
	return end;
}

/* The length of "~", or of "~somebody", before a separator. */
static size_t home_of(const char *bytes, size_t n, size_t at)
{
	size_t end = at + 1;
	if (bytes[at] != '~')
		return 0;
	while (end < n && (isalnum((unsigned char)bytes[end]) || strchr("_-.", bytes[end])))
		end++;
	return end < n && scrub_path_is_separator(bytes[end]) ? end - at : 0;
}

size_t scrub_path_folder(const struct scrub_roots *roots, const char *bytes, size_t n, size_t at)
{
	size_t tilde = home_of(bytes, n, at);
	if ((!tilde && !scrub_path_is_separator(bytes[at])) || !begins_path(bytes, at))
		return 0;
	size_t i = at + tilde, folder = 0, parts = tilde > 0, last = 0, last_n = 0, before_last = 0, before_last_n = 0;
	while (i < n && scrub_path_is_separator(bytes[i])) {
		while (i < n && scrub_path_is_separator(bytes[i]))
			i++;
		folder = i - at;
		size_t from = i;
		i = part_end(bytes, n, i);
		if (i == from)
			break;
		i = part_with_spaces(bytes, n, i);
		parts++;
		before_last = last, before_last_n = last_n;
		last = from, last_n = i - from;
	}
	if (parts < 2 || !(is_rooted(roots, bytes, n, at) || is_file_name(bytes + last, last_n)))
		return 0;
	bool is_home = (before_last_n == 4 && !strncmp(bytes + before_last, "home", 4)) ||
	               (before_last_n == 5 && !strncasecmp(bytes + before_last, "users", 5));
	return is_home ? i - at : folder;
}
