/* Where people and machines are reached, and which they are, within texts: e-mail and user@host (RFC 5322 3.4.1), IP
 * addresses (RFC 4291 2.2), MAC addresses, host:port, UUIDs of GPUs, and private keys (RFC 7468). */
#ifndef GAPLINE_READ_SCRUB_ADDRESS_H
#define GAPLINE_READ_SCRUB_ADDRESS_H

#include "read/scrub_text.h"

#include <stddef.h>

/* The length of what begins at `at`, and its kind; 0: none does. Of host:port it is the host's. A single word before a
 * port is a host where it has a digit and the port at least four, or where a URL begins with it: "step:100" is none. */
size_t scrub_address(const char *bytes, size_t n, size_t at, enum scrub_kind *kind);

#endif
