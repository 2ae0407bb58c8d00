#include "fixture_maker.h"
#include "said.h"

#include <math.h>
#include <string.h>

static const double MS = 1e6;

const char *fixture_name(enum fixture which)
{
	static const char *const name[] = {"pair",      "devices", "no-steps", "inconclusive", "self",
	                                   "stopwatch", "hostile", "large",    "one"};
	return name[which];
}

uint32_t fixture_text(struct maker *m, const char *text)
{
	return names_add_text(m->names, m->hostile ? arena_format(m->arena, "%s%s", text, m->hostile) : text);
}

/* An MMIX linear congruential generator, so that every platform draws the same. */
int64_t fixture_draw(struct maker *m, int64_t limit)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((m->random >> 33) % (uint64_t)limit);
}

/* ---- budgets ---- */

struct idle_text {
	enum cause cause;
	const char *phase, *call;
	double ms;
};

static void fill_budget(struct maker *m, struct budget *b, double compute, double comm, double copy,
                        const struct idle_text *idle, uint32_t n)
{
	*b = (struct budget){
		.compute = compute * MS, .comm_exposed = comm * MS, .copy_exposed = copy * MS, .n_rows = n};
	b->rows = ARENA_NEW(m->arena, n, struct idle_row);
	for (uint32_t i = 0; i < n; i++) {
		double ns = idle[i].ms * MS;
		b->rows[i] = (struct idle_row){idle[i].cause,
		                               idle[i].phase ? fixture_text(m, idle[i].phase) : 0,
		                               idle[i].call ? fixture_text(m, idle[i].call) : 0,
		                               ns,
		                               {ns / 2, ns / 4, ns / 4}};
		b->idle += ns;
	}
	b->period = b->compute + b->comm_exposed + b->copy_exposed + b->idle;
}

static const struct idle_text slow_idle[] = {{CAUSE_HOST_CODE, "data_load", NULL, 31.040},
                                             {CAUSE_HOST_CODE, NULL, NULL, 0.360},
                                             {CAUSE_COPY_API, "data_load", NULL, 0.200},
                                             {CAUSE_DISPATCH, "backward", NULL, 0.110},
                                             {CAUSE_DISPATCH, "forward", NULL, 0.100},
                                             {CAUSE_HOST_BLOCKED, "data_load", "pthread_cond_timedwait", 0.069}};
static const struct idle_text fast_idle[] = {{CAUSE_DISPATCH, "backward", NULL, 0.130},
                                             {CAUSE_DISPATCH, "forward", NULL, 0.090},
                                             {CAUSE_LAUNCH_API, "forward", NULL, 0.011}};

/* As if gapline had captured the side and sampled its GPUs. */
static void fill_clocks(struct side *s)
{
	bool slow = s->n_devices == 1;
	s->source.captured_by = "0.1.0";
	s->source.cupti = "13.0.1";
	s->source.traced = "cuda,nvtx";
	s->source.sampled_by = "NVML";
	s->source.incomplete = slow ? "the program was killed by SIGKILL" : "";
	s->source.lost = slow ? 12 : 0;
	s->source.lost_events = slow ? 5 : 0;
	s->devices[0].clocks = (struct clocks){.samples = 40,
	                                       .idle = 2,
	                                       .sm_mhz = {40, slow ? 1755 : 1980, slow ? 1710 : 1980, 1980},
	                                       .power_w = {38, 693.125, 612, 701},
	                                       .temperature_c = {40, 64, 58, 66},
	                                       .judged = slow ? 40 : 0,
	                                       .limited = {[LIMIT_POWER] = 0.6 * slow, [LIMIT_THERMAL] = 0.05 * slow}};
}

static void fill_devices(struct maker *m, struct side *s, uint32_t n)
{
	s->n_devices = n;
	s->devices = ARENA_NEW(m->arena, n, struct device_result);
	for (uint32_t d = 0; d < n; d++) {
		struct device_result *r = &s->devices[d];
		*r = (struct device_result){
			.id = d, .process = 4242, .ordinal = d, .budget = s->budget, .limit_ns = 8700};
		r->name = fixture_text(m, "NVIDIA H200");
		r->window_ns = (int64_t)(s->budget.period * 21);
		/* the devices lie symmetrically around the mean, and each adds up: what compute gains, idle loses */
		double shift = n > 1 ? 0.02 * MS * (2.0 * d - (n - 1)) : 0;
		r->budget.compute += shift;
		r->budget.idle -= shift;
		r->budget.rows = ARENA_NEW(m->arena, r->budget.n_rows, struct idle_row);
		memcpy(r->budget.rows, s->budget.rows, r->budget.n_rows * sizeof *r->budget.rows);
		r->budget.rows[0].per_step -= shift;
		r->budget.rows[0].opened[OPENED_SYNC] -= shift;
	}
}

