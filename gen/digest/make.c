#include "digest/digest.h"
#include "digest/keep.h"
#include "trace/columns.h"

#include <string.h>

static size_t rows_of(const struct trace *t)
{
	size_t n = 0;
	for (int rows = 0; rows < COLUMNS_OF; rows++)
		n += *columns_rows((struct trace *)t, rows);
	return n;
}

/* What was made is read again before anybody relies on it. */
static int check(const char *name, const struct digest_made *made, struct err *err)
{
	struct arena arena = {0};
	struct names names;
	struct trace again;
	names_init(&names, &arena);
	const unsigned char *bytes = (const unsigned char *)made->bytes.data;
	int result = digest_decode(name, bytes, made->bytes.n, &names, &arena, &again, err);
	if (result == 0 && rows_of(&again) != made->rows)
		result = err_set(err, "%s: the digest of this profile would not hold all of it", name);
	arena_release(&arena);
	return result;
}

/* What shrinks by more, and is larger, would not be believed when it is read (source_most): it stays unpacked. Programs
 * that do the very same thing a million times are like that, and no others. */
static int pack(struct digest_made *made, struct err *err)
{
	enum { SHRINKS = 100, PLAIN = 32 << 20 };
	if (file_pack(made->bytes.data, made->bytes.n, &made->packed, err))
		return -1;
	if (made->packed.n * SHRINKS < made->bytes.n && made->bytes.n > PLAIN)
		file_release(&made->packed);
	return 0;
}

int digest_make(const char *name, struct trace *trace, struct arena *arena, struct digest_made *made, struct err *err)
{
	*made = (struct digest_made){.left_out = digest_reduce(trace, arena)};
	made->rows = rows_of(trace);
	digest_encode(trace, &made->bytes);
	if (check(name, made, err) || pack(made, err))
		return -1;
	made->data = made->packed.n ? made->packed.data : (const unsigned char *)made->bytes.data;
	made->n = made->packed.n ? made->packed.n : made->bytes.n;
	return 0;
}

static uint32_t name_in(const struct trace *from, uint32_t name, const struct trace *to)
{
	return name ? names_add_text(to->names, names_text(from->names, name)) : 0;
}

/* Rows of a kind that is not in digests, and whose threads and frames are those of `from`. */
static void hold_rows(const struct trace *from, enum columns_of rows, struct arena *arena, struct trace *out)
{
	*columns_rows(out, rows) = 0;
	for (size_t c = 0; c < COLUMNS[rows].n; c++)
		columns_set(out, rows, &COLUMNS[rows].column[c], NULL);
	columns_append(out, from, rows, arena);
}

/* What samples say, and who held Python's lock while others waited, with its stack. */
static void hold_samples(const struct trace *whole, struct arena *arena, struct trace *out)
{
	const struct trace_stacks *from = &whole->stacks;
	struct trace_stacks *to = &out->stacks;
	if (!from->n_frames)
		return;
	*to = *from;
	to->functions = ARENA_NEW(arena, from->n_functions, struct trace_function);
	for (uint32_t i = 0; i < from->n_functions; i++)
		to->functions[i] = (struct trace_function){.name = name_in(whole, from->functions[i].name, out),
		                                           .module = name_in(whole, from->functions[i].module, out),
		                                           .kind = from->functions[i].kind};
	to->frames = ARENA_NEW(arena, from->n_frames, struct trace_frame);
	memcpy(to->frames, from->frames, from->n_frames * sizeof *from->frames);
	hold_rows(whole, ROWS_OF_SAMPLES, arena, out);
	hold_rows(whole, ROWS_OF_GIL, arena, out);
	const int64_t unlaunched = out->n_unlaunched, first = out->first_time, last = out->last_time;
	trace_link(out, arena);
	out->n_unlaunched = unlaunched;
	out->first_time = first;
	out->last_time = last;
}

bool digest_hold(struct trace *whole, struct arena *of_whole, struct names *names, struct arena *arena,
                 struct trace *out)
{
	struct buf bytes = {0};
	const struct buf none = {0};
	struct err ignored;
	if (whole->n_metrics)
		return false;
	digest_reduce_rows(whole, of_whole);
	digest_encode(whole, &bytes);
	bool good = keep_decode("", &none, &bytes, names, arena, out, &ignored) == 0 && out->again->ops == whole->ops.n;
	buf_release(&bytes);
	if (good)
		hold_samples(whole, arena, out);
	return good;
}

void digest_release(struct digest_made *made)
{
	buf_release(&made->bytes);
	file_release(&made->packed);
	*made = (struct digest_made){0};
}
