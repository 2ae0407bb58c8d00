#!/usr/bin/env python3
"""PyTorch's operators: their own time on the GPU is what PyTorch's profiler says of itself. And its modules.

    check_operators.py [GAPLINE]

Which operator a kernel is of stands in the trace as the kernel's "External id"; gapline tells it from the launch, and reads
no such number. check_kineto holds real traces against the same sums.
"""
import contextlib
import json
import lzma
import os
import re
import sqlite3
import sys
from decimal import Decimal

from check_captures import check_made

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tiny_profile

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
        table.check(f"modules: {side}, ranges have their paths, and short ones none", {row["name"] for row in document[side]["nvtx"]
                    if row["domain"] == "Python functions"} == {"nn.Module: Net"}, document[side]["nvtx"])
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


class Multiplying(Attending):
    """Steps of two products and what is beside them, of which no kernel keeps its name in the other precision."""

    def __init__(self, path, kind, rows=512):
        self.kind, self.rows = kind, rows
        super().__init__(path, kind == "bf16", drop=("python_function",))

    def attention(self, step, at, fused, around):
        takes = 60 if fused else 120
        for i, (rows, columns) in enumerate(((self.rows, 1024), (self.rows, 256))):
            self.event("cpu_op", "aten::mm", at + 20 * i, 15, **{"Input Dims": [[rows, 512], [512, columns]],
                       "Input type": ["c10::BFloat16" if fused else "float"] * 2})
            self.launched(at + 4 + 20 * i, f"{self.kind}_product_{columns}", takes)
        self.event("cpu_op", "aten::relu", at + 50, 15)
        self.launched(at + 54, f"{self.kind}_relu", takes // 3)


def check_work(table, gapline, folder):
    """No kernel of other precision has its name, and nothing is copied in: operators that calculate as much are what shows that the
    job is the same. Half of the rows are not, nor is one whose shapes were not recorded."""
    path = {name: os.path.join(folder, f"work-{name}.json") for name in ("float", "bf16", "half", "plain")}
    Multiplying(path["float"], "float")
    Multiplying(path["bf16"], "bf16")
    Multiplying(path["half"], "bf16", 256)
    Multiplying(path["plain"], "bf16")
    with open(path["plain"], encoding="utf-8") as file:
        document = json.load(file)
    for event in document["traceEvents"]:
        event["args"].pop("Input Dims", None)
    with open(path["plain"], "w", encoding="utf-8") as file:
        json.dump(document, file)
    gflop = 2 * 512 * 512 * (1024 + 256) / 1e9
    for fixed, work in ("bf16", "same_job"), ("half", "unknown"), ("plain", "unknown"):
        status, document, _, said = gapline.report(path["float"], path[fixed], "--warmup", "0")
        if not table.check(f"work: {fixed}, a report", status == 0 and document, said.strip()[-80:]):
            continue
        verdict = document["verdict"]
        shown = [note for note in verdict["notes"] if "GFLOP" in note]
        table.check(f"work: {fixed}", verdict["same_work"] == work, (verdict["same_work"], verdict["differences"]))
        table.check(f"work: {fixed}, what is calculated", (work == "same_job") == bool(shown) and (not shown or f"{gflop:.2g}" in shown[0]), shown)


def check_memory(table, gapline, folder):
    """Who allocated most of what is there at the peak: the outermost operator, for a backward pass the one that it belongs to. What
    was freed before, or is of no operator, is nobody's; what is freed later is."""
    paths = [os.path.join(folder, f"held-{side}.json") for side in ("baseline", "fixed")]
    MB, there = 1_000_000, 1_000_000
    nested = Nested(paths[0], 0)
    begin = 10_000 + 2000 * (STEPS // 2)  # of a step in the middle: its linear layers at +40 and +140, their backward pass at +605 and +505
    nested.event("cpu_op", "aten::zeros", begin + 330, 20)
    nested.event("cpu_op", "aten::empty", begin + 332, 10)
    for address, at, tid, change in ((1, 15, 9, 6), (2, 47, 9, 3), (1, 100, 9, -6), (3, 147, 9, 1), (4, 335, 9, 4), (5, 400, 9, 2),
                                     (6, 515, 10, 2), (7, 620, 10, 3), (2, 1000, 9, -3), (4, 1010, 9, -4)):
        there += change * MB
        nested.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 9, "tid": tid, "ts": begin + at,
                              "args": {"Total Allocated": there, "Device Id": 0, "Bytes": change * MB, "Device Type": 1, "Addr": address << 21}})
    for path in paths:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": nested.events}, file)
    gapline.run("digest", paths[1], "-o", paths[1] + ".digest")
    status, document, page, said = gapline.report(paths[0], paths[1] + ".digest", "--warmup", "0")
    if not table.check("memory: a report", status == 0 and document, said.strip()[-80:]):
        return
    for side in "baseline", "fixed":
        memory = document[side]["memory"]
        table.check(f"memory: {side}, the peak", memory["peak_bytes"] == 16 * MB, memory)
        table.check(f"memory: {side}, who allocated it", memory["operators"] ==
                    [{"operator": "aten::linear", "bytes": 9 * MB}, {"operator": "aten::zeros", "bytes": 4 * MB}], memory)
    table.check("memory: in words", "Of the baseline's, 5 MB was allocated in AddmmBackward0, 9 MB by aten::linear." in page.decode(),
                re.findall(r"Peak of device memory:[^<]*", page.decode()))


