#!/usr/bin/env python3
"""Profiles that are replaced while they are read: the words are of one of both files, or it is an error.

    check_replaced.py GAPLINE RACES

RACES reports of each kind of file race against somebody who renames one of two files onto the name, as `gapline
capture --force` and rsync do, and as many against somebody who copies one of them into it, as cp does. A rename is no
error: what was opened is judged. A copy that is not done yet is one, and some have to be called that. A tenth as many race
against what keeps a profile: `digest`, `save` and `history add`; a report of what was kept is of one of both files.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples/training-step"
GAPLINE, RACES = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
WRITTEN = "was written while it was read"


def run(*words):
    return subprocess.run([GAPLINE, *words], capture_output=True, check=False, timeout=120)


def show(path):
    done = run("show", "-q", path)
    return done.returncode, done.stdout, done.stderr.decode()


def keep(*words):
    """A report of what these words keep of a profile, beside one that nobody replaces."""
    def kept(path):
        db, digest = path.with_name("kept.db"), path.with_name("kept.digest")
        where = ("-o", digest) if words[0] == "digest" else ("--db", db)
        done = run(*words, "-q", *where, path)
        name = {"digest": digest, "save": "@main", "history": "@commit:1a2b3c4"}[words[0]]
        report = run("report", "-q", "--db", db, "--json", "-", name, path.with_name("other.sqlite")) if done.returncode == 0 else done
        db.unlink(missing_ok=True)
        digest.unlink(missing_ok=True)
        return report.returncode, report.stdout if report.returncode == 0 else b"", (done.stderr + report.stderr).decode()

    return kept


class Replacer(threading.Thread):
    """Puts one file after the other under the name until it is told to stop."""

    def __init__(self, path, files, replace):
        super().__init__()
        self.path, self.files, self.replace, self.stopping, self.times = path, files, replace, threading.Event(), 0

    def run(self):
        while not self.stopping.wait(0.0005):
            self.replace(self.files[self.times % 2], self.path)
            self.times += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.join()


def rename(file, path):
    link = path.with_name(path.name + ".new")
    os.link(file, link)
    os.rename(link, path)


def copy(file, path):
    """In at least eight pieces: a digest would be there in one, and no reader would meet half of it."""
    data = file.read_bytes()
    piece = min(16384, max(1, len(data) // 8))
    with open(path, "wb", buffering=0) as to:
        for at in range(0, len(data), piece):
            to.write(data[at : at + piece])
            time.sleep(0.0001)


def race(files, path, replace, may_fail, show=show, races_wanted=RACES):
    shutil.copy(files[0], path)
    expected = [show(file) for file in files]
    expected = {text.replace(file.name.encode(), path.name.encode()) for file, (_, text, _) in zip(files, expected)}
    assert len(expected) == 2 and b"" not in expected, "the two files say the same"
    wrong, refused, said, races = [], 0, 0, 0
    with Replacer(path, files, replace) as other:
        while races < races_wanted or (may_fail and not said and races < 20 * RACES):
            races += 1
            status, out, err = show(path)
            refused += status == 3
            said += WRITTEN in err
            if (status == 0 and out not in expected) or status not in (0, 3) or (status == 3 and not may_fail):
                wrong.append((status, err.strip() or "numbers of neither file"))
    path.unlink()
    print(f"{path.name}, {replace.__name__}: {races} races, {other.times} times replaced, {refused} refused, of them "
          f"{said} as written meanwhile, {len(wrong)} wrong", flush=True)
    if other.times < (races_wanted // 10 if may_fail else races_wanted) or (may_fail and not said):
        wrong.append(("never", f"{path.name}: nothing was raced"))
    return wrong


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="gapline-replaced-") as name:
        folder = pathlib.Path(name)
        packed = [EXAMPLES / "baseline.sqlite.gz", EXAMPLES / "fixed.sqlite.gz"]
        kinds = {"sqlite": [folder / "0.sqlite", folder / "1.sqlite"], "gz": [folder / "0.gz", folder / "1.gz"],
                 "digest": [folder / "0.digest", folder / "1.digest"]}
        for i, file in enumerate(packed):
            kinds["sqlite"][i].write_bytes(gzip.decompress(file.read_bytes()))
            shutil.copy(file, kinds["gz"][i])
            assert run("digest", "-q", "-o", kinds["digest"][i], file).returncode == 0
        for kind, files in kinds.items():
            path = folder / f"raced.{kind}"
            wrong += race(files, path, rename, may_fail=False)
            wrong += race(files, path, copy, may_fail=True)
        shutil.copy(packed[0], folder / "other.sqlite")
        for words in ("digest",), ("save", "main"), ("history", "add", "--commit", "1a2b3c4", "--time", "1790000000"):
            for replace in rename, copy:
                print(*words, end=": ")
                wrong += race(kinds["sqlite"], folder / "raced.sqlite", replace, replace == copy, keep(*words), max(2, RACES // 10))
    for status, text in wrong[:10]:
        print(f"exit {status}: {text}")
    return 1 if wrong else 0


sys.exit(main())
