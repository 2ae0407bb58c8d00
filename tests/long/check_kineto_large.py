#!/usr/bin/env python3
"""A PyTorch trace of more than a gigabyte: the memory that a report takes, and its time beside yajl's alone.

    check_kineto_large.py GAPLINE BARE_JSON [MEGABYTES]

Held to: below 1.5 GB of memory, and within 3 times the processor time that yajl alone takes for the same file, both
measured here. Status 77 where the disk has no room for it.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_kineto

MEMORY_KB, TIMES = 1_500_000, 3


def measure(*command):
    """Processor seconds and peak memory in KB of a command that has to succeed."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)}: status {child.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def main():
    gapline, bare = (os.path.abspath(path) for path in sys.argv[1:3])
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 1500
    with tempfile.TemporaryDirectory(prefix="gapline-large-", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        if shutil.disk_usage(folder).free < 2 * megabytes << 20:
            print(f"skipped: no room for {megabytes} MB")
            return 77
        trace = os.path.join(folder, "large.json")
        tiny_kineto.write(trace, megabytes=megabytes)
        alone, _ = measure(bare, trace)
        taken, memory = measure(gapline, "show", trace, "--quiet")
    print(f"{megabytes} MB: yajl alone {alone:.1f} s, gapline {taken:.1f} s ({taken / alone:.2f} times), {memory // 1024} MB")
    return int(memory > MEMORY_KB or taken > TIMES * alone)


if __name__ == "__main__":
    sys.exit(main())
