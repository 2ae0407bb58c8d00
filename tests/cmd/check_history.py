#!/usr/bin/env python3
"""Results over commits: what the trend page and its JSON say of histories whose truth is known.

    check_history.py GAPLINE
"""

import base64
import concurrent.futures
import hashlib
import html.parser
import html
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile

GAPLINE = os.path.abspath(sys.argv[1])
COMMITS, WRITERS = 200, 20
STEP, BACK = 110, 160  # from the first to before the second a step takes 3 % longer
SCHEMA = jsonschema.Draft202012Validator(json.loads((HERE.parents[1] / "docs/reference/gapline-history.schema.json").read_text()))


def run(*words, status=0, **how):
    done = subprocess.run([GAPLINE, *map(str, words)], capture_output=True, text=True, timeout=300, **how)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def report(folder, db, *options):
    run("history", "report", "--db", db, "--json", folder / "trend.json", "-o", folder / "trend.html", "-q", *options)
    said = json.loads((folder / "trend.json").read_text())
    SCHEMA.validate(said)
    return said


class Reader(html.parser.HTMLParser):
    """What a browser would load or run, and what is read."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.style, self.inside = [], [], "", None

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "style":
            self.style += data
        else:
            self.text.append(data)


def check_page(path, words):
    page = path.read_text()
    reader = Reader()
    reader.feed(page)
    tags = [tag for tag, _ in reader.tags]
    assert "script" not in tags and "img" not in tags and "link" not in tags and "data-" not in re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    assert not [a for _, attributes in reader.tags for a in attributes if a.startswith("on") or a == "style"]
    assert not [a for _, a in reader.tags for key in ("src", "href") if a.get(key, "#")[0] != "#"], "loads something"
    (policy,) = [a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(reader.style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ") and f"style-src 'sha256-{digest}'" in policy and "script-src" not in policy
    text = " ".join(" ".join(reader.text).split())
    for word in words:
        assert word in text, (word, text[:2000])
    return text


def check_job(trend, proof, other):
    """The guide's line for a job fails at the commit with which the change was proven, and at no other."""
    guide = (pathlib.Path(__file__).resolve().parents[2] / "docs/guide/history.md").read_text(encoding="utf-8")
    program = re.search(r"jq -e --arg commit .*?'(.*?)' trend.json", guide, re.DOTALL)[1]
    for commit, status in ((proof, 1), (other, 0)) if shutil.which("jq") else ():
        done = subprocess.run(["jq", "-e", "--arg", "commit", commit, program, trend], capture_output=True, text=True)
        assert done.returncode == status, (commit, done.stdout, done.stderr)


