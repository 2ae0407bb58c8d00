#!/usr/bin/env python3
"""Profiles of made-up programs without ranges whose steps are known: what repeats is found, or nothing is claimed.

    check_loops.py GAPLINE [N [KIND ...]]

Every kind in support/made_loops.py, made_mixtures.py, made_solvers.py, made_shapes.py and made_long.py is a way in which programs are built;
N (20) programs of each, two in five of that of the last three, are made from fixed seeds, simulated (a host that launches into streams, devices that work them off), written as exports without NVTX, and shown. The time per step is that of the simulation within 1 % in at least 98 of 100; programs at random have no steps; another number of
iterations of the same steps is said, and no speed. Prints what is missed.

And real ones, tests/cmd/unmarked: scrubbed captures of workloads/programs/pairs.py --plain on an H100, 120 steps, with
what the program's own clock, the device drained, said of the steps from the 20th on (truth.json, ms). Within 1 %; the
fixed cupy program reads nothing back, so that only beside the baseline a step is told from its four iterations.
"""
import gc
import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import facts  # noqa: E402
import made_long  # noqa: E402
import made_mixtures  # noqa: E402, F401
import made_shapes  # noqa: E402
import made_solvers  # noqa: E402
from made_loops import KINDS, body, make, start_up  # noqa: E402
from made_program import Program, write  # noqa: E402
import tiny_profile  # noqa: E402

NEAR, LEAST = 0.01, 0.98
WAITS = ("long_server",)  # for requests, now and then: a report sets aside what show counts


def report(gapline, folder, files, *options):
    out = os.path.join(folder, "report.json")
    run = subprocess.run([gapline, "report", *files, "-o", os.devnull, "--json", out, "--quiet", *options], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"{files}: status {run.returncode}: {run.stderr}")
    with open(out) as f:
        return json.load(f, object_hook=facts.text)


