"""check_bisect.py GAPLINE INJECT_TESTS_FOLDER SEARCHES

examples/ci/bisect.sh under `git bisect run`, in made repositories of 16 commits of which one makes the program 4 % slower.
`gapline run` is played: its runs are made profiles whose step differs by 2 % from run to run, and the real `gapline report`
judges them with the options that the script gave. Found have to be 19 of 20. Then one commit with the real `gapline run`, on
the stand-ins for the driver and for CUPTI."""

import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tiny_profile as tiny  # noqa: E402

BISECT = ROOT / "examples" / "ci" / "bisect.sh"
PLAYS = sys.argv[1] == "--play"
GAPLINE, INJECT, SEARCHES = (sys.argv[2], "", 0) if PLAYS else (sys.argv[1], sys.argv[2], int(sys.argv[3]))
COMMITS, SLOWER, NOISE, AUTO = 16, 1.04, 0.02, 5
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
GIT |= {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

PLAYED = f"""#!/bin/sh
exec {sys.executable} {__file__} --play {GAPLINE} "$@"
"""


def play(gapline, arguments):
    """`gapline run`: profiles of both sides in turns, `FIXED` says how much longer a step is; then the real report."""
    options = dict(zip(arguments, arguments[1:]))
    repeat = options["--repeat"]
    runs, folder = AUTO if repeat == "auto" else int(repeat), pathlib.Path(options["-o"])
    folder.mkdir(parents=True, exist_ok=True)
    noise = random.Random(f"{os.environ['SEED']} {options['--fixed']} {folder.name} {repeat}")
    inputs, place = [], 0
    for i in range(runs):
        for side in ("baseline", "fixed") if i % 2 == 0 else ("fixed", "baseline"):
            factor = float(options[f"--{side}"]) * math.exp(noise.gauss(0, NOISE))
            path = folder / f"{side}-{i}.sqlite"
            path.unlink(missing_ok=True)
            tiny.write(path, steps=24, load=round(400_000 * factor), kernel=round(100_000 * factor), seed=noise.randrange(2**32),
                       started=1_795_000_000_000_000_000 + place * 10_000_000_000)  # fmt: skip
            inputs += [f"--{side}", path]
            place += 1
    rest = [word for i, word in enumerate(arguments[1:], 1) if word.startswith("--gate") or arguments[i - 1] == "--gate"]
    os.execv(gapline, [gapline, "report", "-o", str(folder / "report.html"), "--files-are", "repeats", "--quiet", *map(str, inputs), *rest])


def git(folder, *words, **environment):
    done = subprocess.run(["git", *words], cwd=folder, env=GIT | environment, capture_output=True, text=True)
    assert done.returncode in (0, 1, 2, 125, 128), (words, done.stderr)
    return done


def repository(folder, culprit, broken=None):
    """Commit k of COMMITS says in `factor` how long a step is; `broken` cannot be built."""
    folder.mkdir()
    git(folder, "init", "-q")
    for k in range(COMMITS):
        (folder / "factor").write_text("nothing\n" if k == broken else f"{SLOWER if k >= culprit else 1.0}\n")
        (folder / "number").write_text(f"{k}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", str(k))


def search(folder, seed):
    draws = random.Random(seed)
    culprit = draws.randrange(1, COMMITS)
    repository(folder / "tree", culprit)
    played = folder / "gapline"
    played.write_text(PLAYED)
    played.chmod(0o755)
    git(folder / "tree", "bisect", "start", "HEAD", f"HEAD~{COMMITS - 1}")
    wrapper = folder / "step.sh"  # the command line of a commit is what its tree says
    wrapper.write_text(f'#!/bin/sh\nFIXED=$(cat factor) exec "{BISECT}"\n')
    wrapper.chmod(0o755)
    done = git(folder / "tree", "bisect", "run", wrapper, GAPLINE=str(played), BASELINE="1.0", OUT=str(folder / "out"), SEED=str(seed))
    found = git(folder / "tree", "log", "-1", "--format=%s", "refs/bisect/bad").stdout.strip()
    return found == str(culprit) and "is the first bad commit" in done.stdout, f"{seed}: {culprit}, found {found}: {done.stdout[-400:]}"


def statuses(folder):
    """What a commit's status says: with the real `gapline run`, what cannot be built, what fails, wrong options."""
    repository(folder / "tree", 1)
    target = pathlib.Path(INJECT) / "cuda_target"
    cuda = {"LD_LIBRARY_PATH": f"{INJECT}/fake_driver:{INJECT}/fake_cupti", "GAPLINE_CUPTI": f"{INJECT}/fake_cupti/libcupti.so.13",
            "FAKE_EXACT": "1", "GAPLINE": GAPLINE, "OUT": str(folder / "out"), "RUNS": "6", "LIMIT": "5000"}  # fmt: skip
    few = "--recorded=1\n--quiet"
    jobs = ((f"{target} steps", few, "", 0), (f"{target} steps", few + "\n--gate=kernels_per_step<=0", "", 1), (f"{target} steps", "--no-such", "", 128), ("sh -c 'exit 7'", few, "", 125),
            (f"{target} steps", few + "\n--gate=phase:nope.cost<1%", "", 125), (f"{target} steps", few, "false", 125), ("", few, "", 128))  # fmt: skip
    for fixed, options, build, status in jobs:
        done = subprocess.run([BISECT], cwd=folder / "tree", env=GIT | cuda | {"BASELINE": f"{target} steps", "FIXED": fixed, "BUILD": build, "GAPLINE_ARGS": options},
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == status, f"{fixed}, {options}, {build}: {done.returncode}\n{done.stderr}"


if PLAYS:
    play(GAPLINE, sys.argv[3:])
with tempfile.TemporaryDirectory() as name:
    statuses(pathlib.Path(name))
bare = subprocess.run([BISECT], env=GIT, capture_output=True, text=True)
assert bare.returncode == 128 and bare.stderr.endswith("Wrong options end the search (128).\n"), bare.stderr  # the text is whole
right, wrong = 0, []
for seed in range(SEARCHES):
    with tempfile.TemporaryDirectory() as name:
        ok, text = search(pathlib.Path(name), seed)
    right += ok
    wrong += [] if ok else [text]
print("\n".join(wrong))
print(f"found in {right} of {SEARCHES}")
sys.exit(right * 20 < SEARCHES * 19)
