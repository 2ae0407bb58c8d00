#!/usr/bin/env python3
"""Runs the fuzz targets on their corpora, and on small profiles, digests, spools and names damaged in many ways: an answer or an
error, never a crash.

    check_fuzz.py TIMES FUZZ_TARGET...

TIMES is how much there is of every kind of damage: 1 takes half a minute of a processor, 20 takes seven, four times that with
sanitizers. As many targets run at once as there are processors.

The damage is the same on every machine: bytes changed in headers and cells, pages overwritten, swapped, cut off, and
values of the rows themselves set to extremes, which SQLite finds nothing wrong with; and what mutators that know a format
(mutate_*.c) make of every file of a corpus. The corpora, corpus/NAME.tar.xz, are what libFuzzer kept: see docs/method/fuzzing.md.
"""

import gzip
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import digest_file
import tiny_kineto
import tiny_ncu
import tiny_profile
import tiny_samples
import tiny_spool
import tiny_store

import corpus as kept
import seeds as corpora

TESTS = pathlib.Path(__file__).resolve().parent.parent
EXTREMES = ["NULL", "-1", "0", "9223372036854775807", "-9223372036854775808", "4294967296", "1e308", "'text'", "x'00ff'"]
JSON_EXTREMES = ["null", "-1", "0", "1e999", "-1e18", "9223372036854775807", "99999999999999999999", '""', '"x"', "[]", "{}",
                 '"\\u0000\\ud800"', '{"a": [1]}', "true", '"ProfilerStep#1"', '"cpu_op"', '"kernel"', '"s"', '"M"',
                 "4320554080664.123456789"]
TIMES = int(sys.argv[1])
BYTES_CHANGED = 6 * TIMES
FILES_AT_ONCE = 4000
PAGES_CHANGED = 4 * TIMES
SPOOLS = 20 * TIMES  # of each way to damage them
NAMES = 150 * TIMES
DIGESTS = 30 * TIMES  # of each way to damage them
MUTATIONS = 6 * TIMES  # of every seed, where its target has a mutator
# Each column of one file takes every extreme; the other layouts that are named have the other columns.
VALUES_IN = ("tiny", "metrics", "layout_2020", "layout_2026") if TIMES > 1 else ("layout_2026",)
# Where TIMES is 1, the targets of profiles share the extremes of every column: a third each, and one of a column for those that
# take longest. They share the corpus of profiles, too: what the pipeline leaves out is at least read.
VALUES_SHARED = {"fuzz_pipeline": (0, 9), "fuzz_scrub": (1, 9), "fuzz_reader": (2, 3), "fuzz_stats": (1, 3)}
CORPUS_SHARED = {"fuzz_pipeline": (0, 2), "fuzz_scrub": (0, 3), "fuzz_reader": (1, 2), "fuzz_stats": (0, 3)}
# Of "metrics" only these tables, where TIMES is 1.
METRICS = ("GPU_METRICS", "GENERIC_EVENTS", "TARGET_INFO_GPU_METRICS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS")


def seeds(folder):
    tiny_profile.write(folder / "tiny.sqlite", steps=12)
    tiny_profile.write(folder / "metrics.sqlite", steps=12)
    corpora.write_metrics(folder / "metrics.sqlite")
    tiny_samples.add(folder / "metrics.sqlite", [("parse", "/opt/acme/lib/libdata.so", 10**6)])
    for layout in sorted((TESTS / "read/profiles").glob("layout_*.sql")):
        corpora.write_layout(folder / f"{layout.stem}.sqlite", layout)
    for spelling in tiny_kineto.SPELLINGS:
        tiny_kineto.write(folder / f"kineto_{spelling}.json", steps=8, kernels=6, spelling=spelling)
    return sorted([*folder.glob("*.sqlite"), *folder.glob("*.json")])


