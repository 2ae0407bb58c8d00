/* The words that readers and machines see for causes, results and the like. */
#include "analyse/words.h"

#include "say/say.h"

static const char *const causes[CAUSE_COUNT] = {
	[CAUSE_HOST_CODE] = "host_code",
	[CAUSE_HOST_BLOCKED] = "host_blocked",
	[CAUSE_GIL] = "gil",
	[CAUSE_OFF_CPU] = "off_cpu",
	[CAUSE_HANDOVER] = "handover",
	[CAUSE_SYNC_RETURN] = "sync_return",
	[CAUSE_COPY_API] = "copy_api",
	[CAUSE_LAUNCH_API] = "launch_api",
	[CAUSE_ALLOC] = "alloc",
	[CAUSE_MODULE_LOAD] = "module_load",
	[CAUSE_OTHER_API] = "other_api",
	[CAUSE_PROFILER] = "profiler",
	[CAUSE_LAUNCH_LATENCY] = "launch_latency",
	[CAUSE_DISPATCH] = "dispatch",
	[CAUSE_DEPENDENCY] = "dependency",
	[CAUSE_LATE_START] = "late_start",
	[CAUSE_MANAGED_MEMORY] = "managed_memory",
	[CAUSE_BUBBLE] = "bubble",
	[CAUSE_OTHER_PROCESS] = "other_process",
	[CAUSE_UNATTRIBUTED] = "unattributed",
};

const enum cause cause_of_call[] = {
	[CALL_OTHER] = CAUSE_OTHER_API,  [CALL_LAUNCH] = CAUSE_LAUNCH_API, [CALL_COPY] = CAUSE_COPY_API,
	[CALL_SYNC] = CAUSE_SYNC_RETURN, [CALL_ALLOC] = CAUSE_ALLOC,       [CALL_MODULE] = CAUSE_MODULE_LOAD};

const char *cause_name(enum cause cause)
{
	return causes[cause];
}

const char *cause_label(enum cause cause)
{
	return say_word(WORDS_cause, causes[cause]);
}

const char *cause_meaning(enum cause cause)
{
	return say_word(WORDS_cause_meaning, causes[cause]);
}

static const struct {
	const char *name, *label, *meaning;
} startup_parts[STARTUP_PARTS] = {
	[STARTUP_BEFORE_CUDA] = {"before_cuda", "before CUDA",
                                 "Until the process's first CUDA call that is recorded: imports, arguments, input, the "
                                 "driver's initialisation."},
	[STARTUP_CUDA_SETUP] = {"cuda_setup", "CUDA set-up",
                                "In CUDA calls until the context is made, which the first allocation, copy or launch "
                                "does at the latest; later in those that make streams, events and the like."},
	[STARTUP_MODULE_LOAD] = {"module_load", "module load, JIT",
                                 "Loading code: a module, a library, or compiling at run time."},
	[STARTUP_FIRST_LAUNCHES] = {"first_launches", "first launches",
                                    "In the first launch of each kernel, which also loads it where loading is lazy."},
	[STARTUP_SEARCH] = {"kernel_search", "kernel search",
                            "While kernels were tried out: an autotuner's, or between events whose times the program "
                            "asked for, as cuDNN's search and Triton do."},
	[STARTUP_ALLOC] = {"alloc", "allocation", "Allocating, freeing or registering memory: pools."},
	[STARTUP_COPY_API] = {"copy_api", "copy call", "Inside copy and memset calls."},
	[STARTUP_LAUNCH_API] = {"launch_api", "launch call",
                                "Inside launches of kernels that had been launched before."},
	[STARTUP_SYNC] = {"sync_return", "synchronisation", "Inside synchronising calls and blocking read-backs."},
	[STARTUP_HOST_CODE] = {"host_code", "host code", "The thread's own code between CUDA calls."},
	[STARTUP_HOST_BLOCKED] = {"host_blocked", "host blocked", "Operating-system calls between CUDA calls."},
	[STARTUP_GIL] = {"gil", "Python's GIL", "Waiting for Python's global interpreter lock."},
	[STARTUP_OFF_CPU] = {"off_cpu", "host off the processor", "Asleep, or others ran on the processor."},
	[STARTUP_HANDOVER] = {"handover", "thread hand-over",
                              "Waiting for another launching thread, which waited too."},
	[STARTUP_PROFILER] = {"profiler", "profiler", "The profiler's own recorded overhead."},
};

const char *startup_part_name(enum startup_part part)
{
	return startup_parts[part].name;
}

const char *startup_part_label(enum startup_part part)
{
	return startup_parts[part].label;
}

const char *startup_part_meaning(enum startup_part part)
{
	return startup_parts[part].meaning;
}

