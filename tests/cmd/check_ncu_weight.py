#!/usr/bin/env python3
"""Which kernels `gapline report` speaks of where Nsight Compute looked inside: those that take time.

    check_ncu_weight.py [GAPLINE]
"""
import os
import sqlite3
import sys
import tempfile

from check_ncu import GEMM, RELU, check, profile, run, tiny_ncu, wrong


def check_weight(folder):
    """No advice for a kernel that takes a thousandth of the time; the one that grew was measured at another size only."""
    a, b, path = (os.path.join(folder, name) for name in ("light.sqlite", "heavy.sqlite", "light.csv"))
    for side, name in enumerate((a, b)):
        profile(name, seed=side + 1, kernel=100_000 + side * 50_000)
        with sqlite3.connect(name) as db:
            db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 200 WHERE demangledName = 5")
    for shape in (8, 1, 1), (9, 1, 1):
        tiny_ncu.write(path, [dict(GEMM, grid=shape), RELU])
        _, text, result, html = run(a, b, folder, "--baseline-ncu", path, "--fixed-ncu", path)
        said, measured = " ".join(text.split()), shape[0] == 8
        check("relu(float *)" in [k["fixed"]["name"] for k in result["kernels_inside"]["kernels"]], "weight: relu is in the table")
        check(" relu: " not in said and "2. relu" not in html, f"weight: relu is spoken of: {said}")
        check((" gemm: Baseline" in said) == measured, f"weight: {said}")
        for where, shown in ("terminal", said), ("page", html):
            check(("gemm explains most of the change" in shown) != measured, f"weight: {where}, {shape}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        check_weight(folder)
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))
