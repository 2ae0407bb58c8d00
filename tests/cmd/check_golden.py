#!/usr/bin/env python3
"""Compares the reports of the recorded examples with the kept ones.

    check_golden.py BUILD/tests [--refresh]

Every finished report in examples/ is made again: the page and the terminal's words have to be the same byte for byte (the
page's compressed data once it is inflated: another zlib may pack it differently), the JSON the same but for the last
digits of its numbers, which another machine's libm may round differently. --refresh writes
down what is said now; the diff is the review. The check fails when a capture is missing, and when the capture's own
program measured something else than the report says.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDER = os.path.join(ROOT, "examples", "training-step")
RUNS = ["--baseline", "runs/baseline-*.sqlite.gz", "--fixed", "runs/fixed-*.sqlite.gz"]
REPORTS = {
    "report": ["baseline.sqlite.gz", "fixed.sqlite.gz"],
    "report-3-runs": RUNS,
}
failed = 0
passed = 0


def check(ok, what):
    global failed, passed
    passed += ok
    failed += not ok
    if not ok:
        print("FAIL", what)


def differences(a, b, path=""):
    """Where two JSON values differ by more than rounding."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool) and not isinstance(b, bool):
        return [] if abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-3) else [f"{path}: {a} and {b}"]
    if type(a) is not type(b):
        return [f"{path}: {a!r} and {b!r}"]
    if isinstance(a, dict):
        found = [f"{path}.{key} is on one side only" for key in sorted(set(a) ^ set(b))]
        return found + [d for key in a if key in b for d in differences(a[key], b[key], f"{path}.{key}")]
    if isinstance(a, list):
        if len(a) != len(b):
            return [f"{path}: {len(a)} and {len(b)} entries"]
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [f"{path}: {a!r} and {b!r}"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def inflated(page):
    """The page with its data as JSON."""
    data = re.search(r'(<script id="data"[^>]*>)([^<]*)', page)
    return page.replace(data[0], data[1] + zlib.decompress(base64.b64decode(data[2], validate=True)).decode())


def make(gapline, arguments, folder, command="report"):
    page, result = os.path.join(folder, "report.html"), os.path.join(folder, "result.json")
    run = subprocess.run([gapline, command, *arguments, "-o", page, "--json", result], cwd=FOLDER,
                         capture_output=True, text=True, check=False)
    check(run.returncode == 0, f"{' '.join(arguments)}: status {run.returncode}: {run.stderr}")
    return {".html": read(page), ".json": read(result), ".txt": run.stdout}


def compare(name, made, refresh):
    for ending, text in made.items():
        path = os.path.join(FOLDER, name + ending)
        if refresh:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        elif not os.path.exists(path):
            check(False, f"{name}{ending} is not kept; check_golden.py BUILD/tests --refresh writes it")
        elif ending == ".json":
            found = differences(json.loads(read(path)), json.loads(text))
            check(not found, f"{name}{ending} differs: {found[:5]}")
        else:
            same = inflated if ending == ".html" else str
            check(same(read(path)) == same(text), f"{name}{ending} differs from what is kept")


def printed(name):
    """Each side's times a step as the program itself measured them, run by run."""
    found = {"baseline": [], "fixed": []}
    for line in read(os.path.join(FOLDER, name)).splitlines():
        row = json.loads(line)
        found[row["variant"]].append(row["step_ms"])
    return found


def mean(values):
    return sum(values) / len(values)


def check_truth(results):
    """What the program itself printed in the runs that are reported, its own wall-clock, is what the reports have to say."""
    for side, own in printed("profiled.jsonl").items():
        one, runs = results["report"][side]["steps"], results["report-3-runs"][side]["steps"]
        check(abs(one["recorded_ms"] / own[0] - 1) < 0.03, f"{side}: {one['recorded_ms']} ms recorded, program {own[0]}")
        check(abs(one["recorded_timed_ms"] / own[0] - 1) < 0.005, f"{side}: {one['recorded_timed_ms']} ms of the timed steps recorded, program {own[0]}")
        check(abs(runs["period_ms"]["mean"] / mean(own[1:]) - 1) < 0.03, f"{side}, runs: {runs['period_ms']['mean']} ms, program {mean(own[1:])}")
    for side, own in printed("stopwatch.jsonl").items():
        found = results["report"][side]["steps"]["stopwatch_ms"]
        check(abs(found / mean(own) - 1) < 0.01, f"{side}: {found} ms by the stopwatch, program {mean(own)}")
    free = printed("unprofiled.jsonl")
    truth = mean(free["baseline"]) / mean(free["fixed"])
    low, high = results["report"]["verdict"]["ci95"]
    check(low <= truth <= high, f"the speedup of runs without anything, {truth}, is outside of [{low}, {high}]")
    check(results["report"]["verdict"]["measured"] == "stopwatch", "the stopwatch does not decide")
    for name, result in results.items():
        check(result["verdict"]["result"] == "faster", f"{name}: {result['verdict']['result']}")
        check(result["diagnosis"]["result"] == "confirmed", f"{name}: {result['diagnosis']}")
        check(result["verdict"]["comparable"], f"{name}: {result['verdict']['differences']}")
        check(result["baseline"]["phases"][0]["name"] == "data_load", f"{name}: {result['baseline']['phases'][0]}")
        resolved = {f["id"] for f in result["findings"] if f["status"] == "resolved"}
        check({"input_starvation", "pageable_copies"} <= resolved, f"{name}: resolved {resolved}")


def main():
    gapline = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "gen", "gapline")
    refresh = "--refresh" in sys.argv[2:]
    results = {}
    for name, arguments in REPORTS.items():
        with tempfile.TemporaryDirectory() as folder:
            made = make(gapline, arguments, folder)
            again = make(gapline, arguments, folder)
        check(made == again, f"{name}: the same input gave other bytes")
        compare(name, made, refresh)
        results[name] = json.loads(made[".json"])
        if name == "report":  # what is built into the program is this pair, made small
            with tempfile.TemporaryDirectory() as folder:
                check(make(gapline, [], folder, "demo") == made, "gapline demo says something else")
    check_truth(results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