def damage_spool(folder, random):
    """Spools with bytes changed, numbers at their ends, blocks left out and blocks in another order."""
    data = tiny_spool.spool()
    (folder / "whole").write_bytes(data)
    for i in range(SPOOLS):
        changed = bytearray(data)
        for _ in range(1 + next(random) % 6):
            at = next(random) % len(changed)
            if next(random) % 2:
                changed[at] = next(random) % 256
            else:
                at -= at % 4
                number = next(random) % 3 * 0x7FFFFFFF + next(random) % 3
                changed[at : at + 4] = (number & 0xFFFFFFFF).to_bytes(4, "little")
        (folder / f"bytes-{i}").write_bytes(changed)
    blocks, at = [], 48
    while at < len(data):
        size = 16 + (int.from_bytes(data[at + 8 : at + 16], "little") + 7) // 8 * 8
        blocks.append(data[at : at + size])
        at += size
    for i in range(SPOOLS):
        mixed = [blocks[next(random) % len(blocks)] for _ in range(len(blocks) + 4)]
        (folder / f"blocks-{i}").write_bytes(data[:48] + b"".join(mixed))


def damage_digest(folder, random):
    """Digests with bytes changed, sections left out, doubled, cut off and exchanged, numbers at their ends."""
    found = digest_file.small()
    whole = digest_file.write(found)
    (folder / "whole").write_bytes(whole)
    ends = [digest_file.number(n) for n in (0, 1, 2, 0xFFFFFFFF, 1 << 32, 1 << 61, (1 << 64) - 1, (1 << 64) - 2, (1 << 70) - 1)]
    names = list(found)
    for i in range(DIGESTS):
        changed = {k: bytearray(v) for k, v in found.items()}
        for _ in range(1 + next(random) % 4):
            inside = changed[names[next(random) % len(names)]]
            if inside:
                inside[next(random) % len(inside)] ^= 1 << next(random) % 8
        (folder / f"bytes-{i}").write_bytes(digest_file.write(changed))
        changed = {k: bytearray(v) for k, v in found.items()}
        for _ in range(1 + next(random) % 3):
            inside = changed[names[next(random) % len(names)]]
            starts = [0] + [k + 1 for k, byte in enumerate(inside[:-1]) if byte < 128]
            at = starts[next(random) % len(starts)]
            end = at
            while end < len(inside) and inside[end] > 127:
                end += 1
            inside[at : end + 1] = ends[next(random) % len(ends)]
        (folder / f"numbers-{i}").write_bytes(digest_file.write(changed))
        changed = dict(found)
        a, b = names[next(random) % len(names)], names[next(random) % len(names)]
        if i % 4 == 0:
            del changed[a]
        elif i % 4 == 1:
            changed[a], changed[b] = changed[b], changed[a]
        elif i % 4 == 2:
            changed[a] = changed[a][: next(random) % (len(changed[a]) + 1)]
        else:
            changed[a] = changed[a] * (1 + next(random) % 3)
        (folder / f"sections-{i}").write_bytes(digest_file.write(changed))
        torn = bytearray(whole)
        torn[next(random) % len(torn)] = next(random) % 256
        (folder / f"torn-{i}").write_bytes(torn[: len(torn) - (next(random) % len(torn) if i % 2 else 0)])


def damage_seeds(folder, random, make, ends):
    """Files of `make` with bytes changed, `ends` in their places, pieces left out and doubled, cut off."""
    seeds = folder / "seeds"
    seeds.mkdir()
    make(seeds)
    for seed in sorted(seeds.iterdir()):
        whole = seed.read_bytes()
        for i in range(3 * DIGESTS if len(whole) < 50_000 else TIMES):
            changed = bytearray(whole)
            for _ in range(1 + next(random) % 4):
                changed[next(random) % len(changed)] = (0, 1, 127, 255, next(random) % 256)[next(random) % 5]
            (folder / f"{seed.name}-bytes-{i}").write_bytes(changed)
            changed = bytearray(whole)
            at = next(random) % len(changed)
            end = ends[next(random) % len(ends)]
            changed[at : at + len(end)] = end
            (folder / f"{seed.name}-ends-{i}").write_bytes(changed)
            if i % 4 == 0:
                piece = next(random) % 200
                (folder / f"{seed.name}-pieces-{i}").write_bytes(whole[:at] + whole[at : at + piece] * (next(random) % 3) + whole[at + piece :])
                (folder / f"{seed.name}-cut-{i}").write_bytes(whole[:at])
        shutil.copy(seed, folder / f"{seed.name}-whole")
    shutil.rmtree(seeds)


