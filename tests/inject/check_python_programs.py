#!/usr/bin/env python3
"""What is said of Python's global lock about programs as people write them: pools of threads, event loops,
sub-interpreters, threads that nobody named or that somebody named with the worst of intentions. In each the main thread
waits for the lock at a place where the program's own clock tells for how long.

    check_python_programs.py GAPLINE FOLDER_OF_THE_FAKES PYTHON_CUDA CUDA_TARGET [--python FILE]

The words are those of check_python_capture.py."""

import json
import re
import textwrap
import unittest

from check_python_capture import PYTHON, REFUSED, Case, come_first

HEAD = """
    import _thread, asyncio, concurrent.futures, json, sys, threading, time
    held = ctypes.PyDLL(cuda._name)
    held.waited.restype = ctypes.c_long
    sys.setswitchinterval(0.05)
    end, waited, begun = [], [], []

    def decode():
        return sum(i * i for i in range(200))

    def load(*_):
        while not end:
            decode()

    def compute():
        held.cuda_run(ctypes.c_long(20_000))
        cuda.pause_native(ctypes.c_long(1_000_000))
        waited.append(held.waited())

    def steps(n=0):
        "Without a number: until it waited ten times in full; where the machine is busy, its steps often find the lock free."
        first = len(waited)
        while len(waited) - first < (n or 14) or not n and sum(waited) < 500e6 and len(waited) < 100:
            begun.append(time.monotonic_ns())
            held.range_push(b"step")
            compute()
            held.range_pop()

    def done():
        end.append(True)
        native = len(begun) * 1_020_000 + waited[-1]  # a step ends with its GPU work: the last wait is in none
        print(json.dumps([sum(waited[:-1]) / 1e6, (time.monotonic_ns() - begun[0] - native) / 1e6]))
    """
WAIT_MS = 50


