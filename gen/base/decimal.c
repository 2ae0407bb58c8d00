#include "base/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	double whole = floor(scaled), rest = scaled - whole;
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
