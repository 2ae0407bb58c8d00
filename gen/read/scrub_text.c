#include "read/scrub_parts.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { WORD_MIN = 3 };

void scrub_text_init(struct scrub_text *text, struct arena *arena)
{
	*text = (struct scrub_text){.arena = arena};
	for (int kind = 0; kind < SCRUB_KINDS; kind++)
		names_init(&text->found[kind], arena);
	names_init(&text->changed, arena);
	names_init(&text->uuids, arena);
}

/* ---- what to hide ---- */

/* Nobody's name, and words that profiles themselves consist of: where they stand they tell about nobody, and a reader
 * that looks for "CUDA profiling initialization", or for "cupti" as the collector, has to find it. */
static bool says_nothing(const char *word, size_t n)
{
	static const char common[] =
		"root localhost user home true false none unknown yes cuda cupti nsys gapline nvtx "
		"osrt nvml nvidia nsight systems program graph node profiling initialization";
	return n < WORD_MIN || strspn(word, "0123456789.") >= n || words_have(common, word, n, strncasecmp);
}

static bool is_known(const struct scrub_text *text, const char *word, size_t n)
{
	for (size_t i = 0; i < text->n_secrets; i++)
		if (text->secrets[i].n == n && !strncasecmp(text->secrets[i].text, word, n))
			return true;
	return false;
}

void scrub_text_hide(struct scrub_text *text, enum scrub_kind kind, const char *word, size_t n)
{
	const char *dot = kind == SCRUB_HOST ? memchr(word, '.', n) : NULL;
	bool is_wanted = kind == SCRUB_WORD ? n > 0 : !says_nothing(word, n); /* what was asked for is done */
	if (is_wanted && !is_known(text, word, n)) {
		LIST_GROW(text->arena, text->secrets, text->n_secrets, text->room);
		/* The longest first: a full host name before its first label. */
		size_t at = text->n_secrets++;
		for (; at > 0 && text->secrets[at - 1].n < n; at--)
			text->secrets[at] = text->secrets[at - 1];
		text->secrets[at] = (struct scrub_secret){kind, arena_copy(text->arena, word, n), n};
	}
	if (dot)
		scrub_text_hide(text, SCRUB_HOST, word, (size_t)(dot - word));
}

static const char *last_part(const char *path, size_t *n)
{
	while (*n && (path[*n - 1] == '/' || path[*n - 1] == '\\'))
		--*n;
	size_t from = *n;
	while (from && path[from - 1] != '/' && path[from - 1] != '\\')
		from--;
	*n -= from;
	return path + from;
}

/* Whether `name` ends with `word` as a whole word: EXPORT_HOST, PROCESS_0:USER_NAME, Hostname. */
static bool ends_with(const char *name, size_t n, const char *word)
{
	size_t length = strlen(word);
	return n >= length && !strncasecmp(name + n - length, word, length) &&
	       (n == length || !isalnum((unsigned char)name[n - length - 1]));
}

static const char *const homes[] = {"/home/", "/Users/", "\\Users\\"};

/* Whether what follows the text is a user's name. */
static bool leads_home(const char *path, size_t n)
{
	for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
		if (n >= strlen(homes[h]) && !memcmp(path + n - strlen(homes[h]), homes[h], strlen(homes[h])))
			return true;
	return false;
}

/* Whether a variable whose name ends with HOME names a user's: HOME does, whatever it says; CUDA_HOME and JAVA_HOME
 * lead to programs, unless they lie where users live. */
static bool is_home_of_user(const char *name, size_t name_n, const char *value, size_t value_n)
{
	size_t n = value_n;
	const char *last = last_part(value, &n);
	return name_n < 5 || name[name_n - 5] != '_' || leads_home(value, (size_t)(last - value));
}

static void learn_value(struct scrub_text *text, const char *name, size_t name_n, const char *value, size_t n)
{
	static const struct {
		const char *word;
		enum scrub_kind kind;
		bool is_home;
	} tells[] = {
		{"HOST", SCRUB_HOST, false},         {"HOSTNAME", SCRUB_HOST, false}, {"HOST_NAME", SCRUB_HOST, false},
		{"COMPUTERNAME", SCRUB_HOST, false}, {"USER", SCRUB_USER, false},     {"USERNAME", SCRUB_USER, false},
		{"USER_NAME", SCRUB_USER, false},    {"LOGNAME", SCRUB_USER, false},  {"HOME", SCRUB_USER, true},
		{"USERPROFILE", SCRUB_USER, true},
	};
	if (n >= 2 && value[0] == '"' && value[n - 1] == '"') { /* as nsys writes a variable among its options */
		value++;
		n -= 2;
	}
	for (size_t i = 0; i < sizeof tells / sizeof *tells; i++) {
		if (!ends_with(name, name_n, tells[i].word))
			continue;
		if (tells[i].is_home && !is_home_of_user(name, name_n, value, n))
			return;
		if (tells[i].is_home)
			value = last_part(value, &n);
		scrub_text_hide(text, tells[i].kind, value, n);
		return;
	}
}

