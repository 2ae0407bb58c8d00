#include "base/list.h"
#include "base/search.h"
#include "base/sort.h"
#include "capture/convert.h"

#include <string.h>

/* Windows of collection: --delay, --duration, cudaProfilerStart and -Stop. A spool holds somewhat more than was asked
 * for (whole buffers); what becomes rows is exact: calls that began in a window, and what they launched, whenever that
 * ran. */

enum { WHY_RANGE = 2 };

static void convert_add_window(struct file *f, const struct spool_window *window)
{
	struct windows *w = &f->windows[window->why == WHY_RANGE];
	int64_t time = convert_time(f, (uint64_t)window->time);
	bool open = w->n > 0 && w->all[w->n - 1].end == INT64_MAX;
	if (open && !window->open)
		w->all[w->n - 1].end = time;
	if (open || (!window->open && w->n > 0))
		return; /* what is said twice says nothing new */
	LIST_GROW(&f->arena, w->all, w->n, w->room);
	/* An end that comes first: collection went on from the start. */
	w->all[w->n++] = window->open ? (struct interval){time, INT64_MAX} : (struct interval){INT64_MIN, time};
}

bool convert_limited(const struct file *f)
{
	return f->windows[0].n > 0 || f->windows[1].n > 0;
}

static bool in_one(const struct windows *w, int64_t time)
{
	size_t next = 0; /* the first window that begins later */
	SEARCH(next, w->n, w->all[next].start <= time);
	return w->n == 0 || (next > 0 && time < w->all[next - 1].end);
}

bool convert_in_window(const struct file *f, int64_t time)
{
	return in_one(&f->windows[0], time) && in_one(&f->windows[1], time);
}

void convert_scan_launches(struct file *f, const unsigned char *payload, size_t n)
{
	struct record_walk w = {.at = payload, .end = payload + n, .sizes = &f->sizes};
	int64_t start, end;
	while (record_next(&w) > 0)
		if ((w.kind == RECORD_RUNTIME || w.kind == RECORD_DRIVER) &&
		    convert_times(f, record_u64(w.record, CALL_START), record_u64(w.record, CALL_END), &start, &end) &&
		    convert_in_window(f, start))
			keymap_add(&f->launches, record_u32(w.record, CALL_CORRELATION));
}

bool convert_launched_in_window(const struct file *f, uint32_t correlation)
{
	return !convert_limited(f) || keymap_find(&f->launches, correlation) != UINT32_MAX;
}

/* ---- runtime calls ---- */

static void add_call(struct file *f, const unsigned char *record)
{
	int64_t start, end;
	if (!convert_times(f, record_u64(record, CALL_START), record_u64(record, CALL_END), &start, &end))
		return;
	uint32_t i = KEYMAP_ADD(&f->arena, &f->threads, record_u32(record, CALL_THREAD), f->thread_calls);
	struct thread_calls *t = &f->thread_calls[i];
	LIST_GROW(&f->arena, t->calls, t->n, t->room);
	t->unsorted = t->unsorted || (t->n && t->calls[t->n - 1].start > start);
	t->calls[t->n++] = (struct interval){start, end};
}

SORT_ORDER(compare_starts, struct interval, ASCENDING(x->start, y->start))

static void sort_calls(struct file *f)
{
	for (uint32_t i = 0; i < f->threads.n; i++) {
		struct thread_calls *t = &f->thread_calls[i];
		if (t->unsorted)
			SORT(t->calls, t->n, compare_starts);
	}
}

/* Index after the last call that starts at `start` or before. */
static size_t calls_until(struct thread_calls *t, int64_t start)
{
	/* Driver calls come in nearly the order of time: where the last search ended, or one call later. */
	for (size_t i = t->last; i <= t->n && i <= t->last + 1; i++)
		if ((i == 0 || t->calls[i - 1].start <= start) && (i == t->n || t->calls[i].start > start))
			return t->last = i;
	size_t next = 0;
	SEARCH(next, t->n, t->calls[next].start <= start);
	return t->last = next;
}

