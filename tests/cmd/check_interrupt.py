#!/usr/bin/env python3
"""Interrupts gapline wherever it may be, and looks through a terminal at its progress bar and the width of its text.

    check_interrupt.py GAPLINE SLOW_LIBRARY anywhere|moments

`anywhere` sends signals all over a run, so that anything may run beside it; `moments` waits for certain ones.
SLOW_LIBRARY (standin_slow.c) is preloaded where something has to take long. An interrupt must leave every output whole or
as it was, nothing beside it and nothing in TMPDIR; the bar must come after a second, only on a terminal, and be gone at
the end. Status 77 with a sanitizer, in front of which nothing can be loaded.
"""
import contextlib
import fcntl
import gzip
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile

GAPLINE, SLOW = (os.path.abspath(a) for a in sys.argv[1:3])
WHICH = sys.argv[3]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
COMMANDS = {  # what it writes, and how
    "report": (["gaps.svg", "report.html", "result.json"],
               "report {a} {b} -q -o out/report.html --json out/result.json --svg out/gaps.svg"),
    "stats": (["t_cuda_api_sum.csv", "t_cuda_gpu_kern_sum.csv"],
              "stats {a} -q --report cuda_api_sum,cuda_gpu_kern_sum --output out/t"),
    "scrub": (["copy.sqlite"], "scrub {a} -q --force -o out/copy.sqlite"),
    "scrub, packed": (["copy.sqlite.gz"], "scrub {a} -q --force -o out/copy.sqlite.gz"),
    "digest": (["a.digest"], "digest {a} -q --force -o out/a.digest"),
    "show": ([], "show {a} -q"),
}
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print(f"not so: {what}")


def listing(folder):
    return sorted(p.name for p in pathlib.Path(folder).iterdir())


