#!/usr/bin/env python3
"""What --perfetto writes, held against the documented format and against other sources.

    check_perfetto.py GAPLINE

The format is Google's "Trace Event Format" (the JSON Object Format). A small reader of our own goes through the file a
piece at a time, as viewers do. Idle slices must add up to the report's budget, cause by cause, to the nanosecond; events
to what SQL says of the same profile; slices of a row must nest; no time is negative; both sides' windows begin together.
"""
import collections
import decimal
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tiny_profile

GAPLINE = os.path.abspath(sys.argv[1])
CAPTURES = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
HOSTILE = 'a"],"\\u0000</script>\x1b[31m\x07 \u202e=cmd|{}\\ \ud800'.encode("utf-8", "surrogatepass").decode("latin-1")
failures = []


def expect(truth, what, *of):
    """`of` is put into words only where something is not so: there are many events."""
    if not truth:
        failures.append(what)
        print("not so:", what, *of)


class Trace:
    """The events, one at a time; what stands around them, afterwards."""

    def __init__(self, path):
        self.path, self.around = path, {}
        self.text = 0

    def __iter__(self):
        decoder = json.JSONDecoder(parse_float=decimal.Decimal)
        with gzip.open(self.path, "rt", encoding="utf-8", errors="strict") as source:
            text, mark = "", '"traceEvents":['
            while mark not in text:
                piece = source.read(1 << 16)
                if not piece:
                    raise ValueError("no traceEvents")
                text += piece
            head, text = text.split(mark, 1)
            self.text = len(head) + len(mark) + len(text)
            at = 0
            while True:
                at += text.startswith(",", at)
                if text.startswith("]", at):
                    break
                try:
                    event, at = decoder.raw_decode(text, at)
                except json.JSONDecodeError:
                    piece = source.read(1 << 20)
                    if not piece:
                        raise
                    self.text += len(piece)
                    text, at = text[at:] + piece, 0
                    continue
                yield event
            text = text[at:]
            self.around = json.loads(head + mark + text + source.read())


def ns(microseconds):
    value = decimal.Decimal(microseconds) * 1000
    expect(value == int(value), "no whole ns", microseconds)
    return int(value)


METADATA = {"process_name": str, "process_sort_index": int, "thread_name": str, "thread_sort_index": int}


def check_fields(e):
    common = {"ph", "name", "pid", "tid"}
    expect(common <= e.keys() and isinstance(e["name"], str), "fields", e)
    expect(all(isinstance(e[k], int) and 0 <= e[k] < 2**31 for k in ("pid", "tid")), "numbers", e)
    if e["ph"] == "M":
        value = e["args"]["name" if e["name"].endswith("_name") else "sort_index"]
        expect(e.keys() == common | {"args"} and isinstance(value, METADATA[e["name"]]), "metadata", e)
    elif e["ph"] == "X":
        expect(e.keys() == common | {"cat", "ts", "dur", "args"} and isinstance(e["args"], dict), "slice", e)
    else:
        expect(e["ph"] == "i" and e.keys() == common | {"ts", "s"} and e["s"] in "gpt", "instant", e)


class Read:
    """Slices by row, after the checks that hold for every trace."""

    def __init__(self, path):
        self.names, self.rows, self.instants, open_at = {}, collections.defaultdict(list), [], collections.defaultdict(list)
        trace = Trace(path)
        for e in trace:
            check_fields(e)
            row = (e["pid"], e["tid"])
            if e["ph"] == "M" and e["name"].endswith("_name"):
                key = row if e["name"] == "thread_name" else e["pid"]
                expect(key not in self.names, "named twice", e)
                self.names[key] = e["args"]["name"]
            elif e["ph"] == "i":
                self.instants.append(ns(e["ts"]))
            elif e["ph"] == "X":
                start, length = ns(e["ts"]), ns(e["dur"])
                expect(start >= 0 and length >= 0, "before the beginning", e)
                expect(row in self.names and e["pid"] in self.names, "of nothing that has a name", e)
                opened = open_at[row]
                while opened and opened[-1] <= start:
                    opened.pop()
                expect(not opened or start + length <= opened[-1], "does not nest", e)
                opened.append(start + length)
                self.rows[row].append((start, start + length, e["name"], e["cat"], e["args"]))
        self.around, self.text = trace.around, trace.text
        expect(self.around["displayTimeUnit"] == "ns" and isinstance(self.around["otherData"], dict), f"{self.around}")

    def slices(self, side, *categories):
        """(process, row, start, end, name, args) of a side."""
        for (pid, tid), slices in self.rows.items():
            if self.names[pid].startswith(side):
                for start, end, name, category, args in slices:
                    if category in categories:
                        yield self.names[pid], self.names[pid, tid], start, end, name, args


