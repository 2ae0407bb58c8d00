#!/usr/bin/env python3
"""What libgapline-osrt.so writes for a program that blocks in known ways, and that the program does not notice.

    check_inject_osrt.py LIBRARY OSRT_TARGET
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import spool

LIBRARY, TARGET = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MS = 1_000_000
LATE = 400 * MS  # what a busy machine may add


class Osrt(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GAPLINE_", "LD_"))}
        return {**env, "LD_PRELOAD": str(LIBRARY), "GAPLINE_SPOOL": self.folder.name, **more}

    def run_target(self, *words, **more):
        done = subprocess.run([TARGET, *words], env=self.environment(**more), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.output = done.stdout
        return spool.read_all(self.folder.name)

    def one(self, *words, **more):
        (s,) = self.run_target(*words, **more)
        self.assertEqual({e.type for e in s.events}, {"OS_CALL"})
        self.assertTrue(all(e.payload - e.time >= int(more.get("GAPLINE_OSRT_NS", 50000)) for e in s.events))
        return s

    def calls(self, s, tid=None):
        """(name, duration) of the calls of a thread, the program's first one unless said otherwise."""
        return [(e.words, e.payload - e.time) for e in s.events if e.tid == (tid or s.header.pid)]

    def assert_calls(self, s, expected):
        got = [(name, ns) for name, ns in self.calls(s) if name in dict(expected)]
        self.assertEqual([name for name, _ in got], [name for name, _ in expected])
        for (name, ns), (_, wanted) in zip(got, expected):
            self.assertGreaterEqual(ns, wanted - MS // 2, name)
            self.assertLess(ns, wanted + LATE, name)

    def test_sleeps(self):
        s = self.one("sleeps")
        names = "nanosleep clock_nanosleep usleep select pselect poll ppoll epoll_wait epoll_pwait".split()
        self.assert_calls(s, [(name, 30 * MS) for name in names])
        self.assertEqual(self.output.split(), ["0"] * 9)
        self.assertTrue(s.complete)
        self.assertEqual(s.texts("PROGRAM"), [TARGET.name])

    def test_conditions(self):
        s = self.one("conditions")
        self.assert_calls(s, [("pthread_cond_wait", 20 * MS), ("pthread_cond_timedwait", 20 * MS),
                              ("pthread_cond_clockwait", 20 * MS)])
        self.assertEqual(self.output.split(), ["1", "1"])

    def test_locks(self):  # held for 40 ms, but this thread may come late
        s = self.one("locks")
        self.assert_calls(s, [("pthread_mutex_lock", 20 * MS), ("pthread_rwlock_rdlock", 20 * MS),
                              ("pthread_rwlock_wrlock", 20 * MS)])
        self.assertEqual(self.output.split(), ["0", "0", "0", "0", "1", "0", "0"])

    def test_waits(self):
        # two joins of threads that have ended may take 50 us on a busy machine, and would be recorded
        s = self.one("waits", GAPLINE_OSRT_NS=str(5 * MS))
        self.assert_calls(s, [("sem_wait", 20 * MS), ("sem_timedwait", 20 * MS), ("futex", 20 * MS),
                              ("pthread_join", 20 * MS)])
        self.assertEqual(self.output.split(), ["0", "-1", "1", "0"])

    def test_files_and_processes(self):
        s = self.one("files")
        self.assert_calls(s, [("read", 20 * MS), ("recv", 20 * MS), ("waitpid", 20 * MS)])
        self.assertEqual(self.output.split(), ["1", "1", "1", "3"])

    def test_checked_functions_have_the_names_of_the_others(self):
        s = self.one("checked", GAPLINE_OSRT_NS="1")
        names = [name for name, _ in self.calls(s) if name in ("read", "pread", "pread64")]
        self.assertEqual(names, ["read", "pread", "pread64"])
        self.assertEqual(self.output.split(), ["1", "2", "2", "1", "3"])

    def test_short_calls_are_not_recorded(self):
        s = self.one("quick", GAPLINE_OSRT_NS=str(19 * MS))
        self.assert_calls(s, [("usleep", 20 * MS)])
        self.assertLess(len(s.events), 5)  # of 30 000 calls

    def test_errors_are_the_functions_own(self):
        s = self.one("errors")
        self.assertEqual(self.output.split(), ["-1", "1", "-1", "1", "4711"])
        (interrupted,) = [e for e in s.events if e.words == "read"][:1]
        self.assertGreaterEqual(interrupted.payload - interrupted.time, 19 * MS)
        # Signal handlers record, too, inside of calls that they interrupt; nothing is mixed up.
        self.assertGreater(len([e for e in s.events if e.words == "usleep"]), 1000)

    def test_cancellation(self):
        s = self.one("cancels")
        self.assertEqual(self.output, "1\n")
        self.assertIn("usleep", dict(self.calls(s)))
        self.assertTrue(s.complete)

    def test_forks(self):
        spools = self.run_target("forks")
        parent = [s for s in spools if ("waitpid" in dict(self.calls(s)))]
        self.assertEqual(len(parent), 1)
        children = [s for s in spools if s is not parent[0]]
        self.assertEqual(len(children), 2, "a child that never blocks has no file")
        self.assertEqual(sorted(s.complete for s in children), [False, True])
        for s in children:
            self.assertEqual(s.header.parent, parent[0].header.pid)
            # The one that leaves by _exit may have been quicker than the background thread on a busy machine.
            self.assertLessEqual({name for name, _ in self.calls(s)}, {"usleep"})
            self.assertTrue(self.calls(s) or not s.complete)

    def test_killed(self):
        target = subprocess.Popen([TARGET, "until-killed"], env=self.environment())
        time.sleep(0.7)
        killed = time.monotonic_ns()
        target.kill()
        target.wait()
        (s,) = spool.read_all(self.folder.name)
        self.assertFalse(s.complete)
        self.assertGreater(len(s.events), 100)
        self.assertLess(killed - s.events[-1].payload, 100 * MS)

    def test_window(self):
        now = time.monotonic_ns()
        s = self.run_target("sleeps", GAPLINE_STOP_NS=str(now))
        self.assertEqual(s, [])
        (s,) = self.run_target("sleeps", GAPLINE_START_NS=str(now))
        self.assertEqual(len(s.events), len([e for e in s.events if e.time >= now]))

    def test_nothing_without_a_folder(self):
        self.run_target("sleeps", GAPLINE_SPOOL="")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_python_and_shell(self):
        script = "import threading, time, queue\nq = queue.Queue()\n" \
                 "t = threading.Thread(target=lambda: (time.sleep(0.05), q.put(1)))\nt.start(); q.get(); t.join()"
        done = subprocess.run(["sh", "-c", 'sleep 0.05; "$1" -S -c "$2" | cat', "sh", sys.executable, script],
                              env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        by_program = {s.texts("PROGRAM")[0]: s for s in spool.read_all(self.folder.name)}
        python = by_program[pathlib.Path(sys.executable).resolve().name]
        self.assertTrue(python.complete)
        self.assertEqual(len({e.tid for e in python.events}), 2)
        self.assertTrue(any(e.payload - e.time >= 20 * MS for e in python.events if e.tid == python.header.pid))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
