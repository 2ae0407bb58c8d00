#include "base/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MINUS "\xE2\x88\x92"
#define TIMES "\xC3\x97"
#define ELLIPSIS "\xE2\x80\xA6"

struct unit format_unit(double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\xC2\xB5s"}};
	ns = fabs(ns);
	int u = ns >= 1e10 ? 0 : ns >= 1e5 || ns == 0 ? 1 : 2;
	double value = ns / units[u].ns;
	int decimals = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4;
	return (struct unit){units[u].ns, units[u].name, ns == 0 ? 2 : decimals};
}

/* `value` with its decimals; what rounds to nothing becomes `tiny` (a format that takes the decimals and the least
 * number that shows), so that "there is none" and "there is little" look different. */
static const char *rounded(struct arena *arena, double value, int decimals, bool sign, bool less)
{
	if (value == 0 || !isfinite(value))
		return value == 0 ? "0" : "?";
	double least = pow(10, -decimals);
	if (fabs(value) < least / 2)
		return less ? arena_format(arena, "<%.*f", decimals, least) : "~0";
	return arena_format(arena, "%s%.*f", value < 0 ? MINUS : sign ? "+" : "", decimals, fabs(value));
}

const char *format_number(struct arena *arena, struct unit unit, double ns)
{
	return rounded(arena, ns / unit.ns, unit.decimals, false, ns > 0);
}

const char *format_change(struct arena *arena, struct unit unit, double ns)
{
	return rounded(arena, ns / unit.ns, unit.decimals, true, false);
}

const char *format_time(struct arena *arena, double ns)
{
	struct unit unit = format_unit(ns);
	return arena_format(arena, "%s %s", format_number(arena, unit, ns), unit.name);
}

const char *format_short_time(struct arena *arena, double ns)
{
	struct unit unit = format_unit(ns);
	unit.decimals -= unit.decimals > 0;
	return arena_format(arena, "%s %s", format_number(arena, unit, ns), unit.name);
}

const char *format_times(struct arena *arena, double ratio, double like)
{
	int decimals = like >= 100 ? 0 : like >= 10 ? 1 : fabs(like - 1) < 0.1 ? 3 : 2;
	double least = fmin(ratio, like);
	if (least > 0 && least < 1) /* three digits that count, as above 1 */
		decimals = (int)fmax(decimals, fmin(2 - floor(log10(least)), 12));
	return isfinite(ratio) ? arena_format(arena, "%.*f" TIMES, decimals, ratio) : "?";
}

const char *format_share(struct arena *arena, double share)
{
	double percent = share * 100;
	if (percent > 0 && percent < 0.05)
		return "<0.1 %";
	return arena_format(arena, "%.1f %%", percent);
}

static int count_decimals(double count)
{
	count = fabs(count);
	return fabs(count - round(count)) < 1e-9 * (count + 1) || count >= 1000 ? 0 : count >= 10 ? 1 : 2;
}

const char *format_count(struct arena *arena, double count)
{
	return rounded(arena, count, count_decimals(count), false, true);
}

const char *format_count_change(struct arena *arena, double count)
{
	if (fabs(count) < 1e-9)
		return "0";
	return rounded(arena, count, count_decimals(count), true, false);
}

const char *format_bytes(struct arena *arena, double bytes)
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
	int u = 0;
	while (u < 4 && bytes >= 999.5) {
		bytes /= 1000;
		u++;
	}
	int decimals = u == 0 ? count_decimals(bytes) : bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
	return arena_format(arena, "%.*f %s", decimals, bytes, unit[u]);
}

const char *format_plural(struct arena *arena, int64_t n, const char *one, const char *many)
{
	return arena_format(arena, "%lld %s", (long long)n, n == 1 ? one : many);
}

/* ---- names ---- */

static bool inside_character(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

unsigned format_length(const char *text)
{
	unsigned n = 0;
	for (; *text; text++)
		n += !inside_character(*text);
	return n;
}

/* The byte at which character `n` starts. */
static size_t offset_of(const char *text, unsigned n)
{
	size_t at = 0;
	while (text[at] && (n > 0 || inside_character(text[at]))) {
		at++;
		n -= !inside_character(text[at]);
	}
	return at;
}

/* Replaces characters [from, to) of `text` by an ellipsis. */
static char *cut(struct arena *arena, const char *text, unsigned from, unsigned to)
{
	size_t head = offset_of(text, from), tail = offset_of(text, to);
	return arena_format(arena, "%.*s" ELLIPSIS "%s", (int)head, text, text + tail);
}

/* The longest outermost pair of `open` and `close`, as characters [*from, *to) between the two; false if there is none.
 * "->" and operator names do not balance; a text in which brackets cross is left alone. */
static bool longest_group(const char *text, char open, char close, unsigned *from, unsigned *to)
{
	unsigned at = 0, depth = 0, start = 0, best = 0;
	for (const char *c = text; *c; c++) {
		if (inside_character(*c))
			continue;
		if (*c == open && depth++ == 0)
			start = at + 1;
		if (*c == close && depth > 0 && !(c > text && c[-1] == '-') && --depth == 0 && at - start > best) {
			best = at - start;
			*from = start;
			*to = at;
		}
		at++;
	}
	return best > 0 && depth == 0;
}

/* Shortens what lies in [from, to) so that the whole has `most` characters, keeping a little of both of its ends. */
static const char *shorten_group(struct arena *arena, const char *text, unsigned from, unsigned to, unsigned most)
{
	enum { KEPT = 8 };
	unsigned length = format_length(text), inner = to - from, over = length - most + 1;
	if (inner <= 2)
		return text;
	unsigned kept = inner > over ? inner - over : 0;
	if (kept < 2 * KEPT)
		kept = 0;
	return cut(arena, text, from + (kept + 1) / 2, to - kept / 2);
}

const char *format_name(struct arena *arena, const char *name, unsigned most)
{
	unsigned from, to;
	for (int pass = 0; pass < 8 && format_length(name) > most; pass++) {
		bool angle = longest_group(name, '<', '>', &from, &to) && to - from > 2;
		if (!angle && !(longest_group(name, '(', ')', &from, &to) && to - from > 2))
			break;
		name = shorten_group(arena, name, from, to, most);
	}
	unsigned length = format_length(name);
	if (length > most)
		name = cut(arena, name, (most - 1) - (most - 1) / 2, length - (most - 1) / 2);
	return name;
}

/* Where the list of parameters starts that ends the name; 0 if there is none, or nothing before it. */
static size_t parameters_of(const char *name)
{
	size_t at = strlen(name);
	if (at == 0 || name[at - 1] != ')')
		return 0;
	int depth = 0;
	while (at > 0) {
		char c = name[--at];
		depth += c == ')';
		depth -= c == '(';
		if (depth == 0)
			break;
	}
	while (at > 0 && name[at - 1] == ' ')
		at--;
	return depth == 0 ? at : 0;
}

const char *format_kernel(struct arena *arena, const char *name, unsigned most)
{
	static const char nothing[] = "void ";
	size_t start = strncmp(name, nothing, sizeof nothing - 1) == 0 ? sizeof nothing - 1 : 0;
	size_t end = parameters_of(name);
	if (end <= start)
		return format_name(arena, name, most);
	return format_name(arena, arena_copy(arena, name + start, end - start), most);
}
