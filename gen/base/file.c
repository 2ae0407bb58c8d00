#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static int open_regular(const char *path, int64_t *size, struct err *err)
{
	/* Without O_NONBLOCK the open of a pipe would wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, "%s: cannot be opened: %s", path, strerror(errno));
	struct stat st;
	if (fstat(fd, &st) != 0)
		err_set(err, "%s: cannot be examined: %s", path, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		err_set(err, "%s: is a folder; name one profile, a .sqlite file exported by nsys", path);
	else if (!S_ISREG(st.st_mode))
		err_set(err, "%s: is not a regular file; save the profile to a file first", path);
	else {
		*size = st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* Reads up to n bytes; fewer only at the end of the file. -1 on error. */
static ssize_t read_some(int fd, void *data, size_t n)
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

int file_look(const char *path, struct file_head *head, struct err *err)
{
	int fd = open_regular(path, &head->size, err);
	if (fd < 0)
		return -1;
	ssize_t n = read_some(fd, head->data, sizeof head->data);
	if (n < 0)
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
	close(fd);
	head->n = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -1 : 0;
}

void file_look_bytes(const struct file_bytes *bytes, struct file_head *head)
{
	head->size = (int64_t)bytes->n;
	head->n = bytes->n < sizeof head->data ? bytes->n : sizeof head->data;
	if (head->n)
		memcpy(head->data, bytes->data, head->n);
}

/* Makes sure that there is room behind the bytes; the last four bytes of a gzip file state its length modulo 2^32, so
 * that the first guess is usually exact. */
static int reserve(struct file_bytes *bytes, size_t *room, size_t guess)
{
	if (bytes->n < *room)
		return 0;
	size_t more = *room ? *room + *room / 2 : guess;
	unsigned char *data = realloc(bytes->data, more);
	if (!data)
		return -1;
	bytes->data = data;
	*room = more;
	return 0;
}

static size_t length_guess(int fd, int64_t size)
{
	unsigned char tail[4] = {0};
	size_t most =
		(size_t)size > SIZE_MAX / 1032 - 1 ? SIZE_MAX / 2 : ((size_t)size + 1) * 1032; /* deflate's best */
	if (size >= 18 && pread(fd, tail, 4, size - 4) == 4) {
		size_t n = (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
		if (n > 0 && n <= most)
			return n + 1; /* one more, so that the end is met without growing */
	}
	return 64 * 1024;
}

int file_unpack(const char *path, struct file_bytes *bytes, struct err *err)
{
	enum { CHUNK = 256 * 1024 };
	*bytes = (struct file_bytes){0};
	int64_t size;
	int fd = open_regular(path, &size, err), result = -1;
	if (fd < 0)
		return -1;
	z_stream z = {0};
	unsigned char *in = malloc(CHUNK);
	size_t room = 0, guess = length_guess(fd, size);
	int state = in ? inflateInit2(&z, 15 + 16) : Z_MEM_ERROR; /* 16: gzip wrapper only */
	if (state != Z_OK) {
		err_set(err, "%s: out of memory", path);
		goto done;
	}
	int members = 0, at_end = 0;
	for (;;) {
		if (z.avail_in == 0 && !at_end) {
			ssize_t n = read_some(fd, in, CHUNK);
			if (n < 0) {
				err_set(err, "%s: cannot be read: %s", path, strerror(errno));
				goto done;
			}
			at_end = n < CHUNK;
			z.next_in = in;
			z.avail_in = (uInt)n;
		}
		if (state == Z_STREAM_END) {
			/* Another member may follow; anything else after a complete one is padding. */
			if (z.avail_in == 0 || z.next_in[0] != 0x1F)
				break;
			inflateReset(&z);
			state = Z_OK;
		}
		if (reserve(bytes, &room, guess) != 0) {
			err_set(err, "%s: does not fit into memory when unpacked", path);
			goto done;
		}
		size_t free_room = room - bytes->n;
		z.next_out = bytes->data + bytes->n;
		z.avail_out = free_room > 1u << 30 ? 1u << 30 : (uInt)free_room;
		uInt before = z.avail_out;
		state = inflate(&z, Z_NO_FLUSH);
		bytes->n += before - z.avail_out;
		if (state == Z_STREAM_END) {
			members++;
			continue;
		}
		if (state == Z_BUF_ERROR && z.avail_in == 0 && at_end) {
			err_set(err, "%s: is cut off: the gzip data end too early; copy the file again", path);
			goto done;
		}
		if (state != Z_OK && state != Z_BUF_ERROR) {
			if (members > 0 && z.total_out == 0)
				break; /* padding that happens to begin like a member */
			err_set(err, "%s: is damaged: the gzip data cannot be unpacked (%s); copy the file again", path,
			        z.msg ? z.msg : "wrong data");
			goto done;
		}
	}
	result = 0;
done:
	if (in)
		inflateEnd(&z);
	free(in);
	close(fd);
	if (result != 0)
		file_release(bytes);
	return result;
}

int file_pack(const void *data, size_t n, struct file_bytes *packed, struct err *err)
{
	*packed = (struct file_bytes){0};
	z_stream z = {0};
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) /* 16: gzip */
		return err_set(err, "out of memory while packing %zu bytes", n);
	size_t room = deflateBound(&z, n), left = n;
	packed->data = malloc(room);
	int state = packed->data ? Z_OK : Z_MEM_ERROR;
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
	return err_set(err, "out of memory while packing %zu bytes", n);
}

void file_release(struct file_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct file_bytes){0};
}
