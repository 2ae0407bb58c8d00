#include "base/format.h"
#include "base/sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
	unsigned from = 0, to = 0;
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

/* ---- names beside each other ---- */

struct named {
	const char *name, *shown;
	size_t at; /* in the caller's lists */
};

SORT_ORDER(by_look, struct named, strcmp(x->shown, y->shown) ?: strcmp(x->name, y->name))

static bool of_word(char c)
{
	return c == '_' || inside_character(c) || ((unsigned char)c & 0x80) || (c >= '0' && c <= '9') ||
	       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How many bytes all names of a group begin with; never inside a character. The group is sorted by name. */
static size_t common_start(const struct named *group, size_t n)
{
	const char *first = group[0].name, *last = group[n - 1].name;
	size_t same = 0;
	while (first[same] && first[same] == last[same])
		same++;
	while (same > 0 && inside_character(first[same]))
		same--;
	return same;
}

/* Where a function's own name starts, behind its namespaces. */
static size_t own_name(const char *name, size_t end)
{
	static const char unnamed[] = "<unnamed>", anonymous[] = "(anonymous namespace)";
	size_t start = 0;
	for (size_t i = 0; i < end; i++) {
		if (strncmp(name + i, unnamed, sizeof unnamed - 1) == 0)
			i += sizeof unnamed - 2;
		else if (strncmp(name + i, anonymous, sizeof anonymous - 1) == 0)
			i += sizeof anonymous - 2;
		else if (name[i] == '<' || name[i] == '(')
			break;
		else if (name[i] == ':' && name[i + 1] == ':' && i + 2 < end)
			start = i + 2;
		else if (name[i] == ' ')
			start = i + 1;
	}
	return start;
}

/* The function's name, then the place from which it differs from the others. */
static const char *show_place(struct arena *arena, const char *name, size_t place, unsigned most)
{
	enum { BACK = 14 };
	size_t start = own_name(name, place), from = place;
	while (from > start && place - from < BACK && of_word(name[from - 1]))
		from--;
	if (place - from >= BACK) /* in a long word */
		from = place;
	while (from > start && inside_character(name[from]))
		from--;
	const char *head = arena_copy(arena, name + start, from - start), *rest = name + from;
	unsigned kept = most / 2, before = format_length(head), left = format_length(rest);
	if (before > kept) { /* too far for both in one piece */
		size_t own = strcspn(head, "<(");
		head = arena_copy(
			arena, head,
			own && format_length(arena_copy(arena, head, own)) < kept ? own : offset_of(head, kept - 1));
		head = arena_format(arena, "%s" ELLIPSIS, head);
		before = format_length(head);
	}
	unsigned room = most - before;
	if (left <= room)
		return arena_format(arena, "%s%s", head, rest);
	return arena_format(arena, "%s%.*s" ELLIPSIS, head, (int)offset_of(rest, room - 1), rest);
}

/* What still looks alike afterwards differs further on: each round shows a later place. */
static bool tell_apart(struct arena *arena, struct named *all, size_t n, unsigned most)
{
	bool again = false;
	SORT(all, n, by_look);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(all[end].shown, all[i].shown) == 0;)
			end++;
		size_t same = strcmp(all[i].name, all[end - 1].name) == 0;
		if (end - i < 2 || same)
			continue;
		size_t place = common_start(all + i, end - i);
		for (size_t k = i; k < end; k++)
			all[k].shown = show_place(arena, all[k].name, place, most);
		again = true;
	}
	return again;
}

void format_apart(struct arena *arena, const char *const *name, const char **shown, size_t n, unsigned most)
{
	enum { ROUNDS = 40 };
	struct named *all = ARENA_NEW(arena, n, struct named);
	for (size_t i = 0; i < n; i++)
		all[i] = (struct named){name[i], shown[i], i};
	for (int round = 0; round < ROUNDS && tell_apart(arena, all, n, most); round++)
		;
	for (size_t i = 0; i < n; i++)
		shown[all[i].at] = all[i].shown;
}

/* All exact. */
static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};

/* `n` / 10^`decimals`, without zeros at its end. */
static size_t put(char *text, bool negative, uint64_t n, int decimals)
{
	char reversed[DECIMAL_ROOM];
	size_t k = 0, out = 0;
	for (; decimals && n % 10 == 0; decimals--)
		n /= 10;
	do {
		reversed[k++] = (char)('0' + n % 10);
		n /= 10;
		if (decimals && --decimals == 0)
			reversed[k++] = '.';
	} while (n || decimals || reversed[k - 1] == '.');
	if (negative)
		text[out++] = '-';
	while (k)
		text[out++] = reversed[--k];
	text[out] = 0;
	return out;
}

/* `size` * 10^`decimals`, rounded, into `*n`; false where it is a tie, which the product's own rounding may have made:
 * halves below 1e9 are numbers themselves, so rounding takes a product to one and never beyond it. */
static bool scale(double size, int decimals, uint64_t *n)
{
	double scaled = size * power[decimals];
	if (!(scaled < 1e9))
		return false;
	int64_t whole = (int64_t)scaled;
	double rest = scaled - (double)whole;
	*n = (uint64_t)whole + (rest > 0.5);
	return rest != 0.5;
}

size_t decimal_integer(char *text, int64_t value)
{
	return put(text, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value, 0);
}

size_t decimal_fixed(char *text, double value, int decimals)
{
	uint64_t n;
	if (scale(fabs(value), decimals, &n))
		return put(text, value < 0 && n, n, decimals);
	if (!(fabs(value) < 1e15))
		return (size_t)snprintf(text, DECIMAL_ROOM, "%.17g", value);
	size_t k = (size_t)snprintf(text, DECIMAL_ROOM, "%.*f", decimals, value);
	if (decimals) {
		while (text[k - 1] == '0')
			k--;
		k -= text[k - 1] == '.';
		text[k] = 0;
	}
	if (strcmp(text, "-0") == 0)
		k = (size_t)snprintf(text, DECIMAL_ROOM, "0");
	return k;
}

size_t decimal_short(char *text, double value, int digits)
{
	static const double small[] = {1e0, 1e-1, 1e-2, 1e-3}; /* no number is nearer to the true ones from below */
	double size = fabs(value);
	uint64_t n;
	int before = 1; /* digits before the point; less for zeros behind it */
	while (before <= digits && size >= power[before])
		before++;
	while (before <= 1 && before > -3 && size < small[-before + 1])
		before--;
	int decimals = digits - before;
	if (size == 0 && !signbit(value))
		return put(text, false, 0, 0);
	/* smaller ones, and those of which rounding makes one digit more than asked for, have exponents */
	if (size >= 1e-4 && decimals >= 0 && scale(size, decimals, &n) && (decimals || n < (uint64_t)power[digits]))
		return put(text, value < 0, n, decimals);
	return (size_t)snprintf(text, DECIMAL_ROOM, "%.*g", digits, value);
}

size_t decimal_exact(char *text, double value)
{
	enum { DECIMALS = 6 }; /* milliseconds of whole nanoseconds */
	double size = fabs(value);
	if (size >= 1e-4 && size < 1e9) {
		/* a decimal of at most 15 digits comes back from the double next to it, and a quotient is rounded once
		 */
		double n = nearbyint(size * power[DECIMALS]);
		if (n / power[DECIMALS] == size)
			return put(text, value < 0, (uint64_t)n, DECIMALS);
	}
	size_t k = 0;
	for (int digits = 15; digits <= 17; digits++) {
		k = (size_t)snprintf(text, DECIMAL_ROOM, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return k;
}
