"""check_rank_rows.py GAPLINE

The table of ranks of large jobs: every rank is there with the numbers of the JSON, the slowest are shown, the sums say how
many are folded away and how many the page has no room for, and so does what opens the table."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_job
from check_numbers import Check
from page_numbers import Page

SHOWN, FEW_MORE = 16, 4


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


def main():
    gapline = pathlib.Path(sys.argv[1]).resolve()
    cut = []
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (20, 21, 300):
            job = pathlib.Path(folder) / str(ranks)
            job.mkdir()
            for k, side in enumerate(("baseline", "fixed")):
                tiny_job.write(job / side, ranks=ranks, per_host=ranks, steps=6, slow=None if k else 5, seed=k + 1)
            subprocess.run([gapline, "report", job / "baseline", job / "fixed", "-o", job / "page.html", "--json", job / "result.json",
                            "--quiet"], check=True)
            page = Page()
            page.feed((job / "page.html").read_text())
            cut.append(check(str(ranks), page, json.loads((job / "result.json").read_text())))
            assert (job / "page.html").stat().st_size < 1_500_000
    assert cut == [False, False, True], "a page has room for a hundred ranks a side, and not for any number of them"


if __name__ == "__main__":
    main()
