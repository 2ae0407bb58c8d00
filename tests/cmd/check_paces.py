#!/usr/bin/env python3
"""One program beside itself, one recorded run per side, on a host that others kept busy: no direction, and 1 is in every
interval.

    check_paces.py GAPLINE

paces/ has digests of four runs each of three PyTorch programs on an H100 with 16 host processors: two runs by themselves,
one beside 8 busy loops, one beside 16. By their own clocks a step took 4.8 to 9.9 ms (gan), 15.2 to 30.1 (moe), 1.27 to
1.55 (kmeans). All ordered pairs within a program are judged.

A step of pinn took 8.40 ms by its own clock and 8.38 with a fused optimizer, run in turns; the captures of both were made on
a host that others held up more during the baseline's, 13.6 and 8.5 ms: no direction, and 1.00 is in the interval, too.

fold was recorded while four other programs used its GPU, an H200: one of its kernels takes half as long again in one run.

turns was recorded beside three other programs on its GPU, an H200, which had it in turns in one run: kernels began 0.28 ms
after their launch instead of 0.009, and by its own clock a step took 1.39 and 0.67 ms: "faster 1.34× to 2.43×".

buckets is DDP on two H200s, with 68 buckets a step and with 4: by their own clocks, unrecorded, 23.1 and 21.9 ms, and
recorded 35.2 and 22.8, as each rank waits for what recording took on the other: "faster 1.13× to 1.80×".

particles sorts on the host in each step: two runs on one H200, a minute apart, and one on another, three hours before. By
its own clock a step took 1.55, 2.68 and 1.96 ms; launches took 0.94, 1.49 and 1 times as long: "faster 1.06× to 1.39×".

sorting is the same program on one H200 on another day, two runs minutes apart: 3.28 and 2.41 ms, launches 0.9 times as
long: "faster 1.11× to 1.84×".

The work of all programs but pinn and buckets, which are two, is the same.
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "paces"


def main():
    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        for program in "gan", "moe", "kmeans", "pinn", "fold", "turns", "buckets", "particles", "sorting":
            for pair in itertools.permutations(sorted(HERE.glob(f"{program}-*.digest")), 2):
                subprocess.run([sys.argv[1], "report", *pair, "-o", "/dev/null", "--json", out, "-q"], check=True)
                verdict = json.loads(out.read_text())["verdict"]
                low, high = verdict["ci95"] or (0, 2)
                n += 1
                if verdict["result"] in ("faster", "slower") or not low <= 1 <= high:
                    wrong.append(f"{pair[0].name} and {pair[1].name}: {verdict['result']}, {low} to {high}")
                elif program not in ("pinn", "buckets") and verdict["same_work"] != "same":
                    wrong.append(f"{pair[0].name} and {pair[1].name}: the work is {verdict['same_work']}")
    assert n == 52, n
    print(*wrong, f"{len(wrong)} of {n} pairs of like against like are wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
