/* What doctor says of containers, drivers and GPUs, told by stand-ins: a folder in place of /, libraries in place of
 * the driver's. */
#include "capture/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];
static struct arena arena;
static const char none[] = "/nonexistent/library.so";

static const char *const variables[] = {"APPTAINER_NAME",
                                        "SINGULARITY_NAME",
                                        "KUBERNETES_SERVICE_HOST",
                                        "container",
                                        "NVIDIA_VISIBLE_DEVICES",
                                        "NVIDIA_DRIVER_CAPABILITIES",
                                        "CUDA_VISIBLE_DEVICES",
                                        "STANDIN_CUDA",
                                        "STANDIN_NVML"};

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("GAPLINE_NSYS", "/nonexistent/nsys", 1);
	setenv("GAPLINE_CUPTI", none, 1);
	setenv("PATH", "/nonexistent", 1);
	strcpy(root, "/tmp/gapline-doctor-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static void put(const char *path, const char *text)
{
	char full[200];
	snprintf(full, sizeof full, "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(full, 0700);
	}
	FILE *file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int teardown(void **state)
{
	(void)state;
	char command[100];
	arena_release(&arena);
	setenv("PATH", "/usr/bin:/bin", 1);
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command);
}

static struct doctor examine(const char *cuda, const char *nvml)
{
	const struct doctor_places places = {root, cuda, nvml};
	struct doctor d;
	doctor_examine(&places, &arena, &d);
	return d;
}

/* The line about `what`; an empty one when there is none. */
static struct doctor_line line(const struct doctor *d, const char *what)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->lines[i].what, what) == 0)
			return d->lines[i];
	return (struct doctor_line){DOCTOR_OK, "", "", ""};
}

#define SAYS(d, about, want_level, want_text, want_advice)                                                             \
	do {                                                                                                           \
		struct doctor_line said = line((d), about);                                                            \
		assert_string_equal(said.text, want_text);                                                             \
		assert_int_equal(said.level, want_level);                                                              \
		assert_string_equal(said.advice, want_advice);                                                         \
	} while (0)

static void test_container(void **state)
{
	(void)state;
	struct doctor d = examine(none, none);
	SAYS(&d, "container", DOCTOR_OK, "", ""); /* there is none: no line */
	put("/.dockerenv", "");
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_FIX, "Docker, started without a GPU: there is no /dev/nvidiactl",
	     "start it with --gpus all (the host needs the NVIDIA Container Toolkit)");
	put("/dev/nvidiactl", "");
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_OK, "Docker", "");
	setenv("NVIDIA_DRIVER_CAPABILITIES", "all", 1);
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_OK, "Docker", "");
	setenv("NVIDIA_DRIVER_CAPABILITIES", "graphics,utility", 1);
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_FIX, "Docker, with NVIDIA_DRIVER_CAPABILITIES=graphics,utility: no CUDA",
	     "start it with --env NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	setenv("NVIDIA_DRIVER_CAPABILITIES", "compute", 1);
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_NOTE, "Docker, with NVIDIA_DRIVER_CAPABILITIES=compute: no clocks are sampled",
	     "start it with --env NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	setenv("NVIDIA_VISIBLE_DEVICES", "void", 1);
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_FIX, "Docker, with NVIDIA_VISIBLE_DEVICES=void: no GPU",
	     "start it with --gpus all (the host needs the NVIDIA Container Toolkit)");
}

