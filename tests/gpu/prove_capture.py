#!/usr/bin/env python3
"""What capturing is held to, measured on a machine with a GPU: the two collectors agree, what each costs the program,
and what becomes of programs that are hard to capture. Writes OUT/capture.md; docs/guide/capture.md tells of such
measurements.

    nvcc -O2 -std=c++17 -arch=native -o capture-cases workloads/capture-cases/cases.cu -lcuda
    prove_capture.py --gapline GAPLINE --cases capture-cases [--training training-step]
        [--device-graph device-graph] [--python python3] [--nsys NSYS] OUT

Without nsys the comparisons are left out. Exit status 1 when something is not as it has to be.
"""
import argparse
import concurrent.futures
import datetime
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def ask(profile, sql):
    db = sqlite3.connect(f"file:{profile}?immutable=1", uri=True)
    try:
        return db.execute(sql).fetchone()[0]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return 0
        raise
    finally:
        db.close()


KERNELS = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"
COPIES = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"
GRAPHS = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
UNLAUNCHED = ("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId NOT IN (SELECT correlationId FROM"
              " CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId IS NOT NULL)")
RANGES = "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59 AND end IS NOT NULL"
JOINS = "SELECT count(*) FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE s.value = 'pthread_join'"
SPAN = "SELECT (max(start) - min(start)) / 1000000 FROM CUPTI_ACTIVITY_KIND_RUNTIME"
WHAT = {KERNELS: "kernels", COPIES: "copies", GRAPHS: "graphs", RANGES: "ranges", JOINS: "joins", SPAN: "ms of calls",
        UNLAUNCHED: "kernels without a launch"}


class Case:
    """A program, how it is captured, its exit status, and {query: (least, most)} or the words of the message."""

    def __init__(self, name, command, expect, options="", status=0, words=", complete"):
        self.name, self.command, self.expect = name, command, expect
        self.options, self.status, self.words = options, status, words


def cases(a):
    c = shlex.quote(str(a.cases))
    train = f"{a.python} {ROOT / 'workloads/capture-cases/train.py'} 30 2"
    known = lambda kernels, ranges, **more: {KERNELS: (kernels,) * 2, RANGES: (ranges,) * 2, UNLAUNCHED: (0, 0), **more}
    yield Case("PyTorch, DataLoader workers", train, {KERNELS: (600, 600), RANGES: (150, 150), UNLAUNCHED: (0, 0)})
    yield Case("PyTorch, with blocking calls", train, {KERNELS: (600, 600), RANGES: (150, 150)}, "--trace cuda,nvtx,osrt")
    yield Case("CUDA graph", f"{c} graph 60 300", {GRAPHS: (60, 60), KERNELS: (0, 0), RANGES: (60, 60)})
    yield Case("CUDA graph, by node", f"{c} graph 60 300", {GRAPHS: (0, 0), KERNELS: (18000, 18000)},
               "--cuda-graph-trace node")
    if a.device_graph:
        yield Case("graphs that a kernel launches", f"{shlex.quote(str(a.device_graph))} 60", {GRAPHS: (120, 120)})
    yield Case("four streams and threads", f"{c} streams 60 5", known(1200, 120, **{COPIES: (360, 360)}))
    yield Case("blocking calls", f"{c} streams 60 5", known(1200, 120, **{JOINS: (1, 240)}), "--trace cuda,nvtx,osrt")
    yield Case("launches by the driver's API", f"{c} driver 60 20", known(1200, 60))
    yield Case("CUDA begun in a child", f"{c} child 60 20", known(1200, 60))
    yield Case("children forked beside CUDA", f"{c} workers 60 20", known(1200, 68))  # half of 15 children _exit
    yield Case("SIGKILL in the middle", f"{c} killed 0 2 2000", {KERNELS: (240, 300)}, status=3, words="the program was")
    yield Case("SIGSEGV", f"{c} crash 150 2 1000", {KERNELS: (200, 300)}, status=3, words="the program was")
    yield Case("_exit", f"{c} _exit 150 2 1000", {KERNELS: (200, 300)}, words="left by _exit")
    yield Case("never calls CUDA", f"{c} none 20", None, status=3, words="never used CUDA")
    yield Case("cudaProfilerStart and -Stop", f"{c} range 21 50", known(400, 6), "--capture-range cudaProfilerApi")
    yield Case("many such windows", f"{c} ranges 60 20", {KERNELS: (600, 10**6), UNLAUNCHED: (0, 0)},
               "--capture-range cudaProfilerApi")
    yield Case("--delay", f"{c} tiny 1500 10 100", {SPAN: (100, 3000), UNLAUNCHED: (0, 0)}, "--delay 0.6")
    yield Case("--duration", f"{c} tiny 1500 10 100", {SPAN: (0, 1000), UNLAUNCHED: (0, 0)}, "--duration 1 --kill none")
    yield Case("--delay and --duration", f"{c} tiny 1500 10 100",
               {SPAN: (195, 200), KERNELS: (1700, 2000), UNLAUNCHED: (0, 0)}, "--delay 0.8 --duration 0.2 --kill none")


