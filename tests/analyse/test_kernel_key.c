/* What a kernel is called where two builds of one program are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "trace/kernel_names.h"

static void test_keys(void **state)
{
	static const char *const pairs[][2] = {
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>(T1::Params)", "cutlass::Kernel2"},
		{"void at::native::<unnamed>::copy_kernel<int, (int)4>(int, T1)", "at::native::copy_kernel"},
		{"void at::native::(anonymous namespace)::copy_kernel<int>(int)", "at::native::copy_kernel"},
		{"vec<op(int)>::operator()(float *)", "vec::operator"},
		{"void ns::gather<int, li\xE2\x80\xA6>, 2>, (ns::mode)0>(int)",
	         "ns::gather"}, /* a long name, shortened */
		{"main_145_gpu", "main_gpu"},
		{"solve_step2_97_gpu__red", "solve_step2_gpu__red"},
		{"my_gpu_kernel", "my_gpu_kernel"},
		{"nvkernel_main_F1L145_2", "nvkernel_main"},
		{"nvkernel_layer_2", "nvkernel_layer_2"},
		{"__omp_offloading_10305_a1b2c3_solve_l88", "__omp_offloading_solve"},
		{"__omp_offloading_fd00_12_main_helper_l7", "__omp_offloading_main_helper"},
		{"main$_omp_fn$0", "main$_omp_fn"},
		{"triton_poi_fused_add_12", "triton_poi_fused_add"},
		{"triton_red_fused__native_layer_norm_3", "triton_red_fused__native_layer_norm"},
		{"layer_1", "layer_1"},
		{"sgemm_128x64_nn", "sgemm_128x64_nn"},
		{"", ""},
		{"<lambda(int)#1>", "<lambda(int)#1>"},
		{"(odd", "(odd"},
	};
	struct arena arena = {0};
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_string_equal(kernel_key(&arena, pairs[i][0]), pairs[i][1]);
	arena_release(&arena);
}

/* Numbers of 16 bits, and 19 bits that are called 32. */
static void test_halves(void **state)
{
	(void)state;
	assert_true(kernel_key_halves("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128"));
	assert_true(kernel_key_halves("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn"));
	assert_true(kernel_key_halves("nvjet_sm90_hsh_96x128_64x7_2x1_v_bz_bias_TNN"));
	assert_true(kernel_key_halves("void add<c10::Half, float>(int)"));
	assert_false(kernel_key_halves("sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n_tilesize128x128x16"));
	assert_false(kernel_key_halves("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8"));
	assert_false(kernel_key_halves("void halfway(float*)"));
}

/* Work that a program may not have needed. */
static void test_fills(void **state)
{
	(void)state;
	assert_true(kernel_key_fills("void vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)"));
	assert_true(kernel_key_fills("at::native::amp_update_scale_cuda_kernel(float*, int*, float const*)"));
	assert_true(kernel_key_fills("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
	                             "UnaryOpFunctor<float, 1, 1, 0>, "
	                             "at::native::_amp_foreach_non_finite_check_and_unscale_cuda_(int)>"));
	assert_false(kernel_key_fills("void at::native::upsample_bilinear2d_out_frame<float, float>(int)"));
	assert_false(kernel_key_fills("void clamp_foreach_kernel(float*)"));
	assert_false(kernel_key_fills("broadcast_rows(float*)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys), cmocka_unit_test(test_halves),
	                                   cmocka_unit_test(test_fills)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
