#!/usr/bin/env python3
"""Saved baselines: a report with one says what a report with its files says, writers do not lose each other's work, and a
store that is damaged, foreign or hostile is refused in words.

    check_save.py GAPLINE

In CI (support/amount.py) 12 writers are killed, of 30.
"""

import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import facts
import tiny_job
import tiny_profile
import tiny_store
from amount import ALL

ROOT = HERE.parents[1]
GAPLINE = os.path.abspath(sys.argv[1])
WRITERS = 20


def run(*words, status=0, **how):
    done = subprocess.run([GAPLINE, *map(str, words)], capture_output=True, text=True, timeout=300, **how)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def report(folder, baseline, fixed, *options, status=0):
    out, page = folder / "out.json", folder / "out.html"
    sides = [word for side, files in (("--baseline", baseline), ("--fixed", fixed)) for f in files for word in (side, f)]
    run("report", *sides, "--json", out, "-o", page, "-q", *options, status=status)
    return json.loads(out.read_text(), object_hook=facts.text)


def same(folder, what, baseline, fixed, *options, status=0):
    """The whole result, names of files included, and the page to the byte."""
    db = folder / "store.db"
    name = f"{what}/of-this.run"
    run("save", name, *baseline, "--db", db, "-q")
    run("save", f"fixed-{name}", *fixed, "--db", db, "-q")
    options = *options, "--title", "either"
    whole, page = report(folder, baseline, fixed, *options, status=status), (folder / "out.html").read_bytes()
    for saved in fixed, [f"@fixed-{name}"]:
        assert report(folder, [f"@{name}"], saved, "--db", db, *options, status=status) == whole, what
        assert (folder / "out.html").read_bytes() == page, what
    print(f"{what}: the same with the saved baseline, and with both sides saved")
    return whole


def check_same(folder):
    step = ROOT / "examples" / "training-step"
    same(folder, "training-step", *[[step / f"{side}.sqlite.gz"] for side in ("baseline", "fixed")])
    runs = [sorted((step / "runs").glob(f"{side}-*.sqlite.gz")) for side in ("baseline", "fixed")]
    whole = same(folder, "repeats", *runs, "--gate", "speedup>=1.5", "--gate", "idle<90%")
    assert len(whole["baseline"]["runs"]) == len(runs[0]) > 1 and whole["verdict"]["speedup"] > 1.5
    for side, files in zip(("a", "b"), runs):  # folders say what belongs together
        (folder / side).mkdir()
        for f in files:
            shutil.copy(f, folder / side)
    same(folder, "folders", [folder / "a"], [folder / "b"])
    same(folder, "ranks", [folder / "r1"], [folder / "r2"]) if [
        tiny_job.write(folder / f"r{i}", ranks=16, slow=5, seed=i) for i in (1, 2)] else None


def check_folders_of_two_names(folder):
    """Ranks that do not say when they ran: each folder is a run of its own, under a name as it was on disk."""
    for i in range(4):
        tiny_job.write(folder / f"untimed{i}", ranks=4, slow=2, seed=i + 1)
        for file in (folder / f"untimed{i}").iterdir():
            with sqlite3.connect(file) as db:
                db.execute("DROP TABLE TARGET_INFO_SESSION_START_TIME")
        run("save", f"untimed{i}", folder / f"untimed{i}", "--db", folder / "store.db", "-q")
    sides = [[folder / f"untimed{i}" for i in pair] for pair in ((0, 1), (2, 3))]
    names = [[f"@untimed{i}" for i in pair] for pair in ((0, 1), (2, 3))]
    whole = report(folder, *sides, "--files-are", "ranks")
    assert len(whole["baseline"]["runs"]) == len(whole["fixed"]["runs"]) == 2
    assert report(folder, *names, "--files-are", "ranks", "--db", folder / "store.db") == whole
    print("two names a side: as many runs as folders were saved")


