#!/usr/bin/env python3
"""What a change is said to be, of programs whose change is known: kernels that run at once, that are shorter, or that
calculate in 16 bits, and those that graphs hide; a clock, or what is none; work that other ranks may do; a pause every so many steps; a list that is
made half as often; or one loop of two.

    check_reasons.py GAPLINE
"""
import contextlib
import html
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import made_host  # noqa: E402
import made_program  # noqa: E402
import tiny_job  # noqa: E402
import tiny_profile  # noqa: E402
from by_hand import check, near, report  # noqa: E402


def write(path, at_once, length=50_000, seed=1, blocks=None, names=("left", "right")):
    """80 times ten kernels of 50 us on each of two streams; not at once, each waits for the one of the other stream."""
    program = made_program.Program(random.Random(seed))
    for _ in range(80):
        program.copy(1, 400_000)
        for name, stream in tuple(zip(names, (7, 8))) * 10:
            if not at_once:
                program.free[stream] = max(program.free.values())
            program.kernel(name, stream, length)
        program.copy(2, 4000)
        program.wait()
        program.step()
    made_program.write(path, [program])
    if blocks is not None:  # else nobody recorded them whole
        say_blocks(path, blocks)


def say_blocks(path, blocks):
    with contextlib.closing(sqlite3.connect(path)) as db:
        for column, value in ("gridY", 1), ("gridZ", 1), ("blockY", 1), ("blockZ", 1):
            db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER DEFAULT {value}")
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = ?", (blocks,))
        db.commit()


def computes(doc):
    return next(part for part in doc["verdict"]["why"]["parts"] if part["kind"] == "compute")


def streams_overlap(folder):
    write(folder / "base.sqlite", False)
    write(folder / "fixed.sqlite", True, seed=2)
    _, doc, text, _, page = report(folder)
    check(doc["verdict"]["result"] == "faster" and "as more kernels run at once (1.00 " in text, text)
    check("as more kernels run at once" in page, "the page says it")
    near(computes(doc).get("baseline_kernels_at_once"), 1, "one at a time")
    check(1.8 < computes(doc)["fixed_kernels_at_once"] <= 2, "two at once:", computes(doc))


def streams_wait(folder):
    write(folder / "base.sqlite", True)
    write(folder / "fixed.sqlite", False, seed=2)
    check("as fewer kernels run at once" in report(folder)[2], "the other way round")


def kernels_are_shorter(folder):
    write(folder / "base.sqlite", True)
    write(folder / "fixed.sqlite", True, length=30_000, seed=2)
    _, doc, text, *_ = report(folder)
    check(computes(doc)["baseline_kernels_at_once"] is None and "at once" not in text, text)


def streams_could_overlap(folder):
    """Of a few blocks each, on a GPU whose SMs nobody counted."""
    write(folder / "base.sqlite", False, blocks=4)
    write(folder / "fixed.sqlite", True, blocks=4, seed=2)
    found = next(f for f in report(folder)[1]["findings"] if f["id"] == "gpu_bound")
    check("They are on 2 streams, and on average 1.00 run at once" in found["text"] and "only faster" not in found["text"].partition("Fixed side")[0], found["text"])
    check("Let the streams run at once" in found["advice"], found["advice"])


def halves_are_said(folder):
    """One of the two kinds of kernels, half of the time, in bfloat16."""
    write(folder / "base.sqlite", True, names=("gemm_f32", "relu"))
    write(folder / "fixed.sqlite", True, names=("gemm_bf16", "relu"), seed=2)
    said = "In the fixed side, 16-bit kernels (by their names) take 50 % of the kernels' time, in the baseline hardly any"
    check(said in " ".join(report(folder)[2].split()), said)
    (folder / "fixed.sqlite").unlink()
    write(folder / "fixed.sqlite", True, names=("gemm_f32_other", "relu"), seed=2)
    check("16-bit" not in report(folder)[2], "nothing of 16 bits")