void scrub_text_learn(struct scrub_text *text, const char *name, const char *value, size_t n)
{
	static const char breaks[] = "\n\r\t;"; /* between environment variables; and NUL */
	learn_value(text, name, strlen(name), value, n);
	scrub_path_learn(&text->roots, text->arena, value, n);
	for (size_t i = 0; i < n;) {
		size_t end = i;
		while (end < n && value[end] && !strchr(breaks, value[end]))
			end++;
		const char *equals = memchr(value + i, '=', end - i);
		if (equals) {
			size_t from = (size_t)(equals - value), name_from = from;
			while (name_from > i &&
			       (isalnum((unsigned char)value[name_from - 1]) || value[name_from - 1] == '_'))
				name_from--;
			learn_value(text, value + name_from, from - name_from, equals + 1, end - from - 1);
		}
		i = end + 1;
	}
}

void scrub_text_learn_path(struct scrub_text *text, const char *path, size_t n)
{
	scrub_path_learn(&text->roots, text->arena, path, n);
	for (size_t h = 0; h < sizeof homes / sizeof *homes; h++) {
		size_t length = strlen(homes[h]);
		const char *at = memmem(path, n, homes[h], length);
		if (!at)
			continue;
		at += length;
		size_t left = n - (size_t)(at - path), user = 0;
		while (user < left && at[user] != '/' && at[user] != '\\')
			user++;
		if (user < left)
			scrub_text_hide(text, SCRUB_USER, at, user);
	}
}

/* ---- masking ---- */

static void put_mask(struct scrub_text *text, struct buf *out, enum scrub_kind kind, const char *what, size_t n)
{
	static const char *const words[] = {"host", "user", "word", "path", "secret", "address", "uuid"};
	BUF_LOCAL(lower);
	for (size_t i = 0; i < n; i++) { /* host names are the same in either case */
		char c = kind == SCRUB_HOST ? (char)tolower((unsigned char)what[i]) : what[i];
		buf_add(&lower, &c, 1);
	}
	uint32_t id = names_add(&text->found[kind], lower.data, lower.n);
	char letters[8];
	size_t at = sizeof letters;
	letters[--at] = '\0';
	for (; id; id = (id - 1) / 26)
		letters[--at] = (char)('A' + (id - 1) % 26);
	buf_format(out, "[%s %s]", words[kind], letters + at);
}

static const struct scrub_secret *secret_at(const struct scrub_text *text, const char *bytes, size_t n, size_t at)
{
	if (at && isalnum((unsigned char)bytes[at - 1]))
		return NULL;
	for (size_t i = 0; i < text->n_secrets; i++) {
		const struct scrub_secret *s = &text->secrets[i];
		if (n - at >= s->n && tolower((unsigned char)bytes[at]) == tolower((unsigned char)s->text[0]) &&
		    !strncasecmp(bytes + at, s->text, s->n) &&
		    (n - at == s->n || !isalnum((unsigned char)bytes[at + s->n])))
			return s;
	}
	return NULL;
}

const char *scrub_text_mask(struct scrub_text *text, const char *bytes, size_t *n)
{
	struct buf out = {0};
	size_t copied = 0;
	bool changed = false;
	for (size_t at = 0; at < *n;) {
		size_t token = scrub_token(bytes, *n, at);
		size_t folder = token ? 0 : scrub_path_folder(&text->roots, bytes, *n, at);
		const struct scrub_secret *secret = token || folder ? NULL : secret_at(text, bytes, *n, at);
		enum scrub_kind kind = secret ? secret->kind : token ? SCRUB_TOKEN : SCRUB_PATH;
		size_t length = secret ? secret->n : token + folder;
		enum scrub_kind other;
		size_t address = length && !secret ? 0 : scrub_address(bytes, *n, at, &other);
		if (address > length) { /* a user's name and a host behind it */
			kind = other;
			length = address;
		}
		if (!length) {
			at++;
			continue;
		}
		changed = true;
		buf_add(&out, bytes + copied, at - copied);
		put_mask(text, &out, kind, bytes + at, length);
		if (folder && at + length < *n && !scrub_path_is_separator(bytes[at + length]) &&
		    scrub_path_is_part((unsigned char)bytes[at + length]))
			buf_text(&out, "/");
		at += length;
		copied = at;
	}
	if (!changed)
		return bytes;
	buf_add(&out, bytes + copied, *n - copied);
	names_add(&text->changed, bytes, *n);
	const char *masked = arena_copy(text->arena, out.data, out.n);
	*n = out.n;
	buf_release(&out);
	return masked;
}

