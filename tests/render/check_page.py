"""check_page.py BUILD_TESTS_DIR [REPORT.html ...]

Every fabricated analysis, and every report given, as a page: tags balance, ids are unique, links lead somewhere, the
policy names the style by its hash and allows nothing else, and nothing on the page could make a request."""

import base64
import hashlib
import html.parser
import pathlib
import re
import subprocess
import sys

FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "stopwatch", "hostile", "large", "one"]
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ALLOWED = set(
    "html head meta title style body header main section nav footer article h1 h2 h3 h4 p b strong small span a ul li dl dt dd div "
    "table caption thead tbody tfoot tr th td details summary pre code figure figcaption svg desc defs pattern g rect line circle path text tspan wbr script".split()
)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.fills = [], [], [], set()
        self.policy = None
        self.style = self.early = self.script = ""
        self.scripts = []

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED, f"<{tag}>"
        attributes = dict(attributes)
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{name} on <{tag}>"
            assert name not in ("src", "srcset", "style", "action", "background"), f"{name} on <{tag}>"
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
            for reference in re.findall(r"url\(([^)]*)\)", value or "") if name in ("fill", "stroke") else []:
                self.fills.add(reference)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "script":
            self.scripts.append(attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        if self.open and self.open[-1] == "script" and not self.scripts[-1]:
            self.early += data
        if self.open and self.open[-1] == "script" and self.scripts[-1].get("type") == "module":
            self.script += data


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def check(text):
    assert len(text) < 1_500_000, f"{len(text)} bytes"
    page = Page()
    page.feed(text.decode("utf-8"))
    page.close()
    assert not page.open, f"never closed: {page.open}"
    assert len(set(page.ids)) == len(page.ids), "an id is there twice"
    for target in page.links + sorted(page.fills):
        assert target.startswith("#") and target[1:] in page.ids, f"{target} leads nowhere"
    assert page.scripts == [{}, {"id": "data", "type": "text/plain"}, {"type": "module"}], page.scripts
    style, early, script = (f"'sha256-{digest(part)}'" for part in (page.style, page.early, page.script))
    policy = f"default-src 'none'; style-src {style}; script-src {early} {script}; base-uri 'none'; form-action 'none'"
    assert page.policy == policy, page.policy
    assert "url(" not in page.style and "@import" not in page.style
    for request in ("fetch(", "XMLHttpRequest", "import(", "WebSocket", "sendBeacon", "innerHTML", "eval(", "document.write"):
        assert request not in page.script, request
    assert "<!--" not in text.decode("utf-8").replace("&lt;!--", "")


def main():
    texts = {}
    for name in FIXTURES:
        program = [str(pathlib.Path(sys.argv[1]) / "print_fixture"), name, "html"]
        texts[name] = subprocess.run(program, check=True, stdout=subprocess.PIPE).stdout
    for path in sys.argv[2:]:
        texts[path] = pathlib.Path(path).read_bytes()
    for name, text in texts.items():
        try:
            check(text)
        except AssertionError as error:
            sys.exit(f"{name}: {error}")
    for end, more in ((b"</style>", b"x{}"), (b"</script>\n\n<section", b";")):
        assert texts["pair"].count(end) == 1, end
        broken = texts["pair"].replace(end, more + end)
        try:
            check(broken)
        except AssertionError:
            continue
        sys.exit(f"check_page: what the policy does not allow went unseen before {end}")
    print(f"check_page: {len(texts)} pages are sound")


main()
