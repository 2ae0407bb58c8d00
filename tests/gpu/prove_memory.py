#!/usr/bin/env python3
"""Whether the peak of device memory that gapline's own collector records is what programs count themselves, to the byte, on a
machine with a GPU. Prints a table; takes a minute.

    prove_memory.py --gapline GAPLINE [--nvcc nvcc]

GAPLINE lies where it was built, with inject/ beside it. Each program allocates, frees and allocates again in its own way, and
prints the most bytes that it had at once, in each step and in each of its two phases. Where PyTorch is installed, a training
program prints what its allocator handed out; recorded by torch.profiler, in each step, too. Exit status 1 when a number
differs.
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
static size_t there, most, in_step, in_phase[3]; /* the third: in none */
static int phase;
static bool async_calls;

static void note()
{
	most = there > most ? there : most;
	in_step = there > in_step ? there : in_step;
	in_phase[phase] = there > in_phase[phase] ? there : in_phase[phase];
}

static void *take(size_t bytes)
{
	void *p = nullptr;
	if ((async_calls ? cudaMallocAsync(&p, bytes, 0) : cudaMalloc(&p, bytes)) != cudaSuccess)
		exit(2);
	sizes[p] = bytes;
	there += bytes;
	note();
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
	note();
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
		void *own[2];
		nvtxRangePushA("step");
		in_step = there;
		for (phase = 0; phase < 2; phase++) {
			nvtxRangePushA(phase ? "second" : "first");
			in_phase[phase] = there;
			own[phase] = take((1 + i * (3 + phase) % 7) * MB);
			touch<<<1, 32>>>(kept);
			cudaDeviceSynchronize();
			if (phase || i % 2)
				give(own[phase]);
			nvtxRangePop();
		}
		if (i % 2 == 0)
			give(own[0]);
		if (i == 30) {
			give(first);
			first = take(64 * MB + 12345);
		}
		nvtxRangePop();
		printf("step %zu %zu %zu\n", in_step, in_phase[0], in_phase[1]);
	}
	printf("%zu\n", most);
	return cudaDeviceSynchronize() != cudaSuccess;
}
"""


TORCH = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, record_function
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())

def step(i):
    model(torch.randn(512 + 64 * (i % 5), 2048, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()

if len(sys.argv) > 1:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as prof:
        for i in range(24):
            with record_function("step"):
                torch.cuda.reset_peak_memory_stats()
                step(i)
                print("step", torch.cuda.max_memory_allocated())
    prof.export_chrome_trace(sys.argv[1])
else:
    for i in range(12):
        step(i)
    print(torch.cuda.max_memory_allocated())
"""


def printed(*command):
    """The numbers that a program prints: of its steps, and at its end."""
    lines = [line.split() for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines() if line]
    return [list(map(int, line[1:])) for line in lines if line[0] == "step"], [int(line[0]) for line in lines if line[0].isdigit()]


def said_of(gapline, profile):
    done = subprocess.run([gapline, "show", profile, "--json", "-"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["profile"]


def told(what, own, said):
    print(f"{what:22} own {own:>12} gapline {said} {'ok' if own == said else 'WRONG'}")
    return own != said


def prove_steps(what, steps, profile):
    """Each list of `steps` is a step's own peak, and its phases'."""
    found = profile["memory"]["steps"]
    if not found:
        return told(f"{what} steps", len(steps), None)
    measured = steps[-found["n"]:]
    own = sorted(step[0] for step in measured)
    wrong = told(f"{what} step, median", (own[(len(own) - 1) // 2] + own[len(own) // 2]) // 2, found["median_bytes"])
    wrong += told(f"{what} step, largest", own[-1], found["max_bytes"])
    phases = {phase["name"]: phase["memory_peak_bytes"] for phase in profile["phases"]}
    for i, name in enumerate(("first", "second")[: len(measured[0]) - 1], 1):
        wrong += told(f"{what} phase {name}", max(step[i] for step in measured), phases.get(name))
    return wrong


def prove_torch(gapline, folder):
    program, profile, trace = folder / "train.py", folder / "train.sqlite", folder / "train.json"
    program.write_text(TORCH)
    _, own = printed(gapline, "capture", "--collector", "cupti", "-q", "-o", profile, "--", sys.executable, program)
    said = said_of(gapline, profile)["memory"]
    wrong = told("torch", own[-1], said["peak_bytes"]) or said["counted_by"] != "allocator"
    steps, _ = printed(sys.executable, program, trace)
    return wrong + prove_steps("torch.profiler", steps, said_of(gapline, trace))


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
            steps, own = printed(arguments.gapline, "capture", "--collector", "cupti", "--trace", "cuda,nvtx,memory", "-q", "-o", profile,
                                 "--", folder / "memory", how)
            said = said_of(arguments.gapline, profile)
            wrong += told(how, own[-1], said["memory"]["peak_bytes"])
            wrong += prove_steps(how, steps, said)
        if importlib.util.find_spec("torch"):
            wrong += prove_torch(arguments.gapline, folder)
    return wrong > 0


sys.exit(main())
