#include "native_maps.h"
#include "table.h"

#include "base/search.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAPS_MOST = 8192, MODULES_MOST = 4096, TEXT_BYTES = 1 << 20, READ_BYTES = 1 << 16 };

/* Programs load and unload libraries: what was read is believed for so long, and where an address is not in it, it is
 * read again, but not more often than that. */
static const int64_t OLD_NS = 10000000000, AGAIN_NS = 200000000;

static struct tables {
	struct map {
		uintptr_t start, end;
		uint64_t offset;
		uint32_t module;
	} maps[MAPS_MOST]; /* with code, by address */
	struct {
		uint32_t path; /* of `text` */
		uint64_t inode;
		bool named;
	} modules[MODULES_MOST];
	char text[TEXT_BYTES];
	char read[READ_BYTES];
} * tables;
static uint32_t n_maps, n_modules, text_used;
static int64_t read_at;

void native_maps_forget(void)
{
	table_unmap(tables, sizeof *tables);
	tables = NULL;
	n_maps = n_modules = text_used = 0;
	read_at = 0;
}

/* ---- lines of the kernel's list ---- */

struct line {
	uintptr_t start, end;
	char allowed[5]; /* "r-xp" */
	uint64_t offset, inode;
	const char *path;
};

/* Cuts a line into its parts: "start-end rwxp offset device inode   path". */
static bool line_read(char *text, struct line *line)
{
	char *at = text;
	line->start = strtoull(at, &at, 16);
	if (*at++ != '-')
		return false;
	line->end = strtoull(at, &at, 16);
	if (*at++ != ' ' || strnlen(at, 5) < 5)
		return false;
	memcpy(line->allowed, at, 4);
	line->allowed[4] = 0;
	line->offset = strtoull(at + 5, &at, 16);
	at += strspn(at, " ");
	at += strcspn(at, " "); /* the device */
	line->inode = strtoull(at, &at, 10);
	line->path = at + strspn(at, " ");
	return line->end > line->start;
}

/* Calls `each` for every line until it says that it has what it wants. False: the list cannot be read. */
static bool lines(bool (*each)(void *context, const struct line *line), void *context)
{
	if (!tables && !(tables = table_map(sizeof *tables)))
		return false;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC), n = 0;
	size_t kept = 0;
	bool done = false;
	if (fd < 0)
		return false;
	while (!done && (n = syscall(SYS_read, fd, tables->read + kept, READ_BYTES - 1 - kept)) > 0) {
		char *at = tables->read, *end = at + kept + n, *stop;
		*end = 0;
		while (!done && (stop = memchr(at, '\n', (size_t)(end - at)))) {
			struct line line;
			*stop = 0;
			done = line_read(at, &line) && each(context, &line);
			at = stop + 1;
		}
		kept = (size_t)(end - at);
		memmove(tables->read, at, kept);
		if (kept == READ_BYTES - 1) /* no line is so long */
			break;
	}
	syscall(SYS_close, fd);
	return n >= 0;
}

/* ---- code ---- */

static uint32_t module_of(const struct line *line)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(line->path);
	if (n > sizeof gone && !strcmp(line->path + n - (sizeof gone - 1), gone))
		n -= sizeof gone - 1;
	for (uint32_t i = n_modules; i-- > 0;) {
		const char *known = tables->text + tables->modules[i].path;
		if (tables->modules[i].inode == line->inode && !strncmp(known, line->path, n) && !known[n])
			return i + 1;
	}
	if (n_modules == MODULES_MOST || n + 1 > TEXT_BYTES - text_used)
		return 0;
	memcpy(tables->text + text_used, line->path, n);
	tables->text[text_used + n] = 0;
	tables->modules[n_modules].path = text_used;
	tables->modules[n_modules].inode = line->inode;
	text_used += (uint32_t)n + 1;
	return ++n_modules;
}

static bool code_add(void *unused, const struct line *line)
{
	(void)unused;
	if (line->allowed[2] != 'x' || !*line->path)
		return false;
	uint32_t module = module_of(line);
	if (module)
		tables->maps[n_maps++] = (struct map){line->start, line->end, line->offset, module};
	return n_maps == MAPS_MOST;
}

static const struct map *find(uintptr_t address)
{
	uint32_t low = 0;
	SEARCH(low, n_maps, tables->maps[low].end <= address);
	return low < n_maps && tables->maps[low].start <= address ? &tables->maps[low] : NULL;
}

uint32_t native_module(uintptr_t address, int64_t now, uint64_t *offset, native_module_named *named)
{
	const struct map *map = find(address);
	if (!read_at || now - read_at > OLD_NS || (!map && now - read_at > AGAIN_NS)) {
		n_maps = 0;
		read_at = now;
		map = lines(code_add, NULL) ? find(address) : NULL;
	}
	if (!map)
		return 0;
	uint32_t i = map->module - 1;
	*offset = address - map->start + map->offset;
	if (!tables->modules[i].named)
		tables->modules[i].named =
			named(i + 1, tables->modules[i].inode, tables->text + tables->modules[i].path);
	return tables->modules[i].named ? i + 1 : 0;
}

/* ---- stacks ---- */

struct memory {
	uintptr_t address, low, high;
	bool stack;
};

static bool memory_is(void *context, const struct line *line)
{
	struct memory *m = context;
	if (m->address < line->start || m->address >= line->end)
		return false;
	if (line->allowed[0] == 'r' && line->allowed[1] == 'w') {
		m->low = line->start;
		m->high = line->end;
		m->stack = !strcmp(line->path, "[stack]");
	}
	return true;
}

bool native_memory(uintptr_t address, uintptr_t *low, uintptr_t *high, bool *stack)
{
	struct memory m = {.address = address};
	if (!lines(memory_is, &m) || !m.high)
		return false;
	*low = m.low;
	*high = m.high;
	*stack = m.stack;
	return true;
}
