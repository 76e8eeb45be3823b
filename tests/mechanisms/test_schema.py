"""A key is one line at a field: every text that names a mechanism takes it from there."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from attrs import field, frozen

import exactdp
from exactdp import ParameterError
from exactdp.cli.main import main
from exactdp.exact.number import ExactInput, exact
from exactdp.ledger import canonical
from exactdp.mechanisms import catalogue
from exactdp.mechanisms.pair import ResponsePair
from exactdp.mechanisms.schema import YES_OR_NO, Calibrated, entry, key
from exactdp.mechanisms.spec import parse
from exactdp.report import explorer
from exactdp.verify.fields import mechanism_fields


def _odds(value: ExactInput) -> Fraction:
    """A number, 0 to 100."""
    return exact(value, "odds", at_least=0, at_most=100)


def _doubled(half: str) -> str:
    return str(2 * Fraction(half))


@frozen
class Coin:
    """Randomized response by another name."""

    odds: Fraction = field(
        converter=_odds,
        metadata=key(
            "log of the odds of the truth", spelt={"half": lambda half: str(2 * Fraction(half))}
        ),
    )
    biased: bool = field(default=False, metadata=key("is it another coin?", takes=YES_OR_NO))
    said_twice: Fraction = field(
        default=Fraction(0),
        converter=Fraction,
        metadata=key("how often it is said twice", takes="a number"),
    )

    kind = "coin"
    says = "a bit that is told as a coin says, by its own name"
    example = "odds=1"
    calibrated = Calibrated("odds", 0, "smaller odds are larger ones flipped again", falls=False)

    def pairs(self) -> tuple[ResponsePair, ...]:
        return (ResponsePair(self.odds, Fraction(0)),)

    def reversed(self) -> Coin:
        return self


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.NAMES, Coin.kind, entry(Coin))
    canonical.read.cache_clear()


def test_it_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "coin", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["example"], told["says"]) == ("coin", "coin:odds=1", Coin.says)
    assert {"audit", "calibrate", "ledger"} < set(told["commands"])
    assert [tuple(each.values()) for each in told["keys"]] == [
        ("odds", True, "a number, 0 to 100", None, "log of the odds of the truth"),
        ("biased", False, "yes or no", "no", "is it another coin?"),
        ("said-twice", False, "a number", "0", "how often it is said twice"),
    ]
    assert main(["list"]) == 0
    assert "a bit that is told as a coin says" in " ".join(capsys.readouterr().out.split())


def test_specs_are_read_and_refused_by_its_names() -> None:
    assert parse("coin:odds=1/2").mechanism == Coin(Fraction(1, 2))
    assert parse("coin:biased=yes,odds=1").mechanism == Coin(Fraction(1), True)
    assert parse("coin:half=1/4").mechanism == Coin(Fraction(1, 2))
    for spec, named in (
        ("coin", "odds missing; keys are odds, biased, said-twice"),
        ("coin:odds=101", "odds must be"),
        ("coin:odds=1,half=2", "'odds' is given twice"),
        ("coin:odds=1,biased=perhaps", "biased must be yes or no"),
        ("coin:odd=1", "'odd' is not known .did you mean 'odds'"),
    ):
        with pytest.raises(ParameterError, match=named):
            parse(spec)


def test_a_ledger_writes_it_in_one_spelling_and_reads_it_back() -> None:
    for released in ("coin:odds=1/2", "coin:biased=no,odds=0.50", Coin(Fraction(1, 2))):
        assert list(canonical.uses_of(released)) == ["coin:odds=0.5"]
    text = "coin:odds=1,biased=yes,said-twice=1/3"
    assert list(canonical.uses_of(parse(text).mechanism)) == [text]


def test_certificates_write_all_of_it() -> None:
    fields = {"kind": "coin", "odds": "0.5", "biased": "yes", "said-twice": "0"}
    assert mechanism_fields(Coin(Fraction(1, 2), True)) == fields


def test_it_is_calibrated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "coin", "--target", "pure:0.7", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["parameter"], told["value"], told["spec"]) == ("odds", "0.7", "coin:odds=0.7")
    assert told["least"]["proved"] is True
    assert main(["calibrate", "coin", "--target", "pure:0.7", "--sensitivity", "1"]) == 2


def test_a_page_asks_for_it_and_commands_take_it() -> None:
    assert next((i.key, i.needed) for i in explorer.read("name=coin").inputs) == ("odds", True)
    assert exactdp.audit("coin:odds=1", "pure:1").verified
