#include "trace/kernel_names.h"

#include "base/buf.h"
#include "base/words.h"
#include "trace/names.h"

#include <string.h>

enum { DEPTH = 200 }; /* brackets within brackets; a name with more is not taken apart */

/* Text that is read, and what is made of it. */
struct speller {
	const char *p;
	struct buf to;
	unsigned depth;
	bool bad;        /* no C++ that is understood … */
	bool inside;     /* … from within some brackets on: a long name is shortened */
	size_t own;      /* outermost name: where its last part begins in `to` … */
	size_t own_ends; /* … and ends; 0: not yet known */
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       c == '.' || c == '@' || (unsigned char)c >= 0x80;
}

static bool skip(struct speller *s, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(s->p, text, n) != 0)
		return false;
	s->p += n;
	return true;
}

static size_t word_length(const char *p)
{
	size_t n = 0;
	while (is_word(p[n]))
		n++;
	return n;
}

/* What several of make one type. */
static bool is_builtin(const char *word, size_t n)
{
	return words_have("unsigned signed char short int long __int128 float double bool void", word, n, strncmp);
}

/* Words that one demangler writes, or in another place. */
static bool is_left_out(const char *word, size_t n)
{
	return words_have("const volatile struct class enum typename", word, n, strncmp);
}

/* Of "(anonymous namespace)" nothing is kept, nor of the colons behind it. */
static bool skip_unnamed(struct speller *s)
{
	static const char *const unnamed[] = {"(anonymous namespace)", "<unnamed>", "_NV_ANON_NAMESPACE",
	                                      "`anonymous namespace'"};
	for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++)
		if (skip(s, unnamed[i])) {
			skip(s, "::");
			return true;
		}
	return false;
}

/* Namespaces that only say which version of a library it is, "v2", "__4", "_V2", "__cxx11": ncu leaves them out. */
static bool skip_version(struct speller *s, size_t n)
{
	static const char *const before[] = {"__cxx", "__", "_V", "v"};
	for (size_t i = 0; n && i < sizeof before / sizeof *before; i++) {
		size_t length = strlen(before[i]);
		if (n > length && memcmp(s->p, before[i], length) == 0 &&
		    strspn(s->p + length, "0123456789") == n - length && strncmp(s->p + n, "::", 2) == 0) {
			s->p += n + 2;
			return true;
		}
	}
	return false;
}

static void spell_list(struct speller *s);

/* What stands in brackets: spelled into `to`, or left out of it. */
static void spell_inside(struct speller *s, const char *open, const char *closing, bool keep)
{
	size_t before = s->to.n;
	if (++s->depth > DEPTH) {
		s->bad = s->inside = true;
		return;
	}
	buf_text(&s->to, open);
	spell_list(s);
	buf_text(&s->to, closing);
	s->inside = s->inside || !*s->p;
	s->bad = s->bad || !skip(s, closing);
	s->depth--;
	if (!keep && s->to.n > before)
		s->to.data[s->to.n = before] = 0;
}

/* "{lambda(float)#1}", "[lambda(float) (instance 1)]": what has no name of its own. */
static void spell_nameless(struct speller *s)
{
	const char *closing = *s->p++ == '{' ? "}" : "]";
	buf_text(&s->to, "{");
	for (; *s->p && *s->p != *closing && !s->bad;) {
		if (*s->p == '(' && strncmp(s->p, "(instance ", 10) != 0) {
			s->p++;
			spell_inside(s, "(", ")", true);
		} else if (skip(s, "(instance ") || skip(s, "#")) {
			buf_text(&s->to, "#");
		} else if (*s->p == ' ' || *s->p == ')') {
			s->p++;
		} else {
			buf_add(&s->to, s->p++, 1);
		}
	}
	buf_text(&s->to, "}");
	s->bad = s->bad || !skip(s, closing);
}

/* "4", "4ul", "2.5f": without what says its type. */
static void spell_number(struct speller *s, size_t n)
{
	size_t digits = n;
	while (digits > 1 && strchr("ulUL", s->p[digits - 1]))
		digits--;
	buf_add(&s->to, s->p, digits);
	s->p += n;
}

