#!/usr/bin/env python3
"""PyTorch's operators: their own time on the GPU is what PyTorch's profiler says of itself. And its modules.

    check_operators.py [GAPLINE]

Which operator a kernel is of stands in the trace as the kernel's "External id"; gapline tells it from the launch, and reads
no such number. check_kineto holds real traces against the same sums.
"""
import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile
from decimal import Decimal

from check_captures import Gapline, Table, command_find

GPU = ("kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset")
STEPS = 20


def own_times(events):
    """self_device_time_total of key_averages, in ns: PyTorch writes into each GPU event which operator is its own. None: the
    trace does not say it (some versions write the launch's correlation there)."""
    operators = {event["args"]["External id"]: event["name"] for event in events
                 if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "Operator") and "External id" in event.get("args", {})}
    own, linked = {}, False
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in GPU:
            args = event.get("args") or {}
            name = operators.get(args.get("External id", args.get("external id")))
            linked = linked or name is not None
            n, time = own.get(name, (0, 0))
            own[name] = n + 1, time + int(Decimal(str(event["dur"])) * 1000)
    return own if linked else None


def check_own_times(table, name, side, events, steps=1):
    want = own_times(events)
    if want is None:
        return
    seen = {row["name"]: (row["gpu_operations_per_step"] * steps, row["own_gpu_ms_per_step"] * steps) for row in side["operators"]}
    wrong = [(operator, seen.get(operator), want.get(operator)) for operator in {*seen, *want} if operator not in seen or
             operator not in want or any(abs(a - b) > 1e-6 for a, b in zip(seen[operator], (want[operator][0], want[operator][1] / 1e6)))]
    table.check(f"{name}: operators' own times are PyTorch's", not wrong, wrong[:3], f"{len(want)} operators")


def operating(path, fused):
    """Steps of one attention: the operator itself copies, one inside it launches five kernels, or one, and what is launched
    behind both is nobody's."""
    events, correlation = [], 0

    def event(cat, name, start, length, pid=9, tid=9, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args})

    for step in range(STEPS):
        at = 10_000 + 1000 * step
        event("user_annotation", f"ProfilerStep#{step}", at, 900)
        event("cpu_op", "aten::attention", at + 10, 200, **{"External id": 2 * step + 1})
        event("cpu_op", "aten::softmax" if fused else "aten::bmm", at + 50, 100, **{"External id": 2 * step + 2})
        launches = [(at + 20, "gpu_memcpy", "Memcpy DtoD (Device -> Device)", 10, 2 * step + 1)]
        launches += [(at + 60 + 10 * i, "kernel", f"flash_{i}" if fused else f"product_{i}", 70 if fused else 20 + i, 2 * step + 2)
                     for i in range(1 if fused else 5)]
        launches += [(at + 220, "kernel", "nobody", 30, 10_000_000 + step)]
        end = at
        for call, cat, name, takes, owner in launches:
            correlation += 1
            event("cuda_runtime", "cudaLaunchKernel", call, 8, correlation=correlation)
            end = max(end, call + 30)
            event(cat, name, end, takes, 0, 7, device=0, stream=7, correlation=correlation, bytes=4096, **{"External id": owner})
            end += takes
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)
    return events


