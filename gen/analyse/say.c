#include "analyse/say.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *say_digits(struct arena *arena, double value)
{
	double size = fabs(value);
	if (size > 0 && size < 0.001)
		return "<0.001";
	return arena_format(arena, size >= 999.5 ? "%.0f" : "%.3g", value);
}

const char *say_count(struct arena *arena, double count)
{
	bool whole = fabs(count - round(count)) < 1e-6 * fmax(1, fabs(count));
	return arena_format(arena, whole ? "%.0f" : "%.2f", count);
}

const char *say_bytes(struct arena *arena, double bytes)
{
	if (bytes < 1e3)
		return arena_format(arena, "%s %s", say_digits(arena, bytes), bytes == 1 ? "byte" : "bytes");
	if (bytes < 1e6)
		return arena_format(arena, "%.4g kB", bytes / 1e3);
	return arena_format(arena, bytes < 1e9 ? "%.4g MB" : "%.0f MB", bytes / 1e6);
}

const char *say_short(struct arena *arena, const char *name)
{
	size_t n = strlen(name), keep = 48;
	if (n <= keep + 1)
		return name;
	while (keep && ((unsigned char)name[keep] & 0xc0) == 0x80) /* not inside a character */
		keep--;
	return arena_format(arena, "%.*s…", (int)keep, name);
}
