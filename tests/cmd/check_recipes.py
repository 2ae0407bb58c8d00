"""check_recipes.py GAPLINE INJECT_TESTS_FOLDER

The recipes of examples/ci: their scripts run on the profiles in examples/, and on a program that uses the stand-in for CUDA,
with a stand-in for curl that plays the forge and notes what it was asked; their YAML is well-formed, and has the keys that their safety rests on. Their git lines run several times in one checkout.
In CI (support/amount.py) a comment that is there already is written over with the result that is worth least alone."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from amount import ALL  # noqa: E402

CI = ROOT / "examples" / "ci"
PAIR = [ROOT / "examples" / "training-step" / f"{side}.sqlite.gz" for side in ("baseline", "fixed")]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "reference" / "gapline.schema.json").read_text(encoding="utf-8")))
SHA = "0123456789abcdef0123456789abcdef01234567"

# This very Python: what `env` finds may be a script that looks for one, ten times as long.
FORGE = f"#!{sys.executable} -IS" + r'''
import json, os, sys
arguments = sys.argv[1:]
headers = sys.stdin.read()
method = arguments[arguments.index("--request") + 1] if "--request" in arguments else "GET"
data = [a for i, a in enumerate(arguments) if i and arguments[i - 1] in ("--data", "--data-urlencode")]
url = next(a for a in arguments if a.startswith("http"))
body = json.load(open(data[0][1:])) if method != "GET" else data
with open(os.environ["FORGE_LOG"], "a") as log:
    log.write(json.dumps({"method": method, "url": url, "body": body, "headers": headers, "arguments": arguments}) + "\n")
answers = json.load(open(os.environ["FORGE_ANSWERS"]))
answer = next((answer for end, answer in answers.items() if url.split("?")[0].endswith(end)), {})
page = next((int(word[5:]) for word in url.split("?")[-1].split("&") if word.startswith("page=")), 0)
print(json.dumps(answer[100 * (page - 1):100 * page] if page else answer))
'''


def run(script, *arguments, **environment):
    keep = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run([script, *map(str, arguments)], env=keep | {k: str(v) for k, v in environment.items()}, capture_output=True, text=True)


NO_RESULT = "This push has no result"
GOOD = {"report.html", "result.json", "gaps.svg", "summary.md", "comment.md", "gapline.xml", "status"}
FAILED = GOOD - {"report.html", "gaps.svg"}


def is_faster(result):
    """Of runs of 30 ms each side's quickest: a machine that stalls once is not what is tried here."""
    baseline, fixed = (result[side]["steps"]["stopwatch_run_ms"] for side in ("baseline", "fixed"))
    return min(baseline) > min(fixed) if result["verdict"]["measured"] == "stopwatch" else result["verdict"]["speedup"] > 1


def check_output(out, status):
    """What is in the recipe's folder is of this job, and of a job that failed it says so."""
    assert (out / "status").read_text() == f"{status}\n"
    names = {path.name for path in out.iterdir()} - {"run", "broken.sqlite.gz"}
    assert names == (FAILED if status in (2, 3) else GOOD), f"{status}: {names}"
    SCHEMA.validate(json.loads((out / "result.json").read_text()))
    result, suites = json.loads((out / "result.json").read_text()), xml.etree.ElementTree.parse(out / "gapline.xml").getroot()
    comment, summary = ((out / name).read_text() for name in ("comment.md", "summary.md"))
    assert comment.startswith("<!-- gapline -->\n"), comment
    if status not in (2, 3):
        assert "error" not in result and is_faster(result), result
        return result
    assert result["result"] == "error" and result["schema"] == "gapline/3", result
    for wrong in {**result, "result": "faster"}, {**result, "verdict": {}}, {**result, "error": {**result["error"], "id": "oops"}}:
        assert not SCHEMA.is_valid(wrong), wrong
    (error,) = suites.iter("error")
    assert error.get("type") == result["error"]["id"] and suites.get("errors") == suites.get("tests") == "1"
    for text in comment, summary:
        assert "### Error: there is no result\n" in text and "aster" not in text, text
    return result["error"]


