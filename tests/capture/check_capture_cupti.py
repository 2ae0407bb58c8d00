#!/usr/bin/env python3
"""Runs `gapline capture` with gapline's own collector around programs that do not use CUDA.

    check_capture_cupti.py GAPLINE [-k PATTERN]
"""

import contextlib
import os
import pathlib
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
import tiny_spool
from captured import Installed, WAITS, limited, is_alive


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
        self.assertEqual(said, "gapline: nothing was recorded: the program never used CUDA, or could not reach the output's folder; gapline doctor says whether it could here\n")
        self.assertEqual(found["CUDA_INJECTION64_PATH"], str(self.library.resolve()))
        self.assertEqual(found["NVTX_INJECTION64_PATH"], str(self.library.resolve()))
        self.assertEqual(found["GAPLINE_GRAPH_TRACE"], "auto")
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
            "used CUDA, or could not reach the output's folder; gapline doctor says whether it could here\n",
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

    def test_empty_recording(self):
        """Of a process whose spool breaks off before its first event nobody knows whether it used CUDA."""
        whole = tiny_spool.spool()
        words = "the recording of process 77 is empty: it was killed early, or the disk was full\n"
        for size in 0, 20, 48, 58:
            (self.folder / "spool").write_bytes(whole[:size])
            for name, expected in ("77-cuda-0", words), ("77-osrt-0", "the program never used CUDA, or could not reach the output's folder; gapline doctor says whether it could here\n"):
                script = f"cp spool $GAPLINE_SPOOL/{name}.spool"
                _, said = self.gapline("capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script, status=3)
                self.assertEqual(said, f"gapline: nothing was recorded: {expected}")
        script = ": >$GAPLINE_SPOOL/77-cuda-0.spool; echo $$ > pid; exec sleep 60"
        process = self.start("capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script)
        self.pids("pid")
        process.kill()
        process.communicate(timeout=60)
        self.assertIn(f"nothing can be recovered: {words}", self.recover("x", status=3))

    def test_ends_with_its_recorder(self):
        """Killed, gapline can end nothing any more: the system does."""
        script = "echo $$ > pid; exec sleep 60"
        process = self.start("capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c", script)
        pid = self.pids("pid")[0]
        process.kill()
        process.communicate(timeout=60)
        self.wait_for(lambda: not is_alive(pid))

    def test_says_what_a_killed_capture_left(self):
        """The next capture to that name names the folder, and not while its capture still runs."""
        command = ["capture", "--collector", "cupti", "-o", "x", "--", "sh", "-c"]
        process = self.start(*command, "echo $$ > pid; exec sleep 60")
        pid = self.pids("pid")[0]
        (left,) = [n for n in self.files() if n.startswith(".x.")]
        words = f"gapline: {left} was left by a capture to this name that wrote no profile; the program had used no CUDA by then, or could not reach this folder; remove it"
        self.assertNotIn("was left", self.gapline(*command, "true", status=3)[1])
        process.kill()
        process.communicate(timeout=60)
        self.wait_for(lambda: not is_alive(pid))
        self.assertIn(words, self.gapline(*command, "true", status=3)[1])
        self.assertIn("nothing can be recovered: the program had used no CUDA by then, or could not reach this folder", self.recover("x", status=3))
        (self.folder / left / "capture.json").write_text('{"schema": "gapline-capture/2"}')
        self.assertIn("it holds nothing to make a profile of; remove it", self.gapline(*command, "true", status=3)[1])
        self.assertIn("nothing can be recovered: it holds nothing to make a profile of", self.recover("x", status=3))
        command[command.index("x")] = "y"
        self.assertNotIn("was left", self.gapline(*command, "true", status=3)[1])
        self.assertEqual([n for n in self.files() if n.startswith(".")], [left])

    def recover(self, name, *options, status=0, **how):
        return self.gapline("capture", "--recover", *options, "-o", name, status=status, **how)[1]

    def kill_recorder(self, name, script, env=None):
        """Of a program that has used CUDA (tiny_spool.py writes what it would have written), when it waits."""
        shutil.copy(tiny_spool.__file__, self.folder)
        spool = f'{sys.executable} -IS tiny_spool.py "$GAPLINE_SPOOL/$$-cuda-0.spool"; '
        process = self.start("capture", "--collector", "cupti", "-o", name, "--", "sh", "-c", spool + script, env=env or {},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pids = self.pids("pid")
        process.kill()
        process.wait(timeout=60)
        self.wait_for(lambda: not is_alive(pids[0]))
        (self.folder / "pid").unlink()
        return pids

    def rows(self, name, query):
        db = sqlite3.connect(self.folder / name)
        found = db.execute(query).fetchall()
        db.close()
        return found

    def test_recovers(self):
        """What a killed capture left becomes a profile, which says what is missing; the folder goes."""
        self.kill_recorder("x.sqlite", "echo $$ > pid; exec sleep 60", {"SLURM_PROCID": "3", "SLURM_NTASKS": "4"})
        offer = "was left by a capture to this name that wrote no profile; 'gapline capture --recover -o x.sqlite' makes a profile of what it had recorded\n"
        self.assertIn(offer, self.gapline("capture", "--collector", "cupti", "-o", "x.sqlite", "--", "true", status=3)[1])
        (self.folder / "x.sqlite").write_text("older")
        self.assertIn("exists already; --force replaces it", self.recover("x.sqlite", status=2))
        self.assertEqual((self.folder / "x.sqlite").read_text(), "older")
        said = self.recover("x.sqlite", "--force")
        self.assertIn("gapline: x.sqlite: gapline ended before it had written this profile, which was recovered", said)
        self.assertFalse([n for n in self.files() if n.startswith(".")])
        facts = dict(self.rows("x.sqlite", "SELECT name, value FROM GAPLINE_CAPTURE"))
        self.assertIn("the GPUs' clocks are missing", facts["complete"])
        self.assertEqual((facts["collector"], facts["trace"], facts["graphs"], facts["dropped"]), ("cupti", "cuda,nvtx", "graph", "3"))
        job = dict(self.rows("x.sqlite", "SELECT name, value FROM GAPLINE_JOB"))
        self.assertEqual(job, {"host": os.uname().nodename, "SLURM_PROCID": "3", "SLURM_NTASKS": "4"})
        self.assertEqual(self.rows("x.sqlite", "SELECT \"end\" - start FROM CUPTI_ACTIVITY_KIND_KERNEL"), [(10,)])
        self.assertLess(self.rows("x.sqlite", "SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL")[0][0], 60_000_000_000)
        ((duration,),) = self.rows("x.sqlite", "SELECT duration FROM ANALYSIS_DETAILS")
        self.assertTrue(0 < duration < 60_000_000_000, duration)
        self.assertIn("gapline ended before it had written this", self.gapline("show", "x.sqlite")[0])
        self.assertIn("x.sqlite: no capture to this name left a recording", self.recover("x.sqlite", "--force", status=3))

    def test_full_disk(self):
        """A profile for which there is no room: the recording stays, and becomes one when there is."""
        shutil.copy(tiny_spool.__file__, self.folder)
        command = ["capture", "--collector", "cupti", "-o", "x.sqlite", "--", "sh", "-c", f'{sys.executable} -IS tiny_spool.py "$GAPLINE_SPOOL/1-cuda-0.spool"']
        _, said = self.gapline(*command, status=2, **limited(20000))
        (left,) = (n for n in self.files() if n.startswith(".x.sqlite."))
        self.assertIn(f"{left}: 'gapline capture --recover -o x.sqlite' makes a profile of it\n", said)
        self.assertIn("cannot be written", said)
        self.assertNotIn("x.sqlite", self.files())
        self.assertFalse([p for p in (self.folder / left).iterdir() if "sqlite" in p.name], "it takes room")
        self.recover("x.sqlite", status=2, **limited(20000))
        self.assertFalse([p for p in (self.folder / left).iterdir() if "sqlite" in p.name], "it takes room")
        self.recover("x.sqlite")
        self.assertEqual(self.rows("x.sqlite", "SELECT \"end\" - start FROM CUPTI_ACTIVITY_KIND_KERNEL"), [(10,)])
        self.assertFalse([n for n in self.files() if n.startswith(".")])

    def test_recovers_what_was_cut_off(self):
        """The names of ranks and processes are filled in as they were; a spool without its end says that it has none."""
        (pid,) = self.kill_recorder("r-%q{RANK}-%p", "truncate -s -16 $GAPLINE_SPOOL/*; echo $$ > pid; exec sleep 60", {"RANK": "2"})
        self.assertIn("the environment has no variable RANK", self.recover("r-%q{RANK}-%p", status=2))
        said = self.recover("r-%q{RANK}-%p", env={"RANK": "2"})
        self.assertRegex(said, "gapline: r-2-1: .*and the last tenth of a second before it was ended are missing")  # as tiny_spool.py counts
        self.assertIn("r-2-1", self.files())

    def test_recovers_when_the_program_has_ended(self):
        """What the program had started runs on, and that is said."""
        _, other = self.kill_recorder("x", "sleep 60 & echo $$ $! > pid; exec sleep 60")
        words = f"process {other} "
        self.assertIn(f"wrote no profile; its {words}still runs; 'gapline capture", self.gapline("capture", "--collector", "cupti", "-o", "x", "--", "true", status=3)[1])
        self.assertIn(f"{words}of the program still runs", self.recover("x", status=3))
        os.kill(other, signal.SIGKILL)
        self.wait_for(lambda: not is_alive(other))
        self.recover("x")

    def test_recover_usage(self):
        self.assertIn("--recover runs no command, and 'true' is one", self.gapline("capture", "--recover", "-o", "x", "--", "true", status=2)[1])
        self.assertIn("a file for the profile is needed", self.gapline("capture", "--recover", status=2)[1])

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


if __name__ == "__main__":
    captured.main()
