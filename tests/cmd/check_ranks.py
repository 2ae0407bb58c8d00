#!/usr/bin/env python3
"""One file a process, or one file for all: the same report.

    check_ranks.py GAPLINE

Splits a capture of two processes into a file for each, and compares what is said of the two files with what is said of
the one. The capture beside the readers' tests is of two ranks on two H100s, with NCCL's payloads: rank 1 multiplies 20
matrices more in every step, which made a step 4.16 ms longer by the program's own clock (12.56 ms beside 8.40). What is
said of its collectives is compared with what their rows say; then one of the two files is moved to another host, whose
clock is 3 ms and 20 ppm apart. A digest beside it is of seven steps of a pipeline of two stages on two H100s, four
microbatches forward and then backward, whose bubbles follow from the times that the program measured of its stages
alone. Two pairs more are compared where there are captures (../shared/captures beside the
repository, or GAPLINE_CAPTURES).
"""
import gzip
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import facts

MASK = ~0xFFFFFF


def split(source, folder, shift):
    """One file a process; in those but the first, times count from `shift` ns later, and the session starts as much later."""
    whole = folder / "whole.sqlite"
    whole.write_bytes(gzip.decompress(source.read_bytes()))
    with sqlite3.connect(whole) as db:
        processes = [p for (p,) in db.execute("SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
    files = []
    for i, process in enumerate(processes):
        files.append(folder / f"part-{len(processes) - i}.sqlite")  # in another order than the processes
        shutil.copy(whole, files[-1])
        db = sqlite3.connect(files[-1])
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            if "globalTid" in columns:
                db.execute(f"DELETE FROM {table} WHERE (globalTid & {MASK}) <> {process}")
            elif "globalPid" in columns:
                db.execute(f"DELETE FROM {table} WHERE globalPid <> {process}")
            if i and "start" in columns:
                db.execute(f"UPDATE {table} SET start = start - {shift}")
                if "end" in columns:
                    db.execute(f'UPDATE {table} SET "end" = "end" - {shift} WHERE "end" IS NOT NULL')
        if i:
            db.execute(f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + {shift}")
        db.commit()
        db.close()
    return whole, files


def of_host(path, host, offset, drift):
    """The file as this host's clock would have noted it."""
    with sqlite3.connect(path) as db:
        (begin,) = db.execute('SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL').fetchone()
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for column in [row[1] for row in db.execute(f"PRAGMA table_info({table})")]:
                if column in ("start", "end"):
                    db.execute(f'UPDATE {table} SET "{column}" = "{column}" + {offset} + CAST(round(("{column}" - {begin}) * {drift}) AS INTEGER)')
        db.execute("CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)")
        db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', ?)", (host,))


def waiting(path, steps):
    """From the rows alone: what the ranks waited in the measured steps' all-reduces, and for how long data moved, ms a
    step, the mean of both. The step's are told apart by their launches; k-th meets k-th."""
    with sqlite3.connect(path) as db:
        ranges = db.execute(
            "SELECT globalTid, start, end FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) = 'step' ORDER BY 1, 2"
        ).fetchall()
        kernels = db.execute(
            "SELECT k.globalPid, c.start, k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName JOIN "
            "CUPTI_ACTIVITY_KIND_RUNTIME c ON c.correlationId = k.correlationId AND (c.globalTid & ?) = k.globalPid WHERE s.value LIKE '%AllReduce%' ORDER BY 1, 2",
            (MASK,),
        ).fetchall()
    by_rank = {}
    for process in sorted({k[0] for k in kernels}):
        mine = [r for r in ranges if r[0] & MASK == process][-steps:]
        by_rank[process] = [k for k in kernels if k[0] == process and mine[0][1] <= k[1] <= mine[-1][2]]
    first, second = by_rank.values()
    assert len(first) == len(second) == 5 * steps + 1, (len(first), len(second))  # and a barrier
    waited = sum(abs(a[2] - b[2]) for a, b in zip(first, second))
    moved = sum(a[3] + b[3] - 2 * max(a[2], b[2]) for a, b in zip(first, second))
    return waited / 2 / steps / 1e6, moved / 2 / steps / 1e6


def expect_rank_1(result, what):
    ranks = result["baseline"]["ranks"]
    straggler = ranks["straggler"]
    late = result["baseline"]["devices"][straggler["device"]]
    assert ranks["matched"] and straggler["kind"] == "persistent" and straggler["share"] > 0.99, (what, straggler)
    assert late["id"] == 1 and straggler["longer"]["part"] == "compute" and straggler["longer"]["phase"] == "backward", (what, straggler)
    assert 4.0 < straggler["longer"]["ms_per_step"] < 4.4, (what, straggler)
    (finding,) = [f for f in result["findings"] if f["id"] == "straggler"]
    mean = sum(r["own_ms_per_step"] for r in ranks["list"]) / 2
    assert abs(finding["ceiling"]["step_ms"] - mean) < 0.25, (what, finding["ceiling"], mean)


def check_scrubbed(gapline, folder, files, two):
    """Copies that can be shared say the same of collectives, and hold of NCCL's payloads the numbers that say it."""
    copies = [file.with_name(f"scrubbed-{file.name}") for file in files]
    for file, copy in zip(files, copies):
        subprocess.run([gapline, "scrub", file, "-o", copy, "-q"], check=True)
        with sqlite3.connect(copy) as db:
            columns = {row[1] for row in db.execute("PRAGMA table_info(NVTX_EVENTS)")} & {"binaryData", "jsonText"}
            kept = [v for c in columns for (v,) in db.execute(f"SELECT {c} FROM NVTX_EVENTS WHERE {c} IS NOT NULL")]
            assert not db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'NVTX_PAYLOAD%'").fetchall()
        assert len(kept) > 100 and all(isinstance(v, str) for v in kept), (len(kept), kept[:3])
        names = {name for v in kept for name in json.loads(v)}
        assert names <= {"NCCL communicator ID", "Message size [bytes]", "Peer rank", "No. of ranks", "Rank"}, names
        assert all(isinstance(number, int) for v in kept for number in json.loads(v).values())
    four = report(gapline, folder, copies, copies)
    assert four["baseline"]["ranks"] == two["baseline"]["ranks"], "scrubbed copies say something else of the ranks"


def check_pipeline(gapline, folder):
    """By the program's own clock: a step of 29.37 ms; forward of a microbatch 1.786 ms on rank 0 and 1.747 on rank 1,
    backward twice that. Rank 1 waits for one forward of rank 0. Rank 0 waits for the last forward and the first backward
    of rank 1, and for what rank 1 takes between microbatches besides: no less than those, and not a sixth more."""
    forward = (1.786, 1.747)
    digest = pathlib.Path(__file__).resolve().parents[1] / "read" / "profiles" / "pipeline_two_ranks.digest"
    side = report(gapline, folder, [digest], [digest])["baseline"]
    assert abs(side["steps"]["period_ms"]["mean"] / 29.37 - 1) < 0.01, side["steps"]
    ranks = {rank["device"]: rank for rank in side["ranks"]["list"]}
    first, second = ranks[0]["bubble_ms_per_step"], ranks[1]["bubble_ms_per_step"]
    assert abs(second - forward[0]) < 0.05, second
    assert 3 * forward[1] <= first < 3 * forward[1] * 7 / 6, first
    assert (ranks[0]["bubble_for"], ranks[1]["bubble_for"]) == (1, 0)
    for device, phase, bubble in (side["devices"][0], "backward", first), (side["devices"][1], "forward", second):
        cause = device["idle"][0]
        assert (cause["cause"], cause["phase"]) == ("bubble", phase), device["idle"]
        assert abs(cause["ms_per_step"] - bubble) < 0.01, (cause, bubble)


def from_step(source, path, step):
    """A copy in which recording began where the process began this step."""
    shutil.copy(source, path)
    db = sqlite3.connect(path)
    (at,) = db.execute("SELECT start FROM NVTX_EVENTS WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) = 'step' "
                       "ORDER BY 1 LIMIT 1 OFFSET ?", (step,)).fetchone()
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        if "correlationId" in columns and table != "CUPTI_ACTIVITY_KIND_RUNTIME":
            db.execute(f"DELETE FROM {table} WHERE correlationId IN (SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start < {at})")
    for table in "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
        db.execute(f"DELETE FROM {table} WHERE start < {at}")
    db.commit()
    db.close()
    return path


def check_starts(gapline, folder, files):
    """Ranks that were recorded from different steps on: what is said is what is said of both from the later one on."""
    for first, second in (0, 3), (3, 0), (5, 2):
        later, lacks = max(first, second), abs(first - second)
        apart = [from_step(f, folder / f"apart-{f.name}", step) for f, step in zip(files, (first, second))]
        alike = [from_step(f, folder / f"alike-{f.name}", later) for f in files]
        sides = [report(gapline, folder, some, some)["baseline"] for some in (apart, alike)]
        for key in "ranks", "steps":
            one, other = ({k: v for k, v in side[key].items() if k != "coverage"} for side in sides)
            assert one == other, (first, second, key, one, other)
        assert any(f"lacks the first {lacks}." in note for note in sides[0]["data"]["notes"]), sides[0]["data"]["notes"]
        assert sides[0]["ranks"]["matched"] and sides[0]["steps"]["measured"] == 16 - later, sides[0]["steps"]


def check_payloads(gapline, folder):
    whole, files = split(pathlib.Path(__file__).resolve().parents[1] / "read" / "profiles" / "nccl_two_ranks.sqlite.gz", folder, 2_000_000)
    one, two = report(gapline, folder, [whole], [whole]), report(gapline, folder, files, files)
    steps = one["baseline"]["steps"]["measured"]
    expect_rank_1(one, "one file")
    expect_rank_1(two, "a file a rank")
    assert [f["run"] for f in two["baseline"]["files"]] == [0, 0]
    one, two = without_files(one), without_files(two)
    for key in ("devices", "budget", "ranks", "phases", "steps"):
        assert one["baseline"][key] == two["baseline"][key], f"{key} differs between one file and a file a process"
    digests = [file.with_suffix(".digest") for file in files]
    for file, digest in zip(files, digests):
        subprocess.run([gapline, "digest", file, "-o", digest, "-q"], check=True)
    three = without_files(report(gapline, folder, digests, digests))
    for key in one["baseline"]:
        assert two["baseline"][key] == three["baseline"][key], f"{key} differs between files and their digests"
    check_scrubbed(gapline, folder, files, two)
    check_starts(gapline, folder, files)
    rows = {(row["name"], row["communicator"]): row for row in one["baseline"]["ranks"]["communication"]}
    assert set(rows) == {("ncclAllReduce", 1), ("ncclAllReduce", 2), ("ncclSend", 1), ("ncclRecv", 1)}, rows.keys()
    buckets, flag = rows[("ncclAllReduce", 1)], rows[("ncclAllReduce", 2)]
    waited, moved = waiting(whole, steps)
    assert abs(buckets["waiting_ms_per_step"] + flag["waiting_ms_per_step"] - waited) < 0.01 * waited, (buckets, flag, waited)
    assert abs(buckets["moving_ms_per_step"] + flag["moving_ms_per_step"] - moved) < 0.01 * moved, (buckets, flag, moved)
    for row, bytes_, times in (buckets, 2.5 * (16 << 20), 4), (flag, 4, 1), (rows[("ncclSend", 1)], 4 << 20, 1), (rows[("ncclRecv", 1)], 4 << 20, 1):
        assert abs(row["bytes"] - bytes_) < 0.03 * bytes_ and abs(row["per_step"] - times) < 0.1 and row["ranks"] == 2, row
    # 2 (n - 1) / n is 1 for two ranks; NVLink of an H100 carries 450 GB/s each way
    assert 100 < buckets["bus_bandwidth_gb_per_s"] < 450, buckets
    of_host(files[0], "one", 3_000_000, 20e-6)
    of_host(files[1], "another", 0, 0)
    apart = report(gapline, folder, files, files)
    expect_rank_1(apart, "two hosts")
    first, second = apart["baseline"]["ranks"]["clocks"]
    moved = second if second["offset_ms"] else first
    print("clocks:", moved)
    assert first["known"] and second["known"], (first, second)
    assert abs(abs(moved["offset_ms"]) - 3) < moved["within_ms"] + 0.01, moved
    print("a real pair of ranks: the same from one file, from a file a rank, from digests, and from two hosts; rank 1 is named")


def report(gapline, folder, baseline, fixed):
    out = folder / "out.json"
    sides = [word for side, files in (("--baseline", baseline), ("--fixed", fixed)) for f in files for word in (side, f)]
    subprocess.run([gapline, "report", *sides, "--json", out, "-q"], check=True)
    return json.loads(out.read_text(), object_hook=facts.text)


def without_files(result):
    for side in "baseline", "fixed":
        result[side].pop("files")
        result[side].pop("files_are")
        for run in result[side]["runs"]:
            run.pop("file")
        result[side]["data"]["notes"] = [n for n in result[side]["data"]["notes"] if "count as the ranks" not in n]
    return result


def main():
    beside = pathlib.Path(__file__).resolve().parents[3] / "shared" / "captures"
    gapline, captures = sys.argv[1], pathlib.Path(os.environ.get("GAPLINE_CAPTURES", beside)) / "ddp-2gpu"
    with tempfile.TemporaryDirectory(prefix="gapline-payloads-") as name:
        check_payloads(gapline, pathlib.Path(name))
        check_pipeline(gapline, pathlib.Path(name))
    if not captures.is_dir():
        print("no captures here: they were not compared")
        return
    with tempfile.TemporaryDirectory(prefix="gapline-ranks-") as name:
        folder, whole, parts = pathlib.Path(name), [], []
        for side in "baseline", "fixed":
            (folder / side).mkdir()
            one, files = split(captures / f"{side}.sqlite.gz", folder / side, 1_000_000)
            whole.append([one])
            parts.append(files)
        one, two = report(gapline, folder, *whole), report(gapline, folder, *parts)
        for side in "baseline", "fixed":
            assert two[side]["steps"]["runs"] == 1, two[side]["files_are"]
            assert [f["run"] for f in two[side]["files"]] == [0, 0]
            assert len(two[side]["devices"]) == 2
        one, two = without_files(one), without_files(two)
        for key in one:
            if one[key] != two[key]:
                sys.exit(f"{key} differs between one file and a file a process")
        print("the same report from one file and from a file a process")


if __name__ == "__main__":
    main()