/* ---- steps ---- */

static void fill_runs(struct maker *m, struct side *s, uint32_t n_runs, size_t n_periods, size_t warmup,
                      const struct series **series)
{
	static const int64_t warm[] = {9, 3, 2, 1}; /* the first periods: so many times as long */
	struct series *all = ARENA_NEW(m->arena, n_runs, struct series);
	s->n_runs = n_runs;
	s->runs = ARENA_NEW(m->arena, n_runs, struct run_result);
	s->median_run = n_runs / 2;
	int64_t mean = llround(s->budget.period), least = mean, most = mean;
	for (uint32_t r = 0; r < n_runs; r++) {
		struct run_result *run = &s->runs[r];
		int64_t *period = ARENA_NEW(m->arena, n_periods, int64_t);
		size_t cut = warmup ? warmup - 1 : 0, measured = n_periods - cut;
		for (size_t i = 0; i < cut; i++)
			period[i] = mean * (i < 4 ? warm[i] : 1) + fixture_draw(m, mean / 20);
		int64_t noise = 0;
		for (size_t i = cut; i < n_periods; i++) {
			/* pairs of opposite deviations keep the mean exact; the last of an odd number has none */
			bool first = (i - cut) % 2 == 0;
			noise = !first ? -noise : i + 1 == n_periods ? 0 : fixture_draw(m, mean / 40) - mean / 80;
			if (first && i == cut + 4)
				noise = mean / 4;
			period[i] = mean + noise;
			least = period[i] < least ? period[i] : least;
			most = period[i] > most ? period[i] : most;
		}
		run->file =
			arena_format(m->arena, "%s%s.sqlite", s->label, n_runs > 1 ? (char[]){(char)('1' + r), 0} : "");
		run->n_steps = s->steps.found ? n_periods + 1 : 0;
		run->warmup = run->left_out = warmup;
		run->period = period;
		run->n_periods = n_periods;
		run->window_ns = mean * (int64_t)measured;
		all[r] = (struct series){.cut = cut,
		                         .m = measured,
		                         .mean = s->headline.step,
		                         .counted = s->budget.period,
		                         .cycle = s->headline.step,
		                         .variance = 1e-5,
		                         .tau = 1.4,
		                         .dof = 5,
		                         .drift = r == 1 ? 0.004 : 0,
		                         .typical = log(s->headline.step)};
		run->series = &all[r];
		s->headline.recorded = s->headline.step;
		s->steps.measured += measured;
	}
	*series = all;
	s->steps.mean = s->budget.period;
	s->steps.median = s->headline.typical = s->headline.step;
	s->steps.min = (double)least;
	s->steps.max = (double)most;
}

/* ---- tables ---- */

static void fill_phases(struct maker *m, struct side *s, double data_load, double forward, double backward)
{
	static const char *const name[] = {"data_load", "backward", "forward", "optimizer", "zero_grad", NULL};
	double rest = s->budget.period - (data_load + forward + backward + 0.9 + 0.01) * MS;
	const double cost[] = {data_load * MS, backward * MS, forward * MS, 0.9 * MS, 0.01 * MS, rest};
	s->phases = ARENA_NEW(m->arena, 6, struct phase_result);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t at = i;
		while (at > 0 && s->phases[at - 1].cost < cost[i]) {
			s->phases[at] = s->phases[at - 1];
			at--;
		}
		s->phases[at] = (struct phase_result){.name = name[i] ? fixture_text(m, name[i]) : 0,
		                                      .cost = cost[i],
		                                      .cost_share = cost[i] / s->budget.period,
		                                      .gpu = cost[i] * 0.6,
		                                      .idle = cost[i] * 0.4,
		                                      .host = cost[i] * 0.8,
		                                      .instances = 1};
	}
	s->n_phases = 6;
	for (uint32_t i = 0; i < 6; i++)
		s->phases[i].rank = i + 1;
}

