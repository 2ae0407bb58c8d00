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
NOT_JUDGED = {"trim"}  # too few steps alike for a verdict, and then no gate passes
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
        assert memory == [{"peak_bytes": peak * MB, "counted_by": "allocator", "held": [], "not_known_because": None} for peak in (300, 270)], memory
        assert [gate["result"] for gate in said["verdict"]["gates"]] == ["passed", "failed"] and done.returncode == 1, said["verdict"]["gates"]
        assert "It is what PyTorch's allocator handed out" in (folder / "o.html").read_text()


def main():
    with tempfile.TemporaryDirectory(prefix="gapline-memory-") as made:
        folder = pathlib.Path(made)
        with tarfile.open(HERE / "recorded/device-memory.tar.xz") as tar:
            tar.extractall(folder)
        found = {path.stem.removeprefix("memory-") for path in folder.glob("memory-*.sqlite")}
        assert found == {*PEAK, *UNKNOWN}, found
        for name, peak in PEAK.items():
            memory, gates, status = report(folder, name, [f"memory<={peak}B", f"memory<{peak}B"])
            held = memory.pop("held")
            assert all(0 < part["bytes"] <= peak and part["range"] for part in held), held
            assert memory == {"peak_bytes": peak, "counted_by": "cuda", "not_known_because": None}, (name, memory, peak)
            judged = name not in NOT_JUDGED
            assert gates == (["passed", "failed"] if judged else ["inconclusive"] * 2), (name, gates)
            assert status == (1 if judged else 4), (name, status)
        for name, why in UNKNOWN.items():
            memory, gates, status = report(folder, name, ["memory<900GB", "memory>=1B"])
            assert memory["peak_bytes"] is None and why in memory["not_known_because"], (name, memory)
            assert gates == ["inconclusive"] * 2 and status == 4, (name, gates, status)
        check_allocator(folder)
    print(f"{len(PEAK)} peaks are the programs' own; {len(UNKNOWN)} captures that cannot tell leave the gate open")


main()
