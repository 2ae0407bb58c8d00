#!/usr/bin/env python3
"""The arithmetic of rows.py on numbers small enough to be worked out by hand, and truth.tsv against the programs."""
import collections
import json
import math
import os
import re
import sys

sys.dont_write_bytecode = True
import rows  # noqa: E402
import truth  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def side(idle, comm, **parts):
    """A side of a result: idle rows (cause, phase, ms), exposed communication by device, the budget's other parts."""
    return {
        "budget": {
            "per_step": {"compute": 0, "copy_exposed": 0, "comm_exposed": rows.mean(comm), **parts},
            "idle": [{"cause": c, "phase": p, "ms_per_step": ms} for c, p, ms in idle],
        },
        "devices": [{"per_step": {"comm_exposed": ms}} for ms in comm],
    }


def check_accounts():
    one = side([("alloc", "a", 1.5), ("alloc", "cleanup", 0.25), ("host_code", "a", 4)], [3, 5], compute=7)
    run = {"phases": ["workspace", "cleanup"]}
    assert rows.account(one, "idle:alloc:workspace", run) == 1.5  # neutral names are read by the program's list
    assert rows.account(one, "idle:alloc:cleanup", run) == 0.25
    assert rows.account(one, "idle:alloc:other", run) == 0
    assert rows.account(one, "compute", run) == 7
    assert rows.account(one, "comm_exposed", run) == 3  # the rank that waits least
    assert rows.account(one, "waiting", run) == 1  # 4 in the mean, less 3
    assert rows.where(one)["alloc"] == 1.75 and rows.where(one)["host_code"] == 4


def check_programs():
    runs = [{"side": "baseline", "run": 1, "faults_ms": [9, 9, 2, 4]}, {"side": "baseline", "run": 2, "faults_ms": [9, 1, 1, 1]},
            {"side": "fixed", "run": 1, "faults_ms": [100, 100, 100, 100]}]
    result = {"baseline": {"runs": [{"file": "baseline-1.sqlite.gz", "warmup": 2}, {"file": "baseline-2.sqlite.gz", "warmup": 1}]}}
    assert rows.fault(runs, "baseline", result) == 2  # 3 in run 1, 1 in run 2
    steps = [0, 50] + [2] * 8 + [1, 13]  # everything but the warm-up counts
    assert math.isclose(rows.step_ms({"steps_ms": steps, "warmup": 2}), 3)
    # two groups, each with variance 2 of its 2 values: (1 + 1) of the means, 2 degrees of freedom
    assert math.isclose(rows.half_width([[0, 2], [5, 7]]), 4.303 * math.sqrt(2))
    assert rows.half_width([[0, 2], [5]]) is None and rows.half_width([[1, 1], [2, 2]]) == 0
    assert rows.overlap([1, 2], 1.5, 0) and rows.overlap([1, 2], 2.1, 0.1) and rows.overlap([1, 2], 0.95, 0.1)
    assert not rows.overlap([1, 2], 2.1, 0.01) and not rows.overlap([1, 2], 0.9, None) and not rows.overlap(None, 1, 1)


def check_pairs():
    """Every pair of the table is a program, with the phases that its accounts name; every program is in the table."""
    pairs = rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv"))
    with open(os.path.join(ROOT, "workloads", "CMakeLists.txt"), encoding="utf-8") as file:
        built = set(re.findall(r"^workload(?:_tests)?\((\S+)", file.read(), re.M))
    assert {pair.program for pair in pairs} == built - {"training-step"}, built
    with open(os.path.join(ROOT, "gen", "say", "findings.txt"), encoding="utf-8") as file:
        findings = set(re.findall(r"^FACT\((\w+), \w+, FINDING,", file.read(), re.M))
    for pair in pairs:
        assert pair.finding is None or pair.finding in findings, pair.finding
        folder = os.path.join(ROOT, "workloads", pair.program)
        source = "main.c" if os.path.exists(os.path.join(folder, "main.c")) else pair.program.replace("-", "_") + ".py"
        with open(os.path.join(folder, source), encoding="utf-8") as file:
            text = file.read()
        phases = set(re.findall(r'phase_begin\("(\w+)"\)', text))
        for names in re.findall(r"^PHASES = \[(.*)\]$", text, re.M):
            phases |= set(re.findall(r'"(\w+)"', names))
        for what in pair.accounts:
            if what.startswith("idle:"):
                assert what.split(":")[2] in phases, (pair.name, what)


