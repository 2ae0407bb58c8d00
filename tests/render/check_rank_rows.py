"""check_rank_rows.py GAPLINE

The table of ranks of large jobs: every rank is there with the numbers of the JSON, the slowest are shown, the sums say how
many are folded away and how many the page has no room for, and so does what opens the table. The JSON lists ten ranks of
them, and all on request."""

import json
import math
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import made_sides
import tiny_job
from check_numbers import Check
from page_numbers import Page

SHOWN, FEW_MORE = 16, 4
PARTS = "compute", "communication", "copies", "idle", "own", "waited_for"


def check(name, page, result):
    Check(name, page, result).ranks()
    rows = page.tables["ranks"][0]["rows"][1:]
    kept, lengths = [], []
    for label in ("baseline", "fixed"):
        mine = [row for row in rows if row["cells"][0][0] == label]
        sums = {row["class"]: row["cells"][1][0] for row in mine if "more" in row["class"].split()}
        ranks = [row for row in mine if "more" not in row["class"].split()]
        n = len(result[label]["ranks"]["list"])
        shown = SHOWN if n > SHOWN + FEW_MORE else n
        assert [row["class"] for row in ranks] == [""] * shown + ["rest"] * (len(ranks) - shown), name
        expected = {"more": n - shown if len(ranks) > shown else 0, "more beyond": n - len(ranks)}
        assert sums == {key: f"and {number} more" for key, number in expected.items() if number}, (name, sums)
        kept.append(len(ranks))
        lengths.append(n)
    opens = [text for text in page.texts["ranks"] if re.fullmatch(r"(All|The first) .* ranks", text)]
    cut = [k for k, n in zip(kept, lengths) if k < n]
    assert opens == ([] if max(lengths) <= SHOWN + FEW_MORE else
                     [f"The first {min(cut)} of {max(lengths)} ranks" if cut else f"All {max(lengths)} ranks"]), (name, opens)
    print(f"{name}: {kept} of {lengths} ranks")
    return bool(cut)


def report(gapline, job, result, *options):
    subprocess.run([gapline, "report", job / "baseline", job / "fixed", "--json", job / result, "--quiet", *options], check=True)


def numbers(side):
    """By device, what docs/reference/json.md compares ranks by."""
    of = {d["id"]: {**d["per_step"], "communication": d["per_step"]["comm_exposed"], "copies": d["per_step"]["copy_exposed"]}
          for d in side["devices"]}
    for rank in side["ranks"]["list"]:
        of[rank["device"]] |= {"own": rank["own_ms_per_step"], "waited_for": rank["waited_for_ms_per_step"]}
    return {device: {part: values[part] for part in PARTS} for device, values in of.items()}


def check_folded(whole, folded):
    """The ten ranks furthest from the median, and the quantiles, worked out from the result with all ranks."""
    for label in "baseline", "fixed":
        every, some = whole[label], folded[label]
        of = numbers(every)
        n, ordered = len(of), {part: sorted(values[part] for values in of.values()) for part in PARTS}
        assert every["folded"] is None and some["folded"]["devices"] == some["folded"]["ranks"] == n == len(every["files"])
        assert some["folded"]["files"] == {"count": n, "rank_from_profile": n, "rank_from_name": 0, "rank_unknown": 0}
        for q in some["folded"]["quantiles"]:
            at = math.floor(q["p"] * (n - 1) + 0.5)
            assert q["per_step"] == {part: ordered[part][at] for part in PARTS}, (label, q)
        median = {part: ordered[part][math.floor((n - 1) / 2 + 0.5)] for part in PARTS}
        far = {device: max(abs(values[part] - median[part]) for part in PARTS) for device, values in of.items()}
        unusual = some["folded"]["unusual"]
        late = every["ranks"]["straggler"]["device"] if every["ranks"]["straggler"] else None
        named = [u["device"] for u in unusual]
        furthest = sorted(of, key=lambda device: (-far[device], device))[:10]
        assert late is None or late in named, (label, late)
        assert named == furthest or named == furthest[:9] + [late], (label, named, furthest)
        for u in unusual:
            said = u["reason"]["params"]
            assert said["time"] == of[u["device"]][said["part"]] and said["median"] == median[said["part"]], (label, u)
            assert abs(said["time"] - said["median"]) == far[u["device"]] and u["reason"]["text"], (label, u)
        rest = lambda side: {key: value for key, value in side.items() if key not in ("devices", "ranks", "files", "folded")}
        assert rest(every) == rest(some)
        assert some["devices"] == [d for d in every["devices"] if d["id"] in named], label
        assert some["ranks"]["list"] == [r for r in every["ranks"]["list"] if r["device"] in named], label
        assert some["files"] == [f for f in every["files"] if f["rank"] in {u["rank"] for u in unusual}], label
    assert folded["baseline"]["folded"]["unusual"][0]["rank"] == 5, folded["baseline"]["folded"]["unusual"]


