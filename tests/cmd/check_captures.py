#!/usr/bin/env python3
"""Runs `gapline report` on real captures and compares its JSON with answers known from elsewhere.

    check_captures.py [GAPLINE]

GAPLINE is the built command (default: the newest build that there is). The captures lie in ../shared/captures
beside the repository, or where GAPLINE_CAPTURES says; without them nothing is checked and the status is 77. The answers
come from the captures' own README: an independent script computed them. Periods and parts of a step have to agree
within 0.5 % (below 0.05 ms: within 0.005 ms), the causes of idle time within 3 %, beside the rounding of the answer.
"""
import glob
import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import facts  # noqa: E402
from captures_answers import ANSWERS  # noqa: E402

PARTS = ("compute", "comm_exposed", "copy_exposed", "idle")


class Table:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, good, seen="", expected=""):
        self.passed += bool(good)
        self.failed += not good
        line = f"{'ok  ' if good else 'FAIL'}  {what:<64} {seen}"
        print(line + (f"   expected {expected}" if expected != "" else ""), flush=True)
        return good

    def near(self, what, seen, answer, share=0.005, small=0.05, small_by=0.005):
        """`answer` is a text: half a unit of its last digit is allowed beside `share`."""
        value = float(answer)
        rounding = 0.5 * 10.0 ** -len(answer.partition(".")[2])
        allowed = share * abs(value) + rounding * 1.0001
        if share == 0.005 and abs(value) < small:
            allowed = small_by
        good = isinstance(seen, (int, float)) and abs(seen - value) <= allowed
        shown = f"{seen:.5g}" if isinstance(seen, (int, float)) else repr(seen)
        return self.check(what, good, shown, f"{answer} +- {allowed:.2g}")


class Gapline:
    """The command, run in a folder of copies that must stay as it was."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def run(self, *arguments):
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        return subprocess.run([self.command, *arguments], capture_output=True, text=True, errors="replace",
                              timeout=600, env=environment)

    def report(self, baseline, fixed, *options):
        """(exit status, JSON or None, HTML or b'', what it said on standard error)"""
        with tempfile.TemporaryDirectory() as out:
            html, result = os.path.join(out, "report.html"), os.path.join(out, "report.json")
            done = self.run("report", baseline, fixed, "-o", html, "--json", result, *options)
            document, page = None, b""
            if os.path.exists(result):
                with open(result, encoding="utf-8") as file:
                    document = json.load(file, object_hook=facts.text)
            if os.path.exists(html):
                with open(html, "rb") as file:
                    page = file.read()
            return done.returncode, document, page, done.stderr

    def state(self):
        """Every file of the folder with its contents' hash."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.folder)] = hashlib.sha256(file.read()).hexdigest()
        return found


def status_text(status):
    if status >= 0:
        return f"exit {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def idle_of(device, cause, phase=None):
    return sum(row["ms_per_step"] for row in device["idle"]
               if row["cause"] == cause and (phase is None or row["phase"] == phase))


def check_side(table, name, side, answer, causes):
    period = side["steps"]["period_ms"]
    table.near(f"{name}: period, typical", period["typical"], answer[0])
    table.near(f"{name}: period, mean", period["mean"], answer[1])
    for device in side["devices"]:
        where = f"{name} device {device['id']}" if len(side["devices"]) > 1 else name
        step = device["per_step"]
        for part, value in zip(PARTS, answer[2:]):
            table.near(f"{where}: {part}", step[part], value)
        for cause, phase, value in causes:
            table.near(f"{where}: {cause}" + (f" in {phase}" if phase else ""), idle_of(device, cause, phase), value,
                       share=0.03)


def check_sums(table, name, side):
    """What has to add up adds up, in every profile."""
    for device in side["devices"]:
        step = device["per_step"]
        gap = sum(step[part] for part in PARTS) - step["period"]
        table.check(f"{name} device {device['id']}: parts add up to the period",
                    abs(gap) <= 1e-9 * max(1, step["period"]), f"{gap:.1e} off")
        gap = sum(row["ms_per_step"] for row in device["idle"]) - step["idle"]
        table.check(f"{name} device {device['id']}: causes add up to the idle time",
                    abs(gap) <= 1e-9 * max(1, step["idle"]), f"{gap:.1e} off")
    mean = sum(device["per_step"]["period"] for device in side["devices"]) / len(side["devices"])
    gap = sum(phase["cost_ms_per_step"] for phase in side["phases"]) - mean
    table.check(f"{name}: phase costs add up to the period", abs(gap) <= 1e-9 * max(1, mean), f"{gap:.1e} off")
    costs = [phase["cost_ms_per_step"] for phase in side["phases"]]
    table.check(f"{name}: phases are ranked by cost", costs == sorted(costs, reverse=True))


