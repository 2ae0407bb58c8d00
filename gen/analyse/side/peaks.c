#include "analyse/side/peaks.h"

#include <string.h>

/* 10¹² a second of 16-bit floating point, 8-bit floating point and 8-bit integers, 0: the GPU has no such tensor cores.
 * Where a source has numbers "with sparsity", half of those. Exact names: a model with less power or fewer units has
 * another name, or none that tells it. */
static const struct {
	const char *model;
	double peak[3];
	const char *source;
} PEAKS[] = {
	{"H200", {989.5, 1979, 1979}, "NVIDIA H200 Tensor Core GPU, datasheet 2024: H200 SXM"},
	{"H100 80GB HBM3",
         {989.4, 1978.9, 1978.9},
         "NVIDIA H100 Tensor Core GPU Architecture, v1.04, table 2: H100 SXM5"},
	{"H100 PCIe", {756, 1513, 1513}, "NVIDIA H100 Tensor Core GPU, datasheet 2023: H100 PCIe"},
	{"A100-SXM4-40GB", {312, 0, 624}, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100-SXM4-80GB", {312, 0, 624}, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100-PCIE-40GB", {312, 0, 624}, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100 80GB PCIe", {312, 0, 624}, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A10", {125, 0, 250}, "NVIDIA A10 Tensor Core GPU, datasheet 2021"},
	{"L4", {121, 242.5, 242.5}, "NVIDIA L4 Tensor Core GPU, datasheet 2023"},
	{"L40S", {362.05, 733, 733}, "NVIDIA L40S, datasheet 2023"},
	{"T4", {65, 0, 130}, "NVIDIA T4 Tensor Core GPU, datasheet 2019"},
	{"V100-SXM2-16GB", {125, 0, 0}, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-SXM2-32GB", {125, 0, 0}, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-PCIE-16GB", {112, 0, 0}, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-PCIE-32GB", {112, 0, 0}, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"GeForce RTX 4090", {165.2, 330.3, 660.6}, "NVIDIA Ada GPU Architecture, v2.1, appendix A"},
	{"GeForce RTX 3090", {71, 0, 284}, "NVIDIA Ampere GA102 GPU Architecture, v2.1, table 9"},
};

double peak_flops(const char *model, enum flop_format format)
{
	static const char *const makers[] = {"NVIDIA ", "Tesla "};
	for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
		if (strncmp(model, makers[i], strlen(makers[i])) == 0)
			model += strlen(makers[i]);
	for (size_t i = 0; i < sizeof PEAKS / sizeof *PEAKS && format != FLOP_OTHER; i++)
		if (strcmp(model, PEAKS[i].model) == 0)
			return PEAKS[i].peak[format - FLOP_16] * 1e3;
	return 0;
}
