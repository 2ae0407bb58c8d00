#!/usr/bin/env python3
"""Files to begin fuzzing from, one of each kind of everything, small.

    seeds.py FOLDER     writes FOLDER/CORPUS/... ; the corpora that were grown from them are in corpus/ (corpus.py)
"""

import base64
import gzip
import json
import pathlib
import sqlite3
import struct
import sys
import zlib

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
import digest_file
import tiny_kineto
import tiny_ncu
import tiny_profile
import tiny_spool
import tiny_store


def write_metrics(path):
    """Hardware counters in both of nsys's layouts, as rows and as JSON."""
    db = sqlite3.connect(path)
    names = ["SMs Active [Throughput %]", "Tensor Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]", "PCIe RX Throughput [Throughput %]"]
    kind = 0x1000100000000
    db.executescript("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, metricName TEXT);"
                     "CREATE TABLE GPU_METRICS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, metricId INTEGER, value);"
                     "CREATE TABLE GENERIC_EVENTS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, data TEXT);")
    db.executemany("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 0, '', ?, ?)", [(kind, i, name) for i, name in enumerate(names)])
    (begin, end) = db.execute('SELECT min(start), max("end") FROM CUPTI_ACTIVITY_KIND_KERNEL').fetchone()
    for at in range(begin, end, (end - begin) // 40):
        db.executemany("INSERT INTO GPU_METRICS VALUES (?1, ?1, ?2, ?3, ?4)", [(at, kind, i, 20 * i) for i in range(len(names))])
        db.execute("INSERT INTO GENERIC_EVENTS VALUES (?1, ?1, ?2, ?3)", (at, kind, '{"SMs Active": "40", "Tensor Active": "3"}'))
    db.commit()
    db.close()


def write_own(path):
    """What gapline adds to a profile."""
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE GAPLINE_CAPTURE (name TEXT NOT NULL, value TEXT NOT NULL);"
        "CREATE TABLE GAPLINE_JOB (name TEXT NOT NULL, value TEXT NOT NULL);"
        "CREATE TABLE GAPLINE_GPU (gpu INTEGER NOT NULL, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER);"
        "CREATE TABLE GAPLINE_GPU_STATE (time INTEGER NOT NULL, gpu INTEGER NOT NULL, sm_mhz INTEGER, memory_mhz INTEGER, power_mw INTEGER,"
        " temperature_c INTEGER, busy_percent INTEGER, throttle INTEGER);"
        "CREATE TABLE GAPLINE_STOPWATCH (start INTEGER, time INTEGER, steps INTEGER, process INTEGER, unused TEXT, step TEXT, launches INTEGER);"
        "INSERT INTO GAPLINE_CAPTURE VALUES ('gapline', '0.1.0'), ('collector', 'cupti'), ('cupti', '13.0.1'), ('gpu_state', 'NVML'), ('dropped', '1');"
        "INSERT INTO GAPLINE_JOB VALUES ('RANK', '0'), ('WORLD_SIZE', '2'), ('host', 'a');"
        "INSERT INTO GAPLINE_GPU VALUES (0, 'GPU-01234567-89ab-cdef-0123-456789abcdef', '0000:18:00.0', 'Test GPU', 1980);")
    for i in range(8):
        db.execute("INSERT INTO GAPLINE_GPU_STATE VALUES (?, 0, 1700, 2000, 300000, 55, 97, 4)", (i * 1_000_000,))
    for i in range(3):
        db.execute("INSERT INTO GAPLINE_STOPWATCH VALUES (?, 8000000, 8, 9000000, NULL, 'step', 0)", (1_795_000_000_000_000_000 + i * 10**9,))
    db.commit()
    db.close()


