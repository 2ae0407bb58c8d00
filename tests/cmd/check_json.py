#!/usr/bin/env python3
"""Every command writes the members that docs/reference/json.md lists, no more and no fewer; errors are one object with an
id of the list and the exit status that stands beside it; `gapline help --json` has the options that --help has.

    check_json.py GAPLINE
"""

import gzip
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")
BASE, FIXED = (ROOT / f"examples/training-step/{side}.sqlite.gz" for side in ("baseline", "fixed"))
HOSTILE = b"na\xffme\x1b[31m\n.sqlite"  # no UTF-8, a colour, a new line


def listed(heading):
    part = PAGE.split(f"\n{heading}\n")[1].split("\n#")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE))


def members(value, path=""):
    """Paths of all members that are no objects or arrays themselves, as the page writes them."""
    if isinstance(value, dict) and not re.fullmatch(r"tables\[\]\.rows\[\]", path):
        return {p for k, v in value.items() for p in members(v, f"{path}.{k}" if path else k)}
    if isinstance(value, list):
        return {p for v in value for p in members(v, path + "[]")} or {path + "[]"}
    return {path}


class Case(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="gapline-json-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def stand_in(self):
        """A profile that the stand-in for nsys records."""
        (self.folder / "base-0.sqlite").write_bytes(gzip.decompress(BASE.read_bytes()))
        os.environ["GAPLINE_NSYS"] = str(ROOT / "tests/support/standin_nsys.py")
        self.addCleanup(os.environ.pop, "GAPLINE_NSYS")

    def run_it(self, *words, status=0, **how):
        done = subprocess.run([GAPLINE, *words], cwd=self.folder, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        return done


class Results(Case):
    def result(self, command, *words, status=0):
        words = [command, "--json", "result.json", *words]
        self.run_it(*words, status=status)
        value = json.loads((self.folder / "result.json").read_text())
        if command != "capture":  # the program's output goes there, too
            words[2] = "-"
            json.loads(self.run_it(*words, status=status).stdout)  # all of standard output
        self.assertEqual((value.pop("schema"), value.pop("command")), ("gapline-result/1", command))
        self.assertEqual(f"gapline {value.pop('gapline')}\n", self.run_it("--version").stdout.decode())
        self.assertEqual(members(value), listed(f"### {command}"), command)
        return value

    def test_stats(self):
        value = self.result("stats", BASE, "--report", "cuda_gpu_kern_sum,cuda_api_sum")
        rows = json.loads(self.run_it("stats", BASE, "--report", "cuda_gpu_kern_sum", "--format", "json").stdout)
        self.assertEqual(value["tables"][0]["rows"], rows)
        files = self.run_it("stats", BASE, "--report", "cuda_gpu_kern_sum", "-o", "t", "--json", "t.json")
        self.assertTrue((self.folder / "t_cuda_gpu_kern_sum.csv").exists(), files.stderr)

    def test_scrub(self):
        value = self.result("scrub", FIXED, "-o", "copy.sqlite", "--force")
        self.assertEqual(value["bytes"], (self.folder / "copy.sqlite").stat().st_size)

    def test_digest(self):
        value = self.result("digest", BASE, "-o", "one.digest", "--force")
        self.assertEqual(value["bytes"], (self.folder / "one.digest").stat().st_size)

    def test_export(self):
        value = self.result("export", BASE, FIXED, "-o", "runs.sqlite", "--force")
        self.assertEqual((value["bytes"], value["rows"]["runs"]), ((self.folder / "runs.sqlite").stat().st_size, 2))

    def test_verify(self):
        self.run_it("report", BASE, FIXED, "-o", "page.html", "-q")
        page = (self.folder / "page.html").read_text()
        (self.folder / "page.html").write_text(page.replace("<h2>Verdict</h2>", "<h2>Truth</h2>"))
        value = self.result("verify", "page.html", status=1)
        self.assertEqual((value["agrees"], value["sections"]), (False, 1))
        self.assertEqual(value["differences"], [{"section": "verdict", "page": "Truth", "evidence": "Verdict"}])

    def test_check(self):
        self.run_it("report", BASE, FIXED, "-o", "page.html", "-q")
        (self.folder / "claim.json").write_text('{"schema": "gapline-claim/1", "gates": ["speedup>=1000"], "resolved": []}')
        value = self.result("check", "claim.json", "page.html", status=1)
        self.assertEqual([(p["what"], p["answer"]) for p in value["points"]], [("speedup>=1000", "fails")])

    def test_every_command_is_listed(self):
        own = {"report", "show", "run", "demo", "claim", "manual", "completion"}  # the result, the trend, and files for other programs
        for command in json.loads(self.run_it("help", "--json").stdout)["commands"]:
            self.assertNotEqual(command["name"] in own, f"\n### {command['name']}\n" in PAGE, command["name"])

    def test_save(self):
        saved = self.result("save", "main", BASE, "--force")
        self.assertEqual(self.result("save", "--list"), saved)

    def test_history(self):
        added = [self.result("history", "add", "--commit", "abc", "--db", "h.db", BASE)["added"] for _ in range(2)]
        self.assertEqual(added, [1, 0])

    def test_doctor(self):
        status = subprocess.run([GAPLINE, "doctor"], capture_output=True, env={**os.environ, "GAPLINE_NSYS": "/none"}).returncode
        value = self.result("doctor", status=status)
        self.assertEqual(value["can_capture"], status == 0)
        self.assertEqual(value["can_capture"], bool(value["collectors"]))

    def test_capture(self):
        self.stand_in()
        value = self.result("capture", "--collector", "nsys", "-q", "--force", "-o", "run.sqlite", "--", "sh", "-c", ": base-0.sqlite")
        self.assertEqual((value["complete"], value["incomplete"], value["collector"]), (True, None, "nsys"))
        value = self.result("capture", "--collector", "nsys", "--force", "-o", "run.sqlite", "--", "sh", "-c", "exit 9; base-0.sqlite", status=3)
        self.assertEqual((value["complete"], value["incomplete"]), (False, "the program ended with exit status 9"))

    def test_commands_with_a_schema_of_their_own(self):
        for words, schema in (
            (["demo", "-o", "d.html"], "gapline/3"),
            (["show", BASE], "gapline/3"),
            (["report", BASE, FIXED], "gapline/3"),
            (["history", "report", "--db", "h.db"], "gapline-history/1"),
            (["claim", "d.html"], "gapline-claim/1"),
        ):
            if words[0] == "history":
                self.run_it("history", "add", "--commit", "abc", "--db", "h.db", BASE)
            value = json.loads(self.run_it(*words, "--json", "-").stdout)
            self.assertEqual(value["schema"], schema, words)
        self.stand_in()
        (self.folder / "fixed-0.sqlite").write_bytes(gzip.decompress(FIXED.read_bytes()))
        self.run_it("run", "--collector", "nsys", "--repeat", "0", "--recorded", "1", "--baseline", "sh -c ': base-#.sqlite'", "--fixed", "sh -c ': fixed-#.sqlite'", "-o", "runs",
                    "--json", "run.json", "-q")
        self.assertEqual(json.loads((self.folder / "run.json").read_text())["schema"], "gapline/3")

    def test_every_command_has_json(self):
        for command in json.loads(self.run_it("help", "--json").stdout)["commands"]:
            has = any(o["name"] == "json" and o["kind"] == "output" for o in command["options"])
            self.assertEqual(has, command["name"] not in ("manual", "completion"), command["name"])

    def test_two_outputs_in_one_place(self):
        for words in (["digest", BASE, "-o", "x", "--json", "x"], ["stats", BASE, "-o", "-", "--json", BASE], ["scrub", BASE, "-o", "-", "--json", "-"]):
            self.run_it(*words, status=2)
        self.run_it("save", "main", BASE)
        self.run_it("save", "--list", "--json", "gapline.db", status=2)
        self.assertIn("main", self.run_it("save", "--list").stdout.decode())

    def test_hostile_names(self):
        try:
            (self.folder / os.fsdecode(HOSTILE)).write_bytes(BASE.read_bytes())
        except OSError as problem:
            self.skipTest(f"this file system does not take the name: {problem}")
        value = json.loads(self.run_it("digest", HOSTILE, "-o", HOSTILE + b".digest", "--json", "-").stdout)
        self.assertNotIn("\x1b", value["file"])
        self.assertNotIn("\n", value["file"])


class Guide(Case):
    """docs/guide/agents.md: its five commands, and the members that it names."""

    def test_five_commands(self):
        page = (ROOT / "docs/guide/agents.md").read_text(encoding="utf-8")
        commands = [shlex.split(text.replace("\\\n", " ")) for text in re.findall(r"\n\n {7}(gapline (?:[^\n\\]|\\\n)*)\n", page)]
        self.assertEqual([c[1] for c in commands], ["capture", "show", "run", "claim", "check"])
        self.stand_in()
        for i in range(4):
            for side, profile in (("base", BASE), ("fixed", FIXED)):
                with gzip.open(profile) as packed:
                    (self.folder / f"{side}-{i}.sqlite").write_bytes(packed.read())
        programs = {"python train.py": "sh -c 'echo loss=1; : base-#.sqlite'", "python train_fixed.py": "sh -c 'echo loss=1; : fixed-#.sqlite'"}
        for words in commands:
            words = [programs.get(w, w) for w in words[1:]]
            if words[0] in ("capture", "run"):
                words[1:1] = ["--collector", "nsys", *(["--repeat", "0", "--recorded", "1"] if words[0] == "run" else [])]
            if words[0] == "run":
                words.append("--evidence")
            if "--" in words:
                words[words.index("--") + 1 :] = ["sh", "-c", ": base-0.sqlite"]
            done = subprocess.run([GAPLINE, *words], cwd=self.folder, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
            self.assertIn(done.returncode, (0, 1, 4) if words[0] == "run" else (0,), (words, done.stderr))
        for evidence in ("out/report.html", "out/report.json"):
            self.run_it("verify", evidence)
        shown = json.loads((self.folder / "slow.json").read_text())
        claim = json.loads((self.folder / "out/report.json").read_text())
        checked = json.loads((self.folder / "checked.json").read_text())
        self.assertEqual({point["answer"] for point in checked["points"]}, {"holds"})
        named = set(re.findall(r"`((?:verdict|findings)[a-z0-9_.\[\]]*)`", page))
        self.assertGreater(len(named), 8)
        for path in named:
            value = shown if path.startswith("findings") else claim
            for key in path.replace("[]", ".0").split("."):
                value = value[int(key)] if key.isdigit() else value[key]


class Errors(Case):
    def error(self, status, *words, file=None, **how):
        done = self.run_it(*words, status=status, **how)
        said = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual(list(said), ["error"])
        self.assertEqual(list(said["error"]), ["id", "file", "text", "next"])
        statuses = dict(re.findall(r"^\| `(\w+)` \| ([23]) \|", PAGE, re.MULTILINE))
        self.assertEqual(statuses[said["error"]["id"]], str(status), said)
        self.assertEqual(said["error"]["file"], file, said)
        if said["error"]["id"] == "missing":
            self.assertTrue(said["error"]["next"], said)
        return said["error"]["id"]

    def test_ids(self):
        (self.folder / "text").write_text("no profile\n")
        (self.folder / "cut.sqlite").write_bytes(b"SQLite format 3\0" + bytes(84))
        json_ = ["--errors", "json"]
        commands = [command["name"] for command in json.loads(self.run_it("help", "--json").stdout)["commands"]]
        self.assertGreaterEqual(len(commands), 17)
        for command in commands:
            self.assertEqual(self.error(2, command, "--nonsense", *json_), "usage", command)
        self.assertEqual(self.error(2, "nonsense", "--errors=json"), "usage")
        self.assertEqual(self.error(2, "report", BASE, *json_), "usage")
        self.assertEqual(self.error(3, "show", "nope", *json_, file="nope"), "missing")
        self.assertEqual(self.error(3, "stats", "no*", *json_, file="no*"), "missing")
        self.assertEqual(self.error(3, "digest", "text", "-o", "x", *json_, file="text"), "not_a_profile")
        self.assertEqual(self.error(3, "save", "main", "cut.sqlite", *json_, file="cut.sqlite"), "not_a_profile")
        (self.folder / "cut.gz").write_bytes(BASE.read_bytes()[:9000])
        self.assertEqual(self.error(3, "show", "*.gz", *json_, file="cut.gz"), "damaged")
        self.assertEqual(self.error(2, "digest", BASE, "-o", "none/x", *json_, file="none/x"), "output")
        # nor by words that are the user's own
        (self.folder / "no such file").write_bytes(b"text")
        self.assertEqual(self.error(3, "show", "no such file", *json_, file="no such file"), "not_a_profile")
        self.assertEqual(self.error(2, "show", BASE, "--step", "out of memory", *json_), "usage")
        self.assertEqual(self.error(2, "stats", BASE, "-o", "none/x", "--report", "cuda_api_sum", *json_, file="none/x_cuda_api_sum.csv"), "output")
        self.stand_in()
        nsys = ["capture", "--collector", "nsys", *json_, "-o", "x.sqlite", "--", "sh", "-c"]
        self.assertEqual(self.error(3, *nsys, "exit 9; base-0.sqlite", file="x.sqlite"), "program_failed")
        self.assertEqual(self.error(2, *nsys, ": base-0.sqlite", file="x.sqlite"), "output")  # it is there already
        if b"__asan_init" not in pathlib.Path(GAPLINE).read_bytes():  # AddressSanitizer itself needs more
            self.assertEqual(self.error(2, "report", BASE, FIXED, "--memory-limit", "1M", *json_), "memory")

    def test_one_line_and_text_as_before(self):
        done = self.run_it("report", "--nonsense", "--errors", "json", status=2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        done = self.run_it("report", "--nonsense", "--errors", "text", status=2)
        self.assertTrue(done.stderr.startswith(b"gapline: there is no option '--nonsense'\nusage: "), done.stderr)

    def test_no_object_without_an_error(self):
        done = self.run_it("show", BASE, "--errors", "json")
        self.assertNotIn(b"{", done.stderr)
        done = self.run_it("report", BASE, BASE, "--min-speedup", "2", "--errors", "json", status=4)
        self.assertNotIn(b"{", done.stderr)

    def test_hostile_names(self):
        done = self.run_it("show", HOSTILE, "--errors", "json", status=3)
        said = json.loads(done.stderr.splitlines()[-1])["error"]
        self.assertEqual(said["id"], "missing")
        self.assertFalse(re.search(r"[\x00-\x1f\x7f]", said["file"] + said["text"]))


class Help(Case):
    def test_the_same_as_help_for_people(self):
        value = json.loads(self.run_it("help", "--json").stdout)
        self.assertEqual((value.pop("schema"), len(value.pop("gapline").split("."))), ("gapline-help/1", 3))
        self.assertEqual(members(value), listed("## Commands and options"))
        names = re.findall(r"^  ([a-z]+) ", self.run_it("help").stdout.decode().split("commands:")[1].split("example:")[0], re.MULTILINE)
        self.assertEqual([c["name"] for c in value["commands"]], names)
        for command in value["commands"]:
            text = self.run_it("help", command["name"]).stdout.decode()
            options = re.findall(r"^ {2,6}(?:-[a-zA-Z], )?--([a-z0-9-]+)", text.split("\noptions:\n")[1].split("\nexamples:\n")[0], re.MULTILINE)
            self.assertEqual([o["name"] for o in command["options"]] + ["help"], options)
            statuses = re.findall(r"^  (\S+(?: \+ N)?)  ", text.split("\nexit status:\n")[1], re.MULTILINE)
            self.assertEqual([s["status"] for s in command["statuses"]], statuses)
            alone = json.loads(self.run_it("help", command["name"], "--json").stdout)["commands"]
            self.assertEqual(alone, [command])


if __name__ == "__main__":
    GAPLINE = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=0)
