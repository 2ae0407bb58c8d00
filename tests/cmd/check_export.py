#!/usr/bin/env python3
"""`gapline export`: its sums are those of the JSON, to the nanosecond; the questions of docs/reference/export.md have
answers; the page lists the columns that there are; and no file is written where something fails.

    check_export.py GAPLINE [--duckdb]

With --duckdb, DuckDB answers instead of sqlite3. Its own reader of SQLite files is an extension that npm does not have, so
every table and view is handed over, row by row.
"""

import collections
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import tiny_profile

PAGE = (ROOT / "docs/reference/export.md").read_text(encoding="utf-8")
PAIR = [ROOT / f"examples/training-step/{side}.sqlite.gz" for side in ("baseline", "fixed")]
TRUTH = ("nccl-serial-2", "straggler-2", "tiny-kernels-2-nsys", "gil-loader-5", "module-load-2", "host-lock-2", "input-stall-2-nsys")
RECORDED = ("loader-gapline.sqlite", "kernel-bound-fixed.sqlite", "names-nsys.sqlite", "loader-pytorch.json", "bound-pytorch.json")


def captures(folder):
    """Two of the pair, one of each of these programs, and others that other collectors recorded."""
    yield from PAIR
    for name in TRUTH:
        with tarfile.open(ROOT / "examples/truth" / name / "captures.tar.xz") as tar:
            path = folder / f"{name}.sqlite"
            path.write_bytes(tar.extractfile("baseline-1.sqlite").read())
            yield path
    for name in RECORDED:
        path = folder / name
        path.write_bytes(lzma.decompress((ROOT / f"tests/cmd/recorded/{name}.xz").read_bytes()))
        yield path


def ns(ms, times=1):
    """Integer nanoseconds of a JSON's number in ms, which is a mean over `times`."""
    value = ms * 1e6 * times
    assert abs(value - round(value)) < 1e-3 + 1e-12 * abs(value), value
    return round(value)


