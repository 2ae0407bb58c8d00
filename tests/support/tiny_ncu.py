"""Makes small CSV files as `ncu --csv` prints them: the raw and the details page, in any locale, in any unit."""

import csv

IDENTITY = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device", "CC"]
RAW = {  # number: (name on the raw page, section, name on the details page, kind of unit)
    "duration": ("gpu__time_duration.sum", "GPU Speed Of Light Throughput", "Duration", "time"),
    "sm": ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "GPU Speed Of Light Throughput", "Compute (SM) Throughput", "%"),
    "memory": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "GPU Speed Of Light Throughput", "Memory Throughput", "%"),
    "dram": ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "GPU Speed Of Light Throughput", "DRAM Throughput", "%"),
    "rate": ("dram__bytes.sum.per_second", "Memory Workload Analysis", "Memory Throughput", "rate"),
    "occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active", "Occupancy", "Achieved Occupancy", "%"),
    "most": ("sm__maximum_warps_per_active_cycle_pct", "Occupancy", "Theoretical Occupancy", "%"),
    "registers": ("launch__registers_per_thread", "Launch Statistics", "Registers Per Thread", "register/thread"),
    "waves": ("launch__waves_per_multiprocessor", "Launch Statistics", "Waves Per SM", ""),
    "by_registers": ("launch__occupancy_limit_registers", "Occupancy", "Block Limit Registers", "block"),
    "by_shared": ("launch__occupancy_limit_shared_mem", "Occupancy", "Block Limit Shared Mem", "block"),
    "by_warps": ("launch__occupancy_limit_warps", "Occupancy", "Block Limit Warps", "block"),
    "by_blocks": ("launch__occupancy_limit_blocks", "Occupancy", "Block Limit SM", "block"),
    # of the roofline, on the raw page alone
    "fadd": ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", None, None, "inst/cycle"),
    "fmul": ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", None, None, "inst/cycle"),
    "ffma": ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", None, None, "inst/cycle"),
    "ffma_peak": ("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", None, None, "inst/cycle"),
    "clock": ("smsp__cycles_elapsed.avg.per_second", None, None, "frequency"),
    "dram_clock": ("dram__cycles_elapsed.avg.per_second", None, None, "frequency"),
    "dram_cycle": ("dram__bytes.sum.peak_sustained", None, None, "byte/cycle"),
}
UNITS = {  # how many base units (ns, bytes a second, Hz) are one
    "time": {"ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "second": 1e9},
    "rate": {"byte/second": 1, "Kbyte/second": 1e3, "Mbyte/s": 1e6, "Gbyte/second": 1e9, "Tbyte/s": 1e12, "byte/nsecond": 1e9},
    "frequency": {"hz": 1, "Mhz": 1e6, "Ghz": 1e9, "cycle/nsecond": 1e9, "cycle/usecond": 1e6, "cycle/second": 1},
    "byte/cycle": {"byte/cycle": 1, "Kbyte/cycle": 1e3},
}


def number(value, locale, digits):
    text = f"{value:,.{digits}f}"
    if locale == "de":
        return text.translate(str.maketrans(",.", ".,"))
    if locale == "fr":
        return text.replace(",", "\u202f").replace(".", ",")
    if locale == "ch":
        return text.replace(",", "'")
    return text


def identity(i, launch):
    size = lambda key: "({}, {}, {})".format(*launch[key])
    return [str(i), "4711", "program", "host", launch["name"], "1", "7", size("block"), size("grid"), "0", "9.0"]


def write(path, launches, page="raw", locale="en", unit=None, before="", digits=6):
    """`launches`: a list of {name, grid, block, stalls: {word: value}, rules: [(text, gain)], and numbers by the keys of RAW, in base units}."""
    unit = {"time": "us", "rate": "Gbyte/second", "frequency": "Ghz", "byte/cycle": "Kbyte/cycle"} | (unit or {})
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(before)
        out = csv.writer(file, quoting=csv.QUOTE_ALL)
        keys = [key for key in RAW if any(key in launch for launch in launches)]
        stalls = sorted({word for launch in launches for word in launch.get("stalls", {})})
        of = lambda key: (unit.get(RAW[key][3], RAW[key][3]), UNITS.get(RAW[key][3], {}).get(unit.get(RAW[key][3]), 1))
        text = lambda launch, key: number(launch[key] / of(key)[1], locale, digits) if launch.get(key) is not None else "n/a"
        if page == "raw":
            stall_names = [f"smsp__average_warps_issue_stalled_{word}_per_issue_active.ratio" for word in stalls]
            out.writerow(IDENTITY + ["launch__kernel_name"] + [RAW[key][0] for key in keys] + stall_names)
            out.writerow([""] * len(IDENTITY) + [""] + [of(key)[0] for key in keys] + ["inst"] * len(stalls))
            for i, launch in enumerate(launches):
                out.writerow(identity(i, launch) + ["(!) n/a"] + [text(launch, key) for key in keys]
                             + [number(launch["stalls"][word], locale, digits) if word in launch.get("stalls", {}) else "" for word in stalls])
            return
        out.writerow(IDENTITY + ["Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type", "Rule Description",
                                 "Estimated Speedup Type", "Estimated Speedup"])
        for i, launch in enumerate(launches):
            for key in keys:
                if RAW[key][2] and key in launch:
                    out.writerow(identity(i, launch) + [RAW[key][1], RAW[key][2], of(key)[0], text(launch, key)])
            for word, value in launch.get("stalls", {}).items():
                out.writerow(identity(i, launch) + ["Warp State Statistics", "Stall " + word.replace("_", " ").title(), "inst", number(value, locale, digits)])
            for text_of_rule, gain in launch.get("rules", []):
                out.writerow(identity(i, launch) + ["SpeedOfLight", "", "", "", "SOLBottleneck", "OPT", text_of_rule, "local", number(gain, locale, 2)])