def check_operators(table, gapline, folder):
    """The same operators before and after, though their kernels have other names."""
    paths = [os.path.join(folder, f"operators-{side}.json") for side in ("baseline", "fixed")]
    events = [operating(path, fused) for path, fused in zip(paths, (False, True))]
    status, document, page, said = gapline.report(*paths, "--warmup", "0")
    if not table.check("operators: a report", status == 0 and document, said.strip()[-80:]):
        return
    for side, of in zip(("baseline", "fixed"), events):
        check_own_times(table, f"operators: {side}", document[side], of, STEPS)
        table.check(f"operators: {side}, all of the GPU's time", abs(sum(row["own_gpu_ms_per_step"] for row in document[side]["operators"]) -
                    sum(row["ms_per_step"] for kind in ("kernels", "copies") for row in document[side][kind])) < 1e-9)
    exported = os.path.join(folder, "operators.sqlite")
    gapline.run("export", paths[0], "-o", exported)
    sql = ("SELECT c.operator, count(*), sum(w.duration_ns) FROM (SELECT launch, duration_ns FROM kernels UNION ALL "
           "SELECT launch, duration_ns FROM copies) w LEFT JOIN calls c ON c.id = w.launch GROUP BY c.operator")
    with contextlib.closing(sqlite3.connect(exported)) as database:
        seen = {name: (n, time) for name, n, time in database.execute(sql)}
    table.check("operators: in an export", seen == own_times(events[0]), seen, own_times(events[0]))
    table.check("operators: on the page", b"aten::bmm" in page and b"(no operator)" in page and b">By operator<" in page)
    for path, of in zip(paths, events):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": [event for event in of if event["cat"] != "cpu_op"]}, file)
    status, document, page, said = gapline.report(*paths, "--warmup", "0")
    table.check("operators: none where there are none", status == 0 and document["baseline"]["operators"] == [] and
                b">By operator<" not in page, said.strip()[-80:])


class Nested:
    """Steps of a network of two blocks: a kernel of 100 us in each block's Linear, one of 30 in the second block itself, one of 7
    that the network launches, and of each Linear 200 us backward, on the thread of the backward pass. `extra`: Linears that
    were made before these, so that PyTorch gives these higher numbers. The sums are kept where the kernels are made."""

    def __init__(self, path, extra):
        self.events, self.own, self.correlation = [], {}, 0
        for step in range(STEPS):
            self.at = 10_000 + 2000 * step
            self.gpu = self.at
            self.event("user_annotation", f"ProfilerStep#{step}", self.at, 1900)
            self.forward(step, extra)
            self.backward(step)
            self.launched(self.at + 900, 11, None)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": self.events}, file)

    def event(self, cat, name, start, length, tid=9, pid=9, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args})

    def launched(self, at, takes, module, tid=9):
        self.correlation += 1
        self.event("cuda_runtime", "cudaLaunchKernel", at, 2, tid, correlation=self.correlation)
        self.gpu = max(self.gpu, at + 5)
        self.event("kernel", f"kernel_{takes}", self.gpu, takes, 7, 0, device=0, stream=7, correlation=self.correlation)
        self.gpu += takes
        n, time = self.own.get(module, (0, 0))
        self.own[module] = n + 1, time + takes

    def link(self, ph, number, tid, at):
        self.events.append({"ph": ph, "id": number, "cat": "fwdbwd", "name": "fwdbwd", "pid": 9, "tid": tid, "ts": at, "bp": "e"})

    def forward(self, step, extra):
        self.event("python_function", "nn.Module: Net_0", self.at + 10, 300)
        self.launched(self.at + 12, 7, "Net")
        for block in range(2):
            at = self.at + 20 + 100 * block
            self.event("python_function", f"nn.Module: Block_{block}", at, 95)
            self.event("python_function", "model.py(7): forward", at + 5, 80)
            self.event("python_function", f"nn.Module: Linear_{block + extra}", at + 10, 60)
            self.event("cpu_op", "aten::linear", at + 20, 40)
            self.event("cpu_op", "aten::addmm", at + 25, 30)
            self.link("s", 2 * step + block + 1, 9, at + 25)
            self.launched(at + 30, 100, "Net/Block/Linear")
            if block:
                self.launched(at + 80, 30, "Net/Block")

    def backward(self, step):
        for block in (1, 0):
            at = self.at + 600 - 100 * block
            self.event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", at, 90, 10)
            self.event("cpu_op", "AddmmBackward0", at + 5, 70, 10)
            self.link("f", 2 * step + block + 1, 10, at + 5)
            self.event("cpu_op", "aten::mm", at + 10, 50, 10)
            self.launched(at + 20, 200, "Net/Block/Linear", 10)
            self.launched(at + 80, 3, None, 10)  # behind what belongs to the module


