#!/usr/bin/env python3
"""What libgapline-cupti.so writes for a program that uses CUDA, with a stand-in for the driver and for CUPTI.

    check_inject_cupti.py LIBRARY CUDA_TARGET FOLDER_OF_THE_FAKES GAPLINE
"""

import glob
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import spool

LIBRARY, TARGET, FAKES, GAPLINE = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
KERNEL, RUNTIME, DRIVER, DEVICE, GRAPH, DEVICE_GRAPH = 10, 5, 4, 8, 51, 53
MS = 1_000_000
NO_CUPTI, TOO_OLD, TAKEN, FAILED = 1, 2, 3, 4
WARNING, ERROR = 2, 3


def records(s):
    """(kind, bytes, name of the kernel) of every record, by the sizes and names that were in force when it came."""
    sizes, names = {}, {}
    for b in s.blocks:
        if b.type == "RECORD_SIZES":
            sizes.update(struct.iter_unpack("<II", b.data))
        elif b.type == "KERNEL_NAME":
            names[struct.unpack("<Q", b.data[:8])[0]] = b.data[8:].decode()
        elif b.type == "BUFFER":
            at = 0
            while at < len(b.data):
                (kind,) = struct.unpack("<I", b.data[at : at + 4])
                data = b.data[at : at + sizes[kind]]
                yield kind, data, names.get(struct.unpack("<Q", data[104:112])[0]) if kind == KERNEL else None
                at += sizes[kind]
            assert at == len(b.data)


def kernels(s):
    return [(name, *struct.unpack("<QQ", data[16:32])) for kind, data, name in records(s) if kind == KERNEL]


