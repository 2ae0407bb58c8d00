#!/usr/bin/env python3
"""Requests by how long each of them takes, their tokens, and where the slowest of them, and of steps, wait.

    check_requests.py GAPLINE

The profiles are of tests/support/tiny_profile.py without jitter, so numbers are worked out here by hand: a step takes
load + 6 us + its kernels, 906 us in the baseline.
"""
import math
import pathlib
import random
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import by_hand  # noqa: E402
import tiny_profile as tiny  # noqa: E402
from by_hand import GAPLINE, check, near, report  # noqa: E402


def overlapping(path, at_once):
    """Each range goes on until `at_once` - 1 others have begun and ended: start/end ranges, as requests have."""
    db = sqlite3.connect(path)
    ends = db.execute("SELECT rowid, end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()
    for (row, _), (_, end) in zip(ends, ends[at_once - 1 :]):
        db.execute("UPDATE NVTX_EVENTS SET end = ?, eventType = 60 WHERE rowid = ?", (end, row))
    db.commit()
    db.close()


def requests(folder):
    """Three at once, each takes three steps' time; one at once on the fixed side: the time between ends is the same."""
    for name, seed in ("base", 1), ("fixed", 2):
        tiny.write(folder / f"{name}.sqlite", jitter=0, steps=70, load=400_000 + seed, seed=seed)
    overlapping(folder / "base.sqlite", 3)
    _, doc, *_ = report(folder)
    check(doc["baseline"]["steps"]["longest_request_ms"] is None, "of one side only: they are not compared")
    gates = "p50<=-60%", "p50<0.907ms", "p50<0.905ms", "p99<12ms"
    done, doc, _, _, page = report(folder, "--requests", "step", *(w for gate in gates for w in ("--gate", gate)))
    for side, right in ("baseline", 3), ("fixed", 1):
        steps, step = doc[side]["steps"], 0.906001 if side == "baseline" else 0.906002
        right *= step
        near(steps["period_ms"]["mean"], step, f"{side}: requests end as often")
        near(steps["longest_request_ms"], right, f"{side}: the longest")
        near(steps["quantiles"][0]["ms"], right, f"{side}: p50")
        check(steps["quantiles"][3]["lo_ms"] is None, f"{side}: p99 of 70 has an interval")
    results = [gate["result"] for gate in doc["verdict"]["gates"]]
    check(results == ["passed", "passed", "failed", "inconclusive"] and done.returncode == 1, "gates", doc["verdict"]["gates"])
    why = doc["verdict"]["gates"][3]["text"]
    check("p99 needs about 500 independent requests, and the fixed side has 6" in why, why)
    check("p50 of requests" in page and "longest request" in page, "the page's rows")
    _, _, _, _, page = report(folder, "--requests", "step")
    check("p99 needs about 500 independent requests, and the baseline has " in page, "without a gate, too")
    overlapping(folder / "fixed.sqlite", 3)
    _, doc, *_ = report(folder)
    near(doc["fixed"]["steps"]["longest_request_ms"], 3 * 0.906002, "ranges that overlap on both sides are requests")
    done, *_ = subprocess.run([GAPLINE, "report", folder / "base.sqlite", folder / "fixed.sqlite", "-o", folder / "no.html", "--requests", "a", "--step", "b"], capture_output=True, text=True), 0
    check(done.returncode == 2 and "--requests" in done.stderr, done.stderr)


def requests_of_two_gpus(folder):
    """Each request is on two GPUs that communicate, on the second one later: it takes from the first one's start to the second one's end."""
    late = {"base": 100_000, "fixed": 50_000}
    for seed, (name, later) in enumerate(late.items(), 1):
        path, tid = folder / f"{name}.sqlite", tiny.GLOBAL_PID | tiny.TID
        tiny.write(path, jitter=0, steps=70, load=400_000 + seed, seed=seed)
        db = sqlite3.connect(path)
        db.execute("UPDATE StringIds SET value = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL' WHERE id IN (1, 2)")
        db.execute(f"INSERT INTO NVTX_EVENTS SELECT start + {later}, end + {later}, eventType, rangeId, text, {tid + 1}, endGlobalTid, textId, domainId FROM NVTX_EVENTS")
        db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start + {later}, end + {later}, eventClass, {tid + 1}, correlationId + 10000, nameId, returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        db.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start + {later}, end + {later}, 1, 2, 9, correlationId + 10000, globalPid, demangledName, shortName, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL")
        db.commit()
        db.close()
    done, doc, *_ = report(folder, "--requests", "step", "--gate", "p50<=-4%", "--gate", "p50<0.957ms", "--gate", "p50<0.956ms")
    for side, right in ("baseline", 1.006001), ("fixed", 0.956002):
        near(doc[side]["steps"]["quantiles"][0]["ms"], right, f"{side}: p50")
        near(doc[side]["steps"]["period_ms"]["mean"], right - (0.1 if side == "baseline" else 0.05), f"{side}: requests end as often")
        check(doc[side]["steps"]["measured"] < 70, f"{side}: one request on both", doc[side]["steps"]["measured"])
    check([gate["result"] for gate in doc["verdict"]["gates"]] == ["passed", "passed", "failed"], "gates", doc["verdict"]["gates"])


def tokens(folder):
    """The first token is there when data has been loaded, the second at the step's end; then four ranges a step, of which
    the first launches all work."""
    loads = {"base": 400_000, "fixed": 300_000}
    for seed, (name, load) in enumerate(loads.items(), 1):
        tiny.write(folder / f"{name}.sqlite", jitter=0, steps=70, load=load + seed, seed=seed)
    gates = "p50:first<=-20%", "p50:first<0.35ms", "p50:each<0.5ms", "p99:first<1s"
    done, doc, text, _, page = report(folder, "--requests", "step", "--first", "data_load", "--each", "compute", *(w for gate in gates for w in ("--gate", gate)))
    for side, load in zip(("baseline", "fixed"), (0.400001, 0.300002)):
        first, each = doc[side]["steps"]["first_token"], doc[side]["steps"]["per_token"]
        check(first["requests"] == first["of"] == doc[side]["steps"]["measured"] == each["requests"], side, first)
        near(first["quantiles"][0]["ms"], load, f"{side}: to the first token")
        near(first["longest_ms"], load, f"{side}: the longest")
        near(each["quantiles"][1]["ms"], 0.506, f"{side}: each token")
        check(first["quantiles"][1]["lo_ms"] is not None and first["quantiles"][3]["lo_ms"] is None, side, first)
    near(doc["verdict"]["first_token"][0]["ratio"], 0.300002 / 0.400001, "the change")
    near(doc["verdict"]["per_token"][0]["ratio"], 1, "no change")
    results = [gate["result"] for gate in doc["verdict"]["gates"]]
    check(results == ["passed", "passed", "failed", "inconclusive"] and done.returncode == 1, "gates", doc["verdict"]["gates"])
    for time in "to first token", "per output token":
        check(f"p99 {time} needs about 500 independent requests" in " ".join(page.split()), "too few", time)
    check("p99 to first token needs about 500" in doc["verdict"]["gates"][3]["text"], "of which time", doc["verdict"]["gates"][3])
    check("p50 to first token" in page and "p90 per output token" in page and "longest to first token" in page, "the page's rows")
    lines = [line for line in text.splitlines() if "1st token" in line]
    check(len(lines) == 1 and "p50 0.4000 \u2192 0.3000 ms (-25.0 to -25.0 %)" in lines[0], "the terminal", text)
    for name in loads:  # the first range ends before its work, and holds others of its name
        db = sqlite3.connect(folder / f"{name}.sqlite")
        for start, end, tid in db.execute("SELECT start, end, globalTid FROM NVTX_EVENTS WHERE text = 'compute' ORDER BY start").fetchall()[:-7]:
            quarter = (end - start) // 4
            for k in range(4):
                stop = end if k == 3 else start + (k + 1) * quarter
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, 'token', ?, NULL, NULL, 0)", (start + k * quarter, stop, tid))
                db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, NULL, 'token', ?, NULL, NULL, 0)", (start + k * quarter + 1, stop - 1, tid))
        db.commit()
        db.close()
    _, doc, _, _, page = report(folder, "--requests", "step", "--first", "token", "--each", "token")
    first, each = (doc["baseline"]["steps"][key] for key in ("first_token", "per_token"))
    check(first["requests"] == first["of"] - 7 and "62 of 69 requests" not in page and "of 138 requests" in page, "some have none", first)
    near(first["quantiles"][0]["ms"], 0.400001 + 0.503, "the work of the first range")
    near(each["quantiles"][0]["ms"], 0.003 / 3, "three more tokens")
    _, doc, *_ = report(folder, "--requests", "step", "--each", "token")
    check(doc["baseline"]["steps"]["first_token"] is None, "not asked for")
    near(doc["baseline"]["steps"]["per_token"]["quantiles"][0]["ms"], 0.003 / 3, "without the first one's name")
    run = [GAPLINE, "report", folder / "base.sqlite", folder / "fixed.sqlite", "-o", folder / "no.html"]
    for words, why in (["--first", "nothing"], "no request holds a range 'nothing' on its own thread"), (["--each", "data_load"], "after its first token"), (["--step", "none", "--first", "token"], "have no time of their own"):
        done = subprocess.run([*run, *words], capture_output=True, text=True)
        check(done.returncode == 2 and why in done.stderr and words[-2] in done.stderr, words, done.returncode, done.stderr)
    overlapping(folder / "base.sqlite", 3)
    done = subprocess.run([*run, "--requests", "step", "--first", "token"], capture_output=True, text=True)
    check(done.returncode == 2 and "lies in several requests that are open on one thread" in done.stderr, done.stderr)


