#include "pipeline_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { US = 1000, MOST_OPS = 4096, MEETINGS = 2 };
enum { REDUCED = 300 * US, SUMMED = 20 * US, LAUNCHED_BEFORE = 20 * US };

enum kind { COMPUTE, MEET, TOGETHER };

/* What a rank does next. MEET is a kernel with a send to a rank, a receive from one, or both; −1: without it. */
struct op {
	enum kind kind;
	int64_t length; /* of COMPUTE; of TOGETHER how long data moves */
	int send, receive;
	int first, each, n;                              /* TOGETHER: of ranks first, first + each … */
	enum { ALL_REDUCE, REDUCE, BROADCAST } together; /* the root is `first` */
	int64_t comm;
};

static struct rank {
	struct op op[MOST_OPS];
	int n, next;
	int64_t now, entered;          /* true times; `entered`: the op at hand */
	int meeting[PIPELINE_MOST][2]; /* how many sends to and receives from each rank have begun */
	struct pipeline_truth truth;
	struct maker m;
	uint32_t thread, device, correlation;
} ranks[PIPELINE_MOST];

int pipeline_ranks(const struct pipeline_job *s)
{
	return s->stages * s->tensor * s->data;
}

/* Ranks as Megatron counts them: tensor-parallel ones beside each other, then data-parallel ones, then stages. */
static int rank_at(const struct pipeline_job *s, int stage, int data, int tensor)
{
	return (stage * s->data + data) * s->tensor + tensor;
}

static void add(int rank, struct op op)
{
	struct rank *r = &ranks[rank];
	assert_true(r->n < MOST_OPS);
	r->op[r->n++] = op;
}

static void compute(const struct pipeline_job *s, int stage, int data, bool forward)
{
	enum { LAYERS = 2 };
	int64_t length = (forward ? s->forward : s->backward) * (stage == s->slow ? 2 : 1) / LAYERS;
	for (int layer = 0; layer < LAYERS; layer++)
		for (int t = 0; t < s->tensor; t++) {
			int rank = rank_at(s, stage, data, t);
			add(rank, (struct op){.kind = COMPUTE, .length = length + t * 3 * US});
			if (s->tensor > 1)
				add(rank, (struct op){.kind = TOGETHER,
				                      .length = SUMMED,
				                      .first = rank_at(s, stage, data, 0),
				                      .each = 1,
				                      .n = s->tensor,
				                      .comm = s->number * 10000 + 5000 + stage * s->data + data});
		}
}

/* Sends to and receives from a stage, in one kernel. */
static void meet(const struct pipeline_job *s, int stage, int data, int send_to, int receive_from)
{
	for (int t = 0; t < s->tensor; t++) {
		bool sends = send_to >= 0 && send_to < s->stages, takes = receive_from >= 0 && receive_from < s->stages;
		if (sends || takes)
			add(rank_at(s, stage, data, t),
			    (struct op){.kind = MEET,
			                .send = sends ? rank_at(s, send_to, data, t) : -1,
			                .receive = takes ? rank_at(s, receive_from, data, t) : -1,
			                .comm = s->number * 10000 + 1000 + data * s->tensor + t});
	}
}

/* All forwards, then all backwards. */
static void plan_gpipe(const struct pipeline_job *s, int p, int d)
{
	for (int m = 0; m < s->microbatches; m++) {
		meet(s, p, d, -1, p - 1);
		compute(s, p, d, true);
		meet(s, p, d, p + 1, -1);
	}
	for (int m = 0; m < s->microbatches; m++) {
		meet(s, p, d, -1, p + 1);
		compute(s, p, d, false);
		meet(s, p, d, p - 1, -1);
	}
}

/* Megatron's schedule: what it sends and receives to and from the same neighbour is one group. */
static void plan_alternating(const struct pipeline_job *s, int p, int d)
{
	int first = s->stages - 1 - p, rest;
	first = first < s->microbatches ? first : s->microbatches;
	rest = s->microbatches - first;
	for (int m = 0; m < first; m++) {
		meet(s, p, d, -1, p - 1);
		compute(s, p, d, true);
		meet(s, p, d, p + 1, -1);
	}
	if (rest)
		meet(s, p, d, -1, p - 1);
	for (int m = 0; m < rest; m++) {
		compute(s, p, d, true);
		meet(s, p, d, p + 1, p + 1);
		compute(s, p, d, false);
		meet(s, p, d, p - 1, m + 1 < rest ? p - 1 : -1);
	}
	for (int m = 0; m < first; m++) {
		meet(s, p, d, -1, p + 1);
		compute(s, p, d, false);
		meet(s, p, d, p - 1, -1);
	}
}

