#include "random_trace.h"

#include "random.h"

uint64_t random_next(struct random *r)
{
	return random_bits(&r->state);
}

int64_t random_between(struct random *r, int64_t lo, int64_t hi)
{
	if (hi <= lo)
		return lo;
	return lo + (int64_t)(random_next(r) % (uint64_t)(hi - lo + 1));
}

bool random_chance(struct random *r, int percent)
{
	return random_between(r, 0, 99) < percent;
}

/* Mostly short, sometimes long: of up to `most` nanoseconds. */
static int64_t random_length(struct random *r, int64_t most)
{
	return random_chance(r, 70) ? random_between(r, 0, most / 8) : random_between(r, 0, most);
}

static const struct {
	const char *name;
	enum call_class class;
} call_kinds[] = {
	{"cudaLaunchKernel", CALL_LAUNCH}, {"cudaLaunchKernel", CALL_LAUNCH},    {"cudaLaunchKernel", CALL_LAUNCH},
	{"cudaGraphLaunch", CALL_LAUNCH},  {"cudaMemcpyAsync", CALL_COPY},       {"cudaMemsetAsync", CALL_COPY},
	{"cudaMemcpy", CALL_COPY},         {"cudaStreamSynchronize", CALL_SYNC}, {"cudaDeviceSynchronize", CALL_SYNC},
	{"cudaMalloc", CALL_ALLOC},        {"cuModuleLoadData", CALL_MODULE},    {"cudaEventRecord", CALL_OTHER},
	{"cudaEventQuery", CALL_OTHER},
};
enum { CALL_KINDS = sizeof call_kinds / sizeof call_kinds[0] };

static const char *const phase_names[] = {"load", "forward", "backward", "optimizer", "log", "eval"};
static const char *const library_names[] = {"ncclAllReduce", "cub::Reduce", "gemm"};

/* What a trace's random numbers are like, so that traces differ in kind. */
struct habits {
	int64_t longest_op, least_delay, longest_delay;
	bool wide_steps; /* steps follow each other closely */
};

struct process_plan {
	uint32_t index, threads[3], devices[2];
	int n_threads, n_devices;
	bool one_stream;
	uint32_t correlation; /* last one used; the same ids come again in other processes */
};

/* Push/pop ranges that nest inside [lo, hi). */
static void ranges_nested(struct maker *m, const struct random_shape *shape, uint32_t thread, int64_t lo, int64_t hi,
                          int depth, struct random *r)
{
	for (int64_t t = lo; hi - t > 4 && random_chance(r, 75);) {
		int64_t start = random_between(r, t, hi - 1);
		int64_t end = random_between(r, start, hi);
		bool library = !shape->one_domain && random_chance(r, 25);
		const char *name =
			library ? library_names[random_between(r, 0, 2)] : phase_names[random_between(r, 0, 5)];
		maker_range(m, thread, start, end, name, library ? "NCCL" : "", RANGE_PUSH_POP);
		if (depth < 3)
			ranges_nested(m, shape, thread, start, end, depth + 1, r);
		t = end;
	}
}

static void ranges_overlapping(struct maker *m, const struct random_shape *shape, uint32_t thread, struct random *r)
{
	for (int64_t n = random_between(r, 0, 4); n > 0; n--) {
		int64_t start = random_between(r, 0, shape->length - 1);
		int64_t end = start + random_length(r, shape->length / 2);
		bool library = !shape->one_domain && random_chance(r, 30);
		maker_range(m, thread, start, end, phase_names[random_between(r, 0, 5)], library ? "CCCL" : "",
		            RANGE_START_END);
	}
}

