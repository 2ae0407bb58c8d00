#include "phase.h"

#include <pthread.h>
#include <string.h>

enum { NAMES = 26 };

static bool neutral;
static const char *known[NAMES]; /* known[0] is called "a" … */
static int n_known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void phase_names(bool is_neutral)
{
	neutral = is_neutral;
}

static const char *letter(const char *name)
{
	static const char letters[NAMES][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
	                                       "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
	int i = 0;

	pthread_mutex_lock(&lock);
	while (i < n_known && strcmp(known[i], name) != 0)
		i++;
	if (i == n_known && n_known < NAMES)
		known[n_known++] = name;
	pthread_mutex_unlock(&lock);
	return i < NAMES ? letters[i] : name;
}

void phase_begin(const char *name)
{
	nvtxRangePushA(neutral && strcmp(name, "step") != 0 ? letter(name) : name);
}
