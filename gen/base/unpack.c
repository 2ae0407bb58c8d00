#include "base/unpack.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#ifdef GAPLINE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum { CHUNK = 256 * 1024 };

struct unpack {
	const char *path;
	enum packing packing;
	int fd;
	bool owns;               /* the descriptor is ours to close */
	int64_t taken;           /* of the packed file, into `in` so far */
	unsigned char *room;     /* CHUNK bytes; NULL: the packed bytes are in memory */
	const unsigned char *in; /* `room`, or these bytes */
	size_t in_n, in_at;
	bool input_ended, ended;
	z_stream z;
	int state;    /* of inflate */
	int members;  /* that are complete */
	bool z_begun; /* inflateEnd is due */
#ifdef GAPLINE_ZSTD
	ZSTD_DStream *zstd;
	bool in_frame;
#endif
};

enum packing packing_of(const void *head, size_t n)
{
	if (n >= 2 && memcmp(head, "\x1F\x8B", 2) == 0)
		return PACKING_GZIP;
	/* RFC 8878: a frame, or a skippable one (as pzstd and seekable archives begin) */
	static const unsigned char frame[] = {0x28, 0xB5, 0x2F, 0xFD}, skippable[] = {0x2A, 0x4D, 0x18};
	const unsigned char *bytes = head;
	if (n >= 4 && (memcmp(bytes, frame, 4) == 0 || (bytes[0] >> 4 == 5 && memcmp(bytes + 1, skippable, 3) == 0)))
		return PACKING_ZSTD;
	return PACKING_NONE;
}

const char *packing_word(enum packing packing)
{
	return packing == PACKING_GZIP ? "gzipped" : packing == PACKING_ZSTD ? "packed with zstd" : "not packed";
}

/* Makes sure that there is input, unless it has ended. */
static int refill(struct unpack *u, struct err *err)
{
	if (u->in_at < u->in_n || u->input_ended)
		return 0;
	ssize_t n = file_read(u->fd, u->room, CHUNK);
	if (n < 0)
		return err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", u->path, err_reason(errno));
	u->input_ended = n < CHUNK;
	u->taken += n;
	u->in_n = (size_t)n;
	u->in_at = 0;
	return 0;
}

static bool no_input(const struct unpack *u)
{
	return u->in_at == u->in_n && u->input_ended;
}

/* ---- gzip ---- */

/* One turn: some input becomes some output. Returns the bytes made, or -1. */
static ssize_t gzip_turn(struct unpack *u, unsigned char *data, size_t n, struct err *err)
{
	if (u->state == Z_STREAM_END) {
		/* Another member may follow; anything else after a complete one is padding. */
		if (u->in_at == u->in_n || u->in[u->in_at] != 0x1F) {
			u->ended = true;
			return 0;
		}
		inflateReset(&u->z);
	}
	z_stream *z = &u->z;
	z->next_in = (unsigned char *)u->in + u->in_at;
	z->avail_in = (uInt)(u->in_n - u->in_at);
	z->next_out = data;
	z->avail_out = n > 1u << 30 ? 1u << 30 : (uInt)n;
	const size_t begin = u->in_at;
	u->state = inflate(z, Z_NO_FLUSH);
	u->in_at = u->in_n - z->avail_in;
	if (u->state == Z_MEM_ERROR)
		memory_exhausted();
	if (u->state == Z_STREAM_END) {
		u->members++;
	} else if (u->state == Z_BUF_ERROR && no_input(u)) {
		return err_set_id(err, ERR_DAMAGED, "%s: is cut off: the gzip data end too early; copy the file again",
		                  u->path);
	} else if (u->state != Z_OK && u->state != Z_BUF_ERROR) {
		if (u->members == 0 || z->total_out > 0)
			return err_set_id(err, ERR_DAMAGED,
			                  "%s: is damaged: the gzip data cannot be unpacked (%s); copy the file again",
			                  u->path, z->msg ? z->msg : "wrong data");
		u->in_at = begin;
		u->ended = true; /* padding that happens to begin like a member */
	}
	return z->next_out - data;
}

