"""Transcripts of index policies: what is written checks, and what is tampered with does not."""

import json

import pytest

from exactdp.bandit.algorithms import (
    DIST_CDP_KLUCB,
    DIST_DP_KLUCB_DOUBLING,
    DIST_GAUSS_KLUCB,
    DIST_RDP_KLUCB,
)
from exactdp.bandit.instances import easy
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.transcript import write_transcript
from exactdp.bandit.transcript_check import check_transcript

RUNS = 2
SLOW = pytest.param(DIST_GAUSS_KLUCB, False, marks=pytest.mark.slow)


def written(folder, algorithm, growth=3):
    path = folder / "run.jsonl"
    setting = Setting(3, 3000, "0.9", growth=growth)
    results = run(Config(algorithm, setting, easy(3)), RUNS, 5, transcript=True)
    write_transcript(path, results, {"runs": RUNS, "seed": 5})
    return path.read_text().splitlines()


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return written(tmp_path_factory.mktemp("transcripts"), DIST_DP_KLUCB_DOUBLING)


@pytest.fixture
def outcome(tmp_path):
    def check(lines):
        path = tmp_path / "changed.jsonl"
        path.write_text("".join(line + "\n" for line in lines))
        return check_transcript(path)

    return check


def changed(lines, place, **changes):
    new = list(lines)
    new[place] = json.dumps(json.loads(new[place]) | changes, ensure_ascii=False)
    return new


def test_an_honest_transcript_checks(honest, outcome):
    found = outcome(honest)
    assert found.valid, found.reason
    assert f"{len(honest) - 1 - RUNS} releases in 2 runs follow" in found.reason
    assert "audit" not in found.reason
    names = {"run", "batch", "arm", "users", "precision", "accuracy", "modulus", "evidence"}
    assert set(json.loads(honest[1])) == names | {"released", "estimate", "index"}
    assert json.loads(honest[0])["radius"] == "certified"


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("released", lambda value: value + 1, " is "),
        ("released", lambda value: True, "must be numbers"),
        ("estimate", lambda value: value + 1e-9, "estimate is"),
        ("index", lambda value: value - 1e-11, "index is"),
        ("index", lambda value: value + 1e-11, "index is"),
        ("index", lambda value: 1, "index is"),
        ("index", lambda value: None, "index is"),
        ("modulus", lambda value: value + 1, "modulus is"),
        ("evidence", lambda value: "0" * 16, "evidence is"),
        ("arm", lambda value: value + 1, "not due"),
    ],
)
def test_a_changed_line_is_found(name, value, reason, honest, outcome):
    for place in (1, 5):
        found = outcome(changed(honest, place, **{name: value(json.loads(honest[place])[name])}))
        assert not found.valid
        assert reason in found.reason


@pytest.mark.slow_cases("dist-cdp-klucb-True")
@pytest.mark.parametrize(
    ("algorithm", "proved"),
    [(DIST_RDP_KLUCB, True), (DIST_CDP_KLUCB, True), SLOW],
    ids=lambda each: getattr(each, "name", None),
)
def test_other_noise_checks_and_what_is_changed_is_found(algorithm, proved, outcome, tmp_path):
    """By certificates; what spends (epsilon, delta) in sums so wide is audited again."""
    lines = written(tmp_path, algorithm, 30)
    found = outcome(lines)
    assert found.valid, found.reason
    assert ("0 certificates" in found.reason) != proved
    assert ("audits repeated" in found.reason) != proved
    one = json.loads(lines[4])
    for name, reason in (("released", " is "), ("index", "index is"), ("modulus", "modulus is")):
        more = 1e-9 if name == "index" else 1
        found = outcome(changed(lines, 4, **{name: one[name] + more}))
        assert not found.valid and reason in found.reason
    head = json.loads(lines[0])
    for name, value in (("scaling", "3"), ("epsilon", "0.8"), ("delta", "2e-6")):
        found = outcome(changed(lines, 0, setting=head["setting"] | {name: value}))
        assert not found.valid  # also delta, on which those do not depend: by the chain
        assert ("chain" in found.reason) == (name == "delta" and proved)
    other = DIST_RDP_KLUCB if algorithm is not DIST_RDP_KLUCB else DIST_CDP_KLUCB
    assert not outcome(changed(lines, 0, algorithm=other.name)).valid


@pytest.mark.slow
def test_missing_repeated_and_exchanged_lines_are_found(honest, outcome):
    for place in range(1, len(honest), 5):
        assert not outcome(honest[:place] + honest[place + 1 :]).valid
        assert not outcome(honest[: place + 1] + honest[place:]).valid
    assert not outcome([*honest[:1], honest[2], honest[1], *honest[3:]]).valid
    assert "complete runs" in outcome(honest[:-1]).reason
    assert "pulls are" in outcome(changed(honest, -1, pulls=[3000, 0, 0])).reason
    last = json.loads(honest[-2])
    early = [*honest[:-2], honest[-1]]
    assert f"although batch {last['batch']} is due" in outcome(early).reason


def test_another_setting_is_found(honest, outcome):
    head = json.loads(honest[0])
    for name, value in (("epsilon", "0.8"), ("confidence", "0.2"), ("growth", "4"), ("arms", "4")):
        assert not outcome(changed(honest, 0, setting=head["setting"] | {name: value})).valid
    assert "radius is" in outcome(changed(honest, 0, radius="paper")).reason
    assert not outcome(changed(honest, 0, algorithm="dp-klucb")).valid
    assert not outcome(changed(honest, 0, algorithm="dist-dp-se")).valid
    assert not outcome(changed(honest, 0, evidence=head["evidence"][1:])).valid


def test_the_largest_bound_decides(honest):
    bounds, last = {}, None
    for line in map(json.loads, honest[1:]):
        if line["run"] != last:
            bounds, last = dict.fromkeys(range(3), 2.0), line["run"]
        if "pulls" not in line:
            assert line["arm"] == max(bounds, key=bounds.get)
            bounds[line["arm"]] = line["index"]
