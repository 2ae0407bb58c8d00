/* The file becomes lists of numbers, event by event. */
#include "base/json_scan.h"
#include "base/list.h"
#include "read/kineto_work.h"
#include "read/name_hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = JSON_SCAN_DEEPEST, NAME_ROOM = 16 * 1024 };

/* What the value that comes next is. */
enum field {
	NOTHING,
	/* of an event */
	PHASE,
	CATEGORY,
	NAME,
	PROCESS,
	THREAD,
	START,
	DURATION,
	ARGUMENTS,
	LINK_ID,
	/* of an event's arguments */
	CORRELATION,
	DEVICE,
	STREAM,
	BYTES,
	NODE,
	CONTEXT,
	META_NAME,
	GRID,
	BLOCK,
	DIMS,
	TYPES,
	CONCRETE,
	COLLECTIVE,
	ELEMENTS_IN,
	ELEMENTS_OUT,
	ELEMENT_TYPE,
	SPLIT,
	GROUP_SIZE,
	GROUP_NAME,
	GROUP_RANKS,
	DEVICE_TYPE,
	ALLOCATED,
	ADDRESS,
	/* of the object around the events, and of what stands in there */
	EVENTS,
	BASE,
	SCHEMA,
	DRIVER,
	HOST,
	GPUS,
	DISTRIBUTED,
	GPU_ID,
	GPU_NAME,
	GPU_MEMORY,
	GPU_SMS,
	RANK,
	RANKS
};

struct key {
	const char *text;
	enum field field;
};

static const struct key EVENT_KEYS[] = {{"ph", PHASE},   {"cat", CATEGORY}, {"name", NAME},    {"pid", PROCESS},
                                        {"tid", THREAD}, {"ts", START},     {"dur", DURATION}, {"args", ARGUMENTS},
                                        {"id", LINK_ID}, {NULL, NOTHING}};
static const struct key ARGUMENT_KEYS[] = {{"correlation", CORRELATION},
                                           {"device", DEVICE},
                                           {"stream", STREAM},
                                           {"bytes", BYTES},
                                           {"context", CONTEXT},
                                           {"name", META_NAME},
                                           {"graph node id", NODE},
                                           {"Input Dims", DIMS},
                                           {"Input dims", DIMS},
                                           {"Input type", TYPES},
                                           {"Concrete Inputs", CONCRETE},
                                           {"grid", GRID},
                                           {"block", BLOCK},
                                           {"Collective name", COLLECTIVE},
                                           {"In msg nelems", ELEMENTS_IN},
                                           {"Out msg nelems", ELEMENTS_OUT},
                                           {"dtype", ELEMENT_TYPE},
                                           {"In split size", SPLIT},
                                           {"Out split size", SPLIT},
                                           {"Group size", GROUP_SIZE},
                                           {"Process Group Name", GROUP_NAME},
                                           {"Process Group Ranks", GROUP_RANKS},
                                           {"Device Type", DEVICE_TYPE},
                                           {"Device Id", DEVICE},
                                           {"Bytes", BYTES},
                                           {"Total Allocated", ALLOCATED},
                                           {"Addr", ADDRESS},
                                           {NULL, NOTHING}};
static const struct key ROOT_KEYS[] = {{"traceEvents", EVENTS},
                                       {"baseTimeNanoseconds", BASE},
                                       {"schemaVersion", SCHEMA},
                                       {"cuda_driver_version", DRIVER},
                                       {"host_name", HOST},
                                       {"deviceProperties", GPUS},
                                       {"distributedInfo", DISTRIBUTED},
                                       {NULL, NOTHING}};
static const struct key GPU_KEYS[] = {
	{"id", GPU_ID}, {"name", GPU_NAME}, {"totalGlobalMem", GPU_MEMORY}, {"numSms", GPU_SMS}, {NULL, NOTHING}};
static const struct key RANK_KEYS[] = {{"rank", RANK}, {"world_size", RANKS}, {NULL, NOTHING}};