@unittest.skipIf(REFUSED, "it is not known")
class Programs(Case):
    def holders(self, text, least=0.9, again=3):
        """Who held the lock, by name, in share of the waiting; that is as long as by the program's clock: at least what it
        measured where it waits by design, at most all of its time that was not spent in native code, since a machine that
        stops a program between two lines makes it give the lock away, and wait, there. Where the machine let the sampler
        wait, what is missing is what the report says that nobody looked at."""
        path = self.folder / "program.py"
        self.program(HEAD, "program.py")
        path.write_text(path.read_text() + textwrap.dedent(text))
        out, said = self.capture("x.sqlite", PYTHON, path, preexec_fn=come_first)
        self.assertNotIn("not sampled", said)
        self.gapline("report", "x.sqlite", "x.sqlite", "-o", "r.html", "--json", "r.json", "-q", "--warmup", "1")
        result = json.loads((self.folder / "r.json").read_text())
        functions = result.get("functions", {"causes": [], "sampling": {"baseline": {"gil_unlooked_ms_per_step": 0}}})
        causes = [c for c in functions["causes"] if c["cause"] == "gil"]
        steps = result["baseline"]["steps"]["measured"]
        waiting = steps * sum(row["ms_per_step"] for row in result["baseline"]["budget"]["idle"] if row["cause"] == "gil")
        unlooked = steps * functions["sampling"]["baseline"]["gil_unlooked_ms_per_step"]
        truth, most = json.loads(out.splitlines()[-1])
        print(f"{self.id().split('.')[-1]}: {waiting:.0f} of {truth:.0f} to {most:.0f} ms, nobody looked for {unlooked:.0f} ms", flush=True)
        self.assertGreaterEqual(waiting + unlooked, least * truth - WAIT_MS * bool(least))
        self.assertLess(waiting, 1.1 * most + 5)
        self.finding = next((f["text"] for f in result["findings"] if f["id"] == "gil_contention"), "")
        held_by = {h["thread"] or ("(main)" if h["main"] else None): h["baseline"]["ms_per_step"] * steps / waiting for c in causes for h in c["holders"]}
        if least and not held_by and again:
            self.assertGreater(unlooked, truth / 2, "nobody is named, and somebody looked")
            return self.holders(text, least, again - 1)
        return held_by

    def test_pool(self):
        """Every thread holds it in its turn."""
        held_by = self.holders("""
            pool = concurrent.futures.ThreadPoolExecutor(3, thread_name_prefix="decoder")
            for _ in range(3): pool.submit(load)
            steps(); done(); pool.shutdown()""", least=0.5)  # fmt: skip
        self.assertTrue(held_by and all(re.fullmatch(r"decoder_[012]", name) for name in held_by), held_by)

    def test_event_loop(self):
        """The GPU work is in a coroutine, what it waits for in the loop's own threads."""
        held_by = self.holders("""
            async def main():
                other = asyncio.get_running_loop().run_in_executor(None, load)
                while len(waited) < 14 or sum(waited) < 500e6 and len(waited) < 100:
                    await asyncio.sleep(0)
                    steps(1)
                done()
                await other
            asyncio.run(main())""")  # fmt: skip
        self.assertEqual(list(held_by), ["asyncio_0"])

    def test_main_thread_holds(self):
        held_by = self.holders("""
            trainer = threading.Thread(target=lambda: (steps(), done()), name="trainer")
            trainer.start(); load(); trainer.join()""")  # fmt: skip
        self.assertEqual(list(held_by), ["(main)"])
        self.assertIn("in the main thread, which holds the lock", self.finding)

    def test_no_name(self):
        held_by = self.holders("_thread.start_new_thread(load, ()); time.sleep(0.2); steps(); done(); time.sleep(0.2)")
        self.assertEqual(list(held_by), [None])
        self.assertIn("in another thread, which holds the lock", self.finding)

    def test_hostile_name(self):
        name = "\x1b[2J<script>alert(1)</script>\n`rm`\u202e|" + "x" * 500
        held_by = self.holders(f"""
            threading.Thread(target=load, name={name!r}).start()
            steps(); done()""")
        self.assertEqual(list(held_by), [re.sub("[\x1b\n\u202e]", "\ufffd", name[:80])])
        page = (self.folder / "r.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.gapline("report", "x.sqlite", "x.sqlite", "-o", "r.html", "--markdown", "r.md", "-q", "--warmup", "1")
        for text in self.gapline("show", "x.sqlite", "--warmup", "1")[0], (self.folder / "r.md").read_text(), page:
            self.assertNotIn("\x1b", text)
            self.assertIn("alert(1)", text)
        self.assertNotIn("<script>", (self.folder / "r.md").read_text())

    def test_renamed(self):
        """The last name counts, and a second later it is known."""
        held_by = self.holders("""
            t = threading.Thread(target=load, name="early"); t.start()
            steps(2); t.name = "late"
            steps(120); done()""")  # fmt: skip
        self.assertEqual(list(held_by), ["late"])

    def test_ends_and_begins_again(self):
        """Threads that come and go, each with its own name. Beginning one, and waiting for its end, is waiting for the lock,
        too, which the clock is not asked about."""
        held_by = self.holders("""
            for i in range(4):
                t = threading.Thread(target=load, name=f"epoch-{i}"); t.start()
                steps(6); end.append(True); t.join(); end.clear()
            done()""", least=0.6)  # fmt: skip
        named = set(held_by) - {None}  # one may end before its name could be read
        self.assertLessEqual(named, {f"epoch-{i}" for i in range(4)})
        self.assertGreaterEqual(len(named), 2)

    def test_native_code_holds(self):
        """An extension that keeps the lock: the function that called it is named."""
        held_by = self.holders("""
            libc = ctypes.PyDLL(None)
            def keep():
                while not end:
                    libc.usleep(30_000)
            threading.Thread(target=keep, name="keeper").start()
            steps(); done()""", least=0.5)  # fmt: skip
        self.assertEqual(list(held_by), ["keeper"])
        self.assertIn("'keep' in the thread 'keeper'", self.finding)

    def test_released(self):
        """One that gives it away is waited for by nobody."""
        self.holders("""
            libc = ctypes.CDLL(None)
            def give():
                while not end:
                    libc.usleep(30_000)
            threading.Thread(target=give, name="giver").start()
            steps(60); done()""", least=0)  # fmt: skip
        self.assertEqual(self.finding, "")

    def test_other_interpreters(self):
        """They share the lock until 3.11 and where they are asked to; either way nobody else is blamed."""
        held_by = self.holders("""
            try:
                import _xxsubinterpreters as inside
            except ImportError:
                import _interpreters as inside
            other = inside.create()
            run = getattr(inside, "run_string", None) or inside.exec
            code = "import time\\nuntil = time.monotonic() + 1.2\\nwhile time.monotonic() < until: sum(i * i for i in range(200))"
            t = threading.Thread(target=lambda: run(other, code), name="inside"); t.start()
            steps(); done(); t.join()""", least=0)  # fmt: skip
        self.assertLessEqual(set(held_by), {"inside", None})


if __name__ == "__main__":
    unittest.main(argv=["check_python_programs.py"], verbosity=1)
