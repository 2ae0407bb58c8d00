#!/usr/bin/env python3
"""Steps of PyTorch traces whose programs mark none: PyTorch's profiler notes when optimizers step, and a step reaches from
the end of one to the end of the next. The traces are made, by a program of one thread that never waits and a GPU that works
off what it launched, so when each step ends is known. And of those that have no optimizer, with the calls of their models:
what repeats within one call are layers.

    check_optimizers.py GAPLINE
"""

import json
import os
import random
import sys
import tempfile

from check_captures import ROOT, Gapline, Table

RECORDED = os.path.join(ROOT, "tests", "cmd", "recorded")


class Program:
    """Its events, in us; `ends`: when the GPU had done what was launched up to the end of each optimizer's step."""

    def __init__(self, seed):
        self.events, self.ends = [], []
        self.host, self.gpu, self.correlation = 1000.0, 0.0, 0
        self.random = random.Random(seed)

    def event(self, cat, name, start, end, pid=9, tid=9, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3),
                            "dur": round(end - start, 3), "args": args})

    def run(self, name, takes):
        """An operator that launches a kernel of `takes` us, give or take a tenth."""
        begin, self.correlation = self.host, self.correlation + 1
        self.event("cuda_runtime", "cudaLaunchKernel", begin + 3, begin + 7, correlation=self.correlation)
        start = max(self.gpu, begin + 8)
        self.gpu = start + takes * self.random.uniform(0.9, 1.1)
        self.event("kernel", f"{name}_kernel(float*)", start, self.gpu, 0, 7, device=0, stream=7,
                   correlation=self.correlation, grid=[64, 1, 1], block=[128, 1, 1])
        self.host = begin + 10
        self.event("cpu_op", f"aten::{name}", begin, self.host)

    def batch(self, layers=4, width=1):
        """Forward and backward of one batch."""
        for _ in range(layers):
            self.run("mm", 40 * width)
            self.run("gelu", 8 * width)
        for _ in range(layers):
            self.run("mm", 80 * width)

    def optimizer(self, name="AdamW", inside=()):
        begin = self.host
        self.host += 5
        if inside:
            self.optimizer(*inside)
            self.ends.pop()
        else:
            self.run("_fused_adamw_", 30)
        self.host += 5
        self.event("user_annotation", f"Optimizer.step#{name}.step", begin, self.host)
        self.ends.append(self.gpu)

    def around(self, name, begin):
        self.event("user_annotation", name, begin, self.host)

    def model(self, layers, wait=True, noted=True):
        """One call of a model of equal layers between two kernels of its own; `noted`: with calls of modules."""
        def call(name, begin):
            for text in (f"nn.Module: {name}", "torch/nn/modules/module.py(1779): _call_impl") if noted else ():
                self.event("python_function", text, begin, self.host)

        begin = self.host
        self.run("embedding", 20)
        for i in range(layers):
            inner = self.host
            for name in ("mm", "softmax", "bmm", "gelu"):
                self.run(name, 40)
            call(f"Block_{i}", inner)
        self.run("lm_head", 60)
        call("GPT_0", begin)
        if wait:
            begin, self.host = self.host, max(self.host, self.gpu) + 20
            self.event("cuda_runtime", "cudaDeviceSynchronize", begin, self.host)
        self.ends.append(self.gpu)

    def backward(self, layers):
        """One call that PyTorch's own thread works off, layer by layer."""
        begin = self.host
        for _ in range(layers):
            for name in ("mm_grad", "softmax_grad", "bmm_grad"):
                self.run(name, 60)
        for e in self.events[-9 * layers:]:
            e["tid"] = e["tid"] if e["cat"] == "kernel" else 10
        self.event("python_function", "torch/autograd/graph.py(823): _engine_run_backward", begin, self.host)

    def write(self, folder, name):
        path = os.path.join(folder, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self.events, "deviceProperties": [{"id": 0, "name": "some GPU"}]}, file)
        return path


def accumulating(micro, steps=20, seed=1):
    p = Program(seed)
    for _ in range(steps):
        for _ in range(micro):
            p.batch()
        p.optimizer()
    return p


def taking_turns(first, second, steps=20):
    """A discriminator and a generator; what of `ends` is a step's is every second one."""
    p = Program(2)
    for _ in range(steps):
        p.batch(3)
        p.optimizer(first)
        p.batch(5)
        p.optimizer(second)
    p.ends = p.ends[1::2]
    return p


def as_many_operators():
    """A generator and a discriminator that differ in which operators they run, not in how many."""
    p = Program(4)
    for _ in range(20):
        for name, takes in ("conv", 60), ("conv_transpose", 35):
            for _ in range(6):
                p.run(name, takes)
                p.run("gelu", 8)
            p.optimizer("Adam")
    p.ends = p.ends[1::2]
    return p