def write(folder, baseline, fixed, *more):
    trace, result = folder / "trace.json.gz", folder / "result.json"
    done = subprocess.run([GAPLINE, "report", baseline, fixed, "-q", "--perfetto", trace, "--json", result, *more],
                          capture_output=True, timeout=600)
    if done.returncode:
        sys.exit(f"{baseline}: {done.returncode}: {done.stderr.decode()}")
    return Read(trace), json.loads(result.read_text())


def check_budget(what, read, result):
    """Idle slices beside the budget, and the windows."""
    begins = set()
    for side in ("baseline", "fixed"):
        said = result[side]
        measured = [(a, b) for _, _, a, b, name, _ in read.slices(side, "step") if name == "measured"]
        expect(len(measured) == 1, f"{what}, {side}: {len(measured)} windows")
        run = said["runs"][said["shown"]["run"]]
        expect(measured[0][1] - measured[0][0] == round(run["window_ms"] * 1e6), f"{what}, {side}: window {measured}")
        begins.add(measured[0][0])
        steps = [(a, b) for _, _, a, b, name, args in read.slices(side, "step") if args.get("measured")]
        if said["steps"]["found"]:
            wanted = [round(p * 1e6) for p in run["period_ms"]]
            all_steps = [b - a for _, _, a, b, name, _ in read.slices(side, "step") if name != "measured"]
            expect(all_steps == wanted, f"{what}, {side}: steps {all_steps[:3]} {wanted[:3]}")
            expect(steps[0][0] == measured[0][0] and steps[-1][1] == measured[0][1], f"{what}, {side}: steps begin elsewhere")
        if len(said["runs"]) > 1:
            continue
        found = collections.Counter()
        for _, row, start, end, name, args in read.slices(side, "idle"):
            expect(measured[0][0] <= start and end <= measured[0][1], f"{what}, {side}: idle outside the window")
            expect(row == f"idle, GPU {args['gpu']}", f"{what}: {row}")
            found[args["gpu"], name, args["phase"]] += end - start
        per = len(steps) if said["steps"]["found"] else 1
        wanted = collections.Counter()
        for device in said["devices"]:
            for row in device["idle"]:
                wanted[device["id"], row["cause"], row["phase"]] += round(row["ms_per_step"] * per * 1e6)
            total = sum(v for k, v in found.items() if k[0] == device["id"])
            expect(total == round(device["per_step"]["idle"] * per * 1e6), f"{what}, {side}, GPU {device['id']}: {total} ns idle")
        gpus = {re.search(r": GPU (\d+), device \d+ of process", name)[1] for name, *_ in read.slices(side, "kernel", "communication", "graph")}
        expect(gpus == {str(d["id"]) for d in said["devices"]}, f"{what}, {side}: GPUs {gpus}")
        expect(sum(found.values()) > 0, f"{what}, {side}: no idle slices")
        expect(found == wanted, f"{what}, {side}: {dict((found - wanted) + (wanted - found))}")
    expect(len(begins) == 1 and read.instants == list(begins), f"{what}: windows begin at {begins}, {read.instants}")


EVENTS = {  # categories: count and time in SQL
    ("kernel", "communication"): 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL',
    ("copy",): 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY',
    ("memset",): 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMSET',
    ("graph",): 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE',
    ("cuda",): 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME',
    ("nvtx",): 'SELECT count(*), sum("end" - start) FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND "end" NOT NULL',
}


def check_events(what, read, side, profile):
    db, compared = sqlite3.connect(profile), 0
    db.text_factory = bytes
    for categories, sql in EVENTS.items():
        try:
            n, time = db.execute(sql).fetchone()
        except sqlite3.OperationalError:
            n, time = 0, 0
        spans = [end - start for _, _, start, end, _, _ in read.slices(side, *categories)]
        expect((len(spans), sum(spans)) == (n, time or 0), f"{what}, {side}, {categories}: {len(spans)}, {sum(spans)} ns, not {n}, {time}")
        compared += n
    db.close()
    expect(compared, f"{what}, {side}: nothing was compared")


