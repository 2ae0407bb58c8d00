#!/usr/bin/env python3
"""Runs `gapline capture` and `gapline run` as jobs of an interactive shell.

    check_capture_shell.py GAPLINE [-k PATTERN]
"""

import os
import pathlib
import pty
import select
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import captured
from captured import Installed, WAITS


class Shell(Installed):
    """Jobs of an interactive shell."""

    def setUp(self):
        super().setUp()
        pid, self.terminal = pty.fork()
        if not pid:
            os.chdir(self.folder)
            # A leak check at the end of a process stops it as a debugger does. Who hangs up continues it, which makes
            # the kernel forget such a stop, and the check waits for it for ever, with a processor of its own.
            more = {"PS1": "PROMPT ", "ASAN_OPTIONS": "detect_leaks=0"}
            os.execve("/bin/bash", ["bash", "--norc", "--noediting", "-i"], self.env | more)
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
    captured.main()