def check_profiles(gapline, folder):
    """One folder for all jobs: what one leaves is nowhere in what the next one shows."""
    summary, out, broken = folder / "step.md", folder / "out", folder / "broken.sqlite.gz"
    summary.touch()
    broken.write_bytes(PAIR[1].read_bytes()[:20000])
    good = "--min-speedup=1.5\n--gate=idle<5%"
    jobs = ((good, PAIR, 0), ("--gate=phase:data_load.cost>50%", PAIR, 1), ("--gate=phase:no such.cost<1%", PAIR, 2),
            (good, PAIR, 0), (good, (PAIR[0], broken), 3), ("--gate=phase:nope.cost<1%", PAIR, 4),
            (good, (PAIR[0], folder / "nothing.sqlite"), 3), ("--no-such-option", PAIR, 2))  # fmt: skip
    found = []
    for gates, pair, status in jobs:
        done = run(CI / "compare.sh", "--profiles", out, *pair, GAPLINE=gapline, GAPLINE_ARGS=gates, GITHUB_STEP_SUMMARY=summary,
                   REPORT_URL="https://example.org/report", SVG_URL="https://example.org/gaps.svg")  # fmt: skip
        assert done.returncode == status, f"{gates}: {done.returncode} {done.stderr}"
        found.append(check_output(out, status))
        if status in (2, 3):
            error = found[-1]
            # the help is a line of its own for people
            apart = error["next"] == "'gapline report --help' lists the options"
            said = ": ".join(filter(None, (error["file"], error["text"]))) + (f"; {error['next']}" if error["next"] and not apart else "")
            assert f"gapline: {said}\n" in done.stderr, (error, done.stderr)
    assert [error["id"] for error, job in zip(found, jobs) if job[2] in (2, 3)] == ["usage", "damaged", "missing", "usage"]
    assert found[4]["file"] == str(broken), found[4]
    texts = summary.read_text()
    assert texts.count("(<https://example.org/report>)") == 4 and texts.count("### Error: there is no result") == 4, "the step's summary"
    assert run(CI / "compare.sh", "--profiles", "x", GAPLINE=gapline).returncode == 2
    for fixed, named in (("b" * 40, True), ("b; touch x", False), ("", False)):
        done = run(CI / "compare.sh", "--profiles", out, *PAIR, GAPLINE=gapline, BASELINE_COMMIT="a" * 40, FIXED_COMMIT=fixed)
        pages = [(out / page).read_text() for page in ("summary.md", "comment.md")]
        assert all((f"\nCommits {'a' * 40} → {fixed}\n" in page) == named and ("Commits" in page) == named for page in pages), fixed
    done = run(CI / "compare.sh", "--profiles", out, *PAIR, GAPLINE=folder / "is not there")
    assert done.returncode == 127 and {path.name for path in out.iterdir()} == {"status", "comment.md"}, "gapline is not there"
    assert NO_RESULT in (out / "comment.md").read_text() and (out / "comment.md").read_text().startswith("<!-- gapline -->\n")
    done = run(CI / "compare.sh", "--profiles", out, *PAIR, GAPLINE=gapline)
    assert done.returncode == 0 and check_output(out, 0)