bool convert_in_runtime_call(struct file *f, uint32_t tid, int64_t start, int64_t end)
{
	uint32_t i = keymap_find(&f->threads, tid);
	if (i == UINT32_MAX)
		return false;
	struct thread_calls *t = &f->thread_calls[i];
	size_t n = calls_until(t, start); /* runtime calls of a thread follow each other: only the last can be open */
	return n > 0 && t->calls[n - 1].end >= end;
}

/* ---- blocks ---- */

static void add_context(struct file *f, uint32_t context, uint32_t device)
{
	uint32_t i = KEYMAP_ADD(&f->arena, &f->contexts, context, f->context_device);
	f->context_device[i] = device;
}

static void scan_buffer(struct file *f, const unsigned char *payload, size_t n)
{
	struct record_walk w = {.at = payload, .end = payload + n, .sizes = &f->sizes};
	while (record_next(&w) > 0) {
		f->active = f->active || record_kind_name(w.kind);
		switch (w.kind) {
		case RECORD_RUNTIME:
			add_call(f, w.record);
			break;
		case RECORD_KERNEL:
		case RECORD_CONCURRENT_KERNEL:
			add_context(f, record_u32(w.record, KERNEL_CONTEXT), record_u32(w.record, KERNEL_DEVICE));
			break;
		case RECORD_MEMCPY:
			add_context(f, record_u32(w.record, COPY_CONTEXT), record_u32(w.record, COPY_DEVICE));
			break;
		case RECORD_MEMSET:
			add_context(f, record_u32(w.record, SET_CONTEXT), record_u32(w.record, SET_DEVICE));
			break;
		default:
			break;
		}
	}
}

static void name_thread(struct file *f, uint32_t tid, const void *text, size_t n, bool by_python)
{
	struct process *p = f->process;
	struct arena *arena = &f->convert->work;
	uint32_t i = KEYMAP_ADD(arena, &p->threads, tid, p->thread_names);
	struct thread_name *name = &p->thread_names[i];
	if (name->by_python && !by_python)
		return;
	if (!name->text || name->bytes != n || memcmp(name->text, text, n) != 0)
		*name = (struct thread_name){arena_copy(arena, text, n), n, by_python};
	name->by_python = by_python;
}

static void scan_events(struct file *f, uint32_t tid, const unsigned char *payload, size_t n)
{
	struct event_walk w = {.at = payload, .end = payload + n};
	while (event_next(&w) > 0) {
		if (w.event.type == SPOOL_OS_CALL) {
			f->os_calls = true;
			continue;
		}
		if (w.event.type == SPOOL_FUNCTION) { /* other threads' events may name it before it comes */
			convert_python(f, &w.event, w.text);
			continue;
		}
		if (w.event.type == SPOOL_SAMPLE || w.event.type == SPOOL_MODULE || w.event.type == SPOOL_NATIVE ||
		    w.event.type == SPOOL_HOLDER || w.event.type == SPOOL_LOCK || w.event.type == SPOOL_PYTHON_THREAD) {
			if (w.event.type == SPOOL_PYTHON_THREAD && w.event.id <= UINT32_MAX && w.event.text_bytes)
				name_thread(f, (uint32_t)w.event.id, w.text, w.event.text_bytes, true);
			keymap_add(&f->process->writers, tid); /* the thread that took it */
			continue;
		}
		f->active = true;
		if (w.event.type == SPOOL_STRING)
			convert_string(f, &w.event, w.text);
	}
}

static void scan_cupti(struct file *f, const unsigned char *payload, size_t n)
{
	struct spool_cupti cupti;
	struct convert *c = f->convert;
	if (n < sizeof cupti)
		return;
	memcpy(&cupti, payload, sizeof cupti);
	record_cupti_version(cupti.api_version, f->cupti);
	if (!*c->result->cupti)
		c->result->cupti = arena_copy(c->arena, f->cupti, strlen(f->cupti));
	c->cuda_driver = cupti.cuda_driver ? cupti.cuda_driver : c->cuda_driver;
	/* Of processes that differ it is said that graphs are whole: there are some whose kernels are not known. */
	if (cupti.graphs && c->graphs != 1)
		c->graphs = cupti.graphs;
	if (c->graphs)
		c->result->graphs = c->graphs == 2 ? "node" : "graph";
}

