#include "capture/convert.h"

#include <string.h>

/* Blocking calls of the host -> rows. */

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
	/* what it returned is not recorded */
	PROFILE_ROW(p, PROFILE_OSRT, start, end, CLASS_OS_CALL, convert_global_tid(f->header.pid, tid), name, 0, 0, 0);
	f->convert->result->os_calls++;
}

static void convert_os_calls(struct file *f, uint32_t tid, const unsigned char *payload, size_t n)
{
	struct event_walk w = {.at = payload, .end = payload + n};
	if (keymap_find(&f->process->writers, tid) != UINT32_MAX)
		return;
	while (event_next(&w) > 0) /* what makes no sense was counted when other events were read */
		if (w.event.type == SPOOL_OS_CALL)
			write_call(f, tid, &w.event, w.text);
}

/* The process of this PID, a new one if there is none. Invalidates earlier pointers to processes. */
static struct process *convert_process(struct convert *c, uint32_t pid)
{
	uint32_t known = c->pids.n, i = KEYMAP_ADD(&c->work, &c->pids, pid, c->processes);
	struct process *p = &c->processes[i];
	if (i == known) {
		p->pid = pid;
		p->rank = -1;
		keymap_init(&p->threads, &c->work);
		keymap_init(&p->writers, &c->work);
	}
	return p;
}

/* ---- one file ---- */

static void begin_file(struct file *f, struct convert *c, const struct spool_reader *reader)
{
	*f = (struct file){.convert = c, .header = reader->header, .path = reader->path};
	const struct spool_header *h = &f->header;
	f->shift = -(uint64_t)c->request->start_ns;
	if (h->clock == SPOOL_REALTIME)
		f->shift += (uint64_t)h->monotonic_ns - (uint64_t)h->realtime_ns;
	f->process = convert_process(c, h->pid);
	f->process->correlation_base = f->process->last_correlation;
	f->process->domain_base = f->process->last_domain;
	struct keymap *maps[] = {&f->threads, &f->contexts, &f->kernels,   &f->callbacks, &f->strings,
	                         &f->stacks,  &f->launches, &f->functions, &f->chains};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		keymap_init(maps[i], &f->arena);
}

static void write_block(struct file *f, const struct spool_block *block, const unsigned char *payload)
{
	size_t n = (size_t)block->bytes;
	switch (block->type) {
	case SPOOL_KERNEL_NAME:
		convert_kernel_name(f, payload, n);
		break;
	case SPOOL_CALLBACK_NAMES:
		convert_callback_names(f, payload, n);
		break;
	case SPOOL_BUFFER:
		convert_buffer(f, payload, n);
		break;
	case SPOOL_EVENTS:
		convert_nvtx(f, block->tid, payload, n);
		break;
	default:
		break;
	}
}

/* Reads the file's blocks into rows. */
static int write_rows(struct file *f, const char *name, struct err *err)
{
	struct convert *c = f->convert;
	struct spool_reader reader;
	int more = spool_open(&reader, c->request->spool, name, &c->work, err);
	while (more > 0 && (more = spool_next(&reader, err)) > 0 && !profile_failed(&c->profile))
		write_block(f, &reader.block, reader.payload);
	spool_close(&reader);
	return more < 0 || profile_failed(&c->profile) ? -1 : 0;
}

/* Between the first reading and the second one, where collection had windows. */
static int scan_launches(struct file *f, const char *name, struct err *err)
{
	struct spool_reader reader;
	int more = spool_open(&reader, f->convert->request->spool, name, &f->convert->work, err);
	while (more > 0 && (more = spool_next(&reader, err)) > 0)
		if (reader.block.type == SPOOL_BUFFER)
			convert_scan_launches(f, reader.payload, (size_t)reader.block.bytes);
	spool_close(&reader);
	return more < 0 ? -1 : 0;
}

/* Whether a process used CUDA, a spool that breaks off before its first event does not tell. */
static void note_empty(struct convert *c, const char *file)
{
	if (!c->result->empty && strstr(file, "-cuda-"))
		c->result->empty = arena_format(c->arena,
		                                "the recording of process %.*s is empty: it was killed early, or the "
		                                "disk was full",
		                                (int)strspn(file, "0123456789"), file);
}

