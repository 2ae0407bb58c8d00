#include "trace/classify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define EXPECT(call, wanted)                                                                                           \
	do {                                                                                                           \
		if ((int)(call) != (int)(wanted))                                                                      \
			fail_msg("%s is %d, not %s", #call, (int)(call), #wanted);                                     \
	} while (0)

static void communication_kernels(void **state)
{
	(void)state;
	static const char *const comm[] = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
		"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm *)",
		"_Z37ncclDevKernel_ReduceScatter_Sum_f32v",
		"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
		"void one_shot_all_reduce_kernel<c10::BFloat16, 16>(…)",
		"void two_shot_all_reduce_kernel_inplace<float, 8>()",
		"void deep_ep::internode::dispatch<false, 8>()",
		"void dpsk::ep::internode::combine<false, 8>()",
		"void dpsk::ep::intranode::dispatch<8, 768, 8192>()",
		"nvshmemi_transfer_rma_nbi",
		"void tensorrt_llm::kernels::oneShotAllReduceKernel<float>()",
		"void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8, false>(int const*)",
		"void tensorrt_llm::kernels::moe_comm::moeA2ACombineKernel<8>(int const*)",
		"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>()",
		"void userbuffers_fp16_sum_inplace_gpu_rw_ag<8>(int, int)",
		"kuserbuffers_pushrecv(int, int, int, int, int*)",
		"rocshmem_put_signal_kernel",
	};
	static const char *const compute[] = {
		"void gemm_bf16_128x128<float>(float const*)",
		"void at::native::reduce_kernel<512, 1>(…)",
		"reduce",
		"",
		"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>",
		"all_reduce_is_not_in_this_name_of_mine",
		"void tensorrt_llm::kernels::moe_permute_dispatch<float>(float*)",
	};
	for (size_t i = 0; i < sizeof comm / sizeof *comm; i++)
		if (!classify_comm(comm[i]))
			fail_msg("%s should be communication", comm[i]);
	for (size_t i = 0; i < sizeof compute / sizeof *compute; i++)
		if (classify_comm(compute[i]))
			fail_msg("%s should be compute", compute[i]);
}

static void cuda_calls(void **state)
{
	(void)state;
	EXPECT(classify_call("cudaLaunchKernel"), CALL_LAUNCH);
	EXPECT(classify_call("cudaLaunchKernelExC"), CALL_LAUNCH);
	EXPECT(classify_call("cuLaunchKernelEx"), CALL_LAUNCH);
	EXPECT(classify_call("cudaLaunchCooperativeKernel"), CALL_LAUNCH);
	EXPECT(classify_call("cudaGraphLaunch"), CALL_LAUNCH);
	EXPECT(classify_call("cuGraphLaunch"), CALL_LAUNCH);
	EXPECT(classify_call("cudaLaunchHostFunc"), CALL_OTHER);
	EXPECT(classify_call("cudaMemcpyAsync"), CALL_COPY);
	EXPECT(classify_call("cudaMemcpy"), CALL_COPY);
	EXPECT(classify_call("cuMemcpyDtoHAsync_v2"), CALL_COPY);
	EXPECT(classify_call("cudaMemsetAsync"), CALL_COPY);
	EXPECT(classify_call("cudaMemPrefetchAsync"), CALL_COPY);
	EXPECT(classify_call("cudaDeviceSynchronize"), CALL_SYNC);
	EXPECT(classify_call("cudaThreadSynchronize"), CALL_SYNC);
	EXPECT(classify_call("cudaEventSynchronize"), CALL_SYNC);
	EXPECT(classify_call("cudaStreamSynchronize"), CALL_SYNC);
	EXPECT(classify_call("cuCtxSynchronize"), CALL_SYNC);
	EXPECT(classify_call("cuCtxSynchronize_v2"), CALL_SYNC);
	EXPECT(classify_call("cudaStreamWaitEvent"), CALL_OTHER); /* the GPU waits, not the host */
	EXPECT(classify_call("cudaEventQuery"), CALL_OTHER);
	EXPECT(classify_call("musaLaunchKernel"), CALL_LAUNCH);
	EXPECT(classify_call("musaMalloc"), CALL_ALLOC);
	EXPECT(classify_call("urEnqueueKernelLaunch"), CALL_LAUNCH);
	EXPECT(classify_call("piextEnqueueCooperativeKernelLaunch"), CALL_LAUNCH);
	EXPECT(classify_call("zeCommandListAppendLaunchKernel"), CALL_LAUNCH);
	EXPECT(classify_call("urEnqueueUSMMemcpy"), CALL_COPY);
	EXPECT(classify_call("zeCommandListAppendMemoryCopy"), CALL_COPY);
	EXPECT(classify_call("urQueueFinish"), CALL_SYNC);
	EXPECT(classify_call("zeEventHostSynchronize"), CALL_SYNC);
	EXPECT(classify_call("urEnqueueEventsWait"), CALL_OTHER); /* the GPU waits */
	EXPECT(classify_call("urUSMDeviceAlloc"), CALL_ALLOC);
	EXPECT(classify_call("zeModuleCreate"), CALL_MODULE);
	EXPECT(classify_call("pipe2"), CALL_OTHER);
	EXPECT(classify_call("cudaMalloc"), CALL_ALLOC);
	EXPECT(classify_call("cudaFreeAsync"), CALL_ALLOC);
	EXPECT(classify_call("cudaHostRegister"), CALL_ALLOC);
	EXPECT(classify_call("cuMemAllocAsync"), CALL_ALLOC);
	EXPECT(classify_call("cuMemMap"), CALL_ALLOC);
	EXPECT(classify_call("cuMemGetAllocationGranularity"), CALL_OTHER);
	EXPECT(classify_call("cudaMemGetInfo"), CALL_OTHER);
	EXPECT(classify_call("cuModuleLoadData"), CALL_MODULE);
	EXPECT(classify_call("cuLibraryLoadData"), CALL_MODULE);
	EXPECT(classify_call("cuModuleGetLoadingMode"), CALL_OTHER);
	EXPECT(classify_call("cuKernelGetName"), CALL_OTHER);
	EXPECT(classify_call("cudaStreamCreate"), CALL_OTHER);
	EXPECT(classify_call(""), CALL_OTHER);
}

