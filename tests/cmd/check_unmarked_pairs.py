#!/usr/bin/env python3
"""Pairs of programs without ranges, or with several: the steps of both sides are the same thing, whichever is the baseline.

    check_unmarked_pairs.py GAPLINE

Made ones, whose time per step is known by construction; and every two of six captures of one program, which generates
text (../shared/captures/runs-h200/kvgen, or where GAPLINE_CAPTURES says): tokens against tokens, and the same work; and a
recorded model of eight layers. Prints what is wrong.
"""
import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from check_loops import NEAR, report  # noqa: E402
from made_loops import apart  # noqa: E402
from made_program import Program, write  # noqa: E402


def check_epochs(gapline, folder):
    """Training with a validation after each epoch, and a training so much faster that the validation is no longer little
    beside it: training is compared with training, budgets and tables add up, and how much is not measured is said. What is
    wrong."""
    files, true, wrong = [], [], []
    for length in 20000, 4000:
        p = Program(random.Random(f"epochs {length}"))
        for epoch in range(4):
            for _ in range(30):
                p.copy(1, 10**5)
                for name in "embed", "gemm_a", "softmax", "gemm_b", "loss", "backward_b", "backward_a", "adam":
                    p.kernel(name, 7, length)
                p.copy(2, 4)
                p.wait()
                p.step()
            for _ in range(8):
                p.copy(1, 10**5)
                for name in "embed", "gemm_a", "softmax", "gemm_b", "metric":
                    p.kernel(name, 7, 10000)
                p.copy(2, 8)
                p.wait()
            p.host(5 * 10**7)
        ends = apart(p.ends, 30)
        true.append((ends[-1] - ends[0]) / (len(ends) - 1) / 1e6)
        files.append(os.path.join(folder, f"epochs-{length}.sqlite"))
        write(files[-1], [p])
    result = report(gapline, folder, files)
    for side, ms in zip(("baseline", "fixed"), true):
        steps, budget = result[side]["steps"], result[side]["budget"]["per_step"]
        said = [n for n in result[side]["data"]["notes"] if "into 4 stretches. The time between them is no step's, and 116 of 120 steps are measured." in n]
        if abs(steps["period_ms"]["mean"] / ms - 1) > NEAR or steps["measured"] != 116:
            wrong.append(f"epochs, {side}: {steps} for {ms}")
        parts = sum(budget[k] for k in ("compute", "comm_exposed", "copy_exposed", "idle"))
        if abs(parts - budget["period"]) > 1e-9 or abs(budget["period"] - steps["period_ms"]["mean"]) > 1e-9:
            wrong.append(f"epochs, {side}: {budget}")
        if len(said) != 1:
            wrong.append(f"epochs, {side}: {result[side]['data']['notes']}")
        kernels = {k["name"]: round(k["instances_per_step"], 9) for k in result[side]["kernels"]}
        if kernels.get("adam") != 1 or kernels.get("gemm_a") != 1 or "metric" in kernels:
            wrong.append(f"epochs, {side}: {kernels}")
    # in tables: steps, and what each device did, are the window without its three pauses
    tables = os.path.join(folder, "epochs-tables.sqlite")
    subprocess.run([gapline, "export", files[0], "-o", tables, "--quiet"], check=True)
    db = sqlite3.connect(tables)
    steps = db.execute("SELECT count(*), sum(duration_ns), sum(end_ns - start_ns) FROM steps WHERE measured").fetchone()
    window, parts = db.execute("SELECT window_ns, compute_ns + comm_exposed_ns + copy_exposed_ns + idle_ns FROM devices").fetchone()
    idle = db.execute("SELECT sum(end_ns - start_ns) FROM gaps").fetchone()[0], db.execute("SELECT idle_ns FROM devices").fetchone()[0]
    whole = db.execute("SELECT window_end_ns - window_start_ns FROM runs").fetchone()[0]
    db.close()
    if steps != (116, window, window) or parts != window or idle[0] != idle[1] or whole < window + 3 * 5 * 10**7 * 0.7:
        wrong.append(f"epochs, tables: steps {steps}, window {window} of {whole}, parts {parts}, idle {idle}")
    if abs(result["verdict"]["speedup"] * true[1] / true[0] - 1) > NEAR:
        wrong.append(f"epochs: {result['verdict']['speedup']} for {true[0] / true[1]}")
    return wrong


