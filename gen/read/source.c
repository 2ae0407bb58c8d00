#include "read/source.h"

#include "read/db.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int source_open(struct source *s, const char *path, struct meter *meter, struct err *err)
{
	*s = (struct source){.path = path, .unpacked = -1};
	if (file_look(path, &s->head, err) != 0)
		return -1;
	int64_t size = s->head.size;
	s->packed_bytes = size;
	s->packing = packing_of(s->head.data, s->head.n);
	if (s->packing != PACKING_NONE && unpack_look(path, &s->head, err) != 0)
		return -1;
	/* SQLite looks names up itself, and does not find a file by a name in /proc that has none of its own any more.
	 */
	struct stat file;
	if (s->packing == PACKING_NONE && !stat(path, &file) && file.st_nlink == 0)
		s->unpacked = open(path, O_RDONLY | O_CLOEXEC);
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

int source_unpack(struct source *s, struct err *err)
{
	if (s->packing == PACKING_NONE || s->unpacked >= 0)
		return 0;
	s->unpacked = unpack_to_file(s->path, source_most(s), &s->unpacking, err);
	return s->unpacked < 0 ? -1 : 0;
}

void source_close(struct source *s)
{
	meter_fill(&s->whole);
	if (s->unpacked >= 0)
		close(s->unpacked);
	s->unpacked = -1;
}
