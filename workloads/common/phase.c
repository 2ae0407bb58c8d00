#include "phase.h"

#include <pthread.h>
#include <string.h>

enum { NAMES = 26 };

static bool neutral;
static const char *known[NAMES]; /* known[0] is "a" … */
static int n_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void phase_names(bool is_neutral)
{
	neutral = is_neutral;
}

/* The phase's place among all, NAMES if there are too many. */
static int place(const char *name)
{
	int i = 0;

	pthread_mutex_lock(&lock);
	while (i < n_known && strcmp(known[i], name) != 0)
		i++;
	if (i == n_known && n_known < NAMES)
		known[n_known++] = name;
	pthread_mutex_unlock(&lock);
	return i;
}

void phase_begin(const char *name)
{
	char letter[] = "a";
	int i;

	if (strcmp(name, "step") == 0) {
		nvtxRangePushA(name);
		return;
	}
	i = place(name);
	letter[0] = (char)('a' + i);
	nvtxRangePushA(neutral && i < NAMES ? letter : name);
}

void phase_print(FILE *out)
{
	for (int i = 0; i < n_known; i++)
		fprintf(out, "%s\"%s\"", i > 0 ? "," : "[", known[i]);
	fputs(n_known > 0 ? "]" : "[]", out);
}
