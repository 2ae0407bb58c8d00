#include "read/csv.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

struct csv {
	struct arena scratch;
	struct buf text;                /* of the row so far, each field ends with NUL */
	size_t *start;                  /* of each field in it */
	struct csv_field *field;        /* the same for the visitor, once the row is whole */
	size_t n, length;               /* fields so far, the last one is being read; bytes in it */
	bool quoted, was_quoted, quote; /* inside quotes; began with one; the last byte was a quote inside quotes */
	bool any;                       /* the row holds a byte */
};

static void begin_field(struct csv *c)
{
	c->n++;
	c->length = 0;
	c->was_quoted = false;
	if (c->n <= CSV_FIELDS_MAX)
		c->start[c->n - 1] = c->text.n;
}

static void end_field(struct csv *c)
{
	if (c->n <= CSV_FIELDS_MAX)
		buf_add(&c->text, "", 1);
}

static void begin_row(struct csv *c)
{
	c->text.n = 0;
	c->n = 0;
	c->any = c->quoted = c->quote = false;
	begin_field(c);
}

static bool end_row(struct csv *c, csv_row *visit, void *context)
{
	bool go_on = true;
	end_field(c);
	if (c->any) {
		size_t n = c->n < CSV_FIELDS_MAX ? c->n : CSV_FIELDS_MAX;
		for (size_t i = 0; i < n; i++) {
			c->field[i].text = c->text.data + c->start[i];
			c->field[i].n = (i + 1 < n ? c->start[i + 1] : c->text.n) - c->start[i] - 1;
		}
		if (c->n > n) /* bytes of the fields that are left out are not kept */
			c->field[n - 1].n = strlen(c->field[n - 1].text);
		go_on = visit(context, c->field, n);
	}
	begin_row(c);
	return go_on;
}

static void add_byte(struct csv *c, char byte)
{
	c->any = true;
	if (c->n > CSV_FIELDS_MAX || c->length == CSV_FIELD_MAX || c->text.n >= CSV_ROW_MAX)
		return;
	byte = byte ? byte : ' ';
	buf_add(&c->text, &byte, 1);
	c->length++;
}

/* One byte; false: the visitor wants no more. */
static bool take(struct csv *c, char byte, csv_row *visit, void *context)
{
	if (c->quoted && !c->quote) {
		if (byte == '"')
			c->quote = true;
		else
			add_byte(c, byte);
		return true;
	}
	if (c->quote) {
		c->quote = false;
		if (byte == '"') {
			add_byte(c, byte);
			return true;
		}
		c->quoted = false; /* it was the closing one */
	}
	if (byte == ',') {
		c->any = true;
		end_field(c);
		begin_field(c);
	} else if (byte == '\n') {
		return end_row(c, visit, context);
	} else if (byte == '"' && !c->length && !c->was_quoted) {
		c->any = c->quoted = c->was_quoted = true;
	} else if (byte != '\r') {
		add_byte(c, byte);
	}
	return true;
}

int csv_read(int fd, const char *path, csv_row *visit, void *context, struct err *err)
{
	struct csv c = {0};
	char *data = ARENA_NEW(&c.scratch, CHUNK, char);
	c.start = ARENA_NEW(&c.scratch, CSV_FIELDS_MAX, size_t);
	c.field = ARENA_NEW(&c.scratch, CSV_FIELDS_MAX, struct csv_field);
	begin_row(&c);
	int result = 0;
	bool go_on = true, first = true;
	ssize_t n = 0;
	if (lseek(fd, 0, SEEK_SET) != 0)
		result = err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(errno));
	while (result == 0 && go_on && (n = file_read(fd, data, CHUNK)) > 0) {
		ssize_t i = first && n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
		first = false;
		for (; i < n && go_on; i++)
			go_on = take(&c, data[i], visit, context);
	}
	if (n < 0)
		result = err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", path, err_reason(errno));
	else if (result == 0 && go_on && c.quoted && !c.quote)
		result = err_set_id(err, ERR_DAMAGED,
		                    "%s: is cut off, or a quote in it is not closed: the last text does not end", path);
	else if (result == 0 && go_on && c.any)
		end_row(&c, visit, context);
	buf_release(&c.text);
	arena_release(&c.scratch);
	return result;
}
