#include "job.h"

#include "job_truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PID = 1000, DOMAIN_NCCL = 3 };
enum { STREAM_COMPUTE = 7, STREAM_COPY = 13, STREAM_COMM = 20 };

enum call_name { LAUNCH, LAUNCH_EX, COPY_ASYNC, SET_ASYNC, COPY_BLOCKING, MALLOC, SYNC };

/* Names that the profile holds, by what they stand for. */
struct strings {
	int64_t kernel[KERNEL_NAMES], call[CALL_NAMES], os_read, os_poll, layer;
};

struct maker {
	const struct job_options *options;
	struct profile_file *file;
	struct truth *truth;
	struct strings strings;
	uint64_t random;
};

static int64_t between(struct maker *m, int64_t lo, int64_t hi)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return lo + (int64_t)((m->random >> 33) % (uint64_t)(hi - lo + 1));
}

/* ---- what the host does ---- */

static void host(struct rank *r, int64_t ns)
{
	rank_host(r, r->now + ns, WHY_HOST_CODE, false);
}

static void os_call(struct maker *m, struct rank *r, int64_t ns)
{
	struct file_call call = {r->now, r->now + ns, r->thread, 0, m->strings.os_read};
	file_os_call(m->file, &call);
	rank_host(r, r->now + ns, WHY_HOST_BLOCKED, false);
}

static bool measured(const struct maker *m, const struct rank *r)
{
	return r->step >= m->options->warmup;
}

/* A CUDA call until `end`; returns its correlation id. */
static uint32_t cuda_call(struct maker *m, struct rank *r, enum call_name name, int64_t end, enum why why)
{
	struct file_call call = {r->now, end, r->thread, ++r->correlation, m->strings.call[name]};
	file_cuda_call(m->file, &call);
	if (measured(m, r)) {
		m->truth->call[name].n++;
		m->truth->call[name].ns += end - r->now;
	}
	rank_host(r, end, why, why == WHY_SYNC_RETURN);
	return r->correlation;
}

static void range(struct maker *m, struct rank *r, int64_t start, const char *text, int64_t domain)
{
	struct file_range row = {.start = start,
	                         .end = r->now,
	                         .thread = r->thread,
	                         .text = text,
	                         .text_id = m->strings.layer,
	                         .domain = domain};
	file_nvtx(m->file, &row);
	m->truth->ranges += measured(m, r);
}

/* ---- what it gives the GPU to do ---- */

enum { STREAM_GAP = 900 }; /* ns between two ops of a stream that are both queued */

/* The op starts `latency` after the call has returned (before, when negative), or when its stream is free, or at
 * `after`, whichever is last. */
static struct op *launch(struct maker *m, struct rank *r, enum call_name name, int64_t call_ns, int64_t latency,
                         enum work work, int64_t after, int64_t ns)
{
	struct op op = {.work = work, .phase = r->phase, .step = r->step, .launch_start = r->now};
	op.launch_end = r->now + call_ns;
	int64_t start = op.launch_end + latency, *free_at = &r->stream_free[work];
	if (*free_at && *free_at + STREAM_GAP > start)
		start = *free_at + STREAM_GAP;
	if (after > start)
		start = after;
	op.start = start;
	op.end = *free_at = start + ns;
	static const enum why whys[] = {[LAUNCH] = WHY_LAUNCH_API,
	                                [LAUNCH_EX] = WHY_LAUNCH_API,
	                                [COPY_ASYNC] = WHY_COPY_API,
	                                [SET_ASYNC] = WHY_COPY_API,
	                                [COPY_BLOCKING] = WHY_SYNC_RETURN};
	if (name == COPY_BLOCKING) /* returns when the copy is done */
		op.launch_end = op.end + between(m, 2000, 4000);
	op.correlation = cuda_call(m, r, name, op.launch_end, whys[name]);
	return rank_add(r, &op);
}

static struct file_op row_of(const struct rank *r, const struct op *op, int stream)
{
	return (struct file_op){.start = op->start,
	                        .end = op->end,
	                        .process = r->process,
	                        .device = r->index,
	                        .stream = stream,
	                        .correlation = op->correlation};
}

static void count(const struct maker *m, const struct rank *r, struct tally *t, const struct op *op, int64_t bytes)
{
	if (!measured(m, r))
		return;
	t->n++;
	t->ns += op->end - op->start;
	t->bytes += bytes;
}

/* The i-th kernel of a part of a step: any, or the same in every step. */
static int which(struct maker *m, int i, int lo, int hi)
{
	return m->options->repeats ? lo + i * 7 % (hi - lo + 1) : (int)between(m, lo, hi);
}

