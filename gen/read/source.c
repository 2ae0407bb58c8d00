#include "read/source.h"

#include "read/db.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int source_open(struct source *s, const char *path, struct meter *meter, struct err *err)
{
	int64_t size = 0;
	*s = (struct source){.path = path, .plain = -1};
	s->fd = file_open(path, &size, err);
	if (s->fd < 0 || file_head_of(s->fd, path, &s->head, &s->opened, err) != 0)
		return -1;
	size = s->packed_bytes = s->head.size;
	s->packing = packing_of(s->head.data, s->head.n);
	if (s->packing == PACKING_NONE)
		s->plain = s->fd;
	else if (!(s->behind = unpack_begin(path, s->fd, &s->head, err)))
		return -1;
	/* Unpacking gzip takes about as long as reading what was unpacked. */
	s->whole = (struct meter){.of = size, .parent = meter, .weight = size};
	s->unpacking = (struct meter){.of = size, .parent = &s->whole, .weight = size / 2};
	s->reading = (struct meter){.parent = &s->whole, .weight = s->packing == PACKING_NONE ? size : size / 2};
	return 0;
}

bool source_is_sqlite(const struct file_head *head)
{
	return head->n >= sizeof SOURCE_SQLITE && memcmp(head->data, SOURCE_SQLITE, sizeof SOURCE_SQLITE) == 0;
}

int64_t source_most(const struct source *s)
{
	enum { SHRINKS = 200, ALWAYS = 64 << 20 };
	const int64_t most = s->packed_bytes * SHRINKS + ALWAYS, said = db_bytes_said(&s->head);
	return said && said < most ? said : most;
}

struct unpack *source_behind(struct source *s)
{
	struct unpack *behind = s->behind;
	s->behind = NULL;
	return behind;
}

struct unpack *source_contents(struct source *s, struct err *err)
{
	unpack_close(source_behind(s));
	return unpack_open(s->path, s->fd, err);
}

int source_unpack(struct source *s, struct err *err)
{
	unpack_close(source_behind(s));
	if (s->plain < 0)
		s->plain = unpack_to_file(s->path, s->fd, source_most(s), &s->unpacking, err);
	return s->plain < 0 ? -1 : 0;
}

int source_rewind(const struct source *s, struct err *err)
{
	return lseek(s->fd, 0, SEEK_SET) == 0
	               ? 0
	               : err_set_id(err, ERR_UNREADABLE, "%s: cannot be read: %s", s->path, err_reason(errno));
}

int source_check(const struct source *s, struct err *err)
{
	struct stat now;
	const struct timespec *then = &s->opened.st_mtim;
	if (s->fd < 0)
		return 0;
	if (fstat(s->fd, &now) != 0)
		return err_set_id(err, err_id_of(errno), "%s: cannot be examined: %s", s->path, err_reason(errno));
	if (now.st_size == s->opened.st_size && now.st_mtim.tv_sec == then->tv_sec &&
	    now.st_mtim.tv_nsec == then->tv_nsec)
		return 0;
	return err_set_id(err, ERR_REPLACED,
	                  "%s: was written while it was read; wait until the program that writes it ends", s->path);
}

void source_close(struct source *s)
{
	meter_fill(&s->whole);
	unpack_close(source_behind(s));
	if (s->plain >= 0 && s->plain != s->fd)
		close(s->plain);
	if (s->fd >= 0)
		close(s->fd);
	s->plain = s->fd = -1;
}
