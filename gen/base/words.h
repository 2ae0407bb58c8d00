/* Lists of words that are known: one text, with blanks between them. */
#ifndef GAPLINE_BASE_WORDS_H
#define GAPLINE_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Whether the `n` bytes at `word` are a word of the list: as `compare` says, strncmp or strncasecmp. */
static inline bool words_have(const char *list, const char *word, size_t n,
                              int (*compare)(const char *, const char *, size_t))
{
	for (size_t length; *(list += strspn(list, " ")); list += length) {
		length = strcspn(list, " ");
		if (length == n && compare(list, word, n) == 0)
			return true;
	}
	return false;
}

/* Whether a text begins with a word of the list. */
static inline bool words_begin(const char *list, const char *text)
{
	for (size_t length; *(list += strspn(list, " ")); list += length) {
		length = strcspn(list, " ");
		if (strncmp(list, text, length) == 0)
			return true;
	}
	return false;
}

#endif
