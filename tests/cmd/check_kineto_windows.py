#!/usr/bin/env python3
"""Windows that the PyTorch profiler records of a run: what a capture begins and ends in the middle of. The traces are made,
by a host that runs ahead of a GPU that works off what was launched, so when each step ends is known.

    check_kineto_windows.py GAPLINE
"""
import json
import os
import sys
import tempfile

from check_captures import Gapline, Table


class Window:
    """A run of which the profiler records what the host calls from `begin` on, and what the GPU does then; in us."""

    def __init__(self, begin, pid=9):
        self.begin, self.pid, self.events, self.host, self.gpu, self.correlation = begin, pid, [], 1000.0, {}, 0

    def event(self, cat, name, start, end, pid=None, tid=None, **args):
        if end > self.begin and (start >= self.begin or cat not in ("cuda_runtime", "cpu_op", "user_annotation")):
            self.events.append({"ph": "X", "cat": cat, "name": name, "pid": self.pid if pid is None else pid,
                                "tid": self.pid if tid is None else tid, "ts": round(start, 3), "dur": round(end - start, 3),
                                "args": args})

    def launch(self, name, takes, stream=7, after=None):
        """A kernel; `after`: not before another stream has done what it was given."""
        self.correlation += 1
        start = max(self.gpu.get(stream, 0), self.gpu.get(after, 0), self.host + 6)
        self.event("cpu_op", f"aten::{name}", self.host, self.host + 9)
        self.event("cuda_runtime", "cudaLaunchKernel", self.host + 2, self.host + 6, correlation=self.correlation)
        self.event("kernel", f"{name}_kernel(float*)", start, start + takes - 1, 0, stream, device=0, stream=stream,
                   correlation=self.correlation, grid=[64, 1, 1], block=[128, 1, 1])
        self.gpu[stream] = start + takes
        self.host += 10

    def copy(self, size):
        self.correlation += 1
        start, takes = self.host + 6, size / 6000
        self.event("cuda_runtime", "cudaMemcpyAsync", self.host + 2, start + takes, correlation=self.correlation)
        self.event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", start, start + takes, 0, 7, device=0, stream=7,
                   correlation=self.correlation, bytes=size)
        self.gpu[7] = self.host = start + takes + 300

    def step(self, number, kernels=20, takes=500):
        begin = self.host
        for i in range(kernels):
            self.launch("mm" if i % 2 else "gelu", takes)
        self.launch("all_reduce", takes, 20, after=7)
        self.event("user_annotation", f"ProfilerStep#{number}", begin, self.host - 1)
        self.host += 5

    def write(self, path, later_s=0, **more):
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": self.events,
                       "baseTimeNanoseconds": (1790857026 + later_s) * 10**9, **more}, out)
        return path


def shown(gapline, folder, window):
    path = window.write(os.path.join(folder, "window.json"))
    return gapline.report(path, path)[1]["baseline"]


def lacks_launches(side):
    return "have no launch call in the profile" in json.dumps(side)


def check_queued(table, gapline, folder):
    """Two steps of 10 ms were launched before the capture began, and the GPU is in the first of them: they are no time of the
    first step that is marked. Where launches are missing later, too, that says nothing of when it begins."""
    window = Window(begin=1428)
    for number in range(5):
        window.step(number)
    side = shown(gapline, folder, window)
    steps = side["steps"]
    table.check("three steps behind a queue", steps["measured"] == 3, steps["measured"])
    table.near("a step behind a queue, ms", steps["period_ms"]["mean"], "10.0")
    table.check("what was queued lacks no launch that counts", not lacks_launches(side))
    lost = Window(begin=0)
    for number in range(5):
        lost.step(number)
    calls = [event for event in lost.events if event["cat"] == "cuda_runtime"]
    for call in calls[:10] + calls[10::2]:
        lost.events.remove(call)
    side = shown(gapline, folder, lost)
    table.near("launches are missing everywhere, ms", side["steps"]["period_ms"]["mean"], "10.00", share=0.002)
    table.check("launches are missing everywhere, said", lacks_launches(side))


