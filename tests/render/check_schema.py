"""check_schema.py BUILD_TESTS_DIR [RESULT.json ...]

The JSON of every fabricated analysis, and of the result files given, fits docs/reference/gapline.schema.json, and its sums hold:
budget parts add up to the period, idle rows to the idle time, phases' costs to the period, the waterfall to the two
headline periods."""

import copy
import json
import math
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("check_schema: python3-jsonschema is missing; apt-get install python3-jsonschema")

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "gapline.schema.json"
FIXTURES = ["pair", "devices", "no-steps", "inconclusive", "self", "stopwatch", "hostile", "large", "one"]


def check_sum(what, parts, total):
    """Equal to double rounding, on the scale of the numbers added."""
    scale = math.fsum(abs(p) for p in parts) + abs(total)
    assert abs(math.fsum(parts) - total) <= 1e-9 * scale, f"{what}: {math.fsum(parts)} is not {total}"


def check_budget(what, budget):
    part = budget["per_step"]
    check_sum(f"{what} parts", [part[k] for k in ("compute", "comm_exposed", "copy_exposed", "idle")], part["period"])
    check_sum(f"{what} idle rows", [row["ms_per_step"] for row in budget["idle"]], part["idle"])
    for row in budget["idle"]:
        check_sum(f"{what} opened", row["opened_ms_per_step"].values(), row["ms_per_step"])


def warmed(run):
    """Periods left out: of a run whose first step counts there are as many periods as steps, else one less."""
    return max(run["warmup"] - (len(run["period_ms"]) < run["steps"]), 0)


def check_side(what, side):
    check_budget(f"{what} budget", side["budget"])
    for device in side["devices"]:
        check_budget(f"{what} device {device['id']}", device)
    for key in side["budget"]["per_step"]:
        mean = math.fsum(d["per_step"][key] for d in side["devices"]) / len(side["devices"])
        check_sum(f"{what} mean of {key}", [side["budget"]["per_step"][key]], mean)
    check_sum(f"{what} phases", [p["cost_ms_per_step"] for p in side["phases"]], side["budget"]["per_step"]["period"])
    assert [p["rank"] for p in side["phases"]] == list(range(1, len(side["phases"]) + 1)), f"{what}: ranks"
    assert side["steps"]["runs"] == len(side["runs"])
    if side["steps"]["found"]:
        kept = [p for run in side["runs"] for p in run["period_ms"][warmed(run) :]]
        assert len(kept) == side["steps"]["measured"], f"{what}: {len(kept)} periods kept"
        assert min(kept) == side["steps"]["period_ms"]["min"] and max(kept) == side["steps"]["period_ms"]["max"]


def check_sums(result):
    if "profile" in result:
        return check_side("profile", result["profile"])
    for key in ("baseline", "fixed"):
        check_side(key, result[key])
        if result["waterfall"]:
            parts = [part[f"{key}_ms"] for part in result["waterfall"]]
            check_sum(f"waterfall of {key}", parts, (result[key]["steps"]["period_ms"] or result[key]["steps"]["span_ms"])["mean"])
    for part in result["waterfall"]:
        check_sum(str(part["part"]), [part["baseline_ms"], part["delta_ms"]], part["fixed_ms"])
    verdict = result["verdict"]
    if verdict["ci95"]:
        assert verdict["ci95"][0] <= verdict["speedup"] <= verdict["ci95"][1]
    alike = verdict["same_work"] in ("same", "same_job")
    assert alike or not verdict["comparable"]
    assert bool(verdict["differences"]) == (verdict["same_work"] != "same" or not verdict["comparable"]), verdict["differences"]


def check_that_it_can_fail(validator, good):
    """A schema that accepts everything would pass all of the above."""
    for break_it in (
        lambda r: r.update(schema="gapline/2"),
        lambda r: r["verdict"]["reasons"][0].update(id="made_up"),
        lambda r: r["verdict"]["reasons"][0].update(severity="mild"),
        lambda r: r["verdict"].update(reasons=["a sentence"]),
        lambda r: r["verdict"].update(result="better"),
        lambda r: r["verdict"].update(ci95=[1.0]),
        lambda r: r["verdict"]["gates"][0].update(result="none"),
        lambda r: r["verdict"]["gates"][0].pop("text"),
        lambda r: r["baseline"]["budget"]["per_step"].update(idle="1"),
        lambda r: r["fixed"]["devices"][0]["idle"][0].update(cause="bad_luck"),
        lambda r: r.update(unknown=1),
        lambda r: r.pop("diagnosis"),
    ):
        bad = copy.deepcopy(good)
        break_it(bad)
        assert not validator.is_valid(bad), "the schema accepts what it must not"
    bad = copy.deepcopy(good)
    bad["baseline"]["budget"]["per_step"]["compute"] += 0.001
    try:
        check_sums(bad)
    except AssertionError:
        return
    raise AssertionError("a budget that does not add up went unseen")


def main():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    texts = {}
    for name in FIXTURES:
        program = [str(pathlib.Path(sys.argv[1]) / "print_fixture"), name, "json"]
        texts[name] = subprocess.run(program, check=True, stdout=subprocess.PIPE).stdout
    for path in sys.argv[2:]:
        texts[path] = pathlib.Path(path).read_bytes()
    for name, text in texts.items():
        result = json.loads(text)
        for error in validator.iter_errors(result):
            sys.exit(f"{name}: {'/'.join(map(str, error.path))}: {error.message[:300]}")
        try:
            check_sums(result)
        except AssertionError as error:
            sys.exit(f"{name}: {error}")
    check_that_it_can_fail(validator, json.loads(texts["pair"]))
    one = json.loads(texts["one"])
    one["findings"][0]["cost_ms_per_step"]["fixed"] = 1.0
    assert not validator.is_valid(one), "one profile has no fixed side"
    print(f"check_schema: {len(texts)} results fit the schema, and their sums hold")


main()
