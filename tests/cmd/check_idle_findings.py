#!/usr/bin/env python3
"""Every real profile whose largest cause of idle time takes 30 % of a step has findings of at least half of that time.

    check_idle_findings.py [GAPLINE]

A made one waits for a peer in MPI before a copy to the device: that is no input. The captures lie in ../shared/captures beside the repository, or where GAPLINE_CAPTURES says; without them nothing is
checked and the status is 77.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from check_captures import ROOT, Table, command_find

sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import made_work  # noqa: E402

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


def show(gapline, path):
    out = subprocess.run([gapline, "show", path, "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out) if out.strip().startswith(b"{") else {}


def check_peers(table, gapline, folder):
    """What comes from another process is exchanged, whether or not anything was read back; what the host makes is input."""
    us = 1000
    for name, kind, call, right in (("MPI", "peer", "MPI_Waitall", "host_before_copy"), ("host code", "host", "", "input_starvation")):
        path = folder / f"{kind}.sqlite"
        made_work.make(str(path), [("halo", kind, call, 3000 * us, 0, 1), ("halo", "input", "", 60 * us, 1 << 20, 1),
                                   ("solve", "kernel", "stencil(double*)", 400 * us, 512, 5)])
        document = show(gapline, path)
        said = {"input_starvation": 0, "host_before_copy": 0} | {f["id"]: f["ms_per_step"] for f in document["findings"]}
        table.check(f"{name} before a copy", said[right] > 2.9 and sum(said[i] for i in ("input_starvation", "host_before_copy")) < said[right] + 0.01, said)
        calls = {row["cause"] for row in document["profile"]["budget"]["idle"] if row["ms_per_step"] > 2.9}
        table.check(f"{name}: the cause", calls == {"host_blocked" if kind == "peer" else "host_code"}, calls)
        table.check(f"{name}: no call of the system's", not document["profile"]["source"]["recorded"]["os_calls"])
        sums = subprocess.run([gapline, "stats", path, "--report", "osrt_sum"], capture_output=True, text=True).stdout
        table.check(f"{name}: none in nsys's table of those", "MPI" not in sums, sums)


def main():
    gapline, table, large = command_find(), Table(), 0
    with tempfile.TemporaryDirectory() as folder:
        check_peers(table, gapline, pathlib.Path(folder))
    captures = os.environ.get("GAPLINE_CAPTURES") or os.path.join(os.path.dirname(ROOT), "shared", "captures")
    if not os.path.isdir(captures):
        print("skipped: there are no captures beside the repository (../shared/captures), nor in GAPLINE_CAPTURES")
        return 77 if not table.failed else 1
    for folder, _, files in sorted(os.walk(captures)):
        for file in sorted(files):
            path = os.path.join(folder, file)
            if not file.endswith(PROFILES) or os.path.getsize(path) < 1000:
                continue
            document = show(gapline, path)
            if "profile" in document:
                large += check(table, os.path.relpath(path, captures), document["profile"], document["findings"])
    table.check("profiles with a large cause of idle time", large > 0, large)
    print(f"{table.passed} passed, {table.failed} failed")
    return table.failed > 0


if __name__ == "__main__":
    sys.exit(main())