def accumulating(micro, steps, adam, copied, seed):
    """Steps of so many micro-batches and one optimizer of `adam` us."""
    p = Program(random.Random(f"accumulating {micro} {steps} {adam} {copied} {seed}"))
    for _ in range(steps):
        for _ in range(micro):
            if copied:
                p.copy(1, 10**5)
            for i in range(14):
                p.kernel(f"gemm_{i % 9}_kernel", 7, 30000 + 2000 * i)
        p.kernel("multi_tensor_apply_adam_kernel", 7, 1000 * adam)
        p.copy(2, 4)
        p.wait()
        p.step()
    return p


def check_accumulation(gapline, folder):
    """Eight micro-batches a step became four, and the other way: a GPU that works off as many samples per second, but for
    the optimizer, is not faster or slower, however long that takes, and the work is not the same job. What is wrong."""
    wrong = []
    for adam, copied, (first, then) in itertools.product((3, 300, 1500), (False, True), ((8, 4), (4, 8))):
        files, samples = [], []
        for side, micro in enumerate((first, then)):
            p = accumulating(micro, 30, adam, copied, side)
            files.append(os.path.join(folder, f"accumulating-{adam}-{copied}-{micro}-{side}.sqlite"))
            write(files[-1], [p])
            samples.append((p.ends[-1] - p.ends[0]) / 29 / micro)
        verdict = report(gapline, folder, files)["verdict"]
        if verdict["result"] in ("faster", "slower") or verdict["same_work"] == "same_job":
            wrong.append(f"{first} micro-batches became {then}, the optimizer takes {adam} us, input {'' if copied else 'not '}copied: {verdict['result']} "
                         f"{verdict['speedup']}, {verdict['same_work']}; {samples[0] / samples[1]:.3f} per micro-batch")
    return wrong


def drafting(draft, right, rounds, seed):
    """Rounds of so many drafted tokens, each `right` with that chance, and of one pass that checks them and adds one; without
    a draft, a token a pass. Returns the program and its tokens per round."""
    p, tokens = Program(random.Random(f"drafting {draft} {right} {seed}")), 0
    for _ in range(rounds):
        for _ in range(draft):
            for i in range(4):
                p.kernel(f"draft{i}_kernel", 7, 20000)
        for i in range(40):
            p.kernel(f"layer_gemm{i % 5}_kernel", 7, 40000)
        p.kernel("argmax_kernel", 7, 8000)
        kept = 1
        while kept <= draft and p.rng.random() < right:
            kept += 1
        tokens += kept
        p.copy(2, 4 * kept)
        p.wait()
        p.step()
    return p, tokens / rounds


def check_answers(gapline, folder):
    """Speculative decoding: rounds that keep more tokens on one side are no unit, nor are they beside single tokens; rounds
    that keep as many are. With the tokens per round the time per token is the program's. What is wrong."""
    wrong = []
    for baseline, fixed in (((4, 0.4, 120), (4, 0.9, 120)), ((4, 0.8, 120), (2, 0.8, 120)), ((0, 0, 240), (4, 0.8, 120)), ((4, 0.7, 120), (4, 0.7, 120))):
        files, items, ms = [], [], []
        for side, how in enumerate((baseline, fixed)):
            p, per_round = drafting(*how, side)
            files.append(os.path.join(folder, f"drafting-{side}.sqlite"))
            if os.path.exists(files[-1]):
                os.remove(files[-1])
            write(files[-1], [p])
            items.append(per_round)
            ms.append((p.ends[-1] - p.ends[0]) / (len(p.ends) - 1) / per_round)
        verdict = report(gapline, folder, files)["verdict"]
        said = verdict["result"] == "inconclusive" and verdict["same_work"] in ("unknown", "different") and any("varying as tokens do" in r for r in verdict["reasons"] + verdict["differences"])
        if said == (baseline == fixed):
            wrong.append(f"drafts {baseline}, {fixed}: {verdict['result']} {verdict['speedup']}, {verdict['same_work']}, {verdict['reasons']}")
        if baseline == fixed and verdict["same_work"] != "same":
            wrong.append(f"drafts {baseline}, {fixed}: {verdict['same_work']}")
        per_token = report(gapline, folder, files, "--items-per-step", f"{items[0]:.9f},{items[1]:.9f} tokens")["verdict"]
        if abs(per_token["speedup"] / (ms[0] / ms[1]) - 1) > NEAR:
            wrong.append(f"drafts {baseline}, {fixed}, per token: {per_token['speedup']} for {ms[0] / ms[1]}")
    return wrong