def with_a_rare_one():
    p = Program(3)
    for step in range(50):
        p.batch()
        p.optimizer()
        if step % 25 == 24:
            p.optimizer("SGD")
            p.ends.pop()
    return p


def begun_late():
    """The trace begins behind a first step's forward pass."""
    p = Program(4)
    p.run("mm", 80)
    p.optimizer()
    for _ in range(19):
        p.batch()
        p.optimizer()
    return p


def wrapped():
    p = Program(5)
    for _ in range(20):
        p.batch()
        p.optimizer("Accelerated", ("SGD",))
    return p


def writing():
    """A checkpoint behind the thirteenth step, with operators of its own."""
    p = Program(8)
    for step in range(17):
        p.batch()
        p.optimizer()
        for _ in range(20 if step == 12 else 0):
            p.run("copy_", 3)
    return p


def rounds(marked, mean):
    """Twelve rounds of six steps, of which a mean is taken in `mean` us; `marked`: PyTorch's profiler was told of each."""
    p = Program(9)
    for i in range(12):
        begin = p.host
        for _ in range(6):
            p.batch()
            p.optimizer("SGD")
        p.run("mean", mean)
        if marked:
            p.around(f"ProfilerStep#{i}", begin)
    return p


def compiling():
    """What XLA marks while it compiles: it tries kernels out in between."""
    p = Program(10)
    for k in range(12):
        begin = p.host
        p.batch(1 + k % 3)
        p.around(f"XlaCompileBackend:#module=jit_step,program_id={k}#", begin)
    return p


def marked():
    p = Program(6)
    for _ in range(20):
        begin = p.host
        p.batch()
        p.batch()
        p.optimizer()
        p.around("train_batch", begin)
    return p


PROGRAMS = {  # the program, the steps that it has
    "one optimizer": (accumulating(1), 20),
    "four batches a step": (accumulating(4), 20),
    "eight batches a step": (accumulating(8), 20),
    "optimizers of two classes": (taking_turns("Adam", "SGD"), 20),
    "two optimizers of one class": (taking_turns("Adam", "Adam"), 20),
    "two optimizers of one class, and as many operators": (as_many_operators(), 20),
    "one that steps rarely": (with_a_rare_one(), 50),
    "the first step is cut": (begun_late(), 19),
    "one in another": (wrapped(), 20),
    "a checkpoint in one step": (writing(), 17),
}


def check_steps(table, gapline, folder):
    for name, (program, steps) in PROGRAMS.items():
        path = program.write(folder, name.replace(" ", "-"))
        document = gapline.report(path, path)[1]
        if not table.check(f"{name}: a report", document is not None):
            continue
        found = document["baseline"]["steps"]
        table.check(f"{name}: steps", found["name"] == "gapline: step" and found["warmup"] + found["measured"] == steps - 1 + (
            found["warmup"] > 0), (found["name"], found["warmup"], found["measured"]), steps)
        ends = program.ends[-found["measured"] - 1:]
        truth = (ends[-1] - ends[0]) / (len(ends) - 1) / 1000
        table.check(f"{name}: time per step", abs(found["period_ms"]["mean"] / truth - 1) < 1e-3,
                    found["period_ms"]["mean"], f"{truth:.6f}")


def check_others(table, gapline, folder):
    path = marked().write(folder, "marked")
    found = gapline.report(path, path)[1]["baseline"]["steps"]
    table.check("a range of the program's around each step: it is the step", found["name"] == "train_batch", found["name"])

    rounds_of = [rounds(True, 400).write(folder, "rounds-marked"), rounds(False, 100).write(folder, "rounds")]
    for name, pair in ("rounds marked on one side", rounds_of), ("the other way", rounds_of[::-1]):
        document = gapline.report(*pair)[1]
        found, low, high = document["baseline"]["steps"], *document["verdict"]["ci95"]
        table.check(f"{name}: an optimizer's step is that of both", found["name"] == "gapline: step" and found["measured"] >= 70,
                    (found["name"], found["measured"]))
        table.check(f"{name}: no speedup of a round over a step", 0.8 < low < high < 1.25, (low, high))
    found = gapline.report(rounds_of[0], rounds_of[0])[1]["baseline"]["steps"]
    table.check("rounds marked on both sides: they are the steps", found["name"] == "ProfilerStep#", found["name"])

    path = compiling().write(folder, "compiling")
    found = gapline.report(path, path)[1]["baseline"]["steps"]
    table.check("what XLA does to compile is no step", not (found["name"] or "").startswith("Xla"), found)

    few = accumulating(2, steps=5)
    path = few.write(folder, "few")
    document = gapline.report(path, path)[1]
    found, verdict = document["baseline"]["steps"], document["verdict"]
    truth = (few.ends[-1] - 1000) / 5 / 1000  # the host begins at 1000
    table.check("five steps: all are measured, the first from its beginning", found["measured"] == 5 and
                abs(found["period_ms"]["mean"] / truth - 1) < 1e-3, (found["measured"], found["period_ms"]["mean"]), truth)
    table.check("five steps: inconclusive, no interval", verdict["result"] == "inconclusive" and verdict["ci95"] is None,
                (verdict["result"], verdict["ci95"]))

    paths = [accumulating(n).write(folder, f"accumulating-{n}") for n in (4, 8)]
    verdict = gapline.report(*paths)[1]["verdict"]
    table.check("four batches a step against eight: inconclusive, with the reason", verdict["result"] == "inconclusive" and
                any("holds 2 times" in reason for reason in verdict["reasons"] + verdict["differences"]),
                (verdict["result"], verdict["differences"]))