struct parser {
	struct kineto *k;
	int event_depth; /* objects and arrays around the members of an event, 0: not in a list */
	bool in_arguments, in_gpus, in_ranks;
	int64_t *sizes;          /* some of `event`, in the list of which the parser is; NULL: in none */
	int n_sizes, most_sizes; /* that it held up to here, and how many there is room for */
	int dims_depth;          /* in the list of an operator's inputs; 0: in none */
	bool in_types, in_concrete;
	enum field field;
	struct kineto_event event;
	struct kineto_gpu gpu;
	char name[NAME_ROOM], meta[NAME_ROOM]; /* of `event` */
};

/* ---- values ---- */

static size_t keep(char *to, const char *text, size_t n)
{
	/* A longer name is shortened in its middle, to far less than this, by whoever stores it. */
	n = n < NAME_ROOM ? n : NAME_ROOM;
	memcpy(to, text, n);
	return n;
}

static struct kineto_value *number_of(struct parser *p)
{
	struct kineto_event *e = &p->event;
	switch (p->field) {
	case PROCESS:
		return &e->process;
	case THREAD:
		return &e->thread;
	case CORRELATION:
		return &e->correlation;
	case DEVICE:
		return &e->device;
	case STREAM:
		return &e->stream;
	case BYTES:
		return &e->bytes;
	case NODE:
		return &e->node;
	case CONTEXT:
		return &e->context;
	case LINK_ID:
		return &e->link;
	case ELEMENTS_IN:
		return &e->elements_in;
	case ELEMENTS_OUT:
		return &e->elements_out;
	case GROUP_SIZE:
		return &e->group_size;
	case DEVICE_TYPE:
		return &e->device_type;
	case ALLOCATED:
		return &e->allocated;
	case ADDRESS:
		return &e->address;
	default:
		return NULL;
	}
}

static int64_t *fact_of(struct parser *p)
{
	struct kineto *k = p->k;
	switch (p->field) {
	case BASE:
		return &k->base;
	case SCHEMA:
		return &k->schema;
	case DRIVER:
		return &k->driver;
	case RANK:
		return &k->rank;
	case RANKS:
		return &k->ranks;
	case GPU_ID:
		return &p->gpu.id;
	case GPU_MEMORY:
		return &p->gpu.memory;
	case GPU_SMS:
		return &p->gpu.sms;
	default:
		return NULL;
	}
}

static void on_number(struct parser *p, const char *text, size_t n)
{
	struct kineto_value *number;
	int64_t *fact;
	if (p->sizes) {
		if (p->n_sizes < p->most_sizes && !kineto_integer(text, n, &p->sizes[p->n_sizes]))
			p->sizes[p->n_sizes] = 0;
		p->n_sizes++;
	} else if (p->field == START || p->field == DURATION) {
		struct kineto_value *time = p->field == START ? &p->event.start : &p->event.duration;
		time->there = kineto_ns(text, n, &time->value);
		p->event.bad_time = p->event.bad_time || !time->there;
	} else if ((number = number_of(p))) {
		number->there = kineto_integer(text, n, &number->value);
		number->value = number->there ? number->value : 0;
	} else if ((fact = fact_of(p))) {
		kineto_integer(text, n, fact);
	}
}

/* What a kernel says in words of its collective. */
static void note_collective(struct kineto_event *e, enum field field, const char *text, size_t n)
{
	if (field == COLLECTIVE)
		e->collective = kineto_collective(text, n);
	else if (field == ELEMENT_TYPE)
		e->element_bytes = kineto_element_bytes(text, n);
	else if (field == SPLIT)
		e->uneven = e->uneven || n != 2; /* "[]" */
	else if (field == GROUP_NAME)
		e->group_name = name_hash(text, n);
	else if (field == GROUP_RANKS)
		e->group_ranks = name_hash(text, n);
}