static void fill_work(struct maker *m, struct side *s, double pageable)
{
	static const char *const kernel[] = {
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_"
		"kernel",
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		"std::array<char *, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char *, 3ul>)",
		"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
		"namespace)::TensorListMetadata<4>, at::native::(anonymous "
		"namespace)::FusedOptimizerTensorListMetadata<4>, "
		"at::native::AdamFunctor<float, float, 4>, float, float, double>(T1, T2, T3)",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"};
	static const char *const call[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize",
	                                   "cudaMalloc"};
	static const enum call_class class[] = {CALL_LAUNCH, CALL_COPY, CALL_SYNC, CALL_ALLOC};
	uint32_t n = m->which == FIXTURE_LARGE ? 1500 : 40;
	s->kernels = ARENA_NEW(m->arena, n, struct kernel_result);
	for (uint32_t i = 0; i < n; i++) {
		const char *text = i < 4 ? kernel[i] : arena_format(m->arena, "fused_kernel_%u(float *, int)", i);
		s->kernels[i] = (struct kernel_result){.name = fixture_text(m, text), .comm = i == 3};
		s->kernels[i].instances = (double)(n - i) / 7;
		s->kernels[i].per_step = s->budget.compute / (1.7 * (i + 1.5));
	}
	s->n_kernels = n;
	s->api = ARENA_NEW(m->arena, 4, struct api_result);
	s->n_api = 4;
	for (uint32_t i = 0; i < 4; i++)
		s->api[i] = (struct api_result){fixture_text(m, call[i]), class[i], 300.0 / (i * i * 30 + 1),
		                                2.0 * MS / (i + 1)};
	s->n_ranges = m->which == FIXTURE_NO_STEPS ? 0 : s->n_phases;
	s->ranges = ARENA_NEW(m->arena, s->n_ranges, struct range_result);
	for (uint32_t i = 0; i < s->n_ranges; i++)
		s->ranges[i] = (struct range_result){.name = s->phases[i].name ? s->phases[i].name
		                                                               : fixture_text(m, "all_reduce"),
		                                     .domain = i == 2 ? fixture_text(m, "NCCL") : 0,
		                                     .instances = s->phases[i].instances,
		                                     .host = s->phases[i].host,
		                                     .gpu = s->phases[i].gpu};
	s->copies = ARENA_NEW(m->arena, 3, struct copy_result);
	s->n_copies = 3;
	s->copies[0] = (struct copy_result){fixture_text(m, "[CUDA memcpy Host-to-Device]"),
	                                    COPY_H2D,
	                                    false,
	                                    pageable > 0,
	                                    2,
	                                    19267584,
	                                    0.59 * MS,
	                                    0,
	                                    0};
	s->copies[1] = (struct copy_result){
		fixture_text(m, "[CUDA memcpy Device-to-Host]"), COPY_D2H, false, false, 1, 4, 0.0015 * MS, 0, 0};
	s->copies[2] = (struct copy_result){
		fixture_text(m, "[CUDA memset]"), COPY_UNKNOWN, true, false, 3, 4096, 0.003 * MS, 0, 0};
	s->counts.launches = 302;
	s->counts.ranges = 5;
	s->counts.syncs = pageable > 0 ? 3 : 0;
	s->counts.bytes_h2d = 19267584;
	s->counts.bytes_d2h = 4;
	s->busy = s->budget.compute + s->budget.comm_exposed + s->budget.copy_exposed;
	s->counts.overhead = 0.02 * MS;
}

/* ---- sides ---- */

static void fill_source(struct maker *m, struct side *s)
{
	static const char note[] = "The operating system's calls were not recorded: idle time that a thread spent "
				   "blocked is charged to its own code.";
	s->source = (struct trace_source){.kind = SOURCE_NSYS_SQLITE,
	                                  .collector = "nsys",
	                                  .exporter = "NVIDIA Nsight Systems 2025.3.2.474",
	                                  .schema = "3.20.3",
	                                  .driver = "580.82.07",
	                                  .cuda_driver = "13.0",
	                                  .captured_by = "",
	                                  .cupti = "",
	                                  .traced = "",
	                                  .sampled_by = "",
	                                  .incomplete = "",
	                                  .has_calls = true,
	                                  .has_ranges = true,
	                                  .has_overheads = true,
	                                  .graphs = GRAPHS_NONE};
	struct trace_dropped *dropped = ARENA_NEW(m->arena, 1, struct trace_dropped);
	*dropped = (struct trace_dropped){ROWS_CALLS, "CUPTI_ACTIVITY_KIND_RUNTIME", "ends before it starts", 2};
	s->quality.dropped = dropped;
	s->quality.n_dropped = 1;
	struct trace_diagnostic *diagnostic = ARENA_NEW(m->arena, 1, struct trace_diagnostic);
	*diagnostic = (struct trace_diagnostic){2, fixture_text(m, "Not all NVTX events might have been collected.")};
	s->quality.diagnostics = diagnostic;
	s->quality.n_diagnostics = 1;
	s->quality.unlaunched_share = 0.0012;
	facts_add(&s->quality.notes, m->arena, fact_that_says(m->arena, note));
}

static void fill_slow(struct maker *m, struct side *s, const struct series **series)
{
	bool steps = m->which != FIXTURE_NO_STEPS;
	*s = (struct side){.label = m->which == FIXTURE_ONE ? "profile" : "baseline", .steps.found = steps};
	fill_source(m, s);
	fill_budget(m, &s->budget, 23.840, 0, 0.591, slow_idle, sizeof slow_idle / sizeof *slow_idle);
	if (steps)
		s->steps.name = fixture_text(m, "step_#");
	s->headline.step = steps ? 55.64 * MS : s->budget.period;
	fill_runs(m, s, steps ? 1 : 3,
	          !steps                             ? 1
	          : m->which == FIXTURE_INCONCLUSIVE ? 7
	          : m->which == FIXTURE_LARGE        ? 50003
	                                             : 25,
	          !steps                             ? 0
	          : m->which == FIXTURE_INCONCLUSIVE ? 2
	                                             : 5,
	          series);
	fill_devices(m, s, m->which == FIXTURE_LARGE ? 12 : 1);
	if (m->which == FIXTURE_DEVICES || m->which == FIXTURE_ONE)
		fill_clocks(s);
	fill_phases(m, s, 31.04, 8.0, 15.6);
	fill_work(m, s, 1);
	static const int64_t phase_us[] = {31600, 8100, 15600, 1010};
	fixture_timeline(m, s, 3, phase_us, m->which == FIXTURE_LARGE ? 5000 : 90);
	fixture_overview(s, 4900LL * 1000 * US, 0.43);
}

static void fill_fast(struct maker *m, struct side *s, const struct series **series)
{
	bool steps = m->which != FIXTURE_NO_STEPS;
	*s = (struct side){.label = "fixed", .steps.found = steps};
	fill_source(m, s);
	fill_budget(m, &s->budget, 23.856, m->which == FIXTURE_DEVICES ? 0.98 : 0, 0.137, fast_idle,
	            sizeof fast_idle / sizeof *fast_idle);
	if (steps)
		s->steps.name = fixture_text(m, "step_#");
	s->headline.step = s->budget.period;
	fill_runs(m, s, steps ? 1 : 3, !steps ? 1 : m->which == FIXTURE_LARGE ? 50003 : 25, steps ? 5 : 0, series);
	fill_devices(m, s, m->which == FIXTURE_DEVICES ? 2 : 1);
	if (m->which == FIXTURE_DEVICES)
		fill_clocks(s);
	fill_phases(m, s, 0.02, 8.0, 15.1);
	fill_work(m, s, 0);
	s->kernels[1].per_step *= 1.1;
	static const int64_t phase_us[] = {120, 8000, 15100, 1000};
	fixture_timeline(m, s, 3, phase_us, 90);
	fixture_overview(s, 3100LL * 1000 * US, 0.98);
}

void fixture_analysis(enum fixture which, struct arena *arena, struct analysis *out)
{
	static const char hostile[] = "</script><img src=x onerror=alert(1)>]]>&\"'|`*_ \xE2\x80\xA8 \xEF\xBF\xBD";
	struct maker m = {.arena = arena, .which = which, .random = 42};
	m.names = ARENA_NEW(arena, 1, struct names);
	names_init(m.names, arena);
	if (which == FIXTURE_HOSTILE)
		m.hostile = hostile;
	if (which == FIXTURE_LARGE) {
		char *name = ARENA_NEW(arena, 4001, char);
		memset(name, '<', 4000);
		m.hostile = name;
	}
	const struct series *series[2];
	*out = (struct analysis){
		.names = m.names, .n_sides = which == FIXTURE_ONE ? 1 : 2, .comparison.comparable = true};
	out->title = which == FIXTURE_HOSTILE ? hostile
	             : which == FIXTURE_PAIR  ? "ResNet-50, workers and pinned memory"
	                                      : NULL;
	fill_slow(&m, &out->side[0], &series[0]);
	if (which == FIXTURE_ONE) {
		fixture_findings(&m, out);
		out->findings.list += 1;
		out->findings.n = 2;
		out->findings.list[0].status = out->findings.list[1].status = FINDING_SEEN;
		return;
	}
	if (which == FIXTURE_SELF) {
		out->side[1] = out->side[0];
		out->side[1].label = "fixed";
		series[1] = series[0];
	} else {
		fill_fast(&m, &out->side[1], &series[1]);
		if (which == FIXTURE_STOPWATCH)
			fixture_stopwatch(out);
		fixture_waterfall(&m, out);
		fixture_findings(&m, out);
	}
	fixture_judge(&m, out, series);
}
