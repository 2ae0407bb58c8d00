#include "read/digest.h"

#include "read/digest_inside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 * 1024 };

bool digest_recognise(const struct file_head *head)
{
	size_t n = strlen(LAYOUT_MAGIC);
	return head->n > n && memcmp(head->data, LAYOUT_MAGIC, n) == 0;
}

/* Everything that `from`, which is closed, unpacks of `n` bytes; of a `what`, for messages. */
static int unpack_contents(const char *path, struct unpack *from, int64_t n, const char *what, struct meter *meter,
                           struct buf *to, struct err *err)
{
	const struct source limits = {.packing = PACKING_GZIP, .packed_bytes = n};
	int64_t used = 0;
	ssize_t got = from ? PIECE : -1;
	while (got == PIECE) {
		buf_room(to, PIECE);
		got = unpack_read(from, to->data + to->n, PIECE, err);
		to->n += got > 0 ? (size_t)got : 0;
		if ((int64_t)to->n > source_most(&limits))
			got = err_set(err, "%s: holds more than a packed %s of its size should", path, what);
		meter_add(meter, unpack_used(from) - used);
		used = unpack_used(from);
	}
	if (got >= 0 && used != n)
		got = digest_refuse_behind(path, err);
	unpack_close(from);
	return got < 0 ? -1 : 0;
}

/* Reads everything that is in the file, unpacked. */
static int read_contents(const char *path, struct source *source, struct buf *to, struct err *err)
{
	if (source->packing != PACKING_NONE) {
		buf_add(to, (const char *)source->head.data, source->head.n);
		return unpack_contents(path, source_behind(source), source->packed_bytes, "file", &source->whole, to,
		                       err);
	}
	if (source_rewind(source, err) != 0)
		return -1;
	for (ssize_t n = PIECE; n == PIECE; to->n += (size_t)n) {
		buf_room(to, PIECE);
		n = file_read(source->fd, to->data + to->n, PIECE);
		if (n < 0)
			return err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(errno));
		meter_add(&source->whole, n);
	}
	return 0;
}

/* What a digest is refused for that could be decoded, or before that. */
static int refuse_details(const char *path, const struct read_wish *wish, struct err *err)
{
	return wish->details || wish->only
	               ? err_set(err,
	                         "%s: is a digest, which holds what a report needs and not every row; 'gapline stats' "
	                         "and reports of Nsight Compute need more: name the profile that it was made of",
	                         path)
	               : 0;
}

static int decode(const char *path, const struct buf *contents, const struct read_wish *wish, struct names *names,
                  struct arena *arena, struct trace *trace, struct err *err)
{
	int result = wish->again ? keep_decode(path, contents, names, arena, trace, err)
	                         : digest_decode(path, (const unsigned char *)contents->data, contents->n, names, arena,
	                                         trace, err);
	size_t ops = trace->again ? trace->again->ops : trace->ops.n;
	return result == 0 && !ops && !wish->without_gpu
	               ? err_set_id(
				 err, ERR_EMPTY,
				 "%s: this digest holds no GPU work, so there is nothing to judge; capture again with "
				 "--trace=cuda,nvtx and digest that",
				 path)
	               : result;
}

int digest_read(const char *path, const struct read_wish *wish, struct source *source, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err)
{
	BUF_LOCAL(contents);
	int result = refuse_details(path, wish, err);
	if (result == 0)
		result = read_contents(path, source, &contents, err);
	if (result == 0)
		result = decode(path, &contents, wish, names, arena, trace, err);
	return result;
}

/* ---- in memory ---- */

int digest_read_bytes(const char *path, const unsigned char *bytes, size_t n, const struct read_wish *wish,
                      struct names *names, struct arena *arena, struct trace *trace, struct err *err)
{
	*trace = (struct trace){.names = names};
	struct file_head head = {.n = n < sizeof head.data ? n : sizeof head.data, .size = (int64_t)n};
	memcpy(head.data, bytes, head.n);
	BUF_LOCAL(contents);
	int result = refuse_details(path, wish, err);
	if (result == 0 && packing_of(bytes, n) != PACKING_NONE)
		result = unpack_contents(path, unpack_open_bytes(path, bytes, n, err), (int64_t)n, "digest", NULL,
		                         &contents, err);
	else if (result == 0 && digest_recognise(&head))
		buf_add(&contents, (const char *)bytes, n);
	else if (result == 0)
		result = err_set(err, "%s: is no digest", path);
	if (result == 0)
		result = decode(path, &contents, wish, names, arena, trace, err);
	meter_add(wish->meter, (int64_t)n);
	return result;
}
