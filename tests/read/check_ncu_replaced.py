#!/usr/bin/env python3
"""Reports of Nsight Compute that are written while they are read: an error, and no numbers. One that has another one's
name by now is read all the same.

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
# what happens to the report of that name while a stand-in for ncu prints it, and what is said: a name is not the file
ACTS = (('cp "$NAME" "$NAME.new"; mv "$NAME.new" "$NAME"', ""), ('echo >>"$NAME"', WRITTEN), ('rm "$NAME"', ""), ("true", ""))


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
            before, same = "NAME='%s'" % report, f"[ \"$(head -c 3 \"$2\")\" = NVR ]"
            (tools / "ncu").write_text(f"#!/bin/sh\n{before}\n{act}\n{same} && cat '{self.csv}'\n")
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