static void blocking_copies(void **state)
{
	(void)state;
	EXPECT(classify_call_blocks("cudaMemcpy"), true);
	EXPECT(classify_call_blocks("cudaMemcpy2D"), true);
	EXPECT(classify_call_blocks("cudaMemcpyToSymbol"), true);
	EXPECT(classify_call_blocks("cuMemcpyDtoH"), true);
	EXPECT(classify_call_blocks("cuMemcpyDtoH_v2"), true);
	EXPECT(classify_call_blocks("cudaMemcpyAsync"), false);
	EXPECT(classify_call_blocks("cudaMemcpyToSymbolAsync"), false);
	EXPECT(classify_call_blocks("cuMemcpyDtoHAsync_v2"), false);
	EXPECT(classify_call_blocks("cudaMemcpyPeer"), false);
	EXPECT(classify_call_blocks("cuMemcpyDtoD_v2"), false);
	EXPECT(classify_call_blocks("cudaMemset"), false);
	EXPECT(classify_call_blocks("cudaLaunchKernel"), false);
}

static void operating_system_calls(void **state)
{
	(void)state;
	EXPECT(classify_os("pthread_cond_wait"), OS_WAIT);
	EXPECT(classify_os("pthread_cond_clockwait"), OS_WAIT);
	EXPECT(classify_os("pthread_join"), OS_WAIT);
	EXPECT(classify_os("sem_timedwait"), OS_WAIT);
	EXPECT(classify_os("pthread_mutex_lock"), OS_MUTEX);
	EXPECT(classify_os("pthread_rwlock_wrlock"), OS_MUTEX);
	EXPECT(classify_os("pthread_mutex_trylock"), OS_OTHER); /* does not wait */
	EXPECT(classify_os("pthread_cond_signal"), OS_OTHER);
	EXPECT(classify_os("MPI_Waitall"), OS_PEER);
	EXPECT(classify_os("poll"), OS_OTHER);
	EXPECT(classify_os("read"), OS_OTHER);
	EXPECT(classify_os("fsync"), OS_OUTPUT);
	EXPECT(classify_os("sendmsg"), OS_OUTPUT);
}

static void overheads(void **state)
{
	(void)state;
	EXPECT(classify_overhead("dlopen(libcublas.so.13)"), OVERHEAD_MODULE_LOAD);
	EXPECT(classify_overhead("dlclose"), OVERHEAD_MODULE_LOAD);
	EXPECT(classify_overhead("Driver JIT compiler (CUDA)"), OVERHEAD_MODULE_LOAD);
	EXPECT(classify_overhead("Runtime module loading (CUDA)"), OVERHEAD_MODULE_LOAD);
	EXPECT(classify_overhead("Lazy function loading (CUDA)"), OVERHEAD_MODULE_LOAD);
	EXPECT(classify_overhead("CUPTI Buffer flush"), OVERHEAD_PROFILER);
	EXPECT(classify_overhead("CUDA profiling data flush"), OVERHEAD_PROFILER);
	EXPECT(classify_overhead("OS runtime libraries profiling initialization"), OVERHEAD_PROFILER);
	EXPECT(classify_overhead("Unknown"), OVERHEAD_PROFILER);
}

static void test_collectives_that_all_wait_for(void **state)
{
	(void)state;
	assert_true(classify_synchronising("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
	assert_true(classify_synchronising("ncclKernel_ReduceScatter_RING_LL_Sum_float"));
	assert_true(classify_synchronising("vllm::cross_device_reduce_1stage"));
	assert_false(classify_synchronising("ncclDevKernel_Broadcast_RING_LL"));
	assert_false(classify_synchronising("ncclDevKernel_Reduce_Sum_f32_RING_LL"));
	assert_false(classify_synchronising("ncclDevKernel_SendRecv"));
	assert_false(classify_synchronising("ncclDevKernel_Generic_4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(communication_kernels),
		cmocka_unit_test(cuda_calls),
		cmocka_unit_test(blocking_copies),
		cmocka_unit_test(operating_system_calls),
		cmocka_unit_test(overheads),
		cmocka_unit_test(test_collectives_that_all_wait_for),
	};
	return cmocka_run_group_tests_name("classify", tests, NULL, NULL);
}
