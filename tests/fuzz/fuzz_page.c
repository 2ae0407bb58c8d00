/* Fuzz target: any bytes as a report or its JSON, given in the place of profiles or to verify. Evidence in it is
 * judged, and what the page says is held against it. */
#include "cmd/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	static char path[32];
	if (fd < 0) {
		fd = memfd_create("fuzz-page", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	struct arena arena = {0};
	struct names names;
	struct page_evidence evidence;
	struct page_verified found;
	struct err err = {0};
	const char *side_of;
	int side;
	names_init(&names, &arena);
	if (page_find_side(path, &arena, &side_of, &side, &err) < 0 && !err.text[0])
		abort();
	if (page_evidence_read(path, &names, &arena, &evidence, &err) < 0) {
		if (!err.text[0])
			abort();
	} else if (page_verify(&evidence, &names, &arena, &found, &err) == 0) {
		if (found.n > PAGE_DIFFERENCES || (found.n > 0) != (found.sections > 0))
			abort();
		for (uint32_t i = 0; i < found.n; i++)
			if (!found.list[i].section || !found.list[i].said)
				abort();
	}
	page_evidence_release(&evidence);
	arena_release(&arena);
	return 0;
}
