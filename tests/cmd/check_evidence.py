#!/usr/bin/env python3
"""What is built on the evidence of reports: claims, reports as inputs, histories of reports; and what is damaged, hostile, of
other rules or gigabytes long in their place.

    check_evidence.py GAPLINE
"""

import json
import pathlib
import sys
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import made_host
import tiny_profile
from evidence import EVIDENCE, VERSION, Reports, gapline, packed, repacked, with_evidence


class Claims(Reports):
    def claim(self, name="training-step"):
        page, claim = self.folder / "claimed.html", self.folder / "claim.json"
        page.write_bytes(self.pages[name])
        made = gapline("claim", page, "-o", claim, "-q", "--force")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return page, claim, json.loads(claim.read_text())

    def check(self, page, claim, value, status, *said):
        claim.write_text(value if isinstance(value, str) else json.dumps(value))
        found = gapline("check", claim, page)
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)
        for words in said:
            self.assertIn(words, found.stdout + found.stderr)

    def test_claims_of_reports_hold(self):
        """A claim says what the JSON of its report says, and holds; of another report it does not."""
        page, claim, value = self.claim()
        example = ROOT / "examples/training-step"
        gapline("report", example / "baseline.sqlite.gz", example / "fixed.sqlite.gz", "--warmup", 3, "-q", "--json", self.folder / "r.json")
        verdict = json.loads((self.folder / "r.json").read_text())["verdict"]
        self.assertEqual((value["result"], value["speedup"], value["ci95"]), (verdict["result"], verdict["speedup"], verdict["ci95"]))
        self.check(page, claim, value, 0, "The claim holds.")
        again = gapline("claim", page, "-o", claim)
        self.assertEqual(again.returncode, 2)
        self.assertIn("claim.json: exists already; --force replaces it", again.stderr)
        result = self.folder / "claimed.json"  # the JSON carries the same evidence
        result.write_bytes(self.results["training-step"])
        self.check(result, claim, value, 0, "The claim holds.")
        other, _, _ = self.claim("tiny")
        self.check(other, claim, value, 1, "The claim fails.", "evidence")

    def test_edited_claims(self):
        page, claim, value = self.claim()
        for change in ({"result": "slower"}, {"speedup": 1.02 * value["speedup"]}, {"ci95": [value["ci95"][0] * 0.9, value["ci95"][1]]},
                       {"same_work": "different"}, {"measured": "recorded"}, {"same_session": not value["same_session"]},
                       {"resolved": value["resolved"] + ["straggler"]}, {"evidence": "crc32:00000000"}, {"gates": ["speedup>=50"]},
                       {"sessions": value["sessions"][:1]}, {"sessions": [dict(value["sessions"][0], day="B"), *value["sessions"][1:]]},
                       {"conditions": {"fixed": {"driver": "1.2"}}}, {"conditions": {"fixed": {"weather": "fine"}}}, {"same_conditions": False}):
            self.check(page, claim, {**value, **change}, 1, "The claim fails.", "fails: " if "gates" not in change else "failed")
        self.check(page, claim, {**value, "speedup": round(value["speedup"], 3)}, 0)

    def test_claims_by_hand(self):
        page, claim, value = self.claim()
        least, most = value["ci95"]
        schema = {"schema": "gapline-claim/1"}
        self.check(page, claim, {**schema, "gates": [f"speedup>={least - 0.01:.3f}", "idle:host_code<50%"]}, 0, "passed")
        self.check(page, claim, {**schema, "gates": [f"speedup>={(least + most) / 2:.3f}"]}, 4, "open")
        self.check(page, claim, {**schema, "gates": [f"speedup>={least - 0.01:.3f}", "idle:host_code<50%"], "resolved": ["input_starvation"],
                                 "conditions": {"fixed": {"driver": value["conditions"]["fixed"]["driver"]}}}, 0, "holds: resolved", "holds: conditions.fixed.driver")
        for bad, words in (("{}", "is no claim"), ("[1", "is no claim"), (schema, "claims nothing"), ({**schema, "gates": ["faster!"]}, "faster!"),
                           ({**schema, "gates": [1]}, "no text"), ("", "is empty"),
                           ({**schema, "speedup_min": 1.2}, "claims 'speedup_min', which nothing can show")):
            self.check(page, claim, bad, 3, "claim.json: ", words)
        edited = self.pages["training-step"].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>")
        page.write_bytes(edited)
        self.check(page, claim, value, 3, "disagrees with its evidence")

    def test_sessions_of_claims(self):
        """Days, hosts and GPUs as letters, in the order in which they come up: what the profiles say, without saying it."""
        day = 86_400_000_000_000
        for side, started in (("baseline", 1_795_000_000_000_000_000), ("fixed", 1_795_000_000_000_000_000 + 3 * day)):
            tiny_profile.write(self.folder / f"day-{side}.sqlite", load=400_000 if side == "baseline" else 200_000, seed=7, started=started)
        self.make("days", [self.folder / "day-baseline.sqlite"], [self.folder / "day-fixed.sqlite"])
        page, claim, value = self.claim("days")
        self.pages.pop("days"), self.results.pop("days")
        self.assertEqual([(s["side"], s["day"], s["recorded_runs"], s["timed_runs"]) for s in value["sessions"]], [("baseline", "A", 1, 0), ("fixed", "B", 1, 0)])
        self.assertIs(value["same_session"], False)
        self.check(page, claim, value, 0)
        self.check(page, claim, {**value, "sessions": [dict(s, day="A") for s in value["sessions"]]}, 1, "fails: sessions[1].day is claimed to be A, the evidence shows B")