const char *scrub_text_secret(struct scrub_text *text, const char *bytes, size_t from, size_t *n)
{
	BUF_LOCAL(out);
	size_t first = from;
	const char *front = scrub_text_mask(text, bytes, &first);
	names_add(&text->changed, bytes, *n);
	buf_add(&out, front, first);
	put_mask(text, &out, SCRUB_TOKEN, bytes + from, *n - from);
	const char *masked = arena_copy(text->arena, out.data, out.n);
	*n = out.n;
	return masked;
}

/* Masks the first so many bytes. */
static const char *mask_first(struct scrub_text *text, enum scrub_kind kind, const char *bytes, size_t first, size_t *n)
{
	BUF_LOCAL(out);
	names_add(&text->changed, bytes, *n);
	put_mask(text, &out, kind, bytes, first);
	buf_add(&out, bytes + first, *n - first);
	const char *masked = arena_copy(text->arena, out.data, out.n);
	*n = out.n;
	return masked;
}

/* The last part of a path, `n` of its `whole` bytes, where what stands in front of it says what it is: a user's name
 * all of it, a host at its beginning. NULL: nothing is said. */
static const char *mask_by_front(struct scrub_text *text, const char *path, size_t whole, const char *name, size_t *n)
{
	enum scrub_kind kind;
	size_t front = (size_t)(name - path);
	if (!*n)
		return NULL;
	if (leads_home(path, front))
		return mask_first(text, SCRUB_USER, name, *n, n);
	if (memmem(path, front, "-----BEGIN ", 11)) /* the rest of a key whose lines end with \\n, as in JSON */
		return mask_first(text, SCRUB_TOKEN, name, *n, n);
	size_t host = front ? scrub_address(path, whole, front, &kind) : 0;
	return host && host <= *n ? mask_first(text, kind, name, host, n) : NULL;
}

const char *scrub_text_module(struct scrub_text *text, const char *bytes, size_t *n)
{
	size_t whole = *n, trimmed = *n;
	const char *name = last_part(bytes, &trimmed);
	*n = whole - (size_t)(name - bytes);
	const char *masked = mask_by_front(text, bytes, whole, name, n);
	return masked ? masked : scrub_text_mask(text, name, n);
}

const char *scrub_text_program(struct scrub_text *text, const char *bytes, size_t *n)
{
	size_t whole = *n, trimmed = *n;
	/* As the reader shows it: the last part, with a separator at the very end if there is one. */
	const char *name = last_part(bytes, &trimmed);
	*n = whole - (size_t)(name - bytes);
	const char *space = memchr(name, ' ', *n);
	if (space) {
		names_add(&text->changed, bytes, whole);
		*n = (size_t)(space - name);
	}
	const char *masked = mask_by_front(text, bytes, whole, name, n);
	return masked ? masked : scrub_text_mask(text, name, n);
}

const char *scrub_text_message(struct scrub_text *text, const char *bytes, size_t *n)
{
	struct buf out = {0};
	*n = *n < NAME_MAX_BYTES ? *n : NAME_MAX_BYTES; /* so much of it the reader looks at */
	for (size_t i = 0; i < *n;) {
		size_t end = i;
		while (end < *n && bytes[end] && !scrub_path_stops(bytes[end]))
			end++;
		const char *word = bytes + i;
		for (size_t k = i; k + 1 < end; k++)
			if (scrub_path_is_separator(bytes[k]))
				word = bytes + k + 1;
		size_t length = (size_t)(bytes + end - word);
		const char *masked = mask_by_front(text, bytes + i, end - i, word, &length);
		buf_add(&out, masked ? masked : word, length);
		if (end < *n)
			buf_add(&out, bytes + end++, 1);
		i = end;
	}
	const char *copy = arena_copy(text->arena, out.data ? out.data : "", out.n);
	*n = out.n;
	buf_release(&out);
	return scrub_text_mask(text, copy, n);
}

const char *scrub_text_uuid(struct scrub_text *text, const char *bytes, size_t *n)
{
	/* nsys writes UUIDs with and without their kind in front. */
	size_t prefix = *n >= 4 && (!strncasecmp(bytes, "GPU-", 4) || !strncasecmp(bytes, "MIG-", 4)) ? 4 : 0;
	char *made = arena_copy(text->arena, bytes, *n);
	for (size_t i = prefix; i < *n; i++) /* its case must not matter, its digits must not stay */
		made[i] = (char)tolower((unsigned char)made[i]);
	uint32_t number = names_add(&text->uuids, made + prefix, *n - prefix);
	for (size_t i = *n; i-- > prefix;) {
		if (made[i] == '-')
			continue;
		made[i] = "0123456789abcdef"[number & 15];
		number >>= 4;
	}
	return made;
}