def steps_of(gapline, path, *options):
    """What is said of one program's steps, without a second side: all that the made ones are asked for."""
    run = subprocess.run([gapline, "show", path, "--json", "-", "--quiet", *options], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(f"{path}: status {run.returncode}: {run.stderr}")
    return json.JSONDecoder().raw_decode(run.stdout)[0]["profile"]["steps"]


def check_real(gapline, folder):
    """The captured programs: what is wrong."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unmarked")
    wrong = []
    with open(os.path.join(here, "truth.json")) as f:
        true = json.load(f)
    for pair in ("cupy-baseline", "cupy-fixed"), ("jax-baseline",) * 2, ("compile-fixed",) * 2:
        files = [os.path.join(here, f"{name}.sqlite.gz") for name in pair]
        result = report(gapline, folder, files, "--warmup", "20")
        for name, side in zip(pair, ("baseline", "fixed")):
            steps = result[side]["steps"]
            found = steps["period_ms"]["mean"] if steps["found"] else 0
            print(f"{name:14} {found:9.4f} for {true[name]:9.4f} ms")
            if abs(found / true[name] - 1) > NEAR or steps["origin"] != "pattern":
                wrong.append(f"{name}: {found} for {true[name]}")
    # two programs that hide their kernels in CUDA graphs, and repeat as often
    for pair in ("compile-fixed", "jax-baseline"), ("jax-baseline", "compile-fixed"):
        verdict = report(gapline, folder, [os.path.join(here, f"{name}.sqlite.gz") for name in pair])["verdict"]
        if verdict["result"] != "inconclusive" or verdict["speedup"] is not None:
            wrong.append(f"{pair}: {verdict['result']} {verdict['speedup']}")
    # a stranger's: half the launches are missing, two processes with a GPU each, 24 layers of 29.34 ms
    captures = os.environ.get("GAPLINE_CAPTURES", os.path.join(here, "..", "..", "..", "..", "shared", "captures"))
    public = os.path.join(captures, "public", "GindaChen-nsys-ai-h100_2gpu_1s.sqlite.gz")
    if os.path.exists(public):
        steps = report(gapline, folder, [public, public])["baseline"]["steps"]
        print(f"two GPUs       {steps['period_ms']['mean']:9.4f} for   29.3400 ms")
        if abs(steps["period_ms"]["mean"] / 29.34 - 1) > NEAR:
            wrong.append(f"{public}: {steps['period_ms']['mean']} for 29.34")
    return wrong


def check_programs(gapline, folder):
    """Plain PyTorch programs on an H100, each held against its own clock, the device drained, from so many steps on: one
    of convolutions, compiled, of which Triton's trials are four fifths of the GPU's time; conjugate gradients of as many
    iterations as it takes; a graph's replays, and some steps that run eagerly; and two whose sizes are drawn anew for each
    step, so that it launches other kernels: a training compiled for any size, and products of matrices. What is wrong."""
    here, wrong = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unmarked"), []
    programs = (("compile", 20, 4.34239), ("cg", 5, 1.96445), ("graphs", 20, 0.5916), ("dynamic", 40, 3.40687),
                ("gemms", 50, 3.66933))
    for name, warmup, true in programs:
        path = os.path.join(here, f"programs-{name}.sqlite.gz")
        side = report(gapline, folder, [path, path], "--warmup", str(warmup))["baseline"]
        found = side["steps"]["period_ms"]["mean"] if side["steps"]["found"] else 0
        tried = [loop["trials_share"] for loop in side["loops"] if loop["judged"]]
        print(f"{name:14} {found:9.4f} for {true:9.4f} ms, trials {tried}")
        if abs(found / true - 1) > NEAR or tried != [0] and name != "compile" or tried and name == "compile" and tried[0] < 0.8:
            wrong.append(f"{name}: {found} for {true}, trials {tried}")
    return wrong


def check_startup(gapline, folder):
    """Two captures of a plain training script with convolutions on an H100, cuDNN's search off and on, held against the
    script's own clocks (ms since the process began; its steps, each drained): what is wrong."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unmarked")
    own = {"baseline": {"imported": 3863.5, "context": 4211.0, "step": 5.1158, "first": 605.771, "until": 9674.6},
           "fixed": {"imported": 4812.8, "context": 5184.0, "step": 4.4224, "first": 1308.398, "until": 12468.4}}
    result = report(gapline, folder, [os.path.join(here, f"conv-{name}.sqlite.gz") for name in ("plain", "search")])
    wrong = []
    for side, true in own.items():
        startup, step = result[side]["startup"], result[side]["steps"]["period_ms"]["mean"]
        part = {c["cause"]: c["ms"] for c in startup["causes"]}
        print(f"start-up of {side}: {startup['ms']:.1f} ms, {part}")
        if not true["imported"] < part["before_cuda"] < true["context"] or not startup["whole"]:
            wrong.append(f"start-up of the {side}: imports took {true['imported']}, {startup}")
        if abs(sum(part.values()) - startup["ms"]) > 1e-6 or not true["context"] < startup["ms"] < true["until"]:
            wrong.append(f"start-up of the {side}: {startup}")
        if abs(step / true["step"] - 1) > NEAR:
            wrong.append(f"a step of the {side}: {step} for {true['step']}")
        if not 100 < part.get("module_load", 0) < true["first"]:
            wrong.append(f"start-up of the {side}: modules {part}")
    # all that the first step took longer, but for what cuDNN does before it tries the first one
    search = own["fixed"]["first"] - own["baseline"]["first"]
    found = [{c["cause"]: c["ms"] for c in result[s]["startup"]["causes"]}.get("kernel_search", 0) for s in own]
    if found[0] != 0 or not 0.7 * search < found[1] < search:
        wrong.append(f"cuDNN's search: {found}, the first step took {search} longer")
    return wrong


def check_updates(gapline):
    """PyTorch's example of a variational autoencoder on an H200, with a test after each epoch: 1,974 launches of Adam's
    kernel, seven an update. What varies in a few epochs only is no step in place of those, and no test is in a step: the first
    one of each of the three epochs only says where it begins. What is wrong."""
    here, true = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unmarked"), 1974 // 7
    found = steps_of(gapline, os.path.join(here, "vae.gapline"))["measured"]
    print(f"updates        {found:9} for {true:9}, an epoch's first left out")
    return [] if found == true - 3 else [f"updates: {found} of {true}"]


def check_little(gapline, folder):
    """A real capture in which somebody marked next to nothing: the loss's kernels, 0.1 % of the GPU's time, or the
    model's upload. Its steps stay those that repeat. What is wrong."""
    here, wrong = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unmarked"), []
    for name in "Identity", "model.cuda()":
        path = os.path.join(folder, "little.sqlite")
        with gzip.open(os.path.join(here, "conv-search.sqlite.gz")) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
        db = sqlite3.connect(path)
        launches = db.execute(
            "SELECT r.start, r.end, r.globalTid, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN"
            " CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId) JOIN StringIds s ON s.id = k.shortName ORDER BY 1"
        ).fetchall()
        if name == "Identity":
            rows = [(a - 300, b + 300, f"{name}_{i}", t) for i, (a, b, t, k) in enumerate(launches) if "nll_loss" in k]
        else:
            first, _, thread, _ = launches[0]
            rows = [(first - 10**6 * i, first - 10**6 * i + 900000, name, thread) for i in range(50, 30, -1)]
        db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,"
                   " domainId INTEGER)")
        db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, 0)", rows)
        db.commit()
        db.close()
        steps = report(gapline, folder, [path, path])["baseline"]["steps"]
        if len(rows) < 20 or steps["origin"] != "pattern" or abs(steps["period_ms"]["mean"] / 4.4224 - 1) > NEAR:
            wrong.append(f"{len(rows)} ranges {name} that cover little: {steps}")
        os.remove(path)
    return wrong