def check_run(gapline, inject, folder):
    """`gapline run` itself, on the stand-ins for the driver and for CUPTI (tests/inject)."""
    out, target = folder / "run's", inject / "cuda_target"
    cuda = {"LD_LIBRARY_PATH": f"{inject}/fake_driver:{inject}/fake_cupti", "GAPLINE_CUPTI": f"{inject}/fake_cupti/libcupti.so.13",
            "FAKE_EXACT": "1", "GAPLINE": gapline}  # fmt: skip
    options = "--repeat=2\n--recorded=1\n--quiet\n"
    slow, fast = f"{target} longer_steps", f"{target} steps"
    jobs = ((fast, "", 0, None), (fast, "--gate=phase:nope.cost<1%", 4, None), ("sh -c 'exit 7'", "", 3, "program_failed"),
            (fast, "", 0, None), ("true", "", 3, "not_recorded"), (f"true $(touch {out}/x)", "", 2, "usage"), ("is-not-there", "", 2, "usage"),
            (fast, "--gate=idle<<5%", 2, "usage"), (fast, "", 0, None))  # fmt: skip
    for fixed, gate, status, why in jobs:
        done = run(CI / "compare.sh", out, slow, fixed, GAPLINE_ARGS=options + gate, SVG_URL="https://example.org/gaps.svg", **cuda)
        assert done.returncode == status, f"{fixed}, {gate}: {done.returncode} {done.stderr}"
        found = check_output(out, status)
        assert found["id"] == why if why else found["verdict"]["measured"] == "stopwatch", (found, done.stderr)
        if not why:
            assert "(<https://example.org/gaps.svg>)" in (out / "summary.md").read_text()
            assert json.loads((out / "run" / "run.json").read_text())["commands"]["baseline"] == slow.split()


class Forge:
    def __init__(self, folder):
        (folder / "bin").mkdir()
        (folder / "bin" / "curl").write_text(FORGE)
        (folder / "bin" / "curl").chmod(0o755)
        self.folder, self.log = folder, folder / "log"

    def run(self, script, file, answers, *options, **environment):
        self.log.write_text("")
        (self.folder / "answers").write_text(json.dumps(answers))
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = run(script, *options, file, FORGE_LOG=self.log, FORGE_ANSWERS=self.folder / "answers", **(environment | {"PATH": path}))
        return done, [json.loads(line) for line in self.log.read_text().splitlines()]


def pull(number, sha=SHA, repository="fork/repo"):
    return {"number": number, "head": {"sha": sha, "repo": {"full_name": repository}}}


def check_github(forge, comment):
    script = CI / "github" / "comment.sh"
    event = dict(GH_TOKEN="secret", GITHUB_REPOSITORY="own/repo", HEAD_SHA=SHA, HEAD_REPOSITORY="fork/repo", HEAD_BRANCH="a b&state=all;$(touch x)")
    others = [{"id": 1, "user": {"login": "someone"}, "body": "<!-- gapline -->"}, {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "else"}]
    mine = {"id": 3, "user": {"login": "github-actions[bot]"}, "body": "<!-- gapline -->\nold"}
    pulls = [pull(5, "f" * 40), pull(6, repository="other/repo"), pull(7)]
    for comments, method, url in ((others, "POST", "/repos/own/repo/issues/7/comments"), ([*others, mine], "PATCH", "/repos/own/repo/issues/comments/3")):
        done, asked = forge.run(script, comment, {"/pulls": pulls, "/issues/7/comments": comments}, **event)
        assert done.returncode == 0, done.stderr
        assert asked[0]["body"] == ["head=fork:a b&state=all;$(touch x)", "state=open"], asked[0]
        assert asked[-1]["method"] == method and asked[-1]["url"].endswith(url), asked[-1]
        assert asked[-1]["body"] == {"body": comment.read_text()}
        assert all("secret" in request["headers"] and "secret" not in " ".join(request["arguments"]) for request in asked)
    done, asked = forge.run(script, comment, {"/pulls": pulls[:2]}, **event)
    assert done.returncode == 0 and len(asked) == 1, "no pull request has this head"
    # the job had no artifact: what is said of an older push does not stay
    done, asked = forge.run(script, comment.with_name("no such.md"), {"/pulls": pulls, "/issues/7/comments": [*others, mine]}, **event)
    assert done.returncode == 0 and asked[-1]["method"] == "PATCH" and NO_RESULT in asked[-1]["body"]["body"], done.stderr
    # a long conversation
    long = [others[0]] * 100 + [mine]
    done, asked = forge.run(script, comment, {"/pulls": pulls, "/issues/7/comments": long}, **event)
    assert done.returncode == 0 and asked[-1]["method"] == "PATCH" and len(asked) == 4, done.stderr
    there = {"/pulls": pulls, "/issues/7/comments": [*others, mine]}
    check_comment_on(forge, script, comment, {"/pulls": pulls, "/issues/7/comments": others}, there, event)
    bad = forge.folder / "bad.md"
    bad.write_text("<!-- gapline -->\n@team " + "$(touch x) `touch x` \" \\ " + "x" * 100000)
    done, asked = forge.run(script, bad, {"/pulls": pulls, "/issues/7/comments": []}, **event)
    text = asked[-1]["body"]["body"]
    assert len(text) <= 65536 and text.startswith("<!-- gapline -->\n@\u200bteam $(touch x) `touch x` \" \\ xx"), text[:100]
    bad.write_text("hello")
    done, asked = forge.run(script, bad, {}, **event)
    assert done.returncode == 1 and not asked, "what is not gapline's"
    link = forge.folder / "link.md"
    link.symlink_to(comment)
    done, asked = forge.run(script, link, {}, **event)
    assert done.returncode == 1 and not asked, "a link"
    done, asked = forge.run(script, comment, {}, **(event | {"HEAD_SHA": "x;touch y"}))
    assert done.returncode == 1 and not asked, "no commit"


