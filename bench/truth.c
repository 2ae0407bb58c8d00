#include "truth.h"

#include <inttypes.h>

static const char *const phase_names[PHASES] = {
	[PHASE_NONE] = "(between phases)", [PHASE_DATA] = "data_load",    [PHASE_H2D] = "h2d",
	[PHASE_FORWARD] = "forward",       [PHASE_BACKWARD] = "backward", [PHASE_OPTIMIZER] = "optimizer",
};

static const char *const why_names[WHYS] = {
	[WHY_HOST_CODE] = "host_code",           [WHY_HOST_BLOCKED] = "host_blocked",
	[WHY_SYNC_RETURN] = "sync_return",       [WHY_COPY_API] = "copy_api",
	[WHY_LAUNCH_API] = "launch_api",         [WHY_ALLOC] = "alloc",
	[WHY_LAUNCH_LATENCY] = "launch_latency", [WHY_DISPATCH] = "dispatch",
	[WHY_DEPENDENCY] = "dependency",         [WHY_UNATTRIBUTED] = "unattributed",
};

const char *const kernel_names[KERNEL_NAMES] = {
	"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(T1::Params)",
	"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, T2, T3)",
	"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, T2, T3)",
	"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float>>>(T3)",
	"void at::native::vectorized_layer_norm_kernel<float, float>(int, T2, const T1 *, const T1 *, T1 *)",
	"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float>(cublasSplitKParams<T4>)",
	"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, 0, 1>(flash::Flash_fwd_params)",
	"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<64, 128>(flash::Flash_bwd_params)",
	"void flash::flash_bwd_dot_do_o_kernel<1, Flash_bwd_kernel_traits<64>>(flash::Flash_bwd_params)",
	"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>(int, T1, T2)",
	"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast>(int, T3)",
	"void at::native::multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float>>(T1, T2)",
	"void at::native::multi_tensor_apply_kernel<TensorListMetadata<1>, LpNormFunctor<float>>(T1, T2)",
	"void softmax_warp_forward<float, float, float, 9, 0, 0>(T2 *, const T1 *, int, int, int)",
	"void softmax_warp_backward<float, float, float, 9, 0, 0>(T2 *, const T1 *, const T1 *, int)",
	"void at::native::embedding_dense_backward_kernel<float>(const long *, const T1 *, T1 *, int)",
	"void at::native::CatArrayBatchedCopy<float, unsigned int, 2, 64, 64>(T1 *, CatArrInputTensorMetadata<T1>)",
	"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn",
	"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nt",
	"ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x3_tn",
	"void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel>(long, T3)",
	"void at::native::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4>(T1, T2)",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)",
	"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096>)",
};

const char *const call_names[CALL_NAMES] = {
	"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060", "cudaMemcpyAsync_v3020",       "cudaMemsetAsync_v3020",
	"cudaMemcpy_v3020",       "cudaMalloc_v3020",           "cudaDeviceSynchronize_v3020",
};

static void write_tallies(FILE *out, const char *key, const struct tally *list, const char *const *names, int n)
{
	fprintf(out, " \"%s\": [", key);
	const char *comma = "";
	for (int i = 0; i < n; i++)
		if (list[i].n) {
			fprintf(out, "%s\n  {\"name\": \"%s\", \"n\": %" PRId64 ", \"ns\": %" PRId64 "}", comma,
			        names[i], list[i].n, list[i].ns);
			comma = ",";
		}
	fprintf(out, "],\n");
}

static void write_device(FILE *out, const struct device_truth *d)
{
	fprintf(out,
	        "  {\"compute\": %" PRId64 ", \"comm_exposed\": %" PRId64 ", \"copy_exposed\": %" PRId64
	        ", \"idle\": %" PRId64 ",\n   \"rows\": [",
	        d->busy[WORK_COMPUTE], d->busy[WORK_COMM], d->busy[WORK_COPY], d->idle);
	const char *comma = "";
	for (int why = 0; why < WHYS; why++)
		for (int p = 0; p < PHASES; p++) {
			const int64_t *ns = d->row[why][p];
			if (!(ns[OPENING_SYNC] + ns[OPENING_DRY] + ns[OPENING_WAITING]))
				continue;
			fprintf(out,
			        "%s\n    {\"cause\": \"%s\", \"phase\": \"%s\", \"sync\": %" PRId64
			        ", \"dry\": %" PRId64 ", \"waiting\": %" PRId64 "}",
			        comma, why_names[why], phase_names[p], ns[OPENING_SYNC], ns[OPENING_DRY],
			        ns[OPENING_WAITING]);
			comma = ",";
		}
	fprintf(out, "],\n   \"phases\": [");
	comma = "";
	for (int p = 0; p < PHASES; p++)
		if (d->cost[p] || d->gpu[p]) {
			fprintf(out, "%s\n    {\"name\": \"%s\", \"cost\": %" PRId64 ", \"gpu\": %" PRId64 "}", comma,
			        phase_names[p], d->cost[p], d->gpu[p]);
			comma = ",";
		}
	fprintf(out, "]}");
}

void truth_write(const struct truth *t, FILE *out)
{
	fprintf(out,
	        "{\n \"step\": \"step\", \"steps\": %d, \"warmup\": %d, \"ranks\": %d, \"window\": %" PRId64
	        ",\n \"gpu_ops\": %" PRId64 ", \"cuda_calls\": %" PRId64 ", \"nvtx_ranges\": %" PRId64
	        ", \"os_calls\": %" PRId64 ",\n \"periods\": [",
	        t->steps, t->warmup, t->ranks, t->window_end - t->window_start, t->gpu_ops, t->cuda_calls,
	        t->all_ranges, t->os_calls);
	for (int k = 1; k < t->steps; k++)
		fprintf(out, "%s%" PRId64, k > 1 ? ", " : "", t->step_end[k] - t->step_end[k - 1]);
	fprintf(out, "],\n \"devices\": [");
	for (int r = 0; r < t->ranks; r++) {
		fprintf(out, r ? ",\n" : "\n");
		write_device(out, &t->device[r]);
	}
	fprintf(out, "],\n");
	write_tallies(out, "kernels", t->kernel, kernel_names, KERNEL_NAMES);
	write_tallies(out, "api", t->call, call_names, CALL_NAMES);
	fprintf(out,
	        " \"copies\": {\"h2d_n\": %" PRId64 ", \"h2d_ns\": %" PRId64 ", \"h2d_bytes\": %" PRId64
	        ", \"d2h_n\": %" PRId64 ", \"d2h_ns\": %" PRId64 ", \"d2h_bytes\": %" PRId64 ", \"memset_n\": %" PRId64
	        ", \"memset_ns\": %" PRId64 "},\n \"measured_ranges\": %" PRId64 "\n}\n",
	        t->h2d.n, t->h2d.ns, t->h2d.bytes, t->d2h.n, t->d2h.ns, t->d2h.bytes, t->set.n, t->set.ns, t->ranges);
}