def in_windows(s):
    """Kernels whose call began in a window: what conversion takes."""
    calls, windows = {}, s.windows()
    for kind, data, _ in records(s):
        if kind == RUNTIME:
            calls[struct.unpack("<I", data[32:36])[0]] = struct.unpack("<Q", data[8:16])[0]
    spans = [(a[2], b[2]) for a, b in zip(windows[::2], windows[1::2])]
    for kind, data, name in records(s):
        if kind == KERNEL:
            begin = calls[struct.unpack("<I", data[92:96])[0]]
            if any(a <= begin < b for a, b in spans):
                yield name, begin


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def environment(self, libraries=("fake_driver", "fake_cupti"), **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GAPLINE_", "LD_", "FAKE_"))}
        paths = ":".join(str(FAKES / name) for name in libraries)
        # The fake comes first, whatever is installed here: the search itself has tests of its own.
        named = {"GAPLINE_CUPTI": f"{FAKES}/fake_cupti/libcupti.so.13"} if "fake_cupti" in libraries else {}
        return {**env, "LD_LIBRARY_PATH": paths, "CUDA_INJECTION64_PATH": str(LIBRARY),
                "GAPLINE_SPOOL": self.folder.name, **named, **more}


class Cupti(Case):
    def run_target(self, *words, **more):
        done = subprocess.run([TARGET, *words], env=self.environment(**more), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.output = done.stdout
        return spool.read_all(self.folder.name)

    def one(self, *words, **more):
        (s,) = self.run_target(*words, **more)
        self.assertTrue(s.complete)
        return s

    def test_launches(self):
        before = time.monotonic_ns()
        s = self.one("launches")
        self.assertEqual([struct.unpack("<4I", b.data) for b in s.of("CUPTI")], [(130001, 13000, 1, 3)])
        self.assertEqual(kernels(s), [(("even", "odd")[i % 2], 1000 + 10 * i, 1005 + 10 * i) for i in range(10000)])
        calls = [struct.unpack("<IQQIII", data[4:36]) for kind, data, _ in records(s) if kind == RUNTIME]
        self.assertEqual(len(calls), 10000)
        self.assertEqual([c[5] for c in calls], list(range(1, 10001)))
        self.assertTrue(all(before < c[1] <= c[2] < time.monotonic_ns() for c in calls), "times are of CLOCK_MONOTONIC")
        self.assertEqual({(c[3], c[4]) for c in calls}, {(s.header.pid, s.header.pid)})
        order = [b.type for b in s.blocks]
        self.assertLess(order.index("CUPTI"), order.index("BUFFER"))
        (callback,) = s.of("CALLBACK_NAMES")
        self.assertEqual(callback.data, struct.pack("<4I", 2, 211, 40, 22) + b"cudaLaunchKernel_v7000\0\0")
        self.assertEqual(len(s.of("KERNEL_NAME")), 2)
        self.assertEqual(s.thread_names()[s.header.pid], TARGET.name[:15])
        self.assertEqual(s.messages(), [])

    def test_device(self):
        s = self.one("launches")
        (device,) = s.of("DEVICE")
        fields = struct.unpack("<IIQQQ5I16sI", device.data[:72])
        self.assertEqual(fields, (0, 132, 1 << 37, 4_800_000_000_000, 1_980_000_000, 9, 0, 5000, 3300, 3400,
                                  b"\x5a" * 16, 8))  # the fake driver answers 100 times the attribute's number
        self.assertEqual(device.data[72:], b"Fake GPU")

    def test_name_at_a_place_used_again(self):
        s = self.one("names")
        self.assertEqual(kernels(s), [("first_kernel", 1, 2), ("second", 3, 4), ("second", 5, 6)])
        ((severity, _, text),) = s.messages()
        self.assertEqual((severity, "may have the names of others" in text), (2, True), "within a buffer nobody would see it")

    def test_name_that_is_gone(self):
        self.assertEqual(kernels(self.one("unloaded")), [(None, 1, 2), ("there", 3, 4)])

    def test_dropped(self):
        self.assertEqual(self.one("launches", FAKE_DROPPED="7").dropped(), [(1, 7)])

    def test_memory_in_flight_is_bounded(self):
        self.run_target("hog")
        count = int(self.output.split()[0])
        self.assertTrue(1000 <= count <= 4096, count)
        (s,) = spool.read_all(self.folder.name)
        self.assertEqual(s.dropped(), [(1, 1)], "a refusal is noted even where CUPTI does not count it")

    def test_a_thread_for_every_launch(self):
        s = self.one("launches", FAKE_THREADS="1")
        self.assertEqual(len(kernels(s)), 10000)
        self.assertEqual(s.dropped(), [])

    def test_forked_children_leave_cupti_alone(self):
        s = self.one("forks")  # the fake aborts a child that uses it
        self.assertEqual(self.output, "bad children: 0\n")
        self.assertEqual(kernels(s), [("parent", 1, 2), ("parent", 3, 4)])

    def test_cuda_begun_in_a_child(self):
        s = self.one("child")
        self.assertEqual(len(kernels(s)), 10000)

    def test_killed(self):
        target = subprocess.Popen([TARGET, "killed"], env=self.environment())
        time.sleep(0.7)
        killed = time.monotonic_ns()
        target.kill()
        target.wait()
        (s,) = spool.read_all(self.folder.name)
        self.assertFalse(s.complete)
        calls = [struct.unpack("<Q", data[16:24])[0] for kind, data, _ in records(s) if kind == RUNTIME]
        self.assertGreater(len(calls), 100)
        self.assertLess(killed - calls[-1], 100 * MS)

    def test_graphs_that_still_run(self):
        """CUPTI 12.2 to 12.5 would give out their records without times: from the first graph on it is not asked while the
        program runs. What it holds comes at the end."""
        for version, trace, graph, asked in (("22", "graph", "1", False), ("28", "graph", "1", False), ("22", "graph", "", True),
                                             ("22", "node", "1", True), ("18", "graph", "1", True), ("130001", "graph", "1", True)):
            with self.subTest(version=version, trace=trace, graph=graph):
                more = {"FAKE_CUPTI": version, "FAKE_FORCED_ALONE": "1", "GAPLINE_GRAPH_TRACE": trace}
                target = subprocess.Popen([TARGET, "killed"], env=self.environment(**more, **({"FAKE_GRAPH": graph} if graph else {})),
                                          stderr=subprocess.DEVNULL)
                try:
                    target.wait(20 if asked else 1)
                except subprocess.TimeoutExpired:
                    target.kill()
                self.assertEqual(-target.wait(), signal.SIGABRT if asked else signal.SIGKILL)
        with tempfile.TemporaryDirectory() as folder:
            self.run_target("steps", FAKE_CUPTI="22", FAKE_GRAPH="1", FAKE_FORCED_ALONE="1", GAPLINE_SPOOL=folder)
            self.assertEqual(len(kernels(spool.read_all(folder)[0])), 60)

    def test_xla(self):
        """CUPTI 13.0 takes programs of XLA down when it traces their graphs whole: by node, unless whole was asked for.
        JAX initialises CUDA before it loads its plugin, with other libraries of its own loaded."""
        with tempfile.TemporaryDirectory() as folder:
            for name, how, whole, said in (("xla_cuda_plugin.so", "auto", False, "node by node"), ("libjax_common.so", None, False, "node by node"),
                                           ("_jax.so", "auto", False, "node by node"), ("libtensorflow_cc.so.2", "auto", False, "node by node"),
                                           ("xla_cuda_plugin.so", "graph", True, "whole"), ("xla_cuda_plugin.so", "node", False, None),
                                           ("libjazz.so", "auto", True, None), ("my_jax.so", "auto", True, None)):
                with self.subTest(name=name, how=how), tempfile.TemporaryDirectory() as spools:
                    library = shutil.copy(FAKES / "fake_driver/libcuda.so.1", pathlib.Path(folder) / name)
                    more = {"GAPLINE_GRAPH_TRACE": how} if how else {}
                    self.run_target("kinds", GAPLINE_SPOOL=spools, LD_PRELOAD=str(library), **more)
                    (s,) = spool.read_all(spools)
                    self.assertEqual(str(GRAPH) in self.output.split(), whole)
                    self.assertEqual(s.of("CUPTI")[0].data[8:12], b"\1\0\0\0" if whole else b"\2\0\0\0")
                    messages = [m.data[8:].decode() for m in s.of("MESSAGE")]
                    self.assertEqual([said in m and "JAX" in m for m in messages], [True] if said else [])

    def test_xla_after_cuda(self):
        """Kinds are not switched while a program runs: its graphs are whole, and that is said, however soon it ends."""
        with tempfile.TemporaryDirectory() as folder:
            for name, how, whole, said in (("xla_cuda_plugin.so", "auto", True, True), ("_jax.so", None, True, True),
                                           ("libjax_common.so", "graph", True, True), ("_jax.so", "node", False, False),
                                           ("libjazz.so", "auto", True, False)):
                with self.subTest(name=name, how=how), tempfile.TemporaryDirectory() as spools:
                    library = shutil.copy(FAKES / "fake_driver/libcuda.so.1", pathlib.Path(folder) / name)
                    more = {"GAPLINE_GRAPH_TRACE": how} if how else {}
                    self.run_target("later", GAPLINE_SPOOL=spools, FAKE_LATER=str(library), **more)
                    (s,) = spool.read_all(spools)
                    self.assertEqual(str(GRAPH) in self.output.split(), whole)
                    self.assertEqual(s.of("CUPTI")[0].data[8:12], b"\1\0\0\0" if whole else b"\2\0\0\0")
                    self.assertEqual([k[0] for k in kernels(s)], ["before", "after"])
                    messages = [m.data[8:].decode() for m in s.of("MESSAGE")]
                    self.assertEqual(["--cuda-graph-trace node" in m for m in messages], [True] * said)

    def test_graphs_whole_or_by_node(self):
        self.assertEqual(self.one("kinds").of("CUPTI")[0].data[8:12], b"\1\0\0\0")
        whole = self.output.split()
        self.assertIn(str(GRAPH), whole)
        self.assertEqual(whole[0], str(DEVICE_GRAPH), "before anything else, or CUPTI takes no notice")
        self.assertNotIn("49", whole, "memory was not asked for")
        self.assertLessEqual({str(KERNEL), str(RUNTIME), str(DRIVER), str(DEVICE), "1", "22", "2", "38", "17"}, set(whole))
        with tempfile.TemporaryDirectory() as folder:
            self.run_target("kinds", GAPLINE_GRAPH_TRACE="node", GAPLINE_SPOOL=folder)
            (s,) = spool.read_all(folder)
            self.assertEqual(s.of("CUPTI")[0].data[8:12], b"\2\0\0\0")
            self.assertEqual(set(whole) - set(self.output.split()), {str(GRAPH)})

    # Windows do not switch CUPTI, for which the fake would abort the program: the spool holds the buffers that have
    # something of a window, and the windows themselves.

    def test_capture_range(self):
        s = self.one("range", GAPLINE_CAPTURE_RANGE="cudaProfilerApi")
        self.assertEqual([k[0] for k in in_windows(s)], ["inside", "again"])
        self.assertEqual([w[:2] for w in s.windows()], [(1, 2), (0, 2), (1, 2), (0, 2)])
        self.assertEqual(len(s.of("DEVICE")), 1)
        # Without the option the calls mean nothing.
        with tempfile.TemporaryDirectory() as folder:
            self.run_target("range", GAPLINE_SPOOL=folder)
            self.assertEqual(len(kernels(spool.read_all(folder)[0])), 5)

    def test_many_ranges_beside_work(self):
        s = self.one("ranges", GAPLINE_CAPTURE_RANGE="cudaProfilerApi")
        windows = s.windows()
        self.assertEqual([w[0] for w in windows], [1, 0] * (len(windows) // 2))
        self.assertEqual(windows, sorted(windows, key=lambda w: w[2]))
        self.assertEqual(len(windows), 2000)
        self.assertEqual(sum(k[0] == "inside" for k in in_windows(s)), 1000)

    def test_ranges_while_the_background_thread_is_held_up(self):
        s = self.one("ranges", GAPLINE_CAPTURE_RANGE="cudaProfilerApi", FAKE_FLUSH_US="2000000")
        self.assertEqual((len(s.windows()), s.dropped()), (2000, []))

    def test_ranges_without_room_are_counted(self):
        s = self.one("flood", GAPLINE_CAPTURE_RANGE="cudaProfilerApi", FAKE_FLUSH_US="300000")
        windows = s.windows()
        self.assertEqual([w[0] for w in windows], [1, 0] * (len(windows) // 2))
        lost = sum(count for what, count in s.dropped())
        self.assertGreater(lost, 0)
        self.assertEqual(len(windows) // 2 + lost, int(self.output.split()[0]))

    def test_window_of_time(self):
        now = time.monotonic_ns()
        start, stop = now + 400 * MS, now + 700 * MS  # of the 900 that the program runs, however late it is
        s = self.one("slow", GAPLINE_START_NS=str(start), GAPLINE_STOP_NS=str(stop))
        calls = [struct.unpack("<Q", data[8:16])[0] for kind, data, _ in records(s) if kind == RUNTIME]
        self.assertGreater(sum(start <= c < stop for c in calls), 8)
        self.assertTrue(all(start - 60 * MS <= c < stop + 300 * MS for c in calls), "nothing from afar is kept")
        self.assertEqual(s.windows(), [(1, 1, start), (0, 1, stop)])
        self.assertEqual(len(s.of("DEVICE")), 1)

    def test_window_that_closes_with_the_program(self):
        """The end of the window comes before, during and after the program's own; a lone start or end do too."""
        for end in range(860, 1000, 40):
            for start in (850, None):
                with self.subTest(end=end, start=start), tempfile.TemporaryDirectory() as folder:
                    now = time.monotonic_ns()
                    more = {"GAPLINE_START_NS": str(now + start * MS)} if start else {}
                    self.run_target("slow", GAPLINE_SPOOL=folder, GAPLINE_STOP_NS=str(now + end * MS), **more)
                    (s,) = spool.read_all(folder)
                    self.assertTrue(s.complete)

    def test_window_that_is_never_reached(self):
        s = self.one("launches", GAPLINE_START_NS=str(time.monotonic_ns() + 60_000 * MS))
        self.assertEqual((s.windows(), s.of("BUFFER"), len(s.of("DEVICE"))), ([], [], 1))

    def message(self, code, *words, case="nothing", **more):
        s = self.one(case, **more)
        ((severity, got, text),) = s.messages()
        self.assertEqual((severity, got), (ERROR, code), text)
        for word in words:
            self.assertIn(word, text)
        self.assertNotIn("BUFFER", [b.type for b in s.blocks])
        return text

    def test_taken(self):
        text = self.message(TAKEN, "CUPTI for Nsight", "no GPU work was recorded", FAKE_SUBSCRIBE="39",
                            FAKE_OTHER="CUPTI for Nsight")
        self.assertTrue(text.startswith("Another tool already uses CUPTI in this process (CUPTI for Nsight)"))

    def test_taken_by_somebody_without_a_name(self):
        text = self.message(TAKEN, "Another tool already uses CUPTI in this process, so", FAKE_SUBSCRIBE="39",
                            FAKE_OTHER="CUPTI for <not provided>")
        self.assertNotIn("<", text)

    def test_newer_than_the_driver(self):
        self.without_real_ones()
        self.message(TOO_OLD, "made for CUDA 13.0, but the driver supports up to 12.4", "the CUPTI of CUDA 12 in GAPLINE_CUPTI",
                     FAKE_DRIVER="12040")

    def test_too_old(self):
        self.without_real_ones()
        self.message(TOO_OLD, "it has no cuptiActivityRegisterTimestampCallback", "CUDA 11.8 or newer", FAKE_DRIVER="12040",
                     FAKE_CUPTI="16", GAPLINE_CUPTI=f"{FAKES}/fake_cupti_old/libcupti.so.13")

    def test_none(self):
        self.without_real_ones()
        if glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.*"):
            self.skipTest("a CUPTI that does not fit is found here")
        self.message(NO_CUPTI, "No CUPTI library (libcupti.so.12) was found", "GAPLINE_CUPTI", FAKE_DRIVER="12040",
                     libraries=("fake_driver",))

    def test_refused(self):
        s = self.one("launches", FAKE_REFUSE=str(KERNEL))
        ((severity, code, text),) = s.messages()
        self.assertEqual((severity, code), (ERROR, FAILED))
        self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", text)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers", text)
        self.assertEqual(kernels(s), [])

    def test_without_graphs_that_kernels_launch(self):
        s = self.one("launches", FAKE_REFUSE=str(DEVICE_GRAPH))
        ((severity, code, text),) = s.messages()
        self.assertEqual((severity, code), (WARNING, FAILED))
        self.assertIn("graphs that kernels launch", text)
        self.assertEqual(len(kernels(s)), 10000, "all else is recorded")

    def test_named_as_debian_does(self):
        self.without_real_ones()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(FAKES / "fake_cupti/libcupti.so.13", f"{folder}/libcupti.so.11.8")
            s = self.one("launches", libraries=("fake_driver", folder), FAKE_DRIVER="12040", FAKE_CUPTI="18")
        self.assertEqual(len(kernels(s)), 10000)
        self.assertEqual(s.messages(), [])

    def test_the_one_that_is_loaded_is_taken(self):
        loaded = FAKES / "fake_cupti_other" / "libcupti.so.13"
        s = self.run_target("nothing", str(loaded), FAKE_CUPTI="120000")  # its version is the same, its place is not
        maps = self.output
        self.assertEqual(maps, "CUPTI is loaded\n")
        self.assertEqual(s[0].messages(), [])

    def test_named_ones_are_tried_in_turn(self):
        named = f"/does/not/exist.so::{FAKES}/fake_cupti_old/libcupti.so.13:{FAKES}/fake_cupti/libcupti.so.13"
        s = self.one("launches", GAPLINE_CUPTI=named)
        self.assertEqual(len(kernels(s)), 10000)
        self.assertEqual(s.messages(), [])

    def test_nothing_without_a_folder(self):
        self.run_target("nothing", GAPLINE_SPOOL="")
        self.assertEqual(os.listdir(self.folder.name), [])
        self.assertEqual(self.output, "CUPTI is not loaded\n")

    def without_real_ones(self):
        """These tests say that the driver is of CUDA 12: a CUPTI of this machine that fits would be taken."""
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        if glob.glob("/usr/local/cuda-1[12]*") or "libcupti.so.12" in known or "libcupti.so.11" in known:
            self.skipTest("a CUPTI of CUDA 12 is installed here")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
