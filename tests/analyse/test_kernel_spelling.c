/* Kernels' names in the spellings of several demanglers (gen/trace/kernel_spelling.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/kernel_names.h"

/* The same kernel as c++filt, nsys and ncu 2025.3 print it, and its function's name. Those with a third spelling are of
 * one program that was run under both on a GPU. */
static const struct {
	const char *runtime, *nsys, *ncu, *function;
} KERNELS[] = {
	{"triton_poi_fused_add_0", "triton_poi_fused_add_0", NULL, "triton_poi_fused_add_0"},
	{"void "
         "cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(cutlass_80_simt_sgemm_64x64_8x5_nn_align1::"
         "Params)",
         "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(T1::Params)", NULL, "Kernel2"},
	{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float, float "
         "const*)",
         "void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2, const T1 *)", NULL,
         "vectorized_layer_norm_kernel"},
	{"void at::native::vectorized_elementwise_kernel<8, "
         "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
         "::{lambda(float)#1}, std::array<char*, 2ul> >(int, "
         "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
         "::{lambda(float)#1}, std::array<char*, 2ul>)",
         "void at::native::vectorized_elementwise_kernel<(int)8, at::native::bfloat16_copy_kernel_cuda("
         "at::TensorIteratorBase &)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)",
         NULL, "vectorized_elementwise_kernel"},
	{"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float> >("
         "at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)::{lambda(int)#1}>(int)",
         "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl<"
         "at::native::CUDAFunctor_add<float>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int)",
         NULL, "elementwise_kernel"},
	{"void ns::nhwcToNchwKernel<float, float, true, (cudnnKernelDataType_t)0>(ns::params_t<float>, float const*)",
         "void ns::nhwcToNchwKernel<float, float, (bool)1, (cudnnKernelDataType_t)0>(ns::params_t<T1>, const T1 *)",
         NULL, "nhwcToNchwKernel"},
	{"void ns::copy<float>(float*) [clone .kd]", "void ns::copy<float>(T1 *)", NULL, "copy"},
	{"void (anonymous namespace)::hidden<(anonymous namespace)::add>((anonymous namespace)::add, float*)",
         "void <unnamed>::hidden<<unnamed>::add>(T1, float *)", "void <unnamed>::hidden<<unnamed>::add>(T1, float *)",
         "hidden"},
	{"void (anonymous namespace)::hidden<(anonymous namespace)::add_n<-2> >((anonymous namespace)::add_n<-2>, "
         "float*)",
         "void <unnamed>::hidden<<unnamed>::add_n<(int)-2>>(T1, float *)",
         "void <unnamed>::hidden<<unnamed>::add_n<(int)-2>>(T1, float *)", "hidden"},
	{"(anonymous namespace)::hidden_plain(float const*, unsigned long long)",
         "<unnamed>::hidden_plain(const float *, unsigned long long)",
         "<unnamed>::hidden_plain(const float *, unsigned long long)", "hidden_plain"},
	{"void outer::v2::literals<float, true, (char)97, (mode)7, (old)-3>(float*, float const*)",
         "void outer::v2::literals<float, (bool)1, (char)97, (mode)7, (old)-3>(T1 *, const T1 *)",
         "void outer::literals<float, 1, 97, 7, (old)-3>(T1 *, const T1 *)", "literals"},
	{"void outer::v2::literals<__half, false, (char)10, (mode)0, (old)0>(__half*, __half const*)",
         "void outer::v2::literals<__half, (bool)0, (char)10, (mode)0, (old)0>(T1 *, const T1 *)",
         "void outer::literals<__half, 0, 10, 0, 0>(T1 *, const T1 *)", "literals"},
	{"void outer::v2::pack<>()", "void outer::v2::pack<>(T1...)", "void outer::pack<>(T1...)", "pack"},
	{"void outer::v2::pack<int, float, char const*, list<double, 3> >(int, float, char const*, list<double, 3>)",
         "void outer::v2::pack<int, float, const char *, list<double, (int)3>>(T1...)",
         "void outer::pack<int, float, const char *, list<double, 3>>(T1...)", "pack"},
	{"void outer::v2::numbers<>(float*)", "void outer::v2::numbers<>(float *)", "void outer::numbers<>(float *)",
         "numbers"},
	{"void outer::v2::numbers<1, -2, 3>(float*)", "void outer::v2::numbers<(int)1, (int)-2, (int)3>(float *)",
         "void outer::numbers<1, (int)-2, 3>(float *)", "numbers"},
	{"void outer::v2::wide<8ul, -9ll, (short)-3, (unsigned char)200>(list<float, ((8ul)%(7))+(1)>)",
         "void outer::v2::wide<(unsigned long)8, (long long)-9, (short)-3, (unsigned char)200>(list<float, "
         "T1%(int)7+(int)1>)",
         "void outer::wide<8, (long long)-9, (short)-3, 200>(list<float, T1%7+1>)", "wide"},
	{"void outer::v2::nested<list, unsigned int>(list<unsigned int, 4>, list<list<unsigned int, 2>, 3>)",
         "void outer::v2::nested<list, unsigned int>(T1<T2, (int)4>, list<T1<T2, (int)2>, (int)3>)",
         "void outer::nested<list, unsigned int>(T1<T2, 4>, list<T1<T2, 2>, 3>)", "nested"},
	{"void outer::v2::member<unsigned char>(outer::v2::holder<unsigned char>::inner, unsigned char const "
         "volatile*)",
         "void outer::v2::member<unsigned char>(outer::v2::holder<T1>::inner, const volatile T1 *)",
         "void outer::member<unsigned char>(outer::holder<T1>::inner, const volatile T1 *)", "member"},
	{"void outer::v2::function_type<float (int, char const*)>(int)",
         "void outer::v2::function_type<float (int, const char *)>(int)",
         "void outer::function_type<float (int, const char *)>(int)", "function_type"},
	{"void outer::v2::function_type<std::less<void> >(int)", "void outer::v2::function_type<std::less<void>>(int)",
         "void outer::function_type<std::less<void>>(int)", "function_type"},
	{"void outer::v2::function_type<int [3]>(int)", "void outer::v2::function_type<int [3]>(int)",
         "void outer::function_type<int [3]>(int)", "function_type"},
	{"void outer::v2::function_type<float (*) [5]>(int)", "void outer::v2::function_type<float (*)[5]>(int)",
         "void outer::function_type<float (*)[5]>(int)", "function_type"},
	{"void outer::v2::function_type<decltype(nullptr)>(int)", "void outer::v2::function_type<std::nullptr_t>(int)",
         "void outer::function_type<std::nullptr_t>(int)", "function_type"},
	{"void outer::v2::function_type<long double const volatile* const*>(int)",
         "void outer::v2::function_type<const volatile long double *const *>(int)",
         "void outer::function_type<const volatile long double *const *>(int)", "function_type"},
	{"void outer::v2::function_type<std::integer_sequence<unsigned long, 0ul, 1ul, 2ul> >(int)",
         "void outer::v2::function_type<std::integer_sequence<unsigned long, (unsigned long)0, (unsigned long)1, "
         "(unsigned long)2>>(int)",
         "void outer::function_type<std::integer_sequence<unsigned long, 0, 1, 2>>(int)", "function_type"},
	{"void outer::v2::pointer<&(twice(float))>(float*)", "void outer::v2::pointer<&twice>(float *)",
         "void outer::pointer<&twice>(float *)", "pointer"},
	{"void outer::v2::pointer<&(float thrice<float>(float))>(float*)",
         "void outer::v2::pointer<&thrice<float>>(float *)", "void outer::pointer<&thrice<float>>(float *)", "pointer"},
	{"void outer::v2::reference<int>(std::tuple<int&, int const&, int&&>*)",
         "void outer::v2::reference<int>(std::tuple<T1 &, const T1 &, T1 &&> *)",
         "void outer::reference<int>(std::tuple<T1 &, const T1 &, T1 &&> *)", "reference"},
	{"outer::v2::overloaded(int)", "outer::v2::overloaded(int)", "outer::overloaded(int)", "overloaded"},
	{"outer::v2::overloaded(float, __half)", "outer::v2::overloaded(float, __half)",
         "outer::overloaded(float, __half)", "overloaded"},
	{"plain_c", "plain_c", "plain_c", "plain_c"},
	{"void (anonymous namespace)::hidden<deep<int>(int, float*)::{lambda(float)#1}>(deep<int>(int, "
         "float*)::{lambda(float)#1}, float*)",
         "void <unnamed>::hidden<void deep<int>(T1, float *)::[lambda(float) (instance 1)]>(T1, float *)",
         "void <unnamed>::hidden<void deep<int>(T1, float *)::[lambda(float) (instance 1)]>(T1, float *)", "hidden"},
	{"void (anonymous namespace)::hidden<deep<int>(int, float*)::{lambda(float)#2}>(deep<int>(int, "
         "float*)::{lambda(float)#2}, float*)",
         "void <unnamed>::hidden<void deep<int>(T1, float *)::[lambda(float) (instance 2)]>(T1, float *)",
         "void <unnamed>::hidden<void deep<int>(T1, float *)::[lambda(float) (instance 2)]>(T1, float *)", "hidden"},
	{"void (anonymous namespace)::hidden<deep<list<float, 1> >(list<float, 1>, "
         "float*)::{lambda(float)#1}>(deep<list<float, 1> >(list<float, 1>, float*)::{lambda(float)#1}, float*)",
         "void <unnamed>::hidden<void deep<list<float, (int)1>>(T1, float *)::[lambda(float) (instance 1)]>(T1, float "
         "*)",
         "void <unnamed>::hidden<void deep<list<float, 1>>(T1, float *)::[lambda(float) (instance 1)]>(T1, float *)",
         "hidden"},
	{"void (anonymous namespace)::hidden<deep<list<float, 1> >(list<float, 1>, "
         "float*)::{lambda(float)#2}>(deep<list<float, 1> >(list<float, 1>, float*)::{lambda(float)#2}, float*)",
         "void <unnamed>::hidden<void deep<list<float, (int)1>>(T1, float *)::[lambda(float) (instance 2)]>(T1, float "
         "*)",
         "void <unnamed>::hidden<void deep<list<float, 1>>(T1, float *)::[lambda(float) (instance 2)]>(T1, float *)",
         "hidden"},
	{"void (anonymous namespace)::hidden<op::operator()(float*) const::{lambda(float)#1}>(op::operator()(float*) "
         "const::{lambda(float)#1}, float*)",
         "void <unnamed>::hidden<op::operator ()(float *) const::[lambda(float) (instance 1)]>(T1, float *)",
         "void <unnamed>::hidden<op::operator ()(float *) const::[lambda(float) (instance 1)]>(T1, float *)", "hidden"},
	{"void (anonymous namespace)::hidden<op::operator<< <float>(float*) const::{lambda(float)#1}>(op::operator<< "
         "<float>(float*) const::{lambda(float)#1}, float*)",
         "void <unnamed>::hidden<void op::operator <<<float>(T1 *) const::[lambda(float) (instance 1)]>(T1, float *)",
         "void <unnamed>::hidden<void op::operator <<<float>(T1 *) const::[lambda(float) (instance 1)]>(T1, float *)",
         "hidden"},
	{"void (anonymous namespace)::hidden<main::{lambda(float)#1}>(main::{lambda(float)#1}, float*)",
         "void <unnamed>::hidden<main::[lambda(float) (instance 1)]>(T1, float *)",
         "void <unnamed>::hidden<main::[lambda(float) (instance 1)]>(T1, float *)", "hidden"},
};
enum { N = sizeof KERNELS / sizeof *KERNELS };

