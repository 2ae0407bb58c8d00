#include "read/digest_inside.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#ifdef GAPLINE_ZSTD
#include <pthread.h>
#include <zstd.h>
#else
#include <zlib.h>
#endif

/* What is kept, in one piece. */
struct kept {
	size_t n, unpacked; /* n == unpacked: it is not packed */
	unsigned char bytes[];
};

#ifdef GAPLINE_ZSTD

/* What zstd works with, one a thread: to make it anew took as long as to unpack a rank. */
struct packer {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
};

static pthread_key_t packers;

static void packer_free(void *packer)
{
	struct packer *p = packer;
	ZSTD_freeCCtx(p->pack);
	ZSTD_freeDCtx(p->unpack);
	free(p);
}

/* A thread that ends gives its own back; the one that ends the process does not end before. */
static void end_packers(void)
{
	void *last = pthread_getspecific(packers);
	if (last)
		packer_free(last);
	pthread_setspecific(packers, NULL);
}

static void make_packers(void)
{
	if (pthread_key_create(&packers, packer_free) || atexit(end_packers))
		memory_exhausted();
}

static struct packer *own_packer(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_packers);
	struct packer *p = pthread_getspecific(packers);
	if (p)
		return p;
	p = memory_take(sizeof *p);
	*p = (struct packer){ZSTD_createCCtx(), ZSTD_createDCtx()};
	if (!p->pack || !p->unpack || pthread_setspecific(packers, p))
		memory_exhausted();
	return p;
}

/* What is made again several times has to be unpacked as often, and zstd takes a fifth of zlib's time. 0: it becomes no
 * smaller. */
static size_t pack(const struct buf *contents, char *to, size_t room)
{
	enum { LEVEL = 3 }; /* smaller than 1, and sooner unpacked */
	size_t n = ZSTD_compressCCtx(own_packer()->pack, to, room, contents->data, contents->n, LEVEL);
	return ZSTD_isError(n) ? 0 : n;
}

static bool unpack(const struct kept *kept, unsigned char *to)
{
	return !ZSTD_isError(ZSTD_decompressDCtx(own_packer()->unpack, to, kept->unpacked, kept->bytes, kept->n));
}

#else

static size_t pack(const struct buf *contents, char *to, size_t room)
{
	uLongf n = room;
	int state = compress2((Bytef *)to, &n, (const Bytef *)contents->data, contents->n, Z_BEST_SPEED);
	return state == Z_OK ? n : 0;
}

static bool unpack(const struct kept *kept, unsigned char *to)
{
	uLongf n = kept->unpacked;
	return uncompress(to, &n, kept->bytes, kept->n) == Z_OK;
}

#endif

static void load(const struct trace_again *part, unsigned rows, struct names *names, struct arena *arena,
                 struct trace *out)
{
	const struct kept *kept = part->kept;
	const unsigned char *bytes = kept->bytes;
	unsigned char *room = NULL;
	if (kept->n != kept->unpacked) {
		bytes = room = memory_take(kept->unpacked);
		if (!unpack(kept, room))
			memory_exhausted(); /* it was packed here: nothing else can fail */
	}
	const struct digest_names ids = {part->ids, part->told, part->n_ids};
	digest_decode_again(bytes, kept->unpacked, rows, names, &ids, arena, out);
	free(room);
}

int keep_decode(const char *path, const struct buf *contents, struct names *names, struct arena *arena,
                struct trace *trace, struct err *err)
{
	ARENA_LOCAL(rows);
	BUF_LOCAL(again);
	struct digest_names ids;
	buf_room(&again, contents->n);
	int result = digest_decode_apart(path, (const unsigned char *)contents->data, contents->n, names,
	                                 &(struct digest_memory){arena, &rows, &again}, trace, &ids, err);
	if (result == 0) {
		char *packed = memory_take(again.n);
		size_t n = pack(&again, packed, again.n - 1);
		struct kept *kept = arena_take(arena, sizeof *kept + (n ? n : again.n), 1);
		kept->n = n ? n : again.n;
		kept->unpacked = again.n;
		memcpy(kept->bytes, n ? packed : again.data, kept->n);
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
