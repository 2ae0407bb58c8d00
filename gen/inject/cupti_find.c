#include "cupti_parts.h"

#include "spool_out.h"

#include <dlfcn.h>
#include <glob.h>
#include <libgen.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* API versions before CUDA 13, where they became CUDA's own (cupti_version.h). */
static const struct {
	uint32_t api, cuda;
} versions[] = {{28, 12090}, {26, 12080}, {24, 12060}, {23, 12050}, {22, 12040}, {21, 12030},
                {20, 12020}, {19, 12000}, {18, 11080}, {17, 11070}, {16, 11050}};

/* CUDA's version, 1000 major + 10 minor, for one of cuptiGetVersion. */
static uint32_t cuda_version(uint32_t api_version)
{
	if (api_version >= 130000)
		return api_version / 10000 * 1000 + api_version / 100 % 100 * 10;
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (api_version >= versions[i].api)
			return versions[i].cuda;
	return 11000;
}

void *cupti_driver_function(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	return driver ? dlsym(driver, name) : NULL;
}

static uint32_t driver_version(void)
{
	int version = 0;
	int (*get)(int *) = (int (*)(int *))cupti_driver_function("cuDriverGetVersion");
	return get && !get(&version) && version > 0 ? (uint32_t)version : 0;
}

/* ---- what the process has loaded ---- */

struct loaded {
	const char *prefix; /* of the base name */
	char path[PATH_MAX];
};

static int loaded_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;
	(void)size;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	if (!name || strncmp(name + 1, l->prefix, strlen(l->prefix)) != 0)
		return 0;
	snprintf(l->path, sizeof l->path, "%s", info->dlpi_name);
	return 1;
}

/* ---- candidates ---- */

struct search {
	struct cupti_api *api;
	char refused[PATH_MAX + 256]; /* why the best candidate so far was not taken */
	int too_new;                  /* … and whether its age was the reason */
};

static void refuse(struct search *s, const char *path, const char *reason)
{
	if (!s->refused[0])
		snprintf(s->refused, sizeof s->refused, "%.*s: %.200s", PATH_MAX - 1, path, reason);
}

/* Takes the library if it can be used. The version is asked for before anything else, because CUPTI initialises
 * itself with the first real call. */
static int take(struct search *s, const char *path, int flags)
{
	struct cupti_api *api = s->api;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	if (!library) {
		/* A path that does not exist is no news; one that does and cannot be loaded is. */
		if (!strchr(path, '/') || access(path, F_OK) == 0)
			if (strchr(path, '/'))
				refuse(s, path, dlerror());
		return -1;
	}
	const char *missing = NULL;
#define CUPTI_LOOK(name)                                                                                               \
	api->name = (__typeof__(&name))dlsym(library, #name);                                                          \
	if (!api->name)                                                                                                \
		missing = #name;
	CUPTI_NEEDED(CUPTI_LOOK)
#undef CUPTI_LOOK
	api->silence_runtime = (__typeof__(api->silence_runtime))dlsym(library, "cuptiActivityEnableRuntimeApi");
	api->silence_driver = (__typeof__(api->silence_driver))dlsym(library, "cuptiActivityEnableDriverApi");
	api->trace_device_graphs =
		(__typeof__(api->trace_device_graphs))dlsym(library, "cuptiActivityEnableDeviceGraph");
	api->graph_node_id = (__typeof__(api->graph_node_id))dlsym(library, "cuptiGetGraphNodeId");
	api->subscribe_v2 = (__typeof__(api->subscribe_v2))dlsym(library, "cuptiSubscribe_v2");
	char reason[128];
	if (missing) {
		snprintf(reason, sizeof reason, "it has no %s", missing);
		refuse(s, path, reason);
		goto refused;
	}
	if (api->cuptiGetVersion(&api->version) != CUPTI_SUCCESS) {
		refuse(s, path, "it does not tell its version");
		goto refused;
	}
	uint32_t cuda = cuda_version(api->version);
	if (api->driver && cuda / 1000 > api->driver / 1000) {
		snprintf(reason, sizeof reason, "made for CUDA %u.%u, but the driver supports up to %u.%u", cuda / 1000,
		         cuda / 10 % 100, api->driver / 1000, api->driver / 10 % 100);
		if (!s->refused[0])
			s->too_new = 1;
		refuse(s, path, reason);
		goto refused;
	}
	Dl_info where;
	if (dladdr((void *)api->cuptiGetVersion, &where) && where.dli_fname)
		path = where.dli_fname;
	snprintf(api->path, sizeof api->path, "%s", path);
	api->library = library;
	return 0;
refused:
	dlclose(library);
	return -1;
}

bool cupti_is_loaded(const char *prefix)
{
	struct loaded l = {.prefix = prefix};
	return dl_iterate_phdr(loaded_look, &l) != 0;
}

static int take_loaded(struct search *s)
{
	struct loaded l = {.prefix = "libcupti.so"};
	return dl_iterate_phdr(loaded_look, &l) ? take(s, l.path, RTLD_NOLOAD) : -1;
}

static int take_named(struct search *s)
{
	const char *list = getenv(SPOOL_ENV_CUPTI);
	while (list && *list) {
		char path[PATH_MAX];
		size_t n = strcspn(list, ":");
		snprintf(path, sizeof path, "%.*s", (int)n, list);
		if (n && n < sizeof path && !take(s, path, 0))
			return 0;
		list += n + (list[n] == ':');
	}
	return -1;
}

static int take_pattern(struct search *s, const char *pattern)
{
	glob_t found;
	int rc = -1;
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = found.gl_pathc; rc && i; i--) /* the newest minor version is last */
			rc = take(s, found.gl_pathv[i - 1], 0);
	globfree(&found);
	return rc;
}

