#include "capture/records.h"

#include <stdio.h>

enum { LAYOUTS = 4, RECORD_BYTES_MAX = 65536 };

struct kind {
	const char *name;
	uint32_t sizes[LAYOUTS];
};

static const struct kind *kind_of(uint32_t kind)
{
	static const struct kind kinds[RECORD_KINDS] = {
		[RECORD_MEMCPY] = {"copies", {MEMCPY5_BYTES, MEMCPY6_BYTES}},
		[RECORD_MEMSET] = {"memsets", {MEMSET3_BYTES, MEMSET4_BYTES}},
		[RECORD_KERNEL] = {"kernels", {KERNEL7_BYTES, KERNEL8_BYTES, KERNEL9_BYTES, KERNEL10_BYTES}},
		[RECORD_DRIVER] = {"driver calls", {CALL_BYTES}},
		[RECORD_RUNTIME] = {"runtime calls", {CALL_BYTES}},
		[RECORD_CONCURRENT_KERNEL] = {"kernels", {KERNEL7_BYTES, KERNEL8_BYTES, KERNEL9_BYTES, KERNEL10_BYTES}},
		[RECORD_OVERHEAD] = {"overheads", {OVERHEAD1_BYTES, OVERHEAD2_BYTES, OVERHEAD3_BYTES}},
		[RECORD_MEMCPY2] = {"copies between devices", {PEER_COPY3_BYTES, PEER_COPY4_BYTES}},
		[RECORD_SYNCHRONIZATION] = {"synchronisations", {SYNC1_BYTES, SYNC2_BYTES}},
		[RECORD_MEMORY] = {"allocations", {MEMORY2_BYTES, MEMORY3_BYTES, MEMORY4_BYTES}},
		[RECORD_GRAPH_TRACE] = {"graph launches", {GRAPH1_BYTES, GRAPH2_BYTES}},
		[RECORD_DEVICE_GRAPH_TRACE] = {"graphs launched by kernels", {DEVICE_GRAPH_BYTES}},
	};
	return kind < RECORD_KINDS && kinds[kind].name ? &kinds[kind] : NULL;
}

const char *record_kind_name(uint32_t kind)
{
	const struct kind *k = kind_of(kind);
	return k ? k->name : NULL;
}

static bool size_known(const struct kind *kind, uint32_t size)
{
	for (int i = 0; i < LAYOUTS && kind->sizes[i]; i++)
		if (kind->sizes[i] == size)
			return true;
	return false;
}

int record_sizes_add(struct record_sizes *sizes, const struct spool_record_size *stated, size_t n, const char *path,
                     const char *cupti, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct kind *kind = kind_of(stated[i].kind);
		if (kind && !size_known(kind, stated[i].size))
			return err_set(err,
			               "%s: CUPTI %s wrote its records of %s (kind %u) in %u bytes each, a layout that "
			               "this gapline does not know; use a newer gapline, or capture with --collector "
			               "nsys",
			               path, *cupti ? cupti : "of an unknown version", kind->name, stated[i].kind,
			               stated[i].size);
		if (stated[i].kind < RECORD_KINDS && stated[i].size <= RECORD_BYTES_MAX)
			sizes->bytes[stated[i].kind] = stated[i].size;
	}
	return 0;
}

void record_cupti_version(uint32_t api_version, char text[32])
{
	/* cupti_version.h */
	static const struct {
		uint32_t number;
		const char *release;
	} old[] = {{17, "11.6"}, {18, "11.8"}, {19, "12.0"}, {20, "12.2"}, {21, "12.3"},  {22, "12.4"},
	           {23, "12.5"}, {24, "12.6"}, {26, "12.8"}, {27, "12.9"}, {28, "12.9.1"}};
	if (api_version >= 10000) {
		snprintf(text, 32, "%u.%u.%u", api_version / 10000, api_version / 100 % 100, api_version % 100);
		return;
	}
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		if (old[i].number == api_version) {
			snprintf(text, 32, "%s", old[i].release);
			return;
		}
	}
	snprintf(text, 32, "API %u", api_version);
}
