#include "trace/kernel_names.h"

#include "trace/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where "_", one of `letters` ("" for none) and digits at the end of key[0, n) begin; n if it does not end so. */
static size_t before_number(const char *key, size_t n, const char *letters)
{
	size_t i = n;
	while (i && is_digit(key[i - 1]))
		i--;
	if (i == n || !i)
		return n;
	if (*letters && (--i == 0 || key[i] != *letters))
		return n;
	return i && key[i - 1] == '_' ? i - 1 : n;
}

/* Drops template arguments, parameters, namespaces without a name and what stands before the last blank outside of them
 * (a return type). */
static size_t drop_signature(char *key)
{
	static const char *const unnamed[] = {"(anonymous namespace)::", "<unnamed>::", "_NV_ANON_NAMESPACE::"};
	size_t n = 0, depth = 0;
	for (const char *p = key; *p; p++) {
		size_t skip = 0;
		for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed && !depth; i++)
			skip = begins(p, unnamed[i]) ? strlen(unnamed[i]) : skip;
		bool is_operator = n >= 8 && memcmp(key + n - 8, "operator", 8) == 0;
		if (skip) {
			p += skip - 1;
		} else if (*p == '<' && !is_operator) {
			depth++;
		} else if (*p == '>' && depth) {
			depth--;
		} else if (depth && begins(p, NAME_ELLIPSIS)) {
			break; /* a long name is shortened: which brackets end behind that is not known */
		} else if (depth) {
			continue;
		} else if (*p == '(' && n) {
			break;
		} else if (*p == ' ') {
			n = 0;
		} else {
			key[n++] = *p;
		}
	}
	key[n] = 0;
	return n;
}

/* "main_145_gpu", "main_145_gpu__red": the number before "_gpu" is a source line. */
static void drop_openacc_line(char *key, size_t n)
{
	char *gpu = strstr(key, "_gpu");
	while (gpu && gpu[4] && gpu[4] != '_')
		gpu = strstr(gpu + 1, "_gpu");
	if (!gpu)
		return;
	size_t at = (size_t)(gpu - key), line = before_number(key, at, "");
	memmove(key + line, gpu, n - at + 1);
}

/* "nvkernel_main_F1L145_2": the function's number, the line, and which of its regions it is. */
static void drop_openmp_line(char *key, size_t n)
{
	n = before_number(key, n, "");
	size_t line = n;
	while (line && is_digit(key[line - 1]))
		line--;
	if (!line || line == n || key[line - 1] != 'L')
		return;
	size_t function = line - 1;
	while (function && is_digit(key[function - 1]))
		function--;
	if (function >= 2 && function < line - 1 && key[function - 1] == 'F' && key[function - 2] == '_')
		key[function - 2] = 0;
}

/* "__omp_offloading_10305_a1b2c3_solve_l88": numbers of the source file's device and inode, and the line. */
static void drop_openmp_file(char *key, size_t n)
{
	static const char head[] = "__omp_offloading";
	char *p = key + sizeof head - 1;
	key[before_number(key, n, "l")] = 0;
	for (int part = 0; part < 2; part++) {
		size_t digits = *p == '_' ? strspn(p + 1, "0123456789abcdef") : 0;
		if (!digits || p[1 + digits] != '_')
			return;
		memmove(p, p + 1 + digits, strlen(p + 1 + digits) + 1);
	}
}

const char *kernel_key(struct arena *arena, const char *name)
{
	char *key = arena_format(arena, "%s", name);
	size_t n = drop_signature(key);
	if (!n)
		return name;
	if (begins(key, "__omp_offloading_")) {
		drop_openmp_file(key, n);
	} else if (begins(key, "nvkernel_")) {
		drop_openmp_line(key, n);
	} else if (begins(key, "triton_")) {
		key[before_number(key, n, "")] = 0;
	} else if (strstr(key, "$_omp_fn$")) {
		*strrchr(key, '$') = 0;
	} else {
		drop_openacc_line(key, n);
	}
	return *key ? key : name;
}

/* Not of "broadcast", nor of PyTorch's LoadWithCast, with which any kernel reads another type. */
static bool begins_word(const char *name, const char *at)
{
	bool begins = at == name || !isalpha((unsigned char)at[-1]) ||
	              (isupper((unsigned char)*at) && islower((unsigned char)at[-1]));
	return begins && !(at - name >= 4 && strncmp(at - 4, "With", 4) == 0);
}

bool kernel_key_copies(const char *name)
{
	return strncmp(name, "memcpy", strlen("memcpy")) == 0 && strstr(name, "_post");
}

bool kernel_key_halves(const char *name)
{
	static const char *const words[] = {"bf16",  "fp16",   "f16f",  "_f16_", "bfloat16", "__half",
	                                    "<half", ", half", "half*", "half2", "::half",   "hgemm",
	                                    "_hsh_", "_hss_",  "_tst_", "_tss_"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

bool kernel_key_fills(const char *name)
{
	static const char *const words[] = {"fill", "memset",  "zero",        "copy",
	                                    "cast", "convert", "amp_foreach", "amp_update_scale"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		for (const char *at = strcasestr(name, words[i]); at; at = strcasestr(at + 1, words[i]))
			if (begins_word(name, at))
				return true;
	return false;
}
