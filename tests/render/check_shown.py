#!/usr/bin/env python3
"""The three steps that the page draws stand for the run's time: a pause that takes most of it is among them.

    check_shown.py GAPLINE
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile

STEPS, MS = 90, 1_000_000


class Shown(unittest.TestCase):
    def shown(self, load):
        """How long the drawn steps take together, and the page's words, where step i takes about load(i) ns."""
        with tempfile.TemporaryDirectory() as folder:
            path, page = pathlib.Path(folder) / "run.sqlite", pathlib.Path(folder) / "page.html"
            tiny_profile.write(path, steps=STEPS, kernel=1000, loads=[load(i) for i in range(STEPS)], jitter=1000)
            done = subprocess.run([GAPLINE, "show", path, "--json", "-", "-o", page], capture_output=True, check=True)
            shown = json.loads(done.stdout)["profile"]["shown"]
            self.assertEqual(shown["steps"], 3)
            self.assertTrue("3 representative steps" in page.read_text())
            return shown["length_ms"]

    def test_all_alike(self):
        self.assertAlmostEqual(self.shown(lambda i: 2 * MS), 3 * 2, delta=0.3)

    def test_a_pause_that_takes_most_of_the_time_is_drawn(self):
        self.assertAlmostEqual(self.shown(lambda i: 100 * MS if i % 15 == 7 else 2 * MS), 100 + 2 * 2, delta=0.5)

    def test_a_pause_that_takes_little_is_not(self):
        self.assertAlmostEqual(self.shown(lambda i: 8 * MS if i % 30 == 7 else 2 * MS), 3 * 2, delta=0.3)

    def test_long_and_short_in_turns(self):
        """Of four parts of the time the short ones have one."""
        self.assertAlmostEqual(self.shown(lambda i: (6 if i % 2 else 2) * MS), 6 + 2 + 6, delta=0.3)


if __name__ == "__main__":
    GAPLINE = sys.argv.pop(1)
    unittest.main()
