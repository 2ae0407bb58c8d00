/* Where samples of the GPUs come from; inside gen/capture only. gpu_state.c tries them in turn. */
#ifndef GAPLINE_CAPTURE_GPU_SOURCE_H
#define GAPLINE_CAPTURE_GPU_SOURCE_H

#include "capture/gpu_state.h"

enum { GPU_STATE_GPUS_MAX = 64 };

struct gpu_state_source {
	void (*sample)(struct gpu_state *state);
	void (*close)(struct gpu_state *state);
};

/* Each fills source, driver, gpus and `open`, and returns true; or changes nothing that matters and returns false.
 * `open` is a struct of the source's own that begins with struct gpu_state_source. */
bool gpu_nvml_open(struct gpu_state *state, const char *library); /* gpu_nvml.c */
bool gpu_smi_open(struct gpu_state *state);                       /* gpu_smi.c */

/* A sample of which nothing is known yet. */
struct gpu_sample gpu_sample_at(int64_t time, uint32_t gpu);

/* Keeps a sample; one that says nothing at all is left out. */
void gpu_state_add(struct gpu_state *state, const struct gpu_sample *sample);

/* Copies what fits; control characters and what is no ASCII become '?'. */
void gpu_text(char *to, size_t room, const char *from, size_t n);

/* CLOCK_MONOTONIC, ns. */
int64_t gpu_clock(void);

#endif
