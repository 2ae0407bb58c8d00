/* How long a thread waits for a lock that it takes right after a call: what an interpreter's lock costs whoever comes
 * back to it. One thread at a time. */
#ifndef WORKLOADS_COMMON_LOCK_WAIT_H
#define WORKLOADS_COMMON_LOCK_WAIT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The call ends here. */
void lock_wait_begin(void);

/* ns since then, without those in which this thread was only short of a processor, where the kernel says so. */
int64_t lock_wait_ns(void);

#ifdef __cplusplus
}
#endif

#endif