def check_waterfall(table, name, document):
    for side in ("baseline", "fixed"):
        total = sum(part[f"{side}_ms"] for part in document["waterfall"])
        headline = document[side]["steps"]["period_ms"]["mean"]
        table.check(f"{name}: the waterfall adds up to the {side} period", abs(total - headline) <= 1e-9 * headline,
                    f"{total:.6f}", f"{headline:.6f}")


def check_pair_at_warmup(table, gapline, name, answer, paths):
    status, document, _, said = gapline.report(*paths, "--warmup", str(answer["warmup"]))
    if not table.check(f"{name} --warmup {answer['warmup']}: a report", status == 0 and document is not None,
                       status_text(status) + " " + said.strip()[:80]):
        return
    for side in ("baseline", "fixed"):
        check_side(table, f"{name} {side}", document[side], answer[side], answer[f"{side}_causes"])
        check_sums(table, f"{name} {side}", document[side])
        table.check(f"{name} {side}: warm-up as asked for",
                    all(w == answer["warmup"] for w in [document[side]["steps"]["warmup"]]),
                    document[side]["steps"]["warmup"], answer["warmup"])
    check_waterfall(table, name, document)
    for side, ranking in answer["phases"].items():
        for rank, (phase, cost) in enumerate(ranking, 1):
            row = next((p for p in document[side]["phases"] if p["name"] == phase), None)
            if table.check(f"{name} {side}: phase {phase}, rank", row and row["rank"] == rank,
                           row and row["rank"], rank):
                table.near(f"{name} {side}: phase {phase}, cost", row["cost_ms_per_step"], cost, share=0.01)
    if "ceiling" in answer:
        diagnosis = document["diagnosis"]
        table.near(f"{name}: combined ceiling", diagnosis["combined_ceiling_ms"], answer["ceiling"][0])
        table.near(f"{name}: measured", diagnosis["measured_ms"], answer["ceiling"][1])
        table.check(f"{name}: diagnosis", diagnosis["result"] == "confirmed", diagnosis["result"], "confirmed")
    if name == "tiny-kernels-graph":
        device = document["baseline"]["devices"][0]
        hardware = idle_of(device, "launch_latency") + idle_of(device, "dispatch")
        table.check(f"{name} baseline: not blamed on the hardware's latency", hardware < 0.02,
                    f"{hardware:.4f} ms", "< 0.02")
    means = [float(answer[side][1]) for side in ("baseline", "fixed")]
    table.near(f"{name}: the speedup is the ratio of the means", document["verdict"]["speedup"], f"{means[0] / means[1]:.3f}")
    if name == "torch-dataloader":
        backward = next(p for p in document["baseline"]["phases"] if p["name"] == "backward")
        table.check(f"{name} baseline: backward's kernels are backward's", backward["gpu_ms_per_step"] > 15,
                    f"{backward['gpu_ms_per_step']:.2f} ms of GPU time", "> 15")