def check_modules(table, gapline, folder):
    """With stacks, also where the numbers of modules differ, and modules shorter than what explains a gap."""
    paths = [os.path.join(folder, f"modules-{side}.json") for side in ("baseline", "fixed")]
    nested = [Nested(path, extra) for path, extra in zip(paths, (0, 5))]
    status, document, page, said = gapline.report(*paths, "--warmup", "0")
    if not table.check("modules: a report", status == 0 and document, said.strip()[-80:]):
        return
    own = {name: (n / STEPS, time / STEPS / 1000) for name, (n, time) in nested[0].own.items()}
    held = {name: tuple(sum(row[i] for inner, row in own.items() if name == inner or name and (inner or "").startswith(name + "/"))
                        for i in (0, 1)) for name in own}
    table.check("modules: what is expected is worked out", held["Net"] == (6, 0.637) and own["Net/Block/Linear"] == (4, 0.6) and
                own[None] == (3, 0.017), held)
    for side in "baseline", "fixed":
        seen = {row["name"]: row for row in document[side]["modules"]}
        wrong = [(name, seen.get(name)) for name in {*seen, *own} if name not in seen or name not in own or
                 abs(seen[name]["own_gpu_ms_per_step"] - own[name][1]) > 1e-9 or
                 abs(seen[name]["gpu_ms_per_step"] - held[name][1]) > 1e-9 or
                 abs(seen[name]["gpu_operations_per_step"] - held[name][0]) > 1e-9]
        table.check(f"modules: {side}", not wrong, wrong[:2], f"{len(own)} modules")
        table.check(f"modules: {side}, ranges are as without them", {row["name"] for row in document[side]["nvtx"]
                    if row["domain"] == "Python functions"} == {"nn.Module: Net_0"}, document[side]["nvtx"])
    table.check("modules: on the page", b">By module<" in page and b"Net/Block/Linear" in page and b"(no module)" in page)
    exported = os.path.join(folder, "modules.sqlite")
    gapline.run("export", paths[0], "-o", exported)
    sql = "SELECT c.module, count(*), sum(k.duration_ns) / 1000 FROM kernels k JOIN calls c ON c.id = k.launch GROUP BY c.module"
    with contextlib.closing(sqlite3.connect(exported)) as database:
        seen = {name: (n, time) for name, n, time in database.execute(sql)}
    table.check("modules: in an export", seen == nested[0].own, seen, nested[0].own)
    digests = [path.replace(".json", ".digest") for path in paths]
    for path, digest in zip(paths, digests):
        gapline.run("digest", path, "-o", digest)
    of_digests = gapline.report(*digests, "--warmup", "0")[1]
    table.check("modules and operators: the same of digests", of_digests and all(
        of_digests[side][what] == document[side][what] for side in ("baseline", "fixed") for what in ("modules", "operators")))


class Attending:
    """Steps of a linear layer and an attention of five kernels, or of one that is faster, with their backward pass on a thread of
    its own. `around`: one operator is around the attention on both sides; else only a module is."""

    def __init__(self, path, fused, around=True, drop=()):
        self.events, self.correlation = [], 0
        for step in range(STEPS):
            self.at = 10_000 + (600 if fused else 1000) * step
            self.gpu = self.at + 10
            self.event("user_annotation", f"ProfilerStep#{step}", self.at, 590 if fused else 990)
            self.event("python_function", "nn.Module: Net_0", self.at + 1, 200)
            self.event("cpu_op", "aten::linear", self.at + 2, 20)
            self.event("cpu_op", "aten::addmm", self.at + 4, 15)
            self.launched(self.at + 6, "gemm", 100)
            self.attention(step, self.at + 30, fused, around)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": [event for event in self.events if event["cat"] not in drop]}, file)

    event, link = Nested.event, Nested.link

    def launched(self, at, name, takes, tid=9):
        self.correlation += 1
        self.event("cuda_runtime", "cudaLaunchKernel", at, 2, tid, correlation=self.correlation)
        self.gpu = max(self.gpu, at + 5)
        self.event("kernel", name, self.gpu, takes, 7, 0, device=0, stream=7, correlation=self.correlation)
        self.gpu += takes

    def attention(self, step, at, fused, around):
        self.event("python_function", "nn.Module: Attention_0", at, 160)
        if around:
            self.event("cpu_op", "aten::scaled_dot_product_attention", at + 2, 150)
        inner = [("aten::_flash_attention_forward", "flash_fwd", 200)] if fused else [
            ("aten::mul", "scale", 100), ("aten::bmm", "scores", 150), ("aten::_softmax", "softmax", 100), ("aten::bmm", "values", 150),
            ("aten::copy_", "copy", 100)]
        for i, (operator, kernel, takes) in enumerate(inner):
            self.event("cpu_op", operator, at + 10 + 20 * i, 15)
            self.link("s", 10 * step + i + 1, 9, at + 10 + 20 * i)
            self.launched(at + 14 + 20 * i, kernel, takes)
        back = at + 220
        node = "ScaledDotProductFlashAttentionBackward0" if fused else "BmmBackward0"
        self.event("cpu_op", f"autograd::engine::evaluate_function: {node}", back, 40, 10)
        self.event("cpu_op", node, back + 5, 30, 10)
        self.link("f", 10 * step + 1, 10, back + 5)
        self.launched(back + 10, "flash_bwd" if fused else "values_bwd", 100, 10)