static void gzip_begin(struct unpack *u)
{
	u->state = inflateInit2(&u->z, 15 + 16); /* 16: gzip wrapper only */
	u->z_begun = u->state == Z_OK;
	if (!u->z_begun)
		memory_exhausted();
}

/* ---- zstd ---- */

#ifdef GAPLINE_ZSTD
static ssize_t zstd_turn(struct unpack *u, unsigned char *data, size_t n, struct err *err)
{
	if (!u->in_frame && no_input(u)) {
		u->ended = true;
		return 0;
	}
	ZSTD_inBuffer in = {u->in, u->in_n, u->in_at};
	ZSTD_outBuffer out = {data, n, 0};
	size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
	u->in_at = in.pos;
	if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
		return err_set(err,
		               "%s: was packed with a long window and needs more than 128 MB to unpack; unpack it "
		               "first: zstd -d --long=31",
		               u->path);
	if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		memory_exhausted();
	if (ZSTD_isError(left))
		return err_set_id(err, ERR_DAMAGED,
		                  "%s: is damaged: the zstd data cannot be unpacked (%s); copy the file again", u->path,
		                  ZSTD_getErrorName(left));
	u->in_frame = left > 0;
	if (u->in_frame && out.pos == 0 && no_input(u))
		return err_set_id(err, ERR_DAMAGED, "%s: is cut off: the zstd data end too early; copy the file again",
		                  u->path);
	return (ssize_t)out.pos;
}

static void zstd_begin(struct unpack *u)
{
	u->zstd = ZSTD_createDStream();
	u->in_frame = true; /* a file without any frame is cut off */
	if (!u->zstd)
		memory_exhausted();
}
#endif

/* ---- both ---- */

static ssize_t turn(struct unpack *u, unsigned char *data, size_t n, struct err *err)
{
#ifdef GAPLINE_ZSTD
	if (u->packing == PACKING_ZSTD)
		return zstd_turn(u, data, n, err);
#endif
	return gzip_turn(u, data, n, err);
}

static int begin(struct unpack *u, struct err *err)
{
	u->packing = packing_of(u->in, u->in_n);
	if (u->packing == PACKING_NONE)
		return err_set(err, "%s: is packed neither with gzip nor with zstd", u->path);
	if (u->packing == PACKING_GZIP)
		gzip_begin(u);
#ifdef GAPLINE_ZSTD
	else
		zstd_begin(u);
#else
	else
		return err_set(err,
		               "%s: is packed with zstd, and this gapline was built without libzstd; unpack it "
		               "first: zstd -d FILE",
		               u->path);
#endif
	return 0;
}

struct unpack *unpack_open(const char *path, int fd, struct err *err)
{
	struct unpack *u = memory_take_zeroed(1, sizeof *u);
	u->path = path;
	u->in = u->room = memory_take(CHUNK);
	int64_t size;
	u->owns = fd < 0;
	u->fd = u->owns ? file_open(path, &size, err) : fd;
	if (!u->owns && lseek(fd, 0, SEEK_SET) != 0)
		err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(errno));
	else if (u->fd >= 0 && refill(u, err) == 0 && begin(u, err) == 0)
		return u;
	unpack_close(u);
	return NULL;
}

struct unpack *unpack_open_bytes(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct unpack *u = memory_take_zeroed(1, sizeof *u);
	*u = (struct unpack){.path = path, .fd = -1, .in = bytes, .in_n = n, .taken = (int64_t)n, .input_ended = true};
	if (begin(u, err) == 0)
		return u;
	unpack_close(u);
	return NULL;
}

ssize_t unpack_read(struct unpack *u, void *data, size_t n, struct err *err)
{
	size_t made = 0;
	while (made < n && !u->ended) {
		if (refill(u, err) != 0)
			return -1;
		ssize_t more = turn(u, (unsigned char *)data + made, n - made, err);
		if (more < 0)
			return -1;
		made += (size_t)more;
	}
	return (ssize_t)made;
}

