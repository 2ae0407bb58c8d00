#!/usr/bin/env python3
"""Lets one call after another fail inside the command: every allocation, libxml2's and SQLite's too, every read,
write, open, rename, fsync, fork, mmap and thread.

    check_failures.py GAPLINE FAILING_LIBRARY SECONDS [OFFSET]

FAILING_LIBRARY (standin_failing.c) is preloaded. With so many seconds, spread over commands and kinds of calls, every
k-th call is tried from an offset that is different in each run, and printed; 0: every single one of a kind, as far as five
minutes (or LONGEST seconds of the environment) for it go, else every k-th: an experiment has 45,000 allocations, and
takes a second.

Then gapline is killed (SIGKILL) in front of every rename, unlink, fsync and write of a report with several outputs: what
stands there is of one report, and the next one removes what else was left.

What may come of it otherwise: one sentence of gapline's, a status of an error, the outputs as they were before; or, where it could
do without, the same outputs as ever. Nothing else: no signal, no library's words, no partial file, nothing left beside
it, nothing still running. Status 77 with a sanitizer, in front of which nothing can be loaded.
"""

import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE.parent / "fuzz"))
import seeds
import tiny_kineto
import tiny_profile
import tiny_samples
import tiny_spool

# This very Python: what a shell finds may be a script that looks for one, ten times as long.
SPOOL = f"{sys.executable} -IS tiny_spool.py $GAPLINE_SPOOL/1-cuda-0.spool"
GAPLINE, FAILING = (os.path.abspath(a) for a in sys.argv[1:3])
SECONDS = float(sys.argv[3])
LONGEST = float(os.environ.get("LONGEST", 300))
OFFSET = float(sys.argv[4]) if len(sys.argv) > 4 else random.random()
SAYING = re.compile(r"(gapline: [^\n]{4,}\n)+\Z")
LEFT_OUT = re.compile(r"(gapline: commit(s c\d and c\d are not compared| c\d is not used): [^\n]{4,}\n)+\Z")
# Name, the command line, what varies from run to run and is no output to compare.
COMMANDS = {
    "report": "report a.sqlite.gz b.sqlite -q -o out/r.html --json out/r.json --svg out/r.svg --markdown out/r.md "
    "--junit out/r.xml",
    "kineto": "report k.json l.json -q --json out/r.json",
    "show": "show a.sqlite -q",
    "stats": "stats a.sqlite -q --report cuda_gpu_kern_sum --output out/t",
    "scrub": "scrub a.sqlite.gz -q --force -o out/c.sqlite.gz",
    "samples": "scrub p.sqlite -q --force --keep-stacks -o out/c.sqlite",
    "payloads": "report p.sqlite p.sqlite -q --json out/r.json",
    "digest": "digest a.sqlite.gz -q --force -o out/c.digest",
    "digests": "report a.digest b.digest -q --json out/r.json",
    "saved": "report @old b.sqlite -q --db s.db --json out/r.json",
    "save": "save new a.sqlite.gz -q --db out/s.db",
    "history": "history report --db h.db -q -o out/t.html --json out/t.json",
    "capture": f"capture --collector cupti -q --force -o out/c.sqlite -- sh -c '{SPOOL}'",
    "outputs": "report a.sqlite b.sqlite -q --baseline-output log --fixed-output log --compare-output 'x=([0-9.]+)' --json out/r.json",
    "claim": "claim r.html -o out/c.json -q",
    "export": "export a.sqlite b.sqlite -o out/e.sqlite -q",
    "run": "run --collector nsys --repeat 0 --recorded 1 -q --force -o out/suite --baseline 'true a.sqlite' "
    "--fixed 'true b.sqlite'",
}
KINDS = ("memory", "read", "write", "open", "rename", "sync", "fork", "map", "thread", "pack")
# The program that is recorded says other things each time, and when.
VARIES = ("capture", "run")
BEFORE = b"what was there before"
# What stands in a result's place where the command failed.
IS_ERROR = {
    ".json": re.compile(rb'\{\n "schema": "gapline/3",\n "gapline": "[^"]+",\n "result": "error",\n "error": \{\n  "id": .*\n \}\n\}\n', re.S),
    ".md": re.compile(rb"### Error: there is no result\n\n.*\n\ngapline [0-9.]+\n", re.S),
    ".xml": re.compile(rb"<\?xml .*<error message=.*</testsuites>\n", re.S),
}
NEVER = re.compile(rb"(?!)")
# What it writes to holds a baseline already, and is a database: its bytes may change, what is in it may not.
STORES = ("save",)


