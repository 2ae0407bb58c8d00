"""Whether gapline's JSON says exactly what is true of a generated profile (bench/generate.c).

Gapline prints means a step as decimal fractions that give back the same double; times the number of steps they have to
be the truth's whole nanoseconds.
"""

import json


class Check:
    def __init__(self, side, truth):
        self.side, self.truth, self.wrong, self.checked = side, truth, [], 0
        self.steps = truth["steps"] - truth["warmup"]

    def equal(self, what, found, true):
        self.checked += 1
        if found != true:
            self.wrong.append(f"{what}: {found}, and the truth is {true}")

    def ns(self, what, ms_per_step, true, devices=1):
        """Total of a mean over steps, and over devices where the JSON has one."""
        total = ms_per_step * 1e6 * self.steps * devices
        self.checked += 1
        if abs(total - true) > 0.5 or round(total) != true:
            self.wrong.append(f"{what}: {total} ns, and the truth is {true}")

    def number(self, what, per_step, true):
        self.ns(what, per_step / 1e6, true)

    def rows(self, what, found, true):
        """Two dictionaries of rows; those that are zero in the truth may be missing."""
        for key in found.keys() - true.keys():
            self.wrong.append(f"{what}: {key} is not in the truth")
        for key in true.keys() - found.keys():
            self.wrong.append(f"{what}: {key} is missing")
        return sorted(found.keys() & true.keys())


def check_device(check, i, found, true):
    what = f"device {i}"
    for part in "compute", "comm_exposed", "copy_exposed", "idle":
        check.ns(f"{what} {part}", found["per_step"][part], true[part])
    idle = {(r["cause"], r["phase"]): r for r in found["idle"]}
    rows = {(r["cause"], r["phase"]): r for r in true["rows"]}
    for key in check.rows(f"{what} idle", idle, rows):
        opened = idle[key]["opened_ms_per_step"]
        check.ns(f"{what} {key}", idle[key]["ms_per_step"], sum(rows[key][o] for o in ("sync", "dry", "waiting")))
        for o in "sync", "dry", "waiting":
            check.ns(f"{what} {key} {o}", opened[o], rows[key][o])


def check_work(check, side, truth):
    kernels = {k["name"]: k for k in side["kernels"]}
    for name in check.rows("kernels", kernels, {k["name"]: k for k in truth["kernels"]}):
        true = next(k for k in truth["kernels"] if k["name"] == name)
        check.number(f"{name} instances", kernels[name]["instances_per_step"], true["n"])
        check.ns(name, kernels[name]["ms_per_step"], true["ns"])
    calls = {c["name"]: c for c in side["api"]}
    true_calls = {c["name"].rsplit("_v", 1)[0]: c for c in truth["api"]}
    for name in check.rows("calls", calls, true_calls):
        check.number(f"{name} calls", calls[name]["calls_per_step"], true_calls[name]["n"])
        check.ns(name, calls[name]["ms_per_step"], true_calls[name]["ns"])
    for copy in side["copies"]:
        kind = {"h2d": "h2d", "d2h": "d2h", "memset": "memset"}[copy["kind"]]
        check.number(f"{kind} copies", copy["instances_per_step"], truth["copies"][f"{kind}_n"])
        check.ns(f"{kind} time", copy["ms_per_step"], truth["copies"][f"{kind}_ns"])
    totals = side["totals"]
    check.number("h2d bytes", totals["h2d_bytes_per_step"], truth["copies"]["h2d_bytes"])
    check.number("d2h bytes", totals["d2h_bytes_per_step"], truth["copies"]["d2h_bytes"])
    check.number("ranges", totals["nvtx_ranges_per_step"], truth["measured_ranges"])
    check.number("launches", totals["launches_per_step"], sum(k["n"] for k in truth["kernels"]))


def compare(side, truth):
    """`side`: a side of gapline's JSON; `truth`: what the generator wrote. Returns (numbers compared, what is wrong)."""
    check = Check(side, truth)
    name = side["steps"]["name"]
    check.equal("steps are found", side["steps"]["found"] and name.split("_")[0], truth["step"])
    check.equal("steps", side["runs"][0]["steps"], truth["steps"])
    check.equal("warm-up", side["runs"][0]["warmup"], truth["warmup"])
    check.equal("periods", [round(p * 1e6) for p in side["runs"][0]["period_ms"]], truth["periods"])
    check.equal("window", round(side["runs"][0]["window_ms"] * 1e6), truth["window"])
    check.equal("devices", len(side["devices"]), truth["ranks"])
    for i, (found, true) in enumerate(zip(side["devices"], truth["devices"])):
        check_device(check, i, found, true)
    phases, sums = {p["name"]: p for p in side["phases"]}, {}
    for device in truth["devices"]:
        for p in device["phases"]:
            total = sums.setdefault(p["name"], {"cost": 0, "gpu": 0})
            total["cost"] += p["cost"]
            total["gpu"] += p["gpu"]
    for phase in check.rows("phases", phases, sums):
        check.ns(f"{phase} cost", phases[phase]["cost_ms_per_step"], sums[phase]["cost"], truth["ranks"])
        check.ns(f"{phase} gpu", phases[phase]["gpu_ms_per_step"], sums[phase]["gpu"], truth["ranks"])
    check_work(check, side, truth)
    return check.checked, check.wrong


def compare_files(report, baseline, fixed):
    """The JSON of `gapline report` on two generated profiles, and their paths."""
    with open(report) as f:
        result = json.load(f)
    checked, wrong = 0, []
    for label, path in ("baseline", baseline), ("fixed", fixed):
        with open(f"{path}.truth.json") as f:
            n, faults = compare(result[label], json.load(f))
        checked += n
        wrong += [f"{label}: {fault}" for fault in faults]
    return checked, wrong, result