# What XLA writes around its launches, of a step's five kernels of 100 us each: outside in. The last one's is of something else.
THUNKS = [
    ["XlaModule:#prefix=jit(step)/jit(main),hlo_module=jit_step,program_id=3#", "Thunk:#hlo_op=fusion.3#"],
    ["Thunk:#hlo_op=fusion.3,unique_hlo_op_id=3#"],
    ["Thunk:#name=mlp/dot_general[dims=((1,), (0,))],hlo_op=gemm.7,unique_hlo_op_id=12#"],
    ["TSL:Thunk:#hlo_op=while.1#", "TSL:Thunk:#name=scan/tanh,hlo_op=body.2#"],
    ["XlaModule:#hlo_module=jit_other,program_id=4#"],
]


def check_xla(table, gapline, folder):
    """A profile of JAX by nsys, and its digest: operators are XLA's, and modules the places in the program that they come from."""
    paths = [os.path.join(folder, f"xla{end}") for end in (".sqlite", ".digest")]
    tiny_profile.write(paths[0], steps=20)
    with contextlib.closing(sqlite3.connect(paths[0])) as db:
        calls = db.execute(
            "SELECT start, end, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN (SELECT correlationId FROM "
            "CUPTI_ACTIVITY_KIND_KERNEL) ORDER BY start").fetchall()
        for k, (start, end, thread) in enumerate(calls):
            for text in THUNKS[k % 5]:
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?, NULL, NULL, 0)", (start, end, text, thread))
        db.commit()
    gapline.run("digest", paths[0], "-o", paths[1])
    for path in paths:
        side = gapline.report(path, path)[1]["baseline"]
        for what, want in (("operators", {"fusion.3": 0.2, "gemm.7": 0.1, "body.2": 0.1, None: 0.1}),
                           ("modules", {"mlp": 0, "mlp/dot_general[dims=((1,), (0,))]": 0.1, "scan": 0, "scan/tanh": 0.1, None: 0.3})):
            seen = {row["name"]: round(row.get("own_gpu_ms_per_step", row.get("gpu_ms_per_step")), 9) for row in side[what]}
            table.check(f"XLA, {os.path.splitext(path)[1]}: {what}", seen == want, seen, want)
    with contextlib.closing(sqlite3.connect(paths[0])) as db:
        db.execute("CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER)")
        rows = [row for row, in db.execute("SELECT rowid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")]
        for node, made in (0, 2), (1, 4):  # a step's kernel, and in which call of the first step that node was made
            start, _, thread = calls[made]
            db.execute("INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (?, ?, ?, ?, NULL)", (start + 1, start + 1, thread, node + 1))
            db.executemany("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = ? WHERE rowid = ?", [(node + 1, row) for row in rows[node::5]])
        db.commit()
    side = gapline.report(paths[0], paths[0])[1]["baseline"]
    seen = {row["name"]: round(row["own_gpu_ms_per_step"], 9) for row in side["operators"]}
    want = {"gemm.7": 0.2, "fusion.3": 0.1, "body.2": 0.1, None: 0.1}
    table.check("XLA: nodes of graphs are of the operator that they were made in, else of their launch's", seen == want, seen, want)


