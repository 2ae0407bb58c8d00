"""check_ci_pages.py GAPLINE BUILD_TESTS_DIR

What is written for a CI, read back by others: the Markdown of every fabricated analysis, rendered by cmark-gfm as GitHub
does, and the JUnit file, checked by xmllint against junit.xsd; both held against the JSON of the same analysis."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import tiny_profile  # noqa: E402

FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "stopwatch", "hostile", "large"]
ALLOWED = set("h3 p strong code table thead tbody tr th td ul li img a".split())
URLS = {"https://example.org/report.html", "https://example.org/gaps.svg?a=1&b=(2)"}
EXAMPLE = HERE.parents[1] / "examples" / "training-step"
# Names that would do something as Markdown, on GitHub or GitLab.
HOSTILE = [
    "@team", "#1", "!2", "GH-3", "owner/repo#4", "https://evil.example/", "www.evil.example", "a@evil.example", "[x](https://evil.example)",
    "![x](https://evil.example)", "<b>x</b>", "<!-- x -->", "`x`", "``x", "a|b", "**x**", "~~x~~", "# x", "- x", "1. x", "> x", "/close",
    "$x^2$", ":tada:", "&amp;", "\\", "x\\|y", "```", "[x]: https://evil.example", "~label", "%5", "mailto:a@evil.example", "| a | b |", "ftp://evil.example",
]


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.urls, self.text, self.rows, self.code, self.spoken = set(), set(), "", [], [], ""
        self.comments = []
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)
        self.urls |= {value for name, value in attributes if name in ("href", "src")}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "code":
            self.code.append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_comment(self, text):
        self.comments.append(text)

    def handle_data(self, text):
        self.text += text
        if "code" in self.open:
            self.code[-1] += text
        else:
            self.spoken += text
        if self.open and ("td" in self.open or "th" in self.open):
            self.rows[-1][-1] += text


def rendered(markdown):
    extensions = [word for name in ("table", "autolink", "strikethrough", "tasklist") for word in ("-e", name)]
    return subprocess.run(["cmark-gfm", "--unsafe", *extensions], input=markdown, capture_output=True, check=True).stdout.decode()


def plain(text):
    return text.replace("\u200b", "")


def check_inert(what, page):
    assert page.tags <= ALLOWED, f"{what}: {page.tags - ALLOWED}"
    assert page.urls <= URLS, f"{what}: links to {page.urls - URLS}"
    assert not re.search(r"[@#][A-Za-z0-9_]|www\.|://|GH-\d|\$[^\s\u200b]|(?<!\w)[!~]\w|:\w+:", page.spoken), f"{what}: {page.spoken}"


def check_markdown(what, markdown, result, short):
    assert len(markdown) <= 65536, f"{what}: {len(markdown)} bytes"
    page = Page(rendered(markdown))
    check_inert(what, page)
    assert page.comments == ([" gapline "] if short else []), f"{what}: {page.comments}"
    widths = {len(row) for row in page.rows}
    assert widths <= {3}, f"{what}: a table has rows of {widths}"
    verdict, text = result["verdict"], plain(page.text)
    assert verdict["result"].capitalize() in text, what
    for gate in verdict["gates"]:
        found = [row for row in page.rows if gate["result"] in row[1] and plain(row[2]) == gate["text"]]
        assert found or len(gate["text"]) > 600, f"{what}: no row says {gate}"
    if verdict["gates"]:
        assert f"Gates: " in text and re.search(rf"Gates: \S+ {verdict['gate']}", text), f"{what}: the gates together"
    if verdict["result"] == "inconclusive":
        assert "nconclusive" in text, what
    if not short:
        for key in ("compute", "comm_exposed", "copy_exposed", "idle", "period"):
            label = {"compute": "GPU compute", "idle": "GPU idle", "period": "all, the mean", "comm_exposed": "communication, not overlapped",
                     "copy_exposed": "copies, not overlapped"}[key]
            row = next(row for row in page.rows if row[0] == label)
            for side, cell in zip(("baseline", "fixed"), row[1:]):
                number = result[side]["budget"]["per_step"][key]
                shown = 0.0 if cell.startswith("<") else float(cell)
                unit = next(1 if re.search(r", ms$", r[0]) else 1e-3 if re.search(r", s$", r[0]) else 1e3 for r in page.rows if r[0].startswith("budget"))
                assert abs(shown - number * unit) <= 0.5 * 10 ** -len(cell.partition(".")[2]) + (0.01 if cell.startswith("<") else 1e-9), f"{what}: {label} {cell} for {number}"
        assert URLS <= page.urls, f"{what}: {page.urls}"
    check_made(what, text, result)
    for reason in verdict["reasons"] if verdict["result"] != "inconclusive" else []:
        assert reason["severity"] != "caveat" or " ".join(reason["text"].split()) in " ".join(text.split()), f"{what}: lacks {reason['text']}"
    caveats = rendered(markdown).partition("Caveats")[2].count("<li>")
    assert caveats <= 3, f"{what}: {caveats} caveats"


def check_made(what, text, result):
    """The last sentence: what made this, on which GPU, from how many runs of each side."""
    sides = [result[side] for side in ("baseline", "fixed")]
    said = re.search(rf"gapline {re.escape(result['gapline'])} on (.*), from (.*)\.\s*$", text)
    assert said, f"{what}: {text[-300:]}"
    for side in sides:
        devices = side["devices"]
        name = (devices[0]["name"] if devices else None) or "unknown GPU"
        assert len(name) > 80 or (f"{len(devices)} GPUs, the first: " if len(devices) > 1 else "") + name in said[1], f"{what}: {said[1]}, not {name}"
    found = [(int(timed or 0), int(profiled)) for timed, profiled in
             re.findall(r"(?:(\d+) timed runs? \(no profiler\) and )?(\d+) profiled runs?", said[2])]  # fmt: skip
    true = [(side["steps"]["stopwatch_runs"], len(side["runs"])) for side in sides]
    assert found == (true[:1] if true[0] == true[1] else true), f"{what}: {said[2]}, not {true}"


def check_junit(what, text, result, folder):
    path = folder / "junit.xml"
    path.write_bytes(text)
    done = subprocess.run(["xmllint", "--noout", "--schema", HERE / "junit.xsd", path], capture_output=True, text=True)
    assert done.returncode == 0, f"{what}: {done.stderr}"
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for node in [root, *root]:
        cases = list(node.iter("testcase"))
        assert int(node.get("tests")) == len(cases), f"{what}: tests"
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(node.get(attribute)) == sum(case.find(tag) is not None for case in cases), f"{what}: {attribute}"
    gates = [case for case in root.iter("testcase") if case.get("classname") == "gapline.gates"]
    tags = {"passed": None, "failed": "failure", "inconclusive": "error"}
    assert len(gates) == len(result["verdict"]["gates"]), what
    for case, gate in zip(gates, result["verdict"]["gates"]):
        outcome = [child.tag for child in case if child.tag != "system-out"]
        assert outcome == ([tags[gate["result"]]] if tags[gate["result"]] else []), f"{what}: {gate['name']} is {outcome}"
        assert case.get("name") == gate["name"] and case.find("system-out").text == gate["text"], what
    findings = [case for case in root.iter("testcase") if case.get("classname") == "gapline.findings"]
    assert len(findings) == len(result["findings"]), what
    for case, finding in zip(findings, result["findings"]):
        assert (case.find("skipped") is None) == (finding["status"] in ("resolved", "reduced")), f"{what}: {finding['id']} is {finding['status']}"
    assert len({case.get("name") for case in findings}) == len(findings), f"{what}: two findings of one name"
    assert int(root.get("failures")) == sum(g["result"] == "failed" for g in result["verdict"]["gates"]), what


def check_fixtures(tests, folder):
    def printed(name, kind):
        return subprocess.run([tests / "print_fixture", name, kind], capture_output=True, check=True).stdout

    for name in FIXTURES:
        result = json.loads(printed(name, "json"))
        check_markdown(f"{name} markdown", printed(name, "markdown"), result, False)
        check_markdown(f"{name} comment", printed(name, "comment"), result, True)
        check_junit(name, printed(name, "junit"), result, folder)


def check_command(gapline, folder):
    """Hostile titles, sides and gates, one by one, through the command."""
    pair = [EXAMPLE / "baseline.sqlite.gz", EXAMPLE / "fixed.sqlite.gz"]
    summary = folder / "summary.md"
    summary.write_text("what was there")
    for part in (HOSTILE[: len(HOSTILE) // 2], HOSTILE[len(HOSTILE) // 2 :]):
        name = " ".join(part)
        gates = [word for one in part for word in ("--gate", 'phase:"' + one.replace("\\", "\\\\") + '".cost<5%')]
        paths = {kind: folder / kind for kind in ("json", "markdown", "markdown-short", "junit")}
        options = [word for kind, path in paths.items() for word in (f"--{kind}", path)]
        done = subprocess.run(
            [gapline, "report", *pair, "--quiet", "--title", name, "--baseline-name", part[0], "--fixed-name", part[1], *gates, *options, "--github-summary",
             "--gate", "idle<90%", "--gate", "idle<0.1%", "--svg-url", "https://example.org/gaps.svg?a=1&b=(2)", "--report-url", "https://example.org/report.html"],
            env={"GITHUB_STEP_SUMMARY": str(summary)}, capture_output=True, text=True)
        assert done.returncode == 1, f"{done.returncode}: {done.stderr}"
        result = json.loads(paths["json"].read_text())
        check_markdown(f"{name} markdown", paths["markdown"].read_bytes(), result, False)
        check_markdown(f"{name} comment", paths["markdown-short"].read_bytes(), result, True)
        check_junit(name, paths["junit"].read_bytes(), result, folder)
        codes = [plain(code) for code in Page(rendered(paths["markdown"].read_bytes())).code]
        for gate in result["verdict"]["gates"]:
            assert len(gate["name"]) > 80 or gate["name"] in codes, f"{gate['name']} is not in {codes}"
        assert summary.read_text().endswith(paths["markdown"].read_text()), "the summary"
    assert summary.read_text().startswith("what was there\n### "), "what a step wrote before is gone"
    for bad in ("javascript:alert(1)", "https://x/>", "https://x/ y", "//x", "https://"):
        done = subprocess.run([gapline, "report", *pair, "--markdown", "-", "--report-url", bad], capture_output=True)
        page = rendered(done.stdout)
        assert done.returncode == 2 and done.stdout.startswith(b"### Error"), bad
        assert "<a" not in str(page), f"{bad} is a link"  # it is named, and nothing to click on
    done = subprocess.run([gapline, "report", *pair, "--github-summary"], env={}, capture_output=True, text=True)
    assert done.returncode == 2, "a summary without a place"


def check_apart(gapline, folder):
    """A step and a whole run have no finding in common: each side has its own, of one name."""
    for side, steps in ("steps", 60), ("run", 3):
        tiny_profile.write(folder / f"{side}.sqlite", steps=steps, load=1000, kernel=2_000_000, nvtx=side == "steps")
    outputs = "--json", folder / "apart.json", "--junit", folder / "apart.xml"
    subprocess.run([gapline, "report", folder / "steps.sqlite", folder / "run.sqlite", "--quiet", *outputs], check=True)
    result = json.loads((folder / "apart.json").read_text())
    assert len({f["id"] for f in result["findings"]}) < len(result["findings"]), [f["id"] for f in result["findings"]]
    check_junit("a step and a run", (folder / "apart.xml").read_bytes(), result, folder)


def check_full(gapline, folder):
    """More gates than a comment has room for: as many as fit, and that there are more is said."""
    gates = [word for i in range(700) for word in ("--gate", f'phase:"{i:03} {"x" * 60}".cost<5%')]
    pair, path = [EXAMPLE / "baseline.sqlite.gz", EXAMPLE / "fixed.sqlite.gz"], folder / "full.md"
    for kind in "--markdown", "--markdown-short":
        done = subprocess.run([gapline, "report", *pair, "--quiet", *gates, kind, path], capture_output=True, text=True)
        text = path.read_bytes()
        assert done.returncode == 4 and 40000 < len(text) <= 65536, f"{kind}: {done.returncode}, {len(text)} bytes"
        rows = Page(rendered(text)).rows
        assert b"There is no room here for everything; the report has it." in text and 100 < len(rows) < 700, len(rows)


def main():
    if not shutil.which("cmark-gfm") or not shutil.which("xmllint"):
        print("check_ci_pages: skipped, cmark-gfm or xmllint is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_fixtures(pathlib.Path(sys.argv[2]), pathlib.Path(folder))
        check_command(sys.argv[1], pathlib.Path(folder))
        check_full(sys.argv[1], pathlib.Path(folder))
        check_apart(sys.argv[1], pathlib.Path(folder))
    print(f"{len(FIXTURES)} fixtures and {len(HOSTILE)} hostile names, rendered and read back")
    return 0


if __name__ == "__main__":
    sys.exit(main())