def check_phases(gapline, folder):
    """Phases that nobody marked: kinds of work that add up, with the host's time before the kind that it leads to. The
    fixed side's input is ready; its way is another (the copy comes after a memory-less kernel): what is wrong."""
    files, wrong = [], []
    for ready in 0, 1:
        rng = random.Random("phases")
        p = Program(rng)
        start_up(p, rng)
        for _ in range(60):
            if not ready:
                p.host(3 * 10**6)
                p.copy(1, 10**6)
            p.kernel("mark_begin", 7, 2000)
            if ready:
                p.copy(1, 10**6)
            for name in "sgemm_128x64_nn", "my_kernel", "sgemm_64x64_nt", "my_kernel":
                p.kernel(name, 7, 200000)
            p.copy(2, 4)
            p.wait()
        files.append(os.path.join(folder, f"phases-{ready}.sqlite"))
        write(files[-1], [p])
    result = report(gapline, folder, files)
    for side in "baseline", "fixed":
        found, period = result[side], result[side]["budget"]["per_step"]["period"]
        cost = {p["name"]: p["cost_ms_per_step"] for p in found["phases"]}
        if found["phases_are"] != "work" or abs(sum(cost.values()) / period - 1) > 1e-9:
            wrong.append(f"phases of the {side}: {found['phases_are']}, {cost} for {period}")
        for name, true in {"gemm kernels": 0.4, "my_kernel": 0.4}.items():
            if not true - 0.01 <= cost.get(name, 0) <= true + 0.02:
                wrong.append(f"phases of the {side}: {name} costs {cost.get(name)}, {true} expected")
    cost = [{p["name"]: p["cost_ms_per_step"] for p in result[s]["phases"]} for s in ("baseline", "fixed")]
    if not 3 < cost[0]["copies to the device"] < 3.2 or cost[1]["copies to the device"] > 0.1:
        wrong.append(f"phases: input costs {[c['copies to the device'] for c in cost]}")
    for side in "baseline", "fixed":  # what the thread did before the first step adds up to the nanosecond
        startup = result[side]["startup"]
        if startup["ms"] <= 0 or abs(sum(c["ms"] for c in startup["causes"]) - startup["ms"]) > 1e-6:
            wrong.append(f"start-up of the {side}: {startup}")
    if any(part["part"]["phase"] not in (None, "(between phases)") for part in result["waterfall"]):
        wrong.append(f"the waterfall asks for phases that nobody marked: {result['waterfall']}")
    if "different" == result["verdict"]["same_work"]:
        wrong.append("phases: same work: different")
    return wrong


