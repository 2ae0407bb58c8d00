#include "cupti_parts.h"

#include "inject/spool_events.h"
#include "py.h"
#include "spool_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KINDS = 64, CALLS = 4096, LONGEST_NAME = 64 << 10, NAME_PIECE = 256 };

static uint32_t sizes[KINDS];
static uint8_t called[3][CALLS / 8]; /* by callback domain: names that are in the file */
static uint64_t n_buffers;

/* ---- kernel names ---- */

/* A record points to its kernel's name. After a module is unloaded another name may get the same place, so a known
 * pointer is compared again once in every buffer. Where that is seen once, it may have been so within a buffer, too. */
struct kernel {
	const char *pointer; /* NULL: unused */
	char *name;
	uint64_t checked; /* number of the buffer */
};

static struct kernel *kernels;
static size_t kernels_room, n_kernels;

static struct kernel *kernel_slot(struct kernel *table, size_t room, const char *pointer)
{
	size_t i = (size_t)((uintptr_t)pointer >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (room - 1);
	while (table[i].pointer && table[i].pointer != pointer)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static int kernels_grow(void)
{
	size_t room = kernels_room ? 2 * kernels_room : 256;
	struct kernel *table = calloc(room, sizeof *table);
	if (!table)
		return -1;
	for (size_t i = 0; i < kernels_room; i++)
		if (kernels[i].pointer)
			*kernel_slot(table, room, kernels[i].pointer) = kernels[i];
	free(kernels);
	kernels = table;
	kernels_room = room;
	return 0;
}

/* The name at `pointer` as text that lasts until the next call, NULL if there is none. The memory is not ours: the
 * kernel copies it, so that a pointer to what was unloaded meanwhile costs a name and not the program. */
static const char *kernel_read(const char *pointer)
{
	static char text[LONGEST_NAME];
	static bool refused; /* some containers do */
	size_t n = 0;
	while (!refused && n < sizeof text) {
		const char *from = pointer + n;
		size_t piece = NAME_PIECE - ((uintptr_t)from & (NAME_PIECE - 1)); /* never across a page */
		if (piece > sizeof text - n)
			piece = sizeof text - n;
		struct iovec to = {text + n, piece}, source = {(void *)from, piece};
		ssize_t got = process_vm_readv(getpid(), &to, 1, &source, 1, 0);
		if (got <= 0) {
			refused = errno == EPERM || errno == ENOSYS;
			break;
		}
		if (memchr(text + n, 0, (size_t)got))
			return text;
		n += (size_t)got;
	}
	if (refused)
		snprintf(text, sizeof text, "%s", pointer);
	return refused ? text : NULL;
}

/* Once: as a program that makes a plan of cuFFT for every call does. */
static void say_names_change(void)
{
	static bool said;
	if (!said)
		spool_message(SPOOL_WARNING, SPOOL_CODE_OTHER,
		              "The program unloads modules while it runs, so some of its kernels may have the names of "
		              "others: keep what it loads (a plan of cuFFT, say)");
	said = true;
}

static void kernel_seen(const char *pointer)
{
	if (!pointer || (2 * n_kernels >= kernels_room && kernels_grow()))
		return;
	struct kernel *k = kernel_slot(kernels, kernels_room, pointer);
	if (k->pointer && k->checked == n_buffers)
		return;
	const char *text = kernel_read(pointer);
	if (!text)
		return;
	if (k->name && !strcmp(k->name, text)) {
		k->checked = n_buffers;
		return;
	}
	char *name = strdup(text);
	if (!name)
		return;
	if (k->name)
		say_names_change();
	n_kernels += !k->pointer;
	free(k->name);
	*k = (struct kernel){pointer, name, n_buffers};
	uint64_t value = (uintptr_t)pointer;
	spool_put(SPOOL_KERNEL_NAME, 0, &value, sizeof value, name, strlen(name));
}

/* ---- devices ---- */

static uint32_t device_attribute(uint32_t ordinal, CUdevice_attribute attribute)
{
	CUresult (*get)(int *, CUdevice_attribute, CUdevice) =
		(CUresult(*)(int *, CUdevice_attribute, CUdevice))cupti_driver_function("cuDeviceGetAttribute");
	int value = 0;
	return get && get(&value, attribute, (CUdevice)ordinal) == CUDA_SUCCESS ? (uint32_t)value : 0;
}

/* The record's layout grew at its end only; what is read here is there since CUDA 11. */
static void device_put(const CUpti_ActivityDevice4 *record)
{
	static uint64_t known;
	if (record->id >= 64 || known >> record->id & 1)
		return;
	known |= UINT64_C(1) << record->id;
	struct spool_device d = {.ordinal = record->id,
	                         .sm_count = record->numMultiprocessors,
	                         .memory_bytes = record->globalMemorySize,
	                         .memory_bandwidth = record->globalMemoryBandwidth * 1000,
	                         .clock_hz = record->coreClockRate * UINT64_C(1000),
	                         .compute_major = record->computeCapabilityMajor,
	                         .compute_minor = record->computeCapabilityMinor,
	                         .pci_domain = device_attribute(record->id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
	                         .pci_bus = device_attribute(record->id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
	                         .pci_device = device_attribute(record->id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
	                         .name_bytes = record->name ? (uint32_t)strnlen(record->name, 256) : 0};
	memcpy(d.uuid, &record->uuid, sizeof d.uuid);
	spool_put(SPOOL_DEVICE, 0, &d, sizeof d, record->name, d.name_bytes);
}

/* ---- API calls ---- */

static void call_seen(const struct cupti_api *api, const CUpti_ActivityAPI *record)
{
	CUpti_CallbackDomain domain =
		record->kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
	uint8_t *byte = &called[domain][record->cbid % CALLS / 8], bit = (uint8_t)(1 << record->cbid % 8);
	spool_thread_seen(record->threadId);
	sampler_thread_seen(record->threadId);
	if (record->cbid >= CALLS || *byte & bit)
		return;
	*byte |= bit;
	const char *name = NULL;
	if (api->cuptiGetCallbackName(domain, record->cbid, &name) != CUPTI_SUCCESS || !name)
		return;
	char text[256] = {0}; /* with its padding */
	struct spool_callback callback = {domain, record->cbid, 0, (uint32_t)strnlen(name, sizeof text - 8)};
	memcpy(text, name, callback.text_bytes);
	callback.bytes = (uint32_t)sizeof callback + (callback.text_bytes + 7) / 8 * 8;
	spool_put(SPOOL_CALLBACK_NAMES, 0, &callback, sizeof callback, text, callback.bytes - sizeof callback);
}

/* ---- buffers ---- */

static void size_seen(uint32_t kind, size_t size)
{
	if (kind >= KINDS || sizes[kind] == size)
		return;
	sizes[kind] = (uint32_t)size;
	struct spool_record_size said = {kind, (uint32_t)size};
	spool_put(SPOOL_RECORD_SIZES, 0, &said, sizeof said, NULL, 0);
}

static void record_seen(const struct cupti_api *api, const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		kernel_seen(((const CUpti_ActivityKernel9 *)record)->name);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		call_seen(api, (const CUpti_ActivityAPI *)record);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		device_put((const CUpti_ActivityDevice4 *)record);
		break;
	default:
		break;
	}
}

void records_put(const struct cupti_api *api, uint8_t *buffer, size_t valid)
{
	CUpti_Activity *record = NULL, *before = NULL;
	bool wanted = false;
	n_buffers++;
	while (api->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (before)
			size_seen(before->kind, (size_t)((uint8_t *)record - (uint8_t *)before));
		record_seen(api, record);
		wanted = window_wants(record) || wanted;
		before = record;
	}
	/* The last one ends where the buffer does; its size is news only if there was none of its kind before it. */
	if (before && (uint32_t)before->kind < KINDS && !sizes[before->kind])
		size_seen(before->kind, (size_t)(buffer + valid - (uint8_t *)before));
	if (wanted)
		spool_put(SPOOL_BUFFER, 0, buffer, valid, NULL, 0);
}

/* One buffer holds what a thread launches in about 15 ms at full speed (4000 kernels with their calls). CUPTI takes one
 * for every thread and keeps it until the second flush after the thread's end, so a program that starts a thread for
 * every task needs thousands of them, nearly empty: only what is filled takes memory. Long before they run out, the
 * background thread is asked to flush. */
enum { BUFFER_BYTES = 1 << 20, HEAD_BYTES = 64, READY = 3, MOST_READY = 32, MOST = 4096, MANY = 64 };
static const size_t MOST_FILLED = (size_t)256 << 20;

struct buffer {
	struct buffer *next;
	size_t valid;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for a few instructions only */
static struct buffer *ready, *done, **done_end = &done;
static unsigned n_ready, n_all, n_taken; /* n_taken: since the last flush */
static size_t filled;                    /* bytes in `done` */
static _Atomic size_t refused;

static uint8_t *buffer_bytes(struct buffer *b)
{
	return (uint8_t *)b + HEAD_BYTES;
}

static struct buffer *buffer_new(int flags)
{
	void *p = mmap(NULL, HEAD_BYTES + BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
	               0);
	return p == MAP_FAILED ? NULL : p;
}

void CUPTIAPI buffers_request(uint8_t **buffer, size_t *size, size_t *most_records)
{
	struct buffer *b;
	bool make = false, many;
	pthread_mutex_lock(&lock);
	b = filled < MOST_FILLED ? ready : NULL;
	if (b) {
		ready = b->next;
		n_ready--;
	} else if (n_all < MOST && filled < MOST_FILLED) {
		n_all++;
		make = true;
	}
	many = ++n_taken % MANY == 0;
	pthread_mutex_unlock(&lock);
	if (many)
		spool_hurry();
	if (make) {
		b = buffer_new(0);
		if (!b) {
			pthread_mutex_lock(&lock);
			n_all--;
			pthread_mutex_unlock(&lock);
		}
	}
	if (!b)
		atomic_fetch_add(&refused, 1);
	*buffer = b ? buffer_bytes(b) : NULL;
	*size = b ? BUFFER_BYTES : 0;
	*most_records = 0;
}

void CUPTIAPI buffers_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	if (!buffer)
		return;
	struct buffer *b = (struct buffer *)(buffer - HEAD_BYTES);
	b->next = NULL;
	b->valid = valid;
	pthread_mutex_lock(&lock);
	*done_end = b;
	done_end = &b->next;
	filled += valid;
	pthread_mutex_unlock(&lock);
}

static void give(struct buffer *b)
{
	bool keep;
	pthread_mutex_lock(&lock);
	keep = n_ready < MOST_READY;
	if (keep) {
		b->next = ready;
		ready = b;
		n_ready++;
	} else {
		n_all--;
	}
	pthread_mutex_unlock(&lock);
	if (!keep)
		munmap(b, HEAD_BYTES + BUFFER_BYTES);
}

void buffers_drain(void (*write)(uint8_t *buffer, size_t valid))
{
	pthread_mutex_lock(&lock);
	struct buffer *b = done;
	n_taken = 0;
	done = NULL;
	done_end = &done;
	pthread_mutex_unlock(&lock);
	while (b) {
		struct buffer *next = b->next;
		size_t valid = b->valid;
		if (b->valid)
			write(buffer_bytes(b), b->valid);
		memset(buffer_bytes(b), 0, b->valid);
		give(b);
		pthread_mutex_lock(&lock);
		filled -= valid;
		pthread_mutex_unlock(&lock);
		b = next;
	}
}

bool buffers_are_many(void)
{
	pthread_mutex_lock(&lock);
	bool many = n_all > n_ready + MANY;
	pthread_mutex_unlock(&lock);
	return many;
}

size_t buffers_refused(void)
{
	return atomic_exchange(&refused, 0);
}

void buffers_prepare(void)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		bool enough = n_ready >= READY || n_all >= MOST;
		if (!enough)
			n_all++;
		pthread_mutex_unlock(&lock);
		if (enough)
			return;
		struct buffer *b = buffer_new(MAP_POPULATE);
		if (b) {
			give(b);
			continue;
		}
		pthread_mutex_lock(&lock);
		n_all--;
		pthread_mutex_unlock(&lock);
		return;
	}
}
