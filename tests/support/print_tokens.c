/* print_tokens PIECE: what base/json_scan makes of documents that it gets in pieces of so many bytes. They come from
 * the standard input, each behind a line with its length; a line goes out for each: { } [ ] n f t, #NUMBER, and texts
 * and keys as "HEX and :HEX; at the end "ok", or the number of its flaw and the position. */
#include "base/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pieces {
	const char *data;
	size_t n, most;
};

static ssize_t next_piece(void *context, void *data, size_t room)
{
	struct pieces *p = context;
	size_t n = p->n < p->most ? p->n : p->most;
	n = n < room ? n : room;
	memcpy(data, p->data, n);
	p->data += n;
	p->n -= n;
	return (ssize_t)n;
}

static void print(const struct json_scan *s, enum json_token token)
{
	static const char marks[] = "!!nft#\":{}[]";
	putchar(marks[token]);
	if (token == TOKEN_NUMBER)
		fwrite(s->text, 1, s->n, stdout);
	for (size_t i = 0; (token == TOKEN_TEXT || token == TOKEN_KEY) && i < s->n; i++)
		printf("%02x", (unsigned char)s->text[i]);
	putchar(' ');
}

int main(int argc, char **argv)
{
	size_t n;
	while (argc == 2 && scanf("%zu", &n) == 1 && getchar() == '\n') {
		char *text = malloc(n + 1);
		if (!text || fread(text, 1, n, stdin) != n)
			return 1;
		struct pieces pieces = {text, n, strtoul(argv[1], NULL, 10)};
		struct json_scan s;
		json_scan_open(&s, next_piece, &pieces, JSON_SCAN_DEEPEST);
		s.strict = true;
		for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
			print(&s, token);
		if (s.flaw)
			printf("!%d %lld\n", (int)s.flaw, (long long)json_scan_position(&s));
		else
			puts("ok");
		json_scan_close(&s);
		free(text);
	}
	return argc == 2 ? 0 : 2;
}
