#include "fixture_maker.h"

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
		run->warmup = warmup;
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
	s->copies[0] = (struct copy_result){
		fixture_text(m, "[CUDA memcpy Host-to-Device]"), COPY_H2D, false, pageable > 0, 2, 19267584, 0.59 * MS};
	s->copies[1] = (struct copy_result){
		fixture_text(m, "[CUDA memcpy Device-to-Host]"), COPY_D2H, false, false, 1, 4, 0.0015 * MS};
	s->copies[2] =
		(struct copy_result){fixture_text(m, "[CUDA memset]"), COPY_UNKNOWN, true, false, 3, 4096, 0.003 * MS};
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
	static const char *const note[] = {
		"The operating system's calls were not recorded: idle time that a thread spent "
		"blocked is charged to its own code."};
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
	s->quality.notes = (const char **)(uintptr_t)note;
	s->quality.n_notes = 1;
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

/* ---- what both sides give ---- */

/* Without a profiler a step of the baseline takes 50 ms and one of the fixed side 23.8. */
static void time_by_stopwatch(struct analysis *a)
{
	for (int s = 0; s < 2; s++) {
		a->side[s].headline.recorded = a->side[s].headline.step;
		a->side[s].headline.stopwatch = a->side[s].headline.step = s ? 23.8 * MS : 50 * MS;
		a->side[s].headline.n_stopwatch = 5;
	}
}

static void fill_waterfall(struct maker *m, struct analysis *a)
{
	const struct budget *b = &a->side[0].budget, *f = &a->side[1].budget;
	struct waterfall_part *w = ARENA_NEW(m->arena, 4 + b->n_rows + f->n_rows, struct waterfall_part);
	uint32_t n = 0;
	w[n++] = (struct waterfall_part){.kind = PART_COMPUTE, .baseline = b->compute, .fixed = f->compute};
	w[n++] = (struct waterfall_part){.kind = PART_COMM, .baseline = b->comm_exposed, .fixed = f->comm_exposed};
	w[n++] = (struct waterfall_part){.kind = PART_COPY, .baseline = b->copy_exposed, .fixed = f->copy_exposed};
	for (uint32_t i = 0; i < b->n_rows + f->n_rows; i++) {
		const struct idle_row *row = i < b->n_rows ? &b->rows[i] : &f->rows[i - b->n_rows];
		uint32_t at = 3;
		while (at < n && (w[at].cause != row->cause || w[at].phase != row->phase))
			at++;
		w[at].kind = PART_IDLE;
		w[at].cause = row->cause;
		w[at].phase = row->phase;
		*(i < b->n_rows ? &w[at].baseline : &w[at].fixed) += row->per_step;
		n = at == n ? n + 1 : n;
	}
	w[n++] = (struct waterfall_part){.kind = m->which == FIXTURE_STOPWATCH ? PART_RECORDING : PART_UNUSUAL,
	                                 .baseline = a->side[0].headline.step - b->period,
	                                 .fixed = a->side[1].headline.step - f->period};
	for (uint32_t i = 0; i < n; i++) {
		w[i].delta = w[i].fixed - w[i].baseline;
		if (w[i].delta >= a->waterfall.change.delta)
			continue;
		a->waterfall.change = w[i]; /* faster, all of them */
		a->waterfall.has_change = true;
	}
	a->waterfall.part = w;
	a->waterfall.n = n;
}

static void fill_findings(struct maker *m, struct analysis *a)
{
	a->findings.list = ARENA_NEW(m->arena, 3, struct finding);
	a->findings.n = 3;
	a->findings.list[0] = (struct finding){
		.id = "gpu_bound",
		.title = "The GPU is the bottleneck",
		.side = 1,
		.status = FINDING_NEW,
		.per_step = {0, 23.993 * MS},
		.text = "The GPU is busy 99.0 % of the window: 23.99 of 24.22 ms a step.",
		.advice = "Nothing is left to gain between kernels: look at the kernels themselves.",
	};
	a->findings.list[1] = (struct finding){
		.id = "input_starvation",
		.title = "Input starvation",
		.status = FINDING_RESOLVED,
		.phase = {fixture_text(m, "data_load"), 0},
		.per_step = {31.040 * MS, 0},
		.has_ceiling = true,
		.ceiling_step = 24.67 * MS,
		.ceiling_speedup = 56.31 / 24.67,
		.text = arena_format(m->arena, "The GPU waits 31.04 ms a step for host code in %s.",
	                             names_text(m->names, fixture_text(m, "data_load"))),
		.advice = "Load the next batch while the GPU works: worker processes, a producer thread, prefetching.",
	};
	a->findings.list[2] = (struct finding){
		.id = "pageable_copies",
		.title = "Copies from pageable memory",
		.status = FINDING_RESOLVED,
		.phase = {fixture_text(m, "data_load"), 0},
		.per_step = {0.591 * MS, 0},
		.has_ceiling = true,
		.ceiling_step = 55.72 * MS,
		.ceiling_speedup = 56.31 / 55.72,
		.text = "2 copies a step (19.3 MB) come from pageable memory and keep the GPU from working for 0.59 "
			"ms.",
		.advice = "Allocate the batches in pinned memory and copy asynchronously.",
	};
}