/* `n` steps on a thread, phases inside, ranges between, sometimes a range around several. */
static void ranges_steps(struct maker *m, const struct random_shape *shape, const struct habits *habits,
                         uint32_t thread, int64_t n, struct random *r)
{
	int64_t slot = shape->length * 8 / 10 / n, t = random_between(r, 0, shape->length / 10);
	int64_t late = habits->wide_steps ? slot / 20 : slot / 4, least = habits->wide_steps ? slot * 8 / 10 : slot / 4;
	if (random_chance(r, 30))
		maker_range(m, thread, t, t + slot * random_between(r, 1, n), "epoch", "", RANGE_PUSH_POP);
	for (int64_t k = 0; k < n; k++) {
		int64_t start = t + 1 + random_between(r, 0, late);
		int64_t end = random_between(r, start + least, t + slot);
		if (k && random_chance(r, 5)) /* the one before is still open */
			start -= random_between(r, 0, slot / 2);
		maker_range(m, thread, start, end, "step", "", random_chance(r, 10) ? RANGE_START_END : RANGE_PUSH_POP);
		m->trace->ranges.clipped[m->trace->ranges.n - 1] = k == n - 1 && random_chance(r, 10);
		ranges_nested(m, shape, thread, start + 1, end, 0, r);
		if (random_chance(r, 30))
			ranges_nested(m, shape, thread, end, t + slot, 1, r);
		t += slot;
	}
}

static void op_add(struct maker *m, const struct random_shape *shape, const struct habits *habits,
                   const struct process_plan *p, int64_t launched, int64_t returned, uint32_t correlation,
                   int64_t *queue_end, struct random *r)
{
	static const enum op_kind kinds[] = {OP_KERNEL, OP_KERNEL, OP_KERNEL, OP_COMM, OP_COPY, OP_MEMSET, OP_GRAPH};
	static const char *const names[] = {
		"gemm",          "relu",        "norm", "ncclDevKernel", "[CUDA memcpy Host-to-Device]",
		"[CUDA memset]", "[CUDA graph]"};
	int64_t kind = random_between(r, 0, 6), device = random_between(r, 0, p->n_devices - 1);
	int64_t length = random_chance(r, 8) ? 0 : random_length(r, habits->longest_op), start;
	if (shape->causal) {
		start = (random_chance(r, 85) ? returned : launched) + habits->least_delay +
		        random_length(r, habits->longest_delay);
		if (random_chance(r, 80) && start < queue_end[device])
			start = queue_end[device] + (random_chance(r, 50) ? 0 : random_length(r, 40));
		if (random_chance(r, 10))
			start += random_length(r, shape->length / 8);
	} else {
		start = random_between(r, launched - shape->length / 50, launched + shape->length / 4);
	}
	if (start < 0)
		start = 0;
	if (start + length > queue_end[device])
		queue_end[device] = start + length;
	size_t op = maker_op(m, p->devices[device], p->one_stream ? 7 : (uint32_t)random_between(r, 7, 9), kinds[kind],
	                     start, start + length, names[kind], correlation);
	if (kinds[kind] == OP_COPY) {
		m->trace->ops.copy[op] = random_chance(r, 50) ? COPY_H2D : COPY_D2H;
		m->trace->ops.flags[op] = random_chance(r, 50) ? OPF_PAGEABLE : 0;
	}
}

/* Calls of a thread, one after the other or anywhere, with nested ones; launching ones get ops. */
static void calls_of_thread(struct maker *m, const struct random_shape *shape, const struct habits *habits,
                            struct process_plan *p, uint32_t thread, int64_t *queue_end, struct random *r)
{
	int64_t t = random_between(r, 0, shape->length / 10);
	int64_t n = random_chance(r, 10) ? 0 : random_between(r, shape->max_calls / 3, shape->max_calls);
	int64_t pause = shape->length / (n + 1), longest = random_chance(r, 50) ? shape->length / 20 : pause;
	bool overlapping = random_chance(r, 15);
	for (; n > 0 && t < shape->length; n--) {
		int64_t kind = random_between(r, 0, CALL_KINDS - 1), start = t;
		if (overlapping)
			start = random_between(r, 0, shape->length - 1);
		int64_t end = start + random_length(r, longest);
		bool launches = call_kinds[kind].class == CALL_LAUNCH || call_kinds[kind].class == CALL_COPY;
		uint32_t correlation = ++p->correlation;
		maker_call(m, thread, start, end, call_kinds[kind].name, call_kinds[kind].class, correlation);
		for (int64_t ops = launches ? random_chance(r, 10) ? random_between(r, 0, 4) : 1 : 0; ops > 0; ops--)
			op_add(m, shape, habits, p, start, end, correlation, queue_end, r);
		if (random_chance(r, 15) && end - start > 2) {
			int64_t inner = random_between(r, start, end - 1);
			kind = random_between(r, 0, CALL_KINDS - 1);
			maker_call(m, thread, inner, random_between(r, inner, end), call_kinds[kind].name,
			           call_kinds[kind].class, ++p->correlation);
		}
		if (random_chance(r, 1))
			maker_call(m, thread, end, end,
			           random_chance(r, 50) ? "cudaStreamWaitEvent" : "cudaLaunchHostFunc", CALL_OTHER,
			           ++p->correlation);
		t = end +
		    random_length(r, shape->causal ? 2 * shape->length / (shape->max_calls + 1) : shape->length / 10);
	}
}

