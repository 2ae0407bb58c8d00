#include "nvtx.h"

#include "inject/spool_events.h"
#include "spool_writer.h"

#include <stdatomic.h>
#include <string.h>

/* NCCL's payloads are of some 32 bytes, its layouts of at most 7 entries. */
enum { MOST_BYTES = 4 << 10, MOST_PAYLOADS = 16, MOST_ENTRIES = 256, LONGEST_NAME = 256 };

static _Atomic uint64_t n_schemas;

static char *add(char *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static char *add_number(char *to, uint64_t value)
{
	return add(to, &value, sizeof value);
}

/* ---- payloads ---- */

/* What the event takes; 0: it cannot be written. */
static size_t size_of(const struct payload_data *data, size_t n)
{
	size_t bytes = sizeof(uint64_t) * (1 + 3 * n);
	if (!data || !n || n > MOST_PAYLOADS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (data[i].bytes > MOST_BYTES || (data[i].bytes && !data[i].data))
			return 0;
		bytes += data[i].bytes;
	}
	return bytes;
}

void nvtx_put_payloads(uint32_t domain, uint64_t range, const struct payload_data *data, size_t n)
{
	int64_t time = spool_now();
	size_t bytes = size_of(data, n), at = sizeof(uint64_t) * (1 + 3 * n);
	struct spool_event *e = bytes && spool_window(time) ? spool_event_begin(bytes) : NULL;
	if (!e)
		return;
	*e = (struct spool_event){.time = time,
	                          .bytes = e->bytes,
	                          .type = SPOOL_PAYLOAD,
	                          .domain = domain,
	                          .id = range,
	                          .text_bytes = (uint32_t)bytes};
	char *to = add_number((char *)(e + 1), n);
	for (size_t i = 0; i < n; i++) {
		to = add_number(to, data[i].schema);
		to = add_number(to, data[i].bytes);
		to = add_number(to, at);
		at += data[i].bytes;
	}
	for (size_t i = 0; i < n; i++)
		if (data[i].bytes)
			to = add(to, data[i].data, data[i].bytes);
	spool_event_end(e);
	spool_start();
}

/* ---- layouts ---- */

static size_t name_bytes(const struct payload_entry *entry)
{
	return entry->name ? strnlen(entry->name, LONGEST_NAME) : 0;
}

static size_t entry_bytes(const struct payload_entry *entry)
{
	return sizeof(struct spool_schema_entry) + (name_bytes(entry) + 7) / 8 * 8;
}

static void put_schema(uint32_t domain, uint64_t id, const struct payload_schema *schema)
{
	size_t bytes = 0;
	for (size_t i = 0; i < schema->n_entries; i++)
		bytes += entry_bytes(&schema->entries[i]);
	struct spool_event *e = spool_event_begin(bytes);
	if (!e)
		return;
	*e = (struct spool_event){.time = spool_now(),
	                          .bytes = e->bytes,
	                          .type = SPOOL_SCHEMA,
	                          .domain = domain,
	                          .category = (uint32_t)schema->type,
	                          .id = id,
	                          .text_bytes = (uint32_t)bytes,
	                          .string = (uint32_t)schema->alignment,
	                          .payload = schema->bytes};
	char *to = (char *)(e + 1);
	for (size_t i = 0; i < schema->n_entries; i++) {
		const struct payload_entry *from = &schema->entries[i];
		const struct spool_schema_entry entry = {.flags = from->flags,
		                                         .type = from->type,
		                                         .detail = from->detail,
		                                         .offset = from->offset,
		                                         .bytes = (uint32_t)entry_bytes(from),
		                                         .name_bytes = (uint32_t)name_bytes(from)};
		add(to, &entry, sizeof entry);
		if (entry.name_bytes)
			memcpy(to + sizeof entry, from->name, entry.name_bytes);
		to += entry.bytes;
	}
	spool_event_end(e);
	spool_start();
}

static uint64_t new_id(void)
{
	return ((uint64_t)1 << 32) + atomic_fetch_add(&n_schemas, 1);
}

static uint64_t on_schema(const void *domain, const struct payload_schema *schema)
{
	if (!schema)
		return 0;
	uint64_t id = schema->fields & PAYLOAD_HAS_ID_OF_SCHEMA ? schema->id : new_id();
	if (schema->entries && schema->n_entries <= MOST_ENTRIES)
		put_schema(nvtx_number(domain), id, schema);
	return id;
}

static uint64_t on_enum(const void *domain, const struct payload_enum *values)
{
	(void)domain;
	return !values ? 0 : values->fields & PAYLOAD_HAS_ID_OF_ENUM ? values->id : new_id();
}

/* ---- ranges that are nothing but payloads ---- */

static int on_push(const void *domain, const struct payload_data *data, size_t n)
{
	return nvtx_push_payloads(nvtx_number(domain), data, n);
}

static int on_pop(const void *domain, const struct payload_data *data, size_t n)
{
	nvtx_put_payloads(nvtx_number(domain), 0, data, n);
	return nvtx_pop(nvtx_number(domain));
}

static uint64_t on_start(const void *domain, const struct payload_data *data, size_t n)
{
	return nvtx_start_payloads(nvtx_number(domain), data, n);
}

static void on_stop(const void *domain, uint64_t range, const struct payload_data *data, size_t n)
{
	nvtx_put_payloads(nvtx_number(domain), range, data, n);
	nvtx_stop(nvtx_number(domain), range);
}

/* The same of a version whose payloads are not known here: a range that begins or ends is one all the same. */
static int push_alone(const void *domain, const struct payload_data *data, size_t n)
{
	(void)data, (void)n;
	return nvtx_push_payloads(nvtx_number(domain), NULL, 0);
}

static int pop_alone(const void *domain, const struct payload_data *data, size_t n)
{
	(void)data, (void)n;
	return nvtx_pop(nvtx_number(domain));
}

static uint64_t start_alone(const void *domain, const struct payload_data *data, size_t n)
{
	(void)data, (void)n;
	return nvtx_start_payloads(nvtx_number(domain), NULL, 0);
}

static void stop_alone(const void *domain, uint64_t range, const struct payload_data *data, size_t n)
{
	(void)data, (void)n;
	nvtx_stop(nvtx_number(domain), range);
}

/* ---- the table ---- */

enum { FUNCTIONS = PAYLOAD_STOP + 1 };

int nvtx_inject_payloads(struct payload_module *module)
{
	static const intptr_t known[FUNCTIONS] = {
		[PAYLOAD_REGISTER_SCHEMA] = (intptr_t)on_schema,
		[PAYLOAD_REGISTER_ENUM] = (intptr_t)on_enum,
		[PAYLOAD_PUSH] = (intptr_t)on_push,
		[PAYLOAD_POP] = (intptr_t)on_pop,
		[PAYLOAD_START] = (intptr_t)on_start,
		[PAYLOAD_STOP] = (intptr_t)on_stop,
	};
	static const intptr_t unknown[FUNCTIONS] = {
		[PAYLOAD_PUSH] = (intptr_t)push_alone,
		[PAYLOAD_POP] = (intptr_t)pop_alone,
		[PAYLOAD_START] = (intptr_t)start_alone,
		[PAYLOAD_STOP] = (intptr_t)stop_alone,
	};
	if (!module || module->bytes < sizeof *module || module->module != PAYLOAD_MODULE || !module->n_segments)
		return 0;
	bool is_known = module->version == PAYLOAD_VERSION_1_3 || module->version == PAYLOAD_VERSION_1_4;
	if (!is_known && module->version >> 8 != PAYLOAD_VERSION_1_3 >> 8)
		return 0;
	const intptr_t *functions = is_known ? known : unknown;
	for (size_t i = 0; i < FUNCTIONS && i < module->segments->n; i++)
		if (functions[i])
			module->segments->functions[i] = functions[i];
	return 1;
}