def check_steps(folder):
    """200 commits of 0.5 % noise, added by twenty writers at a time in any order: the step and the way back are found at
    their commits, with what the profiles were made with."""
    chance = random.Random(8)
    db = folder / "h.db"
    names = [f"{chance.getrandbits(28):07x}" for _ in range(COMMITS)]
    period = 911_000  # of tiny_profile's defaults, about
    loads = [400_000 + int(period * (chance.gauss(0, 0.005) + (0.03 if STEP <= i < BACK else 0))) for i in range(COMMITS)]
    loads[50] += 100_000  # an outlier is no change
    for i, load in enumerate(loads):
        tiny_profile.write(folder / f"{i}.sqlite", steps=12, load=load, seed=100 + i)
    order = list(range(COMMITS))
    chance.shuffle(order)
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda i: run("history", "add", "--commit", names[i], "--time", 1_790_000_000 + 3600 * i, "--db", db,
                                    "-q", folder / f"{i}.sqlite"), order))
    with sqlite3.connect(db) as handle:
        assert handle.execute("SELECT count(*) FROM part").fetchone() == (COMMITS,), "a writer's work is lost"
        assert handle.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    handle.close()
    said = report(folder, db)
    assert [c["commit"] for c in said["commits"]] == names
    (series,) = said["series"]
    assert series["last_two"] is None and series["drift"] is None
    assert series["commits"] == names and 0.003 < series["noise"] < 0.007, series["noise"]
    up, down = series["changes"]
    assert (up["commit"], up["last_before"], up["direction"]) == (names[STEP], names[STEP - 1], "slower"), up
    assert (down["commit"], down["direction"]) == (names[BACK], "faster"), down
    for change, truth in ((up, 0.03), (down, 1 / 1.03 - 1)):
        assert change["ci95"][0] <= change["change"] <= change["ci95"][1] and abs(change["change"] - truth) < 0.004, change
        assert change["within_commits"] == 0 and change["phase"] == "data_load", change
        moved = change["after_per_step"]["idle"] - change["before_per_step"]["idle"]
        assert abs(moved - (change["after_ms"] - change["before_ms"])) < 0.005, change
    for change, at in ((up, STEP), (down, BACK)):
        assert at <= names.index(change["proven_with"]) < at + 5, (change, at)
    # each commit's step is that of `gapline show` of its file
    for i in 0, STEP, COMMITS - 1:
        step = said["commits"][i]["step_ms"]
        shown = re.search(r"([0-9.]+) ms", run("show", folder / f"{i}.sqlite", "-q")).group(1)
        assert f"{step:.4f}".startswith(shown[:5]) or abs(step - float(shown)) < 1e-3, (step, shown)
        assert abs(sum(said["commits"][i]["per_step"].values()) - step) < 1e-9
    text = check_page(folder / "trend.html", [names[STEP], names[BACK], "Faster", "data_load", "+3.0 %" if abs(up["change"] - 0.03) < 5e-4 else names[0]])
    assert f"gapline report @commit:{names[BACK - 1]} @commit:{names[BACK]}" in text
    pair = folder / "pair.json"
    run("report", f"@commit:{names[BACK - 1]}", f"@commit:{names[BACK]}", "--db", db, "--json", pair, "-q")
    run("report", folder / f"{BACK - 1}.sqlite", folder / f"{BACK}.sqlite", "--json", folder / "files.json", "-q")
    assert pair.read_bytes() == (folder / "files.json").read_bytes()
    before = (folder / "trend.html").read_bytes()
    assert report(folder, db) == said and (folder / "trend.html").read_bytes() == before
    assert not report(folder, db, "--min-change", "5")["series"][0]["changes"]
    terminal = run("history", "report", "--db", db)
    assert f"slower since {names[STEP]}" in terminal and f"faster since {names[BACK]}" in terminal, terminal
    assert "No change" not in terminal and terminal.count("; idle ") == 2, terminal  # either way
    # the same when only what was there by then is looked at: the alarm came with the commit that is named
    found = names.index(up["proven_with"])
    with sqlite3.connect(db) as handle:
        for i in range(COMMITS - 1, found - 1, -1):
            handle.execute("DELETE FROM part WHERE name = ?", (names[i],))
            handle.execute("DELETE FROM entry WHERE name = ?", (names[i],))
            if i == found + 1:
                handle.commit()
                early = report(folder, db)["series"][0]["changes"]
                assert [c["commit"] for c in early] == [names[STEP]], early
                check_job(folder / "trend.json", names[found], names[found - 1])
    handle.close()
    assert not report(folder, db)["series"][0]["changes"]
    print(f"{COMMITS} commits by {WRITERS} writers at once: both changes at their commits, proven with the "
          f"{found - STEP + 1}th one")


