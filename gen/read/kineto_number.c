/* Numbers of a trace, from their text: 2024's absolute times have 19 digits, which a double does not hold. */
#include "read/kineto.h"

#include <ctype.h>

static size_t digits_of(const char *text, size_t n)
{
	size_t i = 0;
	while (i < n && isdigit((unsigned char)text[i]))
		i++;
	return i;
}

/* The value of a JSON number times 10^scale, rounded half away from zero. */
static bool scaled(const char *text, size_t n, int scale, int64_t max, int64_t *value)
{
	enum { EXPONENT_MAX = 1000 };
	bool negative = n && text[0] == '-';
	text += negative;
	n -= negative;
	const char *whole = text, *part = text;
	size_t n_whole = digits_of(text, n), n_part = 0, at = n_whole;
	int64_t exponent = 0, result = 0;
	if (at < n && text[at] == '.') {
		part = text + at + 1;
		n_part = digits_of(part, n - at - 1);
		at += 1 + n_part;
	}
	if (n_whole + n_part && at < n && (text[at] == 'e' || text[at] == 'E')) {
		bool down = ++at < n && text[at] == '-';
		at += at < n && (text[at] == '-' || text[at] == '+');
		size_t end = at + digits_of(text + at, n - at);
		if (end == at)
			return false;
		for (; at < end; at++)
			exponent = exponent > EXPONENT_MAX ? exponent : exponent * 10 + (text[at] - '0');
		exponent = down ? -exponent : exponent;
	}
	if (at != n || n_whole + n_part == 0)
		return false;
	/* How many of the digits stand before the point of the result. */
	int64_t keep = (int64_t)n_whole + exponent + scale;
	for (int64_t i = 0; i <= keep; i++) {
		size_t k = (size_t)i;
		int digit = k < n_whole ? whole[k] - '0' : k - n_whole < n_part ? part[k - n_whole] - '0' : 0;
		if (i == keep)
			result += digit >= 5;
		else if (result > (max - digit) / 10)
			return false;
		else
			result = result * 10 + digit;
	}
	if (result > max)
		return false;
	*value = negative ? -result : result;
	return true;
}

bool kineto_ns(const char *text, size_t n, int64_t *ns)
{
	return scaled(text, n, 3, ((int64_t)1 << 61) - 1, ns);
}

bool kineto_integer(const char *text, size_t n, int64_t *value)
{
	return scaled(text, n, 0, INT64_MAX - 1, value);
}
