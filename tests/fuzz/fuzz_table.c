/* Fuzz target: any bytes as what is packed in a report's evidence. They are packed, with the first line and the
 * checksum that fit them, read, and judged where they can be; what was judged can be written and read again. */
#include "analyse/analyse.h"
#include "render/render.h"
#include "table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void pack(const uint8_t *data, size_t n, struct buf *to)
{
	uLongf packed = compressBound(n);
	unsigned char *bytes = malloc(packed);
	if (!bytes || compress2(bytes, &packed, data, n, 1) != Z_OK)
		abort();
	buf_format(to, "gapline table %d %s %zu %08lx\n", TABLE_RULES, GAPLINE_VERSION, n,
	           crc32(crc32(0, NULL, 0), data, (uInt)n));
	buf_add(to, (char *)bytes, packed);
	free(bytes);
}

static void judge(const struct step_tables *tables, struct names *names, struct arena *arena)
{
	struct buf out[2] = {0}, bytes = {0};
	struct err err = {0};
	struct step_tables again;
	struct table_columns columns;
	struct names others;
	const struct analysis analysis = analyse_tables(tables, names, arena);
	if (render_json(&analysis, &out[0], &err) < 0 || render_html(&analysis, &out[1], &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	table_write(tables, names, &bytes);
	names_init(&others, arena);
	if (table_read(bytes.data, bytes.n, &others, arena, &again, &columns, &err) < 0 || columns.n_missing) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	for (int i = 0; i < 2; i++)
		buf_release(&out[i]);
	buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena arena = {0};
	struct names names;
	struct step_tables tables;
	struct table_columns columns;
	struct err err = {0};
	struct buf bytes = {0};
	names_init(&names, &arena);
	pack(data, n, &bytes);
	if (table_read(bytes.data, bytes.n, &names, &arena, &tables, &columns, &err) == 0)
		judge(&tables, &names, &arena);
	else if (!err.text[0])
		abort();
	buf_release(&bytes);
	arena_release(&arena);
	return 0;
}
