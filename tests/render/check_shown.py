#!/usr/bin/env python3
"""What the page draws: three steps that stand for the run's time, with the pause that takes most of it, and kernels by names
that differ.

    check_shown.py GAPLINE
"""
import json
import pathlib
import re
import sqlite3
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

    def test_kernels_of_which_only_the_middle_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            pair = [pathlib.Path(folder) / f"{side}.sqlite" for side in ("base", "fixed")]
            for path, kernel in zip(pair, (400_000, 200_000)):
                tiny_profile.write(path, kernel=kernel, more_kernels=20)
                db = sqlite3.connect(path)
                for name, tile in ("gemm", "32x64"), ("relu", "64x32"):
                    db.execute("UPDATE StringIds SET value = ? WHERE value IN (?, ?)",
                               (f"sm80_xmma_gemm_f32f32_tilesize{tile}_execute_kernel__5x_cublas", name, f"{name}(float *)"))
                db.commit()
                db.close()
            page = pathlib.Path(folder) / "page.html"
            subprocess.run([GAPLINE, "report", *pair, "-o", page, "-q"], check=True)
            labels = re.findall(r">(sm80[^<>]*), [0-9.]+ [mµ]s, \d+ launch[es]*<", page.read_text())
            self.assertEqual((len(labels), len(set(labels))), (2, 2), labels)


if __name__ == "__main__":
    GAPLINE = sys.argv.pop(1)
    unittest.main()