static void judge(struct maker *m, struct analysis *a, const struct series *series[2])
{
	static const char *const one_run[] = {
		"One run a side cannot see a clock or thermal state that differs between two "
		"captures; repeated, interleaved runs do."};
	static const char *const few[] = {"The baseline has 6 step periods; fewer than 8 give no interval."};
	static const char *const launches[] = {
		"kernel launches a step: 302 in the baseline, 344 in the fixed side (+13.9 %)"};
	static const char *const version[] = {"nsys 2025.3.1 recorded the baseline, 2025.3.2 the fixed side"};
	struct verdict *v = &a->verdict;
	bool few_steps = m->which == FIXTURE_INCONCLUSIVE, self = m->which == FIXTURE_SELF;
	double speedup = a->side[0].headline.step / a->side[1].headline.step;
	*v = (struct verdict){.result = few_steps ? VERDICT_INCONCLUSIVE
	                                : self    ? VERDICT_UNCHANGED
	                                          : VERDICT_FASTER,
	                      .has_speedup = true,
	                      .speedup = speedup,
	                      .counted = speedup,
	                      .lo = few_steps ? speedup : speedup * exp(-0.034),
	                      .hi = few_steps ? speedup : speedup * exp(0.034),
	                      .has_interval = !few_steps,
	                      .judged = !few_steps,
	                      .half_width = few_steps ? 0 : 0.034,
	                      .floor = few_steps ? 0 : log(1.03),
	                      .step = {a->side[0].headline.step, a->side[1].headline.step},
	                      .short_capture = few_steps,
	                      .one_run = m->which != FIXTURE_NO_STEPS,
	                      .more_steps = few_steps ? 20 : 0,
	                      .reasons = (const char **)(uintptr_t)(few_steps ? few : one_run),
	                      .n_reasons = m->which == FIXTURE_NO_STEPS ? 0 : 1,
	                      .series = {series[0], series[1]}};
	v->recorded = (struct verdict_estimate){true, v->has_interval, v->speedup, v->lo, v->hi};
	if (m->which == FIXTURE_STOPWATCH) {
		v->measured = VERDICT_STOPWATCH;
		v->one_run = false;
		v->order_known = v->in_turns = true;
		v->n_reasons = 0;
		v->recorded.speedup = a->side[0].headline.recorded / a->side[1].headline.recorded;
		v->recorded.lo = v->recorded.speedup * exp(-0.034);
		v->recorded.hi = v->recorded.speedup * exp(0.034);
	}
	v->typical = v->recorded;
	struct gates_asked asked = {.max_regression = -1, .require_comparable = m->which == FIXTURE_DEVICES};
	if (m->which == FIXTURE_PAIR || few_steps || m->which == FIXTURE_DEVICES)
		asked.min_speedup = 1.5;
	a->comparison.comparable = m->which != FIXTURE_DEVICES;
	a->comparison.same_work = a->comparison.comparable ? SAME_WORK_SAME : SAME_WORK_DIFFERENT;
	a->gates = gates_judge(v, a->comparison.same_work, false, &asked, m->arena);
	a->comparison.differences = (const char **)(uintptr_t)launches;
	a->comparison.n_differences = a->comparison.comparable ? 0 : 1;
	a->comparison.notes = (const char **)(uintptr_t)version;
	a->comparison.n_notes = self ? 0 : 1;
	if (!few_steps && !self) {
		double measured = a->side[1].budget.period, gain = a->side[0].budget.period - measured;
		double explained = a->side[0].budget.period - 24.36 * MS;
		a->findings.diagnosis = (struct diagnosis){.result = DIAGNOSIS_CONFIRMED,
		                                           .combined_ceiling = 24.36 * MS,
		                                           .measured = measured,
		                                           .gain = gain,
		                                           .explained = explained,
		                                           .share = explained / gain};
	}
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
		fill_findings(&m, out);
		out->findings.list += 1;
		out->findings.n = 2;
		out->findings.list[0].status = out->findings.list[1].status = FINDING_REMAINING;
		return;
	}
	if (which == FIXTURE_SELF) {
		out->side[1] = out->side[0];
		out->side[1].label = "fixed";
		series[1] = series[0];
	} else {
		fill_fast(&m, &out->side[1], &series[1]);
		if (which == FIXTURE_STOPWATCH)
			time_by_stopwatch(out);
		fill_waterfall(&m, out);
		fill_findings(&m, out);
	}
	judge(&m, out, series);
}