static void test_kinds_of_containers(void **state)
{
	(void)state;
	put("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
	put("/run/.containerenv", "");
	struct doctor d = examine(none, none);
	assert_string_equal(d.container, "Kubernetes");
	SAYS(&d, "container", DOCTOR_FIX, "Kubernetes, started without a GPU: there is no /dev/nvidiactl",
	     "ask for one in the pod: resources.limits, nvidia.com/gpu: 1");
	put("/proc/1/cgroup", "0::/\n");
	d = examine(none, none);
	assert_string_equal(d.container, "Podman");
	setenv("SINGULARITY_NAME", "x.sif", 1);
	d = examine(none, none);
	SAYS(&d, "container", DOCTOR_FIX, "Apptainer, started without a GPU: there is no /dev/nvidiactl",
	     "start it with --nv");
}

static void test_driver(void **state)
{
	(void)state;
	struct doctor d = examine(none, none);
	SAYS(&d, "driver", DOCTOR_FIX, "libcuda.so.1 cannot be loaded: no NVIDIA driver is installed here",
	     "install the NVIDIA driver, or go to a machine with a GPU (reports need none)");
	assert_false(d.can_cupti || d.can_nsys);
	assert_string_equal(line(&d, "clocks").what, ""); /* without a GPU nothing is missing there */
	d = examine(STANDIN_CUDA, none);
	SAYS(&d, "driver", DOCTOR_OK, "for CUDA up to 13.0, 2 GPUs for CUDA programs", "");
	SAYS(&d, "clocks", DOCTOR_NOTE, "not sampled: libnvidia-ml.so.1 cannot be used",
	     "install nvidia-utils, which belongs to the driver");
	setenv("STANDIN_CUDA", "none", 1);
	d = examine(STANDIN_CUDA, none);
	SAYS(&d, "driver", DOCTOR_FIX, "CUDA cannot be used: no CUDA-capable device is detected (error 100)",
	     "go to a machine with an NVIDIA GPU");
	assert_int_equal(d.cuda, 0);
	setenv("CUDA_VISIBLE_DEVICES", "7", 1);
	d = examine(STANDIN_CUDA, none);
	assert_string_equal(line(&d, "driver").advice,
	                    "CUDA_VISIBLE_DEVICES is '7': unset it, or name a GPU that is there");
	setenv("STANDIN_CUDA", "mismatch", 1);
	d = examine(STANDIN_CUDA, none);
	assert_non_null(strstr(line(&d, "driver").text, "(error 803)"));
	assert_non_null(strstr(line(&d, "driver").advice, "reboot"));
}

static void test_gpus(void **state)
{
	(void)state;
	struct doctor d = examine(STANDIN_CUDA, STANDIN_NVML_NEW);
	SAYS(&d, "GPU 0", DOCTOR_OK, "NVIDIA H200", "");
	SAYS(&d, "GPU 1", DOCTOR_OK, "NVIDIA \033[31mT400", ""); /* the command makes it harmless */
	SAYS(&d, "GPU 2", DOCTOR_NOTE, "cannot be opened: Unknown Error", "run nvidia-smi, which says more");
	SAYS(&d, "clocks", DOCTOR_OK, "sampled through NVML, driver 580.159.04", "");
	setenv("STANDIN_NVML", "mig", 1);
	d = examine(STANDIN_CUDA, STANDIN_NVML_NEW);
	SAYS(&d, "GPU 0", DOCTOR_OK, "NVIDIA H200, divided into parts (MIG)", "");
	setenv("STANDIN_NVML", "prohibited", 1);
	d = examine(STANDIN_CUDA, STANDIN_NVML_NEW);
	SAYS(&d, "GPU 0", DOCTOR_NOTE, "NVIDIA H200, prohibited for compute",
	     "nvidia-smi --id=0 --compute-mode=DEFAULT (as root)");
	setenv("STANDIN_NVML", "exclusive", 1);
	d = examine(STANDIN_CUDA, STANDIN_NVML_NEW);
	assert_string_equal(line(&d, "GPU 0").text, "NVIDIA H200, for one process at a time");
	unsetenv("STANDIN_NVML");
	d = examine(STANDIN_CUDA, STANDIN_NVML_OLD); /* lacks what tells MIG and the mode */
	SAYS(&d, "GPU 0", DOCTOR_OK, "NVIDIA H200", "");
	SAYS(&d, "GPU 2", DOCTOR_NOTE, "cannot be opened: no reason given", "run nvidia-smi, which says more");
}

static void test_permissions(void **state)
{
	(void)state;
	put("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
	assert_int_equal(chdir(root), 0);
	struct doctor d = examine(none, none);
	SAYS(&d, "folder", DOCTOR_OK, "this one can be written to", "");
	SAYS(&d, "counters", DOCTOR_OK, "performance counters are for administrators only, and gapline reads none", "");
	put("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	d = examine(none, none);
	SAYS(&d, "counters", DOCTOR_OK, "", "");
	assert_int_equal(chdir("/"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_container), TEST(test_kinds_of_containers), TEST(test_driver),
		TEST(test_gpus),      TEST(test_permissions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