def check_adding(folder):
    """Runs of a commit add up, the same bytes count once, times order, and what has no order is refused."""
    for i in range(6):
        tiny_profile.write(folder / f"{i}.sqlite", steps=12, load=400_000 + 10_000 * i, seed=i)
    db = folder / "a.db"

    def add(commit, *profiles, status=0, time=None, options=()):
        when = [] if time is None else ["--time", time]
        return run("history", "add", "--commit", commit, *when, "--db", db, *options, *(folder / f"{p}.sqlite" for p in profiles), status=status)

    add("late", 0, 1, time="2026-11-22T10:00:00+01:00")
    add("early", 2, time="2026-11-22T08:59:59Z")
    add("between", 3, time=1795338000 - 1)  # 2026-11-22 09:00 UTC is 1795338000
    assert "1 profile added" in add("late", 1, 4, time="2026-11-22T09:00:00Z")
    assert "0 profiles added" in add("late", 4, time="2026-11-22 10:00:00 +0100")
    said = report(folder, db)
    assert [(c["commit"], c["runs"], c["time"]) for c in said["commits"]] == [
        ("early", 1, 1795337999), ("between", 1, 1795337999), ("late", 3, 1795338000)], said["commits"]
    steps = [report_one(folder, folder / f"{i}.sqlite") for i in (0, 1, 4)]
    assert abs(said["commits"][2]["step_ms"] - sum(steps) / 3) < 1e-9
    check_picture(html.unescape((folder / "trend.html").read_text()), steps)
    check_last_two(folder, db, said, "between", "late")
    assert "another time" in add("late", 5, time=5, status=2)
    assert "give this one its --time" in add("new", 5, status=2)
    add("late", 5, time=1795338000, options=["--force"])
    assert report(folder, db)["commits"][2]["runs"] == 1
    for time in ("yesterday", "2026-02-31T00:00:00Z", "2026-11-22T10:00:00", "-5", "2026-11-22T10:00:00+0x:00", "1e9", "99999999999999"):
        assert "is no time" in run("history", "add", "--commit", "x", "--time", time, "--db", db, folder / "0.sqlite", status=2), time
    for words in (["add", folder / "0.sqlite"], ["add", "--commit", "a b", folder / "0.sqlite"], ["add", "--commit", "x"],
                  ["report", folder / "0.sqlite"], ["report", "--commit", "x"], ["add", "--commit", "x", "--json", "y", folder / "0.sqlite"], [], ["remove"]):
        run("history", *words, "--db", db, status=2)
    run("history", "report", "--db", folder / "none.db", status=3)
    run("history", "report", "--db", folder / "0.sqlite", status=3)
    run("history", "report", "--db", db, "-o", folder / "no" / "x.html", status=2)
    assert "there are no commits" in run("save", "main", folder / "0.sqlite", "--db", folder / "s.db") + run(
        "history", "report", "--db", folder / "s.db", status=3)
    assert "would replace the history" in run("history", "report", "--db", db, "-o", db, status=2)
    both = ["-o", folder / "both", "--json", folder / "both"]
    assert "would go to the same file" in run("history", "report", "--db", db, *both, status=2) and not (folder / "both").exists()
    db = folder / "plain.db"
    for name in "zyx":
        add(name, "xyz".index(name))
    assert [c["commit"] for c in report(folder, db)["commits"]] == list("zyx")
    assert "no time" in add("w", 5, time=5, status=2)
    jobs = [subprocess.Popen([GAPLINE, "history", "add", "--commit", "same", "--db", db, "-q", folder / f"{i % 6}.sqlite"]) for i in range(WRITERS)]
    assert [job.wait(timeout=60) for job in jobs] == [0] * WRITERS
    assert report(folder, db)["commits"][-1]["runs"] == 6
    check_schema(said)
    print("runs add up, times order, and what has none is refused; the schema refuses what it should")


def check_picture(page, steps):
    """A dot says its commit, a line reaches from its shortest to its longest run, *now* is the last commit, and three commits have
    no level."""
    milliseconds = lambda number, unit: float(number) * {"ms": 1, "\u00b5s": 1e-3}[unit]
    time = r"([\d.]+) (ms|\u00b5s)"
    said = re.search(rf"<title>late: {time} per step, 3 runs from {time} to {time}</title>", page)
    shown = [milliseconds(*said.groups()[i : i + 2]) for i in (0, 2, 4)]
    assert all(abs(a / b - 1) < 1e-3 for a, b in zip(shown, (sum(steps) / 3, min(steps), max(steps)), strict=True)), (shown, steps)
    now = re.search(rf"The last commit takes {time} per step", page)
    assert abs(milliseconds(*now.groups()) / shown[0] - 1) < 1e-9, now[0]
    lines = re.search(r'<g class="runs"[^>]*>(.*?)</g>', page, re.S)
    assert lines and len(re.findall(r"<(?:line|path) ", lines[1])) == 1, lines
    assert "<rect" not in re.search(r'<g class="after"[^>]*>(.*?)</g>|<g class="after"[^>]*/>|$', page, re.S)[0]