static void on_text(struct parser *p, const char *text, size_t n)
{
	struct kineto_value *number = number_of(p);
	if (p->field == PHASE)
		p->event.phase = n == 1 ? text[0] : 0;
	else if (p->field == CATEGORY)
		p->event.category = kineto_category(text, n);
	else if (p->field == NAME)
		p->event.name_n = keep(p->name, text, n);
	else if (p->field == META_NAME)
		p->event.meta_n = keep(p->meta, text, n);
	else if (p->field == START || p->field == DURATION || p->field == BASE)
		on_number(p, text, n); /* "baseTimeNanoseconds" has been seen as a text */
	else if (p->field == HOST && n)
		p->k->host = name_hash_host(text, n);
	else if (p->field == GPU_NAME)
		p->gpu.name = names_add(p->k->names, text, n);
	else if (p->in_concrete)
		kineto_note_given(&p->event, text, n);
	else if (p->in_types)
		kineto_note_type(&p->event, text, n);
	else if (number)
		*number = kineto_number(text, n);
	else
		note_collective(&p->event, p->field, text, n);
}

/* ---- structure ---- */

static enum field look_up(const struct key *keys, const char *text, size_t n)
{
	for (; keys->text; keys++)
		if (kineto_is(keys->text, text, n))
			return keys->field;
	return NOTHING;
}

/* What the member of that key is; `depth`: objects and arrays around it. */
static enum field field_of(const struct parser *p, int depth, const char *text, size_t n)
{
	if (p->event_depth)
		return depth == p->event_depth                          ? look_up(EVENT_KEYS, text, n)
		       : p->in_arguments && depth == p->event_depth + 1 ? look_up(ARGUMENT_KEYS, text, n)
		                                                        : NOTHING;
	return depth == 1                  ? look_up(ROOT_KEYS, text, n)
	       : p->in_gpus && depth == 3  ? look_up(GPU_KEYS, text, n)
	       : p->in_ranks && depth == 2 ? look_up(RANK_KEYS, text, n)
	                                   : NOTHING;
}

/* `depth`, of objects and arrays: themselves counted. */
static void on_object(struct parser *p, int depth, enum field of)
{
	p->sizes = NULL;
	if (p->event_depth && depth == p->event_depth)
		p->event = (struct kineto_event){.category = KINETO_NO_CATEGORY, .name = p->name, .meta = p->meta};
	else if (p->event_depth && depth == p->event_depth + 1 && of == ARGUMENTS)
		p->in_arguments = true;
	else if (p->in_gpus && depth == 3)
		p->gpu = (struct kineto_gpu){.id = -1};
	else if (depth == 2 && of == DISTRIBUTED)
		p->in_ranks = true;
}

static void on_object_end(struct parser *p, int depth)
{
	struct kineto *k = p->k;
	if (p->event_depth && depth == p->event_depth) {
		kineto_event_keep(k, &p->event);
	} else if (p->in_arguments && depth == p->event_depth + 1) {
		p->in_arguments = false;
	} else if (p->in_gpus && depth == 3 && k->n_gpus < 1024) {
		LIST_ADD(&k->scratch, k->gpus, k->n_gpus, k->gpu_room, p->gpu);
	} else if (depth == 2) {
		p->in_ranks = false;
	}
}

static void on_array(struct parser *p, int depth, enum field of)
{
	if (depth == 1 || (depth == 2 && of == EVENTS && !p->event_depth)) {
		p->event_depth = depth + 1;
		p->k->is_trace = true;
	} else if (depth == 2 && of == GPUS) {
		p->in_gpus = true;
	}
	p->sizes = of == GRID ? p->event.grid : of == BLOCK ? p->event.block : NULL;
	p->most_sizes = 3;
	p->n_sizes = 0;
	p->in_types = of == TYPES;
	p->in_concrete = of == CONCRETE && (!p->event.name_n || kineto_needs_given(p->name, p->event.name_n));
	if (of == DIMS) {
		p->dims_depth = depth;
	} else if (p->dims_depth && depth == p->dims_depth + 1 && p->event.n_inputs < KINETO_INPUTS) {
		p->sizes = p->event.input[p->event.n_inputs++].size;
		p->most_sizes = KINETO_INPUT_SIZES;
	}
}

