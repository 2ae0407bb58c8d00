/* What opens doors, within texts: tokens by how those of common services begin, values of words like "password", and
 * what stands before the '@' of an address. Sources: the services' own pages on the format of their tokens; RFC
 * 3986 3.2.1; RFC 7519 3 (JSON Web Token). */
#ifndef GAPLINE_READ_SCRUB_TOKEN_H
#define GAPLINE_READ_SCRUB_TOKEN_H

#include <stddef.h>

/* The length of the secret that begins at `at`; 0: none does. */
size_t scrub_token(const char *bytes, size_t n, size_t at);

#endif
