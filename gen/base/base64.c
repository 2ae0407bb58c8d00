#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_add(struct buf *to, const unsigned char *bytes, size_t n)
{
	buf_room(to, (n + 2) / 3 * 4);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16;
		group |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= i + 2 < n ? bytes[i + 2] : 0;
		char *four = to->data + to->n;
		four[0] = letter[group >> 18];
		four[1] = letter[group >> 12 & 63];
		four[2] = i + 1 < n ? letter[group >> 6 & 63] : '=';
		four[3] = i + 2 < n ? letter[group & 63] : '=';
		to->n += 4;
	}
	to->data[to->n] = 0;
}

int base64_take(struct buf *to, const char *text, size_t n)
{
	size_t pad = n && text[n - 1] == '=' ? 1 + (n > 1 && text[n - 2] == '=') : 0;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t group = 0;
		for (size_t k = i; k < i + 4; k++) {
			const char *at = k < n - pad && text[k] ? strchr(letter, text[k]) : NULL;
			if (!at && (k < n - pad || k >= n))
				return -1;
			group = group << 6 | (at ? (uint32_t)(at - letter) : 0);
		}
		const char three[] = {(char)(group >> 16), (char)(group >> 8), (char)group};
		buf_add(to, three, i + 4 < n ? 3 : 3 - pad);
	}
	return 0;
}
