#!/usr/bin/env python3
"""The recipes of docs/guide/clusters.md, run.

    check_clusters.py GAPLINE [ENGINE ...]

Runs every line of an engine's section (OpenMPI; Slurm and torchrun where they are asked for) with four ranks instead of
eight. `./solver` is a program that does nothing; what is "recorded" is a profile made for its rank (tiny_ranks.py), in
which rank 2 computes half a millisecond longer than the others. Skipped where no engine is installed.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
SUPPORT = HERE.parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import tiny_ranks

RANKS = 4
ENGINES = {"OpenMPI": "mpirun", "Slurm": "srun", "torchrun": "torchrun"}
# nsys in the words of the stand-in: it records the profile of the rank that it is started for.
NSYS = """#!{python}
import os, sys
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("SLURM_PROCID") or os.environ.get("RANK")
side = "fixed" if "--fixed" in sys.argv else "base"
words = []
for word in sys.argv[1:]:
    words += [word, f"{folder}/played/{{side}}-{{rank}}.sqlite"] if word.endswith("solver") else [word]
os.execv("{standin}", ["nsys", *words])
"""
# The stand-in records what it is given, so nothing of CUDA's is looked for.
GAPLINE = """#!/bin/sh
if [ "$1" = capture ]; then shift; exec {gapline} capture --collector nsys "$@"; fi
exec {gapline} "$@"
"""


def recipes(section):
    """The lines of a section's code."""
    text = (HERE.parents[2] / "docs" / "guide" / "clusters.md").read_text()
    part = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    return [line[4:] for line in part.splitlines() if line.startswith("    ")]


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


def prepare(folder, gapline):
    (folder / "bin").mkdir()
    (folder / "played").mkdir()
    executable(folder / "bin" / "gapline", GAPLINE.format(gapline=gapline))
    executable(folder / "bin" / "nsys", NSYS.format(python=sys.executable, folder=folder, standin=SUPPORT / "standin_nsys.py"))
    executable(folder / "solver", "#!/bin/sh\nexit 0\n")
    for rank in range(RANKS):
        for side, more, day in ("base", 500_000, 0), ("fixed", 100_000, 1):
            tiny_ranks.write(folder / "played" / f"{side}-{rank}.sqlite", rank, more=more, started=1_795_000_000_000_000_000 + day * 3_600_000_000_000)
    kept = {key: value for key, value in os.environ.items() if key.startswith(("ASAN", "UBSAN", "LSAN", "SLURM", "PATH"))}
    return kept | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C",
        "GAPLINE_NSYS": str(folder / "bin" / "nsys"),
        # as root, in a container of fewer processors than ranks
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl": "self,tcp",
        "OMPI_MCA_plm_rsh_agent": "/bin/false",
    }


def run(lines, folder, env):
    for line in lines:
        line = re.sub(r"(-np|-n) 8\b", rf"\1 {RANKS}", line).replace("-o report.html", "-o report.html --json report.json -q")
        done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
        if done.returncode:
            sys.exit(f"{line}\nends with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads((folder / "report.json").read_text())


def expect(result, what):
    """One run a side of four ranks; rank 2 is waited for, and computes 0.5 ms longer."""
    side = result["baseline"]
    assert side["steps"]["runs"] == 1 and sorted(f["rank"] for f in side["files"]) == list(range(RANKS)), (what, side["files"])
    straggler = side["ranks"]["straggler"]
    late = side["devices"][straggler["device"]]
    assert late["rank"] == 2 and straggler["longer"]["part"] == "compute" and straggler["longer"]["phase"] == "train", (what, straggler)
    assert abs(straggler["longer"]["ms_per_step"] - 0.5) < 0.001, (what, straggler)
    assert abs(side["ranks"]["waiting_ms_per_step"] - 0.5 * (RANKS - 1) / RANKS) < 0.001, (what, side["ranks"])
    assert abs(side["steps"]["period_ms"]["mean"] - 2.015) < 1e-6, (what, side["steps"])
    assert abs(result["fixed"]["steps"]["period_ms"]["mean"] - 1.615) < 1e-6, (what, result["fixed"]["steps"])
    (finding,) = [f for f in result["findings"] if f["id"] == "straggler"]
    assert "for rank 2" in finding["text"], (what, finding)


def main():
    gapline, asked = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or ["OpenMPI"]
    engines = [engine for engine in asked if shutil.which(ENGINES[engine])]
    for engine in asked:
        if engine not in engines:
            print(f"{ENGINES[engine]} is not installed: {engine}'s recipes were not run")
    if not engines:
        sys.exit(77)
    for engine in engines:
        with tempfile.TemporaryDirectory(prefix="gapline-clusters-") as name:
            folder = pathlib.Path(name)
            env = prepare(folder, gapline)
            files = run(recipes(engine), folder, env)
            expect(files, engine)
            lines = [line.replace("mpirun -np", "srun -n").replace("OMPI_COMM_WORLD_RANK", "SLURM_PROCID") if engine == "Slurm" else line
                     for line in recipes("Files too large to collect")]
            digests = run(lines, folder, env)
            expect(digests, f"{engine}, digests")
            for side in "baseline", "fixed":
                for key in "steps", "budget", "devices", "phases", "ranks":
                    assert files[side][key] == digests[side][key], f"{engine}: {key} differs between files and their digests"
            assert files["verdict"]["ci95"] == digests["verdict"]["ci95"]
            print(f"{engine}: the recipes work; files and digests say the same; rank 2 is named")


main()
