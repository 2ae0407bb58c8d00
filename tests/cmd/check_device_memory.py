#!/usr/bin/env python3
"""The peak of device memory in real captures, to the byte what the programs counted themselves; and a gate that stays open
where a capture cannot tell.

    check_device_memory.py GAPLINE
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import digest_file  # noqa: E402
import tiny_profile  # noqa: E402

GAPLINE = os.path.abspath(sys.argv[1])
MB = 1 << 20

# What the program had allocated at most. `plain`, `async` (pools), `vmm` (mapped), `array` and `statics` agree with what
# cudaMemGetInfo saw go, but for 2 MB of the pool's; PyTorch counts 505413632 bytes of its own, and cuBLAS allocates 134481920
# and modules 227395 beside them (by the rows of the capture without segments, where the same two remain).
PEAK = {
    "plain": (64 + 256 + 128) * MB,
    "kept": 512 * MB,
    "async": (16 + 96 + 32) * MB,
    "vmm": (16 + 512) * MB,
    "graph": (16 + 256) * MB,
    "array": (16 + 4 + 64 + 4) * MB,
    "statics": (16 + 48) * MB,
    "two": 200 * MB,  # the other process has 100
    "contexts": 200 * MB,
    "contexts2": 200 * MB,  # allocated and freed in the second one: each call has two rows
    "unmap": (16 + 512) * MB,  # given back, then 256
    "trim": (16 + 300) * MB,  # of which 256 were a graph's, and given back, before the 300
    "poolend": (16 + 200) * MB,
    "torchx": 505413632 + 134481920 + 227395,
}
ONE = {"plain", "kept", "async", "array", "statics", "vmm", "unmap", "torchx"}  # one process and GPU, every row of which has an address
NOT_JUDGED = {"trim", "torchx"}  # too few steps alike for a verdict; another program than the one beside it: no gate passes
UNKNOWN = {
    "managed": "managed memory",
    "reset": "freed device memory with its context",  # 300 MB are gone with the first context, without a row
    **dict.fromkeys(("window", "range", "late", "early", "delay", "churnwindow"), "recording may have begun after the first allocation"),
}


def report(folder, name, gates):
    """The fixed side's memory, and each gate's result."""
    beside = folder / ("memory-plain.sqlite" if name != "plain" else "memory-statics.sqlite")
    words = [word for gate in gates for word in ("--gate", gate)]
    done = subprocess.run([GAPLINE, "report", beside, folder / f"memory-{name}.sqlite", *words, "-q", "--json", folder / "o.json"],
                          capture_output=True, text=True, timeout=100)
    assert done.returncode in (0, 1, 4), (name, done.stderr)
    said = json.loads((folder / "o.json").read_text())
    return said["fixed"]["memory"], [gate["result"] for gate in said["verdict"]["gates"]], done.returncode


def levels_of(rows):
    """What is there from each allocation and free on: (time, bytes)."""
    there, at, out = 0, {}, [(0, 0)]
    for time, address, size, freed in sorted(rows):
        there += -at.pop(address) if freed else size
        if not freed:
            at[address] = size
        out.append((time, there))
    return out


def most_in(levels, begin, end):
    return max(there for (time, there), (until, _) in zip(levels, [*levels[1:], (1 << 62, 0)]) if time < end and until > begin)


def peaks_of(path):
    """The peak of each step of a recorded program, which allocates on one GPU."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT start, address, bytes, memoryOperationType FROM CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memKind IN (2, 3, 5)").fetchall()
        steps = db.execute("SELECT start, end FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE coalesce(text, value) = 'step' AND end ORDER BY start").fetchall()
    db.close()
    return [most_in(levels_of(rows), *step) for step in steps]


