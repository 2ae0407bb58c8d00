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