def check_weights(table, gapline, folder):
    """A model's weights, array by array, take longer than its two forward passes: they are no step of it, for it computes."""
    window = Window(begin=0)
    for layer in range(8):
        window.copy(4096 * 4096 * (1 + layer % 3))
        window.copy(4096 * 4)
    for i in range(16):
        window.launch(["conv", "relu", "pool", "mm", "norm", "gelu", "softmax", "cat"][i % 8], 100 + i)
        window.host += 500
    steps = shown(gapline, folder, window)["steps"]
    table.check("weights on their way in are no steps", steps["origin"] == "none", (steps["origin"], steps["name"]))


def check_passes(table, gapline, folder):
    """Three passes of a model whose input is copied before each: its layers are no steps. Thirty passes are."""
    for passes, expected in (3, ("none", None)), (30, ("pattern", 29)):
        window = Window(begin=0)
        for _ in range(passes):
            window.copy(600_000)
            for _ in range(12):
                for i, name in enumerate(("norm", "qkv", "flash", "proj", "up", "down")):
                    window.launch(name, 30 + 5 * i)
            for name in ("head", "softmax"):
                window.launch(name, 90)
        steps = shown(gapline, folder, window)["steps"]
        seen = steps["origin"], steps["measured"] or None
        table.check(f"{passes} passes of 12 layers", seen == expected, (*seen, steps["name"]), expected)


