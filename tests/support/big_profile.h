/* A large profile, and how a profile that cannot be read is refused. */
#ifndef GAPLINE_TESTS_BIG_PROFILE_H
#define GAPLINE_TESTS_BIG_PROFILE_H

#include "support_sqlite.h"

/* A profile with enough rows that every table spans many pages. */
static inline const char *big_profile(struct support *s)
{
	const char *path = support_profile(
		s, "layout_2021.sql",
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO StringIds SELECT n + 100, 'name number ' || n FROM x;"
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT n * 100, n * 100 + 5, 0, "
		"281476654432357, n + 100, 1, 0, NULL"
		" FROM x;"
		"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 20000)"
		" INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n * 100 + 9, n * 100 + 90, 0, 1, 7, n "
		"+ 100, 281476654432256,"
		" n + 100, 3, NULL, 1, 1, 16, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, n, 0, 0, 0 FROM x;"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT start, end, deviceId, contextId, "
		"streamId, correlationId,"
		" globalPid, 64, 1, NULL, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) SELECT start, end, "
		"59, 'r', 281476654432357"
		" FROM CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO OSRT_API SELECT start, end, 27, 281476654432357, 10, 0, 0, 0 FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"INSERT INTO PROFILER_OVERHEAD SELECT start, end, 281476654432357, 11, 0 FROM "
		"CUPTI_ACTIVITY_KIND_KERNEL;"
		"CREATE TABLE IF NOT EXISTS SCHED_EVENTS(start INTEGER NOT NULL, cpu INTEGER NOT NULL, "
		"isSchedIn INTEGER NOT NULL, globalTid INTEGER);"
		"INSERT INTO SCHED_EVENTS(start, cpu, isSchedIn, globalTid) SELECT start, 1, gridId % 2, "
		"281476654432357 FROM CUPTI_ACTIVITY_KIND_KERNEL");
	return path;
}

#define REFUSED(s, path, part)                                                                                         \
	do {                                                                                                           \
		if (support_read((s), (path)) != -1)                                                                   \
			fail_msg("%s was read", (path));                                                               \
		if (!strstr((s)->err.text, (path)))                                                                    \
			fail_msg("the file is not named: %s", (s)->err.text);                                          \
		if (!strstr((s)->err.text, (part)))                                                                    \
			fail_msg("\"%s\" is not said: %s", (part), (s)->err.text);                                     \
	} while (0)

#endif
