#!/usr/bin/env python3
"""Runs `gapline capture` and `gapline run` with a stand-in for nsys (standin_nsys.py) and shell commands as targets.

    check_run.py GAPLINE [-k PATTERN]
"""

import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile
import tiny_spool

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
GAPLINE = pathlib.Path(sys.argv.pop(1)).resolve() if __name__ == "__main__" else None
WITH_NSYS = ["--collector", "nsys"]
RECORDED_ONLY = [*WITH_NSYS, "--unprofiled", "0"]


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


class Capture(Case):
    def test_profile_and_output(self):
        out, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", "echo out base-0.sqlite ; echo err >&2")
        self.assertEqual(out, "out base-0.sqlite\n")
        self.assertRegex(said, r"\Aerr\ngapline: x.sqlite: \d+\.\d s, complete\n\Z")
        self.gapline("show", "x.sqlite", "-q")
        self.assertEqual(self.files(), ["x.sqlite"])

    def test_quiet(self):
        self.assertEqual(self.capture("-q", "-o", "x.sqlite", "--", "true", "base-0.sqlite"), ("", ""))

    def test_existing_file_is_kept_without_force(self):
        (self.folder / "x.sqlite").write_text("mine")
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite", status=2)
        self.assertIn("x.sqlite: exists already; --force replaces it", said)
        self.assertEqual((self.folder / "x.sqlite").read_text(), "mine")
        self.capture("--force", "-o", "x.sqlite", "--", "true", "base-0.sqlite")
        self.gapline("show", "x.sqlite", "-q")

    def test_names(self):
        env = {"RANK": "7", "EMPTY": ""}
        self.capture("-o", "r%q{RANK}-%q{EMPTY}%%.sqlite", "--", "true", "base-0.sqlite", env=env)
        self.capture("-o", "%h.sqlite", "--", "true", "base-0.sqlite")
        out, _ = self.capture("-o", "p%p.sqlite", "--", "sh", "-c", "echo $$ base-0.sqlite")
        self.assertEqual(
            self.files(), sorted(["r7-%.sqlite", f"{socket.gethostname()}.sqlite", f"p{out.split()[0]}.sqlite"])
        )

    def test_names_that_cannot_be(self):
        for name, words in (
            ("%q{NOT_SET}.sqlite", "the environment has no variable NOT_SET"),
            ("%x.sqlite", "'%x' is unknown"),
            ("%q{RANK.sqlite", "'%q' is unknown"),
            ("a%p/x.sqlite", "%p can stand in the file's name only"),
            ("nowhere/x.sqlite", "nowhere/x.sqlite: there is no folder nowhere/\n"),
            ("profiles/", "names a folder"),
        ):
            with self.subTest(name):
                _, said = self.capture("-o", name, "--", "touch", "ran", status=2)
                self.assertIn(words, said)
                self.no_files()

    def test_failing_program_keeps_its_profile(self):
        _, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", "exit 9; base-0.sqlite", status=3)
        self.assertRegex(said, r"x.sqlite: .*the program ended with exit status 9\n")
        self.gapline("show", "x.sqlite", "-q")

    def test_killed_program(self):
        _, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", "kill -SEGV $$; base-0.sqlite", status=3)
        self.assertRegex(said, r"x.sqlite: .*the program was killed by SIGSEGV \(signal 11\)\n")

    def test_program_that_is_not_there(self):
        _, said = self.capture("-o", "x.sqlite", "--", "no-such-program", status=2)
        self.assertEqual(said, "gapline: no-such-program: there is no such program on PATH\n")
        _, said = self.capture("-o", "x.sqlite", "--", "./base-0.sqlite", status=2)
        self.assertIn("there is no such program, or it is not executable", said)
        (self.folder / "script").write_text("#!/no/such/interpreter\n")
        (self.folder / "script").chmod(0o755)
        _, said = self.capture("-o", "x.sqlite", "--", "./script", status=2, env={"STANDIN_NSYS": "no-report"})
        self.assertIn("./script: cannot be started", said)

    def test_what_is_left_behind_is_ended(self):
        script = "sh -c 'trap \"\" TERM; echo $$ > pid; sleep 60 & wait; sleep 60' & sleep 0.3; : base-0.sqlite"
        _, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", script)
        self.assertIn("gapline: the program left processes behind, which were ended\n", said)
        self.assertFalse(is_alive(self.pids("pid")[0]))

    def test_duration(self):
        script = "echo $$ > pid; trap 'echo asked; exit 4' TERM; sleep 60 & wait; : base-0.sqlite"
        out, said = self.capture("--duration", "1", "-o", "x.sqlite", "--", "sh", "-c", script)
        self.assertEqual(out, "asked\n")
        self.assertIn(", complete\n", said)
        self.assertFalse(is_alive(self.pids("pid")[0]))

    def test_duration_without_kill(self):
        out, said = self.capture(
            "--duration", "1", "--kill", "none", "-o", "x.sqlite", "--", "sh", "-c", "sleep 2; echo base-0.sqlite"
        )
        self.assertEqual(out, "base-0.sqlite\n")
        self.assertIn(", complete\n", said)

    def test_disk_is_full(self):
        size = os.stat(self.folder / "base-0.sqlite").st_size  # the export fits, notes in it do not
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite", status=2, **limited(size))
        self.assertRegex(said, r"what was captured cannot be noted in the profile: .+\n\Z")
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite", status=2, env={"STANDIN_NSYS": "full"})
        self.assertIn("nsys wrote no report: the disk is full; nsys said: ", said)
        both = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite", "-o", "out"]
        _, said = self.run_both(*both, status=2, env={"STANDIN_NSYS": "full-export"})
        self.assertIn("nsys export failed", said)
        self.assertNotIn("x.sqlite", self.files())

    def test_options_reach_nsys(self):
        def options(*given):
            self.capture(*given, "--force", "-o", "x.sqlite", "--", "true", "base-0.sqlite", env={"STANDIN_ARGS": "args"})
            return [o for o in (self.folder / "args").read_text().split() if not o.startswith("--output")]

        common = ["--force-overwrite=true", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none"]
        self.assertEqual(options(), [*common, "--cuda-graph-trace=graph", "--wait=primary", "--kill=sigterm"])
        self.assertIn("--trace=cuda,nvtx,osrt", options("--trace", "cuda,nvtx,osrt"))
        self.assertIn("--trace=cuda", options("--trace", "cuda"))
        self.assertIn("--cuda-graph-trace=node", options("--cuda-graph-trace", "node"))
        some = options("--delay", "2", "--duration", "9", "--kill", "sigkill", "--capture-range", "cudaProfilerApi")
        for option in "--delay=2", "--duration=9", "--kill=sigkill", "--capture-range=cudaProfilerApi":
            self.assertIn(option, some)
        self.assertIn("--capture-range-end=stop", some)

    def test_wrong_usage(self):
        for words, arguments in (
            ("a command is needed", ["-o", "x.sqlite"]),
            ("a file for the profile is needed", ["--", "true"]),
            ("--kill says what happens after --duration", ["-o", "x", "--kill", "none", "--", "true"]),
            ("'vulkan' is none of cuda, nvtx and osrt", ["-o", "x", "--trace", "cuda,vulkan", "--", "true"]),
            ("cuda has to be among them", ["-o", "x", "--trace", "nvtx", "--", "true"]),
            ("'' is none of cuda, nvtx and osrt", ["-o", "x", "--trace", "cuda,", "--", "true"]),
            ("nsys counts --delay and --duration in whole seconds", ["-o", "x", "--delay", "0.5", "--", "true"]),
        ):
            with self.subTest(words):
                _, said = self.capture(*arguments, status=2)
                self.assertIn(words, said)
                self.no_files()

    def test_failure_modes_of_nsys(self):
        for mode, status, words in (
            ("old", 2, "version 2019.5.2 is too old"),
            ("broken", 2, "libdw.so.1: cannot open shared object file"),
            ("refused", 3, "it may not trace processes here"),
            ("no-report", 3, "nsys wrote no report (exit status 0): The target application terminated without a word."),
            ("no-importer", 3, "its importer did not run"),
            ("no-export", 3, "install what it misses, usually libdw1 and libelf1"),
            ("dies", 3, "nsys itself was killed by SIGKILL"),
        ):
            with self.subTest(mode):
                script = "echo $$ >> pids; sleep 0.4; : base-0.sqlite"
                _, said = self.capture(
                    "-o", "x.sqlite", "--", "sh", "-c", script, status=status, env={"STANDIN_NSYS": mode}
                )
                self.assertIn(words, said)
                self.assertNotIn("x.sqlite", self.files())
                self.assertFalse([n for n in self.files() if n.startswith(".")])
        self.assertFalse([pid for pid in self.pids("pids") if is_alive(pid)])

    def test_what_nsys_says(self):
        _, said = self.capture("-q", "-o", "x.sqlite", "--", "true", "base-0.sqlite", env={"STANDIN_NSYS": "warns"})
        self.assertEqual(said, "gapline: nsys: WARNING: the GPU is tired.\ngapline: nsys: Some events were lost.\n")
        out, _ = self.gapline("report", "x.sqlite", "x.sqlite", "--json", "-")  # nor is what concerns gapline's own process told later
        self.assertIn("Some events were lost", out)
        self.assertNotIn("No CUDA events", out)

    def test_output_through_nsys(self):
        env = {"STANDIN_NSYS": "closes-descriptors"}
        out, _ = self.capture("-o", "x.sqlite", "--", "sh", "-c", "echo mine: base-0.sqlite", env=env)
        self.assertIn("mine: base-0.sqlite\n", out)

    def test_no_nsys(self):
        _, said = self.capture("-o", "x", "--", "true", status=2, env={"GAPLINE_NSYS": "/no/such/nsys"})
        self.assertIn("/no/such/nsys, which GAPLINE_NSYS names, is no program that can be started", said)

    def test_much_output(self):
        out, _ = self.capture("-o", "x.sqlite", "--", "sh", "-c", "seq 300000; : base-0.sqlite")
        self.assertEqual(out, "".join(f"{i}\n" for i in range(1, 300001)))

    def test_interrupt(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                script = "echo $$ > pid; sleep 60; : base-0.sqlite"
                process = self.start("capture", *WITH_NSYS, "--force", "-o", "x.sqlite", "--", "sh", "-c", script)
                pid = self.pids("pid")[0]
                process.send_signal(number)
                _, said = process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number)
                self.assertIn("x.sqlite: ", said)
                self.assertIn("the capture was interrupted", said)
                self.assertFalse(is_alive(pid))
                self.gapline("show", "x.sqlite", "-q")
                (self.folder / "pid").unlink()


class Run(Case):
    BOTH = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite"]

    def state(self, folder="out"):
        return json.loads((self.folder / folder / "run.json").read_text())

    def order(self, folder="out"):
        return " ".join(f"{r['side'][0]}{r['run']}" for r in self.state(folder)["runs"])

    def test_both_sides(self):
        out, said = self.run_both(*self.BOTH, "-o", "out")
        self.assertRegex(out, r"\AFaster 1\.62×")
        self.assertEqual(
            self.files("out"),
            ["baseline-1.sqlite", "baseline-2.sqlite", "baseline-3.sqlite", "fixed-1.sqlite", "fixed-2.sqlite"]
            + ["fixed-3.sqlite", "report.html", "report.json", "run.json"],
        )
        lines = re.findall(r"^gapline: run (\d) of 6: (\w+ \d): \d+\.\d s$", said, re.M)
        self.assertEqual([n for n, _ in lines], list("123456"))
        self.assertEqual(" ".join(f"{name[0]}{name[-1]}" for _, name in lines), "b1 f1 f2 b2 b3 f3")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")
        state = self.state()
        self.assertEqual(state["commands"], {"baseline": ["true", "base-#.sqlite"], "fixed": ["true", "fixed-#.sqlite"]})
        self.assertEqual(state["collector"], {"name": "nsys", "version": "2025.3.2.474-253236389321v0"})
        self.assertEqual((state["repeat"], state["steps"]), (3, True))
        self.assertEqual({r["exit_status"] for r in state["runs"]}, {0})
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(report["verdict"]["result"], "faster")
        self.assertEqual([s["steps"]["runs"] for s in (report["baseline"], report["fixed"])], [3, 3])

    def test_words_instead_of_a_line(self):
        words = ["--baseline", "--", "sh", "-c", "echo \"$1\"; : base-#.sqlite", "-", "--repeat"]
        out, _ = self.run_both("-o", "out", "--repeat", "1", *words, "--fixed", "--", "true", "-o", "fixed-#.sqlite")
        self.assertTrue(out.startswith("--repeat\n"), out)
        self.assertEqual(self.state()["commands"]["fixed"], ["true", "-o", "fixed-#.sqlite"])
        self.assertEqual(self.order(), "b1 f1")

    def test_quoted_words(self):
        baseline = r"""sh -c 'printf "<%s>" "$@"; echo' a\ b "c d" '' "" x'y'"z" base-#.sqlite"""
        out, _ = self.run_both("--baseline", baseline, "--fixed", "true fixed-#.sqlite", "--repeat", "1", "-o", "out")
        self.assertTrue(out.startswith("<c d><><><xyz><base-#.sqlite>\n"), out)

    def test_what_needs_a_shell(self):
        for command in "a | b", "a && b", "a; b", "echo $HOME", 'echo "$HOME"', "a > b", "ls *.c", "(a)", "`a`", "~/a":
            with self.subTest(command):
                _, said = self.run_both("--baseline", command, "--fixed", "true", "-o", "out", status=2)
                self.assertIn("needs a shell", said)
                self.assertIn("sh -c '...'", said)
        for command, words in (
            ("A=1 b", "write: env A=1 b"),
            ("a 'b", "a quote (') that does not end"),
            ("a b\\", "ends with a backslash"),
            ("  ", "the command is empty"),
        ):
            with self.subTest(command):
                _, said = self.run_both("--baseline", command, "--fixed", "true", "-o", "out", status=2)
                self.assertIn(words, said)
        self.no_files()

    def test_wrong_usage(self):
        for words, arguments in (
            ("a command for the fixed side is needed", ["--baseline", "a", "-o", "out"]),
            ("a folder is needed", ["--baseline", "a", "--fixed", "b"]),
            ("'x' belongs to no side", ["--baseline", "a", "--fixed", "b", "x", "-o", "out"]),
            ("give one of them", [*self.BOTH, "-o", "out", "--resume", "--force"]),
            ("--fixed --: a command is to follow", ["-o", "out", "--baseline", "a", "--fixed", "--"]),
            ("--repeat: 0 is out of range", [*self.BOTH, "-o", "out", "--repeat", "0"]),
        ):
            with self.subTest(words):
                self.assertIn(words, self.run_both(*arguments, status=2)[1])
        self.no_files()

    def test_failing_side(self):
        fixed = "sh -c 'test ! -e out/baseline-3.* || exit 7; : fixed-#.sqlite'"
        _, said = self.run_both("--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out", status=3)
        self.assertIn("gapline: fixed side, run 3: 'sh -c", said)
        self.assertIn("failed: exit status 7\n", said)
        self.assertIn("gapline: 5 of 6 runs are done and kept in out; the same command with --resume goes on\n", said)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3")
        self.assertNotIn("fixed-3.sqlite", self.files("out"))
        self.assertNotIn("report.html", self.files("out"))

    def test_failing_at_once(self):
        _, said = self.run_both("--baseline", "sh -c 'kill -9 $$'", "--fixed", "true", "-o", "out", status=3)
        self.assertIn("gapline: baseline side, run 1: 'sh -c 'kill -9 $$'' failed: killed by SIGKILL (signal 9)\n", said)
        self.assertNotIn("--resume", said)
        self.assertEqual(self.files("out"), ["run.json"])

    def test_quiet_keeps_logs(self):
        script = "sh -c 'echo to the log; echo and this >&2; : {}-#.sqlite'"
        out, said = self.run_both(
            "--baseline", script.format("base"), "--fixed", script.format("fixed"), "-q", "--repeat", "2", "-o", "out"
        )
        self.assertNotIn("log;", out + said)
        self.assertTrue(out.startswith("Faster"), out)
        self.assertEqual((self.folder / "out/fixed-2.log").read_text(), "to the log\nand this\n")
        self.assertEqual(len([n for n in self.files("out") if n.endswith(".log")]), 4)

    def test_quiet_shows_the_end_of_the_log(self):
        _, said = self.run_both(
            "--baseline", "sh -c 'seq 100; printf \"\\0\\033[31mlast\"; exit 1'", "--fixed", "true", "-q", "-o", "out", status=3
        )
        tail = "".join(f"  | {i}\n" for i in range(91, 101))
        self.assertTrue(said.endswith(f"its output is in out/baseline-1.log; the end of it:\n{tail}  | ??[31mlast\n"), said)

    def test_profile_that_holds_nothing(self):
        _, said = self.run_both("--baseline", "true no-gpu.sqlite", "--fixed", "true", "-o", "out", status=3)
        self.assertIn("gapline: baseline side, run 1: out/baseline-1.sqlite: holds no GPU work", said)
        self.assertEqual(self.files("out"), ["run.json"])

    def test_step_that_is_not_there(self):
        _, said = self.run_both(*self.BOTH, "--step", "nothing", "-o", "out", status=3)
        self.assertIn("baseline side, run 1: ", said)
        self.assertIn("nothing", said)

    def test_duration(self):
        both = ["--baseline", "sh -c 'sleep 60; : base-#.sqlite'", "--fixed", "sh -c 'sleep 60; : fixed-#.sqlite'"]
        self.run_both(*both, "--duration", "1", "--repeat", "1", "-o", "out")
        self.assertEqual({r["exit_status"] for r in self.state()["runs"]}, {128 + signal.SIGTERM})

    def test_without_steps(self):
        both = ["--baseline", "true whole-#.sqlite", "--fixed", "true whole-fixed-#.sqlite"]
        out, said = self.run_both(*both, "-o", "out", "--repeat", "3")
        self.assertIn("gapline: the programs have no steps", said)
        self.assertIn("gapline: run 8 of 8: fixed 3: ", said)
        self.assertEqual(self.order(), "b0 f0 b1 f1 f2 b2 b3 f3")
        names = self.files("out")
        self.assertEqual([n for n in names if n.startswith("d")], ["discarded-baseline.sqlite", "discarded-fixed.sqlite"])
        self.assertEqual([r["discarded"] for r in self.state()["runs"]], [True, True] + [False] * 6)
        for kept, recorded in ("discarded-baseline", "whole-0"), ("baseline-1", "whole-1"), ("fixed-3", "whole-fixed-3"):
            self.assertEqual(kernels(self.folder / f"out/{kept}.sqlite"), kernels(self.profiles / f"{recorded}.sqlite"))
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual([s["steps"]["found"] for s in (report["baseline"], report["fixed"])], [False, False])
        self.assertEqual([s["steps"]["runs"] for s in (report["baseline"], report["fixed"])], [3, 3])
        self.assertTrue(out)

    def test_resume_after_failure(self):
        (self.folder / "broken").touch()
        fixed = "sh -c 'test ! -e broken || exit 7; : fixed-#.sqlite'"
        both = ["--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out"]
        self.run_both(*both, status=3)
        self.assertEqual(self.order(), "b1")
        (self.folder / "broken").unlink()
        before = (self.folder / "out/baseline-1.sqlite").stat().st_mtime_ns
        _, said = self.run_both(*both, status=2)
        self.assertIn("out: holds runs already; --resume goes on from them, --force starts anew", said)
        self.run_both(*both, "--resume")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")
        self.assertEqual((self.folder / "out/baseline-1.sqlite").stat().st_mtime_ns, before)
        self.run_both(*both, "--resume", "--repeat", "4", "-q")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3 f4 b4")
        self.run_both(*both, "--force", "--repeat", "1")
        self.assertEqual(self.order(), "b1 f1")
        self.assertEqual(
            self.files("out"), ["baseline-1.sqlite", "fixed-1.sqlite", "report.html", "report.json", "run.json"]
        )

    def test_resume_takes_a_lost_run_again(self):
        self.run_both(*self.BOTH, "--repeat", "2", "-o", "out")
        (self.folder / "out/fixed-1.sqlite").unlink()
        self.run_both(*self.BOTH, "--repeat", "2", "-o", "out", "--resume")
        self.assertEqual(self.order(), "b1 f2 b2 f1")

    def test_resume_without_anything(self):
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out", "--resume")
        self.assertEqual(self.order(), "b1 f1")

    def test_resume_refuses_what_differs(self):
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out")
        baseline, fixed = self.BOTH[:2], self.BOTH[2:]
        for words, arguments in (
            ("the baseline command was 'true 'base-#.sqlite'', and is 'true a' now", ["--baseline", "true a", *fixed]),
            ("the fixed command was", [*baseline, "--fixed", "true a"]),
            ("the options of the capture were '--trace cuda,nvtx --cuda-graph-trace graph'", [*self.BOTH, "--trace", "cuda"]),
            ("the options of the capture were", [*self.BOTH, "--delay", "1"]),
        ):
            with self.subTest(words):
                _, said = self.run_both(*arguments, "-o", "out", "--resume", status=2)
                self.assertIn(words, said)
        state = self.folder / "out/run.json"
        text = state.read_text()
        for damaged, words in (
            (text.replace("gapline-run/1", "gapline-run/2"), "was not written by this version"),
            (text[:100], "is damaged"),
            ("[]", "was not written by"),
            (text.replace('"nsys"', '"cupti"'), "the collector was cupti"),
        ):
            state.write_text(damaged)
            _, said = self.run_both(*self.BOTH, "-o", "out", "--resume", status=2)
            self.assertIn(words, said)
            self.assertEqual(state.read_text(), damaged)

    def test_state_names_only_files_of_its_folder(self):
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out")
        state = self.folder / "out/run.json"
        state.write_text(state.read_text().replace("fixed-1.sqlite", "../fixed-0.sqlite"))
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out", "--resume")
        self.assertEqual([r["profile"] for r in self.state()["runs"]], ["baseline-1.sqlite", "fixed-1.sqlite"])

    def test_folder_with_other_things(self):
        (self.folder / "out").mkdir()
        (self.folder / "out/thesis.tex").write_text("years of work")
        (self.folder / "out/fixed-1.sqlite.bak").write_text("a copy")
        _, said = self.run_both(*self.BOTH, "-o", "out", status=2)
        self.assertIn("out: holds other things (", said)
        self.run_both(*self.BOTH, "-o", "out", "--repeat", "1", "--force")
        self.assertEqual((self.folder / "out/thesis.tex").read_text(), "years of work")
        self.assertEqual((self.folder / "out/fixed-1.sqlite.bak").read_text(), "a copy")
        _, said = self.run_both(*self.BOTH, "-o", "no/out", status=2)
        self.assertIn("no/out: No such file or directory; the folder that it is to lie in has to be there", said)
        _, said = self.run_both(*self.BOTH, "-o", "base-0.sqlite", status=2)
        self.assertIn("Not a directory", said)

    def test_profiles_of_the_same_names(self):
        """A folder that no suite began belongs to somebody else, whatever its files are called."""
        (self.folder / "out").mkdir()
        (self.folder / "out/baseline-1.sqlite").write_text("captured by hand")
        _, said = self.run_both(*self.BOTH, "-o", "out", status=2)
        self.assertIn("out: holds other things ('baseline-1.sqlite')", said)
        self.assertEqual((self.folder / "out/baseline-1.sqlite").read_text(), "captured by hand")

    def test_program_that_is_not_there(self):
        """It is found out before the other side has run, and before anything is removed."""
        first = "sh -c 'touch ran; : base-#.sqlite'"
        for side in ["--baseline", "no-such-program", "--fixed", first], ["--baseline", first, "--fixed", "no-such-program"]:
            name = side[side.index("no-such-program") - 1][2:]
            _, said = self.run_both(*side, "-o", "out", status=2)
            self.assertEqual(said, f"gapline: {name} side: no-such-program: there is no such program on PATH\n")
            self.assertFalse((self.folder / "out").exists() or (self.folder / "ran").exists())
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out")
        before = self.files("out")
        self.run_both("--baseline", first, "--fixed", "no-such-program", "--force", "-o", "out", status=2)
        self.assertEqual(self.files("out"), before)

    def test_again_after_nothing(self):
        """A folder whose first run already failed needs no --force."""
        self.run_both("--baseline", "sh -c 'exit 3'", "--fixed", "true fixed-#.sqlite", "-o", "out", status=3)
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "out")

    def test_percent_in_the_folder(self):
        self.run_both(*self.BOTH, "--repeat", "1", "-o", "100%p")
        self.assertIn("fixed-1.sqlite", self.files("100%p"))

    def test_no_standard_input(self):
        reads, writes = os.pipe()
        both = ["--baseline", "sh -c 'cat; : base-#.sqlite'", "--fixed", "true fixed-#.sqlite"]
        os.write(writes, b"secret\n")
        out, _ = self.run_both(*both, "--repeat", "1", "-o", "out", stdin=reads)
        os.close(reads)
        os.close(writes)
        self.assertNotIn("secret", out)

    def test_closed_descriptors(self):
        """Closed ones are not taken by files of gapline's, and the program has what it is promised."""
        script = "readlink /proc/$$/fd/0; echo error >&2; : base-#.sqlite"
        (self.folder / "script").write_text(script)
        words = ["run", *RECORDED_ONLY, "--baseline", "sh script base-#.sqlite", "--fixed", "sh script fixed-#.sqlite"]
        close = "exec <&- >&- 2>&-; exec \"$0\" \"$@\""
        command = ["sh", "-c", close, GAPLINE, *words, "--repeat", "1", "-q", "-o", "out"]
        process = subprocess.run(command, cwd=self.folder, env=self.env, timeout=60)
        self.assertEqual(process.returncode, 2)  # the verdict could not be printed
        self.assertEqual((self.folder / "out/fixed-1.log").read_text(), "/dev/null\nerror\n")
        self.gapline("show", "out/fixed-1.sqlite", "-q")

    def test_gates(self):
        self.run_both(*self.BOTH, "--min-speedup", "1.5", "-o", "a")
        self.run_both(*self.BOTH, "--min-speedup", "1.7", "-o", "b", status=1)
        self.assertIn("report.html", self.files("b"))

    def interrupted(self, number, fixed, then=None):
        both = ["--baseline", "true base-#.sqlite", "--fixed", fixed, "-o", "out"]
        process = self.start("run", *RECORDED_ONLY, *both)
        pids = self.pids("pid")
        process.send_signal(number)
        if then:
            time.sleep(0.5)
            process.send_signal(then)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number, said)
        self.assertIn("gapline: fixed side, run 1: interrupted\n", said)
        self.assertIn("1 of 6 runs are done and kept in out; the same command with --resume goes on", said)
        self.assertFalse([pid for pid in pids if is_alive(pid)])
        self.assertEqual(self.files("out"), ["baseline-1.sqlite", "run.json"])
        self.assertEqual(self.order(), "b1")
        return both

    def test_interrupt_and_resume(self):
        fixed = "sh -c 'test -e pid || { echo $$ > pid; sleep 60; }; : fixed-#.sqlite'"
        both = self.interrupted(signal.SIGINT, fixed)
        self.run_both(*both, "--resume")
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_termination(self):
        self.interrupted(signal.SIGTERM, "sh -c 'echo $$ > pid; sleep 60; : fixed-#.sqlite'")

    def test_impatience(self):
        stubborn = "sh -c 'trap \"\" INT TERM; sleep 60 & echo $$ $! > pid; wait; sleep 60; : fixed-#.sqlite'"
        before = time.monotonic()
        self.interrupted(signal.SIGINT, stubborn, then=signal.SIGINT)
        self.assertLess(time.monotonic() - before, 30)

    def on_terminal(self, *arguments):
        master, slave = pty.openpty()
        process = self.start(*arguments, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        said = b""
        while select.select([master], [], [], 60)[0]:
            try:
                said += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0, said)
        return said.decode()

    def test_bar(self):
        both = ["--baseline", "sh -c 'sleep 0.5; : base-#.sqlite'", "--fixed", "true fixed-#.sqlite"]
        said = self.on_terminal("run", *RECORDED_ONLY, *both, "--repeat", "2", "-o", "out", "-q")
        self.assertIn("\r\x1b[K[------------------------] 0 of 4 done, baseline 1: 0.0 s", said)
        self.assertIn("\r\x1b[K[######------------------] 1 of 4 done, fixed 1: ", said)
        self.assertRegex(said, r"baseline 1: 0\.[2-9] s")
        self.assertRegex(said, r"\r\x1b\[Kgapline: run 4 of 4: baseline 2: \d+\.\d s\r\n")

    def test_no_bar_among_the_output_of_programs(self):
        said = self.on_terminal("run", *RECORDED_ONLY, *self.BOTH, "--repeat", "1", "-o", "out")
        self.assertNotIn("\x1b[K[", said)
        self.assertRegex(said, r"gapline: run 1 of 2: baseline 1\r\ngapline: run 1 of 2: baseline 1: \d")

    def test_same_warning_once(self):
        _, said = self.run_both(*self.BOTH, "-o", "out", env={"STANDIN_NSYS": "warns"})
        self.assertEqual(said.count("the GPU is tired"), 1)
        self.assertIn("gapline: baseline 1: nsys: WARNING: the GPU is tired.\n", said)


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