def log_of_requests(folder):
    """A log of 10,000 requests, lognormal, some three times as long, each resembling the one before. What gapline says of each
    500 is what the log says of them, and the intervals hold the quantiles of the whole log."""
    chance, level, log = random.Random(41), 0.0, []
    for _ in range(10_000):
        level = 0.3 * level + chance.gauss(0, 0.4)
        log.append(round(1_000_000 * math.exp(level) * (3 if chance.random() < 0.05 else 1)))
    whole, rest, held, told = sorted(log), 506_000, 0, 0

    def quantile(ordered, p):
        return (ordered[math.ceil(len(ordered) * p - 1e-9) - 1] + rest) / 1e6

    for first in range(0, len(log), 1000):
        parts = [log[first : first + 500], log[first + 500 : first + 1000]]
        for i, part in enumerate(parts):
            path = folder / ("fixed.sqlite" if i else "base.sqlite")
            path.unlink(missing_ok=True)
            tiny.write(path, jitter=0, steps=501, loads=[1_000_000 + i, *part], seed=1 + i)
        _, doc, *_ = report(folder, "--requests", "step", "--warmup", "1")
        for side, part in zip(("baseline", "fixed"), parts):
            check(doc[side]["steps"]["measured"] == 500, "measured", doc[side]["steps"]["measured"])
            for q in doc[side]["steps"]["quantiles"]:
                near(q["ms"], quantile(sorted(part), q["p"]), f"requests {first}, {side}, p{q['p']}")
                if q["lo_ms"] is not None:
                    told += 1
                    held += q["lo_ms"] <= quantile(whole, q["p"]) <= q["hi_ms"]
    check(told >= 55 and held >= 0.93 * told, "intervals", held, "of", told, "hold the log's quantiles")


