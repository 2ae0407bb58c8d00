/* Which function of a program or library a place in its file belongs to: from the symbol table of the ELF file, the
 * whole one (.symtab) where it was not stripped, else the one that is there for linking (.dynsym).
 * Format: System V ABI, chapter 4; 64 bits, the machine's byte order. The file is the profiled program's and may hold
 * anything: nothing of it is believed unchecked. */
#ifndef GAPLINE_CAPTURE_ELF_SYMBOLS_H
#define GAPLINE_CAPTURE_ELF_SYMBOLS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols {
	struct arena *arena;
	uint32_t n; /* functions, by address */
	struct elf_function {
		uint64_t start, end; /* addresses in the module; end: behind the last byte */
		const char *name;    /* as it stands there: mangled */
	} * functions;
	uint32_t n_segments;
	struct elf_segment {
		uint64_t offset, bytes, address;
	} * segments;
};

/* Reads the file; whatever cannot be read of it leaves `symbols` without functions. `inode`: of the file that is meant;
 * where another one is there by now, nothing is read. */
void elf_symbols_read(const char *path, uint64_t inode, struct arena *arena, struct elf_symbols *symbols);

/* The function to which the byte at `offset` of the file belongs; NULL: no symbol says so. */
const struct elf_function *elf_symbols_find(const struct elf_symbols *symbols, uint64_t offset);

#endif
