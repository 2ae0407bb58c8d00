#include "read/scrub_parts.h"

#include "base/words.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { USER_MOST = 64, HOST_MOST = 253 };

/* So many characters from `at` on are letters, digits, or among `also`. */
static size_t run_of(const char *bytes, size_t n, size_t at, const char *also, size_t most)
{
	size_t end = at;
	while (end < n && end - at <= most &&
	       (isalnum((unsigned char)bytes[end]) || (bytes[end] && strchr(also, bytes[end]))))
		end++;
	return end - at;
}

static bool is_word(const char *bytes, size_t n, size_t at)
{
	return at < n && isalnum((unsigned char)bytes[at]);
}

static bool has_letter(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isalpha((unsigned char)text[i]))
			return true;
	return false;
}

/* A host's name without the dots and hyphens that end it as a sentence does. */
static size_t host_name(const char *bytes, size_t n, size_t at)
{
	size_t length = run_of(bytes, n, at, "-.", HOST_MOST);
	while (length && strchr("-.", bytes[at + length - 1]))
		length--;
	return length <= HOST_MOST && !is_word(bytes, n, at + length) ? length : 0;
}

static size_t email(const char *bytes, size_t n, size_t at)
{
	size_t user = run_of(bytes, n, at, "._%+-", USER_MOST);
	if (user < 2 || user > USER_MOST || at + user >= n || bytes[at + user] != '@')
		return 0;
	size_t host = host_name(bytes, n, at + user + 1);
	size_t end = at + user + 1 + host;
	/* "memcpy@plt" and "memcpy@GLIBC_2.14" are how linkers call a function */
	bool is_symbol = (host == 3 && !memcmp(bytes + end - 3, "plt", 3)) ||
	                 (end < n && bytes[end] == '_' && !memchr(bytes + end - host, '.', host));
	return host >= 2 && !is_symbol ? user + 1 + host : 0;
}

static size_t ip(const char *bytes, size_t n, size_t at)
{
	char text[INET6_ADDRSTRLEN] = "";
	unsigned char address[16];
	size_t length = run_of(bytes, n, at, ".", 16);
	while (length && bytes[at + length - 1] == '.')
		length--;
	if (length >= 7 && length <= 15) {
		memcpy(text, bytes + at, length);
		if (inet_pton(AF_INET, text, address) == 1)
			return length;
	}
	length = run_of(bytes, n, at, ":", sizeof text);
	while (length && bytes[at + length - 1] == ':')
		length--;
	/* "add::cafe" is a name of C++ */
	size_t first = run_of(bytes, n, at, "", 4);
	bool is_number = false;
	for (size_t i = 0; i < first; i++)
		is_number = is_number || isdigit((unsigned char)bytes[at + i]);
	if (length < 6 || length >= sizeof text || first < 3 || !is_number)
		return 0;
	memset(text, 0, sizeof text);
	memcpy(text, bytes + at, length);
	return inet_pton(AF_INET6, text, address) == 1 ? length : 0;
}

/* Groups of hexadecimal digits with one sign between them; `groups`: so many digits each, to 0. */
static size_t groups_of(const char *bytes, size_t n, size_t at, const char *groups, const char *signs)
{
	size_t end = at;
	char sign = 0;
	for (; *groups; groups++) {
		if (sign && (end >= n || bytes[end++] != sign))
			return 0;
		for (char i = 0; i < *groups; i++)
			if (end >= n || !isxdigit((unsigned char)bytes[end++]))
				return 0;
		if (!sign && (end >= n || !bytes[end] || !strchr(signs, sign = bytes[end])))
			return 0;
	}
	return is_word(bytes, n, end) || (end < n && bytes[end] == sign) ? 0 : end - at;
}

static size_t uuid(const char *bytes, size_t n, size_t at)
{
	size_t kind =
		n - at > 4 && (!strncasecmp(bytes + at, "GPU-", 4) || !strncasecmp(bytes + at, "MIG-", 4)) ? 4 : 0;
	size_t length = groups_of(bytes, n, at + kind, "\10\4\4\4\14", "-");
	return length ? kind + length : 0;
}

/* "train.py:1234" is a line of a file. */
static bool is_source(const char *name, size_t n)
{
	const char *dot = memrchr(name, '.', n);
	return dot && words_have("py c cc cpp cxx cu cuh h hpp rs go jl js so", dot + 1, n - (size_t)(dot + 1 - name),
	                         strncmp);
}

/* So many digits of a port stand there: two to five, with nothing behind them that they could belong to. */
static size_t port_of(const char *bytes, size_t n, size_t at)
{
	size_t end = at;
	while (end - at < 6 && end < n && isdigit((unsigned char)bytes[end]))
		end++;
	bool goes_on = end < n && strchr(".:", bytes[end]) && is_word(bytes, n, end + 1);
	return end - at < 2 || end - at > 5 || goes_on || is_word(bytes, n, end) ? 0 : end - at;
}

static size_t host_before_port(const char *bytes, size_t n, size_t at)
{
	size_t host = run_of(bytes, n, at, "-.", HOST_MOST);
	if (!host || host > HOST_MOST || at + host + 1 >= n || bytes[at + host] != ':')
		return 0;
	size_t port = port_of(bytes, n, at + host + 1);
	if (!port || !has_letter(bytes + at, host) || is_source(bytes + at, host) ||
	    (host == 9 && !strncasecmp(bytes + at, "localhost", host)))
		return 0;
	bool is_url = at >= 3 && !memcmp(bytes + at - 3, "://", 3);
	const char *dot = memrchr(bytes + at, '.', host);
	bool has_domain = dot && has_letter(dot, (size_t)(bytes + at + host - dot));
	bool is_numbered = port >= 4 && isdigit((unsigned char)bytes[at + host - 1]);
	return is_url || has_domain || is_numbered ? host : 0;
}

/* To the end of the text where it was cut. */
static size_t private_key(const char *bytes, size_t n, size_t at)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	const char *from = bytes + at, *behind = bytes + n;
	if (n - at < sizeof begin - 1 || memcmp(from, begin, sizeof begin - 1) != 0)
		return 0;
	const char *last = memmem(from, (size_t)(behind - from), end, sizeof end - 1);
	const char *dashes = last ? last + sizeof end - 1 : NULL;
	dashes = dashes ? memmem(dashes, (size_t)(behind - dashes), "-----", 5) : NULL;
	return dashes ? (size_t)(dashes + 5 - from) : n - at;
}

size_t scrub_address(const char *bytes, size_t n, size_t at, enum scrub_kind *kind)
{
	size_t length = bytes[at] == '-' ? private_key(bytes, n, at) : 0;
	*kind = SCRUB_TOKEN;
	if (length || !isalnum((unsigned char)bytes[at]) || (at && (is_word(bytes, n, at - 1) || bytes[at - 1] == '.')))
		return length;
	*kind = SCRUB_UUID;
	length = uuid(bytes, n, at);
	if (length)
		return length;
	*kind = SCRUB_ADDRESS;
	length = at && strchr("-+%:", bytes[at - 1]) ? 0 : email(bytes, n, at);
	if (!length)
		length = groups_of(bytes, n, at, "\2\2\2\2\2\2", ":-");
	if (!length)
		length = ip(bytes, n, at);
	return length ? length : at && bytes[at - 1] == '-' ? 0 : host_before_port(bytes, n, at);
}