def twice(program, seed, **how):
    """60 steps: the same kernels in the encoder, and in the decoder."""
    host = made_host.Host(seed)
    for _ in range(60):
        host.begin("step")
        host.copy(1, 1 << 20)
        for phase in "encoder", "decoder":
            host.begin(phase)
            program(host, phase, **how)
            host.end()
        host.finish(4)
    return host


def longer(host, phase, **times):
    for _ in range(4):
        for kernel, us in ("gemm", 90), ("attention", 60), ("norm", 20):
            host.kernel(f"{kernel}(float*)", us * times.get(phase, 1) * 1000)


def on_gpus(host, phase, each=(1, 1)):
    for device, times in enumerate(each):
        longer(host, phase, **{phase: times})
        rows = host.rows["KERNEL"]
        rows[-12:] = [(*row[:2], device, *row[3:]) for row in rows[-12:]]


def of_streams(host, phase, streams=1, times=1.0):
    for i in range(12):
        host.kernel("left(float*)" if i % 2 else "right(float*)", 60_000 * times, 64, 7 + i % streams)
    host.free = dict.fromkeys((7, 8), max(host.free.values()))


def what_is_no_clock(folder):
    """Kernels of one clock are longer everywhere: not in one phase, not on one GPU, and not where more run at once."""
    clock = "as with a lower clock"
    for what, program, before, after, is_clock in (
        ("all", longer, {"encoder": 1.25, "decoder": 1.25}, {}, True),
        ("one phase", longer, {"encoder": 1.5}, {}, False),
        ("one longer, one shorter", longer, {"encoder": 1.6, "decoder": 0.9}, {}, False),
        ("one GPU", on_gpus, {"each": (1, 1.3)}, {}, False),
        ("both GPUs", on_gpus, {"each": (1.3, 1.3)}, {}, True),
        ("at once", of_streams, {"streams": 2, "times": 1.3}, {}, False),
        ("at once, all", of_streams, {"streams": 2, "times": 1.3}, {"streams": 2}, True),
    ):
        for sides in ("base", "fixed"), ("fixed", "base"):
            twice(program, 1, **before).write(folder / f"{sides[0]}.sqlite")
            twice(program, 2, **after).write(folder / f"{sides[1]}.sqlite", made_host.STARTED + 60 * 10**9)
            doc = report(folder)[1]
            check((clock in " ".join(doc["verdict"]["notes"])) == is_clock, what, sides, doc["verdict"]["notes"])
            check((doc["verdict"]["same_work"] == "same") == is_clock, what, sides, doc["verdict"]["same_work"])


def a_slow_rank_that_went(folder):
    """A rank that took 1.4 times as long, and has none on the other side, makes the mean of all GPUs longer: by no clock."""
    tiny_job.write(folder / "base.sqlite", ranks=4, steps=60, layers=24, slow=3, more=1.4, longer=(tiny_job.FORWARD, tiny_job.BACKWARD))
    tiny_job.write(folder / "fixed.sqlite", ranks=3, steps=60, layers=24, seed=2)
    verdict = report(folder)[1]["verdict"]
    check(not any("lower clock." in s and s.startswith("All kernels") for s in verdict["notes"] + verdict["differences"]), verdict["notes"])
    check(any("2 kernels have as many launches but another length" in s for s in verdict["notes"]), verdict["notes"])


def spares_one(host, phase, times=1.0):
    """A short kernel takes as long at any clock: 3.5 % of the others' time."""
    longer(host, phase, **{phase: times})
    host.kernel("wait_for_memory(float*)", 24_000)


def both_ways_as_far(folder):
    """How far a kernel is from what all others have in common is the same, whichever side comes first."""
    twice(spares_one, 1, times=1.5).write(folder / "base.sqlite")
    twice(spares_one, 2).write(folder / "fixed.sqlite", made_host.STARTED + 60 * 10**9)
    one = report(folder)[1]["verdict"]
    (folder / "base.sqlite").rename(folder / "x")
    (folder / "fixed.sqlite").rename(folder / "base.sqlite")
    (folder / "x").rename(folder / "fixed.sqlite")
    other = report(folder)[1]["verdict"]
    check(one["same_work"] == other["same_work"], one["same_work"], other["same_work"])