class DuckDB:
    """A database of DuckDB with the tables and views of one of SQLite."""

    def __init__(self, db, folder):
        self.node = subprocess.Popen(["node", ROOT / "tests/long/duckdb/duckdb.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
            rows = db.execute(f"SELECT * FROM {name}")
            columns = [c[0] for c in rows.description]
            kinds, path = [set() for _ in columns], folder / f"{name}.rows"
            with path.open("w") as out:
                for row in rows:
                    out.write(json.dumps(dict(zip(columns, row))) + "\n")
                    for kind, value in zip(kinds, row):
                        kind.add(type(value))
            types = ["DOUBLE" if float in k else "VARCHAR" if str in k else "BIGINT" for k in kinds]
            fields = ", ".join(f"{c}: '{t}'" for c, t in zip(columns, types))
            self.execute(f"CREATE TABLE {name} AS SELECT * FROM read_json('{path}', format = 'newline_delimited', columns = {{{fields}}})")

    def execute(self, sql, values=()):
        print(json.dumps({"sql": sql, "values": list(values)}), file=self.node.stdin, flush=True)
        said = json.loads(self.node.stdout.readline())
        assert "error" not in said, (sql, said["error"])
        whole = ["INT" in kind for kind in said["types"]]
        self.rows = [tuple(int(v) if w and v is not None else v for w, v in zip(whole, row)) for row in said["rows"]]
        return self

    def __iter__(self):
        return iter(self.rows)

    def fetchall(self):
        return self.rows

    def fetchone(self):
        return self.rows[0]

    def close(self):
        self.node.stdin.close()
        self.node.wait()
        self.node.stdout.close()


class Case(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="gapline-export-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_it(self, *words, status=0):
        done = subprocess.run([GAPLINE, *words], cwd=self.folder, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done

    def export(self, *inputs, to="results.sqlite"):
        self.run_it("export", *inputs, "-o", to, "--force", "-q")
        db = sqlite3.connect(self.folder / to)
        self.addCleanup(db.close)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        if DUCKDB:
            db = DuckDB(db, self.folder)
            self.addCleanup(db.close)
        return db


class Sums(Case):
    def grouped(self, db, sql):
        return {row[:-2]: row[-2:] for row in db.execute(sql, (self.run_number,))}

    def table(self, rows, *keys, time, count, steps):
        """By key: how many, and how long."""
        out = collections.defaultdict(lambda: [0, 0])
        for row in rows:
            at = out[tuple(row[k] for k in keys)]
            at[0] += round(row[count] * steps) if count else 0
            at[1] += ns(row[time], steps)
        return {k: tuple(v) for k, v in out.items()}

    def check(self, path, db, said):
        p = said["profile"]
        ((steps, warmup, found),) = db.execute("SELECT measured_steps, warmup_steps, steps FROM runs WHERE run = ?", (self.run_number,))
        self.assertEqual((warmup, found), (p["steps"]["warmup"], p["runs"][0]["steps"]))
        if p["steps"]["found"]:
            self.assertEqual(steps, p["steps"]["measured"])
        lengths = [ns(ms) for ms in p["runs"][0]["period_ms"]]
        rows = db.execute("SELECT duration_ns, end_ns - start_ns, measured FROM steps WHERE run = ? ORDER BY step", (self.run_number,)).fetchall()
        self.assertEqual([r[0] for r in rows], lengths)
        self.assertEqual([r[1] for r in rows], lengths)
        self.assertEqual(sum(r[2] for r in rows), steps if p["steps"]["found"] else 0)
        for d in p["devices"]:
            parts = db.execute("SELECT window_ns, compute_ns, comm_exposed_ns, copy_exposed_ns, idle_ns FROM devices WHERE run = ? AND device = ?",
                               (self.run_number, d["id"])).fetchone()
            budget = d["per_step"]
            self.assertEqual(parts, (ns(d["window_ms"]), *(ns(budget[k], steps) for k in ("compute", "comm_exposed", "copy_exposed", "idle"))))
            self.assertEqual(parts[0], sum(parts[1:]))
            gaps = db.execute("SELECT cause, phase, coalesce(call, ''), sum(duration_ns) FROM gaps WHERE run = ? AND device = ? GROUP BY 1, 2, 3",
                              (self.run_number, d["id"])).fetchall()
            idle = collections.Counter()
            for row in d["idle"]:
                idle[row["cause"], row["phase"], row["call"] or ""] += ns(row["ms_per_step"], steps)
            self.assertEqual({g[:3]: g[3] for g in gaps}, {k: v for k, v in idle.items() if v})
        measured = "FROM {} WHERE run = ? AND measured = 1 GROUP BY "
        self.assertEqual(self.grouped(db, "SELECT name, kind, count(*), sum(duration_ns) " + measured.format("kernels") + "1, 2"),
                         self.table(p["kernels"], "name", "kind", time="ms_per_step", count="instances_per_step", steps=steps))
        self.assertEqual(self.grouped(db, "SELECT kind, name, pageable, count(*), sum(duration_ns) " + measured.format("copies") + "1, 2, 3"),
                         self.table(p["copies"], "kind", "name", "pageable", time="ms_per_step", count="instances_per_step", steps=steps))
        self.assertEqual(self.grouped(db, "SELECT name, count(*), sum(duration_ns) " + measured.format("calls") + "1"),
                         self.table(p["api"], "name", time="ms_per_step", count="calls_per_step", steps=steps))
        self.assertEqual(self.grouped(db, "SELECT folded, domain, count(*), sum(duration_ns) " + measured.format("ranges") + "1, 2"),
                         self.table(p["nvtx"], "name", "domain", time="host_ms", count="instances_per_step", steps=steps))
        for key, kinds in (("h2d", ("h2d", "um_h2d")), ("d2h", ("d2h", "um_d2h"))):
            (n,) = db.execute(f"SELECT coalesce(sum(bytes), 0) FROM copies WHERE run = ? AND measured = 1 AND kind IN {kinds}", (self.run_number,)).fetchone()
            if p["totals"][f"{key}_bytes_per_step"] is not None:
                self.assertEqual(n, round(p["totals"][f"{key}_bytes_per_step"] * steps))
        phases = db.execute("SELECT phase, rank, cost_ns_per_step, idle_ns_per_step FROM phases WHERE run = ? ORDER BY rank", (self.run_number,)).fetchall()
        self.assertEqual([(name, rank, cost / 1e6, idle / 1e6) for name, rank, cost, idle in phases],
                         [(f["name"], f["rank"], f["cost_ms_per_step"], f["idle_ms_per_step"]) for f in p["phases"]])
        self.assertEqual(db.execute("SELECT finding, ceiling_speedup, text FROM findings WHERE run = ?", (self.run_number,)).fetchall(),
                         [(f["id"], f["ceiling"] and f["ceiling"]["speedup"], f["text"]) for f in said["findings"]])
        facts = db.execute("SELECT fact, severity, params, text FROM facts WHERE run = ?", (self.run_number,)).fetchall()
        self.assertEqual([(f[0], f[1], json.loads(f[2]), f[3]) for f in facts], [(f["id"], f["severity"], f["params"], f["text"]) for f in p["data"]["notes"]])
        return len(gaps)

    def test_are_those_of_the_json(self):
        paths = list(captures(self.folder))
        self.assertGreaterEqual(len(paths), 10)
        db = self.export(*paths)
        for self.run_number, path in enumerate(paths, 1):
            with self.subTest(path.name):
                self.run_it("show", path, "--json", "one.json", "-q")
                self.check(path, db, json.loads((self.folder / "one.json").read_text()))
        self.assertEqual(db.execute("SELECT count(*) FROM runs").fetchone()[0], len(paths))
        # the same rows from a file of its own: numbers do not depend on the other runs
        alone = self.export(paths[4], to="alone.sqlite")
        for view in ("gaps", "kernels", "steps", "calls"):
            sql = f"SELECT start_ns, end_ns, duration_ns FROM {view} WHERE run = ? ORDER BY 1, 2"
            self.assertEqual(alone.execute(sql, (1,)).fetchall(), db.execute(sql, (5,)).fetchall())

    def test_ranks_of_one_run(self):
        ranks = self.folder / "ranks"
        ranks.mkdir()
        for i in range(3):
            tiny_profile.write(ranks / f"rank{i}.sqlite", seed=30 + i, started=1_795_900_000_000_000_000 + i * 50_000)
        db = self.export(ranks, PAIR[0])
        self.assertEqual(db.execute("SELECT run, count(*) FROM devices GROUP BY 1").fetchall(), [(1, 3), (2, 1)])
        self.assertEqual(db.execute("SELECT name, rank FROM files WHERE run = 1 ORDER BY 1").fetchall(), [(f"rank{i}.sqlite", i) for i in range(3)])
        for run, device, idle in db.execute("SELECT run, device, idle_ns FROM devices").fetchall():
            self.assertEqual(db.execute("SELECT sum(duration_ns) FROM gaps WHERE run = ? AND device = ?", (run, device)).fetchone(), (idle,))
        db = self.export(ranks, to="repeats.sqlite")
        self.run_it("export", ranks, "-o", "repeats.sqlite", "--force", "--files-are", "repeats")
        self.assertEqual(sqlite3.connect(self.folder / "repeats.sqlite").execute("SELECT count(*) FROM runs").fetchone(), (3,))

    def test_launches_and_gaps(self):
        db = self.export(PAIR[0])
        self.assertEqual(db.execute("SELECT count(*) FROM kernels k JOIN calls c ON c.id = k.launch WHERE k.start_ns < c.start_ns").fetchone(), (0,))
        self.assertEqual(db.execute("SELECT count(*) FROM kernels WHERE launch IS NULL").fetchone(), (0,))
        # a gap's pieces touch, and two gaps do not
        rows = db.execute("SELECT gap, start_ns, end_ns FROM gaps ORDER BY start_ns").fetchall()
        for (g, _, end), (h, start, _) in zip(rows, rows[1:]):
            self.assertEqual(h - g, 0 if start == end else 1)


class Questions(Case):
    def test_each_has_an_answer(self):
        db = self.export(*PAIR)
        questions = re.findall(r"^\*\*(\d+)\. .*?```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
        self.assertEqual([int(n) for n, _ in questions], list(range(1, 11)))
        answers = {int(n): db.execute(sql).fetchall() for n, sql in questions}
        for n, rows in answers.items():
            self.assertTrue(rows, n)
            self.assertFalse(any(v is None for row in rows for v in row), (n, rows))
            shell = subprocess.run(["sqlite3", self.folder / "results.sqlite", dict(questions)[str(n)]], capture_output=True, text=True, check=True)
            self.assertEqual(len(shell.stdout.splitlines()), len(rows), n)
        self.assertAlmostEqual(sum(answers[1][0][1:]), 100)
        self.assertEqual(answers[2][0][1:3], ("host_code", "data_load"))
        self.assertEqual(answers[10][0][0], "host_code")

    def test_the_page_lists_the_columns(self):
        db = self.export(PAIR[0])
        rows = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", PAGE, re.MULTILINE))
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE '%\\_events' ESCAPE '\\'")}
        self.assertEqual(set(rows), there)
        for name, text in rows.items():
            text = text.replace("as `kernels`", rows["kernels"].replace("`blocks`", ""))
            columns = [c[1] for c in db.execute(f"PRAGMA table_info({name})")]
            words = re.findall(r"`([a-z_]+)`", text)
            self.assertEqual([c for c in columns if c not in words], [], name)

    def test_schema_number(self):
        db = self.export(PAIR[0])
        self.assertEqual(dict(db.execute("SELECT key, value FROM export"))["schema"], "gapline-export/1")
        self.assertEqual(db.execute("PRAGMA user_version").fetchone(), (1,))
        self.assertIn("`gapline-export/1`", PAGE)


class Files(Case):
    def test_same_bytes(self):
        for name in ("a", "b"):
            self.run_it("export", *PAIR, "-o", name)
        self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes())
        self.assertEqual(self.run_it("export", *PAIR, "-o", "-").stdout, (self.folder / "a").read_bytes())

    def test_what_is_there_stays(self):
        (self.folder / "there").write_text("mine")
        self.run_it("export", PAIR[0], "-o", "there", status=2)
        self.assertEqual((self.folder / "there").read_text(), "mine")
        profile = self.folder / "run.sqlite"
        profile.write_bytes(gzip.decompress(PAIR[0].read_bytes()))
        self.run_it("export", "run.sqlite", "-o", "run.sqlite", "--force", status=2)
        self.run_it("export", "run.sqlite", "-o", "x", "--json", "run.sqlite", status=2)
        self.run_it("export", "run.sqlite", "-o", "x", "--json", "x", status=2)
        self.assertEqual(profile.read_bytes(), gzip.decompress(PAIR[0].read_bytes()))

    def test_no_half_file(self):
        (self.folder / "cut.gz").write_bytes(PAIR[1].read_bytes()[:9000])
        tiny_profile.write(self.folder / "no-gpu.sqlite", kernels=0)
        for bad, status in (("cut.gz", 3), ("nothing", 3), ("no-gpu.sqlite", 3)):
            self.run_it("export", PAIR[0], bad, "-o", "x", status=status)
        self.run_it("export", PAIR[0], "-o", "x", "--step", "nothing", status=2)
        self.run_it("export", PAIR[0], "-o", "x", "--warmup", "1000", status=2)
        self.run_it("export", PAIR[0], "-o", "no/x", status=2)
        if b"__asan_init" not in pathlib.Path(GAPLINE).read_bytes():  # AddressSanitizer itself needs more
            self.run_it("export", *PAIR, "-o", "x", "--memory-limit", "1M", status=2)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["cut.gz", "no-gpu.sqlite"])
        if pathlib.Path("/dev/full").exists():
            self.run_it("export", PAIR[0], "-o", "/dev/full", status=2)

    def test_hostile_names(self):
        path = self.folder / "hostile.sqlite"
        path.write_bytes(gzip.decompress(PAIR[0].read_bytes()))
        bad = "x'); DROP TABLE runs; --\x1b[31m\n"
        with sqlite3.connect(path) as db:
            db.execute("UPDATE StringIds SET value = ? || value || ? WHERE value LIKE '%data%' OR value LIKE '%gemm%' OR value LIKE '%cuda%'", (bad, "x" * 5000))
            db.execute("UPDATE NVTX_EVENTS SET text = ? || text WHERE text IS NOT NULL", (bad,))
        db.close()
        name = os.fsdecode(b"na\xffme\x1b[31m'.sqlite")
        path.rename(self.folder / name)
        db = self.export(name)
        texts = [t for (t,) in db.execute("SELECT text FROM names")] + [t for (t,) in db.execute("SELECT name FROM runs")]
        self.assertTrue(any("DROP TABLE" in t for t in texts))
        self.assertFalse([t for t in texts if re.search(r"[\x00-\x1f\x7f]", t)])
        self.assertEqual(db.execute("SELECT count(*) FROM runs").fetchone(), (1,))


if __name__ == "__main__":
    GAPLINE = os.path.abspath(sys.argv.pop(1))
    DUCKDB = sys.argv[1:] == ["--duckdb"]
    if DUCKDB and not (shutil.which("node") and (ROOT / "tests/long/duckdb/node_modules").is_dir()):
        print("skipped: needs node and tests/long/duckdb/node_modules (npm ci --prefix tests/long/duckdb)")
        sys.exit(77)
    sys.argv[1:] = ["Sums", "Questions.test_each_has_an_answer"] if DUCKDB else []
    unittest.main(verbosity=0)