def check_steps(folder):
    """Steps and phases that allocate and free at random, held against their levels looked up one by one; digests keep them, and
    one of an earlier version has the peak alone."""
    sides, expected = [folder / "steps-before.sqlite", folder / "steps-after.sqlite"], []
    for i, path in enumerate(sides):
        tiny_profile.write(path, seed=1 + i)
        with sqlite3.connect(path) as db:
            ranges = db.execute("SELECT start, end, text FROM NVTX_EVENTS ORDER BY start").fetchall()
        db.close()
        noise, rows = tiny_profile.jitters(7 + i, 1 << 30), [(500_000, 0x1000, 100 * MB, 0)]
        for begin, end, _ in [r for r in ranges if r[2] != "step"]:
            for k in range(1 + next(noise) % 4):
                size, first, then = (1 + next(noise) % 9) * MB, *sorted(begin + next(noise) % (end - begin) for _ in range(2))
                address = 0x10000 + 0x1000 * len(rows)
                rows += [(first, address, size, 0), (then + 1, address, size, 1)]
        path.unlink()
        tiny_profile.write(path, seed=1 + i, memory=[(time, address, size, 2, freed) for time, address, size, freed in rows])
        expected.append((levels_of(rows), ranges))
    for how in "profile", "digest", "earlier digest":
        if how == "digest":
            for i, path in enumerate(sides):
                sides[i] = path.with_suffix(".digest")
                subprocess.run([GAPLINE, "digest", path, "-o", sides[i], "-q"], check=True)
        if how == "earlier digest":
            found = digest_file.sections(digest_file.unpack(sides[1].read_bytes()))
            found = {name: inside for name, inside in found.items() if not name.startswith("levels.")}
            sides[1].write_bytes(digest_file.write(found))
        command = [GAPLINE, "report", *sides, "-q", "-o", folder / "o.html", "--json", folder / "o.json"]
        subprocess.run(command, check=True, capture_output=True, timeout=100)
        said = json.loads((folder / "o.json").read_text())
        assert said["fixed"]["memory"]["peak_bytes"] > 100 * MB
        for side, (levels, ranges) in list(zip(("baseline", "fixed"), expected))[: 1 if how == "earlier digest" else 2]:
            steps, phases = said[side]["memory"]["steps"], {p["name"]: p["memory_peak_bytes"] for p in said[side]["phases"]}
            measured = [r for r in ranges if r[2] == "step"][-steps["n"]:]
            own = sorted(most_in(levels, *r[:2]) for r in measured)
            middle = (own[(len(own) - 1) // 2] + own[len(own) // 2]) // 2
            assert steps == {"n": len(own), "median_bytes": middle, "max_bytes": own[-1]}, (how, side, steps, own)
            for name in "data_load", "compute":
                own = max(most_in(levels, *r[:2]) for r in ranges if r[2] == name and r[0] >= measured[0][0])
                assert phases[name] == own, (how, side, name, phases, own)
        page = (folder / "o.html").read_text()
        assert "median step" in page and "Peak of device memory in the measured steps" in page, how
    assert said["fixed"]["memory"]["steps"] is None and {p["memory_peak_bytes"] for p in said["fixed"]["phases"]} == {None}, said["fixed"]
    assert "earlier gapline" in said["fixed"]["memory"]["steps_not_known_because"] and said["baseline"]["memory"]["steps_not_known_because"] is None
    assert "in steps and phases are unknown: on the fixed side an earlier gapline made the digest" in page, page


def check_without_steps(folder):
    """Where nothing repeats, the run has a peak, and both outputs say why steps have none; without rows, why there is nothing."""
    paths = [folder / f"unmarked-{i}.sqlite" for i in range(2)]
    for i, path in enumerate(paths):
        tiny_profile.write(path, steps=1, kernels=1, nvtx=False, memory=[(500_000, 0x1000, 900 * MB, 2, 0)] if i == 0 else [])
    for path, peak, why in zip(paths, (900 * MB, None), ("no steps were found", "allocations of device memory were not recorded")):
        command = [GAPLINE, "report", path, path, "-q", "-o", folder / "o.html", "--json", folder / "o.json"]
        subprocess.run(command, check=True, capture_output=True, timeout=100)
        memory = json.loads((folder / "o.json").read_text())["fixed"]["memory"]
        assert (memory["peak_bytes"], memory["steps"]) == (peak, None) and why in memory["steps_not_known_because"], memory
        assert (memory["not_known_because"] is None) == (peak is not None), memory
        assert f"unknown: {why}" in (folder / "o.html").read_text(), why


def check_allocator(folder):
    """What PyTorch's allocator handed out, as the program says at its end, goes before what CUDA allocated for it; digests keep
    it. A mark that makes no sense, and one of another process, say nothing."""
    sides = [folder / "before.sqlite", folder / "after.sqlite"]
    for i, path in enumerate(sides):
        tiny_profile.write(path, seed=1 + i, load=400_000 + i, memory=[(500_000, 0x1000, 900 * MB, 2, 0)])
        with sqlite3.connect(path) as db:
            tid, other = tiny_profile.GLOBAL_PID | tiny_profile.TID, (1 << 48 | 7 << 24) | 7
            for thread, text in (tid, f"0 {(300 - 30 * i) * MB}"), (tid, "0 12 13"), (tid, "0"), (tid, "0 -5"), (tid, f"0 {1 << 60}"), (other, f"0 {500 * MB}"):
                db.execute("INSERT INTO NVTX_EVENTS VALUES (2000000, NULL, 34, NULL, ?, ?, NULL, NULL, 0)", (f"gapline: max_memory_allocated {text}", thread))
        db.close()
    for packed in False, True:
        if packed:
            subprocess.run([GAPLINE, "digest", sides[1], "-o", folder / "after.digest", "-q"], check=True)
            sides[1] = folder / "after.digest"
        command = [GAPLINE, "report", *sides, "-q", "-o", folder / "o.html", "--json", folder / "o.json", "--gate", "memory<=-9%", "--gate", "memory<=-11%"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        said = json.loads((folder / "o.json").read_text())
        memory = [said[side]["memory"] for side in ("baseline", "fixed")]
        whole = {side.pop("steps_not_known_because") for side in memory}
        assert len(whole) == 1 and "for the whole run" in (whole := whole.pop()), whole
        assert memory == [{"peak_bytes": peak * MB, "counted_by": "allocator", "held": [], "operators": [], "steps": None, "not_known_because": None} for peak in (300, 270)], memory
        assert [gate["result"] for gate in said["verdict"]["gates"]] == ["passed", "failed"] and done.returncode == 1, said["verdict"]["gates"]
        page = (folder / "o.html").read_text()
        assert "It is what PyTorch's allocator handed out" in page and f"in steps and phases are unknown: {whole}." in page


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-memory-") as made:
        folder = pathlib.Path(made)
        with tarfile.open(HERE / "recorded/device-memory.tar.xz") as tar:
            tar.extractall(folder)
        found = {path.stem.removeprefix("memory-") for path in folder.glob("memory-*.sqlite")}
        assert found == {*PEAK, *UNKNOWN}, found
        for name, peak in PEAK.items():
            memory, gates, status = report(folder, name, [f"memory<={peak}B", f"memory<{peak}B"])
            held, steps, whole, _ = (memory.pop(key) for key in ("held", "steps", "steps_not_known_because", "operators"))
            assert (steps is None) == (whole is not None), (name, steps, whole)
            assert all(0 < part["bytes"] <= peak and part["range"] for part in held), held
            assert memory == {"peak_bytes": peak, "counted_by": "cuda", "not_known_because": None}, (name, memory, peak)
            own = sorted(peaks_of(folder / f"memory-{name}.sqlite")[-steps["n"]:]) if name in ONE else None
            assert not own or (steps["max_bytes"], steps["median_bytes"]) == (own[-1], own[len(own) // 2]), (name, steps, own)
            judged = name not in NOT_JUDGED
            assert gates == (["passed", "failed"] if judged else ["inconclusive"] * 2), (name, gates)
            assert status == (1 if judged else 4), (name, status)
        for name, why in UNKNOWN.items():
            memory, gates, status = report(folder, name, ["memory<900GB", "memory>=1B"])
            assert memory["peak_bytes"] is None and why in memory["not_known_because"] == memory["steps_not_known_because"], (name, memory)
            assert gates == ["inconclusive"] * 2 and status == 4, (name, gates, status)
        check_allocator(folder)
        check_steps(folder)
        check_without_steps(folder)
    print(f"{len(PEAK)} peaks are the programs' own; {len(UNKNOWN)} captures that cannot tell leave the gate open")


main()