const char *opened_name(enum opened opened)
{
	static const char *const names[] = {[OPENED_SYNC] = "synchronisation",
	                                    [OPENED_DRY] = "queue ran dry",
	                                    [OPENED_WAITING] = "queued, waiting"};
	return names[opened];
}

static const struct {
	const char *name, *label;
} limits[LIMIT_COUNT] = {
	[LIMIT_POWER] = {"power_cap", "power cap"},
	[LIMIT_THERMAL] = {"thermal", "heat"},
	[LIMIT_HARDWARE_THERMAL] = {"hardware_thermal", "heat (hardware)"},
	[LIMIT_HARDWARE] = {"hardware_slowdown", "hardware slowdown"},
	[LIMIT_POWER_BRAKE] = {"power_brake", "power brake"},
	[LIMIT_APPLICATION] = {"application_clocks", "clocks set by the user"},
	[LIMIT_SYNC_BOOST] = {"sync_boost", "kept in step with another GPU"},
	[LIMIT_OTHER] = {"other", "another reason"},
};

const char *limit_name(enum limit limit)
{
	return limits[limit].name;
}

const char *limit_label(enum limit limit)
{
	return limits[limit].label;
}

const char *rank_part_name(enum rank_part part)
{
	static const char *const name[RANK_PARTS] = {[RANK_COMPUTE] = "compute",
	                                             [RANK_WAITING] = "waiting",
	                                             [RANK_MOVING] = "other_communication",
	                                             [RANK_COPY] = "copies",
	                                             [RANK_IDLE] = "idle"};
	return name[part];
}

const char *part_kind_name(enum part_kind kind)
{
	static const char *const names[PART_COUNT] = {[PART_COMPUTE] = "compute",       [PART_COMM] = "comm_exposed",
	                                              [PART_COPY] = "copy_exposed",     [PART_IDLE] = "idle",
	                                              [PART_UNUSUAL] = "unusual_steps", [PART_RECORDING] = "recording",
	                                              [PART_OUTSIDE] = "outside",       [PART_OTHER] = "other"};
	return names[kind];
}

const char *finding_status_name(enum finding_status status)
{
	static const char *const names[] = {[FINDING_RESOLVED] = "resolved",
	                                    [FINDING_REDUCED] = "reduced",
	                                    [FINDING_REMAINING] = "remaining",
	                                    [FINDING_NEW] = "new",
	                                    [FINDING_SEEN] = "seen"};
	return names[status];
}

const char *finding_unit_name(enum finding_unit unit)
{
	static const char *const names[] = {[FINDING_TIME] = "ms",
	                                    [FINDING_COUNT] = "per_step",
	                                    [FINDING_BYTES] = "bytes",
	                                    [FINDING_SHARE] = "share"};
	return names[unit];
}

const char *ranges_label(const struct trace_source *a, const struct trace_source *b, bool begins)
{
	bool kineto = a->kind == SOURCE_KINETO;
	if (kineto != (b->kind == SOURCE_KINETO))
		return begins ? "Ranges" : "ranges";
	if (!kineto)
		return "NVTX ranges";
	return begins ? "Annotations and operators" : "annotations and operators";
}

const char *result_state_name(enum result_state state)
{
	static const char *const names[] = {
		[RESULT_AGREES] = "same", [RESULT_DIFFERS] = "different", [RESULT_UNKNOWN] = "unknown"};
	return names[state];
}

const char *same_work_name(enum same_work same_work)
{
	static const char *const names[] = {[SAME_WORK_SAME] = "same",
	                                    [SAME_WORK_JOB] = "same_job",
	                                    [SAME_WORK_DIFFERENT] = "different",
	                                    [SAME_WORK_UNKNOWN] = "unknown"};
	return names[same_work];
}

const char *diagnosis_result_name(enum diagnosis_result result)
{
	static const char *const names[] = {[DIAGNOSIS_NONE] = "none",
	                                    [DIAGNOSIS_CONFIRMED] = "confirmed",
	                                    [DIAGNOSIS_PARTLY] = "partly",
	                                    [DIAGNOSIS_EXCEEDED] = "exceeded"};
	return names[result];
}

const char *step_origin_name(enum step_origin origin)
{
	static const char *const names[] = {
		[STEPS_NONE] = "none", [STEPS_BY_RANGE] = "range", [STEPS_BY_PATTERN] = "pattern"};
	return names[origin];
}

const char *straggler_kind_name(enum straggler_kind kind)
{
	static const char *const names[] = {[STRAGGLER_NONE] = "none",
	                                    [STRAGGLER_PERSISTENT] = "persistent",
	                                    [STRAGGLER_TURNS] = "turns",
	                                    [STRAGGLER_SCHEDULE] = "schedule"};
	return names[kind];
}
