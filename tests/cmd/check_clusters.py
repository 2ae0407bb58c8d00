#!/usr/bin/env python3
"""The recipes of docs/guide/clusters.md, run.

    check_clusters.py GAPLINE [ENGINE ...]
    check_clusters.py GAPLINE digests

Runs every line of an engine's section (OpenMPI; Slurm and torchrun where they are asked for) with four ranks instead of
eight. `./solver` is a program that does nothing; what is "recorded" is a profile made for its rank (tiny_ranks.py), in
which rank 2 computes half a millisecond longer than the others. Skipped where no engine is installed.

`digests`: the lines of "Digests with OpenMPI" and "Digests with Dask" on 64 profiles in folders of their own, one of which
is cut off, with four processes each. Fails where one of the two is not installed.
"""

import importlib.util
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
import tiny_job
import tiny_ranks

RANKS = 4
SLOW, BAD = 5, 7  # of the jobs whose digests are made
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
    part = re.search(rf"^##+ {section}\n(.*?)(?=^##+ |\Z)", text, re.M | re.S)[1]
    return [line[4:] for line in part.splitlines() if line.startswith("    ")]


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


def environment(folder):
    kept = {key: value for key, value in os.environ.items() if key.startswith(("ASAN", "UBSAN", "LSAN", "SLURM", "PATH"))}
    return kept | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C",
        # as root, in a container of fewer processors than ranks
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl": "self,tcp",
        "OMPI_MCA_plm_rsh_agent": "/bin/false",
    }


def prepare(folder, gapline):
    (folder / "bin").mkdir()
    (folder / "played").mkdir()
    executable(folder / "bin" / "gapline", GAPLINE.format(gapline=gapline))
    executable(folder / "bin" / "nsys", NSYS.format(python=sys.executable, folder=folder, standin=SUPPORT / "standin_nsys.py"))
    executable(folder / "solver", "#!/bin/sh\nexit 0\n")
    for rank in range(RANKS):
        for side, more, day in ("base", 500_000, 0), ("fixed", 100_000, 1):
            tiny_ranks.write(folder / "played" / f"{side}-{rank}.sqlite", rank, more=more, started=1_795_000_000_000_000_000 + day * 3_600_000_000_000)
    return environment(folder) | {"GAPLINE_NSYS": str(folder / "bin" / "nsys")}


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


# ---- digests of many ranks ----


def prepare_digests(folder, gapline):
    """64 profiles, 32 a side; that of rank 7 of the baseline is cut off. Returns its name."""
    (folder / "bin").mkdir()
    (folder / "bin" / "gapline").symlink_to(gapline)
    (folder / "bin" / "python3").symlink_to(sys.executable)
    shutil.copy(HERE.parents[2] / "examples" / "clusters" / "digests.py", folder)
    for side, slow, seed in ("base", SLOW, 1), ("fixed", None, 2):
        for rank, file in enumerate(tiny_job.write(folder / f"{side}-played", ranks=32, slow=slow, seed=seed)):
            (folder / side / f"rank-{rank}").mkdir(parents=True)
            file.rename(folder / side / f"rank-{rank}" / "rank.sqlite")
    bad = folder / "base" / f"rank-{BAD}" / "rank.sqlite"
    bad.write_bytes(bad.read_bytes()[:9000])
    return str(bad.relative_to(folder))


def run_digests(engine, folder, env, bad):
    """The section's lines; the profile that cannot be read is named, and the report judges the other 63."""
    *making, reporting = [line for line in recipes(f"Digests with {engine}") if line.startswith(("mpirun", "python3", "gapline"))]
    for line in making:
        done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
        named = [said for said in done.stderr.splitlines() if bad in said]
        assert done.returncode == 0 and len(named) == 1, (engine, done)
        print(f"{engine}: {named[0]}")
    made = sorted(folder.glob("*/rank-*/rank.digest"))
    assert len(made) == 63 and not (folder / bad).with_suffix(".digest").exists(), (engine, len(made))
    line = reporting.replace("-o report.html", "-o report.html --json report.json -q")
    done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (engine, done)
    result = json.loads((folder / "report.json").read_text())
    side = result["baseline"]
    assert side["folded"]["devices"] == 31 and result["fixed"]["folded"]["devices"] == 32, (engine, side["folded"])
    assert side["steps"]["runs"] == 1 and side["folded"]["unusual"][0]["rank"] == SLOW, (engine, side["folded"])
    assert any(f"rank {BAD} of 32 is not among the files" in note["text"] for note in side["data"]["notes"]), (engine, side["data"])
    for file in made:
        file.unlink()
    return result


def check_digests(gapline):
    """Both engines say the same."""
    if not shutil.which("mpirun"):
        sys.exit("mpirun is not installed: apt-get install openmpi-bin")
    if importlib.util.find_spec("distributed") is None or not shutil.which("dask-scheduler"):
        sys.exit("Dask's distributed scheduler is not installed: apt-get install python3-distributed")
    with tempfile.TemporaryDirectory(prefix="gapline-clusters-") as name:
        folder = pathlib.Path(name)
        bad = prepare_digests(folder, gapline)
        env = environment(folder)
        by_mpi = run_digests("OpenMPI", folder, env, bad)
        words = ["dask-scheduler", "--port", "8786", "--no-dashboard"], ["dask-worker", "tcp://localhost:8786", "--nworkers", "4", "--nthreads", "1", "--no-dashboard"]
        started = [subprocess.Popen(w, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for w in words]
        try:
            from distributed import Client
            with Client("tcp://localhost:8786", timeout=60) as client:
                client.wait_for_workers(4, timeout=120)
            by_dask = run_digests("Dask", folder, env, bad)
        finally:
            for process in reversed(started):
                process.terminate()
            for process in started:
                process.wait(60)
        assert by_mpi == by_dask, "the digests of both engines say the same"
        print("64 profiles, 4 processes each: 63 are judged, the same by OpenMPI and by Dask")


def main():
    if sys.argv[2:] == ["digests"]:
        check_digests(pathlib.Path(sys.argv[1]).resolve())
        return
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