def check_pair_by_itself(table, gapline, name, answer, paths):
    """Warm-up found automatically: verdict, findings, the mirror and the determinism of the report."""
    status, document, page, said = gapline.report(*paths)
    if not table.check(f"{name}: a report", status == 0 and document is not None,
                       status_text(status) + " " + said.strip()[:80]):
        return None
    verdict = document["verdict"]
    result, speedup, lo, hi = answer["verdict"]
    table.check(f"{name}: verdict", verdict["result"] == result, verdict["result"], result)
    table.near(f"{name}: speedup", verdict["speedup"], speedup)
    table.near(f"{name}: 95 % interval from", verdict["recorded"]["ci95"][0], lo)
    table.near(f"{name}: 95 % interval to", verdict["recorded"]["ci95"][1], hi)
    table.check(f"{name}: and with what recording may have done", verdict["ci95"][0] <= verdict["recorded"]["ci95"][0] and
                verdict["ci95"][1] >= verdict["recorded"]["ci95"][1], verdict["ci95"])
    findings = document["findings"]
    for finding in answer["resolved"]:
        seen = [f["status"] for f in findings if f["id"] == finding]
        table.check(f"{name}: finding {finding}", seen == ["resolved"], seen, "resolved")
    for finding in findings:
        table.check(f"{name}: finding {finding['id']} has a number", any(c.isdigit() for c in finding["text"]))
    if "ceiling" in answer:
        table.check(f"{name}: diagnosis", document["diagnosis"]["result"] == "confirmed",
                    document["diagnosis"]["result"], "confirmed")
        table.near(f"{name}: combined ceiling", document["diagnosis"]["combined_ceiling_ms"], answer["ceiling"][0],
                   share=0.01)
    if name == "gpt2-mixed-precision":
        for side in ("baseline", "fixed"):
            step = document[side]["steps"]["name"]
            table.check(f"{name} {side}: step", step == "iter#", step, "iter#")
        table.check(f"{name}: the differences in kernels are said",
                    any("kernel" in text for text in verdict["differences"]), len(verdict["differences"]))
        table.check(f"{name}: the same job", verdict["same_work"] == "same_job", verdict["same_work"], "same_job")
        bound = [f["status"] for f in findings if f["id"] == "gpu_bound" and f["side"] in ("baseline", "both")]
        table.check(f"{name} baseline: the GPU is the bottleneck", len(bound) == 1, bound)
    if name == "tiny-kernels-graph":
        said = " ".join(gapline.run("report", *paths, "--color", "never").stdout.split())
        table.check(f"{name}: hidden work is not called different", "work Same work: unknown" in said
                    and "CUDA graphs that were traced whole hide" in said, said[:300])
        table.check(f"{name}: nor comparable", verdict["same_work"] == "unknown" and not verdict["comparable"])
    if name == "torch-dataloader":
        first = document["baseline"]["phases"][0]["name"]
        table.check(f"{name} baseline: first phase", first == "data_load", first, "data_load")
    if name == "ddp-2gpu":
        for side, comm in (("baseline", "0.98"), ("fixed", "0.15")):
            for device in document[side]["devices"]:
                table.near(f"{name} {side} device {device['id']}: exposed communication",
                           device["per_step"]["comm_exposed"], comm, share=0.03)
    table.check(f"{name}: report of at most 1.5 MB", 0 < len(page) <= 1500000, len(page))
    table.check(f"{name}: no path in the report", gapline.folder.encode() not in page)
    again = gapline.report(*paths)
    table.check(f"{name}: same input, same bytes", again[2] == page and again[1] == document)
    status, mirrored, _, _ = gapline.report(*reversed(paths))
    other = {"faster": "slower", "slower": "faster"}.get(result, result)
    if table.check(f"{name} swapped: a report", status == 0 and mirrored is not None, status_text(status)):
        swapped = mirrored["verdict"]
        table.check(f"{name} swapped: verdict", swapped["result"] == other, swapped["result"], other)
        table.check(f"{name} swapped: speedup", abs(swapped["speedup"] * verdict["speedup"] - 1) < 1e-12,
                    f"{swapped['speedup'] * verdict['speedup'] - 1:.1e} off 1/S")
        table.check(f"{name} swapped: interval", abs(swapped["ci95"][0] * verdict["ci95"][1] - 1) < 1e-12 and
                    abs(swapped["ci95"][1] * verdict["ci95"][0] - 1) < 1e-12)
    return document


def check_self(table, gapline, name, path):
    status, document, _, said = gapline.report(path, path)
    if not table.check(f"{name} against itself: a report", status == 0 and document is not None,
                       status_text(status) + " " + said.strip()[:80]):
        return
    verdict = document["verdict"]
    table.check(f"{name} against itself: no number", verdict["speedup"] is None and verdict["ci95"] is None,
                verdict["speedup"])
    table.check(f"{name} against itself: inconclusive, and why", verdict["result"] == "inconclusive" and
                "are the same capture" in verdict["reasons"][0], verdict["reasons"][0])
    for gate in (("--max-regression", "5"), ("--min-speedup", "0.5"), ("--require-comparable",)):
        table.check(f"{name} against itself: {gate[0]} is open", gapline.report(path, path, *gate)[0] == 4)
    table.check(f"{name} against itself: empty waterfall", document["waterfall"] == [], len(document["waterfall"]))
    table.check(f"{name} against itself: comparable", verdict["comparable"] is True, verdict["differences"])
    table.check(f"{name} against itself: nothing resolved, nothing new",
                all(f["status"] in ("remaining", "seen") for f in document["findings"]))


def check_gates(table, gapline, paths):
    """torch-dataloader: 2.289 [2.21, 2.37]."""
    baseline, fixed = paths
    for options, status in (
            (("--min-speedup", "2"), 0), (("--min-speedup", "2.5"), 1), (("--min-speedup", "2.29"), 4),
            (("--max-regression", "5"), 0), (("--no-such-option",), 2), (("--step", "no_such_range"), 2)):
        done = gapline.report(baseline, fixed, *options)
        expected = (2, 3) if options[0] == "--step" else (status,)
        table.check("torch-dataloader " + " ".join(options), done[0] in expected, status_text(done[0]),
                    " or ".join(map(str, expected)))
    done = gapline.report(fixed, baseline, "--max-regression", "5")
    table.check("torch-dataloader swapped --max-regression 5", done[0] == 1, status_text(done[0]), 1)
    done = gapline.report(baseline, os.path.join(gapline.folder, "is-not-there.sqlite"))
    table.check("a file that is not there", done[0] == 3 and done[3].strip() and is_error(done[1]),
                status_text(done[0]) + " " + done[3].strip()[:80], 3)


