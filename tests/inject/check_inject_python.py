#!/usr/bin/env python3
"""What the sampler reads of Python's frames from outside, against what the interpreter itself says of them, and for as
long as one likes beside threads that do all kinds of things. The program under test is this one: it loads the reader
into itself.

    check_inject_python.py READER [--samples N]
"""

import contextlib
import ctypes
import gc
import os
import pathlib
import sys
import threading
import time
import unittest

READER = ctypes.CDLL(sys.argv[1])
READER.reader_cost.restype = ctypes.c_double
SAMPLES = int(sys.argv[sys.argv.index("--samples") + 1]) if "--samples" in sys.argv else 300_000
HERE = pathlib.Path(__file__).name


def read(tid):
    text = ctypes.create_string_buffer(1 << 20)
    n = READER.reader_stack(tid, text, len(text))
    frames = [line.rsplit(" ", 2) for line in text.value.decode().split("\n") if line]
    return n, [(name, file, int(line)) for name, file, line in frames]


def name_of(thread):
    text = ctypes.create_string_buffer(4 * 80 + 1)
    return text.value.decode() if READER.reader_thread_name(thread.native_id, text) else None


class Own(threading.Thread):
    __slots__ = ("first", "second")


class Much(threading.Thread, dict):
    """With another base, and more attributes than a class notes for all its objects."""

    __hash__ = object.__hash__

    def __init__(self, *args, **kwargs):
        dict.__init__(self)
        for i in range(50):
            setattr(self, f"before_{i}", i)
        threading.Thread.__init__(self, *args, **kwargs)


def said(ident):
    """The same by the interpreter."""
    frame, frames = sys._current_frames()[ident], []
    while frame:
        code = frame.f_code
        file = code.co_filename if code.co_filename.startswith("<") else os.path.basename(code.co_filename)
        path = code.co_filename
        library = any(f"-packages/{of}/" in path for of in ("torch", "triton", "functorch")) or "/lib/python3" in path and "-packages/" not in path
        frames.append((code.co_qualname, file if library or file[0] == "<" else f"{file}:{code.co_firstlineno}", frame.f_lineno or 0))
        frame = frame.f_back
    return frames


class Blocked:
    """A thread that waits at the end of whatever `way` calls."""

    def __init__(self, way, kind=threading.Thread):
        self.ready, self.go = threading.Event(), threading.Event()
        self.thread = kind(target=way, args=(self.wait,))

    def wait(self, *_):
        self.ready.set()
        self.go.wait()
        return True

    def __enter__(self):
        self.thread.start()
        self.ready.wait()
        for _ in range(200):  # until it has arrived inside the lock
            time.sleep(0.001)
        return self

    def __exit__(self, *_):
        self.go.set()
        self.thread.join()


class Thing:
    def __init__(self, wait):
        wait()

    def method(self, wait):
        wait()

    @property
    def late(self):
        return self.hold()

    def __lt__(self, other):
        return self.hold()


def plain(wait):
    def inner():
        (lambda: wait())()

    inner()


def generator(wait):
    def numbers():
        yield 1
        yield from ((wait(), 2) for _ in range(1))

    list(numbers())


def through_c(wait):
    a, b = Thing.__new__(Thing), Thing.__new__(Thing)
    a.hold = b.hold = wait
    sorted([a, b])


def constructed(wait):
    Thing(wait)


def comprehended(wait):
    return [wait() for _ in range(1)]


def deep(wait, n=200):
    return deep(wait, n - 1) if n else wait()


def coroutine(wait):
    async def inside():
        wait()

    async def outside():
        await inside()

    import asyncio

    asyncio.run(outside())


def compiled(wait):
    space = {"wait": wait}
    exec(compile("def größe(): wait()\ndef 測量(): größe()\ndef \U00010400(): 測量()", "/some/where/漢字.py", "exec"), space)
    space["\U00010400"]()


def far_apart(wait):
    """Lines that are far from each other and go back, in a function whose table is longer than one read of it."""
    space, lines = {"wait": wait}, "".join(f"    x = x + {i} * (y - {i})\n" * 2 + "\n" * (i % 90) for i in range(1500))
    exec(compile(f"def long(x, y):\n{lines}    return (\n\n\n        [x,\n\n         wait(\n)])\n{lines}", "long.py", "exec"), space)
    space["long"](1, 2)