def damage_names(folder, random):
    """Mangled names, without their "_Z", with pieces of others in them, and with pieces repeated."""
    names = [line.split(b"\t")[0][2:] for line in (TESTS / "capture/kernel_names.tsv").read_bytes().splitlines()]
    for i in range(NAMES):
        name, other = names[next(random) % len(names)], names[next(random) % len(names)]
        for _ in range(1 + next(random) % 4):
            at, begin = next(random) % (len(name) + 1), next(random) % (len(other) + 1)
            piece = other[begin : begin + next(random) % 12] * (1 if next(random) % 4 else next(random) % 2000)
            name = name[:at] + piece + name[at + next(random) % 4 :]
        (folder / f"name-{i}").write_bytes(name)


def damage_store(folder, random):
    """Stores with bytes and pages changed, and values of their rows set to extremes."""
    digest = digest_file.write(digest_file.small())
    seed = folder / "store.db"
    tiny_store.write(seed, [("main", [digest, digest[:-9]]), ("old", [digest])], [("1a2b", 5, [digest]), ("3c4d", 6, [digest])])
    for _ in range(5):
        part = folder / f"{next(random)}"
        part.mkdir()
        damage_bytes(part, seed, random)
        for path in part.iterdir():
            path.rename(folder / f"{part.name}-{path.name}")
        part.rmdir()
    damage_values(folder, seed)


def damage_reports(folder, random):
    """CSV files of Nsight Compute with bytes and fields changed, cut anywhere."""
    launch = {"name": "gemm(float *)", "grid": (8, 1, 1), "block": (128, 1, 1), "duration": 100250, "sm": 91.25, "memory": 40.5, "rate": 4e11,
              "stalls": {"wait": 3.5, "long_scoreboard": 1.25}, "rules": [("Look \"here\", please", 12.5)]}
    odd = ['"', ",", '""', "\n", "n/a", "-1", "1e999", "1.2.3,4", "99999999999999999999", "\0", "Gbyte/", "/second", "%", "ID", "(", "\u202f", "x" * 70000]
    for page in "raw", "details":
        for locale in "en", "fr":
            tiny_ncu.write(folder / f"{page}-{locale}", [launch, dict(launch, name="relu()")] * 3, page, locale)
            data = (folder / f"{page}-{locale}").read_text(encoding="utf-8")
            for i in range(30 * TIMES):
                changed = data
                for _ in range(1 + next(random) % 5):
                    at = next(random) % len(changed)
                    changed = changed[:at] + odd[next(random) % len(odd)] + changed[at + next(random) % 30 :]
                (folder / f"{page}-{locale}-odd-{i}").write_text(changed, encoding="utf-8")
                (folder / f"{page}-{locale}-cut-{i}").write_text(data[: next(random) % len(data)], encoding="utf-8")


def run_all(target, files, what, *options):
    """Whether the target survives the files; says how it ended if not. A command takes only so many words."""
    files, well = list(files), True
    for begin in range(0, len(files), FILES_AT_ONCE):
        some = files[begin : begin + FILES_AT_ONCE]
        done = subprocess.run([target, *options, *some], capture_output=True, timeout=1000 * TIMES)
        if done.returncode:
            well = False
            said = done.stderr.decode("utf-8", "replace").splitlines()
            files_named = [line for line in said if line.startswith(tempfile.gettempdir()) or line.startswith(str(TESTS))]
            print(f"{target.name}, {what}: status {done.returncode} at {(files_named or ['?'])[-1]}")
            print("\n".join(line for line in said if line not in files_named)[-6000:])
    return well


def damage_bytes(folder, seed, random):
    data = seed.read_bytes()
    for i in range(BYTES_CHANGED):
        changed = bytearray(data)
        for _ in range(1 + next(random) % 8):
            # half of the changes in the first pages, where the structure is
            reach = len(changed) if next(random) % 2 else min(len(changed), 8192)
            changed[next(random) % reach] = next(random) % 256
        (folder / f"{seed.stem}-bytes-{i}").write_bytes(changed)
    for i in range(PAGES_CHANGED):
        pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        a, b = next(random) % len(pages), next(random) % len(pages)
        kind = i % 4
        if kind == 0:
            pages[a] = bytes([next(random) % 256]) * 4096
        elif kind == 1:
            pages[a], pages[b] = pages[b], pages[a]
        elif kind == 2:
            pages[a] = pages[b]
        else:
            pages = pages[: max(a, 1)]
        (folder / f"{seed.stem}-pages-{i}").write_bytes(b"".join(pages))
    packed = gzip.compress(data, mtime=0)
    for i in range(2 * TIMES):
        changed = bytearray(packed)
        changed[next(random) % len(changed)] ^= 1 + next(random) % 255
        (folder / f"{seed.stem}-gzip-{i}").write_bytes(changed[: len(changed) - (next(random) % 50 if i % 2 else 0)])


