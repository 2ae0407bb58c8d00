/* Bytes that claim to be UTF-8. */
#ifndef GAPLINE_BASE_UTF8_H
#define GAPLINE_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at `s` (n > 0 bytes are there) and its code point; 0 when it is malformed, then
 * `*skip` is the number of bytes that one U+FFFD stands for (the longest prefix that could have begun a sequence). The
 * byte ranges are Unicode's table 3-7: they exclude overlong forms, surrogates and everything above U+10FFFF. */
size_t utf8_next(const unsigned char *s, size_t n, uint32_t *code, size_t *skip);

/* Writes a code point as UTF-8 and returns its length; U+FFFD for what is none. */
size_t utf8_put(uint32_t code, char out[4]);

#endif
