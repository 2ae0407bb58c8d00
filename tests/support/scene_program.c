#include "scene_program.h"

enum { US = 1000, STEPS = 40 };

const struct trace *scene_program(struct scene *s, const struct program *p)
{
	static const char *const kinds[] = {"cudaMalloc", "cudaFree", "cudaHostAlloc"};
	int64_t t = 0, gpu = 0, epoch = 0, launch = p->launch ? p->launch : 2 * US;
	uint32_t stream = 7;
	scene_trace_begin(s);
	for (int i = 0; i < STEPS; i++) {
		int64_t begin = t;
		t += 1 * US + i % 3;
		if (p->host) {
			scene_range(s, s->main, t, t + p->host, "load");
			if (p->blocked)
				maker_os_call(&s->m, s->main, t, t + p->blocked, p->polls ? "poll" : "fsync",
				              p->polls ? OS_OTHER : OS_OUTPUT);
			t += p->host;
		}
		if (p->alloc) {
			const char *name = p->mixed ? kinds[i % 3] : p->pool ? "cudaMallocAsync" : kinds[0];
			maker_call(&s->m, s->main, t, t + p->alloc, name, CALL_ALLOC, ++s->correlation);
			t += p->alloc;
		}
		if (p->copy) {
			maker_call(&s->m, s->main, t, t + 2 * US, "cudaMemcpyAsync", CALL_COPY, ++s->correlation);
			t += 2 * US;
			gpu = gpu > t + 2 * US ? gpu : t + 2 * US;
			size_t op = maker_op(&s->m, s->gpu, stream, OP_COPY, gpu, gpu + p->copy,
			                     "[CUDA memcpy Host-to-Device]", s->correlation);
			s->m.trace->ops.copy[op] = COPY_H2D;
			s->m.trace->ops.flags[op] = p->pageable ? OPF_PAGEABLE : 0;
			s->m.trace->ops.bytes[op] = p->copy * 20;
			gpu += p->copy;
		}
		for (int k = 0; k < p->kernels; k++) {
			bool node = p->per_launch > 1;
			if (!node || k % p->per_launch == 0) {
				maker_call(&s->m, s->main, t, t + launch, node ? "cudaGraphLaunch" : "cudaLaunchKernel",
				           CALL_LAUNCH, ++s->correlation);
				t += launch;
			}
			gpu = gpu > t + 2 * US ? gpu : t + 2 * US;
			size_t op = maker_op(&s->m, s->gpu, stream, OP_KERNEL, gpu, gpu + p->kernel, "gemm",
			                     s->correlation);
			s->m.trace->ops.flags[op] = node ? OPF_GRAPH_NODE : 0;
			gpu += p->kernel;
		}
		if (p->sync && (!p->of || i % p->of >= p->of - p->syncs)) {
			int64_t end = (gpu > t ? gpu : t) + 2 * US;
			maker_call(&s->m, s->main, t, end, "cudaDeviceSynchronize", CALL_SYNC, ++s->correlation);
			t = end;
		}
		scene_range(s, s->main, begin, t, "step");
		if (p->epochs && i % 8 == 7) {
			scene_range(s, s->main, epoch, t + 500, "epoch");
			epoch = t += US;
		}
	}
	return maker_link(&s->m);
}