def pause(path, first, every, ns, call=None):
    """In the loads of some steps the host does nothing for so long, or is in a call."""
    db = sqlite3.connect(path)
    tid, = db.execute("SELECT globalTid FROM NVTX_EVENTS").fetchone()
    db.execute("INSERT INTO StringIds VALUES (99, ?)", (call or "",))
    for (at,) in db.execute("SELECT start FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start DESC").fetchall()[first::every]:
        for table in "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS":
            db.execute(f"UPDATE {table} SET start = start + ? WHERE start > ?", (ns, at))
            db.execute(f"UPDATE {table} SET end = end + ? WHERE end > ?", (ns, at))
        if call:
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, 0, 99, 0)", (at + 1000, at + 1000 + ns, tid))
    db.commit()
    db.close()


def slowest(folder):
    """Of 500 steps each hundredth loads 5 ms longer: the slowest 1 % are these five, and wait for the host in data_load.
    200 steps have two, which are too few."""
    for name, seed in ("base", 1), ("fixed", 2):
        tiny.write(folder / f"{name}.sqlite", jitter=0, steps=501, load=400_000 + seed, seed=seed)
    pause(folder / "base.sqlite", 50, 100, 5_000_000)
    _, doc, said, _, page = report(folder, "--warmup", "1")
    slow = doc["baseline"]["steps"]["slowest"]
    check(slow and slow["steps"] == 5 and slow["of"] == 500 and not slow["requests"], "slowest", slow)
    near(slow["longer_ms"], 5, "how much longer")
    near(slow["usual_ms"], 0.906001, "those about the median")
    check([(p["kind"], p["cause"], p["phase"]) for p in slow["parts"]] == [("idle", "host_code", "data_load")], "parts", slow["parts"])
    near(slow["parts"][0]["longer_ms"], 5, "the part")
    check("the slowest 5 of 500 steps take 5.000 ms" in page and "GPU idle, host code in data_load 5.000 ms" in page, "the page")
    check("Baseline: the slowest 5 of 500 steps" in " ".join(said.split()), "the terminal", said)
    check(doc["fixed"]["steps"]["slowest"] is None, "none is slower", doc["fixed"]["steps"]["slowest"])
    for name, seed in ("base", 1), ("fixed", 2):
        tiny.write(folder / f"{name}2.sqlite", jitter=0, steps=201, load=400_000 + seed, seed=seed)
        (folder / f"{name}2.sqlite").rename(folder / f"{name}.sqlite")
    _, doc, _, _, page = report(folder, "--warmup", "1")
    check(doc["baseline"]["steps"]["slowest"] is None and "the slowest 1 % of 200 steps is 2: too few" in page, "two")


