#!/usr/bin/env python3
"""`gapline capture --trace cuda,nvtx,py` around Python programs, with a stand-in for the driver and for CUPTI: what a
report says of their functions is what the programs' own clocks say, and however they fork and end, they are not harmed.

    check_python_capture.py GAPLINE FOLDER_OF_THE_FAKES PYTHON_CUDA CUDA_TARGET [--python FILE] [shares|others]

FILE: another interpreter, for the programs. Of one that is not known it is tried that this is said, and nothing else.
`shares` are the tests that hold shares of time, `others` all others.
"""

import ast
import contextlib
import ctypes
import json
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

GAPLINE, FAKES, CUDA, TARGET = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:5])
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = sys.argv[6] if sys.argv[5:6] == ["--python"] else sys.executable
KNOWN = (3, 11), (3, 12), (3, 13), (3, 14), (3, 15)
VERSION, FREE = subprocess.run([PYTHON, "-c", "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') == 1, sep=';')"],
                               check=True, capture_output=True, text=True).stdout.strip().split(";")  # fmt: skip
REFUSED = FREE == "True" or VERSION not in map(str, KNOWN)
WITHIN = 3  # points: what a function's share of the idle time may be off
ON_TIME_MS = 1.15  # a sampler asked for 1 ms that had a processor when it wanted one
SYS_PROCESS_VM_READV = {"x86_64": (0xC000003E, 310), "aarch64": (0xC00000B7, 270)}


def refuse_reading():
    """A container's filter that forbids process_vm_readv, for this process and its children."""
    arch, number = SYS_PROCESS_VM_READV[os.uname().machine]
    op = lambda code, yes, no, k: code.to_bytes(2, "little") + bytes([yes, no]) + k.to_bytes(4, "little")
    load, jump, give = 0x20, 0x15, 0x06
    program = (op(load, 0, 0, 4) + op(jump, 0, 3, arch) + op(load, 0, 0, 0) + op(jump, 0, 1, number)
               + op(give, 0, 0, 0x00050001) + op(give, 0, 0, 0x7FFF0000))  # fmt: skip

    class Filter(ctypes.Structure):
        _fields_ = [("n", ctypes.c_ushort), ("at", ctypes.c_char_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.byref(Filter(len(program) // 8, program)), 0, 0) == 0, ctypes.get_errno()


def come_first():
    """Before whatever else this machine does, where that is allowed."""
    with contextlib.suppress(OSError):
        os.nice(-19)


class Case(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="gapline-python-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GAPLINE_", "LD_", "FAKE_"))}
        self.env = {**kept, "LD_LIBRARY_PATH": f"{FAKES}/fake_driver:{FAKES}/fake_cupti",
                    "GAPLINE_CUPTI": f"{FAKES}/fake_cupti/libcupti.so.13", "FAKE_EXACT": "1"}  # fmt: skip

    def gapline(self, *words, status=0, **how):
        done = subprocess.run([GAPLINE, *map(str, words)], env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=120, **how)
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), done.stderr)
        return done.stdout, done.stderr

    def capture(self, name, *command, trace="cuda,nvtx,py", options=(), **how):
        return self.gapline("capture", "--collector", "cupti", "--force", "--trace", trace, *options, "-o", name, "--", *command, **how)

    def program(self, text, name="program.py"):
        path = self.folder / name
        head = f"import ctypes\ncuda = ctypes.CDLL({CUDA!r})\nassert cuda.cuda_begin() == 0\n"
        path.write_text(head + textwrap.dedent(text))
        return path

    def sql(self, name, query):
        db = sqlite3.connect(self.folder / name)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def tables(self, name):
        return {n for (n,) in self.sql(name, "SELECT name FROM sqlite_master WHERE type = 'table'")}


