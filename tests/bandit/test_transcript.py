"""Transcripts: what is written checks, and what is tampered with does not."""

import hashlib
import json

import pytest

from exactdp import Certificate, OutOfTimeError
from exactdp.bandit.algorithms import (
    DIST_DP_SE,
    DP_KLUCB,
    DP_SE,
    KL_UCB_DOUBLING,
    LDP_SE,
    SDP_AE,
    SE,
    SHUFFLE_DP_SE,
    VB_SDP_AE,
)
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.instances import Fixed, easy
from exactdp.bandit.plan import Radius
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.transcript import chained, write_transcript
from exactdp.bandit.transcript_check import TranscriptError, check_transcript
from exactdp.verify.checker import Outcome


def written(path, algorithm=DIST_DP_SE, runs=2, radius=Radius.PAPER, **numbers):
    setting = Setting(3, numbers.pop("horizon", 4000), "0.9", delta="0.1", **numbers)
    results = run(Config(algorithm, setting, easy(3), radius), runs, 5, transcript=True)
    write_transcript(path, results, {"runs": runs, "seed": 5})
    return [json.loads(line) for line in path.read_text().splitlines()]


def outcome(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return check_transcript(path)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return written(tmp_path_factory.mktemp("transcripts") / "run.jsonl")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "changed.jsonl"


def copy(lines):
    return json.loads(json.dumps(lines))


@pytest.mark.slow_cases("algorithm5")
@pytest.mark.parametrize(
    "algorithm",
    [LDP_SE, SHUFFLE_DP_SE, DP_SE, SE, SDP_AE, VB_SDP_AE, DP_KLUCB, KL_UCB_DOUBLING],
)
def test_transcripts_of_other_algorithms_check(algorithm, file):
    horizon = 400 if algorithm is VB_SDP_AE else 4000
    written(file, algorithm, horizon=horizon, growth=3)
    found = check_transcript(file)
    assert found.valid, found.reason


@pytest.mark.parametrize("algorithm", [DIST_DP_SE, LDP_SE, DP_KLUCB, KL_UCB_DOUBLING])
def test_runs_in_lock_step_check(algorithm, file):
    """Runs of one instance, which are recorded together."""
    setting = Setting(3, 3000, "0.9", growth=3)
    config = Config(algorithm, setting, Fixed(instance("coins:0.7,0.6,0.2")))
    write_transcript(file, run(config, 4, 1, transcript=True), {"runs": 4})
    found = check_transcript(file)
    assert found.valid, found.reason
    numbers = [json.loads(line)["run"] for line in file.read_text().splitlines()[1:]]
    assert numbers == sorted(numbers) and set(numbers) == set(range(4))


def test_certified_radii_are_computed_again(file):
    lines = written(file, radius=Radius.CERTIFIED)
    assert lines[0]["radius"] == "certified"
    assert check_transcript(file).valid
    lines[0]["radius"] = "paper"
    assert "radius is" in outcome(file, lines).reason


def test_an_honest_transcript_checks(honest, file):
    found = outcome(file, honest)
    assert found.valid
    releases = len(honest) - 3
    assert f"{releases} releases in 2 runs follow" in found.reason


def test_a_run_left_out_is_noticed_by_the_head(honest, file):
    """Header and runs written anew together follow as before: only the head tells."""
    whole = outcome(file, honest)
    assert check_transcript(file, whole.head).valid
    lines = copy([line for line in honest if line.get("run") != 1])
    below = "".join(json.dumps(line) + "\n" for line in lines[1:])
    lines[0] |= {"runs": 1, "sha256": hashlib.sha256(below.encode()).hexdigest()}
    assert "chain" in outcome(file, lines).reason  # the header alone does not do
    lines[1:] = chained(lines[0], lines[1:])
    below = "".join(json.dumps(line) + "\n" for line in lines[1:])
    lines[0]["sha256"] = hashlib.sha256(below.encode()).hexdigest()
    shortened = outcome(file, lines)
    assert shortened.valid and "left out" in shortened.unchecked
    assert whole.unchecked and not check_transcript(file, shortened.head).unchecked
    assert shortened.head != whole.head
    noticed = check_transcript(file, whole.head)
    assert not noticed.valid and whole.head != noticed.head == shortened.head


def test_what_is_undecided_is_not_called_wrong(honest, file, monkeypatch):
    monkeypatch.setattr(Certificate, "check", lambda _: Outcome(False, "too close", True))
    with pytest.raises(OutOfTimeError, match="too close"):
        outcome(file, honest)


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "a\u202eb", "a\u200bb", "x" * 10**5])
def test_what_somebody_else_wrote_is_told_in_a_line_that_is_seen(text, honest, file):
    evidence = copy(honest)
    evidence[0]["evidence"][0] |= {"id": text, "note": "x"}
    field, named = copy(honest), copy(honest)
    field[1][text] = 1
    named[0]["instance"] = text
    for lines in (evidence, field, named):
        found = outcome(file, lines)
        assert not found.valid and len(found.reason) < 10_000 and found.reason.isprintable()