/* First round: everything but calls of the operating system. */
static int convert_file(struct convert *c, size_t i)
{
	struct spool_reader reader;
	int opened = spool_open(&reader, c->request->spool, c->files[i], &c->work, c->err);
	if (opened <= 0) {
		if (opened == 0)
			note_empty(c, c->files[i]);
		spool_close(&reader);
		return opened;
	}
	struct file f;
	begin_file(&f, c, &reader);
	int failed = convert_scan(&f, &reader, c->err);
	bool ended = reader.ended;
	spool_close(&reader);
	if (!failed && f.active && convert_limited(&f))
		failed = scan_launches(&f, c->files[i], c->err);
	if (!failed && f.active) {
		failed = write_rows(&f, c->files[i], c->err);
		f.process->active = true;
		f.process->complete = ended;
	} else if (!failed && !ended) {
		note_empty(c, c->files[i]);
	}
	c->has_os_calls[i] = f.os_calls;
	arena_release(&f.arena);
	return failed;
}

/* Last round: calls of the operating system, of processes that used CUDA or NVTX. */
static int convert_os_file(struct convert *c, size_t i)
{
	struct spool_reader reader;
	int more = spool_open(&reader, c->request->spool, c->files[i], &c->work, c->err);
	if (more > 0) {
		struct file f;
		begin_file(&f, c, &reader);
		while (f.process->active && (more = spool_next(&reader, c->err)) > 0 && !profile_failed(&c->profile))
			if (reader.block.type == SPOOL_EVENTS)
				convert_os_calls(&f, reader.block.tid, reader.payload, (size_t)reader.block.bytes);
		arena_release(&f.arena);
	}
	spool_close(&reader);
	return more < 0 || profile_failed(&c->profile) ? -1 : 0;
}

/* ---- all of them ---- */

/* The libraries' own threads, of all files: the one that writes CUDA's spool also makes calls that the other library
 * sees. A file that is no spool is an error here, before any work. */
static int find_writers(struct convert *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		struct spool_reader reader;
		int opened = spool_open(&reader, c->request->spool, c->files[i], &c->work, c->err);
		uint32_t pid = reader.header.pid, writer = reader.header.writer;
		spool_close(&reader);
		if (opened < 0)
			return -1;
		if (opened <= 0)
			continue;
		struct process *process = convert_process(c, pid);
		if (writer)
			keymap_add(&process->writers, writer);
	}
	return 0;
}

static int convert_all(struct convert *c)
{
	if (find_writers(c) != 0)
		return -1;
	if (profile_open(&c->profile, c->request->profile, &c->work, c->err) != 0) {
		c->result->unwritable = true;
		return -1;
	}
	for (size_t i = 0; i < c->n_files; i++)
		if (convert_file(c, i) != 0)
			return -1;
	for (size_t i = 0; i < c->n_files; i++)
		if (c->has_os_calls[i] && convert_os_file(c, i) != 0)
			return -1;
	for (uint32_t i = 0; i < c->pids.n; i++) {
		c->result->processes += c->processes[i].active;
		c->result->incomplete += c->processes[i].active && !c->processes[i].complete;
	}
	convert_settle_messages(c);
	convert_native_say(c);
	convert_write_info(c);
	return profile_finish(&c->profile, c->err);
}

int convert_spool(const struct convert_request *request, struct arena *arena, struct convert_result *result,
                  struct err *err)
{
	*result = (struct convert_result){.cupti = "", .unwritten = spool_failure(request->spool, arena)};
	struct convert c = {.request = request, .result = result, .arena = arena, .err = err};
	int failed = spool_list(request->spool, &c.work, &c.files, &c.n_files, err);
	if (failed || c.n_files == 0) {
		arena_release(&c.work);
		return failed;
	}
	c.has_os_calls = ARENA_NEW(&c.work, c.n_files, bool);
	keymap_init(&c.pids, &c.work);
	names_init(&c.message_texts, &c.work);
	failed = convert_all(&c);
	result->unwritable = result->unwritable || profile_failed(&c.profile);
	convert_list_messages(&c);
	profile_close(&c.profile);
	arena_release(&c.work);
	return failed;
}
