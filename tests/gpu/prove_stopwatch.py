#!/usr/bin/env python3
"""Whether the stopwatch says what the programs' own clocks say, measured on a machine with a GPU: own clocks that wait for
the GPU at both ends. And what becomes of programs whose time is hard to take. Prints a table.

    nvcc -O2 -std=c++17 -arch=sm_80 -o stopwatch-cases workloads/capture-cases/stopwatch.cu -lcuda
    prove_stopwatch.py --gapline GAPLINE --cases stopwatch-cases [--workloads FOLDER] [--python python3]
        [--pairs compile,dataloader,item,precision,jax,cupy] [--seconds 480] [--only hard]

GAPLINE lies where it was built, with inject/ beside it. What does not fit into the seconds is left out, and said. Exit
status 1 when something is not as it has to be.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "inject"))
import stopwatch_page

WARMUP, STEPS = 20, 220
LIMIT = 0.02  # how far a time may be from the program's own
PYTHON_WARMUP, PYTHON_STEPS = 40, 240
EXACT = ("ahead", "behind", "short_kernels", "two_streams", "own_context", "replays", "host_function")
WORKLOADS = ("training-step", "copy-serial", "tiny-kernels", "sync-every-step", "input-stall", "kernel-bound", "regression")

# A pair for `gapline run`: the hard program, what gapline has to say of it, and what the program prints when it is well.
HARD = (
    ("captures", r"no timed runs are made: on the baseline side, the program captures CUDA graphs all along", r"broken 0$"),
    ("persistent", r"not used: after the last warm-up step the GPU did not become idle within", r"went on"),
    ("leaves", r"not used: the program ended after \d+ ranges 'step', and the time is taken at the \d+(st|nd|rd|th)", None),
    ("forks", None, r"went on"),
    ("lags", None, r"went on"),
    ("replays", None, None),
    ("ahead", None, None),
)


class Proof:
    def __init__(self, arguments):
        self.a, self.failed, self.until = arguments, 0, time.monotonic() + arguments.seconds
        self.library = pathlib.Path(arguments.gapline).resolve().parent / "inject/libgapline-stopwatch.so"

    def late(self, what):
        if time.monotonic() < self.until:
            return False
        print(f"{what}: left out, the time is up")
        return True

    def check(self, fine, text):
        self.failed += not fine
        print(f"{text}{'' if fine else '   <-- NOT AS IT HAS TO BE'}", flush=True)

    def execute(self, words, environment=None):
        done = subprocess.run(words, env=os.environ | (environment or {}), capture_output=True, text=True, timeout=300)
        if done.returncode:
            print(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
        return done

    def timed(self, words, warmup, steps):
        """Runs a program under the library: ms a step, and its output; None with the reason printed."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.execute(words, {
                "NVTX_INJECTION64_PATH": str(self.library), "GAPLINE_STOPWATCH": folder, "GAPLINE_STOPWATCH_STEP": "step",
                "GAPLINE_STOPWATCH_DOMAIN": "", "GAPLINE_STOPWATCH_FIRST": str(warmup), "GAPLINE_STOPWATCH_LAST": str(steps),
                "GAPLINE_STOPWATCH_LIMIT_MS": "20000"})
            pages = [p for p in stopwatch_page.read_all(folder) if p.ended >= steps]
        if done.returncode or len(pages) != 1 or pages[0].problem != "FINE" or pages[0].ended != steps:
            self.check(False, f"{' '.join(map(str, words[-4:]))}: {pages}")
            return None, ""
        return (pages[0].idle[1] - pages[0].idle[0]) / (steps - warmup) / 1e6, done.stdout

    def row(self, name, found, own, note="", limit=LIMIT):
        off = found / own - 1
        self.check(abs(off) <= limit, f"{name:32} {found:10.4f} {own:10.4f} {100 * off:+7.2f} % {note}")

    # ---- the same run: whether both clocks agree ----

    def cases(self):
        for name in EXACT:
            words = [self.a.cases, name, str(WARMUP), str(STEPS)]
            found, out = self.timed([*words, "clock"], WARMUP, STEPS)
            own = re.search(r"^own (\d+)$", out, re.M)
            if own:
                self.row(name, found, int(own.group(1)) / (STEPS - WARMUP) / 1e6)
            self.apart(name, words)

    def apart(self, name, words):
        """Three runs with the stopwatch alone and three with the program's clock alone, in turns."""
        watched, own = [], []
        for i in range(6):
            if i % 4 in (0, 3):
                watched.append(self.timed(words, WARMUP, STEPS)[0])
            else:
                out = self.execute([*words, "clock"]).stdout
                own += [int(n) / (STEPS - WARMUP) / 1e6 for n in re.findall(r"^own (\d+)$", out, re.M)]
        if len(own) != 3 or None in watched:
            self.check(False, f"{name}, in other runs: {watched} {own}")
            return
        spread = (max(own) - min(own)) / statistics.mean(own)
        # three runs that spread so much among themselves say no more than that of the others
        self.row(f"{name}, in other runs", statistics.mean(watched), statistics.mean(own), f"own spread {100 * spread:.2f} %",
                 max(LIMIT, spread))

    def workloads(self):
        for name in WORKLOADS:
            program = pathlib.Path(self.a.workloads) / name
            for variant in ("baseline", "fixed"):
                if not program.exists() or self.late(f"{name} {variant}"):
                    continue
                words = [program, "--variant", variant, "--steps", str(STEPS), "--warmup", str(WARMUP), "--fault-ms", "1"]
                found, out = self.timed(words, WARMUP, STEPS)
                if found:
                    self.row(f"{name} {variant}", found, json.loads(out.splitlines()[-1])["step_ms"])

    def pairs(self):
        for name in self.a.pairs.split(","):
            for variant in ("baseline", "fixed"):
                if self.late(f"{name} {variant}"):
                    continue
                words = [self.a.python, ROOT / "workloads/programs/pairs.py", name, variant, "--steps", str(PYTHON_STEPS),
                         "--warmup", str(PYTHON_WARMUP), "--clock"]
                found, out = self.timed(words, PYTHON_WARMUP, PYTHON_STEPS)
                lines = [line for line in out.splitlines() if line.startswith("{")]
                if found and lines:
                    self.row(f"{name} {variant}", found, json.loads(lines[-1])["step_ms"])

    # ---- what is hard ----

    def hard(self):
        for name, words, well in HARD:
            if self.late(f"gapline run, {name}"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                sides = [f"{pathlib.Path(self.a.cases).resolve()} {case} {WARMUP} {STEPS}" for case in (name, "behind")]
                began = time.monotonic()
                done = subprocess.run(
                    [self.a.gapline, "run", "--collector", "cupti", "--recorded", "1", "--repeat", "2", "-o", f"{folder}/out",
                     "--baseline", sides[0], "--fixed", sides[1]], capture_output=True, text=True, timeout=280)
                took = time.monotonic() - began
                said = [line for line in done.stderr.splitlines() if re.search("not used|no stopwatch|no more", line)]
                timed = []
                if (pathlib.Path(folder) / "out/run.json").exists():
                    runs = json.loads((pathlib.Path(folder) / "out/run.json").read_text())["runs"]
                    timed = [f"{r['time_ns'] / max(1, r['steps']) / 1e6:.4f}" for r in runs
                             if r["side"] == "baseline" and r["kind"] == "stopwatch" and not r["unused"]]
                fine = done.returncode == 0 and (not words or re.search(words, "\n".join(said)))
                fine = fine and (not well or re.search(well, done.stdout, re.M)) and (words or len(timed) == 2)
                self.check(bool(fine), f"gapline run, {name}: {took:.1f} s, exit status {done.returncode}, ms a step: {timed}")
                for line in dict.fromkeys(said):
                    print("    " + line)
                if not fine:
                    print(done.stdout[-1500:] + done.stderr[-1500:])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gapline", required=True)
    p.add_argument("--cases", required=True)
    p.add_argument("--workloads")
    p.add_argument("--python")
    p.add_argument("--pairs", default="compile,dataloader,item,precision")
    p.add_argument("--seconds", type=float, default=480)
    p.add_argument("--only", choices=("cases", "hard", "workloads", "pairs"))
    proof = Proof(p.parse_args())
    print(f"{'ms a step':32} {'stopwatch':>10} {'own clock':>10}     off")
    parts = {"cases": True, "hard": True, "workloads": proof.a.workloads, "pairs": proof.a.python}
    for name, possible in parts.items():
        if possible and proof.a.only in (None, name):
            getattr(proof, name)()
    print(f"{proof.failed} not as they have to be" if proof.failed else "all as it has to be")
    return 1 if proof.failed else 0


if __name__ == "__main__":
    sys.exit(main())