@unittest.skipUnless(REFUSED, "it is known")
class Refused(Case):
    def test_refused(self):
        for trace in "cuda,nvtx,py", "cuda,nvtx,py,native":
            _, said = self.capture("x.sqlite", PYTHON, self.program(Words.SHORT), trace=trace)
            why = "no global interpreter lock" if FREE == "True" else "this version of CPython is not known to gapline"
            self.assertEqual(said.count(why), 1, said)
            self.assertNotIn("COMPOSITE_EVENTS", self.tables("x.sqlite"))
            self.assertEqual(self.sql("x.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), [(60,)])


@unittest.skipIf(REFUSED, "it is not known")
class Shares(Case):
    def three(self, name, shares, program="three_functions.py", **how):
        """The program's clock, and what the report says; of a run in which the sampler was let run, if there is one among
        three: on a machine with more to do than processors it comes when it can."""
        for _ in range(3):
            out, _ = self.capture(name, PYTHON, HERE / program, "--library", CUDA, "--shares", shares, preexec_fn=come_first, **how)
            took = json.loads(out)
            self.gapline("report", name, name, "-o", "r.html", "--json", "r.json", "-q")
            result = json.loads((self.folder / "r.json").read_text())
            every = result["functions"]["sampling"]["baseline"]["interval_ms"]
            if every < ON_TIME_MS:
                break
        return took, result

    def judge(self, name, share, truth, result, cause):
        """In percent. Where samples are rare, chance is added to what they may be off: three standard deviations."""
        every, n = result["functions"]["sampling"]["baseline"]["interval_ms"], cause["baseline"]["samples"]
        within = WITHIN + (3 * math.sqrt(truth * (100 - truth) / max(n, 1)) if every >= ON_TIME_MS else 0)
        print(f"{name}: {share:.1f} % of the idle time, {truth:.1f} by its own clock; a sample every {every:.2f} ms", flush=True)
        self.assertLess(abs(share - truth), within, name)

    def test_three_functions(self):
        for shares in "20,30,50", "60,10,30":
            took, result = self.three("three.sqlite", shares)
            (cause,) = [c for c in result["functions"]["causes"] if c["phase"] == "data_load"]
            self.assertEqual(cause["cause"], "host_code")
            idle = cause["baseline"]["ms_per_step"]
            functions = {f["name"]: f["baseline"] for f in cause["functions"]}
            whole = sum(took["ms"].values())
            for name, ms in took["ms"].items():
                share, truth = 100 * functions[name]["total_ms"] / idle, 100 * ms / whole
                self.judge(name, share, truth, result, cause)
            self.assertEqual({f["module"] for f in cause["functions"] if "Images" in f["name"]}, {"three_functions.py"})
            longest = max(took["ms"], key=took["ms"].get)
            named = {"tokenise": "'tokenise' \u2192 'findall'", "Images.augment": "Images.augment", "fetch": "'fetch'"}[longest]
            self.assertIn(named, result["findings"][0]["text"])
            lines = {node.name: node.lineno for node in ast.walk(ast.parse((HERE / "three_functions.py").read_text())) if isinstance(node, ast.FunctionDef)}
            (at,) = [fact["params"] for fact in result["findings"][0]["more"] if fact["id"] == "at_line"]
            inner = longest if took["ms"][longest] > 0.55 * whole else at["function"]  # about half: it, or what calls it
            self.assertIn(inner, (longest, "step"))
            self.assertEqual((at["function"], at["file"], at["line"]), (inner, "three_functions.py", lines[inner.split(".")[-1]]))
            self.assertNotIn("CPU profiler", result["findings"][0]["advice"])

    def test_three_libraries(self):
        """In one Python function; two of them have no symbols for what they do."""
        libraries = {"hash": "libcrypto", "compress": "libz", "copy": "libc."}
        for shares in "20,30,50", "60,10,30":
            took, result = self.three("n.sqlite", shares, "native_functions.py", trace="cuda,nvtx,py,native")
            (cause,) = [c for c in result["functions"]["causes"] if c["phase"] == "data_load"]
            whole = sum(took["ms"].values())
            for name, library in libraries.items():
                ms = sum(f["baseline"]["self_ms"] for f in cause["functions"] if f["module"].startswith(library))
                share, truth = 100 * ms / cause["baseline"]["ms_per_step"], 100 * took["ms"][name] / whole
                self.judge(f"{name} in {library}", share, truth, result, cause)

    def test_faster_function_stands_first(self):
        self.three("a.sqlite", "20,30,50")
        self.three("b.sqlite", "20,10,50")
        self.gapline("report", "a.sqlite", "b.sqlite", "-o", "r.html", "--json", "r.json", "-q")
        functions = json.loads((self.folder / "r.json").read_text())["functions"]["functions"]
        self.assertTrue(functions[0]["changed"])
        self.assertTrue(functions[0]["name"].startswith("Images."), functions[0])


@unittest.skipIf(REFUSED, "it is not known")
class Lock(Case):
    """Who holds the interpreter's lock. Waits are many samples long, and the program's clock leaves out when it had no
    processor; what a late sampler did not see, the report says."""

    WAIT_MS = 100

    def captured(self, *options):
        out, _ = self.capture("lock.sqlite", PYTHON, HERE / "gil_holder.py", "--library", CUDA, *options, preexec_fn=come_first)
        self.gapline("report", "lock.sqlite", "lock.sqlite", "-o", "r.html", "--json", "r.json", "-q", "--warmup", "1")
        return json.loads(out), json.loads((self.folder / "r.json").read_text())

    def waiting(self, result):
        return sum(row["ms_per_step"] for row in result["baseline"]["budget"]["idle"] if row["cause"] == "gil")

    def test_holder_is_named(self):
        took, result = self.captured("--interval", self.WAIT_MS, "--steps", 30)
        sampling = result["functions"]["sampling"]["baseline"]
        share, unlooked = (ms / took["waited_ms"] for ms in (self.waiting(result), sampling["gil_unlooked_ms_per_step"]))
        print(f"{100 * share:.1f} % of {took['waited_ms']:.2f} ms of waiting a step, nobody looked for {100 * unlooked:.1f} %, "
              f"a sample every {sampling['interval_ms']:.2f} ms", flush=True)  # fmt: skip
        self.assertGreater(took["waited_ms"], self.WAIT_MS / 8)
        self.assertGreater(share + unlooked, 0.95)
        times = [time for (time,) in self.sql("lock.sqlite", "SELECT start FROM GAPLINE_GIL ORDER BY start")]
        if max(b - a for a, b in zip(times, times[1:])) < 3e6:  # the sampler never came late, whatever the report says
            self.assertGreater(share, 0.95)
        # a machine that stops the program between two lines makes it give the lock away there, and wait
        self.assertLess(self.waiting(result), 1.05 * took["outside_ms"])
        (finding,) = [f for f in result["findings"] if f["id"] == "gil_contention"]
        self.assertRegex(finding["text"], r"for 'decode' in the thread 'loader-1', which holds the lock \(\d+ samples\)")
        self.assertIn("The waits for Python's GIL waited for the thread 'loader-1'", " ".join(self.gapline("show", "lock.sqlite")[0].split()))
        (cause,) = [c for c in result["functions"]["causes"] if c["cause"] == "gil"]
        functions = {f["name"]: f["baseline"] for f in cause["functions"]}
        self.assertGreater(functions["load"]["total_ms"], 0.9 * cause["baseline"]["ms_per_step"])
        self.assertNotIn("compute", functions, "who waits does nothing")
        (holder,) = cause["holders"]
        self.assertEqual((holder["thread"], holder["main"], cause["holders_left_out"]), ("loader-1", False, 0))
        self.assertGreater(holder["baseline"]["ms_per_step"], 0.9 * cause["baseline"]["ms_per_step"])
        self.gapline("scrub", "--keep-stacks", "lock.sqlite", "-o", "s.sqlite")
        self.assertIn(b"loader-1", (self.folder / "s.sqlite").read_bytes())
        self.gapline("scrub", "lock.sqlite", "-o", "s.sqlite", "--force")
        self.assertNotIn(b"loader-1", (self.folder / "s.sqlite").read_bytes())
        self.gapline("report", "s.sqlite", "s.sqlite", "-o", "r.html", "--json", "r.json", "-q", "--warmup", "1")
        scrubbed = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(self.waiting(scrubbed), self.waiting(result), "the cause needs no names")
        self.assertNotIn("functions", scrubbed)

    def test_nothing_without_contention(self):
        for holder in "none", "sleeps", "compresses":
            with self.subTest(holder):
                _, result = self.captured("--holder", holder, "--steps", 150)
                idle = result["baseline"]["budget"]["per_step"]["idle"]
                print(f"{holder}: {self.waiting(result):.4f} of {idle:.4f} ms a step", flush=True)
                ((waits,),) = self.sql("lock.sqlite", "SELECT sum(waits) FROM GAPLINE_GIL")
                if holder == "none":
                    self.assertEqual(waits, 0)
                self.assertNotIn("gil_contention", [f["id"] for f in result["findings"]])


@unittest.skipIf(REFUSED, "it is not known")
class Words(Case):
    SHORT = """
        import time
        def wait_a_little():
            time.sleep(0.004)
        for i in range(60):
            cuda.range_push(b"step")
            wait_a_little()
            cuda.cuda_run(ctypes.c_long(100000))
            cuda.range_pop()
        """

    def test_nothing_without_py(self):
        path = self.program("import os\nopen('environment', 'w').write(str(dict(os.environ)))" + textwrap.dedent(self.SHORT))
        self.capture("x.sqlite", PYTHON, path, trace="cuda,nvtx")
        self.assertNotIn("COMPOSITE_EVENTS", self.tables("x.sqlite"))
        self.assertNotIn("GAPLINE_SAMPLE_NS", (self.folder / "environment").read_text())
        self.assertEqual(self.sql("x.sqlite", "SELECT value FROM GAPLINE_CAPTURE WHERE name = 'trace'"), [("cuda,nvtx",)])

    def test_private(self):
        secret = self.folder / "someone"
        secret.mkdir()
        self.program(self.SHORT, "someone/program.py")
        self.capture("x.sqlite", PYTHON, secret / "program.py", "--token", "hunter2")
        texts = [t for (t,) in self.sql("x.sqlite", "SELECT value FROM StringIds")]
        self.assertIn("wait_a_little", texts)
        self.assertIn("program.py:1", texts)
        data = (self.folder / "x.sqlite").read_bytes()
        for word in b"someone", b"hunter2", str(self.folder).encode():
            self.assertNotIn(word, data)
        for options, there in ((), False), (("--keep-stacks",), True):
            self.gapline("scrub", "x.sqlite", "-o", "s.sqlite", "--force", *options)
            self.assertEqual("COMPOSITE_EVENTS" in self.tables("s.sqlite"), there)
            self.assertEqual(b"wait_a_little" in (self.folder / "s.sqlite").read_bytes(), there)
        show = lambda name: [line for line in self.gapline("show", name)[0].splitlines() if name not in line]
        self.assertEqual(show("x.sqlite"), show("s.sqlite"), "a copy with stacks says the same")

    def test_distance(self):
        for every, least, most in (5, 20, 70), (1, 90, 320):
            self.capture("x.sqlite", PYTHON, self.program(self.SHORT), options=["--sample-every", str(every)])
            ((n,),) = self.sql("x.sqlite", "SELECT count(*) FROM COMPOSITE_EVENTS")
            self.assertTrue(least < n < most or n < least and every == 1, (every, n))

    def test_usage(self):
        _, said = self.gapline("capture", "--sample-every", "2", "-o", "x", "--", "true", status=2)
        self.assertIn("--sample-every says how often Python is sampled, which is not asked for", said)
        _, said = self.gapline("capture", "--trace", "py", "-o", "x", "--", "true", status=2)
        self.assertIn("cuda has to be among them", said)

        _, said = self.gapline("capture", "--trace", "cuda,native", "-o", "x", "--", "true", status=2)
        self.assertIn("py has to be among them", said)

    def test_no_python(self):
        _, said = self.capture("x.sqlite", TARGET, "launches")
        self.assertEqual(said.count("Python was not sampled (--trace py): no CPython that could be read was found"), 1, said)
        self.assertNotIn("COMPOSITE_EVENTS", self.tables("x.sqlite"))

    def test_child_without_python(self):
        """The program is sampled: that what it starts has no Python is not said, nor kept."""
        child = f"import subprocess\nsubprocess.run([{str(TARGET)!r}, 'launches'], check=True)\n"
        _, said = self.capture("x.sqlite", PYTHON, self.program(textwrap.dedent(self.SHORT) + child))
        self.assertNotIn("no CPython", said)
        self.assertGreater(self.sql("x.sqlite", "SELECT count(*) FROM COMPOSITE_EVENTS"), [(0,)])
        self.assertEqual(self.sql("x.sqlite", "SELECT count(*) FROM PROCESSES"), [(2,)])
        self.assertEqual(self.sql("x.sqlite", "SELECT text FROM DIAGNOSTIC_EVENT WHERE text LIKE '%no CPython%'"), [])

    def test_forbidden(self):
        _, said = self.capture("x.sqlite", PYTHON, self.program(self.SHORT), preexec_fn=refuse_reading)
        self.assertEqual(said.count("this container or kernel forbids process_vm_readv"), 1, said)
        self.assertNotIn("COMPOSITE_EVENTS", self.tables("x.sqlite"))
        self.assertEqual(self.sql("x.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), [(60,)])


@unittest.skipIf(REFUSED, "it is not known")
class Native(Case):
    """What Python's functions call."""

    TRACE = "cuda,nvtx,py,native"
    WORK = "sum(range(500000))"  # some ms that a thread is on a processor: it is asked where it is
    STACKS = """SELECT group_concat(value, ' < ') FROM (SELECT f.id, value FROM SAMPLING_CALLCHAINS f JOIN StringIds s
                ON s.id = symbol ORDER BY f.id, stackDepth) GROUP BY id"""

    def stacks(self, name="x.sqlite"):
        return [s for (s,) in self.sql(name, self.STACKS)]

    def test_who_waits(self):
        self.capture("x.sqlite", PYTHON, self.program(Words.SHORT), trace=self.TRACE)
        waits = [s for s in self.stacks() if "wait_a_little" in s]
        # The files of a program in a root of its own are not those that are found under their names out here.
        name = "nanosleep" if PYTHON == sys.executable else "[Unknown]"
        named = sum(f"{name} < wait_a_little" in s for s in waits)
        self.assertGreater(named, 0.9 * len(waits), waits[:3])
        self.assertEqual(self.sql("x.sqlite", "SELECT value FROM GAPLINE_CAPTURE WHERE name = 'trace'"), [(self.TRACE,)])
        modules = {m for (m,) in self.sql("x.sqlite", "SELECT DISTINCT value FROM SAMPLING_CALLCHAINS JOIN StringIds s ON s.id = module")}
        self.assertIn("libc.so.6", modules)
        self.assertFalse([m for m in modules if "/" in m])

    def test_interpreter_is_left_out(self):
        self.capture("x.sqlite", PYTHON, HERE / "three_functions.py", "--library", CUDA, "--steps", "30", trace=self.TRACE)
        modules = {m for (m,) in self.sql("x.sqlite", "SELECT DISTINCT value FROM SAMPLING_CALLCHAINS JOIN StringIds s ON s.id = module")}
        self.assertFalse([m for m in modules if m.startswith(("python3", "libpython3"))])

    CALLS = """
        import sys, time
        libc = ctypes.CDLL(None, use_errno=True)
        class Time(ctypes.Structure):
            _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
        short, broken, n = Time(0, 1000), 0, 0
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            cuda.range_push(b"step")
            for _ in range(50):
                n += 2
                if libc.nanosleep(ctypes.byref(short), None) and ctypes.get_errno() == 4:
                    broken += 1
                if libc.poll(None, 0, 1) < 0 and ctypes.get_errno() == 4:
                    broken += 1
            cuda.cuda_run(ctypes.c_long(20000))
            cuda.range_pop()
        print(n, broken)
        """

    def test_interrupted_calls_are_counted(self):
        """A call that begins between the look and the question returns EINTR: that is said, and each time the thread is
        left alone for longer."""
        for trace in "cuda,nvtx,py", self.TRACE:
            out, said = self.capture("x.sqlite", PYTHON, self.program(self.CALLS), trace=trace)
            n, broken = map(int, out.split())
            told = re.search(r"(\d+) system calls of the program returned EINTR because of", said)
            told = int(told[1]) if told else 0
            print(f"{trace}: {broken} of {n} calls returned EINTR, {told} are told of", flush=True)
            self.assertLessEqual(broken, told)
            self.assertLessEqual(broken, 12 if "native" in trace else 0)

    def test_signal_is_the_programs(self):
        took = "import signal\nhits = []\nsignal.signal(signal.SIGURG, lambda *a: hits.append(a))\n"
        waits, works = textwrap.dedent(Words.SHORT), textwrap.dedent(Words.SHORT).replace("time.sleep(0.004)", self.WORK)
        early, late = took + waits, waits + took + works
        for text, word in (early, "the program uses SIGURG itself"), (late, "only until the program took SIGURG for itself"):
            path = self.program(text + "\nprint(len(hits))")
            if text is early:  # before the library is loaded
                path.write_text(took + path.read_text())
            out, said = self.capture("x.sqlite", PYTHON, path, trace=self.TRACE)
            self.assertLessEqual(int(out), 0 if text is early else 1)
            self.assertEqual(said.count(word), 1, said)
            self.assertGreater(len(self.stacks()), 50)

    def test_signal_is_held_back(self):
        text = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})\n" + textwrap.dedent(Words.SHORT)
        busy = text.replace("time.sleep(0.004)", self.WORK)
        _, said = self.capture("x.sqlite", PYTHON, self.program(busy), trace=self.TRACE)
        self.assertIn("and not found out", said)
        self.assertTrue([s for s in self.stacks() if s.startswith("wait_a_little < <module>")])


@unittest.skipIf(REFUSED, "it is not known")
class Endings(Case):
    """Whatever the program does, it ends as it does without a sampler."""

    BUSY = """
        import os, sys, threading, time
        def down(n):
            if not n:
                raise ValueError
            down(n - 1)
        def numbers(n):
            if n:
                yield from numbers(n - 1)
                yield n
        def work():
            until = time.monotonic() + float(sys.argv[2])
            while time.monotonic() < until:
                cuda.range_push(b"step")
                for n in 3, 30:
                    try:
                        down(n)
                    except ValueError:
                        pass
                sum(numbers(20))
                exec(compile("def f(): return [x for x in range(50)]", "made.py", "exec"), space := {})
                space["f"]()
                cuda.cuda_run(ctypes.c_long(20000))
                cuda.range_pop()
        def child():
            pid = os.fork()
            if not pid:
                sum(numbers(50))
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        """
    ENDS = {
        "falls off the end": ("work()", 0),
        "sys.exit": ("work(); sys.exit(5)", 5),
        "os._exit": ("work(); os._exit(6)", 6),
        "an exception": ("work(); down(3)", 1),
        "SIGKILL": ("work(); os.kill(os.getpid(), 9)", -9),
        "abort": ("work(); os.abort()", -6),
        "beside threads": ("for _ in range(4): threading.Thread(target=work, daemon=True).start()\nwork()", 0),
        "beside forks": ("for _ in range(8): work(); child()", 0),
        "execs": ("work(); os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(3)'])", 3),
    }

    SUDDEN = "os._exit", "SIGKILL", "abort", "execs"

    def test_ends(self):
        for how, (end, status) in self.ENDS.items():
            for i, seconds in enumerate((0.121, 0.307)):
                with self.subTest(how, seconds=seconds):
                    code = self.program(self.BUSY).read_text() + end + "\n"
                    path = self.folder / "ending.py"
                    path.write_text(code)
                    log = self.folder / "status"
                    script = f"{PYTHON} {path} x {seconds} 2>/dev/null; echo $? > {log}"
                    done = self.gapline("capture", "--collector", "cupti", "--force", "--trace", "cuda,nvtx,py" + ",native" * i, "-o", f"e{i}.sqlite",
                                        "--", "sh", "-c", script, status=(0, 3) if how in self.SUDDEN else (0,))  # fmt: skip
                    self.assertEqual(int(log.read_text()), status if status >= 0 else 128 - status)
                    if "nothing was recorded" in done[1]:  # the end came before the first write
                        continue
                    ((n,),) = self.sql(f"e{i}.sqlite", "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
                    self.assertGreater(n, 0)


class Those(unittest.TestLoader):
    def loadTestsFromTestCase(self, case):
        left_out = (["shares"], ["others"])[case in (Shares, Lock)]
        return self.suiteClass() if sys.argv[-1:] == left_out else super().loadTestsFromTestCase(case)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1, testLoader=Those())