def check_shrinking(gapline, folder):
    """A solver whose iterations have less and less to do, by one law or by another: all of them count. What is wrong."""
    wrong = []

    def solve(name, n, length, power, warm=0):
        p = Program(random.Random(name))
        for i in range(n):
            for kernel in "eliminate", "update":
                p.kernel(kernel, 7, 3000 + length * (power(i / n) if callable(power) else (1 - i / n) ** power) + (length if i < warm else 0))
            p.step()
        path = os.path.join(folder, f"{name}.sqlite")
        write(path, [p])
        return path, (p.ends[-1] - p.ends[0]) / (n - 1)

    slow, slow_step = solve("slow", 900, 400000, 0.4)
    fast, fast_step = solve("fast", 900, 200000, 2)
    again, _ = solve("again", 900, 200000, 2)
    fewer, _ = solve("fewer", 500, 200000, 2)
    verdict = report(gapline, folder, [slow, fast])["verdict"]
    if verdict["result"] != "faster" or abs(verdict["speedup"] * fast_step / slow_step - 1) > NEAR:
        wrong.append(f"shrinking: {verdict['result']} {verdict['speedup']} for {slow_step / fast_step}")
    verdict = report(gapline, folder, [fast, again])["verdict"]
    if verdict["result"] in ("faster", "slower"):
        wrong.append(f"shrinking, the same twice: {verdict['result']} {verdict['speedup']}")
    verdict = report(gapline, folder, [fast, fewer])["verdict"]  # other iterations: nothing to hold against each other
    if verdict["result"] in ("faster", "slower"):
        wrong.append(f"shrinking, 900 and 500 iterations: {verdict['result']} {verdict['speedup']}")
    said = " ".join(verdict["reasons"])
    if "900 in the baseline, 500 in the fixed side" not in said or "warming up" in said:
        wrong.append(f"shrinking, 900 and 500 iterations: {said}")
    # what one side says by itself, and beside others that are not as many: all of them count there, too
    for name, law in ("root", 0.4), ("inverse", lambda x: 1 / (1 + 9 * x)), ("exponential", lambda x: 2.718281828 ** (-5 * x)):
        path, step = solve(name, 1790, 200000, law)
        steps = report(gapline, folder, [path, fewer])["baseline"]["steps"]
        alone = " ".join(subprocess.run([gapline, "show", path], capture_output=True, text=True).stdout.split())
        if steps["warmup"] != 1 or ", 1 left out as warm-up" not in alone or abs(steps["period_ms"]["mean"] * 1e6 / step - 1) > NEAR:
            wrong.append(f"shrinking ({name}), beside others: {steps} for {step / 1e6}, alone: {alone[:200]}")
    # steady iterations that begin slowly shrink by no law
    for name in "steady", "cold":
        solve(name, 900, 200000, 0, 300 if name == "cold" else 0)
    verdict = report(gapline, folder, [os.path.join(folder, f"{n}.sqlite") for n in ("cold", "steady")])["verdict"]
    if verdict["result"] in ("faster", "slower"):
        wrong.append(f"a slow first third: {verdict['result']} {verdict['speedup']}")
    return wrong


