/* Fuzz target: any bytes as a mangled name. Whatever comes out is a text of bounded length. */
#include "capture/kernel_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* Nearly all inputs would be no mangled names without this beginning. */
	char *name = malloc(n + 3);
	if (!name)
		return 0;
	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, n);
	name[n + 2] = '\0';
	struct arena arena = {0};
	const char *whole = kernel_name_demangled(&arena, name), *own = kernel_name_short(&arena, name);
	/* The limit on texts is checked before each part, and a part is at most a name. */
	if ((whole != name && strlen(whole) > 200000) || (own != name && strlen(own) > 200000))
		abort();
	if (!*whole || !*own)
		abort();
	arena_release(&arena);
	free(name);
	return 0;
}
