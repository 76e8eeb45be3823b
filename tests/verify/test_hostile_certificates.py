"""Files that somebody else wrote: refused in one line, whatever they hold, and in bounded time."""

import copy
import json
import random
import sys
import unicodedata

import pytest
from certificate_fields import PAIR, ROUNDED
from certificate_mutants import second, sources
from certificates import check, edited, places, resealed, shape

from exactdp import Certificate, CertificateError
from exactdp.cli.main import main
from exactdp.verify.checker import Outcome
from exactdp.verify.checker import check as checked
from exactdp.verify.checker.__main__ import main as alone
from exactdp.verify.checker.deadline import time_limit
from exactdp.verify.checker.shape import _HIDDEN
from exactdp.verify.checker.statement import UNPROVED, read

NOISE = {
    "kind": "additive",
    "law": {"name": "skellam", "variance": "9"},
    "sensitivity": "1",
    "modulus": "11",
}
BASE = {
    "format": "exactdp certificate",
    "version": 1,
    "uses": [{"mechanism": PAIR, "times": "2"}, {"mechanism": NOISE, "times": "1"}],
    "claim": {"kind": "rdp", "order": "2", "epsilon": "3"},
    "verdict": "VERIFIED",
    "measured": {"lower": "0", "upper": "3"},
    "hints": {},
}
DEEP: list = []
for _ in range(100_000):
    DEEP = [DEEP]
ODD: list[object] = [
    None, True, 0, -1, 10**5000, 0.5, float("nan"), float("inf"), [], {}, [[]], DEEP, "", " ",
    "nan", "inf", "-inf", "-1", "0", "1/0", "0/1", "1e", "1e9999", "1e-9999", "1e10000",
    "1e99999999999", "9" * 4000, "9" * 4301, "0." + "3" * 4301, "1/" + "7" * 4301,
    "0." + "3" * 3900, "1/" + "7" * 3900, "\ud800", "\n", "٣", "1" * 10_000_000,
    ["1"] * 1_000_000, {"\ud800\n" * 100: 1}, {"x" * 10**6: 1},
]  # fmt: skip


def _one_line(outcome):
    assert isinstance(outcome, Outcome)
    assert "\n" not in outcome.reason and len(outcome.reason) < 1000
    outcome.reason.encode("utf-8")


@pytest.mark.contract
def test_the_plain_one_is_valid():
    assert check(BASE).valid


@pytest.mark.parametrize(
    "kind", ["pure", "approx", "rdp", pytest.param("zcdp", marks=pytest.mark.slow)]
)
def test_odd_values_anywhere_are_refused_or_judged(kind):
    claims = {"pure": {"epsilon": "9"}, "approx": {"epsilon": "9", "delta": "0.1"},
              "rdp": {"order": "2", "epsilon": "9"}, "zcdp": {"rho": "9"}}  # fmt: skip
    content = {**BASE, "claim": {"kind": kind, **claims[kind]}}
    drawn = random.Random(kind)
    every = [(path, value) for path, _ in places(content) for value in ODD]
    every += [((key,), value) for key in content for value in ODD]
    for path, value in drawn.sample(every, 120):
        _one_line(check(edited(content, path, value), 5))


def test_odd_values_in_vectors_that_are_rounded_are_refused_or_judged():
    content = _with(ROUNDED, "2", {"kind": "rdp", "order": "2", "epsilon": "9"}, "9")
    content |= {"neighbours": "add-remove", "orientation": "fixed"}
    assert check(content).valid
    inside = [path for path, _ in places(content) if path[0] == "uses"]
    every = [(path, value) for path in inside for value in ODD]
    for path, value in random.Random("rounded").sample(every, 100):
        _one_line(check(edited(content, path, value), 5))


@pytest.mark.parametrize("value", ODD[:4] + ODD[5:])
def test_anything_for_a_whole_certificate_is_refused(value):
    found = checked(value)
    assert not found.valid
    _one_line(found)


def test_an_unknown_field_is_refused_by_name():
    found = check({**BASE, "note\n": "x"})
    assert not found.valid and "note" in found.reason
    _one_line(found)


def _read(tmp_path, text):
    file = tmp_path / "certificate.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Certificate.read(file)