/* Ops whose launch the profile lacks, and migrations that no call launched. */
static void ops_unlaunched(struct maker *m, const struct random_shape *shape, const struct process_plan *p,
                           struct random *r)
{
	for (int64_t n = random_between(r, 0, 3); n > 0; n--) {
		int64_t start = random_between(r, 0, shape->length);
		int64_t end = start + random_length(r, shape->length / 20);
		uint32_t device = p->devices[random_between(r, 0, p->n_devices - 1)];
		if (random_chance(r, 50)) {
			maker_op(m, device, 7, OP_KERNEL, start, end, "orphan", random_chance(r, 50) ? 0 : 4000000);
		} else {
			size_t op =
				maker_op(m, device, 0, OP_COPY, start, end, "[CUDA memcpy Unified Host-to-Device]", 0);
			m->trace->ops.copy[op] = COPY_UM_H2D;
			m->trace->ops.flags[op] = OPF_MANAGED;
		}
	}
}

static void host_rows(struct maker *m, const struct random_shape *shape, uint32_t thread, struct random *r)
{
	static const struct {
		const char *name;
		enum os_class class;
	} os[] = {{"pthread_cond_wait", OS_WAIT},   {"sem_wait", OS_WAIT}, {"pthread_cond_timedwait", OS_WAIT},
	          {"pthread_mutex_lock", OS_MUTEX}, {"read", OS_OTHER},    {"ioctl", OS_OTHER}};
	int64_t t = 0;
	for (int64_t n = random_between(r, 0, 8); n > 0; n--) {
		int64_t kind = random_between(r, 0, 5);
		int64_t start = t + random_length(r, shape->length / 4),
			end = start + random_length(r, shape->length / 6);
		maker_os_call(m, thread, start, end, os[kind].name, os[kind].class);
		if (random_chance(r, 20) && end - start > 2) {
			int64_t inner = random_between(r, start + 1, end - 1);
			kind = random_between(r, 0, 5);
			maker_os_call(m, thread, inner, random_between(r, inner, end), os[kind].name, os[kind].class);
		}
		t = end;
	}
	t = 0;
	for (int64_t n = random_chance(r, 40) ? random_between(r, 1, 12) : 0; n > 0; n--) {
		int64_t start = t + random_length(r, shape->length / 6),
			end = start + 1 + random_length(r, shape->length / 5);
		maker_slice(m, thread, start, end);
		t = end;
	}
	t = 0;
	for (int64_t n = random_chance(r, 40) ? random_between(r, 1, 10) : 0; n > 0; n--) {
		int64_t start = t + random_length(r, shape->length / 6),
			end = start + 1 + random_length(r, shape->length / 8);
		maker_gil(m, thread, start, end, thread, NULL);
		t = end;
	}
	t = 0;
	for (int64_t n = random_between(r, 0, 2); n > 0; n--) {
		int64_t start = t + random_between(r, 0, shape->length / 2),
			end = start + random_length(r, shape->length / 9);
		bool module = random_chance(r, 40);
		maker_overhead(m, thread, start, end, module ? "dlopen(libcudnn)" : "CUPTI: Buffer flush",
		               module ? OVERHEAD_MODULE_LOAD : OVERHEAD_PROFILER);
		t = random_chance(r, 70) ? end : start;
	}
}

