#include "table/inside.h"

/* Whoever gives one of these structs something new gives it to the lists below, too, or says here that it is left out,
 * or what is said of a table is no longer what is said of its profiles. Left out are what a judgement makes
 * (side.headline, side.latency, side.slowest, side.items, side_facts.timed.other_gpus,
 * run_result.series), what stands in the tables already (run_result.period), who has rows (side_facts.rows,
 * side.events, side.doubt, device_result.n_runs), and the pictures' contents. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(struct side) == 12960, "something new in struct side");
_Static_assert(sizeof(struct side_facts) == 304, "something new in struct side_facts");
_Static_assert(sizeof(struct run_table) == 944, "something new in struct run_table");
_Static_assert(sizeof(struct table_options) == 88, "something new in struct table_options");
_Static_assert(sizeof(struct device_result) == 664, "something new in struct device_result");
_Static_assert(sizeof(struct rank_result) == 88, "something new in struct rank_result");
_Static_assert(sizeof(struct functions) == 256, "something new in struct functions");
_Static_assert(sizeof(struct kernels_inside) == 192, "something new in struct kernels_inside");
#endif

size_t field_count(const struct field *field, const void *row)
{
	const char *at = (const char *)row + field->n_at;
	const void *list = *(void *const *)((const char *)row + field->at);
	if (!field->n_size || !list)
		return list != NULL;
	return field->n_size == 8 ? *(const size_t *)at : *(const uint32_t *)at;
}

void field_set_count(const struct field *field, void *row, size_t n)
{
	if (field->n_size == 8)
		*(size_t *)((char *)row + field->n_at) = n;
	else if (field->n_size)
		*(uint32_t *)((char *)row + field->n_at) = (uint32_t)n;
}

/* ---- a side's ---- */

#define S struct side_file
RECORD(file, TEXT(file), INT(run), INT(rank), INT(rank_named))
#undef S

#define S struct side_files
RECORD(files, LIST_OF(file, n, file), TEXT(why), TEXT(note))
#undef S

#define S struct run_result
RECORD(result, TEXT(file), INT(n_steps), INT(opened), INT(left_out), INT(warmup), INT(window_ns))
#undef S

#define S struct side_steps
RECORD(steps, INT(found), ENUM(origin, STEP_ORIGINS), NAME(name), INT(ranks), REAL(coverage), INT(measured), REAL(mean),
       REAL(median), REAL(min), REAL(max))
#undef S

#define S struct startup_row
RECORD(startup_row, ENUM(part, STARTUP_PARTS), REAL(ns))
#undef S

#define S struct startup
RECORD(startup, REAL(ns), REAL(least), REAL(most), PARTS_OF(row, startup_row), ENUM(n_rows, STARTUP_PARTS + 1),
       REAL(pause), INT(whole))
#undef S

#define S struct loop_result
RECORD(loop, NAME(name), INT(steps), INT(differ), INT(ops), REAL(period), REAL(share), REAL(tried), INT(fewest),
       INT(most), REAL(explained), REAL(same), INT(judged))
#undef S

#define S struct spread
RECORD(spread, INT(n), REAL(median), REAL(min), REAL(max), REAL(mean))
#undef S

#define S struct clocks
RECORD(clocks, INT(samples), INT(idle), INT(beside), INT(blind), PART_OF(sm_mhz, spread), PART_OF(memory_mhz, spread),
       PART_OF(power_w, spread), PART_OF(temperature_c, spread), INT(judged), REALS(limited))
#undef S

#define S struct metric_means
RECORD(means, REALS(mean))
#undef S

#define S struct metric_phase
RECORD(metric_phase, NAME(name), REAL(ns), PART_OF(means, means))
#undef S

#define S struct metrics
RECORD(metrics, INT(samples), REAL(interval), REAL(known), INT(before), INTS(has), REAL(busy_ns), REAL(busy_share),
       PART_OF(busy, means), PART_OF(idle, means), PART_OF(window, means), LIST_OF(phases, n_phases, metric_phase))
#undef S

#define S struct idle_row
RECORD(idle_row, ENUM(cause, CAUSE_COUNT), NAME(phase), NAME(call), REAL(per_step), REALS(opened))
#undef S

#define S struct budget
RECORD(budget, REAL(compute), REAL(comm_exposed), REAL(copy_exposed), REAL(idle), REAL(period), REAL(unlooked),
       LIST_OF(rows, n_rows, idle_row))
#undef S

#define S struct device_result
RECORD(device, INT(id), INT(process), INT(rank), INT(ordinal), NAME(name), INT(clock_hz), INT(window_ns),
       PART_OF(budget, budget), REAL(limit_ns), PART_OF(clocks, clocks), PART_OF(metrics, metrics))
#undef S

