"""Noise used K times, on a grid of losses: what is written, and that it is near the truth."""

import math
from fractions import Fraction

import pytest
from kernel_cases import theorem, with_tools

from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms.specs.spec import parse_use
from exactdp.verify.kernel import NotWrittenError
from exactdp.verify.kernel.forms import recognise
from exactdp.verify.kernel.stated import stated

SKELLAM = ("skellam:variance=100*100", "approx:4.8899,1e-6")


@pytest.mark.parametrize(
    ("spec", "claim", "statement"),
    [
        (*SKELLAM, "exists f, skellam (50 / 1) f /\\ noise_uses_dp f (Z.to_nat 100) 1 "
         "(48899 / 10000) (1 / 1000000)"),
        ("discrete-gaussian:sigma2=7/3,sensitivity=2*5", "approx:14.6,1e-4",
         "exists f, discrete_gaussian (7 / 3) f /\\ noise_uses_dp f (Z.to_nat 5) 2 (73 / 5) "
         "(1 / 10000)"),
        ("binomial:trials=400,probability=1/2*20", "approx:2.2,1e-6",
         "noise_uses_dp (binomial (Z.to_nat 400) (1 / 2)) (Z.to_nat 20) 1 (11 / 5) (1 / 1000000)"),
    ],
)  # fmt: skip
def test_what_is_said(pair, spec, claim, statement):
    text = theorem(spec, claim, pair)
    assert f"  {statement}.\n" in text
    form, numbers = recognise(text)
    ((mechanism, times),) = stated(form, numbers).uses
    assert times == int(spec.rpartition("*")[2]) and mechanism.modulus is None
    assert f"a sequence of {times} integer queries" in form.described(numbers)
    assert 0 < numbers["e"] < numbers["f"] and numbers["h"] + numbers["j"] <= 6_000
    assert math.log1p(1 / numbers["m"]) * numbers["j"] > Fraction(numbers["a"], numbers["b"])


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("spec", "claim"),
    [
        ("skellam:variance=100*100", "approx:4.88504,1e-6"),  # too near
        ("skellam:variance=100*100", "approx:4.8,1e-6"),  # refuted
        ("skellam:variance=100,modulus=64*3", "approx:3,1e-6"),
        ("skellam:variance=1000000000000*3", "approx:3,1e-6"),
        ("binomial:trials=400,probability=1/3*20", "approx:3,1e-6"),
    ],
)
def test_what_cannot_be_written(pair, spec, claim):
    with pytest.raises(NotWrittenError, match="no theorem"):
        theorem(spec, claim, pair)


@pytest.mark.slow
@with_tools
@pytest.mark.parametrize(
    ("spec", "delta", "share"),
    [
        ("skellam:variance=100*100", "1e-6", "0.001"),
        ("skellam:variance=7/3,sensitivity=3*4", "1e-4", "0.01"),
        ("skellam:variance=10000,sensitivity=100*10", "1e-6", "0.01"),
        ("skellam:variance=1000000,sensitivity=10*100", "1e-6", "0.01"),
        ("discrete-gaussian:sigma2=100*100", "1e-6", "0.001"),
        ("discrete-gaussian:sigma2=1/2*7", "1e-5", "0.01"),
        ("binomial:trials=400,probability=1/2*20", "1e-6", "0.001"),
        ("binomial:trials=12,probability=1/2,sensitivity=2*3", "0.1", "0.01"),
        ("pmf:file={pair}*100", "1e-6", "0.001"),
    ],
)
def test_it_is_near_the_tightest(native, tmp_path, pair, spec, delta, share):
    """A share above it is valid; nothing below it is, with the same hints and with finer ones."""
    named, times = parse_use(spec.replace("{pair}", str(pair)))
    tightest = compose((named.mechanism, times)).epsilon(delta)
    above = Fraction(tightest.upper) * (1 + Fraction(share))
    above = Fraction(math.floor(above * 10**6), 10**6)
    text = theorem(spec, f"approx:{above},{delta}", pair)
    assert "K uses, VERIFIED" in text or "on a grid, VERIFIED" in text
    assert native(text, tmp_path / "t.v") == (0, "valid")
    form, numbers = recognise(text)
    below = Fraction(math.floor(Fraction(tightest.lower) * 10**6), 10**6)
    false = numbers | dict(zip("ab", below.as_integer_ratio(), strict=True))
    for finer in (1, 2):
        hints = {name: finer * numbers[name] for name in "mefhj"}
        assert native(form.write(false | hints), tmp_path / "t.v") == (1, "not valid")


@pytest.mark.slow
@with_tools
def test_hostile_hints_end(native, tmp_path, pair):
    """With none is anything false valid, and each is refused or ends within the time."""
    form, numbers = recognise(theorem("skellam:variance=100*100", "approx:4.99,1e-6", pair))
    false = numbers | {"a": 488, "b": 100}
    for name in (set(numbers) - set("nd")) - {"a", "b", "s", "t", "u", "k"}:
        for value in (0, 1, 10**3999):
            ended, said = native(form.write(false | {name: value}), tmp_path / "t.v", "2")
            assert ended in (1, 3) and said, (name, value, ended, said)
