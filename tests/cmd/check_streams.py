#!/usr/bin/env python3
"""Kernels of two streams that run one after another, and at once: what made the step shorter is not shorter kernels.

    check_streams.py GAPLINE
"""
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import made_program  # noqa: E402
from by_hand import check, near, report  # noqa: E402


def write(path, at_once, length=50_000, seed=1):
    """80 times ten kernels of 50 us on each of two streams; not at once, each waits for the one of the other stream."""
    program = made_program.Program(random.Random(seed))
    for _ in range(80):
        program.copy(1, 400_000)
        for name, stream in (("left", 7), ("right", 8)) * 10:
            if not at_once:
                program.free[stream] = max(program.free.values())
            program.kernel(name, stream, length)
        program.copy(2, 4000)
        program.wait()
        program.step()
    made_program.write(path, [program])


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


by_hand.run([streams_overlap, streams_wait, kernels_are_shorter])