int64_t unpack_used(const struct unpack *u)
{
	return u->taken - (int64_t)(u->in_n - u->in_at);
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	if (u->z_begun)
		inflateEnd(&u->z);
#ifdef GAPLINE_ZSTD
	ZSTD_freeDStream(u->zstd);
#endif
	if (u->owns && u->fd >= 0)
		close(u->fd);
	free(u->room);
	free(u);
}

struct unpack *unpack_begin(const char *path, int fd, struct file_head *head, struct err *err)
{
	struct unpack *u = unpack_open(path, fd, err);
	ssize_t n = u ? unpack_read(u, head->data, sizeof head->data, err) : -1;
	head->n = n < 0 ? 0 : (size_t)n;
	head->size = (int64_t)head->n;
	if (n >= 0)
		return u;
	unpack_close(u);
	return NULL;
}

/* Packed files, unpacked into files without a name. */

enum { PIECE = 256 * 1024 };

/* A file that is gone when its descriptor is; -1 where the folder does not take one. */
static int open_nameless(const char *folder)
{
	char path[4096];
	sigset_t all, before;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (size_t)snprintf(path, sizeof path, "%s/gapline.XXXXXX", folder) >= sizeof path)
		return fd;
	/* Some file systems know no files without a name. No signal may come before the name is gone again. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return fd;
}

/* `folder` becomes where it lies, for messages. */
static int open_temporary(const char **folder)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		int fd = folders[i] && *folders[i] ? open_nameless(folders[i]) : -1;
		*folder = folders[i];
		if (fd >= 0)
			return fd;
	}
	*folder = "memory";
	return memfd_create("gapline", MFD_CLOEXEC);
}

/* Writing beyond a limit on the size of files sends a signal that kills; it is to be an error like any other. */
static void hold_size_limit(sigset_t *before)
{
	sigset_t limit;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &limit, before);
}

static void release_size_limit(const sigset_t *before)
{
	sigset_t limit;
	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	if (!sigismember(before, SIGXFSZ))
		sigtimedwait(&limit, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int pour(struct unpack *from, int to, int64_t most, const char *path, const char *folder, struct meter *meter,
                struct err *err)
{
	unsigned char *piece = memory_take(PIECE);
	int64_t used = 0;
	ssize_t n = PIECE;
	while (n == PIECE) {
		n = unpack_read(from, piece, PIECE, err);
		most -= n > 0 ? n : 0;
		if (n > 0 && most < 0)
			n = err_set(
				err,
				"%s: holds more than it says, or than a packed file of its size should; if it is to be "
				"trusted, unpack it first: gzip -d or zstd -d",
				path);
		if (n > 0 && file_write(to, piece, (size_t)n) != 0)
			n = err_set_id(err, err_id_of(errno),
			               "%s: cannot be unpacked in %s: %s; TMPDIR may name a folder with more room",
			               path, folder, err_reason(errno));
		meter_add(meter, unpack_used(from) - used);
		used = unpack_used(from);
	}
	free(piece);
	return n < 0 ? -1 : 0;
}

int unpack_to_file(const char *path, int fd, int64_t most, struct meter *meter, struct err *err)
{
	const char *folder;
	sigset_t before;
	struct unpack *from = unpack_open(path, fd, err);
	if (!from)
		return -1;
	int to = open_temporary(&folder);
	if (to < 0) {
		err_set_id(err, err_id_of(errno), "%s: there is no place to unpack it: %s", path, err_reason(errno));
		unpack_close(from);
		return -1;
	}
	hold_size_limit(&before);
	int rc = pour(from, to, most, path, folder, meter, err);
	release_size_limit(&before);
	unpack_close(from);
	if (rc != 0)
		close(to);
	else
		meter_fill(meter);
	return rc != 0 ? -1 : to;
}