# Under the stand-in for nsys, whatever its profile says; else the spool of a program with one range a step.
STEPS = r"""import os, struct, sys, time
sys.path.insert(0, os.environ["TESTS"])
import tiny_spool
if "GAPLINE_SPOOL" in os.environ:
    assert "CUDA_INJECTION64_PATH" not in os.environ and "NVTX_INJECTION64_PATH" in os.environ
    now, events, period = time.monotonic_ns(), b"", int(sys.argv[2])
    for i in range(60 if period else 0):
        start = now + i * period
        events += tiny_spool.event(1, start, b"step") + tiny_spool.event(2, start + period // 2)
    head = struct.pack("<8sIIIIIIqq", b"GLSPOOL\0", 1, 1, os.getpid(), 0, 2, 0, now, now)
    with open(os.environ["GAPLINE_SPOOL"] + "/1-cuda-0.spool", "wb") as out:
        out.write(head + tiny_spool.block(tiny_spool.EVENTS, events, tid=1) + tiny_spool.block(tiny_spool.END, bytes(8)))
    time.sleep(0.2)
    sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
"""


class Unprofiled(Installed):
    """Runs in which nothing but NVTX is recorded, by gapline's own library, whatever the collector is."""

    def setUp(self):
        super().setUp()
        (self.folder / "steps.py").write_text(STEPS)
        self.env["TESTS"] = str(SUPPORT)

    def both(self, baseline=900_000, fixed=450_000, *options, status=0, more=""):
        sides = ["--baseline", f"python3 steps.py base-#.sqlite {baseline}{more}"]
        sides += ["--fixed", f"python3 steps.py fixed-#.sqlite {fixed}{more}"]
        return self.gapline("run", *WITH_NSYS, *sides, "-o", "out", *options, status=status)

    def order(self):
        runs = json.loads((self.folder / "out/run.json").read_text())["runs"]
        return " ".join(f"{r['side'][0]}{r['run']}{'u' if r['unprofiled'] else ''}" for r in runs)

    def ranges(self, name):
        db = sqlite3.connect(f"file:{self.folder}/out/{name}.sqlite?immutable=1", uri=True)
        rows = db.execute("SELECT start, end, name FROM GAPLINE_UNPROFILED ORDER BY start").fetchall()
        db.close()
        return rows

    def test_in_turns(self):
        _, said = self.both()
        self.assertEqual(self.order(), "b1 f1 f1u b1u f2 b2 b2u f2u b3 f3 f3u b3u")
        self.assertRegex(said, r"gapline: run 3 of 12: fixed 1, unprofiled: \d\.\d s\n")
        for name, period in ("baseline-3", 900_000), ("fixed-1", 450_000):
            rows = self.ranges(name)
            self.assertEqual({name for _, _, name in rows}, {"step"})
            self.assertEqual({b[0] - a[0] for a, b in zip(rows, rows[1:])}, {period})
            self.assertEqual(len(rows), 60)
        self.assertEqual([n for n in self.files("out") if "unprofiled" in n], [])

    def test_fewer_than_recorded(self):
        self.both(900_000, 450_000, "--unprofiled", "1", "-q")
        self.assertEqual(self.order(), "b1 f1 f1u b1u f2 b2 b3 f3")
        self.assertIn("fixed-1.unprofiled.log", self.files("out"))
        self.both(900_000, 450_000, "--unprofiled", "2", "-q", "--resume")
        self.assertEqual(self.order(), "b1 f1 f1u b1u f2 b2 b3 f3 b2u f2u")

    def test_program_that_fails_unprofiled(self):
        _, said = self.both(more=" 5", status=3)
        self.assertRegex(said, r"fixed side, run 1, unprofiled: 'python3 .* 450000 5' failed: exit status 5\n")
        self.assertEqual(self.order(), "b1 f1")

    def test_program_without_ranges_then(self):
        _, said = self.both(0, 0)
        self.assertIn("gapline: fixed 1, unprofiled: ", said)
        self.assertIn("; no more unprofiled runs are made\n", said)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")

    def test_asked_for_and_impossible(self):
        words = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite", "-o", "out"]
        _, said = self.gapline("run", *WITH_NSYS, *words, "--unprofiled", "1", "--trace", "cuda", status=2)
        self.assertIn("--unprofiled: steps are timed by their NVTX ranges, and --trace leaves those out", said)
        ranged = ["--unprofiled", "1", "--capture-range", "cudaProfilerApi"]
        _, said = self.gapline("run", *WITH_NSYS, *words, *ranged, status=2)
        self.assertIn("so --capture-range leaves no such runs", said)
        self.library.unlink()
        _, said = self.gapline("run", *WITH_NSYS, *words, "--unprofiled", "1", status=2)
        self.assertIn("libgapline-cupti.so does not lie beside this gapline", said)
        self.gapline("run", *WITH_NSYS, *words)
        self.assertEqual(self.order(), "b1 f1 f2 b2 b3 f3")