static bool is_word_now(const struct speller *s, const char *word, size_t n)
{
	return strlen(word) == n && memcmp(s->p, word, n) == 0;
}

static bool is_called_next(const char *p)
{
	p += strspn(p, " ");
	return *p == '(' || *p == '<';
}

/* "operator()", "operator ()", "operator<< <int>", "operator <<<int>", "operator bool". */
static void spell_operator(struct speller *s)
{
	s->p += strlen("operator");
	s->p += strspn(s->p, " ");
	buf_text(&s->to, "operator");
	size_t n = strncmp(s->p, "()", 2) == 0 ? 2 : strspn(s->p, "+-*/%^&|~!=<>,[]");
	while (n > 1 && s->p[n - 1] == '<' && !is_called_next(s->p + n))
		n--; /* it opens template arguments */
	buf_add(&s->to, s->p, n);
	s->p += n;
}

/* The address of a function, "&(f(float))" or "&f": without parameters. */
static void spell_address(struct speller *s)
{
	size_t before = s->to.n;
	spell_inside(s, "", ")", true);
	if (s->bad)
		return;
	s->to.n--;
	for (size_t i = before; i < s->to.n; i++)
		if (s->to.data[i] == '(')
			s->to.n = i;
	s->to.data[s->to.n] = 0;
}

/* One type, value or function of a list. */
struct one {
	size_t begin; /* in `to` */
	bool outer;   /* the kernel itself */
	bool templated;
	enum { NOTHING, WORD, BUILTIN, COLONS, CLOSED } last;
};

/* Passes over what is not written, or goes by another word; `n`: the word's length. */
static bool spell_passed(struct speller *s, size_t n, struct one *one)
{
	if (*s->p == ' ') {
		s->p++;
		return true;
	}
	if (skip_unnamed(s) || skip_version(s, n))
		return true;
	if (skip(s, "decltype(nullptr)")) {
		buf_text(&s->to, "std::nullptr_t");
		one->last = WORD;
		return true;
	}
	if (!n || !is_left_out(s->p, n))
		return false;
	s->p += n;
	return true;
}

/* Whether it ends here. */
static bool spell_ended(struct speller *s, size_t n, const struct one *one)
{
	if (one->outer && one->last == CLOSED && strncmp(s->p, "[clone ", 7) == 0) { /* "f(int) [clone .kd]" */
		s->p += strlen(s->p);
		return true;
	}
	if (s->depth && memmem(s->p, n, NAME_ELLIPSIS, strlen(NAME_ELLIPSIS)))
		s->bad = s->inside = true; /* shortened here: which brackets end behind it is not known */
	return s->bad || strchr(">)]},", *s->p);
}

static void spell_text(struct speller *s, size_t n)
{
	buf_add(&s->to, s->p, n);
	s->p += n;
}

/* What begins with a word of `n` letters, or a brace. What stands before it is a type that a function returns. */
static void spell_word(struct speller *s, size_t n, struct one *one)
{
	bool builtin = is_builtin(s->p, n);
	if (one->last == BUILTIN && builtin) {
		buf_text(&s->to, " ");
	} else if (one->last != NOTHING && one->last != COLONS) {
		s->to.data[s->to.n = one->begin] = 0;
		one->templated = false;
	}
	if (one->outer)
		s->own = s->to.n, s->own_ends = 0;
	if (!n)
		spell_nameless(s);
	else if (is_word_now(s, "operator", n))
		spell_operator(s);
	else if (is_word_now(s, "true", n) || is_word_now(s, "false", n))
		buf_text(&s->to, *s->p == 't' ? "1" : "0"), s->p += n;
	else if (*s->p >= '0' && *s->p <= '9')
		spell_number(s, n);
	else
		spell_text(s, n);
	one->last = builtin ? BUILTIN : WORD;
	if (one->outer)
		s->own_ends = s->to.n;
}

