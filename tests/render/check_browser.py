"""check_browser.py GAPLINE BUILD_TESTS_DIR [--refresh] [TEST ... | speed]

The report in a real browser: makes reports of fabricated analyses, of the example's captures, of the same captures
under hostile names, of a capture beside itself, of a pair that decides nothing, of a job of 16 GPUs and of a kernel that got better, then runs tests/render/page/*.test.mjs on them with node's own test runner. Needs node, chromium and the
packages of tests/render/page/package-lock.json (`./dev test` installs them); without, says so and is skipped.

`speed` measures reports of eight kinds instead (page/speed.mjs), for which nothing else should run.

Pictures that differ from the kept ones are written into the build folder, looks/, with the difference marked; --refresh
keeps what is there now."""

import concurrent.futures
import gzip
import lzma
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_job

HERE = pathlib.Path(__file__).resolve().parent / "page"
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tiny_profile

CAPTURES = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", ROOT.parent / "shared" / "captures"))
EXAMPLE = ROOT / "examples" / "training-step"
RECORDED = HERE.parents[1] / "cmd" / "recorded"
GPT2 = HERE.parents[2] / ".." / "shared" / "captures" / "gpt2-mixed-precision"  # where there are captures beside the repository
FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "stopwatch", "hostile", "large", "one"]
KINDS = ["compile", "wide", "other", "undecided", "slower", "gpus32", "profile", "span"]  # as in page/browser.mjs
SKIPPED = 77


def find_missing():
    # without windows to draw, the shell takes a third of the time for a page
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    missing = [] if shutil.which("node") else ["node"]
    if not chromium or subprocess.run([chromium, "--version"], capture_output=True).returncode:
        missing.append("chromium that starts")
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        missing.append("tests/render/page/node_modules (npm ci --prefix tests/render/page)")
    return chromium, missing


def rename_everything(path):
    """Names as a hostile program could choose them: markup, broken UTF-8, 64 KiB, text that runs right to left."""
    db = sqlite3.connect(path)
    db.text_factory = bytes
    names = [row[0] for row in db.execute("SELECT id FROM StringIds ORDER BY id")]
    ranges = [row[0] for row in db.execute("SELECT DISTINCT text FROM NVTX_EVENTS WHERE text IS NOT NULL ORDER BY text")]
    attacks = [
        b"</script><script>window.broken=1</script>",
        b"<img src=x onerror=window.broken=1>",
        b"]]><svg onload=window.broken=1>",
        b"\xff\xfe\x80 broken \xc3( utf-8 \xed\xa0\x80",
        b"k" + b"<" * 65536,
        "\u202egnp.exe \u2066 \u200f\u05d0\u05d1\u05d2".encode(),
        b"javascript:window.broken=1//\" onclick='window.broken=1'",
        "\u2028\u2029 \x00\x07\x1b[31m".encode(),
    ]
    kernels = {row[0] for row in db.execute("SELECT DISTINCT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL")}
    for i, name in enumerate(n for n in names if n in kernels):
        attack = attacks[i % len(attacks)] + b"%d" % i
        db.execute("UPDATE StringIds SET value = CAST(? AS TEXT) WHERE id = ?", (attack, name))
    # What is a step is found by its name's equality: each range keeps one name, an ugly one.
    for i, text in enumerate(ranges):
        if not text.rstrip(b"0123456789").endswith(b"step_") and not text.startswith(b"step"):
            db.execute("UPDATE NVTX_EVENTS SET text = CAST(? AS TEXT) WHERE text = ?", (attacks[i % len(attacks)] + text, text))
    db.commit()
    db.close()


