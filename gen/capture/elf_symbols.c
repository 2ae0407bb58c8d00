#include "capture/elf_symbols.h"

#include "base/search.h"
#include "base/sort.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MOST = 4096, SEGMENTS_MOST = 256, OUTER_MOST = 16 };

static const uint64_t TABLE_MOST = 512 << 20; /* bytes; PyTorch's largest library has 60 MB of names */

/* Read piece by piece and not mapped: a file may become shorter meanwhile. */
struct image {
	int fd;
	uint64_t n;
};

static bool has(const struct image *image, uint64_t offset, uint64_t n)
{
	return offset <= image->n && n <= image->n - offset;
}

static bool copy(const struct image *image, uint64_t offset, void *to, uint64_t n)
{
	if (!has(image, offset, n))
		return false;
	for (uint64_t at = 0; at < n;) {
		ssize_t got = pread(image->fd, (char *)to + at, n - at, (off_t)(offset + at));
		if (got <= 0)
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* The bytes of a section; NULL: they are not all there. */
static unsigned char *load(const struct image *image, const Elf64_Shdr *section, struct arena *arena)
{
	if (section->sh_size > TABLE_MOST || !has(image, section->sh_offset, section->sh_size))
		return NULL;
	unsigned char *bytes = ARENA_NEW(arena, section->sh_size, unsigned char);
	return copy(image, section->sh_offset, bytes, section->sh_size) ? bytes : NULL;
}

static bool is_ours(const struct image *image, Elf64_Ehdr *head)
{
	const uint16_t one = 1;
	unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	return copy(image, 0, head, sizeof *head) && !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == order;
}

static void read_segments(const struct image *image, const Elf64_Ehdr *head, struct elf_symbols *s)
{
	if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > SEGMENTS_MOST || head->e_phoff > image->n)
		return;
	s->segments = ARENA_NEW(s->arena, head->e_phnum, struct elf_segment);
	for (uint32_t i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr p;
		if (copy(image, head->e_phoff + i * sizeof p, &p, sizeof p) && p.p_type == PT_LOAD &&
		    (p.p_flags & PF_X))
			s->segments[s->n_segments++] = (struct elf_segment){p.p_offset, p.p_filesz, p.p_vaddr};
	}
}

/* The section of this type, and the strings that go with it. */
static bool find_table(const struct image *image, const Elf64_Ehdr *head, uint32_t type, Elf64_Shdr *table,
                       Elf64_Shdr *strings)
{
	if (head->e_shentsize != sizeof *table || !head->e_shoff || head->e_shoff > image->n)
		return false;
	for (uint32_t i = 0; i < head->e_shnum; i++)
		if (copy(image, head->e_shoff + i * sizeof *table, table, sizeof *table) && table->sh_type == type)
			return table->sh_entsize == sizeof(Elf64_Sym) && table->sh_link < head->e_shnum &&
			       copy(image, head->e_shoff + table->sh_link * sizeof *strings, strings,
			            sizeof *strings) &&
			       strings->sh_type == SHT_STRTAB;
	return false;
}

/* The last one of a place is what elf_symbols_find meets first: of those that begin there the shortest, of its names
 * one that is not the compiler's or the C library's own, else the first by alphabet. */
static int compare(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	size_t n = strspn(x->name, "_"), m = strspn(y->name, "_");
	return n != m ? n > m ? -1 : 1 : strcmp(y->name, x->name);
}

static void read_functions(const struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                           struct elf_symbols *s)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	const unsigned char *symbols = load(image, table, s->arena);
	const char *text = (const char *)load(image, strings, s->arena);
	if (!symbols || !text)
		return;
	s->functions = ARENA_NEW(s->arena, n, struct elf_function);
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
		unsigned type = ELF64_ST_TYPE(symbol.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || !symbol.st_size ||
		    symbol.st_name >= strings->sh_size || symbol.st_value + symbol.st_size < symbol.st_value)
			continue;
		uint64_t room = strings->sh_size - symbol.st_name;
		const char *name = text + symbol.st_name;
		size_t length = strnlen(name, room < NAME_MOST ? room : NAME_MOST);
		if (!length || length == room || name[length])
			continue;
		s->functions[s->n++] = (struct elf_function){symbol.st_value, symbol.st_value + symbol.st_size, name};
	}
	SORT(s->functions, s->n, compare);
}

static void read_image(const struct image *image, struct elf_symbols *s)
{
	Elf64_Ehdr head;
	Elf64_Shdr table, strings;
	if (!is_ours(image, &head))
		return;
	read_segments(image, &head, s);
	if (find_table(image, &head, SHT_SYMTAB, &table, &strings) ||
	    find_table(image, &head, SHT_DYNSYM, &table, &strings))
		read_functions(image, &table, &strings, s);
}

void elf_symbols_read(const char *path, uint64_t inode, struct arena *arena, struct elf_symbols *s)
{
	struct stat st;
	*s = (struct elf_symbols){.arena = arena};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode && st.st_size > 0)
		read_image(&(struct image){fd, (uint64_t)st.st_size}, s);
	close(fd);
}

const struct elf_function *elf_symbols_find(const struct elf_symbols *s, uint64_t offset)
{
	for (uint32_t i = 0; i < s->n_segments; i++) {
		const struct elf_segment *g = &s->segments[i];
		if (offset < g->offset || offset - g->offset >= g->bytes)
			continue;
		uint64_t address = g->address + (offset - g->offset);
		uint32_t behind = 0;
		SEARCH(behind, s->n, s->functions[behind].start <= address);
		/* A function may lie within another one. */
		for (uint32_t k = 0; k < OUTER_MOST && k < behind; k++)
			if (address < s->functions[behind - 1 - k].end)
				return &s->functions[behind - 1 - k];
	}
	return NULL;
}
