/* Kernels' names in the spellings of two demanglers (gen/analyse/judge/kernel_spelling.c): as c++filt and as NVIDIA's
 * tools print one and the same mangled name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/judge/kernel_spelling.h"

static const struct {
	const char *runtime, *nvidia, *function;
} KERNELS[] = {
	{"relu(float*, int)", "relu(float *, int)", "relu"},
	{"upd(float*, float const*, int)", "upd(float *, const float *, int)", "upd"},
	{"triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0"},
	{"void "
         "cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(cutlass_80_simt_sgemm_64x64_8x5_nn_align1::"
         "Params)",
         "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(T1::Params)", "Kernel2"},
	{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float, float "
         "const*)",
         "void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2, const T1 *)",
         "vectorized_layer_norm_kernel"},
	{"void at::native::vectorized_elementwise_kernel<8, "
         "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
         "::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
         "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
         "::{lambda(float)#1}, std::array<char*, 2ul>)",
         "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_cuda("
         "at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)",
         "vectorized_elementwise_kernel"},
	{"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float> >("
         "at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int)",
         "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl<"
         "at::native::CUDAFunctor_add<float>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int)",
         "elementwise_kernel"},
	{"void ns::nhwcToNchwKernel<float, float, true, (cudnnKernelDataType_t)0>(ns::params_t<float>, float const*)",
         "void ns::nhwcToNchwKernel<float, float, (bool)1, (cudnnKernelDataType_t)0>(ns::params_t<T1>, const T1 *)",
         "nhwcToNchwKernel"},
	{"void (anonymous namespace)::hidden<op::operator()(float*) const::{lambda(float)#1}>(float*)",
         "void <unnamed>::hidden<op::operator ()(float *) const::[lambda(float) (instance 1)]>(float *)", "hidden"},
	{"void (anonymous namespace)::hidden<op::operator<< <float>(float*) const::{lambda(float)#1}>(float*)",
         "void <unnamed>::hidden<void op::operator <<<float>(T1 *) const::[lambda(float) (instance 1)]>(float *)",
         "hidden"},
	{"void outer::v2::wide<8ul, -9ll, (short)-3, (unsigned char)200>(list<float, ((8ul)%(7))+(1)>)",
         "void outer::v2::wide<(unsigned long)8, (long long)-9, (short)-3, (unsigned char)200>(list<float, "
         "((T1 % (unsigned long)7) + (unsigned long)1)>)",
         "wide"},
	{"void outer::pointer<&(float thrice<float>(float))>(float*)", "void outer::pointer<&thrice<float>>(float *)",
         "pointer"},
	{"void outer::pointer<&(twice(float))>(float*)", "void outer::pointer<&twice>(float *)", "pointer"},
	{"void outer::pack<>()", "void outer::pack<>()", "pack"},
	{"void outer::of<decltype(nullptr)>(int)", "void outer::of<std::nullptr_t>(int)", "of"},
	{"void outer::of<float (int, char const*)>(int)", "void outer::of<float (int, const char *)>(int)", "of"},
	{"void outer::of<unsigned long long>(int)", "void outer::of<unsigned long long>(int)", "of"},
	{"void ns::copy<float>(float*) [clone .kd]", "void ns::copy<float>(T1 *)", "copy"},
};
enum { N = sizeof KERNELS / sizeof *KERNELS };

static void test_two_spellings(void **state)
{
	struct arena arena = {0};
	(void)state;
	for (size_t i = 0; i < N; i++) {
		assert_string_equal(kernel_spelling(&arena, KERNELS[i].runtime),
		                    kernel_spelling(&arena, KERNELS[i].nvidia));
		assert_string_equal(kernel_function(&arena, KERNELS[i].runtime), KERNELS[i].function);
		assert_string_equal(kernel_function(&arena, KERNELS[i].nvidia), KERNELS[i].function);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(kernel_spelling(&arena, KERNELS[i].runtime),
			                        kernel_spelling(&arena, KERNELS[k].nvidia));
	}
	arena_release(&arena);
}

static void differ(const char *a, const char *b)
{
	struct arena arena = {0};
	assert_string_not_equal(kernel_spelling(&arena, a), kernel_spelling(&arena, b));
	arena_release(&arena);
}

static void test_other_kernels(void **state)
{
	(void)state;
	differ("void f<2>(int)", "void f<(int)4>(int)");
	differ("void f<float>(float*)", "void f<double>(T1 *)");
	differ("void f<true>(int)", "void f<(bool)0>(int)");
	differ("f(int)", "f(float)");
	differ("a::f(int)", "b::f(int)");
	differ("void f<ns::g(int)::{lambda(float)#1}>(int)", "void f<ns::g(int)::[lambda(float) (instance 2)]>(int)");
	differ("void f<ns::g(int)::{lambda(float)#1}>(int)", "void f<ns::g(int)::[lambda(double) (instance 1)]>(int)");
	differ("void f<unsigned long>(int)", "void f<long>(int)");
	differ("void f<float*>(int)", "void f<float>(int)");
	differ("void f<list<float, 2> >(int)", "void f<list<float>, (int)2>(int)");
}

static void test_no_name_of_cpp(void **state)
{
	struct arena arena = {0};
	(void)state;
	static const char *const odd[] = {"", "(", ")", "<", "a)b", "a<b", "[[[", "{", "f<{>", "<unnamed>", "operator"};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		assert_non_null(kernel_function(&arena, odd[i]));
		if (strchr("()<[{a", odd[i][0]))
			assert_string_equal(kernel_spelling(&arena, odd[i]), odd[i]);
	}
	/* shortened in its middle, as names of more than 4096 bytes are */
	assert_string_equal(kernel_function(&arena, "void ns::gather<int, list<ch\xE2\x80\xA6 2> >(int)"), "gather");
	assert_true(kernel_name_is_bare("gather") && !kernel_name_is_bare("gather(int)"));
	char *deep = malloc(200001);
	assert_non_null(deep);
	memset(deep, '<', 200000);
	deep[0] = 'f';
	deep[200000] = 0;
	assert_string_equal(kernel_spelling(&arena, deep), deep);
	assert_string_equal(kernel_function(&arena, deep), "f");
	memset(deep + 1, '(', 199999);
	assert_non_null(kernel_function(&arena, deep));
	free(deep);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_spellings),
		cmocka_unit_test(test_other_kernels),
		cmocka_unit_test(test_no_name_of_cpp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
