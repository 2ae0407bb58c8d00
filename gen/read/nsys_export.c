#include "read/nsys_export.h"

#include "read/db.h"

static int read_warnings(struct db *db, void (*said)(void *context, uint32_t process, const char *text, size_t n),
                         void *context)
{
	static const char *const columns[] = {"severity", "text", "globalPid"};
	enum { SEVERITY, TEXT, PROCESS, WARNING = 2 }; /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL of nsys */
	struct scan s;
	int more;
	if (scan_open(&s, db, "DIAGNOSTIC_EVENT", columns, 3))
		return -1;
	while ((more = scan_next(&s)) > 0) {
		size_t n;
		int64_t process = scan_int_or(&s, PROCESS, 0) >> 24 & 0xFFFFFF; /* of a globalPid */
		const char *text = scan_int(&s, SEVERITY) >= WARNING ? scan_text(&s, TEXT, &n) : NULL;
		if (text)
			said(context, (uint32_t)process, text, n);
	}
	scan_close(&s);
	return more;
}

static int read_begin(struct db *db, int64_t *begin)
{
	static const char *const columns[] = {"utcEpochNs"};
	struct scan s;
	if (scan_open(&s, db, "TARGET_INFO_SESSION_START_TIME", columns, 1))
		return -1;
	int more = scan_next(&s);
	if (more > 0)
		*begin = scan_int_or(&s, 0, 0);
	scan_close(&s);
	return more < 0 ? -1 : 0;
}

int nsys_export_look(const char *path, struct arena *arena,
                     void (*said)(void *context, uint32_t process, const char *text, size_t n), void *context,
                     struct nsys_export *out, struct err *err)
{
	static const char *const cuda[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
	                                   "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
	                                   "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
	struct db db;
	*out = (struct nsys_export){0};
	int rc = db_open(&db, path, -1, arena, err);
	for (size_t i = 0; !rc && i < sizeof cuda / sizeof *cuda; i++)
		out->cuda = out->cuda || db_table(&db, cuda[i]);
	if (!rc)
		rc = read_warnings(&db, said, context) || read_begin(&db, &out->begin_utc_ns) ? -1 : 0;
	db_close(&db);
	return rc;
}
