/* NVTX events, and nodes of graphs, -> rows. A range becomes a row when it begins, without an end, and gets its end
 * when that comes; one that is never ended stays without, as nsys has it. */
#include "capture/convert.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/utf8.h"

#include <string.h>
#include <wchar.h>

enum { /* nsys's ENUM_NSYS_EVENT_TYPE */
       TYPE_CATEGORY = 33,
       TYPE_MARK = 34,
       TYPE_THREAD_NAME = 39,
       TYPE_PUSH_POP = 59,
       TYPE_START_END = 60,
       TYPE_DOMAIN = 75
};

enum { PAYLOAD_UINT64 = 1, PAYLOAD_INT64, PAYLOAD_DOUBLE, PAYLOAD_UINT32, PAYLOAD_INT32, PAYLOAD_FLOAT }; /* NVTX's */

int event_next(struct event_walk *w)
{
	size_t left = (size_t)(w->end - w->at);
	if (left == 0)
		return 0;
	if (left < sizeof w->event)
		return -1;
	memcpy(&w->event, w->at, sizeof w->event);
	uint32_t bytes = w->event.bytes;
	if (bytes < sizeof w->event || bytes > left || bytes % 8 || w->event.text_bytes > bytes - sizeof w->event)
		return -1;
	w->text = (const char *)w->at + sizeof w->event;
	w->at += bytes;
	return 1;
}

/* ---- texts ---- */

/* The event's text as UTF-8; a wide one is rewritten into `made`. */
static const char *text_of(const struct spool_event *e, const char *text, size_t *n, struct buf *made)
{
	*n = e->text_bytes;
	if (e->text != SPOOL_WIDE)
		return text;
	for (size_t at = 0; at + sizeof(wchar_t) <= e->text_bytes; at += sizeof(wchar_t)) {
		wchar_t c;
		char bytes[4];
		memcpy(&c, text + at, sizeof c);
		if (c == 0)
			break;
		buf_add(made, bytes, utf8_put((uint32_t)c, bytes));
	}
	*n = made->n;
	return made->data;
}

void convert_string(struct file *f, const struct spool_event *e, const char *text)
{
	BUF_LOCAL(made);
	size_t n;
	text = text_of(e, text, &n, &made);
	int64_t id = profile_string(&f->convert->profile, text, n);
	uint32_t i = KEYMAP_ADD(&f->arena, &f->strings, e->string, f->string_id);
	f->string_id[i] = id;
}

/* ---- ranges that are open ---- */

static struct stack *stack_of(struct file *f, uint32_t tid, uint32_t domain)
{
	uint32_t i = KEYMAP_ADD(&f->arena, &f->stacks, (uint64_t)tid << 32 | domain, f->stack);
	return &f->stack[i];
}

/* What was open when collection stopped may have been ended unseen: it keeps no end. */
static void forget_before(const struct file *f, struct stack *s, int64_t time)
{
	for (; s->closes < f->n_closes && f->closes[s->closes] <= time; s->closes++)
		s->n = 0;
}

static void push(struct file *f, uint32_t tid, const struct spool_event *e, int64_t start, int64_t row)
{
	struct stack *s = stack_of(f, tid, e->domain);
	forget_before(f, s, start);
	LIST_ADD(&f->arena, s->open, s->n, s->room, (struct interval){start, row});
}

static void pop(struct file *f, uint32_t tid, const struct spool_event *e, int64_t end)
{
	struct stack *s = stack_of(f, tid, e->domain);
	forget_before(f, s, end);
	if (s->n == 0)
		return; /* it began before collection did */
	struct interval top = s->open[--s->n];
	if (end < top.start)
		f->convert->result->skipped++;
	else
		profile_end_range(&f->convert->profile, top.end, end, 0);
}

/* Start/end ranges: the two halves come from any two threads, in either order. A table by id, open addressing; a half
 * leaves it when the other comes. */
struct half {
	uint64_t id;
	int64_t time, row; /* row: 0 for an end that came first */
	uint32_t tid;
	bool used;
};

struct nvtx_halves {
	struct half *slots;
	size_t n, n_slots;
};

static size_t slot_of(const struct nvtx_halves *h, uint64_t id)
{
	id ^= id >> 31;
	id *= 0x9E3779B97F4A7C15u;
	return (size_t)(id >> 20) & (h->n_slots - 1);
}

static size_t find_half(const struct nvtx_halves *h, uint64_t id)
{
	size_t at = slot_of(h, id);
	while (h->slots[at].used && h->slots[at].id != id)
		at = (at + 1) & (h->n_slots - 1);
	return at;
}

/* Takes the half out and closes the gap, so that searches do not end too early. */
static void remove_half(struct nvtx_halves *h, size_t hole)
{
	h->n--;
	for (size_t at = hole;;) {
		at = (at + 1) & (h->n_slots - 1);
		if (!h->slots[at].used)
			break;
		size_t home = slot_of(h, h->slots[at].id);
		if (((at - home) & (h->n_slots - 1)) >= ((at - hole) & (h->n_slots - 1))) {
			h->slots[hole] = h->slots[at];
			hole = at;
		}
	}
	h->slots[hole].used = false;
}