@pytest.mark.parametrize("seed", ["1", 1.0, True, None, [], {}])
def test_a_seed_is_a_whole_number(seed, honest, file):
    assert "seed" in outcome(file, _with(honest, 0, seed=seed)).reason


def test_every_line_says_what_was_released(honest):
    head, line = honest[0], honest[1]
    names = {"run", "batch", "arm", "users", "precision", "accuracy", "modulus"}
    assert set(line) == names | {"evidence", "radius", "released", "estimate", "stays"}
    certificates = {entry["id"]: entry["certificate"] for entry in head["evidence"]}
    protocol = certificates[line["evidence"]]["protocol"]
    for name in ("users", "precision", "accuracy", "modulus"):
        assert str(line[name]) == protocol[name]
    for entry in certificates.values():
        assert Certificate(json.dumps(entry)).check().valid


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("released", lambda value: abs(value - 1), "estimate is"),
        ("released", lambda value: -1, "must be between 0 and"),
        ("released", lambda value: 0.5, "must be whole numbers"),
        ("estimate", lambda value: value + 1e-9, "estimate is"),
        ("stays", lambda value: not value, "stays is"),
        ("radius", lambda value: value * 0.999, "radius is"),
        ("radius", lambda value: value * 1.001, "radius is"),
        ("users", lambda value: value + 1, "users is"),
        ("precision", lambda value: value + 1, "precision is"),
        ("accuracy", lambda value: value - 1, "accuracy is"),
        ("modulus", lambda value: value + 1, "modulus is"),
        ("evidence", lambda value: "0" * 16, "evidence is"),
        ("arm", lambda value: value + 1, "not due"),
        ("batch", lambda value: value + 1, "not due"),
    ],
)
def test_a_changed_line_is_found(name, value, reason, honest, file):
    for place in (1, 5, len(honest) // 3):
        lines = copy(honest)
        lines[place][name] = value(lines[place][name])
        found = outcome(file, lines)
        assert not found.valid
        assert reason in found.reason


@pytest.mark.slow
def test_missing_and_repeated_lines_are_found(honest, file):
    for place in range(1, len(honest), 7):
        assert not outcome(file, honest[:place] + honest[place + 1 :]).valid
        assert not outcome(file, honest[: place + 1] + honest[place:]).valid
    assert "complete runs" in outcome(file, honest[:-1]).reason
    assert "complete runs" in outcome(file, _with(honest, 0, runs=10**30)).reason
    assert "complete runs" in outcome(file, _with(honest, 0, runs=1)).reason
    assert "pulls are" in outcome(file, _with(honest, -1, pulls=[4000, 0, 0])).reason


def _with(lines, place, **changes):
    changed = copy(lines)
    changed[place].update(changes)
    return changed


def test_a_setting_with_gaps_is_refused(honest, file):
    for name in honest[0]["setting"]:
        lines = copy(honest)
        del lines[0]["setting"][name]
        assert not outcome(file, lines).valid


def test_certificates_of_something_else_are_found(honest, file):
    weaker = copy(honest)
    weaker[0]["setting"]["epsilon"] = "0.8"  # what was run was certified for 0.9
    assert not outcome(file, weaker).valid
    none = copy(honest)
    none[0]["evidence"].pop(0)
    assert "no evidence of a batch of 2 users" in outcome(file, none).reason
    forged = copy(honest)
    forged[0]["evidence"][0]["certificate"]["claim"]["epsilon"] = "1/2"
    assert not outcome(file, forged).valid
    more = copy(honest)
    extra = copy(more[0]["evidence"][0])
    extra["id"] = "0123456789abcdef"
    more[0]["evidence"].append(extra)
    assert "evidence of nothing" in outcome(file, more).reason


def test_what_is_no_transcript_is_refused(file):
    for text in ("", "{}\n", "no json\n", '["exactdp bandit transcript"]\n'):
        file.write_text(text)
        with pytest.raises(TranscriptError):
            check_transcript(file)
    with pytest.raises(TranscriptError):
        check_transcript(file.with_name("nothing.jsonl"))


def test_a_line_that_is_no_json_is_no_transcript(honest, file):
    outcome(file, honest)
    file.write_text(file.read_text()[:-20])
    with pytest.raises(TranscriptError, match=f"line {len(honest)}: not JSON"):
        check_transcript(file)


def test_audits_are_repeated(file, monkeypatch):
    from exactdp.bandit import evidence

    monkeypatch.setattr(evidence, "_in_reach", lambda protocol, demand: False)
    evidence.evidence.cache_clear()
    lines = written(file)
    evidence.evidence.cache_clear()
    assert "audit" in lines[0]["evidence"][0]
    assert "audits repeated" in check_transcript(file).reason
    lines[0]["evidence"][0]["audit"]["measured"]["upper"] = "0.1"
    assert "does not come out again" in outcome(file, lines).reason


def test_what_is_checked_is_named(honest, file):
    found = outcome(file, honest)
    assert found.about == {"algorithm": "dist-dp-se", "epsilon": "0.9", "runs": 2}
    written(file, SE)
    assert check_transcript(file).about["epsilon"] is None


@pytest.mark.slow_cases("1")
@pytest.mark.parametrize("place", [0, 1, -1])
def test_unknown_and_missing_fields_are_refused(place, honest, file):
    found = outcome(file, _with(honest, place, note="all is well"))
    assert not found.valid and "note" in found.reason
    for name in honest[place]:
        lines = copy(honest)
        del lines[place][name]
        if place == 0 and name in ("format", "version"):
            with pytest.raises(TranscriptError):
                outcome(file, lines)
        elif name not in ("instance", "seed"):
            assert not outcome(file, lines).valid, name
    lines = copy(honest)
    lines[0]["evidence"][0]["note"] = "all is well"
    assert "note" in outcome(file, lines).reason


def test_a_field_twice_is_refused(honest, file):
    texts = [json.dumps(line) for line in honest]
    for place in (0, 1, len(texts) - 1):
        changed = [*texts]
        changed[place] = '{"run": 0, ' + ('"run": 0, ' if place == 0 else "") + changed[place][1:]
        file.write_text("\n".join(changed) + "\n")
        with pytest.raises(TranscriptError, match="twice"):
            check_transcript(file)


@pytest.mark.quick_cases(2)
@pytest.mark.slow_cases("1", "None")
@pytest.mark.parametrize("value", [True, 1.0, "1", None, [], {}, float("nan"), 10**400])
def test_numbers_of_another_type_are_found(value, honest, file):
    for place, names in ((1, honest[1]), (-1, honest[-1])):
        for name in names:
            if honest[place][name] == value and type(honest[place][name]) is type(value):
                continue
            try:
                assert not outcome(file, _with(honest, place, **{name: value})).valid, name
            except TranscriptError:
                assert value != value


def test_what_is_no_regular_file_is_refused(file):
    import os

    os.mkfifo(file)
    for path in (file, file.parent, "/dev/zero"):
        with pytest.raises(TranscriptError):
            check_transcript(path)


def _sealed(lines):
    """With the digest of what stands below the header."""
    below = "".join(json.dumps(line) + "\n" for line in lines[1:])
    return [lines[0] | {"sha256": hashlib.sha256(below.encode()).hexdigest()}, *lines[1:]]


@pytest.mark.parametrize("change", [{"instance": "hard"}, {"seed": 6}, {"runs": 1}, {"runs": 3}])
def test_every_run_is_tied_to_what_the_header_says(change, honest, file):
    lines = copy(honest)
    lines[0].update(change)
    if change.get("runs") == 1:
        lines = [line for line in lines if line.get("run", 0) == 0]
    found = outcome(file, _sealed(lines))
    assert not found.valid
    assert "chain" in found.reason or "complete runs" in found.reason or "seed" in change


def test_runs_of_another_transcript_are_not_taken(honest, file, tmp_path):
    """A run whose number and lines would fit."""
    other = copy(written(tmp_path / "other.jsonl", runs=3))
    lines = [*copy(honest[:1]), *(line for line in other[1:] if line["run"] < 2)]
    assert "chain" in outcome(file, _sealed(lines)).reason


def test_the_second_version_is_read_and_says_what_it_does_not_promise(honest, file):
    lines = copy(honest)
    lines[0]["version"] = 2
    assert "chain" in outcome(file, _sealed(lines)).reason
    for line in lines[1:]:
        line.pop("chain", None)
    found = outcome(file, _sealed(lines))
    assert found.valid
    assert "version 2 ties" in found.unchecked and "left out" in found.unchecked
    assert not check_transcript(file, found.head).unchecked
    lines[0]["version"] = 3
    assert "chain" in outcome(file, _sealed(lines)).reason
