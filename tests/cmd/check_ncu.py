#!/usr/bin/env python3
"""Holds what `gapline report` says of Nsight Compute's numbers against the CSV itself, read by Python's csv module.

    check_ncu.py [GAPLINE]

Made files have known numbers in every unit and locale, hostile names, quotes that do not close, a stand-in for ncu. A real
ncu was run with the command that a report names (tests/cmd/recorded). The captures in ../shared/captures (or GAPLINE_CAPTURES) are real ones, skipped where they are not there.
"""
import csv
import gzip
import json
import lzma
import os
import re
import sqlite3
import stat
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tiny_kineto
import tiny_ncu
import tiny_profile

CAPTURES = os.environ.get("GAPLINE_CAPTURES", os.path.join(ROOT, "..", "shared", "captures"))
GAPLINE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "gen", "gapline")
wrong = []


def check(condition, what):
    if not condition:
        wrong.append(what)


def near(a, b):
    return a is not None and abs(a - b) <= 1e-5 * max(abs(a), abs(b), 1e-9)


def run(baseline, fixed, folder, *options, env=None):
    out = os.path.join(folder, "out")
    done = subprocess.run([GAPLINE, "report", baseline, fixed, "-o", out + ".html", "--json", out + ".json", *options],
                          capture_output=True, text=True, env=dict(os.environ, **(env or {})))
    if done.returncode:
        return done.returncode, done.stderr, None, None
    with open(out + ".json", encoding="utf-8") as file, open(out + ".html", encoding="utf-8") as page:
        return 0, done.stdout, json.load(file), page.read()


def profile(path, gemm="gemm(float *)", shapes=((8, 1, 1), (32, 4, 1)), load=1_000, seed=1, kernel=100_000):
    """A tiny profile whose kernels have a launch shape: `gemm` 5 times a step, `relu` twice."""
    tiny_profile.write(path, steps=30, load=load, kernel=kernel, more_kernels=2, jitter=100, seed=seed)
    db = sqlite3.connect(path)
    for column in "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ":
        db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER")
    for name, grid in (1, shapes[0]), (5, shapes[1]):
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = ?, gridY = ?, gridZ = ?, blockX = 128, blockY = 1, blockZ = 1 "
                   "WHERE demangledName = ?", (*grid, name))
    db.execute("UPDATE StringIds SET value = ? WHERE id = 1", (gemm,))
    db.commit()
    db.close()


GEMM = {"name": "gemm(float *)", "grid": (8, 1, 1), "block": (128, 1, 1), "duration": 100_250, "sm": 91.25, "memory": 40.5, "dram": 12.125,
        "rate": 402_653_184_000, "occupancy": 24.75, "most": 25, "registers": 202, "waves": 1234.5, "by_registers": 2, "by_shared": 3,
        "by_warps": 16, "by_blocks": 32, "stalls": {"math_pipe_throttle": 3.5, "long_scoreboard": 1.25, "not_selected": 0.25}}
RELU = {"name": "relu(float *)", "grid": (32, 4, 1), "block": (128, 1, 1), "duration": 1_012_500, "sm": 12.5, "memory": 93.25, "dram": 92.75,
        "rate": 3_100_000_000_000, "occupancy": 88.5, "most": 100, "registers": 16, "waves": 0.5, "by_registers": 16, "by_shared": 32,
        "by_warps": 16, "by_blocks": 32, "stalls": {"long_scoreboard": 30.5, "wait": 2.5}}
SLOW = dict(RELU, sm=20.5, memory=44.25, dram=30.5)
ROOFLINE = {"fadd": 100, "fmul": 50, "ffma": 1000, "ffma_peak": 16896, "clock": 1_750_000_000, "dram_clock": 2_600_000_000, "dram_cycle": 1280}


def compare_numbers(kernel, launch, what):
    for key, member in ("sm", "sm_percent"), ("memory", "memory_percent"), ("dram", "dram_percent"), ("occupancy", "occupancy_percent"), \
            ("most", "occupancy_most_percent"), ("registers", "registers"), ("waves", "waves"):
        check(near(kernel[member], launch[key]), f"{what}: {launch['name']}: {member} is {kernel[member]}, the CSV has {launch[key]}")
    check(near(kernel["duration_ms"] * 1e6, launch["duration"]), f"{what}: {launch['name']}: duration is {kernel['duration_ms']} ms, the CSV has {launch['duration']} ns")
    total = sum(launch["stalls"].values())
    stalls = sorted(launch["stalls"].items(), key=lambda item: -item[1])[:3]
    check([s["reason"] for s in kernel["stalls"]] == [s[0] for s in stalls] and
          all(near(s["share"], value / total) for s, (_, value) in zip(kernel["stalls"], stalls)), f"{what}: {launch['name']}: stalls are {kernel['stalls']}")


