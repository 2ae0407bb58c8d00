"""What the tests of `gapline capture` and `gapline run` share: a folder with small profiles, a stand-in for nsys
(standin_nsys.py) that hands them out, and the command to run in it. GAPLINE is the first word of their command line."""

import contextlib
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import tiny_profile

SUPPORT = pathlib.Path(__file__).resolve().parent
GAPLINE = pathlib.Path(sys.argv[1]).resolve()
WITH_NSYS = ["--collector", "nsys"]
RECORDED_ONLY = [*WITH_NSYS, "--repeat", "0"]


def limited(size):
    """How to start a process for which a file can have that many bytes: it stands for a full disk."""
    # Python ignores the signal that comes with it; restore_signals would have it kill.
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return {"preexec_fn": limit, "restore_signals": False}


def is_alive(pid):
    """Zombies do not count: who reaps orphans is not gapline's business."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def kernels(profile):
    db = sqlite3.connect(f"file:{profile}?immutable=1", uri=True)
    rows = db.execute("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
    db.close()
    return rows


# Waits for the file "go". It starts no process: one that is stopped between vfork and exec keeps its parent from stopping.
WAITS = """import os, time
open("ready", "w")
print("begun", flush=True)
while not os.path.exists("go"):
    time.sleep(0.1)
print("went on")
"""


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory(prefix="gapline-run-")
        cls.profiles = pathlib.Path(cls.made.name) / "profiles"
        cls.profiles.mkdir()
        for i in range(6):
            tiny_profile.write(cls.profiles / f"base-{i}.sqlite", seed=10 + i)
            tiny_profile.write(cls.profiles / f"fixed-{i}.sqlite", load=50_000, seed=20 + i)
            tiny_profile.write(cls.profiles / f"whole-{i}.sqlite", seed=30 + i, nvtx=False)
            tiny_profile.write(cls.profiles / f"whole-fixed-{i}.sqlite", load=50_000, seed=40 + i, nvtx=False)
        tiny_profile.write(cls.profiles / "no-gpu.sqlite", kernels=0)

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def own(self, name):
        """A profile for this test to change; the others are all tests'."""
        path = self.folder / name
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        return path

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.made.name))
        for profile in self.profiles.iterdir():
            if profile.suffix == ".sqlite":
                (self.folder / profile.name).symlink_to(profile)
        kept = {k: v for k, v in os.environ.items() if k.startswith(("ASAN", "UBSAN", "LSAN"))}
        self.env = kept | {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder),
            "LC_ALL": "C",
            "TERM": "xterm",
            "GAPLINE_NSYS": str(SUPPORT / "standin_nsys.py"),
        }

    def start(self, *arguments, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        env = self.env | how.pop("env", {})
        return subprocess.Popen([GAPLINE, *arguments], cwd=self.folder, env=env, text=True, **how)

    def gapline(self, *arguments, status=0, **how):
        process = self.start(*arguments, **how)
        out, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, said)
        return out, said

    def capture(self, *arguments, **how):
        return self.gapline("capture", *WITH_NSYS, *arguments, **how)

    def run_both(self, *arguments, **how):
        return self.gapline("run", *RECORDED_ONLY, *arguments, **how)

    def files(self, name="."):
        """What a folder holds, hidden files included, without the inputs."""
        return sorted(p.name for p in (self.folder / name).iterdir() if not p.is_symlink() and p.suffix != ".count")

    def no_files(self):
        self.assertEqual([n for n in self.files() if not n.endswith("count.sqlite")], [])

    def wait_for(self, what):
        for _ in range(500):
            if what():
                return
            time.sleep(0.02)
        self.fail("it did not happen within ten seconds")

    def pids(self, name):
        path = self.folder / name
        self.wait_for(lambda: path.exists() and path.read_text().endswith("\n"))
        return [int(n) for n in path.read_text().split()]


class Installed(Case):
    """gapline with a collector of its own, as installed: bin/gapline and lib/gapline/. No target here uses CUDA, so the
    library is never loaded; what is tested is everything around it."""

    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        (self.folder / "lib/gapline").mkdir(parents=True)
        self.installed = self.folder / "bin/gapline"
        shutil.copy(GAPLINE, self.installed)
        self.library = self.folder / "lib/gapline/libgapline-cupti.so"
        self.library.touch()
        (self.folder / "cupti").mkdir()
        (self.folder / "cupti/libcupti.so.13").touch()
        self.env["LD_LIBRARY_PATH"] = str(self.folder / "cupti")

    def start(self, *arguments, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        env = self.env | how.pop("env", {})
        return subprocess.Popen([self.installed, *arguments], cwd=self.folder, env=env, text=True, **how)


class Part(unittest.TestLoader):
    """Every n-th test from the i-th on: `--part i/n` among the words, so that n of these run all of them."""

    def __init__(self, part):
        super().__init__()
        self.i, self.n = map(int, part.split("/"))
        assert 1 <= self.i <= self.n, part

    def getTestCaseNames(self, case):
        return super().getTestCaseNames(case)[self.i - 1 :: self.n]


def main():
    del sys.argv[1]
    part = "1/1"
    if "--part" in sys.argv:
        at = sys.argv.index("--part")
        _, part = sys.argv[at : at + 2]
        del sys.argv[at : at + 2]
    unittest.main(testLoader=Part(part))