# What a comparison says, and from which --comment-on on that is worth a new comment.
SAID = (
    ({"result": "error", "error": {}}, "regression"),
    ({"verdict": {"result": "slower", "gates": []}}, "regression"),
    ({"verdict": {"result": "inconclusive", "gates": [{"result": "failed"}]}}, "regression"),
    ({"verdict": {"result": "faster", "gates": [{"result": "passed"}]}}, "change"),
    ({"verdict": {"result": "unchanged", "gates": [{"result": "inconclusive"}]}}, "change"),
    ({"verdict": {"result": "unchanged", "gates": [{"result": "passed"}]}}, "always"),
    ({"verdict": {"result": "inconclusive", "gates": []}}, "always"),
)


def check_comment_on(forge, script, comment, answers, old, event):
    """A new comment where it is worth one; one that is there is never left as it was."""
    result, levels = comment.with_name("result.json"), ["always", "change", "regression"]
    kept = result.read_bytes()
    for said, worth in SAID:
        result.write_text(json.dumps(said))
        for on in levels:
            for there, method in ((False, "POST"), (True, None))[: 2 if ALL or said is SAID[-1][0] else 1]:
                done, asked = forge.run(script, comment, old if there else answers, "--comment-on", on, **event)
                assert done.returncode == 0, done.stderr
                written = [request for request in asked if request["method"] in ("POST", "PATCH", "PUT")]
                assert len(written) == (there or levels.index(on) <= levels.index(worth)), (said, on, there)
                assert not written or written[0]["method"] == method or there
    result.write_bytes(kept)
    done, asked = forge.run(script, comment, answers, "--comment-on", "never", **event)
    assert done.returncode == 2 and not asked and "regression, change or always" in done.stderr


