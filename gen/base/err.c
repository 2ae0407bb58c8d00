#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *e, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	for (unsigned char *c = (unsigned char *)e->text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
	return -1;
}