static void plan_step(const struct pipeline_job *s)
{
	for (int p = 0; p < s->stages; p++)
		for (int d = 0; d < s->data; d++) {
			if (s->alternating)
				plan_alternating(s, p, d);
			else
				plan_gpipe(s, p, d);
			for (int t = 0; t < s->tensor; t++) {
				int rank = rank_at(s, p, d, t);
				struct op reduce = {.kind = TOGETHER,
				                    .together = s->rooted ? REDUCE : ALL_REDUCE,
				                    .length = REDUCED,
				                    .first = rank_at(s, p, 0, t),
				                    .each = s->tensor,
				                    .n = s->data,
				                    .comm = s->number * 10000 + 7000 + p * s->tensor + t};
				if (s->data > 1)
					add(rank, reduce);
				reduce.together = BROADCAST;
				if (s->data > 1 && s->rooted)
					add(rank, reduce);
				add(rank, (struct op){.kind = TOGETHER,
				                      .length = SUMMED,
				                      .first = 0,
				                      .each = 1,
				                      .n = pipeline_ranks(s),
				                      .comm = s->number * 10000 + 99});
				add(rank, (struct op){.kind = COMPUTE, .length = 200 * US});
			}
		}
}

/* ---- playing ---- */

static void launch(struct rank *r, enum op_kind kind, uint32_t stream, int64_t start, int64_t end, const char *name)
{
	bool copy = kind == OP_COPY;
	int64_t at = start - LAUNCHED_BEFORE;
	maker_call(&r->m, r->thread, at, at + 2 * US, copy ? "cudaMemcpyAsync" : "cudaLaunchKernel",
	           copy ? CALL_COPY : CALL_LAUNCH, ++r->correlation);
	maker_op(&r->m, r->device, stream, kind, start, end, name, r->correlation);
}

static void call(const struct pipeline_job *s, struct rank *r, const char *name, const struct op *op, int64_t start,
                 int peer)
{
	int64_t at = start - LAUNCHED_BEFORE - 2 * US;
	uint32_t number = peer < 0 ? TRACE_NONE : (uint32_t)(peer / (s->data * s->tensor)); /* its stage */
	maker_comm_call(&r->m, r->thread, at, at + US, name, op->comm, op->kind == MEET ? 1 << 20 : 4 << 20, number,
	                TRACE_NONE, TRACE_NONE);
}

/* When the other rank's kernel of the same transfer began; −1: it has not yet. */
static int64_t other_began(int rank, int peer, bool send)
{
	const struct rank *other = &ranks[peer];
	int k = ranks[rank].meeting[peer][send];
	const struct op *op = &other->op[other->next];
	int seen = other->meeting[rank][!send];
	bool there = other->next < other->n && op->kind == MEET && (send ? op->receive : op->send) == rank && seen == k;
	return there ? other->entered : -1;
}

static bool all_there(const struct op *op, int64_t *last)
{
	*last = INT64_MIN;
	for (int i = 0; i < op->n; i++) {
		const struct rank *r = &ranks[op->first + i * op->each];
		const struct op *theirs = &r->op[r->next];
		if (r->next == r->n || theirs->kind != TOGETHER || theirs->comm != op->comm)
			return false;
		*last = r->now > *last ? r->now : *last;
	}
	return true;
}

static void play_together(const struct pipeline_job *s, const struct op op, int64_t last, bool measured)
{
	static const char *const calls[] = {"ncclAllReduce", "ncclReduce", "ncclBroadcast"};
	static const char *const kernels[] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL",
	                                      "ncclDevKernel_Reduce_Sum_f32_RING_LL",
	                                      "ncclDevKernel_Broadcast_RING_LL"};
	const int64_t root = ranks[op.first].now;
	for (int i = 0; i < op.n; i++) {
		struct rank *r = &ranks[op.first + i * op.each];
		int64_t met = op.together == ALL_REDUCE ? last : r->now;
		if (op.together == REDUCE && !i)
			met = last;
		else if (op.together == BROADCAST && root > met)
			met = root;
		int64_t end = met + op.length + i * 500;
		call(s, r, calls[op.together], &op, r->now, op.together == ALL_REDUCE ? -1 : 0);
		launch(r, OP_COMM, 7, r->now, end, kernels[op.together]);
		r->truth.waiting += measured ? met - r->now : 0;
		r->truth.moving += measured ? end - met : 0;
		r->now = end;
		r->next++;
	}
}

/* Kernels that meet each other, directly or through others (a rank sends to one and receives from another in one
 * kernel), begin as their ranks get there, and each ends when its own transfers are done. */
