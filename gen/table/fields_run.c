/* What is left of a run (side/run_table.h), and what a trace says of itself. */
#include "table/inside.h"

/* ---- lists of numbers ---- */

#define NUMBERS(id, type, field_kind)                                                                                  \
	static const struct field id##_fields[] = {                                                                    \
		{.name = "is", .kind = field_kind, .size = sizeof(type), .times = 1}};                                 \
	const struct record id = {sizeof(type), id##_fields, 1};
NUMBERS(RECORD_NUMBERS, int64_t, FIELD_INT)
NUMBERS(RECORD_NAMES, uint32_t, FIELD_NAME)
NUMBERS(RECORD_FLAGS, bool, FIELD_INT)
NUMBERS(RECORD_REALS, double, FIELD_REAL)

/* ---- a trace's ---- */

#define S struct trace_source
SHARED_RECORD(RECORD_SOURCE, ENUM(kind, SOURCE_KINETO + 1), TEXT(collector), TEXT(exporter), TEXT(schema), TEXT(driver),
              TEXT(cuda_driver), TEXT(captured_by), TEXT(cupti), TEXT(traced), TEXT(sampled_by), TEXT(incomplete),
              INT(lost), INT(lost_events), INT(others), INT(ranges_ns), INT(started), INT(ranks), INT(has_calls),
              INT(has_ranges), INT(has_os_calls), INT(has_overheads), INT(has_lock), ENUM(graphs, GRAPHS_BY_NODE + 1))
#undef S

#define S struct trace_count
RECORD(count, INT(read), INT(dropped))
#undef S

#define S struct trace_dropped
SHARED_RECORD(RECORD_DROPPED, ENUM(kind, ROW_KINDS), TEXT(where), TEXT(reason), INT(rows))
#undef S

#define S struct trace_diagnostic
SHARED_RECORD(RECORD_DIAGNOSTIC, INT(severity), NAME(text))
#undef S

#define S struct trace_gpu
RECORD(gpu, NAME(name), INT(clock_hz), INT(sm_count))
#undef S

#define S struct trace_clock
SHARED_RECORD(RECORD_HOST_CLOCK, INT(host), INT(files), INT(known), REAL(offset), REAL(drift), REAL(within),
              INT(collectives))
#undef S

/* ---- a run's ---- */

#define S struct exchange_place
RECORD(place, INT(host), LIST_OF(gpu, n_gpus, RECORD_NUMBERS))
#undef S

#define S struct stopwatch_run
RECORD(timed_run, REAL(step), INT(steps), INT(start), REAL(energy), INT(looked), PART_OF(place, place))
#undef S

#define S struct stopwatch_side
SHARED_RECORD(RECORD_TIMED, LIST_OF(runs, n_runs, timed_run), INT(n_unused), TEXT(unused),
              LIST_OF(whole, n_whole, timed_run))
#undef S

#define S struct run_holes
RECORD(holes, INT(lost), INT(launches), INT(jumps), INT(from), INT(to), INT(several), INT(step), INT(times))
#undef S

#define S struct run_kernel
RECORD(run_kernel, NAME(name), NAME(phase), INT(comm), INT(n), INT(unsized), REAL(varies), REAL(ns), REAL(blocks),
       REAL(n2), REAL(ns2), REAL(blocks2), REAL(n_ns), REAL(n_blocks), REAL(threads))
#undef S

#define S struct once_gap
RECORD(once, INT(start), INT(end), ENUM(cause, CAUSE_COUNT), NAME(phase), FIELD(before, FIELD_NAME, .limit = 1),
       FIELD(next, FIELD_NAME, .limit = 1))
#undef S

#define S struct table_column
RECORD(column, ENUM(kind, PART_IDLE + 1), ENUM(cause, CAUSE_COUNT), NAME(phase), ENUM(way, COPY_WAYS),
       LIST_OF(ns, n, RECORD_NUMBERS), REALS(mean), REALS(variance))
#undef S

#define S struct run_table
SHARED_RECORD(RECORD_RUN, TEXT(file), PART_OF(source, RECORD_SOURCE), PARTS_OF(rows, count),
              LIST_OF(dropped, n_dropped, RECORD_DROPPED), LIST_OF(gpus, n_gpus, gpu), INT(shares_gpus), INT(tenants),
              INT(print), INT(n_printed), INT(found), INT(opened), INT(step_ranks), INT(shrinks), INT(uneven),
              INT(alone), INT(stranger), TEXT(loop_title), INT(loop_ops), INT(loop_times), PART_OF(holes, holes),
              INT(n_steps), INT(n_devices), INT(window_start), INT(window_end), INT(begin), INT(first_op), INT(last_op),
              LIST_OF(period, n_periods, RECORD_NUMBERS), LIST_OF(grid, n_grids, RECORD_NUMBERS),
              LIST_OF(pace, n_paces, RECORD_NUMBERS), LIST_OF(request, n_requests, RECORD_NUMBERS),
              LIST_OF(first, n_first, RECORD_NUMBERS), LIST_OF(each, n_each, RECORD_NUMBERS), PART_OF(place, place),
              REAL(worked_off), LIST_OF(kernels, n_kernels, run_kernel), INT(n_once), PART_OF(once, once),
              REALS(group_steps), REALS(group_mean), REALS(group_variance), INT(work_known), REALS(work_mean),
              REALS(work_variance), LIST_OF(column, n_columns, column), INT(n_blocks), INT(block))
#undef S