static void kernel(struct maker *m, struct rank *r, int name, int64_t latency, int64_t after, int64_t ns)
{
	bool comm = name >= KERNEL_NAMES - COMM_NAMES;
	const struct op *op = launch(m, r, comm ? LAUNCH_EX : LAUNCH, between(m, 1500, 2500), latency,
	                             comm ? WORK_COMM : WORK_COMPUTE, after, ns);
	struct file_op row = row_of(r, op, comm ? STREAM_COMM : STREAM_COMPUTE);
	row.name = m->strings.kernel[name];
	file_kernel(m->file, &row);
	count(m, r, &m->truth->kernel[name], op, 0);
}

static void copy(struct maker *m, struct rank *r, bool to_device, int64_t bytes, int64_t ns)
{
	const struct op *op = launch(m, r, to_device ? COPY_ASYNC : COPY_BLOCKING, between(m, 3000, 5000),
	                             to_device ? between(m, 1000, 1490) : 1200, WORK_COPY,
	                             to_device ? 0 : r->stream_free[WORK_COMPUTE] + STREAM_GAP, ns);
	struct file_op row = row_of(r, op, STREAM_COPY);
	row.bytes = bytes;
	row.copy = to_device ? 1 : 2;
	row.from_kind = to_device ? 1 : 2;
	row.to_kind = to_device ? 2 : 1;
	file_copy(m->file, &row);
	count(m, r, to_device ? &m->truth->h2d : &m->truth->d2h, op, bytes);
}

static void set(struct maker *m, struct rank *r, int64_t bytes, int64_t ns)
{
	const struct op *op = launch(m, r, SET_ASYNC, between(m, 2000, 3000), between(m, 1000, 1490), WORK_COPY,
	                             r->stream_free[WORK_COMPUTE] + STREAM_GAP, ns);
	struct file_op row = row_of(r, op, STREAM_COPY);
	row.bytes = bytes;
	file_memset(m->file, &row);
	count(m, r, &m->truth->set, op, bytes);
}

static void wait_for_gpu(struct maker *m, struct rank *r)
{
	int64_t end = rank_gpu_done(r) + between(m, 2000, 5000);
	cuda_call(m, r, SYNC, end > r->now + 500 ? end : r->now + 500, WHY_SYNC_RETURN);
}

/* ---- a step ---- */

static void load_data(struct maker *m, struct rank *r)
{
	int64_t slower = m->options->fixed ? 1 : 10;
	r->phase = PHASE_DATA;
	int64_t start = r->now;
	host(r, slower * between(m, 10000, 12000));
	os_call(m, r, slower * between(m, 4000, 5000));
	host(r, between(m, 500, 900));
	range(m, r, start, "data_load", 0);
	r->phase = PHASE_NONE;
	host(r, between(m, 100, 300));

	r->phase = PHASE_H2D;
	start = r->now;
	host(r, between(m, 300, 500));
	copy(m, r, true, 4 << 20, between(m, 60000, 70000));
	range(m, r, start, "h2d", 0);
	r->phase = PHASE_NONE;
}

/* Latency of a launch: now and then a kernel starts while the call is still busy. */
static int64_t latency(struct maker *m)
{
	return between(m, 0, 49) ? between(m, 1000, 1490) : -between(m, 100, 900);
}

static void forward(struct maker *m, struct rank *r, int kernels)
{
	r->phase = PHASE_FORWARD;
	int64_t start = r->now, layer = r->now, copied = r->stream_free[WORK_COPY] + STREAM_GAP;
	for (int i = 0; i < kernels; i++) {
		host(r, between(m, 300, 800));
		kernel(m, r, which(m, i, 0, 9), latency(m), i ? 0 : copied, between(m, 12000, 20000));
		if (i % 8 == 7) {
			range(m, r, layer, NULL, 0); /* deeper than a phase */
			host(r, between(m, 50, 100));
			layer = r->now;
		}
	}
	range(m, r, start, "forward", 0);
	r->phase = PHASE_NONE;
}

static void backward(struct maker *m, struct rank *r, int kernels)
{
	r->phase = PHASE_BACKWARD;
	int64_t start = r->now;
	for (int i = 0; i < kernels; i++) {
		host(r, between(m, 300, 800));
		kernel(m, r, which(m, i, 5, 21), latency(m), 0, between(m, 12000, 24000));
		if (i % 16 != 15)
			continue;
		int64_t library = r->now; /* a library's range, in its own domain */
		host(r, between(m, 200, 400));
		kernel(m, r, KERNEL_NAMES - COMM_NAMES + which(m, 0, 0, COMM_NAMES - 1), between(m, 1000, 1490),
		       r->stream_free[WORK_COMPUTE] + between(m, 900, 1500), between(m, 150000, 250000));
		range(m, r, library, "ncclAllReduce", DOMAIN_NCCL);
	}
	range(m, r, start, "backward", 0);
	r->phase = PHASE_NONE;
}

