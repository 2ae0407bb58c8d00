/* Stands in for libnvidia-ml.so.1 in tests: three GPUs, of which the second is one that supports next to nothing and
 * the third cannot be opened. Built twice: with STANDIN_OLD as a driver from before 2023, without the newer functions.
 * STANDIN_NVML=broken in the environment: a library whose driver is not loaded; =empty: no GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, LOST = 15 };

struct pci {
	char old_bus[16];
	unsigned numbers[5];
	char bus[32];
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *version, unsigned room);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned room);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned room);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetUtilizationRates(void *device, unsigned *utilization);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetComputeMode(void *device, int *mode);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *list);
const char *nvmlErrorString(int code);

static int mode_is(const char *mode)
{
	const char *given = getenv("STANDIN_NVML");
	return given && strcmp(given, mode) == 0;
}

static char devices[3];
static int number(void *device)
{
	return (int)((char *)device - devices);
}

static unsigned samples; /* of the first GPU's clock: each one is 15 MHz lower */

int nvmlInit_v2(void)
{
	samples = 0;
	return mode_is("broken") ? DRIVER_NOT_LOADED : OK;
}

int nvmlShutdown(void)
{
	return OK;
}

int nvmlSystemGetDriverVersion(char *version, unsigned room)
{
	snprintf(version, room, "580.159.04");
	return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = mode_is("empty") ? 0 : 3;
	return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	if (index > 2)
		return INVALID;
	*device = devices + index;
	return index == 2 ? LOST : OK;
}

int nvmlDeviceGetName(void *device, char *name, unsigned room)
{
	snprintf(name, room, "%s", number(device) ? "NVIDIA \033[31mT400" : "NVIDIA H200");
	return OK;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned room)
{
	snprintf(uuid, room, "GPU-0000000%d-1111-2222-3333-444444444444", number(device));
	return OK;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	snprintf(pci->bus, sizeof pci->bus, "00000000:%02X:00.0", 0x18 + number(device));
	return OK;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
	if (number(device) || (clock != 1 && clock != 2))
		return NOT_SUPPORTED;
	*mhz = clock == 1 ? 1980 - 15 * samples++ : 3201;
	return OK;
}

int nvmlDeviceGetMaxClockInfo(void *device, int clock, unsigned *mhz)
{
	*mhz = clock == 1 ? 1980 : 3201;
	return number(device) ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = number(device) ? 0xFFFFFFFF : 693125; /* a board that cannot measure it */
	return OK;
}

/* 100 W by the monotonic clock, of the first GPU; it moves every 100 ms. */
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	struct timespec now;
	if (!number(device) && mode_is("slow"))
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	*mj = ((unsigned long long)now.tv_sec * 10 + (unsigned long long)now.tv_nsec / 100000000) * 10000;
	return number(device) ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = number(device) ? 31 : 64;
	return sensor == 0 ? OK : INVALID;
}

#ifndef STANDIN_OLD
int nvmlDeviceGetUtilizationRates(void *device, unsigned *utilization)
{
	utilization[0] = 97;
	utilization[1] = 40;
	return number(device) ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons)
{
	*reasons = 0x8000000000000004; /* the power cap, and a bit that nobody knows yet */
	return number(device) ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	*current = *pending = mode_is("mig");
	return number(device) ? NOT_SUPPORTED : OK;
}

int nvmlDeviceGetComputeMode(void *device, int *mode)
{
	(void)device;
	*mode = mode_is("prohibited") ? 2 : mode_is("exclusive") ? 3 : 0;
	return OK;
}

/* STANDIN_NVML=shared: somebody else's two processes on the first GPU. */
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *list)
{
	if (number(device) || list || *count)
		return NOT_SUPPORTED;
	*count = mode_is("shared") ? 2 : 0;
	return *count ? INSUFFICIENT_SIZE : OK;
}

const char *nvmlErrorString(int code)
{
	return code == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}
#endif

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	*reasons = 0x20;
	return number(device) ? NOT_SUPPORTED : OK;
}
