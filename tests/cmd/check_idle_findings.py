#!/usr/bin/env python3
"""Every real profile whose largest cause of idle time takes 30 % of a step has findings of at least half of that time.

    check_idle_findings.py [GAPLINE]

The captures lie in ../shared/captures beside the repository, or where GAPLINE_CAPTURES says; without them nothing is
checked and the status is 77.
"""
import collections
import json
import os
import subprocess
import sys

from check_captures import ROOT, Table, command_find

LARGE, HALF = 0.3, 0.5
BUSY = {"gpu_bound", "comm_exposed", "serial_copies", "straggler"}  # of time in which the GPU is not idle
PROFILES = (".sqlite.gz", ".json", ".json.gz", ".sqlite")


def check(table, name, profile, findings):
    budget, idle = profile["budget"], collections.Counter()
    for row in budget["idle"]:
        idle[row["cause"]] += row["ms_per_step"]
    cause, most = idle.most_common(1)[0] if idle else ("none", 0)
    if most < LARGE * budget["per_step"]["period"]:
        return False
    said = {f["id"]: round(f["ms_per_step"], 3) for f in findings if f["id"] not in BUSY}
    table.check(f"{name}: {cause}", sum(said.values()) >= HALF * most, f"{most:.3f} ms, {said}")
    return True


def main():
    captures = os.environ.get("GAPLINE_CAPTURES") or os.path.join(os.path.dirname(ROOT), "shared", "captures")
    if not os.path.isdir(captures):
        print("skipped: there are no captures beside the repository (../shared/captures), nor in GAPLINE_CAPTURES")
        return 77
    gapline, table, large = command_find(), Table(), 0
    for folder, _, files in sorted(os.walk(captures)):
        for file in sorted(files):
            path = os.path.join(folder, file)
            if not file.endswith(PROFILES) or os.path.getsize(path) < 1000:
                continue
            out = subprocess.run([gapline, "show", path, "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            document = json.loads(out) if out.strip().startswith(b"{") else {}
            if "profile" in document:
                large += check(table, os.path.relpath(path, captures), document["profile"], document["findings"])
    table.check("profiles with a large cause of idle time", large > 0, large)
    print(f"{table.passed} passed, {table.failed} failed")
    return table.failed > 0


if __name__ == "__main__":
    sys.exit(main())
