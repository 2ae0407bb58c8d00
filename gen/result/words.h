/* The enumerations of an analysis, and the words for them: in the JSON, and for a reader (docs/method/analysis.md). */
#ifndef GAPLINE_RESULT_WORDS_H
#define GAPLINE_RESULT_WORDS_H

#include "trace/trace.h"

/* Why a device was idle (docs/method/analysis.md, Causes). cause_name gives the JSON's word, cause_label a reader's. */
enum cause {
	CAUSE_HOST_CODE,      /* the launching thread ran its own code */
	CAUSE_HOST_BLOCKED,   /* … sat in an operating-system call; the row names it */
	CAUSE_GIL,            /* … waited for Python's interpreter lock, which another thread held */
	CAUSE_OFF_CPU,        /* … was not on a processor, and in no call that the profile knows */
	CAUSE_HANDOVER,       /* … waited for another launching thread that waited too */
	CAUSE_SYNC_RETURN,    /* … was inside a synchronising call or a blocking read-back */
	CAUSE_COPY_API,       /* … inside a copy or memset call */
	CAUSE_LAUNCH_API,     /* … inside a launch call */
	CAUSE_ALLOC,          /* … inside an allocation, free or host registration */
	CAUSE_MODULE_LOAD,    /* … loading a module, JIT, dlopen */
	CAUSE_OTHER_API,      /* … inside any other CUDA call */
	CAUSE_PROFILER,       /* … inside the profiler's own recorded overhead */
	CAUSE_LAUNCH_LATENCY, /* the launch was on its way after a synchronisation */
	CAUSE_DISPATCH,       /* the GPU's own gap between two ops that were both queued */
	CAUSE_DEPENDENCY,     /* the op was queued and waited for an event, stream or device */
	CAUSE_LATE_START,     /* the op was queued, had nothing to wait for, and started late all the same */
	CAUSE_MANAGED_MEMORY, /* ended by a unified-memory migration */
	CAUSE_BUBBLE,         /* all that ran were sends and receives that waited for another rank */
	CAUSE_OTHER_PROCESS,  /* another process ran on the same physical GPU */
	CAUSE_UNATTRIBUTED,   /* the profile does not say: the launch is missing, or no op follows */
	CAUSE_COUNT
};
extern const enum cause cause_of_call[];     /* by enum call_class: of idle time inside such a call */
const char *cause_name(enum cause cause);    /* "host_code" */
const char *cause_label(enum cause cause);   /* "host code" … a few words for a reader */
const char *cause_meaning(enum cause cause); /* one sentence for a legend or tooltip */

/* The time that a launching thread had for itself, at work or waiting for another one. */
static inline bool cause_is_host(enum cause cause)
{
	return cause == CAUSE_HOST_CODE || cause == CAUSE_HOST_BLOCKED || cause == CAUSE_GIL || cause == CAUSE_HANDOVER;
}

/* What a program did before its first step; in the order in which that mostly happens. */
enum startup_part {
	STARTUP_BEFORE_CUDA,    /* until the process's first CUDA call: imports, arguments, data */
	STARTUP_CUDA_SETUP,     /* in CUDA calls up to the first allocation, copy, launch or wait, that one included: it
	                         * makes the context; and in later calls of no other kind: streams, events, handles */
	STARTUP_MODULE_LOAD,    /* in loading code: modules, libraries, JIT */
	STARTUP_FIRST_LAUNCHES, /* in the first launch of each kernel, which loads the kernel where loading is lazy */
	STARTUP_SEARCH,         /* while an autotuner tried out kernels */
	STARTUP_ALLOC,          /* in allocations, frees, host registrations */
	STARTUP_COPY_API,       /* in copy and memset calls */
	STARTUP_LAUNCH_API,     /* in launches of kernels that were launched before */
	STARTUP_SYNC,           /* in synchronising calls and blocking read-backs */
	STARTUP_HOST_CODE,      /* in the thread's own code, between CUDA calls */
	STARTUP_HOST_BLOCKED,   /* in operating-system calls, between CUDA calls */
	STARTUP_GIL,            /* waiting for Python's interpreter lock */
	STARTUP_OFF_CPU,        /* off the processor, between CUDA calls */
	STARTUP_HANDOVER,       /* waiting for another launching thread that waited too */
	STARTUP_PROFILER,       /* in the profiler's own recorded overhead */
	STARTUP_PARTS
};

/* What opened a gap. */
enum opened { OPENED_SYNC, OPENED_DRY, OPENED_WAITING, OPENED_COUNT };
/* OPENED_SYNC: the host was inside a synchronising call and came back; OPENED_DRY: the queue ran dry while the host was
 * elsewhere; OPENED_WAITING: an op was queued but could not start. */

/* Who marked a run's steps. */
enum step_origin {
	STEPS_NONE,         /* nobody: the run is one measurement */
	STEPS_BY_RANGE,     /* a range, by what it launches */
	STEPS_BY_PATTERN,   /* the sequence of GPU operations, which repeats */
	STEPS_BY_NAME,      /* a range that --step or --requests named */
	STEPS_BY_MARK,      /* a range that is called a step */
	STEPS_BY_OPTIMIZER, /* optimizers' steps, where nobody marked any */
	STEP_ORIGINS
};

/* "none", "range", "pattern", "named", "marked", "optimizer" */
const char *step_origin_name(enum step_origin origin);

static inline bool steps_by_ranges(enum step_origin origin)
{
	return origin != STEPS_NONE && origin != STEPS_BY_PATTERN;
}

/* What the GPU does while a request is open. */
enum request_work {
	WORK_OWN,    /* something that the request launched */
	WORK_OTHERS, /* else, something that it did not */
	WORK_IDLE,   /* nothing */
	REQUEST_WORKS
};