static void add_dropped(int64_t *sum, uint64_t count)
{
	*sum = count > (uint64_t)(INT64_MAX - *sum) ? INT64_MAX : *sum + (int64_t)count;
}

static void scan_dropped(struct file *f, const unsigned char *payload, size_t n)
{
	struct spool_dropped dropped;
	if (n < sizeof dropped)
		return;
	memcpy(&dropped, payload, sizeof dropped);
	add_dropped(&f->convert->result->dropped, dropped.count);
	if (dropped.what == SPOOL_DROPPED_EVENTS)
		add_dropped(&f->convert->result->dropped_events, dropped.count);
}

static void scan_message(struct file *f, const unsigned char *payload, size_t n)
{
	struct spool_message message;
	if (n < sizeof message)
		return;
	memcpy(&message, payload, sizeof message);
	int severity = message.severity > SPOOL_ERROR ? SPOOL_ERROR : (int)message.severity;
	convert_add_message(f->convert, f->header.pid, severity, message.code, (const char *)payload + sizeof message,
	                    n - sizeof message);
}

static void scan_window(struct file *f, const unsigned char *payload, size_t n)
{
	struct spool_window window;
	if (n < sizeof window)
		return;
	memcpy(&window, payload, sizeof window);
	convert_add_window(f, &window);
	if (window.open)
		return;
	LIST_ADD(&f->arena, f->closes, f->n_closes, f->close_room, convert_time(f, (uint64_t)window.time));
}

static void set_text(char *text, size_t room, const unsigned char *payload, size_t n)
{
	size_t used = n < room - 1 ? n : room - 1;
	memcpy(text, payload, used);
	text[used] = 0;
}

static int scan_block(struct file *f, const struct spool_block *block, const unsigned char *payload, struct err *err)
{
	size_t n = (size_t)block->bytes;
	switch (block->type) {
	case SPOOL_CUPTI:
		scan_cupti(f, payload, n);
		break;
	case SPOOL_RECORD_SIZES:
		return record_sizes_add(&f->sizes, (const struct spool_record_size *)payload,
		                        n / sizeof(struct spool_record_size), f->path, f->cupti, err);
	case SPOOL_BUFFER:
		scan_buffer(f, payload, n);
		break;
	case SPOOL_EVENTS:
		scan_events(f, block->tid, payload, n);
		break;
	case SPOOL_DEVICE:
		convert_add_device(f->convert, f->header.pid, payload, n);
		break;
	case SPOOL_DRIVER:
		set_text(f->convert->driver, sizeof f->convert->driver, payload, n);
		break;
	case SPOOL_PROGRAM:
		f->process->name = arena_copy(&f->convert->work, (const char *)payload, n);
		f->process->name_bytes = n;
		break;
	case SPOOL_RANK:
		if (n == sizeof f->process->rank)
			memcpy(&f->process->rank, payload, n);
		break;
	case SPOOL_THREAD_NAME:
		name_thread(f, block->tid, payload, n, false);
		break;
	case SPOOL_DROPPED:
		scan_dropped(f, payload, n);
		break;
	case SPOOL_MESSAGE:
		scan_message(f, payload, n);
		break;
	case SPOOL_WINDOW:
		scan_window(f, payload, n);
		break;
	case SPOOL_NATIVE_SAMPLED:
		convert_native_sampled(f->convert, payload, n);
		break;
	case SPOOL_SAMPLED:
		convert_sampled(f->convert, payload, n);
		break;
	default:
		break;
	}
	return 0;
}

int convert_scan(struct file *f, struct spool_reader *reader, struct err *err)
{
	int more;
	while ((more = spool_next(reader, err)) > 0)
		if (scan_block(f, &reader->block, reader->payload, err) != 0)
			return -1;
	if (more < 0)
		return -1;
	sort_calls(f);
	if (f->n_closes)
		sort_times(f->closes, f->n_closes);
	return 0;
}
