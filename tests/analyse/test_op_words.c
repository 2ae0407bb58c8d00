/* What GPU ops are called (gen/steps/op_words.c): names of kernels as profilers write them, and the kinds that
 * people would say they are of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps/op_names.h"

static void kind_is(const char *kernel, const char *kind)
{
	struct arena arena = {0};
	struct names names;
	names_init(&names, &arena);
	uint32_t name = names_add_text(&names, kernel);
	uint8_t kernels = OP_KERNEL;
	struct trace trace = {.names = &names, .ops = {.n = 1, .name = &name, .kind = &kernels}};
	assert_string_equal(op_words_kind(&trace, 0, &arena), kind);
	arena_release(&arena);
}

static void test_families(void **state)
{
	(void)state;
	kind_is("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute", "gemm kernels");
	kind_is("void "
	        "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(T1::Params)",
	        "gemm kernels");
	kind_is("nvjet_tst_128x64_64x8_1x2_h_bz_coopA_TNT", "gemm kernels");
	kind_is("void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false, false, true>(int)",
	        "convolution kernels");
	kind_is("sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x32",
	        "convolution kernels");
	kind_is("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
	        "std::array<char *, 3>>(int, T2, T3)",
	        "elementwise kernels");
	kind_is("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(T3)", "reduction kernels");
	kind_is("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>>(T1)",
	        "multi-tensor kernels");
	kind_is("void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(T2 *)",
	        "softmax kernels");
	kind_is("triton_poi_fused_add_relu_3", "Triton pointwise kernels");
	kind_is("loop_add_fusion_3", "fusion kernels");
}

/* What a word in a name does not mean. */
static void test_never_what_it_is_not(void **state)
{
	(void)state;
	/* attention with a forward propagation in its name, no convolution */
	kind_is("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64", "attention kernels");
	kind_is("heat_diffusion(float *, int)", "heat_diffusion");
	kind_is("convertTensor(float *)", "convertTensor");
	kind_is("void flash_memory_fill<int>(int *)", "flash_memory_fill");
	/* a return type may be a template, too */
	kind_is("std::enable_if<!T7, void>::type internal::march::kernel<int, float>(cublasGemvParams<T1>)", "kernel");
	kind_is("thrust::pair<int, float> minmax<float>(float *)", "minmax");
	kind_is("gather<int> [clone]", "gather");
	/* an element-wise kernel of what a softmax needs is no softmax */
	kind_is("void at::native::unrolled_elementwise_kernel<softmax_scale<float>>(int, T1)", "elementwise kernels");
}

static void test_own_names(void **state)
{
	(void)state;
	kind_is("Fan2(float *, float *, float *, int, int, int)", "Fan2");
	kind_is("void ns::tile_kernel<float, (int)32>(const T1 *, T1 *)", "tile_kernel");
	kind_is("wrapped_add_12", "wrapped_add_#"); /* compilers count */
	kind_is("layer_2(float *)", "layer_2");     /* people name */
	kind_is("_12", "_12");
	kind_is("", "");
}

static void test_copies(void **state)
{
	(void)state;
	static const struct {
		enum op_kind kind;
		enum copy_kind copy;
		uint8_t flags;
		const char *expected;
	} list[] = {
		{OP_COPY, COPY_H2D, 0, "copies to the device"},
		{OP_COPY, COPY_D2H, OPF_PAGEABLE, "copies to the host"},
		{OP_COPY, COPY_D2D, 0, "copies on the device"},
		{OP_COPY, COPY_P2P, 0, "copies between devices"},
		{OP_COPY, COPY_UM_H2D, OPF_MANAGED, "unified-memory migrations"},
		{OP_COPY, COPY_UNKNOWN, 0, "copies"},
		{OP_MEMSET, 0, 0, "memsets"},
		{OP_GRAPH, 0, 0, "CUDA graphs"},
		{OP_COMM, 0, 0, "communication kernels"},
	};
	struct arena arena = {0};
	struct names names;
	names_init(&names, &arena);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		uint32_t name = names_add_text(&names, "gemm");
		uint8_t kind = (uint8_t)list[i].kind, copy = (uint8_t)list[i].copy, flags = list[i].flags;
		struct trace trace = {.names = &names,
		                      .ops = {.n = 1, .name = &name, .kind = &kind, .copy = &copy, .flags = &flags}};
		assert_string_equal(op_words_kind(&trace, 0, &arena), list[i].expected);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_never_what_it_is_not),
		cmocka_unit_test(test_own_names),
		cmocka_unit_test(test_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