def check_machine(folder):
    """What is different about the machine is said, and no gate on comparability passes."""
    def profile(name, gpu, hz, seed, **how):
        tiny_profile.write(folder / name, seed=seed, **how)
        with sqlite3.connect(folder / name) as db:
            db.execute("UPDATE TARGET_INFO_GPU SET name = ?, clockRate = ?", (gpu, hz))
        db.close()
        return folder / name

    here = profile("here.sqlite", "NVIDIA H100", 1_980_000_000, 1)
    db = folder / "machine.db"
    said = run("save", "main", here, "--db", db)
    assert "NVIDIA H100 at up to 1980 MHz" in said, said
    for there, words in ((profile("other.sqlite", "NVIDIA H200", 1_980_000_000, 2, load=50_000), "NVIDIA H200"),
                         (profile("slow.sqlite", "NVIDIA H100", 1_200_000_000, 3, load=50_000), "1200 MHz")):
        result = report(folder, ["@main"], [there], "--db", db, "--require-comparable", status=1)
        assert result["verdict"]["comparable"] is False, result["verdict"]
        assert any(words in text and "in the baseline" in text for text in result["verdict"]["differences"]), result["verdict"]
        assert result == report(folder, [here], [there], "--require-comparable", status=1)
    assert report(folder, ["@main"], [profile("twin.sqlite", "NVIDIA H100", 1_980_000_000, 4)], "--db", db)["verdict"]["comparable"]
    print("another GPU and other clocks than the saved ones are said")


def integrity(db):
    with sqlite3.connect(db) as handle:
        found = handle.execute("PRAGMA integrity_check").fetchall()
    handle.close()
    assert found == [("ok",)], found


def names(db):
    return sorted(line.split(":")[0] for line in run("save", "--list", "--db", db).splitlines())


def check_writers(folder):
    """Twenty at once, into a file that none of them found; then twenty for one name, of which one is first."""
    profiles = [folder / f"w{i}.sqlite" for i in range(WRITERS)]
    for i, path in enumerate(profiles):
        tiny_profile.write(path, seed=100 + i, steps=12)
    db = folder / "many.db"
    started = [subprocess.Popen([GAPLINE, "save", f"writer-{i}", p, "--db", db, "-q"]) for i, p in enumerate(profiles)]
    assert [p.wait(timeout=120) for p in started] == [0] * WRITERS
    assert names(db) == sorted(f"writer-{i}" for i in range(WRITERS)), names(db)
    started = [subprocess.Popen([GAPLINE, "save", "one", p, "--db", db, "-q"], stderr=subprocess.PIPE, text=True) for p in profiles]
    said = [(p.communicate(timeout=120)[1], p.returncode) for p in started]
    assert sorted(status for _, status in said) == [0] + [2] * (WRITERS - 1), said
    assert all("is saved in it already; --add adds to it, --force replaces it" in text for text, status in said if status), said
    winner = [status for _, status in said].index(0)
    assert report(folder, ["@one"], [profiles[0 if winner else 1]], "--db", db) == report(
        folder, [profiles[winner]], [profiles[0 if winner else 1]])
    run("save", "one", profiles[3], "--db", db, "-q", "--force")
    assert report(folder, ["@one"], [profiles[0]], "--db", db) == report(folder, [profiles[3]], [profiles[0]])
    integrity(db)
    assert sorted(p.name for p in folder.glob("many.db*")) == ["many.db"]
    print(f"{WRITERS} writers at once lost nothing; of {WRITERS} with one name one was first, and the others said so")


def check_killed(folder):
    """Writers that are killed at any moment: what was there stays, and what they wrote is there whole or not at all."""
    big, old = folder / "big.sqlite", folder / "old.sqlite"
    tiny_profile.write(big, steps=3000, seed=7)
    tiny_profile.write(old, steps=12, seed=8)
    db, chance = folder / "killed.db", random.Random(17)
    run("save", "old", old, "--db", db, "-q")
    whole = report(folder, [old], [big])
    assert report(folder, ["@old"], [big], "--db", db) == whole
    begin = time.monotonic()
    run("save", "timed", big, "--db", db, "-q")
    length = time.monotonic() - begin
    kept = 0
    times = 30 if ALL else 12
    for i in range(times):
        writer = subprocess.Popen([GAPLINE, "save", f"big-{i}", big, "--db", db, "-q"], stderr=subprocess.DEVNULL)
        time.sleep(length * (0.4 + 0.7 * chance.random()))  # the transaction is at its end
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        kept += f"big-{i}" in names(db)
    assert report(folder, ["@old"], [big], "--db", db) == whole
    for name in names(db):
        run("report", f"@{name}", old, "--db", db, "-q")
    integrity(db)
    print(f"{times} writers were killed, {kept} after they had saved; nothing else was lost")


