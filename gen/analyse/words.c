/* The words that readers and machines see for causes, results and the like. */
#include "analyse/words.h"

#include "analyse/functions_result.h"
#include "analyse/pair_result.h"
#include "base/format.h"

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

static const char *const startup_parts[STARTUP_PARTS] = {
	[STARTUP_BEFORE_CUDA] = "before_cuda",   [STARTUP_CUDA_SETUP] = "cuda_setup",
	[STARTUP_MODULE_LOAD] = "module_load",   [STARTUP_FIRST_LAUNCHES] = "first_launches",
	[STARTUP_SEARCH] = "kernel_search",      [STARTUP_ALLOC] = "alloc",
	[STARTUP_COPY_API] = "copy_api",         [STARTUP_LAUNCH_API] = "launch_api",
	[STARTUP_SYNC] = "sync_return",          [STARTUP_HOST_CODE] = "host_code",
	[STARTUP_HOST_BLOCKED] = "host_blocked", [STARTUP_GIL] = "gil",
	[STARTUP_OFF_CPU] = "off_cpu",           [STARTUP_HANDOVER] = "handover",
	[STARTUP_PROFILER] = "profiler",
};

const char *startup_part_name(enum startup_part part)
{
	return startup_parts[part];
}

const char *startup_part_label(enum startup_part part)
{
	return say_word(WORDS_startup_part, startup_parts[part]);
}

const char *startup_part_meaning(enum startup_part part)
{
	return say_word(WORDS_startup_meaning, startup_parts[part]);
}

const char *opened_label(enum opened opened)
{
	static const char *const names[] = {[OPENED_SYNC] = "sync", [OPENED_DRY] = "dry", [OPENED_WAITING] = "waiting"};
	return say_word(WORDS_opened, names[opened]);
}

WORD_OF(limit_name,
        limit, [LIMIT_POWER] = "power_cap", [LIMIT_THERMAL] = "thermal", [LIMIT_HARDWARE_THERMAL] = "hardware_thermal",
        [LIMIT_HARDWARE] = "hardware_slowdown", [LIMIT_POWER_BRAKE] = "power_brake",
        [LIMIT_APPLICATION] = "application_clocks", [LIMIT_SYNC_BOOST] = "sync_boost", [LIMIT_OTHER] = "other")

WORD_OF(rank_part_name, rank_part, [RANK_COMPUTE] = "compute", [RANK_WAITING] = "waiting",
        [RANK_MOVING] = "other_communication", [RANK_COPY] = "copies", [RANK_IDLE] = "idle")

WORD_OF(part_kind_name, part_kind, [PART_COMPUTE] = "compute", [PART_COMM] = "comm_exposed",
        [PART_COPY] = "copy_exposed", [PART_IDLE] = "idle", [PART_UNUSUAL] = "unusual_steps",
        [PART_RECORDING] = "recording", [PART_OUTSIDE] = "outside", [PART_OTHER] = "other")

WORD_OF(part_short_name,
        part_kind, [PART_COMPUTE] = "compute", [PART_COMM] = "comm", [PART_COPY] = "copy", [PART_IDLE] = "idle")

WORD_OF(stack_change_name, stack_change, [STACK_SAME] = "same", [STACK_LESS] = "less", [STACK_MUCH_LESS] = "much_less",
        [STACK_MORE] = "more", [STACK_MUCH_MORE] = "much_more")

WORD_OF(finding_status_name, finding_status, [FINDING_RESOLVED] = "resolved", [FINDING_REDUCED] = "reduced",
        [FINDING_REMAINING] = "remaining", [FINDING_NEW] = "new", [FINDING_SEEN] = "seen")

WORD_OF(finding_unit_name, finding_unit, [FINDING_TIME] = "ms", [FINDING_COUNT] = "per_step", [FINDING_BYTES] = "bytes",
        [FINDING_SHARE] = "share")

const char *ranges_label(const struct trace_source *a, const struct trace_source *b, bool begins)
{
	bool kineto = a->kind == SOURCE_KINETO, both = kineto == (b->kind == SOURCE_KINETO);
	return say_word(begins ? WORDS_ranges_first : WORDS_ranges, !both ? "both" : kineto ? "kineto" : "nvtx");
}

WORD_OF(result_state_name,
        result_state, [RESULT_AGREES] = "same", [RESULT_DIFFERS] = "different", [RESULT_UNKNOWN] = "unknown")

WORD_OF(same_work_name, same_work, [SAME_WORK_SAME] = "same", [SAME_WORK_JOB] = "same_job",
        [SAME_WORK_DIFFERENT] = "different", [SAME_WORK_UNKNOWN] = "unknown")

WORD_OF(same_kernels_name,
        same_kernels, [KERNELS_OTHERS] = "others", [KERNELS_TIMES] = "times", [KERNELS_SAME] = "same")

WORD_OF(diagnosis_result_name, diagnosis_result, [DIAGNOSIS_NONE] = "none", [DIAGNOSIS_CONFIRMED] = "confirmed",
        [DIAGNOSIS_PARTLY] = "partly", [DIAGNOSIS_EXCEEDED] = "exceeded")

const char *diagnosis_said(const struct diagnosis *d)
{
	static const double far = 1.15; /* of what was predicted, to either side */
	const double least = d->combined_least > 0 ? d->combined_least : d->combined_ceiling;
	const bool right = d->result == DIAGNOSIS_CONFIRMED || d->result == DIAGNOSIS_PARTLY;
	return right && d->measured * far < least ? "shorter"
	       : d->result == DIAGNOSIS_CONFIRMED && d->measured > far * d->combined_ceiling
	               ? "longer"
	               : diagnosis_result_name(d->result);
}

WORD_OF(step_origin_name,
        step_origin, [STEPS_NONE] = "none", [STEPS_BY_RANGE] = "range", [STEPS_BY_PATTERN] = "pattern")

WORD_OF(straggler_kind_name, straggler_kind, [STRAGGLER_NONE] = "none", [STRAGGLER_PERSISTENT] = "persistent",
        [STRAGGLER_TURNS] = "turns", [STRAGGLER_SCHEDULE] = "schedule")