/* Some ops are nodes of graphs, that calls of their process made; graphs are begun, and end, anywhere. */
static void nodes(struct maker *m, const struct random_shape *shape, const struct process_plan *p, size_t first_op,
                  struct random *r)
{
	int share = random_chance(r, 50) ? (int)random_between(r, 5, 60) : 0;
	for (size_t i = first_op; i < m->trace->ops.n && share; i++)
		if (random_chance(r, share))
			maker_created(m, i, (uint32_t)random_between(r, 0, p->correlation));
	static const char *const calls[] = {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphCreate"};
	for (int64_t n = share ? random_between(r, 0, 8) : 0; n > 0; n--) {
		int64_t start = random_between(r, 0, shape->length);
		maker_call(m, p->threads[random_between(r, 0, p->n_threads - 1)], start, start,
		           calls[random_between(r, 0, 2)], CALL_OTHER, 0);
	}
}

void random_trace(struct maker *m, const struct random_shape *shape, struct random *r)
{
	uint32_t gpus[2] = {maker_gpu(m, "GPU A"), maker_gpu(m, "GPU B")};
	int64_t n_steps = random_between(r, 5, 11);
	struct habits habits = {
		.longest_op = random_chance(r, 50) ? shape->length / 12 : shape->length / 100 + 1,
		.longest_delay = random_chance(r, 60) ? shape->length / 100 + 4 : shape->length / 12,
		.least_delay = random_chance(r, 20) ? shape->length / 35 : 0,
		.wide_steps = random_chance(r, 60),
	};
	for (int k = 0; k < shape->processes; k++) {
		struct process_plan p = {.index = maker_process(m, 100 + k)};
		int64_t queue_end[2] = {0, 0};
		size_t first_op = m->trace->ops.n;
		p.n_threads = (int)random_between(r, 1, 3);
		p.n_devices = random_chance(r, 25) ? 2 : 1;
		p.one_stream = p.n_devices == 1 && random_chance(r, 40);
		for (int i = 0; i < p.n_threads; i++)
			p.threads[i] = maker_thread(m, p.index, 10 * (100 + k) + i);
		for (int i = 0; i < p.n_devices; i++)
			p.devices[i] = maker_device(m, p.index, (uint32_t)i,
			                            random_chance(r, 25) ? TRACE_NONE : gpus[random_between(r, 0, 1)]);
		int64_t steps = n_steps + (random_chance(r, 20) ? random_between(r, -2, 2) : 0);
		bool stepless = k > 0 && random_chance(r, 10);
		int64_t owner = random_between(r, 0, p.n_threads - 1);
		bool workers = random_chance(r, 25); /* every thread has steps of its own, mostly as many */
		for (int i = 0; i < p.n_threads; i++) {
			int64_t more = workers && random_chance(r, 40) ? random_between(r, -4, 6) : 0;
			if (shape->steps && !stepless && (i == owner || workers))
				ranges_steps(m, shape, &habits, p.threads[i], steps + more < 5 ? 5 : steps + more, r);
			else if (random_chance(r, 60))
				ranges_nested(m, shape, p.threads[i], 0, shape->length, 0, r);
			ranges_overlapping(m, shape, p.threads[i], r);
			calls_of_thread(m, shape, &habits, &p, p.threads[i], queue_end, r);
			host_rows(m, shape, p.threads[i], r);
		}
		ops_unlaunched(m, shape, &p, r);
		struct random of_graphs = *r; /* what follows is as it would be without */
		nodes(m, shape, &p, first_op, &of_graphs);
		for (int i = 0; i < p.n_devices; i++) /* a device without ops would not be in a profile */
			maker_op(m, p.devices[i], 7, OP_KERNEL, shape->length / 2, shape->length / 2 + i, "orphan", 0);
	}
}