#define S struct phase_result
RECORD(phase, NAME(name), INT(rank), REAL(cost), REAL(gpu), REAL(idle), REAL(host), REAL(instances), REAL(cost_share),
       INT(memory))
#undef S

#define S struct kernel_result
RECORD(kernel, NAME(name), INT(comm), INT(graph), NAME(of), REAL(instances), REAL(per_step))
#undef S

#define S struct owner_result
RECORD(owner, NAME(name), REAL(instances), REAL(per_step), REAL(flops), REAL(flops_known), REAL(ideal),
       REAL(ideal_known), REAL(moved), REAL(moved_known), REAL(copied), REAL(copied_known))
#undef S

#define S struct api_result
RECORD(api, NAME(name), ENUM(class, CALL_MODULE + 1), REAL(calls), REAL(per_step))
#undef S

#define S struct copy_result
RECORD(copy, NAME(name), ENUM(kind, COPY_UM_D2D + 1), INT(memset), INT(pageable), REAL(instances), REAL(bytes),
       REAL(per_step), REAL(bytes2), REAL(unsized))
#undef S

#define S struct range_result
RECORD(range, NAME(domain), NAME(name), REAL(instances), REAL(host), REAL(gpu), REAL(launching))
#undef S

#define S struct side_counts
RECORD(counts, REAL(launches), REAL(graph_launches), REAL(collectives), REAL(ranges), REAL(syncs), REAL(bytes_h2d),
       REAL(bytes_d2h), REAL(bytes_d2d), REAL(unsized_h2d), REAL(unsized_d2h), REAL(unsized_d2d), REAL(overhead))
#undef S

#define S struct launch_pace
RECORD(pace, NAME(what), NAME(next), INT(noted), INT(n), REAL(median), REAL(mean))
#undef S

#define S struct launch_paces
RECORD(paces, LIST_OF(list, n, pace), INT(all))
#undef S

#define S struct recording_cost
RECORD(recording, REAL(waited_calls), REAL(waited_ranges), REAL(graph_nodes), REAL(launch_pace), INT(of_graphs),
       REAL(arrivals), REAL(arrival), PART_OF(paces, paces), REALS(took), REAL(added), REAL(ranges))
#undef S

#define S struct trace_held
RECORD(held, INT(bytes), NAME(name))
#undef S

#define S struct side_memory
RECORD(memory, INT(known), INT(allocator), INT(peak), PARTS_OF(held, held), PARTS_OF(operators, held), TEXT(why),
       INT(n_steps), TEXT(steps_why), INT(step_median), INT(step_most))
#undef S

#define S struct rank_result
RECORD(rank, INT(device), INT(host), INT(stepless), REAL(own), REAL(waiting), REAL(bubble), INT(partner), REAL(moving),
       REAL(unmatched), REAL(hidden), REAL(waited_for), REAL(last))
#undef S

#define S struct straggler
RECORD(straggler, ENUM(kind, STRAGGLER_SCHEDULE + 1), INT(device), REAL(share), INT(has_reason), ENUM(part, PART_COUNT),
       ENUM(cause, CAUSE_COUNT), INT(input), NAME(phase), REAL(more), REAL(others), INT(late), INT(steps), INT(every))
#undef S

#define S struct comm_result
RECORD(comm, NAME(name), INT(communicator), INT(ranks), REAL(per_step), REAL(matched), REAL(waiting), REAL(moving),
       REAL(exposed), REAL(hidden), INT(last), REAL(last_share), REAL(bytes), REAL(bus_bandwidth))
#undef S

#define S struct rank_map
RECORD(map, ENUM(rows, RANK_MAP_ROWS + 1), ENUM(columns, RANK_MAP_COLUMNS + 1), INT(ranks_a_row), INT(steps_a_column),
       INT(first_step), REAL(low), REAL(high))
#undef S

#define S struct ranks_result
RECORD(ranks, LIST_OF(list, n, rank), REAL(collectives), INT(known), INT(one_clock),
       LIST_OF(clocks, n_clocks, RECORD_HOST_CLOCK), REAL(waiting), REAL(bubble), REAL(moving), REAL(unmatched),
       LIST_OF(comms, n_comms, comm), INT(comms_left_out), PART_OF(straggler, straggler), PART_OF(map, map),
       PARTS_OF(parts, map))
#undef S

#define S struct timeline
RECORD(timeline, INT(left_out), INT(length), LIST_OF(boundary, n_boundaries, RECORD_NUMBERS), INT(first_step))
#undef S

#define S struct overview
RECORD(overview, INT(length), INT(window_start), INT(window_end))
#undef S

#define S struct quality
RECORD(quality, LIST_OF(dropped, n_dropped, RECORD_DROPPED), LIST_OF(diagnostics, n_diagnostics, RECORD_DIAGNOSTIC),
       REAL(unlaunched_share), FACTS_OF(notes))
