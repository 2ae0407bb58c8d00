/* The file becomes lists of numbers, event by event. */
#include "base/json_writer.h"
#include "base/list.h"
#include "read/kineto_work.h"
#include "read/name_hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

enum { CHUNK = 256 * 1024, DEPTH_MAX = 256, NAME_ROOM = 16 * 1024, TOKEN_MAX = 64 * 1024 * 1024 };

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
	int depth, event_depth; /* open objects and arrays; those around the members of an event, 0: not in a list */
	bool in_arguments, in_gpus, in_ranks, refused;
	int64_t *sizes;          /* some of `event`, in the list of which the parser is; NULL: in none */
	int n_sizes, most_sizes; /* that it held up to here, and how many there is room for */
	int dims_depth;          /* in the list of an operator's inputs; 0: in none */
	bool in_types, in_concrete;
	enum field field;
	uint64_t tokens;
	struct kineto_event event;
	struct kineto_gpu gpu;
	char name[NAME_ROOM], meta[NAME_ROOM]; /* of `event` */
};

/* ---- values ---- */

static size_t keep(char *to, const unsigned char *text, size_t n)
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

static int on_number(void *context, const char *text, size_t n)
{
	struct parser *p = context;
	struct kineto_value *number = number_of(p);
	int64_t *fact = fact_of(p);
	p->tokens++;
	if (p->sizes) {
		if (p->n_sizes < p->most_sizes && !kineto_integer(text, n, &p->sizes[p->n_sizes]))
			p->sizes[p->n_sizes] = 0;
		p->n_sizes++;
	} else if (p->field == START || p->field == DURATION) {
		struct kineto_value *time = p->field == START ? &p->event.start : &p->event.duration;
		time->there = kineto_ns(text, n, &time->value);
		p->event.bad_time = p->event.bad_time || !time->there;
	} else if (number) {
		number->there = kineto_integer(text, n, &number->value);
		number->value = number->there ? number->value : 0;
	} else if (fact) {
		kineto_integer(text, n, fact);
	}
	p->field = NOTHING;
	return 1;
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

static int on_string(void *context, const unsigned char *bytes, size_t n)
{
	struct parser *p = context;
	const char *text = (const char *)bytes;
	struct kineto_value *number = number_of(p);
	p->tokens++;
	if (p->field == PHASE)
		p->event.phase = n == 1 ? text[0] : 0;
	else if (p->field == CATEGORY)
		p->event.category = kineto_category(text, n);
	else if (p->field == NAME)
		p->event.name_n = keep(p->name, bytes, n);
	else if (p->field == META_NAME)
		p->event.meta_n = keep(p->meta, bytes, n);
	else if (p->field == START || p->field == DURATION || p->field == BASE)
		return on_number(context, text, n); /* "baseTimeNanoseconds" has been seen as a text */
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
	p->field = NOTHING;
	return 1;
}

static int on_other(void *context)
{
	struct parser *p = context;
	p->tokens++;
	p->field = NOTHING;
	return 1;
}

static int on_boolean(void *context, int value)
{
	(void)value;
	return on_other(context);
}

/* ---- structure ---- */

static enum field look_up(const struct key *keys, const unsigned char *text, size_t n)
{
	for (; keys->text; keys++)
		if (keys->text[0] == (char)text[0] && strlen(keys->text) == n && memcmp(keys->text, text, n) == 0)
			return keys->field;
	return NOTHING;
}

static int on_key(void *context, const unsigned char *text, size_t n)
{
	struct parser *p = context;
	p->tokens++;
	p->field = NOTHING;
	if (!n)
		return 1;
	if (p->event_depth) {
		if (p->depth == p->event_depth)
			p->field = look_up(EVENT_KEYS, text, n);
		else if (p->in_arguments && p->depth == p->event_depth + 1)
			p->field = look_up(ARGUMENT_KEYS, text, n);
	} else if (p->depth == 1) {
		p->field = look_up(ROOT_KEYS, text, n);
	} else if (p->in_gpus && p->depth == 3) {
		p->field = look_up(GPU_KEYS, text, n);
	} else if (p->in_ranks && p->depth == 2) {
		p->field = look_up(RANK_KEYS, text, n);
	}
	return 1;
}

static int open_one(struct parser *p)
{
	p->tokens++;
	if (++p->depth <= DEPTH_MAX)
		return 1;
	err_set(p->k->err, "%s: is no PyTorch trace: its JSON is nested more than %d deep", p->k->path, DEPTH_MAX);
	p->refused = true;
	return 0;
}

static int on_object(void *context)
{
	struct parser *p = context;
	enum field of = p->field;
	p->field = NOTHING;
	p->sizes = NULL;
	if (p->event_depth && p->depth == p->event_depth - 1)
		p->event = (struct kineto_event){.category = KINETO_NO_CATEGORY, .name = p->name, .meta = p->meta};
	else if (p->event_depth && p->depth == p->event_depth && of == ARGUMENTS)
		p->in_arguments = true;
	else if (p->in_gpus && p->depth == 2)
		p->gpu = (struct kineto_gpu){.id = -1};
	else if (p->depth == 1 && of == DISTRIBUTED)
		p->in_ranks = true;
	return open_one(p);
}

static int on_object_end(void *context)
{
	struct parser *p = context;
	struct kineto *k = p->k;
	p->tokens++;
	if (p->event_depth && p->depth == p->event_depth) {
		kineto_event_keep(k, &p->event);
	} else if (p->in_arguments && p->depth == p->event_depth + 1) {
		p->in_arguments = false;
	} else if (p->in_gpus && p->depth == 3 && k->n_gpus < 1024) {
		LIST_GROW(&k->scratch, k->gpus, k->n_gpus, k->gpu_room);
		k->gpus[k->n_gpus++] = p->gpu;
	} else if (p->depth == 2) {
		p->in_ranks = false;
	}
	p->depth--;
	p->field = NOTHING;
	return 1;
}

static int on_array(void *context)
{
	struct parser *p = context;
	enum field of = p->field;
	p->field = NOTHING;
	if (p->depth == 0 || (p->depth == 1 && of == EVENTS && !p->event_depth)) {
		p->event_depth = p->depth + 2;
		p->k->is_trace = true;
	} else if (p->depth == 1 && of == GPUS) {
		p->in_gpus = true;
	}
	p->sizes = of == GRID ? p->event.grid : of == BLOCK ? p->event.block : NULL;
	p->most_sizes = 3;
	p->n_sizes = 0;
	p->in_types = of == TYPES;
	p->in_concrete = of == CONCRETE && (!p->event.name_n || memmem(p->name, p->event.name_n, "conv", 4));
	if (of == DIMS) {
		p->dims_depth = p->depth + 1;
	} else if (p->dims_depth && p->depth == p->dims_depth && p->event.n_inputs < KINETO_INPUTS) {
		p->sizes = p->event.input[p->event.n_inputs++].size;
		p->most_sizes = KINETO_INPUT_SIZES;
	}
	return open_one(p);
}

static int on_array_end(void *context)
{
	struct parser *p = context;
	p->tokens++;
	p->depth--;
	p->field = NOTHING;
	if (p->sizes && p->dims_depth)
		p->event.input[p->event.n_inputs - 1].n = p->n_sizes;
	p->dims_depth = p->depth < p->dims_depth ? 0 : p->dims_depth;
	p->sizes = NULL;
	p->in_types = p->in_concrete = false;
	if (p->event_depth && p->depth == p->event_depth - 2)
		p->event_depth = 0;
	else if (p->depth == 1)
		p->in_gpus = false;
	return 1;
}

static const yajl_callbacks CALLBACKS = {.yajl_null = on_other,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_object,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_object_end,
                                         .yajl_start_array = on_array,
                                         .yajl_end_array = on_array_end};

/* ---- the file ---- */

/* What is wrong with the JSON. `at`: bytes before the piece that yajl looked at last. */
static int refuse_json(struct kineto *k, yajl_handle json, int64_t at, const unsigned char *piece, size_t n, bool ended)
{
	if (ended)
		return err_set(
			k->err,
			"%s: is cut off: the JSON ends after %lld events without being closed, so what is missing "
			"cannot be told; copy the file again, or record it again and let the program end",
			k->path, (long long)k->events);
	unsigned char *text = yajl_get_error(json, 0, piece, n);
	const char *line = text ? (const char *)text : "";
	err_set(k->err,
	        "%s: is no valid JSON at byte %lld (%.*s); PyTorch before 2026 did not escape quotes in names of "
	        "ranges: "
	        "rename those, or record it again",
	        k->path, (long long)at + (long long)yajl_get_bytes_consumed(json), (int)strcspn(line, "\n"), line);
	yajl_free_error(json, text);
	return -1;
}

/* The next bytes of what is in the file. */
static ssize_t next_piece(struct kineto *k, struct source *source, struct unpack *packed, unsigned char *data)
{
	if (packed) {
		int64_t used = unpack_used(packed);
		ssize_t n = unpack_read(packed, data, CHUNK, k->err);
		meter_add(&source->whole, unpack_used(packed) - used);
		return n;
	}
	ssize_t n = file_read(source->fd, data, CHUNK);
	if (n < 0)
		err_set(k->err, "%s: cannot be read: %s", k->path, err_reason(errno));
	meter_add(&source->whole, n);
	return n;
}

static int parse_pieces(struct parser *p, struct source *source, struct unpack *packed)
{
	struct kineto *k = p->k;
	unsigned char *data = arena_alloc(&k->scratch, CHUNK, 1);
	yajl_handle json = yajl_alloc(&CALLBACKS, json_memory(), p);
	yajl_config(json, yajl_dont_validate_strings, 1);
	int64_t at = 0, quiet = 0;
	int result = 0;
	ssize_t n;
	while (result == 0 && (n = next_piece(k, source, packed, data)) != 0) {
		size_t skip = at == 0 && n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
		uint64_t tokens = p->tokens;
		if (n < 0)
			result = -1;
		else if (yajl_parse(json, data + skip, (size_t)n - skip) != yajl_status_ok)
			result = p->refused ? -1 : refuse_json(k, json, at, data + skip, (size_t)n - skip, false);
		at += n;
		quiet = p->tokens == tokens ? quiet + n : 0;
		if (result == 0 && quiet > TOKEN_MAX)
			result = err_set(k->err, "%s: is no PyTorch trace: it holds a text of more than %d MB", k->path,
			                 TOKEN_MAX >> 20);
	}
	if (result == 0 && yajl_complete_parse(json) != yajl_status_ok)
		result = p->refused ? -1 : refuse_json(k, json, at, data, 0, true);
	yajl_free(json);
	return result;
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
	int result = parse_pieces(p, source, packed);
	unpack_close(packed);
	return result;
}