def sample(path, mhz):
    """Ten samples of the clock of the file's GPU."""
    with sqlite3.connect(path) as db:
        db.executescript(made_sides.CLOCKS)
        begin, end = db.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        db.executemany("INSERT INTO GAPLINE_GPU_STATE VALUES (?, 0, ?, 2619, 400000, 60, 100, 0)",
                       [(begin + (end - begin) * i // 10, mhz) for i in range(10)])
    db.close()


def check_clocks(folder, gapline, ranks):
    """Of few GPUs all have their clocks on the page, each under its rank, of many those that the JSON lists."""
    job = folder / f"clocks-{ranks}"
    job.mkdir()
    for k, side in enumerate(("baseline", "fixed")):
        for rank, path in enumerate(tiny_job.write(job / side, ranks=ranks, per_host=ranks, steps=6, slow=None if k else 5, seed=k + 1)):
            sample(path, 1700 + rank)
    report(gapline, job, "result.json", "-o", job / "page.html")
    html = (job / "page.html").read_text()
    [table] = re.findall(r'aria-label="Clocks".*?</table>', html, re.S)
    for label in "baseline", "fixed":
        listed = [1700 + d["rank"] for d in json.loads((job / "result.json").read_text())[label]["devices"]]
        rows = re.findall(rf'<tr><th scope="row"[^>]*>{label}</th>.*?>(17\d\d)<', table)
        assert [int(mhz) for mhz in rows] == listed, (ranks, label, rows, listed)
        called = re.findall(rf'<tr><th scope="row"[^>]*>{label}</th>\s*<td[^>]*>rank (\d+): ', table)
        assert [1700 + int(rank) for rank in called] == listed, (ranks, label, called, listed)
        assert (f"{label}: --json --all-ranks has the other {ranks - len(rows)} GPUs." in html) == (len(rows) < ranks), (ranks, label)
    print(f"clocks of {ranks} GPUs: {len(rows)} rows a side")


def main():
    gapline = pathlib.Path(sys.argv[1]).resolve()
    cut = []
    with tempfile.TemporaryDirectory() as folder:
        check_clocks(pathlib.Path(folder), gapline, 16)
        check_clocks(pathlib.Path(folder), gapline, 17)
        for ranks in (20, 21, 300):
            job = pathlib.Path(folder) / str(ranks)
            job.mkdir()
            for k, side in enumerate(("baseline", "fixed")):
                tiny_job.write(job / side, ranks=ranks, per_host=ranks, steps=6, slow=None if k else 5, seed=k + 1)
            report(gapline, job, "folded.json")
            report(gapline, job, "result.json", "--all-ranks", "-o", job / "page.html")
            check_folded(json.loads((job / "result.json").read_text()), json.loads((job / "folded.json").read_text()))
            page = Page()
            page.feed((job / "page.html").read_text())
            cut.append(check(str(ranks), page, json.loads((job / "result.json").read_text())))
            assert (job / "page.html").stat().st_size < 1_500_000
    assert cut == [False, False, True], "a page has room for a hundred ranks a side, and not for any number of them"


if __name__ == "__main__":
    main()
