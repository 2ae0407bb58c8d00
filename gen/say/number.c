#include "say/number.h"

#include "say/say.h"

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

const char *say_percent(struct arena *arena, double share)
{
	double p = round(1000 * share) / 10;
	return arena_format(arena, p < 10 && p != round(p) ? "%.1f %%" : "%.0f %%", p);
}

void say_interval(struct arena *arena, double low, double high, const char *text[2])
{
	enum { MOST_DECIMALS = 6 };
	int decimals = high >= 100 ? 0 : high >= 10 ? 1 : low < 1 ? 3 : 2;
	do {
		text[0] = arena_format(arena, "%.*f", decimals, low);
		text[1] = arena_format(arena, "%.*f", decimals, high);
	} while (low < high && strcmp(text[0], text[1]) == 0 && decimals++ < MOST_DECIMALS);
}

const char *say_ordinal(struct arena *arena, size_t n)
{
	static const char *const ending[] = {"th", "st", "nd", "rd"};
	size_t last = n % 10;
	return arena_format(arena, "%zu%s", n, ending[last > 3 || (n % 100 > 10 && n % 100 < 14) ? 0 : last]);
}

const char *say_count(struct arena *arena, double count)
{
	bool whole = fabs(count - round(count)) < 1e-6 * fmax(1, fabs(count));
	return arena_format(arena, whole ? "%.0f" : "%.2f", count);
}

const char *say_times(struct arena *arena, double count)
{
	static const char *const few[] = {"none", "once", "twice"};
	for (int i = 0; i < 3; i++)
		if (fabs(count - i) < 1e-6)
			return say_word(WORDS_amount, few[i]);
	return arena_format(arena, "%s %s", say_digits(arena, count), say_word(WORDS_amount, "times"));
}

const char *say_bytes(struct arena *arena, double bytes)
{
	if (bytes < 1e3)
		return arena_format(arena, "%s %s", say_digits(arena, bytes),
		                    say_word(WORDS_amount, bytes == 1 ? "byte" : "bytes"));
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