@pytest.mark.contract
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 200_000,
        '{"a":' * 200_000,
        "9" * 4301,
        "1e99999",
        "NaN",
        b"\xff\xfe",
        json.dumps(BASE)[:-1],
        json.dumps(BASE)[:-1] + ', "verdict": "REFUTED"}',
        json.dumps(BASE).replace('"2"', "9" * 4301),
        json.dumps(BASE).replace('"2"', '"' + "9" * 4301 + '"'),
        json.dumps(BASE).replace('"2"', "NaN"),
        json.dumps(BASE).replace('"2"', "2"),
    ],
)
def test_files_that_are_no_certificates_are_refused(tmp_path, text):
    with pytest.raises(CertificateError):
        _read(tmp_path, text)


def _with(mechanism, times, claim, high, hints=None):
    content = copy.deepcopy(BASE)
    content.update(
        uses=[{"mechanism": mechanism, "times": times}],
        claim=claim,
        measured={"lower": "0", "upper": high},
        hints=hints or {},
    )
    return content


APPROX = {"kind": "approx", "epsilon": "1", "delta": "1e-9"}
LONG = {
    "a tiny grid": _with(
        {**NOISE, "law": {"name": "skellam", "variance": "10000"}, "modulus": None},
        "100000", APPROX, "1", {"step": "1e-4"},
    ),
    "a long recurrence": _with(
        {"kind": "additive", "law": {"name": "polya-difference", "shape": "0.5", "scale": "20000"},
         "sensitivity": "100000", "modulus": None}, "1", {"kind": "pure", "epsilon": "1"}, "1",
    ),
    "many shifts": _with(
        {"kind": "additive", "law": {"name": "binomial", "trials": "40000", "probability": "0.3"},
         "sensitivity": "100", "modulus": "500"}, "1", {"kind": "zcdp", "rho": "1"}, "1",
    ),
    "long fractions": _with(
        {**PAIR, "p": ["0." + "3" * 3900, "0." + "6" * 3899 + "7"]}, "64", APPROX, "1",
    ),
    "many primes": _with(
        {"kind": "additive", "law": {"name": "finite", "outcomes": [str(k) for k in range(20_000)],
         "masses": [f"1/{2 * k + 1}" for k in range(20_000)]}, "sensitivity": "1", "modulus": None},
        "1", APPROX, "1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG)
def test_what_takes_long_ends_as_undecided_or_refused(name):
    found = check(LONG[name], 0.5)
    assert not found.valid
    _one_line(found)


@pytest.mark.contract
def test_out_of_time_is_undecided_and_says_so():
    found = check(BASE, 0)
    assert found.undecided and not found.valid and found.reason == "out of time: undecided"
    assert not check(BASE).undecided


def test_time_for_a_part_is_never_more_than_for_the_whole():
    with time_limit(0):
        assert check(BASE, 60).undecided and check(BASE, None).undecided
    assert not check(BASE, None).undecided


@pytest.mark.parametrize("checker", [alone, lambda words: main(["check", *words])])
def test_what_is_not_proved_is_told_as_such(tmp_path, capsys, checker):
    file = tmp_path / "certificate.json"
    for content, words, proved in (
        (BASE, [], True),
        (edited(BASE, ("verdict",), "REFUTED"), [], False),
        (BASE, ["--claim", "pure:1"], False),
    ):
        file.write_text(json.dumps(content))
        assert checker([str(file), *words]) == (0 if proved else 1)
        said = capsys.readouterr().out.splitlines()
        assert any("(2, 3)-Rényi" in line for line in said)
        assert ("  " + UNPROVED in said) is not proved


@pytest.mark.parametrize("checker", [alone, lambda words: main(["check", *words])])
def test_what_is_neither_proved_nor_wrong_is_undecided(tmp_path, capsys, checker):
    """Exit code 3, and never 1: nothing is known to be wrong."""
    file = tmp_path / "certificate.json"
    wide = {**NOISE, "law": {"name": "skellam", "variance": "1e12"}, "modulus": None}
    file.write_text(json.dumps(_with(wide, "1", APPROX, "1")))
    assert checker([str(file)]) == 3
    said = capsys.readouterr().out.splitlines()
    assert "undecided: " in said[0] and "could not be re-established" in said[0]
    assert "  " + UNPROVED in said
    assert checker([str(file), "--claim", "pure:1"]) == 1  # whatever it is, it is not that


EXTREMES = ("1e9999", "1e-9999", "1e400", "1e99", "1e16", "0", "-1", "9" * 3999, "1/" + "7" * 3900,
            "nan", "inf", "٣", "½", ["1"], {"a": "1"}, 10**400, -1, 1e308)  # fmt: skip


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in sources() if name.endswith(" 2")])
def test_extremes_in_any_number_are_refused_or_judged(name, tmp_path, capsys):
    """No traceback, whatever a number is: in the checker, in what it says, in its command."""
    content, file = sources()[name], tmp_path / "certificate.json"
    numbers = [path for path, held in places(content)
               if isinstance(held, str) and held[:1].isdigit() and path != ("digest",)]  # fmt: skip
    every = [(path, value) for path in numbers for value in EXTREMES]
    of_claim = [each for each in every if each[0][0] == "claim" and each[1] == "1e9999"]
    for path, value in [*of_claim, *random.Random(name).sample(every, 12)]:
        file.write_text(json.dumps(edited(content, path, value)))
        assert alone([str(file), "--time", "2"]) in (0, 1, 2, 3)
        out, err = capsys.readouterr()
        assert not err and all(len(line) < 1000 for line in out.splitlines())
        if (path, value) in of_claim:
            assert "too large" in out or "at most 1" in out