# Which operators torch.compile puts into a kernel's name, and the module of recorded/compiled-graphs that alone has such ones.
COMPILED = (("gelu", "Block/MLP"), ("softmax_backward|clone", "Block/Attention"))


def check_compiled(table, gapline, folder):
    """Modules of the kernels that torch.compile made, as nodes of CUDA graphs, and in a digest."""
    path = os.path.join(folder, "compiled.sqlite")
    with lzma.open(os.path.join(HERE, "recorded/compiled-graphs.sqlite.xz")) as source, open(path, "wb") as target:
        target.write(source.read())
    gapline.run("digest", path, "-o", path + ".digest")
    for of in path, path + ".digest":
        side = gapline.report(of, of)[1]["fixed"]
        own = {row["name"]: row["own_gpu_ms_per_step"] for row in side["modules"]}
        of = os.path.basename(of)
        for operators, module in COMPILED:
            want = sum(row["ms_per_step"] for row in side["kernels"] if re.match(f"triton.*({operators})", row["name"]))
            table.check(f"{of}: {module}", want > 0.02 and abs(own[module] - want) < 1e-9, own.get(module), want)
        made = sum(row["ms_per_step"] for row in side["kernels"] if row["name"].startswith("triton"))
        share = sum(ms for module, ms in own.items() if module) / made
        table.check(f"{of}: the share of these kernels that is known", 0.75 < share < 0.76, share)
        table.check(f"{of}: all others are in no module", abs(sum(own.values()) - sum(row["ms_per_step"] for kind in
                    ("kernels", "copies") for row in side[kind])) < 1e-9)


def with_module_ranges(path, modules, kernels=5):
    """A step's kernels of 100 us by the module, its own ranges and those around them, in which each is launched; None: in none."""
    tiny_profile.write(path, steps=20, kernels=kernels)
    with contextlib.closing(sqlite3.connect(path)) as db:
        calls = db.execute("SELECT start, end, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IN (SELECT correlationId "
                           "FROM CUPTI_ACTIVITY_KIND_KERNEL) ORDER BY start").fetchall()
        for k, (start, end, thread) in enumerate(calls):
            for text in modules[k % kernels]:
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?, NULL, NULL, 0)", (start, end, text, thread))
        db.commit()


def check_ranges(table, gapline, folder):
    """What --annotate modules writes around forward passes of eager programs: the innermost module of a launch has the time."""
    net, block, attention = (f"gapline: module GPT{end}" for end in ("", ".layers.*", ".layers.*.attn"))
    inside = [[net, block, attention], [net, block, attention], [net, block], ["gapline: module "], []]
    paths = [os.path.join(folder, f"ranges{end}") for end in (".sqlite", ".digest")]
    with_module_ranges(paths[0], inside)
    gapline.run("digest", paths[0], "-o", paths[1])
    for path in paths:
        name, side = os.path.splitext(path)[1], gapline.report(path, path)[1]["baseline"]
        seen = {row["name"]: (round(row["gpu_ms_per_step"], 9), round(row["own_gpu_ms_per_step"], 9)) for row in side["modules"]}
        want = {"GPT": (0.3, 0), "GPT.layers": (0.3, 0), "GPT.layers.*": (0.3, 0.1), "GPT.layers.*.attn": (0.2, 0.2), None: (0.2, 0.2)}
        table.check(f"ranges of modules, {name}", seen == want, seen, want)
        table.check(f"ranges of modules, {name}: the share that is known", side["modules_known_share"] == 0.6, side["modules_known_share"])
        seen = sorted({row["name"] for row in side["nvtx"]} - {"gapline: module "})
        table.check(f"ranges of modules, {name}: they are called as the modules", seen[:3] == ["GPT", "GPT.layers.*", "GPT.layers.*.attn"]
                    and not any(row.startswith("gapline: m") for row in seen), seen)
    page = gapline.report(paths[0], paths[0])[2]
    table.check("ranges of modules: the page says the share", b"The module is known for 60" in page)
    others = [os.path.join(folder, f"why-ranges-{side}.sqlite") for side in ("baseline", "fixed")]
    with_module_ranges(others[0], [[net, attention]] * 9 + [[net]], 10)
    with_module_ranges(others[1], [[net, attention], [net]], 2)
    with contextlib.closing(sqlite3.connect(others[1])) as db:  # other kernels: no name is on both sides
        db.execute("UPDATE StringIds SET value = 'flash_' || value WHERE id IN (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL)")
        db.commit()
    seen = [part["module"] for part in gapline.report(*others)[1]["verdict"]["why"]["parts"] if part["kind"] == "compute"]
    table.check("ranges of modules: why names the module", seen == ["GPT.layers.*.attn"], seen)


