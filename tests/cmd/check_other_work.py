#!/usr/bin/env python3
"""What is another work, of programs that mark no steps: what only one side runs, what repeats another number of times, and
what the runs of one side differ in.

    check_other_work.py GAPLINE
"""
import json
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import made_program  # noqa: E402
from by_hand import check, report  # noqa: E402


def a_length_by_the_host(folder):
    """The host works out the length of a time step from what it reads back, and hands it to the device; the fix does so in a
    kernel, which no profile can tell from other work."""
    for name, by_host in ("base", True), ("fixed", False):
        program = made_program.Program(random.Random(by_host))
        for _ in range(80):
            program.kernel("advance", length=400_000)
            program.kernel("sum", length=100_000)
            if by_host:
                program.copy(2, 8)
                program.wait()
                program.copy(1, 8)
            else:
                program.kernel("length_of_step", length=30_000)
                program.wait()
            program.step()
        made_program.write(folder / f"{name}.sqlite", [program])
    _, doc, text, *_ = report(folder)
    check(doc["verdict"]["same_work"] == "unknown" and "The host may do its work" in " ".join(text.split()), text)


def verdict_of_runs(folder, *sides, last=60):
    """Runs of 60 steps, but for the baseline's last one, that smooth so many times a step."""
    words = []
    for side, counts in zip(("baseline", "fixed"), sides):
        for run, times in enumerate(counts):
            program, path = made_program.Program(random.Random(100 * run + times)), folder / f"{side}-{run}.sqlite"
            for _ in range(last if side == "baseline" and run else 60):
                for name in ["assemble"] * 20 + ["smooth"] * times:
                    program.kernel(name, length=50_000)
                program.copy(2, 4000)
                program.wait()
                program.step()
            path.unlink(missing_ok=True)
            made_program.write(path, [program])
            words += [f"--{side}", path]
    done = subprocess.run([by_hand.GAPLINE, "report", *words, "--files-are", "repeats", "--json", "-", "-q"], capture_output=True, text=True)
    return json.loads(done.stdout, object_hook=by_hand.facts.text)["verdict"]


def runs_that_meet(folder):
    """A solver smooths 20 and 24 times in two runs of the baseline, 22 and 26 times in those of the fixed side: nobody knows of
    other work. 60 and 64 times are other work."""
    check(verdict_of_runs(folder, (20, 24), (22, 26))["same_work"] == "unknown", "runs that meet")
    check(verdict_of_runs(folder, (20, 24), (60, 64))["same_work"] == "different", "runs far apart")


def a_run_that_is_short(folder):
    """It takes the steps of its side with it, which is said."""
    (said,) = verdict_of_runs(folder, (20, 20), (20, 20), last=3)["differences"]
    check(said.startswith("In 1 of 2 runs of the baseline nothing repeats 5 times"), said)


def products_in_one_call(folder):
    """64 small products that became one call, which takes half as long in all or five times: neither is a step of the other."""
    for length in 380_000, 6_000_000:
        for name, times, ns in ("base", 64, 12_000), ("fixed", 1, length):
            program, path = made_program.Program(random.Random(times)), folder / f"{name}.sqlite"
            for _ in range(60 * times):
                program.kernel("product", length=ns)
                program.kernel("sum", length=6_000)
                program.wait()
                program.step()
            path.unlink(missing_ok=True)
            made_program.write(path, [program])
        _, doc, text, *_ = report(folder)
        check(doc["verdict"]["result"] == "inconclusive" and "There are 3840 repetitions" in doc["verdict"]["reasons"][0], text)


def as_often_by_another_call(folder):
    """16 products and a sum that became one product of many, as often: compared, though no kernel is on both sides. A kernel of
    another family is another program's."""
    for fixed, compared in ("batched_sgemm", True), ("fluid_solver", False):
        for name, kernels in ("base", [("ampere_sgemm_128x64_tn", 12_000)] * 16 + [("reduce_kernel", 6_000)]), ("fixed", [(fixed, 40_000)]):
            program, path = made_program.Program(random.Random(len(kernels))), folder / f"{name}.sqlite"
            for _ in range(60):
                for kernel, length in kernels:
                    program.kernel(kernel, length=length)
                program.wait()
                program.step()
            path.unlink(missing_ok=True)
            made_program.write(path, [program])
        _, doc, text, *_ = report(folder)
        check((doc["verdict"]["speedup"] is not None) == compared, text)


by_hand.run([as_often_by_another_call, products_in_one_call, runs_that_meet, a_run_that_is_short, a_length_by_the_host])
