/* The words that readers and machines see for causes, results and the like. */
#include "result/words.h"

#include "base/format.h"
#include "result/functions_result.h"
#include "result/kernels_result.h"
#include "result/pair_result.h"

#include "say/say.h"

const enum cause cause_of_call[] = {
	[CALL_OTHER] = CAUSE_OTHER_API,  [CALL_LAUNCH] = CAUSE_LAUNCH_API, [CALL_COPY] = CAUSE_COPY_API,
	[CALL_SYNC] = CAUSE_SYNC_RETURN, [CALL_ALLOC] = CAUSE_ALLOC,       [CALL_MODULE] = CAUSE_MODULE_LOAD};

const char *cause_name(enum cause cause)
{
	return say_listed(WORDS_cause, cause)->key;
}

const char *cause_label(enum cause cause)
{
	return say_listed(WORDS_cause, cause)->word;
}

const char *cause_meaning(enum cause cause)
{
	return say_listed(WORDS_cause_meaning, cause)->word;
}

WORD_OF(part_kind_name, part_kind, [PART_COMPUTE] = "compute", [PART_COMM] = "comm_exposed",
        [PART_COPY] = "copy_exposed", [PART_IDLE] = "idle", [PART_UNUSUAL] = "unusual_steps",
        [PART_RECORDING] = "recording", [PART_OUTSIDE] = "outside", [PART_OTHER] = "other")

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
        step_origin, [STEPS_NONE] = "none", [STEPS_BY_RANGE] = "range", [STEPS_BY_PATTERN] = "pattern",
        [STEPS_BY_NAME] = "named", [STEPS_BY_MARK] = "marked", [STEPS_BY_OPTIMIZER] = "optimizer")

WORD_OF(straggler_kind_name, straggler_kind, [STRAGGLER_NONE] = "none", [STRAGGLER_PERSISTENT] = "persistent",
        [STRAGGLER_TURNS] = "turns", [STRAGGLER_SCHEDULE] = "schedule")

const char *kernel_limit_name(enum ncu_number limit)
{
	static const char *const names[NCU_NUMBERS] = {
		[NCU_BY_REGISTERS] = "registers",   [NCU_BY_SHARED] = "shared_memory",
		[NCU_BY_WARPS] = "warps_per_block", [NCU_BY_BLOCKS] = "blocks_per_sm",
		[NCU_BY_BARRIERS] = "barriers",     [NCU_WAVES] = "grid",
	};
	return limit < NCU_NUMBERS ? names[limit] : NULL;
}
