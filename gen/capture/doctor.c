#include "capture/doctor.h"

#include "capture/collector.h"
#include "capture/find.h"
#include "capture/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void doctor_say(struct doctor *d, enum doctor_level level, const char *what, const char *text,
                       const char *advice)
{
	d->lines = arena_grow(d->arena, d->lines, d->n, d->n + 1, sizeof *d->lines);
	d->lines[d->n++] = (struct doctor_line){level, what, text, advice};
}

/* ---- where gapline runs: the container around it, and what it may do there ---- */

static const char *place(const struct doctor *d, const struct doctor_places *places, const char *path)
{
	return places->root ? arena_format(d->arena, "%s%s", places->root, path) : path;
}

static bool exists(const struct doctor *d, const struct doctor_places *places, const char *path)
{
	return access(place(d, places, path), F_OK) == 0;
}

/* The beginning of a small file; "" if it cannot be read. */
static const char *contents(const struct doctor *d, const struct doctor_places *places, const char *path)
{
	enum { MOST = 16 * 1024 };
	char *text = arena_alloc(d->arena, MOST, 1);
	FILE *file = fopen(place(d, places, path), "re");
	if (!file)
		return "";
	text[fread(text, 1, MOST - 1, file)] = 0;
	fclose(file);
	return text;
}

static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "";
}

/* Which kind of container this is, by the marks that each kind leaves; "" for none. */
static const char *container_kind(const struct doctor *d, const struct doctor_places *places)
{
	const char *groups = contents(d, places, "/proc/1/cgroup"), *named = environment("container");
	if (*environment("APPTAINER_NAME") || *environment("SINGULARITY_NAME"))
		return "Apptainer";
	if (*environment("KUBERNETES_SERVICE_HOST") || strstr(groups, "kubepods"))
		return "Kubernetes";
	if (exists(d, places, "/run/.containerenv") || strcmp(named, "podman") == 0)
		return "Podman";
	if (exists(d, places, "/.dockerenv") || strstr(groups, "docker"))
		return "Docker";
	if (strstr(groups, "containerd") || strstr(groups, "/lxc"))
		return "a container";
	return named;
}

/* How a container of this kind gets its GPUs. */
static const char *with_gpus(const struct doctor *d)
{
	if (strcmp(d->container, "Apptainer") == 0)
		return "start it with --nv";
	if (strcmp(d->container, "Kubernetes") == 0)
		return "ask for one in the pod: resources.limits, nvidia.com/gpu: 1";
	if (strcmp(d->container, "Podman") == 0)
		return "start it with --device nvidia.com/gpu=all";
	return "start it with --gpus all (the host needs the NVIDIA Container Toolkit)";
}

static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
	return false;
}

