#include "digest/keep.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef GAPLINE_ZSTD
#include <zstd.h>
#endif

enum { LARGEST = 1 << 26, GZIP = 15 + 16 /* inflateInit2: the largest window, in gzip's wrapper */ };

/* What is kept, in one piece. */
struct kept {
	size_t n, unpacked; /* n == unpacked: it is not packed */
	bool zstd;          /* else gzip */
	unsigned char bytes[];
};

/* One gzip member, and nothing behind it. At most `room` bytes; 0: it is something else. */
static size_t unpack(const unsigned char *packed, size_t n, unsigned char *to, size_t room)
{
	z_stream z = {.next_in = (unsigned char *)packed, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)room};
	if (inflateInit2(&z, GZIP) != Z_OK)
		memory_exhausted();
	int state = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (state == Z_MEM_ERROR)
		memory_exhausted();
	return state == Z_STREAM_END && !z.avail_in ? z.total_out : 0;
}

/* What the last four bytes of a gzip member say is in it. */
static size_t said(const struct buf *packed)
{
	if (packed->n < 18)
		return 0;
	const unsigned char *end = (const unsigned char *)packed->data + packed->n - 4;
	return end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
}

static bool read_file(const struct source *source, struct buf *to)
{
	struct err ignored;
	int64_t size = source->packed_bytes;
	ssize_t n = -1;
	if (size > 0 && size < LARGEST && source_rewind(source, &ignored) == 0) {
		char *bytes = memory_take((size_t)size + 1); /* one more: it may have grown */
		n = file_read(source->fd, bytes, (size_t)size + 1);
		if (n == size)
			buf_add(to, bytes, (size_t)n);
		free(bytes);
	}
	return n == size;
}

bool keep_unpack(const struct buf *packed, int64_t most, struct buf *contents)
{
	size_t room = said(packed);
	if (!room || room >= LARGEST || (int64_t)room > most)
		return false;
	unsigned char *bytes = memory_take(room);
	if (unpack((const unsigned char *)packed->data, packed->n, bytes, room) == room)
		buf_add(contents, (const char *)bytes, room);
	free(bytes);
	return contents->n > 0;
}

bool keep_read(struct source *source, struct buf *packed, struct buf *contents)
{
	bool good = source->packing == PACKING_GZIP && read_file(source, packed) &&
	            keep_unpack(packed, source_most(source), contents);
	if (!good)
		buf_release(packed);
	return good;
}

/* Packed anew where that is possible: what is made again several times has to be unpacked as often, and zstd's quickest
 * way takes a fifth of gzip's time. Empty where it is not. */
static void pack(const struct buf *contents, struct buf *to)
{
#ifdef GAPLINE_ZSTD
	enum { QUICKEST = 1 };
	size_t room = ZSTD_compressBound(contents->n);
	char *bytes = memory_take(room);
	size_t n = ZSTD_compress(bytes, room, contents->data, contents->n, QUICKEST);
	if (!ZSTD_isError(n) && n < contents->n)
		buf_add(to, bytes, n);
	free(bytes);
#else
	(void)contents;
	(void)to;
#endif
}

static void unpack_kept(const struct kept *kept, unsigned char *to)
{
#ifdef GAPLINE_ZSTD
	if (kept->zstd) {
		if (ZSTD_isError(ZSTD_decompress(to, kept->unpacked, kept->bytes, kept->n)))
			memory_exhausted(); /* it was packed here: nothing else can fail */
		return;
	}
#endif
	unpack(kept->bytes, kept->n, to, kept->unpacked);
}

static void load(const struct trace_again *part, unsigned rows, struct names *names, struct arena *arena,
                 struct trace *out)
{
	const struct kept *kept = part->kept;
	const unsigned char *bytes = kept->bytes;
	unsigned char *room = NULL;
	if (kept->n != kept->unpacked) {
		bytes = room = memory_take(kept->unpacked);
		unpack_kept(kept, room);
	}
	const struct digest_names ids = {part->ids, part->n_ids};
	digest_decode_again(bytes, kept->unpacked, rows, names, &ids, arena, out);
	free(room);
}

int keep_decode(const char *path, const struct buf *packed, const struct buf *contents, struct names *names,
                struct arena *arena, struct trace *trace, struct err *err)
{
	struct arena rows = {0};
	struct digest_names ids;
	struct buf again = {0};
	int result = digest_decode_apart(path, (const unsigned char *)contents->data, contents->n, names,
	                                 &(struct digest_memory){arena, &rows}, trace, &ids, err);
	if (result == 0) {
		pack(contents, &again);
		const struct buf *from = again.n ? &again : packed->n && packed->n < contents->n ? packed : contents;
		struct kept *kept = arena_alloc(arena, sizeof *kept + from->n, 1);
		kept->n = from->n;
		kept->zstd = again.n > 0;
		kept->unpacked = contents->n;
		memcpy(kept->bytes, from->data, from->n);
		struct trace_again *part = ARENA_NEW(arena, 1, struct trace_again);
		*part = (struct trace_again){
			.load = load, .kept = kept, .n_kept = sizeof *kept + from->n, .ids = ids.id, .n_ids = ids.n};
		again_leave(trace, part, arena);
		trace->again = part;
		trace->n_again = 1;
		buf_release(&again);
	}
	arena_release(&rows);
	return result;
}