def passes(n, layers, seed=7, **how):
    p = Program(seed)
    for _ in range(n):
        p.model(layers, **how)
    return p


def unlike(n, behind=None, seed=9):
    """Passes of a model no layer of which is like another, one after the other, behind the kernel that makes their input."""
    p = Program(seed)
    p.run("normal_", 25)
    for _ in range(n):
        for name in ("conv", "relu", "pool", "mm", "softmax"):
            p.run(name, 50)
        p.ends.append(p.gpu)
    if behind:
        p.run(behind, 25)
    return p


def there_and_back(n, layers, seed=8):
    p = Program(seed)
    for _ in range(n):
        p.model(layers, wait=False)
        p.backward(layers)
    return p


def check_layers(table, gapline, folder):
    """Layers in one call of a model are no steps, forward and backward; calls that repeat are."""
    few = {"one pass of 12 layers": passes(1, 12), "three passes of 12 layers": passes(3, 12), "passes of 2 layers": passes(3, 2),
           "one pass there and back": there_and_back(1, 12), "one pass, calls not noted": passes(1, 12, noted=False),
           "three passes, calls not noted": passes(3, 12, noted=False),
           "three passes, calls not noted, not waited for": passes(3, 12, wait=False, noted=False),
           "one pass of 90 layers, calls not noted": passes(1, 90, noted=False)}
    for name, program in few.items():
        document = gapline.report(program.write(folder, "layers"), passes(3, 12, 9).write(folder, "layers-fixed"))[1]
        verdict, found = document["verdict"], document["baseline"]["steps"]
        table.check(f"{name}: no layer is a step", found["origin"] == "none", (found["origin"], found["name"]))
        table.check(f"{name}: no direction and no interval", verdict["result"] == "inconclusive" and verdict["ci95"] is None,
                    (verdict["result"], verdict["ci95"]))
    for name, n, program in (("40 passes", 40, passes(40, 12)), ("40 passes, calls not noted", 40, passes(40, 12, noted=False)),
                             ("40 passes, calls not noted, not waited for", 40, passes(40, 12, wait=False, noted=False)),
                             ("5 passes, calls not noted", 5, passes(5, 12, noted=False)), ("7 passes, calls not noted", 7, passes(7, 12, noted=False)),
                             ("7 passes, calls not noted, not waited for", 7, passes(7, 12, wait=False, noted=False)),
                             ("8 passes, calls not noted", 8, passes(8, 12, noted=False)), ("10 passes, calls not noted", 10, passes(10, 12, noted=False)),
                             ("10 passes, calls not noted, not waited for", 10, passes(10, 12, wait=False, noted=False)),
                             ("40 passes of unlike layers behind their input, not waited for", 40, unlike(40)),
                             ("110 passes of them between two other kernels", 110, unlike(110, "sum")),
                             ("12 passes there and back", 12, there_and_back(12, 12))):
        path = program.write(folder, "passes")
        found = gapline.report(path, path)[1]["baseline"]["steps"]
        ends = program.ends[-found["measured"] - 1:]
        truth = (ends[-1] - ends[0]) / (len(ends) - 1) / 1000
        table.check(f"{name}: a pass is a step", found["measured"] == n - 1 and abs(found["period_ms"]["mean"] / truth - 1) < 1e-2,
                    (found["measured"], found["period_ms"]["mean"]), truth)