def damage_values(folder, seed, only=()):
    """Every column of every table (of `only`, if any are named), in turn, set to an extreme in every third row."""
    db = sqlite3.connect(seed)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    tables = [table for table in tables if table in only] if only else tables
    columns = [(t, row[1]) for t in tables for row in db.execute(f'PRAGMA table_info("{t}")')]
    db.close()
    data = seed.read_bytes()
    for i, (table, column) in enumerate(columns):
        for j, value in enumerate(EXTREMES):
            path = folder / f"{seed.stem}-value-{i}-{j}"
            path.write_bytes(data)
            db = sqlite3.connect(path)
            db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
            try:
                db.execute(f'UPDATE "{table}" SET "{column}" = {value} WHERE rowid % 3 = 0')
                db.commit()
            except sqlite3.Error:
                path.unlink()  # the column forbids this value
            finally:
                db.close()


def damage_tables(folder, seed):
    """Each table in turn cannot be read: a view of itself, which is refused where its first row is asked for."""
    data = seed.read_bytes()
    db = sqlite3.connect(seed)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    db.close()
    for i, table in enumerate(tables):
        path = folder / f"{seed.stem}-view-{i}"
        path.write_bytes(data)
        db = sqlite3.connect(path)
        db.executescript(f'PRAGMA synchronous = OFF; ALTER TABLE "{table}" RENAME TO behind; CREATE VIEW "{table}" AS SELECT * FROM behind')
        db.close()


def is_left_out(path, target):
    """All but the target's share of a column's values; of the next column it is another one."""
    value, (at, every) = re.fullmatch(r".*-value-(\d+)-(\d+)", path.name), VALUES_SHARED.get(target, (0, 1))
    return bool(value) and (int(value[1]) + int(value[2])) % every != at


def damage_json(folder, seed, random):
    """Values of a trace set to extremes, pieces left out, doubled and nested, the file cut anywhere."""
    data = seed.read_text(encoding="utf-8", errors="surrogateescape")
    values = list(re.finditer(r'(?<=: )("[^"]*"|-?[0-9.]+|\[[^\[\]{}]*\])', data))
    for i in range(10 * TIMES if values else 0):
        changed, n = data, 1 + next(random) % 6
        for value in sorted((values[next(random) % len(values)] for _ in range(n)), key=lambda v: -v.start()):
            changed = changed[: value.start()] + JSON_EXTREMES[next(random) % len(JSON_EXTREMES)] + changed[value.end() :]
        (folder / f"{seed.stem}-values-{i}").write_text(changed, encoding="utf-8", errors="surrogateescape")
    events = data.splitlines(keepends=True)
    for i in range(5 * TIMES):
        at, to = next(random) % len(events), next(random) % len(events)
        mixed = [events[:at] + events[to:], events[:at] + ["{"] + events[at:], events[:at] + ["[" * 300] + events[at:]]
        (folder / f"{seed.stem}-events-{i}").write_text("".join(mixed[i % 3]), encoding="utf-8", errors="surrogateescape")
        (folder / f"{seed.stem}-cut-{i}").write_text(data[: next(random) % len(data)], encoding="utf-8", errors="surrogateescape")