def is_error(document):
    """A comparison that failed says so in its result, and nothing else."""
    return document is not None and document["result"] == "error" and bool(document["error"]["text"])


def without_names(document):
    """The part of a result that does not depend on what the input files are called."""
    return [document["verdict"], document["waterfall"], [document[side]["devices"] for side in ("baseline", "fixed")]]


def check_public(table, gapline, folder):
    kinds = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.sqlite.gz"))):
        name = os.path.basename(path).replace(".sqlite.gz", "")
        shown = gapline.run("show", path)
        status, document, _, said = gapline.report(path, path)
        said = said.strip()
        read = status == 0 and document is not None
        refused = status == 3 and is_error(document) and bool(said)
        table.check(f"{name}: read, or refused with a reason", read or refused,
                    status_text(status) + (" " + said[:110] if status else ""))
        table.check(f"{name}: show agrees", shown.returncode == (0 if read else 3), status_text(shown.returncode))
        kinds[name] = read
        if not read:
            continue
        for device in document["baseline"]["devices"]:
            if device["per_step"]["period"] <= 0:
                table.check(f"{name}: a window that is not empty", False, device["per_step"]["period"])
        check_sums(table, name, document["baseline"])
        verdict = document["verdict"]
        table.check(f"{name}: against itself there is nothing to compare",
                    verdict["speedup"] is None and verdict["result"] == "inconclusive", verdict["result"])
        if "nsys-ai" in name:
            steps = document["baseline"]["steps"]
            table.check(f"{name}: no range is a step", steps["origin"] in ("pattern", "none"), steps.get("name"))
        if "h100" in name:  # reference: 24 times 62 kernels (and 16 copies and memsets), 29.34 ms
            loop = document["baseline"]["loops"][0]
            table.near(f"{name}: a layer repeats", loop["ops"], "78")
            table.near(f"{name}: times", loop["steps"], "24")
    empty = "YoonKyonghwan-EfficientCenterFormer-poolformer"
    table.check(f"{empty}: refused (it has no GPU work)", kinds.get(empty) is False)
    some = os.path.join(folder, "kmcho2019-Rodinia_3.1_Gaussian-report2.sqlite.gz")
    status, document, _, said = gapline.report(some, os.path.join(folder, empty + ".sqlite.gz"))
    table.check("an empty side is an error, never a win", status == 3 and is_error(document) and said.strip(),
                status_text(status) + " " + said.strip()[:80], 3)


def kernel_total(side):
    return sum(kernel["ms_per_step"] for kernel in side["kernels"])


def check_without_ranges(table, gapline, folder):
    """Whole runs, without steps: budget, gaps and kernels, and from one run a side no direction."""
    for first, second in (("kmcho2019-Rodinia_3.1_Gaussian-report2", "kmcho2019-Rodinia_3.1_Gaussian-report5"),
                          ("cestwc-balinski-and-gomory-cuda-report11", "cestwc-balinski-and-gomory-cuda-report16")):
        paths = [os.path.join(folder, name + ".sqlite.gz") for name in (first, second)]
        status, document, page, said = gapline.report(*paths, "--step", "none")
        if not table.check(f"{first} -> {second[-8:]}: a report", status == 0 and document is not None and page,
                           status_text(status) + " " + said.strip()[:80]):
            continue
        verdict = document["verdict"]
        table.check(f"{first}: inconclusive, with the reason",
                    verdict["result"] == "inconclusive" and len(verdict["reasons"]) > 0, verdict["result"])
        table.check(f"{first}: kernels and idle causes are there",
                    all(document[s]["kernels"] and document[s]["devices"][0]["idle"] for s in ("baseline", "fixed")))
        periods = [document[s]["devices"][0]["per_step"]["period"] for s in ("baseline", "fixed")]
        if first.startswith("kmcho"):
            table.near(f"{first}: kernel time", kernel_total(document["baseline"]), "2808")
            table.near(f"{second}: kernel time", kernel_total(document["fixed"]), "717")
            launches = [sum(k["instances_per_step"] for k in document[s]["kernels"]) for s in ("baseline", "fixed")]
            table.check(f"{first}: kernels", launches == [8190, 8190], launches, [8190, 8190])
        else:
            table.near(f"{first}: span", periods[0], "193")
            table.near(f"{second}: span", periods[1], "68")
            waits = idle_of(document["fixed"]["devices"][0], "sync_return")
            table.check(f"{second}: blocking read-backs count as synchronisation", waits > 0, f"{waits:.3f} ms")


