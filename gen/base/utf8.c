#include "base/utf8.h"

size_t utf8_next(const unsigned char *s, size_t n, uint32_t *code, size_t *skip)
{
	*skip = 1;
	*code = s[0];
	if (s[0] < 0x80)
		return 1;
	size_t length = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
	if (!length)
		return 0;
	unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
	*code = s[0] & (0x7Fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (i >= n || s[i] < low || s[i] > high) {
			*skip = i;
			return 0;
		}
		*code = *code << 6 | (s[i] & 0x3Fu);
		low = 0x80;
		high = 0xBF;
	}
	return length;
}

size_t utf8_put(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3F));
		return 2;
	}
	if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
		code = 0xFFFD;
	if (code < 0x10000) {
		out[0] = (char)(0xE0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3F));
		out[2] = (char)(0x80 | (code & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3F));
	out[2] = (char)(0x80 | (code >> 6 & 0x3F));
	out[3] = (char)(0x80 | (code & 0x3F));
	return 4;
}
