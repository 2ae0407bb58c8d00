"""Digests, taken apart and put together by docs/reference/digest.md alone: nothing here is from gen/digest."""

import gzip
import zlib

TABLES = {
    "ops": ["device", "name", "length", "start", "kind", "copy", "flags", "bytes", "stream", "correlation"],
    "calls": ["thread", "name", "length", "start", "correlation"],
    "ranges": ["thread", "name", "length", "start", "domain", "kind", "clipped"],
    "os_calls": ["thread", "name", "length", "start"],
    "overheads": ["thread", "name", "length", "start", "class"],
    "slices": ["thread", "length", "start"],
    "levels": ["device", "length", "start", "bytes"],
}


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return -(value + 1) // 2 if value & 1 else value // 2

    def bytes(self):
        n = self.number()
        self.at += n
        assert self.at <= len(self.data), "cut off"
        return self.data[self.at - n : self.at]

    def text(self):
        return self.bytes().decode("utf-8")


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def unpack(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def sections(data):
    """The sections of an unpacked digest, by name."""
    line, rest = data.split(b"\n", 1)
    assert line == b"gapline digest 1", line
    found, taken = {}, Bytes(rest)
    while True:
        begin = taken.at
        name, inside = taken.text(), taken.bytes()
        if name == "end":
            assert inside == zlib.crc32(data[: len(line) + 1 + begin]).to_bytes(4, "little"), "checksum"
            assert not taken.more()
            return found
        assert name not in found
        found[name] = inside


def write(found):
    """The reverse of sections()."""
    data = b"gapline digest 1\n"
    for name, inside in found.items():
        data += number(len(name)) + name.encode() + number(len(inside)) + inside
    return data + b"\x03end\x04" + zlib.crc32(data).to_bytes(4, "little")


def names(found):
    taken, texts = Bytes(found.get("names", b"")), [""]
    while taken.more():
        texts.append(taken.text())
    return texts


def rows(found, table):
    """A table as a list of dicts, with `end` beside `start`."""
    columns = {name: Bytes(found.get(f"{table}.{name}", b"")) for name in TABLES[table]}
    group = TABLES[table][0]
    last = {name: {} for name in columns}
    made = []
    while columns[group].more():
        row, before = {}, made[-1] if made else None
        for name, taken in columns.items():
            if name == "name":
                row[name] = taken.number()
                continue
            value = taken.signed()
            if name in ("device", "thread", "correlation"):
                row[name] = value + (before[name] if before else 0)
                continue
            begins = not before or before[group] != row[group]
            behind = (0xFFFFFFFF if name == "start" else 0) if begins else before.get("name", 0)
            place = (row.get("name", 0) * 2654435761 ^ behind * 2246822507) >> 20 & 0xFFF if "name" in columns else 0
            value += last[name].get(place, 0)
            last[name][place] = value
            row[name] = value + (before["end"] if name == "start" and not begins else 0)
        row["end"] = row["start"] + row["length"]
        made.append(row)
    assert not any(taken.more() for taken in columns.values()), f"columns of {table} are of different lengths"
    return made


def signed(value):
    return number(value * 2 if value >= 0 else -value * 2 - 1)


def columns(table, made):
    """The reverse of rows(): the sections of a table."""
    group, out, last, before = TABLES[table][0], {}, {}, None
    for row in made:
        begins = not before or before[group] != row[group]
        for name in TABLES[table]:
            if name == "name":
                written = number(row[name])
            elif name in ("device", "thread", "correlation"):
                written = signed(row[name] - (before[name] if before else 0))
            else:
                behind = (0xFFFFFFFF if name == "start" else 0) if begins else before.get("name", 0)
                place = (row.get("name", 0) * 2654435761 ^ behind * 2246822507) >> 20 & 0xFFF if "name" in row else 0
                value = row["end"] - row["start"] if name == "length" else row[name]
                value -= before["end"] if name == "start" and not begins else 0
                written = signed(value - last.get((name, place), 0))
                last[name, place] = value
            out[f"{table}.{name}"] = out.get(f"{table}.{name}", b"") + written
        before = row
    return out


def small(steps=12, kernels=4):
    """A digest made by hand: one thread, one GPU, in each step a copy, kernels and a wait; every section is there."""
    texts = ["trainer", "Test GPU", "gemm(float *)", "[CUDA memcpy Host-to-Device]", "cudaLaunchKernel", "cudaMemcpyAsync",
             "cudaStreamSynchronize", "step", "load", "poll", "Buffer flush", "NVTX", "a message"]
    text = {t: i for i, t in enumerate(texts, 1)}
    tables = {name: [] for name in TABLES}
    now, correlation = 1_000_000, 0

    def launch(call, name, length, **more):
        nonlocal now, correlation
        correlation += 1
        tables["calls"].append(dict(thread=0, name=text[call], start=now, end=now + 2_000, correlation=correlation))
        begin = max(now + 3_000, tables["ops"][-1]["end"] if tables["ops"] else 0)
        row = dict(device=0, name=text[name], start=begin, end=begin + length, kind=0, copy=0, flags=0, bytes=0, stream=7,
                   correlation=correlation)
        tables["ops"].append({**row, **more})
        now += 2_500

    for k in range(steps):
        begin = now
        tables["os_calls"].append(dict(thread=0, name=text["poll"], start=now, end=now + 150_000 + 1_000 * (k % 3)))
        now += 160_000
        tables["ranges"] += [dict(thread=0, name=text["step"], start=begin, end=0, domain=0, kind=0, clipped=0),
                             dict(thread=0, name=text["load"], start=begin, end=now, domain=text["NVTX"], kind=1, clipped=0)]
        launch("cudaMemcpyAsync", "[CUDA memcpy Host-to-Device]", 20_000, kind=3, copy=1, flags=1, bytes=1 << 20)
        for _ in range(kernels):
            launch("cudaLaunchKernel", "gemm(float *)", 50_000 + 10 * k)
        end = tables["ops"][-1]["end"] + 3_000
        tables["calls"].append(dict(thread=0, name=text["cudaStreamSynchronize"], start=now, end=end, correlation=0))
        tables["ranges"][-2]["end"] = end
        tables["slices"].append(dict(thread=0, start=begin, end=end - 5_000))
        now = end + 1_000
    tables["overheads"].append(dict(thread=0, name=text["Buffer flush"], start=1_000, end=2_000, **{"class": 0}))
    word = lambda t: number(len(t)) + t.encode()
    facts = {"kind": "nsys", "collector": "nsys", "exporter": "by hand", "has_calls": "1", "has_ranges": "1", "has_os_calls": "1",
             "started": "1795000000000000000", "rank": "3", "ranks": "8", "host": "00ff", "job": "ab", "last_range_time": str(now)}
    found = {
        "source": b"".join(word(k) + word(v) for k, v in facts.items()),
        "names": b"".join(map(word, texts)),
        "processes": signed(100) + number(text["trainer"]) + signed(3) + number(255),
        "threads": signed(100) + number(0) + number(0),
        "gpus": number(text["Test GPU"]) + number(77) + signed(1 << 33) + signed(10**9) + signed(8),
        "devices": number(0) + number(0) + number(1),
        "gpu_samples": b"".join(number(0) + signed(10**6) + b"".join(map(signed, (1500, 2600, 300_000, 50, 90))) + b"\1\4" for _ in range(5)),
        "metrics": number(1) + number(20) + number(0) + number(2),
        "metrics.time": signed(10**6) + signed(-900_000) + signed(0) * 18 + signed(5) + signed(0),
        "metrics.tensor": b"".join(map(number, range(0, 88, 4))),
        "metrics.sm_active": number(255) * 20 + number(40) * 2,
        "stopwatch": signed(10**18) + signed(5 * 10**6) + signed(10**9) + number(10) + number(0) + word("step") + word("")
        + signed(10**18 + 1) + signed(0) + signed(10**9) + number(10) + number(0) + word("step") + word("it was late"),
        "rows": b"".join(word(k) + signed(len(tables[t])) + signed(0) for k, t in (("kernels", "ops"), ("calls", "calls"))),
        "dropped": word("calls") + word("A TABLE") + word("makes no sense") + signed(1),
        "diagnostics": signed(2) + number(text["a message"]),
    }
    for table, made in tables.items():
        found.update(columns(table, made))
    return found