def check_made(folder, a, b):
    before, after = os.path.join(folder, "before.csv"), os.path.join(folder, "after.csv")
    kinds = [("raw", "en", {}), ("details", "en", {}), ("raw", "de", {}), ("details", "de", {"time": "nsecond"}), ("details", "fr", {"time": "msecond"}),
             ("raw", "ch", {"time": "second", "rate": "byte/second"}), ("raw", "en", {"time": "ms", "rate": "Tbyte/s", "frequency": "Mhz"}),
             ("raw", "fr", {"time": "ns", "rate": "byte/nsecond", "frequency": "cycle/nsecond"})]
    for page, locale, unit in kinds:
        what = f"{page}, {locale}, {unit}"
        noise = "==PROF== Connected to process 4711\nID is here\n\"epoch, 1\n".replace('"', "") if page == "raw" else ""
        tiny_ncu.write(before, [GEMM, SLOW], page, locale, unit, before=noise, digits=9)
        tiny_ncu.write(after, [RELU, GEMM], page, locale, unit, digits=9)
        status, text, result, html = run(a, b, folder, "--baseline-ncu", before, "--fixed-ncu", after)
        if status:
            wrong.append(f"{what}: status {status}: {text}")
            continue
        kernels = result["kernels_inside"]["kernels"]
        check([k["fixed"]["name"] for k in kernels] == ["gemm(float *)", "relu(float *)"], f"{what}: kernels are {kernels}")
        compare_numbers(kernels[0]["baseline"], GEMM, what)
        compare_numbers(kernels[0]["fixed"], GEMM, what)
        compare_numbers(kernels[1]["baseline"], SLOW, what)
        compare_numbers(kernels[1]["fixed"], RELU, what)
        check([k["fixed"]["bound"] for k in kernels] == ["compute", "memory"] and kernels[1]["baseline"]["bound"] == "latency", f"{what}: bounds")
        check(kernels[0]["fixed"]["occupancy_limit"] == "registers" and kernels[1]["fixed"]["occupancy_limit"] == "grid", f"{what}: limits")
        check(abs(kernels[0]["fixed"]["instances_per_step"] - 5) < 1e-6 and near(kernels[0]["fixed"]["ms_per_step"], 0.5), f"{what}: time in the profile")
        check("Baseline: latency-bound" in kernels[1]["text"] and "Fixed: memory-bound" in kernels[1]["text"], f"{what}: {kernels[1]['text']}")
        check("math pipe throttle" in kernels[0]["advice"] and "DRAM" in kernels[1]["advice"], f"{what}: advice")
        check("compute-bound (SMs 91.2 %" in text or "compute-bound (SMs 91.3 %" in text, f"{what}: the terminal does not say it")
        for shown in "44.2 → 93.2", "long scoreboard 92.4 %", "Roofline of the heaviest kernels":
            check(shown in html or shown.replace("44.2", "44.3").replace("93.2", "93.3") in html, f"{what}: the page lacks '{shown}'")
        check(result["kernels_inside"]["baseline"]["command"] is None, f"{what}: a command for what is measured")


def check_roofline(folder, a, b):
    path = os.path.join(folder, "roof.csv")
    tiny_ncu.write(path, [dict(GEMM, **ROOFLINE), dict(RELU, **ROOFLINE)])
    _, _, result, html = run(a, b, folder, "--baseline-ncu", path)
    inside = result["kernels_inside"]
    rate = (100 + 50 + 2 * 1000) * 1.75e9
    kernel = inside["kernels"][0]["baseline"]
    check(inside["roofline"] == "flop" and near(kernel["flop_per_second"], rate) and near(kernel["flop_per_byte"], rate / GEMM["rate"]), f"roofline: {kernel}")
    check(near(inside["baseline"]["peak"], 2 * 16896 * 1.75e9) and near(inside["baseline"]["bandwidth"], 1280 * 2.6e9), f"roofs: {inside['baseline']}")
    check("peak 59.1 TFLOP/s, DRAM 3.33 TB/s" in html, "roofline: the page does not say the peaks")
    check(inside["kernels"][0]["fixed"] is None and inside["fixed"]["peak"] is None, "roofline: a fixed side that was not given")
    tiny_ncu.write(path, [GEMM, RELU])
    _, _, result, _ = run(a, b, folder, "--fixed-ncu", path)
    kernel = result["kernels_inside"]["kernels"][1]["fixed"]
    check(result["kernels_inside"]["roofline"] == "share_of_peak" and near(kernel["peak_share_percent"], 12.5) and
          near(kernel["intensity_over_ridge"], 12.5 / 92.75), f"roofline of shares: {kernel}")