def check_iterations(gapline, folder):
    """51 and 9 steps of one program and another loop behind them: what is wrong."""
    files, wrong = [], []
    for n in 51, 9:
        rng = random.Random(f"iterations {n}")
        p, steps, behind = Program(rng), body(random.Random(1), 30), body(random.Random(2), 20, "v")
        for _ in range(n):
            for name in steps:
                p.kernel(name)
            p.wait()
        for _ in range(30):
            for name in behind:
                p.kernel(name, 7, 90000 if name == behind[0] else 5000)
            p.wait()
        files.append(os.path.join(folder, f"iterations-{n}.sqlite"))
        write(files[-1], [p])
    verdict = report(gapline, folder, files)["verdict"]
    if verdict["result"] in ("faster", "slower") or abs(verdict["speedup"] - 1) > 0.02:
        wrong.append(f"51 and 9 iterations: {verdict['result']}, {verdict['speedup']}")
    said = subprocess.run([gapline, "report", *files, "-o", os.devnull], capture_output=True, text=True).stdout
    if "Iteration counts differ (51, 9)" not in said:
        wrong.append("Iteration counts differ (51, 9) is not said")
    other = report(gapline, folder, files, "--loop", behind[0])["baseline"]
    if not other["steps"]["found"] or other["runs"][0]["steps"] != 30 or not other["steps"]["name"].startswith("v"):
        wrong.append(f"--loop {behind[0]}: {other['steps']}")
    none = subprocess.run([gapline, "report", *files, "--loop", "none of them", "-o", os.devnull], capture_output=True, text=True)
    if none.returncode != 2 or "nothing that repeats has this name" not in none.stderr:
        wrong.append(f"--loop of no loop: status {none.returncode}: {none.stderr}")
    return wrong