def groups(times):
    """Which are the slowest 1 %, and the tenth about the median."""
    order = sorted(range(len(times)), key=lambda i: (times[i], i))
    usual, slow = len(times) // 10, math.ceil(len(times) / 100)
    first = (len(times) - usual) // 2
    return order[first : first + usual], order[-slow:]


def mean(values):
    return sum(values) / len(values)


def spread(values):
    return sum((v - mean(values)) ** 2 for v in values) / (len(values) - 1) / len(values)


def slowest_by_hand(folder):
    """1,500 steps in blocks of four, each with a load of its own: what the slow ones have more is load."""
    chance = random.Random(5)
    for name, seed in ("base", 1), ("fixed", 2):
        loads = [400_000] + [round(400_000 * math.exp(chance.gauss(0, 0.3))) for _ in range(1500)]
        tiny.write(folder / f"{name}.sqlite", jitter=0, steps=1501, loads=loads, seed=seed)
        if name == "base":
            usual, slow = ([loads[1 + i] / 1e6 for i in group] for group in groups(loads[1:]))
    _, doc, *_ = report(folder, "--warmup", "1")
    found = doc["baseline"]["steps"]["slowest"]
    part, more = found["parts"][0], mean(slow) - mean(usual)
    check(found["steps"] == 15 and len(found["parts"]) == 1 and part["cause"] == "host_code", "by hand", found)
    near(found["usual_ms"], mean(usual) + 0.506, "usual, by hand")
    near(found["slowest_ms"], mean(slow) + 0.506, "slow, by hand")
    for row in found, part:
        near(row["longer_ms"], more, "longer, by hand")
        t = row["longer_half_width_ms"] / math.sqrt(spread(slow) + spread(usual))
        check(2.14 < t < 2.15, "Student's t of 14 to 15 degrees of freedom", t)


