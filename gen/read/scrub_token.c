#include "read/scrub_parts.h"

#include "base/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static size_t run_of(const char *bytes, size_t n, size_t at, const char *also)
{
	size_t end = at;
	while (end < n && (isalnum((unsigned char)bytes[end]) || (bytes[end] && strchr(also, bytes[end]))))
		end++;
	return end - at;
}

/* What the services put in front, and how much follows at least. */
static size_t known_token(const char *bytes, size_t n, size_t at)
{
	static const struct {
		const char *begin;
		size_t least; /* of what follows */
	} known[] = {
		{"ghp_", 20},        {"gho_", 20},      {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20},
		{"github_pat_", 20}, {"glpat-", 16},    {"hf_", 20},  {"sk-", 16},  {"xoxb-", 10},
		{"xoxp-", 10},       {"xoxa-", 10},     {"AKIA", 16}, {"ASIA", 16}, {"npm_", 20},
		{"pypi-", 20},       {"dckr_pat_", 16}, {"AIza", 30}, {"eyJ", 20},
	};
	if (at && is_letter(bytes[at - 1]))
		return 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t begin = strlen(known[i].begin);
		if (n - at < begin || memcmp(bytes + at, known[i].begin, begin) != 0)
			continue;
		size_t more = run_of(bytes, n, at + begin, known[i].begin[0] == 'e' ? "_-." : "_-");
		if (more >= known[i].least)
			return begin + more;
	}
	return 0;
}

static bool ends_with(const char *bytes, size_t n, const char *word)
{
	size_t length = strlen(word);
	return n >= length && !strncasecmp(bytes + n - length, word, length);
}

/* Whether "user", "username" or "login" stands there as a word: "superuser" is a privilege, "num_user" a number. */
static bool is_user(const char *name, size_t n)
{
	return words_have("user username login --user --username db_user", name, n, strncasecmp);
}

/* The value in "password=…", "api_key: …", "--token …", "Bearer …", "user=…"; `at` is where it begins. */
static size_t named_value(const char *bytes, size_t n, size_t at)
{
	static const char *const words[] = {"password", "passwd",  "passphrase", "secret",    "token",
	                                    "api_key",  "api-key", "apikey",     "access_key"};
	size_t before = at;
	bool assigned = false;
	while (before && at - before <= 3 && bytes[before - 1] && strchr("=: \"'", bytes[before - 1])) {
		assigned = assigned || bytes[before - 1] == '=' || bytes[before - 1] == ':';
		before--;
	}
	if (before == at || at - before > 3 || isspace((unsigned char)bytes[at]))
		return 0;
	size_t length = run_of(bytes, n, at, "_-.~+/=!$%^&*#@"), name = before;
	while (name && is_letter(bytes[name - 1]))
		name--;
	bool named = ends_with(bytes + name, before - name, "bearer");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		named = named || ((assigned || bytes[name] == '-') && ends_with(bytes + name, before - name, words[i]));
	if (bytes[at - 1] == '=' && is_user(bytes + name, before - name))
		return run_of(bytes, n, at, "_-.");
	return named && length >= 4 ? length : 0;
}

/* "user:password" of "https://user:password@host/x"; `at` is behind the two slashes. */
static size_t before_host(const char *bytes, size_t n, size_t at)
{
	if (at < 3 || memcmp(bytes + at - 3, "://", 3) != 0)
		return 0;
	size_t length = run_of(bytes, n, at, "-._~!$&'()*+,;=:%");
	return length && at + length < n && bytes[at + length] == '@' ? length : 0;
}

size_t scrub_token(const char *bytes, size_t n, size_t at)
{
	size_t length = before_host(bytes, n, at);
	if (!length)
		length = known_token(bytes, n, at);
	return length ? length : named_value(bytes, n, at);
}