static void add_half(struct file *f, const struct half *half)
{
	struct nvtx_halves *h = f->halves;
	if (2 * (h->n + 1) > h->n_slots) {
		struct nvtx_halves more = {.n_slots = 2 * h->n_slots};
		more.slots = ARENA_NEW(&f->arena, more.n_slots, struct half);
		for (size_t i = 0; i < h->n_slots; i++)
			if (h->slots[i].used)
				more.slots[find_half(&more, h->slots[i].id)] = h->slots[i];
		more.n = h->n;
		*h = more;
	}
	h->slots[find_half(h, half->id)] = *half;
	h->n++;
}

static void meet(struct file *f, const struct half *half)
{
	if (!f->halves) {
		f->halves = ARENA_NEW(&f->arena, 1, struct nvtx_halves);
		f->halves->n_slots = 64;
		f->halves->slots = ARENA_NEW(&f->arena, f->halves->n_slots, struct half);
	}
	size_t at = find_half(f->halves, half->id);
	const struct half other = f->halves->slots[at];
	if (!other.used) {
		add_half(f, half);
		return;
	}
	if ((other.row == 0) == (half->row == 0)) { /* begun twice, or ended twice */
		f->convert->result->skipped++;
		return;
	}
	remove_half(f->halves, at);
	const struct half *start = half->row ? half : &other, *end = half->row ? &other : half;
	if (end->time < start->time) {
		f->convert->result->skipped++;
		return;
	}
	int64_t end_tid = end->tid != start->tid ? convert_global_tid(f->header.pid, end->tid) : 0;
	profile_end_range(&f->convert->profile, start->row, end->time, end_tid);
}

/* The range's row: `range` 0: the innermost one of the thread and the domain at `time`. 0: there is none. */
static int64_t range_row(struct file *f, uint32_t tid, uint32_t domain, uint64_t range, int64_t time)
{
	if (!range) {
		struct stack *s = stack_of(f, tid, domain);
		forget_before(f, s, time);
		return s->n ? s->open[s->n - 1].end : 0;
	}
	const struct half *half = f->halves ? &f->halves->slots[find_half(f->halves, range)] : NULL;
	return half && half->used ? half->row : 0;
}

/* ---- rows ---- */

static void write_payload(struct profile *p, const struct spool_event *e)
{
	int type = e->payload_type;
	double real;
	float single;
	uint32_t low = (uint32_t)e->payload;
	memcpy(&real, &e->payload, sizeof real);
	memcpy(&single, &low, sizeof single);
	profile_int_or_null(p, type == PAYLOAD_UINT64, (int64_t)e->payload);
	profile_int_or_null(p, type == PAYLOAD_INT64, (int64_t)e->payload);
	if (type == PAYLOAD_DOUBLE)
		profile_real(p, real);
	else
		profile_null(p, 1);
	profile_int_or_null(p, type == PAYLOAD_UINT32, low);
	profile_int_or_null(p, type == PAYLOAD_INT32, (int32_t)low);
	if (type == PAYLOAD_FLOAT)
		profile_real(p, (double)single);
	else
		profile_null(p, 1);
	profile_null(p, 3); /* JSON and binary payloads: those come later */
}

/* Its number in the profile; 0: the default one. */
static int64_t domain_row(struct file *f, uint32_t domain)
{
	struct process *p = f->process;
	if (domain == 0)
		return 0;
	int64_t id = p->domain_base + domain;
	p->last_domain = id > p->last_domain ? id : p->last_domain;
	return id;
}

static void write_text(struct file *f, const struct spool_event *e, const char *text)
{
	BUF_LOCAL(made);
	size_t n;
	if (e->text == SPOOL_UTF8 || e->text == SPOOL_WIDE) {
		text = text_of(e, text, &n, &made);
		profile_text(&f->convert->profile, text, n);
	} else {
		profile_null(&f->convert->profile, 1);
	}
}

/* Writes the event as a row of `type` about thread `tid` and returns the row's number. */
static int64_t write_row(struct file *f, int type, uint32_t tid, const struct spool_event *e, const char *text,
                         int64_t start)
{
	struct profile *p = &f->convert->profile;
	uint32_t string = e->text == SPOOL_REGISTERED ? keymap_find(&f->strings, e->string) : UINT32_MAX;
	profile_begin(p, PROFILE_NVTX);
	PROFILE_INTS(p, start, PROFILE_NULL /* end */, type);
	profile_int_or_null(p, type == TYPE_START_END, (int64_t)e->id); /* any number */
	PROFILE_INTS(p, profile_said(e->category), e->has_color ? e->color : PROFILE_NULL);
	write_text(f, e, text);
	PROFILE_INTS(p, convert_global_tid(f->header.pid, tid), PROFILE_NULL /* endGlobalTid */,
	             string != UINT32_MAX ? f->string_id[string] : PROFILE_NULL, domain_row(f, e->domain));
	write_payload(p, e);
	profile_end(p);
	return profile_last_row(p);
}