class Cupti(Installed):
    def environment(self, *options, **how):
        """What the target finds in its environment."""
        script = "env > env; ls -d $GAPLINE_SPOOL"
        out, said = self.gapline(
            "capture", "--collector", "cupti", *options, "-o", "x.sqlite", "--", "sh", "-c", script, status=3, **how
        )
        variables = dict(line.split("=", 1) for line in (self.folder / "env").read_text().splitlines())
        self.assertEqual(out.strip(), variables["GAPLINE_SPOOL"])
        self.assertFalse(os.path.exists(variables["GAPLINE_SPOOL"]))
        return variables, said

    def test_environment(self):
        found, said = self.environment()
        self.assertEqual(said, "gapline: nothing was recorded: the program never used CUDA\n")
        self.assertEqual(found["CUDA_INJECTION64_PATH"], str(self.library.resolve()))
        self.assertEqual(found["NVTX_INJECTION64_PATH"], str(self.library.resolve()))
        self.assertEqual(found["GAPLINE_GRAPH_TRACE"], "graph")
        for absent in "GAPLINE_START_NS", "GAPLINE_STOP_NS", "GAPLINE_CAPTURE_RANGE", "LD_PRELOAD":
            self.assertNotIn(absent, found)
        self.assertFalse([n for n in self.files() if n.startswith(".") or n.endswith(".sqlite")])

    def test_window(self):
        before = time.monotonic_ns()
        options = ["--delay", "7.5", "--duration", "2", "--capture-range", "cudaProfilerApi", "--cuda-graph-trace", "node"]
        found, said = self.environment(*options)
        start = int(found["GAPLINE_START_NS"])
        self.assertLess(abs(start - before - 7_500_000_000), 3_000_000_000)
        self.assertEqual(int(found["GAPLINE_STOP_NS"]) - start, 2_000_000_000)
        self.assertEqual(found["GAPLINE_CAPTURE_RANGE"], "cudaProfilerApi")
        self.assertEqual(found["GAPLINE_GRAPH_TRACE"], "node")
        self.assertIn("the program never called cudaProfilerStart", said)

    def test_osrt(self):
        _, said = self.gapline(
            "capture", "--collector", "cupti", "--trace", "cuda,osrt", "-o", "x", "--", "true", status=2
        )
        self.assertIn("this build of gapline has no libgapline-osrt.so", said)
        osrt, other = self.folder / "lib/gapline/libgapline-osrt.so", self.folder / "other.so"
        for library in osrt, other:  # any library that does no harm
            shutil.copy(next(pathlib.Path("/").glob("lib*/*-linux-gnu/libz.so.1")), library)
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        found, _ = self.environment("--trace", "cuda,osrt", env={"LD_PRELOAD": str(other), "ASAN_OPTIONS": asan})
        self.assertEqual(found["LD_PRELOAD"], f"{other}:{osrt.resolve()}")
        self.assertNotIn("NVTX_INJECTION64_PATH", found)

    def test_taken_by_another_tool(self):
        for name in "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH":
            _, said = self.gapline(
                "capture", "--collector", "cupti", "-o", "x", "--", "true", status=2, env={name: "/opt/tool.so"}
            )
            self.assertIn(f"({name} is set to /opt/tool.so)", said)

    def chosen(self, status=3, **how):
        return self.gapline("capture", "-o", "x.sqlite", "--", "true", "base-0.sqlite", status=status, **how)[1]

    def test_choice(self):
        self.assertIn("gapline: collector: cupti (gapline's own library and CUPTI are here)\n", self.chosen())
        self.library.unlink()
        said = self.chosen(status=0)
        self.assertIn("gapline: collector: nsys 2025.3.2.474-253236389321v0 (gapline's own library is not here)\n", said)
        said = self.chosen(status=2, env={"GAPLINE_NSYS": "/no/such/nsys"})
        self.assertIn("nothing here can capture: ", said)
        self.assertIn("does not lie beside this gapline, so it captures with nsys only", said)
        self.assertIn("/no/such/nsys", said)
        _, said = self.gapline("capture", "--collector", "cupti", "-o", "x", "--", "true", status=2)
        self.assertIn("libgapline-cupti.so does not lie beside this gapline", said)

    def test_failing_program(self):
        command = ["capture", "--collector", "cupti", "-o", "x.sqlite", "--", "sh", "-c"]
        _, said = self.gapline(*command, "exit 3", status=3)
        self.assertEqual(
            said,
            "gapline: the program failed: exit status 3; there is no profile: nothing was recorded: the program never "
            "used CUDA\n",
        )
        _, said = self.gapline(*command, "kill -ABRT $$", status=3)
        self.assertIn("the program failed: killed by SIGABRT (signal 6)", said)

    def test_duration_against_a_stubborn_program(self):
        script = "trap '' TERM; sleep 60 & echo $$ $! > pid; while :; do sleep 60; done"
        before = time.monotonic()
        self.gapline(
            "capture", "--collector", "cupti", "--duration", "0.5", "-o", "x", "--", "sh", "-c", script, status=3
        )
        self.assertLess(time.monotonic() - before, 20)
        self.assertFalse([pid for pid in self.pids("pid") if is_alive(pid)])

    def test_duration_sigkill(self):
        script = "trap 'touch asked' TERM; echo $$ > pid; sleep 60 & wait"
        self.gapline(
            "capture", "--collector", "cupti", "--duration", "0.5", "--kill", "sigkill", "-o", "x", "--", "sh", "-c",
            script, status=3,
        )  # fmt: skip
        self.assertNotIn("asked", self.files())
        self.assertFalse(is_alive(self.pids("pid")[0]))

    def test_duration_without_kill(self):
        script = "sleep 1.5; touch done"
        self.gapline(
            "capture", "--collector", "cupti", "--duration", "0.5", "--kill", "none", "-o", "x", "--", "sh", "-c",
            script, status=3,
        )  # fmt: skip
        self.assertIn("done", self.files())

    def type_at(self, script, *, keys, when):
        """Runs the script under `gapline capture` on a terminal in a session of its own, and types."""
        pid, master = pty.fork()
        if not pid:
            os.chdir(self.folder)
            command = ["capture", "--collector", "cupti", "-o", "x.sqlite", "--", "sh", "-c", script]
            os.execve(self.installed, [self.installed, *command], self.env)
        self.wait_for(lambda: (self.folder / when).exists())
        time.sleep(0.3)  # until it waits: a shell that is just starting a program hears signals later
        os.write(master, keys)
        said = b""
        with contextlib.suppress(OSError):
            while select.select([master], [], [], 30)[0]:
                said += os.read(master, 4096)
        os.close(master)
        return said.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_terminal_is_the_programs(self):
        said, status = self.type_at("touch ready; read line; echo got $line; test -t 1 && echo tty", keys=b"hello\n", when="ready")
        self.assertIn("got hello\r\ntty\r\n", said)
        self.assertEqual(status, 3)

    def test_control_c_is_the_programs(self):
        script = "trap 'echo saved; exit 0' INT; touch ready; while :; do sleep 0.1; done"
        said, status = self.type_at(script, keys=b"\x03", when="ready")
        self.assertIn("saved\r\ngapline: nothing was recorded", said)
        self.assertEqual(status, 3)

    def test_control_c_ends_the_script_around(self):
        said, status = self.type_at("touch ready; sleep 60", keys=b"\x03", when="ready")
        self.assertIn("gapline: interrupted; there is no profile", said)
        self.assertEqual(status, -signal.SIGINT)
        (self.folder / "ready").unlink()
        self.installed.rename(self.folder / "bin/real")
        self.installed.write_text("#!/bin/sh\n\"$(dirname \"$0\")/real\" \"$@\"; echo went on\n")
        self.installed.chmod(0o755)
        said, status = self.type_at("touch ready; sleep 60", keys=b"\x03", when="ready")
        self.assertNotIn("went on", said)
        self.assertEqual(status, -signal.SIGINT)

    def test_control_z_stops_both(self):
        pid, master = pty.fork()
        if not pid:
            os.chdir(self.folder)
            command = ["capture", "--collector", "cupti", "-o", "x.sqlite", "--", sys.executable, "-c", WAITS]
            os.execve(self.installed, [self.installed, *command], self.env)
        self.wait_for(lambda: (self.folder / "ready").exists())
        os.write(master, b"\x1a")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]))
        self.assertEqual(os.tcgetpgrp(master), pid)  # the shell gets its terminal back
        (self.folder / "go").touch()
        os.kill(pid, signal.SIGCONT)
        said = b""
        with contextlib.suppress(OSError):
            while select.select([master], [], [], 30)[0]:
                said += os.read(master, 4096)
        os.close(master)
        self.assertIn(b"went on", said)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)

    def test_profile_that_cannot_be_written(self):
        (self.folder / "spool").write_bytes(tiny_spool.spool())
        script = "cp spool $GAPLINE_SPOOL/1.spool"
        command = ["capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script]
        _, said = self.gapline(*command, status=2, **limited(16384))
        self.assertRegex(said, r"cannot be written: .+\n\Z")
        _, said = self.gapline(*command[:-1], script + "; exit 9", status=3, **limited(16384))
        self.assertIn("the program failed: exit status 9; there is no profile: ", said)
        self.assertNotIn("x", self.files())

    def test_records_of_another_time(self):
        """They are not taken for a program that used no CUDA."""
        (self.folder / "spool").write_bytes(tiny_spool.spool())
        _, said = self.gapline(
            "capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", "cp spool $GAPLINE_SPOOL/1.spool", status=3
        )
        self.assertRegex(said, r"of \d+ records none has times within the program's run; take --collector nsys\n\Z")

    def test_asked_to_end_as_gapline_was(self):
        for number in signal.SIGTERM, signal.SIGHUP:
            name = signal.Signals(number).name[3:]
            script = f"trap 'echo {name}; exit 0' {name}; trap 'echo INT; exit 0' INT; echo $$ > pid; sleep 60 & wait"
            process = self.start("capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script)
            self.pids("pid")
            time.sleep(0.3)  # until it waits
            process.send_signal(number)
            out, said = process.communicate(timeout=60)
            self.assertEqual((out, process.returncode), (f"{name}\n", -number), said)
            (self.folder / "pid").unlink()

    def test_first_process_of_a_container(self):
        """A signal does not end it unless it does so itself."""
        unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
            self.skipTest("no process namespaces here")
        script = "echo > ready; sleep 60 & wait"
        command = [*unshare, self.installed, "capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script]
        process = subprocess.Popen(command, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True)
        self.wait_for(lambda: (self.folder / "ready").exists())
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, said)


class Shell(Installed):
    """Jobs of an interactive shell."""

    def setUp(self):
        super().setUp()
        pid, self.terminal = pty.fork()
        if not pid:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noediting", "-i"], self.env | {"PS1": "PROMPT "})
        self.pid, self.said, self.read_to = pid, b"", 0
        self.expect("PROMPT ")

    def tearDown(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)
        super().tearDown()

    def expect(self, text):
        """Reads on until the text comes, behind what was expected before."""
        while (at := self.said.find(text.encode(), self.read_to)) < 0:
            self.assertTrue(select.select([self.terminal], [], [], 20)[0], f"no {text!r} in {self.said.decode()}")
            self.said += os.read(self.terminal, 4096)
        self.read_to = at + len(text)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def type_capture(self, script, after=""):
        self.type(f"{self.installed} capture --collector cupti -o x.sqlite -- sh -c '{script}' {after}\n")

    def test_stopped_then_in_the_background(self):
        (self.folder / "waits.py").write_text(WAITS)
        self.type(f"{self.installed} capture --collector cupti -o x.sqlite -- {sys.executable} waits.py\n")
        self.expect("begun\r\n")
        self.type("\x1a")
        self.expect("Stopped")
        self.expect("PROMPT ")
        self.type("bg\n")
        self.expect("PROMPT ")
        self.type("echo the shell has $((40 + 2))\n")  # and its terminal
        self.expect("the shell has 42")
        (self.folder / "go").touch()
        self.expect("went on")
        self.expect("nothing was recorded")

    def test_reads_the_terminal_in_the_background(self):
        self.type_capture("echo begun; read line; echo got $line", "&")
        self.expect("begun\r\n")
        for _ in range(100):
            self.type("jobs\n")
            self.expect("[1]+  ")
            if "Stopped" in self.line():
                break
            time.sleep(0.1)
        self.assertIn("Stopped", self.line())
        self.type("fg\n")
        self.expect("\r\n")
        self.type("hello\n")
        self.expect("got hello")
        self.expect("nothing was recorded")

    def line(self):
        """The rest of the line that was expected last."""
        begin = self.read_to
        self.expect("\n")
        self.read_to, end = begin, self.read_to
        return self.said[begin:end].decode()

    def test_runs_have_no_terminal(self):
        """A program that asks for a password fails, and does not wait in the background for ever."""
        asks = "sh -c \"read line < /dev/tty\""
        self.type(f"{self.installed} run --collector cupti -o out --baseline '{asks}' --fixed true\n")
        self.expect("/dev/tty")
        self.expect("/dev/tty: No such device")
        self.expect("failed: exit status 2")


if __name__ == "__main__":
    unittest.main()
