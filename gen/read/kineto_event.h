/* One event of a PyTorch trace, from the numbers that the parser found in it to a row of struct kineto. */
#ifndef GAPLINE_READ_KINETO_EVENT_H
#define GAPLINE_READ_KINETO_EVENT_H

#include "read/kineto.h"

#include <string.h>

/* A number that may be missing. */
struct kineto_value {
	int64_t value;
	bool there;
};

enum { KINETO_NO_CATEGORY = UINT8_MAX };

enum { KINETO_INPUTS = 4, KINETO_INPUT_SIZES = 5, KINETO_GIVEN = 11, KINETO_GIVEN_NUMBERS = 3 };

/* Sizes of an operator's input: as many as it has (n), of which the first are in `size`. */
struct kineto_input {
	int64_t size[KINETO_INPUT_SIZES];
	int n;
};

/* What is known of an event. Texts are the parser's, without an end. */
struct kineto_event {
	char phase;              /* "ph": 'X' complete, 'M' a name, 's' the start of an arrow …; 0: not said */
	uint8_t category;        /* kineto_category */
	bool bad_time;           /* a time that no clock shows */
	const char *name, *meta; /* "name"; of names: what is named so */
	size_t name_n, meta_n;
	struct kineto_value start, duration; /* ns */
	/* A pid or tid is a number, a text that is one, or a text that ends with one ("stream 7"). */
	struct kineto_value process, thread, correlation, device, stream, bytes, node, context, link;
	int64_t grid[3], block[3];                /* of a kernel; 0: not said */
	struct kineto_input input[KINETO_INPUTS]; /* of an operator, the first ones */
	int n_inputs, n_given, n_types;
	uint8_t format[KINETO_INPUTS], element[KINETO_INPUTS]; /* enum flop_format; bytes, 0: no numbers of a tensor */
	/* of a convolution: its inputs that are numbers or truth values, the first of each; n: how many are there */
	struct {
		int32_t value[KINETO_GIVEN_NUMBERS];
		int n;
	} given[KINETO_GIVEN];
	bool complex; /* an input is of complex numbers */
	/* of a communication kernel; 0: not said */
	uint8_t collective, element_bytes;
	bool uneven;                                         /* ranks send, or get, different amounts */
	struct kineto_value device_type, allocated, address; /* of an allocation: c10's number, bytes in all after it */
	struct kineto_value elements_in, elements_out, group_size;
	uint64_t group_name, group_ranks; /* hashes */
};

/* Whether a text of the trace is that word. */
static inline bool kineto_is(const char *word, const char *text, size_t n)
{
	return n && word[0] == text[0] && strlen(word) == n && memcmp(word, text, n) == 0;
}

/* A text that is a number or ends with one. */
struct kineto_value kineto_number(const char *text, size_t n);

/* A number for "cat", in every spelling since 2020; KINETO_NO_CATEGORY: one that nothing is made of. */
uint8_t kineto_category(const char *text, size_t n);

/* Adds what an event says to the lists of `k`, and counts it. One with an impossible time is dropped and counted. */
void kineto_event_keep(struct kineto *k, const struct kineto_event *event);

/* What NCCL's kernels say of their collective since 2024: libkineto copies it from PyTorch's record_param_comms to the
 * kernel's arguments (output_json.cpp). Older traces have nothing of it, and kineto_phases.c tells less.
 * Numbers for "Collective name" and bytes of an element for "dtype"; 0: not known. */
uint8_t kineto_collective(const char *text, size_t n);
uint8_t kineto_element_bytes(const char *text, size_t n);

/* Hands what the kernel that `call` launched says of its collective, if it does, to the builder; `range`: the call. */
void kineto_comm_give(struct kineto *k, const struct kineto_span *call, const struct build_range *range);

#endif
