#!/usr/bin/env python3
"""Deliberate changes of the code are noticed: each of those below makes the test beside it fail.

    check_changes.py FOLDER [PATTERN]
    check_changes.py                    only whether what is changed stands there, once

The first were made when no test noticed them, the others to see whether any do. Where code is moved or goes, its row does,
too. A copy of what is committed is built in FOLDER, with one change at a time; PATTERN: only changes of such files.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGES = [  # file below gen, what stands there, what takes its place, the test that has to fail
    ("charge/brought.c", "INPUT_PART = 20", "INPUT_PART = 5", "test_findings_kinds"),
    ("charge/gaps.c", "\tpiece.earlier = w->shift;\n", "", "test_causes_others"),
    ("steps/pattern_score.c", "return n >= RULE_NEARLY_ALL * of", "return n >= (1 - RULE_NEARLY_ALL) * of", "test_pattern"),
    ("steps/pattern_score.c", "(score.weight - named) * RULE_NEARLY_ALL", "(score.weight - named) * .6", "test_pattern_varied"),
    ("same/work.c", "(now_and_then && work_is_whole", "(false && now_and_then && work_is_whole", "test_compare"),
    ("find/findings.c", "return 2 * fmin(a, b) > fmax(a, b) && ", "return ", "test_findings"),
    ("trace/merge.c", "to->has_lock && from", "to->has_lock || from", "test_merge"),
    ("trace/clocks.c", "GIVES_WAY = 20e3", "GIVES_WAY = 20e5", "test_host_clocks"),
    ("read/db.h", "++scan->rows <= scan->most_rows", "++scan->rows >= 0", "test_reader_damage"),
    ("read/digest_reduce.c", "made->packed.n * SHRINKS < made->bytes.n && made->bytes.n > PLAIN", "false", "test_digest"),
    ("base/output.c", "if (!problem && fsync(fd) && errno", "if (!problem && false && errno", "check_failures"),
    ("capture/convert_cuda.c", "cupti <= 7 ?", "cupti <= 6 ?", "test_convert"),
    ("capture/suite_state.c", "run.number > SUITE_MANY", "run.number > 100 * SUITE_MANY", "test_suite"),
    ("render/lane.c", "\t\t\t\tnext = k + 1;\n", "", "test_lane"),
    ("render/lane.c", "\t\t\t\tspent += (double)(o->end - o->start);\n", "", "test_lane"),
    ("render/markdown.c", "MOST_BYTES = 65536", "MOST_BYTES = 165536", "check_ci_pages"),
    ("cmd/compare.c", "bool input = output_replaces_path(&c->outputs[o], c->ncu[s]) ||", "bool input =", "check_cli"),
    ("verdict/series.c", "DRIFT_T = 5.04", "DRIFT_T = 2.5", "test_series"),
    ("verdict/series.c", "DRIFT_SHARE = 0.02", "DRIFT_SHARE = 0.2", "test_series"),
    ("verdict/series.c", "EXTREME = 10; ", "EXTREME = 100; ", "test_series"),
    ("verdict/exchange.c", "until = end > until ? end : until;", "until = end;", "test_exchange"),
    ("verdict/stopwatch.c", "return !beyond && !within;", "return !beyond;", "test_looks"),
    ("charge/once.c", "n_steps > 100 * ONCE_ALIKE", "n_steps > 10000 * ONCE_ALIKE", "test_once"),
    ("charge/backlog.c", "SUDDEN = 0.75", "SUDDEN = 0.3", "test_backlog"),
    ("charge/backlog.c", "LEAST_SHARE = 0.03", "LEAST_SHARE = 0.3", "test_backlog"),
    ("charge/sharing.c", "running.n == 1 ?", "running.n >= 1 ?", "test_causes_others"),
    ("trend/changes.c", "Z = 4.4172", "Z = 3.2", "test_changes"),
    ("trace/link.c", "id > last ? id : last", "last", "test_link"),
    ("trace/ranks.c", "*n > 0 && *n < 8", "*n > 0 && *n < 2", "test_ranks"),
    ("trace/comm_kernels.c", " && !(o->flags[i] & OPF_GRAPH_NODE)", "", "test_comm_calls"),
    ("read/kineto_event.c", 'memchr("eE", text[0], 2)', 'memchr("e", text[0], 1)', "test_kineto"),
    ("base/json_scan.c", "s->room >= JSON_SCAN_LONGEST", "s->room > JSON_SCAN_LONGEST", "test_json_scan"),
    ("base/json_scan.c", "(code & 0xFC00) == 0xD800", "(code & 0xF800) == 0xD800", "check_tokens"),
    ("cmd/inputs_group.c", "if (k == SIZE_MAX) {", "if (k == SIZE_MAX || k != SIZE_MAX) {", "check_cli"),
    ("store/store.c", "n > STORE_NAME_MAX", "n > 100 * STORE_NAME_MAX", "check_save"),
    ("capture/stopwatch.c", "n / 10 % 10 != 1", "true", "test_stopwatch"),
    ("capture/place.c", "if (errno != EINVAL)", "if (true)", "check_failures"),
    ("capture/place.c", "if (!access(to, F_OK)) {", "if (false) {", "check_failures"),
    ("render/terminal.c", "(unsigned char)text[i + 1] < 0xA0", "false", "test_terminal"),
    ("trace/names.c", "(c >= 0x2066 && c <= 0x2069)", "false", "test_names"),
]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def tested(build, test):
    """Whether what the test needs is built, and the test passes."""
    targets = [test] if test.startswith("test_") else ["gapline", "print_fixture", "print_tokens", "standin_failing"]
    built = run("cmake", "--build", build, "--target", *targets)
    if built.returncode:
        return False, built.stdout[-2000:]
    done = run("ctest", "--test-dir", build, "-R", f"^{test}$", "--no-tests=error", "--timeout", "600")
    return "Skipped" not in done.stdout, done.returncode == 0


def misplaced():
    """Changes of what does not stand there once."""
    found = [(file, old, (ROOT / "gen" / file).read_text().count(old)) for file, old, _, _ in CHANGES]
    return [f"{file}: {old!r} stands there {n} times" for file, old, n in found if n != 1]


def main():
    wrong = misplaced()
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    if wrong or len(sys.argv) < 2:
        print(f"{len(CHANGES)} changes")
        return len(wrong) > 0
    folder = pathlib.Path(sys.argv[1]).resolve()
    changes = [change for change in CHANGES if len(sys.argv) < 3 or sys.argv[2] in change[0]]
    source, build = folder / "source", folder / "build"
    source.mkdir(parents=True, exist_ok=True)
    subprocess.run(f"git -C '{ROOT}' archive HEAD | tar -x -C '{source}'", shell=True, check=True)
    configured = run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DGAPLINE_NVCC=")
    assert configured.returncode == 0, configured.stdout
    for test in sorted({change[3] for change in changes}):
        assert tested(build, test) == (True, True), f"{test} does not pass without a change"
    wrong = 0
    for file, old, new, test in changes:
        path = source / "gen" / file
        text = path.read_text()
        path.write_text(text.replace(old, new))
        ran, passed = tested(build, test)
        path.write_text(text)
        if not ran or passed:
            print(f"{file}: {old.strip()!r} -> {new!r}: " + ("not noticed by " + test if ran else f"not tried: {passed}"))
            wrong += 1
    print(f"{len(changes)} changes, {wrong} not noticed")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
