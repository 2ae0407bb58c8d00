/* What the GPUs did beside the program: clocks, power, temperature and why clocks were held back, sampled by gapline
 * itself while a target runs, through NVML (loaded at run time). On a machine without it there are no samples, and the
 * profile says so. */
#ifndef GAPLINE_CAPTURE_GPU_STATE_H
#define GAPLINE_CAPTURE_GPU_STATE_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
