#!/usr/bin/env python3
"""Runs `gapline capture` with a stand-in for nsys and shell commands as targets.

    check_capture.py GAPLINE [-k PATTERN]
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
from captured import Case, WITH_NSYS, limited, is_alive


class Capture(Case):
    def test_profile_and_output(self):
        out, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", "echo out base-0.sqlite ; echo err >&2")
        self.assertEqual(out, "out base-0.sqlite\n")
        self.assertRegex(said, r"\Aerr\ngapline: x.sqlite: \d+\.\d s, complete\n\Z")
        self.gapline("show", "x.sqlite", "-q")
        self.assertEqual(self.files(), ["x.sqlite"])

    def test_empty_words_are_the_programs(self):
        out, _ = self.capture("-o", "x.sqlite", "--", "printf", "<%s>", "--name", "", "base-0.sqlite", "")
        self.assertEqual(out, "<--name><><base-0.sqlite><>")
        _, said = self.capture("-o", "x.sqlite", "", "--", "true", status=2)
        self.assertIn("an argument is empty", said)

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
            ("nowhere/x.sqlite", "nowhere/x.sqlite: there is no folder nowhere/; create it first\n"),
            ("profiles/", "names a folder"),
            ("%q{LONG}.sqlite", "aaaa.sqlite: File name too long; choose a shorter one\n"),
            (249 * "a" + "%p", "aaaa0: File name too long; choose a shorter one\n"),  # a process id may have seven digits
        ):
            with self.subTest(name):
                _, said = self.capture("-o", name, "--", "touch", "ran", status=2, env={"LONG": 300 * "a"})
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
        self.assertIn("./base-0.sqlite: is not executable; if it is a program, make it so with: chmod +x './base-0.sqlite'", said)
        _, said = self.capture("-o", "x.sqlite", "--", "base-0.sqlite", status=2)
        self.assertIn("base-0.sqlite: there is no such program on PATH; the file in this folder is: ./'base-0.sqlite'", said)
        _, said = self.capture("-o", "x.sqlite", "--", "./nothing", status=2)
        self.assertIn("./nothing: there is no such program\n", said)
        _, said = self.capture("-o", "x.sqlite", "--", "", status=2)
        self.assertEqual(said, "gapline: '' is no program; the first word of a command names one\n")
        (self.folder / "script").write_text("#!/no/such/interpreter\n")
        (self.folder / "script").chmod(0o755)
        _, said = self.capture("-o", "x.sqlite", "--", "./script", status=2, env={"STANDIN_NSYS": "no-report"})
        self.assertIn("./script: cannot be started", said)

    def test_what_is_left_behind_is_ended(self):
        script = "sh -c 'trap \"\" TERM; echo $$ > pid; sleep 60 & wait; sleep 60' & sleep 0.3; : base-0.sqlite"
        _, said = self.capture("-o", "x.sqlite", "--", "sh", "-c", script)
        self.assertIn("gapline: the program left processes behind, which were ended\n", said)
        self.assertFalse(is_alive(self.pids("pid")[0]))

    def test_what_a_killed_capture_left(self):
        """nsys's program may outlive nsys, and that is said; of what nsys had recorded nothing can be made."""
        process = self.start("capture", *WITH_NSYS, "-o", "x.sqlite", "--", "sh", "-c", "echo $$ > pid; exec sleep 60; base-0.sqlite",
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (pid,) = self.pids("pid")
        process.kill()
        process.wait(timeout=60)
        time.sleep(0.5)  # until what ends with it has ended
        runs = f"its process {pid} still runs; " if is_alive(pid) else ""
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite")
        self.assertIn(f"was left by a capture to this name that wrote no profile; {runs}nsys recorded, and what that had not finished nobody can read; remove it", said)
        _, said = self.gapline("capture", "--recover", "--force", "-o", "x.sqlite", status=3)
        self.assertIn("nothing can be recovered: nsys recorded, and what that had not finished nobody can read", said)
        if runs:
            os.kill(pid, signal.SIGKILL)

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
        self.assertNotIn("is kept", said)
        both = ["--baseline", "true base-#.sqlite", "--fixed", "true fixed-#.sqlite", "-o", "out"]
        _, said = self.run_both(*both, status=2, env={"STANDIN_NSYS": "full-export"})
        self.assertIn("nsys export failed", said)
        self.assertNotIn("x.sqlite", self.files())

    def test_full_disk_keeps_what_nsys_recorded(self):
        """And names what makes a profile of it: the command does it, once there is room."""
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite", status=2, env={"STANDIN_NSYS": "full-export"})
        (left,) = (n for n in self.files() if n.startswith(".x.sqlite."))
        export = re.search(rf"nsys export failed .*; the recording is kept in \S*{left}: '(\S*nsys\S* export .*)' makes a profile of it\n\Z", said)
        self.assertTrue(export, said)
        _, said = self.capture("-o", "x.sqlite", "--", "true", "base-0.sqlite", status=2, env={"STANDIN_NSYS": "full"})
        self.assertIn(f"{left} was left by a capture to this name that wrote no profile; what nsys recorded is in its report.nsys-rep", said)
        subprocess.run(shlex.split(export[1]), cwd=self.folder, env=self.env, check=True)
        self.assertEqual((self.folder / "x.sqlite").read_bytes(), (self.folder / "base-0.sqlite").read_bytes())
        shutil.rmtree(self.folder / left)
        _, said = self.capture("-o", "y.sqlite", "--", "true", "base-0.sqlite", status=2, env={"STANDIN_NSYS": "full-stream"})
        (left,) = (n for n in self.files() if n.startswith(".y.sqlite."))
        self.assertRegex(said, rf"the disk is full; .*; the recording is kept in \S*{left}: 'QdstrmImporter -i \S*{left}/report.qdstrm' ")
        self.assertEqual((self.folder / left / "report.qdstrm").read_text(), "stream")

    def test_options_reach_nsys(self):
        def options(*given):
            self.capture(*given, "--force", "-o", "x.sqlite", "--", "true", "base-0.sqlite", env={"STANDIN_ARGS": "args"})
            return [o for o in (self.folder / "args").read_text().split() if not o.startswith("--output")]

        common = ["--force-overwrite=true", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none"]
        self.assertEqual(options(), [*common, "--cuda-graph-trace=graph", "--wait=primary", "--kill=sigterm"])
        self.assertIn("--trace=cuda,nvtx,osrt", options("--trace", "cuda,nvtx,osrt"))
        self.assertIn("--trace=cuda", options("--trace", "cuda"))
        self.assertNotIn("--cuda-memory-usage=true", options("--trace", "cuda"))
        self.assertIn("--cuda-memory-usage=true", options("--trace", "cuda,memory"))
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
            ("'vulkan' is none of cuda, nvtx, osrt, memory, py and native", ["-o", "x", "--trace", "cuda,vulkan", "--", "true"]),
            ("cuda has to be among them", ["-o", "x", "--trace", "nvtx", "--", "true"]),
            ("'' is none of cuda, nvtx, osrt, memory, py and native", ["-o", "x", "--trace", "cuda,", "--", "true"]),
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
                    "-o", "x.sqlite", "--", "sh", "-c", script, status=status,
                    env={"STANDIN_NSYS": mode, "STANDIN_STARTED": "pids"},
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


if __name__ == "__main__":
    captured.main()
