/* Fuzz target: any bytes as a store of baselines and commits: an error in words, or entries whose texts and digests are
 * all there. */
#include "read/digest.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A real file, because SQLite opens one by its path; written anew for each input. */
static char path[] = "/tmp/gapline-fuzz-XXXXXX";
static int fd = -1;

static void remove_input(void)
{
	unlink(path);
}

static void read_part(const struct store_part *part)
{
	struct arena arena = {0};
	struct names names;
	struct trace trace;
	struct err err = {0};
	const struct read_wish wish = {0};
	names_init(&names, &arena);
	if (!part->file[0] && part->n == 0)
		abort();
	if (digest_read_bytes(part->file, part->digest, part->n, &wish, &names, &arena, &trace, &err) && !err.text[0])
		abort();
	arena_release(&arena);
}

static void read_all(struct store *store, enum store_kind kind)
{
	struct arena arena = {0};
	struct err err = {0};
	struct store_entry *list, entry;
	size_t n;
	if (store_list(store, kind, &arena, &list, &n, &err)) {
		if (!err.text[0])
			abort();
		n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (!store_name_ok(list[i].name) || !list[i].n || list[i].parts[0].digest)
			abort();
		if (store_get(store, kind, list[i].name, &arena, &entry, &err))
			continue;
		for (size_t k = 0; k < entry.n; k++)
			read_part(&entry.parts[k]);
	}
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_input);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	struct store store;
	struct err err = {0};
	if (store_open(&store, path, false, &err) == 0) {
		read_all(&store, STORE_BASELINE);
		read_all(&store, STORE_COMMIT);
		const struct store_part part = {"new.sqlite", -1, (const unsigned char *)"bytes", 5};
		const struct store_entry entry = {.kind = STORE_BASELINE,
		                                  .name = "new",
		                                  .machine = "",
		                                  .parts = (struct store_part *)&part,
		                                  .n = 1};
		if (store_put(&store, &entry, STORE_REPLACE, NULL, &err) == STORE_FAILED && !err.text[0])
			abort();
	} else if (!err.text[0]) {
		abort();
	}
	store_close(&store);
	return 0;
}
