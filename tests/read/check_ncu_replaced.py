#!/usr/bin/env python3
"""Reports of Nsight Compute that are written while they are read, or have another one's name when ncu opens it by that: an
error, and no numbers.

    check_ncu_replaced.py GAPLINE
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_ncu  # noqa: E402
import tiny_profile  # noqa: E402

GEMM = {"name": "gemm(float *)", "grid": (8, 1, 1), "block": (128, 1, 1), "duration": 100_250, "sm": 91.25, "memory": 40.5}
WRITTEN = "was written while it was read"
# what a stand-in for ncu does to the report before it prints it, and what is said
ACTS = (('cp "$2" "$2.new"; mv "$2.new" "$2"', "was replaced while ncu printed it"), ('echo >>"$2"', WRITTEN), ('rm "$2"', "went away while ncu printed it"), ("true", ""))


class Place:
    def __init__(self, folder):
        self.folder, self.profile, self.csv = folder, folder / "a.sqlite", folder / "good.csv"
        tiny_profile.write(self.profile)
        tiny_ncu.write(self.csv, [GEMM] * 2000)

    def show(self, ncu, path=""):
        done = subprocess.run([sys.argv[1], "show", self.profile, "-q", "--ncu", ncu], capture_output=True, text=True, env=os.environ | {"PATH": f"{path}:{os.environ['PATH']}"})
        return done.returncode, done.stderr

    def written_meanwhile(self):
        stopping = threading.Event()

        def write():
            while not stopping.wait(0.001):
                with open(self.csv, "a", encoding="utf-8") as file:
                    file.write("\n")

        writer = threading.Thread(target=write)
        writer.start()
        answers = [self.show(self.csv) for _ in range(10)]
        stopping.set()
        writer.join()
        said = sum(status == 3 and WRITTEN in text for status, text in answers)
        assert said >= 5, f"written while it was read: {said} of 10 say it: {answers[0]}"
        assert self.show(self.csv) == (0, ""), "written before it was read"

    def through_ncu(self):
        tools, report = self.folder / "bin", self.folder / "a.ncu-rep"
        tools.mkdir()
        for act, expected in ACTS:
            report.write_bytes(b"NVR\0" + b"x" * 100)
            (tools / "ncu").write_text(f"#!/bin/sh\n{act}\ncat '{self.csv}'\n")
            (tools / "ncu").chmod(0o755)
            status, text = self.show(report, tools)
            assert status == (3 if expected else 0) and expected in text, f"{act}: status {status}: {text}"


def main():
    with tempfile.TemporaryDirectory() as name:
        place = Place(pathlib.Path(name))
        place.written_meanwhile()
        place.through_ncu()
    return 0


sys.exit(main())
