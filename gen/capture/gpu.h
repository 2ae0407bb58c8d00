/* NVIDIA's management library, loaded at run time: a machine without a driver has none. Its header comes with the CUDA
 * toolkit or not at all, so the few functions that gapline asks are declared here, as NVIDIA documents them
 * (https://docs.nvidia.com/deploy/nvml-api). */
#ifndef GAPLINE_CAPTURE_GPU_H
#define GAPLINE_CAPTURE_GPU_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* What the GPUs did beside the program: clocks, power, temperature and why clocks were held back, sampled by gapline
 * itself while a target runs, through NVML (loaded at run time). On a machine without it there are no samples, and the
 * profile says so. */

enum { GPU_STATE_GPUS_MAX = 64 };

struct gpu_sample {
	int64_t time;                                                  /* CLOCK_MONOTONIC ns */
	uint32_t gpu;                                                  /* index into gpus */
	int sm_mhz, memory_mhz, power_mw, temperature_c, busy_percent; /* −1: not known */
	bool has_throttle;                                             /* the reasons are known */
	uint64_t throttle;                                             /* NVML's bits (nvmlClocksEventReasons) */
};

struct gpu_identity {
	char name[96];
	char uuid[48];  /* "GPU-xxxxxxxx-…" */
	char bus[32];   /* "00000000:18:00.0", "" unknown */
	int max_sm_mhz; /* 0 unknown */
	int others;     /* processes that used it when the state was opened, before the program began: somebody
	                 * else's. −1: not known */
};

struct gpu_state {
	const char *source; /* "NVML" or "" */
	char driver[32];    /* "580.159.04", "" unknown */
	struct gpu_identity *gpus;
	uint32_t n_gpus;
	struct gpu_sample *samples;
	size_t n, room;
	struct arena *arena;
	struct gpu_state_source *open; /* NULL after gpu_state_close */
};

/* Never fails: without the library, or GPUs, `source` is "" and gpu_state_sample does nothing. `driver_library`: the
 * NVML library to load, NULL for the system's. */
void gpu_state_open(struct gpu_state *state, const char *driver_library, struct arena *arena);

/* One sample of every GPU, now. Takes milliseconds; call it about once a second. */
void gpu_state_sample(struct gpu_state *state);

void gpu_state_close(struct gpu_state *state);

/* Copies what fits; control characters and what is no ASCII become '?'. */
void gpu_text(char *to, size_t room, const char *from, size_t n);

/* What the GPUs used beside a timed run: NVML's counters of total energy, sampled by gapline every 20 ms. They move
 * about every 100 ms, so what lies between two of their values is interpolated, and less than ENERGY_LEAST_NS says
 * nothing: on an H200 windows of 1, 2 and 5 s spread by 10, 5 and 0.7 %.
 *
 * A look may take the driver 7 ms, in which a program that allocates waits for it: every 20 ms, that made one 26 %
 * slower. So looks take at most half a percent of the time, and a window has to be ten times as long as lies between
 * them. */

#define ENERGY_LEAST_NS 5000000000

struct energy;

/* Begins to sample; before the program starts, so that other processes on a GPU are known. NULL: there is no NVML.
 * `library`: NULL for the system's. */
struct energy *energy_begin(const char *library, struct arena *arena);

/* Ends sampling: after a program of `ran` ns, once the counters had time to move for the last of it, unless that is too
 * little to say anything of. */
void energy_end(struct energy *energy, int64_t ran);

/* Of every GPU "UUID=MILLIJOULES", with blanks between, from one instant of CLOCK_MONOTONIC to another; a negative
 * number is one of trace.h's ENERGY_…, and says why it is not known. After energy_end. NULL for NULL. */
const char *energy_text(const struct energy *energy, int64_t from, int64_t to, struct arena *arena);

/* A counter's value at `time`, between the instants at which it was first seen to have moved, n >= 1 of them. */
struct energy_value {
	int64_t time;
	double mj;
};
double energy_at(const struct energy_value *list, size_t n, int64_t time);

#endif