def make_inputs(folder):
    import gzip

    tiny_profile.write(folder / "a.sqlite", steps=12, seed=1)
    tiny_profile.write(folder / "b.sqlite", steps=12, load=50_000, seed=2)
    tiny_profile.write(folder / "p.sqlite", steps=12)
    seeds.write_payloads(folder / "p.sqlite")  # what NCCL says, in both forms
    tiny_samples.add(folder / "p.sqlite", [("parse", "/opt/acme/lib/libdata.so", 10**9)])
    (folder / "a.sqlite.gz").write_bytes(gzip.compress((folder / "a.sqlite").read_bytes(), mtime=0))
    for side in "ab":
        subprocess.run([GAPLINE, "digest", f"{side}.sqlite", "-o", f"{side}.digest", "-q"], cwd=folder, check=True)
    subprocess.run([GAPLINE, "save", "old", "a.sqlite", "--db", "s.db", "-q"], cwd=folder, check=True)
    for i in range(10):
        subprocess.run([GAPLINE, "history", "add", "--commit", f"c{i}", f"{'ab'[i // 5]}.sqlite", "--db", "h.db", "-q"], cwd=folder, check=True)
    tiny_kineto.write(folder / "k.json", steps=12)
    tiny_kineto.write(folder / "l.json", steps=12)
    subprocess.run([GAPLINE, "report", "a.sqlite", "b.sqlite", "-o", "r.html", "-q"], cwd=folder, check=True)
    (folder / "log").write_text("".join(f"x={i * 0.37 + 1}\n" for i in range(30)))
    shutil.copy(tiny_spool.__file__, folder)
    (folder / "bin").mkdir()
    (folder / "lib/gapline").mkdir(parents=True)
    shutil.copy(GAPLINE, folder / "bin/gapline")
    (folder / "lib/gapline/libgapline-cupti.so").touch()
    (folder / "cupti").mkdir()
    (folder / "cupti/libcupti.so.13").touch()


def words(command):
    return shlex.split(COMMANDS[command])