def check_gitlab(forge, comment):
    script = CI / "gitlab" / "note.sh"
    job = dict(CI_API_V4_URL="https://gitlab.example/api/v4", CI_MERGE_REQUEST_IID="7", CI_MERGE_REQUEST_PROJECT_ID="9", GAPLINE_TOKEN="secret")
    others = [{"id": 1, "author": {"id": 5}, "body": "<!-- gapline -->"}, {"id": 2, "author": {"id": 4}, "body": "else"}]
    for notes, method, end in ((others, "POST", "/notes"), ([*others, {"id": 3, "author": {"id": 4}, "body": "<!-- gapline -->\nold"}], "PUT", "/notes/3")):
        done, asked = forge.run(script, comment, {"/user": {"id": 4}, "/notes": notes}, **job)
        assert done.returncode == 0, done.stderr
        assert asked[-1]["method"] == method and asked[-1]["url"].endswith("/projects/9/merge_requests/7" + end), asked[-1]
        assert asked[-1]["body"] == {"body": comment.read_text()}
    notes = [*others, {"id": 3, "author": {"id": 4}, "body": "<!-- gapline -->\nold"}]
    check_comment_on(forge, script, comment, {"/user": {"id": 4}, "/notes": others}, {"/user": {"id": 4}, "/notes": notes}, job)
    done, asked = forge.run(script, comment.with_name("no such.md"), {"/user": {"id": 4}, "/notes": [others[0]] * 100 + notes}, **job)
    assert done.returncode == 0 and asked[-1]["method"] == "PUT" and NO_RESULT in asked[-1]["body"]["body"], done.stderr
    calling = comment.with_name("calling.md")
    calling.write_text(comment.read_text() + "\n@everyone and a@b.c, `@team/x`\n")
    done, asked = forge.run(script, calling, {"/user": {"id": 4}, "/notes": others}, **job)
    assert done.returncode == 0 and not re.search("@[A-Za-z0-9]", asked[-1]["body"]["body"]), "it calls somebody"
    assert "@\u200beveryone" in asked[-1]["body"]["body"]
    done, asked = forge.run(script, comment, {}, **(job | {"GAPLINE_TOKEN": ""}))
    assert done.returncode == 0 and not asked, "a fork's pipeline has no token"
    done, asked = forge.run(script, comment, {}, **(job | {"CI_MERGE_REQUEST_IID": "7/../8"}))
    assert done.returncode == 1 and not asked


def check_yaml():
    import yaml

    def load(name):
        return yaml.load((CI / name).read_text(), Loader=yaml.BaseLoader)  # strings stay strings: `on` is a key

    action = load("github/action.yml")
    assert action["runs"]["using"] == "composite" and set(action["inputs"]) == {"baseline", "fixed", "options", "out", "gapline", "baseline-commit", "fixed-commit"}
    for step in action["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash"
    measure, comment, gitlab = load("github/gapline.yml"), load("github/gapline-comment.yml"), load("gitlab/gapline.gitlab-ci.yml")
    assert "pull_request" in measure["on"] and "pull_request_target" not in measure["on"] and measure["permissions"] == {"contents": "read"}
    job = measure["jobs"]["compare"]
    assert "environment" not in job, "it protects nothing: a fork's own version of the workflow runs"
    text = (CI / "github/gapline.yml").read_text()
    assert all(words in text for words in ("approval for all external contributors", "runner group", "ephemeral"))
    assert all(s["with"]["persist-credentials"] == "false" for s in job["steps"] if s.get("uses", "").startswith("actions/checkout"))
    used = next(s for s in job["steps"] if s.get("uses", "").startswith("OWNER/gapline"))
    assert set(used["with"]) <= set(action["inputs"])
    assert list(comment["on"]) == ["workflow_run"] and comment["on"]["workflow_run"]["workflows"] == [measure["name"]]
    for step in comment["jobs"]["comment"]["steps"]:
        if step.get("uses", "").startswith("actions/checkout"):
            assert "ref" not in step["with"] and "repository" not in step["with"], "the comment's job checks the pull request out"
    # an expression inside a script's text is code that a branch's name could write
    scripts = [step["run"] for file in (action["runs"], job, comment["jobs"]["comment"]) for step in file["steps"] if "run" in step]
    assert scripts and not any("${{" in script for script in scripts)
    for file in "github/action.yml", "github/gapline.yml", "github/gapline-comment.yml":
        for used in re.findall(r"uses: (?!OWNER)(\S+)(.*)", (CI / file).read_text()):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used[0]) and re.match(r" # v\d+\.\d+\.\d+", used[1]), f"{file}: {used} is not pinned"
    # the job that runs the merge request's code has no token, and the one that has it checks nothing out
    measure, post = gitlab["gapline"], gitlab["gapline-note"]
    assert "after_script" not in measure and "environment" not in measure and "TOKEN" not in json.dumps(measure)
    assert post["variables"] == {"GIT_STRATEGY": "none"} and post["needs"] == [{"job": "gapline", "artifacts": "true"}]
    assert post["environment"]["name"] == "gapline-note" and re.search(r":\d+\.\d+\.\d+$", post["image"])
    assert "ref=$CI_DEFAULT_BRANCH" in " ".join(post["script"]) and "gapline-out/comment.md" in measure["artifacts"]["paths"]
    for script in scripts + measure["script"] + post["script"]:
        assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0, script
    assert gitlab["gapline"]["artifacts"]["reports"]["junit"] == "gapline-out/gapline.xml" and gitlab["gapline"]["artifacts"]["when"] == "always"
    for name in re.findall(r"examples/ci/(\S+\.sh)", (CI / "gitlab" / "gapline.gitlab-ci.yml").read_text() + (CI / "jenkins" / "Jenkinsfile").read_text()):
        assert os.access(CI / name, os.X_OK), name
    jenkins = (CI / "jenkins" / "Jenkinsfile").read_text()
    assert jenkins.count("{") == jenkins.count("}") and "publishHTML" in jenkins and "gapline-out/gapline.xml" in jenkins


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], capture_output=True, text=True, check=True).stdout.strip()


