#!/usr/bin/env python3
"""A PyTorch trace of more than a gigabyte: the memory that a report takes, which is held below 1.5 GB, and its processor time,
which may grow half as much again as the trace, from a tenth of it on. What a kilobyte takes, check_instructions.py holds.

    check_kineto_large.py GAPLINE [MEGABYTES]

Status 77 where the disk has no room for it.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_kineto

MEMORY_KB, GROWTH = 1_500_000, 1.5


def measure(*command):
    """Processor seconds and peak memory in KB of a command that has to succeed."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: status {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def main():
    gapline = os.path.abspath(sys.argv[1])
    megabytes = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    with tempfile.TemporaryDirectory(prefix="gapline-large-", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        if shutil.disk_usage(folder).free < 2 * megabytes << 20:
            print(f"skipped: no room for {megabytes} MB")
            return 77
        times = []
        for size in megabytes // 10, megabytes:
            trace = os.path.join(folder, "large.json")
            tiny_kineto.write(trace, megabytes=size)
            os.sync()  # else what is still to be written takes processor time, too
            seconds, kilobytes = zip(*(measure(gapline, "show", trace, "--quiet") for _ in range(3)))
            taken, memory = min(seconds), max(kilobytes)  # a host that is busy adds to the time
            times.append(taken)
            print(f"{size} MB: {taken:.1f} s, {memory // 1024} MB")
    return int(memory > MEMORY_KB or times[1] > GROWTH * 10 * times[0])


if __name__ == "__main__":
    sys.exit(main())
