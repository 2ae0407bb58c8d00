/* What sentences call GPUs, ranks and functions. All texts are arena texts. */
#ifndef GAPLINE_RESULT_SAY_H
#define GAPLINE_RESULT_SAY_H

#include "result/functions_result.h"
#include "result/side_result.h"
#include "say/number.h"

/* GPUs as one text: "NVIDIA H200 at up to 1980 MHz, NVIDIA A100", each model and clock once. `text` begins as "", the
 * rest is say_gpu's own. */
struct say_gpus {
	const char *text;
	const struct trace_gpu **said;
	uint32_t n;
};
void say_gpu(struct say_gpus *gpus, struct arena *arena, const struct names *names, const struct trace_gpu *gpu);

/* A device among the others of its side: "rank 5"; "rank 5, device 1" where a rank has several; without ranks "device 0
 * of process 4711". */
const char *say_rank(const struct side *side, uint32_t device, struct arena *arena);

/* What a function is called, in at most about `most` characters: "re.findall", "libc.so.6 (no symbols)". */
const char *say_function(const struct names *names, const struct sampled_function *function, unsigned most,
                         struct arena *arena);

#endif
