#!/usr/bin/env python3
"""The gallery: a page that links the finished reports of all known faults, each with the fault and what gapline says of it.

    gallery.py GAPLINE              holds examples/gallery/index.html against what gapline says now
    gallery.py GAPLINE --refresh    makes the reports (examples/truth/reports), the page, and the README's pictures

The folder examples/ as it is can be served as a static site; nothing is loaded from elsewhere. The faults stand in the order
in which one learns to see them; the answer is folded. The pictures are the first screen of examples/training-step/report.html
in Chromium, and of two of the others; where there is none, they stay as they are, and that is said.
"""

import html
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/truth"))
import rows
import truth

TRUTH, PAGE = ROOT / "examples/truth", ROOT / "examples/gallery/index.html"
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Find the fault - gapline</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
li { margin: 1rem 0 }
summary { cursor: pointer }
</style>
</head>
<body>
<h1>Find the fault</h1>
<p>Each report compares two versions of a CUDA program, recorded on NVIDIA GPUs. In twelve the first has one known fault and the
second its fix. In one the programs are the same, in one the "fix" is slower. The report names what it found: look at its timeline
first, and decide what the GPU waited for. Then read the report, and unfold what is true. The programs are in <a
href="../../workloads/README.md">workloads</a>; how right gapline is over all sizes stands in <a
href="../truth/table.md">a table</a>.</p>
<ol>
"""
FOOT = """</ol>
<p>All at once, as in a program that nobody tuned: <a href="../training-step/report.html">a training step</a>, input on the
critical path, pageable copies and a synchronisation.</p>
</body>
</html>
"""


def largest(pair):
    return next((size for size in reversed(pair.sizes) if (TRUTH / f"{pair.name}-{size}/captures.tar.xz").exists()), None)


def result_of(gapline, folder, out):
    """What gapline says of the recorded captures in `folder`, those that the finished report is made of."""
    words = [gapline, "report", "-q", "--json", out]
    for side in ("baseline", "fixed"):
        for file in sorted((path.name for path in folder.glob(f"{side}*")), key=rows.natural):
            words += [f"--{side}", folder / file]
    subprocess.run(words, check=True)
    return json.loads(pathlib.Path(out).read_text(encoding="utf-8"))


def says(result, finding):
    """Verdict, and the first sentence of the finding that names the fault, or else what changed most."""
    verdict = result["verdict"]
    low, high = verdict["ci95"]
    said = f"{verdict['result'].capitalize()}, {verdict['speedup']:.2f}× ({low:.2f} to {high:.2f})."
    found = [f["text"] for f in result["findings"] if f["id"] == finding]
    parts = verdict["why"]["parts"]
    if found:
        return f"{said} {found[0].split('. ')[0].rstrip('.')}."
    if parts:
        return f"{said} {parts[0]['kind'].replace('_', ' ').capitalize()} changed by {parts[0]['delta_ms']:+.2f} ms per step.".replace("-", "−")
    return said


def page_of(gapline):
    pairs = {pair.name: pair for pair in rows.read_pairs(ROOT / "workloads/truth.tsv") if pair.name == pair.program}
    faults, out = rows.faults(ROOT / "workloads/README.md"), HEAD
    if set(pairs) != set(rows.GALLERY):
        sys.exit(f"in another order: {sorted(set(pairs) ^ set(rows.GALLERY))}")
    with tempfile.TemporaryDirectory(prefix="gapline-gallery-") as scratch:
        for number, name in enumerate(rows.GALLERY, 1):
            size = largest(pairs[name])
            folder = pathlib.Path(truth.unpack(str(TRUTH / f"{name}-{size}"), scratch))
            said = says(result_of(gapline, folder, f"{scratch}/result.json"), pairs[name].finding)
            fault = faults[name].replace("`", "")
            fault = fault if fault.startswith("cuda") else f"{fault[0].upper()}{fault[1:]}" if fault != "none" else "There is none: the same program twice"
            out += (f'<li><a href="../truth/reports/{name}.html">Report {number}</a>\n<details><summary>What is true</summary>'
                    f"<p><b>{html.escape(fault)}.</b> Gapline says: {html.escape(said)}</p></details></li>\n")
    return out + FOOT


def pictures():
    browser = shutil.which("chromium") or shutil.which("chromium-headless-shell") or shutil.which("google-chrome")
    if not browser:
        print("no Chromium: the README's pictures stay as they are")
        return
    dark, example = ["--blink-settings=preferredColorScheme=0"], ROOT / "examples/training-step/report.html"
    shown = [("report", example, []), ("report-dark", example, dark)]
    shown += [(f"report-{name}", TRUTH / "reports" / f"{name}.html", []) for name in ("tiny-kernels", "nccl-serial")]
    for name, report, theme in shown:
        words = [browser, "--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1",
                 "--window-size=1200,670", "--virtual-time-budget=5000"]
        subprocess.run([*words, *theme, f"--screenshot={ROOT / 'docs/pictures' / name}.png", report.as_uri()], check=True, capture_output=True)


def main():
    gapline = str(pathlib.Path(sys.argv[1]).resolve())
    page = page_of(gapline)
    if "--refresh" in sys.argv:
        subprocess.run([sys.executable, ROOT / "tests/truth/truth.py", "reports", TRUTH, "--gapline", gapline], check=True)
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page, encoding="utf-8")
        pictures()
        return 0
    kept = PAGE.read_text(encoding="utf-8")
    missing = [name for name in rows.GALLERY if not (TRUTH / "reports" / f"{name}.html").exists()]
    for said, line in zip(page.splitlines(), kept.splitlines()):
        if said != line:
            print(f"the gallery has\n  {line}\nand gapline says\n  {said}\n(--refresh writes it down)")
            return 1
    print(f"{len(rows.GALLERY)} reports; without a report: {missing}")
    return int(page != kept or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