#undef S

#define S struct side
RECORD(side, TEXT(label), TEXT(name), PART_OF(source, RECORD_SOURCE), PART_OF(files, files),
       LIST_OF(runs, n_runs, result), INT(median_run), PART_OF(steps, steps), PART_OF(startup, startup),
       LIST_OF(loops, n_loops, loop), LIST_OF(devices, n_devices, device), PART_OF(budget, budget), REAL(busy),
       LIST_OF(phases, n_phases, phase), LIST_OF(order, n_order, RECORD_NAMES), INT(phases_by_work),
       LIST_OF(kernels, n_kernels, kernel), LIST_OF(operators, n_operators, owner), LIST_OF(modules, n_modules, owner),
       LIST_OF(outermost, n_outermost, owner), INT(modules_by_ranges), LIST_OF(lines, n_lines, owner),
       LIST_OF(api, n_api, api), LIST_OF(copies, n_copies, copy), LIST_OF(ranges, n_ranges, range),
       PART_OF(counts, counts), PART_OF(recording, recording), PART_OF(memory, memory), PART_OF(ranks, ranks),
       PART_OF(timeline, timeline), PART_OF(overview, overview), PART_OF(quality, quality))
#undef S

#define S struct cell_key
RECORD(key, ENUM(cause, CAUSE_COUNT), NAME(phase), NAME(call), ENUM(opened, OPENED_COUNT), INT(mutex), INT(blocked),
       INT(input), INT(returned), INT(pageable), INT(lasting), INT(alloc), INT(once))
#undef S

#define S struct idle_fact
RECORD(idle, PART_OF(key, key), REAL(per_step), INT(phase_slot))
#undef S

#define S struct place_fact
RECORD(place, ENUM(time, PLACE_TIMES), INT(idle), INT(line), NAME(name), INT(depth), REAL(samples), REAL(per_step))
#undef S

#define S struct place_facts
RECORD(places, LIST_OF(list, n, place))
#undef S

#define S struct comm_facts
RECORD(comm_fact, LIST_OF(communicates, n, RECORD_FLAGS), INT(ranks), REAL(min), REAL(mean))
#undef S

#define S struct work_facts
RECORD(work, REAL(launch_call), REAL(launch_calls), REAL(steady_launches), REAL(kernel_median), REAL(pageable_copies),
       REAL(pageable_bytes), REAL(managed_copies), REAL(blocking_syncs), REAL(alloc_calls), REAL(module_calls),
       REAL(alloc_time), REAL(streams))
#undef S

#define S struct side_facts
RECORD(facts, LIST_OF(runs, n_runs, RECORD_RUN), LIST_OF(idle, n_idle, idle), PART_OF(places, places),
       REAL(copy_pageable), REAL(copy_managed), REAL(memset), REAL(sync_gaps), REAL(host_work),
       PART_OF(comm, comm_fact), PART_OF(work, work), PART_OF(timed, RECORD_TIMED), FACT_OF(ranks_apart), INT(amd))
#undef S

/* ---- what was asked for ---- */

#define S struct gate_expression
RECORD(expression, TEXT(text), ENUM(metric, METRIC_MEMORY + 1), ENUM(cause, CAUSE_COUNT), TEXT(phase),
       ENUM(latency, LATENCIES), ENUM(compare, GATE_AT_LEAST + 1), ENUM(unit, GATE_CHANGE + 1), REAL(limit))
#undef S

#define S struct gates_asked
RECORD(gates, REAL(min_speedup), REAL(max_regression), INT(require_comparable),
       LIST_OF(expressions, n_expressions, expression))
#undef S

#define S struct printed_run
RECORD(printed_run, TEXT(file), LIST_OF(number, n, RECORD_REALS))
#undef S

#define S struct printed
RECORD(printed, TEXT(pattern), REAL(tolerance), LIST_OF(run[0], n[0], printed_run), LIST_OF(run[1], n[1], printed_run))
#undef S

#define S struct table_options
RECORD(options, REALS(items), TEXT(items_name), INT(warmup), PART_OF(gates, gates),
       FIELD(printed, FIELD_LIST, .of = &printed), FACT_OF(nothing))
#undef S

const struct table_part TABLE_PART[TABLE_PARTS] = {
	{"options", offsetof(struct step_tables, options), &options},
	{"baseline", offsetof(struct step_tables, side[0]), &side},
	{"baseline facts", offsetof(struct step_tables, facts[0]), &facts},
	{"fixed", offsetof(struct step_tables, side[1]), &side},
	{"fixed facts", offsetof(struct step_tables, facts[1]), &facts},
	{"functions", offsetof(struct step_tables, functions), &RECORD_FUNCTIONS},
	{"inside", offsetof(struct step_tables, inside), &RECORD_INSIDE},
};
