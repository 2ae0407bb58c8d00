/* What concerns the capture as a whole: GPUs, processes, versions, messages. Nothing here names a host, a user or an
 * environment variable: there is no such thing in a spool. */
#include "base/sort.h"
#include "capture/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { GPUS_MAX = 1024, MESSAGES_MAX = 100, MESSAGE_MAX_BYTES = 1000 };
enum { DRIVER_VERSION = 205, CUDA_DRIVER_VERSION = 611 };               /* nsys's nameEnum of these properties */
enum { SOURCE_INJECTION = 1, SOURCE_ANALYSIS = 3, TIME_OF_TARGET = 1 }; /* nsys's ENUM_DIAGNOSTIC_… */

static const int64_t THIS_VM = (int64_t)1 << 48; /* globalPid without a process */

static const char SCHEMA[] = "3.20.3";

/* ---- what is collected while files are read ---- */

static bool same_gpu(const struct spool_device *a, const struct spool_device *b)
{
	static const uint8_t none[sizeof a->uuid];
	if (memcmp(a->uuid, none, sizeof none) != 0 || memcmp(b->uuid, none, sizeof none) != 0)
		return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
	return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus && a->pci_device == b->pci_device;
}

void convert_add_device(struct convert *c, uint32_t pid, const unsigned char *payload, size_t n)
{
	struct spool_device device;
	if (n < sizeof device)
		return;
	memcpy(&device, payload, sizeof device);
	const char *name = (const char *)payload + sizeof device;
	size_t name_bytes = device.name_bytes < n - sizeof device ? device.name_bytes : n - sizeof device;
	uint32_t gpu = 0;
	while (gpu < c->n_gpus && !same_gpu(&c->gpus[gpu].device, &device))
		gpu++;
	if (gpu == c->n_gpus) {
		if (gpu == GPUS_MAX)
			return;
		if (!c->gpus)
			c->gpus = ARENA_NEW(&c->work, GPUS_MAX, struct gpu);
		c->gpus[c->n_gpus++] = (struct gpu){device, arena_copy(&c->work, name, name_bytes), name_bytes};
	}
	const struct gpu_use use = {gpu, device.ordinal, pid};
	for (uint32_t i = 0; i < c->n_gpu_uses; i++)
		if (memcmp(&c->gpu_uses[i], &use, sizeof use) == 0)
			return;
	if (c->n_gpu_uses == GPUS_MAX)
		return;
	if (!c->gpu_uses)
		c->gpu_uses = ARENA_NEW(&c->work, GPUS_MAX, struct gpu_use);
	c->gpu_uses[c->n_gpu_uses++] = use;
}

void convert_add_message(struct convert *c, uint32_t pid, int severity, uint32_t code, const char *text, size_t n)
{
	n = strnlen(text, n < MESSAGE_MAX_BYTES ? n : MESSAGE_MAX_BYTES);
	if (n == 0 || c->n_messages == MESSAGES_MAX)
		return;
	uint32_t id = names_add(&c->message_texts, text, n);
	for (uint32_t i = 0; i < c->n_messages; i++)
		if (c->messages[i].text == id)
			return;
	if (!c->messages)
		c->messages = ARENA_NEW(&c->work, MESSAGES_MAX, struct message);
	c->messages[c->n_messages++] = (struct message){severity, code, id, pid};
}

void convert_settle_messages(struct convert *c)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->n_messages; i++)
		if (c->messages[i].code != SPOOL_CODE_NO_PYTHON || !c->result->sample_ns)
			c->messages[kept++] = c->messages[i];
	c->n_messages = kept;
}

void convert_list_messages(struct convert *c)
{
	struct convert_result *result = c->result;
	result->messages = ARENA_NEW(c->arena, c->n_messages, const char *);
	for (int severity = SPOOL_ERROR; severity >= 0; severity--) {
		for (uint32_t i = 0; i < c->n_messages; i++) {
			if (c->messages[i].severity != severity)
				continue;
			const char *text = names_text(&c->message_texts, c->messages[i].text);
			result->messages[result->n_messages++] = arena_copy(c->arena, text, strlen(text));
			result->worst = severity > result->worst ? severity : result->worst;
		}
	}
}

