/* The model's own parts (oracle.h): what they share while it walks one trace. */
#ifndef GAPLINE_TESTS_ORACLE_WALK_H
#define GAPLINE_TESTS_ORACLE_WALK_H

#include "oracle.h"

/* One thread, nanosecond by nanosecond. */
struct thread_walk {
	uint32_t *overhead; /* TRACE_NONE, or the outermost open row of overhead */
	uint8_t *call;      /* 0, or 1 + the strongest open class */
	uint8_t *sync;      /* a synchronising call is open, whatever else is */
	uint8_t *waits;     /* a call that waits for the GPU is open: a synchronising one, or a read-back that blocks */
	uint32_t *os;       /* TRACE_NONE, or the outermost open OS call */
	uint32_t *own_os;   /* likewise, of those that do not wait for another thread */
	uint8_t *gil;       /* it waits for the interpreter's lock; NULL: it never does */
	uint32_t *in_step;  /* step thread: TRACE_NONE, or the step instance that is open */
	uint32_t *child;    /* step thread: the first-opened range of the step's domain inside the open step */
	uint32_t *outside;  /* step thread: the first-opened range of the step's domain that contains no step */
	uint32_t *first;    /* the first-opened range: of the step's domain, or of any where the profile has no steps */
	bool launches;      /* at least one of its calls launched a GPU op */
};

/* One instance of the step range. */
struct mark {
	uint32_t process, thread;
	int64_t start, end;
	bool cut;
	size_t step; /* SIZE_MAX: left out */
};

struct walk {
	const struct trace *trace;
	struct arena *arena;
	int64_t horizon;
	bool steps;
	uint32_t name, domain; /* of the step range */
	struct mark *marks;    /* of all processes */
	size_t n_marks;
	uint32_t *owner; /* by process: the thread with the longest instances, TRACE_NONE: none has any */
	struct thread_walk *threads;
	bool by_work;   /* phases are kinds of GPU work */
	uint32_t *kind; /* by op: the name of its kind */
};

struct doing {
	enum cause cause;
	uint32_t call;
	bool waits; /* in an OS call that waits for another thread */
};

/* One value a nanosecond: 0, or TRACE_NONE. */
uint8_t *oracle_bytes(const struct walk *w);
uint32_t *oracle_rows(const struct walk *w);

/* Rows of the trace. An op whose launch is unknown has no launcher. */
static inline uint32_t process_of(const struct trace *trace, uint32_t thread)
{
	return trace->threads[thread].process;
}

static inline uint32_t launcher(const struct trace *trace, size_t op)
{
	uint32_t launch = trace->ops.launch[op];
	return launch == TRACE_NONE ? TRACE_NONE : trace->calls.thread[launch];
}

static inline int64_t launched_at(const struct trace *trace, size_t op)
{
	return trace->calls.start[trace->ops.launch[op]];
}

static inline double op_length(const struct trace *trace, size_t op)
{
	return (double)(trace->ops.end[op] - trace->ops.start[op]);
}

static inline bool is_open(const struct mark *m, int64_t t)
{
	return t >= m->start && t < m->end;
}

/* Finds the range whose instances are steps, or takes the one of this name (0: none asked for), and fills w->marks
 * (oracle_range.c). */
void oracle_range_choose(struct walk *w, uint32_t wanted);

/* The length of the marks on a thread. */
int64_t oracle_marks_total(const struct mark *marks, size_t n, uint32_t thread);

/* Finds the steps and fills those of `out` (oracle_steps.c). */
void oracle_steps_find(struct walk *w, const char *step, struct oracle *out);

/* Whether instances of the step range are on the thread. */
bool oracle_has_marks(const struct walk *w, uint32_t thread);

/* Walks every thread; needs the steps (oracle_host.c). */
void oracle_host_walk(struct walk *w);

/* The phase of an instant on a thread: a name, 0 for none. */
uint32_t oracle_phase_at(const struct walk *w, uint32_t thread, int64_t t);

/* What a thread was doing at an instant. */
struct doing oracle_doing_at(const struct walk *w, uint32_t thread, int64_t t);

#endif
