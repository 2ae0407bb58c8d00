#!/usr/bin/env python3
"""run.json that can be shared: `gapline run` writes it, and the copy has none of the secrets that its commands hold.

    check_scrub_run.py GAPLINE INJECT_TESTS_FOLDER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GAPLINE, INJECT = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CUDA = {"LD_LIBRARY_PATH": f"{INJECT}/fake_driver:{INJECT}/fake_cupti", "GAPLINE_CUPTI": f"{INJECT}/fake_cupti/libcupti.so.13", "FAKE_EXACT": "1"}
# a word of the command, the secret in it, and what the copy says there
WORDS = (
    (["-p", "hunter2"], "hunter2", ["-p", "[secret B]"]),
    (["--passphrase", "correct horse"], "correct horse", ["--passphrase", "[secret C]"]),
    (["--api-key=Zm9vYmFy"], "Zm9vYmFy", ["--api-key=[secret D]"]),
    (["--passphrase", "hunter2"], "hunter2", ["--passphrase", "[secret B]"]),  # equal ones stay equal
    (["-pswordfish9"], "swordfish9", ["-p[secret E]"]),
    (["DB_PASS=xyzzy99"], "xyzzy99", ["DB_PASS=[secret F]"]),
    (["hf_" + "a1B2" * 8], "a1B2a1B2", ["[secret G]"]),
    (["https://alice:s3cr3t@pypi.example/x"], "s3cr3t", None),
    (["alice@hub.example"], "alice", ["[address A]"]),
    (["/home/alice/project/data.bin"], "/home/alice", None),
    (["10.1.2.3:29500"], "10.1.2.3", ["[address B]:29500"]),
    (["--batch-size", "64"], None, ["--batch-size", "64"]),
    (["--lr=0.125"], None, ["--lr=0.125"]),
    (["OMP_NUM_THREADS=16"], None, ["OMP_NUM_THREADS=16"]),
)


def scrub(path, copy, *options):
    done = subprocess.run([GAPLINE, "scrub", path, "-o", copy, *options], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def shape(value):
    """Everything but the texts."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else str if isinstance(value, str) else value


def written(folder):
    """By the command itself, on the stand-ins for the driver and CUPTI."""
    program = folder / "train.sh"
    program.write_text(f"#!/bin/sh\nexec {INJECT}/cuda_target steps\n")
    program.chmod(0o755)
    sides = []
    for _ in range(2):
        words = ["env", "HOME=/home/alice", str(program), "steps", *(word for words, _, _ in WORDS for word in words)]
        sides.append(" ".join(f"'{word}'" for word in words))
    done = subprocess.run([GAPLINE, "run", "-q", "--repeat=2", "--recorded=1", "-o", folder / "out", "--baseline", sides[0], "--fixed", sides[1]],
                          env=os.environ | CUDA, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "out" / "run.json"


def main():
    if not (INJECT / "fake_cupti").exists():
        print("check_scrub_run: skipped, CUPTI's headers were not there")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, copy = written(folder), folder / "copy.json"
        before, was = path.read_bytes(), json.loads(path.read_text())
        status, said, error = scrub(path, copy)
        assert status == 0 and re.search(r"\n\d+ texts were changed, which held paths, ", said), (status, said, error)
        assert path.read_bytes() == before and path.stat().st_mode & 0o777 == 0o600, "the original"
        text = copy.read_text()
        now = json.loads(text)
        assert shape(now) == shape(was), "more than texts is another"
        assert now["schema"] == was["schema"] and now["runs"][0]["profile"] == was["runs"][0]["profile"], now["runs"][0]
        for words, secret, shown in WORDS:
            assert secret is None or secret not in text, (secret, text)
            if shown:
                command = now["commands"]["baseline"]
                assert any(command[i : i + len(shown)] == shown for i in range(len(command))), (shown, command)
        for secret in "alice", str(folder), "hub.example":
            assert secret not in text, (secret, text)
        assert now["commands"]["baseline"] == now["commands"]["fixed"]
        assert scrub(path, copy)[0] == 2 and scrub(path, copy, "--force", "-q", "--hide", "steps") == (0, "", ""), "--force"
        assert '"steps"]' not in copy.read_text() and json.loads(copy.read_text())["commands"]["baseline"][3] == "[word A]"
        for other in '{"schema": "gapline/2"}', "[1]", "{", text[: len(text) // 2]:
            path.write_text(other)
            status, said, error = scrub(path, folder / "none.json")
            assert status == 3 and not (folder / "none.json").exists(), (other[:40], status, said, error)
    print(f"{len(WORDS)} kinds of words in run.json")
    return 0


sys.exit(main())
