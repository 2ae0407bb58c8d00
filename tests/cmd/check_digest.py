#!/usr/bin/env python3
"""A digest says what its profile says.

    check_digest.py GAPLINE

Makes digests of the examples, of made-up jobs of many ranks, and of the recorded captures beside the repository where
there are any, and compares the whole result of a report with what is said of the profiles. Only the names of files may
differ. What is in a digest is taken apart by docs/reference/digest.md (support/digest_file.py) and compared with the rows of the
profile, asked for in SQL. In CI (support/amount.py) a third of the recorded pairs, and memory where a range is the step and
where none is.
"""
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import digest_file
import facts
import tiny_job
import tiny_profile
import tiny_samples
from amount import ALL, some
from check_ranks import split

ROOT = HERE.parents[1]
GAPLINE = sys.argv[1]
CAPTURES = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))


def run(*words, status=0):
    done = subprocess.run([GAPLINE, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stderr


def report(folder, baseline, fixed, *options):
    out = folder / "out.json"
    sides = [word for side, files in (("--baseline", baseline), ("--fixed", fixed)) for f in files for word in (side, f)]
    run("report", *sides, "--json", out, "-q", "--all-ranks", *options)
    return json.loads(out.read_text(), object_hook=facts.text)


def digest(folder, files, name):
    made = []
    for i, f in enumerate(files):
        made.append(folder / f"{name}-{i}.digest")
        run("digest", f, "-o", made[-1], "-q", "--force")
    return made


def without_names(result):
    """What is said of files: which they are, and nothing else. Notes name them, too."""
    for side in "baseline", "fixed":
        names = {f.pop("file") for f in result[side]["files"] + result[side]["runs"]}
        notes = result[side]["data"]["notes"]
        for name in names:
            notes = [note.replace(name, "FILE") for note in notes]
        result[side]["data"]["notes"] = notes
    return result


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in {**a, **b} for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if type(a) is type(b) and a == b else [f"{path}: {str(a)[:80]} / {str(b)[:80]}"]


def without_stacks(folder, files):
    """Copies that lack what a digest does not hold: samples of threads' stacks. Files without any are left alone."""
    made = []
    for f in files:
        with contextlib.closing(sqlite3.connect(f)) as db:
            stacks = {"COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS"} & {r[0] for r in db.execute("SELECT name FROM sqlite_master")}
            held = stacks and db.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone()[0]
        made.append(folder / f"without-stacks-{f.name}" if held else f)
        if held:
            shutil.copyfile(f, made[-1])
            with contextlib.closing(sqlite3.connect(made[-1])) as db:
                for table in stacks:
                    db.execute(f"DELETE FROM {table}")
                db.commit()
    return made


def compare(what, folder, baseline, fixed, *options, stacks=None):
    """The report of profiles beside the report of their digests, and of profiles against digests; these are made of
    the pair `stacks`, if it is given."""
    whole = report(folder, baseline, fixed, *options)
    if len(baseline) > 1:  # --perfetto needs all rows at once, else those of ranks come one rank after the other
        found = differences(whole, report(folder, baseline, fixed, "--perfetto", folder / "both.json", *options))
        if found:
            sys.exit(f"{what}: {len(found)} differences between rows that are held and rows that are not:\n" + "\n".join(found[:20]))
    small = [digest(folder, files, f"{side}") for side, files in zip(("baseline", "fixed"), stacks or (baseline, fixed))]
    for sides in (small[0], small[1]), (baseline, small[1]):
        found = differences(without_names(whole) if sides[0] is small[0] else whole,
                            without_names(report(folder, *sides, *options)))
        if found:
            sys.exit(f"{what}: {len(found)} differences between profiles and digests:\n" + "\n".join(found[:20]))
    sizes = [sum(f.stat().st_size for f in files) for files in (baseline + fixed, small[0] + small[1])]
    print(f"{what}: the same, {sizes[0]} bytes and {sizes[1]}")
    return whole, small


def check_rows(profile, made):
    """Kernels, calls and ranges with the names and times that SQL gives."""
    found = digest_file.sections(digest_file.unpack(made.read_bytes()))
    names = digest_file.names(found)
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as plain:
        plain.write(digest_file.unpack(profile.read_bytes()))
        plain.flush()
        db = sqlite3.connect(plain.name)
        kernels = sorted(db.execute("SELECT start, end, value, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL "
                                    "JOIN StringIds ON id = demangledName").fetchall())
        calls = sorted(db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall())
        ranges = sorted(db.execute("SELECT start, end, coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds "
                                   "ON id = textId WHERE eventType IN (59, 60) AND end IS NOT NULL").fetchall())
        db.close()
    ops = [r for r in digest_file.rows(found, "ops") if r["kind"] < 2]
    assert kernels and kernels == sorted((r["start"], r["end"], names[r["name"]], r["stream"]) for r in ops)
    assert calls == sorted((r["start"], r["end"]) for r in digest_file.rows(found, "calls"))
    assert ranges == sorted((r["start"], r["end"], names[r["name"]]) for r in digest_file.rows(found, "ranges"))
    print(f"{profile.name}: {len(kernels)} kernels, {len(calls)} calls and {len(ranges)} ranges as SQL gives them")


def check_examples(folder):
    step = ROOT / "examples" / "training-step"
    sides = [[step / f"{side}.sqlite.gz"] for side in ("baseline", "fixed")]
    _, small = compare("training-step", folder, *sides)
    check_rows(sides[0][0], small[0][0])
    assert sum(f.stat().st_size for f in small[0] + small[1]) < 80_000
    compare("training-step, another step", folder, *sides, "--step", "none")
    compare("three runs a side", folder, *[sorted((step / "runs").glob(f"{side}-*.sqlite.gz")) for side in ("baseline", "fixed")])
    for packed in some(sorted((ROOT / "examples" / "truth").glob("*/captures.tar.xz")), 3):
        inside = folder / packed.parent.name
        inside.mkdir()
        subprocess.run(["tar", "-xJf", packed, "-C", inside], check=True)
        sides = [sorted(f for f in inside.rglob("*.sqlite*") if f.name.startswith(side)) for side in ("baseline", "fixed")]
        if all(sides):
            compare(packed.parent.name, folder, *[without_stacks(folder, files) for files in sides], stacks=sides)


def check_jobs(folder):
    """64 ranks a side, rank 37 computes longer in `backward`: named, and the same of files, of digests, and of a digest
    for each node of eight."""
    sides = [tiny_job.write(folder / side, ranks=64, slow=37, seed=seed) for side, seed in (("baseline", 1), ("fixed", 2))]
    whole, small = compare("64 ranks", folder, *sides)
    straggler = whole["baseline"]["ranks"]["straggler"]
    assert straggler["kind"] == "persistent" and whole["baseline"]["devices"][straggler["device"]]["rank"] == 37, straggler
    assert straggler["longer"]["phase"] == "backward", straggler
    nodes = []
    for side, files in zip(("baseline", "fixed"), sides):
        nodes.append([folder / f"{side}-node-{n}.digest" for n in range(8)])
        for n, node in enumerate(nodes[-1]):
            run("digest", *files[8 * n : 8 * n + 8], "-o", node, "-q")
    again = report(folder, *nodes)
    for result in whole, again:
        for side in "baseline", "fixed":
            for said in "files", "files_are", "runs", "data":
                result[side].pop(said)
            for clock in result[side]["ranks"]["clocks"]:
                clock.pop("files")
    said = run("digest", *sides[0], "-o", folder / "all.digest", status=2)
    assert "8 hosts" in said and not (folder / "all.digest").exists(), said
    found = differences(whole, again)
    assert not found, found[:20]
    for name, ranges in ("phases", ("forward", "backward")), ("one phase", ("forward",)), ("unmarked", ()):
        sides = [tiny_job.write(folder / f"{name}-{side}", ranks=12, slow=slow, seed=seed, ranges=ranges, ahead=3_000_000)
                 for side, seed, slow in (("baseline", 3, 5), ("fixed", 4, None))]
        found, _ = compare(name, folder, *sides)
        straggler = found["baseline"]["ranks"]["straggler"]
        assert found["baseline"]["devices"][straggler["device"]]["rank"] == 5, straggler
        assert found["baseline"]["steps"]["origin"] == "pattern", found["baseline"]["steps"]
    print(f"a digest a node: the same; {small[0][0].stat().st_size} bytes a rank, {nodes[0][0].stat().st_size} a node")


def peak(*words):
    """Bytes that the command had at most, on one processor: on several, which ranks are held at a time is chance. What
    starts a process counts as its own until then, so it should be small."""
    start = "import os, sys\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\npid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n_, status, used = os.wait4(pid, 0)\nprint(status, used.ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", start, GAPLINE, *map(str, words)], capture_output=True, text=True, check=True)
    status, used = map(int, done.stdout.split())
    assert status == 0, (words, done.stderr)
    return used * 1024