def kernels_are_steady(folder):
    """That a clock may be why makes the interval wide, where kernels take as long in every step; more steps do not help."""
    for varies in False, True:
        for seed, side, times in (1, "base", 1 if varies else 1.43), (2, "fixed", 1):
            host = made_host.Host(seed)
            for _ in range(60):
                host.begin("step")
                host.copy(1, 1 << 16)
                longer(host, "step", step=times * (host.rng.uniform(0.4, 1.6) if varies else 1))
                host.finish(4)
            host.write(folder / f"{side}.sqlite", made_host.STARTED + seed * 60 * 10**9)
        _, doc, text, *_ = report(folder)
        check(doc["verdict"]["result"] == "inconclusive", text)
        check(("Kernel time varies from step to step" in " ".join(text.split())) == varies, varies, text)


def work_of_other_ranks(folder):
    """Of several ranks one updates a third of the weights and gathers the rest, or multiplies halves and sums them up: its
    profile does not show that the others do what it has left. Without a collective more, the work is gone."""
    collective = "ncclDevKernel_{}_Sum_bf16_RING_LL(P)"
    def side(name, updates=12, blocks=2048, gathers=0, sums=0):
        host = made_host.Host(len(name))
        for _ in range(60):
            host.begin("step")
            host.copy(1, 1 << 20)
            for layer in range(4):
                for kernel, share in ("gemm(float*)", 8), ("attention(float*)", 2):
                    host.kernel(kernel, 300_000 * share // 8 * blocks // 2048, blocks * share // 8)
                for _ in range(sums):
                    host.kernel(collective.format("AllReduce"), 60_000, 24)
            host.kernel(collective.format("ReduceScatter"), 200_000, 24)
            for _ in range(updates):
                host.kernel("adam(float*)", 25_000, 320)
            for _ in range(gathers):
                host.kernel(collective.format("AllGather"), 100_000, 24)
            host.finish(4)
        host.write(folder / f"{name}.sqlite", made_host.STARTED + len(name) * 60 * 10**9)

    for less, full, name in ("fixed", "base", "the fixed side"), ("base", "fixed", "the baseline"):
        side(full)
        for how, others in (
            (dict(updates=4, gathers=1), "Other ranks may do its work"),
            (dict(updates=4), None),
            (dict(blocks=1024, sums=1), "Other ranks may do the rest"),
            (dict(blocks=1024), None),
        ):
            side(less, **how)
            v = report(folder)[1]["verdict"]
            said = " ".join(v["differences"])
            check(v["same_work"] == ("unknown" if others else "different"), how, v["same_work"], said)
            check(f"{others}: {name} has more collectives" in said if others else "Other ranks" not in said, how, said)


def graphs_hide_kernels(folder):
    """All kernels but one became a graph that was traced whole: it runs them, and what they calculate with is unknown."""
    for side, graph in ("base", False), ("fixed", True):
        program = made_program.Program(random.Random(graph))
        for _ in range(80):
            program.copy(1, 400_000)
            program.kernel("relu", length=50_000)
            if graph:
                program.graph(1, 10 * 50_000)
            for _ in range(0 if graph else 10):
                program.kernel("gemm_bf16", length=50_000)
            program.copy(2, 4000)
            program.wait()
        made_program.write(folder / f"{side}.sqlite", [program])
    text = " ".join(report(folder)[2].split())
    check("1 kernel runs outside CUDA graphs only in the baseline: 0.5" in text and "16-bit" not in text, text)


def runs_ask_for_runs(folder):
    """Nothing repeats: only whole runs can be timed."""
    for side, load in ("base", 40_000_000), ("fixed", 20_000_000):
        tiny_profile.write(folder / f"{side}.sqlite", steps=3, kernels=1, load=load, nvtx=False)
    text = " ".join(report(folder)[2].split())
    check(text.startswith("Inconclusive") and "next Whole runs, without a profiler: gapline run" in text, text)


def pauses_are_a_share(folder):
    """88 steps of 1 ms, of which five take 100 ms: those are 495 ms more of 583, fewer than one in 15 would be."""
    for side, pause in ("base", 100), ("fixed", 1):
        loads = [(pause if i % 15 == 14 else 1) * 1_000_000 for i in range(88)]
        tiny_profile.write(folder / f"{side}.sqlite", kernel=1000, jitter=1000, steps=88, loads=loads)
    said = re.search(r"every 15th step of the baseline takes [0-9.]+ ms longer \((\d+) % of its time\)", " ".join(report(folder)[2].split()))
    check(said and abs(int(said[1]) - 100 * 495 / 583) <= 1, "a share of", said and said[0])


def launches_of_one_size(folder):
    """18 launches of 20 are left, each of as many blocks as before; or of some more, in as much time."""
    def side(name, times, blocks, steps=80):
        path = folder / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        program = made_program.Program(random.Random(times))
        for _ in range(steps):
            program.copy(1, 400_000)
            for _ in range(times):
                program.kernel("trace", length=60_000)
            program.copy(2, 4000)
            program.wait()
        made_program.write(path, [program])
        say_blocks(path, blocks)

    side("base", 20, 100)
    for blocks, more in (100, False), (115, True):
        side("fixed", 18, blocks)
        text = " ".join(report(folder)[2].split())
        check("18 times per step in the fixed side instead of 20" in text, text)
        check(("Its launches do more there, on average" in text) == more, text)
    side("base", 20, 100, 400)
    side("fixed", 18, 100, 444)  # by chance as often in all: steps that are nearly as large are one unit
    text = report(folder)[2]
    check(text.startswith("Faster 1.11") and "as often overall" not in text, text)


def launches_that_take_longer(folder):
    """Of six layers five are left, whose launches do as much as before: a clock that makes all kernels longer does not say that they
    do more, and other kernels beside them only that they take longer."""
    def side(name, layers, layer=1.0, clock=1.0):
        host = made_host.Host(len(name))
        for _ in range(60):
            host.begin("step")
            host.copy(1, 1 << 20)
            for _ in range(layers):
                host.kernel("gemm(float*)", 200_000 * layer * clock, 1024)
                host.kernel("norm(float*)", 40_000 * layer * clock, 256)
            for _ in range(6):
                host.kernel("adam(float*)", 30_000 * clock, 320)
                host.kernel("clip(float*)", 20_000 * clock, 320)
            host.finish(4)
        host.write(folder / f"{name}.sqlite", made_host.STARTED + len(name) * 60 * 10**9)

    for less, full in ("fixed", "base"), ("base", "fixed"):
        side(full, 6)
        for how, work, said in ((dict(clock=1.15), "different", "Nothing runs in its place"), (dict(layer=1.6), "unknown", "Its launches take longer there, on average")):
            side(less, 5, **how)
            v = report(folder)[1]["verdict"]
            check(v["same_work"] == work and any(s.startswith("gemm runs 5 times") and said in s for s in v["differences"]), less, how, v["same_work"], v["differences"])


def a_kernel_that_joined_another(folder):
    """Random numbers are made by the kernel that uses them, which takes longer for it; where it does not, nothing makes them, nor where
    all kernels take longer as with a lower clock."""
    def side(name, made, uses=200_000, clock=1.0):
        host = made_host.Host(len(name))
        for _ in range(60):
            host.begin("step")
            host.copy(1, 1 << 19)
            for _ in range(8):
                for kernel, ns in (("random(float*)", 90_000),) * made + (("walk(float*)", uses),):
                    host.kernel(kernel, ns * clock, 1024)
            for kernel in "sum(float*)", "sort(float*)":
                host.kernel(kernel, 300_000 * clock, 64)
            host.finish(64)
        host.write(folder / f"{name}.sqlite", made_host.STARTED + len(name) * 60 * 10**9)

    for less, full in ("fixed", "base"), ("base", "fixed"):
        side(full, True)
        for how, work, said in (
            (dict(uses=240_000), "unknown", "Kernels beside it take longer"),
            (dict(uses=205_000), "different", "Nothing runs in its place"),
            (dict(clock=1.25), "different", "Nothing runs in its place"),
        ):
            side(less, False, **how)
            v = report(folder)[1]["verdict"]
            check(v["same_work"] == work and any("runs random, 8 times" in s and said in s for s in v["differences"]), less, how, v["same_work"], v["differences"])


def runs_that_differ(folder):
    """Steps are alike in each run, and one run of three is slower: that, and not how steps spread, is why a typical step says
    something else than the mean."""
    for seed, side, slow in (1, "base", 1), (4, "fixed", 1.6):
        (folder / f"{side}.sqlite").mkdir()
        for run in range(3):
            host = made_host.Host(seed + run)
            for _ in range(60):
                host.begin("step")
                host.copy(1, 1 << 16)
                longer(host, "step", step=slow if run == 1 else 1)
                host.finish(4)
            host.write(folder / f"{side}.sqlite" / f"{run}.sqlite", made_host.STARTED + (2 * run + seed % 2) * 60 * 10**9)
    text = " ".join(report(folder)[2].split())
    check("The runs of the fixed side differ: 0.7" in text and "Steps spread" not in text, text)


def graphs_both_ways(folder):
    """Twenty kernels became a graph that was traced whole, and three run now and then: that fewer are launched differs both ways."""
    for seed, side in (1, "base"), (2, "fixed"):
        host = made_host.Host(seed)
        for _ in range(200):
            host.begin("step")
            host.copy(1, 4000)
            for _ in range(3 if host.rng.random() < 0.2 else 0):
                host.kernel("prefill(float*)", 80_000)
            if side == "fixed":
                host.graph(1, 600_000)
            for _ in range(0 if side == "fixed" else 20):
                host.kernel("decode(float*)", 30_000)
            host.kernel("sample(float*)", 30_000)
            host.finish(4)
        host.write(folder / f"{side}.sqlite", made_host.STARTED + seed * 60 * 10**9)
    for _ in range(2):
        differences = report(folder)[1]["verdict"]["differences"]
        check(any(s.startswith("Kernel launches per step") for s in differences), differences)
        (folder / "base.sqlite").rename(folder / "x")
        (folder / "fixed.sqlite").rename(folder / "base.sqlite")
        (folder / "x").rename(folder / "fixed.sqlite")


def a_list_made_half_as_often(folder):
    """840 steps that read nothing back, and a list for 20 or for 40 of them: those are what repeats, and the slower one
    is of the program that ends sooner."""
    own = {}
    for name, every in ("base", 20), ("fixed", 40):
        program = made_program.Program(random.Random(every))
        began = program.now
        for i in range(840):
            if i % every == 0:
                program.kernel("cells", length=3_600_000)
                program.copy(2, 4000)
                program.wait()
            program.kernel("force", length=40_000)
            program.kernel("move", length=10_000)
            program.kernel("move", length=10_000)
            if i % 10 == 9:
                program.copy(2, 4000)
                program.wait()
        own[name] = program.now - began
        made_program.write(folder / f"{name}.sqlite", [program])
    _, doc, text, *_ = report(folder)
    text = " ".join(text.split())
    check(doc["verdict"]["result"] == "inconclusive" and doc["verdict"]["same_work"] == "unknown", text)
    check("force runs 20 times per repetition in the baseline and 40 times in the fixed side, but as often overall" in text, text)
    whole = re.search(r"Iteration counts differ \(42, 21\)\. If all of them are one job on each side, its speedup as profiled is ([0-9.]+)×", text)
    check(whole and abs(float(whole[1]) / (own["base"] / own["fixed"]) - 1) < 0.02, "of the whole", whole and whole[0], own)


def two_loops(folder):
    """Training, and inference that is twice as fast: of 59 and 42 % of the work, and the whole is 1.4 times as fast."""
    own = {}
    for name, length in ("base", 400_000), ("fixed", 200_000):
        program = made_program.Program(random.Random(length))
        began = program.now
        for _ in range(120):
            for _ in range(6):
                program.kernel("train", length=300_000)
                program.kernel("scale", length=40_000)
            program.kernel("loss", length=40_000)
            program.copy(2, 4)
            program.wait()
        for _ in range(300):
            for _ in range(3):
                program.kernel("infer", length=length)
            program.copy(2, 4)
            program.wait()
        own[name] = program.now - began
        made_program.write(folder / f"{name}.sqlite", [program])
    _, doc, *texts = report(folder)
    for said in texts:
        whole = re.search(r"This is the speedup of one loop: 59 % of the GPU's work in the baseline, 42 % in the fixed side\. All loops together as profiled: ([0-9.]+)×", " ".join(html.unescape(said).split()))
        check(whole and abs(float(whole[1]) / (own["base"] / own["fixed"]) - 1) < 0.02, "of all loops", whole and whole[0], own)
    check(1.9 < doc["verdict"]["speedup"] < 2, "of the loop:", doc["verdict"]["speedup"])


def frames_that_vary(folder):
    """A ray tracer that stops early: its frames take 11 to 271 us, as the camera turns, where all took 675 to 852. Chance may have
    made all of the difference, so nobody knows that the work is the same."""
    for name, least, turns in ("base", 675, (817, 768, 717, 675, 675, 675, 675, 675, 852, 843, 823, 786)), ("fixed", 11, (229, 183, 134, 38, 11, 11, 11, 11, 271, 262, 223, 100)):
        program = made_program.Program(random.Random(least))
        for i in range(120):
            at, share = divmod(i, 10)
            length = turns[at] + (turns[(at + 1) % 12] - turns[at]) * share / 10
            program.kernel("march", length=round(1000 * length))
            program.copy(2, 8_000_000)
            program.wait()
            program.step()
        made_program.write(folder / f"{name}.sqlite", [program])
        say_blocks(folder / f"{name}.sqlite", 8160)
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["reasons"][0].startswith("Steps vary,") and doc["verdict"]["result"] == "inconclusive", text)
    check(doc["verdict"]["same_work"] == "unknown" and "That may be chance, or more work." in " ".join(text.split()), text)


