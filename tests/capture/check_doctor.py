#!/usr/bin/env python3
"""check_doctor.py GAPLINE BUILD_TESTS: what `gapline doctor` says of a whole machine, and its exit status.

The command is copied to a folder of its own with a file in the place of its library; stand-ins for the driver's
libraries lie on LD_LIBRARY_PATH, for nsys and CUPTI they are named in the environment. Lines about the container and
the counters are this machine's, and are left out.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NSYS = """#!/bin/sh
case "$1 $2" in
"--version "*) echo 'NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0' ;;
"profile --help") echo '  --cuda-graph-trace=' ;;
"export --help") [ -n "$NO_EXPORT" ] && exit 1; echo '--type= arrow, hdf, json, sqlite, text' ;;
*) exit 1 ;;
esac
"""
CASES = [
    ("everything", {}, 0, [
        "driver      ok    for CUDA up to 13.0, 2 GPUs for CUDA programs",
        "GPU 0       ok    NVIDIA H200",
        "GPU 1       ok    NVIDIA ?[31mT400",
        "GPU 2       note  cannot be opened: Unknown Error",
        "                  to do: run nvidia-smi, which says more",
        "clocks      ok    sampled through NVML, driver 580.159.04",
        "collector   ok    HERE/bin/inject/libgapline-cupti.so; --trace osrt is not in this build",
        "CUPTI       ok    HERE/cupti.so, version 13.0.1",
        "nsys        ok    HERE/nsys, version 2025.3.2.474-253236389321v0",
        "folder      ok    this one can be written to",
        "",
        "Profiles can be captured here, with the collectors cupti and nsys.",
        "Next: gapline run --baseline 'COMMAND' --fixed 'COMMAND' -o out"]),
    ("nsys only records", {"NO_EXPORT": "1"}, 0, [
        "nsys        note  HERE/nsys, version 2025.3.2.474-253236389321v0, without nsys export",
        "                  to do: install nsight-systems-cli as a whole; GAPLINE_NSYS names one that lies elsewhere",
        "Profiles can be captured here, with the collector cupti."]),
    ("CUPTI is too new", {"STANDIN_CUDA": "12"}, 0, [
        "CUPTI       note  HERE/cupti.so, version 13.0.1, which is too new for a driver for CUDA 12.4",
        "                  to do: install the CUPTI of CUDA 12, and name it with GAPLINE_CUPTI",
        "Profiles can be captured here, with the collector nsys."]),
    ("an older CUPTI", {"STANDIN_CUPTI": "22", "STANDIN_CUDA": "12"}, 0, [
        "CUPTI       ok    HERE/cupti.so, interface 22 (CUDA 12)",
        "Profiles can be captured here, with the collectors cupti and nsys."]),
    ("CUPTI is no library", {"GAPLINE_CUPTI": "/dev/null"}, 0, [
        "CUPTI       note  /dev/null cannot be used: it cannot be loaded",
        "Profiles can be captured here, with the collector nsys."]),
    ("another tool is there already", {"CUDA_INJECTION64_PATH": "/opt/tool.so", "GAPLINE_NSYS": "/none"}, 3, [
        "collector   note  another tool is to be loaded into CUDA programs here (CUDA_INJECTION64_PATH is set "
        "to /opt/tool.so), and only one can; unset it, or take --collector nsys",
        "nsys        note  /none, which GAPLINE_NSYS names, is no program that can be started",
        "No profile can be captured here."]),
    ("no driver", {"LD_LIBRARY_PATH": ""}, 3, ["No profile can be captured here.", "Next: gapline demo"]),
    ("no device", {"STANDIN_CUDA": "none"}, 3, [
        "driver      fix   CUDA cannot be used: no CUDA-capable device is detected (error 100)",
        "No profile can be captured here."]),
]


def main():
    gapline, tests = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gapline-doctor-") as made:
        here = pathlib.Path(made)
        (here / "bin/inject").mkdir(parents=True)
        shutil.copy(gapline, here / "bin/gapline")
        (here / "bin/inject/libgapline-cupti.so").write_bytes(b"")
        (here / "lib").mkdir()
        shutil.copy(tests / "libstandin_cuda.so", here / "lib/libcuda.so.1")
        shutil.copy(tests / "libstandin_nvml_new.so", here / "lib/libnvidia-ml.so.1")
        shutil.copy(tests / "libstandin_cupti.so", here / "cupti.so")
        (here / "nsys").write_text(NSYS)
        (here / "nsys").chmod(0o755)
        usual = {k: v for k, v in os.environ.items() if k.startswith(("ASAN", "UBSAN", "LSAN"))} | {
            "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(here / "lib"), "GAPLINE_NSYS": str(here / "nsys"),
            "GAPLINE_CUPTI": str(here / "cupti.so")}
        for name, changes, status, lines in CASES:
            run = subprocess.run([here / "bin/gapline", "doctor"], cwd=here, env=usual | changes, capture_output=True,
                                 text=True, check=False, timeout=60)
            said = run.stdout.replace(str(here), "HERE")
            said = re.sub(r"(?m)^(container|counters) .*\n( .*\n)*", "", said)
            said = re.sub(r"\n {18}(?!to do: )", " ", said)  # lines are wrapped, and how depends on the folder's name
            whole = lines == said.splitlines() if name == "everything" else set(lines) <= set(said.splitlines())
            if run.returncode != status or not whole or run.stderr:
                failed += 1
                print(f"FAIL {name}: exit status {run.returncode}, {status} wanted\n{said}{run.stderr}")
    print(f"{len(CASES)} machines, {failed} described wrongly")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