def prove(a, case, number):
    profile = a.out / f"case-{number}.sqlite"
    profile.unlink(missing_ok=True)
    run = subprocess.run([a.gapline, "capture", "--collector", "cupti", *case.options.split(), "-o", profile, "--",
                          *shlex.split(case.command)], capture_output=True, text=True, timeout=120)
    said = [line for line in run.stderr.splitlines() if line.startswith("gapline:")]
    seen = {} if case.expect is None or not profile.exists() else {sql: ask(profile, sql) for sql in case.expect}
    wrong = [f"{WHAT[sql]}: {seen.get(sql)}, not {least} to {most}" for sql, (least, most) in (case.expect or {}).items()
             if seen.get(sql) is None or not least <= seen[sql] <= most]
    if case.expect is None and profile.exists():
        wrong.append("there is a profile")
    if case.status is not None and run.returncode != case.status:
        wrong.append(f"exit status {run.returncode}, not {case.status}")
    if not any(case.words in line for line in said):
        wrong.append(f"nothing about {case.words!r}")
    numbers = ", ".join(f"{value} {WHAT[sql]}" for sql, value in seen.items())
    words = "; ".join(line.removeprefix("gapline: ").removeprefix(f"{profile}: ") for line in said)
    profile.unlink(missing_ok=True)
    return wrong, numbers, re.sub(r"\d+\.\d s, ", "", words), run.returncode


def programs(a, write):
    write("## Programs that are hard to capture\n")
    write("Each through `gapline capture --collector cupti`, from its start to its end.\n")
    write("| program | options | exit status | in the profile | gapline says | |\n|---|---|--:|---|---|---|")
    bad = 0
    for i, case in enumerate(cases(a)):
        wrong, numbers, words, status = prove(a, case, i)
        bad += bool(wrong)
        write(f"| {case.name} | {case.options} | {status} | {numbers} | {words} | {'; '.join(wrong) or 'ok'} |")
    return bad


