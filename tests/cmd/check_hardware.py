#!/usr/bin/env python3
"""Holds the means of hardware counters in the JSON of `gapline report` against SQL over the profile's own tables.

    check_hardware.py [GAPLINE]

The SQL takes every sample for the time until the next one, and weighs it with how much of that lies in the GPU's busy
time, its gaps, or the work of a phase. Made profiles have their counters in every layout that nsys wrote; the capture
in ../shared/captures/gpu-metrics (or GAPLINE_CAPTURES) is a real one, and skipped where it is not there.
"""
import base64
import gzip
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
import zlib

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import facts
import tiny_job
import tiny_profile

CAPTURE = os.path.join(os.environ.get("GAPLINE_CAPTURES", os.path.join(ROOT, "..", "shared", "captures")),
                       "gpu-metrics", "pinned-prefetch-baseline.sqlite.gz")
INTERVAL = 20_000
NAMES = {  # as the GPU has them, and as the JSON calls them
    "GPC Clock Frequency [MHz]": None,
    "SMs Active [Throughput %]": "sm_active",
    "SM Issue [Throughput %]": "sm_issue",
    "Tensor Active [Throughput %]": "tensor_active",
    "Unallocated Warps in Active SMs [Throughput %]": None,
    "Compute Warps in Flight [Avg Warps per Cycle]": None,
    "DRAM Read Bandwidth [Throughput %]": "dram_read",
    "DRAM Write Bandwidth [Throughput %]": "dram_write",
    "PCIe RX Throughput [Throughput %]": "pcie_in",
    "PCIe TX Throughput [Throughput %]": "pcie_out",
    "NVLink RX Requests User Data [Throughput %]": "nvlink_in",
    "NVLink RX Responses User Data [Throughput %]": "nvlink_in",
    "NVLink TX Responses Protocol Data [Throughput %]": "nvlink_out",
    "DRAM Read Bandwidth [Cycles Active]": None,
}

# The union of the GPU's operations, clipped to the window, and what a sample has of it.
BUSY = """
CREATE TEMP TABLE op AS SELECT max(start, :from) AS a, min("end", :to) AS b FROM ({ops}) WHERE "end" > :from AND start < :to AND "end" > start;
CREATE TEMP TABLE island AS SELECT min(a) AS a, max(b) AS b FROM (
    SELECT a, b, sum(first) OVER (ORDER BY a, b) AS island FROM (
        SELECT a, b, a > ifnull(max(b) OVER (ORDER BY a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -1) AS first FROM op))
    GROUP BY island;
"""
MEANS = """
WITH sample AS (SELECT a, min(lead(a) OVER (ORDER BY a), a + {most}) AS b, value FROM (
        SELECT timestamp AS a, sum(value) AS value FROM GPU_METRICS WHERE metricId IN ({ids}) GROUP BY timestamp)),
    clipped AS (SELECT max(a, :from) AS a, min(b, :to) AS b, value FROM sample WHERE b > :from AND a < :to),
    part AS (SELECT value, b - a AS ns,
        (SELECT ifnull(sum(min(island.b, clipped.b) - max(island.a, clipped.a)), 0) FROM island
            WHERE island.b > clipped.a AND island.a < clipped.b) AS busy FROM clipped)
SELECT 1.0 * sum(value * busy) / sum(busy), 1.0 * sum(value * (ns - busy)) / sum(ns - busy), 1.0 * sum(value * ns) / sum(ns) FROM part;
"""
TABLES = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")


def last_end(path):
    db = sqlite3.connect(path)
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    ops = " UNION ALL ".join(f'SELECT "end" FROM {t}' for t in TABLES if t in tables)
    return db.execute(f'SELECT max("end") FROM ({ops})').fetchone()[0]