static void test_two_spellings(void **state)
{
	struct arena arena = {0};
	(void)state;
	for (size_t i = 0; i < N; i++) {
		const char *const all[] = {KERNELS[i].runtime, KERNELS[i].nsys, KERNELS[i].ncu};
		for (size_t k = 0; k < 3 && all[k]; k++) {
			assert_string_equal(kernel_spelling(&arena, all[0]), kernel_spelling(&arena, all[k]));
			assert_string_equal(kernel_function(&arena, all[k]), KERNELS[i].function);
		}
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(kernel_spelling(&arena, KERNELS[i].runtime),
			                        kernel_spelling(&arena, KERNELS[k].runtime));
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

static void fits(const char *profile, const char *ncu, bool wanted)
{
	struct arena arena = {0};
	const char *full = kernel_spelling(&arena, profile), *less = kernel_spelling(&arena, ncu);
	assert_int_equal(kernel_spelling_fits(full, less), wanted);
	if (wanted)
		assert_string_equal(kernel_plain(&arena, full), kernel_plain(&arena, less));
	arena_release(&arena);
}

/* As ncu 2025.3 printed kernels of PyTorch 2.11. */
static void test_simplified(void **state)
{
	(void)state;
	fits("void at::native::elementwise_kernel<128, 2, "
	     "at::native::gpu_kernel_impl_nocast<at::native::BUnaryFunctor<float, "
	     "float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, "
	     "at::native::BUnaryFunctor<float> const&)::{lambda(int)#1}>(int)",
	     "void at::elementwise_kernel<128, 2, void at::gpu_kernel_impl_nocast<at::BUnaryFunctor<float, float, "
	     "float, "
	     "binary_internal::MulFunctor<float>>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance "
	     "1)]>(int, "
	     "T3)",
	     true);
	fits("void at::native::elementwise_kernel<128, 2, at::native::(anonymous namespace)::where_kernel_impl("
	     "at::TensorIterator&)::{lambda()#1}::operator()() const::{lambda()#11}>(int)",
	     "void at::elementwise_kernel<128, 2, at::<unnamed>::where_kernel_impl(at::TensorIterator &)::[lambda() "
	     "(instance 1)]::operator ()() const::[lambda() (instance 11)]>(int)",
	     true);
	fits("at::native::fill(int)", "at::fill(int)", true);
	fits("at::native::fill(int)", "fill(int)", true);
	fits("at::native::fill(int)", "cub::fill(int)", false);
	fits("at::native::fill(int)", "native::at::fill(int)", false);
	fits("at::fill(int)", "at::native::fill(int)", false);
	fits("at::native::fill(int)", "at::native::filled(int)", false);
	fits("void at::native::fill<at::A>(int)", "void at::fill<at::B>(int)", false);
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
	assert_string_equal(kernel_function(&arena, "void ns::gather<int, li\xE2\x80\xA6>, 2>, (ns::mode)0>(int)"),
	                    "gather");
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
		cmocka_unit_test(test_simplified),
		cmocka_unit_test(test_no_name_of_cpp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
