#include "read/scrub_original.h"

#include "read/nsys.h"
#include "read/read.h"

int scrub_original_check(struct source *source, struct err *err)
{
	const struct read_wish wishes[] = {{.without_gpu = true}, {.without_gpu = true, .details = true}};
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		struct arena arena = {0};
		struct names names;
		struct trace trace = {.names = &names};
		struct source quiet = *source; /* what is told as done is the copy */
		quiet.reading.parent = NULL;
		names_init(&names, &arena);
		int result = nsys_read(source->path, &wishes[i], &quiet, &names, &arena, &trace, err);
		arena_release(&arena);
		if (result != 0)
			return -1;
	}
	return 0;
}

int scrub_original_refuse(const struct source *source, struct arena *arena, struct err *err)
{
	struct names names;
	struct trace trace;
	names_init(&names, arena);
	if (read_profile(source->path, &names, arena, &trace, err) != 0)
		return -1;
	return err_set(err, "%s: only SQLite profiles can be scrubbed: exports of nsys, and those of gapline capture",
	               source->path);
}