def check_matching(folder, a, b):
    path = os.path.join(folder, "match.csv")
    other = dict(GEMM, grid=(9, 1, 1))
    tiny_ncu.write(path, [other, dict(RELU, name="relu"), GEMM, dict(GEMM, sm=71.25), dict(RELU, name="absent()")])
    _, _, result, html = run(a, b, folder, "--baseline-ncu", path)
    inside = result["kernels_inside"]
    check([k["baseline"]["name"] for k in inside["kernels"]] == ["gemm(float *)", "relu"], f"matching: {[k['baseline']['name'] for k in inside['kernels']]}")
    check(inside["baseline"]["kernels"] == 4 and inside["baseline"]["not_in_profile"] == 2, f"matching: {inside['baseline']}")
    check(inside["kernels"][0]["baseline"]["grid"] == [8, 1, 1], "matching: another shape is taken")
    check(inside["kernels"][0]["baseline"]["launches_measured"] == 2 and near(inside["kernels"][0]["baseline"]["sm_percent"], 81.25), "matching: no mean over launches")
    check("2 of the 4 kernels in the report are not in its steps" in html, "matching: the page does not say what is missing")
    tiny_ncu.write(path, [dict(GEMM, name="gemm(const float*)"), dict(RELU, name="relu(double *)"), dict(RELU, name="void relu<(int)2>(float *)")])
    _, _, result, _ = run(a, b, folder, "--baseline-ncu", path)
    inside = result["kernels_inside"]
    check([k["baseline"]["name"] for k in inside["kernels"]] == ["gemm(const float*)"] and inside["baseline"]["not_in_profile"] == 2,
          f"matching: another kernel of the function's name is taken: {inside}")