/* CUPTI beside a CUDA runtime library, as toolkits, distributions and Python packages lay them out. */
static int take_beside(struct search *s, const char *runtime, unsigned major)
{
	static const char *const places[] = {"%s/libcupti.so.%u", "%s/../extras/CUPTI/lib64/libcupti.so.%u",
	                                     "%s/../../cuda_cupti/lib/libcupti.so.%u"};
	char real[PATH_MAX], pattern[PATH_MAX + 64];
	if (!realpath(runtime, real))
		return -1;
	const char *folder = dirname(real);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(pattern, sizeof pattern, places[i], folder, major);
		if (!take(s, pattern, 0))
			return 0;
	}
	return -1;
}

static int take_major(struct search *s, unsigned major)
{
	static const char *const places[] = {"/usr/local/cuda-%u*/lib64/libcupti.so.%u",
	                                     "/usr/local/cuda-%u*/extras/CUPTI/lib64/libcupti.so.%u",
	                                     "/opt/cuda-%u*/extras/CUPTI/lib64/libcupti.so.%u"};
	char pattern[256];
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(pattern, sizeof pattern, places[i], major, major);
		if (!take_pattern(s, pattern))
			return 0;
	}
	snprintf(pattern, sizeof pattern, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.%u", major);
	if (!take_pattern(s, pattern))
		return 0;
	snprintf(pattern, sizeof pattern, "libcupti.so.%u", major);
	return take(s, pattern, 0);
}

static int take_fitting(struct search *s)
{
	struct loaded runtime = {.prefix = "libcudart.so."};
	unsigned newest = s->api->driver ? s->api->driver / 1000 : 13, major = 0;
	if (dl_iterate_phdr(loaded_look, &runtime)) {
		const char *number = strstr(strrchr(runtime.path, '/'), ".so.");
		major = (unsigned)strtoul(number + 4, NULL, 10);
		if (major > newest)
			major = 0; /* runs by forward compatibility, if at all */
	}
	if (major && !take_beside(s, runtime.path, major))
		return 0;
	if (major && !take_major(s, major))
		return 0;
	for (unsigned m = newest; m >= 11; m--)
		if (m != major && !take_major(s, m))
			return 0;
	/* Before CUDA 12 the name ended in the full version; in Debian's package, too. */
	if (!take_pattern(s, "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1[0-9]*"))
		return 0;
	return take(s, "libcupti.so.11.8", 0);
}

int cupti_find(struct cupti_api *api)
{
	struct search s = {.api = api};
	api->driver = driver_version();
	if (!take_loaded(&s) || !take_named(&s) || !take_fitting(&s))
		return 0;
	if (!s.refused[0])
		spool_message(SPOOL_ERROR, SPOOL_CODE_NO_CUPTI,
		              "No CUPTI library (libcupti.so.%u) was found, so no GPU work was recorded: install it "
		              "(package cuda-cupti of the toolkit, or pip install nvidia-cuda-cupti), or name it in %s",
		              api->driver ? api->driver / 1000 : 13, SPOOL_ENV_CUPTI);
	else if (s.too_new)
		spool_message(
			SPOOL_ERROR, SPOOL_CODE_CUPTI_TOO_OLD,
			"CUPTI does not fit the driver, so no GPU work was recorded: %s. Install a newer driver, or "
			"name the CUPTI of CUDA %u in %s",
			s.refused, api->driver / 1000, SPOOL_ENV_CUPTI);
	else
		spool_message(
			SPOOL_ERROR, SPOOL_CODE_CUPTI_TOO_OLD,
			"The CUPTI library cannot be used, so no GPU work was recorded: %s. It must be of CUDA 11.8 "
			"or newer: name another one in %s",
			s.refused, SPOOL_ENV_CUPTI);
	return -1;
}
