#!/usr/bin/env python3
"""nsys reports given to gapline: the export beside them, one that nsys makes, or the command for it.

    check_nsys_reports.py GAPLINE

tests/support/standin_nsys.py plays nsys. Whatever happens, signals included, nothing may be left in TMPDIR, nothing beside
the report, and no nsys.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import tiny_profile

GAPLINE = os.path.abspath(sys.argv[1])
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print(f"not so: {what}")


class Place:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.tmp, self.bin = self.folder / "tmp", self.folder / "bin"
        for made in (self.tmp, self.bin, self.folder / "elsewhere", self.folder / "runs"):
            made.mkdir()
        shutil.copy(SUPPORT / "standin_nsys.py", self.bin / "nsys")
        for i, name in enumerate(("a", "b")):
            export = self.folder / "elsewhere" / f"{name}.sqlite"
            tiny_profile.write(export, load=50_000 * i, seed=1 + i)
            (self.folder / f"{name}.nsys-rep").write_text(f"{export}\n1")
        self.before = self.listing()

    def listing(self):
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*"))

    def environment(self, nsys=True, mode="", **more):
        named = {"GAPLINE_NSYS": str(self.bin / "nsys") if nsys else "/nowhere/nsys"}
        return {**os.environ, "TMPDIR": str(self.tmp), "TERM": "xterm", "LC_ALL": "C.UTF-8", "STANDIN_NSYS": mode, **named, **more}

    def say(self, *words, **how):
        done = subprocess.run([GAPLINE, *words], cwd=self.folder, env=self.environment(**how), capture_output=True,
                              text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def clean(self, what):
        expect(self.listing() == self.before, f"{what}: leaves {set(self.listing()) ^ set(self.before)}")


def exported(place):
    """The same as of the exports; every command that reads profiles."""
    for words in ("show {}", "show -q {}", "stats {} -r cuda_gpu_kern_sum,nvtx_sum", "report {} {}", "digest {} -o -"):
        reports, exports = (words.format(*files).split() for files in (("a.nsys-rep", "b.nsys-rep"), ("elsewhere/a.sqlite", "elsewhere/b.sqlite")))
        got, wanted = (subprocess.run([GAPLINE, *w], cwd=place.folder, env=place.environment(), capture_output=True) for w in (reports, exports))
        expect(got.returncode == wanted.returncode == 0, f"{words}: {got.returncode}, {got.stderr}")
        shown = got.stdout.replace(b"a.nsys-rep", b"a.sqlite").replace(b"b.nsys-rep", b"b.sqlite")
        expect(shown == wanted.stdout, f"{words}: says something else: {shown[:300]} {wanted.stdout[:300]}")
        line = f"gapline: exporting a.nsys-rep with {place.bin}/nsys\n".encode()
        expect((line in got.stderr) == ("-q" not in words), f"{words}: {got.stderr}")
        place.clean(words)


def payloads(place):
    """What NCCL says stands in payloads, which an export has on request; a version without that option is asked again."""
    noted = place.tmp.parent / "exported.txt"
    for mode, asked in (("", ["--include-blobs=true"]), ("no-payloads", ["--include-blobs=true", ""])):
        status, _, said = place.say("show", "a.nsys-rep", mode=mode, STANDIN_EXPORTED=str(noted))
        expect(status == 0 and noted.read_text().splitlines() == asked, f"{mode}: {status}, {said}, {noted.read_text()}")
        noted.unlink()
    place.clean("payloads")


def beside(place):
    """An export that lies there is taken if it is not older; then no nsys is asked."""
    shutil.copy(place.folder / "elsewhere/a.sqlite", place.folder / "a.sqlite")
    later = time.time() + 10
    os.utime(place.folder / "a.sqlite", (later, later))
    status, _, said = place.say("show", "a.nsys-rep", mode="no-export")
    expect(status == 0 and not said, f"younger export: {status}, {said}")
    os.utime(place.folder / "a.nsys-rep", (later + 10, later + 10))
    status, _, said = place.say("show", "a.nsys-rep", mode="no-export")
    expect(status == 3 and "nsys export failed" in said, f"older export: {status}, {said}")
    status, _, said = place.say("show", "a.nsys-rep")
    expect(status == 0 and "exporting" in said, f"older export: {status}, {said}")
    (place.folder / "a.sqlite").unlink()
    place.clean("an export beside it")


def in_folders(place):
    """A report that was recorded anew since its export is exported anew, and that is said; so it is with a pattern."""
    runs, now = place.folder / "runs", time.time()
    for name, age in (("one.nsys-rep", 0), ("two.nsys-rep", 50)):  # one is younger than its export, two is older
        shutil.copy(place.folder / "a.nsys-rep", runs / name)
        os.utime(runs / name, (now - age, now - age))
    for name, export in (("one.sqlite", "b"), ("two.sqlite", "b"), ("two.nsys-rep.sqlite", "a")):
        shutil.copy(place.folder / f"elsewhere/{export}.sqlite", runs / name)
        os.utime(runs / name, (now - (100 if "rep" in name else 10),) * 2)
    # a is one (its export is b, which is outdated); b is two; the other export of two is outdated.
    wanted = place.say("report", "--baseline", "elsewhere/a.sqlite", "--baseline", "elsewhere/b.sqlite", "--fixed", "elsewhere/a.sqlite", "--json", "-", "-q")[1]
    wanted = json.loads(wanted)["baseline"]
    for given in ("runs", "runs/*"):
        status, out, said = place.say("report", "--baseline", given, "--fixed", "elsewhere/a.sqlite", "--json", "-")
        expect(status == 0, f"{given}: {status}, {said}")
        expect([run["window_ms"] for run in json.loads(out)["baseline"]["runs"]] == [run["window_ms"] for run in wanted["runs"]], f"{given}: other runs")
        for line in ("runs/one.sqlite is not read: runs/one.nsys-rep beside it is younger", "exporting runs/one.nsys-rep",
                     "runs/two.nsys-rep.sqlite is not read: runs/two.nsys-rep beside it is younger"):
            expect(said.count(f"gapline: {line}") == 1, f"{given}: {line} in {said}")
        expect("exporting runs/two" not in said, f"{given}: {said}")
    status, _, said = place.say("report", "--baseline", "runs", "--fixed", "elsewhere/a.sqlite", nsys=False)
    expect(status == 3 and "runs/one.sqlite is not read" in said and "runs/one.nsys-rep" in said, f"no nsys: {status}, {said}")
    status, _, said = place.say("show", "runs/one.nsys-rep")
    expect(status == 0 and "runs/one.sqlite is not read" in said and "exporting" in said, f"by name: {status}, {said}")
    status, _, said = place.say("show", "runs/one.sqlite")
    expect(status == 0 and not said, f"the export by name: {status}, {said}")
    for path in runs.iterdir():
        path.unlink()
    place.clean("folders")


def scrubbed(place):
    """A copy of a report is one of its export; where there is no nsys, the command is said."""
    status, out, said = place.say("scrub", "a.nsys-rep", "-o", "shared.sqlite")
    expect(status == 0 and "exporting a.nsys-rep" in said and "left out of a.nsys-rep" in out, f"scrub: {status}, {out} {said}")
    shared = (place.folder / "shared.sqlite").read_bytes()
    status, _, said = place.say("scrub", "elsewhere/a.sqlite", "-o", "shared.sqlite", "--force")
    expect(status == 0 and (place.folder / "shared.sqlite").read_bytes() == shared, f"scrub: another copy: {said}")
    (place.folder / "shared.sqlite").unlink()
    status, _, said = place.say("scrub", "a.nsys-rep", "-o", "a.nsys-rep")
    expect(status == 2 and "would replace the input" in said, f"scrub: {status}, {said}")
    recorded = (place.folder / "a.nsys-rep").read_text()
    (place.folder / "a.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 1.")
    status, _, said = place.say("scrub", "a.nsys-rep", "-o", "shared.sqlite", nsys=False)
    expect(status == 3 and "nsys export --type sqlite --force-overwrite true --output 'a.nsys-rep.sqlite' 'a.nsys-rep'" in said, f"scrub: {status}, {said}")
    cut = place.folder / "elsewhere/cut.sqlite"
    cut.write_bytes((place.folder / "elsewhere/a.sqlite").read_bytes()[:9000])
    (place.folder / "a.nsys-rep").write_text(f"{cut}\n1")
    status, _, said = place.say("scrub", "a.nsys-rep", "-o", "shared.sqlite", "-q")
    expect(status == 3 and said.startswith("gapline: a.nsys-rep: ") and "/proc" not in said, f"scrub: {status}, {said}")
    cut.unlink()
    (place.folder / "a.nsys-rep").write_text(recorded)
    place.clean("scrub")


def without_nsys(place):
    """The command is to be copied as it is, whatever the file is called."""
    hard = place.folder / "runs/it's $HOME; -x.nsys-rep"
    hard.write_bytes(b"NVIDIA Tegra Profiler Report 1.")
    status, _, said = place.say("show", str(hard.relative_to(place.folder)), nsys=False)
    expect(status == 3 and "is an nsys report" in said, f"no nsys: {status}, {said}")
    recorded = (place.folder / "a.nsys-rep").read_text()
    hard.write_text(recorded)
    status, _, failed = place.say("show", str(hard.relative_to(place.folder)), mode="no-export")
    expect(status == 3 and "libelf.so.1" in failed and "by hand: nsys export" in failed, f"it fails: {status}, {failed}")
    for text in (said, failed):
        command = text[text.index("nsys export --type"):]
        environment = place.environment(PATH=f"{place.bin}:{os.environ['PATH']}").copy()
        command = command.replace("--type sqlite", "--type=sqlite").replace("--output ", "--output=")  # as the stand-in has it
        subprocess.run(["bash", "-c", command], cwd=place.folder, env=environment, check=True)
        status, _, said = place.say("show", str(hard), nsys=False)
        expect(status == 0 and not said, f"after the command: {status}, {said}")
        pathlib.Path(f"{hard}.sqlite").unlink()
    hard.unlink()
    place.clean("no nsys")


def what_is_none(place):
    """What only has the name is not given to nsys, and what nsys makes may be damaged."""
    cases = {
        "pointer.nsys-rep": (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a pointer of Git LFS", "git lfs pull --include 'pointer.nsys-rep'"),
        "empty.nsys-rep": (b"", "is empty", "again"),
    }
    for name, (content, *words) in cases.items():
        (place.folder / name).write_bytes(content)
        status, _, said = place.say("show", name)
        expect(status == 3 and all(w in said for w in words) and "exporting" not in said, f"{name}: {status}, {said}")
        (place.folder / name).unlink()
    old = place.folder / "old.qdrep"
    old.write_bytes(b"NVIDIA Tegra Profiler Report 1.")
    status, _, said = place.say("show", "old.qdrep", nsys=False)
    expect(status == 3 and "of 2021 or before (.qdrep)" in said, f"old.qdrep: {status}, {said}")
    old.write_text((place.folder / "a.nsys-rep").read_text())
    status, _, said = place.say("show", "old.qdrep")
    expect(status == 0 and "exporting old.qdrep" in said, f"old.qdrep: {status}, {said}")
    old.unlink()
    cut = place.folder / "elsewhere/cut.sqlite"
    cut.write_bytes((place.folder / "elsewhere/a.sqlite").read_bytes()[:9000])
    (place.folder / "cut.nsys-rep").write_text(f"{cut}\n1")
    for words in (("show", "cut.nsys-rep"), ("report", "a.nsys-rep", "cut.nsys-rep")):
        status, _, said = place.say(*words, "-q")
        expect(status == 3 and said.startswith("gapline: cut.nsys-rep: ") and "/proc" not in said, f"{words}: {status}, {said}")
    cut.unlink()
    (place.folder / "cut.nsys-rep").unlink()
    status, _, said = place.say("show", "a.nsys-rep", mode="full-export")
    expect(status == 3 and "no space" in said and "TMPDIR" in said, f"full: {status}, {said}")
    place.clean("what is no report")


def is_running(words):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and words in (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"):
                found.append(entry.name)
        except OSError:
            pass
    return found


def interrupted(place):
    """While nsys writes: it ends, what it wrote goes, and gapline ends by the signal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = subprocess.Popen([GAPLINE, "report", "a.nsys-rep", "b.nsys-rep", "-o", "report.html"], cwd=place.folder,
                               env=place.environment(mode="slow-export"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while time.monotonic() < until and not list(place.tmp.rglob("*.part")):
            time.sleep(0.02)
        expect(list(place.tmp.rglob("*.part")), "the stand-in wrote nothing")
        run.send_signal(number)
        run.communicate(timeout=60)
        expect(run.returncode == -number, f"signal {number}: status {run.returncode}")
        expect(not is_running(f"{place.bin}/nsys export"), f"signal {number}: nsys goes on")
        place.clean(f"signal {number}")


def on_a_terminal(place):
    master, slave = pty.openpty()
    run = subprocess.Popen([GAPLINE, "show", "a.nsys-rep"], cwd=place.folder, stdin=subprocess.DEVNULL,
                           env=place.environment(mode="slow-export", STANDIN_SECONDS="2"), stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
    expect(run.wait(timeout=60) == 0, f"on a terminal: status {run.returncode}")
    expect(re.search(rb"#+-+\] +40 %  nsys export, \d s", said), f"the bar: {said}")
    expect(b"\r\x1b[K" == said[-4:], f"the bar stays: {said[-60:]}")
    place.clean("on a terminal")


with tempfile.TemporaryDirectory(prefix="gapline-export-") as made:
    here = Place(made)
    for check in (exported, payloads, beside, in_folders, scrubbed, without_nsys, what_is_none, interrupted, on_a_terminal):
        check(here)
print(f"{len(failures)} failures")
sys.exit(bool(failures))