def test_numbers_have_bounds_everywhere():
    """What no closer bound holds: claims, ends, hints, and what a logarithm is of."""
    law = {"name": "binomial", "trials": "30", "probability": {"factor": "1e-2", "log": "5"}}
    noise = {"kind": "additive", "law": law, "sensitivity": "1", "modulus": None}
    content = _with(noise, "1", {"kind": "rdp", "order": "2", "epsilon": "3"}, "3", {"step": "1"})
    read(content)
    numbers = [
        path for path, held in places(content) if isinstance(held, str) and held[0].isdigit()
    ]
    for path in numbers:
        with pytest.raises(CertificateError):
            read(edited(content, path, "1e9999"))


# -- what hides in a text -------------------------------------------------------------------------

_FILLERS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810)}
_FILLERS |= {*range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)}
_SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}  # though Cf


def _hides(code):
    kind = unicodedata.category(chr(code))
    return code in _FILLERS or (kind in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and code not in _SEEN)


def test_every_character_that_hides_is_refused_and_no_other():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) != "Cn":
            assert (_HIDDEN.search(chr(code)) is not None) is _hides(code), hex(code)


HIDDEN = ("a\u200bb", "a\u2060b", "\ufeffa", "a\u202eb", "a\u2066b", "a\U000e0041b", "a\u00ad")
HIDDEN += ("a\x1b[2Jb", "a\nb", "a\rb", "a\u2028b", "a\ufe0fb", "a\U000e0100b", "\u3164")


@pytest.mark.contract
@pytest.mark.parametrize("text", HIDDEN)
def test_hidden_characters_are_refused_in_every_text(text):
    content = second(_with(PAIR, "1", {"kind": "pure", "epsilon": "3"}, "3"))
    content = resealed({**content, "orientation": "fixed"})
    assert check(content).valid
    for path in (("note",), ("made", "by"), ("made", "version"), ("made", "at"),
                 ("uses", 0, "mechanism", "outcomes", 0)):  # fmt: skip
        found = check(edited(content, path, text))
        assert not found.valid and found.reason.startswith("not a certificate"), path
        assert not shape().is_valid(edited(content, path, text)) or ord(max(text)) > 0xFFFF


@pytest.mark.contract
@pytest.mark.parametrize("text", ["Zoë’s 2nd count, naïve", "数え上げ №7", "счёт", "😀 ok", "שלום"])
def test_what_is_seen_is_taken(text):
    content = second(_with(PAIR, "1", {"kind": "pure", "epsilon": "3"}, "3"))
    content = resealed({**content, "orientation": "fixed"})
    assert check(edited(content, ("note",), text)).valid


@pytest.mark.contract
def test_reading_a_file_counts_as_well(tmp_path, capsys):
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(BASE))
    assert alone([str(file), "--time", "1e-9", "--json"]) == 3
    (found,) = json.loads(capsys.readouterr().out)
    assert found["state"] == "undecided" and "says" not in found


@pytest.mark.contract
@pytest.mark.parametrize("number", ["1e-9999", "1.234567890123456789e-9999", "1/1" + "7" * 3900])
def test_numbers_of_thousands_of_digits_are_told_in_a_line(tmp_path, capsys, number):
    """Python writes no integers of more than 4,300 digits."""
    content = _with({"kind": "randomized-response", "epsilon": number, "delta": number}, "1",
                    {"kind": "pure", "epsilon": "3"}, "inf")  # fmt: skip
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(content))
    assert alone([str(file)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert "does not follow" in said[0] and all(len(line) < 200 for line in said)
