/* Stands in for libcuda.so.1 and, built with STANDIN_CUPTI, for CUPTI. The environment says what they are:
 * STANDIN_CUDA=none: no device; =mismatch: libraries of another driver; =12: an older driver. STANDIN_CUPTI: the
 * version of CUPTI, a number. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef STANDIN_CUPTI
int cuptiGetVersion(uint32_t *version);

int cuptiGetVersion(uint32_t *version)
{
	const char *given = getenv("STANDIN_CUPTI");
	*version = given ? (uint32_t)atoi(given) : 130001;
	return 0;
}
#else
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuGetErrorString(int code, const char **text);

static int mode_is(const char *mode)
{
	const char *given = getenv("STANDIN_CUDA");
	return given && strcmp(given, mode) == 0;
}

int cuInit(unsigned flags)
{
	(void)flags;
	return mode_is("none") ? 100 : mode_is("mismatch") ? 803 : 0;
}

int cuDriverGetVersion(int *version)
{
	*version = mode_is("12") ? 12040 : 13000;
	return 0;
}

int cuDeviceGetCount(int *count)
{
	*count = 2;
	return 0;
}

int cuGetErrorString(int code, const char **text)
{
	*text = code == 100 ? "no CUDA-capable device is detected"
	                    : "system has unsupported display driver / cuda driver "
	                      "combination";
	return 0;
}
#endif
