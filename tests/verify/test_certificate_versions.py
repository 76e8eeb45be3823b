"""All versions of certificates: digest, canonical form, note, time, and the published schema."""

import copy
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from certificate_mutants import FIRST, SECOND, THIRD
from certificate_mutants import second as told_again
from certificates import places, resealed, shape
from jsonschema import Draft202012Validator

import exactdp
from exactdp import Certificate, CertificateError, ParameterError, PureDP, RenyiDP, audit, check
from exactdp.cli.main import main
from exactdp.common.moment import now
from exactdp.mechanisms import RandomizedResponse
from exactdp.mechanisms.pairs.pair import FinitePair
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker.__main__ import main as alone
from exactdp.verify.checker.canonical import canonical, loaded
from exactdp.verify.checker.schema import schema_text

NAMES = [path.stem for path in FIRST]
LAPLACE = "discrete-laplace:scale=3,sensitivity=2"
QUICK = ("additive", "refuted", "response", "pair", "fixed-size", "laplace", "protocol-masked")


@pytest.fixture(scope="module")
def made():
    """A certificate with all that the second version adds."""
    at = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    return exactdp.certify(LAPLACE, "pure:1", note="for the DPO", at=at)


def second(path):
    """The file, told again in the second version."""
    return told_again(json.loads(path.read_text()))


# -- the first version ----------------------------------------------------------------------------


def test_there_is_one_of_each_kind():
    held = [json.loads(path.read_text()) for path in FIRST]
    kinds = {use["mechanism"]["kind"] for one in held for use in one["uses"]}
    assert kinds == {"additive", "randomized-response", "pair", "sampled", "fixed-size",
                     "continuous", "vector", "rounded-vector"}  # fmt: skip
    assert {one["claim"]["kind"] for one in held} == {"pure", "approx", "rdp", "zcdp", "gdp"}
    assert {one["version"] for one in held} == {1, 2}
    assert not any("digest" in one for one in held)


@pytest.mark.contract
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=() if p.stem in QUICK else pytest.mark.slow) for p in FIRST],
    ids=NAMES,
)
def test_the_first_version_still_checks_and_says_the_same_in_the_second(path):
    read = Certificate.read(path)
    assert read.check().valid
    with pytest.raises(ParameterError, match="first version"):
        read.noted("x")
    assert exactdp.check(second(path)).valid


@pytest.mark.contract
@pytest.mark.parametrize("path", SECOND + THIRD, ids=lambda path: f"{path.parent.stem}-{path.stem}")
def test_what_later_versions_hold_besides_still_checks(path):
    content = json.loads(path.read_text())
    shape().validate(content)
    assert exactdp.check(content).valid


@pytest.mark.contract
@pytest.mark.parametrize("path", FIRST, ids=NAMES)
def test_the_schema_accepts_both_versions(path):
    shape().validate(json.loads(path.read_text()))
    shape().validate(second(path))


# -- the digest -----------------------------------------------------------------------------------


@pytest.mark.contract
def test_the_digest_is_that_of_anybody_who_follows_the_description(made):
    content = made.content
    named = content.pop("digest")
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == named == made.digest
    assert hashlib.sha256(text.replace("1", "2").encode()).hexdigest() != named


def test_the_canonical_form_is_that_of_rfc_8785():
    given = {"ü": '€$\u000f\nA\'B"\\\\"/', "a": [None, 10, {"z": "", "b": []}]}
    assert canonical(given).decode() == (
        '{"a":[null,10,{"b":[],"z":""}],"ü":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    with pytest.raises(CertificateError, match="surrogate"):
        canonical("\ud800")


@pytest.mark.contract
def test_whatever_is_changed_breaks_the_digest_or_the_shape(made):
    """note and made too, though nothing proves them."""
    assert check(made.content).valid
    for path, old in places(made.content):
        content = made.content
        place = content
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = f"{old}1" if isinstance(old, str) else "7"
        found = check(content)
        assert not found.valid
        if path[0] in ("note", "made", "digest") and path[-1] != "at":
            assert "digest" in found.reason


@pytest.mark.contract
def test_note_and_maker_change_nothing_that_is_proved(made):
    other = made.noted("another", datetime(2030, 1, 1, tzinfo=UTC))
    assert other.digest != made.digest and other.check().valid
    same = [{k: v for k, v in each.content.items() if k not in ("note", "made", "digest")}
            for each in (made, other)]  # fmt: skip
    assert same[0] == same[1]
    forged = {**made.content, "verdict": "REFUTED"}
    assert "digest" in check(forged).reason
    assert "does not follow" in check(resealed(forged)).reason


@pytest.mark.contract
def test_order_and_blanks_do_not_matter(made, tmp_path):
    file = tmp_path / "other.json"
    file.write_text(json.dumps(dict(reversed(made.content.items()))))
    assert Certificate.read(file).digest == made.digest and Certificate.read(file).check().valid


def test_a_name_that_is_no_text_has_no_certificate():
    odd = FinitePair(("a", "\ud800"), ("0.5", "0.5"), ("0.4", "0.6"))
    with pytest.raises(ValueError, match="surrogate"):
        certificate_of(audit(odd, PureDP(1)))


# -- odd files ------------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("note", ""), ("note", "a\nb"), ("note", "x" * 1001), ("note", "\x1b[2J"), ("note", None),
        ("note", "\u202etxt"), ("note", "\ud800"), ("made", None), ("made", {"by": "x"}),
        ("made", {"by": "x", "version": "1", "at": "2026-02-30T00:00:00Z"}),
        ("made", {"by": "x", "version": "1", "at": "2026-02-03"}),
        ("made", {"by": "x", "version": "1", "who": "y"}), ("made", {"by": "x", "version": 1}),
        ("digest", "0" * 63), ("digest", "G" * 64), ("digest", None), ("because", "x"),
    ],
)  # fmt: skip
def test_odd_fields_are_refused_by_name(made, field, value):
    found = check({**made.content, field: value})
    assert found.reason.startswith("not a certificate")
    inner = {"at", "version", "who"} & set(value) if isinstance(value, dict) else {field}
    assert any(name in found.reason for name in inner or {field})


