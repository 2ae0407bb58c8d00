/* A thread that starts or ends the program. */
#ifndef WORKLOADS_COMMON_THREAD_H
#define WORKLOADS_COMMON_THREAD_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument)
{
	int status = pthread_create(thread, NULL, work, argument);

	if (status != 0) {
		fprintf(stderr, "cannot start a thread: %s\n", strerror(status));
		exit(EXIT_FAILURE);
	}
}

#endif