class Inputs(Reports):
    def report(self, *args, status=0, said=()):
        page, result = self.folder / "made.html", self.folder / "made.json"
        made = gapline("report", *args, "-q", "-o", page, "--json", result)
        self.assertEqual(made.returncode, status, made.stderr)
        for words in said:
            self.assertIn(words, made.stderr)
        if status in (0, 1, 4):
            self.assertEqual(gapline("verify", page).returncode, 0)
            return json.loads(result.read_text())

    def without_rows(self, result):
        """What a side without rows cannot have, and what says so."""
        result.pop("kernels_inside", None)
        result["verdict"]["reasons"] = [n for n in result["verdict"]["reasons"] if n["id"] != "steps_from_report"]
        for side in ("baseline", "fixed"):
            result[side]["data"]["notes"] = [n for n in result[side]["data"]["notes"] if n["id"] != "from_report"]
        return result

    def test_reports_as_inputs(self):
        """Of a side of a report, beside another or beside profiles, what is said is what is said of its profiles."""
        captures = ROOT / "../shared/captures"
        pairs = [[self.folder / f"{name}-{side}.sqlite" for side in ("baseline", "fixed")] for name in ("tiny", "stepless")]
        pairs += [[next((captures / name).glob(f"{side}.*")) for side in ("baseline", "fixed")]
                  for name in ("torch-dataloader", "ddp-2gpu") if (captures / name).exists()]
        for baseline, fixed in pairs:
            with self.subTest(str(baseline)):
                page = self.folder / "both.html"
                gates = ["--gate", "idle<5%", "--min-speedup", "1.2"]
                result = self.folder / "both.json"
                plain = gapline("report", baseline, fixed, *gates, "-q", "-o", page, "--json", result, "--evidence")
                expected = self.without_rows(json.loads(result.read_text()))
                expected.pop("evidence")
                for inputs in ((f"{page}:baseline", fixed), (baseline, f"{page}:fixed"), (f"{page}:baseline", f"{page}:fixed"),
                               (f"{result}:baseline", f"{page}:fixed")):
                    found = self.report(*inputs, *gates, status=plain.returncode)
                    apart = [n["side"] for n in found["verdict"]["reasons"] if n["id"] == "steps_from_report"]
                    found_in_work = expected["baseline"]["steps"]["origin"] == "pattern" and inputs[2:] != inputs[:2] and not all(":" in str(i) and page.name in str(i) for i in inputs)
                    self.assertEqual(apart, [s for s, given in zip(("baseline", "fixed"), inputs) if found_in_work and ":" in str(given)])
                    for side, given in zip(("baseline", "fixed"), inputs):
                        self.assertEqual("from_report" in [n["id"] for n in found[side]["data"]["notes"]], ":" in str(given))
                    self.assertEqual(self.without_rows(found), expected)
                    short = gapline(*inputs, *gates, "-q", "-o", self.folder / "short.html")  # without the word report
                    self.assertEqual(short.returncode, plain.returncode)
                    self.assertTrue((self.folder / "short.html").read_bytes() == (self.folder / "made.html").read_bytes())
                same = self.report(f"{page}:fixed", fixed)
                self.assertEqual((same["verdict"]["result"], same["verdict"]["speedup"]), ("inconclusive", None))

    def test_sides_of_two_reports(self):
        """Names, items and sessions: two reports, of which one's baseline is a week older, give what the profiles give."""
        week = 7 * 86_400_000_000_000
        paths = [self.folder / f"of-two-{i}.sqlite" for i in range(3)]
        for path, load, started in zip(paths, (400_000, 300_000, 200_000), (0, week, week + 60_000_000_000)):
            tiny_profile.write(path, load=load, seed=load, started=1_795_000_000_000_000_000 + started)
        old, new = self.folder / "old.html", self.folder / "new.html"
        for page, pair in ((old, paths[:2]), (new, paths[1:])):
            self.assertEqual(gapline("report", *pair, "-q", "-o", page).returncode, 0)
        for sides, pair in (((f"{old}:baseline", f"{new}:fixed"), (paths[0], paths[2])), ((f"{old}:fixed", f"{new}:fixed"), paths[1:])):
            for options in ([], ["--items-per-step", "4,8 images"], ["--baseline-name", "main", "--fixed-name", "branch"]):
                found, expected = (self.without_rows(self.report(*both, *options)) for both in (sides, pair))
                self.assertEqual([r["id"] for r in found["verdict"]["reasons"]].count("sessions_differ"), pair[0] == paths[0])
                for result in (found, expected):
                    for side in ("baseline", "fixed"):
                        result[side].pop("name", None) if not options else None
                self.assertEqual(found, expected)

    def test_ranges_of_reports(self):
        """Beside a report's side, the step of a profile that would choose another one by itself is the one of the report: requests
        of which a cache answers half, and steps beside which another range does most of the work."""
        def requests(path, seed, hits):
            host = made_host.Host(seed)
            for _ in range(120):
                host.begin("request")
                host.host(90_000)
                if host.rng.random() >= hits:
                    host.copy(1, 1 << 19)
                    for _ in range(6):
                        host.kernel("conv(float*)", 90_000)
                        host.kernel("relu(float*)", 10_000)
                    host.copy(2, 4000)
                host.end()
            host.write(path, made_host.STARTED + seed * 60 * 10**9)

        def epochs(path, seed, validation):
            host = made_host.Host(seed)
            for i in range(120):
                for name in ["train_step"] + ["val_step"] * (validation if i % 20 == 19 else 0):
                    host.begin(name)
                    host.copy(1, 1 << 19)
                    for _ in range(4):
                        host.kernel("forward(float*)", 90_000)
                        host.kernel("backward(float*)", 200_000 if name == "train_step" else 5_000)
                    host.finish(4)
            host.write(path, made_host.STARTED + seed * 60 * 10**9)

        for write, how, name in (requests, (0, 0.5), "request"), (epochs, (5, 200), "train_step"):
            paths = [self.folder / f"{name}-{i}.sqlite" for i in range(2)]
            for seed, path in enumerate(paths):
                write(path, seed + 1, how[seed])
            page = self.folder / f"{name}.html"
            gapline("report", *paths, "-q", "-o", page)
            expected = self.report(*paths)
            for sides in ((f"{page}:baseline", paths[1]), (paths[0], f"{page}:fixed")):
                found = self.report(*sides)
                for key in "result", "speedup", "ci95", "same_work":
                    self.assertEqual(found["verdict"][key], expected["verdict"][key], (sides, key))
                for side in "baseline", "fixed":
                    self.assertEqual((found[side]["steps"]["name"], found[side]["steps"]["found"]), (name, expected[side]["steps"]["found"]))

    def test_loops_of_reports(self):
        """Steps that were found in a report, beside marked ones: which side comes first changes nothing but the direction."""
        def write(path, seed, mark, solve, times, each=1):
            host = made_host.Host(seed, marked=mark)
            for _ in range(60):
                host.begin("iteration")
                for _ in range(each):
                    for _ in range(times):
                        host.kernel("solve(float*)", solve)
                        host.kernel("look(float*)", 20_000)
                    host.kernel("update(float*)", 400_000)
                    host.copy(2, 8)
                host.finish(8)
            host.write(path, made_host.STARTED + seed * 60 * 10**9)

        old, page = [self.folder / f"loops-{i}.sqlite" for i in range(2)], self.folder / "loops.html"
        for seed, path in enumerate(old):
            write(path, seed + 1, False, 200_000, 12)
        gapline("report", *old, "-q", "-o", page)
        for solve, times, each, results in (120_000, 12, 1, ["faster", "slower"]), (200_000, 6, 1, ["inconclusive"] * 2), (200_000, 12, 2, ["inconclusive"] * 2):
            new = self.folder / "loops-new.sqlite"
            write(new, 3, True, solve, times, each)
            found = [self.report(*sides)["verdict"] for sides in ((f"{page}:baseline", new), (new, f"{page}:baseline"))]
            self.assertEqual([v["result"] for v in found], results)
            self.assertEqual(found[0]["same_work"], found[1]["same_work"])
            self.assertEqual(*(sorted(f["id"] for f in v["differences"]) for v in found))
            self.assertNotIn("different kernels", str(found))

    def test_histories_of_reports(self):
        """A side of a report is a commit's run: what its profile says, kept as its step tables."""
        db, page, trend = self.folder / "history.db", self.folder / "kept.html", self.folder / "trend.json"
        for name, note in (("tiny", "a side of a report."), ("stepless", "found beside the other side")):
            db.unlink(missing_ok=True)
            page.write_bytes(self.pages[name])
            profile = self.folder / f"{name}-fixed.sqlite"
            add = lambda commit, *what: gapline("history", "add", "--db", db, "--commit", commit, *what)
            self.assertEqual(add("profile", profile).returncode, 0)
            for commit, side in (("report", f"{page}:fixed"), ("report", f"{page}:fixed"), ("other", f"{page}:baseline")):
                made = add(commit, side)
                self.assertEqual(made.returncode, 0, made.stderr)
            said = gapline("history", "report", "--db", db, "--json", trend, "-o", self.folder / "trend.html")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(note, said.stdout)
            self.assertIn(note, (self.folder / "trend.html").read_text())
            commits = {c["commit"]: c for c in json.loads(trend.read_text())["commits"]}
            self.assertIn(note, commits["report"].pop("note"))
            self.assertIsNone(commits["profile"].pop("note"))
            self.assertEqual({**commits["report"], "commit": "profile"}, commits["profile"])
            both = self.report("@commit:other", "@commit:report", "--db", db)
            plain = self.report(self.folder / f"{name}-baseline.sqlite", profile)
            self.assertEqual(both["verdict"]["speedup"], plain["verdict"]["speedup"])
            self.report("@commit:other", "@commit:report", "--db", db, "--loop", "x", status=2, said=["--loop needs the profiles"])
            for what, words in (([f"{page}:baseline"], "stands alone"), ([profile], "stands alone"), ([f"{page}:fixed", profile], "whole side"), ([page], "name one, ")):
                made = add("report", *what)
                self.assertEqual(made.returncode, 2, made.stderr)
                self.assertIn(words, made.stderr)
            self.assertEqual(add("report", "--force", f"{page}:baseline").returncode, 0)
            if name == "tiny":
                self.assertIn("commit other is not used: --step needs the profiles", gapline("history", "report", "--db", db, "--step", "step", "-q").stderr)
            self.assertIn("gapline save keeps profiles", gapline("save", "--db", db, "main", f"{page}:fixed").stderr)
            page.write_bytes(self.pages[name].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>"))
            made = add("edited", f"{page}:fixed")
            self.assertEqual((made.returncode, "disagrees with its evidence" in made.stderr), (3, True))

    def test_reports_that_are_no_inputs(self):
        page, other = self.folder / "in.html", self.folder / "tiny-fixed.sqlite"
        page.write_bytes(self.pages["tiny"])
        self.report(page, other, status=2, said=[f"name one, {page}:baseline or {page}:fixed"])
        for option, value in (("--step", "step"), ("--loop", "train"), ("--warmup", 3), ("--perfetto", self.folder / "p.json"), ("--baseline-ncu", "x.csv"), ("--fixed-ncu", "x.csv")):
            self.report(f"{page}:baseline", other, option, value, status=2, said=[f"{option} needs the profiles", "; name those"])
        for command in (["show"], [], ["stats"], ["export", "-o", "x"], ["digest", "-o", "x"], ["scrub", "-o", "x"]):
            found = gapline(*command, f"{page}:fixed")
            self.assertEqual((found.returncode, "sides of reports are for gapline report" in found.stderr), (3, True), found.stderr)
        self.report("--baseline", f"{page}:baseline", "--baseline", other, "--fixed", other, status=2, said=["whole side"])
        self.report(f"{page}:middle", other, status=3, said=["in.html:middle"])
        page.write_bytes(self.pages["tiny"].replace(b"<h2>Verdict</h2>", b"<h2>Truth</h2>"))
        self.report(f"{page}:baseline", other, status=3, said=["disagrees with its evidence"])
        page.write_bytes(self.pages["tiny"][:9000])
        self.report(f"{page}:baseline", other, status=3, said=["is cut off"])
        whole = self.folder / "in.html:fixed"  # a file of the whole name wins
        whole.write_bytes((self.folder / "tiny-fixed.sqlite").read_bytes())
        found = self.report(self.folder / "tiny-baseline.sqlite", whole)
        self.assertEqual(found["fixed"]["data"]["notes"], [])
        whole.unlink()


class Hostile(Reports):
    def refused(self, path, reason, *args):
        """The file, the reason and the next step, for people and for programs."""
        found = gapline(*args, "--errors", "json")
        with self.subTest(args[0], reason=reason):
            self.assertEqual(found.returncode, 3, found.stdout + found.stderr)
            said = json.loads(found.stderr.splitlines()[-1])["error"]
            self.assertEqual(said["file"], str(path), said)
            self.assertIn(reason, said["text"])
            self.assertIn(said["id"], ("empty", "damaged", "not_a_profile", "missing"), said)
            self.assertTrue(said["next"], said)

    def in_its_place(self, path, reason):
        """A file where a report belongs, of every command that takes one."""
        claim, whole, out = self.folder / "claim.json", self.folder / "whole.html", self.folder / "refused"
        whole.write_bytes(self.pages["tiny"])
        claim.write_text('{"schema": "gapline-claim/1", "result": "faster"}')
        for args in (["verify", path], ["claim", path, "-o", out], ["check", claim, path], ["report", f"{path}:fixed", f"{whole}:fixed", "-q", "-o", out],
                     ["report", f"{whole}:baseline", f"{path}:baseline", "-q", "-o", out], ["history", "add", "--commit", "a", "--db", out, f"{path}:fixed"]):
            if reason != "disagrees" or args[0] != "verify":
                self.refused(path, reason, *args)
        self.assertFalse(out.exists())

    def test_hostile_reports(self):
        """Cut, newer, edited, empty, of another kind, unpacked to gigabytes."""
        page, path = self.pages["tiny"], self.folder / "hostile.html"
        raw, whole, begin = zlib.decompress(packed(page).split(b"\n", 1)[1]), packed(page), EVIDENCE.search(page).start(2)
        line = lambda rules, version, length: b"gapline table %d %s %d 00000000\n" % (rules, version.encode(), length)
        for data, reason in ((b"", "is empty"), (page[:5000], "is cut off"), (page[: begin + 500], "is cut off"), (page[:-9], "is cut off"), (b"no page", "is no page"),
                             (b"\0" + page, "is no page"), (b"SQLite format 3\0", "is no page"), (EVIDENCE.sub(b"", page), "carries no evidence"),
                             (b'{"schema": "gapline/3", "evidence": "abc', "is no JSON"), (b'{"schema": "gapline/3"}', "carries no evidence"),
                             (page.replace(b"<h2>Verdict", b"<h2>Truth"), "disagrees"), (with_evidence(page, b""), "damaged"), (with_evidence(page, whole[:-50]), "checksum"),
                             (with_evidence(page, whole[:99] + bytes([whole[99] ^ 1]) + whole[100:]), "checksum"), (with_evidence(page, repacked(raw[:-9])), "damaged"),
                             (with_evidence(page, repacked(bytes(4 << 20))), "damaged"), (with_evidence(page, b"gapline digest 1\n"), "does not begin"),
                             (with_evidence(page, repacked(raw, line(999, "9.9.9", 10))), "made by gapline 9.9.9, whose rules are newer"),
                             (with_evidence(page, repacked(raw, line(1, VERSION, 999_999_999))), "at most 4194304"),
                             (with_evidence(page, line(1, VERSION, 4 << 20) + zlib.compress(bytes(1 << 28))), "checksum")):
            path.write_bytes(data)
            self.in_its_place(path, reason)

    def test_gigabytes(self):
        large, page = self.folder / "large", self.folder / "small.html"
        page.write_bytes(self.pages["tiny"])
        for data in (b"", self.pages["tiny"][:600], b'{"schema": "gapline/3", "evidence": "', b'{"schema": "gapline-claim/1", "result": "'):
            with large.open("wb") as file:
                file.write(data)
                file.truncate(1 << 30)
            self.in_its_place(large, "more than 4 MB")
            self.refused(large, "is longer than any claim", "check", large, page)

    def test_hostile_claims(self):
        page, claim = self.folder / "small.html", self.folder / "hostile.json"
        page.write_bytes(self.pages["tiny"])
        gapline("claim", page, "-o", claim, "--force")
        whole = claim.read_bytes()
        for data, reason in ((b"", "is empty"), (whole[:99], "is no claim"), (whole[:-3], "is no claim"), (whole + b"\0", "is no claim"), (self.pages["tiny"], "is no claim"),
                             (whole.replace(b"claim/1", b"claim/2"), "is no claim that this gapline reads but gapline-claim/2"), (bytes(9 << 20), "is longer than any claim"),
                             (b'{"schema": "gapline-claim/1"}', "claims nothing"), (b'{"schema": "gapline-claim/1", "speed": 2}', "claims 'speed', which nothing can show"),
                             (b'{"schema": "gapline-claim/1", "gates": [1]}', "a gate of the claim is no text"), (b'{"schema": "gapline-claim/1", "gates": ["fast"]}', "fast")):
            claim.write_bytes(data)
            self.refused(claim, reason, "check", claim, page)

    def test_files_that_are_none(self):
        for path, status in ((self.folder / "missing.html", 3), (self.folder, 3)):
            found = gapline("verify", path)
            self.assertEqual(found.returncode, status, found.stderr)
            self.assertIn(str(path), found.stderr)
        self.assertEqual(gapline("verify").returncode, 2)


if __name__ == "__main__":
    unittest.main()
