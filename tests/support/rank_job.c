#include "rank_job.h"

enum { US = 1000 };

static uint64_t seed = 1;

static int64_t noise(const struct rank_job *j)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return j->noise ? (int64_t)((seed >> 33) % (j->noise * US)) : 0;
}

static uint32_t correlation;

size_t rank_job_launch(struct maker *m, const struct rank_job_rank *r, int64_t at, const char *call, enum op_kind kind,
                       int64_t start, int64_t end, const char *name)
{
	bool copy = kind == OP_COPY;
	maker_call(m, r->thread, at, at + 3 * US, call, copy ? CALL_COPY : CALL_LAUNCH, ++correlation);
	return maker_op(m, r->device, 7, kind, start, end, name, correlation);
}

/* One step of a rank that the host begins at `t`; returns when its backward pass ends. */
static int64_t begin_step(struct maker *m, const struct rank_job_rank *r, const struct rank_job *j, uint32_t k,
                          int64_t t, int64_t more_load, int64_t more_backward)
{
	int64_t loaded = t + (j->load + more_load) * US + noise(j);
	int64_t copied = loaded + 4 * US + (100 + j->more_copy[k]) * US;
	int64_t forward = copied + (j->forward + j->more_forward[k]) * US;
	int64_t backward = forward + (j->backward + more_backward) * US + noise(j);
	maker_range(m, r->thread, t, loaded + 3 * US, "data_load", "", RANGE_PUSH_POP);
	size_t copy = rank_job_launch(m, r, loaded, "cudaMemcpyAsync", OP_COPY, loaded + 4 * US, copied,
	                              "[CUDA memcpy Host-to-Device]");
	m->trace->ops.bytes[copy] = 1 << 20;
	m->trace->ops.copy[copy] = COPY_H2D;
	maker_range(m, r->thread, loaded + 4 * US, loaded + 9 * US, "forward", "", RANGE_PUSH_POP);
	rank_job_launch(m, r, loaded + 5 * US, "cudaLaunchKernel", OP_KERNEL, copied, forward, "gemm");
	maker_range(m, r->thread, loaded + 10 * US, loaded + 20 * US, "backward", "", RANGE_PUSH_POP);
	rank_job_launch(m, r, loaded + 11 * US, "cudaLaunchKernel", OP_KERNEL, forward, backward, "gemm");
	return backward;
}

static int64_t skew_of(const struct rank_job *j, uint32_t r)
{
	return r >= j->ranks / 2 ? j->skew * US : 0;
}

const struct trace *rank_job_make(const struct rank_job *j, struct arena *arena, struct names *names)
{
	struct maker m;
	struct rank_job_rank rank[RANK_JOB_MOST];
	if (j->seed) {
		seed = j->seed;
		noise(j);
	}
	maker_init(&m, arena, names);
	for (uint32_t i = 0; i < j->ranks; i++) {
		uint32_t k = j->reversed ? j->ranks - 1 - i : i;
		int64_t pid = (j->reversed ? 9000 : 100) + i;
		rank[k].process = maker_process(&m, pid);
		m.trace->processes[rank[k].process].rank = j->nameless ? -1 : (int32_t)k;
		m.trace->processes[rank[k].process].host = j->skew ? 1 + (k >= j->ranks / 2) : 0;
		rank[k].thread = maker_thread(&m, rank[k].process, pid);
		rank[k].device = maker_device(&m, rank[k].process, 0, TRACE_NONE);
	}
	int64_t t = 1000 * US;
	for (uint32_t k = 0; k < RANK_JOB_STEPS; k++) {
		int64_t backward[RANK_JOB_MOST], last = 0;
		for (uint32_t r = 0; r < j->ranks; r++) {
			int64_t more = j->more_backward[j->turns ? (r + k) % j->ranks : r];
			int64_t load = (j->every && k % j->every ? 0 : j->more_load[r]) +
			               (r == 5 && k == 10 ? j->once : 0),
				skew = skew_of(j, r);
			backward[r] = begin_step(&m, &rank[r], j, r, t + skew, load, more) - skew;
			last = backward[r] > last ? backward[r] : last;
		}
		int64_t end = last + j->move * US;
		for (uint32_t r = 0; r < j->ranks; r++) {
			int64_t skew = skew_of(j, r);
			rank_job_launch(&m, &rank[r], t + skew + 5000 * US, "cudaLaunchKernel", OP_COMM,
			                backward[r] + skew, end + skew,
			                j->collective ? j->collective : "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
			maker_call(&m, rank[r].thread, t + skew + 5010 * US, end + skew + 5 * US,
			           "cudaDeviceSynchronize", CALL_SYNC, ++correlation);
			maker_range(&m, rank[r].thread, t + skew, end + skew + 10 * US, "step", "", RANGE_PUSH_POP);
		}
		t = end + 11 * US;
	}
	return maker_link(&m);
}