def check_last_two(folder, db, said, before, after):
    """Of few commits the latest two are judged, and the verdict is that of a report of them."""
    run("report", f"@commit:{before}", f"@commit:{after}", "--db", db, "--json", folder / "two.json", "-q")
    verdict = json.loads((folder / "two.json").read_text())["verdict"]
    last = said["series"][0]["last_two"]
    assert (last["before"], last["after"], last["result"]) == (before, after, verdict["result"]), (last, verdict)
    assert last["speedup"] == verdict["speedup"] and last["ci95"] == (verdict["ci95"] or [None, None]), (last, verdict)
    text = check_page(folder / "trend.html", [f"{after} against {before}: ", f"gapline report @commit:{before} @commit:{after} -o report.html"])
    assert "Too early to tell" not in text
    assert f"{after} against {before}: {last['text']}" in run("history", "report", "--db", db)


def check_schema(said):
    """A schema that accepts everything would pass all others."""
    SCHEMA.check_schema(SCHEMA.schema)
    for change in (
        lambda r: r.update(schema="gapline-history/2"),
        lambda r: r.update(other=1),
        lambda r: r["commits"][0].pop("runs"),
        lambda r: r["commits"][0].update(step_ms=None),
        lambda r: r["commits"][0].update(unused="why", per_step=None),
        lambda r: r["commits"][0]["per_step"].update(idle="1"),
        lambda r: r["series"][0].update(noise=-1),
        lambda r: r["series"][0]["commits"].append("a b"),
        lambda r: r["series"][0]["changes"].append({}),
    ):
        bad = json.loads(json.dumps(said))
        change(bad)
        assert not SCHEMA.is_valid(bad), "the schema accepts what it must not"


def report_one(folder, profile):
    run("report", profile, profile, "--json", folder / "one.json", "-q")
    return json.loads((folder / "one.json").read_text())["baseline"]["steps"]["period_ms"]["mean"]


def check_series(folder):
    """Two machines by turns are two series; a commit whose profile says nothing is named; markup in names stays text."""
    db = folder / "m.db"
    attack = "<script>alert(1)</script>&\"'"
    for i in range(40):
        path = folder / f"{i}.sqlite"
        tiny_profile.write(path, steps=12, seed=i, load=400_000 + (200_000 if i % 2 else 0))
        with sqlite3.connect(path) as handle:
            handle.execute("UPDATE TARGET_INFO_GPU SET name = ?", ("GPU B" if i % 2 else attack,))
            handle.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text = 'data_load'", (attack,))
        handle.close()
        run("history", "add", "--commit", f"c{i}", "--db", db, "-q", path)
    tiny_profile.write(folder / "bad.sqlite", steps=12, seed=60)
    run("history", "add", "--commit", "bad", "--db", db, "-q", folder / "bad.sqlite")
    with sqlite3.connect(db) as handle:
        handle.execute("UPDATE part SET digest = x'1f8b0000' WHERE name = 'bad'")
    handle.close()
    tiny_profile.write(folder / "rest.sqlite", steps=12, seed=61)
    with sqlite3.connect(folder / "rest.sqlite") as handle:  # of 60 kernels 3 make no sense: no verdict comes from the rest
        handle.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 'x' WHERE rowid % 20 = 3")
    handle.close()
    run("history", "add", "--commit", "rest", "--db", db, "-q", folder / "rest.sqlite")
    said = report(folder, db, "--title", attack)
    rest = said["commits"].pop()
    assert rest["commit"] == "rest" and "3 of 60 rows of kernels" in rest["unused"] and rest["step_ms"] is None, rest
    told = run("history", "report", "--db", db, "--json", "-", "-q").split("}\n")[-1]
    assert [re.match("gapline: commit (\\w+) is not used: .", line)[1] for line in told.splitlines()] == ["bad", "rest"], told
    assert [len(s["commits"]) for s in said["series"]] == [20, 20] and not any(s["changes"] for s in said["series"])
    assert "@commit:bad/bad.sqlite" in said["commits"][-1]["unused"] and said["commits"][-1]["step_ms"] is None, said["commits"][-1]
    assert said["series"][0]["like"].startswith("GPU B"), "the latest commit's series comes first"
    check_page(folder / "trend.html", [attack, "Inconclusive", "c39 against c37: ", said["commits"][-1]["unused"][:60]])
    print("two machines are two series, and no change; names stay text")


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-history-") as made:
        for check in check_adding, check_series, check_steps:
            folder = pathlib.Path(made) / check.__name__
            folder.mkdir()
            check(folder)


main()