static void optimizer(struct maker *m, struct rank *r, int kernels, bool last_of_block)
{
	r->phase = PHASE_OPTIMIZER;
	int64_t start = r->now, exchanged = r->stream_free[WORK_COMM];
	if (exchanged) /* a dispatch, or a wait for an event that took longer */
		exchanged += between(m, 0, 3) ? STREAM_GAP : 12000;
	for (int i = 0; i < kernels; i++) { /* short ones, slower to launch than to run */
		host(r, between(m, 6000, 9000));
		kernel(m, r, which(m, i, 11, 12), between(m, 1000, 1490), i ? 0 : exchanged, between(m, 2000, 3000));
		exchanged = 0;
	}
	host(r, between(m, 400, 700));
	set(m, r, 1 << 16, between(m, 1500, 2500));
	if (r->step % 10 == 9)
		cuda_call(m, r, MALLOC, r->now + between(m, 8000, 12000), WHY_ALLOC);
	host(r, between(m, 200, 400));
	if (r->step % 10 == 4)
		copy(m, r, false, 4, between(m, 1500, 2500));
	if (last_of_block)
		wait_for_gpu(m, r);
	host(r, between(m, 500, 900));
	range(m, r, start, "optimizer", 0);
	r->phase = PHASE_NONE;
}

static void worker(struct maker *m, struct rank *r, int64_t start)
{
	int64_t thread = r->thread + 1,
		half = (r->now - start) / 2; /* a thread that launches nothing explains nothing */
	struct file_call call = {start + 100, start + half, thread, 0, m->strings.os_poll};
	file_os_call(m->file, &call);
}

static void step(struct maker *m, struct rank *r, bool last_of_block)
{
	const struct job_options *o = m->options;
	char name[32] = "step";
	if (o->numbered)
		snprintf(name, sizeof name, "step_%d", r->step);
	host(r, between(m, 1000, 3000)); /* between two steps */
	int64_t start = r->now;
	host(r, between(m, 200, 400));
	load_data(m, r);
	forward(m, r, o->kernels / 3 + 1);
	backward(m, r, o->kernels / 2 + 1);
	optimizer(m, r, o->kernels / 6 + 1, last_of_block);
	range(m, r, start, name, 0);
	worker(m, r, start);
}

int job_rows_a_step(const struct job_options *o)
{
	int kernels = o->kernels / 3 + o->kernels / 2 + o->kernels / 6 + 3, comm = (o->kernels / 2 + 1) / 16;
	return 2 * (kernels + comm + 2) + (o->kernels / 3 + 1) / 8 + comm + 5 + 2 + 1;
}

/* ---- the whole ---- */

static void name_things(struct maker *m)
{
	for (int i = 0; i < KERNEL_NAMES; i++)
		m->strings.kernel[i] = file_string(m->file, kernel_names[i]);
	for (int i = 0; i < CALL_NAMES; i++)
		m->strings.call[i] = file_string(m->file, call_names[i]);
	m->strings.os_read = file_string(m->file, "read");
	m->strings.os_poll = file_string(m->file, "poll");
	m->strings.layer = file_string(m->file, "layer");
}

void job_write(const struct job_options *o, struct profile_file *file, struct truth *t)
{
	struct maker m = {.options = o, .file = file, .truth = t, .random = o->seed * 2654435761u + 1};
	*t = (struct truth){.steps = o->steps, .warmup = o->warmup, .ranks = o->ranks, .window_start = INT64_MAX};
	t->step_end = calloc((size_t)o->steps, sizeof *t->step_end);
	t->device = calloc((size_t)o->ranks, sizeof *t->device);
	struct rank *ranks = calloc((size_t)o->ranks, sizeof *ranks);
	if (!t->step_end || !t->device || !ranks)
		abort();
	name_things(&m);
	for (int p = 0; p < o->ranks; p++) {
		int64_t pid = FIRST_PID + p;
		rank_begin(&ranks[p], p, file_pid(pid), file_tid(pid, pid), between(&m, 1000000, 1200000));
		file_gpu(file, p);
		file_process(file, pid, "train");
		file_device(file, pid, p, p);
		file_nvtx_domain(file, file_tid(pid, pid), DOMAIN_NCCL, "NCCL");
	}
	for (int k = 0; k < o->steps;) {
		int next = k + o->sync_every < o->steps ? k + o->sync_every : o->steps;
		for (int i = k; i < next; i++)
			for (int p = 0; p < o->ranks; p++) {
				ranks[p].step = i;
				step(&m, &ranks[p], i + 1 == next);
			}
		truth_add_block(t, ranks, k, next);
		k = next;
	}
	truth_finish(t, ranks);
	for (int p = 0; p < o->ranks; p++)
		rank_end(&ranks[p]);
	free(ranks);
	t->gpu_ops = file->rows[FILE_KERNEL] + file->rows[FILE_COPY] + file->rows[FILE_MEMSET];
	t->cuda_calls = file->rows[FILE_CALL];
	t->all_ranges = file->rows[FILE_RANGE] - o->ranks; /* a row names the domain */
	t->os_calls = file->rows[FILE_OS_CALL];
}

void job_release(struct truth *t)
{
	free(t->step_end);
	free(t->device);
}
