#!/usr/bin/env python3
"""Makes synthetic profiles whose answers are known and compares what `gapline report` says with the truth, exactly.

    check_generated.py GAPLINE GENERATE [SCALE]

GENERATE is bench/generate; SCALE multiplies the sizes (default 1).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import truth

PAIRS = [  # what both sides are; the fixed side loads its data faster
    "rows=20000",
    "rows=20000 seed=2 sync=4 warmup=5",
    "rows=12000 seed=3 ranks=4 kernels=40",
    "rows=20000 seed=4 ranks=2 sync=3 numbered=1 warmup=8",
    "rows=6000 seed=5 kernels=6",
    "rows=30000 seed=6 kernels=900 steps=24",
    "rows=9000 seed=7 kernels=17 sync=50 numbered=1 warmup=1",
]


def notices_a_nanosecond(side, path):
    with open(f"{path}.truth.json") as f:
        other = json.load(f)
    other["devices"][0]["rows"][-1]["waiting"] += 1
    return len(truth.compare(side, other)[1]) == 2  # the row and its part


def main():
    gapline, generate = sys.argv[1:3]
    scale = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed, checked = 0, 0
    with tempfile.TemporaryDirectory(prefix="gapline-generated-") as folder:
        for pair in PAIRS:
            words = [f"rows={int(w[5:]) * scale}" if w.startswith("rows=") else w for w in pair.split()]
            warmup = next((w[7:] for w in words if w.startswith("warmup=")), "3")
            paths = [f"{folder}/{side}.sqlite" for side in ("baseline", "fixed")]
            for path, fixed in zip(paths, "01"):
                subprocess.run([generate, "job", path, *words, f"fixed={fixed}"], check=True)
            report = f"{folder}/report.json"
            subprocess.run([gapline, "report", *paths, "--warmup", warmup, "--json", report, "-q"], check=True)
            n, wrong, result = truth.compare_files(report, *paths)
            verdict = result["verdict"]["result"]
            if verdict == "slower" or (pair == PAIRS[0] and verdict != "faster"):
                wrong.append(f"the verdict is {verdict}")
            if result["verdict"]["differences"]:
                wrong.append(f"differences where there are none: {result['verdict']['differences']}")
            if not notices_a_nanosecond(result["fixed"], paths[1]):
                wrong.append("one nanosecond more in the truth goes unnoticed")
            checked += n
            failed += bool(wrong)
            for fault in wrong[:10]:
                print(f"{pair}: {fault}")
    print(f"{checked} numbers of {len(PAIRS)} pairs compared with the truth, {failed} pairs wrong")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
