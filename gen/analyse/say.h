/* Numbers as sentences of findings and differences say them. All texts are arena texts. */
#ifndef GAPLINE_ANALYSE_SAY_H
#define GAPLINE_ANALYSE_SAY_H

#include "analyse/functions_result.h"
#include "analyse/side_result.h"

/* A list of whole sentences. */
struct sentences {
	const char **list;
	uint32_t n;
};
void say_add(struct sentences *sentences, struct arena *arena, const char *sentence);

/* Three digits, never an exponent; "<0.001" for what is smaller. */
const char *say_digits(struct arena *arena, double value);

/* "1st", "12th", "21st". */
const char *say_ordinal(struct arena *arena, size_t n);

/* A count: whole, or a mean with two decimals. */
const char *say_count(struct arena *arena, double count);

/* "not at all", "once", "twice", "3 times", "2.50 times". */
const char *say_times(struct arena *arena, double count);

/* "4 bytes", "12.5 kB", "6.29 MB". */
const char *say_bytes(struct arena *arena, double bytes);

/* A name of at most about fifty characters: a longer one is cut, with "…". */
const char *say_short(struct arena *arena, const char *name);

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