def check_truth_page():
    """The short table in docs/method/truth.md is the one that the measured table gives."""
    wanted, text = truth.page_text()
    assert wanted == text, "docs/method/truth.md: run tests/truth/truth.py page"


def check_prose():
    """README, and the pages that it links, say the numbers that the tables have."""
    def read(name):
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            return " ".join(file.read().split()).casefold()

    with open(os.path.join(ROOT, "examples", "truth", "table.json"), encoding="utf-8") as file:
        table = json.load(file)
    with open(os.path.join(ROOT, "examples", "truth", "same-twice.tsv"), encoding="utf-8") as file:
        twice = [line.split("\t")[2] for line in file][1:]
    programs = {row["pair"].split("+")[0] for row in table}
    faults = {row["pair"].split("+")[0] for row in table if "share" in row}
    shares = sorted(row["share"] for row in table if "share" in row)
    landed = sum(share >= 0.95 for share in shares)
    rest = len(shares) - landed
    clocks = [abs(row["off"]) for row in table if "off" in row]
    agree = f"in {sum(off <= 0.004 for off in clocks)} of {len(clocks)} rows with timed runs"
    assert len(clocks) - 1 == sum(off <= 0.004 for off in clocks), "one row is said to be further off"
    single = sum((collections.Counter(row.get("repeats")) for row in table), collections.Counter())
    assert not {"faster", "slower"} & {*single, *twice}, "a pair of a program with itself has a direction"
    same = f"{len(twice)} in timed runs and {single.total()} recorded"
    least = f"The other {['no', 'one', 'two', 'three', 'four'][rest]} have {100 * shares[0]:.0f} to {100 * shares[rest - 1]:.0f} %"
    changes = [int(n) for n in re.findall(r"(\d+) changes: ", read("docs/method/accuracy.md"))]
    made, _, whole = changes
    wanted = {
        "README.md": (
            f"[{len(programs)} programs](workloads), {len(faults)} with a fault", agree, f"in {landed} of {len(shares)} rows with a fault",
            f"**0 of {len(twice) + single.total()}** pairs", same, f"these {len(table)} rows and of {sum(changes)} changes, {made + whole} of them made"),
        "docs/method/truth.md": (
            agree, f"{landed} of {len(shares)} rows have at least 95 %", f"{len(table)} in all: {len(programs)} programs",
            f"Of [{len(twice)} pairs](../../examples/truth/same-twice.tsv)", f"`unchanged` {single['unchanged']} times of {single.total()}"),
        "docs/method/verdict.md": (agree.replace(" with timed runs", " ([examples/truth]"),),
        "docs/method/accuracy.md": (f"in {len(clocks)} rows;", f"{len(table)} rows, "),
        "examples/truth/README.md": (
            f"That is so in {len(clocks)} rows", f"{len(twice)} comparisons, none with a direction ({twice.count('unchanged')} *unchanged*; "
            f"{twice.count('inconclusive')} inconclusive"),
    }  # fmt: skip
    for page in "README.md", "docs/method/truth.md":
        assert least.casefold() in read(page), f"{page} does not say: {least}"
    for page, texts in wanted.items():
        for text in texts:
            assert text.casefold() in read(page), f"{page} does not say: {text}"


if __name__ == "__main__":
    check_truth_page()
    check_prose()
    check_accounts()
    check_programs()
    check_pairs()
    print("ok")
