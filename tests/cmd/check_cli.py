#!/usr/bin/env python3
"""Runs the conversations in tests/cmd/cli/*.session against the built command.

    check_cli.py GAPLINE              compare; exit status 1 and a diff where a conversation went differently
    check_cli.py GAPLINE --refresh    write what was said into the sessions; git's diff is the review

A session is text, with shell commands on lines that begin with "$ ". Below each stands what it says: standard output,
then standard error with "! " before each line, then "[N]" when its exit status N is not 0. Lines that begin with "#"
are comments on the command that follows. Each session runs in an empty folder of its own with the profiles that make_profiles describes.
"""

import difflib
import gzip
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile

HERE = pathlib.Path(__file__).resolve().parent


def make_profiles(folder):
    def make(name, **how):
        tiny_profile.write(folder / name, **how)

    make("base.sqlite")
    make("fixed.sqlite", load=50_000, seed=2)  # a period of about 561 instead of 911 us
    make("twin.sqlite", seed=3)  # the baseline's program again
    make("other-work.sqlite", load=50_000, more_kernels=5, seed=4)
    # device memory: at most 30 + 12 MB at once, then 30 + 20; 30 MB; a free of what was allocated before the recording; 30 MB in a window
    early, late = 1_000, 20_000_000
    rows = [(early, 4096, 30_000_000, 2, 0), (early, 8192, 12_000_000, 2, 0), (late, 8192, 12_000_000, 2, 1)]
    make("memory-base.sqlite", memory=rows)
    make("memory-more.sqlite", load=50_000, seed=2, memory=[*rows, (late + 1, 8192, 20_000_000, 2, 0)])
    make("memory-less.sqlite", load=50_000, seed=2, memory=rows[:1])
    make("memory-late.sqlite", load=50_000, seed=2, memory=[*rows, (late, 512, 5, 2, 1)])
    make("memory-window.sqlite", load=50_000, seed=2, memory=rows[:1], window=True)
    make("short.sqlite", steps=9, load=300_000, jitter=300_000, seed=5)
    make("no-steps.sqlite", nvtx=False)
    make("damaged.sqlite")
    tiny_profile.damage(folder / "damaged.sqlite")
    make("no-gpu.sqlite", kernels=0)
    make("ends-early.sqlite", load=50_000, seed=2)  # every 50th kernel ends before it starts
    with sqlite3.connect(folder / "ends-early.sqlite") as db:
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = end + 1 WHERE correlationId % 50 = 7")
    db.close()
    (folder / "base.sqlite.gz").write_bytes(gzip.compress((folder / "base.sqlite").read_bytes(), mtime=0))
    (folder / "cut.sqlite").write_bytes((folder / "base.sqlite").read_bytes()[:5000])
    (folder / "notes.txt").write_text("not a profile\n")
    (folder / "empty").mkdir()
    (folder / "runs").mkdir()
    for i in range(3):
        make(f"runs/base-{i}.sqlite", seed=10 + i)
        make(f"runs/fixed-{i}.sqlite", load=50_000, seed=20 + i)
    # two ranks of one run, one of which began 50 us later; and two files of which nobody knows when they were recorded
    (folder / "ranks").mkdir()
    (folder / "unknown").mkdir()
    for i in range(2):
        begin = 1_795_900_000_000_000_000 + i * 50_000
        make(f"ranks/base-rank{i}.sqlite", seed=30 + i, started=begin)
        make(f"ranks/fixed-rank{2 * i}.sqlite", load=50_000, seed=40 + i, started=begin + 600_000_000_000)
        make(f"unknown/{'ab'[i]}.sqlite", seed=50 + i, started=0)
    (folder / "fixed-runs").mkdir()
    for i in range(3):
        shutil.copy(folder / f"runs/fixed-{i}.sqlite", folder / "fixed-runs")
    (folder / "fixed-runs/notes.txt").write_text("lies beside the profiles\n")
    (folder / "fixed-runs/fixed-0.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.")
    os.utime(folder / "fixed-runs/fixed-0.nsys-rep", (0, 0))  # its export was made of it


def environment(gapline, folder):
    kept = {k: v for k, v in os.environ.items() if k.startswith(("ASAN", "UBSAN", "LSAN", "LD_"))}
    # `terminal` runs a command with standard output and error on a terminal and prints what arrived, escapes visible
    tools = folder / ".tools"
    tools.mkdir()
    (tools / "gapline").symlink_to(gapline)
    (tools / "terminal").symlink_to(HERE / "cli" / "terminal")
    return kept | {
        "PATH": f"{tools}:/usr/bin:/bin",
        "HOME": str(folder),
        "LC_ALL": "C",
        "TERM": "xterm",
        "COLUMNS": "80",
    }


def say(command, folder, env):
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
    )
    said = done.stdout.decode("utf-8", "backslashreplace")
    said += "".join(f"! {line}\n" for line in done.stderr.decode("utf-8", "backslashreplace").splitlines())
    if said and not said.endswith("\n"):
        said += "\n(no newline at the end)\n"
    return said + (f"[{done.returncode}]\n" if done.returncode else "")


def hold(session, env_for):
    """The session's text as it goes now."""
    lines = session.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory(prefix="gapline-cli-") as made:
        folder = pathlib.Path(made)
        make_profiles(folder)
        env = env_for(folder)
        now, commands = "", 0
        for line in lines:
            if line.startswith("#"):
                now += line + "\n"
            elif line.startswith("$ "):
                now += f"{line}\n{say(line[2:], folder, env)}\n"
                commands += 1
    return now, commands


def main():
    refresh = "--refresh" in sys.argv[2:]
    gapline = pathlib.Path(sys.argv[1]).resolve()
    commands = failed = 0
    for session in sorted((HERE / "cli").glob("*.session")):
        was = session.read_text(encoding="utf-8")
        now, n = hold(session, lambda folder: environment(gapline, folder))
        commands += n
        if now == was:
            continue
        failed += 1
        if refresh:
            session.write_text(now, encoding="utf-8")
            print(f"refreshed {session.name}")
        else:
            names = f"{session.name} (expected)", f"{session.name} (now)"
            sys.stdout.writelines(difflib.unified_diff(was.splitlines(True), now.splitlines(True), *names))
    print(f"{commands} commands in the conversations, {failed} conversations differ")
    if not commands:
        sys.exit("no conversation was found")
    sys.exit(bool(failed) and not refresh)


if __name__ == "__main__":
    main()
