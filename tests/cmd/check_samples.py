#!/usr/bin/env python3
"""What a report says of functions is what can be counted in the profile's own tables.

    check_samples.py GAPLINE

A pair is made in which one of three functions got faster and nothing else: it stands first in the comparison, shares
are those that the program was made of, and every number of samples is counted again with SQL. A thread that sleeps, and
samples that begin late, are told as such; paths stay out of every output, and so do samples of a copy to share. The
capture in ../shared/captures/host-samples beside the repository (or where GAPLINE_CAPTURES says) is walked gap by gap
in Python, and the functions that its samples are of are counted; skipped where it is not there."""

import bisect
import collections
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "tests" / "render"))
import page_numbers
import tiny_profile
import tiny_samples

GAPLINE = sys.argv[1]
US = 1000
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "reference" / "gapline.schema.json").read_text(encoding="utf-8")))
EMPLACE = "std::vector<std::map<int, float>>::emplace_back(int&&)"


def expect(condition, message):
    if not condition:
        sys.exit(f"check_samples: {message}")


def run(*words):
    result = subprocess.run([GAPLINE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(result.returncode == 0, f"{' '.join(map(str, words))}: {result.stderr.decode()}")
    return result.stdout.decode()


def make(path, read=2000, parse=3000, augment=5000, seed=1, **how):
    tiny_profile.write(path, steps=300, load=(read + parse + augment) * US, jitter=100 * US, kernels=40, seed=seed)
    data = "/opt/acme/lib/libdata.so"
    tiny_samples.add(path, [("read_file > fread", "/usr/lib/libc.so.6", read * US), (f"parse > {EMPLACE}", data, parse * US), ("augment", data, augment * US)], **how)


def report(folder, baseline, fixed, *options):
    run("report", baseline, fixed, "-o", folder / "report.html", "--json", folder / "report.json", "-q", *options)
    result = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    for error in SCHEMA.iter_errors(result):
        sys.exit(f"check_samples: {'/'.join(map(str, error.path))}: {error.message[:300]}")
    return result


def by_name(functions):
    return {f["name"]: f for f in functions if f["kind"] == "function"}


def close(a, b, within):
    return abs(a - b) <= within


# ---- made pairs ----


def count_in_loads(path, warmup):
    """Samples in data_load after the warm-up, by the innermost function."""
    db = sqlite3.connect(path)
    return dict(
        db.execute(
            """WITH loads AS (SELECT start, end, row_number() OVER (ORDER BY start) AS k FROM NVTX_EVENTS WHERE text = 'data_load')
            SELECT s.value, count(*) FROM loads JOIN COMPOSITE_EVENTS e ON e.start >= loads.start AND e.start < loads.end
            JOIN SAMPLING_CALLCHAINS c ON c.id = e.id AND c.stackDepth = 0 JOIN StringIds s ON s.id = c.symbol
            WHERE k > ? GROUP BY 1""",
            (warmup,),
        )
    )


def check_sums(functions):
    """Lists without a rest add up to what samples stand for, and no part of the stacks is wider than what is above it."""
    for cause in functions["causes"]:
        for side in "baseline", "fixed":
            said = cause[side]
            expect(said["sampled_ms"] <= said["ms_per_step"] * (1 + 1e-9), f"{side}: samples stand for more than there is")
            if not cause["left_out"]:
                expect(close(sum(f[side]["self_ms"] for f in cause["functions"]), said["sampled_ms"], 1e-9), f"{side}: functions of {cause['cause']} do not add up")
    below = collections.defaultdict(lambda: [0, 0])
    for part in functions["stacks"]:
        if part["parent"] is not None:
            for i, side in enumerate(("baseline", "fixed")):
                below[part["parent"]][i] += part[side]["total_ms"]
    for parent, sums in below.items():
        for i, side in enumerate(("baseline", "fixed")):
            expect(sums[i] <= functions["stacks"][parent][side]["total_ms"] + 1e-9, f"{side}: more below a part than in it")


def check_pair(folder):
    baseline, fixed = folder / "baseline.sqlite", folder / "fixed.sqlite"
    make(baseline)
    make(fixed, parse=900, seed=2)
    result = report(folder, baseline, fixed, "--perfetto", folder / "trace.json.gz", "--markdown", folder / "report.md")
    functions = result["functions"]
    check_sums(functions)
    first = functions["functions"][0]
    expect(first["name"] == EMPLACE and first["changed"], f"{first['name']} stands first, not what got faster")
    expect([f["name"] for f in functions["functions"] if f["changed"]] == [EMPLACE], "more than one function changed")
    expect(close(first["baseline"]["self_ms"] - first["fixed"]["self_ms"], 2.1, 0.15), f"it got faster by another time: {first}")
    (cause,) = [c for c in functions["causes"] if c["phase"] == "data_load"]
    expect(cause["cause"] == "host_code", f"{cause['cause']} in data_load")
    of = by_name(cause["functions"])
    shares = {"baseline": {"fread": 20, EMPLACE: 30, "augment": 50}, "fixed": {"fread": 2 / 0.079, EMPLACE: 0.9 / 0.079, "augment": 5 / 0.079}}
    for side, path in ("baseline", baseline), ("fixed", fixed):
        for name, share in shares[side].items():
            found = 100 * of[name][side]["self_ms"] / cause[side]["ms_per_step"]
            expect(close(found, share, 3), f"{side}: {name}: {found:.1f} %, not {share:.1f}")
        counted = count_in_loads(path, result[side]["runs"][0]["warmup"])
        expect({n: of[n][side]["self_samples"] for n in counted} == counted, f"{side}: SQL counts {counted}")
        expect(cause[side]["samples"] == sum(counted.values()), f"{side}: {cause[side]['samples']} samples in all")
        expect(close(of["parse"][side]["total_ms"], of[EMPLACE][side]["self_ms"], 1e-9) and of["parse"][side]["self_ms"] == 0, f"{side}: parse with what it calls")
        expect(close(of["main"][side]["total_ms"], cause[side]["sampled_ms"], 1e-9), f"{side}: main calls everything")
    same = {p["name"]: p["change"] for p in functions["stacks"] if p["parent"] is not None}
    expect(same[EMPLACE] == "much_less" and same["augment"] == same["fread"] == "same", f"colours: {same}")
    text = result["findings"][0]["text"]
    expect("is in 'augment' (" in text, f"the first finding names no function: {text}")
    check_page(folder, functions)
    check_outputs(folder, baseline)
    return result


def check_page(folder, functions):
    """Every number of the page's tables is one of the JSON, rounded."""
    page = page_numbers.Page()
    page.feed((folder / "report.html").read_text(encoding="utf-8"))
    everything, by_cause = (table["rows"][1:] for table in page.tables["functions"])

    def same(text, values, what):
        shown = text.replace(" %", "").split(" \u2192 ")
        expect(len(shown) == len(values) and all(map(page_numbers.shows, shown, values)), f"page: {what}: {text} is not {values}")

    def row_is(cells, row, of):
        own, both = [row[side]["self_ms"] for side in of], [row[side]["total_ms"] for side in of]
        texts = [cell[0] for cell in cells]
        expect(texts[1] == row["module"], f"page: {texts} is not {row}")
        same(texts[2], [100 * ms / all_ms for ms, all_ms in zip(own, of.values())], "share")
        same(f"{texts[3]} \u2192 {texts[4]}", own, "self")
        same(texts[5], [own[1] - own[0]], "change")
        same(texts[6], both, "with what it calls")

    sides = {side: functions["sampling"][side]["ms_per_step"] for side in ("baseline", "fixed")}
    expect(len(everything) == len(functions["functions"]), "page: a function is missing")
    for row, f in zip(everything, functions["functions"]):
        row_is(row["cells"], f, sides)
    shown = 0
    for row in by_cause:
        if row["class"] == "group":
            (cause,) = [c for c in functions["causes"] if f"host code in {c['phase']}" == row["cells"][0][0]]
            listed, sides = iter(cause["functions"]), {side: cause[side]["ms_per_step"] for side in ("baseline", "fixed")}
            same(f"{row['cells'][3][0]} \u2192 {row['cells'][4][0]}", list(sides.values()), "cause")
        elif row["class"] != "more":
            row_is(row["cells"], next(listed), sides)
            shown += 1
    expect(shown == 8, f"page: {shown} functions of the cause")


def check_outputs(folder, baseline):
    page = (folder / "report.html").read_text(encoding="utf-8")
    svg = re.search(r'aria-label="Functions that the GPU waited for">(<svg.*?</svg>)', page, re.S)
    expect(svg, "no picture on the page")
    tree = xml.etree.ElementTree.fromstring(svg.group(1))
    hovers = [rect.find("title").text for rect in tree.iter("rect") if rect.find("title") is not None]
    labels = [text.text for text in tree.iter("text")]
    expect(any(h.startswith("parse \u2192 std::vector") and "3.0" in h for h in hovers), f"nothing to hover over: {hovers}")
    expect("\u25bc host code in data_load" in labels and "augment" in labels, f"labels: {labels}")
    shown = run("show", baseline)
    lines = shown[shown.index("Functions that the GPU waited for") :].split("\n")
    expect(re.match(r" *5\.\d\d +\d\d\.\d %  augment$", lines[1]), f"show: {lines[1]}")
    trace = json.loads(gzip.decompress((folder / "trace.json.gz").read_bytes()))
    slices = [e for e in trace["traceEvents"] if e.get("cat") == "function"]
    for pid in {e["pid"] for e in slices}:
        mine = sorted((e for e in slices if e["pid"] == pid), key=lambda e: (e["ts"], -e["dur"]))
        expect([(e["ts"], e["dur"]) for e in mine] == [(e["ts"], e["dur"]) for e in slices if e["pid"] == pid], "callers do not come before what they call")
        open_until = []
        for e in mine:
            while open_until and open_until[-1] <= e["ts"] + 1e-6:
                open_until.pop()
            expect(not open_until or e["ts"] + e["dur"] <= open_until[-1] + 1e-3, f"a slice is not within its caller's: {e}")
            open_until.append(e["ts"] + e["dur"])
    total = sum(e["dur"] for e in slices if e["name"] == "augment" and e["pid"] == slices[0]["pid"])
    db = sqlite3.connect(baseline)
    (samples,) = db.execute("SELECT count(*) FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE s.value = 'augment'").fetchone()
    expect(close(total / 1000, samples, 1), f"augment lasts {total} µs in the trace, and has {samples} samples")
    for output in "report.html", "report.json", "report.md":
        said = (folder / output).read_text(encoding="utf-8")
        for secret in "acme", "/opt", "/usr/lib":
            expect(secret not in said, f"{output} holds a path: {secret}")
    expect("acme" not in json.dumps(trace) and "acme" not in shown, "a path is in the trace or on the terminal")


def check_shared(folder):
    """A copy to share has no samples, or with --keep-stacks those of functions and the last part of their files."""
    run("scrub", folder / "baseline.sqlite", "-o", folder / "copy.sqlite", "-q")
    db = sqlite3.connect(folder / "copy.sqlite")
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
    expect("SAMPLING_CALLCHAINS" not in tables and "COMPOSITE_EVENTS" not in tables, f"samples are in a copy: {tables}")
    expect(b"augment" not in (folder / "copy.sqlite").read_bytes(), "a function's name is in a copy")
    run("scrub", folder / "baseline.sqlite", "-o", folder / "stacks.sqlite", "-q", "--keep-stacks")
    for secret in b"acme", b"/opt", b"/usr/lib":
        expect(secret not in (folder / "stacks.sqlite").read_bytes(), f"a copy with stacks holds a path: {secret}")
    plain, kept = (report(folder, folder / name, folder / "fixed.sqlite")["functions"] for name in ("baseline.sqlite", "stacks.sqlite"))
    expect(plain == kept, "a copy with stacks says something else of functions")


def check_partly(folder):
    """A thread that sleeps in one side's data_load, and samples that stop half-way on the other."""
    late, asleep = folder / "late.sqlite", folder / "asleep.sqlite"
    make(late, until=2_200_000_000)
    make(asleep, sleeps=True, seed=2)
    result = report(folder, late, asleep)
    sampling = result["functions"]["sampling"]
    expect(0.4 < sampling["baseline"]["covered_share"] < 0.6, f"samples cover {sampling['baseline']['covered_share']}")
    expect(sampling["baseline"]["sampled_share"] > 0.99, "late: samples do not stand for the time in which they were taken")
    expect(sampling["fixed"]["sampled_share"] < 0.02, "asleep: samples stand for time in which none was taken")
    (cause,) = [c for c in result["functions"]["causes"] if c["phase"] == "data_load"]
    of = by_name(cause["functions"])
    expect(close(of["augment"]["baseline"]["self_ms"], 5.05, 0.2), "late: what lies behind the last sample is not like what lies before it")
    expect(cause["fixed"]["samples"] == 0 and cause["fixed"]["sampled_ms"] == 0, "asleep: somebody is blamed")


def check_senseless(folder):
    """Samples that make no sense say nothing of functions, and take nothing from a verdict that they are no part of."""
    senseless = folder / "senseless.sqlite"
    senseless.write_bytes((folder / "baseline.sqlite").read_bytes())
    with sqlite3.connect(senseless) as db:
        db.execute("UPDATE COMPOSITE_EVENTS SET start = 9000000000000000000 WHERE id % 10 = 0")
    quick = folder / "quick.sqlite"
    make(quick, read=200, parse=300, augment=500, seed=2)
    plain, result = (report(folder, path, quick) for path in (folder / "baseline.sqlite", senseless))
    expect(plain["verdict"]["result"] == result["verdict"]["result"] == "faster", f"senseless samples: {result['verdict']['reasons']}")
    expect("samples of host threads make no sense" in json.dumps(result), "what was dropped is not said")


def check_rare(folder):
    """Of gapline's own sampler two samples of three are missing while the processor was needed, and every third one at
    other times: each stands for the way to its neighbours, unless that is too far to be lateness."""
    rare, unsaid = folder / "rare.sqlite", folder / "unsaid.sqlite"
    make(rare)
    db = sqlite3.connect(rare)
    busy = "SELECT id FROM SAMPLING_CALLCHAINS JOIN StringIds s ON s.id = symbol WHERE value = 'augment' AND id % 3 > 0"
    db.executescript(f"""CREATE TEMP TABLE gone AS {busy.replace('SELECT id', 'SELECT SAMPLING_CALLCHAINS.id')}
        UNION SELECT id FROM COMPOSITE_EVENTS WHERE id % 3 = 1;
        DELETE FROM SAMPLING_CALLCHAINS WHERE id IN (SELECT * FROM gone);
        DELETE FROM COMPOSITE_EVENTS WHERE id IN (SELECT * FROM gone);""".replace("id % 3 > 0", "SAMPLING_CALLCHAINS.id % 3 > 0"))
    db.commit()
    unsaid.write_bytes(rare.read_bytes())
    db.execute("CREATE TABLE IF NOT EXISTS GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL)")
    db.executemany("INSERT INTO GAPLINE_CAPTURE VALUES (?, ?)", [("sample_ns", "1000000"), ("samples_torn", "17")])
    db.commit()
    db.close()
    result = report(folder, rare, unsaid)
    sampling = result["functions"]["sampling"]
    expect(sampling["baseline"]["sampled_share"] > 0.95, f"rare: samples stand for {sampling['baseline']['sampled_share']}")
    expect(sampling["fixed"]["sampled_share"] < 0.8, "rare samples of a sampler that nobody knows stand for all time")
    (cause,) = [c for c in result["functions"]["causes"] if c["phase"] == "data_load"]
    of = by_name(cause["functions"])
    for name, ms in ("fread", 2), (EMPLACE, 3), ("augment", 5):  # to half of what one sample here and there stands for
        found = of[name]["baseline"]["self_ms"]
        expect(close(found, ms, 0.75), f"rare: {name} {found} ms, not {ms}")
    notes = json.dumps(result["baseline"])
    expect("17 samples of Python could not be read" in notes, "what could not be read is not said")


def check_nothing(folder):
    """Without samples nothing is said."""
    for seed in 1, 2:
        tiny_profile.write(folder / f"plain-{seed}.sqlite", seed=seed)
    result = report(folder, folder / "plain-1.sqlite", folder / "plain-2.sqlite")
    expect("functions" not in result, "functions without samples")
    expect('id="functions"' not in (folder / "report.html").read_text(encoding="utf-8"), "a section without samples")
    expect("Functions" not in run("show", folder / "plain-1.sqlite"), "show without samples")


# ---- a real capture, gap by gap ----


def spans(db, query, *values):
    return sorted(db.execute(query, values).fetchall())


class Inside:
    """Whether a time lies in one of many intervals."""

    def __init__(self, intervals):
        self.starts, self.until, last = [], [], -1
        for start, end in sorted(intervals):
            last = max(last, end)
            self.starts.append(start)
            self.until.append(last)

    def __call__(self, time):
        i = bisect.bisect_right(self.starts, time) - 1
        return i >= 0 and time < self.until[i]


def median_of(values):
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return (low + high) // 2


def states_of(db, thread):
    """When the thread was in a call, in the profiler, in the system, and off the processors."""
    found = []
    for table in "CUPTI_ACTIVITY_KIND_RUNTIME", "PROFILER_OVERHEAD", "OSRT_API":
        found.append(spans(db, f"SELECT start, end FROM {table} WHERE globalTid = ?", thread))
    off, before = [], None
    for start, comes in db.execute("SELECT start, isSchedIn FROM SCHED_EVENTS WHERE globalTid = ? ORDER BY start", (thread,)):
        if comes and before is not None:
            off.append((before, start))
        before = None if comes else start
    return found + [off]


def walk(db, warmup):
    """Samples that idle time of host code is charged with, by phase and innermost function: all of them, and those of
    gaps that do not last a millisecond, which all are of every step."""
    calls = {}
    for start, end, thread, correlation, name in db.execute(
        "SELECT start, end, globalTid, correlationId, value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId ORDER BY start DESC"
    ):
        calls[correlation] = (start, end, thread, name)
    ops = []
    for table in "KERNEL", "MEMCPY", "MEMSET":
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"CUPTI_ACTIVITY_KIND_{table}",)).fetchone():
            ops += db.execute(f"SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_{table}")
    ops.sort()
    steps = spans(db, "SELECT start, end FROM NVTX_EVENTS WHERE text = 'train_step'")
    ends, begins = [0] * len(steps), [s for s, _ in steps]
    for start, end, correlation in ops:
        k = bisect.bisect_right(begins, calls[correlation][0]) - 1
        if k >= 0 and calls[correlation][0] < steps[k][1]:
            ends[k] = max(ends[k], end)
    window = max(ends[:warmup]), max(ends)
    (main,) = db.execute("SELECT DISTINCT globalTid FROM COMPOSITE_EVENTS").fetchone()
    gaps, last = [], ops[0][1]
    for start, end, correlation in ops[1:]:
        if start > last:
            gaps.append((last, start, calls[correlation]))
        last = max(last, end)
    inside = [g1 - call[1] for g0, g1, call in gaps if g0 <= call[1] < g1]
    limit = max(3000, 2 * median_of(inside)) if len(inside) >= 20 else 10_000
    syncs = Inside((s, e) for s, e, t, name in calls.values() if t == main and "Synchronize" in name)
    states = {thread: states_of(db, thread) for thread in {call[2] for call in calls.values()}}
    elsewhere = Inside(sum(states[main], []))
    phases = spans(db, "SELECT start, end, text FROM NVTX_EVENTS WHERE globalTid = ? AND text IN ('next_batch', 'to_device', 'forward', 'backward', 'optimizer')", main)
    samples = db.execute(
        """SELECT e.start, s.value, m.value, c.unresolved FROM COMPOSITE_EVENTS e JOIN SAMPLING_CALLCHAINS c ON c.id = e.id AND c.stackDepth = 0
        JOIN StringIds s ON s.id = c.symbol JOIN StringIds m ON m.id = c.module WHERE e.globalTid = ? ORDER BY e.start""",
        (main,),
    ).fetchall()
    times = [s[0] for s in samples]
    found, short = collections.Counter(), collections.Counter()
    for g0, g1, (_, l1, thread, _) in gaps:
        if thread != main:
            continue
        r, shift, until = g1 - l1, 0, g1
        if r > 0 and (r > limit or syncs(g0)):
            until = max(l1, g0)
        elif r > 0:
            shift = r
        low, high = max(g0, window[0]), min(until, window[1])
        for i in range(bisect.bisect_left(times, low - shift), bisect.bisect_left(times, high - shift)):
            time, symbol, module, unresolved = samples[i]
            if elsewhere(time):
                continue
            phase = [name for start, end, name in phases if start <= time < end]
            key = phase[0] if phase else None, None if unresolved else symbol, module
            found[key] += 1
            short[key] += g1 - g0 <= 1_000_000
    return found, short