def expected(path, window_ns, end=None, most=1 << 60):
    """By the JSON's names of counters: means of busy time, gaps and both, of the time that ends at `end`: with the file's last
    operation, where none is given. A sample tells of `most` ns."""
    db = sqlite3.connect(path)
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    ops = " UNION ALL ".join(f'SELECT start, "end" FROM {t}' for t in TABLES if t in tables)
    end = end or last_end(path)
    of = {"from": end - window_ns, "to": end}
    for statement in BUSY.format(ops=ops).split(";")[:-1]:
        db.execute(statement, of if ":from" in statement else {})
    ids = {}
    for number, name in db.execute("SELECT metricId, metricName FROM TARGET_INFO_GPU_METRICS"):
        if NAMES.get(name):
            ids.setdefault(NAMES[name], []).append(str(number))
    return {key: db.execute(MEANS.format(ids=", ".join(some), most=most), of).fetchone() for key, some in ids.items()}


def report(gapline, path, other, folder):
    out = os.path.join(folder, "out")
    done = subprocess.run([gapline, "report", path, other, "-o", out + ".html", "--json", out + ".json", "-q"],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{path}: status {done.returncode}: {done.stderr}")
    with open(out + ".json", encoding="utf-8") as file, open(out + ".html", encoding="utf-8") as page:
        return json.load(file, object_hook=facts.text), page.read()


def samples_of(db):
    """A sample every INTERVAL: SMs are active for 80 % of the time in which a kernel runs, tensor cores half of that."""
    kernels = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start").fetchall()
    for begin in range(kernels[0][0] - 5 * INTERVAL, kernels[-1][1] + 5 * INTERVAL, INTERVAL):
        busy = sum(max(min(b, begin + INTERVAL) - max(a, begin), 0) for a, b in kernels if b > begin and a < begin + INTERVAL)
        share = busy / INTERVAL
        yield begin, {"SMs Active [Throughput %]": round(80 * share), "SM Issue [Throughput %]": round(30 * share),
                      "Tensor Active [Throughput %]": round(40 * share), "DRAM Read Bandwidth [Throughput %]": round(20 * share) + 1,
                      "DRAM Write Bandwidth [Throughput %]": 2, "PCIe RX Throughput [Throughput %]": 50 - round(50 * share),
                      "PCIe TX Throughput [Throughput %]": 0, "NVLink RX Requests User Data [Throughput %]": 3,
                      "NVLink RX Responses User Data [Throughput %]": round(4 * share), "NVLink TX Responses Protocol Data [Throughput %]": 1,
                      "GPC Clock Frequency [MHz]": 1_980_000_000, "Unallocated Warps in Active SMs [Throughput %]": 99,
                      "Compute Warps in Flight [Avg Warps per Cycle]": 12, "DRAM Read Bandwidth [Cycles Active]": 77}


KIND = 0x1000100000000 | 0  # the low byte is the GPU
NUMBER = {name: 10 + i for i, name in enumerate(NAMES)}


def write_metrics(db, rows):
    db.execute("CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value)")
    db.execute("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT)")
    db.executemany("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 0, '', ?, ?)", [(KIND, i, name) for name, i in NUMBER.items()])
    db.executemany("INSERT INTO GPU_METRICS VALUES (?1, ?1, ?2, ?3, ?4)", rows)


def make(path, layout):
    tiny_profile.write(path, steps=40)
    db = sqlite3.connect(path)
    names, kind = NUMBER, KIND
    late = INTERVAL if layout == "end" else 0
    rows = [(t + late, kind, names[name], value) for t, values in samples_of(db) for name, value in values.items()]
    if layout == "by counter":
        rows.sort(key=lambda row: (row[2], row[0]))
    if layout == "old":
        db.execute("CREATE TABLE GENERIC_EVENTS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, data TEXT)")
        db.executemany("INSERT INTO GENERIC_EVENTS VALUES (?, ?, ?, ?)",
                       [(t, t, kind, json.dumps({name.split(" [")[0] if "Cycles" not in name else name: str(value) for name, value in values.items()
                                                 if "Warps" not in name})) for t, values in samples_of(db)]
                       + [(5, 5, kind, "{\"SMs Active\": "), (6, 6, kind, "[[1]]"), (7, 7, kind, None), (8, None, kind, '{"SMs Active": "50"}')])
    else:
        write_metrics(db, rows)
        if layout == "hostile":
            sm, last = names["SMs Active [Throughput %]"], rows[-1][0]
            for time, value in (last + 1, -5), (last + 2, 10**12), (last + 3, "<b>"), (last + 4, None), (rows[0][0] + 7, 5), (2**63 - 1, 50):
                db.execute("INSERT INTO GPU_METRICS VALUES (?1, ?1, ?2, ?3, ?4)", (time, kind, sm, value))
            db.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 0, '', 999, '</td><script>SMs Active')", (kind,))
    db.commit()
    db.close()


