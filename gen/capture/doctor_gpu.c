/* The driver and the GPUs behind it. */
#include "capture/doctor.h"
#include "capture/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 16, CUDA_NO_DEVICE = 100, CUDA_OTHER_DRIVER = 803 }; /* CUresult */

/* The few functions of the CUDA driver that are asked; its header is not always there (CUDA driver API). */
struct cuda {
	void *library;
	int (*init)(unsigned flags);
	int (*version)(int *version);
	int (*count)(int *count);
	int (*error)(int code, const char **text);
};

static void find(void *library, void *function, const char *name)
{
	void *symbol = dlsym(library, name);
	memcpy(function, &symbol, sizeof symbol);
}

static bool cuda_load(struct cuda *cuda, const char *path)
{
	*cuda = (struct cuda){.library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
	if (!cuda->library)
		return false;
	find(cuda->library, &cuda->init, "cuInit");
	find(cuda->library, &cuda->version, "cuDriverGetVersion");
	find(cuda->library, &cuda->count, "cuDeviceGetCount");
	find(cuda->library, &cuda->error, "cuGetErrorString");
	return cuda->init && cuda->version && cuda->count;
}

/* Why CUDA cannot be used, in the driver's words. */
static void say_refusal(struct doctor *d, const struct cuda *cuda, int code)
{
	const char *text = NULL, *visible = getenv("CUDA_VISIBLE_DEVICES");
	if (cuda->error && cuda->error(code, &text) != 0)
		text = NULL;
	const char *why =
		arena_format(d->arena, "CUDA cannot be used: %s (error %d)", text ? text : "no reason given", code);
	const char *advice = "run nvidia-smi, which says more; after an update of the driver, reboot";
	if (code == CUDA_NO_DEVICE && visible)
		advice = arena_format(d->arena, "CUDA_VISIBLE_DEVICES is '%s': unset it, or name a GPU that is there",
		                      visible);
	else if (code == CUDA_NO_DEVICE)
		advice = *d->container ? "start the container with its GPUs, see above"
		                       : "go to a machine with an NVIDIA GPU";
	else if (code == CUDA_OTHER_DRIVER)
		advice = "libcuda.so.1 and the kernel's driver are of different versions: reboot after an update; in a "
			 "container, remove the CUDA compatibility libraries";
	doctor_say(d, DOCTOR_FIX, "driver", why, advice);
}

void doctor_driver(struct doctor *d, const struct doctor_places *places)
{
	struct cuda cuda;
	int version = 0, count = 0;
	if (!cuda_load(&cuda, places->cuda)) {
		doctor_say(d, DOCTOR_FIX, "driver", "libcuda.so.1 cannot be loaded: no NVIDIA driver is installed here",
		           *d->container
		                   ? "start the container with its GPUs; the driver comes from the host"
		                   : "install the NVIDIA driver, or go to a machine with a GPU (reports need none)");
		return;
	}
	int code = cuda.init(0);
	code = code ? code : cuda.count(&count);
	code = code ? code : count < 1 ? CUDA_NO_DEVICE : cuda.version(&version);
	if (code) {
		say_refusal(d, &cuda, code);
		return;
	}
	d->cuda = version;
	doctor_say(d, DOCTOR_OK, "driver",
	           arena_format(d->arena, "for CUDA up to %d.%d, %d %s for CUDA programs", version / 1000,
	                        version % 1000 / 10, count, count == 1 ? "GPU" : "GPUs"),
	           "");
	/* The library stays loaded: a driver that has been started is not made to be unloaded. */
}

static void say_gpu(struct doctor *d, const struct nvml *nvml, unsigned index)
{
	char name[128] = "";
	int mode = 0;
	unsigned mig = 0, pending = 0;
	nvml_device device;
	const char *what = arena_format(d->arena, "GPU %u", index);
	int code = nvml->device_by_index(index, &device);
	if (code != NVML_OK) {
		doctor_say(d, DOCTOR_NOTE, what,
		           arena_format(d->arena, "cannot be opened: %s",
		                        nvml->error ? nvml->error(code) : "no reason given"),
		           "run nvidia-smi, which says more");
		return;
	}
	if (nvml->device_name(device, name, sizeof name - 1) != NVML_OK)
		strcpy(name, "of unknown name");
	if (nvml->mig_mode && nvml->mig_mode(device, &mig, &pending) != NVML_OK)
		mig = 0;
	if (nvml->compute_mode && nvml->compute_mode(device, &mode) != NVML_OK)
		mode = 0;
	const char *text = arena_format(d->arena, "%s%s", name, mig ? ", divided into parts (MIG)" : "");
	if (mode == NVML_COMPUTE_PROHIBITED)
		doctor_say(d, DOCTOR_NOTE, what, arena_format(d->arena, "%s, prohibited for compute", text),
		           arena_format(d->arena, "nvidia-smi --id=%u --compute-mode=DEFAULT (as root)", index));
	else if (mode == NVML_COMPUTE_EXCLUSIVE_PROCESS)
		doctor_say(d, DOCTOR_NOTE, what, arena_format(d->arena, "%s, for one process at a time", text),
		           arena_format(d->arena,
		                        "programs with several processes on it fail; nvidia-smi --id=%u "
		                        "--compute-mode=DEFAULT (as root)",
		                        index));
	else
		doctor_say(d, DOCTOR_OK, what, text, "");
}

void doctor_gpus(struct doctor *d, const struct doctor_places *places)
{
	struct nvml nvml;
	struct gpu_state state;
	int code;
	unsigned count = 0;
	enum nvml_result result = nvml_open(&nvml, places->nvml, &code);
	if (result == NVML_LOADED) {
		if (nvml.device_count(&count) != NVML_OK)
			count = 0;
		for (unsigned i = 0; i < count && i < LISTED; i++)
			say_gpu(d, &nvml, i);
		if (count > LISTED)
			doctor_say(d, DOCTOR_OK, "GPUs", arena_format(d->arena, "and %u more", count - LISTED), "");
		nvml_close(&nvml);
	}
	if (!d->cuda && !count)
		return;
	gpu_state_open(&state, places->nvml, d->arena);
	gpu_state_close(&state);
	if (*state.source)
		doctor_say(d, DOCTOR_OK, "clocks",
		           arena_format(d->arena, "sampled through %s%s%s", state.source,
		                        *state.driver ? ", driver " : "", state.driver),
		           "");
	else
		doctor_say(d, DOCTOR_NOTE, "clocks",
		           code == NVML_VERSION_MISMATCH
		                   ? "not sampled: libnvidia-ml.so.1 and the kernel's driver are of different versions"
		                   : "not sampled: libnvidia-ml.so.1 cannot be used",
		           code == NVML_VERSION_MISMATCH ? "reboot"
		           : *d->container ? "start the container with --env NVIDIA_DRIVER_CAPABILITIES=compute,utility"
		                           : "install nvidia-utils, which belongs to the driver");
}
