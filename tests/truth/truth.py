#!/usr/bin/env python3
"""Holds what gapline says against what is true (workloads/truth.md).

    truth.py capture FOLDER --build BUILD [--pairs A,B] [--sizes 2] …   on a machine with GPUs: runs and captures
    truth.py judge FOLDER [--table FILE] [--against TABLE.json]         anywhere: analyses, writes the table
    truth.py pack FOLDER TO                                             scrubbed and small, for the repository

FOLDER holds a folder for each pair and size, NAME-SIZE, with unprofiled.jsonl and profiled.jsonl (what the programs
printed, a run a line), the profiles baseline-N.sqlite and fixed-N.sqlite (or .gz), and gapline's report.json. An
interrupted capture goes on with what is missing. `judge` exits with 1 when a row does not meet what truth.tsv
demands, or with --against when a row got worse than in that table; with 77 when there is no FOLDER."""
import argparse
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the working tree stays as it is
import rows  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
NO_CHANGE_RUNS = 20


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- capture ----


def execute(words, folder, name):
    """A program's JSON line. What it printed to stderr is kept beside; a failure ends everything."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stderr}")
    line = done.stdout.strip().splitlines()[-1]
    with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
        file.write(line + "\n")
    return line


def order(i):
    """Turn about, so that a drift of the machine falls on both sides alike."""
    return ("baseline", "fixed") if i % 2 == 0 else ("fixed", "baseline")


def program(args, pair, variant, size, more=()):
    path = os.path.join(args.build, pair.name)
    words = [path, "--variant", variant, "--fault-ms", size, "--steps", str(args.steps), "--warmup", str(args.warmup)]
    return words + list(pair.options) + (["--names", "neutral"] if args.neutral else []) + list(more)


def run_both(args, pair, size, folder, work):
    """gapline run: both sides in turns, and the report."""
    runs = os.path.join(folder, "runs")
    repeat = NO_CHANGE_RUNS if pair.name == "no-change" else args.repeat
    words = [args.gapline, "run", "--repeat", str(repeat), "--collector", args.collector, "--quiet", "-o", runs]
    words += ["--trace", pair.trace]
    if os.path.exists(os.path.join(runs, "run.json")):
        words.append("--resume")
    for side in ("baseline", "fixed"):
        words += [f"--{side}", shlex.join(program(args, pair, side, size, work))]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    with open(os.path.join(folder, "gapline.log"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    with open(os.path.join(folder, "profiled.jsonl"), "w", encoding="utf-8") as out:
        for side in ("baseline", "fixed"):
            for i in range(1, repeat + 1):
                os.replace(os.path.join(runs, f"{side}-{i}.sqlite"), os.path.join(folder, f"{side}-{i}.sqlite"))
                with open(os.path.join(runs, f"{side}-{i}.log"), encoding="utf-8") as log:
                    lines = [line for line in log if line.startswith("{")]
                out.write(f'{{"side":"{side}","run":{i},' + lines[-1].strip()[1:] + "\n")
    for name in ("report.html", "report.json"):
        os.replace(os.path.join(runs, name), os.path.join(folder, name))
    shutil.rmtree(runs)


def capture_one(args, pair, size):
    folder = os.path.join(args.folder, f"{pair.name}-{size}")
    if os.path.exists(os.path.join(folder, "profiled.jsonl")) or (
        args.unprofiled_only and os.path.exists(os.path.join(folder, "done"))
    ):
        return
    os.makedirs(folder, exist_ok=True)
    name = "unprofiled.jsonl"
    if os.path.exists(os.path.join(folder, name)):
        os.remove(os.path.join(folder, name))
    start = time.monotonic()
    first = execute(program(args, pair, "baseline", size), folder, "calibration.jsonl")
    work = ("--fault-work", re.search(r'"fault_work":(\d+)', first).group(1))
    for i in range(args.unprofiled):
        for side in order(i):
            execute(program(args, pair, side, size, work), folder, name)
    if args.unprofiled_only:
        with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
            pass
    else:
        run_both(args, pair, size, folder, work)
    say(f"{pair.name} {size} ms: {time.monotonic() - start:.1f} s")


def capture(args):
    gpus = int(args.gpus)
    for pair in rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv")):
        if (args.pairs and pair.name not in args.pairs.split(",")) or pair.gpus > gpus:
            continue
        for size in args.sizes.split(",") if args.sizes and pair.sizes != ["0"] else pair.sizes:
            capture_one(args, pair, size)


# ---- judge ----


def judge(args):
    if not os.path.isdir(args.folder):
        say(f"skipped: {args.folder} is not there")
        return 77
    pairs = rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv"))
    table = rows.Table(pairs, args.folder, args.gapline)
    if not table.rows:
        raise SystemExit(f"{args.folder}: no captured pair is here")
    text = table.markdown()
    if args.table:
        with open(args.table, "w", encoding="utf-8") as file:
            file.write(text)
        table.write_json(os.path.splitext(args.table)[0] + ".json")
    print(text)
    problems = table.worse_than(args.against) if args.against else table.problems()
    for problem in problems:
        say(problem)
    return 1 if problems else 0


# ---- pack ----


def pack(args):
    for name in sorted(os.listdir(args.folder)):
        folder = os.path.join(args.folder, name)
        if not os.path.exists(os.path.join(folder, "profiled.jsonl")):
            continue
        to = os.path.join(args.to, name)
        os.makedirs(to, exist_ok=True)
        for file in ("unprofiled.jsonl", "profiled.jsonl"):
            shutil.copyfile(os.path.join(folder, file), os.path.join(to, file))
        for file in sorted(os.listdir(folder)):
            match = re.fullmatch(r"(baseline|fixed)-(\d+)\.sqlite", file)
            if not match or int(match.group(2)) > args.keep:
                continue
            clean = os.path.join(to, file)
            subprocess.run([args.gapline, "scrub", os.path.join(folder, file), "-o", clean], check=True)
            with open(clean, "rb") as source, open(clean + ".gz", "wb") as target:
                # no name and no time in the header: the same bytes every time
                with gzip.GzipFile(filename="", mode="wb", fileobj=target, compresslevel=9, mtime=0) as packed:
                    shutil.copyfileobj(source, packed)
            os.remove(clean)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    default = os.path.join(ROOT, "build", "release", "gen", "gapline")
    c = commands.add_parser("capture")
    c.add_argument("folder")
    c.add_argument("--build", required=True, help="the folder with the workloads' programs")
    c.add_argument("--gapline", default=default)
    c.add_argument("--collector", default="cupti")
    c.add_argument("--gpus", default="1", help="how many there are: pairs that need more are left out")
    c.add_argument("--pairs", help="only these, separated by commas")
    c.add_argument("--sizes", help="other sizes of the fault than truth.tsv's")
    c.add_argument("--steps", type=int, default=60)
    c.add_argument("--warmup", type=int, default=10)
    c.add_argument("--repeat", type=int, default=3, help="captures of each side")
    c.add_argument("--unprofiled", type=int, default=3, help="runs of each side without a profiler")
    c.add_argument("--unprofiled-only", action="store_true")
    c.add_argument("--neutral", action="store_true", help="phases are called a, b, c …")
    j = commands.add_parser("judge")
    j.add_argument("folder")
    j.add_argument("--gapline", default=default)
    j.add_argument("--table", help="write it to FILE, and the same as JSON beside it")
    j.add_argument("--against", help="the JSON of an earlier table")
    p = commands.add_parser("pack")
    p.add_argument("folder")
    p.add_argument("to")
    p.add_argument("--gapline", default=default)
    p.add_argument("--keep", type=int, default=3, help="runs of each side")
    args = parser.parse_args()
    return {"capture": capture, "judge": judge, "pack": pack}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