def check_recorded(table, gapline):
    """A training on an H100 whose gradients were set to zero, and then to None (tests/cmd/recorded/README.md)."""
    paths = [os.path.join(RECORDED, f"zero-grad-{side}.gapline") for side in ("baseline", "fixed")]
    document = gapline.report(*paths)[1]
    for side, truth in ("baseline", 16.405545), ("fixed", 14.983535):  # of the events as PyTorch wrote them, by Python
        found = document[side]["steps"]
        table.check(f"gradients, {side}: time per step", found["measured"] == 11 and
                    abs(found["period_ms"]["mean"] / truth - 1) < 1e-6, (found["measured"], found["period_ms"]["mean"]), truth)
    work = document["verdict"]["same_work"]
    one = [os.path.join(RECORDED, f"one-pass-{side}.gapline") for side in ("baseline", "fixed")]
    for name, pair in ("one pass", one), ("two passes beside themselves", [os.path.join(RECORDED, "two-passes.gapline")] * 2):
        document = gapline.report(*pair)[1]
        origins = [document[side]["steps"]["origin"] for side in ("baseline", "fixed")]
        table.check(f"{name} on an H100: no layer is a step", origins == ["none", "none"] and document["verdict"]["result"] == "inconclusive"
                    and document["verdict"]["ci95"] is None, (origins, document["verdict"]["result"]))
    five = gapline.report(*[os.path.join(RECORDED, "five-passes.gapline")] * 2)[1]["baseline"]["steps"]  # its own clock: 9.8023 ms
    table.check("five passes on an H100: a pass is a step", five["measured"] == 4 and abs(five["period_ms"]["mean"] / 9.8023 - 1) < 0.01,
                (five["measured"], five["period_ms"]["mean"]), 9.8023)
    cast = gapline.report(*[os.path.join(RECORDED, f"cast-passes-{side}.gapline") for side in ("baseline", "fixed")])[1]
    for side, n, truth in ("baseline", 11, 20.6182), ("fixed", 10, 5.2048):  # its own clock
        found = cast[side]["steps"]
        table.check(f"passes of which some cast weights, {side}: a pass is a step", found["measured"] == n and
                    abs(found["period_ms"]["mean"] / truth - 1) < 0.02, (found["measured"], found["period_ms"]["mean"]), truth)
    verdict = cast["verdict"]
    table.check("passes of which some cast weights: the speedup of their own clock, other work not proven", verdict["result"] == "faster" and
                verdict["ci95"][0] < 20.6182 / 5.2048 < verdict["ci95"][1] and verdict["same_work"] == "unknown",
                (verdict["result"], verdict["ci95"], verdict["same_work"]), 20.6182 / 5.2048)
    versions = [os.path.join(RECORDED, f"kernel-versions-{side}.gapline") for side in ("baseline", "fixed")]
    document = gapline.report(*versions)[1]  # every three steps with a kernel of another name
    table.check("loops of which none is a fifth of the work: no steps, and no speedup of one of them", not document["fixed"]["steps"]["found"] and
                document["verdict"]["result"] == "inconclusive", (document["fixed"]["steps"], document["verdict"]["result"]))
    drafts = gapline.report(*[os.path.join(RECORDED, "drafts.gapline")] * 2)[1]["baseline"]["steps"]  # its own clock: 10.4232 ms
    table.check("rounds of speculative decoding behind the models' weights: a round is a step", drafts["measured"] == 17 and
                abs(drafts["period_ms"]["mean"] / 10.4232 - 1) < 0.01, (drafts["measured"], drafts["period_ms"]["mean"]), 10.4232)
    ensemble = [os.path.join(RECORDED, f"ensemble-{side}.gapline") for side in ("baseline", "fixed")]
    intervals = []
    for name, pair in ("eight models, one after the other, and all at once", ensemble), ("the other way", ensemble[::-1]):
        verdict = gapline.report(*pair)[1]["verdict"]  # 23 times all of them: its own clock said 12.8878 and 3.6793 ms
        table.check(f"{name}: an optimizer's step is no unit", verdict["result"] == "inconclusive" and verdict["why"]["parts"] == [] and
                    verdict["reasons"][0].startswith("The steps are not marked."), (verdict["result"], verdict["reasons"]))
        intervals.append(verdict["ci95"])
    table.check("eight models: launches that weigh the same say the same of swapped sides", abs(intervals[0][0] * intervals[1][1] - 1) < 1e-9 and
                abs(intervals[0][1] * intervals[1][0] - 1) < 1e-9, intervals)
    table.check("gradients that are not filled with zeros, and not added to them: unknown", work == "unknown", work)


def main():
    table = Table()
    with tempfile.TemporaryDirectory(prefix="gapline-optimizers-") as folder:
        gapline = Gapline(os.path.abspath(sys.argv[1]), folder)
        check_steps(table, gapline, folder)
        check_others(table, gapline, folder)
        check_layers(table, gapline, folder)
        check_recorded(table, gapline)
    print(f"{table.passed} passed, {table.failed} failed")
    return 1 if table.failed or not table.passed else 0


if __name__ == "__main__":
    sys.exit(main())
