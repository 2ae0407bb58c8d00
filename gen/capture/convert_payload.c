/* NVTX's payloads -> rows, as `nsys export --include-blobs=true` writes them (read/nsys_payload.h). */
#include "capture/convert_parts.h"

#include <string.h>

enum { SCHEMA_STATIC = 1 }; /* NVTX's type of a layout whose entries stand at places of their own */

/* Bytes of NVTX's entry types for numbers, by their own alignment (nvToolsExtPayload.h, NVTX_PAYLOAD_ENTRY_TYPE_*); 0:
 * of a size that is not known here. */
static uint64_t size_of_type(uint64_t type)
{
	static const uint8_t sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 8, 8};
	return type < sizeof sizes ? sizes[type] : 0;
}

struct entries {
	const char *at, *end;
	struct spool_schema_entry entry;
	const char *name;
};

static bool next_entry(struct entries *e)
{
	size_t left = (size_t)(e->end - e->at);
	if (left < sizeof e->entry)
		return false;
	memcpy(&e->entry, e->at, sizeof e->entry);
	if (e->entry.bytes < sizeof e->entry || e->entry.bytes > left ||
	    e->entry.name_bytes > e->entry.bytes - sizeof e->entry)
		return false;
	e->name = e->at + sizeof e->entry;
	e->at += e->entry.bytes;
	return true;
}

static void write_entry(struct file *f, const struct spool_event *event, const struct entries *e, int64_t index,
                        uint64_t offset)
{
	struct profile *p = &f->convert->profile;
	profile_begin(p, PROFILE_SCHEMA_ENTRY);
	profile_int(p, convert_domain(f, event->domain));
	profile_int(p, (int64_t)event->id);
	profile_int(p, index);
	profile_int_or_null(p, e->entry.flags != 0, (int64_t)e->entry.flags);
	profile_int(p, (int64_t)e->entry.type);
	profile_text(p, e->name, e->entry.name_bytes);
	profile_null(p, 1); /* description */
	profile_int_or_null(p, e->entry.detail != 0, (int64_t)e->entry.detail);
	profile_int(p, (int64_t)offset);
	profile_end(p);
}

/* Writes the entries up to the first one whose place is not known, and returns how many. */
static int64_t write_entries(struct file *f, const struct spool_event *event, const char *text)
{
	struct entries e = {.at = text, .end = text + event->text_bytes};
	int64_t n = 0;
	uint64_t end = 0; /* of the entry before; UINT64_MAX: not known */
	for (; next_entry(&e); n++) {
		uint64_t size = e.entry.flags ? 0 : size_of_type(e.entry.type), offset = e.entry.offset;
		uint64_t alignment = event->string && event->string < size ? event->string : size;
		if (offset == 0 && n > 0) {
			if (!size || end == UINT64_MAX)
				break;
			offset = (end + alignment - 1) / alignment * alignment;
		}
		write_entry(f, event, &e, n, offset);
		end = size && offset < UINT32_MAX ? offset + size : UINT64_MAX;
	}
	return n;
}

void convert_schema(struct file *f, const struct spool_event *event, const char *text)
{
	struct profile *p = &f->convert->profile;
	if (event->category != SCHEMA_STATIC)
		return;
	int64_t n = write_entries(f, event, text);
	profile_begin(p, PROFILE_SCHEMA);
	profile_int(p, convert_domain(f, event->domain));
	profile_int(p, (int64_t)event->id);
	profile_null(p, 1); /* name */
	profile_int(p, (int64_t)event->category);
	profile_null(p, 1); /* flags */
	profile_int(p, n);
	profile_int_or_null(p, event->payload != 0, (int64_t)event->payload);
	profile_int_or_null(p, event->string != 0, event->string);
	profile_end(p);
}

void convert_payload(struct file *f, uint32_t tid, const struct spool_event *event, const char *text, int64_t time)
{
	int64_t row = convert_range_row(f, tid, event->domain, event->id, time);
	if (!row)
		return; /* its range began before collection did */
	if (!profile_set_payload(&f->convert->profile, row, text, event->text_bytes))
		f->convert->result->skipped++;
}