/* What stands in parentheses: an address, a cast in front of a value, or parameters. */
static void spell_parentheses(struct speller *s, struct one *one)
{
	if (one->last == NOTHING && s->to.n > one->begin && s->to.data[s->to.n - 1] == '&')
		spell_address(s);
	else
		spell_inside(s, "(", ")", one->last != NOTHING && !one->templated);
	one->last = one->last == NOTHING ? NOTHING : CLOSED;
}

/* What two demanglers may write in front of it, the type that a function returns, is left out, and so are the
 * parameters of what has template arguments, which one of them writes as "T1". */
static void spell_one(struct speller *s)
{
	struct one one = {.begin = s->to.n, .outer = s->depth == 0};
	while (*s->p && !s->bad) {
		size_t n = word_length(s->p), array = *s->p == '[' ? 1 + strspn(s->p + 1, "0123456789") : 0;
		if (spell_passed(s, n, &one))
			continue;
		if (spell_ended(s, n, &one))
			return;
		if (array && s->p[array] == ']') { /* "[]", "[3]" */
			spell_text(s, array + 1);
			one.last = CLOSED;
		} else if (n || *s->p == '{' || *s->p == '[') {
			spell_word(s, n, &one);
		} else if (skip(s, "::")) {
			if (one.last != NOTHING)
				buf_text(&s->to, "::");
			one.last = COLONS;
		} else if (skip(s, "<")) {
			one.templated = true;
			spell_inside(s, "<", ">", true);
			one.last = CLOSED;
		} else if (skip(s, "(")) {
			spell_parentheses(s, &one);
		} else {
			spell_text(s, 1); /* "*", "&", "-" */
			one.last = one.last == NOTHING ? NOTHING : CLOSED;
		}
	}
}

static void spell_list(struct speller *s)
{
	for (spell_one(s); !s->bad && *s->p == ','; spell_one(s)) {
		s->p++;
		buf_text(&s->to, ",");
	}
}

static struct speller spelled(const char *name)
{
	struct speller s = {.p = name};
	buf_text(&s.to, "");
	spell_one(&s);
	s.bad = s.bad || *s.p || !s.own_ends;
	return s;
}

const char *kernel_function(struct arena *arena, const char *name)
{
	struct speller s = spelled(name);
	bool known = s.own_ends && (!s.bad || s.inside);
	const char *copy =
		known ? arena_copy(arena, s.to.data + s.own, s.own_ends - s.own) : arena_format(arena, "%s", name);
	buf_release(&s.to);
	return copy;
}

const char *kernel_spelling(struct arena *arena, const char *name)
{
	struct speller s = spelled(name);
	const char *copy = s.bad ? arena_format(arena, "%s", name) : arena_copy(arena, s.to.data, s.to.n);
	buf_release(&s.to);
	return copy;
}

/* The length of "word::" at `p`, which is where a part of a name begins; 0: there is none. */
static size_t space_length(const char *p)
{
	size_t n = word_length(p);
	return n && strncmp(p + n, "::", 2) == 0 ? n + 2 : 0;
}

/* What is compared or copied as a whole: a word, or one other character. */
static size_t part_length(const char *p)
{
	size_t n = word_length(p);
	return n ? n : 1;
}

const char *kernel_plain(struct arena *arena, const char *spelling)
{
	BUF_LOCAL(plain);
	buf_text(&plain, "");
	for (const char *p = spelling; *p;) {
		size_t skipped = space_length(p), n = part_length(p);
		if (!skipped)
			buf_add(&plain, p, n);
		p += skipped ? skipped : n;
	}
	return arena_copy(arena, plain.data, plain.n);
}

bool kernel_spelling_fits(const char *full, const char *less)
{
	while (*full) {
		size_t space = space_length(full), n = space ? space : part_length(full);
		if (strncmp(full, less, n) == 0)
			less += n;
		else if (!space)
			return false;
		full += n;
	}
	return !*less;
}

bool kernel_name_is_bare(const char *name)
{
	return !strpbrk(name, "<(:");
}