def check_why(table, gapline, folder):
    """Why a step got shorter is said by operator or module where kernels got other names: nothing else tells that one stands for
    five. All kernels but one: 700 us before, 300 after; six, then two."""
    cases = [("operator", True, (), "aten::scaled_dot_product_attention", "6 kernels \u2192 2 per step"),
             ("module", False, (), "Net/Attention", "6 GPU operations \u2192 2 per step"),
             ("neither", False, ("python_function",), None, None)]
    for what, around, drop, name, counts in cases:
        paths = [os.path.join(folder, f"why-{what}-{side}.json") for side in ("baseline", "fixed")]
        for path, fused in zip(paths, (False, True)):
            Attending(path, fused, around, drop)
        digests = [path.replace(".json", ".digest") for path in paths]
        for path, digest in zip(paths, digests):
            gapline.run("digest", path, "-o", digest)
        for of in paths, digests:
            status, document, page, said = gapline.report(*of, "--warmup", "0")
            kind = os.path.splitext(of[0])[1]
            if not table.check(f"why: {what}{kind}, a report", status == 0 and document, said.strip()[-80:]):
                continue
            parts = [part for part in document["verdict"]["why"]["parts"] if part["kind"] == "compute"]
            seen = [(part["kernel"], part["operator"], part["module"]) for part in parts]
            table.check(f"why: {what}{kind}, as it is", seen == [(None, name if what == "operator" else None, name if what == "module" else None)], seen)
            text = page.decode()
            table.check(f"why: {what}{kind}, in words", name is None or f"mostly {name}: 0.700 ms \u2192 0.300 ms, {counts}" in text,
                        text[text.find("GPU compute, mostly"):][:120])
            slopes = re.findall(r">([^<>]*), [0-9.]+ ms, [0-9.]+ launch", text)
            table.check(f"why: {what}{kind}, the picture puts names of one operator together",
                        ("aten::scaled_dot_product_attention (8 kernels)" in slopes) == (what == "operator") and "gemm" in slopes, slopes)