def windows(a, write):
    """Windows that close at every time around the program's end, and in its middle: nothing may take the program down."""
    c = shlex.quote(str(a.cases))
    jobs = [Case("", f"{c} tiny 400 10 100", None, f"--delay {d / 1000} --duration {l / 1000} --kill none")
            for d in range(300, 800, 10) for l in (5, 30)]
    jobs += [Case("", f"{c} tiny 400 10 100", None, f"--duration {d / 1000} --kill none") for d in range(400, 800, 20)]
    jobs += [Case("", f"{c} tiny 400 10 100", None, f"--delay {d / 1000}") for d in range(300, 800, 50)]
    jobs += [Case("", f"{c} ranges 200 20", None, f"--capture-range cudaProfilerApi --trace cuda,nvtx,osrt --duration"
                  f" {d / 1000} --kill none")
             for d in range(400, 800, 40)]
    jobs += [Case("", f"{c} ranges 100 20", None, "--capture-range cudaProfilerApi")] * 10
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda job: prove(a, job[1], f"w{job[0]}"), enumerate(jobs)))
    dead = [f"{job.options}: {words}" for job, (_, _, words, _) in zip(jobs, done) if "the program" in words and
            "used no CUDA" not in words]
    write("\n## Windows\n")
    write(f"{len(jobs)} captures with windows that open and close at every moment up to the program's end (`--delay`,"
          f" `--duration`, both, `cudaProfilerApi` beside four launching threads, blocking calls too):"
          f" {len(dead)} programs harmed{': ' + '; '.join(dead) if dead else ''}.")
    return len(dead)


def collectors(a, write):
    c = shlex.quote(str(a.cases))
    runs = [f"tiny={c} tiny {a.steps} 300", f"graph={c} graph {2 * a.steps} 300", f"streams={c} streams {a.steps} 5",
            f"driver={c} driver {a.steps} 20"]
    if a.training:
        runs.append(f"training={shlex.quote(str(a.training))} --variant baseline --steps 60")
    runs.append(f"torch={a.python} {ROOT / 'workloads/capture-cases/train.py'} 60 2")
    done = subprocess.run([sys.executable, HERE / "compare_collectors.py", a.gapline, a.out / "collectors", "--repeat",
                           str(a.repeat), "--nsys", a.nsys, *runs], capture_output=True, text=True)
    table = a.out / "collectors" / "collectors.txt"
    text = table.read_text() if table.exists() else done.stderr
    write("\n## gapline's own collector beside nsys\n")
    write("Known to differ and left out: `cuKernelGetName`, and how nsys numbers kinds of synchronisation. Where two"
          " periods differ, the program's own step time, which is measured without a profiler too, says which is nearer"
          " to the truth.\n")
    write("```\n" + text.strip() + "\n```")
    return len(re.findall(r"  DIFFERS ", text)) + (done.returncode not in (0, 1))


def cost(a, write):
    library = a.gapline.parent / "inject/libgapline-cupti.so"
    done = subprocess.run([sys.executable, ROOT / "bench/capture_cost.py", a.cases, library, "--rounds", str(a.rounds),
                           *(["--nsys", a.nsys] if a.nsys else [])], capture_output=True, text=True)
    write("\n## What capturing costs the program\n")
    write("```\n" + (done.stdout.strip() or done.stderr.strip()) + "\n```")
    return done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = lambda text: pathlib.Path(text).resolve()
    parser.add_argument("--gapline", type=path, required=True, help="the built one, with inject/ beside it")
    parser.add_argument("--cases", type=path, required=True)
    parser.add_argument("--training", type=path)
    parser.add_argument("--device-graph", type=path, help="workloads/capture-cases/device_graph.cu, built")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--nsys", default=os.environ.get("GAPLINE_NSYS"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", default="programs,windows,cost,collectors")
    parser.add_argument("out", type=pathlib.Path)
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    if not shutil.which("nvidia-smi"):
        return "prove_capture.py: there is no GPU here (no nvidia-smi)"
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                         capture_output=True, text=True).stdout.splitlines()
    bad = 0
    with (a.out / "capture.md").open("w") as file:
        def write(text):
            print(text, flush=True)
            file.write(text + "\n")
            file.flush()
        write("# Capturing, measured\n")
        write("Written by `tests/gpu/prove_capture.py`. Measured on"
              f" {datetime.date.today():%d %B %Y}, {gpu[0] if gpu else 'an unknown GPU'} (driver).\n")
        for part in a.only.split(","):
            if part == "collectors" and not a.nsys:
                continue
            bad += {"programs": programs, "windows": windows, "cost": cost, "collectors": collectors}[part](a, write)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