def slow_requests(folder):
    """A server of three requests at once, of which every 150th allocates for 5 ms: so it is found, for requests and for
    steps, each held against the rows of the profile."""
    for name, seed in ("base", 1), ("fixed", 2):
        tiny.write(folder / f"{name}.sqlite", jitter=20_000, steps=1501, seed=seed)
    pause(folder / "base.sqlite", 75, 150, 5_000_000, "cudaMalloc_v3020")
    db = sqlite3.connect(folder / "base.sqlite")
    ends = [end for (end,) in db.execute("SELECT max(end) FROM (SELECT end, row_number() OVER (ORDER BY start) - 1 AS i FROM CUPTI_ACTIVITY_KIND_KERNEL) GROUP BY i / 5 ORDER BY 1")]
    calls = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = 99").fetchall()
    db.close()
    check(len(ends) == 1501 and len(calls) == 10, "made", len(ends), len(calls))
    for requests in False, True:
        spans = list(zip(ends, ends[1:]))
        if requests:
            overlapping(folder / "base.sqlite", 3)
            overlapping(folder / "fixed.sqlite", 3)
            db = sqlite3.connect(folder / "base.sqlite")
            spans = db.execute("SELECT start, end FROM NVTX_EVENTS WHERE text = 'step' ORDER BY start").fetchall()[1:]
            db.close()
        _, doc, *_ = report(folder, "--warmup", "1")
        slow = doc["baseline"]["steps"]["slowest"]
        groups_of = groups([end - start for start, end in spans])
        usual, slowest = ([sum(max(0, min(b, end) - max(a, start)) for a, b in calls) / 1e6 for start, end in (spans[i] for i in group)] for group in groups_of)
        check(slow and slow["requests"] == requests and slow["steps"] == 15 and slow["of"] == 1500, "requests", requests, slow)
        top, more = slow["parts"][0], mean(slowest) - mean(usual)
        check((top["kind"], top["cause"], top["phase"]) == ("idle", "alloc", "data_load"), "the cause", requests, slow["parts"])
        check(abs(top["longer_ms"] - more) < 0.02 and more > (4.9 if requests else 3.2), "as the rows say", requests, top, more)
        check(top["longer_half_width_ms"] < 1.6 and abs(slow["longer_ms"] - more) < 0.15, "its interval", requests, slow)


def serve(path, seed, pauses, gpus=1):
    """A server of eight threads, of which each uses one of the GPUs: 1,501 requests of three kernels each, which run beside others'. With
    `pauses`, every 100th has kernels forty times as long, behind which all that is launched waits, and every 130th loads 4 ms longer."""
    chance = random.Random(seed)
    path.unlink(missing_ok=True)
    tiny.write(path, steps=1, seed=seed)
    free, exclusive, rows = [0] * 8, 0, {"KERNEL": [], "RUNTIME": [], "NVTX": []}
    for i in range(1501):
        heavy, paused = pauses and i % 100 == 60, pauses and i % 130 == 90
        lane = i % 8
        begin = max(1_000_000 + 200_000 * i + chance.randrange(50_000), free[lane])
        at, tid = begin + 100_000 + chance.randrange(100_000) + 4_000_000 * paused, tiny.GLOBAL_PID | 100 + lane
        done = 0
        for k in range(3):
            start = max(at + 3_000, done, exclusive)
            done = start + (60_000 + chance.randrange(30_000)) * (40 if heavy else 1)
            rows["RUNTIME"].append((at, at + 2_000, 0, tid, 3 * i + k + 1, 3, 0))
            rows["KERNEL"].append((start, done, lane % gpus, 1 + lane % gpus, 7 + lane, 3 * i + k + 1, tiny.GLOBAL_PID, 1, 2, None))
            at += 4_000
        exclusive = done if heavy else exclusive
        free[lane] = done + 5_000
        rows["NVTX"].append((begin, done + 3_000, 59, None, "request", tid, None, None, 0))
    db = sqlite3.connect(path)
    for kind, table in ("KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"), ("RUNTIME", "CUPTI_ACTIVITY_KIND_RUNTIME"), ("NVTX", "NVTX_EVENTS"):
        db.execute(f"DELETE FROM {table}")
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[kind][0]))})", rows[kind])
    db.commit()
    db.close()