def add_samples(files, interval):
    """Of threads, in nsys's tables: `forward` is where data are loaded."""
    for i, file in enumerate(files):
        with contextlib.closing(sqlite3.connect(file)) as db:
            db.execute("UPDATE NVTX_EVENTS SET text = 'data_load' WHERE text = 'forward'")
            db.commit()
        functions = [("read_file > fread", "/usr/lib/libc.so.6", 5_000), ("parse", "/opt/acme/data.so", 4_000 + 100 * i)]
        tiny_samples.add(file, functions, interval=interval + i)


def check_samples(folder):
    """Samples of ranks are held; the rows that they are looked at with are not, and the same is said."""
    sides = [tiny_job.write(folder / f"sampled-{side}", ranks=6, steps=30, slow=2, seed=seed) for side, seed in (("baseline", 5), ("fixed", 6))]
    for files in sides:
        add_samples(files, 4_000)
    whole = report(folder, *sides, "--perfetto", folder / "sampled.trace")
    found = differences(whole, report(folder, *sides))
    assert not found, found[:20]
    assert whole["functions"]["sampling"]["baseline"]["in_idle"] > 100, whole["functions"]["sampling"]


def check_memory(folder):
    """The rows of 64 ranks are not held all at once, whether a range is the step or what repeats, with samples and
    without, or the step is named; a trace event by event needs them all, and is what it is held against."""
    needs, marked, jobs = [], ("step", "forward", "backward", "optimizer"), {}
    for name, ranges, asked in (("long", marked, ()), ("named", marked, ("--step", "step")), ("unmarked", (), ()),
                                ("loop", (), ("--loop", "backward_gemm")), ("long and sampled", marked, ())):
        if not ALL and name not in ("long", "unmarked"):
            continue
        if ranges not in jobs:
            jobs[ranges] = tiny_job.write(folder / name, ranks=64, steps=150, layers=8, slow=5, ranges=ranges)
        files = jobs[ranges]
        if name.endswith("sampled"):
            add_samples(files, 2_000_000)
        sides = [word for side in ("--baseline", "--fixed") for f in files for word in (side, f)]
        out = ["-o", folder / f"{name}.html", "-q", *asked]
        one, held = peak("report", *sides, *out), peak("report", *sides, *out, "--perfetto", folder / f"{name}.trace")
        print(f"64 ranks, {sum(f.stat().st_size for f in files)} bytes, {name}: {one} bytes of memory, with all rows held {held}")
        assert one < 0.6 * held, (name, one, held)
        needs.append(one)
    assert max(needs) < 1.15 * needs[0], needs