static bool play_meet(const struct pipeline_job *s, int rank, bool measured)
{
	struct rank *r = &ranks[rank];
	const struct op *op = &r->op[r->next];
	int64_t met = r->now;
	const int peer[MEETINGS] = {op->receive, op->send};
	for (int send = 0; send < MEETINGS; send++) {
		int64_t began = peer[send] < 0 ? met : other_began(rank, peer[send], send);
		if (began < 0)
			return false;
		met = began > met ? began : met;
	}
	int64_t end = met + PIPELINE_SENT;
	if (op->send >= 0)
		call(s, r, "ncclSend", op, r->now, op->send);
	if (op->receive >= 0)
		call(s, r, "ncclRecv", op, r->now, op->receive);
	launch(r, OP_COMM, 7, r->now, end, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)");
	int64_t copied =
		rank == 0 && s->copies && met > r->now ? (s->copies < met - r->now ? s->copies : met - r->now) : 0;
	if (copied)
		launch(r, OP_COPY, 9, r->now, r->now + copied, "[CUDA memcpy Device-to-Host]");
	r->truth.bubble += measured ? met - r->now - copied : 0;
	r->truth.moving += measured ? end - met + copied : 0;
	r->now = end;
	return true;
}

/* Ranks that can go on do, those in one meeting together, until all are through. */
static void play(const struct pipeline_job *s, bool measured)
{
	int n = pipeline_ranks(s);
	for (bool moved = true; moved;) {
		bool done[PIPELINE_MOST] = {false};
		moved = false;
		for (int i = 0; i < n; i++) {
			struct rank *r = &ranks[i];
			int64_t last;
			for (; r->next < r->n && r->op[r->next].kind == COMPUTE; r->next++) {
				const struct op *op = &r->op[r->next];
				launch(r, OP_KERNEL, 7, r->now, r->now + op->length, "gemm");
				r->truth.compute += measured ? op->length : 0;
				r->now += op->length;
				moved = true;
			}
			if (r->next < r->n && r->op[r->next].kind == TOGETHER && all_there(&r->op[r->next], &last)) {
				play_together(s, r->op[r->next], last, measured);
				moved = true;
			}
		}
		for (int i = 0; i < n; i++)
			ranks[i].entered = ranks[i].now;
		for (int i = 0; i < n; i++) { /* who can, with everybody where `entered` says */
			const struct rank *r = &ranks[i];
			done[i] = r->next < r->n && r->op[r->next].kind == MEET && play_meet(s, i, measured);
			moved = moved || done[i];
		}
		for (int i = 0; i < n; i++) {
			struct rank *r = &ranks[i];
			const struct op *op = &r->op[r->next];
			if (!done[i])
				continue;
			if (op->send >= 0)
				r->meeting[op->send][1]++;
			if (op->receive >= 0)
				r->meeting[op->receive][0]++;
			r->next++;
		}
	}
	for (int i = 0; i < n; i++)
		if (ranks[i].next < ranks[i].n)
			fail_msg("rank %d never gets on at op %d of %d", i, ranks[i].next, ranks[i].n);
}

const struct trace *pipeline_make(const struct pipeline_job *s, struct arena *arena, struct names *names,
                                  struct pipeline_truth *truth)
{
	struct maker m;
	maker_init(&m, arena, names);
	memset(ranks, 0, sizeof ranks);
	for (int i = 0; i < pipeline_ranks(s); i++) {
		struct rank *r = &ranks[i];
		uint32_t process = maker_process(&m, 100 * (s->number + 1) + i);
		r->thread = maker_thread(&m, process, 100 * (s->number + 1) + i);
		r->device = maker_device(&m, process, 0, TRACE_NONE);
		m.trace->processes[process].rank = i;
		r->now = 10000 * US;
		r->correlation = (uint32_t)i << 20;
		r->m = m;
		int t = i % s->tensor, d = i / s->tensor % s->data, p = i / s->tensor / s->data;
		maker_comm_call(&m, r->thread, 100, 110, "ncclCommInitRank",
		                s->number * 10000 + 1000 + d * s->tensor + t, -1, TRACE_NONE, (uint32_t)p,
		                (uint32_t)s->stages);
		maker_comm_call(&m, r->thread, 140, 150, "ncclCommInitRank",
		                s->number * 10000 + 7000 + p * s->tensor + t, -1, TRACE_NONE, (uint32_t)d,
		                (uint32_t)s->data);
		maker_comm_call(&m, r->thread, 120, 130, "ncclCommInitRank", s->number * 10000 + 99, -1, TRACE_NONE,
		                (uint32_t)i, (uint32_t)pipeline_ranks(s));
	}
	for (int k = 0; k < PIPELINE_STEPS; k++) {
		int64_t begin[PIPELINE_MOST];
		for (int i = 0; i < pipeline_ranks(s); i++) {
			begin[i] = ranks[i].now;
			ranks[i].n = ranks[i].next = 0;
		}
		plan_step(s);
		play(s, k >= PIPELINE_WARM);
		for (int i = 0; i < pipeline_ranks(s); i++) {
			struct rank *r = &ranks[i];
			maker_range(&r->m, r->thread, begin[i] - LAUNCHED_BEFORE - 8 * US, r->now, "step", "",
			            RANGE_PUSH_POP);
			r->now += 30 * US;
		}
	}
	for (int i = 0; i < pipeline_ranks(s); i++)
		truth[i] = ranks[i].truth;
	return maker_link(&m);
}
