#include "capture/gpu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* A function by its newest name, else by an older one with the same meaning. */
static void find(void *library, void *function, const char *name, const char *older)
{
	void *symbol = dlsym(library, name);
	if (!symbol && older)
		symbol = dlsym(library, older);
	memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from an object's to a function's address */
}

enum nvml_result nvml_open(struct nvml *nvml, const char *path, int *code)
{
	*nvml = (struct nvml){0};
	*code = 0;
	void *library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NVML_NO_LIBRARY;
	nvml->library = library;
	find(library, &nvml->init, "nvmlInit_v2", "nvmlInit");
	find(library, &nvml->shutdown, "nvmlShutdown", NULL);
	find(library, &nvml->device_count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
	find(library, &nvml->device_by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
	find(library, &nvml->device_name, "nvmlDeviceGetName", NULL);
	find(library, &nvml->device_uuid, "nvmlDeviceGetUUID", NULL);
	find(library, &nvml->device_pci, "nvmlDeviceGetPciInfo_v3", NULL);
	find(library, &nvml->driver_version, "nvmlSystemGetDriverVersion", NULL);
	find(library, &nvml->clock, "nvmlDeviceGetClockInfo", NULL);
	find(library, &nvml->max_clock, "nvmlDeviceGetMaxClockInfo", NULL);
	find(library, &nvml->power, "nvmlDeviceGetPowerUsage", NULL);
	find(library, &nvml->energy, "nvmlDeviceGetTotalEnergyConsumption", NULL);
	find(library, &nvml->temperature, "nvmlDeviceGetTemperature", NULL);
	find(library, &nvml->utilization, "nvmlDeviceGetUtilizationRates", NULL);
	find(library, &nvml->throttle, "nvmlDeviceGetCurrentClocksEventReasons",
	     "nvmlDeviceGetCurrentClocksThrottleReasons"); /* until 2023 */
	find(library, &nvml->mig_mode, "nvmlDeviceGetMigMode", NULL);
	find(library, &nvml->compute_mode, "nvmlDeviceGetComputeMode", NULL);
	find(library, &nvml->processes, "nvmlDeviceGetComputeRunningProcesses_v3",
	     "nvmlDeviceGetComputeRunningProcesses_v2");
	find(library, &nvml->error, "nvmlErrorString", NULL);
	bool whole = nvml->init && nvml->shutdown && nvml->device_count && nvml->device_by_index && nvml->device_name &&
	             nvml->device_uuid;
	*code = whole ? nvml->init() : 0;
	if (whole && *code == NVML_OK)
		return NVML_LOADED;
	dlclose(library);
	nvml->library = NULL;
	return NVML_NOT_USABLE;
}

void nvml_close(struct nvml *nvml)
{
	nvml->shutdown();
	dlclose(nvml->library);
	*nvml = (struct nvml){0};
}