def worktree_lines():
    """What each recipe does with git, as its own text: from the folder of the job, with the merge request's checkout in a folder of it."""
    import yaml

    steps = yaml.safe_load((CI / "github/gapline.yml").read_text())["jobs"]["compare"]["steps"]
    script = yaml.safe_load((CI / "gitlab/gapline.gitlab-ci.yml").read_text())["gapline"]["script"]
    jenkins = re.findall(r"sh '(.*)'", (CI / "jenkins/Jenkinsfile").read_text())
    return (("github", "fixed", next(step["run"] for step in steps if step.get("id") == "base")),
            ("gitlab", ".", "\n".join(line for line in script if "worktree" in line)),
            ("jenkins", ".", "\n".join(line for line in jenkins if "worktree" in line)))  # fmt: skip


def check_worktrees(folder):
    """Jobs after each other on one runner, whose checkout is cleaned between them as forges do it, or not."""
    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "train").write_text("0")
    git(origin, "add", "train")
    git(origin, "commit", "-qm", "0")
    for name, checkout, lines in worktree_lines():
        assert "worktree add" in lines, name
        job = folder / name
        job.mkdir()
        subprocess.run(["git", "clone", "-q", origin, job / checkout], check=True)
        for number, clean in enumerate(("nothing", "git clean", "nothing", "git clean", "nothing")):
            if clean != "nothing":
                git(job / checkout, "clean", "-ffdxq")
            git(origin, "commit", "-q", "--allow-empty", "-m", f"base {number}")
            base = git(origin, "rev-parse", "HEAD")
            git(job / checkout, "fetch", "-q", "origin")
            git(job / checkout, "checkout", "-q", "--detach", base)
            git(job / checkout, "commit", "-q", "--allow-empty", "-m", "change")
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", lines], cwd=job, capture_output=True, text=True, env={
                "PATH": os.environ["PATH"], "HOME": str(folder), "GITHUB_OUTPUT": str(job / "github_output"), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base})  # fmt: skip
            assert done.returncode == 0, f"{name}, job {number + 1} on this runner, {clean} cleaned: {done.stderr}"
            assert git(job / "baseline", "rev-parse", "HEAD") == base, f"{name}: the baseline is another commit"
            (job / "baseline" / "train").write_text("built")


def main():
    from shutil import which

    try:
        import yaml  # noqa: F401
    except ImportError:
        print("check_recipes: skipped, python3-yaml is missing")
        return 77
    if not which("jq"):
        print("check_recipes: skipped, jq is missing")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_yaml()
        check_worktrees(folder)
        gapline, inject = map(pathlib.Path, sys.argv[1:3])
        check_profiles(gapline, folder)
        if (inject / "fake_cupti").exists():
            check_run(gapline, inject, folder)
        else:
            print("check_recipes: no `gapline run`, as CUPTI's headers were not there")
        forge, comment = Forge(folder), folder / "out" / "comment.md"
        check_github(forge, comment)
        check_gitlab(forge, comment)
    print("compare.sh, comment.sh and note.sh run, YAML read")
    return 0


if __name__ == "__main__":
    sys.exit(main())
