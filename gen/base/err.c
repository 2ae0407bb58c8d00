#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int set(struct err *e, enum err_id id, const char *format, va_list args)
{
	vsnprintf(e->text, sizeof e->text, format, args);
	e->id = id;
	for (unsigned char *c = (unsigned char *)e->text; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
	return -1;
}

int err_set(struct err *e, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int result = set(e, ERR_OTHER, format, args);
	va_end(args);
	return result;
}

int err_set_id(struct err *e, enum err_id id, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int result = set(e, id, format, args);
	va_end(args);
	return result;
}

enum err_id err_id_of(int number)
{
	return number == ENOENT ? ERR_MISSING : number == EACCES || number == EIO ? ERR_UNREADABLE : ERR_OTHER;
}

const char *err_reason(int number)
{
	switch (number) {
	case ENOSPC:
		return "No space left on device; free some (df -h shows where), or write elsewhere";
	case EDQUOT:
		return "Disk quota exceeded; free some (quota shows how much), or write elsewhere";
	case EROFS:
		return "Read-only file system; write elsewhere";
	case EFBIG:
		return "File too large; raise the limit (ulimit -f), or write to another file system";
	case ENOTDIR:
		return "Not a directory; a part of the path that should be one is a file";
	case ENAMETOOLONG:
		return "File name too long; choose a shorter one";
	case ELOOP:
		return "Too many levels of symbolic links; name the file itself";
	case EMFILE:
	case ENFILE:
		return "Too many open files; raise the limit (ulimit -n)";
	case EIO:
		return "Input/output error; the disk or what connects it is at fault, as the system's log says (dmesg)";
	case ESTALE:
		return "Stale file handle; the file was replaced meanwhile on another machine, so try again";
	default:
		return strerror(number);
	}
}
