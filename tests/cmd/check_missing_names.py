#!/usr/bin/env python3
"""Profiles that lost names: what depends on them is open, and never a number that looks known.

    check_missing_names.py GAPLINE

A synchronisation is told by its call's name. Where that is missing, a gate on their number must not pass with 0.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
import tiny_profile

SYNCS, FEW, IDLE, KERNELS = "syncs_per_step<0.5", "syncs_per_step<2", "idle:sync_return<50%", "kernels_per_step>1"
SYNC_NAMES = "DELETE FROM StringIds WHERE value LIKE 'cuda%Synchronize%'"
LOST = {
    "nothing": (None, 0),
    "the table of names": ("DROP TABLE StringIds", 201),
    "names of synchronisations": (SYNC_NAMES, 1),
    "the texts of those": ("UPDATE StringIds SET value = '' WHERE value LIKE 'cuda%Synchronize%'", 1),
    "numbers of names": ("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = 999999 WHERE nameId = 4", 1),
}


def judge(gapline, folder, sql, both):
    for side, load in ("baseline", 9_000_000), ("fixed", 3_000_000):
        path = folder / f"{side}.sqlite"
        path.unlink(missing_ok=True)
        tiny_profile.write(path, steps=40, kernels=200, load=load, kernel=20_000, seed=load)
        if sql and (both or side == "fixed"):
            db = sqlite3.connect(path)
            db.execute(sql)
            db.commit()
            db.close()
    gates = [word for gate in (SYNCS, FEW, IDLE, KERNELS) for word in ("--gate", gate)]
    subprocess.run([gapline, "report", "baseline.sqlite", "fixed.sqlite", "--json", "out.json", "--require-comparable", "-q", *gates],
                   cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return json.loads((folder / "out.json").read_text())


def main():
    wrong = []

    def expect(condition, *what):
        if not condition:
            wrong.append(" ".join(map(str, what)))

    with tempfile.TemporaryDirectory(prefix="gapline-names-") as name:
        for title, (sql, a_step) in LOST.items():
            for both in (True, False) if sql else (True,):
                out = judge(sys.argv[1], pathlib.Path(name), sql, both)
                gates = {gate["name"]: gate for gate in out["verdict"]["gates"]}
                result = {gate: gates[gate]["result"] for gate in gates}
                work = out["verdict"]["same_work"]
                where = f"without {title}, {'both sides' if both else 'one side'}:"
                if not sql:
                    expect(result[SYNCS] == "failed" and result[FEW] == "passed" and result[IDLE] == "passed", where, result)
                    expect(work == "same" and result["require_comparable"] == "passed", where, work)
                    continue
                dropped = [fact["params"] for fact in out["fixed"]["data"]["dropped"]]
                lost = sum(row["rows"] for row in dropped if row["reason"] == "has no name" and row["table"] == "StringIds")
                expect(lost >= 40 * a_step, where, lost, "rows have no name")
                expect(result[SYNCS] == result[IDLE] == "inconclusive", where, result)
                expect(work == "unknown" and result["require_comparable"] == "inconclusive", where, work, result)
                if a_step == 1:  # of 201 calls a step: what does not depend on them is known
                    expect(result[KERNELS] == "passed", where, result)
                    expect(result[FEW] == "passed", where, gates[FEW])
    print("\n".join(wrong) or f"names missing in {len(LOST) - 1} ways: nothing passes that depends on them")
    sys.exit(1 if wrong else 0)


main()
