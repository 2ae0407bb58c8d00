/* The file becomes lists of numbers, event by event. */
#include "base/json_scan.h"
#include "base/list.h"
#include "read/kineto.h"
#include "read/name_hash.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = JSON_SCAN_DEEPEST, NAME_ROOM = 16 * 1024 };

/* What the value that comes next is. */
enum field {
	NOTHING,
	NUMBER,     /* a kineto_value of the event */
	TRACE_FACT, /* an int64_t of struct kineto … */
	GPU_FACT,   /* … and of struct kineto_gpu */
	/* of an event */
	PHASE,
	CATEGORY,
	NAME,
	START,
	DURATION,
	ARGUMENTS,
	/* of an event's arguments */
	META_NAME,
	GRID,
	BLOCK,
	DIMS,
	TYPES,
	CONCRETE,
	COLLECTIVE,
	ELEMENT_TYPE,
	SPLIT,
	GROUP_NAME,
	GROUP_RANKS,
	/* of the object around the events, and of what stands in there */
	EVENTS,
	BASE,
	HOST,
	GPUS,
	DISTRIBUTED,
	EXECUTION,
	GPU_NAME
};

struct key {
	const char *text;
	enum field field;
	size_t at; /* where in the struct a number goes */
};
#define NUMBER_IN(member) NUMBER, offsetof(struct kineto_event, member)
#define TRACE_IN(member) TRACE_FACT, offsetof(struct kineto, member)
#define GPU_IN(member) GPU_FACT, offsetof(struct kineto_gpu, member)

static const struct key NO_KEY = {NULL, NOTHING, 0};
static const struct key EVENT_KEYS[] = {
	{"ph", PHASE, 0},           {"cat", CATEGORY, 0}, {"name", NAME, 0},    {"pid", NUMBER_IN(process)},
	{"tid", NUMBER_IN(thread)}, {"ts", START, 0},     {"dur", DURATION, 0}, {"args", ARGUMENTS, 0},
	{"id", NUMBER_IN(link)},    {NULL, NOTHING, 0}};
static const struct key ARGUMENT_KEYS[] = {{"correlation", NUMBER_IN(correlation)},
                                           {"device", NUMBER_IN(device)},
                                           {"stream", NUMBER_IN(stream)},
                                           {"bytes", NUMBER_IN(bytes)},
                                           {"context", NUMBER_IN(context)},
                                           {"name", META_NAME, 0},
                                           {"graph node id", NUMBER_IN(node)},
                                           {"Input Dims", DIMS, 0},
                                           {"Input dims", DIMS, 0},
                                           {"Input type", TYPES, 0},
                                           {"Concrete Inputs", CONCRETE, 0},
                                           {"grid", GRID, 0},
                                           {"block", BLOCK, 0},
                                           {"Collective name", COLLECTIVE, 0},
                                           {"In msg nelems", NUMBER_IN(elements_in)},
                                           {"Out msg nelems", NUMBER_IN(elements_out)},
                                           {"dtype", ELEMENT_TYPE, 0},
                                           {"In split size", SPLIT, 0},
                                           {"Out split size", SPLIT, 0},
                                           {"Group size", NUMBER_IN(group_size)},
                                           {"Process Group Name", GROUP_NAME, 0},
                                           {"Process Group Ranks", GROUP_RANKS, 0},
                                           {"Device Type", NUMBER_IN(device_type)},
                                           {"Device Id", NUMBER_IN(device)},
                                           {"Bytes", NUMBER_IN(bytes)},
                                           {"Total Allocated", NUMBER_IN(allocated)},
                                           {"Addr", NUMBER_IN(address)},
                                           {NULL, NOTHING, 0}};
static const struct key ROOT_KEYS[] = {{"traceEvents", EVENTS, 0},
                                       {"baseTimeNanoseconds", BASE, offsetof(struct kineto, base)},
                                       {"schemaVersion", TRACE_IN(schema)},
                                       {"cuda_driver_version", TRACE_IN(driver)},
                                       {"host_name", HOST, 0},
                                       {"deviceProperties", GPUS, 0},
                                       {"distributedInfo", DISTRIBUTED, 0},
                                       {"schema", EXECUTION, 0},
                                       {"nodes", EXECUTION, 0},
                                       {NULL, NOTHING, 0}};
static const struct key GPU_KEYS[] = {{"id", GPU_IN(id)},
                                      {"name", GPU_NAME, 0},
                                      {"totalGlobalMem", GPU_IN(memory)},
                                      {"numSms", GPU_IN(sms)},
                                      {NULL, NOTHING, 0}};