def check_one_pass(gapline, folder):
    """One call of a PyTorch model of 12 layers on each side, the second one's faster: nothing but layers repeats. What is wrong."""
    files = []
    for side in 0, 1:
        p = Program(random.Random(f"one pass {side}"))
        p.kernel("at::native::vectorized_gather_kernel", 7, 20000)
        for _ in range(12):
            for name, takes in ("layer_norm_kernel", 11000), ("gemm_128x64", 168000 - 60000 * side), ("fmha_cutlassF", 124000), ("at::native::gelu", 20000):
                p.kernel(name, 7, takes)
        p.kernel("layer_norm_kernel", 7, 11000)
        p.kernel("gemm_256x64", 7, 369000)
        p.wait()
        p.step()
        files.append(os.path.join(folder, f"one-pass-{side}.sqlite"))
        write(files[-1], [p])
    document = report(gapline, folder, files)
    verdict, steps = document["verdict"], document["baseline"]["steps"]
    good = steps["origin"] == "none" and verdict["result"] == "inconclusive" and verdict["ci95"] is None
    return [] if good else [f"one pass: {steps['origin']} {steps['name']}, {verdict['result']} {verdict['ci95']}"]


def check_tokens(gapline, folder):
    """Runs of one program on a host that others use, too, whose pace differs by up to 1.9 times within a run and between
    them. What is wrong."""
    captures = os.environ.get("GAPLINE_CAPTURES", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "captures"))
    files = [os.path.join(captures, "runs-h200", "kvgen", f"{i}.sqlite.gz") for i in range(1, 7)]
    wrong = []
    for pair in itertools.combinations(files, 2) if os.path.exists(files[0]) else ():
        result = report(gapline, folder, list(pair))
        loops = [loop for side in ("baseline", "fixed") for loop in result[side]["loops"] if loop["judged"]]
        if [(loop["steps"], loop["ops"]) for loop in loops] != [(390, 75)] * 2 or result["verdict"]["same_work"] != "same":
            wrong.append(f"{[os.path.basename(f) for f in pair]}: {result['verdict']['same_work']}, {loops}")
    return wrong


def check_outputs(gapline, folder):
    """A stencil of 400 sweeps that is read back every 10 and every 20 of them: from one output to the next is no unit, and there is
    no number, whichever side reads more often. What is wrong."""
    files, wrong = [], []
    for every in 10, 20:
        p = Program(random.Random(f"outputs {every}"))
        for i in range(400):
            p.kernel("stencil_kernel", 7, 40000)
            if i % every == every - 1:
                p.copy(2, 1 << 21)
                p.wait()
                p.host(300 * 1000)
                p.step()
        files.append(os.path.join(folder, f"outputs-{every}.sqlite"))
        write(files[-1], [p])
    for order in files, files[::-1]:
        verdict = report(gapline, folder, order)["verdict"]
        if verdict["speedup"] is not None or not any("too little in common" in r for r in verdict["reasons"]):
            wrong.append(f"outputs, {[os.path.basename(f) for f in order]}: {verdict['speedup']}, {verdict['reasons']}")
    return wrong