class Place:
    """A folder in which one command runs again and again."""

    def __init__(self, inputs, command, existing):
        self.command, self.existing, self.recovered = command, existing, 0
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=inputs.parent))
        for path in inputs.iterdir():
            (self.folder / path.name).symlink_to(path)
        self.out, self.tmp = self.folder / "out", self.folder / "tmp"

    def run(self, kind, call, everything=False, dies=False, again=False):
        """What came of it: status, what it said, outputs, and the number of calls of the kind. Again: where it was left."""
        for folder in () if again else (self.out, self.tmp):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name in () if again else self.existing:
            (self.out / name).write_bytes(BEFORE)
            (self.out / name).chmod(0o600)
        if self.command in STORES:
            shutil.copy(self.folder / "s.db", self.out)
        counted = self.folder / "counted"
        counted.unlink(missing_ok=True)
        env = {
            "PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(self.folder), "TMPDIR": str(self.tmp),
            "LD_LIBRARY_PATH": str(self.folder / "cupti"), "GAPLINE_NSYS": str(HERE.parent / "support/standin_nsys.py"),
            "LD_PRELOAD": FAILING, "FAILING_KIND": kind, "FAILING_CALL": str(call), "FAILING_REPORT": str(counted),
        }
        if everything:
            env["FAILING_ALL"] = "1"
        if dies:
            env["FAILING_DIES"] = "1"
        done = subprocess.run([self.folder / "bin/gapline", *words(self.command)], cwd=self.folder, env=env, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        calls = int(counted.read_text()) if counted.exists() and counted.read_text() else -1
        files = {str(p.relative_to(self.out)): p.read_bytes() for p in sorted(self.out.rglob("*")) if p.is_file()}
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), files, calls

    def recover(self, files):
        """Of a capture that had no room for its profile: what it kept becomes that, and nothing else is left."""
        if {name for name in files if not name.startswith(".")} != set(self.existing):
            return f"a recording is kept, and other files: {sorted(files)}"
        done = subprocess.run([self.folder / "bin/gapline", "capture", "--recover", "-q", "--force", "-o", "out/c.sqlite"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode or os.listdir(self.out) != ["c.sqlite"]:
            return f"not recovered, {os.listdir(self.out)}: {done.stderr}"
        self.recovered += 1
        return None

    def judge(self, usual, found):
        """None, or what is wrong."""
        status, out, said, files, _ = found
        hidden = lambda: [p.name for p in self.tmp.iterdir()] + [n for n in os.listdir(self.out) if n.startswith(".")]
        if hidden() and self.command == "capture" and "'gapline capture --recover -o out/c.sqlite'" in said:
            return self.recover(files)
        if hidden():
            return f"left behind: {hidden()}"
        if status < 0 or status > 128:
            return f"status {status}: {said}"
        if self.command in STORES:
            listed = subprocess.run([GAPLINE, "save", "--list", "--db", self.out / "s.db"], capture_output=True, text=True)
            names = [line.split(":")[0] for line in listed.stdout.splitlines()]
            if status == 0:
                return None if names == ["old", "new"] else f"saved, and there is {names}"
            fine = status in (2, 3) and SAYING.match(said) and names in (["old"], ["old", "new"])
            return None if fine else f"status {status}, {names}: {said}"
        if status == usual[0]:
            if self.command in VARIES:
                return None if set(files) == set(usual[3]) else f"other files: {sorted(files)}; {said}"
            if self.command == "history" and LEFT_OUT.match(said) and set(files) == set(usual[3]):  # others are left, and the page says so, too
                return None
            if (out, files) != (usual[1], usual[3]):
                return f"another result, and no error: {said}"
            return None if said == usual[2] or SAYING.match(said) else f"words of somebody else: {said}"
        if status not in (2, 3) or not SAYING.match(said):
            return f"status {status}: {said!r}"
        if self.command == "run":  # what it has by then is kept, and goes on when it is run again
            return None
        # JSON, Markdown and JUnit say that there is an error, where that can be written; all else is as it was
        kept = {name: BEFORE for name in self.existing}
        told = {name for name in files if files[name] != kept.get(name)}
        wrong = [name for name in told if not IS_ERROR.get(pathlib.Path(name).suffix, NEVER).fullmatch(files[name])]
        return None if not wrong and kept.keys() <= files.keys() else f"files changed: {sorted(files)}"


def tasks(n, share, per_run):
    """Which of n calls are tried."""
    most = max(1, int(share / per_run))
    if most >= n:
        return range(1, n + 1)
    step = n / most
    return sorted({int(OFFSET * step + i * step) % n + 1 for i in range(most)})


def check_killed(inputs, usual):
    """Which outputs a report that is killed leaves: of the one before or of its own, never of both. What is hidden beside
    them has the mode of the file that it was to replace, and is gone after the next report."""
    wrong, tried, mixed, hidden = [], 0, 0, 0
    names = sorted(usual[3])
    for existing in [names, names[1:], names[:1], ["r.json", "r.md"], []]:
        place = Place(inputs, "report", existing)
        for kind in "rename", "unlink", "sync", "write":
            n = place.run(kind, 0)[4]
            for call in range(1, n + 1):
                status, _, _, files, _ = place.run(kind, call, dies=True)
                seen = {name: files[name] == BEFORE for name in names if name in files}
                old = [name for name, before in seen.items() if before]
                new = [name for name in seen if files[name] == usual[3][name]]
                tried += 1
                mixed += bool(new) and len(new) < len(names)
                if status != -9 or (old and new) or len(old) + len(new) != len(seen):
                    wrong.append(f"{existing} killed before {kind} {call} of {n}: status {status}, old {old}, new {new}")
                left = [p for p in place.out.iterdir() if p.name.startswith(".")]
                for path in left:
                    if any(path.name.startswith(f".{name}.") for name in existing) and path.stat().st_mode & 0o77:
                        wrong.append(f"{path.name} can be read by others, who could not read what it was to replace")
                if left:
                    place.run("none", 0, again=True)
                    hidden += len(left)
                    wrong += [f"{p.name} was left behind and stays" for p in place.out.iterdir() if p.name.startswith(".")]
    print(f"killed {tried} times in front of renames, unlinks, fsyncs and writes, {mixed} times with some of the outputs in "
          f"place, {hidden} files left: {len(wrong)} times wrong")
    return wrong if tried > 40 and mixed > 3 and hidden > 100 else [*wrong, f"{tried} kills show nothing"]


def check_plain_renames(inputs):
    """Some file systems neither exchange two files nor refuse to replace one: results are the same there, and no capture
    replaces a file that appeared while the program ran."""
    wrong = []
    place = Place(inputs, "report", [])
    place.existing = sorted(place.run("none", 0)[3])
    usual, found = place.run("none", 0), place.run("flags", 1, everything=True)
    if found[4] < 1 or place.judge(usual, found):
        wrong.append(f"report: {found[4]} renames without flags: {place.judge(usual, found)}")
    for name, appears in (("alone", False), ("appears", True)):
        ends = f"{SPOOL}; echo mine >out/c.sqlite" if appears else SPOOL
        COMMANDS[name] = shlex.join(["capture", "--collector", "cupti", "-q", "-o", "out/c.sqlite", "--", "sh", "-c", ends])
        place = Place(inputs, name, [])
        status, _, said, files, calls = place.run("flags", 1, everything=True)
        if calls < 1 or "c.sqlite" not in files or (files["c.sqlite"] == b"mine\n") != appears:
            wrong.append(f"capture, {name}: {calls} renames without flags, status {status}, {sorted(files)}: {said}")
        del COMMANDS[name]
    return wrong


def main():
    if b"__asan_init" in pathlib.Path(GAPLINE).read_bytes():
        print("built with a sanitizer: nothing can be loaded in front of it")
        sys.exit(77)
    failed, tried, recovered, began = [], 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gapline-failures-") as made:
        inputs = pathlib.Path(made) / "inputs"
        inputs.mkdir()
        make_inputs(inputs)
        share = SECONDS / len(COMMANDS) / len(KINDS)
        failed += check_plain_renames(inputs)
        print(*failed, sep="\n", flush=True)
        for command in COMMANDS:
            new = Place(inputs, command, [])
            start = time.monotonic()
            usual = {"": new.run("none", 0)}
            per_run = time.monotonic() - start
            assert usual[""][0] == 0, usual[""]
            if command == "report":
                failed += check_killed(inputs, usual[""])
                print(*failed, sep="\n", end="", flush=True)
            old = Place(inputs, command, [] if command == "run" or command in STORES else sorted(usual[""][3]))
            for kind in KINDS:
                n = new.run(kind, 0)[4]
                assert n >= 0, f"{command}: {kind} cannot be counted"
                # what a name stands for after a power cut: each output reaches the disk, and then the folder's names
                assert (command, kind) != ("report", "sync") or n > len(usual[""][3]), f"{n} fsyncs of {len(usual[''][3])} outputs"
                # What is left of a kind with few calls goes to the one with the most.
                room = share * (len(KINDS) if kind == "memory" else 0.5) if SECONDS else LONGEST
                chosen = tasks(n, room, per_run)
                if SECONDS == 0 and n:
                    print(f"{command}: {kind}: {len(chosen)} of {n} calls", flush=True)
                for i, call in enumerate(chosen):
                    place, everything = (new, old)[i % 2], i % 3 == 2
                    wrong = place.judge(usual[""], place.run(kind, call, everything))
                    tried += 1
                    if wrong:
                        failed.append(f"{command}: {kind} {call} of {n}{' and all after' if everything else ''}: {wrong}")
                        print(failed[-1], flush=True)
            recovered += new.recovered + old.recovered
    print(f"{recovered} recordings were kept for which there was no room, and recovered")
    print(f"{tried} failures (offset {OFFSET:.6f}) in {time.monotonic() - began:.0f} s, {len(failed)} with a wrong end")
    sys.exit(bool(failed) or not recovered)


if __name__ == "__main__":
    main()