/* A node of a graph, as nsys has it. */
static void write_node(struct file *f, uint32_t tid, const struct spool_event *e, const char *frames, int64_t time)
{
	static const char name[] = "Graph Node Creation";
	enum { CLASS_NODE = 77 };
	struct profile *p = &f->convert->profile;
	int64_t id = profile_string(p, name, strlen(name)), chain = convert_node_frames(f, e, frames);
	PROFILE_ROW(p, PROFILE_GRAPH_NODE, time, time, CLASS_NODE, convert_global_tid(f->header.pid, tid), id,
	            (int64_t)e->id, profile_said((int64_t)e->payload), profile_said(chain));
}

/* ---- NVTX's payloads, as `nsys export --include-blobs=true` writes them (read/nsys.h) ---- */

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
	profile_int(p, domain_row(f, event->domain));
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

static void write_schema(struct file *f, const struct spool_event *event, const char *text)
{
	struct profile *p = &f->convert->profile;
	if (event->category != SCHEMA_STATIC)
		return;
	int64_t n = write_entries(f, event, text);
	profile_begin(p, PROFILE_SCHEMA);
	profile_int(p, domain_row(f, event->domain));
	profile_int(p, (int64_t)event->id);
	profile_null(p, 1); /* name */
	profile_int(p, (int64_t)event->category);
	profile_null(p, 1); /* flags */
	profile_int(p, n);
	profile_int_or_null(p, event->payload != 0, (int64_t)event->payload);
	profile_int_or_null(p, event->string != 0, event->string);
	profile_end(p);
}

static void set_payload(struct file *f, uint32_t tid, const struct spool_event *event, const char *text, int64_t time)
{
	int64_t row = range_row(f, tid, event->domain, event->id, time);
	if (!row)
		return; /* its range began before collection did */
	if (!profile_set_payload(&f->convert->profile, row, text, event->text_bytes))
		f->convert->result->skipped++;
}

/* ---- all of it ---- */

static void write_event(struct file *f, uint32_t tid, const struct spool_event *e, const char *text)
{
	int64_t time = convert_time(f, (uint64_t)e->time);
	const int64_t far = (int64_t)1 << 60;
	if (e->type == SPOOL_STRING || e->type == SPOOL_OS_CALL || e->type == SPOOL_PYTHON_THREAD ||
	    e->type == SPOOL_FUNCTION)
		return; /* read before, or later */
	if (e->type == SPOOL_SAMPLE || e->type == SPOOL_HOLDER || e->type == SPOOL_LOCK) {
		convert_python(f, e, text);
		return;
	}
	if (e->type == SPOOL_MODULE || e->type == SPOOL_NATIVE) {
		convert_native(f, e, text);
		return;
	}
	if (time < 0 || time > far || e->type < SPOOL_PUSH ||
	    (e->type > SPOOL_CATEGORY && e->type != SPOOL_SCHEMA && e->type != SPOOL_PAYLOAD &&
	     e->type != SPOOL_NODE)) {
		f->convert->result->skipped++;
		return;
	}
	struct half half = {.id = e->id, .time = time, .tid = tid, .used = true};
	switch (e->type) {
	case SPOOL_PUSH:
		push(f, tid, e, time, write_row(f, TYPE_PUSH_POP, tid, e, text, time));
		f->convert->result->ranges++;
		break;
	case SPOOL_POP:
		pop(f, tid, e, time);
		break;
	case SPOOL_START:
		half.row = write_row(f, TYPE_START_END, tid, e, text, time);
		f->convert->result->ranges++;
		meet(f, &half);
		break;
	case SPOOL_STOP:
		meet(f, &half);
		break;
	case SPOOL_MARK:
		write_row(f, TYPE_MARK, tid, e, text, time);
		break;
	case SPOOL_DOMAIN:
		write_row(f, TYPE_DOMAIN, tid, e, text, time);
		break;
	case SPOOL_NAME_THREAD:
		write_row(f, TYPE_THREAD_NAME, (uint32_t)e->id, e, text, time);
		break;
	case SPOOL_CATEGORY:
		write_row(f, TYPE_CATEGORY, tid, e, text, time);
		break;
	case SPOOL_NODE:
		write_node(f, tid, e, text, time);
		break;
	case SPOOL_SCHEMA:
		write_schema(f, e, text);
		break;
	case SPOOL_PAYLOAD:
		set_payload(f, tid, e, text, time);
		break;
	default:
		break;
	}
}

void convert_nvtx(struct file *f, uint32_t tid, const unsigned char *payload, size_t n)
{
	struct event_walk w = {.at = payload, .end = payload + n};
	int more;
	while ((more = event_next(&w)) > 0)
		write_event(f, tid, &w.event, w.text);
	if (more < 0)
		f->convert->result->skipped++;
}