def made_by(path, marks, names=("a_0", "b_1"), kernels=5):
    """The first of a step's kernels of 100 us are torch.compile's."""
    tiny_profile.write(path, steps=20, kernels=kernels)
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = [row for row, in db.execute("SELECT rowid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")]
        for k, name in enumerate(names):
            db.execute("INSERT INTO StringIds SELECT max(id) + 1, ? FROM StringIds", ("triton_poi_fused_" + name,))
            db.executemany("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET (shortName, demangledName) = (SELECT max(id), max(id) FROM StringIds) "
                           "WHERE rowid = ?", [(row,) for row in rows[k::kernels]])
        thread, = db.execute("SELECT max(globalTid) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
        for text, process in marks:
            db.execute("INSERT INTO NVTX_EVENTS VALUES (2000000, NULL, 34, NULL, ?, ?, NULL, NULL, 0)", (text, thread + (process << 24)))
        db.commit()


def check_marks(table, gapline, folder):
    """Marks that another process made, that say two modules of a name, or that are cut, give nothing."""
    a, b = ("gapline: kernel triton_poi_fused_" + end for end in ("a_0 Net/Block", "b_1 Net"))
    for what, marks, want in (("one", [(a, 0)], {"Net": 0, "Net/Block": 0.1, None: 0.4}),
                              ("two", [(a, 0), (b, 0)], {"Net": 0.1, "Net/Block": 0.1, None: 0.3}),
                              ("twice the same", [(a, 0), (a, 0)], {"Net": 0, "Net/Block": 0.1, None: 0.4}),
                              ("two modules of a name", [(a, 0), (a + "/MLP", 0), (a, 0), (b, 0)], {"Net": 0.1, None: 0.4}),
                              ("of another process", [(a, 1), (b, 0)], {"Net": 0.1, None: 0.4}),
                              ("cut", [("gapline: kernel triton_poi_fused_a_0", 0), ("gapline: kernel ", 0), ("gapline: kernel  x", 0)], {})):
        path = os.path.join(folder, f"{what}.sqlite")
        made_by(path, marks)
        side = gapline.report(path, path)[1]["baseline"]
        seen = {row["name"]: round(row["own_gpu_ms_per_step"], 9) for row in side["modules"]}
        table.check(f"marks: {what}", seen == want, seen, want)
    paths = [os.path.join(folder, f"why-compiled-{side}.sqlite") for side in ("baseline", "fixed")]
    made_by(paths[0], [(a, 0)], 5 * ["a_0"])
    made_by(paths[1], [(b + "/Block", 0)], ["b_1"], 1)
    document = gapline.report(*paths)[1]
    seen = [[row["name"] for row in document[side]["modules"]] for side in ("baseline", "fixed")]
    table.check("marks: a module on both sides", seen == 2 * [["Net", "Net/Block"]], seen)
    seen = [part["module"] for part in document["verdict"]["why"]["parts"] if part["kind"] == "compute"]
    table.check("marks: why names no module, for they say nothing of other kernels", seen == [None], seen)


if __name__ == "__main__":
    sys.exit(check_made("gapline-operators-", check_operators, check_modules, check_why, check_work, check_memory, check_xla, check_compiled, check_marks, check_ranges))
