#include "read/nsys.h"

/* One pass over StringIds, which may hold millions of texts (stack symbols, the output of the program): a text that no
 * row uses is not even looked at. */
int nsys_read_strings(struct nsys *r)
{
	enum { ID, VALUE, N };
	static const char *const columns[] = {"id", "value"};
	struct scan s;
	if (nsys_scan(r, &s, "StringIds", columns, N) != 0)
		return -1;
	int more;
	while ((more = scan_next(&s)) > 0) {
		int64_t id = scan_int(&s, ID);
		uint32_t wanted = s.flaws ? TRACE_NONE : build_wants(&r->build, id);
		if (wanted == TRACE_NONE)
			continue;
		size_t length;
		const char *text = scan_text(&s, VALUE, &length);
		if (text)
			build_give(&r->build, wanted, text, length);
	}
	scan_close(&s);
	return more;
}
