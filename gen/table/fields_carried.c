/* What took rows to find, beside a judgement: what threads were in, what Nsight Compute measured, and what
 * is in graphs. */
#include "table/fields.h"

#define S struct sampled_function
static const struct field function_fields[] = {NAME(name), NAME(module), ENUM(kind, FRAME_CUT + 1)};
static const struct record function = RECORD_OF(function_fields);
#undef S

#define S struct function_row
static const struct field row_fields[] = {
	PART_OF(function, function), REALS(self), REALS(total), REALS(samples), REALS(untold), INT(changed)};
static const struct record row = RECORD_OF(row_fields);
#undef S

#define S struct function_list
static const struct field list_fields[] = {LIST_OF(row, n, row), INT(left_out), REALS(rest)};
static const struct record list = RECORD_OF(list_fields);
#undef S

#define S struct lock_holder
static const struct field holder_fields[] = {NAME(name), INT(main), REALS(time)};
static const struct record holder = RECORD_OF(holder_fields);
#undef S

#define S struct sampled_cause
static const struct field cause_fields[] = {ENUM(cause, CAUSE_COUNT),
                                            NAME(phase),
                                            REALS(idle),
                                            REALS(sampled),
                                            REALS(samples),
                                            PART_OF(functions, list),
                                            LIST_OF(holders, n_holders, holder),
                                            INT(holders_left_out)};
static const struct record cause = RECORD_OF(cause_fields);
#undef S

#define S struct stack_part
static const struct field stack_fields[] = {INT(parent),
                                            INT(depth),
                                            ENUM(cause, CAUSE_COUNT),
                                            NAME(phase),
                                            PART_OF(function, function),
                                            LIST_OF(callers, n_callers, function),
                                            REALS(start),
                                            REALS(time),
                                            REALS(samples),
                                            REALS(untold),
                                            ENUM(change, STACK_MUCH_MORE + 1)};
static const struct record stack = RECORD_OF(stack_fields);
#undef S

#define S struct sampling
static const struct field sampling_fields[] = {REAL(samples),  REAL(idle),    REAL(unnamed), REAL(broken), REAL(bare),
                                               REAL(interval), REAL(covered), REAL(stands),  INT(cut)};
static const struct record sampling = RECORD_OF(sampling_fields);
#undef S

#define S struct functions
static const struct field functions_fields[] = {
	INT(known),         INT(both),   PARTS_OF(side, sampling),      LIST_OF(cause, n_causes, cause),
	PART_OF(all, list), REALS(idle), LIST_OF(part, n_parts, stack), REALS(drawn),
	REAL(width)};
const struct record RECORD_FUNCTIONS = RECORD_OF(functions_fields);
#undef S

#define S struct kernel_stall
static const struct field stall_fields[] = {ENUM(stall, NCU_STALLS), REAL(share)};
static const struct record stall = RECORD_OF(stall_fields);
#undef S

#define S struct kernel_inside
static const struct field kernel_fields[] = {INT(launches),
                                             NAME(name),
                                             INT(shape),
                                             INTS(grid),
                                             INTS(block),
                                             REAL(instances),
                                             REAL(per_step),
                                             REAL(share),
                                             REALS_OR_NAN(value),
                                             ENUM(bound, BOUND_LATENCY + 1),
                                             ENUM(limit, NCU_NUMBERS + 1),
                                             PARTS_OF(stall, stall),
                                             ENUM(n_stalls, KERNEL_STALLS + 1),
                                             NAME(rule),
                                             REAL_OR_NAN(intensity),
                                             REAL_OR_NAN(rate)};
static const struct record kernel = RECORD_OF(kernel_fields);
#undef S

#define S struct kernel_pair
static const struct field pair_fields[] = {PARTS_OF(side, kernel), TEXT(text), TEXT(advice)};
static const struct record pair = RECORD_OF(pair_fields);
#undef S

#define S struct roof
static const struct field roof_fields[] = {INT(known), REAL(bandwidth), REAL(peak)};
static const struct record roof = RECORD_OF(roof_fields);
#undef S

#define S struct graph_share
static const struct field share_fields[] = {NAME(name), REAL(share)};
static const struct record share = RECORD_OF(share_fields);
#undef S

#define S struct graph_list
static const struct field shares_fields[] = {LIST_OF(row, n, share)};
static const struct record shares = RECORD_OF(shares_fields);
#undef S

#define S struct graph_inside
static const struct field graph_fields[] = {INT(number), REAL(instances), REAL(per_step), PARTS_OF(list, shares)};
static const struct record graph = RECORD_OF(graph_fields);
#undef S

#define S struct graphs_inside
static const struct field graphs_fields[] = {TEXT(file), FACT_OF(unknown), LIST_OF(graph, n, graph), INT(more)};
static const struct record graphs = RECORD_OF(graphs_fields);
#undef S

#define S struct kernels_inside
static const struct field inside_fields[] = {
	INTS(given),     LIST_OF(pair, n, pair),  INT(more),     INTS(groups),
	INTS(strangers), REALS(covered),          INT(absolute), PARTS_OF(roof, roof),
	TEXTS(command),  PARTS_OF(graphs, graphs)};
const struct record RECORD_INSIDE = RECORD_OF(inside_fields);
#undef S
