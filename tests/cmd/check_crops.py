#!/usr/bin/env python3
"""Windows of one recorded capture, at random places, are like against like.

    check_crops.py GAPLINE [--pairs N] [--seed S] [WORDS ...]

Of every recorded Nsight Systems export in the tree, N pairs of windows of it, every second one without its marks. None
may be faster or slower. Where both are judged by the same steps, with an interval, none is other work, or the same job
done another way for a reason that is said: what one window alone holds, and is too little to be a difference, is none.
"""
import argparse
import gzip
import json
import lzma
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import cropped  # noqa: E402

ROOT = HERE.parent.parent
# windows that were wrong once: of many loops two that have little to do with each other were compared
KNOWN = {"programs-compile.sqlite.gz": [(1, ((.184, .568), (.126, .544)))]}
# still wrong, and not counted: of dozens of loops of a search for kernels two of 4 % of the GPU's work are compared
OPEN = {"programs-compile.sqlite.gz": [[(.45, .983), (.542, .891)]]}


def captures():
    """The recorded exports: name, and how to get their bytes."""
    for path in sorted([*HERE.glob("unmarked/*.sqlite.gz"), *ROOT.glob("examples/training-step/*.sqlite.gz")]):
        yield path.name, lambda path=path: gzip.open(path).read()
    for path in sorted(HERE.glob("recorded/*.sqlite.xz")):
        yield path.name, lambda path=path: lzma.open(path).read()
    for path in sorted(ROOT.glob("examples/truth/*/captures.tar.xz")):
        for side in ("baseline-1.sqlite", "fixed-1.sqlite"):
            yield f"{path.parent.name}/{side}", lambda path=path, side=side: member(path, side)


def member(path, name):
    with tarfile.open(path) as tar:
        return tar.extractfile(name).read() if name in tar.getnames() else None


def windows(draw):
    """Two windows of a quarter to three fifths of the capture."""
    for _ in range(2):
        length = draw.uniform(.25, .6)
        begin = draw.uniform(0, 1 - length)
        yield round(begin, 3), round(begin + length, 3)


def judge(gapline, folder):
    run = subprocess.run([gapline, "report", "-q", "--json", "-", "-o", folder / "report.html", folder / "0.sqlite",
                          folder / "1.sqlite"], capture_output=True, text=True)
    return json.loads(run.stdout)["verdict"] if run.returncode == 0 else None


def wrong_of(verdict):
    if verdict["result"] in ("faster", "slower"):
        yield f"{verdict['result']} {verdict['ci95']}"
    said = verdict["same_work"] == "different" or verdict["same_work"] == "same_job" and verdict["differences"]
    if verdict["ci95"] and verdict["per"] == "step" and said:
        yield verdict["same_work"] + ": " + "; ".join(d["text"] for d in verdict["differences"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gapline")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--seed", default="1")
    parser.add_argument("words", nargs="*")
    args = parser.parse_intermixed_args()
    wrong, judged, intervals = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, content in captures():
            if any(word not in name for word in args.words) or not (data := content()):
                continue
            whole = folder / "whole.sqlite"
            whole.write_bytes(data)
            draw = random.Random(f"{name} {args.seed}")
            drawn = [(i % 2, list(windows(draw))) for i in range(args.pairs)]
            for marks, pair in drawn + KNOWN.get(name, []):
                if not all([cropped.crop(whole, folder / f"{k}.sqlite", *at, marks) for k, at in enumerate(pair)]):
                    break
                if not (verdict := judge(args.gapline, folder)):
                    continue
                judged += 1
                intervals += bool(verdict["ci95"])
                found = [f"{name} {pair}{' marked' if marks else ''}: {what}" for what in wrong_of(verdict)]
                if pair in OPEN.get(name, []):
                    print("still", *found)
                else:
                    wrong += found
    print("\n".join(wrong))
    print(f"{judged} pairs of windows, {intervals} with an interval, {len(wrong)} wrong")
    if not args.words and (judged < 100 or intervals < judged / 4):
        sys.exit("too few of them are judged for this to mean anything")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
