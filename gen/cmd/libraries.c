#include "cmd/libraries.h"

#include "base/memory.h"

#include <libxml/xmlmemory.h>
#include <sqlite3.h>
#include <stdlib.h>

static sqlite3_mem_methods usual;

static void *sqlite_take(int n)
{
	void *p = usual.xMalloc(n);
	if (!p)
		memory_exhausted();
	return p;
}

static void *sqlite_resize(void *old, int n)
{
	void *p = usual.xRealloc(old, n);
	if (!p)
		memory_exhausted();
	return p;
}

void libraries_prepare(void)
{
	xmlMemSetup(free, memory_take, memory_resize, memory_copy);
	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK)
		return;
	sqlite3_mem_methods ours = usual;
	ours.xMalloc = sqlite_take;
	ours.xRealloc = sqlite_resize;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
	/* Nobody asks how much memory SQLite has: it need not count, which costs every thread a lock each time. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