static const struct key RANK_KEYS[] = {{"rank", TRACE_IN(rank)}, {"world_size", TRACE_IN(ranks)}, {NULL, NOTHING, 0}};

struct parser {
	struct kineto *k;
	int event_depth; /* objects and arrays around the members of an event, 0: not in a list */
	bool in_arguments, in_gpus, in_ranks;
	int64_t *sizes;          /* some of `event`, in the list of which the parser is; NULL: in none */
	int n_sizes, most_sizes; /* that it held up to here, and how many there is room for */
	int dims_depth;          /* in the list of an operator's inputs; 0: in none */
	bool in_types, in_concrete;
	enum field field;
	size_t at; /* as in struct key */
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
	return p->field == NUMBER ? (void *)((char *)&p->event + p->at) : NULL;
}

static int64_t *fact_of(struct parser *p)
{
	return p->field == TRACE_FACT || p->field == BASE ? (void *)((char *)p->k + p->at)
	       : p->field == GPU_FACT                     ? (void *)((char *)&p->gpu + p->at)
	                                                  : NULL;
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
	else if (!number)
		note_collective(&p->event, p->field, text, n);
	else if (!(*number = kineto_number(text, n)).there)
		p->k->old_profiler = p->k->old_profiler || kineto_is("CPU functions", text, n);
}

/* ---- structure ---- */

/* The key, or the end of the list. */
static const struct key *look_up(const struct key *keys, const char *text, size_t n)
{
	while (keys->text && !kineto_is(keys->text, text, n))
		keys++;
	return keys;
}

/* What the member of that key is; `depth`: objects and arrays around it. */
static const struct key *key_of(const struct parser *p, int depth, const char *text, size_t n)
{
	if (p->event_depth)
		return depth == p->event_depth                          ? look_up(EVENT_KEYS, text, n)
		       : p->in_arguments && depth == p->event_depth + 1 ? look_up(ARGUMENT_KEYS, text, n)
		                                                        : &NO_KEY;
	return depth == 1                  ? look_up(ROOT_KEYS, text, n)
	       : p->in_gpus && depth == 3  ? look_up(GPU_KEYS, text, n)
	       : p->in_ranks && depth == 2 ? look_up(RANK_KEYS, text, n)
	                                   : &NO_KEY;
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
	const struct key *key;
	switch (token) {
	case TOKEN_KEY:
		key = key_of(p, s->depth, s->text, s->n);
		p->field = key->field;
		p->at = key->at;
		p->k->execution += p->field == EXECUTION;
		if (p->field == NOTHING || p->field == EXECUTION)
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
		err_set_id(in->k->err, ERR_UNREADABLE, "%s: cannot be read: %s", in->k->path, err_reason(errno));
	meter_add(&in->source->whole, n);
	return n;
}

/* Whether the rest can be unpacked: what packed the file wrote a sum behind it. Else `err` says that it is damaged. */
static bool is_whole(struct unpack *packed, char *room, struct err *err)
{
	ssize_t n;
	while ((n = unpack_read(packed, room, NAME_ROOM, err)) > 0)
		;
	return n == 0;
}

/* What is wrong with the JSON. */
static int refuse(struct parser *p, const struct json_scan *s, struct unpack *packed)
{
	struct kineto *k = p->k;
	if (s->flaw >= JSON_CUT_OFF && packed && !is_whole(packed, p->name, k->err))
		return -1;
	switch (s->flaw) {
	case JSON_SOUND:
		return 0;
	case JSON_UNREADABLE:
		return -1;
	case JSON_CUT_OFF:
		return err_set_id(
			k->err, ERR_DAMAGED,
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
		if (json_scan_met_zeros(s))
			return err_set_id(k->err, ERR_DAMAGED,
			                  "%s: is damaged: near byte %lld it holds zeros; copy the file again", k->path,
			                  (long long)json_scan_position(s));
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
	if (source->packing != PACKING_NONE && !(packed = source_contents(source, k->err)))
		return -1;
	if (!packed && source_rewind(source, k->err) != 0)
		return -1;
	struct input input = {k, source, packed};
	struct json_scan s;
	json_scan_open(&s, next_piece, &input, DEPTH_MAX);
	s.lenient = true; /* of PyTorch, and of scripts that wrote it again */
	for (enum json_token token; (token = json_scan_next(&s)) > TOKEN_END;)
		on_token(p, &s, token);
	int result = refuse(p, &s, packed);
	json_scan_close(&s);
	unpack_close(packed);
	return result;
}
