#!/usr/bin/env python3
"""Whether the peak of device memory that gapline's own collector records is what programs count themselves, to the byte, on a
machine with a GPU. Prints a table; takes a minute.

    prove_memory.py --gapline GAPLINE [--nvcc nvcc]

GAPLINE lies where it was built, with inject/ beside it. Each program allocates, frees and allocates again in its own way, and
prints the most bytes that it had at once. Where PyTorch is installed, a training program prints what its allocator handed
out. Exit status 1 when a number differs.
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <map>
#include <nvtx3/nvToolsExt.h>

static std::map<void *, size_t> sizes;
static size_t there, most;
static bool async_calls;

static void *take(size_t bytes)
{
	void *p = nullptr;
	if ((async_calls ? cudaMallocAsync(&p, bytes, 0) : cudaMalloc(&p, bytes)) != cudaSuccess)
		exit(2);
	sizes[p] = bytes;
	there += bytes;
	most = there > most ? there : most;
	return p;
}

static void give(void *p)
{
	async_calls ? cudaFreeAsync(p, 0) : cudaFree(p);
	there -= sizes[p];
}

static CUdeviceptr place;
static CUmemGenericAllocationHandle handle;

/* Mapped memory: as much as the device's granularity makes of it. */
static size_t map(size_t bytes)
{
	CUmemAllocationProp how = {};
	CUmemAccessDesc access = {};
	size_t grain;
	how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = how.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	cuMemGetAllocationGranularity(&grain, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	bytes = (bytes + grain - 1) / grain * grain;
	if (cuMemAddressReserve(&place, bytes, 0, 0, 0) || cuMemCreate(&handle, bytes, &how, 0) ||
	    cuMemMap(place, bytes, 0, handle, 0) || cuMemSetAccess(place, bytes, &access, 1))
		exit(3);
	there += bytes;
	most = there > most ? there : most;
	return bytes;
}

__global__ void touch(char *x) { x[threadIdx.x] += 1; }

int main(int argc, char **argv)
{
	const size_t MB = 1 << 20;
	const char *how = argc > 1 ? argv[1] : "plain";
	async_calls = !strcmp(how, "async");
	char *kept = (char *)take(16 * MB + 1);
	void *first = take(96 * MB);
	if (!strcmp(how, "mapped"))
		map(200 * MB);
	for (int i = 0; i < 60; i++) {
		nvtxRangePushA("step");
		void *own = take((1 + i % 7) * MB);
		touch<<<1, 32>>>(kept);
		cudaDeviceSynchronize();
		give(own);
		if (i == 30) {
			give(first);
			first = take(64 * MB + 12345);
		}
		nvtxRangePop();
	}
	printf("%zu\n", most);
	return cudaDeviceSynchronize() != cudaSuccess;
}
"""


TORCH = """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for i in range(12):
    model(torch.randn(512 + 64 * (i % 5), 2048, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
print(torch.cuda.max_memory_allocated())
"""


def prove_torch(gapline, folder):
    program, profile = folder / "train.py", folder / "train.sqlite"
    program.write_text(TORCH)
    own = int(subprocess.run([gapline, "capture", "--collector", "cupti", "-q", "-o", profile, "--", sys.executable, program],
                             check=True, capture_output=True, text=True).stdout.split()[-1])
    said = json.loads(subprocess.run([gapline, "show", profile, "--json", "-"], check=True, capture_output=True, text=True).stdout)["profile"]["memory"]
    good = said["peak_bytes"] == own and said["counted_by"] == "allocator"
    print(f"torch    own {own:>12} gapline {said['peak_bytes']} {said['not_known_because'] or ''} {'ok' if good else 'WRONG'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gapline", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "memory.cu").write_text(PROGRAM)
        subprocess.run([arguments.nvcc, "-O2", "-std=c++17", "-o", folder / "memory", folder / "memory.cu", "-lcuda"], check=True)
        for how in "plain", "async", "mapped":
            profile = folder / f"{how}.sqlite"
            own = int(subprocess.run([arguments.gapline, "capture", "--collector", "cupti", "--trace", "cuda,nvtx,memory", "-q",
                                      "-o", profile, "--", folder / "memory", how], check=True, capture_output=True, text=True).stdout)
            said = json.loads(subprocess.run([arguments.gapline, "show", profile, "--json", "-"], check=True, capture_output=True,
                                             text=True).stdout)["profile"]["memory"]
            good = said["peak_bytes"] == own
            wrong += not good
            print(f"{how:8} own {own:>12} gapline {said['peak_bytes']} {said['not_known_because'] or ''} {'ok' if good else 'WRONG'}")
        if importlib.util.find_spec("torch"):
            wrong += not prove_torch(arguments.gapline, folder)
    return wrong > 0


sys.exit(main())
