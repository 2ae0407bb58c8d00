#include "digest/keep.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef GAPLINE_ZSTD
#include <zstd.h>
#else
#include <zlib.h>
#endif

/* What is kept, in one piece. */
struct kept {
	size_t n, unpacked; /* n == unpacked: it is not packed */
	unsigned char bytes[];
};

/* What is made again several times has to be unpacked as often, and zstd's quickest way takes a fifth of zlib's time.
 * 0: it becomes no smaller. */
static size_t pack(const struct buf *contents, char *to, size_t room)
{
#ifdef GAPLINE_ZSTD
	size_t n = ZSTD_compress(to, room, contents->data, contents->n, 1);
	return ZSTD_isError(n) ? 0 : n;
#else
	uLongf n = room;
	int state = compress2((Bytef *)to, &n, (const Bytef *)contents->data, contents->n, Z_BEST_SPEED);
	return state == Z_OK ? n : 0;
#endif
}

static void unpack(const struct kept *kept, unsigned char *to)
{
#ifdef GAPLINE_ZSTD
	bool good = !ZSTD_isError(ZSTD_decompress(to, kept->unpacked, kept->bytes, kept->n));
#else
	uLongf n = kept->unpacked;
	bool good = uncompress(to, &n, kept->bytes, kept->n) == Z_OK;
#endif
	if (!good)
		memory_exhausted(); /* it was packed here: nothing else can fail */
}

static void load(const struct trace_again *part, unsigned rows, struct names *names, struct arena *arena,
                 struct trace *out)
{
	const struct kept *kept = part->kept;
	const unsigned char *bytes = kept->bytes;
	unsigned char *room = NULL;
	if (kept->n != kept->unpacked) {
		bytes = room = memory_take(kept->unpacked);
		unpack(kept, room);
	}
	const struct digest_names ids = {part->ids, part->told, part->n_ids};
	digest_decode_again(bytes, kept->unpacked, rows, names, &ids, arena, out);
	free(room);
}

int keep_decode(const char *path, const struct buf *contents, struct names *names, struct arena *arena,
                struct trace *trace, struct err *err)
{
	ARENA_LOCAL(rows);
	struct digest_names ids;
	int result = digest_decode_apart(path, (const unsigned char *)contents->data, contents->n, names,
	                                 &(struct digest_memory){arena, &rows}, trace, &ids, err);
	if (result == 0) {
		char *packed = memory_take(contents->n);
		size_t n = pack(contents, packed, contents->n - 1);
		struct kept *kept = arena_alloc(arena, sizeof *kept + (n ? n : contents->n), 1);
		kept->n = n ? n : contents->n;
		kept->unpacked = contents->n;
		memcpy(kept->bytes, n ? packed : contents->data, kept->n);
		free(packed);
		struct trace_again *part = ARENA_NEW(arena, 1, struct trace_again);
		*part = (struct trace_again){.load = load,
		                             .kept = kept,
		                             .n_kept = sizeof *kept + kept->n,
		                             .ids = ids.id,
		                             .told = ids.told,
		                             .n_ids = ids.n};
		again_leave(trace, part, arena);
		trace->again = part;
		trace->n_again = 1;
	}
	return result;
}