def whose_work(path):
    """Of each request but the first, and the last, which nothing shows to be over where ends overtake each other, ms: itself, its own
    kernels, others' on its GPU while none of its own runs, nothing; stretch by stretch."""
    db = sqlite3.connect(path)
    requests = db.execute("SELECT start, end, globalTid FROM NVTX_EVENTS ORDER BY start").fetchall()
    kernels = db.execute("SELECT k.start, k.end, r.globalTid, r.start, k.deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)").fetchall()
    db.close()
    found = []
    for begin, end, tid in requests[1:-1]:
        gpu, = {gpu for *_, who, launched, gpu in kernels if who == tid and begin <= launched < end}
        there = [(a, b, who == tid and begin <= launched < end) for a, b, who, launched, at in kernels if a < end and b > begin and at == gpu]
        cuts = sorted({begin, end, *(t for a, b, _ in there for t in (a, b) if begin < t < end)})
        sums = [0, 0, 0]
        for a, b in zip(cuts, cuts[1:]):
            running = [own for x, y, own in there if x < b and y > a]
            sums[0 if any(running) else 1 if running else 2] += b - a
        found.append([(end - begin) / 1e6, *(ns / 1e6 for ns in sums)])
    return found


def own_or_others(folder, gpus=2):
    """Requests that are slow by their own kernels, behind others' and for the host: whose work the GPU did meanwhile, held against
    the rows; on two GPUs, and on one. On one thread nothing tells whose it was."""
    for name, seed in ("base", 1), ("fixed", 2):
        serve(folder / f"{name}.sqlite", seed, name == "base", gpus)
    _, doc, said, _, page = report(folder, "--requests", "request", "--warmup", "1")
    slow, truth = doc["baseline"]["steps"]["slowest"], whose_work(folder / "base.sqlite")
    usual, slowest = ([truth[i] for i in group] for group in groups([row[0] for row in truth]))
    check(slow and slow["requests"] and slow["steps"] == 15 and slow["of"] == 1499 and slow["gpu"], "own or others", slow)
    for column, row in enumerate((slow, *(slow["gpu"][key] for key in ("own", "others", "idle")))):
        before, after = ([values[column] for values in group] for group in (usual, slowest))
        near(row["usual_ms"], mean(before), f"usual, column {column}")
        near(row["slowest_ms"], mean(after), f"slowest, column {column}")
        near(row["longer_ms"], mean(after) - mean(before), f"longer, column {column}")
        t = row["longer_half_width_ms"] / math.sqrt(spread(after) + spread(before))
        check(1.96 < t < 2.15, "Student's t", column, t)
    own, others, idle = (slow["gpu"][key]["longer_ms"] for key in ("own", "others", "idle"))
    check(min(own, others) > 0.05 * slow["longer_ms"], "both are there", slow)
    near(own + others + idle, slow["longer_ms"], "they add up")
    if gpus > 1:
        return own_or_others(folder, 1)
    check("while none of theirs" in " ".join(page.split()) and "while none of theirs" in " ".join(said.split()), "the words", said)
    tid = str(tiny.GLOBAL_PID | 100)
    for name in "base", "fixed":
        db = sqlite3.connect(folder / f"{name}.sqlite")
        db.execute(f"UPDATE NVTX_EVENTS SET globalTid = {tid}, eventType = 60")
        db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = {tid}")
        db.commit()
        db.close()
    _, doc, _, _, page = report(folder, "--requests", "request", "--warmup", "1")
    slow = doc["baseline"]["steps"]["slowest"]
    check(slow and slow["gpu"] is None and "while none of theirs" not in page and "Whose work the GPU did is unknown" in page, "one thread", slow)


by_hand.run([requests, requests_of_two_gpus, tokens, log_of_requests, slowest, slowest_by_hand, slow_requests, own_or_others])
