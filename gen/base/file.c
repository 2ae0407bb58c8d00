#include "base/file.h"

#include "base/buf.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int file_open(const char *path, int64_t *size, struct err *err)
{
	/* Without O_NONBLOCK the open of a pipe would wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return err_set_id(err, ERR_MISSING,
		                  "%s: no such file; check its name, and the folder that it is looked for in", path);
	if (fd < 0 && errno == EACCES)
		return err_set_id(err, ERR_UNREADABLE,
		                  "%s: cannot be opened: %s; make it readable, or run as its owner", path,
		                  err_reason(errno));
	if (fd < 0)
		return err_set_id(err, ERR_UNREADABLE, "%s: cannot be opened: %s", path, err_reason(errno));
	struct stat st;
	if (fstat(fd, &st) != 0)
		err_set_id(err, err_id_of(errno), "%s: cannot be examined: %s", path, err_reason(errno));
	else if (S_ISDIR(st.st_mode))
		err_set(err, "%s: is a folder; name one file in it", path);
	else if (!S_ISREG(st.st_mode))
		err_set(err, "%s: is not a regular file; save it to a file first", path);
	else {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

ssize_t file_read(int fd, void *data, size_t n)
{
	size_t got = 0;
	while (got < n) {
		ssize_t r = read(fd, (char *)data + got, n - got);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

int file_add(struct buf *to, const char *path, size_t most, struct err *err)
{
	int64_t size;
	char piece[1 << 14];
	ssize_t n;
	int fd = file_open(path, &size, err);
	if (fd < 0)
		return -1;
	while ((n = file_read(fd, piece, sizeof piece)) > 0 && to->n <= most)
		buf_add(to, piece, (size_t)n);
	close(fd);
	return n < 0 ? err_set(err, "%s: cannot be read", path) : 0;
}

int file_write(int fd, const void *data, size_t n)
{
	const char *bytes = data;
	while (n) {
		ssize_t done = write(fd, bytes, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

int file_head_of(int fd, const char *path, struct file_head *head, struct stat *found, struct err *err)
{
	head->n = 0;
	if (fstat(fd, found) != 0)
		return err_set_id(err, err_id_of(errno), "%s: cannot be examined: %s", path, err_reason(errno));
	head->size = found->st_size;
	while (head->n < sizeof head->data) {
		ssize_t n = pread(fd, head->data + head->n, sizeof head->data - head->n, (off_t)head->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(errno));
		if (n == 0)
			break;
		head->n += (size_t)n;
	}
	return 0;
}

int file_look(const char *path, struct file_head *head, struct err *err)
{
	struct stat found;
	int fd = file_open(path, &head->size, err);
	if (fd < 0)
		return -1;
	int result = file_head_of(fd, path, head, &found, err);
	close(fd);
	return result;
}

int file_pack(const void *data, size_t n, struct file_bytes *packed, struct err *err)
{
	*packed = (struct file_bytes){0};
	z_stream z = {0};
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) /* 16: gzip */
		memory_exhausted();
	size_t room = deflateBound(&z, n), left = n;
	packed->data = memory_take(room);
	int state = Z_OK;
	z.next_in = (unsigned char *)data;
	while (state == Z_OK) { /* avail_in and avail_out hold 4 GB at most */
		uInt in = left > 1u << 30 ? 1u << 30 : (uInt)left;
		size_t free_room = room - packed->n;
		uInt out = free_room > 1u << 30 ? 1u << 30 : (uInt)free_room;
		z.avail_in = in;
		z.next_out = packed->data + packed->n;
		z.avail_out = out;
		state = deflate(&z, in == left ? Z_FINISH : Z_NO_FLUSH);
		left -= in - z.avail_in;
		packed->n += out - z.avail_out;
	}
	deflateEnd(&z);
	if (state == Z_STREAM_END)
		return 0;
	file_release(packed);
	return err_set(err, "%zu bytes cannot be packed: zlib status %d", n, state);
}

void file_release(struct file_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct file_bytes){0};
}

bool pointer_is(const struct file_head *head)
{
	static const char begin[] = "version https://git-lfs.github.com/spec/";
	return head->n >= sizeof begin - 1 && memcmp(head->data, begin, sizeof begin - 1) == 0;
}

/* The pattern that fetches this file alone holds from any folder. A character that would be one of a pattern's own is
 * left open. */
int pointer_refuse(const char *path, const char *inside, struct err *err)
{
	BUF_LOCAL(name);
	BUF_LOCAL(command);
	const char *file = file_name(path);
	for (const char *c = file; *c; c++)
		buf_add(&name, strchr("*?[]{}!\\,#", *c) ? "?" : c, 1);
	buf_text(&command, "git ");
	if (file != path) {
		BUF_LOCAL(folder);
		buf_add(&folder, path, (size_t)(file - path));
		buf_text(&command, "-C ");
		buf_word(&command, folder.data, "");
		buf_text(&command, " ");
	}
	buf_text(&command, "lfs pull --include ");
	buf_quoted(&command, name.data);
	err_set(err, "%s: %sa pointer of Git LFS, which stands for the file that was not fetched; fetch it with: %s",
	        path, inside, command.data);
	return -1;
}
