#!/usr/bin/env python3
"""In which module and at which line findings say that most of their time is, against made programs worked out by hand.

    check_places.py [GAPLINE]
"""
import contextlib
import json
import os
import sqlite3
import sys

from check_captures import check_made

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import tiny_profile
import tiny_samples

STEPS = 20


def report(gapline, path, *options):
    """The JSON, with facts as they are, and the page."""
    out = [path + end for end in (".html", ".out.json")]
    gapline.run("report", path, path, "-o", out[0], "--json", out[1], *options)
    with open(out[0], "rb") as page, open(out[1], encoding="utf-8") as document:
        return json.load(document), page.read()


def placed(document):
    """By finding: the module and the line of the baseline, each with its share to a tenth of a percent."""
    out = {}
    for finding in document["findings"]:
        facts = {fact["id"]: fact for fact in finding["more"] if fact["id"] in ("in_module", "at_line")}
        module, line = (facts.get(key, {}).get("params", {}) for key in ("in_module", "at_line"))
        out[finding["id"]] = (module.get("time"), module.get("module"), module and round(module["share"], 3),
                              line.get("time"), line and f"{line['file']}:{line['line']} {line['function']}", line and round(line["share"], 3))
    return {key: tuple(value or None for value in values) for key, values in out.items()}


# ---- ranges that --annotate modules adds ----


def annotated(path, ranges):
    """A step's GPU waits 406 us: 3 until the host is back from its synchronisation, 400 for the host, 2 for a launch and 1
    until it begins. `ranges`: of modules, from when to when in the host's 400 us. Its launches are in Net and Net.encode: 2 us."""
    tiny_profile.write(path, steps=STEPS, jitter=0)
    with contextlib.closing(sqlite3.connect(path)) as db:
        thread, = db.execute("SELECT max(globalTid) FROM NVTX_EVENTS").fetchone()
        add = "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, ?, ?, NULL, NULL, 0)"
        for start, in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step'").fetchall():
            db.executemany(add, [(start + 1000 * a, start + 1000 * b, f"gapline: module {name}", thread) for name, a, b in ranges])
        for start, end in db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = 3").fetchall():
            db.executemany(add, [(start, end, f"gapline: module {name}", thread) for name in ("Net", "Net.encode")])
        db.commit()


def check_waits(table, gapline, folder):
    for what, ranges, want in (("most of it", [("Net", 50, 350), ("Net.encode", 100, 310)], ("Net.encode", round(212 / 406, 3))),
                               ("of those around it", [("Net", 50, 350), ("Net.encode", 100, 300)], ("Net", round(302 / 406, 3))),
                               ("a third", [("Net", 0, 20), ("Net.encode", 50, 184)], ("Net", round(156 / 406, 3))),
                               ("less than a third", [("Net", 0, 20), ("Net.encode", 50, 160)], (None, None))):
        path = os.path.join(folder, f"{what}.sqlite")
        annotated(path, ranges)
        gapline.run("digest", path, "-o", path + ".digest")
        for of in path, path + ".digest":
            seen = placed(report(gapline, of)[0])
            table.check(f"waits: {what}, {of[-6:]}", len(seen) == 1 and [value[1:3] for value in seen.values()] == [want], seen, want)


# ---- functions and modules that PyTorch's profiler notes ----