def check_long(gapline, folder):
    """Programs of thousands of steps that read their loss every tenth: two models one after the other, of which ten steps of
    the second weigh more than all of the first; and kernels under one of four names, so that ten steps together are more
    alike than any two. The step is one, and each loop has its own time. What is wrong."""
    wrong = []

    def program(name, seed):
        rng = random.Random(f"{name}{seed}")
        p, n, layers = Program(rng), rng.randint(1500, 2000), rng.randint(2, 4)
        for i in range(n):
            p.copy(1, 10**4)
            depth = rng.randint(2, 6) if name == "routed" else layers + 3 * (name == "grows" and i >= n // 2)
            for _ in range(depth):
                for k in range(6):
                    p.kernel(f"k{k}" if name == "grows" or k != 2 else f"k2_{rng.randint(0, 3)}", 7, 5000)
            for k in range(3):
                p.kernel(f"adam{k}", 7, 3000)
            if i % 10 == 9:
                p.copy(2, 4)
                p.wait()
            p.step()
        path = os.path.join(folder, "long.sqlite")
        if os.path.exists(path):
            os.remove(path)
        write(path, [p])
        return path, p.ends

    def mean(ends):
        return (ends[-1] - ends[0]) / (len(ends) - 1) / 1e6

    for name in "grows", "named", "routed":
        for seed in range(2):
            path, ends = program(name, seed)
            half = len(ends) // 2
            true = sorted((mean(ends[:half]), mean(ends[half:]))) if name == "grows" else [mean(ends)]
            loops = report(gapline, folder, [path, path])["baseline"]["loops"]
            found = sorted(loop["period_ms"] for loop in loops)
            if len(found) != len(true) or any(abs(f / t - 1) > NEAR for f, t in zip(found, true)):
                wrong.append(f"{name} {seed}: {found} for {true}")
    return wrong


def check_names(gapline, folder):
    """Loops of which the heaviest kernels are the same have names of their own, by which they can be judged; and the
    same one of the other side, though another is the longest there. What is wrong."""
    wrong = []

    def loops(name, lengths, kernels):
        p = Program(random.Random(name))
        for length, ops in zip(lengths, kernels):
            for _ in range(200):
                for kernel, weight in ops:
                    p.kernel(kernel, 7, length * weight)
                p.wait()
            p.host(10**7)
        path = os.path.join(folder, f"{name}.sqlite")
        write(path, [p])
        return path

    # one kernel of two sizes, of which the fix makes the larger one the smaller
    for kind, kernels in ("again", ["solve", "other", "solve"]), ("template", ["void solve<float>(int)", "other", "void solve<double>(int)"]):
        files = [loops(f"{kind}-{i}", lengths, [[(kernel, 1)] for kernel in kernels])
                 for i, lengths in enumerate([(600000, 100000, 300000), (150000, 100000, 300000)])]
        for loop, judged, speedup in (None, "solve", 4), ("#2", "solve #2", 1), ("solve", "solve", 4):
            result = report(gapline, folder, files, *(["--loop", loop] if loop else []))
            for side in "baseline", "fixed":
                of = {x["name"]: x["judged"] for x in result[side]["loops"]}
                if of != {name: name == judged for name in ("solve", "other", "solve #2")}:
                    wrong.append(f"names of the {side}'s loops ({kind}) with --loop {loop}: {of}")
            if abs(result["verdict"]["speedup"] / speedup - 1) > 0.05:
                wrong.append(f"--loop {loop} of two of one title ({kind}): {result['verdict']['speedup']} for {speedup}")
    # the same two kernels weigh most, and a third is another one
    both = [("gemm", 1), ("softmax", 0.5)]
    files = [loops(f"third-{i}", (300000, length), [[*both, ("dropout", 0.1)], [*both, ("metric", 0.1)]])
             for i, length in enumerate((200000, 100000))]
    for loop, name, speedup in ("metric", "gemm + softmax + metric", 2), ("gemm + softmax + dropout",) * 2 + (1,):
        result = report(gapline, folder, files, "--loop", loop)
        if result["baseline"]["steps"]["name"] != name or abs(result["verdict"]["speedup"] / speedup - 1) > 0.05:
            wrong.append(f"--loop {loop}: {result['baseline']['steps']['name']}, {result['verdict']['speedup']} for {speedup}")
    return wrong


def sweeps(gapline, folder, times):
    """Five sizes, each so many times the one before. Whether they are steps."""
    p, path = Program(random.Random("sweep")), os.path.join(folder, f"sweep-{times}.sqlite")
    for k in range(5):
        p.copy(1, 40000 * times**k), p.kernel("sum_kernel", 7, 20000 * times**k), p.copy(2, 16 * times**k), p.wait()
    write(path, [p])
    return steps_of(gapline, path)["found"]


def check_small(gapline, folder):
    """A loop that is a quarter of the GPU's work, behind kernels at random: it is said, and taken for the steps only where
    --loop asks for it. What is wrong."""
    files, wrong = [], []
    for length in 120000, 60000:
        rng = random.Random(f"small {length}")
        p, others = Program(rng), [f"other{i}_kernel" for i in range(40)]
        for _ in range(400):
            p.kernel(rng.choice(others), 7, rng.randint(20000, 400000))
        p.wait()
        for _ in range(60):
            for name in "gemm_a", "softmax", "gemm_b", "norm":
                p.kernel(name, 7, length)
            p.copy(2, 4)
            p.wait()
            p.step()
        files.append((os.path.join(folder, f"small-{length}.sqlite"), (p.ends[-1] - p.ends[0]) / 59))
        write(files[-1][0], [p])
    paths = [path for path, _ in files]
    result = report(gapline, folder, paths)
    said = subprocess.run([gapline, "show", paths[0]], capture_output=True, text=True).stdout
    if result["baseline"]["steps"]["found"] or "under half of its GPU work" not in said or "60 times" not in " ".join(said.split()):
        wrong.append(f"a small loop: {result['baseline']['steps']}, {said[:800]}")
    result = report(gapline, folder, paths, "--loop", "gemm")
    true = files[0][1] / files[1][1]
    summary = subprocess.run([gapline, "report", *paths, "--loop", "gemm", "-o", os.devnull, "--quiet", "--markdown", "/dev/stdout"], capture_output=True, text=True).stdout
    if "Steps of the baseline: gemm\\_b + norm: 60 steps, 1 left out" not in summary or summary.count("the repeating sequence of 5 GPU operations, 60 times") != 2:
        wrong.append(f"a small loop in a summary: {summary[:600]}")
    if result["verdict"]["result"] != "faster" or abs(result["verdict"]["speedup"] / true - 1) > NEAR:
        wrong.append(f"a small loop asked for: {result['verdict']['result']} {result['verdict']['speedup']} for {true}")
    return wrong


def check_short_run(gapline, folder):
    """A run that ended after four steps among others of forty: a report, and a sentence that names it. With ranges its
    four steps are steps. What is wrong."""
    wrong, files = [], {}
    for side, length in ("baseline", 40000), ("fixed", 20000):
        for r in range(3):
            p = Program(random.Random(f"{side} {r}"))
            for _ in range(4 if (side, r) == ("baseline", 1) else 40):
                p.copy(1, 10**5)
                for name in "embedding", "gemm_a", "softmax", "gemm_b", "loss", "backward", "adam":
                    p.kernel(name, 7, length)
                p.copy(2, 4)
                p.wait()
            files.setdefault(side, []).append(os.path.join(folder, f"short-{side}-{r}.sqlite"))
            write(files[side][-1], [p])
    words = [w for side in files for path in files[side] for w in (f"--{side}", path)]
    for options in [], ["--loop", "softmax"]:
        result = report(gapline, folder, words, "--files-are", "repeats", *options)
        said = " ".join(result["verdict"]["differences"])
        if result["verdict"]["speedup"] is not None or "In 1 of 3 runs of the baseline nothing repeats 5 times" not in said or "short-baseline-1.sqlite" not in said:
            wrong.append(f"a short run among repeats, {options}: {result['verdict']['speedup']}, {said}")
    files = {}
    for side, load in ("baseline", 400000), ("fixed", 200000):
        for r in range(3):
            files.setdefault(side, []).append(os.path.join(folder, f"short-range-{side}-{r}.sqlite"))
            tiny_profile.write(files[side][-1], steps=4 if (side, r) == ("baseline", 1) else 40, load=load, seed=r + 1)
    words = [w for side in files for path in files[side] for w in (f"--{side}", path)]
    result = report(gapline, folder, words)
    if result["baseline"]["steps"]["origin"] != "marked" or abs(result["verdict"]["speedup"] / (911 / 711) - 1) > 0.01:
        wrong.append(f"a short run among repeats with ranges: {result['baseline']['steps']}, {result['verdict']['speedup']}")
    return wrong


def main():
    gc.disable()  # millions of rows, and no circles: looking for them takes a fifth of the time
    gapline = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    kinds = sys.argv[3:] or list(KINDS)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        wrong += check_real(gapline, folder) + check_programs(gapline, folder) + check_startup(gapline, folder) + check_updates(gapline) + check_little(gapline, folder)
        wrong += check_iterations(gapline, folder) + check_phases(gapline, folder)
        wrong += check_shrinking(gapline, folder) + check_names(gapline, folder)
        wrong += [f"{n} times the size before" for n in (4, 1) if sweeps(gapline, folder, n) != (n == 1)] + check_short_run(gapline, folder) + check_small(gapline, folder) + check_long(gapline, folder)
        for kind in kinds:
            good, refused, missed = 0, 0, []
            some = n * 2 // 5 if KINDS[kind] in made_solvers.MINE + made_shapes.MINE + made_long.MINE and not sys.argv[3:] else n
            for seed in range(some):
                path = os.path.join(os.environ.get("KEEP", folder), f"{kind}-{seed}.sqlite")
                if os.path.exists(path):
                    os.remove(path)
                true, program = make(kind, seed, path)
                warmup = getattr(program, "first", 0)
                if kind in WAITS:
                    side = report(gapline, folder, [path, path], "--warmup", str(warmup))["baseline"]["steps"]
                else:
                    side = steps_of(gapline, path, "--warmup", str(warmup))
                found = side["period_ms"]["mean"] if side["found"] else None
                if true is None:
                    ok = found is None
                else:
                    right = [true] + [(e[-1] - e[0]) / (len(e) - 1) / 1e6 for e in getattr(program, "others", [])]
                    ok = found is not None and any(abs(found * k / t - 1) <= NEAR for k in {1, program.also}
                                                   for t in right)
                    refused += found is None
                    ok = ok or (found is None and getattr(program, "or_none", False))
                good += ok
                if not ok:
                    missed.append(f"{seed}: {found} for {true} ({len(program.ends)} steps)")
                if "KEEP" not in os.environ:
                    os.remove(path)
            none = f", nothing found in {refused}" if refused and true is not None else ""
            print(f"{kind:12} {good} of {some}{none}", *missed, sep="\n    " if missed else "  ", flush=True)
            if good < LEAST * some:
                wrong.append(f"{kind}: {good} of {some}")
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