def check_refused(folder):
    """Each in words, with the file's name, and the file is left as it was."""
    good, fixed = folder / "good.db", folder / "fixed.sqlite"
    tiny_profile.write(folder / "p.sqlite", steps=12)
    tiny_profile.write(fixed, steps=12, load=50_000, seed=2)
    run("save", "main", folder / "p.sqlite", "--db", good, "-q")
    (digest,) = sqlite3.connect(good).execute("SELECT digest FROM part").fetchone()

    tiny_store.write(folder / "by-hand.db", [("main", [digest])])  # after docs/guide/history.md
    assert report(folder, ["@main"], [fixed], "--db", folder / "by-hand.db")["verdict"] == report(
        folder, ["@main"], [fixed], "--db", good)["verdict"]

    def changed(*sql):
        path = folder / "changed.db"
        shutil.copy(good, path)
        handle = sqlite3.connect(path)
        handle.execute("PRAGMA writable_schema = ON")
        for statement in sql:
            handle.execute(*((statement,) if isinstance(statement, str) else statement))
        handle.commit()
        handle.close()
        return path.read_bytes()

    def blob(bytes_):
        return changed(("UPDATE part SET digest = ?", (bytes_,)))

    bad = {
        "is no file of": b"SQLite format 4\0" + good.read_bytes()[16:],
        "nothing was saved in it yet": b"",
        "is a database of something else": (folder / "p.sqlite").read_bytes(),
        "is of another version (2": changed("PRAGMA user_version = 2"),
        "its tables are not those": changed("CREATE VIEW v AS SELECT 1"),
        "its tables are not those that": changed("CREATE TRIGGER t AFTER INSERT ON part BEGIN DELETE FROM entry; END"),
        "its tables are not those that gapline": changed("DROP TABLE part", "CREATE VIEW part AS SELECT * FROM entry"),
        "its tables are not those that gapline makes": changed("ALTER TABLE entry ADD COLUMN more"),
        "is damaged: it holds something else": changed("UPDATE part SET digest = 'text'"),
        "is damaged: it holds something else than": changed("DELETE FROM part"),
        "is damaged: it holds something else than gapline": changed("UPDATE part SET folder = 1 << 40"),
        "is damaged: it holds something else than gapline writes": changed("UPDATE part SET file = x'00'"),
        "is no digest": blob(b"SQLite format 3\0" + b"x" * 100),
        "the gzip data end too early": blob(digest[:-20]),
        "cannot be unpacked": blob(digest[:40] + b"\xff" * 20 + digest[60:]),
        "holds more than a packed digest": blob(gzip.compress(b"gapline digest 1\n" + bytes(200 << 20))),
        "there is more behind the end of this digest": blob(digest + b"\0"),
        "more behind the end of this digest": blob(gzip.decompress(digest) + b"\0"),
        "the checksum of this digest differs": blob(gzip.decompress(digest)[:300] + b"\1" + gzip.decompress(digest)[301:]),
    }
    for words, content in bad.items():
        path = folder / "bad.db"
        path.write_bytes(content)
        said = run("report", "@main", fixed, "--db", path, "-q", status=3)
        assert words in said and (str(path) in said or "@main/p.sqlite" in said), (words, said)
        assert path.read_bytes() == content, words
        if content and "digest" not in words and "holds something" not in words and "gzip" not in words and "unpacked" not in words:
            said = run("save", "more", fixed, "--db", path, "-q", status=2)
            assert words in said and path.read_bytes() == content, (words, said)
    random_ = random.Random(5)
    shorter = 0
    for _ in range(150):  # any bytes: a sentence, or the same answer
        content = bytearray(good.read_bytes())
        for _ in range(1 + random_.randrange(6)):
            content[random_.randrange(len(content))] = random_.randrange(256)
        (folder / "bad.db").write_bytes(content)
        done = subprocess.run([GAPLINE, "report", "@main", fixed, "--db", folder / "bad.db", "--json", folder / "bad.json", "-q"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 3), (done.returncode, done.stderr)
        if done.returncode == 0:
            said = json.loads((folder / "bad.json").read_text(), object_hook=facts.text)
            whole = report(folder, [folder / "p.sqlite"], [fixed])
            if said["baseline"]["files"] != whole["baseline"]["files"]:  # a name of a file is believed
                shorter += 1
                continue
            assert said == whole
    for path, status, words in ((folder, 3, "is a folder"), (folder / "none.db", 3, "no such file"),
                                (folder / "fifo", 3, "no regular file")):
        if path.name == "fifo":
            os.mkfifo(path)
        assert words in run("report", "@main", fixed, "--db", path, "-q", status=status)
    for name in ("", " ", "-x", "a b", "ä", "../x", "x" * 101, "a\nb", "@main", "commit:x", "a'b", ".."):
        words = run("save", "--", name, fixed, "--db", good, "-q", status=2)
        assert "cannot be a name" in words, (name, words)
    for name in ("1", "feature/x_1.2-rc+1", "x" * 100):
        run("save", name, fixed, "--db", good, "-q")
    assert "it has main, 1, feature/x_1.2-rc+1" in run("report", "@mian", fixed, "--db", good, "-q", status=3)
    for i in range(7):
        run("save", f"n{i}", fixed, "--db", good, "-q")
    latest = ", ".join(["x" * 100, *(f"n{i}" for i in range(7))])
    assert f"it has {latest} and 3 more\n" in run("report", "@mian", fixed, "--db", good, "-q", status=3)
    assert "holds the same capture" in run("save", "twice", fixed, shutil.copy(fixed, folder / "copy.sqlite"), "--db", good, status=2)
    assert "would replace" in run("report", "@main", fixed, "--db", good, "--json", good, status=2)
    assert "is a digest" in run("report", "@main", fixed, "--db", good, "--baseline-ncu", fixed, status=3)
    assert "already" in run("save", "main", folder / "no-such.sqlite", "--db", good, status=2), "before profiles are read"
    odd = folder / ":memory:"
    run("save", "main", fixed, "--db", ":memory:", "-q", cwd=folder)
    assert odd.exists() and names(odd) == ["main"]
    print(f"{len(bad)} stores that are none and 150 damaged ones are refused or say the same ({shorter} with another file's name)")


def check_read_only(folder):
    """A store that may only be read."""
    db, place = folder / "ro" / "store.db", folder / "ro"
    place.mkdir()
    tiny_profile.write(folder / "q.sqlite", steps=12)
    tiny_profile.write(folder / "f.sqlite", steps=12, load=50_000, seed=2)
    run("save", "main", folder / "q.sqlite", "--db", db, "-q")
    missing = folder / "nowhere" / "store.db"
    assert f"{missing}: its folder does not exist; create it first" in run("save", "b", folder / "f.sqlite", "--db", missing, "-q", status=2)
    db.chmod(0o444)
    place.chmod(0o555)
    try:
        run("report", "@main", folder / "f.sqlite", "--db", db, "-q")
        if os.geteuid():
            for path in db, place / "new.db":
                assert "Permission denied" in run("save", "b", folder / "f.sqlite", "--db", path, "-q", status=2)
    finally:
        place.chmod(0o755)


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-save-") as made:
        for check in (check_refused, check_read_only, check_machine, check_writers, check_killed, check_same,
                      check_folders_of_two_names):
            folder = pathlib.Path(made) / check.__name__
            folder.mkdir()
            check(folder)


main()