def make_reports(gapline, tests, folder):
    (folder / "blank.html").write_text("<!doctype html><title>What a page shows that no test has</title>\n")
    for fixture in FIXTURES:
        for kind in ("html", "json"):
            made = subprocess.run([tests / "print_fixture", fixture, kind], capture_output=True, check=True)
            (folder / f"{fixture}.{kind}").write_bytes(made.stdout)
    started, pool = [], concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def report(*of, **how):
        started.append(pool.submit(make_report, gapline, *of, **how))

    started.append(pool.submit(make_trend, gapline, folder))
    pair = [EXAMPLE / "baseline.sqlite.gz", EXAMPLE / "fixed.sqlite.gz"]
    report(pair, folder / "example")
    report(pair[::-1], folder / "slower")
    report([*pair, "--title", "again", "--min-speedup", "1.5"], folder / "again")
    report([pair[0], pair[0]], folder / "nothing")
    jobs = [tiny_job.write(folder / side, ranks=16, steps=30, slow=slow, seed=seed)[0].parent for seed, (side, slow) in enumerate((("baseline-job", 5), ("fixed-job", None)), 1)]
    report(["--baseline", jobs[0], "--fixed", jobs[1]], folder / "gpus16")
    runs = ["--baseline", EXAMPLE / "runs" / "baseline*", "--fixed", EXAMPLE / "runs" / "fixed*"]
    report(runs, folder / "wide")
    report([*runs, "--step", "none"], folder / "span")
    jobs = [tiny_job.write(folder / f"{side}-32", ranks=32, steps=30, slow=slow, seed=seed)[0].parent for seed, (side, slow) in enumerate((("baseline", 17), ("fixed", None)), 1)]
    report(["--baseline", jobs[0], "--fixed", jobs[1]], folder / "gpus32")
    work = [folder / "work-a.sqlite", folder / "work-b.sqlite"]
    tiny_profile.write(work[0], load=100_000, more_kernels=20)
    tiny_profile.write(work[1], load=100_000, seed=2)
    report(work, folder / "other")
    kernels = []
    for side in "baseline", "fixed":
        kernels.append(folder / f"kernel-bound-{side}.sqlite")
        kernels[-1].write_bytes(lzma.decompress((RECORDED / f"{kernels[-1].name}.xz").read_bytes()))
    report(kernels, folder / "kernel")
    for name, capture in ("gpt2", GPT2), ("compile", CAPTURES / "torch-compile"):
        if capture.is_dir():
            report([*capture.glob("baseline.sqlite*"), *capture.glob("fixed.sqlite*")], folder / name)
    started.append(pool.submit(make_profile, gapline, EXAMPLE / "baseline.sqlite.gz", folder / "profile"))
    bad = []
    for source in pair:
        target = folder / source.name.removesuffix(".gz")
        target.write_bytes(gzip.decompress(source.read_bytes()))
        rename_everything(target)
        bad.append(target)
    report(bad, folder / "names")
    large = [folder / "large-a.sqlite", folder / "large-b.sqlite"]
    tiny_profile.write(large[0], steps=2000, kernels=20, kernel=5000)
    tiny_profile.write(large[1], steps=2000, kernels=20, kernel=5000, load=50_000, seed=2)
    report(large, folder / "traced-large")
    undecided = [folder / "undecided-a.sqlite", folder / "undecided-b.sqlite"]
    tiny_profile.write(undecided[0], steps=40, load=1_500_000, jitter=1_200_000)
    tiny_profile.write(undecided[1], steps=40, load=1_330_000, jitter=1_200_000, seed=7)
    report([*undecided, "--min-speedup", "1.05"], folder / "undecided", statuses=(4,))
    for capture in "ddp-2gpu", "tiny-kernels-graph":  # two GPUs; a graph that was traced whole
        pair = [CAPTURES / capture / f"{side}.sqlite.gz" for side in ("baseline", "fixed")]
        if pair[0].is_file():
            report(pair, folder / f"traced-{capture}")
    for one in concurrent.futures.as_completed(started):
        one.result()


def make_trend(gapline, folder):
    """70 commits, of which the 60th made a step 6 % longer; added in any order."""
    def add(i):
        noise = (i * 7919 % 101 - 50) * 90  # half a percent, by a rule
        tiny_profile.write(folder / f"commit-{i}.sqlite", steps=12, load=400_000 + noise + (55_000 if i >= 60 else 0), seed=i)
        subprocess.run([gapline, "history", "add", "--db", folder / "trend.db", "--commit", f"{0x1a2b3c0 + i * 40503:07x}", "--time",
                        str(1_790_000_000 + i * 5400), "-q", folder / f"commit-{i}.sqlite"], check=True)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(70)))
    subprocess.run([gapline, "history", "report", "--db", folder / "trend.db", "-o", folder / "trend.html", "-q"], check=True)


def make_profile(gapline, profile, base):
    """Of one profile: its page and its JSON."""
    subprocess.run([gapline, "show", profile, "-o", f"{base}.html", "--json", f"{base}.json", "-q"], check=True)


def make_report(gapline, pair, base, statuses=(0,)):
    outputs = {"-o": ".html", "--json": ".json", "--svg": ".svg", "--perfetto": ".trace.json.gz"}
    words = [word for option, ending in outputs.items() for word in (option, f"{base}{ending}")]
    status = subprocess.run([gapline, "report", *pair, *words, "--quiet"]).returncode
    assert status in statuses, f"{base.name}: exit {status}"


def main():
    gapline, tests = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    refresh, wanted = "--refresh" in sys.argv, [a for a in sys.argv[3:] if a != "--refresh"]
    if refresh:
        wanted = ["looks"]
    chromium, missing = find_missing()
    if missing:
        print("the page is not tried in a browser: there is no", ", no ".join(missing))
        sys.exit(SKIPPED)
    differing = tests.parent / "looks"
    shutil.rmtree(differing, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        make_reports(gapline, tests, pathlib.Path(folder))
        env = {**os.environ, "GAPLINE_REPORTS": folder, "GAPLINE_CHROMIUM": chromium, "GAPLINE_DIFFERING": str(differing)}
        if refresh:
            env["GAPLINE_REFRESH"] = "1"
        if wanted == ["speed"]:
            pages = [pathlib.Path(folder) / f"{name}.html" for name in KINDS]
            sys.exit(subprocess.run(["node", HERE / "speed.mjs", chromium, *(p for p in pages if p.exists())]).returncode)
        files = sorted(HERE.glob("*.test.mjs"))
        files = [f for f in files if not wanted or f.name.removesuffix(".test.mjs") in wanted]
        assert files, "no such test"
        sys.exit(subprocess.run(["node", "--test", "--test-concurrency=2", *files], env=env, cwd=HERE).returncode)


if __name__ == "__main__":
    main()