def write_payloads(path):
    """What NCCL says of its calls, as bytes and as JSON; a scheduler's events, a very long name."""
    db = sqlite3.connect(path)
    entries = [(16777225, 18, "NCCL communicator ID", 0), (16777225, 22, "Message size [bytes]", 8), (16777225, 15, "Peer rank", 16),
               (16777227, 18, "NCCL communicator ID", 0), (16777227, 15, "No. of ranks", 8), (16777227, 15, "Rank", 12)]
    db.executescript("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId INTEGER, type INTEGER, name TEXT, offset INTEGER);"
                     "ALTER TABLE NVTX_EVENTS ADD COLUMN binaryData BLOB; ALTER TABLE NVTX_EVENTS ADD COLUMN jsonText TEXT;"
                     "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER);")
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?, ?, ?, ?)", entries)
    comm, tid = 4196292613967765502, tiny_profile.GLOBAL_PID | tiny_profile.TID
    head = lambda schema: struct.pack("<QQQQ", 1, schema, 24, 32)
    sends = struct.pack("<QQiI", comm, 4 << 20, 0, 0)
    makes = struct.pack("<QIIII", comm, 2, 1, 0, 0)
    rows = [("ncclSend", head(16777225) + sends, None), ("ncclCommInitRankConfig", head(16777227) + makes, None),
            ("ncclAllReduce", None, json.dumps({"NCCL communicator ID": comm, "Message size [bytes]": 4096})),
            ("ncclCommInitRank", None, json.dumps({"NCCL communicator ID": comm, "No. of ranks": 2, "Rank": 1, "x": [1, {}]})), ("x" * 5000, None, "{")]
    db.execute("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, 75, 'NCCL', ?, 1)", (tid,))
    for i, row in enumerate(rows * 2):
        db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, binaryData, jsonText, globalTid, domainId) VALUES (?, ?, 59, ?, ?, ?, ?, 1)",
                   (1_100_000 + i * 1000, 1_100_500 + i * 1000, *row, tid))
    for i in range(12):
        db.execute("INSERT INTO SCHED_EVENTS VALUES (?, 3, ?, ?)", (1_000_000 + i * 150_000, i % 2, tid))
    db.commit()
    db.close()


def write_memory(path):
    """Allocations of every kind, freed and not, at addresses that come again."""
    kinds = [(i * 1000, 4096 * (1 + i % 5), 1000 << i % 7, kind, 0) for i, kind in enumerate((2, 3, 5, 0, 1, 2, 2))]
    freed = [(time + 500, address, size, kind, 1) for time, address, size, kind, _ in kinds[1:]]
    tiny_profile.write(path, steps=6, kernels=1, memory=[(time + 10, *rest) for time, *rest in sorted(kinds + freed)])


def write_layout(path, layout):
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    db.executescript(layout.read_text(encoding="utf-8"))
    db.executescript((TESTS / "read/profiles/events.sql").read_text(encoding="utf-8"))
    db.close()