class Traced:
    """`steps` of 2000 us under the PyTorch profiler, filled by the functions below."""

    def __init__(self):
        self.events, self.correlation = [], 0

    def event(self, cat, name, start, end, tid=9, pid=9, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": end - start, "args": args})

    def frame(self, name, start, end):
        self.event("python_function", name, start, end)

    def kernel(self, call, start, end, thread=9):
        self.correlation += 1
        self.event("cuda_runtime", "cudaLaunchKernel", call, call + 8, thread, correlation=self.correlation)
        self.event("kernel", f"kernel_{end - start}", start, end, 7, 0, device=0, stream=7, correlation=self.correlation)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": self.events}, file)
        return path


def waiting(decodes):
    """The GPU waits 1400 us a step, 1392 of them for the host: 292 behind the model in main, 1000 in load, of which `decodes` in
    decode, and 100 in the model's first Linear, below PyTorch's own functions; then 8 in a launch. The model waits little."""
    t = Traced()
    t.frame("/home/u/train.py(1): <module>", 0, 10_000 + 2000 * STEPS)
    t.frame("/home/u/train.py(30): main", 1, 10_000 + 2000 * STEPS - 1)
    for step in range(STEPS):
        at = 10_000 + 2000 * step
        t.event("user_annotation", f"ProfilerStep#{step}", at, at + 1990)
        t.frame("/home/u/train.py(12): load", at, at + 1000)
        t.frame("/home/u/data.py(5): decode", at + 100, at + 100 + decodes)
        t.frame("/usr/lib/python3/dist-packages/torch/nn/modules/module.py(1747): _call_impl", at + 1000, at + 1600)
        t.frame("nn.Module: Net_0", at + 1001, at + 1599)
        t.frame("nn.Module: Linear_0", at + 1002, at + 1300)
        t.frame("nn.Module: Linear_1", at + 1301, at + 1598)
        t.kernel(at + 1100, at + 1110, at + 1310)
        t.kernel(at + 1300, at + 1310, at + 1710)
    return t


def seldom():
    """The GPU waits 1400 us a step, 640 of them in main and 620 in load, which it calls; nothing says where the rest is."""
    t = Traced()
    for step in range(STEPS):
        at = 10_000 + 2000 * step
        t.event("user_annotation", f"ProfilerStep#{step}", at, at + 1990)
        t.frame("/home/u/train.py(30): main", at, at + 640)
        t.frame("/home/u/train.py(12): load", at + 10, at + 630)
        t.kernel(at + 1100, at + 1110, at + 1310)
        t.kernel(at + 1300, at + 1310, at + 1710)
    return t


def computing(attention):
    """Kernels run for 1900 us of each step of 2000, launched ahead: `attention` of them in the model's attention, 300 in its Linear,
    and the rest behind it, by a thread that notes no functions: the one that backward runs on."""
    t = Traced()
    for step in range(STEPS):
        at = 10_000 + 2000 * step
        t.event("user_annotation", f"ProfilerStep#{step}", at, at + 1990)
        t.frame("model.py(40): forward", at, at + 600)
        t.frame("nn.Module: Net_0", at + 1, at + 599)
        t.frame("model.py(9): attend", at + 2, at + 300)
        t.frame("nn.Module: Attention_3", at + 3, at + 299)
        t.frame("nn.Module: Linear_5", at + 301, at + 500)
        t.frame("train.py(20): loss", at + 700, at + 900)
        first, second = at + 60 + attention, at + 360 + attention
        t.kernel(at + 50, at + 60, first)
        t.kernel(at + 350, first, second)
        t.kernel(at + 750, second, at + 1960, thread=10)
    return t


def check_lines(table, gapline, folder):
    """Waiting for load, for decode, or where none has half for the inner one of two that have nearly as much."""
    for what, made, want in (("load", waiting(600), ("train.py:12 load", round(1000 / 1400, 3))),
                             ("called", seldom(), ("train.py:12 load", round(620 / 1400, 3))),
                             ("decode", waiting(800), ("data.py:5 decode", round(800 / 1400, 3)))):
        path = made.write(os.path.join(folder, f"{what}.json"))
        gapline.run("digest", path, "-o", path + ".digest")
        for of in path, path + ".digest":
            document, page = report(gapline, of, "--warmup", "0")
            seen = placed(document)
            got = seen.get("host_work")
            table.check(f"lines: {what}, {of[-6:]}", got and got[1:3] == (None, None) and got[3] == "idle" and got[4] == want[0] and
                        abs(got[5] - want[1]) < 0.006, seen, want)
    table.check("lines: on the page", b"of this time is in" in page and b"(data.py:5)" in page)


def check_launched(table, gapline, folder):
    """Most kernels are of one module, of one that holds others, or of none that has a third."""
    for what, attention, module, line in (("attention", 1000, ("Net/Attention", 1000), ("model.py:9 attend", 1000)),
                                          ("network", 800, ("Net", 1100), ("model.py:40 forward", 1100)),
                                          ("behind it", 300, (None, None), ("train.py:20 loss", 1300))):
        path = computing(attention).write(os.path.join(folder, f"{what}.json"))
        document, _ = report(gapline, path, "--warmup", "0")
        got = placed(document).get("gpu_bound")
        want = ("kernels" if module[0] else None, module[0], module[1] and round(module[1] / 1900, 3),
                "kernels", line[0], round(line[1] / 1900, 3))
        table.check(f"launched: {what}", got == want, got, want)


# ---- functions that gapline samples ----


def sampled(path, decode, moved=0, every=1_000_000):
    """Of 10 ms a step that the host takes, `decode` are in decode, 2 in fetch and the rest in tokenise."""
    tiny_profile.write(path, steps=100, load=10_000_000, jitter=0)
    tiny_samples.add(path, [(name, f"data.py:{line + moved}", 1_000_000 * ms)
                            for name, line, ms in (("decode", 5, decode), ("fetch", 40, 2), ("tokenise", 70, 8 - decode))], every)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL)")
        db.execute("INSERT INTO GAPLINE_CAPTURE VALUES ('sample_ns', ?)", (str(every),))
        db.commit()
    return path


def check_sampled(table, gapline, folder):
    """The line in which samples are, and functions that are the same ones where lines before them were added."""
    for decode, want in ((6, ("data.py:5 decode", 0.6)), (3, ("data.py:70 tokenise", 0.5))):
        document, _ = report(gapline, sampled(os.path.join(folder, f"sampled-{decode}.sqlite"), decode))
        got = [value for value in placed(document).values() if value[4]]
        table.check(f"sampled: {want[0]}", got and all(value[3:5] == ("idle", want[0]) and abs(value[5] - want[1]) < 0.03 for value in got),
                    got, want)
    paths = [os.path.join(folder, "sampled-6.sqlite"), sampled(os.path.join(folder, "moved.sqlite"), 6, 3)]
    document = gapline.report(*paths)[1]
    seen = {(row["name"], row["module"]): row["baseline"]["self_ms"] > 0 and row["fixed"]["self_ms"] > 0
            for row in document["functions"]["functions"] if row["module"] == "data.py"}
    table.check("sampled: functions have no line of their own", seen == {(name, "data.py"): True for name in ("decode", "fetch", "tokenise")}, seen)
    seen = placed(report(gapline, sampled(os.path.join(folder, "few.sqlite"), 8, every=70_000_000))[0])
    table.check("sampled: of fewer than twenty samples nothing is said", seen and not any(value[4] for value in seen.values()), seen)


if __name__ == "__main__":
    sys.exit(check_made("gapline-places-", check_waits, check_lines, check_launched, check_sampled))
