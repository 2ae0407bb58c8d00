#!/usr/bin/env python3
"""What libgapline-stopwatch.so notes for programs whose steps last known times.

    check_inject_stopwatch.py LIBRARY STOPWATCH_TARGET FAKES_FOLDER
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import stopwatch_page

LIBRARY, TARGET, FAKES = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
LAUNCHES = LIBRARY.with_name("libgapline-launches.so")
A_STEP = 5  # launches
STEPS, WARM = 120, 20
MS = 1_000_000
ATTEMPTS = 10


class Stopwatch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_target(self, *words, driver="fake_driver", status=0, step="step #", domain="", **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GAPLINE_", "FAKE_"))}
        env |= {
            "LD_LIBRARY_PATH": str(FAKES / driver),
            "NVTX_INJECTION64_PATH": str(LIBRARY),
            "GAPLINE_STOPWATCH": self.folder.name,
            "GAPLINE_STOPWATCH_STEP": step,
            "GAPLINE_STOPWATCH_DOMAIN": domain,
            "GAPLINE_STOPWATCH_FIRST": str(WARM),
            "GAPLINE_STOPWATCH_LAST": str(STEPS),
        }
        began = time.monotonic()
        done = subprocess.run([TARGET, *words], env=env | more, capture_output=True, text=True, timeout=60)
        self.took = time.monotonic() - began
        self.assertEqual(done.returncode, status, done.stderr)
        self.output = done.stdout
        return stopwatch_page.read_all(self.folder.name)

    def one(self, *words, **how):
        pages = self.run_target(*words, **how)
        self.assertEqual(len(pages), 1)
        return pages[0]

    def own(self):
        return [int(n) for n in re.findall(r"^own (\d+)$", self.output, re.M)]

    def exact(self, case, ended=STEPS, **how):
        """The time of the steps is the program's own, within 1 %. On a busy machine either clock may be read late, never twice
        alike; what the library does wrong it does every time."""
        for attempt in range(ATTEMPTS):
            self.folder = tempfile.TemporaryDirectory()
            self.addCleanup(self.folder.cleanup)
            page = self.one(case, **how)
            self.assertEqual((page.problem, page.ended), ("FINE", ended))
            self.assertIn("left 0,", self.output)
            (own,) = self.own()
            off = (page.idle[1] - page.idle[0]) / own - 1
            if abs(off) < 0.01:
                return page
        self.fail(f"{case}: {100 * off:.2f} % off the program's own clock, {own} ns")

    def test_host_runs_ahead(self):
        page = self.exact("ahead")
        self.assertGreater(page.idle[0] - page.asked[0], 8 * MS, "20 steps of half a millisecond are queued")
        self.assertGreater(page.idle[1] - page.idle[0], 50 * MS)
        self.assertEqual(page.contexts, (1, 1))

    def test_threads_wait_for_the_beginning(self):
        """While one thread waits for 100 ms of work, each of the three others ends the step that it has begun and no other: 60
        would be counted that the time does not have."""
        page = self.one("held", step="step #")
        self.assertEqual((page.problem, page.ended), ("FINE", STEPS))
        longest = max((int(took), int(passed)) for took, passed in re.findall(r"^waited (\d+) passed (\d+)$", self.output, re.M))
        self.assertGreater(longest[0], 90 * MS, self.output)
        self.assertLess(longest[1], 10, self.output)

    def test_host_is_what_takes_time(self):
        self.exact("behind")

    def counting_launches(self):
        return {"GAPLINE_CUPTI": f"{FAKES}/fake_cupti/libcupti.so.13", "CUDA_INJECTION64_PATH": str(LAUNCHES),
                "NVTX_INJECTION64_PATH": "", "GAPLINE_STOPWATCH_FIRST": str(A_STEP * WARM),
                "GAPLINE_STOPWATCH_LAST": str(A_STEP * STEPS)}

    @unittest.skipUnless(LAUNCHES.exists(), "CUPTI's headers were not there")
    def test_launches(self):
        """Where no range marks a step: the host is far ahead, and both instants are those of the program's own clock."""
        page = self.exact("launches", ended=A_STEP * STEPS, **self.counting_launches())
        self.assertEqual(page.contexts, (1, 1))

    @unittest.skipUnless(LAUNCHES.exists(), "CUPTI's headers were not there")
    def test_launches_while_a_graph_is_captured(self):
        """Waiting would break the capture, and the program with it. One that was over before is none."""
        page = self.one("launches_captured", **self.counting_launches())
        self.assertEqual((page.problem, page.code, page.idle), ("REFUSED", 900, (0, 0)))
        self.assertIn("broken 0", self.output)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        page = self.one("launches_captured", **self.counting_launches() | {"GAPLINE_STOPWATCH_FIRST": str(A_STEP * (WARM + 1))})
        self.assertEqual(page.problem, "FINE")

    @unittest.skipUnless(LAUNCHES.exists(), "CUPTI's headers were not there")
    def test_launches_cannot_be_counted(self):
        page = self.one("launches", **self.counting_launches() | {"FAKE_SUBSCRIBE": "39"})
        self.assertEqual((page.problem, page.code, page.idle), ("NO_CUPTI", 39, (0, 0)))
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        page = self.one("launches", **self.counting_launches() | {"FAKE_DRIVER": "7000"})
        self.assertEqual((page.problem, page.code), ("NO_CUPTI", 0))
        self.assertIn("own ", self.output)

    def test_old_driver(self):
        """One without cuCtxRecordEvent: a thread of ours synchronises."""
        self.exact("ahead", driver="fake_driver_old")
        self.exact("devices", driver="fake_driver_old", step="step")

    def test_all_devices_in_use(self):
        page = self.exact("devices", step="step")
        self.assertEqual(page.contexts, (2, 2))

    def test_a_context_of_the_programs_own(self):
        self.assertEqual(self.exact("own_context").contexts, (1, 1))

    def test_kinds_of_ranges(self):
        self.exact("kinds", step="step", domain="train \u00e9")
        self.exact("plain", step="step")

    def test_other_domain_other_range(self):
        self.assertEqual(self.run_target("kinds", step="stop", domain="train \u00e9"), [])
        self.assertEqual(self.run_target("kinds", step="step", domain="train"), [])
        self.assertIn("uses 0", self.output)

    def test_threads(self):
        page = self.one("threads", step="step")
        self.assertEqual((page.problem, page.ended), ("FINE", STEPS))
        self.assertGreater(page.idle[1] - page.idle[0], (STEPS - WARM) / 2 * MS / 2)

    def test_processes(self):
        def off():
            pages = self.run_target("ranks")
            self.assertEqual([p.problem for p in pages], ["FINE", "FINE"])
            self.assertEqual(len(self.own()), 2)
            times = sorted(p.idle[1] - p.idle[0] for p in pages)
            return max(abs(t / own - 1) for t, own in zip(times, sorted(self.own())))

        self.near(off, 0.05)

    def near(self, off, most):
        offs = []
        for attempt in range(ATTEMPTS):
            self.folder = tempfile.TemporaryDirectory()
            self.addCleanup(self.folder.cleanup)
            offs.append(off())
            if offs[-1] < most:
                return
        self.fail(f"off the program's own clock by {offs}")

    def test_work_that_never_ends(self):
        page = self.one("stuck", GAPLINE_STOPWATCH_LIMIT_MS="300")
        self.assertEqual((page.problem, page.ended), ("TIME_LIMIT", STEPS))
        self.assertIn("went on", self.output)
        self.assertGreater(page.idle[0], 0)
        self.assertEqual(page.idle[1], 0)
        self.assertLess(self.took, 5)
        self.assertIn("left 0,", self.output)

    def test_driver_that_never_answers(self):
        page = self.one("ahead", FAKE_HANG="1", GAPLINE_STOPWATCH_LIMIT_MS="300")
        self.assertEqual((page.problem, page.ended, page.idle), ("TIME_LIMIT", STEPS, (0, 0)))
        self.assertLess(self.took, 5)

    def test_refused(self):
        for setting in ("FAKE_RECORD", "FAKE_QUERY"):
            with self.subTest(setting), tempfile.TemporaryDirectory() as folder:
                self.folder.name, before = folder, self.folder.name
                page = self.one("ahead", **{setting: "719"})
                self.assertEqual((page.problem, page.code, page.idle), ("REFUSED", 719, (0, 0)))
                self.assertIn("left 0, uses 1", self.output, "the second wait is not made")
                self.folder.name = before

    def test_capture_in_progress(self):
        page = self.one("capture")
        self.assertEqual((page.problem, page.code), ("REFUSED", 900))

    def test_no_device_in_use(self):
        self.assertEqual(self.one("none").problem, "REFUSED")

    def test_fork(self):
        def off():
            parent, child = sorted(self.run_target("forks", step="step"), key=lambda p: -p.ended)
            self.assertEqual((parent.problem, parent.ended), ("FINE", STEPS))
            self.assertEqual((child.problem, child.code, child.ended), ("REFUSED", 3, 30), "CUDA cannot be used there")
            return abs((parent.idle[1] - parent.idle[0]) / self.own()[0] - 1)

        self.near(off, 0.02)

    def test_ends_in_the_middle(self):
        for case, status in (("leaves", 0), ("dies", -signal.SIGSEGV)):
            with self.subTest(case), tempfile.TemporaryDirectory() as folder:
                self.folder.name, before = folder, self.folder.name
                page = self.one(case, status=status, step="step")
                self.assertEqual((page.problem, page.ended, page.idle[1]), ("FINE", 59, 0))
                self.assertGreater(page.idle[0], 0)
                self.folder.name = before

    def test_fewer_steps(self):
        page = self.one("ahead", "100")
        self.assertEqual((page.ended, page.idle[1]), (100, 0))

    def test_nothing_without_being_asked(self):
        for name in ("GAPLINE_STOPWATCH", "GAPLINE_STOPWATCH_STEP", "GAPLINE_STOPWATCH_FIRST"):
            self.assertEqual(self.run_target("ahead", **{name: ""}), [])
        self.assertEqual(self.run_target("ahead", GAPLINE_STOPWATCH="/does/not/exist"), [])

    def test_folder_that_cannot_be_written(self):
        os.chmod(self.folder.name, 0o500)
        if os.access(self.folder.name, os.W_OK):
            self.skipTest("root writes everywhere")
        self.assertEqual(self.run_target("ahead"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