# Operators with their inputs, as PyTorch writes them, and their floating-point operations as one works them out by hand.
PRODUCTS = [
    ("aten::mm", [[2048, 256], [256, 512]], "float", 536_870_912),
    ("aten::mm", [[16, 1], [1, 256]], "c10::BFloat16", 8192),
    ("aten::addmm", [[706], [32, 1377], [1377, 706], [], []], "float", 62_218_368),
    ("aten::bmm", [[8, 128, 64], [8, 64, 128]], "c10::Half", 16_777_216),
    ("aten::baddbmm", [[4, 10, 30], [4, 10, 20], [4, 20, 30], [], []], "float", 48_000),
    ("aten::_scaled_mm", [[64, 128], [128, 256], [], [], [], []], "c10::Float8_e4m3fn", 2 * 64 * 128 * 256),
    ("aten::mm", [[0, 256], [256, 512]], "float", 0),
    ("aten::mm", [[64, 64], [64, 64]], "c10::complex<float>", None),
    ("aten::mm", [[64, 64], [32, 64]], "float", None),  # no product of these exists
    ("aten::bmm", [[8, 128, 64], [4, 64, 128]], "float", None),
    ("aten::mm", [], "float", None),
    ("aten::mm", [[[64, 64]], [64, 64]], "float", None),
    ("aten::relu", [[64, 64]], "float", None),
    # 16 images, 56 by 56 points each (112 by 112, a window of 7, 3 around it, each second one), 64 by 3 by 7 by 7 weights
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", 2 * 16 * 56 * 56 * 64 * 3 * 49,
     ["", "", "[3, 3]", "[2, 2]", "[1, 1]"]),
    # a line: 100 points, a window of 3 that reaches over 5: 96 are left; 32 channels in 4 groups of 8
    ("aten::cudnn_convolution", [[2, 32, 100], [32, 8, 3], [], [], []], "c10::Half", 2 * 2 * 96 * 32 * 8 * 3,
     ["", "", "[0]", "[1]", "[2]"]),
    ("aten::cudnn_convolution", [[2, 4, 3, 3], [8, 4, 5, 5], [], [], []], "float", 0, ["", "", "[0, 0]", "[1, 1]", "[1, 1]"]),
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", None),  # strides are not recorded
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", None, ["", "", "[3, 3]", "[0, 0]", "[1, 1]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float",
     2 * 16 * 56 * 56 * 64 * 3 * 49, ["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, True]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float",
     2 * 2 * 16 * 56 * 56 * 64 * 3 * 49, ["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"]),
    # transposed: each of 8 by 8 points that go in meets all weights
    ("aten::convolution_backward", [[1, 4, 16, 16], [1, 6, 8, 8], [6, 4, 2, 2], [], [], [], [], [], [], [], []], "float",
     2 * 2 * 8 * 8 * 6 * 4 * 2 * 2, ["", "", "", "[4]", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1", "[True, True, True]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float", None),
    # 2 by 8 heads; 128 queries of 64 numbers, 256 keys, values of 32: two products, and five for the gradients
    ("aten::_flash_attention_forward", [[2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], "c10::Half", 2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_efficient_attention_forward", [[2, 128, 8, 64], [2, 256, 2, 64], [2, 256, 2, 32], []], "float", 2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_scaled_dot_product_cudnn_attention", [[2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_flash_attention_backward", [[2, 128, 8, 32], [2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (3 * 64 + 2 * 32)),
    ("aten::_cudnn_attention_backward", [[2, 8, 128, 32], [2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (3 * 64 + 2 * 32)),
    ("aten::_flash_attention_forward", [[1000, 8, 64], [1000, 8, 64], [1000, 8, 64]], "c10::Half", None),  # of several lengths
]


PEAKS = {"c10::Half": 989.4e12, "c10::BFloat16": 989.4e12, "c10::Float8_e4m3fn": 1978.9e12}  # of an H100 SXM; float: not known


# What they read and write, each input and output once. The first five were also counted by Nsight Compute on an H200, in bytes of
# DRAM: 3 201 237 504, 2 120 697 856, 1 051 193 600, 784 084 736 and 1 268 306 432 (layer norm reads part of its input twice).
BYTES = [
    ("aten::add", [[1 << 28], [1 << 28], []], ["float", "float", "Scalar"], 3 * 4 << 28),
    ("aten::clamp_min", [[1 << 28], []], ["float", "Scalar"], 2 * 4 << 28),
    ("aten::_softmax", [[1 << 15, 4096], [], []], ["float", "Scalar", "Scalar"], 2 * 4 << 27),
    ("aten::copy_", [[1 << 15, 4096], [1 << 15, 4096], []], ["c10::BFloat16", "float", "Scalar"], 6 << 27),
    ("aten::native_layer_norm", [[1 << 15, 4096], [], [4096], [4096], []], ["float", "ScalarList", "float", "float", "Scalar"], 4 * ((2 << 27) + 8192)),
    ("aten::mul", [[8, 1, 5], [7, 1], []], ["c10::Half", "c10::Half", ""], 2 * (40 + 7 + 8 * 7 * 5)),  # spread over each other
    ("aten::add", [[64, 64], [], []], ["float", "double", "Scalar"], 2 * 4 * 4096),  # a number beside it has any type
    ("aten::add", [[64, 64], [64, 64], []], ["float", "c10::Half", "Scalar"], None),
    ("aten::_softmax", [[64, 64], [], []], ["c10::Half", "Scalar", "Scalar"], None),  # which may be asked for in 32 bits
    ("aten::fill_", [[10, 10], []], ["long int", "Scalar"], 800),
    ("aten::mm", [[2048, 256], [256, 512]], ["c10::Half"] * 2, 2 * (2048 * 256 + 256 * 512 + 2048 * 512)),
    ("aten::addmm", [[706], [32, 1377], [1377, 706], [], []], ["float"] * 3 + ["Scalar"] * 2, 4 * (706 + 32 * 1377 + 1377 * 706 + 32 * 706)),
    ("aten::_flash_attention_forward", [[2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], ["c10::Half"] * 3,
     2 * 2 * 8 * (128 * 64 + 256 * 64 + 256 * 32 + 128 * 32)),
    ("aten::_scaled_mm", [[64, 128], [128, 256]], ["c10::Float8_e4m3fn"] * 2, None),  # of which type the output is, is not recorded
    ("aten::add", [[-1, 64], [1, 64], []], ["float", "float", "Scalar"], None),
    ("aten::add", [[1 << 40, 1 << 40], [1]], ["float", "float"], None),
    ("aten::nll_loss_forward", [[64, 64], [64]], ["float", "long int"], None),
]


def check_bytes(table, gapline, folder):
    """Each launches a memset and two kernels, 10 us long: the bytes are the kernels', for 20 us."""
    for i, (name, dims, kinds, count) in enumerate(BYTES):
        paths = [os.path.join(folder, f"bytes-{i}{end}") for end in (".json", ".digest")]
        launching(paths[0], name, {"Input type": kinds, "Input Dims": dims})
        gapline.run("digest", paths[0], "-o", paths[1])
        for path in paths:
            document = gapline.report(path, path, "--warmup", "0")[1]
            row = document["baseline"]["operators"][0] if document else {}
            seen = [row.get(key) for key in ("name", "bytes_per_step", "bytes_known_ms_per_step", "gb_per_second")]
            want = [name, count, 0.02 if count is not None else 0, None if count is None else count / 20e-6 / 1e9]
            good = all(a == b or (None not in (a, b) and not isinstance(a, str) and abs(a - b) <= 1e-9 * abs(b)) for a, b in zip(seen, want))
            table.check(f"bytes: {name} of {dims}, {os.path.splitext(path)[1]}", good, seen, want)


def launching(path, name, args):
    """Steps of an operator that launches a memset and two kernels."""
    events = []
    for step in range(STEPS):
        at = 1000 + 1000 * step
        event = {"ph": "X", "pid": 9, "tid": 9}
        events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900})
        events.append({**event, "cat": "cpu_op", "name": name, "ts": at + 10, "dur": 100, "args": args})
        for k, call in enumerate(("cudaMemsetAsync", "cudaLaunchKernel", "cudaLaunchKernel")):
            linked = {"correlation": 3 * step + k + 1}
            events.append({**event, "cat": "cuda_runtime", "name": call, "ts": at + 20 + 10 * k, "dur": 5, "args": linked})
            events.append({"ph": "X", "cat": "kernel" if k else "gpu_memset", "name": f"kernel_{k}", "pid": 0, "tid": 7,
                           "ts": at + 100 + 20 * k, "dur": 10, "args": {**linked, "device": 0, "stream": 7, "bytes": 64}})
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


def check_peaks(table, gapline, folder):
    """Two GPUs of a model, products of 20 us each and step on one of them, in steps of 1 ms: what the page says of peak and MFU.
    A model without a data sheet has none."""
    flops = 2 * 2048 ** 3
    for model, known in (("NVIDIA H100 80GB HBM3", True), ("NVIDIA H100", False)):
        events = []
        for step in range(STEPS):
            event = {"ph": "X", "pid": 9, "tid": 9}
            at = 1000 + 1000 * step
            events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 1000})
            events.append({**event, "cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": 100,
                           "args": {"Input type": ["c10::Half"] * 2, "Input Dims": [[2048, 2048]] * 2}})
            for device, takes in ((0, 20), (1, 60)):
                args = {"correlation": 2 * step + device + 1}
                events.append({**event, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 20 + device, "dur": 1, "args": args})
                events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": device, "tid": 7, "ts": at + 100, "dur": takes,
                               "args": {**args, "device": device, "stream": 7}})
        path = os.path.join(folder, "peaks.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": i, "name": model} for i in range(2)], "traceEvents": events}, file)
        _, document, page, said = gapline.report(path, path, "--warmup", "0")
        share = flops / 80e-6 / 989.4e12  # the second kernel is the same operator's: 20 us and 60
        mfu = flops / 1e-3 / 2 / 989.4e12
        text = " ".join(page.decode().split())
        expected = f"reach {share * 100:.0f} % of the tensor cores' peak (data sheet); MFU is at least {mfu * 100:.1f} %."
        table.check(f"peaks: {model}", document and (expected in text) == known and ("MFU" in text) == known,
                    text[text.find("Floating-point operations are"):][:300], expected)


