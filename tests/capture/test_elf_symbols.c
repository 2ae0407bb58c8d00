/* Functions by their places in a file: of this program and of the C library, against what the loader says; and files
 * that are damaged in every way. */
#include "capture/elf_symbols.h"
#include "support_sqlite.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct wanted {
	uintptr_t address;
	const char *path;
	uint64_t offset;
};

/* This program's own file: a link in /proc that valgrind follows to the program when it is read or opened, and to
 * itself when it is asked about. */
static const char *own_path(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	assert_true(n > 0);
	return path;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct wanted *w = data;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && w->address >= start && w->address - start < p->p_filesz) {
			w->path = *info->dlpi_name ? info->dlpi_name : own_path();
			w->offset = w->address - start + p->p_offset;
			return 1;
		}
	}
	return 0;
}

static struct wanted place_of(uintptr_t address)
{
	struct wanted w = {.address = address};
	assert_int_equal(dl_iterate_phdr(look, &w), 1);
	return w;
}

static uint64_t inode_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_ino;
}

__attribute__((noinline)) static int a_function_with_a_name(int n)
{
	return n > 1 ? n * a_function_with_a_name(n - 1) : 1;
}

static void test_own(void **state)
{
	struct support *s = *state;
	struct elf_symbols symbols;
	struct wanted w = place_of((uintptr_t)a_function_with_a_name);
	assert_int_equal(a_function_with_a_name(3), 6);
	elf_symbols_read(w.path, inode_of(w.path), &s->arena, &symbols);
	for (uint64_t at = 0; at < 4; at++) {
		const struct elf_function *f = elf_symbols_find(&symbols, w.offset + at);
		assert_non_null(f);
		assert_string_equal(f->name, "a_function_with_a_name");
	}
	const struct elf_function *f = elf_symbols_find(&symbols, w.offset);
	const struct elf_function *behind = elf_symbols_find(&symbols, w.offset + (f->end - f->start));
	assert_true(!behind || strcmp(behind->name, f->name) != 0);
	assert_null(elf_symbols_find(&symbols, 0));
	assert_null(elf_symbols_find(&symbols, UINT64_MAX));
}

/* Stripped: what is left is for linking. Some functions have several names, all of them right. */
static void test_library(void **state)
{
	struct support *s = *state;
	static const char *const names[] = {"qsort", "strtoull", "fopen", "getenv", "mktime"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct elf_symbols symbols;
		uintptr_t address = (uintptr_t)dlsym(RTLD_NEXT, names[i]);
		struct wanted w = place_of(address);
		elf_symbols_read(w.path, inode_of(w.path), &s->arena, &symbols);
		const struct elf_function *f = elf_symbols_find(&symbols, w.offset + 1);
		assert_non_null(f);
		assert_true(!strcmp(f->name, names[i]) || (uintptr_t)dlsym(RTLD_NEXT, f->name) == address);
		/* fopen is _IO_fopen and fopen64, too, and strtoull strtoul */
		assert_true(*f->name != '_' && strcmp(f->name, names[i]) <= 0);
	}
}

static void test_another_file(void **state)
{
	struct support *s = *state;
	struct elf_symbols symbols;
	struct wanted w = place_of((uintptr_t)a_function_with_a_name);
	elf_symbols_read(w.path, inode_of(w.path) + 1, &s->arena, &symbols);
	assert_null(elf_symbols_find(&symbols, w.offset));
	elf_symbols_read("/nowhere", 1, &s->arena, &symbols);
	assert_null(elf_symbols_find(&symbols, w.offset));
	elf_symbols_read("/", inode_of("/"), &s->arena, &symbols);
	assert_null(elf_symbols_find(&symbols, w.offset));
	elf_symbols_read("/dev/zero", inode_of("/dev/zero"), &s->arena, &symbols);
	assert_null(elf_symbols_find(&symbols, w.offset));
}

/* ---- damage ---- */

enum { FUNCTIONS = 3 };