def check_captures(folder):
    for name, ending in (("torch-dataloader", "sqlite.gz"), ("kineto-dataloader", "json.gz"), ("ddp-2gpu", "sqlite.gz")):
        compare(name, folder, *[[CAPTURES / name / f"{side}.{ending}"] for side in ("baseline", "fixed")])
    compare("gpu-metrics", folder, [CAPTURES / "gpu-metrics" / "pinned-prefetch-baseline.sqlite.gz"],
            [CAPTURES / "pinned-prefetch" / "fixed.sqlite.gz"])
    parts = []
    for side in "baseline", "fixed":
        (folder / f"parts-{side}").mkdir()
        parts.append(split(CAPTURES / "ddp-2gpu" / f"{side}.sqlite.gz", folder / f"parts-{side}", 1_000_000)[1])
    compare("ddp-2gpu, a file a process", folder, *parts)


def check_errors(folder):
    """Each says the file, what is wrong, and what to do."""
    tiny_profile.write(folder / "tiny.sqlite", steps=12)
    tiny_profile.write(folder / "later.sqlite", steps=12, seed=3)
    good = folder / "tiny.digest"
    run("digest", folder / "tiny.sqlite", "-o", good)
    data = digest_file.unpack(good.read_bytes())
    found = digest_file.sections(data)
    (folder / "plain.digest").write_bytes(data)
    run("show", folder / "plain.digest", "-q")
    (folder / "more.digest").write_bytes(digest_file.write({"of a later version": b"\0", **found}))
    run("show", folder / "more.digest", "-q")
    (folder / "by-hand.digest").write_bytes(digest_file.write(digest_file.small()))
    by_hand = report(folder, [folder / "by-hand.digest"], [good], "--step", "step")["baseline"]
    assert by_hand["steps"]["name"] == "step" and by_hand["runs"][0]["steps"] == 12, by_hand["steps"]
    assert by_hand["devices"][0]["rank"] == 3 and by_hand["data"]["diagnostics"], by_hand["devices"]
    (folder / "memory.digest").write_bytes(digest_file.write({**found, "memory": b"\1\x64"}))
    peaks = report(folder, [folder / "memory.digest"], [good], "--step", "step")
    assert [peaks[side]["memory"]["peak_bytes"] for side in ("baseline", "fixed")] == [50, None], peaks["baseline"]
    bad = {
        "is cut off: this digest has no end": data[:-30],
        "of another version": data.replace(b"digest 1", b"digest 2", 1),
        "of another version (this": b"gapline digest 12\n",
        "the checksum of this digest differs": data[:200] + bytes([data[200] ^ 1]) + data[201:],
        "'ops.start' of this digest": digest_file.write({**found, "ops.start": found["ops.start"][:-1]}),
        "'ops.device' of this digest": digest_file.write({**found, "ops.device": b"\x02" + found["ops.device"][1:]}),
        "'ops.length' of this digest": digest_file.write({**found, "ops.length": b"\x01" + b"\0" * 59}),
        "'threads' of this digest": digest_file.write({**found, "threads": b"\x02\x09\x00"}),
        "'metrics' of this digest": digest_file.write({**digest_file.small(), "metrics": b"\x01\x7f"}),
        "'metrics.tensor' of this digest": digest_file.write({**digest_file.small(), "metrics.tensor": b"\0" * 23}),
        "'names' of this digest": digest_file.write({**found, "names": b"\x09a"}),
        "holds no GPU work": digest_file.write({k: v for k, v in found.items() if not k.startswith("ops.")}),
    }
    # no such state; a peak where none is known; a negative one; half a device; one that is not there
    memory = [b"\x08\0", b"\6\2", b"\2\2", b"\1\1", b"\1", b"\1\2\1\2"]
    whole = good.read_bytes()
    longer = [data + b"m", data + data, whole + b"\0", whole + b"\x1f\0", whole + gzip.compress(b"more")]
    level = dict(device=0, start=10, end=30, bytes=5)
    for word, other in ("start", dict(start=29)), ("device", dict(device=1)), ("bytes", dict(bytes=-1)):
        rows = digest_file.columns("levels", [level, {**level, "start": 30, "end": 40, **other}])
        bad[f"'levels.{word}' of this digest"] = digest_file.write({**found, **rows})
    bad = [*bad.items(), *(("more behind the end", m) for m in longer), *(("'memory' of this digest", digest_file.write({**found, "memory": m})) for m in memory)]
    for i, (words, changed) in enumerate(bad):
        path = folder / f"bad-{i}.digest"
        path.write_bytes(changed)
        said = run("show", path, "-q", status=3)
        assert words in said and str(path) in said, (words, said)
    said = run("stats", good, "--report", "cuda_gpu_kern_sum", status=3)
    assert "is a digest" in said, said
    said = run("digest", folder / "tiny.sqlite", folder / "later.sqlite", "-o", folder / "two.digest", status=2)
    assert "2 runs" in said and not (folder / "two.digest").exists(), said
    said = run("digest", good, "-o", good, "--force", status=2)
    assert "replace the input" in said, said
    run("digest", good, "-o", folder / "again.digest")
    assert (folder / "again.digest").read_bytes() == good.read_bytes(), "a digest of a digest is another one"
    print(f"{len(bad)} damaged digests and 3 uses that are wrong are refused in words")


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-digest-") as name:
        folder = pathlib.Path(name)
        check_errors(folder)
        check_jobs(folder)
        check_samples(folder)
        check_memory(folder)
        check_examples(folder)
        if CAPTURES.is_dir():
            check_captures(folder)
        else:
            print("no captures here: those were not compared")


main()