def main():
    targets = [pathlib.Path(target).resolve() for target in sys.argv[2:]]
    of_spools = [target for target in targets if "spool" in target.name]
    of_names = [target for target in targets if "name" in target.name]
    of_digests = [target for target in targets if "digest" in target.name]
    of_reports = [target for target in targets if "ncu" in target.name]
    of_stores = [target for target in targets if "store" in target.name]
    of_pytorch = [target for target in targets if "kineto" in target.name]
    of_profiles = [target for target in targets if corpora.OF[target.name] == "profiles"]
    random = tiny_profile.jitters(2026, 2**30)
    started, runs = [], 0
    with tempfile.TemporaryDirectory(prefix="gapline-fuzz-") as made, ThreadPoolExecutor(os.cpu_count()) as pool:

        def start(*what):
            started.append(pool.submit(run_all, *what))

        grown_all = pathlib.Path(made) / "corpus"
        for seed in seeds(pathlib.Path(made)):
            folder = pathlib.Path(made) / f"{seed.stem}.d"
            folder.mkdir()
            damage_bytes(folder, seed, random)
            if seed.suffix == ".json":
                damage_json(folder, seed, random)
            if seed.stem in VALUES_IN:
                damage_values(folder, seed)
            elif seed.stem == "metrics":
                damage_values(folder, seed, METRICS)
                damage_tables(folder, seed)
            files = [seed, *sorted(folder.iterdir())]
            for target in of_profiles + (of_pytorch if seed.suffix == ".json" else []):
                some = [f for f in files if TIMES > 1 or not is_left_out(f, target.name)]
                runs += len(some)
                start(target, some, seed.stem)
        corpora.write_all(pathlib.Path(made) / "corpora")
        kept.unpack(grown_all)
        for target in targets:
            name = corpora.OF[target.name]
            begun = sorted((pathlib.Path(made) / "corpora" / name).iterdir())
            grown = sorted((grown_all / name).iterdir()) if (grown_all / name).exists() else []
            times = MUTATIONS
            if name == "profiles":  # there are many, and each takes long
                at, every = CORPUS_SHARED.get(target.name, (0, 3)) if TIMES == 1 else (0, 1)
                grown = grown[at::every]
                times = MUTATIONS // 2
            runs += len(begun) + len(grown)
            start(target, begun, f"seeds of {name}", f"-mutate={times}")
            start(target, grown, f"corpus/{name}", f"-mutate={max(TIMES // 2 - 1, 0) if name == 'profiles' else times}")
        traces = pathlib.Path(made) / "traces"
        traces.mkdir()
        corpus = sorted((grown_all / "kineto").iterdir())
        for seed in corpus:
            damage_json(traces, seed, random)
        files = [*corpus, *sorted(traces.iterdir())]
        for target in of_pytorch:
            runs += len(files)
            start(target, files, "traces")
        spools = pathlib.Path(made) / "spools"
        spools.mkdir()
        damage_spool(spools, random)
        files = sorted(spools.iterdir())
        for target in of_spools:
            runs += len(files)
            start(target, files, "spools")
        digests = pathlib.Path(made) / "digests"
        digests.mkdir()
        damage_digest(digests, random)
        files = sorted(digests.iterdir())
        for target in of_digests + [target for target in of_profiles if target.name != "fuzz_scrub"]:
            runs += len(files)
            start(target, files, "digests")
        numbers = [digest_file.number(n) for n in (0, 1, 2, 0xFFFFFFFF, 1 << 32, 1 << 61, (1 << 64) - 1, (1 << 70) - 1)]
        texts = [text.encode() for text in JSON_EXTREMES] + [b"<section id=\"", b"</script>", b"<h1>", b"gapline table 2 0.3.0 ", b"data-carried=\"picture\">"]
        for name, make, ends in (("tables", corpora.tables, numbers), ("pages", corpora.pages, texts), ("claims", corpora.claims, texts)):
            folder = pathlib.Path(made) / name
            folder.mkdir()
            damage_seeds(folder, random, make, ends)
            files = sorted(folder.iterdir())
            for target in (target for target in targets if corpora.OF[target.name] == name):
                runs += len(files)
                start(target, files, name)
        reports = pathlib.Path(made) / "reports"
        reports.mkdir()
        damage_reports(reports, random)
        files = sorted(reports.iterdir())
        for target in of_reports:
            runs += len(files)
            start(target, files, "reports")
        stores = pathlib.Path(made) / "stores"
        stores.mkdir()
        damage_store(stores, random)
        files = sorted(stores.iterdir())
        for target in of_stores:
            runs += len(files)
            start(target, files, "stores")
        names = pathlib.Path(made) / "names"
        names.mkdir()
        damage_names(names, random)
        files = sorted(names.iterdir())
        for target in of_names:
            runs += len(files)
            start(target, files, "names")
    failed = sum(not one.result() for one in started)
    print(f"{runs} damaged files were tried, {failed} times with a crash")
    sys.exit(bool(failed) or not runs)


if __name__ == "__main__":
    main()