def check_many(folder, b):
    """Thousands of launch shapes on both sides: every one is found."""
    path, made = os.path.join(folder, "many.sqlite"), os.path.join(folder, "many.csv")
    tiny_profile.write(path, steps=2100, load=1000, more_kernels=2, jitter=100, seed=1)
    db = sqlite3.connect(path)
    for column in "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ":
        db.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {column} INTEGER")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = rowid, gridY = 1, gridZ = 1, blockX = 128, blockY = 1, blockZ = 1")
    rows = db.execute("SELECT value, gridX FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName ORDER BY start").fetchall()
    db.commit()
    db.close()
    rows = rows[len(rows) // 2:]  # of steps that are measured, whatever the warm-up
    tiny_ncu.write(made, [dict(GEMM, name=name.replace("float *", "float*"), grid=(grid, 1, 1)) for name, grid in rows])
    status, text, result, _ = run(path, b, folder, "--baseline-ncu", made)
    inside = result["kernels_inside"]["baseline"] if status == 0 else {}
    check(status == 0 and inside["kernels"] == len(rows) > 7000 and inside["not_in_profile"] == 0, f"many: {len(rows)} kernels, {text} {inside}")


def check_errors(folder, a, b):
    path = os.path.join(folder, "bad.csv")
    good = os.path.join(folder, "good.csv")
    tiny_ncu.write(good, [GEMM])
    with open(good, encoding="utf-8") as file:
        text = file.read()
    cases = [("", "is no report of Nsight Compute"), ("a,b\n1,2\n", "is no report of Nsight Compute"), (text.splitlines()[0] + "\n", "holds no kernel launch"),
             (text.rstrip()[:-1] + ' and so "" on', "is cut off, or a quote in it is not closed"), ("\0" * 100, "is no report of Nsight Compute"),
             (text.rstrip()[: text.rstrip().rindex(",") + 3], "is cut off")]
    for content, expected in cases:
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        status, message, _, _ = run(a, b, folder, "--baseline-ncu", path)
        check(status == 3 and expected in message, f"{content[:40]!r}: status {status}: {message.strip()}")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    with open(good, "rb") as file:
        packed = gzip.compress(file.read())
    for name, content, expected in (("it's.csv", pointer, "a pointer of Git LFS"), ("lfs.ncu-rep", pointer, "lfs pull --include 'lfs.ncu-rep'"),
                                    ("good.csv.gz", packed, "is packed; unpack it first: gzip -dk '")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        status, message, _, _ = run(a, b, folder, "--fixed-ncu", os.path.join(folder, name))
        check(status == 3 and expected in message, f"{name}: status {status}: {message.strip()}")
    for arguments in ["report", "--db", os.path.join(folder, "lfs.ncu-rep"), "@main", a], ["history", "report", "--db", os.path.join(folder, "lfs.ncu-rep")]:
        done = subprocess.run([GAPLINE, *arguments, "-o", os.path.join(folder, "x.html")], capture_output=True, text=True)
        check(done.returncode == 3 and "a pointer of Git LFS" in done.stderr, f"{arguments[0]}: status {done.returncode}: {done.stderr}")
    status, message, _, _ = run(a, b, folder, "--baseline-ncu", os.path.join(folder, "nothing.csv"))
    check(status == 3 and "nothing.csv" in message, f"a missing file: status {status}: {message}")


def check_packed(folder, a, b):
    """A .ncu-rep goes through ncu; without one, the command that is named does it."""
    path, csv_file, bin_folder = os.path.join(folder, "it's.ncu-rep"), os.path.join(folder, "good.csv"), os.path.join(folder, "bin")
    tiny_ncu.write(csv_file, [GEMM, RELU])
    with open(path, "wb") as file:
        file.write(b"NVR\0" + b"x" * 100)
    os.mkdir(bin_folder)
    empty = {"PATH": "/nowhere"}
    status, message, _, _ = run(a, b, folder, "--baseline-ncu", path, env=empty)
    command = re.search(r"run: (ncu --import .* > .*), and name that file", message)
    check(status == 3 and command, f"without ncu: status {status}: {message}")
    ncu = os.path.join(bin_folder, "ncu")
    with open(ncu, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n[ \"$1\" = --import ] && [ -e \"$2\" ] || exit 3\necho '==PROF== hello'\ncat {csv_file}\n")
    os.chmod(ncu, os.stat(ncu).st_mode | stat.S_IXUSR)
    found = {"PATH": bin_folder + ":" + os.environ["PATH"]}
    if command:
        subprocess.run(["sh", "-c", command.group(1)], env=dict(os.environ, **found), check=True)
        check(os.path.exists(path + ".csv"), "the command that is named does not make the file")
    status, message, result, _ = run(a, b, folder, "--baseline-ncu", path, env=found)
    check(status == 0 and len(result["kernels_inside"]["kernels"]) == 2, f"through ncu: status {status}: {message}")
    with open(ncu, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho 'Failed to open'\nexit 1\n")
    status, message, _, _ = run(a, b, folder, "--baseline-ncu", path, env=found)
    check(status == 3 and "exit status 1" in message, f"an ncu that fails: status {status}: {message}")


HOSTILE = "k) 'a' (36 $(touch x) `id` a|b.*[^x]{2}?+\\d, \"q\"</script><img src=x>"  # no C++: the function's name is all of it


def check_command(folder, a, b):
    """A profile whose GPU is the bottleneck names the command; the shell and the expression in it mean that kernel alone."""
    busy, other = os.path.join(folder, "busy.sqlite"), os.path.join(folder, "busy2.sqlite")
    profile(busy, gemm=HOSTILE)
    profile(other, gemm=HOSTILE, seed=2)
    status, text, result, html = run(busy, other, folder)
    command = result["kernels_inside"]["baseline"]["command"] if status == 0 else ""
    check(command, f"no command: {status} {text}")
    if not command:
        return
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="utf-8") as file:
        file.write("ncu() { for word; do printf '%s\\n' \"$word\"; done; }\n" + command.split("; ncu --import")[0])
    words = subprocess.run(["sh", script], capture_output=True, text=True, cwd=folder).stdout.splitlines()
    pattern = words[words.index("--kernel-name") + 1]
    check(pattern.startswith("regex:") and re.search(pattern[6:], HOSTILE) and re.search(pattern[6:], "relu"), f"the command's expression: {pattern}")
    check(not re.search(pattern[6:], HOSTILE.replace("36", "37")) and not re.search(pattern[6:], "my_relu"), f"it matches more: {pattern}")
    check(words[words.index("--kernel-name-base") + 1] == "function", f"names are matched as {words}")
    check(words[words.index("--launch-count") + 1] == "7" and int(words[words.index("--launch-skip") + 1]) % 7 == 0, f"launches: {words}")
    check(words[words.index("--kill") + 1] == "yes" and "SpeedOfLight_RooflineChart" in words and "--set" not in words, f"what is measured: {words}")
    check(not os.path.exists(os.path.join(folder, "x")) and "<img src=x>" not in html, "a kernel's name was obeyed")
    done = subprocess.run([GAPLINE, "show", busy], capture_output=True, text=True)
    check(command.split("--export")[0].replace("baseline", "profile") in done.stdout, "gapline show does not name the command")
    path = os.path.join(folder, "hostile.csv")
    tiny_ncu.write(path, [dict(GEMM, name=HOSTILE, rules=[("<script>alert(1)</script>\x1b[31m" + "x" * 100000, 12.5)])], "details")
    status, text, result, html = run(busy, other, folder, "--fixed-ncu", path)
    check(status == 0 and result["kernels_inside"]["kernels"][0]["fixed"]["name"] == HOSTILE and "<script>alert" not in html and "\x1b[31m" not in html,
          "a hostile report")
    check(status == 0 and len(html) < 1_500_000 and "\x1b[31m" not in text, "a hostile report in the terminal")


def kernels_of(path):
    """A PyTorch trace's kernels by name, grid and block: launches, their time in us."""
    found = {}
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    for e in events["traceEvents"] if isinstance(events, dict) else events:
        if e.get("cat") == "kernel":
            sums = found.setdefault((e["name"], tuple(e["args"]["grid"]), tuple(e["args"]["block"])), [0, 0.0])
            sums[0] += 1
            sums[1] += e["dur"]
    return found


def check_pytorch(folder):
    """Names in a trace of the PyTorch profiler are spelled by the C++ runtime, in ncu's report by NVIDIA's demangler: gapline's collector
    writes names as the latter does, and c++filt makes of the mangled name what the profiler wrote."""
    trace, capture, made = (os.path.join(folder, name) for name in ("loader.json", "loader.sqlite", "made.csv"))
    for name, path in ("loader-pytorch.json", trace), ("loader-gapline.sqlite", capture):
        with lzma.open(os.path.join(ROOT, "tests", "cmd", "recorded", name + ".xz")) as source, open(path, "wb") as target:
            target.write(source.read())
    db = sqlite3.connect(capture)
    rows = db.execute("SELECT DISTINCT m.value, d.value, gridX, gridY, gridZ, blockX, blockY, blockZ FROM CUPTI_ACTIVITY_KIND_KERNEL "
                      "JOIN StringIds m ON m.id = mangledName JOIN StringIds d ON d.id = demangledName ORDER BY 1, 3, 4, 5").fetchall()
    db.close()
    try:
        plain = subprocess.run(["c++filt"], input="\n".join(row[0] for row in rows), capture_output=True, text=True, check=True).stdout.splitlines()
    except OSError:
        print("no c++filt")
        return
    in_trace = kernels_of(trace)
    expected = {(row[1], row[2:5]): in_trace[name, row[2:5], row[5:8]] for row, name in zip(rows, plain) if (name, row[2:5], row[5:8]) in in_trace}
    spelled = sum(row[1] != name for row, name in zip(rows, plain))
    check(len(expected) >= 30 and spelled >= 20, f"pytorch: {len(expected)} kernels are in both, {spelled} are spelled in two ways")
    tiny_ncu.write(made, [dict(GEMM, name=row[1], grid=row[2:5], block=row[5:8]) for row in rows])
    status, text, result, _ = run(trace, capture, folder, "--baseline-ncu", made, "--fixed-ncu", made)
    if status:
        wrong.append(f"pytorch: status {status}: {text}")
        return
    inside = result["kernels_inside"]
    check(inside["baseline"]["not_in_profile"] == len(rows) - len(expected), f"pytorch: {inside['baseline']}, {len(rows)} kernels, {len(expected)} in the trace")
    check(inside["baseline"]["covered"] > 0.99 * sum(e[1] for e in expected.values()) / sum(e[1] for e in in_trace.values()), f"pytorch: {inside['baseline']}")
    for k in inside["kernels"]:
        k = k["baseline"]
        of = expected.get((k["name"], tuple(k["grid"])))
        check(of and k["instances_per_step"] > 0 and abs(k["ms_per_step"] / k["instances_per_step"] / (of[1] / of[0] / 1e3) - 1) < 0.05, f"pytorch: {k['name']}: {k['ms_per_step']} ms, expected {of}")
    # names that say functions only stand for all kernels of one
    names = {row[1]: re.sub(r".*::", "", re.sub(r"\(.*", "", re.sub(r"<.*", "", row[1].replace("<unnamed>", "")))).split(" ")[-1] for row in rows}
    tiny_ncu.write(made, [dict(GEMM, name=names[row[1]], grid=row[2:5], block=row[5:8]) for row in rows])
    _, _, functions, _ = run(trace, capture, folder, "--baseline-ncu", made)
    check(functions and near(functions["kernels_inside"]["baseline"]["covered"], inside["baseline"]["covered"]), "pytorch: names of functions only")


def check_pytorch_command(folder):
    """Ncu is asked for the functions of the heaviest kernels, by their own names; what is skipped and counted are those functions' launches."""
    path, other = os.path.join(folder, "bound.json"), os.path.join(folder, "bound2.json")
    tiny_kineto.write(path, steps=12, load_us=2, kernels=12, kernel_us=400)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for i in 0, 1, 2, 11:  # kernels of one function; those with the lower numbers are named first where times are equal
        text = text.replace(f"void gemm_{i}<float>(int)", f"void ns::(anonymous namespace)::fuse<{i}, ns::f()::{{lambda(float)#1}}>(int)")
    for to in path, other:
        with open(to, "w", encoding="utf-8") as file:
            file.write(text)
            text = text.replace('"name": "NVIDIA H200"', '"name": "NVIDIA H200 "')
    status, message, result, _ = run(path, other, folder)
    command = result["kernels_inside"]["baseline"]["command"] if status == 0 else None
    check(command, f"pytorch: no command: {status} {message}")
    if not command:
        return
    found = re.search(r"--kernel-name-base function --kernel-name 'regex:(.*?)' --launch-skip (\d+) --launch-count (\d+) ", command)
    check(found and found.group(1) == "^(fuse|gemm_3|gemm_4)$", f"pytorch: {command}")
    check(found and int(found.group(2)) > 0 and int(found.group(2)) % 6 == 0 and found.group(3) == "6", f"pytorch: six launches of those functions a step: {command}")


def check_recorded(folder):
    """What a real ncu measured with the command that a report of these two profiles names."""
    paths = {}
    for name in os.listdir(os.path.join(ROOT, "tests", "cmd", "recorded")):
        if name.startswith("kernel-bound"):
            paths[name[len("kernel-bound-"):-3]] = path = os.path.join(folder, name[:-3])
            with lzma.open(os.path.join(ROOT, "tests", "cmd", "recorded", name)) as source, open(path, "wb") as target:
                target.write(source.read())
    pair = paths["baseline.sqlite"], paths["fixed.sqlite"]
    status, text, result, _ = run(*pair, folder)
    commands = {side: result["kernels_inside"][side]["command"] for side in ("baseline", "fixed")} if status == 0 else {}
    shapes = {"baseline": "scale_by_rows(float *, unsigned long)", "fixed": "scale_by_columns(float *)"}
    said = {}
    for page in "raw", "details":
        files = [paths[f"{side}.{page}.csv"] for side in ("baseline", "fixed")]
        status, text, result, html = run(*pair, folder, "--baseline-ncu", files[0], "--fixed-ncu", files[1])
        if status:
            wrong.append(f"recorded, {page}: status {status}: {text}")
            continue
        said[page] = [[(k[s]["name"], k[s]["grid"], k[s]["launches_measured"], *(round(k[s][m], 1) for m in ("sm_percent", "memory_percent", "occupancy_percent")))
                       for s in ("baseline", "fixed")] for k in result["kernels_inside"]["kernels"]]
        for side, file in zip(("baseline", "fixed"), files):
            inside = result["kernels_inside"][side]
            check(inside["kernels"] == 4 and inside["not_in_profile"] == 1, f"recorded, {page}, {side}: {inside}")
            if page == "raw":
                with open(file, encoding="utf-8", newline="") as rows:
                    rows = [row for row in csv.DictReader(rows) if row["ID"]]
                expression = re.search(r"--kernel-name 'regex:(.*?)' --launch-skip \d+ --launch-count (\d+)", commands.get(side, ""))
                check(expression and int(expression.group(2)) == len(rows) == 15, f"recorded, {side}: {len(rows)} launches, {commands.get(side)}")
                check(expression and all(re.search(expression.group(1), row["Kernel Name"].split("(")[0]) for row in rows), f"recorded, {side}: the expression")
                check(len({row["Kernel Name"] for row in rows}) == 4 and shapes[side] in {row["Kernel Name"] for row in rows}, f"recorded, {side}: kernels")
                sweeps = [row for row in rows if row["Kernel Name"].startswith("sweep(")]
                kernel = result["kernels_inside"]["kernels"][0][side]
                check(kernel["launches_measured"] == len(sweeps) == 12 and near(kernel["sm_percent"], sum(float(
                    row["sm__throughput.avg.pct_of_peak_sustained_elapsed"]) for row in sweeps) / 12), f"recorded, {side}: {kernel}")
        check("1 of the 4 kernels in the report is not in its steps, by name and launch shape" in html, f"recorded, {page}: what is missing")
        for side, file in zip(("baseline", "fixed"), files):  # one profile alone
            done = subprocess.run([GAPLINE, "show", paths[f"{side}.sqlite"], "--ncu", file], capture_output=True, text=True)
            inside = done.stdout.split("Inside the kernels")[-1]
            shown = [k[side] for k in result["kernels_inside"]["kernels"] if k[side]]
            check(done.returncode == 0 and len(shown) == 3, f"show, {page}, {side}: {done.returncode} {done.stderr}")
            for k in shown:
                check(f"SM {k['sm_percent']:.1f} %, memory {k['memory_percent']:.1f} %" in inside, f"show, {page}, {side}: {k['name']} in {inside}")
    check(said.get("raw") == said.get("details"), f"recorded: the two pages differ: {said}")
    done = subprocess.run([GAPLINE, "show", pair[0], "--ncu", pair[1]], capture_output=True, text=True)
    check(done.returncode == 3 and done.stderr.count("\n") == 1, f"show with what is no report: {done.returncode} {done.stderr}")
    check([k[0][0].split("(")[0] for k in said.get("raw", [])] == ["sweep", "residual_parts", "residual_mean"], f"recorded: {said.get('raw')}")


def check_names(folder):
    """32 kernels whose names nsys and ncu spell in two ways, both of them real: each is found."""
    paths = []
    for name in "names-nsys.sqlite", "names.raw.csv":
        paths.append(os.path.join(folder, name))
        with lzma.open(os.path.join(ROOT, "tests", "cmd", "recorded", name + ".xz")) as source, open(paths[-1], "wb") as target:
            target.write(source.read())
    with open(paths[1], encoding="utf-8") as file:
        lines = file.read().splitlines()  # ncu's own words stand before the table
        rows = list(csv.DictReader(lines[next(i for i, line in enumerate(lines) if line.startswith('"ID"')):]))
    db = sqlite3.connect(paths[0])
    own = {row[0] for row in db.execute("SELECT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName")}
    db.close()
    measured = {row["Kernel Name"] for row in rows if row["ID"]}
    check(len(measured) == len(own) == 32 and len(measured - own) > 20, f"names: {len(measured)}, {len(measured - own)} are spelled in two ways")
    status, text, result, _ = run(paths[0], paths[0], folder, "--baseline-ncu", paths[1])
    inside = result["kernels_inside"]["baseline"] if status == 0 else {}
    check(status == 0 and inside["kernels"] == 32 and inside["not_in_profile"] == 0 and near(inside["covered"], 1), f"names: {text} {inside}")


def check_bound(folder):
    """A trace of the PyTorch profiler, and what a real ncu measured with the command that its report names: names are simplified there."""
    paths = []
    for name in "bound-pytorch.json", "bound-pytorch.raw.csv":
        paths.append(os.path.join(folder, name))
        with lzma.open(os.path.join(ROOT, "tests", "cmd", "recorded", name + ".xz")) as source, open(paths[-1], "wb") as target:
            target.write(source.read())
    other = os.path.join(folder, "loader.sqlite")
    status, text, result, _ = run(paths[0], other, folder)
    command = result["kernels_inside"]["baseline"]["command"] if status == 0 else text
    with open(paths[1], encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    shape = lambda text: tuple(map(int, re.findall(r"\d+", text)))
    function = lambda row: re.sub(r"[<(].*", "", row["Kernel Name"]).split("::")[-1].split(" ")[-1]
    asked = {function(row) for row in rows}
    check(f"--launch-skip 11 --launch-count {len(rows)} " in command and all(name in command for name in asked), f"bound: {command}")
    measured = {(function(row), shape(row["Grid Size"]), shape(row["Block Size"])) for row in rows}
    in_trace = kernels_of(paths[0])
    own = lambda name: re.sub(r"[<(].*", "", name.replace("(anonymous namespace)::", "")).split("::")[-1].split(" ")[-1]
    share = sum(v[1] for k, v in in_trace.items() if (own(k[0]), k[1], k[2]) in measured) / sum(v[1] for v in in_trace.values())
    status, text, result, _ = run(paths[0], other, folder, "--baseline-ncu", paths[1])
    inside = result["kernels_inside"]["baseline"] if status == 0 else {}
    check(status == 0 and inside["kernels"] == len(rows) == 9 and inside["not_in_profile"] == 0 and abs(inside["covered"] - share) < 0.02, f"bound: {share} {text} {inside}")
    for k in result["kernels_inside"]["kernels"] if status == 0 else []:
        of = [row for row in rows if row["Kernel Name"] == k["baseline"]["name"] and shape(row["Grid Size"]) == tuple(k["baseline"]["grid"])]
        check(len(of) == 1 and near(k["baseline"]["instances_per_step"], 1) and
              near(k["baseline"]["sm_percent"], float(of[0]["sm__throughput.avg.pct_of_peak_sustained_elapsed"])), f"bound: {k['baseline']}")


def check_captures(folder):
    pair = [os.path.join(CAPTURES, "pinned-prefetch", f"{side}.sqlite.gz") for side in ("baseline", "fixed")]
    if not all(map(os.path.exists, pair)):
        print("no captures")
        return
    names = {"Duration": ("duration_ms", {"us": 1e-3, "ms": 1}), "Compute (SM) Throughput": ("sm_percent", {"%": 1}), "Memory Throughput": ("memory_percent", {"%": 1}),
             "DRAM Throughput": ("dram_percent", {"%": 1}), "Achieved Occupancy": ("occupancy_percent", {"%": 1}),
             "Theoretical Occupancy": ("occupancy_most_percent", {"%": 1}), "Registers Per Thread": ("registers", {"register/thread": 1}),
             "Waves Per SM": ("waves", {"": 1}), "L2 Cache Throughput": ("l2_percent", {"%": 1}), "L1/TEX Cache Throughput": ("l1_percent", {"%": 1})}
    for page in "details", "raw":
        files = [os.path.join(CAPTURES, "ncu", f"ncu_{side}.{page}.csv") for side in ("baseline", "fixed")]
        status, text, result, _ = run(*pair, folder, "--baseline-ncu", files[0], "--fixed-ncu", files[1])
        if status:
            wrong.append(f"capture, {page}: status {status}: {text}")
            continue
        for side, file in ("baseline", files[0]), ("fixed", files[1]):
            sums = {}
            with open(file, encoding="utf-8", newline="") as rows:
                if page == "details":
                    for row in csv.DictReader(rows):
                        member, units = names.get(row["Metric Name"], (None, {}))
                        if member and row["Metric Unit"] in units:
                            key = row["Kernel Name"], row["Grid Size"]
                            sums.setdefault(key, {}).setdefault(member, []).append(float(row["Metric Value"].replace(",", "")) * units[row["Metric Unit"]])
                else:
                    table = list(csv.DictReader(rows))
                    for row in table[1:]:
                        for raw, _, label, _ in tiny_ncu.RAW.values():
                            if label in names and raw in row and raw != "dram__bytes.sum.per_second":
                                member, units = names[label]
                                sums.setdefault((row["Kernel Name"], row["Grid Size"]), {}).setdefault(member, []).append(
                                    float(row[raw].replace(",", "")) * units[table[0][raw]])
            kernels = [k[side] for k in result["kernels_inside"]["kernels"]]
            check(len(kernels) == len(sums) == 4, f"capture, {page}, {side}: {len(kernels)} of {len(sums)} kernels")
            for kernel in kernels:
                of = sums[kernel["name"], "({}, {}, {})".format(*kernel["grid"])]
                for member, values in of.items():
                    check(near(kernel[member], sum(values) / len(values)), f"capture, {page}, {side}, {kernel['name']}: {member} is {kernel[member]}, the CSV has {values}")
            check(result["kernels_inside"][side]["covered"] > 0.999, f"capture, {page}, {side}: covered")
    print("captures: 4 kernels of each side")


def main():
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a.sqlite"), os.path.join(folder, "b.sqlite")
        profile(a)
        profile(b, seed=2)
        check_made(folder, a, b)
        check_roofline(folder, a, b)
        check_matching(folder, a, b)
        check_many(folder, b)
        check_errors(folder, a, b)
        check_packed(folder, a, b)
        check_command(folder, a, b)
        check_pytorch(folder)
        check_pytorch_command(folder)
        check_recorded(folder)
        check_names(folder)
        check_bound(folder)
        check_captures(folder)
    for line in wrong:
        print("FAILED", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