static void doctor_container(struct doctor *d, const struct doctor_places *places)
{
	const char *visible = environment("NVIDIA_VISIBLE_DEVICES");
	const char *abilities = environment("NVIDIA_DRIVER_CAPABILITIES");
	bool some = *abilities && !lists(abilities, "all"),
	     hidden = !strcmp(visible, "void") || !strcmp(visible, "none");
	d->container = container_kind(d, places);
	if (!*d->container)
		return;
	if (hidden)
		doctor_say(d, DOCTOR_FIX, "container",
		           arena_format(d->arena, "%s, with NVIDIA_VISIBLE_DEVICES=%s: no GPU", d->container, visible),
		           with_gpus(d));
	else if (!exists(d, places, "/dev/nvidiactl") && !exists(d, places, "/dev/dxg"))
		doctor_say(
			d, DOCTOR_FIX, "container",
			arena_format(d->arena, "%s, started without a GPU: there is no /dev/nvidiactl", d->container),
			with_gpus(d));
	else if (some && !lists(abilities, "compute"))
		doctor_say(d, DOCTOR_FIX, "container",
		           arena_format(d->arena, "%s, with NVIDIA_DRIVER_CAPABILITIES=%s: no CUDA", d->container,
		                        abilities),
		           "start it with --env NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	else if (some && !lists(abilities, "utility"))
		doctor_say(d, DOCTOR_NOTE, "container",
		           arena_format(d->arena, "%s, with NVIDIA_DRIVER_CAPABILITIES=%s: no clocks are sampled",
		                        d->container, abilities),
		           "start it with --env NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	else
		doctor_say(d, DOCTOR_OK, "container", d->container, "");
}

static void doctor_permissions(struct doctor *d, const struct doctor_places *places)
{
	if (access(".", W_OK | X_OK) == 0)
		doctor_say(d, DOCTOR_OK, "folder", "this one can be written to", "");
	else
		doctor_say(d, DOCTOR_NOTE, "folder",
		           arena_format(d->arena, "this one cannot be written to: %s", strerror(errno)),
		           *d->container ? "start the container with --user \"$(id -u):$(id -g)\", or name another "
		                           "folder with -o"
		                         : "go to another one, or name it with -o");
	if (strstr(contents(d, places, "/proc/driver/nvidia/params"), "RmProfilingAdminOnly: 1"))
		doctor_say(d, DOCTOR_OK, "counters",
		           "performance counters are for administrators only, and gapline reads none", "");
}

/* ---- the driver and the GPUs behind it ---- */

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

static void doctor_driver(struct doctor *d, const struct doctor_places *places)
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

static void doctor_gpus(struct doctor *d, const struct doctor_places *places)
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

/* ---- the two collectors and what each needs: gapline's libraries and a CUPTI, or nsys ---- */

enum { ASK_MS = 30000 };

/* ---- CUPTI ---- */

/* cuptiGetVersion counted one by one up to CUDA 12, and has been CUDA's own version times ten since (cupti_version.h).
 */
static int cuda_of_cupti(uint32_t version)
{
	return version >= 100000 ? (int)(version / 10000) : version >= 18 ? 12 : 11;
}

static const char *cupti_text(struct doctor *d, const char *path, uint32_t version)
{
	if (version >= 100000)
		return arena_format(d->arena, "%s, version %u.%u.%u", path, version / 10000, version % 10000 / 100,
		                    version % 100);
	return arena_format(d->arena, "%s, interface %u (CUDA %d)", path, version, cuda_of_cupti(version));
}

/* Whether the CUPTI that a program would get works with this driver. */
static bool check_cupti(struct doctor *d)
{
	static const char how[] = "install the package cuda-cupti of your CUDA version, or pip install "
				  "nvidia-cuda-cupti; GAPLINE_CUPTI names one that lies elsewhere";
	const char *path = find_cupti("python3", d->arena);
	if (!path) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           "none in the usual places; programs that bring their own (PyTorch does) have one", how);
		return false;
	}
	path = arena_copy(d->arena, path, strcspn(path, ":")); /* the first of a list */
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*get_version)(uint32_t * version) = NULL;
	void *symbol = library ? dlsym(library, "cuptiGetVersion") : NULL;
	memcpy(&get_version, &symbol, sizeof symbol);
	uint32_t version = 0;
	if (!get_version || get_version(&version) != 0) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           arena_format(d->arena, "%s cannot be used: %s", path,
		                        library ? "it does not tell its version" : "it cannot be loaded"),
		           how);
		return false;
	}
	const char *text = cupti_text(d, path, version);
	if (d->cuda && cuda_of_cupti(version) > d->cuda / 1000) {
		doctor_say(d, DOCTOR_NOTE, "CUPTI",
		           arena_format(d->arena, "%s, which is too new for a driver for CUDA %d.%d", text,
		                        d->cuda / 1000, d->cuda % 1000 / 10),
		           arena_format(d->arena, "install the CUPTI of CUDA %d, and name it with GAPLINE_CUPTI",
		                        d->cuda / 1000));
		return false;
	}
	doctor_say(d, DOCTOR_OK, "CUPTI", text, "");
	return true;
}

static bool check_library(struct doctor *d)
{
	struct err err;
	struct collector cupti = {.type = &collector_cupti, .arena = d->arena};
	if (cupti.type->find(&cupti, &err)) {
		doctor_say(d, DOCTOR_NOTE, "collector", arena_copy(d->arena, err.text, strlen(err.text)), "");
		return false;
	}
	bool osrt = find_library("libgapline-osrt.so", d->arena) != NULL;
	doctor_say(d, DOCTOR_OK, "collector",
	           arena_format(d->arena, "%s%s", cupti.tool, osrt ? "" : "; --trace osrt is not in this build"), "");
	return true;
}

/* ---- nsys ---- */

/* Whether `nsys export` is in this installation and writes SQLite: what only records comes without it. */
static bool can_export(const char *nsys, struct arena *arena)
{
	const char *const argv[] = {nsys, "export", "--help", NULL};
	struct err ignored;
	int status;
	const char *said = collector_ask(argv, NULL, ASK_MS, arena, &status, &ignored);
	return said && status == 0 && strcasestr(said, "sqlite");
}

static bool check_nsys(struct doctor *d)
{
	struct err err;
	struct collector nsys = {.type = &collector_nsys, .arena = d->arena};
	if (nsys.type->find(&nsys, &err)) {
		doctor_say(d, DOCTOR_NOTE, "nsys", arena_copy(d->arena, err.text, strlen(err.text)), "");
		return false;
	}
	const char *text = arena_format(d->arena, "%s, version %s", nsys.tool, nsys.version);
	bool can = can_export(nsys.tool, d->arena);
	if (can)
		doctor_say(d, DOCTOR_OK, "nsys", text, "");
	else
		doctor_say(d, DOCTOR_NOTE, "nsys", arena_format(d->arena, "%s, without nsys export", text),
		           "install nsight-systems-cli as a whole; GAPLINE_NSYS names one that lies elsewhere");
	return can;
}

static void doctor_collectors(struct doctor *d)
{
	bool library = check_library(d), cupti = check_cupti(d), nsys = check_nsys(d);
	d->can_cupti = library && cupti && d->cuda;
	d->can_nsys = nsys && d->cuda;
}

void doctor_examine(const struct doctor_places *places, struct arena *arena, struct doctor *out)
{
	*out = (struct doctor){.arena = arena, .container = ""};
	doctor_container(out, places);
	doctor_driver(out, places);
	doctor_gpus(out, places);
	doctor_collectors(out);
	doctor_permissions(out, places);
}
