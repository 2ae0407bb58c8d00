/* Fuzz target: packed files. The first bytes say how, the others are what is packed: whole, in several members, with
 * bytes changed afterwards, or cut off; or the bytes are the packed file itself. What was not damaged comes out as it
 * went in. */
#include "base/unpack.h"
#include "read/source.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#ifdef GAPLINE_ZSTD
#include <zstd.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MADE = 1 << 22 }; /* no more than that is unpacked */

static uint8_t packed[1 << 20];

static void keep(bool promise)
{
	if (!promise)
		abort();
}

static size_t pack_gzip(const uint8_t *data, size_t n, size_t at, int level)
{
	z_stream z = {0};
	if (deflateInit2(&z, level % 10, Z_DEFLATED, 15 + 16, 8, level % 5) != Z_OK)
		abort();
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)n;
	z.next_out = packed + at;
	z.avail_out = (uInt)(sizeof packed - at);
	int done = deflate(&z, Z_FINISH);
	size_t end = sizeof packed - z.avail_out;
	deflateEnd(&z);
	return done == Z_STREAM_END ? end : at;
}

static size_t pack(const uint8_t *data, size_t n, size_t at, int how)
{
#ifdef GAPLINE_ZSTD
	if (how & 0x80) {
		size_t made = ZSTD_compress(packed + at, sizeof packed - at, data, n, how % 20);
		return ZSTD_isError(made) ? at : at + made;
	}
#endif
	return pack_gzip(data, n, at, how & 0x7F);
}

/* The file's contents through each of the doors; whether they are `wanted`, where that is known. */
static void unpack(const char *path, const uint8_t *wanted, size_t n)
{
	struct err err = {0};
	struct file_head head;
	struct source source;
	static uint8_t out[MADE];
	struct unpack *u = unpack_open(path, -1, &err);
	size_t all = 0;
	ssize_t more = -1;
	while (u && all < sizeof out &&
	       (more = unpack_read(u, out + all, sizeof out - all < 4099 ? sizeof out - all : 4099, &err)) > 0)
		all += (size_t)more;
	keep(!u || unpack_used(u) >= 0);
	unpack_close(u);
	keep(more >= 0 || err.text[0]);
	if (wanted)
		keep(more == 0 && all == n && memcmp(out, wanted, n) == 0);
	err.text[0] = '\0';
	u = unpack_begin(path, -1, &head, &err);
	unpack_close(u);
	if (!u)
		keep(err.text[0] && !wanted);
	else
		keep(head.n <= sizeof head.data && (!wanted || memcmp(head.data, wanted, head.n) == 0));
	err.text[0] = '\0';
	int fd = unpack_to_file(path, -1, MADE, NULL, &err);
	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END);
		keep(size <= MADE && (more != 0 || size == (off_t)all));
		close(fd);
	} else {
		keep(err.text[0] && !wanted);
	}
	err.text[0] = '\0';
	if (source_open(&source, path, NULL, &err) != 0 || source_unpack(&source, &err) != 0)
		keep(err.text[0]);
	source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	static char path[64];
	if (fd < 0) {
		fd = memfd_create("fuzz-packed", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		setenv("TMPDIR", "/dev/shm", 0);
	}
	const uint8_t *wanted = NULL;
	size_t n_packed = 0, n_wanted = 0;
	if (n >= 8 && data[0] == 'P') { /* P, how often, how, where, 4 changes: then the contents */
		const uint8_t *contents = data + 8;
		size_t left = n - 8, members = 1 + data[1] % 3;
		n_wanted = left;
		for (size_t i = 0; i < members; i++) {
			size_t piece = i + 1 < members ? left * data[3] / 256 : left;
			n_packed = pack(contents, piece, n_packed, data[2]);
			contents += piece;
			left -= piece;
		}
		wanted = n_wanted ? data + 8 : NULL;
		for (size_t i = 4; i < 8 && n_packed; i++)
			if (data[i]) { /* the beginning and the end are where the format's own bytes are */
				size_t reach = n_packed < 24 ? n_packed : 24, at = data[i] % reach;
				packed[data[i] & 0x80 ? n_packed - 1 - at : at] ^= data[i];
				wanted = NULL;
			}
		if (data[1] >= 128) {
			n_packed -= data[1] % (n_packed ? n_packed : 1);
			wanted = NULL;
		}
	} else {
		n_packed = n < sizeof packed ? n : sizeof packed;
		memcpy(packed, data, n_packed);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, packed, n_packed, 0) != (ssize_t)n_packed)
		abort();
	if (packing_of(packed, n_packed) != PACKING_NONE)
		unpack(path, wanted, n_wanted);
	return 0;
}
