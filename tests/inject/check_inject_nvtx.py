#!/usr/bin/env python3
"""What libgapline-cupti.so writes for a program that uses NVTX, with and without a proper end.

    check_inject_nvtx.py LIBRARY NVTX_TARGET
"""

import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import spool

LIBRARY, TARGET = (pathlib.Path(p).resolve() for p in sys.argv[1:3])


class Nvtx(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("GAPLINE_")}
        return {**env, "NVTX_INJECTION64_PATH": str(LIBRARY), "GAPLINE_SPOOL": self.folder.name, **more}

    def run_target(self, *words, status=0, **more):
        done = subprocess.run([TARGET, *words], env=self.environment(**more), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        self.output = done.stdout
        return spool.read_all(self.folder.name)

    def one(self, *words, **how):
        spools = self.run_target(*words, **how)
        self.assertEqual(len(spools), 1)
        return spools[0]

    def test_every_function(self):
        before = time.monotonic_ns()
        s = self.one("all")
        self.assertTrue(s.complete)
        self.assertEqual(s.texts("PROGRAM"), [TARGET.name])
        self.assertNotEqual(s.header.writer, s.header.pid)
        self.assertLess(abs((time.time_ns() - time.monotonic_ns()) - (s.header.realtime - s.header.monotonic)), 50_000_000)
        pid = s.header.pid
        self.assertEqual(s.thread_names()[pid], TARGET.name[:15])
        self.assertTrue(all(e.tid == pid and before < e.time < time.monotonic_ns() for e in s.events))
        got = [(e.type, e.text, e.words, e.domain, e.string, e.category, e.id) for e in s.events]
        wide, registered = "WIDE", "REGISTERED"
        huge = "x" * (16 << 10)
        self.assertEqual(got, [
            ("DOMAIN", "UTF8", "lib", 1, 0, 0, 0),
            ("DOMAIN", wide, "wide lib", 2, 0, 0, 0),
            ("STRING", "UTF8", "registered", 1, 1, 0, 0),
            ("STRING", wide, "wide \u00e9", 2, 2, 0, 0),
            ("PUSH", "UTF8", "push a", 0, 0, 0, 0),
            ("PUSH", wide, "push w", 0, 0, 0, 0),
            ("PUSH", registered, "", 1, 1, 7, 0),
            ("POP", "NO_TEXT", "", 1, 0, 0, 0),
            ("POP", "NO_TEXT", "", 0, 0, 0, 0),
            ("POP", "NO_TEXT", "", 0, 0, 0, 0),
            ("PUSH", "UTF8", "push ex", 0, 0, 0, 0),
            ("POP", "NO_TEXT", "", 0, 0, 0, 0),
            ("MARK", wide, "mark ex", 0, 0, 0, 0),
            ("MARK", "UTF8", "mark a", 0, 0, 0, 0),
            ("MARK", wide, "mark w", 0, 0, 0, 0),
            ("START", "UTF8", "start a", 0, 0, 0, 1),
            ("START", wide, "start w", 0, 0, 0, 2),
            ("START", registered, "", 2, 2, 0, 3),
            ("START", registered, "", 0, 2, 0, 4),
            ("STOP", "NO_TEXT", "", 0, 0, 0, 1),
            ("STOP", "NO_TEXT", "", 0, 0, 0, 2),
            ("STOP", "NO_TEXT", "", 2, 0, 0, 3),
            ("STOP", "NO_TEXT", "", 0, 0, 0, 4),
            ("MARK", registered, "", 2, 2, 0, 0),
            ("CATEGORY", "UTF8", "cat a", 0, 0, 1, 0),
            ("CATEGORY", wide, "cat w", 0, 0, 2, 0),
            ("CATEGORY", "UTF8", "cat da", 1, 0, 3, 0),
            ("CATEGORY", wide, "cat dw", 1, 0, 4, 0),
            ("NAME_THREAD", "UTF8", "thread a", 0, 0, 0, 11),
            ("NAME_THREAD", wide, "thread w", 0, 0, 0, 12),
            ("PUSH", "NO_TEXT", "", 0, 0, 0, 0),
            ("PUSH", "UTF8", "", 0, 0, 0, 0),
            ("PUSH", "NO_TEXT", "", 0, 0, 0, 0),
            ("MARK", "UTF8", huge, 0, 0, 0, 0),
        ])
        colored = s.events[6]
        self.assertEqual((colored.has_color, colored.color, colored.payload_type), (1, 0xFF102030, 5))
        self.assertEqual(colored.payload, 0xFFFFFFFB)  # −5 in 32 bits, whatever the rest of the union holds
        self.assertEqual(struct.pack("<Q", s.events[10].payload), struct.pack("<d", 2.5))
        self.assertEqual(self.output, "depth 0 1 0 0 1 0\n")

    def payloads(self, version=""):
        target = TARGET.with_name("nvtx_payloads" + version)
        done = subprocess.run([target], env=self.environment(), capture_output=True, text=True, timeout=60)
        if done.returncode == 77:
            self.skipTest("the NVTX of this toolkit has no payloads")
        self.assertEqual(done.returncode, 0, done.stderr)
        [s] = spool.read_all(self.folder.name)
        self.assertTrue(s.complete)
        self.assertEqual(s.dropped(), [])
        return done.stdout, [e for e in s.events if e.type not in ("DOMAIN", "STRING")]

    def check_payloads(self, version):
        said, events = self.payloads(version)
        self.assertEqual(said, "ids 100000b depth 0 1000005 1000014 1 0 enabled 1\n")
        own = [e.id for e in events if e.type == "SCHEMA" and e.id >= 1 << 32]
        self.assertEqual(len(own), 2)
        comm = 0xFEDCBA9876543210
        init = struct.pack("<4QQiii4x", 1, (1 << 24) + 11, 24, 32, comm, 2, 0, 0)
        reduce = struct.pack("<QQi4x", comm, 4096, 0)
        send = struct.pack("<QQi4x", comm, 512, 1)
        got = [(e.type, e.string if e.type != "SCHEMA" else 0, e.id, e.words if e.type == "PAYLOAD" else b"") for e in events]
        none = b""
        self.assertEqual(got, [
            ("PUSH", 1, 0, none), ("SCHEMA", 0, (1 << 24) + 11, none), ("PAYLOAD", 0, 0, init), ("POP", 0, 0, none),
            ("SCHEMA", 0, (1 << 24) + 5, none),
            ("PUSH", 2, 0, none), ("PAYLOAD", 0, 0, struct.pack("<4Q", 1, (1 << 24) + 5, 24, 32) + reduce), ("POP", 0, 0, none),
            ("SCHEMA", 0, own[0], none), ("SCHEMA", 0, own[1], none),
            ("START", 3, 1, none), ("PAYLOAD", 0, 1, struct.pack("<7Q", 2, own[0], 24, 56, (1 << 24) + 5, 24, 80) + send + reduce),
            ("STOP", 0, 1, none),
            ("PUSH", 0, 0, none), ("POP", 0, 0, none),
            ("START", 0, 2, none), ("PAYLOAD", 0, 2, struct.pack("<4Q", 1, own[0], 24, 32) + send), ("STOP", 0, 2, none),
            ("PUSH", 0, 0, none), ("POP", 0, 0, none), ("PUSH", 0, 0, none), ("POP", 0, 0, none),
        ])
        schema = next(e for e in events if e.type == "SCHEMA" and e.id == (1 << 24) + 5)
        self.assertEqual((schema.category, schema.payload), (1, 24))
        entries, at = [], 0
        while at < len(schema.words):
            *numbers, size, name = struct.unpack("<4QII", schema.words[at : at + 40])
            entries.append((*numbers, schema.words[at + 40 : at + 40 + name].decode()))
            at += size
        self.assertEqual(entries, [(0, 18, 0, 0, "NCCL communicator ID"), (0, 22, 0, 8, "Message size [bytes]"),
                                   (0, (1 << 24) + 20, 0, 16, "Reduction operation")])

    def test_payloads(self):
        self.check_payloads("")

    def test_payloads_as_nccl_has_them(self):
        self.check_payloads("_0103")

    def test_payloads_of_another_version(self):
        said, events = self.payloads("_0199")  # layouts may be others: ranges begin and end, and that is all
        self.assertEqual(said, "ids 0 depth 0 0 0 0 0 enabled 1\n")
        self.assertEqual([e.type for e in events if e.type != "PAYLOAD"],
                         ["PUSH", "POP", "PUSH", "POP", "START", "STOP", "PUSH", "POP", "START", "STOP", "PUSH", "POP", "PUSH", "POP"])
        self.assertEqual([e.string for e in events if e.type in ("PUSH", "START")], [1, 2, 3, 0, 0, 0, 0])

    def test_threads_lose_nothing(self):
        s = self.one("threads")
        self.assertTrue(s.complete)
        self.assertEqual(s.dropped(), [])
        names = s.thread_names()
        by_thread = {}
        for e in s.events:
            by_thread.setdefault(e.tid, []).append(e)
        workers = {tid: es for tid, es in by_thread.items() if tid != s.header.pid}
        self.assertEqual(len(workers), 8)
        started = {}
        for tid, es in workers.items():
            me = names[tid].split()[1]
            self.assertEqual(names[tid], f"worker {me}")
            self.assertEqual([e.words for e in es if e.type == "PUSH"], [f"{me}.{i}" for i in range(5000)])
            self.assertEqual([e.type for e in es], ["PUSH", "POP"] * 5000 + ["START"])
            self.assertEqual([e.time for e in es], sorted(e.time for e in es))
            started[es[-1].id] = es[-1]
        ended = [e.id for e in by_thread[s.header.pid]]
        self.assertEqual(sorted(ended), sorted(started))
        self.assertEqual(len(set(ended)), 8)

    def test_many_short_threads(self):
        s = self.one("many")
        self.assertEqual([e.words for e in s.events], ["short"] * 2000)
        self.assertEqual(len({e.tid for e in s.events}), 2000)
        self.assertEqual(s.dropped(), [])

    def test_forks(self):
        spools = self.run_target("forks")
        parent = [s for s in spools if any("parent" in e.words for e in s.events)]
        self.assertEqual(len(parent), 1)
        self.assertEqual([e.words for e in parent[0].events], ["parent before", "parent after"])
        self.assertTrue(parent[0].complete)
        children = [s for s in spools if s is not parent[0]]
        self.assertEqual(len(children), 3, "a child that says nothing has no file")
        for s in children:
            self.assertEqual([e.words for e in s.events], ["child"])
            self.assertEqual(s.header.parent, parent[0].header.pid)
            self.assertEqual({e.tid for e in s.events}, {s.header.pid})
        self.assertEqual([s.complete for s in children].count(True), 1)

    def test_killed(self):
        target = subprocess.Popen([TARGET, "until-killed"], env=self.environment())
        time.sleep(0.7)
        killed = time.monotonic_ns()
        target.send_signal(signal.SIGKILL)
        target.wait()
        (s,) = spool.read_all(self.folder.name)
        self.assertFalse(s.complete)
        self.assertGreater(len(s.events), 100)
        self.assertLess(killed - s.events[-1].time, 100_000_000)

    def test_exit_without_handlers_and_abort(self):
        for how, status in (("_exit", 0), ("abort", -signal.SIGABRT)):
            most = 0  # of three: on a busy machine the background thread may come late
            for _ in range(3):
                with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                    s = self.run_target("slow", how, status=status, GAPLINE_SPOOL=folder) or spool.read_all(folder)
                    self.assertEqual(len(s), 1)
                    self.assertFalse(s[0].complete)
                    most = max(most, len(s[0].events))
                if most >= 2 * 34:
                    break
            self.assertGreaterEqual(most, 2 * 34, "all but the last 60 ms of 40 times 10 ms")

    def test_window(self):
        now = time.monotonic_ns()
        start, stop = now + 150_000_000, now + 300_000_000
        s = self.one("slow", GAPLINE_START_NS=str(start), GAPLINE_STOP_NS=str(stop))
        self.assertTrue(s.events)
        self.assertTrue(all(start <= e.time < stop for e in s.events))
        self.assertGreater(len(s.events), 10)
        self.assertEqual(s.windows(), [(1, 1, start), (0, 1, stop)])

    def test_range_keeps_names(self):
        s = self.one("all", GAPLINE_CAPTURE_RANGE="cudaProfilerApi")
        self.assertEqual({e.type for e in s.events}, {"DOMAIN", "STRING", "NAME_THREAD", "CATEGORY"})

    def test_closed_files(self):
        s = self.one("closes")
        self.assertEqual([e.words for e in s.events], ["before", "after"])
        self.assertTrue(s.complete)
        self.assertEqual(self.output, "own file: 0 bytes\n")

    def test_nothing_without_a_folder(self):
        for value in ("", "/does/not/exist"):
            self.run_target("all", GAPLINE_SPOOL=value)
            self.assertEqual(os.listdir(self.folder.name), [])
            self.assertEqual(self.output, "depth -2 -2 -2 -2 -2 -2\n")  # what NVTX says without a tool

    def test_folder_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o500)
            if os.access(folder, os.W_OK):
                self.skipTest("root writes everywhere")
            self.run_target("all", GAPLINE_SPOOL=folder)

    def test_same_process_id_twice(self):
        first, second = self.run_target("slow", "exec")
        self.assertEqual(first.header.pid, second.header.pid)
        self.assertEqual([s.path.stem.split("-")[2] for s in (first, second)], ["0", "1"])
        self.assertEqual([s.complete for s in (first, second)], [False, True])
        self.assertEqual({e.words for e in first.events if e.type == "PUSH"}, {"slow"})
        self.assertIn("push a", {e.words for e in second.events})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