def unpacked(folder, packed, name):
    plain = folder / name
    with gzip.open(packed) as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def pairs(folder):
    """Small ones with known rows, recorded ones of one GPU and of two, graphs, no steps."""
    tiny = [folder / "tiny-a.sqlite", folder / "tiny-b.sqlite"]
    tiny_profile.write(tiny[0])
    tiny_profile.write(tiny[1], load=50_000, seed=2, steps=40)
    yield "tiny", *tiny, ()
    yield "tiny, without steps", *tiny, ("--step", "none")
    recorded = [("training-step", ROOT / "examples/training-step", True)]
    recorded += [(name, CAPTURES / name, True) for name in ("ddp-2gpu", "tiny-kernels-graph", "pinned-prefetch")]
    for name, place, whole in recorded:
        if (place / "baseline.sqlite.gz").is_file():
            yield name, *(unpacked(folder, place / f"{s}.sqlite.gz", f"{s}.sqlite") for s in ("baseline", "fixed")), ()
        else:
            print(f"{name}: not there")


def hostile(folder):
    """Names that would be markup, JSON or commands, ranges that overlap freely, more of them than there are rows."""
    a, b = folder / "hostile-a.sqlite", folder / "hostile-b.sqlite"
    for path, seed in ((a, 1), (b, 2)):
        tiny_profile.write(path, seed=seed)
        db = sqlite3.connect(path)
        db.execute("UPDATE StringIds SET value = CAST(? AS TEXT) WHERE id IN (1, 2)", (HOSTILE,))
        db.execute("UPDATE NVTX_EVENTS SET text = CAST(? AS TEXT) WHERE text = 'data_load'", (HOSTILE.encode("latin-1"),))
        (last,) = db.execute('SELECT max("end") FROM NVTX_EVENTS').fetchone()
        rows = [(1000 + i, 1000 + i + last // 2, 60, i, f"request {i}", tiny_profile.GLOBAL_PID | 100, None, None, 0) for i in range(100)]
        db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.commit()
        db.close()
    read, result = write(folder, a, b, "--baseline-name", HOSTILE.encode("latin-1").decode("utf-8", "replace"), "--step", "step")
    check_budget("hostile", read, result)
    left = read.around["otherData"]["left out: overlap too many others"]
    ranges = [s for s in read.slices("baseline", "nvtx")] + [s for s in read.slices("fixed", "nvtx")]
    expect(left > 0 and left + len(ranges) == 2 * (3 * 60 + 100), f"hostile: {left} left out, {len(ranges)} ranges")
    texts = [t for row in read.rows.values() for s in row for t in (s[2], *map(str, s[4].values()))] + list(read.names.values())
    bad = [t for t in texts if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c == "\u202e" for c in t)]
    expect(not bad, f"hostile: control characters in {bad[:3]}")
    expect(any("</script>" in t for t in texts), "hostile: the name is not there")


def memory(folder):
    """Written event by event: what is packed is in memory, and the text never is."""
    a, b = folder / "large-a.sqlite", folder / "large-b.sqlite"
    tiny_profile.write(a, steps=4000, kernels=20, kernel=5000)
    tiny_profile.write(b, steps=4000, kernels=20, kernel=5000, load=50_000, seed=2)
    trace, most = folder / "large.json.gz", []
    for more in ([], ["--perfetto", str(trace)]):
        pid = os.posix_spawn(GAPLINE, [GAPLINE, "report", str(a), str(b), "-q", *more], os.environ)
        _, status, used = os.wait4(pid, 0)
        expect(status == 0, f"large: status {status}")
        most.append(used.ru_maxrss * 1024)
    read = Read(trace)
    more, packed = most[1] - most[0], trace.stat().st_size
    print(f"{read.text >> 20} MiB of JSON in {packed >> 20} MiB; {more >> 20} MiB more memory than without")
    expect(read.text > 45 << 20, f"large: only {read.text} bytes")
    expect(more < read.text / 3, f"large: {more} bytes more memory, {read.text} bytes of JSON")
    check_events("large", read, "baseline", a)


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-perfetto-") as made:
        folder = pathlib.Path(made)
        for what, baseline, fixed, more in pairs(folder):
            read, result = write(folder, baseline, fixed, *more)
            check_budget(what, read, result)
            check_events(what, read, "baseline", baseline)
            check_events(what, read, "fixed", fixed)
            again = (folder / "trace.json.gz").read_bytes()
            write(folder, baseline, fixed, *more)
            expect(again == (folder / "trace.json.gz").read_bytes(), f"{what}: other bytes the second time")
        hostile(folder)
        memory(folder)
    print(f"{len(failures)} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