def check_capture(folder):
    captures = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
    packed = captures / "host-samples" / "baseline.sqlite.gz"
    if not packed.is_file():
        print(f"check_samples: no {packed}: the real capture is not looked at")
        return
    plain = folder / "capture.sqlite"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    for warmup in 1, 10:
        result = report(folder, plain, plain, "--warmup", warmup)
        check_sums(result["functions"])
        found, short = walk(sqlite3.connect(plain), warmup)
        for phase in "next_batch", "forward", "optimizer":
            (cause,) = [c for c in result["functions"]["causes"] if c["phase"] == phase and c["cause"] == "host_code"]
            most, least = ({key[1:]: n for key, n in counter.items() if key[0] == phase} for counter in (found, short))
            if phase == "next_batch":  # in every step, and long: nothing of it happened once
                least = most
            said = cause["baseline"]["samples"]
            expect(sum(least.values()) <= said <= sum(most.values()), f"{phase} from step {warmup + 1} on: {said} samples, counted {sum(least.values())} to {sum(most.values())}")
            for f in cause["functions"]:
                low, high = (sum(n for (symbol, module), n in counted.items() if symbol == f["name"] and module == f["module"]) for counted in (least, most))
                if f["kind"] in ("function", "module"):
                    expect(low <= f["baseline"]["self_samples"] <= high, f"{phase}: {f}: counted {low} to {high}")
    print("check_samples: the real capture's samples are those that its gaps are charged with")


