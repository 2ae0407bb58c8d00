#!/usr/bin/env python3
"""Holds what gapline says against what is true (workloads/truth.md).

    truth.py capture FOLDER --build BUILD [--pairs A,B] [--nth 0] …     on a machine with GPUs: runs and captures
    truth.py judge FOLDER [--table TABLE] [--against TABLE.json] [--kept TABLE]   anywhere: analyses, writes the table
    truth.py pack FOLDER TO                                             scrubbed and small, for the repository
    truth.py reports FOLDER                                             a report of each pair, into FOLDER/reports
    truth.py page                                                       puts the short table into docs/method/truth.md

FOLDER holds a folder for each pair and size, NAME-SIZE, for captures with nsys NAME-SIZE-nsys, with unprofiled.jsonl,
stopwatch.jsonl and profiled.jsonl (what the programs printed, a run a line), the profiles baseline-N.sqlite and fixed-N.sqlite (packed:
captures.tar.xz with them, unless that is large), and gapline's report.html. An interrupted capture goes on with what is missing. `judge`
exits with 1 when a row does not meet what truth.tsv demands, or with --against when a row got worse than in that
table, or with --kept when TABLE.md, TABLE.tsv or what docs/method/truth.md takes from TABLE.json is not what was found;
with 77 when there is no FOLDER."""
import argparse
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
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
    path = os.path.join(args.build, pair.program)
    words = [path, "--variant", variant, "--fault-ms", size, "--steps", str(args.steps), "--warmup", str(args.warmup)]
    return words + list(pair.options) + (["--names", "neutral"] if pair.neutral(size) else []) + list(more)


def last_line(path):
    """What a program printed: its last line of JSON."""
    with open(path, encoding="utf-8") as log:
        return [line for line in log if line.startswith("{")][-1].strip()


