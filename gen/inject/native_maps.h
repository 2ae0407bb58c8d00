/* What lies where in this process: addresses of code -> a file and a place in it. From /proc/self/maps, which is read
 * again where an address is met that was not there; nothing of the loader is called and none of its locks taken. */
#ifndef GAPLINE_INJECT_NATIVE_MAPS_H
#define GAPLINE_INJECT_NATIVE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Says that module `number` (from 1) is this file; false: it could not be noted, and is asked again. */
typedef bool native_module_named(uint32_t number, uint64_t inode, const char *path);

/* The module of code at `address` and its place in the file; 0: none is known. By one thread only. */
uint32_t native_module(uintptr_t address, int64_t now, uint64_t *offset, native_module_named *named);

/* The memory of which `address` is a part: from where to where. `stack`: the kernel calls it the first thread's stack.
 * False: it is not known. */
bool native_memory(uintptr_t address, uintptr_t *low, uintptr_t *high, bool *stack);

/* Forgets all: in a forked child. */
void native_maps_forget(void);

#endif