def lanes_of(page):
    packed = re.search(r'<script id="data"[^>]*>([^<]*)', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))["sides"][0]["lanes"]


def check_holes(gapline, folder, first, plain, wrong):
    """Samples that are missing: every third, a tenth by chance, those of some time, of one counter alone. What remains tells of its own
    interval; what is missing of none, and is said."""
    pick = random.Random(4)
    kinds = {"third": lambda i, n: i % 3 == 2, "chance": lambda i, n: pick.random() < 0.1, "stretch": lambda i, n: 0.5 < i / n < 0.7,
             "pairs": lambda i, n: i % 4 > 1, "counter": lambda i, n: i % 5 == 0}
    for kind, drops in kinds.items():
        path = os.path.join(folder, f"holes-{kind}.sqlite")
        shutil.copy(first, path)
        db = sqlite3.connect(path)
        times = [row[0] for row in db.execute("SELECT DISTINCT timestamp FROM GPU_METRICS ORDER BY 1")]
        lost = [t for i, t in enumerate(times) if drops(i, len(times))]
        only = f" AND metricId = {NUMBER['Tensor Active [Throughput %]']}" if kind == "counter" else ""
        db.executemany(f"DELETE FROM GPU_METRICS WHERE timestamp = ?{only}", [(t,) for t in lost])
        db.commit()
        db.close()
        result, page = report(gapline, path, plain, folder)
        device = result["baseline"]["devices"][0]
        window = round(device["window_ms"] * 1e6)
        compare(f"holes, {kind}", device["metrics"], expected(path, window, most=INTERVAL), wrong)
        end = last_end(path)
        hole = sum(max(min(t + INTERVAL, end) - max(t, end - window), 0) for t in lost) / window
        if abs(device["metrics"]["sampled_share"] - (1 - hole)) > 1e-6 or abs(device["metrics"]["interval_ms"] * 1e6 - INTERVAL) > 1:
            wrong.append(f"holes, {kind}: {device['metrics']['sampled_share']} sampled every {device['metrics']['interval_ms']} ms, of {1 - hole}")
        said = f"{100 * hole:.0f} % not sampled"
        if said not in page or f"{said}." not in page.replace("\n", " ") or "Where samples are missing, lanes are empty" not in page:
            wrong.append(f"holes, {kind}: the page does not say '{said}'")
        lanes = {lane["label"]: lane for lane in lanes_of(page)}
        lane = lanes["GPU, tensor active, %"]
        shown = sum(1 for label in lanes if lanes[label]["note"] and "not sampled" in lanes[label]["note"])
        if kind in ("third", "pairs") and (shown < 5 or not lane["note"] or abs(int(lane["note"].split(" ")[0]) - 100 * hole) > 1):
            wrong.append(f"holes, {kind}: lanes' notes: {[(label, lanes[label]['note']) for label in lanes]}")
        if kind == "counter" and (lane["note"] != "20 % not sampled" or lanes["GPU, SMs active, %"]["note"]):
            wrong.append(f"holes, {kind}: {lane['note']}, {lanes['GPU, SMs active, %']['note']}")
    path = os.path.join(folder, "holes-all.sqlite")  # a full buffer ends the sampling: none lies in the steps
    shutil.copy(first, path)
    db = sqlite3.connect(path)
    begin = db.execute("SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
    db.execute("UPDATE GPU_METRICS SET timestamp = timestamp - 100000000000")
    n = db.execute("SELECT count(DISTINCT timestamp), max(timestamp) FROM GPU_METRICS").fetchone()
    db.commit()
    db.close()
    result, page = report(gapline, path, plain, folder)
    notes = [note for note in result["baseline"]["data"]["notes"] if "Hardware counters" in note]
    if n[1] > begin or "metrics" in result["baseline"]["devices"][0] or len(notes) != 1 or f"({n[0]} samples), but none in the measured steps" not in notes[0] or notes[0] not in page:
        wrong.append(f"holes, all: {notes}")
    result, page = report(gapline, first, plain, folder)
    if result["baseline"]["devices"][0]["metrics"]["sampled_share"] != 1 or "not sampled" in page:
        wrong.append("holes: seen where none are")


def check_many(gapline, folder, first, plain, wrong):
    """Ten samples in place of each, with its value: more than are drawn one by one, and the lane stays as it is, a hole in it too."""
    drawn = {}
    for kind in "few", "many":
        path = os.path.join(folder, f"lane-{kind}.sqlite")
        shutil.copy(first, path)
        db = sqlite3.connect(path)
        sm = NUMBER["SMs Active [Throughput %]"]
        db.execute("DELETE FROM GPU_METRICS WHERE metricId != ?", (sm,))
        db.execute("DELETE FROM GPU_METRICS WHERE timestamp / ? % 3 = 0", (10 * INTERVAL,))
        if kind == "many":
            rows = db.execute("SELECT timestamp, typeId, metricId, value FROM GPU_METRICS").fetchall()
            db.execute("DELETE FROM GPU_METRICS")
            db.executemany("INSERT INTO GPU_METRICS VALUES (?1, ?1, ?2, ?3, ?4)", [(t + i * INTERVAL // 10, *row) for t, *row in rows for i in range(10)])
        db.commit()
        db.close()
        _, page = report(gapline, path, plain, folder)
        lane = next(lane for lane in lanes_of(page) if lane["label"] == "GPU, SMs active, %")
        starts, at = [], 0
        for i, start in enumerate(lane["start"]):
            at = start if not i else at + start
            starts.append(at)
        lengths = lane["length"] if isinstance(lane["length"], list) else [lane["length"]] * len(starts)
        busy = lane["busy"] if isinstance(lane["busy"], list) else [lane["busy"]] * len(starts)
        drawn[kind] = len(starts), sum(lengths), sum(busy), lane["note"]
    few, many = drawn["few"], drawn["many"]
    if not (few[0] < 600 < 10 * few[0] and many[0] <= 600 and many[0] != few[0] and few[3] and few[3] == many[3]) or any(
            abs(few[i] - many[i]) > 0.01 * few[i] for i in (1, 2)):
        wrong.append(f"a lane of ten times the samples: {few}, {many}")


def check_ranks(gapline, folder, wrong):
    """Two ranks, a file each, the second with half of the values: each device has the means of its own file."""
    sides = {}
    for side, slow in ("baseline", 1), ("fixed", None):
        sides[side] = tiny_job.write(pathlib.Path(folder) / f"job-{side}", ranks=2, slow=slow, seed=len(side))
        for rank, path in enumerate(sides[side]):
            db = sqlite3.connect(path)
            rows = [(t, name, value // (rank + 1)) for t, values in samples_of(db) for name, value in values.items()]
            write_metrics(db, [(t, KIND, NUMBER[name], value) for t, name, value in rows])
            db.commit()
            db.close()
    out = os.path.join(folder, "job")
    files = [word for side, paths in sides.items() for path in paths for word in (f"--{side}", path)]
    done = subprocess.run([gapline, "report", *files, "-o", out + ".html", "--json", out + ".json", "-q"], capture_output=True, text=True)
    if done.returncode:
        wrong.append(f"ranks: status {done.returncode}: {done.stderr}")
        return
    with open(out + ".json", encoding="utf-8") as file:
        document = json.load(file, object_hook=facts.text)
    for side, paths in sides.items():
        devices, end = document[side]["devices"], max(map(last_end, paths))  # of one clock
        if len(devices) != 2:
            wrong.append(f"ranks, {side}: {len(devices)} devices")
        for device in devices:
            path = paths[device["rank"]]
            compare(f"ranks, {side}, {device['rank']}", device["metrics"], expected(path, round(device["window_ms"] * 1e6), end), wrong)
        if not devices[1]["metrics"]["busy"]["sm_active"] < 0.6 * devices[0]["metrics"]["busy"]["sm_active"]:
            wrong.append(f"ranks, {side}: the devices share their counters")


def compare(what, metrics, means, wrong):
    for key, (busy, idle, window) in means.items():
        for part, value in ("busy", busy), ("idle", idle), ("window", window):
            found = metrics[part][key]
            if found is None or abs(found - value) > 1e-6 * max(value, 1):
                wrong.append(f"{what}: {key}, {part}: SQL says {value}, the JSON {found}")


def main():
    gapline = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "gen", "gapline")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        plain, first = os.path.join(folder, "plain.sqlite"), os.path.join(folder, "first.sqlite")
        tiny_profile.write(plain, steps=40, seed=2)
        for layout in "rows", "end", "by counter", "old", "hostile":
            path = os.path.join(folder, f"{layout.replace(' ', '-')}.sqlite")
            make(path, layout)
            result, page = report(gapline, path, plain, folder)
            device = result["baseline"]["devices"][0]
            metrics = device["metrics"]
            if layout == "rows":
                os.link(path, first)
            means = expected(first, round(device["window_ms"] * 1e6))
            if len(means) != 9:
                wrong.append(f"{layout}: SQL knows {len(means)} counters")
            compare(layout, metrics, means, wrong)
            if metrics["sample_counts"] != ("before" if layout == "end" else "after"):
                wrong.append(f"{layout}: samples count what comes {metrics['sample_counts']}")
            if abs(metrics["interval_ms"] * 1e6 - INTERVAL) > 1:
                wrong.append(f"{layout}: a sample every {metrics['interval_ms']} ms")
            phases = {phase["name"]: phase["mean"] for phase in metrics["phases"]}
            if set(phases) != {"compute"} or abs(phases["compute"]["sm_active"] - metrics["busy"]["sm_active"]) > 1e-6:
                wrong.append(f"{layout}: all GPU work is of one phase, and there are {phases}")
            if "metrics" in result["fixed"]["devices"][0]:
                wrong.append(f"{layout}: counters of a side that has none")
            shown = f"SMs active {metrics['busy']['sm_active']:.1f} %"
            if 'id="hardware"' not in page or shown not in page or "<script>SMs" in page:
                wrong.append(f"{layout}: the page does not say '{shown}'")
            if layout == "hostile" and "5 in GPU_METRICS" not in page and "is no percentage" not in page:
                wrong.append("hostile: the rows that were dropped are not said")
            if layout == "old":
                if "1 in GENERIC_EVENTS" not in page or "lacks a value" not in page:
                    wrong.append("old: the sample without a time is not said")
                shared = os.path.join(folder, "shared.sqlite")
                subprocess.run([gapline, "scrub", path, "-o", shared, "-q"], check=True)
                if report(gapline, shared, plain, folder)[0]["baseline"]["devices"] != result["baseline"]["devices"]:
                    wrong.append("old: the copy to share says something else")
        result, page = report(gapline, plain, first, folder)
        compare("fixed side", result["fixed"]["devices"][0]["metrics"], expected(first, round(result["fixed"]["devices"][0]["window_ms"] * 1e6)), wrong)
        said = "Only the fixed side has GPU metrics. Capture both sides with the same options."
        if said not in page or page.count("NVTX, GPU metrics") != 1:
            wrong.append("fixed side: another way of recording is not said")
        tiny_profile.write(first + "2", steps=40, seed=3)
        if "hardware" in report(gapline, plain, first + "2", folder)[1].split("<main>")[1]:
            wrong.append("a page without counters speaks of them")
        check_ranks(gapline, folder, wrong)
        check_holes(gapline, folder, first, plain, wrong)
        check_many(gapline, folder, first, plain, wrong)
        if os.path.exists(CAPTURE):
            path = os.path.join(folder, "capture.sqlite")
            with gzip.open(CAPTURE) as packed, open(path, "wb") as file:
                file.write(packed.read())
            result, _ = report(gapline, path, plain, folder)
            device = result["baseline"]["devices"][0]
            compare("capture", device["metrics"], expected(path, round(device["window_ms"] * 1e6)), wrong)
            print("capture:", {key: round(value, 2) for key, value in device["metrics"]["busy"].items()})
        else:
            print("no capture")
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
