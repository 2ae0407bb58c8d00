#!/usr/bin/env python3
"""The same job of eight ranks twice, one run a side: no direction, and the same rank is named or none.

    check_rank_pairs.py GAPLINE [PAIRS]

docs/method/verdict.md has what 240 pairs gave. Noise of kernels is drawn for each by itself, or like that of the kernels before it,
skewed and with bursts. In half of the pairs a rank computes longer in each step.
"""
import collections
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import tiny_job
import tiny_profile

ALONE, SLOW = tiny_profile.jitters, 3


def alike(seed, size):
    """Noise of which neighbours resemble each other (0.97), its logarithm normal; now and then 60 kernels that take longer."""
    draw, level, burst = random.Random(seed), 0.0, 0
    while True:
        level = 0.97 * level + draw.gauss(0, 0.243)
        if burst:
            burst -= 1
        elif draw.random() < 0.001:
            burst = 60
        yield max(0, int(size * (math.exp(0.6 * level) / 2 + (4 if burst else 0))))


def said(gapline, folder, pair):
    noise, jitter = [(ALONE, 2_000), (ALONE, 40_000), (alike, 10_000), (alike, 40_000)][pair % 4]
    slow, steps = [None, SLOW][pair // 4 % 2], [20, 60][pair // 8 % 2]
    tiny_profile.jitters = noise
    sides = []
    for side, seed in ("baseline", 2 * pair + 1), ("fixed", 2 * pair + 2):
        shutil.rmtree(folder / side, ignore_errors=True)
        tiny_job.write(folder / side, ranks=8, steps=steps, slow=slow, seed=seed, jitter=jitter)
        sides += [f"--{side}", folder / side]
    subprocess.run([gapline, "report", *sides, "--json", folder / "out.json", "-q"], check=True)
    result = json.loads((folder / "out.json").read_text())
    named = []
    for side in "baseline", "fixed":
        late = result[side]["ranks"]["straggler"]
        always = late and late["kind"] == "persistent"
        assert not always or late["device"] == slow, (pair, side, late)
        named.append("named" if always else "several" if slow is not None else "none")
    return result["verdict"]["result"], named


def main():
    pairs, count = int(sys.argv[2]) if len(sys.argv) > 2 else 24, collections.Counter()
    with tempfile.TemporaryDirectory(prefix="gapline-pairs-") as name:
        for pair in range(pairs):
            result, named = said(sys.argv[1], pathlib.Path(name), pair)
            count.update([result, *named])
    print(", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    assert count["faster"] + count["slower"] <= 0.02 * pairs, count
    assert count["several"] <= 0.05 * pairs, count


main()