def kernels_of_two_loops(folder):
    """A renderer that draws in two of three steps beside a simulation, and faster in each of them, is what changed most; the
    simulation's kernel is shorter as it has more of the GPU, and is not named."""
    for name, drawn, length, simulated in ("base", "draw_slow", 420_000, 71_000), ("fixed", "draw_fast", 140_000, 32_000):
        program, spans = made_program.Program(random.Random(length)), []
        for i in range(120):
            begin = program.now
            if name == "fixed" or i % 3 < 2:
                program.kernel(drawn, 8, length)
            for _ in range(3):
                program.kernel("simulate", 7, simulated)
            program.kernel("sum", 7, 12_000)
            program.wait()
            spans.append((begin, program.now, 59, "step", made_program.PID + 77))
            program.step()
        made_program.write(folder / f"{name}.sqlite", [program])
        with contextlib.closing(sqlite3.connect(folder / f"{name}.sqlite")) as db:
            db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)")
            db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?)", spans)
            db.commit()
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["result"] == "faster", text)
    check(computes(doc)["kernel"] is None and "mostly" not in text, text)


by_hand.run([launches_that_take_longer, a_kernel_that_joined_another, runs_that_differ, graphs_both_ways, what_is_no_clock, a_slow_rank_that_went, both_ways_as_far, kernels_are_steady, work_of_other_ranks, kernels_of_two_loops, frames_that_vary, two_loops, a_list_made_half_as_often, launches_of_one_size, streams_overlap, streams_could_overlap, halves_are_said, graphs_hide_kernels, runs_ask_for_runs, pauses_are_a_share, streams_wait, kernels_are_shorter])