MAKERS = {  # category of calls, and what launches, copies in and waits; what a copy in is called
    "CUDA": ("cuda_runtime", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaDeviceSynchronize", "Memcpy HtoD (Pageable -> Device)"),
    "SYCL": ("xpu_runtime", "urEnqueueKernelLaunch", "urEnqueueUSMMemcpy", "urQueueFinish", "Memcpy M2D (Memory -> Device)"),
    "MUSA": ("cuda_runtime", "musaLaunchKernel", "musaMemcpyAsync", "musaDeviceSynchronize", "Memcpy HtoD (Pageable -> Device)"),
}


def check_makers(table, gapline, folder):
    """One program by the names of several makers' calls: the same steps, budget, causes and copies."""
    said = {}
    for maker, (category, *names) in MAKERS.items():
        window = Window(begin=0)
        for number in range(10):
            window.host += 300
            window.copy(600_000)
            window.step(number, kernels=4, takes=30)
            window.correlation += 1
            end = max(window.gpu.values()) + 2
            window.event("cuda_runtime", "cudaDeviceSynchronize", window.host, end, correlation=window.correlation)
            window.host = end + 5
        words = dict(zip(MAKERS["CUDA"][1:], names))
        for event in window.events:
            event["name"] = words.get(event["name"], event["name"])
            event["cat"] = category if event["cat"] == "cuda_runtime" else event["cat"]
        side = shown(gapline, folder, window)
        said[maker] = {"steps": (side["steps"]["name"], side["steps"]["measured"], side["steps"]["period_ms"]["mean"]),
                       "budget": side["devices"][0]["per_step"],
                       "causes": sorted((i["cause"], i["phase"], i["ms_per_step"]) for i in side["devices"][0]["idle"]),
                       "copies": [(copy["kind"], copy["bytes_per_step"]) for copy in side["copies"]]}
    for maker, what in ((m, w) for m in MAKERS for w in said["CUDA"] if m != "CUDA"):
        table.check(f"the same program by {maker}'s names: {what}", said[maker][what] == said["CUDA"][what], said[maker][what],
                    said["CUDA"][what])


def check_written(table, gapline, folder):
    """What PyTorch and scripts write where JSON has no such thing: lines in names, Windows' paths, infinities."""
    window = Window(begin=0)
    for number in range(10):
        window.step(number)
    window.event("python_function", "NAME", 1000, 1400)
    path = window.write(os.path.join(folder, "written.json"))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    texts = {"lines in a name": text.replace("NAME", 'x = Library(\n(1): <module>\x1b'),
             "a path of Windows": text.replace("NAME", "torch\\cuda\\__init__.py(219): \\utils"),
             "infinities": text.replace('"block":', '"blocks per SM": inf, "warps per SM": NaN, "est": -Infinity, "block":')}
    sound = gapline.report(path, path)[1]["baseline"]["devices"]
    for what, text in texts.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        status, document, _, error = gapline.report(path, path)
        table.check(f"a trace with {what}", status == 0 and document["baseline"]["devices"] == sound, error.strip()[-100:])


def check_twins(table, gapline, folder):
    """Events that a script wrote twice count once, and there is no verdict."""
    window = Window(begin=0)
    for number in range(10):
        window.step(number)
    paths = [os.path.join(folder, f"{name}.json") for name in ("once", "twice")]
    window.write(paths[0])
    window.events += [event for event in window.events if event["cat"] in ("kernel", "cuda_runtime")]
    window.write(paths[1])
    _, document, _, _ = gapline.report(*paths)
    once, twice = document["baseline"], document["fixed"]
    for what, count in ("kernels", "instances_per_step"), ("api", "calls_per_step"):
        seen, want = ([row[count] for row in side[what]] for side in (twice, once))
        table.check(f"{what} of a trace that has them twice", want and seen == want, seen, want)
    said = " ".join(gapline.run("show", paths[1]).stdout.split())
    table.check("twins are said, and leave no verdict", "210 of 420 rows of kernels in twice.json make no sense and are left out" in said,
                said[:300])


def check_one_run(table, gapline, folder):
    """Two ranks of one run are no two sides; of two runs they are, and so is what ran beside it and says no rank."""
    path = [os.path.join(folder, f"side-{side}.json") for side in "ab"]
    for what, ranks, later, one in ("at once", (0, 1), 0, True), ("an hour later", (0, 1), 3600, False), ("no ranks", None, 0, False):
        for side in (0, 1):
            window = Window(begin=0, pid=9 + side)
            for number in range(20):
                window.step(number, kernels=4 + side, takes=100)
            more = {"distributedInfo": {"backend": "nccl", "rank": ranks[side], "world_size": 2}} if ranks else {}
            window.write(path[side], later * side, **more)
        verdict = gapline.report(*path)[1]["verdict"]
        said = any("ranks 0 and 1 of one run" in reason for reason in verdict["reasons"])
        table.check(f"ranks as sides, {what}", said == one and (verdict["speedup"] is None) == one, verdict["reasons"][0][:110])
        left = verdict["same_work"] == "unknown" and not verdict["differences"]
        table.check(f"nor is their work compared, {what}", left == one, f"{verdict['same_work']} {verdict['differences']}"[:110])


NOTING = 2  # us that the profiler takes for whatever it notes


def check_noted(table, gapline, folder, steps):
    """A program that the host holds up, with 12 operators before each launch and with one: each takes 1 us, and noting it
    2 more. Its own clock, without the profiler, says what the interval has to hold. A few steps have none, and the number
    is of a profiled program all the same."""
    paths, own = [os.path.join(folder, f"noted-{side}.json") for side in "ab"], []
    for path, operators in zip(paths, (12, 1)):
        window, clock = Window(begin=0), 0

        def launch(name, takes, noted):
            nonlocal clock
            begin = window.host
            window.launch(name, 2)
            window.host = begin + takes + noted * NOTING
            operator, call, _ = window.events[-3:]
            operator["dur"], call["dur"] = 7.5, 2
            if noted == 1:
                window.events.remove(operator)
            clock += takes

        for number in range(steps):
            begin = window.host
            for i in range(30):
                for k in range(operators):
                    window.event("cpu_op", f"aten::view_{k}", window.host, window.host + NOTING + 0.5)
                    window.host += NOTING + 1
                    clock += 1
                launch("mm" if i % 2 else "gelu", 4, 2)
                for _ in range(3 if i % 10 == 9 else 0):
                    launch("triton", 3, 1)
            window.event("user_annotation", f"ProfilerStep#{number}", begin, window.host - 1)
            window.host += 2
            clock += 2
        window.write(path)
        own.append(clock / steps)
    verdict = gapline.report(*paths)[1]["verdict"]
    told = any("This is the speedup of the profiled programs" in reason for reason in verdict["reasons"])
    table.check(f"{steps} steps, of profiled programs", told and verdict["while_recorded"], verdict["reasons"])
    if steps < 8:
        return
    low, high = verdict["ci95"]
    table.check(f"{own[0] / own[1]:.3f} without the profiler's notes", low <= own[0] / own[1] <= high, (low, high, verdict["speedup"]))
    table.check("and the notes leave something to say", verdict["result"] == "faster", verdict["result"])


def check_damaged(table, gapline, folder):
    """A row that is lost amid the others, or has a time of its own, takes no step away, of one as of three."""
    for steps in 1, 3:
        window = Window(0)
        for number in range(steps):
            window.step(number, kernels=150)
        for event in window.events:
            event["ts"] += 1_610_366_391_944_346
        whole = shown(gapline, folder, window)
        kernels = [event for event in window.events if event["cat"] == "kernel"]
        for what, change in (("lost", lambda event: window.events.remove(event)), ("of 1970", lambda event: event.update(ts=1))):
            kept = [dict(event) for event in window.events]
            change(kernels[-75])
            side = shown(gapline, folder, window)
            window.events[:] = kept
            kernels = [event for event in window.events if event["cat"] == "kernel"]
            period, is_now = (of["devices"][0]["per_step"]["period"] for of in (whole, side))
            table.check(f"{steps} steps, one row {what}", side["steps"]["measured"] == whole["steps"]["measured"] == steps and
                        abs(is_now / period - 1) < 0.01, is_now, period)


def check_one_step_mirrors(table, gapline, folder):
    """Two kernels once each, and another one twice in their places: the same job, whichever side has which."""
    paths = []
    for side, names in enumerate((("gemm_a", "softmax", "gemm_b"), ("matmul", "softmax", "matmul"))):
        window = Window(0)
        begin = window.host
        for name in names:
            window.launch(name, 300)
        window.event("user_annotation", "ProfilerStep#1", begin, window.host - 1)
        paths.append(window.write(os.path.join(folder, f"one-{side}.json")))
    for what, pair in ("once each on the baseline", paths), ("on the fixed side", paths[::-1]):
        work = gapline.report(*pair)[1]["verdict"]["same_work"]
        table.check(f"one step, two kernels {what}", work == "same_job", work)


def check_other_input(table, gapline, folder):
    """Input of 1.5 kB and of 2 kB speaks for no same job, where the only kernel runs in other blocks."""
    paths = []
    for side, size, blocks in ("a", 1500, 1), ("b", 2120, 10), ("c", 1505, 10):
        window = Window(0)
        begin = window.host
        window.copy(size)
        window.launch("fold", 300)
        window.event("user_annotation", "ProfilerStep#1", begin, window.host - 1)
        window.events[-2]["args"]["grid"] = [blocks, 1, 1]
        paths.append(window.write(os.path.join(folder, f"input-{side}.json")))
    for fixed, expected in (paths[1], "unknown"), (paths[2], "same_job"):
        work = gapline.report(paths[0], fixed)[1]["verdict"]["same_work"]
        table.check(f"input of 1500 bytes against {os.path.basename(fixed)}", work == expected, work)


def main():
    table = Table()
    with tempfile.TemporaryDirectory(prefix="gapline-windows-") as folder:
        gapline = Gapline(os.path.abspath(sys.argv[1]), folder)
        check_queued(table, gapline, folder)
        check_weights(table, gapline, folder)
        check_passes(table, gapline, folder)
        check_makers(table, gapline, folder)
        check_written(table, gapline, folder)
        check_twins(table, gapline, folder)
        check_one_run(table, gapline, folder)
        for steps in 40, 5:
            check_noted(table, gapline, folder, steps)
        check_damaged(table, gapline, folder)
        check_one_step_mirrors(table, gapline, folder)
        check_other_input(table, gapline, folder)
    print(f"{table.passed} passed, {table.failed} failed")
    return 1 if table.failed or not table.passed else 0


if __name__ == "__main__":
    sys.exit(main())
