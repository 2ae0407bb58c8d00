#include "cmd/history_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int refuse(const char *text, struct err *err)
{
	return err_set(err,
	               "--time: '%s' is no time; write 2026-11-22T09:14:53+01:00 (git log -1 --format=%%cI) or "
	               "seconds since 1970",
	               text);
}

/* "Z", "+01:00" or "+0100", to the end. */
static int read_offset(const char *text, int *seconds)
{
	int hours, minutes, used = 0;
	*seconds = 0;
	if (!strcmp(text, "Z") || !strcmp(text, "z"))
		return 0;
	if (text[0] != '+' && text[0] != '-')
		return -1;
	bool digits = isdigit((unsigned char)text[1]) && isdigit((unsigned char)text[2]);
	if (!digits || sscanf(text + 1, strchr(text, ':') ? "%2d:%2d%n" : "%2d%2d%n", &hours, &minutes, &used) != 2 ||
	    text[1 + used] || used < 4 || hours > 14 || minutes > 59 || minutes < 0)
		return -1;
	*seconds = (hours * 60 + minutes) * (text[0] == '-' ? -60 : 60);
	return 0;
}

int history_time(const char *text, int64_t *seconds, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	if (digits && digits <= 12 && !text[digits]) {
		*seconds = strtoll(text, NULL, 10);
		return 0;
	}
	struct tm tm = {0};
	int offset;
	const char *rest = digits == 4 ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!rest && digits == 4)
		rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
	while (rest && *rest == ' ')
		rest++;
	if (!rest || read_offset(rest, &offset))
		return refuse(text, err);
	struct tm same = tm;
	time_t t = timegm(&same);
	/* a 31st of February is the 3rd of March to timegm */
	if (same.tm_mday != tm.tm_mday || same.tm_mon != tm.tm_mon)
		return refuse(text, err);
	*seconds = (int64_t)t - offset;
	return 0;
}
