/* Rows and fields of CSV (read/csv.h): texts written here, fields told apart by hand. */
#include "read/csv.h"

#include "base/arena.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	struct buf text;  /* every row: its fields in brackets, a newline */
	size_t n, fields; /* rows; fields of the last one */
	size_t most;      /* rows that are wanted */
};

static bool see(void *context, const struct csv_field *field, size_t n)
{
	struct seen *seen = context;
	for (size_t i = 0; n < 100 && i < n; i++) {
		assert_int_equal(strlen(field[i].text), field[i].n);
		buf_format(&seen->text, "[%s]", field[i].text);
	}
	buf_text(&seen->text, n < 100 ? "\n" : "many\n");
	seen->fields = n;
	return ++seen->n != seen->most;
}

/* 0 with what was seen, or -1. */
static int take(const char *text, size_t n, struct seen *seen)
{
	struct err err = {0};
	int fd = memfd_create("csv", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	int result = csv_read(fd, "table.csv", see, seen, &err);
	assert_true(result == 0 || strstr(err.text, "table.csv"));
	close(fd);
	return result;
}

static void expect(const char *text, const char *rows)
{
	struct seen seen = {0};
	assert_int_equal(take(text, strlen(text), &seen), 0);
	assert_string_equal(seen.text.data ? seen.text.data : "", rows);
	buf_release(&seen.text);
}

static void quotes_and_lines(void **state)
{
	(void)state;
	expect("", "");
	expect("a,b\nc", "[a][b]\n[c]\n");
	expect("a,,\r\n\r\n\n,\n", "[a][][]\n[][]\n");
	expect("\"a,b\",\"c\nd\",\"say \"\"so\"\"\"\n\"\"\n", "[a,b][c\nd][say \"so\"]\n[]\n");
	expect("\xEF\xBB\xBF\"a\",b\n\xEF\xBB\xBF", "[a][b]\n[\xEF\xBB\xBF]\n");
}

/* A quote opens a text only where a field begins. */
static void quotes_elsewhere_are_bytes(void **state)
{
	(void)state;
	expect("a\"b,c\"\nd\n", "[a\"b][c\"]\n[d]\n");
	expect("\"a\"b\"c,d\"\ne\n", "[ab\"c][d\"]\n[e]\n");
	expect("\"\"\r\"x,y\nz\n", "[\"x][y]\n[z]\n"); /* empty and closed: the next one opens nothing */
}

/* What lies beyond the last field that is kept has its quotes, too, and the next row is whole. */
static void a_row_of_too_many_fields(void **state)
{
	(void)state;
	struct buf text = {0};
	struct seen seen = {0};
	for (int i = 0; i < CSV_FIELDS_MAX; i++)
		buf_text(&text, "1,");
	buf_text(&text, "\"a,\n\"b\"c,2\nnext,row\n");
	assert_int_equal(take(text.data, text.n, &seen), 0);
	assert_string_equal(seen.text.data, "many\n[next][row]\n");
	buf_release(&text);
	buf_release(&seen.text);
}

static void files_that_end_early(void **state)
{
	(void)state;
	struct seen seen = {0}, first = {.most = 1};
	assert_int_equal(take("a,\"b", 4, &seen), -1);
	assert_int_equal(take("a\nb\n\"c", 6, &first), 0); /* nobody asked for what follows the first row */
	assert_int_equal(first.n, 1);
	buf_release(&seen.text);
	buf_release(&first.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_lines),
		cmocka_unit_test(quotes_elsewhere_are_bytes),
		cmocka_unit_test(a_row_of_too_many_fields),
		cmocka_unit_test(files_that_end_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
