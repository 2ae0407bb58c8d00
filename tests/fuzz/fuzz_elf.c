/* Fuzz target: any bytes as a program or library whose functions are looked up by their places. What is found is in
 * order, has a name that ends, and holds the place that was asked for. */
#include "capture/elf_symbols.h"
#include "capture/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int fd = -1;
static char path[64];
static uint64_t inode;

static void check_place(const struct elf_symbols *s, uint64_t offset)
{
	const struct elf_function *f = elf_symbols_find(s, offset);
	if (!f)
		return;
	bool inside = false;
	for (uint32_t i = 0; i < s->n_segments; i++) {
		const struct elf_segment *g = &s->segments[i];
		uint64_t address = g->address + (offset - g->offset);
		inside = inside || (offset >= g->offset && offset - g->offset < g->bytes && address >= f->start &&
		                    address < f->end);
	}
	if (!inside)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct stat st;
	if (fd < 0) { /* a file in memory has an inode, and a name while it is open */
		fd = memfd_create("gapline-fuzz", MFD_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) != 0)
			abort();
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		inode = (uint64_t)st.st_ino;
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	struct arena arena = {0};
	struct elf_symbols s;
	elf_symbols_read(path, inode, &arena, &s);
	if (s.n > n || s.n_segments > n)
		abort();
	for (uint32_t i = 0; i < s.n; i++) {
		const struct elf_function *f = &s.functions[i];
		if (f->end <= f->start || !*f->name || (i && s.functions[i - 1].start > f->start))
			abort();
		kernel_name_demangled(&arena, f->name);
	}
	check_place(&s, 0);
	check_place(&s, UINT64_MAX);
	for (uint32_t i = 0; i < s.n_segments; i++)
		for (uint32_t k = 0; k < s.n && k < 64; k++) {
			const struct elf_segment *g = &s.segments[i];
			check_place(&s, s.functions[k].start - g->address + g->offset);
			check_place(&s, s.functions[k].end - 1 - g->address + g->offset);
			check_place(&s, s.functions[k].end - g->address + g->offset);
		}
	arena_release(&arena);
	return 0;
}
