/* Where gapline runs: the container around it, and what it may do there. */
#include "capture/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void doctor_container(struct doctor *d, const struct doctor_places *places)
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

void doctor_permissions(struct doctor *d, const struct doctor_places *places)
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