def run_both(args, pair, size, folder, work):
    """gapline run: both sides in turns, recorded and with the stopwatch, and the report. Time is taken where the
    programs' own clocks take it: between the end of the warm-up that they were given and the last step."""
    runs = os.path.join(folder, "runs")
    words = [args.gapline, "run", "--recorded", str(args.recorded), "--repeat", str(args.repeat), "--warmup", str(args.warmup)]
    words += ["--collector", args.collector, "--trace", pair.trace, "--quiet", "-o", runs]
    if os.path.exists(os.path.join(runs, "run.json")):
        words.append("--resume")
    for side in ("baseline", "fixed"):
        words += [f"--{side}", shlex.join(program(args, pair, side, size, work))]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    with open(os.path.join(folder, "gapline.log"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout[-2000:]}")
    for name, kind, times in (("profiled", "", args.recorded), ("stopwatch", ".stopwatch", args.repeat)):
        with open(os.path.join(folder, name + ".jsonl"), "w", encoding="utf-8") as out:
            for side in ("baseline", "fixed"):
                for i in range(1, times + 1):
                    log = os.path.join(runs, f"{side}-{i}{kind}.log")
                    if os.path.exists(log):
                        out.write(f'{{"side":"{side}","run":{i},' + last_line(log)[1:] + "\n")
                    if not kind:
                        os.replace(os.path.join(runs, f"{side}-{i}.sqlite"), os.path.join(folder, f"{side}-{i}.sqlite"))
    for name in ("report.html", "report.json", "run.json"):
        os.replace(os.path.join(runs, name), os.path.join(folder, name))
    shutil.rmtree(runs)


def run_free(args, pair, size, folder, work, times):
    """Without a profiler."""
    for i in times:
        for side in order(i):
            execute(program(args, pair, side, size, work), folder, "unprofiled.jsonl")


def capture_one(args, pair, size):
    plain = os.path.join(args.folder, f"{pair.name}-{size}")
    folder = plain + ("" if args.collector == "cupti" else "-" + args.collector)
    if os.path.exists(os.path.join(folder, "profiled.jsonl")):
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    start = time.monotonic()
    runs = rows.read_jsonl(os.path.join(plain, "unprofiled.jsonl"))  # of the other collector: to the same work
    work = ("--fault-work", str(runs[0]["fault_work"])) if runs else ()
    if not work:
        short = ("--steps", str(args.warmup + 2))
        first = execute(program(args, pair, "baseline", size, short), folder, "calibration.jsonl")
        work = ("--fault-work", re.search(r'"fault_work":(\d+)', first).group(1))
    # half before and half after the captures, so that a drift of the machine falls on both alike
    half = (args.unprofiled + 1) // 2
    run_free(args, pair, size, folder, work, range(half))
    run_both(args, pair, size, folder, work)
    run_free(args, pair, size, folder, work, range(half, args.unprofiled))
    say(f"{os.path.basename(folder)}: {time.monotonic() - start:.1f} s")


def capture(args):
    until, failed = time.monotonic() + args.seconds, 0
    for pair in rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv")):
        if (args.pairs and pair.name not in args.pairs.split(",")) or pair.gpus > int(args.gpus):
            continue
        for size in pair.sizes[args.nth : args.nth + 1] if args.nth is not None else pair.sizes:
            if time.monotonic() > until:
                say(f"{pair.name}-{size}: left out, the time is up")
                continue
            try:
                capture_one(args, pair, size)
            except SystemExit as failure:  # the others are worth having
                say(f"{pair.name}-{size}: {failure}")
                failed = 1
    return failed


# ---- judge ----


def unpack(folder, scratch):
    """The folder, or a copy with its packed captures unpacked."""
    packed = os.path.join(folder, "captures.tar.xz")
    if not os.path.exists(packed):
        return folder
    to = os.path.join(scratch, os.path.basename(folder))
    os.makedirs(to)
    for name in os.listdir(folder):
        if name.endswith(".jsonl"):
            shutil.copyfile(os.path.join(folder, name), os.path.join(to, name))
    with tarfile.open(packed) as tar:
        for member in tar:
            if member.isfile() and re.fullmatch(r"(baseline|fixed)-\d+\.sqlite", member.name):
                with open(os.path.join(to, member.name), "wb") as out:
                    shutil.copyfileobj(tar.extractfile(member), out)
    return to


def write(table, name):
    with open(name + ".md", "w", encoding="utf-8") as file:
        file.write(table.markdown())
    table.write_json(name + ".json")
    table.write_tsv(name + ".tsv")


def judge(args):
    if not os.path.isdir(args.folder):
        say(f"skipped: {args.folder} is not there")
        return 77
    pairs = rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv"))
    with tempfile.TemporaryDirectory() as scratch:
        table = rows.Table(pairs, args.folder, args.gapline, lambda folder: unpack(folder, scratch))
    if not table.rows:
        raise SystemExit(f"{args.folder}: no captured pair is here")
    if args.table:
        write(table, args.table)
    print(table.markdown())
    problems = table.worse_than(args.against) if args.against else [] if args.kept else table.problems()
    problems += not_kept(table, args.kept) if args.kept else []
    for problem in problems:
        say(problem)
    return 1 if problems else 0


def not_kept(table, kept):
    """The first line of each kept file that is another one now."""
    words = rows.faults(os.path.join(ROOT, "workloads", "README.md"))
    with tempfile.TemporaryDirectory() as scratch:
        made = os.path.join(scratch, "table")
        write(table, made)
        for ending in (".md", ".tsv", ".json"):
            texts = []
            for name in (kept, made):
                with open(name + ending, encoding="utf-8") as file:
                    texts.append(rows.short_table(json.load(file), words) if ending == ".json" else file.read())
            for was, now in itertools.zip_longest(*(text.splitlines() for text in texts)):
                if was != now:
                    yield f"{kept}{ending} has\n  {was}\nand gapline says\n  {now}\n(judge --table {kept}, then page, write it down)"
                    break


# ---- pack ----


def nameless(member):
    """Owner and time do not belong into a repository: the same bytes every time."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def pack(args):
    pairs = rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv"))
    sampled = tuple(pair.name + "-" for pair in pairs if "py" in pair.trace.split(","))
    for name in sorted(os.listdir(args.folder)):
        folder = os.path.join(args.folder, name)
        if not os.path.exists(os.path.join(folder, "profiled.jsonl")):
            continue
        keep = NO_CHANGE_RUNS if name.startswith("no-change") else args.keep
        to = os.path.join(args.to, name)
        os.makedirs(to, exist_ok=True)
        for file in ("unprofiled.jsonl", "profiled.jsonl", "stopwatch.jsonl"):
            if os.path.exists(os.path.join(folder, file)):
                shutil.copyfile(os.path.join(folder, file), os.path.join(to, file))
        with tempfile.TemporaryDirectory() as scratch, tarfile.open(os.path.join(to, "captures.tar.xz"), "w:xz", preset=9) as tar:
            for file in sorted(os.listdir(folder), key=rows.natural):
                match = re.fullmatch(r"(baseline|fixed)-(\d+)\.sqlite", file)
                if not match or int(match.group(2)) > keep:
                    continue
                clean = os.path.join(scratch, file)
                words = [args.gapline, "scrub", "-q", os.path.join(folder, file), "-o", clean]
                subprocess.run(words + ["--keep-stacks"] * name.startswith(sampled), check=True)
                tar.add(clean, file, filter=nameless)
        if os.path.getsize(os.path.join(to, "captures.tar.xz")) > args.most:
            shutil.rmtree(to)
            say(f"{name}: too large, left out")
    return 0


# ---- reports ----


def reports(args):
    """Of the largest size of each pair that is there, numbered as in the gallery, which asks for the fault."""
    os.makedirs(os.path.join(args.folder, "reports"), exist_ok=True)
    for pair in rows.read_pairs(os.path.join(ROOT, "workloads", "truth.tsv")):
        folders = [os.path.join(args.folder, f"{pair.name}-{size}") for size in reversed(pair.sizes)]
        folder = next((folder for folder in folders if os.path.isdir(folder)), None)
        if folder is None or pair.name != pair.program:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            words = [args.gapline, "report", "-q", "--title", f"Report {rows.GALLERY.index(pair.name) + 1}: two versions of a program"]  # no fault's name
            captures = unpack(folder, scratch)
            for side in ("baseline", "fixed"):
                for file in sorted((f for f in os.listdir(captures) if f.startswith(side)), key=rows.natural):
                    words += [f"--{side}", os.path.join(captures, file)]
            subprocess.run(words + ["-o", os.path.join(args.folder, "reports", pair.name + ".html")], check=True)
    return 0


# ---- page ----


def page_text():
    """docs/method/truth.md as it should be, and as it is."""
    with open(os.path.join(ROOT, "examples", "truth", "table.json"), encoding="utf-8") as file:
        table = rows.short_table(json.load(file), rows.faults(os.path.join(ROOT, "workloads", "README.md")))
    with open(os.path.join(ROOT, "docs", "method", "truth.md"), encoding="utf-8") as file:
        text = file.read()
    return rows.put_between_marks(text, table), text


def page(_):
    text, _ = page_text()
    with open(os.path.join(ROOT, "docs", "method", "truth.md"), "w", encoding="utf-8") as file:
        file.write(text)
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
    c.add_argument("--nth", type=int, help="only this one of a pair's sizes, from 0")
    c.add_argument("--steps", type=int, default=60)
    c.add_argument("--warmup", type=int, default=10)
    c.add_argument("--recorded", type=int, default=2, help="captures of each side")
    c.add_argument("--repeat", type=int, default=5, help="timed runs of each side")
    c.add_argument("--seconds", type=float, default=1e9, help="begin no further pair after so long")
    c.add_argument("--unprofiled", type=int, default=2, help="runs of each side without a profiler or a stopwatch")
    j = commands.add_parser("judge")
    j.add_argument("folder")
    j.add_argument("--gapline", default=default)
    j.add_argument("--table", help="write it to TABLE.md, TABLE.tsv and TABLE.json")
    j.add_argument("--against", help="the JSON of an earlier table")
    j.add_argument("--kept", help="what --table wrote: TABLE.md, TABLE.tsv and TABLE.json are to be the same")
    p = commands.add_parser("pack")
    p.add_argument("folder")
    p.add_argument("to")
    p.add_argument("--gapline", default=default)
    p.add_argument("--keep", type=int, default=1, help="runs of each side; of no-change all")
    p.add_argument("--most", type=int, default=700000, help="bytes of a pair's captures; larger ones are left out")
    r = commands.add_parser("reports")
    r.add_argument("folder")
    r.add_argument("--gapline", default=default)
    commands.add_parser("page")
    args = parser.parse_args()
    return {"capture": capture, "judge": judge, "pack": pack, "reports": reports, "page": page}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