/* ---- rows ---- */

static void write_text(struct profile *p, const char *text)
{
	profile_text(p, text, strlen(text));
}

static void write_pair(struct profile *p, enum profile_table table, const char *name, const char *value)
{
	profile_begin(p, table);
	write_text(p, name);
	write_text(p, value);
	profile_end(p);
}

static int compare_places(const void *a, const void *b)
{
	const struct spool_device *x = &(*(const struct gpu *const *)a)->device,
				  *y = &(*(const struct gpu *const *)b)->device;
	return ASCENDING(x->pci_domain, y->pci_domain) ?: ASCENDING(x->pci_bus, y->pci_bus)
		?: ASCENDING(x->pci_device, y->pci_device) ?: ASCENDING(x->ordinal, y->ordinal)
		?: memcmp(x->uuid, y->uuid, sizeof x->uuid);
}

static int64_t at_most_int64(uint64_t value)
{
	return value <= INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void write_gpu(struct profile *p, const struct gpu *gpu, uint32_t id)
{
	const struct spool_device *d = &gpu->device;
	const uint8_t *u = d->uuid;
	char bus[64], uuid[64];
	snprintf(bus, sizeof bus, "%04" PRIx32 ":%02" PRIx32 ":%02" PRIx32 ".0", d->pci_domain, d->pci_bus,
	         d->pci_device);
	snprintf(uuid, sizeof uuid, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
	         u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	profile_begin(p, PROFILE_GPU);
	PROFILE_INTS(p, THIS_VM, id);
	profile_text(p, gpu->name, gpu->name_bytes);
	write_text(p, bus);
	PROFILE_INTS(p, PROFILE_NULL, PROFILE_NULL, /* isDiscrete, l2CacheSize */
	             at_most_int64(d->memory_bytes), at_most_int64(d->memory_bandwidth), at_most_int64(d->clock_hz),
	             d->sm_count, PROFILE_NULL); /* pwGpuId */
	write_text(p, uuid);
	profile_null(p, 2); /* luid, chipName */
	profile_int(p, d->ordinal);
	profile_null(p, 22); /* from ctxswDevPath to maxGridDimZ */
	PROFILE_INTS(p, d->compute_major, d->compute_minor, PROFILE_NULL, PROFILE_NULL); /* smMajor, smMinor */
	profile_end(p);
}

static void write_gpus(struct convert *c)
{
	struct profile *p = &c->profile;
	const struct gpu **order = ARENA_NEW(&c->work, c->n_gpus, const struct gpu *);
	uint32_t *id = ARENA_NEW(&c->work, c->n_gpus, uint32_t);
	for (uint32_t i = 0; i < c->n_gpus; i++)
		order[i] = &c->gpus[i];
	SORT(order, c->n_gpus, compare_places);
	for (uint32_t i = 0; i < c->n_gpus; i++) {
		id[order[i] - c->gpus] = i;
		write_gpu(p, order[i], i);
	}
	for (uint32_t i = 0; i < c->n_gpu_uses; i++)
		PROFILE_ROW(p, PROFILE_CUDA_DEVICE, id[c->gpu_uses[i].gpu], c->gpu_uses[i].ordinal, c->gpu_uses[i].pid);
}

static void write_process(struct convert *c, const struct process *process)
{
	struct profile *p = &c->profile;
	profile_begin(p, PROFILE_PROCESSES);
	PROFILE_INTS(p, convert_global_pid(process->pid), process->pid);
	if (process->name)
		profile_text(p, process->name, process->name_bytes);
	else
		profile_null(p, 1);
	profile_end(p);
	if (process->rank >= 0)
		PROFILE_ROW(p, PROFILE_RANK, convert_global_pid(process->pid), process->rank);
	for (uint32_t i = 0; i < process->threads.n; i++) {
		uint32_t tid = (uint32_t)process->threads.keys[i];
		if (keymap_find(&process->writers, tid) != UINT32_MAX)
			continue;
		const struct thread_name *name = &process->thread_names[i];
		PROFILE_ROW(p, PROFILE_THREAD_NAMES, profile_string(p, name->text, name->bytes),
		            PROFILE_NULL /* priority */, convert_global_tid(process->pid, tid));
	}
}

static void write_diagnostic(struct convert *c, int severity, int source, const char *text, uint32_t pid)
{
	struct profile *p = &c->profile;
	profile_begin(p, PROFILE_DIAGNOSTIC);
	PROFILE_INTS(p, 0, TIME_OF_TARGET, source, severity);
	write_text(p, text);
	profile_int(p, pid ? convert_global_pid(pid) : THIS_VM);
	profile_end(p);
}

static void write_diagnostics(struct convert *c)
{
	const struct convert_result *result = c->result;
	for (uint32_t i = 0; i < c->n_messages; i++)
		write_diagnostic(c, c->messages[i].severity, SOURCE_INJECTION,
		                 names_text(&c->message_texts, c->messages[i].text), c->messages[i].pid);
	if (result->dropped > 0)
		write_diagnostic(
			c, SPOOL_WARNING, SOURCE_ANALYSIS,
			arena_format(&c->work, "%" PRId64 " events were lost while the program ran", result->dropped),
			0);
	if (result->skipped > 0)
		write_diagnostic(
			c, SPOOL_WARNING, SOURCE_ANALYSIS,
			arena_format(&c->work, "%" PRId64 " events made no sense and were left out", result->skipped),
			0);
}

static void write_system(struct convert *c, const char *name, int number, const char *value)
{
	struct profile *p = &c->profile;
	profile_begin(p, PROFILE_SYSTEM);
	profile_int(p, THIS_VM);
	write_text(p, "gapline");
	write_text(p, name);
	profile_int(p, number);
	write_text(p, value);
	profile_end(p);
}

static void write_times(struct convert *c)
{
	const struct convert_request *request = c->request;
	struct profile *p = &c->profile;
	char text[64] = "";
	time_t seconds = (time_t)(request->start_utc_ns / 1000000000);
	struct tm utc;
	if (gmtime_r(&seconds, &utc))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
	profile_begin(p, PROFILE_START_TIME);
	profile_int(p, request->start_utc_ns);
	write_text(p, text);
	profile_null(p, 1); /* local time would tell where the machine stands */
	profile_end(p);
	int64_t duration = request->stop_ns > request->start_ns ? request->stop_ns - request->start_ns : 0;
	PROFILE_ROW(p, PROFILE_ANALYSIS, THIS_VM, duration, 0, duration);
}

void convert_write_info(struct convert *c)
{
	struct profile *p = &c->profile;
	write_times(c);
	write_gpus(c);
	for (uint32_t i = 0; i < c->pids.n; i++)
		if (c->processes[i].active)
			write_process(c, &c->processes[i]);
	if (*c->driver)
		write_system(c, "NvDriverVersion", DRIVER_VERSION, c->driver);
	if (c->cuda_driver)
		write_system(c, "CudaDriverVersion", CUDA_DRIVER_VERSION,
		             arena_format(&c->work, "%" PRIu32, c->cuda_driver));
	write_diagnostics(c);
	if (c->graphs)
		write_pair(p, PROFILE_CAPTURE_DATA, "CUDA_GRAPH_TRACE_OPTIONS:MODE", c->graphs == 2 ? "Node" : "Graph");
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_PRODUCT_NAME", "gapline");
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_PRODUCT_VERSION", c->request->version);
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_SCHEMA_VERSION", SCHEMA);
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_SCHEMA_VERSION_MAJOR", "3");
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_SCHEMA_VERSION_MINOR", "20");
	write_pair(p, PROFILE_EXPORT_DATA, "EXPORT_SCHEMA_VERSION_MICRO", "3");
}
