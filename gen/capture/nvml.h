/* NVIDIA's management library, loaded at run time: a machine without a driver has none. Its header comes with the CUDA
 * toolkit or not at all, so the few functions that gapline asks are declared here, as NVIDIA documents them
 * (https://docs.nvidia.com/deploy/nvml-api). */
#ifndef GAPLINE_CAPTURE_NVML_H
#define GAPLINE_CAPTURE_NVML_H

#include <stdbool.h>

typedef struct nvml_device *nvml_device; /* owned by the library */

enum {
	NVML_OK = 0,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_VERSION_MISMATCH = 18
};                                                                        /* nvmlReturn_t */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };                        /* nvmlClockType_t */
enum { NVML_TEMPERATURE_GPU = 0 };                                        /* nvmlTemperatureSensors_t */
enum { NVML_COMPUTE_PROHIBITED = 2, NVML_COMPUTE_EXCLUSIVE_PROCESS = 3 }; /* nvmlComputeMode_t */

struct nvml_utilization {
	unsigned gpu, memory; /* percent of the last sampling period */
};

struct nvml_pci { /* nvmlPciInfo_t */
	char old_bus[16];
	unsigned domain, number, device, id, subsystem;
	char bus[32];
};

/* Functions that the library lacks are NULL, except the first six, without which it is not used. */
struct nvml {
	void *library;
	int (*init)(void);
	int (*shutdown)(void);
	int (*device_count)(unsigned *count);
	int (*device_by_index)(unsigned index, nvml_device *device);
	int (*device_name)(nvml_device device, char *name, unsigned room);
	int (*device_uuid)(nvml_device device, char *uuid, unsigned room);
	int (*device_pci)(nvml_device device, struct nvml_pci *pci);
	int (*driver_version)(char *version, unsigned room);
	int (*clock)(nvml_device device, int clock, unsigned *mhz);
	int (*max_clock)(nvml_device device, int clock, unsigned *mhz);
	int (*power)(nvml_device device, unsigned *mw);
	int (*energy)(nvml_device device, unsigned long long *mj); /* since the driver was loaded */
	int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
	int (*utilization)(nvml_device device, struct nvml_utilization *utilization);
	int (*throttle)(nvml_device device, unsigned long long *reasons);
	int (*mig_mode)(nvml_device device, unsigned *current, unsigned *pending);
	int (*compute_mode)(nvml_device device, int *mode);
	/* processes: room for none gives NVML_OK where there are none, else NVML_INSUFFICIENT_SIZE and their number */
	int (*processes)(nvml_device device, unsigned *count, void *list);
	const char *(*error)(int code);
};

enum nvml_result { NVML_LOADED, NVML_NO_LIBRARY, NVML_NOT_USABLE };

/* Loads and starts the library at `path`, NULL: the system's. NVML_NOT_USABLE: it is there and refuses, and `code` is
 * its reason, 0 when functions are missing. Call nvml_close only after NVML_LOADED. */
enum nvml_result nvml_open(struct nvml *nvml, const char *path, int *code);
void nvml_close(struct nvml *nvml);

#endif