static void on_array_end(struct parser *p, int depth)
{
	if (p->sizes && p->dims_depth)
		p->event.input[p->event.n_inputs - 1].n = p->n_sizes;
	p->dims_depth = depth <= p->dims_depth ? 0 : p->dims_depth;
	p->sizes = NULL;
	p->in_types = p->in_concrete = false;
	if (p->event_depth && depth == p->event_depth - 1)
		p->event_depth = 0;
	else if (depth == 2)
		p->in_gpus = false;
}

static void on_token(struct parser *p, struct json_scan *s, enum json_token token)
{
	const enum field of = p->field;
	switch (token) {
	case TOKEN_KEY:
		p->field = field_of(p, s->depth, s->text, s->n);
		if (p->field == NOTHING)
			json_scan_skip(s);
		return;
	case TOKEN_TEXT:
		on_text(p, s->text, s->n);
		break;
	case TOKEN_NUMBER:
		on_number(p, s->text, s->n);
		break;
	case TOKEN_OBJECT:
		on_object(p, s->depth, of);
		break;
	case TOKEN_OBJECT_END:
		on_object_end(p, s->depth + 1);
		break;
	case TOKEN_ARRAY:
		on_array(p, s->depth, of);
		break;
	case TOKEN_ARRAY_END:
		on_array_end(p, s->depth + 1);
		break;
	default:
		break;
	}
	p->field = NOTHING;
}

/* ---- the file ---- */

/* What the JSON is read from. */
struct input {
	struct kineto *k;
	struct source *source;
	struct unpack *packed; /* NULL: it is not */
};

static ssize_t next_piece(void *context, void *data, size_t room)
{
	const struct input *in = context;
	if (in->packed) {
		int64_t used = unpack_used(in->packed);
		ssize_t n = unpack_read(in->packed, data, room, in->k->err);
		meter_add(&in->source->whole, unpack_used(in->packed) - used);
		return n;
	}
	ssize_t n = file_read(in->source->fd, data, room);
	if (n < 0)
		err_set(in->k->err, "%s: cannot be read: %s", in->k->path, err_reason(errno));
	meter_add(&in->source->whole, n);
	return n;
}

/* What is wrong with the JSON. */
static int refuse(struct kineto *k, const struct json_scan *s)
{
	switch (s->flaw) {
	case JSON_SOUND:
		return 0;
	case JSON_UNREADABLE:
		return -1;
	case JSON_CUT_OFF:
		return err_set(
			k->err,
			"%s: is cut off: the JSON ends after %lld events without being closed, so what is missing "
			"cannot be told; copy the file again, or record it again and let the program end",
			k->path, (long long)k->events);
	case JSON_TOO_DEEP:
		return err_set(k->err, "%s: is no PyTorch trace: its JSON is nested more than %d deep", k->path,
		               DEPTH_MAX);
	case JSON_TOO_LONG:
		return err_set(k->err, "%s: is no PyTorch trace: it holds a text of more than %d MB", k->path,
		               JSON_SCAN_LONGEST >> 20);
	default:
		if (strcmp(s->expected, "nothing more") == 0)
			return err_set(k->err,
			               "%s: goes on at byte %lld, where its JSON has ended: a trace is one document; "
			               "put each into a file of its own",
			               k->path, (long long)json_scan_position(s));
		return err_set(
			k->err,
			"%s: is no valid JSON at byte %lld, where %s should be; PyTorch before 2026 did not escape "
			"quotes in names of ranges: rename those, or record it again",
			k->path, (long long)json_scan_position(s), s->expected);
	}
}

int kineto_parse(struct kineto *k, struct source *source)
{
	struct parser *p = ARENA_NEW(&k->scratch, 1, struct parser);
	p->k = k;
	struct unpack *packed = NULL;
	if (source->packing != PACKING_NONE && !(packed = unpack_open(k->path, source->fd, k->err)))
		return -1;
	if (!packed && source_rewind(source, k->err) != 0)
		return -1;
	struct input input = {k, source, packed};
	struct json_scan s;
	json_scan_open(&s, next_piece, &input, DEPTH_MAX);
	s.lenient = true; /* of PyTorch, and of scripts that wrote it again */
	for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
		on_token(p, &s, token);
	int result = refuse(k, &s);
	json_scan_close(&s);
	unpack_close(packed);
	return result;
}