/* A file with three functions: a(0x1000 to 0x1010), b(0x1010 to 0x1020) and, around b, c(0x1008 to 0x1030). */
struct small {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Sym symbol[1 + FUNCTIONS];
	char names[8];
	Elf64_Shdr section[3];
};

static struct small small_make(void)
{
	struct small f = {0};
	const uint16_t one = 1;
	memcpy(f.head.e_ident, ELFMAG, SELFMAG);
	f.head.e_ident[EI_CLASS] = ELFCLASS64;
	f.head.e_ident[EI_DATA] = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	f.head.e_phoff = offsetof(struct small, segment);
	f.head.e_phentsize = sizeof(Elf64_Phdr);
	f.head.e_phnum = 1;
	f.head.e_shoff = offsetof(struct small, section);
	f.head.e_shentsize = sizeof(Elf64_Shdr);
	f.head.e_shnum = 3;
	f.segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_filesz = 0x100};
	memcpy(f.names, "\0a\0b\0c\0", 8);
	const Elf64_Sym a = {1, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, 0x1000, 0x10};
	const Elf64_Sym b = {3, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1, 0x1010, 0x10};
	const Elf64_Sym c = {5, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1008, 0x28};
	f.symbol[1] = c;
	f.symbol[2] = b;
	f.symbol[3] = a;
	f.section[1].sh_type = SHT_SYMTAB;
	f.section[1].sh_offset = offsetof(struct small, symbol);
	f.section[1].sh_size = sizeof f.symbol;
	f.section[1].sh_entsize = sizeof *f.symbol;
	f.section[1].sh_link = 2;
	f.section[2].sh_type = SHT_STRTAB;
	f.section[2].sh_offset = offsetof(struct small, names);
	f.section[2].sh_size = sizeof f.names;
	return f;
}

static struct elf_symbols small_read(struct support *s, const struct small *f, size_t bytes)
{
	const char *path = support_path(s, "small.so");
	struct elf_symbols symbols;
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(f, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
	elf_symbols_read(path, inode_of(path), &s->arena, &symbols);
	return symbols;
}

static const char *name_at(const struct elf_symbols *symbols, uint64_t offset)
{
	const struct elf_function *f = elf_symbols_find(symbols, offset);
	return f ? f->name : "-";
}

static void test_small(void **state)
{
	struct small f = small_make();
	struct elf_symbols symbols = small_read(*state, &f, sizeof f);
	assert_string_equal(name_at(&symbols, 0), "a");
	assert_string_equal(name_at(&symbols, 7), "a");
	assert_string_equal(name_at(&symbols, 0x10), "b");
	assert_string_equal(name_at(&symbols, 0x1F), "b");
	assert_string_equal(name_at(&symbols, 0x20), "c");
	assert_string_equal(name_at(&symbols, 0x2F), "c");
	assert_string_equal(name_at(&symbols, 0x30), "-");
	assert_string_equal(name_at(&symbols, 0x100), "-");
}

/* What it says may be anything then; nothing is read that is not there (the sanitizers look). */
static void test_damaged(void **state)
{
	static const uint64_t values[] = {0, 1, 7, 0x7FFF, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 23};
	struct small whole = small_make();
	unsigned long named = 0;
	for (size_t n = 0; n < sizeof whole; n += 3) {
		struct elf_symbols symbols = small_read(*state, &whole, n);
		assert_string_equal(name_at(&symbols, 0x200), "-");
	}
	for (size_t at = 4; at + 8 <= sizeof whole; at += 2)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			struct small f = whole;
			memcpy((char *)&f + at, &values[i], at % 8 ? 4 : 8);
			struct elf_symbols symbols = small_read(*state, &f, sizeof f);
			for (uint64_t offset = 0; offset < 0x40; offset += 8)
				named += strlen(name_at(&symbols, offset));
		}
	assert_true(named > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_library, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_another_file, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_small, support_setup, support_teardown),
		cmocka_unit_test_setup_teardown(test_damaged, support_setup, support_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