@pytest.mark.contract
@pytest.mark.parametrize("field", ["made", "digest", "neighbours", "orientation"])
def test_nothing_may_be_left_out(made, field):
    content = made.content
    del content[field]
    found = check(content)
    assert found.reason.startswith("not a certificate") and repr(field) in found.reason
    assert not shape().is_valid(content)


def test_a_field_given_twice_is_named(made, tmp_path, capsys):
    file = tmp_path / "twice.json"
    file.write_text(made.text.replace('"hints": {}', '"hints": {}, "hints": {}'))
    with pytest.raises(CertificateError, match="twice: 'hints'"):
        Certificate.read(file)
    assert alone([str(file)]) == 2 and "twice: 'hints'" in capsys.readouterr().out
    with pytest.raises(CertificateError, match="twice"):
        loaded(b'{"a": {"b": 1, "b": 1}}')


# -- the time -------------------------------------------------------------------------------------


def test_the_time_is_utc_to_the_second_and_may_be_set(made, monkeypatch):
    assert made.content["made"]["at"] == "2026-01-31T23:59:59Z"
    east = datetime(2026, 1, 31, 23, 59, 59, 999, tzinfo=timezone(timedelta(hours=5)))
    assert made.noted(at=east).content["made"]["at"] == "2026-01-31T18:59:59Z"
    with pytest.raises(ParameterError, match="zone"):
        made.noted(at=datetime(2026, 1, 1))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert exactdp.certify("randomized-response:epsilon=1", "pure:1", note="x").content[
        "made"
    ]["at"] == "1970-01-02T00:00:00Z"  # fmt: skip
    for odd in ("", "-1", "1.5", "٣", "9" * 30, "999999999999"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", odd)
        with pytest.raises(ParameterError, match="SOURCE_DATE_EPOCH"):
            now()


def test_without_a_time_the_same_audit_gives_the_same_bytes():
    texts = {certificate_of(audit(RandomizedResponse(1), RenyiDP(2, 1))).text for _ in range(2)}
    assert len(texts) == 1 and '"at"' not in texts.pop()


@pytest.mark.contract
def test_note_on_the_command_line(tmp_path, capsys):
    call = ["audit", "randomized-response:epsilon=1", "--claim", "pure:1"]
    file = tmp_path / "x.json"
    assert main([*call, "--certificate", str(file), "--note", "Zoë says so"]) == 0
    capsys.readouterr()
    assert main(["check", str(file)]) == 0
    assert "note, not checked: Zoë says so" in capsys.readouterr().out
    for words in (["--note", "x"], ["--note", "a\nb", "--certificate", str(file)]):
        assert main([*call, *words]) == 2
        assert "--note" in capsys.readouterr().err


# -- the schema -----------------------------------------------------------------------------------


def test_the_schema_is_a_schema_and_is_printed(capsys):
    Draft202012Validator.check_schema(json.loads(schema_text()))
    for command in (main, lambda words: alone(words[1:])):
        assert command(["check", "--schema"]) == 0
        assert capsys.readouterr().out == schema_text()
    assert main(["check"]) == 2


@pytest.mark.contract
@pytest.mark.parametrize("path", FIRST, ids=NAMES)
def test_the_schema_refuses_another_structure(path):
    """A field more, a field less, a number in place of a text: anywhere."""
    content = second(path) if path.stem in QUICK else json.loads(path.read_text())
    for where in _objects(content):
        for change in (lambda place: place.update(odd=1), _without_one, _with_numbers):
            changed = copy.deepcopy(content)
            place = changed
            for key in where:
                place = place[key]
            change(place)
            assert not shape().is_valid(changed), (where, changed)


def _objects(content, path=()):
    if isinstance(content, dict | list):
        if isinstance(content, dict) and path != ("hints",):
            yield path
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from _objects(value, (*path, key))


def _without_one(place):
    del place[next(iter(place))]


def _with_numbers(place):
    key = next(iter(place))
    place[key] = 1 if isinstance(place[key], str) else "1"


# -- close calls ----------------------------------------------------------------------------------


@pytest.mark.contract
def test_close_calls_are_told_apart(tmp_path, capsys):
    """A divergence of exactly 2, and a claim that is 1e-30 below."""
    file, claim = tmp_path / "close.json", "pure:1." + 30 * "9"
    call = ["audit", "discrete-laplace:scale=1/2", "--claim", claim, "--certificate", str(file)]
    assert main(call) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "REFUTED" in told and "above the claim by at least 1.0e-30" in told
    assert main([*call, "--json"]) == 1
    excess = json.loads(capsys.readouterr().out)["excess"]
    assert excess["lower"] == excess["upper"] == "1e-30"
    for checker in (main, lambda words: alone(words[1:])):
        assert checker(["check", str(file)]) == 0
        out = capsys.readouterr().out
        assert f"REFUTED: ({claim[5:]}, 0)-diff" in out
        assert "above what is claimed by at least 5e-31" in out
        low = Fraction(re.search(r"lies in \[([\d.]+),", out)[1])
        assert Fraction(claim[5:]) < low < 2