class Place:
    """A folder with profiles, an `out` to write to and a `tmp` for TMPDIR."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.out, self.tmp = self.folder / "out", self.folder / "tmp"
        self.out.mkdir()
        self.tmp.mkdir()
        tiny_profile.write(self.folder / "a.sqlite", steps=4000)
        tiny_profile.write(self.folder / "b.sqlite", steps=4000, load=50_000, seed=2)
        for name in ("a", "b"):
            (self.folder / f"{name}.sqlite.gz").write_bytes(gzip.compress((self.folder / f"{name}.sqlite").read_bytes(), 1))
        tiny_profile.write(self.folder / "short.sqlite")

    def command(self, command, packed):
        end = ".sqlite.gz" if packed else ".sqlite"
        return [GAPLINE, *COMMANDS[command][1].format(a=f"a{end}", b=f"b{end}").split()]

    def environment(self, **slow):
        slow = {k: str(v) for k, v in slow.items()}
        kept = {"LD_PRELOAD": SLOW} if slow else {}
        return {**os.environ, "TMPDIR": str(self.tmp), "TERM": "xterm", "LC_ALL": "C.UTF-8", **kept, **slow}

    def start(self, words, **slow):
        return subprocess.Popen(words, cwd=self.folder, env=self.environment(**slow), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def put_old(self, command):
        """Outputs of an earlier run, which must survive or be replaced as a whole."""
        for name in COMMANDS[command][0]:
            (self.out / name).write_bytes(b"old")

    def check(self, what, command, whole, status, wanted):
        """After an interrupt: all outputs old, or all new, and nothing else."""
        names = COMMANDS[command][0]
        expect(status in (0, -wanted), f"{what}: status {status}")
        expect(listing(self.out) == sorted(names), f"{what}: leaves {listing(self.out)}")
        expect(listing(self.tmp) == [], f"{what}: leaves {listing(self.tmp)} in TMPDIR")
        found = {n: (self.out / n).read_bytes() for n in names if (self.out / n).exists()}
        new = [n for n in found if found[n] == whole[n]]
        old = [n for n in found if found[n] == b"old"]
        expect(len(new) == len(names) or len(old) == len(names), f"{what}: new {new}, old {old}")
        return bool(new)


def wait_for(what, process, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        if what():
            return True
        time.sleep(0.0005)
    return False


def whole_outputs(place, command, packed):
    began = time.monotonic()
    run = place.start(place.command(command, packed))
    said = run.communicate()[1]
    expect(run.returncode == 0 and not said, f"{command}: {run.returncode}, {said}")
    took = time.monotonic() - began
    return {n: (place.out / n).read_bytes() for n in COMMANDS[command][0]}, took


def at_any_time(place):
    """Signals all over a run."""
    times = 6
    for command in COMMANDS:
        for packed in (False, True):
            whole, took = whole_outputs(place, command, packed)
            for i in range(times):
                place.put_old(command)
                sent = SIGNALS[i % len(SIGNALS)]
                run = place.start(place.command(command, packed))
                time.sleep(took * i / times)
                run.send_signal(sent)
                run.communicate()
                place.check(f"{command}, packed: {packed}, {sent.name} at {i}/{times}", command, whole, run.returncode, sent)
            for name in COMMANDS[command][0]:
                (place.out / name).unlink()


def while_unpacking(place):
    """The unpacked database exists, without a name, and is not complete: the moment for Ctrl-C, or for worse."""

    def unpacks(pid):
        try:
            folder = pathlib.Path(f"/proc/{pid}/fd")
            return any(os.readlink(f).startswith(str(place.tmp)) and f.stat().st_size > 0 for f in folder.iterdir())
        except OSError:
            return False

    for command in COMMANDS:
        whole, _ = whole_outputs(place, command, True)
        for sent in (*SIGNALS, signal.SIGKILL):
            place.put_old(command)
            run = place.start(place.command(command, True), SLOW_WRITE=100_000)
            expect(wait_for(lambda: unpacks(run.pid), run), f"{command}: never seen unpacking")
            expect(listing(place.tmp) == [], f"{command}: {listing(place.tmp)} while unpacking")
            run.send_signal(sent)
            run.communicate()
            expect(run.returncode == -sent, f"{command}, {sent.name} while unpacking: status {run.returncode}")
            if COMMANDS[command][0]:
                new = place.check(f"{command}, {sent.name} while unpacking", command, whole, run.returncode, sent)
                expect(not new, f"{command}: there is an output although it was interrupted")
        for name in COMMANDS[command][0]:
            (place.out / name).unlink()


def while_writing(place):
    """The first output is there under its temporary name: it must go again, and the old ones must stay."""
    for command in ("report", "stats", "scrub", "digest"):
        whole, _ = whole_outputs(place, command, False)
        for sent in SIGNALS:
            place.put_old(command)
            run = place.start(place.command(command, False), SLOW_WRITE=300_000, SLOW_LEAST=1)
            seen = wait_for(lambda: any(n.endswith(".tmp") for n in listing(place.out)), run)
            expect(seen, f"{command}: never seen writing")
            run.send_signal(sent)
            run.communicate()
            new = place.check(f"{command}, {sent.name} while writing", command, whole, run.returncode, sent)
            expect(run.returncode == -sent, f"{command}, {sent.name} while writing: status {run.returncode}")
            expect(not new or len(whole) == 1, f"{command}, {sent.name}: went on to the end")
        for name in COMMANDS[command][0]:
            (place.out / name).unlink()


def ignored(place):
    """nohup: a signal that is ignored stays so, also while it is held back."""
    command = "report"
    whole, _ = whole_outputs(place, command, False)
    place.put_old(command)
    words = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *place.command(command, False)]
    run = place.start(words, SLOW_WRITE=300_000)
    expect(wait_for(lambda: any(n.endswith(".tmp") for n in listing(place.out)), run), "nohup: never seen writing")
    run.send_signal(signal.SIGHUP)
    run.communicate()
    new = place.check("nohup", command, whole, run.returncode, signal.SIGHUP)
    expect(new and run.returncode == 0, f"nohup: status {run.returncode}")


# ---- the bar ----

CLEAR = b"\r\x1b[K"
FRAME = re.compile(rb"\r\x1b\[K\[(#*)(-*)\] +(\d+) %  ([a-z ]+), (\d+) s")


def on_terminal(place, words, keys=None, environment=None, **slow):
    """Runs it on a terminal of its own; `keys` are typed once a bar is there. Everything that arrived, and its status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(place.folder)
        os.execve(GAPLINE, [GAPLINE, *words], {**place.environment(**slow), **(environment or {})})
    arrived = b""
    while True:
        try:
            data = os.read(fd, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        if not data:
            break
        arrived += data
        if keys and FRAME.search(arrived):
            os.write(fd, keys)
            keys = None
    os.close(fd)
    return arrived, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def bar(place):
    slow = {"SLOW_READ": 6000}
    words = {"report": "report a.sqlite b.sqlite.gz", "show": "show a.sqlite.gz", "scrub": "scrub a.sqlite -o out/copy.sqlite",
             "digest": "digest a.sqlite -o out/a.digest", "stats": "stats a.sqlite --report cuda_api_sum"}
    hidden = {"--quiet": ("show a.sqlite --quiet", {}), "TERM=dumb": ("show a.sqlite", {"TERM": "dumb"})}
    broken = {name: name.startswith("last") for name in ("first.sqlite", "last.sqlite")}  # found at once, and after the bar came
    for name, last in broken.items():
        (place.folder / name).write_bytes((place.folder / "a.sqlite").read_bytes())
        tiny_profile.damage(place.folder / name, last=last)
    with ThreadPoolExecutor(9) as pool:  # they sleep nearly all of the time
        shown = {name: pool.submit(on_terminal, place, line.split(), **slow) for name, line in words.items()}
        shown |= {name: pool.submit(on_terminal, place, line.split(), environment=more, **slow) for name, (line, more) in hidden.items()}
        shown |= {name: pool.submit(on_terminal, place, ["show", name], SLOW_READ=20_000) for name in broken}
    for command in words:
        arrived, status = shown[command].result()
        frames = FRAME.findall(arrived)
        expect(status == 0 and len(frames) >= 3, f"{command}: status {status}, {len(frames)} frames: {arrived[:300]}")
        if not frames:
            continue
        parts = [int(f[2]) for f in frames]
        expect(parts == sorted(parts) and parts[-1] - parts[0] >= 20, f"{command}: the bar goes {parts}")
        expect(all(len(f[0] + f[1]) == 24 and abs(len(f[0]) - int(f[2]) * 0.24) < 1 for f in frames),
               f"{command}: bars are not their number: {frames}")
        expect(int(frames[0][4]) >= 1, f"{command}: comes before a second has passed")
        after = FRAME.split(arrived)[-1]
        expect(after.startswith(CLEAR) and CLEAR not in after[len(CLEAR):], f"{command}: stays: {after[:100]}")
        expect(arrived.startswith(CLEAR), f"{command}: {arrived[:60]}")
    shutil.rmtree(place.out)
    place.out.mkdir()
    for what in hidden:
        arrived, _ = shown[what].result()
        expect(CLEAR not in arrived, f"{what}: {arrived[:100]}")
    arrived, _ = on_terminal(place, ["show", "short.sqlite"])
    expect(CLEAR not in arrived, "a bar for what takes no time")
    said = place.start([GAPLINE, "show", "a.sqlite"], **slow).communicate()[1]
    expect(said == b"", f"into a pipe: {said[:100]}")
    arrived, status = on_terminal(place, ["report", "a.sqlite.gz", "b.sqlite", "-o", "out/report.html"], b"\x03", **slow)
    expect(status == -signal.SIGINT, f"Ctrl-C: status {status}")
    expect(arrived.endswith(CLEAR) and b"^C" in arrived, f"Ctrl-C: the bar stays: {arrived[-80:]}")
    expect(listing(place.out) == [] and listing(place.tmp) == [], "Ctrl-C leaves something")
    for name, last in broken.items():
        arrived, status = shown[name].result()
        what = f"damaged, {'last' if last else 'first'} page"
        expect(status == 3, f"{what}: status {status}")
        expect(bool(FRAME.search(arrived)) == last, f"{what}: {arrived[:100]}")
        error = (CLEAR if last else b"") + f"gapline: {name}: is damaged".encode()
        at = arrived.rfind(error)
        expect(at >= 0 and (last or at == 0), f"{what}: no error of its own line: {arrived[-200:]}")
        expect(b"\x1b" not in arrived[at + len(error):], f"{what}: something is drawn after the error: {arrived[-200:]}")


def narrow(place):
    """Text is as wide as the terminal, which a pipe has none of."""
    for columns, widest in (60, 60), (80, 80), (300, 100):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([GAPLINE, "report", "--color", "never", "-o", "out/r.html", "short.sqlite", "b.sqlite"], cwd=place.folder, stdout=slave)
        os.close(slave)
        text = ""
        with contextlib.suppress(OSError):  # the end of a terminal
            while more := os.read(master, 4096):
                text += more.decode(errors="replace")
        os.close(master)
        expect(process.wait() == 0, f"{columns} columns: status {process.returncode}")
        longest = max(len(line) for line in text.split("\r\n")[1:])
        expect(widest - 20 < longest <= widest, f"{columns} columns: {longest}")


def main():
    if b"__asan_init" in pathlib.Path(GAPLINE).read_bytes():
        print("built with a sanitizer: this is for the other build")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="gapline-interrupt-") as folder:
        place = Place(folder)
        for check in {"anywhere": (at_any_time,), "moments": (while_unpacking, while_writing, ignored, bar, narrow)}[WHICH]:
            began = time.monotonic()
            check(place)
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s")
            shutil.rmtree(place.out)
            place.out.mkdir()
    print(f"{len(failures)} things are not as they should be")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
