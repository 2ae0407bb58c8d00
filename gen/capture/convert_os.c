/* Blocking calls of the host -> rows. */
#include "capture/convert_parts.h"

enum { CLASS_OS_CALL = 27 }; /* nsys's ENUM_NSYS_EVENT_CLASS */

static void write_call(struct file *f, uint32_t tid, const struct spool_event *e, const char *text)
{
	struct profile *p = &f->convert->profile;
	int64_t start, end;
	if (!convert_times(f, (uint64_t)e->time, e->payload, &start, &end)) {
		f->convert->result->skipped++;
		return;
	}
	int64_t name = profile_string(p, text, e->text_bytes);
	profile_begin(p, PROFILE_OSRT);
	profile_int(p, start);
	profile_int(p, end);
	profile_int(p, CLASS_OS_CALL);
	profile_int(p, convert_global_tid(f->header.pid, tid));
	profile_int(p, name);
	profile_int(p, 0); /* what it returned is not recorded */
	profile_int(p, 0);
	profile_int(p, 0);
	profile_end(p);
	f->convert->result->os_calls++;
}

void convert_os_calls(struct file *f, uint32_t tid, const unsigned char *payload, size_t n)
{
	struct event_walk w = {.at = payload, .end = payload + n};
	if (keymap_find(&f->process->writers, tid) != UINT32_MAX)
		return;
	while (event_next(&w) > 0) /* what makes no sense was counted when other events were read */
		if (w.event.type == SPOOL_OS_CALL)
			write_call(f, tid, &w.event, w.text);
}