def recorded_pair(gapline, name, sides=("baseline", "fixed")):
    """The JSON of a recorded pair, with its facts as they are."""
    recorded = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
    files = [os.path.join(recorded, f"{name}-{side}.gapline") for side in sides]
    run = subprocess.run([gapline, "report", *files, "-o", os.devnull, "--json", "-", "--quiet"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def check_eight_layers(gapline):
    """A batch on an H200 is eight layers and a read-back, in 8 bits and in 16 (recorded/README.md): its own clock said 2.5967
    and 0.9259 ms. Of the first nothing but a layer repeats to a search that does not see what surrounds layers. What is
    wrong."""
    document = recorded_pair(gapline, "quantised")
    found = [(document[side]["steps"]["measured"], document[side]["steps"]["period_ms"]["mean"]) for side in ("baseline", "fixed")]
    good = all(n == 219 and abs(ms / own - 1) < 0.01 for (n, ms), own in zip(found, (2.5967, 0.9259)))
    low, high = document["verdict"]["ci95"] or (1, 1)
    if not good or document["verdict"]["result"] != "faster" or not low < 2.5967 / 0.9259 < high:
        return [f"eight layers: {found}, {document['verdict']['result']}, {low} to {high}"]
    return []


def check_server(gapline):
    """A server's batches, of at most 8 requests and of 16, repeat as their layers do: no unit. All of it is the same job."""
    verdict, own = recorded_pair(gapline, "server")["verdict"], 0.7285 / 0.4458
    whole = [note["params"]["whole"] for note in verdict["notes"] if note["id"] == "iterations_differ"]
    if verdict["result"] != "inconclusive" or verdict["reasons"][0]["id"] != "loops_of_other_cut" or not whole or abs(whole[0] / own - 1) > 0.03:
        return [f"a server: {verdict['result']}, all of it {whole} where its clock says {own:.3f}"]
    return []


def check_models(gapline):
    """Eight models that were trained one after the other, and then all at once, which share no kernel: of one a model's turn repeats,
    of the other that of all, and there is no number in either order. What is wrong."""
    wrong = []
    for sides in ("baseline", "fixed"), ("fixed", "baseline"):
        document = recorded_pair(gapline, "unmarked-models", sides)
        verdict, found = document["verdict"], sorted(document[side]["steps"]["measured"] for side in ("baseline", "fixed"))
        whole = [note["params"]["whole"] for note in verdict["notes"] if note["id"] == "iterations_differ"]
        if found[1] < 7 * found[0] or verdict["result"] != "inconclusive" or verdict["reasons"][0]["id"] != "loops_of_other_number" or not whole:
            wrong.append(f"models, {sides}: {found}, {verdict['result']}, {whole}, {verdict['reasons'][0]}")
    return wrong


def check_graphs_traced_whole(gapline):
    """A graph whose 40 nodes are set anew for each launch, and one that reads a number: nothing shows that they are alike, and the
    report says what would."""
    verdict = recorded_pair(gapline, "graph-params")["verdict"]
    why = verdict["reasons"][0]
    if verdict["speedup"] is not None or why["id"] != "programs_differ" or "--cuda-graph-trace node" not in why["text"]:
        return [f"graphs that were traced whole: {verdict['speedup']}, {why}"]
    return []


def check_pageable_again(gapline):
    """One program twice, whose copies of pageable memory took 1.6 times as long in the one run: no direction of like against like."""
    verdict = recorded_pair(gapline, "pageable-again")["verdict"]
    low, high = verdict["ci95"]
    said = [fact["text"] for fact in verdict["reasons"] if fact["id"] == "machine_state"]
    if verdict["result"] != "inconclusive" or not low < 1 < high or not any("bytes of pageable memory" in text for text in said):
        return [f"pageable copies, the same program: {verdict['result']}, {low} to {high}, {said}"]
    return []


def check_mapped_input(gapline):
    """Kernels that read the host's memory take longer, and nothing is copied in for them: that is no other work."""
    wrong = []
    for sides in ("baseline", "fixed"), ("fixed", "baseline"):
        verdict = recorded_pair(gapline, "mapped-input", sides)["verdict"]
        if verdict["same_work"] != "unknown" or verdict["result"] != ("faster" if sides[0] == "baseline" else "slower"):
            wrong.append(f"mapped input, {sides}: {verdict['same_work']}, {verdict['result']}")
    return wrong


def check_decoders(gapline):
    """One decoder became three, each with ranges `decode` beside the batches' own: of both, `batch` has all of the GPU's work."""
    wrong, own = [], 3.0028 / 1.1813
    for sides, truth in (("baseline", "fixed"), own), (("fixed", "baseline"), 1 / own):
        document = recorded_pair(gapline, "decoders", sides)
        names = [document[side]["steps"]["name"] for side in ("baseline", "fixed")]
        if names != ["batch", "batch"] or abs(document["verdict"]["speedup"] / truth - 1) > 0.01:
            wrong.append(f"decoders, {sides}: {names}, {document['verdict']['speedup']} for {truth:.3f}")
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        wrong = check_epochs(sys.argv[1], folder) + check_accumulation(sys.argv[1], folder) + check_answers(sys.argv[1], folder) + check_one_pass(sys.argv[1], folder) + check_tokens(sys.argv[1], folder) + check_eight_layers(sys.argv[1]) + check_server(sys.argv[1]) + check_outputs(sys.argv[1], folder) + check_mapped_input(sys.argv[1]) + check_pageable_again(sys.argv[1]) + check_decoders(sys.argv[1]) + check_graphs_traced_whole(sys.argv[1]) + check_models(sys.argv[1])
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