# ---- Python's interpreter lock ----


def look(path, looks, every_ms=1):
    """Rows of gapline's sampler: (ns, whether the thread waits for the lock, how often that had changed hands or None)."""
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL)")
    db.execute("INSERT INTO GAPLINE_CAPTURE VALUES ('sample_ns', ?)", (str(every_ms * 1000 * US),))
    db.execute("CREATE TABLE GAPLINE_GIL (start INTEGER NOT NULL, globalTid INTEGER NOT NULL, waits INTEGER NOT NULL, holder INTEGER, sampleId INTEGER, switches INTEGER)")
    tid = tiny_profile.GLOBAL_PID | tiny_profile.TID
    db.executemany("INSERT INTO GAPLINE_GIL VALUES (?, ?, ?, NULL, NULL, ?)", [(t, tid, waits, switches) for t, waits, switches in looks])
    db.commit()
    db.close()


def check_lock(folder):
    """Of a thread that loads for 20 ms a step. What two looks show is charged to the lock, what they cannot show is said
    and passes no gate."""
    ms = 1000 * US
    plain, other = folder / "plain.sqlite", folder / "other.sqlite"
    for seed, path in enumerate((plain, other), 1):
        tiny_profile.write(path, steps=40, load=20 * ms, jitter=20 * US, seed=seed)
    loads = sqlite3.connect(plain).execute("SELECT start, end FROM NVTX_EVENTS WHERE text = 'data_load' ORDER BY start").fetchall()
    end = loads[-1][1] + 2 * ms
    all_along = range(0, end, ms)
    in_load = lambda t: any(a <= t < b for a, b in loads)
    starved = [t for t in all_along if t % (50 * ms) < 10 * ms] + [end]  # nobody looks for 41 ms of 50
    cases = {  # looks, what a step of 20 ms is charged with, and what is not known, and the gate idle:gil<1%
        "never": ([(t, 0, None) for t in all_along], 0, 0, "passed"),
        "always": ([(t, in_load(t), None) for t in all_along], 20, 0, "failed"),
        "starved": ([(t, 0, None) for t in starved], 0, 20 * 40 / 50, "inconclusive"),
        "starved, one thread's": ([(t, 0, 7) for t in starved], 0, 0, "passed"),
        "far apart": ([(a + k, 1, 1 + 2 * i + (k > 4 * ms)) for i, (a, _) in enumerate(loads) for k in (4 * ms, 16 * ms)], 0, 18, "inconclusive"),
        "far apart, one holder's": ([(a + k, 1, 1 + i) for i, (a, _) in enumerate(loads) for k in (4 * ms, 16 * ms)], 13, 7, "failed"),
        "one look": ([(loads[20][0] + 5 * ms, 0, None)], 0, 20, "inconclusive"),
    }
    for name, (looks, gil, unlooked, gate) in cases.items():
        pair = made, _ = folder / "lock.sqlite", folder / "lock-2.sqlite"
        for path, of in zip(pair, (plain, other)):
            path.write_bytes(of.read_bytes())
            tiny_samples.add(path, [("read_file", "/opt/acme/lib/libdata.so", 20 * ms)])
            look(path, looks)
        words = ["report", *pair, "-o", folder / "r.html", "--json", folder / "r.json", "-q", "--warmup", "1", "--gate", "idle:gil<1%"]
        subprocess.run([GAPLINE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = json.loads((folder / "r.json").read_text())
        found = sum(row["ms_per_step"] for row in result["baseline"]["budget"]["idle"] if row["cause"] == "gil")
        blind = result["functions"]["sampling"]["baseline"]["gil_unlooked_ms_per_step"]
        expect(close(found, gil, 0.6), f"{name}: {found} ms a step wait for the lock, not {gil}")
        expect(close(blind, unlooked, 1), f"{name}: nobody looked for {blind} ms a step, not {unlooked}")
        (said,) = [g for g in result["verdict"]["gates"] if g["name"] == "idle:gil<1%"]
        said_open = "unknown GIL waits" in said["text"]
        expect(said_open == (gate == "inconclusive"), f"{name}: {said['text']}")
        shown = run("show", made)
        expect(("idle time nothing looked" in " ".join(shown.split())) == (unlooked > 0), f"{name}: {shown}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        result = check_pair(folder)
        again = report(folder, folder / "baseline.sqlite", folder / "fixed.sqlite")
        expect(again["functions"] == result["functions"], "the same profiles do not give the same again")
        check_shared(folder)
        check_senseless(folder)
        check_partly(folder)
        check_rare(folder)
        check_nothing(folder)
        check_lock(folder)
        check_capture(folder)
    print("check_samples: functions are those that were sampled")


main()
