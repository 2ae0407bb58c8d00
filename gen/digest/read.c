#include "digest/digest.h"

#include "base/memory.h"
#include "digest/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

bool digest_recognise(const struct file_head *head)
{
	size_t n = strlen(LAYOUT_MAGIC);
	return head->n > n && memcmp(head->data, LAYOUT_MAGIC, n) == 0;
}

/* Reads everything that is in the file, unpacked. */
static int read_contents(const char *path, struct source *source, struct buf *to, struct err *err)
{
	int64_t size = 0, used = 0;
	bool packed = source->packing != PACKING_NONE;
	struct unpack *from = packed ? unpack_open(path, err) : NULL;
	int fd = packed ? -1 : file_open(path, &size, err);
	if (packed ? !from : fd < 0)
		return -1;
	char *piece = memory_take(PIECE);
	ssize_t n = PIECE;
	while (n == PIECE) {
		n = packed ? unpack_read(from, piece, PIECE, err) : file_read(fd, piece, PIECE);
		if (n < 0 && !packed)
			err_set(err, "%s: cannot be read: %s", path, strerror(errno));
		if (n > 0)
			buf_add(to, piece, (size_t)n);
		if (packed && (int64_t)to->n > source_most(source))
			n = err_set(err, "%s: holds more than a packed file of its size should", path);
		int64_t so_far = packed ? unpack_used(from) : used + (n > 0 ? n : 0);
		meter_add(&source->whole, so_far - used);
		used = so_far;
	}
	free(piece);
	unpack_close(from);
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

int digest_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err)
{
	struct buf contents = {0};
	if (wish->details)
		return err_set(
			err,
			"%s: is a digest, which holds what a report needs and not every row; 'gapline stats' and "
			"reports of Nsight Compute need more: name the profile that it was made of",
			path);
	int result = read_contents(path, source, &contents, err);
	if (result == 0)
		result =
			digest_decode(path, (const unsigned char *)contents.data, contents.n, names, arena, trace, err);
	buf_release(&contents);
	if (result == 0 && !trace->ops.n && !wish->without_gpu)
		result = err_set(err,
		                 "%s: this digest holds no GPU work, so there is nothing to judge; capture again with "
		                 "--trace=cuda,nvtx and digest that",
		                 path);
	return result;
}
