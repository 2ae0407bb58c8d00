#include "capture/collector.h"

#include "base/list.h"
#include "base/proc.h"
#include "capture/find.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const graph_trace_names[] = {"auto", "graph", "node", NULL};

void collector_say(struct collector_job *job, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	for (size_t i = 0; i < job->n_messages; i++)
		if (!strcmp(job->messages[i], text))
			return;
	LIST_PUT(job->arena, job->messages, job->n_messages, arena_copy(job->arena, text, strlen(text)));
}

static int take(struct collector *c, const struct collector_type *type, const char *why, struct arena *arena,
                struct err *err)
{
	*c = (struct collector){.type = type, .why = why, .version = "", .arena = arena};
	return type->find(c, err);
}

void collector_for_stopwatch(struct collector *collector, struct arena *arena)
{
	struct err never;
	take(collector, &collector_stopwatch, "", arena, &never);
}

/* Our own first: it costs the program less, and starts and stops in a fraction of the time. But it needs a CUPTI, and
 * where none is in sight, nsys, which brings one, is the safer choice. */
int collector_choose(struct collector *collector, enum collector_kind kind, const char *const *const *commands,
                     size_t n, struct arena *arena, struct err *err)
{
	struct err no_nsys;
	if (kind == COLLECTOR_NSYS)
		return take(collector, &collector_nsys, "asked for", arena, err);
	if (kind == COLLECTOR_CUPTI)
		return take(collector, &collector_cupti, "asked for", arena, err);
	bool cupti = true;
	for (size_t i = 0; i < n; i++)
		cupti = cupti && find_cupti(commands[i][0], arena);
	int rc = take(collector, &collector_cupti, "gapline's own library and CUPTI are here", arena, err);
	if (!rc && cupti)
		return 0;
	struct collector own = *collector;
	if (!take(collector, &collector_nsys,
	          rc ? "gapline's own library is not here" : "no CUPTI was found in the usual places", arena, &no_nsys))
		return 0;
	*collector = own;
	collector->why = "nsys is not here; no CUPTI was found in the usual places, the program may bring one";
	if (!rc)
		return 0;
	struct err no_library = *err;
	return err_set_id(err, no_library.id, "nothing here can capture: %s; %s", no_library.text, no_nsys.text);
}

pid_t collector_no_group(const struct collector_job *job)
{
	(void)job;
	return 0;
}

void collector_learn(struct collector_job *job)
{
	job->status = job->ended_with;
	job->status_known = job->ended_with != PROC_STATUS_UNKNOWN;
}
