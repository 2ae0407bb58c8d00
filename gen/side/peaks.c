#include "side/side_parts.h"

#include <string.h>

/* 10¹² a second of 16-bit floating point, 8-bit floating point and 8-bit integers, 0: the GPU has no such tensor cores.
 * Where a source has numbers "with sparsity", half of those. Then GB a second of device memory. Exact names: a model
 * with less power or fewer units has another name, or none that tells it. */
static const struct {
	const char *model;
	double peak[3], memory;
	const char *source;
} PEAKS[] = {
	{"H200", {989.5, 1979, 1979}, 4800, "NVIDIA H200 Tensor Core GPU, datasheet 2024: H200 SXM"},
	{"H100 80GB HBM3",
         {989.4, 1978.9, 1978.9},
         3352,
         "NVIDIA H100 Tensor Core GPU Architecture, v1.04, table 2: H100 SXM5"},
	{"H100 PCIe", {756, 1513, 1513}, 2039, "NVIDIA H100 Tensor Core GPU, datasheet 2023: H100 PCIe"},
	{"A100-SXM4-40GB", {312, 0, 624}, 1555, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100-SXM4-80GB", {312, 0, 624}, 2039, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100-PCIE-40GB", {312, 0, 624}, 1555, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A100 80GB PCIe", {312, 0, 624}, 1935, "NVIDIA A100 Tensor Core GPU, datasheet 2021"},
	{"A10", {125, 0, 250}, 600, "NVIDIA A10 Tensor Core GPU, datasheet 2021"},
	{"L4", {121, 242.5, 242.5}, 300, "NVIDIA L4 Tensor Core GPU, datasheet 2023"},
	{"L40S", {362.05, 733, 733}, 864, "NVIDIA L40S, datasheet 2023"},
	{"T4", {65, 0, 130}, 320, "NVIDIA T4 Tensor Core GPU, datasheet 2019"},
	{"V100-SXM2-16GB", {125, 0, 0}, 900, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-SXM2-32GB", {125, 0, 0}, 900, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-PCIE-16GB", {112, 0, 0}, 900, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"V100-PCIE-32GB", {112, 0, 0}, 900, "NVIDIA V100 Tensor Core GPU, datasheet 2020"},
	{"GeForce RTX 4090", {165.2, 330.3, 660.6}, 1008, "NVIDIA Ada GPU Architecture, v2.1, appendix A"},
	{"GeForce RTX 3090", {71, 0, 284}, 936, "NVIDIA Ampere GA102 GPU Architecture, v2.1, table 9"},
};

/* Its row; −1: there is none. */
static int row_of(const char *model)
{
	static const char *const makers[] = {"NVIDIA ", "Tesla "};
	for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
		if (strncmp(model, makers[i], strlen(makers[i])) == 0)
			model += strlen(makers[i]);
	for (size_t i = 0; i < sizeof PEAKS / sizeof *PEAKS; i++)
		if (strcmp(model, PEAKS[i].model) == 0)
			return (int)i;
	return -1;
}

double peak_flops(const char *model, enum flop_format format)
{
	const int row = row_of(model);
	return row < 0 || format == FLOP_OTHER ? 0 : PEAKS[row].peak[format - FLOP_16] * 1e3;
}

double peak_bytes(const char *model)
{
	const int row = row_of(model);
	return row < 0 ? 0 : PEAKS[row].memory;
}