/* What held a GPU's clock back: NVML's reasons, one bit each. */
enum limit {
	LIMIT_POWER,            /* software power cap */
	LIMIT_THERMAL,          /* software thermal slowdown */
	LIMIT_HARDWARE_THERMAL, /* the hardware's own */
	LIMIT_HARDWARE,         /* hardware slowdown, for whichever reason */
	LIMIT_POWER_BRAKE,      /* asked for by the power supply */
	LIMIT_APPLICATION,      /* clocks set by the user */
	LIMIT_SYNC_BOOST,       /* kept in step with another GPU */
	LIMIT_OTHER,
	LIMIT_COUNT
};

/* What a part of the waterfall is. part_kind_name gives the JSON's word. */
enum part_kind {
	PART_COMPUTE,   /* the budget's parts … */
	PART_COMM,      /* communication not overlapped */
	PART_COPY,      /* copies not overlapped */
	PART_IDLE,      /* one row of the idle time: a cause in a phase */
	PART_UNUSUAL,   /* headline minus the budget's period, where unusual steps were set aside */
	PART_RECORDING, /* what recording added: counted in the parts above and not in the headline, so it is negative
	                 */
	PART_OUTSIDE,   /* without steps: a program's start and end, which its stopwatch times and no part above holds,
	                 * less what recording added */
	PART_OTHER,     /* the smallest of a long list, added up */
	PART_COUNT
};
/* Which way copies go: enum copy_kind, and memsets. */
enum { WAY_MEMSET = COPY_UM_D2D + 1, COPY_WAYS };

/* What a rank's step consists of, from the end of its own GPU work of one step to that of the next. */
enum rank_part {
	RANK_COMPUTE,
	RANK_WAITING, /* exposed: in collectives for the last rank, in sends and receives for the partner */
	RANK_MOVING,  /* the rest of the exposed communication */
	RANK_COPY,    /* exposed */
	RANK_IDLE,
	RANK_PARTS
};

const char *part_kind_name(enum part_kind kind); /* "comm_exposed", "unusual_steps", … */

/* Who is waited for. */
enum straggler_kind {
	STRAGGLER_NONE,       /* not known, or nobody waits for anybody */
	STRAGGLER_PERSISTENT, /* for one rank, which is always the same */
	STRAGGLER_TURNS,      /* for several */
	/* ranks do not have more to do in a step than others, or not the one that is waited for, by a third of the
	 * waiting: they do it at different times, as stages of a pipeline do */
	STRAGGLER_SCHEDULE
};
const char *straggler_kind_name(enum straggler_kind kind); /* "persistent" */

/* Whether the two sides did the same work. */
enum same_work {
	SAME_WORK_SAME, /* launches, kernels and their time, bytes each way, phases, collectives agree within 1 % */
	SAME_WORK_JOB,  /* input, result and phases agree, and nothing is left out; the way is another one */
	SAME_WORK_DIFFERENT, /* they do not */
	SAME_WORK_UNKNOWN    /* what was recorded does not tell */
};

/* What both programs printed. */
enum result_state {
	RESULT_NOT_ASKED,
	RESULT_AGREES,
	RESULT_DIFFERS,
	RESULT_UNKNOWN /* no numbers, or such as cannot be held against each other */
};
const char *result_state_name(enum result_state state); /* "same", "different", "unknown"; NULL: not asked */

/* What the ranges of two profiles are called, or of one, given twice: "NVTX ranges", in PyTorch's traces "annotations
 * and operators", of one of each "ranges". `begins`: at the beginning of a sentence. */
const char *ranges_label(const struct trace_source *a, const struct trace_source *b, bool begins);

/* Whether both ran the same kernels. */
enum same_kernels {
	KERNELS_OTHERS,
	KERNELS_TIMES, /* as often, with as many blocks, but not as long */
	KERNELS_SAME   /* and, but for a clock, as long */
};
const char *same_kernels_name(enum same_kernels kernels); /* "others", "times", "same" */

const char *same_work_name(enum same_work same_work); /* "same", "same_job", "different", "unknown" */

/* By the cost's own change, measured in the same way on both sides. */
enum finding_status {
	FINDING_RESOLVED, /* the cost fell to a fifth or less */
	FINDING_REDUCED,  /* it fell to four fifths or less */
	FINDING_REMAINING,
	FINDING_NEW, /* there was a fifth of it in the baseline, or less */
	FINDING_SEEN /* no cost that could be measured in the same way on both sides */
};
const char *finding_status_name(enum finding_status status);

/* The evidence of a finding: numbers that its sentences are made of. */
enum finding_unit {
	FINDING_TIME,  /* ns (a step, where it is a cost) */
	FINDING_COUNT, /* a step */
	FINDING_BYTES, /* a step */
	FINDING_SHARE  /* 0 to 1 */
};
const char *finding_unit_name(enum finding_unit unit); /* "ms" (the JSON converts), "per_step", "bytes", "share" */

/* Whether what was found in the baseline, and is resolved, explains the gain. */
enum diagnosis_result {
	DIAGNOSIS_NONE,      /* nothing was resolved, or the verdict is not `faster`: nothing to explain */
	DIAGNOSIS_CONFIRMED, /* each claimed part shrank by its claim, and all else makes less than a fifth of the gain
	                      */
	DIAGNOSIS_PARTLY,    /* one did not, `unmet`, or more came from elsewhere, `rest` */
	DIAGNOSIS_EXCEEDED   /* something else took a fifth of the gain and more back, `rest` */
};
const char *diagnosis_result_name(enum diagnosis_result result);

struct diagnosis;

/* How its sentence begins: the same, but where the causes are right and the time is not: "longer", "shorter". */
const char *diagnosis_said(const struct diagnosis *diagnosis);

#endif