def rewritten(wait):
    """As pytest and decorators that compile do: line numbers that go down, and code of no line."""
    import ast

    tree = ast.parse("def f(wait):\n    a = 1\n    return wait(a)\n")
    tree.body[0].body[1].value.lineno = tree.body[0].body[1].lineno = 70000
    tree.body[0].body[1].value.end_lineno = tree.body[0].body[1].end_lineno = 70000
    tree.body[0].body[0].lineno = tree.body[0].body[0].end_lineno = 90000
    space = {}
    exec(compile(tree, "rewritten.py", "exec"), space)
    space["f"](wait)


WAYS = [plain, generator, through_c, constructed, comprehended, deep, coroutine, compiled, far_apart, rewritten]


class Reader(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert READER.reader_begin() == 0, READER.reader_begin()

    def test_stacks_are_what_the_interpreter_says(self):
        for way in WAYS:
            with self.subTest(way.__name__), Blocked(way) as b:
                n, frames = read(b.thread.native_id)
                self.assertEqual(frames, said(b.thread.ident))
                self.assertGreater(n, 5)

    NAMES = ["loader-1", "x", "größe", "漢字 im Faden", "\U00010400", "two\nlines\x1b[2J", "n" * 80, "/home/someone/x y"]

    def test_names_of_threads(self):
        for kind in threading.Thread, Own, Much:
            for way in plain, generator, coroutine:
                with self.subTest(kind.__name__, way=way.__name__), Blocked(way, kind) as b:
                    self.assertEqual(name_of(b.thread), b.thread.name, "the one that it was born with")
                    for name in self.NAMES:
                        b.thread.name = name
                        self.assertEqual(name_of(b.thread), name)
                    b.thread.name = "n" * 300
                    self.assertEqual(name_of(b.thread), "n" * 80)
                    vars(b.thread)["_name"] = "through its dictionary"
                    self.assertEqual(name_of(b.thread), "through its dictionary")
                    for wrong in "", None, 7, ["loader-1"]:
                        vars(b.thread)["_name"] = wrong
                        self.assertIsNone(name_of(b.thread))
                    b.thread.__dict__ = {"a": 1, "_name": "in another one", **vars(b.thread), "_name": "in another one"}
                    self.assertEqual(name_of(b.thread), "in another one")
                    b.thread.__dict__ = {7: 7, **vars(b.thread)}
                    self.assertEqual(name_of(b.thread), "in another one")

    def test_no_name(self):
        self.assertIsNone(name_of(threading.main_thread()))
        with Blocked(lambda wait: deep(wait, 900)) as b:
            self.assertIsNone(name_of(b.thread), "who called the rest was not read")

    def test_deeper_than_any(self):
        with Blocked(lambda wait: deep(wait, 900)) as b:
            n, frames = read(b.thread.native_id)
            self.assertEqual(n, -20, "it is said that something is missing")
            self.assertEqual(frames, said(b.thread.ident)[:256])

    def test_stacks_of_what_runs_are_whole(self):
        """Whatever a thread does, it was begun somewhere, and so were its generators."""
        for way in calls, raises, generates, consumes, awaits:
            stop = threading.Event()
            thread = threading.Thread(target=way, args=(stop,))
            thread.start()
            time.sleep(0.01)
            # How many are dropped is the machine's affair (docs/guide/capture.md): looked at is until enough of them are whole.
            enough, looks, whole, cut, other = 5000, 0, 0, 0, ctypes.create_string_buffer(1 << 12)
            try:
                while looks < 4 * enough or (whole < enough and looks < 40 * enough):
                    counts = (ctypes.c_uint * 2)()
                    got = READER.reader_whole(thread.native_id, b"Thread._bootstrap", enough, counts, other)
                    self.assertEqual(got + sum(counts), enough)
                    whole, cut, looks = whole + got, cut + counts[1], looks + enough
            finally:  # a thread that goes on would keep this process from ending
                stop.set()
                thread.join()
            print(f"{way.__name__}: of {looks} stacks {whole} whole, {cut} cut", flush=True)
            self.assertLessEqual(cut, 0.001 * min(looks, 4 * (whole + cut)), other.value)
            self.assertGreaterEqual(whole, enough)

    def test_no_such_thread(self):
        self.assertEqual(read(1)[0], -10)

    def test_cost(self):
        with Blocked(lambda wait: deep(wait, 25)) as b:
            cost = min(READER.reader_cost(b.thread.native_id, 2000) for _ in range(5))
            print(f"{cost:.1f} us a sample of 30 frames", flush=True)
            self.assertLess(cost, 100)


def calls(stop):
    def leaf(x):
        return x + 1

    def middle(x):
        return leaf(x) + leaf(x)

    while not stop.is_set():
        for i in range(1000):
            middle(i)


def raises(stop):
    def down(n):
        if not n:
            raise ValueError
        down(n - 1)

    while not stop.is_set():
        for n in range(0, 60, 7):
            try:
                down(n)
            except ValueError:
                pass


def generates(stop):
    def tree(n):
        if n:
            yield from tree(n - 1)
            yield n
            yield from tree(n - 1)

    while not stop.is_set():
        sum(tree(8))


def consumes(stop):
    """A generator that is gone on with from C, and lies idle in between."""
    while not stop.is_set():
        sum(i * i for i in range(100))


def awaits(stop):
    async def inside(n):
        return await inside(n - 1) if n else 1

    async def outside():
        while not stop.is_set():
            await inside(5)

    import asyncio

    asyncio.run(outside())


def compiles(stop):
    i = 0
    while not stop.is_set():
        i += 1
        space = {}
        exec(compile(f"def f{i % 500}(): return sum(x for x in range(20))", f"/tmp/{i}.py", "exec"), space)
        space[f"f{i % 500}"]()


def begins_threads(stop):
    while not stop.is_set():
        t = threading.Thread(target=lambda: [sum(range(50)) for _ in range(20)])
        t.start()
        t.join()


def forks(stop):
    while not stop.is_set():
        pid = os.fork()
        if not pid:
            sum(x for x in range(100))
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(0.005)


def recurses(stop):
    def down(n):
        return n and down(n - 1)

    while not stop.is_set():
        down(800)
        gc.collect(0)


def switches(stop):
    """Stacks that are put aside in the middle and gone on with later: greenlets, where they can be had."""
    from greenlet import getcurrent, greenlet

    def down(n, other):
        if n:
            return down(n - 1, other)
        for _ in range(5):
            other.switch()
        raise ValueError

    while not stop.is_set():
        me = getcurrent()
        lets = [greenlet(down) for _ in range(8)]
        for n, let in enumerate(lets):
            let.switch(7 * n, me)
        for _ in range(4):
            for let in lets:
                let.switch()
        for let in lets[:4]:  # the others end in the middle
            try:
                let.switch()
            except ValueError:
                pass


class Soak(unittest.TestCase):
    def test_everything_at_once(self):
        self.soak(SAMPLES, False)

    def test_everything_at_once_and_asked(self):
        """Each sample with a question to the thread where it is."""
        self.soak(SAMPLES // 10, True)

    def soak(self, samples, ask):
        self.assertEqual(READER.reader_begin(), 0)
        stop, counts = threading.Event(), (ctypes.c_ulong * 8)()
        ways = [calls, raises, generates, compiles, begins_threads, recurses, forks]
        with contextlib.suppress(ImportError):
            import greenlet  # noqa: F401

            ways.append(switches)
        threads = [threading.Thread(target=f, args=(stop,)) for f in ways]
        for t in threads:
            t.start()
        READER.reader_soak(ctypes.c_ulong(samples), ask)
        while counts[0] + counts[1] < samples:
            time.sleep(0.05)
            READER.reader_counts(counts)
        READER.reader_end()
        stop.set()
        for t in threads:
            t.join()
        taken, torn, moved, idle, unnamed, waiting, answered, placed = counts
        print(f"{', '.join(w.__name__ for w in ways)}: {taken} samples, {torn} dropped ({100 * torn / (taken + torn):.3f} %), {moved} of threads that "
              f"never stood still, {unnamed} without a name, {idle} without a stack", flush=True)
        self.assertLess(torn + unnamed, 0.02 * taken)
        if ask:
            print(f"{waiting} waited, {answered} answered, {placed} were in a file's code", flush=True)
            self.assertGreater(waiting + answered, 0.2 * taken)
            self.assertGreater(placed, 0.99 * (waiting + answered))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
