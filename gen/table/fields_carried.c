/* What took rows to find, beside a judgement: what threads were in, what Nsight Compute measured, and what
 * is in graphs. */
#include "table/inside.h"

#define S struct sampled_function
RECORD(function, NAME(name), NAME(module), ENUM(kind, FRAME_CUT + 1))
#undef S

#define S struct function_row
RECORD(row, PART_OF(function, function), REALS(self), REALS(total), REALS(samples), REALS(untold), INT(changed))
#undef S

#define S struct function_list
RECORD(list, LIST_OF(row, n, row), INT(left_out), REALS(rest))
#undef S

#define S struct lock_holder
RECORD(holder, NAME(name), INT(main), REALS(time))
#undef S

#define S struct sampled_cause
RECORD(cause, ENUM(cause, CAUSE_COUNT), NAME(phase), REALS(idle), REALS(sampled), REALS(samples),
       PART_OF(functions, list), LIST_OF(holders, n_holders, holder), INT(holders_left_out))
#undef S

#define S struct stack_part
RECORD(stack, INT(parent), INT(depth), ENUM(cause, CAUSE_COUNT), NAME(phase), PART_OF(function, function),
       LIST_OF(callers, n_callers, function), REALS(start), REALS(time), REALS(samples), REALS(untold),
       ENUM(change, STACK_MUCH_MORE + 1))
#undef S

#define S struct sampling
RECORD(sampling, REAL(samples), REAL(idle), REAL(unnamed), REAL(broken), REAL(bare), REAL(interval), REAL(covered),
       REAL(stands), INT(cut))
#undef S

#define S struct functions
SHARED_RECORD(RECORD_FUNCTIONS, INT(known), INT(both), PARTS_OF(side, sampling), LIST_OF(cause, n_causes, cause),
              PART_OF(all, list), REALS(idle), LIST_OF(part, n_parts, stack), REALS(drawn), REAL(width))
#undef S

#define S struct kernel_stall
RECORD(stall, ENUM(stall, NCU_STALLS), REAL(share))
#undef S

#define S struct kernel_inside
RECORD(kernel, INT(launches), NAME(name), INT(shape), INTS(grid), INTS(block), REAL(instances), REAL(per_step),
       REAL(share), REALS_OR_NAN(value), ENUM(bound, BOUND_LATENCY + 1), ENUM(limit, NCU_NUMBERS + 1),
       PARTS_OF(stall, stall), ENUM(n_stalls, KERNEL_STALLS + 1), NAME(rule), REAL_OR_NAN(intensity), REAL_OR_NAN(rate))
#undef S

#define S struct kernel_pair
RECORD(pair, PARTS_OF(side, kernel), TEXT(text), TEXT(advice))
#undef S

#define S struct roof
RECORD(roof, INT(known), REAL(bandwidth), REAL(peak))
#undef S

#define S struct graph_share
RECORD(share, NAME(name), REAL(share))
#undef S

#define S struct graph_list
RECORD(shares, LIST_OF(row, n, share))
#undef S

#define S struct graph_inside
RECORD(graph, INT(number), REAL(instances), REAL(per_step), PARTS_OF(list, shares))
#undef S

#define S struct graphs_inside
RECORD(graphs, TEXT(file), FACT_OF(unknown), LIST_OF(graph, n, graph), INT(more))
#undef S

#define S struct kernels_inside
SHARED_RECORD(RECORD_INSIDE, INTS(given), LIST_OF(pair, n, pair), INT(more), INTS(groups), INTS(strangers),
              REALS(covered), INT(absolute), PARTS_OF(roof, roof), TEXTS(command), PARTS_OF(graphs, graphs))
#undef S
