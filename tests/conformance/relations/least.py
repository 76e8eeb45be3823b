"""Calibration: nothing below a least that is told is verified."""

import random
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from conformance.relations.decisions import short
from conformance.relations.engine import Held, Statement, run
from conformance.relations.scenarios import spec

from exactdp import ZCDP, ApproxDP, ParameterError, RenyiDP, Verdict
from exactdp.exact import decimal_text
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify import Claim, audit, calibrate, parse_claim
from exactdp.verify.families import choose


def least_noise(rng: random.Random) -> Iterator[Statement]:
    """Values below a calibrated least are not verified; it is itself, and its neighbour is not."""
    name = rng.choice(("discrete-gaussian", "discrete-gaussian", "discrete-laplace", "skellam",
                       "discrete-gaussian-sum", "binomial"))  # fmt: skip
    sensitivity = rng.choice((1, 1, 2, 3))
    fixed = {"count": 2} if name == "discrete-gaussian-sum" else {}
    fixed |= {"probability": "1/2"} if name == "binomial" else {}
    delta = Fraction(rng.choice(("1e-6", "0.01", "0.05", "0.05", "0.1", "0.2")))
    epsilon = Fraction(rng.choice(("0.3", "1", "2", "3", "3", "4", "5")))
    claim: Claim = ApproxDP(epsilon, delta)
    if name not in ("binomial", "discrete-laplace") and rng.random() < 0.25:
        claim = rng.choice((RenyiDP(2, epsilon), ZCDP(epsilon / 4)))
    typed = ":".join([name, *[",".join(f"{k}={v}" for k, v in fixed.items())]]).strip(":")
    found = run("calibrate", typed, "--sensitivity", str(sensitivity), "--target", str(claim),
                exits={0})  # fmt: skip
    key, least = str(found["parameter"]), Fraction(str(found["value"]))
    why = (
        f"calibrate {typed} --sensitivity {sensitivity} --target {claim}: {key} {float(least):.6g}"
    )

    def told(value: Fraction) -> Verdict:
        one = spec(name, **fixed, **{key: value}, sensitivity=sensitivity)
        return audit(one.mechanism(), claim, Fraction(1, 10**6)).verdict

    yield Held(told(least) is not Verdict.REFUTED, f"{why} itself", "REFUTED")
    for factor in ("0.05", "0.3", "0.36", "0.37", "0.4", "0.6", "0.8", "0.95", "0.999"):
        value = least * Fraction(factor)
        if name == "binomial":
            value = Fraction(int(value))
        if 0 < value < least:
            value = short(value)
            yield Held(told(value) is not Verdict.VERIFIED, why, f"{key} = {float(value)} meets it")


def largest_probability(rng: random.Random) -> Iterator[Statement]:
    """The largest rate that is told is verified, its neighbour refuted; "every" holds at rate 1."""
    sigma, epsilon = rng.choice(("1/100", "1/10", "1/2", "2")), rng.choice(("0.1", "1", "3"))
    claim = f"approx:{epsilon},{rng.choice(('1e-12', '1e-9', '1e-6', '0.1'))}"
    of = f"gaussian:sigma={sigma}"
    ends = [(Fraction(1), Verdict.REFUTED)]  # what it is not
    with suppress(ParameterError):
        found = calibrate(choose(of, None, None, find="poisson").family, parse_claim(claim))
        ends = [(found.value, Verdict.REFUTED), (found.neighbour, Verdict.VERIFIED)]
    for rate, wrong in ends:
        one = f"{of},neighbours=add-remove,poisson={decimal_text(rate)}"
        verdict = audit(parse(one).mechanism, parse_claim(claim)).verdict
        yield Held(verdict is not wrong, f"{one}: {claim}", verdict.name)


RELATIONS = (least_noise, largest_probability)
