#!/usr/bin/python3
"""check_manual.py GAPLINE: manual pages and completion say what --help says, and the programs they are for understand them
(bash; mandoc, zsh and fish where they are installed)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest


def said(*words, **how):
    return subprocess.run(words, text=True, capture_output=True, check=True, timeout=60, **how).stdout


def commands():
    return re.findall(r"^  ([a-z]+) ", said(GAPLINE, "--help").split("commands:")[1].split("example:")[0], re.MULTILINE)


def options(command):
    text = said(GAPLINE, command, "--help").split("\noptions:\n")[1].split("\nexamples:\n")[0]
    return re.findall(r"^ {2,6}(?:-[a-zA-Z], )?--([a-z0-9-]+)", text, re.MULTILINE)


class Manual(unittest.TestCase):
    def test_every_option_is_in_its_page(self):
        self.assertIn("report", commands())
        for command in commands():
            page = said(GAPLINE, "manual", command)
            self.assertTrue(page.startswith(f".TH GAPLINE-{command.upper()} 1"))
            have = [name.replace("\\-", "-") for name in re.findall(r"\\fB\\-\\-([a-z0-9\\-]+)\\fR", page)]
            self.assertEqual(have, options(command), command)

    def test_the_overview_names_every_page(self):
        page = said(GAPLINE, "manual")
        self.assertEqual(re.findall(r"^\.BR gapline\\-([a-z]+) \(1\)", page, re.MULTILINE), commands())

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_understands_the_pages(self):
        for words in [[], *([command] for command in commands())]:
            page = said(GAPLINE, "manual", *words)
            found = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, text=True, capture_output=True)
            found = [line for line in found.stdout.splitlines() if "missing date" not in line]  # pages have none: same input, same bytes
            self.assertEqual(found, [], words)
        shown = subprocess.run(["mandoc", "-T", "utf8"], input=said(GAPLINE, "manual", "report"), text=True, capture_output=True).stdout
        shown = re.sub(".\b", "", shown)
        self.assertIn("--min-speedup X", shown)
        self.assertIn("0  done", shown)


class Completion(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory(prefix="gapline-completion-")
        self.addCleanup(self.made.cleanup)
        self.folder = pathlib.Path(self.made.name)

    def script(self, shell):
        path = self.folder / f"{shell}"
        path.write_text(said(GAPLINE, "completion", shell))
        return path

    def bash(self, *words):
        text = f'source {self.script("bash")}; compopt() {{ :; }}; COMP_WORDS=({" ".join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _gapline; echo "${{COMPREPLY[@]}}"'
        return said("bash", "--norc", "-c", text).split()

    def test_bash(self):
        self.assertEqual(self.bash("gapline", "sc"), ["scrub"])
        self.assertEqual(sorted(self.bash("gapline", "")), sorted([*commands(), "help", "--help", "--version"]))
        self.assertEqual(self.bash("gapline", "help", "rep"), ["report"])
        for command in commands():
            self.assertEqual(sorted(self.bash("gapline", command, "--")), sorted(f"--{o}" for o in options(command)), command)
        self.assertEqual(self.bash("gapline", "report", "--color", "a"), ["auto", "always"])
        self.assertEqual(self.bash("gapline", "report", "--json", "x"), [])  # files, bash's own

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        path = self.script("fish")

        def offered(line):
            env = {**os.environ, "HOME": self.made.name, "TERM": "dumb"}
            return {row.split("\t")[0] for row in said("fish", "--no-config", "-c", f"source {path}; complete -C '{line}'", env=env).splitlines()}

        self.assertIn("scrub", offered("gapline sc"))
        for command in commands():
            self.assertLessEqual({f"--{o}" for o in options(command)} - {"--help"}, offered(f"gapline {command} --"), command)
        self.assertEqual(offered("gapline report --color a"), {"auto", "always"})

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        path = self.script("zsh")
        subprocess.run(["zsh", "-n", path], check=True, timeout=60)
        text = path.read_text()
        for command in commands():
            part = text.split(f"\t{command})\n")[1].split(";;")[0]
            for option in options(command):
                self.assertRegex(part, rf"--{option}[\[}},)]", command)

    def test_no_such_shell_or_command(self):
        for words in (["completion", "tcsh"], ["completion"], ["manual", "nothing"]):
            done = subprocess.run([GAPLINE, *words], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    GAPLINE = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
