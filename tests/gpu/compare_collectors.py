#!/usr/bin/env python3
"""Holds gapline's own collector against nsys on a machine with a GPU: the same program, captured by both in turns, has to
give the same kernels, copies, API calls, NVTX ranges and synchronisations, the same step period (2 %) and the same budget
(5 % of the period), and `nsys stats` has to print the same rows for both profiles. Where a program prints its own step
time ("1.234 ms a step", or step_ms in JSON), it also runs without a profiler, and the table says what each of them cost:
where the two periods differ, that tells which is nearer to the truth.

Known differences, left out of the comparison:
- cuKernelGetName, which the CUDA 13 runtime calls at every launch that nsys watches: not the program's;
- nsys 2025.3 gives waits for a stream (CUPTI's type 3) the type 2, and has no rows of type 4 (a whole context).

    compare_collectors.py GAPLINE OUT [--repeat N] NAME=COMMAND ...

Writes OUT/collectors.txt (the table) and OUT/NAME/*.sqlite (what was captured: not scrubbed, do not share). Exit status 1
when something differs that must not.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shlex
import sqlite3
import statistics
import subprocess
import sys

COLLECTORS = ("nsys", "cupti")
PARTS = ("compute", "comm_exposed", "copy_exposed", "idle")
PERIOD_WITHIN, BUDGET_WITHIN = 0.02, 0.05

# What is counted in a profile, by name: the text is what the table calls it.
COUNTS = {
    "kernels": "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.{kernel} GROUP BY 1",
    "copies": "SELECT copyKind || ' ' || bytes, count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1",
    "memsets": "SELECT bytes, count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET GROUP BY 1",
    "graphs": "SELECT 'graph', count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE GROUP BY 1",
    "calls": "SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId"
    " WHERE s.value <> 'cuKernelGetName' GROUP BY 1",
    "syncs": "SELECT CASE syncType WHEN 1 THEN 'event' ELSE 'stream' END, count(*)"
    " FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE syncType <> 4 GROUP BY 1",
    "ranges": "SELECT coalesce(s.value, n.text) || ' ' || n.eventType, count(*) FROM NVTX_EVENTS n LEFT JOIN StringIds s"
    " ON s.id = n.textId WHERE n.eventType IN (34, 59, 60) GROUP BY 1",
}
# Rows of `nsys stats` that must agree: report, columns that name a row, columns that count in it.
STATS = {
    "cuda_gpu_kern_sum": (("Name",), ("Instances",)),
    "cuda_gpu_kern_sum:base": (("Name",), ("Instances",)),
    "cuda_api_sum": (("Name",), ("Num Calls",)),
    "cuda_gpu_mem_time_sum": (("Operation",), ("Count",)),
    "cuda_gpu_mem_size_sum": (("Operation",), ("Total (MB)", "Count")),
    "nvtx_sum": (("Style", "Range"), ("Instances",)),
}


def counts(profile, what):
    db = sqlite3.connect(f"file:{profile}?immutable=1", uri=True)
    columns = [row[1] for row in db.execute("PRAGMA table_info(CUPTI_ACTIVITY_KIND_KERNEL)")]
    kernel = "mangledName" if "mangledName" in columns else "demangledName"
    try:
        return collections.Counter(dict(db.execute(COUNTS[what].format(kernel=kernel))))
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return collections.Counter()
        raise
    finally:
        db.close()


def stats(nsys, profile, report):
    """Rows of a report as {name: counts}; empty when nsys has nothing to say."""
    run = subprocess.run([nsys, "stats", "--quiet", "--force-export=false", "--format=csv", "--report", report, profile],
                         capture_output=True, text=True)
    names, numbers = STATS[report]
    lines = [line for line in run.stdout.splitlines() if line.count(",") >= 2]
    return {tuple(row[n] for n in names): tuple(row[n] for n in numbers)
            for row in csv.DictReader(io.StringIO("\n".join(lines)))}


def budget(gapline, profile, folder):
    """Period and parts of the budget in ms, from the JSON of a profile against itself; None without steps."""
    out = folder / "budget.json"
    subprocess.run([gapline, "report", "--quiet", "--json", out, profile, folder / "same.sqlite"], check=True)
    side = json.loads(out.read_text())["baseline"]
    if not side["steps"]["found"]:
        return None
    parts = side["devices"][0]["per_step"]
    return {"period": side["steps"]["period_ms"]["mean"], **{part: parts[part] for part in PARTS}}


class Table:
    def __init__(self, path):
        self.file, self.failed = path.open("w"), 0

    def row(self, case, what, nsys, cupti, good, note=""):
        self.failed += good is False
        verdict = {True: "ok", False: "DIFFERS", None: ""}[good]
        line = f"{case:<18} {what:<24} {nsys:>12} {cupti:>12}  {verdict:<8} {note}".rstrip()
        print(line, flush=True)
        self.file.write(line + "\n")


def own_step_ms(output):
    found = re.search(r"([\d.]+) ms a step", output) or re.search(r'"step_ms_median":\s*([\d.]+)', output)
    return float(found.group(1)) if found else None


def differences(a, b):
    """The first few keys in which two counters differ, for the note."""
    keys = sorted((key for key in a.keys() | b.keys() if a[key] != b[key]), key=lambda k: -abs(a[k] - b[k]))
    return "; ".join(f"{str(key)[:40]}: {a[key]} / {b[key]}" for key in keys[:4])


def compare(case, command, arguments, table):
    folder = arguments.out / case
    folder.mkdir(parents=True, exist_ok=True)
    profiles, own = collections.defaultdict(list), collections.defaultdict(list)
    for i in range(arguments.repeat):
        run = subprocess.run(shlex.split(command), check=True, stdout=subprocess.PIPE, text=True)
        own["none"].append(own_step_ms(run.stdout))
        for collector in COLLECTORS if i % 2 == 0 else COLLECTORS[::-1]:
            profile = folder / f"{collector}-{i}.sqlite"
            run = subprocess.run([arguments.gapline, "capture", "--quiet", "--force", "--collector", collector,
                                  "-o", profile, "--", *shlex.split(command)], check=True, stdout=subprocess.PIPE, text=True)
            profiles[collector].append(profile)
            own[collector].append(own_step_ms(run.stdout))
    if all(time for times in own.values() for time in times):
        none, nsys, cupti = (statistics.median(own[who]) for who in ("none", *COLLECTORS))
        table.row(case, "its own step ms", f"{nsys:.4f}", f"{cupti:.4f}", None, f"{none:.4f} without a profiler")
    for what in COUNTS:
        a, b = (counts(profiles[collector][0], what) for collector in COLLECTORS)
        if a or b:
            table.row(case, what, sum(a.values()), sum(b.values()), a == b, differences(a, b))
    budgets = {}
    for collector in COLLECTORS:
        rows = []
        for profile in profiles[collector]:
            same = folder / "same.sqlite"
            same.unlink(missing_ok=True)
            same.write_bytes(profile.read_bytes())
            rows.append(budget(arguments.gapline, profile, folder))
        budgets[collector] = rows
    if all(row for rows in budgets.values() for row in rows):
        period = statistics.median(row["period"] for row in budgets["nsys"])
        for part in ("period", *PARTS):
            a, b = (statistics.median(row[part] for row in budgets[collector]) for collector in COLLECTORS)
            within = PERIOD_WITHIN if part == "period" else BUDGET_WITHIN
            if a or b:
                table.row(case, f"{part} ms", f"{a:.4f}", f"{b:.4f}", abs(a - b) <= within * period,
                          f"{100 * (b - a) / period:+.2f} % of the period")
    if not arguments.nsys:
        return
    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # it takes a second each time
        wanted = {(collector, report): pool.submit(stats, arguments.nsys, profiles[collector][0], report)
                  for report in STATS for collector in COLLECTORS}
    for report in STATS:
        a, b = (wanted[collector, report].result() for collector in COLLECTORS)
        wrong = [key for key in a.keys() | b.keys() if a.get(key) != b.get(key) and key[-1] != "cuKernelGetName"]
        table.row(case, f"stats {report}", len(a), len(b), not wrong,
                  "; ".join(f"{key[-1][:50]}: {a.get(key)} / {b.get(key)}" for key in wrong[:3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gapline")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("cases", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nsys", default=os.environ.get("GAPLINE_NSYS"), help="nsys, for nsys stats")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    table = Table(arguments.out / "collectors.txt")
    table.row("program", "what", "nsys", "cupti", None)
    for case in arguments.cases:
        name, command = case.split("=", 1)
        compare(name, command, arguments, table)
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
