#!/usr/bin/env python3
"""Whether the energy that `gapline run` notes is right, measured on a machine with a GPU that nobody else uses. Prints a
table; takes about five minutes.

    prove_energy.py --gapline GAPLINE [--nvcc nvcc]

GAPLINE lies where it was built, with inject/ beside it. First a program of 60 s: its energy by gapline beside power that is
sampled here every 20 ms and added up over the same time. Then a program of 8 s against itself: whether the interval holds 1.
Exit status 1 when something is not as it has to be.
"""
import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = r"""
#include <chrono>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>

__global__ void spin(float *x, int n)
{
	float v = x[threadIdx.x];
	for (int i = 0; i < n; i++)
		v = v * 1.000001f + 0.5f;
	x[threadIdx.x] = v;
}

int main(int, char **argv)
{
	using clock = std::chrono::steady_clock;
	float *x;
	cudaMalloc(&x, 1024 * sizeof *x);
	const auto until = clock::now() + std::chrono::milliseconds(atoi(argv[1]));
	while (clock::now() < until) { // some tens of ms of work
		nvtxRangePushA("step");
		for (int i = 0; i < 10; i++)
			spin<<<1056, 1024>>>(x, 200000);
		cudaDeviceSynchronize();
		nvtxRangePop();
	}
	return cudaGetLastError() != cudaSuccess;
}
"""
STEPS = PROGRAM.replace("while (clock::now() < until)", "for (int i = 0; i < atoi(argv[1]); i++)").replace("const auto until", "[[maybe_unused]] const auto until")
LIMIT = 0.05


class Power:
    """Power of the first GPU, every 20 ms, on the wall clock."""

    def __init__(self):
        self.nvml, self.device, self.samples, self.on = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), [], True
        assert self.nvml.nvmlInit_v2() == 0 and self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        mw = ctypes.c_uint()
        while self.on:
            if self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(mw)) == 0:
                self.samples.append((time.time(), mw.value / 1000))
            time.sleep(0.02)

    def joules(self, start, seconds):
        """By the trapezoidal rule over the samples in that time."""
        inside = [s for s in self.samples if start <= s[0] <= start + seconds]
        sum_ = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(inside, inside[1:]))
        return sum_ * seconds / (inside[-1][0] - inside[0][0])


def run(gapline, folder, baseline, fixed, *options):
    words = [gapline, "run", "--force", "-q", "-o", folder, "--baseline", baseline, "--fixed", fixed, *options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 1, 4):
        sys.exit(f"gapline run: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads((folder / "run.json").read_text())["runs"], json.loads((folder / "report.json").read_text())


def compile_cuda(nvcc, folder, name, source):
    (folder / f"{name}.cu").write_text(source)
    subprocess.run([nvcc, "-O2", "-std=c++17", "-o", folder / name, folder / f"{name}.cu", "-ldl"], check=True)
    return folder / name


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gapline", required=True)
    options.add_argument("--nvcc", default="nvcc")
    a, failed = options.parse_args(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for_time, for_steps = compile_cuda(a.nvcc, folder, "for_time", PROGRAM), compile_cuda(a.nvcc, folder, "for_steps", STEPS)
        power = Power()
        runs, _ = run(a.gapline, folder / "long", f"{for_time} 60000", f"{for_time} 6000", "--step", "none", "--repeat", "1", "--recorded", "1")
        power.on = False
        power.thread.join()
        for one in (r for r in runs if r["kind"] == "stopwatch"):
            noted = [int(gpu.split("=")[1]) / 1000 for gpu in (one["energy_mj"] or "=0").split()][0]
            added = power.joules(one["start_utc_ns"] / 1e9, one["time_ns"] / 1e9)
            off = noted / added - 1
            fine = abs(off) <= LIMIT or one["time_ns"] < 50e9
            failed += not fine
            print(f"{one['time_ns'] / 1e9:6.1f} s   noted {noted:9.1f} J   power added up {added:9.1f} J   {100 * off:+6.2f} %{'' if fine else '   <-- NOT AS IT HAS TO BE'}", flush=True)
        began = time.time()
        subprocess.run([for_steps, "100"], check=True)
        steps = max(100, round(800 / max(time.time() - began - 0.5, 0.05)))  # about 8 s
        runs, report = run(a.gapline, folder / "alike", f"{for_steps} {steps}", f"{for_steps} {steps}", "--repeat", "5", "--recorded", "1", "--gate", "energy<=+5%")
        energy = report["verdict"]["energy"]
        fine = energy["ci95"] is not None and energy["ci95"][0] <= 1 <= energy["ci95"][1]
        failed += not fine
        print(f"like against like, {steps} steps, 5 runs of each: {energy}{'' if fine else '   <-- NOT AS IT HAS TO BE'}")
        print("J per run:", ", ".join(f"{r['side'][0]} {r['energy_mj'].split('=')[1].split()[0]}/1000" for r in runs if r["kind"] == "stopwatch" and r["energy_mj"]))
        print("gate:", report["verdict"]["gates"][0]["text"])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