def shrink(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    db.execute("VACUUM")
    db.close()


def profiles(folder):
    tiny_profile.write(folder / "tiny", steps=6, kernels=2)
    tiny_profile.write(folder / "metrics", steps=4, kernels=1)
    write_metrics(folder / "metrics")
    tiny_profile.write(folder / "own", steps=8, kernels=1)
    write_own(folder / "own")
    tiny_profile.write(folder / "payloads", steps=6, kernels=1)
    write_payloads(folder / "payloads")
    write_memory(folder / "memory")
    tiny_profile.write(folder / "unmarked", steps=20, kernels=2, nvtx=False)
    for layout in sorted((TESTS / "read/profiles").glob("layout_*.sql")):
        write_layout(folder / layout.stem, layout)
    for path in folder.iterdir():
        shrink(path)
    (folder / "packed").write_bytes(gzip.compress((folder / "tiny").read_bytes(), mtime=0))


def spools(folder):
    data = tiny_spool.spool()
    (folder / "whole").write_bytes(data)
    (folder / "cut").write_bytes(data[: len(data) // 2])
    for name, blocks in (("samples", tiny_spool.samples()), ("payloads", tiny_spool.payloads())):
        (folder / name).write_bytes(data[:-24] + blocks + data[-24:])  # in front of the last block


def states(folder):
    def run(side, number, stopwatch):
        common = {"side": side, "run": number, "kind": "stopwatch" if stopwatch else "recorded", "log": f"{side}-{number}.log",
                  "seconds": 12.5, "exit_status": 0, "complete": "yes", "start_utc_ns": 1795000000000000000}
        if stopwatch:
            return common | {"profile": None, "time_ns": 8000000, "steps": 48, "unused": None}
        return common | {"profile": f"{side}-{number}.sqlite"}

    plan = {"step": "step_#", "domain": "", "first": 12, "last": 60, "steps": 48, "launches": 0, "processes": 1, "limit_ms": 10000}
    whole = {"schema": "gapline-run/2", "gapline": "0.1.0", "collector": {"name": "nsys", "version": "2025.3.2"}, "options": "--trace cuda,nvtx",
             "repeat": 5, "recorded": 2, "commands": {"baseline": ["./a", "-n", "9"], "fixed": ["./b"]}, "stopwatch": {"baseline": plan, "fixed": plan},
             "no_stopwatch": None, "runs": [run("baseline", 1, False), run("fixed", 1, False), run("fixed", 1, True), run("baseline", 1, True)]}
    (folder / "whole").write_text(json.dumps(whole, indent=1), encoding="utf-8")
    begun = whole | {"stopwatch": {"baseline": None, "fixed": None}, "runs": [], "no_stopwatch": "no driver"}
    (folder / "begun").write_text(json.dumps(begun), encoding="utf-8")
    launches = whole | {"stopwatch": {"baseline": plan | {"launches": 700, "step": "loop 1"}, "fixed": plan | {"steps": 0, "step": None}}}
    launches["runs"] = [run("baseline", 1, True) | {"time_ns": 0, "unused": "it ended early"}]
    (folder / "launches").write_text(json.dumps(launches), encoding="utf-8")


def packed(folder):
    head = (TESTS / "support/tiny_profile.py").read_bytes()[:300]
    for i, how in enumerate((b"P\0\6\0\0\0\0\0", b"P\1\x49\x80\0\0\0\0", b"P\2\x83\x40\0\0\0\0", b"P\0\6\0\x81\0\0\0", b"P\x85\6\0\0\0\0\0")):
        (folder / f"made-{i}").write_bytes(how + b"SQLite format 3\0" + head)
    (folder / "gzip").write_bytes(gzip.compress(b"SQLite format 3\0" + head, mtime=0))
    (folder / "named").write_bytes(b"\x1f\x8b\x08\x1c" + bytes(6) + b"\2\0xyname\0comment\0" + gzip.compress(b"x", mtime=0)[10:])


def renders(folder):
    usual = ["step", "data_load", "compute", "gemm(float *)", "relu(float *)", "copy", "cudaLaunchKernel", "poll", "torch", "main", "kernels", "cupti",
             "NVIDIA Nsight Systems 2025.3.2", "the program was killed", "580.1", "NVIDIA H200", "a title", "before", "after", "tokens", "data_load",
             "the same", "a.sqlite", "b.sqlite"]
    hostile = ["</script><img src=x onerror=alert(1)>", "]]>&\"'|`*_ \u2028", "@team #1", "[x](https://evil.example)", "a|b\n# x", "```x", "&amp;\\", "\x1b[31m",
               "<!-- x -->", "\u202eevil", "--><b>", "{{x}}", "${x}", "javascript:alert(1)"]
    for name, numbers, texts in (("usual", bytes(8), usual), ("hostile", bytes([9, 1, 0x3F, 1, 4, 9, 0, 0]), [f"{u} {hostile[i % len(hostile)]}" for i, u in enumerate(usual)]),
                                 ("nccl", bytes([200, 7, 0x2A, 3, 0, 50, 0, 0]), usual[:3] + ["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void cub::x<int>"] + usual[5:])):
        for form in range(8):  # enum form of fuzz_render.c
            (folder / f"{name}-{form}").write_bytes(numbers[:6] + bytes([form, 0]) + "\x1e".join(texts).encode())


def digests(folder):
    (folder / "small").write_bytes(digest_file.write(digest_file.small()))


def stores(folder):
    digest = digest_file.write(digest_file.small())
    tiny_store.write(folder / "two", [("main", [digest, digest[:-9]]), ("old", [digest])], [("1a2b", 5, [digest]), ("3c4d", None, [digest])])
    tiny_store.write(folder / "empty")
    for path in folder.iterdir():
        shrink(path)


def reports(folder):
    launch = {"name": "gemm(float *)", "grid": (8, 1, 1), "block": (128, 1, 1), "duration": 100250, "sm": 91.25, "memory": 40.5, "rate": 4e11,
              "stalls": {"wait": 3.5}, "rules": [("Look \"here\"", 12.5)]}
    for page in "raw", "details":
        for locale in "en", "fr":
            tiny_ncu.write(folder / f"{page}-{locale}", [launch], page, locale)


def names(folder):
    lines = (TESTS / "capture/kernel_names.tsv").read_bytes().splitlines()
    for i, line in enumerate(lines[:: max(1, len(lines) // 60)]):
        (folder / f"name-{i}").write_bytes(line.split(b"\t")[0][2:])


def kineto(folder):
    for spelling in tiny_kineto.SPELLINGS:
        tiny_kineto.write(folder / f"spelling-{spelling}", steps=2, kernels=2, spelling=spelling)


def elfs(folder):
    """Two functions and one around the second, in either table of symbols: as tests/capture/test_elf_symbols.c has it."""
    names = b"\0a\0b\0_Z1cv\0".ljust(16, b"\0")
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", name, 2, 0, 1, value, size)
                                   for name, value, size in ((5, 0x1008, 0x28), (3, 0x1010, 0x10), (1, 0x1000, 0x10)))
    at = 64 + 56
    for name, kind in ("whole", 2), ("stripped", 11):
        tables = struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at + len(names), len(symbols), 2, 0, 0, 24)
        tables += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at, len(names), 0, 0, 0, 0)
        head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at + len(names) + len(symbols), 0, 64, 56, 1, 64, 3, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x1000, 0x1000, 0x100, 0x100, 4096)
        (folder / name).write_bytes(head + segment + names + symbols + bytes(64) + tables)


# Where things are in the memory of a Python, and offsets into its structs: as in gen/inject/py_layout.c.
PYTHONS = {
    0: {"threads": 16, "native": 160, "chunk": 296, "frame": 56, "cframe": 8, "code": 32, "previous": 48, "owner": 69, "line": 72, "ascii": 48, "gil": 360},
    1: {"threads": 72, "native": 144, "chunk": 232, "frame": 56, "cframe": 0, "code": 0, "previous": 8, "owner": 70, "line": 68, "ascii": 40},
    2: {"threads": 72, "native": 160, "chunk": 232, "frame": 72, "code": 0, "previous": 8, "owner": 70, "line": 68, "ascii": 40},
}
PUBLISHED = {1: 0x030D00F0, 5: 600, 8: 0, 9: 72, 14: 1000, 21: 8, 22: 16, 23: 72, 25: 160, 26: 232, 29: 8, 33: 70, 35: 112, 37: 128, 39: 68, 45: 8, 68: 32, 69: 16, 70: 40}


def python_memory(version):
    """One interpreter, two threads with a function that calls another one, the lock."""
    memory, base, offsets = bytearray(3280), 0x10000, PYTHONS[version]
    interpreter, threads, chunk, cframe, codes, texts, gil = base + 640, (base + 1680, base + 2000), base + 2320, base + 2584, base + 2616, base + 2936, base + 3248

    def put(at, *words):
        struct.pack_into(f"<{len(words)}Q", memory, at - base, *words)

    if version == 2:
        memory[:8] = b"xdebugpy"
        for i, word in PUBLISHED.items():
            put(base + 8 * i, word)
    put(base + (600 if version == 2 else 40), interpreter)
    put(interpreter + offsets["threads"], threads[0])
    put(interpreter + 1000, gil)
    for at in gil, base + offsets.get("gil", gil - base):
        put(at, 5000, threads[0], 1, 3)
    frames = (chunk + 24, chunk + 24 + 80)  # the outer one first
    for i, thread in enumerate(threads):
        put(thread + 8, threads[1] if i == 0 else 0, interpreter)
        put(thread + offsets["native"], 100 + i)
        put(thread + offsets["chunk"], chunk, frames[1] + 80)
        put(thread + offsets["frame"], cframe if "cframe" in offsets else frames[1])
    if "cframe" in offsets:
        put(cframe + offsets["cframe"], frames[1])
    for i, frame in enumerate(frames):
        code = codes + 160 * i
        put(frame + offsets["code"], code)
        put(frame + offsets["previous"], frames[0] if i else 0)
        put(code + 8, 0x7000)
        put(code + 112, texts, 0, texts + 104 * (i + 1))
    for i, text in enumerate((b"/srv/x/train.py", b"main", b"Loader.\xe9")):
        ascii = text.isascii()
        put(texts + 104 * i + 8, 0x7800, len(text))
        put(texts + 104 * i + 32, 1 << 2 | 1 << 5 | ascii << 6)
        begin = texts + 104 * i + offsets["ascii"] + (0 if ascii else 24 if version == 0 else 16) - base
        memory[begin : begin + len(text)] = text
    return bytes(memory)


def pythons(folder):
    for version in PYTHONS:
        memory = python_memory(version)
        (folder / f"still-{version}").write_bytes(struct.pack("<BB6x", version, 0) + memory)
        # Words that change while it is read: the innermost frame, and back; what is called goes on.
        changes = b"".join(struct.pack("<HHIQ", reads, 0, at, word) for reads, at, word in
                           ((12, 2584, 0x10000 + 2344), (14, 2584, 0x10000 + 2424), (18, 1680 + PYTHONS[version]["frame"], 0x10000 + 2344), (30, 2624, 5)))
        (folder / f"moving-{version}").write_bytes(struct.pack("<BB6x", version, 4) + changes + memory)


def table_of(page):
    """What is packed in the evidence of a finished report."""
    evidence = page.read_bytes().split(b'<script id="evidence" type="text/plain">')[1].split(b"</script>")[0]
    return zlib.decompress(base64.b64decode(evidence).split(b"\n", 1)[1])


def tables(folder):
    for page in sorted((TESTS.parent / "examples/training-step").glob("report*.html")):
        (folder / page.stem).write_bytes(table_of(page))


def pages(folder):
    """A finished report, what is left of it beside its evidence, and the same as JSON."""
    whole = TESTS.parent / "examples/training-step/report.html"
    evidence = whole.read_bytes().split(b'<script id="evidence" type="text/plain">')[1].split(b"</script>")[0]
    (folder / "whole").write_bytes(whole.read_bytes())
    for name, text in (("own", evidence), ("later", base64.b64encode(base64.b64decode(evidence).replace(b" 0.2.0 ", b" 0.2.9 ", 1)))):
        (folder / name).write_bytes(b'<!DOCTYPE html>\n<h1>a &amp; b</h1><section id="findings">1.5 ms, 3</section><script id="evidence" type="text/plain">' + text
                                    + b'</script><div data-carried="picture">7</div>')
        result = {"schema": "gapline/3", "gapline": "0.2.0", "title": "a", "verdict": {"speedup": 1.5, "ci95": [1, 2]}, "next": None, "evidence": text.decode()}
        (folder / f"{name}-json").write_text(json.dumps(result, indent=1))


def claims(folder):
    whole = {"schema": "gapline-claim/1", "gapline": "0.2.0", "result": "faster", "speedup": 2.56, "ci95": [2.34, 2.8], "measured": "stopwatch",
             "same_work": "same", "same_result": None, "same_conditions": True, "same_session": True, "resolved": ["input_starvation", "pageable_copies"],
             "sessions": [{"side": "baseline", "day": "A", "host": None, "gpus": [], "recorded_runs": 1, "timed_runs": 5}],
             "conditions": {"baseline": {"driver": "580", "sm_mhz": 1980}, "fixed": {"steps": 57}}, "evidence": "crc32:00000000"}
    asked = {"schema": "gapline-claim/1", "gates": ["speedup>=1.15", "idle:sync_return<1%", "phase:data_load.cost<0.5ms", "kernels_per_step<=+0%"]}
    for name, claim in (("whole", whole), ("asked", asked), ("odd", {"schema": "gapline-claim/1", "ci95": {"a": [[]]}, "resolved": [1], "sessions": "A"})):
        (folder / name).write_text(json.dumps(claim, indent=1))


# The corpus of each target; those of profiles share one.
OF = {"fuzz_pipeline": "profiles", "fuzz_reader": "profiles", "fuzz_scrub": "profiles", "fuzz_stats": "profiles", "fuzz_spool": "spools",
      "fuzz_state": "states", "fuzz_packed": "packed", "fuzz_render": "renders", "fuzz_digest": "digests", "fuzz_ncu": "reports",
      "fuzz_kernel_name": "names", "fuzz_kineto": "kineto", "fuzz_store": "stores", "fuzz_elf": "elfs", "fuzz_python": "pythons",
      "fuzz_table": "tables", "fuzz_page": "pages", "fuzz_claim": "claims"}
MAKERS = {"profiles": profiles, "spools": spools, "states": states, "packed": packed, "renders": renders, "digests": digests, "reports": reports,
          "names": names, "kineto": kineto, "stores": stores, "elfs": elfs, "pythons": pythons, "tables": tables, "pages": pages, "claims": claims}


def write_all(folder):
    for name, make in MAKERS.items():
        (folder / name).mkdir(parents=True)
        make(folder / name)


if __name__ == "__main__":
    write_all(pathlib.Path(sys.argv[1]))