def check_generation(table, gapline, folder):
    """Text is generated without and with a cache, nothing marked: token against token, which is 1.33 times as fast by the
    programs' own clocks, or call against call, 1.06; never a token against a call."""
    before, after = (os.path.join(folder, f"{name}.sqlite.gz") for name in ("no-cache", "cache"))
    counts = []
    for first, second, truths in (before, after, (1.33, 1.06)), (after, before, (1 / 1.33, 1 / 1.06)):
        status, document, _, said = gapline.report(first, second)
        name = f"generation, {os.path.basename(first)} first"
        if not table.check(f"{name}: a report", status == 0 and document, said.strip()[:80]):
            continue
        verdict = document["verdict"]
        table.check(f"{name}: one unit on both sides", verdict["speedup"] is None or
                    any(abs(verdict["speedup"] / truth - 1) < 0.03 for truth in truths), verdict["speedup"], truths)
        table.check(f"{name}: no direction against the truth", verdict["result"] != ("faster", "slower")[first == before],
                    verdict["result"])
        counts.append({document[s]["steps"]["measured"] for s in ("baseline", "fixed")})
    table.check("generation: one unit, whichever comes first", len(counts) == 2 and counts[0] == counts[1], counts)


def command_find():
    if len(sys.argv) > 1:
        return os.path.abspath(sys.argv[1])
    built = glob.glob(os.path.join(ROOT, "build", "*", "gen", "gapline"))
    return max(built, key=os.path.getmtime) if built else None


def check_made(prefix, *checks):
    """Each check gets a table, a Gapline and a folder for what it makes; the status of all together."""
    command = command_find()
    if not command or not os.access(command, os.X_OK):
        print("gapline is not built")
        return 1
    table = Table()
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        for check in checks:
            check(table, Gapline(command, folder), folder)
    print(f"{table.passed} passed, {table.failed} failed")
    return 1 if table.failed or not table.passed else 0


def main():
    captures = os.environ.get("GAPLINE_CAPTURES") or os.path.join(os.path.dirname(ROOT), "shared", "captures")
    if not os.path.isdir(captures):
        print("skipped: there are no captures beside the repository (../shared/captures), nor in GAPLINE_CAPTURES")
        return 77
    command = command_find()
    if not command or not os.access(command, os.X_OK):
        print("gapline is not built")
        return 1
    table = Table()
    with tempfile.TemporaryDirectory(prefix="gapline-captures-") as folder:
        for name in [*ANSWERS, "public", "torch-generation"]:
            os.mkdir(os.path.join(folder, name))
            for path in glob.glob(os.path.join(captures, name, "*.gz")):
                shutil.copyfile(path, os.path.join(folder, name, os.path.basename(path)))
        plain = []
        for side in ("baseline", "fixed"):
            plain.append(os.path.join(folder, "torch-dataloader", f"{side}.sqlite"))
            with gzip.open(plain[-1] + ".gz") as source, open(plain[-1], "wb") as target:
                shutil.copyfileobj(source, target)
        gapline = Gapline(command, folder)
        before = gapline.state()
        for name, answer in ANSWERS.items():
            paths = [os.path.join(folder, name, f"{side}.sqlite.gz") for side in ("baseline", "fixed")]
            check_pair_at_warmup(table, gapline, name, answer, paths)
            document = check_pair_by_itself(table, gapline, name, answer, paths)
            check_self(table, gapline, name, paths[0])
            if name == "torch-dataloader":
                check_gates(table, gapline, paths)
                status, unpacked, _, _ = gapline.report(*plain)
                table.check(f"{name}: packed or not, the same result", document and unpacked and
                            without_names(document) == without_names(unpacked), status_text(status))
        check_public(table, gapline, os.path.join(folder, "public"))
        check_without_ranges(table, gapline, os.path.join(folder, "public"))
        check_generation(table, gapline, os.path.join(folder, "torch-generation"))
        after = gapline.state()
        table.check("no file appeared beside the inputs, none changed", before == after,
                    sorted(set(before.items()) ^ set(after.items()))[:3])
    print(f"{table.passed} passed, {table.failed} failed")
    return 1 if table.failed or not table.passed else 0


if __name__ == "__main__":
    sys.exit(main())