def check_products(table, gapline, folder):
    """Each launches a memset and two kernels, 10 us long; the work is that of one product."""
    for i, (name, dims, kind, flops, *given) in enumerate(PRODUCTS):
        events = []
        for step in range(STEPS):
            at = 1000 + 1000 * step
            event = {"ph": "X", "pid": 9, "tid": 9, "args": {}}
            events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900})
            args = {"Input type": [kind] * len(dims), "Input Dims": dims} if dims else {}
            args.update({"Concrete Inputs": texts for texts in given})
            if given or i % 2:  # around it one that knows no more, or as much and counts nothing itself
                events.append({**event, "cat": "cpu_op", "name": name if i % 2 else "aten::around", "ts": at + 9, "dur": 102, "args": args})
            events.append({**event, "cat": "cpu_op", "name": name, "ts": at + 10, "dur": 100, "args": args})
            for k, call in enumerate(("cudaFuncGetAttributes", "cudaMemsetAsync", "cudaLaunchKernel", "cudaLaunchKernel")):
                args = {"correlation": 4 * step + k + 1}
                events.append({**event, "cat": "cuda_runtime", "name": call, "ts": at + 20 + 10 * k, "dur": 5, "args": args})
                if k:
                    events.append({"ph": "X", "cat": "kernel" if k > 1 else "gpu_memset", "name": f"kernel_{k}", "pid": 0, "tid": 7,
                                   "ts": at + 100 + 20 * k, "dur": 10, "args": {**args, "device": 0, "stream": 7, "bytes": 64}})
        paths = [os.path.join(folder, f"product-{i}{end}") for end in (".json", ".digest")]
        with open(paths[0], "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}, file)
        gapline.run("digest", paths[0], "-o", paths[1])
        for path in paths:
            document = gapline.report(path, path, "--warmup", "0")[1]
            row = document["baseline"]["operators"][0] if document else {}
            seen = [row.get(key) for key in ("name", "flop_per_step", "flop_known_ms_per_step", "tflop_per_second", "share_of_peak")]
            peak = PEAKS.get(kind) if flops is not None else None
            want = [name, flops, 0.03 if flops is not None else 0, None if flops is None else flops / 30e-6 / 1e12,
                    peak and flops / 30e-6 / peak]
            good = all(a == b or (None not in (a, b) and not isinstance(a, str) and abs(a - b) <= 1e-9 * abs(b)) for a, b in zip(seen, want))
            table.check(f"products: {name} of {dims}, {os.path.splitext(path)[1]}", good, seen, want)


def main():
    command = command_find()
    if not command or not os.access(command, os.X_OK):
        print("gapline is not built")
        return 1
    table = Table()
    with tempfile.TemporaryDirectory(prefix="gapline-operators-") as folder:
        check_operators(table, Gapline(command, folder), folder)
        check_modules(table, Gapline(command, folder), folder)
        check_why(table, Gapline(command, folder), folder)
        check_products(table, Gapline(command, folder), folder)
        check_peaks(table, Gapline(command, folder), folder)
        check_bytes(table, Gapline(command, folder), folder)
    print(f"{table.passed} passed, {table.failed} failed")
    return 1 if table.failed or not table.passed else 0


if __name__ == "__main__":
    sys.exit(main())
